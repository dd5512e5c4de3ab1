"""What did the RMSNorm paper measure, and what does it come to here? The step saving of its seven tables
beside the norm's share of the step times the saving in each mode.
"""
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

import common
import modes
import speed

MAKE = "normlab study experiments/rmsnorm2019.txt --out results/rmsnorm2019.csv"
LOOKS = {"unfused": ("#CC79A7", "P"), "naive": ("#000000", "o"), "scalar": ("#0072B2", "s"),
         "simd_two_pass": ("#E69F00", ">"), "simd": ("#009E73", "p"), "partial": ("#D55E00", "D")}

SHARE = "norm's share of the step"

path, out = common.arguments(__file__, MAKE)
lines = common.read(path, "panel series x y", MAKE)
panels = common.curves(lines)
tables = [panel.removesuffix(", paper") for panel in panels if panel.endswith(", paper")]
sizes = sorted({x for xs, _ in panels["norm"].values() for x in xs})


def ours(panel, mode, size):
    """The figure and its interval."""
    return tuple(panels[name][mode][1][panels[name][mode][0].index(size)]
                 for name in (panel, f"{panel}, low", f"{panel}, high"))


def fact(table, series):
    return panels[f"{table}, paper"][series][1][0]


def draw(axes, panel, layer, height):
    """The savings here, a mark with whiskers for each mode and size."""
    for mode, (colour, marker) in reversed(LOOKS.items()):  # unfused on top
        if (mode == "partial") != (layer == "pRMSNorm") or mode not in panels[panel]:
            continue
        for size in sizes:
            saved, low, high = ours(panel, mode, size)
            y = height + (0.13 if size == sizes[0] else -0.13) * (len(sizes) > 1)
            axes.hlines(y, low, high, color=colour, linewidth=2, alpha=0.5, zorder=2)
            axes.plot(saved, y, marker=marker, color=colour, markersize=7, linestyle="none", zorder=3,
                      markerfacecolor="white" if size == sizes[0] and len(sizes) > 1 else colour)


figure, (steps, norms) = plt.subplots(1, 2, sharey=True, figsize=(common.WIDE, 8.4), gridspec_kw={"width_ratios": [1.5, 1]})
figure.subplots_adjust(left=0.28, right=0.985, top=0.825, bottom=0.15, wspace=0.05)
labels, inside = [], 0
for i, table in enumerate(reversed(tables)):
    for layer, height in (("RMSNorm", 2 * i + 1), ("pRMSNorm", 2 * i)):
        saved, error = fact(table, layer), fact(table, f"{layer}, +-")
        steps.barh(height, saved, height=0.74, color="#D9D9D9", zorder=1)
        steps.errorbar(saved, height, xerr=error, color="#555555", capsize=5, linewidth=1.5, zorder=1.5)
        norms.barh(height, fact(table, f"{layer}, of norm time"), height=0.74, color="#D9D9D9", zorder=1)
        draw(steps, f"{table}, step", layer, height)
        draw(norms, "norm", layer, height)
        labels.append((height, layer))
    key, _, model = table.partition(": ")
    steps.annotate(f"{key.replace('-', ' ').split()[0]}  {model}", (-0.13, 2 * i + 0.72), xycoords=("axes fraction", "data"),
                   ha="right", va="center", weight="bold", annotation_clip=False)
    steps.annotate(f"norm: {fact(table, SHARE):.0f} % of the step", (-0.13, 2 * i + 0.28),
                   xycoords=("axes fraction", "data"), ha="right", va="center", annotation_clip=False)
    best = ours(f"{table}, step", "unfused", sizes[-1])[0]
    inside += abs(best - fact(table, "RMSNorm")) <= fact(table, "RMSNorm, +-")
    if i:
        for axes in steps, norms:
            axes.axhline(2 * i - 0.5, color="#AAAAAA", linewidth=0.7)
steps.set_yticks(*zip(*labels))
steps.set_ylim(-0.6, 2 * len(tables) - 0.4)
steps.set_xlim(left=0)
for axes in steps, norms:
    axes.grid(axis="y", visible=False)
    axes.axvline(0, color="#444444", linewidth=0.9)
    axes.tick_params(axis="y", length=0)
norms.axvline(100 * 5 / 12, color="#444444", linewidth=1.2, linestyle=(0, (1, 1.5)), zorder=1.2)
norms.annotate("7 transfers, not 12", (100 * 5 / 12, 1.005), xycoords=("data", "axes fraction"), ha="center", va="bottom",
               fontsize=9)
steps.set_title("of the training step", pad=16)
norms.set_title("of the norm's time", pad=16)
steps.set_xlabel("saved, %")
norms.set_xlabel("saved, %")
speed.heading(figure, "What did the RMSNorm paper measure, and what does it come to here?",
              f"Ours is the norm's share in that table × what is saved here in f32, forward. Unfused at {speed.human(sizes[-1])}, "
              f"{inside} of {len(tables)} come out within the paper's ±.\nWhere its norm time saved lies beyond what the "
              "transfers explain, something besides them was saved, such as launches of kernels.")
handles = [Line2D([], [], color="#D9D9D9", linewidth=9, label="the paper, with its ±"),
           *[Line2D([], [], color=colour, marker=marker, linestyle="none", markersize=7, label=modes.WORDS[mode])
             for mode, (colour, marker) in LOOKS.items()]]
if len(sizes) > 1:
    handles.append(Line2D([], [], color="#444444", marker="o", markerfacecolor="white", linestyle="none",
                          label=f"hollow: x and y of {speed.human(sizes[0])}; filled: {speed.human(sizes[-1])}"))
figure.legend(handles=handles, loc="lower left", ncols=4, bbox_to_anchor=(0.004, 0.022))
common.save(figure, out, common.machine(path, lines))
