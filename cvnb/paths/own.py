"""Paths of the user's own: one function that says what every value of one parameter predicts, for exactly one model.

Transformers ahead are fitted once per split, then the function is asked once. It is trusted to be exact: whoever adds one shows
that the run equals the one with path="refit".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..errors import FamilyError, WrongTypeError
from ..families import Family, Kind, likeness
from .base import Unsuited
from .measure import Answers, Meter
from .problem import Combination, Solver, SplitProblem

Predict = Callable[[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Any]
ADDED: dict[type, Solver] = {}


def add_path(model: type, axis: str, predict: Predict, refuses: Callable[[Any], str] | None = None) -> None:
    """Use this function wherever a grid goes along `axis` and the last step is exactly this model.

        predict(estimator, values, X_train, y_train, X_test) -> predictions [rows of X_test, values]

    The estimator has every other parameter set, values[s] is that of setting s; X is float64. `refuses(estimator)` says why
    other parameters are not for it, "" where they are; inside `predict`, `raise Unsuited(why)` leaves a split to refit.
    Weights, and losses of probabilities, are left to refit. Adding a path of the same model again replaces the first.

    >>> from sklearn.dummy import DummyRegressor
    >>> def quantiles(estimator, values, X_train, y_train, X_test):
    ...     return np.tile(np.quantile(y_train, values), (len(X_test), 1))
    >>> add_path(DummyRegressor, "quantile", quantiles, lambda last: "" if last.strategy == "quantile" else last.strategy)
    >>> remove_path(DummyRegressor)
    """
    from .choice import GROUPS  # which looks at what is added

    if not isinstance(model, type):
        instead = type(model).__name__ if isinstance(model, BaseEstimator) else "an estimator's, then the name of its parameter"
        raise WrongTypeError(f"model={model!r} is no class; use {instead}.")
    if not issubclass(model, BaseEstimator):
        raise WrongTypeError(f"{model.__name__} is no estimator of scikit-learn's kind; derive it from BaseEstimator.")
    for name, function in {"predict": predict, "refuses": refuses or _refuses_nothing}.items():
        if not callable(function):
            raise WrongTypeError(f"{name}={function!r} is no function.")
    if any(model in group for group in GROUPS):
        raise FamilyError(f"{model.__name__} has a path of cvnb's own, which cannot be replaced.")
    if not isinstance(axis, str):
        raise WrongTypeError(f"axis={axis!r} is no name of a parameter.")
    if axis not in (parameters := inspect.signature(model).parameters):
        raise FamilyError(f"{model.__name__} has no parameter {axis!r}; it has {', '.join(parameters)}.")
    ADDED[model] = Solver(
        model.__name__, (model,), axis, "", refuses or _refuses_nothing, _never, None, OneFunction(predict), False
    )


def remove_path(model: type) -> None:
    """Forget the path that was added for this model."""
    if not isinstance(model, type) or ADDED.pop(model, None) is None:
        raise FamilyError(f"no path was added for {getattr(model, '__name__', model)}.")


def together(family: Family, kinds: list[Kind]) -> list[Kind]:
    """Kinds that differ in numbers alone as one: whoever adds a path says that they may be, which of classes nobody knows."""
    found: dict[Any, list[Kind]] = {}
    for kind in kinds:
        parameters = family.parameters(family.settings[kind.which[0]])
        found.setdefault(likeness(parameters, kind.numbers[0]), []).append(kind)
    return [
        Kind(same[0].candidate, np.concatenate([one.which for one in same]), tuple(n for one in same for n in one.numbers))
        for same in found.values()
    ]


def check_suits(meter: Meter) -> None:
    """An error where predictions alone do not tell the loss."""
    if meter.data.weights is not None:
        raise Unsuited("a path that was added takes no sample_weight")
    if meter.wants_scores:
        raise Unsuited(f"a path that was added says predictions only, and the {meter.loss.name} loss wants more")


def _refuses_nothing(_: Any) -> str:
    return ""


def _never(_: Combination) -> bool:
    return False


@dataclass(frozen=True)
class OneFunction:
    """The function, as a solver asks it."""

    predict: Predict

    def __call__(self, split: SplitProblem) -> tuple[Answers, int]:
        one, meter, X_test = split.combination, split.meter, split.X_test
        y = meter.data.y[split.train]
        own = one.values.copy(), split.X_train.copy(), y.copy(), X_test.copy()  # to be worked on in place
        given = self.predict(clone(one.model), *own)
        said = np.asarray(given)
        if isinstance(given, np.ma.MaskedArray) or (meter.classes is None and said.dtype.kind not in "biuf"):
            what = "masked values" if isinstance(given, np.ma.MaskedArray) else f"values of type {said.dtype}"
            raise FamilyError(f"the path of {type(one.model).__name__} gave {what}; it must be numbers.")
        if said.shape != (len(X_test), one.values.size):
            raise FamilyError(
                f"the path of {type(one.model).__name__} gave predictions of shape {said.shape} for {len(X_test)} rows and "
                f"{one.values.size} values; it must be {(len(X_test), one.values.size)}."
            )
        if meter.classes is None:
            return Answers(np.asarray(said, dtype=np.float64)), 0
        if unknown := set(said.ravel().tolist()) - set(y.tolist()):
            raise FamilyError(f"the path of {type(one.model).__name__} predicts {unknown.pop()!r}, no class that it was shown.")
        return Answers(np.searchsorted(meter.classes, said), present=np.isin(meter.classes, y)[None]), 0
