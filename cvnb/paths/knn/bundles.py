"""Splits grouped into bundles of about equal work; no split is divided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...kernels.votes import EXCLUDED
from ...splits.layouts import NEVER, Partition, Splits
from ..measure import FIRST


@dataclass(frozen=True, eq=False)
class Bundle:
    """Some splits of one list.

    numbers  of the splits
    test     their test rows, split after split
    starts   where the test rows of each split begin in test
    own      code of the split of each test row
    code     of every row: row i trains for test row t if code[i] is neither EXCLUDED nor own[t]
    """

    numbers: np.ndarray
    test: np.ndarray
    starts: np.ndarray
    own: np.ndarray
    code: np.ndarray

    def parts(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (places of the test rows, training rows in order) of each split."""
        ends = [*self.starts[1:], self.test.size]
        for start, end in zip(self.starts, ends, strict=True):
            train = (self.code != EXCLUDED) & (self.code != self.own[start])
            yield slice(start, end), np.flatnonzero(train)

    def singles(self) -> Iterator[Bundle]:
        """Yield the same splits one by one."""
        for number, (places, _) in zip(self.numbers, self.parts(), strict=True):
            test, own = self.test[places], self.own[places]
            yield Bundle(np.array([number]), test, FIRST, own, self.code)


def bundles(
    splits: Splits, numbers: range, n_rows: int, target: int
) -> Iterator[Bundle]:
    """Yield bundles of about `target` test rows that cover the splits `numbers`."""
    layout = splits.layout
    if not isinstance(layout, Partition) or layout.buffer:
        for k in numbers:
            train, test = splits[k]
            code = np.full(n_rows, EXCLUDED, dtype=np.int64)
            code[train] = 0
            yield Bundle(np.array([k]), test, FIRST, np.ones(test.size, np.int64), code)
        return
    rows = splits.codes(np.arange(n_rows))
    code = np.full(n_rows, EXCLUDED, dtype=np.int64)
    code[rows] = layout.label
    n_never = np.count_nonzero(layout.label == NEVER)
    order = np.argsort(layout.label, kind="stable")[n_never:]
    test, own = rows[order], layout.label[order].astype(np.int64)
    n_tested = np.bincount(own, minlength=len(layout))
    bounds = np.concatenate([[0], np.cumsum(n_tested)])  # of the splits in `test`
    first = numbers.start
    while first < numbers.stop:
        last = int(np.searchsorted(bounds, bounds[first] + target, side="right")) - 1
        last = min(max(first + 1, last), numbers.stop)
        inside = slice(bounds[first], bounds[last])
        starts = bounds[first:last] - bounds[first]
        yield Bundle(np.arange(first, last), test[inside], starts, own[inside], code)
        first = last
