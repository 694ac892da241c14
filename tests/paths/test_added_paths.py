"""Paths added by a user: the numbers of refit, or a refit where they cannot give them."""

import os
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
from cvnb.families import registry
from cvnb.families.records import BUILT_IN
from cvnb.paths import Unsuited, add_path, remove_path
from cvnb.runs.prepare import dry_run
from toys import Centroids, Kernel, kernels, kernels_and_powers, shrunken

NESTED = Recipe(outer=3, inner=2)
SMOOTHING = {"var_smoothing": [1e-9, 1e-3, 1e-2, 1e-1, 1.0]}
X, y = load_wine(return_X_y=True)


def smoothings(estimator, values, X_train, y_train, X_test):
    """GaussianNB: class means and variances once, then every var_smoothing."""
    classes, n = np.unique(y_train, return_counts=True)
    mean = np.array([X_train[y_train == c].mean(axis=0) for c in classes])
    var = np.array([X_train[y_train == c].var(axis=0) for c in classes])
    gap = (X_test[:, None] - mean) ** 2
    columns = []
    for value in values:
        v = var + value * X_train.var(axis=0).max()
        fit = np.log(n / n.sum()) - 0.5 * (
            np.log(2 * np.pi * v).sum(axis=1) + (gap / v).sum(axis=2)
        )
        columns.append(classes[fit.argmax(axis=1)])
    return np.column_stack(columns)


def quantiles(estimator, values, X_train, y_train, X_test):
    """DummyRegressor: one sort, every quantile."""
    return np.tile(np.quantile(y_train, values), (len(X_test), 1))


def priors(last):
    return "" if last.priors is None else "priors"


@pytest.fixture(autouse=True)
def forgotten():
    """Remove every path that a test adds: other files test that there is none."""
    yield
    for record in registry.records()[len(BUILT_IN) :]:
        registry.remove(record)


@pytest.fixture
def added():
    """Add two paths, and remove them afterwards."""
    add_path(GaussianNB, "var_smoothing", smoothings, priors)
    add_path(DummyRegressor, "quantile", quantiles)
    yield
    remove_path(GaussianNB)
    remove_path(DummyRegressor)


