"""Splits handed out in bundles of about equal work, each split whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...splits.layouts import NEVER, Partition, Splits

EXCLUDED = -2  # code of a row that is in no training part of the bundle


@dataclass(frozen=True, eq=False)
class Bundle:
    """Some splits of one list: row i trains for test row t where code[i] is neither EXCLUDED nor own[t].

    numbers  of the splits; test holds their test rows one after the other, those of numbers[i] from starts[i] on
    """

    numbers: np.ndarray
    test: np.ndarray
    starts: np.ndarray
    own: np.ndarray
    code: np.ndarray

    def parts(self) -> Iterator[tuple[slice, np.ndarray]]:
        """(places of the test rows, training rows in order) of each split."""
        ends = [*self.starts[1:], self.test.size]
        for start, end in zip(self.starts, ends, strict=True):
            yield (
                slice(start, end),
                np.flatnonzero(
                    (self.code != EXCLUDED) & (self.code != self.own[start])
                ),
            )

    def singles(self) -> Iterator[Bundle]:
        """The same splits, one by one."""
        for number, (places, _) in zip(self.numbers, self.parts(), strict=True):
            yield Bundle(
                np.array([number]),
                self.test[places],
                np.zeros(1, dtype=np.int64),
                self.own[places],
                self.code,
            )


def bundles(
    splits: Splits, numbers: range, n_rows: int, target: int
) -> Iterator[Bundle]:
    """Bundles of about `target` test rows, which cover the splits of these numbers."""
    layout = splits.layout
    if not isinstance(layout, Partition) or layout.buffer:
        for k in numbers:
            train, test = splits[k]
            code = np.full(n_rows, EXCLUDED, dtype=np.int64)
            code[train] = 0
            yield Bundle(
                np.array([k]),
                test,
                np.zeros(1, dtype=np.int64),
                np.ones(test.size, dtype=np.int64),
                code,
            )
        return
    rows = splits.codes(np.arange(n_rows))
    code = np.full(n_rows, EXCLUDED, dtype=np.int64)
    code[rows] = layout.label
    order = np.argsort(layout.label, kind="stable")[
        np.count_nonzero(layout.label == NEVER) :
    ]
    test, own = rows[order], layout.label[order].astype(np.int64)
    bounds = np.concatenate(
        [[0], np.cumsum(np.bincount(own, minlength=len(layout)))]
    )  # of the test rows of each split
    first = numbers.start
    while first < numbers.stop:
        last = int(np.searchsorted(bounds, bounds[first] + target, side="right")) - 1
        last = min(max(first + 1, last), numbers.stop)
        inside = slice(bounds[first], bounds[last])
        yield Bundle(
            np.arange(first, last),
            test[inside],
            bounds[first:last] - bounds[first],
            own[inside],
            code,
        )
        first = last
