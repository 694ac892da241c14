"""The settings at the minimum of a curve of losses, and those within one standard error of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from .checked import table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TIE = 1e-12


def tied_settings(curve: np.ndarray, zero_one: bool = False) -> np.ndarray:
    """Indices of the settings at the minimum of an inner curve, in grid order.

        all s with curve[s] - min(curve) <= 1e-12 max(|curve[s]|, |min(curve)|)

    zero_one: for 0-1 loss the bound is 1e-12 alone. A failed setting (NaN) is never among
    them.

    >>> tied_settings(np.array([0.3, 0.1, 0.1 + 1e-15, np.nan]))
    array([1, 2])
    """
    if np.isnan(curve).all():
        return np.zeros(0, dtype=np.int64)
    low = np.fmin.reduce(curve)  # without NaN
    with np.errstate(invalid="ignore"):
        slack = TIE if zero_one else TIE * np.maximum(np.abs(curve), abs(low))
        return (curve - low <= slack).nonzero()[0]


def standard_error(losses: ArrayLike) -> float:
    """The standard error of the mean of the K fold losses of one setting.

        √( Σ_k (losses[k] - mean)² / (K - 1) ) / √K

    >>> standard_error(np.array([1.0, 2.0, 3.0, 4.0]))  # the sd is 1.2910
    0.6454972243679028
    """
    losses = table("losses", losses, "[folds]", 1)
    if losses.size < 2:
        raise InputError("one fold has no standard error; give the losses of several.")
    return float(np.std(losses, ddof=1) / np.sqrt(losses.size))


def within_one_error(curve: np.ndarray, se: float) -> np.ndarray:
    """[settings]: whether curve <= minimum + se; a failed setting (NaN) is not."""
    low = float(np.nanmin(curve))
    with np.errstate(invalid="ignore"):
        return curve <= low + se + TIE * max(abs(low), se)
