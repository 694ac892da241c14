"""Lasso and elastic net on more columns than rows: an active set method along falling penalties.

    minimise   |y - Z'w|^2 / 2 + l1 |w| + l2 w'w / 2

Z holds some columns of the design as rows, the working set. Each step solves the equations of
the active columns, and moves there, or to where the first of them becomes zero, which leaves.
At the minimum of the active columns, columns whose gradient exceeds the penalty enter, several
at a time. Products are made only of columns that enter, and gradients from the residuals r, so
rounding is that of the rows and not of their squares.

Elastic net may have more active columns A than rows. Then r comes from as many equations as
there are rows, (A'A + l2 I) r = l2 y + l1 A's with the signs s, and w = (A r - l1 s) / l2.

Whether columns outside the working set would move is left to the caller, who gets the residuals
of every penalty. cvnb/paths/linear/precision.py lists the thresholds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, ILL, FULL = 0, 2, 4  # status: as in linear.py; as many active columns as rows
LEVEL = 1e-9  # of the penalty: a column at zero whose gradient is that near could have moved
SLACK = 1e-9  # of the penalty: rounding in the gradient of a column at zero
ROUNDING = 1e-14  # and of the lengths of the column and of the targets
INDEPENDENT = 1e-8  # of a column's squares: what the columns before it must leave
PIVOTS = 10  # steps, times the number of columns
ENTER = (
    0.5  # of the largest excess over the penalty: columns with as much enter together
)


@njit(cache=True, nogil=True, error_model="numpy")
def factor(K, l2, R):
    """Fill the upper half of R with the Cholesky factor of K + l2 I.

    Return whether its columns are independent; NumPy raises LinAlgError if they surely are not.
    """
    n = K.shape[0]
    M = K + l2 * np.eye(n)
    L = np.linalg.cholesky(M)
    for i in range(n):
        if not L[i, i] * L[i, i] > INDEPENDENT * M[i, i]:
            return False
    R[:n, :n] = L.T
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
        row, rest = R[i], x[i]
        for c in range(i + 1, n):
            rest -= row[c] * x[c]
        x[i] = rest / row[i]


@njit(cache=True, nogil=True, error_model="numpy")
def join(products, c, l2, active, n, R, x):
    """Add column c, with its products with all columns, to the factor R of n active columns.

    Return whether it is independent of them. x[:n] becomes R'^-1 of its products with them.
    """
    for i in range(n):
        x[i] = products[active[i]]
    square = products[c] + l2
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
def leave(active, signs, w, n, at, R):
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
        active[i], signs[i], w[i] = active[i + 1], signs[i + 1], w[i + 1]


@njit(cache=True, nogil=True, error_model="numpy")
def add_square(S, z, by):
    """Add by * z z' to S."""
    for i in range(z.size):
        row, own = S[i], by * z[i]
        for k in range(z.size):
            row[k] += own * z[k]


@njit(cache=True, nogil=True, error_model="numpy")
def leave_rows(Z, active, signs, w, n, at, S):
    """Remove column `at` from the n active ones and from the products S of rows."""
    add_square(S, Z[active[at]], -1.0)
    for i in range(at, n - 1):
        active[i], signs[i], w[i] = active[i + 1], signs[i + 1], w[i + 1]


@njit(cache=True, nogil=True, error_model="numpy")
def first_to_vanish(w, n, way, signs, most):
    """Return (active column that becomes zero first as w moves along `way`, share of it by then).

    (-1, most) if none does within the share `most`.
    """
    at = -1
    for i in range(n):
        if way[i] * signs[i] < 0.0 and -w[i] / way[i] < most:
            at, most = i, -w[i] / way[i]
    return at, most


@njit(cache=True, nogil=True, error_model="numpy")
def give_way(sign, active, signs, w, n, R, x, way):
    """Move a new column along its sign, and the active columns that it depends on against it,
    until one of these leaves; return by how far, or -1 if none does.

    x is as `join` leaves it.
    """
    for i in range(n - 1, -1, -1):
        rest = sign * x[i]
        for k in range(i + 1, n):
            rest += R[i, k] * way[k]
        way[i] = -rest / R[i, i]
    at, size = first_to_vanish(w, n, way, signs, np.inf)
    if at < 0:
        return -1.0
    for i in range(n):
        w[i] += size * way[i]
    leave(active, signs, w, n, at, R)
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def add_active(Z, active, w, n, by, r):
    """Add by * A'w to r, A being the active columns."""
    for i in range(n):
        z, size = Z[active[i]], by * w[i]
        for t in range(r.size):
            r[t] += size * z[t]


