"""Family: a learning algorithm with free parameters, {A_θ : θ in its grid}.

A family is any scikit-learn estimator with a grid as ParameterGrid takes it, or a GridSearchCV as it is. The short-hands are
families too: they build their estimator when the task is known, and their settings read {"k": 3} where the estimator says
{"kneighborsclassifier__n_neighbors": 3}.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, InvalidParameterError

from ..errors import FamilyError, WrongTypeError

Setting = dict[str, Any]
ADDRESS = re.compile(
    r" at 0x[0-9a-fA-F]+"
)  # of an object without a repr of its own: another one in every process
PLAIN = (
    "get_params",
    "set_params",
    "_validate_params",
    "__sklearn_clone__",
    "__setattr__",
)  # as BaseEstimator has them


class Family:
    """An estimator and its grid; {} is one setting, the estimator as it is.

    >>> from sklearn.linear_model import Ridge
    >>> family = Family(Ridge(), {"alpha": [0.1, 1.0]})
    >>> family
    Family(Ridge(), {'alpha': [0.1, 1.0]})
    >>> family.label, family.settings, family.task("classification")
    ('Ridge', [{'alpha': 0.1}, {'alpha': 1.0}], 'regression')
    >>> family.candidate({"alpha": 0.1})
    Ridge(alpha=0.1)
    """

    cv: Any = None
    scoring: Any = None
    search: Any = None
    call: tuple[str, dict[str, Any]] | None = (
        None  # the short-hand that made it, and its keywords
    )

    def __init__(
        self, estimator: Any, grid: Any = None, name: str | None = None
    ) -> None:
        if isinstance(estimator, Family):
            raise WrongTypeError("this is a Family already; hand it over as it is.")
        if type(estimator) is GridSearchCV:
            if grid is not None:
                raise FamilyError(
                    "a GridSearchCV brings its own grid; give its estimator and your grid instead."
                )
            check_search(estimator)
            self.search, self.cv, self.scoring = (
                estimator,
                estimator.cv,
                estimator.scoring,
            )
            estimator, grid = estimator.estimator, estimator.param_grid
        check_estimator_kind(estimator)
        check_predicts_y(estimator)
        self.estimator, self.grid, self.name = (
            estimator,
            {} if grid is None else grid,
            name,
        )
        self.aliases: dict[str, str] = {}
        self.settings = list_settings(self.grid)
        check_keys(self.estimator, self.settings)

    @property
    def label(self) -> str:
        """What displays call it."""
        return self.name or estimator_label(self.estimator)

    @property
    def kind(self) -> Any:
        """An estimator of the same kind, for scikit-learn's tags; None where the kind depends on y."""
        return self.estimator

    def task(self, task_of_y: str) -> str:
        """The estimator's task; y's where the estimator has none."""
        if is_classifier(self.estimator):
            return "classification"
        return "regression" if is_regressor(self.estimator) else task_of_y

    def resolved(self, task: str, smallest: int) -> Family:
        """This family, ready for a task and a smallest training part; a short-hand builds its estimator and grid here."""
        return self

    def parameters(self, setting: Setting) -> dict[str, Any]:
        """The setting in the estimator's own names."""
        return {self.aliases.get(key, key): value for key, value in setting.items()}

    def candidate(self, setting: Setting) -> Any:
        """A fresh, unfitted estimator with this setting; a value that is an estimator is cloned too."""
        parameters = {
            key: clone(value, safe=False)
            for key, value in self.parameters(setting).items()
        }
        return clone(self.estimator).set_params(**parameters)

    def inner_splitter(self, y: np.ndarray) -> Any:
        """The cv of the GridSearchCV that this family came from, as scikit-learn reads it, or None."""
        if self.cv is None:
            return None
        try:
            splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        except (TypeError, ValueError) as error:
            raise FamilyError(
                f"GridSearchCV(cv={self.cv!r}) splits nothing: {error}"
            ) from None
        return splitter

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        from ..views.display import family_bundle

        return family_bundle(self)

    def __repr__(self) -> str:
        if self.call:
            return f"{self.call[0]}({', '.join(f'{key}={value!r}' for key, value in self.call[1].items())})"
        name = "" if self.name is None else f", name={self.name!r}"
        return f"Family({self.estimator!r}, {self.grid!r}{name})"


