"""The general path: any scikit-learn estimator, one fit per setting and split.

Transformers ahead of the last step are fitted once per split and setting of theirs, not once per setting of the model:
settings that share them follow each other, and the chain of fitted transformers is kept while they last. Every fit gets data
of its own, so an estimator with copy=False disturbs nobody. Cost: one fit per setting of each step and split.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics._scorer import _BaseScorer
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..data.table import Data
from ..errors import FitError, LossError
from ..families.family import Family, Setting, format_setting
from ..losses.loss import Loss
from ..runtime.randomness import global_state, is_ours, seed
from ..runtime.thread_warnings import quiet
from ..runtime.threads import Team
from .base import NOTHING, Draw, Losses, Outside, Path, Task, split_of

PASS = (None, "passthrough")
EMPTY: Mapping[str, Any] = {}
Key = tuple[Any, ...] | None
Fit = Callable[[Any, Any, np.ndarray, dict[str, Any]], None]


class Refit(Path):
    """One fit per setting and split."""

    name, every_setting = "refit", False

    def __init__(
        self, family: Family, draws: Sequence[Draw], loss: Loss, reason: str
    ) -> None:
        self.family, self.draws, self.loss, self.reason = family, draws, loss, reason
        ranks: dict[Any, int] = {}
        keys = [chain_key(family, setting) for setting in family.settings]
        self.keys: list[Key] = [
            None
            if key is None
            else tuple(
                ranks.setdefault(key[: i + 1], len(ranks)) for i in range(len(key))
            )
            for key in keys
        ]

    def run(self, task: Task, team: Team, fitted: Chain | None = None) -> Losses:
        """As Path.run; `fitted` may hold transformers that are fitted already."""
        draw, n_settings = self.draws[task.draw], len(self.family.settings)
        train, test, split = split_of(draw.plan, task)
        found, which, chosen = (
            Losses(np.full((1, n_settings), np.nan), [None], [NOTHING]),
            np.arange(n_settings),
            -1,
        )
        if isinstance(task, Outside):
            chosen = int(task.chosen[0])
            which = which if task.every else task.chosen
        chain = (
            Chain(self.family, draw.data, train, test, split)
            if fitted is None
            else fitted
        )
        found.warnings = Counter()
        with recorded(found.warnings):
            for s in sorted(which.tolist(), key=lambda s: (self.keys[s] or (), s)):
                team.stop.check()
                try:
                    self._measure(chain, s, found, chosen)
                except LossError:
                    raise  # the loss is wrong, not the setting
                except Exception as error:  # any failure costs its own setting, and the note says which
                    found.failures[0, s] = f"{type(error).__name__}: {error}"
        return found

    def failure(
        self,
        draw: int,
        train: np.ndarray,
        test: np.ndarray,
        s: int,
        split: tuple[int, int],
    ) -> Exception | None:
        """What setting s raises on this split, with its traceback; None where it does not."""
        found = Losses(np.full((1, len(self.family.settings)), np.nan))
        try:
            with recorded(Counter()):
                self._measure(
                    Chain(self.family, self.draws[draw].data, train, test, split),
                    s,
                    found,
                    -1,
                )
        except Exception as error:
            return error
        return None

    def _measure(self, chain: Chain, s: int, found: Losses, chosen: int) -> None:
        """Measure setting s; outside (chosen >= 0) keep its row losses, and the predictions of the chosen one."""
        data, loss = chain.data, self.loss
        pipeline, model, X_test = chain.fit(self.family.settings[s], self.keys[s])
        y, w = (
            data.y[chain.test],
            None if data.weights is None else data.weights[chain.test],
        )
        predicts = loss.scorer is None and loss.response == "predict"
        spare = (
            _copy(X_test) if s == chosen and not predicts else None
        )  # a step may write on what it is asked about
        if loss.scorer is not None and not isinstance(loss.scorer, _BaseScorer):
            value, rows, _ = loss.measure(
                pipeline, chain.raw(chain.test), y, w
            )  # a user's own scorer may look at X
        else:
            value, rows, response = loss.measure(model, X_test, y, w)
        if s == chosen:
            found.predictions[0] = np.asarray(
                response if predicts else model.predict(spare)
            )
        if chosen >= 0 and rows is not None:
            kept = found.rows[0]
            if kept is None:
                kept = found.rows[0] = np.full(
                    (chain.test.size, found.losses.shape[1]), np.nan
                )
            kept[:, s] = rows
        found.losses[0, s] = value


@dataclass
class Stage:
    """A fitted transformer and what it made of both parts."""

    key: tuple[int, ...]
    step: Any
    X_train: Any
    X_test: Any


class Chain:
    """The transformers fitted on one training part, kept as long as the next setting shares them."""

    def __init__(
        self,
        family: Family,
        data: Data,
        train: np.ndarray,
        test: np.ndarray,
        split: tuple[int, int] = (0, 0),
    ) -> None:
        self.family, self.data, self.train, self.test, self.split = (
            family,
            data,
            train,
            test,
            split,
        )
        self.pairwise = _is_pairwise(family.estimator)
        self.stages: list[Stage] = []
        self.broken: tuple[Any, Exception] | None = None

    def raw(self, rows: np.ndarray) -> Any:
        """A fresh copy of these rows of X; columns too where X holds similarities to the training rows."""
        return self.data.rows(rows, self.train if self.pairwise else None)

    def fit(
        self,
        setting: Setting,
        keys: Key,
        changed: Mapping[str, Any] = EMPTY,
        fit: Fit | None = None,
    ) -> tuple[Any, Any, Any]:
        """(fitted estimator, its last step with `changed` set, X of the test part as that step takes it).

        fit(model, X, y, other arguments) fits the last step, where given.
        """
        fit = _fit if fit is None else fit
        candidate = self.family.candidate(setting)
        if changed:
            (
                candidate.steps[-1][1] if isinstance(candidate, Pipeline) else candidate
            ).set_params(**changed)
        y = self.data.y[self.train]
        w = None if self.data.weights is None else self.data.weights[self.train]
        if keys is None or not is_plain_pipeline(candidate):
            seed(candidate, *self.split)
            fit(candidate, self.raw(self.train), y, _weights_for(candidate, w))
            return candidate, candidate, self.raw(self.test)
        X_train, X_test = self._transform(candidate, keys)
        model = candidate.steps[-1][1]
        seed(model, *self.split)
        fit(model, X_train, y, _weights_for(model, w))
        return candidate, model, X_test

    def transformed(self, setting: Setting, keys: Key) -> tuple[Any, Any]:
        """(X of the training part, X of the test part) as the last step takes them; nothing is done to a bare estimator."""
        candidate = self.family.candidate(setting)
        return (
            self._transform(candidate, keys)
            if isinstance(candidate, Pipeline)
            else self._current()
        )

    def _transform(self, pipeline: Pipeline, keys: Any) -> tuple[Any, Any]:
        """Bring the stages in line with this pipeline's transformers, fitting those that differ; copies of what comes out."""
        if self.broken is not None and keys[: len(self.broken[0])] == self.broken[0]:
            raise self.broken[1]
        depth = 0
        while depth < len(self.stages) and self.stages[depth].key == keys[: depth + 1]:
            depth += 1
        del self.stages[depth:]
        for i, (name, step) in enumerate(pipeline.steps[:-1]):
            if i < depth:
                pipeline.steps[i] = (name, self.stages[i].step)
                continue
            key = keys[: i + 1]
            try:
                self.stages.append(Stage(key, step, *self._fit_step(step, i)))
            except Exception as error:  # kept, so that the settings that share this step fail without trying again
                self.broken = (key, error)
                raise
        return self._current()

    def _fit_step(self, step: Any, i: int) -> tuple[Any, Any]:
        (X_train, X_test), y = self._current(), self.data.y[self.train]
        if step in PASS:
            return X_train, X_test
        seed(step, *self.split, 1 + i)
        if hasattr(step, "fit_transform"):
            return step.fit_transform(X_train, y), step.transform(X_test)
        step.fit(X_train, y)
        return step.transform(self._current()[0]), step.transform(X_test)

    def _current(self) -> tuple[Any, Any]:
        """Copies of both parts as the last stage left them."""
        if not self.stages:
            return self.raw(self.train), self.raw(self.test)
        return _copy(self.stages[-1].X_train), _copy(self.stages[-1].X_test)


