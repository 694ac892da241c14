"""Drawing a plan: the only place where splits are made, and the only user of the recipe's seed.

Inside every outer training part the inner splitter starts from the same seed (outer seed + 1), as scikit-learn's GridSearchCV
with an integer random_state does inside cross_validate.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
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
from ..errors import CvnbWarning, InfeasibleError, RecipeError
from ..runtime.randomness import global_state
from ..runtime.thread_warnings import quiet
from ..wording import count, some, spread
from .explicit import check_pairs, in_range, positions
from .layouts import Layout, Pairs, Partition, compress, places
from .plan import Plan
from .recipes import Recipe
from .specs import (
    FixedRows,
    Folds,
    Given,
    Holdout,
    LeaveOneOut,
    LikeOuterTest,
    Listed,
    Resampling,
)
from .splitters import (
    Pair,
    TimeBlocks,
    fold_labels,
    group_ends,
    holdouts,
    share_of,
    within,
)

STRATIFIED = (StratifiedKFold, StratifiedGroupKFold, RepeatedStratifiedKFold)


def draw(recipe: Recipe, data: Data, task: str, inner_spec: Any) -> Plan:
    """The plan of this recipe on these rows."""
    pen = Pen(recipe, data, task)
    with _kept_state(recipe.outer_spec, inner_spec):
        outer = None if recipe.outer_spec is None else pen.outer()
        inner = (
            None if inner_spec is None else tuple(pen.inner_of_parts(inner_spec, outer))
        )
    plan = Plan(
        n_rows=data.n_rows,
        outer_layout=outer,
        inner_layouts=inner,
        buffer=recipe.buffer,
        recipe=repr(recipe),
        outer_words=words_of(
            recipe.outer_spec,
            None if outer is None else (outer,),
            data.groups is not None,
            "test set",
        ),
        inner_words=words_of(inner_spec, inner, data.groups is not None, "dev set"),
        notes=(*pen.cautions(), *pen.remarks),
        group_codes=data.groups,
        outer_drawn=not isinstance(recipe.outer_spec, Given | Listed | FixedRows),
        data=data,
        task=task,
    )
    _refuse_empty_parts(plan)
    for caution in pen.cautions():
        warnings.warn(caution, CvnbWarning, stacklevel=4)
    return plan


def _kept_state(*specs: Any) -> Any:
    """Keeps NumPy's global random state where a splitter of the user's may draw from it."""
    return (
        global_state()
        if any(isinstance(spec, Given | Listed) for spec in specs)
        else nullcontext()
    )


def _refuse_empty_parts(plan: Plan) -> None:
    empty = [
        where.format(k=k)
        for where, splits in plan.levels()
        if not (sizes := splits.layout.sizes()).all()
        for k in np.flatnonzero((sizes == 0).any(axis=1))
    ]
    if empty:
        raise InfeasibleError(
            f"{some(empty)} has an empty part; use fewer folds, a smaller buffer or another share."
        )


def draw_final(recipe: Recipe, data: Data, task: str, inner_spec: Any) -> Layout:
    """The inner splitter on all of S, for the final choice."""
    if isinstance(inner_spec, Listed):
        raise RecipeError(
            "inner was given as lists for each outer split, so nothing says how to choose θ on all of S; give inner as a "
            "splitter or a number of folds."
        )
    with _kept_state(recipe.outer_spec, inner_spec):
        pen = Pen(recipe, data, task)
        n_test = None
        if isinstance(inner_spec, LikeOuterTest):
            n_test = int(pen.outer().sizes()[0, 1])
        return pen.layout(inner_spec, np.arange(data.n_rows), "inner", n_test)


@dataclass
class SmallClass:
    """A class with fewer rows than folds: in S, and in which outer training parts."""

    outer: tuple[int, int] | None = None
    inner: dict[int, int] = field(default_factory=dict)
    inner_folds: int = 0

    def sentence(self, name: str, nested: bool) -> str:
        clauses = (
            [
                f"has {count(self.outer[0], 'row')}, fewer than the {self.outer[1]} outer folds"
            ]
            if self.outer
            else []
        )
        if self.inner:
            splits = ", ".join(map(str, list(self.inner)[:5])) + (
                " and more" if len(self.inner) > 5 else ""
            )
            where = f" in the training part of outer split {splits}" if nested else ""
            least = min(self.inner.values())
            clauses.append(
                f"has {count(least, 'row')}{where}, fewer than the {self.inner_folds} inner folds"
            )
        return f"Class {name} {' and '.join(clauses)}: some parts have none of it."


@dataclass
class Pen:
    """Draws layouts for one recipe and remembers which classes were too small for it."""

    recipe: Recipe
    data: Data
    task: str
    small: dict[str, SmallClass] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    random: np.random.RandomState = field(
        init=False, default_factory=np.random.RandomState
    )  # seeded anew for every draw
    classes: np.ndarray = field(init=False)
    strata: np.ndarray | None = field(
        init=False, default=None
    )  # classes to keep in proportion, as codes

    def __post_init__(self) -> None:
        if self.task == "classification":
            if self.recipe.stratify is not False and not self.recipe.time_ordered:
                self.classes, codes = self.data.classes
                self.strata = codes.astype(
                    np.min_scalar_type(self.classes.size)
                )  # small integers are sorted by counting
        elif self.recipe.stratify is True:
            raise RecipeError(
                "stratify=True needs classes, but this is a regression; use stratify='auto' or False."
            )

    def outer(self) -> Layout:
        """The outer splits; dev rows that came with the data are never tested on."""
        spec, n_rows = self.recipe.outer_spec, self.data.n_rows
        if isinstance(spec, Listed):
            return compress(check_pairs("outer", spec.splits, n_rows), n_rows)
        dev = self.recipe.dev_rows
        if dev is None or not isinstance(spec, Holdout):
            return self.layout(spec, np.arange(n_rows), "outer")
        dev = in_range("dev_rows", np.asarray(dev), n_rows)
        kept = (
            dev
            if self.data.groups is None
            else np.flatnonzero(np.isin(self.data.groups, self.data.groups[dev]))
        )
        pool = np.setdiff1d(np.arange(n_rows), kept)
        train, test = self.layout(Holdout(spec.share, of_all=True), pool, "outer").pair(
            0
        )
        train = np.sort(np.concatenate([pool[train], kept]))
        near = within(pool[test], n_rows, self.recipe.buffer)
        return Pairs([(train[~near[train]], pool[test])], n_rows)

    def inner_of_parts(self, spec: Any, outer: Layout | None) -> Iterable[Layout]:
        """The inner splits of every outer training part."""
        n_parts = 1 if outer is None else len(outer)
        if isinstance(spec, Listed):
            yield from self._listed_inside(spec, outer, n_parts)
            return
        drawn: dict[tuple[int, int], Layout] = {}
        for j in range(n_parts):
            rows, test = (
                (np.arange(self.data.n_rows), np.arange(0))
                if outer is None
                else outer.pair(j)
            )
            if isinstance(outer, Pairs):
                self._refuse_repeats(rows, j)
            size = rows.size, test.size if isinstance(spec, LikeOuterTest) else 0
            if not self._sees_size_alone(spec):
                yield self.layout(spec, rows, "inner", size[1], j)
                continue
            if size not in drawn:
                drawn[size] = self.layout(spec, rows, "inner", size[1], j)
            yield drawn[size]

    def _sees_size_alone(self, spec: Any) -> bool:
        """Whether equally many rows are split alike: every part starts from the same seed."""
        if self.data.groups is not None or isinstance(spec, Given | FixedRows):
            return False
        return self.strata is None or isinstance(spec, LeaveOneOut)

    def layout(
        self,
        spec: Any,
        rows: np.ndarray,
        level: str,
        n_test: int | None = None,
        j: int = 0,
    ) -> Layout:
        """The splits of these rows by one spec, in positions."""
        if rows.size < 2:
            where = (
                "S"
                if level == "outer" or self.recipe.outer_spec is None
                else f"outer training part {j}"
            )
            raise InfeasibleError(
                f"{where} has {count(rows.size, 'row')} (n_samples={rows.size}), which cannot be split; use more "
                "rows, a smaller test part or a smaller buffer."
            )
        if isinstance(spec, Folds | LeaveOneOut):
            return self._folds(spec, rows, level, j)
        if isinstance(spec, Given):
            return self._given(spec, rows, level, j)
        if isinstance(spec, FixedRows):
            return self._fixed(spec, rows, level)
        share, samples = (
            (spec.share, spec.samples)
            if isinstance(spec, Resampling)
            else (getattr(spec, "share", 0.0), 1)
        )
        if isinstance(spec, LikeOuterTest):
            share, groups = (n_test or 0) / rows.size, self._groups(rows)
            if share >= 1 and (groups is None or np.unique(groups).size > 1):
                raise InfeasibleError(
                    f"a dev set of {n_test} of {rows.size} rows leaves no row to train on; use outer >= 3."
                )
        elif isinstance(spec, Holdout) and spec.of_all:
            share = share_of(share, self.data.n_rows) / rows.size
        return self._holdouts(rows, share, samples, level)

    def cautions(self) -> list[str]:
        """One sentence per class that was too small to stand in every part, then what was not kept in proportion."""
        nested = self.recipe.outer_spec is not None
        return [
            small.sentence(name, nested) for name, small in self.small.items()
        ] + self.said

    def _seed(self, level: str) -> int:
        return self.recipe.seed + (level == "inner")

    def _groups(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.data.groups is None else self.data.groups[rows]

    def _folds(
        self, spec: Folds | LeaveOneOut, rows: np.ndarray, level: str, j: int
    ) -> Layout:
        groups = self._groups(rows)
        n_units = rows.size if groups is None else np.unique(groups).size
        K = n_units if isinstance(spec, LeaveOneOut) else spec.n_splits
        if n_units < K or n_units < 2:
            what = "rows" if groups is None else "groups"
            where = "there are" if level == "outer" else f"outer training part {j} has"
            hint = (
                f"use {level}<={n_units}"
                if n_units > 1
                else f"one of {what} cannot be split"
            )
            raise InfeasibleError(
                f"{K} {level} folds need {max(K, 2)} {what}, but {where} {n_units}; {hint}."
            )
        if self.recipe.time_ordered:
            return Partition(
                TimeBlocks(K).labels(rows.size, groups), K, self.recipe.buffer
            )
        if isinstance(spec, LeaveOneOut):
            label = (
                np.arange(rows.size)
                if groups is None
                else np.unique(groups, return_inverse=True)[1]
            )
            return Partition(label, K)
        strata = self._strata_for_folds(rows, K, level, j)
        kind = {
            (False, False): KFold,
            (True, False): StratifiedKFold,
            (False, True): GroupKFold,
        }.get((strata is not None, groups is not None), StratifiedGroupKFold)
        shuffle = bool(self.recipe.shuffle)
        self.random.seed(self._seed(level))
        splitter = kind(
            K, shuffle=shuffle, random_state=self.random if shuffle else None
        )
        with quiet():  # its warning of small classes: ours names them
            return Partition(fold_labels(splitter, rows.size, strata, groups), K)

    def _strata_for_folds(
        self, rows: np.ndarray, K: int, level: str, j: int
    ) -> np.ndarray | None:
        """Strata where the classes allow K folds; small classes are refused or remembered."""
        if self.strata is None:
            return None
        strata = self.strata[rows]
        counts = np.bincount(strata)
        if counts.max() < K and self.recipe.stratify is not True:
            self._say(
                f"Every class has fewer rows than the {K} {level} folds: these folds are not stratified."
            )
            return None
        for c in np.flatnonzero((counts > 0) & (counts < K)):
            self._small_class(
                self.classes[c],
                int(counts[c]),
                K,
                level,
                j,
                int(counts[counts > 0].min()),
            )
        return strata

    def _small_class(
        self, name: Any, size: int, K: int, level: str, j: int, smallest: int
    ) -> None:
        text = f"Class {_plain(name)} has {count(size, 'row')}, fewer than the {K} {level} folds"
        if self.recipe.stratify is True:
            most = (
                f"use {level}<={smallest}, or stratify='auto'"
                if smallest > 1
                else "merge or drop it, or use stratify='auto'"
            )
            inside = "" if level == "outer" else f" (outer training part {j})"
            raise InfeasibleError(f"{text}{inside}; {most}.")
        known = self.small.setdefault(_plain(name), SmallClass())
        if level == "outer":
            known.outer = (size, K)
        else:
            known.inner[j], known.inner_folds = size, K

    def _holdouts(
        self, rows: np.ndarray, share: float, samples: int, level: str
    ) -> Layout:
        n, groups, n_test = rows.size, self._groups(rows), share_of(share, rows.size)
        if self.recipe.time_ordered or not self.recipe.shuffle:
            if samples > 1:
                raise RecipeError(
                    "resampling draws rows at random, which shuffle=False forbids; use folds or one holdout."
                )
            return Pairs([self._last_rows(n, n_test, groups, level)], n)
        strata = (
            None
            if self.strata is None
            else self._strata_for_holdout(self.strata[rows], n_test, level)
        )
        return Pairs(holdouts(n, share, samples, strata, groups, self._seed(level)), n)

    def _last_rows(
        self, n: int, n_test: int, groups: np.ndarray | None, level: str
    ) -> Pair:
        """The newest rows as the test part, the buffer ahead of it thrown away."""
        cut = n - n_test
        if groups is not None:
            ends = group_ends(groups)
            cut = int(ends[np.argmin(np.abs(ends - cut))]) if ends.size else 0
        if cut - self.recipe.buffer < 1 or cut >= n:
            raise InfeasibleError(
                f"the {level} holdout takes {n - cut} of {n} rows, the buffer {self.recipe.buffer}: no row is left to train on."
            )
        return np.arange(cut - self.recipe.buffer), np.arange(cut, n)

    def _strata_for_holdout(
        self, codes: np.ndarray, n_test: int, level: str
    ) -> np.ndarray | None:
        """Strata of at least 2 rows: smaller classes are pooled, and given up where even that leaves too many."""
        present, strata = np.unique(codes, return_inverse=True)
        counts = np.bincount(strata)
        if self.recipe.stratify is True and counts.min() < 2:
            name = _plain(self.classes[present[np.argmin(counts)]])
            raise InfeasibleError(
                f"Class {name} has 1 row, too few for both sides of a holdout; merge or drop it."
            )
        if counts.min() < 2:
            single = np.flatnonzero(counts < 2)
            host = (
                single[0]
                if single.size > 1
                else np.argmin(np.where(counts < 2, strata.size, counts))
            )
            strata = np.unique(
                np.where(counts[strata] < 2, host, strata), return_inverse=True
            )[1]
        n_strata = int(strata.max()) + 1
        if n_strata > min(n_test, codes.size - n_test):
            if self.recipe.stratify is True:
                raise InfeasibleError(
                    f"a holdout of {n_test} rows is too small for {n_strata} classes; use a larger share."
                )
            self._say(
                f"An {level} holdout of {n_test} rows is too small to keep {n_strata} classes in proportion."
            )
            return None
        return strata

    def _fixed(self, spec: FixedRows, rows: np.ndarray, level: str) -> Layout:
        name = "test_rows" if level == "outer" else "dev_rows"
        in_range(name, spec.rows, self.data.n_rows)
        test = np.flatnonzero(np.isin(rows, spec.rows))
        if test.size < spec.rows.size:
            outside = spec.rows[~np.isin(spec.rows, rows)]
            raise InfeasibleError(
                f"{name} holds row {outside[0]}, which is not among the training rows of the outer split."
            )
        near = within(test, rows.size, self.recipe.buffer)
        return Pairs([(np.flatnonzero(~near), test)], rows.size)

    def _given(self, spec: Given, rows: np.ndarray, level: str, j: int) -> Layout:
        """A splitter used as given, on a copy: a RandomState inside it stays where it was."""
        splitter = spec.splitter
        if isinstance(splitter, STRATIFIED) and spec.explicit:
            self._check_given_strata(splitter, rows, level)
        elif isinstance(splitter, STRATIFIED):
            self._strata_for_folds(rows, splitter.n_splits, level, j)
        own = type(splitter).__module__.startswith(
            "sklearn.model_selection"
        ) or isinstance(splitter, TimeBlocks)
        X = np.zeros(rows.size) if own else self.data.rows(rows)
        if getattr(splitter, "random_state", 0) is None and getattr(
            splitter, "shuffle", True
        ):
            remark = f"{level}={splitter!r} has random_state=None: it draws from NumPy's global state; the plan keeps what it drew."
            self.remarks += [remark] if remark not in self.remarks else []
        try:
            with quiet(
                "The least populated class", "The groups parameter is ignored"
            ):  # a note says it better
                pairs = copy.deepcopy(splitter).split(
                    X, self.data.y[rows], self._groups(rows)
                )
                return compress(check_pairs(level, pairs, rows.size, j), rows.size)
        except (RecipeError, InfeasibleError):
            raise
        except (TypeError, ValueError) as error:
            hint = (
                " Give groups=."
                if self.data.groups is None and "groups" in str(error)
                else ""
            )
            raise RecipeError(
                f"{level}={splitter!r} cannot split these {rows.size} rows: {error}{hint}"
            ) from error

    def _check_given_strata(self, splitter: Any, rows: np.ndarray, level: str) -> None:
        K = (
            splitter.n_splits
            if hasattr(splitter, "n_splits")
            else splitter.cvargs["n_splits"]
        )
        classes, counts = np.unique(self.data.y[rows], return_counts=True)
        if counts.min() < K and self.task == "classification":
            name, least = classes[np.argmin(counts)], int(counts.min())
            most = (
                f"the largest n_splits that works is {least}"
                if least > 1
                else "no n_splits works; merge or drop it"
            )
            raise InfeasibleError(
                f"Class {_plain(name)} has {count(least, 'row')}, fewer than {level}={splitter!r} needs; {most}."
            )

    def _refuse_repeats(self, rows: np.ndarray, j: int) -> None:
        if rows.size > 1 and np.bincount(rows).max() > 1:
            raise RecipeError(
                f"outer split {j} trains on row {np.argmax(np.bincount(rows))} more than once (a bootstrap): inner splits "
                "would test on rows that they train on; use splits without repetition."
            )

    def _listed_inside(
        self, spec: Listed, outer: Layout | None, n_parts: int
    ) -> Iterable[Layout]:
        n_rows = self.data.n_rows
        if outer is None:
            yield compress(check_pairs("inner", spec.splits, n_rows), n_rows)
            return
        if len(spec.splits) != n_parts:
            raise RecipeError(
                f"inner holds {len(spec.splits)} lists of splits, but there are {n_parts} outer splits."
            )
        for j, splits in enumerate(spec.splits):
            rows = outer.pair(j)[0]
            yield compress(
                positions(
                    check_pairs("inner", splits, n_rows, j), places(rows, n_rows), j
                ),
                rows.size,
            )

    def _say(self, note: str) -> None:
        if note not in self.said:
            self.said.append(note)


def words_of(
    spec: Any, layouts: tuple[Layout, ...] | None, grouped: bool, part: str
) -> str:
    """The splitter in words, for quantities and tables."""
    if layouts is None:
        return ""
    n = spread([len(layout) for layout in layouts])
    if isinstance(spec, Folds):
        return f"{spec.n_splits}-fold CV"
    if isinstance(spec, LeaveOneOut):
        return f"leave-one-{'group-' if grouped else ''}out CV"
    if isinstance(spec, Resampling):
        return count(spec.samples, "random holdout")
    if isinstance(spec, Holdout | LikeOuterTest | FixedRows):
        sizes = spread([layout.sizes()[0, 1] for layout in layouts])
        return f"a {part} of {sizes} row{'s' * (sizes != '1')}"
    if isinstance(spec, Listed):
        return f"{n} given split{'s' * (n != '1')}"
    name = type(spec.splitter).__name__
    if name in ("KFold", "StratifiedKFold", "GroupKFold", "StratifiedGroupKFold"):
        return f"{n}-fold CV"
    if name == "_CVIterableWrapper":
        return f"{n} given split{'s' * (n != '1')}"
    return {"LeaveOneOut": "leave-one-out CV"}.get(
        name, f"{n} split{'s' * (n != '1')} by {name}"
    )


def _plain(name: Any) -> str:
    return repr(name.item() if isinstance(name, np.generic) else name)
