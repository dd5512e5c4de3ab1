"""What do norms do to gradients over 64 random layers without a residual?"""
import slide

SOURCE = "depth"
PANEL = "plain gradients"
NAMES = "BatchNorm", "LayerNorm", "RMSNorm", "no norm", "no norm, W * 1.1", "no norm, W * 0.9"


def draw(page):
    panel = page.curves().get(PANEL, {})
    names = [name for name in NAMES if name in panel]
    if len(names) < 3:
        raise slide.Missing(f"{SOURCE} lacks {PANEL}")
    axes = page.axes(xlabel="layer: 64 is nearest to the loss", ylabel="rms of the gradient, 1 at the loss", right=3)
    for name in names:
        xs, ys = panel[name]
        page.line(axes, [64 - x for x in reversed(xs)], ys[::-1], name.replace("* ", "× "))
    axes.set_xticks(range(0, 65, 16), [64 - x for x in range(0, 65, 16)])
    every = [y for name in names for y in panel[name][1] if y > 0]
    slide.log_y(axes, min(every) / 2, max(every) * 2, slide.power(10))
    page.names(axes)
    page.note("f32, ReLU after each product with random weights, backwards from the loss.")
    first = {name: panel[name][1][0] for name in names}
    return (f"64 layers back BatchNorm's gradient has grown {first['BatchNorm']:,.0f} times, LayerNorm's is "
            f"{first['LayerNorm']:.1f} and RMSNorm's {first['RMSNorm']:.1f}")
