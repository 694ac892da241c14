"""prediction_interval: CV+ of the tuned rule for new rows; for classes prediction sets."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvnb import Family, Recipe, knn, ridge
from cvnb.errors import CvnbError
from cvnb.inference import prediction_interval
from cvnb.results.estimate import record_of
from small_tables import classes, numbers

ALPHAS, KS = [0.1, 30.0, 1000.0], [1, 4, 9]


def tuned(X, y, task):
    """scikit-learn's tuned rule, with the inner folds of a recipe of seed 0."""
    if task == "ridge":
        model, grid = Ridge(), {"ridge__alpha": ALPHAS}
        cv, scoring = KFold, "neg_mean_squared_error"
    else:
        model, grid = KNeighborsClassifier(), {"kneighborsclassifier__n_neighbors": KS}
        cv, scoring = StratifiedKFold, "accuracy"
    pipeline = make_pipeline(StandardScaler(), model)
    inner = cv(3, shuffle=True, random_state=1)
    return GridSearchCV(pipeline, grid, cv=inner, scoring=scoring).fit(X, y)


def mapie_plus(X, y, X_new, folds, level):
    """MapieRegressor(method="plus") on these folds, its quantiles as in its source:

    numpy's "lower" quantile at ⌈level (n + 1)⌉ / n, of the negative for the lower end.
    """
    n = y.size
    residuals, fold_of = np.empty(n), np.empty(n, dtype=int)
    predictions = []
    for k, (train, test) in enumerate(folds):
        rule = tuned(X[train], y[train], "ridge")
        residuals[test] = np.abs(y[test] - rule.predict(X[test]))
        fold_of[test] = k
        predictions.append(rule.predict(X_new))
    of_row = np.array(predictions)[fold_of].T  # [new rows, n]
    share = math.ceil(level * (n + 1)) / n
    low = -np.quantile(-(of_row - residuals), share, axis=1, method="lower")
    high = np.quantile(of_row + residuals, share, axis=1, method="lower")
    return low, high


@pytest.mark.parametrize("level", [0.5, 0.8, 0.93])
@pytest.mark.parametrize("m", [40, 43])
def test_intervals_are_those_of_mapie_on_the_same_folds(level, m):
    """Its source as a loop, around GridSearchCV; folds of unequal size too."""
    X, y = numbers(m, 2)
    X_new = np.random.default_rng(9).normal(size=(7, 3))
    result = Recipe(4, 3).run(ridge(alpha=ALPHAS), X, y)
    found = prediction_interval(result, X_new, level)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    expected = mapie_plus(X, y, X_new, folds, level)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    low, high = found
    assert np.all(low < high)


def cv_plus(X, y, x, folds, level):
    """The definition of Barber et al. for one row: sorted lists, and ranks counted from 1."""
    below, above = [], []
    for train, test in folds:
        rule = tuned(X[train], y[train], "ridge")
        at_x = float(rule.predict(x[None])[0])
        for i in test:
            R = abs(y[i] - float(rule.predict(X[i : i + 1])[0]))
            below.append(at_x - R)
            above.append(at_x + R)
    n = len(below)
    from_below, from_above = (
        math.floor((1 - level) * (n + 1)),
        math.ceil(level * (n + 1)),
    )
    low = -math.inf if from_below < 1 else sorted(below)[from_below - 1]
    return low, math.inf if from_above > n else sorted(above)[from_above - 1]


@pytest.mark.parametrize("level", [0.81, 0.95, 0.99])
def test_intervals_are_the_ranks_of_the_definition(level):
    """Also with few rows: 36 rows cannot bound 99 %, so the interval is infinite there."""
    X, y = numbers(36, 5)
    x = np.array([0.5, -1.0, 2.0])
    result = Recipe(3, 3).run(ridge(alpha=ALPHAS), X, y)
    found = prediction_interval(result, x[None], level)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    expected = cv_plus(X, y, x, folds, level)
    assert (found.low[0], found.high[0]) == pytest.approx(expected, rel=1e-9)
    assert np.isfinite(found.low[0]) == (level < 0.97)


