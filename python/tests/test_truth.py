"""Tests the judge, the data and the measurements."""
import csv
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import normlab
import numpy as np
import pytest
from oracle import dtypes

PROGRAM = Path(normlab.__file__).with_name("normlab")


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_prints_as_the_program(dtype, tmp_path):
    random = np.random.default_rng(6)
    x = random.normal(size=(4, 3, 64)).astype(dtype)
    gamma = random.normal(size=64).astype("f4")
    right = normlab.rms_norm(x, gamma)
    y = (right * 1.25).astype(dtype)
    for name, a in [("x", x), ("gamma", gamma), ("y", y), ("dy", x), ("dx", y)]:
        np.save(tmp_path / f"{name}.npy", a)

    def program(*options):
        files = [f"--{name}={name}.npy" for name in options]
        run = subprocess.run([PROGRAM, "judge", "rmsnorm", *files], cwd=tmp_path, capture_output=True,
                             text=True)
        assert run.returncode in (0, 1), run.stderr
        return run.stdout.rstrip("\n")

    judged = normlab.judge(y, "rmsnorm", x, gamma)
    report = program("x", "gamma", "y").replace(": y.npy", ": y")
    assert judged.text.rstrip("\n") == report
    assert normlab.judge_backward(y, "rmsnorm", x, x, gamma).text.rstrip("\n") == \
        program("x", "gamma", "dy", "dx").replace(": dx.npy", ": dx")
    lines = str(judged).splitlines()
    assert len(lines) == 5 and set(lines) < set(report.splitlines()) and lines[-1].endswith(judged.mechanism)
    assert "\n" not in repr(judged) and repr(judged).startswith("<wrong: y[") and judged.mechanism in repr(judged)
    assert judged.verdict == "wrong" and not judged.right
    assert "constant 1.25" in judged.mechanism and judged.mistakes[0].likely
    assert judged.mistakes[0].removes > 0.9
    assert judged.beyond > 100 and judged.largest > judged.bound
    place = np.unravel_index(abs(y.astype("f8") - right).argmax(), x.shape)
    assert len(judged.worst) == len(place)


