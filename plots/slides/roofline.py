"""What bounds a norm: moving its bytes, or computing? f32, forward, one thread."""
from math import inf
from pathlib import Path

import common
import files
import rungs
import slide

SOURCE = "ladder"
FLOPS = {"layernorm": 8, "rmsnorm": 4}  # for each element: 1 + 3 for sums, 4 for y; RMSNorm: 2 for the sum, 2 for y
PATTERN = "copy"  # a norm reads x and writes y; the faster of both kinds of stores counts
DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def roofs(page):
    """[(name, GB/s)]: the fastest copy that fills at most half of a cache, and for memory the largest copy."""
    best = {}
    for row in page.read("limit"):
        if row["threads"] == "1" and row["pattern"] == PATTERN:
            size, rate = float(row["size"]), float(row["gbps"])
            best[size] = max(best.get(size, 0), rate)
    rooms = files.caches(page.path("limit"))
    found, least = [], 0
    for name, room in rooms + [("memory", float("inf"))]:
        inside = [rate for size, rate in best.items() if 2 * least < size <= (room / 2 if room < 1e18 else room)]
        found += [(name, max(inside) if name != "memory" else best[max(best)])] * bool(inside)
        least = room
    return found


def peak(page):
    """Gflop/s of fused multiply-adds, from the study `peak`; None without its results."""
    try:
        return max(float(row["y"]) for row in page.read("peak") if row["panel"] == "one thread")
    except (slide.Missing, ValueError):
        return None


def ports(page, row):
    """Gflop/s that the rung's instructions allow (scripts/ports.py), at the clock that one chain of multiply-adds shows.
    None: the core has no model, or the chain was not measured."""
    core = files.core(page.path("ladder"), DOCS / "machines")
    case = f"{row['op']}/{row['pass']}/{row['dtype']}"
    limit = [float(found["limit"]) for found in files.rows(DOCS / "ports.csv") if found["core"] == core
             and (found["case"], found["impl"], found["isa"]) == (case, row["impl"], row["isa"])]
    try:
        chain = [float(found["y"]) for found in page.read("peak") if (found["series"], found["x"]) == (row["isa"], "1")]
    except slide.Missing:
        return None
    lanes = {"avx2": 8, "avx512": 16}.get(row["isa"])
    return FLOPS[row["op"]] * 16 / limit[0] * chain[0] * 4 / 2 / lanes if limit and chain else None


def points(page):
    """For each layer, naive and the fastest rung at 64 x 1024."""
    rows = [row for row in common.on_widest(page.read()) if row["op"] in FLOPS and row["dtype"] == "f32" and row["ns"]
            and row["pass"] == "forward" and not row["options"] and row["verdict"] == "ok" and not row["flag"]]
    for op in FLOPS:
        mine = [row for row in rows if row["op"] == op and (row["n"], row["c"]) == ("64", "1024")]
        naive = [row for row in mine if row["impl"] == f"{op}/naive"]
        if mine and naive:
            yield naive[0]
            yield slide.fastest(mine)


def draw(page):
    lines, top, marks = roofs(page), peak(page), list(points(page))
    if not lines or not marks:
        raise slide.Missing("it needs the results of ladder and limit")
    axes = page.axes(left=2.7, right=1.1, xlabel="flops a byte", ylabel="Gflop/s")
    axes.yaxis.tick_right()
    low, high = 0.125, 32 if top else 4
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}" if x >= 1 else f"1/{1 / x:g}")
    ceiling = top or lines[0][1] * high
    least = min(FLOPS[row["op"]] * int(row["n"]) * int(row["c"]) / float(row["ns"]) for row in marks)
    bottom = min(low * lines[-1][1] / 2, least / 4)
    slide.log_y(axes, bottom, ceiling * 1.9, lambda y: f"{y:g}" if y > 1.5 * bottom else "")  # no label near the x axis
    for name, rate in lines:
        ends = [low, min(high, ceiling / rate)]
        drawn, = axes.plot(ends, [end * rate for end in ends], color=page.muted, linewidth=2.5, zorder=1)
        page.series[axes].append((f"{name}, {rate:.0f} GB/s", drawn))
    page.names(axes, 0)
    if top:
        axes.plot([top / lines[0][1], high], [top, top], color=page.muted, linewidth=2.5, zorder=1)
        axes.text(high, top * 1.06, f"fused multiply-adds, {top:.0f}", fontsize=slide.TEXT, color=page.ink, ha="right", va="bottom")
    best, named, bars = {}, [], []
    for row in marks:
        x = FLOPS[row["op"]] * int(row["n"]) * int(row["c"]) / float(row["bytes"])
        y = x * float(row["gbps"])
        colour, marker, _ = slide.LOOKS[list(FLOPS).index(row["op"])]
        naive = row["impl"].endswith("/naive")
        look = {"marker": marker, "color": page.colours[colour], "markeredgewidth": 3}
        named.append((x, y, f"{rungs.LAYERS[row['op']]} {rungs.name(row['impl'])}", look | {"markerfacecolor": page.back} if naive else look))
        best[row["op"]] = x, float(row["limit_pct"])
        if not naive and (most := ports(page, row)):
            bars.append(f"{most:.0f}")
            axes.plot([x / 1.2, x * 1.2], [most, most], color=page.colours[colour], linewidth=6, zorder=2)
    page.points(axes, named)
    page.note("64 × 1024: x and y fit L2. Lines: the fastest copy in each place. Flops as in the formula; each byte counts once. "
              + ("" if top else "The peak of multiply-adds was not measured. ")
              + f"Bars: what the rungs' instructions allow, {' and '.join(bars)} Gflop/s." * bool(bars))
    second = min(1, len(lines) - 1)
    x, share = best["layernorm"] if "layernorm" in best else next(iter(best.values()))
    binds = top / lines[second][1] if top else inf
    return (f"{'Bytes bound' if x < binds else 'Computing bounds'} a norm: {x:.2g} flops a byte"
            + f", and computing binds from {binds:.2g} on in {lines[second][0]}" * bool(top)
            + f". The best rung is at {share:.0f} % of the limit")
