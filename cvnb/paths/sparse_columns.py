"""The columns of a sparse training part, and their products, for logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime.cancel import Stop
from .conjugate import Columns


class SparseColumns(Columns):
    """The rows of X, then ones if there is an intercept, as columns T [q, n]; never made dense.

    Products are made with the rows and with their transpose, in either precision.
    """

    def __init__(self, X: Any, intercept: bool, stop: Stop) -> None:
        self.intercept, self.stop = intercept, stop
        self.rows = {
            np.dtype(kind): X.astype(kind) for kind in (np.float64, np.float32)
        }
        self.columns = {kind: own.T.tocsr() for kind, own in self.rows.items()}

    def decide(self, B: np.ndarray) -> np.ndarray:
        """Return B T [settings, sets, n], in the precision of B."""
        self.stop.check()
        X, flat = self.rows[B.dtype], B.reshape(-1, B.shape[2])
        decisions = (X @ np.ascontiguousarray(flat[:, : X.shape[1]].T)).T
        if self.intercept:
            decisions = decisions + flat[:, -1:]
        return np.ascontiguousarray(decisions).reshape(*B.shape[:2], -1)

    def gather(self, R: np.ndarray) -> np.ndarray:
        """Return R T' [settings, sets, q], in the precision of R."""
        self.stop.check()
        flat = R.reshape(-1, R.shape[2])
        sums = (self.columns[R.dtype] @ np.ascontiguousarray(flat.T)).T
        return self._with_ones(sums, flat.sum(axis=1)).reshape(*R.shape[:2], -1)

    def squares(self, v: np.ndarray) -> np.ndarray:
        """Return T diag(v) T' in single precision, for v >= 0."""
        self.stop.check()
        T = self.columns[np.dtype(np.float32)]
        weighted = T.multiply(v).tocsr()
        squares = (weighted @ T.T).toarray()
        if not self.intercept:
            return np.ascontiguousarray(squares)
        sums = self._with_ones(np.asarray(weighted.sum(axis=1)).reshape(1, -1), v.sum())
        return np.block([[squares, sums[:, :-1].T], [sums]]).astype(np.float32)

    def sums_of_squares(self, V: np.ndarray) -> np.ndarray:
        """Return V (T * T)' [sets, q] in single precision."""
        T = self.columns[np.dtype(np.float32)]
        return self._with_ones((T.multiply(T) @ V.T).T, V.sum(axis=1))

    def _with_ones(self, sums: np.ndarray, of_ones: np.ndarray) -> np.ndarray:
        """Return the sums over the columns, with that over ones as the last."""
        if self.intercept:
            sums = np.column_stack([sums, np.broadcast_to(of_ones, len(sums))])
        return np.ascontiguousarray(sums)
