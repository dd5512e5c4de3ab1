"""Tensors of PyTorch as arrays that the library can use in place."""
from typing import Any, Optional

import torch
from torch import Tensor

from ._arrays import bfloat16


def _levels(tensor: Tensor) -> list[int]:
    """Number of rows at each level of strides, innermost first. The library cannot use a tensor of over two levels."""
    axes = [(by, count) for by, count in zip(tensor.stride()[-2::-1], tensor.shape[-2::-1]) if count != 1]
    if tensor.shape[-1] != 1 and tensor.stride(-1) != 1:
        return [0, 0, 0]
    reach = tensor.shape[-1]
    for by, count in sorted(axes):
        if by < reach:  # rows overlap, as after Tensor.unfold(), or are all the same row
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


def in_place(*tensors: Optional[Tensor]) -> list[Any]:
    """Tensors as arrays. Copies a tensor whose strides do not fit the library or the tensors before it."""
    inner, made = 0, []
    for tensor in tensors:
        if tensor is not None and not tensor.is_contiguous():
            levels = _levels(tensor)
            if len(levels) > 2 or len(levels) == 2 and inner not in (0, levels[0]):
                tensor = tensor.contiguous()
            elif len(levels) == 2:
                inner = levels[0]
        made.append(array(tensor, False))
    return made


def array(tensor: Optional[Tensor], copy: bool = True) -> Any:
    """The tensor's memory or, with `copy`, a contiguous copy if needed."""
    if tensor is None:
        return None
    plain = tensor.detach() if tensor.requires_grad else tensor
    plain = plain.resolve_neg() if plain.is_neg() else plain
    plain = plain.contiguous() if copy else plain
    return plain.view(torch.int16).numpy().view(bfloat16()) if plain.dtype == torch.bfloat16 else plain.numpy()


def parameter(tensor: Optional[Tensor], narrow: bool = False) -> Any:
    """The parameter in float32 or, with `narrow`, in its own type."""
    return None if tensor is None else array(tensor if narrow else tensor.float())


def is_narrow(x: Tensor, *parameters: Optional[Tensor]) -> bool:
    """Have all parameters the type of x? If so, the library uses them without a copy."""
    return all(p is None or p.dtype == x.dtype for p in parameters)
