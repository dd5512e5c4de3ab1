"""Draws the slides of plots/slides/ from results: light, dark and grey, as PNG, SVG and PDF, and as decks.

    python plots/deck.py RESULTS [NAME...]

writes RESULTS/slides/THEME/NAME.*, a deck for each theme (RESULTS/slides.pdf is the light one), and
RESULTS/slides/small/NAME.png for pages of text. With NAMEs, draws only these slides, and keeps the old decks. A slide
that lacks results is not drawn; stderr names such slides, and every fault of a layout. Exit code: 0 done, 2 nothing
drawn.
"""
import importlib.util
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.backends.backend_pdf import PdfPages
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import common
import files
import layout
import slide

FOLDER = Path(__file__).resolve().parent / "slides"
FIRST = "headline ladder roofline".split()  # the other slides follow by name


def names():
    found = sorted(path.stem for path in FOLDER.glob("*.py"))
    return [name for name in FIRST if name in found] + [name for name in found if name not in FIRST]


def deck_of(results, theme):
    return results / f"slides{'-' + theme if theme != 'light' else ''}.pdf"


def page_of(name, results, theme):
    """The finished page; raises slide.Missing or files.FAULTS."""
    spec = importlib.util.spec_from_file_location(f"slides_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = slide.Page(results, module.SOURCE, module.__doc__.strip(), theme)
    try:
        page.finish(module.draw(page))
    except (slide.Missing, *files.FAULTS):
        plt.close(page.figure)
        raise
    return page


def draw(results, theme, chosen, whole):
    """Draws the slides of a theme. Returns the names drawn, why others are missing, and the faults of layouts."""
    folder, drawn, said, faults = results / "slides" / theme, [], [], []
    with PdfPages(deck_of(results, theme), metadata={"CreationDate": None}) if whole else nullcontext() as pages:
        for name in chosen:
            try:
                page = page_of(name, results, theme)
            except slide.Missing as missing:
                said.append(f"slide {name} is not drawn: {missing}")
                continue
            except files.FAULTS as error:  # the other slides are still drawn
                said.append(f"slide {name} is not drawn: {files.says('a file of its results', error)}")
                continue
            if page.ribbon == "BUSY":
                said.append(f"slide {name}: other programs disturbed {page.source}; measure it again on a quieter machine")
            faults += [f"slide {name}, {theme}: {fault}" for fault in layout.of_figure(page.figure, points=True)]
            for end, metadata in (common.ENDS | {".png": {"Title": page.answer}}).items():
                page.figure.savefig(folder / f"{name}{end}", facecolor=page.back, metadata=metadata)
            if theme == "light":
                small(folder / f"{name}.png", results / "slides" / "small" / f"{name}.png")
            if whole:
                pages.savefig(page.figure, facecolor=page.back)
            plt.close(page.figure)
            drawn.append(name)
    return drawn, said, faults


def clear(results, chosen):
    """Makes the folders. Removes the chosen slides or, if none is chosen, all slides and decks."""
    for name in [*slide.THEMES, "small"]:
        folder = results / "slides" / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if old.suffix in (".png", ".svg", ".pdf") and (old.stem in chosen or not chosen):
                old.unlink()
    for theme in () if chosen else slide.THEMES:
        deck_of(results, theme).unlink(missing_ok=True)


def small(picture, out):
    """Saves the picture for pages of text: 1280 pixels wide, in 128 colours. Pillow's default choice of
    colours merges orange and amber, and the one of maximum coverage tints grey areas."""
    image = Image.open(picture).convert("RGB").resize((1280, 720), Image.Resampling.LANCZOS)
    about = PngInfo()
    about.add_text("Title", Image.open(picture).info["Title"])  # scripts/claims.py --check compares the headline's
    image.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, optimize=True, pnginfo=about)


def main(results, *chosen):
    results, unknown = Path(results), [name for name in chosen if name not in names()]
    if unknown:
        print(f"there is no slide {unknown[0]}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    if not results.is_dir():
        print(f"{results} is no folder of results; ./reproduce makes one", file=sys.stderr)
        return 2
    try:
        clear(results, chosen)
        with ProcessPoolExecutor(len(slide.THEMES)) as pool:
            done = list(pool.map(partial(draw, results, chosen=chosen or names(), whole=not chosen), slide.THEMES))
    except OSError as error:
        print(files.says(results, error), file=sys.stderr)
        return 2
    drawn, said, _ = done[0]
    faults = [fault for _, _, found in done for fault in found]
    for words in said + faults:
        print(words, file=sys.stderr)
    if not drawn:
        return 2
    print(f"{len(drawn)} slides: {results}/{'slides/light' if chosen else 'slides.pdf'}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
