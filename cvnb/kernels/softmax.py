"""Rows of a logistic regression between two matrix products: decisions in, weights out.

Z [settings, sets, n] holds decisions: one set for two classes, otherwise one per class.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def lower(Z, top, E):
    """Fill E with Z minus its largest value over the classes, `top`; for one set with -|Z|."""
    n_settings, n_sets, n = Z.shape
    for s in range(n_settings):
        if n_sets == 1:
            for i in range(n):
                E[s, 0, i] = -abs(Z[s, 0, i])
            continue
        most = top[s]
        most[:] = -np.inf
        for k in range(n_sets):
            for i in range(n):
                most[i] = max(most[i], Z[s, k, i])
        for k in range(n_sets):
            for i in range(n):
                E[s, k, i] = Z[s, k, i] - most[i]


@njit(cache=True, nogil=True, error_model="numpy")
def residuals(Z, top, E, y, w, P, losses, curved):
    """Turn E, the exponentials of what `lower` returns, into first derivatives by Z.

    P       filled with the probabilities; for one set with p (1 - p)
    losses  filled with the loss of each setting
    curved  filled with the sum of the second derivatives by Z
    """
    n_settings, n_sets, n = Z.shape
    size = np.empty(n)
    for s in range(n_settings):
        loss = curve = 0.0
        if n_sets == 1:
            for i in range(n):
                z, e = Z[s, 0, i], E[s, 0, i]
                p = 1.0 / (1.0 + e)
                loss += w[i] * (np.log1p(e) + max(z, 0.0) - y[i] * z)
                P[s, 0, i] = e * p * p
                curve += w[i] * (e * p * p)
                E[s, 0, i] = w[i] * ((p if z >= 0.0 else e * p) - y[i])
        else:
            size[:] = 0.0
            for k in range(n_sets):
                for i in range(n):
                    size[i] += E[s, k, i]
            for i in range(n):
                loss += w[i] * (np.log(size[i]) + top[s, i] - Z[s, y[i], i])
                size[i] = 1.0 / size[i]
            for k in range(n_sets):
                for i in range(n):
                    p = E[s, k, i] * size[i]
                    P[s, k, i] = p
                    curve += w[i] * p * (1.0 - p)
                    E[s, k, i] = w[i] * p
            for i in range(n):
                E[s, y[i], i] -= w[i]
        losses[s], curved[s] = loss, curve


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def bend(P, w, which, A):
    """Replace changes A of the decisions by those of the first derivatives.

    A[l] belongs to the setting which[l] of P.
    """
    n_live, n_sets, n = A.shape
    mean = np.empty(n, A.dtype)
    for a in range(n_live):
        shares, own = P[which[a]], A[a]
        if n_sets == 1:
            for i in range(n):
                own[0, i] *= w[i] * shares[0, i]
            continue
        mean[:] = 0.0
        for k in range(n_sets):
            for i in range(n):
                mean[i] += shares[k, i] * own[k, i]
        for k in range(n_sets):
            for i in range(n):
                own[k, i] = w[i] * shares[k, i] * (own[k, i] - mean[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def advance(by, ridge, D, d, h, rho, x, r, left, steps):
    """Take a step of conjugate gradients along d, where the curvature is by h + ridge D d.

    x, r  solutions and residuals
    left  grows by twice what the step gains
    """
    n_live, n_sets, q = d.shape
    for a in range(n_live):
        scale, low = h.dtype.type(by[a]), h.dtype.type(ridge[a])
        bent = h.dtype.type(0.0)
        for k in range(n_sets):
            along, own = d[a, k], h[a, k]
            for c in range(q):
                own[c] = scale * own[c] + low * D[c] * along[c]
                bent += own[c] * along[c]
        steps[a] = rho[a] / bent if bent > 0.0 else 0.0
        left[a] += steps[a] * rho[a]
        step = h.dtype.type(steps[a])
        for k in range(n_sets):
            for c in range(q):
                x[a, k, c] += step * d[a, k, c]
                r[a, k, c] -= step * h[a, k, c]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def turn(r, z, d, rho):
    """Turn d to the next direction, from the preconditioned residuals z, which are centred."""
    n_live, n_sets, q = d.shape
    mean = np.empty(q, z.dtype)
    for a in range(n_live):
        if n_sets > 1:
            mean[:] = 0.0
            for k in range(n_sets):
                for c in range(q):
                    mean[c] += z[a, k, c]
            for c in range(q):
                mean[c] /= z.dtype.type(n_sets)
            for k in range(n_sets):
                for c in range(q):
                    z[a, k, c] -= mean[c]
        new = z.dtype.type(0.0)
        for k in range(n_sets):
            for c in range(q):
                new += r[a, k, c] * z[a, k, c]
        share = z.dtype.type(new / rho[a] if rho[a] > 0.0 else 0.0)
        rho[a] = new
        for k in range(n_sets):
            for c in range(q):
                d[a, k, c] = z[a, k, c] + share * d[a, k, c]
