"""What outer= and inner= can be, each turned into one small record."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ..errors import RecipeError, WrongTypeError

MAX_SHOWN = 200  # characters of given splits in a repr


@dataclass(frozen=True)
class Folds:
    """K folds drawn by scikit-learn's KFold and its stratified and grouped kin, or K time blocks."""

    n_splits: int

    def __repr__(self) -> str:
        return repr(self.n_splits)


@dataclass(frozen=True)
class LeaveOneOut:
    """One row, or one group where there are groups, tested at a time."""

    def __repr__(self) -> str:
        return "'loo'"


@dataclass(frozen=True)
class Holdout:
    """One holdout of a share of the rows at hand, or of all rows of S."""

    share: float
    of_all: bool = False

    def __repr__(self) -> str:
        return (
            f"Holdout({self.share!r}, of_all=True)" if self.of_all else repr(self.share)
        )


@dataclass(frozen=True)
class LikeOuterTest:
    """One dev set as large as the test part of its outer split."""


@dataclass(frozen=True)
class Resampling:
    """`samples` random holdouts of a share of the rows at hand.

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
class Given:
    """A splitter, used exactly as given."""

    splitter: Any
    explicit: bool = (
        True  # False for the folds that scikit-learn makes of a bare number
    )

    def __repr__(self) -> str:
        shown = " ".join(repr(self.splitter).split())
        return f"<{type(self.splitter).__name__}>" if " at 0x" in shown else shown


@dataclass(frozen=True)
class Listed:
    """Explicit splits: (train, test) pairs, or inside an outer split one such list per outer split."""

    splits: tuple[Any, ...]

    def __repr__(self) -> str:
        some = list(
            islice(_numbers(self.splits), MAX_SHOWN // 3 + 1)
        )  # each takes three characters or more
        shown = (
            repr(_as_lists(list(self.splits))) if len(some) <= MAX_SHOWN // 3 else ""
        )
        return (
            shown
            if 0 < len(shown) <= MAX_SHOWN
            else f"<{len(self.splits)} given splits>"
        )


@dataclass(frozen=True)
class FixedRows:
    """The rows that came with the data as its test or dev part."""

    rows: np.ndarray = field(repr=False)

    def __repr__(self) -> str:
        return f"<{self.rows.size} given rows>"


Spec = (
    Folds
    | LeaveOneOut
    | Holdout
    | LikeOuterTest
    | Resampling
    | Given
    | Listed
    | FixedRows
    | None
)


def spec_of(level: str, given: Any) -> Any:
    """The splitter that the user's outer= or inner= stands for."""
    if given is None or isinstance(
        given, Folds | LeaveOneOut | Holdout | LikeOuterTest | Resampling
    ):
        return given
    if isinstance(given, bool | np.bool_):
        raise RecipeError(
            f"{level}={given!r} is no splitter; use a number of folds, a share, 'loo', a splitter or a list."
        )
    if isinstance(given, int | np.integer):
        if given < 2:
            left = "choose on" if level == "inner" else "test on"
            raise RecipeError(
                f"{level}={given} leaves no fold to {left}; use {level} >= 2."
            )
        return Folds(int(given))
    if isinstance(given, float | np.floating):
        return Holdout(check_share(level, given))
    if isinstance(given, str):
        return _spec_of_word(level, given)
    if isinstance(given, type):
        raise WrongTypeError(
            f"{level}={given.__name__} is a class; use {given.__name__}()."
        )
    if hasattr(given, "split") and hasattr(given, "get_n_splits"):
        return Given(copy.deepcopy(given))
    if isinstance(given, Iterable):
        splits = tuple(given)
        if not splits:
            raise RecipeError(
                f"{level} is an empty list of splits (or an iterator that was used up); give (train, test) pairs."
            )
        return Listed(tuple(_kept(split) for split in splits))
    raise WrongTypeError(
        f"{level}={given!r} is no splitter; use a number of folds, a share, 'loo', a splitter or a list."
    )


def check_share(name: str, share: Any) -> float:
    """A share strictly between 0 and 1."""
    if (
        isinstance(share, bool)
        or not isinstance(share, float | np.floating | int | np.integer)
        or not 0 < share < 1
    ):
        hint = (
            f" For {int(share)} folds write {name}={int(share)}."
            if _whole(share)
            else ""
        )
        raise RecipeError(
            f"{name}={share!r} is no share of the rows; a share lies strictly between 0 and 1.{hint}"
        )
    return float(share)


def check_count(name: str, count: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if (
        isinstance(count, bool | np.bool_)
        or not isinstance(count, int | np.integer)
        or count < least
    ):
        raise RecipeError(f"{name}={count!r} must be a whole number >= {least}.")
    return int(count)


def _as_lists(splits: Any) -> Any:
    """Arrays and ranges, however deep, as lists."""
    if isinstance(splits, np.ndarray | range):
        return list(splits) if isinstance(splits, range) else splits.tolist()
    if isinstance(splits, list | tuple):
        return type(splits)(_as_lists(split) for split in splits)
    return splits


def _numbers(splits: Any) -> Iterator[Any]:
    """Every number in lists of lists, arrays and ranges, however deep."""
    if isinstance(splits, np.ndarray):
        yield from splits.ravel()
    elif isinstance(splits, range | list | tuple):
        for split in splits:
            yield from _numbers(split)
    else:
        yield splits


def _whole(share: Any) -> bool:
    return isinstance(share, float) and share.is_integer() and share >= 2


def _kept(split: Any) -> Any:
    """A split or list of splits read once, so that an iterator is not used up by the first plan."""
    return (
        split
        if isinstance(split, np.ndarray | list | tuple)
        or not isinstance(split, Iterable)
        else list(split)
    )


def _spec_of_word(level: str, word: str) -> Any:
    if word == "auto" and level == "inner":
        return word
    if word == "loo":
        return LeaveOneOut()
    words = "'loo'" if level == "outer" else "'auto' or 'loo'"
    raise RecipeError(f"{level}={word!r} is not known; the words are {words}.")


def fixed_rows(
    option: str, rows: Any, level: str, spec: Any, default: Any
) -> FixedRows:
    """The rows given as test or dev part, in the place of a split that would be drawn."""
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
