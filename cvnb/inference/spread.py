"""Intervals for the mean of losses. Which of them covers what is said by `result.interval`, which chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from ..errors import InputError
from .checked import group_numbers, number, probability, row_weights, table
from .measured import is_result, outer_rows
from .paired import corrected_error

Pair = tuple[float, float]
NO_SPREAD = "the losses, of mean {value:.6g}, have no spread, so a normal approximation has no width; use Hoeffding's interval."


def bayle_interval(
    losses: Any,
    level: float = 0.95,
    variance: str = "all_pairs",
    weights: Any = None,
    groups: Any = None,
) -> Pair:
    """Interval for the mean test risk of the rules fitted in K-fold CV, from their row losses by fold (Bayle et al. 2020).

        R ± z σ / √n,    R = mean_j mean_i l_ji,    σ² = mean over all rows of (l - R)²

    Folds are of almost equal size, as the formula has it; where they are not, give weights (1 for every row will do), and each
    row counts by its share in the mean of fold means. Rows of one group are taken as one unit, with Student's t for the number
    of groups. variance="within": σ² is the mean over folds of the sample variance. A result may stand for the losses.

    >>> np.round(bayle_interval([[0, 1, 0, 0], [1, 0, 0, 0]]), 4)
    array([-0.0501,  0.5501])
    """
    probability("level", level)
    if is_result(losses):
        if variance == "all_pairs":
            found = losses.interval(level, "bayle")
            return found.low, found.high
        losses.interval(level, "bayle")  # refuses what must be refused
        losses = outer_rows(losses)
    folds = _folds(losses)
    if len(folds) < 2:
        raise InputError("one test part is no cross-validation; use holdout_interval.")
    if variance == "within":
        if weights is not None or groups is not None:
            raise InputError(
                "variance='within' takes neither weights nor groups; use variance='all_pairs'."
            )
        centre, error, units = (
            float(np.mean([fold.mean() for fold in folds])),
            _within_folds(folds),
            None,
        )
    elif variance == "all_pairs":
        kept = _kept(folds, weights, groups)
        rows, a, units = kept.rows, kept.shares, kept.units
        if weights is None:
            a = np.full(rows.size, 1 / rows.size)
        centre = kept.centre
        error = _standard_error(rows, a, centre, units, False)
    else:
        raise InputError(
            f"variance={variance!r} is not known; use 'all_pairs' or 'within'."
        )
    if error == 0:
        raise InputError(NO_SPREAD.format(value=centre))
    half = error * (
        _z(level) if units is None else _t(level, np.unique(units).size - 1)
    )
    return centre - half, centre + half


def corrected_t_interval(
    losses: Any, n_train: Any = None, n_test: Any = None, level: float = 0.95
) -> Pair:
    """Interval for the risk of a procedure at one training size, from its N fold losses (Nadeau and Bengio 2003).

        mean ± t √((1/N + n_test / n_train) s²),    N - 1 degrees of freedom, s² with ddof 1

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
            f"every fold loss is {losses[0]:.6g}, so their spread is unknown; use fewer and larger test parts."
        )
    half = float(_t(level, losses.size - 1) * corrected_error(losses, n_train, n_test))
    return float(losses.mean()) - half, float(losses.mean()) + half


