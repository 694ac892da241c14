"""The range in which a loss lies, which bounds the ends of its intervals."""

from __future__ import annotations

from math import inf
from typing import Any

from .loss import Loss, zero_one

SHARES = {
    "accuracy_score", "average_precision_score", "f1_score", "fbeta_score",
    "jaccard_score", "ndcg_score", "precision_score", "recall_score", "roc_auc_score",
    "zero_one_loss",
}  # fmt: skip
AT_MOST_ONE = {
    "balanced_accuracy_score", "cohen_kappa_score", "d2_absolute_error_score",
    "d2_brier_score", "d2_log_loss_score", "d2_pinball_score", "d2_tweedie_score",
    "explained_variance_score", "matthews_corrcoef", "r2_score",
}  # fmt: skip
AT_LEAST_ZERO = {
    "brier_score_loss", "dcg_score", "hinge_loss", "log_loss", "max_error",
    "mean_absolute_error", "mean_absolute_percentage_error", "mean_gamma_deviance",
    "mean_pinball_loss", "mean_poisson_deviance", "mean_squared_error",
    "mean_squared_log_error", "mean_tweedie_deviance", "median_absolute_error",
    "negative_likelihood_ratio", "positive_likelihood_ratio", "root_mean_squared_error",
    "root_mean_squared_log_error",
}  # fmt: skip


def range_of(loss: Loss) -> tuple[float, float]:
    """(smallest, largest) value that this loss can have; infinite where it is not known.

    >>> from cvnb.losses.loss import find_loss
    >>> range_of(find_loss("squared", None, "regression", None))
    (0.0, inf)
    """
    if loss.scorer is None:
        upper = 1.0 if loss.rows is zero_one else inf
        return (0.0, upper) if loss.is_known else (-inf, inf)
    low, high = _range_of_metric(*loss.formula)
    return (0.0 - high, 0.0 - low) if loss.is_score else (low, high)


def _range_of_metric(name: str, options: dict[str, Any]) -> tuple[float, float]:
    if name in SHARES:
        is_share = options.get("normalize", True)
        return 0.0, 1.0 if is_share else inf
    if name in AT_MOST_ONE:
        return -inf, 1.0
    return (0.0, inf) if name in AT_LEAST_ZERO else (-inf, inf)
