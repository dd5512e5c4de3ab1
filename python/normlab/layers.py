"""The layers, forward and backward: signatures and documentation for _core.

In all functions: x is C-contiguous, float32, float16 or bfloat16, and outputs have its type; arithmetic
is float. gamma and beta are float32 of shape (c,); None is a gain of one and a bias of zero. impl is an
implementation (normlab.implementations()), by default the best one; at most `threads` threads compute,
and small problems use one. An implementation gives the same bits on any number of threads.

In place are allowed: out is x, residual_out is residual; in backward, out is dy or dresidual. Other
overlaps of an output raise ValueError.
"""
from typing import Any, Optional

from . import _core
from ._arrays import Array
from .table import Impl

_BATCH, _LAYER = _core.OPS["batchnorm"], _core.OPS["layernorm"]
_RMS, _QWEN2 = _core.OPS["rmsnorm"], _core.OPS["qwen2_rmsnorm"]
_FORWARD, _INFERENCE = _core.PASSES["forward"], _core.PASSES["inference"]
_BACKWARD = _core.PASSES["backward"]


def layer_norm(x: Array, gamma: Optional[Array] = None, beta: Optional[Array] = None, *,
               eps: float = 1e-5, residual: Optional[Array] = None, cast_before_weight: bool = False,
               out: Optional[Array] = None, residual_out: Optional[Array] = None,
               mean: Optional[Array] = None, rstd: Optional[Array] = None,
               impl: Impl = None, threads: int = 1) -> Any:
    """gamma * (x - mean) * rstd + beta over the last axis, rstd = 1 / sqrt(var + eps), var biased.

    x            (..., c)
    residual     (..., c), added to x first: the sum is normalized, in float, unrounded
    cast_before_weight  round the normalized value to x's type before gamma (Llama, vLLM)
    out          (..., c), for the result
    residual_out (..., c), gets x + residual, rounded: the input of the backward pass
    mean, rstd   (...), float32, get the statistics for the backward pass

    Returns out, or a new array.
    """
    return _core.forward(
        _LAYER, _FORWARD, False, cast_before_weight, eps, 0.0, False, impl, threads, x=x, gamma=gamma,
        beta=beta, residual=residual, y=out, residual_out=residual_out, mean=mean, rstd=rstd)


def layer_norm_backward(dy: Array, x: Array, gamma: Optional[Array] = None, *,
                        mean: Optional[Array] = None, rstd: Optional[Array] = None, eps: float = 1e-5,
                        dresidual: Optional[Array] = None, out: Optional[Array] = None,
                        dgamma: Optional[Array] = None, dbeta: Optional[Array] = None,
                        impl: Impl = None, threads: int = 1) -> tuple[Any, Any, Any]:
    """The gradients (dx, dgamma, dbeta) of layer_norm, from dy, the gradient of its result.

    x            (..., c), what was normalized: with a residual, residual_out
    mean, rstd   (...), float32, as forward saved them; without both they are computed again, with eps,
                 which otherwise has no effect
    dresidual    (..., c), the gradient that reaches residual_out past this layer: added to dx
    out          (..., c), for dx, which with a residual is the gradient of x and of residual alike
    dgamma, dbeta  (c,), float32, for the sums over all rows; set, not added to
    """
    gradients: tuple[Any, Any, Any] = _core.backward(
        _LAYER, _BACKWARD, False, False, eps, 0.0, False, impl, threads, x=x, dy=dy, gamma=gamma,
        mean=mean, rstd=rstd, dresidual=dresidual, dx=out, dgamma=dgamma, dbeta=dbeta)
    return gradients


def rms_norm(x: Array, gamma: Optional[Array] = None, *, eps: float = 1e-5,
             residual: Optional[Array] = None, cast_before_weight: bool = False,
             out: Optional[Array] = None, residual_out: Optional[Array] = None,
             rstd: Optional[Array] = None, impl: Impl = None, threads: int = 1) -> Any:
    """gamma * x * rstd over the last axis, rstd = 1 / sqrt(mean(x^2) + eps). Arguments as layer_norm."""
    return _core.forward(
        _RMS, _FORWARD, False, cast_before_weight, eps, 0.0, False, impl, threads, x=x, gamma=gamma,
        residual=residual, y=out, residual_out=residual_out, rstd=rstd)


