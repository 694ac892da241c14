"""What a person sees in JupyterLab, in the light and in the dark theme."""

import re

import pytest

pytestmark = pytest.mark.browser

CELLS = "() => window.jupyterapp.shell.currentWidget?.content?.widgets?.map(cell => cell.model.executionCount ?? null)"
IDLE = "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
THEME = "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
COLOURS = """element => {
    const parse = text => text.match(/[0-9.]+/g).map(Number);
    let node = element, back = null;
    while (node && !back) {
        const colour = parse(getComputedStyle(node).backgroundColor);
        if (colour.length === 3 || colour[3] > 0) back = colour;
        node = node.parentElement;
    }
    return [parse(getComputedStyle(element).color), back ?? [255, 255, 255]];
}"""


def open_notebook(page, lab, name, scheme):
    """Open a notebook and wait until it is drawn, in the theme asked for."""
    page.goto(lab.address(name))
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    page.evaluate(THEME, "JupyterLab Dark" if scheme == "dark" else "JupyterLab Light")
    light = "false" if scheme == "dark" else "true"
    page.wait_for_selector(f"body[data-jp-theme-light={light}]", timeout=20_000, state="attached")


def run_all(page, n_cells):
    """Run every cell and wait for the last."""
    page.wait_for_function(IDLE, timeout=60_000)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(
        f"() => {{ const counts = ({CELLS})(); return counts?.length === {n_cells} && !counts.includes(null); }}"
    )
    page.wait_for_function(IDLE, timeout=60_000)


def contrast(page, locator):
    """The WCAG contrast of an element's text on what lies behind it."""

    def luminance(colour):
        channels = [c / 255 for c in colour[:3]]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    text, back = map(luminance, locator.evaluate(COLOURS))
    return (max(text, back) + 0.05) / (min(text, back) + 0.05)


def test_the_stored_quickstart_shows_its_result_without_being_run(page, lab, scheme):
    """A cloned notebook is not trusted: its number, table and notes are there all the same, and readable."""
    open_notebook(page, lab, "01_quickstart.ipynb", scheme)
    output = page.locator(".jp-OutputArea-output:has-text('zero-one risk of the tuned rule')").first
    output.wait_for(timeout=20_000)
    assert re.search(r"0\.0421518", output.inner_text())
    cells = output.locator("td")
    assert cells.count() == 30
    assert min(contrast(page, cells.nth(i)) for i in (0, 5, 29)) > 4.5
    assert page.complaints == []


def test_a_cell_shows_its_result_and_an_error_in_one_line(page, lab, scheme):
    """Run for real: a table for the result, one line for a mistake, nothing in the browser's console."""
    lab.write(
        "run.ipynb",
        [
            "%load_ext cvnb\nfrom sklearn.datasets import load_iris\nX, y = load_iris(return_X_y=True)",
            "%%nestedcv X y --outer 4 --inner 3 -o risk\nknn(k=[1, 5, 9])",
            "%%nestedcv X y --inner 1\nknn()",
        ],
    )
    open_notebook(page, lab, "run.ipynb", scheme)
    run_all(page, 3)
    result = page.locator(".jp-OutputArea-output:has-text('zero-one risk of the tuned rule')").first
    assert result.locator("tbody tr").count() == 4
    assert result.locator("sub").count() > 0
    box = result.bounding_box()
    assert box["width"] <= 1280
    error = page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error'], .jp-RenderedText")
    text = error.last.inner_text().strip()
    assert text == "NestedCVError: inner=1 leaves no fold to choose on; use inner >= 2."
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light"], indirect=True)
def test_the_stop_button_leaves_what_was_finished(page, lab, scheme):
    """A kernel interrupt shows the outer splits that are done and fails the cell."""
    lab.write(
        "stop.ipynb",
        [
            "%load_ext cvnb\nimport time, numpy as np\nfrom sklearn.dummy import DummyRegressor\n"
            "class Slow(DummyRegressor):\n    def fit(self, X, y, sample_weight=None):\n"
            "        time.sleep(0.2)\n        return super().fit(X, y)\n"
            "X, y = np.arange(60.0).reshape(-1, 1), np.sin(np.arange(60.0))",
            "%%nestedcv X y --outer 20 --inner 2 -o risk\nSlow()",
        ],
    )
    open_notebook(page, lab, "stop.ipynb", scheme)
    page.wait_for_function(IDLE, timeout=60_000)
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.locator("progress[aria-label='share of the run that is done']").wait_for(timeout=30_000)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    page.locator("text=/NestedCVInterrupted: Interrupted: \\d+ of 20 outer splits were finished/").wait_for(timeout=10_000)
    assert page.locator("text=/from \\d+ of 20 outer splits \\(interrupted\\)/").first.is_visible()
    assert page.locator("progress").count() == 0
