"""Paths added by users: one function, for exactly one model, that returns the predictions
of every value of one or more parameters.

Transformers are fitted once per split, then the function is called once. It is trusted to be
exact: check that a run equals one with path="refit".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..errors import FamilyError, WrongTypeError
from ..families import registry
from ..families.algorithm import Algorithm, Axis, Lazy, refuses_nothing
from ..families.family import Family
from ..families.setting_groups import SettingGroup, group_key
from ..splits.plan import Plan
from .base import Path, Unsuited, weights_of
from .measure import LossEvaluator, Predictions
from .problem import Request, SplitProblem

if TYPE_CHECKING:
    from ..engine.work import Work

Count = Callable[[int, int, int], float]
SCORES = ("predict_proba", "decision_function")
OF_ROWS = Lazy("cvnb.paths.memory:of_rows")


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
    """Use `predict` for grids along `axis` whose last step is exactly a `model`.

        predict(estimator, values, X_train, y_train, X_test) -> predictions [rows of X_test, values]

    The estimator has every other parameter set, values[s] belongs to setting s, X is float64.
    `raise Unsuited(why)` inside `predict` leaves the split to refit. The path replaces any
    other path of the model, also cvnb's own, until `remove_path`. Returns its record.

    axis       parameter along the path; several names: values["h"][s], values["p"][s], len(values)
    refuses    refuses(estimator) -> why `predict` cannot handle other parameters; "" if it can
    weights    predict takes sample_weight=, one per row of y_train or None; else weights mean refit
    responses  "predict_proba", "decision_function": predict returns a dict of "predict" and these
               [rows, values, sorted classes in y_train]; decisions of two classes [rows, values]
    cost       cost(training rows, columns, values) -> multiplications of one split: dry_run then
               needs no fit to tell the time, and the builder runs cheap grids at once
    memory     memory(training rows, columns, values) -> bytes in addition to the data
    name       "kernel": the path is called "path:kernel"; default: the name of the model
    simplest   {"h": "large"}: simpler values for one_se; or "small", or a list, simplest first
    notes      {"ties": "At {n} two values are equally near."}: predict counts them under "ties"

    >>> from sklearn.dummy import DummyRegressor
    >>> def quantiles(estimator, values, X_train, y_train, X_test):
    ...     return np.tile(np.quantile(y_train, values), (len(X_test), 1))
    >>> others = lambda last: "" if last.strategy == "quantile" else last.strategy
    >>> add_path(DummyRegressor, "quantile", quantiles, others).name
    'DummyRegressor'
    >>> remove_path(DummyRegressor)
    """
    _check(model, predict=predict, refuses=refuses, cost=cost, memory=memory)
    kind, responses = _only_kind(notes or {}), _responses(responses)
    record = Algorithm(
        name or model.__name__,
        (model,),
        _axis(model, axis),
        prepare=Lazy("cvnb.paths.user:prepared"),
        predictions_of_split=OneFunction(predict, weights, responses, kind),
        refuses=refuses or refuses_nothing,
        compiles=False,
        simplest=dict(simplest or {}),
        notes=dict(notes or {}),
        cost=None if cost is None else Counted("cost", cost),
        memory=OF_ROWS if memory is None else OfLargest(Counted("memory", memory)),
    )
    registry.add(record)
    return record


def remove_path(model: type) -> None:
    """Remove the path that was added for this model."""
    record = registry.added_record(model) if isinstance(model, type) else None
    if record is None:
        raise FamilyError(f"no path was added for {getattr(model, '__name__', model)}.")
    registry.remove(record)


def prepared(request: Request) -> Path:
    """Return the path of an added function."""
    from .dispatch import solved  # loads all scikit-learn models that have a path

    function = request.algorithm.predictions_of_split
    assert isinstance(function, OneFunction)
    function.check_suits(request.evaluator, request.models)
    return solved(replace(request, kinds=together(request.family, request.kinds)))


def together(family: Family, kinds: list[SettingGroup]) -> list[SettingGroup]:
    """Merge kinds that differ in numbers only.

    For an added path the user guarantees that such settings may be grouped: nothing is known
    of their class.
    """
    groups: dict[Any, list[SettingGroup]] = {}
    for kind in kinds:
        parameters = family.parameters(family.settings[kind.which[0]])
        groups.setdefault(group_key(parameters, kind.numbers[0]), []).append(kind)
    merged = []
    for group in groups.values():
        which = np.concatenate([kind.which for kind in group])
        numbers = tuple(own for kind in group for own in kind.numbers)
        merged.append(SettingGroup(group[0].candidate, which, numbers))
    return merged


def _check(model: Any, **functions: Any) -> None:
    """Check the class, and that each argument is a function; all but predict may be None."""
    if not isinstance(model, type):
        instead = "an estimator's, then the name of its parameter"
        if isinstance(model, BaseEstimator):
            instead = type(model).__name__
        raise WrongTypeError(f"model={model!r} is not a class; use {instead}.")
    if not issubclass(model, BaseEstimator):
        raise WrongTypeError(
            f"{model.__name__} is not a scikit-learn estimator; derive it from "
            "BaseEstimator."
        )
    for argument, function in functions.items():
        if not callable(function) and (function is not None or argument == "predict"):
            raise WrongTypeError(f"{argument}={function!r} is not a function.")


def _responses(responses: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the responses as a tuple."""
    names = (responses,) if isinstance(responses, str) else tuple(responses)
    if unknown := [name for name in names if name not in SCORES]:
        allowed = " and ".join(map(repr, SCORES))
        raise FamilyError(f"responses has {unknown[0]!r}; it may have {allowed}.")
    return names


