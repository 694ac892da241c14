"""Recognition: from a family and its data to the problem that a fast path solves, or the
reason why none does.

Exact types only: a subclass may compute anything. Settings that differ in numbers only form
one SettingGroup (a "kind"). A problem has one Combination per kind and set of other
parameters: the shared parameters, and the values along the path.
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
from ..families.family import Family
from ..families.labels import PASS
from ..families.setting_groups import SettingGroup
from ..runtime.cancel import Stop
from ..runtime.threads import Team
from .base import Draw
from .measure import LossEvaluator
from .refit import is_plain_pipeline

Values = tuple[Any, ...]  # of the parameters along the path, for one setting


@dataclass(frozen=True)
class Combination:
    """Settings that share everything except the parameter along the path.

    model   the last step, with the shared parameters set
    scaled  a StandardScaler comes before it
    which   indices of the settings
    values  the parameter along the path, one value per setting;
            several parameters: a structured array with a field for each
    axis    the name of the parameter; "" if there are several
    """

    model: Any
    scaled: bool
    which: np.ndarray
    values: np.ndarray
    axis: str = ""


@dataclass(frozen=True, eq=False)
class Problem:
    """A recognised family on rows of numbers: X is [rows, columns] float64, C-contiguous, or
    sparse by rows where the algorithm's record says so.

    evaluators  one per draw
    """

    X: Any
    draws: Sequence[Draw]
    evaluators: Sequence[LossEvaluator]
    combinations: tuple[Combination, ...]

    @property
    def data(self) -> Data:
        """Data of the first draw, for what all draws share."""
        return self.draws[0].data

    @property
    def n_settings(self) -> int:
        """Number of settings of all combinations together."""
        return sum(combination.which.size for combination in self.combinations)


@dataclass(frozen=True, eq=False)
class SplitProblem:
    """Settings on one split: X_train and X_test are the transformed rows `train` and `test`."""

    combination: Combination
    evaluator: LossEvaluator
    train: np.ndarray
    test: np.ndarray
    X_train: np.ndarray
    X_test: np.ndarray
    team: Team

    @property
    def stop(self) -> Stop:
        """The stop token."""
        return self.team.stop


@dataclass(frozen=True, eq=False)
class Request:
    """The input for a path: an algorithm, and the settings and splits to evaluate.

    evaluators  one per draw
    """

    algorithm: Algorithm
    family: Family
    kinds: list[SettingGroup]
    draws: Sequence[Draw]
    evaluators: Sequence[LossEvaluator]

    @property
    def evaluator(self) -> LossEvaluator:
        """Evaluator of the first draw, for what all draws share."""
        return self.evaluators[0]

    @property
    def transformers(self) -> list[list[Any]]:
        """The transformers of each kind."""
        return [plain_steps_of(kind.candidate)[0] for kind in self.kinds]

    @property
    def models(self) -> list[Any]:
        """The last step of each kind."""
        return [plain_steps_of(kind.candidate)[1] for kind in self.kinds]


def steps_of(candidate: Any) -> tuple[list[Any], Any] | None:
    """Return (transformers that are not skipped, last step); None for a special pipeline."""
    if not isinstance(candidate, Pipeline):
        return [], candidate
    if not is_plain_pipeline(candidate):
        return None
    *transformers, last = [step for _, step in candidate.steps]
    return [step for step in transformers if step not in PASS], last


def plain_steps_of(candidate: Any) -> tuple[list[Any], Any]:
    """Return `steps_of` a candidate that is known to be no special pipeline."""
    parts = steps_of(candidate)
    assert parts is not None
    return parts


def is_default_scaler(step: Any) -> bool:
    """Whether the step centres and scales every column and does nothing else."""
    return type(step) is StandardScaler and bool(step.with_mean) and bool(step.with_std)


def combinations_of(
    kinds: list[SettingGroup], axis_of: Callable[[SettingGroup], Axis]
) -> list[Combination]:
    """Return one combination per kind and set of the other numbers of its last step.

    axis_of  kind -> the parameter or parameters along the path
    """
    settings: dict[tuple[Any, ...], list[tuple[int, Values]]] = {}
    models: dict[tuple[Any, ...], tuple[Any, bool]] = {}
    for number, kind in enumerate(kinds):
        transformers, last = plain_steps_of(kind.candidate)
        axis = axis_of(kind)
        names = (axis,) if isinstance(axis, str) else axis
        for s, numbers in zip(kind.which, kind.numbers, strict=True):
            own = _of_last_step(kind.candidate, numbers)
            values = tuple(own.pop(name, getattr(last, name, 0)) for name in names)
            key = (number, axis, tuple(sorted(own.items())))
            settings.setdefault(key, []).append((int(s), values))
            if key not in models:
                model = clone(last).set_params(**own) if own else last
                models[key] = model, bool(transformers)
    return [_combination(*models[key], key[1], own) for key, own in settings.items()]


def _of_last_step(candidate: Any, numbers: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the last step, under its own names."""
    if not isinstance(candidate, Pipeline):
        return dict(numbers)
    prefix = f"{candidate.steps[-1][0]}__"
    return {
        name.removeprefix(prefix): value
        for name, value in numbers.items()
        if name.startswith(prefix)
    }


def _combination(
    model: Any, scaled: bool, axis: Axis, settings: list[tuple[int, Values]]
) -> Combination:
    which = np.array([s for s, _ in settings])
    by_setting = [values for _, values in settings]
    columns = [np.array(column) for column in zip(*by_setting, strict=True)]
    if isinstance(axis, str):
        return Combination(model, scaled, which, columns[0], axis)
    fields = dict(zip(axis, columns, strict=True))
    dtype = [(name, column.dtype) for name, column in fields.items()]
    values = np.empty(which.size, dtype=dtype)
    for name, column in fields.items():
        values[name] = column
    return Combination(model, scaled, which, values)


def column_names(X: Any) -> list[Any]:
    """Return the column names of a frame; [] for anything else."""
    return list(X.columns) if is_frame(X) else []


def has_mixed_names(X: Any) -> bool:
    """Whether some column names are strings and others are not, which scikit-learn refuses."""
    return len({isinstance(name, str) for name in column_names(X)}) > 1


def numbers_of(data: Data) -> tuple[Any, str]:
    """Return (X as scikit-learn would read it, ""), or (None, why it is no table of numbers)."""
    if isinstance(data.X, np.ndarray) and data.is_finite_block:
        return data.X, ""  # checked already
    if has_mixed_names(data.X):
        return None, "the column names of X are of several types"
    try:
        accepts = "csr" if sp.issparse(data.X) else False  # not of a frame's columns
        return check_array(data.X, order="C", accept_sparse=accepts), ""
    except (TypeError, ValueError) as error:
        return None, f"X is not a table of numbers ({short_message(error)})"


def short_message(error: Exception) -> str:
    """Return the first 80 characters of the message, on one line."""
    return " ".join(str(error).split())[:80]
