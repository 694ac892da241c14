"""RecipeBuilder: changes, runs, errors and cancelling at the same time."""

import threading
import time
import warnings

import numpy as np

from cvnb import Recipe, knn, nested_cv
from cvnb.views.phrases import headline
from cvnb.widgets import RecipeBuilder
from cvnb.widgets import builder as builder_module
from iris import X, y
from slow import Slow


def running(builder, outer=12):
    """A slow run with some outer splits finished."""
    builder.family_name, builder.grid, builder.outer = (
        "slow",
        "{'strategy': ['prior', 'uniform']}",
        outer,
    )
    assert builder.wait(60)
    builder.run()
    until = time.monotonic() + 60
    while (
        builder.result is None or len(builder.result.fold_risks) < 2
    ) and time.monotonic() < until:
        time.sleep(0.02)


def test_an_error_while_a_run_goes_on_stays_on_screen(builder):
    """And no number of the run that was stopped comes after it."""
    running(builder)
    builder.outer = 1
    assert builder.wait(60)
    assert "outer=1 leaves no fold" in builder.error
    assert builder.result is None
    assert builder._form.stale == "number map"
    assert builder._form.codes == {}


def test_a_result_that_is_set_while_a_run_goes_on_stays(builder):
    """At once, whatever the run was at."""
    running(builder)
    result = Recipe(3, 2).run(knn(k=[1, 5]), X, y)
    started = time.monotonic()
    builder.result = result
    assert time.monotonic() - started < 2
    time.sleep(0.5)
    assert builder.wait(60)
    assert builder.result is result
    assert builder.recipe == Recipe(3, 2)
    assert headline(result)[0] in builder._strip.value
    assert builder._form.stale == ""


def test_a_new_change_does_not_wait_for_a_long_fit(builder, monkeypatch):
    """The map is the new one's long before the old fit ends."""
    monkeypatch.setattr(Slow, "seconds", 3.0)
    builder.family_name, builder.grid = "slow", ""
    assert builder.wait(60)
    builder.inside = "none"
    assert builder.wait(60)
    builder.run()
    time.sleep(0.3)
    builder.seed = 9
    until = time.monotonic() + 2.0
    while (
        builder.plan != Recipe(5, None, seed=9).plan(X, y) and time.monotonic() < until
    ):
        time.sleep(0.02)
    assert builder.plan == Recipe(5, None, seed=9).plan(X, y)
    assert builder.result is None


def test_cancelling_leaves_no_number_of_an_older_state(builder):
    """A change, and at once a click on Cancel: what is on screen is of the change."""
    builder.seed = 1
    builder.cancel()
    assert builder.wait(60)
    assert builder.plan == Recipe(5, 5, seed=1).plan(X, y)
    assert builder.result.plan == builder.plan
    builder.family_name, builder.grid = "slow", ""
    assert builder.wait(60)
    builder.run()
    time.sleep(0.1)
    assert builder.result is None or builder.result.plan == builder.plan


def test_a_run_that_ends_the_program_ends_itself(builder):
    """SystemExit is said; the next change is computed."""
    builder.family_name, builder.inside = "leaves", "none"
    assert builder.wait(60)
    builder.run()
    assert builder.wait(20)
    assert "SystemExit" in builder.error
    builder.family = knn(k=3)
    assert builder.wait(60)
    assert builder.result is not None


def test_a_change_made_by_an_observer_is_heard(builder):
    """In the worker's thread, too."""
    builder.observe(
        lambda change: setattr(builder, "seed", 5) if change.new is not None else None,
        "result",
    )
    builder.outer = 4
    until = time.monotonic() + 30
    while builder.recipe != Recipe(4, 5, seed=5) and time.monotonic() < until:
        time.sleep(0.02)
    assert builder.wait(60)
    assert builder.recipe == Recipe(4, 5, seed=5)
    assert builder.result.plan == Recipe(4, 5, seed=5).plan(X, y)


