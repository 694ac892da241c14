"""Logistic regression along rising C: Newton's steps, each C started from the extrapolated path.

    minimise   C sum_i w_i loss(y_i, B x_i) + sum_c D_c B_c^2 / 2

X is stored by columns, [p, n], y holds codes of classes, and B [sets, p] one set of coefficients
for two classes, otherwise one per class. D is zero for the intercept. Decisions are B x_i.

What is left to do is g'H^-1 g: near the minimum, twice the distance of the objective from it.
Second derivatives H are kept, scaled by C, from step to step and from C to C (chord steps), until
a step leaves more than SLOW of what was left. At the first C they are lent by a path nearby. A
step is the last if little will be left after it: the share that the step before left; with new
derivatives, the square of the largest move of a decision; with lent ones, an upper bound.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, UNENDED, SINGULAR = 0, 1, 2  # status of along_C
NONE, STEPS = -1.0, 200
NEAR = 1e-16  # weighted mean of the squares by which decisions may miss the minimum
MOST = 1e3  # times NEAR: the same for coefficients along which no row has curvature
SLOW = 1e-3  # share that a step may leave before new second derivatives are worth their cost
FLAT = 1e-15  # share of the objective that is rounding error
UPWARD = 0.1  # share of the slope at its start that a step may have, upward, at its end
FAR = 1.0  # a step is safe if it moves no decision by more than this
CHUNK = 256  # rows whose columns fit into the nearest cache
LOWEST, ROUND, PER_LOG2 = -700.0, 1.5 * 2.0**52, 1.0 / np.log(2.0)
LOG2, LOG2_REST = 0.693147180369123816490, 1.90821492927058770002e-10  # ln 2 and rest
T3, T4, T5, T6, T7 = 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
T8, T9, T10, T11, T12 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600


@njit(cache=True, nogil=True, error_model="numpy")
def exponentials(x, power, out):
    """Fill out with exp(x), x <= 0, up to one unit in the last place; power is overwritten.

    exp(x) = 2^n exp(r), 2^n by its bits: here one instruction handles several rows.
    """
    bits = power.view(np.int64)
    for i in range(x.size):
        a = max(x[i], LOWEST)
        power[i] = a * PER_LOG2 + ROUND
        n = power[i] - ROUND
        r = (a - n * LOG2) - n * LOG2_REST
        high = T7 + r * (T8 + r * (T9 + r * (T10 + r * (T11 + r * T12))))
        low = T3 + r * (T4 + r * (T5 + r * (T6 + r * high)))
        out[i] = 1.0 + r * (1.0 + r * (0.5 + r * low))
    for i in range(x.size):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(x.size):
        out[i] *= power[i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def decide(X, beta, a, b, z, new):
    """Write the decisions of rows a ... b - 1 into z; return how far one moved at most."""
    far, p, new[: b - a] = 0.0, beta.size, 0.0
    for c in range(0, p - p % 4, 4):
        x0, x1, x2, x3 = X[c, a:b], X[c + 1, a:b], X[c + 2, a:b], X[c + 3, a:b]
        by0, by1, by2, by3 = beta[c], beta[c + 1], beta[c + 2], beta[c + 3]
        for i in range(b - a):
            new[i] += by0 * x0[i] + by1 * x1[i] + by2 * x2[i] + by3 * x3[i]
    for c in range(p - p % 4, p):
        x, by = X[c, a:b], beta[c]
        for i in range(b - a):
            new[i] += by * x[i]
    for i in range(b - a):
        far = max(far, abs(new[i] - z[a + i]))
        z[a + i] = new[i]
    return far


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def add_products(X, a, b, r, g):
    """Add to g the products of all columns with r, over rows a ... b - 1."""
    p = g.size
    for c in range(0, p - p % 4, 4):
        x0, x1, x2, x3 = X[c, a:b], X[c + 1, a:b], X[c + 2, a:b], X[c + 3, a:b]
        t0 = t1 = t2 = t3 = 0.0
        for i in range(b - a):
            t0 += x0[i] * r[i]
            t1 += x1[i] * r[i]
            t2 += x2[i] * r[i]
            t3 += x3[i] * r[i]
        g[c] += t0
        g[c + 1] += t1
        g[c + 2] += t2
        g[c + 3] += t3
    for c in range(p - p % 4, p):
        x, total = X[c, a:b], 0.0
        for i in range(b - a):
            total += x[i] * r[i]
        g[c] += total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def squares(X, v, out):
    """Fill the lower part of out[:p, :p] with X diag(v) X'; its size is a multiple of four.

    Products of four columns with four: sixteen sums stay in registers.
    """
    p, n = X.shape
    out[:] = 0.0
    for a in range(0, n, CHUNK):
        b = min(a + CHUNK, n)
        w = v[a:b]
        for c in range(0, p, 4):
            u0, u1 = X[c, a:b], X[min(c + 1, p - 1), a:b]
            u2, u3 = X[min(c + 2, p - 1), a:b], X[min(c + 3, p - 1), a:b]
            for d in range(0, c + 1, 4):
                x0, x1 = X[d, a:b], X[min(d + 1, p - 1), a:b]
                x2, x3 = X[min(d + 2, p - 1), a:b], X[min(d + 3, p - 1), a:b]
                t00 = t01 = t02 = t03 = t10 = t11 = t12 = t13 = 0.0
                t20 = t21 = t22 = t23 = t30 = t31 = t32 = t33 = 0.0
                for i in range(b - a):
                    y0, y1 = w[i] * x0[i], w[i] * x1[i]
                    y2, y3 = w[i] * x2[i], w[i] * x3[i]
                    t00 += u0[i] * y0
                    t01 += u0[i] * y1
                    t02 += u0[i] * y2
                    t03 += u0[i] * y3
                    t10 += u1[i] * y0
                    t11 += u1[i] * y1
                    t12 += u1[i] * y2
                    t13 += u1[i] * y3
                    t20 += u2[i] * y0
                    t21 += u2[i] * y1
                    t22 += u2[i] * y2
                    t23 += u2[i] * y3
                    t30 += u3[i] * y0
                    t31 += u3[i] * y1
                    t32 += u3[i] * y2
                    t33 += u3[i] * y3
                row0, row1 = (t00, t01, t02, t03), (t10, t11, t12, t13)
                row2, row3 = (t20, t21, t22, t23), (t30, t31, t32, t33)
                for e in range(4):
                    out[c, d + e] += row0[e]
                    out[c + 1, d + e] += row1[e]
                    out[c + 2, d + e] += row2[e]
                    out[c + 3, d + e] += row3[e]


@njit(cache=True, nogil=True, error_model="numpy")
def derivatives(X, y, w, B, D, C, Z, V, G):
    """Fill the decisions Z and the objective's derivatives G at B; return the largest move.

    V is filled with second derivatives by the decisions if there are two classes, otherwise
    with the probabilities of the classes.
    """
    far, n, n_sets = 0.0, w.size, len(B)
    most, size = np.empty(CHUNK), np.empty(CHUNK)
    e, power, r = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    G[:] = 0.0
    for a in range(0, n, CHUNK):
        b = min(a + CHUNK, n)
        if n_sets == 1:
            z, v = Z[0], V[0]
            far = max(far, decide(X, B[0], a, b, z, r))
            for i in range(b - a):
                r[i] = -abs(z[a + i])
            exponentials(r[: b - a], power[: b - a], e[: b - a])
            for i in range(b - a):
                p = 1.0 / (1.0 + e[i])
                v[a + i] = w[a + i] * (e[i] * p * p)
                r[i] = w[a + i] * ((p if z[a + i] >= 0.0 else e[i] * p) - y[a + i])
            add_products(X, a, b, r, G[0])
            continue
        most[:] = -np.inf
        size[:] = 0.0
        for k in range(n_sets):
            far = max(far, decide(X, B[k], a, b, Z[k], r))
            for i in range(b - a):
                most[i] = max(most[i], Z[k, a + i])
        for k in range(n_sets):
            for i in range(b - a):
                r[i] = Z[k, a + i] - most[i]
            exponentials(r[: b - a], power[: b - a], e[: b - a])
            for i in range(b - a):
                V[k, a + i] = e[i]
                size[i] += e[i]
        for k in range(n_sets):
            for i in range(b - a):
                V[k, a + i] /= size[i]
                r[i] = w[a + i] * (V[k, a + i] - (1.0 if y[a + i] == k else 0.0))
            add_products(X, a, b, r, G[k])
    for k in range(n_sets):
        for c in range(D.size):
            G[k, c] = C * G[k, c] + D[c] * B[k, c]
    return far


@njit(cache=True, nogil=True, error_model="numpy")
def follow(by, A, start, out):
    """Add by (A - start) to out: in loops, as assigning slices takes a second to compile."""
    for k in range(len(A)):
        for c in range(A.shape[1]):
            out[k, c] += by * (A[k, c] - start[k, c])


@njit(cache=True, nogil=True, error_model="numpy")
def product(D, A, B):
    """Return the sum of D A B over sets and columns."""
    total = 0.0
    for k in range(len(A)):
        for c in range(A.shape[1]):
            total += D[c] * A[k, c] * B[k, c]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def objective(y, w, Z, B, D, C):
    """Return C times the loss, plus the penalty."""
    total, n_sets = 0.0, len(B)
    for i in range(w.size):
        if n_sets == 1:
            z = Z[0, i]
            total += w[i] * (np.log1p(np.exp(-abs(z))) + max(z, 0.0) - y[i] * z)
        else:
            most, size = Z[0, i], 0.0
            for k in range(1, n_sets):
                most = max(most, Z[k, i])
            for k in range(n_sets):
                size += np.exp(Z[k, i] - most)
            total += w[i] * (np.log(size) + most - Z[int(y[i]), i])
    return C * total + 0.5 * product(D, B, B)


@njit(cache=True, nogil=True, error_model="numpy")
def curvature(X, w, V, D, v, block, S):
    """Fill the lower part of S with second derivatives of the loss; v, block are overwritten."""
    n_sets, p = len(V), len(X)
    for k in range(n_sets):
        for m in range(k + 1):
            same = 1.0 if k == m else 0.0
            for i in range(w.size):
                mixed = w[i] * V[k, i] * (same - V[m, i])
                v[i] = V[k, i] if n_sets == 1 else mixed
            squares(X, v, block)
            for c in range(p):
                for d in range(c + 1):
                    S[k * p + c, m * p + d] = S[k * p + d, m * p + c] = block[c, d]
            if n_sets > 1 and D[p - 1] == 0.0:  # so that intercepts add up to 0
                S[k * p + p - 1, m * p + p - 1] += w.sum() / (n_sets * n_sets)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def factor(S, D, C, L):
    """Fill the lower part of L with the Cholesky factor of C S + D; False if not positive."""
    for i in range(len(L)):
        own = L[i]
        for c in range(i + 1):
            own[c] = C * S[i, c]
        own[i] += D[i % D.size]
        size = own[i]
        for k in range(i):
            other, along = L[k], own[k]
            for c in range(k):
                along -= own[c] * other[c]
            own[k] = along / other[k]
            own[i] -= own[k] * own[k]
        if not own[i] > 1e-14 * size:
            return False
        own[i] = np.sqrt(own[i])
    return True


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
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
def extrapolate(Cs, s, start, out):
    """Return the path extrapolated to Cs[s]: start plus a cubic through the last two C.

    start and out are [2, settings, sets, p]: solutions, and their tangents d B / d log C.
    """
    B = start[0, s].copy()
    if s == 0:
        return B
    h = np.log(Cs[s] / Cs[s - 1])
    if s == 1 or Cs[s - 1] == Cs[s - 2]:
        follow(1.0, out[0, s - 1], start[0, s - 1], B)
        follow(h, out[1, s - 1], start[1, s - 1], B)
        return B
    by = np.log(Cs[s - 1] / Cs[s - 2])
    t = 1.0 + h / by
    follow(2 * t**3 - 3 * t**2 + 1, out[0, s - 2], start[0, s - 2], B)
    follow(3 * t**2 - 2 * t**3, out[0, s - 1], start[0, s - 1], B)
    follow(by * (t**3 - 2 * t**2 + t), out[1, s - 2], start[1, s - 2], B)
    follow(by * (t**3 - t**2), out[1, s - 1], start[1, s - 1], B)
    return B


@njit(cache=True, nogil=True, error_model="numpy")
def step_from(X, w, V, D, C, G, most, known, v, block, S, L):
    """Return (H^-1 G, what is left; NONE if H is singular, whether the known H was kept)."""
    for kept in (known, False):
        if not kept:
            curvature(X, w, V, D, v, block, S)
            if not factor(S, D, C, L):
                return G, NONE, False
        step = G.copy()
        solve(L, step.reshape(-1))
        left = product(np.ones(D.size), G, step)
        if not kept or left <= most:
            return step, left, kept
    return step, left, False


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def is_last(left, before, far, kept, is_lent, w, V, S, C):
    """Whether little enough will be left after this step; `before` is what the last one left."""
    curved = 0.0  # the sum of the rows' second derivatives by their decisions
    for k in range(len(V)):
        for i in range(w.size):
            curved += V[k, i] if len(V) == 1 else w[i] * V[k, i] * (1.0 - V[k, i])
    if is_lent:  # as if the gradient lay where S curves most and the objective least
        most = 1.0
        for c in range(len(S)):
            most += C * S[c, c]
        left = left * most / min(1.0, C * curved)
    elif not (before == np.inf or far > FAR):
        left *= min(1.0, left / before if kept else far * far)
    return left <= NEAR * min(C * curved, MOST)


@njit(cache=True, nogil=True, error_model="numpy")
def along_C(X, y, w, D, Cs, stop, start, lent, out, first):
    """Fill out[0, s] with the coefficients for Cs[s], and out[1, s] with their tangents.

    Cs increase. start is a path of the same form nearby, or zeros; lent are the second
    derivatives of its loss at its first C, or empty [0, 0]; first is filled with those of this
    path. Returns the status.
    """
    n, n_sets, p, is_lent = w.size, start.shape[2], len(X), lent.size > 0
    base, G, none = start[0, 0], np.empty((n_sets, p)), np.zeros((n_sets, p))
    step, Z, old, ones = none, np.zeros((n_sets, n)), np.zeros((n_sets, n)), np.ones(p)
    V, v, block = np.empty((n_sets, n)), np.empty(n), np.empty((p + -p % 4, p + -p % 4))
    L, S, known = np.empty((n_sets * p, n_sets * p)), first, is_lent
    S[:] = 0.0
    follow(1.0, lent, S, S)  # no row where it is empty
    for s in range(Cs.size):
        C, before, fall, ended = Cs[s], np.inf, 0.0, False
        B = extrapolate(Cs, s, start, out)
        if s > 0:
            base, old, step = out[0, s - 1], Z.copy(), np.zeros((n_sets, p))
            follow(1.0, base, B, step)
            fall = (1.0 - C / Cs[s - 1]) * product(D, base, step)
        known = known and factor(S, D, C, L)
        for turn in range(STEPS):
            if stop[0]:
                return FINE
            far = derivatives(X, y, w, B, D, C, Z, V, G)
            is_far = far > FAR and s + turn > 0
            if is_far and is_lent:  # go back, and do without the lent derivatives
                known, is_lent, before = False, False, np.inf
                B, Z = base.copy(), old.copy()
                continue
            is_upward = is_far and -product(ones, G, step) > UPWARD * fall
            most = objective(y, w, old, base, D, C) if is_upward else np.inf
            if is_upward and not objective(y, w, Z, B, D, C) <= most + FLAT * abs(most):
                fall *= 0.5
                follow(-0.5, step, none, step)
                B, Z = base.copy(), old.copy()
                follow(-1.0, step, none, B)
                continue
            most = SLOW * before
            step, left, kept = step_from(X, w, V, D, C, G, most, known, v, block, S, L)
            if left == NONE:
                return SINGULAR
            ended = is_last(left, before, far, kept, is_lent and kept, w, V, S, C)
            is_lent, known, before, fall = is_lent and kept, True, left, left
            base, old = B.copy(), Z.copy()
            follow(-1.0, step, none, B)
            if ended:
                break
        if not ended:
            return UNENDED
        for k in range(n_sets):
            for c in range(p):
                out[0, s, k, c], out[1, s, k, c] = B[k, c], D[c] * B[k, c]
        solve(L, out[1, s].reshape(-1))
        if s == 0:
            S, known, is_lent = S.copy(), not is_lent, False
    return FINE
