#!/usr/bin/env python3
"""Keeps the results of several machines, and writes their table in docs/machines/README.md.

    scripts/machines.py --add NAME [results/regret.csv]
        copies the times of nl_best()'s choices, and the machine's facts, to docs/machines/NAME.csv
        and NAME.machine.txt, and writes the table
    scripts/machines.py
        writes the table
    scripts/machines.py --check
        writes nothing; exit code 1 if the table does not agree with the files

Standard library only. NAME is the microarchitecture, such as zen5."""
import re
import sys

import markers
import files
import rungs
from markers import ROOT
from readme import human

HOME = ROOT / "docs" / "machines"
COLUMNS = ["case", "impl", "isa", "ns", "limit_gbps", "limit_pct", "flag"]
FACTS = ["cpu", "family", "cpus", "caches", "memory", "kernel", "compiler", "flags", "commit", "date"]


def add(name, results):
    try:
        rows = [row for row in files.rows(results) if row["comparison"] == "baseline" and row["verdict"] == "ok"]
    except files.FAULTS as error:
        sys.exit(f"{files.says(results, error)}; make it with: ./reproduce")
    facts = files.facts(results)
    lacks = [key for key in FACTS if not facts.get(key)]
    if lacks:
        sys.exit(f"{results.with_suffix('.machine.txt')} lacks {', '.join(lacks)}")
    if not rows or any(row["case"].split("/")[0] not in rungs.LAYERS or not row["limit_pct"] for row in rows):
        sys.exit(f"{results} has no choice of nl_best(); make it with: ./reproduce")
    if facts.get("quick") == "yes":
        sys.exit(f"{results} was measured with --quick: run ./reproduce without it")
    if facts["commit"].endswith("-dirty"):
        sys.exit(f"{results}: the sources had uncommitted changes ({facts['commit']}): commit, build and measure again")
    if (known := files.facts_of(HOME / name / "machine.txt").get("family", facts["family"])) != facts["family"]:
        sys.exit(f"{results} is from family {facts['family']}; {name} is family {known}")
    files.write(HOME / f"{name}.csv", COLUMNS, rows)
    files.write_facts(HOME / f"{name}.machine.txt", facts, FACTS)


def cell(row):
    if not row:
        return ""
    return f"{float(row['limit_pct']):.0f}{rungs.mark(row)} ({human(float(row['ns']))})"


def kept():
    """The machines' names, and case -> name -> row."""
    names, times = sorted(path.stem for path in HOME.glob("*.csv")), {}
    for name in names:
        for row in files.rows(HOME / f"{name}.csv"):
            times.setdefault(row["case"], {})[name] = row
    return names, times


def table(names, times):
    facts = {name: files.facts(HOME / f"{name}.csv") for name in names}
    known = markers.table(["machine", "processor", "caches", "compiler", "commit", "date"],
                          [[name, f"{f['cpu']}, family {f['family']}, {f['cpus'].split()[0]} CPUs", f["caches"], f["compiler"],
                            f["commit"], f["date"][:10]] for name, f in facts.items()], 6)
    lines, last = [], ""
    for case, of in times.items():
        op, pass_, dtype, shape = case.split("/")[:4]
        head = f"{rungs.LAYERS[op]} {pass_} {dtype}"
        lines.append([head * (head != last), shape.replace("x", " × "), *(cell(of.get(name)) for name in names)])
        last = head
    text = known + "\n\n" + markers.table(["", "", *names], lines, 2)
    return text + f"\n\n{rungs.IMPOSSIBLE}." * (rungs.IMPOSSIBLE[0] in text)


def main():
    parser = markers.parser(__doc__, "--check", results=ROOT / "results" / "regret.csv")
    parser.add_argument("--add", metavar="NAME")
    options = parser.parse_args()
    if options.add and not re.fullmatch(r"[a-z0-9-]+", options.add):
        parser.error("NAME may have only lower-case letters, digits and -")
    if options.add:
        add(options.add, options.results)
    page = HOME / "README.md"
    with files.needed(HOME):
        text = markers.filled(page, machines=table(*kept()))
    return markers.report(markers.written({page: text}, options.check, "not what its files say: run scripts/machines.py"))


sys.exit(main())
