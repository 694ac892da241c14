"""Shuffles of the targets: of single rows, inside blocks, of whole groups, or round in time.

The first two are the shuffles of scikit-learn's permutation_test_score with the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.table import Data
from ..errors import DataError, InputError
from ..inference.measured import refuse_time
from ..results.estimate import RiskEstimate, record_of

Draw = Callable[[np.random.RandomState], np.ndarray]


@dataclass(frozen=True, eq=False)
class Shuffles:
    """n index arrays; y[array] are shuffled targets. They are drawn anew whenever they are read.

    words  what is shuffled: "all rows"
    draw   draws one of them
    units  number of things that change places
    """

    words: str
    draw: Draw
    units: int
    n: int
    seed: int

    def __iter__(self) -> Iterator[np.ndarray]:
        random = np.random.RandomState(self.seed)
        return (self.draw(random) for _ in range(self.n))


def given_shuffles(permutations: Any, n_rows: int) -> np.ndarray:
    """Return index arrays [shuffles, rows] that the user gives, checked."""
    array = np.asarray(permutations)
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != n_rows:
        raise InputError(
            f"permutations must be row numbers [shuffles, {n_rows} rows], got "
            f"{array.dtype} of shape {array.shape}."
        )
    if not len(array):
        raise InputError("permutations holds no shuffle; give at least one row.")
    bad = (array < 0) | (array >= n_rows)
    if bad.any():
        i, row = np.argwhere(bad)[0]
        raise InputError(
            f"permutations[{i}] holds {array[i, row]}, which is no row number from 0 to "
            f"{n_rows - 1}."
        )
    return array.astype(np.intp)


def shuffles_of(result: RiskEstimate, within: Any, n: int, seed: int) -> Shuffles:
    """Return the shuffles under which the rows of a result are exchangeable.

    within  None: whole groups where y is constant in each, else rows inside groups; all rows
            without groups. An array: rows inside blocks of equal values. "shift": y moves
            round the order of the rows
    """
    data = record_of(result).data
    words, draw, units = _kind(result, data, within, n)
    return Shuffles(words, draw, units, n, seed)


def _kind(
    result: RiskEstimate, data: Data, within: Any, n: int
) -> tuple[str, Draw, int]:
    """Return what is shuffled, how, and the number of things that change places."""
    if isinstance(within, str):
        if within != "shift":
            raise InputError(
                f"within={within!r} is not known; use 'shift', an array with the block of "
                "each row, or None."
            )
        order = "rows" if data.times is None else "times"
        return (
            f"y moved round in the order of the {order}",
            _shift(data, n),
            data.n_rows,
        )
    if within is not None:
        blocks = _blocks(within, data)
        return "rows inside the blocks given", _inside(blocks, data.y), data.n_rows
    _refuse_order(result)
    if data.groups is None:
        return "all rows", lambda random: random.permutation(data.n_rows), data.n_rows
    first, codes = np.unique(data.groups, return_index=True, return_inverse=True)[1:]
    if not np.array_equal(data.y, data.y[first][codes]):
        words = "rows inside groups, because y varies in them"
        return words, _inside(data.groups, data.y), data.n_rows
    words = "whole groups, because y is constant in each"
    return (
        words,
        lambda random: first[random.permutation(first.size)][codes],
        first.size,
    )


def _refuse_order(result: RiskEstimate) -> None:
    try:
        refuse_time(result)
    except InputError:
        raise InputError(
            "rows in the order of time cannot be exchanged: a shuffle destroys the "
            "dependence that the data have, and every shuffled risk is then of other data. "
            "within='shift' moves y round instead, which keeps its order."
        ) from None


def _inside(blocks: np.ndarray, y: np.ndarray) -> Draw:
    """Return a draw of rows that stay inside their block; blocks in the order of their values."""
    codes = np.unique(blocks, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    if all((y[block] == y[block[0]]).all() for block in members):
        raise InputError(
            "y is constant inside every block, so shuffles inside them change nothing; "
            "give larger blocks."
        )

    def draw(random: np.random.RandomState) -> np.ndarray:
        rows = np.arange(codes.size)
        for block in members:
            rows[block] = random.permutation(block)
        return rows

    return draw


def _blocks(within: Any, data: Data) -> np.ndarray:
    blocks = np.asarray(within)
    if blocks.shape != (data.n_rows,):
        raise DataError(
            f"within must give the block of each of the {data.n_rows} rows, got shape "
            f"{blocks.shape}."
        )
    if blocks.dtype.kind == "O":
        blocks = np.array(list(map(str, blocks)))
    return blocks


def _shift(data: Data, n: int) -> Draw:
    """Return a draw that moves y round in time by a random number of rows, 1 at least."""
    n_rows = data.n_rows
    if n > n_rows - 1:
        raise InputError(
            f"{n_rows} rows can be moved round in {n_rows - 1} ways, fewer than n={n}; use "
            f"n={n_rows - 1} or fewer."
        )
    order = np.arange(n_rows)
    if data.times is not None:
        order = np.argsort(data.times.values, kind="stable")

    def draw(random: np.random.RandomState) -> np.ndarray:
        moved = np.empty_like(order)
        moved[order] = np.roll(order, random.randint(1, n_rows))
        return moved

    return draw
