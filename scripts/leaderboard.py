#!/usr/bin/env python3
"""Makes a static page from a folder of graded submissions: points, counted instructions and per cent of the limit.

    scripts/leaderboard.py FOLDER --names NAMES.txt --out leaderboard.html

FOLDER has a file NAME.json for each submission, the results.json of `normlab grade --gradescope`. NAMES.txt has a line
`NAME: NAME ON THE PAGE` for each student who wants to be shown; the page only counts the others. Equal points
give equal places. The page needs no server, no script and no other file. Standard library only.
SPDX-License-Identifier: MIT"""
import argparse
import html
import json
import re
import sys
from pathlib import Path

STYLE = """:root{color-scheme:light dark}body{font:16px sans-serif;margin:2em auto;max-width:60em;padding:0 1em}
table{border-collapse:collapse}th,td{padding:.3em .8em;text-align:right;border-bottom:1px solid #8888}
th:nth-child(2),td:nth-child(2){text-align:left}"""
SPEED = re.compile(r"^(\S+)\n([\d.]+) times as fast as \S+; limit is at ([\d.]+)", re.M)
COUNT = re.compile(r"^(\S+)\n(\d+) instructions", re.M)


def names(path):
    """The students who want to be shown: name of the file -> name on the page."""
    lines = [line.partition(":") for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    for name, colon, shown in lines:
        if not colon or not shown.strip():
            sys.exit(f"leaderboard.py: {path}: '{name}' should be a line NAME: NAME ON THE PAGE")
    return {name.strip(): shown.strip() for name, _, shown in lines}


def submission(path):
    """Points, possible points, and {heading of a column: measured value}."""
    try:
        result = json.loads(path.read_text())
        tests, found = result["tests"], {}
        for test in tests:
            if match := SPEED.search(test["output"]):
                found[f"% of the limit, {match[1]}"] = f"{100 * float(match[2]) / float(match[3]):.0f}"
            elif match := COUNT.search(test["output"]):
                found[f"instructions, {match[1]}"] = f"{int(match[2]):,}"
        return float(result["score"]), sum(float(test["max_score"]) for test in tests), found
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"leaderboard.py: {path} is no results.json of normlab grade: {error!r}")


def page(folder, shown, title):
    files = sorted(folder.glob("*.json"))
    rows = [(name, *submission(path)) for path in files if (name := shown.get(path.stem))]
    if missing := sorted(set(shown) - {path.stem for path in files}):
        sys.exit(f"leaderboard.py: {folder} has no {missing[0]}.json")
    rows.sort(key=lambda row: (-row[1], row[0]))
    heads = sorted({head for row in rows for head in row[3]})
    lines = ["<tr>" + "".join(f"<th>{html.escape(head)}</th>" for head in ["", "name", "points", *heads]) + "</tr>"]
    for name, points, most, found in rows:
        place = 1 + sum(other[1] > points for other in rows)
        cells = [str(place), name, f"{points:g} of {most:g}", *(found.get(head, "") for head in heads)]
        lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    hidden = len(files) - len(rows)
    return (f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(title)}</title><style>{STYLE}</style>\n<h1>{html.escape(title)}</h1>\n<table>\n"
            + "\n".join(lines) + f"\n</table>\n<p>{hidden} more submission{'s' * (hidden != 1)} without a name here.</p></html>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--title", default="Leaderboard")
    options = parser.parse_args()
    options.out.write_text(page(options.folder, names(options.names), options.title))
    return 0


if __name__ == "__main__":
    sys.exit(main())
