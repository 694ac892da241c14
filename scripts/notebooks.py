"""Run the notebooks – all, or those named – and store what they show; what says the same as
before stays as it is stored.

    python scripts/notebooks.py [notebooks/02_*.ipynb ...]

So the diff is empty where nothing changed, also on a processor whose sums end in other
bits. Nothing is written where a cell fails.
"""

import configparser
import copy
import importlib.util
import re
import sys
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError

from execution import NOTEBOOKS, ROOT, read, run

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}
# Of a cell's metadata; the rest is what a front end remembers.
KEPT = {"tags", "jupyter"}
# A widget that is gone; its static copy is stored next to it.
ALIVE = "application/vnd.jupyter.widget-view+json"


def loaded(path):
    """A module by its path."""
    spec = importlib.util.spec_from_file_location(f"notebooks_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


spelt_as = loaded(NOTEBOOKS / "conftest.py").spelt_as


def masks():
    """[(regex, replacement)] of the parts that nbval does not compare either."""
    parser = configparser.ConfigParser(interpolation=None)
    rules = (ROOT / "tests" / "nbval_sanitize.cfg").read_text(encoding="utf-8")
    parser.read_string(rules[rules.index("[") :])
    return [
        (re.compile(parser[name]["regex"]), parser[name]["replace"])
        for name in parser.sections()
    ]


def masked(value):
    """The same without those parts."""
    if isinstance(value, dict):
        return {key: masked(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [masked(inner) for inner in value]
    if isinstance(value, str):
        for regex, replacement in masks():
            value = regex.sub(replacement, value)
    return value


def name_cells(cells):
    """Ids cell-00, cell-01, ... where there is none yet; those that are there stay."""
    taken = [cell.get("id") for cell in cells]
    free = (name for number in range(100) if (name := f"cell-{number:02}") not in taken)
    for place, cell in enumerate(cells):
        if (
            not re.fullmatch(r"cell-\d\d", taken[place] or "")
            or taken[place] in taken[:place]
        ):
            cell.id = next(free)


def tidy(notebook):
    """Take away what says nothing about the notebook: who ran it when, and what changes by
    itself."""
    notebook.metadata = nbformat.from_dict(METADATA)
    name_cells(notebook.cells)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict(
            {key: value for key, value in cell.metadata.items() if key in KEPT}
        )
    for count, cell in enumerate(
        (cell for cell in notebook.cells if cell.cell_type == "code"), start=1
    ):
        cell.execution_count = count
        for output in cell.outputs:
            if "data" in output:
                output.metadata = nbformat.from_dict({})
                output.data.pop(ALIVE, None)
            if output.output_type == "execute_result":
                output.execution_count = count


def keep(stored, new):
    """Put the stored output of a cell in the place of a new one that says the same, number
    by number otherwise."""
    before = {cell.id: cell.get("outputs", []) for cell in stored.cells}
    for cell in new.cells:
        if cell.cell_type == "code" and len(cell.outputs) == len(
            before.get(cell.id, ())
        ):
            pairs = zip(before[cell.id], cell.outputs, strict=True)
            cell.outputs = [
                old if masked(now := spelt_as(old, out)) == masked(old) else now
                for old, out in pairs
            ]
            cell.outputs = [nbformat.from_dict(output) for output in cell.outputs]


def store(path):
    """Whether the file changed by running it."""
    text, notebook = path.read_text(encoding="utf-8"), read(path)
    tidy(notebook)
    stored = copy.deepcopy(notebook)
    try:
        run(notebook, path.parent)
    except CellExecutionError as error:
        failed = next(
            cell.id
            for cell in notebook.cells
            if any(one.output_type == "error" for one in cell.get("outputs", ()))
        )
        sys.exit(f"{failed} fails; {path.name} is left as it was.\n{error}")
    tidy(notebook)
    keep(stored, notebook)
    new = nbformat.writes(notebook).rstrip("\n") + "\n"
    path.write_text(new, encoding="utf-8")
    return new != text


def main(names):
    for path in [Path(name).resolve() for name in names] or sorted(
        NOTEBOOKS.glob("*.ipynb")
    ):
        print(f"{path.name}: ", end="", flush=True)
        print("changed" if store(path) else "as it was", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
