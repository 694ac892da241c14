"""Calls with words of other packages: what to type instead.

Functions decorated with `explained` refuse an unknown keyword with the name of the argument that
was probably meant, and read `f(model, grid, X, y)` as `f((model, grid), X, y)`.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from .errors import WrongTypeError

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

# word of scikit-learn and others -> arguments of cvnb
MEANT: dict[str, tuple[str, ...]] = {
    "cv": ("outer", "inner"),
    "folds": ("outer",),
    "n_folds": ("outer",),
    "n_splits": ("outer",),
    "k_folds": ("outer",),
    "inner_cv": ("inner",),
    "outer_cv": ("outer",),
    "random_state": ("seed",),
    "random_seed": ("seed",),
    "estimator": ("family",),
    "model": ("family",),
    "classifier": ("family",),
    "regressor": ("family",),
    "clf": ("family",),
    "pipeline": ("family",),
    "models": ("family",),
    "param_grid": ("grid",),
    "params": ("grid",),
    "parameters": ("grid",),
    "param_distributions": ("grid",),
    "n_iter": ("n",),
    "n_trials": ("n",),
    "scorer": ("scoring",),
    "score": ("scoring",),
    "metric": ("scoring",),
    "metrics": ("scoring",),
    "group": ("groups",),
    "time": ("times",),
    "dates": ("times",),
    "timestamps": ("times",),
    "gap": ("buffer",),
    "embargo": ("buffer",),
    "bins": ("stratify",),
    "weights": ("sample_weight",),
    "weight": ("sample_weight",),
    "sample_weights": ("sample_weight",),
    "jobs": ("n_jobs",),
    "n_workers": ("n_jobs",),
    "verbose": ("progress",),
    "data": ("X",),
    "target": ("y",),
    "labels": ("y",),
    "n_neighbors": ("k",),
}
OF_RECIPE = (
    "outer",
    "inner",
    "seed",
    "shuffle",
    "stratify",
    "time_ordered",
    "buffer",
    "test_rows",
    "dev_rows",
)
OF_RUN = (
    "groups",
    "sample_weight",
    "loss",
    "scoring",
    "select",
    "flat",
    "n_jobs",
    "path",
    "progress",
    "times",
)


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """Make this function refuse unknown keywords by name, and take a grid after the model."""
    parameters = inspect.signature(function).parameters
    names = list(parameters)
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    called = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        if not takes_any:
            _refuse_unknown(called, keywords, names)
        if "family" in names:
            args = _with_pair(args, keywords, names.index("family"))
        return function(*args, **keywords)

    return call


def explained_class(own: type[C]) -> type[C]:
    """Make the constructor of this class refuse unknown keywords by name."""
    own.__init__ = explained(own.__init__)  # type: ignore[method-assign]
    return own


def _refuse_unknown(called: str, given: Iterable[str], names: Iterable[str]) -> None:
    known = [name for name in names if name != "self"]
    for word in given:
        if word not in known:
            raise WrongTypeError(
                f"{called} takes no {word}={_instead(word, called, known)}"
            )


def _instead(word: str, called: str, known: list[str]) -> str:
    """Return what to type instead of an unknown keyword."""
    meant = MEANT.get(word, (word,))
    if meant == ("family",) and "estimator" in known:  # of NestedCV and Family
        meant = ("estimator",)
    if set(meant) <= set(known):
        return f"; use {_listed(meant)}."
    if meant == ("grid",) and "family" in known:
        return f"; give the grid after the model: {called}(model, grid, X, y)."
    if set(meant) <= set(OF_RECIPE):
        values = ", ".join(f"{name}=..." for name in meant)
        return f"; that is for the recipe: Recipe({values}).run(model, X, y)."
    if set(meant) <= set(OF_RUN):
        return f"; that is for the run: recipe.run(model, X, y, {meant[0]}=...)."
    in_lower_case = {name.lower(): name for name in known}
    if close := difflib.get_close_matches(word.lower(), in_lower_case, n=1):
        return f". Did you mean {in_lower_case[close[0]]}=?"
    return f"; it takes {', '.join(known)}."


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"{name}=" for name in names)


def _with_pair(
    args: tuple[Any, ...], keywords: Mapping[str, Any], place: int
) -> tuple[Any, ...]:
    """Return the arguments with model and grid as one pair, if a grid follows the model.

    place  of the model among the arguments
    """
    after = args[place + 1 :]
    n_given = len(after) + sum(name in keywords for name in ("X", "y"))
    if not after or not is_grid(after[0]) or n_given < 3:  # grid, X and y
        return args
    return *args[:place], (args[place], after[0]), *after[1:]


def is_grid(value: Any) -> bool:
    """Whether the value is a dict, or a list of dicts, and holds no data.

    >>> is_grid({"C": [1, 10]}), is_grid([{"C": [1]}, {}]), is_grid([[1.0], [2.0]])
    (True, True, False)
    """
    if isinstance(value, Mapping):  # as a Bunch and a sparse dok_matrix are, too
        return not (hasattr(value, "target") or hasattr(value, "shape"))
    is_list = isinstance(value, list | tuple) and len(value) > 0
    return is_list and all(isinstance(part, Mapping) for part in value)
