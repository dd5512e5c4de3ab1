"""What can this machine move? GB/s of reading, writing, copying, and two reads with a write, against
the working set, with ordinary and with streaming stores, on one thread and on all.
"""
from math import isfinite

from matplotlib.lines import Line2D
import matplotlib.pyplot as plt

import common
import speed

MAKE = "normlab limit --out results/limit.csv"
NEEDS = "size threads pattern store gbps gbps_low gbps_high"
STORES = {"-": ("no stores", "#000000", "o", "-"), "ordinary": ("ordinary stores", "#000000", "o", "-"),
          "streaming": ("streaming stores", "#0072B2", "s", "-")}

path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
results = []
for row in rows:
    try:
        size, threads, gbps, low, high = (float(row[name]) for name in
                                          ("size", "threads", "gbps", "gbps_low", "gbps_high"))
    except (TypeError, ValueError):
        continue  # a line that was cut off
    if isfinite(gbps) and gbps > 0:
        results.append(row | {"size": size, "threads": int(threads), "gbps": gbps, "low": low or gbps, "high": high or gbps})
if not results:
    common.fail(f"{path}: there are no measurements in it\n  to make the results: {MAKE}")
patterns = list(dict.fromkeys(row["pattern"] for row in results))
counts = sorted({row["threads"] for row in results})
sizes = sorted({row["size"] for row in results})
rates = [row["gbps"] for row in results]
LEAST = max(rates) / 2000  # slower rates are off the scale


def draw(axes, mine):
    """The curves of one panel, and at their ends the rate of the largest working set."""
    ends = []
    for store in dict.fromkeys(row["store"] for row in mine):
        _, colour, marker, dash = STORES.get(store, (store, common.GREY, "D", "-"))
        curve = sorted((row for row in mine if row["store"] == store), key=lambda row: row["size"])
        xs, ys = [row["size"] for row in curve], [row["gbps"] for row in curve]
        axes.plot(xs, ys, color=colour, marker=marker, markersize=4.5, linewidth=1.4, linestyle=dash)
        axes.vlines(xs, [row["low"] for row in curve], [row["high"] for row in curve], color=colour,
                    linewidth=2.2, alpha=0.45)
        ends.append((xs[-1], ys[-1], f"{ys[-1]:.0f}" if ys[-1] >= 9.5 else f"{ys[-1]:.1f}", (colour, marker)))
    speed.name_ends(axes, ends)


def pays(mine):
    """The smallest size from which on streaming stores are faster than ordinary ones."""
    by = {store: {row["size"]: row for row in mine if row["store"] == store} for store in ("ordinary", "streaming")}
    start = None
    for size in sorted(by["ordinary"].keys() & by["streaming"].keys(), reverse=True):
        if by["streaming"][size]["low"] <= by["ordinary"][size]["high"]:
            break
        start = size
    if not by["streaming"]:
        return ""
    return f"streaming wins from {speed.human(start)} on" if start else "no lasting gain by streaming shown"


figure, grid = plt.subplots(len(counts), len(patterns), squeeze=False, figsize=(common.WIDE, 7.5))
speed.place(figure, grid, 0.042, top=0.795, hspace=0.42)
for i, threads in enumerate(counts):
    for j, pattern in enumerate(patterns):
        axes = grid[i][j]
        mine = [row for row in results if (row["threads"], row["pattern"]) == (threads, pattern)]
        axes.set_title(f"{pattern}, {threads} thread{'s' * (threads > 1)}", pad=30)
        if not mine:
            axes.set_axis_off()
            continue
        speed.size_axis(axes, sizes, most=4, text=speed.human)
        speed.log_axis(axes.yaxis, max(min(rates) / 1.3, LEAST), max(rates) * 1.3)
        draw(axes, mine)
        speed.mark_caches(axes, speed.caches(path, threads))
        axes.text(0, 1 + 15 / speed.tall(axes), pays(mine), transform=axes.transAxes)
        if j == 0:
            speed.name_y(axes, "GB/s")
        if i == len(counts) - 1:
            axes.set_xlabel("working set, all buffers together")
speed.heading(figure, "What can this machine move, and from where on do streaming stores pay?",
               "Every read and every write counts. At the right: GB/s at the largest working set. Upright lines: the caches "
               f"({speed.cache_sizes(path)}), as many\nas the threads have. Streaming wins where even the low end of its "
               "interval is above the ordinary one, there and at all larger sizes."
               + (f" Less than {LEAST:.1g} GB/s: off the scale." if min(rates) < LEAST else ""))
lines = [Line2D([], [], color=colour, marker=marker, linestyle=dash, label=name)
         for store, (name, colour, marker, dash) in STORES.items() if store != "-"
         and any(row["store"] == store for row in results)]
lines.append(Line2D([], [], color="black", alpha=0.45, linestyle="none", marker="|", markersize=13, markeredgewidth=2.2,
                    label="interval of the median"))
figure.legend(handles=lines, loc="center left", bbox_to_anchor=(0.006, 0.06), ncols=len(lines), borderaxespad=0)
common.save(figure, out, common.machine(path, results))
