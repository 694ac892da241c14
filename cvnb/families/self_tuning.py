"""Estimators that choose their own parameters inside `fit`, such as LassoCV."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

ONLY_CALIBRATES = "CalibratedClassifierCV"


def self_tuned(estimator: Any) -> str:
    """Return the class name of the last step if it tunes itself by cross-validation, else "".

    >>> from sklearn.linear_model import Lasso, LassoCV
    >>> self_tuned(LassoCV()), self_tuned(Lasso())
    ('LassoCV', '')
    """
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    name, module = type(estimator).__name__, type(estimator).__module__
    if isinstance(estimator, BaseSearchCV):
        return name
    is_tuned = name.endswith("CV") and name != ONLY_CALIBRATES
    return name if is_tuned and module.startswith("sklearn.") else ""
