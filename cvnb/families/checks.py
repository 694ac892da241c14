"""Checks of estimators and grids, with errors that say what to type instead."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..errors import FamilyError, WrongTypeError
from .distributions import is_distribution, misses_parameters
from .labels import Setting, estimator_label, format_value
from .mistaken import no_estimator, unknown_key
from .searches import Drawing, refuse_distributions

NOT_PREDICTORS = ("clusterer", "outlier_detector", "density_estimator", "transformer")


def check_estimator(estimator: Any) -> None:
    """Refuse an object that cannot be cloned, fitted and used to predict y."""
    if isinstance(estimator, type):
        raise WrongTypeError(
            f"{estimator.__name__} is a class, no estimator; use {estimator.__name__}()."
        )
    methods = ("fit", "get_params", "set_params")
    missing = [method for method in methods if not hasattr(estimator, method)]
    if missing:
        raise WrongTypeError(no_estimator(estimator, missing))
    _check_steps(estimator)
    label = estimator_label(estimator)
    try:
        predicts = will_have(estimator, "predict")
    except (TypeError, ValueError) as error:
        raise FamilyError(f"{label} cannot be used: {error}") from None
    if not predicts:
        raise WrongTypeError(
            f"{label} has no predict, so no loss can be measured; end it in a predictor."
        )
    if not hasattr(estimator, "__sklearn_tags__"):
        return
    kind = get_tags(estimator).estimator_type
    if kind in NOT_PREDICTORS:
        raise WrongTypeError(
            f"{label} is a {kind.replace('_', ' ')}: it does not predict y; use a "
            "predictor."
        )


def _check_steps(estimator: Any) -> None:
    """Refuse a pipeline without steps, and classes or short-hands as steps."""
    if not isinstance(estimator, Pipeline):
        return
    if not estimator.steps:
        raise FamilyError("this Pipeline has no steps; give it an estimator.")
    for name, step in estimator.steps:
        if isinstance(step, type):
            raise WrongTypeError(
                f"the step {name!r} of this pipeline is a class; use {step.__name__}()."
            )
        if hasattr(step, "resolved"):
            raise WrongTypeError(
                f"the step {name!r} of this pipeline is {step!r}, a model with its own "
                "grid; use scikit-learn's estimator there, and give the grid with the "
                "pipeline."
            )


def will_have(estimator: Any, method: str) -> bool:
    """Whether the estimator will have the method once fitted.

    Unfitted stacking with the default final estimator hides its methods.
    """
    if hasattr(estimator, method):
        return True
    from sklearn.ensemble import StackingClassifier, StackingRegressor

    is_stacking = isinstance(estimator, StackingClassifier | StackingRegressor)
    return is_stacking and estimator.final_estimator is None


def list_settings(grid: Any, drawing: Drawing | None = None) -> list[Setting]:
    """Return the settings of a grid in ParameterGrid order: keys sorted, the last one fastest.

    drawing: how to draw them instead; then they are in the order drawn
    """
    grids = [grid] if isinstance(grid, Mapping) else grid
    if isinstance(grids, str) or not isinstance(grids, Iterable):
        raise WrongTypeError(
            f"the grid must be a dict or a list of dicts, got {format_value(grid)}."
        )
    grids = list(grids)
    if not grids:
        raise FamilyError(
            "the grid [] has no settings; {} is one setting, the estimator as it is."
        )
    for part in grids:
        if not isinstance(part, Mapping):
            raise WrongTypeError(
                "the grid must be a dict or a list of dicts, got "
                f"{format_value(part)} in it."
            )
        for key, values in part.items():
            _check_values(key, values)
    grids = list(map(dict, grids))
    if drawing is not None:
        return drawing.settings(grids)
    refuse_distributions(grids)
    return list(ParameterGrid(grids))


def _check_values(key: Any, values: Any) -> None:
    if not isinstance(key, str):
        raise FamilyError(
            f"the grid has the key {key!r}; keys are names of parameters."
        )
    if misses_parameters(values):
        raise FamilyError(
            f"the grid has {key}={values.name} without its parameters; write them, such as "
            "loguniform(1e-3, 1e3)."
        )
    if is_distribution(values):
        return
    if hasattr(values, "icdf") and hasattr(values, "sample"):
        raise FamilyError(
            f"the grid has {key}={values!r}, a distribution without rvs, which scikit-learn "
            "cannot draw; use one such as scipy.stats.loguniform(1e-3, 1e3)."
        )
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        is_single = np.isscalar(values) or values is None
        instead = f"[{values!r}]" if is_single else f"list({key})"
        raise FamilyError(
            f"the grid has {key}={values!r}, which is no list of values; write {{{key!r}: "
            f"{instead}}}."
        )
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise FamilyError(
            f"the grid has an array of {values.ndim} dimensions for {key!r}; values must "
            "be in one row."
        )
    if len(values) == 0:
        raise FamilyError(
            f"the grid has no values for {key!r}; give at least one, or leave the key out."
        )


def check_keys(estimator: Any, settings: list[Setting]) -> None:
    """Refuse an unknown parameter, naming the known ones."""
    keys = dict.fromkeys(key for setting in settings for key in setting)
    known = estimator.get_params(deep=True) if keys else {}
    for key in keys:
        step = key.split("__")[0]
        # the grid may replace the step, and the new one has other parameters
        is_replaced = step != key and any(step in setting for setting in settings)
        if key in known or is_replaced:
            continue
        path, _, parameter = key.rpartition("__")
        if parameter not in _of_constructor(known.get(path) if path else estimator):
            raise FamilyError(unknown_key(estimator, key, known))


def _of_constructor(owner: Any) -> set[str]:
    """Return the names that a constructor takes; CatBoost's get_params has only those given."""
    if not hasattr(owner, "get_params"):
        return set()
    parameters = inspect.signature(type(owner)).parameters.values()
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {own.name for own in parameters if own.kind not in many}
