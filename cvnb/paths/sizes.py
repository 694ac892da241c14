"""Predictions of every size of a tree or an ensemble, from its largest fitted model."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
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
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array

from .boosters import library_of, predictions_of_rounds

TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
HISTOGRAMS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
GRADIENT = (GradientBoostingClassifier, GradientBoostingRegressor)
STAGED = (*GRADIENT, *HISTOGRAMS, AdaBoostClassifier)  # staged_predict gives all sizes
BOOSTING = (*STAGED, AdaBoostRegressor)
RANDOM = (
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
FORESTS = (*RANDOM, BaggingClassifier, BaggingRegressor)
OfSize = tuple[np.ndarray, np.ndarray | None]  # numbers or labels; scores if wanted
MEMBERS = (
    "estimators_",
    "estimators_features_",
    "estimator_weights_",
    "estimator_errors_",
)


def rank(size: Any) -> tuple[bool, Any]:
    """Sort key of a size; None means no limit, so it is the largest."""
    return size is None, size


def predictions_by_size(
    model: Any, X: Any, axis: str, sizes: list[Any], method: str
) -> Iterator[OfSize]:
    """Yield the predictions of each size for X, from the largest fitted model.

    axis    the parameter that is the size
    sizes   increasing
    method  the method that gives the scores; "" for none
    """
    model_class = type(model)
    if library_of(model):
        yield from predictions_of_rounds(model, X, sizes, method)
    elif model_class in TREES and axis == "ccp_alpha":
        yield from _pruned_trees(model, X, sizes, method)
    elif model_class in TREES:
        yield from _smaller_trees(model, X, sizes, method)
    elif model_class in RANDOM:
        yield from _smaller_forests(model, X, sizes, method)
    elif model_class in STAGED:
        yield from _stages(model, X, sizes, method)
    else:
        for size in sizes:
            yield _predictions(_first_members(model, size), X, method)


def _predictions(model: Any, X: Any, method: str) -> OfSize:
    values = model.predict(X)
    return values, getattr(model, method)(X) if method else None


def _of_shares(model: Any, shares: np.ndarray, method: str) -> OfSize:
    """Return the most frequent classes, and the shares of the classes if wanted."""
    labels = model.classes_.take(shares.argmax(axis=1))
    return labels, shares if method else None


def _smaller_trees(
    model: Any, X: Any, sizes: list[Any], method: str
) -> Iterator[OfSize]:
    """Yield the predictions of smaller trees.

    In the tree with L leaves a row ends at the last node below 2L - 1 of its path through
    the largest tree.
    """
    if sizes[-1] is None:  # no limit: grown differently, and never with other sizes
        yield _predictions(model, X, method)
        return
    nodes = model.decision_path(X)
    starts, value = nodes.indptr[:-1], model.tree_.value[:, 0]
    for size in sizes:
        n = np.add.reduceat(nodes.indices < 2 * size - 1, starts, dtype=np.intp)
        leaves = value[nodes.indices[starts + n - 1]]
        if type(model) is DecisionTreeRegressor:
            yield leaves[:, 0], None
        else:
            yield _of_shares(model, leaves, method)


def _pruned_trees(
    model: Any, X: Any, sizes: list[Any], method: str
) -> Iterator[OfSize]:
    """Yield the predictions after scikit-learn's own pruning of the unpenalised tree."""
    for alpha in sizes:
        pruned = copy.copy(model)  # pruning replaces its tree
        pruned.ccp_alpha = alpha
        pruned._prune_tree()
        yield _predictions(pruned, X, method)


def _smaller_forests(
    model: Any, X: Any, sizes: list[Any], method: str
) -> Iterator[OfSize]:
    """Yield means over the first trees, summed in the order of the forest; each predicts once."""
    X = check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=False)
    total, wanted, has_classes = 0.0, set(sizes), hasattr(model, "classes_")
    for n, tree in enumerate(model.estimators_, start=1):
        predict = tree.predict_proba if has_classes else tree.predict
        total = total + predict(X, check_input=n == 1)  # one check is enough
        if n not in wanted:
            continue
        mean = total / n
        if has_classes:
            yield _of_shares(model, mean, method)
        else:
            yield mean, None


def _stages(model: Any, X: Any, sizes: list[Any], method: str) -> Iterator[OfSize]:
    """Yield scikit-learn's own stages; beyond an early end, the last one."""
    values, scores = _picked(model.staged_predict(X), sizes), [None] * len(sizes)
    if method:
        scores = _picked(getattr(model, f"staged_{method}")(X), sizes)
    yield from zip(values, scores, strict=True)


def _picked(stages: Iterator[np.ndarray], sizes: list[int]) -> list[Any]:
    """Return the stage of each size; the last stage for sizes beyond it."""
    picked: list[Any] = []
    stage = None
    for n, stage in enumerate(stages, start=1):
        if n == sizes[len(picked)]:
            picked.append(stage.copy())
            if len(picked) == len(sizes):
                return picked
    return picked + [stage] * (len(sizes) - len(picked))


def _first_members(model: Any, n: int) -> Any:
    """Return the ensemble of the first n members."""
    part = copy.copy(model)
    part.n_estimators = n
    for name in MEMBERS:
        if hasattr(model, name):
            setattr(part, name, getattr(model, name)[:n])
    return part
