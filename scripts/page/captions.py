"""Captions of an experiment's results: counts, extremes and first places, computed from its rows alone, so
that a caption changes with the data. Each function returns sentences and a table in Markdown. Standard
library only. SPDX-License-Identifier: MIT"""
import math
from collections import Counter

import rungs
from markers import table as table_of
from readme import human

SAYS = {"ok": "within their bounds", "demo": "shown and not judged, because their method has no bound there",
        "fail": "FAILED", "skip": "not run here"}


def number(text):
    return float(text) if text else math.nan


def three(value):
    return f"{value:.3g}"


def markdown(heads, rows, right):
    """right: the number of columns at the right that are right-aligned."""
    return table_of(heads, [[str(cell).replace("|", "\\|") for cell in row] for row in rows], len(heads) - right)


def counts(rows):
    cases = len({row["case"] for row in rows})
    impls = len({row["impl"] for row in rows})
    found = Counter(row["verdict"] for row in rows)
    verdicts = ", ".join(f"{found[v]} {SAYS.get(v, v)}" for v in [*SAYS, *(set(found) - set(SAYS))] if found[v])
    return f"{len(rows)} results of {impls} implementations on {cases} cases: {verdicts}."


def times(row):
    """The speed-up over the baseline with its interval; "" for the baseline."""
    if not row["speedup"] or row["impl"] == row["baseline"]:
        return ""
    interval = f' ({three(number(row["speedup_low"]))} to {three(number(row["speedup_high"]))})'
    return three(number(row["speedup"])) + (interval if row["speedup_low"] else "")


def bench(rows):
    """The fastest right implementation of each case."""
    timed = [row for row in rows if row["ns"] and row["verdict"] in ("ok", "demo")]
    compared = Counter(row["comparison"] for row in timed if row["comparison"] not in ("", "baseline"))
    says = [counts(rows)]
    if compared:
        says.append("Against their baseline: " + ", ".join(f"{n} {name}" for name, n in compared.items()) + ".")
    beyond = sum(bool(row["flag"]) for row in timed)
    if beyond:
        says.append(f"{beyond} of the times {'is' if beyond == 1 else 'are'} {rungs.IMPOSSIBLE}.")
    first = {}
    for row in timed:
        if row["verdict"] == "ok" and not row["impl"].startswith("peer/"):
            best = first.setdefault(row["case"], row)
            if number(row["ns"]) < number(best["ns"]):
                first[row["case"]] = row
    winners = Counter(f"{rungs.name(row['impl'])} ({row['isa']})" for row in first.values())
    if winners:
        name, n = winners.most_common(1)[0]
        says.append(f"Most often the fastest: {name}, on {n} of {len(first)} cases.")
    table = [[f"`{case}`", f"{rungs.name(row['impl'])}, {row['isa']}", human(number(row["ns"])), times(row),
              three(number(row["limit_pct"])) + rungs.mark(row) if row["limit_pct"] else "", three(number(row["error_u"]))]
             for case, row in first.items()]
    return says, "The fastest on each case", markdown(
        ["case", "fastest", "time", "× baseline (interval)", "% of limit", "error, units"], table, 4)


def share(row):
    bound = number(row["bound_u"])
    return number(row["error_u"]) / bound if bound and math.isfinite(bound) else math.nan


def check(rows):
    """Verdicts and the largest errors by layer, pass and type."""
    groups = {}
    for row in rows:
        groups.setdefault((row["op"], row["pass"], row["dtype"]), []).append(row)
    says, right, table = [counts(rows)], [row for row in rows if row["verdict"] == "ok"], []
    used = [row for row in right if not math.isnan(share(row))]
    if used:
        worst = max(used, key=share)
        says.append(f"Right, and nearest to its bound: {rungs.name(worst['impl'])} "
                    f"({worst['isa']}) on {worst['case']}, at {share(worst):.3g} of it.")
    for group, members in groups.items():
        found = Counter(row["verdict"] for row in members)
        errors = [number(row["error_u"]) for row in members if row["verdict"] == "ok" and row["error_u"]]
        demos = [number(row["error_u"]) for row in members if row["verdict"] == "demo" and row["error_u"]]
        table.append([*group, found["ok"], found["demo"], found["fail"],
                      three(max(errors)) if errors else "", worst_of(demos)])
    return says, "Verdicts by layer, pass and type", markdown(
        ["layer", "pass", "type", "within bound", "demonstrations", "failed", "largest error, units",
         "of demonstrations"], table, 5)


def worst_of(errors):
    if not errors:
        return ""
    return three(max(errors)) if all(map(math.isfinite, errors)) else "NaN or infinite"


def study(rows):
    """The ends and the extremes of each series."""
    series = {}
    for row in rows:
        series.setdefault((row["panel"], row["series"]), []).append((number(row["x"]), number(row["y"])))
    table = []
    for (panel, name), points in series.items():
        points.sort(key=lambda p: p[0])
        ys = [y for _, y in points]
        bad = not all(map(math.isfinite, ys))
        at = [f"{three(y)} at {three(x)}" for x, y in (points[0], points[-1])]
        table.append([panel, name, *at, "not finite" if bad else three(min(ys)),
                      "not finite" if bad else three(max(ys))])
    panels = len({panel for panel, _ in series})
    return ([f"{len(rows)} points of {len(series)} curves in {panels} panels."],
            "Where each curve begins and ends", markdown(
                ["panel", "curve", "first", "last", "smallest", "largest"], table, 4))


def limit(rows):
    """The rates at the smallest and the largest size."""
    table = {}
    for row in rows:
        key = row["threads"], row["pattern"], row["store"]
        table.setdefault(key, []).append((int(row["size"]), number(row["gbps"])))
    lines = []
    for key, points in table.items():
        points.sort()
        best = max(points, key=lambda p: p[1])
        lines.append([*key, *(f"{three(g)} at {n // 1024} KiB" for n, g in (points[0], best, points[-1]))])
    top = max(rows, key=lambda row: number(row["gbps"]))
    says = (f"At most {three(number(top['gbps']))} GB/s, by {top['pattern']} of {int(top['size']) // 1024} KiB "
            f"on {top['threads']} thread{'s' * (top['threads'] != '1')}.")
    return [says], "GB/s of each pattern", markdown(
        ["threads", "pattern", "store", "smallest size", "best", "largest size"], lines, 3)


def of(rows):
    """Selects the kind of results, a bench, check, study or limit, by their columns."""
    if "panel" in rows[0]:
        return study(rows)
    if "pattern" in rows[0]:
        return limit(rows)
    if "verdict" in rows[0] and "error_u" in rows[0]:
        return bench(rows) if any(row["ns"] for row in rows) else check(rows)
    return [f"{len(rows)} lines."], "", ""
