"""How do activations grow over 64 residual layers, by the place of the norm?"""
SOURCE = "depth"
NAMES = {"pre-norm": "before the branch:", "post-norm": "after the sum:"}


def draw(page):
    axes = page.axes(xlabel="layer", ylabel="rms of the activations, 1 at the input", right=3.4)
    last = {}
    for place, words in NAMES.items():
        for norm in "LayerNorm", "RMSNorm":
            xs, ys = page.panel(f"{place} activations", norm)[norm]
            page.line(axes, xs, ys, f"{words}\n{norm}")
            last[place] = ys[-1] / ys[0]
    axes.set_xticks(range(0, 65, 16))
    axes.set_ylim(0, None)
    page.names(axes)
    page.note("f32, before training: in each branch two random matrices around a ReLU; gains of one.")
    return (f"With the norm before the branch RMSNorm's activations grow {last['pre-norm']:.1f} times over 64 layers, "
            f"with the norm after the sum they end at {last['post-norm']:.1f}")
