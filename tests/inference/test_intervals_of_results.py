"""Intervals of results with unequal, weighted, grouped or overlapping test parts."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit, RepeatedKFold, TimeSeriesSplit

from cvnb import Family, Recipe, knn
from cvnb.errors import CvnbError
from cvnb.inference import bayle_interval, holdout_interval
from small_tables import classes


def test_unequal_folds_weigh_their_rows_as_the_risk_does():
    """Ten and 290 rows: the interval of the mean of fold means holds the truth, which σ/√n
    over all rows does not."""
    held, plain = 0, 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 1)), rng.normal(size=300)
        split = PredefinedSplit((np.arange(300) >= 10).astype(int))
        result = Recipe(split, None).run(Family(LinearRegression(), {}), X * 0, y)
        truth = np.mean([1 + y[train].mean() ** 2 for train, _ in result.plan.outer])
        found = result.interval()
        rows = [
            (y[test] - result.predictions[test]) ** 2 for _, test in result.plan.outer
        ]
        held += found.low <= truth <= found.high
        low, high = bayle_interval(rows)
        plain += low <= truth <= high
        assert (found.low + found.high) / 2 == pytest.approx(result.risk)
    assert plain < 200 < 240 < held


def test_rows_without_weight_are_no_evidence():
    """Three rows that count among fifty: the interval of those three."""
    losses = np.random.default_rng(0).exponential(size=50)
    w = np.r_[np.ones(3), np.zeros(47)]
    np.testing.assert_allclose(
        holdout_interval(losses, weights=w), holdout_interval(losses[:3]), rtol=1e-12
    )
    folds, groups = (
        [losses[:25], losses[25:]],
        [np.arange(25) // 5, 5 + np.arange(25) // 5],
    )
    weights = [np.r_[np.ones(10), np.zeros(15)], np.r_[np.ones(10), np.zeros(15)]]
    few = (
        [fold[:10] for fold in folds],
        [group[:10] for group in groups],
        [np.ones(10)] * 2,
    )
    expected = bayle_interval(few[0], weights=few[2], groups=few[1])
    np.testing.assert_allclose(
        bayle_interval(folds, weights=weights, groups=groups), expected, rtol=1e-12
    )


def test_a_result_in_place_of_losses_is_refused_as_the_method_is():
    """Overlapping test parts, time order, and time order inside."""
    X, y = classes()
    repeated = Recipe(RepeatedKFold(n_splits=5, n_repeats=2, random_state=0), 3).run(
        knn(k=[1, 5]), X, y
    )
    with pytest.raises(CvnbError, match="test parts that do not overlap"):
        bayle_interval(repeated)
    with pytest.raises(CvnbError, match="rows in the order of time"):
        bayle_interval(Recipe(4, 3, time_ordered=True).run(knn(k=[1, 5]), X, y))
    with pytest.raises(CvnbError, match="rows in the order of time"):
        Recipe(0.3, TimeSeriesSplit(3), shuffle=True).run(
            knn(k=[1, 5]), X, y
        ).interval()


def test_a_range_of_zero_is_no_range():
    """It is refused, whatever the method."""
    result = Recipe(4, 3).run(knn(k=[1, 5]), *classes())
    for range_ in (0, -3.0, False):
        for method in ("hoeffding", "bayle"):
            with pytest.raises(CvnbError, match="range="):
                result.interval(method=method, range=range_)


def test_one_grouped_test_part_without_a_mistake_falls_back_to_hoeffding():
    """As several test parts do."""
    X = np.repeat([[0.0], [100.0]], 30, axis=0)
    result = Recipe(0.3, 3).run(
        knn(k=[1, 3]), X, np.repeat([0, 1], 30), groups=np.arange(60) // 3
    )
    assert result.interval().method == "hoeffding"


def test_the_interval_of_a_score_says_of_which_loss_it_is():
    """low and high are losses; the display turns them round, and cuts what no risk can be."""
    result = Recipe(4, 3).run(knn(k=[1, 5]), *classes(), scoring="roc_auc")
    assert "by the loss -roc_auc" in repr(result.interval())
    X = np.repeat([[0.0], [100.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    y[0] = 1
    result = Recipe(4, 3).run(knn(k=[3, 5]), X, y)
    assert result.interval().low < 0
    assert "95 % interval 0 to" in repr(result)
