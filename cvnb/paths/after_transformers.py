"""A fast model after any transformers: these are fitted once per split, and then one
computation serves every setting.

It handles single splits, so joblib may send them anywhere. Cost per split: one fit of each
chain of transformers, and one path. Chains that differ in a number of components are one
(cvnb/paths/leading.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from ..data.table import Data
from ..runtime.cores import matrices_at_most
from ..runtime.threads import stoppable
from .base import Draw, Unsuited, added
from .leading import Numbered, numbered
from .measure import Predictions
from .narrow import is_narrow, note_on
from .per_split import PerSplitPath, SplitLosses, restricted
from .problem import (
    Combination,
    Request,
    SplitProblem,
    column_names,
    has_mixed_names,
    short_message,
)
from .refit import Key

Solved = tuple[Predictions, int]  # and the number of close calls
LARGE = 1 << 16  # numbers in a table
REASON = "one path of the model serves every setting"
PER_SPLIT = "the transformers are fitted once per split"
ONCE = (
    f"{PER_SPLIT}, with the most components, whose first ones "
    "are those of every smaller number"
)
EACH = (
    "the transformers are fitted once per split and number of components, because their "
    "solver draws random directions for each number (svd_solver='full' or "
    "algorithm='arpack' does not)"
)
SOME = (
    f"{ONCE} (svd_solver='full' would do so in the largest training parts too, where 'auto' "
    "draws random directions for each number)"
)


class Rows(NamedTuple):
    """Row numbers of a training part, and its transformed rows and those of the test part."""

    train: np.ndarray
    X_train: np.ndarray
    X_test: np.ndarray


class AfterTransformers(PerSplitPath):
    """One fit of the transformers per split, then one path of the model.

    groups  key of a chain -> its settings, where they differ in the number of components
    """

    def __init__(self, request: Request) -> None:
        algorithm, draws = request.algorithm, request.draws
        groups = numbered(request.family, request.kinds)
        together = {s: min(group.numbers) for group in groups for s in group.numbers}
        super().__init__(request, algorithm.axis_of, together)
        self.groups = {self.keys[min(group.numbers)]: group for group in groups}
        self.solve, self.counted = algorithm.predictions_of_split, algorithm.counted
        self.solve_leading = algorithm.predictions_of_leading
        models = [own.model for chain in self.chains.values() for own in chain]
        self.takes_sparse = not any(map(algorithm.refuses_sparse, models))
        self.name, self.compiles = f"path:{algorithm.name}", algorithm.compiles
        self.reason = REASON
        has_transformers = any(request.transformers)
        # Products of sparse rows release Python's lock; transformers need not be safe there.
        releases_lock = sp.issparse(draws[0].data.X) or algorithm.in_threads
        self.threads = releases_lock and not has_transformers
        if has_transformers:
            self.reason = f"{PER_SPLIT}, and {REASON}"
        if groups:
            outer, inner = _training_sizes(draws)
            few = {
                n
                for n in outer | inner
                if self.fits_of_transformers(n) > len(self.chains)
            }
            fitted = EACH if few == outer | inner else SOME if few else ONCE
            self.reason = f"{fitted}, and {REASON}"
            self.every_setting = not few & outer

    def fits_of_transformers(self, n_rows: int) -> int:
        """Return how many chains are fitted on a training part of so many rows."""
        n_columns = self.evaluators[0].data.n_columns
        return sum(
            len(set(group.numbers.values()))
            if group is not None and group.depends_on_number(n_rows, n_columns)
            else 1
            for group in map(self.groups.get, self.chains)
        )

    def fill(
        self, split_losses: SplitLosses, key: Key, combinations: list[Combination]
    ) -> None:
        group = self.groups.get(key)
        if group is None:
            self._fill_chain(split_losses, combinations)
            return
        served = self._fill_leading(split_losses, group, combinations)
        for combination in combinations:
            rest = [s for s in combination.which.tolist() if s not in served]
            for own in dict.fromkeys(self.keys[s] for s in rest):
                same = [s for s in rest if self.keys[s] == own]
                kept = np.isin(combination.which, same)
                self._fill_chain(split_losses, [restricted(combination, kept)])

    def _fill_chain(
        self, split_losses: SplitLosses, combinations: list[Combination]
    ) -> None:
        """Measure settings that share their whole chain of transformers."""
        chain, losses = split_losses.chain, split_losses.losses
        settings = np.concatenate([combination.which for combination in combinations])
        first = int(settings[0])
        try:
            tables = chain.transformed(self.family.settings[first], self.keys[first])
        except Exception as error:  # costs the settings that share the chain
            message = f"{type(error).__name__}: {error}"
            losses.failures |= {(0, int(s)): message for s in settings}
            return
        rows = self._rows(split_losses, *tables)
        for combination in combinations:
            self._measure(split_losses, combination, rows, self.solve)

    def _fill_leading(
        self,
        split_losses: SplitLosses,
        group: Numbered,
        combinations: list[Combination],
    ) -> set[int]:
        """Measure the settings that the fit of the most components serves; return them."""
        chain = split_losses.chain
        settings = np.concatenate([own.which for own in combinations]).tolist()
        for s in group.from_most(settings):
            with suppress(Exception):  # told where the setting is measured on its own
                tables = chain.transformed(self.family.settings[s], self.keys[s])
                break
        else:
            return set()
        counts = group.counts(chain.stages[group.place].step, settings)
        rows = self._rows(split_losses, *tables)
        for combination in combinations:
            served = np.isin(combination.which, list(counts))
            if served.any():
                own = restricted(combination, served)
                n_columns = np.array([counts[s] for s in own.which.tolist()])
                self._measure_leading(split_losses, own, rows, n_columns)
        return set(counts)

    def _rows(self, split_losses: SplitLosses, X_train: Any, X_test: Any) -> Rows:
        """Return transformed rows as tables, training rows in the order of their numbers."""
        chain, losses = split_losses.chain, split_losses.losses
        if chain.stages or not _is_checked(chain.data):
            X_train, X_test, narrow = _tables(X_train, X_test, self.takes_sparse)
            if narrow and not self.note:
                note = note_on(f"The transformers give {narrow}")
                losses.counts = added((losses.counts, Counter({note: 1})))
        train = chain.train
        if (np.diff(train) < 0).any():
            order = np.argsort(train, kind="stable")
            X_train, train = X_train[order], train[order]
        return Rows(train, X_train, X_test)

    def _measure_leading(
        self,
        split_losses: SplitLosses,
        combination: Combination,
        rows: Rows,
        counts: np.ndarray,
    ) -> None:
        """Measure settings, each on its number of leading columns."""
        if self.solve_leading is not None:
            at_once = partial(_with_counts, self.solve_leading, counts)
            if self._measure(split_losses, combination, rows, at_once):
                return
        numbers = np.unique(counts)[::-1].tolist()  # those that take longest first
        parts = {n: restricted(combination, counts == n) for n in numbers}
        train, X_train, X_test = rows

        def solved(n: int) -> Solved:
            columns = np.ascontiguousarray(X_train[:, :n])
            own = Rows(train, columns, np.ascontiguousarray(X_test[:, :n]))
            return self.solve(_problem(split_losses, parts[n], own))

        team = split_losses.team
        if self.compiles:  # on several threads, each of which makes its own products
            with matrices_at_most(1):
                answers = stoppable(partial(team.map, solved, numbers), team.stop)
        else:
            answers = list(map(solved, numbers))
        for part, answer in zip(parts.values(), answers, strict=True):
            self._put(split_losses, part, answer)

    def _measure(
        self,
        split_losses: SplitLosses,
        combination: Combination,
        rows: Rows,
        solve: Callable[[SplitProblem], Solved | None],
    ) -> bool:
        """Measure settings of the model on these rows; return whether they were solved."""
        split_losses.team.stop.check()
        call = partial(solve, _problem(split_losses, combination, rows))
        # Many small products of large tables: threads of the matrix library would wait for
        # each other.
        with matrices_at_most(1) if rows.X_train.size > LARGE else nullcontext():
            stop = split_losses.team.stop
            answer = stoppable(call, stop) if self.compiles else call()
        if answer is not None:
            self._put(split_losses, combination, answer)
        return answer is not None

    def _put(
        self, split_losses: SplitLosses, combination: Combination, solved: Solved
    ) -> None:
        predictions, n_close = solved
        split_losses.put(combination, predictions)
        if n_close:
            losses, counted = split_losses.losses, Counter({self.counted: n_close})
            losses.counts = added((losses.counts, counted))


def _problem(
    split_losses: SplitLosses, combination: Combination, rows: Rows
) -> SplitProblem:
    evaluator, team = split_losses.evaluator, split_losses.team
    train, X_train, X_test = rows
    test = split_losses.chain.test
    return SplitProblem(combination, evaluator, train, test, X_train, X_test, team)


def _training_sizes(draws: Sequence[Draw]) -> tuple[set[int], set[int]]:
    """Return the numbers of rows of outer training parts, and of inner ones."""
    plans = [draw.plan for draw in draws]
    outer = [plan.outer_layout for plan in plans if plan.outer_layout is not None]
    inner = [layout for plan in plans for layout in plan.inner_kept]
    sizes = [
        {int(n) for own in level for n in own.sizes()[:, 0]} for level in (outer, inner)
    ]
    return sizes[0], sizes[1]


def _with_counts(
    solve: Callable[[SplitProblem, np.ndarray], Solved | None],
    counts: np.ndarray,
    split: SplitProblem,
) -> Solved | None:
    return solve(split, counts)


def _is_checked(data: Data) -> bool:
    """Return whether rows of X are tables as the paths need them."""
    X = data.X
    is_plain = type(X) is np.ndarray and X.dtype == np.float64 and X.flags.c_contiguous
    return is_plain and data.is_finite_block


def _tables(X_train: Any, X_test: Any, takes_sparse: bool) -> tuple[Any, Any, str]:
    """Return both transformed parts as tables of float64 with the same columns, and the type
    of narrower floats among them or "".

    takes_sparse  they may stay sparse
    """
    if column_names(X_train) != column_names(X_test):
        raise Unsuited(
            "the transformers name the columns of the test part differently, which "
            "scikit-learn reports on a refit"
        )
    parts = _numbers(X_train, takes_sparse), _numbers(X_test, takes_sparse)
    narrow = next((str(part.dtype) for part in parts if is_narrow(part.dtype)), "")
    train, test = map(_in_double, parts)
    if train.shape[1] != test.shape[1]:
        raise Unsuited(
            "the transformers return another number of columns for the test part, which "
            "scikit-learn reports on a refit"
        )
    return train, test, narrow


def _numbers(X: Any, takes_sparse: bool) -> Any:
    """Return the output of a transformer as scikit-learn's models read it."""
    if has_mixed_names(X):
        raise Unsuited(
            "the transformers return column names of several types, which scikit-learn "
            "reports on a refit"
        )
    try:
        X = check_array(X, accept_sparse="csr" if takes_sparse else False, order="C")
    except (TypeError, ValueError) as error:
        raise Unsuited(
            f"the transformers do not return a dense table of numbers ({short_message(error)})"
        ) from error
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        raise Unsuited(
            f"the transformers give {X.dtype}, and the path computes in float64"
        )
    return X


def _in_double(X: Any) -> Any:
    """Return a table, sparse or dense, as float64."""
    if sp.issparse(X):
        return X.astype(np.float64)
    return np.ascontiguousarray(X, dtype=np.float64)
