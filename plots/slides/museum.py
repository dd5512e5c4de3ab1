"""Which method survives the inputs on which released software went wrong? LayerNorm, forward."""
import slide

SOURCE = "museum"
RUNGS = {"layernorm/one_pass": "one pass", "layernorm/naive": "naive", "layernorm/welford": "Welford",
         "layernorm/refined": "refined", "optimized/rows_pipelined": "certified SIMD"}


def draw(page):
    cases = {}
    for row in page.read():
        if (row["op"], row["pass"]) == ("layernorm", "forward") and row["verdict"] != "skip":
            cases.setdefault(row["case"], {}).setdefault(row["impl"], []).append(row["verdict"])
    lost = {impl: sum(any(verdict != "ok" for verdict in found[impl]) for found in cases.values() if impl in found)
            for impl in RUNGS if any(impl in found for found in cases.values())}
    if len(lost) < 2:
        raise slide.Missing(f"{SOURCE} lacks LayerNorm's rungs")
    axes = page.axes(left=2.6, right=0.6, xlabel=f"exhibits, of {len(cases)}, on which the method promises nothing or is wrong")
    page.bars(axes, [(RUNGS[impl], count, None, None, f"{count}", "amber" if count else "blue") for impl, count in lost.items()])
    axes.set_xlim(0, len(cases))
    page.note("Most exhibits are inputs from bug reports of released libraries; docs/museum.md has the sources.")
    most, least = max(lost, key=lost.get), min(lost, key=lost.get)
    return (f"{RUNGS[most].capitalize()} is lost on {lost[most]} of {len(cases)} exhibits, {RUNGS[least]} on "
            f"{lost[least] or 'none'}")
