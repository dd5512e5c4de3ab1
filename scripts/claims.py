#!/usr/bin/env python3
"""Writes the results of the claims, and of the paper's tables, on this machine into docs/claims.md.

    normlab claims --out results/claims.csv
    normlab study rmsnorm2019 --out results/rmsnorm2019.csv
    scripts/claims.py [results/claims.csv]
        rewrites the text between the markers <!-- NAME:begin --> and <!-- NAME:end -->
    scripts/claims.py --check
        writes nothing; exit code 1 when the page lacks a claim of experiments/claims/ or has a removed one

Standard library only. Running it twice changes nothing the second time."""
import argparse
import math
import re
import sys
from pathlib import Path

import markers

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "claims.md"
sys.path.insert(0, str(ROOT / "plots"))
import files
from modes import WORDS, longer, takes

MODES = ["unfused", "naive", "scalar", "simd_two_pass", "simd", "partial"]


def claims():
    return [path.stem for path in sorted((ROOT / "experiments" / "claims").glob("*.txt"))]


def caption(path):
    known = files.machine(path)
    over = f" in {known['passes'].replace(' over', ' passes over')}" if "passes" in known else ""
    return (f"Measured{over} on {known.get('cpu', 'unknown')}, {known.get('cpus', '').split(' ')[0]} CPUs, "
            f"commit {known.get('commit', 'unknown')}, {known.get('date', 'unknown')[:10]}.")


def link(source):
    return re.sub(r"^([\w-]+/[\w.-]+)#(\d+)$", r"[\g<0>](https://github.com/\1/issues/\2)", source)


def short(text):
    value = float(text)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def figure(row):
    if not row["value"]:
        return row["skipped"] or "not measured"
    if row["quantity"] == "saving":
        return takes(*(float(row[key] or "nan") for key in ("value", "low", "high")))
    text = short(row["value"])
    if row["rounds"] != "0" and row["low"] and row["high"]:
        text += f" [{short(row['low'])}, {short(row['high'])}]"
    return f"{text} {row['unit']}".strip()


def holds(row):
    """The predicate in words."""
    low, high, unit = row["predicate_low"], row["predicate_high"], row["unit"]
    if row["quantity"] == "saving" and not low and float(high) <= 0:
        return longer(float(high))
    if low == high:
        text = f"= {short(low)}"
    elif not low or not high:
        text = f"> {short(low)}" if low else f"< {short(high)}"
    else:
        text = f"{short(low)} to {short(high)}"
    return f"{row['quantity']} {text} {unit}".strip()


def claims_table(rows):
    lines = ["| claim | said by | answer | what was found here | it holds when | measured, in the setting it means | A/A ± |",
             "|---|---|---|---|---|---:|---:|"]
    for row in rows:
        if row["setting"] != "0":
            continue
        band = f"{float(row['aa_band']):.2g}" if row["aa_band"] else ""
        cells = [f"[{row['name']}](../experiments/claims/{row['name']}.txt): {row['claim']}", link(row["source"]),
                 f"**{row['answer']}**", "<br>".join(filter(None, [row["sentence"], row["why"]])), holds(row),
                 "<br>".join(filter(None, [figure(row), row["where"]])), band]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def paper_table(rows):
    at = {(row["panel"], row["series"], float(row["x"])): float(row["y"]) for row in rows}
    sizes = sorted({x for panel, _, x in at if panel == "norm"})
    modes = [mode for mode in MODES if ("norm", mode, sizes[-1]) in at]
    tables = dict.fromkeys(panel.removesuffix(", paper") for panel, *_ in at if panel.endswith(", paper"))
    lines = ["Share of the norm's time saved here, in per cent, against the MiB of x and y together:", "",
             "| MiB | " + " | ".join(WORDS[m] for m in modes) + " |", "|---:|" + "---:|" * len(modes)]
    for x in sizes:
        cells = [f"{at[('norm', m, x)]:.1f} [{at[('norm, low', m, x)]:.1f}, {at[('norm, high', m, x)]:.1f}]" for m in modes]
        lines.append(f"| {x / 2**20:g} | " + " | ".join(cells) + " |")
    lines += ["", f"Share of the step saved, at {sizes[-1] / 2**20:g} MiB; bold: within the paper's ±:", "",
              "| table | norm's share | layer | the paper | of norm time | " + " | ".join(WORDS[m] for m in modes) + " | why |",
              "|---|---:|---|---:|---:|" + "---:|" * len(modes) + "---|"]
    for table in tables:
        fact = lambda series: at[(f"{table}, paper", series, 0)]
        for layer in "RMSNorm", "pRMSNorm":
            saved, error, of_norm = (fact(layer + end) for end in ("", ", +-", ", of norm time"))
            cells = []
            for mode in modes:
                value = at[(f"{table}, step", mode, sizes[-1])]
                mine = (mode == "partial") == (layer == "pRMSNorm")
                text = f"{value:.1f}" if math.isfinite(value) else "?"
                cells.append("" if not mine else f"**{text}**" if abs(value - saved) <= error else text)
            share = fact("norm's share of the step")
            unfused = at[("norm", "unfused", sizes[-1])]
            why = "" if layer == "pRMSNorm" else (
                "it saved more of the norm's time than an unfused norm does here" if saved - error > share * unfused / 100
                else "it saved less of the norm's time than an unfused norm does here" if saved + error < share * unfused / 100
                else "as an unfused norm does here")
            lines.append(f"| {table if layer == 'RMSNorm' else ''} | {share:.1f} | {layer} | {saved:.1f} ± {error:.1f} | "
                         f"{of_norm:.1f} | " + " | ".join(cells) + f" | {why} |")
    return "\n".join(lines)


def rewrite(path):
    old = PAGE.read_text()
    text = markers.replace(PAGE, old, "claims", claims_table(files.rows(path)) + "\n\n" + caption(path))
    paper = path.with_name("rmsnorm2019.csv")
    if paper.exists():
        text = markers.replace(PAGE, text, "paper", paper_table(files.rows(paper)) + "\n\n" + caption(paper))
    markers.save(PAGE, old, text)


def check():
    shown = markers.between(PAGE.read_text(), "claims")
    has = set(re.findall(r"\(\.\./experiments/claims/(\w+)\.txt\)", shown))
    wrong = [f"lacks {name}" for name in claims() if name not in has]
    wrong += [f"has {name}, which is gone" for name in sorted(has - set(claims()))]
    for line in wrong:
        print(f"docs/claims.md: {line}: run scripts/claims.py", file=sys.stderr)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=ROOT / "results" / "claims.csv")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        return check()
    with files.needed(options.results):
        rewrite(options.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
