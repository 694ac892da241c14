"""Which path runs for which family and data: reasons, interrupts, compilation."""

import _thread
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
)
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cvnb.engine.workers
from cvnb import Family, Recipe, knn
from cvnb.paths import after_transformers as behind
from cvnb.paths.knn import path as knn_path
from cvnb.paths.knn import search
from cvnb.paths.linear import path as ridge_path
from cvnb.paths.linear.path import LinearPath
from cvnb.results.estimate import record_of
from stopped import finished_part

ROOT = Path(__file__).parents[2]
NESTED = Recipe(outer=3, inner=2)
KS = {"n_neighbors": [1, 5]}


class OwnVotes(KNeighborsClassifier):
    """A subclass, which may do anything."""


class OwnTree(DecisionTreeClassifier):
    """A subclass, which may do anything."""


class OwnScaler(StandardScaler):
    """A subclass, which may do anything."""


class OwnPipeline(Pipeline):
    """A subclass, which may do anything."""


def table(m=40, p=3, seed=0):
    """Return normal columns and two classes."""
    X = np.random.default_rng(seed).normal(size=(m, p))
    return X, (X[:, 0] > 0).astype(int)


def run(model, grid, X, y, recipe=NESTED, **options):
    """Return the result of a family."""
    return recipe.run(Family(model, grid), X, y, progress="off", **options)


def one_plus(distances):
    """A user's own weights."""
    return 1 / (1 + distances)


def gap(a, b):
    """A user's own distance."""
    return np.abs(a - b).sum()


# The table of paths

VOTES, MEANS = KNeighborsClassifier(), KNeighborsRegressor()
BEHIND = "the transformers are fitted once per split"
SHARED = "each row's neighbours are found once and serve every split and setting"
SCALED = "neighbours are searched once in every training part"
OTHER = "one fit per setting and split: "

