"""Compile all kernels ahead, by small runs that need them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import numba

from .. import kernels
from ..runtime.ahead import is_kept, name_data_apart


def all_kernels() -> list[Any]:
    """Return every compiled function of the package `cvnb.kernels`."""
    found = {}
    for module in pkgutil.iter_modules(kernels.__path__):
        name = f"{kernels.__name__}.{module.name}"
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, numba.core.dispatcher.Dispatcher):
                found[value.__module__, value.__name__] = value
    return list(found.values())


def compile_kernels() -> Iterator[str]:
    """Compile what is not in Numba's cache yet; yield what each small run was, after it."""
    every = all_kernels()
    name_data_apart(every, uuid4().hex[:8])
    if all(map(is_kept, every)):
        return
    for name, run in small_runs():
        run()
        yield name


def small_runs() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield (name, run) for runs that need all kernels between them, the usual ones first."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.decomposition import PCA
    from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline

    from ..families.family import Family
    from ..families.shorthands import elastic_net, knn, lasso, logistic, ridge
    from ..splits.recipes import Recipe

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12))
    y = X[:, 0] + rng.normal(size=120)
    two, three = (y > 0).astype(int), np.digitize(y, [-0.5, 0.5])
    wide, long = rng.normal(size=(40, 240)), rng.normal(size=(9000, 1))
    sparse = sp.random(120, 30, 0.2, format="csr", random_state=0)
    penalties, Cs = {"alpha": [0.05, 0.5]}, {"C": [0.5, 1.0]}
    strong = LogisticRegression(solver="saga", l1_ratio=1.0, max_iter=1000)

    def nested(family: Any, X: Any, y: Any, inner: int | str = 3) -> Callable[[], Any]:
        return partial(Recipe(3, inner).run, family, X, y, progress="off", n_jobs=1)

    yield "k-NN", nested(knn(k=[1, 5]), X, two)
    yield "ridge", nested(ridge(alpha=[0.1, 1.0]), X, y)
    yield "lasso", nested(lasso(alpha=[0.1, 1.0]), X, y)
    yield "logistic regression", nested(logistic(C=[0.1, 1.0]), X, two)
    yield "k-NN without a scaler", nested(knn(k=[1, 5], scale=False), X, two)
    yield "k-NN of many rows", nested(knn(k=[1], scale=False), long, long[:, 0])
    yield "ridge classifier", nested(ridge(alpha=[0.1, 1.0]), X, three)
    yield (
        "logistic regression of three classes",
        nested(logistic(C=[0.1, 1.0]), X, three),
    )
    yield "elastic net", nested(elastic_net(), X, y)
    yield "lasso of many columns", nested(Family(Lasso(), penalties), wide, y[:40])
    net = ElasticNet(l1_ratio=0.1)
    yield "elastic net of many columns", nested(Family(net, penalties), wide, y[:40])
    yield "lasso of sparse rows", nested(Family(Lasso(), penalties), sparse, y)
    single = ridge(alpha=[0.1, 1.0], scale=False)
    yield "ridge, leave-one-out", nested(single, X, y, "loo")
    yield "l1 logistic regression", nested(Family(strong, Cs), X, two)
    many = Family(LogisticRegression(), Cs)
    yield "logistic regression of sparse rows", nested(many, sparse, three)
    numbers = {"pca__n_components": [1, 2, 3]}
    behind = Family(
        Pipeline([("pca", PCA()), ("knn", KNeighborsClassifier())]), numbers
    )
    yield "k-NN behind a number of components", nested(behind, X, two)
    parts = Family(PLSRegression(), {"n_components": [1, 2]})
    yield "partial least squares", nested(parts, X, y)
