"""cvnb equals scikit-learn and the oracle of naive.py on every row of the table, and
however else they are asked."""

import functools
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ParameterGrid,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import cases
import naive
from cvnb import Family, Recipe
from cvnb.inference import dev_set_bound, dev_set_size

AUTO = Path(__file__).parents[2] / "notebooks" / "data" / "auto.csv"


def assert_close(actual, expected, tolerance=1e-10):
    """Equal to a relative tolerance."""
    np.testing.assert_allclose(
        np.asarray(actual, dtype=float), expected, rtol=tolerance, atol=1e-12
    )


def assert_same(one, other, tolerance=1e-10):
    """Two results with the same choices and, to a tolerance, the same numbers."""
    assert one.settings == other.settings
    assert one.chosen == other.chosen
    assert_close(one.fold_risks, other.fold_risks, tolerance)
    assert_close(one.inner_curves, other.inner_curves, tolerance)


def run(model, recipe, X, y, **options):
    """The result of a model of the table under a recipe."""
    return recipe.run(
        Family(model.estimator, model.grid), X, y, progress="off", **options
    )


@functools.cache
def run_row(row, path="auto"):
    """The result of a row of the table."""
    name, family, recipe = row
    X, y = cases.data(name)
    return run(
        cases.FAMILIES[family], Recipe(**cases.RECIPES[recipe](len(y))), X, y, path=path
    )


def loss_of(score, scoring):
    """The loss that a score of scikit-learn stands for."""
    return 1.0 - score if scoring == "accuracy" else -score


class Reference:
    """cross_validate(GridSearchCV(...)) of scikit-learn, told as losses."""

    def __init__(self, model, X, y, outer, inner, scoring=None):
        scoring = scoring or model.scoring
        search = GridSearchCV(model.estimator, model.grid, cv=inner, scoring=scoring)
        folds = cross_validate(
            search, X, y, cv=outer, scoring=scoring, return_estimator=True
        )
        searches = folds["estimator"]
        self.fold_scores = folds["test_score"]
        self.fold_risks = loss_of(self.fold_scores, scoring)
        self.inner_curves = np.array(
            [loss_of(one.cv_results_["mean_test_score"], scoring) for one in searches]
        )
        self.chosen_index = np.array([one.best_index_ for one in searches])
        self.chosen = [one.best_params_ for one in searches]
        self.settings = searches[0].cv_results_["params"]
        self.risk = self.fold_risks.mean()


def reference_row(row, as_given=False):
    """What scikit-learn gives for a row of the table: on X and y in double precision, which
    the fast paths compute in, or as they are given."""
    return computed_reference(row, as_given)


@functools.cache  # its key is the call as written: with and without a default are two
def computed_reference(row, as_given):
    name, family, recipe = row
    X, y = cases.data(name)
    if not as_given:
        X, y = cases.in_double(X), cases.in_double(y)
    model = cases.FAMILIES[family]
    return Reference(model, X, y, *cases.splitters(model, recipe, len(y)))


def tolerance_to_scikit_learn(name, model):
    """That of the model; but scikit-learn's linear models lose digits to an offset of a million."""
    linear = model.loss == "squared" and "Neighbors" not in repr(model.estimator)
    return 1e-8 if name.startswith("offset") and linear else model.tolerance


def tolerance_to_definition(name, model, result):
    """That of the model; whoever refits loses the digits that scikit-learn loses."""
    refitted = result.path == "refit" or any(
        "were refitted" in note for note in result.notes
    )
    return tolerance_to_scikit_learn(name, model) if refitted else model.tolerance


def assert_equals_scikit_learn(result, expected, tolerance=1e-10):
    """Settings, choices, inner curves, fold losses and their mean."""
    assert list(result.settings) == list(expected.settings)
    assert_close(result.inner_curves, expected.inner_curves, tolerance)
    assert np.asarray(result.chosen_index).tolist() == expected.chosen_index.tolist()
    assert list(result.chosen) == list(expected.chosen)
    assert_close(result.fold_risks, expected.fold_risks, tolerance)
    assert_close(result.risk, expected.risk, tolerance)


def naive_of(model, result, X, y, loss=None, weights=None, plug_in=None):
    """The oracle's numbers on the splits of a result."""
    inner = (
        None
        if result.inner_curves is None
        else [list(splits) for splits in result.plan.inner]
    )
    outer, loss = list(result.plan.outer), loss or model.loss
    settings = naive.settings_of(model.grid)
    return naive.nested(
        plug_in or model.plug_in, settings, X, y, outer, inner, loss, weights
    )


