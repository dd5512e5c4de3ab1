"""How much time does RMSNorm save over LayerNorm?"""
from pathlib import Path

import files
import slide

SOURCE = "claims"
MACHINES = Path(__file__).resolve().parents[2] / "docs" / "machines"
MEMORY, CACHE = "forward/f32/16384x1024/normal", "forward/f32/64x1024/normal"
ROWS = [("unfused", MEMORY), ("scalar", CACHE), ("simd_two_pass", CACHE), ("simd", "forward/f32/4x1024/normal"),
        ("simd", CACHE), ("simd", "both/f32/64x1024/normal"), ("streaming", MEMORY), ("threads", MEMORY)]
LEFT, RIGHT = -25, 72


def savings(rows):
    """(mode, case) -> the row of results with the saving of a norm by itself."""
    return {(row["how"], row["case"]): row for row in rows
            if row["quantity"] == "saving" and float(row["share"]) == 1 and row["value"] and row["rounds"] != "0"}


def others(family):
    """The savings on machines of other kinds that the project keeps."""
    found = {}
    for path in sorted(MACHINES.glob("*/claims.csv")):
        facts = [files.facts_of(machine) for machine in path.parent.glob("claims/*/machine.txt")]
        if facts and facts[0].get("family") != family:
            found[path.parent.name] = savings(files.rows(path))
    return found


def draw(page):
    here = savings(page.read())
    shown = [race for race in ROWS if race in here]
    if not {("unfused", CACHE), ("simd", CACHE)} <= set(here):
        raise slide.Missing(f"{SOURCE} lacks fused SIMD and unfused")
    if ("unfused", MEMORY) not in here:
        shown.insert(0, ("unfused", CACHE))
    axes = page.axes(left=5.6, right=0.5, xlabel="time saved, % of LayerNorm's")
    axes.grid(False)
    axes.set_xlim(LEFT, RIGHT)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    for i, race in enumerate(shown):
        value, low, high = (float(here[race][key]) for key in ("value", "low", "high"))
        axes.hlines(i, max(low, LEFT), min(high, RIGHT), color=page.colours["blue"], linewidth=9, alpha=0.4, zorder=2)
        for end, edge, mark in (low, LEFT, "<"), (high, RIGHT, ">"):  # the interval leaves the axis
            if (end < LEFT) if mark == "<" else (end > RIGHT):
                axes.plot(edge, i, marker=mark, color=page.colours["blue"], markersize=12, clip_on=False, zorder=3)
        axes.plot(value, i, marker="o", color=page.colours["blue"], markersize=12, markeredgecolor=page.back, zorder=4)
    for (name, there), (colour, marker, _) in zip(others(page.facts.get("family")).items(), slide.LOOKS[1:]):
        points = [(float(there[race]["value"]), i + 0.25) for i, race in enumerate(shown) if race in there]
        axes.plot(*zip(*points), marker=marker, color=page.colours[colour], markersize=10, linestyle="none", label=name)
    axes.set_yticks(range(len(shown)), [here[race]["where"] for race in shown])
    axes.axvline(0, color=page.muted, linewidth=1.4, zorder=1)
    axes.axvspan(7, 15, color=page.rule, alpha=0.7, zorder=0.5, linewidth=0)
    for at, words in (11, "tutorials:\n7 to 15 %"), (40.8, "paper:\nup to 40.8 %"), (64, "pRMSNorm:\nup to 64 %"):
        if at > 15:
            axes.axvline(at, color=page.muted, linewidth=1.6, linestyle=(0, (2, 2)), zorder=0.6)
        axes.text(at, 1.02, words, transform=axes.get_xaxis_transform(), fontsize=slide.NOTE, color=page.muted, ha="center",
                  va="bottom")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=slide.NOTE, loc="lower left")
    passes = max(int(here[race]["passes"]) for race in shown)
    page.note("f32, rows of 1024, equal engineering, in turns, verified. Strokes: 95 % intervals, of " +
              (f"{passes} passes." if passes > 2 else "one process: a first look, which the next run may overturn."))
    said = {race: [slide.signed(float(here[race][key])) for key in ("value", "low", "high")] for race in here}
    elsewhere = list(others(page.facts.get("family")).values())
    if elsewhere and ("streaming", MEMORY) in here:  # what all of them say

        def over_all(race):
            values = sorted(float(there[race]["value"]) for there in [here, *elsewhere] if race in there)
            ends = [slide.signed(v) for v in (values[0], values[-1])]
            return ends[0] if ends[0] == ends[1] else " to ".join(ends)

        fused, memory = over_all(("simd", CACHE)), over_all(("streaming", MEMORY))
        return (f"Fused, RMSNorm saves {fused} % of LayerNorm's time from a cache, {memory} % from memory; "
                f"unfused {over_all(('unfused', MEMORY))} %")
    unfused = said.get(("unfused", MEMORY), said["unfused", CACHE])[0]
    cached = said["simd", CACHE][0]
    if ("streaming", MEMORY) not in said:
        return f"Fused with vectors, RMSNorm saves {cached} % of LayerNorm's time from a cache; unfused {unfused} %"
    saved, low, high = said["streaming", MEMORY]
    if float(here["streaming", MEMORY]["low"]) <= 0 <= float(here["streaming", MEMORY]["high"]):
        return (f"Fused, RMSNorm saves {cached} % of LayerNorm's time from a cache; from memory it is not resolved, {low} to "
                f"{high} %; unfused it is {unfused} %")
    memory = f"{saved} % [{low}, {high}] from memory"
    if float(here["streaming", MEMORY]["high"]) < 0:
        memory = "nothing from memory, where it takes longer"
    return f"Fused, RMSNorm saves {cached} % of LayerNorm's time from a cache and {memory}; unfused {unfused} %"
