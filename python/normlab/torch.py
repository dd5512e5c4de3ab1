"""Functions and modules for PyTorch, which replace those of the same name in torch.nn.functional and torch.nn.

>>> import torch
>>> from normlab.torch import RMSNorm, swap
>>> model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
>>> swap(model)  # the model now has this library's norms
['1']
>>> x = torch.randn(2, 8)
>>> y, total = RMSNorm(8)(x, residual=model(x))  # the norm of x + residual, and this sum, in one pass

Tensors are float32, float16 or bfloat16, on the CPU. Views are used in place if their rows have one stride, or two
nested strides, as the heads of q in a packed qkv. Other views are copied. Parameters are copied unless all are
float32 or all have the input's type. torch computes other types and devices, after one warning. The layers use
torch.get_num_threads() threads; sums are float32 in every type.

The layers are custom operators, torch.ops.normlab.norm and gated: torch.compile(fullgraph=True), torch.export,
FakeTensor and meta tensors work. A call that needs no gradient bypasses them. torch.vmap makes a call for each
element. A gradient of a gradient raises RuntimeError, and torch.jit.script cannot compile the layers.
"""
from collections.abc import Sequence
from functools import cache
from inspect import signature
from math import prod
from typing import Any, Optional
from warnings import warn

import torch
from torch import Tensor
from torch.nn import functional as F

from . import _operators

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
# The eps of F.rms_norm(eps=None): FLT_EPSILON since January 2025; finfo(type).eps in older versions, where y is small.
_EPS = {kind: 2.0**-23 if F.rms_norm(torch.full((1,), 2.0**-7, dtype=kind, device="cpu"), (1,)) > 0.5
        else torch.finfo(kind).eps for kind in _FLOATS}


@cache
def _warn(what: str) -> None:
    warn(f"normlab.torch supports float32, float16 and bfloat16 on the CPU: torch computes {what}", stacklevel=5)


def _computes(x: Tensor) -> bool:
    return x.dtype in _FLOATS and x.device.type in ("cpu", "meta") and x.layout is torch.strided


def _takes(layer: str, x: Tensor) -> bool:
    taken = _computes(x)
    if not taken and not torch.compiler.is_compiling():
        _warn(f"this {layer} of {x.dtype} on {x.device.type}")
    return taken


def _rows_of(input: Tensor, shape: Sequence[int], **like: Optional[Tensor]) -> tuple[int, ...]:
    """The sizes of the axes before the normalized axes."""
    rows = input.shape[:max(0, input.dim() - len(shape))]
    if (*rows, *shape) != tuple(input.shape):
        raise ValueError(f"normalized_shape {tuple(shape)}: the input has shape {tuple(input.shape)}")
    for name, tensor in like.items():
        if tensor is not None and tensor.shape != input.shape:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}, the input {tuple(input.shape)}")
    return tuple(rows)


def _rows(layer: str, input: Tensor, residual: Optional[Tensor], shape: Sequence[int], weight: Optional[Tensor],
          bias: Optional[Tensor], eps: Optional[float], cast_before_weight: bool = False,
          rounded_sum: bool = False) -> Any:
    rows = _rows_of(input, shape, residual=residual)
    if _takes(layer, input):
        eps = _EPS[input.dtype] if eps is None else eps
        direct = len(shape) == 1 and _operators.norm_of_rows(input, residual, weight, bias, layer, eps,
                                                             cast_before_weight, rounded_sum)
        if direct:
            return direct[0] if residual is None else direct
        flat = [None if t is None else t.reshape(*rows, prod(shape)) for t in (input, residual)]
        parameters = (None if p is None else p.reshape(-1) for p in (weight, bias))
        y, total, *_ = _operators.norm(*flat, *parameters, None, None, layer, True, 0.0, eps, cast_before_weight,
                                       rounded_sum)
        y, total = y.view(input.shape), None if residual is None else total.view(input.shape)
    else:
        total = None if residual is None else input + residual
        x = input if total is None else total
        if cast_before_weight and weight is not None:
            plain = F.layer_norm(x, shape, None, None, eps or 0.0) if layer == "layer_norm" else F.rms_norm(
                x, shape, None, eps)
            y = plain * (1 + weight if layer == "qwen2_rms_norm" else weight) + (0 if bias is None else bias)
        elif layer == "layer_norm":
            y = F.layer_norm(x, shape, weight, bias, eps or 0.0)
        else:
            y = F.rms_norm(x, shape, 1 + weight if layer == "qwen2_rms_norm" and weight is not None else weight, eps)
    return y if residual is None else (y, total)


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, eps: float = 1e-5, residual: Optional[Tensor] = None) -> Any:
    """As torch.nn.functional.layer_norm. With a residual, returns the norm of input + residual, and this sum."""
    return _rows("layer_norm", input, residual, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
             eps: Optional[float] = None, residual: Optional[Tensor] = None, cast_before_weight: bool = False,
             rounded_sum: bool = False) -> Any:
    """As torch.nn.functional.rms_norm, with its eps if eps is None. residual works as in layer_norm.
    cast_before_weight also rounds the normalized value to the input's type. rounded_sum rounds input + residual before
    the norm. Qwen3 and Llama in transformers round in both places."""
    return _rows("rms_norm", input, residual, normalized_shape, weight, None, eps, cast_before_weight, rounded_sum)


