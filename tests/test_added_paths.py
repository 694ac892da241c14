"""A path that a user adds in one file: the same numbers as refit, and refused where it does not tell them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_wine
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import RadiusNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from cvnb import Family, Recipe
from cvnb.errors import FamilyError, WrongTypeError
from cvnb.paths import Unsuited, add_path, remove_path

NESTED = Recipe(outer=3, inner=2)
SMOOTHING = {"var_smoothing": [1e-9, 1e-3, 1e-2, 1e-1, 1.0]}
X, y = load_wine(return_X_y=True)


def smoothings(estimator, values, X_train, y_train, X_test):
    """GaussianNB: class means and variances once, then every var_smoothing."""
    classes, n = np.unique(y_train, return_counts=True)
    mean = np.array([X_train[y_train == c].mean(axis=0) for c in classes])
    var = np.array([X_train[y_train == c].var(axis=0) for c in classes])
    gap = (X_test[:, None] - mean) ** 2
    said = []
    for value in values:
        v = var + value * X_train.var(axis=0).max()
        fit = np.log(n / n.sum()) - 0.5 * (np.log(2 * np.pi * v).sum(axis=1) + (gap / v).sum(axis=2))
        said.append(classes[fit.argmax(axis=1)])
    return np.column_stack(said)


def quantiles(estimator, values, X_train, y_train, X_test):
    """DummyRegressor: one sort, every quantile."""
    return np.tile(np.quantile(y_train, values), (len(X_test), 1))


def priors(last):
    return "" if last.priors is None else "priors"


@pytest.fixture
def added():
    """The two paths, taken away afterwards."""
    add_path(GaussianNB, "var_smoothing", smoothings, priors)
    add_path(DummyRegressor, "quantile", quantiles)
    yield
    remove_path(GaussianNB)
    remove_path(DummyRegressor)


def both(model, grid, y=y, **options):
    """The results by the fastest path and by refit."""
    family = Family(model, grid)
    return [NESTED.run(family, X, y, path=path, progress="off", **options) for path in ("auto", "refit")]


@pytest.mark.parametrize("model", [GaussianNB(), make_pipeline(MinMaxScaler(), GaussianNB())], ids=["bare", "behind"])
@pytest.mark.parametrize("labels", [y, np.array(["b", "c", "a"])[y]], ids=["numbers", "words"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_added_path_gives_the_numbers_of_refit(added, model, labels, n_jobs):
    """Bare, behind a transformer, in workers: curves, choices, predictions, and the flat estimate for nothing."""
    name = "var_smoothing" if isinstance(model, GaussianNB) else "gaussiannb__var_smoothing"
    ours, refit = both(model, {name: SMOOTHING["var_smoothing"]}, labels, n_jobs=n_jobs, flat=True)
    assert (ours.path, refit.path) == ("path:GaussianNB", "refit")
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.outer_curves, refit.outer_curves, rtol=0, atol=1e-12)
    assert ours.chosen == refit.chosen
    assert np.array_equal(ours.predictions, refit.predictions)


def test_an_added_path_may_work_in_place(added):
    """What it does to its rows is not seen by the next combination, nor by the user."""

    def in_place(estimator, values, X_train, y_train, X_test):
        shift = X_train.mean(axis=0)
        X_train -= shift
        X_test -= shift
        said = smoothings(estimator, values, X_train, y_train, X_test)
        for rows in (X_train, y_train, X_test, values):
            rows[:] = 0
        return said

    add_path(GaussianNB, "var_smoothing", in_place)
    grid = {**SMOOTHING, "priors": [None, [1 / 3] * 3]}
    before = X.copy()
    ours, refit = both(GaussianNB(), grid)
    assert ours.path == "path:GaussianNB"
    assert np.array_equal(X, before)
    first = np.array([setting["priors"] is None for setting in ours.settings])
    np.testing.assert_allclose(ours.inner_curves[:, first], refit.inner_curves[:, first], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ours.inner_curves[:, ~first], ours.inner_curves[:, first])


class Shrunk(RegressorMixin, BaseEstimator):
    """A share of the mean: a model of somebody's own, of which scikit-learn knows no constraints."""

    def __init__(self, share=1.0, more=0.0):
        self.share, self.more = share, more

    def fit(self, X, y):
        self.mean_ = self.share * y.mean() + self.more
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize("model", [Shrunk(), make_pipeline(MinMaxScaler(), Shrunk())], ids=["bare", "behind"])
def test_a_model_of_ones_own_is_asked_once_per_split(added, model):
    """For each other number of the grid, and what it does to the estimator is not seen by the next split."""
    asked = []

    def shares(estimator, values, X_train, y_train, X_test):
        asked.append(values)
        said = np.tile(values * y_train.mean() + estimator.more, (len(X_test), 1))
        estimator.more += 1.0
        return said

    add_path(Shrunk, "share", shares)
    prefix = "" if isinstance(model, Shrunk) else "shrunk__"
    grid = {f"{prefix}share": [0.0, 0.5, 0.9, 1.0, 1.1], f"{prefix}more": [0.0, 0.3]}
    family = Family(model, grid)
    ours, refit = (NESTED.run(family, X, X[:, 0], path=path, progress="off", n_jobs=1) for path in ("auto", "refit"))
    assert ours.path == "path:Shrunk"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=0, atol=1e-12)
    assert [len(values) for values in asked] == [5] * 2 * (ours.plan.n_inner + len(ours.plan.outer))