def both(model, grid, y=y, **options):
    """Return the results of the fastest path and of refit."""
    family = Family(model, grid)
    return [
        NESTED.run(family, X, y, path=path, progress="off", **options)
        for path in ("auto", "refit")
    ]


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), make_pipeline(MinMaxScaler(), GaussianNB())],
    ids=["bare", "behind"],
)
@pytest.mark.parametrize(
    "labels", [y, np.array(["b", "c", "a"])[y]], ids=["numbers", "words"]
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_added_path_gives_the_numbers_of_refit(added, model, labels, n_jobs):
    """Curves, choices and predictions agree: bare, after a transformer, in workers."""
    name = (
        "var_smoothing"
        if isinstance(model, GaussianNB)
        else "gaussiannb__var_smoothing"
    )
    ours, refit = both(
        model, {name: SMOOTHING["var_smoothing"]}, labels, n_jobs=n_jobs, flat=True
    )
    assert (ours.path, refit.path) == ("path:GaussianNB", "refit")
    np.testing.assert_allclose(
        ours.inner_curves, refit.inner_curves, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        ours.outer_curves, refit.outer_curves, rtol=0, atol=1e-12
    )
    assert ours.chosen == refit.chosen
    assert np.array_equal(ours.predictions, refit.predictions)


def test_an_added_path_may_work_in_place(added):
    """The function may overwrite its arguments, which are copies."""

    def in_place(estimator, values, X_train, y_train, X_test):
        shift = X_train.mean(axis=0)
        X_train -= shift
        X_test -= shift
        predictions = smoothings(estimator, values, X_train, y_train, X_test)
        for rows in (X_train, y_train, X_test, values):
            rows[:] = 0
        return predictions

    add_path(GaussianNB, "var_smoothing", in_place)
    grid = {**SMOOTHING, "priors": [None, [1 / 3] * 3]}
    before = X.copy()
    ours, refit = both(GaussianNB(), grid)
    assert ours.path == "path:GaussianNB"
    assert np.array_equal(X, before)
    first = np.array([setting["priors"] is None for setting in ours.settings])
    np.testing.assert_allclose(
        ours.inner_curves[:, first], refit.inner_curves[:, first], rtol=0, atol=1e-12
    )
    np.testing.assert_array_equal(
        ours.inner_curves[:, ~first], ours.inner_curves[:, first]
    )


class Shrunk(RegressorMixin, BaseEstimator):
    """A share of the mean: a user's own model, whose parameters scikit-learn does not know."""

    def __init__(self, share=1.0, more=0.0):
        self.share, self.more = share, more

    def fit(self, X, y):
        self.mean_ = self.share * y.mean() + self.more
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize(
    "model", [Shrunk(), make_pipeline(MinMaxScaler(), Shrunk())], ids=["bare", "behind"]
)
def test_a_users_model_is_called_once_per_split(added, model):
    """One call per split and other parameter, each with an estimator of its own."""
    calls_made = []

    def shares(estimator, values, X_train, y_train, X_test):
        calls_made.append(values)
        predictions = np.tile(
            values * y_train.mean() + estimator.more, (len(X_test), 1)
        )
        estimator.more += 1.0
        return predictions

    add_path(Shrunk, "share", shares)
    prefix = "" if isinstance(model, Shrunk) else "shrunk__"
    grid = {f"{prefix}share": [0.0, 0.5, 0.9, 1.0, 1.1], f"{prefix}more": [0.0, 0.3]}
    family = Family(model, grid)
    ours, refit = (
        NESTED.run(family, X, X[:, 0], path=path, progress="off", n_jobs=1)
        for path in ("auto", "refit")
    )
    assert ours.path == "path:Shrunk"
    np.testing.assert_allclose(
        ours.inner_curves, refit.inner_curves, rtol=0, atol=1e-12
    )
    assert [len(values) for values in calls_made] == [5] * 2 * (
        ours.plan.n_inner + len(ours.plan.outer)
    )


@pytest.mark.parametrize(
    "convert",
    [np.ma.masked_array, lambda x: x.astype(complex), lambda x: x.astype(str)],
)
def test_predictions_that_are_not_numbers_are_errors(added, convert):
    """Masked, complex and text values are refused."""
    add_path(
        Shrunk,
        "share",
        lambda model, values, X, y, new: convert(
            np.tile(values * y.mean(), (len(new), 1))
        ),
    )
    with pytest.raises(
        FamilyError, match=r"path of Shrunk gave .*; it must be numbers"
    ):
        NESTED.run(Family(Shrunk(), {"share": [0.5, 1.0]}), X, X[:, 0], progress="off")


def test_an_added_path_of_a_regressor(added):
    """Numbers, squared loss, a second parameter in the grid: one call per combination."""
    grid = {
        "strategy": ["quantile"],
        "quantile": [0.1, 0.5, 0.9],
        "constant": [None, 1.0],
    }
    ours, refit = both(DummyRegressor(), grid, X[:, 0] + X[:, 1])
    assert ours.path == "path:DummyRegressor"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "options", "why"),
    [
        (GaussianNB(priors=[0.2, 0.3, 0.5]), {}, "GaussianNB with priors"),
        (GaussianNB(), {"sample_weight": np.ones(len(y))}, "takes no sample_weight"),
        (
            GaussianNB(),
            {"loss": "log"},
            "returns predictions only, and the log loss needs",
        ),
    ],
)
def test_cases_an_added_path_cannot_handle_are_refitted(added, model, options, why):
    """The reason names the parameter, the weights or the response."""
    ours, refit = both(model, SMOOTHING, **options)
    assert ours.path == "refit"
    assert why in ours.path_reason
    assert ours.fold_risks == pytest.approx(refit.fold_risks, abs=1e-12)


def test_a_split_that_a_path_declines_is_refitted():
    """Unsuited inside the function leaves the split to refit, and a note gives the reason."""

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
        (
            lambda model, values, X_train, y_train, X_test: np.zeros(len(X_test)),
            r"shape \(30,\) for 30 rows and 5 values",
        ),
        (
            lambda model, values, X_train, y_train, X_test: np.full(
                (len(X_test), len(values)), 7
            ),
            "predicts 7, no class",
        ),
    ],
)
def test_impossible_predictions_are_errors(predict, match):
    """A wrong shape or an unknown class is an error, not a refit."""
    add_path(GaussianNB, "var_smoothing", predict)
    try:
        with pytest.raises(FamilyError, match=match):
            NESTED.run(Family(GaussianNB(), SMOOTHING), X[::2], y[::2], progress="off")
    finally:
        remove_path(GaussianNB)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (
            (GaussianNB(), "var_smoothing", smoothings),
            WrongTypeError,
            "is not a class; use GaussianNB",
        ),
        (
            ("var_smoothing", GaussianNB, smoothings),
            WrongTypeError,
            "model='var_smoothing' is not a class; use an estimator's",
        ),
        (
            (GaussianNB, [], smoothings),
            WrongTypeError,
            "is neither the name of a parameter",
        ),
        (
            (GaussianNB, 3, smoothings),
            WrongTypeError,
            "is neither the name of a parameter",
        ),
        (
            (GaussianNB, ["var_smoothing"] * 2, smoothings),
            FamilyError,
            "names a parameter twice",
        ),
        (
            (GaussianNB, ["var_smoothing", "k"], smoothings),
            FamilyError,
            "has no parameter 'k'",
        ),
        (
            (int, "var_smoothing", smoothings),
            WrongTypeError,
            "int is not a scikit-learn estimator",
        ),
        (
            (GaussianNB, "var_smoothing", 3),
            WrongTypeError,
            "predict=3 is not a function",
        ),
        (
            (GaussianNB, "var_smoothing", smoothings, "never"),
            WrongTypeError,
            "refuses='never' is not a function",
        ),
        (
            (RadiusNeighborsClassifier, "k", quantiles),
            FamilyError,
            "has no parameter 'k'; it has .*radius",
        ),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments, error, match):
    """add_path refuses them by name."""
    with pytest.raises(error, match=match):
        add_path(*arguments)


