"""The look of a slide: one message, legible from the back row. deck.py draws the slides of plots/slides/.

A slide is 13.33 x 7.5 inches. Letters have 11 points in the foot, and 12 or more elsewhere.
"""
from math import log2
from pathlib import Path

import common
import files
import layout
import speed

import matplotlib.pyplot as plt
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import Bbox

WIDE, TALL = common.WIDE, 7.5
# Lightness alone distinguishes a theme's colours, also for eyes without red or green cones (tests/figures).
NAMES = "ink indigo wine blue red rose amber".split()
THEMES = {
    "light": ("#FFFFFF", "#1A1A1A", "#595959", "#DDDDDD",
              "#000000 #332288 #882255 #0072B2 #D55E00 #CC79A7 #E69F00"),
    "dark": ("#14181D", "#F6F6F6", "#B4B4B4", "#3A4048",
             "#F6F6F6 #6C91F3 #B95C90 #46BFFF #BF3F18 #FFD0FC #E0C57C"),
    "grey": ("#FFFFFF", "#000000", "#555555", "#DDDDDD",
             "#000000 #1E1E1E #383838 #525252 #6E6E6E #8B8B8B #A8A8A8"),
}
# The looks of the first, second, ... series: colour, marker, dash.
LOOKS = [("blue", "o", "-"), ("amber", "s", (0, (5, 1.5))), ("ink", "^", (0, (1, 1.2))), ("red", "D", (0, (7, 1.5, 1, 1.5))),
         ("rose", "v", (0, (3, 1))), ("wine", "P", (0, (4, 1, 1, 1, 1, 1))), ("indigo", "X", (0, (9, 2)))]
TITLE, TEXT, NOTE, FOOT = 28, 17, 14, 11


class Missing(Exception):
    """Why a slide cannot be drawn from these results."""


