"""k-NN on its fast paths: the numbers of scikit-learn and of the definition."""

import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GroupKFold, LeaveOneOut, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import cases
import naive
from cvnb import Family, Recipe
from cvnb.errors import CvnbError
from cvnb.paths.knn import search
from cvnb.results.estimate import record_of

VOTES, MEANS = KNeighborsClassifier, KNeighborsRegressor
KS = {"n_neighbors": [5, 1, 2, 9]}
NESTED = Recipe(outer=4, inner=3)
BLIND = Recipe(outer=4, inner=3, stratify=False)
EXACT = {"rtol": 1e-9, "atol": 1e-12}


def table(m=48, p=4, seed=0, n_classes=0):
    """Return normal columns, and a wavy response with noise or classes cut from it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p)) * np.linspace(1.0, 2.0, p)
    y = np.sin(2 * X[:, 0]) + X[:, -1] + 0.3 * rng.normal(size=m)
    return X, (np.argsort(np.argsort(y)) * n_classes // m if n_classes else y)


def data_for(model, **sizes):
    """Return a table with a target for this model."""
    return table(n_classes=3 if isinstance(model, VOTES) else 0, **sizes)


def run(model, grid, X, y, recipe=NESTED, **options):
    """Return the result of a family."""
    return recipe.run(Family(model, grid), X, y, progress="off", **options)


def behind(step, model, grid):
    """Return the model behind a step, and its grid under the pipeline's names."""
    name = type(model).__name__.lower()
    return make_pipeline(step, model), {
        f"{name}__{key}": values for key, values in grid.items()
    }


def of_definition(result, model, grid, X, y, scaled=False, loss=None, **fixed):
    """Return the definition's numbers on the splits of a result."""
    votes = isinstance(model, VOTES)
    plug_in = naive.fixed(
        naive.knn_classifier if votes else naive.knn_regressor, **fixed
    )
    plug_in = naive.scaled(plug_in) if scaled else plug_in
    inner = (
        None
        if result.inner_curves is None
        else [list(splits) for splits in result.plan.inner]
    )
    loss = loss or ("zero_one" if votes else "squared")
    return naive.nested(
        plug_in,
        naive.settings_of(grid),
        np.asarray(X),
        np.asarray(y),
        list(result.plan.outer),
        inner,
        loss,
    )


def assert_as_defined(result, expected, path="shared:knn"):
    """Curves, choices, losses and predictions are the definition's."""
    assert result.path == path, result.path_reason
    if result.inner_curves is not None:
        np.testing.assert_allclose(result.inner_curves, expected.inner_curves, **EXACT)
    assert result.chosen_index.tolist() == expected.chosen_index.tolist()
    np.testing.assert_allclose(result.outer_curves, expected.outer_curves, **EXACT)
    np.testing.assert_allclose(result.fold_risks, expected.fold_risks, **EXACT)
    np.testing.assert_allclose(
        [result.flat, result.optimism], [expected.flat, expected.optimism], **EXACT
    )
    for ours, theirs in zip(
        record_of(result).table.predictions, expected.predictions, strict=True
    ):
        assert_equal_or_close(ours, theirs)


def assert_equal_or_close(ours, theirs):
    if np.asarray(theirs).dtype.kind == "f":
        np.testing.assert_allclose(ours, theirs, **EXACT)
    else:
        assert np.array_equal(ours, theirs)


def assert_as_refitted(model, grid, X, y, recipe=NESTED, path="shared:knn", **options):
    """All of a result except its path equals what scikit-learn's own fits give."""
    fast = run(model, grid, X, y, recipe, **options)
    slow = run(model, grid, X, y, recipe, path="refit", **{"flat": True, **options})
    assert (fast.path, slow.path) == (path, "refit"), fast.path_reason
    assert (fast.inner_curves is None) == (slow.inner_curves is None)
    if fast.inner_curves is not None:
        np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, **EXACT)
    assert fast.chosen == slow.chosen
    assert (fast.outer_curves is None) == (slow.outer_curves is None)
    if fast.outer_curves is None:
        assert fast.risk is None
        return fast
    np.testing.assert_allclose(fast.outer_curves, slow.outer_curves, **EXACT)
    np.testing.assert_allclose(fast.fold_risks, slow.fold_risks, **EXACT)
    for number in ("risk", "flat", "optimism", "score"):
        ours, theirs = getattr(fast, number), getattr(slow, number)
        assert ours == theirs or ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    assert np.array_equal(
        np.ma.getmaskarray(fast.predictions), np.ma.getmaskarray(slow.predictions)
    )
    one, other = record_of(fast).table, record_of(slow).table
    for ours, theirs in zip(one.predictions, other.predictions, strict=True):
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        assert_equal_or_close(ours, theirs)
    for ours, theirs in zip(one.rows, other.rows, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, **EXACT)
    return fast


