"""Finds frameworks by name, and runs each in its own process."""
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context
from typing import Any, TypeVar

from .adapter import Framework, Missing

TIMED = ("pytorch", "torch_compile", "onnxruntime", "jax", "normlab")
#: The frameworks that --judge judges: without torch.compile, which takes seconds for each shape.
JUDGED = ("pytorch", "onnxruntime", "jax", "jax_stable", "normlab")
NAMES = (*TIMED, "jax_stable", "liger")
ON_GPU = ("pytorch", "torch_compile", "liger")
_CLASSES = {"pytorch": ("pytorch", "PyTorch"), "torch_compile": ("pytorch", "TorchCompile"),
            "liger": ("pytorch", "Liger"), "onnxruntime": ("onnx", "OnnxRuntime"), "jax": ("jax", "Jax"),
            "jax_stable": ("jax", "JaxStable"), "normlab": ("ours", "Normlab")}
Row = TypeVar("Row", bound=Any)
_made: dict[tuple[Any, ...], Framework] = {}


def make(name: str, threads: int, device: str = "cpu") -> Framework:
    """Raises Missing if the framework is not installed or cannot use the device."""
    key = (name, threads, device)
    if key not in _made:
        module, kind = _CLASSES[name]
        if device != "cpu" and module != "pytorch":
            raise Missing(f"{name} runs on the CPU only")
        more = {"device": device} if module == "pytorch" else {}
        _made[key] = getattr(import_module(f"{__package__}.{module}"), kind)(threads, **more)
    return _made[key]


def confine(threads: int) -> None:
    """Limits this process to `threads` CPUs, because JAX uses all allowed CPUs."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def attempt(measure: Callable[[], Row], row: Row) -> Row:
    """Returns what `measure` returns or, if that fails, `row` with the reason. Verdict "skip": software is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return measure()
    except Missing as missing:
        found: Row = row._replace(verdict="skip", why=str(missing))
    except Exception as error:  # a framework's own failure is a result
        found = row._replace(version="-", why=f"{type(error).__name__}: {error}".splitlines()[0][:200])
    return found


def each(function: Callable[..., Any], work: list[tuple[Any, ...]]) -> Iterator[Any]:
    """Yields function(*arguments) for each item of `work`, in one fresh process, because two OpenMP runtimes in a
    process disturb each other's times. A call that kills its process yields the exception."""
    pool = ProcessPoolExecutor(1, get_context("spawn"))
    try:
        for arguments in work:
            try:
                yield pool.submit(function, *arguments).result()
            except BrokenProcessPool as error:
                pool = ProcessPoolExecutor(1, get_context("spawn"))
                yield error
    finally:
        pool.shutdown(cancel_futures=True)
