"""Does the cost of what nl_best() chooses grow as it should?"""
import slide

SOURCE = "growth"
CLIFF = 1.5  # a cliff: the time per element grows by a factor of over 1.5, and of over 1.5 times the limit's
LAYERS = {"1": "1 row", "64": "64 rows", "4096": "4096 rows", "262144": "262144 rows"}


def draw(page):
    rows = [row for row in page.rows(op="layernorm", dtype="f32", data="normal") if row["pass"] == "forward" and row["ns"]]
    axes = page.axes(xlabel="values in a row", ylabel="ns for each value", right=2.5)
    every, cliffs = {}, []
    for n, name in LAYERS.items():
        points = sorted((int(row["c"]), *(time / int(row["n"]) / int(row["c"]) for time in (
            float(row["ns"]), float(row["bytes"]) / float(row["limit_gbps"])))) for row in rows if row["n"] == n)
        if len(points) > 1:
            page.line(axes, *list(zip(*points))[:2], name)
            every |= {(n, c): y for c, y, _ in points}
            cliffs += [b[:2] for a, b in zip(points, points[1:]) if b[1] / a[1] > CLIFF * max(1, b[2] / a[2])]
    if len(every) < 3:
        raise slide.Missing(f"{SOURCE} lacks LayerNorm at several sizes")
    slide.log_x(axes, sorted({c for _, c in every}), 6)
    slide.log_y(axes, min(every.values()) / 2, max(every.values()) * 2)
    for cliff in cliffs:
        axes.plot(*cliff, marker="o", markersize=20, markerfacecolor="none", markeredgecolor=page.ink, zorder=5)
    page.names(axes)
    page.note(f"LayerNorm, f32, forward, one thread, nl_best(). Rings: cliffs, where the time rises over {CLIFF} times as much "
              "as the limit's.")
    (n, c), most = max(every.items(), key=lambda item: item[1])
    least = min(every.values())
    return f"A value costs {least:.2g} to {most:{'.0f' if most >= 10 else '.2g'}} ns: most in {LAYERS[n]} of {c}"
