"""normlab.torch and normlab with all kinds of tensors: views, copies, empty and 16-bit tensors. Needs torch."""
import normlab
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_oracle import F, ROUNDING, close, nlt, quiet, qwen3_rms_norm, same_rounding, torch
from normlab import _operators  # after the line above, which skips this file if there is no torch

pytestmark = quiet


def packed(tensor):
    return tensor.clone(memory_format=torch.contiguous_format)


@pytest.fixture
def no_copies(monkeypatch):
    """Makes copies of views raise ZeroDivisionError."""
    monkeypatch.setattr(torch.Tensor, "contiguous", lambda self, **_: self if self.is_contiguous() else 1 / 0)


def test_other_tensors():
    x = torch.randn(4, 6, 8)
    close(nlt.layer_norm(x.transpose(0, 1), (8,)), F.layer_norm(x.transpose(0, 1), (8,)), torch.float32, 8)
    assert nlt.layer_norm(x[:0], (8,)).shape == (0, 6, 8)
    w = torch.randn(8, dtype=torch.bfloat16, requires_grad=True)
    y = nlt.layer_norm(x.bfloat16(), (8,), w)
    y.sum().backward()
    assert y.dtype == w.grad.dtype == torch.bfloat16
    with pytest.raises(ValueError, match="normalized_shape"):
        nlt.layer_norm(x, (7,))
    with pytest.raises(ValueError, match="more than one value"):
        nlt.batch_norm(x[:1, :, 0], None, None, training=True)


def test_tensors_as_arrays():
    """The functions of normlab take tensors, and write into tensors."""
    for dtype in ROUNDING:
        x, out = torch.randn(4, 8).to(dtype), torch.empty(4, 8, dtype=dtype)
        assert normlab.layer_norm(x, out=out) is out
        close(out, F.layer_norm(x.double(), (8,)), dtype, 4)
        assert normlab.judge(out, "layernorm", x).right
        y, *gradients = normlab.rms_norm(x), *normlab.rms_norm_backward(x, x)
        assert y.dtype == gradients[0].dtype == dtype and gradients[1].dtype == torch.float32
        close(y, nlt.rms_norm(x, (8,), eps=1e-5), dtype)
    with pytest.raises(TypeError, match="x cannot be used in place.*detach"):
        normlab.layer_norm(torch.randn(4, 8, requires_grad=True))
    assert normlab.judge(F.layer_norm(x, (8,)), "layernorm", x).right


def test_negated_lazily():
    x = torch.randn(3, 8)
    close(nlt.layer_norm(torch._neg_view(x), (8,)), F.layer_norm(-x, (8,)), torch.float32)
    for dtype in ROUNDING:
        with pytest.raises(TypeError, match="x cannot be used in place: .* pass tensor.resolve_neg()"):
            normlab.layer_norm(torch._neg_view(x.to(dtype)))


def test_without_memory():
    from torch._subclasses.fake_tensor import FakeTensorMode

    for dtype in ROUNDING:
        with FakeTensorMode():
            x = torch.randn(3, 8, dtype=dtype)
        with pytest.raises(TypeError, match="x cannot be used in place: .*memory|.*data pointer"):
            normlab.layer_norm(x)
    assert normlab.layer_norm(torch.empty(0, 8)).shape == (0, 8)


