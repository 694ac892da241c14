"""Logistic regression of two classes with an l1 or elastic net penalty, along rising C.

    minimise   C sum_i w_i loss(y_i, B x_i) + l1 |B| + l2 B'B / 2

X is stored column by column, [q, n]; the penalties are those of its first p columns, and a
column of ones behind them belongs to an intercept. The decisions of a row are B x_i.

Each step minimises the penalty plus a quadratic model of the loss, exactly (proximal Newton).
Sweeps of coordinate descent let columns of the model enter and leave; between them the
equations of the nonzero columns are solved. So once the signs stay, the steps are Newton's on
the nonzero columns. The model has the columns of a working set: those that are nonzero, and
those whose gradient is near the penalty. The gradient of every column is known at each step.

Second derivatives are kept until a step leaves more than SLOW of what was left, d'Hd of the
next step d (chord steps).
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, UNENDED, TIED, WIDE, DEPENDENT = 0, 1, 2, 3, 4  # status of along_C
STEPS, ROUNDS = 200, 2000
NEAR = 1e-16  # weighted mean of the squares by which decisions may miss the minimum
MOST = 1e3  # times NEAR: the same for coefficients along which no row has curvature
SLOW = 0.03  # share that a step may leave before new second derivatives are worth their cost
SAFE = 0.5  # a step that moves no decision by more than this leads down
DOWN = 0.1  # share of the fall promised by the slope that a longer step must have
FLAT = 1e-14  # share of the objective that is rounding
NEARLY = 0.7  # of the penalty: a column with a larger gradient joins the working set
FEWEST, WIDEST = 50, 1000  # columns that may join it at once, and of it
LEVEL = 1e-7  # of the penalty: a column at zero whose gradient is that near could have moved
SLACK, ROUNDING = 1e-9, 1e-14  # of the penalty; of what a gradient adds up
INDEPENDENT = 1e-10  # of a column's squares: what the columns before it must leave
CHUNK, ROWS = 256, 1024  # rows whose columns fit into the nearest caches


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def derive(X, y, w, B, Z, v, g):
    """Fill decisions Z, second derivatives v by them, and the loss's gradient g at B.

    Return the largest move of a decision.
    """
    far, n = 0.0, w.size
    z, r = np.empty(CHUNK), np.empty(CHUNK)
    g[:] = 0.0
    for a in range(0, n, CHUNK):
        b = min(a + CHUNK, n)
        z[:] = 0.0
        for c in range(B.size):
            if B[c] != 0.0:
                x, by = X[c, a:b], B[c]
                for i in range(b - a):
                    z[i] += by * x[i]
        for i in range(b - a):
            far = max(far, abs(z[i] - Z[a + i]))
            Z[a + i] = z[i]
            e = np.exp(-abs(z[i]))
            p = 1.0 / (1.0 + e)
            v[a + i] = w[a + i] * (e * p * p)
            r[i] = w[a + i] * ((p if z[i] >= 0.0 else e * p) - y[a + i])
        for c in range(B.size):
            x, total = X[c, a:b], 0.0
            for i in range(b - a):
                total += x[i] * r[i]
            g[c] += total
    return far


@njit(cache=True, nogil=True, error_model="numpy")
def objective(y, w, Z, B, p, C, l1, l2):
    """Return C times the loss, plus the penalty."""
    total = 0.0
    for i in range(w.size):
        z = Z[i]
        total += w[i] * (np.log1p(np.exp(-abs(z))) + max(z, 0.0) - y[i] * z)
    return C * total + l1 * np.abs(B[:p]).sum() + 0.5 * l2 * (B[:p] * B[:p]).sum()


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def squares(X, v, places, stop):
    """Return X[places] diag(v) X[places]'."""
    H = np.zeros((places.size, places.size))
    for a in range(0, v.size, ROWS):
        w = v[a : a + ROWS]
        T = np.empty((places.size, w.size))
        for c in range(places.size):
            T[c] = X[places[c], a : a + ROWS]
        H += (T * w) @ T.T
        if stop[0]:
            break
    return H


