#!/usr/bin/env python3
"""Writes the measured parts of README.md and docs/ladder.md from the results.

    scripts/readme.py [results/ladder.csv] [--program build/release/normlab]
        rewrites the text between the markers <!-- NAME:begin --> and <!-- NAME:end --> of both pages and of
        plots/README.md, copies what these tables show to docs/ladder.csv, and the slides from the results' folder to
        docs/pictures/slides/
    scripts/readme.py --check [--program build/release/normlab]
        writes nothing; exit code 1 if docs/ladder.md lacks a rung of `normlab list` or has one that no longer exists;
        if README.md is longer than two screens; if a table in these two pages is not what docs/ladder.csv says, or has
        an empty cell; if a rung's file has a TODO; if CITATION.cff has another version than the library; or if a
        link leads to a missing file or a missing place in a page

Standard library only. Running it twice changes nothing the second time."""
import csv
import filecmp
import re
import shutil
import subprocess
import sys

import markers
import files
import rungs
from markers import ROOT

README = ROOT / "README.md"
LADDER = ROOT / "docs" / "ladder.md"
PLOTS = ROOT / "plots" / "README.md"
EVIDENCE = ROOT / "docs" / "ladder.csv"
COLUMNS = ["impl", "isa", "threads", "op", "pass", "dtype", "n", "c", "s", "data", "options", "verdict", "error_u", "ns",
           "limit_pct", "baseline", "speedup", "comparison", "flag"]
FACTS = ["cpu", "family", "cpus", "caches", "compiler", "flags", "commit", "kernels", "date"]
PICTURES = ROOT / "docs" / "pictures" / "slides"
SHOWN = ["headline"]  # the README's slides; plots/README.md shows all
LINES = 120  # of the README: two screens
# The rungs of LayerNorm forward in the README, which also has the fastest other rung.
IDEAS = ["layernorm/naive", "layernorm/two_pass", "layernorm/one_pass", "optimized/rows_simd",
         "optimized/rows_accumulators", "optimized/rows_shifted", "optimized/rows_certified"]
LAYERS = {"layernorm": "LayerNorm", "rmsnorm": "RMSNorm", "batchnorm": "BatchNorm",
          "gated_rmsnorm": "Gated RMSNorm"}
PASSES = ["forward", "inference", "backward"]


def listed(program):
    text = subprocess.run([program, "list", "--csv"], capture_output=True, text=True, check=True).stdout
    return [impl for impl in csv.DictReader(text.splitlines()) if not impl["impl"].startswith("peer/")]


def implementations(program, anywhere=False):
    """The rungs in `normlab list --csv`, without demonstrations: one row for each name, of the widest instruction set
    that runs here; anywhere: of the widest of this build."""
    impls = {impl["impl"]: impl for impl in listed(program)
             if impl["demonstration"] == "0" and (anywhere or impl["runs_here"] == "1")}
    return sorted(impls.values(), key=lambda impl: rungs.place(impl["impl"]))


def caption(results):
    facts = files.machine(results)
    cpus = facts.get("cpus", "").replace(" online", "")
    threads = {int(row.get("threads", 0)) for row in files.rows(results)} - {0}  # a study has no such column
    words = [facts.get("cpu", "unknown"), *([f"family {facts['family']}"] if "family" in facts else []),
             f"{cpus} CPU" + "s" * (cpus != "1")]
    words += [f"{max(threads)} thread" + "s" * (max(threads) > 1)] if threads else []
    return ", ".join([*words, f"commit {facts.get('commit', 'unknown')}", facts.get("date", "unknown")[:10]])


def slides(results):
    """Copies the small slides into docs/pictures/slides, and returns name -> (question, source) of the copied
    slides."""
    found = {}
    for path in sorted((ROOT / "plots" / "slides").glob("*.py")):
        picture, drawn = PICTURES / f"{path.stem}.png", results.parent / "slides" / "small" / f"{path.stem}.png"
        if drawn.exists():
            PICTURES.mkdir(parents=True, exist_ok=True)
            if not picture.exists() or not filecmp.cmp(drawn, picture, shallow=False):
                shutil.copyfile(drawn, picture)
        if picture.exists():
            text = path.read_text()
            found[path.stem] = text.split('"""')[1].strip(), re.search(r'^SOURCE = "(\w+)"', text, flags=re.M)[1]
    return found


def pictures(found):
    return "\n\n".join(f"![{found[name][0]}](docs/pictures/slides/{name}.png)" for name in SHOWN if name in found)


def gallery(found):
    rows = []
    for name, (question, source) in found.items():
        file = ROOT / "experiments" / f"{source}.txt"
        where = f"[{source}](../experiments/{source}.txt)" if file.exists() else f"`{source}`"
        picture = f'<img src="../docs/pictures/slides/{name}.png" width="560" alt="{question}">'
        rows.append([f"[{name}](slides/{name}.py)<br>experiment: {where}", picture])
    return markers.table(["slide", ""], rows, 2)


