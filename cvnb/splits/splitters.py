"""Splitters that scikit-learn lacks: one holdout, repeated grouped-and-stratified holdouts, and time blocks with a buffer."""

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

Pair = tuple[np.ndarray, np.ndarray]
MASKS = "_iter_test_masks"  # what scikit-learn asks its splitters to define
INDICES = "_iter_test_indices"  # what makes the masks of a KFold


def within(rows: np.ndarray, n_rows: int, h: int) -> np.ndarray:
    """Mask of the positions at most h away from any of `rows`."""
    edges = np.zeros(n_rows + 1, dtype=np.int64)
    np.add.at(edges, np.maximum(rows - h, 0), 1)
    np.add.at(edges, np.minimum(rows + h + 1, n_rows), -1)
    return np.cumsum(edges[:-1]) > 0


def share_of(share: float, n_rows: int) -> int:
    """The number of rows in a share, rounded up; a share such as .1 / .9 of 90 rows is 10, not 11."""
    return int(np.ceil(share * n_rows - 1e-9))


class TimeBlocks:
    """Contiguous blocks in row order, each one test part once, with `buffer` rows thrown away on both of its sides.

        blocks  rows cut into n_splits runs whose lengths differ by one at most, the first ones being the longer
        train   every row more than `buffer` positions away from the test block

    Rows of one group must follow each other; a block then ends where a group ends.

    >>> for train, test in TimeBlocks(3, buffer=1).split(range(9)):
    ...     print(train, test)
    [4 5 6 7 8] [0 1 2]
    [0 1 7 8] [3 4 5]
    [0 1 2 3 4] [6 7 8]
    >>> TimeBlocks(3).labels(7), TimeBlocks(3).get_n_splits()
    (array([0, 0, 0, 1, 1, 2, 2]), 3)
    """

    def __init__(self, n_splits: int = 5, buffer: int = 0) -> None:
        if (
            isinstance(n_splits, bool)
            or not isinstance(n_splits, int | np.integer)
            or n_splits < 2
        ):
            raise RecipeError(
                f"n_splits={n_splits!r} leaves no block to test on; use a whole number >= 2."
            )
        self.n_splits, self.buffer = int(n_splits), check_buffer(buffer)

    def __repr__(self) -> str:
        return (
            f"TimeBlocks({self.n_splits}, buffer={self.buffer})"
            if self.buffer
            else f"TimeBlocks({self.n_splits})"
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of blocks."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """(train, test) positions, the earliest block first."""
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        label, positions = self.labels(n_rows, groups), np.arange(n_rows)
        for k in range(self.n_splits):
            test = positions[label == k]
            yield positions[~within(test, n_rows, self.buffer)], test

    def labels(self, n_rows: int, groups: Any = None) -> np.ndarray:
        """The block of every row."""
        if self.n_splits > n_rows:
            raise InfeasibleError(
                f"{self.n_splits} blocks need {self.n_splits} rows, but there are {n_rows}."
            )
        sizes = np.full(self.n_splits, n_rows // self.n_splits)
        sizes[: n_rows % self.n_splits] += 1
        cuts = np.cumsum(sizes)[:-1]
        if groups is not None:
            cuts = self._move_to_group_ends(cuts, np.asarray(groups))
        return np.searchsorted(cuts, np.arange(n_rows), side="right")

    def _move_to_group_ends(self, cuts: np.ndarray, groups: np.ndarray) -> np.ndarray:
        ends = group_ends(groups)
        moved = (
            np.unique([ends[np.argmin(np.abs(ends - cut))] for cut in cuts])
            if ends.size
            else ends
        )
        if moved.size < cuts.size:
            raise InfeasibleError(
                f"{ends.size + 1} groups are too few or too uneven for {self.n_splits} time blocks."
            )
        return moved


def fold_labels(
    splitter: Any, n_rows: int, strata: np.ndarray | None, groups: np.ndarray | None
) -> np.ndarray:
    """The fold of every row, from a splitter of scikit-learn's whose test parts are a partition of the rows.

    Its masks are what its `split` makes row numbers of; the training parts, all the rest, need neither making nor checking.
    """
    if type(splitter) is StratifiedKFold and deals_alike():
        random = check_random_state(splitter.random_state) if splitter.shuffle else None
        return stratified_labels(strata, splitter.n_splits, random)
    return _labels_by_masks(splitter, n_rows, strata, groups)


def stratified_labels(
    strata: Any, n_splits: int, random: np.random.RandomState | None
) -> np.ndarray:
    """StratifiedKFold's fold of every row, from the same draws: most of its time goes into checks of y.

    The classes lie one behind the other, the one met first ahead; dealing that row of cards to the folds in turn says how many
    rows of a class each fold gets. Which ones: in row order, or shuffled inside the class.
    """
    label, dealt = np.empty(strata.size, dtype=np.int32), 0
    by_class = np.split(
        np.argsort(strata, kind="stable"), np.cumsum(np.bincount(strata))[:-1]
    )
    for rows in sorted(
        (rows for rows in by_class if rows.size), key=lambda rows: int(rows[0])
    ):
        sizes = np.bincount(
            np.arange(dealt, dealt + rows.size) % n_splits, minlength=n_splits
        )
        folds = np.arange(n_splits).repeat(sizes)
        if random is not None:
            random.shuffle(folds)
        label[rows] = folds
        dealt += rows.size
    return label


@cache
def deals_alike() -> bool:
    """Whether the scikit-learn at hand deals rows to folds as `stratified_labels` does; looked at once per session."""
    with quiet():  # of classes smaller than K
        return all(
            _deals_alike(K, shuffle) for K in (2, 5) for shuffle in (False, True)
        )


def _deals_alike(K: int, shuffle: bool) -> bool:
    strata = np.random.RandomState(K).geometric(
        0.5, size=20 * K + 1
    )  # classes of very different sizes
    ours = stratified_labels(strata, K, np.random.RandomState(K) if shuffle else None)
    theirs = StratifiedKFold(
        K, shuffle=shuffle, random_state=K if shuffle else None
    ).split(strata, strata)
    return all(
        np.array_equal(np.flatnonzero(ours == k), test)
        for k, (_, test) in enumerate(theirs)
    )


def _labels_by_masks(
    splitter: Any, n_rows: int, strata: np.ndarray | None, groups: np.ndarray | None
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
    """The positions at which a new group starts, the first one left out; the rows of a group must follow each other."""
    ends = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    if ends.size + 1 != np.unique(groups).size:
        raise InfeasibleError(
            "splits in row order would cut through a group whose rows do not follow each other; sort the rows by group, or let "
            "the rows be shuffled."
        )
    return ends


def check_buffer(buffer: Any) -> int:
    """The buffer as an int >= 0."""
    if (
        isinstance(buffer, bool)
        or not isinstance(buffer, int | np.integer)
        or buffer < 0
    ):
        raise RecipeError(f"buffer={buffer!r} must be a whole number of rows >= 0.")
    return int(buffer)


def holdouts(
    n_rows: int,
    share: float,
    n_splits: int,
    strata: np.ndarray | None,
    groups: np.ndarray | None,
    seed: int,
) -> list[Pair]:
    """`n_splits` random holdouts of a share of the rows: scikit-learn's, with its order of rows, wherever it has one.

    With groups it is a share of the groups. With groups and strata a holdout is p folds of a StratifiedGroupKFold of q, p / q
    being the share to the nearest fraction with a small q.
    """
    rows = np.zeros(n_rows)
    if groups is not None:
        n_groups = np.unique(groups).size
        if n_groups < 2:
            raise InfeasibleError(
                "one group cannot stand on both sides of a holdout; there must be at least 2 groups."
            )
        if strata is not None:
            return _stratified_group_holdouts(
                strata, groups, n_groups, share, n_splits, seed
            )
        n_test = min(max(share_of(share, n_groups), 1), n_groups - 1)
        splitter: Any = GroupShuffleSplit(n_splits, test_size=n_test, random_state=seed)
        return list(splitter.split(rows, groups=groups))
    n_test = share_of(share, n_rows)
    if not 0 < n_test < n_rows:
        raise InfeasibleError(
            f"a holdout of {n_test} of {n_rows} rows leaves an empty part; change the share."
        )
    kind = ShuffleSplit if strata is None else StratifiedShuffleSplit
    splitter = kind(
        n_splits, test_size=n_test, train_size=n_rows - n_test, random_state=seed
    )
    return list(splitter.split(rows, strata))


def _stratified_group_holdouts(
    strata: np.ndarray,
    groups: np.ndarray,
    n_groups: int,
    share: float,
    n_splits: int,
    seed: int,
) -> list[Pair]:
    most = max(min(20, n_groups, int(np.bincount(strata).max())), 2)
    part = Fraction(share).limit_denominator(most)
    q = max(part.denominator, 2)
    p, pairs = min(max(part.numerator, 1), q - 1), []
    for s in range(n_splits):
        folds = StratifiedGroupKFold(q, shuffle=True, random_state=seed + 1000 * s)
        with quiet():  # of classes smaller than q, which nobody asked for
            tests = [test for _, test in folds.split(strata, strata, groups)][:p]
        test = np.sort(np.concatenate(tests))
        pairs.append((np.setdiff1d(np.arange(strata.size), test), test))
    return pairs
