"""Trees, boosting and forests: the largest model contains every smaller one, so one
scikit-learn fit of it serves every size.

A tree grown best first has split a node before it numbers its children, so the tree with L
leaves consists of the nodes below 2L - 1. Penalties prune the tree that was grown without
one. An ensemble of n members is the first n members of a larger one: members draw their
random numbers in turn. Cost: one fit per split, and one prediction of the test part per size.
"""

from __future__ import annotations

import copy
import threading
import time
from functools import partial
from typing import Any

import numpy as np

from ..families.setting_groups import SettingGroup
from ..runtime.thread_warnings import quiet
from ..runtime.threads import Team
from . import boosters
from .base import Unsuited
from .boosters import library_of
from .measure import LossEvaluator, Predictions
from .per_split import PerSplitPath, SplitLosses
from .problem import Combination, Request, is_default_scaler, plain_steps_of
from .refit import Key
from .sizes import (
    BOOSTING,
    FORESTS,
    GRADIENT,
    HISTOGRAMS,
    TREES,
    predictions_by_size,
    rank,
)

NAMES = {  # name and reason of the path
    TREES: ("tree", "the largest tree of each training part holds every smaller one"),
    BOOSTING: (
        "boosting",
        "the longest boosting of each training part holds every shorter one",
    ),
    FORESTS: (
        "forest",
        "the largest ensemble of each training part holds every smaller one",
    ),
}
CHUNK = 0.1  # seconds of growing a forest between two checks of the stop flag


def axis_of(kind: SettingGroup) -> str:
    """Return the parameter that is the size; for a tree the penalty, if there is one."""
    _, last = plain_steps_of(kind.candidate)
    if library_of(last):
        return boosters.axis_of(last)
    if type(last) in TREES:
        names = [key.rpartition("__")[2] for key in kind.numbers[0]]
        is_penalised = last.ccp_alpha or "ccp_alpha" in names
        return "ccp_alpha" if is_penalised else "max_leaf_nodes"
    return "max_iter" if type(last) in HISTOGRAMS else "n_estimators"


def refuses(last: Any) -> str:
    """Return why this path cannot handle the model; "" if it can."""
    if library_of(last):
        return boosters.refuses(last)
    if getattr(last, "warm_start", False):
        return "warm_start=True; warm_start=False is fast"
    if getattr(last, "monotonic_cst", None) is not None and type(last) in TREES:
        return "monotonic_cst, which bounds the values of nodes by their neighbours"
    if type(last) in GRADIENT and last.n_iter_no_change is not None:
        return (
            "n_iter_no_change, which stops each size early on its own; "
            "n_iter_no_change=None is fast"
        )
    if type(last) in HISTOGRAMS and last.early_stopping is True:
        return "early_stopping=True; early_stopping=False is fast"
    return ""


class PrefixPath(PerSplitPath):
    """One fit of the largest model per split."""

    def __init__(self, request: Request) -> None:
        super().__init__(request, axis_of)
        model = self.models[0]
        self.model_name = type(model).__name__
        kind = next((k for k in NAMES if type(model) in k), BOOSTING)
        name, self.reason = NAMES[kind]
        self.name = f"path:{name}"
        self.threads = all(map(_can_run_in_threads, request.kinds))

    @property
    def models(self) -> list[Any]:
        """The last step of each fit."""
        return [own.model for part in self.chains.values() for own in part]

    @property
    def axes(self) -> dict[str, None]:
        """The parameters that are sizes."""
        chains = self.chains.values()
        return dict.fromkeys(own.axis for part in chains for own in part)

    @property
    def saves_fits(self) -> bool:
        """Whether there are at most half as many fits as settings."""
        return 2 * self.n_fits <= len(self.family.settings)

    def fill(
        self, split_losses: SplitLosses, key: Key, combinations: list[Combination]
    ) -> None:
        for combination in combinations:
            try:
                predictions = self._predictions(split_losses, key, combination)
            except Unsuited:
                raise
            except Exception as error:
                raise Unsuited(
                    "the largest model fails, and only a refit shows which settings do"
                ) from error
            split_losses.put(combination, predictions)

    def _predictions(
        self, split_losses: SplitLosses, key: Key, combination: Combination
    ) -> Predictions:
        """Fit the largest model and return the predictions of every size."""
        axis, sizes = combination.axis, combination.values.tolist()
        if library_of(combination.model):
            boosters.check_rounds(axis, sizes)
        largest = 0.0 if axis == "ccp_alpha" else max(sizes, key=rank)
        setting = self.family.settings[combination.which[0]]
        fit = partial(fit_stoppably, team=split_losses.team)
        _, model, X = split_losses.chain.fit(setting, key, {axis: largest}, fit)
        if getattr(model, "do_early_stopping_", False):
            raise Unsuited(
                "on more than 10,000 rows each size of the boosting stops early on its own; "
                "early_stopping=False is fast"
            )
        return _of_sizes(split_losses.evaluator, model, X, axis, sizes)


