"""JAX under jax.jit. LayerNorm is jax.nn.standardize, whose variance is mean(x^2) - mean(x)^2 by default; RMSNorm is
written out, because JAX has none. Sums are in float32, as in Flax."""
import os
from typing import Any

import numpy as np

from .adapter import Arrays, Layer, Missing, Problem


class Jax:
    algorithm = "fast"

    def __init__(self, threads: int) -> None:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        try:
            import jax
        except ImportError:
            raise Missing("JAX is not installed: pip install jax") from None
        self.jax, self.version = jax, f"JAX {jax.__version__}"

    def layer(self, problem: Problem) -> Layer:
        if problem.op == "batchnorm":
            raise Missing("JAX has no BatchNorm")
        jax, jnp, eps, algorithm = self.jax, self.jax.numpy, problem.eps, self.algorithm
        given = {name: jnp.array(array) for name in ("x", "gamma", "beta")
                 if (array := problem.arrays["x"] if name == "x" else problem.parameter(name)) is not None}
        if problem.op == "rmsnorm":
            given.pop("beta", None)

        def norm(given: dict[str, Any]) -> Any:
            x = given["x"].astype(jnp.float32)
            if problem.op == "layernorm":
                y = jax.nn.standardize(x, axis=-1, epsilon=eps, algorithm=algorithm)
            else:
                y = x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + eps)
            y = y * given.get("gamma", 1) + given.get("beta", 0)
            return y.astype(given["x"].dtype)

        def train(given: dict[str, Any], dy: Any) -> Any:
            y, backward = jax.vjp(norm, given)
            return y, backward(dy)[0]

        function = jax.jit(train if problem.training else norm)
        more = [jnp.array(problem.arrays["dy"])] if problem.training else []

        def outputs(result: Any) -> Arrays:
            y, gradients = result if problem.training else (result, {})
            return {"y": np.asarray(y), **{f"d{name}": np.asarray(a) for name, a in gradients.items()}}

        return Layer(lambda: jax.block_until_ready(function(given, *more)), outputs)


class JaxStable(Jax):
    algorithm = "stable"
