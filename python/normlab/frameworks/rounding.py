"""Finds where a norm rounds in 16 bits: which order of roundings gives the bits of a layer's output?

The rows are drawn so that sums are exact in float32, whatever their order: only the roundings differ. The search allows
rstd to differ in its last bits (by up to REACH steps) in each row, because libraries compute it in different ways."""
from collections.abc import Callable, Iterator
from importlib import import_module
from math import nan
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from .adapter import Missing
from .registry import attempt, make

Floats = NDArray[np.float32]
DTYPES, ROWS, FEATURES, EPS, REACH = ("f16", "bf16"), 64, 256, 1e-5, 4


class Layer(NamedTuple):
    """What a layer computes. Its parameters have x's type."""

    name: str
    centred: bool = False
    plus_one: bool = False  #: a gain of 1 + w
    residual: bool = False
    promised: str = ""  #: the order that normlab documents


LAYERS = {
    "pytorch": (Layer("rms_norm"), Layer("layer_norm", centred=True), Layer("add, rms_norm", residual=True)),
    "torch_compile": (Layer("rms_norm"), Layer("add, rms_norm", residual=True), Layer("LlamaRMSNorm")),
    "transformers": (
        *(Layer(f"{model}RMSNorm") for model in ("Llama", "Mistral", "Qwen2", "Qwen3", "Olmo2", "Gemma3n")),
        Layer("T5LayerNorm"), *(Layer(f"{model}RMSNorm", plus_one=True) for model in ("Gemma", "Gemma2", "Gemma3", "Qwen3Next"))),
    "onnxruntime": (Layer("LayerNormalization", centred=True), Layer("RMSNormalization"), Layer("SimplifiedLayerNormalization"),
                    Layer("SkipLayerNormalization", centred=True, residual=True),
                    Layer("SkipSimplifiedLayerNormalization", residual=True)),
    "liger": (*(Layer(f"rms_norm {casting}") for casting in ("llama", "gemma", "none")), Layer("layer_norm", centred=True)),
    "flax": (Layer("RMSNorm"), Layer("LayerNorm", centred=True)),
    "normlab": (Layer("rms_norm", promised="last"), Layer("rms_norm cast_before_weight", promised="before weight"),
                Layer("layer_norm", centred=True, promised="last"),
                Layer("layer_norm cast_before_weight", centred=True, promised="before weight"),
                Layer("qwen2_rms_norm", plus_one=True, promised="last"),
                Layer("rms_norm residual", residual=True, promised="last, float sum"),
                Layer("rms_norm residual rounded_sum", residual=True, promised="last, rounded sum"))}
NAMES = tuple(LAYERS)
ON_CPU = tuple(name for name in NAMES if name != "liger")
ON_GPU = ("pytorch", "torch_compile", "transformers", "liger")


class Row(NamedTuple):
    """A row of the results."""

    how: str
    version: str
    case: str  #: "rms_norm/bf16"
    order: str = ""  #: the order with the fewest differing outputs
    verdict: str = "skip"  #: "same", "differs", "wrong" (only normlab), "skip", or "error": no result came
    differ: float = nan
    outputs: int = ROWS * FEATURES
    next: str = ""  #: the next best order
    next_differ: float = nan
    why: str = ""


def cases(how: str) -> list[str]:
    return [f"{layer.name}/{dtype}" for layer in LAYERS[how] for dtype in DTYPES]


def rounded(a: Floats, dtype: str) -> Floats:
    """Rounds to the storage type (to nearest even) and widens again."""
    if dtype == "f16":
        return a.astype(np.float16).astype(np.float32)
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


class Data(NamedTuple):
    x: Floats
    residual: Floats
    w: Floats
    b: Floats


