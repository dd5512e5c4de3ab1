"""Has a row the same bits in every batch? Layers, passes and types, rows of 1000 and of 65,536"""
import slide
from modes import FRAMEWORKS as NAMES

SOURCE = "frameworks_invariance"


def draw(page):
    found = {}
    for row in page.read():
        if row["verdict"] in ("same", "differs") and row["how"] in NAMES:
            found.setdefault(row["how"], []).append(row)
    if not found:
        raise slide.Missing(f"{SOURCE} lacks rows that were compared")
    bars, same = [], {}
    for how in filter(found.get, NAMES):
        rows = found[how]
        others = [int(row["smallest"]) for row in rows if row["verdict"] == "differs"]
        same[NAMES[how]] = len(rows) - len(others), len(rows)
        words = f"{len(rows) - len(others)} of {len(rows)}" + (f"; other bits from a batch of {min(others)} on" if others else "")
        bars.append((NAMES[how], 100 - 100 * len(others) / len(rows), None, None, words, "amber" if others else "blue"))
    axes = page.axes(left=2.6, right=0.6, xlabel="cases in which every row keeps its bits, % of those that the framework has")
    axes.set_xlim(0, 100)
    page.bars(axes, bars, 100)
    axes.set_xticks(range(0, 101, 25))
    threads = page.read()[0]["threads"]
    page.note(f"Eight rows alone, then in batches of up to 257 rows; {threads} threads. Only normlab promises the same bits.")
    keep = [name for name, (kept, of) in same.items() if kept == of]
    least = min(same, key=lambda name: same[name][0] / same[name][1])
    kept, of = same[least]
    return (f"{' and '.join(keep) or 'None'} keep{'s' * (len(keep) < 2)} a row's bits in every batch"
            + f"; {least.partition(',')[0]} in {kept} of {of} cases" * (kept < of))