def test_a_path_can_be_replaced_and_removed(added):
    """A second path replaces the first, and only added paths can be removed."""
    family = Family(DummyRegressor(strategy="quantile"), {"quantile": [0.2, 0.8]})
    add_path(DummyRegressor, "quantile", quantiles)
    remove_path(DummyRegressor)
    assert NESTED.run(family, X, 1.5 * y, progress="off").path == "refit"
    with pytest.raises(FamilyError, match="no path was added for DummyRegressor"):
        remove_path(DummyRegressor)
    add_path(DummyRegressor, "quantile", quantiles)


def test_an_added_path_takes_precedence_over_cvnbs_own():
    """A user's path keeps working when cvnb brings its own, which is used again after removal."""
    family = Family(Ridge(), {"alpha": [0.1, 1.0]})
    add_path(
        Ridge,
        "alpha",
        lambda estimator, alphas, X_train, y_train, X_test: np.zeros(
            (len(X_test), len(alphas))
        ),
    )
    try:
        result = NESTED.run(family, X, 1.5 * y, progress="off")
        assert result.path == "path:Ridge"
        assert not np.any(result.predictions)
    finally:
        remove_path(Ridge)
    assert NESTED.run(family, X, 1.5 * y, progress="off").path == "shared:ridge"


def test_a_subclass_is_not_the_model(added):
    """A subclass may compute anything, so it is refitted."""

    class Own(GaussianNB):
        pass

    assert NESTED.run(Family(Own(), SMOOTHING), X, y, progress="off").path == "refit"