@njit(cache=True, nogil=True, error_model="numpy")
def working_set(g, B, C, l1, p, places):
    """Return (the columns of the working set, whether no other exceeds the penalty).

    To those of `places`, the nonzero ones and the intercept, at most as many or FEWEST are added.
    """
    wanted = B != 0.0
    wanted[places] = True
    wanted[p:] = True
    excess = np.where(wanted[:p], 0.0, np.maximum(C * np.abs(g[:p]) - NEARLY * l1, 0.0))
    room = max(FEWEST, wanted.sum())
    others = np.flatnonzero(excess)
    if others.size > room:
        least = np.sort(excess[others])[others.size - room]
        others = np.flatnonzero(excess >= least)
    wanted[others] = True
    excess[others] = 0.0
    return np.flatnonzero(wanted), (excess <= (1.0 - NEARLY) * l1).all()


@njit(cache=True, nogil=True, error_model="numpy")
def without_intercept(H, C, k):
    """Return (C H of the first k columns where the intercept follows them, how it does)."""
    if len(H) == k:
        return C * H, np.zeros(k)
    on = H[k, :k] / H[k, k]
    return C * (H[:k, :k] - np.outer(on, H[k, :k])), on


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(G, g, u, l1, l2):
    """Move each coordinate to its minimum and update g = b - G u."""
    for j in range(u.size):
        row, old = G[j], u[j]
        if row[j] + l2 <= 0.0:
            continue
        z, new = g[j] + row[j] * old, 0.0
        if z > l1:
            new = (z - l1) / (row[j] + l2)
        elif z < -l1:
            new = (z + l1) / (row[j] + l2)
        if new != old:
            by = new - old
            u[j] = new
            for c in range(u.size):
                g[c] -= by * row[c]


@njit(cache=True, nogil=True, error_model="numpy")
def factor(G, active, l2, R):
    """Fill the upper half of R with the Cholesky factor of the active columns.

    Return how many of them are independent: the next one depends on those, by R[:, next].
    """
    n = active.size
    for i in range(n):
        row, own = G[active[i]], R[i]
        for k in range(i, n):
            own[k] = row[active[k]]
        own[i] += l2
        size = own[i]
        for k in range(i):
            above, by = R[k], R[k, i]
            for r in range(i, n):
                own[r] -= by * above[r]
        if not own[i] > INDEPENDENT * size:
            return i
        by = 1.0 / np.sqrt(own[i])
        for r in range(i, n):
            own[r] *= by
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def solve(R, x):
    """Replace x by (R'R)^-1 x."""
    n = x.size
    for i in range(n):
        row = R[i]
        x[i] /= row[i]
        by = x[i]
        for c in range(i + 1, n):
            x[c] -= by * row[c]
    for i in range(n - 1, -1, -1):
        row, along = R[i], x[i]
        for c in range(i + 1, n):
            along -= row[c] * x[c]
        x[i] = along / row[i]


@njit(cache=True, nogil=True, error_model="numpy")
def height(G, b, u, l1, l2, g):
    """Return the objective of `minimise` at u, and fill g with b - G u."""
    g[:] = b
    for c in range(u.size):
        if u[c] != 0.0:
            row, by = G[c], u[c]
            for d in range(u.size):
                g[d] -= by * row[d]
    return (l1 * np.abs(u) + 0.5 * (l2 * u - b - g) * u).sum()


