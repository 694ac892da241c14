"""method="conservative_z" of result.interval: the spread between halves (Nadeau and Bengio)."""

from functools import partial

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedKFold

from cvnb import Recipe, knn, logistic, ridge, tree
from cvnb.errors import CvnbError
from cvnb.results.estimate import record_of
from cvnb.results.resampled.conservative_z import plan_of_halves
from small_tables import classes, numbers


def seeds_of(seed, n):
    return [int(s) % 2**31 for s in np.random.SeedSequence(seed).generate_state(n)]


@pytest.mark.parametrize("m", [60, 61])
@pytest.mark.parametrize("task", ["ridge", "k-NN", "k-NN, dev set", "ridge, splitter"])
def test_it_is_the_spread_between_ordinary_runs_on_both_halves(task, m):
    """Each half is a data set of its own, run by the same recipe with the repeat's seed."""
    X, y = numbers(m) if task.startswith("ridge") else classes(m)
    family = ridge(alpha=[0.1, 10]) if task.startswith("ridge") else knn(k=[1, 4, 9])
    recipe = partial(Recipe, 3, 0.3 if task.endswith("dev set") else 3)
    if task.endswith("splitter"):
        given = Recipe(Folded(), KFold(3))
        recipe = lambda seed: given  # noqa: E731 - it has no use for the seed
    differences = []
    for seed in seeds_of(recipe(seed=7).seed, 4):
        order = np.random.default_rng(seed).permutation(m)
        halves = order[: m // 2], order[m // 2 : 2 * (m // 2)]
        first, second = (
            recipe(seed=seed).run(family, X[np.sort(half)], y[np.sort(half)])
            for half in halves
        )
        differences.append(first.risk - second.risk)
    error = np.sqrt(np.mean(np.square(differences)) / 2)
    result = recipe(seed=7).run(family, X, y)
    found = result.interval(0.9, "conservative_z", n_repeats=4)
    half = stats.norm.ppf(0.95) * error
    expected = max(0, result.risk - half), result.risk + half
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)
    assert "4 repeats, rows halved at random" in found.why


@pytest.mark.parametrize("scoring", ["roc_auc", "r2"])
def test_scores_without_row_losses_have_it_too(scoring):
    """Only the risks of the halves are read; the ends stay in the range of the score."""
    X, y = numbers(60) if scoring == "r2" else classes(60)
    y = y if scoring == "r2" else y == y[0]
    family = ridge(alpha=[0.1, 10]) if scoring == "r2" else knn(k=[1, 4, 9])
    differences = []
    for seed in seeds_of(7, 4):
        order = np.random.default_rng(seed).permutation(60)
        first, second = (
            Recipe(3, 3, seed=seed).run(family, X[half], y[half], scoring=scoring)
            for half in (np.sort(order[:30]), np.sort(order[30:]))
        )
        differences.append(first.risk - second.risk)
    error = np.sqrt(np.mean(np.square(differences)) / 2)
    result = Recipe(3, 3, seed=7).run(family, X, y, scoring=scoring)
    found = result.interval(0.9, "conservative_z", n_repeats=4)
    half = stats.norm.ppf(0.95) * error
    expected = result.score - half, min(1.0, result.score + half)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


def test_a_score_that_a_half_does_not_define_is_refused():
    """Without a positive in a test part scikit-learn's f1 would be 0, with a warning."""
    X, _ = numbers(60)
    y = (np.arange(60) % 8 == 0).astype(int)
    result = Recipe(3, 2).run(knn(k=[1, 3]), X, y, scoring="f1")
    with pytest.raises(
        CvnbError,
        match=r"f1 is not defined on the test part of .* there \(.*\); use fewer",
    ):
        result.interval(method="conservative_z", n_repeats=20)


class Folded:
    """A user's splitter of four parts that do not overlap."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 4

    def split(self, X, y=None, groups=None):
        rows = np.arange(len(X))
        for k in range(4):
            yield rows[rows % 4 != k], rows[rows % 4 == k]


def test_whole_groups_are_halved():
    """No group is in both halves, and no training part shares one with its test part."""
    X, y = numbers(60)
    groups = np.repeat(np.arange(13), [10, *[4] * 11, 6])
    result = Recipe(3, 2).run(ridge(alpha=[0.1, 10]), X, y, groups=groups)
    plan = plan_of_halves(record_of(result), 3)
    assert plan.audit().ok
    halves = [
        np.unique(np.concatenate([test for _, test in plan.outer[a : a + 3]]))
        for a in (0, 3)
    ]
    first, second = (set(groups[half]) for half in halves)
    assert not first & second
    assert len(first) == len(second) == 6
    for half, own in zip(halves, (first, second), strict=True):
        assert set(np.flatnonzero(np.isin(groups, list(own)))) == set(half)
    found = result.interval(method="conservative_z", n_repeats=3)
    assert "groups halved at random" in found.why
    assert "rows of one group taken as one unit" in found.target


def test_its_target_is_the_procedure_at_the_training_size_of_the_run():
    """It covers the procedure; it is much wider than the interval of the tested predictors."""
    X, y = numbers(100)
    result = Recipe(5, 3).run(ridge(alpha=[0.1, 10]), X, y)
    found, narrow = result.interval(method="conservative_z"), result.interval()
    assert found.target.startswith("the procedure at this training size: E[")
    assert "that of half the rows, so it is wide on purpose" in found.why
    assert found.high - found.low > 1.2 * (narrow.high - narrow.low)


def test_a_half_without_a_class_says_what_to_use_instead():
    """Five positives of 60: some half has one class only, which logistic regression refuses."""
    X, _ = numbers(60)
    result = Recipe(2, 2).run(logistic(C=[0.1, 1]), X, (np.arange(60) < 5).astype(int))
    with pytest.raises(
        CvnbError,
        match=r"(?s)'conservative_z' trains on fewer rows than the run, and there every "
        r"setting failed.*Use method='corrected_t'",
    ):
        result.interval(method="conservative_z", n_repeats=20)


REFUSED = {
    "weights": (
        Recipe(3, 3),
        {"sample_weight": np.arange(1.0, 61.0)},
        "these have weights",
    ),
    "time": (Recipe(3, 3, time_ordered=True), {}, "rows in the order of time depend"),
    "overlap": (
        Recipe(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 3),
        {},
        "is for test parts that do not overlap; use outer=5",
    ),
    "one part": (Recipe.cv_test(), {}, "and here is one; use outer=5"),
    "lists": (
        Recipe([(range(30, 60), range(30)), (range(30), range(30, 60))], 3),
        {},
        "splits halves of the rows, for which the outer splits that were given say nothing",
    ),
    "a predefined split": (
        Recipe(PredefinedSplit(np.arange(60) % 3), 3),
        {},
        "splits halves of the rows, for which the outer splits that were given say nothing",
    ),
    "leave-one-out of groups": (
        Recipe(9, 2),
        {"groups": np.arange(60) // 5},
        "method='conservative_z' splits halves of the rows, and one of them cannot be "
        "split: 9 outer folds need 9 groups",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_where_halves_cannot_be_split_alike(case):
    """The message says why and what to use instead."""
    recipe, options, message = REFUSED[case]
    family = tree(max_leaf_nodes=[2, 4]) if case == "weights" else knn(k=[1, 3])
    result = recipe.run(family, *classes(60), **options)
    with pytest.raises(CvnbError, match=message):
        result.interval(method="conservative_z", n_repeats=2)
