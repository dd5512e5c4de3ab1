"""What do long rows cost in accuracy, when a few values are most of the sum?"""
from math import inf, isfinite

import slide

SOURCE = "long_rows"
BEST = ("pipelined", "certified", "streaming", "threaded")  # nl_best()'s choices, by the length of the row
RUNGS = {"layernorm/refined": "one accumulator"} | {f"optimized/rows_{rung}": "sums in blocks" for rung in BEST}


def draw(page):
    rows = page.rows(op="layernorm", dtype="f32")
    axes = page.axes(xlabel="values in a row", ylabel="largest error of y, units of 2⁻²⁴", right=2.9)
    found = page.rungs(axes, rows, RUNGS, lambda row: (int(row["c"]), y) if isfinite(y := float(row["error_u"] or inf)) else None)
    one, blocks = found["one accumulator"], found["sums in blocks"]
    c = max(one.keys() & blocks.keys())
    slide.log_x(axes, sorted({int(row["c"]) for row in rows}), 6, lambda x: f"{x:,.0f}")
    slide.log_y(axes, 1, 3 * max(one.values()), slide.power(10))
    page.names(axes)
    page.note("LayerNorm, f32, forward; the worst of ten kinds of data, from normal to decaying and alternating.")
    return f"At {c:,} values one accumulator is off by {one[c]:,.0f} units, sums in blocks by {blocks[c]:.1f}"
