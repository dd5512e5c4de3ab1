"""normlab.frameworks judges results before it times them. A framework that is not installed is named and skipped."""
import csv
import os
import signal
from pathlib import Path

import normlab
import numpy as np
import pytest
from normlab.frameworks import __main__ as command
from normlab.frameworks import compiled, exhibits, invariance, rounding, saving, step, verify
from normlab.frameworks.adapter import QUEUED, Layer, Missing
from normlab.frameworks.ours import Normlab
from normlab.frameworks.registry import make

FORWARD, BOTH = "forward/f32/4x64/normal", "both/bf16/4x64/normal"


class Off(Normlab):
    """A framework whose output `name` is wrong after `after` calls."""

    version = "wrong on purpose"

    def __init__(self, name, op, after=0):
        super().__init__(1)
        self.name, self.op, self.after, self.timed = name, op, after, 0

    def layer(self, problem):
        right = super().layer(problem)

        def call():
            self.timed += 1
            return right.call()

        def outputs(result):
            made = dict(right.outputs(result))
            if problem.op == self.op and self.timed > self.after:
                made[self.name] = made[self.name] + made[self.name].dtype.type(0.25)
            return made

        return Layer(call, outputs)


@pytest.mark.parametrize("op", ["layernorm", "rmsnorm"])
@pytest.mark.parametrize("name", ["y", "dx", "dgamma"])
def test_what_is_wrong_is_not_timed(name, op):
    wrong = Off(name, op)
    row = saving.measure(wrong, "wrong", BOTH, 1, 0.001)
    assert row.verdict == "fail" and op in row.why and f"{name} is wrong" in row.why
    assert np.isnan(row.saving) and row.rounds == 0 and wrong.timed == 2


@pytest.mark.parametrize("case", [FORWARD, BOTH])
def test_both_layers_use_the_same_memory(case):
    first, second = saving.pair(case)
    assert second.op == "rmsnorm" and all(second.arrays[name] is first.arrays[name] for name in ("x", "gamma"))
    assert ("dy" in second.arrays) == (case == BOTH) and second.arrays.get("dy") is first.arrays.get("dy")
    ours = Normlab(1)
    ran = [dict(layer.outputs(layer.call())) for layer in map(ours.layer, (first, second))]
    assert (ran[0]["y"] != ran[1]["y"]).any() and len(ours._made) == 2


def test_wrong_later():
    """A layer that is right until it is timed."""
    row = saving.measure(Off("y", "rmsnorm", after=2), "wrong", FORWARD, 1, 0.001)
    assert row.verdict == "fail" and "after timing: y is wrong" in row.why


@pytest.mark.parametrize("case", [FORWARD, BOTH, "both/f16/3x17/normal/no-affine"])
def test_ours(case):
    row = saving.measure(Normlab(1), "normlab", case, 1, 0.001)
    assert row.verdict == "ok", row.why
    assert row.saving_low <= row.saving <= row.saving_high < 100 and row.rounds > 3
    assert np.isclose(row.saving, -100 * np.expm1(row.log_ratio))


def test_sixteen_bits():
    """The unit of a gradient in 16 bits is the unit of its type times the size of its terms."""
    given = verify.problem("layernorm", "both/bf16/64x32/normal")
    layer = Normlab(1).layer(given)
    outputs = dict(layer.outputs(layer.call()))
    kind = given.arrays["x"].dtype
    outputs["dgamma"] = outputs["dgamma"].astype(kind)
    assert not verify.wrong(verify.judge_all(given, outputs))
    near = outputs["dgamma"]
    size = abs(given.arrays["dy"].astype("f4")).sum(0)
    outputs["dgamma"] = (near.astype("f4") + size / 64).astype(kind)
    assert "dgamma is wrong" in verify.wrong(verify.judge_all(given, outputs))
    outputs["dgamma"] = near * near.dtype.type(np.nan)
    assert verify.wrong(verify.judge_all(given, outputs))


@pytest.mark.parametrize("name", ["pytorch", "onnxruntime", "jax"])  # not torch.compile, which takes a minute
def test_frameworks(name):
    try:
        framework = make(name, 1)
    except Missing as missing:
        pytest.skip(str(missing))
    row = saving.measure(framework, name, FORWARD, 1, 0.001)
    assert row.verdict == "ok" and row.rounds > 3, row.why
    found = exhibits.judge_case(framework, name, "layernorm/forward/f32/4x1024/museum:control/no-affine")
    assert found.verdict == "right", found
    bits = invariance.compare(framework, name, "rmsnorm/forward/f32/9x64/normal", 1)
    assert bits.verdict in ("same", "differs") and bits.rows == 38, bits


