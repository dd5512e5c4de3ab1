"""Does it matter where a framework rounds? RMSNorm in a chain of 32 residual layers, bf16."""
import slide

SOURCE = "casting"
PANEL = "bf16 share that differs by layer"
SERIES = {"before weight": "before the weight:\nLlama, Qwen2", "last, sum rounded": "the sum rounded too:\nvLLM",
          "last, 1 + w": "last, 1 + w:\nGemma"}


def draw(page):
    panel = page.curves().get(PANEL, {})
    shown = [name for name in SERIES if name in panel]
    if not shown:
        raise slide.Missing(f"{SOURCE} lacks {PANEL}")
    axes = page.axes(xlabel="layer", ylabel="values that differ from rounding last (PyTorch, OLMo 2), %", right=3.2)
    for name in shown:
        xs, ys = panel[name]
        page.line(axes, xs, [100 * y for y in ys], SERIES[name])
    axes.set_ylim(0, 100)
    page.names(axes)
    page.note("The same inputs and weights, bf16 storage, float arithmetic.")
    xs, ys = panel[shown[0]]
    return f"Rounding before the weight changes {100 * ys[0]:.0f} % of one layer's values and {100 * ys[-1]:.0f} % after {xs[-1]:.0f}"