def assert_equals_naive(result, expected, tolerance=1e-10):
    """Choices, inner curves, fold losses, their mean, and the outer curves where they are known."""
    if result.inner_curves is not None:
        assert_close(result.inner_curves, expected.inner_curves, tolerance)
    assert np.asarray(result.chosen_index).tolist() == expected.chosen_index.tolist()
    assert_close(result.fold_risks, expected.fold_risks, tolerance)
    assert_close(result.risk, expected.risk, tolerance)
    if result.outer_curves is not None:
        assert_close(result.outer_curves, expected.outer_curves, tolerance)
        assert_close(result.flat, expected.flat, tolerance)
        assert_close(result.optimism, expected.optimism, 1e-8)


# The table


DETERMINED = [row for row in cases.TABLE if not cases.undetermined(row)]
WITH_PLUG_IN = [row for row in DETERMINED if cases.FAMILIES[row[1]].plug_in]
each_row = functools.partial(pytest.mark.parametrize, "row", ids="-".join)


def is_narrow(row):
    """Whether X or y of a row are floats of fewer than 64 bits."""
    return "float" in row[0]


def has_numbers(row):
    """Whether the targets of a row are numbers, not classes."""
    return cases.FAMILIES[row[1]].loss == "squared"


@each_row(DETERMINED)
def test_every_row_equals_scikit_learn(row):
    """The path that is chosen for a family gives scikit-learn's numbers."""
    tolerance = tolerance_to_scikit_learn(row[0], cases.FAMILIES[row[1]])
    assert_equals_scikit_learn(run_row(row), reference_row(row), tolerance)


# scikit-learn's regressors end their iterations and means in the precision of float32
@each_row([row for row in cases.TABLE if not (is_narrow(row) and has_numbers(row))])
def test_every_row_refitted_equals_scikit_learn(row):
    """Refitting every setting gives scikit-learn's numbers."""
    result = run_row(row) if run_row(row).path == "refit" else run_row(row, "refit")
    assert_equals_scikit_learn(result, reference_row(row, as_given=is_narrow(row)))


@each_row([row for row in cases.TABLE if is_narrow(row) and "tree" not in row[1]])
def test_narrow_floats_are_noted_once(row):
    """float16 and float32 take the fast path, whose one note on them names X and y."""
    result = run_row(row)
    (note,) = [note for note in result.notes if "float" in note]
    assert note.endswith(
        ": computed in double precision, as scikit-learn computes on float64."
    )
    for values, name in zip(cases.data(row[0]), "Xy", strict=True):
        narrow = cases.in_double(values) is not values
        assert (f"{name} is {values.dtype}" in note) == narrow
    assert result.path != "refit"
    assert "offset" in row[0] or not any("refitted" in note for note in result.notes)


@each_row(WITH_PLUG_IN)
def test_every_row_equals_its_definition(row):
    """Loops over rows, settings and splits give the same numbers."""
    X, y = cases.data(row[0])
    model, result = cases.FAMILIES[row[1]], run_row(row)
    assert_equals_naive(
        result,
        naive_of(model, result, X, y),
        tolerance_to_definition(row[0], model, result),
    )


@each_row(
    [
        row
        for row in cases.TABLE
        if cases.undetermined(row) and not row[1].startswith("scaled")
    ]
)
def test_equal_distances_go_to_the_smaller_row_number(row):
    """Where rows are equally far, the neighbours follow the definition's rule, or on refit
    are scikit-learn's."""
    X, y = cases.data(row[0])
    result = run_row(row)
    if result.path == "refit":
        assert_equals_scikit_learn(result, reference_row(row))
    else:
        assert_equals_naive(result, naive_of(cases.FAMILIES[row[1]], result, X, y))


@each_row([row for row in DETERMINED if row[1].startswith("knn")])
def test_rows_said_to_be_free_of_equal_distances_are(row):
    """No test row of the table is equally far from two unlike rows."""
    X = np.unique(cases.data(row[0])[0].astype(float), axis=0)
    for setting in naive.settings_of(cases.FAMILIES[row[1]].grid):
        metric, p = setting.get("metric", "minkowski"), setting.get("p", 2)
        for t, x in enumerate(X):
            d = np.sort(naive.distances(np.delete(X, t, axis=0), x, metric, p))
            assert (np.diff(d) > 1e-9 * d[1:]).all()


def test_rounding_does_not_break_a_tie():
    """Accuracies .1, .2, .3 and .3, .2, .1 of two settings are a tie, and the first in the
    grid's order wins."""
    y = np.concatenate(
        [
            np.repeat([0, 1, 2], counts)
            for counts in ([1, 3, 6], [2, 2, 6], [3, 1, 6], [5, 5, 5])
        ]
    )
    folds = np.split(np.arange(45), [10, 20, 30])
    outer = [(np.arange(30), folds[3])]
    inner = [[(np.setdiff1d(np.arange(30), test), test) for test in folds[:3]]]
    for order in ([0, 1], [1, 0]):
        family = Family(DummyClassifier(strategy="constant"), {"constant": order})
        result = Recipe(outer=outer, inner=inner).run(
            family, np.zeros((45, 1)), y, progress="off"
        )
        assert result.chosen == [{"constant": order[0]}]


