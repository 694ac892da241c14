"""The sentence with which an interval says that it may mislead."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from cvnb import Family, Recipe, knn, ridge, tree
from small_tables import classes, numbers


class FirstColumn(RegressorMixin, BaseEstimator):
    """Predicts the first column of X."""

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return X[:, 0]


class FirstClass(ClassifierMixin, BaseEstimator):
    """The same as classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


def with_errors(errors, recipe=None, **options):
    """A run whose errors y - ŷ are these; the rows differ."""
    m = len(errors)
    X = np.column_stack([np.arange(m) / m, np.zeros(m)])
    recipe = recipe or Recipe.external_cv(5)
    return recipe.run(Family(FirstColumn()), X, X[:, 0] + errors, **options)


def with_mistakes(n_mistakes, m=200, positives=100):
    y = (np.arange(m) < positives).astype(int)
    wrong = np.arange(m) % m < n_mistakes
    X = np.column_stack([np.where(wrong, 1 - y, y), np.arange(m)]).astype(float)
    return Recipe.external_cv(5, stratify=False).run(Family(FirstClass()), X, y)


NORMAL = np.random.default_rng(0).normal(size=200)
T3 = np.random.default_rng(4).standard_t(3, size=400)
ONE = np.r_[NORMAL[:199], 40.0]


def test_independent_rows_with_normal_errors_are_not_doubted():
    """Nothing in the repr, and nothing on the card."""
    result = with_errors(NORMAL)
    assert result.interval().warning == ""
    assert "mislead" not in repr(result.interval()) + repr(result)


DOUBTS = {
    "ten rows": (with_errors(NORMAL[:10]).interval, "only 10 rows tested"),
    "eight groups": (
        with_errors(NORMAL, groups=np.arange(200) // 25).interval,
        "only 8 groups tested",
    ),
    "three mistakes": (with_mistakes(3).interval, "only 3 mistakes"),
    "one mistake": (with_mistakes(1).interval, "only 1 mistake."),
    "two right": (with_mistakes(198).interval, "only 2 rows predicted right"),
    "few positives": (
        with_mistakes(50, positives=7).interval,
        "only 7 rows of class 1",
    ),
    "one row": (with_errors(ONE).interval, "one row carries 9"),
    "heavy tails": (
        with_errors(T3).interval,
        "heavy tails: 8 of 400 rows carry",
    ),
    "weights": (
        with_errors(
            NORMAL, sample_weight=np.r_[np.full(10, 1e3), np.ones(190)]
        ).interval,
        "effective rows of 200",
    ),
}


@pytest.mark.parametrize("case", DOUBTS)
def test_what_makes_an_interval_doubtful_is_said_in_one_sentence(case):
    """In .warning and at the end of the repr."""
    interval, words = DOUBTS[case]
    found = interval()
    assert words in found.warning
    assert found.warning.startswith("It may mislead: ")
    assert found.warning.count(". ") == 0
    assert repr(found).endswith(f". {found.warning}")


def test_repeated_rows_are_counted_unless_they_are_a_group():
    """60 rows, each twice."""
    X, y = numbers(100)
    twice, targets = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    found = Recipe.external_cv(5).run(LinearRegression(), twice, targets).interval()
    assert "200 of 200 rows occur more than once, as if independent" in found.warning
    groups = np.repeat(np.arange(100), 2)
    run = Recipe.external_cv(5).run(LinearRegression(), twice, targets, groups=groups)
    assert "more than once" not in run.interval().warning


def test_bayle_on_few_rows_names_another_method():
    """What it names runs on the same result, and is not called too narrow."""
    X, y = numbers(60)
    groups, w = np.arange(60) // 3, np.arange(1.0, 61.0)
    for recipe, options, method in (
        (Recipe(4, 3), {}, "few_rows"),
        (Recipe("loo", 3), {}, "few_rows"),
        (Recipe(4, 3), {"groups": groups}, "conservative_z"),
        (Recipe(4, 3), {"sample_weight": w}, "corrected_t"),
    ):
        result = recipe.run(ridge(alpha=[0.1, 10]), X, y, **options)
        narrow, wide = (result.interval(method=name) for name in ("bayle", method))
        assert (
            "60 rows are few for it (simulated at 60 to 300 rows it covered 90 to 95 % where "
            f"it said 95 %); use method='{method}'" in narrow.warning
        )
        # the corrected t has three degrees of freedom here, so its width is chance
        is_wider = wide.high - wide.low > narrow.high - narrow.low
        assert is_wider or method == "corrected_t"
        assert "rows are few for it" not in wide.warning


def test_other_methods_and_more_rows_are_not_called_too_narrow():
    """holdout on 30 rows is exact; what "auto" takes on 150 rows is wider."""
    X, y = classes(150)
    assert "few for it" not in Recipe(5, 3).run(knn(k=[5, 9]), X, y).interval().warning
    test = Recipe.cv_test(3).run(knn(k=[5, 9]), *classes(60)).interval()
    assert "few for it" not in test.warning


def test_the_card_says_it_too():
    """As text and as a page; a result without an interval has none."""
    result = with_mistakes(3)
    sentence = "The interval may mislead: only 3 mistakes."
    assert sentence in repr(result)
    assert sentence in result._repr_mimebundle_()[0]["text/html"]
    ordered = Recipe(4, None, time_ordered=True).run(DummyRegressor(), *numbers(60))
    assert "mislead" not in repr(ordered)


def test_constant_losses_and_losses_of_whole_parts_are_no_error():
    """No spread to divide, and no rows to look at."""
    assert with_errors(np.ones(200) + 0.0).interval(method="hoeffding", range=4.0)
    result = Recipe(4, 3).run(
        tree(max_leaf_nodes=[2, 4]), *classes(200), scoring="roc_auc"
    )
    assert result.interval().warning == ""
