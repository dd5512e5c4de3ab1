"""This library as one of the frameworks."""
from typing import Any

import numpy as np
from numpy.typing import NDArray

import normlab

from .adapter import Arrays, Layer, Problem, aligned


class Normlab:
    def __init__(self, threads: int) -> None:
        self.threads, self.version = threads, f"normlab {normlab.__version__}"
        self._made: dict[tuple[Any, ...], NDArray[Any]] = {}

    def _output(self, name: str, x: NDArray[Any]) -> NDArray[Any]:
        """The output array, which all layers share, because its place in memory affects the times."""
        return self._made.setdefault((name, x.shape, x.dtype), aligned(x))

    def layer(self, problem: Problem) -> Layer:
        op, threads, a = problem.op, self.threads, dict(problem.arrays)
        x, gamma = a["x"], a.get("gamma")
        given: dict[str, Any] = {} if op == "rmsnorm" else {"beta": a.get("beta")}
        name = {"layernorm": "layer_norm", "rmsnorm": "rms_norm", "batchnorm": "batch_norm"}[op]
        forward, backward = getattr(normlab, name), getattr(normlab, f"{name}_backward")
        groups = x.shape[1] if op == "batchnorm" else x.shape[0]
        y, dx = self._output("y", x), self._output("dx", x)
        kept = {key: np.empty(groups, "f4") for key in ("mean", "rstd") if op != "rmsnorm" or key == "rstd"}

        def infer() -> Any:
            return forward(x, gamma, eps=problem.eps, out=y, threads=threads, **given)

        def train() -> Any:
            forward(x, gamma, eps=problem.eps, out=y, threads=threads, **given, **kept)
            return backward(a["dy"], x, gamma, eps=problem.eps, out=dx, threads=threads, **kept)

        def outputs(result: Any) -> Arrays:
            if not problem.training:
                return {"y": y.copy()}
            names = ("dgamma", "dbeta")[:1 if op == "rmsnorm" else 2]
            return {"y": y.copy(), "dx": dx.copy(), **dict(zip(names, result[1:]))}

        return Layer(train if problem.training else infer, outputs)