def test_an_added_path_needs_no_compiled_loops():
    """Numba is not imported for a user's function."""
    code = "\n".join(
        [
            "import sys",
            "from test_added_paths import *",
            "add_path(GaussianNB, 'var_smoothing', smoothings)",
            "model, grid = make_pipeline(MinMaxScaler(), GaussianNB()), "
            "{'gaussiannb__var_smoothing': [1e-3, 1e-1]}",
            "assert NESTED.run(Family(model, grid), X, y, progress='off').path == "
            "'path:GaussianNB'",
            "assert 'numba' not in sys.modules",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr


# Several axes, weights, scores


BANDWIDTHS = [0.3, 0.7, 1.5]
SCALED = (X - X.mean(axis=0)) / X.std(axis=0)


def two(model, grid, target, **options):
    """Return the results of the path and of refit, on columns of one scale."""
    family = Family(model, grid)
    return [
        NESTED.run(family, SCALED, target, path=path, progress="off", **options)
        for path in ("auto", "refit")
    ]


def assert_same(ours, refit, name):
    assert (ours.path, refit.path) == (f"path:{name}", "refit"), ours.path_reason
    np.testing.assert_allclose(
        ours.inner_curves, refit.inner_curves, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(
        ours.fold_risks, refit.fold_risks, rtol=1e-10, atol=1e-12
    )
    assert ours.chosen == refit.chosen


def test_a_smoother_over_its_bandwidth():
    """Nadaraya-Watson regression; each power in the grid is one call."""
    add_path(Kernel, "bandwidth", kernels, name="kernel")
    assert_same(
        *two(Kernel(), {"bandwidth": BANDWIDTHS, "power": [1.0, 2.0]}, X[:, 0]),
        "kernel",
    )


@pytest.mark.parametrize(
    ("grid", "calls"),
    [
        ({"bandwidth": BANDWIDTHS, "power": [1.0, 2.0]}, [6]),
        (
            [
                {"bandwidth": [0.3], "power": [1, 2]},
                {"bandwidth": BANDWIDTHS},
                {"power": [1.5]},
            ],
            [2, 3, 1],
        ),
        ({"kernel__bandwidth": BANDWIDTHS, "kernel__power": [1.0, 2.0]}, [6]),
    ],
    ids=["grid", "list of grids", "behind"],
)
def test_a_path_along_two_parameters(grid, calls):
    """One call per split and grid gets both parameters of every setting, in the grid or not."""
    calls_made = []

    def counted(estimator, values, *rows):
        calls_made.append(len(values))
        return kernels_and_powers(estimator, values, *rows)

    add_path(Kernel, ("bandwidth", "power"), counted)
    model = (
        make_pipeline(MinMaxScaler(), Kernel()) if "kernel__power" in grid else Kernel()
    )
    ours, refit = two(model, grid, X[:, 0], n_jobs=1)
    assert_same(ours, refit, "Kernel")
    assert calls_made == calls * (ours.plan.n_inner + len(ours.plan.outer))


def test_a_path_that_takes_weights(rng):
    """The function gets the weight of each training row, or None without weights."""
    given = []

    def weighted(*rows, sample_weight):
        given.append(sample_weight)
        return kernels(*rows, sample_weight=sample_weight)

    add_path(Kernel, "bandwidth", weighted, weights=True)
    weights = rng.uniform(0.1, 2.0, size=len(X))
    ours, refit = two(
        Kernel(), {"bandwidth": BANDWIDTHS}, X[:, 0], sample_weight=weights
    )
    assert_same(ours, refit, "Kernel")
    assert set(np.concatenate(given)) <= set(weights)
    plain = two(Kernel(), {"bandwidth": BANDWIDTHS}, X[:, 0])
    assert_same(*plain, "Kernel")
    assert given[-1] is None
    assert not np.allclose(plain[0].inner_curves, ours.inner_curves)


def probabilities(estimator, values, X_train, y_train, X_test):
    """Return GaussianNB's classes and their probabilities."""
    model, labels, shares = GaussianNB(priors=estimator.priors), [], []
    for value in values:
        model.set_params(var_smoothing=value).fit(X_train, y_train)
        labels.append(model.predict(X_test))
        shares.append(model.predict_proba(X_test))
    return {
        "predict": np.column_stack(labels),
        "predict_proba": np.stack(shares, axis=1),
    }


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (y, {"loss": "log"}),
        (np.array(["b", "c", "a"])[y], {"loss": "log"}),
        (y, {"scoring": "roc_auc_ovr"}),
        (y > 0, {"scoring": "roc_auc"}),
        (y > 0, {"scoring": "neg_brier_score"}),
        (y, {"scoring": "balanced_accuracy"}),
    ],
    ids=["log", "words", "one against the rest", "auc", "brier", "labels"],
)
def test_a_path_that_gives_probabilities(labels, options):
    """Log loss, AUC and other scorers use the probabilities."""
    add_path(GaussianNB, "var_smoothing", probabilities, responses=["predict_proba"])
    assert_same(*two(GaussianNB(), SMOOTHING, labels, **options), "GaussianNB")


def test_a_class_that_a_training_part_lacks_has_no_column():
    """A class missing in the training part has probability 0, as on refit."""
    labels = np.array([0] * 60 + [1] * 60 + [2] * 58)
    lacking = Recipe(
        outer=[(np.arange(20, 100), [*range(20), *range(100, 120)])], inner=None
    )
    add_path(GaussianNB, "var_smoothing", probabilities, responses=["predict_proba"])
    ours, refit = (
        lacking.run(
            Family(GaussianNB()), SCALED, labels, loss="log", path=path, progress="off"
        )
        for path in ("auto", "refit")
    )
    assert (ours.path, refit.path) == ("path:GaussianNB", "refit")
    np.testing.assert_allclose(ours.fold_risks, refit.fold_risks, rtol=1e-10)


@pytest.mark.parametrize(
    ("labels", "scoring"),
    [
        (y > 0, "roc_auc"),
        (y > 0, "accuracy"),
        (y, "top_k_accuracy"),
        (np.array(list("zxy"))[y], "top_k_accuracy"),
    ],
)
def test_a_path_that_gives_decisions(labels, scoring):
    """Two classes have one decision per row and value, more classes one each."""
    add_path(Centroids, "shrink", shrunken, responses="decision_function")
    assert_same(
        *two(Centroids(), {"shrink": [0.0, 0.3, 0.9]}, labels, scoring=scoring),
        "Centroids",
    )


def test_a_response_that_a_path_does_not_give_is_refitted():
    """The reason names the missing method of the estimator."""
    add_path(Centroids, "shrink", lambda *given: shrunken(*given)["predict"])
    ours, refit = two(Centroids(), {"shrink": [0.0, 0.3]}, y > 0, scoring="roc_auc")
    assert (ours.path, ours.chosen) == ("refit", refit.chosen)
    assert (
        "returns predictions only, and the -roc_auc loss needs decision_function"
        in ours.path_reason
    )


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            lambda given: given["predict"],
            "gave ndarray; it must be a dict of predict, decision_function",
        ),
        (
            lambda given: {"predict": given["predict"]},
            "gave a dict of predict; 'decision_function' is missing",
        ),
        (
            lambda given: {**given, "decision_function": given["predict"]},
            r"gave decision_function of shape .* it must be",
        ),
        (
            lambda given: {**given, "decision_function": np.full((60, 2, 3), "a")},
            "it must be numbers",
        ),
    ],
)
def test_a_dict_that_cannot_be_is_an_error(change, match):
    """The message names the missing or misshapen response."""
    add_path(
        Centroids,
        "shrink",
        lambda *given: change(shrunken(*given)),
        responses=["decision_function"],
    )
    with pytest.raises(FamilyError, match=match):
        NESTED.run(
            Family(Centroids(), {"shrink": [0.0, 0.3]}),
            SCALED,
            y,
            scoring="top_k_accuracy",
            progress="off",
        )


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"cost": 3}, WrongTypeError, "cost=3 is not a function"),
        ({"memory": "much"}, WrongTypeError, "memory='much' is not a function"),
        (
            {"responses": ["transform"]},
            FamilyError,
            "responses has 'transform'; it may have 'predict_proba' and",
        ),
        ({"notes": {"a": "{n}", "b": "{n}"}}, FamilyError, "notes has 2 kinds"),
        ({"name": "ridge"}, FamilyError, "'ridge' is an algorithm of cvnb's own"),
    ],
)
def test_options_that_cannot_be_are_refused(options, error, match):
    """add_path refuses them."""
    with pytest.raises(error, match=match):
        add_path(Kernel, "bandwidth", kernels, **options)


