"""NestedCV: a scikit-learn estimator that tunes, trains, and knows the risk of doing so."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import (
    BaseEstimator,
    TransformerMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, StackingRegressor, VotingClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from cvnb import Family, NestedCV, Recipe, RiskEstimate, knn, lasso, logistic, ridge
from cvnb.errors import FamilyError, InputError, LossError, RecipeError

CHECKED = [
    NestedCV(LogisticRegression(), {"C": [0.1, 1.0]}),
    NestedCV(Ridge(), {"alpha": [0.1, 1.0]}),
    NestedCV(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 3]},
    ),
    NestedCV(
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        {"kneighborsregressor__n_neighbors": [1, 3]},
    ),
]


@pytest.mark.filterwarnings(
    "ignore::cvnb.errors.CvnbWarning"
)  # the checks have few rows of some classes
@parametrize_with_checks(CHECKED)
def test_every_check_of_scikit_learn_passes(estimator, check):
    """No check fails, not even those that scikit-learn declares for GridSearchCV."""
    check(estimator)


# Data


def classes(n_rows=60):
    """Two overlapping classes."""
    return make_classification(n_rows, 4, random_state=0)


def numbers(n_rows=60):
    """A noisy linear response."""
    return make_regression(n_rows, 4, noise=20.0, random_state=0)


GROUPS = np.arange(60) % 12
WEIGHTS = np.linspace(0.2, 2.0, 60)


def classifier(**options):
    """Logistic regression at two settings."""
    return NestedCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, **{"outer": 3, "inner": 3} | options
    )


def regressor(**options):
    """Ridge regression at two settings."""
    return NestedCV(
        Ridge(), {"alpha": [0.1, 100.0]}, **{"outer": 3, "inner": 3} | options
    )


# The same numbers as a run


def test_fit_runs_the_recipe():
    """risk_ and result_ are those of Recipe(outer, inner, seed).run."""
    X, y = classes()
    model = classifier(outer=4, inner=3, seed=5).fit(X, y)
    expected = Recipe(outer=4, inner=3, seed=5).run(
        Family(LogisticRegression(), {"C": [0.01, 1.0]}), X, y
    )
    assert isinstance(model.result_, RiskEstimate)
    assert model.risk_ == model.result_.risk == expected.risk
    assert model.result_.plan == expected.plan


def test_predictions_are_those_of_the_retrained_predictor():
    """predict and its kin ask the estimator retrained on all rows."""
    X, y = classes()
    model = classifier().fit(X, y)
    predictor = model.result_.predictor()
    for method in (
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
    ):
        assert np.array_equal(getattr(model, method)(X), getattr(predictor, method)(X))


def test_loss_and_scoring_reach_the_run():
    """loss= and scoring= decide what risk_ is."""
    X, y = numbers()
    assert regressor(loss="absolute").fit(X, y).result_._record.loss.name == "absolute"
    scored = regressor(scoring="neg_mean_absolute_error").fit(X, y)
    assert scored.risk_ == pytest.approx(regressor(loss="absolute").fit(X, y).risk_)
    assert scored.result_.score == pytest.approx(-scored.risk_)


def test_loss_and_scoring_together_are_refused():
    """One of them says what is measured."""
    with pytest.raises(LossError, match="loss='absolute' and scoring='r2' together"):
        regressor(loss="absolute", scoring="r2").fit(*numbers())


def test_workers_change_no_number():
    """n_jobs=2 gives the risk of one worker."""
    X, y = numbers()
    assert regressor(n_jobs=2).fit(X, y).risk_ == regressor().fit(X, y).risk_


def test_without_an_outer_level_there_is_no_risk():
    """outer=None tunes only: risk_ is None, predictions are there."""
    X, y = numbers()
    model = regressor(outer=None).fit(X, y)
    assert model.risk_ is None
    assert model.predict(X).shape == (60,)


def test_one_setting_needs_no_grid():
    """NestedCV(estimator) is external CV of it, inner folds or none."""
    X, y = numbers()
    expected = -cross_val_score(
        Ridge(),
        X,
        y,
        cv=KFold(5, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
    )
    assert NestedCV(Ridge()).fit(X, y).risk_ == pytest.approx(expected.mean())
    assert NestedCV(Ridge(), inner=None).fit(X, y).risk_ == pytest.approx(
        expected.mean()
    )


def test_a_grid_search_is_an_estimator_too():
    """NestedCV(GridSearchCV(...)) takes its estimator, grid and cv."""
    X, y = classes()
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, cv=StratifiedKFold(3)
    )
    outer = StratifiedKFold(5, shuffle=True, random_state=0)
    model = NestedCV(search).fit(X, y)
    assert model.risk_ == pytest.approx(
        1 - cross_val_score(search, X, y, cv=outer).mean()
    )
    assert np.array_equal(model.predict(X), search.fit(X, y).predict(X))


@pytest.mark.parametrize(
    "family",
    [
        ridge(alpha=[1.0]),
        lasso(alpha=[1.0]),
        knn(k=[3]),
        Family(Ridge(), {"alpha": [1.0, 2.0]}),
    ],
)
def test_a_family_is_an_estimator_too(family):
    """Short-hands and families are fitted as they are, and their predictions are those of
    their run."""
    X, y = numbers()
    model = NestedCV(family, outer=3).fit(X, y)
    assert model.risk_ == Recipe(outer=3).run(family, X, y).risk
    assert np.array_equal(model.predict(X), model.result_.predictor().predict(X))


# A well-behaved estimator


def test_cloning_keeps_parameters_and_forgets_the_fit():
    """clone gives equal parameters, unfitted."""
    model = classifier(seed=3).fit(*classes())
    again = clone(model)
    assert again.get_params().keys() == model.get_params().keys()
    assert (again.seed, again.outer, again.grid) == (3, 3, {"C": [0.01, 1.0]})
    assert not hasattr(again, "risk_")


def test_nested_parameters_can_be_set():
    """set_params(estimator__max_iter=..., outer=...) reaches both."""
    model = classifier().set_params(estimator__max_iter=7, outer=4)
    assert (model.estimator.max_iter, model.outer) == (7, 4)


def test_fitting_changes_no_parameter():
    """The estimator inside stays unfitted, the grid as it was."""
    model = classifier()
    before = repr(model.get_params())
    model.fit(*classes())
    assert repr(model.get_params()) == before
    assert not hasattr(model.estimator, "coef_")


def test_fit_returns_the_estimator():
    """model.fit(X, y) is model."""
    model = regressor()
    assert model.fit(*numbers()) is model


def test_fitting_again_forgets_the_first_fit():
    """A second fit on other rows leaves nothing of the first behind."""
    X, y = numbers()
    model = regressor().fit(X, y).fit(X[:40, :2], y[:40])
    assert model.n_features_in_ == 2
    assert model.risk_ == regressor().fit(X[:40, :2], y[:40]).risk_


PICKLED = {
    "classifier": classifier(),
    "pipeline": NestedCV(
        make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 10.0]}
    ),
    "grid search": NestedCV(
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3)
    ),
    "family": NestedCV(Family(LogisticRegression(), {"C": [0.1, 1.0]})),
    "knn": NestedCV(knn(k=[1, 3])),
    "logistic": NestedCV(logistic(C=[1.0])),
}


@pytest.mark.parametrize("name", PICKLED)
def test_it_survives_pickling_before_the_fit(name):
    """Read back, it fits to the same risk."""
    X, y = classes()
    again = pickle.loads(pickle.dumps(PICKLED[name]))
    assert again.fit(X, y).risk_ == clone(PICKLED[name]).fit(X, y).risk_


@pytest.mark.parametrize("name", PICKLED)
def test_it_survives_pickling_after_the_fit(name):
    """Read back, it predicts the same and has the same result."""
    X, y = classes()
    model = clone(PICKLED[name]).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.risk_ == model.risk_
    assert again.result_.plan == model.result_.plan


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "score"]
)
def test_an_unfitted_estimator_says_so(method):
    """NotFittedError, as everywhere in scikit-learn."""
    X, y = classes()
    arguments = (X, y) if method == "score" else (X,)
    with pytest.raises(
        NotFittedError, match="This NestedCV instance is not fitted yet"
    ):
        getattr(classifier(), method)(*arguments)


def test_methods_are_those_of_the_estimator():
    """predict_proba exists where the estimator has it, before and after the fit."""
    assert hasattr(classifier(), "predict_proba")
    svc = NestedCV(LinearSVC(), {"C": [1.0]}, outer=3)
    assert not hasattr(svc, "predict_proba")
    assert hasattr(svc, "decision_function")
    assert not hasattr(svc.fit(*classes()), "predict_proba")
    assert not hasattr(regressor().fit(*numbers()), "classes_")


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (classifier(), "classifier"),
        (regressor(), "regressor"),
        (
            NestedCV(Pipeline([("scale", StandardScaler()), ("svc", SVC())])),
            "classifier",
        ),
        (NestedCV(GridSearchCV(Ridge(), {"alpha": [1.0]})), "regressor"),
        (NestedCV(Family(SVC(), {"C": [1.0]})), "classifier"),
        (NestedCV(lasso()), "regressor"),
        (NestedCV(logistic()), "classifier"),
        (NestedCV(knn(task="classification")), "classifier"),
        (NestedCV(ridge(task="regression")), "regressor"),
    ],
    ids=[
        "classifier",
        "regressor",
        "pipeline",
        "grid search",
        "family",
        "lasso",
        "logistic",
        "knn",
        "ridge",
    ],
)
def test_it_is_what_its_estimator_is(model, kind):
    """is_classifier and is_regressor, by which scikit-learn stratifies and scores, answer
    for what is inside."""
    assert is_classifier(model) == (kind == "classifier")
    assert is_regressor(model) == (kind == "regressor")
    assert get_tags(model).estimator_type == kind


def test_classes_and_columns_are_those_of_the_predictor():
    """classes_, n_features_in_ and feature_names_in_."""
    X, y = classes()
    model = classifier().fit(
        pd.DataFrame(X, columns=list("abcd")), np.array(["no", "yes"])[y]
    )
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == 4
    assert list(model.feature_names_in_) == list("abcd")


def test_scores_are_those_of_the_estimator_unless_scoring_is_given():
    """score is accuracy or R² by default; large is good."""
    X, y = classes()
    model = classifier().fit(X, y)
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    X, y = numbers()
    model = regressor().fit(X, y)
    assert model.score(X, y) == model.predictor_.score(X, y)
    scored = regressor(scoring="neg_mean_absolute_error").fit(X, y)
    assert scored.score(X, y) == pytest.approx(-np.mean(np.abs(scored.predict(X) - y)))


def test_the_repr_names_what_was_given():
    """Parameters at their defaults are left out, as in scikit-learn."""
    assert (
        repr(NestedCV(Ridge(), {"alpha": [1.0]}))
        == "NestedCV(estimator=Ridge(), grid={'alpha': [1.0]})"
    )


BAD = {
    "grid": (
        lambda: NestedCV(Ridge(), {"alpha": []}),
        FamilyError,
        "no values for 'alpha'",
    ),
    "key": (
        lambda: NestedCV(Ridge(), {"alfa": [1]}),
        FamilyError,
        "no parameter 'alfa'",
    ),
    "outer": (lambda: regressor(outer=1), RecipeError, "outer=1 leaves no fold"),
    "inner": (lambda: regressor(inner=1), RecipeError, "inner=1 leaves no fold"),
    "seed": (lambda: regressor(seed=-1), RecipeError, "seed=-1"),
    "seed beside a splitter": (
        lambda: regressor(outer=KFold(3), seed=1),
        RecipeError,
        "seed=1 does not touch outer",
    ),
    "loss": (lambda: regressor(loss="squarred"), LossError, "unknown loss 'squarred'"),
    "no grid to choose from": (
        lambda: regressor(inner=None),
        RecipeError,
        "inner=None measures one setting",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters_are_refused_by_fit_and_not_before(name):
    """The constructor only stores, as scikit-learn wants it; fit refuses with cvnb's message."""
    make, error, message = BAD[name]
    model = make()
    with pytest.raises(error, match=message):
        model.fit(*numbers())


