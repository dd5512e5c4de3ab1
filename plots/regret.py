"""How far is nl_best()'s choice from the fastest rung? A point a case: the time of what it chose over that of the
fastest rung as accurate, from ratios within the same rounds. Hollow: the difference is not resolved.
"""
from statistics import median

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

import common
import rungs
import speed

MAKE = "normlab bench experiments/regret.txt --impl 'optimized/*,best' --baseline best --out results/regret.csv"
NEEDS = "case impl op pass dtype n c s bound_u speedup comparison verdict"
LOOKS = {True: ("#882255", "^", "a rung with other stores"), False: ("#0072B2", "o", "a rung with the same stores")}
PASSES = ("forward", "inference", "backward")


def streams(row):
    return "streaming" in row["impl"]


def regrets(lines):
    """(the choice, {other stores: (regret, the fastest row)}) of each case. A rung with a larger bound is no rival."""
    cases = {}
    for row in lines:
        if row["speedup"] and row["verdict"] == "ok":
            cases.setdefault(row["case"], []).append(row)
    for rows in cases.values():
        choice = next((row for row in rows if row["comparison"] == "baseline"), None)
        if choice is None:
            continue
        fastest = {False: (1.0, choice)}
        for row in rows:
            other, regret = streams(row) != streams(choice), float(row["speedup"])
            if float(row["bound_u"]) <= 1.5 * float(choice["bound_u"]) and regret > fastest.get(other, (1.0,))[0]:
                fastest[other] = regret, row
        yield choice, fastest


def text(row):
    return f"{row['dtype']} {row['n']}×{row['c']}" + f"×{row['s']}" * (row["s"] != "1")


path, out = common.arguments(__file__, MAKE)
lines = common.read(path, NEEDS, MAKE)
points = list(regrets(lines))
if not points:
    common.fail(f"{path}: it has no choice of nl_best(); make it with: {MAKE}")
panels = {}
for choice, fastest in points:
    panels.setdefault((common.LAYERS[choice["op"]], choice["pass"]), []).append((choice, fastest))
panels = dict(sorted(panels.items(), key=lambda p: (p[0][0] == "BatchNorm", p[0][0], PASSES.index(p[0][1]))))
most = max(regret for _, fastest in points for regret, _ in fastest.values())
left, right = 0.97, 1.05 * max(most, 1.15)
figure, grid = plt.subplots(1, len(panels), squeeze=False, sharex=True, figsize=(common.WIDE, 7.5))
figure.subplots_adjust(left=0.1, right=0.985, top=0.79, bottom=0.14, wspace=1.05)
for axes, ((layer, name), mine) in zip(grid[0], panels.items()):
    axes.axvspan(1, 1.1, color="#EAF2EA", zorder=0)
    for y, (choice, fastest) in enumerate(mine):
        for other, (regret, row) in fastest.items():
            colour, marker, _ = LOOKS[other]
            sure = row is choice or row["comparison"] == "FASTER"
            axes.plot(regret, y, marker=marker, color=colour, markersize=6, markerfacecolor=colour if sure else "white")
            if regret > 1.1 and not other:
                axes.annotate(rungs.name(row["impl"]), (regret, y), xytext=(0, 5), textcoords="offset points",
                              fontsize=9, ha="left" if regret - left < 0.4 * (right - left) else "right")
    axes.set(yticks=range(len(mine)), yticklabels=[text(choice) for choice, _ in mine], ylim=(len(mine) - 0.5, -0.8),
             xlim=(left, right))
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"{layer}\n{name}")
figure.supxlabel("time / the fastest's", y=0.085, fontsize=plt.rcParams["axes.labelsize"])
words = []
for other, (_, _, name) in LOOKS.items():
    found = [fastest.get(other, (1.0,))[0] for _, fastest in points]
    words.append(f"{name}: median {median(found):.3f}, worst {max(found):.2f}")
speed.heading(figure, "How far is nl_best()'s choice from the fastest rung?",
              "One thread; the time of what it chose over that of the fastest rung as accurate.\nAgainst "
              + "; against ".join(words) + ".\nNobody reads y here, which favours streaming stores: "
              "with a reader, normlab tune decides. Shaded: up to 1.1.")
figure.legend(handles=[Line2D([], [], color=colour, marker=marker, linestyle="none", label=f"against {name}")
                       for colour, marker, name in LOOKS.values()]
              + [Line2D([], [], color="black", marker="o", markerfacecolor="white", linestyle="none", label="hollow: not resolved")],
              loc="lower left", bbox_to_anchor=(0.004, 0.025), ncols=3)
common.save(figure, out, common.machine(path, lines))
