"""Arithmetic on losses: which setting wins, and the bound that a dev set gives."""

from __future__ import annotations

import math

import numpy as np

from .errors import InputError, LossError

TIE = 1e-12


def tied_settings(curve: np.ndarray, zero_one: bool = False) -> np.ndarray:
    """Indices of the settings at the minimum of an inner curve, in grid order.

    0-1 curves within 1e-12 of the minimum are equal to it, others within 1e-12 of the larger value. A failed setting (NaN)
    never is.

    >>> tied_settings(np.array([0.3, 0.1, 0.1 + 1e-15, np.nan]))
    array([1, 2])
    """
    if np.isnan(curve).all():
        return np.zeros(0, dtype=np.int64)
    low = np.nanmin(curve)
    with np.errstate(invalid="ignore"):
        slack = TIE if zero_one else TIE * np.maximum(np.abs(curve), abs(low))
        return np.flatnonzero(curve - low <= slack)


def dev_set_bound(n_dev: float, n_settings: float, delta: float = 0.05, range: float = 1.0) -> float:
    """How much the risk of the setting chosen on a dev set can exceed the best one's, with probability >= 1 - delta.

        range · √( (2 / n_dev) ln(2 n_settings / delta) )

    `range` is the width of the interval that the loss lies in; an unbounded loss has none, and no such bound.

    >>> round(dev_set_bound(1000, 50), 4)
    0.1233
    """
    _check_bound("n_dev", n_dev, n_settings, delta, range)
    return float(range * math.sqrt(2.0 / n_dev * math.log(2.0 * n_settings / delta)))


def dev_set_size(width: float, n_settings: float, delta: float = 0.05, range: float = 1.0) -> int:
    """The smallest dev set whose bound is at most `width`.

        ⌈ 2 (range / width)² ln(2 n_settings / delta) ⌉

    >>> dev_set_size(0.1, 50)
    1521
    """
    _check_bound("width", width, n_settings, delta, range)
    exact = 2.0 * (range / width) ** 2 * math.log(2.0 * n_settings / delta)
    return math.ceil(exact * (1 - 1e-12))  # a whole number stays one in spite of rounding


def _check_bound(name: str, first: float, n_settings: float, delta: float, range: float) -> None:
    if not (_is_number(first) and first > 0 and math.isfinite(first)) or (name == "n_dev" and first < 1):
        raise InputError(f"{name}={first!r} must be a finite number {'>= 1' if name == 'n_dev' else '> 0'}.")
    if not (_is_number(n_settings) and 1 <= n_settings < math.inf):
        raise InputError(f"n_settings={n_settings!r} must be a finite number >= 1.")
    if not (_is_number(delta) and 0 < delta < 1):
        raise InputError(f"delta={delta!r} is a probability strictly between 0 and 1.")
    if not (_is_number(range) and range > 0):
        raise InputError(f"range={range!r} must be a number > 0: the width of the interval that the loss lies in.")
    if not math.isfinite(range):
        raise LossError("an unbounded loss (range=inf) has no such bound; clip the loss and give the width of its range.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)
