"""The final predictor: retrained on all rows at the setting chosen on all rows, or the mean
of the models that chose it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDRegressor,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    train_test_split,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVR, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier

from cvnb import Family, Recipe, knn, ridge
from cvnb.errors import CvnbError, InputError, RecipeError

ALPHAS = {"alpha": [0.1, 10.0]}


def table(n_rows=60, offset=50.0):
    """Four columns of different scales far from 0, one of them constant."""
    X = np.random.default_rng(1).normal(size=(n_rows, 3)) * [1.0, 30.0, 0.01] + offset
    return np.column_stack([X, np.full(n_rows, 7.0)])


def numbers(n_rows=60):
    """A noisy linear response of the table."""
    X = table(n_rows)
    return X[:, 0] - 0.1 * X[:, 1] + np.random.default_rng(2).normal(size=n_rows)


def labels(n_rows=60, n_classes=3):
    """Overlapping classes."""
    return np.argsort(np.argsort(numbers(n_rows))) * n_classes // n_rows


def run(family, recipe=None, y=None, X=None, **options):
    """The result of a family, by default with five by five folds."""
    X = table() if X is None else X
    y = numbers() if y is None else y
    return (recipe or Recipe()).run(family, X, y, progress="off", **options)


# Retrained


SEARCHES = {
    "ridge": (Ridge(), ALPHAS, KFold(4, shuffle=True, random_state=1)),
    "scaled neighbours": (
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        {"kneighborsregressor__n_neighbors": [1, 4, 9]},
        KFold(5),
    ),
    "logistic": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.1, 1.0]},
        3,
    ),
    "tree": (
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, None]},
        StratifiedKFold(4),
    ),
    "dev sets": (Lasso(), {"alpha": [0.01, 0.1]}, ShuffleSplit(3, random_state=2)),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_retraining_equals_the_refit_of_a_grid_search(name):
    """On the same inner splits of all rows the choice and the predictions are GridSearchCV's."""
    estimator, grid, cv = SEARCHES[name]
    y = labels() if is_classifier(estimator) else numbers()
    scoring = "accuracy" if is_classifier(estimator) else "neg_mean_squared_error"
    search = GridSearchCV(estimator, grid, cv=cv, scoring=scoring)
    expected = clone(search).fit(table(), y)
    result = run(Family(search), y=y)
    assert result.final_setting == expected.best_params_
    predictor = result.predictor()
    assert np.array_equal(
        predictor.predict(table() + 0.1), expected.predict(table() + 0.1)
    )
    assert type(predictor) is type(expected.best_estimator_)
    assert (
        predictor.get_params(deep=False).keys()
        == expected.best_estimator_.get_params(deep=False).keys()
    )


def test_a_number_of_inner_folds_chooses_on_all_rows_with_the_next_seed():
    """inner=4 is KFold(4, shuffle=True, random_state=seed + 1) on all of S."""
    cv = KFold(4, shuffle=True, random_state=3)
    expected = GridSearchCV(
        Ridge(),
        {"alpha": np.logspace(-3, 3, 13)},
        cv=cv,
        scoring="neg_mean_squared_error",
    )
    expected.fit(table(), numbers())
    result = run(
        Family(Ridge(), {"alpha": np.logspace(-3, 3, 13)}),
        Recipe(outer=3, inner=4, seed=2),
    )
    assert result.final_setting == expected.best_params_
    assert np.array_equal(
        result.predictor().predict(table()), expected.predict(table())
    )


def test_the_setting_of_train_validation_test_is_chosen_again_on_all_rows():
    """The final choice splits all of S as the recipe splits the learning part: the
    validation set keeps its size."""
    recipe = Recipe.train_validation_test(0.25, 0.25)
    grid = {"alpha": np.logspace(-3, 3, 13)}
    train, dev = train_test_split(np.arange(60), test_size=15, random_state=1)
    expected = GridSearchCV(
        Ridge(), grid, cv=[(train, dev)], scoring="neg_mean_squared_error"
    ).fit(table(), numbers())
    result = run(Family(Ridge(), grid), recipe)
    assert result.final_setting == expected.best_params_


