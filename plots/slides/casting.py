"""Does it matter where a framework rounds? RMSNorm in a chain of 72 residual layers, bf16."""
import slide

SOURCE = "casting"
SERIES = {"last": "last: PyTorch, OLMo 2", "before weight": "before the weight:\nLlama, Qwen2",
          "last, sum rounded": "the sum rounded too:\nvLLM", "wrong: sum truncated": "wrong: the sum\ntruncated"}


def draw(page):
    panel = page.panel("bf16 rms error by layer", *SERIES)
    growth = page.panel("bf16 growth of the rms error", *SERIES)
    axes = page.axes(xlabel="layer", ylabel="rms error of y, roundings of bf16", right=3.2)
    for name, words in SERIES.items():
        page.line(axes, *panel[name], words)
    every = [y for name in SERIES for y in panel[name][1]]
    slide.log_x(axes, [1, 2, 4, 8, 16, 32, 72])
    slide.log_y(axes, min(every) / 1.5, max(every) * 1.5)
    page.names(axes)
    power = {name: growth[name][1][-1] for name in SERIES}
    right = [power[name] for name in SERIES if not name.startswith("wrong")]
    page.note("The same inputs and weights, bf16 storage, float arithmetic, against long double. From layer 8 on the error "
              f"grows as a power of the depth: {min(right):.2f} to {max(right):.2f} for the right orders, "
              f"{power['wrong: sum truncated']:.2f} for the truncated sum.")
    last = {name: panel[name][1][-1] for name in SERIES}
    return (f"All right orders of rounding have similar errors; a truncated sum has {last['wrong: sum truncated'] / last['last']:.1f} "
            f"times the error after {panel['last'][0][-1]:.0f} layers")
