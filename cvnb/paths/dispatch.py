"""Which path a family takes on these data, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..families import registry
from ..families.algorithm import Algorithm
from ..families.family import Family, Kind
from ..losses.loss import Loss
from ..splits.layouts import Pairs
from ..splits.plan import Plan
from .after_transformers import Behind
from .base import Draw, Path, Unsuited
from .measure import Meter
from .prefix import Stages
from .problem import (
    Problem,
    Request,
    combinations_of,
    is_default_scaler,
    numbers_of,
    steps_of,
)
from .refit import Refit, chain_key


def choose_path(
    family: Family,
    kinds: list[Kind],
    draws: Sequence[Draw],
    loss: Loss,
    task: str,
    wanted: str,
) -> Path:
    """The fastest exact way for this family on these draws."""
    if wanted == "refit":
        return Refit(family, draws, loss, "asked for")
    try:
        algorithm = _recognised(kinds, loss, task)
        meters = [Meter(loss, draw.data, task) for draw in draws]
        path = algorithm.prepare(Request(algorithm, family, kinds, draws, meters))
    except Unsuited as why:
        return Refit(family, draws, loss, f"one fit per setting and split: {why}")
    path.algorithm = algorithm
    return path


def _recognised(kinds: list[Kind], loss: Loss, task: str) -> Algorithm:
    """The one algorithm that serves the last step of every setting."""
    steps = [steps_of(kind.candidate) for kind in kinds]
    if any(parts is None for parts in steps):
        raise Unsuited("the steps of this pipeline cannot be taken one by one")
    lasts = [parts[1] for parts in steps if parts is not None]
    found = {type(last): registry.recognised(type(last)) for last in lasts}
    if unknown := [
        model.__name__ for model, algorithm in found.items() if algorithm is None
    ]:
        failed = "".join(
            f"; the entry point {name!r} failed: {why}"
            for name, why in registry.PLUG_INS.failed.items()
        )
        raise Unsuited(f"no other exact way is known for {unknown[0]}{failed}")
    algorithm, *others = dict.fromkeys(found.values())
    if others or algorithm is None:
        raise Unsuited("the grid holds models of several kinds")
    if any(is_classifier(last) != (task == "classification") for last in lasts):
        raise Unsuited(
            "the grid puts a classifier among regressions, or a regression among classifiers"
        )
    if not Meter.knows(loss):
        raise Unsuited("a scorer of your own may look at the fitted estimator")
    return algorithm


def staged(request: Request) -> Path:
    """One fit of the largest model in each split, where that spares fits."""
    _refuse(request.algorithm.refuses, request.models)
    if any(request.aheads):
        _refuse_replaced_steps(request.family)
    path = Stages(request.family, request.kinds, request.draws, request.meters)
    if not path.saves:
        raise Unsuited(f"no fit of {path.model_name} serves two settings of this grid")
    return path


def solved(request: Request) -> Path:
    """A computation of our own: every split at once, or split by split behind transformers."""
    algorithm, meter = request.algorithm, request.meter
    data, combinations = meter.data, combinations_of(request.kinds, algorithm.axis_of)
    if (
        meter.classes is None
        and data.y.dtype.kind == "f"
        and data.y.dtype != np.float64
    ):
        raise Unsuited(
            f"y is {data.y.dtype}, and scikit-learn computes in that precision"
        )
    _refuse(algorithm.refuses, [one.model for one in combinations])
    if algorithm.iterated and 2 * len(combinations) > sum(
        one.which.size for one in combinations
    ):
        raise Unsuited(
            f"no fit of {type(combinations[0].model).__name__} serves two settings of this grid"
        )
    if data.weights is not None and not _are_tame(data.weights):
        raise Unsuited("some weight is too small or too large to be squared")
    if algorithm.sweep is None or not _only_scalers(request):
        return _behind(request)
    X, why = numbers_of(data)
    if (
        X is not None
        and X.dtype != np.float64
        and X.dtype.kind == "f"
        and any(map(algorithm.in_float32, combinations))
    ):
        why = f"X is {X.dtype}, and scikit-learn computes in that precision"
    if X is None or why or any(_repeats(draw.plan) for draw in request.draws):
        raise Unsuited(why or "a training part holds a row more than once")
    X = np.ascontiguousarray(X, dtype=np.float64)
    return algorithm.sweep(
        Problem(X, request.draws, request.meters, tuple(combinations))
    )


def _behind(request: Request) -> Any:
    """Split by split; what it costs is known where nothing but a scaler stands ahead and the algorithm tells it."""
    if any(request.aheads):
        _refuse_replaced_steps(request.family)
    path: Any = Behind(
        request.family, request.kinds, request.draws, request.meters, request.algorithm
    )
    if request.algorithm.cost is not None and _only_scalers(request):
        n_values = [one.values.size for every in path.chains.values() for one in every]
        path.cost = _of_all_splits(request, request.algorithm.cost, n_values)
    return path


def _of_all_splits(
    request: Request, cost: Callable[[int, int, int], float], n_values: list[int]
) -> float:
    n_columns, total = request.meter.data.n_columns, 0.0
    levels = [splits for draw in request.draws for _, splits in draw.plan.levels()]
    sizes = [splits.layout.sizes()[:, 0] for splits in levels if len(splits)]
    for size, times in zip(
        *np.unique(np.concatenate(sizes), return_counts=True), strict=True
    ):
        total += int(times) * sum(
            float(cost(int(size), n_columns, n)) for n in n_values
        )
    return total


def _only_scalers(request: Request) -> bool:
    """Whether nothing but one StandardScaler stands ahead of any last step."""
    return all(
        not ahead or (len(ahead) == 1 and is_default_scaler(ahead[0]))
        for ahead in request.aheads
    )


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
    layouts = [
        *plan.inner_kept,
        *([] if plan.outer_layout is None else [plan.outer_layout]),
    ]
    pairs = [
        pair for layout in layouts if isinstance(layout, Pairs) for pair in layout.pairs
    ]
    return any(np.bincount(train).max() > 1 for train, _ in pairs if train.size)