def test_the_final_dev_set_of_nested_dev_is_as_large_as_an_outer_test_part():
    """m/K rows of all of S choose the final setting."""
    grid = {"alpha": np.logspace(-3, 3, 13)}
    train, dev = train_test_split(np.arange(60), test_size=15, random_state=1)
    expected = GridSearchCV(
        Ridge(), grid, cv=[(train, dev)], scoring="neg_mean_squared_error"
    ).fit(table(), numbers())
    assert (
        run(Family(Ridge(), grid), Recipe.nested_dev(4)).final_setting
        == expected.best_params_
    )


def test_without_an_outer_level_the_choice_is_the_final_one():
    """internal_cv has one choice, and final_setting is it."""
    result = run(Family(Ridge(), ALPHAS), Recipe.internal_cv(4))
    assert result.final_setting == result.chosen[0]
    expected = Ridge(**result.chosen[0]).fit(table(), numbers())
    assert np.array_equal(
        result.predictor().predict(table()), expected.predict(table())
    )


def test_one_setting_needs_no_choice():
    """inner=None with one setting: the estimator as it is, trained on all rows."""
    result = run(Family(Ridge(alpha=3.0)), Recipe.external_cv(4))
    assert result.final_setting == {}
    assert np.array_equal(
        result.predictor().coef_, Ridge(alpha=3.0).fit(table(), numbers()).coef_
    )


def test_groups_reach_the_final_choice():
    """The inner folds of all of S keep groups whole, as inside every outer training part."""
    groups = np.arange(60) // 6
    result = run(Family(KNeighborsRegressor(), {"n_neighbors": [1, 20]}), groups=groups)
    other = run(
        Family(KNeighborsRegressor(), {"n_neighbors": [1, 20]}),
        Recipe.internal_cv(5),
        groups=groups,
    )
    assert result.final_setting == other.final_setting
    for train, test in other.plan.inner[0]:
        assert not set(groups[train]) & set(groups[test])


def test_weights_reach_the_final_fit():
    """The last step is fitted with the weights of all rows."""
    weights = np.linspace(0.1, 3.0, 60)
    result = run(
        make_pipeline(StandardScaler(), Ridge()),
        Recipe.external_cv(3),
        sample_weight=weights,
    )
    X = StandardScaler().fit_transform(table())
    expected = Ridge().fit(X, numbers(), sample_weight=weights)
    np.testing.assert_allclose(result.predictor()[-1].coef_, expected.coef_, rtol=1e-12)


def test_dev_rows_that_came_with_the_data_choose_finally_too():
    """The final setting is the best on the dev rows, trained on all other rows, test rows
    included."""
    recipe = Recipe(test_rows=range(10), dev_rows=range(10, 25))
    grid = {"alpha": np.logspace(-3, 3, 13)}
    rest = [(np.r_[0:10, 25:60], np.arange(10, 25))]
    expected = GridSearchCV(
        Ridge(), grid, cv=rest, scoring="neg_mean_squared_error"
    ).fit(table(), numbers())
    assert run(Family(Ridge(), grid), recipe).final_setting == expected.best_params_


def test_inner_lists_for_each_outer_split_say_nothing_about_all_rows():
    """The predictor is refused, naming what to give instead; the risk is there."""
    outer = [(np.arange(40), np.arange(40, 60))]
    result = run(
        Family(Ridge(), ALPHAS),
        Recipe(outer=outer, inner=[[(np.arange(20), np.arange(20, 40))]]),
    )
    assert result.risk > 0
    with pytest.raises(
        RecipeError, match="inner was given as lists for each outer split"
    ):
        result.predictor()


def test_the_predictor_is_a_plain_scikit_learn_estimator():
    """A Pipeline of the user's own classes, which clone, pickle and get_params understand;
    short-hands included."""
    predictor = run(knn(k=[1, 3])).predictor()
    assert type(predictor) is Pipeline
    assert type(predictor[-1]) is KNeighborsRegressor
    again = pickle.loads(pickle.dumps(predictor))
    assert np.array_equal(again.predict(table()), predictor.predict(table()))
    assert clone(predictor).get_params()["kneighborsregressor__n_neighbors"] in (1, 3)


def test_asking_twice_gives_two_predictors():
    """A predictor changed by its owner changes no other."""
    result = run(Family(Ridge(), ALPHAS))
    first, second = result.predictor(), result.predictor()
    first.coef_[:] = 0
    assert np.any(second.coef_ != 0)


