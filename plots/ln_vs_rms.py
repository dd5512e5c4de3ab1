"""How much time does RMSNorm save over LayerNorm? Per cent against the bytes of x and y, for each mode,
with the model's prediction and the figures that people quote.
"""
from math import isfinite
from textwrap import fill

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
import matplotlib.pyplot as plt

import common
import modes
import speed

MAKE = "normlab study experiments/ln_vs_rms.txt --out results/ln_vs_rms.csv"
LOOKS = {  # colour, marker, line
    "unfused": ("#CC79A7", "P", (0, (4, 1.5))),
    "naive": ("#000000", "o", (0, (4, 1.5))),
    "scalar": ("#0072B2", "s", (0, (4, 1.5))),
    "simd_two_pass": ("#E69F00", ">", "-"),
    "simd": ("#009E73", "p", "-"),
    "streaming": ("#56B4E9", "^", "-"),
    "threads": ("#D55E00", "D", "-"),
}
PARTS = ("low", "high", "band", "model")
LOW, HIGH = -25, 80

path, out = common.arguments(__file__, MAKE)
lines = common.read(path, "panel series x y", MAKE)
panels = common.curves(lines)
shown = [name for name in panels if not name.endswith(tuple(f", {part}" for part in PARTS))]
largest = {}  # mode -> (saving, panel, x) at the largest size of f32 forward
columns = 3
figure, grid = plt.subplots(-(-len(shown) // columns), columns, sharey=True, squeeze=False,
                            figsize=(common.WIDE, 3.2 + 2.7 * -(-len(shown) // columns)))
tall = figure.get_figheight()
figure.subplots_adjust(left=0.052, right=0.955, top=1 - 1.42 / tall, bottom=1.6 / tall, wspace=0.16, hspace=0.42)
for axes in grid.flat[len(shown):]:
    axes.set_visible(False)
for axes, panel in zip(grid.flat, shown):
    part = {name: panels.get(f"{panel}, {name}", {}) for name in PARTS}
    sizes = sorted({x for xs, _ in panels[panel].values() for x in xs})
    speed.size_axis(axes, sizes, most=4, text=speed.human)
    axes.set_ylim(LOW, HIGH)
    axes.axhspan(7, 15, color="#F0E442", alpha=0.4, zorder=0.4, linewidth=0)
    for level, dash in ((40.8, (0, (1, 1.5))), (64, (0, (6, 2, 1, 2)))):
        axes.axhline(level, color="#888888", linewidth=1.4, linestyle=dash, zorder=0.6)
    axes.axhline(0, color="#444444", linewidth=0.9, zorder=0.7)
    for name, height in (("7 to 15", 11), ("40.8", 40.8), ("64", 64)):
        axes.annotate(name, (1.01, height), xycoords=("axes fraction", "data"), va="center", fontsize=9, color="#444444")
    for mode, (colour, marker, dash) in LOOKS.items():
        if mode not in panels[panel]:
            continue
        xs, ys = panels[panel][mode]
        clipped = [min(max(y, LOW + 2), HIGH - 2) for y in ys]
        axes.plot(xs, clipped, color=colour, linestyle=dash, linewidth=1.3, marker=marker, markersize=5.5, zorder=3)
        low, high = (part[end].get(mode, (xs, ys))[1] for end in ("low", "high"))
        axes.vlines(xs, low, high, color=colour, linewidth=2.4, alpha=0.4, zorder=2.5)
        for x, y, seen in zip(xs, ys, clipped):
            if y != seen:
                axes.annotate(f"{y:.0f}", (x, seen), (5, 0), textcoords="offset points", fontsize=9, va="center")
        if mode in part["model"] and any(y > 0 for y in part["model"][mode][1]):
            model = part["model"][mode]
            axes.plot(*model, color=colour, linestyle="none", marker=marker, markerfacecolor="white", markersize=5.5,
                      zorder=2.8)
            for x, y, predicted in zip(xs, clipped, model[1]):
                axes.plot([x, x], [y, predicted], color=colour, linewidth=0.5, alpha=0.5, zorder=2)
        if panel == shown[0] and isfinite(ys[-1]):
            largest[mode] = ys[-1]
    axes.set_title(panel, pad=16)
    speed.mark_caches(axes, speed.caches(path))
    if list(grid.flat).index(axes) >= len(shown) - columns:
        axes.set_xlabel("x and y together" if "backward" not in panel else "x and y together (dx and dy as many again)")
figure.text(0.012, 0.515, "time saved, 1 − t(RMSNorm) / t(LayerNorm), %", rotation=90, ha="center", va="center")
words = "; ".join(f"{modes.WORDS[mode]}: {value:.0f} %" for mode, value in largest.items())
speed.heading(figure, "How much time does RMSNorm save over LayerNorm?",
              fill("Rows of 1024, both layers of equal engineering, in turns, verified before and after. At "
                   f"{speed.human(max(x for xs, _ in panels[shown[0]].values() for x in xs))}, {shown[0]}: {words}.", 165))
used = [mode for mode in LOOKS if any(mode in panels[panel] for panel in shown)]
handles = [Line2D([], [], color=colour, marker=marker, linestyle=dash, label=modes.WORDS[mode])
           for mode, (colour, marker, dash) in LOOKS.items() if mode in used]
handles += [
    Line2D([], [], color="#444444", marker="o", markerfacecolor="white", linestyle="none",
           label="hollow: model, passes not made × bandwidth"),
    Line2D([], [], color="#444444", alpha=0.4, marker="|", markersize=13, markeredgewidth=2.4, linestyle="none",
           label="interval, cut at the axes"),
    Patch(facecolor="#F0E442", edgecolor="none", alpha=0.4, label="tutorials: 7 to 15 %"),
    Line2D([], [], color="#888888", linestyle=(0, (1, 1.5)), label="paper: RMSNorm up to 40.8 %"),
    Line2D([], [], color="#888888", linestyle=(0, (6, 2, 1, 2)), label="paper: pRMSNorm up to 64 %"),
]
figure.legend(handles=handles, loc="lower left", ncols=4, bbox_to_anchor=(0.004, 0.19 / tall), columnspacing=1.3)
common.save(figure, out, common.machine(path, lines))
