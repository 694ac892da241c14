"""The ensemble of fitted models, a final predictor besides the one retrained on all rows.

The mean of linear regressors is a linear model: its parameters are averaged in the units of
X, also behind a scaler. Other regressors average their predictions. Classifiers average
their probabilities; those without any vote, and ties go to the smallest class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from ..families.labels import PASS

CHECKED_ROWS = 50


class _Ensemble(BaseEstimator):
    """Models that are fitted already, combined into one estimator."""

    def __init__(self, models: list[Any]) -> None:
        self.models = models

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def n_features_in_(self) -> int:
        return self.models[0].n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        return self.models[0].feature_names_in_


class MeanRegressor(RegressorMixin, _Ensemble):
    """The mean of the models' predictions."""

    def predict(self, X: Any) -> np.ndarray:
        return np.mean([model.predict(X) for model in self.models], axis=0)


class MeanClassifier(ClassifierMixin, _Ensemble):
    """The class of the largest mean probability; a model gives 0 to a class it never saw."""

    @property
    def classes_(self) -> np.ndarray:
        return _all_classes(self.models)

    def predict_proba(self, X: Any) -> np.ndarray:
        classes = self.classes_
        total: Any = 0.0
        for model in self.models:
            known = model.predict_proba(X)
            p = np.zeros((known.shape[0], classes.size))
            p[:, np.searchsorted(classes, model.classes_)] = known
            total = total + p
        return total / len(self.models)

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


class VoteClassifier(ClassifierMixin, _Ensemble):
    """The class that most models predict."""

    @property
    def classes_(self) -> np.ndarray:
        return _all_classes(self.models)

    def predict(self, X: Any) -> np.ndarray:
        votes = np.stack([model.predict(X) for model in self.models])
        counts = np.stack([(votes == c).sum(axis=0) for c in self.classes_])
        return self.classes_[np.argmax(counts, axis=0)]


def _all_classes(models: list[Any]) -> np.ndarray:
    return np.unique(np.concatenate([model.classes_ for model in models]))


def ensemble(models: list[Any], X: Any) -> Any:
    """Return the mean of fitted models as one fitted scikit-learn estimator.

    X: rows on which the linear form is checked
    """
    if is_classifier(models[0]):
        have_probabilities = all(hasattr(model, "predict_proba") for model in models)
        return (MeanClassifier if have_probabilities else VoteClassifier)(models)
    linear = []
    for model in models:
        parameters = linear_parameters(model, X)
        if parameters is None:
            return MeanRegressor(models)
        linear.append(parameters)
    mean = LinearRegression()
    mean.coef_ = np.mean([coef for coef, _ in linear], axis=0)
    mean.intercept_ = float(np.mean([intercept for _, intercept in linear]))
    mean.n_features_in_ = mean.coef_.size
    if hasattr(models[0], "feature_names_in_"):
        mean.feature_names_in_ = models[0].feature_names_in_
    return mean


def linear_parameters(model: Any, X: Any) -> tuple[np.ndarray, float] | None:
    """Return (coef, intercept) in the units of X; None where the model is not linear in X.

    They are checked against the model's predictions.
    """
    steps = [step for _, step in model.steps] if type(model) is Pipeline else [model]
    *scalers, last = steps
    coef, intercept = getattr(last, "coef_", None), getattr(last, "intercept_", None)
    if coef is None or intercept is None or np.ndim(coef) != 1:
        return None
    coef, intercept = np.asarray(coef, dtype=np.float64), float(np.ravel(intercept)[0])
    for scaler in reversed(scalers):
        if scaler in PASS:
            continue
        affine = _affine(scaler, coef.size)
        if affine is None:
            return None
        factor, shift = affine
        coef, intercept = coef * factor, intercept + float(coef @ shift)
    sample = X[:CHECKED_ROWS]
    dense = sample.toarray() if hasattr(sample, "toarray") else np.asarray(sample)
    if dense.ndim != 2 or dense.shape[1] != coef.size or dense.dtype.kind not in "biuf":
        return None
    predicted = model.predict(sample)
    scale = np.abs(dense).astype(np.float64) @ np.abs(coef) + abs(intercept) + 1e-300
    error = np.max(np.abs(dense @ coef + intercept - predicted) / scale)
    tolerance = 1e-5 if predicted.dtype.itemsize < 8 else 1e-9
    return (coef, intercept) if error < tolerance else None


def _affine(scaler: Any, n: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (factor, shift) with scaled = factor · x + shift; None for another transformer."""
    one, zero = np.ones(n), np.zeros(n)
    if type(scaler) is StandardScaler:
        factor = one if scaler.scale_ is None else 1.0 / scaler.scale_
        return factor, zero if not scaler.with_mean else -scaler.mean_ * factor
    if type(scaler) is MinMaxScaler and not scaler.clip:
        return scaler.scale_, scaler.min_
    if type(scaler) is MaxAbsScaler:
        return 1.0 / scaler.scale_, zero
    if type(scaler) is RobustScaler:
        factor = one if scaler.scale_ is None else 1.0 / scaler.scale_
        return factor, zero if scaler.center_ is None else -scaler.center_ * factor
    return None
