"""A fast model behind any transformers: these are fitted once per split, and then one computation serves every setting.

Split by split, so it goes wherever joblib takes it. Cost: one fit of each chain of transformers, and one path, per split.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..families import Family, Kind
from .base import Outcome, Unsuited
from .measure import Meter
from .problem import Combination, Solver, column_names, combinations_of
from .refit import Chain, Key, Refit, chain_key, recorded

FIRST = np.zeros(1, dtype=np.int64)


class Behind:
    """One fit of the transformers per split, one path of the model."""

    every_setting = True

    def __init__(self, family: Family, kinds: list[Kind], meter: Meter, solver: Solver) -> None:
        self.family, self.meter, self.solver = family, meter, solver
        self.name = f"path:{solver.name}"
        self.reason = "the transformers are fitted once per split, and one path of the model serves every setting"
        self.refit = Refit(family, meter.data, meter.loss, "")
        self.chains: dict[Key, list[Combination]] = {}
        for combination in combinations_of(kinds, solver.axis):
            keys = [chain_key(family, family.settings[s]) for s in combination.which]
            for key in dict.fromkeys(keys):
                mine = np.array([one == key for one in keys])
                part = replace(combination, scaled=False, which=combination.which[mine], values=combination.values[mine])
                self.chains.setdefault(key, []).append(part)

    def evaluate(self, train: np.ndarray, test: np.ndarray, which: np.ndarray, split: tuple[int, int], keep: bool) -> Outcome:
        chain, warned = Chain(self.family, self.meter.data, train, test, split), Counter[str]()
        try:
            return self._evaluate(chain, warned, keep)
        except Unsuited as error:
            why = str(error)
        alone = len(self.chains) == 1  # its transformers are fitted, and have said what they warn of
        outcome = self.refit.evaluate(train, test, which, split, keep, chain if alone else None)
        outcome.warnings.update(warned if alone else {})
        outcome.refitted = why
        return outcome

    def _evaluate(self, chain: Chain, warned: Counter[str], keep: bool) -> Outcome:
        n_settings, train, test = len(self.family.settings), chain.train, chain.test
        outcome = Outcome(np.full(n_settings, np.nan), np.full((test.size, n_settings), np.nan) if keep else None)
        outcome.warnings = warned
        order = np.argsort(train, kind="stable")
        with recorded(outcome.warnings):
            for key, combinations in self.chains.items():
                settings = np.concatenate([one.which for one in combinations])
                try:
                    X_train, X_test = chain.transformed(self.family.settings[settings[0]], key)
                except Exception as error:  # costs the settings that share these transformers, and the note says which
                    outcome.failures |= {int(s): f"{type(error).__name__}: {error}" for s in settings}
                    continue
                if column_names(X_train) != column_names(X_test):
                    raise Unsuited(
                        "the transformers name the columns of the test part otherwise, and refit tells what that does"
                    )
                X_train, X_test = self._numbers(X_train)[order], self._numbers(X_test)
                if X_train.shape[1] != X_test.shape[1]:
                    raise Unsuited("the transformers give the test part other columns, and refit tells what that does")
                for combination in combinations:
                    self._measure(outcome, combination, train[order], X_train, test, X_test)
        return outcome

    def _numbers(self, X: Any) -> np.ndarray:
        """What a transformer gave, as scikit-learn's models read it."""
        if len({isinstance(name, str) for name in column_names(X)}) > 1:
            raise Unsuited("the transformers give names of several types, and refit tells what that does")
        try:
            X = check_array(X, order="C")
        except (TypeError, ValueError) as error:
            why = " ".join(str(error).split())[:80]
            raise Unsuited(f"the transformers give no dense table of numbers ({why})") from error
        if X.dtype != np.float64 and X.dtype.kind == "f":
            raise Unsuited(f"the transformers give {X.dtype}, and scikit-learn computes in that precision")
        return np.ascontiguousarray(X, dtype=np.float64)

    def _measure(
        self, outcome: Outcome, combination: Combination, train: np.ndarray, X_train: Any, test: np.ndarray, X_test: Any
    ) -> None:
        answers, n = self.solver.answers_of_split(combination, self.meter, self.meter.data, (train, test), X_train, X_test)
        losses, rows = self.meter.measure(test, FIRST, answers)
        outcome.losses[combination.which] = losses[0]
        outcome.counts[self.solver.counted] += n
        if outcome.rows is None:
            return
        if rows is not None:
            outcome.rows[:, combination.which] = rows
        for column, s in enumerate(combination.which):
            outcome.predictions[int(s)] = self.meter.labels(answers.values[:, column])
