"""Intervals for the mean of losses; `result.interval` names what each covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from ..errors import InputError
from .checked import group_numbers, number, probability, row_weights, table
from .measured import is_result, outer_rows
from .paired import corrected_error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..results.estimate import RiskEstimate

    ByFold = Sequence[ArrayLike]  # one array of rows for each fold

Ends = tuple[float, float]


def bayle_interval(
    losses: ByFold | RiskEstimate,
    level: float = 0.95,
    variance: str = "all_pairs",
    weights: ByFold | None = None,
    groups: ByFold | None = None,
) -> Ends:
    """Interval for the mean test risk of the rules fitted in K-fold CV (Bayle et al. 2020).

        R ± z σ / √n,    R = mean_j mean_i l_ji,    σ² = mean over all rows of (l - R)²

    losses: the row losses of each fold, or a result. level: the coverage probability.
    variance="within": σ² is the mean over folds of the sample variance. weights: one array
    per fold. The formula assumes folds of almost equal size; for unequal ones give weights
    (all ones will do), and each row counts by its share in the mean of fold means. groups:
    one array per fold; each group is then one unit, and Student's t for the number of
    groups replaces z.

    >>> np.round(bayle_interval([[0, 1, 0, 0], [1, 0, 0, 0]]), 4)
    array([-0.0501,  0.5501])
    """
    probability("level", level)
    if is_result(losses):
        interval = losses.interval(level, "bayle")  # raises what must be refused
        if variance == "all_pairs":
            return losses._record.loss.shown_ends(interval.low, interval.high)
        losses = outer_rows(losses)
    folds = _checked_folds(losses)
    if len(folds) < 2:
        raise InputError("one test part is no cross-validation; use holdout_interval.")
    if variance == "within":
        if weights is not None or groups is not None:
            raise InputError(
                "variance='within' takes neither weights nor groups; use variance='all_pairs'."
            )
        return _interval_within_folds(folds, level)
    if variance != "all_pairs":
        raise InputError(
            f"variance={variance!r} is not known; use 'all_pairs' or 'within'."
        )
    rows = weighted_rows(folds, weights, groups)
    n, quantile = rows.losses.size, normal_quantile(level)
    shares = np.full(n, 1 / n) if weights is None else rows.shares
    error = clustered_error(rows, shares, is_sample=False)
    if groups is not None:
        quantile = student_quantile(level, rows.n_units - 1)
    return _around(rows.centre, error, quantile)


def corrected_t_interval(
    losses: ArrayLike, n_train: Any = None, n_test: Any = None, level: float = 0.95
) -> Ends:
    """Interval for the risk of a procedure at one training size (Nadeau and Bengio 2003).

        mean ± t √((1/N + n_test / n_train) s²),    N - 1 degrees of freedom, s² with ddof 1

    losses: one loss for each of the N splits. n_train, n_test: rows in a training and in a
    test part. level: the coverage probability.

    >>> np.round(corrected_t_interval([0.1, 0.2, 0.15, 0.05, 0.1], n_train=80, n_test=20), 4)
    array([0.0138, 0.2262])
    """
    losses = table("losses", losses, "[splits]", 1)
    probability("level", level)
    _refuse_infinite(losses)
    if losses.size < 2:
        raise InputError(
            "one split has no spread; use a recipe with several outer splits, or holdout_interval."
        )
    if np.ptp(losses) <= 1e-12 * np.abs(losses).max():
        raise InputError(
            f"every fold loss is {losses[0]:.6g}, so their spread is unknown; use fewer "
            "and larger test parts."
        )
    centre, error = float(losses.mean()), corrected_error(losses, n_train, n_test)
    half = error * student_quantile(level, losses.size - 1)
    return centre - half, centre + half


def holdout_interval(
    losses: ArrayLike,
    level: float = 0.95,
    zero_one: bool = False,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Ends:
    """Interval for the risk of one predictor, from its row losses on a test set.

        mean ± t s / √n,    n - 1 degrees of freedom, n the number of rows, or of groups

    losses: one for each row. level: the coverage probability. zero_one=True counts mistakes:
    without weights and groups the interval is then exact (Clopper and Pearson). weights,
    groups: one value for each row.

    >>> np.round(holdout_interval([0, 0, 1, 0, 0, 0, 1, 0, 0, 0], zero_one=True), 4)
    array([0.0252, 0.5561])
    """
    probability("level", level)
    losses = table("losses", losses, "[rows]", 1)
    _refuse_infinite(losses)
    if zero_one and weights is None and groups is None:
        if not np.isin(losses, (0, 1)).all():
            raise InputError(
                "zero_one=True counts mistakes, so every loss must be 0 or 1."
            )
        return _clopper_pearson(int(losses.sum()), losses.size, level)
    rows = weighted_rows(
        [losses],
        None if weights is None else [weights],
        None if groups is None else [groups],
    )
    if rows.n_units < 2:
        unit = "row" if groups is None else "group"
        raise InputError(f"one {unit} in the test part has no spread; test on more.")
    error = clustered_error(rows, rows.shares, is_sample=True)
    return _around(rows.centre, error, student_quantile(level, rows.n_units - 1))


def hoeffding_interval(
    losses: ByFold,
    level: float = 0.95,
    range: float = 1.0,
    weights: ByFold | None = None,
    groups: ByFold | None = None,
) -> Ends:
    """Distribution-free interval for the mean test risk of J fitted rules.

        R ± mean_j range √( ln(2J / (1 - level)) Σ_u a_ju² / 2 )

    losses: the row losses of each test part, in an interval of width `range`. level: the
    coverage probability. weights, groups: one array per test part. a_ju is the share of
    unit u (a row, or a group) in the weight of test part j: 1/n_j for unweighted rows. J = 1
    is a test set.

    >>> np.round(hoeffding_interval([[0, 1, 0, 0]]), 4)
    array([-0.4291,  0.9291])
    """
    probability("level", level)
    positive_range(range)
    folds = _checked_folds(losses)
    spread = np.ptp(np.concatenate(folds))
    if spread > range * (1 + 1e-12):
        raise InputError(
            f"range={range:g} is too small: these losses differ by up to {spread:.6g}."
        )
    rows = weighted_rows(folds, weights, groups)
    squares = _squared_shares(rows, len(folds))
    logarithm = np.log(2 * len(folds) / (1 - level))
    half = float(range * np.mean(np.sqrt(logarithm * squares / 2)))
    return rows.centre - half, rows.centre + half


def positive_range(range: Any) -> None:
    """Refuse a width of the loss's interval that is not > 0."""
    if number("range", range) <= 0:
        raise InputError(
            f"range={range!r} must be > 0: the width of the interval that the loss lies in."
        )


