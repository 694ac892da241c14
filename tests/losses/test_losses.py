"""Each loss is its formula, a score comes back as requested, and means follow the definitions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    fbeta_score,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cvnb import Family, Recipe
from cvnb.errors import CvnbError, FitError

# trains on rows 0-3, tests on rows 4-7
LAST = Recipe(outer=[(np.arange(4), np.arange(4, 8))], inner=None)
ROWS = np.arange(8.0)[:, None]


class EchoRegressor(RegressorMixin, BaseEstimator):
    """Predicts column 0 of X."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, 0] + self.shift


class EchoClassifier(ClassifierMixin, BaseEstimator):
    """Predicts class "b" with the probability in column 0 of X, optionally as float32."""

    def __init__(self, kind="float64"):
        self.kind = kind

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]]).astype(self.kind)

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0.5).astype(int)]


def run(family, X, y, recipe=LAST, **options):
    return recipe.run(
        family if isinstance(family, Family) else Family(family),
        X,
        y,
        progress="off",
        **options,
    )


def classes(rows=60, n_classes=3):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(rows, 3))
    y = np.argsort(np.argsort(X[:, 0] + rng.normal(size=rows))) * n_classes // rows
    return X, np.array(["low", "middle", "top"])[y]


def numbers(rows=60):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 3))
    return X, X[:, 0] - 2 * X[:, 1] + rng.normal(size=rows)


# Formulas


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("squared", (1 + 0 + 4 + 9) / 4),
        ("absolute", (1 + 0 + 2 + 3) / 4),
        (
            lambda y, prediction: np.maximum(
                0.9 * (y - prediction), 0.1 * (prediction - y)
            ),
            (0.9 + 0 + 0.2 + 2.7) / 4,
        ),
        (lambda y, prediction: np.abs(y - prediction) > 1, 2 / 4),
        (lambda y, prediction: [2] * len(y), 2.0),
    ],
    ids=[
        "squared",
        "absolute",
        "a function",
        "a function giving bools",
        "a function giving a list",
    ],
)
def test_a_loss_of_numbers_is_its_formula(loss, expected):
    """y - prediction is 1, 0, -2 and 3: the mean over the test rows is the one done by hand."""
    y = np.array([0.0, 0.0, 0.0, 1.5, 5.0, 5.0, 4.0, 10.0])
    predicted = np.array([0.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0])[:, None]
    assert run(EchoRegressor(), predicted, y, loss=loss).risk == pytest.approx(
        expected, rel=1e-14
    )


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "a", "b", "a", "b", "a", "b"],
        [0, 1, 0, 1, 0, 1, 0, 1],
        [False, True, False, True, False, True, False, True],
        [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0],
        pd.Series(["a", "b", "a", "b", "a", "b", "a", "b"], dtype="category"),
    ],
    ids=["words", "whole", "bools", "floats", "category"],
)
@pytest.mark.parametrize(
    "options", [{}, {"loss": "zero_one"}, {"loss": "zero-one"}, {"scoring": "accuracy"}]
)
def test_the_zero_one_loss_is_the_share_of_mistakes(labels, options):
    """One mistake in four rows is 1/4, whatever the labels; it is a classifier's default."""
    predicted = np.array([0.1, 0.9, 0.1, 0.9, 0.2, 0.7, 0.4, 0.3])[:, None]
    assert run(EchoClassifier(), predicted, labels, **options).risk == 0.25


def test_a_label_that_training_never_saw_is_a_mistake():
    """A class of the test part alone counts as wrong, not as an error."""
    predicted = np.full((8, 1), 0.9)
    y = ["a", "b", "a", "b", "b", "b", "c", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(EchoClassifier(), predicted, y).risk == 0.5


def test_the_default_of_a_regression_is_the_squared_loss():
    """Without loss= and scoring= a regression is measured by its squared errors."""
    X, y = numbers()
    recipe = Recipe.external_cv(4)
    assert (
        run(Ridge(), X, y, recipe).risk
        == run(Ridge(), X, y, recipe, loss="squared").risk
    )


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64, bool, np.float32])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_losses_are_computed_in_floats(kind, loss):
    """Small integers, bools and float32 as y neither wrap nor round."""
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0], dtype=kind) * (
        kind(100) if kind is not bool else True
    )
    predicted = np.array([0.0, 0.0, 0.0, 0.0, 120.7, 0.1, 250.3, 3.3])[:, None]
    error = np.abs(y[4:].astype(float) - predicted[4:, 0])
    expected = np.mean(error**2) if loss == "squared" else np.mean(error)
    assert run(EchoRegressor(), predicted, y, loss=loss).risk == pytest.approx(
        expected, rel=1e-14
    )


