"""What do BatchNorm's statistics cost? Noise, bias and the gap between training and inference against the
size of the batch; running means by momentum; and the effect of padding on the real tokens.
"""
import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter

import common

MAKE = "normlab study experiments/batch_statistics.txt --out results/batch_statistics.csv"
LOOKS = {  # series -> (label, colour, marker, linestyle)
    "mean": ("mean, in σ", "#000000", "o", "-"),
    "variance, biased": ("variance / n, in σ²", "#D55E00", "v", "--"),
    "variance, unbiased": ("variance / (n − 1), in σ²", "#0072B2", "s", "-"),
    "PyTorch's 0.1": ("PyTorch's 0.1", "#0072B2", "s", "-"),
    "Keras's formula with 0.9": ("Keras's formula with 0.9", "#000000", "x", "none"),
    "Keras's 0.99, translated to 0.01": ("Keras's 0.99, here 0.01", "#009E73", "D", "-"),
    "PyTorch's 0.1, copied to Keras": ("0.1 copied from PyTorch to Keras", "#E69F00", "^", "--"),
    "Keras's 0.99, copied to PyTorch": ("0.99 copied from Keras to PyTorch", "#D55E00", "v", ":"),
    "BatchNorm, mean 0": ("BatchNorm, mean 0", "#0072B2", "s", "-"),
    "BatchNorm, mean 2 sigma": ("BatchNorm, mean 2 σ", "#D55E00", "v", "--"),
    "LayerNorm, mean 2 sigma": ("LayerNorm, mean 2 σ", "#009E73", "D", "-"),
    "RMSNorm, mean 2 sigma": ("RMSNorm, mean 2 σ", "#000000", "x", "none"),
}

path, out = common.arguments(__file__, MAKE)
panels = common.curves(rows := common.read(path, "panel series x y", MAKE))


def draw(axes, panel, title, x, y):
    if panel not in panels:
        common.fail(f"{path}: there is no {panel} in it; make it with: {MAKE}")
    for points in panels[f"{panel}, expected"].values():
        axes.plot(*points, color="#CCCCCC", linewidth=5, zorder=1, solid_capstyle="butt")
    for name, points in panels[panel].items():
        label, colour, marker, line = LOOKS[name]
        axes.plot(*points, color=colour, marker=marker, linestyle=line, markersize=5, linewidth=1.2,
                  markevery=max(1, len(points[0]) // 15), zorder=4 if line == "none" else 3, label=label)
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def at_ends(panel):
    """The values of the two variances at the smallest and the largest batch."""
    biased, unbiased = (panels[panel][f"variance, {which}"] for which in ("biased", "unbiased"))
    return [(biased[0][i], biased[1][i], unbiased[1][i]) for i in (0, -1)]


figure = plt.figure()
grid = figure.add_gridspec(2, 3, left=0.055, right=0.985, top=0.825, bottom=0.105, wspace=0.2, hspace=0.48)
noise, average, gap = (figure.add_subplot(grid[0, i]) for i in range(3))
momentum, padding = figure.add_subplot(grid[1, :2]), figure.add_subplot(grid[1, 2])

sizes = "batch size n (values a channel)"
draw(noise, "noise", "noise of one batch's statistics", sizes, "rms distance from the true one")
draw(average, "average", "average of one batch's variance", sizes, "σ²")
draw(gap, "gap", "training output − inference output", sizes, "rms, in σ")
for axes in noise, average, gap:
    axes.set_xscale("log", base=2)
    axes.set_xticks(panels["gap"]["variance, biased"][0][::2])
    axes.xaxis.set_major_formatter("{x:g}")
for axes in noise, gap:
    axes.set_yscale("log")
    axes.set_yticks([y for y in (0.01, 0.03, 0.1, 0.3, 1, 3) if axes.get_ylim()[0] < y < axes.get_ylim()[1]])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
average.set_ylim(0, 1.15)
noise.legend(loc="lower left")
ratios = [f"{unbiased / biased:.4g} at n = {n:.0f}" for n, biased, unbiased in at_ends("average")]
average.text(0.97, 0.05, "\n".join(["ratio of the two:", *ratios]), transform=average.transAxes, ha="right")
n, biased, unbiased = at_ends("gap")[0]
gap.text(0.03, 0.05, f"at n = {n:.0f}: {biased:.2f} when / n is stored,\n{unbiased:.2f} when / (n − 1) is",
         transform=gap.transAxes)

draw(momentum, "momentum", "running mean on its way to the true one", "steps", "rms distance, in σ")
momentum.set(xscale="log", yscale="log")
momentum.set_ylim(bottom=momentum.get_ylim()[0] / 8)
momentum.legend(loc="lower left", ncols=2)

draw(padding, "padding", "real tokens among padding", "share of padding (zeros)", "rms change of their output")
padding.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
handles, labels = padding.get_legend_handles_labels()
largest = [max(points[1]) for points in panels["padding"].values()]
moved = [f"up to {most:.2g}" if most else "not a bit" for most in largest]
padding.legend(handles, map(": ".join, zip(labels, moved)), loc="upper left", borderaxespad=0)

figure.suptitle("What do BatchNorm's statistics cost?", x=0.008, ha="left", y=0.975)
figure.text(0.008, 0.905, "Normal data. Points: measured. Wide grey lines: theory; for the difference of outputs, that "
            "of large n.", fontsize=10.5)
common.save(figure, out, common.machine(path, rows))
