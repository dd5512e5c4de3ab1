"""Makes the numpydoc sections of functions; a parameter of several functions is described once, here."""
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_WEIGHTS = "(c,), float32, or all in x's type"
_ROWS, _FEATURES, _RUNNING = "(...), float32", "(c,), float32", "The statistics of each channel."

# : {name of a parameter: (its type, its description)}. Adjacent parameters with the same text share an entry.
_PARAMETERS = {
    "op": ('"layernorm", "rmsnorm", "qwen2_rmsnorm", "gated_rmsnorm", "gate_first_rmsnorm" or "batchnorm"', "The layer."),
    "dy": ("as x", "The gradient of the layer's result."),
    "x": ("(..., c), float32, float16 or bfloat16; may be a view with evenly spaced rows",
          "The input. Tensors of its shape have its type; arithmetic is float32."),
    "gamma": (_WEIGHTS, "The gain and the bias. None: ones for the gain, zeros for the bias."),
    "beta": (_WEIGHTS, "The gain and the bias. None: ones for the gain, zeros for the bias."),
    "w": (_WEIGHTS, "The gain is 1 + w; None: the gain is 1."),
    "eps": ("float", "Is added to the variance, or to the mean square."),
    "gate": ("as x", "silu(gate) multiplies the result or, with gate_first, x."),
    "gate_first": ("bool", "silu(gate) multiplies x before the norm, not the result."),
    "dgate": ("as x", "Receives the gradient of gate; may be the array of gate."),
    "residual": ("as x", "Is added to x in float32; the sum is normalized."),
    "cast_before_weight": ("bool", "Round the normalized value to x's type before gamma multiplies it (Llama, vLLM)."),
    "rounded_sum": ("bool", "Round the sum with the residual to x's type before it is normalized (transformers)."),
    "out": ("as x", "Receives the result; None: a new array. May be x or, in backward, dy or dresidual."),
    "residual_out": ("as x", "Receives x + residual, rounded: the x of the backward pass. May be residual."),
    "mean": (_ROWS, "The statistics. Forward writes them, backward reads them; None: backward computes them."),
    "rstd": (_ROWS, "The statistics. Forward writes them, backward reads them; None: backward computes them."),
    "dresidual": ("as x", "The gradient of residual_out from its other uses; it is added to dx."),
    "dgamma": (_WEIGHTS, "Receive the gradients, sums over all rows; old values are replaced."),
    "dbeta": (_WEIGHTS, "Receive the gradients, sums over all rows; old values are replaced."),
    "dw": (_WEIGHTS, "Receives the gradient, a sum over all rows; old values are replaced."),
    "running_mean": (_FEATURES, "The running statistics, which training updates and inference uses."),
    "running_var": (_FEATURES, "The running statistics, which training updates and inference uses."),
    "training": ("bool", "Normalize by x's own statistics; each channel needs more than one value."),
    "momentum": ("float", "The weight of the new value in the running statistics."),
    "biased_running_var": ("bool", "running_var gets the biased variance: a sum of squares over m, not m - 1."),
    "channels_last": ("bool", "The memory of x is (N, ..., C), such as NHWC."),
    "impl": ("Impl", 'A row of implementations(), or "NAME" or "NAME@ISA"; None: the best.'),
    "threads": ("int", "The largest number of threads; the results of an implementation do not depend on it."),
    "dtype": ('"f32", "f16", "bf16" or a NumPy type', "The storage type."),
    "rounded_to": ('"f16", numpy.float16, ...', "The type to which the output was rounded before it was widened."),
}
_RAISES = """ValueError
    A shape, the layout, an overlap or a value is wrong; no output was written.
TypeError
    An argument has a wrong type, or is not an array."""


def documented(returns: str, raises: str = _RAISES,
               **special: tuple[str, str]) -> Callable[[_Function], _Function]:
    """Puts the sections before the example of the docstring. special: entries for the function's own parameters."""
    def add(function: _Function) -> _Function:
        text = function.__doc__ or ""
        if "\n    >>> " in text:  # Python before 3.13 keeps the indentation
            text = text.replace("\n    ", "\n")
        about, _, example = text.partition(">>> ")
        names: dict[tuple[str, str], list[str]] = {}
        for name in list(function.__annotations__)[:-1]:
            names.setdefault(special.get(name) or _PARAMETERS[name], []).append(name)
        given = "\n".join(f"{', '.join(names)} : {kind}\n    {text}" for (kind, text), names in names.items())
        fails = raises if "out" in function.__annotations__ else raises.replace("; no output was written", "")
        sections = {"Parameters": given, "Returns": returns, "Raises": fails, "Examples": f">>> {example.strip()}"}
        function.__doc__ = "\n\n".join([about.rstrip(), *(
            f"{head}\n{'-' * len(head)}\n{body}" for head, body in sections.items())])
        return function
    return add
