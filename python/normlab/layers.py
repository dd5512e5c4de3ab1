"""The layers, forward and backward: signatures and documentation for _core."""
from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import Array
from ._document import documented
from .table import Impl

_BATCH, _LAYER = _core.OPS["batchnorm"], _core.OPS["layernorm"]
_RMS, _QWEN2 = _core.OPS["rmsnorm"], _core.OPS["qwen2_rmsnorm"]
_GATED = _core.OPS["gated_rmsnorm"], _core.OPS["gate_first_rmsnorm"]
_FORWARD, _INFERENCE = _core.PASSES["forward"], _core.PASSES["inference"]
_BACKWARD = _core.PASSES["backward"]

_Y = "out, or a new array like x; a PyTorch tensor if x is one"
_GRADIENTS = "dx (out, or a new array like x), and the sums over the rows, each (c,), in gamma's type"
_CHANNELS = ("(N, C, ...), as NCHW, or (N, C); C-contiguous",
             "What is normalized: float32, float16 or bfloat16. Outputs have the same type; arithmetic is float32.")
_SAVED = ("(c,), float32", "The statistics. Forward writes them, backward reads them; None: backward computes them.")


@documented(_Y)
def layer_norm(x: Array, gamma: Array | None = None, beta: Array | None = None, *, eps: float = 1e-5,
               residual: Array | None = None, cast_before_weight: bool = False, rounded_sum: bool = False,
               out: Array | None = None, residual_out: Array | None = None, mean: Array | None = None,
               rstd: Array | None = None, impl: Impl = None, threads: int = 1) -> Any:
    """gamma * (x - mean) * rstd + beta over the last axis, rstd = 1 / sqrt(var + eps), var biased.

    >>> normlab.layer_norm(numpy.array([[1, 2, 3]], "float32"), eps=0).round(2)
    array([[-1.22,  0.  ,  1.22]], dtype=float32)
    """
    return _core.forward(
        _LAYER, _FORWARD, False, cast_before_weight, rounded_sum, eps, 0.0, False, impl, threads, x=x, gamma=gamma,
        beta=beta, residual=residual, y=out, residual_out=residual_out, mean=mean, rstd=rstd)


@documented(_GRADIENTS)
def layer_norm_backward(dy: Array, x: Array, gamma: Array | None = None, *, mean: Array | None = None,
                        rstd: Array | None = None, eps: float = 1e-5, dresidual: Array | None = None,
                        out: Array | None = None, dgamma: Array | None = None, dbeta: Array | None = None,
                        impl: Impl = None, threads: int = 1) -> tuple[Any, ...]:
    """The gradients of layer_norm, from dy. x: the input of layer_norm or, with a residual, its residual_out.

    >>> x = numpy.array([[1, 2, 4]], "float32")
    >>> normlab.layer_norm_backward(numpy.ones_like(x), x)[2]
    array([1., 1., 1.], dtype=float32)
    """
    return _core.backward(
        _LAYER, _BACKWARD, False, False, False, eps, 0.0, False, impl, threads, x=x, dy=dy, gamma=gamma, mean=mean,
        rstd=rstd, dresidual=dresidual, dx=out, dgamma=dgamma, dbeta=dbeta)


@documented(_Y)
def rms_norm(x: Array, gamma: Array | None = None, *, eps: float = 1e-5, residual: Array | None = None,
             cast_before_weight: bool = False, rounded_sum: bool = False, out: Array | None = None,
             residual_out: Array | None = None, rstd: Array | None = None, impl: Impl = None, threads: int = 1) -> Any:
    """gamma * x * rstd over the last axis, rstd = 1 / sqrt(mean(x^2) + eps).

    >>> normlab.rms_norm(numpy.array([[3, 4]], "float32"), eps=0).round(2)
    array([[0.85, 1.13]], dtype=float32)
    """
    return _core.forward(
        _RMS, _FORWARD, False, cast_before_weight, rounded_sum, eps, 0.0, False, impl, threads, x=x, gamma=gamma,
        residual=residual, y=out, residual_out=residual_out, rstd=rstd)


@documented(_GRADIENTS)
def rms_norm_backward(dy: Array, x: Array, gamma: Array | None = None, *, rstd: Array | None = None,
                      eps: float = 1e-5, dresidual: Array | None = None, out: Array | None = None,
                      dgamma: Array | None = None, impl: Impl = None, threads: int = 1) -> tuple[Any, ...]:
    """The gradients of rms_norm, from dy. x: the input of rms_norm or, with a residual, its residual_out.

    >>> x = numpy.array([[1, 1]], "float32")
    >>> normlab.rms_norm_backward(x, x, eps=0)[1]
    array([1., 1.], dtype=float32)
    """
    return _core.backward(
        _RMS, _BACKWARD, False, False, False, eps, 0.0, False, impl, threads, x=x, dy=dy, gamma=gamma, rstd=rstd,
        dresidual=dresidual, dx=out, dgamma=dgamma)


@documented(_Y)
def qwen2_rms_norm(x: Array, w: Array | None = None, *, eps: float = 1e-6, residual: Array | None = None,
                   cast_before_weight: bool = False, rounded_sum: bool = False, out: Array | None = None,
                   residual_out: Array | None = None, rstd: Array | None = None, impl: Impl = None,
                   threads: int = 1) -> Any:
    """(1 + w) * x * rstd over the last axis: GemmaRMSNorm and Qwen3NextRMSNorm in Hugging Face
    transformers, whose class Qwen2RMSNorm is rms_norm (docs/naming.md).

    >>> normlab.qwen2_rms_norm(numpy.array([[3, 4]], "float32")).round(2)
    array([[0.85, 1.13]], dtype=float32)
    """
    return _core.forward(
        _QWEN2, _FORWARD, False, cast_before_weight, rounded_sum, eps, 0.0, False, impl, threads, x=x, gamma=w,
        residual=residual, y=out, residual_out=residual_out, rstd=rstd)