def drawn(layer: Layer, dtype: str) -> Data:
    """Draws x in steps of 1/64, with row means of at most 3/64, and the residual in steps of 2^-12. x + residual needs
    more bits than 16-bit types have."""
    draw = np.random.default_rng(41)
    half = draw.integers(-120, 121, (ROWS, FEATURES // 2))
    x = np.concatenate([half, 2 * draw.integers(-3, 4, (ROWS, 1)) - half], 1)
    x = draw.permuted(x, axis=1) / 64
    residual = draw.integers(-127, 128, x.shape) / 4096
    w = draw.uniform(-0.5, 0.5, FEATURES) + (not layer.plus_one)
    b = draw.uniform(-1, 1, FEATURES)
    return Data(*(rounded(a.astype(np.float32), dtype) for a in (x, residual, w, b)))


def fused(a: Floats, b: Floats, c: Floats) -> Floats:
    """a * b + c, rounded once."""
    exact: Floats = (a.astype(np.float64) * b + c).astype(np.float32)
    return exact


def near(a: Floats) -> Iterator[Floats]:
    """Yields copies of a. In a copy every value is moved by the same number of ulps, -REACH to REACH."""
    for step in range(-REACH, REACH + 1):
        yield (a.view(np.int32) + np.int32(step)).view(np.float32)


def normalized(h: Floats, mean: Floats, rstd: Floats, rms: Floats) -> Iterator[Floats]:
    """Yields xhat in float, in each way that libraries compute it."""
    yield (h - mean) * rstd
    yield (h - mean) / rms
    if mean.any():  # deviations from 0 or, as in normlab, from the mean of the first 16 values
        first: Floats = h[:, :16].mean(1, keepdims=True, dtype=np.float64).astype(np.float32)
        for begin in (np.zeros_like(first), first):
            yield (h - begin) * rstd - (mean - begin) * rstd
            yield fused(h - begin, rstd, (begin - mean) * rstd)


def gained(xhat: Floats, gain: Floats, shift: Optional[Floats]) -> Iterator[Floats]:
    if shift is None:
        yield xhat * gain
    else:
        yield xhat * gain + shift
        yield fused(xhat, gain, shift)


def outputs(layer: Layer, dtype: str, data: Data) -> Iterator[tuple[str, Floats]]:
    """Yields (order, y). Yields an order several times, because the last bits of rstd and other floats may vary."""
    one = np.float32(1)
    gains = [("", one + data.w if layer.plus_one else data.w)]
    if layer.plus_one:
        gains.append((", gain rounded", rounded(one + data.w, dtype)))
    shift = data.b if layer.centred else None
    total = data.x + data.residual if layer.residual else data.x
    stored = rounded(total, dtype)
    sums = [("", total, total)] if not layer.residual else [
        (", float sum", total, total), (", rounded sum", stored, stored), (", statistics of the float sum", total, stored)]
    for of_sum, whole, h in sums:
        exact = whole.astype(np.float64)
        mean = (exact.mean(1, keepdims=True) if layer.centred else np.zeros((ROWS, 1))).astype(np.float32)
        square = ((exact - mean)**2).mean(1, keepdims=True).astype(np.float32) + np.float32(EPS)
        for rms, rstd in zip(near(np.sqrt(square)), near(1 / np.sqrt(square))):
            for of_gain, gain in gains:
                for xhat in normalized(h, mean, rstd, rms):
                    for y in gained(xhat, gain, shift):
                        yield "last" + of_gain + of_sum, rounded(y, dtype)
                    for y in gained(rounded(xhat, dtype), gain, shift):
                        yield "before weight" + of_gain + of_sum, rounded(y, dtype)
                    if shift is not None:
                        yield ("before weight, before shift" + of_gain + of_sum,
                               rounded(rounded(rounded(xhat, dtype) * gain, dtype) + shift, dtype))
                for y in gained(h - mean, rstd * gain, shift):
                    yield "last" + of_gain + of_sum, rounded(y, dtype)
                every = rounded(rounded(h - mean, dtype) * rounded(rstd, dtype), dtype)
                every = rounded(every * gain, dtype)
                yield "each operation" + of_gain + of_sum, every if shift is None else rounded(every + shift, dtype)


def compare(got: Floats, layer: Layer, dtype: str, data: Data) -> list[tuple[int, str]]:
    """(number of outputs that differ, order), the order that fits best first."""
    best: dict[str, NDArray[np.int64]] = {}
    for order, y in outputs(layer, dtype, data):
        rows = (y != got).sum(1)
        best[order] = np.minimum(best.get(order, rows), rows)
    return sorted((int(rows.sum()), order) for order, rows in best.items())


class Torch:
    """The norms of PyTorch, transformers and Liger-Kernel."""

    def __init__(self, how: str, device: str) -> None:
        framework: Any = make("liger" if how == "liger" else "pytorch", 1, device)
        self.liger: Any = framework if how == "liger" else None
        self.device = device
        self.torch, self.compiled = framework.torch, how == "torch_compile"
        self.version = "torch.compile of " * self.compiled + framework.version
        if how == "transformers":
            self.version = f"transformers {self.of_transformers('').__version__}, {self.version}"

    def of_transformers(self, module: str) -> Any:
        try:
            return import_module(f"transformers{module}")
        except ImportError:
            raise Missing("transformers is not installed: pip install transformers") from None

    def module(self, name: str) -> Any:
        model = name.removesuffix("RMSNorm").removesuffix("LayerNorm").lower().replace("qwen3next", "qwen3_next")
        return getattr(self.of_transformers(f".models.{model}.modeling_{model}"), name)

    def run(self, layer: Layer, dtype: str, data: Data) -> Floats:
        torch, kind = self.torch, {"f16": self.torch.float16, "bf16": self.torch.bfloat16}[dtype]
        x, residual, w, b = (torch.from_numpy(a).to(self.device, kind) for a in data)
        F = torch.nn.functional
        functions: dict[str, Callable[[], Any]] = {
            "rms_norm": lambda: F.rms_norm(x, w.shape, w, EPS), "layer_norm": lambda: F.layer_norm(x, w.shape, w, b, EPS),
            "add, rms_norm": lambda: F.rms_norm(x + residual, w.shape, w, EPS)}
        if self.liger:
            casting = layer.name.rpartition(" ")[2]
            functions = {layer.name: (lambda: self.liger.layer_norm(x, w, b, EPS)) if layer.centred else
                         lambda: self.liger.rms_norm(x, w, EPS, 0.0, casting, False)}
        with torch.inference_mode():
            if layer.name not in functions:
                norm = self.module(layer.name)(FEATURES, eps=EPS).to(w)
                norm.weight.copy_(w)
                functions[layer.name] = lambda: norm(x)
            function = functions[layer.name]
            y = (torch.compile(function, dynamic=False) if self.compiled else function)()
        if y.dtype != kind:
            raise Missing(f"its output is {y.dtype}")
        return np.asarray(y.float().cpu().numpy())


class OnnxRuntime:
    def __init__(self) -> None:
        framework: Any = make("onnxruntime", 1)
        self.onnx, self.runtime, self.version = framework.onnx, framework.runtime, framework.version

    def run(self, layer: Layer, dtype: str, data: Data) -> Floats:
        helper, kinds = self.onnx.helper, self.onnx.TensorProto
        kind = kinds.FLOAT16 if dtype == "f16" else kinds.BFLOAT16
        names = ["x", *(["residual"] if layer.residual else []), "w", *(["b"] if layer.centred else [])]
        given = {name: getattr(data, name) for name in names}
        more = {} if layer.residual else {"axis": -1}
        node = helper.make_node(layer.name, names, ["stored"], domain="com.microsoft" if layer.residual else "", epsilon=EPS, **more)
        nodes = [helper.make_node("Cast", [f"{name}32"], [name], to=kind) for name in names]
        nodes += [node, helper.make_node("Cast", ["stored"], ["y"], to=kinds.FLOAT)]
        graph = helper.make_graph(
            nodes, "norm", [helper.make_tensor_value_info(f"{name}32", kinds.FLOAT, a.shape) for name, a in given.items()],
            [helper.make_tensor_value_info("y", kinds.FLOAT, data.x.shape)])
        imports = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
        options = self.runtime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = self.runtime.GraphOptimizationLevel.ORT_DISABLE_ALL  # others remove casts
        try:
            model = helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()
            session = self.runtime.InferenceSession(model, options, ["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's exceptions have no common class
            raise Missing(str(error).splitlines()[0][:150]) from None
        return np.asarray(session.run(None, {f"{name}32": a for name, a in given.items()})[0])


class Flax:
    def __init__(self) -> None:
        try:
            import flax.linen
        except ImportError:
            raise Missing("Flax is not installed: pip install flax") from None
        self.jax: Any = make("jax", 1)
        self.linen, self.version = flax.linen, f"Flax {flax.__version__}, {self.jax.version}"

    def run(self, layer: Layer, dtype: str, data: Data) -> Floats:
        jnp = self.jax.jax.numpy
        kind = {"f16": jnp.float16, "bf16": jnp.bfloat16}[dtype]
        x, _, w, b = (jnp.asarray(a, kind) for a in data)
        norm = getattr(self.linen, layer.name)(epsilon=EPS, dtype=kind, param_dtype=kind)
        weights = {"scale": w, **({"bias": b} if layer.centred else {})}
        return np.asarray(norm.apply({"params": weights}, x).astype(jnp.float32))


class Normlab:
    def __init__(self) -> None:
        self.version = make("normlab", 1).version

    def run(self, layer: Layer, dtype: str, data: Data) -> Floats:
        import normlab

        from .._arrays import bfloat16
        try:
            kind = np.dtype(np.float16) if dtype == "f16" else bfloat16()
        except TypeError as error:
            raise Missing(str(error)) from None
        x, residual, w, b = (a.astype(kind) for a in data)
        name, *options = layer.name.split()
        given: dict[str, Any] = {option: True for option in options}
        given.update({"residual": residual} if layer.residual else {}, **({"beta": b} if layer.centred else {}))
        function: Callable[..., Any] = getattr(normlab, name)
        return np.asarray(function(x, w, eps=EPS, **given).astype(np.float32))


def library(how: str, device: str) -> Any:
    if how in ("pytorch", "torch_compile", "transformers", "liger"):
        return Torch(how, device)
    if device != "cpu":
        raise Missing(f"{how} runs on the CPU only")
    return {"onnxruntime": OnnxRuntime, "flax": Flax, "normlab": Normlab}[how]()


def find(runner: Any, how: str, spelling: str) -> Row:
    name, dtype = spelling.split("/")
    layer = next(one for one in LAYERS[how] if one.name == name)
    row = Row(how, runner.version, spelling)
    data = drawn(layer, dtype)
    try:
        got = runner.run(layer, dtype, data)
    except Missing as missing:
        return row._replace(why=str(missing))
    (differ, order), (next_differ, next_order), *_ = compare(got, layer, dtype, data)
    verdict = "same" if differ == 0 else "differs"
    if layer.promised and (differ or order != layer.promised):
        verdict = "wrong"
    return row._replace(order=order, verdict=verdict, differ=differ, next=next_order, next_differ=next_differ)


def find_by_name(how: str, spelling: str, device: str = "cpu") -> Row:
    """registry.each() calls this function in a separate process."""
    return attempt(lambda: find(library(how, device), how, spelling), Row(how, "", spelling, verdict="error"))


HEAD = f"{'framework':14} {'layer':44} {'rounds':40} outputs that differ"


def line(row: Any) -> str:
    if not row.order:
        return f"{row.how:14} {row.case:44} {row.verdict}: {row.why}"
    wrong = " WRONG" if row.verdict == "wrong" else ""
    return (f"{row.how:14} {row.case:44} {row.order:40} {row.differ} of {row.outputs}; "
            f"{row.next}: {row.next_differ}{wrong}")
