"""Families on one plan: what the shared splits say of each pair."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Lasso
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from cvnb import Recipe, knn, lasso, ridge
from cvnb.errors import CvnbError
from cvnb.inference import alpaydin_5x2cv, corrected_t, dietterich_5x2cv
from cvnb.results.pairs import holm


def classes(m=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


THREE = {
    "few": knn(k=[1, 2, 3]),
    "many": knn(k=[11, 15]),
    "ridge": ridge(alpha=[0.1, 10]),
}
TWO = {"few": THREE["few"], "ridge": THREE["ridge"]}
HALVES = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)


def test_every_pair_has_the_corrected_t_of_its_fold_losses():
    """d, sizes and p as the array function has them; p-values after Holm for three pairs."""
    comparison = Recipe(5, 3).run(THREE, *classes())
    assert [(pair.first, pair.second) for pair in comparison.pairs] == [
        ("few", "many"),
        ("few", "ridge"),
        ("many", "ridge"),
    ]
    for pair in comparison.pairs:
        a, b = comparison[pair.first], comparison[pair.second]
        assert pair.difference == pytest.approx(a.risk - b.risk, abs=1e-12)
        assert (
            (pair.t, pair.p)
            == corrected_t(a.fold_risks - b.fold_risks, 64, 16)
            == corrected_t(a, b)
        )
        assert (pair.F, pair.p_F) == (None, None)
    p = np.array([pair.p for pair in comparison.pairs])
    assert [pair.p_holm for pair in comparison.pairs] == holm(p).tolist()


def test_holms_correction():
    """Against its definition, and never below the plain p or above 1."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(int(rng.integers(1, 7))) ** 3
        order = np.argsort(p)
        expected, worst = np.empty_like(p), 0.0
        for place, i in enumerate(order):
            worst = max(worst, min(1.0, (p.size - place) * p[i]))
            expected[i] = worst
        np.testing.assert_allclose(holm(p), expected)
    assert holm(np.zeros(0)).size == 0


def test_five_times_two_halves_bring_alpaydins_test():
    """F and its p beside the corrected t, from results as from arrays; ten other splits
    bring none."""
    comparison = Recipe(HALVES, 3).run(TWO, *classes())
    (pair,) = comparison.pairs
    a, b = comparison["few"], comparison["ridge"]
    d = (a.fold_risks - b.fold_risks).reshape(5, 2)
    assert (pair.F, pair.p_F) == alpaydin_5x2cv(d) == alpaydin_5x2cv(a, b)
    assert dietterich_5x2cv(d) == dietterich_5x2cv(a, b)
    assert (pair.t, pair.p) == corrected_t(d.ravel(), 40, 40)
    assert f"5×2cv F = {pair.F:.3f}" in pair.sentence
    ten = Recipe(RepeatedKFold(n_splits=5, n_repeats=2, random_state=0), 3).run(
        TWO, *classes()
    )
    assert ten.pairs[0].F is None
    with pytest.raises(
        CvnbError,
        match=r"5×2cv is five times two halves: run both with outer=RepeatedKFold\(n_splits=2",
    ):
        alpaydin_5x2cv(ten["few"], ten["ridge"])


def test_a_comparison_says_one_sentence_per_pair():
    """In text and in HTML; no verdict where the splits cannot give one."""
    comparison = Recipe(5, 3).run(TWO, *classes())
    (pair,) = comparison.pairs
    for shown in (repr(comparison), comparison._repr_mimebundle_()[0]["text/html"]):
        assert pair.sentence in shown
    assert "corrected t = " in pair.sentence
    assert ("do not tell them apart" in pair.sentence) == (pair.p >= 0.05)


