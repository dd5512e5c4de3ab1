#!/usr/bin/env python3
"""Draws every slide and the examples of charts from results.tar.xz, the results of a quick run (other libraries'
results are invented). Fails if plots/layout.py finds a fault, if colours look alike in grey or without red or green
cones, or if a series has neither a unique marker nor a unique dash. Each fault is first planted in a figure, and must
be found.

    tests/figures/check.py [--results FOLDER]   draws the results in FOLDER
SPDX-License-Identifier: MIT"""
import contextlib
import io
import os
import re
import runpy
import shutil
import sys
import tempfile
from itertools import combinations
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "plots"), str(ROOT / "scripts")]
import charts
import deck
import files
import layout
import slide

import matplotlib.pyplot as plt
from colorspacious import cspace_convert, deltaE
from matplotlib.figure import Figure

CONES = 10  # smallest distance (CAM02-UCS) of two colours, seen without red or green cones
LIGHTNESS = 6  # smallest difference of L* in grey
NO_CONES = "deuteranomaly", "protanomaly"


def rgb(colour):
    return [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]


def without(kind, colour):
    seen = cspace_convert(rgb(colour), {"name": "sRGB1+CVD", "cvd_type": kind, "severity": 100}, "sRGB1")
    return [min(max(v, 0), 1) for v in seen]


def merging(colours, grey):
    """Yields pairs of colours that look alike to some people."""
    for a, b in combinations(colours, 2):
        for kind in NO_CONES:
            if not grey and deltaE(without(kind, a), without(kind, b), input_space="sRGB1") < CONES:
                yield f"{a} and {b} merge in {kind}"
        if abs(cspace_convert(rgb(a), "sRGB1", "CIELab")[0] - cspace_convert(rgb(b), "sRGB1", "CIELab")[0]) < LIGHTNESS:
            yield f"{a} and {b} merge in grey"


def alike(page):
    """Series with neither a unique marker nor a unique dash."""
    for series in page.series.values():
        lines = [line for _, line in series if line.get_marker() != "None"]
        if len(lines) > 7:
            yield f"{len(lines)} series: {[line.get_label() for line in lines]}"
        looks = [(line.get_marker(), str(line._unscaled_dash_pattern)) for line in lines]
        for i, (marker, dash) in enumerate(looks):
            others = looks[:i] + looks[i + 1:]
            if any(m == marker for m, _ in others) and any(d == dash for _, d in others):
                yield f"neither marker nor dash of its own: {lines[i].get_label()!r}"


def of_page(page):
    return [*layout.of_figure(page.figure, points=True), *alike(page)]


def chart(results, arguments):
    """Returns the faults of an example of plots/chart.py."""
    drawn, said = [], io.StringIO()
    with patch.object(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure)), contextlib.redirect_stdout(io.StringIO()), \
            contextlib.redirect_stderr(said), patch.object(sys, "argv", ["chart.py", *charts.given(arguments, results=results, docs=ROOT / "docs")]):
        try:
            runpy.run_path(str(ROOT / "plots" / "chart.py"), run_name="__main__")
        except SystemExit:
            return [said.getvalue().strip()]
    found = [fault for figure in set(drawn) for fault in layout.of_figure(figure)]
    plt.close("all")
    return found if drawn else ["nothing is drawn"]


def planted(results):
    """Plants each fault, and yields the words that must name it and the faults found."""
    def page():
        return deck.page_of("growth", results, "light")

    def on_text(p):
        text = next(text for text in p.figure.texts if text.get_text())
        p.figure.text(*text.get_position(), "planted", va=text.get_va())

    faults = {
        "text on text": on_text,
        "off the page": lambda p: p.figure.text(0.99, 0.5, "planted", fontsize=20),
        "text on a line": lambda p: p.axes_[0].axhline(1) and p.axes_[0].text(300, 1, "planted", va="center"),
        "clipped: 2 points": lambda p: p.axes_[0].vlines(64, 1e-3, 1e3) and p.axes_[0].set_ylim(1e-2, 1e2),
        "the tick '16' is there twice": lambda p: p.axes_[0].set_xticks([16, 256], ["16", "16"]),
        "x runs backwards: 256, 16": lambda p: p.axes_[0].set_xticks([16, 256], ["256", "16"]),
        "no word says that y is logarithmic": lambda p: [p.axes_[0].set_xlabel(""), p.axes_[0].above.set_text("")],
        "text on a point": lambda p: p.axes_[0].annotate("planted", p.series[p.axes_[0]][0][1].get_xydata()[0], ha="center", va="center"),
        "letters of 8 points": lambda p: p.figure.text(0.9, 0.5, "planted", fontsize=8),
        "neither marker nor dash": lambda p: [line.set(marker="o", linestyle="-") for a in p.axes_ for _, line in p.series[a]],
    }
    for words, spoil in faults.items():
        p = page()
        p.axes_ = list(p.series)
        before = of_page(p)
        spoil(p)
        yield words, [fault for fault in of_page(p) if fault not in before]
        plt.close(p.figure)
    yield "merge in grey", list(merging(["#D55E00", "#009E73"], False))
    yield "merge in deuteranomaly", list(merging(["#B0A000", "#D08030"], False))


def of_cliffs(folder):
    """The slide `growth` circles only 16, where the time grows by a much larger factor than the limit's time."""
    folder.mkdir()
    lines = ["case,impl,isa,op,pass,dtype,data,n,c,s,threads,bytes,ns,limit_gbps,options,verdict,flag"]
    for c, ns, gbps in ((1, 10, 1), (4, 39, 1), (16, 313, 1), (64, 5008, 0.25)):
        lines.append(f"x,optimized/rows_simd,c,layernorm,forward,f32,normal,64,{c},1,1,{512 * c},{ns},{gbps},,ok,")
    (folder / "growth.csv").write_text("\n".join(lines) + "\n")
    page = deck.page_of("growth", folder, "light")
    found = [line.get_xdata()[0] for axes in page.series for line in axes.lines if line.get_markersize() == 20]
    plt.close(page.figure)
    if found != [16]:
        yield f"growth has cliffs at {found}, not at 16"