PATHS = {
    "votes": (VOTES, KS, "shared:knn", SHARED),
    "means": (MEANS, KS, "shared:knn", SHARED),
    "no grid": (VOTES, {}, "shared:knn", SHARED),
    "weights": (
        VOTES,
        {"weights": ["uniform", "distance", None]},
        "shared:knn",
        SHARED,
    ),
    "brute": (KNeighborsClassifier(algorithm="brute"), KS, "shared:knn", SHARED),
    "cosine": (KNeighborsClassifier(metric="cosine"), KS, "shared:knn", SHARED),
    "cosine by brute force": (
        KNeighborsClassifier(metric="cosine", algorithm="brute"),
        KS,
        "shared:knn",
        SHARED,
    ),
    "infinite p": (KNeighborsClassifier(p=np.inf), KS, "shared:knn", SHARED),
    "passthrough": (
        make_pipeline("passthrough", KNeighborsClassifier()),
        {},
        "shared:knn",
        SHARED,
    ),
    "alone in a pipeline": (
        make_pipeline(KNeighborsClassifier()),
        {},
        "shared:knn",
        SHARED,
    ),
    "own weights": (
        KNeighborsClassifier(weights=one_plus),
        KS,
        "refit",
        "KNeighborsClassifier with weights=<function>",
    ),
    "own weights in the grid": (
        VOTES,
        {"weights": ["uniform", one_plus]},
        "refit",
        "weights=<function>",
    ),
    "weighted columns": (
        KNeighborsClassifier(metric_params={"w": np.ones(3)}),
        KS,
        "refit",
        "with metric_params",
    ),
    "own metric": (
        KNeighborsClassifier(metric=gap),
        KS,
        "refit",
        "with metric=<function gap",
    ),
    "rare metric": (
        KNeighborsClassifier(metric="canberra"),
        KS,
        "refit",
        "with metric='canberra'",
    ),
    "rare metric in the grid": (
        VOTES,
        {"metric": ["l2", "braycurtis"]},
        "refit",
        "with metric='braycurtis'",
    ),
    "small p": (
        KNeighborsClassifier(p=0.5, algorithm="brute"),
        KS,
        "refit",
        "with p=0.5",
    ),
    "radius": (
        RadiusNeighborsClassifier(5.0),
        {},
        "refit",
        "no other exact way is known for RadiusNeighborsClassifier",
    ),
    "subclass": (OwnVotes(), KS, "refit", "no other exact way is known for OwnVotes"),
    "svc": (SVC(), {"C": [1.0, 2.0]}, "refit", "no other exact way is known for SVC"),
    "tree": (
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2]},
        "refit",
        "no fit of DecisionTreeClassifier serves two",
    ),
    "lasso": (
        Lasso(),
        {"alpha": [0.1, 1.0]},
        "shared:lasso",
        "one descent along the penalties of each",
    ),
    "elastic net": (
        ElasticNet(),
        {"alpha": [0.1, 1.0], "l1_ratio": [0.1, 0.9]},
        "shared:lasso",
        "sums of blocks of rows",
    ),
    "lasso behind": (
        make_pipeline(MinMaxScaler(), Lasso()),
        {"lasso__alpha": [0.1, 1.0]},
        "path:lasso",
        BEHIND,
    ),
    "one logistic": (
        LogisticRegression(),
        {},
        "refit",
        "no fit of LogisticRegression serves two settings",
    ),
    "logistic": (
        LogisticRegression(),
        {"C": [0.1, 1.0]},
        "path:logistic",
        "one path along C serves every setting",
    ),
    "liblinear": (
        LogisticRegression(solver="liblinear"),
        {"C": [0.1, 1.0]},
        "refit",
        "solver='liblinear'",
    ),
    "leaves": (
        DecisionTreeClassifier(random_state=0),
        {"max_leaf_nodes": [2, 4]},
        "path:tree",
        "holds every smaller one",
    ),
    "leaves of a subclass": (
        OwnTree(),
        {"max_leaf_nodes": [2, 4]},
        "refit",
        "no other exact way is known for OwnTree",
    ),
    "trees": (
        RandomForestClassifier(),
        {"n_estimators": [2, 4]},
        "path:forest",
        "holds every smaller one",
    ),
    "rounds": (
        GradientBoostingClassifier(),
        {"n_estimators": [2, 4]},
        "path:boosting",
        "holds every shorter one",
    ),
    "kinds of models": (
        Pipeline([("m", VOTES)]),
        {"m": [VOTES, SVC()]},
        "refit",
        "no other exact way is known for SVC",
    ),
    "votes and ridge": (
        Pipeline([("m", MEANS)]),
        {"m": [MEANS, Ridge()]},
        "refit",
        "the grid holds models of several kinds",
    ),
    "scaler": (make_pipeline(StandardScaler(), VOTES), {}, "path:knn", SCALED),
    "scaler without copying": (
        make_pipeline(StandardScaler(copy=False), VOTES),
        {},
        "path:knn",
        SCALED,
    ),
    "scaler and passthrough": (
        make_pipeline("passthrough", StandardScaler(), None, VOTES),
        {},
        "path:knn",
        SCALED,
    ),
    "scaler or not": (
        Pipeline([("s", None), ("m", VOTES)]),
        {"s": [None, StandardScaler()]},
        "path:knn",
        SCALED,
    ),
    "uncentred": (
        make_pipeline(StandardScaler(with_mean=False), VOTES),
        {},
        "path:knn",
        BEHIND,
    ),
    "unscaled": (
        make_pipeline(StandardScaler(with_std=False), VOTES),
        {},
        "path:knn",
        BEHIND,
    ),
    "two scalers": (
        make_pipeline(StandardScaler(), StandardScaler(), VOTES),
        {},
        "path:knn",
        BEHIND,
    ),
    "min-max": (make_pipeline(MinMaxScaler(), VOTES), {}, "path:knn", BEHIND),
    "pca": (make_pipeline(StandardScaler(), PCA(2), VOTES), {}, "path:knn", BEHIND),
    "own scaler": (make_pipeline(OwnScaler(), VOTES), {}, "path:knn", BEHIND),
    "union": (
        make_pipeline(FeatureUnion([("a", PCA(1)), ("b", StandardScaler())]), VOTES),
        {},
        "path:knn",
        BEHIND,
    ),
    "columns": (
        make_pipeline(ColumnTransformer([("a", StandardScaler(), [0, 2])]), VOTES),
        {},
        "path:knn",
        BEHIND,
    ),
    "own pipeline": (
        OwnPipeline([("m", VOTES)]),
        {},
        "refit",
        "the steps of this pipeline cannot be taken one by one",
    ),
    "pipeline inside": (
        make_pipeline(make_pipeline(PCA(2), VOTES)),
        {},
        "refit",
        "no other exact way is known for Pipeline",
    ),
    "search": (GridSearchCV(VOTES, KS, cv=KFold(2)), {}, "shared:knn", SHARED),
    "scorer": (
        GridSearchCV(MEANS, KS, cv=2, scoring=make_scorer(mean_absolute_error)),
        {},
        "shared:knn",
        SHARED,
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_the_path_of_a_family_is_known_and_says_why(name):
    """The path has its name, and its reason names the cause."""
    model, grid, path, reason = PATHS[name]
    X, y = table()
    recipe = Recipe(outer=3) if isinstance(model, GridSearchCV) else NESTED
    result = recipe.run(
        Family(model) if isinstance(model, GridSearchCV) else Family(model, grid),
        X,
        y,
        progress="off",
    )
    assert result.path == path
    assert reason in result.path_reason
    assert result.path_reason.startswith(OTHER) == (path == "refit")


def test_refit_can_be_requested():
    """path="refit" runs scikit-learn's own fits, and an unknown path is refused."""
    X, y = table()
    result = run(VOTES, KS, X, y, path="refit")
    assert (result.path, result.path_reason) == ("refit", "as requested")
    assert result.outer_curves is None
    with pytest.raises(ValueError, match="path='fast'"):
        run(VOTES, KS, X, y, path="fast")


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("regression", [False, True])
def test_the_short_hand_takes_the_fast_path(regression, weights):
    """knn() comes after a scaler, or bare with scale=False."""
    X, y = table()
    y = X[:, 0] if regression else y
    for scale, path in ((True, "path:knn"), (False, "shared:knn")):
        family = knn(k=[1, 3], weights=weights, scale=scale)
        assert NESTED.run(family, X, y, progress="off").path == path


# What the data decide

KINDS = {
    "float64": (lambda X: X, "shared:knn", "path:knn", "path:knn"),
    "float32": (lambda X: X.astype(np.float32), "shared:knn", "path:knn", "path:knn"),
    "float16": (lambda X: X.astype(np.float16), "shared:knn", "path:knn", "path:knn"),
    "int8": (lambda X: (20 * X).astype(np.int8), "shared:knn", "path:knn", "path:knn"),
    "int64": (
        lambda X: (1000 * X).astype(np.int64),
        "shared:knn",
        "path:knn",
        "path:knn",
    ),
    "bool": (lambda X: X > 0, "shared:knn", "path:knn", "path:knn"),
    "sparse": (sp.csr_matrix, "refit", None, "refit"),
    "list": (np.ndarray.tolist, "shared:knn", "path:knn", "path:knn"),
    "pandas": (pd.DataFrame, "shared:knn", "path:knn", "path:knn"),
    "polars": (pl.DataFrame, "shared:knn", "path:knn", "path:knn"),
    "objects": (lambda X: X.astype(object), "shared:knn", "path:knn", "path:knn"),
}
IDENTITY = FunctionTransformer(accept_sparse=True)


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_data_decides_too(name):
    """Dense numbers take fast paths, in double precision; sparse X is refitted."""
    of, *paths = KINDS[name]
    X, y = table()
    for ahead, path in zip(([], [StandardScaler()], [IDENTITY]), paths, strict=True):
        if path is None:
            continue  # sparse X cannot be centred
        near = {"kneighborsclassifier__n_neighbors": [3, 5]}
        pipeline, given = make_pipeline(*ahead, VOTES), of(X)
        wide = given.astype(float) if name.startswith("float") else given
        fast = run(pipeline, near, given, y)
        slow = run(pipeline, near, wide, y, path="refit")
        assert fast.path == path, fast.path_reason
        np.testing.assert_allclose(
            fast.inner_curves, slow.inner_curves, rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            fast.fold_risks, slow.fold_risks, rtol=1e-9, atol=1e-12
        )


def test_the_reasons_that_data_give_name_the_cause():
    """Sparse X and an X or y of more than 64 bits are named."""
    X, y = table()
    assert "sparse X" in run(VOTES, KS, sp.csr_matrix(X), y).path_reason
    long = np.dtype(np.longdouble)
    if long.itemsize > 8:
        for given in ((X.astype(long), y), (X, X[:, 0].astype(long))):
            reason = run(MEANS, KS, given[0], X[:, 0] + given[1]).path_reason
            assert f"is {long}, and the path computes in float64" in reason


def test_a_scorer_of_the_users_own_may_look_at_the_estimator():
    """A function of (estimator, X, y) needs a fitted estimator and X, so everything is refitted."""
    X, y = table()

    def score(estimator, X, y):
        return estimator.n_samples_fit_ + X.shape[1]

    result = run(VOTES, KS, X, y, scoring=score)
    assert result.path == "refit"
    assert "a scorer of your own may look at the fitted estimator" in result.path_reason
    assert np.all(result.fold_scores > 20)


def test_a_training_row_given_twice_is_refitted():
    """The reason is the list that repeats a training row."""
    X, y = table()
    result = run(
        VOTES,
        {},
        X,
        y,
        Recipe(outer=[(np.repeat(np.arange(10), 2), [30, 31])], inner=None),
    )
    assert (result.path, result.path_reason) == (
        "refit",
        OTHER
        + "a training part holds a row more than once; lists without repeats are fast",
    )


def test_every_member_of_a_comparison_has_its_own_path():
    """Families compared on the same splits run on paths of their own."""
    X, y = table()
    families = {
        "votes": Family(VOTES, KS),
        "scaled": knn(k=[1, 3]),
        "svc": Family(SVC(), {"C": [1.0, 2.0]}),
    }
    comparison = NESTED.run(families, X, y, progress="off")
    assert [comparison[name].path for name in families] == [
        "shared:knn",
        "path:knn",
        "refit",
    ]


def test_polynomials_of_one_degree_are_fitted_once_per_split(fits):
    """Transformers are fitted once per split, for any number of settings of the model."""
    X, _ = table()
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(2), KNeighborsRegressor()
    )
    result = run(
        model, {"kneighborsregressor__n_neighbors": list(range(1, 10))}, X, X[:, 0]
    )
    assert result.path == "path:knn"
    assert fits.count("StandardScaler") == 3 * 2 + 3
    assert "KNeighborsRegressor" not in fits


