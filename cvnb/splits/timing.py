"""Splits in the order of time: where parts may end, and what a test part bars from training.

Two designs. Contiguous blocks (time_ordered=True): every block is the test part once, and the
rows before and after it train, more than the buffer away. Forward (time_ordered="forward"):
only rows older than every test row train, with the buffer before the test part.

Rows of equal time, and rows of one group, are never on both sides of a split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..data.times import Times
from ..errors import InfeasibleError
from ..wording import count
from .durations import Buffer, buffer_words, gap_of, is_in_time
from .layouts import Layout, Pairs, Partition
from .splitters import Codes, block_sizes, group_ends, moved_to_ends, within

FORWARD = "forward"


@dataclass(frozen=True, eq=False)
class Timing:
    """The order of rows in time, and how near to a test part a training row may be.

    moments  [rows] increase with time; row numbers without times
    times    as the user gave them; None: the order of the rows
    buffer   as in Recipe
    forward  only older rows may train
    groups   group of every row, or None
    """

    moments: np.ndarray
    times: Times | None
    buffer: Buffer
    forward: bool
    groups: Codes = None

    @classmethod
    def of(
        cls,
        n_rows: int,
        times: Times | None,
        buffer: Buffer,
        forward: bool,
        groups: Codes = None,
    ) -> Timing:
        """Return the timing of all rows; refuse a buffer that has no meaning for them."""
        gap_of(buffer, times)
        moments = np.arange(n_rows) if times is None else times.values
        return cls(moments, times, buffer, forward, groups)

    def on(self, rows: np.ndarray) -> Timing:
        """Return the timing of some rows, by their positions."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, moments=self.moments[rows], groups=groups)

    @property
    def n(self) -> int:
        return self.moments.size

    @property
    def gap(self) -> int | float:
        """The buffer in rows, or in units of the moments."""
        return gap_of(self.buffer, self.times)

    @property
    def in_units(self) -> bool:
        """Whether the gap is a difference of moments."""
        return is_in_time(self.buffer, self.times)

    @property
    def words(self) -> str:
        """The buffer in words: "3 days"."""
        return buffer_words(self.buffer, self.times)

    @cached_property
    def order(self) -> np.ndarray:
        """[places] The position at each place in time; equal moments in the order of rows."""
        return np.argsort(self.moments, kind="stable")

    @cached_property
    def place(self) -> np.ndarray:
        """[positions] The place of each position in time."""
        place = np.empty(self.n, dtype=np.int64)
        place[self.order] = np.arange(self.n)
        return place

    @cached_property
    def ends(self) -> np.ndarray:
        """The places before which a part may end: no group and no moment is cut."""
        moments = self.moments[self.order]
        is_end = moments[1:] > moments[:-1]
        if self.groups is not None:
            groups = self.groups[self.order]
            if self.times is None:
                group_ends(groups)  # refuses groups whose rows do not follow each other
            last = np.zeros(int(groups.max()) + 1, dtype=np.int64)
            last[groups] = np.arange(self.n)  # of equal groups the last place stays
            reach = np.maximum.accumulate(last[groups])
            is_end &= reach[:-1] < np.arange(1, self.n)
        return np.flatnonzero(is_end) + 1

    @property
    def units(self) -> str:
        """What no split cuts: "rows", "groups", "times", or "times and groups"."""
        if self.times is None:
            return "rows" if self.groups is None else "groups"
        return "times" if self.groups is None else "separate times of groups"

    def barred(self, test: np.ndarray) -> np.ndarray:
        """Return [positions] whether each may not be trained on: tested, too near, or newer."""
        if self.forward:
            return self._not_older(test)
        if self.in_units:
            return self._distance(np.unique(self.moments[test])) <= self.gap
        near = within(self.place[test], self.n, int(self.gap))[self.place]
        return near | np.isin(self.moments, self.moments[test])

    def _not_older(self, test: np.ndarray) -> np.ndarray:
        first = self.moments[test].min()
        if self.in_units:
            return first - self.moments <= self.gap
        n_older = np.count_nonzero(self.moments < first)
        return self.place >= n_older - self.gap

    def _distance(self, tested: np.ndarray) -> np.ndarray:
        """[positions] The time from each moment to the nearest of `tested`, which increases."""
        after = np.searchsorted(tested, self.moments)
        newer = tested[np.minimum(after, tested.size - 1)]
        older = tested[np.maximum(after - 1, 0)]
        return np.minimum(np.abs(newer - self.moments), np.abs(self.moments - older))

    def findings(self, train: np.ndarray, test: np.ndarray) -> Iterator[str]:
        """Yield what is wrong with a split: training rows too new, at a test time, or too near."""
        moments, barred = self.moments[train], self.barred(test)[train]
        if self.forward:
            wrong, words = (
                moments >= self.moments[test].min(),
                "not older than every test row",
            )
        else:
            wrong, words = (
                np.isin(moments, self.moments[test]),
                "at the time of a test row",
            )
        if n := int(np.count_nonzero(wrong)):
            yield f"{count(n, 'training row')} {words}"
        if n := int(np.count_nonzero(barred & ~wrong)):
            yield f"{count(n, 'training row')} within the buffer of {self.words}"

    def pairs(self, tests: list[np.ndarray]) -> Pairs:
        """Return the splits with these test positions, and all others that are not barred."""
        pairs = [(np.flatnonzero(~self.barred(test)), test) for test in tests]
        return Pairs(pairs, self.n)

    def folds(self, K: int) -> Layout:
        """Return K splits: contiguous blocks, or forward the last K of K + 1 stretches.

        Forward the test parts have the sizes of TimeSeriesSplit(K): n // (K + 1) rows.
        """
        if self.forward:
            starts = self.n - self.n // (K + 1) * np.arange(K, 0, -1)
        else:
            starts = np.cumsum(block_sizes(self.n, K))[:-1]
        starts = moved_to_ends(starts, self.ends, self.units, K)
        label = np.searchsorted(starts, self.place, side="right")
        if self.forward:
            return self.pairs([np.flatnonzero(label == k) for k in range(1, K + 1)])
        if not self.gap:
            return Partition(label, K)
        if self.times is None:
            return Partition(label, K, int(self.gap))
        return self.pairs([np.flatnonzero(label == k) for k in range(K)])

    def newest(self, n_test: int, level: str) -> Pairs:
        """Return one split that tests on the last rows; level: "outer" or "inner"."""
        start = self.n - n_test
        if self.groups is not None or self.times is not None:
            start = 0
            if self.ends.size:
                nearest = np.argmin(np.abs(self.ends - (self.n - n_test)))
                start = int(self.ends[nearest])
        test = np.flatnonzero(self.place >= start)
        train = np.flatnonzero(~self.barred(test)) if test.size else test
        if not test.size or not train.size:
            buffer = f"{self.gap}" if isinstance(self.buffer, int) else self.words
            raise InfeasibleError(
                f"the {level} holdout takes {test.size} of {self.n} rows, the buffer "
                f"{buffer}: no row is left to train on."
            )
        return Pairs([(train, test)], self.n)
