"""Losses: smaller is better. A scorer becomes the loss -score and is displayed as a score.

The row losses of a test part are averaged as sum(w l) / sum(w). A scorer gives one number
per test part, and some are undefined on some parts (R² on one row, AUC on one class):
`Loss.undefined_on` reports that before anything is fitted.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.metrics._scorer import _BaseScorer

from ..errors import LossError, WrongTypeError
from ..families.registry import is_optional
from ..wording import number
from .metrics import PLAIN_NAMES, POSITIVES, is_metric, scorer_of, takes_weights

# Metrics of scikit-learn by what the targets of a test part must hold.
TWO_CLASSES = {
    "average_precision_score", "cohen_kappa_score", "matthews_corrcoef",
    "negative_likelihood_ratio", "positive_likelihood_ratio", "roc_auc_score",
}  # fmt: skip
ALL_CLASSES = {
    "brier_score_loss", "d2_brier_score", "d2_log_loss_score", "hinge_loss", "log_loss",
    "roc_auc_score", "top_k_accuracy_score",
}  # fmt: skip
VARIATION = {
    "d2_absolute_error_score", "d2_pinball_score", "d2_tweedie_score",
    "explained_variance_score", "r2_score",
}  # fmt: skip
NO_MEAN_OF_ROWS = TWO_CLASSES | VARIATION | POSITIVES | {
    "balanced_accuracy_score", "d2_brier_score", "d2_log_loss_score", "max_error",
    "median_absolute_error", "root_mean_squared_error", "root_mean_squared_log_error",
}  # fmt: skip


@dataclass(frozen=True)
class Loss:
    """A named loss: a formula for row losses, or minus a scorer.

    name            as in "zero-one loss"
    rows            (y, prediction) -> row losses; with probabilities (y, probabilities, classes)
    response        the method of the estimator that `rows` needs
    numeric         whether y must be numbers
    scorer          scikit-learn's scorer; None for a loss with a formula
    score_name      the name of the score to display
    score_offset    score = score_offset - loss
    scoring         the user's scoring=
    """

    name: str
    rows: Callable[..., np.ndarray] | None = None
    response: str = "predict"
    numeric: bool = False
    scorer: Callable[..., float] | None = None
    score_name: str | None = None
    score_offset: float = 0.0
    scoring: Any = None

    @property
    def zero_one(self) -> bool:
        """Whether it counts mistakes; such curves are compared with absolute tolerance 1e-12."""
        return self.rows is zero_one

    @property
    def is_known(self) -> bool:
        """Whether its formula is one of cvnb's."""
        return self.rows in (zero_one, squared, absolute, log)

    @property
    def is_score(self) -> bool:
        """Whether it is displayed as a score: larger is better."""
        if self.scorer is None:
            return self.score_name == "accuracy"
        return getattr(self.scorer, "_sign", 1) > 0

    @property
    def words(self) -> str:
        """What the displayed number is: "error rate", "mean squared error", "ROC AUC"."""
        if self.is_known:
            return "accuracy" if self.is_score else PLAIN_NAMES[self.name]
        if self.scorer is None:
            return f"{self.name} loss"
        name = str(self.score_name) if self.is_score else self.name
        return PLAIN_NAMES.get(name, name.replace("_", " "))

    @property
    def given_name(self) -> str:
        """What an error calls it: "zero-one loss", or the scorer as it was named."""
        return str(self.score_name) if self.is_score else f"{self.name} loss"

    def shown(self, loss: Any) -> Any:
        """The number to display for a loss, or numbers for an array; None for None."""
        return self.score(loss) if self.is_score else loss

    def shown_difference(self, difference: float | None) -> float | None:
        """The difference of two losses as displayed."""
        return -difference if self.is_score and difference is not None else difference

    def shown_interval(self, low: float | None, high: float | None) -> str:
        """The ends of a difference of two losses as displayed; "–" without them."""
        if low is None or high is None:
            return "–"
        ends = (0.0 - high, 0.0 - low) if self.is_score else (low, high)
        return " to ".join(map(number, ends))

    def shown_ends(self, low: float, high: float) -> tuple[float, float]:
        """The ends of an interval of losses as displayed, or losses of displayed ends."""
        return (self.shown(high), self.shown(low)) if self.is_score else (low, high)

    @property
    def shown_name(self) -> str:
        """The same with the direction of a score: "ROC AUC (large is good)"."""
        return f"{self.words} (large is good)" if self.is_score else self.words

    @property
    def heading(self) -> str:
        """The same name at the start of a title."""
        return self.shown_name[:1].upper() + self.shown_name[1:]

    def score(self, loss: Any) -> Any:
        """Convert a loss to the score named in scoring=; None without one."""
        if self.score_name is None or loss is None:
            return None
        return self.score_offset - loss

    def measure(
        self, model: Any, X: Any, y: np.ndarray, w: np.ndarray | None
    ) -> tuple[float, Any, Any]:
        """Return (loss on these rows, row losses, response) of a fitted model.

        A scorer has neither row losses nor a response: both are None.
        """
        rows = prediction = None
        if self.scorer is not None:
            weights = {} if w is None else {"sample_weight": w}
            loss = -float(self.scorer(model, X, y, **weights))
        else:
            prediction = getattr(model, self.response)(X)
            if self.response == "predict":
                prediction = one_per_row(model, prediction)
            rows = self.row_losses(y, prediction, getattr(model, "classes_", None))
            loss = float(np.mean(rows) if w is None else np.sum(w * rows) / np.sum(w))
        if not np.isfinite(loss):
            raise FloatingPointError(f"the {self.name} loss is {loss}")
        return loss, rows, prediction

    def undefined_on(self, y: np.ndarray, n_classes: int) -> str | None:
        """Return why this metric is undefined on a test part with targets y, or None.

        n_classes: the number of distinct values of y in all rows
        """
        formula, options = self.formula
        present = np.unique(y)
        average = options.get("average", "binary")
        if formula in NO_MEAN_OF_ROWS and y.size < 2:
            return "one row only"
        if formula in TWO_CLASSES and present.size < 2:
            return "one class only"
        if formula in ALL_CLASSES and 2 < n_classes != present.size:
            return "a class is missing"
        if (
            formula in POSITIVES
            and average == "binary"
            and options.get("pos_label", 1) not in present
        ):
            return "no row of the positive class"
        if formula in POSITIVES and average == "macro" and present.size < n_classes:
            return "a class is missing"
        if formula in VARIATION and present.size < 2:
            return "one value of y only"
        return None

    def refuse_unknown_positive(self, classes: np.ndarray) -> None:
        """Refuse a metric of one class that y does not contain."""
        formula, options = self.formula
        positive = options.get("pos_label", 1)
        if (
            formula in POSITIVES
            and options.get("average", "binary") == "binary"
            and positive not in classes
        ):
            raise LossError(
                f"{self.score_name} is about the class {positive!r}, but y holds "
                f"{', '.join(map(repr, classes[:5].tolist()))}; use "
                f"make_scorer({formula}, pos_label={classes[-1].item()!r}) of "
                "sklearn.metrics, or another of them."
            )

    @property
    def formula(self) -> tuple[str, dict[str, Any]]:
        """(name, options) of the scorer's metric; ("", {}) without one."""
        metric = getattr(self.scorer, "_score_func", None)
        return getattr(metric, "__name__", ""), getattr(self.scorer, "_kwargs", {})

    def row_losses(
        self, y: np.ndarray, prediction: np.ndarray, classes: np.ndarray | None
    ) -> np.ndarray:
        """Return one loss per row.

        prediction: the response of the estimator on these rows
        classes: the classes that its columns stand for, if it is probabilities
        """
        if self.rows is None:
            raise LossError(
                f"the loss {self.name!r} has neither a formula nor a scorer"
            )
        shape = np.shape(prediction)
        if (shape if self.response == "predict" else shape[:1]) != y.shape:
            raise ValueError(f"{self.response} gave shape {shape} for {y.size} rows")
        # copies, because the user's function may write to them
        arguments: tuple[Any, ...] = y.copy(), np.array(prediction)
        if self.response == "predict_proba":
            arguments += (classes,)
        rows = np.asarray(self.rows(*arguments), dtype=np.float64)
        if rows.shape != y.shape:
            raise LossError(
                f"the loss {self.name!r} gave shape {rows.shape} for {y.size} rows; "
                "return one loss per row, or pass a metric as "
                "scoring=sklearn.metrics.make_scorer(...)."
            )
        return rows


