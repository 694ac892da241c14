"""Paths of the user's own: one function that says what every value of one or more parameters predicts, for exactly one model.

Transformers ahead are fitted once per split, then the function is asked once. It is trusted to be exact: whoever adds one shows
that the run equals the one with path="refit".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..errors import FamilyError, WrongTypeError
from ..families import registry
from ..families.algorithm import Algorithm, Axis, Lazy, refuses_nothing
from ..families.family import Family, Kind, likeness
from ..splits.plan import Plan
from .base import Unsuited
from .measure import Answers, Meter
from .problem import Request, SplitProblem

Count = Callable[[int, int, int], float]
SCORES = ("predict_proba", "decision_function")


def add_path(
    model: type,
    axis: str | Sequence[str],
    predict: Callable[..., Any],
    refuses: Callable[[Any], str] | None = None,
    *,
    weights: bool = False,
    responses: Sequence[str] = (),
    cost: Count | None = None,
    memory: Count | None = None,
    name: str | None = None,
    simplest: Mapping[str, Any] | None = None,
    notes: Mapping[str, str] | None = None,
) -> Algorithm:
    """Use this function wherever a grid goes along `axis` and the last step is exactly this model.

        predict(estimator, values, X_train, y_train, X_test) -> predictions [rows of X_test, values]

    The estimator has every other parameter set, values[s] is that of setting s; X is float64. `refuses(estimator)` says why
    other parameters are not for it, "" where they are; inside `predict`, `raise Unsuited(why)` leaves a split to refit.
    It replaces any other path of the same model, cvnb's own too, until `remove_path`. Returned is its record.

    axis        several names: values["h"][s] and values["p"][s] are those of setting s, len(values) says how many there are
    weights     predict takes sample_weight= too: one weight for each row of y_train, or None. Without it weights mean refit
    responses   "predict_proba", "decision_function": predict gives a dict of "predict" and each of these
                [rows, values, classes in y_train, sorted]; decisions of two classes [rows, values]. Else refit gives them
    cost        cost(training rows, columns, values) -> multiplications of one split: dry_run tells the time by it, and
                the builder runs what is cheap without being asked. Without it one fit is timed, and the builder waits
    memory      memory(training rows, columns, values) -> bytes beside the data
    name        "kernel": the path is called "path:kernel"; default: the name of the model
    simplest    {"h": "large"}: which values one_se takes for simpler; or "small", or a list, simplest first
    notes       {"ties": "At {n} two values are equally near."}: predict gives a dict that says under "ties" how often

    >>> from sklearn.dummy import DummyRegressor
    >>> def quantiles(estimator, values, X_train, y_train, X_test):
    ...     return np.tile(np.quantile(y_train, values), (len(X_test), 1))
    >>> others = lambda last: "" if last.strategy == "quantile" else last.strategy
    >>> add_path(DummyRegressor, "quantile", quantiles, others).name
    'DummyRegressor'
    >>> remove_path(DummyRegressor)
    """
    _check_model(model)
    _check_functions(predict=predict, refuses=refuses, cost=cost, memory=memory)
    notes = dict(notes or {})
    record = Algorithm(
        name=name or model.__name__,
        models=(model,),
        axis=_axis(model, axis),
        prepare=Lazy("cvnb.paths.user:prepared"),
        answers_of_split=OneFunction(
            predict, weights, _responses(responses), _only_kind(notes)
        ),
        refuses=refuses or refuses_nothing,
        compiles=False,
        simplest=dict(simplest or {}),
        notes=notes,
        cost=None if cost is None else Counted("cost", cost),
        memory=Lazy("cvnb.paths.memory:of_rows")
        if memory is None
        else OfLargest(Counted("memory", memory)),
    )
    registry.add(record)
    return record


def remove_path(model: type) -> None:
    """Forget the path that was added for this model."""
    record = registry.of_added(model) if isinstance(model, type) else None
    if record is None:
        raise FamilyError(f"no path was added for {getattr(model, '__name__', model)}.")
    registry.remove(record)


def prepared(request: Request) -> Any:
    """The path of an added function."""
    from .dispatch import (
        solved,
    )  # which loads all of scikit-learn's models that have a path

    function = request.algorithm.answers_of_split
    assert isinstance(function, OneFunction)
    function.check_suits(request.meter, request.models)
    return solved(replace(request, kinds=together(request.family, request.kinds)))


def together(family: Family, kinds: list[Kind]) -> list[Kind]:
    """Kinds that differ in numbers alone as one: whoever adds a path says that they may be, which of classes nobody knows."""
    found: dict[Any, list[Kind]] = {}
    for kind in kinds:
        parameters = family.parameters(family.settings[kind.which[0]])
        found.setdefault(likeness(parameters, kind.numbers[0]), []).append(kind)
    return [
        Kind(
            same[0].candidate,
            np.concatenate([one.which for one in same]),
            tuple(n for one in same for n in one.numbers),
        )
        for same in found.values()
    ]


def _check_model(model: Any) -> None:
    if not isinstance(model, type):
        instead = (
            type(model).__name__
            if isinstance(model, BaseEstimator)
            else "an estimator's, then the name of its parameter"
        )
        raise WrongTypeError(f"model={model!r} is no class; use {instead}.")
    if not issubclass(model, BaseEstimator):
        raise WrongTypeError(
            f"{model.__name__} is no estimator of scikit-learn's kind; derive it from BaseEstimator."
        )


def _check_functions(**functions: Any) -> None:
    for argument, function in functions.items():
        if not callable(function) and (function is not None or argument == "predict"):
            raise WrongTypeError(f"{argument}={function!r} is no function.")


def _responses(responses: Sequence[str]) -> tuple[str, ...]:
    names = (responses,) if isinstance(responses, str) else tuple(responses)
    if unknown := [one for one in names if one not in SCORES]:
        raise FamilyError(
            f"responses has {unknown[0]!r}; it may have {' and '.join(map(repr, SCORES))}."
        )
    return names


def _only_kind(notes: Mapping[str, str]) -> str:
    if len(notes) > 1:
        raise FamilyError(
            f"notes has {len(notes)} kinds ({', '.join(notes)}); a path counts one."
        )
    return next(iter(notes), "")


def _axis(model: type, axis: Any) -> Axis:
    """One name, or several as a tuple."""
    names = (axis,) if isinstance(axis, str) else axis
    if (
        not isinstance(names, Sequence)
        or not names
        or not all(isinstance(one, str) for one in names)
    ):
        raise WrongTypeError(
            f"axis={axis!r} is no name of a parameter, nor a list of such names."
        )
    parameters = inspect.signature(model).parameters
    if unknown := [one for one in names if one not in parameters]:
        raise FamilyError(
            f"{model.__name__} has no parameter {unknown[0]!r}; it has {', '.join(parameters)}."
        )
    if len(set(names)) < len(names):
        raise FamilyError(f"axis={axis!r} names a parameter twice.")
    return axis if isinstance(axis, str) else tuple(names)


@dataclass(frozen=True)
class Counted:
    """A function of (training rows, columns, values) that must give a number."""

    what: str
    function: Count

    def __call__(self, n_train: int, n_columns: int, n_values: int) -> float:
        given = self.function(n_train, n_columns, n_values)
        try:
            number = float(given)
        except (TypeError, ValueError):
            number = np.nan
        if not 0 <= number < np.inf:
            raise FamilyError(
                f"{self.what}({n_train}, {n_columns}, {n_values}) gave {given!r}; it must give a number, 0 or more."
            )
        return number


@dataclass(frozen=True)
class OfLargest:
    """Bytes of a run, told by its largest training part."""

    memory: Counted

    def __call__(self, work: Any, plan: Plan) -> float:
        n_train = max(
            int(splits.layout.sizes()[:, 0].max())
            for _, splits in plan.levels()
            if len(splits)
        )
        return self.memory(n_train, work.data.n_columns, len(work.family.settings))


@dataclass(frozen=True)
class OneFunction:
    """The function, as Behind asks it."""

    predict: Callable[..., Any]
    weights: bool = False
    responses: tuple[str, ...] = ()
    counted: str = ""

    def check_suits(self, meter: Meter, models: list[Any]) -> None:
        """Unsuited where what the function gives does not tell the loss."""
        if meter.data.weights is not None and not self.weights:
            raise Unsuited("a path that was added takes no sample_weight")
        if not meter.wants_scores:
            return
        if missing := {meter.method_of(model) for model in models} - {
            "",
            *self.responses,
        }:
            gives = (
                " and ".join(["predictions", *self.responses])
                if self.responses
                else "predictions only"
            )
            raise Unsuited(
                f"a path that was added says {gives}, and the {meter.loss.name} loss wants more: {missing.pop()}"
            )

    def __call__(self, split: SplitProblem) -> tuple[Answers, int]:
        one, meter, X_test = split.combination, split.meter, split.X_test
        y, w, who = (
            meter.data.y[split.train],
            meter.data.weights,
            type(one.model).__name__,
        )
        own = (
            one.values.copy(),
            split.X_train.copy(),
            y.copy(),
            X_test.copy(),
        )  # to be worked on in place
        more = (
            {"sample_weight": None if w is None else w[split.train]}
            if self.weights
            else {}
        )
        given = self._as_dict(self.predict(clone(one.model), *own, **more), who)
        shape = len(X_test), one.values.size
        n = int(given.get(self.counted, 0)) if self.counted else 0
        said = _array(
            given["predict"], "predictions", shape, who, numbers=meter.classes is None
        )
        if meter.classes is None:
            return Answers(np.asarray(said, dtype=np.float64)), n
        if unknown := set(said.ravel().tolist()) - set(y.tolist()):
            raise FamilyError(
                f"the path of {who} predicts {unknown.pop()!r}, no class that it was shown."
            )
        present = np.isin(meter.classes, y)
        answers = Answers(np.searchsorted(meter.classes, said), present=present[None])
        if method := meter.method_of(one.model) if meter.wants_scores else "":
            answers.scores, answers.method = (
                _scores(given[method], method, shape, present, who),
                method,
            )
        return answers, n

    def _as_dict(self, given: Any, who: str) -> Mapping[str, Any]:
        """What the function gave, by name."""
        wanted = ["predict", *self.responses]
        if isinstance(given, Mapping):
            if missing := [name for name in wanted if name not in given]:
                raise FamilyError(
                    f"the path of {who} gave a dict of {', '.join(given)}; {missing[0]!r} is missing in it."
                )
            return given
        if self.responses:
            raise FamilyError(
                f"the path of {who} gave {type(given).__name__}; it must be a dict of {', '.join(wanted)}."
            )
        return {"predict": given}


def _scores(
    given: Any, method: str, shape: tuple[int, int], present: np.ndarray, who: str
) -> np.ndarray:
    """[rows, values, all classes]: 0 for those that are not in the training part."""
    n = int(present.sum())
    one_column = method == "decision_function" and n <= 2
    array = _array(given, method, shape if one_column else (*shape, n), who)
    scores = np.zeros((*shape, present.size))
    if one_column:
        scores[:, :, np.flatnonzero(present)[-1]] = array
    else:
        scores[:, :, present] = array
    return scores


def _array(
    given: Any, what: str, shape: tuple[int, ...], who: str, numbers: bool = True
) -> np.ndarray:
    """An array of this shape, without a mask; of numbers, but for labels."""
    array = np.asarray(given)
    if isinstance(given, np.ma.MaskedArray) or (
        numbers and array.dtype.kind not in "biuf"
    ):
        kind = (
            "masked values"
            if isinstance(given, np.ma.MaskedArray)
            else f"values of type {array.dtype}"
        )
        raise FamilyError(f"the path of {who} gave {kind}; it must be numbers.")
    if array.shape != shape:
        raise FamilyError(
            f"the path of {who} gave {what} of shape {array.shape} for {shape[0]} rows and {shape[1]} values; "
            f"it must be {shape}."
        )
    return array
