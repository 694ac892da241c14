"""Nearest neighbours in order of (distance, row number).

Distances are compared through keys, from `distance_keys` or a matrix product: the square of a
Euclidean distance, twice a cosine distance, the power-th power of a Minkowski distance.

Distances equal up to rounding count as equal. Row z is as far from x as a row at distance d if it
is farther by at most SAME * d + blur, blur = ROUNDING * |x|: numbers are rounded before they are
subtracted, |z| is at most |x| + d. A class of equals is the nearest remaining row and all rows
as far as it. Without that row it may reach farther, so a list from which rows are left out ends
before a chain: each as far as the row before it, the last not as far as the first.
"""

from __future__ import annotations

import numpy as np
from numba import njit

EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI, COSINE = range(5)  # as in distance_keys.py
SAMPLE = 2048  # size of the sample of keys from which the threshold is guessed
SAME = 1e-12  # largest relative difference of distances that count as equal
ROUNDING = 2.0**-49  # the same for numbers in X: 8 roundings, as by a scaler
CROWDED = 64  # more candidates in one bucket than this are sorted by merging


@njit(cache=True, nogil=True)
def _distance(key, metric, power):
    """Return the distance that belongs to a key."""
    if metric == EUCLIDEAN:
        return np.sqrt(key)
    if metric == COSINE:
        return 0.5 * key
    if metric == MINKOWSKI:
        return key ** (1.0 / power)
    return key


@njit(cache=True, nogil=True)
def _key(distance, metric, power):
    """Return the key that belongs to a distance."""
    if metric == EUCLIDEAN:
        return distance * distance
    if metric == COSINE:
        return 2.0 * distance
    if metric == MINKOWSKI:
        return distance**power
    return distance


@njit(cache=True, nogil=True)
def norm(x, metric, power):
    """Return the distance of x from 0, for cosine its Euclidean length; no square overflows."""
    most, total = 0.0, 0.0
    for c in range(x.size):
        most = max(most, abs(x[c]))
    if metric == CHEBYSHEV or most < 1e-300:
        return most
    unit = 1.0 if 1e-100 < most < 1e100 and metric != MINKOWSKI else most
    by = 1.0 / unit
    for c in range(x.size):
        share = abs(x[c]) * by
        if metric == MINKOWSKI:
            total += share**power
        elif metric == MANHATTAN:
            total += share
        else:
            total += share * share
    if metric == COSINE:
        return unit * np.sqrt(total)
    return unit * _distance(total, metric, power)


@njit(cache=True, nogil=True)
def _slack(distance, blur, metric):
    """Return the largest difference from this distance that counts as equal."""
    if metric == COSINE:  # half of a squared distance between unit vectors
        return SAME * distance + blur * (np.sqrt(2.0 * distance) + 0.5 * blur)
    return SAME * distance + blur


@njit(cache=True, nogil=True)
def _squares(Q, t, T, found, n, out):
    """Fill out[a] with the sum of (Q[t] - T[found[a]])² for a < n, in the order of NumPy's sum."""
    n_columns = T.shape[1]
    whole = n_columns - n_columns % 8 if n_columns >= 8 else 0
    sums = np.empty(8)  # eight sums at a time use the vector units
    for a in range(n):
        i, total = found[a], 0.0
        if whole:
            sums[:] = 0.0
            for c in range(0, whole, 8):
                for k in range(8):
                    gap = Q[t, c + k] - T[i, c + k]
                    sums[k] += gap * gap
            low = (sums[0] + sums[1]) + (sums[2] + sums[3])
            high = (sums[4] + sums[5]) + (sums[6] + sums[7])
            total = low + high
        for c in range(whole, n_columns):
            gap = Q[t, c] - T[i, c]
            total += gap * gap
        out[a] = total


@njit(cache=True, nogil=True)
def _threshold(sample, shift, wanted, guess):
    """Return a value that `wanted` or slightly more of sample + shift do not exceed, or inf."""
    low, high, at, growth, leap = -np.inf, np.inf, guess, 4.0, 2.0
    for _ in range(200):
        below, bound = 0, at - shift
        for i in range(sample.size):
            below += sample[i] <= bound
        if below < wanted:
            low = at
        elif below <= 1.1 * wanted + 1:
            return at
        else:
            high = at
        if at > 0.0 and below > 0:  # as if counts grew like a power of the distance
            at *= (1.05 * wanted / below) ** (1.0 / growth)
            growth = max(1.0, 0.7 * growth)
        if not low < at < high:
            if low == -np.inf:
                at = high / leap if high > 1e-300 else high - max(abs(high), 1e-300)
            elif high == np.inf:
                at = low * leap if low > 1e-300 else low + max(abs(low), 1e-300)
            else:
                at = 0.5 * (low + high)
                if at <= low or at >= high:
                    break
            leap *= leap if leap < 1e100 else 1.0
    return high