@njit(cache=True, nogil=True, error_model="numpy")
def along_active(Z, active, n, r, out):
    """Fill out[:n] with A r, A being the active columns."""
    for i in range(n):
        z, a, b, c, d = Z[active[i]], 0.0, 0.0, 0.0, 0.0
        last = r.size - r.size % 4
        for t in range(0, last, 4):  # four sums at a time
            a += z[t] * r[t]
            b += z[t + 1] * r[t + 1]
            c += z[t + 2] * r[t + 2]
            d += z[t + 3] * r[t + 3]
        for t in range(last, r.size):
            a += z[t] * r[t]
        out[i] = (a + b) + (c + d)


@njit(cache=True, nogil=True, error_model="numpy")
def aim(Z, y, b, l1, l2, active, signs, n, R, by_rows, u, way):
    """Fill way with the solution of the equations of the active columns."""
    if not by_rows:
        for i in range(n):
            way[i] = b[active[i]] - l1 * signs[i]
        solve(R, n, way)
        return
    for t in range(y.size):
        u[t] = l2 * y[t]
    add_active(Z, active, signs, n, l1, u)
    solve(R, y.size, u)
    along_active(Z, active, n, u, way)
    for i in range(n):
        way[i] = (way[i] - l1 * signs[i]) / l2


@njit(cache=True, nogil=True, error_model="numpy")
def lacking(Z, l1, l2, slack, active, signs, w, n, r, way):
    """Fill way with what the equations of the active columns lack; return the largest of it."""
    worst = 0.0
    along_active(Z, active, n, r, way)
    for i in range(n):
        way[i] -= l2 * w[i] + l1 * signs[i]
        worst = max(worst, abs(way[i]) - slack[active[i]])
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def refine(Z, y, l1, l2, slack, active, signs, w, n, R, by_rows, u, way, r):
    """Correct w and its residuals r for rounding; return whether the equations hold then."""
    lacking(Z, l1, l2, slack, active, signs, w, n, r, way)
    if by_rows:
        u[:] = 0.0
        add_active(Z, active, way, n, -1.0, u)
        solve(R, y.size, u)
        for i in range(n):
            z, more = Z[active[i]], way[i]
            for t in range(y.size):
                more += z[t] * u[t]
            way[i] = more / l2
    else:
        solve(R, n, way)
    for i in range(n):
        w[i] += way[i]
        if not w[i] * signs[i] > 0.0:
            return False
    r[:] = y
    add_active(Z, active, w, n, -1.0, r)
    return lacking(Z, l1, l2, slack, active, signs, w, n, r, way) <= SLACK * l1


@njit(cache=True, nogil=True, error_model="numpy")
def largest_excess(Z, r, l1, slack, positive, active, n, g):
    """Fill g with the gradients of the columns, 0 of active ones; return by how much the largest
    exceeds the penalty, 0 if none does."""
    np.dot(Z, r, g)
    for i in range(n):
        g[active[i]] = 0.0
    most = 0.0
    for c in range(g.size):
        size = g[c] if positive else abs(g[c])
        most = max(most, size - l1 * (1.0 + SLACK) - slack[c])
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def entering(l1, least, slack, positive, g):
    """Return the columns whose gradient exceeds the penalty by at least so much."""
    out, n = np.empty(g.size, np.int64), 0
    for c in range(g.size):
        size = g[c] if positive else abs(g[c])
        if size - l1 * (1.0 + SLACK) - slack[c] >= least:
            out[n] = c
            n += 1
    return out[:n]


@njit(cache=True, nogil=True, error_model="numpy")
def enter(Z, new, l2, active, signs, w, n, R, x, way, g):
    """Add new columns to the factor R; return (status, number of active columns).

    A column that depends on active ones enters alone, and one of these leaves.
    """
    products, before = np.dot(Z[new], Z.T), n
    for i in range(new.size):
        c = new[i]
        sign = 1.0 if g[c] > 0.0 else -1.0
        if l2 > 0.0 and n == Z.shape[1]:
            return FULL, n
        if join(products[i], c, l2, active, n, R, x):
            w[n], signs[n] = 0.0, sign
            n += 1
        elif n == before:
            by = give_way(sign, active, signs, w, n, R, x, way)
            if by < 0.0 or not join(products[i], c, l2, active, n - 1, R, x):
                return ILL, n
            w[n - 1], signs[n - 1] = sign * by, sign
            return FINE, n
    return FINE, n


