"""Does a row have the same bits in every batch? Each framework computes a few rows alone, and then among other rows."""
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .adapter import Framework, Missing, Problem, aligned
from .registry import attempt, confine, make
from .verify import problem

ROWS = 8  #: number of rows that are computed alone and in every batch
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257)
FEW = (1, 2, 3, 17, 257)  #: sizes of batches for torch.compile, which takes seconds to compile each


class Invariance(NamedTuple):
    """A row of the results."""

    how: str
    version: str
    case: str  #: "layernorm/forward/f32/257x1000/normal"; the batches have up to 257 rows
    threads: int
    verdict: str  #: "same", "differs", "skip", or "error"
    rows: int = 0  #: rows compared, in all batches
    others: int = 0  #: compared rows whose bits differ
    ulps: int = 0  #: the largest distance; -1: only one value is NaN
    smallest: int = 0  #: size of the smallest batch in which bits differ; 1: two calls for the same row differ
    why: str = ""


def cases(quick: bool = False) -> list[str]:
    """Cases whose rows end within a vector, and long rows, which some frameworks divide among threads."""
    return [f"{op}/{way}/{kind}/{shape}/normal" for kind in ("f32", "bf16") for way in ("forward", "backward")
            for op in ("layernorm", "rmsnorm") for shape in (("33x1000",) if quick else ("257x1000", "17x65536"))]


def distance(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The distance of each pair of numbers in ulps; 0 for two NaNs, -1 for one NaN."""
    bits = np.dtype(f"i{a.dtype.itemsize}")
    lowest = np.int64(np.iinfo(bits).min)
    places = [np.where(i < 0, lowest - 1 - i, i) for i in (v.view(bits).astype(np.int64) for v in (a, b))]
    nan = [v != v for v in (a, b)]
    apart: NDArray[Any] = np.where(nan[0] | nan[1], np.where(nan[0] & nan[1], 0, -1), abs(places[0] - places[1]))
    return apart


def of_rows(framework: Framework, given: Problem, rows: NDArray[Any]) -> NDArray[Any]:
    """y, or dx in training, of these rows of the problem, computed as one batch."""
    some = {name: aligned(given.arrays[name][rows]) for name in ("x", "dy") if name in given.arrays}
    layer = framework.layer(given._replace(arrays={**given.arrays, **some}))
    made: NDArray[Any] = layer.outputs(layer.call())["dx" if given.training else "y"]
    return made.copy()


def compare(framework: Framework, how: str, case: str, threads: int) -> Invariance:
    """Computes each of the first rows by itself, then at random places in batches, among random other rows."""
    row = Invariance(how, framework.version, case, threads, "same")
    op, _, tail = case.partition("/")
    given, draw = problem(op, tail), np.random.default_rng(1)
    count = len(given.arrays["x"])
    ours = min(ROWS, count - 1)
    if ours < 1:
        return row._replace(verdict="error", why=f"{count} rows: there are no other rows for a batch")
    try:
        alone = [of_rows(framework, given, np.array([r]))[0] for r in range(ours)]
        for n in [n for n in (FEW if how == "torch_compile" else SIZES) if n <= count]:
            batch = draw.integers(ours, count, n)
            places = draw.permutation(n)[:ours]
            batch[places] = draw.permutation(ours)[:len(places)]
            got = of_rows(framework, given, batch)
            apart = [distance(got[at], alone[batch[at]]) for at in places]
            others = sum(bool(d.any()) for d in apart)
            worst = max((-1 if (d < 0).any() else int(d.max()) for d in apart), key=lambda d: d if d >= 0 else np.inf)
            row = row._replace(rows=row.rows + len(places), others=row.others + others,
                               ulps=-1 if -1 in (worst, row.ulps) else max(row.ulps, worst),
                               smallest=row.smallest or (n if others else 0))
    except Missing as missing:
        return row._replace(verdict="skip", why=str(missing))
    return row._replace(verdict="differs" if row.others else "same")


def compare_by_name(how: str, case: str, threads: int, device: str = "cpu") -> Invariance:
    """registry.each() calls this function in a separate process."""
    confine(threads)
    return attempt(lambda: compare(make(how, threads, device), how, case, threads),
                   Invariance(how, "", case, threads, "error"))


HEAD = f"{'framework':14} {'version':20} {'case':44} bits of a row alone, and in batches"


def line(row: Any) -> str:
    says = (f"same bits, {row.rows} rows" if row.verdict == "same" else
            f"differs in {row.others} of {row.rows} rows, "
            f"{'NaN in one batch only' if row.ulps < 0 else f'at most {row.ulps} ulp'}, smallest n that differs: {row.smallest}"
            if row.verdict == "differs" else f"{row.verdict}: {row.why}")
    return f"{row.how:14} {row.version:20} {row.case:44} {says}"
