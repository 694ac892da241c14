"""Losses: small is good. A scorer becomes the loss -score and is shown as the score that it is.

A loss with row values is averaged over a test part as sum(w l) / sum(w). A scorer gives one number per test part, and some are
not defined on every part (R² on one row, AUC on one class): `Loss.undefined_on` says so before anything is fitted.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.metrics._scorer import _BaseScorer

from ..errors import LossError, WrongTypeError

TWO_CLASSES = {
    "average_precision_score", "cohen_kappa_score", "matthews_corrcoef", "negative_likelihood_ratio",
    "positive_likelihood_ratio", "roc_auc_score",
}  # fmt: skip
ALL_CLASSES = {
    "brier_score_loss", "d2_brier_score", "d2_log_loss_score", "hinge_loss", "log_loss", "roc_auc_score",
    "top_k_accuracy_score",
}  # fmt: skip
POSITIVES = {
    "f1_score",
    "fbeta_score",
    "jaccard_score",
    "precision_score",
    "recall_score",
}  # 0 / 0 without any
VARIATION = {
    "d2_absolute_error_score",
    "d2_pinball_score",
    "d2_tweedie_score",
    "explained_variance_score",
    "r2_score",
}
NO_MEAN_OF_ROWS = TWO_CLASSES | VARIATION | POSITIVES | {
    "balanced_accuracy_score", "d2_brier_score", "d2_log_loss_score", "max_error", "median_absolute_error",
    "root_mean_squared_error", "root_mean_squared_log_error",
}  # fmt: skip


@dataclass(frozen=True)
class Loss:
    """A loss by name: its row formula, or the scorer whose negative it is."""

    name: str
    rows: Callable[..., np.ndarray] | None = None
    response: str = "predict"
    numeric: bool = False
    scorer: Callable[..., float] | None = None
    score_name: str | None = None
    score_offset: float = 0.0
    asked: Any = None  # scoring= as the user gave it

    @property
    def zero_one(self) -> bool:
        """Whether it counts mistakes, so that equal curves are equal to 1e-12 absolutely."""
        return self.rows is zero_one

    @property
    def is_known(self) -> bool:
        """Whether its formula is one of cvnb's own."""
        return self.rows in (zero_one, squared, absolute, log)

    @property
    def is_score(self) -> bool:
        """Whether it is shown as a score, large being good."""
        return self.scorer is not None and getattr(self.scorer, "_sign", 1) > 0

    @property
    def words(self) -> str:
        """ "zero-one loss" or "roc_auc"."""
        return str(self.score_name) if self.is_score else f"{self.name} loss"

    def shown(self, loss: float | None) -> float | None:
        """The number that displays show for a loss."""
        return self.score(loss) if self.is_score else loss

    def shown_difference(self, difference: float | None) -> float | None:
        """The difference of what displays show for two losses."""
        return -difference if self.is_score and difference is not None else difference

    @property
    def shown_name(self) -> str:
        """What displays call the number: "zero-one risk" or "roc_auc (large is good)"."""
        return f"{self.words} (large is good)" if self.is_score else f"{self.name} risk"

    def score(self, loss: Any) -> Any:
        """The score that the user asked for, from the loss."""
        return (
            None
            if self.score_name is None or loss is None
            else self.score_offset - loss
        )

    def measure(
        self, model: Any, X: Any, y: np.ndarray, w: np.ndarray | None
    ) -> tuple[float, Any, Any]:
        """(loss on these rows, row losses or None, the model's response or None) of a fitted model."""
        rows = prediction = None
        if self.scorer is not None:
            loss = -float(
                self.scorer(model, X, y)
                if w is None
                else self.scorer(model, X, y, sample_weight=w)
            )
        else:
            prediction = getattr(model, self.response)(X)
            rows = self.row_losses(y, prediction, getattr(model, "classes_", None))
            loss = float(np.mean(rows) if w is None else np.sum(w * rows) / np.sum(w))
        if not np.isfinite(loss):
            raise FloatingPointError(f"the {self.name} loss is {loss}")
        return loss, rows, prediction

    def undefined_on(self, y: np.ndarray, n_classes: int) -> str | None:
        """Why this metric cannot be averaged over a part with these targets, out of n_classes values in all; or None."""
        formula = getattr(getattr(self.scorer, "_score_func", None), "__name__", "")
        options = getattr(self.scorer, "_kwargs", {})
        present = np.unique(y)
        if formula in NO_MEAN_OF_ROWS and y.size < 2:
            return "one row only"
        if formula in TWO_CLASSES and present.size < 2:
            return "one class only"
        if formula in ALL_CLASSES and 2 < n_classes != present.size:
            return "a class is missing"
        if (
            formula in POSITIVES
            and options.get("average", "binary") == "binary"
            and options.get("pos_label", 1) not in present
        ):
            return "no row of the positive class"
        if (
            formula in POSITIVES
            and options.get("average") == "macro"
            and present.size < n_classes
        ):
            return "a class is missing"
        if formula in VARIATION and present.size < 2:
            return "one value of y only"
        return None

    def refuse_unknown_positive(self, classes: np.ndarray) -> None:
        """An error where the class that this metric is about is none of y's."""
        formula = getattr(getattr(self.scorer, "_score_func", None), "__name__", "")
        options = getattr(self.scorer, "_kwargs", {})
        positive = options.get("pos_label", 1)
        if (
            formula in POSITIVES
            and options.get("average", "binary") == "binary"
            and positive not in classes
        ):
            raise LossError(
                f"{self.score_name} is about the class {positive!r}, but y holds {', '.join(map(repr, classes[:5].tolist()))}; "
                f"use make_scorer({formula}, pos_label={classes[-1].item()!r}) of sklearn.metrics, or another of them."
            )

    def row_losses(
        self, y: np.ndarray, prediction: np.ndarray, classes: np.ndarray | None
    ) -> np.ndarray:
        if self.rows is None:
            raise LossError(
                f"the loss {self.name!r} has neither a formula nor a scorer"
            )
        shape = np.shape(prediction)
        if (shape if self.response == "predict" else shape[:1]) != y.shape:
            raise ValueError(f"{self.response} gave shape {shape} for {y.size} rows")
        given = (
            y.copy(),
            np.array(prediction),
        )  # copies: a function of the user's may write on them
        rows = (
            self.rows(*given, classes)
            if self.response == "predict_proba"
            else self.rows(*given)
        )
        rows = np.asarray(rows, dtype=np.float64)
        if rows.shape != y.shape:
            raise LossError(
                f"the loss {self.name!r} gave shape {rows.shape} for {y.size} rows; return one loss per row, or hand a metric "
                "over as scoring=sklearn.metrics.make_scorer(...)."
            )
        return rows


