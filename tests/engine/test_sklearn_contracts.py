"""Every fit keeps scikit-learn's conventions: configuration, weights, pipelines, copies."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cvnb import Family, Recipe

X, y = (part[:120] for part in load_diabetes(return_X_y=True))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_configuration_of_scikit_learn_reaches_the_workers(n_jobs):
    """set_config(transform_output="pandas") means the same in every process."""
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    model = make_pipeline(
        StandardScaler(),
        ColumnTransformer([("some", "passthrough", ["a", "b"])]),
        Ridge(),
    )
    with sklearn.config_context(transform_output="pandas"):
        assert Recipe.external_cv(3).run(model, frame, y, n_jobs=n_jobs).risk > 0


@pytest.mark.parametrize("loss", [None, "log"])
def test_stacking_with_its_default_last_estimator_runs(loss):
    """It cannot say that it predicts before it is fitted."""
    labels = (y > np.median(y)).astype(int)
    model = StackingClassifier([("nb", GaussianNB())])
    assert Recipe.validation(0.3).run(model, X, labels, loss=loss).risk >= 0
    assert (
        Recipe.validation(0.3).run(StackingRegressor([("ridge", Ridge())]), X, y).risk
        > 0
    )


@pytest.mark.parametrize(
    "model",
    [TransformedTargetRegressor(Ridge()), VotingRegressor([("ridge", Ridge())])],
)
def test_weights_reach_a_fit_that_takes_them_by_keyword(model):
    """**fit_params takes sample_weight as well as a parameter of that name."""
    w = np.linspace(0.5, 2, 120)
    weighted = Recipe.external_cv(3).run(model, X, y, sample_weight=w)
    expected = Recipe.external_cv(3).run(Ridge(), X, y, sample_weight=w)
    np.testing.assert_allclose(weighted.fold_risks, expected.fold_risks, rtol=1e-10)


def test_a_grid_of_whole_pipelines_shares_nothing():
    """Steps that are replaced as a whole are fitted for each setting, also in a pipeline of
    one step."""
    steps = [
        [("s", StandardScaler()), ("m", Ridge(10.0))],
        [("s", MinMaxScaler()), ("m", Ridge(10.0))],
    ]
    search = GridSearchCV(
        Pipeline([("m", Ridge())]),
        {"steps": steps},
        cv=KFold(3),
        scoring="neg_mean_squared_error",
    )
    result = Recipe(KFold(3), KFold(3)).run(Family(search), X, y)
    found = cross_validate(search, X, y, cv=KFold(3), return_estimator=True)[
        "estimator"
    ]
    np.testing.assert_allclose(
        result.inner_curves,
        [-one.cv_results_["mean_test_score"] for one in found],
        rtol=1e-10,
    )


def test_a_step_that_writes_on_its_input_is_asked_twice_on_two_copies():
    """Under the log loss, probabilities and predictions come from the same rows, not from
    rows scaled twice."""
    labels = (y > np.median(y)).astype(int)
    model = make_pipeline(
        StandardScaler(),
        make_pipeline(StandardScaler(copy=False), LogisticRegression()),
    )
    careful = make_pipeline(
        StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression())
    )
    results = [
        Recipe.external_cv(3).run(one, X * 50 + 3, labels, loss="log")
        for one in (model, careful)
    ]
    assert np.array_equal(results[0].predictions, results[1].predictions)
