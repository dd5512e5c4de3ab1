"""The first screen: what these results say, in three sentences and three numbers, from their rows alone. What
lacks its results is left out. Standard library only. SPDX-License-Identifier: MIT"""
import re
from collections import Counter

import rungs
from captions import number

ORDER = ["HOLDS", "FAILS", "DEPENDS", "NOT RESOLVED", "NOT RUN"]
SAID = {"HOLDS": "{} hold", "FAILS": "{} fail", "DEPENDS": "{} depend on how and where the layer runs",
        "NOT RESOLVED": "{} could not be decided", "NOT RUN": "{} were not run"}


def saves(value, low, high):
    """A saving in per cent with its interval, so that a reader need not compute."""
    if low is not None and high is not None and low <= 0 <= high:
        return "shows no difference" if -2 <= low and high <= 2 else "shows no resolved difference"
    if value >= 0:
        return f"saves {value:.2g} %"
    return f"takes {1 - value / 100:.2g} times as long" if value <= -100 else f"takes {-value:.2g} % longer"


def home(caches, size):
    """Where so many bytes lie, by the machine's line like "L1 48K (cpus 0), L2 1024K (cpus 0)"."""
    return next((f"in {level}" for level, room in re.findall(r"(L\d) (\d+)K", caches) if size <= 1024 * int(room)),
                "from memory" if caches else f"at {size / 2**20:.3g} MiB")


def point(rows, mode, largest):
    """The saving of a mode, f32 forward, at the smallest or the largest size: x, y and the interval."""
    at = {row["panel"]: {} for row in rows}
    for row in rows:
        if row["series"] == mode:
            at[row["panel"]][number(row["x"])] = number(row["y"])
    points = at.get("f32 forward")
    if not points:
        return None
    x = (max if largest else min)(points)
    return x, points[x], *(at.get(f"f32 forward, {end}", {}).get(x) for end in ("low", "high"))


def of_saving(rows, caches):
    found = [(at, words) for mode, largest, words in
             (("simd", False, "as fused SIMD"), ("threads", True, "on all threads"), ("unfused", True, "as single operations"))
             if rows and (at := point(rows, mode, largest))]
    if not found:
        return None, None
    says = [f"{saves(*at[1:])} {words} {home(caches, at[0])}" for at, words in found]
    (x, value, low, high), words = found[min(1, len(found) - 1)]
    interval = low is not None and high is not None
    label = ("of LayerNorm’s time: not resolved, what RMSNorm saves" if interval and low <= 0 <= high else
             "of LayerNorm’s time saved by RMSNorm" if value >= 0 else "longer than LayerNorm takes RMSNorm")
    number = (f"{low:.0f} to {high:.0f}\u00a0%".replace("-", "−") if interval and low <= 0 <= high else
              f"{abs(value):.0f} %")
    more = f" [{low:.0f}, {high:.0f}]" if interval and low > 0 else ""
    return ("Against LayerNorm, RMSNorm " + ", and ".join(filter(None, [", ".join(says[:-1]), says[-1]])) + ".",
            (number, f"{label} {words} {home(caches, x)}{more}"))


def of_claims(rows):
    if not rows:
        return None
    meant = [row for row in rows if row["first"]]
    found = Counter(row["answer"] for row in meant)
    return (f"Of {len(meant)} claims about the two, "
            + ", ".join(SAID[answer].format(found[answer]) for answer in ORDER if found[answer]) + ".")


def of_ladder(results):
    """results: readme.Results"""
    rows = [row for (_, op, pass_, where), row in results.at.items()
            if (op, pass_, where) == ("layernorm", "forward", results.small) and row["verdict"] == "ok" and row["ns"]
            and row["speedup"]]
    if not rows:
        return None, []
    best = min(rows, key=lambda row: number(row["ns"]))
    times, share, error = (number(best[key]) for key in ("speedup", "limit_pct", "error_u"))
    name, mark = rungs.name(best["impl"]), rungs.mark(best)
    return (f"On {results.small} the fastest LayerNorm, {name}, is {times:.3g} times as fast as the formula as printed, at "
            f"{share:.0f} %{mark} of the rate of copying, and its largest error is {error:.2g} units, where one is the "
            "final rounding.",
            [(f"{times:.3g}×", f"from the formula as printed to the fastest LayerNorm, {name}, {results.small}"),
             (f"{share:.0f} %{mark}", "of the rate of plain copying reached by it")])