# Ways to say the same splits


SOME = ["scaled knn votes", "knn means", "ridge", "scaled ridge", "tree", "svc"]


def some_data(family):
    """A data set without equal distances for a family."""
    return cases.data(
        "plain / numbers"
        if cases.FAMILIES[family].loss == "squared"
        else "plain / words"
    )


@pytest.mark.parametrize("family", SOME)
def test_lists_of_row_numbers_equal_the_splitters_that_drew_them(family):
    """Explicit lists at both levels, in row numbers of the whole data, give bit-equal numbers."""
    X, y = some_data(family)
    model = cases.FAMILIES[family]
    drawn = run(
        model,
        Recipe(outer=ShuffleSplit(3, test_size=0.3, random_state=0), inner=KFold(3)),
        X,
        y,
    )
    outer, inner = list(drawn.plan.outer), [list(splits) for splits in drawn.plan.inner]
    given = run(model, Recipe(outer=outer, inner=inner), X, y)
    assert_same(given, drawn, tolerance=0)


def test_inner_splits_count_positions_in_the_order_of_an_unsorted_training_part():
    """The plan's inner splits are the inner splitter's positions within the outer training
    rows as drawn."""
    X, y = cases.data("plain / numbers")
    outer, inner = ShuffleSplit(3, test_size=0.3, random_state=0), KFold(4)
    plan = Recipe(outer=outer, inner=inner).plan(X, y)
    for j, (train, test) in enumerate(outer.split(X)):
        assert np.array_equal(
            np.concatenate(plan.outer[j]), np.concatenate([train, test])
        )
        for k, (inner_train, inner_test) in enumerate(inner.split(train)):
            assert np.array_equal(
                np.sort(plan.inner[j][k][0]), np.sort(train[inner_train])
            )
            assert np.array_equal(
                np.sort(plan.inner[j][k][1]), np.sort(train[inner_test])
            )


def any_splits(rng, rows, least):
    """One to three splits of some of these rows in any order, with at least so many of them
    for training."""
    splits = []
    for _ in range(rng.integers(1, 4)):
        order = rng.permutation(rows)
        n_train = rng.integers(least, len(rows))
        splits.append(
            (order[:n_train], order[n_train : rng.integers(n_train, len(rows)) + 1])
        )
    return splits


@pytest.mark.parametrize(
    "family",
    ["knn votes", "knn means weights", "scaled knn means", "ridge", "scaled ridge"],
)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_disjoint_splits_equal_the_definition(family, seed):
    """Overlapping test parts, unused rows and rows in any order are used exactly as given."""
    rng, (X, y) = np.random.default_rng(seed), some_data(family)
    outer = any_splits(rng, np.arange(len(y)), 16)
    inner = [any_splits(rng, train, 8) for train, _ in outer]
    result = run(cases.FAMILIES[family], Recipe(outer=outer, inner=inner), X, y)
    assert_equals_naive(result, naive_of(cases.FAMILIES[family], result, X, y))


@pytest.mark.parametrize("family", ["knn votes", "scaled ridge", "svc"])
def test_a_grid_search_is_taken_as_it_is(family):
    """The estimator, grid, inner splitter and metric of a GridSearchCV are those of the run."""
    X, y = some_data(family)
    model = cases.FAMILIES[family]
    search = GridSearchCV(
        model.estimator, model.grid, cv=KFold(3), scoring=model.scoring
    )
    outer = KFold(4, shuffle=True, random_state=1)
    result = Recipe(outer=outer).run(Family(search), X, y, progress="off")
    assert_equals_scikit_learn(result, Reference(model, X, y, outer, KFold(3)))


def test_the_metric_of_a_grid_search_is_used():
    """A GridSearchCV with scoring="f1_macro" is chosen and measured by it."""
    X, y = some_data("tree")
    model = cases.FAMILIES["tree"]
    search = GridSearchCV(model.estimator, model.grid, cv=KFold(3), scoring="f1_macro")
    result = Recipe(outer=KFold(4)).run(Family(search), X, y, progress="off")
    expected = Reference(model, X, y, KFold(4), KFold(3), scoring="f1_macro")
    assert_equals_scikit_learn(result, expected)
    assert_close(result.fold_scores, expected.fold_scores)


# scikit-learn by explicit loops, where its search does not reach


