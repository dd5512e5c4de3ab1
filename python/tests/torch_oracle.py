"""Functions that the tests of normlab.torch share. Without torch, pytest skips the files that import it."""
import pytest

torch = pytest.importorskip("torch")
import normlab.torch as nlt  # noqa: E402
import torch.nn.functional as F  # noqa: E402

quiet = [pytest.mark.filterwarnings(f"ignore:{text}") for text in (
    ".torch.jit.script. is deprecated", "The .grad attribute of a Tensor that is not a leaf")]  # torch causes both
ROUNDING = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def close(got, want, dtype, scale=1.0):
    error = (got.double() - want.double()).abs().max() if got.numel() else 0
    assert got.shape == want.shape and error <= ROUNDING[dtype] * scale * (1 + want.abs().max()), error


def qwen3_rms_norm(x, weight, eps):
    """The formula of transformers' Qwen3RMSNorm in eager operations, and the normalized values in float64."""
    wide = x.float()
    rounded = weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)
    exact = x.double() * torch.rsqrt(x.double().pow(2).mean(-1, keepdim=True) + eps)
    return rounded, exact


def same_rounding(got, want, exact):
    """Asserts equal bits, except if the exact value is within float32's error of a boundary of bfloat16's rounding."""
    near = (exact * (1 - 2.0**-21)).float().bfloat16() != (exact * (1 + 2.0**-21)).float().bfloat16()
    assert got.dtype == want.dtype and near.float().mean() < 1e-3
    assert torch.equal(got[~near], want[~near])
