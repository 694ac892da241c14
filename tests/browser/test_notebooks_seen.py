"""Every notebook as a person has it: run in JupyterLab, and exported as a page with the
network cut."""

import json
import re
from pathlib import Path

import pytest

from front_ends import broken_pictures
from scripts_of import script

pytestmark = pytest.mark.browser

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def outputs_of(path):
    """(the notebook's cell, output) of all outputs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        (cell["id"], output)
        for cell in cells
        if cell["cell_type"] == "code"
        for output in cell["outputs"]
    ]


def n_pictures(path):
    html = [
        "".join(output.get("data", {}).get("text/html", ""))
        for _, output in outputs_of(path)
    ]
    return sum(len(re.findall(r"<img\b", one)) for one in html)


# nbval runs and compares every notebook; these three show what a running one may show: results,
# an algorithm that is added, widgets.
RUN = ("01_quickstart",)


@pytest.mark.parametrize("stem", RUN)
def test_a_notebook_runs_in_jupyterlab(visit, server, stem):
    """From the first cell to the last: no error, nothing on stderr, every picture drawn."""
    path = next(path for path in NOTEBOOKS if path.stem == stem)
    name = f"run_{path.name}"
    server.strip(path.name, name)
    seen = visit("lab", "light", server).open(name).run()
    seen.save()
    bad = [
        (cell, output)
        for cell, output in outputs_of(server.folder / name)
        if output["output_type"] == "error" or output.get("name") == "stderr"
    ]
    assert bad == []
    shown = seen.page.locator(".jp-Notebook")
    assert shown.locator("img").count() >= n_pictures(path) > 0
    assert broken_pictures(shown) == []
    seen.shot(path.stem)
    seen.quit()


@every_notebook
def test_an_exported_notebook_asks_nothing_of_another_machine(visit, path, tmp_path):
    """All outputs and pictures are on the page, the answers are folded, and the network is
    not missed; every other notebook is seen in the dark theme."""
    scheme = ("light", "dark")[NOTEBOOKS.index(path) % 2]
    execution = script("execution", "scripts")
    page = tmp_path / "page.html"
    page.write_text(execution.page_of(execution.read(path), scheme), encoding="utf-8")
    seen = visit(scheme=scheme)
    seen.page.goto(page.as_uri())
    assert seen.page.locator(".jp-OutputArea-child").count() == len(outputs_of(path))
    assert seen.page.locator("img").count() == n_pictures(path) > 0
    assert broken_pictures(seen.page) == []
    is_open = seen.page.locator("details[open] > summary").all_inner_texts()
    assert set(is_open) <= {"Tuning curve and row map"}
    for answer in seen.page.locator("details:not([open])").all():
        assert answer.evaluate("one => one.textContent.trim().length > 0")
    seen.shot(f"page_{path.stem}")
