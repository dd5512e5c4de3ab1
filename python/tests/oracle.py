"""Computes the layers in NumPy's long double from the formulas, and makes random problems."""
import numpy as np
from hypothesis import strategies as st

ROW_NORMS = {"layer_norm": "layernorm", "rms_norm": "rmsnorm", "qwen2_rms_norm": "qwen2_rmsnorm"}
UNIT = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}

wide = np.longdouble


def dtypes():
    import ml_dtypes

    return [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


def gain_of(name, gamma):
    return (gamma.astype(wide) + 1) if name.startswith("qwen2") else gamma.astype(wide)


def statistics(x, axes, eps, centred=True):
    """mean, rstd and xhat; a reduced axis has length 1."""
    x = x.astype(wide)
    mean = x.mean(axis=axes, keepdims=True) if centred else np.zeros((1,) * x.ndim, wide)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + wide(np.float32(eps)))
    return mean, rstd, (x - mean) * rstd


def gradients(x, dy, gain, axes, eps, centred=True):
    """dx, dgamma and dbeta; gain has as many axes as x."""
    _, rstd, xhat = statistics(x, axes, eps, centred)
    dy = dy.astype(wide)
    g = gain * dy
    dx = g - xhat * (g * xhat).mean(axis=axes, keepdims=True)
    if centred:
        dx -= g.mean(axis=axes, keepdims=True)
    over = tuple(k for k in range(x.ndim) if gain.shape[k] == 1)
    return rstd * dx, (dy * xhat).sum(axis=over), dy.sum(axis=over)


def close(got, want, scale, dtype, units=24):
    """Asserts that errors are at most `units` float units of the scale, plus one rounding to the storage type."""
    allowed = (units * UNIT["float32"] + UNIT[np.dtype(dtype).name]) * scale + 1e-7
    error = np.abs(got.astype(wide) - want)
    assert error.shape == np.broadcast(got, allowed).shape
    assert (error <= allowed).all(), f"{error.max()} > {np.max(allowed)}"


def near(got, want, scale):
    """Asserts that errors are at most 2^-50 of the scale."""
    assert got.shape == want.shape
    assert (abs(got - want) <= 2**-50 * scale).all(), abs(got - want).max()


@st.composite
def problems(draw, axes=(1, 4)):
    """x and dy of one shape and type, a random generator, and a number of threads."""
    dtype = draw(st.sampled_from(dtypes()))
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=axes[0], max_size=axes[1])))
    shape = (*shape[:-1], draw(st.integers(2, 70)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    x, dy = random.normal(size=(2, *shape)).astype(dtype)
    return x, dy, random, draw(st.sampled_from([1, 2, 3]))
