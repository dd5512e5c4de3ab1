#!/usr/bin/env python3
"""Draws your own chart from results of any bench, check or study, in the look of the other figures.

Draws a curve for each value of --by, at most seven, or bars if x is no number. Several files, such as those of two
machines, stand side by side, or with `--by file` in one panel; `--panels COLUMN` makes a panel for each value of
COLUMN. Rows that are wrong, skipped or not measured are left out. In files that have only a column for the case, as
in docs/machines, the parts of the case are columns too: op, pass, dtype, n, c, s, data. Exit code: 0 done, 2 error.

examples:
  python plots/chart.py results/growth.csv --x c --y gbps --by n --filter op=rmsnorm --filter pass=forward \\
      --log xy --out growth
  python plots/chart.py docs/machines/zen4.csv docs/machines/zen5.csv --x n --y limit_pct --by file \\
      --filter 'case=layernorm/forward/f32/*x1024/normal' --filter n=1,16,64,512,2048 --log x --ylim 0 100 \\
      --xlabel 'rows of 1024' --note 'Shares compare from machine to machine; times do not.' --out machines
  python plots/chart.py results/ladder.csv --x impl --y speedup --by op --filter pass=forward --filter n=64 \\
      --filter 'impl=optimized/rows_*' --filter dtype=f32 --filter options= --title 'What vectors bring' --out vectors
  python plots/chart.py results/ln_vs_rms.csv --x x --y y --by series --filter 'panel=f32 forward' --log x \\
      --xlabel 'bytes of x and y' --ylabel 'time saved, %' --out saved
  python plots/chart.py results/depth.csv --x x --y y --by series --panels panel --log y --xlabel layer \\
      --filter 'panel=*norm activations,*norm gradients,*norm weight gradients' --ylabel rms --out depth
"""
import argparse
from fnmatch import fnmatchcase
from itertools import zip_longest
from math import inf, isfinite
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

import common
import modes
import rungs
import speed

UNITS = {"ns": "time of a call, ns", "gbps": "GB/s", "limit_pct": "% of the rate of copying", "error_u": "largest error, units",
         "bound_u": "bound, units", "speedup": "times as fast as its own baseline", "bytes": "bytes moved", "c": "features",
         "n": "rows", "s": "positions", "threads": "threads", "impl": "implementation", "op": "layer", "dtype": "storage type", "how": "way of executing"}
LOOKS = [("#0072B2", "o", "-"), ("#D55E00", "s", "--"), ("#009E73", "^", "-."), ("#000000", "D", ":"), ("#CC79A7", "v", "-"),
         ("#E69F00", "P", "--"), ("#56B4E9", "X", "-.")]
KEYS = "panel series op pass dtype data options n c s threads impl isa size pattern store name how case".split()  # columns that distinguish rows
LEFT_OUT = "fail", "skip", "wrong", "error"


def options():
    parser = argparse.ArgumentParser(prog="plots/chart.py", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=__doc__.partition("examples:")[0], epilog="examples:" + __doc__.partition("examples:")[2])
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS.csv")
    parser.add_argument("--x", required=True, metavar="COLUMN")
    parser.add_argument("--y", required=True, metavar="COLUMN")
    parser.add_argument("--by", required=True, metavar="COLUMN", help="a curve for each of its values")
    parser.add_argument("--panels", metavar="COLUMN", help="a panel for each of its values; only with one file")
    parser.add_argument("--filter", action="append", default=[], metavar="COLUMN=GLOB,...", help="only these rows; may be repeated")
    parser.add_argument("--log", default="", choices=("x", "y", "xy"), help="logarithmic axes")
    for axis in "xy":
        parser.add_argument(f"--{axis}lim", nargs=2, type=float, metavar=("LOW", "HIGH"), help="the ends of the axis")
        parser.add_argument(f"--{axis}label", metavar="WORDS")
    parser.add_argument("--title", default="", metavar="WORDS", help="the answer that the chart gives")
    parser.add_argument("--note", default="", metavar="WORDS", help="what one must know to read the chart")
    parser.add_argument("--out", default="chart", metavar="NAME", help="NAME.png, NAME.svg and NAME.pdf (chart)")
    o = parser.parse_args()
    if o.panels and len(o.results) > 1:
        common.fail("--panels is for one file: each of several files has a panel already")
    for axis, ends in ("x", o.xlim), ("y", o.ylim):
        if ends and not (0 if axis in o.log else -inf) < ends[0] < ends[1] < inf:
            common.fail(f"--{axis}lim {ends[0]:g} {ends[1]:g}: should be two numbers, the lower first"
                        + ", above 0 with --log" * (axis in o.log))
    return o