def _fit(model: Any, X: Any, y: np.ndarray, more: dict[str, Any]) -> None:
    model.fit(X, y, **more)


def fit_on(family: Family, data: Data, setting: Setting, rows: np.ndarray) -> Any:
    """A_θ(S restricted to rows): the fitted scikit-learn estimator."""
    with global_state(), quiet():
        try:
            return Chain(family, data, rows, rows[:1]).fit(
                setting, chain_key(family, setting)
            )[0]
        except Exception as error:
            what = format_setting(setting) or "the estimator"
            raise FitError(
                f"{what} cannot be fitted on {rows.size} rows: {type(error).__name__}: {error}"
            ) from error


def chain_key(family: Family, setting: Setting) -> Key:
    """One entry per transformer: equal entries up to some step mean that everything up to there is fitted alike.

    None where nothing can be shared: no plain pipeline, or a setting that replaces the steps as a whole.
    """
    if not is_plain_pipeline(family.estimator):
        return None
    names = [name for name, _ in family.estimator.steps]
    parameters = family.parameters(setting)
    owners = {key: key.split("__")[0] for key in parameters}
    if any(owner not in names for owner in owners.values()):
        return None
    return tuple(
        tuple(
            sorted(
                (key, id(parameters[key]))
                for key, owner in owners.items()
                if owner == name
            )
        )
        for name in names[:-1]
    )


def is_plain_pipeline(estimator: Any) -> bool:
    """Whether its steps may be fitted one by one with the same result; a subclass may do something else."""
    return (
        type(estimator) is Pipeline
        and getattr(estimator, "transform_input", None) is None
    )


def _weights_for(model: Any, w: np.ndarray | None) -> dict[str, np.ndarray]:
    """The weights under the name by which the last step is reached, through pipelines inside pipelines."""
    path = []
    while isinstance(model, Pipeline):
        path.append(model.steps[-1][0])
        model = model.steps[-1][1]
    return {} if w is None else {"__".join([*path, "sample_weight"]): w}


def _is_pairwise(estimator: Any) -> bool:
    return (
        hasattr(estimator, "__sklearn_tags__")
        and get_tags(estimator).input_tags.pairwise
    )


def _copy(X: Any) -> Any:
    return X.copy() if hasattr(X, "copy") else X.clone() if hasattr(X, "clone") else X


@contextmanager
def recorded(counter: Any) -> Iterator[None]:
    """Fits are made inside: NumPy's global state is put back, and warnings are counted instead of shown.

    A thread cannot count: the filters are the process's.
    """
    with global_state():
        if not is_ours():
            yield
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            finally:
                counter.update(
                    f"{type(w.message).__name__}: {' '.join(str(w.message).split())}"
                    for w in caught
                )
