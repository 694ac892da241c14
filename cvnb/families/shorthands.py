"""Short-hands: common families by name, each a plain scikit-learn Pipeline.

Default grids do not depend on y: k = 1 ... min(50, smallest training part), penalties in
steps of half a power of ten.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..calls import explained
from ..errors import FamilyError
from .algorithm import imported
from .family import Family, ShortHand
from .softmax import SoftmaxWeights

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


@explained
def knn(
    k: Any = None,
    scale: bool = True,
    weights: str = "uniform",
    metric: str = "euclidean",
    task: str = "auto",
    temperature: Any = None,
) -> ShortHand:
    """k-nearest neighbours; k defaults to 1 ... min(50, smallest training part).

        h(x) = the mean, or the most frequent, y of the k training rows nearest to x

    k            one value or a list
    scale        whether a StandardScaler comes first
    weights      of the neighbours, as in KNeighborsClassifier; or "softmax":
                 exp(-distance / temperature), for which metric="cosine" is fast
    metric       as in KNeighborsClassifier
    task         "classification" | "regression" | "auto", by y
    temperature  of weights="softmax", one value or a list; 0.07 by default

    >>> knn(k=range(1, 4))
    knn(k=range(1, 4))
    """
    is_softmax = isinstance(weights, str) and weights == "softmax"
    if temperature is not None and not is_softmax:
        raise FamilyError(f"temperature belongs to weights='softmax', not {weights!r}.")
    options = {"weights": SoftmaxWeights() if is_softmax else weights, "metric": metric}
    build = PipelineForTask(
        "sklearn.neighbors:KNeighborsClassifier",
        "sklearn.neighbors:KNeighborsRegressor",
        scale,
        options,
    )
    changed = _changed(knn, scale=scale, weights=weights, metric=metric, task=task)
    axes: dict[str, Any] = {"k": ("n_neighbors", k, RangeUpTo(50))}
    if is_softmax:
        default = SoftmaxWeights().temperature
        axes["temperature"] = ("weights__temperature", temperature, default)
    return ShortHand("knn", task, build, axes, changed)


@explained
def ridge(alpha: Any = None, scale: bool = True, task: str = "auto") -> ShortHand:
    """Ridge regression or classification; alpha defaults to 1e-6 ... 1e6.

        min_(w, b)  Σ_i (y_i - ⟨w, x_i⟩ - b)² + alpha ‖w‖²    classes as ±1, one against the rest

    alpha   one value or a list
    scale   whether a StandardScaler comes first
    task    "classification" | "regression" | "auto", by y

    >>> ridge(alpha=[0.1, 1.0])
    ridge(alpha=[0.1, 1.0])
    """
    build = PipelineForTask(
        "sklearn.linear_model:RidgeClassifier", "sklearn.linear_model:Ridge", scale
    )
    axes = {"alpha": ("alpha", alpha, _powers(-6, 6))}
    changed = _changed(ridge, scale=scale, task=task)
    return ShortHand("ridge", task, build, axes, changed)


@explained
def lasso(alpha: Any = None, scale: bool = True) -> ShortHand:
    """Lasso regression; alpha, one value or a list, defaults to 1e-6 ... 1e2.

        min_(w, b)  (1/2m) Σ_i (y_i - ⟨w, x_i⟩ - b)² + alpha ‖w‖₁

    >>> lasso(alpha=0.1)
    lasso(alpha=0.1)
    """
    build = PipelineForTask(
        "sklearn.linear_model:Lasso",
        "sklearn.linear_model:Lasso",
        scale,
        {"max_iter": 10_000},
    )
    axes = {"alpha": ("alpha", alpha, _powers(-6, 2))}
    return ShortHand("lasso", "regression", build, axes, _changed(lasso, scale=scale))


@explained
def elastic_net(
    alpha: Any = None, l1_ratio: Any = None, scale: bool = True
) -> ShortHand:
    """Elastic net regression; alpha defaults to 1e-6 ... 1e2, l1_ratio to 0.1, 0.5 and 0.9.

        min_(w, b)  (1/2m) Σ_i (y_i - ⟨w, x_i⟩ - b)²
                    + alpha (l1_ratio ‖w‖₁ + (1 - l1_ratio)/2 ‖w‖²)

    alpha      one value or a list
    l1_ratio   one value or a list
    scale      whether a StandardScaler comes first

    >>> elastic_net(l1_ratio=0.5)
    elastic_net(l1_ratio=0.5)
    """
    build = PipelineForTask(
        "sklearn.linear_model:ElasticNet",
        "sklearn.linear_model:ElasticNet",
        scale,
        {"max_iter": 10_000},
    )
    axes = {
        "alpha": ("alpha", alpha, _powers(-6, 2)),
        "l1_ratio": ("l1_ratio", l1_ratio, (0.1, 0.5, 0.9)),
    }
    changed = _changed(elastic_net, scale=scale)
    return ShortHand("elastic_net", "regression", build, axes, changed)


@explained
def logistic(C: Any = None, scale: bool = True) -> ShortHand:
    """Logistic regression; C, one value or a list, defaults to 1e-4 ... 1e4.

        min_(w, b)  C Σ_i ln(1 + exp(-y_i (⟨w, x_i⟩ + b))) + ‖w‖²/2

    with y_i = ±1; softmax for more classes.

    >>> logistic(C=[0.1, 1, 10])
    logistic(C=[0.1, 1, 10])
    """
    options = {"max_iter": 1_000}
    build = PipelineForTask(
        "sklearn.linear_model:LogisticRegression",
        "sklearn.linear_model:LogisticRegression",
        scale,
        options,
    )
    axes = {"C": ("C", C, _powers(-4, 4))}
    changed = _changed(logistic, scale=scale)
    return ShortHand("logistic", "classification", build, axes, changed)


@explained
def tree(max_leaf_nodes: Any = None, task: str = "auto") -> ShortHand:
    """A decision tree, grown best first; max_leaf_nodes defaults to 2, 3, 4, 6, 8, 12, ... 64.

        h(x) = the mean, or the most frequent, y in the leaf of x

    The leaf whose split gains most purity is split next.

    >>> tree(max_leaf_nodes=range(2, 9))
    tree(max_leaf_nodes=range(2, 9))
    """
    build = PipelineForTask(
        "sklearn.tree:DecisionTreeClassifier",
        "sklearn.tree:DecisionTreeRegressor",
        False,
        {"random_state": 0},
    )
    sizes = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
    axes = {"max_leaf_nodes": ("max_leaf_nodes", max_leaf_nodes, sizes)}
    return ShortHand("tree", task, build, axes, _changed(tree, task=task))


@explained
def boosting(
    n_estimators: Any = None,
    learning_rate: float = 0.1,
    max_depth: int = 3,
    task: str = "auto",
) -> ShortHand:
    """Gradient boosting; n_estimators defaults to 10, 20, 50, 100 and 200.

        h(x) = h_0 + learning_rate Σ_t h_t(x)

    where h_t is a tree fitted to minus the gradient of the loss after t - 1 stages.

    n_estimators    one value or a list
    learning_rate   weight of each tree
    max_depth       of each tree
    task            "classification" | "regression" | "auto", by y

    >>> boosting(learning_rate=0.05)
    boosting(learning_rate=0.05)
    """
    options = {"learning_rate": learning_rate, "max_depth": max_depth}
    build = PipelineForTask(
        "sklearn.ensemble:GradientBoostingClassifier",
        "sklearn.ensemble:GradientBoostingRegressor",
        False,
        {**options, "random_state": 0},
    )
    changed = _changed(boosting, **options, task=task)
    axes = {"n_estimators": ("n_estimators", n_estimators, N_TREES)}
    return ShortHand("boosting", task, build, axes, changed)


@explained
def forest(n_estimators: Any = None, task: str = "auto") -> ShortHand:
    """A random forest; n_estimators defaults to 10, 20, 50, 100 and 200.

        h(x) = the mean of n_estimators trees, or of their class probabilities

    Each tree is fitted to m rows drawn with replacement.

    >>> forest(n_estimators=100)
    forest(n_estimators=100)
    """
    build = PipelineForTask(
        "sklearn.ensemble:RandomForestClassifier",
        "sklearn.ensemble:RandomForestRegressor",
        False,
        {"random_state": 0},
    )
    axes = {"n_estimators": ("n_estimators", n_estimators, N_TREES)}
    return ShortHand("forest", task, build, axes, _changed(forest, task=task))


@dataclass(frozen=True)
class PipelineForTask:
    """task -> a Pipeline with the classifier or the regressor; a record, so that it pickles.

    Both may be given by address, so that no other model is imported.
    """

    classifier: type | str
    regressor: type | str
    scale: bool
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, task: str) -> Pipeline:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        kind = self.classifier if task == "classification" else self.regressor
        model = (imported(kind) if isinstance(kind, str) else kind)(**self.options)
        if self.scale:
            return make_pipeline(StandardScaler(), model)
        return make_pipeline(model)


@dataclass(frozen=True)
class RangeUpTo:
    """smallest training part -> 1 ... min(most, smallest)."""

    most: int

    def __call__(self, smallest: int) -> range:
        return range(1, min(self.most, smallest) + 1)


N_TREES = (10, 20, 50, 100, 200)


def _powers(low: int, high: int) -> list[float]:
    """10^low ... 10^high in steps of half a power."""
    return [float(10.0**e) for e in np.arange(low, high + 0.25, 0.5)]


def _changed(short_hand: Callable[..., ShortHand], **given: Any) -> dict[str, Any]:
    """Return the arguments that differ from the defaults of the function."""
    for name, value in given.items():
        if hasattr(value, "shape"):
            raise FamilyError(
                f"{name} is an array of shape {value.shape}; rows and targets go to "
                "nested_cv(model, X, y)."
            )
    parameters = inspect.signature(short_hand).parameters
    return {name: v for name, v in given.items() if v != parameters[name].default}


def unresolved(family: Family) -> Family:
    """Return the short-hand that made this family, whose default grid follows the splits.

    The family itself where no short-hand made it.
    """
    if family.call is None:
        return family
    name, keywords = family.call
    short_hand: ShortHand = globals()[name](**keywords)
    return short_hand
