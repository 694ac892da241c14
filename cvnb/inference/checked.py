"""Checks of the numbers, tables, weights and groups that users give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError
from ..splits.specs import is_whole


def is_number(value: object) -> bool:
    """Whether this is a real number; a bool is not."""
    is_bool = isinstance(value, bool | np.bool_)
    return not is_bool and isinstance(value, int | float | np.integer | np.floating)


def number(name: str, value: Any, least: float = -math.inf) -> float:
    """Return the value, a finite number >= least."""
    if not is_number(value) or not math.isfinite(value) or value < least:
        bounds = "" if least == -math.inf else f" >= {least:g}"
        raise InputError(f"{name}={value!r} must be a finite number{bounds}.")
    return float(value)


def whole(name: str, value: Any, least: int) -> int:
    """Return the value, a whole number >= least."""
    if not is_whole(value) or value < least:
        raise InputError(f"{name}={value!r} must be a whole number >= {least}.")
    return int(value)


def probability(name: str, value: Any) -> float:
    """Return the value, a number strictly between 0 and 1."""
    value = number(name, value)
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r} must lie strictly between 0 and 1.")
    return value


def table(name: str, values: Any, shape: str, n_axes: int) -> np.ndarray:
    """Return the values as an array of floats with n_axes axes, none of them empty.

    shape: the axes in words, for the error message
    """
    if np.ma.is_masked(values):
        raise InputError(
            f"{name} has masked values; leave them out, or give NaN where that is allowed."
        )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers {shape}, got {values!r}.") from None
    if array.dtype.kind not in "biuf":
        example = (
            f"{array.dtype} such as {array.flat[0]!r}" if array.size else "nothing"
        )
        raise InputError(f"{name} must be numbers {shape}, got {example}.")
    array = array.astype(np.float64)
    if array.ndim != n_axes or not array.size:
        raise InputError(f"{name} must be numbers {shape}, got shape {array.shape}.")
    return array


def row_weights(n: int, weights: Any) -> np.ndarray:
    """Return the weights of n rows; ones where weights is None."""
    if weights is None:
        return np.ones(n)
    weights = table("weights", weights, "[rows]", 1)
    if weights.shape != (n,):
        raise InputError(
            f"weights must have one value for each of the {n} rows of losses, got {weights.size}."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InputError("weights must be finite and >= 0, some of them > 0.")
    return weights


def group_numbers(n: int, groups: Any) -> np.ndarray | None:
    """Return the group of each of n rows as a number; None where groups is None."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise InputError(
            f"groups must have one value for each of the {n} rows of losses, got shape "
            f"{groups.shape}."
        )
    if _has_missing(groups):
        raise InputError("groups has missing values; give every row a group.")
    return np.unique(groups, return_inverse=True)[1]


def _has_missing(groups: np.ndarray) -> bool:
    if groups.dtype.kind == "O":
        return any(name is None or name != name for name in groups.tolist())
    return groups.dtype.kind in "cfmM" and bool(np.isnan(groups).any())
