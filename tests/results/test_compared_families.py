"""bayesian_t and compare_families: intervals of differences, and which difference matters."""

import numpy as np
import pytest
from scipy import stats

from cvnb import Recipe, knn, lasso, ridge
from cvnb.errors import CvnbError
from cvnb.inference import bayesian_t, compare_families, corrected_t_interval
from small_tables import classes, numbers


def baycomp(first, second, rope, runs=1):
    """two_on_single(first, second, rope, runs) of baycomp for scores, from its formulas."""
    difference = np.asarray(second) - np.asarray(first)
    n = difference.size
    variance = difference.var(ddof=1) * (1 / n + 1 / (n / runs - 1))
    posterior = stats.t(n - 1, difference.mean(), np.sqrt(variance))
    left, right = posterior.cdf(-rope), 1 - posterior.cdf(rope)
    return left, 1 - left - right, right


@pytest.mark.parametrize("rope", [0.0, 0.005, 0.05])
@pytest.mark.parametrize("runs", [1, 10])
def test_the_probabilities_are_those_of_baycomp(rope, runs):
    """Ten folds, once and ten times; scores there are minus the losses here."""
    rng = np.random.default_rng(runs)
    first, second = rng.normal(0.2, 0.02, (2, 10 * runs))
    expected = baycomp(-first, -second, rope, runs)
    found = bayesian_t(first - second, n_train=90, n_test=10, rope=rope)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert sum(found) == pytest.approx(1.0)
    swapped = bayesian_t(second - first, n_train=90, n_test=10, rope=rope)
    np.testing.assert_allclose(swapped, found[::-1], rtol=1e-9, atol=1e-12)


def test_equal_losses_are_practically_equal():
    """No difference in any split: all in the rope; without a rope nobody is better."""
    assert bayesian_t(np.zeros(5), 80, 20, rope=0.01) == (0.0, 1.0, 0.0)
    assert bayesian_t(np.zeros(5), 80, 20) == (0.5, 0.0, 0.5)


def test_the_scale_of_the_losses_moves_nothing():
    """Differences and rope times 1e200 or 1e-200."""
    d = np.array([0.1, 0.3, -0.2, 0.25])
    plain = bayesian_t(d, 30, 10, rope=0.1)
    for scale in (1e200, 1e-200):
        found = bayesian_t(d * scale, 30, 10, rope=0.1 * scale)
        np.testing.assert_allclose(found, plain, rtol=1e-12)


THREE = {"few": knn(k=[1, 2]), "many": knn(k=[11, 15]), "ridge": ridge(alpha=[0.1, 10])}


def test_a_comparison_shows_interval_tests_and_probabilities_of_every_pair():
    """The numbers of the array functions on the differences of the fold losses."""
    comparison = Recipe(5, 3).run(THREE, *classes(80))
    report = compare_families(comparison, rope=0.02, level=0.9)
    assert len(report.pairs) == 3
    for pair, posterior in zip(report.pairs, report.posteriors, strict=True):
        a, b = comparison[pair.first], comparison[pair.second]
        d = a.fold_risks - b.fold_risks
        ends = corrected_t_interval(d, 64, 16, 0.9)
        assert (pair.low, pair.high) == pytest.approx(ends)
        assert (
            posterior == bayesian_t(d, 64, 16, rope=0.02) == bayesian_t(a, b, rope=0.02)
        )
        plain = next(p for p in comparison.pairs if p.second == pair.second)
        assert plain.high - plain.low > 0
        assert f"{pair.first} minus {pair.second}" in repr(report)
    assert "P(within ±0.02)" in repr(report)
    assert "90 % interval" in report._repr_mimebundle_()["text/html"]


def test_the_sentence_of_a_pair_holds_the_interval_of_its_difference():
    """As a score where the comparison shows scores: ends in order, larger is better."""
    comparison = Recipe(5, 3).run(
        {"ridge": ridge(alpha=[100.0]), "lasso": lasso(alpha=[0.01])},
        *numbers(60),
        scoring="r2",
    )
    (pair,) = comparison.pairs
    scores = comparison["ridge"].fold_scores - comparison["lasso"].fold_scores
    low, high = corrected_t_interval(scores, 48, 12)
    assert f", 95 % interval −{-low:.2f} to +{high:.2f}; corrected t" in pair.sentence
    assert pair.sentence in repr(comparison)


def test_a_pair_without_a_test_says_why():
    """One outer split has no spread: no probabilities either."""
    comparison = Recipe.cv_test(3).run(THREE, *classes(60))
    report = compare_families(comparison)
    assert report.posteriors == (None, None, None)
    assert "no test, because 1 outer split gives no spread" in repr(report)


REFUSED = {
    "a result": (
        lambda: compare_families(Recipe(3, 3).run(THREE["few"], *classes(60))),
        r"takes a Comparison, got RiskEstimate; run a dict of families",
    ),
    "a negative rope": (
        lambda: bayesian_t([0.1, 0.2], 80, 20, rope=-0.1),
        "rope=-0.1 must be a finite number >= 0",
    ),
    "one difference": (
        lambda: bayesian_t([0.1], 80, 20),
        "one difference has no spread",
    ),
    "no spread": (
        lambda: bayesian_t([0.1, 0.1], 80, 20),
        "every difference is 0.1: without any spread",
    ),
    "one family": (
        lambda: compare_families(Recipe(3, 3).run({"a": THREE["few"]}, *classes(60))),
        "one family has nothing to be compared with",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused(case):
    """The message says why."""
    call, message = REFUSED[case]
    with pytest.raises(CvnbError, match=message):
        call()
