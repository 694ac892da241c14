"""Ridge by one Cholesky factor per penalty: cheaper than one reduction for all, where the matrix is large and they are few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ...kernels import linear

TELLING = 1e-3  # reciprocal condition below which only the reduction tells dependent columns from nearly dependent ones


def ridge_by_cholesky(
    outside: np.ndarray,
    blocks: np.ndarray,
    p: int,
    n_targets: int,
    centre: np.ndarray,
    level: np.ndarray,
    intercept: bool,
    scaled: bool,
    alphas: np.ndarray,
    near: float,
    stop: np.ndarray,
    coefs: np.ndarray,
    how: np.ndarray,
    seen: np.ndarray,
) -> None:
    """The same as linear.ridge_of_blocks, which is asked where the columns are too nearly collinear to tell by this."""
    q, none = p + 1 + n_targets, np.zeros((0, outside.size))
    m, scale, G, b = (
        np.empty(p),
        np.empty(p),
        np.empty((p, p)),
        np.empty((p, n_targets)),
    )
    for i, total in enumerate(all_but_one(outside, blocks)):
        if stop[0]:
            return
        how[i] = linear.centred_products(
            total, p, n_targets, centre, intercept, scaled, m, scale, G, b, seen[i]
        )
        if how[i] != linear.FINE:
            continue
        z = np.empty((p, n_targets, alphas.size))
        if all(
            _solve(G, b, alphas[s], near, z[:, :, s], seen[i])
            for s in np.argsort(alphas)
        ):
            z *= scale[:, None, None]
            means = (
                total[: q * q].reshape(q, q)[p + 1 :, p] / total[p * q + p]
                if intercept
                else np.zeros(n_targets)
            )
            coefs[i, :p] = z.reshape(p, -1)
            coefs[i, p] = (
                (level + means)[:, None] - np.tensordot(m, z, axes=1)
            ).ravel()
        else:
            own = (centre, level, intercept, scaled, alphas, near, stop)
            linear.ridge_of_blocks(
                total,
                none,
                p,
                n_targets,
                *own,
                coefs[i : i + 1],
                how[i : i + 1],
                seen[i : i + 1],
            )


def all_but_one(outside: np.ndarray, blocks: np.ndarray) -> Iterator[np.ndarray]:
    """outside + all blocks but i, for each i; all of it where there are no blocks. Nothing is subtracted."""
    after = np.zeros((len(blocks) + 1, outside.size))
    for i in reversed(range(len(blocks))):
        after[i] = after[i + 1] + blocks[i]
    before = np.zeros(outside.size)
    for i in range(max(1, len(blocks))):
        yield outside + (before + after[i + 1 if len(blocks) else 0])
        before = before + (blocks[i] if len(blocks) else 0.0)


def _solve(
    G: np.ndarray,
    b: np.ndarray,
    alpha: Any,
    near: float,
    z: np.ndarray,
    seen: np.ndarray,
) -> bool:
    """Fill z with (G + alpha I)^-1 b, the diagonal scaled to 1 meanwhile; whether that kept the digits."""
    norms = np.sqrt(np.diag(G) + alpha)
    if not (norms > 0).all():
        return False
    A = G / np.outer(norms, norms)
    A.flat[:: len(A) + 1] = 1.0
    size = np.abs(A).sum(axis=0).max()
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return False
    share, _ = lapack.dpocon(L.T, size)
    if not share * size >= max(near, TELLING):
        return False
    seen[0] = min(seen[0], share * size)
    z[:] = lapack.dpotrs(L.T, b / norms[:, None])[0] / norms[:, None]
    return True
