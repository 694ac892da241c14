"""What strangers found: each was a plausible wrong number, a lost word or a false refusal once."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import fbeta_score, make_scorer, mean_squared_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cvnb import Family, NestedCV, Plan, Recipe, ridge
from cvnb.errors import FamilyError, InfeasibleError, Interrupted

X, y = (part[:120] for part in load_diabetes(return_X_y=True))
LETTERS = np.array(list("zyxwvutsrq" * 12))


@pytest.mark.parametrize(
    "form",
    [
        list,
        pd.Series,
        lambda g: g.astype(object),
        lambda g: pd.Series(g, dtype="category"),
    ],
)
def test_groups_draw_the_same_splits_in_every_form(form):
    """Strings as objects are numbered in sorted order too, as GroupKFold does."""
    result = Recipe.external_cv(3).run(Ridge(), X, y, groups=form(LETTERS))
    cv = GroupKFold(3, shuffle=True, random_state=0)
    expected = -cross_val_score(
        Ridge(), X, y, groups=LETTERS, cv=cv, scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(result.fold_risks, expected, rtol=1e-12)


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


def test_a_scorer_of_a_loss_is_shown_as_a_loss():
    """greater_is_better=False: the number is the mean squared error, and small is good."""
    scorer = make_scorer(mean_squared_error, greater_is_better=False)
    result = Recipe(3, 2).run((Ridge(), {"alpha": [0.1, 1.0]}), X, y, scoring=scorer)
    same = Recipe(3, 2).run((Ridge(), {"alpha": [0.1, 1.0]}), X, y)
    assert result.risk == pytest.approx(same.risk)
    assert repr(result).startswith(f"{same.risk:.6g}  mean_squared_error risk")


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
    assert "squared (user's) risk" in repr(own)
    assert "your_function" in own.code()
    assert Recipe.external_cv(3).run(Ridge(), X, y, loss=log).risk > 0


def test_a_dev_set_of_unequal_folds_is_said_as_a_range():
    """47 rows in 5 folds have test parts of 9 and 10 rows, and so have the dev sets."""
    result = Recipe.nested_dev(5).run(ridge(alpha=[0.1, 1.0]), X[:47], y[:47])
    assert "by a dev set of 9 to 10 rows" in result.quantity


def test_a_grid_of_whole_pipelines_shares_nothing():
    """Steps that are replaced as a whole are fitted for each setting, also in a pipeline of one step."""
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
    """Under the log loss, probabilities and predictions come from the same rows, not from rows scaled twice."""
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


class Stops(Ridge):
    """Presses the stop button in its n-th fit."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Stops.fits += 1
        if Stops.fits == 20:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def test_an_interrupted_fit_trains_nothing():
    """NestedCV has no risk of a part of the splits; the exception has it."""
    Stops.fits = 0
    model = NestedCV(Stops(), {"alpha": [0.1, 1.0]}, outer=4, inner=3)
    with pytest.raises(
        Interrupted, match=r"2 of 4 outer splits were finished; error.result holds them"
    ) as caught:
        model.fit(X, y)
    assert [name for name in vars(model) if name.endswith("_")] == []
    assert (caught.value.result.complete, len(caught.value.result.fold_risks)) == (
        False,
        2,
    )


def test_an_audit_sees_inner_rows_outside_their_training_part():
    """A record whose inner splits use outer test rows is found out."""
    outer = [(np.arange(10), np.arange(10, 14))]
    plan = Recipe(outer=outer, inner=[[(np.arange(5), np.arange(5, 10))]]).plan(
        X[:14], y[:14]
    )
    forged = Recipe(outer=[(np.arange(9), np.arange(9, 14))], inner=None).plan(
        X[:14], y[:14]
    )
    fields = {**plan.__dict__, "outer_layout": forged.outer_layout}
    broken = Plan(
        **{
            name: value
            for name, value in fields.items()
            if name in Plan.__dataclass_fields__
        }
    )
    assert broken.audit().findings == (
        "inner split 0 of outer split 0: 1 row outside its training part",
    )


@pytest.mark.parametrize(
    "alpha", [np.logspace(-1, 1, 3), np.float64(0.1), [np.float32(0.5), 1]]
)
def test_the_code_of_a_short_hand_runs_with_numpy_values(alpha):
    """Arrays and NumPy's numbers become plain Python."""
    recipe = Recipe(3, 2)
    result = recipe.run(ridge(alpha=alpha), X, y)
    names = {"X": X, "y": y}
    exec(result.code(), names)
    assert names["result"].risk == result.risk