def test_a_refit_reuses_the_fitted_transformers():
    """Transformers are fitted, and their warnings counted, once per split."""
    (X, _), calls = table(), []

    def loudly(X):
        calls.append(len(X))
        warnings.warn("called", UserWarning, stacklevel=1)
        return X

    model = make_pipeline(FunctionTransformer(loudly), Lasso(max_iter=100))
    result = run(model, {"lasso__alpha": [0.0, 0.1, 1.0]}, X, X[:, 0])
    assert "alpha=0 is no lasso" in result.path_reason
    of_both_parts = 2 * (3 * 2 + 3)
    assert (
        len(calls)
        == dict(record_of(result).table.warnings)["UserWarning: called"]
        == of_both_parts
    )


# Interrupts


def interrupted_in(monkeypatch, owner, name, nth):
    """Interrupt the main thread at the nth call of a method; its worker waits for `release`."""
    release, calls, original = threading.Event(), [], getattr(owner, name)

    def interrupting(*args, **kwargs):
        calls.append(None)
        if len(calls) == nth:
            _thread.interrupt_main()
        if len(calls) >= nth:
            release.wait(60)
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, interrupting)
    return release, calls


def wait_for_workers(before):
    """Wait until the threads started since are gone, up to a generous limit."""
    until = time.monotonic() + 60
    while set(threading.enumerate()) - before and time.monotonic() < until:
        time.sleep(0.01)
    return set(threading.enumerate()) - before


