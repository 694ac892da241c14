"""Conjugate gradients for the steps of logistic regression, on several settings side by side.

    H = C T diag(...) T' + diag(D),  H step = G

T [q, n] holds the columns of a training part, and H is never formed: a product with it is one
with T', the second derivatives of the rows by their decisions, and one with T. All this is in
single precision: an error costs a further step of Newton's method, no digits.

The preconditioner P is the inverse of the diagonal blocks of H, one [q, q] per class, or where
these are too large one for all classes, or the diagonal alone.

Only `Columns` knows how the columns are stored: those of sparse rows are in sparse_columns.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ..kernels import softmax
from ..runtime.cancel import Stop

NEAR, MOST = 1e-16, 1e3  # what may be left, as in the kernel for few coefficients
ITERATIONS = 400
LARGEST_SIDE, LARGEST_BLOCKS = 2000, 2**23  # of a block; numbers of all blocks
RIDGE = 1e-6  # share of its diagonal that is added to a block, in single precision
SAFETY = 5.0  # times the last gain of conjugate gradients: what they leave
LARGEST_REST = 1e-2  # share of what is left that a step may leave
LEAST, TINY = 1e-300, 1e-12  # above zero; smallest diagonal, as a share of the largest
CHUNK = 2**31  # multiplications between two looks at the stop token


class Columns:
    """The columns T [q, n] of a training part, and their products with other matrices."""

    def __init__(self, T: np.ndarray, stop: Stop) -> None:
        self.T, self.single, self.stop = T, T.astype(np.float32), stop

    def decide(self, B: np.ndarray) -> np.ndarray:
        """Return B T [settings, sets, n], in the precision of B."""
        return self._product(B, self._like(B))

    def gather(self, R: np.ndarray) -> np.ndarray:
        """Return R T' [settings, sets, q], in the precision of R."""
        return self._product(R, self._like(R).T)

    def squares(self, v: np.ndarray) -> np.ndarray:
        """Return T diag(v) T' in single precision, for v >= 0."""
        q, n = self.T.shape
        size = max(64, CHUNK // (q * q))
        total = np.zeros((q, q), dtype=np.float32)
        root = np.sqrt(v)
        for a in range(0, n, size):
            self.stop.check()
            part = self.single[:, a : a + size] * root[a : a + size]
            total += part @ part.T
        return total

    def sums_of_squares(self, V: np.ndarray) -> np.ndarray:
        """Return V (T * T)' [sets, q] in single precision."""
        total: np.ndarray = V @ np.square(self.single).T
        return total

    def _like(self, B: np.ndarray) -> np.ndarray:
        return self.single if B.dtype == np.float32 else self.T

    def _product(self, B: np.ndarray, T: np.ndarray) -> np.ndarray:
        self.stop.check()
        flat: np.ndarray = B.reshape(-1, B.shape[2]) @ T
        return flat.reshape(*B.shape[:2], -1)


class Preconditioner:
    """The approximate inverse of second derivatives: [sets or 1, q, q], or a diagonal [sets, q]."""

    def __init__(self, inverse: np.ndarray) -> None:
        self.inverse = inverse

    def __call__(self, r: np.ndarray) -> np.ndarray:
        """Return the product with r [settings, sets, q]."""
        if self.inverse.ndim == 2:
            return self.inverse * r
        if len(self.inverse) == 1:
            flat = r.reshape(-1, r.shape[2]) @ self.inverse[0]
            return flat.reshape(r.shape)
        return np.matmul(r.transpose(1, 0, 2), self.inverse).transpose(1, 0, 2)


@dataclass
class Curvature:
    """Second derivatives of several settings: P as in `softmax.residuals`, in single precision."""

    columns: Columns
    P: np.ndarray
    w: np.ndarray
    D: np.ndarray
    C: np.ndarray

    def times(self, d: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return the product of the loss's second derivatives with d, for settings `which`."""
        A = self.columns.decide(d)
        softmax.bend(self.P, self.w, which, A)
        return self.columns.gather(A)

    def preconditioner(self, s: int) -> Preconditioner:
        """Return the inverse of the blocks of setting s, of H / max(C, 1)."""
        n_sets, q = self.P.shape[1], self.D.size
        V, C = self._of_rows(s), self.C[s]
        if q > LARGEST_SIDE:
            return self.diagonal(s)
        if n_sets > 1 and n_sets * q * q > LARGEST_BLOCKS:
            V = V.mean(axis=0, keepdims=True) * np.float32(n_sets / (n_sets - 1))
        penalty = self.D / max(C, 1.0)
        by = np.float32(min(C, 1.0))
        try:
            blocks = [_inverse(self.columns.squares(v * by), penalty) for v in V]
        except np.linalg.LinAlgError:
            return self.diagonal(s)
        return Preconditioner(np.array(blocks))

    def diagonal(self, s: int) -> Preconditioner:
        """Return the inverse of the diagonal of H / max(C, 1) of setting s."""
        C = self.C[s]
        size = self.columns.sums_of_squares(self._of_rows(s)) * min(C, 1.0)
        size += self.D / max(C, 1.0)
        return Preconditioner(
            (1.0 / np.maximum(size, TINY * size.max())).astype(np.float32)
        )

    def _of_rows(self, s: int) -> np.ndarray:
        """Return the second derivatives of the rows by their decisions [sets, n]."""
        P = self.P[s]
        return self.w * (P if len(P) == 1 else P * (1 - P))


def _inverse(S: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Return the inverse of S + diag(penalty), which may be singular but for rounding."""
    size = np.diag(S) + penalty
    root = 1.0 / np.sqrt(np.maximum(size, TINY * size.max())).astype(np.float32)
    S *= root
    S *= root[:, None]
    np.fill_diagonal(S, size * root * root + RIDGE)
    factor, failed = lapack.spotrf(S.T, lower=0, clean=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError
    inverse, _ = lapack.spotri(factor, lower=0, overwrite_c=1)
    whole = inverse + inverse.T
    np.fill_diagonal(whole, inverse.diagonal())
    whole *= root
    whole *= root[:, None]
    return whole


Groups = list[tuple[Preconditioner, Any]]
Lent = list[Any]  # a Preconditioner for each C; None: the diagonal


@np.errstate(over="ignore", invalid="ignore")  # a poor P is found out below
def conjugate_gradients(
    H: Curvature, which: np.ndarray, G: np.ndarray, P: Lent, curved: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (H^-1 G, G'H^-1 G, share of it that is missing, iterations) of settings `which`.

    The unit of H is max(C, 1), and that of G its norm: no square leaves single precision.
    """
    n, C, D = which.size, H.C[which], H.D.astype(np.float32)
    by, ridge = np.minimum(C, 1.0), 1.0 / np.maximum(C, 1.0)
    norm = np.sqrt((G * G).sum(axis=(1, 2)))
    unit = np.where(norm > 0, norm * norm * ridge, 1.0)
    enough = 0.1 * NEAR * np.minimum(curved, MOST) / unit
    X, left_of, rest, spent = np.zeros_like(G), np.zeros(n), np.ones(n), np.zeros(n)
    r = (G / np.where(norm > 0, norm, 1.0)[:, None, None]).astype(np.float32)
    x, d, live = np.zeros_like(r), np.zeros_like(r), np.arange(n)
    rho, left, steps = np.zeros(n), np.zeros(n), np.zeros(n)
    groups = _groups(P, live)
    softmax.turn(r, _preconditioned(groups, r), d, rho)
    for count in range(1, ITERATIONS + 1):
        h = H.times(d, which[live])
        softmax.advance(by[live], ridge[live], D, d, h, rho, x, r, left, steps)
        softmax.turn(r, _preconditioned(groups, r), d, rho)
        missing = SAFETY * steps * rho
        move = np.sqrt(left * unit[live] / np.maximum(curved[live], LEAST))
        share = np.minimum(LARGEST_REST, move) * left
        ended = ~(missing > np.maximum(enough[live], share))
        if not ended.any() and count < ITERATIONS:
            continue
        ended |= count == ITERATIONS
        done, kept = live[ended], ~ended
        X[done], spent[done], left_of[done] = x[ended], count, left[ended]
        rest[done] = missing[ended] / np.maximum(left[ended], LEAST)
        live, x, r, d = live[kept], x[kept], r[kept], d[kept]
        rho, left, steps = rho[kept], left[kept], steps[kept]
        if not live.size:
            break
        groups = _groups(P, live)
    broken = (norm > 0) & ~((left_of > 0) & np.isfinite(X).all(axis=(1, 2)))
    X[broken], left_of[broken], rest[broken], spent[broken] = 0.0, np.inf, 1.0, np.inf
    X *= (norm * ridge)[:, None, None]
    return centred(X), left_of * unit, rest, spent


def _groups(P: Lent, live: np.ndarray) -> Groups:
    """Return each preconditioner with the places of the live settings that it serves."""
    places: dict[int, list[int]] = {}
    for place, i in enumerate(live):
        places.setdefault(id(P[i]), []).append(place)
    if len(places) == 1:
        return [(P[live[0]], slice(None))]
    return [(P[live[own[0]]], np.array(own)) for own in places.values()]


def _preconditioned(groups: Groups, r: np.ndarray) -> np.ndarray:
    """Return the residuals r, each multiplied by its preconditioner."""
    if len(groups) == 1:
        return groups[0][0](r)
    z = np.empty_like(r)
    for P, places in groups:
        z[places] = P(r[places])
    return z


def centred(G: np.ndarray) -> np.ndarray:
    """Return G with coefficients that sum to zero over several classes."""
    if G.shape[1] > 1:
        G -= G.mean(axis=1, keepdims=True)
    return G
