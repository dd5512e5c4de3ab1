"""How does the error grow when the mean moves away from zero?"""
from math import isfinite

import slide

SOURCE = "conditioning"
RUNGS = {"layernorm/one_pass": "one pass", "layernorm/two_pass": "two passes", "layernorm/welford": "Welford",
         "layernorm/refined": "refined", "optimized/rows_pipelined": "certified SIMD"}
TOP, AT = 2.0**24, 1024


def error(row):
    """The error, but at most TOP; TOP if it is not finite."""
    return min(float(row["error_u"] or TOP), TOP) if isfinite(float(row["error_u"] or TOP)) else TOP


def draw(page):
    rows = page.rows(op="layernorm", dtype="f32", c="1024")
    axes = page.axes(xlabel="mean of x, in standard deviations", ylabel="largest error of y, units of 2⁻²⁴", right=2.9)
    found = page.rungs(axes, rows, RUNGS, lambda row: (float(row["data"].split(":")[1]), error(row)))
    at = {name: points.get(AT, points[max(points)]) for name, points in found.items()}
    axes.set_xscale("log", base=2)
    slide.log_y(axes, 1, TOP * 1.5, slide.power(2), 2)
    axes.xaxis.set_major_formatter(lambda x, _: slide.power(2)(x))
    page.names(axes)
    page.note("LayerNorm, f32, rows of 1024, against long double. At the top: NaN, infinite, or off by more than 2²⁴ units.")
    least, most = min(at, key=at.get), max(at, key=at.get)
    off = f"is off by {at[most]:,.0f} units" if at[most] < TOP else "gives NaN"
    return f"At a mean of {AT} σ {most} {off}, {least} is off by {at[least]:.1f}"
