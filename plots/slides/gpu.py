"""How much time does RMSNorm save on a GPU?"""
import slide
from modes import FRAMEWORKS as NAMES
from modes import takes

SOURCE = "frameworks_gpu"
PASSES = {"forward": "forward", "both": "training"}


def draw(page):
    found = {}
    for row in page.read():
        way, dtype, shape, *_ = row["case"].split("/")
        if row["verdict"] == "ok" and row["how"] in NAMES and way in PASSES:
            rows = int(shape.split("x")[0])
            low, high = sorted(1 - float(row[end]) / 100 for end in ("saving_low", "saving_high"))
            found.setdefault((way, dtype), {}).setdefault(rows, {})[row["how"]] = 1 - float(row["saving"]) / 100, low, high
    bars, sizes = [], {}
    for (way, dtype), by_rows in found.items():
        sizes[PASSES[way]] = rows = max(by_rows)
        for how in filter(by_rows[rows].get, NAMES):
            value, low, high = by_rows[rows][how]
            bars.append((f"{NAMES[how]}, {PASSES[way]}, {dtype}", value, low, high, takes(100 * (1 - value)),
                         "red" if low > 1 else "blue" if high < 1 else "amber"))
    if not bars:
        raise slide.Missing(f"{SOURCE} has no layer that was timed")
    axes = page.axes(left=3.9, right=0.6, xlabel="RMSNorm's time over LayerNorm's")
    axes.set_xlim(0, 1.25 * max(1, *(bar[3] for bar in bars)))
    page.bars(axes, bars, max(1, *(bar[3] for bar in bars)), 0)
    axes.axvline(1, color=page.ink, linewidth=2, zorder=3)
    page.note("Kernels alone, in CUDA graphs; " + ", ".join(f"{way} with {rows} rows" for way, rows in sizes.items()) +
              ". Strokes: intervals." + " Amber: the interval contains 1." * any(bar[5] == "amber" for bar in bars))
    least, most = (end(bars, key=lambda bar: bar[1]) for end in (min, max))
    return f"On a GPU RMSNorm takes {least[4]} than LayerNorm in {least[0]}, {most[4]} in {most[0]}"
