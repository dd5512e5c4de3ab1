"""Is torch.compile as fast as kernels written by hand? Times each compiled layer in turns with such a kernel."""
from math import nan
from typing import Any, NamedTuple

from .registry import attempt, confine, make
from .verify import problem, race_judged

BY_HAND = {"cpu": ("pytorch", "normlab"), "cuda": ("pytorch", "liger")}
MARGIN = 5  #: per cent of extra time up to which torch.compile counts as equal


class Compiled(NamedTuple):
    """A row of the results. Times: nanoseconds a call. Savings of torch.compile: per cent of the other kernel's time."""

    how: str  #: the framework whose kernel is written by hand
    version: str
    case: str  #: "layernorm/forward/f32/64x1024/normal"
    threads: int
    device: str
    verdict: str  #: "ok", "skip", or "fail", which means wrong and not timed
    hand_ns: float = nan
    compiled_ns: float = nan
    saving: float = nan
    saving_low: float = nan  #: the A/A band widens the interval
    saving_high: float = nan
    rounds: int = 0
    why: str = ""


def cases(quick: bool = False) -> list[str]:
    return [f"{op}/{way}/{kind}/{shape}/normal" for way in ("forward", "both") for kind in ("f32", "bf16")
            for shape in (("64x1024",) if quick else ("64x1024", "4096x1024"))
            for op in ("layernorm", "rmsnorm")]


def measure(how: str, case: str, threads: int, seconds: float, device: str) -> Compiled:
    hand, compiled = make(how, threads, device if how != "normlab" else "cpu"), make("torch_compile", threads, device)
    row = Compiled(how, hand.version, case, threads, device, "ok")
    op, _, tail = case.partition("/")
    given = problem(op, tail)
    layers = [(name, given, one.layer(given)) for name, one in ((how, hand), ("torch_compile", compiled))]
    timed, why = race_judged(layers, seconds)
    if timed is None:
        return row._replace(verdict="fail", why=why)
    hand_ns, compiled_ns = (timed.ns[k][0] / layers[k][2].calls for k in range(2))
    return row._replace(hand_ns=hand_ns, compiled_ns=compiled_ns, saving=timed.savings[1][0],
                        saving_low=timed.savings[1][1], saving_high=timed.savings[1][2], rounds=timed.rounds)


def measure_by_name(how: str, case: str, threads: int, seconds: float, device: str) -> Compiled:
    """registry.each() calls this function in a separate process."""
    confine(threads)
    row = Compiled(how, "", case, threads, device, "fail")
    if how not in BY_HAND[device]:
        return row._replace(verdict="skip", why=f"{how} has no kernels written by hand on {device}")
    return attempt(lambda: measure(how, case, threads, seconds, device), row)


HEAD = f"{'by hand':14} {'case':38} {'by hand':>10} {'compiled':>10} us  torch.compile saves (-: takes more) [95 % confidence]"


def says(low: float, high: float) -> str:
    """The verdict on a saving's interval, in per cent."""
    return "reached" if low >= -MARGIN else "not reached" if high < -MARGIN else "NOT RESOLVED"


def line(row: Any) -> str:
    head = f"{row.how:14} {row.case:38} "
    if row.verdict != "ok":
        return f"{head}{row.verdict}: {row.why}"
    return (f"{head}{row.hand_ns / 1e3:10.1f} {row.compiled_ns / 1e3:10.1f} us  {row.saving:.1f} % "
            f"[{row.saving_low:.1f}, {row.saving_high:.1f}]: {says(row.saving_low, row.saving_high)}")
