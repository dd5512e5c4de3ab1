"""Which method survives the inputs on which released software went wrong? LayerNorm, forward."""
import slide

SOURCE = "museum"
FAR = 1000  # units: four of a float's seven digits are left
RUNGS = {"layernorm/one_pass": "one pass", "layernorm/naive": "naive", "layernorm/welford": "Welford",
         "layernorm/refined": "refined", "optimized/rows_pipelined": "certified SIMD"}


def draw(page):
    exhibits, lost = set(), {}
    for row in page.read():
        if (row["op"], row["pass"]) == ("layernorm", "forward") and row["verdict"] != "skip":
            exhibits.add(row["data"])
            if row["impl"] in RUNGS:
                far = row["verdict"] == "fail" or row["verdict"] == "demo" and not float(row["error_u"]) <= FAR
                lost.setdefault(row["impl"], set()).update([row["data"]] if far else [])
    lost = {impl: len(lost[impl]) for impl in RUNGS if impl in lost}
    if len(lost) < 2:
        raise slide.Missing(f"{SOURCE} lacks LayerNorm's rungs")
    axes = page.axes(left=2.6, right=0.6, xlabel=f"exhibits, of {len(exhibits)}, with no error bound and an error over {FAR:,} units")
    page.bars(axes, [(RUNGS[impl], count, None, None, f"{count}", "amber" if count else "blue") for impl, count in lost.items()])
    axes.set_xlim(0, len(exhibits))
    page.note("Most exhibits are inputs from bug reports of released libraries; docs/museum.md has the sources.")
    most, least = max(lost, key=lost.get), min(lost, key=lost.get)
    return (f"{RUNGS[most].capitalize()} is lost on {lost[most]} of {len(exhibits)} exhibits, {RUNGS[least]} on "
            f"{lost[least] or 'none'}")
