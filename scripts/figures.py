#!/usr/bin/env python3
"""Makes the files of the site's interactive figures (web/README.md): figures.js joins the scripts of web/, and
normlab.wasm.js is the library as text, because a page that was opened as a file cannot fetch other files.

    scripts/figures.py FOLDER

Compiles with the packages of requirements-site.txt, into build/wasm. Fails if the library, compressed, is larger
than 400 KiB."""
import base64
import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
PAGE = ROOT / "docs" / "figures.md"
MOST = 400 * 1024
MARKER = re.compile(r"^<!-- figure: (\w+) -->\n", flags=re.M)


def compiled():
    """The library, compressed."""
    tools = Path(sys.executable).parent
    environment = {**os.environ, "PYTHON": sys.executable, "PATH": f"{tools}:{os.environ['PATH']}"}
    environment.pop("CMAKE_C_COMPILER_LAUNCHER", None)
    for command in (["cmake", "--preset", "wasm"], ["cmake", "--build", "--preset", "wasm"]):
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"figures.py: {' '.join(command)}\n{done.stdout}{done.stderr}")
    packed = gzip.compress((ROOT / "build" / "wasm" / "normlab.wasm").read_bytes(), mtime=0)
    if len(packed) > MOST:
        sys.exit(f"figures.py: the library is {len(packed)} bytes compressed, more than {MOST}")
    return packed


def bundle(folder):
    folder.mkdir(parents=True, exist_ok=True)
    scripts = [WEB / "library.js", WEB / "ui.js", *sorted((WEB / "figures").glob("*.js")), WEB / "start.js"]
    text = "".join(path.read_text() for path in scripts)
    (folder / "figures.js").write_text(f'(() => {{\n"use strict";\n{text}}})();\n')
    packed = base64.b64encode(compiled()).decode()
    (folder / "normlab.wasm.js").write_text(f'globalThis.normlabWasm = "{packed}";\n')


def on_site(page, text):
    """The text of a page with a figure at each marker, below the words on what to try. In a chapter, the paragraph
    after the marker is a link to the figure's text in docs/figures.md; that text replaces the paragraph."""
    sections, titles = {}, {}
    for part in re.split(r"(?m)^## ", PAGE.read_text() if PAGE.exists() else "")[1:]:
        title, name, words = re.match(rf"(.+)\n\n{MARKER.pattern[1:]}(.*)", part, flags=re.S).groups()
        words = words.strip().replace("](", f"]({os.path.relpath(PAGE.parent, page.parent)}/")
        sections[name], titles[name] = f"**{title}.** {words}".split("\n\n", 1), title

    def figure(match):
        name, words = match.groups()
        still = os.path.relpath(PAGE.parent / "pictures" / "figures" / f"{name}.png", page.parent)
        frame = (f'\n<div data-figure="{name}"><noscript><img src="{still}" alt="{titles[name]}, as it begins">This figure '
                 "needs JavaScript; the text below explains it.</noscript></div>\n")
        return words + frame if page == PAGE else f"{sections[name][0]}\n{frame}\n{sections[name][1]}\n"
    return re.sub(MARKER.pattern + r"((?:.+\n)+)", figure, text, flags=re.M)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    bundle(Path(sys.argv[1]))
