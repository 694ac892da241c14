"""The range of a loss: no value that it takes lies outside, and what is known of it is there."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, get_scorer_names, make_scorer

from cvnb.losses.loss import find_loss
from cvnb.losses.ranges import range_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
CLASSES = (X[:, 0] + RNG.normal(size=80) > 0).astype(int)
NUMBERS = np.exp(X[:, 0] + RNG.normal(size=80))
MODELS = {
    "good classifier": LogisticRegression().fit(X, CLASSES),
    "bad classifier": LogisticRegression().fit(X, 1 - CLASSES),
    "constant": DummyClassifier(strategy="prior").fit(X, CLASSES),
    "good regressor": LinearRegression().fit(X, NUMBERS),
    "bad regressor": LinearRegression().fit(X, 3 * NUMBERS.mean() - NUMBERS),
    "mean": DummyRegressor().fit(X, NUMBERS),
}


def values_of(name):
    """The losses of this scorer on every model and target that it takes."""
    values = []
    for kind, model in MODELS.items():
        is_class = kind.endswith(("classifier", "constant"))
        task = "classification" if is_class else "regression"
        for y in [CLASSES, 1 - CLASSES] if is_class else [NUMBERS, CLASSES + 0.5]:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    loss = find_loss(None, name, task, model)
                    values.append(loss.measure(model, X, y, None)[0])
            except (ValueError, TypeError, FloatingPointError, AttributeError):
                continue  # a metric for another task
    return values


@pytest.mark.parametrize("name", get_scorer_names())
def test_no_loss_leaves_its_range(name):
    """Each scorer of scikit-learn, on good, bad and constant models."""
    estimator = LogisticRegression()
    low, high = range_of(find_loss(None, name, "classification", estimator))
    values = values_of(name)
    assert all(low - 1e-12 <= value <= high + 1e-12 for value in values)


KNOWN = {
    "roc_auc": (-1.0, 0.0),
    "balanced_accuracy": (-1.0, np.inf),
    "f1": (-1.0, 0.0),
    "r2": (-1.0, np.inf),
    "neg_root_mean_squared_error": (0.0, np.inf),
    "accuracy": (0.0, 1.0),
    "neg_log_loss": (0.0, np.inf),
    "average_precision": (-1.0, 0.0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_of_a_metric_bounds_its_loss(name):
    """A loss is minus the score: an AUC in [0, 1] is a loss in [-1, 0]."""
    loss = find_loss(None, name, "classification", LogisticRegression())
    assert range_of(loss) == KNOWN[name]


def test_a_count_is_no_share():
    """accuracy_score(normalize=False) counts rows, so only 0 bounds it."""
    counted = make_scorer(accuracy_score, normalize=False)
    loss = find_loss(None, counted, "classification", LogisticRegression())
    assert range_of(loss) == (-np.inf, 0.0)
    shares = find_loss(
        None, make_scorer(accuracy_score), "classification", LogisticRegression()
    )
    assert range_of(shares) == (-1.0, 0.0)


def test_named_losses_and_functions_have_the_ranges_of_their_formulas():
    """0-1 loss, squares, logs; of a user's function nothing is known."""
    ranges = {
        name: range_of(find_loss(name, None, "classification", None))
        for name in ("zero_one", "squared", "absolute", "log")
    }
    assert ranges.pop("zero_one") == (0.0, 1.0)
    assert set(ranges.values()) == {(0.0, np.inf)}
    own = find_loss(lambda y, p: y - p, None, "regression", None)
    assert range_of(own) == (-np.inf, np.inf)
