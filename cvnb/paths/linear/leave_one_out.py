"""Leave-one-out decisions from one fit of all rows: the leverage of a row gives the decision
of the model without it."""

from __future__ import annotations

import numpy as np

from ...kernels import leave_one_out, linear
from .block_sums import Total
from .cholesky import target_means
from .penalised import harmless, sums_report
from .penalty_path import PenaltyPath
from .precision import Precision, amplification_of, smallest_eigenvalue
from .rows import LinearProblem


def left_out(
    rows: LinearProblem,
    total: Total,
    path: PenaltyPath,
    test: np.ndarray,
    precision: Precision,
    out: np.ndarray,
) -> np.ndarray:
    """Fill out[t, target * setting] with the decisions on test[t] of the model of all other rows.

    Return [test] whether a row needs a fit without it: one that has nearly all the weight in its
    own fit, or every row if the fit of all rows is not exact enough.
    """
    origin = total.origin
    p = rows.p
    conditioning = harmless(1)
    basis = origin.basis
    model = path.intercept, path.alphas, smallest_eigenvalue(in_basis=basis.size > 0)
    status, *reduced = linear.reduce_sums(
        total.sums, origin.shift(), rows.n_targets, *model, conditioning[0]
    )
    amplification = amplification_of(conditioning)[0]
    if precision.judge(sums_report(path, status, amplification)).recompute:
        return np.ones(test.size, dtype=np.bool_)
    turn, *factors = leave_one_out.factor(path.alphas, *reduced)
    means, weight = origin.level, np.inf
    if path.intercept:
        weight = total.sums[p * (p + 1 + rows.n_targets) + p]
        means = means + target_means(total.sums, p, rows.n_targets)
    turn = basis @ turn if basis.size else turn
    U = turn.T @ (rows.X[test] - origin.centre).T
    alone = np.zeros(test.size, dtype=np.bool_)
    leave_one_out.left_out(
        U, test, rows.Y, rows.root, means, weight, *factors, out, alone
    )
    return alone
