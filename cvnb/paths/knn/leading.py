"""k-NN on the first columns of transformed rows, for several numbers of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kernels import neighbours
from ...kernels.distance_keys import fill_found
from ...kernels.leading import candidates
from ..measure import Predictions
from ..per_split import restricted
from ..problem import SplitProblem
from .search import Geometry, NeighbourLists, complete
from .votes import PredictionTable, VoteSettings

ROOM = 32  # of the candidates of a row, besides twice those that are wanted
FOUND = 2**19  # numbers of candidates at a time
# Nanoseconds for each pair of rows: of a column, and of a number of them; by products, as well
COLUMN, NUMBER, OF_PRODUCT, OF_SEARCH = 0.15, 0.3, 0.035, 1.0


def predictions_of_leading(
    split: SplitProblem, counts: np.ndarray
) -> tuple[Predictions, int] | None:
    """Return the predictions of every setting i on the first counts[i] columns, and the ties.

    None where a search for each number of columns is no slower.
    """
    combination = replace(split.combination, which=np.arange(counts.size))
    geometry, numbers = Geometry.of(combination), np.unique(counts)
    if geometry.metric != neighbours.EUCLIDEAN or not _is_worth_it(numbers):
        return None
    settings = {
        int(n): VoteSettings.of(restricted(combination, counts == n)) for n in numbers
    }
    search = _LeadingSearch(split, geometry, settings)
    tied = split.team.map(search.fill, search.pieces())
    evaluator, table = split.evaluator, search.table
    present = table.present(split.train)[None] if evaluator.wants_scores else None
    return table.predictions(present), sum(tied)


def _is_worth_it(numbers: np.ndarray) -> bool:
    one_by_one = OF_PRODUCT * numbers.sum() + OF_SEARCH * numbers.size
    return bool(COLUMN * numbers[-1] + NUMBER * numbers.size < one_by_one)


class _LeadingSearch:
    """Fills a table of predictions; settings: number of columns, increasing -> its votes."""

    def __init__(
        self, split: SplitProblem, geometry: Geometry, settings: dict[int, VoteSettings]
    ) -> None:
        self.split, self.geometry, self.settings = split, geometry, settings
        self.counts = np.array(list(settings))
        self.columns = np.ascontiguousarray(split.X_train[:, : self.counts[-1]].T)
        n, n_most = len(split.train), max(votes.n_most for votes in settings.values())
        self.length = min(n_most + 1, n)
        self.room = min(2 * self.length + ROOM, n)
        n_settings = split.combination.which.size
        self.table = PredictionTable(split.evaluator, len(split.test), n_settings)

    def pieces(self) -> list[slice]:
        """Return ranges of test rows, some for each thread, between which a stop is seen."""
        n = len(self.split.test)
        most = max(1, FOUND // (self.counts.size * self.room))
        size = min(most, -(-n // (2 * self.split.team.n)))
        return [slice(a, min(a + size, n)) for a in range(0, n, size)]

    def fill(self, piece: slice) -> int:
        """Fill the predictions for some test rows; return how many are tied."""
        split, tied = self.split, 0
        Q, T = split.X_test[piece], split.X_train
        n, rows = len(Q), np.arange(piece.start, piece.stop)
        found = np.empty((self.counts.size, n, self.room), dtype=np.int64)
        last = np.empty((self.counts.size, n))
        candidates(Q, self.columns, self.counts, self.length, found, last)
        keys, none = np.empty((n, self.room)), np.full(n, -1)
        measure = self.geometry.metric, self.geometry.power
        for s, (n_columns, votes) in enumerate(self.settings.items()):
            lists = NeighbourLists.empty(n, self.length)
            fill_found(Q, T, n_columns, found[s], *measure, keys)
            neighbours.settle(
                found[s], keys, last[s], none, Q, n_columns, *measure, 0.0, True,
                *lists.arrays,
            )  # fmt: skip
            complete(lists, T[:, :n_columns], Q[:, :n_columns], self.geometry)
            tied += self.table.fill(votes, lists, split.train, rows)
        return tied