def test_an_interrupt_before_the_first_split_is_said_and_stops_the_workers(monkeypatch):
    """The run ends while a worker is still in its call, and the worker makes no further call."""
    X, y = table(2000, 8)
    before = set(threading.enumerate())
    release, calls = interrupted_in(monkeypatch, search.Search, "fill", 2)
    try:
        assert (
            finished_part(
                lambda: run(VOTES, {"n_neighbors": [1, 2, 3]}, X, y, n_jobs=2)
            )
            is None
        )
        n_calls = len(calls)
    finally:
        release.set()
    assert not wait_for_workers(before)
    assert len(calls) <= n_calls + 1


@pytest.mark.parametrize(
    "model", [VOTES, make_pipeline(StandardScaler(), VOTES)], ids=["bare", "scaled"]
)
def test_an_interrupt_keeps_the_outer_splits_that_were_finished(monkeypatch, model):
    """A partial result holds the first outer splits of a whole run, and a note tells how many."""
    X, y = table(200)
    near = {f"{'kneighborsclassifier__' * (model is not VOTES)}n_neighbors": [3, 5]}
    whole = run(model, near, X, y, Recipe(outer=5, inner=2))
    monkeypatch.setattr(knn_path, "WAVE", 1.0)  # one training part after the other
    before = set(threading.enumerate())
    release, _ = interrupted_in(monkeypatch, knn_path.KnnPath, "_outside", 3)
    try:
        part = finished_part(
            lambda: run(model, near, X, y, Recipe(outer=5, inner=2), n_jobs=2)
        )
    finally:
        release.set()
    assert not wait_for_workers(before)
    assert not part.complete
    assert part.fold_risks.tolist() == whole.fold_risks[:2].tolist()
    assert part.outer_curves.tolist() == whole.outer_curves[:2].tolist()
    assert part.inner_curves.tolist() == whole.inner_curves[:2].tolist()
    assert any(
        note.startswith("Interrupted: 2 of 5 outer splits were finished")
        for note in part.notes
    )


