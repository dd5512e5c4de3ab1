#!/usr/bin/env python3
"""Draws the examples of plots/chart.py, and shows them in plots/README.md.

    scripts/charts.py [results]
        runs the commands in the help of chart.py, keeps their pictures in docs/pictures/charts, and rewrites
        the text between the markers <!-- charts:begin --> and <!-- charts:end -->
    scripts/charts.py --check
        writes nothing; exit code 1 if the page's commands differ from those in the help

Needs Matplotlib: run it with .venv/bin/python, which ./reproduce makes."""
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import markers
from markers import ROOT

PAGE, PICTURES = ROOT / "plots" / "README.md", ROOT / "docs" / "pictures" / "charts"


def examples():
    """The text of each command, and its arguments."""
    text = (ROOT / "plots" / "chart.py").read_text(encoding="utf-8").split('"""')[1].replace("\\\\\n", "\\\n")
    commands = ["python " + part.rstrip() for part in text.split("examples:")[1].split("\n  python ")[1:]]
    return [(command, shlex.split(command.replace("\\\n", " "))) for command in commands]


def option(arguments, which):
    return arguments[arguments.index(which) + 1]


def given(arguments, **folders):
    """The arguments; `folders` replace the first folder of each path, such as results/."""
    parts = [(text, *text.partition("/")) for text in arguments]
    return [str(folders[first] / rest) if rest and first in folders else text for text, first, _, rest in parts]


def unpack(folder):
    """Unpacks the results of tests/figures into a folder."""
    with tarfile.open(ROOT / "tests" / "figures" / "results.tar.xz") as packed:
        packed.extractall(folder)
    for path in folder.glob("*.csv"):
        shutil.copy(folder / "machine.txt", path.with_suffix(".machine.txt"))
    return folder


def shown():
    return "\n\n".join(f"    .venv/bin/{text.replace(chr(10) + '  ', chr(10) + '    ')}\n\n"
                       f"![Chart: {option(arguments, '--y')} against {option(arguments, '--x')}](../docs/pictures/charts/{option(arguments, '--out')}.png)" for text, arguments in examples())


def draw(results):
    import deck

    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for _, (_, script, *arguments) in examples():
            out = Path(folder) / option(arguments, "--out")
            paths = given(arguments, results=results, docs=ROOT / "docs")
            subprocess.run([sys.executable, ROOT / script, *paths, "--out", out], check=True, stdout=subprocess.DEVNULL)
            deck.small(Path(f"{out}.png"), PICTURES / f"{out.name}.png")


def main():
    options = markers.parser(__doc__, "--check", results=ROOT / "results").parse_args()
    if not options.check:
        draw(options.results.resolve())
    return markers.report(markers.written({PAGE: markers.filled(PAGE, charts=shown())}, options.check, "not what plots/chart.py has: run scripts/charts.py"))


if __name__ == "__main__":
    sys.exit(main())
