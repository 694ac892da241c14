"""scikit-learn's metrics: the names of their scorers, and the targets that they can score."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from sklearn.metrics import get_scorer, get_scorer_names

from ..data.table import Data
from ..errors import LossError

if TYPE_CHECKING:
    from .loss import Loss

SHORT = {  # usual abbreviations -> scorers
    "acc": "accuracy",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "brier": "neg_brier_score",
    "brier_score": "neg_brier_score",
    "logloss": "neg_log_loss",
    "cross_entropy": "neg_log_loss",
    "mae": "neg_mean_absolute_error",
    "mape": "neg_mean_absolute_percentage_error",
    "mcc": "matthews_corrcoef",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
}
PLAIN_NAMES = {  # of losses and scorers, for displays
    "zero-one": "error rate",
    "squared": "mean squared error",
    "absolute": "mean absolute error",
    "log": "log loss",
    "f1": "F1",
    "r2": "R²",
    "roc_auc": "ROC AUC",
    "roc_auc_ovo": "ROC AUC (one against one)",
    "roc_auc_ovr": "ROC AUC (one against the rest)",
}
POSITIVES = {  # 0 / 0 without a row of the positive class
    "f1_score", "fbeta_score", "jaccard_score", "precision_score", "recall_score",
}  # fmt: skip
RATIOS = ("positive_likelihood_ratio", "negative_likelihood_ratio")
OF_CLASSES = ("_classification", "_ranking")  # modules of sklearn.metrics


def scorer_of(metric: str) -> str | None:
    """Return the name of the scorer of a metric function or an abbreviation, or None.

    >>> scorer_of("brier_score_loss"), scorer_of("f1_score"), scorer_of("rmse")
    ('neg_brier_score', 'f1', 'neg_root_mean_squared_error')
    """
    names = get_scorer_names()
    if metric in SHORT:
        return SHORT[metric]
    found = [name for name in names if metric == _function(get_scorer(name)).__name__]
    return min(found, key=len, default=None)


def is_metric(function: Any) -> bool:
    """Whether this is a metric function of scikit-learn, which takes targets and predictions."""
    is_function = inspect.isfunction(function)
    return is_function and function.__module__.startswith("sklearn.metrics.")


def takes_weights(scorer: Any) -> bool:
    """Whether a scorer's metric takes sample_weight."""
    return "sample_weight" in inspect.signature(_function(scorer)).parameters


def _function(scorer: Any) -> Any:
    return getattr(scorer, "_score_func", scorer)


def refuse_unsuited(loss: Loss, data: Data, task: str) -> None:
    """Refuse a metric of scikit-learn that cannot score these targets.

    task: "classification" or "regression"
    """
    function = _function(loss.scorer)
    if not is_metric(function):
        return
    y, kind = data.y, function.__module__.rpartition(".")[2]
    if kind == "_regression" and y.dtype.kind not in "biuf":
        raise LossError(
            f"{loss.score_name} is a score of numbers, but y holds labels such as "
            f"{y[:1].tolist()[0]!r}; use a score of classes, such as 'accuracy'."
        )
    if kind in OF_CLASSES and task == data.task == "regression":
        raise LossError(
            f"{loss.score_name} is a score of classes, but y holds numbers such as "
            f"{y[:1].tolist()[0]!r}; use 'r2' or 'neg_mean_squared_error'."
        )
    if task == "classification" and data.classes[0].size > 2:
        _refuse_many_classes(loss, function.__name__, data.classes[0].size)


def _refuse_many_classes(loss: Loss, formula: str, n_classes: int) -> None:
    options, name = loss.formula[1], loss.score_name
    instead = None
    if formula in POSITIVES and options.get("average", "binary") == "binary":
        named = f"{name}_macro"
        is_scorer = named in get_scorer_names()
        instead = f"{named!r}" if is_scorer else f"{formula} with average='macro'"
        instead += ", the mean over the classes"
    elif formula == "roc_auc_score" and options.get("multi_class", "raise") == "raise":
        instead = "'roc_auc_ovr', each class against the rest"
    elif formula in RATIOS:
        instead = "'balanced_accuracy'"
    if instead:
        raise LossError(
            f"{name} is for two classes, but y holds {n_classes}; use {instead}."
        )
