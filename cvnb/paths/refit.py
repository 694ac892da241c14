"""The general path: any scikit-learn estimator, one fit per setting and split.

Transformers before the last step are fitted once per split and per setting of their own
parameters, not once per setting of the model: settings that share the transformers are
measured one after the other, and the fitted transformers are kept until they change. Every
fit gets its own copy of the data, so copy=False in an estimator does no harm. Cost: one fit
per split for each setting of each step.
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

from ..data.table import Data, copy_of
from ..errors import FitError, LossError
from ..families.family import Family
from ..families.labels import PASS, Setting, format_setting
from ..losses.loss import Loss, one_per_row
from ..runtime.randomness import global_state, is_main_thread, seed
from ..runtime.thread_warnings import quiet
from ..runtime.threads import Team
from .base import Draw, Losses, Outside, Path, Task, split_of, weights_of

EMPTY: Mapping[str, Any] = {}
Key = tuple[Any, ...] | None  # of a chain of transformers; None: it cannot be shared
Fit = Callable[[Any, Any, np.ndarray, dict[str, Any]], None]  # (model, X, y, options)


class Refit(Path):
    """One fit per setting and split."""

    name, every_setting = "refit", False

    def __init__(
        self, family: Family, draws: Sequence[Draw], loss: Loss, reason: str
    ) -> None:
        self.family, self.draws, self.loss, self.reason = family, draws, loss, reason
        ranks: dict[Any, int] = {}  # a number for every start of a chain
        self.keys: list[Key] = []
        for setting in family.settings:
            key = chain_key(family, setting)
            if key is not None:
                starts = [key[: i + 1] for i in range(len(key))]
                key = tuple(ranks.setdefault(start, len(ranks)) for start in starts)
            self.keys.append(key)

    def run(self, task: Task, team: Team, fitted: Chain | None = None) -> Losses:
        """Run as Path.run; `fitted` is a chain whose transformers may be fitted already."""
        draw, n_settings = self.draws[task.draw], len(self.family.settings)
        train, test, split = split_of(draw.plan, task)
        losses = Losses.empty(1, n_settings)
        settings, chosen = list(range(n_settings)), -1
        if isinstance(task, Outside):
            chosen = int(task.chosen[0])
            settings = settings if task.every else task.chosen.tolist()
        chain = fitted or Chain(self.family, draw.data, train, test, split)
        losses.warnings = Counter()
        with recorded(losses.warnings):
            for s in sorted(settings, key=lambda s: (self.keys[s] or (), s)):
                team.stop.check()
                try:
                    self._measure(chain, s, losses, chosen)
                except LossError:
                    raise  # the loss is wrong, not the setting
                except Exception as error:  # noted as a failure of this setting
                    losses.failures[0, s] = f"{type(error).__name__}: {error}"
        return losses

    def failure(
        self,
        draw: int,
        train: np.ndarray,
        test: np.ndarray,
        s: int,
        split: tuple[int, int],
    ) -> Exception | None:
        """Return the exception of setting s on this split, with its traceback; None if it fits."""
        losses = Losses.empty(1, len(self.family.settings))
        chain = Chain(self.family, self.draws[draw].data, train, test, split)
        try:
            with recorded(Counter()):
                self._measure(chain, s, losses, -1)
        except Exception as error:
            return error
        return None

    def _measure(self, chain: Chain, s: int, losses: Losses, chosen: int) -> None:
        """Measure setting s; outside also keep row losses, and predictions of the chosen one.

        chosen  index of the chosen setting; -1 inside
        """
        loss, test = self.loss, chain.test
        pipeline, model, X_test = chain.fit(self.family.settings[s], self.keys[s])
        y, w = chain.data.y[test], weights_of(chain.data, test)
        predicts = loss.scorer is None and loss.response == "predict"
        # A copy for the predictions: a step may write on what it predicts for.
        spare = copy_of(X_test) if s == chosen and not predicts else None
        if loss.scorer is not None and not isinstance(loss.scorer, _BaseScorer):
            # A user's own scorer may look at X.
            value, rows, _ = loss.measure(pipeline, chain.raw(test), y, w)
        else:
            value, rows, response = loss.measure(model, X_test, y, w)
        if s == chosen:
            predictions = (
                response if predicts else one_per_row(model, model.predict(spare))
            )
            losses.predictions[0] = np.asarray(predictions)
        if chosen >= 0 and rows is not None:
            losses.put_rows(s, rows)
        losses.losses[0, s] = value


@dataclass
class Stage:
    """A fitted transformer and its output for both parts.

    key  of the chain up to this transformer
    """

    key: tuple[int, ...]
    step: Any
    X_train: Any
    X_test: Any


class Chain:
    """The transformers fitted on one training part, kept while the next setting shares them."""

    def __init__(
        self,
        family: Family,
        data: Data,
        train: np.ndarray,
        test: np.ndarray,
        split: tuple[int, int] = (0, 0),
    ) -> None:
        self.family, self.data, self.split = family, data, split
        self.train, self.test = train, test
        self.pairwise = _is_pairwise(family.estimator)
        self.stages: list[Stage] = []
        self.broken: tuple[Any, Exception] | None = None  # key and error of a step

    def raw(self, rows: np.ndarray) -> Any:
        """Return a fresh copy of these rows of X.

        Where X holds similarities to other rows, only the columns of the training rows.
        """
        return self.data.rows(rows, self.train if self.pairwise else None)

    def fit(
        self,
        setting: Setting,
        key: Key,
        changed: Mapping[str, Any] = EMPTY,
        fit: Fit | None = None,
    ) -> tuple[Any, Any, Any]:
        """Return (fitted estimator, its last step, X of the test part as that step takes it).

        setting  of the family
        key      of its chain of transformers
        changed  further parameters of the last step
        fit      fit(model, X, y, options) fits the last step; default: model.fit
        """
        fit = _fit if fit is None else fit
        candidate = self.family.candidate(setting)
        if changed:
            is_pipeline = isinstance(candidate, Pipeline)
            last = candidate.steps[-1][1] if is_pipeline else candidate
            last.set_params(**changed)
        y, w = self.data.y[self.train], weights_of(self.data, self.train)
        if key is None or not is_plain_pipeline(candidate):
            seed(candidate, *self.split)
            fit(candidate, self.raw(self.train), y, _weights_for(candidate, w))
            return candidate, candidate, self.raw(self.test)
        X_train, X_test = self._transform(candidate, key)
        model = candidate.steps[-1][1]
        seed(model, *self.split)
        fit(model, X_train, y, _weights_for(model, w))
        return candidate, model, X_test

    def transformed(self, setting: Setting, key: Key) -> tuple[Any, Any]:
        """Return X of the training part and of the test part, as the last step takes them."""
        if not isinstance(self.family.estimator, Pipeline):
            return self._current()
        return self._transform(self.family.candidate(setting), key)

    def _transform(self, pipeline: Pipeline, key: Any) -> tuple[Any, Any]:
        """Fit the transformers that differ from the kept ones; return copies of their output."""
        if self.broken is not None and key[: len(self.broken[0])] == self.broken[0]:
            raise self.broken[1]
        depth = 0
        while depth < len(self.stages) and self.stages[depth].key == key[: depth + 1]:
            depth += 1
        del self.stages[depth:]
        for i, (name, step) in enumerate(pipeline.steps[:-1]):
            if i < depth:
                pipeline.steps[i] = (name, self.stages[i].step)
                continue
            start = key[: i + 1]
            try:
                self.stages.append(Stage(start, step, *self._fit_step(step, i)))
            except Exception as error:
                # Kept: settings that share this step fail without fitting it again.
                self.broken = (start, error)
                raise
        return self._current()

    def _fit_step(self, step: Any, i: int) -> tuple[Any, Any]:
        """Return both parts after step i, fitted here."""
        (X_train, X_test), y = self._current(), self.data.y[self.train]
        if step in PASS:
            return X_train, X_test
        seed(step, *self.split, 1 + i)
        if hasattr(step, "fit_transform"):
            return step.fit_transform(X_train, y), step.transform(X_test)
        step.fit(X_train, y)
        return step.transform(self._current()[0]), step.transform(X_test)

    def _current(self) -> tuple[Any, Any]:
        """Return copies of both parts after the last kept transformer."""
        if not self.stages:
            return self.raw(self.train), self.raw(self.test)
        return copy_of(self.stages[-1].X_train), copy_of(self.stages[-1].X_test)


def _fit(model: Any, X: Any, y: np.ndarray, options: dict[str, Any]) -> None:
    model.fit(X, y, **options)


def fit_on(family: Family, data: Data, setting: Setting, rows: np.ndarray) -> Any:
    """Return the estimator of this setting fitted on these rows: A_θ(S restricted to rows)."""
    with global_state(), quiet():
        try:
            chain = Chain(family, data, rows, rows[:1])
            return chain.fit(setting, chain_key(family, setting))[0]
        except Exception as error:
            name = format_setting(setting) or "the estimator"
            raise FitError(
                f"{name} cannot be fitted on {rows.size} rows: {type(error).__name__}: {error}"
            ) from error


def chain_key(family: Family, setting: Setting) -> Key:
    """Return one entry per transformer; chains with equal entries up to a step share it fitted.

    None where nothing can be shared: the estimator is no plain pipeline, or the setting
    replaces the steps as a whole.
    """
    if not is_plain_pipeline(family.estimator):
        return None
    names = [name for name, _ in family.estimator.steps]
    own: dict[str, list[tuple[str, int]]] = {name: [] for name in names}
    for parameter, value in family.parameters(setting).items():
        owner = parameter.split("__")[0]
        if owner not in own:
            return None
        own[owner].append((parameter, id(value)))
    return tuple(tuple(sorted(own[name])) for name in names[:-1])


def is_plain_pipeline(estimator: Any) -> bool:
    """Whether the steps may be fitted one by one; a subclass may do something else."""
    if type(estimator) is not Pipeline:
        return False
    return getattr(estimator, "transform_input", None) is None


def _weights_for(model: Any, w: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the weights under the argument name of the last step, also of nested pipelines."""
    names = []
    while isinstance(model, Pipeline):
        name, model = model.steps[-1]
        names.append(name)
    return {} if w is None else {"__".join([*names, "sample_weight"]): w}


def _is_pairwise(estimator: Any) -> bool:
    has_tags = hasattr(estimator, "__sklearn_tags__")
    return has_tags and get_tags(estimator).input_tags.pairwise


@contextmanager
def recorded(counter: Counter[str]) -> Iterator[None]:
    """Count warnings instead of showing them, and restore NumPy's global random state.

    Nothing is counted in other threads: warning filters belong to the whole process.
    """
    with global_state():
        if not is_main_thread():
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
