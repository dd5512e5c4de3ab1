"""ONNX Runtime: a model of one node, with its input and output bound to memory. Forward only."""
from typing import Any

import numpy as np

from .adapter import Arrays, Layer, Missing, Problem

NODES = {"layernorm": "LayerNormalization", "rmsnorm": "RMSNormalization"}


class OnnxRuntime:
    def __init__(self, threads: int) -> None:
        try:
            import onnx
            import onnxruntime
        except ImportError:
            raise Missing("ONNX Runtime is not installed: pip install onnxruntime onnx") from None
        self.onnx, self.runtime, self.threads = onnx, onnxruntime, threads
        self.version = f"ONNX Runtime {onnxruntime.__version__}"

    def model(self, problem: Problem, parameters: Arrays) -> bytes:
        helper, x = self.onnx.helper, problem.arrays["x"]
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        node = helper.make_node(NODES[problem.op], ["x", *parameters], ["y"], axis=-1, epsilon=problem.eps)
        tensors = [helper.make_tensor_value_info(name, kind, x.shape) for name in "xy"]
        weights = [self.onnx.numpy_helper.from_array(a, name) for name, a in parameters.items()]
        graph = helper.make_graph([node], "norm", tensors[:1], tensors[1:], weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
        return bytes(made.SerializeToString())

    def layer(self, problem: Problem) -> Layer:
        if problem.training or problem.op not in NODES:
            raise Missing(f"ONNX Runtime has no {problem.op} {'training' if problem.training else ''}".strip())
        x = problem.arrays["x"]
        parameters = {"gamma": problem.parameter("gamma")}
        if problem.op == "layernorm":
            parameters["beta"] = problem.parameter("beta")
        known = {name: a if a is not None else np.full(x.shape[1:], name == "gamma", x.dtype)
                 for name, a in parameters.items()}
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = self.threads, 4
        try:
            session = self.runtime.InferenceSession(self.model(problem, known), options, ["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's exceptions have no common class
            raise Missing(f"ONNX Runtime: {str(error).splitlines()[0][:150]}") from None
        y, binding = np.empty_like(x), session.io_binding()
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
        binding.bind_input("x", "cpu", 0, kind, x.shape, x.ctypes.data)
        binding.bind_output("y", "cpu", 0, kind, x.shape, y.ctypes.data)
        run: Any = session.run_with_iobinding

        def outputs(result: Any, keep: Any = x) -> Arrays:  # keeps x alive: the binding points into its memory
            return {"y": y.copy()}

        return Layer(lambda: run(binding), outputs)
