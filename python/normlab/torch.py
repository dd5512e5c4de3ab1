"""PyTorch functions and modules on this library: on the CPU, drop-in for those of torch.nn.functional and
torch.nn with the same names.

>>> from normlab.torch import LayerNorm
>>> norm = LayerNorm(64)  # as torch.nn.LayerNorm(64), with its state_dict

Tensors are float32, float16 or bfloat16, on the CPU; those that are not contiguous are copied, and so are
parameters that are not float32. As many threads compute as torch.get_num_threads() says. The sums over rows
are float32 in every storage type. Gradients can be taken once, not of themselves.
"""
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Optional

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from . import layers
from ._arrays import as_array

_ROWS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "layer_norm": (layers.layer_norm, layers.layer_norm_backward),
    "rms_norm": (layers.rms_norm, layers.rms_norm_backward),
    "qwen2_rms_norm": (layers.qwen2_rms_norm, layers.qwen2_rms_norm_backward),
}


def _array(tensor: Optional[Tensor]) -> Any:
    """The same memory."""
    return None if tensor is None else as_array(tensor.detach().resolve_neg(), "tensor")


def _parameter(tensor: Optional[Tensor]) -> Any:
    """As float32."""
    return None if tensor is None else _array(tensor.float().contiguous())


def _like(gradient: Any, parameter: Optional[Tensor]) -> Optional[Tensor]:
    return None if parameter is None else torch.from_numpy(gradient).to(parameter.dtype)


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], name: str,
                eps: float) -> Tensor:
        y, rstd = torch.empty_like(x), torch.empty(x.shape[:-1])
        saved = {"rstd": rstd}
        if name == "layer_norm":
            saved["mean"] = torch.empty_like(rstd)
        more: dict[str, Any] = {} if bias is None else {"beta": _parameter(bias)}
        _ROWS[name][0](_array(x), _parameter(weight), eps=eps, out=_array(y), threads=torch.get_num_threads(),
                       **more, **{key: _array(value) for key, value in saved.items()})
        ctx.save_for_backward(x, weight, bias, *saved.values())
        ctx.name, ctx.saved_names = name, list(saved)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Optional[Tensor], ...]:
        x, weight, bias, *saved = ctx.saved_tensors
        dx = torch.empty_like(x)
        _, dweight, *dbias = _ROWS[ctx.name][1](
            _array(dy.contiguous()), _array(x), _parameter(weight), out=_array(dx),
            threads=torch.get_num_threads(),
            **{key: _array(value) for key, value in zip(ctx.saved_names, saved)})
        return dx, _like(dweight, weight), _like(dbias[0], bias) if dbias else None, None, None


def _rows(name: str, x: Tensor, shape: Sequence[int], weight: Optional[Tensor], bias: Optional[Tensor],
          eps: float) -> Tensor:
    if tuple(x.shape[x.dim() - len(shape):]) != tuple(shape):
        raise ValueError(f"normalized_shape {tuple(shape)}: the input has shape {tuple(x.shape)}")
    flat = x.contiguous().view(*x.shape[:x.dim() - len(shape)], prod(shape))
    parameters = (None if p is None else p.reshape(-1) for p in (weight, bias))
    y: Tensor = _Rows.apply(flat, *parameters, name, eps)
    return y.view(x.shape)


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    """As torch.nn.functional.layer_norm."""
    return _rows("layer_norm", input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
             eps: Optional[float] = None) -> Tensor:
    """As torch.nn.functional.rms_norm; eps None: torch.finfo(input.dtype).eps."""
    return _rows("rms_norm", input, normalized_shape, weight, None,
                 torch.finfo(input.dtype).eps if eps is None else eps)


def qwen2_rms_norm(input: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The gain is 1 + weight, as in transformers' GemmaRMSNorm and Qwen3NextRMSNorm."""
    return _rows("qwen2_rms_norm", input, weight.shape, weight, None, eps)


class _Channels(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Optional[Tensor], bias: Optional[Tensor],
                running_mean: Optional[Tensor], running_var: Optional[Tensor], training: bool, momentum: float,
                eps: float) -> Tensor:
        y = torch.empty_like(x)
        saved: dict[str, Tensor] = {}
        if training:
            saved = {"mean": torch.empty(x.shape[1]), "rstd": torch.empty(x.shape[1])}
        layers.batch_norm(
            _array(x), _parameter(weight), _parameter(bias), running_mean=_array(running_mean),
            running_var=_array(running_var), training=training, momentum=momentum, eps=eps, out=_array(y),
            threads=torch.get_num_threads(), **{key: _array(value) for key, value in saved.items()})
        statistics = saved.values() if training else (running_mean, running_var)
        ctx.save_for_backward(x, weight, bias, *statistics)
        ctx.training, ctx.eps = training, eps
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Optional[Tensor], ...]:
        x, weight, bias, mean, rstd = ctx.saved_tensors
        none = (None,) * 5
        if not ctx.training:  # the running statistics are constants: no sums in dx
            shape = (1, -1) + (1,) * (x.dim() - 2)
            over = [axis for axis in range(x.dim()) if axis != 1]
            rstd = (rstd + ctx.eps).rsqrt().view(shape)
            g, xhat = dy.float(), (x.float() - mean.view(shape)) * rstd
            dx = g * rstd if weight is None else g * rstd * weight.float().view(shape)
            return (dx.to(x.dtype), *(None if p is None else sums.sum(over).to(p.dtype)
                                      for p, sums in ((weight, g * xhat), (bias, g))), *none)
        dx = torch.empty_like(x)
        _, dweight, dbias = layers.batch_norm_backward(
            _array(dy.contiguous()), _array(x), _parameter(weight), mean=_array(mean), rstd=_array(rstd),
            out=_array(dx), threads=torch.get_num_threads())
        return (dx, _like(dweight, weight), _like(dbias, bias), *none)


def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor],
               weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """As torch.nn.functional.batch_norm; running statistics are float32."""
    y: Tensor = _Channels.apply(input.contiguous(), weight, bias, running_mean, running_var, training,
                                momentum, eps)
    return y


class LayerNorm(torch.nn.LayerNorm):
    """As torch.nn.LayerNorm."""

    def forward(self, input: Tensor) -> Tensor:
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(torch.nn.RMSNorm):
    """As torch.nn.RMSNorm."""

    def forward(self, input: Tensor) -> Tensor:
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)


class _BatchNorm(torch.nn.modules.batchnorm._BatchNorm):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1 / float(self.num_batches_tracked)
        running = (self.running_mean, self.running_var)
        if self.training and not self.track_running_stats:
            running = (None, None)
        return batch_norm(input, *running, self.weight, self.bias,
                          self.training or self.running_mean is None, momentum, self.eps)


class BatchNorm1d(_BatchNorm, torch.nn.BatchNorm1d):
    """As torch.nn.BatchNorm1d, for (N, C) and (N, C, L)."""


class BatchNorm2d(_BatchNorm, torch.nn.BatchNorm2d):
    """As torch.nn.BatchNorm2d, for (N, C, H, W)."""


class BatchNorm3d(_BatchNorm, torch.nn.BatchNorm3d):
    """As torch.nn.BatchNorm3d, for (N, C, D, H, W)."""
