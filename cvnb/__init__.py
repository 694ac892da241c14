"""cvnb: estimate the risk of a predictor or of a learning algorithm, and choose hyper-parameters without fooling yourself."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Comparison": "comparison",
    "CvnbError": "errors",
    "Family": "families",
    "Interrupted": "errors",
    "NestedCV": "estimators",
    "Plan": "plan",
    "Recipe": "recipes",
    "Resampling": "specs",
    "RiskEstimate": "estimate",
    "TimeBlocks": "splitters",
    "boosting": "shorthands",
    "elastic_net": "shorthands",
    "forest": "shorthands",
    "knn": "shorthands",
    "lasso": "shorthands",
    "logistic": "shorthands",
    "nested_cv": "procedure",
    "ridge": "shorthands",
    "tree": "shorthands",
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
    "TimeBlocks",
    "boosting",
    "elastic_net",
    "forest",
    "knn",
    "lasso",
    "logistic",
    "nested_cv",
    "ridge",
    "tree",
]

if TYPE_CHECKING:
    from .comparison import Comparison
    from .errors import CvnbError, Interrupted
    from .estimate import RiskEstimate
    from .estimators import NestedCV
    from .families import Family
    from .plan import Plan
    from .procedure import nested_cv
    from .recipes import Recipe
    from .shorthands import boosting, elastic_net, forest, knn, lasso, logistic, ridge, tree
    from .specs import Resampling
    from .splitters import TimeBlocks


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cvnb' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(ipython: Any) -> None:
    """%load_ext cvnb"""
    from .completion import matcher_of
    from .magics import NestedCVMagics

    ipython.register_magics(NestedCVMagics)
    if ipython.Completer is not None:
        ipython.Completer.custom_matchers.append(matcher_of(ipython))


def unload_ipython_extension(ipython: Any) -> None:
    """%unload_ext cvnb"""
    for kind in ("line", "cell"):
        for name in ("nestedcv", "folds", "recipe"):
            ipython.magics_manager.magics[kind].pop(name, None)
    magics = ipython.magics_manager.registry.pop("NestedCVMagics", None)
    ipython.configurables[:] = [one for one in ipython.configurables if one is not magics]
    if ipython.Completer is not None:
        matchers = ipython.Completer.custom_matchers
        matchers[:] = [one for one in matchers if one.__name__ != "cvnb_matcher"]
