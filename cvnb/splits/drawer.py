"""SplitDrawer: the splits of rows by one splitter, as layouts."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from ..data.table import Data
from ..errors import InfeasibleError, RecipeError
from ..runtime.thread_warnings import quiet
from ..wording import count
from .explicit import check_pairs, in_range, positions
from .layouts import Layout, Pairs, Partition, compress, places
from .recipes import Recipe
from .specs import (
    DrawnSpec,
    FixedRows,
    Folds,
    GivenSplitter,
    Holdout,
    LeaveOneOut,
    LikeOuterTest,
    ListedSplits,
    Resampling,
    SplitterSpec,
    is_whole,
)
from .splitters import Codes, TimeBlocks, fold_labels, holdouts, share_of
from .strata import Strata
from .timing import FORWARD, Timing

STRATIFIED = (StratifiedKFold, StratifiedGroupKFold, RepeatedStratifiedKFold)
# (stratified, grouped) -> scikit-learn's splitter
K_FOLD = {
    (False, False): KFold,
    (True, False): StratifiedKFold,
    (False, True): GroupKFold,
    (True, True): StratifiedGroupKFold,
}


class _Generator(threading.local):
    """A generator for each thread: making one takes as long as drawing fifty folds."""

    def __init__(self) -> None:
        self.random = np.random.RandomState()


GENERATOR = _Generator()


class SplitDrawer:
    """Draws layouts for one recipe on one data set.

    strata   the classes to keep in proportion, with cautions about small ones
    remarks  notes about given splitters
    """

    def __init__(self, recipe: Recipe, data: Data, task: str) -> None:
        self.recipe, self.data = recipe, data
        if data.times is not None and not recipe.time_ordered:
            raise RecipeError(
                "times= orders the rows in time, which shuffled splits ignore; add "
                "time_ordered=True (contiguous blocks) or 'forward' to the recipe, or leave "
                "times out."
            )
        self.strata = Strata(recipe, data, task)
        is_forward = recipe.time_ordered == FORWARD
        # without time_ordered it serves shuffle=False, in the order of the rows
        self.timing = Timing.of(
            data.n_rows, data.times, recipe.buffer, is_forward, data.groups
        )
        self.remarks = [*self.strata.remarks]

    def outer(self, spec: SplitterSpec) -> Layout:
        """Return the outer splits; rows of dev_rows= are never in a test part."""
        n_rows = self.data.n_rows
        if isinstance(spec, ListedSplits):
            return compress(check_pairs("outer", spec.splits, n_rows), n_rows)
        if self.recipe.dev_rows is None or not isinstance(spec, Holdout):
            return self.layout(spec, np.arange(n_rows), "outer")
        dev = in_range("dev_rows", np.asarray(self.recipe.dev_rows), n_rows)
        if self.data.groups is not None:
            in_dev_groups = np.isin(self.data.groups, self.data.groups[dev])
            dev = np.flatnonzero(in_dev_groups)
        pool = np.setdiff1d(np.arange(n_rows), dev)
        layout = self.layout(Holdout(spec.share, of_all=True), pool, "outer")
        train, test = layout.pair(0)
        train, test = np.sort(np.concatenate([pool[train], dev])), pool[test]
        if self.recipe.time_ordered:
            train = train[~self.timing.barred(test)[train]]
        return Pairs([(train, test)], n_rows)

    def inner_of_parts(
        self, spec: SplitterSpec, outer: Layout | None
    ) -> Iterator[Layout]:
        """Yield the inner splits of every outer training part; of all rows if outer is None."""
        if isinstance(spec, ListedSplits):
            yield from self._listed(spec, outer)
            return
        n_rows = self.data.n_rows
        sizes = [(n_rows, 0)] if outer is None else outer.sizes().tolist()
        drawn: dict[tuple[int, int], Layout] = {}
        for j, (n_train, n_test) in enumerate(sizes):
            n_test *= isinstance(spec, LikeOuterTest)
            if isinstance(outer, Pairs):
                _refuse_repeats(outer.pair(j)[0], j)
            size = n_train, n_test
            if size not in drawn or not self._depends_on_size_only(spec):
                rows = np.arange(n_rows) if outer is None else outer.pair(j)[0]
                drawn[size] = self.layout(spec, rows, "inner", n_test, j)
            yield drawn[size]

    def _depends_on_size_only(self, spec: SplitterSpec) -> bool:
        """Whether parts of equal size get equal splits; every part starts from the same seed."""
        if self.data.groups is not None or self.data.times is not None:
            return False
        if isinstance(spec, GivenSplitter | FixedRows):
            return False
        return self.strata.codes is None or isinstance(spec, LeaveOneOut)

    def layout(
        self,
        spec: DrawnSpec | GivenSplitter | FixedRows,
        rows: np.ndarray,
        level: str,
        n_test: int = 0,
        j: int = 0,
    ) -> Layout:
        """Return the splits of some rows by one splitter, in positions among these rows.

        spec: the splitter
        rows: row numbers of the whole data
        level: "outer" or "inner"
        n_test: test rows of the outer split, for LikeOuterTest
        j: the outer split whose training part these rows are, for level "inner"
        """
        n = rows.size
        if n < 2:
            is_all = level == "outer" or self.recipe.outer_spec is None
            where = "S" if is_all else f"outer training part {j}"
            raise InfeasibleError(
                f"{where} has {count(n, 'row')} (n_samples={n}), which cannot be split; "
                "use more rows, a smaller test part or a smaller buffer."
            )
        if isinstance(spec, Folds | LeaveOneOut):
            return self._folds(spec, rows, level, j)
        if isinstance(spec, GivenSplitter):
            return self._given(spec, rows, level, j)
        if isinstance(spec, FixedRows):
            return self._fixed(spec, rows, level)
        samples = spec.samples if isinstance(spec, Resampling) else 1
        return self._holdouts(rows, self._share(spec, rows, n_test), samples, level)

    def _share(
        self, spec: Holdout | LikeOuterTest | Resampling, rows: np.ndarray, n_test: int
    ) -> float:
        """The share of these rows to hold out."""
        if isinstance(spec, LikeOuterTest):
            groups = self._groups(rows)
            if n_test >= rows.size and (groups is None or np.unique(groups).size > 1):
                hint = "use outer >= 3"
                if self.timing.forward:
                    hint = "the oldest training part is that small; use inner=0.2, a share of it"
                raise InfeasibleError(
                    f"a dev set of {n_test} of {rows.size} rows leaves no row to train "
                    f"on; {hint}."
                )
            return n_test / rows.size
        if isinstance(spec, Holdout) and spec.of_all:
            return share_of(spec.share, self.data.n_rows) / rows.size
        return spec.share

    def _seed(self, level: str) -> int:
        return self.recipe.seed + (level == "inner")

    def _groups(self, rows: np.ndarray) -> Codes:
        return None if self.data.groups is None else self.data.groups[rows]

    def _folds(
        self, spec: Folds | LeaveOneOut, rows: np.ndarray, level: str, j: int
    ) -> Layout:
        n, groups, timing = rows.size, self._groups(rows), self.timing.on(rows)
        n_units, units = n if groups is None else np.unique(groups).size, timing.units
        if self.data.times is not None:
            n_units = timing.ends.size + 1
        K = spec.n_splits if isinstance(spec, Folds) else n_units
        least = K + timing.forward  # forward the oldest unit is never tested
        if n_units < max(least, 2):
            where = "there are" if level == "outer" else f"outer training part {j} has"
            hint = f"one of {units} cannot be split"
            if self.data.times is not None:
                hint = "rows of one time cannot be split"
            if n_units > 1 + timing.forward:
                hint = f"use {level}<={n_units - timing.forward}"
            raise InfeasibleError(
                f"{K} {level} folds need {max(least, 2)} {units}, but {where} {n_units}; {hint}."
            )
        if self.recipe.time_ordered:
            return timing.folds(K)
        if isinstance(spec, LeaveOneOut):
            label = np.arange(n)
            if groups is not None:
                label = np.unique(groups, return_inverse=True)[1]
            return Partition(label, K)
        strata = self.strata.for_folds(rows, K, level, j)
        kind = K_FOLD[strata is not None, groups is not None]
        GENERATOR.random.seed(self._seed(level))
        random = GENERATOR.random if self.recipe.shuffle else None
        splitter = kind(K, shuffle=self.recipe.shuffle, random_state=random)
        # scikit-learn's warning of small classes: our caution names them
        with nullcontext() if strata is None else quiet():
            return Partition(fold_labels(splitter, n, strata, groups), K)

    def _holdouts(
        self, rows: np.ndarray, share: float, samples: int, level: str
    ) -> Layout:
        n, groups, n_test = rows.size, self._groups(rows), share_of(share, rows.size)
        if self.recipe.time_ordered or not self.recipe.shuffle:
            if samples > 1:
                raise RecipeError(
                    "resampling draws rows at random, which shuffle=False forbids; use "
                    "folds or one holdout."
                )
            return self.timing.on(rows).newest(n_test, level)
        strata = self.strata.for_holdout(rows, n_test, level)
        return Pairs(holdouts(n, share, samples, strata, groups, self._seed(level)), n)

    def _fixed(self, spec: FixedRows, rows: np.ndarray, level: str) -> Layout:
        name = "test_rows" if level == "outer" else "dev_rows"
        in_range(name, spec.rows, self.data.n_rows)
        test = np.flatnonzero(np.isin(rows, spec.rows))
        if test.size < spec.rows.size:
            outside = spec.rows[~np.isin(spec.rows, rows)]
            raise InfeasibleError(
                f"{name} holds row {outside[0]}, which is not among the training rows of "
                "the outer split."
            )
        if self.recipe.time_ordered:
            return self.timing.on(rows).pairs([test])
        train = np.setdiff1d(np.arange(rows.size), test)
        return Pairs([(train, test)], rows.size)

    def _given(
        self, spec: GivenSplitter, rows: np.ndarray, level: str, j: int
    ) -> Layout:
        """The splits of a copy of the splitter, so that its random_state does not advance."""
        splitter = spec.splitter
        if isinstance(splitter, STRATIFIED):
            if spec.explicit:
                self.strata.check_splitter(splitter, rows, level)
            else:
                self.strata.for_folds(rows, splitter.n_splits, level, j)
        self._remark_on_global_state(splitter, level)
        X = np.zeros(rows.size) if _ignores_values(splitter) else self.data.rows(rows)
        y, groups = self.data.y[rows], self._groups(rows)
        try:
            # a note of ours replaces these warnings
            with quiet("The least populated class", "The groups parameter is ignored"):
                pairs = copy.deepcopy(splitter).split(X, y, groups)
                return compress(check_pairs(level, pairs, rows.size, j), rows.size)
        except (RecipeError, InfeasibleError):
            raise
        except (TypeError, ValueError) as error:
            hint = " Give groups=." if groups is None and "groups" in str(error) else ""
            raise RecipeError(
                f"{level}={splitter!r} cannot split these {rows.size} rows: {error}{hint}"
            ) from error

    def _remark_on_global_state(self, splitter: Any, level: str) -> None:
        shuffles = getattr(splitter, "shuffle", True)
        if getattr(splitter, "random_state", 0) is not None or not shuffles:
            return
        remark = (
            f"{level}={splitter!r} has random_state=None: it draws from NumPy's global "
            "state; the plan keeps what it drew."
        )
        if remark not in self.remarks:
            self.remarks.append(remark)

    def _listed(self, spec: ListedSplits, outer: Layout | None) -> Iterable[Layout]:
        n_rows = self.data.n_rows
        if outer is None:
            yield compress(check_pairs("inner", spec.splits, n_rows), n_rows)
            return
        if _is_pair(spec.splits[0]):
            raise RecipeError(
                "inner holds (train, test) pairs, but needs one list of pairs per outer "
                "split; to split every training part give the splitter, such as "
                "inner=KFold(5)."
            )
        if len(spec.splits) != len(outer):
            raise RecipeError(
                f"inner holds {len(spec.splits)} lists of splits, but there are {len(outer)} "
                "outer splits."
            )
        for j, splits in enumerate(spec.splits):
            rows = outer.pair(j)[0]
            pairs = check_pairs("inner", splits, n_rows, j)
            yield compress(positions(pairs, places(rows, n_rows), j), rows.size)


def _is_pair(value: Any) -> bool:
    """Whether the value is two lists or arrays of row numbers."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    return all(
        isinstance(rows, np.ndarray)
        or (isinstance(rows, list) and is_whole(next(iter(rows), None)))
        for rows in value
    )


def _refuse_repeats(rows: np.ndarray, j: int) -> None:
    counts = np.bincount(rows)
    if rows.size > 1 and counts.max() > 1:
        raise RecipeError(
            f"outer split {j} trains on row {np.argmax(counts)} more than once (a "
            "bootstrap): inner splits would test on rows that they train on; use splits "
            "without repetition."
        )


def _ignores_values(splitter: Any) -> bool:
    """Whether the splitter only looks at the number of rows of X."""
    from_sklearn = type(splitter).__module__.startswith("sklearn.model_selection")
    return from_sklearn or isinstance(splitter, TimeBlocks)
