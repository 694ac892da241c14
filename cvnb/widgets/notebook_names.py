"""What the names of the notebook stand for: models, columns of groups, and places for a result."""

from __future__ import annotations

import builtins
from keyword import iskeyword
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..data.checks import is_frame
from ..errors import InputError
from ..families.family import Family
from ..results.comparison import Comparison
from ..results.estimate import RiskEstimate
from .typed_grid import SHELLS

MOST_COLUMNS = 200  # of a frame that are looked at
OF_GROUPS = "iuUSOb"  # kinds of dtypes of groups


def user_namespace() -> dict[str, Any]:
    """Return the variables of the notebook; an empty dict outside one."""
    from IPython import get_ipython

    shell = get_ipython()
    return {} if shell is None else shell.user_ns


def is_estimator(value: Any) -> bool:
    """Whether a value is an estimator, a search or a family."""
    return isinstance(value, BaseEstimator | Family) and not isinstance(value, type)


def is_model(value: Any, task: str) -> bool:
    """Whether a value can be chosen as the model: no transformer, no clustering.

    task: of the targets; a classifier is no model of a regression
    """
    if not is_estimator(value):
        return False
    if isinstance(value, Family):
        value = value.estimator
        if value is None:  # a short-hand, which follows the targets
            return True
    try:
        return _predicts(value, task)
    except Exception:  # an estimator whose own code fails when it is looked at
        return False


def _predicts(estimator: Any, task: str) -> bool:
    if isinstance(estimator, Pipeline) and not estimator.steps:
        return False
    if is_classifier(estimator):
        return task == "classification"
    if is_regressor(estimator):
        return True
    is_other = get_tags(estimator).estimator_type is not None
    return not is_other and hasattr(estimator, "predict")


def is_column(value: Any, n_rows: int) -> bool:
    """Whether an object has one value for each row; one that raises when read has not."""
    try:
        return _has_rows(value, n_rows)
    except Exception:
        return False


def _has_rows(value: Any, n_rows: int) -> bool:
    if is_frame(value) or isinstance(value, str | bytes | dict | type):
        return False
    shape = getattr(value, "shape", None)
    if shape is None:
        return isinstance(value, list) and len(value) == n_rows
    return (
        isinstance(shape, tuple)
        and len(shape) == 1
        and shape[0] == n_rows
        and np.asarray(value).dtype.kind in OF_GROUPS
    )


def grouping_columns(X: Any) -> dict[str, Any]:
    """Return the columns of a frame that could be groups, by the code that names them.

    Such a column repeats its values and holds no fractions.
    """
    if not is_frame(X) or X.shape[1] > MOST_COLUMNS:
        return {}
    found = {}
    for name in X.columns:
        values = np.asarray(X[name])
        if values.ndim == 1 and values.dtype.kind in OF_GROUPS and _repeats(values):
            found[repr(name)] = name
    return found


def _repeats(values: np.ndarray) -> bool:
    try:
        return 1 < len(set(values.tolist())) < len(values)
    except TypeError:  # values without a hash
        return False


def bind(namespace: dict[str, Any], name: str, result: Any) -> None:
    """Give a result a name of the notebook; raise InputError where that cannot be.

    What is no result of cvnb is never overwritten.
    """
    if not name.isidentifier() or iskeyword(name) or name.startswith("_"):
        raise InputError(
            f"{name[:40]!r} is no name for a result; type letters, digits and underscores, "
            "such as risk."
        )
    if name in SHELLS or hasattr(builtins, name):
        raise InputError(f"{name!r} is a name of Python or IPython; choose another.")
    if name in namespace and not isinstance(namespace[name], RiskEstimate | Comparison):
        kind = type(namespace[name]).__name__
        raise InputError(
            f"{name!r} is in the notebook already and is no result of cvnb ({kind}); choose "
            f"another name, or run: del {name}"
        )
    namespace[name] = result
