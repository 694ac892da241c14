"""Predictions of nearest neighbours for every k: the commonest class, or the mean."""

from __future__ import annotations

import numpy as np
from numba import njit

EXCLUDED = -2  # code of a row that is in no training part
# weighted: every vote counts 1; 1 / distance; otherwise a temperature above 0
UNIFORM, INVERSE = 0.0, -1.0
EVEN = 1e-9  # relative difference of summed weights that count as equal: offsets cost digits


@njit(cache=True, nogil=True)
def _predict_row(
    rows, distances, n, codes, y, ks, columns, weighted, sums, so_far, classes, means, shares
):  # fmt: skip
    """Fill one row of classes or means, and of shares, from the first ks[s] of n neighbours.

    ks increases; its results go to column columns[s]. Ties go to the smaller class. Return for how
    many ks the last neighbour is no nearer than the next one, so that row numbers decide.
    """
    n_classes, n_most, tied = sums.size, ks[-1], 0
    even = 1.0 - EVEN if weighted else 1.0
    nearest = distances[0]
    near = weighted == INVERSE and nearest < 1.0
    touching = near and (nearest == 0.0 or np.isinf(1.0 / nearest))
    if n_classes == 2:  # no branch: votes are unpredictable
        first = second = 0.0
        for a in range(n_most):
            weight = (
                _weight(distances[a], nearest, weighted, touching) if weighted else 1.0
            )
            second += weight * codes[rows[a]]
            first += weight * (1 - codes[rows[a]])
            so_far[a] = even * second > first
    elif n_classes:
        best = 0
        sums[:] = 0.0
        for a in range(n_most):
            c = codes[rows[a]]
            sums[c] += (
                _weight(distances[a], nearest, weighted, touching) if weighted else 1.0
            )
            tied_and_smaller = sums[c] >= even * sums[best] and c < best
            if even * sums[c] > sums[best] or tied_and_smaller:
                best = c
            so_far[a] = best
    else:
        total = mean = 0.0
        for a in range(n_most):
            weight = (
                _weight(distances[a], nearest, weighted, touching) if weighted else 1.0
            )
            total += weight
            mean += weight * y[rows[a]]
            so_far[a] = mean / total
    for s in range(ks.size):
        k = ks[s]
        if n_classes:
            classes[columns[s]] = np.int64(so_far[k - 1])
        else:
            means[columns[s]] = so_far[k - 1]
        tied += k < n and distances[k] == distances[k - 1]
    if shares.shape[1]:
        _share(rows, distances, codes, ks, columns, weighted, touching, sums, shares)
    return tied


@njit(cache=True, nogil=True)
def _share(rows, distances, codes, ks, columns, weighted, touching, sums, shares):
    """Fill shares[columns[s], c] with the share of class c in the first ks[s] votes."""
    sums[:] = 0.0
    total, a, nearest = 0.0, 0, distances[0]
    for s in range(ks.size):
        while a < ks[s]:
            weight = (
                _weight(distances[a], nearest, weighted, touching) if weighted else 1.0
            )
            sums[codes[rows[a]]] += weight
            total += weight
            a += 1
        for c in range(sums.size):
            shares[columns[s], c] = sums[c] / total


@njit(cache=True, nogil=True)
def _weight(distance, nearest, weighted, touching):
    """Return the weight of a neighbour, by INVERSE or by a temperature.

    If some rows touch the test row, the inverse is 1 for these and 0 for the others.
    """
    if weighted > 0.0:
        return np.exp((nearest - distance) / weighted)
    inverse = np.inf if distance == 0.0 else 1.0 / distance
    if touching:
        return 1.0 if np.isinf(inverse) else 0.0
    return inverse


@njit(cache=True, nogil=True)
def predict(
    places, train, near, distance, reach, mixed,
    codes, y, ks, columns, weighted, n_classes, classes, means, shares,
):  # fmt: skip
    """Fill row places[t] of classes or means, and of shares, from the neighbours train[near[t]].

    near, distance, reach and mixed are the lists that `neighbours.select` fills. Return the number
    of tied predictions.
    """
    n_most = ks[-1]
    rows, level = np.empty(n_most, dtype=np.int64), np.empty(n_most + 1)
    sums, so_far, tied = np.empty(n_classes), np.empty(n_most), 0
    for t in range(near.shape[0]):
        n = reach[t] if reach[t] >= 0 else -1 - reach[t]
        for a in range(n_most):
            rows[a] = train[near[t, a]]
        distances = distance[t]
        if mixed[t]:  # equally far rows get the distance of the first of them
            distances = level
            for a in range(min(n, n_most + 1)):
                level[a] = distance[t, a] if distance[t, a] >= 0.0 else level[a - 1]
        at = places[t]
        tied += _predict_row(
            rows, distances, n, codes, y, ks, columns, weighted, sums, so_far,
            classes[at if n_classes else 0], means[0 if n_classes else at],
            shares[at if shares.shape[2] else 0],
        )  # fmt: skip
    return tied


@njit(cache=True, nogil=True)
def walk(
    test, own, code, near, distance, reach, mixed,
    codes, y, ks, columns, weighted, n_classes, classes, means, shares, short, first,
):  # fmt: skip
    """Fill row t of classes or means, and of shares, from the list of row test[t].

    Rows outside the training part are skipped: row i is in it if code[i] is neither EXCLUDED nor
    own[t]. short[t] becomes 1 if the list ends too early, and nothing else is filled; otherwise
    first[t] becomes the distance of the nearest row. Return the number of tied predictions.
    """
    n_most = ks[-1]
    rows, distances = np.empty(n_most + 1, dtype=np.int64), np.empty(n_most + 1)
    sums, so_far, tied = np.empty(n_classes), np.empty(n_most), 0
    for t in range(test.size):
        i = test[t]
        length = reach[i] if reach[i] >= 0 else -1 - reach[i]
        n = 0
        if mixed[i]:
            n = _walk_mixed(near[i], distance[i], length, code, own[t], rows, distances)
            length = 0
        for a in range(length):
            row = near[i, a]
            rows[n], distances[n] = row, distance[i, a]
            # no branch: which rows are skipped is unpredictable
            n += (code[row] != own[t]) & (code[row] != EXCLUDED)
            if n > n_most:
                break
        short[t] = n <= n_most and reach[i] >= 0
        if not short[t]:
            first[t] = distances[0]
            tied += _predict_row(
                rows, distances, n, codes, y, ks, columns, weighted, sums, so_far,
                classes[t if n_classes else 0], means[0 if n_classes else t],
                shares[t if shares.shape[2] else 0],
            )  # fmt: skip
    return tied


@njit(cache=True, nogil=True)
def _walk_mixed(near, distance, length, code, own, rows, distances):
    """Fill rows and distances from a list marked as mixed, without skipped rows; return how many.

    Equally far rows get the distance of the first of them that is not skipped.
    """
    n, level = 0, -1.0
    for a in range(length):
        row, kept = near[a], (code[near[a]] != own) & (code[near[a]] != EXCLUDED)
        level = -1.0 if distance[a] >= 0.0 else level  # not tied with the previous row
        level = abs(distance[a]) if kept & (level < 0.0) else level
        rows[n], distances[n] = row, level
        n += kept
        if n == rows.size:
            break
    return n
