"""How much time does RMSNorm save over LayerNorm?"""
import re
from pathlib import Path

import files
import slide
from modes import CACHE, FUSED, MEMORY, WORDS, answer, savings, shape

SOURCE = "claims"
MACHINES = Path(__file__).resolve().parents[2] / "docs" / "machines"
BOTH = "both/f32/64x1024/normal"
ROWS = [("unfused", CACHE), ("unfused", MEMORY), ("scalar", CACHE), ("simd_two_pass", CACHE), *FUSED[:2], ("simd", BOTH),
        *FUSED[2:], ("threads", MEMORY)]
LEFT, RIGHT = -25, 72


def others(family):
    """This machine's name in docs/machines, and name -> (savings, facts) of the other machines in that folder."""
    name, found = "this machine", {}
    for path in sorted(MACHINES.glob("*/claims.csv")):
        known = files.facts_of(path.parent / "machine.txt")
        passes = map(files.facts_of, path.parent.glob("claims/*/machine.txt"))
        if known.get("family") == family:
            name = path.parent.name
        else:
            found[path.parent.name] = savings(files.rows(path)), known | max(passes, key=lambda one: one["date"], default={})
    return name, found


def draw(page):
    here = savings(page.read())
    shown = [race for race in ROWS if race in here]
    if not {("unfused", CACHE), ("simd", CACHE)} <= set(here):
        raise slide.Missing(f"{SOURCE} lacks fused SIMD and unfused")
    name, there = others(page.facts.get("family"))
    if max((int(row["passes"]) for row in here.values()), default=0) < 3 and name != "this machine":
        name = f"this machine ({name})"
    machines = {name: here} | {other: found for other, (found, _) in there.items()}
    page.machines = {name: page.facts} | {other: known for other, (_, known) in there.items()} if there else {}
    axes = page.axes(left=3.9, right=2.9, xlabel="time saved, % of LayerNorm's")
    axes.grid(False)
    axes.set_xlim(LEFT, RIGHT)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    for k, (at, (colour, marker, _)) in enumerate(zip(machines.values(), slide.LOOKS)):
        colour, shift = page.colours[colour], min(0.26, 0.8 / len(machines)) * (k - (len(machines) - 1) / 2)
        for i, race in enumerate(shown):
            if race not in at:
                continue
            value, low, high = (float(at[race][key] or "nan") for key in ("value", "low", "high"))
            axes.hlines(i + shift, *(min(max(end, LEFT), RIGHT) for end in (low, high)), color=colour, linewidth=7, alpha=0.4, zorder=2)
            for end, edge, mark in (low, LEFT, "<"), (high, RIGHT, ">"):  # an arrow marks an interval that leaves the scale
                if (end < LEFT) if mark == "<" else (end > RIGHT):
                    axes.plot(edge, i + shift, marker=mark, color=colour, markersize=9, clip_on=False, zorder=3)
            if LEFT <= value <= RIGHT:
                edge, fill = (colour, page.back) if low <= 0 <= high else (page.back, colour)
                axes.plot(value, i + shift, marker=marker, color=fill, markersize=9, markeredgecolor=edge, zorder=4)
    x, y = 0.45, 0.98
    for name, (colour, marker, _) in zip(machines, slide.LOOKS):  # below the axis' name
        page.figure.add_artist(slide.plt.Line2D([x / slide.WIDE], [y / slide.TALL], marker=marker, markersize=11,
                                                color=page.colours[colour], linestyle="none"))
        page.figure.text((x + 0.15) / slide.WIDE, y / slide.TALL, name, fontsize=slide.NOTE, color=page.ink, va="center")
        x += 0.5 + page.wide(name, slide.NOTE)
    axes.set_yticks(range(len(shown)), [WORDS[how] + ", forward, backward" * (case == BOTH) for how, case in shown])
    for i, (_, case) in enumerate(shown):
        axes.text(1.02, i, ", ".join(shape(case)), transform=axes.get_yaxis_transform(), fontsize=slide.NOTE, color=page.ink, va="center")
    axes.text(1.02, 1.02, "rows x features,\nbytes of x and y", transform=axes.transAxes, fontsize=slide.NOTE, color=page.muted, va="bottom")
    axes.axvline(0, color=page.muted, linewidth=1.4, zorder=1)
    axes.axvspan(7, 15, color=page.rule, alpha=0.7, zorder=0.5, linewidth=0)
    for at, words in (11, "tutorials:\n7 to 15 %"), (40.8, "paper:\nup to 40.8 %\nof a step"), (64, "pRMSNorm:\nup to 64 %\nof a step"):
        if at > 15:
            axes.axvline(at, color=page.muted, linewidth=1.6, linestyle=(0, (2, 2)), zorder=0.6)
        axes.text(at, 1.02, words, transform=axes.get_xaxis_transform(), fontsize=slide.NOTE, color=page.muted, ha="center",
                  va="bottom")
    counts = sorted({max(int(at[race]["passes"]) for race in shown if race in at) for at in machines.values()})
    passes = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    page.note("f32; fused, except where named unfused. Bars: 95 % intervals, " +  # one line: the legend is above
              (f"of {passes} passes. Hollow: contains 0." if counts[0] > 2 else "here of one process, a first look."))
    says = answer(list(machines.values())) if counts[0] > 2 else f"First look, one machine: {answer([here])}"
    return re.sub(r" at (\d+) x ", "\u00a0at\u00a0\\1\u00a0x\u00a0", says)