def test_a_second_grid_beside_a_grid_search_is_refused():
    """NestedCV(GridSearchCV(...), grid) would have two grids."""
    with pytest.raises(FamilyError, match="brings its own grid"):
        NestedCV(GridSearchCV(Ridge(), {"alpha": [1.0]}), {"alpha": [2.0]}).fit(
            *numbers()
        )


def test_a_second_grid_beside_a_family_is_refused():
    """NestedCV(Family(...), grid) would have two grids; none is dropped silently."""
    with pytest.raises(InputError, match="grid"):
        NestedCV(Family(Ridge(), {"alpha": [1.0]}), {"alpha": [2.0]}).fit(*numbers())


def test_unknown_fit_parameters_are_refused():
    """fit takes groups and sample_weight."""
    with pytest.raises(
        TypeError, match="fit takes groups and sample_weight, got colour"
    ):
        regressor().fit(*numbers(), colour=1)


# Inside scikit-learn


def test_it_works_as_the_last_step_of_a_pipeline():
    """make_pipeline(scaler, NestedCV) scales all rows first, then runs."""
    X, y = numbers()
    model = make_pipeline(StandardScaler(), regressor()).fit(X, y)
    expected = regressor().fit(StandardScaler().fit_transform(X), y)
    assert model[-1].risk_ == expected.risk_
    assert np.array_equal(
        model.predict(X), expected.predict(StandardScaler().fit_transform(X))
    )


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cross_validate_gives_a_risk_per_fold(n_jobs):
    """Each fold's NestedCV is what fitting it on the fold's training part gives."""
    X, y = classes()
    cv = StratifiedKFold(3)
    found = cross_validate(
        classifier(), X, y, cv=cv, return_estimator=True, n_jobs=n_jobs
    )
    for (train, test), model, score in zip(
        cv.split(X, y), found["estimator"], found["test_score"], strict=True
    ):
        expected = classifier().fit(X[train], y[train])
        assert model.risk_ == expected.risk_
        assert score == expected.score(X[test], y[test])


