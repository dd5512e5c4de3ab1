"""What does it come to? LayerNorm of 64 × 1024 floats, forward, one thread."""
import common
import rungs
import slide

SOURCE = "ladder"
CASE = "layernorm/forward/f32/64x1024/normal"


def draw(page):
    rows = [row for row in common.on_widest(page.read()) if row["case"] == CASE and row["verdict"] == "ok" and row["ns"]]
    naive = next((row for row in rows if row["impl"] == "layernorm/naive"), None)
    if not naive:
        raise slide.Missing(f"{SOURCE} lacks {CASE}")
    best = slide.fastest(rows)
    ratio = float(naive["ns"]) / float(best["ns"])
    share, units = float(best["limit_pct"]), float(best["error_u"])
    low, high = (float(best[end] or ratio) for end in ("speedup_low", "speedup_high"))
    if best["baseline"] != naive["impl"]:
        low = high = ratio
    for i, (number, words, below) in enumerate((
            (f"{ratio:.1f}×", "naive", f"[{low:.1f}, {high:.1f}] times as fast\nas the formula in plain C"),
            (f"{share:.0f} %", "of the limit", f"copying the same buffers\nreaches {float(best['limit_gbps']):.0f} GB/s"),
            (f"{units:.1f}", "units of error", f"the largest of 65536 values;\nallowed are {float(best['bound_u']):.0f} units"))):
        x = (0.02 + i * 0.325 + 0.15) * slide.WIDE
        page.figure.text(x / slide.WIDE, 0.55, number, fontsize=80, weight="bold", ha="center", va="center",
                         color=page.colours[("blue", "red", "ink")[i]])
        page.figure.text(x / slide.WIDE, 0.395, words, fontsize=28, ha="center", va="center", color=page.ink)
        page.figure.text(x / slide.WIDE, 0.275, below, fontsize=slide.TEXT, ha="center", va="center", color=page.muted)
    page.note("Verified against long double before and after timing. A unit is 2⁻²⁴ of the size of the terms that make up y.")
    return f"LayerNorm: {ratio:.1f}× naive, {share:.0f} % of the limit, {units:.1f} units of error"
