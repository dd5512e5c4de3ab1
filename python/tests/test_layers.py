"""Every layer and its reference, forward and backward, are judged and compared with NumPy's long double."""
import subprocess
import sys
from functools import partial

import normlab
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import ROW_NORMS, close, dtypes, gain_of, gradients, near, problems, statistics, wide

settings.register_profile("quick", max_examples=60, deadline=None)
settings.load_profile("quick")


def parameters(random, c):
    return random.normal(size=(2, c)).astype(np.float32)


@pytest.mark.parametrize("name", ROW_NORMS)
@given(problem=problems(), residual=st.booleans())
def test_rows(name, problem, residual):
    x, dy, random, threads = problem
    gamma, beta = parameters(random, x.shape[-1])
    centred = name == "layer_norm"
    more, back, saved = {}, {}, {"rstd": np.empty(x.shape[:-1], np.float32)}
    if centred:
        more["beta"], saved["mean"] = beta, np.empty(x.shape[:-1], np.float32)
    sum_ = x.astype(wide)
    if residual:
        r = random.normal(size=x.shape).astype(x.dtype)
        sum_ = sum_ + r.astype(wide)
        more.update(residual=r, residual_out=np.empty_like(x))
    y = getattr(normlab, name)(x, gamma, eps=1e-3, threads=threads, **more, **saved)
    gain = gain_of(name, gamma)
    mean, rstd, xhat = statistics(sum_, (-1,), 1e-3, centred)
    shift = beta.astype(wide) if centred else 0
    assert type(y) is np.ndarray and y.dtype == x.dtype
    close(y, gain * xhat + shift, abs(gain) * np.maximum(1, abs(xhat)) + abs(shift), x.dtype)
    close(saved["rstd"], rstd[..., 0], abs(rstd[..., 0]), "float32")
    if centred:
        close(saved["mean"], mean[..., 0], abs(sum_).mean(axis=-1), "float32")
    forward = {key: value for key, value in more.items() if key != "residual_out"}
    found = normlab.reference(ROW_NORMS[name], x, gamma, eps=1e-3, **forward)
    near(found.xhat, xhat, 1 + abs(xhat))
    near(found.y, gain * xhat + shift, abs(gain * xhat) + abs(shift) + 1)
    near(found.rstd, rstd[..., 0], rstd[..., 0])
    judged = normlab.judge(y, ROW_NORMS[name], x, gamma, eps=1e-3, **forward)
    assert judged.right and judged.worst_of == "y" and len(judged.worst) == x.ndim, judged
    h = x
    if residual:
        h = more["residual_out"]
        np.testing.assert_array_equal(h, (x.astype("f4") + r.astype("f4")).astype(x.dtype))
        back["dresidual"] = random.normal(size=x.shape).astype(x.dtype)
        saved.clear()  # the statistics are of the unrounded sum
    grads = getattr(normlab, name + "_backward")(dy, h, gamma, eps=1e-3, threads=threads, **saved, **back)
    dx, dgamma, dbeta = gradients(h, dy, gain.reshape((1,) * (x.ndim - 1) + (-1,)), (-1,), 1e-3, centred)
    rstd = statistics(h, (-1,), 1e-3, centred)[1]
    dx += back.get("dresidual", wide(0))
    scale = rstd * abs(gain * dy).max(axis=-1, keepdims=True) * (3 + abs(xhat)) + abs(dx)
    close(grads[0], dx, scale, x.dtype)
    want = normlab.reference_backward(ROW_NORMS[name], dy, h, gamma, eps=1e-3, **back)
    near(want.dx, dx, scale * 16)
    near(want.dgamma, dgamma, 1000)
    near(want.dbeta, dbeta if centred else want.dbeta, 1000)
    judged = normlab.judge_backward(grads[0], ROW_NORMS[name], dy, h, gamma, eps=1e-3, **back,
                                    **dict(zip(("dgamma", "dbeta"), grads[1:])))
    assert judged.right, judged
    rows = x.size // x.shape[-1]
    close(grads[1], dgamma, 3 * abs(dy.astype(wide)).max() * rows, "float32")
    assert len(grads) == 2 + centred
    if centred:
        close(grads[2], dbeta, abs(dy.astype(wide)).max() * rows, "float32")


