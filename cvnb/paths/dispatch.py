"""Which path a family takes on these data, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from ..families import registry
from ..families.algorithm import Algorithm
from ..families.family import Family
from ..families.setting_groups import SettingGroup
from ..losses.loss import Loss
from ..splits.layouts import Pairs
from ..splits.plan import Plan
from .after_transformers import AfterTransformers
from .base import Draw, Path, Unsuited
from .boosters import refuses_seed
from .measure import LossEvaluator
from .narrow import widened
from .prefix import PrefixPath
from .problem import (
    Combination,
    Problem,
    Request,
    combinations_of,
    is_default_scaler,
    numbers_of,
    plain_steps_of,
    steps_of,
)
from .refit import Refit, chain_key

if TYPE_CHECKING:
    from ..engine.work import Work


def choose_path(work: Work, draws: Sequence[Draw]) -> Path:
    """Return the fastest exact path for this work on these splits and targets."""
    family, kinds, loss, task = work.family, work.kinds, work.loss, work.task
    if work.path == "refit":
        return Refit(family, draws, loss, "as requested")
    try:
        algorithm = _recognised(kinds, loss, task)
        evaluators = [LossEvaluator(loss, draw.data, task) for draw in draws]
        path = algorithm.prepare(Request(algorithm, family, kinds, draws, evaluators))
    except Unsuited as why:
        return Refit(family, draws, loss, f"one fit per setting and split: {why}")
    path.algorithm = algorithm
    return path


def _recognised(kinds: list[SettingGroup], loss: Loss, task: str) -> Algorithm:
    """Return the algorithm that serves the last step of every setting."""
    steps = [parts for kind in kinds if (parts := steps_of(kind.candidate))]
    if len(steps) < len(kinds):
        raise Unsuited(
            "the steps of this pipeline cannot be taken one by one; a plain Pipeline is fast"
        )
    models = [last for _, last in steps]
    algorithms: dict[Algorithm, None] = {}
    for model_class in dict.fromkeys(map(type, models)):
        algorithm = registry.recognised(model_class)
        if algorithm is None:
            raise Unsuited(_unknown(model_class))
        algorithms[algorithm] = None
    algorithm, *others = algorithms
    if others:
        raise Unsuited(
            "the grid holds models of several kinds; a dict with a family of each is fast"
        )
    if any(is_classifier(model) != (task == "classification") for model in models):
        raise Unsuited("the grid mixes classifiers and regressors")
    if not LossEvaluator.can_evaluate(loss):
        raise Unsuited(
            "a scorer of your own may look at the fitted estimator; make_scorer of a "
            "function of (y, prediction) is fast"
        )
    return algorithm


def _unknown(model_class: type) -> str:
    """Return why no algorithm serves this class, with the plug-ins that failed to load."""
    failed = [
        f"; the entry point {name!r} failed: {why}"
        for name, why in registry.PLUG_INS.failed.items()
    ]
    remedy = "; one pipeline of all steps is fast" if model_class is Pipeline else ""
    why = f"no other exact way is known for {model_class.__name__}"
    return f"{why}{remedy}{''.join(failed)}"


def staged(request: Request) -> Path:
    """Return the path that fits the largest model per split, if that saves fits."""
    if any(request.transformers):
        _refuse_replaced_steps(request.family)
    path = PrefixPath(request)
    _refuse(request.algorithm.refuses, path.models)
    _refuse(refuses_seed, [plain_steps_of(request.family.estimator)[1]])
    if not path.saves_fits:
        raise Unsuited(_no_shared_fit(path.model_name, path.axes))
    return path


def solved(request: Request) -> Path:
    """Return the path with cvnb's own solver: all splits at once, or single splits."""
    algorithm, data = request.algorithm, request.evaluator.data
    combinations = combinations_of(request.kinds, algorithm.axis_of)
    _refuse(algorithm.refuses, [combination.model for combination in combinations])
    n_settings = sum(combination.which.size for combination in combinations)
    if algorithm.iterated and 2 * len(combinations) > n_settings:
        model_name = type(combinations[0].model).__name__
        axes = dict.fromkeys(own.axis for own in combinations)
        raise Unsuited(_no_shared_fit(model_name, axes))
    if data.weights is not None and not _have_safe_squares(data.weights):
        raise Unsuited(
            "some weight is too small or too large to be squared; weights around 1 are fast"
        )
    is_sparse = sp.issparse(data.X)
    if is_sparse and not any(request.transformers):
        _refuse(algorithm.refuses_sparse, [own.model for own in combinations])
    request, note = widened(request)
    if request.evaluator.classes is None:
        _refuse_other_precision("y", request.evaluator.data.y)
    can_share = _has_only_scalers(request)
    if is_sparse:  # a scaler that keeps them sparse centres nothing
        can_share = algorithm.shares_sparse and not any(request.transformers)
    if can_share and algorithm.shared_path is not None:
        path = _shared(request, algorithm.shared_path, combinations)
    else:
        path = _after_transformers(request)
    path.draws, path.note = request.draws, note
    return path


