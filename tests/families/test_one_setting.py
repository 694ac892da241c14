"""Families with nothing to choose: one setting, or a self-tuning estimator; no inner fit."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import (
    LassoCV,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeCV,
)
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvnb import Family, NestedCV, Plan, Recipe, knn, lasso, ridge
from cvnb.results.estimate import record_of
from cvnb.runs.prepare import dry_run
from cvnb.views.methods import methods_of

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X @ [1.0, 0.5, 0.0] + rng.normal(size=60)
labels = (y > 0).astype(int)
ALPHAS = {"alpha": [0.5, 5.0]}


class Counts(Ridge):
    """Counts its fits, of all clones together."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Counts.fits += 1
        return super().fit(X, y, sample_weight)


class ForeignSearchCV(RegressorMixin, BaseEstimator):
    """Has the parameters of scikit-learn's searches without being one of them."""

    def __init__(self, estimator, cv=3, scoring=None, refit=True):
        self.estimator, self.cv, self.scoring, self.refit = (
            estimator,
            cv,
            scoring,
            refit,
        )

    def fit(self, X, y):
        search = GridSearchCV(self.estimator, ALPHAS, cv=self.cv).fit(X, y)
        self.best_estimator_ = search.best_estimator_
        return self

    def predict(self, X):
        return self.best_estimator_.predict(X)


class OwnGridSearch(GridSearchCV):
    """A subclass may choose by a rule of its own, so it is not opened."""


@pytest.fixture(autouse=True)
def no_fits():
    Counts.fits = 0


TUNED = {
    "LassoCV": (LassoCV(), "LassoCV"),
    "behind a scaler": (make_pipeline(StandardScaler(), RidgeCV()), "RidgeCV"),
    "halving": (
        HalvingGridSearchCV(Ridge(), ALPHAS, random_state=0),
        "HalvingGridSearchCV",
    ),
    "halving draws": (
        HalvingRandomSearchCV(Ridge(), ALPHAS, n_candidates=2, random_state=0),
        "HalvingRandomSearchCV",
    ),
    "a search of another package": (ForeignSearchCV(Ridge()), "ForeignSearchCV"),
    "a subclass of a search": (OwnGridSearch(Ridge(), ALPHAS), "OwnGridSearch"),
}
ONE = {
    "a number": ridge(alpha=1.0),
    "no grid": Family(Ridge()),
    "a list of one": Family(Ridge(), {"alpha": [2.0]}),
}


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(4, 3),
        Recipe(4),
        Recipe(0.25, 5),
        Recipe.nested_dev(4),
        Recipe(KFold(4), KFold(3)),
    ],
)
def test_one_setting_is_fitted_once_in_each_outer_split(recipe):
    """Whatever the inner splitter is; and a dry run counts the same fits."""
    result = recipe.run(Counts(), X, y)
    assert Counts.fits == len(result.plan.outer)
    assert dry_run(recipe, Counts(), X, y).fits == len(result.plan.outer)


@pytest.mark.parametrize("family", ONE.values(), ids=ONE)
def test_the_numbers_are_those_of_external_cv(family):
    """Nothing is chosen, so the outer splits alone give every number."""
    result, outside = (
        Recipe(4, 3).run(family, X, y),
        Recipe.external_cv(4).run(family, X, y),
    )
    assert result.fold_risks.tolist() == outside.fold_risks.tolist()
    assert result.predictions.tolist() == outside.predictions.tolist()
    assert result.inner_curves is None
    assert result.chosen == outside.chosen
    assert (result.flat, result.optimism) == (outside.flat, outside.optimism)
    assert result.quantity == outside.quantity == "E[ℓ_D(A(S))], |S| = 45"