@pytest.mark.parametrize("level", [0.6, 0.9])
def test_sets_are_the_ranks_of_the_cross_conformal_definition(level):
    """One class and one new row at a time, with scikit-learn's probabilities; names as classes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = np.array(["ash", "elm", "oak"])[
        np.digitize(3 * X[:, 0] + rng.normal(size=60), [-1.5, 1.5])
    ]
    X_new = rng.normal(size=(9, 3))
    result = Recipe(4, 3).run(knn(k=KS), X, y)
    found = prediction_interval(result, X_new, level)
    scores, of_new = [], []
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        rule = tuned(X[train], y[train], "k-NN")
        columns = list(rule.classes_)
        for i in test:
            p = rule.predict_proba(X[i : i + 1])[0, columns.index(y[i])]
            scores.append(1 - p)
            of_new.append(1 - rule.predict_proba(X_new))
    assert list(found.classes) == columns
    assert len(found) == 9
    for t in range(9):
        kept = [
            name
            for c, name in enumerate(columns)
            if sum(s < own[t, c] for s, own in zip(scores, of_new, strict=True))
            < level * 61
        ]
        assert found[t] == kept
    sizes = found.contains.sum(axis=1)
    assert sizes.min() < 3
    assert f"{sizes.mean():.3g} classes on average" in repr(found)


def test_a_class_that_a_rule_has_never_seen_has_probability_0_there():
    """Three classes by folds that leave one of them out of a training part."""
    X = np.arange(30.0).reshape(-1, 1)
    y = np.repeat([0, 1, 2], 10)
    result = Recipe(KFold(3), None).run(knn(k=3, scale=False), X, y)
    found = prediction_interval(result, [[5.0]], 0.9)
    assert found.contains.shape == (1, 3)
    assert (
        found.contains.all()
    )  # every row was missed by its rule: nothing can be left out


@pytest.mark.parametrize("task", ["ridge", "k-NN"])
def test_new_rows_are_covered(task):
    """400 rows each time, 100 times: about the level, and far above 1 - 2 (1 - level)."""
    covered = []
    for seed in range(100):
        X, y = (numbers if task == "ridge" else classes)(460, seed)
        result = Recipe(4, 3).run(
            ridge(alpha=ALPHAS) if task == "ridge" else knn(k=KS), X[:60], y[:60]
        )
        found = prediction_interval(result, X[60:], 0.8)
        if task == "ridge":
            covered.append((found.low <= y[60:]) & (y[60:] <= found.high))
        else:
            covered.append(found.contains[np.arange(400), y[60:]])
    # k votes are few different scores, and equal ones are kept
    assert 0.78 < np.mean(covered) < (0.9 if task == "ridge" else 0.96)


def test_one_test_part_is_split_conformal():
    """The rule of the learning part, and the errors on the test part alone."""
    X, y = numbers(60, 4)
    result = Recipe.cv_test(3, test=0.4).run(ridge(alpha=ALPHAS), X, y)
    (train, test) = result.plan.outer[0]
    rule = tuned(X[train], y[train], "ridge")
    R = np.sort(np.abs(y[test] - rule.predict(X[test])))[math.ceil(0.8 * 25) - 1]
    found = prediction_interval(result, X[:3], 0.8)
    centre = rule.predict(X[:3])
    np.testing.assert_allclose(found, (centre - R, centre + R), rtol=1e-9)


def test_many_new_rows_are_computed_block_by_block(monkeypatch):
    """The same numbers in blocks of one row."""
    X, y = numbers(40, 2)
    result = Recipe(4, 3).run(ridge(alpha=ALPHAS), X, y)
    whole = prediction_interval(result, X)
    monkeypatch.setattr("cvnb.results.prediction_interval.BLOCK", 1)
    for ends, expected in zip(prediction_interval(result, X), whole, strict=True):
        np.testing.assert_array_equal(ends, expected)


X40, Y40 = numbers(40, 2)
REFUSED = {
    "nothing outside": (
        Recipe.internal_cv(3),
        {},
        {},
        "outer=None tests no row outside",
    ),
    "overlap": (
        Recipe(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 3),
        {},
        {},
        "some rows are in several outer test parts, and CV\\+ takes one error of each row",
    ),
    "time": (Recipe(3, 3, time_ordered=True), {}, {}, "rows in the order of time"),
    "groups": (
        Recipe(3, 3),
        {"groups": np.arange(40) // 4},
        {},
        "rows with groups are not",
    ),
    "weights": (
        Recipe(3, 3),
        {"sample_weight": np.arange(1.0, 41)},
        {},
        "rows with weights are not exchangeable",
    ),
    "a column too few": (
        Recipe(3, 3),
        {},
        {"X_new": X40[:, :2]},
        "X_new has 2 columns, but the rows of the run have 3",
    ),
    "a level of 95": (Recipe(3, 3), {}, {"level": 95}, "level=95.0 must lie strictly"),
    "no rows": (Recipe(3, 3), {}, {"X_new": None}, "X is None"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_exchangeable_or_no_row_is_refused(case):
    """The message says why, and what would work."""
    recipe, options, arguments, message = REFUSED[case]
    result = recipe.run(ridge(alpha=ALPHAS), X40, Y40, **options)
    with pytest.raises(CvnbError, match=message):
        prediction_interval(result, **{"X_new": X40, **arguments})


def test_columns_in_another_order_are_refused():
    """By name, before any fit."""
    X = pd.DataFrame(X40, columns=["a", "b", "c"])
    result = Recipe(3, 3).run(ridge(alpha=ALPHAS), X, Y40)
    with pytest.raises(
        CvnbError, match="column 1 of X_new is 'c', but that of the run is 'b'"
    ):
        prediction_interval(result, X[["a", "c", "b"]])
    found = prediction_interval(result, X)
    plain = prediction_interval(Recipe(3, 3).run(ridge(alpha=ALPHAS), X40, Y40), X40)
    np.testing.assert_allclose(found, plain, rtol=1e-9)


def test_a_classifier_without_probabilities_is_refused():
    """Scores of sets need them."""
    X, y = classes(40)
    result = Recipe(3, 3).run(Family(RidgeClassifier(), {"alpha": [0.1, 1.0]}), X, y)
    with pytest.raises(CvnbError, match="RidgeClassifier has no predict_proba"):
        prediction_interval(result, X)


def test_a_list_of_losses_is_no_result():
    """The message says what it got."""
    with pytest.raises(CvnbError, match="takes the result of a run, got list"):
        prediction_interval([0.1, 0.2], X40)


def test_an_interrupted_run_is_refused():
    """Its rows were not all tested."""
    result = Recipe(3, 3).run(
        Family(DummyRegressor(), {"strategy": ["mean", "median"]}), X40, Y40
    )
    record = record_of(result)
    table = type(record.table)(**{**vars(record.table), "complete": False})
    partial = type(result)(type(record)(**{**vars(record), "table": table}))
    with pytest.raises(
        CvnbError, match="interrupted: rows of the unfinished outer splits"
    ):
        prediction_interval(partial, X40)
