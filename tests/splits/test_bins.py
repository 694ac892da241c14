"""stratify=10: a continuous y in quantile bins, at both levels."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from cvnb import Family, Recipe, Resampling, knn, nested_cv, ridge
from cvnb.errors import CvnbWarning, InfeasibleError, RecipeError
from cvnb.splits.strata import bins_of
from cvnb.studies import learning_curve, null_test, over_seeds
from cvnb.views.methods import methods_of

N = 200


def rows(seed=0, n_rows=N):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 2)), rng.normal(size=n_rows)


def assert_equal_pairs(splits, expected):
    for (train, test), (own_train, own_test) in zip(splits, expected, strict=True):
        assert np.array_equal(train, own_train)
        assert np.array_equal(test, own_test)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(2, 300),
    st.integers(2, 20),
    st.sampled_from(["normal", "ties", "mostly zero", "float32", "whole", "far"]),
)
def test_bins_are_those_of_pandas_qcut(seed, n_rows, n_bins, kind):
    """Also with ties, offsets, whole numbers and float32, bin by bin."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows)
    if kind == "ties":
        y = np.round(y)
    elif kind == "mostly zero":
        y = np.where(rng.random(n_rows) < 0.7, 0.0, y)
    elif kind == "float32":
        y = y.astype(np.float32)
    elif kind == "whole":
        y = rng.integers(-50, 50, n_rows)
    elif kind == "far":
        y = y + 1e6
    edges, codes = bins_of(y, n_bins)
    if edges.size < 2:
        assert np.ptp(y) == 0
        return
    expected = pd.qcut(y, n_bins, labels=False, duplicates="drop")
    assert np.array_equal(codes, expected)


@pytest.mark.parametrize("shuffle", [True, False])
def test_folds_equal_stratified_k_fold_on_the_bins_at_both_levels(shuffle):
    """The bins of all rows serve the inner splits too."""
    X, y = rows()
    bins = pd.qcut(y, 10, labels=False)
    plan = Recipe(outer=5, inner=3, seed=7, stratify=10, shuffle=shuffle).plan(X, y)
    own = {"shuffle": shuffle, "random_state": 7 if shuffle else None}
    assert_equal_pairs(plan.outer, StratifiedKFold(5, **own).split(X, bins))
    own["random_state"] = 8 if shuffle else None
    for j, (train, _) in enumerate(plan.outer):
        inner = StratifiedKFold(3, **own).split(train, bins[train])
        assert_equal_pairs(plan.inner[j], [(train[a], train[b]) for a, b in inner])


def test_groups_get_stratified_group_k_fold_on_the_bins():
    """No group is cut, at both levels."""
    X, y = rows()
    groups = np.random.default_rng(1).integers(0, 60, N)
    bins = pd.qcut(y, 4, labels=False)
    plan = Recipe(outer=4, inner=3, stratify=4).plan(X, y, groups=groups)
    folds = StratifiedGroupKFold(4, shuffle=True, random_state=0)
    assert_equal_pairs(plan.outer, folds.split(X, bins, groups))
    folds = StratifiedGroupKFold(3, shuffle=True, random_state=1)
    for j, (train, _) in enumerate(plan.outer):
        inner = folds.split(train, bins[train], groups[train])
        assert_equal_pairs(plan.inner[j], [(train[a], train[b]) for a, b in inner])
    assert plan.audit().ok


def test_holdouts_equal_stratified_shuffle_split_on_the_bins():
    """One share, and many."""
    X, y = rows()
    bins = pd.qcut(y, 5, labels=False)
    plan = Recipe(outer=Resampling(4, 0.25), inner=None, seed=3, stratify=5).plan(X, y)
    splitter = StratifiedShuffleSplit(4, test_size=50, train_size=150, random_state=3)
    assert_equal_pairs(plan.outer, splitter.split(X, bins))


def test_a_run_equals_grid_searches_on_the_bins():
    """The risk is that of scikit-learn on the same splits."""
    X, y = rows()
    y = y + X @ [1.0, -2.0]
    bins = pd.qcut(y, 8, labels=False)
    grid = {"alpha": [0.1, 10.0, 1000.0]}
    result = Recipe(outer=4, inner=3, stratify=8).run(Family(Ridge(), grid), X, y)
    losses = []
    outer = StratifiedKFold(4, shuffle=True, random_state=0)
    for train, test in outer.split(X, bins):
        inner = StratifiedKFold(3, shuffle=True, random_state=1)
        search = GridSearchCV(
            Ridge(),
            grid,
            cv=list(inner.split(train, bins[train])),
            scoring="neg_mean_squared_error",
        ).fit(X[train], y[train])
        losses.append(np.mean((search.predict(X[test]) - y[test]) ** 2))
    assert np.allclose(result.fold_risks, losses, rtol=1e-9)


def test_the_folds_of_a_grid_search_keep_the_bins_too():
    """cv=3 of a search means three folds, which are drawn here with the bins."""
    X, y = rows()
    recipe = Recipe(outer=4, stratify=5)
    family = Family(GridSearchCV(Ridge(), {"alpha": [1.0, 10.0]}, cv=3))
    drawn = recipe.plan(X, y, family)
    assert drawn == Recipe(outer=4, inner=3, stratify=5).plan(X, y)