def test_a_clear_difference_is_named():
    """A family that cannot see the signal is worse, and the sentence says which is better;
    so with a score."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = 3 * X[:, 0] + 0.1 * rng.normal(size=300)
    families = {"flat": (Lasso(), {"alpha": [1e6]}), "ridge": ridge(alpha=[0.1, 1.0])}
    (pair,) = Recipe(10, 3).run(families, X, y).pairs
    assert pair.sentence.endswith(": ridge is better.")
    assert pair.difference > 0
    (pair,) = Recipe(10, 3).run(families, X, y, scoring="r2").pairs
    assert pair.sentence.startswith("flat minus ridge: −")
    assert "R² (large is good)" in pair.sentence
    assert "corrected t = -" in pair.sentence
    assert pair.sentence.endswith(": ridge is better.")


def test_equal_families_do_not_differ():
    """The same family twice: no difference in any split."""
    (pair,) = (
        Recipe(5, 3).run({"a": knn(k=[1, 3]), "b": knn(k=[1, 3])}, *classes()).pairs
    )
    assert (pair.difference, pair.t, pair.p) == (0.0, 0.0, 1.0)
    assert pair.sentence == "a minus b: no difference in any of 5 outer splits."


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (Recipe.cv_test(), "1 outer split gives no spread to judge a difference by"),
        (
            Recipe(4, 3, time_ordered=True),
            "rows in the order of time depend on each other",
        ),
        (Recipe.internal_cv(4), "0 outer splits gives no spread"),
    ],
)
def test_where_no_test_is_honest_the_sentence_says_why(recipe, message):
    """The difference is given, without a p."""
    (pair,) = recipe.run(TWO, *classes()).pairs
    assert (pair.t, pair.p, pair.p_holm) == (None, None, None)
    assert message in pair.reason
    assert "no test, because " in pair.sentence


def test_results_of_different_plans_or_losses_are_not_paired():
    """The same splits and the same loss, or an error."""
    X, y = classes()
    a, b = (Recipe(5, 3, seed=seed).run(THREE["few"], X, y) for seed in (0, 1))
    with pytest.raises(CvnbError, match="different splits, so they cannot be paired"):
        corrected_t(a, b)
    c = Recipe(5, 3).run(THREE["few"], X, y, scoring="roc_auc")
    with pytest.raises(
        CvnbError,
        match="one result is measured by the zero-one loss, the other by the -roc_auc loss",
    ):
        corrected_t(a, c)
    with pytest.raises(CvnbError, match="two results are compared with each other"):
        corrected_t(a, 80)


def test_the_corrected_t_does_not_find_differences_in_noise():
    """Two families that see nothing, 200 seeds: p below 0.05 in about one in twenty at
    most; the plain t finds far more."""
    corrected, plain = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60)
        recipe = Recipe(RepeatedKFold(n_splits=5, n_repeats=3, random_state=seed), None)
        families = {
            "1": knn(k=1, task="classification"),
            "9": knn(k=9, task="classification"),
        }
        comparison = recipe.run(families, X, y, progress="off")
        corrected += comparison.pairs[0].p < 0.05
        plain += (
            stats.ttest_rel(
                comparison["1"].fold_risks, comparison["9"].fold_risks
            ).pvalue
            < 0.05
        )
    assert corrected <= 20 < plain


def test_lasso_and_ridge_are_compared_on_groups_in_groups():
    """Sizes are counted in groups."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y, groups = (
        X[:, 0] + rng.normal(size=60),
        np.repeat(np.arange(10), [1, 1, 1, 1, 1, 5, 10, 10, 15, 15]),
    )
    comparison = Recipe(3, 2).run(
        {"l": lasso(alpha=[0.1, 1]), "r": ridge(alpha=[0.1, 1])}, X, y, groups=groups
    )
    d = comparison["l"].fold_risks - comparison["r"].fold_risks
    sizes = [
        [np.unique(groups[part]).size for part in pair]
        for pair in comparison.plan.outer
    ]
    assert (comparison.pairs[0].t, comparison.pairs[0].p) == corrected_t(
        d, *np.mean(sizes, axis=0)
    )