def number(text):
    try:
        return float(text)
    except ValueError:
        return float("nan")


def plain(words):
    """Escapes $, which Matplotlib would read as mathematics."""
    return words.replace("$", r"\$")


def name(column, value):
    """The words for a column's value in figures."""
    if isfinite(number(value)):
        return f"{value} {UNITS.get(column, column)}".removesuffix("s" * (value == "1"))
    return plain({"impl": rungs.name, "op": lambda v: rungs.LAYERS.get(v, v), "series": lambda v: modes.WORDS.get(v, v), "how": lambda v: modes.WORDS.get(v, v)}.get(
        column, str)(value))


def spelled(row):
    """Adds a column for each part of the case that has none."""
    if len(parts := row.get("case", "").split("/")) < 5:
        return row
    n, c, s = [*parts[3].split("x"), "1"][:3]
    return dict(zip(("op", "pass", "dtype"), parts)) | {"n": n, "c": c, "s": s, "data": parts[4], "options": " ".join(parts[5:])} | row


def chosen(path, label, o):
    """The correct rows of a file that have a y and pass the filters."""
    make = "normlab bench, check or study with --out"
    rows = [spelled(row) | {"file": label} for row in common.read(path, "", make)]
    common.need(path, rows, [o.x, o.y, o.by, *[o.panels] * bool(o.panels)], make)
    for text in o.filter:
        column, equals, glob = text.partition("=")
        if not equals or column not in rows[0]:
            common.fail(f"--filter {text}: should be COLUMN=GLOB, with a column of {path}: {' '.join(rows[0])}")
        kept = [[row for row in rows if any(fnmatchcase(row[column], one) for one in globs)] for globs in ([glob], glob.split(","))]
        if not any(kept):
            common.fail(f"--filter {text} leaves nothing of {path}; {column} is {some({row[column] for row in rows})}")
        rows = kept[0] or kept[1]
    kept = [row for row in rows if row.get("verdict") not in LEFT_OUT and isfinite(number(row[o.y]))]
    if not kept:
        common.fail(f"{path}: no correct row has a number in {o.y}; its values are {some({row[o.y] or 'nothing' for row in rows})}")
    for axis, column in ("x", o.x), ("y", o.y):
        if axis in o.log and (beyond := [row[column] for row in kept if not number(row[column]) > 0]):
            common.fail(f"{path}: {column} is {beyond[0]} in {len(beyond)} of {len(kept)} rows, but a logarithmic axis "
                        f"needs numbers above 0: leave {axis} out of --log, or leave these rows out with --filter")
    return kept


def labels(paths):
    """The shortest ends of the paths that tell the files apart."""
    for count in range(1, max(len(path.parts) for path in paths) + 1):
        found = ["/".join(path.with_suffix("").parts[-count:]) for path in paths]
        if len(set(found)) == len(found):
            return found
    common.fail(f"{', '.join(map(str, paths))}: a file is there twice")


def cases(texts):
    """The parts in which the spellings of cases differ."""
    parts = list(zip_longest(*(text.split("/") for text in texts), fillvalue=""))
    return [" ".join(words) for words in zip(*(part for part in parts if len(set(part)) > 1))] or texts


