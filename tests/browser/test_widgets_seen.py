"""The widgets as a person uses them, in JupyterLab and Notebook 7: typed, dragged, run,
cancelled, copied, reopened."""

import re

import pytest

from front_ends import NAMELESS, OVERFLOWING, OVERLAPPING, unfolded

pytestmark = pytest.mark.browser

SETUP = """%load_ext cvnb
import time, numpy as np
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from cvnb import nested_cv, knn
from cvnb.widgets import BoundExplorer, CurveExplorer, NestMap, SpreadExplorer
X, y = load_iris(return_X_y=True)
class Slow(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.05)
        return super().fit(X, y, sample_weight)
slow = Slow()"""
CHANGE = """([label, value]) => {
    const labels = [...document.querySelectorAll('.cvnb-form label')];
    const field = labels.find(one => one.textContent === label).control;
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, value);
    field.dispatchEvent(new Event('input', {bubbles: true}));
    field.dispatchEvent(new Event('change', {bubbles: true}));
}"""


def opened(visit, server, app, scheme, name, *cells):
    """Open a notebook with these cells, run it, and wait for its first widget."""
    server.write(name, [SETUP, *cells])
    seen = visit(app, scheme, server).open(name).run()
    seen.page.locator(".cvnb-host .js-plotly-plot .main-svg").first.wait_for(
        timeout=60_000
    )
    return seen


def settled(seen, text):
    """Wait until the result strip shows a text."""
    seen.page.locator(f".cvnb-strip:has-text('{text}')").wait_for(timeout=60_000)


def risk_of(seen):
    return seen.page.locator(".cvnb-strip span").first.inner_text()


def test_a_recipe_is_built_and_its_copied_code_gives_the_same_number(
    visit, server, app, scheme
):
    """Typed fields, a slider by keyboard, the table, a recipe by name; then the copied cell
    and the copied Python."""
    name = f"builder_{app}_{scheme}.ipynb"
    seen = opened(visit, server, app, scheme, name, "%recipe X y", "1", "2")
    settled(seen, "nested CV (5-fold CV, inside each training part 5-fold CV), seed 0")
    page = seen.page
    unfolded(page)
    page.get_by_label("Outer folds", exact=True).fill("4")
    settled(seen, "nested CV (4-fold CV")
    page.get_by_label("Inner folds, slider").focus()
    page.get_by_label("Inner folds, slider").press("PageUp")
    page.wait_for_function(
        "() => !document.querySelector('.cvnb-strip').textContent.includes('training "
        "part 5-fold CV')"
    )
    page.get_by_label("Seed", exact=True).fill("3")
    settled(seen, "seed 3")
    page.get_by_label("Settings as text").fill("k=range(1, 21)")
    settled(seen, "seed 3")
    page.get_by_label("outside: holdout, inside: K-fold").check()
    settled(seen, "CV then test")
    assert page.get_by_label("Recipe", exact=True).input_value() == "2. CV then test"
    assert page.get_by_label("Outer folds", exact=True).is_hidden()
    page.get_by_label("Recipe", exact=True).select_option("4. nested CV")
    settled(seen, "nested CV (4-fold CV")
    page.wait_for_function(
        "() => document.querySelector('.cvnb-form').dataset.busy !== 'true'"
    )
    shown = risk_of(seen)
    texts = page.locator(".cvnb-codes pre").all_text_contents()
    assert texts[0].startswith("%%nestedcv X y --outer 4 --inner ")
    seen.shot("builder", page.locator(".cvnb-host"))
    assert shown in seen.run_cell(2, texts[0])
    assert shown in seen.run_cell(3, texts[1] + "\nprint(result)")


LEGEND = """() => [...document.querySelectorAll('.cvnb-host')].map(one =>
    [...one.querySelectorAll('.legendtext')].map(text => text.textContent))"""


@pytest.mark.in_lab
def test_a_view_that_is_opened_later_is_the_same(visit, server, app):
    """The figure of a second view has the words of the first, though the builder was
    changed in between."""
    seen = opened(
        visit,
        server,
        app,
        "light",
        f"twice_{app}.ipynb",
        "from cvnb.widgets import RecipeBuilder\nb = RecipeBuilder(X, y)\nb",
        "1",
    )
    seen.page.get_by_label("Outer folds", exact=True).fill("7")
    settled(seen, "nested CV (7-fold CV")
    seen.run_cell(2, "b")
    seen.page.locator(".cvnb-host .js-plotly-plot .main-svg").nth(3).wait_for(
        timeout=60_000
    )
    seen.page.wait_for_function(f"() => (({LEGEND})()[1] ?? []).length > 3")
    same = "([first, second]) => first.join() === second.join()"
    seen.page.wait_for_function(f"() => ({same})(({LEGEND})())")
    first, second = seen.page.evaluate(LEGEND)
    assert first == second
    assert "± 1 sd of the 7 folds" in first