def of_ports(results):
    """On a core of docs/ports.csv the roofline has a bar for each layer, at the height given by limit and clock."""
    facts = results / "ladder.machine.txt"
    kept = facts.read_text()
    facts.write_text(re.sub("^cpu: .*", "cpu: Intel(R) Xeon(R) Processor\nfamily: 6, model 167", kept, flags=re.M))
    page = deck.page_of("roofline", results, "light")
    facts.write_text(kept)
    bars = sorted(line.get_ydata()[0] for axes in page.series for line in axes.lines if line.get_linewidth() == 6)
    limits = {row["case"]: float(row["limit"]) for row in files.rows(ROOT / "docs" / "ports.csv")
              if (row["impl"], row["isa"], row["core"]) == ("optimized/rows_pipelined", "avx512", "SPR")}
    clock = next(float(row["y"]) for row in page.read("peak") if (row["series"], row["x"]) == ("avx512", "1")) * 4 / 32
    wanted = sorted(flops * 16 / limits[f"{op}/forward/f32"] * clock for op, flops in (("layernorm", 8), ("rmsnorm", 4)))
    if [f"{bar:.1f}" for bar in bars] != [f"{bar:.1f}" for bar in wanted]:
        yield f"the roofline's bars are at {bars}, not at {wanted}"
    yield from (f"bars in the roofline: {fault}" for fault in of_page(page))
    plt.close(page.figure)


def refused(*arguments):
    """Returns the deck's messages and its exit code."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = deck.main(*map(str, arguments))
    return said.getvalue(), code


def of_deck(results):
    """Yields the faults in the deck's files and error messages."""
    folder = results.with_name("few")
    folder.mkdir()
    for name in "ladder.csv", "ladder.machine.txt":
        shutil.copy(results / name, folder)
    for arguments, words in (((folder, "no_such"), "there is no slide no_such; there are "),
                             ((folder / "ladder.csv", "ladder"), "ladder.csv is no folder"),
                             ((folder / "none", "ladder"), "none is no folder")):
        said, code = refused(*arguments)
        if code != 2 or words not in said or said.count("\n") != 1:
            yield f"deck {arguments[1:]} ends with {code} and says {said!r}, not {words!r}"
    said, code = refused(folder)
    made = [folder / "slides.pdf", folder / "slides-dark.pdf", folder / "slides" / "small" / "ladder.png"]
    if code or not all(path.exists() for path in made):
        yield f"no deck: {said}"
    kept = [path.read_bytes() for path in made[:2]]
    made[2].unlink()
    refused(folder, "ladder")
    if not made[2].exists() or [path.read_bytes() if path.exists() else b"" for path in made[:2]] != kept:
        yield "drawing one slide changes the deck, or draws no slide"
    if b"/Type3" in made[0].read_bytes() or b"<text" not in (folder / "slides" / "light" / "ladder.svg").read_bytes():
        yield "letters are outlines, not text"
    os.truncate(folder / "ladder.csv", 1000)
    said, code = refused(folder)
    if code != 2 or "ladder.csv:" not in said or "fields, not" not in said:
        yield f"for cut-off results the deck ends with {code} and says {said!r}"
    yield from (f"stale: {path.name}" for path in made if path.exists())
    shutil.rmtree(folder / "slides")
    (folder / "slides").write_text("")
    said, code = refused(folder, "ladder")
    if code != 2 or said.count("\n") != 1:
        yield f"a file for a folder: {code}, {said!r}"
    facts = results / "ladder.machine.txt"
    kept = facts.read_text()
    facts.write_text(re.sub("^cpu: .*", f"cpu: {'A Processor with a long name ' * 9}", kept, flags=re.M))
    page = deck.page_of("ladder", results, "light")
    yield from (f"a long name: {fault}" for fault in of_page(page))
    plt.close(page.figure)
    facts.write_text(kept)


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        out, results = Path(folder), Path(sys.argv[2]) if sys.argv[1:2] == ["--results"] else None
        if not results:
            results = charts.unpack(out / "results")
            with open(results / "ladder.machine.txt", "a", encoding="utf-8") as facts:
                facts.write("quick: yes\n")
        for words, found in planted(results):
            if not any(words in fault for fault in found):
                wrong.append(f"a planted fault was not found: {words}; {found}")
        wrong += of_deck(results)
        wrong += of_cliffs(out / "cliffs")
        wrong += of_ports(results)
        for theme, (*_, colours) in slide.THEMES.items():
            wrong += [f"{theme}: {pair}" for pair in merging(colours.split(), theme == "grey")]
        count = 0
        for name in deck.names():
            for theme in slide.THEMES:
                try:
                    page = deck.page_of(name, results, theme)
                except slide.Missing as missing:
                    print(f"not drawn: slide {name}: {missing}") if theme == "light" else None
                    continue
                wrong += [f"slide {name}, {theme}: {fault}" for fault in of_page(page)]
                plt.close(page.figure)
                count += 1
        for _, (_, script, *arguments) in charts.examples():
            found = chart(results, arguments)
            wrong += [f"{script}, {charts.option(arguments, '--out')}: {fault}" for fault in found]
            count += 1
    for fault in wrong:
        print(fault, file=sys.stderr)
    print(f"{count} figures, {len(wrong)} faults")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
