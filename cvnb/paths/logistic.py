"""Logistic regression: one path of Newton's steps along C per split, behind whatever stands ahead.

Cost of a split with n rows, p columns, K classes and S settings: O(S K^2 n p^2), some steps each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from ..data import Data
from ..kernels import logistic
from ..splitters import Pair
from .base import Unsuited
from .lasso import stops_early
from .measure import Answers, Meter
from .problem import Combination

AXIS = "C"
LARGEST = 400  # coefficients whose second derivatives are worth solving
NEVER = np.zeros(1, dtype=np.uint8)


def refuses(last: Any) -> str:
    """Why these parameters are not for the path; "" where they are."""
    if last.penalty not in ("l2", "deprecated") or last.l1_ratio not in (None, 0, 0.0):
        return "a penalty other than the square"
    if last.solver == "liblinear":
        return "solver='liblinear', which penalises the intercept"
    if last.dual:
        return "dual=True"
    if last.class_weight not in (None, "balanced"):
        return "class_weight=<dict>"
    return stops_early(last)


def answers_of_split(
    combination: Combination, meter: Meter, data: Data, pair: Pair, X_train: np.ndarray, X_test: np.ndarray
) -> tuple[Answers, int]:
    """(what every setting says of X_test, 0) after one path on X_train, which stand for the rows (train, test)."""
    assert meter.codes is not None
    assert meter.classes is not None
    model, order = combination.model, np.argsort(combination.values, kind="stable")
    present, y = np.unique(meter.codes[pair[0]], return_inverse=True)
    intercept, n_sets = bool(model.fit_intercept), 1 if present.size == 2 else present.size
    if present.size < 2:
        raise Unsuited("a training part holds one class only, and refit tells what that does")
    if n_sets * (X_train.shape[1] + intercept) > LARGEST:
        raise Unsuited(f"more than {LARGEST} coefficients are faster found one setting at a time")
    w = np.ones(y.size) if data.weights is None else data.weights[pair[0]]
    if model.class_weight is not None:
        w = w * compute_class_weight(model.class_weight, classes=np.arange(present.size), y=y, sample_weight=w)[y]
    centre = X_train.mean(axis=0) if intercept else np.zeros(X_train.shape[1])
    A, T = (np.ascontiguousarray(np.column_stack([X - centre, np.ones((len(X), int(intercept)))])) for X in (X_train, X_test))
    values = np.ascontiguousarray(combination.values[order], dtype=np.float64)
    out = np.empty((order.size, n_sets, A.shape[1]))
    if n_sets == 1:
        how = logistic.two_classes(A, y.astype(np.float64), w, values, intercept, NEVER, out[:, 0])
    else:
        how = logistic.many_classes(A, y.astype(np.int64), w, values, intercept, n_sets, NEVER, out)
    if how != logistic.FINE or not np.isfinite(out).all():
        raise Unsuited("Newton's steps do not end, and refit gives scikit-learn's own")
    decisions = np.empty((len(T), order.size, n_sets))
    decisions[:, order] = np.tensordot(T, out, axes=(1, 2))
    return _answers(decisions, present, meter, model), 0


def _answers(decisions: np.ndarray, present: np.ndarray, meter: Meter, model: Any) -> Answers:
    """What decisions [rows, settings, 1 or classes] say, of the classes that were present."""
    assert meter.classes is not None
    two, method = decisions.shape[2] == 1, meter.method_of(model)
    largest = (decisions[:, :, 0] > 0).astype(np.int64) if two else decisions.argmax(axis=2)
    there = np.zeros((1, meter.classes.size), dtype=bool)
    there[0, present] = True
    if not method:
        return Answers(present[largest], present=there)
    scores = np.zeros((*decisions.shape[:2], meter.classes.size))
    scores[:, :, present] = _shares(decisions) if method == "predict_proba" else _both(decisions)
    return Answers(present[largest], scores, method, there)


def _both(decisions: np.ndarray) -> np.ndarray:
    """A column for each class."""
    return np.concatenate([-decisions, decisions], axis=2) if decisions.shape[2] == 1 else decisions


def _shares(decisions: np.ndarray) -> np.ndarray:
    """Probabilities of the classes."""
    if decisions.shape[2] == 1:
        p = 1.0 / (1.0 + np.exp(-decisions))
        return np.concatenate([1.0 - p, p], axis=2)
    e = np.exp(decisions - decisions.max(axis=2, keepdims=True))
    shares: np.ndarray = e / e.sum(axis=2, keepdims=True)
    return shares