class ShortHand(Family):
    """A family by its common name: its estimator waits for the task, its default grid for the size of the training parts."""

    def __init__(
        self,
        name: str,
        task: str,
        build: Callable[[str], Any],
        axes: Mapping[str, tuple[str, Any, Any]],
    ) -> None:
        """axes: name -> (parameter of the final step, values given or None, default(smallest training part))."""
        self.name, self.wanted, self._build, self._axes = name, task, build, axes
        self.estimator = self.grid = None
        if task not in ("auto", "classification", "regression"):
            raise FamilyError(
                f"task={task!r} must be 'auto', 'classification' or 'regression'."
            )
        check_parameters(
            self.resolved("regression" if task == "regression" else "classification", 2)
        )  # a bad value fails here

    @property
    def label(self) -> str:
        return str(self.name)

    @property
    def kind(self) -> Any:
        return None if self.wanted == "auto" else self._build(self.wanted)

    def task(self, task_of_y: str) -> str:
        return task_of_y if self.wanted == "auto" else self.wanted

    def resolved(self, task: str, smallest: int) -> Family:
        pipeline = self._build(task)
        last = pipeline.steps[-1][0]
        family = Family(pipeline, {}, self.name)
        family.grid = {
            axis: one_or_more(default(smallest) if given is None else given)
            for axis, (_, given, default) in self._axes.items()
        }
        family.aliases = {
            axis: f"{last}__{parameter}"
            for axis, (parameter, _, _) in self._axes.items()
        }
        family.settings, family.call = list_settings(family.grid), self.call
        return family


def short_hand(
    name: str,
    wanted: str,
    build: Callable[[str], Any],
    axes: Mapping[str, Any],
    **options: Any,
) -> ShortHand:
    """A ShortHand whose repr is the call that makes it."""
    axes = {
        axis: (parameter, _read_once(given), default)
        for axis, (parameter, given, default) in axes.items()
    }
    family = ShortHand(name, wanted, build, axes)
    given = {
        axis: values for axis, (_, values, _) in axes.items() if values is not None
    }
    family.call = (name, {**given, **options})
    return family


def _read_once(given: Any) -> Any:
    """Values that can be read again: an iterator becomes a list."""
    return (
        one_or_more(given)
        if isinstance(given, Iterable) and not isinstance(given, Sequence | np.ndarray)
        else given
    )


def as_families(given: Any) -> Family | dict[str, Family]:
    """A Family from everything that stands for one; a dict of them by name for a comparison."""
    if isinstance(given, Family):
        return given
    if isinstance(given, Mapping):
        if not given:
            raise FamilyError(
                "a comparison needs at least one family, got an empty dict."
            )
        families = {str(name): as_families(one) for name, one in given.items()}
        if nested := [name for name, one in families.items() if isinstance(one, dict)]:
            raise FamilyError(
                f"{nested[0]!r} is a dict inside a dict of families; an (estimator, grid) pair is a tuple."
            )
        return families  # type: ignore[return-value]
    if isinstance(given, tuple) and len(given) == 2:
        return Family(*given)
    return Family(given)


def check_estimator_kind(estimator: Any) -> None:
    """Refuse what cannot be cloned, fitted and asked for predictions."""
    if isinstance(estimator, type):
        raise WrongTypeError(
            f"{estimator.__name__} is a class, no estimator; use {estimator.__name__}()."
        )
    missing = [
        method
        for method in ("fit", "get_params", "set_params")
        if not hasattr(estimator, method)
    ]
    if missing:
        raise WrongTypeError(
            f"{estimator!r} is no estimator: it has no {', '.join(missing)}; use a scikit-learn estimator."
        )
    if isinstance(estimator, Pipeline) and not estimator.steps:
        raise FamilyError("this Pipeline has no steps; give it an estimator.")
    try:
        able = can(estimator, "predict")
    except (TypeError, ValueError) as error:
        raise FamilyError(
            f"{estimator_label(estimator)} cannot be used: {error}"
        ) from None
    if not able:
        raise WrongTypeError(
            f"{estimator_label(estimator)} has no predict, so no loss can be measured; end it in a predictor."
        )


def can(estimator: Any, method: str) -> bool:
    """Whether it will have the method when fitted; stacking cannot say before where its last estimator is the default."""
    if hasattr(estimator, method):
        return True
    return (
        isinstance(estimator, StackingClassifier | StackingRegressor)
        and estimator.final_estimator is None
    )


