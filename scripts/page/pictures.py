"""Pictures for the page, inside its file: WebP with few colours, because slides have few. Needs Pillow, which
Matplotlib brings. SPDX-License-Identifier: MIT"""
import base64
import io

from PIL import Image

WIDE, THUMB, COLOURS = 1280, 320, 96


def data(path, width=WIDE):
    """(link that contains the picture, width, height). Cached, because ./reproduce draws the page often."""
    made = path.parent.parent / "small" / f"{path.stem}-{width}.webp"
    if made.exists() and made.stat().st_mtime_ns > path.stat().st_mtime_ns:
        with Image.open(made) as picture:
            return link(made.read_bytes()), *picture.size
    with Image.open(path) as picture:
        picture = picture.convert("RGB")
    if picture.width > width:
        picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    picture = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).convert("RGB")
    out = io.BytesIO()
    picture.save(out, "WEBP", lossless=True, method=4)
    if made.parent.is_dir():
        made.write_bytes(out.getvalue())
    return link(out.getvalue()), *picture.size


def link(picture):
    return "data:image/webp;base64," + base64.b64encode(picture).decode()


def answer(path):
    """The title of a slide."""
    with Image.open(path) as picture:
        return picture.info.get("Title", "")


def slide(results, name):
    """The slide of an experiment, or None."""
    path = results / "slides" / "light" / f"{name}.png"
    return path if path.exists() else None
