"""Caches, sizes and axes."""
from math import log2

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator


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


def heading(figure, question, text):
    """The question, and below it what one must know to read the answer."""
    tall = figure.get_figheight()
    figure.suptitle(question, x=0.008, y=1 - min(0.015, 0.13 / tall), ha="left")
    figure.text(0.008, 1 - min(0.07, 0.6 / tall), text, va="top")
