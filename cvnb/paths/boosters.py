"""XGBoost, LightGBM and CatBoost: a boosting of n rounds is the start of a longer one.

Their classes predict from their first rounds, and the numbers equal those of a fit of so
many rounds to the last bit, except with the parameters listed here. Rows and columns are
drawn round by round from a fixed seed. Nothing here imports the packages before the user's
own model has: a model is known by its module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..losses.loss import one_per_row
from ..runtime.cancel import Stop
from .base import Unsuited

Allowed = tuple[tuple[Any, ...], str]  # (values of a parameter, what is fast)
LEFT_OUT = "a model without it"


class Library(NamedTuple):
    """What a package calls things.

    rounds   names of the number of rounds; the first that a model has counts
    first    number of rounds -> options of `predict`
    allowed  parameter -> values with which fewer rounds are the start of more
    """

    rounds: tuple[str, ...]
    first: Callable[[int], dict[str, Any]]
    allowed: Mapping[str, Allowed]


def _same(allowed: tuple[Any, ...], remedy: str, *names: str) -> dict[str, Allowed]:
    """Return the same entry for several parameters."""
    return dict.fromkeys(names, (allowed, remedy))


LIBRARIES = {
    "xgboost": Library(
        ("n_estimators",),
        lambda n: {"iteration_range": (0, n)},
        {
            "booster": ((None, "gbtree"), "booster='gbtree'"),
            "device": ((None, "cpu"), "device='cpu'"),
            **_same((None,), LEFT_OUT, "early_stopping_rounds", "callbacks"),
        },
    ),
    "lightgbm": Library(
        (  # where one of the others is given, LightGBM ignores n_estimators
            *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees"),
            *("num_round", "num_rounds", "nrounds", "num_boost_round", "max_iter"),
            "n_estimators",
        ),
        lambda n: {"num_iteration": n},
        {
            **_same(
                ("gbdt", "gbrt", "goss", "rf", "random_forest"),
                "boosting_type='gbdt'",
                *("boosting_type", "boosting", "boost"),
            ),
            **_same(("cpu",), "device='cpu'", "device", "device_type"),
            **_same(
                (None, 0, -1),
                LEFT_OUT,
                *("early_stopping_round", "early_stopping_rounds"),
                *("early_stopping", "n_iter_no_change"),
            ),
        },
    ),
    "catboost": Library(
        ("iterations", "n_estimators", "num_boost_round", "num_trees"),
        lambda n: {"ntree_end": n},
        {
            "task_type": ((None, "CPU"), "task_type='CPU'"),
            **_same(
                (None,),
                LEFT_OUT,
                *("early_stopping_rounds", "od_pval", "od_type", "od_wait"),
                *("diffusion_temperature", "monotone_constraints", "snapshot_file"),
            ),
            **_same(
                (None, 0, False),
                LEFT_OUT,
                *("eval_fraction", "langevin", "model_shrink_rate"),
                *("posterior_sampling", "save_snapshot", "use_best_model"),
            ),
        },
    ),
}


def library_of(model: Any) -> str:
    """Return the package of the model if it is one of these, else ""."""
    package = type(model).__module__.partition(".")[0]
    return package if package in LIBRARIES else ""


def axis_of(model: Any) -> str:
    """Return the parameter that is the number of rounds."""
    names, parameters = LIBRARIES[library_of(model)].rounds, model.get_params()
    return next((name for name in names if name in parameters), names[0])


def refuses(model: Any) -> str:
    """Return why fewer rounds of this model are not the start of more; "" if they are."""
    package, parameters = library_of(model), model.get_params()
    library = LIBRARIES[package]
    for name, value in parameters.items():
        values, remedy = library.allowed.get(name, ((value,), ""))
        if remedy and not (isinstance(value, Hashable) and value in values):
            return f"{name}, which ties a fit to its number of rounds; {remedy} is fast"
    for name in ("objective", "loss_function"):
        if not isinstance(parameters.get(name), str | None):
            return f"{name} of your own, which may look at the number of rounds"
    names = [name for name in library.rounds if name in parameters]
    if package == "lightgbm" and len(names) > 2:
        return f"{' and '.join(names[:2])}, two names of one parameter; one of them is fast"
    if package == "catboost" and not {"learning_rate", "eta"} & parameters.keys():
        return (
            "no learning_rate, which CatBoost derives from the number of rounds; a model "
            "with one is fast"
        )
    return ""


def refuses_seed(estimator: Any) -> str:
    """Return why the seed of the user's own estimator gives no two equal fits; "" if it does."""
    state = getattr(estimator, "random_state", None)
    if library_of(estimator) == "xgboost" and not isinstance(state, Integral | None):
        return "random_state from which every copy draws anew; an integer is fast"
    return ""


def check_rounds(axis: str, sizes: list[Any]) -> None:
    """Refuse what is no number of rounds: zero means "all" to some packages."""
    for size in sizes:
        if not (size is None or (type(size) is int and size > 0)):
            raise Unsuited(
                f"{axis}={size!r} is no number of rounds, and only a refit shows what it does"
            )


def predictions_of_rounds(
    model: Any, X: Any, sizes: list[Any], method: str
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """Yield (predictions, scores of the method or None) of the first rounds, for each size.

    None is the model's own default, which is all of its rounds.
    """
    first = LIBRARIES[library_of(model)].first
    for size in sizes:
        options = {} if size is None else first(size)
        values = one_per_row(model, model.predict(X, **options))
        yield values, getattr(model, method)(X, **options) if method else None


def fit_watched(
    model: Any, X: Any, y: Any, options: dict[str, Any], stop: Stop
) -> None:
    """Fit the model, looking at the stop flag after each round; callbacks change no number."""
    package = library_of(model)
    if package == "xgboost":
        model.set_params(callbacks=[_xgboost_callback(stop)])
        model.fit(X, y, **options)
    elif package == "lightgbm":
        model.fit(X, y, **options, callbacks=[lambda _: stop.check()])
    else:
        model.fit(X, y, **options, callbacks=[_CatBoostCallback(stop)])


def _xgboost_callback(stop: Stop) -> Any:
    """Return a callback of XGBoost, which takes none but those of its own class."""
    base = sys.modules["xgboost"].callback.TrainingCallback

    class Callback(base):  # type: ignore[misc, valid-type]
        def after_iteration(self, *_: Any) -> bool:
            stop.check()  # an end by True would prepare all rounds so far for use
            return False

    return Callback()


class _CatBoostCallback:
    def __init__(self, stop: Stop) -> None:
        self.stop = stop

    def after_iteration(self, _: Any) -> bool:
        """Return whether to go on."""
        return not self.stop.is_set()
