"""The namespace of the builders."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.svm import SVC

from iris import X, y
from slow import Slow


class Leaves(DummyClassifier):
    """Its fit ends the program."""

    def fit(self, X, y, sample_weight=None):
        raise SystemExit(3)


@pytest.fixture
def names():
    """The user's namespace: iris, an estimator, a slow one, and one that ends the program."""
    estimators = {"model": SVC(), "slow": Slow(), "leaves": Leaves()}
    return {"X": X, "y": y, "np": np, **estimators}
