"""Layouts: splits stored as one small integer per row, or as lists of rows if test parts overlap.

A layout holds positions 0 ... n-1. `Splits` converts positions to row numbers of the whole
data on demand: leave-one-out on 20,000 rows is one array of 20,000 labels, not 20,000 arrays.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..wording import count, spread
from .splitters import Pair, within

Item = TypeVar("Item")
NEVER = -1  # label of a position in no test part


class Partition:
    """Disjoint test parts.

    label     [n] the test part of every position, NEVER for none
    n_splits  number of test parts
    buffer    a training part is all positions more than `buffer` away from its test part
    """

    def __init__(self, label: np.ndarray, n_splits: int, buffer: int = 0) -> None:
        dtypes = (np.int8, np.int16, np.int32)
        smallest = next(t for t in dtypes if n_splits <= np.iinfo(t).max)
        self.label = np.asarray(label, dtype=smallest)
        self.n_splits, self.buffer = int(n_splits), int(buffer)

    def __len__(self) -> int:
        return self.n_splits

    @property
    def n(self) -> int:
        return self.label.size

    @property
    def nbytes(self) -> int:
        return self.label.nbytes

    def pair(self, k: int) -> Pair:
        """Return the (train, test) positions of split k."""
        is_test = self.label == k
        test = np.flatnonzero(is_test)
        dropped = within(test, self.n, self.buffer) if self.buffer else is_test
        return np.flatnonzero(~dropped), test

    def tests(self) -> list[np.ndarray]:
        """Return the test positions of every split."""
        order = np.argsort(self.label, kind="stable")
        from_never = self.label.astype(np.int64) + 1  # 0 for NEVER
        ends = np.cumsum(np.bincount(from_never, minlength=self.n_splits + 1))
        return np.split(order, ends[:-1])[1:]

    def sizes(self) -> np.ndarray:
        """Return [n_splits, 2] numbers of training and test rows."""
        return self._sizes

    @cached_property
    def _sizes(self) -> np.ndarray:
        if self.buffer:
            sizes = _sizes(map(self.pair, range(len(self))))
        else:
            test = np.bincount(self.label[self.label != NEVER], minlength=len(self))
            sizes = np.column_stack([self.n - test, test])
        sizes.flags.writeable = False
        return sizes

    def straddling(self, codes: np.ndarray) -> np.ndarray:
        """Return [n_splits] numbers of test rows whose code also occurs in the training part."""
        if self.buffer:
            return _straddling_pairs(self, codes)
        width, label = len(self) + 1, self.label.astype(np.int64) + 1
        parts_of_code = np.unique(codes.astype(np.int64) * width + label) // width
        several = np.bincount(parts_of_code, minlength=int(codes.max()) + 1) > 1
        rows = several[codes] & (self.label != NEVER)
        return np.bincount(self.label[rows], minlength=len(self))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON record that `from_dict` reads."""
        return {
            "partition": pack(self.label),
            "n_splits": self.n_splits,
            "buffer": self.buffer,
        }