def test_a_cost_gives_the_time_without_a_fit():
    """It covers every split; after a transformer of unknown cost one split is timed."""
    sizes = []

    def cost(n_train, n_columns, n_values):
        sizes.append((n_train, n_columns, n_values))
        return 1e10

    def never(*rows):
        raise AssertionError("called")

    add_path(
        Kernel, "bandwidth", never, cost=cost, memory=lambda *sizes: 1e9 + sizes[0]
    )
    forecast = dry_run(
        NESTED, Family(Kernel(), {"bandwidth": BANDWIDTHS}), SCALED, X[:, 0]
    )
    assert set(sizes) == {(59, 13, 3), (60, 13, 3), (118, 13, 3), (119, 13, 3)}
    assert forecast.seconds > 1
    assert forecast.megabytes > 1000
    behind = Family(
        make_pipeline(MinMaxScaler(), Kernel()), {"kernel__bandwidth": BANDWIDTHS}
    )
    add_path(Kernel, "bandwidth", kernels, cost=cost)
    assert dry_run(NESTED, behind, SCALED, X[:, 0]).seconds < 1


@pytest.mark.parametrize("given", [-1, "many", None, np.nan])
def test_a_cost_that_is_no_number_is_an_error(given):
    """The message shows the arguments of the call."""
    add_path(Kernel, "bandwidth", kernels, cost=lambda *sizes: given)
    with pytest.raises(
        FamilyError,
        match=r"cost\(\d+, 13, 3\) gave .*; it must give a number, 0 or more",
    ):
        dry_run(NESTED, Family(Kernel(), {"bandwidth": BANDWIDTHS}), SCALED, X[:, 0])


def test_what_a_path_counts_is_noted():
    """The note uses the sentence that was added with the path."""

    def counting(*rows):
        return {"predict": kernels(*rows), "ties": 1}

    add_path(
        Kernel,
        "bandwidth",
        counting,
        notes={"ties": "At {n} two rows are equally near."},
    )
    result = two(Kernel(), {"bandwidth": BANDWIDTHS}, X[:, 0])[0]
    assert "At 9 predictions two rows are equally near." in result.notes


def test_one_se_by_the_order_that_was_added():
    """Larger bandwidths are simpler if the path declares them so."""
    add_path(Kernel, "bandwidth", kernels, simplest={"bandwidth": "large"})
    family = Family(Kernel(), {"bandwidth": BANDWIDTHS})
    result = NESTED.run(
        family, SCALED, np.zeros(len(X)), select="one_se", progress="off"
    )
    assert result.chosen == [{"bandwidth": 1.5}] * 3