def test_cross_validate_stratifies_a_short_hand_of_classifiers():
    """scikit-learn splits NestedCV(logistic()) like any other classifier."""
    X, y = classes()
    model = NestedCV(logistic(C=[1.0]), outer=3)
    found = cross_validate(model, X, np.sort(y), cv=3, return_indices=True)["indices"][
        "test"
    ]
    assert [np.sort(y)[test].mean() for test in found] == pytest.approx(
        [y.mean()] * 3, abs=0.03
    )


def test_cross_val_predict_gives_probabilities():
    """method="predict_proba" is passed on."""
    X, y = classes()
    assert cross_val_predict(
        classifier(), X, y, cv=3, method="predict_proba"
    ).shape == (60, 2)


def test_a_grid_search_can_tune_it():
    """Its parameters are parameters like any others."""
    search = GridSearchCV(
        regressor(), {"estimator__fit_intercept": [True, False]}, cv=3
    ).fit(*numbers())
    assert search.best_estimator_.risk_ > 0


def test_ensembles_of_scikit_learn_take_it():
    """Stacking and voting clone it, fit it and predict with it."""
    X, y = numbers()
    assert StackingRegressor([("a", regressor()), ("b", Ridge())], cv=3).fit(
        X, y
    ).predict(X).shape == (60,)
    X, y = classes()
    voting = VotingClassifier(
        [("a", classifier()), ("b", LogisticRegression())], voting="soft"
    ).fit(X, y)
    assert voting.predict(X).shape == (60,)


