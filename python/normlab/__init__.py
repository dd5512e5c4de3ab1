"""BatchNorm, LayerNorm, RMSNorm, Qwen2RMSNorm and gated RMSNorm on the CPU, verified against a long-double reference.

>>> import numpy, normlab
>>> x = numpy.random.default_rng(0).normal(size=(4, 64)).astype("float32")
>>> y = normlab.layer_norm(x)
>>> print(normlab.judge(y, "layernorm", x).verdict)
right

Arrays are NumPy's, of float32, float16 or ml_dtypes.bfloat16; arrays are used in place, without a copy, and may be
views with evenly spaced rows. Tensors of other libraries work through DLPack or the buffer protocol. Results are
tensors if x is a tensor of PyTorch, else NumPy arrays. Parameters are float32 or have x's type; statistics are float32.

Layers: layer_norm, rms_norm, qwen2_rms_norm, gated_rms_norm, batch_norm, each with _backward; implementations, best.
Truth: reference, judge, each with _backward. Data: data, case, museum. Time: measure, limit, race.

Errors are ValueError (shapes, layout, values; often with the library's message) or TypeError (types). A call that
raises an error has written no output.
"""
from ._core import MAX_THREADS as max_threads
from ._core import VERSION as __version__
from .cases import Case as Case, Exhibit as Exhibit, case, data, museum
from .layers import (
    batch_norm, batch_norm_backward, gated_rms_norm, gated_rms_norm_backward, layer_norm, layer_norm_backward,
    qwen2_rms_norm, qwen2_rms_norm_backward, rms_norm, rms_norm_backward,
)
from .table import Implementation as Implementation, best, implementations
from .timing import Limit as Limit, Measurement as Measurement, Race as Race, limit, measure, race
from .truth import (
    Gradients as Gradients, Judgement as Judgement, Mistake as Mistake, OtherBatch as OtherBatch, Reference as Reference,
    judge, judge_backward, reference, reference_backward,
)

# The classes are left out, since they would fill most of help(normlab).
__all__ = [
    "__version__", "batch_norm", "batch_norm_backward", "best", "case", "data", "gated_rms_norm",
    "gated_rms_norm_backward", "implementations", "judge", "judge_backward", "layer_norm", "layer_norm_backward", "limit", "max_threads", "measure", "museum",
    "qwen2_rms_norm", "qwen2_rms_norm_backward", "race", "reference", "reference_backward", "rms_norm",
    "rms_norm_backward",
]
