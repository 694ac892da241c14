"""How splits are kept: one small integer per row where test parts do not overlap, lists of row numbers otherwise.

A layout speaks of positions 0 ... n-1. `Splits` turns positions into row numbers of the whole data, on demand: leave-one-out on
20,000 rows is one array of 20,000 labels, never 20,000 arrays.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..wording import count, spread
from .splitters import Pair, within

NEVER = -1  # label of a position that is in no test part


class Partition:
    """Test part k holds the positions labelled k, its training part all others more than `buffer` positions away."""

    def __init__(self, label: np.ndarray, n_splits: int, buffer: int = 0) -> None:
        kind = next(
            t for t in (np.int8, np.int16, np.int32) if n_splits <= np.iinfo(t).max
        )
        self.label, self.n_splits, self.buffer = (
            np.asarray(label, dtype=kind),
            int(n_splits),
            int(buffer),
        )

    def __len__(self) -> int:
        return self.n_splits

    @property
    def n(self) -> int:
        return self.label.size

    @property
    def nbytes(self) -> int:
        return self.label.nbytes

    def pair(self, k: int) -> Pair:
        """(train, test) positions of split k."""
        test = self.label == k
        train = ~(
            within(np.flatnonzero(test), self.n, self.buffer) if self.buffer else test
        )
        return np.flatnonzero(train), np.flatnonzero(test)

    def tests(self) -> list[np.ndarray]:
        """The test positions of every split."""
        order = np.argsort(self.label, kind="stable")
        ends = np.cumsum(
            np.bincount(self.label.astype(np.int64) + 1, minlength=self.n_splits + 1)
        )
        return np.split(order, ends[:-1])[1:]

    def sizes(self) -> np.ndarray:
        """[n_splits, 2] numbers of training and test rows."""
        return self._sizes

    @cached_property
    def _sizes(self) -> np.ndarray:
        if self.buffer:
            sizes = np.array(
                [
                    (train.size, test.size)
                    for train, test in map(self.pair, range(len(self)))
                ]
            )
        else:
            test = np.bincount(self.label[self.label != NEVER], minlength=len(self))
            sizes = np.column_stack([self.n - test, test])
        sizes.flags.writeable = False
        return sizes

    def straddling(self, codes: np.ndarray) -> np.ndarray:
        """[n_splits]: test rows whose code also stands in the training part."""
        if self.buffer:
            return _straddling_pairs(self, codes)
        width = len(self) + 1
        pairs = np.unique(
            codes.astype(np.int64) * width + self.label.astype(np.int64) + 1
        )
        several = np.bincount(pairs // width, minlength=int(codes.max()) + 1) > 1
        rows = several[codes] & (self.label != NEVER)
        return np.bincount(self.label[rows], minlength=len(self))

    def to_dict(self) -> dict[str, Any]:
        return {
            "partition": pack(self.label),
            "n_splits": self.n_splits,
            "buffer": self.buffer,
        }


class Pairs:
    """Splits kept as they are: (train, test) positions, in the order in which they were given."""

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
        train, test = self.pairs[k]
        return train.astype(np.int64), test.astype(np.int64)

    def tests(self) -> list[np.ndarray]:
        return [test.astype(np.int64) for _, test in self.pairs]

    def sizes(self) -> np.ndarray:
        return np.array(
            [(train.size, test.size) for train, test in self.pairs]
        ).reshape(-1, 2)

    def straddling(self, codes: np.ndarray) -> np.ndarray:
        return _straddling_pairs(self, codes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "pairs": [[pack(train), pack(test)] for train, test in self.pairs],
            "n": self.n,
        }


Layout = Partition | Pairs


def from_dict(record: dict[str, Any]) -> Layout:
    """The layout that `to_dict` wrote."""
    if "partition" in record:
        return Partition(
            unpack(record["partition"]), record["n_splits"], record["buffer"]
        )
    return Pairs(
        [(unpack(train), unpack(test)) for train, test in record["pairs"]], record["n"]
    )


def are_apart(layout: Layout) -> bool:
    """Whether no position is in two test parts."""
    if isinstance(layout, Partition):
        return True
    tested = np.concatenate(layout.tests())
    return np.unique(tested).size == tested.size


def compress(pairs: Iterable[Pair], n: int) -> Layout:
    """A Partition where the test parts are disjoint and each training part is all the rest, else Pairs.

    pairs: disjoint (train, test) positions in 0 ... n-1. Only increasing ones compress: the order is the user's, and some
    estimators learn from it.
    """
    label, kept = np.full(n, NEVER, dtype=np.int32), 0
    pairs = iter(pairs)
    for train, test in pairs:
        if (
            train.size + test.size != n
            or not (_increase(train) and _increase(test))
            or (label[test] != NEVER).any()
        ):
            partition = Partition(label, kept)
            return Pairs([*map(partition.pair, range(kept)), (train, test), *pairs], n)
        label[test] = kept
        kept += 1
    return Partition(label, kept)


def _increase(rows: np.ndarray) -> bool:
    return bool((rows[1:] > rows[:-1]).all())


def places(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """[n_rows]: the position of every row of the whole data in `rows`, NEVER where it is not in there."""
    place = np.full(n_rows, NEVER)
    place[rows] = np.arange(rows.size)
    return place


class Splits(Sequence[Pair]):
    """A list of (train, test) row numbers of the whole data, made when asked for.

    With an outer layout they are splits inside its training part j.
    """

    def __init__(self, layout: Layout, outer: Layout | None = None, j: int = 0) -> None:
        self.layout, self._outer, self._j = layout, outer, j

    @cached_property
    def _rows(self) -> np.ndarray | None:
        """The row numbers of the positions that the layout speaks of; None where they are the same."""
        return None if self._outer is None else self._outer.pair(self._j)[0]

    def __len__(self) -> int:
        return len(self.layout)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(f"split {k} of {len(self)}")
        train, test = self.layout.pair(int(k) % len(self))
        return (
            (train, test)
            if self._rows is None
            else (self._rows[train], self._rows[test])
        )

    def __iter__(self) -> Iterator[Pair]:
        return (self[k] for k in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(
            np.array_equal(a, b)
            for mine, theirs in zip(self, other, strict=True)
            for a, b in zip(mine, theirs, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return summary(len(self), self.layout.sizes())

    @property
    def misfit(self) -> int:
        """Positions that no row belongs to, as a forged record may have them; negative: rows without a position."""
        return 0 if self._rows is None else self.layout.n - self._rows.size

    def codes(self, codes: np.ndarray) -> np.ndarray:
        """The codes of the rows that these splits speak of, by position."""
        return codes if self._rows is None else codes[self._rows]


def summary(n_splits: int, sizes: np.ndarray) -> str:
    """How many splits, and the sizes of their parts."""
    train, test = (
        (spread(sizes[:, side]) for side in (0, 1)) if len(sizes) else ("0", "0")
    )
    return f"<{count(n_splits, 'split')}: {train} training rows, {test} test rows>"


def _straddling_pairs(layout: Layout, codes: np.ndarray) -> np.ndarray:
    trained = np.zeros(int(codes.max()) + 1, dtype=bool)
    found = np.zeros(len(layout), dtype=np.int64)
    for k in range(len(layout)):
        train, test = layout.pair(k)
        trained[:] = False
        trained[codes[train]] = True
        found[k] = np.count_nonzero(trained[codes[test]])
    return found


def pack(array: np.ndarray) -> dict[str, str]:
    """An array as JSON: its dtype, and its bytes compressed."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return {
        "dtype": little.dtype.str,
        "data": base64.b64encode(zlib.compress(little.tobytes(), 9)).decode("ascii"),
    }


def unpack(record: dict[str, str]) -> np.ndarray:
    """The array that `pack` wrote."""
    values = np.frombuffer(
        zlib.decompress(base64.b64decode(record["data"])),
        dtype=np.dtype(record["dtype"]),
    )
    return values.astype(values.dtype.newbyteorder("="))
