"""Functions and modules for PyTorch, drop-in for those of torch.nn.functional and torch.nn with the same names.

>>> import torch
>>> from normlab.torch import RMSNorm, swap
>>> model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
>>> swap(model)  # its norms are this library's from now on
['1']
>>> x = torch.randn(2, 8)
>>> y, total = RMSNorm(8)(x, residual=model(x))  # the norm of the sum, and the sum, in one pass

Tensors are float32, float16 or bfloat16, on the CPU. Views are used in place if their rows have one step, or two levels
with a step each, as the heads of q in a packed qkv; others are copied. So are parameters, unless all are float32 or all
are in the input's type. Other types and devices are computed by torch, after a warning the first time.
torch.get_num_threads() threads compute; sums are float32 in every type.

The layers are custom operators, torch.ops.normlab.norm and gated: torch.compile(fullgraph=True), torch.export, FakeTensor
and meta tensors work. Under torch.vmap each element is a call. A gradient of a gradient
raises RuntimeError, and torch.jit.script cannot compile them.
"""
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from inspect import signature
from math import prod
from types import GenericAlias
from typing import Any, Optional
from warnings import warn

import torch
from torch import Tensor
from torch.nn import functional as F

from . import layers
from ._arrays import bfloat16

_CENTRED = ("layer_norm", "batch_norm")
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def _levels(tensor: Tensor) -> list[int]:
    """How many rows each level of steps has, from the inside; three: the library cannot use it in place."""
    axes = [(by, count) for by, count in zip(tensor.stride()[-2::-1], tensor.shape[-2::-1]) if count != 1]
    if tensor.shape[-1] != 1 and tensor.stride(-1) != 1:
        return [0, 0, 0]
    reach = tensor.shape[-1]
    for by, count in sorted(axes):
        if by < reach:  # rows overlap, as those of Tensor.unfold(), or are one
            return [0, 0, 0]
        reach += by * (count - 1)
    found: list[int] = []
    step = 0
    for by, count in axes:
        if found and by == step * found[-1]:
            found[-1] *= count
        else:
            found.append(count)
            step = by
    return found


def _in_place(*tensors: Optional[Tensor]) -> list[Any]:
    """Tensors as arrays; copies those whose rows do not fit the library's strides together with the tensors before."""
    inner, made = 0, []
    for tensor in tensors:
        if tensor is not None and not tensor.is_contiguous():
            levels = _levels(tensor)
            if len(levels) > 2 or len(levels) == 2 and inner not in (0, levels[0]):
                tensor = tensor.contiguous()
            elif len(levels) == 2:
                inner = levels[0]
        made.append(_array(tensor, False))
    return made


def _array(tensor: Optional[Tensor], copy: bool = True) -> Any:
    """The same memory, or that of a contiguous copy."""
    if tensor is None:
        return None
    plain = tensor.detach().resolve_neg()
    plain = plain.contiguous() if copy else plain
    return plain.view(torch.int16).numpy().view(bfloat16()) if plain.dtype == torch.bfloat16 else plain.numpy()


def _parameter(tensor: Optional[Tensor], narrow: bool = False) -> Any:
    """As float32, unless narrow."""
    return None if tensor is None else _array(tensor if narrow else tensor.float())


def _is_narrow(x: Tensor, *parameters: Optional[Tensor]) -> bool:
    """Are all in the type of x? If so, the library takes the tensors without a copy."""
    return all(p is None or p.dtype == x.dtype for p in parameters)


def _empty(x: Tensor, *shape: int) -> Tensor:
    return x.new_empty(shape, dtype=torch.float32)


def _refusal(ctx: Any, *_: Any) -> None:
    raise RuntimeError("normlab.torch has no gradient of a gradient")