def bits(result):
    """Return every number of a result's table as bytes."""
    table = record_of(result).table
    numbers = [
        *(table.inner or ()),
        table.outer,
        table.chosen,
        *table.predictions,
        *(r for r in table.rows if r is not None),
    ]
    return [np.ascontiguousarray(array).tobytes() for array in numbers]


# Metrics, weights and widths


METRICS = {
    **{
        name: {"metric": [name]}
        for name in (
            "euclidean",
            "l2",
            "manhattan",
            "l1",
            "cityblock",
            "chebyshev",
            "cosine",
        )
    },
    **{f"p={p:g}": {"p": [p]} for p in (1, 1.5, 2, 3, np.inf)},
}


@pytest.mark.parametrize("p", [2, 9])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "model", [VOTES(), MEANS(weights="distance")], ids=["votes", "means"]
)
def test_every_metric_equals_its_definition_and_scikit_learn(model, metric, p):
    """Each metric gives the numbers of refitting and of the definition, for any width."""
    X, y = data_for(model, p=p, m=32)
    grid = {**KS, **METRICS[metric]}
    fast = assert_as_refitted(model, grid, X, y)
    assert_as_defined(
        fast, of_definition(fast, model, grid, X, y, weights=model.weights)
    )


@pytest.mark.parametrize("p", [2, 6, 17])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize(
    "model", [VOTES(weights="distance"), MEANS()], ids=["votes", "means"]
)
def test_behind_a_scaler_every_metric_equals_its_definition_and_scikit_learn(
    model, metric, p
):
    """So it does when every training part is standardised on its own."""
    X, y = data_for(model, p=p, m=32)
    grid = {**KS, "metric": [metric]}
    pipeline, named = behind(StandardScaler(), model, grid)
    fast = assert_as_refitted(
        pipeline, named, X * 10.0 ** np.arange(p) + 1e3, y, path="path:knn"
    )
    expected = of_definition(
        fast,
        model,
        grid,
        X * 10.0 ** np.arange(p) + 1e3,
        y,
        scaled=True,
        weights=model.weights,
    )
    assert_as_defined(fast, expected, "path:knn")


@pytest.mark.parametrize("p", [64, 130, 200])
def test_many_columns_equal_the_definition(p):
    """More columns than rows, and more than NumPy adds in one go, change nothing."""
    X, y = table(30, p)
    grid = {
        **KS,
        "weights": ["uniform", "distance"],
        "metric": ["euclidean", "manhattan"],
    }
    result = run(MEANS(), grid, X, y)
    assert_as_defined(result, of_definition(result, MEANS(), grid, X, y))


def test_six_hundred_rows_equal_scikit_learn():
    """With many more rows than neighbours every list is cut short; the numbers do not change."""
    X, y = table(600, 8)
    assert_as_refitted(
        MEANS(), {"n_neighbors": [1, 3, 40], "weights": ["uniform", "distance"]}, X, y
    )


# Difficult numbers


