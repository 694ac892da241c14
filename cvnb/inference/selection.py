"""The one-standard-error rule as a function of a curve, or of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .checked import number, table
from .measured import is_result
from .minimum import tied_settings, within_one_error
from .rules import rule_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..results.estimate import RiskEstimate


def one_standard_error(
    curve: ArrayLike | RiskEstimate, se: Any = None, simplest_first: Any = None
) -> Any:
    """The simplest setting whose loss is within one standard error of the smallest.

        first s in simplest_first with curve[s] <= min(curve) + se

    curve: the loss of each setting; or a result, alone, for the index of one such setting
    in each outer training part. se: one number, or one for each setting; then the se of the
    setting with the smallest loss counts (of several with equal loss: the simplest).
    simplest_first: indices into curve; the minimum must be among them, so that the setting
    returned is never less simple than it.

    >>> one_standard_error([0.30, 0.24, 0.20, 0.21], 0.05, simplest_first=[0, 1, 2, 3])
    1
    >>> se = [0.2, 0.2, 0.05, 0.2]
    >>> one_standard_error([0.30, 0.24, 0.20, 0.21], se, simplest_first=[0, 1, 2, 3])
    1
    """
    if is_result(curve):
        return _chosen_in(curve)
    curve = table("curve", curve, "[settings]", 1)
    if np.isnan(curve).all() or np.isinf(curve).any():
        raise InputError(
            "curve must have finite losses, or NaN for settings that failed; at least "
            "one must be finite."
        )
    errors = _checked_errors(curve, se)
    order = np.asarray(simplest_first)
    are_indices = order.ndim == 1 and order.dtype.kind in "iu"
    if not are_indices or not np.isin(order, np.arange(curve.size)).all():
        raise InputError(
            f"simplest_first={simplest_first!r} must hold indices into the {curve.size} "
            "losses, simplest first."
        )
    at_minimum = order[np.isin(order, tied_settings(curve))]
    if not at_minimum.size:
        raise InputError(
            f"simplest_first leaves out setting {int(np.nanargmin(curve))}, which has the "
            "smallest loss."
        )
    is_near = within_one_error(curve, float(errors[at_minimum[0]]))
    return int(order[np.argmax(is_near[order])])


def _checked_errors(curve: np.ndarray, se: Any) -> np.ndarray:
    """Return the standard error of each setting; NaN only where the setting failed."""
    if isinstance(se, str) or not hasattr(se, "__len__"):
        return np.full(curve.size, number("se", se, least=0.0))
    errors = table("se", se, "[settings]", 1)
    if errors.size != curve.size:
        raise InputError(
            f"se has {errors.size} values, but curve has {curve.size}; give one number, "
            "or one for each setting."
        )
    with np.errstate(invalid="ignore"):
        is_error = np.isfinite(errors) & (errors >= 0)
    is_failed = np.isnan(errors) & np.isnan(curve)
    wrong = np.flatnonzero(~is_error & ~is_failed)
    if wrong.size:
        s = int(wrong[0])
        raise InputError(
            f"se[{s}]={errors[s]:g} must be a finite number >= 0, as every standard error "
            "of a setting with a finite loss."
        )
    return errors


def _chosen_in(result: RiskEstimate) -> np.ndarray:
    """Return the index that the rule chooses in each outer training part."""
    record = result._record
    rule = rule_of("one_se", record.family, record.work.kinds, record.loss)
    rule.refuse(record.plan)
    if not record.table.inner:
        raise InputError(
            "nothing was chosen among settings here, so there is nothing to choose by another rule."
        )
    return np.array([rule.choose(losses) for losses in record.table.inner])
