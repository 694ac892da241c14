"""Lists of the nearest rows of each row among all rows, which serve every split."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np

from ...runtime.threads import Team
from ...splits.plan import Plan
from ..base import PER_WORKER, Each
from .search import Geometry, NeighbourLists, Search

PIECE = 512  # rows whose neighbours are searched together
PIECES = 256  # largest number of pieces
ONE_AT_A_TIME = threading.Lock()
ListsByGeometry = dict[Geometry, NeighbourLists]


def lists_of_all_rows(
    X: np.ndarray, lengths: dict[Geometry, int], each: Each, n: int
) -> ListsByGeometry:
    """Return lists of these lengths of all rows of X; each(call, items) uses n workers."""
    n_rows = len(X)
    size = max(64, min(PIECE, -(-n_rows // (PER_WORKER * n))), -(-n_rows // PIECES))
    pieces = [
        (geometry, slice(a, min(a + size, n_rows)))
        for geometry in lengths
        for a in range(0, n_rows, size)
    ]
    lists = {
        geometry: NeighbourLists.empty(n_rows, length)
        for geometry, length in lengths.items()
    }
    results = each(ListFiller(X, lists), pieces)
    for (geometry, rows), part in zip(pieces, results, strict=True):
        if part is not None:
            lists[geometry].put(rows, part)
    return lists


def list_length(plan: Plan, n_most: int) -> int:
    """Return a length at which most lists hold n_most + 1 rows of a training part."""
    n_wanted, n_rows = n_most + 1, plan.n_rows
    layouts = [*plan.inner_kept]
    if plan.outer_layout is not None:
        layouts.append(plan.outer_layout)
    share = min(int(layout.sizes()[:, 0].min()) for layout in layouts) / n_rows
    length = (n_wanted + 4.0 * np.sqrt(n_wanted * (1.0 - share))) / share
    return int(min(np.ceil(length) + 2, n_rows - 1))


class ListFiller:
    """Fills the lists of some rows in place; a copy in another process returns them instead."""

    def __init__(self, X: np.ndarray, lists: ListsByGeometry) -> None:
        self.X, self.lists = X, lists
        self.lengths = {
            geometry: part.rows.shape[1] for geometry, part in lists.items()
        }

    @cached_property
    def searches(self) -> dict[Geometry, Search]:
        """The prepared searches, made once in each process."""
        return {
            geometry: Search(self.X, geometry, length)
            for geometry, length in self.lengths.items()
        }

    def __call__(
        self, piece: tuple[Geometry, slice], team: Team
    ) -> NeighbourLists | None:
        geometry, rows = piece
        n, own = rows.stop - rows.start, np.arange(rows.start, rows.stop)
        is_here = geometry in self.lists
        if is_here:
            part = self.lists[geometry].part(rows)
        else:
            part = NeighbourLists.empty(n, self.lengths[geometry])
        with ONE_AT_A_TIME:
            search = self.searches[geometry]
        search.fill(self.X[rows], own, part, team.stop.is_set)
        team.advance(n)
        return None if is_here else part

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "lists": {}, "lengths": self.lengths}