def test_the_norms_of_an_attention_block(no_copies, monkeypatch):
    """Qwen3's use, without copies: a fused residual, and q and k as views of a packed qkv."""
    torch.manual_seed(5)
    heads, others, c, hidden, eps = 8, 2, 64, 256, 1e-6
    norm, q_norm, k_norm = (nlt.RMSNorm(n, eps, dtype=torch.bfloat16, cast_before_weight=True, rounded_sum=True)
                            for n in (hidden, c, c))
    for one in (norm, q_norm, k_norm):
        torch.nn.init.normal_(one.weight, 1, 0.2)
    monkeypatch.setattr(torch.Tensor, "float", lambda self, was=torch.Tensor.float: was(self) if self.dim() > 1 else 1 / 0)
    with torch.no_grad():
        x, r = torch.randn(2, 2, 33, hidden).bfloat16()
        y, total = norm(x, r)
        assert torch.equal(total, x + r)
        same_rounding(y, *qwen3_rms_norm(x + r, norm.weight, eps))
        qkv = torch.randn(2, 33, (heads + 2 * others) * c).bfloat16().view(2, 33, -1, c)
        for part, one in ((qkv[:, :, :heads], q_norm), (qkv[:, :, heads:heads + others], k_norm)):
            assert not part.is_contiguous()
            same_rounding(one(part), *qwen3_rms_norm(part, one.weight, eps))
            assert _operators.norm_of_rows(part, None, one.weight, None, "rms_norm", eps, True, True)


def test_gated_views_are_not_copied(no_copies):
    """Qwen3-Next's use, forward and backward: one projection makes the heads and their gates."""
    x, z = torch.randn(2, 5, 4, 32).bfloat16().requires_grad_().chunk(2, -1)
    w = torch.ones(16, dtype=torch.bfloat16, requires_grad=True)
    want = nlt.gated_rms_norm(packed(x), packed(z), w)
    got = nlt.gated_rms_norm(x, z, w)
    assert not x.is_contiguous() and torch.equal(got, want)
    ours, theirs = (torch.autograd.grad(y, [x, z, w], torch.ones_like(y)) for y in (got, want))
    assert all(torch.equal(a, b) and a.dtype == torch.bfloat16 for a, b in zip(ours, theirs))


def test_gradients_through_views():
    """In training too, views and copies give the same bits."""
    qkv, w = torch.randn(3, 5, 6, 64).bfloat16(), torch.randn(64).bfloat16()
    for part in (qkv[:, :, 1:4], qkv[:, ::2, :2], qkv[..., ::2]):
        weight = w[:part.shape[-1]].clone()
        got, want = [], []
        for of, found in ((part, got), (packed(part), want)):
            of, gain = of.detach().requires_grad_(), weight.clone().requires_grad_()
            y = nlt.rms_norm(of, (of.shape[-1],), gain, 1e-6, cast_before_weight=True)
            found += [y, *torch.autograd.grad(y.float().square().sum(), [of, gain])]
        assert all(torch.equal(a, b) for a, b in zip(got, want)) and got[2].dtype == torch.bfloat16


@pytest.mark.parametrize("seed", range(8))
def test_windows_that_overlap(seed):
    """Input, residual and the gradient of y are copied if their rows share memory, as after unfold()."""
    torch.manual_seed(seed)
    c, step, some, turned = (int(torch.randint(low, high, ())) for low, high in ((2, 40), (1, 50), (1, 4), (0, 2)))
    x, r, dy = (torch.randn(some, 200).unfold(1, c, step) for _ in range(3))
    if turned:
        x, r, dy = (t.transpose(0, 1) for t in (x, r, dy))
    results = []
    for of in (lambda t: t), packed:
        into = of(x).detach().requires_grad_()
        y, total = nlt.layer_norm(into, (c,), residual=of(r))
        results.append([y, total, *torch.autograd.grad(y, into, of(dy))])
    with torch.no_grad():
        results.append(nlt.layer_norm(x, (c,), residual=r))
    assert all(torch.equal(a, b) for other in results[1:] for a, b in zip(results[0], other))