def qwen2_rms_norm(input: Tensor, weight: Tensor, eps: float = 1e-6, residual: Optional[Tensor] = None) -> Any:
    """The gain is 1 + weight, as in transformers' GemmaRMSNorm and Qwen3NextRMSNorm. residual: see layer_norm."""
    return _rows("qwen2_rms_norm", input, residual, weight.shape, weight, None, eps)


def gated_rms_norm(input: Tensor, gate: Tensor, weight: Optional[Tensor] = None, eps: Optional[float] = 1e-6,
                   gate_first: bool = False, cast_before_weight: bool = False) -> Tensor:
    """rms_norm(input) * silu(gate), as in Qwen3-Next; with gate_first rms_norm(input * silu(gate)), as in Mamba-2
    (docs/naming.md). Normalizes the axes of weight, or the last axis without a weight. silu is computed in float32."""
    shape = input.shape[-1:] if weight is None else weight.shape
    rows = _rows_of(input, shape, gate=gate)
    if _takes("gated_rms_norm", input):
        eps = _EPS[input.dtype] if eps is None else eps
        x, z = (t.reshape(*rows, prod(shape)) for t in (input, gate))
        gain = None if weight is None else weight.reshape(-1)
        y: Tensor = _operators.gated(x, z, gain, gate_first, eps, cast_before_weight)[0]
        return y.view(input.shape)
    x = input * F.silu(gate) if gate_first else input
    if cast_before_weight and weight is not None:
        y = F.rms_norm(x, shape, None, eps) * weight
    else:
        y = F.rms_norm(x, shape, weight, eps)
    return y if gate_first else y * F.silu(gate)


def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor],
               weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """As torch.nn.functional.batch_norm."""
    if not _takes("batch_norm", input):
        return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    y: Tensor
    y, _, _, _, *new = _operators.norm(input, None, weight, bias, running_mean, running_var, "batch_norm", training,
                                       momentum, eps, False, False)
    if training and running_mean is not None and running_var is not None:
        with torch.no_grad():
            running_mean.copy_(new[0])
            running_var.copy_(new[1])
    return y


class LayerNorm(torch.nn.LayerNorm):
    """As torch.nn.LayerNorm. With a residual, returns the norm of input + residual, and this sum."""

    def forward(self, input: Tensor, residual: Optional[Tensor] = None) -> Any:
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps, residual)