def test_the_log_loss_is_its_formula():
    """-log of the probability of the true class, averaged over the test rows."""
    predicted = np.array([0.5, 0.5, 0.5, 0.5, 0.25, 0.5, 0.8, 0.9])[:, None]
    y = ["a", "b", "a", "b", "b", "a", "b", "a"]
    expected = -(np.log(0.25) + np.log(0.5) + np.log(0.8) + np.log(0.1)) / 4
    assert run(EchoClassifier(), predicted, y, loss="log").risk == pytest.approx(
        expected, rel=1e-14
    )


# scikit-learn takes the mean of float32 probabilities in float32
@pytest.mark.parametrize(("kind", "tolerance"), [("float64", 1e-12), ("float32", 1e-7)])
def test_the_log_loss_clips_probabilities_as_scikit_learn_does(kind, tolerance):
    """Probability 0 of the true class costs -log eps of the dtype, probability 1 almost nothing."""
    predicted = np.array([0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 1.0])[:, None]
    y = np.array(["a", "b", "a", "b", "b", "a", "b", "a"])
    risk = run(EchoClassifier(kind), predicted, y, loss="log").risk
    assert risk == pytest.approx(-np.log(np.finfo(kind).eps) / 2, rel=1e-6)
    probabilities = np.column_stack([1 - predicted[4:, 0], predicted[4:, 0]]).astype(
        kind
    )
    assert risk == pytest.approx(log_loss(y[4:], probabilities), rel=tolerance)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        GaussianNB(var_smoothing=1e-12),
        KNeighborsClassifier(1),
        KNeighborsClassifier(7, weights="distance"),
        DecisionTreeClassifier(random_state=0),
        DummyClassifier(strategy="prior"),
        make_pipeline(StandardScaler(), LogisticRegression(C=1e4)),
    ],
    ids=["logistic", "bayes", "1-NN", "7-NN", "tree", "prior", "pipeline"],
)
@pytest.mark.parametrize("options", [{"loss": "log"}, {"scoring": "neg_log_loss"}])
def test_the_log_loss_equals_scikit_learns(model, options):
    """Fold by fold the log loss is minus neg_log_loss, certain mistakes included."""
    X, y = classes()
    result = run(model, X, y, Recipe(outer=StratifiedKFold(4), inner=None), **options)
    expected = -cross_val_score(
        model, X, y, cv=StratifiedKFold(4), scoring="neg_log_loss"
    )
    np.testing.assert_allclose(result.fold_risks, expected, rtol=1e-12)


@pytest.mark.parametrize("missing", ["low", "middle", "top"])
def test_the_log_loss_of_a_class_missing_in_training_is_that_of_probability_zero(
    missing,
):
    """A class missing from the training part has probability 0, wherever it is in the order."""
    X, y = classes()
    away = np.flatnonzero(y == missing)
    test = np.union1d(away, np.arange(0, 60, 7))
    train = np.setdiff1d(np.arange(60), test)
    model = LogisticRegression()
    result = run(model, X, y, Recipe(outer=[(train, test)], inner=None), loss="log")
    model.fit(X[train], y[train])
    wide = np.zeros((test.size, 3))
    wide[:, np.searchsorted(np.unique(y), model.classes_)] = model.predict_proba(
        X[test]
    )
    assert result.risk == pytest.approx(
        log_loss(y[test], wide, labels=np.unique(y)), rel=1e-12
    )
    assert np.isfinite(result.risk)


def test_the_log_loss_of_a_test_part_of_one_class_is_defined():
    """The formula needs no second class, while scikit-learn's metric needs labels=."""
    predicted = np.array([0.5, 0.5, 0.5, 0.5, 0.8, 0.5, 0.8, 0.5])[:, None]
    y = ["a", "b", "a", "b", "b", "b", "b", "b"]
    expected = -(np.log(0.8) + np.log(0.5)) / 2
    assert run(EchoClassifier(), predicted, y, loss="log").risk == pytest.approx(
        expected, rel=1e-14
    )


