"""What the figures of speed share: the rows, the choice of rungs, axes, curves, names."""
from math import isfinite, log2, nan
from statistics import median
from textwrap import fill

from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

import common
import rungs

LIMIT, FAINT = ("#9A9A9A", "", "-"), "#C4C4C4"
NUMBERS = ("n", "c", "s", "threads", "bytes", "ns", "ns_low", "ns_high", "gbps", "limit_gbps", "limit_pct")


def ladder(path, rows, make, options=lambda text: text == "", passes=("forward",)):
    """The rows of f32, the given passes and normal data, with numbers (NaN: unknown), names, and gbps_low, _high.
    The layer names the pass, unless it is forward."""
    chosen, isas = [], common.widest(rows)
    for row in rows:
        if (row["dtype"], row["data"]) != ("f32", "normal") or row["pass"] not in passes or not options(row["options"]):
            continue
        row = row | {name: float(row[name] or nan) for name in NUMBERS}
        row["layer"] = common.LAYERS[row["op"]] + f" {row['pass']}" * (row["pass"] != "forward")
        row["rung"] = rungs.name(row["impl"])
        if row["isa"] != isas.get(row["impl"], row["isa"]):
            row["rung"] += f"@{row['isa']}"
        row["gbps_low"], row["gbps_high"] = (row["bytes"] / row[name] for name in ("ns_high", "ns_low"))
        chosen.append(row)
    if not any(isfinite(row["gbps"]) for row in chosen):
        common.fail(f"{path}: nothing in it was timed in f32, {' or '.join(passes)}, on normal data\n  to make the results: {make}")
    return chosen


def sound(row):
    """Timed, right, with a bound, and not faster than the machine can be."""
    return row["verdict"] == "ok" and row["flag"] == "" and isfinite(row["gbps"])


def key_rungs(rows, most=4):
    """name -> look of the rungs that a figure has room for: naive, the fastest in plain C, rungs that failed, and
    `most` optimized ones of each layer: rungs.KEY, then those nearest to the limit."""
    chosen = {}
    for layer in dict.fromkeys(row["layer"] for row in rows):
        shares = {}
        for row in rows:
            if row["layer"] == layer:
                share = row["gbps"] / row["limit_gbps"]
                shares.setdefault((row["rung"], row["impl"]), []).append(share if isfinite(share) else 0)
                if row["verdict"] == "fail" or row["rung"] == "naive":
                    chosen[row["rung"]] = row["impl"]
        order = sorted(shares, key=lambda rung: -median(shares[rung]))
        plain = [rung for rung in order if not rungs.is_optimized(rung[1]) and rung[0] != "naive"]
        fast = [rung for rung in order if rungs.is_optimized(rung[1])]
        fast.sort(key=lambda rung: rung[0] not in rungs.KEY)
        chosen |= dict(plain[:1] + fast[:most])
    looks = rungs.looks(chosen.values())
    return {rung: looks[rungs.name(impl)] for rung, impl in sorted(chosen.items(), key=lambda c: rungs.place(c[1]))}


