"""The notebooks run cell by cell, as in Jupyter. Their outputs are small and do not depend on the machine."""
import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "experiments/notebooks").glob("*.ipynb"))


def cells(path):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(pyplot, "show", lambda: pyplot.close("all"))
    monkeypatch.chdir(path.parent)
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells(path)):
        exec(compile(source(cell), f"{path.name}, cell {number}", "exec"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs(path):
    all_cells = cells(path)
    assert path.stat().st_size < 200_000
    assert [cell["execution_count"] for cell in all_cells] == list(range(1, len(all_cells) + 1))
    outputs = [output for cell in all_cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    for output in outputs:
        text = "".join(output.get("text", ""))
        assert output["output_type"] != "error" and output.get("name") != "stderr", output
        assert not re.search(r"(^|[\s'\"])/\w", text), text  # no path


def test_there_are_notebooks():
    assert NOTEBOOKS
