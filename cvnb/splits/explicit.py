"""Row numbers that the user or a splitter gives, checked as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InfeasibleError, RecipeError
from .splitters import Pair


def check_pairs(
    level: str, pairs: Any, n_rows: int, j: int | None = None
) -> Iterable[Pair]:
    """(train, test) pairs as they come, each checked: whole numbers in range, disjoint, not empty.

    Cost: O(train + test) per pair; leave-one-out on m rows gives m lists of m rows, so O(m) per pair would still do.
    """
    n_pairs = 0
    trained_in = np.full(
        n_rows, -1
    )  # the last split that trains on a row: one array serves all
    for k, pair in enumerate(pairs):
        where = f"{level} split {k}" + (
            f" of outer split {j}" if level == "inner" and j is not None else ""
        )
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise RecipeError(f"{where} is no (train, test) pair of row numbers.")
        train, test = (
            check_rows(f"{side} of {where}", rows, n_rows)
            for side, rows in zip(("train", "test"), pair, strict=True)
        )
        trained_in[train] = k
        overlap = trained_in[test] == k
        if overlap.any():
            both = test[overlap]
            more = f" (and {both.size - 1} more)" if both.size > 1 else ""
            raise RecipeError(
                f"{where} has row {both[0]}{more} in its training and its test part: they overlap; a row tested on may not be "
                "trained on (a bootstrap does that)."
            )
        n_pairs += 1
        yield train, test
    if not n_pairs:
        raise RecipeError(
            f"{level} gives no split at all (an iterator that was used up?)."
        )


def positions(pairs: Iterable[Pair], place: np.ndarray, j: int) -> Iterable[Pair]:
    """Inner splits given in row numbers of the whole data, as positions inside outer training part j.

    place[row]: the position of a row in that part, negative where it is not in there.
    """
    for k, pair in enumerate(pairs):
        train, test = (place[rows] for rows in pair)
        if min(train.min(), test.min()) < 0:
            rows = np.concatenate(pair)
            raise RecipeError(
                f"inner split {k} of outer split {j} uses row {rows[place[rows] < 0].min()}, which is outside that outer "
                "training part; inner lists count rows of the whole data."
            )
        yield train, test


def check_rows(name: str, rows: Any, n_rows: int) -> np.ndarray:
    """Row numbers as int64: whole, in range, at least one."""
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
    """Row numbers, all of them in 0 ... n_rows - 1."""
    if rows.min() < 0 or rows.max() >= n_rows:
        outside = rows[(rows < 0) | (rows >= n_rows)]
        raise RecipeError(
            f"{name} names row {outside[0]}, but the rows are 0 to {n_rows - 1}; an inner splitter counts positions inside its "
            "outer training part, explicit lists count rows of the whole data."
        )
    return rows
