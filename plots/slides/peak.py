"""How many multiply-adds can this machine make, when nothing is loaded or stored?"""
SOURCE = "peak"
NAMES = {"c": "plain C", "sse2": "SSE2", "avx2": "AVX2", "avx512": "AVX-512", "neon": "NEON"}


def draw(page):
    panel = page.panel("one thread")
    axes = page.axes(xlabel="chains, in each of which a multiply-add waits for the last", ylabel="Gflop/s, one thread", right=1.8)
    for isa, (xs, ys) in panel.items():
        page.line(axes, xs, ys, NAMES.get(isa, isa))
    axes.set_xticks(xs)
    axes.set_ylim(0, 1.08 * max(max(ys) for _, ys in panel.values()))
    page.names(axes)
    page.note("Vectors in registers; a multiply-add counts as two flops. One chain shows the latency, many the throughput.")
    isa, (xs, ys) = max(panel.items(), key=lambda item: max(item[1][1]))
    return f"{NAMES.get(isa, isa)} makes {max(ys):.0f} Gflop/s, but {ys[0]:.0f} in one chain: {max(ys) / ys[0]:.0f} times less"