@given(problem=problems(axes=(2, 4)), last=st.booleans(), biased=st.booleans())
def test_batch_norm(problem, last, biased):
    x, dy, random, threads = problem
    axis = x.ndim - 1 if last else 1
    axes = tuple(k for k in range(x.ndim) if k != axis)
    c = x.shape[axis]
    if x.size == c:
        with pytest.raises(ValueError, match="more than one value a channel"):
            normlab.batch_norm(x, channels_last=last)
        return
    shape = tuple(c if k == axis else 1 for k in range(x.ndim))
    gamma, beta = parameters(random, c)
    running_mean, running_var = np.zeros(c, "f4"), np.ones(c, "f4")
    saved = {"mean": np.empty(c, "f4"), "rstd": np.empty(c, "f4")}
    options = {"channels_last": last, "threads": threads, "eps": 1e-3}
    y = normlab.batch_norm(x, gamma, beta, running_mean=running_mean, running_var=running_var,
                           momentum=0.25, biased_running_var=biased, **saved, **options)
    nhwc = {"eps": 1e-3, "channels_last": last}
    found = normlab.reference("batchnorm", x, gamma, beta, running_mean=np.zeros(c), running_var=np.ones(c),
                              momentum=0.25, biased_running_var=biased, **nhwc)
    assert normlab.judge(y, "batchnorm", x, gamma, beta, **nhwc).right
    gain, shift = gamma.reshape(shape).astype(wide), beta.reshape(shape).astype(wide)
    mean, rstd, xhat = statistics(x, axes, 1e-3)
    close(y, gain * xhat + shift, abs(gain) * np.maximum(1, abs(xhat)) + abs(shift), x.dtype)
    m = x.size // c
    var = x.astype(wide).var(axis=axes) * (1 if biased else wide(m) / (m - 1))
    near(found.running_mean, mean.ravel() / 4, 4 + abs(mean.ravel()))
    near(found.running_var, wide(0.75) + var / 4, 4 + var)
    close(running_mean, mean.ravel() / 4, 1 + abs(x.astype(wide)).max(), "float32")
    close(running_var, wide(0.75) + var / 4, 1 + var, "float32")
    close(saved["mean"], mean.ravel(), abs(x.astype(wide)).max(), "float32")
    close(saved["rstd"], rstd.ravel(), rstd.ravel(), "float32")

    dx, dgamma, dbeta = gradients(x, dy, gain, axes, 1e-3)
    scale = abs(rstd * gain) * abs(dy.astype(wide)).max() * (3 + abs(xhat) * 3)
    for statistics_given in (saved, {}):
        grads = normlab.batch_norm_backward(dy, x, gamma, **statistics_given, **options)
        close(grads[0], dx, scale, x.dtype)
        close(grads[1], dgamma, 3 * abs(dy.astype(wide)).max() * m, "float32")
        close(grads[2], dbeta, abs(dy.astype(wide)).max() * m, "float32")
        judged = normlab.judge_backward(grads[0], "batchnorm", dy, x, gamma, dgamma=grads[1], dbeta=grads[2], **nhwc)
        assert judged.right, judged

    y = normlab.batch_norm(x, gamma, beta, running_mean=running_mean, running_var=running_var,
                           training=False, **options)
    nhwc.update(running_mean=running_mean, running_var=running_var)
    assert normlab.judge(y, "batchnorm", x, gamma, beta, **nhwc).right
    xhat = (x.astype(wide) - running_mean.reshape(shape)) / np.sqrt(
        running_var.reshape(shape).astype(wide) + wide(np.float32(1e-3)))
    close(y, gain * xhat + shift, abs(gain) * np.maximum(1, abs(xhat)) + abs(shift), x.dtype)


@pytest.mark.parametrize("dtype", dtypes()[1:])
def test_cast_before_weight(dtype):
    random = np.random.default_rng(2)
    x = random.normal(size=(8, 64)).astype(dtype)
    gamma = (1 + random.normal(size=64) / 4).astype("f4")
    last = normlab.rms_norm(x, gamma)
    before = normlab.rms_norm(x, gamma, cast_before_weight=True)
    xhat = normlab.rms_norm(x)
    np.testing.assert_array_equal(before, (xhat.astype("f4") * gamma).astype(dtype))
    assert (before != last).any()


@pytest.mark.parametrize("shape", [(0, 4), (3, 0, 4), (0, 7, 5)])
def test_no_rows(shape):
    x = np.zeros(shape, "f4")
    assert normlab.layer_norm(x).shape == shape
    dx, dgamma, dbeta = normlab.layer_norm_backward(x, x)
    assert dx.shape == shape and not dgamma.any() and not dbeta.any()


def test_in_place_and_out():
    x = np.random.default_rng(3).normal(size=(4, 32)).astype("f4")
    y, r = normlab.layer_norm(x), x[::-1].copy()
    out = np.empty_like(x)
    assert normlab.layer_norm(x, out=out) is out
    np.testing.assert_array_equal(out, y)
    out[...] = x
    assert normlab.layer_norm(out, out=out) is out
    np.testing.assert_array_equal(out, y)
    sum_, total = r.copy(), x + r
    normlab.layer_norm(x, residual=sum_, residual_out=sum_)
    np.testing.assert_array_equal(sum_, total)
    dy = r.copy()
    want = normlab.rms_norm_backward(dy, x)
    dgamma = np.empty(32, "f4")
    got = normlab.rms_norm_backward(dy, x, out=dy, dgamma=dgamma)
    assert got[0] is dy and got[1] is dgamma
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])