def test_it_can_be_nested_in_itself():
    """NestedCV(NestedCV(...)) measures the risk of what the inner one predicts."""
    X, y = numbers()
    model = NestedCV(regressor(), outer=KFold(3)).fit(X, y)
    expected = [
        np.mean((y[b] - regressor().fit(X[a], y[a]).predict(X[b])) ** 2)
        for a, b in KFold(3).split(X)
    ]
    assert model.risk_ == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("kind", ["default", "pandas", "polars"])
def test_set_output_of_a_pipeline_around_it_changes_no_number(kind):
    """make_pipeline(scaler, NestedCV).set_output(transform=...) fits and predicts without a
    warning."""
    X, y = numbers()
    frame = (pl.DataFrame if kind == "polars" else pd.DataFrame)(
        dict(zip("abcd", X.T, strict=True))
    )
    model = (
        make_pipeline(StandardScaler(), regressor())
        .set_output(transform=kind)
        .fit(frame, y)
    )
    assert model[-1].risk_ == pytest.approx(
        make_pipeline(StandardScaler(), regressor()).fit(X, y)[-1].risk_
    )
    assert model.predict(frame).shape == (60,)


@pytest.mark.parametrize("kind", ["default", "pandas", "polars"])
def test_set_output_of_a_pipeline_inside_it_changes_no_number(kind):
    """NestedCV(make_pipeline(scaler, model).set_output(...)) sees frames between the steps,
    in every split."""
    X, y = numbers()
    frame = (pl.DataFrame if kind == "polars" else pd.DataFrame)(
        dict(zip("abcd", X.T, strict=True))
    )
    pipeline, grid = (
        make_pipeline(StandardScaler(), Ridge()),
        {"ridge__alpha": [0.1, 100.0]},
    )
    expected = NestedCV(pipeline, grid, outer=3).fit(X, y)
    model = NestedCV(clone(pipeline).set_output(transform=kind), grid, outer=3).fit(
        frame, y
    )
    assert model.risk_ == pytest.approx(expected.risk_)
    np.testing.assert_allclose(model.predict(frame), expected.predict(X))