def some(values):
    values = sorted(values)
    return ", ".join(values[:8]) + (f" and {len(values) - 8} more" if len(values) > 8 else "")


def place(row, x):
    """The row's place on the x axis. Rungs of different layers share a place if they have the same name."""
    return rungs.name(row[x]) if x == "impl" else row[x]


def series(path, o, rows):
    """value of --by -> x -> row. Two rows with the same value and the same x are an error."""
    found = {}
    for row in rows:
        at = found.setdefault(row[o.by], {})
        other = at.setdefault(place(row, o.x), row)
        if other is not row:
            column = next(c for c in KEYS if c == "case" or c in row and row[c] != other[c])
            common.fail(f"{path}: several rows have {o.by} {row[o.by]} and {o.x} {row[o.x]}: choose one with --filter "
                        f"'{column}={other.get(column)}' (it also is '{row.get(column)}')")
    if len(found) > len(LOOKS):
        common.fail(f"{path}: {len(found)} curves cannot be told apart, {len(LOOKS)} can: choose with --filter {o.by}=GLOB from "
                    f"{some(found)}")
    return found


def ends(row, y):
    """The interval of y, if the results have one."""
    prefix = {"gbps": "ns_", "value": ""}.get(y, f"{y}_")  # a claim's value has the columns low and high
    low, high = (number(row.get(f"{prefix}{end}") or "nan") for end in ("low", "high"))
    return [number(row["bytes"]) / (end or float("nan")) for end in (high, low)] if y == "gbps" and "bytes" in row else [low, high]


def crowded(xs, panels):
    """Are there too many names for one line?"""
    return len(xs) * panels > 12 and not all(isfinite(number(x)) for x in xs)


