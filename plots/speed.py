"""Caches, sizes and axes."""
from math import log2

from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

import files


def home(path, size):
    """The smallest cache into which `size` bytes fit: L1, L2 or L3; or memory."""
    return next((name for name, room in files.caches(path) if size <= room), "memory")


def human(size):
    """48 KiB"""
    power = max(0, min(3, int(log2(size)) // 10))
    return f"{size / 1024**power:.3g} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def cache_sizes(path):
    """L1 48 KiB, L2 1 MiB"""
    return ", ".join(f"{level} {human(size)}" for level, size in files.caches(path)) or "unknown"


def size_axis(axes, xs, most=6, text=lambda x: f"{x:.0f}"):
    """A logarithmic x axis with ticks at the sizes; evenly spaced ticks have labels, as many as fit."""
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
