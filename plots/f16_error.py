"""What do 16 bits cost, as storage and as arithmetic? The largest error of y, as a fraction of its gauge,
of the rungs that compute in float and of the demonstrations that round each operation to f16 or bf16:
against the number of values averaged, against the scale of x, and on the activations of a transformer.
"""
from collections import namedtuple
from math import inf, isnan, nan

from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator
import matplotlib.pyplot as plt

import common
import rungs

MAKE = "normlab check experiments/f16_error.txt --out results/f16_error.csv"
NEEDS = "impl threads op pass dtype n c s data options verdict error_u"
OWN = "the model's own y"
HALVES = {  # the demonstrations, in the order of the band of NaN: colour, marker, line, words
    "half_eps": ("#E69F00", "^", (0, (1, 1.2)), "float, only eps 16-bit"),
    "half_compensated": ("#009E73", "D", (0, (5, 2)), "16-bit, Kahan's"),
    "half_pairwise": ("#0072B2", "s", (0, (5, 1.5, 1, 1.5)), "16-bit, pairwise sum"),
    "half_sum": ("#D55E00", "v", "-", "16-bit, running sum"),
}
FLOAT = {"f32": ("#999999", "-"), "f16": ("black", "-"), "bf16": ("black", (0, (1, 1.2)))}
LOW, TOP, NOT_A_NUMBER, HIGH = 1.5e-9, 30.0, 1e3, 5e4  # above TOP is the band of NaN and Inf
PALE = "#F3DCCB"
Point = namedtuple("Point", "op kind rung dtype c x options units verdict")  # x: on the panel's axis


def points(rows):
    """The forward results."""
    worst = {}
    for row in common.on_widest(rows):
        option = row["options"] and not row["options"].startswith("eps=")
        if row["pass"] != "forward" or row["verdict"] == "skip" or option:
            continue
        kind, _, k = row["data"].partition(":")
        c = int(row["n"]) * int(row["s"]) if row["op"] == "batchnorm" else int(row["c"])
        x = float(k) if kind == "scale" else common.data_name(row["data"]) if kind == "npy" else c
        p = Point(row["op"], kind, rungs.name(row["impl"]), row["dtype"], c, x,
                  row["options"], float(row["error_u"] or inf), row["verdict"])
        worst[p[:6]] = max(worst.get(p[:6], p), p, key=lambda q: (q.verdict == "fail", q.units))
    return list(worst.values())


def error(p):
    """A fraction of the gauge; nan if it is above TOP, as for NaN and Inf."""
    fraction = p.units * common.UNIT[p.dtype]
    return fraction if fraction <= TOP else nan


def mark(axes, x, p, **look):
    """The height of a point; in the band of NaN each demonstration has its own."""
    y = NOT_A_NUMBER if isnan(error(p)) else error(p)
    if y == NOT_A_NUMBER and p.rung in HALVES:
        y *= 4.0 ** (list(HALVES).index(p.rung) - 1.5)
    axes.plot(x, y, zorder=4, **(common.FAILED if p.verdict == "fail" else look))


