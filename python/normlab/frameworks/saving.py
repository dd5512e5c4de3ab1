"""The time that RMSNorm saves over LayerNorm inside one framework: verified, timed in turns, verified again."""
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..timing import race
from .adapter import Framework, Missing, Problem
from .registry import attempt, confine, make
from .verify import problem, race_judged


class Saving(NamedTuple):
    """A row of the results. Savings are in per cent of LayerNorm's time, times in nanoseconds a call."""

    how: str  #: the framework's name, as in the line `where:` of a claim
    version: str
    case: str  #: "forward/f32/64x1024/normal"
    threads: int
    device: str
    verdict: str  #: "ok", "skip", or "fail", which means wrong and not timed
    layernorm_ns: float = nan
    rmsnorm_ns: float = nan
    saving: float = nan
    saving_low: float = nan  #: the A/A band widens the interval
    saving_high: float = nan
    log_ratio: float = nan  #: log(RMSNorm's time / LayerNorm's time)
    log_low: float = nan
    log_high: float = nan
    aa_band: float = nan  #: the A/A band: the larger end of the interval of LayerNorm's log ratio to itself
    rounds: int = 0
    call_ns: float = nan  #: if calls are queued: time of one LayerNorm call from Python until its result exists
    why: str = ""


def pair(case: str) -> tuple[Problem, Problem]:
    """Gives both layers the same arrays, because the place of arrays in memory can matter more than the saving."""
    first, second = problem("layernorm", case), problem("rmsnorm", case)
    same_ones = {name: first.arrays[name] for name, a in second.arrays.items() if np.array_equal(first.arrays[name], a)}
    return first, second._replace(arrays={**second.arrays, **same_ones})


def measure(framework: Framework, how: str, case: str, threads: int, seconds: float, device: str = "cpu") -> Saving:
    """Times both layers in a framework that is already set up."""
    row = Saving(how, framework.version, case, threads, device, "ok")
    try:
        layers = [(given.op, given, framework.layer(given)) for given in pair(case)]
        timed, why = race_judged(layers, seconds)
    except Missing as missing:
        return row._replace(verdict="skip", why=str(missing))
    if timed is None:
        return row._replace(verdict="fail", why=why)
    first, second = (layer for _, _, layer in layers)
    if first.queue:
        row = row._replace(call_ns=race(first.call, seconds=seconds / 3).ns[0][0])
    ratio, saved = timed.log_ratios[1], timed.savings[1]
    return row._replace(
        layernorm_ns=timed.ns[0][0] / first.calls, rmsnorm_ns=timed.ns[1][0] / second.calls,
        saving=saved[0], saving_low=saved[1], saving_high=saved[2], log_ratio=ratio[0], log_low=ratio[1],
        log_high=ratio[2], aa_band=timed.band, rounds=timed.rounds)


def measure_by_name(how: str, case: str, threads: int, seconds: float, device: str) -> Saving:
    """registry.each() calls this function in a separate process."""
    confine(threads)
    return attempt(lambda: measure(make(how, threads, device), how, case, threads, seconds, device),
                   Saving(how, "", case, threads, device, "fail"))


def cases(rows: list[int], passes: tuple[str, ...] = ("forward", "both"),
          dtypes: tuple[str, ...] = ("f32", "bf16")) -> list[str]:
    return [f"{direction}/{dtype}/{n}x1024/normal" for direction in passes for dtype in dtypes for n in rows]


HEAD = f"{'framework':14} {'case':30} {'LayerNorm':>10} {'RMSNorm':>10} us  RMSNorm saves (-: takes more) [95 % confidence]"


def line(row: Any) -> str:
    head = f"{row.how:14} {row.case:30} "
    if row.verdict != "ok":
        return f"{head}{row.verdict}: {row.why}"
    says = ("LayerNorm is slower" if row.saving_low > 0 else "RMSNorm is slower" if row.saving_high < 0 else
            "SAME" if -2 <= row.saving_low and row.saving_high <= 2 else "NOT RESOLVED")
    return (f"{head}{row.layernorm_ns / 1e3:10.1f} {row.rmsnorm_ns / 1e3:10.1f} us  {row.saving:.1f} % "
            f"[{row.saving_low:.1f}, {row.saving_high:.1f}]: {says}")