def rms_norm_backward(dy: Array, x: Array, gamma: Optional[Array] = None, *,
                      rstd: Optional[Array] = None, eps: float = 1e-5,
                      dresidual: Optional[Array] = None, out: Optional[Array] = None,
                      dgamma: Optional[Array] = None, impl: Impl = None,
                      threads: int = 1) -> tuple[Any, Any]:
    """The gradients (dx, dgamma) of rms_norm. Arguments as layer_norm_backward."""
    gradients: tuple[Any, Any] = _core.backward(
        _RMS, _BACKWARD, False, False, eps, 0.0, False, impl, threads, x=x, dy=dy, gamma=gamma,
        rstd=rstd, dresidual=dresidual, dx=out, dgamma=dgamma)
    return gradients


def qwen2_rms_norm(x: Array, w: Optional[Array] = None, *, eps: float = 1e-6,
                   residual: Optional[Array] = None, cast_before_weight: bool = False,
                   out: Optional[Array] = None, residual_out: Optional[Array] = None,
                   rstd: Optional[Array] = None, impl: Impl = None, threads: int = 1) -> Any:
    """(1 + w) * x * rstd over the last axis: GemmaRMSNorm and Qwen3NextRMSNorm in Hugging Face
    transformers, whose class Qwen2RMSNorm is rms_norm (docs/naming.md). Arguments as layer_norm."""
    return _core.forward(
        _QWEN2, _FORWARD, False, cast_before_weight, eps, 0.0, False, impl, threads, x=x, gamma=w,
        residual=residual, y=out, residual_out=residual_out, rstd=rstd)


def qwen2_rms_norm_backward(dy: Array, x: Array, w: Optional[Array] = None, *,
                            rstd: Optional[Array] = None, eps: float = 1e-6,
                            dresidual: Optional[Array] = None, out: Optional[Array] = None,
                            dw: Optional[Array] = None, impl: Impl = None,
                            threads: int = 1) -> tuple[Any, Any]:
    """The gradients (dx, dw) of qwen2_rms_norm. Arguments as layer_norm_backward."""
    gradients: tuple[Any, Any] = _core.backward(
        _QWEN2, _BACKWARD, False, False, eps, 0.0, False, impl, threads, x=x, dy=dy, gamma=w,
        rstd=rstd, dresidual=dresidual, dx=out, dgamma=dw)
    return gradients


def batch_norm(x: Array, gamma: Optional[Array] = None, beta: Optional[Array] = None, *,
               running_mean: Optional[Array] = None, running_var: Optional[Array] = None,
               training: bool = True, momentum: float = 0.1, biased_running_var: bool = False,
               eps: float = 1e-5, channels_last: bool = False, cast_before_weight: bool = False,
               out: Optional[Array] = None, mean: Optional[Array] = None,
               rstd: Optional[Array] = None, impl: Impl = None, threads: int = 1) -> Any:
    """gamma * (x - mean) * rstd + beta with one mean and rstd for each channel.

    x            (N, C, ...), as PyTorch's NCHW; with channels_last (N, ..., C), as NHWC, in that order in
                 memory; (N, C) is both. (N, C, H, W) is [n][c][s] with s = H * W, (N, H, W, C) is [n][c]
                 with n = N * H * W
    training     True: the statistics of x, which needs more than one value a channel. False: those in
                 running_mean and running_var, which then must be given, and mean and rstd must not
    running_mean, running_var  (C,), float32. Training updates them in place, by momentum, the weight
                 of the new value: of the variance over n * s - 1, or n * s if biased_running_var
    mean, rstd   (C,), float32, get the statistics for the backward pass
    eps          added to the variance; it is not part of running_var

    Other arguments as layer_norm.
    """
    return _core.forward(
        _BATCH, _FORWARD if training else _INFERENCE, channels_last, cast_before_weight, eps, momentum,
        biased_running_var, impl, threads, x=x, gamma=gamma, beta=beta, y=out, mean=mean, rstd=rstd,
        running_mean=running_mean, running_var=running_var)


def batch_norm_backward(dy: Array, x: Array, gamma: Optional[Array] = None, *,
                        mean: Optional[Array] = None, rstd: Optional[Array] = None, eps: float = 1e-5,
                        channels_last: bool = False, out: Optional[Array] = None,
                        dgamma: Optional[Array] = None, dbeta: Optional[Array] = None,
                        impl: Impl = None, threads: int = 1) -> tuple[Any, Any, Any]:
    """The gradients (dx, dgamma, dbeta) of batch_norm in training, through the batch's statistics.

    mean, rstd   (C,), float32, as forward saved them; computed again without both. Other arguments as
                 batch_norm and layer_norm_backward.
    """
    gradients: tuple[Any, Any, Any] = _core.backward(
        _BATCH, _BACKWARD, channels_last, False, eps, 0.0, False, impl, threads, x=x, dy=dy,
        gamma=gamma, mean=mean, rstd=rstd, dx=out, dgamma=dgamma, dbeta=dbeta)
    return gradients
