"""What does accuracy cost? Every rung as a point: time per value against the error of its output, on
rows whose mean is 1024 sigma. The line joins the rungs that no other beats in both.
"""
from math import inf, isfinite

import matplotlib.pyplot as plt

import common
import rungs
import speed

MAKE = "normlab bench experiments/pareto.txt --out results/pareto.csv"
NEEDS = "impl isa op n c s data verdict error_u ns ns_low ns_high flag"
TOP = 2.0**26  # where infinite errors and NaN are drawn

path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
layers = {}
for row in common.on_widest(rows):
    if not row["ns"]:
        continue
    size = float(row["n"]) * float(row["c"]) * float(row["s"])
    error = float(row["error_u"] or inf)
    low, high = (float(row[key] or row["ns"]) / size for key in ("ns_low", "ns_high"))
    layers.setdefault(common.LAYERS[row["op"]], []).append(
        (float(row["ns"]) / size, error if isfinite(error) else TOP, row["impl"], row["verdict"], low, high, row["flag"]))
if not layers:
    common.fail(f"{path}: nothing in it was timed; make it with: {MAKE}")
looks = rungs.looks(point[2] for points in layers.values() for point in points)
every = [point for points in layers.values() for point in points]
isas = dict.fromkeys(row["isa"] for row in rows if rungs.is_optimized(row["impl"]))


def neighbours(points):
    """Groups of points too near each other for separate names."""
    groups = []
    for p in sorted(points):
        near = [g for g in groups if any(p[0] / q[0] < 2 and 0.6 < p[1] / q[1] < 1.7 for q in g)]
        groups = [g for g in groups if g not in near] + [[q for g in near for q in g] + [p]]
    return groups


figure, grid = plt.subplots(1, len(layers), sharex=True, sharey=True, squeeze=False)
figure.subplots_adjust(left=0.06, right=0.985, top=0.8, bottom=0.14, wspace=0.06)
for axes, (layer, points) in zip(grid[0], layers.items()):
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.axhspan(2.0**25, 2.0**27, color="#F3DCCB", zorder=0)
    if axes is grid[0][0]:
        axes.text(0.98, TOP, "NaN or infinite", va="center", ha="right", fontsize=10,
                  transform=axes.get_yaxis_transform())
    right = [p for p in points if p[1] < TOP and not p[6]]
    best = [p for p in right if not any(q[0] <= p[0] and q[1] <= p[1] and q[:2] != p[:2] for q in right)]
    best.sort()
    axes.step([p[0] for p in best], [p[1] for p in best], where="post", color="#BBBBBB", linewidth=4, zorder=1)
    for ns, error, impl, verdict, low, high, flag in points:
        colour, marker, _ = looks[rungs.name(impl)]
        look = common.FAILED if verdict == "fail" else {
            "marker": marker, "color": colour, "markersize": 9,
            "markerfacecolor": "white" if verdict == "demo" else colour}
        axes.plot([low, high], [error, error], color=colour, linewidth=1.5, zorder=2)
        axes.plot(ns, error, zorder=3, **look)
        if flag:
            axes.plot(ns, error, **speed.IMPOSSIBLE)
    for group in neighbours(points):
        names = [rungs.name(p[2]) for p in sorted(group)]
        at = {"xytext": (9, 0), "va": "center"} if group[0][1] == TOP else {"xytext": (-5, 8), "va": "bottom"}
        axes.annotate("\n".join(names), (min(p[0] for p in group), max(p[1] for p in group)),
                      textcoords="offset points", fontsize=9.5, linespacing=1.1, **at)
    axes.set_title(f"{layer}\n", loc="left")
    axes.text(0, 1.015, "unbeaten: " + ", ".join(rungs.name(p[2]) for p in best), transform=axes.transAxes, fontsize=10)
    axes.set_xlabel("nanoseconds per value")
    axes.xaxis.set_major_formatter(lambda ns, _: f"{ns:.3g}")
    axes.set_ylim(1, 2.0**27)
    axes.set_xlim(min(p[4] for p in every) / 1.4, max(p[5] for p in every) * 3)
grid[0][0].set_ylabel("largest error of y, units of 2⁻²⁴")
figure.suptitle("What does accuracy cost, when the mean lies 1024 sigma away?", x=0.008, ha="left", y=0.975)
figure.text(0.008, 0.905, "f32, one thread. Towards the lower left is better. Filled: within the bound of the "
            "method. Hollow: the method promises nothing here. Names above\na group: from its left to its right. Lines "
            "through points: intervals of the median time. Grey: the rungs that no other beats in both."
            + f" Optimized ones on {', '.join(isas)}." * bool(isas), fontsize=10.5, va="center")
if any(point[6] for point in every):
    figure.legend(handles=[speed.impossible()], loc="lower left", bbox_to_anchor=(0.004, 0), borderaxespad=0.2)
common.save(figure, out, common.machine(path, rows))
