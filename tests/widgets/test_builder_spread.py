"""The box "100 seeds" of the builder: the cloud of the recipe in the form."""

import time

import numpy as np
import pytest

from cvnb import Recipe, knn, nested_cv
from cvnb.studies import over_seeds
from cvnb.widgets import with_cloud
from iris import X, y
from slow import Slow

GRID = "{'strategy': ['prior', 'most_frequent']}"


@pytest.fixture
def ten(monkeypatch):
    """Ten seeds instead of a hundred."""
    monkeypatch.setattr(with_cloud, "SEEDS", 10)


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def seeds_of(builder):
    """The risks that are shown, once everything is done; [] without a cloud."""
    assert builder.wait(60)
    study = builder._cloud.study
    return [] if study is None else study.risks.tolist()


def expected(result, n=10):
    return over_seeds(result, n).risks.tolist()


def test_the_box_adds_the_cloud_and_takes_it_away(builder):
    """A hundred seeds of the result on screen, which is not run again."""
    result = builder.result
    builder._form.enter(spread=True)
    assert seeds_of(builder) == expected(result, 100)
    assert builder.result is result
    assert len(builder._curve.widget.data) == 14
    assert "over 100 seeds" in builder._cloud.words.value
    assert "values of error rate" in builder.snapshot().html
    assert builder._cloud.words.layout.display is None
    builder._form.enter(spread=False)
    assert seeds_of(builder) == []
    assert len(builder._curve.widget.data) == 10
    assert builder._cloud.words.layout.display == "none"
    assert builder.result is result
    assert "values of error rate" not in builder.snapshot().html


def test_the_cloud_follows_the_sliders_where_the_path_is_fast(builder, ten):
    """Folds, rule and family."""
    builder.spread = True
    builder.outer, builder.inner, builder.select = 4, 3, "one_se"
    result = Recipe(4, 3).run(knn(), X, y, select="one_se")
    assert seeds_of(builder) == expected(result)
    builder.family_name, builder.grid = "ridge", "alpha=[0.1, 1.0]"
    assert seeds_of(builder) == expected(builder.result)
    np.testing.assert_array_equal(
        builder._curve.widget.data[-3].customdata, builder._cloud.study.risks
    )


def test_a_slow_cloud_waits_for_run(builder, monkeypatch, ten):
    """The result stays on screen; Run runs it and its seeds; a change removes both."""
    monkeypatch.setattr(Slow, "seconds", 0.0)
    builder.family_name, builder.grid, builder.outer = "slow", GRID, 3
    builder.run()
    assert builder.wait(60)
    result = builder.result
    builder.spread = True
    assert seeds_of(builder) == []
    assert builder.result is result
    assert "Not run yet: 330 fits of slow. Press Run." in builder._cloud.words.value
    builder.run()
    assert seeds_of(builder) == expected(result)
    builder.seed = 9
    assert builder.wait(60)
    assert builder.result is None
    assert builder._form.stale == "number"


def test_a_box_checked_during_a_run_counts(builder, monkeypatch):
    """The run goes on, and its seeds come after it."""
    monkeypatch.setattr(with_cloud, "SEEDS", 2)
    builder.family_name, builder.grid, builder.outer = "slow", GRID, 4
    builder.inner = 2
    assert builder.wait(60)
    builder.run()  # takes half a second or more
    builder.spread = True
    assert len(seeds_of(builder)) == 2
    assert builder.result.complete


def test_seeds_can_be_cancelled(builder):
    """What is finished is kept, with the result."""
    builder.family_name, builder.grid, builder.outer = "slow", GRID, 2
    builder.spread = True
    builder.run()
    until(lambda: builder._cloud.study is not None)
    builder._clicked(None, {"action": "cancel"}, None)
    shown = seeds_of(builder)
    assert 1 <= len(shown) < 100
    assert shown == expected(builder.result, len(shown))
    assert "Stopped" in builder._form.status
    assert not builder._form.busy
    assert builder.result.complete


def test_unchecking_ends_the_computation(builder):
    """At once; the result stays."""
    builder.family_name, builder.grid, builder.outer = "slow", GRID, 2
    builder.spread = True
    builder.run()
    until(lambda: builder._cloud.study is not None)
    builder.spread = False
    assert seeds_of(builder) == []
    assert builder.result.complete
    assert not builder._form.busy


def test_a_result_that_is_set_gets_a_cloud(builder, ten):
    """Whether the box is checked before or after."""
    for seed in (5, 6):
        result = Recipe(3, 2, seed=seed).run(knn(k=[1, 9]), X, y)
        builder.result = result
        builder.spread = True
        assert seeds_of(builder) == expected(result)
        assert builder.result is result


def test_what_has_no_cloud_is_said_and_keeps_its_result(builder, ten):
    """Nothing measured outside; the alert goes when the box is unchecked."""
    builder.outside = "none"
    builder.spread = True
    assert seeds_of(builder) == []
    assert "nothing was measured outside" in builder._form.error
    assert builder.result is not None
    builder.spread = False
    assert builder.wait(60)
    assert builder._form.error == ""
    builder.spread, builder.outside = True, "folds"
    assert seeds_of(builder) == expected(nested_cv(knn(), X, y))
    assert builder._form.error == ""


def test_what_is_no_yes_or_no_is_refused(builder):
    """The browser may send anything."""
    builder._form.enter(spread="yes")
    assert builder.wait(60)
    assert "spread" in builder._form.error
    assert builder.spread is False


def test_the_code_has_the_seeds(builder, ten):
    """The copied Python gives the risks that are shown; the cell asks for 100."""
    assert "over_seeds" not in builder.to_python()
    builder.spread = True
    shown = seeds_of(builder)
    space = {"X": X, "y": y}
    exec(builder.to_python().replace("n=100", "n=10"), space)
    assert space["seeds"].risks.tolist() == shown
    assert builder.to_cell().splitlines()[0].endswith("--seeds 100")
    assert "--seeds 100" in builder._form.codes["%%nestedcv"]
