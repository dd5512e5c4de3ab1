"""What of a norm does the work: recentring or rescaling? The loss of networks in training, one panel
for each learning rate, and their final errors against the rate; lines are the median of the seeds, bands all.
"""
import re
from statistics import median

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

import common

MAKE = "normlab study experiments/ablation.txt --out results/ablation.csv"
LEARNT = 300  # steps, from which on the losses of the arms part
LOOKS = {  # series -> (label, colour, marker, linestyle)
    "full": ("both (LayerNorm)", "#0072B2", "D", "-"),
    "rescale": ("rescaling alone (RMSNorm)", "#009E73", "x", "--"),
    "recentre": ("recentring alone", "#D55E00", "v", "-."),
    "nothing": ("nothing", "#000000", "o", ":"),
}

path, out = common.arguments(__file__, MAKE)
panels = common.curves(rows := common.read(path, "panel series x y", MAKE))
losses = sorted((name for name in panels if name.startswith("loss, rate ")), key=lambda n: float(n.split()[-1]))
errors = next((name for name in panels if name.startswith("errors after ")), None)
if not losses or not errors:
    common.fail(f"{path}: it has no losses, or no errors at the end; make it with: {MAKE}")
steps = int(re.search(r"\d+", errors)[0])
if steps < LEARNT:
    common.not_drawn(out, f"After {steps} steps no network has learnt to read, with a norm or without; run it without --quick.")


def arms(panel):
    """arm -> x -> the values of all seeds"""
    found = {}
    for series, points in panel.items():
        arm = found.setdefault(series.split(",")[0], {})
        for x, y in zip(*points):
            arm.setdefault(x, []).append(y)
    return found


def draw(axes, panel):
    for name, at in arms(panel).items():
        label, colour, marker, line = LOOKS[name]
        most = max(map(len, at.values()))
        xs = sorted(x for x in at if len(at[x]) == most)  # the line ends where a network diverged
        axes.fill_between(xs, [min(at[x]) for x in xs], [max(at[x]) for x in xs], color=colour, alpha=0.13,
                          linewidth=0)
        axes.plot(xs, [median(at[x]) for x in xs], color=colour, marker=marker, linestyle=line, markersize=5,
                  linewidth=1.4, markevery=max(1, len(xs) // 8))


apart = panels.get("came apart", {})
seeds = len({series.split(",")[1] for series in panels[errors]})
figure, grid = plt.subplots(1, len(losses) + 1, gridspec_kw={"width_ratios": [1] * len(losses) + [1.15]})
figure.subplots_adjust(left=0.05, right=0.985, top=0.80, bottom=0.19, wspace=0.22)
top = 1.15 * max(y for name in losses for _, ys in panels[name].values() for y in ys[:1])
for axes, name in zip(grid, losses):
    rate = float(name.split()[-1])
    draw(axes, panels[name])
    axes.set_xscale("symlog", linthresh=4, linscale=0.3)
    axes.set_xlim(left=0)
    axes.set_ylim(0, top)
    axes.set_xticks([0, 10, 100, 1000][: 3 if max(map(float, panels[name]["full, seed 0"][0])) < 1000 else 4])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.set_title(f"learning rate {rate:g}", pad=20)
    axes.set_xlabel("step")
    lost = {arm: sum(series.startswith(f"{arm},") and rate in map(float, xs) for series, (xs, _) in apart.items())
            for arm in LOOKS}
    told = ", ".join(f"{arm} {n}/{seeds}" for arm, n in lost.items() if n)
    axes.text(0, 1.02, f"came apart: {told or 'none'}", transform=axes.transAxes,
              fontsize=9)
grid[0].set_ylabel("loss on pictures it has not seen (cross-entropy, nats)")
last = grid[-1]
draw(last, panels[errors])
last.set_xscale("log")
last.set_xticks([float(name.split()[-1]) for name in losses])
last.xaxis.set_major_formatter("{x:g}")
last.xaxis.set_minor_formatter("")
last.set_ylim(0, 1)
last.yaxis.set_major_formatter("{x:.0%}")
last.set_title(f"misread after {steps} steps", pad=20)
last.text(0, 1.02, "all, where one came apart", transform=last.transAxes, fontsize=9)
last.set_xlabel("learning rate")
best = {name: min(median(ys) for ys in at.values()) for name, at in arms(panels[errors]).items()}
figure.suptitle("What of a norm does the work: recentring or rescaling?", x=0.008, ha="left", y=0.975)
figure.text(0.008, 0.895, "Eight layers learn to read digits. Lines: median of "
            f"{seeds} seeds; bands: all of them. Fewest misread, at the best of these rates: "
            + ", ".join(f"{name} {best[name]:.0%}" for name in LOOKS if name in best) + ".", fontsize=10.5)
handles = [Line2D([], [], label=label, color=colour, marker=marker, linestyle=line)
           for label, colour, marker, line in LOOKS.values()]
figure.legend(handles=handles, loc="lower left", ncols=4, bbox_to_anchor=(0.005, 0.035))
common.save(figure, out, common.machine(path, rows))
