"""Each loss is its formula, a score is given back as it was asked for, and means are taken where the definitions take them."""

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

LAST = Recipe(
    outer=[(np.arange(4), np.arange(4, 8))], inner=None
)  # trains on rows 0-3, tests on rows 4-7
ROWS = np.arange(8.0)[:, None]


class Says(RegressorMixin, BaseEstimator):
    """Predicts what column 0 of X says."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, 0] + self.shift


class SaysClass(ClassifierMixin, BaseEstimator):
    """Predicts class "b" with the probability that column 0 of X says, as float32 if asked."""

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
    said = np.array([0.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0])[:, None]
    assert run(Says(), said, y, loss=loss).risk == pytest.approx(expected, rel=1e-14)


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
    """One mistake in four rows is 1/4, whatever the labels are, and it is the default of a classifier."""
    said = np.array([0.1, 0.9, 0.1, 0.9, 0.2, 0.7, 0.4, 0.3])[:, None]
    assert run(SaysClass(), said, labels, **options).risk == 0.25


def test_a_label_that_training_never_saw_is_a_mistake():
    """A class of the test part alone counts as wrong, not as an error."""
    said = np.full((8, 1), 0.9)
    y = ["a", "b", "a", "b", "b", "b", "c", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(SaysClass(), said, y).risk == 0.5


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
    said = np.array([0.0, 0.0, 0.0, 0.0, 120.7, 0.1, 250.3, 3.3])[:, None]
    error = np.abs(y[4:].astype(float) - said[4:, 0])
    expected = np.mean(error**2) if loss == "squared" else np.mean(error)
    assert run(Says(), said, y, loss=loss).risk == pytest.approx(expected, rel=1e-14)


def test_the_log_loss_is_its_formula():
    """-log of the probability of the true class, averaged over the test rows."""
    said = np.array([0.5, 0.5, 0.5, 0.5, 0.25, 0.5, 0.8, 0.9])[:, None]
    y = ["a", "b", "a", "b", "b", "a", "b", "a"]
    expected = -(np.log(0.25) + np.log(0.5) + np.log(0.8) + np.log(0.1)) / 4
    assert run(SaysClass(), said, y, loss="log").risk == pytest.approx(
        expected, rel=1e-14
    )


@pytest.mark.parametrize(
    ("kind", "tolerance"), [("float64", 1e-12), ("float32", 1e-7)]
)  # there it takes the mean in float32
def test_the_log_loss_clips_probabilities_as_scikit_learn_does(kind, tolerance):
    """A true class of probability 0 costs -log eps of the probabilities' dtype, one of probability 1 almost nothing."""
    said = np.array([0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 1.0])[:, None]
    y = np.array(["a", "b", "a", "b", "b", "a", "b", "a"])
    risk = run(SaysClass(kind), said, y, loss="log").risk
    assert risk == pytest.approx(-np.log(np.finfo(kind).eps) / 2, rel=1e-6)
    probabilities = np.column_stack([1 - said[4:, 0], said[4:, 0]]).astype(kind)
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
    """A class that the training part did not have was given probability 0, first, last or in between."""
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
    """Where scikit-learn's metric asks for labels=, the formula has no need of a second class."""
    said = np.array([0.5, 0.5, 0.5, 0.5, 0.8, 0.5, 0.8, 0.5])[:, None]
    y = ["a", "b", "a", "b", "b", "b", "b", "b"]
    expected = -(np.log(0.8) + np.log(0.5)) / 2
    assert run(SaysClass(), said, y, loss="log").risk == pytest.approx(
        expected, rel=1e-14
    )


@pytest.mark.parametrize(
    "y", [[0, 1] * 4, [False, True] * 4, [1.0, 2.0] * 4, [-1, 1] * 4]
)
def test_the_log_loss_takes_labels_of_any_kind(y):
    """Numbers and bools as classes find their column of probabilities."""
    said = np.array([0.5, 0.5, 0.5, 0.5, 0.2, 0.8, 0.2, 0.8])[:, None]
    assert run(SaysClass(), said, y, loss="log").risk == pytest.approx(
        -np.log(0.8), rel=1e-14
    )


# Functions of the user's


def test_a_function_gets_y_first_and_the_prediction_second():
    """The order is that of scikit-learn's metrics."""
    y = np.array([0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0, 5.0])
    said = np.full((8, 1), 2.0)
    assert (
        run(Says(), said, y, loss=lambda y, prediction: y - 2 * prediction + 100).risk
        == 5 - 4 + 100
    )


def test_a_function_gets_labels_as_they_are():
    """Costs that differ between mistakes can be written with the labels themselves."""
    said = np.array([0.1, 0.9, 0.1, 0.9, 0.2, 0.7, 0.9, 0.3])[:, None]
    y = ["a", "b"] * 4

    def cost(y, prediction):
        return np.where(
            (y == "a") & (prediction == "b"), 10.0, np.where(y == prediction, 0.0, 1.0)
        )

    assert run(SaysClass(), said, y, loss=cost).risk == (10 + 1) / 4


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
    """A mean cannot be split into rows: the message says what to return, or where a metric belongs."""
    X, y = numbers()
    with pytest.raises(CvnbError, match=r"(?s)one loss per row.*make_scorer"):
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


