"""What the smallest of many CV estimates must be raised by: two corrections that fit nothing anew."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from .checked import group_numbers, probability, row_weights, table
from .measured import (
    every_outer_row,
    fold_weights,
    is_result,
    losses_by_fold,
    refuse_time,
    row_units,
)
from .selection import TIE, tied_settings

BLOCK = 2**22  # numbers in a block of bags


def tibshirani_bias(losses: Any) -> tuple[int, float]:
    """(index of the minimum, how much it is too low) of losses[setting, fold], after Tibshirani and Tibshirani (2009).

        bias = (1/K) Σ_k ( e_k(θ̂) - min_θ e_k(θ) ),    θ̂ = argmin_θ of the mean over folds

    Add it to the smallest mean. A setting with a NaN is left out. It overcorrects with small folds, and nearly doubles the
    loss under leave-one-out. A result may stand for the losses.

    >>> tibshirani_bias([[0.25, 0.5], [0.5, 0.0], [0.5, 0.5]])
    (1, 0.125)
    """
    losses = (
        losses_by_fold(losses)
        if is_result(losses)
        else table("losses", losses, "[setting, fold]", 2)
    )
    if losses.shape[1] < 2:
        raise InputError(
            "one fold has no second one whose minimum could differ; give the losses of several folds."
        )
    whole = np.isfinite(losses).all(axis=1)
    if not whole.any():
        raise InputError(
            "no setting has a finite loss in every fold, so there is no minimum to correct."
        )
    chosen = int(tied_settings(np.where(whole, losses.mean(axis=1), np.nan))[0])
    return chosen, float(np.mean(losses[chosen] - losses[whole].min(axis=0)))


class BBC(NamedTuple):
    """The bootstrap-corrected estimate of the smallest CV loss, and its percentile interval."""

    estimate: float
    low: float
    high: float


def bbc(
    losses: Any,
    n_boot: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    groups: Any = None,
    weights: Any = None,
) -> BBC:
    """Bootstrap bias-corrected CV (Tsamardinos et al. 2018) of out-of-sample losses[row, setting].

        estimate = mean_b mean_(i not in bag b) losses[i, s_b],    s_b = argmin_s mean_(i in bag b) losses[i, s]

    n_boot bags of as many rows as there are, drawn with replacement; percentiles of the n_boot numbers are the interval.
    Whole groups are drawn where there are groups. A setting with a NaN is left out. A result may stand for the losses.

    >>> losses = np.random.default_rng(0).integers(0, 2, (100, 20))  # twenty coins
    >>> float(losses.mean(axis=0).min()), round(bbc(losses).estimate, 2)
    (0.43, 0.52)
    """
    probability("level", level)
    if (
        isinstance(n_boot, bool)
        or not isinstance(n_boot, int | np.integer)
        or n_boot < 1
    ):
        raise InputError(f"n_boot={n_boot!r} must be a whole number >= 1.")
    if is_result(losses):
        refuse_time(losses)
        by_fold = fold_weights(losses)
        weights = None if by_fold is None else np.concatenate(by_fold)
        losses, groups = every_outer_row(losses), row_units(losses)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed={seed!r} must be a whole number >= 0.")
    losses = table("losses", losses, "[row, setting]", 2)
    losses = losses[:, np.isfinite(losses).all(axis=0)]
    if not losses.size:
        raise InputError(
            "no setting has a finite loss on every row, so there is nothing to choose from."
        )
    sums, sizes = _units(losses, groups, weights)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    if len(sizes) < 2:
        raise InputError(
            "one row or group cannot be both in a bag and left out; give more of them."
        )
    outside = np.concatenate(
        [
            _outside(sums, sizes, counts)
            for counts in _bags(len(sizes), sums.shape[1], int(n_boot), seed)
        ]
    )
    low, high = np.quantile(outside, [(1 - level) / 2, (1 + level) / 2])
    return BBC(float(outside.mean()), float(low), float(high))


def _units(
    losses: np.ndarray, groups: Any, weights: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(sums[unit, setting] of weighted losses, sizes[unit] of weights) of what is drawn: rows or groups."""
    w, unit = row_weights(len(losses), weights), group_numbers(len(losses), groups)
    if unit is None:
        return w[:, None] * losses, w
    sums = np.zeros((unit.max() + 1, losses.shape[1]))
    np.add.at(sums, unit, w[:, None] * losses)
    return sums, np.bincount(unit, weights=w)


def _bags(n: int, width: int, n_boot: int, seed: int) -> Any:
    """Blocks of counts[bag, unit]; a bag that holds every unit is drawn again."""
    rng, made = np.random.default_rng(seed), 0
    while made < n_boot:
        drawn = rng.integers(
            0, n, (min(n_boot - made, max(1, BLOCK // max(n, width))), n)
        )
        counts = np.stack([np.bincount(bag, minlength=n) for bag in drawn])
        counts = counts[(counts == 0).any(axis=1)]
        made += len(counts)
        yield counts


def _outside(sums: np.ndarray, sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """[bags]: the mean loss outside each bag of the setting that is best in it."""
    inside = counts @ sums / (counts @ sizes)[:, None]
    low = inside.min(axis=1, keepdims=True)
    best = np.argmax(
        inside <= low + TIE * np.maximum(np.abs(inside), np.abs(low)), axis=1
    )
    left_out = (counts == 0).astype(np.float64)
    return (left_out @ sums)[np.arange(len(best)), best] / (left_out @ sizes)
