"""RecipeBuilder by mouse and by keyboard: widths, themes, names, the order of the tab key."""

from itertools import pairwise

import pytest

from front_ends import NAMELESS, OVERFLOWING, OVERLAPPING, contrast, unfolded

pytestmark = pytest.mark.browser

SETUP = """%load_ext cvnb
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
df = load_breast_cancer(as_frame=True).frame.assign(patient=np.arange(569) // 3)
pipe = make_pipeline(StandardScaler(), SVC())"""
CLIPPED = """() => {
    const host = document.querySelector('.cvnb-host').getBoundingClientRect();
    const walker = document.createTreeWalker(
        document.querySelector('.cvnb-host'), NodeFilter.SHOW_TEXT);
    const range = document.createRange(), found = [];
    for (let node; (node = walker.nextNode());) {
        const is_drawn = node.parentElement.closest('svg, style, option, pre');
        if (!node.textContent.trim() || is_drawn) continue;
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (box.width && (box.right > host.right + 1 || box.left < host.left - 1))
            found.push(node.textContent);
    }
    return found;
}"""
TABBED = """() => {
    const form = document.querySelector('.cvnb-form');
    const all = [...form.querySelectorAll('input, select, button, summary')];
    const seen = all.filter(one => one.checkVisibility({contentVisibilityAuto: true}));
    return seen.map(one => {
        const { x, y, height } = one.getBoundingClientRect();
        return [y + height / 2, x, one.tabIndex];
    });
}"""


def opened(visit, server, scheme, width):
    """The builder of a frame at a width."""
    name = f"form_{scheme}_{width}.ipynb"
    server.write(name, [SETUP, "%recipe df --target target", "1"])
    seen = visit("lab", scheme, server)
    seen.page.set_viewport_size({"width": width, "height": 1600})
    seen.open(name)
    if width < 1000:
        seen.command("application:toggle-left-area")
    seen.run(timeout=120_000)
    seen.page.locator(".cvnb-strip:has-text('misclassified')").wait_for(timeout=60_000)
    seen.page.locator(".cvnb-curve .main-svg").first.wait_for(timeout=60_000)
    return seen


def busy_ended(page):
    page.wait_for_function(
        "() => document.querySelector('.cvnb-form').dataset.busy !== 'true'"
    )


@pytest.mark.parametrize(
    ("width", "theme"), [(400, "light"), (700, "dark"), (1280, "light")]
)
def test_a_pipeline_is_tuned_with_groups_by_mouse(visit, server, width, theme):
    """Model, setting, groups, Run, Keep: nothing overlaps or is cut off, everything has a
    name, and the notebook has the result."""
    seen = opened(visit, server, theme, width)
    page = seen.page
    page.get_by_label("Model", exact=True).select_option("pipe")
    page.get_by_label("Add a setting").select_option(label="svc C")
    page.get_by_label("Keep together").select_option(label="patient (column)")
    page.get_by_role("button", name="Run 180 fits · ").wait_for(timeout=30_000)
    assert "Not run yet: 180 fits of pipe" in page.locator(".cvnb-now").inner_text()
    seen.shot(f"builder_waiting_{width}", page.locator(".cvnb-host"))
    page.get_by_role("button", name="Run 180 fits").click()
    page.locator(".cvnb-strip:has-text('pipe: nested CV')").wait_for(timeout=60_000)
    busy_ended(page)
    page.get_by_role("button", name="Keep", exact=True).click()
    page.locator(".cvnb-status:has-text('in the notebook: risk')").wait_for()
    unfolded(page)
    page.get_by_label("svc C: from").fill("nothing")
    alert = page.locator(".cvnb-alert:has-text('type a number there')")
    alert.wait_for(timeout=20_000)
    seen.shot(f"builder_{width}", page.locator(".cvnb-host"))
    assert page.evaluate(OVERFLOWING) == []
    assert page.evaluate(OVERLAPPING) == []
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(CLIPPED) == []
    for place in (".cvnb-alert", ".cvnb-run", ".cvnb-section", ".cvnb-now"):
        text = page.locator(place).first
        assert not text.inner_text() or contrast(text) > 4.5, place
    said = seen.run_cell(
        2, "type(risk).__name__, len(risk.settings), risk.plan.n_inner"
    )
    assert "('RiskEstimate', 7, 25)" in said


def test_the_tab_key_follows_the_screen(visit, server):
    """From top to bottom, in a line from left to right; a new row is reached, and what is
    typed in it stays."""
    page = opened(visit, server, "light", 1280).page
    unfolded(page)
    page.get_by_label("Add a setting").select_option("k")
    first = page.get_by_label("k: from")
    first.wait_for(timeout=20_000)
    places = page.evaluate(TABBED)
    assert len(places) > 25
    assert all(tab == 0 for *_, tab in places)
    for (y, x, _), (next_y, next_x, _) in pairwise(places):
        assert next_y > y + 8 or (abs(next_y - y) <= 8 and next_x > x)
    page.get_by_label("k: how it is given").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert first.evaluate("one => one === document.activeElement")
    page.keyboard.press("Control+a")
    page.keyboard.type("3")
    page.locator(".cvnb-codes pre:has-text('k=range(3, 51)')").first.wait_for(
        state="attached", timeout=20_000
    )
    assert first.evaluate("one => one === document.activeElement")
    assert first.input_value() == "3"
    page.get_by_role("button", name="remove k").click()
    page.locator(".cvnb-codes pre:has-text('knn()')").first.wait_for(
        state="attached", timeout=20_000
    )
    assert first.count() == 0