@pytest.mark.in_lab
def test_the_keyboard_reaches_every_kind_of_control(visit, server, app):
    """Arrows and letters are the control's, not commands of the notebook: none moves away,
    cuts or changes a cell."""
    seen = opened(visit, server, app, "light", f"keys_{app}.ipynb", "%recipe X y", "1")
    page, n_cells = seen.page, seen.page.locator(".jp-Notebook .jp-Cell").count()
    unfolded(page)
    page.get_by_label("Seed, slider").click()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    settled(seen, "seed 3")
    page.get_by_label("outside: K-fold, inside: K-fold").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('.cvnb-strip').textContent.includes('leave-one-out')"
    )
    page.get_by_label("Model", exact=True).focus()
    page.keyboard.press("r")
    page.wait_for_function(
        "() => document.querySelector('.cvnb-codes pre').textContent.includes('ridge(')"
    )
    page.get_by_label("In order of time").focus()
    page.keyboard.press("x")
    page.keyboard.press("Space")
    assert page.get_by_label("In order of time").is_checked()
    assert page.locator(".jp-Notebook .jp-Cell").count() == n_cells
    assert page.locator(".cvnb-host .cvnb-form").count() == 1


def test_changes_while_the_kernel_is_busy_are_all_heard(visit, server):
    """A cell of the table, then the seed, while another cell runs: both count."""
    seen = opened(visit, server, "lab", "light", "busy.ipynb", "%recipe X y", "1")
    unfolded(seen.page)
    seen.page.evaluate(
        "() => { const { content } = window.jupyterapp.shell.currentWidget; "
        "content.activeCellIndex = 2; "
        "content.widgets[2].model.sharedModel.setSource('time.sleep(3)'); "
        "window.jupyterapp.commands.execute('notebook:run-cell'); }"
    )
    seen.page.get_by_label("outside: holdout, inside: K-fold").check()
    seen.page.get_by_label("Seed", exact=True).fill("3")
    settled(seen, "CV then test")
    settled(seen, "seed 3")
    assert (
        seen.page.get_by_label("Recipe", exact=True).input_value() == "2. CV then test"
    )


def test_a_kernel_that_left_is_said(visit, server):
    """The controls do nothing any more and show why; the copy is shown; the layout stays."""
    seen = opened(visit, server, "lab", "light", "left.ipynb", "%recipe X y")
    # Once the curve is drawn no message is under way, which a page that restarts would miss.
    settled(seen, "nested CV (5-fold CV")
    seen.page.locator(".cvnb-curve .scatterlayer .trace").nth(6).wait_for(
        timeout=30_000, state="attached"
    )
    before = seen.page.locator(".cvnb-strip").bounding_box()
    seen.page.evaluate(
        "async () => { await "
        "window.jupyterapp.shell.currentWidget.sessionContext.restartKernel(); }"
    )
    seen.page.locator(".cvnb-alert:has-text('run its cell again')").wait_for(
        timeout=30_000
    )
    assert seen.page.locator(".cvnb-form").get_attribute("inert") is not None
    assert seen.page.locator(".cvnb-strip").bounding_box() == before
    seen.shot("restarted", seen.page.locator(".cvnb-host"))


@pytest.mark.in_lab
def test_what_cannot_be_is_said_in_place(visit, server, app):
    """An alert at the control, once; what was on screen is dimmed until it is corrected."""
    seen = opened(visit, server, app, "light", f"wrong_{app}.ipynb", "%recipe X y")
    seen.page.get_by_label("Outer folds", exact=True).fill("300")
    alert = seen.page.locator(
        ".cvnb-alert[role=alert]:has-text('300 outer folds need 300 rows')"
    )
    alert.wait_for(timeout=20_000)
    shown = seen.page.locator(".cvnb-host")
    assert shown.get_by_text("300 outer folds need 300 rows").count() == 1
    folds = seen.page.get_by_label("Outer folds", exact=True)
    assert folds.get_attribute("aria-invalid") == "true"
    assert folds.get_attribute("aria-describedby") == alert.get_attribute("id")
    below = folds.bounding_box()["y"] + folds.bounding_box()["height"]
    assert 0 <= alert.bounding_box()["y"] - below < 20
    seen.page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.cvnb-strip')).opacity < 0.6"
    )
    folds.fill("5")
    seen.page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.cvnb-strip')).opacity === '1'"
    )
    assert alert.count() == 0
    assert folds.get_attribute("aria-invalid") is None


