"""Compares normlab.torch with torch in float64 and with its autograd. Needs torch."""
import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_oracle import F, ROUNDING, close, nlt, quiet, qwen3_rms_norm, same_rounding, torch

pytestmark = quiet
quick = settings(max_examples=40, deadline=None)
dtypes = st.sampled_from(list(ROUNDING))


def parameter(*shape):
    return torch.randn(*shape, requires_grad=True)


def compare(ours, theirs, x, parameters, scale=1.0):
    """Compares the results and gradients of two functions; the second computes in float64."""
    dtype, dy = x.dtype, torch.randn(x.shape).to(x.dtype)
    wide = [p.detach().double().requires_grad_() for p in (x, *parameters)]
    x = x.detach().requires_grad_()
    y, want = ours(x, *parameters), theirs(*wide)
    assert y.dtype == dtype
    close(y, want, dtype, 4)
    got = torch.autograd.grad(y, [x, *parameters], dy)
    expected = torch.autograd.grad(want, wide, dy.double())
    close(got[0], expected[0], dtype, 32 * scale)
    for a, b, p in zip(got[1:], expected[1:], parameters):
        assert a.dtype == p.dtype
        close(a, b, p.dtype, 64 * scale)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "qwen2_rms_norm"])
@quick
@given(shape=st.lists(st.integers(1, 6), min_size=0, max_size=3), c=st.integers(2, 60), dtype=dtypes,
       affine=st.booleans(), residual=st.booleans())
def test_rows(name, shape, c, dtype, affine, residual):
    """With a residual, a layer returns the norm of the sum, and the sum; both have gradients."""
    def ours(x, *p):
        r, w, b = given(p)
        if name == "qwen2_rms_norm":
            y = nlt.qwen2_rms_norm(x, torch.zeros(c) if w is None else w, 1e-2, r)
        else:
            y = getattr(nlt, name)(x, (c,), w, *[b][:name == "layer_norm"], eps=1e-2, residual=r)
        return y[0] + y[1] if residual else y

    def theirs(x, *p):
        r, w, b = given(p)
        x = x + r if residual else x
        if name == "layer_norm":
            y = F.layer_norm(x, (c,), w, b, 1e-2)
        else:
            y = F.rms_norm(x, (c,), 1 + w if name == "qwen2_rms_norm" and affine else w, 1e-2)
        return y + x if residual else y

    def given(p):
        return [*p[:residual], *[None] * (not residual), *p[residual:], None, None][:3]

    x, r = (torch.randn(*shape, c).to(dtype).requires_grad_() for _ in "xr")
    w, b = (torch.randn(c).to(dtype if residual else torch.float32).requires_grad_() for _ in "wb")
    compare(ours, theirs, x, [r][:residual] + [w, b][:affine + (affine and name == "layer_norm")])


@quick
@given(shape=st.lists(st.integers(1, 6), min_size=0, max_size=3), c=st.integers(2, 60), dtype=dtypes, affine=st.booleans(),
       first=st.booleans(), narrow=st.booleans(), view=st.booleans())
def test_gated(shape, c, dtype, affine, first, narrow, view):
    """Results and gradients of x, gate and weight equal torch's; x and gate may be halves of one tensor."""
    def theirs(x, z, *w):
        silu = z / (1 + torch.exp(-z))
        h = x * silu if first else x
        y = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-2) * (w[0] if w else 1)
        return y if first else y * silu

    both = torch.randn(*shape, 2 * c).to(dtype)
    x, z = both.chunk(2, -1) if view else (half.clone() for half in both.chunk(2, -1))
    w = (torch.rand(c) + 0.5).to(dtype if narrow else torch.float32).requires_grad_()
    compare(lambda x, z, *w: nlt.gated_rms_norm(x, z, *w, eps=1e-2, gate_first=first), theirs, x,
            [z.detach().requires_grad_(), w][:1 + affine], scale=2)


def test_gated_module():
    x, z = torch.randn(2, 3, 8, dtype=torch.bfloat16), torch.randn(2, 3, 8, dtype=torch.bfloat16)
    module = nlt.GatedRMSNorm(8, cast_before_weight=True)
    with torch.no_grad():
        module.weight.uniform_(0.5, 1.5)
    rounded = F.rms_norm(x.float(), (8,), None, 1e-6).bfloat16().float() * module.weight * F.silu(z.float())
    assert torch.equal(module(x, z), rounded.bfloat16())
    with pytest.warns(UserWarning, match="torch computes this gated_rms_norm of torch.float64"):
        nlt._warn.cache_clear()
        close(module.double()(x.double(), z.double()), rounded.double(), torch.bfloat16)
    close(nlt.gated_rms_norm(x.double(), z.double(), gate_first=True),
          F.rms_norm((x * F.silu(z.double())), (8,), None, 1e-6), torch.float32)
    compiled = torch.compile(nlt.GatedRMSNorm(8, gate_first=True), fullgraph=True, backend="aot_eager")
    x, z = x.float().requires_grad_(), z.float().requires_grad_()
    close(compiled(x, z), F.rms_norm(x * F.silu(z), (8,), None, 1e-6), torch.float32, 4)
    compiled(x, z).sum().backward()
    assert x.grad.abs().sum() and z.grad.abs().sum()
    assert torch.vmap(nlt.gated_rms_norm)(x, z).shape == x.shape
    with pytest.raises(ValueError, match=r"gate has shape \(3, 8\), the input \(2, 3, 8\)"):
        nlt.gated_rms_norm(x, z[0])


