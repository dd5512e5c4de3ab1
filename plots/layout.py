"""Finds faults in a figure's layout: text on text, text off the page, letters too small for a slide."""
import re
import unicodedata
from itertools import combinations
from unittest.mock import patch

from matplotlib.collections import LineCollection
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import common

SMALLEST = 9  # points on a slide 13.33 inches wide
SLACK = 1.5  # pixels: the box of a word is higher than its letters


def shown(figure):
    """(words, points, box in pixels) of every text that the figure draws."""
    texts, draw = {}, Text.draw

    def note(text, renderer, *rest, **more):
        if text.get_visible() and text.get_text().strip():
            texts[text] = None
        return draw(text, renderer, *rest, **more)

    with patch.object(Text, "draw", note):
        figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    return [line for text in texts for line in lines(text, renderer)]


def lines(text, renderer):
    """As shown(), for each line of one text. Leaves out empty lines, and annotations' arrows, which may cross text."""
    box, words = Text.get_window_extent(text, renderer), text.get_text().split("\n")
    if text.get_rotation() or len(words) == 1:
        return [(text.get_text(), text.get_fontsize(), box)]
    step = box.height / len(words)
    return [(line, text.get_fontsize(), Bbox.from_extents(box.x0, box.y1 - (i + 1) * step, box.x1, box.y1 - i * step))
            for i, line in enumerate(words) if line.strip()]


def faults(texts, page, smallest=SMALLEST):
    """Describes overlaps, small letters, and texts that leave the box `page`."""
    found = []
    for (a, _, first), (b, _, second) in combinations(texts, 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        tall = min(first.y1, second.y1) - max(first.y0, second.y0)
        if wide > SLACK and tall > SLACK:
            found.append(f"text on text: {a!r} and {b!r}")
    for words, points, box in texts:
        if box.x0 < page.x0 - 1 or box.y0 < page.y0 - 1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1:
            found.append(f"off the page: {words!r}")
        if points < smallest:
            found.append(f"letters of {points:g} points: {words!r}")
    return found


def on_points(figure, texts):
    """Finds text on the markers of a curve."""
    marks = [point for axes in figure.axes for line in axes.lines if line.get_marker() not in ("None", "", None)
             for point in line.get_transform().transform(line.get_xydata())[::line.get_markevery() or 1]]
    return [f"text on a point: {words!r}" for words, _, box in texts
            if any(box.x0 + SLACK < x < box.x1 - SLACK and box.y0 + SLACK < y < box.y1 - SLACK for x, y in marks)]


def strokes(axes):
    """The curves, limits, intervals and leaders of an axes, in pixels, with the box in which each is visible."""
    drawn = [(line, [line.get_path()]) for line in axes.lines if line.get_linestyle() != "None" and len(line.get_xydata())]
    drawn += [(lines, lines.get_paths()) for lines in axes.collections if isinstance(lines, LineCollection)]
    for artist, paths in drawn:
        for path in paths:
            yield artist.get_transform().transform_path(path), axes.bbox if artist.get_clip_on() else axes.figure.bbox


def on_lines(figure, texts):
    """Finds text across a line: the line makes the text illegible, or the text hides the line."""
    drawn = [stroke for axes in figure.axes for stroke in strokes(axes)]
    return [f"text on a line: {words!r}" for words, _, box in texts
            if any((seen := Bbox.intersection(box.padded(-2 * SLACK), room)) and path.intersects_bbox(seen, filled=False)
                   for path, room in drawn)]


def clipped(axes):
    """How many points and ends of intervals lie outside the axes."""
    (left, right), (low, high) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    drawn = [line.get_xydata() for line in axes.lines if line.get_transform() == axes.transData and line.get_marker() != "None"]
    drawn += [path.vertices for lines in axes.collections if isinstance(lines, LineCollection)
              and lines.get_transform() == axes.transData for path in lines.get_paths()]
    return sum(bool(x < left or x > right or y < low or y > high) for points in drawn for x, y in points)


def ticks(axes, axis):
    """The texts of visible ticks, from left to right or from below."""
    low, high = sorted(axes.transAxes.transform([(0, 0), (1, 1)])[:, int(axis == "y")])
    found = [(getattr(box := tick.get_window_extent(), f"{axis}0") + getattr(box, f"{axis}1"), tick.get_text())
             for tick in getattr(axes, f"get_{axis}ticklabels")(which="both") if tick.get_visible() and tick.get_text().strip()]
    return [words for at, words in sorted(found) if 2 * low - 9 <= at <= 2 * high + 9]


def value(words):
    """The number that a tick shows, as 1/8, 10⁻³, 1,024 or 64 KiB; None if it shows no number."""
    words = unicodedata.normalize("NFKC", re.sub("([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"**\1", words)).replace(",", "").replace("−", "-")
    words = re.sub(r"\$\\mathdefault\{(\d+)\^\{(-?\d+)\}\}\$", r"\1**\2", words)
    found = re.fullmatch(r"(-?[\d.]+)(?:(\*\*|/)(-?\d+))?(?: ?([kKM])(?:i?B)?)?", words)
    if not found:
        return None
    first, sign, second, unit = found.groups()
    first, second = float(first), float(second or 1)
    return (first / second if sign == "/" else first**second) * {None: 1, "k": 1e3, "K": 2.0**10, "M": 2.0**20}[unit]


def of_axes(axes):
    """Finds ticks that show the same number, and an axis that runs backwards without an arrow in its label."""
    for axis in "xy":
        words = ticks(axes, axis)
        values = [value(word) for word in words]
        yield from (f"the tick {word!r} is there twice" for word in dict.fromkeys(words)
                    if words.count(word) > 1 and value(word) is not None)
        backwards = None not in values and values == sorted(values, reverse=True)
        if len(values) > 1 and backwards and "→" not in common.label(axes, axis).get_text():
            yield f"{axis} runs backwards: {', '.join(words)}"


def of_figure(figure, points=False):
    """The faults of a figure. points: also reports text on points, which a slide has room to avoid."""
    texts = shown(figure)
    said = " ".join(words for words, *_ in texts)
    found = faults(texts, figure.bbox) + on_lines(figure, texts) + (on_points(figure, texts) if points else [])
    seen = [axes for axes in figure.axes if axes.get_visible() and axes.axison]
    found += [f"no word says that {axis} is logarithmic" for axis in "xy"
              if common.logarithmic(figure, axis) and "log scale" not in said]
    if (beyond := sum(map(clipped, seen))) and not re.search("off the scale|outside the axes|cut at the axes", said):
        found.append(f"clipped: {beyond} points outside the axes, and no word says so")
    return found + [fault for axes in seen for fault in of_axes(axes)]
