"""Trees, boosting and forests: one fit per split predicts what one per setting predicts."""

import _thread
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cases
import cvnb.engine.workers
from cvnb import Family, Recipe, boosting, forest, tree
from cvnb.results.estimate import record_of
from cvnb.runtime import threads
from identical import NESTED, assert_identical
from stopped import shown_part

LEAVES, SIZES, ROUNDS = (
    {"max_leaf_nodes": [5, 2, 9, 3]},
    {"n_estimators": [1, 7, 3]},
    {"max_iter": [2, 9, 4]},
)
PENALTIES = {"ccp_alpha": [0.0, 0.1, 0.003, 0.02]}

CLASSIFIERS = {
    "tree": (DecisionTreeClassifier(random_state=0), LEAVES),
    "penalised tree": (DecisionTreeClassifier(random_state=0), PENALTIES),
    "penalised tree of some size": (
        DecisionTreeClassifier(random_state=0),
        PENALTIES | {"max_leaf_nodes": [4, None]},
    ),
    "random tree": (
        DecisionTreeClassifier(max_features=2, splitter="random"),
        LEAVES | {"min_samples_leaf": [1, 3]},
    ),
    "unbounded too": (
        DecisionTreeClassifier(random_state=1),
        {"max_leaf_nodes": [None, 3, 5, 8]},
    ),
    "boosting": (
        GradientBoostingClassifier(subsample=0.7, max_features=2, random_state=0),
        SIZES,
    ),
    "histograms": (
        HistGradientBoostingClassifier(
            min_samples_leaf=3, max_features=0.5, random_state=2
        ),
        ROUNDS,
    ),
    "adaboost": (AdaBoostClassifier(random_state=0), SIZES),
    "adaboost of logistic": (
        AdaBoostClassifier(LogisticRegression(), random_state=0),
        SIZES,
    ),
    "forest": (
        RandomForestClassifier(random_state=0, class_weight="balanced_subsample"),
        SIZES | {"max_depth": [2, None]},
    ),
    "forest of its own seed": (RandomForestClassifier(), SIZES),
    "extra trees": (ExtraTreesClassifier(random_state=3, bootstrap=True), SIZES),
    "bagging": (
        BaggingClassifier(max_features=2, max_samples=0.5, random_state=0),
        SIZES,
    ),
    "bagging of logistic": (
        BaggingClassifier(LogisticRegression(), random_state=0),
        SIZES,
    ),
}
REGRESSORS = {
    "tree": (DecisionTreeRegressor(random_state=0), LEAVES),
    "absolute tree": (
        DecisionTreeRegressor(
            criterion="absolute_error", min_samples_leaf=4, random_state=0
        ),
        LEAVES,
    ),
    "penalised tree": (DecisionTreeRegressor(random_state=0, max_depth=5), PENALTIES),
    "boosting": (
        GradientBoostingRegressor(loss="huber", random_state=0),
        SIZES | {"learning_rate": [0.1, 0.5]},
    ),
    "histograms": (
        HistGradientBoostingRegressor(loss="absolute_error", min_samples_leaf=3),
        ROUNDS,
    ),
    "adaboost": (AdaBoostRegressor(random_state=0), SIZES),
    "forest": (RandomForestRegressor(random_state=np.random.RandomState(5)), SIZES),
    "extra trees": (ExtraTreesRegressor(random_state=0), SIZES),
    "bagging": (BaggingRegressor(random_state=0), SIZES),
}


def path_of(model):
    name = type(model).__name__
    return (
        "path:boosting"
        if "Boost" in name
        else "path:tree"
        if name.startswith("DecisionTree")
        else "path:forest"
    )


@pytest.mark.parametrize(
    ("data", "loss"),
    [
        ("plain / classes", {}),
        ("plain / classes", {"loss": "log"}),
        ("ties / words", {"scoring": "roc_auc_ovr"}),
        ("copies / rare classes", {}),
        ("float32 / truths", {"loss": "log"}),
        ("wide / truths", {"scoring": "average_precision"}),
    ],
)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_size_of_a_classifier_is_its_own_fit(name, data, loss):
    """Predictions, probabilities and decisions of each size equal those of a fit of that size."""
    model, grid = CLASSIFIERS[name]
    X, y = cases.data(data)
    assert_identical(
        Family(model, grid),
        X,
        y.astype(int) if y.dtype == bool else y,
        path=path_of(model),
        **loss,
    )