SEED = np.random.default_rng(5)
HARD = {
    "offset 1e6": lambda X: X + 1e6,
    "offset 1e9": lambda X: X + 1e9,
    "far apart": lambda X: X + np.where(np.arange(len(X)) % 2, 1e9, -1e9)[:, None],
    "scales": lambda X: X * 10.0 ** np.linspace(-8, 8, X.shape[1]),
    "outlier": lambda X: np.vstack([X[:-1], np.full((1, X.shape[1]), 1e12)]),
    "huge": lambda X: X * 1e140,
    "tiny": lambda X: X * 1e-140,
    "constant column": lambda X: np.column_stack([X, np.full(len(X), 7.1)]),
    "constant columns": lambda X: np.full(X.shape, 7.1),
    "copies": lambda X: X[np.arange(len(X)) // 3],
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int8": lambda X: np.clip(60 * X, -128, 127).astype(np.int8),
    "uint8": lambda X: np.clip(128 + 60 * X, 0, 255).astype(np.uint8),
    "int64": lambda X: np.round(1e15 * X).astype(np.int64),
    "bool": lambda X: X > 0,
    "grid": lambda X: np.round(X),
    "Fortran": np.asfortranarray,
    "every other": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("p", [3, 8])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize(
    "model", [VOTES(), MEANS(weights="distance")], ids=["votes", "means"]
)
def test_difficult_numbers_equal_the_definition(model, name, p):
    """Offsets, scales, outliers, copies and the dtype of X cost no digit."""
    X, y = data_for(model, m=33, p=p)
    X = HARD[name](X)
    grid = {"n_neighbors": [1, 3, 6]}
    result, X = run(model, grid, X, y), cases.in_double(X)
    assert_as_defined(
        result, of_definition(result, model, grid, X, y, weights=model.weights)
    )


@pytest.mark.parametrize(
    "name", ["offset 1e6", "scales", "constant column", "int8", "uint8", "huge", "tiny"]
)
def test_difficult_numbers_behind_a_scaler_equal_scikit_learn(name):
    """A scaler removes offsets, scales and the effect of small integers."""
    X, y = table(40, 3)
    pipeline, grid = behind(StandardScaler(), MEANS(), KS)
    assert_as_refitted(pipeline, grid, HARD[name](X), y, path="path:knn")


@pytest.mark.parametrize(
    "kind",
    [pd.DataFrame, pl.DataFrame, list, np.asfortranarray],
    ids=["pandas", "polars", "lists", "F"],
)
@pytest.mark.parametrize(
    "step", [None, StandardScaler(), MinMaxScaler()], ids=["bare", "scaled", "behind"]
)
def test_containers_change_nothing(kind, step):
    """Frames and lists of lists give bit-equal numbers."""
    X, y = table(n_classes=2)
    pipeline, grid = (VOTES(), KS) if step is None else behind(step, VOTES(), KS)
    rows = (
        X.tolist()
        if kind is list
        else kind({f"x{c}": X[:, c] for c in range(4)})
        if kind in (pd.DataFrame, pl.DataFrame)
        else X
    )
    given, plain = run(pipeline, grid, rows, y), run(pipeline, grid, X, y)
    assert given.path == plain.path != "refit"
    assert bits(given) == bits(plain)


LABELS = {
    "words": np.array(["no", "maybe", "yes"]),
    "objects": np.array(["no", "maybe", "yes"], dtype=object),
    "truths": np.array([False, True, True]),
    "negative": np.array([-7, 0, 1000]),
    "halves": np.array([0.0, 1.0, 5.0]),
    "bytes": np.array([0, 7, 255], dtype=np.uint8),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_any_kind_come_back_as_they_were(name):
    """Predictions have y's own labels and dtype; ties go to the smallest label."""
    X, codes = table(n_classes=3)
    y = LABELS[name][codes]
    grid = {"n_neighbors": [2, 4, 6], "weights": ["uniform", "distance"]}
    result = assert_as_refitted(VOTES(), grid, X, y)
    assert_as_defined(result, of_definition(result, VOTES(), grid, X, y))


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("loss", ["zero_one", "log"])
def test_classes_missing_from_a_training_part_equal_scikit_learn(loss):
    """Rare classes and training parts of one class give what refitting gives."""
    X, _ = table(24)
    y = np.array(["a"] * 12 + ["b"] * 11 + ["rare"])
    halves = [(np.arange(12), np.arange(12, 24)), (np.arange(6, 24), np.arange(6))]
    recipe = Recipe(outer=halves, inner=ShuffleSplit(2, test_size=0.4, random_state=0))
    assert_as_refitted(VOTES(), {"n_neighbors": [1, 3]}, X, y, recipe, loss=loss)


# Grids


GRIDS = {
    "unsorted and repeated": {"n_neighbors": [7, 1, 7, 3, 1]},
    "three axes": {
        "n_neighbors": [4, 1],
        "p": [1, 2, 3],
        "weights": ["distance", "uniform"],
    },
    "metrics": {"metric": ["manhattan", "cosine", "l2"], "n_neighbors": [3, 2]},
    "list of grids": [
        {"n_neighbors": [9, 2]},
        {"metric": ["chebyshev"], "weights": ["distance"]},
        {"p": [1.5, 2]},
    ],
    "no matter": {
        "algorithm": ["brute", "auto", "kd_tree"],
        "leaf_size": [5, 30],
        "n_jobs": [None, 1],
    },
    "no k": {"p": [np.inf, 1, 2]},
    "empty": {},
    "numpy": {"n_neighbors": np.arange(1, 6)},
    "weights=None": {"weights": [None, "distance"]},
}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("model", [VOTES(), MEANS()], ids=["votes", "means"])
def test_grids_of_any_shape_equal_scikit_learn(model, name):
    """Several axes, lists of grids and repeated points give scikit-learn's numbers."""
    assert_as_refitted(model, GRIDS[name], *data_for(model))


@pytest.mark.parametrize(
    "model", [VOTES(), MEANS(weights="distance")], ids=["votes", "means"]
)
@pytest.mark.parametrize("scaled", [False, True])
def test_k_may_be_the_whole_training_part(model, scaled):
    """k equal to the smallest inner training part takes all of its rows."""
    X, y = data_for(model, m=24)
    grid = {"n_neighbors": [12, 1, 11]}  # 24 rows, 18 outside, 12 inside
    pipeline, named = behind(StandardScaler(), model, grid) if scaled else (model, grid)
    result = run(pipeline, named, X, y, BLIND)
    expected = of_definition(result, model, grid, X, y, scaled, weights=model.weights)
    assert_as_defined(result, expected, "path:knn" if scaled else "shared:knn")


def test_k_larger_than_a_training_part_is_refused():
    """The error gives the size of the inner training part that is one row too small."""
    X, y = table(24)
    with pytest.raises(
        CvnbError,
        match="n_neighbors=13 needs 13 training rows, but inner split 0 of outer split 0 has 12",
    ):
        run(MEANS(), {"n_neighbors": [12, 13]}, X, y, BLIND)


def test_sample_weight_is_refused():
    """k-NN takes no weights on any path."""
    X, y = table(24)
    for path in ("auto", "refit"):
        with pytest.raises(CvnbError, match="sample_weight"):
            run(MEANS(), {}, X, y, sample_weight=np.ones(24), path=path)


# Behind transformers


def steps(model, **chain):
    """Return a pipeline of named steps ahead of the model, which is called knn."""
    return Pipeline([*chain.items(), ("knn", model)])


CHAINS = {
    "pca": (
        steps(VOTES(), pca=PCA(random_state=0)),
        {"pca__n_components": [1, 3], "knn__n_neighbors": [5, 2]},
    ),
    "scaler and pca": (
        steps(VOTES(), scale=StandardScaler(), pca=PCA(2, random_state=0)),
        {"pca__whiten": [True, False], "knn__weights": ["uniform", "distance"]},
    ),
    "min-max": (
        steps(MEANS(), scale=MinMaxScaler()),
        {"knn__p": [1, 2, 1.5], "knn__n_neighbors": [3, 7]},
    ),
    "polynomials": (
        steps(MEANS(), poly=PolynomialFeatures()),
        {"poly__degree": [1, 3], "knn__n_neighbors": [1, 4]},
    ),
    "best columns": (
        steps(VOTES(), best=SelectKBest(f_classif, k=2)),
        {"best__k": [1, 2, "all"], "knn__n_neighbors": [4, 1]},
    ),
    "another scaler": (
        steps(MEANS(), scale=StandardScaler()),
        {
            "scale": [StandardScaler(), MinMaxScaler(), "passthrough", RobustScaler()],
            "knn__n_neighbors": [2, 5],
        },
    ),
    "uncentred": (
        steps(MEANS(), scale=StandardScaler(with_mean=False)),
        {"knn__n_neighbors": [2, 5]},
    ),
    "unscaled": (
        steps(MEANS(), scale=StandardScaler(with_std=False)),
        {"knn__n_neighbors": [2, 5]},
    ),
    "with or without mean": (
        steps(VOTES(), scale=StandardScaler()),
        {"scale__with_mean": [True, False]},
    ),
    "scaler or none": (
        steps(VOTES(), scale=StandardScaler()),
        {
            "scale": ["passthrough", StandardScaler(), None],
            "knn__n_neighbors": [5, 2],
            "knn__metric": ["l1", "cosine"],
        },
    ),
    "two scalers": (
        steps(MEANS(), one=StandardScaler(), two=StandardScaler()),
        {"knn__n_neighbors": [2, 5]},
    ),
    "scaler and nothing": (
        steps(MEANS(), one="passthrough", two=StandardScaler()),
        {"knn__n_neighbors": [2, 5]},
    ),
    "another model": (
        steps(MEANS(), scale=StandardScaler()),
        {"knn": [MEANS(3), MEANS(weights="distance"), MEANS(2, p=1)]},
    ),
    "a list": (
        steps(VOTES(), scale=StandardScaler()),
        [
            {"knn__n_neighbors": [9, 1]},
            {"scale": [MinMaxScaler()], "knn__p": [1, 2]},
            {"scale": ["passthrough"]},
        ],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_behind_transformers_equals_scikit_learn(name):
    """Steps ahead of the model, and grids over them, give scikit-learn's numbers."""
    pipeline, grid = CHAINS[name]
    X, y = data_for(pipeline.steps[-1][1])
    assert_as_refitted(pipeline, grid, X + 3.0, y, path="path:knn")


def test_a_pipeline_of_nothing_but_the_model_shares_its_neighbours():
    """Steps that do nothing leave the distances the same in every training part."""
    X, y = table()
    assert_as_refitted(
        steps(MEANS(), nothing="passthrough"), {"knn__n_neighbors": [2, 5]}, X, y
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_transformer_that_fails_costs_its_own_settings():
    """Settings behind a step that cannot be fitted are NaN and named; the others are unchanged."""
    X, y = table()
    grid = {"pca__n_components": [1, 99, 2], "knn__n_neighbors": [1, 5]}
    fast, slow = (
        run(steps(MEANS(), pca=PCA()), grid, X, y, path=path)
        for path in ("auto", "refit")
    )
    assert (fast.path, slow.path) == ("path:knn", "refit")
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, **EXACT)
    assert np.isnan(fast.inner_curves[:, [1, 4]]).all()
    assert fast.chosen == slow.chosen
    assert any("n_components=99" in note for note in fast.notes)


# Recipes


def rows_of_lists():
    """Return outer and inner lists with unused rows, overlapping tests and unordered rows."""
    rng = np.random.default_rng(3)
    outer, inner = [], []
    for _ in range(3):
        order = rng.permutation(48)
        train = order[:30]
        outer.append((train, order[30:41]))
        inner.append(
            [
                (part[:17], part[17:26])
                for part in (rng.permutation(train), rng.permutation(train))
            ]
        )
    return {"outer": outer, "inner": inner}


RECIPES = {
    "nested_cv": Recipe.nested_cv(4, inner=3),
    "unequal": Recipe(outer=5, inner=7),
    "nested_dev": Recipe.nested_dev(4),
    "nested_resampling": Recipe.nested_resampling(outer=3, inner=4),
    "train_validation_test": Recipe.train_validation_test(),
    "cv_test": Recipe.cv_test(inner=3),
    "resampling_test": Recipe.resampling_test(samples=4),
    "internal_cv": Recipe.internal_cv(5),
    "dev_set": Recipe.dev_set(),
    "loo outside": Recipe(outer="loo", inner=2),
    "loo inside": Recipe(outer=3, inner="loo"),
    "LeaveOneOut": Recipe(
        outer=LeaveOneOut(), inner=ShuffleSplit(2, test_size=0.25, random_state=0)
    ),
    "shuffled": Recipe(outer=ShuffleSplit(3, test_size=0.3, random_state=2), inner=3),
    "shuffled inside": Recipe(
        outer=3, inner=ShuffleSplit(4, test_size=0.25, random_state=8)
    ),
    "time": Recipe(outer=4, inner=3, time_ordered=True),
    "time and buffer": Recipe(outer=4, inner=3, time_ordered=True, buffer=2),
    "given rows": Recipe(**rows_of_lists()),
    "test rows": Recipe(test_rows=np.arange(40, 48), inner=4),
    "dev rows": Recipe(test_rows=np.arange(40, 48), dev_rows=[3, 1, 7, 22, 30]),
}


@pytest.mark.parametrize("scaled", [False, True], ids=["bare", "scaled"])
@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_equals_scikit_learn(name, scaled):
    """For any splits the curves, row losses and predictions are those of refitting."""
    X, y = table(
        48 if name in ("given rows", "test rows", "dev rows") else 31, 3, n_classes=3
    )
    grid = {"n_neighbors": [4, 1, 7]}
    model, grid = behind(StandardScaler(), VOTES(), grid) if scaled else (VOTES(), grid)
    assert_as_refitted(
        model, grid, X, y, RECIPES[name], "path:knn" if scaled else "shared:knn"
    )


@pytest.mark.parametrize(
    "name", ["nested_dev", "loo inside", "time and buffer", "given rows"]
)
def test_recipes_behind_transformers_equal_scikit_learn(name):
    """The path that goes split by split takes the same splits."""
    X, y = table(48, 3)
    model, grid = behind(MinMaxScaler(), MEANS(), {"n_neighbors": [1, 4]})
    assert_as_refitted(model, grid, X, y, RECIPES[name], "path:knn")


@pytest.mark.parametrize("name", ["external_cv", "leave_one_out", "validation"])
def test_recipes_that_choose_nothing_equal_scikit_learn(name):
    """One setting is only measured."""
    X, y = table(31, 3)
    assert_as_refitted(MEANS(4, weights="distance"), {}, X, y, getattr(Recipe, name)())


@pytest.mark.parametrize(
    "recipe",
    [Recipe(outer=4, inner=3), Recipe(outer=GroupKFold(4), inner=GroupKFold(3))],
)
@pytest.mark.parametrize("scaled", [False, True], ids=["bare", "scaled"])
def test_groups_equal_scikit_learn(recipe, scaled):
    """With groups kept together at both levels the numbers are those of refitting."""
    X, y = table(48, 3)
    model, grid = behind(StandardScaler(), MEANS(), KS) if scaled else (MEANS(), KS)
    path = "path:knn" if scaled else "shared:knn"
    assert_as_refitted(model, grid, X, y, recipe, path, groups=np.arange(48) % 16)


@pytest.mark.parametrize("m", [8, 9, 11])
def test_a_handful_of_rows_equals_scikit_learn(m):
    """Eight rows are enough."""
    X, y = table(m, 2)
    assert_as_refitted(
        MEANS(), {"n_neighbors": [1, 2, 3]}, X, y, Recipe(outer=4, inner=2)
    )
    assert_as_refitted(
        MEANS(), {"n_neighbors": [2, 1]}, X, y, Recipe(outer="loo", inner="loo")
    )


def any_splits(rng, rows, least):
    """Draw one to three splits of some rows in any order, with a minimal training size."""
    splits = []
    for _ in range(rng.integers(1, 4)):
        order = rng.permutation(rows)
        n_train = rng.integers(least, len(rows))
        splits.append(
            (order[:n_train], order[n_train : rng.integers(n_train, len(rows)) + 1])
        )
    return splits


@settings(max_examples=120)
@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.sampled_from([1, 2, 5, 6, 8, 15, 130]),
    kind=st.sampled_from(["numbers", "whole", "bits", "copies", "offset", "outlier"]),
    metric=st.sampled_from(list(METRICS)),
    weights=st.sampled_from(["uniform", "distance"]),
)
def test_any_rows_under_any_splits_equal_the_definition(seed, p, kind, metric, weights):
    """Many ties, unused rows, overlapping tests and any k give the definition's numbers."""
    assume(
        not (kind == "whole" and metric == "p=1.5")
    )  # whose powers round, and NumPy's pow is not the C library's
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(12, 40)), p))
    X = {
        "numbers": X,
        "whole": rng.integers(0, 3, size=X.shape),
        "bits": X > 0,
        "copies": X[rng.integers(0, 6, len(X))],
        "offset": X + 1e9,
        "outlier": X * np.where(rng.random(len(X)) < 0.1, 1e12, 1.0)[:, None],
    }[kind]
    if metric == "cosine":
        X = X + (X == 0).all(axis=1)[:, None]  # a row of zeros has no direction
    votes = bool(rng.integers(2))
    y = rng.choice(["a", "b", "c"], len(X)) if votes else rng.normal(size=len(X))
    outer = any_splits(rng, np.arange(len(X)), 8)
    inner = [any_splits(rng, train, 5) for train, _ in outer]
    smallest = min(len(train) for splits in [outer, *inner] for train, _ in splits)
    grid = {
        "n_neighbors": [int(rng.integers(1, smallest + 1)), smallest, 1],
        "weights": [weights],
        **METRICS[metric],
    }
    model = VOTES() if votes else MEANS()
    result = run(model, grid, X, y, Recipe(outer=outer, inner=inner))
    if any(
        "splits were refitted: rows are nearly parallel" in note
        for note in result.notes
    ):
        assert metric == "cosine"
        assert weights == "distance"
        return
    assert_as_defined(result, of_definition(result, model, grid, X, y))


# Losses and scores


def huber(y, prediction):
    """A loss of the user's own."""
    gap = np.abs(y - prediction)
    return np.where(gap < 1, gap**2 / 2, gap - 0.5)


MEASURES = {
    "absolute": (MEANS(), {"loss": "absolute"}),
    "squared": (MEANS(), {"loss": "squared"}),
    "user's": (MEANS(), {"loss": huber}),
    "log": (VOTES(), {"loss": "log"}),
    **{
        name: (VOTES(), {"scoring": name})
        for name in ("accuracy", "f1_macro", "balanced_accuracy", "neg_log_loss")
    },
    **{
        name: (VOTES(), {"scoring": name})
        for name in ("roc_auc_ovr", "matthews_corrcoef", "d2_log_loss_score")
    },
    **{
        name: (MEANS(), {"scoring": name})
        for name in ("r2", "neg_median_absolute_error", "neg_root_mean_squared_error")
    },
    "made": (
        MEANS(),
        {"scoring": make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.9)},
    ),
}