def test_set_output_by_configuration_changes_no_number():
    """sklearn.config_context(transform_output="pandas") reaches every fit, workers included."""
    X, y = numbers()
    model = NestedCV(
        make_pipeline(StandardScaler(), Ridge()),
        {"ridge__alpha": [0.1, 100.0]},
        outer=3,
    )
    expected = clone(model).fit(X, y).risk_
    with sklearn.config_context(transform_output="pandas"):
        assert clone(model).fit(X, y).risk_ == pytest.approx(expected)
        assert clone(model).set_params(n_jobs=2).fit(X, y).risk_ == pytest.approx(
            expected
        )


def test_frames_reach_the_estimator_as_frames():
    """A ColumnTransformer by name, an imputer and words work inside."""
    X, y = classes()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        word=np.array(["x", "y", "z"])[np.arange(60) % 3]
    )
    frame.loc[3, "a"] = np.nan
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"])
    )
    model = NestedCV(
        make_pipeline(columns, LogisticRegression()),
        {"logisticregression__C": [0.1, 1.0]},
        outer=3,
    )
    assert 0 <= model.fit(frame, y).risk_ <= 1


def test_the_picture_of_scikit_learn_shows_it():
    """The HTML diagram of scikit-learn works."""
    assert "NestedCV" in regressor()._repr_html_()


# Metadata, routing off


def test_groups_and_weights_are_passed_to_fit():
    """fit(X, y, groups=..., sample_weight=...) is a run with them."""
    X, y = classes()
    model = classifier().fit(X, y, groups=GROUPS, sample_weight=WEIGHTS)
    family = Family(LogisticRegression(), {"C": [0.01, 1.0]})
    expected = Recipe(3, 3).run(family, X, y, groups=GROUPS, sample_weight=WEIGHTS)
    assert model.risk_ == expected.risk
    assert model.result_.plan.audit().ok
    assert model.result_.plan == expected.plan


