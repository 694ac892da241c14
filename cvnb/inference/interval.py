"""Interval: two numbers and the name of what they cover. Which formula suits which recipe is decided here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..splits.layouts import are_apart
from ..wording import count, spread
from .checked import number, probability
from .measured import (
    fold_weights,
    outer_groups,
    outer_rows,
    outer_weights,
    refuse_time,
    split_sizes,
)
from .spread import (
    bayle_interval,
    corrected_t_interval,
    hoeffding_interval,
    holdout_interval,
)

if TYPE_CHECKING:
    from ..results.estimate import RiskEstimate

METHODS = ("auto", "bayle", "corrected_t", "holdout", "hoeffding")


@dataclass(frozen=True)
class Interval:
    """low <= target <= high with probability `level`, by `method`; `why` says what the method was chosen for."""

    low: float
    high: float
    level: float
    method: str
    target: str
    why: str

    def __repr__(self) -> str:
        return f"{100 * self.level:g} % interval {self.low:.6g} to {self.high:.6g} ({self.method}, {self.why}) for {self.target}"


def interval_of(
    result: RiskEstimate, level: float, method: str, range: float | None
) -> Interval:
    """An interval around result.risk."""
    probability("level", level)
    if range is not None and number("range", range) <= 0:
        raise InputError(
            f"range={range!r} must be > 0: the width of the interval that the loss lies in."
        )
    if method not in METHODS:
        raise InputError(
            f"method={method!r} is not known; use {', '.join(map(repr, METHODS))}."
        )
    n_outer = len(result.fold_risks)
    if not n_outer and result.plan.outer_layout is not None:
        raise InputError(
            "interrupted: no outer split was finished, so there is nothing to give an interval for; run again."
        )
    if not n_outer:
        raise InputError(
            "outer=None measures nothing outside S, and the smallest inner loss has no honest interval; give outer, or see "
            "cvnb.inference.tibshirani_bias(result)."
        )
    refuse_time(result)
    chosen, why = _auto(result, n_outer) if method == "auto" else (method, "asked for")
    make = {
        "bayle": _bayle,
        "corrected_t": _corrected_t,
        "holdout": _holdout,
        "hoeffding": _hoeffding,
    }[chosen]
    low, high = make(result, level, range)
    return Interval(low, high, level, chosen, _target(result, chosen, n_outer), why)


def _auto(result: RiskEstimate, n_outer: int) -> tuple[str, str]:
    record = result._record
    has_rows = all(rows is not None for rows in record.table.rows)
    exact = n_outer == 1 and record.data.weights is None and record.data.groups is None
    if (
        record.loss.zero_one
        and not exact
        and np.ptp(np.concatenate(outer_rows(result))) == 0
    ):
        return "hoeffding", "for row losses without any spread"
    if n_outer == 1:
        return "holdout", "for one test part"
    if not has_rows:
        return "corrected_t", f"for {record.loss.words} has no row losses"
    if not are_apart(result.plan.outer.layout):
        return "corrected_t", "for test parts that overlap"
    return "bayle", "for test parts that do not overlap"


def _bayle(
    result: RiskEstimate, level: float, range: float | None
) -> tuple[float, float]:
    if len(result.fold_risks) < 2:
        raise InputError(
            "method='bayle' is for K-fold CV, and here is one test part; use method='holdout'."
        )
    if not are_apart(result.plan.outer.layout):
        raise InputError(
            "method='bayle' is for test parts that do not overlap; use method='corrected_t'."
        )
    return bayle_interval(
        outer_rows(result),
        level,
        weights=fold_weights(result),
        groups=outer_groups(result),
    )


def _corrected_t(
    result: RiskEstimate, level: float, range: float | None
) -> tuple[float, float]:
    if len(result.fold_risks) < 2:
        raise InputError(
            "method='corrected_t' needs the losses of several outer splits, and here is one; use method='holdout'."
        )
    return corrected_t_interval(result.fold_risks, *split_sizes(result), level)


def _holdout(
    result: RiskEstimate, level: float, range: float | None
) -> tuple[float, float]:
    if len(result.fold_risks) > 1:
        n = len(result.fold_risks)
        raise InputError(
            f"method='holdout' is for one test part, and here are {n}; use method='bayle' or 'corrected_t'."
        )
    rows, weights, groups = (
        outer_rows(result),
        outer_weights(result),
        outer_groups(result),
    )
    only = [None if one is None else one[0] for one in (weights, groups)]
    return holdout_interval(rows[0], level, result._record.loss.zero_one, *only)


def _hoeffding(
    result: RiskEstimate, level: float, range: float | None
) -> tuple[float, float]:
    loss, rows = result._record.loss, outer_rows(result)
    if range is None and not loss.zero_one:
        raise InputError(
            f"method='hoeffding' needs a loss in a known range, and the {loss.name} loss has none; declare its width, as in "
            "interval(method='hoeffding', range=1.0), or use method='auto'."
        )
    low, high = hoeffding_interval(
        rows,
        level,
        1.0 if range is None else range,
        outer_weights(result),
        outer_groups(result),
    )
    return (max(0.0, low), min(1.0, high)) if loss.zero_one else (low, high)


def _target(result: RiskEstimate, method: str, n_outer: int) -> str:
    """What is covered: a procedure at a training size, one predictor, or the predictors of the folds."""
    loss = result._record.loss
    units = f", by the loss -{loss.score_name}" if loss.is_score else ""
    units += (
        ""
        if result.plan.group_codes is None
        else "; rows of one group taken as one unit"
    )
    if method == "corrected_t":
        return f"the procedure at this training size: {result.quantity}{units}"
    size = f"|S| = {spread(result.plan.outer.layout.sizes()[:n_outer, 0])}"
    rule = "A_θ̂(S)" if len(result.settings) > 1 else "A(S)"
    if n_outer == 1:
        return f"ℓ_D({rule}) of the predictor trained on these rows, {size}{units}"
    some = "" if result.complete else f" of the {len(result.plan.outer)}"
    return f"the mean of ℓ_D({rule}) over the {count(n_outer, 'predictor')}{some} that were tested, {size}{units}"
