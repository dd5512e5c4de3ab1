"""Does 16-bit storage drown what the algorithm loses? The largest error of every rung's output in
f32, f16 and bf16 storage, against the number of values averaged: on normal data, with the mean off
by some sigma, and on the activations of a real transformer. One scale for all: error over gauge.
"""
from collections import namedtuple
from math import inf, isfinite, log2, nan

from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator
import matplotlib.pyplot as plt

import common

MAKE = "normlab check experiments/f16_error.txt --out results/f16_error.csv"
NEEDS = "impl threads op pass dtype n c s data options verdict error_u"
POWER = {"f32": "2⁻²⁴", "f16": "2⁻¹¹", "bf16": "2⁻⁸"}
DASHES = {"f32": "-", "f16": (0, (5, 2)), "bf16": (0, (1, 1.5))}
OWN = "the model's own y"
Point = namedtuple("Point", "layer data rung dtype x units verdict")  # x: values averaged, or file


def points(rows):
    """The forward results; of the ISAs of a rung the one with the largest error."""
    worst = {}
    for row in rows:
        option = row["options"] and not row["options"].startswith("eps=")
        if row["pass"] != "forward" or row["verdict"] == "skip" or option:
            continue
        x = int(row["n"]) * int(row["s"]) if row["op"] == "batchnorm" else int(row["c"])
        data = common.data_name(row["data"])
        if row["data"].startswith("npy:"):
            x, data = data, f"activations, c = {x}"
        rung = row["impl"].split("/")[-1].strip("()")
        p = Point(common.LAYERS[row["op"]], data, rung, row["dtype"], x,
                  float(row["error_u"] or inf), row["verdict"])
        worst[p[:5]] = max(worst.get(p[:5], p), p, key=lambda q: (q.verdict == "fail", q.units))
    return list(worst.values())


def draw(axes, panel, styles):
    """The rungs of an x side by side, so that equal errors do not hide each other."""
    xs = list(dict.fromkeys(p.x for p in panel))
    numbers = all(isinstance(x, int) for x in xs)
    place = {x: log2(x) if numbers else i for i, x in enumerate(xs)}
    places = sorted(place.values())
    room = min([b - a for a, b in zip(places, places[1:])] + [2])
    rungs = [rung for rung in styles if any(rung == p.rung for p in panel)]
    highest = axes.get_ylim()[1] / 2
    for i, rung in enumerate(rungs):
        colour, marker = styles[rung]
        shift = (i - (len(rungs) - 1) / 2) * 0.6 * room / len(rungs)
        for dtype, unit in common.UNIT.items():
            curve = [(place[p.x] + shift, min(p.units * unit, highest), p.verdict)
                     for p in panel if (p.rung, p.dtype) == (rung, dtype)]
            axes.plot([x for x, _, _ in curve], [nan if v == "fail" else y for _, y, v in curve],
                      color=colour, linewidth=0.9, linestyle=DASHES[dtype] if numbers else "none")
            for x, y, verdict in curve:
                look = common.FAILED if verdict == "fail" else {
                    "marker": marker, "color": colour, "markersize": 9 if rung == OWN else 5,
                    "markerfacecolor": "white" if verdict == "demo" else colour}
                axes.plot(x, y, zorder=9 if verdict == "fail" else 3, **look)
    axes.set_xticks(places, sorted(xs, key=place.get))
    axes.set_xlim(places[0] - room / 2, places[-1] + room / 2)
    axes.grid(axis="x", visible=False)


def findings(results):
    """What the numbers say: the lines of a table."""
    yield "storage", "rungs agree within 1 %", "largest error"
    for dtype in common.UNIT:
        right = [p for p in results if p.dtype == dtype and p.rung != OWN and p.verdict != "fail"]
        cases = {(p.layer, p.data, p.x): [] for p in right}
        for p in right:
            cases[p.layer, p.data, p.x].append(p.units)
        if cases:
            same = sum(max(units) <= 1.01 * min(units) for units in cases.values())
            p = max(right, key=lambda p: p.units)
            yield (dtype, f"in {same} of {len(cases)} cases",
                   f"{p.units:.{0 if p.units >= 100 else 2}f} units: {p.rung}, {p.layer}, {p.data}, {p.x}"
                   + " values" * isinstance(p.x, int))


