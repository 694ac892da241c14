"""Linear discriminant analysis: one eigendecomposition per training part serves every shrinkage.

scikit-learn shrinks the covariance of each class towards its own mean variance, then averages them by the priors. With A, the
average without shrinkage, the result is

    A(s) = (1 - s) A + s trace(A) / p I,    decision of class k: x' A(s)^-1 m_k - m_k' A(s)^-1 m_k / 2 + log prior_k

so the eigenvectors of A are those of all A(s). solver="eigen" finds the same by another way.
Cost of a split with t test rows, p columns, K classes and S shrinkages: O(p^3 + S K p (p + t)), after O(n p^2) for its part.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ...kernels import scaling
from ...splits.plan import Plan
from ..base import Unsuited
from ..measure import Meter
from ..memory import of_rows
from ..problem import Combination
from .moments import EPS, Moments
from .sums import ClassSweep, answers_of_rows, refuses_priors

NEXT_TO_ZERO = 1e-13  # share of the largest eigenvalue that least squares may or may not take for zero
TIMES = 128.0  # rounding of scikit-learn's decisions, in units of its first-order bound; measured: up to 61
SINGULAR = (
    "the covariance is singular or nearly so at the smallest shrinkage, and refit gives scikit-learn's own; "
    "shrinkages from 0.01 on avoid that"
)


def refuses(last: Any) -> str:
    """Why this last step is not for this path; "" where it is."""
    if last.solver == "svd":
        return "solver='svd', which knows no shrinkage and cuts singular values by a rule of its own"
    if isinstance(last.shrinkage, str):
        return f"shrinkage={last.shrinkage!r}, which is estimated in each class"
    if last.covariance_estimator is not None:
        return "a covariance_estimator"
    return refuses_priors(last.priors)


def products(Z: np.ndarray, w: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """[cells, p, p]: sums of w z z' over the rows from starts[i] up to starts[i + 1]."""
    parts = np.split(Z, starts[1:])
    weights = np.split(w, starts[1:])
    return np.array(
        [one.T @ (one * own[:, None]) for one, own in zip(parts, weights, strict=True)]
    )


class Line:
    """The shrinkages of one combination."""

    def __init__(self, combination: Combination, meter: Meter) -> None:
        self.model, self.scaled, self.which = (
            combination.model,
            combination.scaled,
            combination.which,
        )
        given = [0.0 if value is None else float(value) for value in combination.values]
        self.shrinkages, self.places = np.unique(given, return_inverse=True)
        self.is_raw = meter.method_of(self.model) == "decision_function"

    def decisions(
        self, moments: Moments, Z: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As class_sums.Line.decisions."""
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
        away = (
            np.zeros(p) if self.scaled else moments.origin @ V
        )  # from where scikit-learn counts
        coefs = inverse[:, :, None] * M.T[:, None, :]  # [p, shrinkages, classes]
        levels = log_prior - 0.5 * (inverse.T @ (M * M).T)
        if M.shape[0] == 2:
            coefs, levels = np.diff(coefs, axis=2), np.diff(levels, axis=1)
        elif (
            self.is_raw
        ):  # what all classes have in common is a part of their decisions
            coefs += (inverse * away[:, None])[:, :, None]
            levels += 0.5 * (away**2 @ inverse)[:, None]
        B = np.vstack([V @ coefs.reshape(p, -1), levels.reshape(1, -1)])
        out = np.empty((len(Z), B.shape[1]))
        scaling.decide_all(Z, zero, scale, B, out)
        most = largest + (moments.lost / scale**2).max()
        sizes = _sizes(
            (Z - zero) / scale @ V + away, M + away, inverse, np.diag(A) > 0, most
        )
        doubt = TIMES * EPS * (1.0 + sizes)
        return out.reshape(len(Z), self.shrinkages.size, -1), doubt

    def _priors(self, moments: Moments) -> np.ndarray:
        n_classes, n_rows, p = (
            moments.present.size,
            moments.n.sum(),
            moments.means.shape[1],
        )
        given = self.model.priors
        if (moments.n < 2).any():
            raise Unsuited(
                "a class has one row in a training part, and refit tells what that does"
            )
        if given is not None and len(given) != n_classes:
            raise Unsuited(
                "a training part lacks a class that has a prior, and refit tells what that does"
            )
        if self.model.n_components is not None and self.model.n_components > min(
            n_classes - 1, p
        ):
            raise Unsuited(
                "n_components is too large for a training part, and refit tells what that does"
            )
        return (
            moments.n / n_rows if given is None else np.asarray(given, dtype=np.float64)
        )

    def _inverses(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(eigenvectors [p, p], inverse eigenvalues [p, shrinkages], the largest eigenvalues [shrinkages]).

        A column that is constant in every class has no say without shrinkage, as least squares have it.
        """
        varies = np.diag(A) > 0
        values, V = np.zeros(len(A)), np.eye(len(A))
        inside = np.ix_(varies, varies)
        values[varies], V[inside] = (
            eigh(A[inside]) if varies.any() else (values[varies], V[inside])
        )
        of_all = np.outer(values, 1.0 - self.shrinkages) + self.shrinkages * np.trace(
            A
        ) / len(A)
        largest = of_all.max(axis=0)
        zero = of_all <= NEXT_TO_ZERO * largest
        if (
            zero[varies].any()
            or not varies.any()
            or (zero.any() and self.model.solver == "eigen")
        ):
            raise Unsuited(SINGULAR)
        return (
            V,
            np.divide(1.0, of_all, out=np.zeros_like(of_all), where=~zero),
            largest,
        )


def _sizes(
    Z: np.ndarray,
    M: np.ndarray,
    inverse: np.ndarray,
    varies: np.ndarray,
    most: np.ndarray,
) -> np.ndarray:
    """[rows, shrinkages]: most |A(s)^-1 x| |A(s)^-1 m| in the basis of the eigenvectors, by the largest mean.

    Columns that are constant in every class stand alone in A(s), and touch no others.
    """
    alone, squares = np.abs(M).max(axis=0)[~varies], inverse[varies] ** 2
    of_means = np.sqrt((M[:, varies] ** 2 @ squares).max(axis=0))
    of_rows = np.sqrt(Z[:, varies] ** 2 @ squares)
    return (
        most * (of_rows + of_means) * of_means
        + (np.abs(Z[:, ~varies]) * alone + alone**2) @ inverse[~varies]
    )


sweep = partial(ClassSweep, name="lda", second=products, line=Line)
answers_of_split = partial(answers_of_rows, second=products, line=Line)


def memory(work: Any, plan: Plan) -> float:
    """Bytes: sums of products of columns for each class and block, beside a copy of a training part."""
    n_blocks = min(32, max(plan.n_inner // max(1, plan.n_parts), 1))
    n_classes = len(np.unique(work.data.y))
    return (
        of_rows(work, plan)
        + 8.0 * n_blocks * n_classes * (work.data.n_columns + 3) ** 2
    )