class Pairs:
    """Splits as lists of (train, test) positions, in their original order."""

    def __init__(self, pairs: Iterable[Pair], n: int) -> None:
        kind = np.int32 if n <= np.iinfo(np.int32).max else np.int64
        self.pairs = [
            (np.asarray(train, dtype=kind), np.asarray(test, dtype=kind))
            for train, test in pairs
        ]
        self.n = n

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def nbytes(self) -> int:
        return sum(train.nbytes + test.nbytes for train, test in self.pairs)

    def pair(self, k: int) -> Pair:
        """Return the (train, test) positions of split k."""
        train, test = self.pairs[k]
        return train.astype(np.int64), test.astype(np.int64)

    def tests(self) -> list[np.ndarray]:
        """Return the test positions of every split."""
        return [test.astype(np.int64) for _, test in self.pairs]

    def sizes(self) -> np.ndarray:
        """Return [n_splits, 2] numbers of training and test rows."""
        return _sizes(self.pairs)

    def straddling(self, codes: np.ndarray) -> np.ndarray:
        """Return [n_splits] numbers of test rows whose code also occurs in the training part."""
        return _straddling_pairs(self, codes)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON record that `from_dict` reads."""
        pairs = [[pack(train), pack(test)] for train, test in self.pairs]
        return {"pairs": pairs, "n": self.n}


Layout = Partition | Pairs


def from_dict(record: dict[str, Any]) -> Layout:
    """Return the layout that `to_dict` wrote."""
    if "partition" in record:
        label = unpack(record["partition"])
        return Partition(label, record["n_splits"], record["buffer"])
    pairs = [(unpack(train), unpack(test)) for train, test in record["pairs"]]
    return Pairs(pairs, record["n"])


def are_apart(layout: Layout) -> bool:
    """Whether the test parts are disjoint."""
    if isinstance(layout, Partition):
        return True
    tested = np.concatenate(layout.tests())
    return np.unique(tested).size == tested.size


def compress(pairs: Iterable[Pair], n: int) -> Layout:
    """Return a Partition if test parts are disjoint and training parts complete, else Pairs.

    pairs: disjoint (train, test) positions in 0 ... n-1; only increasing ones compress,
        because the order is the user's and some estimators depend on it
    n: number of positions
    """
    label, n_splits = np.full(n, NEVER, dtype=np.int32), 0
    pairs = iter(pairs)
    for train, test in pairs:
        complete = train.size + test.size == n and _increase(train) and _increase(test)
        if not complete or (label[test] != NEVER).any():
            known = map(Partition(label, n_splits).pair, range(n_splits))
            return Pairs([*known, (train, test), *pairs], n)
        label[test] = n_splits
        n_splits += 1
    return Partition(label, n_splits)


def _increase(rows: np.ndarray) -> bool:
    return bool((rows[1:] > rows[:-1]).all())


def places(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """Return [n_rows] the position of every row of the whole data in `rows`, or NEVER."""
    place = np.full(n_rows, NEVER)
    place[rows] = np.arange(rows.size)
    return place


class OnDemand(Sequence[Item]):
    """A sequence whose items are made when they are selected."""

    noun = "split"

    def item(self, k: int) -> Item:
        """Return item k >= 0."""
        raise NotImplementedError

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(f"{self.noun} {k} of {len(self)}")
        return self.item(int(k) % len(self))

    def __iter__(self) -> Iterator[Item]:
        return map(self.item, range(len(self)))


class Splits(OnDemand[Pair]):
    """A sequence of (train, test) row numbers of the whole data, made on demand.

    layout  the splits in positions
    outer   the layout whose training part j the positions refer to; None: the whole data
    """

    def __init__(self, layout: Layout, outer: Layout | None = None, j: int = 0) -> None:
        self.layout, self._outer, self._j = layout, outer, j

    @cached_property
    def _rows(self) -> np.ndarray | None:
        """The row number of every position; None if they are equal."""
        return None if self._outer is None else self._outer.pair(self._j)[0]

    def __len__(self) -> int:
        return len(self.layout)

    def item(self, k: int) -> Pair:
        """Return (train, test) of split k."""
        train, test = self.layout.pair(k)
        if self._rows is None:
            return train, test
        return self._rows[train], self._rows[test]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(
            np.array_equal(a, b)
            for mine, theirs in zip(self, other, strict=True)
            for a, b in zip(mine, theirs, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return summary(len(self), self.layout.sizes())

    @property
    def misfit(self) -> int:
        """Positions minus rows, not 0 in an edited JSON record."""
        return 0 if self._rows is None else self.layout.n - self._rows.size

    def codes(self, codes: np.ndarray) -> np.ndarray:
        """Select the codes of the rows that these splits refer to, by position."""
        return codes if self._rows is None else codes[self._rows]


def summary(n_splits: int, sizes: np.ndarray) -> str:
    """Return the number of splits and the sizes of their parts, for a repr."""
    train, test = map(spread, sizes.T) if len(sizes) else ("0", "0")
    return f"<{count(n_splits, 'split')}: {train} training rows, {test} test rows>"


def _sizes(pairs: Iterable[Pair]) -> np.ndarray:
    return np.array([(train.size, test.size) for train, test in pairs]).reshape(-1, 2)


def _straddling_pairs(layout: Layout, codes: np.ndarray) -> np.ndarray:
    trained = np.zeros(int(codes.max()) + 1, dtype=bool)
    n_rows = np.zeros(len(layout), dtype=np.int64)
    for k in range(len(layout)):
        train, test = layout.pair(k)
        trained[:] = False
        trained[codes[train]] = True
        n_rows[k] = np.count_nonzero(trained[codes[test]])
    return n_rows


def pack(array: np.ndarray) -> dict[str, str]:
    """Return an array as JSON: its dtype, and its compressed bytes in base 64."""
    little = array.astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(zlib.compress(little.tobytes(), 9))
    return {"dtype": little.dtype.str, "data": data.decode("ascii")}


def unpack(record: dict[str, str]) -> np.ndarray:
    """Return the array that `pack` wrote."""
    data = zlib.decompress(base64.b64decode(record["data"]))
    values = np.frombuffer(data, dtype=np.dtype(record["dtype"]))
    return values.astype(values.dtype.newbyteorder("="))
