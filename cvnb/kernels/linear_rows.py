"""Loops of linear models over rows: sums over blocks, means, predictions, losses, classes.

A row of the design is a = root * [x - centre, 1, y - level], root being the square root of
its weight. The sums over rows form one flat vector, so that sums of blocks are sums of
vectors, with q = p + 1 + targets:

    [ a a' (q * q, the lower half),
      sum of x - centre (p), sum of (x - centre)^2 (p), number of rows ]

The last three are without weights, since a scaler ignores them. Every fit needs only these sums.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ROWS = 128  # rows of X processed at once: they stay in the cache
CLOSE = 1e-9  # share of the largest decision, or of 1, by which a close call is decided


@njit(cache=True, nogil=True)
def add_products(A, out):
    """Add A'A to the lower half of out, by two of its rows and four rows of A at a time."""
    n, q = A.shape
    for t in range(0, n - n % 4, 4):
        a, b, c, d = A[t], A[t + 1], A[t + 2], A[t + 3]
        for i in range(0, q - q % 2, 2):
            upper, lower = out[i], out[i + 1]
            a0, b0, c0, d0 = a[i], b[i], c[i], d[i]
            a1, b1, c1, d1 = a[i + 1], b[i + 1], c[i + 1], d[i + 1]
            for k in range(i + 2):
                x, y, z, w = a[k], b[k], c[k], d[k]
                upper[k] += a0 * x + b0 * y + c0 * z + d0 * w
                lower[k] += a1 * x + b1 * y + c1 * z + d1 * w
        if q % 2:
            last, a0, b0, c0, d0 = out[q - 1], a[q - 1], b[q - 1], c[q - 1], d[q - 1]
            for k in range(q):
                last[k] += a0 * a[k] + b0 * b[k] + c0 * c[k] + d0 * d[k]
    for t in range(n - n % 4, n):
        a = A[t]
        for i in range(q):
            row, by = out[i], a[i]
            for k in range(i + 1):
                row[k] += by * a[k]


@njit(cache=True, nogil=True)
def sort_rows(rows, label, places, out):
    """Fill out with the rows sorted by label, from -1 on; places[k + 1], the start of label k,
    is moved."""
    for t in range(rows.size):
        k = label[t] + 1
        out[places[k]] = rows[t]
        places[k] += 1


@njit(cache=True, nogil=True)
def sum_blocks(X, Y, root, rows, starts, centre, level, stop, out):
    """Fill out[i] with the sums over rows[starts[i] : starts[i + 1]]; root is empty without
    weights."""
    p, n_targets = X.shape[1], Y.shape[1]
    q = p + 1 + n_targets
    A = np.empty((ROWS, q))
    for i in range(out.shape[0]):
        total = out[i]
        total[:] = 0.0
        gram = total[: q * q].reshape(q, q)
        first, second = total[q * q :], total[q * q + p :]
        for start in range(starts[i], starts[i + 1], ROWS):
            if stop[0]:
                return
            part = rows[start : min(start + ROWS, starts[i + 1])]
            for t in range(part.size):
                x, a, y = X[part[t]], A[t], Y[part[t]]
                for c in range(p):
                    a[c] = x[c] - centre[c]
                    first[c] += a[c]
                    second[c] += a[c] * a[c]
                a[p] = 1.0
                for c in range(n_targets):
                    a[p + 1 + c] = y[c] - level[c]
                if root.size:
                    for c in range(q):
                        a[c] *= root[part[t]]
            add_products(A[: part.size], gram)
        total[-1] = starts[i + 1] - starts[i]


@njit(cache=True, nogil=True)
def centre_of(X, rows, root, out):
    """Fill out with the weighted mean of these rows, exact for a constant column.

    It is taken about the first row that has a weight.
    """
    p, first, total = X.shape[1], 0, 0.0
    while root.size and root[rows[first]] == 0.0 and first < rows.size - 1:
        first += 1
    origin = X[rows[first]]
    out[:] = 0.0
    for t in range(rows.size):
        x, w = X[rows[t]], 1.0
        if root.size:
            w = root[rows[t]] * root[rows[t]]
        total += w
        for c in range(p):
            out[c] += w * (x[c] - origin[c])
    for c in range(p):
        out[c] = origin[c] + (out[c] / total if total > 0.0 else 0.0)


