"""Leave-one-out predictions of ridge and least squares from one fit of all rows."""

from __future__ import annotations

import numpy as np
from numba import njit

# 1 - h of a row below which it is fitted without; see cvnb/paths/linear/precision.py
LEVERAGE = 1e-4


@njit(cache=True, nogil=True, error_model="numpy")
def factor(alphas, m, order, Q, d, e, B):
    """Factor G + alpha I, of which `linear.reduce_sums` gave T = Q'GQ, for every penalty.

    Return (turn, shift, lower, pivots, f):

    u = (x - centre) @ turn - shift                     G + alpha I = turn (L D L') turn'
    lower[s], pivots[s]    L below its diagonal, and D, for alphas[s]
    f[s, target]           D^-1 L^-1 turn' b
    """
    p, n = d.size, alphas.size
    shift, turn = np.zeros(p), np.empty((p, p))
    lower, pivots = np.empty((n, p)), np.empty((n, p))
    f = np.empty((n, B.shape[0], p))
    for i in range(p):
        for c in range(p):
            turn[order[i], c] = Q[i, c]
            shift[c] += m[order[i]] * Q[i, c]
    for s in range(n):
        lower[s, 0], pivots[s, 0] = 0.0, d[0] + alphas[s]
        for i in range(1, p):
            lower[s, i] = e[i - 1] / pivots[s, i - 1]
            pivots[s, i] = d[i] + alphas[s] - lower[s, i] * e[i - 1]
        for c in range(B.shape[0]):
            v = 0.0
            for i in range(p):
                v = B[c, i] - lower[s, i] * v
                f[s, c, i] = v / pivots[s, i]
    return turn, shift, lower, pivots, f


@njit(cache=True, nogil=True, error_model="numpy")
def left_out(
    U, rows, Y, root, means, total_weight, shift, lower, pivots, f, out, alone
):
    """Fill out[t, target * setting] with the prediction for rows[t] of the model of all others.

    It is y - e with e = (y - fit) / (1 - h), where h is the leverage of the row: one pass
    v = L^-1 u gives both. alone[t] is set where 1 - h is too small for that.

    U             [p, rows] u + shift of `factor`, which also returns shift, lower, pivots and f
    means         [targets] added to u'f
    total_weight  of all rows; inf without an intercept
    """
    p, n_rows = U.shape
    n, n_targets = lower.shape[0], f.shape[1]
    v, h, fit = np.empty(n_rows), np.empty(n_rows), np.empty((n_targets, n_rows))
    for s in range(n):
        v[:] = 0.0
        h[:] = 1.0 / total_weight
        fit[:] = 0.0
        for i in range(p):
            u, by, share, off = U[i], lower[s, i], 1.0 / pivots[s, i], shift[i]
            for t in range(n_rows):
                v[t] = u[t] - off - by * v[t]
                h[t] += share * v[t] * v[t]
            for c in range(n_targets):
                row, fi = fit[c], f[s, c, i]
                for t in range(n_rows):
                    row[t] += fi * v[t]
        for t in range(n_rows):
            left = 1.0 - h[t]
            if root.size:
                left = 1.0 - h[t] * root[rows[t]] * root[rows[t]]
            if left < LEVERAGE:
                alone[t], left = True, 1.0
            for c in range(n_targets):
                y = Y[rows[t], c]
                out[t, c * n + s] = y - (y - means[c] - fit[c, t]) / left
