#!/usr/bin/env python3
"""Do the modules of harness/ follow the table in harness/README.md? Prints which modules each module uses. Fails if a
module uses one that the table does not allow; if the table allows one that is not above the module's line; if a module
other than cli/ and commands/ prints or reads options; or if files (a .c and its .h are one) or folders, kernels' too,
include each other in a circle."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HARNESS = ROOT / "harness"
TOPS = ("include", "core", "optimized", "layernorm", "rmsnorm", "gated_rmsnorm", "batchnorm", "half", "reference", "harness")
PLACES = ("include", "core", "optimized", "harness", "")  # where the build looks for headers
PRINTING = re.compile(r"\b(v?printf\(|puts\(|putchar\(|perror\(|stdout\b|stderr\b|STDOUT_FILENO|STDERR_FILENO|isatty|getopt\w*)")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|"(\\.|[^"\\\n])*"', re.DOTALL)

table = re.findall(r"^\| \[(\w+)\]\(\w+/README.md\) \|[^|]*\|([^|]*)\|$", (HARNESS / "README.md").read_text(), re.M)
allowed = {module: set(re.findall(r"\w+", modules)) for module, modules in table}
wrong = [f"harness/README.md: {module} may use {other}, which must stand above {module}" for i, (module, _) in enumerate(table)
         for other in allowed[module] - {name for name, _ in table[:i]}]
wrong += [f"harness/README.md and the folders differ: {name}" for name in
          {path.name for path in HARNESS.iterdir() if path.is_dir()} ^ {module for module, _ in table}]

uses, folders = {}, {}  # a file without its ending, or a folder: what it includes
for path in sorted(path for top in TOPS for path in (ROOT / top).rglob("*.[ch]")):
    name, text = path.relative_to(ROOT), path.read_text()
    headers = [next((found for found in (path.parent / header, *(ROOT / place / header for place in PLACES)) if found.is_file()), None)
               for header in re.findall(r'^#include "([^"]+)"', text, re.M)]
    found = {header.resolve().relative_to(ROOT).with_suffix("") for header in headers if header} - {name.with_suffix("")}
    uses.setdefault(name.with_suffix(""), set()).update(found)
    folders.setdefault(name.parent, set()).update({file.parent for file in found} - {name.parent})
    if name.parts[0] != "harness":
        continue
    module = name.parts[1]
    for other in sorted({file.parts[1] for file in found if file.parts[0] == "harness"} - {module} - allowed.get(module, set())):
        wrong.append(f"{name}: {module} must not use {other}")
    if module not in ("cli", "commands"):
        named = {match[1] for match in PRINTING.finditer(COMMENT_OR_TEXT.sub("", text))}
        wrong += [f"{name}: names {word}, which only cli and commands may use" for word in sorted(named)]


def visit(graph, node, done, path=()):
    if node in path:
        wrong.append("a circle: " + " > ".join(map(str, [*path[path.index(node):], node])))
    elif node not in done:
        for other in sorted(graph.get(node, ())):
            visit(graph, other, done, (*path, node))
        done.add(node)


for graph in uses, folders:
    done = set()
    for node in sorted(graph):
        visit(graph, node, done)
for module, _ in table:
    used = {other.name for other in folders.get(Path("harness", module), ())}
    print(f"{module:8} uses", ", ".join(name for name, _ in table if name in used - {module}) or "none")
if wrong:
    sys.exit("\n".join(wrong))
