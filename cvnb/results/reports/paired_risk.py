"""One of several risks on the same outer splits, and its difference from the first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ...errors import InputError
from ...inference.measured import refuse_time, split_sizes
from ..estimate import RiskEstimate, record_of
from ..pairs import tests_of


@dataclass(frozen=True)
class PairedRisk:
    """A risk beside a first one on the same splits.

    fold_risks    ε_j of each outer split; risk is their mean
    difference    risk minus the first
    low, high, p  interval and test of the difference (corrected resampled t); None without
    reason        why there is none
    """

    name: str
    fold_risks: np.ndarray
    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: str = ""

    @property
    def risk(self) -> float:
        return float(self.fold_risks.mean())

    def shown_interval(self, result: RiskEstimate) -> str:
        """Return the interval as the loss of the result is displayed; a dash without one."""
        return record_of(result).loss.shown_interval(self.low, self.high)


Own = TypeVar("Own", bound=PairedRisk)


def paired_with_first(
    result: RiskEstimate, own: Own, d: np.ndarray, level: float
) -> Own:
    """Return the risk with the interval and the test of its differences d from the first."""
    try:
        refuse_time(result)
        _, p, low, high = tests_of(d, *split_sizes(result), level)
    except InputError as error:
        return replace(own, reason=str(error))
    return replace(own, low=low, high=high, p=p)