@pytest.mark.parametrize("path", ["shared:knn", "path:knn", "behind"])
@pytest.mark.parametrize("name", MEASURES)
def test_every_loss_and_score_equals_scikit_learn(name, path):
    """Losses by row and scores by part are those of refitting."""
    model, options = MEASURES[name]
    X, y = data_for(model, m=60)
    grid = {"n_neighbors": [3, 9]}
    if path != "shared:knn":
        model, grid = behind(
            MinMaxScaler() if path == "behind" else StandardScaler(), model, grid
        )
    assert_as_refitted(
        model,
        grid,
        X,
        y,
        Recipe(outer=3, inner=2),
        "path:knn" if path == "behind" else path,
        **options,
    )


@pytest.mark.parametrize(
    "scoring", ["roc_auc", "average_precision", "neg_brier_score", "f1", "recall"]
)
def test_scores_of_two_classes_equal_scikit_learn(scoring):
    """Scores of the positive class's probability are those of refitting."""
    X, y = table(60, n_classes=2)
    grid = {"n_neighbors": [3, 9], "weights": ["uniform", "distance"]}
    assert_as_refitted(VOTES(), grid, X, y, Recipe(outer=3, inner=2), scoring=scoring)


def test_log_loss_of_a_class_that_no_neighbour_has_is_clipped():
    """A probability of 0 costs -log(eps), as in scikit-learn."""
    X, y = table(40, n_classes=2)
    result = assert_as_refitted(VOTES(1), {}, X, y, Recipe.external_cv(4), loss="log")
    rows = np.concatenate(record_of(result).table.rows)
    assert np.allclose(rows[rows > 1], -np.log(np.finfo(float).eps))