def test_nothing_jumps_when_the_content_changes(visit, server):
    """An error moves no picture; the number and the buttons stay where they are."""
    seen = opened(visit, server, "lab", "light", "still.ipynb", "%recipe X y")
    places = """names => names.map(name => {
        const {x, y, width, height} = document.querySelector(name).getBoundingClientRect();
        return [x, y, width, height];
    })"""
    pictures = [".cvnb-strip", ".cvnb-nest", ".cvnb-curve"]
    settled(seen, "5-fold CV, inside")
    seen.page.locator(".cvnb-curve .scatterlayer .trace").nth(6).wait_for(
        timeout=30_000, state="attached"
    )
    before = seen.page.evaluate(places, pictures)
    buttons = seen.page.evaluate(places, [".cvnb-buttons"])
    folds = seen.page.get_by_label("Outer folds", exact=True)
    folds.fill("900")
    seen.page.locator(".cvnb-alert:has-text('900 outer folds')").wait_for()
    assert seen.page.evaluate(places, pictures) == before
    for value in ("12", "2", "5"):
        folds.fill(value)
        settled(seen, f"({value}-fold CV")
        assert seen.page.evaluate(places, [".cvnb-buttons"]) == buttons
        (top, *_), (now, *_) = before, seen.page.evaluate(places, pictures)
        assert top[:3] == now[:3]


def test_voila_draws_what_the_kernel_drew_before_it_came(visit, server):
    """The page is opened when the notebook has run: curve and number are there, and follow
    the controls."""
    server.write("builder_voila.ipynb", [SETUP, "%recipe X y"])
    seen = visit("voila", "light", server).open("builder_voila.ipynb")
    settled(seen, "nested CV (5-fold CV")
    seen.page.locator(".cvnb-curve .scatterlayer .trace").nth(6).wait_for(
        timeout=30_000, state="attached"
    )
    seen.page.get_by_label("Outer folds", exact=True).fill("7")
    settled(seen, "nested CV (7-fold CV")
    seen.page.locator(".cvnb-curve .legendtext:has-text('sd of the 7 folds')").wait_for(
        timeout=30_000
    )
    seen.page.locator(".cvnb-curve .xtitle:has-text('k')").wait_for(timeout=30_000)
    # what was sent while the page made its widgets: the form sends it again
    known = ("Comm not found", "no comm channel defined")
    lost = [words for words in seen.complaints if words.startswith(known)]
    for words in lost:
        seen.complaints.remove(words)


@pytest.mark.in_lab
def test_a_slow_run_fills_in_and_is_cancelled(visit, server, app):
    """Run, the risk so far, Cancel: what was finished stays on screen."""
    seen = opened(visit, server, app, "light", f"slow_{app}.ipynb", "%recipe X y")
    page = seen.page
    page.get_by_label("Outer folds", exact=True).fill("20")
    page.get_by_label("Model", exact=True).select_option("slow")
    page.get_by_label("Add a setting").select_option("strategy")
    page.get_by_label("strategy: values").fill("prior, uniform")
    page.locator(".cvnb-now:has-text('Not run yet: 220 fits')").wait_for(timeout=20_000)
    assert page.get_by_role("button", name="Cancel").is_disabled()
    page.get_by_role("button", name="Run 220 fits · about").click()
    page.locator(".cvnb-status:has-text('so far')").wait_for(timeout=60_000)
    page.locator(".cvnb-strip:has-text('of 20 outer splits')").wait_for(timeout=60_000)
    page.get_by_role("button", name="Cancel").click()
    page.locator(
        ".cvnb-status:has-text('Stopped; what was finished is shown.')"
    ).wait_for(timeout=20_000)
    assert re.search(
        r"\d+ of 20 outer splits were finished",
        page.locator(".cvnb-strip").inner_text(),
    )
    assert page.get_by_role("button", name="Run 220 fits").is_enabled()


CURVES = """() => [...document.querySelectorAll('.cvnb-curve .scatterlayer path')]
    .map(one => one.getAttribute('d')).join()"""


def test_every_change_of_a_control_repaints_the_curve(visit, server):
    """Thirty changes, one after the other; benchmarks/live.py measures how long each takes."""
    seen = opened(visit, server, "lab", "light", "live.ipynb", "%recipe X y")
    settled(seen, "seed 0")
    seen.page.locator(".cvnb-curve .scatterlayer .trace").nth(6).wait_for(
        timeout=30_000, state="attached"
    )
    for i in range(1, 31):
        before = seen.page.evaluate(CURVES)
        seen.page.evaluate(CHANGE, ["Seed", str(i)])
        seen.page.wait_for_function(f"before => ({CURVES})() !== before", arg=before)
    settled(seen, "seed 30")


