"""How does the error of the output grow when the mean moves away from zero? The largest error of every
rung against kappa = |mean| / sigma, with the slopes of theory: 2, 1 and 0.
"""
from math import inf, isfinite
from textwrap import fill

from matplotlib.lines import Line2D
import matplotlib.pyplot as plt

import common
import rungs

MAKE = "normlab check experiments/conditioning.txt --out results/conditioning.csv"
NEEDS = "impl isa op n c s data verdict error_u"
TOP = 2.0**27  # where infinite errors and NaN are drawn


def alike(found):
    """[(names, points), ...] in the order of the ladder; rungs with the same errors share a line."""
    groups = {}
    for impl in sorted(found, key=rungs.place):
        groups.setdefault((rungs.is_optimized(impl), *sorted(found[impl].items())), []).append(rungs.name(impl))
    return [(names, dict(points)) for (_, *points), names in groups.items()]


path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
curves = {}  # (layer, values averaged) -> impl -> kappa -> (error, verdict)
for row in common.on_widest(rows):
    if not row["data"].startswith("offset:") or row["verdict"] == "skip":
        continue
    m = int(row["n"]) * int(row["s"]) if row["op"] == "batchnorm" else int(row["c"])
    points = curves.setdefault((common.LAYERS[row["op"]], m), {}).setdefault(row["impl"], {})
    point = (float(row["error_u"] or inf), row["verdict"])
    kappa = float(row["data"][len("offset:"):])
    points[kappa] = max(points.get(kappa, point), point)
if not curves:
    common.fail(f"{path}: no rows with data offset:K; make it with: {MAKE}")
longest = {layer: max(m for other, m in curves if other == layer) for layer, _ in curves}
panels = sorted(((layer, m) for layer, m in curves if m == longest[layer]),
                key=lambda p: list(common.LAYERS.values()).index(p[0]))
isas = dict.fromkeys(row["isa"] for row in common.on_widest(rows) if rungs.is_optimized(row["impl"]))
looks = rungs.looks(impl for panel in panels for impl in curves[panel])

figure, grid = plt.subplots(1, len(panels), sharey=True, squeeze=False, figsize=(common.WIDE, 8.6))
figure.subplots_adjust(left=0.06, right=0.985, top=0.83, bottom=0.315, wspace=0.06)
for axes, panel in zip(grid[0], panels):
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    kappas = sorted({kappa for rung in curves[panel].values() for kappa in rung})
    for slope in (1, 2):
        ends = [kappas[0], min(kappas[-1], 2.0 ** (24 / slope))]
        axes.plot(ends, [kappa**slope for kappa in ends], color="#BBBBBB", linewidth=4, zorder=1)
        at = ends[1] / (2 if slope == 2 else 8)
        axes.annotate(f"slope {slope}", (at, at**slope), (8, -10), textcoords="offset points",
                      color="#666666", fontsize=10)
    axes.axhspan(2.0**25.5, 2.0**28.5, color="#F3DCCB", zorder=0)
    axes.text(kappas[0], TOP, "  NaN or beyond", va="center", fontsize=10)
    axes.axhline(2.0**24, color="#777777", linewidth=0.8)
    axes.text(kappas[0], 2.0**24, "  nothing right", va="bottom", fontsize=9, color="#666666")
    keys = []
    for names, points in alike(curves[panel]):
        colour, marker, dash = looks[names[0]]
        line = [(k, e if e < TOP else TOP, v) for k, (e, v) in sorted(points.items())]
        axes.plot([k for k, e, _ in line if e < TOP], [e for _, e, _ in line if e < TOP], color=colour,
                  linestyle=dash, linewidth=1.2)
        for k, e, verdict in line:
            look = common.FAILED if verdict == "fail" else {
                "marker": marker, "color": colour, "markersize": 6,
                "markerfacecolor": "white" if verdict == "demo" else colour}
            axes.plot(k, e, **look)
        keys.append(Line2D([], [], color=colour, marker=marker, linestyle=dash, label=fill(", ".join(names), 56)))
    axes.legend(handles=keys, loc="upper left", bbox_to_anchor=(-0.02, -0.115), borderaxespad=0, handlelength=3,
                labelspacing=0.35, fontsize=9)
    most = [(max(e for e, _ in points.values()), rungs.name(impl)) for impl, points in curves[panel].items()]
    best, worst = min(most), max(most)
    axes.set_title(f"{panel[0]}, {panel[1]} values averaged\n", loc="left")
    axes.text(0, 1.015, f"{best[1]}: {best[0]:.3g} units at most;  {worst[1]}: "
              + (f"{worst[0]:.3g}" if isfinite(worst[0]) else "NaN"), transform=axes.transAxes, fontsize=10)
    axes.set_xlabel("kappa = |mean| / sigma")
    axes.set_ylim(0.5, 2.0**28.5)
grid[0][0].set_ylabel("largest error of y, units of 2⁻²⁴")
figure.suptitle("How does the error grow when the mean moves away from zero?", x=0.008, ha="left", y=0.98)
figure.text(0.008, 0.92, "f32. Filled: within the bound of the method. Hollow: the method promises nothing "
            "there. One unit: the rounding of a float, at the size of what was added up.\nDashed: plain C. Solid: "
            f"optimized, on {', '.join(isas)}. Rungs whose errors are all the same share a line. Wide and grey: kappa "
            "and its square.",
            fontsize=10.5, va="center")
common.save(figure, out, common.machine(path, rows))
