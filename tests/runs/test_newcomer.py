"""What goes wrong in the first hour with cvnb: each mistake, and the message that it gives.

The calls are written as a newcomer types them, and evaluated in the namespace NAMES.
"""

import inspect
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.metrics
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cvnb
from cvnb import Family, NestedCV, Recipe, nested_cv
from cvnb.calls import OF_RECIPE, OF_RUN
from cvnb.data.table import Data
from cvnb.errors import CvnbError, DataError, FitError, LossError

ROWS = 60
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": rng.normal(size=ROWS),
        "bmi": rng.normal(size=ROWS),
        "patient": np.repeat(np.arange(20), 3),
        "weight": rng.uniform(1, 2, ROWS),
        "city": np.tile(["Rome", "Paris", "Bern"], 20),
        "outcome": np.tile([0, 1], 30),
    }
)
FEATURES = FRAME[["age", "bmi"]]
TEXTS = FRAME[["age", "city"]]
ENCODER = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["city"]), remainder="passthrough"
)


X, y = FEATURES.to_numpy(), FRAME["outcome"].to_numpy()
CALLED = (
    GaussianNB,
    GridSearchCV,
    HistGradientBoostingClassifier,
    KFold,
    OneHotEncoder,
    Ridge,
    SVC,
    StandardScaler,
    load_iris,
    make_pipeline,
)
NAMES = {
    **{name: getattr(cvnb, name) for name in cvnb.__all__},
    **{value.__name__: value for value in CALLED},
    **{"metrics": sklearn.metrics, "np": np, "pd": pd, "sp": sp},
    **{"df": FRAME, "FEATURES": FEATURES, "TEXTS": TEXTS, "X": X, "y": y},
    "POLARS": pl.from_pandas(TEXTS),
    "USED": make_pipeline(ENCODER, DecisionTreeClassifier()),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "species": np.arange(ROWS) % 3,
    "amount": rng.normal(size=ROWS) * 100,
}

ENCODE = (
    "encode it ahead of the model, with make_column_transformer((OneHotEncoder("
    'handle_unknown="ignore"), [{}]), remainder="passthrough")'
)

