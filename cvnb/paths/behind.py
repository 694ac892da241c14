"""A fast model behind any transformers: these are fitted once per split, and then one computation serves every setting.

Split by split, so it goes wherever joblib takes it. Cost: one fit of each chain of transformers, and one path, per split.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..families import Family, Kind
from ..splitters import Pair
from .base import Outcome, Unsuited
from .measure import Meter
from .per_split import PerSplit
from .problem import Combination, Solver, column_names, is_default_scaler, numbers_of, steps_of
from .refit import Chain, Key


def _lets_go(kind: Kind) -> bool:
    """Whether nothing but scikit-learn's scaler stands ahead: fits on threads gain something and disturb nobody."""
    parts = steps_of(kind.candidate)
    return parts is not None and all(map(is_default_scaler, parts[0]))


class Behind(PerSplit):
    """One fit of the transformers per split, one path of the model."""

    def __init__(self, family: Family, kinds: list[Kind], meter: Meter, solver: Solver) -> None:
        super().__init__(family, kinds, meter, lambda kind: solver.axis)
        self.solver, self.name = solver, f"path:{solver.name}"
        ahead = any(parts[0] for kind in kinds if (parts := steps_of(kind.candidate)))
        self.reason = "the transformers are fitted once per split, and " * ahead + "one path of the model serves every setting"
        self.compiles = solver.compiles
        self.threads = solver.compiles and solver.sweep is None and all(map(_lets_go, kinds))
        X, why = numbers_of(meter.data) if self.threads else (None, "")
        self.X = X if not why and X is not None and X.dtype == np.float64 else None
        self.scaled = any(parts[0] for kind in kinds if (parts := steps_of(kind.candidate)))

    def fill(self, outcome: Outcome, chain: Chain, key: Key, combinations: list[Combination]) -> None:
        settings = np.concatenate([one.which for one in combinations])
        order = np.argsort(chain.train, kind="stable")
        if self.X is not None and len(self.chains) == 1:
            self._say(outcome, combinations, (chain.train[order], chain.test), *self._rows(chain.train[order], chain.test))
            return
        try:
            X_train, X_test = chain.transformed(self.family.settings[settings[0]], key)
        except Exception as error:  # costs the settings that share these transformers, and the note says which
            outcome.failures |= {int(s): f"{type(error).__name__}: {error}" for s in settings}
            return
        if column_names(X_train) != column_names(X_test):
            raise Unsuited("the transformers name the columns of the test part otherwise, and refit tells what that does")
        X_train, X_test = self._numbers(X_train)[order], self._numbers(X_test)
        if X_train.shape[1] != X_test.shape[1]:
            raise Unsuited("the transformers give the test part other columns, and refit tells what that does")
        self._say(outcome, combinations, (chain.train[order], chain.test), X_train, X_test)

    def _rows(self, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X of both parts, as they are or as a StandardScaler makes them."""
        from ..kernels import scaling  # Numba is not imported before a path needs it

        assert self.X is not None
        T, Q = self.X[train], self.X[test]
        if self.scaled:
            scaling.standardise(self.X, train, test, T, Q)
        return T, Q

    def _say(self, outcome: Outcome, combinations: list[Combination], pair: Pair, X_train: Any, X_test: Any) -> None:
        for one in combinations:
            answers, n = self.solver.answers_of_split(one, self.meter, self.meter.data, pair, X_train, X_test)
            self.put(outcome, one, pair[1], answers)
            outcome.counts[self.solver.counted] += n

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