@pytest.mark.parametrize(
    "y", [[0, 1] * 4, [False, True] * 4, [1.0, 2.0] * 4, [-1, 1] * 4]
)
def test_the_log_loss_takes_labels_of_any_kind(y):
    """Numbers and bools as classes find their column of probabilities."""
    predicted = np.array([0.5, 0.5, 0.5, 0.5, 0.2, 0.8, 0.2, 0.8])[:, None]
    assert run(EchoClassifier(), predicted, y, loss="log").risk == pytest.approx(
        -np.log(0.8), rel=1e-14
    )


# Functions of the user


def test_a_function_gets_y_first_and_the_prediction_second():
    """The order is that of scikit-learn's metrics."""
    y = np.array([0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0, 5.0])
    predicted = np.full((8, 1), 2.0)
    assert (
        run(
            EchoRegressor(),
            predicted,
            y,
            loss=lambda y, prediction: y - 2 * prediction + 100,
        ).risk
        == 5 - 4 + 100
    )


def test_a_function_gets_labels_as_they_are():
    """Costs that differ between mistakes can be written with the labels themselves."""
    predicted = np.array([0.1, 0.9, 0.1, 0.9, 0.2, 0.7, 0.9, 0.3])[:, None]
    y = ["a", "b"] * 4

    def cost(y, prediction):
        return np.where(
            (y == "a") & (prediction == "b"), 10.0, np.where(y == prediction, 0.0, 1.0)
        )

    assert run(EchoClassifier(), predicted, y, loss=cost).risk == (10 + 1) / 4


def test_a_function_that_overwrites_its_arguments_changes_no_prediction():
    """result.predictions are the model's, whatever the loss did with its copy."""
    X, y = numbers()

    def careless(y, prediction):
        prediction -= y
        y[:] = 0
        return prediction**2

    kept = y.copy()
    recipe = Recipe.external_cv(4)
    result, expected = (
        run(Ridge(), X, y, recipe, loss=careless),
        run(Ridge(), X, y, recipe, loss="squared"),
    )
    np.testing.assert_array_equal(y, kept)
    np.testing.assert_allclose(result.fold_risks, expected.fold_risks, rtol=1e-14)
    np.testing.assert_array_equal(result.predictions, expected.predictions)


@pytest.mark.parametrize(
    "loss",
    [
        lambda y, prediction: float(np.mean((y - prediction) ** 2)),
        mean_squared_error,
        lambda y, prediction: np.array([np.mean(y - prediction)]),
        lambda y, prediction: (y - prediction)[:, None],
        lambda y, prediction: (y - prediction)[1:],
    ],
    ids=["mean", "metric", "one number", "column", "one too few"],
)
def test_a_function_without_one_loss_per_row_is_refused(loss):
    """A mean cannot be split into rows; the message names what to return, or scoring=."""
    X, y = numbers()
    with pytest.raises(
        CvnbError, match=r"(?s)one loss per row.*(make_scorer|use loss='squared')"
    ):
        run(LinearRegression(), X, y, Recipe.external_cv(4), loss=loss)


@pytest.mark.parametrize(
    "recipe", [Recipe.leave_one_out(), Recipe(outer=4, inner="loo")]
)
def test_a_function_that_gives_a_mean_is_refused_on_single_rows_too(recipe):
    """On one row a mean looks like a row loss; its shape gives it away."""
    X, y = numbers(12)
    family = Family(Ridge(), {} if recipe.inner is None else {"alpha": [0.1, 1.0]})
    with pytest.raises(CvnbError, match="one loss per row"):
        run(family, X, y, recipe, loss=mean_absolute_error)


def test_a_function_that_gives_no_number_is_an_error():
    """NaN and infinity are no losses; the error names the function."""
    X, y = numbers()

    def my_loss(y, prediction):
        return np.where(y > 0, np.nan, 0.0)

    with pytest.raises(FitError, match="my_loss"):
        run(LinearRegression(), X, y, Recipe.external_cv(4), loss=my_loss)