def fitted(model, setting, X, y, train, weights=None):
    """A clone with this setting, fitted on the training rows, weights going to the final step."""
    estimator = clone(model.estimator).set_params(**setting)
    name = (
        f"{estimator.steps[-1][0]}__sample_weight"
        if isinstance(estimator, Pipeline)
        else "sample_weight"
    )
    return estimator.fit(
        X[train], y[train], **({} if weights is None else {name: weights[train]})
    )


def loss_on(model, setting, X, y, split, weights=None):
    """Weighted fold loss of one fit."""
    train, test = split
    predictions = fitted(model, setting, X, y, train, weights).predict(X[test])
    losses = naive.row_losses(model.loss, y[test], predictions)
    return naive.weighted_mean(losses, None if weights is None else weights[test])


def assert_equals_loops(model, result, X, y, outer, inner, weights=None):
    """Inner curves, choices and fold losses of scikit-learn's estimators fitted one by one."""
    settings = list(ParameterGrid(model.grid))
    for j, split in enumerate(outer):
        curve = [
            np.mean([loss_on(model, s, X, y, one, weights) for one in inner[j]])
            for s in settings
        ]
        chosen = naive.select(curve, model.loss)
        assert_close(result.inner_curves[j], curve)
        assert result.chosen_index[j] == chosen
        assert_close(
            result.fold_risks[j], loss_on(model, settings[chosen], X, y, split, weights)
        )


def inner_rows(inner, outer, X, y, groups=None):
    """Inner splits of a splitter in row numbers of the whole data."""
    splits = []
    for train, _ in outer:
        drawn = inner.split(
            X[train], y[train], None if groups is None else groups[train]
        )
        splits.append([(train[one], train[other]) for one, other in drawn])
    return splits


GROUPED = {
    "given": (
        "knn votes",
        {"outer": GroupKFold(4), "inner": GroupKFold(3)},
        GroupKFold(4),
        GroupKFold(3),
    ),
    "numbers": (
        "scaled ridge",
        {"outer": 4, "inner": 3, "seed": 5},
        GroupKFold(4, shuffle=True, random_state=5),
        GroupKFold(3, shuffle=True, random_state=6),
    ),
    "classes": (
        "svc",
        {"outer": 4, "inner": 3},
        StratifiedGroupKFold(4, shuffle=True, random_state=0),
        StratifiedGroupKFold(3, shuffle=True, random_state=1),
    ),
}


