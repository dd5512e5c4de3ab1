"""help() of every function fits a screen, has numpydoc's sections, and its example runs."""
import doctest
import inspect
import pydoc
from importlib import import_module
from textwrap import wrap

import normlab
import numpy
import pytest

FUNCTIONS = [f for f in map(normlab.__dict__.get, normlab.__all__) if inspect.isfunction(f)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_function(function):
    text = pydoc.plain(pydoc.render_doc(function))
    assert all(len(line) <= 120 for line in inspect.getdoc(function).splitlines())
    assert len(inspect.getdoc(function).splitlines()) + len(wrap(str(inspect.signature(function)), 110)) <= 60
    assert "Union[" not in text and "ndarray[" not in text
    for name in function.__annotations__:
        assert name == "return" or f"{name} : " in text or f"{name}, " in text
    assert function.__annotations__.keys() == {"return"} or all(
        f"{section}\n    ---" in text for section in ("Parameters", "Returns", "Raises", "Examples"))


def test_package():
    """help(normlab) shows the functions, not the methods of classes."""
    text = pydoc.plain(pydoc.render_doc(normlab))
    assert "CLASSES" not in text and all(name in text.split("PACKAGE CONTENTS")[0] for name in ("judge", "race"))


@pytest.mark.parametrize("what", [*FUNCTIONS, "normlab", "normlab.torch"], ids=str)
def test_examples(what):
    if what == "normlab.torch":
        pytest.importorskip("torch")
    what = import_module(what) if isinstance(what, str) else what
    for example in doctest.DocTestFinder(recurse=False).find(what, globs={"normlab": normlab, "numpy": numpy}):
        found = doctest.DocTestRunner(verbose=False).run(example)
        assert not found.failed and (found.attempted or "+SKIP" in example.docstring), example.name
