"""The rules for notebooks, which nbval cannot check.

nbval compares nothing where no output is stored, and takes a magic's UsageError for text.
"""

import copy
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import notebook_rules as rules

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    """An empty folder would pass every test below."""
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_every_notebook_keeps_to_every_rule(path, rule):
    """Nothing is found that breaks it."""
    assert rule(path.read_text(encoding="utf-8")) == []


PICTURE = '<img alt="a line" src="data:image/svg+xml;base64,PHN2Zy8+">'
KERNEL = {"kernelspec": rules.KERNEL, "language_info": {"name": "python"}}


def markdown(text):
    return {"cell_type": "markdown", "id": "", "metadata": {}, "source": text}


def code(text, *outputs, **metadata):
    return {
        "cell_type": "code",
        "id": "",
        "metadata": metadata,
        "source": text,
        "outputs": list(outputs),
        "execution_count": 0,
    }


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data):
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {key.replace("_", "/"): text for key, text in data.items()},
    }


def good():
    """A notebook that keeps to every rule."""
    cells = [
        markdown("# Sums"),
        markdown("## One and one are two"),
        code(
            "import numpy as np\nassert 1 + 1 == 2\nprint(2)",
            stream("2 seeds, 20 splits, 0.5 sum, and/or <i>/tmp</i>"),
        ),
        code("picture", shown(text_plain="a line", text_html=PICTURE)),
        code(
            "for seed in range(20):\n    assert np.random.default_rng(seed).random() < 1"
        ),
        markdown("## Exercise: and three?"),
        code("print(3)", stream("3"), jupyter={"source_hidden": True}),
    ]
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place:02}"
    for count, cell in enumerate(
        (cell for cell in cells if cell["cell_type"] == "code"), start=1
    ):
        cell["execution_count"] = count
    return {
        "cells": cells,
        "metadata": copy.deepcopy(KERNEL),
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def written(notebook):
    return json.dumps(notebook) + "\n"


def test_a_good_notebook_breaks_no_rule():
    """The rules can be kept."""
    assert [rule.__name__ for rule in rules.RULES if rule(written(good()))] == []


def change(place, **values):
    return lambda notebook: notebook["cells"][place].update(values)


def output(one):
    return change(2, outputs=[one])


def proven_by(text):
    return lambda notebook: notebook.update(cells=[*notebook["cells"][:2], code(text)])


def version(notebook):
    notebook["metadata"]["language_info"]["version"] = "3.11.7"


def breaks(name, rule, breaking):
    """Add a way to break a rule."""
    BREAKS[name] = (rule, breaking)


def widget_state(notebook):
    notebook["metadata"].update(widgets={})


def only_markdown(notebook):
    notebook.update(cells=notebook["cells"][:2])


ERROR = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
WIDGET = shown(**{"application_vnd.jupyter.widget-view+json": {}})
PLOTLY = shown(**{"application_vnd.plotly.v1+json": {}})
REMOTE = shown(text_html='<img src="https://a.b/c.png">')
SECONDS = shown(text_plain="1") | {"metadata": {"seconds": 1}}
FEW_SEEDS = "for seed in range(1, 20):\n    assert seed"
NO_PROOF = "for seed in range(20):\n    print(seed)"
BREAKS = {}
breaks("one cell not run", rules.was_not_run, change(3, execution_count=None))
breaks("run in another order", rules.was_not_run, change(2, execution_count=7))
breaks("no code at all", rules.was_not_run, only_markdown)
breaks("a print without its text", rules.shows_nothing, change(2, outputs=[]))
breaks(
    "a loop of prints without its text", rules.shows_nothing, change(4, source=NO_PROOF)
)
breaks("a warning", rules.complains, output(stream("DeprecationWarning", "stderr")))
breaks("an error", rules.complains, output(ERROR))
breaks("widget state", rules.needs_more_than_a_page, widget_state)
breaks("a widget", rules.needs_more_than_a_page, output(WIDGET))
breaks("a plotly figure", rules.needs_more_than_a_page, output(PLOTLY))
SCRIPT = output(shown(text_html="<script>1</script>"))
breaks("a script", rules.needs_more_than_a_page, SCRIPT)
breaks("a picture from elsewhere", rules.needs_more_than_a_page, output(REMOTE))
breaks("300 kB", rules.is_large, output(stream("x" * 300_000)))
breaks("an id of chance", rules.would_change_by_itself, change(0, id="3f2a77c1"))
breaks("an id twice", rules.would_change_by_itself, change(0, id="cell-01"))
breaks("a version", rules.would_change_by_itself, version)
TIMES = change(2, metadata={"execution": {}})
breaks("times of execution", rules.would_change_by_itself, TIMES)
breaks("seconds in the metadata", rules.would_change_by_itself, output(SECONDS))
SKIPPING = change(2, source="# NBVAL_IGNORE_OUTPUT\nprint(2)")
breaks("a comment that skips", rules.escapes_comparison, SKIPPING)
TAGGED = change(2, metadata={"tags": ["nbval-skip"]})
breaks("a tag that skips", rules.escapes_comparison, TAGGED)
breaks("a path", rules.tells_of_the_machine, output(stream("/home/me/auto.csv")))
breaks("a path of Windows", rules.tells_of_the_machine, output(stream("C:\\auto.csv")))
breaks("seconds", rules.tells_of_the_machine, output(stream("done in 0.12 s")))
MILLISECONDS = output(shown(text_html="<td>12ms</td>"))
breaks("milliseconds", rules.tells_of_the_machine, MILLISECONDS)
breaks("a claim without proof", rules.claims_without_proof, proven_by("print(2)"))
COMMENTED = proven_by("# assert 1\nprint(2)")
breaks("an assert in a comment", rules.claims_without_proof, COMMENTED)
NO_PICTURE = change(3, outputs=[shown(text_plain="a line")])
breaks("no figure", rules.lacks_a_figure, NO_PICTURE)
breaks("an answer in the open", rules.lacks_an_exercise, change(6, metadata={}))
breaks("no exercise", rules.lacks_an_exercise, change(5, source="## More"))
breaks("nineteen seeds", rules.lacks_other_seeds, change(4, source=FEW_SEEDS))
breaks("seeds that prove nothing", rules.lacks_other_seeds, change(4, source=NO_PROOF))
FORMULA = change(0, source="The risk $\\ell_D$")
breaks("a formula in TeX", rules.needs_mathjax, FORMULA)


@pytest.mark.parametrize(("rule", "breaking"), BREAKS.values(), ids=BREAKS)
def test_a_rule_finds_what_breaks_it(rule, breaking):
    """Each of them can fail."""
    notebook = good()
    breaking(notebook)
    assert rule(written(notebook))


def test_every_rule_is_shown_to_fail():
    """A new rule gets a notebook that breaks it."""
    assert {rule for rule, _ in BREAKS.values()} == set(rules.RULES)


@pytest.fixture(scope="module")
def comparison():
    """The functions of notebooks/conftest.py."""
    spec = importlib.util.spec_from_file_location(
        "notebooks_conftest", FOLDER / "conftest.py"
    )
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


def stored_again(path):
    """What `make notebooks` says of this notebook."""
    command = [sys.executable, str(ROOT / "scripts" / "notebooks.py"), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_running_a_notebook_again_changes_nothing(tmp_path, monkeypatch):
    """Ids, counts and metadata are made once; a number that differs in its last bits keeps
    the text that is stored."""
    path = tmp_path / "sums.ipynb"
    notebook = good()
    notebook["cells"] = [
        code("import os\nprint(0.1 + float(os.environ.get('NOISE', 0)))"),
        code("1 / 4"),
    ]
    for cell in notebook["cells"]:
        del cell["id"]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert stored_again(path).stdout == "sums.ipynb: changed\n"
    first = path.read_text(encoding="utf-8")
    assert rules.was_not_run(first) == rules.would_change_by_itself(first) == []
    assert '"0.1\\n"' in first
    for noise, said in (("1e-13", "as it was"), ("1e-3", "changed")):
        monkeypatch.setenv("NOISE", noise)
        assert stored_again(path).stdout == f"sums.ipynb: {said}\n"
    assert '"0.101\\n"' in path.read_text(encoding="utf-8")


def test_a_cell_that_fails_is_named_and_nothing_is_written(tmp_path):
    """The command fails, and the notebook stays as it is."""
    path = tmp_path / "broken.ipynb"
    path.write_text(
        written(good() | {"cells": [code("1"), code("1 / 0")]}), encoding="utf-8"
    )
    before = path.read_text(encoding="utf-8")
    done = stored_again(path)
    assert done.returncode != 0
    assert "cell-01 fails; broken.ipynb is left as it was." in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert path.read_text(encoding="utf-8") == before