def one_per_row(model: Any, prediction: Any) -> Any:
    """Return what a model predicts; CatBoost gives classes as a column, which is flattened."""
    is_column = np.ndim(prediction) == 2 and np.shape(prediction)[1] == 1
    return prediction[:, 0] if is_column and is_optional(type(model)) else prediction


def zero_one(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """1 if y differs from the prediction, else 0."""
    return (y != prediction).astype(np.float64)


def squared(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """(y - prediction)²"""
    return (y.astype(np.float64) - np.asarray(prediction, dtype=np.float64)) ** 2


def absolute(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """|y - prediction|"""
    return np.abs(y.astype(np.float64) - np.asarray(prediction, dtype=np.float64))


def log(y: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """-log of the probability of y, clipped to [eps, 1 - eps].

    A class missing from the training part has probability 0.
    """
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
    """Return the Loss that loss= or scoring= names.

    Without either: zero-one for classification, squared for regression.

    loss: a name, a function of (y, prediction), or None
    scoring: a scorer's name, a scorer, or None
    task: "classification" or "regression"
    estimator: the estimator that a scorer will score
    """
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
    if is_metric(loss):
        raise LossError(
            f"loss={loss.__name__} gives one number for all rows, not one loss per row; use "
            f"{_as_option(loss.__name__)}."
        )
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        return Loss(f"{name} (user's)" if name in NAMED else name, loss)
    if not isinstance(loss, str):
        raise WrongTypeError(
            f"loss={loss!r} is neither a name nor a function of (y, prediction)."
        )
    name = loss.replace("-", "_")
    if name not in NAMED:
        hint = _did_you_mean(name, NAMED)
        if loss in get_scorer_names():
            hint = " For a scikit-learn scorer use scoring=."
        elif scorer_of(loss):
            hint = f" Use {_as_option(loss)}."
        raise LossError(
            f"unknown loss {loss!r}; the known ones are {', '.join(NAMED)}, or a function "
            f"of (y, ŷ).{hint}"
        )
    return NAMED[name]


def check_loss(loss: Loss, y: np.ndarray, task: str, weighted: bool) -> None:
    """Refuse a loss that these targets or weights do not suit.

    y: the targets of all rows
    task: "classification" or "regression"
    weighted: whether there are weights
    """
    if loss.numeric and y.dtype.kind not in "biuf":
        raise LossError(
            f"the {loss.name} loss needs numbers, but y holds labels such as "
            f"{y[:1].tolist()[0]!r}; use loss='zero_one'."
        )
    if loss.rows in (zero_one, log) and task == "regression":
        raise LossError(
            f"the {loss.name} loss needs classes, but this is a regression; use "
            "loss='squared' or 'absolute'."
        )
    if weighted and loss.scorer is not None and not takes_weights(loss.scorer):
        raise LossError(
            f"scoring={loss.score_name!r} takes no sample_weight; choose another metric "
            "or drop the weights."
        )


def _from_scoring(scoring: Any, estimator: Any) -> Loss:
    if isinstance(scoring, list | tuple | set | dict):
        raise LossError(
            f"several metrics (scoring={scoring!r}): one risk needs one of them."
        )
    if isinstance(scoring, str) and scoring in SCORINGS:
        name, offset = SCORINGS[scoring]
        return replace(NAMED[name], score_name=scoring, score_offset=offset)
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        if scorer := scorer_of(scoring):
            raise LossError(f"unknown scoring {scoring!r}; use {scorer!r}.")
        raise LossError(
            f"unknown scoring {scoring!r}; see "
            f"sklearn.metrics.get_scorer_names().{_did_you_mean(scoring)}"
        )
    if not isinstance(scoring, str) and not callable(scoring):
        raise WrongTypeError(
            f"scoring={scoring!r} is neither a scorer's name nor a callable (estimator, X, y)."
        )
    if is_metric(scoring):
        raise LossError(
            f"scoring={scoring.__name__} is a metric of (y, prediction), not a scorer; use "
            f"{_as_option(scoring.__name__)}."
        )
    try:
        scorer = check_scoring(estimator, scoring=scoring)
    except (TypeError, ValueError) as error:
        raise LossError(f"scoring={scoring!r} cannot be used: {error}") from None
    metric = getattr(scorer, "_score_func", scorer)
    shown = getattr(metric, "__name__", type(metric).__name__)
    if isinstance(scoring, str):
        shown = scoring
    is_loss = getattr(scorer, "_sign", 1) < 0
    name = shown.removeprefix("neg_") if is_loss else f"-{shown}"
    return Loss(name, scorer=scorer, score_name=shown, scoring=scoring)


def _as_option(metric: str) -> str:
    """Return the option that measures what a metric of scikit-learn measures."""
    scorer = scorer_of(metric)
    if scorer in SCORINGS:
        return f"loss={SCORINGS[scorer][0]!r} or scoring={scorer!r}"
    return f"scoring={scorer!r}" if scorer else f"scoring=make_scorer({metric})"


def _did_you_mean(name: str, known: Any = None) -> str:
    names = get_scorer_names() if known is None else known
    close = difflib.get_close_matches(name, names, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
