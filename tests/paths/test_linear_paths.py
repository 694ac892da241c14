"""Ridge, its classifier and least squares on their fast paths: scikit-learn's numbers, from
the training part alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import naive
from cvnb import Family, Recipe
from cvnb.paths.base import Refusal
from cvnb.paths.linear import least_squares, precision, rows
from cvnb.paths.linear import parts as linear_parts
from cvnb.paths.linear import path as ridge_path
from cvnb.paths.refit import Refit
from stopped import shown_part

ALPHAS = [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e4]


def table(m=61, p=4, seed=0, n_classes=0, words=False):
    """Columns of different sizes, and a response with noise or classes cut from it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p)) * 10.0 ** rng.uniform(-2, 2, p)
    y = X @ (rng.normal(size=p) / X.std(axis=0)) + rng.normal(size=m)
    if n_classes:
        y = np.argsort(np.argsort(y)) * n_classes // m
        y = np.array([f"class {c}" for c in range(n_classes)])[y] if words else y
    return X, y


def family(model, scaled=False, grid=None):
    """The model bare or behind a scaler, with its own grid or the usual penalties."""
    if grid is None:
        grid = {} if isinstance(model, LinearRegression) else {"alpha": ALPHAS}
    if not scaled:
        return Family(model, grid)
    name = type(model).__name__.lower()
    return Family(
        make_pipeline(StandardScaler(), model),
        {f"{name}__{key}": values for key, values in grid.items()},
    )


def close(a, b, size=None):
    """Equal to 1e-9 of themselves, or of the mean where a loss of one row is near zero."""
    np.testing.assert_allclose(
        a, b, rtol=1e-9, atol=1e-9 * (np.abs(b).mean() if size is None else size)
    )


def predictions(result):
    """All predictions of a result in one array."""
    parts = (
        result.predictions
        if isinstance(result.predictions, list)
        else [result.predictions]
    )
    return np.concatenate([np.ma.compressed(part) for part in parts])


def assert_as_refitted(wanted, fam, X, y, recipe, **options):
    """The path `wanted` gives the numbers of scikit-learn's own fits, choices and
    predictions included."""
    fast = recipe.run(fam, X, y, flat=True, progress="off", **options)
    slow = recipe.run(fam, X, y, flat=True, progress="off", path="refit", **options)
    assert fast.path == wanted, fast.path_reason
    if slow.inner_curves is not None:
        close(fast.inner_curves, slow.inner_curves)
    np.testing.assert_array_equal(fast.chosen_index, slow.chosen_index)
    if slow.risk is not None:
        if slow.outer_curves is not None and fast.outer_curves is not None:
            close(fast.outer_curves, slow.outer_curves)
        close(fast.fold_risks, slow.fold_risks)
        both = predictions(fast), predictions(slow)
        if is_classifier(fam.estimator):
            np.testing.assert_array_equal(*both)
        else:
            close(*both, np.abs(y).max())
    return fast


RECIPES = {
    "5 x 3": (Recipe(outer=5, inner=3), True),
    "9 x 2": (Recipe(outer=9, inner=2), True),
    "4 x leave one out": (Recipe(outer=4, inner="loo"), True),
    "leave one out x 2": (Recipe(outer="loo", inner=2), True),
    "tuned only": (Recipe(outer=None, inner=5), True),
    "tuned only by leave one out": (Recipe(outer=None, inner="loo"), True),
    "holdout x 40": (Recipe(outer=0.2, inner=40), True),
    "shuffle split": (
        Recipe(outer=ShuffleSplit(3, test_size=0.3, random_state=1), inner=3),
        True,
    ),
    "dev set": (Recipe(outer=3, inner=0.3), False),
    "3 x shuffle split": (
        Recipe(outer=3, inner=ShuffleSplit(4, test_size=0.3, random_state=1)),
        False,
    ),
    "time series": (Recipe(outer=TimeSeriesSplit(3), inner=TimeSeriesSplit(2)), False),
    "buffer": (Recipe(outer=3, inner=3, time_ordered=True, buffer=2), False),
    "lists": (
        Recipe(
            outer=[(np.arange(40), np.arange(40, 61))],
            inner=[[(np.arange(20), np.arange(20, 30))]],
        ),
        None,
    ),
}


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_ridge_on_every_recipe_is_scikit_learns(recipe, scaled):
    """Whatever the splits are, every penalty has the losses of its own fits."""
    X, y = table()
    recipe, shared = RECIPES[recipe]
    fast = recipe.run(family(Ridge()), X, y, progress="off").path
    assert_as_refitted(fast, family(Ridge(), scaled), X, y, recipe)
    assert shared is None or fast == ("shared:ridge" if shared else "path:ridge")


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("recipe", ["5 x 3", "4 x leave one out", "3 x shuffle split"])
def test_weights_reach_the_fit_but_not_the_scaler(recipe, scaled, intercept):
    """A weighted ridge, some weights being zero, has scikit-learn's losses with and without
    intercept."""
    X, y = table(seed=1)
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    w[0] += 1.0
    recipe, shared = RECIPES[recipe]
    if recipe.inner == "loo":
        w += 0.5
    path = "shared:ridge" if shared else "path:ridge"
    assert_as_refitted(
        path,
        family(Ridge(fit_intercept=intercept), scaled),
        X + 1.0,
        y,
        recipe,
        sample_weight=w,
    )


