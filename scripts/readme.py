#!/usr/bin/env python3
"""Writes the measured parts of README.md from the results.

    scripts/readme.py [results/ladder.csv] [--program build/release/normlab]
        rewrites the text between the markers <!-- NAME:begin --> and <!-- NAME:end -->, here and in
        plots/README.md, and copies the slides beside the results into docs/pictures/slides/slides/
    scripts/readme.py --check [--program build/release/normlab]
        writes nothing; exit code 1 when the ladder in README.md lacks a rung of `normlab list` or has
        a removed one, or a page links to a file, or a place in a page, that does not exist

A rung without results gets a line without numbers. Standard library only. Running it twice changes
nothing the second time."""
import argparse
import csv
import filecmp
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plots"))
import files
import markers
import rungs

README = ROOT / "README.md"
PLOTS = ROOT / "plots" / "README.md"
PICTURES = ROOT / "docs" / "pictures" / "slides"
SHOWN = ["headline", "ladder", "conditioning"]  # the README's slides; plots/README.md shows all
FOLDED = {"rmsnorm": "RMSNorm, and in the same files Qwen2RMSNorm", "batchnorm": "BatchNorm"}
PASSES = ["forward", "inference", "backward"]


def implementations(program):
    """The rungs in `normlab list --csv`, without demonstrations: one row for each name, of the widest
    instruction set that runs here."""
    text = subprocess.run([program, "list", "--csv"], capture_output=True, text=True, check=True)
    impls = {impl["impl"]: impl for impl in csv.DictReader(text.stdout.splitlines())
             if impl["demonstration"] == "0" and not impl["impl"].startswith("peer/")
             and impl["runs_here"] == "1"}
    return sorted(impls.values(), key=lambda impl: rungs.place(impl["impl"]))


def caption(results):
    facts = files.machine(results)
    cpus = facts.get("cpus", "").replace(" online", "")
    threads = {int(row.get("threads", 0)) for row in files.rows(results)} - {0}  # not in a study
    words = [facts.get("cpu", "unknown"), f"{cpus} CPU" + "s" * (cpus != "1")]
    words += [f"{max(threads)} thread" + "s" * (max(threads) > 1)] if threads else []
    return ", ".join([*words, f"commit {facts.get('commit', 'unknown')}", facts.get("date", "unknown")[:10]])


def slides(results):
    """Copies the small slides into docs/pictures/slides, and returns name -> (question, source) of those that are there."""
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
    """A row a slide: its experiment and itself."""
    rows = []
    for name, (question, source) in found.items():
        file = ROOT / "experiments" / f"{source}.txt"
        where = f"[{source}](../experiments/{source}.txt)" if file.exists() else f"`{source}`"
        picture = f'<img src="../docs/pictures/slides/{name}.png" width="560" alt="{question}">'
        rows.append(f"| [{name}](slides/{name}.py)<br>experiment: {where} | {picture} |")
    return "\n".join(["| slide | |", "|---|---|", *rows])


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
    """The f32 rows of a results file without options, and the two shapes in the table."""

    def __init__(self, path):
        rows = [row for row in files.rows(path)
                if row["dtype"] == "f32" and row["data"] == "normal" and not row["options"]]
        self.at = {(row["impl"], row["op"], row["pass"], shape(row)): row for row in rows}
        self.isas = list(dict.fromkeys(row["isa"] for row in self.at.values()
                                       if rungs.is_optimized(row["impl"]) and row["ns"]))
        usual = [row for row in rows if row["op"] == "layernorm" and row["pass"] == "forward"]
        if not usual:
            raise files.Damaged(f"{path} has no layernorm/forward/f32/.../normal: is it results/ladder.csv?")
        self.small, self.large = shape(min(usual, key=size)), shape(max(usual, key=size))

    def find(self, impl, op, pass_, where):
        """The row of the widest instruction set that the rung was timed on."""
        return self.at.get((impl["impl"], op, pass_, where))

    @staticmethod
    def faster(row):
        """How many times as fast as the baseline; in parentheses if not resolved."""
        if not row["speedup"] or rungs.is_optimized(row["baseline"]):
            return ""
        times = float(row["speedup"])
        text = f"{times:.2f}" if times < 10 else f"{times:.3g}"
        return f"({text})" if row["comparison"] == "NOT RESOLVED" else text


def cells(row):
    """How many times as fast as naive, and per cent of the limit."""
    if not row or not row["ns"]:
        return ["", ""]
    share = float(row["limit_pct"])
    return [Results.faster(row), (f"{share:.0f}" if share >= 10 else f"{share:.1f}") + rungs.mark(row)]


def table(results, impls, op):
    """The rungs of a layer."""
    small, large = results.small, results.large
    heads = ["rung", "idea", f"{small}: time", "× naive", "% of limit", "error, units",
             f"{large}: × naive", "% of limit"]
    lines = ["| " + " | ".join(["", *heads]) + " |", "|---|---|---|" + "---:|" * 6]
    for pass_ in PASSES:
        heading = pass_
        for impl in impls:
            if op not in impl["ops"].split() or pass_ not in impl["passes"].split():
                continue
            row, far = (results.find(impl, op, pass_, where) for where in (small, large))
            right = row and row["verdict"] in ("ok", "demo") and row["ns"]
            texts = [heading, f"[{rungs.name(impl['impl'])}]({impl['impl']}.c)",
                     impl["about"].replace("|", "\\|"), human(float(row["ns"])) if right else "",
                     *cells(row),
                     f"{float(row['error_u']):.3g}" if right else row["verdict"] if row else "",
                     *cells(far)]
            lines.append("| " + " | ".join(texts) + " |")
            heading = ""
    return "\n".join(lines)


