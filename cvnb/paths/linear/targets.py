"""The targets of linear models, and predictions from their decisions: numbers as they are,
classes by sign or by the largest."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...kernels import linear_rows
from ..base import Unsuited
from ..measure import LossEvaluator, Predictions
from .precision import FitReport, are_tied, judge


class Tested(NamedTuple):
    """The test rows of several splits, one split after the other.

    rows     their row numbers
    starts   where the rows of each split begin, and where the last one ends
    present  [splits, classes] whether the training part of a split has a class
    """

    rows: np.ndarray
    starts: np.ndarray
    present: np.ndarray

    def split(self, i: int) -> Tested:
        """Return the rows of one split."""
        a = self.starts[i]
        b = self.starts[i + 1]
        return Tested(self.rows[a:b], np.array([0, b - a]), self.present[[i]])


class Targets:
    """y as [rows, targets]: numbers; -1 and 1 for two classes; one such column per class
    for more."""

    def __init__(self, y: np.ndarray, evaluator: LossEvaluator) -> None:
        self.codes, classes = evaluator.codes, evaluator.classes
        self.n_classes = 0 if classes is None else len(classes)
        self.wants_scores = evaluator.wants_scores
        if self.codes is None:
            self.Y = np.ascontiguousarray(y, dtype=np.float64).reshape(-1, 1)
        elif self.n_classes <= 2:
            self.Y = np.where(self.codes == 1, 1.0, -1.0).reshape(-1, 1)
        else:
            is_class = self.codes[:, None] == np.arange(self.n_classes)
            self.Y = np.where(is_class, 1.0, -1.0)

    @classmethod
    def joined(cls, targets: Sequence[Targets]) -> Targets:
        """Return the numbers of several as the columns of one."""
        joined = copy.copy(targets[0])
        joined.Y = np.hstack([own.Y for own in targets])
        return joined

    @property
    def n(self) -> int:
        """The number of targets."""
        return self.Y.shape[1]

    def counts(self, rows: np.ndarray) -> np.ndarray:
        """Return [classes] how many of these rows each class has; empty for numbers."""
        if self.codes is None:
            return np.zeros(0, dtype=np.int64)
        return np.bincount(self.codes[rows], minlength=self.n_classes)

    def tested(self, test: np.ndarray, train: np.ndarray) -> Tested:
        """Return the test rows of a single split."""
        return Tested(test, np.array([0, test.size]), self.counts(train)[None, :] > 0)

    def squares(self, decisions: np.ndarray, tested: Tested) -> np.ndarray | None:
        """Return [splits, settings] mean squared residuals of decisions [rows, targets,
        settings]; None for classes."""
        if self.codes is not None:
            return None
        residuals = (decisions[:, 0] - self.Y[tested.rows]) ** 2
        sums = np.add.reduceat(residuals, tested.starts[:-1], axis=0)
        return sums / np.diff(tested.starts)[:, None]

    def refuse_tied_scores(self, decisions: np.ndarray, tested: Tested) -> None:
        """Raise Unsuited if a metric may rank rows of different classes with tied scores."""
        if self.codes is None or not self.wants_scores:
            return
        for a, b in pairwise(tested.starts.tolist()):
            for c in range(self.n):
                scores = decisions[a:b, c]
                labels = self.Y[tested.rows[a:b], c]
                order = np.argsort(scores, axis=0, kind="stable")
                tied = are_tied(np.take_along_axis(scores, order, axis=0))
                differ = np.diff(labels[order], axis=0) != 0
                judge(FitReport(tied_scores=bool((tied & differ).any())))

    def predictions(
        self, decisions: np.ndarray, tested: Tested
    ) -> tuple[Predictions, int]:
        """Return (predictions, number of close calls) from decisions [rows, targets, settings]."""
        if self.codes is None:
            return Predictions(decisions[:, 0]), 0
        codes = np.empty((decisions.shape[0], decisions.shape[2]), dtype=np.int64)
        _, starts, present = tested
        close = linear_rows.classify(decisions, starts, present, codes)
        scores = self._scores(decisions, tested) if self.wants_scores else None
        return Predictions(codes, scores, "decision_function", present), int(close)

    def _scores(self, decisions: np.ndarray, tested: Tested) -> np.ndarray:
        """Return [rows, settings, classes] decision values as the classifier gives them."""
        scores = decisions.transpose(0, 2, 1)
        if self.n == 1:
            scores = np.concatenate([-scores, scores], axis=2)
        else:
            scores = np.ascontiguousarray(scores)
        for i in np.flatnonzero(tested.present.sum(axis=1) == 1):
            scores[tested.starts[i] : tested.starts[i + 1]] = -1.0
        return scores

    def refuse_one_class(self, present: np.ndarray, intercept: bool) -> None:
        """Raise Unsuited if a classifier without an intercept is trained on one class only.

        It may predict another one, and fails.
        """
        if present.size and not intercept and (present.sum(axis=1) < 2).any():
            raise Unsuited(
                "a training part holds one class only, and the model has no intercept; "
                "refitting shows what scikit-learn does"
            )
