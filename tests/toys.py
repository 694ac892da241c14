"""Models and paths as a user, or another package, adds them."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from cvnb.families.algorithm import Algorithm, Lazy
from cvnb.families.family import ShortHand
from cvnb.families.shorthands import PipelineForTask
from cvnb.paths.measure import Predictions
from cvnb.paths.user import OneFunction


def smoothed(distances, values, power, y, w):
    """[rows, values]: means of y, weighted by exp(-(distance / bandwidth) ** power)."""
    kernels = (w * np.exp(-((distances / value) ** power)) for value in values)
    return np.column_stack([kernel @ y / kernel.sum(axis=1) for kernel in kernels])


def distances_of(X_train, X_test):
    return np.sqrt(((X_test[:, None] - X_train) ** 2).sum(axis=2))


class Kernel(RegressorMixin, BaseEstimator):
    """Nadaraya-Watson kernel regression."""

    def __init__(self, bandwidth=1.0, power=2.0):
        self.bandwidth, self.power = bandwidth, power

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_ = X, y
        self.w_ = np.ones(len(y)) if sample_weight is None else sample_weight
        return self

    def predict(self, X):
        distances, h = distances_of(self.X_, X), [self.bandwidth]
        return smoothed(distances, h, self.power, self.y_, self.w_)[:, 0]


def kernels(estimator, values, X_train, y_train, X_test, sample_weight=None):
    """All bandwidths from one computation of the distances."""
    w = np.ones(len(y_train)) if sample_weight is None else sample_weight
    return smoothed(distances_of(X_train, X_test), values, estimator.power, y_train, w)


def kernels_and_powers(estimator, values, X_train, y_train, X_test):
    """All pairs of bandwidth and power from one computation of the distances."""
    distances, w = distances_of(X_train, X_test), np.ones(len(y_train))
    pairs = zip(values["bandwidth"], values["power"], strict=True)
    columns = [smoothed(distances, [h], p, y_train, w) for h, p in pairs]
    return np.column_stack(columns)


class Centroids(ClassifierMixin, BaseEstimator):
    """Minus the squared distance to each class's mean, shrunken towards zero."""

    def __init__(self, shrink=0.0):
        self.shrink = shrink

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def decision_function(self, X):
        scores = -((X[:, None] - (1 - self.shrink) * self.means_) ** 2).sum(axis=2)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]


def shrunken(estimator, values, X_train, y_train, X_test):
    """All shrinkages from one computation of the means."""
    model = Centroids().fit(X_train, y_train)
    scores, labels = [], []
    for value in values:
        model.set_params(shrink=value)
        scores.append(model.decision_function(X_test))
        labels.append(model.predict(X_test))
    return {
        "predict": np.column_stack(labels),
        "decision_function": np.stack(scores, axis=1),
    }


def centroids_of_split(split):
    """Predictions of one split at every shrinkage, as a built-in algorithm returns them."""
    evaluator, train = split.evaluator, split.train
    values, y_train = split.combination.values, evaluator.data.y[train]
    responses = shrunken(None, values, split.X_train, y_train, split.X_test)
    codes = np.searchsorted(evaluator.classes, responses["predict"])
    present = np.isin(evaluator.classes, y_train)
    return Predictions(codes, present=present[None]), 0


def kernel(bandwidth=None):
    """The short-hand of kernel regression."""
    axes = {"bandwidth": ("bandwidth", bandwidth, (0.3, 1.0, 3.0))}
    build = PipelineForTask(Kernel, Kernel, False)
    return ShortHand("kernel", "regression", build, axes)


def counting(estimator, values, X_train, y_train, X_test):
    """The same, with close calls in each split."""
    return {
        "predict": kernels(estimator, values, X_train, y_train, X_test),
        "far rows": 2,
    }


KERNEL = Algorithm(
    name="kernel",
    models=(Kernel,),
    axis="bandwidth",
    short_hands=(kernel,),
    prepare=Lazy("cvnb.paths.user:prepared"),
    predictions_of_split=OneFunction(counting, counted="far rows"),
    compiles=False,
    simplest={"bandwidth": "large"},
    notes={"far rows": "At {n} every kernel is far away."},
    cost=lambda n_train, n_columns, n_values: n_train * n_columns * n_values,
)