def human(ns):
    for unit in ["ns", "µs", "ms", "s"]:
        if ns < 999.5 or unit == "s":
            return f"{ns:.3g} {unit}"
        ns /= 1000


def size(row):
    return int(row["n"]) * int(row["c"]) * int(row["s"])


def shape(row):
    return f"{row['n']} × {row['c']}" + (f" × {row['s']}" if row["s"] != "1" else "")


class Results:
    """The rows of a results file on normal data without options, and the small and the large shape of the tables."""

    def __init__(self, path):
        rows = [row for row in files.rows(path) if row["data"] == "normal" and not row["options"]]
        self.at = {(row["impl"], row["op"], row["pass"], shape(row)): row for row in rows if row["dtype"] == "f32"}
        self.half = {}  # (impl, op, pass) -> its first row in bf16
        for row in rows:
            if row["dtype"] == "bf16" and row["ns"]:
                self.half.setdefault((row["impl"], row["op"], row["pass"]), row)
        self.isas = list(dict.fromkeys(row["isa"] for row in self.at.values()
                                       if rungs.is_optimized(row["impl"]) and row["ns"]))
        usual = [row for row in self.at.values() if row["op"] == "layernorm" and row["pass"] == "forward"]
        if not usual:
            raise files.Damaged(f"{path} has no layernorm/forward/f32/.../normal: is it results/ladder.csv?")
        self.small, self.large = shape(min(usual, key=size)), shape(max(usual, key=size))

    @staticmethod
    def faster(row):
        """The speed-up over the baseline; in parentheses if not resolved."""
        if not row["speedup"] or rungs.is_optimized(row["baseline"]):
            return ""
        times = float(row["speedup"])
        text = f"{times:.2f}" if times < 10 else f"{times:.3g}"
        return f"({text})" if row["comparison"] == "NOT RESOLVED" else text


def share(row):
    limit = float(row["limit_pct"])
    return (f"{limit:.0f}" if limit >= 10 else f"{limit:.1f}") + rungs.mark(row)


def idea(impl, folder):
    return [f"[{rungs.name(impl['impl'])}]({folder}{impl['impl']}.c)", impl["about"].replace("|", "\\|")]


def timed(row):
    """Time, speed-up, share of the limit, error. A rung that was wrong or did not run has its verdict instead."""
    if row["ns"]:
        return [human(float(row["ns"])), Results.faster(row) or "-", share(row), f"{float(row['error_u']):.3g}"]
    return ["-", "-", "-", row["verdict"]]


HEADS = ["time", "× naive", "% of limit", "error, units"]


def table(results, impls, op, pass_):
    """The rungs of a layer and a pass in f32. Has columns for the large size if every rung was timed at this size."""
    rows = [(impl, results.at.get((impl["impl"], op, pass_, results.small)),
             results.at.get((impl["impl"], op, pass_, results.large))) for impl in impls]
    rows = [row for row in rows if row[1]]
    wide = results.small != results.large and all(far for *_, far in rows)
    heads = ["rung", "idea", f"{results.small}: time", *HEADS[1:]]
    heads += [f"{results.large}: × naive", "% of limit"] * wide
    lines = [[*idea(impl, "../"), *timed(row), *(timed(far)[1:3] if wide else [])] for impl, row, far in rows]
    return markers.table(heads, lines, left=2) if rows else ""


def halves(results, impls, op, pass_):
    """The bf16 results of rungs that have no f32 result at the small size."""
    lacking = [(impl, results.half[impl["impl"], op, pass_]) for impl in impls
               if (impl["impl"], op, pass_, results.small) not in results.at and (impl["impl"], op, pass_) in results.half]
    rows = [[*idea(impl, "../"), shape(row), *timed(row)] for impl, row in lacking]
    return markers.table(["rung, bf16", "idea", "size", *HEADS], rows, left=3) if rows else ""


def legend(text):
    """The line that explains IMPOSSIBLE's mark, in a list that is empty if the text has no such mark."""
    return [f"{rungs.IMPOSSIBLE}."] * (rungs.IMPOSSIBLE[0] in text)


def sections(results, impls):
    """(title, tables) of each layer and pass: the f32 table, and a table of rungs with bf16 results only."""
    for op, layer in LAYERS.items():
        for pass_ in PASSES:
            of = [impl for impl in impls if op in impl["ops"].split() and pass_ in impl["passes"].split()]
            tables = [text for text in (table(results, of, op, pass_), halves(results, of, op, pass_)) if text]
            if tables:
                yield f"{layer} {pass_}", tables


