"""The data of `normlab`, with the same bytes on every machine."""
from typing import Any, NamedTuple, Optional

from numpy.typing import NDArray

from . import _core
from ._arrays import bfloat16
from ._document import documented
from .table import dtype_name


class Case(NamedTuple):
    """A problem with its arrays, made from a case of `normlab check` and `normlab bench`."""

    spelling: str  #: "layernorm/forward/f32/64x1024/normal"
    op: str  #: "layernorm"
    direction: str  #: "forward", "backward" or "inference"
    dtype: str  #: "f32", "f16" or "bf16"
    n: int
    c: int
    s: int
    eps: float
    cast_before_weight: bool
    rounded_sum: bool
    arrays: dict[str, NDArray[Any]]  #: its inputs by name: x, gamma, beta, dy, residual, ...


class Exhibit(NamedTuple):
    """The data of a public bug report about a normalization layer."""

    name: str
    report: Optional[str]  #: "pytorch/pytorch#51102"; None: no public report
    data: str  #: describes x in a few words
    wrong: str  #: the wrong result in the report
    cases: tuple[str, ...]  #: spellings for case()


@documented("Case", "ValueError\n    The case is misspelt, or its npy: file cannot be used.",
            spelling=('"op/pass/dtype/NxC[xS]/data[/option...]"', "docs/results.md explains it."))
def case(spelling: str) -> Case:
    """The problem and the inputs of a case. Tensors have the shape (n, c), or (n, c, s) if s is not 1.

    >>> sorted(normlab.case("rmsnorm/forward/f32/4x64/normal").arrays)
    ['gamma', 'x']
    """
    fields: list[Any] = list(_core.case(spelling))
    if fields[3] == "bf16":
        fields[-1] = {name: a if a.dtype == "float32" else a.view(bfloat16())
                      for name, a in fields[-1].items()}
    return Case(*fields)


@documented("(n, c), each row of this kind; with s: (n, c, s), as NCHW, each channel of this kind",
            "ValueError\n    No kind has that name.",
            kind=('"normal", "offset:4096", "outliers", "museum:pt51102", ...', "docs/results.md has the list."),
            n=("int", "The shape."), c=("int", "The shape."), s=("int or None", "Pixels in each channel."))
def data(kind: str, n: int, c: int, s: "int | None" = None, *, dtype: Any = "float32") -> "NDArray[Any]":
    """Data of one kind. Every machine gets the same bytes.

    >>> normlab.data("offset:4096", 4, 64, dtype="f16").dtype
    dtype('float16')
    """
    op, shape = ("layernorm", f"{n}x{c}") if s is None else ("batchnorm", f"{n}x{c}x{s}")
    x = case(f"{op}/forward/{dtype_name(dtype)}/{shape}/{kind}").arrays["x"]
    return x if s is None else x.reshape(n, c, s)


def museum() -> list[Exhibit]:
    """The museum: data on which implementations were wrong (docs/museum.md).

    >>> normlab.museum()[0].report
    'pytorch/pytorch#51102'
    """
    return [Exhibit(*row) for row in _core.museum()]
