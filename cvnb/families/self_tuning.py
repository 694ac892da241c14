"""Estimators that choose their own parameters inside `fit`: nothing is left to choose around them."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

ONLY_CALIBRATES = "CalibratedClassifierCV"


def self_tuned(estimator: Any) -> str:
    """The class of the last step where it tunes itself by cross-validation, as LassoCV does; "" where it does not.

    >>> from sklearn.linear_model import Lasso, LassoCV
    >>> self_tuned(LassoCV()), self_tuned(Lasso())
    ('LassoCV', '')
    """
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    name = type(estimator).__name__
    ours = (
        type(estimator).__module__.startswith("sklearn.")
        and name.endswith("CV")
        and name != ONLY_CALIBRATES
    )
    return name if ours or isinstance(estimator, BaseSearchCV) else ""
