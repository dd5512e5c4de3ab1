"""How much time does RMSNorm save over LayerNorm inside PyTorch, ONNX Runtime and JAX, beside this library's ways of
executing the two? A line for each, a sign for each number of rows; forward and training, f32 and bf16.
"""
from textwrap import fill

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator
import matplotlib.pyplot as plt

import common
import speed

MAKE = "python -m normlab.frameworks --out results/frameworks.csv"
NAMES = {  # from top to bottom; the modes of harness/timing/modes.c come from claims.csv beside the results
    "pytorch": "PyTorch, eager", "torch_compile": "torch.compile", "onnxruntime": "ONNX Runtime", "jax": "JAX, jit",
    "normlab": "normlab, from Python", "simd": "our SIMD", "streaming": "our SIMD, streaming", "threads": "our SIMD, all threads",
    "simd_two_pass": "our SIMD, two passes", "scalar": "our plain C", "naive": "our naive", "unfused": "our unfused",
    "unfused_rms": "our unfused RMSNorm",
}
LOOKS = ["#88CCEE", "o"], ["#44AA99", "s"], ["#117733", "^"], ["#AA4499", "D"], ["#332288", "P"], ["#000000", "X"]
WORDS = {"forward": "forward", "both": "training"}


def row_of(line):
    direction, dtype, shape, *_ = line["case"].split("/")
    return {"how": line["how"], "panel": (direction, dtype), "n": int(shape.split("x")[0]), "verdict": line["verdict"],
            "times": [1 - float(line[name] or "nan") / 100 for name in ("saving", "saving_high", "saving_low")]}


def modes(path):
    """Our own, where `normlab claims --out` has been run."""
    lines = common.read(path, "quantity share how case value low high", MAKE) if path.exists() else []
    found = {(line["how"], line["case"]): line for line in lines if line["quantity"] == "saving" and line["share"] == "1"
             and line["value"] and line["case"].endswith("/normal") and line["how"] in NAMES}
    return [row_of({"how": how, "case": case, "verdict": "ok", "saving": line["value"], "saving_low": line["low"],
                    "saving_high": line["high"]}) for (how, case), line in found.items()]


path, out = common.arguments(__file__, MAKE)
lines = common.read(path, "how version case threads verdict saving saving_low saving_high why", MAKE)
theirs = [row_of(line) for line in lines]
panels = list(dict.fromkeys(row["panel"] for row in theirs))
own = [row for row in modes(path.with_name("claims.csv")) if row["how"] not in {r["how"] for r in theirs}]
rows = theirs + [row for row in own if row["panel"] in panels]
names = [how for how in NAMES if any(row["how"] == how for row in rows)]
sizes = sorted({row["n"] for row in rows})
every = [time for row in rows if row["verdict"] == "ok" for time in row["times"] if time > 0]  # NaN is not
low, high = 0.9 * min(every, default=0.5), 1.1 * max(every, default=2)
figure, grid = plt.subplots(1, len(panels), sharey=True, squeeze=False)
figure.subplots_adjust(left=0.135, right=0.985, top=0.8, bottom=0.18, wspace=0.07)
for axes, panel in zip(grid[0], panels):
    axes.axvspan(0.85, 0.93, color="#F0E442", alpha=0.4, zorder=0.4, linewidth=0)
    axes.axvline(1, color="#444444", linewidth=0.9, zorder=0.7)
    speed.log_axis(axes.xaxis, low, high)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), [NAMES[how] for how in names])
    axes.set_xlabel("RMSNorm / LayerNorm")
    axes.set_title(f"{WORDS[panel[0]]}, {panel[1]}", pad=10)
    for row in (row for row in rows if row["panel"] == panel and row["verdict"] == "ok"):
        at, (value, *ends) = sizes.index(row["n"]), row["times"]
        y = names.index(row["how"]) + 0.15 * (at - (len(sizes) - 1) / 2)
        colour, marker = LOOKS[at % len(LOOKS)]
        axes.plot([value], [y], color=colour, marker=marker, markersize=6, zorder=3)
        axes.hlines(y, *(end if end > 0 else edge for end, edge in zip(ends, (low, high))), color=colour, linewidth=2.6, alpha=0.4)
    for at, how in enumerate(names):
        mine = [row["verdict"] for row in rows if row["panel"] == panel and row["how"] == how]
        if mine and "ok" not in mine:
            wrong = "fail" in mine
            axes.text(1.1, at, "wrong, so not timed" if wrong else "does not have it", fontsize=9, va="center",
                      color=common.RED if wrong else common.GREY)
versions = ", ".join(dict.fromkeys(line["version"] for line in lines if line["version"]))
speed.heading(figure, "How much time does RMSNorm save inside the frameworks?",
              fill(f"Rows of 1024; right of 1 RMSNorm is the slower one. {versions}. Both layers "
                   "in turns in one process, judged before and after. Few rows: mostly the cost of a call from Python.", 165))
handles = [Line2D([], [], color=LOOKS[i % len(LOOKS)][0], marker=LOOKS[i % len(LOOKS)][1], linestyle="none", label=f"{n} rows")
           for i, n in enumerate(sizes)]
handles += [Line2D([], [], color="#444444", alpha=0.4, linewidth=2.6, label="interval, with the A/A band for frameworks"),
            Patch(facecolor="#F0E442", edgecolor="none", alpha=0.4, label="tutorials: 7 to 15 %")]
figure.legend(handles=handles, loc="lower left", ncols=len(handles), bbox_to_anchor=(0.004, 0.03), columnspacing=1.3)
common.save(figure, out, common.machine(path, lines))
