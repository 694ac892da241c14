"""Losses of what every setting says of the same rows, all settings at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics._scorer import _BaseScorer

from ..data.table import Data
from ..errors import LossError
from ..losses.loss import Loss, absolute, log, squared, zero_one
from .base import Unsuited

METHODS = ("predict", "predict_proba", "decision_function")


@dataclass
class Answers:
    """What every setting says of some rows.

    values   [rows, settings] predicted numbers, or predicted classes as positions in Meter.classes
    scores   [rows, settings, classes] what `method` gives, where the meter wants scores; of two classes' decision values the
             second column counts
    present  [splits, classes] whether a class stood in the training part of that split; None: all of them everywhere
    """

    values: np.ndarray
    scores: np.ndarray | None = None
    method: str = "predict_proba"
    present: np.ndarray | None = None


class Meter:
    """Measures answers on rows of one data set by one loss."""

    def __init__(self, loss: Loss, data: Data, task: str) -> None:
        self.loss, self.data = loss, data
        self.classes = self.codes = None
        if task == "classification":
            self.classes, codes = np.unique(data.y, return_inverse=True)
            self.codes = codes.astype(np.int64)

    @property
    def response(self) -> str | Sequence[str]:
        """The method of an estimator that this loss asks, or several of which the first is asked that the estimator has."""
        if self.loss.scorer is None:
            return self.loss.response
        found: str | Sequence[str] = getattr(
            self.loss.scorer, "_response_method", "predict"
        )
        return found

    @property
    def wants_scores(self) -> bool:
        """Whether predictions alone are not enough for this loss."""
        return self.response != "predict"

    def method_of(self, model: Any) -> str:
        """What this loss asks this model beside its predictions; "" where that is nothing."""
        names = (self.response,) if isinstance(self.response, str) else self.response
        found = next((name for name in names if hasattr(model, name)), None)
        if found is None:
            raise Unsuited(
                f"{type(model).__name__} has no {' or '.join(names)}, and refit tells what that does"
            )
        return "" if found == "predict" else found

    @staticmethod
    def knows(loss: Loss) -> bool:
        """Whether answers are all that this loss looks at; a user's own scorer may want the fitted estimator and X."""
        return loss.scorer is None or isinstance(loss.scorer, _BaseScorer)

    def measure(
        self, test: np.ndarray, starts: np.ndarray, answers: Answers
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """(losses [splits, settings], row losses [rows, settings] or None).

        `test` holds the test rows of several splits one after the other, those of split i from starts[i] on.
        """
        rows = self._rows_at_once(test, answers)
        if rows is None:
            losses, rows = self._one_by_one(test, starts, answers)
        else:
            losses = self._means(rows, test, starts)
        if not np.isfinite(losses).all():
            raise Unsuited(
                f"the {self.loss.name} loss is not finite everywhere, and refit tells which settings fail"
            )
        return losses, rows

    def outer(
        self, test: np.ndarray, starts: np.ndarray, answers: Answers, chosen: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray | None], list[np.ndarray]]:
        """(losses, and of each split i its row losses and what setting chosen[i] predicts there), splits as in `measure`."""
        losses, rows = self.measure(test, starts, answers)
        ends = [*starts.tolist(), test.size]
        predictions = self.labels(
            answers.values[np.arange(test.size), np.repeat(chosen, np.diff(ends))]
        )
        of_splits = [None if rows is None else rows[a:b] for a, b in pairwise(ends)]
        return losses, of_splits, [predictions[a:b] for a, b in pairwise(ends)]

    def labels(self, values: np.ndarray) -> np.ndarray:
        """Predictions as the estimator gives them: numbers, or labels of y."""
        return values.copy() if self.classes is None else self.classes[values]

    def _rows_at_once(self, test: np.ndarray, answers: Answers) -> np.ndarray | None:
        """Row losses [rows, settings] of a loss that cvnb knows; None for the others."""
        formula, y = self.loss.rows, self.data.y[test]
        if formula is zero_one and self.codes is not None:
            return (answers.values != self.codes[test, None]).view(np.uint8)
        if formula in (squared, absolute):
            return formula(y[:, None], self.labels(answers.values))
        if formula is log and answers.scores is not None:
            return np.column_stack(
                [
                    log(y, answers.scores[:, s], self.classes)
                    for s in range(answers.scores.shape[1])
                ]
            )
        return None

    def _means(
        self, rows: np.ndarray, test: np.ndarray, starts: np.ndarray
    ) -> np.ndarray:
        if self.data.weights is None:
            return (
                np.add.reduceat(rows, starts, axis=0, dtype=np.float64)
                / np.diff(np.append(starts, test.size))[:, None]
            )
        w = self.data.weights[test]
        return (
            np.add.reduceat(rows * w[:, None], starts, axis=0)
            / np.add.reduceat(w, starts)[:, None]
        )

    def _one_by_one(
        self, test: np.ndarray, starts: np.ndarray, answers: Answers
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The loss asked about an estimator that only repeats what was said, for each split and setting."""
        n_settings, ends = answers.values.shape[1], [*starts[1:], test.size]
        losses = np.empty((len(starts), n_settings))
        rows = np.empty((test.size, n_settings)) if self.loss.scorer is None else None
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            part = slice(start, end)
            y, w = (
                self.data.y[test[part]],
                None if self.data.weights is None else self.data.weights[test[part]],
            )
            present = None if answers.present is None else answers.present[i]
            for s in range(n_settings):
                model = self._parrot(answers, part, s, present)
                try:
                    losses[i, s], row_losses, _ = self.loss.measure(
                        model, np.zeros((y.size, 1)), y, w
                    )
                except LossError:
                    raise  # the loss is wrong, not the setting
                except Exception as error:
                    raise Unsuited(
                        f"the {self.loss.name} loss fails somewhere, and refit tells which settings fail"
                    ) from error
                if rows is not None:
                    rows[part, s] = row_losses
        return losses, rows

    def _parrot(
        self, answers: Answers, part: slice, s: int, present: np.ndarray | None
    ) -> Any:
        said = {"predict": self.labels(answers.values[part, s])}
        if self.classes is None:
            return Regressed(said)
        classes = self.classes if present is None else self.classes[present]
        if answers.scores is not None:
            scores = (
                answers.scores[part, s]
                if present is None
                else answers.scores[part, s][:, present]
            )
            one_column = answers.method == "decision_function" and classes.size <= 2
            said[answers.method] = scores[:, -1] if one_column else scores
        return Classified(said, classes)


class _Parrot(BaseEstimator):
    """An estimator that repeats what it is told; it has the methods that it has answers for."""

    def __init__(
        self, said: dict[str, np.ndarray], classes: np.ndarray | None = None
    ) -> None:
        self.said, self.classes = said, classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> np.ndarray | None:
        return self.classes

    def __getattr__(self, method: str) -> Any:
        if method not in METHODS or method not in self.said:
            raise AttributeError(method)

        def repeat(X: Any) -> np.ndarray:
            return self.said[method]

        repeat.__name__ = method  # by which scikit-learn asks for it
        return repeat


class Classified(ClassifierMixin, _Parrot):
    """A parrot of classes."""


class Regressed(RegressorMixin, _Parrot):
    """A parrot of numbers."""
