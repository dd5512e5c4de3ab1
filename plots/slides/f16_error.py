"""What do 16 bits cost, as storage and as arithmetic?"""
from math import inf, isfinite

import slide

SOURCE = "f16_error"
RUNGS = {"layernorm/two_pass": "float arithmetic", "half/layernorm_sum": "16-bit running sum", "half/layernorm_pairwise": "16-bit pairwise sum",
         "half/layernorm_compensated": "16-bit, Kahan's"}


def draw(page):
    rows = page.rows(op="layernorm", dtype="f16", data="normal")
    axes = page.axes(xlabel="values in a row", ylabel="largest error of y, units of f16 (2⁻¹¹)", right=3.1)
    found = page.rungs(axes, rows, RUNGS, lambda row: (int(row["c"]), y) if isfinite(y := float(row["error_u"] or inf)) else None)
    ends = {name: max(points.items()) for name, points in found.items()}
    slide.log_x(axes, sorted({int(row["c"]) for row in rows}))
    slide.log_y(axes, 0.3, 2 * max(y for _, y in ends.values()))
    page.names(axes)
    page.note("LayerNorm, forward, x and y in f16, normal data, against long double. One unit: rounding the result to f16.")
    (c, storage), (_, arithmetic) = ends["float arithmetic"], ends.get("16-bit running sum", (0, 0))
    return f"Stored in f16: {storage:.1f} units at any width; summed in f16: {arithmetic:.0f} at {c} values"