def curves(axes, found, dtypes, title, places=None):
    """The float rungs as the line of the worst, shaded down to the best; the demonstrations one by one, in
    the last of the types. places: x -> where it is drawn."""
    place = places or {p.x: p.x for p in found}
    for dtype in dtypes:
        colour, dash = FLOAT[dtype]
        mine = [p for p in found if p.dtype == dtype and p.rung not in HALVES]
        errors = {x: [error(p) for p in mine if p.x == x and p.rung != OWN and not isnan(error(p))] for x in place}
        line = sorted((place[x], max(es), min(es)) for x, es in errors.items() if es)
        xs, worst, best = zip(*line) if line else ([], [], [])
        axes.plot(xs, worst, color=colour, linestyle=dash, linewidth=2, zorder=2)
        axes.fill_between(xs, best, worst, color=colour, alpha=0.25, linewidth=0)
        axes.axhline(common.UNIT[dtype], color=common.GREY, linewidth=0.6, zorder=1)
        for p in mine:
            if p.rung == OWN or p.verdict == "fail" or isnan(error(p)):
                mark(axes, place[p.x], p, color=common.GREY, markersize=9, linestyle="none",
                     marker="*" if p.rung == OWN else "o")
    for rung, (colour, marker, dash, _) in HALVES.items():
        line = sorted((place[p.x], p) for p in found if (p.rung, p.dtype) == (rung, dtypes[-1]))
        axes.plot([x for x, _ in line], [error(p) for _, p in line], color=colour, linestyle=dash, zorder=3,
                  linewidth=1.3)
        for x, p in line:
            mark(axes, x, p, marker=marker, color=colour, markersize=5, markerfacecolor="white")
    axes.set(yscale="log", ylim=(LOW, HIGH), title=title)
    axes.yaxis.set_major_locator(FixedLocator([1e-8, 1e-6, 1e-4, 1e-2, 1]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(axis="x", visible=False)
    axes.axhspan(TOP, HIGH, color=PALE, zorder=0)
    axes.text(0.37, 0.965, f"NaN, Inf, > {TOP:.0f}", transform=axes.transAxes, va="top", fontsize=9)


def base2(axes, found):
    xs = sorted({p.x for p in found})
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(xs, [x if i % 2 else "" for i, x in enumerate(xs, len(xs))])
    axes.set_xlabel("values averaged, n·s" if found[0].op == "batchnorm" else "values averaged, c")


def widths(axes, found, dtypes, title):
    base2(axes, found)
    curves(axes, found, dtypes, title)
    for dtype in dtypes:
        above = dtype == "bf16" and "f16" in dtypes
        axes.annotate(f"1 unit of {dtype}", (1, common.UNIT[dtype]), (0, 3 if above else -5), ha="right",
                      va="bottom" if above else "top", xycoords=("axes fraction", "data"),
                      textcoords="offset points", color=common.GREY, fontsize=9)


def scales(axes, found, dtypes, title):
    xs = sorted({p.x for p in found})
    axes.set(xscale="log", xlim=(xs[0] / 2, xs[-1] * 2), xlabel=f"K = x / N(0, 1), {found[0].options}")
    axes.xaxis.set_major_locator(FixedLocator([10.0**k for k in range(-8, 5, 2)]))
    axes.xaxis.set_minor_locator(NullLocator())
    curves(axes, found, dtypes, f"{title}, c = {found[0].c}")
    if "f16" not in dtypes:
        return
    sum_is_inf = (65520 / found[0].c) ** 0.5
    for begin, end, shade, text in ((xs[0] / 2, 2.0**-14, "#BBD6EC", "x and x²\nsubnormal"),
                                    (2.0**-14, 2.0**-7, "#E4EFF8", "x² sub-\nnormal"),
                                    (sum_is_inf, 256, PALE, "Σ x²\nis Inf"),
                                    (256, xs[-1] * 2, "#E5B899", "x²\nis Inf")):
        axes.axvspan(begin, end, ymax=0.75, color=shade, zorder=0, linewidth=0)
        axes.text((max(begin, 1e-7) * end) ** 0.5, 1.8e-5, text, ha="center", va="center", fontsize=9)


def activations(axes, found, dtypes, title):
    """Both layers side by side."""
    found = [p._replace(x=(p.op, p.x)) for p in found]
    places = {x: i for i, x in enumerate(dict.fromkeys(p.x for p in found))}
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_xticks(range(len(places)), [x for _, x in places])
    for op in dict.fromkeys(op for op, _ in places):
        mine = [i for x, i in places.items() if x[0] == op]
        axes.text(sum(mine) / len(mine), -0.16, common.LAYERS[op], transform=axes.get_xaxis_transform(),
                  ha="center", va="top")
    curves(axes, found, dtypes, title, places)


def ratio(axes, found, title):
    """In an RMSNorm, an rms too small by a factor makes y too large by it, with hardly any other error."""
    base2(axes, found)
    for rung, (colour, marker, _, _) in HALVES.items():
        for dtype, dash in ("f16", "-"), ("bf16", (0, (1, 1.2))):
            line = sorted((p.x, 1 / (1 + error(p))) for p in found if (p.rung, p.dtype) == (rung, dtype))
            axes.plot([x for x, _ in line], [y for _, y in line], color=colour, linestyle=dash, marker=marker,
                      markersize=5, markerfacecolor="white")
            if rung == "half_sum" and line:
                axes.annotate(f"{dtype}\n{line[-1][1]:.2f}", line[-1], (8, 0), textcoords="offset points",
                              va="center", color=colour)
    axes.set(title=title, ylabel="1 / (1 + error)", ylim=(0, 1.1),
             xlim=(axes.get_xlim()[0], 6 * max(p.x for p in found)))
    axes.grid(axis="x", visible=False)


def legend(axes, results):
    """The key, and the results for the longest rows of RMSNorm."""
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(9.4, 0))
    normal = [p for p in results if (p.op, p.kind) == ("rmsnorm", "normal")]
    longest = max((p.c for p in normal), default=0)
    lines = [("float", {"color": "black", "linewidth": 2}, "float arithmetic, worst rung to best"),
             *((rung, {"color": c, "marker": m, "linestyle": d, "markerfacecolor": "white"}, f"{rung}: {what}")
               for rung, (c, m, d, what) in reversed(HALVES.items())),
             ("", {"color": FLOAT["f32"][0], "linewidth": 2}, "float arithmetic in f32 storage"),
             ("", {"color": common.GREY, "marker": "*", "markersize": 9, "linestyle": "none"}, OWN + ", f32")]
    if any(p.verdict == "fail" for p in results):
        lines.append(("", common.FAILED | {"markersize": 9}, "FAIL"))
    axes.text(0.1, 0, f"largest error, RMSNorm, c = {longest}", weight="bold")
    for x, dtype in (0.89, "f16"), (1, "bf16"):
        axes.text(x, 0, dtype, ha="right", weight="bold")
    for i, (rung, look, what) in enumerate(lines, 1):
        axes.add_line(Line2D([0, 0.04, 0.08], [i - 0.25] * 3, markevery=[1], **look))
        axes.text(0.1, i, what)
        for x, dtype in (0.89, "f16"), (1, "bf16"):
            units = [p.units for p in normal if (p.c, p.dtype) == (longest, dtype)
                     and rung == (p.rung if p.rung in HALVES else "float")]
            axes.text(x, i, f"{max(units):.{0 if max(units) >= 100 else 2}f}" if units else "", ha="right")
    axes.text(0, len(lines) + 2.1, "In units: 2⁻²⁴ of the gauge in f32, 2⁻¹¹ in f16, 2⁻⁸ in bf16.\nf16: subnormal "
              "below 2⁻¹⁴; the square of |x| ≥ 256 is Inf.", fontsize=9)


path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
results = points(rows)
if not results:
    common.fail(f"{path}: no forward results in it\n  to make the results: {MAKE}")

F16, BF16 = ("f32", "f16"), ("f32", "bf16")
PANELS = [
    [(widths, "rmsnorm", "normal", F16, "RMSNorm, f16"), (widths, "rmsnorm", "normal", BF16, "RMSNorm, bf16"),
     (scales, "rmsnorm", "scale", F16, "RMSNorm, f16"), (scales, "rmsnorm", "scale", BF16, "RMSNorm, bf16")],
    [(widths, "layernorm", "normal", F16, "LayerNorm, f16"),
     (widths, "layernorm", "normal", BF16, "LayerNorm, bf16"),
     (scales, "layernorm", "scale", F16, "LayerNorm, f16"),
     (widths, "layernorm", "offset", F16, "LayerNorm, f16, mean 16 σ")],
    [(ratio, "rmsnorm", "normal", None, "RMSNorm: rms / true rms"),
     (activations, "layernorm rmsnorm", "npy", F16, "transformer activations, f16"),
     (widths, "batchnorm", "normal", ("f32", "f16", "bf16"), "BatchNorm, storage only")],
]
figure = plt.figure(figsize=(common.WIDE, 9))
for i, panels in enumerate(PANELS):
    bottom = 0.705 - 0.302 * i
    grid = figure.add_gridspec(1, 4, left=0.058, right=0.992, top=bottom + 0.205, bottom=bottom, wspace=0.2,
                               width_ratios=(1, 1, 1.5, 1) if i < 2 else (1, 1.1, 0.9, 1.8))
    for cell, (draw, ops, kind, dtypes, title) in zip(grid, panels):
        found = [p for p in results if p.op in ops.split() and p.kind == kind]
        axes = figure.add_subplot(cell)
        if found:
            draw(axes, *([found, title] if draw is ratio else [found, dtypes, title]))
        else:
            axes.set(title=f"{title}: no results", xticks=[], yticks=[])
    if i == 2:
        legend(figure.add_subplot(grid[3]), results)
figure.suptitle("What do 16 bits cost, as storage and as arithmetic?", x=0.008, y=0.99, ha="left")
figure.supylabel("largest error of y / gauge,  gauge = |γ| max(1, |x̂|) + |β|", x=0.012, y=0.66, fontsize=10)
common.save(figure, out, common.machine(path, rows))
