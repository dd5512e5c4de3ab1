#!/usr/bin/env python3
"""`normlab judge` on PyTorch's own outputs: its layers, and the formulas of well-known models, must be
right in every type, and deliberate mistakes must be named.
Usage: tests/judge/judge_torch.py path/to/normlab; exit code 77 without torch. SPDX-License-Identifier: MIT"""
import os
import struct
import subprocess
import sys
import tempfile

if len(sys.argv) != 2:
    sys.exit(__doc__)
try:
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print(f"SKIP: no torch ({e}); to have one: apt-get install python3-torch, or pip install torch")
    sys.exit(77)

LETTERS = {torch.float16: "<f2", torch.float32: "<f4", torch.float64: "<f8"}
FINE = "nothing to explain"
failed = passed = skipped = 0


def save(name, tensor):
    """numpy.save without numpy; widens bfloat16, which is exact."""
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    tensor = tensor.detach().contiguous()
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (
        LETTERS[tensor.dtype], tuple(tensor.shape))
    head += " " * (-(11 + len(head)) % 64) + "\n"
    with open(name + ".npy", "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
        f.write(bytes(tensor.flatten().view(torch.uint8).tolist()))
    return name + ".npy"


def judge(name, says, code, layer, *options, y, **tensors):
    """says: expected in the line of the mechanism; None: anything. y: a tensor, or a function that returns it."""
    global failed, passed, skipped
    if callable(y):
        try:
            y = y()
        except RuntimeError as e:  # "LayerNormKernelImpl" not implemented for 'Half'
            skipped += 1
            print(f"skip  {name}: {e}")
            return
    if y.dtype == torch.bfloat16:
        options += ("--rounded-to", "bf16")
    command = [program, "judge", layer, *options]
    for option, tensor in {**tensors, "y": y}.items():
        command += ["--" + option.replace("_", "-"), save(option, tensor)]
    ran = subprocess.run(command, capture_output=True, text=True)
    named = [line for line in ran.stdout.splitlines() if line.startswith("likely mechanism")]
    largest = [line[17:] for line in ran.stdout.splitlines() if line.startswith("largest error")]
    if ran.returncode == code and named and (says is None or says in named[0]):
        passed += 1
        print(f"ok    {name}: {'wrong' if code else 'right'}, {largest[0]}, {named[0][17:]}")
    else:
        failed += 1
        print(f"FAIL  {name}: exit code {ran.returncode}, {named}, for {code}, '{says}'\n"
              f"{ran.stdout}{ran.stderr}")


def xhat(x, eps=1e-5, mean=True, unbiased=False, outside=False, last=-1):
    """xhat in float, by PyTorch's own operations, as in modeling code."""
    x = x.float()
    d = x - x.mean(last, keepdim=True) if mean else x
    var = x.var(last, unbiased, keepdim=True) if mean else d.pow(2).mean(last, keepdim=True)
    return d / (var.sqrt() + eps) if outside else d * torch.rsqrt(var + eps)


def low_layer_norm_is_right(dtype):
    """Compares with float64: at most about one rounding where xhat is below 1."""
    x = torch.randn(64, c).to(dtype)
    try:
        y = F.layer_norm(x, (c,))
    except RuntimeError:
        return True
    return (y.double() - F.layer_norm(x.double(), (c,))).abs()[y.abs() < 1].max() <= (
        1.05 * torch.finfo(dtype).eps / 2 if dtype != torch.float32 else 1e-5)


def rows(dtype):
    """Layers over the last axis. sigma is 0.02 to 2, so that eps matters."""
    kind, low = str(dtype)[6:], dtype != torch.float32
    sigma = 0.02 * 100 ** torch.linspace(0, 1, 32).view(8, 4, 1)
    x = ((torch.randn(8, 4, c) + 0.25) * sigma).to(dtype)
    r = (torch.randn(8, 4, c) * sigma).to(dtype)
    g, b = (1 + 0.3 * torch.randn(c)).to(dtype), torch.randn(c).to(dtype)
    w = (0.3 * torch.randn(c)).to(dtype)
    ln, rms = {"x": x, "gamma": g, "beta": b}, {"x": x, "gamma": g}

    print(f"== {kind}")
    # PyTorch 1.13 sums and keeps the mean and rstd of bfloat16 in bfloat16, which shows.
    due = (FINE, 0) if low_layer_norm_is_right(dtype) else ("statistics in 16 bits", 1)
    judge("F.layer_norm", *due, "layernorm", **ln, y=lambda: F.layer_norm(x, (c,), g, b, 1e-5))
    judge("  without gamma and beta", *due, "layernorm", x=x,
          y=lambda: F.layer_norm(x, (c,), None, None, 1e-5))
    judge("  with another eps", "eps = 1e-3", 1, "layernorm", **ln,
          y=lambda: F.layer_norm(x, (c,), g, b, 1e-3))
    judge("  over two axes", "last two axes", 1, "layernorm", x=x,
          y=lambda: F.layer_norm(x, (4, c), None, None, 1e-5))
    judge("  for an RMSNorm", "the mean was subtracted", 1, "rmsnorm", **rms,
          y=lambda: F.layer_norm(x, (c,), g, None, 1e-5))
    judge("  on x alone", "the residual was not added", 1, "layernorm", **ln, residual=r,
          y=lambda: F.layer_norm(x, (c,), g, b, 1e-5))
    y = xhat(x) * g.float() + b.float()
    judge("LayerNorm by hand", FINE, 0, "layernorm", **ln, y=y.to(dtype))
    y = xhat(x + r) * g.float() + b.float()
    judge("  of x + residual, rounded", "x + residual was rounded" if low else FINE, int(low),
          "layernorm", **ln, residual=r, y=y.to(dtype))
    y = xhat(x, unbiased=True) * g.float() + b.float()
    judge("  x.var(), n - 1", "n - 1 for n", 1, "layernorm", **ln, y=y.to(dtype))
    y = xhat(x, 1e-3, outside=True) * g.float() + b.float()
    judge("  (x - mean) / (std + eps)", "eps outside the root", 1, "layernorm", "--eps", "1e-3",
          **ln, y=y.to(dtype))
    if low:
        judge("  judged as the float32 it was saved as", f"rounded to {kind.replace('loat', '')}"
              if dtype == torch.float16 else "rounded to bf16", 1, "layernorm", "--rounded-to",
              "f32", x=x.float(), gamma=g.float(), y=(xhat(x) * g.float()).to(dtype).float())

    if hasattr(F, "rms_norm"):
        judge("F.rms_norm", FINE, 0, "rmsnorm", "--eps", "1e-6", **rms,
              y=lambda: F.rms_norm(x, (c,), g, 1e-6))
    else:
        print("skip  F.rms_norm: this torch has none")
    last = (xhat(x, 1e-6, mean=False) * g.float()).to(dtype)
    judge("OLMo2's RMSNorm, cast last", FINE, 0, "rmsnorm", "--eps", "1e-6", **rms, y=last)
    before = g * xhat(x, 1e-6, mean=False).to(dtype)
    judge("Llama's RMSNorm, cast before the weight", FINE, 0, "rmsnorm", "--eps", "1e-6",
          "--casting", "before-weight", **rms, y=before)
    if low:
        judge("  judged as cast last", "cast before the weight", 1, "rmsnorm", "--eps", "1e-6",
              **rms, y=before)
        judge("  the other way round", "cast last", 1, "rmsnorm", "--eps", "1e-6", "--casting",
              "before-weight", **rms, y=last)
    y = (xhat(x, 1e-6, mean=False) * (1 + w.float())).to(dtype)
    judge("Gemma's RMSNorm, 1 + w", FINE, 0, "gemma", "--eps", "1e-6", x=x, gamma=w, y=y)
    judge("  judged as plain RMSNorm", "a gain of 1 + gamma", 1, "rmsnorm", "--eps", "1e-6", x=x,
          gamma=w, y=y)
    y = (xhat(x.float() + r.float(), 1e-6, mean=False) * g.float()).to(dtype)
    judge("fused with the residual, summed in float", FINE, 0, "rmsnorm", "--eps", "1e-6", **rms,
          residual=r, y=y)
    y = (xhat(x + r, 1e-6, mean=False) * g.float()).to(dtype)
    judge("  summed and rounded", "x + residual was rounded" if low else FINE, int(low), "rmsnorm",
          "--eps", "1e-6", **rms, residual=r, y=y)

    x = (x.view(8, 4, 16, 16) + torch.arange(4).view(4, 1, 1)).to(dtype)
    g, b = torch.randn(4) + 2, torch.randn(4)
    mean, var = torch.randn(4), 0.5 + torch.rand(4)
    bn = {"x": x, "gamma": g, "beta": b}
    running = {"running_mean": mean, "running_var": var}
    judge("F.batch_norm, training", FINE, 0, "batchnorm", **bn,
          y=lambda: F.batch_norm(x, None, None, g, b, True))
    judge("  judged for inference", "training", 1, "batchnorm", "--inference", **bn, **running,
          y=lambda: F.batch_norm(x, None, None, g, b, True))
    judge("F.batch_norm, inference", FINE, 0, "batchnorm", "--inference", **bn, **running,
          y=lambda: F.batch_norm(x, mean, var, g, b, False))
    judge("F.instance_norm", "InstanceNorm", 1, "batchnorm", x=x, y=lambda: F.instance_norm(x))
    judge("F.group_norm of one group", "over its channels", 1, "batchnorm", **bn,
          y=lambda: F.group_norm(x, 1, g, b))


def rounding():
    """Float errors that no formula explains: rows whose means are 4 to 940 sigma."""
    print("== the mean far away, float32")
    x = torch.randn(64, c) + 4 * 2 ** (torch.arange(64.0) / 8).view(64, 1)
    mean, var = x.mean(1, keepdim=True), x.var(1, False, keepdim=True)
    fast = (x * x).mean(1, keepdim=True) - mean * mean
    judge("E[x^2] - mean^2", "one-pass variance", 1, "layernorm", x=x,
          y=(x - mean) * torch.rsqrt(fast + 1e-5))
    rstd = torch.rsqrt(var + 1e-5)
    judge("x * rstd - mean * rstd", "folded apply", 0, "layernorm", x=x, y=x * rstd - mean * rstd)
    judge("two passes", None, 0, "layernorm", x=x, y=(x - mean) * rstd)
    judge("F.layer_norm", None, 0, "layernorm", x=x, y=F.layer_norm(x, (c,)))
    x = x.t().contiguous()
    judge("F.batch_norm, training", None, 0, "batchnorm", x=x, y=F.batch_norm(x, None, None,
                                                                           training=True))


program = os.path.abspath(sys.argv[1])
torch.manual_seed(1)
torch.set_num_threads(1)
c = 256
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        rows(dtype)
    rounding()
    os.chdir("/")
print(f"torch {torch.__version__}: {passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed or not passed else 0)
