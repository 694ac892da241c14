"""Splitters that scikit-learn lacks: time blocks, and stratified holdouts of groups."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils import check_random_state

from ..errors import InfeasibleError, RecipeError
from ..runtime.thread_warnings import quiet
from .specs import is_whole

Pair = tuple[np.ndarray, np.ndarray]
Codes = np.ndarray | None  # one integer per row
MASKS = "_iter_test_masks"  # the method that scikit-learn's splitters define
INDICES = "_iter_test_indices"  # the method of KFold behind its masks


def within(rows: np.ndarray, n_rows: int, h: int) -> np.ndarray:
    """Return [n_rows] whether a position is at most h away from any of `rows`."""
    edges = np.zeros(n_rows + 1, dtype=np.int64)
    np.add.at(edges, np.maximum(rows - h, 0), 1)
    np.add.at(edges, np.minimum(rows + h + 1, n_rows), -1)
    return np.cumsum(edges[:-1]) > 0


def share_of(share: float, n_rows: int) -> int:
    """Return the number of rows in a share, rounded up; .1 / .9 of 90 rows is 10, not 11."""
    return int(np.ceil(share * n_rows - 1e-9))


class TimeBlocks:
    """Contiguous blocks in row order, each the test part once, with a buffer on both sides.

        blocks  runs of rows whose lengths differ by one at most, the longer ones first
        train   every row more than `buffer` positions away from the test block

    n_splits   number of blocks, at least 2
    buffer     number of rows dropped on both sides of a test block

    With groups, the rows of a group must be contiguous, and a block ends where a group ends.

    >>> for train, test in TimeBlocks(3, buffer=1).split(range(9)):
    ...     print(train, test)
    [4 5 6 7 8] [0 1 2]
    [0 1 7 8] [3 4 5]
    [0 1 2 3 4] [6 7 8]
    >>> TimeBlocks(3).labels(7), TimeBlocks(3).get_n_splits()
    (array([0, 0, 0, 1, 1, 2, 2]), 3)
    """

    def __init__(self, n_splits: int = 5, buffer: int = 0) -> None:
        if not is_whole(n_splits) or n_splits < 2:
            raise RecipeError(
                f"n_splits={n_splits!r} leaves no block to test on; use a whole number >= 2."
            )
        if not is_whole(buffer) or buffer < 0:
            raise RecipeError(f"buffer={buffer!r} must be a whole number of rows >= 0.")
        self.n_splits, self.buffer = int(n_splits), int(buffer)

    def __repr__(self) -> str:
        buffer = f", buffer={self.buffer}" if self.buffer else ""
        return f"TimeBlocks({self.n_splits}{buffer})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of blocks; X, y and groups are ignored."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Yield (train, test) positions, the earliest block first.

        X        the rows; only their number is used
        y        ignored
        groups   group of every row; a block ends where a group ends
        """
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        label, positions = self.labels(n_rows, groups), np.arange(n_rows)
        for k in range(self.n_splits):
            test = positions[label == k]
            yield positions[~within(test, n_rows, self.buffer)], test

    def labels(self, n_rows: int, groups: Any = None) -> np.ndarray:
        """Return the block of every row."""
        if self.n_splits > n_rows:
            raise InfeasibleError(
                f"{self.n_splits} blocks need {self.n_splits} rows, but there are {n_rows}."
            )
        cuts = np.cumsum(block_sizes(n_rows, self.n_splits))[:-1]
        if groups is not None:
            ends = group_ends(np.asarray(groups))
            cuts = moved_to_ends(cuts, ends, "groups", self.n_splits)
        return np.searchsorted(cuts, np.arange(n_rows), side="right")