def caches(path, threads=1):
    """[("L1", bytes), ...] of the known caches that N threads have together."""
    found = []
    try:
        text = path.with_suffix(".machine.txt").read_text(encoding="utf-8")
        for item in text.split("\ncaches: ")[1].splitlines()[0].replace(")", "").split(", "):
            level, size, _, cpus = item.split(" ", 3)
            ends = [part.split("-") for part in cpus.split(",")]
            times = -(-threads // sum(int(end[-1]) - int(end[0]) + 1 for end in ends))
            found.append((f"{times}×{level}" if times > 1 else level, times * 1024 * int(size[:-1])))
    except (OSError, IndexError, ValueError):
        pass
    return found


def home(path, size):
    """The place of N bytes: L1, L2, L3 or memory."""
    return next((name for name, room in caches(path) if size <= room), "memory")


def human(size):
    """48 KiB"""
    power = max(0, min(3, int(log2(size)) // 10))
    return f"{size / 1024**power:.3g} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def cache_sizes(path):
    """L1 48 KiB, L2 1 MiB"""
    return ", ".join(f"{level} {human(size)}" for level, size in caches(path)) or "unknown"


def mark_caches(axes, marks):
    """Light vertical lines (name, x) where the working set exceeds a cache."""
    low, high = axes.get_xlim()
    for name, x in marks:
        if low < x < high:
            axes.axvline(x, color="#B8CDE0", linewidth=1, zorder=0.5)
            axes.annotate(name, (x, 1.005), xycoords=("data", "axes fraction"), ha="center", va="bottom",
                          fontsize=9, color="#4F6F8F")


def log_axis(axis, low, high, base=10):
    """Ticks as plain numbers, and enough of them."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": (low, high)})
    wide = high / low > 60
    axis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v / 1000:g}k" if v >= 10000 else f"{v:g}"))
    axis.set_minor_locator(LogLocator(subs=(2, 5)) if wide else NullLocator())
    axis.set_minor_formatter(NullFormatter())


def size_axis(axes, xs, most=6, text=lambda x: f"{x:.0f}"):
    """A logarithmic x axis with ticks at the sizes, as many labelled as there is room for."""
    xs, room = sorted(set(xs)), 0.06 * log2(max(xs) / min(xs)) + 0.3
    axes.set(xscale="log", xlim=(min(xs) / 2**room, max(xs) * 2**room))
    named = xs[(len(xs) - 1) % -(-len(xs) // most)::-(-len(xs) // most)]
    named = [x for x, after in zip(named, [*named[1:], float("inf")]) if after / x > (xs[-1] / xs[0]) ** 0.05]
    axes.xaxis.set_major_locator(FixedLocator(named))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: text(x)))
    axes.xaxis.set_minor_locator(FixedLocator(xs))
    axes.xaxis.set_minor_formatter(NullFormatter())


def curve(axes, points, look, markersize=5.5):
    """One rung: points (x, y, low, high, row)."""
    points = sorted(points, key=lambda p: p[0])
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    colour, marker, dash = look
    axes.plot(xs, ys, color=colour, linestyle=dash, linewidth=1.3, zorder=3)
    axes.vlines(xs, [p[2] for p in points], [p[3] for p in points], color=colour, linewidth=2.2, alpha=0.45,
                zorder=2.8)
    for x, y, _, _, row in points:
        axes.plot(x, y, marker=marker, color=colour, markersize=markersize, zorder=4,
                  markerfacecolor="white" if row["verdict"] == "demo" else colour)
        if row["flag"]:
            axes.plot(x, y, **IMPOSSIBLE)


IMPOSSIBLE = {"marker": "o", "markersize": 14, "markerfacecolor": "none", "markeredgecolor": common.RED,
              "markeredgewidth": 2.2, "linestyle": "none", "zorder": 9}


def impossible():
    """Its key."""
    return Line2D([], [], label="IMPOSSIBLE: beyond the limit", **IMPOSSIBLE | {"markersize": 10})


def crosses(axes, rows, x):
    """Rungs that failed have no time: a name and a line of crosses for each, at the bottom."""
    for i, rung in enumerate(failing(rows)):
        xs = [x(row) for row in rows if (row["rung"], row["verdict"]) == (rung, "fail")]
        height = (11 + 30 * i) / tall(axes)
        axes.plot(xs, [height] * len(xs), transform=axes.get_xaxis_transform(), clip_on=False, zorder=9, **common.FAILED)
        axes.text(0.02, height + 10 / tall(axes), f"FAIL: {rung}", transform=axes.transAxes, fontsize=9,
                  weight="bold", zorder=9, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})


def failing(rows):
    return list(dict.fromkeys(row["rung"] for row in rows if row["verdict"] == "fail"))


def below(axes, low, high, count):
    """The beginning of an axis with room for N failed rungs under `low`."""
    share = min(0.6, 30 * count / tall(axes))
    return low / (high / low) ** (share / (1 - share))


def tall(axes):
    """The height of the axes in points."""
    return axes.get_position().height * axes.figure.get_figheight() * 72


def name_ends(axes, ends, start=1):
    """Names (x, y, text, look) beside the curves' ends, right of the axes or of `start`, pushed apart."""
    low, high = axes.get_ylim()
    ends = sorted(((x, min(max(y, low), high), *rest) for x, y, *rest in ends), key=lambda e: e[1])
    step, point = 13.5 / tall(axes), 1 / (axes.get_position().width * axes.figure.get_figwidth() * 72)
    at = [axes.transAxes.inverted().transform(axes.transData.transform(e[:2]))[1] for e in ends]
    for _ in range(300):
        for i in range(len(at) - 1):
            push = max(0, step - (at[i + 1] - at[i])) / 2
            at[i], at[i + 1] = at[i] - push, at[i + 1] + push
        at = [min(max(y, 0.02), 0.98) if i in (0, len(at) - 1) else y for i, y in enumerate(at)]
    for y, (x0, y0, text, (colour, marker, *_)) in zip(at, ends):
        axes.annotate("", (x0, y0), (start + 5 * point, y), textcoords="axes fraction", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0})
        axes.plot(start + 9 * point, y, transform=axes.transAxes, clip_on=False, marker=marker or "_", color=colour,
                  markersize=6, markeredgewidth=None if marker else 3)
        axes.text(start + 16 * point, y, text, transform=axes.transAxes, va="center", fontsize=9)


def name_y(axes, text):
    """The label of the y axes, as far left as there is room."""
    place = axes.get_position()
    axes.figure.text(0.012, (place.y0 + place.y1) / 2, text, rotation=90, ha="center", va="center")


def signs(figure, rows, looks, limit="the machine's limit"):
    """At the foot: the key of the lines and signs that occur, and the rungs left out."""
    lines = [Line2D([], [], color=LIMIT[0], linewidth=3.5, label=limit), *kinds(rows),
             Line2D([], [], color="black", alpha=0.45, linestyle="none", marker="|", markersize=13,
                    markeredgewidth=2.2, label="interval of the median, cut at the axes")]
    if any(row["verdict"] == "demo" for row in rows):
        lines.append(Line2D([], [], marker="o", color="black", markerfacecolor="white", linestyle="none",
                            label="hollow: promises nothing here"))
    if failing(rows):
        lines.append(Line2D([], [], label="FAIL: wrong, so not timed", **common.FAILED | {"markersize": 10}))
    if any(row["flag"] for row in rows):
        lines.append(impossible())
    tall = figure.get_figheight()
    looks_like = {"loc": "center left", "columnspacing": 1.6, "handletextpad": 0.5, "borderaxespad": 0}
    figure.legend(handles=lines, bbox_to_anchor=(0.006, min(0.083, 0.8 / tall)), ncols=len(lines), **looks_like)
    left_out = [row for row in rows if row["rung"] not in looks]
    names = [row["rung"] for row in sorted(left_out, key=lambda row: rungs.place(row["impl"]))]
    if names:
        figure.text(0.006, min(0.044, 0.42 / tall), fill("measured, not drawn: " + ", ".join(dict.fromkeys(names)), 175), va="center")


def kinds(rows):
    """Keys for dashed and solid lines."""
    isas = dict.fromkeys(row["isa"] for row in rows if rungs.is_optimized(row["impl"]))
    dashes = {} if all(rungs.is_optimized(row["impl"]) for row in rows) else {"plain C": (0, (4, 1.5))}
    dashes |= {f"optimized, {', '.join(isas)}": "-"} if isas else {}
    return [Line2D([], [], color="black", linewidth=1.3, linestyle=dash, label=name) for name, dash in dashes.items()]


def heading(figure, question, text):
    """The question, and below it what one must know to read the answer."""
    tall = figure.get_figheight()
    figure.suptitle(question, x=0.008, y=1 - min(0.015, 0.13 / tall), ha="left")
    figure.text(0.008, 1 - min(0.07, 0.6 / tall), text, va="top")


def span(rows, name):
    """3, or 1 to 8."""
    values = sorted({row[name] for row in rows})
    return f"{values[0]:.0f}" if len(values) == 1 else f"{values[0]:.0f} to {values[-1]:.0f}"


def name_room(looks):
    """The width of the names beside a panel, as a fraction of the figure's width."""
    return (0.32 + 0.074 * max(len(name) for name in [*looks, "the limit"])) / common.WIDE


def place(figure, grid, label, top=0.81, hspace=0.1, bottom=0.165):
    """Panels of one width with room for the names right of each."""
    columns, ticks, left = len(grid[0]), 0.036, 0.05
    wide = (1 - left - label * columns - ticks * (columns - 1)) / columns
    figure.subplots_adjust(left=left, right=1 - label, top=top, bottom=bottom, hspace=hspace,
                           wspace=(label + ticks) / wide)
