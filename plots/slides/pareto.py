"""What does accuracy cost, when the mean lies 1024 sigma away?"""
from math import inf, isfinite

import slide

SOURCE = "pareto"
RUNGS = {"layernorm/naive": "naive", "layernorm/welford": "Welford", "layernorm/refined": "refined", "optimized/rows_simd": "simd",
         "optimized/rows_refined": "SIMD refined", "optimized/rows_pipelined": "pipelined", "layernorm/one_pass": "one pass"}
TOP = 2.0**24


def draw(page):
    rows = [row for row in page.rows(op="layernorm") if row["ns"]]
    by = {row["impl"]: row for row in rows}
    axes = page.axes(xlabel="nanoseconds for each value: left is faster", ylabel="largest error of y, units of 2⁻²⁴: lower is better", right=0.5)
    points = []
    for impl, name in RUNGS.items():
        if impl in by:
            error = float(by[impl]["error_u"] or inf)
            points.append((float(by[impl]["ns"]) / int(by[impl]["n"]) / int(by[impl]["c"]), min(error, TOP) if isfinite(error) else TOP, name))
    if len(points) < 3:
        raise slide.Missing(f"{SOURCE} lacks LayerNorm's rungs")
    axes.set_xscale("log")
    axes.set_xlim(min(x for x, _, _ in points) / 1.5, max(x for x, _, _ in points) * 4)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.xaxis.set_minor_formatter(lambda x, _: "")
    slide.log_y(axes, 1, TOP * 2, slide.power(2), 2)
    page.points(axes, [(*point, {"marker": marker, "color": page.colours[colour]})
                       for point, (colour, marker, _) in zip(points, slide.LOOKS)])
    page.note("LayerNorm, f32, 64 × 1024, one thread. At the top: NaN or infinite.")
    fast, exact = min(points), min(points, key=lambda p: p[1])
    if fast[2] == exact[2]:
        return f"Nothing: {fast[2]} is both the fastest and the most accurate, {fast[1]:.1f} units"
    if fast[1] < 1.2 * exact[1]:
        return f"Nothing: {fast[2]} is the fastest, and as accurate as {exact[2]}, {fast[1]:.1f} units"
    return f"{exact[2]} takes {exact[0] / fast[0]:.1f} times as long as {fast[2]}: {exact[1]:.1f} units instead of {fast[1]:.1f}"
