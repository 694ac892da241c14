"""Lasso and elastic net: sums of products of columns as for ridge, and one descent along the penalties per training part.

Cost of a part with n rows, p columns, K inner splits and S penalties: O(n p^2 + K S p^2) and some sweeps, plus O(n S p) to
predict. Where the minimum is not unique – columns that the others make up – scikit-learn's own is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import lasso, linear
from ..base import Unsuited
from .cholesky import all_but_one

ENOUGH, LOOSE = (
    100,
    1e-3,
)  # iterations and tolerance that leave scikit-learn near the minimum
WIDEST = 2000  # columns of which the products still fit


def refuses(last: Any) -> str:
    """Why these parameters are not for the path; "" where they are."""
    if not isinstance(last.precompute, bool):
        return "precompute=<array>"
    return stops_early(last)


def stops_early(last: Any) -> str:
    """Why what scikit-learn gives is far from the minimum; "" where it is not."""
    if last.max_iter < ENOUGH:
        return f"max_iter={last.max_iter}, which ends before the minimum"
    return (
        f"tol={last.tol:g}, which ends before the minimum" if last.tol > LOOSE else ""
    )


def check(alphas: np.ndarray, n_columns: int) -> None:
    """An error where penalties or columns are not for the path."""
    if not alphas.min() > 0:
        raise Unsuited(
            "alpha=0 is no lasso, and least squares or refit tell what that gives"
        )
    if n_columns > WIDEST:
        raise Unsuited(
            f"products of more than {WIDEST:,} columns take more memory than they save time"
        )


def lasso_of_blocks(
    outside: np.ndarray,
    blocks: np.ndarray,
    p: int,
    centre: np.ndarray,
    level: np.ndarray,
    line: Any,
    stop: np.ndarray,
    coefs: np.ndarray,
    how: np.ndarray,
    seen: np.ndarray,
) -> None:
    """Fill coefs[i] with the models of outside + all blocks but i, as linear.ridge_of_blocks does."""
    q, order = p + 2, np.argsort(-line.alphas, kind="stable")
    m, scale, G, b, found = (
        np.empty(p),
        np.empty(p),
        np.empty((p, p)),
        np.empty((p, 1)),
        np.empty((p, order.size)),
    )
    for i, total in enumerate(all_but_one(outside, blocks)):
        if stop[0]:
            return
        how[i] = linear.centred_products(
            total,
            p,
            1,
            centre,
            line.intercept,
            line.follows_scale,
            m,
            scale,
            G,
            b,
            seen[i],
        )
        if how[i] != linear.FINE:
            continue
        weight, of_y = total[p * q + p], total[(p + 1) * q : (p + 2) * q]
        yy = of_y[p + 1] - (of_y[p] ** 2 / weight if line.intercept else 0.0)
        alphas = weight * line.alphas[order]
        penalties = line.l1_ratio * alphas, (1.0 - line.l1_ratio) * alphas
        how[i] = lasso.descend(
            G, b[:, 0].copy(), yy, *penalties, line.positive, stop, found
        )
        coefs[i, :p, order] = (scale[:, None] * found).T
        coefs[i, p] = (
            level[0] + (of_y[p] / weight if line.intercept else 0.0) - m @ coefs[i, :p]
        )