@quick
@given(n=st.integers(2, 8), c=st.integers(1, 9), rest=st.lists(st.integers(1, 5), max_size=3), dtype=dtypes,
       training=st.booleans())
def test_batch_norm(n, c, rest, dtype, training):
    x = torch.randn(n, c, *rest).to(dtype)
    running = torch.randn(c), torch.rand(c) + 0.5
    theirs = [r.double() for r in running]
    ours = [r.clone() for r in running]
    compare(lambda x, *p: nlt.batch_norm(x, *ours, *p, training=training, eps=0.1),
            lambda x, *p: F.batch_norm(x, *theirs, *p, training=training, eps=0.1), x,
            [parameter(c), parameter(c)], scale=4)
    for a, b in zip(ours, theirs):
        close(a, b, torch.float32, 64)


def every_layer():
    return torch.nn.Sequential(nlt.LayerNorm(8), nlt.RMSNorm(8), nlt.Qwen2RMSNorm(8), nlt.BatchNorm1d(8))


def tensors(*shapes, grad=True):
    return [None if shape is None else torch.randn(shape, requires_grad=grad) for shape in shapes]


@pytest.mark.parametrize("name, arguments", [
    ("norm", [*tensors((3, 8), None, 8, 8), None, None, "layer_norm", True, 0.1, 0.1, True, False]),
    ("norm", [*tensors((2, 3, 8), (2, 3, 8), 8, None), None, None, "qwen2_rms_norm", True, 0.1, 0.1, False, True]),
    ("norm", [*tensors((3, 8, 2), None, 8, None), torch.zeros(8), torch.ones(8), "batch_norm", True, 0.1, 0.1, False, False]),
    ("norm", [*tensors((3, 8, 2), None, None, 8), torch.zeros(8), torch.ones(8), "batch_norm", False, 0.1, 0.1, False, False]),
    ("gated", [*tensors((3, 8), (3, 8), 8), True, 0.1, True]),
    ("gated", [*tensors((2, 3, 8), (2, 3, 8), None), False, 0.1, False]),
    ("gated_backward", [*tensors((3, 8), (3, 8), (3, 8), 8, 3, grad=False), False]),
    ("norm_backward", [*tensors((3, 8), None, (3, 8), 8, 0, 3, grad=False), "rms_norm"])])
def test_operators(name, arguments):
    torch.library.opcheck(getattr(torch.ops.normlab, name).default, arguments)


def test_compile_and_export():
    ours, x = every_layer(), torch.randn(4, 8, requires_grad=True)
    compiled, copied = torch.compile(ours, fullgraph=True, backend="aot_eager"), copy.deepcopy(ours)
    for net in (compiled, copied):
        net(x).square().sum().backward()
    for (_, a), (_, b) in zip(ours.named_parameters(), copied.named_parameters()):
        close(a.grad, b.grad, torch.float32, 8)
    close(ours[3].running_var, copied[3].running_var, torch.float32)
    x = torch.randn(7, 8)
    graph = torch.export.export(ours.eval(), (x[:4],), dynamic_shapes=({0: torch.export.Dim("n")},)).module()
    close(graph(x), ours(x), torch.float32)
    assert every_layer().to("meta")(x.to("meta")).shape == x.shape


def test_transforms():
    x, w = torch.randn(4, 8), torch.randn(8)

    def loss(f):
        return lambda w, x: f(x, (8,), w, w).square().sum()

    for both in zip(*([torch.vmap(lambda x: f(x, (8,), w, w))(x), torch.func.grad(loss(f))(w, x),
                       torch.vmap(torch.func.grad(loss(f)), (None, 0))(w, x)] for f in (nlt.layer_norm, F.layer_norm))):
        close(*both, torch.float32, 8)
    with pytest.raises(NotImplementedError, match="jvp"):
        torch.func.jvp(lambda x: nlt.layer_norm(x, (8,)), (x,), (x,))
    (once,) = torch.autograd.grad(loss(nlt.layer_norm)(w.requires_grad_(), x), w, create_graph=True)
    with pytest.raises(RuntimeError, match="no gradient of a gradient"):
        once.sum().backward()