@pytest.mark.parametrize("said", [np.ma.masked_array, lambda one: one.astype(complex), lambda one: one.astype(str)])
def test_what_is_no_number_is_an_error(added, said):
    """A mask, an imaginary part, words: none is dropped in silence."""
    add_path(Shrunk, "share", lambda one, values, X, y, new: said(np.tile(values * y.mean(), (len(new), 1))))
    with pytest.raises(FamilyError, match=r"path of Shrunk gave .*; it must be numbers"):
        NESTED.run(Family(Shrunk(), {"share": [0.5, 1.0]}), X, X[:, 0], progress="off")


def test_an_added_path_of_a_regressor(added):
    """Numbers, squared loss, a second parameter in the grid: one call per combination."""
    grid = {"strategy": ["quantile"], "quantile": [0.1, 0.5, 0.9], "constant": [None, 1.0]}
    ours, refit = both(DummyRegressor(), grid, X[:, 0] + X[:, 1])
    assert ours.path == "path:DummyRegressor"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "options", "why"),
    [
        (GaussianNB(priors=[0.2, 0.3, 0.5]), {}, "GaussianNB with priors"),
        (GaussianNB(), {"sample_weight": np.ones(len(y))}, "takes no sample_weight"),
        (GaussianNB(), {"loss": "log"}, "says predictions only, and the log loss wants more"),
    ],
)
def test_what_an_added_path_does_not_tell_is_refitted(added, model, options, why):
    """The reason says what it was."""
    ours, refit = both(model, SMOOTHING, **options)
    assert ours.path == "refit"
    assert why in ours.path_reason
    assert ours.fold_risks == pytest.approx(refit.fold_risks, abs=1e-12)


def test_a_split_that_a_path_declines_is_refitted():
    """Unsuited inside the function leaves that split to refit, and a note says why."""

    def choosy(estimator, values, X_train, y_train, X_test):
        if len(X_train) > 100:
            raise Unsuited("it has too many rows")
        return smoothings(estimator, values, X_train, y_train, X_test)

    add_path(GaussianNB, "var_smoothing", choosy)
    try:
        ours, refit = both(GaussianNB(), SMOOTHING)
    finally:
        remove_path(GaussianNB)
    assert ours.notes[0] == "3 of 9 splits were refitted: it has too many rows."
    assert ours.fold_risks == pytest.approx(refit.fold_risks, abs=1e-12)


@pytest.mark.parametrize(
    ("predict", "match"),
    [
        (lambda model, values, X_train, y_train, X_test: np.zeros(len(X_test)), r"shape \(30,\) for 30 rows and 5 values"),
        (lambda model, values, X_train, y_train, X_test: np.full((len(X_test), len(values)), 7), "predicts 7, no class"),
    ],
)
def test_answers_that_cannot_be_are_errors(predict, match):
    """A path that gives another shape, or a class that nobody has, is wrong, and never left to refit."""
    add_path(GaussianNB, "var_smoothing", predict)
    try:
        with pytest.raises(FamilyError, match=match):
            NESTED.run(Family(GaussianNB(), SMOOTHING), X[::2], y[::2], progress="off")
    finally:
        remove_path(GaussianNB)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((Ridge, "alpha", quantiles), FamilyError, "Ridge has a path of cvnb's own"),
        ((GaussianNB(), "var_smoothing", smoothings), WrongTypeError, "is no class; use GaussianNB"),
        (("var_smoothing", GaussianNB, smoothings), WrongTypeError, "model='var_smoothing' is no class; use an estimator's"),
        ((GaussianNB, [], smoothings), WrongTypeError, "is no name of a parameter"),
        ((GaussianNB, 3, smoothings), WrongTypeError, "is no name of a parameter"),
        ((GaussianNB, ["var_smoothing"] * 2, smoothings), FamilyError, "names a parameter twice"),
        ((GaussianNB, ["var_smoothing", "k"], smoothings), FamilyError, "has no parameter 'k'"),
        ((int, "var_smoothing", smoothings), WrongTypeError, "int is no estimator"),
        ((GaussianNB, "var_smoothing", 3), WrongTypeError, "predict=3 is no function"),
        ((GaussianNB, "var_smoothing", smoothings, "never"), WrongTypeError, "refuses='never' is no function"),
        ((RadiusNeighborsClassifier, "k", quantiles), FamilyError, "has no parameter 'k'; it has .*radius"),
    ],
)
def test_what_no_path_can_be_of_is_refused(arguments, error, match):
    """By name, when it is added."""
    with pytest.raises(error, match=match):
        add_path(*arguments)


def test_a_path_is_forgotten(added):
    """A second one replaces the first; without any, the model is refitted; what was never added cannot be removed."""
    add_path(GaussianNB, "var_smoothing", smoothings)
    remove_path(GaussianNB)
    assert NESTED.run(Family(GaussianNB(), SMOOTHING), X, y, progress="off").path == "refit"
    with pytest.raises(FamilyError, match="no path was added for GaussianNB"):
        remove_path(GaussianNB)
    add_path(GaussianNB, "var_smoothing", smoothings, priors)


def test_a_subclass_is_not_the_model(added):
    """It may compute anything."""

    class Own(GaussianNB):
        pass

    assert NESTED.run(Family(Own(), SMOOTHING), X, y, progress="off").path == "refit"


def test_an_added_path_needs_no_compiled_loops():
    """Numba is not imported for a function of the user's own."""
    code = "\n".join(
        [
            "import sys",
            "from test_added_paths import *",
            "add_path(GaussianNB, 'var_smoothing', smoothings)",
            "model, grid = make_pipeline(MinMaxScaler(), GaussianNB()), {'gaussiannb__var_smoothing': [1e-3, 1e-1]}",
            "assert NESTED.run(Family(model, grid), X, y, progress='off').path == 'path:GaussianNB'",
            "assert 'numba' not in sys.modules",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr
