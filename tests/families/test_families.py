"""Settings that differ in plain numbers are validated once, every number against its range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

from cvnb import (
    Family,
    Recipe,
    boosting,
    elastic_net,
    forest,
    knn,
    logistic,
    ridge,
    tree,
)
from cvnb.errors import FamilyError, InfeasibleError
from cvnb.families.labels import format_setting
from cvnb.families.setting_groups import check_parameters


class Picky(RegressorMixin, BaseEstimator):
    """Somebody else's estimator, which looks at its number when it is set."""

    def __init__(self, level=1):
        self.level = level

    def set_params(self, **parameters):
        if parameters.get("level", 0) > 3:
            raise ValueError("level is above 3")
        return super().set_params(**parameters)

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


class Narrow(KNeighborsClassifier):
    """A subclass of scikit-learn's, whose tag depends on a number."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.n_neighbors > 2
        return tags


def scaled(model):
    return make_pipeline(StandardScaler(), model)


SHARED = {
    "one step": Family(KNeighborsClassifier(), {"n_neighbors": range(1, 9)}),
    "last step": Family(
        scaled(KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": range(1, 9)},
    ),
    "NumPy's numbers": Family(Ridge(), {"alpha": np.logspace(-2, 2, 8)}),
    "whole numbers beside fractions": Family(
        DecisionTreeClassifier(), {"min_samples_leaf": [1, 2, 3, 0.1, 0.2, 0.3, 4, 5]}
    ),
    "two axes": Family(ElasticNet(), {"alpha": [0.1, 1, 2, 3], "l1_ratio": [0.2, 0.8]}),
    "a transformer": Family(
        make_pipeline(PCA(), Ridge()),
        {"pca__n_components": [1, 2], "ridge__alpha": [1, 2, 3, 4]},
    ),
    "a pipeline inside": Family(
        make_pipeline(scaled(Ridge())),
        {"pipeline__ridge__alpha": [1, 2, 3, 4, 5, 6, 7, 8]},
    ),
}
SPLIT = {
    "words": (
        Family(
            KNeighborsClassifier(),
            {"n_neighbors": [1, 2], "weights": ["uniform", "distance"]},
        ),
        [[0, 2], [1, 3]],
    ),
    "truth": (
        Family(SVC(), {"C": [1, 2], "probability": [False, True]}),
        [[0, 2], [1, 3]],
    ),
    "nothing": (
        Family(DecisionTreeClassifier(), {"max_leaf_nodes": [2, None, 3]}),
        [[0, 2], [1]],
    ),
    "NaN": (
        Family(
            make_pipeline(SimpleImputer(), Ridge()),
            {"simpleimputer__missing_values": [0, np.nan]},
        ),
        [[0], [1]],
    ),
    "several grids": (
        Family(SVC(), [{"C": [1, 2]}, {"gamma": [1, 2]}, {"C": [3]}]),
        [[0, 1, 4], [2, 3]],
    ),
    "steps put in": (
        Family(
            Pipeline([("m", Ridge())]), {"m": [Ridge(), Lasso()], "m__alpha": [1, 2]}
        ),
        [[0, 1], [2, 3]],
    ),
}
ALONE = {
    "somebody else's class": Family(Picky(), {"level": [1, 2, 3]}),
    "a subclass": Family(Narrow(), {"n_neighbors": [1, 2, 3]}),
    "inside a wrapper": Family(
        CalibratedClassifierCV(KNeighborsClassifier()),
        {"estimator__n_neighbors": [1, 2, 3]},
    ),
    "a member": Family(
        VotingClassifier([("k", KNeighborsClassifier())]), {"k__n_neighbors": [1, 2, 3]}
    ),
    "no range": Family(
        make_pipeline(SimpleImputer(), Ridge()),
        {"simpleimputer__missing_values": [0, 1, 2]},
    ),
}


def same(value, other):
    return value is other or (
        type(value) is type(other) and (not np.isscalar(value) or bool(value == other))
    )


@pytest.mark.parametrize("name", SHARED)
def test_settings_that_differ_in_plain_numbers_share_a_kind(name):
    """All of them share one candidate."""
    (kind,) = check_parameters(SHARED[name])
    assert kind.which.tolist() == list(range(8))


@pytest.mark.parametrize("name", SPLIT)
def test_words_and_objects_split_kinds(name):
    """Strings, bools, None, NaN and estimators may change what an estimator can do."""
    family, which = SPLIT[name]
    assert [kind.which.tolist() for kind in check_parameters(family)] == which


@pytest.mark.parametrize("name", ALONE)
def test_where_a_number_may_do_more_every_setting_is_a_kind(name):
    """Numbers of another package's class, or of a step outside plain pipelines, are not shared."""
    assert [kind.which.tolist() for kind in check_parameters(ALONE[name])] == [
        [0],
        [1],
        [2],
    ]


@pytest.mark.parametrize("name", [*SHARED, *SPLIT, *ALONE])
def test_a_candidate_with_the_numbers_of_a_setting_is_that_setting(name):
    """The numbers speak the estimator's own language, and nothing else is left out."""
    family = {**SHARED, **{key: family for key, (family, _) in SPLIT.items()}, **ALONE}[
        name
    ]
    kinds = check_parameters(family)
    assert sorted(s for kind in kinds for s in kind.which) == list(
        range(len(family.settings))
    )
    for kind in kinds:
        for s, numbers in zip(kind.which, kind.numbers, strict=True):
            wanted = family.candidate(family.settings[s]).get_params()
            actual = kind.candidate.set_params(**numbers).get_params()
            assert actual.keys() == wanted.keys()
            assert all(same(actual[key], wanted[key]) for key in wanted)