def zero_one(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """1 where y differs from the prediction, else 0."""
    return (y != prediction).astype(np.float64)


def squared(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """(y - prediction)²"""
    return (y.astype(np.float64) - np.asarray(prediction, dtype=np.float64)) ** 2


def absolute(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """|y - prediction|"""
    return np.abs(y.astype(np.float64) - np.asarray(prediction, dtype=np.float64))


def log(y: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """-log of the probability of y, clipped to [eps, 1 - eps]; a class missing from the training part has probability 0."""
    column = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    known = classes[column] == y
    p = np.where(known, probabilities[np.arange(y.size), column], 0.0)
    eps = np.finfo(probabilities.dtype).eps
    return -np.log(np.clip(p, eps, 1 - eps))


NAMED = {
    "zero_one": Loss("zero-one", zero_one),
    "squared": Loss("squared", squared, numeric=True),
    "absolute": Loss("absolute", absolute, numeric=True),
    "log": Loss("log", log, response="predict_proba"),
}
SCORINGS = {
    "accuracy": ("zero_one", 1.0),
    "neg_mean_squared_error": ("squared", 0.0),
    "neg_mean_absolute_error": ("absolute", 0.0),
    "neg_log_loss": ("log", 0.0),
}


def find_loss(loss: Any, scoring: Any, task: str, estimator: Any) -> Loss:
    """The Loss that `loss` or `scoring` names; with neither, zero-one for classification and squared for regression."""
    if loss is not None and scoring is not None:
        raise LossError(
            f"loss={loss!r} and scoring={scoring!r} together; give one of them."
        )
    if scoring is not None:
        return _from_scoring(scoring, estimator)
    if loss is None:
        return NAMED["zero_one" if task == "classification" else "squared"]
    if isinstance(loss, _BaseScorer):
        raise LossError(f"loss={loss!r} is a scorer; give it as scoring=.")
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        return Loss(f"{name} (user's)" if name in NAMED else name, loss)
    if not isinstance(loss, str):
        raise WrongTypeError(
            f"loss={loss!r} is neither a name nor a function of (y, prediction)."
        )
    name = loss.replace("-", "_")
    if name not in NAMED:
        hint = (
            " For a scikit-learn scorer use scoring=."
            if loss in get_scorer_names()
            else _did_you_mean(name, NAMED)
        )
        raise LossError(
            f"unknown loss {loss!r}; the known ones are {', '.join(NAMED)}, or a function of (y, ŷ).{hint}"
        )
    return NAMED[name]


def check_loss(loss: Loss, y: np.ndarray, task: str, weighted: bool) -> None:
    """Refuse a loss that these targets or weights do not suit."""
    if loss.numeric and y.dtype.kind not in "biuf":
        raise LossError(
            f"the {loss.name} loss needs numbers, but y holds labels such as {y[0]!r}; use loss='zero_one'."
        )
    if loss.rows in (zero_one, log) and task == "regression":
        raise LossError(
            f"the {loss.name} loss needs classes, but this is a regression; use loss='squared' or 'absolute'."
        )
    if weighted and loss.scorer is not None and not _takes_weights(loss.scorer):
        raise LossError(
            f"scoring={loss.score_name!r} takes no sample_weight; choose another metric or drop the weights."
        )


def _from_scoring(scoring: Any, estimator: Any) -> Loss:
    if isinstance(scoring, list | tuple | set | dict):
        raise LossError(
            f"several metrics (scoring={scoring!r}): one risk needs one of them."
        )
    if isinstance(scoring, str) and scoring in SCORINGS:
        name, offset = SCORINGS[scoring]
        base = NAMED[name]
        return Loss(
            base.name, base.rows, base.response, base.numeric, None, scoring, offset
        )
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise LossError(
            f"unknown scoring {scoring!r}; see sklearn.metrics.get_scorer_names().{_did_you_mean(scoring)}"
        )
    if not isinstance(scoring, str) and not callable(scoring):
        raise WrongTypeError(
            f"scoring={scoring!r} is neither a scorer's name nor a callable (estimator, X, y)."
        )
    try:
        scorer = check_scoring(estimator, scoring=scoring)
    except (TypeError, ValueError) as error:
        raise LossError(f"scoring={scoring!r} cannot be used: {error}") from None
    formula = getattr(scorer, "_score_func", scorer)
    shown = (
        scoring
        if isinstance(scoring, str)
        else getattr(formula, "__name__", type(formula).__name__)
    )
    name = (
        shown.removeprefix("neg_") if getattr(scorer, "_sign", 1) < 0 else f"-{shown}"
    )
    return Loss(name, scorer=scorer, score_name=shown, asked=scoring)


def _takes_weights(scorer: Callable[..., float]) -> bool:
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    return "sample_weight" in parameters


def _did_you_mean(name: str, known: Any = None) -> str:
    close = difflib.get_close_matches(
        name, get_scorer_names() if known is None else known, n=1
    )
    return f" Did you mean {close[0]!r}?" if close else ""