@njit(cache=True, nogil=True)
def _candidates(
    keys, shift, own, length, guess, slack, spread, blur, metric, power, sample, found
):
    """Fill found with all rows whose key + shift is at most a limit; return (number, limit).

    At least `length` of them are well below the limit. Rows tied with the last of these, and rows
    tied with those, do not exceed it.
    """
    n, n_left = keys.size, keys.size - (own >= 0)
    if own >= 0:
        keys[own] = np.inf
    step = 1 if n <= 2 * SAMPLE else n // SAMPLE
    sampled = keys
    if step > 1:
        sampled = sample[: (n + step - 1) // step]
        for i in range(sampled.size):
            sampled[i] = keys[i * step]
    wanted = length + (1.5 * np.sqrt(length * step) if step > 1 else 0.0)
    while wanted < n_left:
        limit = _threshold(sampled, shift, wanted / step, guess)
        if limit == np.inf:
            break
        last = _distance(max(limit, 0.0), metric, power)
        farther = _key(last + 3.0 * _slack(last, blur, metric), metric, power)
        wider = max(limit, farther) + 8.0 * slack * max(abs(limit), farther) + spread
        n_found, n_below = 0, length
        for i in range(n):  # no branch: which rows are near is unpredictable
            found[n_found] = i
            n_found += keys[i] <= wider - shift
        if step > 1:
            n_below = 0
            for i in range(n):
                n_below += keys[i] <= limit - shift
        if n_below >= length:
            return n_found, wider
        wanted *= 2
    for a in range(n_left):
        found[a] = a + (a >= own) if own >= 0 else a
    return n_left, np.inf


@njit(cache=True, nogil=True)
def _sort(distances, n, order, start, place):
    """Fill order with 0 ... n - 1 by (distance, number): bucket sort, then insertion sort."""
    low, high = distances[0], distances[0]
    for a in range(1, n):
        low = distances[a] if distances[a] < low else low
        high = distances[a] if distances[a] > high else high
    n_buckets = 2 * n
    scale = (n_buckets - 1) / (high - low) if high > low else 0.0
    if not (scale < np.inf and high < np.inf):  # cannot be divided into buckets
        _merge_sort(distances, n, order)
        return
    start[: n_buckets + 1] = 0
    for a in range(n):
        place[a] = np.int64((distances[a] - low) * scale)
        start[place[a] + 1] += 1
    fullest = 0
    for bucket in range(n_buckets):
        fullest = max(fullest, start[bucket + 1])
        start[bucket + 1] += start[bucket]
    if fullest > CROWDED and high > low:
        _merge_sort(distances, n, order)
        return
    for a in range(n):
        order[start[place[a]]] = a
        start[place[a]] += 1
    for a in range(1, n):
        moved, b = order[a], a - 1
        while b >= 0 and distances[order[b]] > distances[moved]:
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = moved


@njit(cache=True, nogil=True)
def _merge_sort(distances, n, order):
    """Fill order as `_sort` does, from the bottom up, the left half first among equals."""
    merged, other, width = np.empty(n, np.int64), np.empty(n, np.int64), 1
    for a in range(n):
        merged[a] = a
    while width < n:
        for begin in range(0, n, 2 * width):
            a, middle, end = begin, min(begin + width, n), min(begin + 2 * width, n)
            b = middle
            for at in range(begin, end):
                left_is_next = b >= end or distances[merged[a]] <= distances[merged[b]]
                if a < middle and left_is_next:
                    other[at] = merged[a]
                    a += 1
                else:
                    other[at] = merged[b]
                    b += 1
        merged, other = other, merged
        width *= 2
    for a in range(n):
        order[a] = merged[a]


@njit(cache=True, nogil=True)
def select(
    keys, exact, shift, spread, own, Q, T, metric, power, size, final,
    near, distance, reach, mixed,
):  # fmt: skip
    """Fill near[t] and distance[t] with the rows of T nearest to Q[t] and their distances.

    keys    [t, i] as `fill_keys` gives them if `exact`; otherwise keys[t] + shift[t] are lower
            bounds of squared distances, for near rows less than spread[t] too low; overwritten
    own     own[t] is the row of T that is Q[t] itself and no neighbour of it, or -1
    size    length of what was subtracted from the rows
    final   no row is left out of the lists later
    near    sorted by (distance, row number)
    reach   the first reach[t] entries of near[t] are certain; -1 - n: there are only these n rows
    mixed   1 where rounding separates distances that count as equal; then a row that is as far as
            the previous one has its distance with a minus sign
    """
    n, length = keys.shape[1], near.shape[1]
    sample, distances, found = np.empty(n), np.empty(n), np.empty(n + 1, dtype=np.int64)
    order, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    start = np.empty(2 * n + 1, dtype=np.int64)
    guess = max(keys[0, n // 2] + shift[0], 1e-300)
    slack = (2 * T.shape[1] + 16) * 2.0**-53
    for t in range(keys.shape[0]):
        blur = ROUNDING * (norm(Q[t], metric, power) + size)
        zero, wanted = _slack(0.0, blur, metric), length
        while True:
            n_found, limit = _candidates(
                keys[t], shift[t], own[t], wanted, guess, slack, spread[t], blur,
                metric, power, sample, found,
            )  # fmt: skip
            if not exact:
                _squares(Q, t, T, found, n_found, distances)
            for a in range(n_found):
                key = keys[t, found[a]] if exact else distances[a]
                d = _distance(key, metric, power)
                distances[a] = d if d > zero else 0.0
            certain = np.inf
            if limit < np.inf:
                guess = limit if limit > 0.0 else guess
                certain = _distance(max(limit, 0.0) * (1.0 - slack), metric, power)
                certain = max(certain, 5e-324)  # distances of 0 are certain
            _sort(distances, n_found, order, start, place)
            reach[t], mixed[t] = _keep(
                found, distances, order, n_found, certain, blur, metric, final,
                near[t], distance[t],
            )  # fmt: skip
            if not (final and exact and 0 <= reach[t] < length):
                break
            wanted = n  # a class of equals went on beyond the limit


@njit(cache=True, nogil=True)
def _keep(
    found, distances, order, n_found, certain, blur, metric, final, near, distance
):
    """Fill near and distance with the first candidates, as in `select`; return (reach, mixed).

    No row nearer than `certain` is missing among the candidates; their row numbers increase.
    """
    kept = min(n_found, near.size)
    for a in range(kept):
        near[a], distance[a] = found[order[a]], distances[order[a]]
    last, close, end = distance[kept - 1] if kept else 0.0, 0, kept
    most = _slack(last, blur, metric)
    for a in range(1, kept):  # no branch
        gap = distance[a] - distance[a - 1]
        close += (gap > 0.0) & (gap <= most)
    while end < n_found and distances[order[end]] == last:
        end += 1
    if close or (end < n_found and distances[order[end]] - last <= most):
        return _keep_classes(
            found, distances, order, n_found, certain, blur, metric, final, near, distance
        )  # fmt: skip
    if end == n_found and certain < np.inf:
        while kept > 0 and last + _slack(last, blur, metric) >= certain:
            kept -= 1  # a row that was not found may be as far
            last = distance[kept - 1] if kept else 0.0
    return (-1 - kept if certain == np.inf and n_found <= near.size else kept), 0


@njit(cache=True, nogil=True)
def _keep_classes(
    found, distances, order, n_found, certain, blur, metric, final, near, distance
):
    """Do the same class by class where rounding separates distances that count as equal."""
    a = mixed = 0
    while a < n_found and a < near.size:
        first = distances[order[a]]
        last, b = first, a + 1
        while b < n_found and distances[order[b]] - last <= _slack(last, blur, metric):
            last = distances[order[b]]
            b += 1
        if b == n_found and np.inf > certain <= last + _slack(last, blur, metric):
            return a, mixed
        if last - first > _slack(first, blur, metric):
            if not final:
                return a, mixed
            b = a + 1
            while distances[order[b]] - first <= _slack(first, blur, metric):
                b += 1
            last = distances[order[b - 1]]
        if last > first:
            _sort_numbers(order[a:b])
            mixed = 1
        for c in range(a, min(b, near.size)):
            d = distances[order[c]]
            near[c] = found[order[c]]
            distance[c] = -d if last > first and c > a else d
        a = b
    kept = min(a, near.size)
    return (-1 - kept if certain == np.inf and n_found <= near.size else kept), mixed


@njit(cache=True, nogil=True)
def _sort_numbers(numbers):
    """Sort numbers in place by Shell's method, which is insertion where they are few."""
    gap = 1 if numbers.size <= CROWDED else numbers.size // 9 + 1
    while gap > 0:
        for a in range(gap, numbers.size):
            moved, b = numbers[a], a - gap
            while b >= 0 and numbers[b] > moved:
                numbers[b + gap] = numbers[b]
                b -= gap
            numbers[b + gap] = moved
        gap = 0 if gap == 1 else max(1, gap // 3)


@njit(cache=True, nogil=True)
def settle(
    found, keys, last, own, Q, n_columns, metric, power, size, final,
    near, distance, reach, mixed,
):  # fmt: skip
    """Fill the lists as `select` does, from the rows found[t] and their keys[t], as from a tree.

    found[t] increases, but for numbers below 0, which are no rows; every row nearer to the first
    n_columns of Q[t] than last[t] is in it.
    """
    n = found.shape[1]
    distances, rows = np.empty(n), np.empty(n, np.int64)
    order, place = np.empty(n, np.int64), np.empty(n, np.int64)
    start = np.empty(2 * n + 1, dtype=np.int64)
    for t in range(found.shape[0]):
        blur = ROUNDING * (norm(Q[t, :n_columns], metric, power) + size)
        zero, n_found = _slack(0.0, blur, metric), 0
        for a in range(n):
            i = found[t, a]
            if i < 0 or i == own[t]:
                continue
            d = _distance(keys[t, a], metric, power)
            rows[n_found], distances[n_found] = i, d if d > zero else 0.0
            n_found += 1
        if n_found == 0:
            reach[t], mixed[t] = 0, 0
            continue
        _sort(distances, n_found, order, start, place)
        certain = (0.5 * last[t] ** 2 if metric == COSINE else last[t]) * (1.0 - 1e-14)
        reach[t], mixed[t] = _keep(
            rows, distances, order, n_found, certain, blur, metric, final,
            near[t], distance[t],
        )  # fmt: skip
