"""What linear models regress on, and what their predictions say: numbers as they are, classes by signs or by the largest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...kernels import linear_rows
from ...kernels.linear import EPS
from ..base import Unsuited
from ..measure import Answers, Meter

EXACT_FIT = "the targets are met up to rounding, and refit gives scikit-learn's own"
MET, DIGITS = (
    1e-5,
    5e-10,
)  # residuals of less than this share of the targets' spread are rounding; and what losses may lose
LEVEL = 1e-12  # scores nearer than this share of their range are level: rounding decides which is larger


def are_met(least: np.ndarray, times: np.ndarray, spread: float) -> np.ndarray:
    """[splits]: whether the smallest residual of a split is rounding, of which its fit has `times` as much as its targets."""
    met: np.ndarray = least < np.maximum(MET, EPS * times / DIGITS) * spread
    return met


class Targets:
    """y as [rows, targets]: numbers; -1 and 1 for two classes; one such column per class for more."""

    def __init__(self, y: np.ndarray, meter: Meter) -> None:
        self.codes, self.n_classes = (
            meter.codes,
            0 if meter.classes is None else len(meter.classes),
        )
        self.wants_scores = meter.wants_scores
        if self.codes is None:
            self.Y = np.ascontiguousarray(y, dtype=np.float64).reshape(-1, 1)
        elif self.n_classes <= 2:
            self.Y = np.where(self.codes == 1, 1.0, -1.0).reshape(-1, 1)
        else:
            self.Y = np.where(
                self.codes[:, None] == np.arange(self.n_classes), 1.0, -1.0
            )

    @property
    def n(self) -> int:
        return self.Y.shape[1]

    def counts(self, rows: np.ndarray) -> np.ndarray:
        """[classes]: how many of these rows each class has; nothing in regression."""
        return (
            np.bincount(self.codes[rows], minlength=self.n_classes)
            if self.codes is not None
            else np.zeros(0, dtype=np.int64)
        )

    def squares(
        self, decisions: np.ndarray, test: np.ndarray, starts: np.ndarray
    ) -> np.ndarray | None:
        """[splits, settings] mean squared residuals of decisions [rows, targets, settings]; None for classes."""
        if self.codes is not None:
            return None
        residuals = (decisions[:, 0] - self.Y[test]) ** 2
        return (
            np.add.reduceat(residuals, starts[:-1], axis=0) / np.diff(starts)[:, None]
        )

    def refuse_level(
        self, decisions: np.ndarray, test: np.ndarray, starts: np.ndarray
    ) -> None:
        """An error where a metric may rank rows of different classes whose scores are level up to rounding."""
        if self.codes is None or not self.wants_scores:
            return
        for a, b in pairwise(starts.tolist()):
            for c in range(self.n):
                own, scores = self.Y[test[a:b], c], decisions[a:b, c]
                order = np.argsort(scores, axis=0, kind="stable")
                ranked, labels = np.take_along_axis(scores, order, axis=0), own[order]
                level = np.diff(ranked, axis=0) <= LEVEL * np.abs(ranked).max(
                    initial=0.0
                )
                if (level & (np.diff(labels, axis=0) != 0)).any():
                    raise Unsuited(
                        "scores of different classes are level up to rounding, which decides their rank"
                    )

    def answers(
        self, decisions: np.ndarray, starts: np.ndarray, present: np.ndarray
    ) -> tuple[Answers, int]:
        """(answers, close calls) from decisions [rows, targets, settings].

        Split i holds the rows starts[i] up to starts[i + 1], and present[i] the classes of its training part.
        """
        if self.codes is None:
            return Answers(decisions[:, 0]), 0
        codes = np.empty((decisions.shape[0], decisions.shape[2]), dtype=np.int64)
        close = linear_rows.judge(decisions, starts, present, codes)
        scores = self._scores(decisions, starts, present) if self.wants_scores else None
        return Answers(codes, scores, "decision_function", present), int(close)

    def _scores(
        self, decisions: np.ndarray, starts: np.ndarray, present: np.ndarray
    ) -> np.ndarray:
        """[rows, settings, classes], the decision values as the classifier gives them."""
        scores = decisions.transpose(0, 2, 1)
        scores = (
            np.concatenate([-scores, scores], axis=2)
            if self.n == 1
            else np.ascontiguousarray(scores)
        )
        for i in np.flatnonzero(present.sum(axis=1) == 1):
            scores[starts[i] : starts[i + 1]] = -1.0
        return scores

    def refuse_one_class(self, present: np.ndarray, intercept: bool) -> None:
        """Without an intercept a classifier of one class may name another, and fails."""
        if present.size and not intercept and (present.sum(axis=1) < 2).any():
            raise Unsuited(
                "a training part holds one class only, and without an intercept refit tells what that does"
            )