def drawn_view(draw, shape, dtype):
    """A tensor of this shape: contiguous, a part of a larger tensor, with two axes swapped, repeated, every second
    element, negated when it is read, or with rows that overlap."""
    kind = draw(st.integers(0, 7))
    if kind == 1:
        return torch.randn(*shape[:-1], shape[-1] + 5).to(dtype)[..., 2:-3]
    if kind == 2:
        return torch.randn(*(2 * n for n in shape[:-1]), shape[-1]).to(dtype)[tuple(slice(n) for n in shape)]
    if kind == 3 and len(shape) > 2:
        return torch.randn(shape[1], shape[0], *shape[2:]).to(dtype).transpose(0, 1)
    if kind == 4:
        return torch.randn(shape[-1]).to(dtype).expand(shape)
    if kind == 5:
        return torch.randn(*shape[:-1], 2 * shape[-1]).to(dtype)[..., ::2]
    if kind == 6:
        return torch._neg_view(torch.randn(shape).to(dtype))
    if kind == 7 and len(shape) > 1 and shape[-2]:
        return torch.randn(*shape[:-2], shape[-1] + shape[-2] - 1).to(dtype).unfold(-1, shape[-1], 1)
    return torch.randn(shape).to(dtype)


def is_in_rows(tensor):
    """Are the rows evenly spaced, so that no copy is needed?"""
    rows = tensor.reshape(-1, tensor.shape[-1])
    return rows.data_ptr() == tensor.data_ptr() and rows.stride(-1) == 1 and rows.stride(0) >= tensor.shape[-1]


@settings(max_examples=300, deadline=None)
@given(data=st.data(), shape=st.lists(st.integers(0, 4), max_size=4), c=st.integers(1, 70),
       name=st.sampled_from(["layer_norm", "rms_norm", "qwen2_rms_norm"]), options=st.tuples(*[st.booleans()] * 5))
def test_calls_by_address(data, shape, c, name, options):
    """Calls with a gradient, and calls by address (without a gradient, if no copy is needed), have the same bits."""
    torch.manual_seed(0)
    residual, weight, bias, cast, rounded = options
    dtype, other = (data.draw(st.sampled_from(list(ROUNDING))) for _ in "xp")
    x, r = (drawn_view(data.draw, (*shape, c), dtype) for _ in "xr")
    w, b = (drawn_view(data.draw, (c,), data.draw(st.sampled_from([torch.float32, other]))) for _ in "wb")
    arguments = [x, r if residual else None, w if weight else None, b if bias and name == "layer_norm" else None]

    def call():
        made = nlt._rows(name, *arguments[:2], (c,), *arguments[2:], 1e-2, cast, rounded)
        return made if residual else (made, made)

    with torch.no_grad():
        got = call()
        direct = _operators.norm_of_rows(*arguments, name, 1e-2, cast, rounded)
    arguments[0] = x.detach().requires_grad_()
    want = call()
    assert all(torch.equal(a, b) and a.dtype == dtype and a.shape == x.shape for a, b in zip(got, want))
    given = [t for t in arguments if t is not None]
    usable = all(is_in_rows(t) and not t.is_neg() and t.dtype in (dtype, torch.float32) for t in given)
    types = {t.dtype for t in arguments[2:] if t is not None}
    assert direct or not usable or len(types) > 1 or not x.numel()
    assert not direct or not any(t.is_neg() or t.stride(-1) != 1 and c > 1 for t in given)


def test_hostile_calls_by_address():
    x = torch.randn(3, 8)
    for w in torch.randn(7), torch.randn(9), torch.tensor(1.0), torch.randn(8).to_sparse():
        with pytest.raises((ValueError, RuntimeError, TypeError, NotImplementedError)):
            nlt.layer_norm(x, (8,), w)
    with pytest.raises(ValueError, match="zero as a float"):
        nlt.layer_norm(x, (8,), eps=1e-60)
    with pytest.raises(ValueError, match="eps = -1 must be"):
        nlt.layer_norm(x, (8,), eps=-1.0)
    with torch.no_grad(), torch.device("meta"):
        assert nlt.layer_norm(x, (8,)).device.type == "cpu"
        half = x.half()
        assert torch.equal(nlt.rms_norm(half, (8,), half[0], cast_before_weight=1),
                           nlt.rms_norm(half, (8,), half[0], cast_before_weight=True))