def _operator(results: int, keep: Callable[..., Any] = lambda ctx, inputs, output: None,
              gradient: Callable[..., Any] = _refusal) -> Callable[[Callable[..., Iterator[Any]]], Callable[..., Any]]:
    """A custom operator of a generator, which yields its results without their values, and then sets these. Outside of
    a compiler it is called by a Function, which torch.func can transform."""
    def make(steps: Callable[..., Iterator[Any]]) -> Callable[..., Any]:
        def compute(*args: Any) -> Any:
            run = steps(*args)
            made = next(run)
            next(run, None)
            return made

        def one_by_one(info: Any, dims: Any, *args: Any) -> Any:
            calls = ([a if d is None else a.select(d, i) for a, d in zip(args, dims)] for i in range(info.batch_size))
            return tuple(map(torch.stack, zip(*(operator(*of) for of in calls)))), (0,) * results

        def forward(*args: Any) -> Any:
            return operator(*args)

        for function in (compute, forward):
            setattr(function, "__signature__", signature(steps).replace(
                return_annotation=GenericAlias(tuple, (Tensor,) * results)))
        operator: Any = torch.library.custom_op(f"normlab::{steps.__name__[1:]}", compute, mutates_args=())
        operator.register_fake(lambda *args: next(steps(*args)))
        operator.register_vmap(one_by_one)
        operator.register_autograd(gradient, setup_context=keep)
        kind: Any = type(steps.__name__, (torch.autograd.Function,), {
            "generate_vmap_rule": True, "forward": staticmethod(forward), "setup_context": staticmethod(keep),
            "backward": staticmethod(gradient)})
        return lambda *args: (operator if torch.compiler.is_compiling() else kind.apply)(*args)
    return make


def _call(name: str, *args: Any, out: Any, options: Any = {}, **arrays: Any) -> None:
    """A function of normlab, which may lack the parameters of arrays that are None or empty."""
    there = {key: array for key, array in arrays.items() if array is not None and array.size}
    getattr(layers, name)(*args, out=out, threads=torch.get_num_threads(), **there, **options)


@_operator(3)
def _norm_backward(dy: Tensor, dtotal: Optional[Tensor], x: Tensor, weight: Optional[Tensor], mean: Tensor,
                   rstd: Tensor, layer: str) -> Iterator[Any]:
    """dx, and the gradients of weight and bias, float32."""
    c, batch = x.shape[1 if layer == "batch_norm" else -1], layer == "batch_norm"
    dx, dweight, dbias = x.new_empty(x.shape), _empty(x, c), _empty(x, c if layer in _CENTRED else 0)
    yield dx, dweight, dbias
    gain = {"dw" if layer == "qwen2_rms_norm" else "dgamma": _array(dweight)}
    given = [*map(_array, (dy, x, dtotal))] if batch else _in_place(dy, x, dtotal)
    _call(f"{layer}_backward", *given[:2], _parameter(weight), out=_array(dx), dresidual=given[2], mean=_array(mean),
          rstd=_array(rstd), dbeta=_array(dbias), **gain)


def _norm_keep(ctx: Any, inputs: Any, output: Any) -> None:
    x, residual, weight, _, *running, ctx.layer, ctx.training, _, ctx.eps, _, _ = inputs
    y, total, *saved = output
    ctx.fused = residual is not None
    ctx.mark_non_differentiable(*saved, *(() if ctx.fused else (total,)))
    ctx.save_for_backward(total if ctx.fused else x, weight, *(saved[:2] if ctx.training else running))


def _norm_gradient(ctx: Any, dy: Tensor, dtotal: Tensor, *_: Any) -> Any:
    x, weight, *saved = ctx.saved_tensors
    if ctx.training:
        dx, *sums = _norm_backward(dy, dtotal if ctx.fused else None, x, weight, *saved, ctx.layer)
    else:  # the running statistics are constants: no sums in dx
        wide = (None if p is None else p.float() for p in (weight, *saved))
        dx, *sums = torch.ops.aten.native_batch_norm_backward(dy, x, *wide, None, None, False, ctx.eps, [True] * 3)
    needed = [gradient if need else None for gradient, need in zip(sums, ctx.needs_input_grad[2:])]
    return dx, dx if ctx.fused else None, *needed, *(None,) * 8


