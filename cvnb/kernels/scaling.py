"""Standardisation inside a split."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def standardise(X, train, test, T, Q):
    """Fill T and Q with the rows `train` and `test` of X in units of the training rows' standard deviations.

    A column that is constant up to rounding gets scale 1, as in scikit-learn's StandardScaler.
    """
    n, n_columns = train.size, X.shape[1]
    mean, scale = np.zeros(n_columns), np.zeros(n_columns)
    for i in range(n):
        for c in range(n_columns):
            mean[c] += X[train[i], c]
    mean /= n
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
    for i in range(n):
        for c in range(n_columns):
            T[i, c] = (X[train[i], c] - mean[c]) / scale[c]
    for t in range(test.size):
        for c in range(n_columns):
            Q[t, c] = (X[test[t], c] - mean[c]) / scale[c]
