"""Paired differences of two procedures on the same splits: tests that know that training parts overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import fdtrc, stdtr

from ..errors import InputError
from .checked import number, table
from .measured import is_result, paired_losses


def corrected_t(d: Any, n_train: Any = None, n_test: Any = None) -> tuple[float, float]:
    """(t, two-sided p) of the differences d of two procedures on N splits, after Nadeau and Bengio.

        t = mean(d) / √((1/N + n_test / n_train) s²),    N - 1 degrees of freedom, s² with ddof 1

    Training parts overlap, so an ordinary t test would find differences where there are none. Two results of one plan may
    stand for d and n_train.

    >>> np.round(corrected_t([0.1, 0.2, 0.15, 0.05, 0.1], n_train=80, n_test=20), 4)
    array([3.1379, 0.0349])
    """
    if is_result(d):
        d, n_train, n_test = paired_losses(d, n_train)
    d = table("d", d, "[splits]", 1)
    _check(d)
    error = corrected_error(
        d / (np.abs(d).max() or 1.0), n_train, n_test
    )  # neither overflows nor vanishes
    if not d.any():
        return 0.0, 1.0
    t = float((d / np.abs(d).max()).mean() / error)
    return t, float(2 * stdtr(d.size - 1, -abs(t)))


def corrected_error(d: np.ndarray, n_train: Any, n_test: Any) -> float:
    """√((1/N + n_test / n_train) s²): the standard error of the mean of N numbers from overlapping training parts."""
    n_train, n_test = number("n_train", n_train), number("n_test", n_test)
    if min(n_train, n_test) <= 0:
        raise InputError(
            f"n_train={n_train:g} and n_test={n_test:g} must be sizes > 0."
        )
    return float(np.sqrt((1 / d.size + n_test / n_train) * d.var(ddof=1)))


def dietterich_5x2cv(d: Any, other: Any = None) -> tuple[float, float]:
    """(t, two-sided p) of the differences d[5, 2] on five times two halves.

        t = d_11 / √(mean_i s_i²),    s_i² = (d_i1 - d̄_i)² + (d_i2 - d̄_i)²,    5 degrees of freedom

    Two results of that plan may stand for d. `alpaydin_5x2cv` uses all ten differences and is the better test.

    >>> d = [[0.1, 0.2], [0.15, 0.05], [0.1, 0.12], [0.2, 0.1], [0.05, 0.1]]
    >>> np.round(dietterich_5x2cv(d), 4)
    array([1.7434, 0.1417])
    """
    d, variances = _halves(d, other)
    if not d.any():
        return 0.0, 1.0
    t = float(d[0, 0] / np.sqrt(variances.mean()))
    return t, float(2 * stdtr(5, -abs(t)))


def alpaydin_5x2cv(d: Any, other: Any = None) -> tuple[float, float]:
    """(F, p) of the differences d[5, 2] on five times two halves.

        F = Σ d_ij² / (2 Σ s_i²),    s_i² = (d_i1 - d̄_i)² + (d_i2 - d̄_i)²,    10 and 5 degrees of freedom

    Two results of that plan may stand for d.

    >>> d = [[0.1, 0.2], [0.15, 0.05], [0.1, 0.12], [0.2, 0.1], [0.05, 0.1]]
    >>> np.round(alpaydin_5x2cv(d), 4)
    array([4.921 , 0.0463])
    """
    d, variances = _halves(d, other)
    if not d.any():
        return 0.0, 1.0
    f = float((d**2).sum() / (2 * variances.sum()))
    return f, float(fdtrc(10, 5, f))


def _halves(d: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    if is_result(d):
        pair = d
        d, _, _ = paired_losses(d, other)
        if d.size != 10 or not is_5x2(pair.plan):
            raise InputError(
                "5×2cv is five times two halves: run both with outer=RepeatedKFold(n_splits=2, n_repeats=5)."
            )
        d = d.reshape(5, 2)
    d = table("d", d, "[5, 2]", 2)
    if d.shape != (5, 2):
        raise InputError(
            f"d must be numbers [5, 2], five times two halves; got shape {d.shape}."
        )
    _check(d)
    d = d / (np.abs(d).max() or 1.0)
    return d, ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)


def is_5x2(plan: Any) -> bool:
    """Whether the outer splits are five times two halves of all rows, each trained on the other."""
    if len(plan.outer) != 10:
        return False
    for i in range(5):
        (train, test), (other_train, other_test) = (
            plan.outer[2 * i],
            plan.outer[2 * i + 1],
        )
        halves = np.array_equal(np.sort(train), np.sort(other_test)) and np.array_equal(
            np.sort(test), np.sort(other_train)
        )
        if not halves or train.size + test.size != plan.n_rows:
            return False
    return True


def _check(d: np.ndarray) -> None:
    if d.size < 2:
        raise InputError(
            "one difference has no spread to judge it by; give the differences of at least two splits."
        )
    if not np.isfinite(d).all():
        raise InputError(
            "the differences d must be finite; a split without a loss cannot be compared."
        )
    spread = np.ptp(d, axis=-1)
    if d.any() and not (spread > 1e-12 * np.abs(d).max()).any():
        what = (
            f"every difference is {d.flat[0]:.6g}"
            if np.ptp(d) == 0
            else "the two differences of every repeat are equal"
        )
        raise InputError(f"{what}: without any spread there is nothing to judge by.")
