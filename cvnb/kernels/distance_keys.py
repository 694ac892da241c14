"""Keys of distances by exact sums over columns, added in the order of NumPy's sum.

Up to 128 columns the distances equal np.sqrt(((x - z) ** 2).sum()) bit for bit, and a pair of rows
has the same distance wherever it is computed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI, COSINE = range(5)  # as in neighbours.py
TILE = 512  # columns of a tile of keys, which stays in the first cache


@njit(cache=True, nogil=True)
def fill_keys(Q, columns, metric, power, keys):
    """Fill keys[t, i] with the sum over c of |Q[t, c] - columns[c, i]| ** power.

    For Chebyshev distances it is the largest of the differences.
    """
    n_columns, n = columns.shape
    whole = n_columns - n_columns % 8 if n_columns >= 8 and metric != CHEBYSHEV else 0
    sums = np.empty((8, TILE))
    for start in range(0, n, TILE):
        width = min(TILE, n - start)
        for t in range(Q.shape[0]):
            out = keys[t, start : start + width]
            out[:] = 0.0
            if whole:
                sums[:] = 0.0
                for c in range(whole):
                    column = columns[c, start : start + width]
                    _add(column, Q[t, c], metric, power, sums[c % 8])
                for i in range(width):
                    low = (sums[0, i] + sums[1, i]) + (sums[2, i] + sums[3, i])
                    high = (sums[4, i] + sums[5, i]) + (sums[6, i] + sums[7, i])
                    out[i] = low + high
            for c in range(whole, n_columns):
                column = columns[c, start : start + width]
                _add(column, Q[t, c], metric, power, out)


@njit(cache=True, nogil=True)
def _add(column, x, metric, power, out):
    """Add the term of one column to out; for Chebyshev distances keep the larger."""
    if metric in (EUCLIDEAN, COSINE):
        for i in range(column.size):
            gap = column[i] - x
            out[i] += gap * gap
    elif metric == MANHATTAN:
        for i in range(column.size):
            out[i] += abs(column[i] - x)
    elif metric == CHEBYSHEV:
        for i in range(column.size):
            gap = abs(column[i] - x)
            out[i] = gap if gap > out[i] else out[i]
    else:
        for i in range(column.size):
            out[i] += abs(column[i] - x) ** power


@njit(cache=True, nogil=True)
def fill_found(Q, T, n_columns, found, metric, power, keys):
    """Fill keys[t, a] with the key of Q[t] and row found[t, a] of T, in the first n_columns.

    Numbers below 0 are no rows, and have no key.
    """
    squared = metric in (EUCLIDEAN, COSINE)
    whole = n_columns - n_columns % 8 if n_columns >= 8 and squared else 0
    sums = np.empty(8)
    for t in range(found.shape[0]):
        for a in range(found.shape[1]):
            i, key = found[t, a], 0.0
            if i < 0:
                continue
            if whole:
                sums[:] = 0.0
                for c in range(0, whole, 8):
                    for k in range(8):
                        gap = Q[t, c + k] - T[i, c + k]
                        sums[k] += gap * gap
                low = (sums[0] + sums[1]) + (sums[2] + sums[3])
                key = low + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
            for c in range(whole, n_columns):
                gap = abs(T[i, c] - Q[t, c])
                if squared:
                    key += gap * gap
                elif metric == MANHATTAN:
                    key += gap
                elif metric == CHEBYSHEV:
                    key = max(key, gap)
                else:
                    key += gap**power
            keys[t, a] = key
