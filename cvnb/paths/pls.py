"""Partial least squares: one fit of the most components serves every smaller number.

Each component is the direction of the columns that has the largest covariance with what is left
of the targets. A further component changes none of those before it:

    w_k = X' y_k, of length 1        t_k = X w_k, made orthogonal to t_1 ... t_(k-1)
    y_(k+1) = y_k - q_k t_k          q_k = t_k' y_k,  with t_k of length 1

with X and y centred, and scaled by scale=True. scikit-learn subtracts the components from X too,
which gives the same numbers. Cost of a split with n rows, p columns and k components: O(n p k),
two passes over the rows for each component.

How far rounding may change the predictions depends on the data: directions with little covariance
are uncertain, and so is what follows them. So every fit is made twice, once with products that are
changed by about their rounding. Where the two disagree in a digit of a loss, the split is refused.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..kernels import pls
from ..runtime.cancel import Stop
from .base import Unsuited
from .linear.precision import (
    EXACT_FIT,
    EXACT_SHARE,
    LOSS_ERROR,
    NEARLY_CONSTANT,
    SURELY,
    TOO_FAR,
    nearly_constant,
)
from .measure import Predictions
from .problem import SplitProblem

EPS = float(np.finfo(np.float64).eps)
NONE = np.zeros(0)
TIMES = 16.0  # of EPS, by which products are changed; measured: differences of up to 25
TOO_MANY = (
    "n_components is larger than the number of rows or columns of a training part; "
    "refitting shows which settings fail"
)
UNCERTAIN = (
    "rounding decides some of the last components; fewer of them would be fast "
    "and as exact as scikit-learn's"
)


class Frame(NamedTuple):
    """The centres and scales of the columns and the targets of a training part."""

    centre: np.ndarray
    scale: np.ndarray
    level: float
    unit: float


class Components(NamedTuple):
    """The components of a training part.

    rotations  [components, p]: scores of rows X are X @ rotations'
    weights    [components] of the scores in the predictions; 0 from where nothing is left
    """

    rotations: np.ndarray
    weights: np.ndarray


def predictions_of_split(split: SplitProblem) -> tuple[Predictions, int]:
    """Return the predictions of every number of components, and 0 close calls."""
    X, y = split.X_train, split.evaluator.data.y[split.train].astype(np.float64)
    counts = split.combination.values
    most = int(counts.max())
    if most > min(X.shape) or len(X) < 2:
        raise Unsuited(TOO_MANY)
    Z, residual, frame = _framed(X, y, bool(split.combination.model.scale))
    Z_test = (split.X_test - frame.centre) / frame.scale
    fit = components(Z, residual, most, split.stop)
    twin = components(Z, residual, most, split.stop, is_twin=True)
    values = _predictions(fit, Z_test, frame)
    if residual.any():
        errors = _root_mean_squares(values - split.evaluator.data.y[split.test, None])
        doubt = _root_mean_squares(values - _predictions(twin, Z_test, frame))
        _refuse_uncertain(errors, doubt, UNCERTAIN)
        _refuse_uncertain(errors, _doubt_of_centres(fit, frame, len(X)), TOO_FAR)
        if (errors <= EXACT_SHARE * y.std()).any():
            raise Unsuited(EXACT_FIT)
    return Predictions(np.ascontiguousarray(values[:, counts - 1])), 0


def components(
    Z: np.ndarray, y: np.ndarray, most: int, stop: Stop, is_twin: bool = False
) -> Components:
    """Return so many components of centred rows Z and targets y.

    is_twin  products are changed by about their rounding, in the same way in every run
    """
    n, p = Z.shape
    directions, scores = np.zeros((most, p)), np.zeros((most, n))
    shares, weights, noise = np.eye(most), np.zeros(most), NONE
    share = TIMES * EPS * math.sqrt(np.vdot(Z, Z))
    changes = share * math.sqrt(np.vdot(y, y) / p), share / math.sqrt(n)
    if is_twin:
        noise = np.random.default_rng(0).standard_normal(max(n, p) + most)
    out = directions, scores, shares, weights
    is_fine = pls.components(Z, y.copy(), changes, noise, stop.flag, *out)
    stop.check()
    if not is_fine:
        raise Unsuited(UNCERTAIN)
    return Components(solve_triangular(shares, directions, lower=True), weights)


def _framed(
    X: np.ndarray, y: np.ndarray, is_scaled: bool
) -> tuple[np.ndarray, np.ndarray, Frame]:
    """Return rows and targets, centred and scaled as scikit-learn does it, and by what."""
    centre, level = X.mean(axis=0), float(y.mean())
    Z, residual = X - centre, y - level
    if not is_scaled:
        return Z, residual, Frame(centre, np.ones(centre.size), level, 1.0)
    spread = np.sqrt(np.einsum("ij,ij->j", Z, Z) / (len(X) - 1))
    _refuse_nearly_constant(X, Z, centre, spread)
    spread[spread == 0.0] = 1.0
    unit = float(residual.std(ddof=1)) or 1.0
    Z /= spread
    return Z, residual / unit, Frame(centre, spread, level, unit)


def _refuse_nearly_constant(
    X: np.ndarray, Z: np.ndarray, centre: np.ndarray, spread: np.ndarray
) -> None:
    """Refuse columns whose spread is rounding.

    A constant column has none if its mean is exact, in whatever order it is summed.
    """
    for c in np.flatnonzero(nearly_constant(spread**2, centre, len(X), SURELY)):
        column = X[:, c].copy()
        if Z[:, c].any() or column.mean() != column[0]:
            raise Unsuited(NEARLY_CONSTANT)


def _predictions(fit: Components, Z_test: np.ndarray, frame: Frame) -> np.ndarray:
    """Return predictions [rows, components]: those of one component first."""
    shares = (Z_test @ fit.rotations.T) * fit.weights
    sums: np.ndarray = frame.level + frame.unit * np.cumsum(shares, axis=1)
    return sums


def _doubt_of_centres(fit: Components, frame: Frame, n: int) -> np.ndarray:
    """Return [components] what the rounding of means may change in predictions."""
    coefs = np.cumsum(fit.weights[:, None] * fit.rotations, axis=0)
    away = np.linalg.norm(coefs * (frame.centre / frame.scale), axis=1)
    doubt: np.ndarray = 0.5 * EPS * np.sqrt(n) * (abs(frame.level) + frame.unit * away)
    return doubt


def _root_mean_squares(differences: np.ndarray) -> np.ndarray:
    roots: np.ndarray = np.sqrt((differences**2).mean(axis=0))
    return roots


def _refuse_uncertain(errors: np.ndarray, doubt: np.ndarray, why: str) -> None:
    """Refuse predictions whose rounding shows in a loss, for this reason.

    errors, doubt  [components] root mean squares on the test part
    """
    if not (doubt <= 0.5 * LOSS_ERROR * errors).all():
        raise Unsuited(why)


def cost(n: int, p: int, most: int) -> float:
    """Return the multiplications of one split, of both fits."""
    return 4.0 * n * p * (most + 1)
