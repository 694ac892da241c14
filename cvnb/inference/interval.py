"""Interval: two numbers and what they cover, by the method that suits the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..losses.ranges import range_of
from ..losses.scale import decimals_of, written
from .checked import probability
from .doubts import doubts_of
from .interval_methods import (
    METHODS,
    RepeatedMethod,
    covered_in_words,
    is_small,
    narrow_below,
    one_part,
    other_loss,
    parts_overlap,
    rows_in_groups,
    rows_weighted,
)
from .measured import outer_rows, refuse_time
from .spread import Ends, positive_range

if TYPE_CHECKING:
    from ..results.estimate import RiskEstimate


@dataclass(frozen=True)
class Interval:
    """low <= target <= high with probability `level`, in the range of the loss or score.

    Both are scores where scoring= names a score (accuracy, ROC AUC), else losses.

    method   name of the formula
    target   what the interval covers
    covers   the same in a few words without symbols: "the 5 models tested"
    why      why this method
    warning  one sentence on why it may mislead; "" where nothing is suspicious
    """

    low: float
    high: float
    level: float
    method: str
    target: str
    why: str
    warning: str = ""
    covers: str = ""

    def __repr__(self) -> str:
        decimals = decimals_of(self.high - self.low, self.low)
        ends = f"{written(self.low, decimals)} to {written(self.high, decimals)}"
        method = f"({self.method}, {self.why})"
        words = f"{100 * self.level:g} % interval {ends} {method} for {self.target}"
        return f"{words}. {self.warning}" if self.warning else words


def interval_of(
    result: RiskEstimate,
    level: float,
    method: str,
    range: float | None,
    n_repeats: int | None,
    repeated: Mapping[str, RepeatedMethod],
) -> Interval:
    """Return the interval by this method, or by the one "auto" takes.

    repeated: the methods that fit again, by name
    """
    probability("level", level)
    if range is not None:
        positive_range(range)
    known = ("auto", *METHODS, *repeated)
    if method not in known:
        names = ", ".join(map(repr, known))
        raise InputError(f"method={method!r} is not known; use {names}.")
    _refuse_unmeasured(result)
    refuse_time(result)
    name, why = _auto(result) if method == "auto" else (method, "as requested")
    chosen = repeated.get(name) or METHODS[name]
    for holds, words in chosen.refuses.items():
        if holds(result):
            n_parts, loss = len(result.fold_risks), result._record.loss.given_name
            words = words.format(n_parts=n_parts, loss=loss)
            raise InputError(f"method={name!r} {words}")
    if isinstance(chosen, RepeatedMethod):
        found = result._repeated(name, chosen, n_repeats)
        ends, why = found.ends(level), f"{why}: {found.why}"
    else:
        _refuse_repeats(name, n_repeats)
        ends = chosen.ends(result, level, range)
    target = chosen.covers(result) + _units(result)
    doubts = doubts_of(result, name)
    warning = f"It may mislead: {'; '.join(doubts)}." if doubts else ""
    low, high = result._record.loss.shown_ends(*_clipped(result, *ends))
    covers = covered_in_words(chosen.covers, result)
    return Interval(low, high, level, name, target, why, warning, covers)


def _refuse_repeats(name: str, n_repeats: Any) -> None:
    if n_repeats is not None:
        raise InputError(
            f"n_repeats={n_repeats!r} is for 'ncv' and 'conservative_z'; method={name!r} "
            "runs nothing again."
        )


def _clipped(result: RiskEstimate, low: float, high: float) -> Ends:
    """Return the ends cut off where the loss, and so its risk, cannot be."""
    least, most = range_of(result._record.loss)
    return max(least, low), min(most, high)


def _refuse_unmeasured(result: RiskEstimate) -> None:
    if len(result.fold_risks):
        return
    if result.plan.outer_layout is not None:
        raise InputError(
            "interrupted: no outer split was finished, so there is nothing to give an "
            "interval for; run again."
        )
    raise InputError(
        "outer=None measures nothing outside S, and the smallest inner loss has no "
        "honest interval; give outer, or see cvnb.inference.tibshirani_bias(result)."
    )


def _auto(result: RiskEstimate) -> tuple[str, str]:
    """(method, why): the one that suits the recipe and the losses."""
    record = result._record
    overlaps = parts_overlap(result)
    if overlaps and not other_loss(result):
        losses = np.concatenate(outer_rows(result))
        if np.ptp(losses) == 0:
            return "hoeffding", "for row losses without any spread"
    if one_part(result):
        return "holdout", "for one test part"
    if any(rows is None for rows in record.table.rows):
        return "corrected_t", f"for {record.loss.given_name}, which has no row losses"
    if overlaps:
        return "corrected_t", "for test parts that overlap"
    is_plain = not rows_weighted(result) and not rows_in_groups(result)
    if is_small(result) and is_plain:
        return "few_rows", f"for fewer than {narrow_below(result)} rows"
    return "bayle", "for test parts that do not overlap"


def _units(result: RiskEstimate) -> str:
    """In which units the target is measured, where that is not obvious."""
    return "; rows of one group taken as one unit" if rows_in_groups(result) else ""