def check_predicts_y(estimator: Any) -> None:
    """Refuse what predicts something else than y."""
    kind = (
        get_tags(estimator).estimator_type
        if hasattr(estimator, "__sklearn_tags__")
        else None
    )
    if kind in ("clusterer", "outlier_detector", "density_estimator", "transformer"):
        raise WrongTypeError(
            f"{estimator_label(estimator)} is a {kind.replace('_', ' ')}: it does not predict y; use a predictor."
        )


def check_search(search: GridSearchCV) -> None:
    """Refuse a GridSearchCV that does not choose by the mean of one metric."""
    if callable(search.refit):
        raise FamilyError(
            "GridSearchCV(refit=<function>) chooses by a rule of its own; use refit=True."
        )
    if isinstance(search.scoring, list | tuple | set | dict):
        raise FamilyError(
            f"GridSearchCV(scoring={search.scoring!r}) has several metrics; use one."
        )


def list_settings(grid: Any) -> list[Setting]:
    """The settings of a grid in ParameterGrid order: keys sorted, the last key fastest."""
    grids = [grid] if isinstance(grid, Mapping) else grid
    if isinstance(grids, str) or not isinstance(grids, Iterable):
        raise WrongTypeError(
            f"the grid must be a dict or a list of dicts, got {grid!r}."
        )
    grids = list(grids)
    if not grids:
        raise FamilyError(
            "the grid [] has no settings; {} is one setting, the estimator as it is."
        )
    for one in grids:
        if not isinstance(one, Mapping):
            raise WrongTypeError(
                f"the grid must be a dict or a list of dicts, got {one!r} in it."
            )
        for key, values in one.items():
            _check_values(key, values)
    return list(ParameterGrid([dict(one) for one in grids]))


def _check_values(key: Any, values: Any) -> None:
    if not isinstance(key, str):
        raise FamilyError(
            f"the grid has the key {key!r}; keys are names of parameters."
        )
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        instead = (
            f"[{values!r}]" if np.isscalar(values) or values is None else f"list({key})"
        )
        raise FamilyError(
            f"the grid has {key}={values!r}, which is no list of values; write {{{key!r}: {instead}}}."
        )
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise FamilyError(
            f"the grid has an array of {values.ndim} dimensions for {key!r}; values must be in one row."
        )
    if len(values) == 0:
        raise FamilyError(
            f"the grid has no values for {key!r}; give at least one, or leave the key out."
        )


def one_or_more(values: Any) -> list[Any]:
    """Values of one axis of a short-hand: a single number, or any iterable of them."""
    return (
        list(values)
        if isinstance(values, Iterable) and not isinstance(values, str)
        else [values]
    )


def check_keys(estimator: Any, settings: list[Setting]) -> None:
    """Refuse an unknown parameter, naming the known ones."""
    keys = dict.fromkeys(key for setting in settings for key in setting)
    known = estimator.get_params(deep=True) if keys else {}
    for key in keys:
        step = key.split("__")[0]
        replaced = step != key and any(
            step in setting for setting in settings
        )  # the grid puts in another step
        if key not in known and not replaced:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.4)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            names = ", ".join(sorted(known))
            raise FamilyError(
                f"{estimator_label(estimator)} has no parameter {key!r}; it has {names}.{hint}"
            )


@dataclass(frozen=True, eq=False)
class Kind:
    """Settings alike but for plain numbers, and one unfitted, validated estimator that stands for them.

    candidate   family.candidate(first of these settings)
    which       numbers of these settings in family.settings
    numbers     for each of them the plain numbers that it sets, in the estimator's own parameter names
    """

    candidate: Any
    which: np.ndarray
    numbers: tuple[dict[str, Any], ...]


@dataclass
class _Alike:
    """A kind being collected; `ranges` are those that its numbers must lie in, None where nothing may be shared."""

    candidate: Any
    ranges: dict[str, list[Interval]] | None
    which: list[int] = field(default_factory=list)
    numbers: list[dict[str, Any]] = field(default_factory=list)

    def stands_for(self, numbers: dict[str, Any]) -> bool:
        """Whether the candidate with these numbers would be as valid as it is."""
        return self.ranges is not None and all(
            any(interval.is_satisfied_by(value) for interval in self.ranges[key])
            for key, value in numbers.items()
        )


