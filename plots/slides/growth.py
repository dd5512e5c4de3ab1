"""Does the cost of what nl_best() chooses grow as it should?"""
import slide

SOURCE = "growth"
LAYERS = {"1": "1 row", "64": "64 rows", "4096": "4096 rows", "262144": "262144 rows"}


def draw(page):
    rows = [row for row in page.rows(op="layernorm", dtype="f32", data="normal") if row["pass"] == "forward" and row["ns"]]
    axes = page.axes(xlabel="values in a row", ylabel="ns for each value", right=2.5)
    every = {}
    for n, name in LAYERS.items():
        points = sorted((int(row["c"]), float(row["ns"]) / int(row["n"]) / int(row["c"])) for row in rows if row["n"] == n)
        if len(points) > 1:
            page.line(axes, *zip(*points), name)
            every |= {(n, c): y for c, y in points}
    if len(every) < 3:
        raise slide.Missing(f"{SOURCE} lacks LayerNorm at several sizes")
    slide.log_x(axes, sorted({c for _, c in every}), 6)
    slide.log_y(axes, min(every.values()) / 2, max(every.values()) * 2)
    page.names(axes)
    page.note("LayerNorm, f32, forward, one thread, nl_best().")
    (n, c), most = max(every.items(), key=lambda item: item[1])
    least = min(every.values())
    return f"A value costs {least:.2g} to {most:{'.0f' if most >= 10 else '.2g'}} ns: most in {LAYERS[n]} of {c}"
