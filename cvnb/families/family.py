"""Family: a learning algorithm with free parameters, {A_θ : θ in its grid}.

A family is any scikit-learn estimator with a grid for ParameterGrid or ParameterSampler, or a
GridSearchCV or RandomizedSearchCV. The short-hands are families too: they build their estimator
once the task is known, and their settings read {"k": 3}, not
{"kneighborsclassifier__n_neighbors": 3}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import check_cv

from ..calls import explained
from ..errors import FamilyError, WrongTypeError
from ..splits.specs import read_once
from .checks import check_estimator, check_keys, list_settings
from .distributions import distribution_text, grid_text, is_distribution
from .labels import Setting, estimator_label
from .searches import OPENED, Drawing, drawing_of, opened
from .setting_groups import check_parameters


class Family:
    """An estimator and its grid.

    estimator   a scikit-learn estimator, or a GridSearchCV or RandomizedSearchCV, which brings
                its grid, cv and scoring
    grid        as for ParameterGrid: {"alpha": [0.1, 1.0]}, or a list of such dicts; {} is one
                setting, the estimator as it is. With n also distributions of scipy.stats
    name        the name to display; default: the class names of the steps
    n           number of settings to draw, once, for every split
    draw        "random", as ParameterSampler draws them, or "sobol": points of a scrambled Sobol
                sequence, which fill the ranges more evenly
    seed        of the draw

    >>> from sklearn.linear_model import Ridge
    >>> family = Family(Ridge(), {"alpha": [0.1, 1.0]})
    >>> family
    Family(Ridge(), {'alpha': [0.1, 1.0]})
    >>> family.label, family.settings, family.task("classification")
    ('Ridge', [{'alpha': 0.1}, {'alpha': 1.0}], 'regression')
    >>> family.candidate({"alpha": 0.1})
    Ridge(alpha=0.1)
    >>> from scipy.stats import loguniform
    >>> drawn = Family(Ridge(), {"alpha": loguniform(1e-3, 1e3)}, n=60)
    >>> drawn, len(drawn.settings)
    (Family(Ridge(), {'alpha': loguniform(0.001, 1000.0)}, n=60), 60)
    """

    cv: Any = None
    scoring: Any = None
    search: Any = None
    drawing: Drawing | None = None
    call: tuple[str, dict[str, Any]] | None = None  # the short-hand and its keywords

    @explained
    def __init__(
        self,
        estimator: Any,
        grid: Any = None,
        name: str | None = None,
        n: int | None = None,
        draw: str = "random",
        seed: int = 0,
    ) -> None:
        if isinstance(estimator, Family):
            raise WrongTypeError(_with_own_grid(estimator, grid))
        drawing = drawing_of(n, draw, seed)
        if type(estimator) in OPENED:
            if grid is not None or drawing is not None:
                raise FamilyError(
                    f"a {type(estimator).__name__} brings its own grid; give its estimator and "
                    "your grid instead."
                )
            self.search = search = estimator
            self.cv, self.scoring = search.cv, search.scoring
            estimator, grid, drawing = opened(search)
        check_estimator(estimator)
        self.estimator, self.name, self.drawing = estimator, name, drawing
        self.grid = {} if grid is None else _kept(grid)
        self.aliases: dict[str, str] = {}
        self.settings = list_settings(self.grid, drawing)
        check_keys(self.estimator, self.settings)

    @property
    def label(self) -> str:
        """The name to display."""
        return self.name or estimator_label(self.estimator)

    @property
    def kind(self) -> Any:
        """An estimator with the right scikit-learn tags; None if they depend on y."""
        return self.estimator

    def task(self, task_of_y: str) -> str:
        """Return the estimator's task; the task of y if the estimator has none."""
        if is_classifier(self.estimator):
            return "classification"
        return "regression" if is_regressor(self.estimator) else task_of_y

    def resolved(self, task: str, smallest: int) -> Family:
        """Return a family with an estimator and a grid; a short-hand builds them here.

        task: "classification" or "regression"
        smallest: number of rows of the smallest training part
        """
        return self

    def parameters(self, setting: Setting) -> dict[str, Any]:
        """Return the setting by the estimator's own parameter names."""
        return {self.aliases.get(key, key): value for key, value in setting.items()}

    def candidate(self, setting: Setting) -> Any:
        """Return an unfitted clone with this setting; values that are estimators are cloned."""
        parameters = self.parameters(setting)
        clones = {key: clone(value, safe=False) for key, value in parameters.items()}
        return clone(self.estimator).set_params(**clones)

    def inner_splitter(self, y: np.ndarray) -> Any:
        """Return the splitter for the cv of the search it was made of, or None without one."""
        if self.cv is None:
            return None
        try:
            return check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        except (TypeError, ValueError) as error:
            raise FamilyError(
                f"{type(self.search).__name__}(cv={self.cv!r}) splits nothing: {error}"
            ) from None

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        from ..views.inputs import family_bundle

        return family_bundle(self)

    def __repr__(self) -> str:
        if self.call:
            name, keywords = self.call
            arguments = [f"{key}={value!r}" for key, value in keywords.items()]
            return f"{name}({', '.join(arguments)})"
        more = "".join(f", {key}={value!r}" for key, value in keywords_of(self).items())
        grid = grid_text(self.grid) if self.drawing else repr(self.grid)
        return f"Family({self.estimator!r}, {grid}{more})"