def block_sizes(n_rows: int, n_blocks: int) -> np.ndarray:
    """Return the sizes of blocks that differ by one row at most, the longer ones first."""
    sizes = np.full(n_blocks, n_rows // n_blocks)
    sizes[: n_rows % n_blocks] += 1
    return sizes


def moved_to_ends(
    cuts: np.ndarray, ends: np.ndarray, units: str, n_splits: int
) -> np.ndarray:
    """Return each cut moved to the nearest end of a unit; refuse units that are too few.

    cuts: places where a part would start
    ends: places where a unit ends
    units: what no part cuts, such as "groups"
    n_splits: number of test parts
    """
    if ends.size == cuts.size:
        return ends
    moved = ends
    if ends.size:
        moved = np.unique([ends[np.argmin(np.abs(ends - cut))] for cut in cuts])
    if moved.size < cuts.size:
        raise InfeasibleError(
            f"{ends.size + 1} {units} are too few or too uneven for {n_splits} time blocks."
        )
    return moved


def fold_labels(splitter: Any, n_rows: int, strata: Codes, groups: Codes) -> np.ndarray:
    """Return the fold of every row, for a splitter of scikit-learn whose folds are disjoint.

    splitter: KFold or one of its stratified and grouped variants
    n_rows: number of rows
    strata, groups: one integer per row, or None

    It uses the test masks inside `split`, so that training parts need not be built.
    """
    if type(splitter) is StratifiedKFold and deals_alike():
        random = check_random_state(splitter.random_state) if splitter.shuffle else None
        return stratified_labels(strata, splitter.n_splits, random)
    return _labels_by_masks(splitter, n_rows, strata, groups)


def stratified_labels(
    strata: Any, n_splits: int, random: np.random.RandomState | None
) -> np.ndarray:
    """Return StratifiedKFold's fold of every row, from the same draws but without its checks of y.

    The rows, sorted by class in order of first appearance, are dealt to the folds in turn;
    that gives the number of rows of each class in each fold. Which rows of the class those
    are: in row order, or shuffled.

    strata: the class of every row, as an integer
    n_splits: number of folds
    random: draws the shuffles; None: row order
    """
    label, dealt = np.empty(strata.size, dtype=np.int32), 0
    ends = np.cumsum(np.bincount(strata))
    by_class = np.split(np.argsort(strata, kind="stable"), ends[:-1])
    present = [rows for rows in by_class if rows.size]
    for rows in sorted(present, key=lambda rows: int(rows[0])):
        in_turn = np.arange(dealt, dealt + rows.size) % n_splits
        sizes = np.bincount(in_turn, minlength=n_splits)
        folds = np.arange(n_splits).repeat(sizes)
        if random is not None:
            random.shuffle(folds)
        label[rows] = folds
        dealt += rows.size
    return label


@cache
def deals_alike() -> bool:
    """Whether the installed scikit-learn makes the folds of `stratified_labels`; cached."""
    with quiet():  # its warning of classes smaller than K
        return all(_deals_alike(K, seed) for K in (2, 5) for seed in (None, K))


def _deals_alike(K: int, seed: int | None) -> bool:
    # classes of very different sizes
    strata = np.random.RandomState(K).geometric(0.5, size=20 * K + 1)
    random = None if seed is None else np.random.RandomState(seed)
    ours = stratified_labels(strata, K, random)
    splitter = StratifiedKFold(K, shuffle=seed is not None, random_state=seed)
    tests = [test for _, test in splitter.split(strata, strata)]
    return all(np.array_equal(np.flatnonzero(ours == k), tests[k]) for k in range(K))


def _labels_by_masks(
    splitter: Any, n_rows: int, strata: Codes, groups: Codes
) -> np.ndarray:
    label, rows = np.empty(n_rows, dtype=np.int32), np.zeros(n_rows)
    if type(splitter) is KFold and hasattr(splitter, INDICES):
        tests = getattr(splitter, INDICES)(rows)
    elif hasattr(splitter, MASKS):
        tests = getattr(splitter, MASKS)(rows, strata, groups)
    else:
        tests = (test for _, test in splitter.split(rows, strata, groups))
    for k, test in enumerate(tests):
        label[test] = k
    return label


def group_ends(groups: np.ndarray) -> np.ndarray:
    """Return the positions where a group but the first one starts; groups must be contiguous."""
    ends = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    if ends.size + 1 != np.unique(groups).size:
        raise InfeasibleError(
            "splits in row order would cut through a group whose rows do not follow each "
            "other; sort the rows by group, or let the rows be shuffled."
        )
    return ends


def holdouts(
    n_rows: int,
    share: float,
    n_splits: int,
    strata: Codes,
    groups: Codes,
    seed: int,
) -> list[Pair]:
    """Return random holdouts, drawn by scikit-learn where it has a splitter for them.

    n_rows: number of rows to split
    share: share of the rows in each test part; with groups, of the groups
    n_splits: number of holdouts
    strata, groups: one integer per row, or None
    seed: random_state

    With groups and strata a holdout is p folds of a StratifiedGroupKFold with q folds,
    where p / q is the fraction with a small denominator nearest to the share.
    """
    if groups is not None:
        return _group_holdouts(share, n_splits, strata, groups, seed)
    n_test = share_of(share, n_rows)
    if not 0 < n_test < n_rows:
        raise InfeasibleError(
            f"a holdout of {n_test} of {n_rows} rows leaves an empty part; change the share."
        )
    kind = ShuffleSplit if strata is None else StratifiedShuffleSplit
    sizes = {"test_size": n_test, "train_size": n_rows - n_test}
    splitter = kind(n_splits, **sizes, random_state=seed)
    return list(splitter.split(np.zeros(n_rows), strata))


def _group_holdouts(
    share: float,
    n_splits: int,
    strata: Codes,
    groups: np.ndarray,
    seed: int,
) -> list[Pair]:
    n_groups = np.unique(groups).size
    if n_groups < 2:
        raise InfeasibleError(
            "one group cannot be on both sides of a holdout; there must be at least 2 "
            "groups."
        )
    if strata is None:
        n_test = min(max(share_of(share, n_groups), 1), n_groups - 1)
        splitter = GroupShuffleSplit(n_splits, test_size=n_test, random_state=seed)
        return list(splitter.split(groups, groups=groups))
    max_q = max(min(20, n_groups, int(np.bincount(strata).max())), 2)
    fraction = Fraction(share).limit_denominator(max_q)
    q = max(fraction.denominator, 2)
    p, pairs = min(max(fraction.numerator, 1), q - 1), []
    for s in range(n_splits):
        folds = StratifiedGroupKFold(q, shuffle=True, random_state=seed + 1000 * s)
        with quiet():  # its warning of classes smaller than q
            tests = [test for _, test in folds.split(strata, strata, groups)][:p]
        test = np.sort(np.concatenate(tests))
        pairs.append((np.setdiff1d(np.arange(strata.size), test), test))
    return pairs
