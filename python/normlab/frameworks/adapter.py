"""The interface to a framework: prepares layers on NumPy arrays for repeated calls."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional, Protocol

import numpy as np
from numpy.typing import NDArray

QUEUED = 20
Arrays = Mapping[str, NDArray[Any]]  #: inputs or outputs by name: x, gamma, beta, dy, or y, dx, dgamma, dbeta


def aligned(a: NDArray[Any]) -> NDArray[Any]:
    """A page-aligned copy. NumPy's arrays often start 16 bytes into a page, so that wide loads cross cache lines."""
    room = np.empty(a.nbytes + 4096, np.uint8)
    begin = -room.ctypes.data % 4096
    copy = room[begin:begin + a.nbytes].view(a.dtype).reshape(a.shape)
    copy[...] = a
    return copy


class Missing(Exception):
    """The framework is not installed, or lacks the layer or device. str() names the cause and the remedy."""


class Problem(NamedTuple):
    """A layer with its inputs."""

    op: str  #: "layernorm", "rmsnorm" or "batchnorm"
    training: bool  #: forward and backward; False: forward alone
    eps: float
    arrays: Arrays  #: x and dy of one type; gamma and beta, float32, may be absent

    @property
    def dtype(self) -> str:
        return str(self.arrays["x"].dtype.name)

    def parameter(self, name: str) -> Optional[NDArray[Any]]:
        """gamma or beta in x's type, as in a model that was converted to that type."""
        return self.arrays[name].astype(self.arrays["x"].dtype) if name in self.arrays else None


class Layer(NamedTuple):
    """A prepared layer. A call returns after its result is computed."""

    call: Callable[[], Any]
    outputs: Callable[[Any], Arrays]  #: turns what a call returned into arrays
    queue: Optional[Callable[[], Callable[[], object]]] = None  #: makes a function that starts QUEUED calls at once

    @property
    def timed(self) -> Callable[[], object]:
        return self.queue() if self.queue else self.call

    @property
    def calls(self) -> int:
        """The number of calls of the layer in one call of `timed`."""
        return QUEUED if self.queue else 1


class Framework(Protocol):
    """The constructor raises Missing if the framework cannot be used."""

    version: str

    def layer(self, problem: Problem) -> Layer:
        """Raises Missing if the framework has no such layer."""
        ...