def _of_sizes(
    evaluator: LossEvaluator, model: Any, X: Any, axis: str, sizes: list[Any]
) -> Predictions:
    """Return the predictions of every size for X, from the largest model."""
    method = evaluator.method_of(model)
    columns: dict[Any, list[int]] = {}
    for column, size in enumerate(sizes):
        columns.setdefault(size, []).append(column)
    ranked = sorted(columns, key=rank)
    by_size = list(predictions_by_size(model, X, axis, ranked, method))
    first, first_scores = by_size[0]
    values = np.empty((len(first), len(sizes)), dtype=first.dtype)
    for size, (own_values, _) in zip(ranked, by_size, strict=True):
        values[:, columns[size]] = own_values[:, None]
    if evaluator.classes is None:
        return Predictions(values)
    values = np.searchsorted(evaluator.classes, values)
    own = np.searchsorted(evaluator.classes, model.classes_)
    present = np.zeros((1, evaluator.classes.size), dtype=bool)
    present[0, own] = True
    if first_scores is None:
        return Predictions(values, present=present)
    scores = np.zeros((*values.shape, evaluator.classes.size), first_scores.dtype)
    for size, (_, own_scores) in zip(ranked, by_size, strict=True):
        assert own_scores is not None
        # Decision values of two classes are one column, that of the second class.
        classes = own if own_scores.ndim == 2 else own[-1:]
        for column in columns[size]:
            scores[:, column, classes] = own_scores.reshape(len(values), -1)
    return Predictions(values, scores, method, present)


def fit_stoppably(
    model: Any, X: Any, y: Any, options: dict[str, Any], team: Team
) -> None:
    """Fit the model so that the stop flag of the team is seen.

    An interrupt reaches the main thread by itself. In any other thread boosting by stages or
    rounds checks the flag between them, and forests and bagging are grown in chunks of trees.
    Any other fit runs to its end.

    options  further arguments of model.fit
    """
    if threading.current_thread() is threading.main_thread():
        model.fit(X, y, **options)
    elif type(model) in GRADIENT:
        model.fit(X, y, **options, monitor=lambda *_: team.stop.is_set())
    elif library_of(model):
        boosters.fit_watched(model, X, y, options, team.stop)
    elif _grows_in_chunks(model):
        _grow(model, X, y, options, team)
    else:
        with team.fitting(type(model).__name__):
            model.fit(X, y, **options)
    team.stop.check()


def _grows_in_chunks(model: Any) -> bool:
    return (
        type(model) in FORESTS
        and isinstance(model.n_estimators, int)
        and model.n_estimators > 1
        and not model.oob_score
    )


def _grow(model: Any, X: Any, y: Any, options: dict[str, Any], team: Team) -> None:
    """Grow a forest chunk by chunk.

    With warm_start scikit-learn draws again, and skips, the random numbers of the trees
    already grown. So every chunk begins with the same random state, and the trees equal
    those of a single fit bit for bit.
    """
    n, random_state = model.n_estimators, model.random_state
    built, size = 0, 1
    model.set_params(warm_start=True)
    # The warning is about other rows in later chunks, which does not happen here.
    with quiet("class_weight presets"):
        while built < n:
            team.stop.check()
            size = min(size, n - built)
            built += size
            start_state = copy.deepcopy(random_state)
            model.set_params(n_estimators=built, random_state=start_state)
            started = time.perf_counter()
            model.fit(X, y, **options)
            size = max(1, int(size * CHUNK / (time.perf_counter() - started)))
    model.set_params(warm_start=False, random_state=random_state)


def _can_run_in_threads(kind: SettingGroup) -> bool:
    """Whether every fit releases Python's lock and starts no threads itself.

    True for scikit-learn's own trees, bare or after a StandardScaler. The optional packages
    do not allow two fits at once in one process.
    """
    transformers, last = plain_steps_of(kind.candidate)
    if library_of(last):
        return False
    parameters = last.get_params(deep=False)
    is_own = parameters.get("estimator") is None and parameters.get("init") is None
    one_thread = type(last) not in HISTOGRAMS and parameters.get("n_jobs") in (None, 1)
    return is_own and one_thread and all(map(is_default_scaler, transformers))