def test_the_settings_are_chosen_by_the_given_loss():
    """Of zeros and 30 % ones the median is best by absolute, the mean by squared errors."""
    X, y = (
        np.zeros((40, 1)),
        np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0], 4),
    )
    family = Family(DummyRegressor(), {"strategy": ["mean", "median"]})
    recipe = Recipe.internal_cv(KFold(2))
    assert run(family, X, y, recipe, loss="absolute").chosen == [{"strategy": "median"}]
    assert run(family, X, y, recipe, loss="squared").chosen == [{"strategy": "mean"}]
    np.testing.assert_allclose(
        run(family, X, y, recipe, loss="absolute").inner_curves, [[0.42, 0.3]]
    )
    np.testing.assert_allclose(
        run(family, X, y, recipe, loss="squared").inner_curves, [[0.21, 0.3]]
    )


# Means


def test_the_risk_is_the_mean_of_the_folds_not_of_the_rows():
    """A fold of one row counts as much as a fold of three."""
    y = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 4.0, 4.0, 4.0])
    recipe = Recipe(outer=[(np.arange(4), [4]), (np.arange(4), [5, 6, 7])], inner=None)
    result = run(EchoRegressor(), np.zeros((8, 1)), y, recipe)
    assert result.fold_risks.tolist() == [4.0, 16.0]
    assert result.risk == 10.0


def test_the_inner_curve_is_the_mean_of_the_folds_not_of_the_rows():
    """Inner splits of one and of three rows have equal weight."""
    y = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 4.0, 4.0, 4.0])
    recipe = Recipe(outer=None, inner=[(np.arange(4), [4]), (np.arange(4), [5, 6, 7])])
    result = run(
        Family(EchoRegressor(), {"shift": [0.0, 1.0]}), np.zeros((8, 1)), y, recipe
    )
    assert result.inner_curves.tolist() == [[10.0, (1.0 + 9.0) / 2]]


@pytest.mark.parametrize(
    ("loss", "rows"),
    [("squared", [1.0, 0.0, 4.0, 9.0]), ("absolute", [1.0, 0.0, 2.0, 3.0])],
)
def test_the_loss_of_a_fold_is_the_weighted_mean_of_its_rows(loss, rows):
    """Σwℓ/Σw over the test part, the weights of the other rows left out."""
    y = np.array([0.0, 0.0, 0.0, 1.5, 5.0, 5.0, 4.0, 10.0])
    predicted = np.array([0.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0])[:, None]
    w = np.array([9.0, 9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 0.0])
    expected = (1 * rows[0] + 2 * rows[1] + 3 * rows[2]) / 6
    assert run(
        EchoRegressor(), predicted, y, loss=loss, sample_weight=w
    ).risk == pytest.approx(expected, rel=1e-14)


def test_the_mean_over_folds_is_not_weighted():
    """Weights act inside a fold; a fold of heavy rows counts as much as one of light rows."""
    y = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 4.0, 4.0])
    recipe = Recipe(outer=[(np.arange(4), [4, 5]), (np.arange(4), [6, 7])], inner=None)
    w = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 100.0, 100.0])
    assert (
        run(EchoRegressor(), np.zeros((8, 1)), y, recipe, sample_weight=w).risk
        == (4 + 16) / 2
    )


@pytest.mark.parametrize(
    "options", [{"loss": "zero_one"}, {"loss": "log"}, {"scoring": "f1_macro"}]
)
def test_weights_reach_the_final_step_and_the_measure(options):
    """As in a loop that passes the weights to fit and to the metric, but not to the scaler."""
    X, y = classes()
    w = np.random.default_rng(4).uniform(0.1, 3.0, size=60)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    recipe = Recipe(outer=KFold(4), inner=None)
    result = run(model, X, y, recipe, sample_weight=w, **options)
    for j, (train, test) in enumerate(KFold(4).split(X)):
        scaler = StandardScaler().fit(X[train])
        model = LogisticRegression().fit(
            scaler.transform(X[train]), y[train], sample_weight=w[train]
        )
        X_test = scaler.transform(X[test])
        if options == {"loss": "zero_one"}:
            expected = 1 - accuracy_score(
                y[test], model.predict(X_test), sample_weight=w[test]
            )
        elif options == {"loss": "log"}:
            expected = log_loss(
                y[test],
                model.predict_proba(X_test),
                sample_weight=w[test],
                labels=model.classes_,
            )
        else:
            expected = -f1_score(
                y[test], model.predict(X_test), average="macro", sample_weight=w[test]
            )
        assert result.fold_risks[j] == pytest.approx(expected, rel=1e-12)