@pytest.mark.parametrize(
    ("data", "loss"),
    [
        ("plain / numbers", {}),
        ("offset / whole numbers", {"loss": "absolute"}),
        ("wide / numbers", {"scoring": "r2"}),
        ("copies / constant numbers", {}),
    ],
)
@pytest.mark.parametrize("name", REGRESSORS)
def test_every_size_of_a_regressor_is_its_own_fit(name, data, loss):
    """Predictions of each size equal those of a fit of that size."""
    model, grid = REGRESSORS[name]
    assert_identical(
        Family(model, grid), *cases.data(data), path=path_of(model), **loss
    )


@pytest.mark.parametrize(
    "model",
    [DecisionTreeClassifier(random_state=0), RandomForestClassifier(random_state=0)],
)
def test_transformers_weights_and_missing_values_are_as_in_a_fit(model, rng):
    """Transformers are fitted once per split; weights, missing and sparse values reach the fit."""
    X, y = cases.data("plain / words")
    grid = LEAVES if isinstance(model, DecisionTreeClassifier) else SIZES
    last = type(model).__name__.lower()
    ahead = {"pca__n_components": [1, 3]} | {
        f"{last}__{key}": values for key, values in grid.items()
    }
    assert_identical(
        Family(make_pipeline(StandardScaler(), PCA(random_state=0), model), ahead),
        X,
        y,
        path=path_of(model),
    )
    assert_identical(
        Family(model, grid),
        X,
        y,
        sample_weight=rng.integers(0, 4, len(y)) + 0.5,
        path=path_of(model),
    )
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    assert_identical(Family(model, grid), holes, y, path=path_of(model))
    assert_identical(
        Family(model, grid),
        sp.csr_matrix(np.where(X > 0, X, 0.0)),
        y,
        path=path_of(model),
    )
    assert_identical(
        Family(model, grid),
        pd.DataFrame(X, columns=list("abcd")),
        y,
        path=path_of(model),
    )


def test_categories_reach_the_histograms(rng):
    """A frame reaches scikit-learn unchanged."""
    X, y = cases.data("plain / numbers")
    frame = (
        pd.DataFrame(X)
        .add_prefix("x")
        .assign(kind=pd.Categorical(rng.choice(list("abc"), len(y))))
    )
    model = HistGradientBoostingRegressor(
        categorical_features="from_dtype", min_samples_leaf=2
    )
    assert_identical(Family(model, ROUNDS), frame, y, path="path:boosting")


@pytest.mark.parametrize(
    ("family", "why"),
    [
        (
            Family(DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}),
            "no fit of DecisionTreeClassifier serves two settings",
        ),
        (
            Family(
                RandomForestClassifier(), {"n_estimators": [3], "max_depth": [1, 2]}
            ),
            "serves two settings",
        ),
        (Family(RandomForestClassifier(warm_start=True), SIZES), "warm_start=True"),
        (
            Family(DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0]), LEAVES),
            "monotonic_cst",
        ),
        (
            Family(GradientBoostingClassifier(n_iter_no_change=2), SIZES),
            "n_iter_no_change",
        ),
        (
            Family(HistGradientBoostingClassifier(early_stopping=True), ROUNDS),
            "early_stopping=True",
        ),
        (
            Family(DecisionTreeClassifier(ccp_alpha=0.01), LEAVES),
            "no fit of DecisionTreeClassifier serves two settings",
        ),
    ],
)
def test_models_without_prefixes_are_refitted(family, why):
    """The reason names the parameter."""
    result = NESTED.run(family, *cases.data("plain / truths"), progress="off")
    assert result.path == "refit"
    assert why in result.path_reason


def test_a_failing_split_is_refitted():
    """Missing values only in a test part fail there, setting by setting, as in scikit-learn."""
    X, y = cases.data("plain / classes")
    X[0, 0] = np.nan
    model = ExtraTreesClassifier(random_state=0)
    fast, slow = (
        NESTED.run(Family(model, SIZES), X, y, progress="off", path=path)
        for path in ("auto", "refit")
    )
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-13)
    assert fast.path == "path:forest"