def check_parameters(family: Family) -> list[Kind]:
    """Every setting validated by scikit-learn, as kinds in the order of their first settings.

    Settings that differ in plain numbers share one clone, and their numbers are held against scikit-learn's own intervals:
    cloning and inspecting constructors for each of them would take longer than many a fit.
    """
    kinds: list[_Alike] = []
    known: dict[Any, _Alike] = {}
    for s, setting in enumerate(family.settings):
        parameters = family.parameters(setting)
        numbers = {
            name: value for name, value in parameters.items() if is_plain_number(value)
        }
        key = likeness(parameters, numbers)
        alike = known.get(key)
        if alike is None or not alike.stands_for(numbers):
            candidate = _validated(family, setting)
            alike = _Alike(candidate, _ranges(candidate, numbers))
            known.setdefault(key, alike)
            kinds.append(alike)
        alike.which.append(s)
        alike.numbers.append(numbers)
    return [
        Kind(one.candidate, np.array(one.which), tuple(one.numbers)) for one in kinds
    ]


def is_plain_number(value: Any) -> bool:
    """Whether it is a finite int or float, NumPy's or Python's; NaN is a word for "missing" to some parameters."""
    if type(value) is int or isinstance(value, np.integer):
        return True
    return (type(value) is float or isinstance(value, np.floating)) and math.isfinite(
        value
    )


def likeness(
    parameters: Mapping[str, Any], numbers: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Equal for settings that differ in these numbers alone."""
    return (
        *numbers,
        tuple(
            (name, _sameness(value))
            for name, value in parameters.items()
            if name not in numbers
        ),
    )


def _sameness(value: Any) -> Any:
    """Equal for values that make the same estimator: words by what they say, objects by being one and the same."""
    return (
        (type(value), value)
        if isinstance(value, str | bool | np.bool_ | None)
        else id(value)
    )


def _ranges(
    candidate: Any, numbers: dict[str, Any]
) -> dict[str, list[Interval]] | None:
    """Parameter -> the intervals that scikit-learn allows it, or None where one may be more than a number in an attribute.

    Only steps of scikit-learn's own count, in plain pipelines: there a number changes neither what is valid nor the methods and
    tags of the estimator, while a class of somebody else's may look at it in set_params or in a tag.
    """
    found = {}
    for key in numbers:
        *steps, parameter = key.split("__")
        owner = candidate
        for name in steps:
            owner = dict(owner.steps).get(name) if type(owner) is Pipeline else None
        own = type(owner).__module__.startswith("sklearn.") and isinstance(
            owner, BaseEstimator
        )
        if not own or any(
            getattr(type(owner), name) is not getattr(BaseEstimator, name)
            for name in PLAIN
        ):
            return None
        constraints = getattr(owner, "_parameter_constraints", {}).get(parameter, ())
        found[key] = [
            constraint for constraint in constraints if isinstance(constraint, Interval)
        ]
        if not found[key]:
            return None
    return found


def _validated(family: Family, setting: Setting) -> Any:
    """A clone with this setting, each of whose steps scikit-learn has validated."""
    try:
        candidate = family.candidate(setting)
    except (TypeError, ValueError, AttributeError) as error:
        raise FamilyError(
            f"{family.label} cannot be set to {format_setting(setting)}: {error}"
        ) from None
    for part in [candidate, *candidate.get_params(deep=True).values()]:
        if isinstance(part, type) or not hasattr(part, "_parameter_constraints"):
            continue
        try:
            part._validate_params()
        except InvalidParameterError as error:
            raise FamilyError(
                f"{family.label} with {format_setting(setting) or 'no setting'}: {error}"
            ) from None
    return candidate


def estimator_label(estimator: Any) -> str:
    """Class names of the steps: "StandardScaler → KNeighborsClassifier"."""
    if type(estimator) is not Pipeline:
        return type(estimator).__name__
    return " → ".join(
        estimator_label(step)
        for _, step in estimator.steps
        if step not in (None, "passthrough")
    )


def format_setting(setting: Setting) -> str:
    """A setting as "C=10, gamma=0.1"."""
    return ", ".join(f"{key}={format_value(value)}" for key, value in setting.items())


def format_value(value: Any) -> str:
    """A value in six significant digits, or its repr on one line."""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if inspect.isroutine(value) or isinstance(value, np.ufunc):
        return value.__name__
    text = " ".join(
        repr(value.item() if isinstance(value, np.generic) else value).split()
    )
    text = ADDRESS.sub("", text)
    return text if len(text) <= 60 else text[:57] + "..."
