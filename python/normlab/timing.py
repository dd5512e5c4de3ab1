"""Measurements: of kernels, by the program of the package in a process of its own; of Python's functions, here."""
from collections.abc import Callable
from os.path import dirname, join
from typing import Any, NamedTuple

from . import _core
from .table import Impl

_PROGRAM = join(dirname(__file__), "normlab")


class Measurement(NamedTuple):
    """An implementation on a case. Times are of one call, in nanoseconds; numbers that do not exist
    are NaN. Intervals hold the true median with 95 % confidence (docs/measuring.md)."""

    case: str
    impl: str
    isa: str
    threads: int
    verdict: str  #: "ok", "fail", "demo" or "skip": only the right ones are timed
    error_u: float  #: the largest error, units
    bound_u: float  #: the bound there, units
    ns: float  #: the median
    ns_low: float
    ns_high: float
    baseline: str
    speedup: float  #: times as fast as the baseline, in the same rounds
    speedup_low: float
    speedup_high: float
    comparison: str  #: "FASTER", "SLOWER", "SAME", "NOT RESOLVED", or "baseline"
    gbps: float  #: gigabytes a second
    limit_pct: float  #: per cent of plain copying of the same buffers, in the same rounds
    flag: str  #: "IMPOSSIBLE": faster than the limit by more than the noise


class Limit(NamedTuple):
    """How fast this machine moves bytes in one pattern. Rates are in gigabytes a second."""

    size: int  #: bytes of all buffers together
    threads: int
    pattern: str  #: "read", "write", "copy", "2 reads 1 write"
    store: str  #: "ordinary", "streaming", or "-"
    gbps: float
    gbps_low: float
    gbps_high: float


Interval = tuple[float, float, float]  #: a median, and the ends of its interval of 95 % confidence


class Race(NamedTuple):
    """Functions that took turns in rounds. Intervals hold all together with 95 % confidence."""

    ns: list[Interval]  #: of one call
    log_ratios: list[Interval]  #: log(time / time of the first function), within rounds
    savings: list[Interval]  #: per cent of the first's time; the interval is extended by the A/A band
    band: float  #: of the first function's log ratio to itself, in the same rounds
    rounds: int


def _rows(verb: str, *options: str) -> list[dict[str, str]]:
    """What the program writes with --out. ValueError: it rejects the options; its own message."""
    import csv  # slow to import, so only here
    import subprocess
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.csv")
        done = subprocess.run([_PROGRAM, verb, "--out", out, *options], capture_output=True, text=True)
        if done.returncode not in (0, 1) or not out.exists():
            raise ValueError(done.stderr.strip() or f"normlab {verb} ended with {done.returncode}")
        with open(out, newline="") as file:
            return list(csv.DictReader(file))


def _fields(kind: type[NamedTuple], row: dict[str, str]) -> list[Any]:
    """The columns of this name; an empty number is NaN."""
    types = kind.__annotations__
    return [types[name](row[name] or ("nan" if types[name] is float else "")) for name in kind._fields]


def measure(*cases: str, impl: Impl = None, baseline: Impl = None, threads: int = 1, seconds: float = 0.3,
            precision: float = 0.01) -> list[Measurement]:
    """Verifies and times implementations against each other, as `normlab bench`.

    cases        "layernorm/forward/f32/64x1024/normal", also with lists and ranges in braces
    impl         a row of implementations(), or globs as "*/naive,best"; None: all but demonstrations
    baseline     what is compared with: None: the naive one, or else the first
    seconds      of timing per implementation and case
    precision    stop when half of every interval is below this fraction

    ValueError: a case or a name is wrong; nothing was timed.
    """
    if not cases:
        raise ValueError("name a case, as layernorm/forward/f32/64x1024/normal")
    options = ["--threads", str(threads), "--seconds", str(seconds), "--precision", str(precision)]
    if impl is not None:
        options += ["--impl", str(impl)]
    if baseline is not None:
        options += ["--baseline", str(baseline)]
    rows = _rows("bench", *options, "--", *cases)
    if not rows:
        raise ValueError(f"nothing was timed: no implementation {impl or ''} takes {', '.join(cases)}")
    return [Measurement(*_fields(Measurement, row)) for row in rows]


def limit(*, threads: int = 1, seconds: float = 0.02) -> list[Limit]:
    """How fast this machine reads, writes and copies, for working sets from 8 KiB to twice the last-level
    cache, on one thread and on `threads`: `normlab limit --quick`. Each point takes `seconds`."""
    options = ["--quick", "--threads", str(threads), "--seconds", str(seconds)]
    return [Limit(*_fields(Limit, row)) for row in _rows("limit", *options)]


def race(*calls: Callable[[], object], seconds: float = 0.3, precision: float = 0.005) -> Race:
    """Times functions without arguments against the first one, by the rules of `normlab bench`
    (docs/measuring.md), without its verification: judge() what they compute.

    seconds      of timing per function
    precision    stop when half of every interval is below this fraction
    """
    if not calls:
        raise ValueError("name a function")
    return Race(*_core.race(calls, seconds, precision))