COLUMNS = {
    "one column": lambda X: X[:, :1],
    "copies of columns": lambda X: np.column_stack([X, X[:, :2], X[:, 1:2]]),
    "offset": lambda X: X / X.std(axis=0) + 1e6,
    "constant columns": lambda X: np.column_stack(
        [X[:, :2], np.full(len(X), 7.1), np.zeros(len(X)), X[:, 2:]]
    ),
    "truths": lambda X: X > 0,
    "whole numbers": lambda X: np.round(100 * X / X.std(axis=0)).astype(np.int16),
    "copies of rows": lambda X: np.concatenate([X[:30], X[:30], X[:1]]),
    "a rare one": lambda X: np.column_stack([X, np.arange(len(X)) == 17]),
    "more columns than rows": lambda X: np.column_stack(
        [X, np.random.default_rng(5).normal(size=(len(X), 80))]
    ),
    "columns between the part sizes": lambda X: np.column_stack(
        [X, np.random.default_rng(5).normal(size=(len(X), 36))]
    ),
    "a jump": lambda X: np.column_stack(
        [X, X[:, 0] / X[:, 0].std() + 1e4 * (np.arange(len(X)) > 30)]
    ),
}


COLLINEAR_WITHOUT = [
    "offset",
    "more columns than rows",
    "columns between the part sizes",
]  # without an intercept


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("columns", COLUMNS)
def test_ridge_on_odd_columns_is_scikit_learns(columns, scaled, intercept):
    """Offsets, copies, constants and wide tables cost no digit of a loss; copies go to
    refit where the penalty is tiny."""
    X, y = table(seed=2)
    X = COLUMNS[columns](X)
    fam = family(Ridge(fit_intercept=intercept), scaled)
    fast = Recipe(outer=4, inner=3).run(fam, X, y, progress="off").path
    collinear = columns == "copies of columns" or (
        not intercept and columns in COLLINEAR_WITHOUT
    )
    assert fast in ("shared:ridge", "path:ridge") or collinear
    assert_as_refitted(fast, fam, X, y, Recipe(outer=4, inner=3))


def test_blocks_in_row_order_are_fitted_from_their_own_rows_where_a_mean_is_far_off():
    """Unshuffled folds of two distant clusters lose no digits to the mean that lies between
    them."""
    X, y = table(seed=3)
    X[:, 1] = X[:, 1] / X[:, 1].std() + 1e6 * (np.arange(len(X)) >= 41)
    assert_as_refitted(
        "shared:ridge",
        family(Ridge(alpha=1.0), grid={"alpha": [1.0, 100.0]}),
        X,
        y,
        Recipe(KFold(2), KFold(3)),
    )


# Leave-one-out is hundreds of refits: two of six labellings.
LABELLINGS = [
    (recipe, n_classes, words)
    for recipe in (
        "5 x 3",
        "3 x shuffle split",
        "4 x leave one out",
        "leave one out x 2",
    )
    for n_classes in (2, 3, 5)
    for words in (False, True)
    if "leave" not in recipe or (n_classes, words) in [(2, True), (5, False)]
]


@pytest.mark.parametrize(("recipe", "n_classes", "words"), LABELLINGS)
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_ridge_classifier_is_scikit_learns(recipe, n_classes, words, scaled):
    """Signs decide between two classes, the largest value between more; labels may be words."""
    m = 41 if "leave" in recipe else 61
    X, y = table(m, seed=4, n_classes=n_classes, words=words)
    recipe, shared = RECIPES[recipe]
    assert_as_refitted(
        "shared:ridge" if shared else "path:ridge",
        family(RidgeClassifier(), scaled),
        X,
        y,
        recipe,
    )


