"""Lasso and elastic net on sparse rows: descent over columns that hold nonzero numbers only.

    minimise   |r|^2 / 2 + l1 |w| + l2 w'w / 2,     r = b - A w,   A = (I - e e') Z

The numbers of column c of Z are value[start[c] : start[c + 1]], in the rows `place`. The unit
vector e (or zero) takes the means out without making Z dense: with u = b - Z w and
along = w'Z'e the residuals are u + along * e, and b is orthogonal to e.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def gradients(start, place, value, mean, u, along, out):
    """Fill out[c] with the product of column c and the residuals; mean = Z'e."""
    for c in range(out.size):
        total = along * mean[c]
        for k in range(start[c], start[c + 1]):
            total += value[k] * u[place[k]]
        out[c] = total


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(start, place, value, mean, squares, columns, l1, l2, positive, u, along, w):
    """Move each of these columns to its minimum; return (along, largest move of the residuals,
    whether a sign changed)."""
    most, changed = 0.0, False
    for c in columns:
        square, old = squares[c], w[c]
        if square + l2 <= 0.0:
            continue
        g = along * mean[c] + square * old
        for k in range(start[c], start[c + 1]):
            g += value[k] * u[place[k]]
        new = 0.0
        if g > l1:
            new = (g - l1) / (square + l2)
        elif g < -l1 and not positive:
            new = (g + l1) / (square + l2)
        by = new - old
        if by == 0.0:
            continue
        for k in range(start[c], start[c + 1]):
            u[place[k]] -= by * value[k]
        along += by * mean[c]
        w[c] = new
        most = max(most, abs(by) * np.sqrt(square + l2))
        if new * old <= 0.0:
            changed = True
    return along, most, changed


@njit(cache=True, nogil=True, error_model="numpy")
def descend(
    start,
    place,
    value,
    mean,
    squares,
    columns,
    l1,
    l2,
    positive,
    limit,
    most_sweeps,
    stop,
    u,
    along,
    w,
):
    """Sweep over these columns until no sign changes and no move exceeds the limit.

    Return (along, whether that was reached); u and w are changed in place.
    """
    for _ in range(most_sweeps):
        if stop[0]:
            break
        along, most, changed = sweep(
            start, place, value, mean, squares, columns, l1, l2, positive, u, along, w
        )
        if most <= limit and not changed:
            return along, True
    return along, False
