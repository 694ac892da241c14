"""Which path a family takes on these data, and why."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from ..data import Data
from ..families import Family, Kind
from ..layouts import Pairs
from ..loading import load
from ..losses import Loss
from ..plan import Plan
from .base import Path, Sweep
from .behind import Behind
from .measure import Meter
from .problem import Problem, Solver, combinations_of, is_default_scaler, numbers_of, steps_of
from .refit import Refit, chain_key

NEIGHBOURS = (KNeighborsClassifier, KNeighborsRegressor)
RIDGES, OLS = (Ridge, RidgeClassifier), (LinearRegression,)


@cache
def solvers() -> tuple[Solver, ...]:
    """All of them; only here Numba is imported."""
    load(f"{__package__}.knn", f"{__package__}.ridge")
    from . import knn, ridge

    linear = (ridge.refuses, lambda one: True, ridge.LinearSweep, ridge.answers_of_split)
    return (
        Solver("knn", NEIGHBOURS, knn.AXIS, knn.COUNTED, knn.refuses, knn.in_float32, knn.KnnSweep, knn.answers_of_split),
        Solver("ridge", RIDGES, ridge.AXIS, "margins", *linear),
        Solver("ols", OLS, ridge.AXIS, "margins", *linear),
    )


def choose_path(family: Family, kinds: list[Kind], data: Data, loss: Loss, task: str, plan: Plan, wanted: str) -> Path | Sweep:
    """The fastest exact way for this family on this plan."""
    if wanted == "refit":
        return Refit(family, data, loss, "asked for")
    found = _solver(kinds, data, loss, task)
    if isinstance(found, str):
        return Refit(family, data, loss, f"one fit per setting and split: {found}")
    combinations = combinations_of(kinds, found.axis)
    if refused := next(filter(None, (found.refuses(one.model) for one in combinations)), ""):
        name = type(combinations[0].model).__name__
        return Refit(family, data, loss, f"one fit per setting and split: {name} with {refused}")
    if data.weights is not None and not _are_tame(data.weights):
        return Refit(family, data, loss, "one fit per setting and split: some weight is too small or too large to be squared")
    meter, aheads = Meter(loss, data, task), [parts[0] for kind in kinds if (parts := steps_of(kind.candidate))]
    if any(ahead and not (len(ahead) == 1 and is_default_scaler(ahead[0])) for ahead in aheads):
        if any(chain_key(family, setting) is None for setting in family.settings):
            return Refit(family, data, loss, "one fit per setting and split: the grid replaces the steps of the pipeline")
        return Behind(family, kinds, meter, found)
    X, why = numbers_of(data)
    if X is not None and X.dtype != np.float64 and X.dtype.kind == "f" and any(map(found.in_float32, combinations)):
        why = f"X is {X.dtype}, and scikit-learn computes in that precision"
    if X is None or why or _repeats(plan):
        why = why or "a training part holds a row more than once"
        return Refit(family, data, loss, f"one fit per setting and split: {why}")
    X = np.ascontiguousarray(X, dtype=np.float64)
    return found.sweep(Problem(X, data, meter, tuple(combinations)), plan)


def _solver(kinds: list[Kind], data: Data, loss: Loss, task: str) -> Solver | str:
    """The solver that knows these models, or the reason why none does."""
    steps = [steps_of(kind.candidate) for kind in kinds]
    if any(parts is None for parts in steps):
        return "the steps of this pipeline cannot be taken one by one"
    lasts = [parts[1] for parts in steps if parts is not None]
    models = next((models for models in (NEIGHBOURS, RIDGES, OLS) if all(type(last) in models for last in lasts)), None)
    if models is None:
        other = next((last for last in lasts if type(last) not in NEIGHBOURS + RIDGES + OLS), None)
        return (
            f"no other exact way is known for {type(other).__name__}"
            if other is not None
            else "the grid holds models of several kinds"
        )
    solver = next(one for one in solvers() if one.models == models)
    if any(is_classifier(last) != (task == "classification") for last in lasts):
        return "the grid puts a classifier among regressions, or a regression among classifiers"
    if not Meter.knows(loss):
        return "a scorer of your own may look at the fitted estimator"
    if task == "regression" and data.y.dtype.kind == "f" and data.y.dtype != np.float64:
        return f"y is {data.y.dtype}, and scikit-learn computes in that precision"
    return solver


def _are_tame(weights: np.ndarray) -> bool:
    """Whether products of weights neither vanish nor overflow."""
    given = weights[weights > 0]
    return bool(given.size and given.min() > 1e-100 and given.max() < 1e100)


def _repeats(plan: Plan) -> bool:
    """Whether some training part given as a list holds a row twice."""
    layouts = [*plan.inner_kept, *([] if plan.outer_layout is None else [plan.outer_layout])]
    pairs = [pair for layout in layouts if isinstance(layout, Pairs) for pair in layout.pairs]
    return any(np.unique(train).size < train.size for train, _ in pairs)
