"""What nbval cannot see: it compares nothing where nothing is stored, and takes a magic's UsageError for plain text."""

import ast
import importlib.util
import json
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SILENT = {"Assign", "AnnAssign", "AugAssign", "Import", "ImportFrom", "Assert", "FunctionDef", "ClassDef"}

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path):
    """(place, source, cell) of each code cell."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(i, "".join(cell["source"]), cell) for i, cell in enumerate(cells) if cell["cell_type"] == "code"]


def tags(cell):
    return cell["metadata"].get("tags", [])


def is_silent(source):
    """Whether nothing is expected below this code: it ends in a statement that shows nothing, or loads an extension."""
    body = ast.parse(TransformerManager().transform_cell(source)).body
    return not body or type(body[-1]).__name__ in SILENT or source.splitlines()[-1].startswith("%load_ext ")


def test_there_are_notebooks():
    """An empty folder would pass every test below."""
    assert NOTEBOOKS


@every_notebook
def test_every_code_cell_was_run(path):
    """A cell that was never run is compared with nothing."""
    cells = code_cells(path)
    assert cells
    assert [i for i, _, cell in cells if cell["execution_count"] is None] == []


@every_notebook
def test_every_code_cell_shows_what_it_should(path):
    """Outputs are there, unless the cell ends in a silent statement or is tagged "no-output"."""
    bare = [
        (i, source)
        for i, source, cell in code_cells(path)
        if not cell["outputs"] and "no-output" not in tags(cell) and not is_silent(source)
    ]
    assert bare == []


@every_notebook
def test_no_cell_complains(path):
    """Nothing on stderr, where a UsageError and a warning go, and no error that is not the cell's purpose."""
    noisy = [
        (i, output)
        for i, _, cell in code_cells(path)
        for output in cell["outputs"]
        if output.get("name") == "stderr" or (output["output_type"] == "error" and "raises-exception" not in tags(cell))
    ]
    assert noisy == []


@every_notebook
def test_no_widget_state_is_stored(path):
    """It is megabytes, and a reopened notebook cannot use it."""
    assert "widgets" not in json.loads(path.read_text(encoding="utf-8"))["metadata"]


@pytest.fixture(scope="module")
def comparison():
    """The functions of notebooks/conftest.py."""
    spec = importlib.util.spec_from_file_location("notebooks_conftest", FOLDER / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("risk 0.25 (k=3)", "risk 0.2500000000001 (k=3)"),
        ("[1.5, -2.5]", "[1.4999999999999, -2.5000000000001]"),
        ("bias 0.0", "bias -1.3e-17"),
        ({"text/html": "<td>0.5</td>"}, {"text/html": "<td>0.5000000000001</td>"}),
        ({"y": [0.5, 1]}, {"y": [0.5000000000001, 1]}),
    ],
)
def test_rounding_noise_is_no_difference(comparison, stored, new):
    """A number of the 9 same digits is taken for the stored one."""
    assert comparison.spelt_as(stored, new) == stored


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("risk 0.25", "risk 0.25000001"),
        ("risk 0.25", "loss 0.2500000000001"),
        ("k=3", "k=4"),
        ("100000000000", "100000000001"),
        ("version 3.11.7", "version 3.11.8"),
        ("0.5 0.5", "0.5"),
        ({"y": [0.5, 1]}, {"y": [0.5, 2]}),
        ({"y": [0.5]}, {"y": [0.5, 0.5]}),
        ({"y": 0.5}, {"y": 0.5, "x": 0.5}),
    ],
)
def test_all_else_is_a_difference(comparison, stored, new):
    """It stays as it is, for nbval to report."""
    assert comparison.spelt_as(stored, new) == new
