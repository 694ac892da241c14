"""Estimate the risk of a predictor or learning algorithm, and tune it without fooling yourself."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .families import registry as _registry

__version__ = "0.1.0"

_HOME = {
    "Comparison": "results.comparison",
    "CvnbError": "errors",
    "Family": "families.family",
    "Interrupted": "errors",
    "NestedCV": "runs.estimators",
    "Plan": "splits.plan",
    "Recipe": "splits.recipes",
    "Resampling": "splits.specs",
    "RiskEstimate": "results.estimate",
    "SoftmaxWeights": "families.softmax",
    "TimeBlocks": "splits.splitters",
    "nested_cv": "runs.prepare",
}

__all__ = [
    "Comparison",
    "CvnbError",
    "Family",
    "Interrupted",
    "NestedCV",
    "Plan",
    "Recipe",
    "Resampling",
    "RiskEstimate",
    "SoftmaxWeights",
    "TimeBlocks",
    "nested_cv",
]
__all__ += _registry.short_hands(built_in=True)
__all__.sort()

if TYPE_CHECKING:
    from .errors import CvnbError, Interrupted
    from .families.family import Family
    from .families.shorthands import (  # noqa: F401  __all__ has them
        boosting,
        elastic_net,
        forest,
        knn,
        lasso,
        logistic,
        ridge,
        tree,
    )
    from .families.softmax import SoftmaxWeights
    from .results.comparison import Comparison
    from .results.estimate import RiskEstimate
    from .runs.estimators import NestedCV
    from .runs.prepare import nested_cv
    from .splits.plan import Plan
    from .splits.recipes import Recipe
    from .splits.specs import Resampling
    from .splits.splitters import TimeBlocks


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    elif name in __all__:
        value = _registry.short_hand(name)
    elif _may_be_added(name) and name in _registry.short_hands():
        return _registry.short_hand(name)  # not stored: it may be removed
    else:
        raise AttributeError(
            f"module 'cvnb' has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    globals()[name] = value
    return value


def _may_be_added(name: str) -> bool:
    """Whether another package may define this short-hand; False for names of our own modules."""
    return not name.startswith("_") and find_spec(f"{__name__}.{name}") is None


def __dir__() -> list[str]:
    return [
        *sorted({*__all__, *_registry.short_hands()}),
        "load_ipython_extension",
        "unload_ipython_extension",
    ]


def load_ipython_extension(ipython: Any) -> None:
    """%load_ext cvnb"""
    from .jupyter.completion import matcher_of
    from .jupyter.magics import NestedCVMagics
    from .runtime import ahead

    ahead.start()
    ipython.register_magics(NestedCVMagics)
    if ipython.Completer is not None:
        ipython.Completer.custom_matchers.append(matcher_of(ipython))


def unload_ipython_extension(ipython: Any) -> None:
    """%unload_ext cvnb"""
    from .runtime import ahead

    ahead.stop()
    for kind in ("line", "cell"):
        for name in ("nestedcv", "folds", "recipe"):
            ipython.magics_manager.magics[kind].pop(name, None)
    magics = ipython.magics_manager.registry.pop("NestedCVMagics", None)
    configurables = ipython.configurables
    configurables[:] = [other for other in configurables if other is not magics]
    if ipython.Completer is not None:
        matchers = ipython.Completer.custom_matchers
        matchers[:] = [other for other in matchers if other.__name__ != "cvnb_matcher"]
