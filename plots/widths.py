"""How near does each rung come to the machine's limit, from the first-level cache to memory? GB/s
against the width of the rows, beside the limit measured on the same buffers; below, the share of it.
"""
from math import isfinite

import matplotlib.pyplot as plt

import common
import speed

MAKE = "normlab bench experiments/widths.txt --out results/widths.csv"
NEEDS = "impl isa threads op pass dtype n c s data options verdict ns ns_low ns_high gbps limit_gbps limit_pct bytes flag"

path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
results = speed.ladder(path, rows, MAKE)
looks = speed.key_rungs(results)
layers = [layer for layer in common.LAYERS.values() if any(row["layer"] == layer for row in results)]
label = speed.name_room(looks)
failed = max(len(speed.failing([row for row in results if row["layer"] == layer])) for layer in layers)
speeds = [row[key] for row in results for key in ("gbps", "limit_gbps") if isfinite(row[key])]
shares = [row["limit_pct"] for row in results if isfinite(row["limit_pct"])] or [100]


def draw(axes, mine, key, limit, spare):
    """The curves of one layer and one quantity; returns the names to place beside them."""
    ends = []
    for rung, look in looks.items():
        points = [(row["c"], row[key], *spare(row), row) for row in mine
                  if row["rung"] == rung and isfinite(row[key])]
        if points:
            speed.curve(axes, points, look)
            ends.append((*max(points, key=lambda p: p[0])[:2], rung, look))
    line = sorted({row["c"]: limit(row) for row in mine if isfinite(limit(row))}.items())
    if line:
        axes.plot(*zip(*line), color=speed.LIMIT[0], linewidth=3.5, zorder=2.5)
        ends.append((*line[-1], "the limit", speed.LIMIT))
    return ends


figure, grid = plt.subplots(2, len(layers), squeeze=False, figsize=(common.WIDE, 7.5),
                            gridspec_kw={"height_ratios": [3.1, 1.5]})
speed.place(figure, grid, label)
for layer, (upper, lower) in zip(layers, grid.T):
    mine = [row for row in results if row["layer"] == layer]
    for axes in upper, lower:
        speed.size_axis(axes, [row["c"] for row in mine], most=4)
    low, high = min(speeds) / 1.4, max(speeds) * 1.4
    speed.log_axis(upper.yaxis, speed.below(upper, low, high, failed), high)
    speed.log_axis(lower.yaxis, min(min(shares) / 1.5, 9), max(shares + [150]) * 6)
    ends = draw(upper, mine, "gbps", lambda row: row["limit_gbps"],
                lambda row: (row["gbps_low"], row["gbps_high"]))
    speed.name_ends(upper, ends)
    speed.crosses(upper, mine, lambda row: row["c"])
    draw(lower, mine, "limit_pct", lambda row: 100,
         lambda row: tuple(row[key] * row["limit_pct"] / row["gbps"] for key in ("gbps_low", "gbps_high")))
    best = {}
    for row in filter(speed.sound, mine):
        best[row["c"]] = max(row, best.get(row["c"], row), key=lambda r: r["limit_pct"])
    for c, row in best.items():
        lower.annotate(f"{row['limit_pct']:.2g}" if row["limit_pct"] < 99.5 else f"{row['limit_pct']:.0f}",
                       (c, 0.985), xycoords=("data", "axes fraction"), ha="center", va="top", fontsize=9)
    if best:
        row = max(best.values(), key=lambda r: r["limit_pct"])
        upper.text(0, 1 + 15 / speed.tall(upper), f"nearest: {row['rung']}, {row['limit_pct']:.0f} % at c = {row['c']:.0f}",
                   transform=upper.transAxes)
        lower.text(1.02, 0.985, "% of the\nbest rung", transform=lower.transAxes, va="top", fontsize=9)
    rows_each = {row["n"] * row["s"] for row in mine}
    if len(rows_each) == 1:  # the working set is two tensors, x and y
        each = 8 * rows_each.pop()
        marks = [(level, size / each) for level, size in speed.caches(path)]
        speed.mark_caches(upper, marks)
        speed.mark_caches(lower, [("", x) for _, x in marks])
    upper.set_title(layer, pad=30)
    upper.tick_params(labelbottom=False)
    lower.set_xlabel("c, values in a row" if layer != "BatchNorm" else "c, channels")
speed.name_y(grid[0][0], "GB/s")
speed.name_y(grid[1][0], "% of the limit")
speed.heading(figure, "How near does each rung come to the machine's limit, from the first-level cache to memory?",
               f"n = {speed.span(results, 'n')}, f32, forward, {speed.span(results, 'threads')} thread. GB/s counts x and y "
               f"once each; upright lines: where both outgrow a cache ({speed.cache_sizes(path)}).")
speed.signs(figure, results, looks)
common.save(figure, out, common.machine(path, results))
