"""What do long rows cost in accuracy? The largest error of y against the number of values averaged, for each
kind of row: summed in one accumulator, and by the best rung.
"""
from math import inf, isfinite

from matplotlib.lines import Line2D
import matplotlib.pyplot as plt

import common
import rungs

MAKE = ("normlab check experiments/long_rows.txt --impl layernorm/refined,rmsnorm/naive,batchnorm/refined,best "
        "--out results/long_rows.csv")
NEEDS = "impl isa op n c s data verdict error_u"
LOOKS = ["o#000000", "s#D55E00", "^#0072B2", "D#E69F00", "v#009E73", "P#CC79A7", "X#56B4E9", "<#882255", ">#44AA99",
         "*#332288"]

path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
panels, kinds = {}, {}  # (layer, is it the best rung) -> kind -> values averaged -> largest error
for row in common.on_widest(rows):
    if row["verdict"] == "skip":
        continue
    m = int(row["n"]) * int(row["s"]) if row["op"] == "batchnorm" else int(row["c"])
    points = panels.setdefault((row["op"], rungs.is_optimized(row["impl"])), {}).setdefault(row["data"], {})
    points[m] = max(points.get(m, 0), float(row["error_u"] or inf))
    kinds.setdefault(row["data"], LOOKS[len(kinds) % len(LOOKS)])
layers = [op for op in common.LAYERS if any(op == other for other, _ in panels)]
if not layers:
    common.fail(f"{path}: no rows that ran; make it with: {MAKE}")
finite = [e for panel in panels.values() for line in panel.values() for e in line.values() if 0 < e < inf] or [1]
low, top = min(finite), max(finite)

figure, grid = plt.subplots(2, len(layers), sharex=True, sharey=True, squeeze=False, figsize=(common.WIDE, 8.6))
figure.subplots_adjust(left=0.06, right=0.985, top=0.85, bottom=0.16, wspace=0.06, hspace=0.3)
for column, op in zip(grid.T, layers):
    for axes, best in zip(column, (False, True)):
        lines = panels.get((op, best), {})
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=10)
        axes.set_ylim(min(0.5, low / 2), 3 * top)
        for kind, points in lines.items():
            line = sorted((m, min(e, 2 * top)) for m, e in points.items())
            axes.plot(*zip(*line), marker=kinds[kind][0], color=kinds[kind][1:], linewidth=1.2, markersize=5)
        if best:
            axes.axhline(8, color="#777777", linewidth=0.8)
            axes.text(1, 8, "8 units ", transform=axes.get_yaxis_transform(), ha="right", va="bottom", fontsize=9,
                      color="#666666")
            axes.set_xlabel("values averaged")
        how = "the best rung, in blocks" if best else "one accumulator"
        axes.set_title(f"{common.LAYERS[op]}, {how}\n", loc="left")
        most = max(((e, kind, m) for kind, points in lines.items() for m, e in points.items()), default=None)
        if most:
            units = f"{most[0]:,.3g} units" if isfinite(most[0]) else "infinite"
            axes.text(0, 1.02, f"{units} at most: {most[1]}, {most[2]:,} values",
                      transform=axes.transAxes, fontsize=10)
for axes in grid[:, 0]:
    axes.set_ylabel("largest error of y, units of 2⁻²⁴")
figure.suptitle("What do long rows cost in accuracy?", x=0.008, ha="left", y=0.98)
figure.text(0.008, 0.93, "f32. In these rows a few values are most of the sum, so that each further addition rounds to "
            "the place of a large number. Above: refined (RMSNorm: naive), which adds\nup in one accumulator. Below: "
            "what nl_best() recommends; it sums in blocks, and a value goes through few additions.",
            fontsize=10.5, va="center", linespacing=1.4)
handles = [Line2D([], [], color=look[1:], marker=look[0], label=kind) for kind, look in kinds.items()]
figure.legend(handles=handles, loc="lower left", ncols=len(handles), bbox_to_anchor=(0.005, 0.04), handlelength=1.6,
              columnspacing=1.2)
common.save(figure, out, common.machine(path, rows))
