"""Numbers of components as an axis: one decomposition per split serves every number, where the
solver finds all components at once."""

import threading
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cvnb import Family, Recipe
from cvnb.engine import workers
from cvnb.paths.knn import leading
from cvnb.paths.knn import path as knn
from cvnb.runs.prepare import dry_run

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 8)) * np.linspace(1.0, 3.0, 8)
Y = X @ RNG.normal(size=8) + 0.3 * RNG.normal(size=60)
WIDE = RNG.normal(size=(60, 90))
LARGE = np.tile(RNG.normal(size=(720, 30)), 4) + 0.1 * RNG.normal(size=(720, 120))
THREE = Recipe(3, 3)


def family(*steps, numbers, **grid):
    """A pipeline of steps named a, b, c, ..., of which the PCA is called "pca"."""
    names = ["pca" if type(step) in (PCA, TruncatedSVD) else None for step in steps]
    names = [name or "abcdef"[i] for i, name in enumerate(names)]
    pipeline = Pipeline(list(zip(names, steps, strict=True)))
    return Family(pipeline, {"pca__n_components": list(numbers), **grid})


def both(fam, X=X, y=Y, recipe=THREE, **options):
    """The results of the path and of refit."""
    return [
        recipe.run(fam, X, y, flat=True, path=path, progress="off", **options)
        for path in ("auto", "refit")
    ]


