"""Splits whose rounding would show in a classifier's predictions are left to refit."""

from __future__ import annotations

import numpy as np

from ...losses.loss import log
from ..base import Unsuited
from ..measure import LossEvaluator, Predictions

DIGITS = 1e-9  # share of a loss that rounding may change
SMALL = 1e-12  # how much it may change the loss of a single part
SCORES = 1e-10  # how much it may change the scores that other metrics use
LAST = 2.0**-49  # the last digits of a probability
SHOWS = (
    "columns lie so far from zero, are so nearly collinear, or separate the classes so "
    "clearly, that scikit-learn's own rounding shows, which only a refit reproduces; a "
    "StandardScaler ahead takes care of the first"
)
LEVEL = (
    "classes, or scores of rows of different classes, are equal up to rounding, which "
    "grows with the distance of columns from zero; only a refit reproduces scikit-learn's"
)


def refuse_doubtful(
    evaluator: LossEvaluator,
    losses: np.ndarray,
    doubt: np.ndarray,
    one_part: bool = False,
) -> None:
    """Raise Unsuited if rounding may change these losses too much.

    evaluator  the loss; if it uses labels only, they are certain wherever decisions are not level
    losses     [settings]
    doubt      [settings] mean change of a decision by rounding
    one_part   the losses are those of a single part
    """
    if not evaluator.wants_scores:
        return
    limit: np.ndarray | float = SCORES
    if evaluator.loss.rows is log:
        limit = np.maximum(DIGITS * losses, SMALL * one_part)
    if not (doubt <= limit).all():
        raise Unsuited(SHOWS)


def refuse_level(
    predictions: Predictions,
    decisions: np.ndarray,
    doubt: np.ndarray,
    evaluator: LossEvaluator,
    test: np.ndarray,
) -> None:
    """Raise Unsuited if rounding decides the predicted class, or which row has the larger score."""
    if not (_gaps(decisions) > doubt).all():
        raise Unsuited(LEVEL)
    if predictions.scores is None or evaluator.loss.rows is log or test.size < 2:
        return
    assert evaluator.codes is not None
    codes = evaluator.codes[test]
    for c in range(predictions.scores.shape[2]):
        scores = predictions.scores[:, :, c]
        slack = doubt
        if (
            predictions.method == "predict_proba"
        ):  # relative; an underflow is 0 anywhere
            slack = np.where(scores > 0, scores * (doubt + LAST), -1.0)
        order = np.argsort(scores, axis=0, kind="stable")
        ranked = np.take_along_axis(scores, order, axis=0)
        slack = np.take_along_axis(slack, order, axis=0)
        level = np.diff(ranked, axis=0) <= np.maximum(slack[1:], slack[:-1])
        if (level & (np.diff(codes[order], axis=0) != 0)).any():
            raise Unsuited(LEVEL)


def _gaps(decisions: np.ndarray) -> np.ndarray:
    """Return [rows, settings]: by how much the largest decision exceeds the second largest."""
    best, second = decisions[:, :, 0], np.full(decisions.shape[:2], -np.inf)
    if decisions.shape[2] == 1:
        return np.abs(best)
    for k in range(1, decisions.shape[2]):
        second = np.maximum(second, np.minimum(best, decisions[:, :, k]))
        best = np.maximum(best, decisions[:, :, k])
    return best - second
