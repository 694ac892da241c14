"""An orthonormal basis of the rows of a table that has more columns than rows.

A penalty on the squares of the coefficients keeps them in the space that the training rows
span, and in an orthonormal basis of it the penalty keeps its form. So n rows need n columns.
"""

from __future__ import annotations

import numpy as np

from ..runtime.cancel import Stop

PANEL = 256  # rows that join the basis together
# Shares of the largest length: a column that leaves more beyond the basis joins it, and one
# that leaves less is a combination of others.
CLEAR, ROUNDING = 1e-4, 1e-12


def basis_of(T: np.ndarray, stop: Stop) -> np.ndarray:
    """Return Q [p, rank] with orthonormal columns that span those of T [p, n], n <= p.

    Each panel is made orthogonal to those before it, and again after its own factorisation.
    Where it is not clear which columns of T depend on others, reflections give a basis.
    """
    Q, largest = np.empty(T.shape), 0.0
    rank = 0
    for a in range(0, T.shape[1], PANEL):
        before, panel = Q[:, :rank], T[:, a : a + PANEL]
        largest = max(largest, float(np.linalg.norm(panel, axis=0).max()))
        for size in (largest, 1.0)[: 2 if a else 1]:
            stop.check()
            panel, rest = _split(panel - before @ (before.T @ panel), CLEAR * size)
            if rest > ROUNDING * size:
                return np.linalg.qr(T)[0]
        Q[:, rank : rank + panel.shape[1]] = panel
        rank += panel.shape[1]
    return Q[:, :rank]


def _split(T: np.ndarray, limit: float) -> tuple[np.ndarray, float]:
    """Return (orthonormal columns, the length of the largest combination of T beyond their span).

    Combinations shorter than the limit are left out. Products are quicker than reflections; a
    second factorisation makes up for their rounding.
    """
    squares, U = np.linalg.eigh(T.T @ T)
    clear = squares > limit**2
    beyond = T @ U[:, ~clear]
    Q: np.ndarray = T @ (U[:, clear] / np.sqrt(squares[clear]))
    Q = Q @ np.linalg.inv(np.linalg.cholesky(Q.T @ Q)).T
    return Q, float(np.linalg.norm(beyond, axis=0).max(initial=0.0))
