"""Linear discriminant analysis: one eigendecomposition per training part serves every shrinkage.

scikit-learn shrinks the covariance of each class towards its own mean variance, then averages them
by the priors. With A, the average without shrinkage, the result is

    A(s) = (1 - s) A + s trace(A) / p I
    decision of class k = x' A(s)^-1 m_k - m_k' A(s)^-1 m_k / 2 + log prior_k

so the eigenvectors of A are those of all A(s). solver="eigen" computes the same in another way.
Cost of a split with t test rows, p columns, K classes and S shrinkages: O(p^3 + S K p (p + t)),
after O(n p^2) for its part.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ...kernels import scaling
from ...splits.plan import Plan
from ..base import Unsuited
from ..measure import LossEvaluator
from ..memory import blocks_kept, of_rows
from ..problem import Combination
from .moments import EPS, Moments
from .path import MISSING_CLASS, ClassPath, predictions_from_rows, refuses_priors

NEXT_TO_ZERO = (
    1e-13  # share of the largest eigenvalue that least squares may take for zero
)
TIMES = (
    128.0  # rounding of decisions in units of its first-order bound; measured: up to 61
)
SINGULAR = (
    "the covariance is singular or nearly so at the smallest shrinkage, so only a refit "
    "reproduces scikit-learn's digits; shrinkages from 0.01 on avoid that"
)


def refuses(last: Any) -> str:
    """Return why the path cannot handle this last step, or ""."""
    if last.solver == "svd":
        return (
            "solver='svd', which knows no shrinkage and has its own cut of singular values; "
            "solver='lsqr' is fast"
        )
    if isinstance(last.shrinkage, str):
        return f"shrinkage={last.shrinkage!r}, which is estimated in each class; numbers are fast"
    if last.covariance_estimator is not None:
        return "a covariance_estimator; shrinkage without one is fast"
    return refuses_priors(last.priors)


def products(Z: np.ndarray, w: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return [cells, p, p]: sums of w z z' over the rows from starts[i] up to starts[i + 1]."""
    cells = zip(np.split(Z, starts[1:]), np.split(w, starts[1:]), strict=True)
    return np.array([rows.T @ (rows * own[:, None]) for rows, own in cells])


class ShrinkagePath:
    """The shrinkages of one combination."""

    def __init__(self, combination: Combination, evaluator: LossEvaluator) -> None:
        self.model, self.scaled = combination.model, combination.scaled
        self.which = combination.which
        values = combination.values
        shrinkages = [0.0 if value is None else float(value) for value in values]
        self.shrinkages, self.places = np.unique(shrinkages, return_inverse=True)
        self.is_raw = evaluator.method_of(self.model) == "decision_function"

    def decisions(
        self, moments: Moments, Z: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As DecisionPath.decisions."""
        log_prior = np.log(self._priors(moments))
        p = Z.shape[1]
        zero, scale = np.zeros(p), np.ones(p)
        if self.scaled:
            zero, scale = moments.centre, moments.scale()
        A = np.tensordot(np.exp(log_prior), moments.seconds, 1)
        moments.refuse_lost(np.diag(A))
        A /= np.outer(scale, scale)
        V, inverse, largest = self._inverses(A)
        M = (moments.means - zero) / scale @ V
        # the origin as scikit-learn has it, in the basis of the eigenvectors
        away = np.zeros(p) if self.scaled else moments.origin @ V
        coefs = inverse[:, :, None] * M.T[:, None, :]  # [p, shrinkages, classes]
        levels = log_prior - 0.5 * (inverse.T @ (M * M).T)
        if len(M) == 2:
            coefs, levels = np.diff(coefs, axis=2), np.diff(levels, axis=1)
        elif self.is_raw:  # decisions contain what all classes have in common
            coefs += (inverse * away[:, None])[:, :, None]
            levels += 0.5 * (away**2 @ inverse)[:, None]
        B = np.vstack([V @ coefs.reshape(p, -1), levels.reshape(1, -1)])
        out = np.empty((len(Z), B.shape[1]))
        scaling.decide_all(Z, zero, scale, B, out)
        most = largest + (moments.lost / scale**2).max()
        rows = (Z - zero) / scale @ V
        sizes = _sizes(rows + away, M + away, inverse, np.diag(A) > 0, most)
        doubt = TIMES * EPS * (1.0 + sizes)
        return out.reshape(len(Z), self.shrinkages.size, -1), doubt

    def _priors(self, moments: Moments) -> np.ndarray:
        n_classes, p = moments.means.shape
        priors, n_components = self.model.priors, self.model.n_components
        if (moments.n < 2).any():
            raise Unsuited(
                "a class has one row in a training part; refitting shows what scikit-learn does"
            )
        if priors is not None and len(priors) != n_classes:
            raise Unsuited(MISSING_CLASS)
        if n_components is not None and n_components > min(n_classes - 1, p):
            raise Unsuited(
                "n_components is too large for a training part; "
                "refitting shows what scikit-learn does"
            )
        if priors is None:
            return moments.n / moments.n.sum()
        return np.asarray(priors, dtype=np.float64)

    def _inverses(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return eigenvectors [p, p], inverse eigenvalues [p, shrinkages], largest eigenvalues.

        A column that is constant in every class has no influence without shrinkage, as with least
        squares.
        """
        varies = np.diag(A) > 0
        values, V = np.zeros(len(A)), np.eye(len(A))
        if not varies.any():
            raise Unsuited(SINGULAR)
        inside = np.ix_(varies, varies)
        values[varies], V[inside] = eigh(A[inside])
        added = self.shrinkages * np.trace(A) / len(A)
        shrunk = np.outer(values, 1.0 - self.shrinkages) + added
        largest = shrunk.max(axis=0)
        zero = shrunk <= NEXT_TO_ZERO * largest
        if zero[varies].any() or (zero.any() and self.model.solver == "eigen"):
            raise Unsuited(SINGULAR)
        inverse = np.divide(1.0, shrunk, out=np.zeros_like(shrunk), where=~zero)
        return V, inverse, largest


def _sizes(
    Z: np.ndarray,
    M: np.ndarray,
    inverse: np.ndarray,
    varies: np.ndarray,
    most: np.ndarray,
) -> np.ndarray:
    """Return [rows, shrinkages]: most |A(s)^-1 x| |A(s)^-1 m| for the largest mean m.

    Rows Z and means M are in the basis of the eigenvectors. Columns that are constant in every
    class are on their own in A(s) and do not affect the others.
    """
    constant, squares = np.abs(M).max(axis=0)[~varies], inverse[varies] ** 2
    size_m = np.sqrt((M[:, varies] ** 2 @ squares).max(axis=0))
    size_z = np.sqrt(Z[:, varies] ** 2 @ squares)
    of_constant = np.abs(Z[:, ~varies]) * constant + constant**2
    return most * (size_z + size_m) * size_m + of_constant @ inverse[~varies]


shared_path = partial(ClassPath, name="lda", second=products, make_path=ShrinkagePath)
predictions_of_split = partial(
    predictions_from_rows, second=products, make_path=ShrinkagePath
)


def memory(work: Any, plan: Plan) -> float:
    """Return bytes: class sums of products of columns per block, and a copy of a training part."""
    n_classes = len(np.unique(work.data.y))
    n_products = blocks_kept(plan) * n_classes * (work.data.n_columns + 3) ** 2
    return of_rows(work, plan) + 8.0 * n_products
