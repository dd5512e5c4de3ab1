"""The reference in long double, and the judge: is a given output right, and if not, what is the likely mistake?"""
from __future__ import annotations

from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import Array, as_array
from ._document import documented
from .table import dtype_name, number

Wide = NDArray[np.longdouble]


class Reference(NamedTuple):
    """Results of forward, unrounded. A group is a row (results have the shape x.shape[:-1]) or a channel of BatchNorm (shape (c,))."""

    y: Wide  #: (..., c), from xhat in long double
    xhat: NDArray[np.float64]  #: (..., c), the normalized values, rounded once to float64
    mean: Wide  #: mean of each group; zeros for the RMS norms
    var: Wide  #: biased variance of each group; for the RMS norms the mean square
    rstd: Wide  #: 1 / sqrt(var + eps) of each group
    running_mean: Wide | None  #: (c,), the new statistics if the old ones were given
    running_var: Wide | None  #: (c,)


class Gradients(NamedTuple):
    """Results of backward, unrounded."""

    dx: NDArray[np.float64]  #: (..., c), rounded once to float64
    dgamma: Wide  #: (c,)
    dbeta: Wide  #: (c,)
    dgate: NDArray[np.float64] | None  #: (..., c), for the gated layers


class Mistake(NamedTuple):
    """A known mistake that was simulated to explain an error."""

    name: str
    text: str  #: a description in one line
    removes: float  #: the share of the rms error that it explains; 1: all of it
    left_rms: float  #: rms error that remains, units
    left_largest: float  #: largest error that remains, units
    likely: bool  #: is it among the mistakes that explain the error best?


class OtherBatch(NamedTuple):
    """Rows that were computed in another batch, compared with the judged rows. Ulps are ulps of the judged type or, if
    that type cannot hold all numbers, of the arrays' type."""

    rows: int  #: number of compared rows
    other_rows: int  #: number of rows with other bits
    numbers: int  #: number of elements with other bits; all NaNs are equal
    ulps: float  #: the largest distance of two values; infinite: only one of them is NaN
    worst: tuple[int, ...]  #: place of the largest distance in y or dx
    beyond: int  #: numbers of the other batch that are beyond the bound

    @property
    def same(self) -> bool:
        """Have the rows the same bits?"""
        return not self.numbers


class Judgement(NamedTuple):
    """The verdict on given outputs. str() has the five most important lines, the cause last. `text` is the whole report
    of `normlab judge`.

    Errors are in units: the unit roundoff of the output's type (2^-24, 2^-11 or 2^-8) times the size of
    the terms, (|gain| * max(1, |xhat|) + |beta|) for y. The bound is that of a two-pass layer with one accumulator
    (docs/verification.md).
    """

    verdict: str  #: "right": within the bound, even if a mistake is `likely`; "partial": right, but some rows have no bound; "wrong"; "unjudged": no row has a bound
    largest: float  #: the largest error, units
    bound: float  #: the bound of the worst number, units
    rms: float  #: rms of the finite errors of y or dx, units
    exact: float  #: share of the elements that equal the exact value rounded once
    judged: int  #: numbers with a bound, and wrong numbers without one
    unjudged: int  #: the other numbers; 0 if the verdict is "right"
    beyond: int  #: numbers beyond their bound; without a bound: numbers that are NaN, infinite, or too large for any row
    not_finite: int  #: NaN or infinite numbers that should be finite, or the reverse
    worst_of: str  #: the output with the worst number: "y", "dx", "dgate", "dgamma" or "dbeta"
    worst: tuple[int, ...]  #: place of the worst number
    mechanism: str  #: the likely mechanism of the error, in one line
    mistakes: tuple[Mistake, ...]  #: mistakes that were tried, best first; empty if no error needs an explanation
    batch: OtherBatch | None  #: the result for the argument `batch`
    text: str  #: the report

    @property
    def right(self) -> bool:
        """Is every number within its bound?"""
        return self.verdict == "right"

    def __str__(self) -> str:
        head, *lines = self.text.splitlines()
        heads = ("verdict ", "largest error ", "worst element ", "likely mechanism ")
        return "\n".join([head, *(line for head in heads for line in lines if line.startswith(head))])

    def __repr__(self) -> str:
        worst = next(line for line in self.text.splitlines() if line.startswith("worst element"))
        known = self.verdict in ("right", "partial") and any(one.likely for one in self.mistakes)
        return f"<{self.verdict}{', but a known mistake explains the error' * known}: {worst.split(None, 2)[2]}; {self.mechanism}>"


