#!/usr/bin/env python3
"""Makes harness/cases/covering.inc, a covering array of strength three: for each family of layers and passes, rows
of classes in which every three classes of harness/cases/dimensions.inc meet that can. A class is a letter: its place
among those of its dimension. Needs covertable from PyPI. With --check: does the array cover what the table has now?
That needs nothing."""
import re
import sys
from fnmatch import fnmatchcase
from itertools import combinations, product
from pathlib import Path

CASES = Path(__file__).resolve().parent.parent / "harness/cases"
ARRAY = CASES / "covering.inc"
MOST = 75000  # n * c * s, as in dimensions.h
NAMES = {"ROWS": 3, "BATCH": 12, "BATCHES": 28, "ALL": 31, "FORWARDS": 21, "BACKWARDS": 10,
         "ROW_FORWARD": 1, "ROW_BACKWARD": 2, "BATCH_FORWARD": 4, "BATCH_BACKWARD": 8, "INFER": 16}
FAMILIES = ["ROW_FORWARD", "ROW_BACKWARD", "BATCH_FORWARD", "BATCH_BACKWARD", "INFER"]


def dimensions(family):
    """The family's table: the classes of each dimension, by name."""
    text = re.sub(r"/\*.*?\*/", "", (CASES / "dimensions.inc").read_text(), flags=re.S)
    found = {}
    for mask, name, classes in re.findall(r'\{([A-Z_ |]+), "([^"]+)", \{(.*?)\}\},\n', text, re.S):
        if sum(NAMES[m] for m in mask.split(" | ")) & NAMES[family]:
            found[name] = [re.sub(r'"\s*"', "", c)[1:-1] for c in re.findall(r'"[^"]*"(?:\s+"[^"]*")*', classes)]
    return found


def least(spelling):
    return int(re.search(r"\d+", spelling)[0])


def allows(needs, spelling):
    negated, globs = needs.startswith("!"), needs.lstrip("!").split("|")
    return negated != any(fnmatchcase(spelling, glob) for glob in globs)


def forbidden(table):
    """Pairs and triples of classes that cannot meet, as sets of (dimension, number)."""
    found = []
    for name, classes in table.items():
        for i, text in enumerate(classes):
            for condition in text.split(" @")[1:]:
                other, needs = condition.split("=", 1)
                found += [{(name, i), (other, k)} for k, spelling in enumerate(table[other])
                          if not allows(needs, spelling.split(" ")[0])]
    sizes = [name for name in ("n", "c", "s") if name in table]
    for classes in product(*([(name, i) for i in range(len(table[name]))] for name in sizes)):
        size = 1
        for name, i in classes:
            size *= least(table[name][i])
        if size > MOST:
            found.append(set(classes))
    return found


def triples(table):
    """All that can meet: three classes of different dimensions."""
    wrong = forbidden(table)
    pairs = {frozenset(w) for w in wrong if len(w) == 2}
    larger = [w for w in wrong if len(w) == 3]

    def fits(part):
        return not any(frozenset(p) in pairs for p in combinations(part, 2)) and not any(w <= set(part) for w in larger)

    def completes(part):
        """Is there a class for each dimension that the conditions of these name?"""
        for name, i in part:
            text = table[name][i]
            for condition in text.split(" @")[1:]:
                other = condition.split("=")[0]
                if other not in dict(part) and not any(fits(part + ((other, k),)) for k in range(len(table[other]))):
                    return False
        sizes = [s for s in ("n", "c", "s") if s in table and s not in dict(part)]
        return any(fits(part + tuple(zip(sizes, rest))) for rest in product(*(range(len(table[s])) for s in sizes)))

    for names in combinations(table, 3):
        for classes in product(*(range(len(table[name])) for name in names)):
            part = tuple(zip(names, classes))
            if fits(part) and completes(part):
                yield part


def make(table):
    from covertable import make as covering
    wrong = forbidden(table)
    constraints = [{"operator": "not", "condition": {"operator": "and", "conditions": [
        {"operator": "eq", "left": name, "value": i} for name, i in sorted(w)]}} for w in wrong]
    rows = covering({name: list(range(len(classes))) for name, classes in table.items()}, strength=3,
                    constraints=constraints)
    return ["".join(chr(97 + row[name]) for name in table) for row in rows]


def read():
    found = {}
    for family, rows in re.findall(r"\[(\w+)_ROWS\] =((?:\s+\"[^\"]*\")*)", ARRAY.read_text()):
        found[family] = "".join(re.findall(r'"([^"]*)"', rows)).split()
    return found


def check():
    wrong, rows = [], read()
    for family in FAMILIES:
        table = dimensions(family)
        names, got = list(table), set()
        for row in rows.get(family, []):
            if len(row) != len(names) or any(ord(k) - 97 >= len(table[n]) for n, k in zip(names, row)):
                sys.exit(f"{ARRAY.name}: {family} has '{row}', which is no row of the table: scripts/covering.py")
            got.update(combinations([(n, ord(k) - 97) for n, k in zip(names, row)], 3))
        due = set(triples(table))
        missing = due - got
        print(f"{family}: {len(due)} triples in {len(rows.get(family, []))} rows, {len(missing)} missing")
        wrong += sorted(missing)[:3]
        if not due:
            wrong.append((family, "has no triples"))
    if wrong:
        sys.exit(f"{ARRAY.name} does not cover {wrong}: run scripts/covering.py")


def write():
    text = "/* Made by scripts/covering.py from dimensions.inc: a letter is a class.\n * SPDX-License-Identifier: MIT */\n"
    for family in FAMILIES:
        rows = make(dimensions(family))
        print(family, len(rows), flush=True)
        width, line, lines = 94, "", []
        for row in rows:
            if len(line) + len(row) + 1 > width:
                lines.append(line)
                line = ""
            line += row + " "
        text += f"[{family}_ROWS] =\n" + "".join(f'    "{part}"\n' for part in [*lines, line])[:-1] + ",\n"
    ARRAY.write_text(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        write()
