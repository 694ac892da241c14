"""XGBoost, LightGBM and CatBoost: the longest boosting predicts what each shorter one does."""

import importlib
import re
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cases
from cvnb import Family, Recipe
from cvnb.data.table import Data
from cvnb.engine.progress import Slot
from cvnb.errors import FamilyError
from cvnb.families import registry
from cvnb.families.records import BUILT_IN
from cvnb.families.setting_groups import check_parameters
from cvnb.families.simplicity import order_of
from cvnb.runs.options import Options
from cvnb.runs.prepare import dry_run, prepare
from identical import NESTED, assert_identical

ADDRESSES = [address for record in BUILT_IN for address in record.optional]
PATH = "path:boosting"
QUIET = {
    "XGB": {"n_jobs": 1},
    "LGBM": {"n_jobs": 1, "verbose": -1, "min_child_samples": 3},
    "CatBoost": {
        "verbose": 0,
        "allow_writing_files": False,
        "thread_count": 1,
        "learning_rate": 0.2,
    },
}
LARGE = 10**7  # more rounds than anybody waits for


def model(kind, task="Classifier", **parameters):
    """A quiet model on one thread; skip the test where its package is not installed."""
    address = next(one for one in ADDRESSES if one.endswith(f":{kind}{task}"))
    module, _, name = address.partition(":")
    pytest.importorskip(module.partition(".")[0])
    return getattr(importlib.import_module(module), name)(**QUIET[kind] | parameters)


def rounds(kind, *numbers):
    return {"iterations" if kind == "CatBoost" else "n_estimators": list(numbers)}


# name -> (package, parameters)
SAMPLED = {"subsample": 0.7, "random_state": 3}
KINDS = {
    "xgboost": ("XGB", {}),
    "xgboost sampled": ("XGB", {**SAMPLED, "colsample_bynode": 0.6}),
    "xgboost exact": ("XGB", {"tree_method": "exact", "colsample_bytree": 0.5}),
    "xgboost by leaves": ("XGB", {"grow_policy": "lossguide", "max_leaves": 4}),
    "xgboost of forests": ("XGB", {**SAMPLED, "num_parallel_tree": 3}),
    "lightgbm": ("LGBM", {}),
    "lightgbm sampled": (
        "LGBM",
        {**SAMPLED, "subsample_freq": 2, "colsample_bytree": 0.5},
    ),
    "lightgbm goss": ("LGBM", {"boosting_type": "goss", "learning_rate": 0.5}),
    "lightgbm forest": (
        "LGBM",
        {**SAMPLED, "boosting_type": "rf", "subsample_freq": 1},
    ),
    "lightgbm of pure leaves": ("LGBM", {"min_child_samples": 14}),  # ends early
    "catboost": ("CatBoost", {}),
    "catboost ordered": ("CatBoost", {"boosting_type": "Ordered", "depth": 3}),
    "catboost sampled": (
        "CatBoost",
        {"bootstrap_type": "Bernoulli", "subsample": 0.7, "rsm": 0.5},
    ),
}
PACKAGES = list(QUIET)


CLASSES = [
    ("plain / classes", {}),
    ("constant column / classes", {"loss": "log"}),
    ("copies / rare classes", {"scoring": "accuracy"}),
    ("float32 / truths", {"loss": "log"}),
    ("wide / truths", {"scoring": "average_precision"}),
    ("one column / classes", {"scoring": "neg_brier_score"}),
]
NUMBERS = [
    ("plain / numbers", {}),
    ("offset / whole numbers", {"loss": "absolute"}),
    ("bits / numbers", {"scoring": "r2"}),
    ("copies / constant numbers", {}),
]


