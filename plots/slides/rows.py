"""What does one row cost, and from how many on does a layer run at its full rate?"""
import slide

SOURCE = "rows"
RUNGS = {"layernorm/naive": "naive", "layernorm/one_pass": "one pass, plain C", "optimized/rows_simd": "simd, two passes",
         "optimized/rows_pipelined": "pipelined"}


def draw(page):
    rows = page.rows(op="layernorm", dtype="f32", c="1024")
    axes = page.axes(xlabel="rows of 1024", ylabel="ns for each row", right=2.9)
    found = page.rungs(axes, rows, RUNGS, lambda row: (int(row["n"]), float(row["ns"]) / int(row["n"])) if row["ns"] else None)
    (*_, name), (*_, best) = found, found.values()
    slide.log_x(axes, sorted(best))
    ys = [y for points in found.values() for y in points.values()]
    slide.log_y(axes, min(ys) / 2, max(ys) * 2, lambda y: f"{y:,.0f}")
    page.names(axes)
    page.note("LayerNorm, f32, forward, one thread. A language model normalizes one row for each token that it writes.")
    one, least = best[min(best)], min(best, key=best.get)
    return f"{name.capitalize()}, one row takes {one:.0f} ns, {one / best[least]:.1f} times as long as each of {least} rows"