@pytest.mark.parametrize("scaled", [False, True], ids=["bare", "scaled"])
def test_a_loss_that_is_not_finite_is_left_to_refit(scaled):
    """Parts where a loss is NaN are refitted, and a note gives the reason."""

    X, y = table(40)
    most = 0.9 * y.max()

    def broken(y, prediction):
        return np.where(prediction > most, np.nan, 1.0)

    model, grid = behind(StandardScaler(), MEANS(), KS) if scaled else (MEANS(), KS)
    result = run(model, grid, X, y, loss=broken)
    assert any(
        "splits were refitted: the broken loss fails somewhere" in note
        for note in result.notes
    )
    assert any(
        note.startswith("n_neighbors=1 failed") or "__n_neighbors=1 failed" in note
        for note in result.notes
    )


# Ties


def n_tied(result, grid, X, p=2):
    """Return the number of predictions whose k-th and next neighbour are equally far."""
    parts = [
        *result.plan.outer,
        *(pair for splits in result.plan.inner or () for pair in splits),
    ]
    total = 0
    for train, test in parts:
        for x in X[test]:
            d = naive.ranked(X[train], x, p=p)[1]
            total += sum(d[k] == d[k - 1] for k in grid["n_neighbors"] if k < len(d))
    return total


@pytest.mark.parametrize("p", [1, 2, 7])
@pytest.mark.parametrize("power", [1, 2])
def test_equal_distances_go_to_the_smaller_row_number_and_are_counted(p, power):
    """On a grid of whole numbers every tie is decided as defined, and the note counts them all."""
    X = np.random.default_rng(1).integers(0, 4, size=(36, p)).astype(float)
    y = np.random.default_rng(2).normal(size=36)
    grid = {"n_neighbors": [1, 4, 4, 9]}
    result = run(MEANS(p=power), grid, X, y)
    assert_as_defined(result, of_definition(result, MEANS(), grid, X, y, p=power))
    n = n_tied(result, grid, X, power)
    note = (
        f"At {n} predictions the k-th and the next neighbour are equally far: "
        "distance, then row number, decided."
    )
    assert n > 0
    assert note in result.notes


