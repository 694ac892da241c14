"""Logistic regression along rising C: Newton's steps, each C started where the one before ended.

    minimise   C sum_i w_i loss(y_i, x_i'beta + b) + |beta|^2 / 2

The last column of X is all ones where there is an intercept b, which is not penalised. A step that does not lower the objective
is halved. What is left is measured by the gradient in the metric of the second derivatives, g'H^-1 g: twice what the objective
is above its minimum, near it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, UNENDED, SINGULAR = 0, 1, 2
STEPS = 200
NEAR = 1e-14  # g'H^-1 g beside the objective before the last step, which leaves about the square of that
FLAT = 1e-15  # share of the objective that rounding moves


@njit(cache=True, nogil=True, error_model="numpy")
def solve(H, g):
    """Replace g by H^-1 g, H's lower part by its Cholesky factor; whether H is positive definite."""
    p = g.size
    for i in range(p):
        own, size = H[i], H[i, i]
        for k in range(i):
            other, along = H[k], own[k]
            for c in range(k):
                along -= own[c] * other[c]
            own[k] = along / other[k]
            own[i] -= own[k] * own[k]
        if not own[i] > 1e-14 * size:
            return False
        own[i] = np.sqrt(own[i])
        along = g[i]
        for c in range(i):
            along -= own[c] * g[c]
        g[i] = along / own[i]
    for i in range(p - 1, -1, -1):
        g[i] /= H[i, i]
        for c in range(i):
            g[c] -= H[i, c] * g[i]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def look(X, y, w, beta, C, n_penalised, z, r, v):
    """The objective at beta, with r the first and v the second derivatives of the loss by z = X beta."""
    np.dot(X, beta, z)
    total = 0.0
    for i in range(z.size):
        e = np.exp(-abs(z[i]))
        share = 1.0 / (1.0 + e)
        p = share if z[i] >= 0.0 else e * share
        loss = np.log1p(e) + (max(z[i], 0.0) - y[i] * z[i])
        r[i], v[i] = w[i] * (p - y[i]), w[i] * (e * share * share)
        total += w[i] * loss
    square = 0.0
    for c in range(n_penalised):
        square += beta[c] * beta[c]
    return C * total + 0.5 * square


@njit(cache=True, nogil=True, error_model="numpy")
def two_classes(X, y, w, Cs, intercept, stop, out):
    """Fill out[s] with the coefficients for Cs[s], which rise; y is 0 or 1. How it went."""
    n, p = X.shape
    n_penalised = p - 1 if intercept else p
    beta, new, step = np.zeros(p), np.empty(p), np.empty(p)
    z, r, v, A, H = np.empty(n), np.empty(n), np.empty(n), np.empty((n, p)), np.empty((p, p))
    for s in range(Cs.size):
        C = Cs[s]
        value, ended = look(X, y, w, beta, C, n_penalised, z, r, v), False
        for _ in range(STEPS):
            if stop[0]:
                return FINE
            for i in range(n):
                root, a, x = np.sqrt(C * v[i]), A[i], X[i]
                for c in range(p):
                    a[c] = root * x[c]
            np.dot(A.T, A, H)
            np.dot(X.T, r, step)
            for c in range(p):
                step[c] *= C
            for c in range(n_penalised):
                H[c, c] += 1.0
                step[c] += beta[c]
            new[:] = step
            if not solve(H, step):
                return SINGULAR
            left = 0.0
            for c in range(p):
                left += new[c] * step[c]
            share = 1.0
            while True:
                for c in range(p):
                    new[c] = beta[c] - share * step[c]
                found = look(X, y, w, new, C, n_penalised, z, r, v)
                if found <= value + FLAT * abs(value) or share < 1e-8:
                    break
                share *= 0.5
            beta[:] = new
            value = found
            if left <= NEAR * (1.0 + abs(value)):
                ended = True
                break
        if not ended:
            return UNENDED
        out[s] = beta
    return FINE


@njit(cache=True, nogil=True, error_model="numpy")
def look_at_all(X, y, w, B, C, n_penalised, Z, P):
    """The objective at B [classes, p], with P the probabilities of the classes."""
    n, n_classes = P.shape
    np.dot(X, B.T, Z)
    total = 0.0
    for i in range(n):
        z, own, most = Z[i], P[i], Z[i, 0]
        for k in range(1, n_classes):
            most = max(most, z[k])
        size = 0.0
        for k in range(n_classes):
            own[k] = np.exp(z[k] - most)
            size += own[k]
        for k in range(n_classes):
            own[k] /= size
        total += w[i] * (np.log(size) + most - z[y[i]])
    square = 0.0
    for k in range(n_classes):
        for c in range(n_penalised):
            square += B[k, c] * B[k, c]
    return C * total + 0.5 * square


@njit(cache=True, nogil=True, error_model="numpy")
def many_classes(X, y, w, Cs, intercept, n_classes, stop, out):
    """The same for more classes, y their codes: out[s] is [classes, p]. Intercepts, free up to a constant, sum to zero."""
    n, p = X.shape
    n_penalised, size = (p - 1 if intercept else p), n_classes * p
    B, new, Z, P = np.zeros((n_classes, p)), np.empty((n_classes, p)), np.empty((n, n_classes)), np.empty((n, n_classes))
    A, block, H, g, step = np.empty((n, p)), np.empty((p, p)), np.empty((size, size)), np.empty(size), np.empty(size)
    r, weight = np.empty((n, n_classes)), w.sum()
    for s in range(Cs.size):
        C, ended = Cs[s], False
        value = look_at_all(X, y, w, B, C, n_penalised, Z, P)
        for _ in range(STEPS):
            if stop[0]:
                return FINE
            for i in range(n):
                for k in range(n_classes):
                    r[i, k] = w[i] * (P[i, k] - (1.0 if y[i] == k else 0.0))
            G = np.dot(r.T, X)
            for k in range(n_classes):
                for c in range(p):
                    g[k * p + c] = C * G[k, c] + (B[k, c] if c < n_penalised else 0.0)
                for m in range(k + 1):
                    for i in range(n):
                        by, a, x = C * w[i] * P[i, k] * ((1.0 if k == m else 0.0) - P[i, m]), A[i], X[i]
                        for c in range(p):
                            a[c] = by * x[c]
                    np.dot(X.T, A, block)
                    for c in range(p):
                        for d in range(p):
                            H[k * p + c, m * p + d] = block[c, d]
                for c in range(n_penalised):
                    H[k * p + c, k * p + c] += 1.0
            if intercept:
                for k in range(n_classes):
                    for m in range(k + 1):
                        H[k * p + p - 1, m * p + p - 1] += C * weight / (n_classes * n_classes)
            step[:] = g
            if not solve(H, step):
                return SINGULAR
            left, share = 0.0, 1.0
            for c in range(size):
                left += g[c] * step[c]
            while True:
                for k in range(n_classes):
                    for c in range(p):
                        new[k, c] = B[k, c] - share * step[k * p + c]
                found = look_at_all(X, y, w, new, C, n_penalised, Z, P)
                if found <= value + FLAT * abs(value) or share < 1e-8:
                    break
                share *= 0.5
            B[:] = new
            value = found
            if left <= NEAR * (1.0 + abs(value)):
                ended = True
                break
        if not ended:
            return UNENDED
        out[s] = B
    return FINE
