#!/usr/bin/env python3
"""Writes the savings and the errors of frameworks into docs/frameworks.md.

    python -m normlab.frameworks --out results/frameworks.csv
    python -m normlab.frameworks --step --out results/frameworks_step.csv
    python -m normlab.frameworks --compiled --out results/frameworks_compiled.csv
    python -m normlab.frameworks --judge --out results/frameworks_judge.csv
    python -m normlab.frameworks --invariance --threads 2 --out results/frameworks_invariance.csv
    python -m normlab.frameworks --rounding --out results/frameworks_rounding.csv
    normlab check --impl 'peer/onednn*' CASE... --out results/frameworks_onednn.csv   with the cases of --judge
    normlab claims --measured results/frameworks.csv --out results/claims.csv
    scripts/frameworks.py [results]
        rewrites the text between the markers <!-- NAME:begin --> and <!-- NAME:end --> if NAME's file exists, and
        copies the slide of the savings to docs/pictures. The files of docs/gpu.md are NAME_gpu.csv in
        docs/machines/h100, measured with --device cuda
    scripts/frameworks.py docs/machines/h100 --check
        writes nothing; exit code 1 if a page does not agree with these results

Standard library only. Running it twice changes nothing the second time."""
import math
import shutil
import sys

import markers
from claims import caption, figure, files, holds, takes
from markers import table

PAGE = markers.ROOT / "docs" / "frameworks.md"
NAMES = {"pytorch": "PyTorch", "torch_compile": "torch.compile", "onnxruntime": "ONNX Runtime", "jax": "JAX",
         "jax_stable": "JAX, stable", "onednn": "oneDNN", "liger": "Liger-Kernel", "normlab": "normlab"}
VERDICTS = {"ok": "right", "fail": "wrong", "demo": "unjudged", "skip": "skip"}  # of `normlab check` -> of the judge
PASSES = {"forward": "forward", "both": "training", "backward": "backward"}
MARGIN = 5  # per cent of extra time that still counts as equal, as in python/normlab/frameworks/compiled.py
NOTHING = ("", "nothing to explain", "no known mechanism explains it")


def columns(rows):
    return [how for how in NAMES if any(row["how"] == how for row in rows)]


def versions(rows):
    return ", ".join(dict.fromkeys(one for row in rows for one in row["version"].split(", ") if one not in ("", "-")))


def saving(row):
    if row is None:
        return ""
    if row["verdict"] == "skip":
        return "–"
    if row["verdict"] == "fail":
        return f"not timed: {row['why']}"
    size, ends = takes(*(float(row[f"saving{end}"]) for end in ("", "_low", "_high"))).split(" ", 1)
    micro = [float(row[op]) / 1e3 for op in ("layernorm_ns", "rmsnorm_ns")]
    called = f"<br>called: {float(row['call_ns']) / 1e3:.3g}" if row.get("call_ns") else ""
    return f"**{size}** {ends}<br>{', '.join(f'{time:.4g}' if time < 1000 else f'{time:.0f}' for time in micro)}{called}"


def savings(rows):
    at, names = {(row["case"], row["how"]): row for row in rows}, columns(rows)
    lines = []
    for case in dict.fromkeys(row["case"] for row in rows):
        way, dtype, shape, *_ = case.split("/")
        lines.append([f"{PASSES[way]}, {dtype}, {shape}", *(saving(at.get((case, how))) for how in names)])
    how = "one thread" if rows[0]["device"] == "cpu" else "20 calls in a CUDA graph"
    return table(["", *(NAMES[how] for how in names)], lines) + f"\n\n{versions(rows)}, {how}."


