"""method="delong" of result.interval: the AUC on one test part."""

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

from cvnb import Family, Recipe, knn, logistic
from cvnb.errors import CvnbError
from small_tables import classes, numbers

X, Y = classes(120)


def by_definition(scores, positive, level):
    """Every pair of a positive and a negative row, one after the other."""
    above = [
        np.mean([(p > q) + (p == q) / 2 for q in scores[~positive]])
        for p in scores[positive]
    ]
    below = [
        np.mean([(p > q) + (p == q) / 2 for p in scores[positive]])
        for q in scores[~positive]
    ]
    m, n = len(above), len(below)
    error = np.sqrt(np.var(above, ddof=1) / m + np.var(below, ddof=1) / n)
    half = stats.norm.ppf((1 + level) / 2) * error
    return np.mean(above) - half, np.mean(above) + half


@pytest.mark.parametrize(
    "family",
    [logistic(C=[0.1, 1.0]), knn(k=[4, 9]), Family(SVC(), {"C": [0.1, 1.0]})],
    ids=["probabilities", "ties", "decisions"],
)
def test_it_is_the_variance_of_the_placements(family):
    """Also with tied scores; the ends are those of the AUC."""
    result = Recipe.cv_test(3, test=0.4).run(family, X, Y, scoring="roc_auc")
    train, test = result.plan.outer[0]
    record = result._record
    setting = record.family.settings[result.chosen_index[0]]
    model = record.family.candidate(setting).fit(X[train], Y[train])
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X[test])
    else:
        scores = model.predict_proba(X[test])[:, 1]
    low, high = by_definition(scores, Y[test] == 1, 0.9)
    found = result.interval(0.9, "delong")
    assert (found.low, found.high) == pytest.approx((low, min(1, high)), rel=1e-9)
    assert found.low <= result.score <= found.high
    assert "predictor trained on these rows" in found.target
    assert "one fit" in found.why


def test_it_covers_the_area_of_a_known_score():
    """Two normal classes 1 apart: AUC Φ(1/√2); 300 test parts of 60 rows."""
    from cvnb.results.resampled.delong import placements

    rng, truth, covered = np.random.default_rng(0), stats.norm.cdf(np.sqrt(0.5)), 0
    for _ in range(300):
        positive = rng.random(60) < 0.4
        above, below = placements(rng.normal(size=60) + positive, positive)
        error = np.sqrt(above.var(ddof=1) / above.size + below.var(ddof=1) / below.size)
        assert above.mean() == pytest.approx(below.mean())
        covered += abs(above.mean() - truth) < 1.96 * error
    assert 0.9 < covered / 300 < 0.98


ONE = Recipe.cv_test(3, test=0.4)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
REFUSED = {
    "another score": (
        ONE,
        knn(k=[3, 5]),
        Y,
        {"scoring": "f1"},
        "is for scoring='roc_auc'",
    ),
    "0-1 loss": (
        ONE,
        knn(k=[3, 5]),
        Y,
        {},
        "is for scoring='roc_auc', not zero-one loss",
    ),
    "several parts": (
        Recipe(4, 3),
        knn(k=[3, 5]),
        Y,
        {"scoring": "roc_auc"},
        "is for one test part, and here are 4; use method='corrected_t'",
    ),
    "groups": (
        ONE,
        knn(k=[3, 5]),
        Y,
        {"scoring": "roc_auc", "groups": np.arange(120) // 2},
        "these come in groups; use outer=5 and method='corrected_t'",
    ),
    "a fit that differs": (
        ONE,
        Family(RandomForestClassifier(5), {"max_depth": [2, 3]}),
        Y,
        {"scoring": "roc_auc"},
        "the model fitted again has AUC .*, not that of the run; give the estimator a",
    ),
    "three classes": (
        ONE,
        knn(k=[3, 5]),
        THREE,
        {"scoring": "roc_auc_ovr"},
        "is for scoring='roc_auc', not roc_auc_ovr",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_for_anything_but_one_auc(case):
    """The message says why and what to use instead."""
    recipe, family, y, options, message = REFUSED[case]
    result = recipe.run(family, X, y, **options)
    with pytest.raises(CvnbError, match=message):
        result.interval(method="delong")


def test_a_perfect_score_has_no_spread():
    """AUC 1 on every row: no interval, and it says so; n_repeats is not for it."""
    Z = np.where(Y == 1, 100.0, -100.0).reshape(-1, 1) + numbers(120)[0][:, :1]
    result = ONE.run(logistic(C=[1.0, 2.0]), Z, Y, scoring="roc_auc")
    with pytest.raises(CvnbError, match="the AUC is 1 without any spread"):
        result.interval(method="delong")
    with pytest.raises(CvnbError, match="repeats nothing; leave out n_repeats=9"):
        result.interval(method="delong", n_repeats=9)


def test_auto_names_it():
    """One AUC without row losses: several outer splits, or one more fit."""
    result = ONE.run(knn(k=[3, 5]), X, Y, scoring="roc_auc")
    with pytest.raises(CvnbError, match="for roc_auc method='delong', which fits once"):
        result.interval()
