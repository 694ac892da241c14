"""Arithmetic on losses: rules, intervals, comparisons, corrections of the flat minimum, bounds.

The functions take arrays; those of losses take a result in their place as well. Nothing here fits anything.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .bounds import dev_set_bound, dev_set_size
from .corrections import bbc, tibshirani_bias
from .paired import alpaydin_5x2cv, corrected_t, dietterich_5x2cv
from .selection import one_standard_error, standard_error, tied_settings
from .spread import (
    bayle_interval,
    corrected_t_interval,
    hoeffding_interval,
    holdout_interval,
)

_BELOW = {
    "OneSE": "inference.rules",
    "compare_rules": "results.reports.rules",
    "optimism": "results.reports.optimism",
    "theta_report": "results.reports.theta",
}

__all__ = [
    "OneSE",
    "alpaydin_5x2cv",
    "bayle_interval",
    "bbc",
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
    "standard_error",
    "theta_report",
    "tibshirani_bias",
    "tied_settings",
]

if TYPE_CHECKING:
    from ..results.reports.optimism import optimism
    from ..results.reports.rules import compare_rules
    from ..results.reports.theta import theta_report
    from .rules import OneSE


def __getattr__(name: str) -> Any:
    if name not in _BELOW:
        raise AttributeError(
            f"module 'cvnb.inference' has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    value = getattr(importlib.import_module(f"cvnb.{_BELOW[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
