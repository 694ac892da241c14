"""Logistic regression along rising C: Newton's steps, each C started where the path so far points to.

    minimise   C sum_i w_i loss(y_i, B x_i) + sum_c D_c B_c^2 / 2

X is held column by column, [p, n], y are codes of classes, and B [sets, p] has one set of coefficients for two classes, one
for each class of more. D is zero for the column of ones that stands for an intercept. What is left is measured by the gradient
in the metric of the second derivatives, g'H^-1 g: twice what the objective is above its minimum, near it. These derivatives are
kept, scaled by C, from step to step and from C to C (chord steps), until a step leaves more than a thousandth of that; at the
first C they are those that a path nearby lends, until they stall. One step is the last if little will be left after it: the
share that the step before it left or, with new derivatives, one as small as the square of how far decisions moved; by what is
lent, what may be left at most.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, UNENDED, SINGULAR = 0, 1, 2
NONE = -1.0
STEPS = 200
NEAR = 1e-16  # the square by which decisions may still miss the minimum, mean over rows by their second derivatives
MOST = 1e3  # times NEAR: the square by which coefficients may, along which no row bends
SLOW = 1e-3  # share of it that a step may leave before other second derivatives are worth their cost
FLAT = 1e-15  # share of the objective that rounding moves
UPWARD = 0.1  # share of the slope at its start that a step may end with, upward
FAR = 1.0  # a step that moves no decision by more than this does not go too far
CHUNK = 256  # rows whose columns stay in the nearest cache
LOWEST, ROUND, PER_LOG2 = -700.0, 1.5 * 2.0**52, 1.0 / np.log(2.0)
LOG2, LOG2_REST = (
    0.693147180369123816490,
    1.90821492927058770002e-10,
)  # ln 2 as a short number and what is left
T3, T4, T5, T6, T7 = 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
T8, T9, T10, T11, T12 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600


@njit(cache=True, nogil=True, error_model="numpy")
def exponentials(x, power, out):
    """Fill out with exp(x), x <= 0, to the last bit or one beside it; power is lost.

    exp(x) = 2^n exp(r): n by rounding, exp(r) by its series, 2^n by writing n into the exponent's bits. Unlike a call of the
    mathematical library it is done for several rows at a time by one instruction.
    """
    bits = power.view(np.int64)
    for i in range(x.size):
        a = max(x[i], LOWEST)
        power[i] = a * PER_LOG2 + ROUND
        n = power[i] - ROUND
        r = (a - n * LOG2) - n * LOG2_REST
        high = T7 + r * (T8 + r * (T9 + r * (T10 + r * (T11 + r * T12))))
        out[i] = 1.0 + r * (
            1.0 + r * (0.5 + r * (T3 + r * (T4 + r * (T5 + r * (T6 + r * high)))))
        )
    for i in range(x.size):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(x.size):
        out[i] *= power[i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def decide(X, beta, a, b, z, new):
    """Write the decisions of rows a ... b - 1; by how much one has moved at most."""
    far, p = 0.0, beta.size
    for i in range(b - a):
        new[i] = 0.0
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
    """Add the columns' products with r over rows a ... b - 1."""
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
    """Fill the lower part of out[:p, :p] with X diag(v) X'; out has a multiple of four rows, whose rest is overwritten.

    Four columns with four, whose sixteen sums stay in registers: the processor waits for memory once in two products.
    """
    p, n = X.shape
    out[:] = 0.0
    for a in range(0, n, CHUNK):
        b = min(a + CHUNK, n)
        w = v[a:b]
        for c in range(0, p, 4):
            u0, u1, u2, u3 = (
                X[c, a:b],
                X[min(c + 1, p - 1), a:b],
                X[min(c + 2, p - 1), a:b],
                X[min(c + 3, p - 1), a:b],
            )
            for d in range(0, c + 1, 4):
                x0, x1, x2, x3 = (
                    X[d, a:b],
                    X[min(d + 1, p - 1), a:b],
                    X[min(d + 2, p - 1), a:b],
                    X[min(d + 3, p - 1), a:b],
                )
                t00 = t01 = t02 = t03 = t10 = t11 = t12 = t13 = 0.0
                t20 = t21 = t22 = t23 = t30 = t31 = t32 = t33 = 0.0
                for i in range(b - a):
                    y0, y1, y2, y3 = (
                        w[i] * x0[i],
                        w[i] * x1[i],
                        w[i] * x2[i],
                        w[i] * x3[i],
                    )
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
                sums = (
                    t00,
                    t01,
                    t02,
                    t03,
                    t10,
                    t11,
                    t12,
                    t13,
                    t20,
                    t21,
                    t22,
                    t23,
                    t30,
                    t31,
                    t32,
                    t33,
                )
                for e in range(16):
                    out[c + e // 4, d + e % 4] += sums[e]


@njit(cache=True, nogil=True, error_model="numpy")
def look_at_two(X, y, w, B, Z, V, G, e, power, r):
    """Fill G with the loss's first derivatives at B, V with the second ones by the decisions Z; how far these moved."""
    z, v, far, n = Z[0], V[0], 0.0, w.size
    G[:] = 0.0
    for a in range(0, n, CHUNK):
        b = min(a + CHUNK, n)
        far = max(far, decide(X, B[0], a, b, z, r))
        for i in range(b - a):
            r[i] = -abs(z[a + i])
        exponentials(r[: b - a], power[: b - a], e[: b - a])
        for i in range(b - a):
            share = 1.0 / (1.0 + e[i])
            v[a + i] = w[a + i] * (e[i] * share * share)
            r[i] = w[a + i] * ((share if z[a + i] >= 0.0 else e[i] * share) - y[a + i])
        add_products(X, a, b, r, G[0])
    return far


@njit(cache=True, nogil=True, error_model="numpy")
def look_at_many(X, y, w, B, Z, V, G, e, power, r):
    """The same for more classes, V the shares of the classes."""
    far, n, n_sets = 0.0, w.size, len(B)
    most, size = np.empty(CHUNK), np.empty(CHUNK)
    G[:] = 0.0
    for a in range(0, n, CHUNK):
        b = min(a + CHUNK, n)
        most[:], size[:] = -np.inf, 0.0
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
    return far


@njit(cache=True, nogil=True, error_model="numpy")
def objective(y, w, Z, B, D, C):
    """C times the loss, and the penalty."""
    total, square, n_sets = 0.0, 0.0, len(B)
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
    for k in range(n_sets):
        for c in range(D.size):
            square += D[c] * B[k, c] * B[k, c]
    return C * total + 0.5 * square


@njit(cache=True, nogil=True, error_model="numpy")
def rises(y, w, old, base, Z, B, D, C):
    """Whether the objective at B is above that at base, whose decisions are old."""
    most = objective(y, w, old, base, D, C)
    return not objective(y, w, Z, B, D, C) <= most + FLAT * abs(most)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def bend(w, V):
    """Sum of the rows' second derivatives by their decisions."""
    total = 0.0
    for k in range(len(V)):
        for i in range(w.size):
            total += V[k, i] if len(V) == 1 else w[i] * V[k, i] * (1.0 - V[k, i])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def curvature(X, w, V, D, v, block, S):
    """Fill the lower part of S with the second derivatives of the loss; v and block are overwritten.

    Intercepts of several classes are free up to a constant, and any curvature along it leaves them summing to zero.
    """
    n_sets, p = len(V), len(X)
    for k in range(n_sets):
        for m in range(k + 1):
            if n_sets == 1:
                v[:] = V[0]
            else:
                same = 1.0 if k == m else 0.0
                for i in range(w.size):
                    v[i] = w[i] * V[k, i] * (same - V[m, i])
            squares(X, v, block)
            for c in range(p):
                for d in range(c + 1):
                    S[k * p + c, m * p + d] = S[k * p + d, m * p + c] = block[c, d]
            if n_sets > 1 and D[p - 1] == 0.0:
                S[k * p + p - 1, m * p + p - 1] += w.sum() / (n_sets * n_sets)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def factor(S, D, C, L):
    """Fill L's lower part with the Cholesky factor of C S and the penalties; whether it is positive definite."""
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
def foresee(Cs, s, start, out, B):
    """Fill B with where the path points to at Cs[s]: the way from start is taken on by its cubic through the last two C.

    start and out are [2, settings, sets, p]: solutions, and their tangents d B / d log C.
    """
    B[:] = start[0, s]
    if s == 0:
        return
    h = np.log(Cs[s] / Cs[s - 1])
    if s == 1 or Cs[s - 1] == Cs[s - 2]:
        B += out[0, s - 1] - start[0, s - 1] + h * (out[1, s - 1] - start[1, s - 1])
        return
    by = np.log(Cs[s - 1] / Cs[s - 2])
    t = 1.0 + h / by
    B += (2 * t**3 - 3 * t**2 + 1) * (out[0, s - 2] - start[0, s - 2])
    B += (3 * t**2 - 2 * t**3) * (out[0, s - 1] - start[0, s - 1])
    B += by * (t**3 - 2 * t**2 + t) * (out[1, s - 2] - start[1, s - 2])
    B += by * (t**3 - t**2) * (out[1, s - 1] - start[1, s - 1])


@njit(cache=True, nogil=True, error_model="numpy")
def penalise(D, C, B, G):
    """Make the loss's first derivatives those of the objective."""
    for k in range(len(B)):
        for c in range(D.size):
            G[k, c] = C * G[k, c] + D[c] * B[k, c]


@njit(cache=True, nogil=True, error_model="numpy")
def step_from(X, w, V, D, C, G, most, known, v, block, S, L, step):
    """Fill step with H^-1 G; what is left, or NONE where H is singular, and whether H was kept, as where `most` is left."""
    for kept in (known, False):
        if not kept:
            curvature(X, w, V, D, v, block, S)
            if not factor(S, D, C, L):
                return NONE, False
        step[:] = G
        solve(L, step.reshape(-1))
        left = (G * step).sum()
        if not kept or left <= most:
            return left, kept
    return left, False


@njit(cache=True, nogil=True, error_model="numpy")
def surely(left, S, C, bends):
    """What is left at most, if S is not of this part: as if the gradient lay where S bends most and the objective least."""
    most = 1.0
    for c in range(len(S)):
        most += C * S[c, c]
    return left * most / min(1.0, C * bends)


@njit(cache=True, nogil=True, error_model="numpy")
def along_C(X, y, w, D, Cs, stop, start, lent, out, first):
    """Fill out[0, s] with the coefficients for Cs[s], which rise, and out[1, s] with their tangents. How it went.

    start is a path of the same form nearby, as that of a larger training part, or zeros; lent are the second derivatives
    [sets * p, sets * p] of its loss at its first C, or nothing [0, 0]. Those of this path are written into first.
    """
    n, n_sets, p, is_lent = w.size, start.shape[2], len(X), lent.size > 0
    B, base, step, G = (
        start[0, 0].copy(),
        start[0, 0].copy(),
        np.zeros((n_sets, p)),
        np.empty((n_sets, p)),
    )
    Z, old, V = np.zeros((n_sets, n)), np.zeros((n_sets, n)), np.empty((n_sets, n))
    v, block = np.empty(n), np.empty((-(-p // 4) * 4, -(-p // 4) * 4))
    S, L = np.zeros((n_sets * p, n_sets * p)), np.empty((n_sets * p, n_sets * p))
    e, power, r = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    known = is_lent
    if is_lent:
        S[:] = lent
    for s in range(Cs.size):
        C, before, fall, ended = Cs[s], np.inf, 0.0, False
        foresee(Cs, s, start, out, B)
        if s > 0:
            base[:], old[:], step[:] = out[0, s - 1], Z, out[0, s - 1] - B
            fall = (1.0 - C / Cs[s - 1]) * (D * base * step).sum()
        known = known and factor(S, D, C, L)
        for turn in range(STEPS):
            if stop[0]:
                return FINE
            if n_sets == 1:
                far = look_at_two(X, y, w, B, Z, V, G, e, power, r)
            else:
                far = look_at_many(X, y, w, B, Z, V, G, e, power, r)
            penalise(D, C, B, G)
            went = far > FAR and s + turn > 0
            if (
                went and is_lent
            ):  # too far for what another part has lent: back, and without it
                known, is_lent, before = False, False, np.inf
                B[:], Z[:] = base, old
                continue
            if (
                went
                and -(G * step).sum() > UPWARD * fall
                and rises(y, w, old, base, Z, B, D, C)
            ):
                fall *= 0.5
                step *= 0.5
                B[:], Z[:] = base - step, old
                continue
            left, kept = step_from(
                X, w, V, D, C, G, SLOW * before, known, v, block, S, L, step
            )
            if left == NONE:
                return SINGULAR
            is_lent, bends = is_lent and kept, bend(w, V)
            share = (
                1.0
                if before == np.inf or far > FAR
                else min(1.0, left / before if kept else far * far)
            )
            known, before, fall = True, left, left
            base[:], old[:] = B, Z
            B -= step
            if (surely(left, S, C, bends) if is_lent else left * share) <= NEAR * min(
                C * bends, MOST
            ):
                ended = True
                break
        if not ended:
            return UNENDED
        out[0, s], out[1, s] = B, D * B
        solve(L, out[1, s].reshape(-1))
        if s == 0:
            first[:] = S
            known, is_lent = not is_lent, False
    return FINE
