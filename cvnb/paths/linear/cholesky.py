"""Ridge by one Cholesky factor per penalty: cheaper than one reduction for all of them if the
matrix is large and they are few."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ...kernels import linear
from .precision import CHOLESKY_CONDITION


def ridge_by_cholesky(
    totals: np.ndarray,
    centre: np.ndarray,
    level: np.ndarray,
    intercept: bool,
    scaled: bool,
    alphas: np.ndarray,
    limit: float,
    stop: np.ndarray,
    coefs: np.ndarray,
    status: np.ndarray,
    conditioning: np.ndarray,
) -> None:
    """Fill coefs, status and conditioning as linear.ridge_of_totals does.

    That kernel takes over if a Cholesky factor cannot tell how nearly collinear columns are.
    """
    p = centre.size
    m = np.empty(p)
    scale = np.empty(p)
    G = np.empty((p, p))
    b = np.empty((p, level.size))
    for i, total in enumerate(totals):
        if stop[0]:
            return
        status[i] = linear.centred_gram(
            total, centre, intercept, scaled, m, scale, G, b, conditioning[i]
        )
        if status[i] != linear.FINE:
            continue
        z = _solve(G, b, alphas, limit, conditioning[i])
        if z is not None:
            z *= scale[:, None, None]
            means = level + target_means(total, p, level.size) if intercept else level
            coefs[i, :p] = z.reshape(p, -1)
            coefs[i, p] = (means[:, None] - np.tensordot(m, z, axes=1)).ravel()
            continue
        own = slice(i, i + 1)
        model = centre, level, intercept, scaled, alphas, limit, stop
        out = coefs[own], status[own], conditioning[own]
        linear.ridge_of_totals(totals[own], *model, *out)


def target_means(total: np.ndarray, p: int, n_targets: int) -> np.ndarray:
    """Return [targets] means of the targets about their level, from the sums of a part."""
    q = p + 1 + n_targets
    return total[: q * q].reshape(q, q)[p + 1 :, p] / total[p * q + p]


def _solve(
    G: np.ndarray,
    b: np.ndarray,
    alphas: np.ndarray,
    limit: float,
    conditioning: np.ndarray,
) -> np.ndarray | None:
    """Return z [p, targets, settings] with z[:, :, s] = (G + alphas[s] I)^-1 b; None if digits
    would be lost."""
    z = np.empty((*b.shape, alphas.size))
    for s in np.argsort(alphas):
        solution = _solve_one(G, b, alphas[s], limit, conditioning)
        if solution is None:
            return None
        z[:, :, s] = solution
    return z


def _solve_one(
    G: np.ndarray, b: np.ndarray, alpha: float, limit: float, conditioning: np.ndarray
) -> np.ndarray | None:
    """Return (G + alpha I)^-1 b, solved with the diagonal scaled to 1; None if digits would be
    lost."""
    norms = np.sqrt(np.diag(G) + alpha)
    if not (norms > 0).all():
        return None
    A = G / np.outer(norms, norms)
    A.flat[:: len(A) + 1] = 1.0
    size = np.abs(A).sum(axis=0).max()
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return None
    reciprocal, _ = lapack.dpocon(L.T, size)
    smallest = reciprocal * size
    if not smallest >= max(limit, CHOLESKY_CONDITION):
        return None
    conditioning[0] = min(conditioning[0], smallest)
    return lapack.dpotrs(L.T, b / norms[:, None])[0] / norms[:, None]
