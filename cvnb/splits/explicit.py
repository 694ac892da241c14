"""Explicit splits: row numbers from the user or a splitter, checked one pair at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InfeasibleError, RecipeError
from .splitters import Pair


def check_pairs(
    level: str, pairs: Any, n_rows: int, j: int | None = None
) -> Iterable[Pair]:
    """Yield the (train, test) pairs, each checked: integers in range, disjoint, not empty.

    level: "outer" or "inner"
    pairs: an iterable of (train, test), read one by one
    n_rows: number of rows that the pairs refer to
    j: the outer split, if these are splits of its training part

    Cost: O(train + test) per pair.
    """
    n_pairs = 0
    inside = "" if level == "outer" or j is None else f" of outer split {j}"
    trained_in = np.full(n_rows, -1)  # the last split that trains on a row
    for k, pair in enumerate(pairs):
        where = f"{level} split {k}{inside}"
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise RecipeError(f"{where} is no (train, test) pair of row numbers.")
        train = check_rows(f"train of {where}", pair[0], n_rows)
        test = check_rows(f"test of {where}", pair[1], n_rows)
        trained_in[train] = k
        overlap = trained_in[test] == k
        if overlap.any():
            both = test[overlap]
            more = f" (and {both.size - 1} more)" if both.size > 1 else ""
            raise RecipeError(
                f"{where} has row {both[0]}{more} in its training and its test part: they "
                "overlap; a row tested on may not be trained on (a bootstrap does that)."
            )
        n_pairs += 1
        yield train, test
    if not n_pairs:
        raise RecipeError(
            f"{level} gives no split at all (an iterator that was used up?)."
        )


def positions(pairs: Iterable[Pair], place: np.ndarray, j: int) -> Iterable[Pair]:
    """Convert inner splits in row numbers of the whole data to positions in outer training part j.

    pairs: (train, test) row numbers
    place: [n_rows] the position of every row in that part, negative if it is not in it
    j: the outer split
    """
    for k, pair in enumerate(pairs):
        train, test = (place[rows] for rows in pair)
        if min(train.min(), test.min()) < 0:
            rows = np.concatenate(pair)
            raise RecipeError(
                f"inner split {k} of outer split {j} uses row "
                f"{rows[place[rows] < 0].min()}, which is outside that outer training "
                "part; inner lists count rows of the whole data."
            )
        yield train, test


def check_rows(name: str, rows: Any, n_rows: int) -> np.ndarray:
    """Return row numbers as int64; refuse fractions, rows out of range and an empty list."""
    rows = np.asarray(rows)
    if rows.dtype == bool:
        raise RecipeError(
            f"{name} is a boolean mask; row numbers are needed: np.flatnonzero(mask)."
        )
    if rows.size == 0:
        raise InfeasibleError(f"{name} is empty; every part needs at least one row.")
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise RecipeError(
            f"{name} must be a list of whole row numbers, got {rows.dtype} of shape {rows.shape}."
        )
    return in_range(name, rows.astype(np.int64), n_rows)


def in_range(name: str, rows: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the row numbers, refused unless all are in 0 ... n_rows - 1."""
    if rows.min() < 0 or rows.max() >= n_rows:
        outside = rows[(rows < 0) | (rows >= n_rows)]
        raise RecipeError(
            f"{name} names row {outside[0]}, but the rows are 0 to {n_rows - 1}; an inner "
            "splitter counts positions inside its outer training part, explicit lists "
            "count rows of the whole data."
        )
    return rows
