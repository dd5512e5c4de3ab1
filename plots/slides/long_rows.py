"""What do long rows cost in accuracy, when a few values are most of the sum?"""
from math import inf, isfinite

import slide

SOURCE = "long_rows"
RUNGS = {"layernorm/refined": "one accumulator", "optimized/rows_pipelined": "sums in blocks"}


def draw(page):
    rows = page.rows(op="layernorm", dtype="f32")
    axes = page.axes(xlabel="values in a row", ylabel="largest error of y, units of 2⁻²⁴", right=2.9)
    found = page.rungs(axes, rows, RUNGS, lambda row: (int(row["c"]), y) if isfinite(y := float(row["error_u"] or inf)) else None)
    ends = {name: max(points.items()) for name, points in found.items()}
    slide.log_x(axes, sorted({int(row["c"]) for row in rows}), 6, lambda x: f"{x:,.0f}")
    slide.log_y(axes, 1, 3 * max(y for _, y in ends.values()), slide.power(10))
    page.names(axes)
    page.note("LayerNorm, f32, forward; the worst of ten kinds of data, from normal to decaying and alternating.")
    (c, one), (_, blocks) = ends["one accumulator"], ends["sums in blocks"]
    return f"At {c:,} values one accumulator is off by {one:,.0f} units, sums in blocks by {blocks:.1f}"
