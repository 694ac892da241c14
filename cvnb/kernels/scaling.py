"""Standardisation inside a split."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def moments(X, train, mean, scale):
    """Fill mean and scale as StandardScaler does.

    A column that is constant up to rounding has scale 1, as there.
    """
    n, n_columns = train.size, X.shape[1]
    mean[:] = 0.0
    scale[:] = 0.0
    for i in range(n):
        for c in range(n_columns):
            mean[c] += X[train[i], c]
    for c in range(n_columns):
        mean[c] /= n
    drift = np.zeros(n_columns)
    for i in range(n):
        for c in range(n_columns):
            gap = X[train[i], c] - mean[c]
            drift[c] += gap
            scale[c] += gap * gap
    eps = 2.0**-52
    for c in range(n_columns):
        variance = (scale[c] - drift[c] * drift[c] / n) / n
        constant = variance <= n * eps * variance + (n * mean[c] * eps) ** 2
        scale[c] = 1.0 if constant else np.sqrt(variance)


@njit(cache=True, nogil=True)
def columns(X, train, mean, scale, out):
    """Fill out[c, i] with the standardised columns of the training rows, further rows with 1."""
    p, n = X.shape[1], train.size
    for first in range(0, n, 64):  # in blocks of rows, so that X is read once
        last = min(first + 64, n)
        for c in range(p):
            for i in range(first, last):
                out[c, i] = (X[train[i], c] - mean[c]) / scale[c]
    out[p:] = 1.0


@njit(cache=True, nogil=True)
def standardise(X, train, test, T, Q):
    """Fill T and Q with the rows `train` and `test` of X, standardised by the training rows.

    Return the size of the numbers of each column, in its unit, before the mean was subtracted.
    """
    n_columns = X.shape[1]
    mean, scale, size = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns)
    moments(X, train, mean, scale)
    for i in range(train.size):
        for c in range(n_columns):
            T[i, c] = (X[train[i], c] - mean[c]) / scale[c]
    for t in range(test.size):
        for c in range(n_columns):
            Q[t, c] = (X[test[t], c] - mean[c]) / scale[c]
    for c in range(n_columns):
        size[c] = 1.0 + abs(mean[c]) / scale[c]
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def decide_all(X, mean, scale, B, out):
    """Fill out[t] with the decisions on row t by each column of B; equal rows get equal ones.

    If B has one row more than X has columns, it holds the intercepts.
    """
    p = X.shape[1]
    for t in range(len(X)):
        row = out[t]
        for i in range(row.size):
            row[i] = B[p, i] if len(B) > p else 0.0
        for c in range(p):
            x, by = (X[t, c] - mean[c]) / scale[c], B[c]
            for i in range(by.size):
                row[i] += x * by[i]