@pytest.mark.parametrize(
    "scoring", ["roc_auc", "average_precision", "f1", "balanced_accuracy"]
)
def test_scores_of_two_classes_are_scikit_learns(scoring):
    """Metrics of decision values and of labels see what the classifier would return."""
    X, y = table(m=120, seed=5, n_classes=2)
    assert_as_refitted(
        "shared:ridge",
        family(RidgeClassifier()),
        X,
        y,
        Recipe(outer=4, inner=3),
        scoring=scoring,
    )


def test_a_class_absent_from_a_training_part_is_never_predicted():
    """A training part without the class of one row is a problem of the other classes."""
    X, y = table(seed=6, n_classes=2)
    y = np.where(np.arange(len(y)) == 5, 2, y)
    recipe = Recipe(outer=KFold(3), inner=KFold(4))
    result = assert_as_refitted("shared:ridge", family(RidgeClassifier()), X, y, recipe)
    assert 2 not in result.predictions[:20]


def test_a_training_part_of_one_class_predicts_that_class():
    """Sorted classes leave whole training parts with one."""
    X, _ = table(seed=7)
    y = (np.arange(len(X)) >= 30).astype(int)
    recipe = Recipe(
        outer=[(np.arange(60), np.array([60]))],
        inner=[[(np.arange(20), np.arange(25, 40))]],
    )
    assert_as_refitted("path:ridge", family(RidgeClassifier()), X, y, recipe)


def test_close_calls_are_counted():
    """Rows on the border between two classes are noted."""
    X = np.array([-1.0, 1.0, 0.0] * 8)[:, None]
    y = np.array([0, 1, 0, 0, 1, 1] * 4)
    splits = {
        "outer": [(np.arange(18)[::-1], np.arange(18, 24))],
        "inner": [[(np.arange(12), np.arange(12, 18))]],
    }
    result = Recipe(**splits).run(
        family(RidgeClassifier(), grid={"alpha": [1.0, 2.0]}), X, y, progress="off"
    )
    assert result.path == "path:ridge"
    assert any("equal up to rounding" in note for note in result.notes)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize(
    "recipe",
    [
        Recipe.external_cv(5),
        Recipe.leave_one_out(),
        Recipe(outer=GroupKFold(4), inner=None),
        Recipe(outer=0.3, inner=None),
        Recipe(outer=TimeSeriesSplit(3), inner=None),
    ],
    ids=["5 folds", "leave one out", "groups", "holdout", "time series"],
)
def test_least_squares_is_scikit_learns(recipe, scaled, intercept):
    """Without anything to tune, every outer split has the loss of its own fit."""
    X, y = table(seed=8)
    groups = np.arange(len(y)) % 9 if isinstance(recipe.outer, GroupKFold) else None
    wanted = (
        "path:ols"
        if isinstance(recipe.outer, TimeSeriesSplit | float)
        else "shared:ols"
    )
    assert_as_refitted(
        wanted,
        family(LinearRegression(fit_intercept=intercept), scaled),
        X + 0.5,
        y,
        recipe,
        groups=groups,
    )


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize(
    "recipe",
    [Recipe.external_cv(5), Recipe.leave_one_out()],
    ids=["5 folds", "leave one out"],
)
def test_least_squares_on_odd_columns_is_scikit_learns(columns, scaled, recipe):
    """Collinear columns have the shortest solution; a row alone in a column is fitted
    without it."""
    X, y = table(seed=9)
    X = COLUMNS[columns](X)
    fast = recipe.run(family(LinearRegression(), scaled), X, y, progress="off").path
    assert fast in ("shared:ols", "path:ols")
    assert_as_refitted(fast, family(LinearRegression(), scaled), X, y, recipe)


def test_least_squares_with_weights_is_scikit_learns():
    """Zero weights included."""
    X, y = table(seed=10)
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    for recipe, more in ((Recipe.external_cv(5), 0.0), (Recipe.leave_one_out(), 0.25)):
        assert_as_refitted(
            "shared:ols",
            family(LinearRegression()),
            X,
            y,
            recipe,
            sample_weight=w + more,
        )


def test_both_intercepts_of_least_squares_are_tuned():
    """A grid over fit_intercept is two models on the same sums."""
    X, y = table(seed=11)
    grid = {"fit_intercept": [True, False]}
    for recipe in (Recipe(outer=4, inner=5), Recipe(outer=3, inner="loo")):
        assert_as_refitted(
            "shared:ols", family(LinearRegression(), grid=grid), X, y + 3, recipe
        )


