"""Means and variances of the rows of a training part, class by class: from sums about one origin, or from the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base import Unsuited
from ..linear.rows import HARDLY, nearly_constant

EPS = 2.0**-52
FAR = 100.0  # times the variance that the square of a mean may be: more costs digits, and the rows themselves are asked
LIGHT = 1e-8  # weight of a class that scikit-learn takes for none
Second = Callable[
    [np.ndarray, np.ndarray, np.ndarray], np.ndarray
]  # (z, w, starts of cells) -> [cells, ...]


class Cancelled(Exception):
    """Raised where sums about one origin have lost digits that the rows themselves have."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Of the rows of a training part.

    origin     [p] from which means are counted
    present    codes of the classes of these rows; `classes` is how many
    n, weight  [classes] rows, and the sums of their weights
    means      [classes, p]
    seconds    [classes, p] variances, or [classes, p, p] covariances
    lost       [classes, p] squares that a variance was the rest of; 0 where it is from the rows themselves
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
        """Cancelled where variances [classes or 1, p] are so small a rest that digits are missing."""
        if (self.lost > FAR * variances).any():
            raise Cancelled

    def refuse_far(self) -> None:
        """Cancelled where the mean of all rows is so far from the origin that digits of their variance are missing."""
        if self.lost.any() and (self.centre**2 > FAR * self.variance).any():
            raise Cancelled

    def scale(self) -> np.ndarray:
        """What a StandardScaler divides by, a constant column by 1."""
        self.refuse_far()
        given = self.variance, self.origin + self.centre, float(self.n.sum())
        constant = nearly_constant(*given, 1.0)
        if (
            nearly_constant(*given, HARDLY) != nearly_constant(*given, 1 / HARDLY)
        ).any():
            if self.lost.any():
                raise Cancelled
            raise Unsuited(
                "a column is so nearly constant that rounding decides whether it is scaled"
            )
        scale: np.ndarray = np.sqrt(np.where(constant, 1.0, self.variance))
        return scale


def of_sums(sums: np.ndarray, origin: np.ndarray, shape: tuple[int, ...]) -> Moments:
    """From the sums [classes, width] of `class_sums` about this origin; shape: of the second moments of a class."""
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
    """From the rows of a training part and the codes of their classes: exact where a column is constant."""
    origin = _mean_of(X, None)
    Z = X - origin
    present, n = np.unique(codes, return_counts=True)
    p, one = X.shape[1], np.zeros(1, dtype=np.int64)
    means, weight, seconds = np.empty((present.size, p)), np.empty(present.size), []
    for k, code in enumerate(present):
        own = codes == code
        mine = np.ones(int(n[k])) if w is None else w[own]
        weight[k] = mine.sum()
        _refuse_weightless(weight[k : k + 1])
        means[k] = _mean_of(Z[own], mine)
        seconds.append(second(Z[own] - means[k], mine, one)[0] / weight[k])
    centre = Z.mean(axis=0)
    variance = ((Z - centre) ** 2).mean(axis=0)
    lost = np.zeros_like(means)
    return Moments(
        origin,
        present,
        n.astype(float),
        weight,
        means,
        np.array(seconds),
        lost,
        centre,
        variance,
    )


def _mean_of(X: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """The mean, taken about the first row: exact where a column is constant."""
    gaps = X - X[0]
    mean: np.ndarray = X[0] + (gaps.mean(axis=0) if w is None else w @ gaps / w.sum())
    return mean


def _refuse_weightless(weight: np.ndarray) -> None:
    if (weight <= LIGHT).any():
        raise Unsuited(
            "a class has no weight in a training part, and refit tells what that does"
        )
