#!/usr/bin/env python3
"""Writes the rungs' results on the public bug reports into docs/museum.md.

    normlab check experiments/museum.txt --out results/museum.csv
    scripts/museum.py [results/museum.csv] [--program build/release/normlab]
        rewrites the text between the markers <!-- NAME:begin --> and <!-- NAME:end -->
    scripts/museum.py --check [--program build/release/normlab]
        writes nothing; exit code 1 if the page lacks an exhibit of harness/cases/museum.c, or a
        rung of `normlab list` that accepts an exhibit

Standard library only. Running it twice changes nothing the second time."""
import math
import re
import sys

import markers
import files
import rungs
from markers import ROOT
from readme import LAYERS as KNOWN, listed

PAGE = ROOT / "docs" / "museum.md"
TABLE = ROOT / "harness" / "cases" / "museum.c"
# No exhibit is of a gated layer.
LAYERS = {op: name for op, name in KNOWN.items() if "gated" not in op} | {"qwen2_rmsnorm": "Qwen2RMSNorm"}
PASSES = ["forward", "backward"]
FEW, LONG = 8, 8  # an error of at most FEW units needs no explanation; a table of more than LONG rows is shortened


def exhibits():
    """Name, report, data and story of every exhibit, from the program's table."""
    rows = re.findall(r"^    \{(\"[\w-]+\",\n.*?),\n     \{", TABLE.read_text(), flags=re.M | re.S)
    fields = [re.findall(r"NULL|(?:\"[^\"]*\"\s*)+", row) for row in rows]
    return [["".join(re.findall(r'"([^"]*)"', field)) for field in row] for row in fields]


def link(report):
    name, _, number = report.partition("#")
    return f"[{report}](https://github.com/{name}/issues/{number})" if number else ""


def heading(impl):
    return f"[{rungs.name(impl)}](../{impl}.c)"


def short(error):
    text = f"{error:.2g}" if math.isfinite(error) else "NaN"
    return text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def exhibit_of(by_impl):
    return next(iter(by_impl.values()))[0]["data"].removeprefix("museum:")


def cell(rows):
    """The verdict and the largest error over the instruction sets that ran, with their names if the
    verdicts differ."""
    rows = [row for row in rows if row["verdict"] != "skip"] or rows[:1]
    found = {}
    for row in rows:
        error = float(row["error_u"]) if row["error_u"] else None
        found.setdefault(row["verdict"], []).append((row["isa"], error))
    texts = []
    for verdict, runs in found.items():
        errors = [error for _, error in runs if error is not None]
        worst = max(errors, key=lambda e: e if math.isfinite(e) else math.inf) if errors else None
        isas = [isa for isa, _ in runs] if len(found) > 1 else []
        texts.append(" ".join([verdict, *([short(worst)] if errors else []), *isas]))
    return ", ".join(texts)


def cases(rows, op, pass_):
    """The rows of a layer and pass, by case and implementation."""
    found = {}
    for row in rows:
        if row["op"] == op and row["pass"] == pass_:
            found.setdefault(row["case"], {}).setdefault(row["impl"], []).append(row)
    return found


def quiet(by_impl, impls):
    """Is every rung right, with an error of at most FEW units?"""
    rows = [row for impl in impls for row in by_impl.get(impl, ())]
    return all(row["verdict"] == "skip" or row["verdict"] == "ok" and float(row["error_u"] or 0) <= FEW for row in rows)


def table(found, impls):
    """Implementations with equal cells share a column. In long tables a sentence replaces rows without a fault."""
    shown = [by_impl for by_impl in found.values() if any(impl in by_impl for impl in impls)]
    calm = [by_impl for by_impl in shown if len(shown) > LONG and quiet(by_impl, impls) and exhibit_of(by_impl) != "control"]
    shown = [by_impl for by_impl in shown if by_impl not in calm]
    columns = {}
    for impl in impls:
        column = tuple(cell(by_impl[impl]) if impl in by_impl else "" for by_impl in shown)
        columns.setdefault(column, []).append(impl)
    heads = [", ".join(map(heading, names)) for names in columns.values()]
    lines = []
    for by_impl, *cells in zip(shown, *columns):
        row, name = next(iter(by_impl.values()))[0], exhibit_of(by_impl)
        shape = "x".join(row[k] for k in "ncs" if k != "s" or row[k] != "1")
        lines.append([f"[{name}](#{name})", f"{row['dtype']} {shape}", *cells])
    text = markers.table(["exhibit", "x", *heads], lines, 2)
    return f"{text}\n\n`ok` within {FEW} units everywhere: {', '.join(dict.fromkeys(map(exhibit_of, calm)))}." if calm else text


def tables(rows, demonstrations):
    """A part of the page for each layer and pass; layers with equal tables share a part."""
    parts = {}
    for pass_ in PASSES:
        for op, layer in LAYERS.items():
            found = cases(rows, op, pass_)
            impls = {impl for by_impl in found.values() for impl in by_impl}
            plain = {impl for impl in impls if not rungs.is_optimized(impl)} - demonstrations
            groups = plain, impls - plain - demonstrations, impls & demonstrations
            part = "\n\n".join(table(found, sorted(group, key=lambda impl: (rungs.place(impl), impl)))
                               for group in groups if group)
            if part:
                parts.setdefault((pass_, part), []).append(layer)
    return "\n\n".join(f"### {', '.join(layers)} {pass_}\n\n{part}" for (pass_, part), layers in parts.items())


def sections(text):
    """(layer, pass) -> its part of the tables."""
    found = {}
    for part in text.split("### ")[1:]:
        *layers, pass_ = part.split("\n")[0].replace(",", "").split()
        found.update({(layer, pass_): part for layer in layers})
    return found


def collection():
    return markers.table(["exhibit", "x", "what went wrong there", "report"],
                         [[f'<a id="{name}"></a>{name}', data, story, link(report)] for name, report, data, story in exhibits()], 4)


def rewrite(path, program):
    rows = files.rows(path)
    shown = {row["data"].removeprefix("museum:") for row in rows}
    lacks = [name for name, *_ in exhibits() if name not in shown]
    if lacks:
        sys.exit(f"{path} lacks {', '.join(lacks)}: normlab check experiments/museum.txt makes it")
    demonstrations = {impl["impl"] for impl in listed(program) if impl["demonstration"] == "1"}
    markers.fill(PAGE, collection=collection(), tables=tables(rows, demonstrations))


def check(program):
    text = PAGE.read_text()
    wrong = ["the exhibits are not those of harness/cases/museum.c"] * (markers.filled(PAGE, collection=collection()) != text)
    shown = markers.between(text, "tables")
    for name, *_ in exhibits():
        if f"| [{name}](#{name}) |" not in shown:
            wrong.append(f"no table has {name}")
    parts, lacks = sections(shown), {}
    for impl in listed(program):
        for op in set(impl["ops"].split()) & set(LAYERS):
            for pass_ in impl["passes"].split():
                if pass_ in PASSES and heading(impl["impl"]) not in parts.get((LAYERS[op], pass_), ""):
                    lacks[f"{LAYERS[op]} {pass_} lacks {impl['impl']}"] = None
    wrong += lacks
    return markers.report([f"docs/museum.md: {line}: run scripts/museum.py" for line in wrong])


if __name__ == "__main__":
    sys.exit(markers.command(__doc__, ROOT / "results" / "museum.csv", rewrite, check))