def test_groups_and_weights_pass_through_a_pipeline():
    """step__groups and step__sample_weight, as without routing everywhere."""
    X, y = classes()
    model = make_pipeline(StandardScaler(), classifier())
    model.fit(X, y, nestedcv__groups=GROUPS, nestedcv__sample_weight=WEIGHTS)
    expected = classifier().fit(
        StandardScaler().fit_transform(X), y, groups=GROUPS, sample_weight=WEIGHTS
    )
    assert model[-1].risk_ == expected.risk_


def test_groups_and_weights_pass_through_cross_validate():
    """params= is cut to the rows of each fold."""
    X, y = classes()
    params = {"groups": GROUPS, "sample_weight": WEIGHTS}
    cv = StratifiedKFold(3)
    found = cross_validate(
        classifier(), X, y, cv=cv, params=params, return_estimator=True
    )
    for (train, _), model in zip(cv.split(X, y), found["estimator"], strict=True):
        expected = classifier().fit(
            X[train], y[train], groups=GROUPS[train], sample_weight=WEIGHTS[train]
        )
        assert model.risk_ == expected.risk_


def test_weights_for_a_model_that_takes_none_are_refused():
    """The message names the final step."""
    X, y = classes()
    model = NestedCV(make_pipeline(StandardScaler(), KNeighborsClassifier()), outer=3)
    with pytest.raises(
        FamilyError, match="KNeighborsClassifier takes no sample_weight"
    ):
        model.fit(X, y, sample_weight=WEIGHTS)


# Metadata, routing on


@pytest.fixture
def routing():
    """scikit-learn with metadata routing."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def asking(**options):
    """A classifier whose model asks for weights."""
    model = LogisticRegression().set_fit_request(sample_weight=True)
    return NestedCV(model, {"C": [0.01, 1.0]}, **{"outer": 3, "inner": 3} | options)


@pytest.mark.usefixtures("routing")
def test_with_routing_a_plain_fit_works():
    """No metadata, nothing to route."""
    X, y = classes()
    assert classifier().fit(X, y).predict(X).shape == (60,)


@pytest.mark.usefixtures("routing")
def test_with_routing_groups_need_no_request():
    """As in GridSearchCV the splits ask for groups by themselves."""
    X, y = classes()
    assert classifier().fit(X, y, groups=GROUPS).result_.plan.audit().ok
    found = cross_validate(
        classifier(),
        X,
        y,
        cv=GroupKFold(3),
        params={"groups": GROUPS},
        return_estimator=True,
    )
    assert all(
        model.result_.plan.group_codes is not None for model in found["estimator"]
    )


@pytest.mark.usefixtures("routing")
def test_with_routing_weights_that_the_model_asked_for_arrive():
    """The numbers are those without routing."""
    X, y = classes()
    model = asking().fit(X, y, sample_weight=WEIGHTS, groups=GROUPS)
    with sklearn.config_context(enable_metadata_routing=False):
        expected = classifier().fit(X, y, sample_weight=WEIGHTS, groups=GROUPS)
    assert model.risk_ == expected.risk_
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.usefixtures("routing")
def test_with_routing_weights_that_nobody_asked_for_are_refused():
    """As scikit-learn does, asking for set_fit_request."""
    X, y = classes()
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        classifier().fit(X, y, sample_weight=WEIGHTS)


@pytest.mark.usefixtures("routing")
def test_with_routing_weights_that_were_declined_are_refused():
    """set_fit_request(sample_weight=False): no step takes them."""
    X, y = classes()
    model = NestedCV(
        LogisticRegression().set_fit_request(sample_weight=False), {"C": [1.0]}, outer=3
    )
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(X, y, sample_weight=WEIGHTS)


@pytest.mark.usefixtures("routing")
def test_with_routing_cross_validate_passes_weights_and_groups():
    """Outer splitter and NestedCV get what they ask for, cut to the rows of each fold."""
    X, y = classes()
    params = {"groups": GROUPS, "sample_weight": WEIGHTS}
    found = cross_validate(
        asking(), X, y, cv=GroupKFold(3), params=params, return_estimator=True
    )
    for (train, _), model in zip(
        GroupKFold(3).split(X, y, GROUPS), found["estimator"], strict=True
    ):
        expected = asking().fit(
            X[train], y[train], groups=GROUPS[train], sample_weight=WEIGHTS[train]
        )
        assert model.risk_ == expected.risk_


@pytest.mark.usefixtures("routing")
def test_with_routing_a_pipeline_around_it_passes_weights_on():
    """The steps of the pipeline say who asks for weights."""
    X, y = classes()
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    model = make_pipeline(scaler, asking()).fit(
        X, y, sample_weight=WEIGHTS, groups=GROUPS
    )
    expected = asking().fit(
        StandardScaler().fit_transform(X), y, sample_weight=WEIGHTS, groups=GROUPS
    )
    assert model[-1].risk_ == expected.risk_


@pytest.mark.usefixtures("routing")
def test_with_routing_a_pipeline_inside_it_gets_weights_for_its_last_step():
    """Weights go to the final step that requests them."""
    X, y = classes()
    pipeline = make_pipeline(
        StandardScaler(), LogisticRegression().set_fit_request(sample_weight=True)
    )
    model = NestedCV(pipeline, outer=3).fit(X, y, sample_weight=WEIGHTS)
    with sklearn.config_context(enable_metadata_routing=False):
        expected = NestedCV(
            make_pipeline(StandardScaler(), LogisticRegression()), outer=3
        )
        expected.fit(X, y, sample_weight=WEIGHTS)
    assert model.risk_ == expected.risk_


@pytest.mark.usefixtures("routing")
def test_with_routing_the_router_shows_what_is_asked_for():
    """get_metadata_routing lists groups for itself and the model's own requests."""
    routes = repr(sklearn.utils.metadata_routing.get_routing_for_object(asking()))
    assert "groups" in routes
    assert "sample_weight" in routes


