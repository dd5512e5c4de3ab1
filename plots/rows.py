"""From what number of rows on does a layer run at its full rate? Time for each row against the number of rows,
from one upwards, beside the limit on the same buffers. A language model normalizes one row for each token
that it writes.
"""
from math import isfinite

import matplotlib.pyplot as plt

import common
import speed

MAKE = "normlab bench experiments/rows.txt --out results/rows.csv"
NEEDS = "impl isa threads op pass dtype n c s data options verdict ns ns_low ns_high gbps limit_gbps limit_pct bytes flag"
FULL = 1.1  # full rate: no more than 10 % slower than the rung's best

path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
results = speed.ladder(path, rows, MAKE)
looks = speed.key_rungs(results)
layers = [layer for layer in common.LAYERS.values() if any(row["layer"] == layer for row in results)]
widths = sorted({row["c"] for row in results})


def each(row, key="ns"):
    return row[key] / row["n"]


def limit(row):
    return row["bytes"] / row["limit_gbps"] / row["n"]


def time(ns):
    """850 ns, 3.2 µs"""
    return f"{ns:.3g} ns" if ns < 999.5 else f"{ns / 1000:.3g} µs"


def full_rate(curve):
    """The smallest n at which a rung is within FULL of its best."""
    best = min(map(each, curve))
    return f"{min(row['n'] for row in curve if each(row) <= FULL * best):.0f}"


def draw(axes, mine):
    """The curves of a panel; returns the names to place beside them."""
    ends = []
    for rung, look in looks.items():
        curve = [row for row in mine if row["rung"] == rung and isfinite(row["ns"])]
        if curve:
            speed.curve(axes, [(r["n"], each(r), each(r, "ns_low"), each(r, "ns_high"), r) for r in curve], look)
            last = max(curve, key=lambda row: row["n"])
            name = f"{rung}: {full_rate(curve)}" if all(map(speed.sound, curve)) else rung
            ends.append((last["n"], each(last), name, look))
    line = sorted({row["n"]: limit(row) for row in mine if isfinite(limit(row))}.items())
    if line:
        axes.plot(*zip(*line), color=speed.LIMIT[0], linewidth=3.5, zorder=2.5)
        ends.append((*line[-1], "the limit", speed.LIMIT))
    return ends


label = speed.name_room([f"{rung}: 4096" for rung in looks])
figure, grid = plt.subplots(len(widths), len(layers), squeeze=False, figsize=(common.WIDE, 7.5))
speed.place(figure, grid, label, top=0.795, hspace=0.45)
for i, c in enumerate(widths):
    for j, layer in enumerate(layers):
        axes, mine = grid[i][j], [row for row in results if (row["layer"], row["c"]) == (layer, c)]
        axes.set_title(f"{layer}, c = {c:.0f}", pad=30)
        if not any(isfinite(row["ns"]) for row in mine):
            axes.set_axis_off()
            continue
        speed.size_axis(axes, [row["n"] for row in mine], most=8)
        beside = [row for row in results if row["c"] == c]
        times = [t for row in beside for t in (each(row), limit(row)) if isfinite(t)]
        low, high = min(times) / 1.5, max(times) * 1.6
        speed.log_axis(axes.yaxis, speed.below(axes, low, high, len(speed.failing(beside))), high)
        speed.name_ends(axes, draw(axes, mine))
        speed.crosses(axes, mine, lambda row: row["n"])
        speed.mark_caches(axes, [(level, size / (8 * c)) for level, size in speed.caches(path)])
        first = [row for row in mine if row["n"] == min(r["n"] for r in mine) and speed.sound(row)]
        if first:
            row = min(first, key=lambda row: row["ns"])
            much = f", {row['ns'] / (limit(row) * row['n']):.1f}× the limit's time" if isfinite(limit(row)) else ""
            count = "One row" if row["n"] == 1 else f"{row['n']:.0f} rows"
            axes.text(0, 1 + 15 / speed.tall(axes), f"{count}: {time(row['ns'])} at best, {row['rung']}{much}",
                      transform=axes.transAxes, va="bottom")
            axes.plot(row["n"], each(row), marker="s", markersize=12, markerfacecolor="none",
                      markeredgecolor="black", zorder=8)
        if j == 0:
            speed.name_y(axes, "ns for each row")
        if i == len(widths) - 1:
            axes.set_xlabel("n, rows")
speed.heading(figure, "From what number of rows on does a layer run at its full rate?",
               "After each name, that number: the smallest n at which a row takes at most 10 % longer than at the rung's best. f32, "
               f"forward, {speed.span(results, 'threads')} thread. \nSquare: one row, which is what "
               f"a language model normalizes for each token. Upright lines: where x and y together outgrow a cache ({speed.cache_sizes(path)}).")
speed.signs(figure, results, looks)
common.save(figure, out, common.machine(path, results))