def ladder(results, impls):
    parts = ["\n\n".join([f"## {title}", *tables]) for title, tables in sections(results, impls)]
    return "\n\n".join([*parts, *legend("".join(parts))])


def short_ladder(results, impls):
    """The rungs in IDEAS, and the fastest other rung."""
    at = {impl["impl"]: results.at.get((impl["impl"], "layernorm", "forward", results.small)) for impl in impls}
    others = [impl for impl in impls if (row := at[impl["impl"]]) and row["ns"]
              and impl["threaded"] == "0" and impl["impl"] not in IDEAS]
    fastest = min(others, key=lambda impl: float(at[impl["impl"]]["ns"]), default=None)
    chosen = [impl for impl in impls if impl["impl"] in IDEAS or impl is fastest]
    rows = [[*idea(impl, ""), *timed(row)] for impl in chosen if (row := at[impl["impl"]])]
    text = markers.table(["rung", "idea", *HEADS], rows, left=2)
    return "\n\n".join([text, *legend(text)])


def tables(path, program):
    """Both pages, with tables of these results."""
    results, impls = Results(path), implementations(program, anywhere=True)
    on = f" Rungs in `optimized/` ran on {', '.join(results.isas)}." if results.isas else ""
    measured = f"Measured on {caption(path)}.{on}"
    return {README: markers.filled(README, ladder=short_ladder(results, impls), caption=measured),
            LADDER: markers.filled(LADDER, ladder=ladder(results, impls), caption=measured)}


def rewrite(path, program):
    rows, known = [row for row in files.rows(path) if row["data"] == "normal" and not row["options"]], files.machine(path)
    files.write(EVIDENCE, COLUMNS, rows)
    files.write_facts(EVIDENCE.with_suffix(".machine.txt"), known, FACTS)
    found = slides(path)
    markers.fill(README, pictures=pictures(found))
    markers.written(tables(EVIDENCE, program), False, "")
    markers.fill(PLOTS, slides=gallery(found))


def prose(page):
    return re.sub(r"```.*?```", "", markers.text_of(page), flags=re.S)


def anchors(page):
    """The link targets in a page: its headings, as GitHub spells them, and its <a id="...">."""
    text = prose(page)
    heads = [re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", head).lower()).replace(" ", "-")
             for head in re.findall(r"^#+ (.*)$", text, flags=re.M)]
    return {*heads, *re.findall(r'<a id="([^"]+)"', text)}


def dead_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        if not re.match(r"[a-z]+:", target) and (
                not there.exists() or (anchor and anchor not in anchors(there))):
            yield target


def empty_cells(page):
    """The lines of a page's tables in which a cell is empty, except header cells."""
    lines = prose(page).split("\n")
    for line, after in zip(lines, [*lines[1:], ""]):
        if line.startswith("|") and not after.startswith("|-") and re.search(r"\|\s*\|", line):
            yield line


def versions():
    return [(re.search(pattern, (ROOT / name).read_text(), flags=re.M) or ["", "none"])[1] for name, pattern in (
        ("include/normlab.h", r'^#define NL_VERSION "(.*)"'), ("CITATION.cff", r"^version: *(\S+)"))]


def check(program):
    has = set(re.findall(r"\]\(\.\./(\w+/\w+)\.c\)", markers.between(LADDER.read_text(), "ladder")))
    there = {impl["impl"] for impl in implementations(program) if set(impl["ops"].split()) & set(LAYERS)}
    wrong = [f"docs/ladder.md lacks {impl}" for impl in sorted(there - has)]
    wrong += [f"docs/ladder.md has {impl}, which is gone" for impl in sorted(has - there)]
    wrong += ["run normlab bench experiments/ladder.txt --out results/ladder.csv, then scripts/readme.py"] * bool(wrong)
    wrong += markers.written(tables(EVIDENCE, program), True, "not what docs/ladder.csv says: run scripts/readme.py")
    lines = README.read_text().count("\n")
    wrong += [f"README.md has {lines} lines, more than two screens ({LINES}): move something to docs/"] * (lines > LINES)
    wrong += [f"{page.name}: an empty cell: {line}" for page in (README, LADDER) for line in empty_cells(page)]
    wrong += [f"{impl}.c has a TODO" for impl in sorted(there) if "TODO" in (ROOT / f"{impl}.c").read_text()]
    library, cited = versions()
    wrong += [f"CITATION.cff has version {cited}, include/normlab.h {library}"] * (library != cited)
    for page in markers.every_page():
        wrong += [f"{page.relative_to(ROOT)} links to {target}, which does not exist"
                  for target in dead_links(page)]
    return markers.report(wrong)


if __name__ == "__main__":
    sys.exit(markers.command(__doc__, ROOT / "results" / "ladder.csv", rewrite, check))
