"""What the nearest neighbours of a row say, for every k: the commonest class, or the mean."""

from __future__ import annotations

import numpy as np
from numba import njit

EXCLUDED = -2  # code of a row that is in no training part
EVEN = 1e-9  # sums of weights 1 / distance that differ by less, relatively: an offset of 1e6 costs them digits


@njit(cache=True, nogil=True)
def _say(
    rows,
    distances,
    n,
    codes,
    y,
    ks,
    columns,
    weighted,
    sums,
    so_far,
    classes,
    means,
    shares,
):
    """Fill one row of classes or means, and of shares, with what the first ks[0] < ks[1] < ... of n neighbours say.

    Column columns[s] is that of ks[s]. Even votes go to the smaller class. Gives the number of ks whose last neighbour is no
    nearer than the one after it, which only row numbers tell apart.
    """
    n_classes, n_most, tied, even = (
        sums.size,
        ks[-1],
        0,
        1.0 - EVEN if weighted else 1.0,
    )
    touching = weighted and np.isinf(
        _weight(distances[0], False)
    )  # then those at distance 0 alone have a say
    if n_classes == 2:  # no branch: votes are unpredictable
        first = second = 0.0
        for a in range(n_most):
            weight = _weight(distances[a], touching) if weighted else 1.0
            second += weight * codes[rows[a]]
            first += weight * (1 - codes[rows[a]])
            so_far[a] = even * second > first
    elif n_classes:
        best = 0
        sums[:] = 0.0
        for a in range(n_most):
            c = codes[rows[a]]
            sums[c] += _weight(distances[a], touching) if weighted else 1.0
            if even * sums[c] > sums[best] or (
                sums[c] >= even * sums[best] and c < best
            ):
                best = c
            so_far[a] = best
    else:
        total = mean = 0.0
        for a in range(n_most):
            weight = _weight(distances[a], touching) if weighted else 1.0
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
    """Fill shares[columns[s], c] with the share of class c in the votes of the first ks[s]."""
    sums[:] = 0.0
    total, a = 0.0, 0
    for s in range(ks.size):
        while a < ks[s]:
            weight = _weight(distances[a], touching) if weighted else 1.0
            sums[codes[rows[a]]] += weight
            total += weight
            a += 1
        for c in range(sums.size):
            shares[columns[s], c] = sums[c] / total


@njit(cache=True, nogil=True)
def _weight(distance, touching):
    """1 / distance; where some rows touch the test row, 1 for those and 0 for the others."""
    inverse = np.inf if distance == 0.0 else 1.0 / distance
    if touching:
        return 1.0 if np.isinf(inverse) else 0.0
    return inverse


@njit(cache=True, nogil=True)
def _walk_mixed(near, distance, there, code, own, rows, distances):
    """Fill rows and distances from a list marked as mixed, past rows left out; gives how many.

    Rows that are equally far get the distance of the first of them that is not left out.
    """
    n, level = 0, -1.0
    for a in range(there):
        row, kept = near[a], (code[near[a]] != own) & (code[near[a]] != EXCLUDED)
        level = -1.0 if distance[a] >= 0.0 else level  # not tied with the row before it
        level = abs(distance[a]) if kept & (level < 0.0) else level
        rows[n], distances[n] = row, level
        n += kept
        if n == rows.size:
            break
    return n


@njit(cache=True, nogil=True)
def say(
    where,
    train,
    near,
    distance,
    reach,
    mixed,
    codes,
    y,
    ks,
    columns,
    weighted,
    n_classes,
    classes,
    means,
    shares,
):
    """Fill row where[t] of classes or means, and of shares, from the neighbours train[near[t]]; gives the number of ties."""
    n_most = ks[-1]
    rows, level = np.empty(n_most, dtype=np.int64), np.empty(n_most + 1)
    sums, so_far, tied = np.empty(n_classes), np.empty(n_most), 0
    for t in range(near.shape[0]):
        n, at = reach[t] if reach[t] >= 0 else -1 - reach[t], where[t]
        for a in range(n_most):
            rows[a] = train[near[t, a]]
        distances = distance[t]
        if mixed[
            t
        ]:  # rows that count as equally far get the distance of the first of them
            distances = level
            for a in range(min(n, n_most + 1)):
                level[a] = distance[t, a] if distance[t, a] >= 0.0 else level[a - 1]
        tied += _say(
            rows, distances, n, codes, y, ks, columns, weighted, sums, so_far,
            classes[at if n_classes else 0], means[0 if n_classes else at], shares[at if shares.shape[2] else 0],
        )  # fmt: skip
    return tied


@njit(cache=True, nogil=True)
def walk(
    test, own, code, near, distance, reach, mixed, codes, y, ks, columns, weighted, n_classes, classes, means, shares, short,
    first,
):  # fmt: skip
    """Fill row t of classes or means, and of shares, by walking the list of row test[t] past rows not in its training part.

    Row i is in it where code[i] is neither EXCLUDED nor own[t]. short[t] is 1 where the list ends too early, and nothing is
    filled; first[t] is the distance of the nearest row otherwise. Gives the number of tied predictions.
    """
    n_most = ks[-1]
    rows, distances = np.empty(n_most + 1, dtype=np.int64), np.empty(n_most + 1)
    sums, so_far, tied = np.empty(n_classes), np.empty(n_most), 0
    for t in range(test.size):
        i = test[t]
        there = reach[i] if reach[i] >= 0 else -1 - reach[i]
        n = 0
        if mixed[i]:
            n = _walk_mixed(near[i], distance[i], there, code, own[t], rows, distances)
            there = 0
        for a in range(there):
            row = near[i, a]
            rows[n], distances[n] = row, distance[i, a]
            n += (code[row] != own[t]) & (
                code[row] != EXCLUDED
            )  # no branch: which rows are left out is unpredictable
            if n > n_most:
                break
        short[t] = n <= n_most and reach[i] >= 0
        if not short[t]:
            first[t] = distances[0]
            tied += _say(
                rows, distances, n, codes, y, ks, columns, weighted, sums, so_far,
                classes[t if n_classes else 0], means[0 if n_classes else t], shares[t if shares.shape[2] else 0],
            )  # fmt: skip
    return tied
