"""Why an interval may mislead: phrases for one sentence, none where nothing is suspicious.

The limits are chosen so that squared normal errors, absolute errors and log losses of
independent rows are rarely doubted (less than one data set in twenty).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..wording import count, number
from .interval_methods import (
    is_small,
    no_row_losses,
    one_part,
    other_loss,
    rows_in_groups,
    rows_weighted,
)
from .measured import outer_rows, outer_weights, row_units

if TYPE_CHECKING:
    from ..results.estimate import RiskEstimate

FEW_UNITS = 10  # rows, or groups
FEW_MISTAKES = 5  # or rows that are no mistake
FEW_OF_A_CLASS = 10
ONE_ROW = 0.5  # share of the spread that one row carries
TAIL, IN_TAIL = 0.02, 0.7  # share of rows, and of the spread that they carry
ROWS_OF_A_TAIL = 100  # rows from which a tail can be seen
EFFECTIVE = 0.5  # share of the rows that weights leave
REPEATED = 0.05  # share of rows that occur more than once
MANY = 5_000  # rows from which repeated ones are not sought, nor all of them counted
ROW_METHODS = ("bayle", "few_rows", "holdout", "ncv", "conservative_z", "corrected_t")


def doubts_of(result: RiskEstimate, method: str) -> list[str]:
    """Return why the interval by this method may mislead, the gravest first."""
    return [
        phrase
        for phrase in (
            _few_units(result),
            _few_mistakes(result),
            _small_class(result),
            _heavy_rows(result, method),
            _light_weights(result),
            _repeated_rows(result),
            _too_narrow(result, method),
        )
        if phrase
    ]


def _few_units(result: RiskEstimate) -> str:
    if not rows_in_groups(result) and result.plan.n_rows > MANY:
        return ""
    n = np.unique(row_units(result)).size
    noun = "group" if rows_in_groups(result) else "row"
    return f"only {count(n, noun)} tested" if n <= FEW_UNITS else ""


def _few_mistakes(result: RiskEstimate) -> str:
    if other_loss(result):
        return ""
    losses = np.concatenate(outer_rows(result))
    mistakes = int(losses.sum())
    if mistakes <= losses.size - mistakes:
        return f"only {count(mistakes, 'mistake')}" * (mistakes < FEW_MISTAKES)
    right = losses.size - mistakes
    return f"only {count(right, 'row')} predicted right" * (right < FEW_MISTAKES)


def _small_class(result: RiskEstimate) -> str:
    record = result._record
    if record.work.task != "classification":
        return ""
    names, codes = record.data.classes
    if one_part(result):
        codes = codes[record.plan.outer[0][1]]
    sizes = np.bincount(codes, minlength=names.size)
    least = int(np.argmin(sizes))
    if sizes[least] >= FEW_OF_A_CLASS:
        return ""
    return f"only {count(sizes[least], 'row')} of class {names[least]!s}"


def _heavy_rows(result: RiskEstimate, method: str) -> str:
    if method not in ROW_METHODS or no_row_losses(result) or not other_loss(result):
        return ""
    losses = np.concatenate(outer_rows(result))
    parts = (losses - losses.mean()) ** 2
    total, largest = parts.sum(), parts.max()
    if losses.size <= FEW_UNITS or total == 0:
        return ""
    limit = ONE_ROW if losses.size >= ROWS_OF_A_TAIL // 2 else (1 + ONE_ROW) / 2
    if largest > limit * total:
        return f"one row carries {100 * largest / total:.0f} % of the spread"
    n_tail = max(2, int(TAIL * losses.size))
    share = np.partition(parts, -n_tail)[-n_tail:].sum() / total
    if losses.size < ROWS_OF_A_TAIL or share <= IN_TAIL:
        return ""
    return f"heavy tails: {n_tail} of {losses.size} rows carry {100 * share:.0f} % of the spread"


def _light_weights(result: RiskEstimate) -> str:
    weights = outer_weights(result)
    if weights is None:
        return ""
    w = np.concatenate(weights)
    effective = float(w.sum() ** 2 / (w**2).sum())
    if effective >= EFFECTIVE * w.size:
        return ""
    return f"the weights leave {number(round(effective, 1))} effective rows of {w.size}"


def _repeated_rows(result: RiskEstimate) -> str:
    """Equal rows of X; with groups they may be one by design."""
    if rows_in_groups(result) or result.plan.n_rows > MANY:
        return ""
    counts = np.bincount(result.plan.row_codes)
    n = int(counts[counts > 1].sum())
    if n <= REPEATED * result.plan.n_rows:
        return ""
    return f"{n} of {result.plan.n_rows} rows occur more than once, as if independent"


def _too_narrow(result: RiskEstimate, method: str) -> str:
    n_rows = result.plan.n_rows
    if method != "bayle" or one_part(result) or not is_small(result):
        return ""
    return (
        f"{n_rows} rows are few for it (simulated at 60 to 300 rows it covered 90 to 95 % "
        f"where it said 95 %); use {_instead(result)}"
    )


def _instead(result: RiskEstimate) -> str:
    """Name the method to use on few rows."""
    if rows_weighted(result):
        return "method='corrected_t'"
    return f"method={'conservative_z' if rows_in_groups(result) else 'few_rows'!r}"
