"""Strata: the classes, or bins of y, that splits keep in proportion; which are too small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.table import Data
from ..errors import InfeasibleError, RecipeError
from ..wording import count, number
from .recipes import Recipe
from .specs import is_whole
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
        return f"{name} {' and '.join(clauses)}: some parts have none of it."


class Strata:
    """The strata of one recipe on one data set; collects cautions about small classes.

    codes     [rows] index of the class, or of the bin of y, of every row; None without strata
    names     of the classes or bins, for messages
    refuses   whether one too small is an error, not a caution
    remarks   what became of the bins
    """

    codes: Codes = None
    names: Sequence[str]
    noun = "class"

    def __init__(self, recipe: Recipe, data: Data, task: str) -> None:
        self.recipe, self.data, self.task = recipe, data, task
        self.small: dict[str, SmallClass] = {}
        self.notes: list[str] = []
        self.remarks: list[str] = []
        stratify = recipe.stratify
        self.refuses = stratify is True
        if is_whole(stratify):
            self._bin(data, int(stratify))
        elif task == "classification":
            if stratify is not False and not recipe.time_ordered:
                classes, codes = data.classes
                self.names = ClassNames(classes)
                # NumPy sorts small integers by counting
                self.codes = codes.astype(np.min_scalar_type(classes.size))
        elif stratify is True:
            raise RecipeError(
                "stratify=True needs classes, but this is a regression; use "
                "stratify='auto' or False, or bins of y: stratify=10."
            )

    def _bin(self, data: Data, n_bins: int) -> None:
        """Make bins of y the strata, or refuse; groups may not allow equal shares of a bin."""
        if self.task == "classification":
            raise RecipeError(
                f"stratify={n_bins} makes bins of a continuous y, but y holds classes; use "
                "stratify='auto' or True."
            )
        if n_bins > data.n_rows:
            raise InfeasibleError(
                f"stratify={n_bins} bins need {n_bins} rows, but there are {data.n_rows}; use "
                "fewer bins."
            )
        edges, codes = bins_of(data.y, n_bins)
        if edges.size < 3:
            raise InfeasibleError(
                f"stratify={n_bins}: y has so many equal values that one bin holds all rows; "
                "use stratify=False."
            )
        if edges.size <= n_bins:
            self.remarks.append(
                f"stratify={n_bins}: y has equal values across edges, which leave "
                f"{edges.size - 1} bins."
            )
        self.codes, self.noun = codes, "bin"
        self.refuses = data.groups is None
        self.names = BinNames(edges)

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
        if self.noun == "bin" and not self.refuses and counts.max() >= K:
            if few := int(np.count_nonzero((counts > 0) & (counts < K))):
                self._note(
                    f"{count(few, 'bin')} of y with fewer rows than the {K} {level} folds: some "
                    "parts have none of them."
                )
            return strata
        if counts.max() < K and not self.refuses:
            self._note(
                f"Every {self.noun} has fewer rows than the {K} {level} folds: these folds are "
                "not stratified."
            )
            return None
        for c in np.flatnonzero((counts > 0) & (counts < K)):
            name, size = self.names[int(c)], int(counts[c])
            if self.refuses:
                smallest = int(counts[counts > 0].min())
                where = "" if level == "outer" else f" (outer training part {j})"
                raise InfeasibleError(
                    f"{name} {_fewer(size, '', K, level)}{where}; "
                    f"{self._hint(level, smallest)}."
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
            if self.refuses:
                name = self.names[int(present[np.argmin(counts)])]
                hint = "merge or drop it" if self.noun == "class" else "use fewer bins"
                raise InfeasibleError(
                    f"{name} has 1 row, too few for both sides of a holdout; {hint}."
                )
            strata = _pool_single_rows(strata, counts)
        n_strata = int(strata.max()) + 1
        if n_strata <= min(n_test, rows.size - n_test):
            return strata
        strata_words = f"{n_strata} {'classes' if self.noun == 'class' else 'bins'}"
        if self.refuses:
            raise InfeasibleError(
                f"a holdout of {n_test} rows is too small for {strata_words}; use a "
                f"larger share{' or fewer bins' * (self.noun == 'bin')}."
            )
        self._note(
            f"An {level} holdout of {n_test} rows is too small to keep {strata_words} "
            "in proportion."
        )
        return None

    def _hint(self, level: str, smallest: int) -> str:
        """What to type where the smallest class or bin has so few rows."""
        other = "stratify='auto'"
        if self.noun == "bin":
            other = "fewer bins" if len(self.names) > 2 else "stratify=False"
        if smallest > 1:
            return f"use {level}<={smallest}, or {other}"
        return (
            f"use {other}"
            if self.noun == "bin"
            else f"merge or drop it, or use {other}"
        )

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


class ClassNames(Sequence[str]):
    """Class c of a list of classes, in words."""

    def __init__(self, classes: np.ndarray) -> None:
        self._classes = classes

    def __len__(self) -> int:
        return self._classes.size

    def __getitem__(self, c: Any) -> Any:
        return f"Class {class_name(self._classes[c])}"


class BinNames(Sequence[str]):
    """Bin c between the edges, in words."""

    def __init__(self, edges: np.ndarray) -> None:
        self._edges = edges

    def __len__(self) -> int:
        return self._edges.size - 1

    def __getitem__(self, c: Any) -> Any:
        low, high = map(float, self._edges[c : c + 2])
        return f"Bin {c + 1} of {len(self)} (y from {number(low)} to {number(high)})"


def bins_of(y: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (edges, [rows] bin of every row), equal to pandas.qcut with duplicates="drop".

        edges = the distinct quantiles of y at 0, 1/n_bins, ..., 1
        bin c = values above edge c and up to edge c + 1; bin 0 holds the smallest value too

    So equal values share a bin.

    >>> bins_of(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 4.0]), 3)[1]
    array([0, 0, 0, 0, 2, 2])
    """
    shares, steps = np.linspace(0.0, 1.0, n_bins + 1), np.arange(n_bins + 1)
    # rounded up, as pandas 3 does: else an edge that is a value of y may fall short of it
    shares = np.where(n_bins * shares == steps, shares, np.nextafter(shares, 1))
    edges = np.unique(np.quantile(y, shares))
    codes = np.maximum(np.searchsorted(edges, y, side="left") - 1, 0)
    return edges, codes


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
