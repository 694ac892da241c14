"""What a builder hands to its worker, and what the worker hands to the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import hash as hash_of

from ..data.table import Data
from ..engine.work import Work
from ..families.family import Family
from ..inference.rules import Minimum, OneSE, OneStandardError, UserRule
from ..losses.loss import NAMED
from ..paths.base import Draw
from ..paths.dispatch import choose_path
from ..pictures.split_map import nest_of
from ..pictures.svg import draw_nest
from ..results.estimate import Record, RiskEstimate
from ..runs.forecast import forecast
from ..runs.options import DEFAULTS, Options
from ..runs.prepare import PreparedRun
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from ..views.card import strip_of
from ..wording import count, duration
from .code_writer import GIVEN, LOSSES
from .curve_view import figure_of_result
from .fields import AUTO
from .view import wide

LIVE = 3e9  # multiplications: cheaper runs start without the Run button
MOST_TO_TRY = 5e6  # values in X: with more, one fit may take too long to be tried


@dataclass(frozen=True)
class RunRequest:
    """The values of the controls at the time of a request.

    asked   the Run button was pressed, so the run may take long
    """

    recipe: Recipe
    make: Callable[[], Family]
    groups: str
    loss: str
    select: str
    given: Any
    asked: bool

    @property
    def options(self) -> Options:
        """The options of the run."""
        return Options(**DEFAULTS | {"select": self._select()} | self._loss())

    def _select(self) -> Any:
        if self.select != GIVEN:
            return self.select
        rule = self.given.work.rule
        return (
            rule.function if isinstance(rule, UserRule) else OneSE(dict(rule.simplest))
        )

    def _loss(self) -> dict[str, Any]:
        if self.loss == AUTO:
            return {}
        if self.loss != GIVEN:
            return {"loss" if self.loss in LOSSES else "scoring": self.loss}
        loss = self.given.loss
        return {"loss": loss.rows} if loss.scorer is None else {"scoring": loss.scoring}


@dataclass(frozen=True)
class Rendered:
    """A result with its strip and its curve."""

    result: RiskEstimate
    strip: str
    curve: Any

    @classmethod
    def of(cls, result: Any) -> Rendered:
        """Draw a result."""
        return cls(result, strip_of(result), figure_of_result(result))


def name_of_loss(record: Record) -> str:
    """The value of the `loss` control for a run: AUTO for the default of the task, GIVEN for a
    loss without a name."""
    loss = record.loss
    if isinstance(loss.scoring, str) or (loss.scorer is None and loss.score_name):
        return str(loss.score_name)
    if loss.scorer is not None:
        return GIVEN
    default = "zero_one" if record.work.task == "classification" else "squared"
    for name, named in NAMED.items():
        if named.rows is loss.rows:
            return AUTO if name == default else name
    return GIVEN


def name_of_rule(rule: Any) -> str:
    """The value of the `select` control for a rule."""
    if getattr(rule, "simplest", None):
        return GIVEN
    return {Minimum: "min", OneStandardError: "one_se"}.get(type(rule), GIVEN)


def is_live(work: Work, plan: Plan) -> bool:
    """Whether a run is so cheap that it starts without the Run button."""
    path = choose_path(work, [Draw(plan, work.data)])
    return path.cost is not None and path.cost <= LIVE


def fits_of(work: Work, plan: Plan, n_runs: int = 1) -> str:
    """Return the number of fits that so many runs need: "105 fits"."""
    n = plan.n_inner * len(work.family.settings) + len(plan.outer)
    return count(n * n_runs, "fit")


def waiting_words(work: Work, plan: Plan, n_runs: int = 1) -> str:
    """Say that so many runs wait for the Run button."""
    return (
        f"Not run yet: {fits_of(work, plan, n_runs)} of {work.family.label}. Press Run."
    )


def time_of(ready: PreparedRun) -> str:
    """Return "about 1 s" for a run that waits, from one or two fits; "" for very large rows."""
    job = ready.jobs[""]
    if job.work.data.n_rows * job.work.data.n_columns > MOST_TO_TRY:
        return ""
    seconds = forecast(job.work, job.plan, job.choose_path(), False).seconds
    return "less than 1 s" if seconds < 1 else duration(float(f"{seconds:.1g}"))


def map_of(plan: Any) -> str:
    """Draw the map of the splits, as wide as there is room."""
    return wide(draw_nest(nest_of(plan)).img)


def are_same(data: Data, other: Data) -> bool:
    """Whether these are the same rows."""
    if data.n_rows != other.n_rows or not np.array_equal(data.y, other.y):
        return False
    return data.X is other.X or _are_equal(data.X, other.X)


def _are_equal(A: Any, B: Any) -> bool:
    """Whether two tables hold the same values."""
    if type(A) is not type(B):
        return False
    if isinstance(A, np.ndarray) and A.dtype != object:
        return bool(np.array_equal(A, B, equal_nan=A.dtype.kind in "fc"))
    return bool(A.equals(B)) if hasattr(A, "equals") else bool(hash_of(A) == hash_of(B))
