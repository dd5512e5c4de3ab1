"""What do norms do to gradients over 64 random layers without a residual?"""
import slide

SOURCE = "depth"
PANELS = {"plain gradients": "rms of the activations' gradient", "plain weight gradients": "rms of the weights' gradient"}
NAMES = "BatchNorm", "LayerNorm", "RMSNorm", "no norm", "no norm, W * 1.1", "no norm, W * 0.9"


def draw(page):
    found = page.curves()
    names = [name for name in NAMES if all(name in found.get(panel, {}) for panel in PANELS)]
    if len(names) < 3:
        raise slide.Missing(f"{SOURCE} lacks {' or '.join(PANELS)}")
    every = [y for panel in PANELS for name in names for y in found[panel][name][1] if y > 0]
    for (panel, words), left, right in zip(PANELS.items(), (1.15, 6.35), (7.4, 2.9)):
        axes = page.axes(left, right, "layer, from the loss → to the input", words)
        for name in names:
            xs, ys = found[panel][name]
            page.line(axes, [64 - x for x in reversed(xs)], ys[::-1], name.replace("* ", "× "))
        axes.set_xticks(range(0, 65, 16), [64 - x for x in range(0, 65, 16)])
        slide.log_y(axes, min(every) / 2, max(every) * 2, slide.power(10))
    axes.tick_params(labelleft=False)
    page.names(axes)
    page.note("f32, ReLU after each product with random weights. Left: 1 at the loss. Right: 1 in a wide network with "
              "weights of the right size.")
    ys = found["plain weight gradients"]["BatchNorm"][1]
    return (f"Weights of a wrong size scale every layer's weight gradients alike; BatchNorm makes the first layer's "
            f"{float(f'{ys[0] / ys[-1]:.2g}'):,.0f} times the last one's")