def normal_quantile(level: float) -> float:
    """z with P(|Z| <= z) = level, Z standard normal."""
    return float(ndtri((1 + level) / 2))


def student_quantile(level: float, freedom: int) -> float:
    """t with P(|T| <= t) = level, T Student's with `freedom` degrees of freedom."""
    return float(stdtrit(freedom, (1 + level) / 2))


@dataclass(frozen=True)
class WeightedRows:
    """The rows of positive weight, fold after fold.

    losses  [rows]
    shares  [rows]: the share of each row in the mean of fold means
    units   [rows]: the number of its group; None without groups
    fold    [rows]: the number of its fold
    """

    losses: np.ndarray
    shares: np.ndarray
    units: np.ndarray | None
    fold: np.ndarray

    @property
    def centre(self) -> float:
        """The mean of fold means."""
        return float(self.losses @ self.shares)

    @property
    def n_units(self) -> int:
        """Number of groups; of rows without groups."""
        return (self.losses if self.units is None else np.unique(self.units)).size


def weighted_rows(
    folds: list[np.ndarray],
    weights: ByFold | None,
    groups: ByFold | None,
) -> WeightedRows:
    """Return the rows of positive weight of all folds, with their shares and groups."""
    _check_one_per_fold("weights", weights, len(folds))
    _check_one_per_fold("groups", groups, len(folds))
    checked_weights = [
        row_weights(fold.size, None if weights is None else weights[j])
        for j, fold in enumerate(folds)
    ]
    shares = np.concatenate([w / w.sum() for w in checked_weights]) / len(folds)
    units = None if groups is None else _units(folds, groups)
    kept = shares > 0
    rows = WeightedRows(
        losses=np.concatenate(folds)[kept],
        shares=shares[kept],
        units=None if units is None else units[kept],
        fold=np.repeat(np.arange(len(folds)), [fold.size for fold in folds])[kept],
    )
    if units is not None and len(folds) > 1 and rows.n_units < 2:
        raise InputError(
            "one group has no spread; an interval needs the losses of several groups."
        )
    return rows


