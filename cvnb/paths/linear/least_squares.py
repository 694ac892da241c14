"""Least squares: from singular values, or as ridge without a penalty in a basis where the
columns are nearly orthonormal.

The second serves many splits at once. Let R'R = G be the Gram matrix of the centred columns
of an outer training part. The rows x R^-1 have a Gram matrix near I, which is then summed
anew from the rows themselves (the second pass of Cholesky-QR2; Yamamoto et al. 2015: as
exact as Householder's QR while cond(X) < 1e8). Every inner training part is a sum of blocks
of that one, with eigenvalues near 1 if no block has most of the leverage. Nothing is
solved on a Gram matrix of X itself.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ..base import Unsuited
from .penalised import fit_penalised
from .penalty_path import PenaltyPath
from .precision import (
    COLLINEAR,
    PER_EIGENVALUE,
    SMALLEST_EIGENVALUE,
    SURELY,
    UNCLEAR_RANK,
    FitReport,
    Precision,
    gram_report,
    nearly_constant,
    rank_report,
)
from .rows import CHUNK, Design, LinearProblem, Model, column_report


def fit(
    rows: LinearProblem, train: np.ndarray, path: PenaltyPath, precision: Precision
) -> Model:
    """Return the model of these rows."""
    rows.refuse_weightless(train)
    if path.intercept:
        precision.judge(rows.target_report(train))
    if path.is_least_squares:
        return _shortest(rows, train, path, precision)
    return fit_penalised(rows, train, path, precision)


def _shortest(
    rows: LinearProblem, train: np.ndarray, path: PenaltyPath, precision: Precision
) -> Model:
    """Return the shortest of the solutions, in the columns that the model sees."""
    assert path.tol is not None
    R, design = _triangle(rows, train, path)
    norms = np.linalg.norm(R[:, : rows.p], axis=0) / np.sqrt(rows.weight(train))
    precision.judge(column_report(path, design.centre, norms / design.scale))
    U, sizes, V = np.linalg.svd(R[:, : rows.p], full_matrices=False)
    counts, report = rank_report(sizes, path.tol)
    precision.judge(report)
    products = U[:, counts].T @ R[:, rows.p :]
    beta = V[counts].T @ (products / sizes[counts, None])
    coefs = design.scale[:, None] * beta
    coefs = np.vstack([coefs, design.level - design.rest @ coefs])
    return Model(design.centre, np.repeat(coefs, path.alphas.size, axis=1))


def leading_decisions(
    rows: LinearProblem,
    path: PenaltyPath,
    precision: Precision,
    X_test: np.ndarray,
    counts: np.ndarray,
) -> np.ndarray:
    """Return decisions [test rows, targets, settings] of fits on the first counts[i] columns.

    In X = QR the first k columns of Q have the same span, so a fit on them is a sum of what
    each column of Q adds. A penalty adds the rows sqrt(alpha) I to X. Fewer columns have no
    smaller singular values, so one verdict holds for every number of columns.
    """
    train = np.arange(len(rows.X))
    rows.refuse_weightless(train)
    if path.intercept:
        precision.judge(rows.target_report(train))
    R, design = _triangle(rows, train, path)
    A, b = R[: rows.p, : rows.p], R[: rows.p, rows.p :]
    norms = np.linalg.norm(A, axis=0) / np.sqrt(rows.weight(train))
    precision.judge(column_report(path, design.centre, norms / design.scale))
    if len(A) < rows.p:
        raise Unsuited(UNCLEAR_RANK)
    Z = (X_test - design.centre - design.rest) * design.scale
    out = np.empty((len(Z), rows.n_targets, counts.size))
    for alpha in np.unique(path.alphas).tolist():
        own, targets = _penalised(A, b, alpha)
        _judge_triangle(own, path, precision)
        scores = solve_triangular(own, Z.T, trans="T")
        sums = np.cumsum(scores[:, :, None] * targets[:, None, :], axis=0)
        same = np.flatnonzero(path.alphas == alpha)
        out[:, :, same] = (design.level + sums[counts[same] - 1]).transpose(1, 2, 0)
    return out


def _penalised(
    A: np.ndarray, b: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangle of columns A and targets b with the rows sqrt(alpha) I and 0."""
    if alpha == 0.0:
        return A, b
    p = len(A)
    more = np.hstack([np.sqrt(alpha) * np.eye(p), np.zeros(b.shape)])
    R = _qr(np.vstack([np.hstack([A, b]), more]))
    return R[:p, :p], R[:p, p:]


