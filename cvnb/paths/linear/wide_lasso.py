"""Lasso and elastic net on more columns than rows: a working set of columns for a few falling
penalties at a time, and one product of all columns with the residuals of these, which shows
whether another column would move.

Cost of a fit with n rows, p columns and S penalties: O(n p S) in matrix products, the copy of
its rows, and some hundred steps of O(n^2) (kernels/wide_lasso.py). Memory: a copy of the rows,
never p x p. If the minimum is not unique, scikit-learn fits instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...kernels import wide_lasso
from ...kernels.wide_lasso import LEVEL, ROUNDING
from ...splits.plan import Plan
from .penalty_path import PenaltyPath
from .precision import FitReport, Precision
from .rows import LinearProblem, Model, column_report

PER_ROW, FEWEST = 2, 256  # columns with large gradients in the working set
AT_ONCE = 8  # penalties, after whose minima all columns are checked
# Multiplications, of a fit with n rows and p columns:
PER_COPY = 48.0  # of n p, for passes over all numbers, which wait for memory
PER_CHECK = 0.6  # of n p, for each setting: the gradients of all columns
PER_ENTRY = 7.5  # of n^3: about n columns enter, with their products and their factor
PER_STEP = 5.0  # of n^2, for each setting
PER_FACTOR = 0.1, 67.0  # of n^3 and n^2, for each setting with squares
PER_FIT = 6e6
WIDEST = 2000  # columns whose products still fit into memory
FEW = 200  # columns whose products cost less than a working set


def is_wide(n_rows: int, n_columns: int) -> bool:
    """Return whether a fit of so many rows takes working sets, and not products of all columns."""
    return n_columns > max(n_rows, FEW) or n_columns > WIDEST


def cost_of_splits(plan: Plan, n_columns: int, paths: Sequence[PenaltyPath]) -> float:
    """Return the multiplications of all splits of a plan."""
    total = 0.0
    n_settings = sum(path.alphas.size for path in paths)
    with_squares = sum(path.alphas.size for path in paths if path.l1_ratio != 1.0)
    for _, splits in plan.levels():
        n = splits.layout.sizes()[:, 0].astype(np.float64)
        of_rows = (PER_COPY + PER_CHECK * n_settings) * n * n_columns
        of_steps = PER_ENTRY * n**3 + PER_STEP * n_settings * n**2
        of_factors = PER_FACTOR[0] * n**3 + PER_FACTOR[1] * n**2
        costs = of_rows + of_steps + with_squares * of_factors + PER_FIT
        total += float(costs.sum())
    return total


@dataclass(frozen=True, eq=False)
class Penalties:
    """Penalties of the sums of squares, falling: of |w|, and of w'w / 2."""

    l1s: np.ndarray
    l2s: np.ndarray
    positive: bool


@dataclass(frozen=True, eq=False)
class Minimum:
    """The nonzero columns at a minimum, and their weights."""

    columns: np.ndarray
    weights: np.ndarray


def fit_wide(
    rows: LinearProblem, train: np.ndarray, path: PenaltyPath, precision: Precision
) -> Model:
    """Return the model of these rows, on the columns that are nonzero for some penalty."""
    assert path.l1_ratio is not None
    design = rows.design(train, path)
    squares = np.einsum("ic,ic->c", design.A, design.A)
    weight = rows.weight(train)
    spread = np.sqrt(squares / weight) / design.scale
    precision.judge(column_report(path, design.centre, spread))
    order = np.argsort(-path.alphas, kind="stable")
    alphas = weight * path.alphas[order]
    l2s = (1.0 - path.l1_ratio) * alphas
    penalties = Penalties(path.l1_ratio * alphas, l2s, path.positive)
    b = np.ascontiguousarray(design.b[:, 0])
    descent = Descent(design.A, b, squares, penalties, rows.stop)
    minima = descent.minima()
    precision.judge(FitReport(status=descent.status))
    columns = np.unique(np.concatenate([own.columns for own in minima] or [order[:0]]))
    coefs = np.zeros((columns.size + 1, alphas.size))
    for s, own in zip(order, minima, strict=False):  # fewer if it was stopped
        coefs[np.searchsorted(columns, own.columns), s] = own.weights
    coefs *= np.append(design.scale[columns], 1.0)[:, None]
    coefs[-1] = design.level - design.rest[columns] @ coefs[:-1]
    return Model(design.centre[columns], coefs, columns)


