#!/usr/bin/env python3
"""LayerNorm after centred weights is RMSNorm: judges both on an input of a real model.

    python3 examples/fold_centring.py [NAME] [path/to/normlab]     NAME: early, middle or late

x of experiments/activations is the sum of W h + b and a residual. From each column of W, and from b, subtract its
mean, and do the same in all layers that add up to the residual. The rows then have mean 0, and RMSNorm of them is
LayerNorm of x. Here the rows are centred in double and stored in float32, as the folded weights would give them. The
last line judges RMSNorm of the original x, as if the weights were not folded. LayerNorm's beta goes into the next
layer.
"""
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

name, normlab = (*sys.argv[1:], *("late", "normlab")[len(sys.argv) - 1:])
files = Path(__file__).resolve().parent.parent / "experiments" / "activations"
x, gamma = files / f"{name}.x.npy", files / f"{name}.gamma.npy"

head, values = x.read_bytes()[:128], [v for v, in struct.iter_unpack("<f", x.read_bytes()[128:])]
width = gamma.stat().st_size // 4 - 32
rows = [values[i:i + width] for i in range(0, len(values), width)]
centred = [v - mean for row in rows for mean in [math.fsum(row) / width] for v in row]

with tempfile.TemporaryDirectory() as folder:
    folded = Path(folder, "centred.npy")
    folded.write_bytes(head + struct.pack(f"<{len(centred)}f", *centred))
    right = []
    for layer, of, what in (("layernorm", x, "LayerNorm of x"), ("rmsnorm", folded, "RMSNorm of centred x"),
                            ("rmsnorm", x, "RMSNorm of x")):
        y = Path(folder, "y.npy")
        subprocess.run([normlab, "run", layer, "--x", of, "--gamma", gamma, "--eps", "1e-12", "--out", y],
                       check=True, stderr=subprocess.DEVNULL)
        judged = subprocess.run([normlab, "judge", "layernorm", "--x", x, "--gamma", gamma, "--eps", "1e-12", "--y", y],
                                capture_output=True, text=True)
        heads = ("verdict ", "rms error ", "likely mechanism ")
        print(what, *("  " + line for line in judged.stdout.splitlines() if line.startswith(heads)), sep="\n")
        right.append(judged.returncode == 0)
sys.exit(right != [True, True, False])
