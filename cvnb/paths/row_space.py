"""An orthonormal basis of the rows of a table that has more columns than rows.

A penalty on the squares of the coefficients keeps them in the space that the training rows
span, and in an orthonormal basis of it the penalty keeps its form. So n rows need n columns.
"""

from __future__ import annotations

import numpy as np

from ..runtime.cancel import Stop

PANEL = 256  # rows that join the basis together
CLEAR = 1e-8  # share of the largest square of a length; half its digits are right


def basis_of(T: np.ndarray, stop: Stop) -> np.ndarray:
    """Return Q [p, n] with orthonormal columns that span those of T [p, n], n <= p.

    Each panel is made orthogonal to those before it, and again after its own factorisation:
    where it lies in their span, what is left of it is rounding, and any direction will do.
    """
    p, n = T.shape
    Q = np.empty((p, n))
    for a in range(0, n, PANEL):
        before, panel = Q[:, :a], T[:, a : a + PANEL]
        for _ in range(2 if a else 1):
            stop.check()
            panel = panel - before @ (before.T @ panel)
            panel = _orthonormal(panel)
        Q[:, a : a + PANEL] = panel
    return Q


def _orthonormal(T: np.ndarray) -> np.ndarray:
    """Return orthonormal columns, as many as those of T [p, n], that span them.

    Products are quicker than reflections: the eigenvectors of T'T, made orthonormal once more.
    Only what they do not tell apart is left to reflections.
    """
    squares, U = np.linalg.eigh(T.T @ T)
    clear = squares > CLEAR * squares[-1]
    Q: np.ndarray = T @ (U[:, clear] / np.sqrt(squares[clear]))
    Q = Q @ np.linalg.inv(np.linalg.cholesky(Q.T @ Q)).T
    if clear.all():
        return Q
    rest = T @ U[:, ~clear]
    for _ in range(2):
        rest = np.linalg.qr(rest - Q @ (Q.T @ rest))[0]
    return np.column_stack([Q, rest])
