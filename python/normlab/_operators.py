"""The layers as custom operators of PyTorch, torch.ops.normlab, with their gradients."""
from collections.abc import Callable, Iterator
from inspect import signature
from types import GenericAlias
from typing import Any, Optional

import torch
from torch import Tensor

from . import _core, layers
from ._tensors import array, in_place, is_narrow, parameter

_CENTRED = ("layer_norm", "batch_norm")
_ROW_NORMS = {"layer_norm": "layernorm", "rms_norm": "rmsnorm", "qwen2_rms_norm": "qwen2_rmsnorm"}
_OPS = {layer: _core.OPS[name] for layer, name in _ROW_NORMS.items()}
_DTYPES = {torch.float32: _core.DTYPES["f32"], torch.float16: _core.DTYPES["f16"], torch.bfloat16: _core.DTYPES["bf16"]}


def _empty(x: Tensor, *shape: int) -> Tensor:
    return x.new_empty(shape, dtype=torch.float32)


def _zeros(x: Tensor, *shape: int) -> Tensor:
    """Zeros for sums over rows: if there are no rows, the library writes no sums."""
    return x.new_zeros(shape, dtype=torch.float32)


def _on_one_device(x: Tensor, *others: Optional[Tensor]) -> None:
    """RuntimeError if devices differ: with a tensor on meta, PyTorch would return unwritten results on x.device."""
    for tensor in others:
        if tensor is not None and tensor.device != x.device:
            raise RuntimeError(f"expected all tensors on one device, got {x.device} and {tensor.device}")


def _have_memory(args: tuple[Any, ...]) -> None:
    for t in args:
        if isinstance(t, Tensor) and t.numel() and not t.untyped_storage().data_ptr():  # as after storage.resize_(0)
            raise RuntimeError("a tensor's storage is freed")


def _refusal(ctx: Any, *_: Any) -> None:
    raise RuntimeError("normlab.torch has no gradient of a gradient")


_PLAIN = (Tensor, torch.nn.Parameter)


def _is_plain(args: tuple[Any, ...]) -> bool:
    """Is there no gradient, transformation, mode or tracer? Then the call bypasses PyTorch's dispatch, which takes
    longer than a small norm."""
    gradients = torch.is_grad_enabled()
    for t in args:
        if isinstance(t, Tensor) and (type(t) not in _PLAIN or not t.is_cpu or gradients and t.requires_grad):
            return False
    return (torch._C._functorch.maybe_current_level() is None and torch._C._len_torch_dispatch_stack() == 0
            and torch.autograd.forward_ad._current_level < 0 and torch._C._get_tracing_state() is None)


def _operator(results: int, keep: Callable[..., Any] = lambda ctx, inputs, output: None,
              gradient: Callable[..., Any] = _refusal) -> Callable[[Callable[..., Iterator[Any]]], Callable[..., Any]]:
    """Makes a custom operator from a generator, which yields empty results and then computes their values.
    Outside of torch.compile, calls that are not plain use an autograd.Function, which torch.func can transform."""
    def make(steps: Callable[..., Iterator[Any]]) -> Callable[..., Any]:
        def compute(*args: Any) -> Any:
            _have_memory(args)
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
        operator: Any = torch.library.custom_op(f"normlab::{steps.__name__}", compute, mutates_args=())
        operator.register_fake(lambda *args: next(steps(*args)))
        operator.register_vmap(one_by_one)
        operator.register_autograd(gradient, setup_context=keep)
        kind: Any = type(steps.__name__, (torch.autograd.Function,), {
            "generate_vmap_rule": True, "forward": staticmethod(forward), "setup_context": staticmethod(keep),
            "backward": staticmethod(gradient)})

        def call(*args: Any) -> Any:
            if torch.compiler.is_compiling():
                return operator(*args)
            return compute(*args) if _is_plain(args) else kind.apply(*args)
        return call
    return make


def _call(name: str, *args: Any, out: Any, options: Any = {}, **arrays: Any) -> None:
    """Calls a function of normlab. Leaves out arrays that are None or empty: some layers lack these parameters."""
    there = {key: given for key, given in arrays.items() if given is not None and given.size}
    getattr(layers, name)(*args, out=out, threads=torch.get_num_threads(), **there, **options)


@_operator(3)
def norm_backward(dy: Tensor, dtotal: Optional[Tensor], x: Tensor, weight: Optional[Tensor], mean: Tensor,
                  rstd: Tensor, layer: str) -> Iterator[Any]:
    """dx, and the gradients of weight and bias, float32."""
    _on_one_device(x, dy, dtotal, weight, mean, rstd)
    c, batch = x.shape[1 if layer == "batch_norm" else -1], layer == "batch_norm"
    dx, dweight, dbias = x.new_empty(x.shape), _zeros(x, c), _zeros(x, c if layer in _CENTRED else 0)
    yield dx, dweight, dbias
    gain = {"dw" if layer == "qwen2_rms_norm" else "dgamma": array(dweight)}
    given = [*map(array, (dy, x, dtotal))] if batch else in_place(dy, x, dtotal)
    _call(f"{layer}_backward", *given[:2], parameter(weight), out=array(dx), dresidual=given[2], mean=array(mean),
          rstd=array(rstd), dbeta=array(dbias), **gain)


