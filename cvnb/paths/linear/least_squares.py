"""Least squares: from singular values, or as ridge without a penalty in a basis where the columns are nearly orthonormal.

The second serves many splits at once. Let R'R = G be the Gram matrix of the centred columns of an outer training part; the rows
x R^-1 have a Gram matrix near I, which is then summed anew from the rows themselves (the second pass of Cholesky-QR2; Yamamoto
et al. 2015: as exact as Householder's QR while cond(X) < 1e8). Every inner training part is a sum of blocks of that one, with
eigenvalues near 1 where no block has most of the leverage. Nothing is solved on a Gram matrix of X itself.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Unsuited
from .rows import (
    CHUNK,
    NO_WEIGHT,
    SURELY,
    Design,
    Line,
    Rounding,
    Rows,
    nearly_constant,
)

ZERO = 1e-13  # a singular value below this share of the largest is rounding: the columns are collinear
CLEAR = 2e-6  # above this it counts, and costs no more digits than a loss can spare
BY_CONDITION = 20.0  # rounding is so many times the condition number
WORST = 0.125  # share of the condition number allowed that the whole part may have, the rest being for its parts


def fit(
    rows: Rows, train: np.ndarray, line: Line, rounding: Rounding
) -> tuple[np.ndarray, np.ndarray]:
    """(centre, coefficients [p + 1, targets * settings]) of the model of these rows."""
    if rows.root.size and not rows.root[train].any():
        raise Unsuited(NO_WEIGHT)
    if line.intercept:
        rows.refuse_far_targets(train, rounding)
    return (_shortest if line.squares else Rows.fit_penalised)(
        rows, train, line, rounding
    )


def _shortest(
    rows: Rows, train: np.ndarray, line: Line, rounding: Rounding
) -> tuple[np.ndarray, np.ndarray]:
    """The shortest of the solutions, as the model sees its columns."""
    assert line.tol is not None
    R, frame = _triangle(rows, train, line)
    norms = np.linalg.norm(R[:, : rows.p], axis=0) / np.sqrt(rows.weight(train))
    rows.refuse_far(line, frame.centre, norms / frame.scale, rounding)
    U, size, V = np.linalg.svd(R[:, : rows.p], full_matrices=False)
    largest = size[0] if size.size else 0.0
    counts = (
        size >= _clear(line) * largest
        if largest > 0
        else np.zeros(size.size, dtype=bool)
    )
    cut = (
        0.5 * line.tol if line.tol > 10 * ZERO else -1.0
    )  # with less, rounding decides what scikit-learn takes for zero
    if (size[~counts] > cut * largest).any():
        raise Unsuited(
            "columns of X are nearly collinear, and which of them count depends on the solver"
        )
    if counts.any():
        rounding.at_least(BY_CONDITION * largest / size[counts].min())
    beta = V[counts].T @ ((U[:, counts].T @ R[:, rows.p :]) / size[counts, None])
    coefs = frame.scale[:, None] * beta
    coefs = np.vstack([coefs, frame.level - frame.rest @ coefs])
    return frame.centre, np.repeat(coefs, line.alphas.size, axis=1)


def _triangle(rows: Rows, train: np.ndarray, line: Line) -> tuple[np.ndarray, Design]:
    """(R of the design and its targets side by side, the design without its rows), from chunks one after the other."""
    if train.size <= CHUNK:
        design = rows.design(train, line)
        return _qr(np.hstack([design.A, design.b])), design
    scale, rest, more = (
        rows.scale(train) if line.scaled else np.ones(rows.p),
        np.zeros(rows.p),
        np.zeros(rows.n_targets),
    )
    centre, level = rows.origin(
        train, line.intercept or line.scaled, line.intercept, weighted=line.intercept
    )
    parts = [train[start : start + CHUNK] for start in range(0, train.size, CHUNK)]
    if line.intercept:  # as in Rows.design
        for part in parts:
            w = rows.root[part] ** 2 if rows.root.size else np.ones(part.size)
            rest, more = (
                rest + w @ (rows.X[part] - centre),
                more + w @ (rows.Y[part] - level),
            )
        rest, more = rest / rows.weight(train), more / rows.weight(train)
    R = np.zeros((0, rows.p + rows.n_targets))
    for part in parts:
        root = rows.root[part, None] if rows.root.size else 1.0
        chunk = root * np.hstack(
            [(rows.X[part] - centre - rest) * scale, rows.Y[part] - level - more]
        )
        R = _qr(np.vstack([R, chunk]))
    return R, Design(R[:, : rows.p], R[:, rows.p :], scale, centre, level + more, rest)


def _qr(A: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.qr(A, mode="r"))


def basis_of(
    rows: Rows, total: np.ndarray, origin: np.ndarray, line: Line, rounding: Rounding
) -> np.ndarray | None:
    """[p, p] R^-1 from the sums over a part about `origin`; None where its columns are not independent enough."""
    p, q = rows.p, rows.p + 1 + rows.n_targets
    M, n = total[: q * q].reshape(q, q), total[-1]
    first, second = total[q * q :][:p] / n, total[q * q + p :][:p] / n
    G, s, W = np.tril(M[:p, :p]) + np.tril(M[:p, :p], -1).T, M[p, :p], M[p, p]
    if line.intercept:
        G = G - np.outer(s, s) / W
    elif line.scaled:
        G = G - np.outer(s, first) - np.outer(first, s) + W * np.outer(first, first)
    variance = np.maximum(second - first**2, 0.0)
    rows.refuse_far(line, origin + first, np.sqrt(variance), rounding)
    if (
        nearly_constant(variance, origin + first, n, SURELY).any()
        or not (np.diag(G) > 0).all()
    ):
        return None
    size, norms = np.sqrt(variance) if line.scaled else np.ones(p), np.sqrt(np.diag(G))
    values = np.linalg.eigvalsh(G / np.outer(size, size))
    if not values[0] > (_clear(line) / WORST) ** 2 * values[-1]:
        return None
    rounding.at_least(BY_CONDITION * math.sqrt(values[-1] / values[0]))
    return np.ascontiguousarray(
        np.linalg.inv(np.linalg.cholesky(G / np.outer(norms, norms))).T / norms[:, None]
    )


def _clear(line: Line) -> float:
    assert line.tol is not None
    return max(CLEAR, 2 * line.tol)