def test_grids_over_the_intercept_keep_their_order():
    """Settings of two models are interleaved in the grid, and stay so."""
    X, y = table(seed=12)
    grid = {"alpha": [10.0, 0.1], "fit_intercept": [True, False]}
    assert_as_refitted(
        "shared:ridge", family(Ridge(), grid=grid), X, y + 3, Recipe(outer=4, inner=3)
    )


def test_the_pipeline_of_polynomials_is_scikit_learns():
    """Behind transformers of any kind, one fit of these serves every penalty."""
    X, y = table(seed=13)
    model = make_pipeline(PolynomialFeatures(2), StandardScaler(), Ridge())
    assert_as_refitted(
        "path:ridge",
        Family(model, {"ridge__alpha": ALPHAS[1:]}),
        X,
        y,
        Recipe(outer=4, inner=3),
    )


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_naive_ridge_agrees(scaled):
    """The oracle from the definition gives the same nested numbers."""
    X, y = table(seed=14)
    result = Recipe(outer=4, inner=3).run(
        family(Ridge(), scaled), X, y, flat=True, progress="off"
    )
    plug_in = naive.scaled(naive.ridge) if scaled else naive.ridge
    settings = [{"alpha": alpha} for alpha in ALPHAS]
    expected = naive.nested(
        plug_in,
        settings,
        X,
        y,
        list(result.plan.outer),
        [list(s) for s in result.plan.inner],
        "squared",
    )
    close(result.inner_curves, expected.inner_curves)
    close(result.outer_curves, expected.outer_curves)


@pytest.mark.parametrize(
    "model", [Ridge(), RidgeClassifier()], ids=["ridge", "classifier"]
)
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize(
    "inner",
    [4, "loo", ShuffleSplit(3, random_state=0)],
    ids=["folds", "leave one out", "shuffle split"],
)
def test_garbage_in_an_outer_test_part_moves_no_bit_of_the_inner_curve(
    model, scaled, inner
):
    """What was never trained on cannot touch the choice, not even in the last digit."""
    X, y = table(seed=15, n_classes=3 if is_classifier(model) else 0)
    recipe = Recipe(
        outer=KFold(4, shuffle=True, random_state=0),
        inner=KFold(4) if inner == 4 else inner,
    )
    clean = recipe.run(family(model, scaled), X, y, progress="off")
    test = clean.plan.outer[1][1]
    X[test] = 1e8 * np.random.default_rng(0).normal(size=(test.size, X.shape[1]))
    y[test] = np.roll(y[test], 1) if is_classifier(model) else -1e5
    dirty = recipe.run(family(model, scaled), X, y, progress="off")
    np.testing.assert_array_equal(clean.inner_curves[1], dirty.inner_curves[1])


@pytest.mark.parametrize("outer", [3, 9])
@pytest.mark.parametrize("inner", [5, "loo"])
@pytest.mark.parametrize(
    "model",
    [Ridge(), RidgeClassifier(), LinearRegression()],
    ids=["ridge", "classifier", "squares"],
)
def test_any_number_of_threads_gives_the_same_bits(outer, inner, model):
    """The order of every sum is fixed by the splits."""
    X, y = table(m=90, seed=16, n_classes=3 if is_classifier(model) else 0)
    grid = (
        {"fit_intercept": [True, False]}
        if isinstance(model, LinearRegression)
        else None
    )
    runs = [
        Recipe(outer=outer, inner=inner).run(
            family(model, grid=grid), X, y, progress="off", n_jobs=n, flat=True
        )
        for n in (1, 2, 4)
    ]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.inner_curves, runs[0].inner_curves)
        np.testing.assert_array_equal(other.outer_curves, runs[0].outer_curves)


@pytest.mark.parametrize(
    ("model", "near"),
    [(Ridge(), 1e-5), (LinearRegression(), 2e-6)],
    ids=["ridge", "squares"],
)
def test_nearly_collinear_columns_go_to_refit(model, near):
    """Where sums of products would lose digits, scikit-learn's own fits are made and the
    result says why."""
    X, y = table(seed=17)
    noise = np.random.default_rng(0).normal(size=len(X))
    X = np.column_stack([X, X[:, 0] + near * X[:, 0].std() * noise])
    X = X / X.std(axis=0)
    grid = {"alpha": [1e-12, 1.0]} if isinstance(model, Ridge) else {}
    recipe = Recipe(outer=3, inner=3 if grid else None)
    result = recipe.run(family(model, grid=grid), X, y, progress="off")
    assert result.path == "refit"
    assert "collinear" in result.path_reason + " ".join(result.notes)


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_columns_that_scikit_learn_takes_for_copies_are_copies(scaled):
    """A difference far below the tolerance of least squares is cut on the fast path too."""
    X, y = table(seed=17)
    X = X / X.std(axis=0)
    X = np.column_stack(
        [X, X[:, 0] + 1e-9 * np.random.default_rng(0).normal(size=len(X))]
    )
    assert_as_refitted(
        "shared:ols", family(LinearRegression(), scaled), X, y, Recipe.external_cv(3)
    )


