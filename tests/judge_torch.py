#!/usr/bin/env python3
"""`normlab judge` on what PyTorch computes here and now: its layers must be right, in every type,
and what is wrong on purpose must be named. Without torch it says SKIP and passes.
Usage: tests/judge_torch.py path/to/normlab. SPDX-License-Identifier: MIT"""
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
    print(f"SKIP: no torch ({e})")
    sys.exit(0)

LETTERS = {torch.float16: "<f2", torch.float32: "<f4", torch.float64: "<f8"}
failed = passed = 0


def save(name, tensor):
    """numpy.save without numpy; bfloat16 is widened, which loses nothing."""
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


def judge(name, says, code, layer, *options, **tensors):
    """says: in the line that names the mechanism; None: any will do."""
    global failed, passed
    command = [program, "judge", layer, *options]
    for option, tensor in tensors.items():
        command += ["--" + option.replace("_", "-"), save(option, tensor)]
    ran = subprocess.run(command, capture_output=True, text=True)
    named = [line for line in ran.stdout.splitlines() if line.startswith("likely mechanism")]
    if ran.returncode == code and named and (says is None or says in named[0]):
        passed += 1
        print("ok   ", name)
    else:
        failed += 1
        print(f"FAIL  {name}: exit code {ran.returncode}, {named}\n{ran.stdout}{ran.stderr}")


program = os.path.abspath(sys.argv[1])
torch.manual_seed(1)
torch.set_num_threads(1)
c = 256
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        kind = str(dtype)[6:]
        rounded = ("--rounded-to", "bf16") if dtype == torch.bfloat16 else ()
        x = (torch.randn(8, 4, c) * 2 + 0.5).to(dtype)
        g = (1 + 0.3 * torch.randn(c)).to(dtype)
        b = torch.randn(c).to(dtype)
        fine = "nothing to explain"
        y = F.layer_norm(x, (c,), g, b, 1e-5)
        judge(f"layer_norm, {kind}", fine, 0, "layernorm", *rounded, x=x, gamma=g, beta=b, y=y)
        y = F.layer_norm(x, (4, c), None, None, 1e-5)
        judge("  over two axes", "last two axes", 1, "layernorm", *rounded, x=x, y=y)
        if dtype == torch.float32:
            y = F.layer_norm(x, (c,), g, b, 1e-3)
            judge("  with another eps", "eps = 1e-3", 1, "layernorm", x=x, gamma=g, beta=b, y=y)
        if dtype == torch.float32 and hasattr(F, "rms_norm"):
            y = F.rms_norm(x, (c,), g, 1e-6)
            judge("rms_norm", fine, 0, "rmsnorm", "--eps", "1e-6", x=x, gamma=g, y=y)
        # The modeling code of Llama and Qwen2 in Hugging Face transformers.
        wide = x.float()
        y = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        judge(f"Llama's RMSNorm, {kind}", fine, 0, "rmsnorm", "--eps", "1e-6", "--casting",
              "before-weight", *rounded, x=x, gamma=g, y=g * y.to(dtype))
    x, g, b = torch.randn(6, 5, 7, 3), torch.randn(5), torch.randn(5)
    mean, var = torch.randn(5), 0.5 + torch.rand(5)
    y = F.batch_norm(x, None, None, g, b, training=True)
    judge("batch_norm, training", None, 0, "batchnorm", x=x, gamma=g, beta=b, y=y)
    running = {"running_mean": mean, "running_var": var}
    judge("  for inference", "training", 1, "batchnorm", "--inference", x=x, gamma=g, beta=b, y=y,
          **running)
    y = F.batch_norm(x, mean, var, g, b, training=False)
    judge("batch_norm, inference", None, 0, "batchnorm", "--inference", x=x, gamma=g, beta=b,
          y=y, **running)
    os.chdir("/")
print(f"torch {torch.__version__}: {passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