def legend(axes, results, styles):
    axes.set_axis_off()
    rungs = {rung: Line2D([], [], color=colour, marker=marker, markersize=7, linestyle="none", label=rung)
             for rung, (colour, marker) in styles.items()}
    others = [Line2D([], [], color=common.GREY, linestyle=dash, label=f"{dtype} storage")
              for dtype, dash in DASHES.items()]
    if OWN in rungs:
        others.append(rungs.pop(OWN))
    if any(p.verdict == "demo" for p in results):
        others.append(Line2D([], [], color="black", marker="o", markersize=7, markerfacecolor="white",
                             linestyle="none", label="hollow: no promise"))
    if any(p.verdict == "fail" for p in results):
        others.append(Line2D([], [], label="FAIL", **common.FAILED))
    y = 1.08
    for lines in list(rungs.values()), others:
        axes.add_artist(Legend(axes, lines, [line.get_label() for line in lines], ncols=6,
                               loc="upper left", bbox_to_anchor=(-0.01, y), borderaxespad=0,
                               columnspacing=1.2, handletextpad=0.4))
        y -= 0.16 * ((len(lines) + 5) // 6)
    for i, line in enumerate(findings(results)):
        for x, text in zip((0, 0.1, 0.34), line):
            axes.text(x, y - 0.18 - 0.15 * i, text)
    axes.text(0, y - 0.83, "One unit, the grey lines, is " + ", ".join(f"{POWER[d]} in {d}" for d in POWER)
              + ". The gauge is |γ| max(1, |x̂|) + |β|.")


path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
results = points(rows)
if not results:
    common.fail(f"{path}: no forward results in it\n  to make the results: {MAKE}")
panels = {(p.layer, p.data): [q for q in results if q[:2] == p[:2]] for p in results}
layers = [name for name in common.LAYERS.values() if any(name == layer for layer, _ in panels)]
kinds = list(dict.fromkeys(data for _, data in panels))
styles = common.style(dict.fromkeys(p.rung for p in results))
if OWN in styles:
    styles[OWN] = common.GREY, "*"
top = 3 * max([p.units * common.UNIT[p.dtype] for p in results if isfinite(p.units)] + [2.0**-8])

beside = len(kinds) > 2 and not any((layers[-1], data) in panels for data in kinds[1:])
count = len(layers) + (not beside)  # the legend takes what the last row leaves free, or a row
height = 0.9 + 2.2 * count
figure = plt.figure(figsize=(common.WIDE, height))
grid = figure.add_gridspec(count, len(kinds), left=0.07, right=0.925, top=1 - 0.75 / height,
                           bottom=0.75 / height, hspace=0.5, wspace=0.08)
for (layer, data), panel in panels.items():
    i, j = layers.index(layer), kinds.index(data)
    axes = figure.add_subplot(grid[i, j], yscale="log", ylim=(3e-8, top), title=f"{layer}, {data}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.tick_params(labelleft=j == 0)
    for dtype, unit in common.UNIT.items():
        axes.axhline(unit, color=common.GREY, linewidth=0.8, zorder=1)
        if j == len(kinds) - 1:
            axes.annotate(f"1 unit of {dtype}", (1.01, unit), xycoords=("axes fraction", "data"),
                          va="center", color=common.GREY, fontsize=9)
    draw(axes, panel, styles)
    below = layers[i + 1] if i + 1 < len(layers) else ""
    if (below, data) not in panels or below == "BatchNorm":
        axes.set_xlabel("layer of the model" if data.startswith("activations") else
                        "values averaged, " + ("n·s" if layer == "BatchNorm" else "c"))
legend(figure.add_subplot(grid[-1, 1:] if beside else grid[-1, :]), results, styles)
figure.suptitle("Does 16-bit storage drown what the algorithm loses?", x=0.008, y=1 - 0.13 / height,
                ha="left")
figure.supylabel("largest error of y, as a fraction of the gauge", x=0.012, fontsize=10)
common.save(figure, out, common.machine(path, rows))
