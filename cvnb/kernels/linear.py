"""Ridge from sums over rows (see `linear_rows`): one factorisation serves every penalty.

Householder's reduction to a tridiagonal T = Q'GQ is done once per training part, and each
penalty costs O(p) more per target. cvnb/paths/linear/precision.py lists the thresholds and
turns the status of a fit into the verdict on it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, CANCELLED, ILL, DISTANT = 0, 1, 2, 3  # status of a fit
EPS = np.finfo(np.float64).eps
TINY = 1e-300  # in place of a pivot that is zero
# Eigenvalues of a scaled Gram matrix: too small to solve with the penalty, and zero but for
# rounding without it.
SINGULAR, EXACT = 1e-10, 1e-11
KEPT = 1e-3  # share of a sum of squares that must remain once the mean is taken out
FAR = 3e6  # spreads away from zero at which a column's rounding shows in nine digits
DEPENDENT = 1e-5  # share of a dependent column: a larger penalty hides its rounding
PART = 1e7  # variance inflation of a column that takes part in a dependence
LEAST, MOST = 1e-130, 1e130  # squares whose products neither vanish nor overflow


@njit(cache=True, nogil=True, error_model="numpy")
def tridiagonalise(G, d, e, V, tau):
    """Fill d, e with the diagonals of T = Q'GQ and V, tau with the reflectors of Q.

    G (symmetric) is overwritten. Where tau[k] is 0, V[k] holds no reflector.
    """
    p = G.shape[0]
    w = np.empty(p)
    for k in range(p - 1):
        x, v = G[k][k + 1 :], V[k][k + 1 :]
        d[k], e[k], tau[k], rest = G[k, k], x[0], 0.0, 0.0
        for i in range(1, x.size):
            rest += x[i] * x[i]
        if rest == 0.0:
            continue
        norm = np.sqrt(x[0] * x[0] + rest)
        e[k] = -norm if x[0] >= 0 else norm
        tau[k] = (e[k] - x[0]) / e[k]
        for i in range(x.size):
            v[i] = x[i] / (x[0] - e[k])
        v[0] = 1.0
        u = w[k + 1 :]
        u[:] = 0.0
        for i in range(v.size):
            row, by = G[k + 1 + i][k + 1 :], tau[k] * v[i]
            for c in range(u.size):
                u[c] += by * row[c]
        along = 0.0
        for i in range(v.size):
            along += u[i] * v[i]
        for i in range(v.size):
            u[i] -= 0.5 * tau[k] * along * v[i]
        for i in range(v.size):
            row, vi, ui = G[k + 1 + i][k + 1 :], v[i], u[i]
            for c in range(u.size):
                row[c] -= vi * u[c] + ui * v[c]
    d[p - 1] = G[p - 1, p - 1]


@njit(cache=True, nogil=True, error_model="numpy")
def reflect(v, tau, B):
    """Replace the last v.size rows of B by B - tau v (v'B)."""
    along = np.zeros(B.shape[1])
    start = B.shape[0] - v.size
    for i in range(v.size):
        row, vi = B[start + i], v[i]
        for c in range(along.size):
            along[c] += vi * row[c]
    for i in range(v.size):
        row, by = B[start + i], tau * v[i]
        for c in range(along.size):
            row[c] -= by * along[c]


@njit(cache=True, nogil=True, error_model="numpy")
def reflect_row(v, tau, b):
    """Replace the last v.size numbers of b by b - tau v (v'b)."""
    tail, along = b[b.size - v.size :], 0.0
    for i in range(v.size):
        along += v[i] * tail[i]
    along *= tau
    for i in range(v.size):
        tail[i] -= along * v[i]


@njit(cache=True, nogil=True, error_model="numpy")
def n_below(d, e, alpha, g, share):
    """Count the roots x <= share of det(T + alpha I - x diag(g + alpha)): signs of pivots
    (Sylvester)."""
    n, pivot, square = 0, 1.0, 0.0
    for i in range(d.size):
        pivot = d[i] + alpha - share * (g[i] + alpha) - square / pivot
        if pivot <= 0.0:
            n += 1
            pivot = min(pivot, -TINY)
        square = e[i] * e[i]
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def solve_tridiagonal(d, e, B, alphas, z):
    """Fill z[:, c * settings + s] with (T + alphas[s] I)^-1 B[c]."""
    p, n = d.size, alphas.size
    inverse = np.empty((p, n))
    for s in range(n):
        inverse[0, s] = 1.0 / (d[0] + alphas[s])
    for i in range(1, p):
        above, own, di, square = inverse[i - 1], inverse[i], d[i], e[i - 1] * e[i - 1]
        for s in range(n):
            own[s] = 1.0 / (di + alphas[s] - square * above[s])
    for c in range(B.shape[0]):
        at = c * n
        z[0, at : at + n] = B[c, 0]
        for i in range(1, p):
            zi, above, share = z[i][at:], z[i - 1][at:], inverse[i - 1]
            ei, bi = e[i - 1], B[c, i]
            for s in range(n):
                zi[s] = bi - ei * above[s] * share[s]
        for s in range(n):
            z[p - 1, at + s] *= inverse[p - 1, s]
        for i in range(p - 2, -1, -1):
            zi, below, share, ei = z[i][at:], z[i + 1][at:], inverse[i], e[i]
            for s in range(n):
                zi[s] = (zi[s] - ei * below[s]) * share[s]


@njit(cache=True, nogil=True, error_model="numpy")
def decreasing(G, order):
    """Fill order with the positions of G's diagonal values, largest first, equal ones in order."""
    for i in range(G.shape[0]):
        at, k = i, i
        while k > 0 and G[order[k - 1], order[k - 1]] < G[at, at]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = at


@njit(cache=True, nogil=True, error_model="numpy")
def largest_dependent(G):
    """Return the largest diagonal value of G among columns that depend on each other."""
    p = G.shape[0]
    C = np.empty((p, p))
    for i in range(p):
        for k in range(p):
            size = np.sqrt(max(G[i, i], 0.0) * max(G[k, k], 0.0))
            C[i, k] = G[i, k] / size if size > 0.0 else 0.0
        C[i, i] = 1.0 + 1.0 / (1e3 * PART)
    for k in range(p):  # the inverse, in place (Gauss and Jordan)
        pivot = 1.0 / C[k, k]
        C[k, k] = 1.0
        for c in range(p):
            C[k, c] *= pivot
        for i in range(p):
            if i != k:
                by = C[i, k]
                C[i, k] = 0.0
                for c in range(p):
                    C[i, c] -= by * C[k, c]
    largest = 0.0
    for i in range(p):
        if not C[i, i] < PART:  # its variance inflates without bound
            largest = max(largest, G[i, i])
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def smallest_eigenvalue(G, d, e, g, alphas, limit):
    """Return the smallest eigenvalue that counts, to a factor of 10; -1 if digits would be lost.

    That is of G + alpha I, its diagonal scaled to 1, for the smallest penalty. None may be below
    SINGULAR, nor below `limit` unless it is zero without the penalty. For such zeros (copies of
    columns) the penalty must be at least DEPENDENT of the largest column involved.
    """
    alpha, harmless = alphas[0], 0
    for s in range(1, alphas.size):
        alpha = min(alpha, alphas[s])
    for i in range(g.size):
        if g[i] > MOST or 0.0 < g[i] + alpha < LEAST:
            return -1.0
        if g[i] <= EXACT * alpha:
            harmless += 1  # a constant column depends on no other
    singular = n_below(d, e, 0.0, g, EXACT)
    near = n_below(d, e, alpha, g, limit) > singular
    if near or n_below(d, e, alpha, g, SINGULAR) > 0:
        return -1.0
    hardly = singular > harmless and alpha < DEPENDENT * g[0]
    if hardly and alpha < DEPENDENT * largest_dependent(G):
        return -1.0
    x = 0.1
    while x > limit and n_below(d, e, alpha, g, x) > singular:
        x *= 0.1
    return x


@njit(cache=True, nogil=True, error_model="numpy")
def reduce(G, b, alphas, limit, order, d, e, V, tau, B, conditioning):
    """Fill order, d, e, V, tau with T = Q'GQ of G in that order, B with b'Q; return a status.

    With the diagonal in decreasing order, Householder's reduction keeps small columns as
    exact as large ones. So the collinearity of the columns counts, whatever their units.
    conditioning[0] becomes at most the smallest eigenvalue that counts.
    """
    p = G.shape[0]
    decreasing(G, order)
    H, g = np.empty((p, p)), np.empty(p)
    for i in range(p):
        row, H_row = G[order[i]], H[i]
        for c in range(p):
            H_row[c] = row[order[c]]
        for c in range(B.shape[0]):
            B[c, i] = b[order[i], c]
        g[i] = max(row[order[i]], 0.0)
    tridiagonalise(H, d, e, V, tau)
    smallest = smallest_eigenvalue(G, d, e, g, alphas, limit)
    if smallest < 0.0:
        return ILL
    conditioning[0] = min(conditioning[0], smallest)
    for k in range(p - 1):
        for c in range(B.shape[0] if tau[k] != 0.0 else 0):
            reflect_row(V[k][k + 1 :], tau[k], B[c])
    return FINE


@njit(cache=True, nogil=True, error_model="numpy")
def back(V, tau, B):
    """Replace B by Q B."""
    for k in range(B.shape[0] - 2, -1, -1):
        if tau[k] != 0.0:
            reflect(V[k][k + 1 :], tau[k], B)


@njit(cache=True, nogil=True, error_model="numpy")
def scale_columns(total, q, centre, m, scale):
    """Fill m with the means and scale with the factors of a StandardScaler; return a status."""
    p = centre.size
    n, first, second = total[-1], total[q * q :], total[q * q + p :]
    for c in range(p):
        m[c] = first[c] / n
        square = second[c] / n
        variance, mean = square - m[c] * m[c], centre[c] + m[c]
        if variance < KEPT * square:
            return CANCELLED
        if variance > n * EPS * variance + (n * mean * EPS) ** 2:
            scale[c] = 1.0 / np.sqrt(variance)
    return FINE


@njit(cache=True, nogil=True, error_model="numpy")
def distance_of(variance, mean, scaled):
    """Return how many spreads a column is away from zero; -1 if its rounding shows."""
    if (
        variance > 0.0
    ):  # of a constant it is exactly 0, as the centre of its part is exact
        return -1.0 if variance < (mean / FAR) ** 2 else mean / np.sqrt(variance)
    # scikit-learn's rounded mean leaves a rest of a constant, which acts as an intercept
    return -1.0 if scaled and mean > FAR else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def centred_gram(total, centre, intercept, scaled, m, scale, G, b, conditioning):
    """Fill G, b with the products of the columns (x - centre - m) * scale; return a status.

    CANCELLED: too little of a sum of squares is left after the mean is taken out. DISTANT: a
    column is so far from zero that its rounding shows in nine digits; this matters where an
    intercept centres what no scaler has scaled, or the other way round. conditioning[1] becomes
    at least how many spreads such a column is away from zero.
    """
    p, n_targets = b.shape
    q = p + 1 + n_targets
    W, s = total[p * q + p], total[p * q :]
    m[:] = 0.0
    scale[:] = 1.0
    if scaled and scale_columns(total, q, centre, m, scale) != FINE:
        return CANCELLED
    for i in range(p if intercept else 0):
        m[i] = s[i] / W
    for i in range(p):
        row, left = total[i * q :], s[i] - W * m[i]
        for c in range(i + 1):
            G[i, c] = scale[i] * scale[c] * (row[c] - m[i] * s[c] - left * m[c])
            G[c, i] = G[i, c]
        if (scaled or intercept) and G[i, i] < KEPT * scale[i] * scale[i] * row[i]:
            return CANCELLED
        if scaled != intercept:
            variance = G[i, i] / (W * scale[i] * scale[i])
            distance = distance_of(variance, abs(centre[i] + m[i]), scaled)
            if distance < 0.0:
                return DISTANT
            conditioning[1] = max(conditioning[1], distance)
        for c in range(n_targets):
            y = total[(p + 1 + c) * q :]
            b[i, c] = scale[i] * (y[i] - m[i] * y[p])
    for c in range(n_targets if intercept else 0):
        y = total[(p + 1 + c) * q :]
        if y[p + 1 + c] - y[p] * y[p] / W < KEPT * y[p + 1 + c]:
            return CANCELLED
    return FINE


@njit(cache=True, nogil=True, error_model="numpy")
def write_coefs(z, total, q, level, intercept, order, scale, m, coefs):
    """Fill coefs [p + 1, target * setting] with the solutions z of sorted, scaled columns."""
    p, n_targets = z.shape[0], level.size
    n_alphas, last = z.shape[1] // n_targets, coefs[p]
    for c in range(n_targets):
        mean = level[c]
        if intercept:
            mean += total[(p + 1 + c) * q + p] / total[p * q + p]
        last[c * n_alphas : (c + 1) * n_alphas] = mean
    for r in range(p):
        row, own, by, off = z[r], coefs[order[r]], scale[order[r]], m[order[r]]
        for s in range(row.size):
            own[s] = by * row[s]
            last[s] -= off * own[s]


@njit(cache=True, nogil=True, error_model="numpy")
def ridge_of_totals(
    totals,
    centre,
    level,
    intercept,
    scaled,
    alphas,
    limit,
    stop,
    coefs,
    status,
    conditioning,
):
    """Fill coefs[i] [p + 1, target * setting] of [x - centre, 1] with the models of the rows whose
    sums are totals[i].

    conditioning[i] becomes (smallest eigenvalue of a scaled Gram matrix, spreads away from zero).
    """
    p, n_targets, n_alphas = centre.size, level.size, alphas.size
    q = p + 1 + n_targets
    m, scale = np.empty(p), np.empty(p)
    G, b = np.empty((p, p)), np.empty((p, n_targets))
    order, d, e, tau = np.empty(p, np.int64), np.empty(p), np.zeros(p), np.zeros(p)
    V, B = np.empty((p, p)), np.empty((n_targets, p))
    z = np.empty((p, n_targets * n_alphas))
    for i in range(coefs.shape[0]):
        if stop[0]:
            return
        total, digits = totals[i], conditioning[i]
        status[i] = centred_gram(
            total, centre, intercept, scaled, m, scale, G, b, digits
        )
        if status[i] == FINE:
            status[i] = reduce(G, b, alphas, limit, order, d, e, V, tau, B, digits)
        if status[i] != FINE:
            continue
        solve_tridiagonal(d, e, B, alphas, z)
        back(V, tau, z)
        write_coefs(z, total, q, level, intercept, order, scale, m, coefs[i])


@njit(cache=True, nogil=True, error_model="numpy")
def reduce_sums(total, centre, n_targets, intercept, alphas, limit, conditioning):
    """Reduce the products of one part with these sums, unscaled.

    Return (status, m, order, Q, d, e, B), as `centred_gram` and `reduce` name them.
    """
    p = centre.size
    m, scale = np.empty(p), np.empty(p)
    G, b = np.empty((p, p)), np.empty((p, n_targets))
    order, d, e, tau = np.empty(p, np.int64), np.empty(p), np.zeros(p), np.zeros(p)
    V, B, Q = np.empty((p, p)), np.empty((n_targets, p)), np.eye(p)
    scaled = alphas.size < 0  # False; a constant would compile the kernel a second time
    status = centred_gram(
        total, centre, intercept, scaled, m, scale, G, b, conditioning
    )
    if status == FINE:
        status = reduce(G, b, alphas, limit, order, d, e, V, tau, B, conditioning)
    if status == FINE:
        back(V, tau, Q)
    return status, m, order, Q, d, e, B
