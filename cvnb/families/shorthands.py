"""The short-hands: common families by name, each a plain scikit-learn Pipeline.

Default grids never look at y: k = 1 ... min(50, smallest training part), penalties in steps of half a power of ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from .family import ShortHand, short_hand


def knn(
    k: Any = None,
    scale: bool = True,
    weights: str = "uniform",
    metric: str = "euclidean",
    task: str = "auto",
) -> ShortHand:
    """k-nearest neighbours behind a StandardScaler; k defaults to 1 ... min(50, smallest training part).

        h(x) = the mean, or the commonest, of y over the k training rows nearest to x

    >>> knn(k=range(1, 4))
    knn(k=range(1, 4))
    """
    build = _either(
        KNeighborsClassifier, KNeighborsRegressor, scale, weights=weights, metric=metric
    )
    axes = {"k": ("n_neighbors", k, UpTo(50))}
    changed = _changed(
        scale=(scale, True),
        weights=(weights, "uniform"),
        metric=(metric, "euclidean"),
        task=(task, "auto"),
    )
    return short_hand("knn", task, build, axes, **changed)


def ridge(alpha: Any = None, scale: bool = True, task: str = "auto") -> ShortHand:
    """Ridge regression or classification; alpha defaults to 1e-6 ... 1e6.

        min_(w, b)  Σ_i (y_i - ⟨w, x_i⟩ - b)² + alpha ‖w‖²    classes as ±1, one against the rest

    >>> ridge(alpha=[0.1, 1.0])
    ridge(alpha=[0.1, 1.0])
    """
    build = _either(RidgeClassifier, Ridge, scale)
    changed = _changed(scale=(scale, True), task=(task, "auto"))
    return short_hand(
        "ridge", task, build, {"alpha": ("alpha", alpha, _powers(-6, 6))}, **changed
    )


def lasso(alpha: Any = None, scale: bool = True) -> ShortHand:
    """Lasso regression; alpha defaults to 1e-6 ... 1e2.

        min_(w, b)  (1/2m) Σ_i (y_i - ⟨w, x_i⟩ - b)² + alpha ‖w‖₁

    >>> lasso(alpha=0.1)
    lasso(alpha=0.1)
    """
    build = _either(Lasso, Lasso, scale, max_iter=10_000)
    axes = {"alpha": ("alpha", alpha, _powers(-6, 2))}
    return short_hand(
        "lasso", "regression", build, axes, **_changed(scale=(scale, True))
    )


def elastic_net(
    alpha: Any = None, l1_ratio: Any = None, scale: bool = True
) -> ShortHand:
    """Elastic net regression; alpha defaults to 1e-6 ... 1e2, l1_ratio to 0.1, 0.5 and 0.9.

        min_(w, b)  (1/2m) Σ_i (y_i - ⟨w, x_i⟩ - b)² + alpha (l1_ratio ‖w‖₁ + (1 - l1_ratio)/2 ‖w‖²)

    >>> elastic_net(l1_ratio=0.5)
    elastic_net(l1_ratio=0.5)
    """
    build = _either(ElasticNet, ElasticNet, scale, max_iter=10_000)
    axes = {
        "alpha": ("alpha", alpha, _powers(-6, 2)),
        "l1_ratio": ("l1_ratio", l1_ratio, Values((0.1, 0.5, 0.9))),
    }
    return short_hand(
        "elastic_net", "regression", build, axes, **_changed(scale=(scale, True))
    )


def logistic(C: Any = None, scale: bool = True) -> ShortHand:
    """Logistic regression; C defaults to 1e-4 ... 1e4.

        min_(w, b)  C Σ_i ln(1 + exp(-y_i (⟨w, x_i⟩ + b))) + ‖w‖²/2    y_i = ±1; softmax for more classes

    >>> logistic(C=[0.1, 1, 10])
    logistic(C=[0.1, 1, 10])
    """
    build = _either(LogisticRegression, LogisticRegression, scale, max_iter=1_000)
    return short_hand(
        "logistic",
        "classification",
        build,
        {"C": ("C", C, _powers(-4, 4))},
        **_changed(scale=(scale, True)),
    )


def tree(max_leaf_nodes: Any = None, task: str = "auto") -> ShortHand:
    """A decision tree, grown best first; max_leaf_nodes defaults to 2, 3, 4, 6, 8, 12, ... 64.

        h(x) = the mean, or the commonest, of y in the leaf of x; the leaf split next is that which gains most purity

    >>> tree(max_leaf_nodes=range(2, 9))
    tree(max_leaf_nodes=range(2, 9))
    """
    build = _either(
        DecisionTreeClassifier, DecisionTreeRegressor, False, random_state=0
    )
    sizes = Values((2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64))
    axes = {"max_leaf_nodes": ("max_leaf_nodes", max_leaf_nodes, sizes)}
    return short_hand("tree", task, build, axes, **_changed(task=(task, "auto")))


def boosting(
    n_estimators: Any = None,
    learning_rate: float = 0.1,
    max_depth: int = 3,
    task: str = "auto",
) -> ShortHand:
    """Gradient boosting; n_estimators defaults to 10, 20, 50, 100 and 200.

        h(x) = h_0 + learning_rate Σ_t h_t(x),    h_t a tree fitted to minus the gradient of the loss after t - 1 stages

    >>> boosting(learning_rate=0.05)
    boosting(learning_rate=0.05)
    """
    build = _either(
        GradientBoostingClassifier, GradientBoostingRegressor, False,
        learning_rate=learning_rate, max_depth=max_depth, random_state=0,
    )  # fmt: skip
    axes = {
        "n_estimators": ("n_estimators", n_estimators, Values((10, 20, 50, 100, 200)))
    }
    changed = _changed(
        learning_rate=(learning_rate, 0.1),
        max_depth=(max_depth, 3),
        task=(task, "auto"),
    )
    return short_hand("boosting", task, build, axes, **changed)


def forest(n_estimators: Any = None, task: str = "auto") -> ShortHand:
    """A random forest; n_estimators defaults to 10, 20, 50, 100 and 200.

        h(x) = the mean of n_estimators trees, each of m rows drawn with replacement; for classes of their probabilities

    >>> forest(n_estimators=100)
    forest(n_estimators=100)
    """
    build = _either(
        RandomForestClassifier, RandomForestRegressor, False, random_state=0
    )
    axes = {
        "n_estimators": ("n_estimators", n_estimators, Values((10, 20, 50, 100, 200)))
    }
    return short_hand("forest", task, build, axes, **_changed(task=(task, "auto")))


@dataclass(frozen=True)
class Either:
    """task -> a Pipeline that ends in the one or the other; a record, so that a family can be pickled."""

    classifier: Any
    regressor: Any
    scale: bool
    options: dict[str, Any]

    def __call__(self, task: str) -> Pipeline:
        model = (self.classifier if task == "classification" else self.regressor)(
            **self.options
        )
        return (
            make_pipeline(StandardScaler(), model)
            if self.scale
            else make_pipeline(model)
        )


@dataclass(frozen=True)
class UpTo:
    """smallest training part -> 1 ... min(most, smallest)."""

    most: int

    def __call__(self, smallest: int) -> range:
        return range(1, min(self.most, smallest) + 1)


@dataclass(frozen=True)
class Values:
    """The same values whatever the size."""

    values: tuple[Any, ...]

    def __call__(self, smallest: int) -> list[Any]:
        return list(self.values)


def _either(classifier: Any, regressor: Any, scale: bool, **options: Any) -> Either:
    return Either(classifier, regressor, scale, options)


def _powers(low: int, high: int) -> Values:
    return Values(tuple(float(10.0**e) for e in np.arange(low, high + 0.25, 0.5)))


def _changed(**values: tuple[Any, Any]) -> dict[str, Any]:
    return {
        name: given for name, (given, default) in values.items() if given != default
    }