def holdout_interval(
    losses: Any,
    level: float = 0.95,
    zero_one: bool = False,
    weights: Any = None,
    groups: Any = None,
) -> Pair:
    """Interval for the risk of one predictor, from its row losses on a test set.

        mean ± t s / √n,    n - 1 degrees of freedom, n the number of rows, or of groups

    zero_one: exact (Clopper and Pearson) for a count of mistakes, where there are neither weights nor groups.

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
        return _exact(int(losses.sum()), losses.size, level)
    kept = _kept(
        [losses],
        None if weights is None else [weights],
        None if groups is None else [groups],
    )
    n = kept.rows.size if kept.units is None else np.unique(kept.units).size
    if n < 2:
        raise InputError(
            f"one {'row' if kept.units is None else 'group'} in the test part has no spread; test on more."
        )
    error = _standard_error(kept.rows, kept.shares, kept.centre, kept.units, True)
    if error == 0:
        raise InputError(NO_SPREAD.format(value=kept.centre))
    half = float(_t(level, n - 1) * error)
    return kept.centre - half, kept.centre + half


def hoeffding_interval(
    losses: Any,
    level: float = 0.95,
    range: float = 1.0,
    weights: Any = None,
    groups: Any = None,
) -> Pair:
    """Distribution-free interval for the mean test risk of J fitted rules, from row losses in an interval of width `range`.

        R ± mean_j range √( ln(2J / (1 - level)) Σ_u a_ju² / 2 )

    a_ju is the share of unit u (a row, or a group) in the weight of test part j: 1/n_j for plain rows. J = 1 is a test set.

    >>> np.round(hoeffding_interval([[0, 1, 0, 0]]), 4)
    array([-0.4291,  0.9291])
    """
    probability("level", level)
    if number("range", range) <= 0:
        raise InputError(
            f"range={range!r} must be > 0: the width of the interval that the loss lies in."
        )
    folds = _folds(losses)
    if np.ptp(np.concatenate(folds)) > range * (1 + 1e-12):
        raise InputError(
            f"range={range:g} is too small: these losses differ by up to {np.ptp(np.concatenate(folds)):.6g}."
        )
    kept = _kept(
        folds,
        weights,
        [np.arange(fold.size) for fold in folds] if groups is None else groups,
    )
    assert kept.units is not None
    squares = [
        float((_by_unit(kept.shares[at] * len(folds), kept.units[at]) ** 2).sum())
        for at in (kept.fold == j for j in np.arange(len(folds)))
    ]
    half = float(
        range
        * np.mean(np.sqrt(np.log(2 * len(folds) / (1 - level)) * np.array(squares) / 2))
    )
    return kept.centre - half, kept.centre + half


@dataclass(frozen=True)
class Kept:
    """Rows that have a weight, fold by fold: their losses, shares in the mean of fold means, groups, and folds."""

    rows: np.ndarray
    shares: np.ndarray
    units: np.ndarray | None
    fold: np.ndarray

    @property
    def centre(self) -> float:
        return float(self.rows @ self.shares)


def _kept(folds: list[np.ndarray], weights: Any, groups: Any) -> Kept:
    for name, given in (("weights", weights), ("groups", groups)):
        if given is not None and (
            not isinstance(given, Sequence) or len(given) != len(folds)
        ):
            raise InputError(
                f"{name} must be a list with one array per fold, {len(folds)} in all."
            )
    w = [
        row_weights(fold.size, None if weights is None else weights[j])
        for j, fold in enumerate(folds)
    ]
    shares = np.concatenate([one / one.sum() for one in w]) / len(folds)
    sizes = [fold.size for fold in folds]
    units = None
    if groups is not None:
        for size, one in zip(sizes, groups, strict=True):
            group_numbers(size, one)
        units = np.unique(
            np.concatenate([np.asarray(one) for one in groups]), return_inverse=True
        )[1]
    at = shares > 0
    fold = np.repeat(np.arange(len(folds)), sizes)
    kept = Kept(
        np.concatenate(folds)[at],
        shares[at],
        None if units is None else units[at],
        fold[at],
    )
    if kept.units is not None and len(folds) > 1 and np.unique(kept.units).size < 2:
        raise InputError(
            "one group has no spread; an interval needs the losses of several groups."
        )
    return kept


def _standard_error(
    losses: np.ndarray,
    a: np.ndarray,
    centre: float,
    units: np.ndarray | None,
    sample: bool,
) -> float:
    """√Σ_u (Σ_{i in u} a_i (l_i - centre))², a_i the share of row i; times √(U / (U - 1)) for a sample or for groups."""
    parts = a * (losses - centre)
    if units is not None:
        parts = _by_unit(parts, units)
    if np.ptp(losses) == 0:
        return 0.0
    factor = parts.size / (parts.size - 1) if sample or units is not None else 1.0
    return float(np.sqrt(factor * (parts**2).sum()))


def _within_folds(folds: list[np.ndarray]) -> float:
    """√(mean sample variance within folds / n)."""
    if min(fold.size for fold in folds) < 2:
        raise InputError(
            "variance='within' needs folds of two rows or more; use variance='all_pairs' for leave-one-out."
        )
    return float(
        np.sqrt(
            np.mean([fold.var(ddof=1) for fold in folds])
            / sum(fold.size for fold in folds)
        )
    )


def _by_unit(values: np.ndarray, units: np.ndarray) -> np.ndarray:
    return np.bincount(np.unique(units, return_inverse=True)[1], weights=values)


def _exact(mistakes: int, n: int, level: float) -> Pair:
    tail = (1 - level) / 2
    low = 0.0 if mistakes == 0 else float(betaincinv(mistakes, n - mistakes + 1, tail))
    high = (
        1.0
        if mistakes == n
        else float(betaincinv(mistakes + 1, n - mistakes, 1 - tail))
    )
    return low, high


def _folds(losses: Any) -> list[np.ndarray]:
    if (
        isinstance(losses, str)
        or not isinstance(losses, Sequence | np.ndarray)
        or not len(losses)
    ):
        raise InputError("losses must be a list of row losses, one array per fold.")
    folds = [table("losses", fold, "[rows] in each fold", 1) for fold in losses]
    _refuse_infinite(np.concatenate(folds))
    return folds


def _refuse_infinite(losses: np.ndarray) -> None:
    if not np.isfinite(losses).all():
        raise InputError(
            "losses must be finite; a part without a loss has no place in an interval."
        )


def _z(level: float) -> float:
    return float(ndtri((1 + level) / 2))


def _t(level: float, freedom: int) -> float:
    return float(stdtrit(freedom, (1 + level) / 2))
