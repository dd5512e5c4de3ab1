"""How does the best of ours compare with other libraries? Every case of every layer and pass as a
point: the peer's time over ours, from ratios within the same rounds, with its interval.
"""
from itertools import product
from statistics import geometric_mean
from textwrap import fill

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

import common
import rungs
import speed

MAKE = "normlab bench experiments/peers.txt --impl 'best,peer/*' --out results/peers.csv"
NEEDS = ("case impl isa threads op pass dtype n c s options verdict gbps bytes speedup speedup_low speedup_high "
         "comparison flag")
QUESTION = "How does the best of ours compare with other libraries, from the first-level cache to memory?"
LOOKS = [("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "v")]
PASSES = ("forward", "inference", "backward")


def library(row):
    """peer/onednn_rmsnorm -> onednn"""
    return row["impl"].split("/")[1].split("_")[0]


def versions(path):
    """onednn -> oneDNN 3.12.1, from NAME.machine.txt."""
    found = {}
    try:
        for line in path.with_suffix(".machine.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith("peer "):
                name, _, about = line[5:].partition(": ")
                found[name.split("_")[0]] = about.split(",")[0]
    except OSError:
        pass
    return found


def rate(row):
    return f"{float(row['gbps']):.3g}{rungs.mark(row)}" if row and row["gbps"] else "–"


def typical(name, rows):
    """Geometric mean of the peer's time over ours."""
    ratios = [1 / float(row["speedup"]) for row in rows if library(row) == name]
    return f": {geometric_mean(ratios):.2f}" if ratios else ""


def is_ours(row):
    return row["comparison"] == "baseline" and not row["impl"].startswith("peer/")


def size(row):
    """64×1024, 516 KiB; on two threads, 64×1024 2T, 516 KiB"""
    shape = "×".join(row[key] for key in ("n", "c", "s") if key != "s" or row["s"] != "1")
    options = f" {row['options']}".replace("threads=", "") + "T" * row["options"].startswith("threads=")
    return f"{shape}{options.rstrip()}, {speed.human(float(row['bytes']))}"


def draw(axes, cases, looks):
    """One layer: its passes and types below each other, each with its cases by size."""
    low, high = axes.get_xlim()
    y, labels = 0, []
    for name, dtype in product(PASSES, common.UNIT):
        mine = [case for case in cases if (case[0]["pass"], case[0]["dtype"]) == (name, dtype)]
        if not mine:
            continue
        axes.text(-0.02, y, f"{name}, {dtype}", transform=axes.get_yaxis_transform(), ha="right", va="center", weight="bold")
        for rows in sorted(mine, key=lambda rows: float(rows[0]["bytes"])):
            y -= 1
            ours = next(filter(is_ours, rows), None)
            labels.append((y, size(rows[0])))
            peers = [row for row in rows if row["impl"].startswith("peer/")]
            rates = " | ".join(map(rate, [ours, *peers] if len(looks) == 1 else [ours]))
            axes.axhline(y, color="#F0F0F0", linewidth=0.8, zorder=0)
            for i, row in enumerate(peers):
                colour, marker = looks[library(row)]
                at = y + 0.22 * ((len(peers) - 1) / 2 - i)
                if row["verdict"] == "fail":
                    axes.plot(1, at, **common.FAILED | {"markersize": 10, "zorder": 4})
                if not row["speedup"] or not ours:
                    continue
                ends = [1 / float(row[key]) if row[key] else edge
                        for key, edge in (("speedup_high", low), ("speedup_low", high))]
                decided = row["comparison"] in ("FASTER", "SLOWER")
                axes.plot(ends, [at, at], color=colour, linewidth=3, alpha=0.5, zorder=2)
                axes.plot(1 / float(row["speedup"]), at, marker=marker, color=colour, markersize=7, zorder=4,
                          markerfacecolor=colour if decided else "white", markeredgewidth=1.6)
            axes.text(1.02, y, rates, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
        y -= 1.3
    axes.set(yticks=[at for at, _ in labels], yticklabels=[text for _, text in labels], ylim=(y + 0.5, 0.8))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.axvline(1, color="black", linewidth=1.2, zorder=1)


path, out = common.arguments(__file__, MAKE)
lines = common.read(path, NEEDS, MAKE)
groups = {}
for line in lines:
    if line["verdict"] != "skip":
        groups.setdefault(line["case"], []).append(line)
names = list(dict.fromkeys(library(line) for line in lines if line["impl"].startswith("peer/")))
shown = versions(path)
looks = {name: LOOKS[i % len(LOOKS)] for i, name in enumerate(names)}
if not names:
    common.not_drawn(out, "This build of normlab knows no other library, so only ours was timed: docs/peers.md says where "
                          "to get one.")

layers = [op for op in common.LAYERS if any(rows[0]["op"] == op for rows in groups.values())]
ratios = [1 / float(line[key]) for line in lines for key in ("speedup", "speedup_low", "speedup_high")
          if line["impl"].startswith("peer/") and line[key]] or [1]
most = max(sum(rows[0]["op"] == op for rows in groups.values()) for op in layers)
figure, grid = plt.subplots(1, len(layers), squeeze=False, figsize=(common.WIDE, max(7.5, 0.21 * most + 3.4)))
figure.subplots_adjust(left=0.115, right=0.937, top=1 - 1.69 / figure.get_figheight(), bottom=0.115, wspace=1.16)
for op, axes in zip(layers, grid[0]):
    speed.log_axis(axes.xaxis, min(ratios + [0.5]) / 1.25, max(ratios + [2]) * 1.25)
    draw(axes, [rows for rows in groups.values() if rows[0]["op"] == op], looks)
    axes.set_title(common.LAYERS[op], pad=21)
    axes.text(0, 1.012, "peer is faster", transform=axes.transAxes, ha="left", va="bottom", fontsize=9)
    axes.text(1, 1.012, "ours is faster", transform=axes.transAxes, ha="right", va="bottom", fontsize=9)
    axes.text(1.02, 1.012, "ours | peer\nGB/s" if len(names) == 1 else "ours\nGB/s", transform=axes.transAxes,
              ha="left", va="bottom", fontsize=9)
    axes.set_xlabel("peer's time / our time")
ours = ", ".join(dict.fromkeys(line["impl"].split("/")[-1] for line in lines if is_ours(line)))
against = [line for line in lines if line["impl"].startswith("peer/") and line["speedup"]]
faster, slower = (sum(line["comparison"] == word for line in against) for word in ("SLOWER", "FASTER"))
threads = speed.span([{"threads": float(line["threads"])} for line in lines], "threads")
speed.heading(figure, QUESTION, fill(
    f"Ours is faster in {faster} of {len(against)} comparisons, slower in {slower}; the rest is the same or not "
    f"resolved. {threads} threads (T), normal data; bytes are those that any implementation must move "
    f"(caches: {speed.cache_sizes(path)}). Ours: {ours}. Beside a library: the geometric mean of its ratios.", 165))
handles = [Line2D([], [], color=looks[name][0], marker=looks[name][1], linestyle="none", markersize=7,
                  label=shown.get(name, name) + typical(name, against)) for name in names]
handles += [Line2D([], [], color="black", marker="o", markerfacecolor="white", linestyle="none", markersize=7,
                   label="hollow: the same, or not resolved"),
            Line2D([], [], color="black", alpha=0.5, linewidth=3, label="interval of the ratio")]
if any(line["flag"] for line in lines):
    handles.append(Line2D([], [], linestyle="none", label="‡ IMPOSSIBLE: beyond the limit"))
if any(line["verdict"] == "fail" for line in lines):
    handles.append(Line2D([], [], label="FAIL: wrong, so not timed", **common.FAILED | {"markersize": 10}))
figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.004, 0.014), ncols=len(handles) if len(handles) < 7 else 4,
              columnspacing=1.2)
common.save(figure, out, common.machine(path, lines))
