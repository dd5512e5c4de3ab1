"""How much time does RMSNorm save over LayerNorm inside PyTorch, ONNX Runtime and JAX, beside this library's?
Per cent against the number of rows; forward and training, f32 and bf16.
"""
from textwrap import fill

from matplotlib.lines import Line2D
import matplotlib.pyplot as plt

import common
import speed

MAKE = "python -m normlab.frameworks --out results/frameworks.csv"
LOOKS = {  # words, colour, marker, line
    "pytorch": ("PyTorch, eager", "#D55E00", "o", "-"),
    "torch_compile": ("PyTorch, torch.compile", "#E69F00", "s", "-"),
    "onnxruntime": ("ONNX Runtime", "#CC79A7", "P", "-"),
    "jax": ("JAX, jit", "#0072B2", "^", "-"),
    "normlab": ("normlab, from Python", "#009E73", "D", (0, (4, 1.5))),
}
WORDS = {"forward": "forward", "both": "training: forward and backward"}
LOW, HIGH = -100, 80

path, out = common.arguments(__file__, MAKE)
lines = common.read(path, "how version case threads verdict saving saving_low saving_high why", MAKE)
for line in lines:
    line["pass"], line["dtype"], shape, *_ = line["case"].split("/")
    line["n"], line["c"] = map(int, shape.split("x"))
panels = list(dict.fromkeys((line["pass"], line["dtype"]) for line in lines))
sizes = sorted({line["n"] for line in lines})
figure, grid = plt.subplots(1, len(panels), sharey=True, squeeze=False)
figure.subplots_adjust(left=0.06, right=0.985, top=0.78, bottom=0.25, wspace=0.08)
for axes, (way, dtype) in zip(grid[0], panels):
    mine = [line for line in lines if (line["pass"], line["dtype"]) == (way, dtype)]
    axes.axhspan(7, 15, color="#F0E442", alpha=0.4, zorder=0.4, linewidth=0)
    axes.axhline(0, color="#444444", linewidth=0.9, zorder=0.7)
    axes.set_ylim(LOW, HIGH)
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    axes.set_xticks(range(len(sizes)), [f"{n}" for n in sizes])
    axes.set_xlabel(f"rows of {mine[0]['c']}")
    axes.set_title(f"{WORDS[way]}, {dtype}", pad=10)
    for i, (how, (_, colour, marker, dash)) in enumerate(LOOKS.items()):
        rows = [line for line in mine if line["how"] == how and line["verdict"] == "ok"]
        at = [sizes.index(line["n"]) + 0.06 * (i - 2) for line in rows]
        saved = [float(line["saving"]) for line in rows]
        seen = [min(max(v, LOW + 4), HIGH - 4) for v in saved]
        axes.plot(at, seen, color=colour, linestyle=dash, marker=marker, markersize=6, linewidth=1.3, zorder=3)
        axes.vlines(at, [max(float(r["saving_low"] or LOW), LOW) for r in rows],
                    [min(float(r["saving_high"] or HIGH), HIGH) for r in rows], color=colour, linewidth=2.6, alpha=0.4)
        for x, y, value in zip(at, seen, saved):
            if y != value:
                axes.annotate(f"{value:.0f}", (x, y), (0, 8), textcoords="offset points", fontsize=9, ha="center",
                              color=colour)
    wrong = [LOOKS[how][0] for how in LOOKS if any(line["how"] == how and line["verdict"] == "fail" for line in mine)]
    absent = [LOOKS[how][0] for how in LOOKS
              if all(line["verdict"] == "skip" for line in mine if line["how"] == how) and how not in wrong]
    notes = [f"wrong, so not timed: {', '.join(wrong)}"] * bool(wrong) + [f"does not have it: {', '.join(absent)}"] * bool(absent)
    axes.text(0.02, 0.985, "\n".join(fill(note, 46) for note in notes), transform=axes.transAxes, va="top", fontsize=9,
              color=common.RED if wrong else common.GREY)
grid[0][0].set_ylabel("time saved, 1 − t(RMSNorm) / t(LayerNorm), %")
versions = ", ".join(dict.fromkeys(line["version"] for line in lines if line["version"]))
speed.heading(figure, "How much time does RMSNorm save inside the frameworks?",
              fill(f"{versions}. Both layers in turns in one process, judged before and after; below 0 RMSNorm is the "
                   "slower one. Few rows: mostly the cost of a call from Python.", 165))
handles = [Line2D([], [], color=colour, marker=marker, linestyle=dash, label=words)
           for words, colour, marker, dash in LOOKS.values()]
handles += [Line2D([], [], color="#444444", alpha=0.4, marker="|", markersize=13, markeredgewidth=2.6, linestyle="none",
                   label="interval with the A/A band"),
            Line2D([], [], color="#F0E442", linewidth=8, alpha=0.4, label="tutorials: 7 to 15 %")]
figure.legend(handles=handles, loc="lower left", ncols=4, bbox_to_anchor=(0.004, 0.03), columnspacing=1.6)
common.save(figure, out, common.machine(path, lines))
