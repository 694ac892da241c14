"""A fast model behind any transformers: these are fitted once per split, and then one computation serves every setting.

Split by split, so it goes wherever joblib takes it. Cost: one fit of each chain of transformers, and one path, per split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..families.algorithm import Algorithm
from ..families.family import Family, Kind
from ..runtime.cores import matrices_at_most
from ..runtime.threads import stoppable
from .base import Draw, Unsuited, added
from .measure import Meter
from .per_split import Filling, PerSplit
from .problem import Combination, SplitProblem, column_names, steps_of
from .refit import Key

LARGE = 1 << 16  # numbers


class Behind(PerSplit):
    """One fit of the transformers per split, one path of the model."""

    def __init__(
        self,
        family: Family,
        kinds: list[Kind],
        draws: Sequence[Draw],
        meters: Sequence[Meter],
        solver: Algorithm,
    ) -> None:
        super().__init__(family, kinds, draws, meters, solver.axis_of)
        self.solver, self.name = solver, f"path:{solver.name}"
        ahead = any(parts[0] for kind in kinds if (parts := steps_of(kind.candidate)))
        self.reason = (
            "the transformers are fitted once per split, and " * ahead
            + "one path of the model serves every setting"
        )
        self.compiles = solver.compiles

    def fill(self, filling: Filling, key: Key, combinations: list[Combination]) -> None:
        chain, found = filling.chain, filling.losses
        settings = np.concatenate([one.which for one in combinations])
        order = np.argsort(chain.train, kind="stable")
        try:
            X_train, X_test = chain.transformed(self.family.settings[settings[0]], key)
        except Exception as error:  # costs the settings that share these transformers, and the note says which
            found.failures |= {
                (0, int(s)): f"{type(error).__name__}: {error}" for s in settings
            }
            return
        if column_names(X_train) != column_names(X_test):
            raise Unsuited(
                "the transformers name the columns of the test part otherwise, and refit tells what that does"
            )
        X_train, X_test = self._numbers(X_train)[order], self._numbers(X_test)
        if X_train.shape[1] != X_test.shape[1]:
            raise Unsuited(
                "the transformers give the test part other columns, and refit tells what that does"
            )
        train, stop = chain.train[order], filling.team.stop
        for one in combinations:
            split = SplitProblem(
                one, filling.meter, train, chain.test, X_train, X_test, stop
            )
            call = partial(self.solver.answers_of_split, split)
            # many small products of large tables: threads of the matrix library would wait for each other
            limited = matrices_at_most(1) if X_train.size > LARGE else nullcontext()
            with limited:
                answers, n = stoppable(call, stop) if self.compiles else call()
            filling.put(one, answers)
            if n:
                found.counts = added((found.counts, Counter({self.solver.counted: n})))

    def _numbers(self, X: Any) -> np.ndarray:
        """What a transformer gave, as scikit-learn's models read it."""
        if len({isinstance(name, str) for name in column_names(X)}) > 1:
            raise Unsuited(
                "the transformers give names of several types, and refit tells what that does"
            )
        try:
            X = check_array(X, order="C")
        except (TypeError, ValueError) as error:
            why = " ".join(str(error).split())[:80]
            raise Unsuited(
                f"the transformers give no dense table of numbers ({why})"
            ) from error
        if X.dtype != np.float64 and X.dtype.kind == "f":
            raise Unsuited(
                f"the transformers give {X.dtype}, and scikit-learn computes in that precision"
            )
        return np.ascontiguousarray(X, dtype=np.float64)