def compiled(rows):
    """torch.compile's time against each hand-written kernel's, and both times in microseconds."""
    at, names = {(row["case"], row["how"]): row for row in rows}, columns(rows)
    lines, reached = [], [float(row["saving_low"]) >= -MARGIN for row in rows if row["verdict"] == "ok"]
    for case in dict.fromkeys(row["case"] for row in rows):
        op, way, dtype, shape, _ = case.split("/")
        cells = []
        for row in (at.get((case, how)) for how in names):
            if row and row["verdict"] == "ok":
                size, ends = takes(*(float(row[f"saving{end}"]) for end in ("", "_low", "_high"))).split(" ", 1)
                cells.append(f"**{size}** {ends}<br>{float(row['hand_ns']) / 1e3:.4g}, {float(row['compiled_ns']) / 1e3:.4g}")
            else:
                cells.append(row["why"] if row else "–")
        lines.append([f"{op} {PASSES[way]}, {dtype}, {shape}", *cells])
    return table(["torch.compile, compared with", *(NAMES[how] for how in names)], lines) + (
        f"\n\ntorch.compile takes at most {MARGIN} % longer in {sum(reached)} of {len(reached)} settings. {versions(rows)}.")


def claims(rows):
    mine = [row for row in rows if row["how"] in NAMES and row["value"]]
    return table(["claim", "holds when", "in", "case", "verdict", "figure"],
                 [[f"[{row['name']}](../experiments/claims/{row['name']}.txt)", holds(row), NAMES[row["how"]],
                   row["case"].removesuffix("/normal"), f"**{row['verdict']}**", figure(row)] for row in mine], 5)


def steps(rows):
    numbers = lambda row, name: [float(row[name + end]) for end in ("", "_low", "_high")]
    return table(["", "tokens x width x layers", "step, ms", "the norms' share, %", "a step with RMSNorm takes"],
                 [[NAMES[row["how"]], row["case"], f"{float(row['step_ns']) / 1e6:.1f}",
                   "{:.1f} [{:.1f}, {:.1f}]".format(*numbers(row, "share")), takes(*numbers(row, "saving"))]
                  for row in rows if row["verdict"] == "ok"], 2)


def short(number):
    return f"{float(number):.2g}".replace("e+0", "e").replace("e+", "e")


def finding(row):
    """A result's verdict, or the size of its error if the result is wrong or has no bound."""
    if row["verdict"] in ("right", "skip", "error"):
        return row["verdict"]
    size = "NaN" if row["not_finite"] != "0" else short(row["units"])
    size = f"{row['output']} {size}" if row["output"] in ("dgamma", "dbeta") else size
    return f"**{size}**" if row["verdict"] == "wrong" else f"({size})"


def cell(rows):
    """A cell: each finding with its types, and below the findings the mechanisms."""
    found = {}
    for row in rows:
        if finding(row) != "skip":
            found.setdefault(finding(row), []).append(row["case"].split("/")[2])
    if not found:
        return "–"
    text = "<br>".join(what if what == "right" and len(found) == 1 else f"{', '.join(types)}: {what}"
                       for what, types in found.items())
    why = dict.fromkeys(row["mechanism"] for row in rows if row["verdict"] == "wrong" and row["mechanism"] not in NOTHING)
    return "<br>".join([text, *(f"*{one}*" for one in why)])


def judged(rows):
    """The table of errors. Data with equal cells share a line."""
    names, by = columns(rows), {}
    for row in rows:
        op, way, _, rest = row["case"].split("/", 3)
        by.setdefault((op, way, rest), {}).setdefault(row["how"], []).append(row)
    lines, right = {}, {}
    for (op, way, rest), cells in by.items():
        shape, data, *_ = rest.split("/")
        data = data.removeprefix("museum:")
        if all(row["verdict"] in ("right", "skip") for rows in cells.values() for row in rows):
            right.setdefault(f"{op} {way}", []).append(data)
        else:
            line = f"{op} {way}", *(cell(cells.get(how, [])) for how in names)
            lines.setdefault(line, []).append(f"{data} {shape}")
    return (table(["data", "", *(NAMES[how] for how in names)], [[", ".join(data), *line] for line, data in lines.items()], 2)
            + f"\n\n{versions(rows)}, one thread. All are right "
            "in " + "; in ".join(f"{layer} on {', '.join(data)}" for layer, data in right.items()) + ".")


def bits(row):
    if row is None or row["verdict"] == "skip":
        return "–"
    if row["verdict"] != "differs":
        return "same" if row["verdict"] == "same" else row["verdict"]
    apart = "NaN" if row["ulps"] == "-1" else f"{row['ulps']} ulp"
    return f"**{row['others']} of {row['rows']}** from n = {row['smallest']}, {apart}"