def test_an_unknown_kind_of_predictor_is_refused():
    """retrain and ensemble are the two."""
    with pytest.raises(
        InputError,
        match="how='refit' is not known; use 'retrain', 'ensemble', 'own' or 'auto'",
    ):
        run(Family(Ridge(), ALPHAS)).predictor("refit")


def test_an_estimator_without_a_seed_gives_the_same_predictor_again():
    """RandomForestClassifier() with random_state=None is retrained alike, whatever the
    global state."""
    result = run(
        Family(RandomForestClassifier(n_estimators=5), {"max_depth": [1, 3]}),
        Recipe(2, 2),
        y=labels(),
    )
    first = result.predictor().predict_proba(table())
    np.random.seed(7)  # noqa: NPY002
    assert np.array_equal(result.predictor().predict_proba(table()), first)


# Ensembles of linear models


def models_of(result, family_estimator, y, splits):
    """The models of some splits at the final setting, fitted with scikit-learn alone."""
    estimator = clone(family_estimator).set_params(**result.final_setting)
    return [clone(estimator).fit(table()[train], y[train]) for train, _ in splits]


SCALERS = {
    "no scaler": [],
    "standard": [StandardScaler()],
    "standard without mean": [StandardScaler(with_mean=False)],
    "standard without scale": [StandardScaler(with_std=False)],
    "standard of nothing": [StandardScaler(with_mean=False, with_std=False)],
    "min-max": [MinMaxScaler()],
    "min-max to another range": [MinMaxScaler((-3.0, 5.0))],
    "max-abs": [MaxAbsScaler()],
    "robust": [RobustScaler()],
    "robust without centre": [RobustScaler(with_centering=False, with_scaling=False)],
    "two scalers": [MinMaxScaler(), StandardScaler()],
    "passthrough": ["passthrough", StandardScaler()],
}


@pytest.mark.parametrize("name", SCALERS)
def test_the_ensemble_of_linear_models_averages_parameters_in_the_units_of_X(name):
    """Behind any scaler it is one linear model of X that predicts the mean of the models'
    predictions."""
    scalers = [(f"scaler{i}", scaler) for i, scaler in enumerate(SCALERS[name])]
    estimator = Pipeline([*scalers, ("ridge", Ridge())])
    result = run(Family(estimator, {"ridge__alpha": [0.1, 10.0]}), Recipe(4, 3))
    ensemble = result.predictor("ensemble")
    splits = KFold(3, shuffle=True, random_state=1).split(table())
    models = models_of(result, estimator, numbers(), splits)
    X = table() * 1.1 + 3
    expected = np.mean([model.predict(X) for model in models], axis=0)
    np.testing.assert_allclose(ensemble.predict(X), expected, rtol=1e-9)
    assert type(ensemble) is LinearRegression
    np.testing.assert_allclose(
        X @ ensemble.coef_ + ensemble.intercept_, expected, rtol=1e-9
    )


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        Ridge(fit_intercept=False),
        LinearRegression(),
        Lasso(alpha=0.1),
        ElasticNet(alpha=0.1),
        HuberRegressor(max_iter=9999),
        LinearSVR(max_iter=99999, tol=1e-2),
        SVR(kernel="linear"),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_linear_regressor_averages_parameters_or_predictions(estimator):
    """Whatever the shape of coef_ and intercept_, the ensemble predicts the mean of its models."""
    family = make_pipeline(StandardScaler(), estimator)
    result = run(Family(family), Recipe.external_cv(3))
    models = models_of(result, family, numbers(), result.plan.outer)
    expected = np.mean([model.predict(table()) for model in models], axis=0)
    np.testing.assert_allclose(
        result.predictor("ensemble").predict(table()), expected, rtol=1e-9
    )


NOT_LINEAR_IN_X = {
    "polynomial": PolynomialFeatures(2),
    "components": PCA(2),
    "clipped": MinMaxScaler(clip=True),
    "arctangent": FunctionTransformer(np.arctan),
    "columns": make_column_transformer((StandardScaler(), [0, 1])),
}


@pytest.mark.parametrize("name", NOT_LINEAR_IN_X)
def test_behind_any_other_transformer_the_ensemble_averages_predictions(name):
    """Also there it predicts the mean of its models, off the training rows too."""
    estimator = Pipeline([("first", NOT_LINEAR_IN_X[name]), ("ridge", Ridge())])
    result = run(Family(estimator, {"ridge__alpha": [0.1, 10.0]}), Recipe(4, 3))
    models = models_of(
        result,
        estimator,
        numbers(),
        KFold(3, shuffle=True, random_state=1).split(table()),
    )
    X = table() * 1.3
    expected = np.mean([model.predict(X) for model in models], axis=0)
    np.testing.assert_allclose(
        result.predictor("ensemble").predict(X), expected, rtol=1e-9
    )


