"""Recognition: from a family and its data to the problem that a fast path solves, or the reason why none does.

Exact types only: a subclass may compute anything. Settings that differ in numbers alone come together as one Kind, and a
problem has one Combination per kind: the parameters all its settings share, and the values along the path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from ..data.checks import is_frame
from ..data.table import Data
from ..families.algorithm import Algorithm, Axis
from ..families.family import Family, Kind
from ..runtime.cancel import Stop
from .base import Draw
from .measure import Meter
from .refit import PASS, is_plain_pipeline


@dataclass(frozen=True)
class Combination:
    """Settings that share everything but the parameter along the path."""

    model: (
        Any  # the last step; its parameters are shared, but for the one along the path
    )
    scaled: bool  # a StandardScaler stands ahead of it
    which: np.ndarray  # numbers of the settings
    values: np.ndarray  # the parameter along the path, one value per setting; several parameters: a field for each
    axis: str = ""  # its name; "" where there are several


@dataclass(frozen=True, eq=False)
class Problem:
    """A recognised family on rows of numbers: X is [rows, columns] float64, C-contiguous."""

    X: np.ndarray
    draws: Sequence[Draw]
    meters: Sequence[Meter]  # one of each draw
    combinations: tuple[Combination, ...]

    @property
    def data(self) -> Data:
        """The rows; of the first draw, for what all draws share."""
        return self.draws[0].data

    @property
    def n_settings(self) -> int:
        """Of all combinations together."""
        return sum(one.which.size for one in self.combinations)


@dataclass(frozen=True, eq=False)
class SplitProblem:
    """Settings on one split: X_train and X_test are what transformers made of the rows `train` and `test`."""

    combination: Combination
    meter: Meter
    train: np.ndarray
    test: np.ndarray
    X_train: np.ndarray
    X_test: np.ndarray
    stop: Stop


@dataclass(frozen=True, eq=False)
class Request:
    """What a path is made of: an algorithm, and the settings and splits that are asked of it."""

    algorithm: Algorithm
    family: Family
    kinds: list[Kind]
    draws: Sequence[Draw]
    meters: Sequence[Meter]  # one of each draw

    @property
    def meter(self) -> Meter:
        """Of the first draw, for what all draws share."""
        return self.meters[0]

    @property
    def aheads(self) -> list[list[Any]]:
        """The transformers of each kind."""
        return [parts[0] for kind in self.kinds if (parts := steps_of(kind.candidate))]

    @property
    def models(self) -> list[Any]:
        """The last step of each kind."""
        return [parts[1] for kind in self.kinds if (parts := steps_of(kind.candidate))]


def steps_of(candidate: Any) -> tuple[list[Any], Any] | None:
    """(steps ahead that do something, last step); None where the steps cannot be looked at one by one."""
    if not isinstance(candidate, Pipeline):
        return [], candidate
    if not is_plain_pipeline(candidate):
        return None
    steps = [step for _, step in candidate.steps]
    return [step for step in steps[:-1] if step not in PASS], steps[-1]


def is_default_scaler(step: Any) -> bool:
    """Whether it centres and scales every column, nothing else."""
    return type(step) is StandardScaler and bool(step.with_mean) and bool(step.with_std)


def combinations_of(
    kinds: list[Kind], axis_of: Callable[[Kind], Axis]
) -> list[Combination]:
    """One combination per kind and set of other numbers of the last step; the axis is its parameter along the path."""
    found: dict[tuple[Any, ...], list[tuple[int, tuple[Any, ...]]]] = {}
    models: dict[tuple[Any, ...], tuple[Any, bool]] = {}
    for number, kind in enumerate(kinds):
        parts = steps_of(kind.candidate)
        assert parts is not None
        (ahead, last), axis = parts, axis_of(kind)
        axes = (axis,) if isinstance(axis, str) else axis
        prefix = (
            f"{kind.candidate.steps[-1][0]}__"
            if isinstance(kind.candidate, Pipeline)
            else ""
        )
        for s, numbers in zip(kind.which, kind.numbers, strict=True):
            own = {
                name.removeprefix(prefix): value
                for name, value in numbers.items()
                if name.startswith(prefix)
            }
            values = tuple(own.pop(name, getattr(last, name, 0)) for name in axes)
            key = (number, axis, tuple(sorted(own.items())))
            found.setdefault(key, []).append((int(s), values))
            if key not in models:
                models[key] = (
                    (clone(last).set_params(**own) if own else last),
                    bool(ahead),
                )
    return [_combination(*models[key], key[1], pairs) for key, pairs in found.items()]


def _combination(
    model: Any, scaled: bool, axis: Axis, pairs: list[tuple[int, tuple[Any, ...]]]
) -> Combination:
    which = np.array([s for s, _ in pairs])
    columns = [
        np.array(column)
        for column in zip(*(values for _, values in pairs), strict=True)
    ]
    if isinstance(axis, str):
        return Combination(model, scaled, which, columns[0], axis)
    values = np.empty(
        which.size,
        dtype=[
            (name, column.dtype) for name, column in zip(axis, columns, strict=True)
        ],
    )
    for name, column in zip(axis, columns, strict=True):
        values[name] = column
    return Combination(model, scaled, which, values)


def column_names(X: Any) -> list[Any]:
    """The names of a frame's columns; none for anything else."""
    return list(X.columns) if is_frame(X) else []


def numbers_of(data: Data) -> tuple[np.ndarray | None, str]:
    """(X as scikit-learn would read it, "") where it is a dense table of numbers; else (None, why not)."""
    if sp.issparse(data.X):
        return None, "X is sparse"
    if isinstance(data.X, np.ndarray) and data.calm:
        return data.X, ""  # checked already
    names = column_names(data.X)
    if len({isinstance(name, str) for name in names}) > 1:
        return None, "the names of its columns are of several types"
    try:
        return check_array(data.X, order="C"), ""
    except (TypeError, ValueError) as error:
        return None, f"X is no table of numbers ({' '.join(str(error).split())[:80]})"