MISTAKES = {
    # columns by name
    'nested_cv(knn(), df[["age", "patient"]], y, groups="patiet")': (
        "groups='patiet': X has no column 'patiet'. Did you mean 'patient'?"
    ),
    'nested_cv(knn(), X, y, groups="patient")': (
        "groups='patient' names a column, but X is no DataFrame; give one value for every row."
    ),
    'nested_cv(knn(), FEATURES, "target")': (
        "y='target': X has no column 'target'; it has age, bmi."
    ),
    'nested_cv(knn(), df[["outcome"]], "outcome")': (
        "X has no column but 'outcome': no feature is left to predict from."
    ),
    # X and y
    "nested_cv(knn(), y, X)": (
        "X and y look swapped: X holds one value per row, and y has 2 columns; X, the table, "
        "comes first, and y is one target."
    ),
    'nested_cv(knn(), df["outcome"], FEATURES)': "X and y look swapped",
    "NestedCV(SVC()).fit(y, X)": "X and y look swapped",
    "nested_cv(knn(), X.T, y)": (
        "X has 2 rows but y has 60: inconsistent numbers of samples; X has 60 columns and "
        "looks transposed: use X.T."
    ),
    "nested_cv(knn(), X, y[:-1])": "X has 60 rows but y has 59",
    "nested_cv(knn(), X, np.eye(3)[species])": (
        "it is one-hot encoded: use the column of the 1, y.argmax(axis=1)."
    ),
    "nested_cv(knn(), X, 4)": "y must hold one value per row, got 4.",
    "nested_cv(ridge(), X, np.where(y, np.nan, 1.5))": (
        "Input y contains NaN or nothing in 30 rows, the first in row 1; drop or fill them."
    ),
    'nested_cv(knn(), "data.csv", "target")': (
        "X cannot be read as an array: got the text 'data.csv'; give the variable without "
        "quotes, or read the file first."
    ),
    "nested_cv(knn(), load_iris(), y)": (
        "X cannot be read as an array: got Bunch; use X['data'] and X['target'], or load it "
        "with return_X_y=True."
    ),
    'nested_cv(knn(), {"a": y, "b": y}, y)': "got dict; use pandas.DataFrame(X).",
    "Recipe().plan(knn(), X, y)": "the order is run(model, X, y), and plan(X, y, model)",
    # what y can be learned by what
    'nested_cv(knn(), X, np.full(60, "yes"))': (
        "y holds one class, 'yes', in all 60 rows: nothing can be learned from it; check how "
        "y was made."
    ),
    "nested_cv(SVC(), X, amount)": "y is continuous (such as ",
    "nested_cv(SVC(), X, amount.round())": "different numbers in 60 rows, such as ",
    "nested_cv(ridge(), X, amount.astype(str))": (
        "but ridge is a classifier; use y.astype(float), or pandas.Categorical(y) if they are "
        "classes."
    ),
    'nested_cv(Ridge(), X, df["city"])': (
        "y holds labels such as 'Rome', but Ridge is a regression; use a classifier."
    ),
    # models and grids
    "nested_cv(X, y, knn())": (
        "this array of shape (60, 2) is no estimator; the order is run(model, X, y), and "
        "plan(X, y, model)."
    ),
    "nested_cv(knn, X, y)": "knn is no estimator but a function; call it: knn().",
    "nested_cv(SVC, X, y)": "SVC is a class, no estimator; use SVC().",
    'nested_cv("knn", X, y)': "'knn' is no estimator but text; write knn() without quotes.",
    'nested_cv([SVC(), {"C": [1]}], X, y)': (
        "[SVC(), {'C': [1]}] is no estimator; write the pair of estimator and grid as a "
        "tuple: (SVC(), {...})."
    ),
    "nested_cv([SVC(), knn()], X, y)": (
        "to compare models give a dict by name: {'SVC': ..., 'knn': ...}."
    ),
    "nested_cv((SVC(), {}, X), X, y)": "is no estimator but a tuple of 3",
    'nested_cv((knn(), {"k": [1]}), X, y)': (
        "knn() is a Family already; give its values in the call: knn(...)."
    ),
    "knn(X, y)": "go to nested_cv(model, X, y).",
    "nested_cv(make_pipeline(StandardScaler, SVC()), X, y)": (
        "the step 'type' of this pipeline is a class; use StandardScaler()."
    ),
    "nested_cv(make_pipeline(StandardScaler(), knn()), X, y)": (
        "is knn(), a model with its own grid; use scikit-learn's estimator there"
    ),
    'nested_cv(pipeline, {"C": [1]}, X, y)': (
        "StandardScaler → LogisticRegression has no parameter 'C'. Did you mean "
        "'logisticregression__C'?"
    ),
    'nested_cv(pipeline, {"logistic__C": [1]}, X, y)': (
        "Did you mean 'logisticregression__C'?"
    ),
    'nested_cv(pipeline, {"logisticregression_C": [1]}, X, y)': (
        "Did you mean 'logisticregression__C'?"
    ),
    'nested_cv(SVC(), {"c": [1]}, X, y)': "SVC has no parameter 'c'. Did you mean 'C'?",
    'nested_cv(SVC(), {"svc__C": [1]}, X, y)': "Did you mean 'C'?",
    'nested_cv(SVC(), {"C": 1}, X, y)': "no list of values; write {'C': [1]}.",
    'nested_cv((SVC(), "C"), X, y)': (
        "the grid must be a dict or a list of dicts, got 'C'."
    ),
    'nested_cv(SVC(), X, y, {"C": [1]})': (
        "outer is a dict, no splitter; the grid comes after the model: nested_cv(model, grid, "
        "X, y)."
    ),
    # words of scikit-learn
    "nested_cv(SVC(), X, y, cv=5)": "nested_cv takes no cv=; use outer= and inner=.",
    "Recipe().run(SVC(), X, y, cv=5)": (
        "Recipe.run takes no cv=; that is for the recipe: Recipe(outer=..., inner=...)"
    ),
    "Recipe(cv=5)": "Recipe takes no cv=; use outer= and inner=.",
    "Recipe.nested_cv(random_state=0)": "Recipe takes no random_state=; use seed=.",
    "NestedCV(SVC(), cv=5)": "NestedCV takes no cv=; use outer= and inner=.",
    "NestedCV(model=SVC())": "NestedCV takes no model=; use estimator=.",
    'nested_cv(SVC(), X, y, param_grid={"C": [1]})': (
        "nested_cv takes no param_grid=; give the grid after the model: nested_cv(model, grid, "
        "X, y)."
    ),
    'Family(SVC(), param_grid={"C": [1]})': "Family takes no param_grid=; use grid=.",
    "nested_cv(estimator=SVC(), X=X, y=y)": "nested_cv takes no estimator=; use family=.",
    "nested_cv(SVC(), X, y, random_state=0)": "use seed=.",
    "nested_cv(SVC(), X, y, n_splits=3)": "use outer=.",
    'nested_cv(SVC(), X, y, scorer="f1")': "use scoring=.",
    "nested_cv(SVC(), X, y, njobs=2)": "nested_cv takes no njobs=. Did you mean n_jobs=?",
    "nested_cv(SVC(), X, y, shuffle=False)": (
        "that is for the recipe: Recipe(shuffle=...).run(model, X, y)."
    ),
    'Recipe(scoring="f1")': "that is for the run: recipe.run(model, X, y, scoring=...).",
    "nested_cv(SVC(), X, y, refit=True)": "nested_cv takes no refit=; it takes family, X, y,",
    "knn(n_neighbors=[1, 3])": "knn takes no n_neighbors=; use k=.",
    "logistic(c=1)": "logistic takes no c=. Did you mean C=?",
    # splits
    "nested_cv(knn(), X, y, outer=1.0)": "outer=1.0 is no share of the rows",
    "nested_cv(knn(), X, y, inner=1)": "inner=1 leaves no fold to choose on; use inner >= 2.",
    'nested_cv(knn(), X, y, outer="5")': "For 5 folds write outer=5.",
    "nested_cv(knn(), X, y, outer=KFold)": "outer=KFold is a class; use KFold().",
    "nested_cv(knn(k=[1, 3]), X, y, inner=KFold(5).split(X))": (
        "inner holds (train, test) pairs, but needs one list of pairs per outer split; to "
        "split every training part give the splitter, such as inner=KFold(5)."
    ),
    "Recipe(X, y)": "X and y go to run(model, X, y)",
    "nested_cv(knn(), X, y, n_jobs=0)": "n_jobs=0 must be None or a whole number other than 0",
    # scores
    'nested_cv(knn(), X, y, scoring="brier_score_loss")': (
        "unknown scoring 'brier_score_loss'; use 'neg_brier_score'."
    ),
    'nested_cv(knn(), X, y, scoring="log_loss")': "use 'neg_log_loss'.",
    'nested_cv(knn(), X, y, scoring="mean_squared_error")': "use 'neg_mean_squared_error'.",
    'nested_cv(knn(), X, y, scoring="accuracy_score")': "use 'accuracy'.",
    'nested_cv(knn(), X, y, scoring="roc_auc_score")': "use 'roc_auc'.",
    'nested_cv(knn(), X, y, scoring="f1_score")': "use 'f1'.",
    'nested_cv(knn(), X, y, scoring="rmse")': "use 'neg_root_mean_squared_error'.",
    'nested_cv(knn(), X, y, scoring="acuracy")': "Did you mean 'accuracy'?",
    "nested_cv(knn(), X, y, scoring=metrics.f1_score)": (
        "scoring=f1_score is a metric of (y, prediction), not a scorer; use scoring='f1'."
    ),
    "nested_cv(knn(), X, y, loss=metrics.mean_squared_error)": (
        "loss=mean_squared_error gives one number for all rows, not one loss per row; use "
        "loss='squared' or scoring='neg_mean_squared_error'."
    ),
    'nested_cv(ridge(), X, amount, loss="mse")': (
        "Use loss='squared' or scoring='neg_mean_squared_error'."
    ),
    'nested_cv(SVC(), X, species, scoring="roc_auc")': (
        "roc_auc is for two classes, but y holds 3; use 'roc_auc_ovr', each class against the "
        "rest."
    ),
    'nested_cv(knn(), X, species, scoring="f1")': (
        "f1 is for two classes, but y holds 3; use 'f1_macro', the mean over the classes."
    ),
    'nested_cv(knn(), X, species, scoring="precision")': "use 'precision_macro'",
    'nested_cv(knn(), X, species, scoring="recall")': "use 'recall_macro'",
    'nested_cv(knn(), X, species, scoring="jaccard")': "use 'jaccard_macro'",
    "nested_cv(knn(), X, species, scoring=metrics.make_scorer(metrics.fbeta_score, beta=2))": (
        "fbeta_score is for two classes, but y holds 3; use fbeta_score with average='macro'"
    ),
    'nested_cv(knn(), X, species, scoring="positive_likelihood_ratio")': (
        "use 'balanced_accuracy'."
    ),
    'nested_cv(SVC(), X, species, scoring="roc_auc_ovr")': (
        "roc_auc_ovr needs predict_proba, which SVC does not have"
    ),
    'nested_cv(knn(), X, df["city"], scoring="r2")': (
        "r2 is a score of numbers, but y holds labels such as 'Rome'; use a score of classes, "
        "such as 'accuracy'."
    ),
    'nested_cv(ridge(), X, amount, scoring="f1")': (
        "f1 is a score of classes, but y holds numbers such as "
    ),
    # sparse rows
    "nested_cv(knn(), sp.csr_matrix(X), y)": (
        "X is sparse, and sparse input is not supported by knn; use X.toarray(), or another "
        "model."
    ),
}


