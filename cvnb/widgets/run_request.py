"""What passes between the controls, the worker and the screen of a builder: what is wanted, and what was drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import hash as hash_of

from ..data.table import Data
from ..families.family import Family
from ..inference.rules import OneSE, Own
from ..losses.loss import NAMED
from ..pictures.split_map import nest_of
from ..pictures.svg import draw_nest
from ..results.estimate import Record, RiskEstimate
from ..runs.prepare import DEFAULTS, Options
from ..splits.recipes import Recipe
from ..views.display import strip_of
from .code_writer import GIVEN, LOSSES
from .controls import AUTO
from .curve_view import figure_of_result
from .view import wide


@dataclass(frozen=True)
class Wanted:
    """What the controls said when it was asked for; `asked`: by pressing Run, so that it may take long."""

    recipe: Recipe
    make: Callable[[], Family]
    groups: str
    loss: str
    select: str
    given: Any
    asked: bool

    @property
    def options(self) -> Options:
        """Those of the run."""
        found: dict[str, Any] = {"select": self.select}
        if self.select == GIVEN:
            rule = self.given.work.rule
            found["select"] = (
                rule.function if isinstance(rule, Own) else OneSE(dict(rule.simplest))
            )
        if self.loss == GIVEN:
            loss = self.given.loss
            found |= (
                {"loss": loss.rows} if loss.scorer is None else {"scoring": loss.asked}
            )
        elif self.loss != AUTO:
            found |= (
                {"loss": self.loss} if self.loss in LOSSES else {"scoring": self.loss}
            )
        return Options(**DEFAULTS | found)


@dataclass(frozen=True)
class Drawn:
    """A result with what is shown of it."""

    result: RiskEstimate
    strip: str
    curve: Any

    @classmethod
    def of(cls, result: Any) -> Drawn:
        """Draw it."""
        return cls(result, strip_of(result), figure_of_result(result))


def name_of_loss(record: Record) -> str:
    """What the control says for the loss of a run: AUTO for the task's own, GIVEN where no word stands for it."""
    loss = record.loss
    if isinstance(loss.asked, str) or (loss.scorer is None and loss.score_name):
        return str(loss.score_name)
    known = next(
        (
            name
            for name, one in NAMED.items()
            if loss.scorer is None and one.rows is loss.rows
        ),
        GIVEN,
    )
    return (
        AUTO
        if known == ("zero_one" if record.work.task == "classification" else "squared")
        else known
    )


def map_of(plan: Any) -> str:
    """The nest map, as wide as there is room."""
    return wide(draw_nest(nest_of(plan)).img)


def are_same(data: Data, other: Data) -> bool:
    """Whether these are the same rows."""
    if data.n_rows != other.n_rows or not np.array_equal(data.y, other.y):
        return False
    return data.X is other.X or _are_equal(data.X, other.X)


def _are_equal(A: Any, B: Any) -> bool:
    """Whether two tables hold the same, however they lie in memory."""
    if type(A) is not type(B):
        return False
    if isinstance(A, np.ndarray) and A.dtype != object:
        return bool(np.array_equal(A, B, equal_nan=A.dtype.kind in "fc"))
    return bool(A.equals(B)) if hasattr(A, "equals") else bool(hash_of(A) == hash_of(B))
