"""The first screen: what these results say, in three sentences and three numbers, from their rows alone. What
lacks its results is left out. Standard library only. SPDX-License-Identifier: MIT"""
from collections import Counter

import rungs
from captions import number

ORDER = ["HOLDS", "FAILS", "DEPENDS", "NOT RESOLVED", "FIRST LOOK", "NOT RUN"]
SAID = {"HOLDS": "{} hold", "FAILS": "{} fail", "DEPENDS": "{} depend on how and where the layer runs",
        "NOT RESOLVED": "{} could not be decided", "FIRST LOOK": "{} have a first look, no answer",
        "NOT RUN": "{} were not run"}


def saves(value, low, high):
    """A saving in per cent with its interval, so that a reader need not compute."""
    if low <= 0 <= high:
        return "shows no difference" if -2 <= low and high <= 2 else "shows no resolved difference"
    if value >= 0:
        return f"saves {value:.2g} %"
    return f"takes {1 - value / 100:.2g} times as long" if value <= -100 else f"takes {-value:.2g} % longer"


MEANT = [("simd", "forward/f32/64x1024/normal"), ("streaming", "forward/f32/16384x1024/normal"),
         ("unfused", "forward/f32/16384x1024/normal")]


def of_saving(rows):
    """Of claims: what the headline's slide says, fused from a cache and from memory, and unfused."""
    at = {(row["how"], row["case"]): row for row in rows
          if row["quantity"] == "saving" and number(row.get("share", "1")) == 1 and row["value"] and row["rounds"] != "0"}
    found = [(*(number(at[race][key]) for key in ("value", "low", "high")), at[race]["where"]) for race in MEANT if race in at]
    if not found:
        return None, None
    says = [f"{saves(value, low, high)} ({where})" for value, low, high, where in found]
    value, low, high, where = found[min(1, len(found) - 1)]
    unresolved = low <= 0 <= high
    label = ("of LayerNorm’s time: not resolved, what RMSNorm saves" if unresolved else
             "of LayerNorm’s time saved by RMSNorm" if value >= 0 else "longer than LayerNorm takes RMSNorm")
    said = f"{low:.0f} to {high:.0f}\u00a0%".replace("-", "−") if unresolved else f"{abs(value):.0f} %"
    more = f" [{low:.0f}, {high:.0f}]" if low > 0 else ""
    return ("Against LayerNorm, RMSNorm " + ", and ".join(filter(None, [", ".join(says[:-1]), says[-1]])) + ".",
            (said, f"{label}: {where}{more}"))


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
