"""Sums over the blocks of one training part: each inner training part is a sum of them,
never a difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .least_squares import basis_of
from .penalty_path import PenaltyPath
from .precision import Precision
from .rows import LinearProblem, Origin

KEPT_BLOCKS = 32  # with more blocks only the sums of their groups are kept


@dataclass(frozen=True, eq=False)
class Total:
    """Sums over a whole part; exact is False if it has to be fitted from its own rows."""

    sums: np.ndarray
    origin: Origin
    exact: bool


class Sums:
    """Sums over the blocks of one part, about one origin and in one basis.

    ordered  the rows: those of no block up to starts[1], those of block k from starts[k + 1] on
    groups   (first, end) of the blocks of each group
    exact    False if each split has to be fitted from its own rows
    """

    def __init__(
        self,
        rows: LinearProblem,
        ordered: np.ndarray,
        starts: np.ndarray,
        groups: list[tuple[int, int]],
        path: PenaltyPath,
        precision: Precision,
    ) -> None:
        self.rows, self.ordered = rows, ordered
        self.starts, self.groups = starts, groups
        self.origin = rows.origin(ordered, path)
        self.exact = True
        if path.is_least_squares:
            whole = np.array([0, ordered.size])
            total = rows.sums(ordered, whole, self.origin)[0]
            basis = basis_of(rows, total, self.origin.centre, path, precision)
            self.exact = basis is not None
            if basis is not None:
                self.origin = self.origin._replace(basis=basis)
        n_blocks = groups[-1][1]
        n_kept = n_blocks if n_blocks <= KEPT_BLOCKS else 0
        # the last one holds the rows of no block
        self.of_groups = np.zeros((len(groups) + 1, rows.width))
        self.of_blocks = np.zeros((n_kept, rows.width))

    def add(self, g: int) -> None:
        """Sum the blocks of group g, and with the first group the rows of no block."""
        if not self.exact:
            return
        (a, b), starts = self.groups[g], self.starts
        if len(self.of_blocks):
            self.of_blocks[a:b] = self._sum(starts[a + 1 : b + 2])
            self.of_groups[g] = self.of_blocks[a:b].sum(axis=0)
        else:
            self.of_groups[g] = self._sum(starts[[a + 1, b + 1]])[0]
        if g == 0 and starts[1]:
            self.of_groups[-1] = self._sum(starts[:2])[0]

    def _sum(self, starts: np.ndarray) -> np.ndarray:
        return self.rows.sums(self.ordered, starts, self.origin)

    def group(self, g: int) -> np.ndarray:
        """Return the sums of each block of a group."""
        a, b = self.groups[g]
        if len(self.of_blocks):
            return self.of_blocks[a:b]
        return self._sum(self.starts[a + 1 : b + 2])

    def outside(self, g: int) -> np.ndarray:
        """Return the sum of all rows that are in no block of this group."""
        if len(self.groups) == 1:
            outside: np.ndarray = self.of_groups[-1]
        else:
            outside = np.delete(self.of_groups, g, axis=0).sum(axis=0)
        return outside

    def total(self) -> Total:
        """Return the sums of the whole part."""
        return Total(self.of_groups.sum(axis=0), self.origin, self.exact)
