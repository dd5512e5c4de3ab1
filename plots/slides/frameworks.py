"""How much time does RMSNorm save inside PyTorch, ONNX Runtime and JAX?"""
import slide
from modes import FRAMEWORKS, takes

SOURCE = "frameworks"
NAMES = FRAMEWORKS | {"normlab": "normlab, from Python"}


def draw(page):
    found = {}
    for row in page.read():
        if row["verdict"] == "ok" and row["case"].startswith("forward/f32/") and row["how"] in NAMES:
            rows = int(row["case"].split("/")[2].split("x")[0])
            low, high = sorted(1 - float(row[end]) / 100 for end in ("saving_low", "saving_high"))
            found.setdefault(row["how"], {})[rows] = 1 - float(row["saving"]) / 100, low, high
    if not found:
        raise slide.Missing(f"{SOURCE} lacks forward in f32")
    rows = max(set.intersection(*(set(sizes) for sizes in found.values())) or {0})
    bars = [(NAMES[how], *found[how][rows], takes(100 * (1 - found[how][rows][0])), "red" if found[how][rows][0] > 1 else "blue")
            for how in NAMES if rows in found.get(how, {})]
    if not bars:
        raise slide.Missing(f"{SOURCE} has no number of rows that all frameworks share")
    axes = page.axes(left=3.2, right=0.6, xlabel="RMSNorm's time over LayerNorm's")
    slide.log_axis(axes.xaxis, 0.8 * min(1, *(bar[2] for bar in bars)), 1)
    page.bars(axes, bars, max(1, *(bar[3] for bar in bars)), 1)
    axes.axvline(1, color=page.ink, linewidth=2, zorder=3)
    page.note(f"f32, forward, {rows} rows. Beyond 1 RMSNorm is slower than LayerNorm. Strokes: intervals.")
    least, most = (end(bars, key=lambda bar: bar[1]) for end in (min, max))
    return f"RMSNorm's time against LayerNorm's: {least[4]} in {least[0]}, {most[4]} in {most[0]}"
