"""How noisy are the statistics of a batch?"""
import slide

SOURCE = "batch_statistics"


def draw(page):
    panel = page.panel("noise")
    axes = page.axes(xlabel="values in the batch, for each channel", ylabel="standard deviation of the statistic, in σ or σ²", right=3.1)
    for name, (xs, ys) in panel.items():
        page.line(axes, xs, ys, name)
    slide.log_x(axes, xs)
    axes.set_ylim(0, None)
    page.names(axes)
    page.note("BatchNorm on N(0, 1) values, over many batches.")
    mean = dict(zip(*panel["mean"]))
    small, large = (min(mean, key=lambda x: abs(x - size)) for size in (8, 128))
    return f"With {small:.0f} values the mean of a batch is off by {100 * mean[small]:.0f} % of σ, with {large:.0f} by {100 * mean[large]:.0f} %"
