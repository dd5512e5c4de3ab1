"""What can this machine move?"""
import slide
import speed

SOURCE = "limit"
SERIES = {("read", "-"): "reading", ("copy", "ordinary"): "copying", ("copy", "streaming"): "copying,\nstreaming stores"}


def draw(page):
    rows = [row for row in page.read() if row["threads"] == "1"]
    axes = page.axes(xlabel="working set", ylabel="GB/s, one thread", right=2.8)
    ends = {}
    for (pattern, store), name in SERIES.items():
        points = sorted((int(row["size"]), float(row["gbps"]), float(row["gbps_low"]), float(row["gbps_high"])) for row in rows
                        if (row["pattern"], row["store"]) == (pattern, store))
        if points:
            xs, ys, low, high = zip(*points)
            page.line(axes, xs, ys, name, low, high)
            ends[pattern, store] = points
    if ("read", "-") not in ends:
        raise slide.Missing(f"{SOURCE} lacks reading")
    slide.log_x(axes, xs, 7, speed.human)
    slide.log_y(axes, min(low for points in ends.values() for _, _, low, _ in points) / 1.5,
                max(high for points in ends.values() for *_, high in points) * 1.5)
    page.names(axes)
    page.note("A byte counts once for each time that the program reads or writes it. Pale strokes: 95 % intervals.")
    reads = ends["read", "-"]
    best = max(point[1] for point in reads)
    return f"This machine reads {best:.0f} GB/s from its first cache and {reads[-1][1]:.0f} GB/s in {speed.human(reads[-1][0])}"
