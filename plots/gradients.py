"""How exact are gradients? The error of dx against kappa, of dgamma and dbeta against the number of rows,
and of a difference quotient against its step.
"""
from math import inf, isfinite, log2

from matplotlib.lines import Line2D
import matplotlib.pyplot as plt

import common

MAKE = "normlab study experiments/gradients.txt --out results/gradients.csv"
LOOKS = {"layernorm": ("#0072B2", "o", 5), "rmsnorm": ("#009E73", "v", 5), "batchnorm": ("#D55E00", "s", 7)}
DASHES = {"plain C": "--", "optimized": "-"}

path, out = common.arguments(__file__, MAKE)
lines = common.read(path, "panel series x y", MAKE)
panels = common.curves(lines)
missing = [panel for panel in ("dx", "dgamma", "quotient") if panel not in panels]
if missing:
    common.fail(f"{path}: no points of {', '.join(missing)}; make them with: {MAKE}")


def worst(panel):
    """(layer, implementation) -> its points; at each x the worst of the instruction sets."""
    found = {}
    for name, (xs, ys) in panels.get(panel, {}).items():
        layer, impl = name.split("@")[0].split(", ")
        points = found.setdefault((layer, impl), {})
        for x, y in zip(xs, ys):
            points[x] = max(points.get(x, y), y if y == y else inf)
    return {key: sorted(points.items()) for key, points in sorted(found.items())}


def guide(axes, xs, ys, name, at=-1, move=(6, -3)):
    axes.plot(xs, ys, color="#BBBBBB", linewidth=4, zorder=1)
    axes.annotate(name, (xs[at], ys[at]), move, textcoords="offset points", color="#666666", fontsize=10.5,
                  annotation_clip=False)


def curve(axes, layer, dash, hollow, xs, ys):
    colour, marker, size = LOOKS.get(layer, (common.GREY, "D", 5))
    axes.plot(xs, ys, color=colour, marker=marker, linestyle=dash, linewidth=1.2, markersize=size,
              markerfacecolor="white" if hollow else colour)


figure, (left, middle, right) = plt.subplots(1, 3)
figure.subplots_adjust(left=0.055, right=0.985, top=0.8, bottom=0.215, wspace=0.24)
for axes in (left, middle, right):
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
for axes, panel in ((left, "dx"), (middle, "dgamma"), (middle, "dbeta")):
    for (layer, impl), points in worst(panel).items():
        dash = DASHES["optimized" if impl.startswith("optimized/") else "plain C"]
        xs, ys = zip(*points)
        curve(axes, layer, dash, panel == "dbeta", xs, [y if isfinite(y) else float("nan") for y in ys])
kappas = sorted({x for _, points in worst("dx").items() for x, _ in points})
top = max(y for points in worst("dx").values() for _, y in points if isfinite(y))
guide(left, [k for k in kappas if k <= top], [k for k in kappas if k <= top], "kappa", move=(-48, -4))
counts = sorted({x for points in worst("dgamma").values() for x, _ in points})
guide(middle, counts, [n**0.5 for n in counts], "√n", move=(-24, 3))
few = [n for n in counts if n <= counts[-1] ** 0.75]
guide(middle, few, few, "n", move=(-14, -3))
left.set_title("dx, when the mean moves away")
left.set_xlabel("kappa = |mean| / sigma")
left.set_ylabel("largest error, units of 2⁻²⁴ of the terms")
middle.set_title("dgamma (filled) and dbeta (hollow)")
middle.set_xlabel("n, rows that are summed")
middle.set_ylabel("largest error, units of 2⁻²⁴ of the terms")

best = []
for name, (xs, ys) in panels["quotient"].items():
    layer, _, kind = name.partition(", ")
    if layer.startswith("guide"):
        continue
    curve(right, layer, "-", kind == "float", xs, ys)
    best.append((min(ys), xs[ys.index(min(ys))], kind))
low = min(y for y, _, _ in best) / 4
for name, (xs, ys) in panels["quotient"].items():
    if name.startswith("guide: "):
        falling = "u / h" in name
        kept = [(x, y) for x, y in zip(xs, ys) if low <= y <= (4 if falling else 1)]
        guide(right, *zip(*kept), name.removeprefix("guide: ").split(",")[0], at=0 if falling else -1,
              move=(-2, -30) if "long" in name else (6, 2) if falling else (-52, 4))
right.set_title("a central difference quotient for dx")
right.set_xlabel("step h")
right.set_ylabel("rms distance from dx / rms of dx")
right.set_ylim(low, 16)

figure.suptitle("How exact are gradients?", x=0.008, ha="left", y=0.975)
least = [min(b for b in best if b[2] == kind) for kind in dict.fromkeys(kind for _, _, kind in best)]
figure.text(0.008, 0.905, "f32. The best quotient: " + "; ".join(
    f"forward in {kind}, off by {y:.2g} at h = 2^{log2(h):.0f}" for y, h, kind in least) + ".", fontsize=10.5)
handles = [Line2D([], [], color=colour, marker=marker, markersize=size, linewidth=1.2, label=common.LAYERS[layer])
           for layer, (colour, marker, size) in LOOKS.items()]
handles += [Line2D([], [], color=common.GREY, linestyle=dash, label=f"each rung, {words}")
            for words, dash in DASHES.items()]
handles += [Line2D([], [], color=common.GREY, marker="o", linestyle="none", label="right: forward in long double"),
            Line2D([], [], color=common.GREY, marker="o", linestyle="none", markerfacecolor="white",
                   label="right: forward in float")]
figure.legend(handles=handles, loc="lower left", ncols=min(len(handles), 8), bbox_to_anchor=(0.005, 0.045))
common.save(figure, out, common.machine(path, lines))