@pytest.mark.parametrize("first", [False, True])
@given(problem=problems())
def test_gated(first, problem):
    x, dy, random, threads = problem
    op, gamma = ("gated_rmsnorm", "gate_first_rmsnorm")[first], parameters(random, x.shape[-1])[0]
    packed = random.normal(size=(*x.shape[:-1], 2 * x.shape[-1])).astype(x.dtype)
    gate = packed[..., x.shape[-1]:]  # a view of a larger array, as if one projection made x and the gate
    z, gain = gate.astype(wide), gamma.astype(wide)
    s = 1 / (1 + np.exp(-z))
    silu, slope = z * s, s * (1 + z * (1 - s))
    _, rstd, xhat = statistics(x.astype(wide) * (silu if first else 1), (-1,), 1e-3, False)
    y = normlab.gated_rms_norm(x, gate, gamma, gate_first=first, eps=1e-3, threads=threads)
    want, factor = gain * xhat * (1 if first else silu), gain * (1 if first else silu)
    close(y, want, abs(factor) * np.maximum(1, abs(xhat)), x.dtype, units=60)
    found = normlab.reference(op, x, gamma, gate=gate, eps=1e-3)
    near(found.y, want, abs(want) + 1)
    assert normlab.judge(y, op, x, gamma, gate=gate, eps=1e-3).right
    g = factor * dy.astype(wide)
    du = rstd * (g - xhat * (g * xhat).mean(axis=-1, keepdims=True))
    dx, dgate = (du * silu, du * x.astype(wide) * slope) if first else (du, gain * dy.astype(wide) * xhat * slope)
    grads = normlab.gated_rms_norm_backward(dy, x, gate, gamma, gate_first=first, eps=1e-3, threads=threads)
    exact = normlab.reference_backward(op, dy, x, gamma, gate=gate, eps=1e-3)
    for got, of in ((exact.dx, dx), (exact.dgate, dgate)):
        near(got, of, 16 * abs(of).max() + 1)
    judged = normlab.judge_backward(grads[0], op, dy, x, gamma, gate=gate, dgate=grads[1], dgamma=grads[2], eps=1e-3)
    assert judged.right, judged
    over = gate.copy()
    again = normlab.gated_rms_norm_backward(dy, x, over, gamma, gate_first=first, eps=1e-3, dgate=over)
    assert again[1] is over
    np.testing.assert_array_equal(over, grads[1])
    assert not normlab.judge(y, ("gate_first_rmsnorm", "gated_rmsnorm")[first], x, gamma, gate=gate,
                             eps=1e-3).right


def test_every_implementation_can_be_named():
    random = np.random.default_rng(4)
    x = random.normal(size=(6, 16)).astype("f4")
    names = {"layernorm": normlab.layer_norm, "rmsnorm": normlab.rms_norm, "qwen2_rmsnorm": normlab.qwen2_rms_norm,
             "gated_rmsnorm": partial(normlab.gated_rms_norm, gate=x),
             "gate_first_rmsnorm": partial(normlab.gated_rms_norm, gate=x, gate_first=True),
             "batchnorm": normlab.batch_norm}
    rows = normlab.implementations()
    seen = set()
    for row in rows:
        for op in row.ops:
            if "forward" not in row.passes or "f32" not in row.dtypes or row.c_max and row.c_max < 16:
                continue
            layer = names[op]
            if not row.runs_here:
                with pytest.raises(ValueError, match="which this processor lacks"):
                    layer(x, impl=row)
                continue
            seen.add(op)
            y = layer(x, impl=row)
            np.testing.assert_array_equal(y, layer(x, impl=str(row)))
            if not row.demonstration:
                np.testing.assert_allclose(y, layer(x), rtol=1e-4, atol=1e-5)
    assert seen == set(names)
    best = normlab.best("rmsnorm", 6, 16)
    assert best in rows
    np.testing.assert_array_equal(normlab.rms_norm(x), normlab.rms_norm(x, impl=best))


def test_any_number_of_threads_gives_the_same_bits():
    x = np.random.default_rng(5).normal(size=(512, 1024)).astype("f4")
    for layer in (normlab.layer_norm, normlab.rms_norm):
        np.testing.assert_array_equal(layer(x, threads=1), layer(x, threads=2**40))
    one, more = (normlab.layer_norm_backward(x, x, threads=k, impl="optimized/rows_backward_threaded")
                 for k in (1, 3))
    for a, b in zip(one, more):
        np.testing.assert_array_equal(a, b)


def test_import_brings_only_numpy_and_normlab():
    code = "import sys, numpy.typing; had = set(sys.modules); import normlab; print(*set(sys.modules) - had)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "normlab._core" in run.stdout.split()
    assert {name.split(".")[0] for name in run.stdout.split()} <= {"normlab", "numpy", "__future__"}
