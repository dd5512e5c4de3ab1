"""How much of a model's step is norm, and what does RMSNorm save? Above, the share of either norm; below, the
saving of the step, measured in the norms and in the whole step; one group for each step.
"""
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

import common

MAKE = "normlab study experiments/model_step.txt --out results/model_step.csv"
SHARES = {  # panel -> (label, colour, marker)
    "share of LayerNorm, %": ("LayerNorm", "#0072B2", "D"),
    "share of RMSNorm, %": ("RMSNorm", "#009E73", "o"),
    "share of LayerNorm, unfused, %": ("LayerNorm, unfused", "#CC79A7", "P"),
    "share of RMSNorm, unfused, %": ("RMSNorm, unfused", "#E69F00", "^"),
}
SAVED = {
    "saved in the norms, %": ("counted in the norms", "#009E73", "o"),
    "saved of the step, %": ("of the whole step", "#000000", "s"),
    "LayerNorm against itself, %": ("LayerNorm against itself: noise", "#999999", "x"),
    "saved in the norms, unfused, %": ("counted in the norms, unfused", "#E69F00", "^"),
    "saved of the step, unfused, %": ("of the whole step, unfused", "#D55E00", "v"),
}

path, out = common.arguments(__file__, MAKE)
panels = common.curves(rows := common.read(path, "panel series x y", MAKE))
missing = [name for name in [*SHARES, *SAVED] if f"{name}, low" not in panels]
if missing:
    common.fail(f"{path}: there is no '{missing[0]}' in it; make it with: {MAKE}")
steps = list(dict.fromkeys((row["series"], float(row["x"])) for row in rows if row["panel"] in SHARES))
steps.sort(key=lambda step: step[0].split(",")[0].startswith("GRU"))


def value(panel, step):
    points = panels[panel].get(step[0])
    return dict(zip(*points)).get(step[1]) if points else None


def draw(axes, looks):
    for i, (panel, (_, colour, marker)) in enumerate(looks.items()):
        for k, step in enumerate(steps):
            y = value(panel, step)
            if y is None:
                continue
            low, high = value(f"{panel}, low", step), value(f"{panel}, high", step)
            axes.errorbar(k + (i - (len(looks) - 1) / 2) * 0.14, y, [[y - low], [high - y]], color=colour,
                          marker=marker, markersize=6, linewidth=1.3, capsize=2.5)
    axes.set_xlim(-0.5, len(steps) - 0.5)
    for k in range(len(steps) + 1):
        axes.axvline(k - 0.5, color="#E4E4E4", linewidth=0.8)
    axes.grid(axis="x", visible=False)
    handles = [Line2D([], [], label=label, color=colour, marker=marker, linestyle="none")
               for label, colour, marker in looks.values()]
    axes.legend(handles=handles, loc="lower left", ncols=5, bbox_to_anchor=(-0.01, 0.98), columnspacing=1.4,
                handletextpad=0.3)


def name(step):
    model, what = step[0].split(", ")
    unit = "row" if model.startswith("GRU") else "token"
    what = what.replace(" and ", " +\n")
    return f"{model.replace(' block', '')}\n{step[1]:.0f} {unit}{'s' * (step[1] > 1)}\n{what}"


figure, (above, below) = plt.subplots(2, 1, sharex=True)
figure.subplots_adjust(left=0.06, right=0.985, top=0.84, bottom=0.17, hspace=0.24)
draw(above, SHARES)
above.set_yscale("log")
above.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
above.yaxis.set_major_formatter("{x:g}")
above.yaxis.set_minor_formatter("")
above.set_ylabel("norm, % of the step")
draw(below, SAVED)
most = max(abs(value(panel + end, step) or 0) for panel in SAVED for end in (", low", ", high") for step in steps)
below.set_yscale("symlog", linthresh=0.1)
below.set_ylim(-1.2 * most, 1.2 * most)
below.yaxis.set_major_formatter("{x:g}")
below.axhline(0, color=common.GREY, linewidth=0.8)
below.set_ylabel("RMSNorm saves, % of the step")
below.set_xticks(range(len(steps)), [name(step) for step in steps])
below.tick_params(axis="x", length=0)
shares = {panel: [value(panel, step) for step in steps if value(panel, step)] for panel in SHARES}
told = "; ".join(f"{SHARES[panel][0]} {min(ys):.2g} to {max(ys):.2g} %" for panel, ys in shares.items() if ys)
blas = next(iter(panels.get("matrix products, threads", {"unknown": 0})))
figure.suptitle("How much of a model's step is norm, and what does RMSNorm save?", x=0.008, ha="left", y=0.985)
figure.text(0.008, 0.92, f"Share of the step: {told}. Bars: 95 % intervals.", fontsize=10.5)
figure.text(0.008, 0.008, f"Matrix products: {' '.join(blas.split()[:2])}, one thread", color=common.GREY, fontsize=9)
common.save(figure, out, common.machine(path, rows))
