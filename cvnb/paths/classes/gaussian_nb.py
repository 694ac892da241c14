"""Gaussian naive Bayes: class means and variances once per training part serve every var_smoothing.

    log p(x, class k) = log prior_k - sum_c [log(2 pi v_kc) + (x_c - m_kc)^2 / v_kc] / 2
    v_kc = variance of column c in class k + var_smoothing * the largest variance of a column

Behind a StandardScaler the largest variance is 1 in the unit of each column. A change of units
adds the same to all classes, so the smoothing is converted to the units of X. Cost of a split with
t test rows, p columns, K classes and S smoothings: O(S K p t), after O(n p) for a training part.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...kernels import scaling
from ..base import Unsuited
from ..measure import LossEvaluator
from ..problem import Combination
from .moments import EPS, Moments
from .path import MISSING_CLASS, ClassPath, predictions_from_rows, refuses_priors

TIMES = 16.0  # rounding of log densities in units of its first-order bound; measured: up to 3
NOWHERE = 760.0  # the exponential of less than minus this is 0


def refuses(last: Any) -> str:
    """Return why the path cannot handle this last step, or ""."""
    return refuses_priors(last.priors)


def squares(Z: np.ndarray, w: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return [cells, p]: sums of w z^2 over the rows from starts[i] up to starts[i + 1]."""
    sums: np.ndarray = np.add.reduceat(Z * Z * w[:, None], starts, axis=0)
    return sums


class SmoothingPath:
    """The smoothings of one combination."""

    def __init__(self, combination: Combination, evaluator: LossEvaluator) -> None:
        self.model, self.scaled = combination.model, combination.scaled
        self.which = combination.which
        smoothings = combination.values.astype(float)
        self.smoothings, self.places = np.unique(smoothings, return_inverse=True)
        self.wants_scores = evaluator.wants_scores

    def decisions(
        self, moments: Moments, Z: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As DecisionPath.decisions."""
        n_classes = moments.present.size
        priors = moments.weight / moments.weight.sum()
        if self.model.priors is not None:
            priors = np.asarray(self.model.priors, dtype=np.float64)
        if priors.size != n_classes:
            raise Unsuited(MISSING_CLASS)
        variances = self._variances(moments)
        log_scales = 0.5 * np.log(2 * np.pi * variances).sum(axis=2)
        levels = np.log(priors)[:, None] - log_scales
        out = np.empty((n_classes, len(Z), self.smoothings.size))
        for k in range(n_classes):
            gaps = (Z - moments.means[k]) ** 2
            _weighted_sums(gaps, -0.5 / variances[k], levels[k], out[k])
        doubt = self._doubt(moments, Z, variances, levels, out)
        return out.transpose(1, 2, 0), doubt

    def _variances(self, moments: Moments) -> np.ndarray:
        """Return the smoothed variances [classes, smoothings, p]."""
        unit = moments.scale() ** 2 if self.scaled else np.ones_like(moments.origin)
        moments.refuse_far()
        more = np.outer(self.smoothings, unit) * (moments.variance / unit).max()
        variances: np.ndarray = moments.seconds[:, None, :] + more
        moments.refuse_lost(variances.min(axis=1))
        if not (variances > 0).all():
            raise Unsuited(
                "a variance is zero in a class; refitting shows what scikit-learn does"
            )
        return variances

    def _doubt(
        self,
        moments: Moments,
        Z: np.ndarray,
        variances: np.ndarray,
        levels: np.ndarray,
        out: np.ndarray,
    ) -> np.ndarray:
        """Return [rows, smoothings]: how far rounding may change the decisions `out`.

        Three things are rounded: log densities, means far from zero, and variances that remain
        after squares are subtracted.
        """
        zero = -moments.centre if self.scaled else moments.origin
        away = np.abs(moments.means + zero)
        lost = (moments.lost[:, None, :] / variances).max(axis=2)
        root, size = np.sqrt(moments.n.sum()), np.abs(out)
        if (
            not self.wants_scores
        ):  # a bound is enough: hardly any two classes are so near
            size = size.max(axis=0)
            # squared distances from means, in standard deviations
            squares = 2.0 * (size + np.abs(levels).max(axis=0))
            far = np.sqrt((away[:, None, :] ** 2 / variances).sum(axis=2).max(axis=0))
            drift = root * np.sqrt(squares) * far
            return TIMES * EPS * (1.0 + size + drift + squares * lost.max(axis=0))
        drift = np.empty_like(out)
        for k in range(len(out)):
            gaps, zeros = np.abs(Z - moments.means[k]), np.zeros_like(levels[k])
            _weighted_sums(gaps, away[k] / variances[k], zeros, drift[k])
        squares = 2.0 * (size + np.abs(levels)[:, None, :])
        doubt = 1.0 + size + root * drift + squares * lost[:, None, :]
        # other classes have probability 0, whatever their digits
        near = out > out.max(axis=0) - NOWHERE
        return TIMES * EPS * np.where(near, doubt, 0.0).max(axis=0)


def _weighted_sums(
    X: np.ndarray, by: np.ndarray, levels: np.ndarray, out: np.ndarray
) -> None:
    """Fill out [rows, smoothings] with X @ by' + levels; equal rows get equal results."""
    p = X.shape[1]
    scaling.decide_all(X, np.zeros(p), np.ones(p), np.vstack([by.T, levels]), out)


shared_path = partial(
    ClassPath, name="gaussian_nb", second=squares, make_path=SmoothingPath
)
predictions_of_split = partial(
    predictions_from_rows, second=squares, make_path=SmoothingPath
)