@_operator(6, _norm_keep, _norm_gradient)
def _norm(x: Tensor, residual: Optional[Tensor], weight: Optional[Tensor], bias: Optional[Tensor],
          running_mean: Optional[Tensor], running_var: Optional[Tensor], layer: str, training: bool, momentum: float,
          eps: float, cast_before_weight: bool, rounded_sum: bool) -> Iterator[Any]:
    """y, x + residual, the statistics mean and rstd, and the new running ones; what there is not, is empty."""
    batch, running = layer == "batch_norm", [running_mean, running_var]
    groups = (x.shape[1:2] if batch else x.shape[:-1]) if training else (0,)
    y, total = x.new_empty(x.shape), x.new_empty(0 if residual is None else x.shape)
    mean, rstd = _empty(x, *(groups if layer in _CENTRED else (0,))), _empty(x, *groups)
    new = [_empty(x, 0 if r is None or not training else x.shape[1]) for r in running]
    yield y, total, mean, rstd, *new
    if training:
        running = [None if r is None else to.copy_(r) for to, r in zip(new, running)]
    options = {"eps": eps, "cast_before_weight": cast_before_weight}
    options |= {"training": training, "momentum": momentum} if batch else {"rounded_sum": rounded_sum}
    rows, added = (_array(x), None) if batch else _in_place(x, residual)
    narrow = _is_narrow(x, weight, bias)
    _call(layer, rows, _parameter(weight, narrow), options=options, beta=_parameter(bias, narrow), residual=added,
          residual_out=_array(total), out=_array(y), mean=_array(mean), rstd=_array(rstd),
          running_mean=_parameter(running[0]), running_var=_parameter(running[1]))


@_operator(3)
def _gated_backward(dy: Tensor, x: Tensor, gate: Tensor, weight: Optional[Tensor], rstd: Tensor,
                    gate_first: bool) -> Iterator[Any]:
    """dx, dgate, and the gradient of weight, float32."""
    dx, dgate, dweight = x.new_empty(x.shape), x.new_empty(x.shape), _empty(x, x.shape[-1])
    yield dx, dgate, dweight
    _call("gated_rms_norm_backward", *_in_place(dy, x, gate), _parameter(weight), out=_array(dx), dgate=_array(dgate),
          dgamma=_array(dweight), rstd=_array(rstd), options={"gate_first": gate_first})


def _gated_keep(ctx: Any, inputs: Any, output: Any) -> None:
    x, gate, weight, ctx.gate_first, _, _ = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(x, gate, weight, output[1])


def _gated_gradient(ctx: Any, dy: Tensor, *_: Any) -> Any:
    dx, dgate, dweight = _gated_backward(dy, *ctx.saved_tensors, ctx.gate_first)
    return dx, dgate, dweight if ctx.needs_input_grad[2] else None, None, None, None


@_operator(2, _gated_keep, _gated_gradient)
def _gated(x: Tensor, gate: Tensor, weight: Optional[Tensor], gate_first: bool, eps: float,
           cast_before_weight: bool) -> Iterator[Any]:
    """y, and the statistics rstd."""
    y, rstd = x.new_empty(x.shape), _empty(x, *x.shape[:-1])
    yield y, rstd
    options = {"gate_first": gate_first, "eps": eps, "cast_before_weight": cast_before_weight}
    _call("gated_rms_norm", *_in_place(x, gate), _parameter(weight, _is_narrow(x, weight)), options=options, out=_array(y),
          rstd=_array(rstd))


@cache
def _warn(what: str) -> None:
    warn(f"normlab.torch takes float32, float16 and bfloat16 on the CPU: torch computes {what}", stacklevel=5)


def _computes(x: Tensor) -> bool:
    return x.dtype in _FLOATS and x.device.type in ("cpu", "meta") and x.layout is torch.strided


def _takes(layer: str, x: Tensor) -> bool:
    taken = _computes(x)
    if not taken and not torch.compiler.is_compiling():
        _warn(f"this {layer} of {x.dtype} on {x.device.type}")
    return taken


def _rows_of(input: Tensor, shape: Sequence[int], **like: Optional[Tensor]) -> tuple[int, ...]:
    """The axes before those that are normalized."""
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
        eps = torch.finfo(input.dtype).eps if eps is None else eps
        flat = [None if t is None else t.reshape(*rows, prod(shape)) for t in (input, residual)]
        y, total, *_ = _norm(*flat, *(None if p is None else p.reshape(-1) for p in (weight, bias)), None, None, layer,
                             True, 0.0, eps, cast_before_weight, rounded_sum)
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
    """As torch.nn.functional.layer_norm. With a residual: the norm of input + residual, and that sum."""
    return _rows("layer_norm", input, residual, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
             eps: Optional[float] = None, residual: Optional[Tensor] = None, cast_before_weight: bool = False,
             rounded_sum: bool = False) -> Any:
    """As torch.nn.functional.rms_norm; eps None: torch.finfo(input.dtype).eps. residual as in layer_norm. What is
    rounded to the input's type, besides the result: with cast_before_weight the normalized value, with rounded_sum
    input + residual before it is normalized. Qwen3 and Llama in transformers do both."""
    return _rows("rms_norm", input, residual, normalized_shape, weight, None, eps, cast_before_weight, rounded_sum)


