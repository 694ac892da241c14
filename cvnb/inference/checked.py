"""Numbers, tables, weights and groups that users give, looked at before a formula sees them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError


def number(
    name: str, value: Any, least: float = -math.inf, most: float = math.inf
) -> float:
    """A finite number within bounds."""
    fits = isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool | np.bool_
    )
    if not fits or not math.isfinite(value) or not least <= value <= most:
        bounds = "" if least == -math.inf else f" >= {least:g}"
        raise InputError(f"{name}={value!r} must be a finite number{bounds}.")
    return float(value)


def probability(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    value = number(name, value)
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r} must lie strictly between 0 and 1.")
    return value


def table(name: str, given: Any, shape: str, n_axes: int) -> np.ndarray:
    """An array of numbers with so many axes, none of them empty."""
    if np.ma.is_masked(given):
        raise InputError(
            f"{name} has masked values; leave them out, or give NaN where that is allowed."
        )
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers {shape}, got {given!r}.") from None
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must be numbers {shape}, got {array.dtype} such as {array.flat[0]!r}."
            if array.size
            else f"{name} must be numbers {shape}, got nothing."
        )
    array = array.astype(np.float64)
    if array.ndim != n_axes or not array.size:
        raise InputError(f"{name} must be numbers {shape}, got shape {array.shape}.")
    return array


def row_weights(n: int, weights: Any) -> np.ndarray:
    """Weights of n rows, ones where there are none given."""
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
    """The group of each of n rows as a number, None where there are no groups."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise InputError(
            f"groups must have one value for each of the {n} rows of losses, got shape {groups.shape}."
        )
    if groups.dtype.kind == "O" and any(
        value is None or value != value for value in groups.tolist()
    ):
        raise InputError("groups has missing values; give every row a group.")
    if groups.dtype.kind in "cfmM" and np.isnan(groups).any():
        raise InputError("groups has missing values; give every row a group.")
    return np.unique(groups, return_inverse=True)[1]
