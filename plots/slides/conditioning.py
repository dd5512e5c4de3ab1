"""How does the error grow when the mean moves away from zero?"""
from math import inf, isfinite

import slide

SOURCE = "conditioning"
RUNGS = {"layernorm/one_pass": "one pass", "layernorm/two_pass": "two passes", "layernorm/welford": "Welford",
         "layernorm/refined": "refined", "optimized/rows_pipelined": "certified SIMD"}
TOP, AT = 2.0**24, 1024


def draw(page):
    rows = page.rows(op="layernorm", dtype="f32", c="1024")
    axes = page.axes(xlabel="mean of x, in standard deviations", ylabel="largest error of y, units of 2⁻²⁴", right=2.9)
    at = {}
    for impl, name in RUNGS.items():
        errors = {float(row["data"].split(":")[1]): float(row["error_u"] or inf) for row in rows if row["impl"] == impl}
        points = sorted((x, y if isfinite(y) and y < TOP else TOP) for x, y in errors.items())
        if points:
            page.line(axes, *zip(*points), name)
            at[name] = errors.get(AT, points[-1][1])
    if len(at) < 2:
        raise slide.Missing(f"{SOURCE} lacks the rungs of LayerNorm")
    axes.set_xscale("log", base=2)
    slide.log_y(axes, 1, TOP * 1.5, slide.power(2), 2)
    axes.xaxis.set_major_formatter(lambda x, _: slide.power(2)(x))
    page.names(axes)
    page.note("LayerNorm, f32, rows of 1024, against long double. At the top: NaN, infinite, or off by more than 2²⁴ units.")
    least, most = min(at, key=at.get), max(at, key=at.get)
    off = f"is off by {at[most]:,.0f} units" if isfinite(at[most]) else "gives NaN"
    return f"At a mean of {AT} σ {most} {off}, {least} is off by {at[least]:.1f}"
