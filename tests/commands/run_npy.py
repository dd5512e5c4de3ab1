"""Writes and compares arrays for tests/commands/run.sh: run_npy.py FUNCTION ARGUMENTS... SPDX-License-Identifier: MIT"""
import ast
import math
import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "shell"))
from npy import load, save, to


def write(path, descr, shape, *values):
    """Values repeat to fill the shape."""
    shape = ast.literal_eval(shape)
    save(path, descr, shape, [float(values[i % len(values)]) for i in range(math.prod(shape))])


def near(got, want, tolerance):
    same = [g == w or (g != g and w != w) or abs(g - w) <= tolerance for g, w in zip(got, want)]
    assert len(got) == len(want) and all(same), f"{got[:8]} is not {want[:8]}"


def expect(path, descr, shape, tolerance, *values):
    *kind, got = load(path)
    assert kind == [descr, ast.literal_eval(shape)], f"{path} holds {kind}, not {descr}, {shape}"
    near(got, [float(v) for v in values], float(tolerance))


def close(a, b, tolerance):
    a, b = load(a), load(b)
    assert a[:2] == b[:2], f"{a[:2]} is not {b[:2]}"
    near(a[2], b[2], float(tolerance))


def differ(a, b):
    assert load(a)[2] != load(b)[2], "the values are equal, but should differ"


def layernorm(path, rows, columns):
    """Writes random rows, and a file with their layernorm, rounded once."""
    random, x, y = Random(1), [], []
    for _ in range(int(rows)):
        row = [to("f", random.gauss(3, 1)) for _ in range(int(columns))]
        mean = math.fsum(row) / len(row)
        var = math.fsum((v - mean) ** 2 for v in row) / len(row)
        x += row
        y += [(v - mean) / math.sqrt(var + 2 ** -10) for v in row]
    for name, values in ((path, x), ("exact-" + path, y)):
        save(name, "<f4", (int(rows), int(columns)), values)


try:
    globals()[sys.argv[1]](*sys.argv[2:])
except AssertionError as e:
    sys.exit(str(e))