@pytest.mark.parametrize("call", MISTAKES)
def test_a_mistake_is_explained_before_the_first_fit(call, fits):
    """Two lines at most, that say what to type instead."""
    with pytest.raises(CvnbError, match=re.escape(MISTAKES[call])) as caught:
        eval(call, NAMES)
    assert len(str(caught.value)) <= 200
    assert "\n" not in str(caught.value)
    assert fits == []


UNUSABLE = {
    "nested_cv(SVC(), TEXTS, y)": (
        "SVC cannot be fitted on this X. Column 'city' holds text such as 'Rome': "
        f"{ENCODE.format(repr('city'))}."
    ),
    "nested_cv(knn(k=[1, 3]), TEXTS, y)": "Column 'city' holds text such as 'Rome'",
    "nested_cv(SVC(), POLARS, y)": "Column 'city' holds text such as 'Rome'",
    'nested_cv(SVC(), TEXTS.astype({"city": "category"}), y)': "Column 'city' holds text",
    "nested_cv(SVC(), TEXTS.to_numpy(), y)": "Column 1 holds text such as 'Rome'",
    "nested_cv(SVC(), TEXTS.to_numpy().tolist(), y)": "Column 1 holds text such as 'Rome'",
    'nested_cv(SVC(), TEXTS.assign(job="cook"), y)': (
        "Column 'city' holds text such as 'Rome', and so do 1 more: "
        + ENCODE.format("'city', 'job'")
    ),
    "nested_cv(HistGradientBoostingClassifier(), TEXTS, y)": (
        "or X.astype(dict.fromkeys(['city'], 'category'))."
    ),
    'nested_cv(logistic(), ["good day", "bad day"] * 30, y)': (
        "X is a row of texts: put TfidfVectorizer() ahead of the model"
    ),
    'nested_cv(make_pipeline(OneHotEncoder(), GaussianNB()), df[["city"]], y)': (
        "A transformer gives sparse rows: use OneHotEncoder(sparse_output=False)."
    ),
    'nested_cv({"trees": USED, "svm": SVC()}, TEXTS, y)': "SVC cannot be fitted on this X.",
}


