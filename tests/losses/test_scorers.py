"""Scorers and user functions as losses."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import fbeta_score, make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from cvnb import Recipe, knn
from cvnb.errors import CvnbError, FamilyError, InfeasibleError
from cvnb.inference import corrected_t
from small_tables import classes

X, y = (part[:120] for part in load_diabetes(return_X_y=True))


@pytest.mark.parametrize(
    "scoring", ["f1", "recall", "precision", "jaccard", "f1_macro"]
)
def test_a_metric_of_positives_is_refused_on_a_part_without_any(scoring):
    """scikit-learn calls 0 / 0 zero and warns; such a part is refused before the first fit."""
    rare = (np.arange(60) < 3) * 1
    with pytest.raises(
        InfeasibleError, match="not defined on the test part of outer split"
    ):
        Recipe(KFold(5), None).run(
            DecisionTreeClassifier(), rare[:, None] * 1.0, rare, scoring=scoring
        )


def test_a_scorer_of_a_loss_is_shown_as_a_loss():
    """greater_is_better=False: the number is the mean squared error, and small is good."""
    scorer = make_scorer(mean_squared_error, greater_is_better=False)
    result = Recipe(3, 2).run((Ridge(), {"alpha": [0.1, 1.0]}), X, y, scoring=scorer)
    same = Recipe(3, 2).run((Ridge(), {"alpha": [0.1, 1.0]}), X, y)
    assert result.risk == pytest.approx(same.risk)
    assert repr(result).startswith(f"{round(same.risk, -2):.0f}  ")
    assert "mean squared error on new rows" in repr(result).splitlines()[0]


def test_two_metrics_of_one_name_are_not_compared():
    """F-beta at two betas is two metrics."""
    X, y = load_breast_cancer(return_X_y=True)
    families = {
        f"beta {b}": GridSearchCV(
            GaussianNB(),
            {"var_smoothing": [1e-9, 1e-3]},
            scoring=make_scorer(fbeta_score, beta=b),
        )
        for b in (0.1, 10)
    }
    with pytest.raises(FamilyError, match="a comparison needs one loss"):
        Recipe(3, 2).run(families, X, y)


def test_a_function_named_like_a_loss_is_not_that_loss():
    """The user's "squared" is shown as the user's."""

    def squared(y, p):
        return 2.0 * (y - p) ** 2

    def log(y, p):
        return np.log1p((y - p) ** 2)

    own = Recipe.external_cv(3).run(Ridge(), X, y, loss=squared)
    assert own.risk == pytest.approx(
        2 * Recipe.external_cv(3).run(Ridge(), X, y, loss="squared").risk
    )
    assert "squared (user's) loss" in repr(own)
    assert "your_function" in own.code()
    assert Recipe.external_cv(3).run(Ridge(), X, y, loss=log).risk > 0


def test_scorers_that_differ_in_a_parameter_are_two_losses():
    """F-beta of 0.1 and of 10 have one name."""
    X, y = classes()
    a, b = (
        Recipe(4, 3).run(
            knn(k=[1, 5]), X, y, scoring=make_scorer(fbeta_score, beta=beta)
        )
        for beta in (0.1, 10)
    )
    with pytest.raises(CvnbError, match="give both the same"):
        corrected_t(a, b)
