"""Lasso and elastic net from products of columns: descent along falling penalties, each
starting where the last ended.

    minimise   w'Gw / 2 - b'w + l1 |w| + l2 w'w / 2

The gradient b - Gw of every column is kept, so that a column at zero costs one comparison,
and one that moves costs p additions (covariance updates; Friedman, Hastie and Tibshirani
2010). Once a sweep leaves the signs unchanged, the equations of the nonzero columns are
solved. If the solution has those signs and no other column would move, it is the minimum.

With many columns and small penalties, descent is slow to find the signs. Then columns enter
and leave one by one, starting from the last penalty's minimum (an active set method, as for
quadratic programmes): each step goes to the minimum of the active columns, or to where the
first of them becomes zero.

The thresholds are listed in cvnb/paths/linear/precision.py.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, ILL = 0, 2  # status of a fit, as in linear.py
SWEEPS = 20_000  # at most, per penalty
PATIENCE = 8  # sweeps before columns enter and leave one by one
LEVEL = 1e-9  # of the penalty: a column at zero whose gradient is that near could have moved
PIVOTS = 10  # steps of the active set method, times the number of columns
SLACK = 1e-9  # of the penalty: rounding in the gradient of a column at zero
ROUNDING = 1e-14  # and of the lengths of the column and of the targets
GAP = 1e-13  # of the squares of the targets: duality gap that ends the descent
INDEPENDENT = 1e-8  # of a column's squares: what the columns before it must leave


@njit(cache=True, nogil=True, error_model="numpy")
def put(a, out):
    """Copy a into out: in a loop, as an assignment of slices costs a second to compile."""
    for c in range(a.size):
        out[c] = a[c]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(G, g, w, l1, l2, positive):
    """Move each coordinate to its minimum and update g = b - G w; return whether a sign changed."""
    p, changed = w.size, False
    for j in range(p):
        row, old = G[j], w[j]
        if row[j] <= 0.0 and l2 <= 0.0:
            continue
        z, new = g[j] + row[j] * old, 0.0
        if z > l1:
            new = (z - l1) / (row[j] + l2)
        elif z < -l1 and not positive:
            new = (z + l1) / (row[j] + l2)
        if new != old:
            by = new - old
            w[j] = new
            for c in range(p):
                g[c] -= by * row[c]
            if new * old <= 0.0:
                changed = True
    return changed


@njit(cache=True, nogil=True, error_model="numpy")
def factor(G, active, n, l2, R):
    """Fill the upper half of R with the Cholesky factor of the n active columns.

    Return whether they are independent.
    """
    for i in range(n):
        row, own = G[active[i]], R[i]
        for k in range(i, n):
            own[k] = row[active[k]]
        own[i] += l2
    for i in range(n):
        own = R[i]
        size = own[i]
        for k in range(0, i - i % 4, 4):  # four rows above at a time
            a, b, c, d = R[k], R[k + 1], R[k + 2], R[k + 3]
            a0, b0, c0, d0 = a[i], b[i], c[i], d[i]
            for r in range(i, n):
                own[r] -= a0 * a[r] + b0 * b[r] + c0 * c[r] + d0 * d[r]
        for k in range(i - i % 4, i):
            a = R[k]
            a0 = a[i]
            for r in range(i, n):
                own[r] -= a0 * a[r]
        if not own[i] > INDEPENDENT * size:
            return False
        by = 1.0 / np.sqrt(own[i])
        for r in range(i, n):
            own[r] *= by
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def solve(R, n, x):
    """Replace x by (R'R)^-1 x."""
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
def join(G, active, n, c, l2, R, x):
    """Add column c to the factor R of n active columns; return whether it is independent.

    x[:n] becomes R'^-1 G[active, c].
    """
    for i in range(n):
        x[i] = G[c, active[i]]
    square = G[c, c] + l2
    left = square
    for i in range(n):
        row = R[i]
        x[i] /= row[i]
        by = x[i]
        left -= by * by
        for k in range(i + 1, n):
            x[k] -= by * row[k]
    if not left > INDEPENDENT * square:
        return False
    for i in range(n):
        R[i, n] = x[i]
    R[n, n], active[n] = np.sqrt(left), c
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def is_least(G, b, w, active, n, x, l1, slack, positive, g):
    """Return whether x on the active columns has the signs of w and no other column would move.

    If so, w becomes x, and g its gradient.
    """
    p = w.size
    for i in range(n):
        if not x[i] * w[active[i]] > 0.0:
            return False
    h = np.empty(p)
    put(b, h)
    for i in range(n):
        row, by = G[active[i]], x[i]
        for c in range(p):
            h[c] -= by * row[c]
    for c in range(p):
        limit = l1 * (1.0 + SLACK) + slack[c]
        if w[c] == 0.0 and (h[c] > limit or (h[c] < -limit and not positive)):
            return False
    for i in range(n):
        w[active[i]] = x[i]
    put(h, g)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def gap(b, yy, w, l1, l2, positive, g):
    """Return the duality gap by scikit-learn's formula."""
    squares, size, along, norm, most = yy, 0.0, 0.0, 0.0, 0.0
    for c in range(w.size):
        squares -= w[c] * (b[c] + g[c])  # |y - Xw|^2 = yy - w'b - w'g
        along += w[c] * b[c]
        size += abs(w[c])
        norm += w[c] * w[c]
        d = g[c] - l2 * w[c]
        most = max(most, d if positive else abs(d))
    squares = max(squares, 0.0)
    share = l1 / most if most > l1 else 1.0
    total = 0.5 * squares * (1.0 + share * share) if most > l1 else squares
    total += l1 * size
    total -= share * (yy - along)
    return total + 0.5 * l2 * (1.0 + share * share) * norm


@njit(cache=True, nogil=True, error_model="numpy")
def is_solved(G, b, w, l1, l2, slack, positive, g, x, active, R, last):
    """Return (whether the equations of the nonzero columns give the minimum, whether it is
    unique).

    It is unique if those columns are independent and no other could replace some of them.
    last = [number of columns, l2] of the factor in R, or -1; it is reused for the same columns.
    """
    n, same = np.int64(0), last[1] == l2  # a literal 0 would compile kernels twice
    for c in range(w.size):
        if w[c] != 0.0:
            same = same and n < last[0] and active[n] == c
            active[n], x[n] = c, b[c] - (l1 if w[c] > 0.0 else -l1)
            n += 1
    if not (same and n == last[0]):
        last[0], last[1] = n, l2
        if not factor(G, active, n, l2, R):
            last[0] = -1.0
            return False, False
    solve(R, n, x)
    if not is_least(G, b, w, active, n, x, l1, slack, positive, g):
        return False, True
    for c in range(w.size):
        size = g[c] if positive else abs(g[c])
        if w[c] == 0.0 and size > l1 * (1.0 - LEVEL):
            if not join(G, active, n, c, l2, R, x):
                return False, False  # this column could replace others
            n += 1
    return True, True


@njit(cache=True, nogil=True, error_model="numpy")
def leave(R, active, signs, n, at):
    """Remove column `at` from the n active ones; rotations keep the factor R triangular."""
    for i in range(n):
        row = R[i]
        for k in range(max(at, i - 1), n - 1):
            row[k] = row[k + 1]
    for i in range(at, n - 1):
        row, below = R[i], R[i + 1]
        size = np.hypot(row[i], below[i])
        c, s = row[i] / size, below[i] / size
        for k in range(i, n - 1):
            row[k], below[k] = c * row[k] + s * below[k], c * below[k] - s * row[k]
        active[i], signs[i] = active[i + 1], signs[i + 1]


@njit(cache=True, nogil=True, error_model="numpy")
def first_to_vanish(w, active, n, way, signs, most):
    """Return (active column that becomes zero first as w moves along `way`, share of it by then).

    (-1, most) if none does within the share `most`.
    """
    at = -1
    for i in range(n):
        if way[i] * signs[i] < 0.0 and -w[active[i]] / way[i] < most:
            at, most = i, -w[active[i]] / way[i]
    return at, most


@njit(cache=True, nogil=True, error_model="numpy")
def give_way(w, c, sign, active, signs, n, R, x, way):
    """Move w[c] along its sign, and the active columns that it depends on against it, until one
    of these leaves; return whether one does.

    x = R'^-1 G[active, c], as `join` leaves it.
    """
    for i in range(n - 1, -1, -1):
        along = sign * x[i]
        for k in range(i + 1, n):
            along += R[i, k] * way[k]
        way[i] = -along / R[i, i]
    at, size = first_to_vanish(w, active, n, way, signs, np.inf)
    if at < 0:
        return False
    for i in range(n):
        w[active[i]] += size * way[i]
    w[active[at]], w[c] = 0.0, sign * size
    leave(R, active, signs, n, at)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def worst_at_zero(g, w, l1, slack, positive):
    """Return the column at zero whose gradient exceeds the penalty most; -1 if none does."""
    at, excess = -1, 0.0
    for k in range(w.size):
        over = (g[k] if positive else abs(g[k])) - l1 * (1.0 + SLACK) - slack[k]
        if w[k] == 0.0 and over > excess:
            at, excess = k, over
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def activate(G, w, l2, x, signs, active, R):
    """Fill active, signs and the factor R with the nonzero columns; return their number.

    -1 if they are not independent.
    """
    n = np.int64(0)
    for c in range(w.size):
        if w[c] != 0.0:
            if not join(G, active, n, c, l2, R, x):
                return -1
            signs[n] = 1.0 if w[c] > 0.0 else -1.0
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def pivot(G, b, w, l1, l2, slack, positive, stop, x, way, signs, active, R, g):
    """Take w, whose columns are independent, to the minimum and update g = b - G w.

    Return whether the minimum is reached.
    """
    p, n = w.size, activate(G, w, l2, x, signs, active, R)
    if n < 0:
        return False
    for _ in range(PIVOTS * p):
        if stop[0]:
            return False
        for i in range(n):
            way[i] = b[active[i]] - l1 * signs[i]
        solve(R, n, way)
        for i in range(n):
            way[i] -= w[active[i]]
        at, share = first_to_vanish(w, active, n, way, signs, 1.0)
        for i in range(n):
            w[active[i]] += share * way[i]
        if at >= 0:
            w[active[at]] = 0.0
            leave(R, active, signs, n, at)
            n -= 1
            continue
        put(b, g)
        for i in range(n):
            row, by = G[active[i]], w[active[i]]
            for c in range(p):
                g[c] -= by * row[c]
        c = worst_at_zero(g, w, l1, slack, positive)
        if c < 0:
            return True
        sign = 1.0 if g[c] > 0.0 else -1.0
        if not join(G, active, n, c, l2, R, x):
            if not give_way(w, c, sign, active, signs, n, R, x, way):
                return False
            n -= 1
            if not join(G, active, n, c, l2, R, x):
                return False
        signs[n] = sign
        n += 1
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def descend(G, b, yy, l1s, l2s, positive, stop, out):
    """Fill out[:, s] with the minimum for l1s[s], l2s[s], which fall with s.

    Return FINE, or ILL if a minimum is not unique enough.
    """
    p = b.size
    w, g, x, way = np.zeros(p), np.empty(p), np.empty(p), np.empty(p)
    v, h = np.empty(p), np.empty(p)
    active, signs, R = np.empty(p, np.int64), np.empty(p), np.empty((p, p))
    slack, last = np.empty(p), np.zeros(2)
    last[0] = -1.0
    put(b, g)
    for c in range(p):
        slack[c] = ROUNDING * np.sqrt(max(G[c, c], 0.0) * yy)
    for s in range(l1s.size):
        l1, l2, wait = l1s[s], l2s[s], 1
        put(w, v)
        least, unique = is_solved(
            G, b, w, l1, l2, slack, positive, g, x, active, R, last
        )
        for n_sweeps in range(0 if least else SWEEPS):
            if stop[0]:
                return FINE
            if n_sweeps == PATIENCE:
                last[0] = -1.0
                put(g, h)
                reached = pivot(
                    G, b, v, l1, l2, slack, positive, stop, x, way, signs, active, R, h
                )
                if reached:
                    put(v, w)
                    put(h, g)
                    least, unique = is_solved(
                        G, b, w, l1, l2, slack, positive, g, x, active, R, last
                    )
                    if least:
                        break
            if sweep(G, g, w, l1, l2, positive):
                continue
            wait -= 1
            if wait > 0:
                continue
            least, unique = is_solved(
                G, b, w, l1, l2, slack, positive, g, x, active, R, last
            )
            if not least and gap(b, yy, w, l1, l2, positive, g) <= GAP * yy:
                least = unique
                break
            if least:
                break
            wait = min(2 + n_sweeps, 64)
        if not least:
            return ILL
        for c in range(p):
            out[c, s] = w[c]
    return FINE
