"""How much of a model's step is norm?"""
import slide

SOURCE = "model_step"
PANEL = "share of LayerNorm, %"


def draw(page):
    panels = page.curves()
    panel, low, high = (panels.get(f"{PANEL}{end}", {}) for end in ("", ", low", ", high"))
    if page.quick or not panel:
        raise slide.Missing(f"{SOURCE} needs all of its steps: --quick times too few" if page.quick else f"{SOURCE} lacks {PANEL}")
    bars = []
    for name, (xs, ys) in panel.items():
        model, _, passes = name.partition(", ")
        y, a, b = ys[-1], low[name][1][-1], high[name][1][-1]
        bars.append((f"{model.removesuffix(' block')}, {passes}".replace("forward and backward", "training"), y, a, b,
                     f"{y:.2g} %, {xs[-1]:.0f} rows", "amber" if "backward" in name else "blue"))
    axes = page.axes(left=3.3, right=0.6, xlabel="LayerNorm's share of the step, %")
    page.bars(axes, bars)
    axes.set_xlim(0, 1.4 * max(bar[3] for bar in bars))
    page.note("f32, one thread, matrix products by OpenBLAS, norms by nl_best(). Strokes: intervals.")
    shares = sorted(bar[1] for bar in bars)
    return f"LayerNorm is {shares[0]:.2g} to {shares[-1]:.2g} % of a step, and RMSNorm can save no more than that"
