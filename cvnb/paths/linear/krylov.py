"""Ridge on sparse rows: one Krylov space of a training part serves every penalty.

    (A A' + alpha I) z = b          A, b: centred rows and targets, times the roots of their weights
    (A'A + alpha I) w = A'b         instead, if there are more rows than columns

Lanczos' steps build an orthonormal basis Q and a tridiagonal matrix T = Q' A A' Q that do not
depend on alpha (Golub and Van Loan, Matrix Computations, 10.1). For each alpha one tridiagonal
system gives z = Q (T + alpha I)^-1 Q'b. The steps end when the smallest penalty is solved up to
rounding.

X is never made dense: its means are taken out of the products. Cost per step: one product of
X and one of X' with a column per target. Cost per penalty: one tridiagonal system and one
combination of the basis. Memory: a column of the basis per step and target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal, solveh_banded

from ...runtime.cancel import Stop
from .penalty_path import PenaltyPath
from .precision import EPS, MOST_STEPS, PER_SHARE, SOLVED, FitReport, Precision
from .rows import LinearProblem, Model

EVERY = 8  # steps between two looks at the residual
LARGEST = 1 << 30  # bytes of a basis


@dataclass(frozen=True)
class SparseRows:
    """The rows of a training part, centred and weighted without being written down.

    A = P R X with R the roots of the weights and P = I - r r', which takes out the means: r
    holds the roots, as a vector of length 1, or zeros where nothing is centred.

    X, T   the rows [rows, p] and their transpose, both compressed by rows
    root   [rows, 1] the diagonal of R
    unit   [rows] r
    """

    X: Any
    T: Any
    root: np.ndarray
    unit: np.ndarray

    @classmethod
    def of(cls, X: Any, w: np.ndarray, centred: bool) -> SparseRows:
        """Return these rows of weights w, with their weighted means taken out if `centred`."""
        root = np.sqrt(w)
        unit = root / np.linalg.norm(root) if centred else np.zeros(w.size)
        return cls(X, X.T.tocsr(), root[:, None], unit)

    def projected(self, U: np.ndarray) -> np.ndarray:
        """Return P U for U [rows, columns]."""
        return U - np.multiply.outer(self.unit, self.unit @ U)

    def times(self, V: np.ndarray) -> np.ndarray:
        """Return A V for V [p, columns]."""
        return self.projected(self.root * (self.X @ V))

    def transposed_times(self, U: np.ndarray) -> np.ndarray:
        """Return A' U for U [rows, columns]."""
        product: np.ndarray = self.T @ (self.root * self.projected(U))
        return product

    def means(self) -> np.ndarray:
        """Return the weighted means of the columns; zeros where nothing is centred."""
        means: np.ndarray = self.T @ (self.root[:, 0] * self.unit)
        return means * self.unit.sum() / max(self.root.sum(), 1e-300)

    def report(self) -> FitReport:
        """Return the report on columns: how far from zero they are in their spreads.

        That of a constant column is counted in the largest spread: it keeps a rest, in rounding.
        """
        means = self.means()
        w = self.root[:, 0] ** 2
        square = self.T.multiply(self.T) @ w / w.sum()
        variance = square - means**2
        varies = variance > EPS * len(w) * square
        spread = np.sqrt(np.where(varies, variance, variance.max(initial=0.0)))
        has_mean = means != 0
        distances = np.abs(means[has_mean]) / spread[has_mean]
        return FitReport(sparse=True, column_distance=distances.max(initial=0.0))

    @property
    def is_wide(self) -> bool:
        """Whether there are at most as many rows as columns."""
        return bool(self.X.shape[0] <= self.X.shape[1])

    def squared_times(self, V: np.ndarray) -> np.ndarray:
        """Return A A' V if the rows are fewer than the columns, else A'A V."""
        if self.is_wide:
            return self.times(self.transposed_times(V))
        return self.transposed_times(self.times(V))


