"""Wrong input raises ValueError or TypeError with a message that names the input. No output is written."""
import array

import ml_dtypes
import normlab
import numpy as np
import pytest

X = np.arange(24, dtype="f4").reshape(2, 3, 4)
FORWARD = [normlab.layer_norm, normlab.rms_norm, normlab.qwen2_rms_norm, normlab.batch_norm]


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def of(shape, dtype="f4"):
    return np.ones(shape, dtype)


@pytest.mark.parametrize("layer", FORWARD)
@pytest.mark.parametrize("x, error, words", [
    (None, TypeError, "x is None"),
    ([1.0, 2.0], TypeError, "x is list, not an array"),
    (3.5, TypeError, "x is float, not an array"),
    ("abc", TypeError, "x is str"),
    (X.astype("f8"), TypeError, "x is float64; it must be float32, float16 or ml_dtypes.bfloat16"),
    (X.astype(">f4"), TypeError, "x is >f4; it must be"),
    (X.astype("i4"), TypeError, "x is int32"),
    (X.astype(ml_dtypes.float8_e4m3fn), TypeError, "x is float8_e4m3fn"),
    (X.astype("c8"), TypeError, "x is complex64"),
    (X.astype(object), TypeError, "x is object"),
    (np.float32(3), ValueError, "x has 0 axes"),
    (of(()), ValueError, "x has 0 axes"),
    (X.transpose(2, 1, 0), ValueError, "x .*pass numpy.ascontiguousarray"),
    (X[:, :, ::2], ValueError, "x .*pass numpy.ascontiguousarray"),
    (X[::-1], ValueError, "x .*pass numpy.ascontiguousarray"),
    (np.broadcast_to(np.float32(1), (2**30, 2**30)), ValueError, "x .*pass numpy.ascontiguousarray"),
    (np.ma.masked_array(X, X > 3), TypeError, "x is a masked array"),
    (np.frombuffer(bytes(33), "f4", 8, 1).reshape(2, 4), ValueError, "not a multiple of 4 bytes"),
])
def test_wrong_x(layer, x, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        layer(x)


@pytest.mark.parametrize("given, error, words", [
    ({"gamma": of(3)}, ValueError, r"gamma has shape \(3,\); x of shape \(2, 3, 4\) needs \(4,\)"),
    ({"gamma": of((1, 4))}, ValueError, r"gamma has shape \(1, 4\)"),
    ({"gamma": of(())}, ValueError, r"gamma has shape \(\)"),
    ({"gamma": of(4, "f8")}, TypeError, "gamma is float64; it must be float32"),
    ({"gamma": of(4, "f2")}, TypeError, "gamma is float16; it must be float32"),
    ({"beta": [0, 0, 0, 0]}, TypeError, "beta is list"),
    ({"residual": of((2, 3, 5))}, ValueError, "residual has shape"),
    ({"residual": of((2, 3, 4), "f2")}, TypeError, "residual is float16, and x is float32"),
    ({"residual_out": of((2, 3, 4))}, ValueError, "residual is None"),
    ({"rstd": X.reshape(-1)[:6].reshape(2, 3)}, ValueError, "overlap"),
    ({"out": of((6, 4))}, ValueError, r"out has shape \(6, 4\)"),
    ({"out": of((2, 3, 4), "f2")}, TypeError, "out is float16, and x is float32"),
    ({"out": read_only(X)}, ValueError, "out is read-only"),
    ({"out": of((4, 3, 2)).T}, ValueError, "the rows of out are not evenly spaced"),
    ({"out": bytes(96)}, TypeError, "out is uint8"),
    ({"mean": of((2, 3, 1))}, ValueError, r"mean has shape \(2, 3, 1\); x of .* needs \(2, 3\)"),
    ({"rstd": read_only(of((2, 3)))}, ValueError, "rstd is read-only"),
    ({"eps": -1.0}, ValueError, "eps = -1 must be finite and not negative"),
    ({"eps": float("nan")}, ValueError, "eps = nan"),
    ({"eps": 1e300}, ValueError, "eps = inf"),
    ({"eps": 1e-60}, ValueError, "eps = 1e-60 is zero as a float"),
    ({"eps": "1"}, TypeError, "eps is '1'; it must be a number"),
    ({"eps": None}, TypeError, "eps is None"),
    ({"eps": 10**400}, ValueError, "eps is beyond a float"),
    ({"threads": 0}, ValueError, "threads = 0 must be at least 1"),
    ({"threads": -2**70}, ValueError, "must be at least 1"),
    ({"threads": 1.5}, TypeError, "threads is 1.5; it must be a whole number"),
    ({"impl": "nothing"}, ValueError, "there is no implementation 'nothing'"),
    ({"impl": "layernorm/naive@z80"}, ValueError, "there is no implementation"),
    ({"impl": "rmsnorm/naive"}, ValueError, "rmsnorm/naive does not take layernorm forward in f32"),
    ({"impl": 7}, ValueError, "there is no implementation 7"),
    ({"impl": "layernorm/naive\0"}, ValueError, "there is no implementation"),
    ({"impl": "x" * 1000}, ValueError, "there is no implementation"),
    ({"impl": "\ud800"}, UnicodeEncodeError, "surrogates"),
])
def test_wrong_argument(given, error, words):
    with pytest.raises(error, match=words):
        normlab.layer_norm(X, **given)


@pytest.mark.parametrize("call, error, words", [
    (lambda: normlab.layer_norm_backward(None, X), ValueError, "dy is None"),
    (lambda: normlab.layer_norm_backward(X, X, mean=of((2, 3))), ValueError, "rstd is None"),
    (lambda: normlab.rms_norm_backward(X[:1], X), ValueError, "dy has shape"),
    (lambda: normlab.rms_norm_backward(X, X, out=X[0]), ValueError, "out has shape"),
    (lambda: normlab.rms_norm_backward(X, X, dresidual=X.astype("f8")), TypeError, "dresidual is float64"),
    (lambda: normlab.layer_norm(of((3, 0))), ValueError, "c = 0"),
    (lambda: normlab.layer_norm_backward(of((3, 0)), of((3, 0))), ValueError, "c = 0"),
    (lambda: normlab.best("nothing", 1, 1), ValueError, "nothing"),
    (lambda: normlab.best("layernorm", 1, 0), ValueError, "c = 0"),
    (lambda: normlab.best("layernorm", -1, 4), ValueError, "n = -1"),
    (lambda: normlab.best("layernorm", 2**80, 4), ValueError, "beyond an integer"),
    (lambda: normlab.best("layernorm", 1, 4, direction="sideways"), ValueError, "sideways"),
    (lambda: normlab.best("layernorm", 1, 4, direction="inference"), ValueError, "no implementation takes"),
    (lambda: normlab.best("layernorm", 1, 4, dtype="float64"), TypeError, "float64"),
])
def test_wrong_call(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_wrong_batch_norm():
    for given, words in [
        ({"x": of(4)}, "x has 1 axes; batchnorm takes at least 2"),
        ({"x": of((1, 4))}, "more than one value a channel"),
        ({"x": of((0, 4, 0))}, "s = 0"),
        ({"x": X, "training": False}, "running_mean is None"),
        ({"x": X, "running_mean": of(3)}, "running_var is None"),
        ({"x": X, "running_mean": of(4), "running_var": of(4)}, r"needs \(3,\)"),
        ({"x": X, "running_mean": of(3), "running_var": read_only(of(3))}, "running_var is read-only"),
        ({"x": X, "momentum": 2.0}, "momentum = 2"),
        ({"x": X, "training": False, "running_mean": of(3), "running_var": of(3), "mean": of(3)},
         "does not take mean: pass None"),
        ({"x": X, "channels_last": X}, "truth value"),
    ]:
        with pytest.raises(ValueError, match=words):
            normlab.batch_norm(**given)
    normlab.batch_norm(X, running_mean=read_only(of(3)), running_var=read_only(of(3)), training=False)


class TestOtherArrays:
    """Objects other than numpy.ndarray are used in place, through the buffer protocol or DLPack."""

    def test_buffers(self):
        x, y = array.array("f", range(8)), array.array("f", [0] * 8)
        assert normlab.layer_norm(x, out=y) is y
        np.testing.assert_array_equal(y, normlab.layer_norm(np.arange(8, dtype="f4")))
        with pytest.raises(ValueError, match="out is read-only"):
            normlab.layer_norm(x, out=memoryview(y).toreadonly())

    def test_dlpack(self):
        class Tensor:
            def __init__(self, a):
                self.a = a

            def __dlpack__(self, **options):
                return self.a.__dlpack__(**options)  # raises AttributeError for Tensor(None)

            def __dlpack_device__(self):
                return self.a.__dlpack_device__()

        x, out = Tensor(X), Tensor(np.empty_like(X))
        assert normlab.layer_norm(x, out=out) is out
        np.testing.assert_array_equal(out.a, normlab.layer_norm(X))
        with pytest.raises(ValueError, match="out is read-only"):
            normlab.layer_norm(X, out=Tensor(read_only(X)))
        with pytest.raises(TypeError, match="x cannot be used in place: 'NoneType'"):
            normlab.layer_norm(Tensor(None))

    def test_bfloat16_of_jax(self):
        class Array:
            a = X.astype(ml_dtypes.bfloat16)
            dtype = a.dtype

            def __dlpack__(self, **options):
                raise BufferError("NumPy's DLPack lacks bfloat16")

            def __array__(self, dtype=None, copy=None):
                return self.a

        np.testing.assert_array_equal(normlab.layer_norm(Array()), normlab.layer_norm(Array.a))

    def test_subclass(self, tmp_path):
        x = np.memmap(tmp_path / "x", dtype="f4", mode="w+", shape=(2, 4))
        x[...] = X[0, :2]
        assert type(normlab.layer_norm(x)) is np.ndarray
        assert normlab.layer_norm(x, out=x) is x
        np.testing.assert_array_equal(x, normlab.layer_norm(X[0, :2].copy()))
