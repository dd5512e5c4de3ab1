"""What do 16 bits cost, as storage and as arithmetic?"""
from math import inf, isfinite

import slide

SOURCE = "f16_error"
RUNGS = {"layernorm/two_pass": "float arithmetic", "half/layernorm_sum": "16-bit running sum", "half/layernorm_pairwise": "16-bit pairwise sum",
         "half/layernorm_compensated": "16-bit, Kahan's"}


def draw(page):
    rows = page.rows(op="layernorm", dtype="f16", data="normal")
    axes = page.axes(xlabel="values in a row", ylabel="largest error of y, units of f16 (2⁻¹¹)", right=3.1)
    ends = {}
    for stem, name in RUNGS.items():
        points = sorted((int(row["c"]), float(row["error_u"] or inf)) for row in rows if row["impl"].endswith(stem))
        points = [(x, y) for x, y in points if isfinite(y)]
        if points:
            page.line(axes, *zip(*points), name)
            ends[stem] = points[-1]
    if len(ends) < 2:
        raise slide.Missing(f"{SOURCE} lacks float and 16-bit arithmetic")
    slide.log_x(axes, sorted({int(row["c"]) for row in rows}))
    slide.log_y(axes, 0.3, 2 * max(y for _, y in ends.values()))
    page.names(axes)
    page.note("LayerNorm, forward, x and y in f16, normal data, against long double. One unit: rounding the result to f16.")
    (c, storage), (_, arithmetic) = ends["layernorm/two_pass"], ends.get("half/layernorm_sum", (0, 0))
    return f"Stored in f16: {storage:.1f} units at any width; summed in f16: {arithmetic:.0f} at {c} values"
