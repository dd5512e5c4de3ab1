"""Measurements. The package's program times kernels in a new process; Python functions are timed in this process."""
from collections.abc import Callable
from math import exp, nan
from os.path import dirname, join
from typing import Any, NamedTuple

from . import _core
from ._document import documented
from .table import Impl, implementations

_PROGRAM = join(dirname(__file__), "normlab")


class Measurement(NamedTuple):
    """The result of an implementation on a case. Times are of one call, in nanoseconds; numbers that do not exist
    are NaN. Intervals contain the true median with 95 % confidence (docs/measuring.md)."""

    case: str
    impl: str
    isa: str
    threads: int
    verdict: str  #: "ok", "fail", "demo" or "skip"; "fail" and "skip" are not timed
    error_u: float  #: the largest error, units
    bound_u: float  #: the bound of that element, units
    ns: float  #: the median time
    ns_low: float
    ns_high: float
    baseline: str
    speedup: float  #: the baseline's time over this time, in the same rounds
    speedup_low: float
    speedup_high: float
    comparison: str  #: "FASTER", "SLOWER", "SAME", "NOT RESOLVED", or "baseline"
    gbps: float  #: gigabytes a second
    limit_pct: float  #: rate in per cent of the rate of copying the same buffers, in the same rounds
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


class Measurements(list[Measurement]):
    """A list of rows that prints as a table."""

    table = ""

    def __repr__(self) -> str:
        return self.table


Interval = tuple[float, float, float]  #: a median, and the ends of its 95 % confidence interval


class Race(NamedTuple):
    """What a race measured. Its functions alternate in rounds. All intervals together are right with 95 % confidence."""

    ns: list[Interval]  #: time of one call of each function
    log_ratios: list[Interval]  #: log(time / time of the first function), within rounds
    savings: list[Interval]  #: per cent of the first function's time; the A/A band widens the interval
    band: float  #: the A/A band: the larger end of the interval of the first function's log ratio to itself
    rounds: int


def _run(*command: Any) -> Any:
    import subprocess  # imported only here, because the import is slow

    return subprocess.run(command, capture_output=True, text=True)


def _rows(command: str, *options: str) -> tuple[list[dict[str, str]], str]:
    """The rows that the program writes with --out, and the printed table. ValueError: an option is wrong."""
    import csv
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.csv")
        done = _run(_PROGRAM, command, "--out", out, *options)
        if done.returncode not in (0, 1) or not out.exists():
            raise ValueError(done.stderr.strip() or f"normlab {command} ended with {done.returncode}")
        with open(out, newline="") as file:
            return list(csv.DictReader(file)), done.stdout.strip("\n")


def _fields(kind: type[NamedTuple], row: dict[str, str]) -> list[Any]:
    """The row's values for the fields of `kind`; an empty number is NaN."""
    types = kind.__annotations__
    return [types[name](row[name] or ("nan" if types[name] is float else "")) for name in kind._fields]


_RACER = "import json, sys, normlab._core as c; print(json.dumps(c.race_cases(*json.loads(sys.argv[1]))))"


def _only(glob: "str | None", spelling: str) -> "str | None":
    """The only implementation that accepts a case and whose name matches `glob`. Returns a plain name as it is."""
    if glob is None or not set("*?[,") & set(glob):
        return glob
    from fnmatch import fnmatchcase

    op, direction, dtype = (spelling.split("/") + 3 * [""])[:3]
    found = sorted({row.name for row in implementations() if row.runs_here and not row.demonstration
                    and op in row.ops and direction in row.passes and dtype in row.dtypes
                    and any(fnmatchcase(row.name, one) for one in glob.split(","))})
    if len(found) != 1:
        raise ValueError(f"{glob} matches {', '.join(found) or 'nothing'} for {spelling}: with against=, "
                         "impl and baseline must each name one implementation")
    return found[0]


