"""Ridge, lasso and least squares in a basis: every penalty of a training part from its sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...kernels import linear
from .cholesky import ridge_by_cholesky
from .lasso import lasso_of_totals
from .penalty_path import PenaltyPath
from .precision import (
    EPS,
    FitReport,
    Precision,
    amplification_of,
    smallest_eigenvalue,
)
from .rows import Design, LinearProblem, Model, Origin, column_report
from .wide_lasso import fit_wide, is_wide

# A Cholesky factor for each of two penalties costs less than one reduction of a large matrix.
LARGE, FEW = 200, 2


def ridge_solver(size: int, n_penalties: int) -> Callable[..., None]:
    """Return the cheaper of the two solvers for a Gram matrix of this size."""
    if size >= LARGE and n_penalties <= FEW:
        return ridge_by_cholesky
    return linear.ridge_of_totals


def harmless(n: int) -> np.ndarray:
    """Return [fits, (smallest eigenvalue, spreads away from zero)] for the kernels to worsen."""
    conditioning = np.empty((n, 2))
    conditioning[:] = 1.0, 0.0
    return conditioning


def sums_report(
    path: PenaltyPath, status: int, amplification: float = 1.0
) -> FitReport:
    """Return the report on a fit from sums over blocks."""
    return FitReport(
        from_sums=True,
        least_squares=path.is_least_squares,
        status=status,
        amplification=amplification,
    )


def models_of_totals(
    rows: LinearProblem,
    totals: np.ndarray,
    origin: Origin,
    path: PenaltyPath,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the models of the rows whose sums about this origin are totals[i].

    (coefficients [n, p + 1, targets * settings], status [n], amplification of rounding [n])
    """
    n = len(totals)
    basis = origin.basis
    coefs = np.zeros((n, rows.p + 1, rows.n_targets * path.alphas.size))
    status = np.zeros(n, dtype=np.int64)
    conditioning = harmless(n)
    out = rows.stop, coefs, status, conditioning
    data = totals, origin.shift(), origin.level
    if path.is_lasso:
        lasso_of_totals(*data, path, *out)
        return coefs, status, amplification_of(conditioning)
    solve = ridge_solver(rows.p, path.alphas.size)
    limit = smallest_eigenvalue(in_basis=basis.size > 0)
    solve(*data, path.intercept, path.follows_scale, path.alphas, limit, *out)
    if basis.size:
        coefs[:, :-1] = basis @ coefs[:, :-1]
    return coefs, status, amplification_of(conditioning)


def fit_penalised(
    rows: LinearProblem, train: np.ndarray, path: PenaltyPath, precision: Precision
) -> Model:
    """Return the model of these rows."""
    if path.is_lasso and is_wide(train.size, rows.p):
        return fit_wide(rows, train, path, precision)
    if rows.p > train.size and not path.is_lasso:
        return _fit_dual(rows, train, path, precision)
    return _fit_primal(rows, train, path, precision)


def _fit_primal(
    rows: LinearProblem, train: np.ndarray, path: PenaltyPath, precision: Precision
) -> Model:
    """Fit from the products of columns."""
    origin = rows.origin(train, path)
    totals = rows.sums(train, np.array([0, train.size]), origin)
    coefs, status, amplification = models_of_totals(rows, totals, origin, path)
    _judge(rows, status, amplification, precision)
    return Model(origin.centre, coefs[0])


def _fit_dual(
    rows: LinearProblem, train: np.ndarray, path: PenaltyPath, precision: Precision
) -> Model:
    """Fit from the products of rows: coefficients = A' (A A' + alpha I)^-1 b."""
    design = rows.design(train, path)
    A, b, scale = design.A, design.b, design.scale
    n, alphas = train.size, path.alphas
    if path.scaled and not path.intercept:
        precision.judge(_dual_report(design, alphas))
    norms = np.sqrt((A**2).sum(axis=0) / rows.weight(train))
    precision.judge(column_report(path, design.centre, norms / scale))
    K = A @ A.T
    if path.intercept:
        # K is zero along the roots of the weights, where b is zero too: any number may be there
        root = rows.root[train] if rows.root.size else np.ones(n)
        K += (np.trace(K) / n / (root @ root)) * np.outer(root, root)
    total = _sums_of_products(K, b)
    z = np.zeros((1, n + 1, rows.n_targets * alphas.size))
    status = np.zeros(1, dtype=np.int64)
    conditioning = harmless(1)
    solve = ridge_solver(n, alphas.size)
    data = total[None], np.zeros(n), np.zeros(rows.n_targets)
    limit = smallest_eigenvalue(in_basis=False)
    solve(*data, False, False, alphas, limit, rows.stop, z, status, conditioning)
    _judge(rows, status, amplification_of(conditioning), precision)
    coefs = np.empty((rows.p + 1, rows.n_targets * alphas.size))
    coefs[:-1] = scale[:, None] * (A.T @ z[0, :-1])
    coefs[-1] = np.repeat(design.level, alphas.size) - design.rest @ coefs[:-1]
    return Model(design.centre, coefs)


def _sums_of_products(K: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a vector of sums, as of n columns, whose products are K and b."""
    n, n_targets = b.shape
    q = n + 1 + n_targets
    total = np.zeros(q * q + 2 * n + 1)
    sums = total[: q * q].reshape(q, q)
    sums[:n, :n], sums[n + 1 :, :n] = K, b.T
    return total


def _dual_report(design: Design, alphas: np.ndarray) -> FitReport:
    """Return the report on scaled columns without an intercept.

    A' 1 is zero but for rounding, and b has a part along 1, amplified by 1 / alpha.
    """
    A, b = design.A, design.b
    distance = max(1.0, float(np.abs(design.centre * design.scale).max()))
    relative_level = np.abs(b.mean(axis=0)).max() / (b.std(axis=0).min() or 1.0)
    level = max(1.0, float(relative_level))
    error = EPS * distance * level * (A**2).sum() / len(A)
    return FitReport(dual_error=error, penalty=alphas.min())


def _judge(
    rows: LinearProblem,
    status: np.ndarray,
    amplification: np.ndarray,
    precision: Precision,
) -> None:
    """Judge a single fit from its own rows, unless it was stopped."""
    if not rows.stop[0]:
        precision.judge(FitReport(status=status[0], amplification=amplification[0]))