@njit(cache=True, nogil=True, error_model="numpy")
def enter_rows(Z, new, active, signs, w, n, S, g):
    """Add new columns to the products S of rows; return the number of active columns."""
    for c in new:
        add_square(S, Z[c], 1.0)
        active[n], w[n], signs[n] = c, 0.0, 1.0 if g[c] > 0.0 else -1.0
        n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def is_unique(Z, l1, l2, positive, active, n, R, x, g):
    """Return whether the active columns and those whose gradient is as large as the penalty are
    independent: then no column could replace others."""
    for c in range(g.size):
        size = g[c] if positive else abs(g[c])
        if size > l1 * (1.0 - LEVEL):
            if l2 > 0.0 and n == Z.shape[1]:
                return True
            if not join(np.dot(Z, Z[c]), c, l2, active, n, R, x):
                return False
            n += 1
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def minimum(
    Z, y, b, slack, l1, l2, positive, stop, active, signs, w, n, R, has_factor, S, r
):
    """Take w to the minimum, and r to its residuals; return (status, number of active columns).

    has_factor tells whether R is that of the active columns without a penalty.
    """
    n_rows, by_rows = y.size, n > y.size
    A = Z[active[:n]]
    if by_rows:
        S[:] = np.dot(A.T, A)
    elif not ((l2 == 0.0 and has_factor) or factor(np.dot(A, A.T), l2, R)):
        return ILL, n
    x, way, g, u = (
        np.empty(b.size),
        np.empty(b.size),
        np.empty(b.size),
        np.empty(n_rows),
    )
    for _ in range(PIVOTS * (b.size + 1)):
        if by_rows and not factor(S, l2, R):
            return ILL, n
        if stop[0]:
            return FINE, n
        aim(Z, y, b, l1, l2, active, signs, n, R, by_rows, u, way)
        for i in range(n):
            way[i] -= w[i]
        at, share = first_to_vanish(w, n, way, signs, 1.0)
        for i in range(n):
            w[i] += share * way[i]
        if at >= 0:
            if by_rows:
                leave_rows(Z, active, signs, w, n, at, S)
            else:
                leave(active, signs, w, n, at, R)
            n -= 1
            continue
        r[:] = y
        add_active(Z, active, w, n, -1.0, r)
        most = largest_excess(Z, r, l1, slack, positive, active, n, g)
        if most <= 0.0:
            own = Z, y, l1, l2, slack, active, signs, w, n, R, by_rows, u, way, r
            if not refine(*own):
                return ILL, n
            if by_rows or is_unique(Z, l1, l2, positive, active, n, R, x, g):
                return FINE, n
            return ILL, n
        new = entering(l1, ENTER * most, slack, positive, g)
        if by_rows:
            n = enter_rows(Z, new, active, signs, w, n, S, g)
            continue
        status, n = enter(Z, new, l2, active, signs, w, n, R, x, way, g)
        if status == FULL:
            by_rows = True
            A = Z[active[:n]]
            S[:] = np.dot(A.T, A)
        elif status != FINE:
            return status, n
    return ILL, n


@njit(cache=True, nogil=True, error_model="numpy")
def descend(Z, y, b, slack, l1s, l2s, positive, stop, active, signs, w, n, out):
    """Fill out with the minima for l1s[s], l2s[s], which fall with s; return a status.

    The first n of active, signs and w hold the start.
    out = (residuals [settings, rows], then [settings, columns]: active columns, their weights;
    number of them [settings])
    """
    every_r, columns, weights, numbers = out
    R = np.empty((y.size + 1, y.size + 1))
    S = np.empty((y.size, y.size))
    for s in range(l1s.size):
        l1, l2, r = l1s[s], l2s[s], every_r[s]
        state = active, signs, w, n, R, s > 0, S, r
        status, n = minimum(Z, y, b, slack, l1, l2, positive, stop, *state)
        if status != FINE or stop[0]:
            return status
        numbers[s] = n
        columns[s, :n], weights[s, :n] = active[:n], w[:n]
    return FINE
