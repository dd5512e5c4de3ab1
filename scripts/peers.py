#!/usr/bin/env python3
"""Compares the times of other libraries with ours in docs/peers.md.

    ./reproduce --peers
    scripts/peers.py [results/peers.csv]
        rewrites the text between the markers <!-- peers:begin --> and <!-- peers:end -->

Standard library only. Running it twice changes nothing the second time."""
import sys
import textwrap
from statistics import geometric_mean

import markers
import rungs
from claims import caption, files
from markers import table

PAGE = markers.ROOT / "docs" / "peers.md"
NAMES = {"onednn": "oneDNN", "torch": "PyTorch", "onnxruntime": "ONNX Runtime", "libxsmm": "LIBXSMM", "ggml": "ggml"}
PASSES = ("forward", "inference", "backward")
NEAR = 1.25


def library(row):
    """peer/onednn_rmsnorm -> onednn"""
    return row["impl"].removeprefix("peer/").rpartition("_")[0]


def versions(path):
    found = {key.partition("_")[0]: text.split(",")[0] for key, text in files.facts(path).items() if key.startswith("peer ")}
    return ", ".join(found.values())


def size_class(path):
    """row -> the first cache that holds the bytes that the row's call moves, in words."""
    return lambda row: next((f"fits {level}" for level, size in files.caches(path) if float(row["bytes"]) <= size), "from memory")


def ratio(row):
    """The peer's time divided by ours, with its interval; a bound that is missing is 0 or infinite."""
    ends = [float(row[key]) if row[key] else 0 for key in ("speedup", "speedup_low", "speedup_high")]
    value, high, low = (1 / end if end else float("inf") for end in ends)
    return value, 0 if low == float("inf") else low, high


def span(low, high):
    return f"[{low:.2f}, {'?' if high == float('inf') else f'{high:.2f}'}]"


def mean(rows):
    """The geometric mean of the ratios and of both ends of their intervals, the extremes, and the number of cases."""
    if not rows:
        return "–"
    values, lows, highs = zip(*map(ratio, rows))
    ends = [geometric_mean(side) if all(0 < end < float("inf") for end in side) else edge
            for side, edge in ((lows, 0), (highs, float("inf")))]
    return f"**{geometric_mean(values):.2f}** {span(*ends)}<br>{min(values):.2f} to {max(values):.2f}, {len(rows)}"


def case_name(row):
    options = row["options"].replace("threads=2", "two threads").replace("/", ", ")
    return ", ".join(filter(None, [f"{rungs.LAYERS[row['op']]} {row['pass']}", row["dtype"], row["case"].split("/")[3], options]))


def behind(timed, best):
    ahead = sorted((row for row in timed if row["comparison"] == "FASTER"), key=lambda row: ratio(row)[0])
    open_ = sum(ratio(row)[0] < 1 for row in timed) - len(ahead)
    text = [textwrap.fill(f"Ours is behind in {len(ahead)} of {len(timed)} comparisons, ahead in "
            f"{sum(row['comparison'] == 'SLOWER' for row in timed)}; {open_} more are below 1 but not "
            "resolved. A comparison is resolved if the interval lies outside the [A/A interval](measuring.md#verdicts).", 120)]
    if ahead:
        lines = [[case_name(row), NAMES[library(row)], f"**{ratio(row)[0]:.2f}** {span(*ratio(row)[1:])}",
                  best[row["case"]]["impl"].split("/")[-1]] for row in ahead]
        text += ["", table(["behind", "peer", "its time / ours", "ours"], lines, 2)]
    return "\n".join(text)


def means(timed, names, classes):
    groups = [(f"{rungs.LAYERS[op]} {way}", lambda row, op=op, way=way: (row["op"], row["pass"]) == (op, way))
              for op in rungs.LAYERS for way in PASSES]
    groups += [("all", lambda row: True)]
    groups += [(f"f32, one thread, {name}", lambda row, name=name: (classes(row), row["dtype"], row["threads"]) == (name, "f32", "1"))
               for name in ("fits L1", "fits L2", "fits L3", "from memory")]
    groups += [("forward without statistics, one thread", lambda row: "no-rstd" in row["options"] and row["threads"] == "1")]
    groups += [(kind, lambda row, kind=kind: row["dtype"] == kind) for kind in ("bf16", "f16")]
    groups += [("two threads", lambda row: row["threads"] == "2")]
    lines = [[title, *(mean([row for row in timed if library(row) == name and wanted(row)]) for name in names)]
             for title, wanted in groups if any(map(wanted, timed))]
    return table(["", *(NAMES[name] for name in names)], lines)


def cell(row):
    if row is None or row["verdict"] == "skip":
        return "–"
    if not row["speedup"]:
        return "wrong" if row["verdict"] == "fail" else "not timed"
    return f"{ratio(row)[0]:.2f} {span(*ratio(row)[1:])}"


def cases(peers, best, names):
    """A table of the cases in which a peer is nearly as fast."""
    at = {(row["case"], library(row)): row for row in peers}

    def shown(row):
        return row is not None and bool(row["speedup"]) and ratio(row)[0] < NEAR
    lines = [[case_name(row), f"{float(row['ns']) / 1e3:.4g}" if row["ns"] else "–", *(cell(at.get((case, name))) for name in names)]
             for case, row in best.items() if any(shown(at.get((case, name))) for name in names)]
    return (f"{len(lines)} of {len(best)} cases: those in which a peer takes less than {NEAR} times our time, with\n"
            "[intervals](measuring.md#intervals):\n\n" + table(["", "ours, us", *(NAMES[name] for name in names)], lines))


def measured(path):
    rows = files.rows(path)
    peers = [row for row in rows if row["impl"].startswith("peer/") and library(row) in NAMES]
    if not peers:
        sys.exit(f"{path} has no peer: ./reproduce --peers")
    best = {row["case"]: row for row in rows if row not in peers and row["verdict"] != "skip"}
    timed = [row for row in peers if row["speedup"]]
    names = [name for name in NAMES if any(library(row) == name for row in peers)]
    return "\n\n".join([
        f"{versions(path)}.", behind(timed, best),
        "A cell has the geometric means of the peer's time over ours and of both ends of its intervals; below,\n"
        "the extremes and the number of cases. The table leaves out cases that a peer computes wrongly.",
        means(timed, names, size_class(path)),
        cases(peers, best, names), caption(path)])


def main():
    path = markers.parser(__doc__, results=markers.ROOT / "results" / "peers.csv").parse_args().results
    with files.needed(path):
        text = measured(path)
    markers.fill(PAGE, peers=text)


if __name__ == "__main__":
    main()