def _against(first: tuple[str, Any], cases: list[tuple[str, Any]], threads: int, seconds: float) -> Measurements:
    """Times each case in turns with `first`, in a new process without our threads and heap."""
    import json
    import sys
    from operator import index

    found = Measurements()
    for case in cases:
        done = _run(sys.executable, "-c", _RACER, json.dumps((first, case, index(threads), float(seconds))))
        if done.returncode:
            raise ValueError(done.stderr.strip().rpartition("ValueError: ")[2])
        *who, ns, log_ratio, compared = json.loads(done.stdout)
        for k, ratio in enumerate(((0.0,) * 3, log_ratio)):
            speed, low, high = (exp(-ratio[i]) for i in (0, 2, 1))
            found.append(Measurement._make((
                (first, case)[k][0], *who[k], threads, "ok", nan, nan, ns[k], nan, nan, first[0], speed, low, high,
                ("baseline", compared)[k], nan, nan, "")))
    found.table = "\n".join(
        f"{row.case:40} {row.impl + '@' + row.isa:34} {row.ns / 1e3:10.4g} us  {row.speedup:.3g} "
        f"[{row.speedup_low:.3g}, {row.speedup_high:.3g}] times as fast: {row.comparison}" for row in found)
    return found


@documented("Measurements: a list that prints as a table; the Measurement of `against` comes first",
            "ValueError\n    A case, a name or an implementation is wrong; nothing was timed.",
            cases=("str", 'Such as "layernorm/forward/f32/64x1024/normal"; braces may have lists and ranges.'),
            against=("str", "A case to compare each case with, in the same rounds. Each case then has one implementation."),
            impl=("Impl", 'Globs such as "*/naive,best". None: all except demonstrations; with `against`: the best.'),
            baseline=("Impl", "The implementation to compare with. None: naive, else the first; with `against`: impl."),
            seconds=("float", "The time to measure each implementation of each case."),
            precision=("float", "Stop when half the width of every interval is below this fraction."))
def measure(*cases: str, against: "str | None" = None, impl: "Impl" = None, baseline: "Impl" = None,
            threads: int = 1, seconds: float = 0.3, precision: float = 0.01) -> Measurements:
    """Verifies and times implementations in turns, as `normlab bench` does. With `against`, compares cases.

    >>> layers = "rmsnorm/forward/f32/4x64/normal", "layernorm/forward/f32/4x64/normal"
    >>> [row.verdict for row in normlab.measure(layers[0], against=layers[1], seconds=0.01)]
    ['ok', 'ok']
    """
    if not cases:
        raise ValueError("name a case, as layernorm/forward/f32/64x1024/normal")
    first, second = (None if name is None else str(name) for name in (baseline or (against and impl), impl))
    if against is not None:
        return _against((against, _only(first, against)), [(case, _only(second, case)) for case in cases], threads, seconds)
    options = ["--threads", str(threads), "--seconds", str(seconds), "--precision", str(precision)]
    for option, name in (("--impl", second), ("--baseline", first)):
        options += [] if name is None else [option, name]
    rows, table = _rows("bench", *options, "--", *cases)
    if not rows:
        raise ValueError(f"nothing was timed: no implementation {impl or ''} accepts {', '.join(cases)}")
    found = Measurements(Measurement(*_fields(Measurement, row)) for row in rows)
    found.table = table
    return found


@documented("list[Limit]", "ValueError\n    A setting is wrong.", seconds=("float", "The time to measure each point."))
def limit(*, threads: int = 1, seconds: float = 0.02) -> list[Limit]:
    """How fast this machine reads, writes and copies, for working sets from 8 KiB to twice the last-level
    cache, on one thread and on `threads`: `normlab limit --quick`.

    >>> normlab.limit(seconds=0.02)  # doctest: +SKIP
    """
    options = ["--quick", "--threads", str(threads), "--seconds", str(seconds)]
    return [Limit(*_fields(Limit, row)) for row in _rows("limit", *options)[0]]


@documented("Race", "ValueError\n    No function was given.",
            calls=("function without arguments", "Each other function is compared with the first."),
            seconds=("float", "The time to measure each function."),
            precision=("float", "Stop when half the width of every interval is below this fraction."))
def race(*calls: "Callable[[], object]", seconds: float = 0.3, precision: float = 0.005) -> Race:
    """Times functions by the rules of `normlab bench` (docs/measuring.md). Does not verify results: judge() does.

    >>> normlab.race(lambda: sum(range(9)), lambda: sum(range(999)), seconds=0.01).log_ratios[1][0] > 0
    True
    """
    if not calls:
        raise ValueError("name a function")
    return Race(*_core.race(calls, seconds, precision))