@njit(cache=True, nogil=True, error_model="numpy")
def settle(G, b, u, l1, l2, active, R, g):
    """Move the active coordinates of u towards their minimum, without a change of signs.

    R is the factor of their columns, g becomes b - G u. Coordinates that would change their
    sign become zero, or only the first of them if that leads higher. Return whether the
    minimum is reached.
    """
    x, at, share, old = np.empty(active.size), -1, 1.0, u.copy()
    for i in range(active.size):
        x[i] = b[active[i]] - (l1 if u[active[i]] > 0.0 else -l1)
    solve(R, x)
    before = height(G, b, u, l1, l2, g)
    for i in range(active.size):
        own = u[active[i]]
        keeps = x[i] * own > 0.0
        u[active[i]] = x[i] if keeps else 0.0
        if not keeps and own / (own - x[i]) <= share:
            at, share = active[i], own / (own - x[i])
    if height(G, b, u, l1, l2, g) > before and at >= 0:
        for i in range(active.size):
            c = active[i]
            u[c] = old[c] + share * (x[i] - old[c])
        u[at] = 0.0
        height(G, b, u, l1, l2, g)
    return at < 0


@njit(cache=True, nogil=True, error_model="numpy")
def give_way(g, u, l1, active, n, R):
    """Move the active column n, and the n before it that it depends on against it, to where one
    becomes zero, on the way that leads lower; return whether one does.
    """
    way, slope, at, share = -R[:n, n].copy(), 0.0, -1, np.inf
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            way[i] -= R[i, k] * way[k]
        way[i] /= R[i, i]
    way = np.append(way, 1.0)
    for i in range(n + 1):
        own = u[active[i]]
        slope += way[i] * ((l1 if own > 0.0 else -l1) - g[active[i]])
    if slope > 0.0:
        way = -way
    for i in range(n + 1):
        own = u[active[i]]
        if own * way[i] < 0.0 and -own / way[i] < share:
            at, share = active[i], -own / way[i]
    if at >= 0:
        for i in range(n + 1):
            u[active[i]] += share * way[i]
        u[at] = 0.0
    return at >= 0


@njit(cache=True, nogil=True, error_model="numpy")
def minimise(G, b, u, l1, l2, slack, stop, R, known):
    """Move u to the minimum of u'Gu / 2 - b'u + l1 |u| + l2 u'u / 2.

    known lists the columns that R is the factor of. Return (whether the minimum is reached,
    its gradient b - G u, the columns that R is the factor of).
    """
    g = np.empty(u.size)
    height(G, b, u, l1, l2, g)
    for _ in range(ROUNDS):
        if stop[0]:
            break
        active = np.flatnonzero(u)
        if not np.array_equal(active, known):
            n = factor(G, active, l2, R)
            known = active if n == active.size else active[:0]
            if n < active.size and give_way(g, u, l1, active, n, R):
                height(G, b, u, l1, l2, g)
                continue
        if known.size == active.size:
            least = settle(G, b, u, l1, l2, active, R, g)
            is_above = (u == 0.0) & (np.abs(g) > l1 * (1.0 + SLACK) + slack)
            if least and not is_above.any():
                return True, g, known
        sweep(G, g, u, l1, l2)
    return False, g, known


@njit(cache=True, nogil=True, error_model="numpy")
def is_unique(G, g, u, l1, l2):
    """Whether the minimum u with this gradient is the only one.

    It is if the columns that are nonzero, or whose gradient is level with the penalty, are
    independent.
    """
    movable = np.flatnonzero((u != 0.0) | (np.abs(g) > l1 * (1.0 - LEVEL)))
    R = np.empty((movable.size, movable.size))
    return factor(G, movable, l2, R) == movable.size


@njit(cache=True, nogil=True, error_model="numpy")
def promise(g, B, new, p, C, l1, l2):
    """Return the fall of the objective from B to `new` that the slope promises."""
    a, b = B[:p], new[:p]
    falls = l1 * (np.abs(a) - np.abs(b)) + 0.5 * l2 * (a * a - b * b)
    return C * (g * (B - new)).sum() + falls.sum()


@njit(cache=True, nogil=True, error_model="numpy")
def step_to(H, C, b, u, places, k, B, new):
    """Fill `new` with the model's minimum, u and its intercept; return what is left before it."""
    new[:] = 0.0
    new[places[:k]] = u
    if places.size > k:
        new[places[k]] = (b[k] / C - (H[k, :k] * u).sum()) / H[k, k]
    d = new[places] - B[places]
    return C * (d * (H @ d)).sum()


