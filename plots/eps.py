"""What does eps do to rows with a small sigma? Size of the output and gain of the gradient against sigma,
for four values of eps inside the root and outside.
"""

from matplotlib.lines import Line2D
import matplotlib.pyplot as plt

import common

MAKE = "normlab study experiments/eps.txt --out results/eps.csv"
WHAT = {"output": "rms of y", "gradient": "rms of dx / rms of dy"}
LOOKS = {"layernorm, eps inside": ("#0072B2", "-", "", 3.0), "rmsnorm, eps inside": ("#0072B2", "none", "o", 0),
         "layernorm, eps outside": ("#D55E00", "--", "", 1.6), "rmsnorm, eps outside": ("#D55E00", "none", "x", 0)}

path, out = common.arguments(__file__, MAKE)
lines = common.read(path, "panel series x y", MAKE)
panels = {tuple(panel.split(", eps ")): series for panel, series in common.curves(lines).items()}
values = sorted({eps for _, eps in panels}, key=float)
rows = [what for what in WHAT if any(what == row for row, _ in panels)]

figure, grid = plt.subplots(len(rows), len(values), sharex=True, sharey="row", squeeze=False)
figure.subplots_adjust(left=0.065, right=0.985, top=0.83, bottom=0.155, wspace=0.06, hspace=0.1)
for (what, eps), series in panels.items():
    axes = grid[rows.index(what)][values.index(eps)]
    axes.set_xscale("log")
    axes.set_yscale("log")
    root = float(eps) ** 0.5
    for at, name in ((root, "√eps"), (float(eps), "eps")):
        axes.axvline(at, color="#777777", linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate(name, (at, 0.03), (3, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                      color="#555555", fontsize=9.5)
    for name, (xs, ys) in series.items():
        colour, dash, marker, width = LOOKS[name.removesuffix(" the root")]
        step = max(1, len(xs) // 13)
        axes.plot(xs[:: step if marker else 1], ys[:: step if marker else 1], color=colour, linestyle=dash,
                  marker=marker, linewidth=width, markersize=6, markerfacecolor="white", zorder=4 if marker else 3)
    if what == rows[0]:
        axes.set_title(f"eps = {eps}")
    if what == rows[-1]:
        axes.set_xlabel("sigma")
    if eps == values[0]:
        axes.set_ylabel(WHAT[what])
    if what == "gradient":
        most = max(max(ys) for name, (_, ys) in series.items() if "inside" in name)
        axes.set_title(f"inside: at most {most:,.0f}", fontsize=9.5, weight="normal")
figure.suptitle("What does eps do to rows with a small sigma?", x=0.008, ha="left", y=0.975)
figure.text(0.008, 0.905, "f32; x is sigma and -sigma in turn. Inside the root: 1/√(sigma² + eps). Outside: "
            "1/(sigma + eps). Without eps, y would be 1 everywhere and the gradient 1/sigma.", fontsize=10.5)
handles = [Line2D([], [], color=colour, linestyle=dash, marker=marker, linewidth=width, markerfacecolor="white",
                  label=name + " the root") for name, (colour, dash, marker, width) in LOOKS.items()]
figure.legend(handles=handles, loc="lower left", ncols=len(handles), bbox_to_anchor=(0.005, 0.035))
common.save(figure, out, common.machine(path, lines))
