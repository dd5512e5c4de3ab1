"""What does each idea buy? LayerNorm of 64 × 1024 floats, forward, one thread."""
import common
import rungs
import slide

SOURCE = "ladder"
CASE = "layernorm/forward/f32/64x1024/normal"
WORDS = {  # the idea in five words
    "layernorm/naive": "the formula, in three readings",
    "layernorm/two_pass": "mean first, then squared deviations",
    "layernorm/one_pass": "both sums in one reading",
    "layernorm/welford": "running mean, a division each",
    "layernorm/refined": "a third pass for accuracy",
    "optimized/rows_simd": "{} values in one instruction",
    "optimized/rows_accumulators": "four sums hide the latency",
    "optimized/rows_shifted": "one reading, shifted sums",
    "optimized/rows_certified": "one reading with a certificate",
    "optimized/rows_pipelined": "sums the next row meanwhile",
    "optimized/rows_registers": "short rows stay in registers",
    "optimized/rows_streaming": "stores that bypass the caches",
}
LANES = {"avx512": "sixteen", "avx2": "eight", "sse2": "four", "neon": "four", "c": "single"}
ISAS = {"avx512": "AVX-512", "avx2": "AVX2", "sse2": "SSE2", "neon": "NEON", "c": "vector words in plain C"}
SHOWN = 6  # rungs besides the best


def draw(page):
    rows = [row for row in common.on_widest(page.read())
            if row["case"] == CASE and row["verdict"] == "ok" and row["ns"] and not row["flag"]]
    by = {row["impl"]: row for row in rows}
    if "layernorm/naive" not in by or len(by) < 3:
        raise slide.Missing(f"{SOURCE} lacks {CASE}")
    best = slide.fastest(rows)
    known = [impl for impl in WORDS if impl in by and by[impl] is not best]
    keep = [impl for impl in ("layernorm/naive", "layernorm/one_pass", "optimized/rows_simd", "optimized/rows_shifted",
                              "optimized/rows_accumulators", "layernorm/two_pass", *known) if impl in known]
    chosen = sorted(dict.fromkeys(keep[:SHOWN]), key=lambda impl: -float(by[impl]["ns"])) + [best["impl"]]
    naive, bars = float(by["layernorm/naive"]["ns"]), []
    # the speed-up within rounds, as in the tables
    faster = lambda row: float(row["speedup"] if "naive" in row["baseline"] and row["speedup"] else naive / float(row["ns"]))
    for impl in chosen:
        row = by[impl]
        rate = float(row["gbps"])
        low, high = (float(row["bytes"]) / float(row[end] or row["ns"]) for end in ("ns_high", "ns_low"))
        colour = "red" if row is best else "blue" if rungs.is_optimized(impl) else "amber"
        words = WORDS.get(impl, "").format(LANES.get(row["isa"], "many"))
        bars.append((f"{rungs.name(impl)}", rate, low, high,
                     slide.times(faster(row)) + f"  {words}" * bool(words), colour))
    limit = float(best["limit_gbps"])
    axes = page.axes(left=2.3, right=0.6, xlabel="GB/s: each input and output counted once")
    page.bars(axes, bars, max(limit, *(bar[3] for bar in bars)))
    axes.axvline(limit, color=page.muted, linewidth=4, zorder=1)
    axes.text(limit, -0.62, f"the limit, {limit:.0f} GB/s", fontsize=slide.TEXT, color=page.muted, ha="center", va="bottom")
    plain = sum(not rungs.is_optimized(impl) for impl in chosen)
    page.note(f"The upper {plain}: plain C, the others {ISAS.get(best['isa'], best['isa'])}. Strokes: 95 % intervals. ×: speed-up over naive. "
              "Limit: copying the same buffers.")
    return (f"From naive to {rungs.name(best['impl'])}: {faster(best):.1f} times as fast, "
            f"{float(best['limit_pct']):.0f} % of the machine's limit")
