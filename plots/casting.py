"""Does it matter where a framework rounds? The distance of every order of rounding from PyTorch's in steps of
the storage type, after one layer and after the last, and the error of all against the exact chain.
"""
from math import sqrt

import matplotlib.pyplot as plt
from matplotlib.ticker import MultipleLocator, PercentFormatter

import common

MAKE = "normlab study experiments/casting.txt --out results/casting.csv"
BASE = "last"
LOOKS = {  # series -> (name, colour, marker, linestyle, hatch)
    "last": ("D(x̂ · w)", "PyTorch, OLMo 2", "#000000", "o", "-", ""),
    "last, 1 + w": ("D(x̂ · (1 + w))", "Gemma, Qwen3-Next", "#CC79A7", "x", "none", ""),
    "before weight": ("D(D(x̂) · w)", "Llama, Qwen2 in Hugging Face", "#0072B2", "s", "--", ""),
    "last, sum rounded": ("D(x̂ · w), x̂ of D(x + r)", "", "#E69F00", "^", "-.", "///"),
    "before weight, sum rounded": ("D(D(x̂) · w), x̂ of D(x + r)", "vLLM on CUDA", "#D55E00", "v", ":", "xxx"),
}
TYPES = {"bf16": "2⁻⁸", "f16": "2⁻¹¹"}

path, out = common.arguments(__file__, MAKE)
panels = common.curves(rows := common.read(path, "panel series x y", MAKE))
try:
    last = int(max(panels["bf16 rms error by layer"][BASE][0]))
    steps = {(t, layer): {name: dict(zip(*panels[f"{t} steps apart, layer {layer}"][name])) for name in LOOKS}
             for t in TYPES for layer in (1, last)}
    errors = {t: panels[f"{t} rms error by layer"] for t in TYPES}
    largest = {t: panels[f"{t} largest error, ulp"] for t in TYPES}
except KeyError as missing:
    common.fail(f"{path}: there is no {missing} in it; make it with: {MAKE}")
apart = [name for name in LOOKS if any(steps[key][name].get(0) < 1 for key in steps)]


def percent(share):
    return "none" if share == 0 else f"{100 * share:.0f} %" if share > 0.1 else f"{100 * share:.2g} %"


def histogram(axes, dtype, layer):
    shares = steps[dtype, layer]
    edge = max(shares[BASE])
    shown = edge if any(shares[name][edge] for name in apart) else 3
    width = 0.8 / max(len(apart), 1)
    for i, name in enumerate(apart):
        points = {x: y for x, y in shares[name].items() if abs(x) <= shown}
        axes.bar([x + (i - (len(apart) - 1) / 2) * width for x in points], points.values(), width,
                 color=LOOKS[name][2], edgecolor="black", linewidth=0.4, hatch=LOOKS[name][5])
    ticks = [t for t in range(-int(shown), int(shown) + 1) if shown < 5 or t % 3 == 0]
    axes.set_xticks(ticks, [f"{'≤' if t < 0 else '≥'} {t}" if abs(t) == edge else str(t) for t in ticks])
    axes.yaxis.set_major_locator(MultipleLocator(0.2 if axes.get_ylim()[1] > 0.5 else 0.05))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_title("after one layer" if layer == 1 else f"after {layer} layers")
    axes.set_xlabel(f"steps of {dtype} from {LOOKS[BASE][0]}")
    axes.grid(axis="x", visible=False)


def growth(axes, dtype):
    for name, (_, _, colour, marker, line, _) in LOOKS.items():
        axes.plot(*errors[dtype][name], color=colour, marker=marker, linestyle=line, markersize=4.5,
                  linewidth=1.3, markevery=3)
    depths, end = errors[dtype][BASE][0], errors[dtype][BASE][1][-1]
    axes.plot(depths, [end * sqrt(x / last) for x in depths], color="#CCCCCC", linewidth=5, zorder=1)
    axes.annotate("grey: as √layer", (0.97, 0.06), xycoords="axes fraction", ha="right", color=common.GREY)
    axes.set_ylim(bottom=0)
    axes.set_title("against the exact chain")
    axes.set_xlabel("layer")
    axes.set_ylabel(f"rms error / rms y, in {TYPES[dtype]}")


figure, grid = plt.subplots(2, 3, gridspec_kw={"width_ratios": [1, 1.3, 1.1]})
figure.subplots_adjust(left=0.065, right=0.985, top=0.845, bottom=0.32, wspace=0.22, hspace=0.62)
for (one, many, by_layer), dtype in zip(grid, TYPES):
    histogram(one, dtype, 1)
    histogram(many, dtype, last)
    one.set_ylabel(f"{dtype}: share of outputs")
    growth(by_layer, dtype)

table = figure.add_axes((0.03, 0.035, 0.955, 0.2))
table.set_axis_off()
table.set(xlim=(0, 1), ylim=(len(LOOKS) - 0.4, -1.4))
columns = [0.058, 0.26, 0.5, 0.64, 0.78]
heads = ["order of rounding", "who", "largest error, bf16 | f16", "differ after one layer", f"after {last} layers"]
for x, head in zip(columns, heads):
    table.text(x, -1, head, va="center", color=common.GREY)
for i, (name, (order, who, colour, marker, line, hatch)) in enumerate(LOOKS.items()):
    table.plot([0.004, 0.02, 0.036], [i] * 3, color=colour, marker=marker, linestyle=line, markevery=[1],
               markersize=5)
    if name in apart:
        table.add_patch(plt.Rectangle((0.039, i - 0.3), 0.008, 0.6, facecolor=colour, edgecolor="black",
                                      linewidth=0.4, hatch=hatch))
    cells = [order, who, " | ".join(f"{largest[t][name][1][0]:.2f}" for t in TYPES) + " ulp"]
    cells += ["" if name == BASE else " | ".join(percent(1 - steps[t, layer][name][0]) for t in TYPES)
              for layer in (1, last)]
    for x, cell in zip(columns, cells):
        table.text(x, i, cell, va="center")
figure.suptitle("Does it matter where a framework rounds?", x=0.008, ha="left", y=0.975)
figure.text(0.008, 0.905, "RMSNorm. D: round to the storage type. x̂: the normalized value, as float. r: the "
            "residual. Same inputs and gains for all.", fontsize=10.5)
common.save(figure, out, common.machine(path, rows))
