"""Models of somebody's own and their paths: what a user adds, or another package."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from cvnb.families.algorithm import Algorithm, Lazy
from cvnb.families.family import short_hand
from cvnb.families.shorthands import Either, Values
from cvnb.paths.measure import Answers
from cvnb.paths.user import OneFunction


def smoothed(distances, values, power, y, w):
    """[rows, values]: means of y, weighted by exp(-(distance / bandwidth) ** power)."""
    kernels = (w * np.exp(-((distances / value) ** power)) for value in values)
    return np.column_stack([kernel @ y / kernel.sum(axis=1) for kernel in kernels])


def distances_of(X_train, X_test):
    return np.sqrt(((X_test[:, None] - X_train) ** 2).sum(axis=2))


class Kernel(RegressorMixin, BaseEstimator):
    """Nadaraya and Watson's regression."""

    def __init__(self, bandwidth=1.0, power=2.0):
        self.bandwidth, self.power = bandwidth, power

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.w_ = (
            X,
            y,
            np.ones(len(y)) if sample_weight is None else sample_weight,
        )
        return self

    def predict(self, X):
        return smoothed(
            distances_of(self.X_, X), [self.bandwidth], self.power, self.y_, self.w_
        )[:, 0]


def kernels(estimator, values, X_train, y_train, X_test, sample_weight=None):
    """Distances once, every bandwidth."""
    w = np.ones(len(y_train)) if sample_weight is None else sample_weight
    return smoothed(distances_of(X_train, X_test), values, estimator.power, y_train, w)


def kernels_and_powers(estimator, values, X_train, y_train, X_test):
    """Distances once, every pair of a bandwidth and a power."""
    distances, w = distances_of(X_train, X_test), np.ones(len(y_train))
    return np.column_stack(
        [
            smoothed(distances, [h], p, y_train, w)
            for h, p in zip(values["bandwidth"], values["power"], strict=True)
        ]
    )


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
        return self.classes_[
            (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        ]


def shrunken(estimator, values, X_train, y_train, X_test):
    """Means once, every shrinkage."""
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
    """What every shrinkage says of the test part, as an algorithm of cvnb's own says it."""
    meter, train = split.meter, split.train
    said = shrunken(
        None, split.combination.values, split.X_train, meter.data.y[train], split.X_test
    )
    present = np.isin(meter.classes, meter.data.y[train])
    return Answers(
        np.searchsorted(meter.classes, said["predict"]), present=present[None]
    ), 0


def kernel(bandwidth=None):
    """The short-hand of kernel regression."""
    axes = {"bandwidth": ("bandwidth", bandwidth, Values((0.3, 1.0, 3.0)))}
    return short_hand("kernel", "regression", Either(Kernel, Kernel, False, {}), axes)


def counting(estimator, values, X_train, y_train, X_test):
    """The same, and a close call in each split."""
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
    answers_of_split=OneFunction(counting, counted="far rows"),
    compiles=False,
    simplest={"bandwidth": "large"},
    notes={"far rows": "At {n} every kernel is far away."},
    cost=lambda n_train, n_columns, n_values: n_train * n_columns * n_values,
)