def test_what_torch_computes():
    """torch computes other types and devices, after one warning."""
    x, w = torch.randn(3, 8).double(), torch.randn(8).double()
    nlt._warn.cache_clear()
    for ours, want in [(lambda: nlt.layer_norm(x, (8,), w), F.layer_norm(x, (8,), w)),
                       (lambda: nlt.qwen2_rms_norm(x, w), F.rms_norm(x, (8,), 1 + w, 1e-6)),
                       (lambda: nlt.batch_norm(x, w, w.abs()), F.batch_norm(x, w, w.abs()))]:
        with pytest.warns(UserWarning, match="torch computes this .* of torch.float64 on cpu"):
            assert torch.equal(ours(), want)
        assert torch.equal(ours(), want)


class LlamaRMSNorm(torch.nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight, self.variance_epsilon = torch.nn.Parameter(torch.ones(size)), eps

    def forward(self, hidden_states):
        return self.weight * F.rms_norm(hidden_states, hidden_states.shape[-1:], eps=self.variance_epsilon)


class GemmaRMSNorm(LlamaRMSNorm):
    def forward(self, x):
        return (1 + self.weight) * F.rms_norm(x, x.shape[-1:], eps=self.variance_epsilon)


class OddRMSNorm(LlamaRMSNorm):
    def forward(self, x):
        return x + self.weight


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_swap(dtype):
    """After swap() a model trains as it did before, with its old optimizer."""
    torch.manual_seed(2)
    theirs = torch.nn.Sequential(
        torch.nn.Linear(8, 16), LlamaRMSNorm(16), torch.nn.LayerNorm(16), torch.nn.Linear(16, 16), GemmaRMSNorm(16),
        torch.nn.BatchNorm1d(16), torch.nn.RMSNorm(16), OddRMSNorm(16), torch.nn.Linear(16, 1)).to(dtype)
    ours = copy.deepcopy(theirs)
    losses = []
    for net in (theirs, ours):
        optimizer, random = torch.optim.SGD(net.parameters(), 0.01), torch.Generator().manual_seed(3)
        assert net is theirs or nlt.swap(net) == ["1", "2", "4", "5", "6"] and nlt.swap(net) == []
        for _ in range(12):
            x = torch.randn(32, 8, generator=random).to(dtype)
            loss = (net(x) - x.sum(-1, keepdim=True)).square().mean()
            optimizer.zero_grad(), loss.backward(), optimizer.step()
        losses.append(loss.detach())
    close(losses[1], losses[0], dtype, 4)
    assert isinstance(ours[4], nlt.Qwen2RMSNorm) and "eps=1e-06" in repr(ours[4])
    assert nlt.swap(type("HeadRMSNorm", (LlamaRMSNorm,), {"forward": lambda self, x: x[0, 0, 0]})(4)) == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_default_eps(dtype):
    x = torch.randn(4, 64).mul(0.01).to(dtype)
    close(nlt.rms_norm(x, (64,)), F.rms_norm(x, (64,)), dtype, 8)
    close(nlt.RMSNorm(64, dtype=dtype)(x), torch.nn.RMSNorm(64, dtype=dtype)(x), dtype, 8)


@pytest.mark.parametrize("make, shape", [
    (lambda m: m.LayerNorm((4, 6)), (3, 5, 4, 6)), (lambda m: m.LayerNorm(6, elementwise_affine=False), (5, 6)),
    (lambda m: m.LayerNorm(6, bias=False), (5, 6)), (lambda m: m.RMSNorm(6), (5, 6)),
    (lambda m: m.RMSNorm((5, 6), eps=1e-3), (2, 5, 6)), (lambda m: m.BatchNorm1d(4), (8, 4)),
    (lambda m: m.BatchNorm1d(4, momentum=None), (8, 4, 3)), (lambda m: m.BatchNorm2d(4, affine=False), (8, 4, 3, 2)),
    (lambda m: m.BatchNorm2d(4, track_running_stats=False), (8, 4, 3, 2)),
    (lambda m: m.BatchNorm3d(4), (2, 4, 3, 2, 2))])
def test_modules_are_drop_in(make, shape):
    torch.manual_seed(1)
    theirs = make(torch.nn)
    for p in theirs.parameters():
        torch.nn.init.normal_(p)
    ours = make(nlt)
    ours.load_state_dict(theirs.state_dict())
    for step in range(4):
        if step == 2:
            ours.eval(), theirs.eval()
        a, b = (torch.randn(shape, generator=torch.Generator().manual_seed(step)).requires_grad_() for _ in "ab")
        x, y = ours(a), theirs(b)
        close(x, y, torch.float32, 8)
        x.square().sum().backward(), y.square().sum().backward()
        close(a.grad, b.grad, torch.float32, 200)
    for key, value in theirs.state_dict().items():
        close(ours.state_dict()[key], value, torch.float32, 8)
    for a, b in zip(ours.parameters(), theirs.parameters()):
        close(a.grad, b.grad, torch.float32, 200)
    assert copy.deepcopy(ours)(torch.randn(shape)).shape == shape


def test_swap_keeps_the_rounding():
    class Qwen3RMSNorm(LlamaRMSNorm):
        def forward(self, x):
            return qwen3_rms_norm(x, self.weight, self.variance_epsilon)[0]

    model = torch.nn.Sequential(Qwen3RMSNorm(256), torch.nn.RMSNorm(256)).bfloat16()
    torch.nn.init.normal_(model[0].weight, 1, 0.2)
    x = torch.randn(32, 256).bfloat16()
    want = qwen3_rms_norm(x, model[0].weight, 1e-6)
    assert nlt.swap(model) == ["0", "1"] and model[0].cast_before_weight and not model[1].cast_before_weight
    same_rounding(model[0](x), *want)


@pytest.mark.parametrize("make, shape", [(lambda: nlt.LayerNorm(16), (0, 16)), (lambda: nlt.RMSNorm(16), (3, 0, 16)),
                                         (lambda: nlt.BatchNorm2d(16).eval(), (0, 16, 2, 2))])
def test_gradients_of_no_rows_are_zero(make, shape):
    """The library writes no sums if there are no rows, so the package must return zeros, not old memory."""
    for _ in range(50):
        module, junk = make(), [torch.full((16,), 7.25) for _ in range(8)]
        del junk
        module(torch.randn(shape, requires_grad=True)).sum().backward()
        assert all(bool((p.grad == 0).all()) for p in module.parameters())


def calls_with_each_tensor():
    """(name, call): the call gives a layer one tensor in place of the tensor of that name."""
    x, w = torch.randn(3, 8, 4), torch.randn(8)
    rows, weight = torch.randn(3, 8), {"weight": w, "bias": w}
    for name in ("input", "residual", "weight", "bias"):
        yield name, lambda of, name=name: nlt.layer_norm(**{"input": rows, "residual": rows, **weight, name: of(name)},
                                                         normalized_shape=(8,))
    for name in ("gate", "weight"):
        yield name, lambda of, name=name: nlt.gated_rms_norm(rows, **{"gate": rows, "weight": w, name: of(name)})
    for training in (False, True):
        for name in ("running_mean", "running_var", "weight", "bias"):
            yield name, lambda of, name=name, training=training: nlt.batch_norm(
                x, **{"running_mean": w.clone(), "running_var": w.abs(), **weight, name: of(name)}, training=training)


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("name, call", list(calls_with_each_tensor()))
def test_no_tensor_may_lack_memory(name, call, gradient):
    """With a tensor that has no memory a call would return unwritten memory. PyTorch's layers refuse meta as well."""
    shape = (3, 8) if name in ("input", "residual", "gate") else (8,)

    def freed(_, offset=0):
        tensor = torch.ones(shape[0] + offset, *shape[1:])[offset:]
        tensor.untyped_storage().resize_(0)
        return tensor.requires_grad_(gradient and "running" not in name)

    with pytest.raises(RuntimeError, match="one device|on meta"):
        call(lambda _: torch.ones(shape, device="meta", requires_grad=gradient and "running" not in name))
    with pytest.raises(RuntimeError, match="storage is freed"):
        call(freed)
    with pytest.raises(RuntimeError, match="storage is freed"):
        call(lambda _: freed(_, 5))  # a view into a flat tensor, as in FSDP


def test_calls_without_gradients_go_around_the_dispatch(monkeypatch):
    from torch.utils._python_dispatch import TorchDispatchMode
    x, w, b = torch.randn(3, 40, dtype=torch.float64).float(), torch.randn(40), torch.randn(40)
    want = nlt.layer_norm(x.clone().requires_grad_(), (40,), w, b)
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    with Mode():
        assert torch.equal(nlt.layer_norm(x, (40,), w, b), want)
    assert "normlab.norm.default" in seen
    with torch.autograd.forward_ad.dual_level(), pytest.raises((NotImplementedError, RuntimeError)):
        nlt.layer_norm(torch.autograd.forward_ad.make_dual(x, x), (40,), w, b)
    monkeypatch.setattr(torch.autograd.Function, "apply", classmethod(lambda *_: 1 / 0))
    assert torch.equal(nlt.layer_norm(x, (40,), w, b), want)
    with torch.no_grad():
        assert torch.equal(nlt.layer_norm(x.requires_grad_(), (40,), torch.nn.Parameter(w), b), want)
    with pytest.raises(ZeroDivisionError):
        nlt.layer_norm(x.requires_grad_(), (40,), w, b)
