"""What is wrong with a figure's layout: text on text, text off the page, letters too small for a slide."""
from itertools import combinations
from unittest.mock import patch

from matplotlib.text import Text
from matplotlib.transforms import Bbox

SMALLEST = 9  # points on a slide 13.33 inches wide
SLACK = 1.5  # pixels: the box of a word is higher than its letters


def shown(figure):
    """(words, points, box in pixels) of every text that drawing the figure draws."""
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
    """Of a text, without its empty lines; of an annotation without its arrow, which may cross what it likes."""
    box, words = Text.get_window_extent(text, renderer), text.get_text().split("\n")
    if text.get_rotation() or len(words) == 1:
        return [(text.get_text(), text.get_fontsize(), box)]
    step = box.height / len(words)
    return [(line, text.get_fontsize(), Bbox.from_extents(box.x0, box.y1 - (i + 1) * step, box.x1, box.y1 - i * step))
            for i, line in enumerate(words) if line.strip()]


def faults(texts, page, smallest=SMALLEST):
    """In words. The page is a box like those of the texts."""
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
    """Text on the markers of a curve."""
    marks = [point for axes in figure.axes for line in axes.lines if line.get_marker() not in ("None", "", None)
             for point in line.get_transform().transform(line.get_xydata())[::line.get_markevery() or 1]]
    return [f"text on a point: {words!r}" for words, _, box in texts
            if any(box.x0 + SLACK < x < box.x1 - SLACK and box.y0 + SLACK < y < box.y1 - SLACK for x, y in marks)]


def of_figure(figure, points=False):
    """points: a slide has room for text beside its points."""
    texts = shown(figure)
    return faults(texts, figure.bbox) + (on_points(figure, texts) if points else [])