def _judge_triangle(R: np.ndarray, path: PenaltyPath, precision: Precision) -> None:
    """Judge the rank of least squares, or how nearly collinear penalised columns are."""
    if path.tol is not None:
        counts, report = rank_report(np.linalg.svd(R, compute_uv=False), path.tol)
        if not counts.all():
            raise Unsuited(UNCLEAR_RANK)
        precision.judge(report)
        return
    norms = np.linalg.norm(R, axis=0)
    if not norms.all():
        raise Unsuited(COLLINEAR)
    smallest = float(np.linalg.svd(R / norms, compute_uv=False)[-1]) ** 2
    if smallest < SMALLEST_EIGENVALUE:
        raise Unsuited(COLLINEAR)
    precision.judge(FitReport(amplification=PER_EIGENVALUE / smallest))


def _triangle(
    rows: LinearProblem, train: np.ndarray, path: PenaltyPath
) -> tuple[np.ndarray, Design]:
    """Return (R of the design and its targets side by side, the design with or without rows)."""
    if train.size <= CHUNK:
        design = rows.design(train, path)
        return _qr(np.hstack([design.A, design.b])), design
    scale = rows.scale(train) if path.scaled else np.ones(rows.p)
    centre, level, _ = rows.origin(train, path)
    chunks = [train[start : start + CHUNK] for start in range(0, train.size, CHUNK)]
    rest = np.zeros(rows.p)
    more = np.zeros(rows.n_targets)
    if path.intercept:  # as in LinearProblem.design
        for chunk in chunks:
            w = rows.row_weights(chunk)
            rest = rest + w @ (rows.X[chunk] - centre)
            more = more + w @ (rows.Y[chunk] - level)
        weight = rows.weight(train)
        rest = rest / weight
        more = more / weight
    R = np.zeros((0, rows.p + rows.n_targets))
    for chunk in chunks:
        root = rows.root[chunk, None] if rows.root.size else 1.0
        X = (rows.X[chunk] - centre - rest) * scale
        own = root * np.hstack([X, rows.Y[chunk] - level - more])
        R = _qr(np.vstack([R, own]))
    A = R[:, : rows.p]
    b = R[:, rows.p :]
    return R, Design(A, b, scale, centre, level + more, rest)


def _qr(A: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.qr(A, mode="r"))


def basis_of(
    rows: LinearProblem,
    total: np.ndarray,
    origin: np.ndarray,
    path: PenaltyPath,
    precision: Precision,
) -> np.ndarray | None:
    """Return [p, p] R^-1 from the sums over a part about `origin`.

    None if its columns are not independent enough.
    """
    assert path.tol is not None
    p = rows.p
    q = rows.p + 1 + rows.n_targets
    n = total[-1]
    first = total[q * q :][:p] / n
    second = total[q * q + p :][:p] / n
    variance = np.maximum(second - first**2, 0.0)
    precision.judge(column_report(path, origin + first, np.sqrt(variance)))
    G = _centred_gram(total[: q * q].reshape(q, q), first, path)
    varies = ~nearly_constant(variance, origin + first, n, SURELY)
    if not (varies & (np.diag(G) > 0)).all():
        report = FitReport(from_sums=True, unclear_rank=True)
    else:
        sizes = np.sqrt(variance) if path.scaled else np.ones(p)
        eigenvalues = np.linalg.eigvalsh(G / np.outer(sizes, sizes))
        report = gram_report(eigenvalues, path.tol)
    if precision.judge(report).recompute:
        return None
    norms = np.sqrt(np.diag(G))
    L = np.linalg.cholesky(G / np.outer(norms, norms))
    return np.ascontiguousarray(np.linalg.inv(L).T / norms[:, None])


def _centred_gram(M: np.ndarray, mean: np.ndarray, path: PenaltyPath) -> np.ndarray:
    """Return [p, p] products of the columns from M, the lower half of those about an origin.

    mean  [p] unweighted means of the columns about it, which a scaler takes out
    """
    p = mean.size
    G = np.tril(M[:p, :p]) + np.tril(M[:p, :p], -1).T
    s = M[p, :p]
    W = M[p, p]
    if path.intercept:
        G = G - np.outer(s, s) / W
    elif path.scaled:
        G = G - np.outer(s, mean) - np.outer(mean, s) + W * np.outer(mean, mean)
    return G