@pytest.mark.parametrize("width", [700, 1280])
def test_nothing_overflows_or_overlaps_and_everything_has_a_name(
    visit, server, app, width
):
    """All five widgets, at the width of a narrow and of a wide window; one column where
    there is little room."""
    cells = [
        "%recipe X y",
        "CurveExplorer(nested_cv(knn(), X, y))",
        "NestMap(nested_cv(knn(), X, y))",
        "BoundExplorer()",
        "SpreadExplorer(nested_cv(knn(), X, y), n=20)",
    ]
    server.write(f"layout_{app}_{width}.ipynb", [SETUP, *cells])
    seen = visit(app, "light", server)
    seen.page.set_viewport_size({"width": width, "height": 1400})
    seen.open(f"layout_{app}_{width}.ipynb").run()
    seen.page.locator(".cvnb-host").nth(4).wait_for(timeout=60_000)
    charts = ".cvnb-host:has(.js-plotly-plot .main-svg)"
    seen.page.wait_for_function(
        f"() => document.querySelectorAll('{charts}').length === 3", timeout=60_000
    )
    seen.page.locator(".cvnb-spread:has-text('over 20 seeds')").wait_for(timeout=60_000)
    seen.shot(f"spread_{width}", seen.page.locator(".cvnb-host").nth(4))
    words = ".cvnb-strip:has-text('of new rows misclassified')"
    seen.page.locator(words).nth(1).wait_for(timeout=60_000)
    seen.page.wait_for_timeout(500)  # the figures take the width that they are given
    assert seen.page.evaluate(OVERFLOWING) == []
    assert seen.page.evaluate(OVERLAPPING) == []
    assert seen.page.evaluate(NAMELESS) == []
    assert seen.page.locator(".cvnb-form").count() == 5
    form, shown = (
        seen.page.locator(one).first.bounding_box()
        for one in (".cvnb-form", ".cvnb-strip")
    )
    assert (shown["y"] > form["y"] + form["height"] - 5) == (form["width"] > 330)


def test_a_click_on_the_curve_shows_the_fold_losses(visit, server):
    """CurveExplorer: a click chooses θ, a list steps through the splits."""
    cells = ["explorer = CurveExplorer(nested_cv(knn(k=range(1, 11)), X, y))\nexplorer"]
    seen = opened(visit, server, "lab", "light", "explorer.ipynb", *cells)
    seen.page.locator(".cvnb-losses:has-text('Click on the curve')").wait_for(
        timeout=20_000
    )
    seen.page.evaluate(
        "() => { const plot = document.querySelector('.cvnb-host .js-plotly-plot'); "
        "const curve = plot._fullData.findIndex(one => one.name === 'mean of folds'); "
        "plot.emit('plotly_click', {points: [{curveNumber: curve, pointNumber: "
        "4, x: 5, y: 0.1, data: plot.data[curve], fullData: plot._fullData[curve]}], "
        "event: new MouseEvent('click')}); }"
    )
    seen.page.locator(".cvnb-losses:has-text('k=5')").wait_for(timeout=20_000)
    assert seen.page.locator(".cvnb-losses tbody tr").count() == 5
    seen.page.get_by_label("Fold", exact=True).select_option("fold 3")
    seen.page.locator(".cvnb-losses:has-text('inner fold of fold 3')").wait_for(
        timeout=20_000
    )
    seen.shot("explorer", seen.page.locator(".cvnb-host"))


def test_a_reopened_notebook_shows_the_static_copies(visit, server, app):
    """By somebody else, with no kernel: the last number and pictures stand there, below
    what the front end says of widgets."""
    name = f"reopened_{app}.ipynb"
    seen = opened(
        visit,
        server,
        app,
        "light",
        name,
        "%recipe X y",
        "NestMap(nested_cv(knn(), X, y))",
    )
    settled(seen, "seed 0")
    unfolded(seen.page)
    seen.page.get_by_label("Seed", exact=True).first.fill("8")
    settled(seen, "seed 8")
    seen.page.wait_for_timeout(2500)  # the copy follows within a second
    assert seen.page.locator("[class^=cvnb-twin]").first.is_hidden()
    seen.save()
    server.clone(name, "again_" + name)
    again = visit(app, "dark", server)
    again.page.goto(server.address(app, "again_" + name))
    copy = again.page.locator(".jp-OutputArea-output:has-text('seed 8')").first
    copy.wait_for(timeout=60_000)
    assert "of new rows misclassified" in copy.inner_text()
    assert copy.locator("img").count() >= 2
    again.page.locator(
        ".jp-OutputArea-output:has-text('is trained on in 4 folds')"
    ).first.wait_for(timeout=30_000)
    again.complaints.clear()  # the front end says of every widget that its model is gone
