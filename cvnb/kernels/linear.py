"""Ridge from sums over rows, which `linear_rows` explains: the coefficients of every penalty from one factorisation.

Householder's reduction to a tridiagonal T = Q'GQ is done once per training part, and each penalty costs O(p) more per target.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, CANCELLED, ILL, DISTANT = 0, 1, 2, 3  # how a fit went
EPS = np.finfo(np.float64).eps
TINY = 1e-300
SINGULAR = 1e-10  # eigenvalues of a scaled Gram matrix with its penalty: too small for a solution
EXACT = 1e-11  # and without the penalty: zero but for rounding
LEVERAGE = 1e-4  # what a row may leave to the others of its own fit
KEPT = 1e-3  # share of a sum of squares that has to be left after the mean has been taken out
FAR = 3e6  # spreads away from zero: from there on the rounding of a column itself shows in nine digits
DEPENDENT = 1e-5  # share of a dependent column that a penalty must have for the rounding of the dependence not to show
PART = 1e7  # how much the variance of a coefficient grows where its column takes part in a dependence
LEAST, MOST = 1e-130, 1e130  # squares of which products neither vanish nor overflow


@njit(cache=True, nogil=True, error_model="numpy")
def tridiagonalise(G, d, e, V, tau):
    """Fill d, e with the diagonals of T = Q'GQ and V, tau with the reflectors of Q; G (symmetric) is lost.

    Where tau[k] is 0 there is no reflector, and V[k] is not filled.
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
    """B - tau v (v'B), in place; v belongs to the last v.size rows of B."""
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
    """b - tau v (v'b), in place; v belongs to the last v.size numbers of b."""
    tail, along = b[b.size - v.size :], 0.0
    for i in range(v.size):
        along += v[i] * tail[i]
    along *= tau
    for i in range(v.size):
        tail[i] -= along * v[i]


@njit(cache=True, nogil=True, error_model="numpy")
def n_below(d, e, alpha, g, share):
    """How many x have det(T + alpha I - x diag(g + alpha)) = 0 and x <= share: signs of pivots (Sylvester)."""
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
        for s in range(n):
            z[0, at + s] = B[c, 0]
        for i in range(1, p):
            zi, above, share, ei, bi = (
                z[i][at:],
                z[i - 1][at:],
                inverse[i - 1],
                e[i - 1],
                B[c, i],
            )
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
    """Fill order with the positions of the diagonal's values from the largest on, equal ones as they stand."""
    for i in range(G.shape[0]):
        at, k = i, i
        while k > 0 and G[order[k - 1], order[k - 1]] < G[at, at]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = at
    return order


