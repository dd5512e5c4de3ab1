#!/usr/bin/env python3
"""Are the rooms of harness/ true? Says which room uses which, and fails where one uses a room that is not
below it, where files of a room include each other in a circle (a .c and its .h count as one), and where
another room than verbs/ names what only verbs know: options, stdout and stderr."""
import re
import sys
from pathlib import Path

HARNESS = Path(__file__).resolve().parent.parent / "harness"
FLOORS = ["base", "cases machine results", "verify", "timing", "judge claims models peers", "studies", "verbs"]
VERBS_ONLY = re.compile(r"\b(stdout|stderr|isatty|getopt\w*|STDOUT_FILENO|STDERR_FILENO)\b")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|"(\\.|[^"\\\n])*"', re.DOTALL)

floor = {room: i for i, rooms in enumerate(FLOORS) for room in rooms.split()}
uses, wrong = {}, []
for path in sorted(HARNESS.glob("*/*.[ch]")):
    text, unit = path.read_text(), path.relative_to(HARNESS).with_suffix("").as_posix()
    found = {Path(name).with_suffix("").as_posix() for name in re.findall(r'^#include "(\w+/\w+\.h)"', text, re.M)}
    uses.setdefault(unit, set()).update(found - {unit})
    room = unit.split("/")[0]
    if room not in floor:
        sys.exit(f"harness/{room} is not in the list of rooms, in {__file__}")
    for other in sorted({name.split("/")[0] for name in found} - {room}):
        if floor.get(other, len(FLOORS)) >= floor[room]:
            wrong.append(f"{path.relative_to(HARNESS)}: {room} must not use {other}")
    if room != "verbs":
        names = sorted({match[1] for match in VERBS_ONLY.finditer(COMMENT_OR_TEXT.sub("", text))})
        wrong += [f"{path.relative_to(HARNESS)}: names {name}" for name in names]

done, under_way = set(), []


def visit(unit):
    if unit in under_way:
        wrong.append("a circle: " + " > ".join(under_way[under_way.index(unit):] + [unit]))
    if unit in done or unit in under_way:
        return
    under_way.append(unit)
    for other in sorted(uses.get(unit, ())):
        visit(other)
    done.add(under_way.pop())


for unit in sorted(uses):
    visit(unit)
for rooms in FLOORS:
    for room in rooms.split():
        below = {name.split("/")[0] for unit in uses if unit.startswith(room + "/") for name in uses[unit]} - {room}
        print(f"{room:8} uses {', '.join(sorted(below, key=floor.get)) or 'none'}")
sys.exit("\n".join(wrong))