@njit(cache=True, nogil=True)
def predict(X, rows, starts, centre, coefs, stop, out):
    """Fill out[t] with [x - centre, 1] @ coefs[i] of rows[t], starts[i] <= t < starts[i + 1]."""
    p = X.shape[1]
    A = np.empty((ROWS, p + 1))
    A[:, p] = 1.0
    for i in range(coefs.shape[0]):
        for start in range(starts[i], starts[i + 1], ROWS):
            if stop[0]:
                return
            end = min(start + ROWS, starts[i + 1])
            for t in range(end - start):
                x, a = X[rows[start + t]], A[t]
                for c in range(p):
                    a[c] = x[c] - centre[c]
            np.dot(A[: end - start], coefs[i], out[start:end])


@njit(cache=True, nogil=True)
def add_losses(predictions, Y, w, rows, starts, squares, out, weights):
    """Add the losses of predictions[t], starts[i] <= t < starts[i + 1], to out[i], and their
    weights to weights[i].

    Losses are squared, or else absolute; out and predictions[t] are [targets * settings]. w is
    empty without weights. predictions[t] itself becomes the losses of row t.
    """
    n_targets = Y.shape[1]
    for i in range(out.shape[0]):
        total, weight = out[i], 1.0
        for t in range(starts[i], starts[i + 1]):
            row = predictions[t]
            width = row.size // n_targets
            if w.size:
                weight = w[rows[t]]
            weights[i] += weight
            for c in range(n_targets):
                y, own = Y[rows[t], c], row[c * width : (c + 1) * width]
                if squares:
                    for s in range(width):
                        own[s] = (y - own[s]) * (y - own[s])
                else:
                    for s in range(width):
                        own[s] = abs(y - own[s])
            for s in range(row.size):
                total[s] += weight * row[s]


@njit(cache=True, nogil=True)
def add_mean_losses(X, rows, starts, centre, coefs, Y, w, squares, stop, out, weights):
    """Add losses as `predict` and then `add_losses` would, without a table of rows and
    settings."""
    predictions = np.empty((ROWS, coefs.shape[2]))
    bounds = np.zeros(2, dtype=np.int64)
    for i in range(coefs.shape[0]):
        for start in range(starts[i], starts[i + 1], ROWS):
            part = rows[start : min(start + ROWS, starts[i + 1])]
            bounds[1] = part.size
            own = predictions[: part.size]
            predict(X, part, bounds, centre, coefs[i : i + 1], stop, own)
            if stop[0]:
                return
            total, weight = out[i : i + 1], weights[i : i + 1]
            add_losses(own, Y, w, part, bounds, squares, total, weight)


@njit(cache=True, nogil=True)
def classify(decisions, starts, present, codes):
    """Fill codes[t, s] with the class of the largest decisions[t, :, s], the first of equals;
    return the number of close calls.

    One target decides between two classes by its sign. present[i] holds the classes of the
    training part of split i. A call is close if best and second best differ by at most CLOSE
    of the largest decision of the split, or of 1.
    """
    n_targets, close = decisions.shape[1], 0
    for i in range(present.shape[0]):
        own = present[i]
        n_present = own.sum()
        part = decisions[starts[i] : starts[i + 1]]
        if n_present < 2:
            codes[starts[i] : starts[i + 1]] = np.argmax(own)
            continue
        limit = 1.0
        for d in part.flat:
            limit = max(limit, abs(d))
        limit *= CLOSE if n_targets == 1 or n_present > 2 else 2 * CLOSE
        for t in range(part.shape[0]):
            for s in range(part.shape[2]):
                best, second, at = -np.inf, -np.inf, 1
                if n_targets == 1:
                    best, second = abs(part[t, 0, s]), 0.0
                    at = 1 if part[t, 0, s] > 0.0 else 0
                for c in range(n_targets if n_targets > 1 else 0):
                    d = part[t, c, s]
                    if own[c] and d > best:
                        best, second, at = d, best, c
                    elif own[c] and d > second:
                        second = d
                codes[starts[i] + t, s] = at
                close += best - second <= limit
    return close
