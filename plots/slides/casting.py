"""Does it matter where a framework rounds? RMSNorm in a chain of 32 residual layers, bf16."""
SOURCE = "casting"
SERIES = {"before weight": "before the weight:\nLlama, Qwen2", "last, sum rounded": "the sum rounded too:\nvLLM",
          "last, 1 + w": "last, 1 + w:\nGemma"}


def draw(page):
    panel = page.panel("bf16 share that differs by layer", *SERIES)
    axes = page.axes(xlabel="layer", ylabel="values that differ from rounding last (PyTorch, OLMo 2), %", right=3.2)
    for name, words in SERIES.items():
        xs, ys = panel[name]
        page.line(axes, xs, [100 * y for y in ys], words)
    axes.set_ylim(0, 100)
    page.names(axes)
    page.note("The same inputs and weights, bf16 storage, float arithmetic.")
    xs, ys = panel["before weight"]
    return f"Rounding before the weight changes {100 * ys[0]:.0f} % of one layer's values and {100 * ys[-1]:.0f} % after {xs[-1]:.0f}"
