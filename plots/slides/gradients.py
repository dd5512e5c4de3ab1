"""What is a difference quotient worth as a test of a gradient?"""
import slide

SOURCE = "gradients"
SERIES = {"layernorm, float": "in float", "layernorm, long double": "in long double"}


def draw(page):
    panel = page.panel("quotient", *SERIES)
    axes = page.axes(xlabel="step h, from large → to small", ylabel="distance from dx, over the size of dx", right=2.5)
    best = []
    for name, words in SERIES.items():
        xs, ys = panel[name]
        page.line(axes, xs, ys, words)
        best.append(min((y, x) for x, y in zip(xs, ys) if y > 0))
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.xaxis.set_major_formatter(lambda x, _: slide.power(10)(x))
    slide.log_y(axes, best[1][0] / 3, 3, slide.power(10))
    for series in page.series[axes]:
        line = series[1]
        line.set_data(line.get_xdata()[::-1], line.get_ydata()[::-1])
    page.names(axes)
    page.note("LayerNorm's forward pass, central differences, against the analytic dx. Right: steps too small for the digits.")
    return f"In float a difference quotient is right to {slide.tiny(best[0][0])} at best; in long double to {slide.tiny(best[1][0])}"
