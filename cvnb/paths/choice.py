"""Which path a family takes on these data, and why."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from ..data import Data
from ..families import Family, Kind
from ..layouts import Pairs
from ..loading import load
from ..losses import Loss
from ..plan import Plan
from . import own, stages
from .base import Path, Sweep, Unsuited
from .behind import Behind
from .measure import Meter
from .problem import Problem, Solver, combinations_of, is_default_scaler, numbers_of, steps_of
from .refit import Refit, chain_key

NEIGHBOURS = (KNeighborsClassifier, KNeighborsRegressor)
RIDGES, OLS, LASSOS = (Ridge, RidgeClassifier), (LinearRegression,), (Lasso, ElasticNet)
LOGISTIC = (LogisticRegression,)
ITERATED = (LASSOS, LOGISTIC)  # scikit-learn stops short of the minimum: where no fit is spared its own numbers are given
STAGED = (stages.TREES, stages.BOOSTING, stages.FORESTS)
GROUPS = (NEIGHBOURS, RIDGES, OLS, LASSOS, LOGISTIC, *STAGED)


@cache
def solvers() -> tuple[Solver, ...]:
    """All of them; only here Numba is imported."""
    load(f"{__package__}.knn", f"{__package__}.ridge")
    from . import knn, lasso, logistic, ridge

    linear = (lambda one: True, ridge.LinearSweep, ridge.answers_of_split)
    along_C = (lambda one: True, logistic.LogisticSweep, logistic.answers_of_split)
    return (
        Solver("knn", NEIGHBOURS, knn.AXIS, knn.COUNTED, knn.refuses, knn.in_float32, knn.KnnSweep, knn.answers_of_split),
        Solver("ridge", RIDGES, ridge.AXIS, "margins", ridge.refuses, *linear),
        Solver("ols", OLS, ridge.AXIS, "margins", ridge.refuses, *linear),
        Solver("lasso", LASSOS, ridge.AXIS, "margins", lasso.refuses, *linear),
        Solver("logistic", LOGISTIC, logistic.AXIS, logistic.COUNTED, logistic.refuses, *along_C),
    )


def choose_path(family: Family, kinds: list[Kind], data: Data, loss: Loss, task: str, plan: Plan, wanted: str) -> Path | Sweep:
    """The fastest exact way for this family on this plan."""
    if wanted == "refit":
        return Refit(family, data, loss, "asked for")
    try:
        models = _models(kinds, loss, task)
        if models in STAGED:
            return _staged(family, kinds, Meter(loss, data, task))
        meter = Meter(loss, data, task)
        if (added := own.ADDED.get(models[0])) is not None:
            own.check_suits(meter)
            return _solved(added, family, own.together(family, kinds), meter, plan)
        return _solved(next(one for one in solvers() if one.models == models), family, kinds, meter, plan)
    except Unsuited as why:
        return Refit(family, data, loss, f"one fit per setting and split: {why}")


def _models(kinds: list[Kind], loss: Loss, task: str) -> tuple[type, ...]:
    """The models, one of which each last step is, and which one path serves."""
    steps = [steps_of(kind.candidate) for kind in kinds]
    if any(parts is None for parts in steps):
        raise Unsuited("the steps of this pipeline cannot be taken one by one")
    lasts = [parts[1] for parts in steps if parts is not None]
    groups = (*GROUPS, *((model,) for model in own.ADDED))
    models = next((models for models in groups if all(type(last) in models for last in lasts)), None)
    if models is None:
        unknown = [type(last).__name__ for last in lasts if not any(type(last) in models for models in groups)]
        if unknown:
            raise Unsuited(f"no other exact way is known for {unknown[0]}")
        raise Unsuited("the grid holds models of several kinds")
    if any(is_classifier(last) != (task == "classification") for last in lasts):
        raise Unsuited("the grid puts a classifier among regressions, or a regression among classifiers")
    if not Meter.knows(loss):
        raise Unsuited("a scorer of your own may look at the fitted estimator")
    return models


def _staged(family: Family, kinds: list[Kind], meter: Meter) -> Path:
    """One fit of the largest model in each split, where that spares fits."""
    _refuse(stages.refuses, [parts[1] for kind in kinds if (parts := steps_of(kind.candidate))])
    if any(_aheads(kinds)):
        _refuse_replaced_steps(family)
    path = stages.Stages(family, kinds, meter)
    if not path.saves:
        raise Unsuited(f"no fit of {path.model_name} serves two settings of this grid")
    return path


def _solved(solver: Solver, family: Family, kinds: list[Kind], meter: Meter, plan: Plan) -> Path | Sweep:
    """A computation of our own."""
    data, combinations = meter.data, combinations_of(kinds, lambda kind: solver.axis)
    if meter.classes is None and data.y.dtype.kind == "f" and data.y.dtype != np.float64:
        raise Unsuited(f"y is {data.y.dtype}, and scikit-learn computes in that precision")
    _refuse(solver.refuses, [one.model for one in combinations])
    if solver.models in ITERATED and 2 * len(combinations) > sum(one.which.size for one in combinations):
        raise Unsuited(f"no fit of {type(combinations[0].model).__name__} serves two settings of this grid")
    if data.weights is not None and not _are_tame(data.weights):
        raise Unsuited("some weight is too small or too large to be squared")
    if solver.sweep is None or any(ahead and not _is_scaler(ahead) for ahead in _aheads(kinds)):
        if any(_aheads(kinds)):
            _refuse_replaced_steps(family)
        return Behind(family, kinds, meter, solver)
    X, why = numbers_of(data)
    if X is not None and X.dtype != np.float64 and X.dtype.kind == "f" and any(map(solver.in_float32, combinations)):
        why = f"X is {X.dtype}, and scikit-learn computes in that precision"
    if X is None or why or _repeats(plan):
        raise Unsuited(why or "a training part holds a row more than once")
    X = np.ascontiguousarray(X, dtype=np.float64)
    return solver.sweep(Problem(X, data, meter, tuple(combinations)), plan)


def _is_scaler(ahead: list[Any]) -> bool:
    return len(ahead) == 1 and is_default_scaler(ahead[0])


def _aheads(kinds: list[Kind]) -> list[list[Any]]:
    """The transformers of each kind."""
    return [parts[0] for kind in kinds if (parts := steps_of(kind.candidate))]


def _refuse(refuses: Callable[[Any], str], models: list[Any]) -> None:
    if why := next(filter(None, map(refuses, models)), ""):
        raise Unsuited(f"{type(models[0]).__name__} with {why}")


def _refuse_replaced_steps(family: Family) -> None:
    if any(chain_key(family, setting) is None for setting in family.settings):
        raise Unsuited("the grid replaces the steps of the pipeline")


def _are_tame(weights: np.ndarray) -> bool:
    """Whether products of weights neither vanish nor overflow."""
    given = weights[weights > 0]
    return bool(given.size and given.min() > 1e-100 and given.max() < 1e100)


def _repeats(plan: Plan) -> bool:
    """Whether some training part given as a list holds a row twice."""
    layouts = [*plan.inner_kept, *([] if plan.outer_layout is None else [plan.outer_layout])]
    pairs = [pair for layout in layouts if isinstance(layout, Pairs) for pair in layout.pairs]
    return any(np.bincount(train).max() > 1 for train, _ in pairs if train.size)
