"""The rungs in the order of docs/forward.md and docs/optimized.md. Rungs that are not in the list come last. Standard
library only, because scripts/ use it too."""

ORDER = """
unfused
naive
rmsnorm/one_pass
two_pass
scaled
one_pass
welford
refined
inference
backward
backward_hoisted
backward_recompute
optimized/simd
optimized/accumulators
optimized/tiles
optimized/blocks
optimized/refined
optimized/shifted
optimized/certified
optimized/pipelined
optimized/prefetch
optimized/reverse
optimized/streaming
optimized/registers
optimized/kept
optimized/kept_streaming
optimized/kept_prefetch
optimized/threaded
optimized/inference
""".split()

LAYERS = {"layernorm": "LayerNorm", "rmsnorm": "RMSNorm", "qwen2_rmsnorm": "Qwen2RMSNorm", "gated_rmsnorm": "gated RMSNorm",
          "gate_first_rmsnorm": "gated RMSNorm, gate first", "batchnorm": "BatchNorm"}
IMPOSSIBLE = "‡ IMPOSSIBLE: faster than the limit by more than the noise; one of the two numbers is wrong"


def mark(row):
    """The mark beside the number of a row that is flagged as IMPOSSIBLE."""
    return IMPOSSIBLE[0] * bool(row["flag"])


def short(impl):
    """optimized/rows_simd, optimized/rows_backward_simd -> simd, layernorm/naive -> naive"""
    stem = impl.rpartition("/")[2].strip("()")
    return (stem.partition("_")[2] or stem).removeprefix("backward_") if is_optimized(impl) else stem


def is_optimized(impl):
    return impl.startswith("optimized/")


def line(impl):
    """The name in ORDER that stands for the rung; the rung's own name if ORDER has no such name."""
    alike = f"optimized/{short(impl)}" if is_optimized(impl) else short(impl)
    return next((name for name in (impl, alike) if name in ORDER), impl)


def name(impl):
    """The rung's name in figures: short, with "SIMD" if a rung in plain C has the same name."""
    return "SIMD " * (is_optimized(impl) and short(impl) in ORDER) + short(impl)


def place(impl):
    """The rung's place in the order of docs/forward.md and docs/optimized.md."""
    return ORDER.index(line(impl)) if line(impl) in ORDER else len(ORDER)