def _shared(
    request: Request,
    shared_path: Callable[[Problem], Path],
    combinations: list[Combination],
) -> Path:
    """Return the path for all splits at once, on X in 64 bits, contiguous or by rows."""
    X, why = numbers_of(request.evaluator.data)
    if X is None:
        raise Unsuited(why)
    _refuse_other_precision("X", X)
    if any(_repeats(draw.plan) for draw in request.draws):
        raise Unsuited(
            "a training part holds a row more than once; lists without repeats are fast"
        )
    if sp.issparse(X):
        X = X.astype(np.float64)
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    problem = Problem(X, request.draws, request.evaluators, tuple(combinations))
    return shared_path(problem)


def _after_transformers(request: Request) -> Path:
    """Return the path for single splits.

    Its cost is known if only a scaler comes first and the algorithm has a cost.
    """
    if any(request.transformers):
        _refuse_replaced_steps(request.family)
    path, cost = AfterTransformers(request), request.algorithm.cost
    if cost is not None and _has_only_scalers(request):
        n_values = [
            combination.values.size
            for combinations in path.chains.values()
            for combination in combinations
        ]
        path.cost = _cost_of_all_splits(request, cost, n_values)
    return path


def _cost_of_all_splits(
    request: Request, cost: Callable[[int, int, int], float], n_values: list[int]
) -> float:
    """Return the multiplications of all splits, from those of one.

    cost      (training rows, columns, values) -> multiplications of one split
    n_values  values along the path, for each combination
    """
    n_columns, total = request.evaluator.data.n_columns, 0.0
    levels = [splits for draw in request.draws for _, splits in draw.plan.levels()]
    sizes = [splits.layout.sizes()[:, 0] for splits in levels]
    n_train, times = np.unique(np.concatenate(sizes), return_counts=True)
    for size, n_splits in zip(n_train.tolist(), times.tolist(), strict=True):
        total += n_splits * sum(float(cost(size, n_columns, n)) for n in n_values)
    return total


def _has_only_scalers(request: Request) -> bool:
    """Whether at most one default StandardScaler comes before every last step."""
    return all(
        not steps or (len(steps) == 1 and is_default_scaler(steps[0]))
        for steps in request.transformers
    )


def _refuse(refuses: Callable[[Any], str], models: list[Any]) -> None:
    """Raise Unsuited with the first reason against one of the models."""
    for model in models:
        if why := refuses(model):
            raise Unsuited(f"{type(models[0]).__name__} with {why}")


def _refuse_replaced_steps(family: Family) -> None:
    if any(chain_key(family, setting) is None for setting in family.settings):
        raise Unsuited(
            "the grid replaces the steps of the pipeline; a dict with a family of each is fast"
        )


def _no_shared_fit(model_name: str, axes: Iterable[str]) -> str:
    """Return the reason, and what one fit serves; the axes are "" for several parameters."""
    why = f"no fit of {model_name} serves two settings of this grid"
    names = " or ".join(filter(None, axes))
    return f"{why}; several values of {names} are fast" if names else why


def _refuse_other_precision(name: str, values: np.ndarray) -> None:
    if values.dtype.kind == "f" and values.dtype != np.float64:
        raise Unsuited(f"{name} is {values.dtype}, and the path computes in float64")


def _have_safe_squares(weights: np.ndarray) -> bool:
    """Whether products of weights neither vanish nor overflow."""
    positive = weights[weights > 0]
    return bool(positive.size and positive.min() > 1e-100 and positive.max() < 1e100)


def _repeats(plan: Plan) -> bool:
    """Whether some training part given as a list holds a row twice."""
    layouts = list(plan.inner_kept)
    if plan.outer_layout is not None:
        layouts.append(plan.outer_layout)
    return any(
        np.bincount(train).max() > 1
        for layout in layouts
        if isinstance(layout, Pairs)
        for train, _ in layout.pairs
        if train.size
    )
