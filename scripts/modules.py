#!/usr/bin/env python3
"""Do the modules of harness/ follow the table in harness/README.md? Prints which modules each module uses. Fails if a
module uses one that the table does not allow; if the table allows one that is not above the module's line; if files
include each other in a circle (a .c and its .h are one file); or if a module other than cli/ and commands/ prints or
reads options."""
import re
import sys
from pathlib import Path

HARNESS = Path(__file__).resolve().parent.parent / "harness"
PRINTING = re.compile(r"\b(v?printf\(|puts\(|putchar\(|perror\(|stdout\b|stderr\b|STDOUT_FILENO|STDERR_FILENO|isatty|getopt\w*)")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|"(\\.|[^"\\\n])*"', re.DOTALL)

table = re.findall(r"^\| \[(\w+)\]\(\w+/README.md\) \|[^|]*\|([^|]*)\|$", (HARNESS / "README.md").read_text(), re.M)
allowed = {module: set(re.findall(r"\w+", modules)) for module, modules in table}
wrong = [f"harness/README.md: {module} may use {other}, which must stand above {module}" for i, (module, _) in enumerate(table)
         for other in allowed[module] - {name for name, _ in table[:i]}]
wrong += [f"harness/README.md and the folders differ: {name}" for name in
          {path.name for path in HARNESS.iterdir() if path.is_dir()} ^ {module for module, _ in table}]

uses = {}  # file without its ending -> the files that it uses
for path in sorted(HARNESS.glob("*/*.[ch]")):
    name, module, text = path.relative_to(HARNESS), path.parent.name, path.read_text()
    found = {Path(header).with_suffix("") for header in re.findall(r'^#include "(\w+/\w+\.h)"', text, re.M)}
    uses.setdefault(name.with_suffix(""), set()).update(found - {name.with_suffix("")})
    for other in sorted({file.parent.name for file in found} - {module} - allowed.get(module, set())):
        wrong.append(f"{name}: {module} must not use {other}")
    if module not in ("cli", "commands"):
        named = {match[1] for match in PRINTING.finditer(COMMENT_OR_TEXT.sub("", text))}
        wrong += [f"{name}: names {word}, which only cli and commands may use" for word in sorted(named)]

done = set()


def visit(file, path=()):
    if file in path:
        wrong.append("a circle: " + " > ".join(map(str, [*path[path.index(file):], file])))
    elif file not in done:
        for other in sorted(uses.get(file, ())):
            visit(other, (*path, file))
        done.add(file)


for file in sorted(uses):
    visit(file)
for module, _ in table:
    used = {other.parent.name for file in uses if file.parent.name == module for other in uses[file]}
    print(f"{module:8} uses", ", ".join(name for name, _ in table if name in used - {module}) or "none")
if wrong:
    sys.exit("\n".join(wrong))
