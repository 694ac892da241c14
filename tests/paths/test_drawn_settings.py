"""Drawn settings on every kind of path equal RandomizedSearchCV inside cross_validate."""

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from sklearn.model_selection import (
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cases
from cvnb import Family, NestedCV, Recipe
from cvnb.studies import over_seeds

NUMBERS, LABELS = cases.data("plain / numbers"), cases.data("plain / classes")
PENALTIES = loguniform(1e-3, 1e3)


def scaled(model):
    return make_pipeline(StandardScaler(), model)


# (estimator, grid, number of draws, beginning of the name of the path)
REGRESSORS = {
    "knn": (KNeighborsRegressor(), {"n_neighbors": randint(1, 12)}, 9, "shared:knn"),
    "ridge": (Ridge(), {"alpha": PENALTIES}, 9, "shared:"),
    "scaled ridge": (
        scaled(Ridge()),
        {"ridge__alpha": PENALTIES, "ridge__fit_intercept": [True, False]},
        9,
        "shared:",
    ),
    "lasso": (Lasso(tol=1e-9), {"alpha": loguniform(1e-3, 1)}, 7, "shared:"),
    "elastic net": (
        ElasticNet(tol=1e-9),
        {"alpha": loguniform(1e-3, 1), "l1_ratio": [0.2, 0.8]},
        8,
        "shared:",
    ),
    "behind any transformer": (
        make_pipeline(PolynomialFeatures(), Ridge()),
        {"polynomialfeatures__degree": randint(1, 3), "ridge__alpha": PENALTIES},
        6,
        "",
    ),
    "boosting": (
        GradientBoostingRegressor(random_state=0),
        {"n_estimators": randint(1, 20), "max_depth": [1, 2]},
        6,
        "path:",
    ),
    "several dicts": (
        scaled(Ridge()),
        [
            {"ridge": [Ridge()], "ridge__alpha": PENALTIES},
            {"ridge": [LinearRegression()]},
        ],
        6,
        "",
    ),
}
CLASSIFIERS = {
    "knn": (
        scaled(KNeighborsClassifier()),
        {
            "kneighborsclassifier__n_neighbors": randint(1, 12),
            "kneighborsclassifier__weights": ["uniform", "distance"],
        },
        9,
        "",
    ),
    "logistic": (
        LogisticRegression(tol=1e-10, max_iter=10_000),
        {"C": loguniform(1e-2, 1e2)},
        5,
        "path:",
    ),
    "tree": (
        DecisionTreeClassifier(random_state=0),
        {"max_leaf_nodes": randint(2, 9)},
        6,
        "path:",
    ),
    "forest": (
        RandomForestClassifier(random_state=0),
        {"n_estimators": randint(1, 9)},
        5,
        "path:",
    ),
    "svc": (SVC(), {"C": PENALTIES, "gamma": loguniform(1e-2, 1)}, 6, "refit"),
}


def assert_equals_cross_validate(result, search, X, y, outer):
    """Settings, inner curves, choices and fold losses of the search in each outer training part.

    Where settings tie, the rounding of scikit-learn's means of scores may decide.
    """
    found = cross_validate(
        search, X, y, cv=outer, scoring=search.scoring, return_estimator=True
    )
    top = 1.0 if search.scoring == "accuracy" else 0.0
    for j, one in enumerate(found["estimator"]):
        assert repr(result.settings) == repr(one.cv_results_["params"])
        curve = top - one.cv_results_["mean_test_score"]
        np.testing.assert_allclose(result.inner_curves[j], curve, rtol=1e-7, atol=1e-10)
        tied = np.flatnonzero(np.isclose(curve, curve.min(), rtol=1e-9, atol=1e-12))
        assert one.best_index_ in tied
        assert result.chosen_index[j] == tied[0]
        if one.best_index_ == tied[0]:
            assert repr(result.chosen[j]) == repr(one.best_params_)
            score = found["test_score"][j]
            np.testing.assert_allclose(result.fold_scores[j], score, rtol=1e-7)


@pytest.mark.parametrize("case", REGRESSORS.values(), ids=REGRESSORS)
def test_a_drawn_regressor_equals_a_random_search_in_cross_validate(case):
    """On the path that a grid of the same values takes."""
    estimator, grid, n, path = case
    X, y = NUMBERS
    outer, inner = KFold(4, shuffle=True, random_state=1), KFold(3)
    search = RandomizedSearchCV(
        estimator,
        grid,
        n_iter=n,
        random_state=7,
        cv=inner,
        scoring="neg_mean_squared_error",
    )
    result = Recipe(outer).run(search, X, y)
    assert_equals_cross_validate(result, search, X, y, outer)
    assert result.path.startswith(path)
    family = Family(estimator, grid, n=n, seed=7)
    own = Recipe(outer, inner).run(family, X, y, scoring=search.scoring)
    assert own.fold_risks.tolist() == result.fold_risks.tolist()
    refit = Recipe(outer).run(search, X, y, path="refit")
    np.testing.assert_allclose(refit.inner_curves, result.inner_curves, rtol=1e-7)


@pytest.mark.parametrize("case", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_a_drawn_classifier_equals_a_random_search_in_cross_validate(case):
    """cv as a number is stratified there and here."""
    estimator, grid, n, path = case
    X, y = LABELS
    outer = StratifiedKFold(4, shuffle=True, random_state=1)
    search = RandomizedSearchCV(
        estimator, grid, n_iter=n, random_state=7, cv=3, scoring="accuracy"
    )
    result = Recipe(outer).run(search, X, y)
    assert_equals_cross_validate(result, search, X, y, outer)
    assert result.path.startswith(path)


def test_sobol_draws_take_the_same_path_as_the_list_of_their_values():
    """Θ0 is drawn once, then a list like any grid."""
    X, y = NUMBERS
    family = Family(Ridge(), {"alpha": PENALTIES}, n=16, draw="sobol", seed=2)
    values = [setting["alpha"] for setting in family.settings]
    drawn = Recipe(4, 3).run(family, X, y)
    listed = Recipe(4, 3).run(Family(Ridge(), {"alpha": values}), X, y)
    assert drawn.inner_curves.tolist() == listed.inner_curves.tolist()
    assert (drawn.path, drawn.chosen) == (listed.path, listed.chosen)


def test_studies_comparisons_and_nested_cv_take_a_drawn_family():
    """Each as any other family, with the settings drawn once for all of it."""
    X, y = NUMBERS
    family = Family(Ridge(), {"alpha": PENALTIES}, n=8, seed=2)
    comparison = Recipe(4, 3).run({"drawn": family, "grid": (Ridge(), {})}, X, y)
    result = comparison["drawn"]
    study = over_seeds(result, n=2, first=5)
    again = Recipe(4, 3, seed=6).run(family, X, y)
    np.testing.assert_allclose(study.risks[1], again.risk, rtol=1e-9)
    model = NestedCV(family, outer=4, inner=3).fit(X, y)
    assert model.result_.settings == family.settings
    assert model.risk_ == result.risk
    assert result.final_setting in family.settings
    simplest = Recipe(4, 3).run(family, X, y, select="one_se")
    assert all(
        a["alpha"] >= b["alpha"]
        for a, b in zip(simplest.chosen, result.chosen, strict=True)
    )