def test_weights_reach_the_final_step_of_a_pipeline_in_a_pipeline():
    """How the steps are nested changes no number."""
    X, y = numbers()
    w = np.random.default_rng(4).uniform(0.1, 3.0, size=60)
    nested = make_pipeline(StandardScaler(), make_pipeline(PCA(2), Ridge()))
    flat = make_pipeline(StandardScaler(), PCA(2), Ridge())
    one, other = (
        run(model, X, y, Recipe.external_cv(3), sample_weight=w)
        for model in (nested, flat)
    )
    np.testing.assert_allclose(one.fold_risks, other.fold_risks, rtol=1e-12)


def test_weights_of_one_change_nothing():
    """Equal weights give the numbers of no weights."""
    X, y = numbers()
    family = Family(Ridge(), {"alpha": [0.1, 10.0]})
    plain = run(family, X, y, Recipe(outer=3, inner=3))
    ones = run(family, X, y, Recipe(outer=3, inner=3), sample_weight=np.ones(60))
    np.testing.assert_allclose(ones.inner_curves, plain.inner_curves, rtol=1e-10)


# Scores


@pytest.mark.parametrize(
    ("scoring", "model", "offset"),
    [
        ("accuracy", LogisticRegression(), 1.0),
        ("balanced_accuracy", LogisticRegression(), 0.0),
        ("f1_macro", GaussianNB(), 0.0),
        ("neg_log_loss", GaussianNB(), 0.0),
        ("roc_auc_ovr", GaussianNB(), 0.0),
        ("r2", Ridge(), 0.0),
        ("neg_mean_squared_error", Ridge(), 0.0),
        ("neg_mean_absolute_error", Ridge(), 0.0),
        ("neg_root_mean_squared_error", Ridge(), 0.0),
        ("explained_variance", Ridge(), 0.0),
        ("neg_max_error", Ridge(), 0.0),
    ],
)
def test_a_score_is_given_back_and_its_loss_is_small_where_it_is_large(
    scoring, model, offset
):
    """fold_scores are scikit-learn's, score their mean, and the risk is offset - score."""
    X, y = numbers() if isinstance(model, Ridge) else classes()
    cv = (
        KFold(4, shuffle=True, random_state=1)
        if isinstance(model, Ridge)
        else StratifiedKFold(4)
    )
    result = run(model, X, y, Recipe(outer=cv, inner=None), scoring=scoring)
    expected = cross_val_score(model, X, y, cv=cv, scoring=scoring)
    np.testing.assert_allclose(result.fold_scores, expected, rtol=1e-12)
    assert result.score == pytest.approx(expected.mean(), rel=1e-12)
    np.testing.assert_allclose(
        result.fold_risks, offset - expected, rtol=1e-12, atol=1e-15
    )


def test_without_a_score_there_is_none():
    """score and fold_scores are None with loss=, and by default."""
    X, y = numbers()
    for options in (
        {},
        {"loss": "squared"},
        {"loss": lambda y, prediction: (y - prediction) ** 2},
    ):
        result = run(Ridge(), X, y, Recipe.external_cv(3), **options)
        assert result.score is None
        assert result.fold_scores is None


def test_a_score_is_maximised():
    """The setting with the largest inner score is chosen, as by scikit-learn's search."""
    X, y = numbers()
    grid = {"n_neighbors": [1, 4, 15, 30]}
    result = run(
        Family(KNeighborsRegressor(), grid),
        X,
        y,
        Recipe(outer=None, inner=KFold(5)),
        scoring="r2",
    )
    search = GridSearchCV(KNeighborsRegressor(), grid, scoring="r2", cv=KFold(5)).fit(
        X, y
    )
    np.testing.assert_allclose(
        -result.inner_curves[0], search.cv_results_["mean_test_score"], rtol=1e-12
    )
    assert result.chosen == [search.best_params_]


