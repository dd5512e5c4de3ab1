#!/usr/bin/env python3
"""What would other projects' tests have caught? Runs known-wrong kernels through them, and writes the results.

    scripts/other_tests.py [--run] [--build build/release]
        builds and runs normlab_other_tests, writes results/other_tests.csv; without --run also docs/other-tests.md and
        the README's sentence
    scripts/other_tests.py --check
        runs normlab_other_tests, and writes no page; exit code 1 if a page differs from its results"""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import markers
import files
from markers import ROOT

PAGE, README, RESULTS = ROOT / "docs" / "other-tests.md", ROOT / "README.md", ROOT / "results" / "other_tests.csv"
GROUPS = {"mutant": "mutants", "lab": "labs", "museum": "museum", "formula": "formulas"}
KERNELS = ["mutant", "lab", "museum"]
COLUMNS = ["group", "name", "smallest", "when"]
HEADLINE, STRICT = "allclose 1e-2", "allclose"


def labs(folder):
    """Makes each wrong kernel of the labs, as tests/workbench/labs.sh does. Returns its file and its assignment's
    cases."""
    made = []

    def text(path, of):
        return path.read_text() if path.suffix == ".c" else subprocess.run(
            ["sed", "-f", path], input=of, check=True, capture_output=True, text=True).stdout
    for path in sorted((ROOT / "labs").glob("*/wrong/*")):
        home = path.parent.parent
        solution, = (ROOT / "labs" / "solutions").glob(f"{home.name}.*")
        out = folder / f"{home.name}-{path.stem}.c"
        out.write_text(text(path, text(solution, (home / "start.c").read_text())))
        assignment = (path.parents[1] / "assignment.txt").read_text()
        made += [out, " ".join(re.findall(r"^(?:category|bits) +[\d.]+ [^:]*: (.*)$", assignment, re.M))]
    return made


def run(build, out):
    subprocess.run(["cmake", "--build", build, "--target", "normlab_other_tests"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        program = build / "tests" / "normlab_other_tests"
        serial = os.environ | {"OMP_MAX_ACTIVE_LEVELS": "0"}  # runs threads in order: a race has one result
        if subprocess.run([program, out, *labs(Path(folder))], env=serial, stderr=subprocess.DEVNULL).returncode:
            sys.exit("normlab_other_tests failed")


def tests(rows):
    return [name for name in rows[0] if name not in COLUMNS]


def counts(rows, test, groups):
    """How many kernels of these groups the test accepts, and how many it covers."""
    seen = [row[test] for row in rows if row["group"] in groups and row[test] != "unseen"]
    return seen.count("passes"), len(seen)


def summary(rows):
    """A line for each test: of each group of wrong kernels, how many it accepts of those it covers; then how many right
    kernels it rejects."""
    lines = []
    for test in tests(rows):
        cells = [" of ".join(map(str, counts(rows, test, [group]))) for group in GROUPS]
        passed, seen = counts(rows, test, ["right"])
        lines.append([f"[{test}](#the-tests)", *cells, f"{seen - passed} of {seen}"])
    total = [sum(row["group"] == group for row in rows) for group in [*GROUPS, "right"]]
    head = ["test", *(f"{words}, {n}" for words, n in zip([*GROUPS.values(), "right kernels rejected"], total))]
    return markers.table(head, lines)


MARKS = {"caught": "", "passes": "x", "unseen": "–"}


def matrix(rows):
    """One line for all kernels whose results agree test by test; each kernel has the smallest input that shows its
    mistake."""
    lines = {}
    for row in rows:
        if row["group"] in KERNELS:
            fates = tuple(MARKS[row[test]] for test in tests(rows))
            lines.setdefault((row["group"], fates), {}).setdefault(row["name"], []).append(row)
    shown = []
    for (group, fates), names in lines.items():
        texts = []
        for name, same in names.items():
            least = min(same, key=lambda row: len(row["smallest"]))
            texts.append(f"{name}" + f" ({len(same)})" * (len(same) > 1) + f": `{least['smallest']}`" +
                         f", {least['when']}" * bool(least["when"]))
        shown.append(["<br>".join(texts), *fates])
    numbers = [str(i + 1) for i in range(len(tests(rows)))]
    return markers.table(["wrong kernel: smallest input that shows the mistake", *numbers], shown)


def usable(rows):
    """The tests that accept a right kernel."""
    return [test for test in tests(rows) if counts(rows, test, ["right"])[0]]


def through(rows):
    """The number of wrong kernels that no usable test catches."""
    return sum(row["group"] in KERNELS and "caught" not in (row[test] for test in usable(rows)) for row in rows)


def sentence(rows):
    passed, seen = counts(rows, HEADLINE, KERNELS)
    return (f"Of {seen} kernels that are known to be wrong, {passed} [pass](docs/other-tests.md) `allclose` at 1e-2 on N(0, 1), "
            f"and none\nof {len(usable(rows))} tests from other projects finds {through(rows)} of them: that is why normlab exists.")


def in_words(rows):
    """The README's numbers, and what allclose with its defaults accepts."""
    passed, seen = counts(rows, HEADLINE, KERNELS)
    mutants, labs_, museum = (counts(rows, HEADLINE, [group])[0] for group in KERNELS)
    mistakes = [row["name"] for row in rows if row["group"] == "formula" and row[STRICT] == "passes"]
    affine = sum(bool(re.search("gamma|beta", name)) for name in mistakes)
    cast = sum("before the weight" in name for name in mistakes if not re.search("gamma|beta", name))
    others = len(mistakes) - affine - cast
    (wrong, all_), (right, of) = counts(rows, STRICT, KERNELS), counts(rows, STRICT, ["right"])
    return "\n".join(textwrap.wrap(
        f"Of {seen} wrong kernels {passed} pass `{HEADLINE}` ({mutants} mutants, {labs_} of the labs, {museum} of the museum), and "
        f"{through(rows)} are caught by none of the {len(usable(rows))} tests that accept a right kernel. `{STRICT}` with its "
        f"defaults accepts {wrong} of {all_} wrong kernels and {right} of {of} right ones. It accepts {len(mistakes)} wrong "
        "formulas (computed without roundings), because it uses gamma 1 and beta 0, which make them right. "
        f"In {affine} of them gamma or beta is wrong, left out or at the wrong place, and {cast} round before they multiply by "
        "gamma" + f"; {others} are other mistakes" * bool(others) + ".", 120))


def pages(rows):
    return {PAGE: markers.filled(PAGE, summary=summary(rows), words=in_words(rows), matrix=matrix(rows)),
            README: markers.filled(README, why=sentence(rows))}


def main():
    parser = markers.parser(__doc__, "--run", "--check")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / RESULTS.name if options.check else RESULTS
        out.parent.mkdir(exist_ok=True)
        run(options.build, out)
        if options.run:
            return 0
        found = pages(files.rows(out))
    return markers.report(markers.written(found, options.check, "not what the tests find: run scripts/other_tests.py"))


if __name__ == "__main__":
    sys.exit(main())