def qwen2_rms_norm(input: Tensor, weight: Tensor, eps: float = 1e-6, residual: Optional[Tensor] = None) -> Any:
    """The gain is 1 + weight, as in transformers' GemmaRMSNorm and Qwen3NextRMSNorm. residual as in layer_norm."""
    return _rows("qwen2_rms_norm", input, residual, weight.shape, weight, None, eps)


def gated_rms_norm(input: Tensor, gate: Tensor, weight: Optional[Tensor] = None, eps: Optional[float] = 1e-6,
                   gate_first: bool = False, cast_before_weight: bool = False) -> Tensor:
    """rms_norm(input) * silu(gate), as in Qwen3-Next; with gate_first rms_norm(input * silu(gate)), as in Mamba-2
    (docs/naming.md). Over the axes of weight, or without one the last. silu is computed in float32."""
    shape = input.shape[-1:] if weight is None else weight.shape
    rows = _rows_of(input, shape, gate=gate)
    if _takes("gated_rms_norm", input):
        eps = torch.finfo(input.dtype).eps if eps is None else eps
        x, z = (t.reshape(*rows, prod(shape)) for t in (input, gate))
        y: Tensor = _gated(x, z, None if weight is None else weight.reshape(-1), gate_first, eps, cast_before_weight)[0]
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
    y, _, _, _, *new = _norm(
        input, None, weight, bias, running_mean, running_var, "batch_norm", training, momentum, eps, False,
        False)
    if training and running_mean is not None and running_var is not None:
        with torch.no_grad():
            running_mean.copy_(new[0])
            running_var.copy_(new[1])
    return y


class LayerNorm(torch.nn.LayerNorm):
    """As torch.nn.LayerNorm. With a residual the results are the norm of the sum, and the sum."""

    def forward(self, input: Tensor, residual: Optional[Tensor] = None) -> Any:
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps, residual)


class RMSNorm(torch.nn.RMSNorm):
    """As torch.nn.RMSNorm. With a residual the results are the norm of the sum, and the sum. cast_before_weight and
    rounded_sum as in rms_norm."""

    cast_before_weight = rounded_sum = False

    def __init__(self, *args: Any, cast_before_weight: bool = False, rounded_sum: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        self.cast_before_weight, self.rounded_sum = cast_before_weight, rounded_sum

    def forward(self, input: Tensor, residual: Optional[Tensor] = None) -> Any:
        return rms_norm(input, self.normalized_shape, self.weight, self.eps, residual, self.cast_before_weight,
                        self.rounded_sum)


class Qwen2RMSNorm(torch.nn.RMSNorm):
    """RMSNorm whose gain is 1 + weight, from zeros: transformers' GemmaRMSNorm and Qwen3NextRMSNorm, whose own class
    Qwen2RMSNorm is RMSNorm (docs/naming.md). With a residual the results are the norm of the sum, and the sum."""

    def __init__(self, hidden_size: int, eps: float = 1e-6, device: Any = None, dtype: Any = None) -> None:
        super().__init__(hidden_size, eps, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        torch.nn.init.zeros_(self.weight)

    def forward(self, input: Tensor, residual: Optional[Tensor] = None) -> Any:
        return _rows("qwen2_rms_norm", input, residual, self.normalized_shape, self.weight, None, self.eps)


class GatedRMSNorm(torch.nn.RMSNorm):
    """gated_rms_norm as a module, of (input, gate)."""

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
    """The class for a model's own RMSNorm: it has the name and the parts of one, and computes the same numbers."""
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
        except Exception:  # whatever a foreign module raises
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
    """Makes the norms of a model this library's, in place, and returns their names in the model.

    These are the LayerNorm, RMSNorm and BatchNorm of torch.nn, and RMSNorms of a model's own, as LlamaRMSNorm and
    GemmaRMSNorm of transformers, if they give the same numbers on a probe. Parameters, buffers and hooks stay, so an
    optimizer may have been made before; subclasses of torch.nn's classes stay too.
    """
    swapped = []
    for name, module in model.named_modules():
        kind = _SWAPS.get(type(module)) or _foreign(module)
        if kind:
            module.__class__ = kind
            swapped.append(name)
    return swapped
