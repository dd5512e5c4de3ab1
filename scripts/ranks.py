#!/usr/bin/env python3
"""Fits results/ranks.csv, which mpi/network.sh measured, and writes the tables of docs/ranks.md: every other size is fitted,
and the sizes between and a rung are predicted. SPDX-License-Identifier: MIT"""
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
curves, facts, old = common.curves(files.rows(RESULTS)), files.machine(RESULTS), PAGE.read_text()


def us(ns):
    return f"{ns / 1e3:.3g} µs"


rows, fits = [], {}
for name, (sizes, times) in curves["any"].items():
    latency, byte = fits[name] = fit(sizes[::2], times[::2])
    off = statistics.median(abs((latency + byte * size) / time - 1) for size, time in zip(sizes[1::2], times[1::2]))
    tree = statistics.median(b / a for a, b in zip(times, curves["tree"][name][1]))
    together, alone = (curves[how][name][1][-1] for how in ("together", "alone"))
    rows.append([name, us(latency), f"{1 / byte:.3g} GB/s", f"{100 * off:.0f} %", f"{tree:.2f}", us(alone + latency + byte * BYTES), us(together)])
paper = [[name, *(us(ceil(log2(p)) * (fits["veth"][0] + PAPER.get(name, 0) + fits["veth"][1] * BYTES)) for p in (8, 64, 1024))]
         for name in ("veth", *PAPER)]
tables = [markers.table(["two processes", "latency", "bandwidth", "off between, median", "tree over any", "batchnorm_merged, predicted", "measured"], rows),
          markers.table(["on paper", "8 ranks", "64", "1024"], paper), f"Measured on {facts['cpu']}, {facts['cpus']}, {facts['date'][:10]}."]
markers.save(PAGE, old, markers.replace(PAGE, old, "ranks", "\n\n".join(tables)))