@pytest.mark.parametrize("n_alphas", [2, 7], ids=["few penalties", "many penalties"])
@pytest.mark.parametrize("p", [100, 220, 300], ids=["large", "wide", "wider than long"])
@pytest.mark.parametrize(
    "model",
    [Ridge(), Ridge(fit_intercept=False), RidgeClassifier()],
    ids=["ridge", "bare", "classifier"],
)
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_large_matrices_have_scikit_learns_numbers(n_alphas, p, model, scaled):
    """By one Cholesky factor per penalty where they are few, with products from the matrix
    library where columns are many."""
    X, y = table(m=540, p=p, seed=21, n_classes=3 if is_classifier(model) else 0)
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    fam = family(model, scaled, {"alpha": np.logspace(-1, 3, n_alphas).tolist()})
    wanted = "path:ridge" if p == 300 else "shared:ridge"
    assert_as_refitted(
        wanted, fam, X / X.std(axis=0), y, Recipe(outer=3, inner=3), sample_weight=w
    )


def test_copies_of_columns_in_a_large_matrix_cost_no_digits():
    """If a Cholesky factor cannot tell copies from near copies, the reduction does."""
    X, y = table(m=600, p=110, seed=22)
    fam = family(Ridge(), True, {"alpha": [1e-2, 1.0]})
    assert_as_refitted(
        "shared:ridge", fam, np.column_stack([X, X]), y, Recipe(outer=3, inner=3)
    )


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("p", [6, 80])
def test_columns_that_depend_on_each_other_are_penalised_on_the_fast_path(scaled, p):
    """A penalty of a millionth of the largest column or more keeps all digits; less goes to
    refit, in primal and dual."""
    X, y = table(m=60, p=p, seed=22)
    X = np.column_stack([X, X[:, :3]]) / X.std()
    if p > 60:
        X[30:] = X[:30]
    path = "path:ridge" if p > 60 else "shared:ridge"
    assert_as_refitted(
        path,
        family(Ridge(), scaled, {"alpha": [0.1, 1.0]}),
        X,
        y,
        Recipe(outer=3, inner=3),
    )
    tiny = Recipe(outer=3, inner=3).run(
        family(Ridge(), scaled, {"alpha": [1e-8, 1.0]}), X, y
    )
    assert (tiny.path, tiny.path_reason) == ("refit", precision.COLLINEAR)


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_wide_least_squares_is_scikit_learns(scaled):
    """Many columns, yet fewer than rows."""
    X, y = table(m=400, p=140, seed=23)
    fam = family(LinearRegression(), scaled)
    for recipe in (
        (Recipe.external_cv(4), Recipe.leave_one_out())
        if not scaled
        else (Recipe.external_cv(4),)
    ):
        assert_as_refitted("shared:ols", fam, X / X.std(axis=0), y, recipe)


@pytest.mark.parametrize(
    "model", [Ridge(), RidgeClassifier()], ids=["ridge", "classifier"]
)
def test_pieces_of_long_parts_add_up(model, monkeypatch):
    """Rows measured piece by piece give the losses of all of them."""
    X, y = table(m=300, seed=24, n_classes=3 if is_classifier(model) else 0)
    for module in (rows, linear_parts):
        monkeypatch.setattr(module, "PIECE", 7)
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    assert_as_refitted(
        "shared:ridge", family(model), X, y, Recipe(outer=3, inner=3), sample_weight=w
    )


def test_chunks_of_long_least_squares_add_up(monkeypatch):
    """Triangles of chunks, one after the other, are the triangle of all rows; so are their sums."""
    X, y = table(m=300, seed=25)
    for module in (rows, least_squares):
        monkeypatch.setattr(module, "CHUNK", 50)
    for recipe, wanted in (
        (Recipe.external_cv(4), "shared:ols"),
        (Recipe(outer=TimeSeriesSplit(3), inner=None), "path:ols"),
    ):
        assert_as_refitted(wanted, family(LinearRegression()), X, y, recipe)


