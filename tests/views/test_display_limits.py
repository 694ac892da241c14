"""Displays of partial, large, failing and long results."""

import re
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from cvnb import Family, Recipe, knn, ridge
from cvnb.views.methods import methods_of
from stopped import shown_part

X, y = load_iris(return_X_y=True)


RNG = np.random.default_rng(0)


def html_of(shown):
    bundle = shown._repr_mimebundle_()
    return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]


@pytest.mark.parametrize(
    ("recipe", "n", "grouped"),
    [
        (Recipe(10, 10), 150, False),
        (Recipe(8, 12), 150, False),
        (Recipe(12, 12), 3_000, True),
    ],
)
def test_no_display_is_larger_than_60_kB(recipe, n, grouped):
    """Ten folds inside ten folds, with groups."""
    plan = recipe.plan(
        RNG.normal(size=(n, 3)),
        RNG.integers(0, 3, n),
        groups=np.arange(n) // 5 if grouped else None,
    )
    assert len(html_of(plan)) < 50_000
    if n < 1000:
        result = recipe.run(
            knn(k=range(1, 31)), RNG.normal(size=(n, 3)), RNG.integers(0, 3, n)
        )
        assert len(html_of(result).encode()) < 60_000


def stopped(recipe, after, family=None):
    """What is shown of a run that was interrupted in the fit of that number."""
    made = []

    class Stopping(DummyRegressor):
        def fit(self, X, y, sample_weight=None):
            made.append(1)
            if len(made) > after:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    families = (
        family(Stopping)
        if family
        else Family(Stopping(), {"strategy": ["mean", "median"]})
    )
    return shown_part(recipe, families, X, X[:, 0])


@pytest.mark.parametrize("recipe", [Recipe(4, 3), Recipe.cv_test(inner=3)], ids=str)
def test_a_result_without_a_number_is_not_called_a_smallest_loss(recipe):
    """Interrupted before the first outer split: not measured, in every display."""
    result = stopped(recipe, 1)
    assert result.risk is None
    for said in (repr(result), html_of(result)):
        assert "not measured, because no outer split was finished" in said
        assert "on the folds that chose" not in said
    assert "Nothing was estimated: the run was interrupted" in methods_of(result)
    assert any(note.startswith("Interrupted: 0 of ") for note in result.notes)
    inner = stopped(Recipe.internal_cv(3), 1)
    assert "Interrupted: nothing was chosen yet." in inner.notes


def test_a_comparison_says_which_families_were_never_run():
    """An interrupt in the first of three."""
    comparison = stopped(
        Recipe(4, 3),
        3,
        lambda kind: {"slow": Family(kind(), {}), "b": ridge(), "c": ridge()},
    )
    assert list(comparison) == ["slow"]
    assert "b: not run, because the run was interrupted before." in repr(comparison)
    assert "c: not run, because the run was interrupted before." in html_of(comparison)


def test_no_address_of_memory_is_shown():
    """Functions and objects in a grid have the same name in every process."""

    class Thing:
        def __call__(self, X):
            return X * 2

    pipeline = Pipeline([("f", FunctionTransformer()), ("m", Ridge())])
    result = Recipe(3, 2).run(
        Family(pipeline, {"f__func": [np.log1p, lambda a: a * 0, Thing()]}), X, X[:, 0]
    )
    for said in (
        repr(result),
        html_of(result),
        result.curve_figure().to_json(),
        methods_of(result),
    ):
        assert not re.search(r" at 0x[0-9a-f]+", said)
    assert "f__func in {log1p, <lambda>, <" in methods_of(result)


def test_many_notes_are_folded():
    """Fifty settings fail, each with words of its own: three are shown, the rest on demand."""

    class Fussy(ClassifierMixin, BaseEstimator):
        def __init__(self, a=0):
            self.a = a

        def fit(self, X, y):
            if self.a % 2:
                raise ValueError(f"a={self.a} {'x' * self.a}")
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    result = Recipe(3, 2).run(Family(Fussy(), {"a": list(range(60))}), X, y)
    assert len(result.notes) > 25
    assert len(repr(result).splitlines()) < 20
    visible = html_of(result).split("<details>")[0]
    assert visible.count(" failed in ") == 2  # after the edge of the grid
    assert all(note.split(":")[0] in html_of(result) for note in result.notes)


def test_drawing_a_large_result_is_quick_work():
    """The map of 400,000 rows needs no sort of all of them for each bar: a tenth of the run
    that made it."""
    rows = RNG.normal(size=(400_000, 20))
    started = time.perf_counter()
    result = Recipe(5, 5).run(ridge(), rows, rows[:, 0] + RNG.normal(size=len(rows)))
    ran = time.perf_counter() - started
    started = time.perf_counter()
    html_of(result)
    assert time.perf_counter() - started < 3 * ran