def test_a_far_offset_costs_the_averaged_parameters_no_prediction():
    """A million away from 0, the averaged linear model still predicts the mean of its models."""
    X = table(offset=1e6)
    estimator = make_pipeline(StandardScaler(), Ridge())
    result = run(Family(estimator), Recipe.external_cv(3), X=X)
    models = [
        clone(estimator).fit(X[train], numbers()[train])
        for train, _ in result.plan.outer
    ]
    expected = np.mean([model.predict(X) for model in models], axis=0)
    np.testing.assert_allclose(
        result.predictor("ensemble").predict(X), expected, rtol=1e-7
    )


@pytest.mark.parametrize(
    "container",
    [sp.csr_array, pd.DataFrame, np.float32],
    ids=["sparse", "frame", "float32"],
)
def test_any_table_gives_an_ensemble_of_linear_models(container):
    """Sparse X, frames and single precision: the mean of the models' predictions."""
    X = container(table(offset=0.5))
    estimator = make_pipeline(
        MaxAbsScaler(), Ridge(solver="sparse_cg" if sp.issparse(X) else "auto")
    )
    result = run(Family(estimator), Recipe.external_cv(3), X=X)
    rows = X if sp.issparse(X) or isinstance(X, np.ndarray) else X.iloc
    models = [
        clone(estimator).fit(rows[train], numbers()[train])
        for train, _ in result.plan.outer
    ]
    expected = np.mean([model.predict(X) for model in models], axis=0)
    np.testing.assert_allclose(
        result.predictor("ensemble").predict(X), expected, rtol=1e-5
    )


def test_an_ensemble_is_a_mean_where_there_are_no_linear_parameters():
    """Neighbours average predictions."""
    estimator = make_pipeline(StandardScaler(), KNeighborsRegressor())
    result = run(
        Family(estimator, {"kneighborsregressor__n_neighbors": [2, 5]}), Recipe(4, 3)
    )
    ensemble = result.predictor("ensemble")
    models = models_of(
        result,
        estimator,
        numbers(),
        KFold(3, shuffle=True, random_state=1).split(table()),
    )
    expected = np.mean([model.predict(table()) for model in models], axis=0)
    np.testing.assert_allclose(ensemble.predict(table()), expected, rtol=1e-12)
    assert is_regressor(ensemble)


# Ensembles of classifiers


def test_the_ensemble_of_classifiers_averages_probabilities():
    """The class of the largest mean probability over the inner models at the final setting."""
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    result = run(
        Family(estimator, {"logisticregression__C": [0.1, 1.0]}),
        Recipe(4, 3),
        y=labels(),
    )
    ensemble = result.predictor("ensemble")
    splits = StratifiedKFold(3, shuffle=True, random_state=1).split(table(), labels())
    expected = np.mean(
        [
            m.predict_proba(table())
            for m in models_of(result, estimator, labels(), splits)
        ],
        axis=0,
    )
    np.testing.assert_allclose(ensemble.predict_proba(table()), expected, rtol=1e-12)
    assert np.array_equal(ensemble.predict(table()), expected.argmax(axis=1))
    assert ensemble.classes_.tolist() == [0, 1, 2]
    assert is_classifier(ensemble)


def test_a_class_that_a_model_never_saw_has_probability_0_there():
    """Two rows of a class, each in another test fold: models of two and of three classes
    are averaged."""
    y = np.array(["b", "c"])[np.arange(60) % 2].astype(object)
    y[[5, 40]] = "a"
    y = y.astype(str)
    outer = [
        (np.r_[0:5, 6:40, 41:60], [5, 40]),
        (np.r_[0:40, 41:60], [40]),
        (np.r_[0:5, 6:60], [5]),
    ]
    result = run(Family(KNeighborsClassifier(3)), Recipe(outer=outer, inner=None), y=y)
    ensemble = result.predictor("ensemble")
    assert ensemble.classes_.tolist() == ["a", "b", "c"]
    expected = np.zeros((60, 3))
    for train, _ in outer:
        model = KNeighborsClassifier(3).fit(table()[train], y[train])
        expected[:, np.searchsorted(["a", "b", "c"], model.classes_)] += (
            model.predict_proba(table()) / 3
        )
    np.testing.assert_allclose(ensemble.predict_proba(table()), expected, atol=1e-12)
    np.testing.assert_allclose(ensemble.predict_proba(table()).sum(axis=1), 1.0)
    assert np.array_equal(
        ensemble.predict(table()), np.array(["a", "b", "c"])[expected.argmax(axis=1)]
    )


