"""Checks of the options of a recipe, one by one and together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from ..errors import RecipeError
from .durations import check_buffer
from .specs import (
    FixedRows,
    GivenSplitter,
    Holdout,
    LeaveOneOut,
    LikeOuterTest,
    ListedSplits,
    Resampling,
    check_count,
    is_whole,
)
from .timing import FORWARD

if TYPE_CHECKING:
    from .recipes import Recipe

MAX_SEED = 2**32 - 1  # NumPy's, less one for the inner level


def check_seed(seed: Any) -> int:
    """Return seed= as an int that NumPy accepts."""
    if check_count("seed", seed, 0) >= MAX_SEED:
        raise RecipeError(
            f"seed={seed!r} is too large; seeds must be below {MAX_SEED}."
        )
    return int(seed)


def check_stratify(stratify: Any) -> bool | str | int:
    """Return stratify= as "auto", a bool, or a number of bins."""
    if isinstance(stratify, str) and stratify == "auto":
        return stratify
    if is_whole(stratify) and stratify >= 2:
        return int(stratify)
    if not isinstance(stratify, bool | np.bool_):
        raise RecipeError(
            f"stratify={stratify!r} must be 'auto', True or False, or a number >= 2 of bins of "
            "a continuous y, such as 10."
        )
    return bool(stratify)


def check_time_ordered(value: Any) -> bool | str:
    """Return time_ordered= as a bool or "forward"."""
    if isinstance(value, str) and value == FORWARD:
        return value
    if not isinstance(value, bool | np.bool_):
        raise RecipeError(
            f"time_ordered={value!r} must be True or False, or 'forward'."
        )
    return bool(value)


def check_bool(name: str, value: Any) -> bool:
    """Return the value of the option `name` as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise RecipeError(f"{name}={value!r} must be True or False.")
    return bool(value)


CHECKS: dict[
    str, Callable[[Any], Any]
] = {  # option -> its check, which returns the value kept
    "seed": check_seed,
    "shuffle": partial(check_bool, "shuffle"),
    "stratify": check_stratify,
    "time_ordered": check_time_ordered,
    "buffer": check_buffer,
}


def check_together(recipe: Recipe) -> None:
    """Refuse options that exclude each other."""
    outer, inner = recipe.outer_spec, recipe.inner_spec
    if outer is None and inner is None:
        raise RecipeError(
            "outer=None and inner=None leaves nothing to split; give one of them."
        )
    if isinstance(inner if outer is None else outer, LikeOuterTest):
        raise RecipeError("LikeOuterTest is an inner splitter and needs an outer one.")
    _refuse_options_of_given_splits(recipe)
    if recipe.buffer and not recipe.time_ordered:
        raise RecipeError(
            f"buffer={recipe.buffer!r} needs rows in the order of time; add time_ordered=True."
        )
    if recipe.time_ordered and recipe.stratify not in ("auto", False):
        raise RecipeError(
            f"stratify={recipe.stratify} would mix times; with "
            f"time_ordered={recipe.time_ordered!r} use stratify='auto' or False."
        )
    if recipe.time_ordered == FORWARD:
        _refuse_forward_leave_one_out(recipe)
    resamples = isinstance(outer, Resampling) or isinstance(inner, Resampling)
    if recipe.time_ordered and resamples:
        raise RecipeError(
            "resampling draws rows at random, which "
            f"time_ordered={recipe.time_ordered!r} forbids; use folds or one holdout."
        )
    one_test_part = isinstance(outer, Holdout | FixedRows | None)
    if isinstance(recipe.dev_rows, Iterable) and not one_test_part:
        raise RecipeError(
            "dev_rows= needs one outer holdout, test_rows= or outer=None: other outer "
            "splits would test on them."
        )


def _refuse_forward_leave_one_out(recipe: Recipe) -> None:
    for level, spec in (("outer", recipe.outer_spec), ("inner", recipe.inner_spec)):
        if isinstance(spec, LeaveOneOut):
            raise RecipeError(
                f"{level}='loo' tests the oldest row too, and with time_ordered='forward' no "
                f"row is older: nothing could train. Use a number of steps, such as {level}=10."
            )


def _refuse_options_of_given_splits(recipe: Recipe) -> None:
    """Refuse options that would have no effect on a given splitter or list."""
    defaults = {f.name: f.default for f in fields(recipe)}
    for level, spec in (("outer", recipe.outer_spec), ("inner", recipe.inner_spec)):
        if not isinstance(spec, GivenSplitter | ListedSplits):
            continue
        for option in CHECKS:
            value = getattr(recipe, option)
            if value != defaults[option]:
                raise RecipeError(
                    f"{option}={value!r} does not touch {level}={spec!r}, which is used "
                    f"exactly as given; drop {option} or give {level} as a number."
                )


def is_same(mine: Any, other: Any) -> bool:
    """Return whether two values are equal; also for arrays, lists of arrays, and splitters."""
    lists = list | tuple | np.ndarray
    if isinstance(mine, lists) and isinstance(other, lists):
        return len(mine) == len(other) and all(map(is_same, mine, other))
    if hasattr(mine, "split") and not isinstance(mine, str):
        return type(mine) is type(other) and joblib.hash(mine) == joblib.hash(other)
    return bool(np.all(mine == other))