class Batched(Normlab):
    """In batches of 8 or more rows, one number of the last row is some ulps off."""

    def layer(self, problem):
        right = super().layer(problem)

        def outputs(result):
            made = dict(right.outputs(result))
            for a in (a for a in made.values() if a.ndim == 2 and len(a) >= 8):
                a[-1, 5:6].view(f"i{a.itemsize}")[:] += 3
            return made

        return Layer(right.call, outputs)


@pytest.mark.parametrize("way", ["forward/f32", "backward/bf16"])
def test_invariance(way):
    case = f"layernorm/{way}/33x64/normal"
    row = invariance.compare(Normlab(2), "normlab", case, 2)
    assert row.verdict == "same" and (row.rows, row.others, row.ulps, row.smallest) == (86, 0, 0, 0)
    row = invariance.compare(Batched(1), "wrong", case, 1)
    assert row.verdict == "differs" and row.ulps == 3 and row.smallest == 8 and 0 < row.others < 9, row
    assert "at most 3 ulp, smallest n that differs: 8" in invariance.line(row)


def test_distance():
    numbers = np.array([0, -0.0, 1, np.nan, np.nan, -1], "f4")
    others = np.array([-0.0, 0, 1 + 2**-22, np.nan, 0, 1], "f4")
    assert invariance.distance(numbers, others).tolist() == [1, 1, 2, 0, -1, 2 * 0x3f800000 + 1]


def test_the_judge():
    cases = exhibits.cases(quick=True)
    assert len(set(cases)) == len(cases) > 100
    for case in [c for c in cases if "pt51102" in c or "8x64/nan" in c or "1024x16" in c]:
        found = exhibits.judge_case(Normlab(1), "normlab", case)
        assert found.verdict in ("right", "partial", "unjudged") and not found.not_finite, found
    wrong = exhibits.judge_case(Off("dx", "rmsnorm"), "wrong", "rmsnorm/backward/f32/8x64/museum:dnnl-rms-dx")
    assert wrong.verdict == "wrong" and wrong.output == "dx" and wrong.units > 1e4


def written_orders():
    """(version, "layer/type") -> order, from the table in docs/frameworks.md."""
    text = (Path(__file__).parents[2] / "docs" / "frameworks.md").read_text()
    text = text.split("<!-- rounding:begin -->")[1].split("<!-- rounding:end -->")[0]
    found = {}
    for line in text.splitlines():
        if line.startswith("|") and "`" in line:
            version, name, *orders = (cell.strip() for cell in line.strip("|").split("|"))
            for dtype, order in zip(rounding.DTYPES, orders):
                found[version, f"{name.strip('`')}/{dtype}"] = order
    return found


@pytest.mark.parametrize("how", [how for how in rounding.NAMES if how != "torch_compile"])  # torch.compile takes a minute
def test_rounding_is_that_of_the_table(how):
    written, of_this_version = written_orders(), 0
    for row in (rounding.find_by_name(how, case) for case in rounding.cases(how)):
        if not row.version:
            pytest.skip(row.why)
        assert row.verdict in ("same", "skip"), row
        if (row.version, row.case) in written:
            of_this_version += 1
            assert written[row.version, row.case] == (row.order or "–")
    assert of_this_version or how != "normlab"


@pytest.mark.parametrize("layer", [rounding.Layer("rms"), rounding.Layer("layer", centred=True),
                                   rounding.Layer("sum", centred=True, residual=True), rounding.Layer("gemma", plus_one=True)])
@pytest.mark.parametrize("dtype", rounding.DTYPES)
def test_rounding_tells_orders_apart(layer, dtype):
    data = rounding.drawn(layer, dtype)
    orders = {}
    for order, y in rounding.outputs(layer, dtype, data):
        orders.setdefault(order, y)
    assert len(orders) >= 3
    for order, y in orders.items():
        best, second, *_ = rounding.compare(y, layer, dtype, data)
        assert best == (0, order) and second[0] > 100, (best, second)
        one_off = y.copy()
        one_off[3, 5] *= 1 + 2.0**-7
        assert rounding.compare(one_off, layer, dtype, data)[0] == (1, order)


def test_rounding_of_ours():
    """The verdict on a layer that does not round as documented is "wrong"."""
    class Other(rounding.Normlab):
        def run(self, layer, dtype, data):
            return super().run(layer._replace(name="rms_norm cast_before_weight"), dtype, data)

    row = rounding.find(Other(), "normlab", "rms_norm/f16")
    assert row.verdict == "wrong" and row.order == "before weight" and "WRONG" in rounding.line(row)


