"""What a person sees in JupyterLab, Notebook 7 and voila, in the light and in the dark theme."""

import re

import pytest

from front_ends import broken_pictures, contrast

pytestmark = pytest.mark.browser

SETUP = """%load_ext cvnb
import time, numpy as np
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
X, y = load_iris(return_X_y=True)
class Slow(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.1)
        return super().fit(X, y, sample_weight)"""
SLOW = "Family(Slow(), {'strategy': ['prior', 'uniform']})"
RISK = "of new rows misclassified"
LINE = 22.4  # pixels of a line of text in an output


def test_the_stored_quickstart_shows_its_result_without_being_run(
    visit, server, app, scheme
):
    """A cloned notebook is not trusted: its number, pictures, table and notes are there all
    the same, and readable."""
    server.clone("01_quickstart.ipynb", f"cloned_{app}_{scheme}.ipynb")
    seen = visit(app, scheme, server).open(f"cloned_{app}_{scheme}.ipynb")
    output = seen.page.locator(f".jp-OutputArea-output:has-text('{RISK}')").first
    output.wait_for(timeout=20_000)
    assert output.inner_text().splitlines()[1].startswith("4.2 %")
    cells = output.locator("td")
    assert cells.count() == 3 * 3 + 5 * 7  # three dots; five folds, the last cell a bar
    assert min(contrast(cells.nth(i)) for i in (0, 9, 42)) > 4.5
    assert output.locator("img").count() == 5
    assert broken_pictures(output) == []
    seen.shot("stored", output)


def test_a_cell_shows_its_result_and_an_error_in_one_line(visit, server, app, scheme):
    """Run for real: number, pictures, a table at most 25 lines tall in all; one line for a
    mistake."""
    name = f"run_{app}_{scheme}.ipynb"
    cells = [
        SETUP,
        "%%nestedcv X y --outer 5 --inner 5 -o risk\nknn(k=range(1, 31))",
        "%%nestedcv X y --inner 1\nknn()",
    ]
    server.write(name, cells)
    seen = visit(app, scheme, server).open(name).run()
    result = seen.output(RISK)
    assert result.locator("tbody tr").count() == 3 + 5
    assert result.locator("sub").count() > 0
    assert broken_pictures(result) == []
    box = result.bounding_box()
    assert box["width"] <= 1280
    assert box["height"] <= 25 * LINE
    error = seen.page.locator(
        ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error'], .jp-RenderedText"
    )
    assert (
        error.last.inner_text().strip()
        == "NestedCVError: inner=1 leaves no fold to choose on; use inner >= 2."
    )
    seen.shot("result", result)


def test_everything_that_shows_itself_is_shown(visit, server, app, scheme):
    """Comparison, plan, family, recipe, forecast: tables and pictures, nothing as bare text."""
    name = f"others_{app}_{scheme}.ipynb"
    cells = [
        SETUP,
        "%%nestedcv X y\n{'knn': knn(k=[1, 5, 9]), 'tree': tree(max_leaf_nodes=[2, 4])}",
        "%folds X y --outer 4 --inner 3",
        "from cvnb import Recipe, knn\nknn(k=range(1, 9))",
        "Recipe.nested_cv(outer=4)",
        "%%nestedcv X y --dry-run\nknn()",
    ]
    server.write(name, cells)
    seen = visit(app, scheme, server).open(name).run()
    for text in (
        "models on the same splits",
        "Plan of 150 rows",
        "Family knn",
        "nested CV: Recipe(",
        "fits",
    ):
        output = seen.output(text)
        assert output.get_attribute("data-mime-type") in ("text/html", None)
        assert broken_pictures(output) == []
        assert output.bounding_box()["height"] <= 25 * LINE
        seen.shot(text.split()[0], output)


