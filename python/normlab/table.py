"""The table of implementations."""
from typing import Any, NamedTuple, Union

import numpy as np

from . import _core
from ._document import documented


class Implementation(NamedTuple):
    """A row of the table. str() is its name for `impl=`, "optimized/rows_simd@avx2"."""

    name: str  #: the path of its file without .c, "rmsnorm/naive"
    isa: str  #: the instruction set that it needs; "c": plain C
    about: str  #: a description in one line
    ops: tuple[str, ...]  #: layers that it takes: "layernorm", ...
    passes: tuple[str, ...]  #: "forward", "backward", "inference"
    dtypes: tuple[str, ...]  #: "f32", "f16", "bf16"
    c_max: int  #: the largest number of features that it takes; 0: any
    method: str  #: method of the variance: "two-pass", ...; "-": computes none
    lanes: int  #: independent accumulators in each sum
    threaded: bool  #: uses more than one thread if `threads` allows
    streams: bool  #: stores y or dx with streaming stores, past the caches
    strided: bool  #: takes views whose rows have gaps between them
    range_safe: bool  #: right even if a sum of squares leaves float's range
    demonstration: bool  #: made to show an error, so no bound is required
    runs_here: bool  #: does this processor have the instruction set?

    def __str__(self) -> str:
        return f"{self.name}@{self.isa}"


#: The type of `impl=`: a row of the table, "NAME" (with the widest instruction set that runs here), or "NAME@ISA".
#: None: the choice of best().
Impl = Union[Implementation, str, None]


def implementations() -> list[Implementation]:
    """All implementations, in the order of the table. An implementation can be called if `runs_here` is true.

    >>> [str(row) for row in normlab.implementations() if row.name == "rmsnorm/naive"]
    ['rmsnorm/naive@c']
    """
    return [Implementation(*row) for row in _core.implementations()]


def number(names: dict[str, int], what: str, name: str) -> int:
    """The number of a name in a table of the library. ValueError: the table has no such name."""
    if name in names:
        return names[name]
    raise ValueError(f"{what} {name!r} is not one of {', '.join(names)}")


def dtype_name(dtype: Any) -> str:
    """The library's name of a storage type: "f32", "f16", "bf16", a NumPy dtype, or its name."""
    if isinstance(dtype, str) and dtype in _core.DTYPES:
        return dtype
    short = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
    text = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    if text not in short:
        raise TypeError(f"dtype {text}: it must be float32, float16 or bfloat16")
    return short[text]


@documented("Implementation", "ValueError\n    No implementation accepts the problem, or a name is unknown.",
            direction=('"forward", "backward" or "inference"', "The pass."),
            **dict.fromkeys(("n", "c", "s"), ("int", "n rows of c features; for batchnorm the shape [n][c][s].")))
def best(op: str, n: int, c: int, s: int = 1, *, direction: str = "forward", dtype: Any = "f32",
         threads: int = 1) -> Implementation:
    """The recommended implementation, which `impl=None` runs.

    >>> normlab.best("rmsnorm", 64, 1024).runs_here
    True
    """
    return Implementation(*_core.best(
        number(_core.OPS, "op", op), number(_core.PASSES, "direction", direction),
        _core.DTYPES[dtype_name(dtype)], n, c, s, threads))