def draw(axes, found, o, looks, xs, panels):
    numeric = all(isfinite(number(x)) for x in xs)
    for i, (value, at) in enumerate(found.items()):
        colour, marker, dash = looks[value]
        points = [(number(x) if numeric else xs.index(x) + (i - (len(found) - 1) / 2) * 0.8 / len(found), row) for x, row in at.items()]
        points.sort(key=lambda point: point[0])
        places, ys = [p[0] for p in points], [number(row[o.y]) for _, row in points]
        if numeric:
            axes.plot(places, ys, color=colour, marker=marker, linestyle=dash, linewidth=2, markersize=7, label=name(o.by, value),
                      markevery=max(1, len(places) // 25))
        else:
            axes.bar(places, ys, 0.8 / len(found), color=colour, label=name(o.by, value))
        for place, (low, high) in zip(places, (ends(row, o.y) for _, row in points)):
            axes.vlines(place, low, high, color=colour if numeric else "black", linewidth=4 if numeric else 1.5, alpha=0.45)
        for place, y, (_, row) in zip(places, ys, points):
            if row.get("flag"):
                axes.annotate(rungs.IMPOSSIBLE[0], (place, y), (0, 6), textcoords="offset points", ha="center")
    if numeric and "x" in o.log:
        speed.size_axis(axes, [number(x) for x in xs], text=lambda v: f"{v:,.0f}" if v >= 1e4 else f"{v:g}")
    elif not numeric:
        turn = 90 if crowded(xs, panels) else 30 if len(xs) > 6 else 0
        names = [plain(words) for words in cases(xs)] if o.x == "case" else [plain(x) if o.x == "impl" else name(o.x, x) for x in xs]
        axes.set_xticks(range(len(xs)), names, rotation=turn, ha="right" if turn == 30 else "center")
        axes.grid(axis="x", visible=False)
    if "y" in o.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.set_xlabel(o.xlabel, fontsize=14)


def outside(rows, o):
    """Counts the values that --xlim and --ylim leave out."""
    return sum(not ends[0] <= number(row[column]) <= ends[1] for column, ends in ((o.x, o.xlim), (o.y, o.ylim)) if ends for row in rows)


def main():
    o = options()
    o.xlabel, o.ylabel = plain(o.xlabel or UNITS.get(o.x, o.x)), plain(o.ylabel or UNITS.get(o.y, o.y))
    files = [(path, label, chosen(path, label, o)) for path, label in zip(o.results, labels(o.results))]
    panels = [files] if "file" in (o.x, o.by) else [[file] for file in files]
    if o.panels:
        path, _, mine = files[0]
        values = dict.fromkeys(row[o.panels] for row in mine)
        panels = [[(path, name(o.panels, value), [row for row in mine if row[o.panels] == value])] for value in values]
    rows = [row for *_, mine in files for row in mine]
    curves = [series(" and ".join(str(path) for path, *_ in panel), o, [row for *_, mine in panel for row in mine]) for panel in panels]
    values = list(dict.fromkeys(value for found in curves for value in found))
    if len(values) > len(LOOKS):
        common.fail(f"{len(values)} curves cannot be told apart, {len(LOOKS)} can: choose with --filter {o.by}=GLOB from {some(values)}")
    looks = dict(zip(values, LOOKS))
    xs = list(dict.fromkeys(place(row, o.x) for row in rows))
    if all(isfinite(number(x)) for x in xs):
        xs.sort(key=number)
    elif o.xlim:
        common.fail(f"--xlim: {o.x} is {some(xs)}, and such an axis has no ends: choose with --filter")
    across = min(len(panels), 3) if o.panels else len(panels)
    figure, grid = plt.subplots(-(-len(panels) // across), across, sharey=not o.panels, squeeze=False)
    bottom = 0.34 if crowded(xs, across) else 0.26 if len(xs) > 6 else 0.2
    figure.subplots_adjust(left=0.075, right=0.98, top=0.81, bottom=bottom, wspace=0.2 if o.panels else 0.06, hspace=0.45)
    for axes in grid.flat[len(panels):]:
        axes.set_axis_off()
    for i, (axes, panel, found) in enumerate(zip(grid.flat, panels, curves)):
        own = [x for x in xs if any(x in at for at in found.values())]
        draw(axes, found, o, looks, own if o.panels else xs, across)
        axes.tick_params(labelsize=12 - 2 * (len(grid) > 1))
        axes.set(**{f"{axis}lim": ends for axis, ends in (("x", o.xlim), ("y", o.ylim)) if ends})
        if i + across < len(panels):
            axes.set_xlabel("")
        if o.panels:
            axes.set_title(panel[0][1], fontsize=11)
        elif len(files) > 1:
            titles = (f"{label}: " * (len(files) > 1) + f"{common.machine(path, mine)} · {speed.cache_sizes(path)}" for path, label, mine in panel)
            axes.set_title("\n".join(fill(title, 140 // len(panels)) for title in titles), fontsize=10)
    for line in grid:
        line[0].set_ylabel(o.ylabel, fontsize=14)
    words = "; ".join([*o.filter, *[rungs.IMPOSSIBLE] * any(row.get("flag") for row in rows),
                       *[f"outside the axes: {outside(rows, o)}"] * bool(outside(rows, o))])
    speed.heading(figure, plain(o.title) or f"{o.ylabel} against {o.xlabel}", plain(f"{o.note}\n{words}".strip()))
    handles = {label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels())}
    longest = max(map(len, handles))
    figure.legend(handles.values(), handles.keys(), loc="lower left", ncols=min(len(handles), 4 if longest < 30 else 3), fontsize=13, bbox_to_anchor=(0.01, 0.03))
    corners = [common.machine(path, mine) for path, _, mine in files]
    quick = common.QUICK if any(corner.startswith(common.QUICK) for corner in corners) else ""
    common.save(figure, o.out, corners[0] if len(files) == 1 else f"{quick}{len(files)} files")
    print(", ".join(f"{o.out}{end}" for end in common.ENDS))


if __name__ == "__main__":
    main()