def _norm_keep(ctx: Any, inputs: Any, output: Any) -> None:
    x, residual, weight, _, *running, ctx.layer, ctx.training, _, ctx.eps, _, _ = inputs
    y, total, *saved = output
    ctx.fused = residual is not None
    ctx.mark_non_differentiable(*saved, *(() if ctx.fused else (total,)))
    ctx.save_for_backward(total if ctx.fused else x, weight, *(saved[:2] if ctx.training else running))


def _norm_gradient(ctx: Any, dy: Tensor, dtotal: Tensor, *_: Any) -> Any:
    x, weight, *saved = ctx.saved_tensors
    if ctx.training:
        dx, *sums = norm_backward(dy, dtotal if ctx.fused else None, x, weight, *saved, ctx.layer)
    elif not x.numel():  # PyTorch's operator would divide by zero
        dx, *sums = torch.empty_like(x), _zeros(x, x.shape[1]), _zeros(x, x.shape[1])
    else:  # dx contains no sums, because the running statistics are constants
        wide = (None if p is None else p.float() for p in (weight, *saved))
        dx, *sums = torch.ops.aten.native_batch_norm_backward(dy, x, *wide, None, None, False, ctx.eps, [True] * 3)
    needed = [gradient if need else None for gradient, need in zip(sums, ctx.needs_input_grad[2:])]
    return dx, dx if ctx.fused else None, *needed, *(None,) * 8


@_operator(6, _norm_keep, _norm_gradient)
def norm(x: Tensor, residual: Optional[Tensor], weight: Optional[Tensor], bias: Optional[Tensor],
         running_mean: Optional[Tensor], running_var: Optional[Tensor], layer: str, training: bool, momentum: float,
         eps: float, cast_before_weight: bool, rounded_sum: bool) -> Iterator[Any]:
    """y, x + residual, mean, rstd and the new running statistics; a result that does not exist is an empty tensor."""
    _on_one_device(x, residual, weight, bias, running_mean, running_var)
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
    rows, added = (array(x), None) if batch else in_place(x, residual)
    narrow = is_narrow(x, weight, bias)
    _call(layer, rows, parameter(weight, narrow), options=options, beta=parameter(bias, narrow), residual=added,
          residual_out=array(total), out=array(y), mean=array(mean), rstd=array(rstd),
          running_mean=parameter(running[0]), running_var=parameter(running[1]))


def norm_of_rows(x: Tensor, residual: Optional[Tensor], weight: Optional[Tensor], bias: Optional[Tensor], layer: str,
                 eps: float, cast_before_weight: bool, rounded_sum: bool) -> Optional[tuple[Tensor, Optional[Tensor]]]:
    """y and x + residual. None: the call needs a gradient, a copy or PyTorch's dispatch, so norm() has to compute it."""
    dtype, narrow = x.dtype, weight if bias is None else bias
    parameters = torch.float32 if narrow is None else narrow.dtype
    if torch.compiler.is_compiling() or not _is_plain((x, residual, weight, bias)) or parameters not in (dtype, torch.float32):
        return None
    for tensor, kind in (x, dtype), (residual, dtype), (weight, parameters), (bias, parameters):
        if tensor is not None and (tensor.dtype is not kind or tensor.is_neg()):
            return None
    y, total = x.new_empty(x.shape), None if residual is None else x.new_empty(x.shape)
    done = _core.forward_of_tensors(_OPS[layer], _DTYPES[dtype], _DTYPES[parameters], cast_before_weight, rounded_sum, eps,
                                    torch.get_num_threads(), x, residual, weight, bias, y, total)
    return (y, total) if done else None


@_operator(3)
def gated_backward(dy: Tensor, x: Tensor, gate: Tensor, weight: Optional[Tensor], rstd: Tensor,
                   gate_first: bool) -> Iterator[Any]:
    """dx, dgate, and the gradient of weight, float32."""
    _on_one_device(x, dy, gate, weight, rstd)
    dx, dgate, dweight = x.new_empty(x.shape), x.new_empty(x.shape), _zeros(x, x.shape[-1])
    yield dx, dgate, dweight
    _call("gated_rms_norm_backward", *in_place(dy, x, gate), parameter(weight), out=array(dx), dgate=array(dgate),
          dgamma=array(dweight), rstd=array(rstd), options={"gate_first": gate_first})


def _gated_keep(ctx: Any, inputs: Any, output: Any) -> None:
    x, gate, weight, ctx.gate_first, _, _ = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(x, gate, weight, output[1])


def _gated_gradient(ctx: Any, dy: Tensor, *_: Any) -> Any:
    dx, dgate, dweight = gated_backward(dy, *ctx.saved_tensors, ctx.gate_first)
    return dx, dgate, dweight if ctx.needs_input_grad[2] else None, None, None, None


@_operator(2, _gated_keep, _gated_gradient)
def gated(x: Tensor, gate: Tensor, weight: Optional[Tensor], gate_first: bool, eps: float,
          cast_before_weight: bool) -> Iterator[Any]:
    """y, and the statistics rstd."""
    _on_one_device(x, gate, weight)
    y, rstd = x.new_empty(x.shape), _empty(x, *x.shape[:-1])
    yield y, rstd
    options = {"gate_first": gate_first, "eps": eps, "cast_before_weight": cast_before_weight}
    _call("gated_rms_norm", *in_place(x, gate), parameter(weight, is_narrow(x, weight)), options=options, out=array(y),
          rstd=array(rstd))
