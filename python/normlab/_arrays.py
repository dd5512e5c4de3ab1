"""Arrays of other libraries as NumPy arrays, without copies."""
import sys
from collections.abc import Callable
from typing import Any, Protocol, Union

import numpy as np
from numpy.typing import NDArray


class SupportsDLPack(Protocol):
    """A tensor that other libraries can use in place: torch.Tensor, jax.Array, ..."""

    @property
    def __dlpack__(self) -> Callable[..., Any]: ...


#: What every function takes: a NumPy array, a tensor, or an object with the buffer protocol.
Array = Union[NDArray[Any], SupportsDLPack, memoryview]


def bfloat16() -> np.dtype[Any]:
    """The dtype ml_dtypes.bfloat16."""
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes") from None
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def _from_dlpack(given: Any) -> NDArray[Any]:
    dtype = str(getattr(given, "dtype", ""))
    if getattr(given, "is_neg", bool)():  # DLPack would export the values before their negation
        raise ValueError("it is negated when it is read: pass tensor.resolve_neg()")
    if getattr(given, "requires_grad", False) is True:
        raise ValueError("it requires gradients: use normlab.torch, or pass tensor.detach()")
    if dtype == "torch.bfloat16":  # NumPy's DLPack lacks the type
        return _from_dlpack(given.view(sys.modules["torch"].int16)).view(bfloat16())
    if dtype == "bfloat16":  # JAX uses the type of ml_dtypes
        return np.asarray(given, copy=False)
    array: NDArray[Any] = np.from_dlpack(given)
    if array.size and array.flags.owndata:  # NumPy allocates memory if the pointer is null, as in a FakeTensor
        raise ValueError("it has no memory")
    return array


def as_array(given: Any, name: str) -> NDArray[Any]:
    """`given` as a plain NumPy array, without a copy. TypeError: it is not an array, or not in the CPU's memory."""
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be ignored: pass {name}.data")
    if isinstance(given, np.ndarray):
        return given.view(np.ndarray)
    if not hasattr(given, "__dlpack__"):
        try:
            return np.asarray(memoryview(given))
        except (TypeError, BufferError) as error:
            raise TypeError(f"{name} is {type(given).__name__}, not an array") from error
    try:
        return _from_dlpack(given)
    except Exception as error:  # the other library may raise anything
        raise TypeError(f"{name} cannot be used in place: {error}") from error


def as_given(array: NDArray[Any], x: Any) -> Any:
    """The array itself or, if x is a tensor of PyTorch, a tensor in the same memory."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return array
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