def _check_one_per_fold(name: str, values: Any, n_folds: int) -> None:
    if values is None or (isinstance(values, Sequence) and len(values) == n_folds):
        return
    raise InputError(
        f"{name} must be a list with one array per fold, {n_folds} in all."
    )


def _units(folds: list[np.ndarray], groups: ByFold) -> np.ndarray:
    """[rows]: the number of each row's group, over all folds."""
    for fold, fold_groups in zip(folds, groups, strict=True):
        group_numbers(fold.size, fold_groups)
    names = np.concatenate([np.asarray(fold_groups) for fold_groups in groups])
    return np.unique(names, return_inverse=True)[1]


def _around(centre: float, error: float, quantile: float) -> Ends:
    if error == 0:
        raise InputError(
            f"the losses, of mean {centre:.6g}, have no spread, so a normal approximation "
            "has no width; use Hoeffding's interval."
        )
    half = error * quantile
    return centre - half, centre + half


def clustered_error(rows: WeightedRows, shares: np.ndarray, is_sample: bool) -> float:
    """Standard error of the mean of fold means.

    √Σ_u (Σ_{i in u} shares_i (l_i - centre))²; times √(U / (U - 1)) for a sample or groups."""
    parts = shares * (rows.losses - rows.centre)
    if rows.units is not None:
        parts = _sum_by_unit(parts, rows.units)
    if np.ptp(rows.losses) == 0:
        return 0.0
    corrected = is_sample or rows.units is not None
    factor = parts.size / (parts.size - 1) if corrected else 1.0
    return float(np.sqrt(factor * (parts**2).sum()))


def _interval_within_folds(folds: list[np.ndarray], level: float) -> Ends:
    """R ± z √(mean sample variance within folds / n)."""
    if min(fold.size for fold in folds) < 2:
        raise InputError(
            "variance='within' needs folds of two rows or more; use variance='all_pairs' "
            "for leave-one-out."
        )
    centre = float(np.mean([fold.mean() for fold in folds]))
    variance = np.mean([fold.var(ddof=1) for fold in folds])
    error = float(np.sqrt(variance / sum(fold.size for fold in folds)))
    return _around(centre, error, normal_quantile(level))


def _squared_shares(rows: WeightedRows, n_folds: int) -> np.ndarray:
    """[folds]: Σ_u a_ju², a_ju the share of unit u in the weight of test part j."""
    shares, fold = rows.shares * n_folds, rows.fold
    if rows.units is not None:
        n_units = rows.units.max() + 1
        pairs = rows.fold * n_units + rows.units  # one number for each (j, u)
        shares, fold = _sum_by_unit(shares, pairs), np.unique(pairs) // n_units
    return np.bincount(fold, weights=shares**2)


def _sum_by_unit(values: np.ndarray, units: np.ndarray) -> np.ndarray:
    return np.bincount(np.unique(units, return_inverse=True)[1], weights=values)


def _clopper_pearson(mistakes: int, n: int, level: float) -> Ends:
    tail = (1 - level) / 2
    low, high = 0.0, 1.0
    if mistakes > 0:
        low = float(betaincinv(mistakes, n - mistakes + 1, tail))
    if mistakes < n:
        high = float(betaincinv(mistakes + 1, n - mistakes, 1 - tail))
    return low, high


def _checked_folds(losses: Any) -> list[np.ndarray]:
    is_list = isinstance(losses, Sequence | np.ndarray) and not isinstance(losses, str)
    if not is_list or not len(losses):
        raise InputError("losses must be a list of row losses, one array per fold.")
    folds = [table("losses", fold, "[rows] in each fold", 1) for fold in losses]
    _refuse_infinite(np.concatenate(folds))
    return folds


def _refuse_infinite(losses: np.ndarray) -> None:
    if not np.isfinite(losses).all():
        raise InputError("losses must be finite; a part without a loss cannot be used.")