def test_an_interrupt_behind_transformers_keeps_what_was_finished(monkeypatch):
    """Finished outer splits stay."""
    X, y = table(60)
    model, recipe = make_pipeline(MinMaxScaler(), VOTES), Recipe(outer=5, inner=2)
    near = {"kneighborsclassifier__n_neighbors": [3, 5]}
    whole = run(model, near, X, y, recipe)
    original, calls = behind.AfterTransformers.run, []

    def evaluate(self, *args):
        calls.append(None)
        if len(calls) == 8:  # two splits inside and one outside, each
            raise KeyboardInterrupt
        return original(self, *args)

    monkeypatch.setattr(behind.AfterTransformers, "run", evaluate)
    part = finished_part(lambda: run(model, near, X, y, recipe))
    assert not part.complete
    assert part.fold_risks.tolist() == whole.fold_risks[: len(part.fold_risks)].tolist()
    assert 1 <= len(part.fold_risks) < 5


@pytest.mark.parametrize("quick", [False, True], ids=["on a worker", "on this thread"])
def test_an_interrupt_of_a_linear_path_keeps_the_parts_that_were_finished(
    monkeypatch, quick
):
    """Training parts are finished in order, and the interrupted one is left out."""
    X, y = table(200)
    task = (
        Ridge(),
        {"alpha": [0.1, 10.0]},
        X,
        X @ [1.0, 2.0, 3.0] + y,
        Recipe(outer=5, inner=2),
    )
    whole = run(*task)
    monkeypatch.setattr(ridge_path, "MOMENT", 0.0)  # what takes a moment is one batch
    if not quick:
        monkeypatch.setattr(cvnb.engine.workers, "TINY", -1.0)
        monkeypatch.setattr(cvnb.engine.workers, "QUICK", -1.0)
    before = set(threading.enumerate())
    release, _ = interrupted_in(monkeypatch, LinearPath, "_part", 5)
    try:
        part = finished_part(lambda: run(*task, n_jobs=1))
    finally:
        release.set()
    assert not wait_for_workers(before)
    assert not part.complete
    assert part.path == "shared:ridge"
    assert part.fold_risks.tolist() == whole.fold_risks[:2].tolist()
    assert part.inner_curves.tolist() == whole.inner_curves[:2].tolist()


def test_an_error_in_a_worker_ends_the_run(monkeypatch):
    """The run raises the error of the worker, and no worker is left behind."""
    X, y = table(600)
    before = set(threading.enumerate())

    def broken(self, *args):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(knn_path.KnnPath, "_inside", broken)
    with pytest.raises(ZeroDivisionError, match="broken"):
        run(VOTES, KS, X, y, n_jobs=2)
    assert not wait_for_workers(before)
    assert record_of(run(SVC(), {}, X[:30], y[:30])).table.complete


# Other processes


def python(code, **environment):
    """Return (stdout, stderr) of a program in its own process, run in the folder of the tests."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_numba_is_imported_where_a_path_needs_it_only():
    """Neither `import cvnb` nor a refit of an SVC imports Numba; k-NN does."""
    code = """
