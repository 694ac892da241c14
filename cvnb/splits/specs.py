"""The values of outer= and inner=, each converted to one small record."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ..errors import RecipeError, WrongTypeError

MAX_SHOWN = 200  # characters of given splits in a repr


@dataclass(frozen=True)
class Folds:
    """K folds: scikit-learn's KFold, its stratified and grouped variants, or K time blocks."""

    n_splits: int

    def __repr__(self) -> str:
        return repr(self.n_splits)


@dataclass(frozen=True)
class LeaveOneOut:
    """One row, or one group if there are groups, tested at a time."""

    def __repr__(self) -> str:
        return "'loo'"


@dataclass(frozen=True)
class Holdout:
    """One holdout of a share of the rows to split, or of all rows of S."""

    share: float
    of_all: bool = False

    def __repr__(self) -> str:
        share = repr(self.share)
        return f"Holdout({share}, of_all=True)" if self.of_all else share


@dataclass(frozen=True)
class LikeOuterTest:
    """One dev set as large as the test part of its outer split."""


@dataclass(frozen=True)
class Resampling:
    """Random holdouts, drawn independently.

    samples  number of holdouts, at least 1
    share    share of the rows in each test part, between 0 and 1

    >>> from cvnb import Recipe
    >>> Recipe(outer=5, inner=Resampling(20, 0.25)).name
    'nested CV, resampled inside'
    """

    samples: int
    share: float

    def __post_init__(self) -> None:
        check_count("samples", self.samples, 1)
        check_share("share", self.share)


@dataclass(frozen=True)
class GivenSplitter:
    """A splitter, used exactly as given.

    explicit  False for the folds that scikit-learn makes of an integer cv=
    """

    splitter: Any
    explicit: bool = True

    def __repr__(self) -> str:
        text = " ".join(repr(self.splitter).split())
        return f"<{type(self.splitter).__name__}>" if " at 0x" in text else text


@dataclass(frozen=True)
class ListedSplits:
    """(train, test) pairs; as inner= with outer splits, one list of pairs per outer split."""

    splits: tuple[Any, ...]

    def __repr__(self) -> str:
        most = MAX_SHOWN // 3  # every number takes at least three characters
        if len(list(islice(_numbers(self.splits), most + 1))) <= most:
            text = repr(_as_lists(list(self.splits)))
            if len(text) <= MAX_SHOWN:
                return text
        return f"<{len(self.splits)} given splits>"


@dataclass(frozen=True)
class FixedRows:
    """Row numbers given as the test or dev part."""

    rows: np.ndarray = field(repr=False)

    def __repr__(self) -> str:
        return f"<{self.rows.size} given rows>"


DrawnSpec = Folds | LeaveOneOut | Holdout | LikeOuterTest | Resampling
GivenSpec = GivenSplitter | ListedSplits | FixedRows
SplitterSpec = DrawnSpec | GivenSpec
Spec = SplitterSpec | None
InnerSpec = Spec | str  # "auto", until the family is known


def spec_of(level: str, value: Any) -> InnerSpec:
    """Return the record for a value of outer= or inner=; level: "outer" or "inner"."""
    if value is None or isinstance(value, DrawnSpec):
        return value
    if is_whole(value):
        if value < 2:
            use = "choose on" if level == "inner" else "test on"
            raise RecipeError(
                f"{level}={value} leaves no fold to {use}; use {level} >= 2."
            )
        return Folds(int(value))
    if isinstance(value, float | np.floating):
        return Holdout(check_share(level, value))
    if isinstance(value, str):
        return _spec_of_word(level, value)
    if isinstance(value, type):
        raise WrongTypeError(
            f"{level}={value.__name__} is a class; use {value.__name__}()."
        )
    if hasattr(value, "split") and hasattr(value, "get_n_splits"):
        return GivenSplitter(copy.deepcopy(value))
    _refuse_misplaced(level, value)
    if isinstance(value, Iterable):
        return _listed(level, value)
    wrong = RecipeError if isinstance(value, bool | np.bool_) else WrongTypeError
    raise wrong(
        f"{level}={value!r} is no splitter; use a number of folds, a share, 'loo', a "
        "splitter or a list."
    )