class Krylov:
    """The bases of several right-hand sides b [size, targets], grown together."""

    def __init__(self, rows: SparseRows, b: np.ndarray) -> None:
        self.rows, self.norm = rows, np.linalg.norm(b, axis=0)
        self.basis = [b / np.where(self.norm > 0, self.norm, 1.0)]
        self.diagonal: list[np.ndarray] = []
        self.beside = [np.zeros(b.shape[1])]

    def grow(self) -> None:
        """Make one step of Lanczos for every right-hand side."""
        q, before = self.basis[-1], self.beside[-1]
        u = self.rows.squared_times(q)
        if len(self.basis) > 1:
            u -= before * self.basis[-2]
        along = (q * u).sum(axis=0)
        u -= along * q
        rest = np.linalg.norm(u, axis=0)
        self.diagonal.append(along)
        size = np.max(self.diagonal, axis=0)
        rest[rest <= EPS * size] = 0.0  # the space is closed: nothing is left
        self.beside.append(rest)
        self.basis.append(u / np.where(rest > 0, rest, 1.0) * (rest > 0))

    def _bands(self, c: int, alpha: float) -> np.ndarray:
        """Return T + alpha I of one right-hand side, as a band matrix, up to where it closed."""
        beside = np.array([values[c] for values in self.beside])
        closed = np.flatnonzero(beside[1:] == 0)
        n = int(closed[0]) + 1 if closed.size else len(self.diagonal)
        diagonal = np.array([values[c] for values in self.diagonal[:n]])
        above = np.append(0.0, beside[1:n])
        return np.array([above, diagonal + alpha])

    def solution(self, c: int, alpha: float) -> np.ndarray:
        """Return the coordinates of the solution of one right-hand side in its basis."""
        bands = self._bands(c, alpha)
        first = np.zeros(bands.shape[1])
        first[0] = self.norm[c]
        if bands.shape[1] == 1:  # scipy's solver needs two
            return first / bands[1]
        coordinates: np.ndarray = solveh_banded(bands, first)
        return coordinates

    def is_solved(self, alpha: float) -> bool:
        """Whether the residuals for this penalty are rounding."""
        for c, norm in enumerate(self.norm):
            z = self.solution(c, alpha)
            rest = self.beside[-1][c] if len(z) == len(self.diagonal) else 0.0
            largest = max(values[c] for values in self.diagonal) + alpha
            if norm > 0 and rest * abs(z[-1]) > SOLVED * largest * np.linalg.norm(z):
                return False
        return True

    def combined(self, c: int, alphas: np.ndarray) -> np.ndarray:
        """Return the solutions [size, alphas] of one right-hand side."""
        Z = np.column_stack([self.solution(c, alpha) for alpha in alphas])
        Q = np.array([q[:, c] for q in self.basis[: len(Z)]])
        return Q.T @ Z

    def report(self, alpha: float) -> FitReport:
        """Return the report on the equations of the smallest penalty."""
        if not self.is_solved(alpha):
            return FitReport(unsolved=True)
        share = 1.0
        for c in np.flatnonzero(self.norm > 0):
            bands = self._bands(int(c), alpha)
            values = eigvalsh_tridiagonal(bands[1], bands[0, 1:])
            share = min(share, values[0] / values[-1])
        return FitReport(amplification=PER_SHARE / share)


def refuses_sparse(model: Any) -> str:
    """Return why these parameters are not for sparse rows; "" if they are."""
    if model.solver != "auto":
        return f"sparse X and solver={model.solver!r}; solver='auto' is fast"
    return ""


def fit_sparse(
    problem: LinearProblem, path: PenaltyPath, precision: Precision, stop: Stop
) -> Model:
    """Return the model of ridge on sparse rows."""
    every = np.arange(len(problem.Y))
    problem.refuse_weightless(every)
    rows = SparseRows.of(problem.X, problem.row_weights(every), path.intercept)
    precision.judge(rows.report())
    level = problem.level(every, path)
    if path.intercept:
        precision.judge(problem.target_report(every))
    space = _space_of(rows, rows.root * (problem.Y - level), path.alphas.min(), stop)
    precision.judge(space.report(path.alphas.min()))
    Z = [space.combined(c, path.alphas) for c in range(problem.n_targets)]
    coefs = np.empty((problem.p + 1, problem.n_targets * path.alphas.size))
    coefs[:-1] = rows.transposed_times(np.hstack(Z)) if rows.is_wide else np.hstack(Z)
    coefs[-1] = np.repeat(level, path.alphas.size) - rows.means() @ coefs[:-1]
    return Model(np.zeros(problem.p), coefs)


def _space_of(rows: SparseRows, b: np.ndarray, alpha: float, stop: Stop) -> Krylov:
    """Return the space in which the smallest penalty is solved up to rounding, if it is."""
    space = Krylov(rows, b if rows.is_wide else rows.transposed_times(b))
    for step in range(1, min(MOST_STEPS, LARGEST // max(1, b.nbytes)) + 1):
        stop.check()
        space.grow()
        is_closed = not space.beside[-1].any()
        if is_closed or (step % EVERY == 0 and space.is_solved(alpha)):
            break
    return space