class ShortHand(Family):
    """A family by its common name, whose repr is the call that makes it.

    The estimator is built once the task is known, the default grid once the size of the
    training parts is known.
    """

    def __init__(
        self,
        name: str,
        task: str,
        build: Callable[[str], Any],
        axes: Mapping[str, tuple[str, Any, Any]],
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Check everything that does not need the data.

        name: the name of the function
        task: "auto", "classification" or "regression"
        build: task -> Pipeline
        axes: name -> (parameter of the last step, values or None, default): its values,
            or a function of the smallest training part
        options: other keywords of the call that are not at their defaults
        """
        self._axes = {
            axis: (parameter, read_once(values), default)
            for axis, (parameter, values, default) in axes.items()
        }
        self.name, self.wanted_task, self._build = name, task, build
        self.estimator = self.grid = None
        given = {axis: v for axis, (_, v, _) in self._axes.items() if v is not None}
        self.call = name, {**given, **(options or {})}
        if task not in ("auto", "classification", "regression"):
            raise FamilyError(
                f"task={task!r} must be 'auto', 'classification' or 'regression'."
            )
        any_task = "regression" if task == "regression" else "classification"
        check_parameters(self.resolved(any_task, 2))  # refuse a wrong value here

    @property
    def label(self) -> str:
        return str(self.name)

    @property
    def kind(self) -> Any:
        return None if self.wanted_task == "auto" else self._build(self.wanted_task)

    def task(self, task_of_y: str) -> str:
        return task_of_y if self.wanted_task == "auto" else self.wanted_task

    def resolved(self, task: str, smallest: int) -> Family:
        pipeline = self._build(task)
        last = pipeline.steps[-1][0]
        family = Family(pipeline, {}, self.name)
        for axis, (parameter, values, default) in self._axes.items():
            if values is None:
                values = default(smallest) if callable(default) else default
            family.grid[axis] = one_or_more(values)
            family.aliases[axis] = f"{last}__{parameter}"
        family.settings, family.call = list_settings(family.grid), self.call
        return family


def _kept(grid: Any) -> Any:
    """Return a grid that can be read again: the list of an iterator of dicts."""
    return grid if isinstance(grid, Mapping) else read_once(grid)


def _with_own_grid(family: Family, grid: Any) -> str:
    """Return the message on a Family, which has a grid, where an estimator is expected."""
    start = f"{family!r} is a Family already"
    if not grid or family.call is None:
        return f"{start}; pass it as it is."
    return f"{start}; give its values in the call: {family.call[0]}(...)."


def one_or_more(values: Any) -> list[Any]:
    """Return the values of one axis of a short-hand as a list; a single value is allowed."""
    if is_distribution(values):
        drawn = f"{distribution_text(values)}.rvs(60, random_state=0)"
        raise FamilyError(
            f"{distribution_text(values)} is a distribution, and short-hands take values; draw "
            f"them: {drawn}."
        )
    is_many = isinstance(values, Iterable) and not isinstance(values, str)
    return list(values) if is_many else [values]


def keywords_of(family: Family) -> dict[str, Any]:
    """Return what follows estimator and grid in the call that makes this family."""
    drawing = family.drawing
    given = {"name": family.name} | (asdict(drawing) if drawing else {})
    defaults = {"name": None, "draw": "random", "seed": 0}
    return {key: value for key, value in given.items() if value != defaults.get(key)}


def as_families(value: Any) -> Family | dict[str, Family]:
    """Return the Family of an estimator, a pair or a search; for a dict, one by name."""
    if isinstance(value, Family):
        return value
    if isinstance(value, Mapping):
        if not value:
            raise FamilyError(
                "a comparison needs at least one family, got an empty dict."
            )
        families = {str(name): as_families(member) for name, member in value.items()}
        for name, family in families.items():
            if isinstance(family, dict):
                raise FamilyError(
                    f"{name!r} is a dict inside a dict of families; an (estimator, grid) "
                    "pair is a tuple."
                )
        return families  # type: ignore[return-value]
    if isinstance(value, tuple) and len(value) == 2:
        return Family(*value)
    return Family(value)