def test_ties_behind_transformers_are_counted():
    """Split by split the note gives the same count."""
    X = np.random.default_rng(1).integers(0, 5, size=(36, 2)).astype(float)
    X[:2] = [[0, 0], [4, 4]]
    y = np.random.default_rng(2).normal(size=36)
    grid = {"n_neighbors": [1, 4, 9]}
    model, named = behind(
        StandardScaler(with_mean=False, with_std=False), MEANS(), grid
    )
    result = run(model, named, X, y)
    n = n_tied(result, grid, X)
    expected = f"At {n} predictions the k-th and the next neighbour are equally far"
    assert any(note.startswith(expected) for note in result.notes)


@pytest.mark.parametrize(
    "step", [None, StandardScaler(), MinMaxScaler()], ids=["bare", "scaled", "behind"]
)
def test_without_equal_distances_there_is_no_note(step):
    """Rows in general position give no note about ties."""
    X, y = table()
    model, grid = (MEANS(), KS) if step is None else behind(step, MEANS(), KS)
    assert not any("equally far" in note for note in run(model, grid, X, y).notes)


def test_rows_in_another_order_are_other_rows():
    """Ties follow the row number in the whole data, in any order of a list of rows."""
    X, y = (
        np.array([[0.0], [1.0], [-1.0], [1.0], [0.0], [9.0]]),
        np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
    )
    for order in ([1, 2, 3, 5], [3, 2, 1, 5], [5, 3, 2, 1]):
        for model in (MEANS(1), steps(MEANS(1), scale=MinMaxScaler())):
            result = run(model, {}, X, y, Recipe(outer=[(order, [0, 4])], inner=None))
            assert record_of(result).table.predictions[0].tolist() == [1.0, 1.0]