@pytest.mark.parametrize("call", UNUSABLE)
def test_text_that_no_setting_can_use_is_refused_after_one_probing_fit(call):
    """The message names the columns and the encoder, before the run of any model."""
    with pytest.raises(DataError, match=re.escape(UNUSABLE[call])) as caught:
        eval(call, NAMES)
    assert caught.value.__cause__ is None
    assert "\n" not in str(caught.value)


class Coded(TransformerMixin, BaseEstimator):
    """A transformer of the user's own that makes numbers of text."""

    def fit(self, X, y=None):
        self.cities_ = sorted(set(X["city"]))
        return self

    def transform(self, X):
        return np.column_stack([X["age"], X["city"].map(self.cities_.index)])


class Broken(Coded):
    """One with a mistake in it."""

    def transform(self, X):
        return X["age"] + X["city"]


def ordinal():
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


USERS = {
    "one hot": (make_pipeline(ENCODER, SVC()), TEXTS),
    "ordinal": (
        make_pipeline(
            make_column_transformer((ordinal(), ["city"]), remainder="passthrough"),
            GaussianNB(),
        ),
        TEXTS,
    ),
    "wrapped": (BaggingClassifier(make_pipeline(ordinal(), GaussianNB())), TEXTS),
    "own": (make_pipeline(Coded(), SVC()), TEXTS),
    "categories": (
        HistGradientBoostingClassifier(max_iter=3),
        TEXTS.astype({"city": "category"}),
    ),
    "texts": (
        make_pipeline(TfidfVectorizer(), LogisticRegression()),
        FRAME["city"].to_numpy(),
    ),
    "numbers as text": (SVC(), FEATURES.astype(str)),
    "dropped": (
        make_pipeline(make_column_transformer((StandardScaler(), ["age"])), SVC()),
        TEXTS,
    ),
}