_ANY = ("(..., c), for batchnorm (N, C, ...); any float type, any memory order", "The layer's input.")
_JUDGED = ("as x; float64 is judged as float32", "The output.")
_WIDE = ("(c,), any float type", "The gain (1 + gamma in qwen2_rmsnorm) and the bias, rounded to float32; None: gain 1, bias 0.")
_BATCH = ("(..., c), of y's or dx's type", "Some of these rows, computed in another batch; their bits are compared. None: no comparison.")
_FIRST = ("int", "The row of x that is the first row of batch.")
_SUMS = ("(c,), any float type", "The gradients of the gain and the bias, rounded to float32; None: not judged.")
_FIXED = ("(c,), any float type", "The running statistics of batchnorm in inference; None: training.")
_FLOATS = ("float16", "float32", "float64", "bfloat16")


def _tensor(given: Array | None, name: str, wide: bool = False) -> NDArray[Any] | None:
    """The array in C order: float64 if `wide`, else its own type, or float32 for bfloat16, which .npy files lack."""
    if given is None:
        return None
    array = as_array(given, name)
    if array.dtype.name not in _FLOATS:
        raise TypeError(f"{name} is {array.dtype}; it must be one of {', '.join(_FLOATS)}")
    to = np.float64 if wide else np.float32 if array.dtype.name == "bfloat16" else array.dtype.newbyteorder("=")
    return np.require(array, to, ("C_CONTIGUOUS", "ALIGNED"))


def _vector(given: Array | None, name: str) -> NDArray[Any] | None:
    """The array as float32. ValueError: a value is beyond float32's range."""
    array = _tensor(given, name)
    if array is None or array.dtype == np.float32:
        return array
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32)
    if (np.isinf(narrow) & ~np.isinf(array)).any():
        raise ValueError(f"{name} has a value beyond float32")
    return narrow


def _settings(op: Any, direction: str, eps: float, channels_last: bool = False,
              cast_before_weight: bool = False, rounded_sum: bool = False, momentum: float = 0.0,
              biased_running_var: bool = False) -> tuple[Any, ...]:
    if not isinstance(op, str):
        raise TypeError(f"op is {type(op).__name__}, not a layer's name: pass op after the output and before x, as in "
                        "judge(y, op, x), judge_backward(dx, op, dy, x), reference(op, x)")
    return (number(_core.OPS, "op", op), _core.PASSES[direction], channels_last, cast_before_weight, rounded_sum,
            eps, momentum if op == "batchnorm" else 0.0, biased_running_var, None, 1)


@documented("Reference", x=_ANY, gamma=_WIDE, beta=_WIDE)
def reference(op: str, x: Array, gamma: Array | None = None, beta: Array | None = None, *,
              eps: float = 1e-5, residual: Array | None = None, gate: Array | None = None,
              running_mean: Array | None = None, running_var: Array | None = None,
              training: bool = True, momentum: float = 0.1, biased_running_var: bool = False,
              channels_last: bool = False) -> Reference:
    """The expected result in compensated long double (NumPy's float128; 64 bits of precision on x86), not rounded to a
    storage type.

    >>> normlab.reference("rmsnorm", numpy.array([[3.0, 4.0]]), eps=0).rstd.astype(float)
    array([0.28284271])
    """
    direction = "forward" if training else "inference"
    found = _core.reference(
        _core.DTYPES["f32"],
        *_settings(op, direction, eps, channels_last, False, False, momentum, biased_running_var),
        x=_tensor(x, "x", True), residual=_tensor(residual, "residual", True),
        gate=_tensor(gate, "gate", True), gamma=_vector(gamma, "gamma"), beta=_vector(beta, "beta"),
        running_mean=_vector(running_mean, "running_mean"), running_var=_vector(running_var, "running_var"))
    fields: list[Any] = [found.get(name) for name in Reference._fields]
    return Reference(*fields)


@documented("Gradients", x=_ANY, gamma=_WIDE)
def reference_backward(op: str, dy: Array, x: Array, gamma: Array | None = None, *, eps: float = 1e-5,
                       dresidual: Array | None = None, gate: Array | None = None,
                       channels_last: bool = False) -> Gradients:
    """The expected gradients. The statistics are computed from x and not rounded.

    >>> x = numpy.array([[3.0, 4.0]])
    >>> normlab.reference_backward("rmsnorm", x, x, eps=0).dgamma.astype(float).round(2)
    array([2.55, 4.53])
    """
    found = gradients(op, dy, x, gamma, eps=eps, dresidual=dresidual, gate=gate, channels_last=channels_last)
    fields: list[Any] = [found.get(name) for name in Gradients._fields]
    return Gradients(*fields)


def gradients(op: str, dy: Array, x: Array, gamma: Array | None = None, *, eps: float = 1e-5,
              dresidual: Array | None = None, gate: Array | None = None,
              channels_last: bool = False) -> dict[str, Any]:
    """The fields of Gradients by name, and the sizes of their terms by name + "_scale"."""
    return _core.reference(
        _core.DTYPES["f32"], *_settings(op, "backward", eps, channels_last), x=_tensor(x, "x", True),
        dy=_tensor(dy, "dy", True), dresidual=_tensor(dresidual, "dresidual", True),
        gate=_tensor(gate, "gate", True), gamma=_vector(gamma, "gamma"))


