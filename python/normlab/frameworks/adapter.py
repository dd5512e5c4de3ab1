"""The interface to a framework: its layers on NumPy arrays, ready to be called again and again."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional, Protocol

import numpy as np
from numpy.typing import NDArray

QUEUED = 20
Arrays = Mapping[str, NDArray[Any]]  #: by name: x, gamma, beta, dy; y, dx, dgamma, dbeta


def aligned(a: NDArray[Any]) -> NDArray[Any]:
    """A copy at the start of a page: NumPy's arrays are often 16 bytes off, and wide loads then cross lines."""
    room = np.empty(a.nbytes + 4096, np.uint8)
    begin = -room.ctypes.data % 4096
    copy = room[begin:begin + a.nbytes].view(a.dtype).reshape(a.shape)
    copy[...] = a
    return copy


class Missing(Exception):
    """The framework is not installed, or has no such layer. str() says which, and how to get it."""


class Problem(NamedTuple):
    """A layer with its inputs."""

    op: str  #: "layernorm", "rmsnorm" or "batchnorm"
    training: bool  #: forward and backward, else forward alone
    eps: float
    arrays: Arrays  #: x and dy of one type; gamma and beta, float32, may be absent

    @property
    def dtype(self) -> str:
        return str(self.arrays["x"].dtype.name)

    def parameter(self, name: str) -> Optional[NDArray[Any]]:
        """gamma or beta in x's type, as in a model that was converted to that type."""
        return self.arrays[name].astype(self.arrays["x"].dtype) if name in self.arrays else None


class Layer(NamedTuple):
    """A prepared layer. A call returns only when its result is computed."""

    call: Callable[[], Any]
    outputs: Callable[[Any], Arrays]  #: of what a call returned
    queue: Optional[Callable[[], Callable[[], object]]] = None  #: makes QUEUED calls that the CPU starts as one

    @property
    def timed(self) -> Callable[[], object]:
        return self.queue() if self.queue else self.call

    @property
    def calls(self) -> int:
        """The number of calls of the layer in one call of `timed`."""
        return QUEUED if self.queue else 1


class Framework(Protocol):
    """Its constructor raises Missing."""

    version: str

    def layer(self, problem: Problem) -> Layer:
        """Missing: the framework does not have it."""
        ...