@pytest.mark.parametrize("model", USERS)
def test_text_that_a_pipeline_can_use_goes_through(model):
    """The fit decides, so that encoders of all kinds, and the user's own, are left alone."""
    estimator, X = USERS[model]
    result = Recipe.external_cv(3).run(estimator, X, FRAME["outcome"], progress="off")
    assert result.complete
    assert np.isfinite(result.risk)


def test_one_setting_that_can_use_text_is_enough():
    """A grid may bring the encoder itself; the setting without it fails with a note."""
    pipeline = make_pipeline(ENCODER, DecisionTreeClassifier())
    family = Family(pipeline, {"columntransformer": ["passthrough", ENCODER]})
    result = Recipe(3, 2).run(family, TEXTS, FRAME["outcome"], progress="off")
    assert result.chosen_index.tolist() == [1, 1, 1]


def test_the_probing_fit_sees_few_rows():
    """Rows from all over the training part, fewer than two hundred of them."""
    rows = []

    class Counting(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            rows.append(len(y))
            return super().fit(X, y, sample_weight)

    X = pd.concat([TEXTS] * 20, ignore_index=True)
    y = np.tile(FRAME["outcome"], 20)
    nested_cv(make_pipeline(ENCODER, Counting()), {}, X, y, outer=3)
    assert rows == [100, 800, 800, 800]


def test_a_table_of_numbers_has_no_probing_fit(fits):
    """Nor has a frame; only text is suspicious."""
    Recipe.external_cv(3).run(SVC(), FEATURES, FRAME["outcome"], progress="off")
    assert fits == ["SVC"] * 3


def test_an_error_of_the_users_own_code_keeps_its_traceback():
    """A transformer with a mistake is no question of encoding."""
    with pytest.raises(FitError, match="every setting failed") as caught:
        nested_cv(make_pipeline(Broken(), SVC()), TEXTS, FRAME["outcome"])
    cause = caught.value.__cause__
    assert cause is not None
    frames = [
        entry.name for entry in pytest.ExceptionInfo.from_exception(cause).traceback
    ]
    assert "transform" in frames


def test_a_category_of_the_test_part_alone_names_the_remedy():
    """It is found by the first split that lacks it, in one line without a traceback."""
    rare = TEXTS.assign(city=["Oslo", *TEXTS["city"][1:]])
    encoder = make_column_transformer((OneHotEncoder(), ["city"]))
    model = make_pipeline(encoder, LogisticRegression())
    with pytest.raises(
        FitError,
        match=r'Found unknown categories .* OneHotEncoder\(handle_unknown="ignore"\)',
    ) as caught:
        nested_cv(model, {"logisticregression__C": [1, 10]}, rare, FRAME["outcome"])
    assert caught.value.__cause__ is None


def test_the_remedy_for_a_new_category_is_that_of_the_encoder():
    """OrdinalEncoder has another word for it."""
    rare = TEXTS.assign(city=["Oslo", *TEXTS["city"][1:]])
    encoder = make_column_transformer((OrdinalEncoder(), ["city"]))
    with pytest.raises(FitError, match=r"use OrdinalEncoder.*use_encoded_value"):
        nested_cv(make_pipeline(encoder, GaussianNB()), rare, FRAME["outcome"])


def test_sparse_rows_that_a_wrapped_model_refuses_name_the_remedy():
    """The tags of a wrapper tell nothing, the first fit does."""
    X = sp.csr_matrix(FEATURES.to_numpy())
    with pytest.raises(FitError, match=r"X is sparse: use X\.toarray\(\)"):
        nested_cv(BaggingClassifier(GaussianNB()), X, FRAME["outcome"])


def test_where_all_settings_fail_the_first_split_ends_the_run(fits):
    """Not the 250 fits of a 5 × 5 run of ten settings, but ten."""

    class Failing(ClassifierMixin, BaseEstimator):
        def __init__(self, level=0):
            self.level = level

        def fit(self, X, y):
            fits.append("Failing")
            raise RuntimeError("no luck")

        def predict(self, X):
            return X

    with pytest.raises(
        FitError, match="every setting failed in inner fold 1 of outer fold 1"
    ):
        nested_cv(Failing(), {"level": range(10)}, FEATURES, FRAME["outcome"])
    assert len(fits) == 11  # the first failing fit is repeated for its traceback


# What works


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame])
def test_a_string_names_the_column_of_the_groups(form):
    """Its values are the groups, X lacks it, and a note says so."""
    X, y = form(FRAME[["age", "bmi", "patient"]].to_dict("list")), FRAME["outcome"]
    result = nested_cv(cvnb.knn(k=[1, 3]), X, y, groups="patient")
    expected = nested_cv(cvnb.knn(k=[1, 3]), FEATURES, y, groups=FRAME["patient"])
    np.testing.assert_array_equal(result.inner_curves, expected.inner_curves)
    assert (
        result.notes[0] == "Column 'patient' of X holds the groups: it is no feature."
    )
    assert 'groups="patient"' in result.code().replace("'", '"')
    assert "patient" in X.columns  # the user's frame is as it was


