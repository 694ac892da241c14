"""Lasso and elastic net on sparse rows: one descent along falling penalties per training part.

Columns are moved one by one, over their nonzero numbers only (kernels/sparse_lasso.py). Where the
signs no longer change, the equations of the nonzero columns are solved. If the solution has
these signs and no other column would move, it is the minimum. Where descent is slow to find the
signs (about as many nonzero columns as rows), columns enter and leave one by one, as on dense
rows (kernels/wide_lasso.py), starting from the last minimum.

Cost per penalty: a few products of X' with a vector, sweeps over the nonzero numbers of the
columns that move, and O(k^3) for k nonzero weights. Memory: the rows, their transpose and k x k;
where columns enter one by one, these columns. X is never made dense.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, solve_triangular

from ...kernels import sparse_lasso, wide_lasso
from ...kernels.linear import FINE
from ...kernels.wide_lasso import ILL, INDEPENDENT, LEVEL, ROUNDING, SLACK
from ...runtime.cancel import Stop
from .krylov import SparseRows
from .penalty_path import PenaltyPath
from .precision import EPS, FitReport, Precision
from .rows import LinearProblem, Model

# Moves that end a descent, as shares of |b|: the first, the next where columns enter, the next
# where none does, the last.
LIMIT, CLOSER, TIGHTER, LEAST = 1e-3, 0.5, 0.03, 1e-15
SWEEPS, PATIENCE = 20_000, 300  # of one descent, at most and at least
MOST_SOLVED = 3000  # nonzero columns whose equations are solved
FEW = 300  # the same for elastic net, whose minimum is unique without a look at them
LARGEST = 1 << 22  # numbers of the columns that enter one by one


def fit_sparse_lasso(
    problem: LinearProblem, path: PenaltyPath, precision: Precision, stop: Stop
) -> Model:
    """Return the model of these rows, on the columns that are nonzero for some penalty."""
    assert path.l1_ratio is not None
    every = np.arange(len(problem.Y))
    problem.refuse_weightless(every)
    rows = SparseRows.of(problem.X, problem.row_weights(every), path.intercept)
    precision.judge(rows.report())
    level = problem.level(every, path)
    if path.intercept:
        precision.judge(problem.target_report(every))
    b = rows.projected(rows.root * (problem.Y - level))[:, 0]
    descent = Descent(rows, b, path.positive, stop)
    order = np.argsort(-path.alphas, kind="stable")
    alphas = problem.weight(every) * path.alphas[order]
    minima = []
    for alpha in alphas:
        minima.append(
            descent.minimum(path.l1_ratio * alpha, (1 - path.l1_ratio) * alpha)
        )
        precision.judge(FitReport(status=descent.status))
    columns = np.unique(np.concatenate([places for places, _ in minima]))
    coefs = np.zeros((columns.size + 1, order.size))
    for s, (places, weights) in zip(order, minima, strict=True):
        coefs[np.searchsorted(columns, places), s] = weights
    coefs[-1] = level - rows.means()[columns] @ coefs[:-1]
    return Model(np.zeros(columns.size), coefs, columns)


class Descent:
    """The minimum of one penalty after the other.

    w       weights of all columns
    u       b - Z w, and `along` its part along e, as in the kernel
    status  of the last minimum
    """

    def __init__(
        self, rows: SparseRows, b: np.ndarray, positive: bool, stop: Stop
    ) -> None:
        T = rows.T.copy()
        T.data = T.data * rows.root[T.indices, 0]
        T.sum_duplicates()
        self.T, self.b, self.positive, self.stop = T, b, positive, stop
        self.mean = T @ rows.unit
        self.columns = T.indptr, T.indices, T.data, self.mean
        raw = np.asarray(T.multiply(T).sum(axis=1)).ravel()
        squares = raw - self.mean**2
        varies = squares > EPS * b.size * raw
        self.squares = np.where(varies, squares, 0.0)
        self.slack = ROUNDING * np.sqrt(raw * (b @ b))
        self.w, self.u, self.along = np.zeros(len(raw)), b.copy(), 0.0
        self.unit, self.status = rows.unit, FINE
        self.last = np.zeros(0, dtype=np.int64), np.zeros(0)
        self.is_constant = ~varies

    def minimum(self, l1: float, l2: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (the nonzero columns, their weights) at the minimum of these penalties."""
        if self._descends(l1, l2) or self._enters(l1, l2):
            places = np.flatnonzero(self.w)
            self.last = places, self.w[places].copy()
        else:
            self.status = ILL
        return self.last

    def _descends(self, l1: float, l2: float) -> bool:
        """Find the minimum by moving columns; return whether it is found."""
        limit = LIMIT
        while limit > LEAST:
            self.stop.check()
            entering = self._excess(l1) & (self.w == 0)
            moving = np.flatnonzero(entering | (self.w != 0))
            self.along, settled = sparse_lasso.descend(
                *self.columns,
                self.squares,
                moving,
                l1,
                l2,
                self.positive,
                limit * np.linalg.norm(self.b),
                self._patience(moving),
                self.stop.flag,
                self.u,
                self.along,
                self.w,
            )
            self.stop.check()
            if not settled:
                return False
            if (self._excess(l1) & (self.w == 0)).any():
                limit *= CLOSER
            elif self._is_minimum(np.flatnonzero(self.w), l1, l2):
                return True
            else:
                limit *= TIGHTER
        return False

    def _patience(self, moving: np.ndarray) -> int:
        """Return the sweeps that cost as much as letting these columns enter one by one."""
        start = self.T.indptr
        n_numbers = int((start[moving + 1] - start[moving]).sum())
        entering = self.b.size * moving.size**2
        if self.b.size * moving.size > LARGEST:
            return SWEEPS
        return min(SWEEPS, max(PATIENCE, entering // max(1, 2 * n_numbers)))

    def _enters(self, l1: float, l2: float) -> bool:
        """Find the minimum by columns that enter and leave; return whether it is found."""
        start, weights = self.last
        columns = np.concatenate([start, np.setdiff1d(np.flatnonzero(self.w), start)])
        while columns.size * self.b.size <= LARGEST:
            self.stop.check()
            found = self._minimum_of(columns, weights, l1, l2)
            self.stop.check()
            if found is None:
                return False
            self.w[:] = 0.0
            self._move(columns, found)
            moving = np.flatnonzero(self._excess(l1) & (self.w == 0))
            moving = np.setdiff1d(moving, columns)
            if not moving.size:
                return self._is_minimum(np.flatnonzero(self.w), l1, l2)
            columns = np.concatenate([columns, moving])
        return False

    def _minimum_of(
        self, columns: np.ndarray, weights: np.ndarray, l1: float, l2: float
    ) -> np.ndarray | None:
        """Return the weights of these columns at their minimum, from those of the first ones."""
        Z = self.T[columns].toarray() - np.outer(self.mean[columns], self.unit)
        n, most = weights.size, columns.size
        active, w = np.zeros(most, dtype=np.int64), np.zeros(most)
        active[:n], w[:n] = np.arange(n), weights
        out = (
            np.empty((1, self.b.size)),
            np.empty((1, most), dtype=np.int64),
            np.empty((1, most)),
            np.zeros(1, dtype=np.int64),
        )
        data = Z, self.b, Z @ self.b, self.slack[columns]
        penalties = np.array([l1]), np.array([l2]), self.positive, self.stop.flag
        state = active, np.sign(w), w, n, out
        try:
            status = wide_lasso.descend(*data, *penalties, *state)
        except np.linalg.LinAlgError:  # a factor has no positive diagonal
            return None
        if status != FINE:
            return None
        _, places, values, (size,) = out
        found = np.zeros(most)
        found[places[0, :size]] = values[0, :size]
        return found

    def _gradients(self) -> np.ndarray:
        out = np.empty(self.w.size)
        sparse_lasso.gradients(*self.columns, self.u, self.along, out)
        out[self.is_constant] = 0.0
        return out

    def _sizes(self) -> np.ndarray:
        g = self._gradients()
        return g if self.positive else np.abs(g)

    def _excess(self, l1: float) -> np.ndarray:
        """Return [columns] whether the gradient exceeds the penalty."""
        excess: np.ndarray = self._sizes() > l1 * (1.0 + SLACK) + self.slack
        return excess

    def _is_minimum(self, places: np.ndarray, l1: float, l2: float) -> bool:
        """Solve the equations of the nonzero columns; return whether that is the only minimum."""
        if places.size > (FEW if l2 > 0 else MOST_SOLVED):
            return l2 > 0 and self._holds(places, l1, l2)
        R = self._factor(places, l2)
        if R is None:
            return False
        signs, before = np.sign(self.w[places]), self.w[places].copy()
        for _ in range(2):  # the second time for rounding
            lacking = self._gradients()[places] - l2 * self.w[places] - l1 * signs
            half = solve_triangular(R, lacking, trans="T")
            self._move(places, self.w[places] + solve_triangular(R, half))
        if (self.w[places] * signs > 0).all() and self._holds(places, l1, l2):
            return l2 > 0 or self._is_only(places, l1)
        self._move(places, before)
        return False

    def _is_only(self, places: np.ndarray, l1: float) -> bool:
        """Return whether no column at zero could replace nonzero ones."""
        near = np.flatnonzero(self._sizes() > l1 * (1.0 - LEVEL) - self.slack)
        all_near = np.union1d(near, places)
        return all_near.size == places.size or self._factor(all_near, 0.0) is not None

    def _factor(self, columns: np.ndarray, l2: float) -> np.ndarray | None:
        """Return R with R'R the products of these columns; None if they are dependent."""
        own = self.T[columns]
        products = (own @ own.T).toarray() - np.outer(*[self.mean[columns]] * 2)
        squares = products.diagonal() + l2
        products[np.diag_indices_from(products)] = squares
        R, failed = lapack.dpotrf(products, lower=0, clean=1)
        if failed or not (R.diagonal() ** 2 > INDEPENDENT * squares).all():
            return None
        factor: np.ndarray = R
        return factor

    def _move(self, places: np.ndarray, weights: np.ndarray) -> None:
        """Set the weights of the nonzero columns, and the residuals from the rows."""
        self.w[places] = weights
        self.u = self.b - self.T[places].T @ weights
        self.along = float(self.mean[places] @ weights)

    def _holds(self, places: np.ndarray, l1: float, l2: float) -> bool:
        """Return whether the conditions of the minimum hold, up to rounding."""
        g, own = self._gradients(), self.w[places]
        lacking = np.abs(g[places] - l2 * own - l1 * np.sign(own))
        if (lacking > SLACK * l1 + self.slack[places]).any():
            return False
        sizes = g if self.positive else np.abs(g)
        sizes[places] = 0.0
        return not (sizes > l1 * (1.0 + SLACK) + self.slack).any()
