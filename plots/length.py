"""How does the error of a sum of squares grow with the length of the row? Relative error against length
for seven ways of summation, with the slopes of theory.
"""
from math import log2, sqrt

from matplotlib.lines import Line2D
import matplotlib.pyplot as plt

import common
import rungs

MAKE = "normlab study experiments/length.txt --out results/length.csv"
LOOKS = {
    "1 accumulator": ("#D55E00", "o", "-"), "8 lanes": ("#E69F00", "v", "-"), "16 lanes": ("#CC79A7", "^", "-"),
    "64 lanes": ("#56B4E9", "D", "-"), "pairwise": ("#009E73", "P", "--"),
    "compensated": ("#0072B2", "s", ":"), "double": ("#000000", "x", ":"),
}
GUIDES = {"n·u": lambda n: n, "√n·u": sqrt, "log₂n·u": log2, "u": lambda n: 1}

path, out = common.arguments(__file__, MAKE)
lines = common.read(path, "panel series x y", MAKE)
panels = common.curves(lines)
others = [name for name in dict.fromkeys(line["series"] for line in lines) if name not in LOOKS]
looks = LOOKS | {name: (*rungs.OTHERS[i % len(rungs.OTHERS)], "-.") for i, name in enumerate(others)}

figure, grid = plt.subplots(1, len(panels), sharey=True, squeeze=False)
figure.subplots_adjust(left=0.06, right=0.96, top=0.8, bottom=0.185, wspace=0.12)
for axes, (panel, series) in zip(grid[0], panels.items()):
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    lengths = sorted({n for xs, _ in series.values() for n in xs})
    top = 4 * max(max(ys) for _, ys in series.values())
    for name, value in GUIDES.items():
        inside = [n for n in lengths if value(n) <= top]
        axes.plot(inside, [value(n) for n in inside], color="#BBBBBB", linewidth=4, zorder=1)
        axes.annotate(name, (inside[-1], value(inside[-1])), (6, -3), textcoords="offset points",
                      color="#666666", fontsize=11, annotation_clip=False)
    for name, (xs, ys) in series.items():
        colour, marker, dash = looks[name]
        axes.plot(xs, ys, color=colour, marker=marker, linestyle=dash, linewidth=1.3, markersize=6,
                  markerfacecolor="white" if marker == "s" else colour)
    at = lengths[-1]
    ends = sorted((ys[-1], name) for name, (_, ys) in series.items())
    axes.set_title(f"{panel}\n", loc="left")
    axes.text(0, 1.015, f"n = 2^{log2(at):.0f}: {ends[0][1]} {ends[0][0]:.2g} u, {ends[-1][1]} {ends[-1][0]:,.0f} u",
              transform=axes.transAxes, fontsize=10)
    axes.set_ylim(top=top)
    axes.set_xlabel("n, values in the row")
grid[0][0].set_ylabel("relative error of the sum of squares, units of u = 2⁻²⁴")
figure.suptitle("How does the error of a sum of squares grow with the length of the row?", x=0.008, ha="left",
                y=0.975)
figure.text(0.008, 0.905, "x is N(0, 1). Each way rounds every square to float, but for `double`, which rounds once "
            "at the end.\nGrey: n·u, the bound of one accumulator; √n·u, where errors fall at random; log₂n·u, the "
            "bound of a tree; u, the last rounding.", fontsize=10.5, va="center", linespacing=1.4)
shown = [name for name in looks if any(name in series for series in panels.values())]
handles = [Line2D([], [], color=looks[name][0], marker=looks[name][1], linestyle=looks[name][2],
                  markerfacecolor="white" if looks[name][1] == "s" else looks[name][0], label=name)
           for name in shown]
figure.legend(handles=handles, loc="lower left", ncols=len(handles), bbox_to_anchor=(0.005, 0.045))
common.save(figure, out, common.machine(path, lines))
