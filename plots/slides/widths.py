"""How near does each rung come to the machine's limit, from the first cache to memory?"""
import slide
import speed

SOURCE = "widths"
RUNGS = {"optimized/rows_pipelined": "pipelined", "optimized/rows_streaming": "streaming", "optimized/rows_simd": "simd, two passes",
         "layernorm/one_pass": "one pass, plain C", "layernorm/naive": "naive, plain C"}


def draw(page):
    rows = page.rows(op="layernorm", dtype="f32", data="normal")
    axes = page.axes(xlabel="x and y together", ylabel="% of the limit", right=3)
    best = {}
    for impl, name in RUNGS.items():
        points = sorted((int(row["bytes"]), float(row["limit_pct"])) for row in rows if row["impl"] == impl and row["limit_pct"])
        if points:
            page.line(axes, *zip(*points), name)
            for size, share in points:
                best[size] = max(best.get(size, 0), share)
    if len(best) < 2:
        raise slide.Missing(f"{SOURCE} lacks LayerNorm's rungs")
    slide.log_x(axes, sorted(best), 6, speed.human)
    axes.set_ylim(0, max(105, 1.05 * max(best.values())))
    axes.axhline(100, color=page.muted, linewidth=2)
    page.names(axes)
    page.note("LayerNorm, f32, forward, 64 rows, one thread. The limit: copying the same buffers in the same rounds.")
    size = max(best)
    return f"At {speed.human(size)}, from {speed.home(page.path(SOURCE), size)}, the best rung moves {best[size]:.0f} % of what copying does"