@documented(_GRADIENTS)
def qwen2_rms_norm_backward(dy: Array, x: Array, w: Array | None = None, *, rstd: Array | None = None,
                            eps: float = 1e-6, dresidual: Array | None = None, out: Array | None = None,
                            dw: Array | None = None, impl: Impl = None, threads: int = 1) -> tuple[Any, ...]:
    """The gradients of qwen2_rms_norm, from dy. x: the input of qwen2_rms_norm or, with a residual, its residual_out.

    >>> x = numpy.array([[1, 1]], "float32")
    >>> normlab.qwen2_rms_norm_backward(x, x, eps=0)[1]
    array([1., 1.], dtype=float32)
    """
    return _core.backward(
        _QWEN2, _BACKWARD, False, False, False, eps, 0.0, False, impl, threads, x=x, dy=dy, gamma=w, rstd=rstd,
        dresidual=dresidual, dx=out, dgamma=dw)


@documented(_Y)
def gated_rms_norm(x: Array, gate: Array, gamma: Array | None = None, *, gate_first: bool = False, eps: float = 1e-5,
                   cast_before_weight: bool = False, out: Array | None = None, rstd: Array | None = None,
                   impl: Impl = None, threads: int = 1) -> Any:
    """rms_norm(x, gamma) * silu(gate), as Qwen3NextRMSNormGated of transformers; with gate_first rms_norm(x *
    silu(gate), gamma), as in Mamba-2. silu(z) = z / (1 + exp(-z)).

    >>> x = numpy.array([[3, 4]], "float32")
    >>> normlab.gated_rms_norm(x, 0 * x + 1, eps=0).round(2)
    array([[0.62, 0.83]], dtype=float32)
    """
    return _core.forward(
        _GATED[bool(gate_first)], _FORWARD, False, cast_before_weight, False, eps, 0.0, False, impl, threads, x=x,
        gate=gate, gamma=gamma, y=out, rstd=rstd)


@documented("dx (out, or a new array like x), dgate, and dgamma, (c,), the sum over the rows, in gamma's type")
def gated_rms_norm_backward(dy: Array, x: Array, gate: Array, gamma: Array | None = None, *, gate_first: bool = False,
                            rstd: Array | None = None, eps: float = 1e-5, out: Array | None = None,
                            dgate: Array | None = None, dgamma: Array | None = None, impl: Impl = None,
                            threads: int = 1) -> tuple[Any, ...]:
    """The gradients of gated_rms_norm, from dy.

    >>> x = numpy.array([[1, 1]], "float32")
    >>> normlab.gated_rms_norm_backward(x, x, x, eps=0)[1].round(2)
    array([[0.93, 0.93]], dtype=float32)
    """
    return _core.backward(
        _GATED[bool(gate_first)], _BACKWARD, False, False, False, eps, 0.0, False, impl, threads, x=x, dy=dy,
        gate=gate, gamma=gamma, rstd=rstd, dx=out, dgate=dgate, dgamma=dgamma)


@documented(_Y, x=_CHANNELS, mean=_SAVED, rstd=_SAVED)
def batch_norm(x: Array, gamma: Array | None = None, beta: Array | None = None, *, running_mean: Array | None = None,
               running_var: Array | None = None, training: bool = True, momentum: float = 0.1,
               biased_running_var: bool = False, eps: float = 1e-5, channels_last: bool = False,
               cast_before_weight: bool = False, out: Array | None = None, mean: Array | None = None,
               rstd: Array | None = None, impl: Impl = None, threads: int = 1) -> Any:
    """gamma * (x - mean) * rstd + beta with one mean and rstd for each channel. Inference (training=False) uses
    running_mean and running_var instead. They must then be given; mean and rstd must not.

    >>> x = numpy.array([[1, 2], [3, 6]], "float32")
    >>> normlab.batch_norm(x, eps=0)
    array([[-1., -1.],
           [ 1.,  1.]], dtype=float32)
    """
    return _core.forward(
        _BATCH, _FORWARD if training else _INFERENCE, channels_last, cast_before_weight, False, eps,
        momentum, biased_running_var, impl, threads, x=x, gamma=gamma, beta=beta, y=out, mean=mean, rstd=rstd,
        running_mean=running_mean, running_var=running_var)


@documented(_GRADIENTS, x=_CHANNELS, mean=_SAVED, rstd=_SAVED)
def batch_norm_backward(dy: Array, x: Array, gamma: Array | None = None, *, mean: Array | None = None,
                        rstd: Array | None = None, eps: float = 1e-5, channels_last: bool = False,
                        out: Array | None = None, dgamma: Array | None = None, dbeta: Array | None = None,
                        impl: Impl = None, threads: int = 1) -> tuple[Any, ...]:
    """The gradients of batch_norm in training, through the batch's statistics, from dy.

    >>> x = numpy.array([[1, 2], [3, 6]], "float32")
    >>> normlab.batch_norm_backward(x, x)[2]
    array([4., 8.], dtype=float32)
    """
    return _core.backward(
        _BATCH, _BACKWARD, channels_last, False, False, eps, 0.0, False, impl, threads, x=x, dy=dy, gamma=gamma,
        mean=mean, rstd=rstd, dx=out, dgamma=dgamma, dbeta=dbeta)
