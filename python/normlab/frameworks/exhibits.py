"""Judges what each framework computes from the museum's data and from special values."""
from math import nan
from typing import Any, NamedTuple

from ..cases import museum
from .adapter import Framework, Missing
from .registry import attempt, make
from .verify import judge_all, problem

SPECIAL = ("nan", "inf", "huge", "tiny", "zeros", "constant", "offset:4096", "spike:0", "cauchy")
OPS, DTYPES = ("layernorm", "rmsnorm", "batchnorm"), ("f32", "f16", "bf16")


class Finding(NamedTuple):
    """A row of the results."""

    how: str
    version: str
    case: str  #: "layernorm/forward/f32/5x4/museum:pt51102/no-affine"
    output: str  #: the output with the largest error: "y", "dx", "dgamma" or "dbeta"
    verdict: str  #: "right", "wrong", "unjudged", "skip", or "error": no result came
    not_finite: int = 0
    units: float = nan
    bound: float = nan
    mechanism: str = ""
    why: str = ""


def cases(quick: bool = False) -> list[str]:
    """The museum's cases (for row norms in every type), special values, and many rows, which make the sums of
    dgamma and dbeta long."""
    found: dict[str, None] = {}
    for exhibit in museum():
        for spelling in exhibit.cases:
            op, way, dtype, rest = spelling.split("/", 3)
            if op in OPS:
                for kind in (dtype,) if op == "batchnorm" else dict.fromkeys((dtype, *DTYPES)):
                    found[f"{op}/{way}/{kind}/{rest}"] = None
    shapes = [("8x64", data) for data in SPECIAL] + [("1024x16" if quick else "8192x16", "normal")]
    for shape, data in shapes:
        for op in OPS[:2]:
            for way in ("forward", "backward"):
                for kind in DTYPES:
                    found[f"{op}/{way}/{kind}/{shape}/{data}"] = None
    return list(found)


def judge_case(framework: Framework, how: str, case: str) -> Finding:
    """The judgement of y or, in backward, of the gradients."""
    row = Finding(how, framework.version, case, "", "skip")
    op, _, tail = case.partition("/")
    try:
        given = problem(op, tail)
        layer = framework.layer(given)
        one = judge_all(given, layer.outputs(layer.call()))[-1]
    except Missing as missing:
        return row._replace(why=str(missing))
    return row._replace(output=one.worst_of, verdict=one.verdict, not_finite=one.not_finite, units=one.largest,
                        bound=one.bound, mechanism=one.mechanism)


def judge_by_name(how: str, case: str, device: str = "cpu") -> Finding:
    """registry.each() calls this function in a separate process."""
    return attempt(lambda: judge_case(make(how, 1, device), how, case), Finding(how, "", case, "", "error"))


HEAD = f"{'framework':14} {'case':58} worst verdict: largest error, mechanism"


def line(row: Any) -> str:
    said = row.why if row.why else "NaN" if row.not_finite else f"{row.units:.2g} units"
    return f"{row.how:14} {row.case:58} {row.output:5} {row.verdict}: {said} {row.mechanism}".rstrip()
