"""Trees, boosting and forests: the largest model holds every smaller one, so scikit-learn's own fit of it serves every size.

A tree that is grown best first has split a node before it numbers its children, so the tree with L leaves is made of the nodes
below 2L - 1. Penalties prune the tree that was grown without one. An ensemble of n is the first n of a larger one: they draw
their random numbers in turn. Cost: one fit per split, and one look at the test part for each size.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array

from ..families.family import Family, Kind
from ..runtime.thread_warnings import quiet
from ..runtime.threads import Team
from .base import Draw, Unsuited
from .measure import Answers, Meter
from .per_split import Filling, PerSplit
from .problem import Combination, is_default_scaler, steps_of
from .refit import Key

TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
HISTOGRAMS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
GRADIENT = (GradientBoostingClassifier, GradientBoostingRegressor)
STAGED = (
    *GRADIENT,
    *HISTOGRAMS,
    AdaBoostClassifier,
)  # they say themselves what each stage says
RANDOM = (
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
BOOSTING = (*STAGED, AdaBoostRegressor)
FORESTS = (*RANDOM, BaggingClassifier, BaggingRegressor)
NAMES = {
    TREES: ("tree", "the largest tree of each training part holds every smaller one"),
    BOOSTING: (
        "boosting",
        "the stages of the longest boosting of each training part are the shorter ones",
    ),
    FORESTS: (
        "forest",
        "the first members of the largest ensemble of each training part are the smaller ones",
    ),
}


CHUNK = 0.1  # seconds that a forest is grown between two looks at the stop token


class Said(NamedTuple):
    """What one model says of some rows: numbers or labels, and what its scoring method gives where that is wanted."""

    values: np.ndarray
    scores: np.ndarray | None


def axis_of(kind: Kind) -> str:
    """The parameter that is the size; of a tree the penalty, wherever there is one."""
    parts = steps_of(kind.candidate)
    assert parts is not None
    last = parts[1]
    if type(last) in TREES:
        penalised = last.ccp_alpha or any(
            key.rpartition("__")[2] == "ccp_alpha" for key in kind.numbers[0]
        )
        return "ccp_alpha" if penalised else "max_leaf_nodes"
    return "max_iter" if type(last) in HISTOGRAMS else "n_estimators"


def refuses(last: Any) -> str:
    """Why this model is not for the path; "" where it is."""
    if getattr(last, "warm_start", False):
        return "warm_start=True"
    if getattr(last, "monotonic_cst", None) is not None and type(last) in TREES:
        return "monotonic_cst, which bounds the values of nodes by their neighbours"
    if type(last) in GRADIENT and last.n_iter_no_change is not None:
        return "n_iter_no_change, which ends each size by a rule of its own"
    if type(last) in HISTOGRAMS and last.early_stopping is True:
        return "early_stopping=True"
    return ""


class Stages(PerSplit):
    """One fit of the largest model per split."""

    def __init__(
        self,
        family: Family,
        kinds: list[Kind],
        draws: Sequence[Draw],
        meters: Sequence[Meter],
    ) -> None:
        super().__init__(family, kinds, draws, meters, axis_of)
        kind = type(next(iter(self.chains.values()))[0].model)
        name, self.reason = next(
            said for models, said in NAMES.items() if kind in models
        )
        self.name, self.model_name = f"path:{name}", kind.__name__
        self.threads = all(map(_lets_go, kinds))

    @property
    def saves(self) -> bool:
        """Whether there are half as many fits as settings, or fewer."""
        return 2 * self.n_fits <= len(self.family.settings)

    def with_fits(self, n: int) -> Stages:
        """The same with n of its fits at most: the first and the last are among them."""
        part, ends = (
            copy.copy(self),
            [(key, one) for key, every in self.chains.items() for one in every],
        )
        part.chains = {}
        for key, one in ends if len(ends) <= n else ends[: n - 1] + ends[-1:]:
            part.chains.setdefault(key, []).append(one)
        return part

    def fill(self, filling: Filling, key: Key, combinations: list[Combination]) -> None:
        chain = filling.chain
        for one in combinations:
            sizes = one.values.tolist()
            largest = 0.0 if one.axis == "ccp_alpha" else max(sizes, key=_rank)
            try:
                fit = partial(fit_stoppably, team=filling.team)
                _, model, X_test = chain.fit(
                    self.family.settings[one.which[0]], key, {one.axis: largest}, fit
                )
                if getattr(model, "do_early_stopping_", False):
                    raise Unsuited(
                        "on more than 10,000 rows each size of the boosting stops early by itself"
                    )
                answers = self._answers(filling.meter, model, X_test, one.axis, sizes)
            except Unsuited:
                raise
            except Exception as error:
                raise Unsuited(
                    "the largest model fails, and refit tells which settings do"
                ) from error
            filling.put(one, answers)

    def _answers(
        self, meter: Meter, model: Any, X: Any, axis: str, sizes: list[Any]
    ) -> Answers:
        """What every size says of X."""
        method = meter.method_of(model)
        columns: dict[Any, list[int]] = {}
        for column, size in enumerate(sizes):
            columns.setdefault(size, []).append(column)
        ranked = sorted(columns, key=_rank)
        said = list(each(model, X, axis, ranked, method))
        values, scores, present = (
            np.empty((len(said[0].values), len(sizes)), dtype=said[0].values.dtype),
            None,
            None,
        )
        for size, one in zip(ranked, said, strict=True):
            values[:, columns[size]] = one.values[:, None]
        if meter.classes is not None:
            own = np.searchsorted(meter.classes, model.classes_)
            values, present = (
                np.searchsorted(meter.classes, values),
                np.zeros((1, meter.classes.size), dtype=bool),
            )
            present[0, own] = True
            if method:
                scores = np.zeros((len(values), len(sizes), meter.classes.size))
                for size, one in zip(ranked, said, strict=True):
                    assert one.scores is not None
                    whole = np.zeros((len(values), meter.classes.size))
                    whole[:, own if one.scores.ndim == 2 else own[-1:]] = (
                        one.scores.reshape(len(values), -1)
                    )
                    scores[:, columns[size]] = whole[:, None]
        return Answers(values, scores, method or "predict_proba", present)


def fit_stoppably(model: Any, X: Any, y: Any, more: dict[str, Any], team: Team) -> None:
    """Fit the model. In the main thread an interrupt reaches it anyway; in any other one it looks at the stop token.

    Gradient boosting looks between stages; forests and bagging are grown in chunks of trees. What cannot be stopped goes on.
    """
    if threading.current_thread() is threading.main_thread():
        model.fit(X, y, **more)
    elif type(model) in GRADIENT:
        model.fit(X, y, **more, monitor=lambda *_: team.stop.is_set())
    elif (
        type(model) in FORESTS
        and isinstance(model.n_estimators, int)
        and model.n_estimators > 1
        and not model.oob_score
    ):
        _grow(model, X, y, more, team)
    else:
        with team.fitting(type(model).__name__):
            model.fit(X, y, **more)
    team.stop.check()


def _grow(model: Any, X: Any, y: Any, more: dict[str, Any], team: Team) -> None:
    """Grow a forest chunk by chunk.

    With warm_start scikit-learn draws anew, and skips, the random numbers of the trees that are there: so every chunk begins
    with the same random state, and the trees are those of one fit, bit by bit.
    """
    n, random_state = model.n_estimators, model.random_state
    built, size = 0, 1
    model.set_params(warm_start=True)
    with quiet(
        "class_weight presets"
    ):  # what it warns of, other rows in later chunks, does not happen here
        while built < n:
            team.stop.check()
            size = min(size, n - built)
            built += size
            model.set_params(
                n_estimators=built, random_state=copy.deepcopy(random_state)
            )
            started = time.perf_counter()
            model.fit(X, y, **more)
            size = max(1, int(size * CHUNK / (time.perf_counter() - started)))
    model.set_params(warm_start=False, random_state=random_state)


def _lets_go(kind: Kind) -> bool:
    """Whether fits are trees of scikit-learn's own all along, which let go of Python's lock, and take no threads themselves."""
    parts = steps_of(kind.candidate)
    assert parts is not None
    ahead, last = parts
    given = last.get_params(deep=False)
    own = given.get("estimator") is None and given.get("init") is None
    alone = type(last) not in HISTOGRAMS and given.get("n_jobs") in (None, 1)
    return own and alone and all(map(is_default_scaler, ahead))


def _rank(size: Any) -> tuple[bool, Any]:
    """None is no limit."""
    return size is None, size


def each(
    model: Any, X: Any, axis: str, sizes: list[Any], method: str
) -> Iterator[Said]:
    """What each of these increasing sizes says, from the largest, fitted model."""
    kind = type(model)
    if kind in TREES:
        yield from (_pruned if axis == "ccp_alpha" else _smaller_trees)(
            model, X, sizes, method
        )
    elif kind in RANDOM:
        yield from _smaller_forests(model, X, sizes, method)
    elif kind in STAGED:
        yield from _stages(model, X, sizes, method)
    else:
        for size in sizes:
            yield _asked(_first(model, size), X, method)


def _asked(model: Any, X: Any, method: str) -> Said:
    return Said(model.predict(X), getattr(model, method)(X) if method else None)


def _smaller_trees(model: Any, X: Any, sizes: list[Any], method: str) -> Iterator[Said]:
    """The tree with L leaves ends at the last node below 2L - 1 of a row's way through the largest tree."""
    if sizes[-1] is None:  # grown otherwise, and alone
        yield _asked(model, X, method)
        return
    way = model.decision_path(X)
    starts, value = way.indptr[:-1], model.tree_.value[:, 0]
    for size in sizes:
        n = np.add.reduceat(way.indices < 2 * size - 1, starts, dtype=np.intp)
        yield _of_leaves(model, value[way.indices[starts + n - 1]], method)


