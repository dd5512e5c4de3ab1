"""What does each idea buy? Bandwidth of every rung, and how many times as fast as naive: a row is a rung, a column a
size. Both come from the CSV, and the figure grows with them.
"""
from math import isfinite

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

import common
import rungs
import speed

MAKE = "normlab bench experiments/ladder.txt --out results/ladder.csv"
NEEDS = "case impl isa threads op pass dtype n c s data options verdict ns ns_low ns_high gbps limit_gbps limit_pct bytes flag"
PASSES = "forward", "inference", "backward"
FILLS = {"naive": "#DDDDDD", "plain C": "#56B4E9", "optimized": "#0072B2", "promises nothing on these data": "white"}


def kind(row):
    return ("promises nothing on these data" if row["verdict"] == "demo" else "optimized" if rungs.is_optimized(row["impl"])
            else "naive" if row["impl"].endswith("/naive") else "plain C")


def digits(value):
    return f"{value:.{2 if value < 0.95 else 1 if value < 9.95 else 0}f}"


path, out = common.arguments(__file__, MAKE)
lines = common.read(path, NEEDS, MAKE)
rows = speed.ladder(path, lines, MAKE, passes=PASSES)
for row in rows:
    row["rung"] += f" ×{row['threads']:.0f}" * (row["threads"] > 1)
    row["shape"] = "×".join(f"{row[key]:.0f}" for key in ("n", "c", "s") if key != "s" or row[key] > 1)
groups, heads, base = {}, {}, {}  # a layer's pass in plain C, or optimized -> its rungs; the heights of headings; case -> ns
order = {op: place for place, op in enumerate(common.LAYERS)}
rows.sort(key=lambda row: (order[row["op"]], PASSES.index(row["pass"]), rungs.is_optimized(row["impl"]), rungs.place(row["impl"])))
for row in rows:
    groups.setdefault((row["op"], row["pass"], rungs.is_optimized(row["impl"])), {})[row["rung"]] = row
    if row["case"] not in base or row["impl"].endswith("/naive"):
        base[row["case"]] = row
y, at = 0, {}
for (op, name, optimized), found in groups.items():
    y += 2 if (op, "") not in heads else 0.4
    heads.setdefault((op, ""), y - 0.4)
    heads.setdefault((op, name), y + 1)
    for rung in found:
        y += 1
        at[op, name, optimized, rung] = y
shapes = sorted(dict.fromkeys(row["shape"] for row in rows), key=lambda shape: shape.count("×") > 1)
high, below, above = (max(520, 256 + 25 * y)) / 144, 116 / 144, 140 / 144
left = (110 + 11.5 * max(16, *(len(row["rung"]) for row in rows))) / 144
pictures = shapes[-1].count("×") > 1 and heads["batchnorm", ""] > 13  # the key stands above them, or beside all
wide, scale = (common.WIDE - left) / (len(shapes) + (not pictures)), (high - below - above) / (y + 0.7)
figure = plt.figure(figsize=(common.WIDE, high))
for i, shape in enumerate(shapes):
    mine = [row for row in rows if row["shape"] == shape]
    top = heads["batchnorm", ""] - 0.8 if shape.count("×") > 1 else 0
    axes = figure.add_axes(((left + i * wide) / common.WIDE, below / high, (wide - 0.21) / common.WIDE,
                            (y + 0.7 - top) * scale / high))
    axes.set(ylim=(y + 0.7, top), xlabel="GB/s (mind the scale)" if len(shapes) > 1 else "GB/s")
    axes.grid(False, axis="y")
    most = max((max(row["limit_gbps"], row["gbps_high"]) for row in mine if isfinite(row["gbps"])), default=1)
    for row in mine:
        place = at[row["op"], row["pass"], rungs.is_optimized(row["impl"]), row["rung"]]
        beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 9}
        if not isfinite(row["gbps"]):
            wrong = row["verdict"] == "fail"
            axes.annotate("FAIL: wrong, so not timed" if wrong else "not on this processor", (0, place), color=common.RED,
                          weight="bold" if wrong else "normal", **beside)
            continue
        axes.barh(place, row["gbps"], 0.74, color=FILLS[kind(row)], edgecolor="black", linewidth=0.6)
        axes.hlines(place, row["gbps_low"], row["gbps_high"], color="black", linewidth=1.2)
        axes.vlines(row["limit_gbps"], place - 0.5, place + 0.5, color=speed.LIMIT, linewidth=3)
        times = base[row["case"]]["ns"] / row["ns"]
        words = f"{digits(row['gbps'])} GB/s" if row is base[row["case"]] else f"{digits(times)}×" * isfinite(times)
        axes.annotate(f"{words} {rungs.mark(row)}".rstrip(), (max(row["gbps_high"], row["limit_gbps"]), place), **beside)
    axes.set_xlim(0, 1.28 * most)
    axes.set_yticks(list(at.values()) if i == 0 else [], [key[-1] for key in at] if i == 0 else [])
    axes.tick_params(axis="y", length=0)
    size = max((row["bytes"] for row in mine if row["pass"] == "forward"), default=0)
    axes.set_title(shape + " (pictures)" * (shape.count("×") > 1), pad=18)
    where = f", in {speed.home(path, size)}" * bool(speed.caches(path))
    axes.annotate(f"{digits(size / 1e6)} MB{where}", (0, 1), (0, 5), "axes fraction", "offset points", fontsize=9)
both = "rmsnorm" in {row["op"] for row in rows} and "qwen2_rmsnorm" not in {row["op"] for row in rows}
for (op, name), place in heads.items():
    more = {"rmsnorm": ", and in the same files Qwen2RMSNorm" * both, "qwen2_rmsnorm": " (gain 1 + w)"}.get(op, "")
    look = {"fontsize": 9, "color": common.GREY} if name else {"fontsize": 11, "weight": "bold"}
    figure.text(0.006, (below + (y + 0.7 - place) * scale) / high, name or common.LAYERS[op] + more, va="center", **look)
isas = ", ".join(dict.fromkeys(row["isa"] for row in rows if rungs.is_optimized(row["impl"])))
used = [name for name in FILLS if any(kind(row) == name for row in rows)]
handles = [Patch(facecolor=FILLS[name], edgecolor="black", label=name + f", {isas}" * (name == "optimized")) for name in used]
handles += [Line2D([], [], color="black", linewidth=1.2, label="95 % interval of the median"),
            Line2D([], [], color=speed.LIMIT, linewidth=3, label="the machine's limit")]
note = ("Beside a bar: times as fast as naive, or\nas the first rung of the pass; there its GB/s.\nGB/s: every input read once "
        "and every\noutput written once, over the median time."
        + "\n‡ IMPOSSIBLE: beyond the limit by more\nthan the noise, so do not believe it." * any(row["flag"] for row in rows))
figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(1 - (wide + 0.1) / common.WIDE, 1 - 0.75 / high), title=note,
              alignment="left", title_fontsize=9)
figure.suptitle(__doc__.partition(":")[0], x=0.006, y=1 - 0.13 / high, ha="left")
common.save(figure, out, common.machine(path, lines))
