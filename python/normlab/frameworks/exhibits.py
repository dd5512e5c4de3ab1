"""The museum and special values, through each framework, before the judge."""
import warnings
from math import nan
from typing import Any, NamedTuple

from ..cases import museum
from ..truth import Judgement
from .adapter import Framework, Missing
from .registry import make
from .verify import judge_all, problem

SPECIAL = ("nan", "inf", "huge", "tiny", "zeros", "constant", "offset:4096", "spike:0", "cauchy")
OPS = ("layernorm", "rmsnorm", "batchnorm")


class Finding(NamedTuple):
    """A row of the results."""

    how: str
    version: str
    case: str  #: "layernorm/forward/f32/5x4/museum:pt51102/no-affine"
    output: str  #: "y", "dx", or "sums" for dgamma and dbeta
    verdict: str  #: "right", "wrong", "unjudged", or "skip"
    not_finite: int = 0
    units: float = nan
    bound: float = nan
    mechanism: str = ""
    why: str = ""


def cases(quick: bool = False) -> list[str]:
    """The museum's own, forward and backward, in every type; then special values; then many rows, whose
    gradients of gamma and beta are long sums."""
    found: dict[str, None] = {}
    for exhibit in museum():
        for spelling in exhibit.cases:
            op, direction, dtype, rest = spelling.split("/", 3)
            if op in OPS:
                for way in (direction, "backward"):
                    for kind in dict.fromkeys((dtype, "f16", "bf16")):
                        found[f"{op}/{way}/{kind}/{rest}"] = None
    for data in SPECIAL:
        for op in OPS:
            for way in ("forward", "backward"):
                for kind in ("f32", "f16", "bf16"):
                    found[f"{op}/{way}/{kind}/8x64/{data}"] = None
    for n in (1024,) if quick else (1024, 32768):
        for op in OPS:
            for kind in ("f32", "f16", "bf16"):
                found[f"{op}/backward/{kind}/{n}x64/normal"] = None
    return list(found)


def rows_of(row: Finding, found: list[Judgement]) -> list[Finding]:
    return [row._replace(output=output, verdict=one.verdict, not_finite=one.not_finite, units=one.largest,
                         bound=one.bound, mechanism=one.mechanism) for output, one in zip(("y", "dx", "sums"), found)]


def judge_case(framework: Framework, how: str, case: str) -> Finding:
    """Of the output with the largest error among those that the pass is about."""
    row = Finding(how, framework.version, case, "", "skip")
    op, _, tail = case.partition("/")
    try:
        given = problem(op, tail)
        layer = framework.layer(given)
        found = rows_of(row, judge_all(given, layer.outputs(layer.call())))
    except Missing as missing:
        return row._replace(why=str(missing))
    if len(found) == 1:
        return found[0]
    return found[1] if found[1].verdict == "wrong" else found[2]


def judge_by_name(how: str, case: str) -> Finding:
    """For a process of its own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return judge_case(make(how, 1), how, case)
    except Missing as missing:
        return Finding(how, "", case, "", "skip", why=str(missing))
    except Exception as error:  # data beyond the type, or a framework's own failure
        return Finding(how, "-", case, "", "skip", why=f"{type(error).__name__}: {error}".splitlines()[0][:200])


def line(row: Any) -> str:
    """For people."""
    said = row.why if row.verdict == "skip" else "NaN" if row.not_finite else f"{row.units:.2g} units"
    return f"{row.how:14} {row.case:58} {row.output:5} {row.verdict}: {said} {row.mechanism}".rstrip()
