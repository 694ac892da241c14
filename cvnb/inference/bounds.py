"""The bound that a dev set gives, and the dev set that a bound needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, LossError
from .measured import is_result

if TYPE_CHECKING:
    from ..results.estimate import RiskEstimate


def dev_set_bound(
    n_dev: Any, n_settings: Any = None, delta: float = 0.05, range: float | None = None
) -> float:
    """How much the risk of the setting chosen on a dev set can exceed the best one's, with probability >= 1 - delta.

        range · √( (2 / n_dev) ln(2 n_settings / delta) )

    `range` is the width of the interval that the loss lies in, 1 where it is left out; an unbounded loss has none, and no such
    bound. A result whose θ is the minimum on one dev set may stand for both sizes; only 0-1 loss needs no range there.

    >>> round(dev_set_bound(1000, 50), 4)
    0.1233
    """
    if is_result(n_dev):
        n_dev, n_settings = _of_result(n_dev, range)
    range = 1.0 if range is None else range
    _check_bound("n_dev", n_dev, n_settings, delta, range)
    return _finite(
        lambda: range * math.sqrt(2.0 / n_dev * _logarithm(n_settings, delta))
    )


def dev_set_size(
    width: float, n_settings: float, delta: float = 0.05, range: float = 1.0
) -> int:
    """The smallest dev set whose bound is at most `width`.

        ⌈ 2 (range / width)² ln(2 n_settings / delta) ⌉

    >>> dev_set_size(0.1, 50)
    1521
    """
    _check_bound("width", width, n_settings, delta, range)
    exact = _finite(lambda: 2.0 * (range / width) ** 2 * _logarithm(n_settings, delta))
    return math.ceil(
        exact * (1 - 1e-12)
    )  # a whole number stays one in spite of rounding


def _logarithm(n_settings: Any, delta: float) -> float:
    """ln(2 n_settings / delta), of numbers as large and as small as they may be."""
    return math.log(2.0) + math.log(n_settings) - math.log(delta)


def _finite(number: Callable[[], float]) -> float:
    try:
        value = float(number())
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise InputError(
            "these numbers are too far apart for a bound that is a number."
        )
    return value


def _of_result(result: RiskEstimate, range: float | None) -> tuple[int, int]:
    """(rows of the smallest dev set, settings)."""
    record = result._record
    layouts = record.plan.inner_layouts or ()
    if not layouts or any(len(layout) > 1 for layout in layouts):
        raise InputError(
            "the bound is for θ chosen on one dev set; here it was chosen otherwise."
        )
    if (
        record.plan.group_codes is not None
        or record.data.weights is not None
        or record.recipe.time_ordered
    ):
        raise InputError(
            "the bound counts independent rows of equal weight; these are grouped, weighted or in order of time."
        )
    if not record.work.rule.takes_first:
        raise InputError(
            "the bound is for the setting with the smallest loss; here another rule chose."
        )
    if not record.loss.zero_one and range is None:
        raise LossError(
            f"the {record.loss.name} loss has no known range; declare its width: range=..."
        )
    return min(int(layout.sizes()[0, 1]) for layout in layouts), len(
        record.family.settings
    )


def _check_bound(
    name: str, first: float, n_settings: Any, delta: float, range: float
) -> None:
    if not (_is_number(first) and first > 0 and math.isfinite(first)) or (
        name == "n_dev" and first < 1
    ):
        raise InputError(
            f"{name}={first!r} must be a finite number {'>= 1' if name == 'n_dev' else '> 0'}."
        )
    if not (_is_number(n_settings) and n_settings >= 1 and n_settings != math.inf):
        raise InputError(f"n_settings={n_settings!r} must be a finite number >= 1.")
    if not (_is_number(delta) and 0 < delta < 1):
        raise InputError(f"delta={delta!r} is a probability strictly between 0 and 1.")
    if not (_is_number(range) and range > 0):
        raise InputError(
            f"range={range!r} must be a number > 0: the width of the interval that the loss lies in."
        )
    if not math.isfinite(range):
        raise LossError(
            "an unbounded loss (range=inf) has no such bound; clip the loss and give the width of its range."
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool | np.bool_
    )