class Says(KNeighborsClassifier):
    """A classifier without probabilities that predicts the largest class of its training rows."""

    @property
    def predict_proba(self):
        raise AttributeError("no probabilities")

    def predict(self, X):
        return np.full(len(X), self.classes_[-1])


def test_tied_votes_go_to_the_smallest_label():
    """Two models predict "z" and "m": the ensemble predicts "m"."""
    y = np.array(["m", "z"])[(np.arange(60) >= 30).astype(int)]
    outer = [(range(30, 60), [0]), (range(1, 30), [40])]
    ensemble = run(Family(Says()), Recipe(outer=outer, inner=None), y=y).predictor(
        "ensemble"
    )
    assert set(ensemble.predict(table())) == {"m"}


def test_most_votes_win():
    """Two models against one."""
    y = np.array(["m", "z"])[(np.arange(60) >= 30).astype(int)]
    outer = [(range(30, 60), [0]), (range(1, 30), [40]), (range(31, 60), [30])]
    ensemble = run(Family(Says()), Recipe(outer=outer, inner=None), y=y).predictor(
        "ensemble"
    )
    assert set(ensemble.predict(table())) == {"z"}


@pytest.mark.parametrize(
    "estimator", [LinearSVC(), RidgeClassifier()], ids=["LinearSVC", "RidgeClassifier"]
)
def test_classifiers_without_probabilities_vote(estimator):
    """The mode of the models' labels; there is no predict_proba."""
    family = make_pipeline(StandardScaler(), estimator)
    result = run(Family(family), Recipe.external_cv(3), y=labels())
    ensemble = result.predictor("ensemble")
    votes = np.array(
        [
            m.predict(table())
            for m in models_of(result, family, labels(), result.plan.outer)
        ]
    )
    expected = [np.bincount(column).argmax() for column in votes.T]
    assert ensemble.predict(table()).tolist() == expected
    assert not hasattr(ensemble, "predict_proba")
    assert is_classifier(ensemble)


# Which models, and what they can do