def assert_equal(fast, slow):
    """The same losses, choices and predictions."""
    for name in ("inner_curves", "outer_curves", "fold_risks"):
        ours, theirs = getattr(fast, name), getattr(slow, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert fast.chosen == slow.chosen
    if slow.predictions.dtype.kind == "f":
        np.testing.assert_allclose(fast.predictions, slow.predictions, rtol=1e-8)


@pytest.fixture
def fits(monkeypatch):
    """Counter of the decompositions that are made."""
    made = Counter()
    for kind in (PCA, TruncatedSVD):
        original = kind.fit_transform

        def count(self, X, y=None, kind=kind, original=original):
            made[kind.__name__] += 1
            return original(self, X, y)

        monkeypatch.setattr(kind, "fit_transform", count)
    return made


LASSO = Lasso(tol=1e-12, max_iter=100_000)
NUMBERS = [1, 3, 5, 2, 8]
SERVED = {
    "least squares": family(PCA(), LinearRegression(), numbers=NUMBERS),
    "without an intercept": family(
        PCA(), LinearRegression(fit_intercept=False), numbers=NUMBERS
    ),
    "whitened": family(PCA(whiten=True), Ridge(), numbers=NUMBERS, b__alpha=[0.1, 9.0]),
    "without an intercept, penalised": family(
        PCA(), Ridge(fit_intercept=False), numbers=NUMBERS, b__alpha=[1e-3, 1.0, 50.0]
    ),
    "lasso": family(
        PCA("mle", svd_solver="full"), LASSO, numbers=[1, 4], b__alpha=[1, 2]
    ),
    "covariance": family(
        PCA(svd_solver="covariance_eigh"), KNeighborsRegressor(), numbers=NUMBERS
    ),
    "scalers on both sides": family(
        StandardScaler(), PCA(), StandardScaler(), LinearRegression(), numbers=NUMBERS
    ),
    "products of columns ahead": family(
        PolynomialFeatures(2), PCA(), LinearRegression(), numbers=NUMBERS
    ),
    "shares of the variance": family(
        PCA(), LinearRegression(), numbers=[0.5, 0.8, 0.95, 0.3]
    ),
    "shares and numbers": family(PCA(), LinearRegression(), numbers=[0.5, 3, 0.7, 7]),
    "all components": family(PCA(), LinearRegression(), numbers=[None, 0.9, 2]),
    "arpack": family(
        PCA(svd_solver="arpack", random_state=0), LinearRegression(), numbers=[1, 3, 5]
    ),
    "TruncatedSVD": family(
        TruncatedSVD(algorithm="arpack", random_state=0), Ridge(), numbers=[1, 3, 5, 2]
    ),
}


@pytest.mark.parametrize("name", SERVED)
def test_one_decomposition_serves_every_number(name, fits):
    """Each split has one decomposition, and the numbers are those of one for each setting."""
    fast = THREE.run(SERVED[name], X, Y, flat=True, progress="off")
    assert sum(fits.values()) == 12
    assert "with the most components" in fast.path_reason
    slow = THREE.run(SERVED[name], X, Y, flat=True, progress="off", path="refit")
    assert_equal(fast, slow)


MODELS = {
    "lines": family(PCA(), LinearRegression(), numbers=NUMBERS),
    "ridge": family(PCA(), Ridge(), numbers=NUMBERS, b__alpha=[1e-3, 10.0]),
}
DATA = {
    "more columns than rows": (WIDE, Y, {}),
    "columns twice": (np.hstack([X, X]), Y, {}),
    "a constant column": (np.column_stack([X, np.full(60, 7.1)]), Y, {}),
    "whole numbers": (np.round(100 * X).astype(int), Y, {}),
    "far from zero": (X + 1e4, Y, {}),
    "very far from zero": (X + 1e6, Y, {}),
    "weights": (X, Y, {"sample_weight": RNG.uniform(0.1, 2.0, 60)}),
    "a frame": (pd.DataFrame(X).add_prefix("c"), Y, {}),
    "an exact fit": (X, X @ np.ones(8), {}),
    "rows in any order": (
        X,
        Y,
        {
            "recipe": Recipe(
                [
                    (np.arange(59, 10, -1), np.arange(10)),
                    (RNG.permutation(40), np.arange(40, 60)),
                ],
                KFold(3),
            )
        },
    ),
    "leave-one-out": (X[:25], Y[:25], {"recipe": Recipe(2, "loo")}),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", DATA)
def test_any_rows_have_the_numbers_of_refit(name, model):
    """Whatever is refused is refitted, and the rest agrees."""
    X, y, options = DATA[name]
    assert_equal(*both(MODELS[model], X, y, **options))


CLASSES = np.array(["a", "b", "c"])[np.digitize(Y, [-2.0, 2.0])]


@pytest.mark.parametrize("y", [CLASSES, CLASSES == "a"], ids=["three", "two"])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc_ovr"])
def test_classifiers_have_the_numbers_of_refit(y, scoring):
    """Logistic regression and the ridge classifier on leading components."""
    model = LogisticRegression(tol=1e-12, max_iter=10_000)
    fam = family(PCA(), model, numbers=[1, 3, 8], b__C=[0.1, 1.0])
    assert_equal(*both(fam, X, y, scoring=scoring))
    if scoring == "accuracy":
        fam = family(PCA(), RidgeClassifier(), numbers=NUMBERS, b__alpha=[0.1, 1.0])
        fast, slow = both(fam, X, y)
        assert_equal(fast, slow)
        assert np.array_equal(fast.predictions, slow.predictions)


def test_sparse_rows_have_the_numbers_of_refit():
    """TruncatedSVD takes a sparse X as it is."""
    svd = TruncatedSVD(algorithm="arpack", random_state=0)
    fam = family(svd, LinearRegression(), numbers=[1, 3])
    assert_equal(*both(fam, sp.csr_matrix(X * (X > 1))))


EACH = {
    "a randomized PCA": PCA(svd_solver="randomized", random_state=0),
    "a randomized PCA without a seed": PCA(svd_solver="randomized"),
    "a randomized TruncatedSVD": TruncatedSVD(random_state=0),
}


@pytest.mark.parametrize("name", EACH)
def test_a_randomized_solver_is_fitted_for_each_number(name, fits):
    """Its directions depend on their number; outside only the chosen one is fitted."""
    fam = family(EACH[name], LinearRegression(), numbers=[1, 3, 5])
    fast = THREE.run(fam, X, Y, progress="off")
    assert sum(fits.values()) == 9 * 3 + 3
    assert "draws random directions" in fast.path_reason
    assert fast.outer_curves is None
    assert_equal(*both(fam))


def test_auto_is_shared_where_it_resolves_to_the_same_solver(fits):
    """Outer parts of more than 500 rows or columns are random, inner ones are not."""
    y = LARGE[:, :4].sum(axis=1) + RNG.normal(size=720)
    fam = family(PCA(random_state=0), LinearRegression(), numbers=[1, 3, 5, 119])
    recipe = Recipe(4, 2)
    fast = recipe.run(fam, LARGE, y, progress="off")
    assert fits["PCA"] == 4 * 2 + 4
    assert "would do so in the largest training parts too" in fast.path_reason
    slow = recipe.run(fam, LARGE, y, progress="off", path="refit")
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-9)
    np.testing.assert_allclose(fast.fold_risks, slow.fold_risks, rtol=1e-9)


def test_components_beyond_the_columns_fail_alone():
    """The largest number that can be fitted serves the smaller ones."""
    fam = family(PCA(), LinearRegression(), numbers=[1, 3, 9, 12])
    fast, slow = both(fam)
    assert np.array_equal(np.isnan(fast.inner_curves), np.isnan(slow.inner_curves))
    assert_equal(fast, slow)
    assert any("9" in note and "fail" in note for note in fast.notes)


def test_other_parameters_of_the_decomposition_are_groups_of_their_own(fits):
    """Numbers are shared among the settings with the same other parameters."""
    fam = family(PCA(), Ridge(), numbers=[1, 3, 5], pca__whiten=[True, False])
    fast = THREE.run(fam, X, Y, flat=True, progress="off")
    assert fits["PCA"] == 2 * 12
    assert_equal(fast, both(fam)[1])


def test_steps_that_mix_columns_behind_it_are_fitted_for_each_number(fits):
    """Products of columns are no leading columns of the largest table."""
    fam = family(PCA(), PolynomialFeatures(2), LinearRegression(), numbers=[1, 3])
    fast = THREE.run(fam, X, Y, flat=True, progress="off")
    assert fits["PCA"] == 2 * 12
    assert_equal(fast, both(fam)[1])


def test_the_forecast_counts_a_decomposition_once():
    """A dry run expects one fit per split, or one for each number of a randomized solver."""
    numbers, model = range(1, 9), LinearRegression()
    once = dry_run(THREE, family(PCA(), model, numbers=numbers), X, Y)
    each = dry_run(
        THREE, family(PCA(svd_solver="randomized"), model, numbers=numbers), X, Y
    )
    assert once.path.name == each.path.name == "path:ols"
    assert once.seconds < each.seconds


@pytest.mark.parametrize("metric", ["minkowski", "manhattan"])
def test_numbers_of_components_are_solved_on_idle_threads(metric, monkeypatch):
    """Pieces of test rows, or numbers one by one; the same numbers on one thread and in workers."""
    model = KNeighborsRegressor(2, metric=metric)
    fam = family(PCA(), model, numbers=range(1, 8))
    seen = set()
    module, name = (
        (leading, "candidates") if metric == "minkowski" else (knn, "nearest")
    )
    solve = getattr(module, name)

    def slow(*args):
        seen.add(threading.get_ident())
        time.sleep(0.002)
        return solve(*args)

    monkeypatch.setattr(module, name, slow)
    monkeypatch.setattr(workers, "n_threads", lambda n_jobs: 2)
    result = THREE.run(fam, X, Y, progress="off")
    assert result.path == "path:knn"
    assert len(seen) >= 2
    for n_jobs in (1, 2):
        other = THREE.run(fam, X, Y, progress="off", n_jobs=n_jobs)
        np.testing.assert_array_equal(result.inner_curves, other.inner_curves)


def near(*numbers, k=(1, 4, 20), **parameters):
    """k-NN on numbers of components, and several k of each."""
    model = KNeighborsRegressor(**parameters)
    return family(PCA(), model, numbers=numbers, b__n_neighbors=list(k))


NEIGHBOURS = {
    "every number": near(*range(1, 9)),
    "some numbers": near(8, 1, 5),
    "all training rows": near(1, 2, 3, k=(1, 26)),
    "weights": near(1, 2, 4, 8, weights="distance"),
    "cosine": near(1, 2, 8, metric="cosine"),
    "Chebyshev": near(1, 2, 8, metric="chebyshev"),
    "powers": near(1, 2, 8, metric="minkowski", p=3),
    "far apart": near(1, 8, k=(3,)),
}
ROWS = {
    "numbers": X,
    "copies": np.tile(X[:15], (4, 1)),
    "one row, many times": np.vstack([np.tile(X[:1], (40, 1)), X[:20]]),
    "far from zero": X + 1e6,
    "float32": X.astype(np.float32),
    "more columns than rows": WIDE,
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_in_leading_columns_are_those_of_each_number(
    name, rows, monkeypatch
):
    """The same losses, choices and ties as by a search for each number of components."""
    fam, table = NEIGHBOURS[name], ROWS[rows]
    at_once = THREE.run(fam, table, Y, flat=True, progress="off")
    monkeypatch.setattr(leading, "_is_worth_it", lambda numbers: False)
    one_by_one = THREE.run(fam, table, Y, flat=True, progress="off")
    assert at_once.path == one_by_one.path == "path:knn"
    assert_equal(at_once, one_by_one)
    assert at_once.notes == one_by_one.notes


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
@pytest.mark.parametrize("y", [CLASSES, CLASSES == "a"], ids=["three", "two"])
def test_neighbours_in_leading_columns_have_the_numbers_of_refit(y, scoring):
    """Classes and their shares."""
    model = KNeighborsClassifier()
    fam = family(PCA(), model, numbers=NUMBERS, b__n_neighbors=[3, 7])
    assert_equal(*both(fam, X, y, scoring=scoring))


def test_few_numbers_of_many_components_are_searched_one_by_one():
    """One product of all columns is then faster than the squares of each."""
    assert leading._is_worth_it(np.arange(1, 41))
    assert leading._is_worth_it(np.array([1, 5]))
    assert not leading._is_worth_it(np.array([10, 500]))