def _judge(settings: tuple[Any, ...], given_x: Array, rounded_to: Any, output: Array, batch: Array | None, first_row: int,
           arrays: dict[str, NDArray[Any] | None]) -> Judgement:
    x = _tensor(given_x, "x")
    if x is None:
        raise TypeError("x is None")
    given = as_array(output, "dx" if "dx" in arrays else "y").dtype
    its = "f32" if given == np.float64 else dtype_name(given)
    to = its if rounded_to is None else dtype_name(rounded_to)
    if its not in ("f32", to):
        raise ValueError(f"rounded_to {to}: the output is {its}")
    if batch is not None and as_array(batch, "batch").dtype != given:
        raise ValueError(f"batch is {as_array(batch, 'batch').dtype}, and the output is {given}")
    first_row = index(first_row)
    if first_row < 0:
        raise ValueError(f"first_row = {first_row} is negative")
    found = _core.judge(_tensor(batch, "batch"), first_row, _core.DTYPES[to], *settings, x=x, **arrays)

    def place(i: int, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(k) for k in np.unravel_index(i, shape))
    found["worst"] = place(found["worst"], x.shape) if found["worst_of"] in ("y", "dx", "dgate") else (found["worst"],)
    if found["batch"]:
        rows, others, numbers, ulps, worst, beyond = found["batch"]
        found["batch"] = OtherBatch(rows, others, numbers, ulps, place(worst, x.shape), beyond)
    found["mistakes"] = tuple(Mistake(*row) for row in found["mistakes"])
    return Judgement(**found)


@documented("Judgement", y=_JUDGED, x=_ANY, gamma=_WIDE, beta=_WIDE, running_mean=_FIXED, running_var=_FIXED,
            batch=_BATCH, first_row=_FIRST)
def judge(y: Array, op: str, x: Array, gamma: Array | None = None, beta: Array | None = None, *,
          eps: float = 1e-5, residual: Array | None = None, gate: Array | None = None,
          running_mean: Array | None = None, running_var: Array | None = None,
          cast_before_weight: bool = False, rounded_sum: bool = False, channels_last: bool = False,
          rounded_to: Any = None, batch: Array | None = None, first_row: int = 0) -> Judgement:
    """Is y the output of the layer op on x? y may come from PyTorch, JAX or your own code. Explains a large error by
    known mistakes (docs/judge.md).

    >>> x = normlab.data("normal", 64, 256)
    >>> normlab.judge(1.25 * normlab.rms_norm(x), "rmsnorm", x).verdict
    'wrong'
    """
    direction = "forward" if running_mean is None else "inference"
    return _judge(
        _settings(op, direction, eps, channels_last, cast_before_weight, rounded_sum), x, rounded_to, y, batch, first_row,
        {"y": _tensor(y, "y"), "residual": _tensor(residual, "residual"), "gate": _tensor(gate, "gate"),
         "gamma": _vector(gamma, "gamma"), "beta": _vector(beta, "beta"), "running_mean": _vector(running_mean, "running_mean"),
         "running_var": _vector(running_var, "running_var")})


@documented("Judgement", dx=_JUDGED, x=_ANY, gamma=_WIDE, dgamma=_SUMS, dbeta=_SUMS, batch=_BATCH, first_row=_FIRST)
def judge_backward(dx: Array, op: str, dy: Array, x: Array, gamma: Array | None = None, *,
                   eps: float = 1e-5, dgamma: Array | None = None, dbeta: Array | None = None,
                   dresidual: Array | None = None, gate: Array | None = None, dgate: Array | None = None,
                   channels_last: bool = False, rounded_to: Any = None, batch: Array | None = None,
                   first_row: int = 0) -> Judgement:
    """Is dx the gradient of x, and are dgamma and dbeta the gradients of gamma and beta?

    >>> x = normlab.data("normal", 4, 64)
    >>> dx, dgamma = normlab.rms_norm_backward(x, x)
    >>> normlab.judge_backward(dx, "rmsnorm", x, x, dgamma=dgamma).verdict
    'right'
    """
    return _judge(
        _settings(op, "backward", eps, channels_last), x, rounded_to, dx, batch, first_row,
        {"dx": _tensor(dx, "dx"), "dy": _tensor(dy, "dy"), "dresidual": _tensor(dresidual, "dresidual"),
         "gate": _tensor(gate, "gate"), "dgate": _tensor(dgate, "dgate"), "gamma": _vector(gamma, "gamma"), "dgamma": _vector(dgamma, "dgamma"),
         "dbeta": _vector(dbeta, "dbeta")})