class Descent:
    """The minima along falling penalties, on all columns of A.

    gradient  of all columns, where the last check was
    status    of the kernel
    """

    def __init__(
        self,
        A: np.ndarray,
        y: np.ndarray,
        squares: np.ndarray,
        penalties: Penalties,
        stop: np.ndarray,
    ) -> None:
        self.A, self.y, self.penalties, self.stop = A, y, penalties, stop
        self.products = self.gradient = y @ A
        self.slack = ROUNDING * np.sqrt(squares * (y @ y))
        self.start = Minimum(np.zeros(0, dtype=np.int64), np.zeros(0))
        self.status = wide_lasso.FINE

    def minima(self) -> list[Minimum]:
        """Return the minimum of each penalty; fewer of them if it was stopped or status is not
        fine."""
        found: list[Minimum] = []
        n_settings = self.penalties.l1s.size
        more = np.zeros(0, dtype=np.int64)  # columns that would have moved
        columns = self._working_set(more)
        has_all = columns.size == self.A.shape[1]
        size = n_settings if has_all else 2
        while len(found) < n_settings:
            at = slice(len(found), min(len(found) + size, n_settings))
            own, residuals = self._minima_of(columns, at)
            if self.stop[0] or self.status != wide_lasso.FINE:
                return found
            moving, gradients = self._would_move(columns, at, residuals)
            wrong = np.flatnonzero(moving.any(axis=1))
            n = int(wrong[0]) if wrong.size else len(own)
            found += own[:n]
            last = min(n, len(own) - 1)
            self.start, self.gradient = own[last], gradients[last]
            if wrong.size:
                more = np.flatnonzero(moving[n:].any(axis=0))
                columns = self._working_set(np.concatenate([columns, more]))
            else:
                columns = self._working_set(more[:0])
                size = min(AT_ONCE, 2 * size)
        return found

    def _working_set(self, more: np.ndarray) -> np.ndarray:
        """Return the columns that are nonzero at the start, then those with the largest
        gradients and `more`."""
        n, p = self.A.shape
        n_large = max(PER_ROW * n, FEWEST)
        large = np.arange(p)
        if n_large < p:
            size = self.gradient
            if not self.penalties.positive:
                size = np.abs(size)
            large = np.argpartition(size, p - n_large)[p - n_large :]
        others = np.union1d(large, more)
        first = self.start.columns
        return np.concatenate([first, np.setdiff1d(others, first)])

    def _would_move(
        self, columns: np.ndarray, at: slice, residuals: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return ([settings, p] whether a column outside the working set would move or nearly
        so, [settings, p] gradients)."""
        gradients = residuals @ self.A
        sizes = gradients if self.penalties.positive else np.abs(gradients)
        limits = (1.0 - 2.0 * LEVEL) * self.penalties.l1s[at, None]
        moving = sizes > limits - self.slack
        moving[:, columns] = False
        return moving, gradients

    def _minima_of(
        self, columns: np.ndarray, at: slice
    ) -> tuple[list[Minimum], np.ndarray]:
        """Return (the minima on these columns of these penalties, residuals [settings, rows])."""
        Z = np.ascontiguousarray(self.A[:, columns].T)
        n, most = self.start.columns.size, columns.size
        active = np.zeros(most, dtype=np.int64)
        active[:n] = np.arange(n)  # where the working set has the columns of the start
        w = np.zeros(most)
        w[:n] = self.start.weights
        l1s, l2s = self.penalties.l1s[at], self.penalties.l2s[at]
        residuals = np.empty((l1s.size, len(self.y)))
        places = np.empty((l1s.size, most), dtype=np.int64)
        weights = np.empty((l1s.size, most))
        numbers = np.zeros(l1s.size, dtype=np.int64)
        data = Z, self.y, self.products[columns], self.slack[columns], l1s, l2s
        model = self.penalties.positive, self.stop
        out = residuals, places, weights, numbers
        state = active, np.sign(w), w, n, out
        try:
            self.status = wide_lasso.descend(*data, *model, *state)
        except np.linalg.LinAlgError:  # a factor has no positive diagonal
            self.status = wide_lasso.ILL
        own = [
            Minimum(columns[places[s, :m]], weights[s, :m].copy())
            for s, m in enumerate(numbers.tolist())
        ]
        return own, residuals