@pytest.mark.parametrize(
    "model", [Ridge(), LinearRegression()], ids=["ridge", "squares"]
)
@pytest.mark.parametrize("inner", [3, None])
def test_targets_without_noise_go_to_refit(model, inner):
    """Losses that are rounding are scikit-learn's only where scikit-learn computes them."""
    X, _ = table(seed=20)
    X = X / X.std(axis=0)
    grid = (
        {"alpha": [1e-6, 1.0] if inner else [1e-9]} if isinstance(model, Ridge) else {}
    )
    grid = {"fit_intercept": [True, False]} if inner and not grid else grid
    result = Recipe(outer=4, inner=inner).run(
        family(model, grid=grid), X, X @ np.arange(1.0, 5.0), progress="off"
    )
    assert result.path == "refit"
    assert "rounding" in result.path_reason + " ".join(result.notes)


def test_no_penalty_is_least_squares():
    """alpha = 0 is a value like any other if the columns are independent."""
    X, y = table(seed=18)
    assert_as_refitted(
        "shared:ridge",
        family(Ridge(), grid={"alpha": [0.0, 1.0]}),
        X,
        y,
        Recipe(outer=4, inner=3),
    )


@pytest.mark.parametrize(
    "model",
    [
        Ridge(positive=True),
        Ridge(solver="lsqr"),
        RidgeClassifier(class_weight="balanced"),
        LinearRegression(positive=True),
    ],
    ids=["positive", "iterative", "class weights", "positive squares"],
)
def test_models_that_no_factorisation_gives_go_to_refit(model):
    """Other objectives and iterative solvers keep scikit-learn's own fits."""
    X, y = table(seed=19, n_classes=2 if is_classifier(model) else 0)
    grid = {} if isinstance(model, LinearRegression) else {"alpha": [1.0, 2.0]}
    result = Recipe(outer=3, inner=2 if grid else None).run(
        family(model, grid=grid), X, y, progress="off"
    )
    assert result.path == "refit"


@settings(max_examples=40)
@given(
    m=st.integers(12, 40),
    p=st.integers(1, 15),
    outer=st.integers(2, 6),
    inner=st.one_of(st.integers(2, 6), st.just("loo")),
    seed=st.integers(0, 10**6),
    scaled=st.booleans(),
    intercept=st.booleans(),
    weighted=st.booleans(),
    step=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_any_small_table_has_scikit_learns_numbers(
    m, p, outer, inner, seed, scaled, intercept, weighted, step
):
    """Rounded columns make ties, constants and collinear columns; whatever path runs, the
    numbers are scikit-learn's."""
    X, y = table(m, p, seed)
    X = X / X.std(axis=0)
    X = np.round(X / step) * step if step else X
    w = np.random.default_rng(seed).uniform(0.1, 3.0, m) if weighted else None
    fam = family(Ridge(fit_intercept=intercept), scaled, {"alpha": [1e-4, 0.1, 10.0]})
    path = Recipe(outer, inner).run(fam, X, y, sample_weight=w, progress="off").path
    assert_as_refitted(path, fam, X, y, Recipe(outer, inner), sample_weight=w)


@pytest.mark.parametrize("after", [2, 6])
def test_an_interrupt_while_refused_parts_are_refitted_keeps_those_that_are_done(
    after, monkeypatch
):
    """Two of four parts are left to refit, three inner fits and one outer fit each; the
    stop comes in one of them."""
    X, y = table()
    fam, recipe = family(Ridge(), grid={"alpha": [1.0, 2.0]}), Recipe(outer=4, inner=3)
    whole = recipe.run(fam, X, y, path="refit")
    one_part, evaluate, calls = ridge_path.LinearPath._part, Refit.run, []

    def refusing(self, kind, task, team, j):
        return (
            Refusal("not these rows") if j < 2 else one_part(self, kind, task, team, j)
        )

    def stopping(self, *args, **options):
        calls.append(1)
        if len(calls) > after:
            raise KeyboardInterrupt
        return evaluate(self, *args, **options)

    monkeypatch.setattr(ridge_path.LinearPath, "_part", refusing)
    monkeypatch.setattr(Refit, "run", stopping)
    part = shown_part(recipe, fam, X, y, n_jobs=1)
    assert part.complete is False
    assert part.fold_risks.tolist() == whole.fold_risks[: after // 5].tolist()