def test_a_string_names_the_columns_of_the_weights_and_of_y():
    """By the same rule, in one call, in a plan and in NestedCV."""
    X = FRAME.drop(columns=["city", "patient"])
    family, y, w = (
        (DecisionTreeClassifier(), {"max_depth": [1, 2]}),
        FRAME["outcome"],
        FRAME["weight"],
    )
    result = nested_cv(family, X, "outcome", sample_weight="weight")
    expected = nested_cv(family, FEATURES, y, sample_weight=w)
    np.testing.assert_array_equal(result.inner_curves, expected.inner_curves)
    assert (
        result.notes[0] == "Column 'weight' of X holds the weights: it is no feature."
    )
    assert 'X, "outcome", sample_weight="weight"' in result.code().replace("'", '"')
    assert Recipe().plan(X, "outcome") == Recipe().plan(FEATURES, y)
    model = NestedCV(*family).fit(X, "outcome", sample_weight="weight")
    assert model.risk_ == expected.risk


@pytest.mark.parametrize(
    "call",
    [
        "nested_cv(SVC(), {'C': [1, 10]}, X, y)",
        "nested_cv(SVC(), [{'C': [1]}, {'C': [10]}], X, y, 5)",
        "nested_cv(SVC(), {'C': [1, 10]}, X, y, outer=5, seed=0)",
        "nested_cv(SVC(), {'C': [1, 10]}, X=X, y=y)",
        "nested_cv((SVC(), {'C': [1, 10]}), X, y, 5, 'auto', 0)",
        "Recipe().run(SVC(), {'C': [1, 10]}, X, y)",
        "NestedCV(SVC(), {'C': [1, 10]}).fit(X, y).result_",
        "nested_cv(GridSearchCV(SVC(), {'C': [1, 10]}).fit(X, y), X, y, inner=5)",
    ],
)
def test_a_grid_may_follow_the_model(call):
    """As in NestedCV(estimator, grid); the pair, and a fitted GridSearchCV, are the same."""
    result, pair = eval(call, NAMES), (SVC(), {"C": [1, 10]})
    expected = nested_cv(pair, NAMES["X"], NAMES["y"])
    assert result.settings == expected.settings
    np.testing.assert_array_equal(result.inner_curves, expected.inner_curves)