@pytest.mark.parametrize(
    ("family", "path"),
    [
        (tree(), "path:tree"),
        (boosting([3, 9]), "path:boosting"),
        (forest([4, 9]), "path:forest"),
    ],
)
def test_the_shorthands_take_the_path(family, path, fits):
    """One fit per split: six inside, three outside."""
    result = NESTED.run(family, *cases.data("plain / classes"), progress="off")
    assert result.path == path
    assert len(result.settings) > 1
    if path == "path:tree":
        assert fits == ["DecisionTreeClassifier"] * 9


def test_workers_give_the_same_table():
    """Two workers give the table of one."""
    X, y = cases.data("plain / classes")
    family = Family(RandomForestClassifier(), SIZES)
    one, two = (NESTED.run(family, X, y, progress="off", n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.inner_curves, two.inner_curves)
    np.testing.assert_array_equal(one.outer_curves, two.outer_curves)


def test_threads_count_warnings_and_keep_the_configuration():
    """Warnings of a fit become notes in any thread, and scikit-learn's configuration reaches it."""
    X, y = cases.data("plain / classes")
    family = Family(RandomForestClassifier(oob_score=True, random_state=0), SIZES)
    counts = [
        dict(
            record_of(NESTED.run(family, X, y, progress="off", n_jobs=n)).table.warnings
        )
        for n in (None, 1)
    ]
    assert counts[0] == counts[1] != {}


def test_an_interrupt_returns_at_once_and_keeps_finished_splits(monkeypatch):
    """Running fits end by themselves; no new one begins."""
    X, y = cases.data("plain / classes")
    fit, begun = DecisionTreeClassifier.fit, []

    def slowly(self, *args, **options):
        begun.append(1)
        if len(begun) == 8:
            _thread.interrupt_main()
        time.sleep(0.1)
        return fit(self, *args, **options)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", slowly)
    result = shown_part(Recipe(4, 2), Family(DecisionTreeClassifier(), LEAVES), X, y)
    assert not result.complete
    assert len(result.fold_risks) < 4
    time.sleep(0.3)
    assert len(begun) <= 8 + threads.n_threads(None)


@pytest.mark.parametrize("model", [GradientBoostingClassifier, RandomForestClassifier])
def test_an_interrupted_fit_ends_in_its_thread(model, monkeypatch):
    """An ensemble of a million trees is stopped after a few, and leaves no thread behind."""
    X, y = cases.data("plain / classes")
    monkeypatch.setattr(threads, "_idle_pools", {})
    before = set(threading.enumerate())
    monkeypatch.setattr(
        cvnb.engine.workers.ThisThread, "map", None
    )  # not in this thread
    threading.Timer(0.5, _thread.interrupt_main).start()
    result = shown_part(
        Recipe(4, 2), Family(model(), {"n_estimators": [1, 1_000_000]}), X, y
    )
    assert not result.complete
    until = time.monotonic() + 30
    while set(threading.enumerate()) - before and time.monotonic() < until:
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before


@pytest.mark.parametrize("model", [AdaBoostClassifier, DecisionTreeClassifier])
def test_a_fit_that_cannot_be_stopped_is_left_and_noted(model, monkeypatch):
    """The run returns long before the fit ends, begins no other fit, and a note names it."""
    X, y = cases.data("plain / classes")
    begun, end, axis = (
        [],
        threading.Event(),
        "n_estimators" if model is AdaBoostClassifier else "max_leaf_nodes",
    )

    def endless(self, *args, **options):
        begun.append(1)
        end.wait(60)
        return self

    monkeypatch.setattr(model, "fit", endless)
    threading.Timer(0.3, _thread.interrupt_main).start()
    started = time.monotonic()
    try:
        result = shown_part(Recipe(4, 2), Family(model(), {axis: [2, 3, 4, 5]}), X, y)
        taken, n_begun = time.monotonic() - started, len(begun)
    finally:
        end.set()
    assert taken < 30
    start = (
        f"A fit of {model.__name__} cannot be stopped from outside: it goes on in a "
        "thread until it ends"
    )
    assert any(note.startswith(start) for note in result.notes)
    time.sleep(0.2)
    assert len(begun) == n_begun <= threads.n_threads(None)
