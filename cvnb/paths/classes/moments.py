"""Means and variances of each class in a training part, from sums about one origin or from rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base import Unsuited
from ..linear.precision import NEARLY_CONSTANT, nearly_constant, scale_report

EPS = 2.0**-52
FAR = (
    100.0  # largest square of a mean, in variances, that costs sums no important digits
)
LIGHT = 1e-8  # weight of a class that scikit-learn takes for zero
# (z, weights, where cells begin) -> second moments [cells, ...]
Second = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class DigitsLost(Exception):
    """Raised when sums about one origin have lost digits that the rows themselves have."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the rows of a training part.

    origin     [p] means are differences from it
    present    codes of the classes of these rows; `classes` is their number
    n, weight  [classes] number of rows, and sum of their weights
    means      [classes, p]
    seconds    [classes, p] variances, or [classes, p, p] covariances
    lost       [classes, p] squares subtracted to get a variance; 0 if it is from the rows
    centre     [p] mean of all rows, without weights
    variance   [p] of all rows, without weights
    """

    origin: np.ndarray
    present: np.ndarray
    n: np.ndarray
    weight: np.ndarray
    means: np.ndarray
    seconds: np.ndarray
    lost: np.ndarray
    centre: np.ndarray
    variance: np.ndarray

    def refuse_lost(self, variances: np.ndarray) -> None:
        """Raise DigitsLost if variances [classes or 1, p] are too small a remainder."""
        if (self.lost > FAR * variances).any():
            raise DigitsLost

    def refuse_far(self) -> None:
        """Raise DigitsLost if the mean is so far away that digits of the variance are lost."""
        if self.lost.any() and (self.centre**2 > FAR * self.variance).any():
            raise DigitsLost

    def scale(self) -> np.ndarray:
        """Return what a StandardScaler divides by: 1 for a constant column."""
        self.refuse_far()
        column = self.variance, self.origin + self.centre, float(self.n.sum())
        if scale_report(*column).nearly_constant:
            if self.lost.any():
                raise DigitsLost
            raise Unsuited(NEARLY_CONSTANT)
        constant = nearly_constant(*column, 1.0)
        scale: np.ndarray = np.sqrt(np.where(constant, 1.0, self.variance))
        return scale


def of_sums(sums: np.ndarray, origin: np.ndarray, shape: tuple[int, ...]) -> Moments:
    """Return the moments from sums [classes, width] about an origin, as `sums_of` gives them.

    shape is that of the second moments of a class.
    """
    p, present = origin.size, np.flatnonzero(sums[:, 0] > 0)
    own = sums[present]
    n, weight = own[:, 0], own[:, 1 + 2 * p]
    _refuse_weightless(weight)
    total = own[:, : 1 + 2 * p].sum(axis=0)
    centre = total[1 : 1 + p] / total[0]
    variance = total[1 + p :] / total[0] - centre**2
    means = own[:, 2 + 2 * p : 2 + 3 * p] / weight[:, None]
    seconds = (own[:, 2 + 3 * p :] / weight[:, None]).reshape(-1, *shape)
    squares = means**2
    seconds -= squares if len(shape) == 1 else means[:, :, None] * means[:, None, :]
    return Moments(
        origin, present, n, weight, means, seconds, squares, centre, variance
    )


def of_rows(
    X: np.ndarray, codes: np.ndarray, w: np.ndarray | None, second: Second
) -> Moments:
    """Return the moments from rows, the codes of their classes and weights.

    They are exact where a column is constant.
    """
    origin = _mean_of(X, None)
    Z = X - origin
    present, n = np.unique(codes, return_counts=True)
    means, weight = np.empty((present.size, X.shape[1])), np.empty(present.size)
    seconds = []
    for k, code in enumerate(present):
        own = codes == code
        own_w = np.ones(int(n[k])) if w is None else w[own]
        weight[k] = own_w.sum()
        _refuse_weightless(weight[k])
        means[k] = _mean_of(Z[own], own_w)
        gaps = Z[own] - means[k]
        seconds.append(second(gaps, own_w, np.zeros(1, dtype=np.int64))[0] / weight[k])
    centre = Z.mean(axis=0)
    return Moments(
        origin=origin,
        present=present,
        n=n.astype(float),
        weight=weight,
        means=means,
        seconds=np.array(seconds),
        lost=np.zeros_like(means),
        centre=centre,
        variance=((Z - centre) ** 2).mean(axis=0),
    )


def _mean_of(X: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """Return the mean about the first row: exact where a column is constant."""
    gaps = X - X[0]
    mean: np.ndarray = X[0] + (gaps.mean(axis=0) if w is None else w @ gaps / w.sum())
    return mean


def _refuse_weightless(weight: np.ndarray | np.float64) -> None:
    if (weight <= LIGHT).any():
        raise Unsuited(
            "a class has no weight in a training part; refitting shows what scikit-learn does"
        )