import sys, json
import cvnb
loaded = ["numba" in sys.modules]
import numpy as np
from sklearn.svm import SVC
X = np.random.default_rng(0).normal(size=(30, 2)); y = (X[:, 0] > 0).astype(int)
cvnb.Recipe(outer=3, inner=2).run(cvnb.Family(SVC(), {"C": [1.0, 2.0]}), X, y)
loaded.append("numba" in sys.modules)
cvnb.Recipe(outer=3, inner=2).run(cvnb.knn(k=[1, 2]), X, y, path="refit")
loaded.append("numba" in sys.modules)
cvnb.Recipe(outer=3, inner=2).run(cvnb.knn(k=[1, 2]), X, y)
loaded.append("numba" in sys.modules)
print(json.dumps(loaded))
"""
    assert json.loads(python(code)[0]) == [False, False, False, True]


def test_kernels_are_compiled_once(tmp_path):
    """The first process with an empty cache reports that it compiles; the second loads silently."""
    code = """
import sys
import numpy as np, cvnb
sys.stderr.isatty = lambda: True
X = np.random.default_rng(0).normal(size=(30, 2)); y = (X[:, 0] > 0).astype(int)
print(repr(cvnb.Recipe(outer=3, inner=2).run(cvnb.knn(k=[1, 2], scale=False), X, y).risk))
"""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "CVNB_PROGRESS": "auto"}
    (first, message), (second, silence) = (
        python(code, **environment),
        python(code, **environment),
    )
    assert "Compiling once; later runs load the compiled loops from disk." in message
    assert "Compiling" not in silence
    assert first == second


AGREEMENT = """
import json, sys
import numpy as np
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
import naive
from cvnb import Family, Recipe
from cvnb.results.estimate import record_of
from cvnb.kernels import neighbours
from cvnb.paths.knn import search

rng = np.random.default_rng(0)
numbers, paths = [], set()
for p in (2, 9):
    X = np.vstack([rng.normal(size=(14, p)), rng.integers(0, 2, size=(8, p))])
    for model in (KNeighborsClassifier(), KNeighborsRegressor(weights="distance")):
        votes = isinstance(model, KNeighborsClassifier)
        y = rng.integers(0, 3, 22) if votes else rng.normal(size=22)
        loss = "log" if votes else "squared"
        for ahead in ([], [StandardScaler()], [MinMaxScaler()]):
            name = type(model).__name__.lower() + "__"
            axes = {"n_neighbors": [1, 4, 7], "p": [1, 3, np.inf], "metric": ["l2"]}
            grid = [{name + axis: values} for axis, values in axes.items()]
            family = Family(make_pipeline(*ahead, model), grid)
            recipe = Recipe(outer=3, inner=2, stratify=False)
            result = recipe.run(family, X, y, loss=loss, progress="off", n_jobs=1)
            paths.add(result.path)
            numbers += [*result.inner_curves.ravel(), *result.outer_curves.ravel()]
            numbers += result.chosen_index.tolist()
search._worth_a_tree = lambda n, p: True
family = Family(KNeighborsRegressor(), {"n_neighbors": [1, 4]})
result = Recipe(outer=3, inner=2).run(family, X, y, progress="off", n_jobs=1)
numbers += result.outer_curves.ravel().tolist()
crowd = np.append(rng.random(99), 1e9)
order = np.empty(100, dtype=np.int64)
work = np.empty(201, dtype=np.int64), np.empty(100, dtype=np.int64)
neighbours._sort(crowd, 100, order, *work)
numbers += order.tolist()
compiled = hasattr(neighbours.select, "signatures")
print(json.dumps({"compiled": compiled, "paths": sorted(paths), "numbers": numbers}))
"""


def test_kernels_are_valid_python_too():
    """Without compilation the same lines give the same numbers, in a separate process."""
    compiled, plain = (
        json.loads(python(AGREEMENT, NUMBA_DISABLE_JIT=flag)[0]) for flag in ("0", "1")
    )
    assert (compiled["compiled"], plain["compiled"]) == (True, False)
    assert compiled["paths"] == plain["paths"] == ["path:knn", "shared:knn"]
    np.testing.assert_allclose(
        plain["numbers"], compiled["numbers"], rtol=1e-12, atol=1e-12
    )


def test_the_agreement_table_holds_without_compilation():
    """The kernels as plain Python pass the agreement, tie and leakage tests."""
    files = ["tests/paths/test_agreement.py", "tests/paths/test_leakage.py"]
    families = "(knn or ridge or squares or lasso or logistic)"
    selected = f"(its_definition or garbage or smaller_row) and {families}"
    selected = f"{selected} and not (wide or float32)"
    selected += " or row_equals_scikit_learn and logistic and not (wide or float32)"
    plain = [
        "--override-ini",
        "addopts=--import-mode=importlib",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        selected,
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plain, *files],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 150