def _only_kind(notes: Mapping[str, str]) -> str:
    """Return the only kind of note; "" for none."""
    if len(notes) > 1:
        raise FamilyError(
            f"notes has {len(notes)} kinds ({', '.join(notes)}); a path counts one."
        )
    return next(iter(notes), "")


def _axis(model: type, axis: Any) -> Axis:
    """Return one name, or several as a tuple."""
    names = (axis,) if isinstance(axis, str) else axis
    is_list = isinstance(names, Sequence) and len(names) > 0
    if not is_list or not all(isinstance(name, str) for name in names):
        raise WrongTypeError(
            f"axis={axis!r} is neither the name of a parameter nor a list of such names."
        )
    parameters = inspect.signature(model).parameters
    if unknown := [name for name in names if name not in parameters]:
        raise FamilyError(
            f"{model.__name__} has no parameter {unknown[0]!r}; it has {', '.join(parameters)}."
        )
    if len(set(names)) < len(names):
        raise FamilyError(f"axis={axis!r} names a parameter twice.")
    return axis if isinstance(axis, str) else tuple(names)


@dataclass(frozen=True)
class Counted:
    """A function of (training rows, columns, values) that must return a number."""

    argument: str
    function: Count

    def __call__(self, n_train: int, n_columns: int, n_values: int) -> float:
        result = self.function(n_train, n_columns, n_values)
        try:
            number = float(result)
        except (TypeError, ValueError):
            number = np.nan
        if not 0 <= number < np.inf:
            raise FamilyError(
                f"{self.argument}({n_train}, {n_columns}, {n_values}) gave {result!r}; it must "
                "give a number, 0 or more."
            )
        return number


@dataclass(frozen=True)
class OfLargest:
    """Bytes of a run: those of its largest training part."""

    memory: Counted

    def __call__(self, work: Work, plan: Plan) -> float:
        layouts = [splits.layout for _, splits in plan.levels()]
        n_train = max(int(layout.sizes()[:, 0].max()) for layout in layouts)
        return self.memory(n_train, work.data.n_columns, len(work.family.settings))


