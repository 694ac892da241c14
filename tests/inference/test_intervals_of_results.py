"""Intervals of results with unequal, weighted, grouped or overlapping test parts."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit, RepeatedKFold, TimeSeriesSplit

from cvnb import Family, Recipe, knn, ridge, tree
from cvnb.errors import CvnbError
from cvnb.inference import bayle_interval, holdout_interval
from small_tables import classes, numbers


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


def test_one_grouped_test_part_without_a_mistake_counts_its_groups():
    """Wilson's ends for six groups, Student's quantile for five degrees of freedom."""
    X = np.repeat([[0.0], [100.0]], 30, axis=0)
    result = Recipe(0.3, 3).run(
        knn(k=[1, 3]), X, np.repeat([0, 1], 30), groups=np.arange(60) // 3
    )
    found = result.interval()
    (_, test) = result.plan.outer[0]
    n_groups = np.unique(test // 3).size
    t = stats.t.ppf(0.975, n_groups - 1)
    assert (found.method, found.low) == ("holdout", 0.0)
    assert found.high == pytest.approx(t**2 / (n_groups + t**2), rel=1e-12)


def test_the_interval_of_a_score_is_one_of_scores():
    """low and high are areas, around result.score; those of an error stay errors."""
    result = Recipe(4, 3).run(knn(k=[1, 5]), *classes(), scoring="roc_auc")
    interval = result.interval()
    assert 0 <= interval.low < result.score < interval.high <= 1
    errors = Recipe(4, 3).run(knn(k=[1, 5]), *classes())
    accurate = Recipe(4, 3).run(knn(k=[1, 5]), *classes(), scoring="accuracy")
    ends = accurate.interval()
    low, high = errors.interval().low, errors.interval().high
    assert (ends.low, ends.high) == pytest.approx((1 - high, 1 - low))
    assert bayle_interval(accurate) == pytest.approx(bayle_interval(errors))


WEIGHTS = np.random.default_rng(1).integers(1, 4, 60).astype(float)


def test_weighted_mistakes_have_wilsons_ends_for_their_effective_number():
    """(Σ w)² / Σ w², each row weighing its share in the mean of fold means."""
    X, y = classes()
    result = Recipe(5, 3).run(tree(max_leaf_nodes=[2, 4]), X, y, sample_weight=WEIGHTS)
    shares = np.concatenate(
        [WEIGHTS[test] / WEIGHTS[test].sum() / 5 for _, test in result.plan.outer]
    )
    n, z, p = 1 / (shares**2).sum(), stats.norm.ppf(0.975), result.risk
    assert 40 < n < 60
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    ends = np.array([p + z**2 / (2 * n) - half, p + z**2 / (2 * n) + half])
    found = result.interval()
    assert (found.method, found.target.count("mean of ℓ_D")) == ("bayle", 1)
    np.testing.assert_allclose(
        [found.low, found.high], ends / (1 + z**2 / n), rtol=1e-9
    )


def test_grouped_mistakes_have_wilsons_ends_for_the_number_that_their_clusters_leave():
    """n = p (1 - p) / v, v the clustered variance, which counts every group once."""
    rng = np.random.default_rng(3)
    groups = np.arange(120) // 6
    X = rng.normal(size=20)[groups][:, None] + 0.01 * rng.normal(size=(120, 1))
    y = (rng.normal(size=20)[groups] > 0).astype(int)
    result = Recipe(5, None, stratify=False).run(knn(k=3), X, y, groups=groups)
    mistakes = (result.predictions != y).astype(float)
    p = result.risk
    parts = np.bincount(groups, weights=(mistakes - p) / 120)
    n = p * (1 - p) / (20 / 19 * (parts**2).sum())
    assert n < 60
    t = stats.t.ppf(0.975, 19)
    centre = (p + t**2 / (2 * n)) / (1 + t**2 / n)
    found = result.interval()
    assert (found.low + found.high) / 2 == pytest.approx(centre, rel=1e-9)
    assert 0 < found.low < p < found.high < 1


@pytest.mark.parametrize("scoring", ["roc_auc", "r2", "neg_mean_squared_error"])
@pytest.mark.parametrize("method", ["auto", "corrected_t"])
def test_no_end_leaves_the_range_of_the_loss(scoring, method):
    """An AUC of nearly 1, an R² of nearly 1, squares of nearly 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=30) * (rng.random(30) < 0.1)
    family = ridge(alpha=[0.01, 1])
    if scoring == "roc_auc":
        y, family = (y > 0).astype(int), knn(k=[1, 5])
    result = Recipe(4, 3).run(family, X, y, scoring=scoring)
    found = result.interval(0.999, method)
    if scoring.startswith("neg"):
        assert 0.0 <= found.low < result.risk < found.high
        # the ends of "few_rows" for squares are multiples of the risk
        assert (found.low == 0.0) == (found.method != "few_rows")
    else:
        assert found.low < result.score < found.high == 1.0


def test_the_interval_of_a_users_own_loss_is_not_cut():
    """Nothing is known of its range."""
    X, y = numbers()

    def own(y, prediction):
        return (y - prediction) ** 2

    result = Recipe(4, 3).run(ridge(alpha=[0.1, 1]), X, y, loss=own)
    plain = Recipe(4, 3).run(ridge(alpha=[0.1, 1]), X, y)
    level = 1 - 1e-15
    low, cut = (one.interval(level, "bayle").low for one in (result, plain))
    assert low < 0 == cut
    assert result.interval(level).low < 0 < plain.interval(level).low
