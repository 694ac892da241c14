"""Losses of the predictions of every setting on the same rows, all settings at once."""

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
from .base import Unsuited, weights_of

FIRST = np.zeros(1, dtype=np.int64)  # `starts` of a single split


@dataclass
class Predictions:
    """Predictions of every setting for some rows.

    values   [rows, settings] numbers, or classes as indices into LossEvaluator.classes
    scores   [rows, settings, classes] results of `method`, if the evaluator wants scores;
             for decision values of two classes only the second column counts
    method   "predict_proba" or "decision_function"
    present  [splits, classes] whether the training part of the split has the class;
             None: every training part has all classes
    """

    values: np.ndarray
    scores: np.ndarray | None = None
    method: str = "predict_proba"
    present: np.ndarray | None = None


class LossEvaluator:
    """Evaluates one loss on predictions for rows of one data set."""

    def __init__(self, loss: Loss, data: Data, task: str) -> None:
        self.loss, self.data = loss, data
        self.classes = self.codes = None
        if task == "classification":
            self.classes, codes = np.unique(data.y, return_inverse=True)
            self.codes = codes.astype(np.int64)

    @property
    def response(self) -> str | Sequence[str]:
        """Response method(s) the loss needs; the first one the estimator has is used."""
        if self.loss.scorer is None:
            return self.loss.response
        methods: str | Sequence[str] = getattr(
            self.loss.scorer, "_response_method", "predict"
        )
        return methods

    @property
    def wants_scores(self) -> bool:
        """Whether the loss needs more than the predicted values."""
        return self.response != "predict"

    def method_of(self, model: Any) -> str:
        """Return the method of this model whose scores the loss needs; "" for none."""
        names = (self.response,) if isinstance(self.response, str) else self.response
        method = next((name for name in names if hasattr(model, name)), None)
        if method is None:
            raise Unsuited(
                f"{type(model).__name__} has no {' or '.join(names)}, which scikit-learn "
                "reports on a refit"
            )
        return "" if method == "predict" else method

    @staticmethod
    def can_evaluate(loss: Loss) -> bool:
        """Whether the loss needs predictions only.

        A user's own scorer may need the fitted estimator and X.
        """
        return loss.scorer is None or isinstance(loss.scorer, _BaseScorer)

    def measure(
        self, test: np.ndarray, starts: np.ndarray, predictions: Predictions
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return (losses [splits, settings], row losses [rows, settings] or None).

        test         test rows of several splits, one split after the other
        starts       index in `test` of the first row of each split
        predictions  for the rows `test`
        """
        rows = self._known_row_losses(test, predictions)
        if rows is None:
            losses, rows = self._split_by_split(test, starts, predictions)
        else:
            losses = self._means(rows, test, starts)
        if not np.isfinite(losses).all():
            raise Unsuited(
                f"the {self.loss.name} loss is not finite everywhere, and only a refit "
                "shows which settings fail"
            )
        return losses, rows

    def outer(
        self,
        test: np.ndarray,
        starts: np.ndarray,
        predictions: Predictions,
        chosen: np.ndarray,
    ) -> tuple[np.ndarray, list[np.ndarray | None], list[np.ndarray]]:
        """Return (losses, row losses of each split, predictions of setting chosen[i] on split i).

        test, starts, predictions  as in `measure`
        chosen                     index of a setting for each split
        """
        losses, rows = self.measure(test, starts, predictions)
        ends = [*starts.tolist(), test.size]
        settings = np.repeat(chosen, np.diff(ends))
        labels = self.labels(predictions.values[np.arange(test.size), settings])
        row_losses = [None if rows is None else rows[a:b] for a, b in pairwise(ends)]
        return losses, row_losses, [labels[a:b] for a, b in pairwise(ends)]

    def labels(self, values: np.ndarray) -> np.ndarray:
        """Return predictions as the estimator gives them: numbers, or labels of y."""
        return values.copy() if self.classes is None else self.classes[values]

    def _known_row_losses(
        self, test: np.ndarray, predictions: Predictions
    ) -> np.ndarray | None:
        """Return row losses [rows, settings] of a loss of cvnb's own; None for any other."""
        formula, y = self.loss.rows, self.data.y[test]
        if formula is zero_one and self.codes is not None:
            return (predictions.values != self.codes[test, None]).view(np.uint8)
        if formula in (squared, absolute):
            return formula(y[:, None], self.labels(predictions.values))
        if formula is log and predictions.scores is not None:
            scores = np.moveaxis(predictions.scores, 1, 0)
            return np.column_stack([log(y, own, self.classes) for own in scores])
        return None

    def _means(
        self, rows: np.ndarray, test: np.ndarray, starts: np.ndarray
    ) -> np.ndarray:
        """Return the weighted mean [splits, settings] of row losses."""
        w = weights_of(self.data, test)
        if w is None:
            sums = np.add.reduceat(rows, starts, axis=0, dtype=np.float64)
            totals = np.diff(np.append(starts, test.size))
        else:
            sums = np.add.reduceat(rows * w[:, None], starts, axis=0)
            totals = np.add.reduceat(w, starts)
        means: np.ndarray = sums / totals[:, None]
        return means

    def _split_by_split(
        self, test: np.ndarray, starts: np.ndarray, predictions: Predictions
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Evaluate the loss on a stub that returns stored predictions, per split and setting."""
        n_settings = predictions.values.shape[1]
        losses = np.empty((len(starts), n_settings))
        rows = np.empty((test.size, n_settings)) if self.loss.scorer is None else None
        for i, ends in enumerate(pairwise([*starts, test.size])):
            part = slice(*ends)
            y, w = self.data.y[test[part]], weights_of(self.data, test[part])
            X = np.zeros((y.size, 1))
            present = None if predictions.present is None else predictions.present[i]
            for s in range(n_settings):
                model = self._stub(predictions, part, s, present)
                try:
                    losses[i, s], row_losses, _ = self.loss.measure(model, X, y, w)
                except LossError:
                    raise  # the loss is wrong, not the setting
                except Exception as error:
                    raise Unsuited(
                        f"the {self.loss.name} loss fails somewhere, and only a refit "
                        "shows which settings fail"
                    ) from error
                if rows is not None:
                    rows[part, s] = row_losses
        return losses, rows

    def _stub(
        self, predictions: Predictions, part: slice, s: int, present: np.ndarray | None
    ) -> StoredPredictions:
        """Return an estimator that predicts what setting s predicts for the rows `part`."""
        responses = {"predict": self.labels(predictions.values[part, s])}
        if self.classes is None:
            return StoredRegressor(responses)
        classes = self.classes if present is None else self.classes[present]
        if predictions.scores is not None:
            method, scores = predictions.method, predictions.scores[part, s]
            if present is not None:
                scores = scores[:, present]
            one_column = method == "decision_function" and classes.size <= 2
            responses[method] = scores[:, -1] if one_column else scores
        return StoredClassifier(responses, classes)


class StoredPredictions(BaseEstimator):
    """An estimator that returns stored predictions; it has only the methods in `responses`."""

    def __init__(
        self, responses: dict[str, np.ndarray], classes: np.ndarray | None = None
    ) -> None:
        self.responses, self.classes = responses, classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> np.ndarray | None:
        return self.classes

    def __getattr__(self, method: str) -> Any:
        responses = self.__dict__.get("responses", {})  # none yet while unpickling
        if method not in responses:
            raise AttributeError(method)

        def respond(X: Any) -> np.ndarray:
            return responses[method]

        respond.__name__ = method  # scikit-learn identifies the response by this name
        return respond


class StoredClassifier(ClassifierMixin, StoredPredictions):
    """Stored classes and their scores."""


class StoredRegressor(RegressorMixin, StoredPredictions):
    """Stored numbers."""
