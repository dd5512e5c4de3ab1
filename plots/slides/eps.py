"""What does eps do to rows with a small sigma?"""
import slide

SOURCE = "eps"
SERIES = {"layernorm, eps inside the root": "√(σ² + eps)", "layernorm, eps outside the root": "σ + eps"}


def draw(page):
    panel = page.panel("output, eps 1e-5", *SERIES)
    axes = page.axes(xlabel="standard deviation σ of the row", ylabel="rms of y: without eps it is 1", right=2.2)
    half = {}
    for name, words in SERIES.items():
        xs, ys = panel[name]
        keep = [i for i, x in enumerate(xs) if x > 1e-8]
        page.line(axes, [xs[i] for i in keep], [ys[i] for i in keep], words)
        i = next(i for i in keep[1:] if ys[i] > 0.5)  # between points, y is a line over log x
        half[words] = xs[i - 1] * (xs[i] / xs[i - 1]) ** ((0.5 - ys[i - 1]) / (ys[i] - ys[i - 1]))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: slide.power(10)(x))
    axes.set_xlim(min(x for x in xs if x > 1e-8) / 1.2, None)
    axes.set_ylim(0, 1.05)
    page.names(axes)
    page.note("LayerNorm with eps = 10⁻⁵; half of a row's values are σ, half −σ.")
    inside, outside = half.values()
    return f"eps = 10⁻⁵ inside the root halves y of rows with σ = {inside:.1g}; outside, of rows with σ = {slide.tiny(outside)}"
