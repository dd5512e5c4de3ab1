"""What do norms do to the size of activations and gradients over many random layers? One column for each
wiring; forward above, backward below it, and last the gradients of the weights.
"""
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

import common

MAKE = "normlab study experiments/depth.txt --out results/depth.csv"
WIRINGS = {"plain": "x ← relu(norm(W x))", "pre-norm": "x ← x + V relu(W norm(x))",
           "post-norm": "x ← norm(x + V relu(W x))"}
LOOKS = {  # series -> (label, colour, marker, linestyle)
    "no norm": ("no norm", "#000000", "o", "-"),
    "no norm, W * 1.1": ("no norm, W × 1.1", "#000000", "^", ":"),
    "no norm, W * 0.9": ("no norm, W × 0.9", "#000000", "v", ":"),
    "BatchNorm": ("BatchNorm", "#D55E00", "s", "-"),
    "LayerNorm": ("LayerNorm", "#0072B2", "D", "-"),
    "RMSNorm": ("RMSNorm", "#009E73", "x", "--"),
}

ROWS = {"activations": "activations", "gradients": "gradients", "weight gradients": "of weights"}

path, out = common.arguments(__file__, MAKE)
panels = common.curves(rows := common.read(path, "panel series x y", MAKE))
missing = [f"{w} {q}" for w in WIRINGS for q in ROWS if f"{w} {q}" not in panels]
if missing:
    common.fail(f"{path}: there is no {missing[0]} in it; make it with: {MAKE}")

figure, grid = plt.subplots(3, 3, sharex=True)
figure.subplots_adjust(left=0.06, right=0.985, top=0.81, bottom=0.15, wspace=0.17, hspace=0.34)
for column, (wiring, formula) in zip(grid.T, WIRINGS.items()):
    for axes, quantity, end in zip(column, ROWS, (-1, 0, 0)):
        panel = panels[f"{wiring} {quantity}"]
        for points in panels[f"{wiring} {quantity}, expected"].values():
            axes.plot(*points, color="#CCCCCC", linewidth=5, zorder=1, solid_capstyle="butt")
        for i, (name, (xs, ys)) in enumerate(panel.items()):
            label, colour, marker, line = LOOKS[name]
            axes.plot(xs, ys, color=colour, marker=marker, linestyle=line, markersize=5, linewidth=1.2,
                      markevery=(2 * i, 12), zorder=3)
        axes.set_yscale("log")
        sizes = ", ".join(f"{name} {float(f'{ys[end]:.2g}'):,g}" for name, (_, ys) in panel.items()
                          if not name.startswith("no norm"))
        axes.text(0, 1.03, f"{'last' if end else 'first'} layer: {sizes}", transform=axes.transAxes, fontsize=9)
        if end:
            axes.set_title(f"{wiring}: {formula}", pad=20)
    column[-1].set_xlabel("layer")
for axes, words in zip(grid[:, 0], ROWS.values()):
    axes.set_ylabel(words)
figure.suptitle("What do norms do to activations and gradients over many random layers?", x=0.008, ha="left",
                y=0.975)
figure.text(0.008, 0.905, "Root mean squares. He's initialization. Forward from the left, backward from the right. "
            "Wide grey lines: theory for very wide layers.", fontsize=10.5)
used = [name for name in LOOKS if any(name in panel for panel in panels.values())]
handles = [Line2D([], [], label=label, color=colour, marker=marker, linestyle=line)
           for label, colour, marker, line in map(LOOKS.get, used)]
figure.legend(handles=handles, loc="lower left", ncols=len(used), bbox_to_anchor=(0.005, 0.03))
common.save(figure, out, common.machine(path, rows))
