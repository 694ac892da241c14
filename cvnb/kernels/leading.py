"""Candidates for the nearest rows in the first columns, for several numbers of columns.

A squared distance in n columns is that in n - 1 and one more square, and the rows that were near
in fewer columns bound the distance of the nearest ones in more.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SAME = 1e-12  # as in neighbours.py
ROUNDING = 2.0**-49
BLOCK = 16  # keys that are compared together


@njit(cache=True, nogil=True)
def candidates(Q, columns, counts, length, found, last):
    """Fill found[s, t] with all rows that may be among the `length` nearest to Q[t], or tied.

    columns  [column, row]
    counts   numbers of leading columns, increasing
    found    row numbers, increasing, then -1
    last     [s, t]: every row nearer than this is in found[s, t]; 0 where there is no room for all
    """
    n = columns.shape[1]
    keys = np.full((n + BLOCK - 1) // BLOCK * BLOCK, np.nan)  # of blocks; none beyond n
    near, top = np.empty(keys.size + 1, dtype=np.int64), np.empty(length)
    for t in range(Q.shape[0]):
        keys[:n] = 0.0
        near[:length] = np.arange(length)
        n_near, square, c = length, 0.0, 0
        for s in range(counts.size):
            while c < counts[s]:
                _add_square(columns[c], Q[t, c], keys)
                square += Q[t, c] ** 2
                c += 1
            slack = (2 * c + 16) * 2.0**-53
            blur = ROUNDING * np.sqrt(square)
            bound = 0.0
            for a in range(n_near):
                bound = max(bound, keys[near[a]])
            n_near = _up_to(keys, _wider(bound, slack, blur), near)
            _smallest(keys, near, n_near, top)
            limit, n_kept = _wider(top[-1], slack, blur), 0
            for a in range(n_near):  # no branch
                i = near[a]
                near[n_kept] = i
                n_kept += keys[i] <= limit
            n_near = n_kept
            found[s, t] = -1
            last[s, t] = 0.0
            if n_near <= found.shape[2]:
                found[s, t, :n_near] = near[:n_near]
                last[s, t] = np.sqrt(limit * (1.0 - slack))


@njit(cache=True, nogil=True)
def _add_square(column, x, keys):
    for i in range(column.size):
        gap = column[i] - x
        keys[i] += gap * gap


@njit(cache=True, nogil=True)
def _wider(key, slack, blur):
    """Return a key that rows tied with one at this key, and rows tied with those, do not exceed."""
    distance = np.sqrt(key)
    farther = distance + 3.0 * (SAME * distance + blur)
    return max(farther * farther * (1.0 + 8.0 * slack), 1e-300)


@njit(cache=True, nogil=True)
def _up_to(keys, limit, near):
    """Fill near with the numbers of keys up to a limit, in order; return how many."""
    n_near = 0
    for start in range(0, keys.size, BLOCK):
        n_below = 0
        for i in range(start, start + BLOCK):
            n_below += keys[i] <= limit
        if n_below:
            for i in range(start, start + BLOCK):  # no branch
                near[n_near] = i
                n_near += keys[i] <= limit
    return n_near


@njit(cache=True, nogil=True)
def _smallest(keys, near, n_near, top):
    """Fill top with the smallest of keys[near[:n_near]], in order."""
    top[:] = np.inf
    for a in range(n_near):
        key, b = keys[near[a]], top.size - 1
        if key >= top[b]:
            continue
        while b > 0 and top[b - 1] > key:
            top[b] = top[b - 1]
            b -= 1
        top[b] = key