@pytest.mark.usefixtures("routing")
def test_with_routing_a_run_of_a_recipe_takes_weights_as_always():
    """Recipe.run is no scikit-learn method: its weights go to the final step without requests."""
    X, y = classes()
    family = Family(LogisticRegression(), {"C": [0.01, 1.0]})
    on = Recipe(3, 3).run(family, X, y, sample_weight=WEIGHTS, progress="off")
    with sklearn.config_context(enable_metadata_routing=False):
        off = Recipe(3, 3).run(family, X, y, sample_weight=WEIGHTS, progress="off")
    assert on.risk == off.risk


@pytest.mark.usefixtures("routing")
def test_with_routing_weights_for_a_short_hand_work():
    """A short-hand makes its own model, so no request is possible; it still gets the weights."""
    X, y = classes()
    with sklearn.config_context(enable_metadata_routing=False):
        expected = (
            NestedCV(logistic(C=[1.0]), outer=3).fit(X, y, sample_weight=WEIGHTS).risk_
        )
    assert (
        NestedCV(logistic(C=[1.0]), outer=3).fit(X, y, sample_weight=WEIGHTS).risk_
        == expected
    )


# Oddities


class Noisy(TransformerMixin, BaseEstimator):
    """A transformer that warns in every fit."""

    def fit(self, X, y=None):
        warnings.warn("noise", UserWarning, stacklevel=2)
        return self

    def transform(self, X):
        return X


def test_warnings_of_the_fits_become_one_note():
    """Equal warnings are listed once, with a count, in the result; fit itself stays silent."""
    model = NestedCV(
        make_pipeline(Noisy(), Ridge()), {"ridge__alpha": [1.0, 2.0]}, outer=3, inner=3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(*numbers())
    assert [note for note in model.result_.notes if "noise" in note] == [
        "UserWarning: noise (12 times)"
    ]


def test_a_forest_without_a_seed_has_one_risk():
    """random_state=None draws from a seed of the split, so two fits agree."""
    X, y = classes()
    model = NestedCV(
        RandomForestClassifier(n_estimators=5), {"max_depth": [1, 3]}, outer=3, inner=2
    )
    first = clone(model).fit(X, y)
    np.random.seed(3)  # noqa: NPY002
    second = clone(model).set_params(n_jobs=2).fit(X, y)
    assert first.risk_ == second.risk_
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
