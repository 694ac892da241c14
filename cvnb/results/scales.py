"""How the numbers of results are written: with the digits that their intervals can tell."""

from __future__ import annotations

import math

import numpy as np

from ..errors import InputError
from ..losses.scale import Scale, decimals_of, is_squared, written
from .estimate import RiskEstimate, record_of


def scale_of(*results: RiskEstimate) -> Scale:
    """Return one scale for these results: two digits of the narrowest interval.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> result = nested_cv(knn(k=[1, 5]), *load_iris(return_X_y=True))
    >>> scale_of(result).write(result.risk)
    '4.7 %'
    """
    loss = record_of(results[0]).loss
    scales = [Scale.of(loss, _number(result), width_of(result)) for result in results]
    return max(scales, key=lambda scale: scale.decimals)


def width_of(result: RiskEstimate) -> float | None:
    """Return the width of the interval, or four standard errors of the fold risks."""
    try:
        interval = result.interval()
    except InputError:
        risks = result.fold_risks
        if risks.size < 2:
            return None
        return float(4 * risks.std(ddof=1) / math.sqrt(risks.size))
    return interval.high - interval.low


def root_words(result: RiskEstimate) -> str:
    """Return the root of a mean squared error, in the units of y; "" for other losses."""
    loss, risk = record_of(result).loss, _number(result)
    if not is_squared(loss) or risk is None or not risk > 0:
        return ""
    root, width = float(np.sqrt(risk)), width_of(result)
    decimals = decimals_of(width and width / (2 * root), root)
    return written(root, decimals)


def _number(result: RiskEstimate) -> float | None:
    return result.flat if result.risk is None else result.risk