class RMSNorm(torch.nn.RMSNorm):
    """As torch.nn.RMSNorm. With a residual, returns the norm of input + residual, and this sum. cast_before_weight and
    rounded_sum work as in rms_norm()."""

    cast_before_weight = rounded_sum = False

    def __init__(self, *args: Any, cast_before_weight: bool = False, rounded_sum: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        self.cast_before_weight, self.rounded_sum = cast_before_weight, rounded_sum

    def forward(self, input: Tensor, residual: Optional[Tensor] = None) -> Any:
        return rms_norm(input, self.normalized_shape, self.weight, self.eps, residual, self.cast_before_weight,
                        self.rounded_sum)


class Qwen2RMSNorm(torch.nn.RMSNorm):
    """RMSNorm with a gain of 1 + weight; weight starts at zero. This is GemmaRMSNorm and Qwen3NextRMSNorm of
    transformers, whose class Qwen2RMSNorm is RMSNorm (docs/naming.md). residual: see LayerNorm."""

    def __init__(self, hidden_size: int, eps: float = 1e-6, device: Any = None, dtype: Any = None) -> None:
        super().__init__(hidden_size, eps, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        torch.nn.init.zeros_(self.weight)

    def forward(self, input: Tensor, residual: Optional[Tensor] = None) -> Any:
        return _rows("qwen2_rms_norm", input, residual, self.normalized_shape, self.weight, None, self.eps)


class GatedRMSNorm(torch.nn.RMSNorm):
    """gated_rms_norm as a module; it is called with (input, gate)."""

    def __init__(self, hidden_size: int, eps: float = 1e-6, gate_first: bool = False, cast_before_weight: bool = False,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__(hidden_size, eps, device=device, dtype=dtype)
        self.gate_first, self.cast_before_weight = gate_first, cast_before_weight

    def forward(self, input: Tensor, gate: Tensor) -> Tensor:  # type: ignore[override]
        return gated_rms_norm(input, gate, self.weight, self.eps, self.gate_first, self.cast_before_weight)


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


_SWAPS = {getattr(torch.nn, kind.__name__): kind
          for kind in (LayerNorm, RMSNorm, BatchNorm1d, BatchNorm2d, BatchNorm3d)}


def _foreign(module: torch.nn.Module) -> Optional[type]:
    """The class that computes as this foreign RMSNorm does, or None. Adds that class's attributes to the module."""
    weight, eps = (next((getattr(module, name) for name in names if hasattr(module, name)), None)
                   for names in (("weight",), ("variance_epsilon", "eps")))
    if not type(module).__name__.endswith("RMSNorm") or isinstance(module, torch.nn.RMSNorm) or \
            not isinstance(eps, float) or not isinstance(weight, Tensor) or weight.dim() != 1 or \
            not _computes(weight) or weight.is_meta or len(signature(module.forward).parameters) != 1:
        return None
    x = torch.linspace(-3, 2, 2 * len(weight)).view(2, -1).to(weight.dtype)
    with torch.no_grad():
        try:
            theirs = type(module).forward(module, x)  # without hooks
        except Exception:  # any exception is possible
            return None
        found: Any = None, None, -1.0
        for kind, before in (RMSNorm, False), (RMSNorm, True), (Qwen2RMSNorm, False):
            layer = "rms_norm" if kind is RMSNorm else "qwen2_rms_norm"
            ours = _rows(layer, x, None, weight.shape, weight, None, eps, before)
            if ours.dtype == theirs.dtype and torch.allclose(ours, theirs, rtol=4 * torch.finfo(x.dtype).eps):
                found = max(found, (kind, before, float((ours == theirs).sum())), key=lambda one: one[2])
    if found[0]:
        module.__dict__.update(normalized_shape=tuple(weight.shape), eps=eps, elementwise_affine=True)
        if found[0] is RMSNorm:
            module.__dict__["cast_before_weight"] = found[1]
    return found[0]  # type: ignore[no-any-return]


def swap(model: torch.nn.Module) -> list[str]:
    """Replaces the norms of a model by this library's, in place, and returns their names in the model.

    Replaces LayerNorm, RMSNorm and BatchNorm of torch.nn, and classes such as LlamaRMSNorm and GemmaRMSNorm of
    transformers if they give the same numbers on a probe. Keeps parameters, buffers and hooks, so an existing optimizer
    still works. Subclasses of torch.nn's classes are not replaced.
    """
    swapped = []
    for name, module in model.named_modules():
        kind = _SWAPS.get(type(module)) or _foreign(module)
        if kind:
            module.__class__ = kind
            swapped.append(name)
    return swapped