def invariance(rows):
    at, names = {(row["case"], row["how"]): row for row in rows}, columns(rows)
    lines = [[case.removesuffix("/normal"), *(bits(at.get((case, how))) for how in names)]
             for case in dict.fromkeys(row["case"] for row in rows)]
    threads = rows[0]["threads"]
    return (table(["", *(NAMES[how] for how in names)], lines) +
            f"\n\n{versions(rows)}, {'one thread' if threads == '1' else threads + ' threads'}.")


def roundings(rows):
    """A line for each layer. A cell names the best order and, if that order does not give all bits, how many differ."""
    layers = {}
    for row in rows:
        name, dtype = row["case"].split("/")
        layers.setdefault((row["version"], name), {})[dtype] = row
    def of_type(row):
        if not row or not row["order"]:
            return "–"
        return row["order"] + ("" if row["verdict"] == "same" else f"<br>except {row['differ']} of {row['outputs']}")
    def next_best(found):
        share, name = min((float(row["next_differ"]) / float(row["outputs"]), row["next"]) for row in found.values() if row["order"])
        return f"{name}: {share:.0%}"
    return table(["version", "layer", "f16", "bf16", "the next best order differs in"],
                 [[version, f"`{name}`", of_type(found.get("f16")), of_type(found.get("bf16")), next_best(found)]
                  for (version, name), found in layers.items() if any(row["order"] for row in found.values())], 5)


def roundings_gpu(rows):
    """The layers that round in another way than the CPU's page has, and the number of the other layers."""
    known = PAGE.read_text()
    head, rule, *lines = roundings(rows).split("\n")
    here = [line for line in lines if " | ".join(line.split(" | ")[1:4]) not in known]
    return "\n".join([head, rule, *here]) + f"\n\n{len(lines) - len(here)} other layers round as on the CPU."


def of_check(path):
    """The results of `normlab check` for oneDNN, as rows of the judge."""
    version = next((text.split(",")[0] for key, text in files.facts(path).items() if key.startswith("peer onednn")), "")
    return [{"how": "onednn", "version": version, "case": row["case"], "output": "", "units": row["error_u"], "mechanism": "",
             "verdict": VERDICTS[row["verdict"]], "not_finite": "0" if math.isfinite(float(row["error_u"] or 0)) else "1"}
            for row in files.rows(path)]


def main():
    options = markers.parser(__doc__, "--check", results=markers.ROOT / "results").parse_args()
    pages, pictures = {}, {}
    for page, end in ((PAGE, ""), (PAGE.with_name("gpu.md"), "_gpu")):
        text, timed = page.read_text(), options.results / f"frameworks{end}.csv"
        for name, file, make in (("savings", f"frameworks{end}", savings), ("claims", f"claims{end}", claims),
                                 ("compiled", f"frameworks{end}_compiled", compiled), ("step", f"frameworks{end}_step", steps),
                                 ("rounding", f"frameworks{end}_rounding", roundings_gpu if end else roundings),
                                 ("invariance", f"frameworks{end}_invariance", invariance),
                                 ("judge", f"frameworks{end}_judge", judged)):
            path = options.results / f"{file}.csv"
            with files.needed(path):
                if path.exists() and (rows := files.rows(path)) and any(row["how"] in NAMES for row in rows):
                    if name == "judge" and (more := path.with_name(f"frameworks{end}_onednn.csv")).exists():
                        rows += of_check(more)
                    text = markers.replace(page, text, name, make(rows) + "\n\n" + caption(timed if name == "claims" else path))
                    drawn = {"savings": "gpu" if end else "frameworks"}.get(name, "" if end else name)
                    if (picture := path.parent / "slides" / "small" / f"{drawn}.png").exists():
                        pictures[picture] = PAGE.parent / "pictures"
        pages[page] = text
    for picture, folder in pictures.items() if not options.check else ():
        shutil.copy(picture, folder)
    return markers.report(markers.written(pages, options.check, "not what its files say: run scripts/frameworks.py"))


if __name__ == "__main__":
    sys.exit(main())