@dataclass(frozen=True)
class OneFunction:
    """The user's function, as AfterTransformers calls it.

    counted  the kind of note that the function counts; "" for none
    """

    predict: Callable[..., Any]
    weights: bool = False
    responses: tuple[str, ...] = ()
    counted: str = ""

    def check_suits(self, evaluator: LossEvaluator, models: list[Any]) -> None:
        """Raise Unsuited if the responses of the function are not enough for the loss."""
        if evaluator.data.weights is not None and not self.weights:
            raise Unsuited("the path added for this model takes no sample_weight")
        if not evaluator.wants_scores:
            return
        needed = {evaluator.method_of(model) for model in models}
        if missing := needed - {"", *self.responses}:
            given = " and ".join(["predictions", *self.responses])
            if not self.responses:
                given = "predictions only"
            raise Unsuited(
                f"the path added for this model returns {given}, and the "
                f"{evaluator.loss.name} loss needs {missing.pop()}"
            )

    def __call__(self, split: SplitProblem) -> tuple[Predictions, int]:
        """Return (predictions of every value, number of close calls)."""
        model, evaluator = split.combination.model, split.evaluator
        name, n_values = type(model).__name__, split.combination.values.size
        y_train, shape = evaluator.data.y[split.train], (len(split.X_test), n_values)
        result = self._checked(self._call(split, y_train), name)
        n_close = int(result.get(self.counted, 0)) if self.counted else 0
        is_regression = evaluator.classes is None
        values = _array(result["predict"], "predictions", shape, name, is_regression)
        if evaluator.classes is None:
            return Predictions(np.asarray(values, dtype=np.float64)), n_close
        if unknown := set(values.ravel().tolist()) - set(y_train.tolist()):
            raise FamilyError(
                f"the path of {name} predicts {unknown.pop()!r}, no class of its training part."
            )
        present = np.isin(evaluator.classes, y_train)
        codes = np.searchsorted(evaluator.classes, values)
        method = evaluator.method_of(model) if evaluator.wants_scores else ""
        if not method:
            return Predictions(codes, present=present[None]), n_close
        scores = _scores(result[method], method, shape, present, name)
        return Predictions(codes, scores, method, present[None]), n_close

    def _call(self, split: SplitProblem, y_train: np.ndarray) -> Any:
        """Return the result of the user's function, which may overwrite its arguments."""
        options = {}
        if self.weights:
            options["sample_weight"] = weights_of(split.evaluator.data, split.train)
        return self.predict(
            clone(split.combination.model),
            split.combination.values.copy(),
            split.X_train.copy(),
            y_train.copy(),
            split.X_test.copy(),
            **options,
        )

    def _checked(self, result: Any, name: str) -> Mapping[str, Any]:
        """Return the result as a mapping that has every response."""
        wanted = ["predict", *self.responses]
        if isinstance(result, Mapping):
            if missing := [response for response in wanted if response not in result]:
                raise FamilyError(
                    f"the path of {name} gave a dict of {', '.join(result)}; {missing[0]!r} "
                    "is missing in it."
                )
            return result
        if self.responses:
            raise FamilyError(
                f"the path of {name} gave {type(result).__name__}; it must be a dict of "
                f"{', '.join(wanted)}."
            )
        return {"predict": result}


def _scores(
    given: Any, method: str, shape: tuple[int, int], present: np.ndarray, name: str
) -> np.ndarray:
    """Return scores [rows, values, all classes]; 0 for classes missing in the training part."""
    n_present = int(present.sum())
    one_column = method == "decision_function" and n_present <= 2
    own_shape = shape if one_column else (*shape, n_present)
    array = _array(given, method, own_shape, name)
    scores = np.zeros((*shape, present.size))
    if one_column:
        scores[:, :, np.flatnonzero(present)[-1]] = array
    else:
        scores[:, :, present] = array
    return scores


def _array(
    given: Any, what: str, shape: tuple[int, ...], name: str, numbers: bool = True
) -> np.ndarray:
    """Return an array after checking its shape and its type.

    what     name of the response, for the message
    name     name of the model, for the message
    numbers  whether it must hold numbers; otherwise it may hold labels
    """
    array, kind = np.asarray(given), ""
    if isinstance(given, np.ma.MaskedArray):
        kind = "masked values"
    elif numbers and array.dtype.kind not in "biuf":
        kind = f"values of type {array.dtype}"
    if kind:
        raise FamilyError(f"the path of {name} gave {kind}; it must be numbers.")
    if array.shape != shape:
        raise FamilyError(
            f"the path of {name} gave {what} of shape {array.shape} for {shape[0]} rows "
            f"and {shape[1]} values; it must be {shape}."
        )
    return array