@njit(cache=True, nogil=True, error_model="numpy")
def largest_dependent(G):
    """The largest diagonal value of G among columns that depend on each other: whose variance inflates without bound."""
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
        if not C[i, i] < PART:
            largest = max(largest, G[i, i])
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def reduce(G, b, alphas, near, order, d, e, V, tau, B, seen):
    """Fill order, d, e, V, tau with T = Q'GQ and B with b'Q, G and b in that order; FINE, or ILL where digits would be lost.

    With the diagonal in decreasing order Householder's reduction keeps small columns as exact as large ones, so that what
    counts is how nearly collinear the columns are, whatever their units: x, the eigenvalues of G with its diagonal scaled to 1.
    With the penalty none may be below SINGULAR, nor below `near` unless it is zero without; and then, as for copies of columns,
    the penalty must be DEPENDENT of the largest column that takes part. seen[0] becomes at most the smallest x above zero.
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
    alpha, harmless = alphas[0], 0
    for s in range(1, alphas.size):
        alpha = min(alpha, alphas[s])
    for i in range(p):
        if g[i] > MOST or 0.0 < g[i] + alpha < LEAST:
            return ILL
        if g[i] <= EXACT * alpha:
            harmless += 1  # a constant column stands apart from all others
    singular = n_below(d, e, 0.0, g, EXACT)
    if (
        n_below(d, e, alpha, g, SINGULAR) > 0
        or n_below(d, e, alpha, g, near) > singular
    ):
        return ILL
    if (
        singular > harmless
        and alpha < DEPENDENT * g[0]
        and alpha < DEPENDENT * largest_dependent(G)
    ):
        return ILL
    x = 0.1
    while x > near and n_below(d, e, alpha, g, x) > singular:
        x *= 0.1
    seen[0] = min(seen[0], x)
    for k in range(p - 1):
        for c in range(B.shape[0] if tau[k] != 0.0 else 0):
            reflect_row(V[k][k + 1 :], tau[k], B[c])
    return FINE


@njit(cache=True, nogil=True, error_model="numpy")
def back(V, tau, B):
    """Q B, in place."""
    for k in range(B.shape[0] - 2, -1, -1):
        if tau[k] != 0.0:
            reflect(V[k][k + 1 :], tau[k], B)


@njit(cache=True, nogil=True, error_model="numpy")
def centred_products(
    total, p, n_targets, centre, intercept, scaled, m, scale, G, b, seen
):
    """Fill G, b with the products of the columns as the model sees them, (x - centre - m) * scale; how it went.

    CANCELLED: too little of a sum of squares is left after the mean. DISTANT: a mean is so far from zero that the rounding of
    its column shows in nine digits, where an intercept centres what no scaler has scaled, or the other way round. seen[1]
    becomes at least how many spreads such a column is away from zero.
    """
    q = p + 1 + n_targets
    n, W, s = total[-1], total[p * q + p], total[p * q :]
    first, second = total[q * q :], total[q * q + p :]
    for c in range(p):
        m[c], scale[c] = 0.0, 1.0
        if scaled:
            m[c] = first[c] / n
            square = second[c] / n
            variance, mean = square - m[c] * m[c], centre[c] + m[c]
            if variance < KEPT * square:
                return CANCELLED
            if variance > n * EPS * variance + (n * mean * EPS) ** 2:
                scale[c] = 1.0 / np.sqrt(variance)
        if intercept:
            m[c] = s[c] / W
    for i in range(p):
        row, left = total[i * q :], s[i] - W * m[i]
        for c in range(i + 1):
            G[i, c] = scale[i] * scale[c] * (row[c] - m[i] * s[c] - left * m[c])
            G[c, i] = G[i, c]
        if (scaled or intercept) and G[i, i] < KEPT * scale[i] * scale[i] * row[i]:
            return CANCELLED
        if scaled != intercept:
            variance, mean = G[i, i] / (W * scale[i] * scale[i]), abs(centre[i] + m[i])
            if (
                variance > 0.0
            ):  # of a constant column it is 0 exactly: so exact is the centre of its part
                if variance < (mean / FAR) ** 2:
                    return DISTANT
                seen[1] = max(seen[1], mean / np.sqrt(variance))
            elif (
                scaled and mean > FAR
            ):  # what scikit-learn's rounded mean leaves of a constant is an intercept
                return DISTANT
        for c in range(n_targets):
            b[i, c] = scale[i] * (
                total[(p + 1 + c) * q + i] - m[i] * total[(p + 1 + c) * q + p]
            )
    for c in range(n_targets if intercept else 0):
        y = total[(p + 1 + c) * q :]
        if y[p + 1 + c] - y[p] * y[p] / W < KEPT * y[p + 1 + c]:
            return CANCELLED
    return FINE


@njit(cache=True, nogil=True, error_model="numpy")
def ridge_of_blocks(
    outside,
    blocks,
    p,
    n_targets,
    centre,
    level,
    intercept,
    scaled,
    alphas,
    near,
    stop,
    coefs,
    how,
    seen,
):
    """Fill coefs[i][:, target * setting] of [x - centre, 1] with the models of outside + all blocks but i, for i < len(coefs).

    Each training part is a sum of what belongs to it, outside + before + after. how[i] tells how it went, and seen[i] how
    many digits are left: (smallest eigenvalue of a scaled Gram matrix, spreads away from zero).
    """
    n, width = blocks.shape
    q, n_alphas = p + 1 + n_targets, alphas.size
    after, before, total = np.zeros((n + 1, width)), np.zeros(width), np.empty(width)
    m, scale, G, b = (
        np.empty(p),
        np.empty(p),
        np.empty((p, p)),
        np.empty((p, n_targets)),
    )
    order, d, e, V, tau = (
        np.empty(p, np.int64),
        np.empty(p),
        np.zeros(p),
        np.empty((p, p)),
        np.zeros(p),
    )
    B, z = np.empty((n_targets, p)), np.empty((p, n_targets * n_alphas))
    for i in range(n - 1, -1, -1):
        for c in range(width):
            after[i, c] = after[i + 1, c] + blocks[i, c]
    for i in range(coefs.shape[0]):
        if stop[0]:
            return
        for c in range(width):
            total[c] = outside[c] + (before[c] + after[i + 1 if i < n else n, c])
        for c in range(width if i < n else 0):
            before[c] += blocks[i, c]
        how[i] = centred_products(
            total, p, n_targets, centre, intercept, scaled, m, scale, G, b, seen[i]
        )
        if how[i] == FINE:
            how[i] = reduce(G, b, alphas, near, order, d, e, V, tau, B, seen[i])
        if how[i] != FINE:
            continue
        solve_tridiagonal(d, e, B, alphas, z)
        back(V, tau, z)
        own = coefs[i]
        last = own[p]
        for c in range(n_targets):
            mean = level[c]
            if intercept:
                mean += total[(p + 1 + c) * q + p] / total[p * q + p]
            for s in range(n_alphas):
                last[c * n_alphas + s] = mean
        for r in range(p):
            row, own_row, by, off = z[r], own[order[r]], scale[order[r]], m[order[r]]
            for s in range(row.size):
                own_row[s] = by * row[s]
                last[s] -= off * own_row[s]


@njit(cache=True, nogil=True, error_model="numpy")
def factor(
    total,
    p,
    n_targets,
    centre,
    intercept,
    alphas,
    near,
    shift,
    turn,
    lower,
    pivots,
    f,
    seen,
):
    """How (G + alpha I)^-1 acts on a row of the part whose sums these are; how it went.

    u = (x - centre) @ turn - shift                     G + alpha I = turn (L D L') turn'
    lower[s], pivots[s], f[s, target]                   L below its diagonal, D, and D^-1 L^-1 turn' b for alphas[s]
    """
    m, scale, G, b = (
        np.empty(p),
        np.empty(p),
        np.empty((p, p)),
        np.empty((p, n_targets)),
    )
    order, d, e, V, tau = (
        np.empty(p, np.int64),
        np.empty(p),
        np.zeros(p),
        np.empty((p, p)),
        np.zeros(p),
    )
    B, scaled = (
        np.empty((n_targets, p)),
        alphas.size < 0,
    )  # a constant would be compiled apart
    how = centred_products(
        total, p, n_targets, centre, intercept, scaled, m, scale, G, b, seen
    )
    if how == FINE:
        how = reduce(G, b, alphas, near, order, d, e, V, tau, B, seen)
    if how != FINE:
        return how
    Q = np.zeros((p, p))
    for i in range(p):
        Q[i, i] = 1.0
    back(V, tau, Q)
    shift[:] = 0.0
    for i in range(p):
        for c in range(p):
            turn[order[i], c] = Q[i, c]
            shift[c] += m[order[i]] * Q[i, c]
    for s in range(alphas.size):
        lower[s, 0], pivots[s, 0] = 0.0, d[0] + alphas[s]
        for i in range(1, p):
            lower[s, i] = e[i - 1] / pivots[s, i - 1]
            pivots[s, i] = d[i] + alphas[s] - lower[s, i] * e[i - 1]
        for c in range(n_targets):
            v = 0.0
            for i in range(p):
                v = B[c, i] - lower[s, i] * v
                f[s, c, i] = v / pivots[s, i]
    return FINE


@njit(cache=True, nogil=True, error_model="numpy")
def left_out(
    U, rows, Y, root, means, total_weight, shift, lower, pivots, f, out, alone
):
    """Fill out[t, target * setting] with what the model of all rows but rows[t] says of that row, U[:, t] being its u + shift.

    y - e, e = (y - fit) / (1 - h), h the share of a row in its own fit: one walk v = L^-1 u gives both. alone[t] is set where
    h leaves too little of 1 for that. means: what the fit adds to u'f; total_weight: of all rows, or inf without an intercept.
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
