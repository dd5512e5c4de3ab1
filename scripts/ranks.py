#!/usr/bin/env python3
"""Fits results/ranks.csv, which mpi/network.sh measured, and writes the tables of docs/ranks.md. Fits every second
size, and predicts the times of the other sizes and of a rung. SPDX-License-Identifier: MIT"""
import statistics
import sys
from math import ceil, log2

import markers
from markers import ROOT

sys.path.insert(0, str(ROOT / "plots" / "slides"))
import common
import files
from ranks import BYTES, PAPER, fit

RESULTS, PAGE = ROOT / "results" / "ranks.csv", ROOT / "docs" / "ranks.md"
curves, facts = common.curves(files.rows(RESULTS)), files.machine(RESULTS)


def time(ns):
    return f"{ns / 1e3:.3g} µs" if ns < 999.5e3 else f"{ns / 1e6:.3g} ms"


rows, fits = [], {}
for name, (sizes, times) in curves["any"].items():
    latency, byte = fits[name] = fit(sizes[::2], times[::2])
    off = statistics.median(abs((latency + byte * size) / ns - 1) for size, ns in zip(sizes[1::2], times[1::2]))
    tree = statistics.median(b / a for a, b in zip(times, curves["tree"][name][1]))
    together, alone = (curves[how][name][1][-1] for how in ("together", "alone"))
    rows.append([name, time(latency), f"{1 / byte:.3g} GB/s", f"{100 * off:.0f} %", f"{tree:.2f}", time(alone + latency + byte * BYTES), time(together)])
paper = [[f"veth's latency + {delay / 1e3:g} µs, log2(ranks) exchanges of all bytes",
          *(time(ceil(log2(p)) * (fits["veth"][0] + delay + fits["veth"][1] * BYTES)) for p in (8, 64, 1024))]
         for delay in (0, *PAPER.values())]
tables = [markers.table(["two processes", "latency", "bandwidth", "off between, median", "tree over any", "batchnorm_merged, predicted", "measured"], rows),
          markers.table(["on paper", "8 ranks", "64", "1024"], paper), f"Measured on {facts['cpu']}, {facts['cpus']}, {facts['date'][:10]}."]
markers.fill(PAGE, ranks="\n\n".join(tables))
