"""SpreadExplorer as a person uses it: the cloud fills in, follows a slider, is stopped."""

import pytest

pytestmark = pytest.mark.browser

SETUP = """import time
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from cvnb import Family, Recipe, knn
from cvnb.studies import over_seeds
from cvnb.widgets import SpreadExplorer
X, y = load_iris(return_X_y=True)
class Slow(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.02)
        return super().fit(X, y, sample_weight)"""
N_DOTS = "() => document.querySelectorAll('.cvnb-curve .x2y2 .points path').length"
SAME = "print('same', (over_seeds(e.result, 30).risks == e.study.risks).all())"


def said(seen, part, text):
    """Wait until a part of the widget shows a text."""
    seen.page.locator(f".cvnb-{part}:has-text('{text}')").wait_for(timeout=90_000)


def dots(seen, n):
    """Wait until so many seeds are drawn beside the curve, whichever chart draws them."""
    seen.page.wait_for_function(f"n => ({N_DOTS})() === n", arg=n, timeout=60_000)


def test_the_cloud_follows_the_sliders(visit, server, app, scheme):
    """By keyboard; the seeds drawn are those of over_seeds; the copy follows and is reopened."""
    name = f"spread_{app}_{scheme}.ipynb"
    make = "e = SpreadExplorer(knn(k=range(1, 31)), X, y, n=30)\ne"
    server.write(name, [SETUP, make, "1"])
    seen = visit(app, scheme, server).open(name).run()
    said(seen, "spread", "over 30 seeds")
    dots(seen, 30)
    page = seen.page
    page.get_by_label("Outer folds, slider").focus()
    page.keyboard.press("ArrowRight")
    said(seen, "strip", "nested CV (6-fold CV")
    page.get_by_label("Rule").select_option("one_se")
    page.get_by_label("Inner folds", exact=True).fill("4")
    said(seen, "strip", "inside each training part 4-fold CV")
    said(seen, "spread", "over 30 seeds")
    dots(seen, 30)
    seen.shot("spread", page.locator(".cvnb-host"))
    assert "same True" in seen.run_cell(2, SAME)
    assert "one_se" in seen.run_cell(2, "print(e.rule, e.outer, e.inner)")
    page.wait_for_function(
        "() => [...document.querySelectorAll('[class^=cvnb-twin]')].some(copy => "
        "copy.textContent.includes('part 4-fold') && copy.textContent.includes('mean'))",
        timeout=60_000,
    )
    seen.save()
    server.clone(name, "again_" + name)
    again = visit(app, scheme, server)
    again.page.goto(server.address(app, "again_" + name))
    copy = again.page.locator(".jp-OutputArea-output:has-text('over 30 seeds')").first
    copy.wait_for(timeout=60_000)
    assert copy.locator("img").count() == 3 + 2  # dots, curve and cloud
    again.complaints.clear()  # the front end says of every widget that its model is gone


def test_a_slow_cloud_is_run_and_stopped_by_hand(visit, server):
    """Run starts it, dots come one after the other, Cancel keeps them."""
    run = "Recipe(2, 2).run(Family(Slow(), {'strategy': ['prior', 'most_frequent']}), X, y)"
    cells = [SETUP, f"SpreadExplorer({run}, n=5000)"]
    server.write("spread_slow.ipynb", cells)
    seen = visit("lab", "light", server).open("spread_slow.ipynb").run()
    said(seen, "spread", "Press Run")
    seen.page.get_by_role("button", name="Run", exact=True).click()
    said(seen, "status", "of 5000 seeds")
    seen.page.wait_for_function(f"() => ({N_DOTS})() >= 2", timeout=60_000)
    seen.page.get_by_role("button", name="Cancel").click()
    said(seen, "status", "Stopped")
    said(seen, "spread", "seeds of 5000")
    assert seen.page.evaluate(N_DOTS) < 5000
