"""Where rounding would show in what a classifier says: such splits are left to refit."""

from __future__ import annotations

import numpy as np

from ...losses.loss import log
from ..base import Unsuited
from ..measure import Answers, Meter

DIGITS = 1e-9  # share of a loss that rounding may move
SMALL = 1e-12  # and how much of the loss of a single part
SCORES = 1e-10  # how far rounding may move the scores that other metrics look at
LAST = 2.0**-49  # the last digits of a probability
SHOWS = (
    "columns lie so far from zero, are so nearly collinear, or tell the classes apart so surely, that scikit-learn's own "
    "rounding shows, and refit gives its numbers; a StandardScaler ahead takes care of the first"
)
LEVEL = (
    "classes, or scores of rows of different classes, are level up to rounding, which grows with the distance of columns "
    "from zero, and refit gives scikit-learn's own"
)


def refuse_doubtful(
    meter: Meter, losses: np.ndarray, doubt: np.ndarray, one_part: bool = False
) -> None:
    """An error where doubt [settings], the mean change of a decision by rounding, is too much for these losses."""
    if not meter.wants_scores:
        return  # labels are sure where decisions differ by more than their doubt
    limit = (
        np.maximum(DIGITS * losses, SMALL * one_part)
        if meter.loss.rows is log
        else SCORES
    )
    if not (doubt <= limit).all():
        raise Unsuited(SHOWS)


def refuse_level(
    said: Answers,
    decisions: np.ndarray,
    doubt: np.ndarray,
    meter: Meter,
    test: np.ndarray,
) -> None:
    """An error where rounding decides which class is named, or which of two rows has the larger score."""
    if not (_gaps(decisions) > doubt).all():
        raise Unsuited(LEVEL)
    if said.scores is None or meter.loss.rows is log or test.size < 2:
        return
    assert meter.codes is not None
    codes = meter.codes[test]
    for c in range(said.scores.shape[2]):
        scores = said.scores[:, :, c]
        slack = doubt
        if (
            said.method == "predict_proba"
        ):  # by their own size; what is too small for a number is 0 anywhere
            slack = np.where(scores > 0, scores * (doubt + LAST), -1.0)
        order = np.argsort(scores, axis=0, kind="stable")
        ranked, slack = (
            np.take_along_axis(one, order, axis=0) for one in (scores, slack)
        )
        level = np.diff(ranked, axis=0) <= np.maximum(slack[1:], slack[:-1])
        if (level & (np.diff(codes[order], axis=0) != 0)).any():
            raise Unsuited(LEVEL)


def _gaps(decisions: np.ndarray) -> np.ndarray:
    """[rows, settings]: by how much the largest decision exceeds the next."""
    if decisions.shape[2] == 1:
        gaps: np.ndarray = np.abs(decisions[:, :, 0])
        return gaps
    best, second = decisions[:, :, 0], np.full(decisions.shape[:2], -np.inf)
    for k in range(1, decisions.shape[2]):
        second = np.maximum(second, np.minimum(best, decisions[:, :, k]))
        best = np.maximum(best, decisions[:, :, k])
    gaps = best - second
    return gaps
