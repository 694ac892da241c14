"""Sums over the blocks of one training part: each inner training part is a sum of them, never a difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .least_squares import basis_of
from .rows import NO_BASIS, Line, Origin, Rounding, Rows

KEPT_BLOCKS = (
    32  # sums of so many blocks are kept, of more only the sums of their groups
)


@dataclass(frozen=True, eq=False)
class Total:
    """Sums over a whole part about one origin and in one basis; basis None: the part is fitted from its own rows."""

    sums: np.ndarray
    origin: Origin
    basis: np.ndarray | None


class Sums:
    """Sums over the blocks of one part, about one origin and in one basis; basis None: each split from its own rows."""

    def __init__(
        self,
        rows: Rows,
        ordered: np.ndarray,
        starts: np.ndarray,
        groups: list[tuple[int, int]],
        line: Line,
        rounding: Rounding,
    ) -> None:
        """Of the rows `ordered`: those of no block up to starts[1], those of block k from starts[k + 1] on."""
        self.rows, self.ordered, self.starts, self.groups = (
            rows,
            ordered,
            starts,
            groups,
        )
        self.origin = rows.origin(
            ordered, line.frame[0], line.frame[1], weighted=line.intercept
        )
        self.basis: np.ndarray | None = NO_BASIS
        if line.squares:
            whole = np.array([0, ordered.size])
            self.basis = basis_of(
                rows,
                rows.sums(ordered, whole, self.origin)[0],
                self.origin[0],
                line,
                rounding,
            )
        self.of_groups = np.zeros(
            (len(groups) + 1, rows.width)
        )  # the last: rows of no block
        self.of_blocks = np.zeros(
            (groups[-1][1] if groups[-1][1] <= KEPT_BLOCKS else 0, rows.width)
        )

    def add(self, g: int) -> None:
        """Sum the blocks of group g, with the first group the rows of no block."""
        if self.basis is None:
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
        assert self.basis is not None
        return self.rows.sums(self.ordered, starts, self.origin, self.basis)

    def group(self, g: int) -> np.ndarray:
        """Sums of each block of a group."""
        a, b = self.groups[g]
        return (
            self.of_blocks[a:b]
            if len(self.of_blocks)
            else self._sum(self.starts[a + 1 : b + 2])
        )

    def outside(self, g: int) -> np.ndarray:
        """Sum of what is in no block of this group."""
        return (
            self.of_groups[-1]
            if len(self.groups) == 1
            else np.delete(self.of_groups, g, axis=0).sum(axis=0)
        )

    def total(self) -> Total:
        """Of the whole part."""
        return Total(self.of_groups.sum(axis=0), self.origin, self.basis)
