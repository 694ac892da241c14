"""Which setting a curve of losses names: the smallest, or the simplest that is no worse than one standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .checked import number, table
from .measured import is_result

if TYPE_CHECKING:
    from ..results.estimate import RiskEstimate

TIE = 1e-12


def tied_settings(curve: np.ndarray, zero_one: bool = False) -> np.ndarray:
    """Indices of the settings at the minimum of an inner curve, in grid order.

        all s with curve[s] - min(curve) <= 1e-12 max(|curve[s]|, |min(curve)|);    1e-12 alone for 0-1 loss

    A failed setting (NaN) is never among them.

    >>> tied_settings(np.array([0.3, 0.1, 0.1 + 1e-15, np.nan]))
    array([1, 2])
    """
    if np.isnan(curve).all():
        return np.zeros(0, dtype=np.int64)
    low = np.nanmin(curve)
    with np.errstate(invalid="ignore"):
        slack = TIE if zero_one else TIE * np.maximum(np.abs(curve), abs(low))
        return np.flatnonzero(curve - low <= slack)


def standard_error(losses: np.ndarray) -> float:
    """The standard error of the mean of the K fold losses of one setting.

        √( Σ_k (losses[k] - mean)² / (K - 1) ) / √K

    >>> standard_error(np.array([1.0, 2.0, 3.0, 4.0]))  # the sd is 1.2910
    0.6454972243679028
    """
    losses = table("losses", losses, "[folds]", 1)
    if losses.size < 2:
        raise InputError("one fold has no standard error; give the losses of several.")
    return float(np.std(losses, ddof=1) / np.sqrt(losses.size))


def within_one_error(curve: np.ndarray, se: float) -> np.ndarray:
    """[settings]: whether curve <= minimum + se; a failed setting (NaN) is not."""
    low = float(np.nanmin(curve))
    with np.errstate(invalid="ignore"):
        return curve <= low + se + TIE * max(abs(low), se)


def one_standard_error(curve: Any, se: Any = None, simplest_first: Any = None) -> Any:
    """The simplest setting whose loss is within one standard error of the smallest.

        first s in simplest_first with curve[s] <= min(curve) + se

    se is one number, or one for each setting; then the se of the setting with the smallest loss counts (of several with equal
    loss: the simplest). simplest_first holds indices into curve; the minimum must be among them, so that nothing less simple is
    ever returned. A result instead of the three gives one such index for each outer training part.

    >>> one_standard_error([0.30, 0.24, 0.20, 0.21], 0.05, simplest_first=[0, 1, 2, 3])
    1
    >>> one_standard_error([0.30, 0.24, 0.20, 0.21], [0.2, 0.2, 0.05, 0.2], simplest_first=[0, 1, 2, 3])
    1
    """
    if is_result(curve):
        return _of_result(curve)
    curve = table("curve", curve, "[settings]", 1)
    if np.isnan(curve).all() or np.isinf(curve).any():
        raise InputError(
            "curve must have finite losses, or NaN for settings that failed; at least one must be finite."
        )
    errors = _errors_of(curve, se)
    order = np.asarray(simplest_first)
    if (
        order.ndim != 1
        or order.dtype.kind not in "iu"
        or not np.isin(order, np.arange(curve.size)).all()
    ):
        raise InputError(
            f"simplest_first={simplest_first!r} must hold indices into the {curve.size} losses, simplest first."
        )
    at_minimum = order[np.isin(order, tied_settings(curve))]
    if not at_minimum.size:
        raise InputError(
            f"simplest_first leaves out setting {int(np.nanargmin(curve))}, which has the smallest loss."
        )
    near = within_one_error(curve, float(errors[at_minimum[0]]))
    return int(order[np.argmax(near[order])])


def _errors_of(curve: np.ndarray, se: Any) -> np.ndarray:
    """[settings]: the standard error of each; NaN only where the setting failed."""
    if isinstance(se, str) or not hasattr(se, "__len__"):
        return np.full(curve.size, number("se", se, least=0.0))
    errors = table("se", se, "[settings]", 1)
    if errors.size != curve.size:
        raise InputError(
            f"se has {errors.size} values, but curve has {curve.size}; give one number, or one for each setting."
        )
    with np.errstate(invalid="ignore"):
        wrong = ~(np.isfinite(errors) & (errors >= 0)) & ~(
            np.isnan(errors) & np.isnan(curve)
        )
    if wrong.any():
        s = int(np.argmax(wrong))
        raise InputError(
            f"se[{s}]={errors[s]:g} must be a finite number >= 0, as every standard error of a setting with a finite loss."
        )
    return errors


def _of_result(result: RiskEstimate) -> np.ndarray:
    from .rules import rule_of

    record = result._record
    rule = rule_of("one_se", record.family, record.work.kinds, record.loss)
    rule.refuse(record.plan)
    if not record.table.inner:
        raise InputError(
            "nothing was chosen among settings here, so there is nothing to choose by another rule."
        )
    return np.array([rule.choose(losses) for losses in record.table.inner])