def test_rows_of_another_batch(tmp_path):
    x = np.random.default_rng(8).normal(size=(4, 3, 64)).astype("f4")
    y = normlab.rms_norm(x)
    part = y.reshape(12, 64)[5:8].copy()
    assert normlab.judge(y, "rmsnorm", x).batch is None
    assert normlab.judge(y, "rmsnorm", x, batch=part, first_row=5).batch == (3, 0, 0, 0, (0, 0, 0), 0)
    part[1, 7] = np.nextafter(part[1, 7], np.float32(np.inf))
    part[2] = np.nan
    for save, a in ("x", x), ("y", y), ("part", part):
        np.save(tmp_path / f"{save}.npy", a)
    judged = normlab.judge(y, "rmsnorm", x, batch=part, first_row=5)
    assert judged.batch == (3, 2, 65, np.inf, (2, 1, 0), 64) and not judged.batch.same and judged.right
    run = subprocess.run([PROGRAM, "judge", "rmsnorm", "--x=x.npy", "--y=y.npy", "--batch=part.npy", "--first-row=5"],
                         cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1
    assert judged.text == run.stdout.replace(": y.npy", ": y").replace(": part.npy", ": batch")
    wide = y.astype("f8")
    wider = np.nextafter(wide[1, 2], np.inf)
    assert normlab.judge(wide, "rmsnorm", x, batch=wider, first_row=5).batch[:4] == (1, 1, 64, 1)
    short = y.astype(ml_dtypes.bfloat16)
    assert normlab.judge(short, "rmsnorm", x, batch=short[1:]).batch.rows == 9
    assert normlab.judge(short, "rmsnorm", x, batch=short[1:], first_row=3).batch.same
    dx, _ = normlab.rms_norm_backward(x, x)
    assert normlab.judge_backward(dx, "rmsnorm", x, x, batch=dx[2], first_row=np.int8(6)).batch.same
    for batch, first, kind, words in [
            (part, 10, ValueError, "batch has 3 rows, but from row 10 on x has 2"), (part, -1, ValueError, "first_row = -1"),
            (part[:, 1:], 0, ValueError, r"batch has shape \(3, 63\): not rows of x, which has \(4, 3, 64\)"),
            (part[:0], 0, ValueError, "not rows of x"), (part, 5.0, TypeError, "float"),
            (part.astype("f8"), 0, ValueError, "batch is float64, and the output is float32"), (3, 0, TypeError, "batch is int")]:
        with pytest.raises(kind, match=words):
            normlab.judge(y, "rmsnorm", x, batch=batch, first_row=first)
    with pytest.raises(ValueError, match="batch: batchnorm does not normalize a row by itself"):
        normlab.judge(y, "batchnorm", x, batch=part)


@pytest.mark.parametrize("seed", range(8))
def test_rows_without_a_bound(seed, tmp_path):
    random = np.random.default_rng(seed)
    n, c = int(random.integers(3, 9)), int(random.integers(8, 300))
    x = random.normal(size=(n, c)).astype("f4")
    far = random.permutation(n)[:int(random.integers(1, n))]
    x[far] += 10.0 ** random.uniform(7, 12)
    y = normlab.layer_norm(x)
    np.save(tmp_path / "x.npy", x)

    def judged(code):
        """The package and the program give the same judgement; the program's CSV has the same words."""
        found = normlab.judge(y, "layernorm", x)
        np.save(tmp_path / "y.npy", y)
        run = subprocess.run([PROGRAM, "judge", "layernorm", "--x=x.npy", "--y=y.npy", "--csv=out.csv"], cwd=tmp_path)
        with open(tmp_path / "out.csv", newline="") as file:
            row = next(csv.DictReader(file))
        assert (run.returncode, row["verdict"], int(row["unjudged"])) == (code, found.verdict, found.unjudged)
        return found

    one, rows = judged(0), f"{len(far)} row{'s' * (len(far) > 1)}"
    assert (one.verdict, one.right, one.unjudged) == ("partial", False, len(far) * c)
    assert f"right in {n - len(far)} of {n} rows; {rows} not judged: rounding errors alone" in str(one)
    assert repr(one).startswith("<partial: y[")
    place = random.choice(far), random.integers(c)
    y[place] = random.choice([np.nan, np.inf, -np.inf, 1e30])
    one = judged(1)
    assert (one.verdict, one.beyond, one.worst, one.unjudged) == ("wrong", 1, place, len(far) * c - 1)


def test_judge_types():
    random = np.random.default_rng(7)
    x = random.normal(size=(8, 64)).astype(ml_dtypes.bfloat16)
    y = normlab.rms_norm(x)
    assert "bf16" in str(normlab.judge(y, "rmsnorm", x))
    widened = y.astype("f8").T.copy().T  # not contiguous, and float64
    widened.flags.writeable = False
    assert normlab.judge(widened, "rmsnorm", x, rounded_to="bf16").right
    assert not normlab.judge(widened, "rmsnorm", x).right
    odd = np.frombuffer(b"-" + y.tobytes(), x.dtype, y.size, 1).reshape(y.shape)  # not aligned
    assert normlab.judge(odd, "rmsnorm", x).right
    with pytest.raises(ValueError, match="y.* not a multiple of 2"):
        normlab.rms_norm(x, out=np.frombuffer(bytearray(2 * y.size + 1), x.dtype, y.size, 1).reshape(y.shape))
    before = normlab.rms_norm(x, np.full(64, 1.3, "f4"), cast_before_weight=True)
    options = {"gamma": np.full(64, 1.3), "cast_before_weight": True}
    assert normlab.judge(before, "rmsnorm", x, **options).right
    for call, error, words in [
        (lambda: normlab.judge(y, "rmsnorm", x, rounded_to="f16"), ValueError, "rounded_to f16"),
        (lambda: normlab.judge(y, "nonsense", x), ValueError, "op 'nonsense'"),
        (lambda: normlab.judge(y, x, "rmsnorm"), TypeError, r"op is ndarray, .*judge\(y, op, x\)"),
        (lambda: normlab.judge_backward("rmsnorm", y, y, x), TypeError, r"judge_backward\(dx, op, dy, x\)"),
        (lambda: normlab.reference(x, "rmsnorm"), TypeError, r"reference\(op, x\)"),
        (lambda: normlab.judge(y[:1], "rmsnorm", x), ValueError, "y has shape"),
        (lambda: normlab.judge(y, "rmsnorm", x, beta=np.zeros(64, "f4")), ValueError, "does not take beta"),
        (lambda: normlab.judge(y[:0], "rmsnorm", x[:0]), ValueError, "x is too small"),
        (lambda: normlab.judge(y, "rmsnorm", None), TypeError, "x is None"),
        (lambda: normlab.judge(y, "rmsnorm", x.astype("c8")), TypeError, "x is complex64"),
        (lambda: normlab.judge(y, "rmsnorm", x, np.full(64, 1e60)), ValueError, "beyond float32"),
        (lambda: normlab.judge(np.zeros((1,) * 9, "f4"), "rmsnorm", np.zeros((1,) * 9)), ValueError,
         "more than 8 axes"),
        (lambda: normlab.judge(None, "rmsnorm", x), TypeError, "y is NoneType"),
        (lambda: normlab.judge(y, "rmsnorm", x, eps=-1.0), ValueError, "eps = -1"),
        (lambda: normlab.judge(y, "batchnorm", x, running_mean=np.zeros(64)), ValueError, "running_var is None"),
        (lambda: normlab.judge(y[:1], "batchnorm", x[:1]), ValueError, "x is too small"),
        (lambda: normlab.judge_backward(y, "rmsnorm", None, x), ValueError, "dy is None"),
        (lambda: normlab.reference("rmsnorm", x, training=False), ValueError, "inference is forward"),
        (lambda: normlab.reference("batchnorm", x, training=False), ValueError, "running_mean is None"),
        (lambda: normlab.reference("batchnorm", x, running_var=np.ones(64)), ValueError, "running_mean is None"),
        (lambda: normlab.judge(y, "batchnorm", x, running_var=np.ones(64)), ValueError, "running_mean is None"),
        (lambda: normlab.reference("batchnorm", x, momentum=2.0), ValueError, "momentum = 2"),
        (lambda: normlab.reference("rmsnorm", None), TypeError, "x is None"),
        (lambda: normlab.reference("rmsnorm", np.zeros((3, 0))), ValueError, "c = 0"),
        (lambda: normlab.reference_backward("rmsnorm", None, x), ValueError, "dy is None"),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_data():
    x = normlab.data("offset:4096", 64, 1024)
    assert x.shape == (64, 1024) and abs(x.mean() - 4096) < 0.1
    np.testing.assert_array_equal(x, normlab.data("offset:4096", 64, 1024))
    assert normlab.data("normal", 2, 3, 4, dtype=np.float16).shape == (2, 3, 4)
    assert normlab.data("normal", 2, 3, 1).shape == (2, 3, 1)
    for dtype in dtypes():
        assert normlab.data("normal", 2, 3, dtype=dtype).dtype == dtype
    for wrong in ["nothing", "offset", "", "normal/residual/x", "\0", "normal\0"]:
        with pytest.raises(ValueError):
            normlab.data(wrong, 2, 3)
    with pytest.raises(ValueError):
        normlab.data("normal", 2**40, 2**40)
    case = normlab.case("layernorm/backward/bf16/4x8/normal/residual")
    assert set(case.arrays) == {"x", "dy", "gamma", "dresidual"}
    assert case.arrays["dy"].dtype == ml_dtypes.bfloat16 and case.arrays["gamma"].shape == (8,)


def test_museum():
    exhibits = normlab.museum()
    assert exhibits[0].report == "pytorch/pytorch#51102" and len(exhibits) > 10
    judged = 0
    for exhibit in exhibits:
        for spelling in exhibit.cases:
            case = normlab.case(spelling)
            assert not set(case.spelling) & set("{}*")
            if case.op == "layernorm" and case.direction == "forward" and case.n * case.c < 1 << 16:
                x = case.arrays["x"]
                verdict = normlab.judge(normlab.layer_norm(x, eps=case.eps), "layernorm", x, eps=case.eps)
                judged += 1
                assert verdict.verdict != "wrong", verdict
    assert judged > 5


def test_measure():
    rows = normlab.measure("rmsnorm/forward/f32/4x{64,128}/normal", impl="rmsnorm/naive,best", seconds=0.01)
    assert len(rows) == 4
    for row in rows:
        assert row.verdict == "ok" and 0 < row.ns and not row.ns_low > row.ns
    assert [row.comparison for row in rows].count("baseline") == 2
    assert str(rows) == repr(rows) and str(rows).count("rmsnorm/naive ") == 2 and "bound,u" in str(rows)
    with pytest.raises(ValueError, match="should be op/pass/dtype"):
        normlab.measure("nonsense")
    with pytest.raises(ValueError, match="name a case"):
        normlab.measure()
    with pytest.raises(ValueError, match="case --help"):
        normlab.measure("--help")
    with pytest.raises(ValueError, match="nothing was timed: no implementation optimized/rows_registers accepts"):
        normlab.measure("layernorm/forward/f32/4x4096/normal", impl="optimized/rows_registers")
    assert normlab.measure("layernorm/forward/f32/4x64/normal", impl=normlab.best("layernorm", 4, 64),
                           seconds=0.01)[0].threads == 1


def test_right_but():
    """A wrong eps is found although the error is within the bound."""
    x = normlab.data("normal", 64, 384).astype("f8")
    y = (x - x.mean(1, keepdims=True)) / (x.std(1, keepdims=True) + 1e-5)
    judged = normlab.judge(y.astype("f4"), "layernorm", x.astype("f4"))
    assert judged.right and "right: within the bound, but a known mistake explains the error" in judged.text
    assert repr(judged).startswith("<right, but a known mistake explains the error: y[") and judged.mistakes[0].likely


def test_measure_against():
    layers = [f"{op}/forward/f32/4x64/normal" for op in ("layernorm", "rmsnorm")]
    rows = normlab.measure(layers[1], against=layers[0], impl="*/naive", threads=np.int64(1), seconds=np.float32(0.01))
    assert [row.impl for row in rows] == ["layernorm/naive", "rmsnorm/naive"]
    rows = normlab.measure(layers[1], against=layers[0], baseline="layernorm/unfused", seconds=0.01)
    assert [row.case for row in rows] == layers and [row.baseline for row in rows] == layers[:1] * 2
    assert rows[0].impl == "layernorm/unfused" and rows[1].speedup_low < rows[1].speedup < rows[1].speedup_high
    assert rows[1].ns < rows[0].ns and [line.split()[0] for line in str(rows).splitlines()] == layers
    for given, words in [({"against": "nonsense"}, "should be op/pass/dtype"),
                         ({"against": layers[0], "impl": "rmsnorm/naive"}, "no implementation rmsnorm/naive accepts"),
                         ({"against": layers[0], "impl": "rmsnorm/*"}, "matches nothing for layernorm/"),
                         ({"against": layers[0], "impl": "nothing"}, "there is no implementation 'nothing'")]:
        with pytest.raises(ValueError, match=words):
            normlab.measure(layers[1], **given)


def test_limit(tmp_path, monkeypatch):
    """limit() runs a fake program that checks its options and writes one rate; the real one needs a minute."""
    program = tmp_path / "normlab"
    program.write_text("""#!/bin/sh
[ "$*" = "limit --out $3 --quick --threads 2 --seconds 0.5" ] || { echo "$*" >&2; exit 2; }
printf 'size,threads,pattern,store,gbps,gbps_low,gbps_high,rounds\\n8192,2,2 reads 1 write,-,9.5,9,,7\\n' > "$3"
""")
    program.chmod(0o755)
    monkeypatch.setattr(normlab.timing, "_PROGRAM", str(program))
    (row,) = normlab.limit(threads=2, seconds=0.5)
    assert row[:6] == (8192, 2, "2 reads 1 write", "-", 9.5, 9.0) and np.isnan(row.gbps_high)
    with pytest.raises(ValueError, match="--threads 3"):
        normlab.limit(threads=3, seconds=0.5)


def test_limit_of_the_program():
    for given, words in [({"threads": 0}, "--threads '0'"), ({"seconds": -1}, "--seconds '-1'")]:
        with pytest.raises(ValueError, match=words):
            normlab.limit(**given)


def test_a_child_of_fork():
    """A forked child does not have its parent's threads, and must not wait for them."""
    code = """if True:
        import os, signal, normlab, numpy
        x = normlab.data("normal", 64, 4096)
        def compute():
            y = normlab.layer_norm(x, impl="optimized/rows_threaded", threads=2)
            return y.tobytes(), normlab.judge(y, "layernorm", x).text
        want = compute()
        child = os.fork()
        if not child:
            signal.alarm(60)
            os._exit(compute() != want)
        raise SystemExit(os.waitpid(child, 0)[1])
    """
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code]).returncode == 0


def test_the_program():
    run = subprocess.run([sys.executable, "-m", "normlab", "--version"], capture_output=True, text=True)
    assert run.returncode == 0 and normlab.__version__ in run.stdout