@njit(cache=True, nogil=True, error_model="numpy")
def settle_alone(B, y, w, p):
    """Set an intercept without other coefficients to the log odds: classes of equal weight tie."""
    if B.size > p and (B[:p] == 0.0).all():
        B[p] = np.log((w * y).sum()) - np.log((w * (1.0 - y)).sum())


@njit(cache=True, nogil=True, error_model="numpy")
def minimum(X, y, w, p, C, l1, l2, stop, sizes, B, u, Z):
    """Move B to the minimum for C, whose decisions are about Z; return the status.

    u [p] is a guess at the coefficients, sizes [p] what the gradients of the columns add up.
    """
    v, g, old = np.empty(w.size), np.empty(B.size), np.empty(w.size)
    base, new, fall, before = B.copy(), B.copy(), 0.0, np.inf
    places, known = np.empty(0, np.int64), np.empty(0, np.int64)
    H, G, R, on = np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)), np.empty(0)
    for _ in range(STEPS):
        old[:] = Z
        far = derive(X, y, w, B, Z, v, g)
        if fall > 0.0 and far > SAFE:
            most = objective(y, w, old, base, p, C, l1, l2) - DOWN * fall
            if not objective(y, w, Z, B, p, C, l1, l2) <= most + FLAT * abs(most):
                B[:], Z[:], fall = 0.5 * (base + B), old, 0.5 * fall
                places = places[:0]
                continue
        wanted, is_whole = working_set(g, B, C, l1, p, places)
        k = wanted.size - (B.size - p)
        if k > WIDEST:
            return WIDE
        for fresh in (wanted.size > places.size, True):
            if fresh:
                places, before, known = wanted, np.inf, known[:0]
                H = squares(X, v, places, stop)
                G, on = without_intercept(H, C, k)
                R = np.empty((k, k))
            b = C * (H @ B[places] - g[places])
            reduced = b[:k] - on * b[k:].sum()
            own = u[places[:k]]
            slack = ROUNDING * C * sizes[places[:k]]
            least, h, known = minimise(G, reduced, own, l1, l2, slack, stop, R, known)
            if stop[0]:
                return FINE
            if not least:
                return DEPENDENT
            left = step_to(H, C, b, own, places, k, B, new)
            if fresh or left <= SLOW * before:
                break
        base[:], before, fall = B, left, promise(g, B, new, p, C, l1, l2)
        u[:] = new[:p]
        B[:] = new
        if is_whole and left <= NEAR * min(C * v.sum(), MOST):
            settle_alone(B, y, w, p)
            return FINE if is_unique(G, h, own, l1, l2) else TIED
    return UNENDED


@njit(cache=True, nogil=True, error_model="numpy")
def along_C(X, y, w, p, Cs, l1, l2, stop, start, out):
    """Fill out[s] with the coefficients for Cs[s], which increase; return the status.

    start is a path of the same form nearby, as that of a larger training part, or empty.
    """
    Z, u, sizes = np.zeros(w.size), np.zeros(p), np.empty(p)
    for c in range(p):
        sizes[c] = (w * np.abs(X[c])).sum()
    B, v, g, old = np.zeros(len(X)), Z.copy(), np.zeros(len(X)), Z.copy()
    for s in range(Cs.size):
        C = Cs[s]
        u[:] = B[:p]
        if len(start):
            old[:] = Z
            new = B + start[s] - (start[s - 1] if s > 0 else np.zeros(B.size))
            here = objective(y, w, Z, B, p, C, l1, l2)
            derive(X, y, w, new, Z, v, g)
            if objective(y, w, Z, new, p, C, l1, l2) < here:
                B[:] = new
                u[:] = np.where(start[s, :p] != 0.0, B[:p], 0.0)
            else:
                Z[:] = old
        status = minimum(X, y, w, p, C, l1, l2, stop, sizes, B, u, Z)
        if status != FINE or stop[0]:
            return status
        out[s] = B
    return FINE
