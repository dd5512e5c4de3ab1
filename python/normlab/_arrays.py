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


def as_array(given: Any, name: str) -> NDArray[Any]:
    """The same memory as a plain NumPy array. TypeError: it is no array, or lies elsewhere."""
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be ignored: pass {name}.data")
    if isinstance(given, np.ndarray):
        return given.view(np.ndarray)
    try:
        if str(getattr(given, "dtype", "")) == "torch.bfloat16":  # NumPy's DLPack lacks the type
            torch = sys.modules["torch"]
            return np.from_dlpack(given.view(torch.int16)).view(bfloat16())
        if hasattr(given, "__dlpack__"):
            return np.from_dlpack(given)
        return np.asarray(memoryview(given))
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"{name} cannot be used in place: {error}") from error
    except TypeError as error:
        if "ml_dtypes" in str(error):
            raise
        raise TypeError(f"{name} is {type(given).__name__}, not an array") from error