def test_the_numbers_of_a_short_hand_carry_the_names_of_the_estimator():
    """k is the pipeline's kneighborsclassifier__n_neighbors."""
    (kind,) = check_parameters(knn(k=[3, 5]).resolved("classification", 100))
    assert kind.numbers == (
        {"kneighborsclassifier__n_neighbors": 3},
        {"kneighborsclassifier__n_neighbors": 5},
    )


INVALID = {
    "k=0": (KNeighborsClassifier(), {"n_neighbors": [1, 2, 0, 3]}),
    "k of floats": (KNeighborsRegressor(), {"n_neighbors": [1, 2.0]}),
    "k=True": (KNeighborsRegressor(), {"n_neighbors": [1, True, -1]}),
    "alpha=-1": (scaled(Ridge()), {"ridge__alpha": [1.0, -1.0]}),
    "alpha=NaN": (scaled(Lasso()), {"lasso__alpha": [1.0, np.nan]}),
    "C=0": (scaled(LogisticRegression()), {"logisticregression__C": [1, np.int64(0)]}),
    "C of NumPy's": (SVC(), {"C": np.array([1.0, -0.5])}),
    "one of two axes": (ElasticNet(), {"alpha": [0.1, 1], "l1_ratio": [0.5, 1.5]}),
    "several at once": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, -2], "p": [1, -1], "leaf_size": [10, 0]},
    ),
    "a transformer's": (
        make_pipeline(PCA(), LinearRegression()),
        {"pca__n_components": [1, 2, -1]},
    ),
    "of a step put in": (
        Pipeline([("m", Ridge())]),
        {"m": [Lasso()], "m__alpha": [1, -3]},
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_every_number_is_refused_as_scikit_learn_refuses_it(name):
    """The message is that of validating each candidate: the first setting, its first parameter."""
    family = Family(*INVALID[name])
    with pytest.raises(FamilyError) as refusal:
        check_parameters(family)
    assert str(refusal.value) == first_refusal(family)


def first_refusal(family):
    """The message of validating every candidate."""
    for setting in family.settings:
        candidate = family.candidate(setting)
        for part in [candidate, *candidate.get_params().values()]:
            try:
                if hasattr(part, "_validate_params"):
                    part._validate_params()
            except InvalidParameterError as error:
                return f"{family.label} with {format_setting(setting)}: {error}"
    return None


@given(
    st.lists(
        st.one_of(
            st.integers(-2, 3),
            st.floats(-1, 1),
            st.booleans(),
            st.none(),
            st.just("mle"),
        ),
        min_size=1,
    )
)
def test_any_mixture_of_values_is_checked_like_each_alone(values):
    """Sharing a kind hides no value that scikit-learn refuses, and refuses none that it allows."""
    family = Family(make_pipeline(PCA(), Ridge()), {"pca__n_components": values})
    wanted = first_refusal(family)
    if wanted is None:
        assert sum(kind.which.size for kind in check_parameters(family)) == len(values)
    else:
        with pytest.raises(FamilyError) as refusal:
            check_parameters(family)
        assert str(refusal.value) == wanted


def test_set_params_of_another_package_is_called_for_every_setting():
    """Its refusal names the setting."""
    with pytest.raises(
        FamilyError, match=r"Picky cannot be set to level=4: level is above 3"
    ):
        check_parameters(Family(Picky(), {"level": [1, 2, 4]}))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: knn(k=[1, 0]), "k=0: The 'n_neighbors' parameter"),
        (lambda: ridge(alpha=[1, -1]), "alpha=-1: The 'alpha' parameter"),
        (
            lambda: elastic_net(l1_ratio=[0.5, 2]),
            "l1_ratio=2: The 'l1_ratio' parameter",
        ),
        (lambda: logistic(C=[1, 0]), "C=0: The 'C' parameter"),
        (
            lambda: tree(max_leaf_nodes=[2, 1]),
            "max_leaf_nodes=1: The 'max_leaf_nodes' parameter",
        ),
        (
            lambda: boosting(n_estimators=[1, 0]),
            "n_estimators=0: The 'n_estimators' parameter",
        ),
        (
            lambda: forest(n_estimators=[1, 0]),
            "n_estimators=0: The 'n_estimators' parameter",
        ),
    ],
)
def test_a_short_hand_refuses_a_bad_value_that_is_not_its_first(make, match):
    """As soon as it is written, in its own words."""
    with pytest.raises(FamilyError, match=match):
        make()


@pytest.mark.parametrize(
    ("estimator", "grid", "named"),
    [
        (KNeighborsClassifier(), {"n_neighbors": [1, 30, 29]}, "n_neighbors=30"),
        (
            make_pipeline(scaled(KNeighborsClassifier())),
            {"pipeline__kneighborsclassifier__n_neighbors": [1, 30]},
            "=30",
        ),
        (
            scaled(KNeighborsClassifier(n_neighbors=40)),
            {"kneighborsclassifier__leaf_size": [10, 20]},
            "n_neighbors=40",
        ),
        (
            KNeighborsClassifier(),
            {"n_neighbors": [2, 31, 30], "weights": ["uniform", "distance"]},
            "n_neighbors=31",
        ),
    ],
)
def test_too_many_neighbours_are_found_in_every_setting(estimator, grid, named):
    """The first setting that needs more rows than the smallest training part has is named."""
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(
        InfeasibleError,
        match=rf"{named} needs \d+ training rows, but inner split 0 of outer split 0 has 16",
    ):
        Recipe(5, 2).run(Family(estimator, grid), X, y)
