"""The first screen: the answer of these results in three sentences and three numbers, from their rows alone.
A sentence without results is left out. Standard library only. SPDX-License-Identifier: MIT"""
from collections import Counter

import files
import modes
import rungs
from captions import number

ORDER = ["HOLDS", "FAILS", "DEPENDS", "NOT RESOLVED", "FIRST LOOK", "NOT RUN"]
SAID = {"HOLDS": "{} hold", "FAILS": "{} fail", "DEPENDS": "{} depend on how and where the layer runs",
        "NOT RESOLVED": "{} could not be decided", "FIRST LOOK": "{} have only a first look",
        "NOT RUN": "{} were not run"}


def of_saving(rows):
    """The headline slide's answer for this machine: a sentence with the settings, and a number with its settings."""
    at = modes.savings(rows)
    says, fused = modes.answer([at], sizes=True), [race for race in modes.FUSED if race in at and modes.is_told(at[race])]
    if not says:
        return None, None
    passes = max((int(number(row.get("passes", "") or "0")) for row in at.values()), default=0)
    first = "" if passes > 2 else " (a first look, of one process)"
    ends = list(dict.fromkeys(modes.shape(race[1])[0] for race in (fused[:1] + fused[-1:])))
    where = f"from {' to '.join(ends)}: not one number" if len(ends) > 1 else f"at {''.join(ends)}"
    tile = (modes.between([number(at[race]["value"]) for race in fused]),
            f"RMSNorm’s time against LayerNorm’s, fused, {where}{first}") if fused else None
    lacks = dict.fromkeys(modes.shape(race[1])[0] for race in modes.FUSED if race not in at)
    return f"On this machine{first}, {says}.{' Not measured: ' * bool(lacks)}{', '.join(lacks)}{'.' * bool(lacks)}".replace("'", "’"), tile


def of_claims(rows):
    if not rows:
        return None
    meant = [row for row in rows if row["first"]]
    found = Counter(row["answer"] for row in meant)
    return (f"Of {len(meant)} claims, "
            + ", ".join(SAID[answer].format(found[answer]) for answer in ORDER if found[answer]) + ".")


def of_ladder(results):
    """The fastest LayerNorm, in words and numbers; results: readme.Results."""
    rows = [row for (_, op, pass_, where), row in results.at.items()
            if (op, pass_, where) == ("layernorm", "forward", results.small) and row["verdict"] == "ok" and row["ns"]
            and row["speedup"] and not row["impl"].endswith("_threaded")]
    if not rows:
        return None, []
    best = min(rows, key=lambda row: number(row["ns"]))
    times, share, error = (number(best[key]) for key in ("speedup", "limit_pct", "error_u"))
    name, mark = rungs.name(best["impl"]), rungs.mark(best)
    busy = " Other programs disturbed these times: measure again." if files.is_busy(results.at.values()) else ""
    return (f"On {results.small} the fastest LayerNorm of one thread, {name}, is {times:.3g} times as fast as the formula as printed, at "
            f"{share:.0f} %{mark} of the rate of copying, and its largest error is {error:.2g} units; the final "
            "rounding is one unit." + busy,
            [(f"{times:.3g}×", f"from the formula as printed to the fastest LayerNorm, {name}, {results.small}"),
             (f"{share:.0f} %{mark}", "of the rate of plain copying reached by this LayerNorm")])
