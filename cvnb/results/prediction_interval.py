"""Intervals and sets for the targets of new rows: CV+ of the tuned rule.

Every row i was tested by one rule, trained without it. How far that rule was from y_i tells how
far it, and rules like it, will be from the target of a new row x (Barber, Candès, Ramdas and
Tibshirani 2021; for classes Vovk 2015, Romano, Sesia and Candès 2020). With one outer test
part this is split conformal prediction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.checks import check_X, is_frame
from ..errors import InputError
from ..inference.checked import probability
from ..inference.measured import is_result, refuse_time
from ..paths.refit import fit_on
from ..runtime.randomness import global_state
from ..runtime.thread_warnings import quiet
from ..splits.layouts import are_apart
from ..wording import count
from .estimate import RiskEstimate, record_of
from .record import Record

BLOCK = 2**22  # numbers in a block of new rows


class PredictionInterval(NamedTuple):
    """low[i] <= y of the new row i <= high[i]; infinite where there are too few rows to tell."""

    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """The classes that each new row may have.

    contains  [new rows, classes]: whether the class is in the set
    classes   sorted
    """

    contains: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.contains)

    def __getitem__(self, i: int) -> list[Any]:
        """Return the classes of the set of new row i."""
        return self.classes[self.contains[i]].tolist()

    def __repr__(self) -> str:
        sizes = self.contains.sum(axis=1)
        mean = f", {sizes.mean():.3g} classes on average" if sizes.size else ""
        return f"<{count(len(self), 'prediction set')} of {len(self.classes)} classes{mean}>"


def prediction_interval(
    result: RiskEstimate, X_new: Any, level: float = 0.95
) -> PredictionInterval | PredictionSets:
    """For each new row, an interval that holds its y; for classes a set: CV+ of the tuned rule.

        R_i  = |y_i - A_θj(S_-j)(x_i)|,    j the outer split that tests row i
        low  = ⌊(1 - level)(n + 1)⌋-th smallest of A_θj(S_-j)(x) - R_i over the n tested rows
        high = ⌈level (n + 1)⌉-th smallest of A_θj(S_-j)(x) + R_i

    For classes, s_i = 1 - p_j(y_i | x_i) by the probabilities p_j of the same rule, and y is
    in the set of x where #{i: s_i < 1 - p_j(y | x)} < level (n + 1). Coarse probabilities,
    such as shares of k votes, make the sets larger than need be.

    result: of outer splits that test no row twice; rows and new rows must come from one
    distribution in no order. X_new: new rows, with the columns of X. level: the share of new
    rows to cover. 1 - 2 (1 - level) of them are covered for any distribution, up to
    √(2 / n), and about `level` in practice; with one outer test part at least `level`. An
    interval may be infinite where n is small. The rules of the outer splits are fitted again
    at their θ_j, one fit each.

    >>> from cvnb import nested_cv, ridge
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> y = 2 * X.ravel() + np.random.default_rng(0).normal(size=60)
    >>> found = prediction_interval(nested_cv(ridge(), X, y), [[30.0]], level=0.9)
    >>> found.low.round(1), found.high.round(1)
    (array([58.5]), array([61.7]))
    """
    if not is_result(result):
        raise InputError(
            f"prediction_interval takes the result of a run, got {type(result).__name__}."
        )
    probability("level", level)
    record = record_of(result)
    _refuse(result)
    X_new = _checked(record, X_new)
    rules = [_Rule.of(record, j) for j in range(len(record.plan.outer))]
    if record.work.task == "classification":
        return _sets(record, rules, X_new, level)
    return _intervals(record, rules, X_new, level)


@dataclass(frozen=True, eq=False)
class _Rule:
    """A_θj(S_-j) with its outer test part."""

    model: Any
    test: np.ndarray

    @classmethod
    def of(cls, record: Record, j: int) -> _Rule:
        train, test = record.plan.outer[j]
        setting = record.family.settings[int(record.table.chosen[j])]
        return cls(fit_on(record.family, record.data, setting, train), test)

    def respond(self, response: str, X: Any) -> np.ndarray:
        with global_state(), quiet():
            return np.asarray(getattr(self.model, response)(X))


def _intervals(
    record: Record, rules: list[_Rule], X_new: Any, level: float
) -> PredictionInterval:
    data, residuals, predicted = record.data, [], []
    for rule in rules:
        y = data.y[rule.test].astype(np.float64)
        residuals.append(
            np.abs(y - rule.respond("predict", data.rows(rule.test)).ravel())
        )
        predicted.append(rule.respond("predict", X_new).ravel().astype(np.float64))
    n, n_new = sum(R.size for R in residuals), predicted[0].size
    rank = rank_of(level, n)
    low, high = np.full(n_new, -np.inf), np.full(n_new, np.inf)
    if rank > n:
        return PredictionInterval(low, high)
    step = max(1, BLOCK // n)
    for a in range(0, n_new, step):
        here = slice(a, a + step)
        parts = [
            (own[here, None], R) for own, R in zip(predicted, residuals, strict=True)
        ]
        below = np.concatenate([own - R for own, R in parts], axis=1)
        above = np.concatenate([own + R for own, R in parts], axis=1)
        low[here] = np.partition(below, n - rank, axis=1)[:, n - rank]
        high[here] = np.partition(above, rank - 1, axis=1)[:, rank - 1]
    return PredictionInterval(low, high)


def rank_of(level: float, n: int) -> int:
    """⌈level (n + 1)⌉, where a product that is whole but for rounding is whole.

    >>> rank_of(0.9, 9), rank_of(0.9, 10), rank_of(0.95, 19)
    (9, 10, 19)
    """
    return math.ceil(level * (n + 1) * (1 - 1e-12))


def _sets(
    record: Record, rules: list[_Rule], X_new: Any, level: float
) -> PredictionSets:
    classes, codes = record.data.classes
    smaller, n = [], 0
    for rule in rules:
        known = rule.model.classes_
        at = np.searchsorted(classes, known)
        own = _probabilities(rule, record.data.rows(rule.test), at, classes.size)
        scores = np.sort(1 - own[np.arange(rule.test.size), codes[rule.test]])
        new = 1 - _probabilities(rule, X_new, at, classes.size)
        smaller.append(np.searchsorted(scores, new.ravel()).reshape(new.shape))
        n += scores.size
    return PredictionSets(np.sum(smaller, axis=0) < rank_of(level, n), classes)


def _probabilities(
    rule: _Rule, X: Any, columns: np.ndarray, n_classes: int
) -> np.ndarray:
    """[rows, classes of all rows]; 0 for a class that the rule has never seen."""
    if not hasattr(rule.model, "predict_proba"):
        raise InputError(
            f"{type(rule.model).__name__} has no predict_proba, and the sets of classes "
            "need probabilities; use a classifier that has them, such as SVC(probability=True)."
        )
    found = rule.respond("predict_proba", X)
    p = np.zeros((len(found), n_classes))
    p[:, columns] = found
    return p


def _checked(record: Record, X_new: Any) -> Any:
    X = check_X(X_new)
    n_columns = X.shape[1] if len(X.shape) > 1 else 1
    if n_columns != record.data.n_columns:
        raise InputError(
            f"X_new has {count(n_columns, 'column')}, but the rows of the run have "
            f"{record.data.n_columns}; give the same columns."
        )
    if is_frame(X) and is_frame(record.data.X):
        own, names = list(record.data.X.columns), list(X.columns)
        if own != names:
            c = next(c for c in range(n_columns) if own[c] != names[c])
            raise InputError(
                f"column {c} of X_new is {names[c]!r}, but that of the run is {own[c]!r}; give "
                "the same columns in the same order."
            )
    return X


def _refuse(result: RiskEstimate) -> None:
    record = record_of(result)
    if record.plan.outer_layout is None:
        raise InputError(
            "outer=None tests no row outside the part that it was trained on, so no error "
            "is known; give outer=5."
        )
    refuse_time(result)
    if not result.complete:
        raise InputError(
            "interrupted: rows of the unfinished outer splits were not tested; run again."
        )
    if not are_apart(record.plan.outer.layout):
        raise InputError(
            "some rows are in several outer test parts, and CV+ takes one error of each row; "
            "use outer=5."
        )
    if record.data.weights is not None or record.data.groups is not None:
        what = "weights" if record.data.groups is None else "groups"
        raise InputError(
            f"rows with {what} are not exchangeable with a new row, as CV+ assumes; run "
            f"without {what}, on independent rows of one distribution."
        )
