"""What does a second thread bring, and what would it bring at best?"""
import common
import rungs
import slide

SOURCE = "threads"


def draw(page):
    times, limits = {}, {}
    for row in common.on_widest(page.read()):
        if row["ns"] and row["impl"].endswith("_threaded") and row["pass"] == "forward" and not row["flag"]:
            key = row["op"], f"{row['n']} × {row['c']}"
            times.setdefault(key, {})[int(row["threads"])] = float(row["ns"])
            limits.setdefault(key, {})[int(row["threads"])] = float(row["limit_gbps"])
    most = max((max(t) for t in times.values()), default=1)
    bars = [(f"{rungs.LAYERS[op]}, {shape}", t[1] / t[most], limits[op, shape][most] / limits[op, shape][1])
            for (op, shape), t in times.items() if {1, most} <= set(t)]
    if most == 1 or not bars:
        raise slide.Missing(f"{SOURCE} ran on one thread")
    axes = page.axes(left=3.6, right=0.6, xlabel=f"times as fast with {most} threads as with one")
    page.bars(axes, [(name, gain, None, None, f"{gain:.2f}×", "blue" if gain > 1 else "red") for name, gain, _ in bars],
              max(1, *(max(bar[1:]) for bar in bars)))
    for i, (_, _, limit) in enumerate(bars):
        axes.plot([limit, limit], [i - 0.4, i + 0.4], color=page.muted, linewidth=4, zorder=2.5)
    axes.axvline(1, color=page.ink, linewidth=1.5, zorder=3)
    page.note("f32, forward, the threaded rungs. Upright grey strokes: what copying gains. Left of 1: slower than one thread.")
    gains = [gain for _, gain, _ in bars]
    slower = sum(gain < 1 for gain in gains)
    ends = " to ".join(dict.fromkeys(f"{end(gains):.2f}" for end in (min, max)))
    return f"{most} threads are {ends} times as fast as one" + f"; slower: {slower} of {len(gains)}" * bool(slower)
