"""How near does each rung come to the machine's limit, from the first cache to memory?"""
import slide
import speed

SOURCE = "widths"
RUNGS = {"optimized/rows_pipelined": "pipelined", "optimized/rows_streaming": "streaming", "optimized/rows_simd": "simd, two passes",
         "layernorm/one_pass": "one pass, plain C", "layernorm/naive": "naive, plain C"}


def draw(page):
    rows = page.rows(op="layernorm", dtype="f32", data="normal")
    axes = page.axes(xlabel="x and y together", ylabel="% of the limit", right=3)
    found = page.rungs(axes, rows, RUNGS, lambda row: (int(row["bytes"]), float(row["limit_pct"])) if row["limit_pct"] else None)
    best = {size: max(points.get(size, 0) for points in found.values()) for points in found.values() for size in points}
    slide.log_x(axes, sorted(best), 6, speed.human)
    axes.set_ylim(0, max(105, 1.05 * max(best.values())))
    axes.axhline(100, color=page.muted, linewidth=2)
    page.names(axes)
    page.note("LayerNorm, f32, forward, 64 rows, one thread. The limit: copying the same buffers in the same rounds.")
    size = max(best)
    return f"At {speed.human(size)}, from {speed.home(page.path(SOURCE), size)}, the best rung moves {best[size]:.0f} % of what copying does"