def test_the_settings_are_chosen_by_the_loss_that_was_asked_for():
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
    result = run(Says(), np.zeros((8, 1)), y, recipe)
    assert result.fold_risks.tolist() == [4.0, 16.0]
    assert result.risk == 10.0


def test_the_inner_curve_is_the_mean_of_the_folds_not_of_the_rows():
    """Inner splits of one and of three rows count alike."""
    y = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 4.0, 4.0, 4.0])
    recipe = Recipe(outer=None, inner=[(np.arange(4), [4]), (np.arange(4), [5, 6, 7])])
    result = run(Family(Says(), {"shift": [0.0, 1.0]}), np.zeros((8, 1)), y, recipe)
    assert result.inner_curves.tolist() == [[10.0, (1.0 + 9.0) / 2]]


@pytest.mark.parametrize(
    ("loss", "rows"),
    [("squared", [1.0, 0.0, 4.0, 9.0]), ("absolute", [1.0, 0.0, 2.0, 3.0])],
)
def test_the_loss_of_a_fold_is_the_weighted_mean_of_its_rows(loss, rows):
    """Σwℓ/Σw over the test part, the weights of the other rows left out."""
    y = np.array([0.0, 0.0, 0.0, 1.5, 5.0, 5.0, 4.0, 10.0])
    said = np.array([0.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0])[:, None]
    w = np.array([9.0, 9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 0.0])
    expected = (1 * rows[0] + 2 * rows[1] + 3 * rows[2]) / 6
    assert run(Says(), said, y, loss=loss, sample_weight=w).risk == pytest.approx(
        expected, rel=1e-14
    )


def test_the_mean_over_folds_is_not_weighted():
    """Weights act inside a fold; a fold of heavy rows counts as much as one of light rows."""
    y = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 4.0, 4.0])
    recipe = Recipe(outer=[(np.arange(4), [4, 5]), (np.arange(4), [6, 7])], inner=None)
    w = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 100.0, 100.0])
    assert (
        run(Says(), np.zeros((8, 1)), y, recipe, sample_weight=w).risk == (4 + 16) / 2
    )


@pytest.mark.parametrize(
    "options", [{"loss": "zero_one"}, {"loss": "log"}, {"scoring": "f1_macro"}]
)
def test_weights_reach_the_final_step_and_the_measure(options):
    """The numbers are those of a loop that hands the weights to fit and to the metric, and none to the scaler."""
    X, y = classes()
    w = np.random.default_rng(4).uniform(0.1, 3.0, size=60)
    result = run(
        make_pipeline(StandardScaler(), LogisticRegression()), X, y, Recipe(outer=KFold(4), inner=None),
        sample_weight=w, **options,
    )  # fmt: skip
    for j, (train, test) in enumerate(KFold(4).split(X)):
        scaler = StandardScaler().fit(X[train])
        model = LogisticRegression().fit(
            scaler.transform(X[train]), y[train], sample_weight=w[train]
        )
        seen = scaler.transform(X[test])
        if options == {"loss": "zero_one"}:
            expected = 1 - accuracy_score(
                y[test], model.predict(seen), sample_weight=w[test]
            )
        elif options == {"loss": "log"}:
            expected = log_loss(
                y[test],
                model.predict_proba(seen),
                sample_weight=w[test],
                labels=model.classes_,
            )
        else:
            expected = -f1_score(
                y[test], model.predict(seen), average="macro", sample_weight=w[test]
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
    """score and fold_scores are None where a loss was asked for, or nothing."""
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
    """The setting with the largest inner score is chosen, and agrees with scikit-learn's own search."""
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
    """A made scorer is large when good: greater_is_better=False gives a negative score and a positive risk."""
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
    seen = []

    def my_score(model, X, y):
        seen.append((type(model).__name__, list(X.columns)))
        return -mean_pinball_loss(y, model.predict(X), alpha=0.9)

    result = run(
        make_pipeline(StandardScaler(), Ridge()),
        frame,
        y,
        Recipe(outer=KFold(3), inner=None),
        scoring=my_score,
    )
    expected = cross_val_score(make_pipeline(StandardScaler(), Ridge()), X, y, cv=KFold(3), scoring=make_scorer(
        mean_pinball_loss, alpha=0.9, greater_is_better=False))  # fmt: skip
    np.testing.assert_allclose(result.fold_scores, expected, rtol=1e-12)
    assert seen == [("Pipeline", ["a", "b", "c"])] * 3


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
    """The area under the curve is measured on decision values where there are no probabilities."""
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
    """Probabilities and decision values are for the measure; predictions are what predict says."""
    X, y = classes(60, 2)
    recipe = Recipe(outer=StratifiedKFold(4), inner=None)
    expected = run(LogisticRegression(), X, y, recipe).predictions
    np.testing.assert_array_equal(
        run(LogisticRegression(), X, y, recipe, **options).predictions, expected
    )


def test_the_score_of_a_grid_search_is_kept():
    """A GridSearchCV brings its scoring; scoring=None means the default loss, and loss= overrides both."""
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
    """Every text says score, not loss, and where large is good."""
    X, y = numbers()
    result = run(Ridge(), X, y, Recipe.external_cv(3), scoring="r2")
    assert "r2" in repr(result)
    assert f"{result.score:.6g}" in repr(result)
