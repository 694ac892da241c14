"""The losses and scorers that fit the targets of a builder, with plain words."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer, get_scorer_names

from ..data.table import Data
from ..losses.loss import PLAIN_NAMES, find_loss
from ..losses.metrics import is_metric
from ..runtime.thread_warnings import quiet
from .fields import AUTO

OWN = {"classification": ("zero_one", "log"), "regression": ("squared", "absolute")}
SAME_AS_OWN = {"neg_log_loss", "neg_mean_absolute_error", "neg_mean_squared_error"}
FEW = 5  # rows of each class, or rows, on which a scorer is tried


def scores_for(data: Data, task: str) -> list[list[str]]:
    """Return [value, label] of each loss and scorer that can measure these targets.

    A scorer is tried on a constant model: what it cannot score, such as the F1 of three
    classes, is not offered.

    task: "classification" or "regression"
    """
    return [list(one) for one in _scores(task, tuple(_few_targets(data, task)))]


@lru_cache
def _scores(task: str, targets: tuple[Any, ...]) -> list[tuple[str, str]]:
    own = OWN[task]
    labels = {name: find_loss(name, None, task, None).words for name in own}
    found = [(AUTO, f"default: {labels[own[0]]}"), *labels.items()]
    y = np.array(targets)
    X = np.zeros((len(y), 1))
    with quiet():
        model = DummyClassifier() if task == "classification" else DummyRegressor()
        model.fit(X, y)
        names = [x for x in get_scorer_names() if _suits(x, model, X, y, task)]
    found += sorted((name, words_of_scorer(name)) for name in names)
    return found


def _few_targets(data: Data, task: str) -> list[Any]:
    """Return some targets of each class, or some of all sizes."""
    if task == "regression":
        few: list[Any] = np.quantile(data.y, np.linspace(0, 1, FEW)).tolist()
        return few
    classes = data.classes[0].tolist()
    return classes * FEW


def _suits(name: str, model: Any, X: np.ndarray, y: np.ndarray, task: str) -> bool:
    """Whether a scorer of this task gives a number for a constant model."""
    scorer = get_scorer(name)
    function = getattr(scorer, "_score_func", None)
    is_regression = task == "regression"
    kinds = ("_regression",) if is_regression else ("_classification", "_ranking")
    if name in SAME_AS_OWN or not is_metric(function):
        return False
    if not function.__module__.endswith(kinds):
        return False
    try:
        return not np.isnan(scorer(model, X, y))
    except (ValueError, TypeError, AttributeError):
        return False


def words_of_scorer(name: str) -> str:
    """Return the plain words of a scorer: "ROC AUC", "mean absolute percentage error".

    >>> words_of_scorer("neg_max_error"), words_of_scorer("roc_auc_ovr")
    ('max error', 'ROC AUC (one against the rest)')
    """
    plain = name.removeprefix("neg_")
    if plain in PLAIN_NAMES:
        return PLAIN_NAMES[plain]
    words = plain.replace("_", " ").replace("roc auc", "ROC AUC").replace("f1", "F1")
    return words.replace("d2", "D²").removesuffix(" score")