def legend(text):
    """Explains the mark where a text contains it."""
    return [f"{rungs.IMPOSSIBLE}."] * (rungs.IMPOSSIBLE[0] in text)


def ladder(results, impls):
    """LayerNorm's table, and the others folded."""
    on = f" Rungs in `optimized/` ran on {', '.join(results.isas)}." if results.isas else ""
    parts = [f"**LayerNorm.**{on}", table(results, impls, "layernorm")]
    for op, layer in FOLDED.items():
        parts += [f"<details><summary>{layer}</summary>", table(results, impls, op), "</details>"]
    return "\n\n".join([*parts, *legend("".join(parts))])


def example(results):
    """One row, column by column."""
    name = "layernorm/two_pass"
    row = results.at[(name, "layernorm", "forward", results.small)]
    interval = ", ".join(f"{float(row[end]):.0f}" for end in ("ns_low", "ns_high") if row[end])
    bounds = ", ".join(f"{float(row[end]):.3g}" for end in ("speedup_low", "speedup_high")
                       if row[end])
    band = f"{float(row['aa_band']):.3g}" if row["aa_band"] else "?"
    says = [
        ("case", f"`{row['case']}`", "what was computed: layer, pass, storage type, rows x "
         "features, kind of data"),
        ("impl, isa, threads", f"`{name}`, `{row['isa']}`, {row['threads']}", "how: the file "
         f"[{name}.c]({name}.c), plain C, on one thread"),
        ("verdict", row["verdict"], "every output was within its bound, before and after timing"),
        ("error_u", f"{float(row['error_u']):.4g}", "the largest error of y, in units: 2^-24 times "
         "the size of the terms that make up y"),
        ("bound_u", f"{float(row['bound_u']):.4g}", "the largest error that the method and these "
         "data allow"),
        ("ns", f"{float(row['ns']):.0f}", f"a call took {human(float(row['ns']))}, the median of "
         "many rounds"),
        ("ns_low, ns_high", interval, "the interval of that median"),
        ("speedup", f"{float(row['speedup']):.3g}", f"times as fast as `{row['baseline']}`, in "
         "the same rounds"),
        ("speedup_low, speedup_high", bounds, "the interval of the speed-up"),
        ("aa_band", band, "the difference between the baseline and itself, as a fraction: noise"),
        ("comparison", row["comparison"], {
            "FASTER": "the whole interval lies above 1, and beyond the noise",
            "SLOWER": "the whole interval lies below 1, and beyond the noise",
            "SAME": "interval and noise lie within 2 % of 1",
            "NOT RESOLVED": "the interval does not lie beyond the noise, nor within 2 % of 1: this "
                            "run cannot say",
        }.get(row["comparison"], "")),
        ("gbps", f"{float(row['gbps']):.3g}", "gigabytes a second: `bytes` / `ns`"),
        ("limit_pct", f"{float(row['limit_pct']):.3g}{rungs.mark(row)}", "per cent of what plain copying of the "
         "same buffers reached in the same rounds"),
        ("bytes", row["bytes"], "each input read once, each output written once; the rung itself "
         "reads x three times"),
    ]
    lines = ["| column | value | means |", "|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |" for cells in says])


def rewrite(path, program):
    results = Results(path)
    old = README.read_text()
    found = slides(path)
    text = markers.replace(README, old, "pictures", pictures(found))
    PLOTS.write_text(markers.replace(PLOTS, PLOTS.read_text(), "slides", gallery(found)))
    text = markers.replace(README, text, "ladder", ladder(results, implementations(program)))
    text = markers.replace(README, text, "caption", f"Measured on {caption(path)}.")
    text = markers.replace(README, text, "row", example(results))
    markers.save(README, old, text)


def pages():
    return [page for page in sorted(ROOT.rglob("*.md"))
            if not re.match(r"\.|build/|results/", str(page.relative_to(ROOT)))]


def prose(page):
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.S)


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


def check(program):
    text = README.read_text()
    shown = markers.between(text, "ladder")
    has = set(re.findall(r"\]\((\w+/\w+)\.c\)", shown))
    there = {impl["impl"] for impl in implementations(program)}
    wrong = [f"README.md: the ladder lacks {impl}: run scripts/readme.py" for impl in sorted(there - has)]
    wrong += [f"README.md: the ladder has {impl}, which is gone" for impl in sorted(has - there)]
    for page in pages():
        wrong += [f"{page.relative_to(ROOT)} links to {target}, which does not exist"
                  for target in dead_links(page)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=ROOT / "results" / "ladder.csv")
    parser.add_argument("--program", default=ROOT / "build" / "release" / "normlab")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        return check(options.program)
    with files.needed(options.results):
        rewrite(options.results, options.program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
