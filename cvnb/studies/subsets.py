"""Nested subsets of the training parts: every smaller one is part of every larger one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.table import Data
from ..results.estimate import RiskEstimate, record_of
from ..splits.splitters import Codes, Pair
from ..splits.strata import Strata


@dataclass(frozen=True, eq=False)
class Subsets:
    """Subsets of the outer training parts of a result, drawn anew whenever they are read.

        subsets.outer(size, repeat) -> [(train, test)], one for each outer split

    Classes, or bins of y, keep their proportions, and groups are whole. The rows of a subset
    are in the order of the training part.
    """

    result: RiskEstimate
    seed: int

    @property
    def n_full(self) -> int:
        """Number of rows of the smallest outer training part."""
        return int(self.result.plan.outer.layout.sizes()[:, 0].min())

    def outer(self, size: int, repeat: int) -> list[Pair]:
        """Return (train, test) of every outer split, with about `size` training rows each."""
        pairs = []
        for j, (train, test) in enumerate(self.result.plan.outer):
            if size < self.n_full:
                order = self._order(train, repeat, j)
                wanted = round(size * train.size / self.n_full)
                train = train[np.sort(self._prefix(train, order, wanted))]
            pairs.append((train, test))
        return pairs

    @property
    def _data(self) -> Data:
        return record_of(self.result).data

    def _order(self, train: np.ndarray, repeat: int, j: int) -> np.ndarray:
        """Return positions in the training part, in the order in which they are taken."""
        random = np.random.default_rng([self.seed, repeat, j])
        if self._data.groups is not None:
            names, codes = np.unique(self._data.groups[train], return_inverse=True)
            return np.argsort(random.permutation(names.size)[codes], kind="stable")
        order = random.permutation(train.size)
        strata = self._strata
        if strata is None:
            return order
        # the i-th of the n_c rows of a class comes at (i + u) / n_c, u from 0 to 1
        codes = strata[train][order]
        place = np.empty(train.size)
        for c in np.unique(codes):
            own = np.flatnonzero(codes == c)
            place[own] = (np.arange(own.size) + random.random()) / own.size
        return order[np.argsort(place, kind="stable")]

    @cached_property
    def _strata(self) -> Codes:
        """[rows] The class, or the bin of y, that subsets keep in proportion; None for none."""
        record = record_of(self.result)
        return Strata(record.recipe, record.data, record.work.task).codes

    def _prefix(self, train: np.ndarray, order: np.ndarray, wanted: int) -> np.ndarray:
        """Return the first positions; of groups as many as come nearest to `wanted` rows."""
        if self._data.groups is None:
            return order[:wanted]
        groups = self._data.groups[train][order]
        ends = np.append(np.flatnonzero(np.diff(groups)) + 1, groups.size)
        return order[: ends[np.argmin(np.abs(ends - wanted))]]
