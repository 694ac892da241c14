"""Strata: the classes that splits keep in proportion, and which of them are too small."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.table import Data
from ..errors import InfeasibleError, RecipeError
from ..wording import count
from .recipes import Recipe
from .splitters import Codes


@dataclass
class SmallClass:
    """A class with fewer rows than folds.

    outer        (its rows in S, outer folds), if it is too small for them
    inner        outer split -> its rows in that training part, where it is too small
    inner_folds  number of inner folds
    """

    outer: tuple[int, int] | None = None
    inner: dict[int, int] = field(default_factory=dict)
    inner_folds: int = 0

    def sentence(self, name: str, nested: bool) -> str:
        """Return the caution about the class; nested: whether there are outer splits."""
        clauses = []
        if self.outer:
            clauses.append(_fewer(self.outer[0], "", self.outer[1], "outer"))
        if self.inner:
            splits, where = list(map(str, self.inner)), ""
            if nested:
                where = f" in the training part of outer split {', '.join(splits[:5])}"
                where += " and more" if len(splits) > 5 else ""
            least = min(self.inner.values())
            clauses.append(_fewer(least, where, self.inner_folds, "inner"))
        return f"Class {name} {' and '.join(clauses)}: some parts have none of it."


class Strata:
    """The strata of one recipe on one data set; collects cautions about small classes.

    codes    [rows] index of the class of every row; None without stratification
    classes  the classes
    """

    codes: Codes = None
    classes: np.ndarray

    def __init__(self, recipe: Recipe, data: Data, task: str) -> None:
        self.recipe, self.data, self.task = recipe, data, task
        self.small: dict[str, SmallClass] = {}
        self.notes: list[str] = []
        if task == "classification":
            if recipe.stratify is not False and not recipe.time_ordered:
                self.classes, codes = data.classes
                # NumPy sorts small integers by counting
                self.codes = codes.astype(np.min_scalar_type(self.classes.size))
        elif recipe.stratify is True:
            raise RecipeError(
                "stratify=True needs classes, but this is a regression; use "
                "stratify='auto' or False."
            )

    def cautions(self) -> list[str]:
        """Return a sentence per class too small for some split, then the other notes."""
        nested = self.recipe.outer_spec is not None
        small = [small.sentence(name, nested) for name, small in self.small.items()]
        return small + self.notes

    def for_folds(self, rows: np.ndarray, K: int, level: str, j: int) -> Codes:
        """Return the strata of these rows for K folds, or None if no class has K rows.

        Small classes are refused with stratify=True, and noted otherwise.
        """
        if self.codes is None:
            return None
        strata = self.codes[rows]
        counts = np.bincount(strata)
        if counts.max() < K and self.recipe.stratify is not True:
            self._note(
                f"Every class has fewer rows than the {K} {level} folds: these folds are "
                "not stratified."
            )
            return None
        for c in np.flatnonzero((counts > 0) & (counts < K)):
            name, size = class_name(self.classes[c]), int(counts[c])
            if self.recipe.stratify is True:
                smallest = int(counts[counts > 0].min())
                hint = "merge or drop it, or use stratify='auto'"
                if smallest > 1:
                    hint = f"use {level}<={smallest}, or stratify='auto'"
                where = "" if level == "outer" else f" (outer training part {j})"
                raise InfeasibleError(
                    f"Class {name} {_fewer(size, '', K, level)}{where}; {hint}."
                )
            small = self.small.setdefault(name, SmallClass())
            if level == "outer":
                small.outer = size, K
            else:
                small.inner[j], small.inner_folds = size, K
        return strata

    def for_holdout(self, rows: np.ndarray, n_test: int, level: str) -> Codes:
        """Return strata of at least 2 rows each, or None if there are too many for n_test rows.

        Classes of one row are pooled; with stratify=True both cases are refused.
        """
        if self.codes is None:
            return None
        present, strata = np.unique(self.codes[rows], return_inverse=True)
        counts = np.bincount(strata)
        if counts.min() < 2:
            if self.recipe.stratify is True:
                name = class_name(self.classes[present[np.argmin(counts)]])
                raise InfeasibleError(
                    f"Class {name} has 1 row, too few for both sides of a holdout; merge or "
                    "drop it."
                )
            strata = _pool_single_rows(strata, counts)
        n_strata = int(strata.max()) + 1
        if n_strata <= min(n_test, rows.size - n_test):
            return strata
        if self.recipe.stratify is True:
            raise InfeasibleError(
                f"a holdout of {n_test} rows is too small for {n_strata} classes; use a "
                "larger share."
            )
        self._note(
            f"An {level} holdout of {n_test} rows is too small to keep {n_strata} classes "
            "in proportion."
        )
        return None

    def check_splitter(self, splitter: Any, rows: np.ndarray, level: str) -> None:
        """Refuse a stratified splitter with more folds than some class has rows."""
        is_repeated = not hasattr(splitter, "n_splits")
        K = splitter.cvargs["n_splits"] if is_repeated else splitter.n_splits
        classes, counts = np.unique(self.data.y[rows], return_counts=True)
        if counts.min() >= K or self.task != "classification":
            return
        name, least = class_name(classes[np.argmin(counts)]), int(counts.min())
        hint = "no n_splits works; merge or drop it"
        if least > 1:
            hint = f"the largest n_splits that works is {least}"
        raise InfeasibleError(
            f"Class {name} has {count(least, 'row')}, fewer than {level}={splitter!r} "
            f"needs; {hint}."
        )

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _fewer(n_rows: int, where: str, K: int, level: str) -> str:
    return f"has {count(n_rows, 'row')}{where}, fewer than the {K} {level} folds"


def _pool_single_rows(strata: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Merge the strata of one row; a single such stratum joins the smallest other one."""
    single = np.flatnonzero(counts < 2)
    host = single[0]
    if single.size == 1:
        host = np.argmin(np.where(counts < 2, strata.size, counts))
    merged = np.where(counts[strata] < 2, host, strata)
    return np.unique(merged, return_inverse=True)[1]


def class_name(name: Any) -> str:
    """Return a class as the user would write it."""
    return repr(name.item() if isinstance(name, np.generic) else name)
