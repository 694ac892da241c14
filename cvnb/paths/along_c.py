"""The path of logistic regression along C on one training part.

Up to LARGEST coefficients are solved with factors of their second derivatives, in one compiled
loop (cvnb/kernels/logistic.py), more of them by matrix products (newton.py). Of more
columns than rows, n combinations of columns are left that hold all that the rows tell
(row_space.py). Sparse rows are solved by products, and are not centred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import compute_class_weight

from ..kernels import l1_logistic, logistic, scaling
from ..runtime.cancel import Stop
from .base import Unsuited, weights_of
from .conjugate import Columns, Lent
from .measure import LossEvaluator
from .newton import Newton, Unended
from .problem import Combination
from .row_space import basis_of
from .sparse_columns import SparseColumns

LARGEST = 400  # coefficients whose second derivatives are worth factors
NEWTON = ("newton-cg", "newton-cholesky")  # solvers that tolerate uneven scales
# Spread away from zero, or between scales, beyond which scikit-learn misses the minimum:
FAR, FARTHEST = 30.0, 1000.0  # with lbfgs, and with Newton solvers
LIMITS = {  # of distances, and between scales
    **dict.fromkeys(NEWTON, (FARTHEST, np.inf)),
    "saga": (1.0, 10.0),  # 1 % of a log loss is left there after its 100 iterations
}
SLIGHT = 0.1  # smaller spreads are no harder for it: the penalty bounds what is flat
UNENDED = "Newton's method does not converge, and a refit gives scikit-learn's numbers"
UNEVEN = (
    "columns lie so far from zero, or differ so much in scale, that scikit-learn's "
    "solver stops before the minimum, and a refit gives its numbers; with a StandardScaler "
    "before the model both agree"
)
WITHOUT_MINIMUM = {
    l1_logistic.UNENDED: UNENDED,
    l1_logistic.TIED: (
        "at the minimum of an l1 penalty some columns depend on others, so that it is not "
        "unique; with l1_ratio=0.99 it is"
    ),
    l1_logistic.DEPENDENT: (
        "columns that an l1 penalty leaves are so nearly dependent that rounding shows"
    ),
    l1_logistic.WIDE: (
        f"more than {l1_logistic.WIDEST:,} columns are near their l1 penalty; smaller C "
        "are on the fast path"
    ),
}
CONSTANT = (
    "all columns of a training part are constant, and rounding decides between its "
    "classes"
)
MANY_CLASSES = (
    "an l1 penalty and more than two classes; with two classes, or l1_ratio=0 and "
    "solver='lbfgs', it is on the fast path"
)


@dataclass(frozen=True)
class Fitted:
    """A fitted path, in units (x - mean) / scale.

    path     solutions [1, settings in the order of C, sets, p], or [2, ...] with their tangents
    lent     second derivatives of the loss [sets * p, sets * p] at the first C, or
             a preconditioner for each C; None: neither is known
    weight   total weight of its rows
    present  codes of the classes of its rows
    """

    path: np.ndarray
    lent: np.ndarray | Lent | None
    weight: float
    mean: np.ndarray
    scale: np.ndarray
    present: np.ndarray

    def in_units(self, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the path in units (x - mean) / scale."""
        p, path = mean.size, self.path.copy()
        shift = self.path[..., :p] @ ((mean - self.mean) / self.scale)
        path[..., p:] += shift[..., None]
        path[..., :p] *= scale / self.scale
        return path

    def lent_in_units(
        self, mean: np.ndarray, scale: np.ndarray, weight: float
    ) -> np.ndarray | Lent | None:
        """Return what is lent in units (x - mean) / scale, for rows of this total weight.

        Preconditioners remain as they are: they need not be exact.
        """
        if not isinstance(self.lent, np.ndarray):
            return self.lent
        p, (n_sets, q) = mean.size, self.path.shape[2:]
        # x in the new units is turn @ (x in the old units)
        turn = np.diag(np.append(self.scale / scale, np.ones(q - p)))
        turn[:p, p:] = ((self.mean - mean) / scale)[:, None]
        half = (turn @ self.lent.reshape(n_sets, q, -1)).reshape(-1, q) @ turn.T
        return half.reshape(self.lent.shape) * (weight / self.weight)

    def decisions(self, X: Any) -> np.ndarray:
        """Return decisions [rows, settings in the order of C, sets]."""
        n_settings, n_sets, q = self.path[0].shape
        B = np.ascontiguousarray(self.path[0].reshape(-1, q).T)
        if sp.issparse(X):  # in its own units
            p = X.shape[1]
            decisions = X @ B[:p] + B[p:].sum(axis=0)
            return np.asarray(decisions).reshape(-1, n_settings, n_sets)
        decisions = np.empty((len(X), n_settings * n_sets))
        X = np.ascontiguousarray(X, dtype=np.float64)
        scaling.decide_all(X, self.mean, self.scale, B, decisions)
        return decisions.reshape(len(X), n_settings, n_sets)