ENSEMBLES = {
    "nested": (Recipe(4, 3), 3),
    "external": (Recipe.external_cv(4), 4),
    "repeated holdout": (Recipe.nested_resampling(3, 2), 2),
    "internal": (Recipe.internal_cv(5), 5),
    "train/validation/test": (Recipe.train_validation_test(), 1),
    "leave one out": (Recipe(outer=2, inner="loo"), 60),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_the_ensemble_has_a_model_per_inner_split_or_per_outer_one_where_there_are_none(
    name,
):
    """External CV averages the outer models; all others those of the inner splitter on all of S."""
    recipe, n_models = ENSEMBLES[name]
    ensemble = run(Family(KNeighborsRegressor()), recipe).predictor("ensemble")
    assert len(ensemble.models) == n_models


FITTED = {
    "retrained": (Family(Ridge(), ALPHAS), "retrain", numbers()),
    "linear ensemble": (Family(Ridge(), ALPHAS), "ensemble", numbers()),
    "mean ensemble": (
        Family(KNeighborsRegressor(), {"n_neighbors": [1, 5]}),
        "ensemble",
        numbers(),
    ),
    "probability ensemble": (
        Family(KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
        "ensemble",
        labels(),
    ),
    "vote ensemble": (Family(RidgeClassifier(), ALPHAS), "ensemble", labels()),
}


@pytest.mark.parametrize("name", FITTED)
def test_a_predictor_survives_pickling(name):
    """Read back, it predicts the same."""
    family, how, y = FITTED[name]
    predictor = run(family, Recipe(3, 3), y=y).predictor(how)
    again = pickle.loads(pickle.dumps(predictor))
    assert np.array_equal(again.predict(table()), predictor.predict(table()))


@pytest.mark.parametrize("name", FITTED)
def test_a_predictor_scores_and_knows_its_columns(name):
    """score, n_features_in_ and the tags of scikit-learn are there."""
    family, how, y = FITTED[name]
    predictor = run(family, Recipe(3, 3), y=y).predictor(how)
    assert np.isfinite(predictor.score(table(), y))
    assert predictor.n_features_in_ == 4
    assert is_classifier(predictor) == np.issubdtype(y.dtype, np.integer)


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"]
)
def test_a_predictor_of_frames_warns_of_nothing(name, frame):
    """Fitted on a frame it predicts a frame without a warning about feature names."""
    family, how, y = FITTED[name]
    X = frame(dict(zip("abcd", table().T, strict=True)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(family, Recipe(3, 3), y=y, X=X).predictor(how).predict(X)


@pytest.mark.parametrize("name", FITTED)
def test_a_predictor_of_frames_knows_the_names_of_its_columns(name):
    """feature_names_in_ is there as on any estimator fitted on a frame."""
    family, how, y = FITTED[name]
    predictor = run(
        family, Recipe(3, 3), y=y, X=pd.DataFrame(table(), columns=list("abcd"))
    ).predictor(how)
    assert list(predictor.feature_names_in_) == list("abcd")


def test_an_ensemble_of_scaled_frames_warns_of_nothing():
    """Behind a scaler with pandas output as well."""
    X = pd.DataFrame(table(), columns=list("abcd"))
    family = make_pipeline(StandardScaler(), Ridge()).set_output(transform="pandas")
    ensemble = run(Family(family), Recipe.external_cv(3), X=X).predictor("ensemble")
    models = [
        clone(family).fit(X.iloc[train], numbers()[train])
        for train, _ in KFold(3, shuffle=True, random_state=0).split(X)
    ]
    np.testing.assert_allclose(
        ensemble.predict(X), np.mean([m.predict(X) for m in models], axis=0), rtol=1e-9
    )
    assert list(ensemble.feature_names_in_) == list("abcd")


def test_columns_chosen_by_name_reach_the_ensemble():
    """A ColumnTransformer by name works on frames in both predictors."""
    X = pd.DataFrame(
        {
            **dict(zip("abcd", table().T, strict=True)),
            "word": np.array(["x", "y"])[np.arange(60) % 2],
        }
    )
    family = make_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"]), ("passthrough", ["c"])),
        Ridge(),
    )
    result = run(Family(family, {"ridge__alpha": [0.1, 10.0]}), Recipe(3, 3), X=X)
    for how in ("retrain", "ensemble"):
        assert result.predictor(how).predict(X).shape == (60,)


def test_an_ensemble_refuses_new_columns_as_its_models_do():
    """A wrong number of columns is an error, not a number."""
    for name in (
        "linear ensemble",
        "mean ensemble",
        "probability ensemble",
        "vote ensemble",
    ):
        family, how, y = FITTED[name]
        predictor = run(family, Recipe(3, 3), y=y).predictor(how)
        with pytest.raises(ValueError, match="features"):
            predictor.predict(table()[:, :2])


def test_a_setting_that_cannot_be_fitted_on_all_rows_says_so():
    """An ensemble model that fails is an error that names it, not a smaller ensemble."""

    class FailsOnAll(Ridge):
        def fit(self, X, y):
            if len(X) == 60:
                raise RuntimeError("sixty rows are too many")
            return super().fit(X, y)

    result = run(Family(FailsOnAll(), ALPHAS))
    with pytest.raises((CvnbError, RuntimeError), match="sixty rows are too many"):
        result.predictor()


def test_a_linear_ensemble_of_a_stochastic_model_is_the_mean_of_what_it_holds():
    """SGDRegressor(random_state=None) behind a scaler: coefficients and predictions belong
    together."""
    family = make_pipeline(StandardScaler(), SGDRegressor(max_iter=2000))
    ensemble = run(Family(family), Recipe.external_cv(3)).predictor("ensemble")
    again = run(Family(family), Recipe.external_cv(3)).predictor("ensemble")
    assert np.array_equal(ensemble.predict(table()), again.predict(table()))


def test_a_short_hand_gives_both_predictors():
    """ridge() on numbers: a Pipeline retrained, and one linear model as the ensemble."""
    result = run(ridge(alpha=[0.1, 1.0]), Recipe(3, 3))
    assert type(result.predictor()) is Pipeline
    assert type(result.predictor("ensemble")) is LinearRegression
