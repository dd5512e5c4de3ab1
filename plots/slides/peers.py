"""How does the best of ours compare with other libraries?"""
import slide

SOURCE = "peers"


def draw(page):
    ratios = {}
    cases = {}
    for row in page.read():
        if row["ns"] and row["verdict"] == "ok" and not row["flag"] and not row["options"] and (row["dtype"], row["threads"], row["pass"]) == ("f32", "1", "forward"):
            cases.setdefault((row["op"], f"{row['n']} × {row['c']}"), {})[row["impl"]] = float(row["ns"])
    for key, times in cases.items():
        ours = min((ns for impl, ns in times.items() if not impl.startswith("peer/")), default=None)
        for impl, ns in times.items():
            if impl.startswith("peer/") and ours and key[0] == "layernorm":
                ratios.setdefault(impl[5:], {})[key[1]] = ns / ours
    if not ratios:
        raise slide.Missing("no peer was measured: this build has none (docs/peers.md)")
    shapes = list(dict.fromkeys(shape for found in ratios.values() for shape in found))
    axes = page.axes(xlabel="shape of x", ylabel="its time over ours, LayerNorm", right=2.6)
    for peer, found in ratios.items():
        page.line(axes, [shapes.index(shape) for shape in found], list(found.values()), peer)
    axes.set_xticks(range(len(shapes)), [shape.replace(" × ", "\n× ") for shape in shapes])
    axes.axhline(1, color=page.muted, linewidth=2)
    axes.set_ylim(0, None)
    page.names(axes)
    page.note("f32, forward, one thread, verified and timed in the same rounds. Above 1 ours is faster.")
    every = [ratio for found in ratios.values() for ratio in found.values()]
    return f"LayerNorm elsewhere takes {min(every):.1f} to {max(every):.1f} times as long as ours"
