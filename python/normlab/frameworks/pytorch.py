"""PyTorch: eager, compiled by torch.compile, and with the kernels of Liger-Kernel."""
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from .._arrays import as_array
from .adapter import QUEUED, Arrays, Layer, Missing, Problem


class PyTorch:
    compiled = False

    def __init__(self, threads: int, device: str = "cpu") -> None:
        try:
            import torch
        except ImportError:
            raise Missing("PyTorch is not installed: pip install torch") from None
        if device == "cuda" and not torch.cuda.is_available():
            raise Missing("PyTorch sees no GPU")
        torch.set_num_threads(threads)
        self.torch, self.device = torch, device
        self.version = f"PyTorch {torch.__version__.split('+')[0]}"

    def tensor(self, array: Optional[NDArray[Any]], gradient: bool) -> Any:
        """A copy on the device."""
        if array is None:
            return None
        bits = array.view(np.int16) if array.dtype.name == "bfloat16" else array
        made = self.torch.from_numpy(bits.copy())
        if array.dtype.name == "bfloat16":
            made = made.view(self.torch.bfloat16)
        return made.to(self.device).requires_grad_(gradient)

    def function(self, problem: Problem) -> Callable[..., Any]:
        F, c = self.torch.nn.functional, problem.arrays["x"].shape[1]
        eps = problem.eps
        if problem.op == "layernorm":
            return lambda x, gamma, beta: F.layer_norm(x, (c,), gamma, beta, eps)
        if problem.op == "rmsnorm":
            return lambda x, gamma, beta: F.rms_norm(x, (c,), gamma, eps)
        return lambda x, gamma, beta: F.batch_norm(x, None, None, gamma, beta, True, 0.1, eps)

    def layer(self, problem: Problem) -> Layer:
        torch, training = self.torch, problem.training
        x = self.tensor(problem.arrays["x"], training)
        gamma, beta = (self.tensor(problem.parameter(name), training) for name in ("gamma", "beta"))
        if problem.op == "rmsnorm":
            beta = None
        function = self.function(problem)
        if self.compiled:
            torch.compiler.reset()
            function = torch.compile(function, dynamic=False)
        wait = torch.cuda.synchronize if self.device == "cuda" else lambda: None
        inputs = {name: t for name, t in (("dx", x), ("dgamma", gamma), ("dbeta", beta)) if t is not None}
        dy = self.tensor(problem.arrays["dy"], False) if training else None

        def start() -> Any:
            y = function(x, gamma, beta)
            return (y, *torch.autograd.grad(y, list(inputs.values()), dy)) if training else (y,)

        def call() -> Any:
            result = start()
            wait()
            return result

        def outputs(result: Any) -> Arrays:
            names = ("y", *inputs)
            return {name: np.ascontiguousarray(as_array(t.detach().cpu(), name)) for name, t in zip(names, result)}

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()  # compiles
        return Layer(call, outputs, partial(self.queue, start) if self.device == "cuda" else None)

    def queue(self, start: Callable[[], Any]) -> Callable[[], object]:
        """Calls recorded as a CUDA graph, because starting a kernel from Python can take longer than the kernel."""
        cuda = self.torch.cuda
        stream, graph = cuda.Stream(), cuda.CUDAGraph()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):  # PyTorch requires a warm-up before recording
            for _ in range(3):
                start()
        cuda.current_stream().wait_stream(stream)
        with cuda.graph(graph):
            for _ in range(QUEUED):
                start()

        def replay() -> None:
            graph.replay()
            cuda.synchronize()

        replay()
        return replay


class TorchCompile(PyTorch):
    compiled = True


class Liger(PyTorch):
    """Liger-Kernel's Triton kernels. The casting mode "gemma" rounds once, after the weight."""

    def __init__(self, threads: int, device: str = "cpu") -> None:
        if device != "cuda":
            raise Missing("liger runs on a GPU only: --device cuda")
        super().__init__(threads, device)
        try:
            from liger_kernel.ops import LigerLayerNormFunction, LigerRMSNormFunction
        except ImportError:
            raise Missing("Liger-Kernel is not installed: pip install liger-kernel") from None
        self.layer_norm, self.rms_norm = LigerLayerNormFunction.apply, LigerRMSNormFunction.apply
        self.version = f"Liger-Kernel {version('liger-kernel')}, {self.version}"

    def function(self, problem: Problem) -> Callable[..., Any]:
        eps = problem.eps
        if "gamma" not in problem.arrays:
            raise Missing("Liger-Kernel needs gamma and beta")
        if problem.op == "layernorm":
            return lambda x, gamma, beta: self.layer_norm(x, gamma, beta, eps)
        if problem.op == "rmsnorm":
            return lambda x, gamma, beta: self.rms_norm(x, gamma, eps, 0.0, "gemma", False)
        raise Missing("Liger-Kernel has no batch norm")
