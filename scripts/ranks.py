#!/usr/bin/env python3
"""Fits what mpi/network.sh measured, results/ranks.csv, and writes the tables of docs/ranks.md: the fit on every other size
against the sizes between, a rung against its prediction, and more ranks on paper. SPDX-License-Identifier: MIT"""
import statistics
import sys
from math import ceil, log2
from pathlib import Path

import markers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plots" / "slides"))
import common
import files
from ranks import BYTES, PAPER, fit

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = ROOT / "results" / "ranks.csv", ROOT / "docs" / "ranks.md"


def us(ns):
    return f"{ns / 1e3:.3g} µs"


def main():
    curves = common.curves(files.rows(RESULTS))
    rows, fits = [], {}
    for name, (sizes, times) in curves["allreduce any"].items():
        latency, byte = fits[name] = fit(sizes[::2], times[::2])
        off = statistics.median(abs((latency + byte * size) / time - 1) for size, time in zip(sizes[1::2], times[1::2]))
        tree = statistics.median(b / a for a, b in zip(times, curves["allreduce tree"][name][1]))
        measured, alone = (curves[f"batchnorm_merged {how}"][name][1][-1] for how in ("any", "alone"))
        rows.append([name, us(latency), f"{1 / byte:.3g} GB/s", f"{100 * off:.0f} %", f"{tree:.2f}", us(alone + latency + byte * BYTES), us(measured)])
    table = markers.table(["between two processes", "latency", "bandwidth", "off between, median", "tree over any", "batchnorm_merged, predicted", "measured"], rows)
    paper = []
    for name in ["veth", *PAPER]:
        latency, byte = fits["veth"] + [PAPER.get(name, 0), 0]
        paper.append([name, *(us(ceil(log2(p)) * (latency + byte * BYTES)) for p in (8, 64, 1024))])
    table += "\n\n" + markers.table(["one allreduce of 256 channels, on paper", "8 ranks", "64", "1024"], paper)
    facts = files.machine(RESULTS)
    table += f"\n\nMeasured on {facts['cpu']}, {facts['cpus']}, {facts['date'][:10]}; the order is `any`."
    old = PAGE.read_text()
    markers.save(PAGE, old, markers.replace(PAGE, old, "ranks", table))


main()