class Page:
    """One slide in one theme. A slide's draw(page) calls axes(), line(), names() and note(), and returns the answer."""

    def __init__(self, results, source, question, theme="light"):
        self.results, self.source, self.question = Path(results), source, question
        self.back, self.ink, self.muted, self.rule, colours = THEMES[theme]
        self.colours = dict(zip(NAMES, colours.split()))
        self.figure = plt.figure(figsize=(WIDE, TALL), facecolor=self.back)
        self.series = {}  # axes -> [(name, curve)]
        self.facts = files.facts(self.path(source))
        self.machines = {}  # name -> facts, if the slide shows several machines
        self.quick = self.facts.get("quick") == "yes"
        self.ribbon = "QUICK" if self.quick else "BUSY" if self.path(source).exists() and files.is_busy(self.read()) else ""

    def path(self, name):
        return self.results / f"{name}.csv"

    def read(self, name=None):
        """The rows of the named experiment; by default of the slide's own experiment."""
        path = self.path(name or self.source)
        if not path.exists() or not (rows := files.rows(path)):
            raise Missing(f"there are no results of {name or self.source}")
        return rows

    def rows(self, **wanted):
        """The rows with these values in their columns, on the widest instruction set, without impossible times."""
        found = [row for row in common.on_widest(self.read()) if row["verdict"] in ("ok", "demo") and not row["flag"]
                 and not row["options"].strip() and all(row[key] == value for key, value in wanted.items())]
        if not found:
            raise Missing(f"{self.source} lacks {' '.join(wanted.values())}")
        return found

    def curves(self):
        return common.curves(self.read())

    def panel(self, name, *series):
        """One panel of a study: series -> (xs, ys)."""
        found = self.curves().get(name, {})
        if not found or not set(series) <= set(found):
            raise Missing(f"{self.source} lacks {name}")
        return found

    def rungs(self, axes, rows, names, point):
        """Draws a curve for each rung. names: impl, or its end -> the curve's name. point(row): (x, y) or None.
        Returns name -> {x: the largest y at x}."""
        drawn = {}
        for impl, name in names.items():
            for x, y in filter(None, (point(row) for row in rows if row["impl"].endswith(impl))):
                at = drawn.setdefault(name, {})
                at[x] = max(y, at.get(x, y))
        if len(drawn) < 2:
            raise Missing(f"{self.source} lacks {' or '.join(name for name in names.values() if name not in drawn)}")
        for name, at in drawn.items():
            self.line(axes, *zip(*sorted(at.items())), name)
        return drawn

    def axes(self, left=1.15, right=2.6, xlabel="", ylabel="", bottom=1.85, top=2.15):
        """One panel; the margins are in inches, and the right margin has the names of curves."""
        box = left / WIDE, bottom / TALL, 1 - (left + right) / WIDE, 1 - (bottom + top) / TALL
        axes = self.figure.add_axes(box, facecolor=self.back)
        axes.grid(False)
        axes.grid(True, axis="y", color=self.rule, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(which="both", labelsize=TEXT, colors=self.ink, length=0, pad=6)
        for side in axes.spines:
            axes.spines[side].set(visible=side == "bottom", color=self.muted)
        axes.set_xlabel(xlabel, fontsize=TEXT, color=self.ink, labelpad=6)
        # The label stands above the axis, where it is horizontal.
        axes.above = axes.text(0, 1 + 0.16 / (axes.get_position().height * TALL), ylabel, transform=axes.transAxes, fontsize=TEXT,
                  color=self.muted, va="bottom")
        self.series[axes] = []
        return axes

    def line(self, axes, xs, ys, name, low=None, high=None):
        """A curve with its own colour, marker and dash; low and high are the ends of its intervals."""
        colour, marker, dash = LOOKS[len(self.series[axes])]
        colour = self.colours[colour]
        drawn, = axes.plot(xs, ys, color=colour, marker=marker, linestyle=dash, linewidth=3.2, markersize=10,
                           markeredgecolor=self.back, markeredgewidth=0.8, zorder=3, label=name,
                           markevery=max(1, len(xs) // 12))
        if low is not None:
            axes.vlines(xs, low, high, color=colour, linewidth=6, alpha=0.35, zorder=2)
        self.series[axes].append((name, drawn))
        return drawn

    def names(self, axes, end=-1):
        """Writes the names of the curves at their right ends, or if end is 0 at their left ends, without overlap."""
        height = axes.get_position().height * TALL * 72
        scale, step = axes.transAxes.inverted(), TEXT * 1.3 / height
        low, high = sorted(axes.get_ylim())
        ends = []
        for name, drawn in self.series[axes]:
            x, y = drawn.get_xdata()[end], min(max(drawn.get_ydata()[end], low), high)
            ends.append([*scale.transform(axes.transData.transform((x, y))), name, drawn])
        ends.sort(key=lambda end: end[1])
        at = [end[1] for end in ends]
        for _ in range(500):
            for i in range(len(at) - 1):
                lines = 1 + max(ends[i][2].count("\n"), ends[i + 1][2].count("\n"))
                push = max(0, step * lines - (at[i + 1] - at[i])) / 2
                at[i], at[i + 1] = at[i] - push, at[i + 1] + push
            at = [min(max(y, 0), 1) if i in (0, len(at) - 1) else y for i, y in enumerate(at)]
        inch = (1 if end else -1) / (axes.get_position().width * WIDE)
        edge = 1 if end else 0
        for y, (x0, y0, name, drawn) in zip(at, ends):
            axes.plot([x0, edge + 0.12 * inch, edge + 0.22 * inch], [y0, y, y], transform=axes.transAxes, clip_on=False,
                      color=drawn.get_color(), linewidth=1, zorder=1)
            axes.plot(edge + 0.22 * inch, y, transform=axes.transAxes, clip_on=False, marker=drawn.get_marker(),
                      color=drawn.get_color(), markersize=11, linestyle="none")
            axes.text(edge + 0.36 * inch, y, name, transform=axes.transAxes, fontsize=TEXT, color=self.ink, va="center",
                      ha="left" if end else "right")

    def bars(self, axes, rows, beyond=None, base=0):
        """Horizontal bars from the top: (name, value, low, high, words behind the bar, colour). beyond: where
        on the x axis a column for the words begins, if words right behind the bars would interrupt a vertical line."""
        for i, (name, value, low, high, words, colour) in enumerate(rows):
            axes.barh(i, value - base, left=base, height=0.62, color=self.colours[colour], zorder=2)
            if low is not None:
                axes.hlines(i, low, high, color=self.ink, linewidth=3, zorder=3)
            axes.annotate(words, (beyond or max(value, high or value), i), (10, 0), textcoords="offset points", fontsize=TEXT,
                          color=self.ink, va="center", zorder=4, bbox={"facecolor": self.back, "edgecolor": "none", "pad": 1})
        axes.set_yticks(range(len(rows)), [row[0] for row in rows])
        axes.set_ylim(len(rows) - 0.45, -0.55)
        if beyond:
            wide = (max(self.wide(row[4], TEXT) for row in rows) + 0.2) / (axes.get_position().width * WIDE)
            left, scale = axes.get_xlim()[0] * (base > 0), axes.xaxis.get_transform()
            ends = scale.transform([left, beyond])
            axes.set_xlim(left, scale.inverted().transform([ends[0] + (ends[1] - ends[0]) / (1 - wide)])[0])
        axes.grid(False)
        axes.grid(True, axis="x", color=self.rule, linewidth=0.8)

    def points(self, axes, rows):
        """Points (x, y, name, look of the marker); each name stands where it covers no line, point or other name."""
        inches, inverse = self.figure.dpi_scale_trans, self.figure.dpi_scale_trans.inverted()
        at = (axes.transData + inverse).transform([row[:2] for row in rows])
        room, lines = axes.get_window_extent().transformed(inverse), [path.transformed(inverse) for path, _ in layout.strokes(axes)]
        taken = [Bbox.from_bounds(x - 0.15, y - 0.15, 0.3, 0.3) for x, y in at]

        def free(box):
            return (room.x0 < box.x0 and box.x1 < room.x1 and room.y0 < box.y0 and box.y1 < room.y1 and not box.count_overlaps(taken)
                    and not any(path.intersects_bbox(box.padded(0.03), filled=False) for path in lines))

        for (x, y), (*point, name, look) in zip(at, rows):
            axes.plot(*point, **{"markersize": 15, "zorder": 4} | look)
            wide, high = self.wide(name, TEXT), TEXT * 1.3 / 72
            places = [Bbox.from_bounds(x + far * side + wide * (side - 1) / 2, y + far * up - high / 2, wide, high)
                      for far in (0.25, 0.35, 0.5, 0.7, 0.9, 1.2, 1.5)
                      for side, up in ((1, 0), (0, 1), (0, -1), (1, -1), (1, 1), (-1, 0), (-1, 1), (-1, -1))]
            box = next(filter(free, places), places[0])
            taken.append(box)
            end = min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1)
            if abs(end[0] - x) + abs(end[1] - y) > 0.4:
                axes.annotate("", (x, y), end, xycoords=inches, arrowprops={"arrowstyle": "-", "color": self.muted})
            self.figure.text(box.x0, (box.y0 + box.y1) / 2, name, transform=inches, fontsize=TEXT, color=self.ink, va="center")

    def note(self, words):
        """A note at the bottom of the slide: what one must know to read it."""
        self.put(0.3, 0.72, words, NOTE, self.muted, WIDE - 0.6, most=2, va="center")

    def put(self, x, y, words, size, colour, width, most=1, **more):
        """Writes at most `most` lines of text, `width` inches wide; a text that is too long gets smaller letters."""
        while len(lines := self.wrapped(words, size, width, more.get("weight", "normal"))) > most and size > 12:
            size -= 1
        while width > 2 and len(even := self.wrapped(words, size, 0.95 * width, more.get("weight", "normal"))) == len(lines) > 1:
            lines, width = even, 0.95 * width  # avoids a last line of one word
        self.figure.text(x / WIDE, y / TALL, "\n".join(lines), fontsize=size, color=colour, linespacing=1.15, **more)
        return len(lines) * size * 1.3 / 72

    def wrapped(self, words, size, width, weight):
        lines = [""]
        for word in words.replace(" %", "\u00a0%").split(" "):
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and self.wide(longer, size, weight) > width:
                lines.append(word)
            else:
                lines[-1] = longer
        return lines

    def wide(self, words, size, weight="normal"):
        """The words' width in inches."""
        probe = self.figure.text(0, 0, words, fontsize=size, weight=weight)
        width = probe.get_window_extent(self.figure.canvas.get_renderer()).width / self.figure.dpi
        probe.remove()
        return width

    def measured_on(self, most):
        """The machines, with at most `most` letters for each processor. If most < 8 and there are several machines,
        only their names, kernel hashes and dates; a machine's passes share its hash."""
        machines = self.machines or {"": self.facts}
        if most < 8 and len(machines) > 1:
            dates = sorted({known.get("date", "")[:10] for known in machines.values()})
            names = ", ".join(f"{name} {known.get('kernels', 'unknown')[:6]}" for name, known in machines.items())
            return f"kernels: {names} · {' to '.join(dates[:1] + dates[1:][-1:])}"
        found = []
        for name, known in machines.items():
            device = known.get("gpu", known.get("cpu", "unknown machine"))
            words = [f"{name}: " * bool(name) + (device if len(device) <= most else f"{device[:most - 1]}…")]
            words += [f"family {known['family']}"] if "family" in known and not name and "gpu" not in known else []
            words += [f"{known['cpus'].split()[0]} CPUs"] if "cpus" in known and "gpu" not in known else []
            found.append(f"{', '.join(words)} · commit {known.get('commit', 'unknown')} · {known.get('date', '')[:10]}"
                         if known else words[0])
        return "; ".join(found)

    def finish(self, answer):
        """Writes the answer as the title, the question below it, the foot and, across a corner, QUICK after --quick, or BUSY."""
        common.name_scales(self.figure)
        self.answer = answer
        tall = self.put(0.3, TALL - 0.3, answer, TITLE, self.ink, WIDE - 1.6, most=2, weight="bold", va="top")
        self.put(0.3, TALL - 0.32 - tall, self.question, TEXT, self.muted, WIDE - 1.6, va="top")
        source = f"normlab · experiment {self.source}"
        self.put(0.3, 0.2, source, FOOT, self.muted, 5, va="bottom")
        most, room = 60, WIDE - 0.9 - self.wide(source, FOOT)
        while self.wide(self.measured_on(most), FOOT) > room and most > 1:
            most -= 1
        self.figure.text(1 - 0.3 / WIDE, 0.2 / TALL, self.measured_on(most), fontsize=FOOT, color=self.muted, ha="right",
                         va="bottom")
        if self.ribbon:
            corner = [(1 - 1.45 / WIDE, 1), (1 - 0.85 / WIDE, 1), (1, 1 - 0.85 / TALL), (1, 1 - 1.45 / TALL)]
            self.figure.add_artist(Polygon(corner, transform=self.figure.transFigure, facecolor=self.colours["red"]))
            self.figure.text(1 - 0.575 / WIDE, 1 - 0.575 / TALL, self.ribbon, rotation=-45, rotation_mode="anchor",
                             fontsize=16, weight="bold", color="#FFFFFF", ha="center", va="center")


def fastest(rows):
    """The fastest of the rows for one thread."""
    return min((row for row in rows if not row["impl"].endswith("_threaded") and not row["flag"]), key=lambda row: float(row["ns"]))


def log_x(axes, xs, most=7, text=lambda x: f"{x:.0f}"):
    speed.size_axis(axes, xs, most, text)
    axes.xaxis.set_minor_locator(NullLocator())
    wide = max(xs) / min(xs)
    axes.set_xlim(min(xs) / wide**0.06, max(xs) * wide**0.02)


def log_axis(axis, low, high, text=lambda v: f"{v:,.0f}" if v >= 1e4 else f"{v:g}", base=10):
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log", base=base)
    getattr(axis.axes, f"set_{axis.axis_name}lim")(low, high)
    if base == 10 and high / low < 300:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 50 else (1, 3)))
    axis.set_major_formatter(FuncFormatter(lambda v, _: text(v)))
    axis.set_minor_formatter(NullFormatter())


def log_y(axes, *how):
    log_axis(axes.yaxis, *how)


def power(base):
    """A formatter: 10³"""
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return lambda v: f"{base}{str(round(log2(v) / log2(base))).translate(digits)}"


def tiny(value):
    """9 × 10⁻⁶"""
    digits, _, exponent = f"{value:.0e}".partition("e")
    return f"{digits}\u00a0×\u00a0" * (digits != "1") + power(10)(10.0**int(exponent))


def times(ratio):
    """13.6×"""
    return f"{ratio:.1f}×" if ratio < 99.5 else f"{ratio:.0f}×"