@dataclass(frozen=True)
class _Part:
    """A training part: columns T [q, n], the last one of ones if the model has an intercept.

    y       index of the class of each row
    w       weights of the rows
    D       penalty of each column
    n_sets  sets of coefficients: one for two classes, otherwise one per class
    l1      share of the l1 penalty
    """

    T: np.ndarray | SparseColumns
    y: np.ndarray
    w: np.ndarray
    D: np.ndarray
    n_sets: int
    l1: float

    def solve(
        self,
        Cs: np.ndarray,
        start: np.ndarray | None,
        lent: np.ndarray | Lent | None,
        stop: Stop,
    ) -> tuple[np.ndarray, np.ndarray | Lent | None]:
        """Return (path as in Fitted, what it lends), from a path nearby if there is one."""
        T = self.T
        if isinstance(T, SparseColumns):
            return self._by_products(T, Cs, start, lent)
        if self.l1:
            return self._with_l1(T, Cs, start, stop), None
        if self.n_sets * self.D.size > LARGEST:
            return self._by_products(Columns(T, stop), Cs, start, lent)
        return self._by_factors(T, Cs, start, lent, stop)

    def _with_l1(
        self, T: np.ndarray, Cs: np.ndarray, start: np.ndarray | None, stop: Stop
    ) -> np.ndarray:
        """Solve with an l1 or elastic net penalty, for two classes."""
        q, p, codes = self.D.size, np.count_nonzero(self.D), self.y.astype(np.float64)
        path = np.zeros((1, Cs.size, 1, q))
        near = np.zeros((0, q)) if start is None else start[0, :, 0]
        problem = (T, codes, self.w, p, Cs, self.l1, 1.0 - self.l1)
        status = l1_logistic.along_C(*problem, stop.flag, near, path[0, :, 0])
        stop.check()
        if status != l1_logistic.FINE:
            raise Unsuited(WITHOUT_MINIMUM[status])
        return path

    def _by_factors(
        self,
        T: np.ndarray,
        Cs: np.ndarray,
        start: np.ndarray | None,
        lent: np.ndarray | Lent | None,
        stop: Stop,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve with factors of the second derivatives."""
        n_sets, q = self.n_sets, self.D.size
        path = np.empty((2, Cs.size, n_sets, q))
        first = np.empty((n_sets * q, n_sets * q))
        if start is None or start.shape != path.shape:
            start = np.zeros_like(path)
        if not isinstance(lent, np.ndarray):
            lent = np.zeros((0, 0))
        codes = self.y.astype(np.float64)
        status = logistic.along_C(
            T, codes, self.w, self.D, Cs, stop.flag, start, lent, path, first
        )
        stop.check()
        if status != logistic.FINE:
            raise Unsuited(UNENDED)
        return path, first

    def _by_products(
        self,
        columns: Columns,
        Cs: np.ndarray,
        start: np.ndarray | None,
        lent: np.ndarray | Lent | None,
    ) -> tuple[np.ndarray, Lent]:
        """Solve by conjugate gradients."""
        if start is None:
            start = np.zeros((1, Cs.size, self.n_sets, self.D.size))
        newton = Newton(columns, self.y, self.w, self.D)
        if self.n_sets == 1 or not isinstance(lent, list):
            lent = None
        try:
            path, used = newton.along(Cs, start[0], lent)
        except Unended:
            raise Unsuited(UNENDED) from None
        return path[None], used


class CPath:
    """The path along C of one combination, to be fitted on any rows."""

    def __init__(self, combination: Combination, evaluator: LossEvaluator) -> None:
        self.model, self.scaled = combination.model, combination.scaled
        self.which, values = combination.which, combination.values
        if values.dtype.itemsize < 8:
            raise Unsuited(
                f"C of {values.dtype}, a type in which scikit-learn's products overflow"
            )
        # Equal values of C share one solution.
        Cs, self.places = np.unique(values, return_inverse=True)
        self.Cs = np.ascontiguousarray(Cs, dtype=np.float64)
        self.evaluator, self.intercept = evaluator, bool(self.model.fit_intercept)
        self.l1 = l1_share(self.model)
        assert evaluator.classes is not None
        if self.l1 and evaluator.classes.size > 2:
            raise Unsuited(MANY_CLASSES)

    def fit(
        self,
        X: np.ndarray,
        rows: np.ndarray,
        train: np.ndarray,
        near: Fitted | None,
        stop: Stop,
    ) -> Fitted:
        """Return the path fitted on X[rows].

        rows   indices of the training rows in X
        train  indices of the training rows in the data of the evaluator
        near   a path fitted on similar rows, to start from
        stop   ends the kernel
        """
        if sp.issparse(X):
            X, rows = X[rows], np.arange(rows.size)
        present, y = self._classes(train)
        n_sets, p = 1 if present.size == 2 else present.size, X.shape[1]
        mean, scale = self._units(X, rows)
        w = self._weights(train, y)
        if near is not None and not np.array_equal(near.present, present):
            near = None
        T: np.ndarray | SparseColumns
        Q = None
        if sp.issparse(X):
            T = SparseColumns(X, self.intercept, stop)
        else:
            T = _columns(X, rows, mean, scale, p + self.intercept)
            if p > rows.size and not self.l1:
                Q = basis_of(T[:p], stop)
                T = np.concatenate([Q.T @ T[:p], T[p:]])
        D = np.ones((p if Q is None else Q.shape[1]) + self.intercept)
        D[D.size - self.intercept :] = 0.0
        part = _Part(T, y, w, D, n_sets, self.l1)
        start = None if near is None else near.in_units(mean, scale)
        if start is not None and Q is not None:
            start = _turned(start, Q)
        lent: np.ndarray | Lent | None = None
        if near is not None and Q is None:
            lent = near.lent_in_units(mean, scale, float(w.sum()))
        path, lent = part.solve(self.Cs, start, lent, stop)
        if Q is not None:
            path, lent = _turned(path, Q.T), None
        if not np.isfinite(path[0]).all():
            raise Unsuited(UNENDED)
        return Fitted(path, lent, float(w.sum()), mean, scale, present)

    def _classes(self, train: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (codes of the classes of the training rows, index into them for each row)."""
        assert self.evaluator.codes is not None
        codes = self.evaluator.codes[train]
        present = np.flatnonzero(np.bincount(codes))
        if present.size < 2:
            raise Unsuited(
                "a training part holds one class only, and a refit shows what "
                "scikit-learn does then"
            )
        return present, np.searchsorted(present, codes)

    def _units(self, X: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the (mean, scale) to centre and divide by: centring needs an intercept."""
        mean, scale = moments_of(X, rows)
        if self.scaled:
            return mean, scale
        away, solver = (np.abs(mean) / scale).max(), self.model.solver
        uneven = scale.max() / max(scale.min(), SLIGHT)
        if solver == "saga":  # the intercept is a column of ones
            uneven = max(scale.max(), 1.0) / min(scale.min(), 1.0)
        most_away, most_uneven = LIMITS.get(solver, (FAR, FAR))
        if away > most_away or uneven > most_uneven:
            raise Unsuited(UNEVEN)
        centred = self.intercept and not sp.issparse(X)
        return mean * centred, np.ones_like(scale)

    def _weights(self, train: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the sample weights of the training rows times those of their classes."""
        w = weights_of(self.evaluator.data, train)
        w = np.ones(y.size) if w is None else w
        if self.model.class_weight is None:
            return w
        of_classes: np.ndarray = compute_class_weight(
            self.model.class_weight, classes=np.unique(y), y=y, sample_weight=w
        )
        return w * of_classes[y]

    def decisions(self, fitted: Fitted, X: np.ndarray) -> np.ndarray:
        """Return decisions [rows, settings, sets]."""
        return fitted.decisions(X)[:, self.places]


def l1_share(model: Any) -> float:
    """Return the share of the l1 penalty: 0 for l2, 1 for l1, between them elastic net."""
    by_name = {"l1": 1.0, "l2": 0.0, None: 0.0}
    return by_name.get(model.penalty, float(model.l1_ratio or 0.0))


def moments_of(X: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (means, standard deviations) of X[rows], of all rows if X is sparse.

    The deviation of a constant column is 1.
    """
    if not sp.issparse(X):
        mean, scale = np.empty(X.shape[1]), np.empty(X.shape[1])
        scaling.moments(X, rows, mean, scale)
        return mean, scale
    n = rows.size
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    varies = square - mean**2 > n * np.finfo(float).eps * square
    if not varies.any():
        raise Unsuited(CONSTANT)
    return mean, np.sqrt(np.where(varies, square - mean**2, 1.0))


def _columns(
    X: np.ndarray, rows: np.ndarray, mean: np.ndarray, scale: np.ndarray, q: int
) -> np.ndarray:
    """Return the columns [q, rows] of X[rows] in units (x - mean) / scale, then ones."""
    p, T = X.shape[1], np.empty((q, rows.size))
    scaling.columns(X, rows, mean, scale, T)
    if (T[:p, 0] == T[:p, -1]).all() and (T[:p] == T[:p, :1]).all():
        raise Unsuited(CONSTANT)
    return T


def _turned(path: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return the path with coefficients of other columns: those of the old ones, times Q."""
    p = len(Q)
    return np.concatenate([path[..., :p] @ Q, path[..., p:]], axis=3)