def _of_leaves(model: Any, value: np.ndarray, method: str) -> Said:
    if type(model) is DecisionTreeRegressor:
        return Said(value[:, 0], None)
    return Said(model.classes_.take(value.argmax(axis=1)), value if method else None)


def _pruned(model: Any, X: Any, sizes: list[Any], method: str) -> Iterator[Said]:
    """scikit-learn's own pruning of the tree that was grown without a penalty."""
    for alpha in sizes:
        pruned = copy.copy(model)  # pruning replaces its tree
        pruned.ccp_alpha = alpha
        pruned._prune_tree()
        yield _asked(pruned, X, method)


def _smaller_forests(
    model: Any, X: Any, sizes: list[Any], method: str
) -> Iterator[Said]:
    """Sums over the trees in their order, as the forest makes them; each tree looks once."""
    X = check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=False)
    total, wanted, classify = 0.0, set(sizes), hasattr(model, "classes_")
    for n, tree in enumerate(model.estimators_, start=1):
        ask = tree.predict_proba if classify else tree.predict
        total = total + ask(
            X, check_input=n == 1
        )  # what the first does not refuse suits all
        if n in wanted:
            mean = total / n
            yield (
                Said(model.classes_.take(mean.argmax(axis=1)), mean if method else None)
                if classify
                else Said(mean, None)
            )


def _stages(model: Any, X: Any, sizes: list[Any], method: str) -> Iterator[Said]:
    """scikit-learn's own stages; a boosting that ended early stays as it is."""
    values, scores = _picked(model.staged_predict(X), sizes), [None] * len(sizes)
    if method:
        scores = _picked(getattr(model, f"staged_{method}")(X), sizes)
    yield from map(Said, values, scores)


def _picked(stages: Iterator[np.ndarray], sizes: list[int]) -> list[Any]:
    """A stage for each size; the last for those beyond."""
    found: list[Any] = []
    stage = None
    for n, stage in enumerate(stages, start=1):
        if n == sizes[len(found)]:
            found.append(stage.copy())
            if len(found) == len(sizes):
                return found
    return found + [stage] * (len(sizes) - len(found))


def _first(model: Any, n: int) -> Any:
    """The ensemble of the first n."""
    part = copy.copy(model)
    part.n_estimators = n
    for name in (
        "estimators_",
        "estimators_features_",
        "estimator_weights_",
        "estimator_errors_",
    ):
        if hasattr(model, name):
            setattr(part, name, getattr(model, name)[:n])
    return part
