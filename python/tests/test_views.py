"""Views, parameters in x's type and a rounded sum need no copies, and have the same bits as copies would."""
import normlab
import numpy as np
import pytest
from oracle import ROW_NORMS, dtypes

DTYPES = pytest.mark.parametrize("dtype", dtypes(), ids=lambda t: t.name)


def view(random, dtype, shape, inner):
    """A view with gaps, of shape (tokens, heads, c). Heads are an inner dimension, or all rows are evenly spaced."""
    tokens, heads, c = shape
    left, right, between = random.integers(0, 9, 3)
    if not inner:
        whole = random.normal(size=(tokens * heads, left + c + right)).astype(dtype)
        return whole.reshape(tokens, heads, -1)[..., left:left + c], whole
    if random.integers(2):  # in memory, heads are the first axis
        whole = random.normal(size=(heads, tokens + between, c + left)).astype(dtype)
        return whole[:, :tokens, :c].transpose(1, 0, 2), whole
    whole = random.normal(size=(tokens, heads + between, left + c + right)).astype(dtype)
    return whole[:, :heads, left:left + c], whole


@DTYPES
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ROW_NORMS)
def test_views_have_the_bits_of_copies(name, seed, dtype):
    random = np.random.default_rng(seed)
    shape = *random.integers(1, 9, 2), random.choice([2, 7, 64, 80, 128, 300])
    x, r, dy = (view(random, dtype, shape, random.integers(2))[0] for _ in "xrd")
    narrow = dtype if random.integers(2) else np.dtype("f4")
    gamma = random.normal(size=shape[2]).astype(narrow)
    options = {"rounded_sum": bool(random.integers(2)), "threads": int(random.integers(1, 4))}
    (out, whole), (total, _) = (view(random, dtype, shape, True) for _ in "oo")
    before, mine = whole.copy(), np.zeros(whole.size, bool)
    at = (out.ctypes.data - whole.ctypes.data) // out.itemsize
    np.lib.stride_tricks.as_strided(mine[at:], out.shape, [s // out.itemsize for s in out.strides])[...] = True
    want_sum = np.empty(shape, dtype)
    want = getattr(normlab, name)(x.copy(), gamma, residual=r.copy(), residual_out=want_sum, **options)
    assert getattr(normlab, name)(x, gamma, residual=r, residual_out=total, out=out, **options) is out
    assert (out == want).all() and (total == want_sum).all()
    assert (whole.ravel()[~mine] == before.ravel()[~mine]).all(), "written between the rows"
    back = getattr(normlab, name + "_backward")
    want, *sums = back(dy.copy(), x.copy(), gamma, dresidual=r.copy(), threads=options["threads"])
    dx, *found = back(dy, x, gamma, dresidual=r, out=out, threads=options["threads"])
    assert dx is out and (out == want).all()
    for due, got in zip(sums, found):  # the order of these sums may differ: only a row's bits are promised
        most = 2.0**-20 * shape[0] * shape[1] + np.spacing(abs(due)).astype("f8")
        assert got.dtype == narrow and (abs(got.astype("f8") - due.astype("f8")) <= most).all()


@DTYPES
def test_packed_heads(dtype):
    """Normalizes q and k of one tensor in place, as a model's q_norm and k_norm do."""
    heads, others, c = 4, 2, 64
    qkv = np.random.default_rng(1).normal(size=(2, 5, (heads + 2 * others) * c)).astype(dtype)
    parts = qkv.reshape(2, 5, -1, c)
    q, k, v = parts[:, :, :heads], parts[:, :, heads:heads + others], parts[:, :, heads + others:]
    gamma, was = np.linspace(0.5, 2, c).astype(dtype), v.copy()
    want = [normlab.rms_norm(part.copy(), gamma, cast_before_weight=True) for part in (q, k)]
    for part, due in zip((q, k), want):
        assert normlab.rms_norm(part, gamma, cast_before_weight=True, out=part) is part
        assert (part == due).all()
    assert (v == was).all()
    with pytest.raises(ValueError, match="overlap"):
        normlab.rms_norm(q, gamma, out=parts[:, :, 1:heads + 1])


@DTYPES
def test_parameters_in_the_type_of_x(dtype):
    random = np.random.default_rng(7)
    x, dy = random.normal(size=(2, 33, 80)).astype(dtype)
    gamma, beta = random.normal(size=(2, 80)).astype(dtype)
    wide = gamma.astype("f4"), beta.astype("f4")
    assert (normlab.layer_norm(x, gamma, beta) == normlab.layer_norm(x, *wide)).all()
    narrow, due = (normlab.layer_norm_backward(dy, x, g) for g in (gamma, wide[0]))
    assert (narrow[0] == due[0]).all()
    for got, want in zip(narrow[1:], due[1:]):
        assert got.dtype == dtype and want.dtype == np.float32 and (got == want.astype(dtype)).all()
    if dtype == np.float32:
        return
    for arrays in ({"gamma": gamma, "beta": wide[1]}, {"gamma": wide[0], "beta": beta}):
        with pytest.raises(TypeError, match="beta is .*; all parameters must have one type"):
            normlab.layer_norm(x, **arrays)
    other = np.float16 if dtype != np.float16 else dtypes()[2]
    with pytest.raises(TypeError, match="gamma is .*; it must be float32, or .* as x"):
        normlab.rms_norm(x, gamma.astype(other))


@pytest.mark.parametrize("dtype", dtypes()[1:], ids=lambda t: t.name)
def test_rounded_sum(dtype):
    """rounded_sum gives the bits of a sum that was stored first; judge() can judge it."""
    x, r = np.random.default_rng(3).normal(size=(2, 16, 256)).astype(dtype)
    total = (x.astype("f4") + r.astype("f4")).astype(dtype)
    rounded, floats = (normlab.rms_norm(x, residual=r, rounded_sum=which) for which in (True, False))
    assert (rounded == normlab.rms_norm(total)).all() and (rounded != floats).any()
    assert normlab.judge(rounded, "rmsnorm", x, residual=r, rounded_sum=True).right
    assert normlab.case("rmsnorm/forward/bf16/4x64/normal/residual/rounded-sum").rounded_sum


def test_cases_with_gaps_and_narrow_parameters():
    plain, other = (normlab.case(f"layernorm/forward/bf16/6x64/normal{more}").arrays
                    for more in ("", "/gap=3/inner=2/outer-gap=5/parameters=bf16"))
    assert (plain["x"] == other["x"]).all() and other["gamma"].dtype == other["x"].dtype


@pytest.mark.parametrize("make", [
    lambda a: a[..., ::2], lambda a: a[::-1], lambda a: a.swapaxes(1, 2), lambda a: a[::2, ::2, ::4],
    lambda a: np.broadcast_to(a[:1], a.shape)])
def test_views_that_rows_cannot_express(make):
    x = make(np.zeros((3, 6, 8, 8), "f4"))
    with pytest.raises(ValueError, match=r"the rows of x are not evenly spaced.*numpy.ascontiguousarray\(x\)"):
        normlab.rms_norm(x)
    normlab.rms_norm(np.ascontiguousarray(x))
    if x.flags.writeable:
        with pytest.raises(ValueError, match="rows of out are not .*numpy.empty"):
            normlab.rms_norm(np.ascontiguousarray(x), out=x)


def test_inner_dimensions_must_agree():
    x, odd = np.zeros((12, 5, 8), "f4")[:, :4], np.zeros((6, 10, 8), "f4")[:, :8].reshape(6, 2, 4, 8)
    with pytest.raises(ValueError, match="out has an inner dimension of 8 rows, an earlier array 4"):
        normlab.rms_norm(x.reshape(6, 2, 4, 8), out=odd)