def test_an_estimator_that_tunes_itself_gives_the_scores_of_cross_validation():
    """LassoCV as it is, in the outer splits."""
    result = Recipe(4, 3).run(Family(LassoCV(), {}), X, y)
    scores = cross_val_score(
        LassoCV(),
        X,
        y,
        cv=KFold(4, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
    )
    np.testing.assert_allclose(result.fold_risks, -scores)


@pytest.mark.parametrize(
    "family",
    [*ONE.values(), *(Family(one) for one, _ in TUNED.values())],
    ids=[*ONE, *TUNED],
)
def test_the_plan_has_no_inner_splits(family):
    """The run, the plan without a run and the record agree; without a family inner splits stay."""
    plan = Recipe(4, 3).plan(X, y, family)
    assert plan.n_inner == 0
    assert plan.inner_layouts is None
    assert len(plan.inner[0]) == 0
    assert Recipe(4, 3).run(family, X, y).plan == plan == Plan.from_json(plan.to_json())
    assert plan.outer == Recipe(4, 3).plan(X, y).outer
    assert Recipe(4, 3).plan(X, y).n_inner == 12


@pytest.mark.parametrize(("estimator", "name"), TUNED.values(), ids=TUNED)
def test_the_words_say_that_the_estimator_tunes_itself(estimator, name):
    """In the quantity, the recipe, the methods and the dry run; inner folds are not mentioned."""
    family = Family(estimator)
    result = Recipe(4, 3).run(family, X, y)
    words = f"4-fold CV, inside each training part {name} tunes itself"
    assert result.quantity == f"E[ℓ_D(A(S))], |S| = 45, {name} tunes itself inside S"
    assert result.plan.words == words
    assert f"external CV ({words}), seed 0" in repr(result)
    assert f"Inside each outer training part: {name} tunes itself." in methods_of(
        result
    )
    assert words in repr(dry_run(Recipe(4, 3), family, X, y))
    for text in (
        repr(result),
        result._repr_mimebundle_()[0]["text/html"].split("<pre>")[0],
        methods_of(result),
    ):
        assert "3-fold" not in text
        # apart from the recipe itself
        assert "inner" not in text.replace("Recipe(outer=4, inner=3, seed=0)", "")
        assert "nested" not in text


@pytest.mark.parametrize("family", ONE.values(), ids=ONE)
def test_the_words_of_one_setting_say_that_nothing_is_chosen(family):
    """An explicit inner splitter that is not used is mentioned; a default one is not."""
    result = Recipe(4, 3).run(family, X, y)
    assert (
        "external CV (4-fold CV, inside each training part nothing is chosen), seed 0"
        in repr(result)
    )
    assert "was estimated by external CV." in methods_of(result)
    assert "external CV (4-fold CV), seed 0" in repr(
        Recipe.external_cv(4).run(family, X, y)
    )


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (
            LogisticRegressionCV(
                Cs=2,
                cv=3,
                l1_ratios=(0,),
                use_legacy_attributes=False,
                scoring="accuracy",
            ),
            "LogisticRegressionCV",
        ),
        (CalibratedClassifierCV(LogisticRegression()), ""),
        (GridSearchCV(LogisticRegression(), {"C": [1.0]}), ""),
    ],
    ids=["LogisticRegressionCV", "CalibratedClassifierCV", "GridSearchCV"],
)
def test_only_self_tuning_estimators_are_recognised(estimator, name):
    """Calibration chooses nothing, and a GridSearchCV is opened."""
    plan = Recipe(4, 3).plan(X, labels, estimator)
    assert plan.inner_words == (f"{name} tunes itself" if name else "nothing is chosen")


def test_without_an_outer_level_the_inner_splits_measure():
    """internal_cv of one setting makes its fits: they are the number."""
    result = Recipe.internal_cv(4).run(Counts(), X, y)
    assert Counts.fits == 4
    assert result.flat == result.inner_curves[0, 0]
    tuned = Recipe.internal_cv(4).run(LassoCV(), X, y)
    assert tuned.quantity.endswith(
        "|T| = 45 of |S| = 60, LassoCV tunes itself inside T"
    )


