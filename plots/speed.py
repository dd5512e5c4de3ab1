"""What the figures of speed share: the rows, caches, axes."""
from math import isfinite, log2, nan

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

import common
import rungs

LIMIT = "#9A9A9A"
NUMBERS = ("n", "c", "s", "threads", "bytes", "ns", "ns_low", "ns_high", "gbps", "limit_gbps", "limit_pct")


def ladder(path, rows, make, passes):
    """The rows of f32, the given passes and normal data, with numbers (NaN: unknown), names, and gbps_low, _high.
    The layer names the pass, unless it is forward."""
    chosen, isas = [], common.widest(rows)
    for row in rows:
        if (row["dtype"], row["data"]) != ("f32", "normal") or row["pass"] not in passes or row["options"]:
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


def caches(path):
    """[("L1", bytes), ...] of the known caches of a thread."""
    found = []
    try:
        text = path.with_suffix(".machine.txt").read_text(encoding="utf-8")
        for item in text.split("\ncaches: ")[1].splitlines()[0].replace(")", "").split(", "):
            level, size, *_ = item.split(" ")
            found.append((level, 1024 * int(size[:-1])))
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


def name_y(axes, text):
    """The label of the y axes, as far left as there is room."""
    place = axes.get_position()
    axes.figure.text(0.012, (place.y0 + place.y1) / 2, text, rotation=90, ha="center", va="center")


def heading(figure, question, text):
    """The question, and below it what one must know to read the answer."""
    tall = figure.get_figheight()
    figure.suptitle(question, x=0.008, y=1 - min(0.015, 0.13 / tall), ha="left")
    figure.text(0.008, 1 - min(0.07, 0.6 / tall), text, va="top")