def test_figures_are_drawn(visit, server, app, scheme):
    """plotly's curve, and the nest map whose menu opens an outer split."""
    name = f"figures_{app}_{scheme}.ipynb"
    cells = [
        SETUP,
        "%%nestedcv X y -o risk\nknn(k=range(1, 31))",
        "risk.curve_figure()",
        "risk.nest_figure()",
    ]
    server.write(name, cells)
    seen = visit(app, scheme, server).open(name).run()
    figures = seen.page.locator(".js-plotly-plot")
    figures.nth(1).wait_for(timeout=30_000)
    curve, nest = figures.nth(0), figures.nth(1)
    assert curve.locator(".scatterlayer .trace").count() >= 7
    drawn = nest.locator(".barlayer .point").count()
    assert drawn >= 150 * 5
    nest.scroll_into_view_if_needed()
    nest.locator(".updatemenu-header").click()
    nest.locator(".updatemenu-dropdown-button").nth(1).click()
    seen.page.wait_for_selector("text=inner 4", timeout=10_000)
    seen.shot("nest", nest)
    seen.shot("curve", curve)


@pytest.mark.in_lab
@pytest.mark.parametrize("end", ["finished", "cancelled"])
def test_a_run_in_the_background_leaves_only_its_result(visit, server, app, end):
    """A bar and a Cancel button while it runs; then the result, whole or partial, and
    nothing of the widgets when reopened."""
    name = f"background_{app}_{end}.ipynb"
    n = 3 if end == "finished" else 30
    server.write(
        name,
        [
            SETUP,
            f"%%nestedcv X y --outer {n} --inner 3 --background -o job\n{SLOW}",
            "1 + 1",
        ],
    )
    seen = visit(app, "light", server).open(name).start()
    button = seen.page.locator("button.jupyter-button:has-text('Cancel')")
    button.wait_for(timeout=30_000)
    seen.page.locator("progress[aria-label='share of the run that is done']").wait_for(
        timeout=10_000
    )
    seen.page.locator("text=/so far/").first.wait_for(timeout=30_000)
    seen.shot("background")
    if end == "cancelled":
        button.click()
        words = "outer splits were finished"
        text = seen.output(words).inner_text()
        assert re.search(rf"Interrupted: \d+ of 30 {words}", text)
    else:
        seen.output(RISK)
    assert seen.page.locator("progress").count() == 0
    assert button.count() == 0
    seen.idle()
    seen.save()
    stored = server.clone(name, "again_" + name)
    assert [set(output["data"]) for output in stored["cells"][1]["outputs"]] == [
        {"text/plain", "text/html"}
    ]
    again = visit(app, "dark", server).open("again_" + name)
    assert RISK in again.output(RISK).inner_text()
    assert again.page.locator("text=/model not found|Error displaying/").count() == 0


def test_the_stop_button_leaves_what_was_finished(visit, server, app):
    """A kernel interrupt shows the outer splits that are done and fails the cell."""
    name = f"stop_{app}.ipynb"
    server.write(name, [SETUP, f"%%nestedcv X y --outer 20 --inner 2 -o risk\n{SLOW}"])
    seen = visit(app, "light", server).open(name).start()
    seen.page.locator("progress[aria-label='share of the run that is done']").wait_for(
        timeout=30_000
    )
    seen.command("notebook:interrupt-kernel")
    message = (
        "text=/NestedCVInterrupted: Interrupted: \\d+ of 20 outer splits were finished/"
    )
    seen.page.locator(message).wait_for(timeout=10_000)
    shown = "text=/^Interrupted: \\d+ of 20 outer splits were finished/"
    assert seen.page.locator(shown).first.is_visible()
    assert seen.page.locator("progress").count() == 0


def test_voila_shows_the_result(visit, server):
    """A notebook as a page of its own."""
    iris = "from sklearn.datasets import load_iris\nX, y = load_iris(return_X_y=True)"
    run = "%%nestedcv X y --outer 4 --inner 3\nknn(k=[1, 5, 9])"
    server.write("voila.ipynb", [f"%load_ext cvnb\n{iris}", run])
    seen = visit("voila", "light", server).open("voila.ipynb")
    output = seen.page.locator(f".jp-OutputArea-output:has-text('{RISK}')").first
    output.wait_for(timeout=60_000)
    assert output.locator("tbody tr").count() == 3 + 4
    assert broken_pictures(output) == []
    seen.shot("voila", output)