@pytest.mark.parametrize(
    ("family", "keywords", "outer", "inner"), GROUPED.values(), ids=GROUPED
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_groups_reach_both_levels(family, keywords, outer, inner, dtype):
    """Grouped folds, given or counted, are scikit-learn's own outside and inside."""
    X, y = some_data(family)
    given, X = X.astype(dtype), X.astype(dtype).astype(np.float64)
    groups = np.random.default_rng(1).integers(0, 14, len(y))
    model = cases.FAMILIES[family]
    result = run(model, Recipe(**keywords), given, y, groups=groups)
    outer = list(outer.split(X, y, groups))
    assert_equals_loops(
        model, result, X, y, outer, inner_rows(inner, outer, X, y, groups)
    )


WEIGHTED = [
    "ridge",
    "ridge intercepts",
    "smoothed bayes",
    "scaled smoothed bayes",
    "scaled ridge",
    "least squares",
    "tree",
    "tree means",
    "logistic on components",
    "least squares on components",
]


def weights_of(y):
    """Weights between 0 and 3, some of them 0."""
    rng = np.random.default_rng(2)
    return np.where(rng.random(len(y)) < 0.1, 0.0, rng.uniform(0.2, 3.0, len(y)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("family", WEIGHTED)
def test_weights_equal_weighted_fits_of_scikit_learn(family, dtype):
    """Weights go to the final step's fit and to the fold losses, and to nothing else."""
    X, y = some_data(family)
    given, X = X.astype(dtype), X.astype(dtype).astype(np.float64)
    model, weights = cases.FAMILIES[family], weights_of(y)
    result = run(model, Recipe(outer=5, inner=3), given, y, sample_weight=weights)
    outer, inner = cases.splitters(model, "5 x 3", len(y))
    outer = list(outer.split(X, y))
    assert_equals_loops(
        model, result, X, y, outer, inner_rows(inner, outer, X, y), weights
    )


@pytest.mark.parametrize(
    "family", ["ridge", "scaled ridge", "least squares", "scaled least squares"]
)
@pytest.mark.parametrize(
    "name", ["plain / numbers", "wide / numbers", "offset / numbers"]
)
def test_weights_equal_the_definition(family, name):
    """Weighted penalised least squares and weighted fold losses are those of the oracle."""
    X, y = cases.data(name)
    model, weights = cases.FAMILIES[family], weights_of(y)
    if (family, name) == ("least squares", "offset / numbers"):
        model = model._replace(
            grid={"fit_intercept": [True, True]}
        )  # without one, scikit-learn takes the columns for one
    result = run(model, Recipe(outer=5, inner=3), X, y, sample_weight=weights)
    tolerance = tolerance_to_definition(name, model, result)
    assert_equals_naive(
        result, naive_of(model, result, X, y, weights=weights), tolerance
    )


# Metrics


METRICS = [
    ("accuracy", "knn votes", "plain / words"),
    ("f1_macro", "scaled knn votes", "plain / words"),
    ("f1_macro", "tree", "plain / classes"),
    ("neg_log_loss", "logistic on components", "plain / words"),
    ("neg_log_loss", "knn votes", "plain / classes"),
    ("neg_mean_absolute_error", "scaled ridge", "plain / numbers"),
    ("neg_root_mean_squared_error", "knn means", "plain / numbers"),
    ("r2", "ridge", "plain / numbers"),
    ("r2", "tree means", "plain / numbers"),
    ("roc_auc", "svc", "plain / truths"),
    ("roc_auc", "knn votes weights", "plain / truths"),
    ("roc_auc", "lda eigen", "plain / truths"),
    ("roc_auc_ovr", "scaled lda", "plain / words"),
    ("roc_auc", "scaled smoothed bayes", "plain / truths"),
    ("balanced_accuracy", "smoothed bayes", "plain / truths"),
]


@pytest.mark.parametrize(("scoring", "family", "name"), METRICS)
def test_a_metric_of_scikit_learn_chooses_and_measures(scoring, family, name):
    """The loss is minus the score (1 - accuracy), and score and fold_scores give the scores
    back."""
    X, y = cases.data(name)
    model = cases.FAMILIES[family]
    result = run(model, Recipe(outer=5, inner=3), X, y, scoring=scoring)
    expected = Reference(model, X, y, *cases.splitters(model, "5 x 3", len(y)), scoring)
    assert_equals_scikit_learn(result, expected, model.tolerance)
    assert_close(result.fold_scores, expected.fold_scores, model.tolerance)
    assert_close(result.score, expected.fold_scores.mean(), model.tolerance)


LOSSES = [
    ("log", "knn votes weights", "plain / words", naive.knn_probabilities),
    ("absolute", "knn means", "plain / numbers", None),
    ("absolute", "scaled ridge", "plain / numbers", None),
    ("absolute", "least squares", "wide / numbers", None),
    ("squared", "ridge", "bytes / whole numbers", None),
    ("zero_one", "scaled knn votes", "plain / truths", None),
    ("log", "lda", "plain / words", naive.probabilities(naive.lda_log)),
    (
        "log",
        "scaled lda",
        "plain / truths",
        naive.scaled(naive.probabilities(naive.lda_log)),
    ),
    (
        "log",
        "smoothed bayes",
        "plain / words",
        naive.probabilities(naive.gaussian_nb_log),
    ),
]


@pytest.mark.parametrize(
    ("loss", "family", "name", "plug_in"),
    LOSSES,
    ids=lambda value: str(value).split(" at ")[0],
)
def test_a_loss_by_name_equals_the_definition(loss, family, name, plug_in):
    """Each named loss chooses and measures as its formula over rows says."""
    X, y = cases.data(name)
    model = cases.FAMILIES[family]
    result = run(model, Recipe(outer=5, inner=3), X, y, loss=loss)
    assert_equals_naive(result, naive_of(model, result, X, y, loss, plug_in=plug_in))


def test_a_function_of_y_and_predictions_is_a_loss():
    """A callable that gives one loss per row is used as the named loss with its formula is."""
    X, y = cases.data("plain / numbers")
    model = cases.FAMILIES["tree means"]
    named = run(model, Recipe(outer=5, inner=3), X, y, loss="absolute")
    assert_same(
        run(
            model,
            Recipe(outer=5, inner=3),
            X,
            y,
            loss=lambda y, predicted: np.abs(y - predicted),
        ),
        named,
    )


# Containers of the data


def as_pandas(X, y):
    """Frames whose shuffled index is no row number."""
    index = np.random.default_rng(0).permutation(len(y)) + 100
    names = [f"x{c}" for c in range(X.shape[1])]
    return pd.DataFrame(X, columns=names, index=index), pd.Series(
        y, index=index, name="target"
    )


def as_polars(X, y):
    """A frame and a series."""
    return pl.DataFrame(X, schema=[f"x{c}" for c in range(X.shape[1])]), pl.Series(
        "target", y
    )


@pytest.mark.parametrize("container", [as_pandas, as_polars])
@pytest.mark.parametrize("family", SOME)
def test_frames_equal_arrays(family, container):
    """Rows of frames are taken by position, whatever their index."""
    X, y = some_data(family)
    model = cases.FAMILIES[family]
    assert_same(
        run(model, Recipe(outer=5, inner=3), *container(X, y)),
        run_row_of(family),
        1e-12,
    )


def run_row_of(family):
    """The 5 x 3 result of a family on its plain data set."""
    return run_row(
        (
            "plain / numbers"
            if cases.FAMILIES[family].loss == "squared"
            else "plain / words",
            family,
            "5 x 3",
        )
    )


def with_zeros(X):
    """X with its small entries put to zero."""
    return np.where(np.abs(X) < 0.5, 0.0, X)


@pytest.mark.parametrize("family", ["knn votes", "knn means", "svc"])
def test_sparse_equals_dense(family):
    """The same numbers come from a CSR matrix and from the array that it stands for."""
    X, y = some_data(family)
    X, model = with_zeros(X), cases.FAMILIES[family]
    recipe = Recipe(outer=5, inner=3)
    assert_same(run(model, recipe, sp.csr_array(X), y), run(model, recipe, X, y))


def test_sparse_ridge_equals_scikit_learn_on_sparse():
    """Sparse X has a solver that iterates: its numbers are equal once it is brought to its end."""
    X, y = cases.data("wide / numbers")
    X, model = sp.csr_array(with_zeros(X)), cases.FAMILIES["ridge"]
    model = model._replace(estimator=clone(model.estimator).set_params(tol=1e-13))
    expected = Reference(model, X, y, *cases.splitters(model, "5 x 3", len(y)))
    assert_equals_scikit_learn(run(model, Recipe(outer=5, inner=3), X, y), expected)


# Named recipes


NAMED = {
    "train_validation_test": (
        Recipe.train_validation_test,
        {"validation": 0.2, "test": 0.2},
    ),
    "cv_test": (Recipe.cv_test, {"inner": 5, "test": 0.2}),
    "resampling_test": (
        Recipe.resampling_test,
        {"samples": 7, "validation": 0.25, "test": 0.2},
    ),
    "nested_cv": (Recipe.nested_cv, {"outer": 3, "inner": 4, "seed": 2}),
    "nested_dev": (Recipe.nested_dev, {"outer": 5}),
    "nested_resampling": (
        Recipe.nested_resampling,
        {"outer": 4, "inner": 3, "test": 0.2, "validation": 0.25},
    ),
    "share x share": (Recipe, {"outer": 0.3, "inner": 0.25}),
    "unstratified": (Recipe, {"outer": 4, "inner": 3, "stratify": False}),
    "unshuffled": (Recipe, {"outer": 4, "inner": 3, "shuffle": False}),
    "time ordered": (
        Recipe,
        {"outer": 4, "inner": 3, "time_ordered": True, "buffer": 1},
    ),
}


def named(name):
    """The recipe of that name."""
    make, keywords = NAMED[name]
    return make(**keywords)


@pytest.mark.parametrize(
    "family", ["scaled knn votes", "knn means", "ridge", "scaled ridge"]
)
@pytest.mark.parametrize("name", NAMED)
def test_a_named_recipe_equals_the_definition(name, family):
    """On the splits of its plan every recipe gives the numbers of the nested procedure."""
    X, y = some_data(family)
    model = cases.FAMILIES[family]
    result = run(model, named(name), X, y)
    assert_equals_naive(result, naive_of(model, result, X, y))


ONE_SETTING = {
    "external_cv": Recipe.external_cv(5),
    "leave_one_out": Recipe.leave_one_out(),
    "validation": Recipe.validation(0.3),
}


@pytest.mark.parametrize(
    "family", ["least squares", "scaled least squares", "knn means", "scaled ridge"]
)
@pytest.mark.parametrize("name", ONE_SETTING)
def test_recipes_without_tuning_equal_the_definition(name, family):
    """One setting is fitted on each training part and measured on each test part."""
    X, y = cases.data("plain / numbers")
    model = cases.FAMILIES[family]
    one = model._replace(grid={key: values[1:2] for key, values in model.grid.items()})
    result = run(one, ONE_SETTING[name], X, y)
    assert result.inner_curves is None
    assert_equals_naive(result, naive_of(one, result, X, y))


def test_external_cv_equals_cross_val_score():
    """Without tuning the fold losses are those of scikit-learn's cross-validation."""
    X, y = cases.data("plain / words")
    model = cases.FAMILIES["naive bayes"]
    scores = cross_val_score(
        model.estimator, X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0)
    )
    assert_close(
        run(model._replace(grid={}), Recipe.external_cv(5), X, y).fold_risks, 1 - scores
    )


@pytest.mark.parametrize("family", ["least squares", "scaled least squares"])
@pytest.mark.parametrize(
    "name",
    [
        "plain / numbers",
        "one column / numbers",
        "offset / numbers",
        "bytes / whole numbers",
    ],
)
def test_leave_one_out_of_least_squares_equals_the_closed_form(family, name):
    """The risk is the mean of (r_i / (1 - h_ii))^2, and the losses are those squares."""
    X, y = cases.data(name)
    origin = X.astype(float) - X[0].astype(float)
    expected = naive.ols_leave_one_out(origin, y.astype(float)) ** 2
    result = run(cases.FAMILIES[family]._replace(grid={}), Recipe.leave_one_out(), X, y)
    assert_close(result.risk, expected.mean(), 1e-9)
    order = np.argsort([test[0] for _, test in result.plan.outer])
    assert_close(result.fold_risks[order], expected, 1e-8)


@pytest.mark.parametrize(
    "family", ["scaled knn votes", "knn means", "scaled ridge", "svc"]
)
@pytest.mark.parametrize(
    "recipe",
    [Recipe.internal_cv(5), Recipe.dev_set(0.25)],
    ids=["internal_cv", "dev_set"],
)
def test_tuning_on_all_rows_measures_nothing_outside(family, recipe):
    """Without an outer split there is an inner curve, a choice and a flat estimate, but no risk."""
    X, y = some_data(family)
    model = cases.FAMILIES[family]
    result = run(model, recipe, X, y)
    curve = np.zeros(len(result.settings))
    for train, test in result.plan.inner[0]:
        losses = [
            loss_on(model, setting, X, y, (train, test)) for setting in result.settings
        ]
        curve += np.array(losses) / len(result.plan.inner[0])
    assert result.risk is None
    assert result.inner_curves.shape == (1, len(result.settings))
    assert_close(result.inner_curves[0], curve)
    assert result.chosen == [result.settings[naive.select(curve, model.loss)]]
    assert_close(result.flat, curve.min())
    assert result.optimism is None


@pytest.mark.parametrize(
    ("family", "stratify"),
    [("svc", "auto"), ("knn votes", "auto"), ("knn votes", False), ("ridge", "auto")],
)
def test_cv_then_test_equals_train_test_split_then_grid_search(family, stratify):
    """A holdout is train_test_split's, and the inner folds count positions in the order of
    its training part."""
    X, y = some_data(family)
    model, seed = cases.FAMILIES[family], 4
    stratified = stratify == "auto" and model.loss == "zero_one"
    result = run(
        model, Recipe.cv_test(inner=5, test=0.2, seed=seed, stratify=stratify), X, y
    )
    parts = train_test_split(
        X, y, test_size=0.2, random_state=seed, stratify=y if stratified else None
    )
    folds = (StratifiedKFold if stratified else KFold)(
        5, shuffle=True, random_state=seed + 1
    )
    search = GridSearchCV(
        model.estimator, model.grid, cv=folds, scoring=model.scoring
    ).fit(parts[0], parts[2])
    assert_close(
        result.inner_curves[0],
        loss_of(search.cv_results_["mean_test_score"], model.scoring),
    )
    assert result.chosen == [search.best_params_]
    assert_close(
        result.risk,
        loss_of(get_scorer(model.scoring)(search, parts[1], parts[3]), model.scoring),
    )


SIZES = {
    "train_validation_test": ([(37, 10)], [[(27, 10)]]),
    "cv_test": ([(37, 10)], [[(29, 8), (29, 8), (30, 7), (30, 7), (30, 7)]]),
    "resampling_test": ([(37, 10)], [[(27, 10)] * 7]),
    "nested_dev": ([(37, 10)] * 2 + [(38, 9)] * 3, [[(27, 10)]] * 2 + [[(29, 9)]] * 3),
    "nested_resampling": ([(37, 10)] * 4, [[(27, 10)] * 3] * 4),
    "share x share": ([(32, 15)], [[(24, 8)]]),
}


@pytest.mark.parametrize("name", SIZES)
def test_shares_are_of_the_rows_that_they_are_said_to_be_of(name):
    """Of 47 rows the parts have the sizes that the recipe's shares give, rounded up."""
    X, y = cases.data("plain / numbers")
    plan = named(name).plan(X, y)
    outer, inner = SIZES[name]
    assert [(len(train), len(test)) for train, test in plan.outer] == outer
    assert [
        [(len(train), len(test)) for train, test in splits] for splits in plan.inner
    ] == inner


# Jobs, curves and predictions


@pytest.mark.parametrize(
    "family", [*SOME, "logistic on components", "forest", "boosting", "tree means"]
)
def test_the_number_of_jobs_changes_no_bit(family):
    """Two workers give bit-equal curves and fold losses."""
    X, y = some_data(family)
    two = run(cases.FAMILIES[family], Recipe(outer=5, inner=3), X, y, n_jobs=2)
    one = run(cases.FAMILIES[family], Recipe(outer=5, inner=3), X, y, n_jobs=1)
    assert np.array_equal(two.inner_curves, one.inner_curves)
    assert np.array_equal(two.fold_risks, one.fold_risks)
    assert two.chosen == one.chosen


FLAT = [
    "scaled knn votes",
    "knn means",
    "scaled ridge",
    "tree means",
    "svc",
    "logistic on components",
]


@pytest.mark.parametrize("family", FLAT)
def test_outer_curves_are_fits_of_every_setting_on_every_outer_training_part(family):
    """With flat=True the outer curves, their smallest mean and the optimism are those of
    explicit fits."""
    X, y = some_data(family)
    model = cases.FAMILIES[family]
    result = run(model, Recipe(outer=5, inner=3), X, y, flat=True)
    curves = [
        [loss_on(model, s, X, y, split) for s in result.settings]
        for split in result.plan.outer
    ]
    assert_close(result.outer_curves, curves)
    assert_close(result.flat, np.mean(curves, axis=0).min())
    assert_close(result.optimism, result.risk - np.mean(curves, axis=0).min(), 1e-8)


@pytest.mark.parametrize("family", ["svc", "ridge"])
def test_the_flat_estimate_of_one_holdout_is_the_smallest_inner_loss(family):
    """With one outer split, flat is the minimum of the inner curve."""
    X, y = some_data(family)
    result = run(cases.FAMILIES[family], Recipe.cv_test(inner=4, test=0.25), X, y)
    assert result.flat == result.inner_curves[0].min()
    assert_close(result.optimism, result.risk - result.flat)


def test_no_refits_are_made_for_curves_that_nobody_asked_for():
    """A family that needs refits has no outer curves, flat estimate or optimism unless
    flat=True."""
    result = run_row_of("svc")
    assert (result.outer_curves, result.flat, result.optimism) == (None, None, None)


@pytest.mark.parametrize("family", SOME)
def test_out_of_fold_predictions_are_those_of_the_chosen_settings(family):
    """On each outer test part the predictions are those of the chosen setting fitted on its
    training part."""
    X, y = some_data(family)
    model, result = cases.FAMILIES[family], run_row_of(family)
    for (train, test), setting in zip(result.plan.outer, result.chosen, strict=True):
        predicted = fitted(model, setting, X, y, train).predict(X[test])
        found = np.asarray(result.predictions)[test]
        assert (
            np.array_equal(found, predicted)
            if model.loss == "zero_one"
            else np.allclose(found, predicted, 1e-9)
        )


# Numbers known from elsewhere


AUTO_LOSSES = [
    24.2315135179292,
    19.2482131244897,
    19.334984064029,
    19.4244303104302,
    19.0332138547041,
]


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_leave_one_out_of_polynomials_of_horsepower(degree):
    """Leave-one-out squared errors of mpg on powers of horsepower are the known ones."""
    mpg, horsepower = np.loadtxt(AUTO, delimiter=",", skiprows=1, unpack=True)
    powers = PolynomialFeatures(degree, include_bias=False)
    family = Family(make_pipeline(powers, StandardScaler(), LinearRegression()), {})
    recipe = Recipe.leave_one_out() if degree % 2 else Recipe(outer="loo", inner=None)
    result = recipe.run(
        family, horsepower[:, None], mpg, loss="squared", progress="off"
    )
    assert_close(result.risk, AUTO_LOSSES[degree - 1])


def test_nested_versus_flat_on_iris():
    """Over 30 trials the flat score exceeds the nested one by 0.007581 on average, with
    standard deviation 0.007833."""
    X, y = load_iris(return_X_y=True)
    family = Family(SVC(kernel="rbf"), {"C": [1, 10, 100], "gamma": [0.01, 0.1]})
    optimism = np.empty(30)
    for i in range(30):
        folds = KFold(4, shuffle=True, random_state=i)
        optimism[i] = (
            Recipe(outer=folds, inner=folds)
            .run(family, X, y, flat=True, progress="off")
            .optimism
        )
    assert (round(optimism.mean(), 6), round(optimism.std(), 6)) == (0.007581, 0.007833)


@pytest.mark.parametrize("n_settings", [1, 10, 1000])
@pytest.mark.parametrize(("delta", "span"), [(0.05, 1.0), (0.2, 3.0)])
def test_the_development_set_bound_and_size_equal_their_formulas(
    n_settings, delta, span
):
    """The bound of 137 rows and the rows that a width of 0.5 needs."""
    assert_close(
        dev_set_bound(137, n_settings, delta, span),
        naive.dev_set_bound(137, n_settings, delta, span),
    )
    assert dev_set_size(0.5, n_settings, delta, span) == naive.dev_set_size(
        0.5, n_settings, delta, span
    )