def test_the_command(tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert command.main(["--only", "normlab", "--case", FORWARD, "--seconds", "0.001", "--out", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["case"] for row in rows] == [FORWARD] and rows[0]["verdict"] == "ok"
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["framework", "case", "LayerNorm", "RMSNorm", "us"] and line.endswith(("is slower", "SAME", "NOT RESOLVED"))
    assert command.main(["--invariance", "--only", "normlab", "--quick", "--out", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 8 and all(row["verdict"] == "same" and row["rows"] == "86" for row in rows)
    assert "same bits, 86 rows" in capsys.readouterr().out
    for n in (0, 1):
        assert command.main(["--invariance", "--only", "normlab", "--case", f"rmsnorm/forward/f32/{n}x8/normal"]) == 1
        assert f"error: {n} rows: there are no other rows" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        command.main(["--only", "normlab", "--out", str(tmp_path / "none" / "out.csv")])
    assert "none/out.csv: there is no such folder" in capsys.readouterr().err
    assert command.main(["--only", "normlab", "--case", FORWARD, "--device", "cuda"]) == 1
    assert "skipped: normlab: normlab runs on the CPU only" in capsys.readouterr().err
    assert command.main(["--only", "normlab", "--rounding", "--out", str(out)]) == 0
    assert {row["verdict"] for row in csv.DictReader(out.read_text().splitlines())} == {"same"}
    for wrong in (["--only", "transformers"], ["--case", "64x1024"], ["--threads", "0"], ["--seconds", "nan"],
                  ["--case", "forward/f32/9x64/normal", "--invariance"]):
        with pytest.raises(SystemExit, match="2"):
            command.main(wrong)
        assert f"argument {wrong[0]}: {wrong[1]} should be" in capsys.readouterr().err
    for mode, names in command.UNUSED.items():
        for name in names:
            with pytest.raises(SystemExit, match="2"):
                command.main([f"--{mode}", f"--{name}", FORWARD if name == "case" else "1"])
            assert f"argument --{name}: --{mode} does not use it" in capsys.readouterr().err


def test_a_queue_is_divided_by_its_calls(monkeypatch):
    """On a GPU, layers are timed in queues of calls."""
    class Queued(Normlab):
        def layer(self, problem):
            right = super().layer(problem)
            return right._replace(queue=lambda: right.call)

    ns = lambda factor: [(factor * 1000.0,) * 3] * 2
    timed = normlab.timing.Race(ns(QUEUED), [(0.0,) * 3] * 2, [(0.0,) * 3] * 2, 0.0, 9)
    for module in (saving, verify):
        monkeypatch.setattr(module, "race", lambda *calls, **_: timed)
    row = saving.measure(Queued(1), "normlab", FORWARD, 1, 0.001)
    assert (row.layernorm_ns, row.rmsnorm_ns, row.call_ns) == (1000, 1000, 1000 * QUEUED)


class Stub:
    """A fake torch.compile that computes what `base` computes."""

    def __init__(self, base):
        self.base, self.version = base, base.version

    def layer(self, problem):
        return self.base.layer(problem)


@pytest.mark.parametrize("compiles", [Normlab(1), Off("y", "rmsnorm")])
def test_compiled(monkeypatch, compiles):
    monkeypatch.setattr(compiled, "make", lambda name, *_: Normlab(1) if name == "normlab" else Stub(compiles))
    row = compiled.measure("normlab", "rmsnorm/both/f32/9x64/normal", 1, 0.001, "cpu")
    if isinstance(compiles, Off):
        assert row.verdict == "fail" and row.why.startswith("torch_compile: y is wrong") and row.rounds == 0
    else:
        assert row.verdict == "ok" and row.rounds > 3 and row.hand_ns > 0 < row.compiled_ns
    assert compiled.measure_by_name("liger", "rmsnorm/both/f32/9x64/normal", 1, 0.001, "cpu").verdict == "skip"
    assert [compiled.says(*ends) for ends in ((-4, 9), (-9, -6), (-9, 9))] == ["reached", "not reached", "NOT RESOLVED"]


def test_race():
    race = normlab.race(lambda: None, lambda: sum(range(300)), seconds=0.005)
    assert race.ns[1][0] > 2 * race.ns[0][0] and race.log_ratios[1][0] > 0 > race.savings[1][0]
    assert race.log_ratios[0] == (0, 0, 0) and race.band < 1
    with pytest.raises(ZeroDivisionError):
        normlab.race(lambda: 1 / 0, seconds=0.001)
    with pytest.raises(ValueError):
        normlab.race()


def test_step():
    try:
        make("pytorch", 1)
    except Missing as missing:
        pytest.skip(str(missing))
    row = step.measure_by_name("pytorch", "8x16x1", os.cpu_count(), 0.001)
    assert row.verdict == "ok" and row.rounds > 3


def test_a_terminated_run_keeps_its_rows(monkeypatch, tmp_path):
    row = saving.measure(Normlab(1), "normlab", FORWARD, 1, 0.001)

    def collect(rows, *_):
        rows.append(row)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(command, "collect", collect)
    before, out = signal.getsignal(signal.SIGTERM), tmp_path / "rows.csv"
    assert command.main(["--quick", "--out", str(out)]) == 130
    signal.signal(signal.SIGTERM, before)
    with out.open() as file:
        assert len(list(csv.DictReader(file))) == 1
