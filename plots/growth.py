"""Does the cost of what nl_best() chooses grow as it should? Time an element, and the limit's, over c (for BatchNorm
also s); circles: cliffs, which are also written to stdout as CSV.
"""
import matplotlib.pyplot as plt

import common
import speed

MAKE = "normlab bench experiments/growth.txt --impl best --out results/growth.csv"
NEEDS = "case impl op pass dtype n c s bytes ns limit_gbps verdict"
PASSES = ("forward", "inference", "backward")
LOOKS = (("#0072B2", "o"), ("#D55E00", "^"), ("#009E73", "s"), ("#882255", "D"), ("#666666", "v"))
CLIFF, SIZES = 1.5, ("n", "c", "s")


def point(row):
    """The row with its size, ns an element, and the limit's."""
    size = tuple(int(row[name]) for name in SIZES)
    elements = size[0] * size[1] * size[2]
    limit = float(row["bytes"]) / float(row["limit_gbps"]) / elements
    return row | {"size": size, "each": float(row["ns"]) / elements, "limit": limit}


def neighbours(points):
    """(smaller, larger): one size differs, and there is none between the two."""
    for a in points:
        for i in range(3):
            along = [b for b in points if b["size"][:i] + b["size"][i + 1:] == a["size"][:i] + a["size"][i + 1:]
                     and b["size"][i] > a["size"][i]]
            if along:
                yield a, min(along, key=lambda b: b["size"][i])


def cliffs(points):
    """[(the rise beyond the limit's, smaller, larger)], the worst first."""
    found = [(b["each"] / a["each"] / max(1, b["limit"] / a["limit"]), a, b) for a, b in neighbours(points)]
    return sorted((c for c in found if c[0] > CLIFF), key=lambda c: -c[0])


def text(p):
    return "×".join(map(str, p["size"][:2 + (p["size"][2] > 1)]))


def where(cliff):
    return f"{common.LAYERS[cliff[1]['op']]} {cliff[1]['pass']}"


def named(cliff):
    rise, a, b = cliff
    return f"{text(a)} → {text(b)}: {rise:.2f}"


path, out = common.arguments(__file__, MAKE)
rows = common.read(path, NEEDS, MAKE)
points = [point(row) for row in rows if row["verdict"] == "ok" and row["ns"] and row["limit_gbps"]]
if not points:
    common.fail(f"{path}: nothing in it was timed; make it with: {MAKE}")
panels = {}
for p in points:
    panels.setdefault((common.LAYERS[p["op"]], p["pass"]), []).append(p)
panels = dict(sorted(panels.items(), key=lambda p: (p[0][0] == "BatchNorm", p[0][0], PASSES.index(p[0][1]))))
found = {key: cliffs(mine) for key, mine in panels.items()}
steps = sum(1 for mine in panels.values() for _ in neighbours(mine))
print("layer,pass,from,to,rise,limit_rise,from_impl,to_impl")
for (layer, name), mine in found.items():
    for _, a, b in mine:
        print(layer, name, text(a), text(b), f"{b['each'] / a['each']:.2f}", f"{b['limit'] / a['limit']:.2f}",
              a["impl"], b["impl"], sep=",")

figure, grid = plt.subplots(2, -(-len(panels) // 2), squeeze=False, sharey=True, figsize=(common.WIDE, 9))
figure.subplots_adjust(left=0.055, right=0.985, top=0.835, bottom=0.13, wspace=0.08, hspace=0.36)
keys = {}
for axes, ((layer, name), mine) in zip(grid.flat, panels.items()):
    pictures = any(p["size"][2] > 1 for p in mine)
    curves = {}
    for p in mine:
        n, c, s = p["size"]
        several = len({q["size"] for q in mine if q["size"][:2] == (n, c)}) > 1
        curves.setdefault(f"{n}×{c}×s" if several else f"{n}×c", []).append(p)
    for (series, along), (colour, marker) in zip(curves.items(), LOOKS * 9):
        x = [p["size"][1] * p["size"][2] for p in along]
        axes.plot(x, [p["limit"] for p in along], color=colour, linewidth=3, alpha=0.25, zorder=2)
        line, = axes.plot(x, [p["each"] for p in along], color=colour, linewidth=1.3, marker=marker, markersize=4, zorder=3)
        keys.setdefault("BatchNorm" if pictures else "rows", {})[series] = line
    for _, _, b in found[layer, name]:
        axes.plot(b["size"][1] * b["size"][2], b["each"], marker="o", markersize=11, markerfacecolor="none",
                  markeredgecolor="black", zorder=5)
    axes.set(xscale="log")
    speed.log_axis(axes.yaxis, min(p["limit"] for p in points) / 1.5, max(p["each"] for p in points) * 1.5)
    axes.xaxis.set_major_locator(speed.LogLocator(base=16, numticks=9))
    axes.xaxis.set_major_formatter(speed.FuncFormatter(lambda v, _: f"{v:.0f}" if v < 2**20 else f"{v / 2**20:.0f}Mi"))
    axes.xaxis.set_minor_locator(speed.NullLocator())
    axes.set_title(f"{layer} {name}")
    axes.set_xlabel("c·s" if pictures else "c")
spare = grid.flat[len(panels):]
for axes in spare:
    axes.set_axis_off()
speed.name_y(grid[0][0], "ns an element")
speed.name_y(grid[1][0], "ns an element")
worst = sorted((c for mine in found.values() for c in mine), key=lambda c: -c[0])
answer = f"{len(worst)} of {steps} steps to a larger neighbour are cliffs"
if worst:
    answer += f"; the worst: {where(worst[0])}, {named(worst[0])} times"
speed.heading(figure, "Does the cost grow as it should?",
              f"f32, one thread, what nl_best() chooses. {answer}.\nA cliff (circle): the time of an element rises by more "
              f"than {CLIFF} times as much as the limit's. Wide and pale: the limit.")
for (kind, lines), place in zip(keys.items(), (0.008, 0.4)):
    figure.legend(lines.values(), list(lines), loc="lower left", bbox_to_anchor=(place, 0.022),
                  ncols=len(lines), title=kind, alignment="left")
if len(spare):
    listed = [f"{where(cliff)}\n   {named(cliff)}" for cliff in worst]
    spare[-1].text(0.02, 1, "\n".join(["The cliffs" if listed else "No cliffs", *listed[:8]]
                                      + [f"and {len(listed) - 8} more"] * (len(listed) > 8)),
                   transform=spare[-1].transAxes, va="top", fontsize=9.5)
common.save(figure, out, common.machine(path, rows))
