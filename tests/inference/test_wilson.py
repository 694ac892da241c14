"""method="wilson" of result.interval: the score interval of the misclassified share."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import RepeatedKFold

from cvnb import Family, Recipe, knn, ridge, tree
from cvnb.errors import CvnbError
from cvnb.inference import wilson_interval


class Repeats(ClassifierMixin, BaseEstimator):
    """A classifier that predicts the first column of X."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


def run_with(mistakes, recipe, n=60):
    """A run that misclassifies the first rows and no others."""
    y = np.arange(n) % 2
    predicted = np.where(np.arange(n) < mistakes, 1 - y, y)
    return recipe.run(Family(Repeats()), predicted.reshape(-1, 1).astype(float), y)


def closed_form(p, n, z):
    centre, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return (centre - half) / (1 + z**2 / n), (centre + half) / (1 + z**2 / n)


EXTERNAL = Recipe.external_cv(5)
UNEQUAL = Recipe([(range(40, 60), range(40)), (range(40), range(40, 60))], None)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("mistakes", [0, 1, 7, 30, 59, 60])
@pytest.mark.parametrize(
    "recipe",
    [EXTERNAL, Recipe.leave_one_out(), UNEQUAL],
    ids=["K-fold", "leave-one-out", "unequal folds"],
)
def test_wilson_is_the_closed_form_of_the_misclassified_share(recipe, mistakes, level):
    """Over all test rows, equal to scipy.stats.binomtest, also for 0 and n mistakes."""
    found = run_with(mistakes, recipe).interval(level, "wilson")
    z = stats.norm.ppf((1 + level) / 2)
    expected = stats.binomtest(mistakes, 60).proportion_ci(level, method="wilson")
    ends = found.low, found.high
    np.testing.assert_allclose(ends, closed_form(mistakes / 60, 60, z), atol=1e-15)
    np.testing.assert_allclose(ends, expected, rtol=1e-12, atol=1e-15)
    assert 0 <= found.low < mistakes / 60 + 1e-15
    assert mistakes / 60 - 1e-15 < found.high <= 1


@pytest.mark.parametrize("n", [250, 253])
@pytest.mark.parametrize("mistakes", [0, 7, 250])
def test_auto_has_wilsons_ends_where_each_row_is_tested_once(n, mistakes):
    """Also for folds that differ by a row; "bayle" is the method's name."""
    result = run_with(mistakes, EXTERNAL, n)
    expected = wilson_interval(mistakes, n, 0.9)
    for method in ("auto", "bayle", "wilson"):
        found = result.interval(0.9, method)
        assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
    assert result.interval().method == "bayle"


def test_no_mistake_and_nothing_but_mistakes_end_at_0_and_1():
    """The other end stays away from certainty."""
    none, all_ = (run_with(k, EXTERNAL).interval(method="wilson") for k in (0, 60))
    assert none.low == 0.0
    assert 0.05 < none.high == pytest.approx(1 - all_.low)
    assert all_.high == pytest.approx(1.0, abs=1e-15)


def test_wilson_counts_the_rows_of_a_tuned_run():
    """From the predictions of nested CV, and of one test part."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    for recipe in (Recipe(5, 3), Recipe.cv_test()):
        result = recipe.run(knn(k=[1, 3, 5]), X, y)
        tested = np.concatenate([test for _, test in result.plan.outer])
        k = int((result.predictions[tested] != y[tested]).sum())
        expected = stats.binomtest(k, tested.size).proportion_ci(method="wilson")
        found = result.interval(method="wilson")
        assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-12)
        assert found.method == "wilson"
        assert ("each weighted by its test rows" in found.target) == (tested.size == 60)


@pytest.mark.parametrize(("errors", "n"), [(0, 1), (0, 60), (7, 60), (60, 60), (1, 2)])
def test_wilson_interval_is_the_closed_form_of_counts(errors, n):
    """Equal to scipy.stats.binomtest; the ends of certainty are exact."""
    for level in (0.5, 0.95, 0.999):
        found = wilson_interval(errors, n, level)
        expected = stats.binomtest(errors, n).proportion_ci(level, method="wilson")
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
        assert (found[0] == 0) == (errors == 0)
        assert (found[1] == 1) == (errors == n)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 10), "errors=-1 must be a whole number >= 0; wilson_interval counts"),
        ((0.1, 10), "errors=0.1 must be a whole number"),
        ((True, 10), "errors=True must be a whole number"),
        (([0, 1, 1], 3), r"errors=\[0, 1, 1\] must be a whole number"),
        ((float("nan"), 10), "errors=nan must be a whole number"),
        ((0, 0), "n=0 must be a whole number >= 1"),
        ((11, 10), "errors=11 of n=10 rows: there cannot be more mistakes than rows"),
        ((1, 10, 95), "level=95.0 must lie strictly between 0 and 1"),
    ],
)
def test_wilson_interval_refuses_what_is_no_count(arguments, message):
    """A share, a list of losses, more mistakes than rows."""
    with pytest.raises(CvnbError, match=message):
        wilson_interval(*arguments)


REFUSED = {
    "squared loss": (
        ridge(alpha=[1]),
        EXTERNAL,
        {},
        r"method='wilson' counts mistakes and needs 0-1 loss, not squared loss; use "
        "method='auto'",
    ),
    "AUC": (knn(k=3), EXTERNAL, {"scoring": "roc_auc"}, "needs 0-1 loss, not roc_auc"),
    "weights": (
        tree(max_leaf_nodes=[4]),
        EXTERNAL,
        {"sample_weight": np.arange(1.0, 61.0)},
        "counts rows, and these have weights; use method='auto'",
    ),
    "groups": (
        knn(k=3),
        EXTERNAL,
        {"groups": np.arange(60) // 3},
        "these come in groups, so it would be too short; use method='auto'",
    ),
    "overlap": (
        knn(k=3),
        Recipe(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), None),
        {},
        "counts each row once, and these test parts overlap; use method='corrected_t'",
    ),
    "nothing outside": (
        knn(k=[1, 3]),
        Recipe.internal_cv(3),
        {},
        "outer=None measures nothing outside S",
    ),
    "time": (
        knn(k=3),
        Recipe(5, None, time_ordered=True),
        {},
        "rows in the order of time depend on each other",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wilson_is_refused_where_rows_are_no_independent_mistakes(case):
    """The message says why and what to use instead."""
    family, recipe, options, message = REFUSED[case]
    rng = np.random.default_rng(1)
    y = rng.normal(size=60) if case == "squared loss" else np.arange(60) % 2
    result = recipe.run(family, rng.normal(size=(60, 2)), y, **options)
    with pytest.raises(CvnbError, match=message):
        result.interval(method="wilson")