@pytest.mark.parametrize("stratify", [0, 1, -3, 2.5, 10.0, "10"])
def test_a_number_of_bins_that_cannot_be_is_refused(stratify):
    """Nothing is split and nothing fitted."""
    with pytest.raises(
        RecipeError, match="must be 'auto', True or False, or a number >= 2"
    ):
        Recipe(stratify=stratify)


class Unfittable(Ridge):
    """Fails the test if anything fits it."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted")


@pytest.mark.parametrize(
    ("n_bins", "options", "words"),
    [
        (201, {}, "stratify=201 bins need 201 rows, but there are 200"),
        (
            50,
            {},
            "has 4 rows, fewer than the 5 outer folds; use outer<=4, or fewer bins",
        ),
        (30, {"inner": 7}, r"fewer than the 7 inner folds \(outer training part 0\)"),
        (
            60,
            {"outer": 0.2, "inner": None},
            "too small for 60 bins; use a larger share or",
        ),
    ],
)
def test_more_bins_than_the_splits_allow_are_refused(n_bins, options, words):
    """The message names the bin and what to type."""
    X, y = rows()
    family = Family(Unfittable(), {"alpha": [1.0, 2.0]})
    if "inner" in options and options["inner"] is None:
        family = Family(Unfittable())
    with pytest.raises(InfeasibleError, match=words):
        Recipe(stratify=n_bins, **options).run(family, X, y)


def test_bins_of_classes_are_refused():
    """A class is no number to cut."""
    with pytest.raises(
        RecipeError, match="y holds classes; use stratify='auto' or True"
    ):
        Recipe(stratify=3).plan(np.zeros((30, 1)), np.repeat(["a", "b"], 15))


def test_bins_of_a_constant_are_refused():
    """One bin holds all rows."""
    with pytest.raises(InfeasibleError, match="one bin holds all rows"):
        Recipe(stratify=3).plan(np.arange(40.0)[:, None], np.full(40, 0.5))


def test_ties_merge_bins_and_the_plan_says_so():
    """Half the rows are zero, so the lower five of ten bins are one."""
    X, y = rows()
    y = np.where(np.arange(N) % 2, 0.0, np.abs(y))
    plan = Recipe(outer=3, inner=2, stratify=10).plan(X, y)
    bins = pd.qcut(y, 10, labels=False, duplicates="drop")
    assert bins.max() + 1 < 10
    assert plan.notes == (
        f"stratify=10: y has equal values across edges, which leave {bins.max() + 1} bins.",
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    assert_equal_pairs(plan.outer, folds.split(X, bins))


def test_bins_in_time_are_refused():
    """Strata would mix times."""
    with pytest.raises(RecipeError, match="stratify=5 would mix times"):
        Recipe(time_ordered=True, stratify=5)


def test_bins_do_not_touch_a_given_splitter():
    """So both together are refused."""
    with pytest.raises(
        RecipeError, match="stratify=5 does not touch outer=StratifiedKFold"
    ):
        Recipe(outer=StratifiedKFold(5), stratify=5)


def test_small_bins_of_groups_are_a_caution():
    """Groups keep the bins as far as they can."""
    X, y = rows(n_rows=40)
    groups = np.arange(40) // 2
    with pytest.warns(
        CvnbWarning, match="8 bins of y with fewer rows than the 4 outer folds"
    ):
        plan = Recipe(outer=4, inner=None, stratify=12).plan(X, y, groups=groups)
    bins = pd.qcut(y, 12, labels=False)
    folds = StratifiedGroupKFold(4, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_equal_pairs(plan.outer, folds.split(X, bins, groups))


def test_what_a_recipe_with_bins_tells():
    """Its repr makes it again; code and methods say it."""
    X, y = rows()
    recipe = Recipe(outer=4, inner=3, stratify=6)
    assert repr(recipe) == "Recipe(outer=4, inner=3, seed=0, stratify=6)"
    assert eval(repr(recipe)) == recipe
    result = recipe.run(ridge(), X, y)
    assert "stratify=6" in result.code()
    assert "6 quantile bins of the target kept in proportion" in methods_of(result)


def test_studies_keep_the_bins():
    """Seeds draw anew, shuffles are binned anew, subsets keep the bins in proportion."""
    X, y = rows()
    recipe = Recipe(outer=4, inner=3, stratify=5)
    result = recipe.run(knn(k=[1, 5, 20]), X, y)
    seeds = over_seeds(result, n=2, progress="off")
    again = Recipe(outer=4, inner=3, stratify=5, seed=2).run(knn(k=[1, 5, 20]), X, y)
    assert seeds.risks[1] == again.risk
    null = null_test(result, n=2, progress="off")
    shuffled = y[null.permutations[1]]
    assert null.risks[1] == recipe.run(knn(k=[1, 5, 20]), X, shuffled).risk
    curve = learning_curve(result, sizes=[50, 150], repeats=1, progress="off")
    bins = pd.qcut(y, 5, labels=False)
    for train, _ in curve.subsets[0][0]:
        counts = np.bincount(bins[train])
        assert counts.max() - counts.min() <= 2


def test_bins_leave_the_default_splits_alone():
    """stratify="auto" draws plain folds of a continuous y, as before."""
    X, y = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        auto = nested_cv(ridge(), X, y, outer=3, inner=2).plan
    assert auto != Recipe(3, 2, stratify=10).plan(X, y)
