"""Lasso and elastic net: sums of products of columns as for ridge, and one descent along
the penalties per training part.

Cost of a part with n rows, p columns, K inner splits and S penalties: O(n p^2 + K S p^2)
and some sweeps, plus O(n S p) to predict. If the minimum is not unique (some columns
depend on others), scikit-learn fits instead. More columns than rows: wide_lasso.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import lasso, linear
from .penalty_path import PenaltyPath
from .precision import FEWEST_ITERATIONS, LARGEST_TOLERANCE


def refuses(last: Any) -> str:
    """Return why these parameters are not for the path; "" if they are."""
    if not isinstance(last.precompute, bool):
        return "precompute=<array>"
    return stops_early(last)


def stops_early(last: Any) -> str:
    """Return why scikit-learn's result is far from the minimum; "" if it is not."""
    if last.max_iter < FEWEST_ITERATIONS:
        return f"max_iter={last.max_iter}, which ends before the minimum"
    if last.tol > LARGEST_TOLERANCE:
        return f"tol={last.tol:g}, which ends before the minimum"
    return ""


def lasso_of_totals(
    totals: np.ndarray,
    centre: np.ndarray,
    level: np.ndarray,
    path: PenaltyPath,
    stop: np.ndarray,
    coefs: np.ndarray,
    status: np.ndarray,
    conditioning: np.ndarray,
) -> None:
    """Fill coefs[i] with the models of the rows whose sums are totals[i], as
    linear.ridge_of_totals does."""
    assert path.l1_ratio is not None
    p = centre.size
    order = np.argsort(-path.alphas, kind="stable")
    q = p + 2
    model = (path.intercept, path.follows_scale)
    m = np.empty(p)
    scale = np.empty(p)
    G = np.empty((p, p))
    b = np.empty((p, 1))
    minima = np.empty((p, order.size))
    for i, total in enumerate(totals):
        if stop[0]:
            return
        status[i] = linear.centred_gram(
            total, centre, *model, m, scale, G, b, conditioning[i]
        )
        if status[i] != linear.FINE:
            continue
        weight = total[p * q + p]
        of_y = total[(p + 1) * q : (p + 2) * q]
        yy = of_y[p + 1]
        mean = level[0]
        if path.intercept:
            yy = yy - of_y[p] ** 2 / weight
            mean = mean + of_y[p] / weight
        alphas = weight * path.alphas[order]
        l1s = path.l1_ratio * alphas
        l2s = (1.0 - path.l1_ratio) * alphas
        status[i] = lasso.descend(
            G, b[:, 0].copy(), yy, l1s, l2s, path.positive, stop, minima
        )
        coefs[i, :p, order] = (scale[:, None] * minima).T
        coefs[i, p] = mean - m @ coefs[i, :p]
