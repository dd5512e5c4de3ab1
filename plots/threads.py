"""What do more threads bring, and what would they bring at best? Speed with T threads over speed with
one, of every rung and of the limit on the same buffers. Rungs that use one thread stay at 1.
"""
from math import isfinite

import matplotlib.pyplot as plt

import common
import speed

MAKE = "normlab bench experiments/threads.txt --out results/threads.csv"
NEEDS = "impl isa threads op pass dtype n c s data options verdict ns ns_low ns_high gbps limit_gbps limit_pct bytes flag"
LEAST = 1 / 8  # slower than this is off the scale

path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
option = "threads="
results = speed.ladder(path, rows, MAKE, lambda text: text.startswith(option) and text[len(option):].isdigit(),
                       ("forward", "backward"))
for row in results:  # the case has the threads available; the column `threads`, those used
    row["asked"] = int(row["options"][len(option):])
several = {(row["layer"], row["rung"]) for row in results if row["threads"] > 1}
parallel = [row for row in results if (row["layer"], row["rung"]) in several]
looks = speed.key_rungs(parallel)
layers = list(dict.fromkeys(row["layer"] for row in results))
shapes = list(dict.fromkeys((row["n"], row["c"], row["s"]) for row in results))
counts = sorted({row["asked"] for row in results})
missing = [T for T in counts if all(row["verdict"] == "skip" for row in results if row["asked"] == T)]
if counts[0] != 1 or 1 in missing:
    common.fail(f"{path}: there is nothing with threads=1 to compare with\n  to make the results: {MAKE}")


def scaling(mine):
    """rung -> points (T, times as fast, low, high, row); the limit under the name None."""
    curves = {}
    one = {row["rung"]: row for row in mine if row["asked"] == 1}
    for row in mine:
        first = one.get(row["rung"])
        if first and isfinite(row["ns"]) and isfinite(first["ns"]):
            curves.setdefault(row["rung"], []).append((
                row["asked"], first["ns"] / row["ns"],
                *((1, 1) if row is first else (first["ns_low"] / row["ns_high"], first["ns_high"] / row["ns_low"])), row))
        if first and isfinite(row["limit_gbps"]) and isfinite(first["limit_gbps"]):
            limit = row["limit_gbps"] / first["limit_gbps"]
            curves.setdefault(None, []).append((row["asked"], limit, limit, limit, row))
    return {rung: sorted(points, key=lambda p: p[0]) for rung, points in curves.items()}


panels = {(layer, shape): [row for row in results if (row["layer"], row["n"], row["c"], row["s"]) == (layer, *shape)]
          for layer in layers for shape in shapes}
scaled = {key: scaling(mine) for key, mine in panels.items()}
factors = [p[1] for curves in scaled.values() for points in curves.values() for p in points] or [1]
label = speed.name_room([*looks, "one-thread rungs"])
figure, grid = plt.subplots(len(layers), len(shapes), squeeze=False, figsize=(common.WIDE, 3 + 2.25 * len(layers)))
tall = figure.get_figheight()
speed.place(figure, grid, label, top=1 - 1.56 / tall, hspace=0.5, bottom=1.46 / tall)
for (layer, shape), mine in panels.items():
    axes, curves = grid[layers.index(layer)][shapes.index(shape)], scaled[layer, shape]
    axes.set_title(f"{layer}, " + "×".join(f"{size:.0f}" for size in shape[:2 + (shape[2] > 1)]), pad=20)
    if not curves:
        axes.set_axis_off()
        continue
    speed.size_axis(axes, counts if len(counts) > 1 else [1, 2], most=8,
                     text=lambda T: f"{T:.0f}" + "\nskip" * (T in missing))
    low, high = max(LEAST, min(0.7, min(factors) / 1.2)), max(max(factors) * 1.25, 2.4)
    speed.log_axis(axes.yaxis, speed.below(axes, low, high, len(speed.failing(results))), high)
    axes.plot([1, counts[-1]], [1, counts[-1]], color=common.GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    ends, alone = [], []
    for rung, points in curves.items():
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        if rung is None:
            axes.plot(xs, ys, color=speed.LIMIT[0], linewidth=3.5, zorder=2.5)
            ends.append((xs[-1], ys[-1], "the limit", speed.LIMIT))
        elif (layer, rung) in several and rung in looks:
            speed.curve(axes, points, looks[rung])
            ends.append((xs[-1], ys[-1], rung, looks[rung]))
        elif (layer, rung) not in several:
            axes.plot(xs, ys, color=speed.FAINT, linewidth=0.9, zorder=2)
            alone.append((xs[-1], ys[-1]))
    if alone:
        ends.append((*sorted(alone, key=lambda p: p[1])[len(alone) // 2], "one-thread rungs", (speed.FAINT, "", "-")))
    speed.crosses(axes, mine, lambda row: row["asked"])
    start = 1
    if missing:  # they are the largest
        left = (max(T for T in counts if T < missing[0]) * missing[0] ** 2) ** (1 / 3)
        axes.axvspan(left, axes.get_xlim()[1], color="#F1F1F1", zorder=0, linewidth=0)
        start = axes.transAxes.inverted().transform(axes.transData.transform((left, 1)))[0]
    speed.name_ends(axes, ends, start)
    most = max(p[0] for points in curves.values() for p in points)
    said = [f"limit ×{y:.3g}" for T, y, *_ in curves.get(None, []) if T == most][:1]
    good = [(p[1], rung) for rung, points in curves.items() for p in points
            if p[0] == most and (layer, rung) in several and speed.sound(p[4])]
    said += [f"{max(good)[1]} ×{max(good)[0]:.3g}"] if good else ["every rung uses one thread"]
    axes.text(0, 1 + 4 / speed.tall(axes), f"T = {most}: " + ", ".join(said), transform=axes.transAxes, va="bottom")
    axes.tick_params(labelbottom=layer == layers[-1])
    if layer == layers[-1]:
        axes.set_xlabel("T, threads", labelpad=1)
    if shape == shapes[0]:
        speed.name_y(axes, "times as fast")
speed.heading(figure, "What do more threads bring, and what would they bring at best?",
               "f32; every rung and the limit compared with themselves on one thread. Dashed: T threads, T times as "
               "fast." + (f" {', '.join(map(str, missing))} threads: skipped, this machine has fewer." if missing else "")
               + (f"\nWhat is less than {LEAST:g} times as fast is off the scale." if min(factors) < LEAST else ""))
speed.signs(figure, parallel, looks)
common.save(figure, out, common.machine(path, [row for row in results if row["verdict"] != "skip"]))