def _refuse_misplaced(level: str, value: Any) -> None:
    """Refuse a grid and an array, which belong elsewhere."""
    if isinstance(value, Mapping):
        raise WrongTypeError(
            f"{level} is a dict, no splitter; the grid comes after the model: "
            "nested_cv(model, grid, X, y)."
        )
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        raise WrongTypeError(
            f"{level} is an array of shape {value.shape}, no splitter; X and y go to "
            "run(model, X, y), and the fold of every row into PredefinedSplit(folds)."
        )


def check_share(name: str, share: Any) -> float:
    """Return the value of the argument `name`, refused unless it is strictly between 0 and 1."""
    is_number = isinstance(share, float | np.floating | int | np.integer)
    if isinstance(share, bool) or not is_number or not 0 < share < 1:
        hint = ""
        if isinstance(share, float) and share.is_integer() and share >= 2:
            hint = f" For {int(share)} folds write {name}={int(share)}."
        raise RecipeError(
            f"{name}={share!r} is no share of the rows; a share is strictly between 0 and "
            f"1.{hint}"
        )
    return float(share)


def check_count(name: str, count: Any, least: int) -> int:
    """Return the value of the argument `name`, refused unless it is an integer >= least."""
    if not is_whole(count) or count < least:
        raise RecipeError(f"{name}={count!r} must be a whole number >= {least}.")
    return int(count)


def is_whole(value: Any) -> bool:
    """Whether the value is an integer of Python's or NumPy's, and not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _as_lists(splits: Any) -> Any:
    """Convert arrays and ranges, at any depth, to lists."""
    if isinstance(splits, np.ndarray):
        return splits.tolist()
    if isinstance(splits, range):
        return list(splits)
    if isinstance(splits, list | tuple):
        return type(splits)(_as_lists(split) for split in splits)
    return splits


def _numbers(splits: Any) -> Iterator[Any]:
    """Yield every number in nested lists, arrays and ranges."""
    if isinstance(splits, np.ndarray):
        yield from splits.ravel()
    elif isinstance(splits, range | list | tuple):
        for split in splits:
            yield from _numbers(split)
    else:
        yield splits


def _listed(level: str, splits: Iterable[Any]) -> ListedSplits:
    """Read the splits, because the first plan would exhaust an iterator."""
    listed = tuple(splits)
    if not listed:
        raise RecipeError(
            f"{level} is an empty list of splits (or an iterator that was used up); "
            "give (train, test) pairs."
        )
    return ListedSplits(tuple(map(read_once, listed)))


def read_once(values: Any) -> Any:
    """Return values that can be read again: the list of an iterator."""
    is_sequence = isinstance(values, Sequence | np.ndarray)
    return values if is_sequence or not isinstance(values, Iterable) else list(values)


def _spec_of_word(level: str, word: str) -> LeaveOneOut | str:
    if word == "auto" and level == "inner":
        return word
    if word == "loo":
        return LeaveOneOut()
    words = "'loo'" if level == "outer" else "'auto' or 'loo'"
    hint = f" For {word} folds write {level}={word}." if word.isdecimal() else ""
    raise RecipeError(f"{level}={word!r} is not known; the words are {words}.{hint}")


def fixed_rows(
    option: str, rows: Any, level: str, spec: InnerSpec, default: InnerSpec
) -> FixedRows:
    """Return the rows of test_rows= or dev_rows=, which replace a split that would be drawn.

    option: "test_rows" or "dev_rows"
    rows: its value
    level: "outer" or "inner", the split that is replaced
    spec: the value of that level, refused unless it is a holdout or the default
    """
    if not (isinstance(spec, Holdout) or spec == default):
        raise RecipeError(
            f"{option}= fixes the {level} split, so {level}={spec!r} cannot act; leave {level} out."
        )
    rows = np.asarray(rows)
    if rows.dtype == bool:
        raise RecipeError(
            f"{option} holds a boolean mask; row numbers are needed: np.flatnonzero(mask)."
        )
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
        raise RecipeError(
            f"{option} must be a list of row numbers (whole numbers, at least one)."
        )
    if np.unique(rows).size != rows.size:
        raise RecipeError(f"{option} names some row twice.")
    return FixedRows(rows.astype(np.int64))
