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
NEAR = 1e-15  # g'H^-1 g before the last step, which leaves a hundredth of it or less
FLAT = 1e-15  # share of the objective that rounding moves


@njit(cache=True, nogil=True, error_model="numpy")
def factor(H):
    """Replace H's lower part by its Cholesky factor; whether it is positive definite."""
    for i in range(H.shape[0]):
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
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def solve(L, g):
    """Replace g by (L L')^-1 g."""
    p = g.size
    for i in range(p):
        along = g[i]
        for c in range(i):
            along -= L[i, c] * g[c]
        g[i] = along / L[i, i]
    for i in range(p - 1, -1, -1):
        g[i] /= L[i, i]
        for c in range(i):
            g[c] -= L[i, c] * g[i]


@njit(cache=True, nogil=True, error_model="numpy")
def slopes(y, w, z, r, v):
    """The first and second derivatives of the loss by z."""
    for i in range(z.size):
        e = np.exp(-abs(z[i]))
        share = 1.0 / (1.0 + e)
        r[i] = w[i] * ((share if z[i] >= 0.0 else e * share) - y[i])
        v[i] = w[i] * (e * share * share)


@njit(cache=True, nogil=True, error_model="numpy")
def objective(y, w, z, beta, C, n_penalised):
    """C times the loss, and the penalty."""
    total, square = 0.0, 0.0
    for i in range(z.size):
        total += w[i] * (np.log1p(np.exp(-abs(z[i]))) + max(z[i], 0.0) - y[i] * z[i])
    for c in range(n_penalised):
        square += beta[c] * beta[c]
    return C * total + 0.5 * square


@njit(cache=True, nogil=True, error_model="numpy")
def damped(y, w, z, dz, beta, step, C, n_penalised, new, new_z):
    """The largest of 1, 1/2, 1/4, ... of the step that does not raise the objective."""
    value, share = objective(y, w, z, beta, C, n_penalised), 1.0
    while share > 1e-8:
        for c in range(beta.size):
            new[c] = beta[c] - share * step[c]
        for i in range(z.size):
            new_z[i] = z[i] - share * dz[i]
        if objective(y, w, new_z, new, C, n_penalised) <= value + FLAT * abs(value):
            break
        share *= 0.5
    return share


@njit(cache=True, nogil=True, error_model="numpy")
def curvature(X, v, C, n_penalised, A, H):
    """Fill H with the second derivatives of the objective; A is overwritten."""
    for i in range(v.size):
        root, a, x = np.sqrt(C * v[i]), A[i], X[i]
        for c in range(a.size):
            a[c] = root * x[c]
    np.dot(A.T, A, H)
    for c in range(n_penalised):
        H[c, c] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def go_along(X, L, by, n_penalised, step, dz, beta):
    """Move beta along the tangent of its path, d beta / d log C = H^-1 (beta, 0), unless some z would move by more than 2."""
    step[:] = 0.0
    for c in range(n_penalised):
        step[c] = beta[c]
    solve(L, step)
    np.dot(X, step, dz)
    if by * np.abs(dz).max() < 2.0:
        for c in range(beta.size):
            beta[c] += by * step[c]


@njit(cache=True, nogil=True, error_model="numpy")
def two_classes(X, y, w, Cs, intercept, stop, out):
    """Fill out[s] with the coefficients for Cs[s], which rise; y is 0 or 1. How it went.

    Each C begins where the tangent at the one before points to. The second derivatives are kept while each step leaves a
    hundredth of g'H^-1 g (chord steps). A step that moves no z by more than 1 cannot go too far; a longer one is looked after.
    """
    n, p = X.shape
    n_penalised = p - 1 if intercept else p
    beta, new, step, g = np.zeros(p), np.empty(p), np.empty(p), np.empty(p)
    z, dz, new_z, r, v = np.zeros(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    A, H = np.empty((n, p)), np.empty((p, p))
    for s in range(Cs.size):
        C, fresh, ended, before = Cs[s], False, False, np.inf
        if s > 0:
            go_along(X, H, np.log(C / Cs[s - 1]), n_penalised, step, dz, beta)
            np.dot(X, beta, z)
        for _ in range(STEPS):
            if stop[0]:
                return FINE
            slopes(y, w, z, r, v)
            if not fresh:
                curvature(X, v, C, n_penalised, A, H)
                if not factor(H):
                    return SINGULAR
            np.dot(X.T, r, g)
            for c in range(p):
                g[c] *= C
            for c in range(n_penalised):
                g[c] += beta[c]
            step[:] = g
            solve(H, step)
            left = 0.0
            for c in range(p):
                left += g[c] * step[c]
            if fresh and left > 0.01 * before:  # too slow: other second derivatives
                fresh, before = False, np.inf
                continue
            np.dot(X, step, dz)
            share = 1.0 if np.abs(dz).max() <= 1.0 else damped(y, w, z, dz, beta, step, C, n_penalised, new, new_z)
            for c in range(p):
                beta[c] -= share * step[c]
            for i in range(n):
                z[i] -= share * dz[i]
            fresh, before = share == 1.0, left
            if left <= NEAR:
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
            if not factor(H):
                return SINGULAR
            solve(H, step)
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
