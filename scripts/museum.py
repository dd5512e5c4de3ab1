#!/usr/bin/env python3
"""Keeps docs/museum.md in step with what the rungs do on the public bug reports.

    normlab check experiments/museum.txt --out results/museum.csv
    scripts/museum.py [results/museum.csv] [--program build/release/normlab]
        rewrites what stands between the markers <!-- NAME:begin --> and <!-- NAME:end -->
    scripts/museum.py --check [--program build/release/normlab]
        writes nothing; exit code 1 when the page lacks an exhibit of experiments/museum.txt, or a
        rung of `normlab list` that takes one

Standard library only. Running it twice changes nothing the second time."""
import argparse
import csv
import math
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "museum.md"
EXPERIMENT = ROOT / "experiments" / "museum.txt"
LAYERS = {
    "layernorm": "LayerNorm",
    "rmsnorm": "RMSNorm",
    "qwen2_rmsnorm": "Qwen2RMSNorm",
    "batchnorm": "BatchNorm",
}
PASSES = ["forward", "backward"]
ORDER = {  # the order in which docs/forward.md tells them; others follow by name
    "rmsnorm": ["unfused", "naive", "one_pass", "two_pass"],
    "": ["unfused", "naive", "two_pass", "one_pass", "welford", "refined"],
}


def exhibits():
    """Name, report, data and story of each, from the comments of the experiment."""
    text = EXPERIMENT.read_text()
    found = re.findall(r"^# (\S+) \(([^)]*)\): (.*)\n#     (.*)$", text, flags=re.M)
    named = list(dict.fromkeys(re.findall(r"museum:([^/\s]+)", text)))
    if [name for name, *_ in found] != named:
        sys.exit(f"{EXPERIMENT}: the comments name other exhibits than the cases")
    return found


def link(report):
    name, _, number = report.partition("#")
    return f"[{report}](https://github.com/{name}/issues/{number})" if number else ""


def place(impl):
    """Where an implementation, (name, isa), stands in the ladder of its folder."""
    folder, _, stem = impl[0].rpartition("/")
    order = ORDER.get(folder, ORDER[""])
    return (order.index(stem) if stem in order else len(order), impl)


def heading(impl):
    name, isa = impl
    return f"[{name.rpartition('/')[2]}](../{name}.c)" + ("" if isa == "c" else f" {isa}")


def cell(row):
    if not row:
        return ""
    if row["verdict"] == "skip" or not row["error_u"]:
        return row["verdict"]
    error = float(row["error_u"])
    how = f"{error:.2g}" if math.isfinite(error) else "NaN"
    return f"{row['verdict']} {how.replace('e+0', 'e').replace('e+', 'e').replace('e-0', 'e-')}"


def cases(rows, op, pass_):
    """The rows of a layer and pass, by case."""
    found = {}
    for row in rows:
        if row["op"] == op and row["pass"] == pass_:
            found.setdefault(row["case"], {})[row["impl"], row["isa"]] = row
    return found


def tables(rows):
    parts = []
    for op, layer in LAYERS.items():
        for pass_ in PASSES:
            found = cases(rows, op, pass_)
            if not found:
                continue
            impls = sorted({impl for by_impl in found.values() for impl in by_impl}, key=place)
            lines = [f"### {layer} {pass_}", "",
                     "| exhibit | x | " + " | ".join(map(heading, impls)) + " |",
                     "|---|---|" + "---:|" * len(impls)]
            for by_impl in found.values():
                row = next(iter(by_impl.values()))
                name = row["data"].removeprefix("museum:")
                shape = "x".join(row[k] for k in "ncs" if k != "s" or row[k] != "1")
                cells = [f"[{name}](#{name})", f"{row['dtype']} {shape}"]
                cells += [cell(by_impl.get(impl)) for impl in impls]
                lines.append("| " + " | ".join(cells) + " |")
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def collection():
    lines = ["| exhibit | x | what went wrong there | report |", "|---|---|---|---|"]
    for name, report, data, story in exhibits():
        lines.append(f'| <a id="{name}"></a>{name} | {data} | {story} | {link(report)} |')
    return "\n".join(lines)


def replace(text, name, content):
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{PAGE.name} should have {begin} and {end}, once each")
    head, rest = text.split(begin)
    return head + begin + "\n" + content + "\n" + end + rest.split(end)[1]


def rewrite(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    shown = {row["data"].removeprefix("museum:") for row in rows}
    lacks = [name for name, *_ in exhibits() if name not in shown]
    if lacks:
        sys.exit(f"{path} lacks {', '.join(lacks)}: is it of experiments/museum.txt?")
    old = PAGE.read_text()
    text = replace(replace(old, "collection", collection()), "tables", tables(rows))
    if text != old:
        PAGE.write_text(text)
    print(PAGE.name, "rewritten" if text != old else "is up to date")


def check(program):
    text = PAGE.read_text()
    wrong = [] if replace(text, "collection", collection()) == text else [
        "the exhibits are not those of experiments/museum.txt"]
    shown = text.split("<!-- tables:begin -->")[-1].split("<!-- tables:end -->")[0]
    for name, *_ in exhibits():
        if f"| [{name}](#{name}) |" not in shown:
            wrong.append(f"no table has {name}")
    listed = subprocess.run([program, "list", "--csv"], capture_output=True, text=True, check=True)
    for impl in csv.DictReader(listed.stdout.splitlines()):
        for op in impl["ops"].split():
            for pass_ in impl["passes"].split():
                head = f"### {LAYERS[op]} {pass_}\n"
                if pass_ not in PASSES:
                    continue
                table = shown.split(head)[-1].split("\n### ")[0] if head in shown else ""
                if f"| {heading((impl['impl'], impl['isa']))} |" not in table:
                    wrong.append(f"{head.strip('# ' + chr(10))} lacks {impl['impl']}@{impl['isa']}")
    for line in wrong:
        print(f"docs/museum.md: {line}: run scripts/museum.py", file=sys.stderr)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=ROOT / "results" / "museum.csv")
    parser.add_argument("--program", default=ROOT / "build" / "release" / "normlab")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        return check(options.program)
    rewrite(options.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
