"""Arithmetic on losses: rules, intervals, comparisons, corrections of the flat minimum, bounds.

The functions take arrays, and those of losses also a result in place of arrays. They fit
nothing, except `compare_predictors`, `prediction_interval` and `theorem_1`, which say so.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .bounds import dev_set_bound, dev_set_size
from .corrections import bbc, tibshirani_bias
from .minimum import standard_error, tied_settings
from .paired import alpaydin_5x2cv, bayesian_t, corrected_t, dietterich_5x2cv
from .rules import OneSE
from .selection import one_standard_error
from .spread import (
    bayle_interval,
    corrected_t_interval,
    hoeffding_interval,
    holdout_interval,
)
from .wilson import wilson_interval

_REPORTS = {
    "compare_families": "results.reports.families",
    "compare_predictors": "results.reports.predictors",
    "compare_rules": "results.reports.rules",
    "optimism": "results.reports.optimism",
    "prediction_interval": "results.prediction_interval",
    "theorem_1": "results.reports.theorem",
    "theta_report": "results.reports.theta",
}

__all__ = [
    "OneSE",
    "alpaydin_5x2cv",
    "bayesian_t",
    "bayle_interval",
    "bbc",
    "compare_families",
    "compare_predictors",
    "compare_rules",
    "corrected_t",
    "corrected_t_interval",
    "dev_set_bound",
    "dev_set_size",
    "dietterich_5x2cv",
    "hoeffding_interval",
    "holdout_interval",
    "one_standard_error",
    "optimism",
    "prediction_interval",
    "standard_error",
    "theorem_1",
    "theta_report",
    "tibshirani_bias",
    "tied_settings",
    "wilson_interval",
]

if TYPE_CHECKING:
    from ..results.prediction_interval import prediction_interval
    from ..results.reports.families import compare_families
    from ..results.reports.optimism import optimism
    from ..results.reports.predictors import compare_predictors
    from ..results.reports.rules import compare_rules
    from ..results.reports.theorem import theorem_1
    from ..results.reports.theta import theta_report


def __getattr__(name: str) -> Any:
    """Import a report on first use: its module needs rooms that import this one."""
    if name not in _REPORTS:
        raise AttributeError(
            f"module 'cvnb.inference' has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    value = getattr(importlib.import_module(f"cvnb.{_REPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
