"""A comparison decides: order, verdict, differences to the best, frame, predictor, page."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Family, Recipe, knn, ridge
from cvnb.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=200) > 0).astype(int)
NEVER = Family(DummyClassifier(strategy="most_frequent"), {})
THREE = {"never": NEVER, "near": knn(k=[5]), "wide": knn(k=[25])}


@pytest.fixture(scope="module")
def comparison():
    return Recipe(10, 3).run(THREE, X, Y)


def test_models_are_in_order_of_their_risk(comparison):
    """In the text, the table and the frame; the mapping keeps the order given."""
    order = sorted(THREE, key=lambda name: comparison[name].risk)
    assert comparison.ranked == order
    assert order[-1] == "never"
    assert list(comparison) == list(THREE)
    assert comparison.to_frame()["model"].tolist() == order
    lines = repr(comparison).splitlines()
    places = [
        next(i for i, x in enumerate(lines) if x.split()[:1] == [n]) for n in order
    ]
    assert places == sorted(places)


def test_the_verdict_names_what_the_folds_separate(comparison):
    """Guessing is worse for sure; two k-NN are not told apart."""
    best, second, _ = comparison.ranked
    assert comparison.verdict.startswith(f"{best} has the lowest error rate (")
    assert "better than never, but these 10 folds" in comparison.verdict
    assert comparison.verdict.endswith(f"cannot separate it from {second}.")
    two = Recipe(10, 3).run({name: THREE[name] for name in (best, "never")}, X, Y)
    assert two.verdict.endswith("and these 10 folds separate it from never.")


def test_a_verdict_follows_the_direction_of_a_score(comparison):
    """The same order and the same words by accuracy, whose largest is best."""
    scored = Recipe(10, 3).run(THREE, X, Y, scoring="accuracy")
    assert scored.ranked == comparison.ranked
    assert f"{scored.ranked[0]} has the highest accuracy" in scored.verdict
    pair = scored.against_best("never")
    frame = scored.to_frame().set_index("model")
    assert frame.loc["never", "score"] == pytest.approx(scored["never"].score)
    low, high = frame.loc["never", ["to_best_low", "to_best_high"]]
    assert low < frame.loc["never", "to_best"] < high < 0
    assert pair.difference == pytest.approx(-frame.loc["never", "to_best"])


def test_equal_models_have_no_winner():
    """The same model twice: the same risk in every fold, no p, no order but the one given."""
    twice = {"b": KNeighborsClassifier(5), "a": KNeighborsClassifier(5)}
    same = Recipe(5).run({name: Family(x, {}) for name, x in twice.items()}, X, Y)
    assert same.ranked == ["b", "a"]
    assert same.verdict.endswith("and the others have the same in every fold.")


def test_what_was_not_measured_has_no_verdict():
    """Without outer splits; one split gives an order, and the reason why there is no test."""
    inner = Recipe.internal_cv(3).run(THREE, X, Y)
    assert inner.verdict.startswith("No verdict: nothing was measured outside")
    one = Recipe.cv_test(3).run(THREE, X, Y)
    assert "nothing tells whether that is chance" in one.verdict


def test_a_pair_turned_round_is_the_same_test(comparison):
    """Difference, t and interval change sign, p does not; turned twice it is the same."""
    pair = comparison.pairs[0]
    turned = pair.turned()
    assert (turned.first, turned.second) == (pair.second, pair.first)
    assert (turned.difference, turned.t) == (-pair.difference, -pair.t)
    assert (turned.low, turned.high) == (-pair.high, -pair.low)
    assert (turned.p, turned.p_holm) == (pair.p, pair.p_holm)
    assert turned.turned() == pair
    assert comparison.against_best(comparison.ranked[0]) is None


def test_the_best_predictor_is_that_of_the_best_model(comparison):
    """By default; any model by its name; a wrong name is refused."""
    best = comparison.ranked[0]
    expected = comparison[best].predictor().predict(X)
    np.testing.assert_array_equal(comparison.predictor().predict(X), expected)
    assert set(comparison.predictor("never").predict(X)) == {np.bincount(Y).argmax()}
    with pytest.raises(
        InputError, match=r"name='tree' is no model .* use 'never', 'near'"
    ):
        comparison.predictor("tree")
    named = Recipe(5, 3).run({"best": NEVER, "other": knn(k=[5])}, X, Y)
    assert set(named.predictor("best").predict(X)) == {np.bincount(Y).argmax()}


def test_a_root_has_the_units_of_y():
    """A mean squared error is shown with its root; the baseline is the mean of y."""
    t = 100 * X[:, 0] + RNG.normal(size=200)
    families = {"ridge": ridge(alpha=[0.1]), "mean": Family(DummyRegressor(), {})}
    compared = Recipe(5).run(families, X, t)
    root = f"{np.sqrt(compared['ridge'].risk):.2f}"
    assert f"its root, {root}, is in the units of y" in repr(compared["ridge"])
    assert "! No better than always predicting the mean of y." in repr(compared["mean"])


def test_figure_and_page(comparison, tmp_path):
    """plotly's figure of the folds, and one page for all models."""
    assert len(comparison.figure().data) == 2
    page = comparison.report(tmp_path / "all.html").read_text(encoding="utf-8")
    assert comparison.verdict in page
    assert all(f"<h3>{name}</h3>" in page for name in THREE)
