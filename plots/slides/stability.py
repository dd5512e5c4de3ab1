"""Does a second run say the same? Each stroke is the 95 % interval of one process."""
from datetime import datetime
from math import exp
from statistics import median

import files
import slide

SOURCE = "claims"
RACES = {("unfused", "forward/f32/16384x1024/normal"): "unfused,\n128 MiB",
         ("scalar", "forward/f32/64x1024/normal"): "plain C,\n512 KiB",
         ("simd", "forward/f32/64x1024/normal"): "SIMD,\n512 KiB",
         ("streaming", "forward/f32/16384x1024/normal"): "SIMD,\n128 MiB"}
LOW, HIGH, APART, ENOUGH = -20, 62, 900, 6  # APART: seconds between sittings, SITTING_S in harness/claims/evidence.h


def saving(log_ratio):
    return 100 * (1 - exp(float(log_ratio)))


def passes(results, facts):
    """The passes that timed the kernels with the hash in `facts`, in order of time: (seconds, {race: row})."""
    found = []
    for path in results.glob("evidence/*/*/races.csv"):
        known = files.facts_of(path.with_name("machine.txt"))
        if known.get("kernels") == facts.get("kernels") and known.get("quick") == facts.get("quick") and files.sound(path):
            found.append((datetime.fromisoformat(known["date"].replace("Z", "+00:00")).timestamp(), {(row["how"], row["case"]): row for row in files.rows(path)
                                                         if row["verdict"] == "ok" and row["case"]}))
    return sorted(found, key=lambda each: each[0])


def draw(page):
    found = passes(page.results, page.facts)
    if len(found) < ENOUGH:
        raise slide.Missing(f"it needs {ENOUGH} passes and has {len(found)}: normlab claims --passes {ENOUGH}")
    xs, at, begins = [], 0, []
    for i, (when, _) in enumerate(found):
        new = i == 0 or when - found[i - 1][0] > APART
        at += 2 if new and i else 1
        begins += [(at, when)] if new else []
        xs.append(at)
    axes = page.axes(xlabel=f"{len(found)} passes, each a fresh process; a gap: at least a quarter of an hour",
                     ylabel="time that RMSNorm saves, % of LayerNorm's", right=2.3)
    axes.set_ylim(LOW, HIGH)
    axes.set_xlim(0.3, at + 0.5)
    axes.axhline(0, color=page.muted, linewidth=1.4)
    ticks, room = [], at / 9
    for x, when in begins:
        if not ticks or x - ticks[-1][0] >= room:
            ticks.append((x, f"+{(when - found[0][0]) / 3600:.1f} h"))
    axes.set_xticks(*zip(*ticks))
    for race, name in RACES.items():
        have = [(x, rows[race]) for x, (_, rows) in zip(xs, found) if race in rows]
        if not have:
            continue
        ends = [[min(max(saving(row[key]), LOW), HIGH) for _, row in have] for key in ("log_high", "log_low")]
        line = page.line(axes, [x for x, _ in have], [saving(row["log_ratio"]) for _, row in have], name, *ends)
        line.set_linewidth(1)
    page.names(axes)
    missed = told = 0
    for race in {race for _, rows in found for race in rows}:
        own = [rows[race] for _, rows in found if race in rows]
        middle = median(float(row["log_ratio"]) for row in own)
        missed += sum(not float(row["log_low"]) <= middle <= float(row["log_high"]) for row in own)
        told += len(own)
    page.note(f"{told} intervals of one process each; about 5 % would miss if processes and hours did not differ.")
    return (f"{100 * missed / told:.0f} % of the intervals of one process miss what {len(found)} passes agree on: an answer "
            "needs several passes, in different hours")
