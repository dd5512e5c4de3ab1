"""Makes problems from the spelling of cases, and judges a framework's results."""
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ..cases import case
from ..timing import Race, race
from ..truth import Judgement, gradients, judge, judge_backward
from .adapter import Arrays, Layer, Problem, aligned

ROUNDOFF = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


def problem(op: str, tail: str) -> Problem:
    """Makes a problem from a layer and the rest of a case, such as "forward/f32/64x1024/normal". "backward" and "both"
    mean training; claims use "both". The parameters are rounded to x's type. ValueError: the spelling is wrong."""
    direction, _, rest = tail.partition("/")
    read = case(f"{op}/forward/{rest}")
    arrays = dict(read.arrays)
    if direction != "forward":
        arrays["dy"] = case(f"{op}/backward/{rest}").arrays["dy"]
    for name in ("gamma", "beta"):
        if name in arrays:
            arrays[name] = arrays[name].astype(arrays["x"].dtype).astype(np.float32)
    return Problem(op, direction != "forward", read.eps, {name: aligned(a) for name, a in arrays.items()})


def before_rounding(got: Optional[NDArray[Any]], exact: NDArray[Any], scale: NDArray[Any]) -> Optional[NDArray[Any]]:
    """Prepares 16-bit dgamma and dbeta for the judge, which judges them as float32. Returns the exact sum if it is at
    most a unit from `got`, else `got` moved by a unit towards it. Unit: the type's roundoff times the terms' size."""
    if got is None or got.dtype == np.float32:
        return got
    wide, reach = got.astype(np.float64), ROUNDOFF[got.dtype.name] * scale.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near: NDArray[Any] = np.clip(exact.astype(np.float64), wide - reach, wide + reach).astype(np.float32)
    return near


def judge_all(given: Problem, outputs: Arrays) -> list[Judgement]:
    """One judgement of y and, in training, one of dx, dgamma and dbeta together."""
    a, eps, op = given.arrays, given.eps, given.op
    beta = None if op == "rmsnorm" else a.get("beta")
    found = [judge(outputs["y"], op, a["x"], a.get("gamma"), beta, eps=eps)]
    if given.training:
        truth = gradients(op, a["dy"], a["x"], a.get("gamma"), eps=eps)
        dgamma, dbeta = (before_rounding(outputs.get(name), truth[name], truth[f"{name}_scale"])
                         for name in ("dgamma", "dbeta"))
        found.append(judge_backward(outputs["dx"], op, a["dy"], a["x"], a.get("gamma"), eps=eps,
                                    dgamma=dgamma, dbeta=dbeta))
    return found


def wrong(found: list[Judgement]) -> str:
    """A short description of the fault, or an empty string."""
    for one in found:
        if one.verdict not in ("right", "partial"):
            size = "NaN" if one.not_finite else f"{one.largest:.3g} units"
            return f"{one.worst_of} is {one.verdict}: {size}"
    return ""


def same(a: Arrays, b: Arrays) -> bool:
    return all(a[name].tobytes() == b[name].tobytes() for name in a)


def race_judged(layers: list[tuple[str, Problem, Layer]], seconds: float) -> tuple[Optional[Race], str]:
    """Judges the layers, times them in turns and judges them again. Returns the times, or None and the fault."""
    before = [layer.outputs(layer.call()) for _, _, layer in layers]
    for (name, given, _), outputs in zip(layers, before):
        if why := wrong(judge_all(given, outputs)):
            return None, f"{name}: {why}"
    timed = race(*(layer.timed for _, _, layer in layers), seconds=seconds)
    for (name, given, layer), outputs in zip(layers, before):
        after = layer.outputs(layer.call())
        if not same(outputs, after) and (why := wrong(judge_all(given, after))):
            return None, f"{name}, after timing: {why}"
    return timed, ""
