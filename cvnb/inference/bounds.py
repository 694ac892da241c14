"""The bound that a dev set gives, and the dev set that a bound needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import InputError, LossError
from ..splits.specs import is_whole
from .checked import is_number, number, probability, whole
from .measured import is_result
from .spread import positive_range

if TYPE_CHECKING:
    from ..results.estimate import RiskEstimate


def dev_set_bound(
    n_dev: float | RiskEstimate,
    n_settings: Any = None,
    delta: float = 0.05,
    range: float | None = None,
) -> float:
    """How much the risk of the setting chosen on a dev set can exceed that of the best setting.

        range · √( (2 / n_dev) ln(2 n_settings / delta) )

    The bound holds with probability >= 1 - delta. n_dev: rows of the dev set; or a result
    whose θ is the minimum on one dev set, which gives n_settings too. range: the width of
    the interval that the loss lies in, by default 1; a result needs it unless its loss is
    0-1 loss. An unbounded loss has no such bound.

    >>> round(dev_set_bound(1000, 50), 4)
    0.1233
    """
    if is_result(n_dev):
        n_dev, n_settings = _sizes_of(n_dev, range)
    width = 1.0 if range is None else range
    number("n_dev", n_dev, least=1)
    _check_arguments(n_settings, delta, width)
    return _finite(
        lambda: width * math.sqrt(2.0 / n_dev * _logarithm(n_settings, delta))
    )


def dev_set_size(
    width: float, n_settings: float, delta: float = 0.05, range: float = 1.0
) -> int:
    """The smallest dev set whose bound is at most `width`.

        ⌈ 2 (range / width)² ln(2 n_settings / delta) ⌉

    n_settings, delta and range are those of `dev_set_bound`.

    >>> dev_set_size(0.1, 50)
    1521
    """
    if number("width", width) <= 0:
        raise InputError(f"width={width!r} must be a finite number > 0.")
    _check_arguments(n_settings, delta, range)
    exact = _finite(lambda: 2.0 * (range / width) ** 2 * _logarithm(n_settings, delta))
    return math.ceil(exact * (1 - 1e-12))  # rounding must not add a row


def _logarithm(n_settings: float, delta: float) -> float:
    """ln(2 n_settings / delta), without overflow of the quotient."""
    return math.log(2.0) + math.log(n_settings) - math.log(delta)


def _finite(formula: Callable[[], float]) -> float:
    try:
        value = float(formula())
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise InputError(
            "these numbers are too far apart for a bound that is a number."
        )
    return value


def _sizes_of(result: RiskEstimate, range: float | None) -> tuple[int, int]:
    """Return (rows of the smallest dev set, settings)."""
    record = result._record
    layouts = record.plan.inner_layouts or ()
    if not layouts or any(len(layout) > 1 for layout in layouts):
        raise InputError(
            "the bound is for θ chosen on one dev set, which is not the case here."
        )
    in_groups = record.plan.group_codes is not None
    if in_groups or record.data.weights is not None or record.recipe.time_ordered:
        raise InputError(
            "the bound counts independent rows of equal weight; these are grouped, "
            "weighted or in order of time."
        )
    if not record.work.rule.takes_first:
        raise InputError(
            "the bound is for the setting with the smallest loss; here another rule chose."
        )
    if not record.loss.zero_one and range is None:
        raise LossError(
            f"the {record.loss.name} loss has no known range; declare its width: range=..."
        )
    smallest = min(int(layout.sizes()[0, 1]) for layout in layouts)
    return smallest, len(record.family.settings)


def _check_arguments(n_settings: Any, delta: float, range: float) -> None:
    """Refuse what no formula here takes."""
    if is_whole(n_settings):  # possibly beyond every float
        whole("n_settings", n_settings, least=1)
    else:
        number("n_settings", n_settings, least=1)
    probability("delta", delta)
    if is_number(range) and range == math.inf:
        raise LossError(
            "an unbounded loss (range=inf) has no such bound; clip the loss and give the "
            "width of its range."
        )
    positive_range(range)
