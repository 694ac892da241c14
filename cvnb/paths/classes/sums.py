"""Sums over the rows of each class, block by block.

A block is an inner test part. Its training part is the sum of all other blocks and of the rows
that are never tested. Nothing is subtracted from a sum, so rows outside it have no influence. For
each class one vector is summed:

    [ n, sum of z (p), sum of z^2 (p), sum of w, sum of w z (p), second ]

    z = x - origin; w: weights

The origin is the mean of all rows summed, and `second` is an algorithm's own: sums of w z^2 or of
w z z'.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...runtime.threads import Team
from ...splits.layouts import Partition
from ..linear.rows import all_but_one
from .moments import Moments, Second, of_rows, of_sums

KEPT_BLOCKS = 32  # with more blocks than this only the sums of groups of them are kept


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows with the codes of their classes, and what is summed of them.

    w       weights, if any
    second  the second moments of a class, in the form `shape`
    """

    X: np.ndarray
    codes: np.ndarray
    w: np.ndarray | None
    second: Second
    shape: tuple[int, ...]

    @cached_property
    def n_classes(self) -> int:
        return int(self.codes.max()) + 1

    @property
    def width(self) -> int:
        """The length of the vector summed."""
        return 2 + 3 * self.X.shape[1] + math.prod(self.shape)

    def moments(self, rows: np.ndarray) -> Moments:
        """Return the moments of these rows."""
        return of_rows(self.X[rows], self.codes[rows], self.weights(rows), self.second)

    def weights(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.w is None else self.w[rows]


@dataclass(frozen=True, eq=False)
class PartSums:
    """The sums [classes, width] of a training part about its origin [p]."""

    sums: np.ndarray
    origin: np.ndarray
    shape: tuple[int, ...]

    def moments(self) -> Moments:
        return of_sums(self.sums, self.origin, self.shape)


class RowBlocks:
    """The rows of a training part by inner test parts, or all rows by outer test parts."""

    def __init__(self, source: ClassRows, rows: np.ndarray, layout: Partition) -> None:
        self.source, self.rows, self.n = source, rows, len(layout)
        n_classes = source.n_classes
        cells = (layout.label.astype(np.int64) + 1) * n_classes + source.codes[rows]
        self.places = np.argsort(cells, kind="stable")
        sizes = np.bincount(cells, minlength=(self.n + 1) * n_classes)
        self.ends = np.concatenate([[0], np.cumsum(sizes)])
        first = source.X[rows[0]]
        self.origin = first + (source.X[rows] - first).mean(axis=0)
        size = 1 if self.n <= KEPT_BLOCKS else math.isqrt(self.n)
        self.groups = [(a, min(a + size, self.n)) for a in range(0, self.n, size)]

    def sums(self, a: int, b: int) -> np.ndarray:
        """Return [blocks a ... b - 1, classes, width]; block -1 holds the rows never tested."""
        source = self.source
        n_classes = source.n_classes
        ends = self.ends[(a + 1) * n_classes : (b + 1) * n_classes + 1]
        out = np.zeros((ends.size - 1, source.width))
        filled = np.flatnonzero(np.diff(ends))
        rows = self.rows[self.places[ends[0] : ends[-1]]]
        if filled.size:
            Z, starts = source.X[rows] - self.origin, ends[filled] - ends[0]
            out[filled] = sums_of(Z, source.weights(rows), starts, source.second)
        return out.reshape(b - a, n_classes, -1)

    def each(
        self, call: Callable[[int, PartSums], Any], team: Team, wanted: range
    ) -> list[Any]:
        """Return call(k, sums of all rows outside block k) for the blocks wanted, in order."""
        never = self.sums(-1, 0)
        groups = team.map(lambda group: self.sums(*group).sum(axis=0), self.groups)
        self.of_groups = np.stack([*groups, never[0]])
        several = team.map(partial(self._group, call, wanted), range(len(self.groups)))
        return [result for results in several for result in results]

    def whole(self) -> PartSums:
        """Return the sums of all rows."""
        return self._part(self.of_groups.sum(axis=0))

    def _group(
        self, call: Callable[[int, PartSums], Any], wanted: range, g: int
    ) -> list[Any]:
        a, b = self.groups[g]
        outside = np.delete(self.of_groups, g, axis=0).sum(axis=0)
        own = self.sums(a, b) if b - a > 1 else np.zeros((1, *outside.shape))
        others = zip(range(a, b), all_but_one(outside, own), strict=True)
        return [call(k, self._part(sums)) for k, sums in others if k in wanted]

    def _part(self, sums: np.ndarray) -> PartSums:
        return PartSums(sums, self.origin, self.source.shape)


def sums_of(
    Z: np.ndarray, w: np.ndarray | None, starts: np.ndarray, second: Second
) -> np.ndarray:
    """Return [cells, width]: the sums over the rows from starts[i] up to starts[i + 1]."""
    ones = np.ones(len(Z))
    w, weighted = (ones, Z) if w is None else (w, Z * w[:, None])
    rows = np.column_stack([ones, Z, Z * Z, w, weighted])
    firsts = np.add.reduceat(rows, starts, axis=0)
    return np.hstack([firsts, second(Z, w, starts).reshape(starts.size, -1)])