@pytest.mark.parametrize(
    ("scorer", "sign"),
    [
        (make_scorer(fbeta_score, beta=2, average="macro"), 1),
        (
            make_scorer(
                log_loss, response_method="predict_proba", greater_is_better=False
            ),
            -1,
        ),
    ],
    ids=["score", "loss"],
)
def test_a_scorer_made_by_hand_keeps_its_direction(scorer, sign):
    """greater_is_better=False gives a negative score and a positive risk."""
    X, y = classes()
    result = run(
        GaussianNB(), X, y, Recipe(outer=StratifiedKFold(4), inner=None), scoring=scorer
    )
    np.testing.assert_allclose(
        result.fold_scores,
        cross_val_score(GaussianNB(), X, y, cv=StratifiedKFold(4), scoring=scorer),
    )
    assert np.sign(result.score) == sign
    assert result.risk == -result.score


def test_a_function_of_estimator_X_and_y_sees_what_the_user_gave():
    """A callable as scoring= gets the whole fitted pipeline and rows of X as they came."""
    X, y = numbers()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    calls = []

    def my_score(model, X, y):
        calls.append((type(model).__name__, list(X.columns)))
        return -mean_pinball_loss(y, model.predict(X), alpha=0.9)

    model, recipe = make_pipeline(StandardScaler(), Ridge()), Recipe(KFold(3), None)
    result = run(model, frame, y, recipe, scoring=my_score)
    scorer = make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)
    expected = cross_val_score(model, X, y, cv=KFold(3), scoring=scorer)
    np.testing.assert_allclose(result.fold_scores, expected, rtol=1e-12)
    assert calls == [("Pipeline", ["a", "b", "c"])] * 3


def test_a_score_that_is_no_number_is_an_error():
    """NaN from a scorer is never averaged."""
    X, y = numbers()
    with pytest.raises(FitError, match="nan"):
        run(Ridge(), X, y, Recipe.external_cv(3), scoring=lambda model, X, y: np.nan)


@pytest.mark.parametrize(
    "model",
    [LinearSVC(), SVC(), LogisticRegression()],
    ids=lambda model: type(model).__name__,
)
def test_a_score_of_decision_values_needs_no_probabilities(model):
    """The AUC uses decision values if there are no probabilities."""
    X, y = classes(60, 2)
    result = run(
        model, X, y, Recipe(outer=StratifiedKFold(4), inner=None), scoring="roc_auc"
    )
    np.testing.assert_allclose(
        result.fold_scores,
        cross_val_score(model, X, y, cv=StratifiedKFold(4), scoring="roc_auc"),
    )


@pytest.mark.parametrize(
    "options", [{"loss": "log"}, {"scoring": "roc_auc"}, {"scoring": "f1_macro"}]
)
def test_predictions_are_classes_whatever_is_measured(options):
    """The metric uses probabilities or decision values; predictions are those of predict."""
    X, y = classes(60, 2)
    recipe = Recipe(outer=StratifiedKFold(4), inner=None)
    expected = run(LogisticRegression(), X, y, recipe).predictions
    np.testing.assert_array_equal(
        run(LogisticRegression(), X, y, recipe, **options).predictions, expected
    )


def test_the_score_of_a_grid_search_is_kept():
    """A GridSearchCV brings its scoring; scoring=None is the default loss; loss= overrides both."""
    X, y = numbers()
    recipe, grid = Recipe(outer=3, inner=KFold(2)), {"alpha": [0.1, 10.0]}
    scored = run(Family(GridSearchCV(Ridge(), grid, scoring="r2")), X, y, recipe)
    assert scored.score == run(Family(Ridge(), grid), X, y, recipe, scoring="r2").score
    plain = run(Family(GridSearchCV(Ridge(), grid)), X, y, recipe)
    assert plain.score is None
    assert plain.risk == run(Family(Ridge(), grid), X, y, recipe).risk
    other = run(
        Family(GridSearchCV(Ridge(), grid, scoring="r2")), X, y, recipe, loss="absolute"
    )
    assert other.risk == run(Family(Ridge(), grid), X, y, recipe, loss="absolute").risk


def test_a_score_reads_as_a_score():
    """Every text calls it a score, and says that large is good."""
    X, y = numbers()
    result = run(Ridge(), X, y, Recipe.external_cv(3), scoring="r2")
    assert "R²" in repr(result)
    assert f"{result.score:.2f}" in repr(result)
