"""Two corrections of the smallest of many CV estimates, which is too low; neither fits again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InputError
from .checked import (
    group_numbers,
    probability,
    row_weights,
    table,
    whole,
)
from .measured import (
    every_outer_row,
    fold_weights,
    is_result,
    losses_by_fold,
    refuse_time,
    row_units,
)
from .minimum import TIE, tied_settings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..results.estimate import RiskEstimate

BLOCK = 2**22  # numbers in a block of bags


def tibshirani_bias(losses: ArrayLike | RiskEstimate) -> tuple[int, float]:
    """(index of the minimum, how much it is too low), after Tibshirani and Tibshirani (2009).

        bias = (1/K) Σ_k ( e_k(θ̂) - min_θ e_k(θ) ),    θ̂ = argmin_θ of the mean over folds

    losses: [setting, fold], or a result. Add the bias to the smallest mean. A setting with
    a NaN is left out. The correction is too large with small folds, and nearly doubles the
    loss under leave-one-out.

    >>> tibshirani_bias([[0.25, 0.5], [0.5, 0.0], [0.5, 0.5]])
    (1, 0.125)
    """
    if is_result(losses):
        losses = losses_by_fold(losses)
    else:
        losses = table("losses", losses, "[setting, fold]", 2)
    if losses.shape[1] < 2:
        raise InputError(
            "one fold has no second one whose minimum could differ; give the losses of "
            "several folds."
        )
    is_complete = np.isfinite(losses).all(axis=1)
    if not is_complete.any():
        raise InputError(
            "no setting has a finite loss in every fold, so there is no minimum to correct."
        )
    curve = np.where(is_complete, losses.mean(axis=1), np.nan)
    chosen = int(tied_settings(curve)[0])
    fold_minima = losses[is_complete].min(axis=0)
    return chosen, float(np.mean(losses[chosen] - fold_minima))


class BBC(NamedTuple):
    """The bootstrap-corrected estimate of the smallest CV loss, and its percentile interval."""

    estimate: float
    low: float
    high: float


def bbc(
    losses: ArrayLike | RiskEstimate,
    n_boot: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    groups: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> BBC:
    """Bootstrap bias-corrected CV (Tsamardinos et al. 2018) of out-of-sample losses[row, setting].

        estimate = mean_b mean_(i not in bag b) losses[i, s_b]
        s_b      = argmin_s mean_(i in bag b) losses[i, s]

    losses: [row, setting], or a result; a setting with a NaN is left out. n_boot: number of
    bags, each of as many rows as there are, drawn with replacement. level: the interval
    holds this share of the n_boot numbers. seed: of NumPy's generator. groups: group of
    every row; whole groups are then drawn. weights: weight of every row in each mean. A
    result has its own groups and weights.

    >>> losses = np.random.default_rng(0).integers(0, 2, (100, 20))  # twenty coins
    >>> float(losses.mean(axis=0).min()), round(bbc(losses).estimate, 2)
    (0.43, 0.52)
    """
    probability("level", level)
    n_boot, seed = whole("n_boot", n_boot, 1), whole("seed", seed, 0)
    if is_result(losses):
        losses, groups, weights = _arrays_of(losses)
    losses = table("losses", losses, "[row, setting]", 2)
    losses = losses[:, np.isfinite(losses).all(axis=0)]
    if not losses.size:
        raise InputError(
            "no setting has a finite loss on every row, so there is nothing to choose from."
        )
    sums, sizes = _sums_by_unit(losses, groups, weights)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    if len(sizes) < 2:
        raise InputError(
            "one row or group cannot be both in a bag and left out; give more of them."
        )
    bags = _bags(len(sizes), sums.shape[1], n_boot, seed)
    outside = np.concatenate([_losses_outside(sums, sizes, counts) for counts in bags])
    low, high = np.quantile(outside, [(1 - level) / 2, (1 + level) / 2])
    return BBC(float(outside.mean()), float(low), float(high))


def _arrays_of(
    result: RiskEstimate,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return (losses[tested row, setting], the unit of each row, its weight)."""
    refuse_time(result)
    by_fold = fold_weights(result)
    weights = None if by_fold is None else np.concatenate(by_fold)
    return every_outer_row(result), row_units(result), weights


def _sums_by_unit(
    losses: np.ndarray, groups: Any, weights: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sums[unit, setting] of weighted losses, sizes[unit] of weights).

    A unit is what is drawn: a row, or a group.
    """
    w, unit = row_weights(len(losses), weights), group_numbers(len(losses), groups)
    weighted = w[:, None] * losses
    if unit is None:
        return weighted, w
    sums = np.zeros((unit.max() + 1, losses.shape[1]))
    np.add.at(sums, unit, weighted)
    return sums, np.bincount(unit, weights=w)


def _bags(n: int, n_settings: int, n_boot: int, seed: int) -> Iterator[np.ndarray]:
    """Yield blocks of counts[bag, unit]; a bag that holds every unit is drawn again."""
    rng, n_done = np.random.default_rng(seed), 0
    block = max(1, BLOCK // max(n, n_settings))
    while n_done < n_boot:
        drawn = rng.integers(0, n, (min(n_boot - n_done, block), n))
        counts = np.stack([np.bincount(bag, minlength=n) for bag in drawn])
        counts = counts[(counts == 0).any(axis=1)]
        n_done += len(counts)
        yield counts


def _losses_outside(
    sums: np.ndarray, sizes: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Return [bags]: the mean loss outside each bag of the setting that is best in it."""
    inside = counts @ sums / (counts @ sizes)[:, None]
    low = inside.min(axis=1, keepdims=True)
    slack = TIE * np.maximum(np.abs(inside), np.abs(low))
    best = np.argmax(inside <= low + slack, axis=1)
    left_out = (counts == 0).astype(np.float64)
    return (left_out @ sums)[np.arange(len(best)), best] / (left_out @ sizes)