def test_the_number_on_screen_is_of_the_controls_on_screen(builder):
    """Fifty changes in a row, some of them wrong: what stands at the end belongs together."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        builder.outer, builder.seed = int(rng.integers(1, 8)), int(rng.integers(20))
        if rng.random() < 0.2:
            builder.cancel()
    assert builder.wait(60)
    if builder.outer < 2:
        assert builder.result is None
        return
    expected = nested_cv(knn(), X, y, outer=builder.outer, inner=5, seed=builder.seed)
    if builder.result.complete:
        assert builder.result.risk == expected.risk
    assert builder.result.plan == expected.plan


def test_a_grid_is_made_by_the_worker(names):
    """A grid that takes long to make holds nobody but who asks for the family; meanwhile
    other controls are heard."""
    begun, go_on = threading.Event(), threading.Event()

    class Slowly:
        def __iter__(self):
            begun.set()
            assert go_on.wait(60)
            return iter(range(1, 8))

    builder = RecipeBuilder(X, y, namespace=names | {"slowly": Slowly()})
    assert builder.wait(60)
    builder.grid = "k=slowly"
    assert begun.wait(60)
    builder.seed = 4
    assert builder._form.values["grid"] == "k=slowly"
    go_on.set()
    assert builder.family.call == knn(k=list(range(1, 8))).call
    assert builder.wait(60)
    assert len(builder.result.settings) == 7
    assert builder.result.plan == Recipe(5, 5, seed=4).plan(X, y)
    builder.grid = "k=slow()"
    assert builder.family.call == knn(k=list(range(1, 8))).call
    assert builder.wait(60)
    assert "the grid has a call, 'slow()'" in builder.error
    assert builder._form.codes == {}
    builder.close()


def test_builders_beside_runs_leave_the_filters_of_warnings(names):
    """Two threads inside warnings.catch_warnings at once left "ignore" behind for good."""
    builder = RecipeBuilder(X, y, namespace=names)
    assert builder.wait(60)
    before = list(warnings.filters)
    for seed in range(40):
        builder.seed = seed
        nested_cv(knn(k=[1, 2, 3]), X, y, seed=seed, progress="off")
    assert builder.wait(60)
    # another thread may take its own filter away meanwhile
    assert [entry for entry in warnings.filters if entry not in before] == []
    builder.close()


def test_changes_that_come_together_are_all_heard(builder):
    """The kernel was busy: the cell of the table and the seed arrive as one message, or as
    two with what was known before."""
    form = builder._form
    form.enter(cell="holdout/folds", seed=3)
    assert builder.recipe == Recipe.cv_test(inner=5, seed=3)
    form.enter(named="4. nested CV")
    form.enter(seed=4)
    assert builder.recipe == Recipe(5, 5, seed=4)
    form.enter(named="2. CV then test", cell="folds/loo")
    assert builder.recipe == Recipe(5, "loo", seed=4)
    assert form.heard == max(n for _, n in form.entered.values())


def test_long_drawing_is_said_and_can_be_left(names, monkeypatch):
    """What is older is dimmed, and Cancel is there."""
    builder = RecipeBuilder(X, y, namespace=names)
    assert builder.wait(60)
    go_on, prepare = threading.Event(), builder_module.prepare
    monkeypatch.setattr(
        builder_module, "prepare", lambda *given: go_on.wait(30) and prepare(*given)
    )
    builder.outer = 4
    until = time.monotonic() + 20
    while not builder._drawing and time.monotonic() < until:
        time.sleep(0.02)
    assert "being drawn" in builder._now.value
    assert builder.result is None
    enabled = {name: enabled for name, _, enabled in builder._form.actions}
    assert enabled == {"run": False, "cancel": True, "keep": False}
    builder.cancel()
    assert "Stopped" in builder._now.value
    go_on.set()
    assert builder.wait(60)
    assert "Stopped" in builder._now.value
    builder.run()
    assert builder.wait(60)
    assert builder.result is not None
    builder.close()