def spread(table, n):
    """Each kind with n rows of the table, so that each row meets several kinds."""
    size = len(table)
    return [
        pytest.param(name, *table[(i + j * size // n) % size], id=f"{name}-{i}-{j}")
        for i, name in enumerate(KINDS)
        for j in range(n)
    ]


@pytest.mark.parametrize(("name", "data", "loss"), spread(CLASSES, 2))
def test_every_number_of_rounds_of_a_classifier_is_its_own_fit(name, data, loss):
    """Classes, probabilities and decisions equal those of a fit of so many rounds, bit for bit."""
    kind, parameters = KINDS[name]
    X, y = cases.data(data)
    if "brier" in str(loss):
        y = (y > 0).astype(float)
    family = Family(model(kind, **parameters), rounds(kind, 1, 12, 5, 5))
    assert_identical(family, X, y, path=PATH, **loss)


@pytest.mark.parametrize(("name", "data", "loss"), spread(NUMBERS, 1))
def test_every_number_of_rounds_of_a_regressor_is_its_own_fit(name, data, loss):
    """Predictions equal those of a fit of so many rounds."""
    kind, parameters = KINDS[name]
    if kind == "CatBoost":  # fits no constant
        data = data.replace("constant ", "")
    family = Family(
        model(kind, "Regressor", **parameters), rounds(kind, 1, 12, 5) | RATES
    )
    assert_identical(family, *cases.data(data), path=PATH, **loss)


RATES = {"learning_rate": [0.1, 0.4]}


@pytest.mark.parametrize("kind", ["LGBM", "CatBoost"])
def test_words_are_classes(kind):
    """XGBoost takes the numbers from 0 on only."""
    family = Family(model(kind), rounds(kind, 1, 12, 5))
    assert_identical(family, *cases.data("ties / words"), path=PATH)


def test_labels_that_xgboost_refuses_are_refused_as_on_a_refit():
    """The message is XGBoost's."""
    family = Family(model("XGB"), rounds("XGB", 1, 12, 5))
    for path in ("auto", "refit"):
        with pytest.raises(Exception, match=r"Expected: \[0 1 2\]"):
            NESTED.run(family, *cases.data("plain / words"), progress="off", path=path)


@pytest.mark.parametrize("kind", PACKAGES)
def test_weights_missing_and_sparse_values_and_frames_reach_the_fit(kind, rng):
    """Also behind a scaler."""
    X, y = cases.data("plain / classes")
    family = Family(model(kind), rounds(kind, 1, 12, 5))
    same = partial(assert_identical, family, path=PATH)
    same(X, y, sample_weight=rng.integers(0, 4, len(y)) + 0.5)
    same(X, y, groups=np.arange(len(y)) // 2)
    same(np.where(rng.random(X.shape) < 0.2, np.nan, X), y)
    same(sp.csr_matrix(np.where(X > 0, X, 0.0)), y)
    same(pd.DataFrame(X, columns=list("abcd")), y)
    scaled = make_pipeline(StandardScaler(), model(kind))
    step = scaled.steps[-1][0]
    ((name, sizes),) = rounds(kind, 1, 12, 5).items()
    assert_identical(Family(scaled, {f"{step}__{name}": sizes}), X, y, path=PATH)


@pytest.mark.parametrize("kind", PACKAGES)
def test_the_numbers_are_those_of_scikit_learns_search(kind):
    """Scores and choices of cross_validate(GridSearchCV) on the same folds."""
    X, y = cases.data("plain / classes")
    one, grid, folds = model(kind), rounds(kind, 1, 12, 5), StratifiedKFold(3)
    result = Recipe(outer=folds, inner=folds).run((one, grid), X, y, progress="off")
    search = GridSearchCV(one, grid, cv=folds)
    scores = cross_validate(search, X, y, cv=folds, return_estimator=True)
    assert result.path == PATH
    np.testing.assert_allclose(1 - result.fold_risks, scores["test_score"], rtol=1e-12)
    assert result.chosen == [fit.best_params_ for fit in scores["estimator"]]


@pytest.mark.parametrize("kind", PACKAGES)
def test_outer_test_rows_touch_no_inner_number(kind, rng):
    """Garbage in an outer test part leaves its inner curve and choice as they were."""
    X, y = cases.data("plain / classes")
    family = Family(
        model(kind, **({} if kind == "CatBoost" else SAMPLED)), rounds(kind, 1, 12, 5)
    )
    clean = NESTED.run(family, X, y, progress="off")
    test = clean.plan.outer[0][1]
    outer = clean.plan.outer
    lists = Recipe(outer=outer, inner=clean.plan.inner)
    dirty_X, dirty_y = X.copy(), y.copy()
    dirty_X[test] = 1e6 * rng.normal(size=dirty_X[test].shape)
    dirty_y[test] = rng.permutation(y)[: len(test)]
    dirty = lists.run(family, dirty_X, dirty_y, progress="off")
    assert dirty.path == clean.path == PATH
    np.testing.assert_array_equal(dirty.inner_curves[0], clean.inner_curves[0])
    assert dirty.chosen[0] == clean.chosen[0]
    assert not np.array_equal(dirty.inner_curves, clean.inner_curves)


@pytest.mark.parametrize("loss", [{}, {"loss": "log"}])
@pytest.mark.parametrize("kind", PACKAGES[:2])
def test_training_parts_of_one_class_are_as_on_a_refit(kind, loss):
    """And so is leave-one-out."""
    X, y = cases.data("plain / truths")
    X, y = X[:12], np.sort(y[:12]).astype(int)
    family = Family(model(kind), rounds(kind, 1, 6, 3))
    (zeros,) = np.nonzero(y == 0)
    splits = [(zeros[:-1], np.arange(zeros[-1], 12)), (np.arange(6, 12), zeros[:3])]
    inner = [[(train[::2], train[1::2])] for train, _ in splits]
    assert_identical(family, X, y, recipe=Recipe(outer=splits, inner=inner), **loss)
    lone = Recipe(outer="loo", inner=2)
    assert_identical(family, X, np.arange(12) % 2, recipe=lone, path=PATH, **loss)


REFUSED = [
    ("XGB", {"booster": "dart"}, "booster='gbtree'"),
    ("XGB", {"booster": "gblinear"}, "booster='gbtree'"),
    (
        "XGB",
        {"early_stopping_rounds": 2},
        "early_stopping_rounds, .*; a model without it is fast",
    ),
    ("XGB", {"objective": lambda y, p: (p - y, p * 0 + 1)}, "objective of your own"),
    ("XGB", {"random_state": np.random.RandomState(0)}, "an integer is fast"),
    ("LGBM", {"boosting_type": "dart"}, "boosting_type='gbdt'"),
    ("LGBM", {"boosting": "dart"}, "boosting_type='gbdt'"),
    (
        "LGBM",
        {"early_stopping_round": 2},
        "early_stopping_round, .*; a model without it is fast",
    ),
    ("LGBM", {"num_trees": 3, "num_rounds": 4}, "two names of one parameter"),
    ("LGBM", {"num_trees": 3}, "no fit of LGBMClassifier serves two settings"),
    (
        "CatBoost",
        {"model_shrink_rate": 0.1},
        "model_shrink_rate, .*; a model without it is fast",
    ),
    ("CatBoost", {"monotone_constraints": (1, 0, 0, 0)}, "monotone_constraints"),
    ("CatBoost", {"langevin": True}, "langevin"),
    ("CatBoost", {"early_stopping_rounds": 2}, "early_stopping_rounds"),
]


@pytest.mark.parametrize(
    ("kind", "parameters", "why"),
    REFUSED,
    ids=[f"{kind} {', '.join(options)}" for kind, options, _ in REFUSED],
)
def test_what_makes_fewer_rounds_no_start_of_more_is_refitted(kind, parameters, why):
    """The reason names the parameter, and what would be fast."""
    X, y = cases.data("plain / truths")
    family = Family(model(kind, **parameters), rounds(kind, 2, 4, 6))
    path = prepared(family, X, y.astype(int)).choose_path()
    assert path.name == "refit"
    assert re.search(why, path.reason)


def prepared(family, X, y):
    """The only job of a run that is ready to start."""
    run = prepare(NESTED, family, Data.check(X, y, None, None), Options())
    return run.jobs[""]


def test_catboost_needs_a_learning_rate():
    """Without one CatBoost derives it from the number of rounds."""
    options = {**QUIET["CatBoost"]}
    del options["learning_rate"]
    kind = type(model("CatBoost"))
    X, y = cases.data("plain / classes")
    for grid, path in (({}, "refit"), ({"learning_rate": [0.1, 0.3]}, PATH)):
        result = NESTED.run(
            Family(kind(**options), rounds("CatBoost", 2, 4, 6, 8) | grid),
            X,
            y,
            progress="off",
        )
        assert result.path == path
        assert grid or "no learning_rate" in result.path_reason


@pytest.mark.parametrize(
    ("kind", "bad", "error"),
    [("XGB", 0, None), ("XGB", 2.5, TypeError), ("LGBM", 0, ValueError)],
)
def test_what_is_no_number_of_rounds_is_refitted(kind, bad, error):
    """Zero rounds are no round to one package, an error to another."""
    X, y = cases.data("plain / truths")
    family = Family(model(kind), rounds(kind, bad, 2, 5))
    runs = [
        NESTED.run(family, X, y.astype(int), progress="off", path=path)
        for path in ("auto", "refit")
    ]
    np.testing.assert_array_equal(runs[0].inner_curves, runs[1].inner_curves)
    assert np.isnan(runs[0].inner_curves).any() == (error is not None)
    assert any("is no number of rounds" in note for note in runs[0].notes)


@pytest.mark.parametrize("name", ["num_iterations", "n_iter", "num_boost_round"])
def test_lightgbm_has_other_names_of_the_number_of_rounds(name):
    """They take precedence of n_estimators."""
    family = Family(model("LGBM", **{name: 3}), {name: [1, 9, 4]})
    result = assert_identical(family, *cases.data("plain / classes"), path=PATH)
    assert len(set(result.inner_curves[0])) > 1


@pytest.mark.parametrize("name", ["n_estimators", "num_trees", "num_boost_round"])
def test_catboost_has_other_names_of_the_number_of_rounds(name):
    """A grid may name what the constructor takes, given or not."""
    family = Family(model("CatBoost"), {name: [1, 9, 4]})
    assert_identical(family, *cases.data("plain / classes"), path=PATH)
    with pytest.raises(FamilyError, match="no parameter 'iteratons'"):
        Family(model("CatBoost"), {"iteratons": [1, 2]})


def test_no_number_of_rounds_is_the_default_of_the_package():
    """100 in XGBoost."""
    grid = [{"n_estimators": [5, 2, 9]}, {"learning_rate": [0.2]}]
    X, y = cases.data("plain / classes")
    result = assert_identical(Family(model("XGB"), grid), X, y, path=PATH)
    hundred = Family(model("XGB", learning_rate=0.2), {"n_estimators": [100]})
    last = NESTED.run(hundred, X, y, progress="off", flat=True).outer_curves[:, 0]
    np.testing.assert_array_equal(result.outer_curves[:, 3], last)


def test_numbers_of_another_parameter_are_checked_one_by_one():
    """A grid of a parameter that the path refuses is refitted, whatever comes first."""
    X, y = cases.data("plain / truths")
    grid = rounds("CatBoost", 2, 4, 6, 8) | {"model_shrink_rate": [0, 0.1]}
    path = prepared(Family(model("CatBoost"), grid), X, y.astype(int)).choose_path()
    assert path.name == "refit"
    assert "model_shrink_rate" in path.reason


# Threads, interrupts, other packages


@pytest.mark.parametrize("kind", PACKAGES)
def test_another_thread_gives_the_same_numbers(kind):
    """Where no seed is given, the package's own is used in every thread."""
    X, y = cases.data("plain / classes")
    sampled = {} if kind == "CatBoost" else {"subsample": 0.5}
    if kind == "LGBM":
        sampled["subsample_freq"] = 1
    job = partial(
        NESTED.run,
        Family(model(kind, **sampled), rounds(kind, 1, 12, 5)),
        X,
        y,
        progress="off",
        loss="log",
    )
    here, there = job(), []
    thread = threading.Thread(target=lambda: there.append(job()))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(there[0].inner_curves, here.inner_curves)


def test_two_workers_give_the_same_numbers():
    """The model travels, and its package is imported there."""
    family = Family(
        model("LGBM", **SAMPLED, subsample_freq=1), {"n_estimators": [1, 9, 4]}
    )
    X, y = cases.data("plain / classes")
    one, two = (NESTED.run(family, X, y, progress="off", n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.inner_curves, two.inner_curves)


@pytest.mark.parametrize("kind", PACKAGES)
def test_a_fit_in_another_thread_is_stopped_between_rounds(kind):
    """It would go on for hours."""
    X, y = cases.data("plain / truths")
    family = Family(model(kind), rounds(kind, 1, 2, LARGE))
    data = Data.check(X, y.astype(int), None, None)
    run, slot, results = prepare(NESTED, family, data, Options()), Slot(False), []
    thread = threading.Thread(target=lambda: results.append(run.run(slot)))
    thread.start()
    time.sleep(0.5)
    slot.stop.set()
    thread.join(60)
    assert not thread.is_alive()
    assert not results[0].complete


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_record_names_the_class_by_the_module_that_defines_it(address):
    """So it is found without an import."""
    kind, task = re.search(r":(\w+?)(Classifier|Regressor)$", address).groups()
    known = type(model(kind, task))
    assert registry.recognised(known).name == "boosting"
    assert registry.recognised(type("Own", (known,), {})) is None


def test_nothing_is_imported_for_a_model_of_another_package():
    """Neither by the registry nor by a run of scikit-learn's boosting."""
    code = (
        "import sys, numpy, cvnb\n"
        "X = numpy.random.default_rng(0).normal(size=(30, 2))\n"
        "r = cvnb.nested_cv(cvnb.boosting([1, 3]), X, X[:, 0] > 0, outer=2, inner=2)\n"
        "print(r.path, {'xgboost', 'lightgbm', 'catboost'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == f"{PATH} set()\n", run.stderr


def test_fewer_rounds_and_shallower_trees_are_simpler():
    """A depth of 0 is no limit to XGBoost."""
    grid = {"max_depth": [0, 2], "n_estimators": [9, 3]}
    family = Family(model("XGB"), grid)
    order = order_of(family, check_parameters(family), {})
    assert order.ranks.tolist() == [[1, 1], [1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize("kind", PACKAGES)
def test_the_dry_run_and_the_predictor_are_those_of_any_boosting(kind):
    """One fit a split, and a predictor of the chosen number of rounds."""
    X, y = cases.data("plain / classes")
    family = Family(model(kind), rounds(kind, 1, 12, 5))
    assert dry_run(NESTED, family, X, y).path.name == PATH
    result = NESTED.run(family, X, y, progress="off")
    assert set(np.unique(result.predictor().predict(X))) <= {0, 1, 2}
