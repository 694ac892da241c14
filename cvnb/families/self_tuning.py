"""Estimators that choose their own parameters inside `fit`, such as LassoCV."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

ONLY_CALIBRATES = "CalibratedClassifierCV"
OF_A_SEARCH = {"estimator", "cv", "scoring", "refit"}


def self_tuned(estimator: Any) -> str:
    """Return the class name of the last step if it tunes itself by cross-validation, else "".

    A search of any package counts: skopt's BayesSearchCV, Optuna's OptunaSearchCV, ...

    >>> from sklearn.linear_model import Lasso, LassoCV
    >>> self_tuned(LassoCV()), self_tuned(Lasso())
    ('LassoCV', '')
    """
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    name, module = type(estimator).__name__, type(estimator).__module__
    if isinstance(estimator, BaseSearchCV) or _is_search(estimator):
        return name
    is_tuned = name.endswith("CV") and name != ONLY_CALIBRATES
    return name if is_tuned and module.startswith("sklearn.") else ""


def _is_search(estimator: Any) -> bool:
    """Whether it has the parameters of scikit-learn's searches, as those of other packages do."""
    names = estimator.get_params(deep=False)
    return names.keys() >= OF_A_SEARCH and type(estimator).__name__.endswith("CV")
