"""Wilson's score interval of a share of mistakes; its ends always lie in [0, 1]."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .checked import is_number, probability
from .spread import (
    Ends,
    WeightedRows,
    clustered_error,
    normal_quantile,
    student_quantile,
    weighted_rows,
)

if TYPE_CHECKING:
    from .spread import ByFold


def wilson_interval(errors: int, n: int, level: float = 0.95) -> Ends:
    """Wilson's score interval for an error rate, from the number of mistakes in n rows.

        (k + z²/2 ± z √(k (n - k)/n + z²/4)) / (n + z²),    k = errors

    It has a width also without a mistake, and its ends lie in [0, 1].

    errors: number of mistakes. n: number of rows, each tested once and independent of the
    others. level: the coverage probability.

    >>> np.round(wilson_interval(2, 50), 4)
    array([0.011 , 0.1346])
    """
    errors, n = _whole("errors", errors, 0), _whole("n", n, 1)
    probability("level", level)
    if errors > n:
        raise InputError(
            f"errors={errors} of n={n} rows: there cannot be more mistakes than rows."
        )
    return wilson_ends(errors / n, n, normal_quantile(level))


def wilson_ends(share: float, n: float, quantile: float) -> Ends:
    """Return the interval of a share of mistakes among n rows; n may be an effective number."""
    z2 = quantile**2 / n
    half = quantile * math.sqrt(share * (1 - share) / n + z2 / (4 * n))
    centre, scale = share + z2 / 2, 1 + z2
    low, high = (centre - half) / scale, (centre + half) / scale
    return max(0.0, low) if share > 0 else 0.0, min(1.0, high) if share < 1 else 1.0


def score_interval(
    losses: ByFold, level: float, weights: ByFold | None, groups: ByFold | None
) -> Ends:
    """Wilson's interval around the mean of fold means of 0-1 losses; of all rows without weights.

        n without weights or groups: the number of rows
        n with weights:              (Σ w)² / Σ w², w the share of a row in the mean
        n with groups:               p (1 - p) / v, v the variance of p by clusters

    Groups never count for more than their rows; without a mistake, or with nothing but
    mistakes, n is the effective number of groups. With groups Student's t for their number
    replaces z.

    losses, weights, groups: one array for each fold
    """
    folds = [np.asarray(fold, dtype=np.float64) for fold in losses]
    rows = weighted_rows(folds, weights, groups)
    n_rows = rows.losses.size
    by_row = float(n_rows) if weights is None else 1 / float((rows.shares**2).sum())
    share = min(1.0, max(0.0, rows.centre))
    if rows.units is None and weights is None:
        share = float(rows.losses.mean())  # folds of almost equal size: method="wilson"
    if rows.units is None:
        return wilson_ends(share, by_row, normal_quantile(level))
    if rows.n_units < 2:
        raise InputError("one group in the test part has no spread; test on more.")
    n = min(by_row, _effective_groups(rows, rows.units))
    return wilson_ends(share, n, student_quantile(level, rows.n_units - 1))


def _effective_groups(rows: WeightedRows, units: np.ndarray) -> float:
    """p (1 - p) / v; without spread (Σ w)² / Σ w² of the groups."""
    error = clustered_error(rows, rows.shares, is_sample=True)
    if error > 0:
        return rows.centre * (1 - rows.centre) / error**2
    shares = np.bincount(units, weights=rows.shares)
    return 1 / float((shares**2).sum())


def _whole(name: str, value: Any, least: int) -> int:
    is_whole = is_number(value) and math.isfinite(value) and value == int(value)
    if not is_whole or value < least:
        raise InputError(
            f"{name}={value!r} must be a whole number >= {least}; wilson_interval counts "
            "mistakes and rows."
        )
    return int(value)