@pytest.mark.parametrize("call", [nested_cv, Recipe.run])
def test_options_are_listed_as_keywords(call):
    """help() and Shift-Tab show each of them with its default."""
    parameters = inspect.signature(call).parameters
    assert not any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    defaults = {name: parameters[name].default for name in OF_RUN}
    assert defaults == {
        **dict.fromkeys(("groups", "sample_weight", "loss", "scoring", "n_jobs")),
        "times": None,
        **{"select": "min", "flat": False, "path": "auto", "progress": "auto"},
    }


def test_the_words_of_recipes_and_runs_are_known_to_the_messages():
    """A new option has its place in the lists by which a misplaced one is explained."""
    of_run = list(inspect.signature(Recipe.run).parameters)
    assert tuple(inspect.signature(Recipe).parameters) == OF_RECIPE
    assert tuple(of_run[of_run.index("y") + 1 :]) == OF_RUN


# What deserves a second look


LEAKS = {
    "frame": (FRAME[["age", "outcome"]], "X.drop(columns='outcome')"),
    "mixed frame": (FRAME[["city", "outcome"]], "X.drop(columns='outcome')"),
    "polars": (pl.from_pandas(FRAME[["age", "outcome"]]), "X.drop('outcome')"),
    "array": (FRAME[["age", "outcome"]].to_numpy(), "np.delete(X, 1, axis=1)"),
    "float32": (
        FRAME[["age", "outcome"]].to_numpy(np.float32),
        "np.delete(X, 1, axis=1)",
    ),
}


@pytest.mark.parametrize("form", LEAKS)
def test_a_column_that_equals_y_is_the_first_note(form):
    """A perfect predictor may be real, so nothing is refused; the note says what to leave out."""
    X, remedy = LEAKS[form]
    model = GaussianNB()
    if form == "mixed frame":
        model = make_pipeline(ENCODER, DecisionTreeClassifier())
    result = Recipe.external_cv(3).run(model, X, FRAME["outcome"], progress="off")
    assert result.risk == 0.0
    assert "equals y in every row: the model reads the answer there" in result.notes[0]
    assert result.notes[0].endswith(f"Leave it out: {remedy}.")


@pytest.mark.parametrize(
    "column",
    [
        1 - FRAME["outcome"],
        FRAME["outcome"].where(FRAME.index < 59, 0),
        FRAME["outcome"].astype(str),
        FRAME["outcome"].astype("Int64").where(FRAME.index < 59),
    ],
    ids=["another coding", "one row differs", "text", "one missing"],
)
def test_a_column_that_only_resembles_y_gets_no_note(column):
    """Every row has to be equal."""
    data = Data.check(FEATURES.assign(copy=column), FRAME["outcome"])
    assert data.notes == ()


def test_a_constant_y_is_not_said_to_be_a_column():
    """A constant column is no answer."""
    assert Data.check(np.ones((ROWS, 2)), np.ones(ROWS)).notes == ()


def test_an_index_in_another_order_is_a_note():
    """Rows are matched by position, which a user who shuffled y may not mean."""
    y = FRAME["outcome"].sample(frac=1.0, random_state=0)
    result = nested_cv(cvnb.knn(k=[1]), FEATURES, y)
    assert result.notes[0] == (
        "X and y have the same index in another order: rows are matched by position. Use "
        "y.loc[X.index] if the index names the rows."
    )
    expected = nested_cv(cvnb.knn(k=[1]), FEATURES.to_numpy(), y.to_numpy())
    np.testing.assert_array_equal(result.fold_risks, expected.fold_risks)


def test_classes_that_look_like_numbers_are_kept_when_they_are_called_categories():
    """The remedy of the message works."""
    codes = np.repeat(np.arange(30), 2)
    with pytest.raises(DataError, match="30 different numbers in 60 rows"):
        nested_cv(DecisionTreeClassifier(), FEATURES, codes, outer=2)
    result = nested_cv(
        DecisionTreeClassifier(), FEATURES, pd.Categorical(codes), outer=2
    )
    assert result.complete


def test_scores_with_several_classes_are_scikit_learns_where_it_has_them():
    """average_precision is defined for three classes, and is not refused."""
    with pytest.raises(LossError, match="roc_auc is for two classes"):
        nested_cv(GaussianNB(), FEATURES, NAMES["species"], scoring="roc_auc")
    for scoring in ("roc_auc_ovr", "f1_macro", "average_precision"):
        nested_cv(GaussianNB(), FEATURES, NAMES["species"], scoring=scoring)