# Threads


JOBS = {
    "bare": (VOTES(), {**KS, "p": [1, 2]}),
    "product": (VOTES(), {**KS, "metric": ["cosine", "l2"]}),
    "scaled": behind(
        StandardScaler(), VOTES(), {**KS, "weights": ["uniform", "distance"]}
    ),
    "mixed": (
        steps(VOTES(), scale=StandardScaler()),
        {"scale": ["passthrough", StandardScaler()], "knn__p": [1, 2]},
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_the_number_of_threads_moves_no_bit(name):
    """One, two and four threads, and those of a joblib configuration, give the same table."""
    model, grid = JOBS[name]
    X, y = table(700, 9 if name == "product" else 3, n_classes=3)
    one = run(model, grid, X, y, n_jobs=1)
    for n in (2, 4, None):
        assert bits(run(model, grid, X, y, n_jobs=n)) == bits(one)
    with joblib.parallel_config(n_jobs=2):
        again = run(model, grid, X, y)
    assert bits(again) == bits(one)
    assert again.notes == one.notes


def test_workers_behind_transformers_move_no_bit():
    """Two workers give the table and the notes of one."""
    model, grid = behind(MinMaxScaler(), MEANS(), KS)
    X, y = table(40)
    one = run(model, grid, X, y, n_jobs=1)
    with joblib.parallel_config("threading", n_jobs=2):
        two = run(model, grid, X, y)
    assert bits(two) == bits(one)
    assert two.notes == one.notes


# Leaks


LEAKS = {
    "bare": (MEANS(), {**KS, "weights": ["uniform", "distance"]}),
    "product": (MEANS(), {**KS, "metric": ["cosine", "l2"]}),
    "powers": (MEANS(), {**KS, "p": [1, 1.5, 3, np.inf]}),
    "scaled": behind(StandardScaler(), MEANS(), KS),
    "pca": (
        steps(MEANS(), pca=PCA(2, random_state=0)),
        {"knn__n_neighbors": [1, 4, 8]},
    ),
}


@pytest.mark.parametrize("huge", [3.0, 1e6, 1e12])
@pytest.mark.parametrize("name", LEAKS)
def test_garbage_in_an_outer_test_part_moves_no_bit_of_its_choice(name, huge):
    """X and y of an outer test part change no bit of its inner losses or its choice."""
    model, grid = LEAKS[name]
    X, y = table(45, 9 if name == "product" else 3)
    clean = run(model, grid, X, y)
    for j in (0, 3):
        rows, rng = clean.plan.outer[j][1], np.random.default_rng(7)
        dirty_X, dirty_y = X.copy(), y.copy()
        dirty_X[rows], dirty_y[rows] = (
            huge * rng.normal(size=(rows.size, X.shape[1])),
            huge * rng.normal(size=rows.size),
        )
        dirty = run(model, grid, dirty_X, dirty_y)
        assert (
            record_of(dirty).table.inner[j].tobytes()
            == record_of(clean).table.inner[j].tobytes()
        )
        assert dirty.chosen_index[j] == clean.chosen_index[j]


@pytest.mark.parametrize("name", LEAKS)
def test_permuting_rows_together_with_the_splits_permutes_the_answer(name):
    """The numbers are equal, and the predictions move with their rows."""
    model, grid = LEAKS[name]
    X, y = table(45, 9 if name == "product" else 3)
    before = run(model, grid, X, y)
    order = np.random.default_rng(1).permutation(len(y))
    place = np.argsort(order)
    outer = [(place[train], place[test]) for train, test in before.plan.outer]
    inner = [
        [(place[train], place[test]) for train, test in splits]
        for splits in before.plan.inner
    ]
    after = run(model, grid, X[order], y[order], Recipe(outer=outer, inner=inner))
    np.testing.assert_allclose(after.inner_curves, before.inner_curves, **EXACT)
    np.testing.assert_allclose(after.outer_curves, before.outer_curves, **EXACT)
    np.testing.assert_allclose(after.predictions[place], before.predictions, **EXACT)
    assert after.chosen == before.chosen


# What follows a run


@pytest.mark.parametrize("name", ["bare", "scaled", "pca"])
def test_the_final_predictor_is_that_of_refitting(name):
    """The setting chosen on all rows and the fitted predictor are those of refitting."""
    model, grid = LEAKS[name]
    X, y = table()
    fast, slow = (run(model, grid, X, y, path=path) for path in ("auto", "refit"))
    assert fast.final_setting == slow.final_setting
    for kind in ("retrain", "ensemble"):
        np.testing.assert_allclose(
            fast.predictor(kind).predict(X), slow.predictor(kind).predict(X), **EXACT
        )


def test_a_repeated_training_row_counts_twice():
    """A list that has a training row twice is refitted, where it is two neighbours."""
    X, y = table(12, 2)
    splits = [(np.array([0, 0, 1, 2, 3, 4]), np.array([5, 6]))]
    result = run(MEANS(3), {}, X, y, Recipe(outer=splits, inner=None))
    assert result.path == "refit"
    twice = X[splits[0][0]], y[splits[0][0]]
    assert (
        record_of(result).table.predictions[0].tolist()
        == MEANS(3).fit(*twice).predict(X[[5, 6]]).tolist()
    )


# Trees


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("p", [1, 3, 7])
def test_a_tree_finds_the_same_neighbours(monkeypatch, metric, p):
    """With a tree the table is bit for bit that of computing all distances."""
    X, y = table(300, p, n_classes=3)
    X[::2] = np.round(4 * X[::2]) / 4  # half of the rows on a grid, with ties
    grid = {**KS, "weights": ["uniform", "distance"], **METRICS[metric]}
    plain = run(VOTES(), grid, X, y)
    calls = []
    monkeypatch.setattr(
        search, "_worth_a_tree", lambda n, n_columns: calls.append(n) or True
    )
    assert bits(run(VOTES(), grid, X, y)) == bits(plain)
    assert calls


def test_nothing_is_warned_of():
    """Distances of zero and infinite weights cause no warning."""
    X, y = table(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(MEANS(weights="distance"), KS, X[np.arange(30) // 3], y)
