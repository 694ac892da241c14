"""result.baseline: scikit-learn's model of y alone on the same outer splits."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import cross_val_score

from cvnb import Recipe, knn, logistic, ridge
from studied import CLASSES, GROUPS, NAMES, NUMBERS, WEIGHTS, X

FAMILY = knn(k=[1, 3], scale=False)
MAJORITY = DummyClassifier(strategy="most_frequent")
SHARES = DummyClassifier(strategy="prior")
MEDIAN = DummyRegressor(strategy="median")
CASES = {
    "zero_one": (CLASSES, {}, "majority class", MAJORITY, "accuracy"),
    "names": (NAMES, {}, "majority class", MAJORITY, "accuracy"),
    "log": (CLASSES, {"loss": "log"}, "class shares", SHARES, "neg_log_loss"),
    "auc": (CLASSES == 1, {"scoring": "roc_auc"}, "class shares", SHARES, "roc_auc"),
    "squared": (NUMBERS, {}, "mean", DummyRegressor(), "neg_mean_squared_error"),
    "absolute": (
        NUMBERS,
        {"loss": "absolute"},
        "median",
        MEDIAN,
        "neg_mean_absolute_error",
    ),
    "r2": (NUMBERS, {"scoring": "r2"}, "mean", DummyRegressor(), "r2"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_dummy_model_on_the_same_splits(case):
    """Fold by fold, as cross_val_score on the splits of the plan."""
    y, options, name, dummy, scoring = CASES[case]
    result = Recipe(4, 3).run(FAMILY, X, y, **options)
    scores = cross_val_score(dummy, X, y, cv=list(result.plan.outer), scoring=scoring)
    losses = 1 - scores if scoring == "accuracy" else -scores
    assert result.baseline.name == name
    assert result.baseline.fold_risks == pytest.approx(losses)
    assert result.baseline.risk == pytest.approx(losses.mean())
    assert name in repr(result.baseline)


def test_it_is_the_same_quantity_as_the_risk():
    """A model that learns nothing has the risk of its baseline."""
    result = Recipe(3).run(DummyClassifier(strategy="most_frequent"), X, CLASSES)
    assert result.baseline.risk == result.risk


def test_weights_groups_and_leave_one_out():
    """Weights count in training and in the loss."""
    result = Recipe(3, 2).run(ridge(), X, NUMBERS, sample_weight=WEIGHTS, groups=GROUPS)
    losses = []
    for train, test in result.plan.outer:
        mean = np.average(NUMBERS[train], weights=WEIGHTS[train])
        losses.append(np.average((NUMBERS[test] - mean) ** 2, weights=WEIGHTS[test]))
    assert result.baseline.fold_risks == pytest.approx(losses)
    alone = Recipe.leave_one_out().run(knn(k=3), X, CLASSES)
    assert alone.baseline.fold_risks.shape == (60,)


def test_there_is_none_where_nothing_is_measured_outside():
    """Internal CV and a dev set."""
    assert Recipe.internal_cv(3).run(FAMILY, X, CLASSES).baseline is None


def test_it_says_where_a_model_is_worse_than_none():
    """With 5 % positives a tuned model may lose to "never"."""
    y = np.arange(60) % 20 == 0
    result = Recipe(3, 2).run(logistic(), X, y)
    assert result.baseline.risk == pytest.approx(0.05)