def test_a_comparison_chooses_only_where_there_is_something_to_choose():
    """All families share the outer splits; inner ones are drawn for those that need them."""
    families = {"one": Counts(), "many": ridge(alpha=[0.5, 5.0]), "itself": LassoCV()}
    comparison = Recipe(4, 3).run(families, X, y)
    assert Counts.fits == 4
    assert [result.inner_curves is None for result in comparison.values()] == [
        True,
        False,
        True,
    ]
    assert [result.plan.n_inner for result in comparison.values()] == [0, 12, 0]
    assert all(
        result.plan.outer == comparison.plan.outer for result in comparison.values()
    )
    assert comparison.plan == Recipe(4, 3).plan(X, y)
    assert all(pair.t is not None for pair in comparison.pairs)
    assert "nested CV (4-fold CV, inside each training part 3-fold CV)" in repr(
        comparison
    )
    assert "itself: E[ℓ_D(A(S))], |S| = 45, LassoCV tunes itself inside S" in repr(
        comparison
    )
    costs = dry_run(Recipe(4, 3), families, X, y)
    fits = {name: cost.fits for name, cost in costs.items()}
    assert fits == {"one": 4, "many": 12 * 2 + 4, "itself": 4}


def test_results_on_other_outer_splits_are_not_paired():
    """Comparable results need the same outer splits; the inner ones may differ."""
    from cvnb.inference import corrected_t

    tuned = Recipe(4, 3).run(ridge(), X, y)
    assert corrected_t(tuned, Recipe(4, 5).run(ridge(), X, y))
    with pytest.raises(ValueError, match="different splits"):
        corrected_t(tuned, Recipe(5, 3).run(ridge(), X, y))


def test_an_ensemble_is_the_mean_of_the_inner_splitters_models():
    """The inner splitter of the recipe splits S for it, as for a family that is tuned."""
    mean = Recipe(4, 3).run(Ridge(), X, y).predictor(how="ensemble")
    models = [
        Ridge().fit(X[train], y[train])
        for train, _ in KFold(3, shuffle=True, random_state=1).split(X)
    ]
    np.testing.assert_allclose(
        mean.predict(X), np.mean([model.predict(X) for model in models], axis=0)
    )


@pytest.mark.parametrize(
    "family",
    [ridge(alpha=1.0), Family(LassoCV()), Family(TUNED["halving draws"][0])],
    ids=["ridge", "LassoCV", "HalvingRandomSearchCV"],
)
def test_the_code_makes_the_result_again(family):
    """With the recipe as it was given; what is experimental is enabled first."""
    result = Recipe(4, 3).run(family, X, y)
    is_halving = "Halving" in repr(family)
    assert is_halving == ("import enable_halving_search_cv" in result.code())
    assert "Recipe(outer=4, inner=3, seed=0)" in result.code()
    names = {"X": X, "y": y}
    exec(result.code(), names)
    assert names["result"].risk == result.risk


def test_nested_cv_as_an_estimator_makes_no_inner_fits():
    """NestedCV of one setting: its outer fits and the one on all rows."""
    model = NestedCV(Counts(), {}, outer=4, inner=3).fit(X, y)
    assert Counts.fits == 5
    assert model.result_.plan.n_inner == 0


def test_dev_rows_are_not_tested_on_all_the_same():
    """Nothing is chosen on them, but they stay out of the test part."""
    recipe = Recipe(outer=0.5, dev_rows=np.arange(20))
    result = recipe.run(Ridge(), X, y)
    assert result.plan.outer[0][1].min() >= 20
    assert "validation on a test set" in repr(result)
    assert record_of(result).recipe == recipe


def test_a_rule_for_choosing_needs_no_inner_folds_where_nothing_is_chosen():
    """One dev set has no standard error, which one setting does not ask for."""
    assert (
        Recipe.nested_dev(4).run(lasso(alpha=1.0), X, y, select="one_se").inner_curves
        is None
    )


def test_default_grids_have_something_to_choose():
    """A short-hand without values is tuned, however few the rows."""
    assert Recipe(4, 3).plan(X, y, knn()).n_inner == 12
