"""A run and its result: what the numbers are, what is fitted how often, what fails, what an
interrupt leaves."""

import itertools
import os
import pickle
import subprocess
import sys
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ParameterGrid,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

import cvnb
from cvnb import Comparison, Family, Recipe, RiskEstimate, forest, knn, logistic, ridge
from cvnb.errors import (
    CvnbError,
    CvnbWarning,
    FamilyError,
    FitError,
    InputError,
    RecipeError,
)
from cvnb.results.estimate import record_of
from cvnb.results.scales import scale_of
from cvnb.views.methods import methods_of
from stopped import finished_part, shown_part


def table(n_rows=40):
    """Three columns of noise."""
    return np.random.default_rng(4).normal(size=(n_rows, 3))


def numbers(n_rows=40):
    """A noisy linear response."""
    return table(n_rows) @ [2.0, -1.0, 0.0] + np.random.default_rng(5).normal(
        size=n_rows
    )


def labels(n_rows=40):
    """Two overlapping classes."""
    return (numbers(n_rows) > 0).astype(int)


def run(family, recipe=None, y=None, **options):
    """The result of a family on the noisy response, three by two folds by default."""
    return (recipe or Recipe(3, 2)).run(
        family, table(), numbers() if y is None else y, **{"progress": "off"} | options
    )


ALPHAS = {"alpha": [0.1, 10.0, 1000.0]}
ridges = Family(Ridge(), ALPHAS)
neighbours = Family(KNeighborsClassifier(), {"n_neighbors": [1, 3, 9]})


# Numbers


UNEQUAL = PredefinedSplit(np.repeat([0, 1, 2], [3, 12, 25]))


def test_the_risk_is_the_mean_of_the_fold_risks_and_not_the_pooled_mean():
    """On folds of 3, 12 and 25 rows the two differ."""
    result = run(Ridge(), Recipe(outer=UNEQUAL, inner=None))
    losses = (
        numbers() - cross_val_predict(Ridge(), table(), numbers(), cv=UNEQUAL)
    ) ** 2
    folds = [losses[test].mean() for _, test in UNEQUAL.split()]
    np.testing.assert_allclose(result.fold_risks, folds, rtol=1e-12)
    assert result.risk == pytest.approx(np.mean(folds), rel=1e-12)
    assert abs(result.risk - losses.mean()) > 1e-3


def test_the_inner_curve_is_the_mean_of_fold_means_and_not_the_pooled_mean():
    """On unequal inner folds too."""
    result = run(ridges, Recipe(outer=None, inner=UNEQUAL))
    for s, setting in enumerate(result.settings):
        losses = (
            numbers()
            - cross_val_predict(Ridge(**setting), table(), numbers(), cv=UNEQUAL)
        ) ** 2
        folds = [losses[test].mean() for _, test in UNEQUAL.split()]
        assert result.inner_curves[0, s] == pytest.approx(np.mean(folds), rel=1e-12)


def test_settings_are_in_the_order_of_parameter_grid():
    """Keys sorted, the last key fastest, whatever the order of the dict; lists of dicts one
    after the other."""
    grid = [{"tol": [1e-3, 1e-4], "alpha": [3.0, 1.0]}, {"fit_intercept": [False]}]
    assert run(Family(Ridge(), grid)).settings == list(ParameterGrid(grid))


def test_each_choice_is_the_first_minimum_of_its_inner_curve():
    """chosen_index and chosen say the same thing."""
    result = run(neighbours, y=labels(), recipe=Recipe(5, 4))
    assert result.chosen_index.tolist() == [
        int(np.argmin(curve)) for curve in result.inner_curves
    ]
    assert result.chosen == [result.settings[s] for s in result.chosen_index]


def test_a_tie_goes_to_the_first_setting_in_grid_order():
    """Settings that do not matter tie everywhere: the first one is chosen, and the tied set
    is kept."""
    result = run(
        Family(DummyRegressor(), {"constant": [3.0, 2.0], "strategy": ["mean"]})
    )
    assert result.chosen_index.tolist() == [0, 0, 0]
    assert [tied.tolist() for tied in record_of(result).tied] == [[0, 1]] * 3
    assert result.chosen[0] == {"constant": 3.0, "strategy": "mean"}


def test_a_repeated_grid_point_ties_with_itself():
    """The first of two equal settings is chosen."""
    result = run(Family(Ridge(), {"alpha": [1000.0, 1.0, 1.0]}))
    assert result.chosen_index.tolist() == [1, 1, 1]
    assert [tied.tolist() for tied in record_of(result).tied] == [[1, 2]] * 3


def test_the_outer_loss_is_of_the_winner_refitted_on_the_whole_outer_training_part():
    """ε_j is the loss of θ_j fitted on all of S_-j."""
    result = run(ridges)
    for j, (train, test) in enumerate(result.plan.outer):
        model = Ridge(**result.chosen[j]).fit(table()[train], numbers()[train])
        loss = np.mean((numbers()[test] - model.predict(table()[test])) ** 2)
        assert result.fold_risks[j] == pytest.approx(loss, rel=1e-12)


# Flat, optimism, curves


def test_flat_is_the_smallest_mean_outer_curve():
    """flat=True fits every setting on every outer training part; optimism is risk - flat."""
    result = run(ridges, flat=True)
    assert result.outer_curves.shape == (3, 3)
    assert result.flat == result.outer_curves.mean(axis=0).min()
    assert result.optimism == result.risk - result.flat
    assert np.array_equal(
        result.outer_curves[np.arange(3), result.chosen_index], result.fold_risks
    )


def test_flat_equals_a_grid_search_on_the_outer_folds():
    """It is the best score of GridSearchCV(cv=outer), negated."""
    result = run(ridges, flat=True)
    cv = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(Ridge(), ALPHAS, cv=cv, scoring="neg_mean_squared_error").fit(
        table(), numbers()
    )
    assert result.flat == pytest.approx(-search.best_score_, rel=1e-12)


def test_flat_changes_no_other_number():
    """Risk, choices and inner curves are those without it, to the last bit."""
    one, other = run(ridges, flat=True), run(ridges)
    assert np.array_equal(one.fold_risks, other.fold_risks)
    assert np.array_equal(one.inner_curves, other.inner_curves)
    assert one.chosen == other.chosen


def test_without_refits_there_is_no_flat_estimate_of_several_outer_splits():
    """outer_curves, flat and optimism are None where they would cost refits."""
    result = run(ridges, path="refit")
    assert result.outer_curves is None
    assert result.flat is None
    assert result.optimism is None


def test_a_path_that_gives_every_setting_gives_the_flat_estimate_too():
    """outer_curves, flat and optimism are there without flat=True if they cost nothing."""
    free, flat = run(ridges), run(ridges, path="refit", flat=True)
    np.testing.assert_allclose(free.outer_curves, flat.outer_curves, rtol=1e-9)
    np.testing.assert_allclose(
        [free.flat, free.optimism], [flat.flat, flat.optimism], rtol=1e-9
    )


SHAPES = {  # outer splits, training parts, whether flat and risk are there
    "nested": (Recipe(3, 2), 3, 3, False, True),
    "train_validation_test": (Recipe.train_validation_test(), 1, 1, True, True),
    "cv_test": (Recipe.cv_test(inner=3), 1, 1, True, True),
    "nested_resampling": (Recipe.nested_resampling(4, 3), 4, 4, False, True),
    "internal_cv": (Recipe.internal_cv(3), 0, 1, True, False),
    "dev_set": (Recipe.dev_set(), 0, 1, True, False),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_follow_the_recipe(name):
    """One row of inner_curves per training part, one fold risk per outer split, however few
    there are."""
    recipe, n_outer, n_parts, flat, risk = SHAPES[name]
    result = run(ridges, recipe, path="refit")
    assert result.inner_curves.shape == (n_parts, 3)
    assert result.fold_risks.shape == (n_outer,)
    assert result.chosen_index.shape == (n_parts,)
    assert len(result.chosen) == n_parts
    assert (result.flat is not None) == flat
    assert (result.risk is not None) == risk
    assert (result.optimism is not None) == (flat and risk)


@pytest.mark.parametrize(
    "name", ["train_validation_test", "cv_test", "internal_cv", "dev_set"]
)
def test_the_flat_estimate_of_one_training_part_is_the_smallest_inner_loss(name):
    """With one outer split, or none, no other curve chose."""
    result = run(ridges, SHAPES[name][0])
    assert result.flat == result.inner_curves[0].min()


def test_external_cv_has_nothing_to_be_optimistic_about():
    """One setting: outer_curves is one column, flat is the risk, there is no inner curve."""
    result = run(Ridge(), Recipe.external_cv(4))
    assert result.inner_curves is None
    assert result.outer_curves.shape == (4, 1)
    assert (result.flat, result.optimism) == (result.risk, 0.0)
    assert result.chosen == [{}] * 4


def test_one_holdout_without_tuning_has_no_flat_estimate():
    """One outer split and no inner curve: flat and optimism are None."""
    result = run(Ridge(), Recipe.validation())
    assert (result.flat, result.optimism) == (None, None)
    assert result.risk == result.fold_risks[0]


def test_several_settings_without_an_inner_level_are_refused():
    """inner=None measures one setting; the message names internal_cv."""
    with pytest.raises(
        RecipeError,
        match=r"inner=None measures one setting, but the grid has 3; .*internal_cv",
    ):
        run(ridges, Recipe.external_cv(4))


QUANTITIES = {
    "nested": (
        Recipe(4, 3),
        "E[ℓ_D(A_θ̂(S))], |S| = 30, θ̂ chosen inside S by 3-fold CV",
    ),
    "unequal": (
        Recipe(3, 2),
        "E[ℓ_D(A_θ̂(S))], |S| = 26 to 27, θ̂ chosen inside S by 2-fold CV",
    ),
    "cv then test": (
        Recipe.cv_test(inner="loo"),
        "ℓ_D(A_θ̂(S)), |S| = 32, θ̂ chosen inside S by leave-one-out CV",
    ),
}


@pytest.mark.parametrize("name", QUANTITIES)
def test_the_quantity_names_the_training_size_and_the_inner_splitter(name):
    """A number is never shown without the name of what it estimates."""
    recipe, quantity = QUANTITIES[name]
    assert run(ridges, recipe).quantity == quantity


def test_the_quantity_of_one_setting_speaks_of_no_choice():
    """External CV estimates the risk of A, leave-one-out at m - 1 rows."""
    assert run(Ridge(), Recipe.external_cv(4)).quantity == "E[ℓ_D(A(S))], |S| = 30"
    assert run(Ridge(), Recipe.leave_one_out()).quantity == "E[ℓ_D(A(S))], |S| = 39"
    assert run(Ridge(), Recipe.validation()).quantity == "ℓ_D(A(S)), |S| = 32"


def test_the_quantity_of_tuning_alone_says_that_nothing_is_measured():
    """internal_cv and dev_set have no risk, and say so; their loss is one at the inner
    training size."""
    result = run(ridges, Recipe.internal_cv(4))
    assert result.risk is None
    assert result.quantity == (
        "nothing is measured outside S; the smallest inner loss is optimistic for "
        "E[ℓ_D(A_θ̂(T))], |T| = 30 of |S| = 40, θ̂ chosen inside S by 4-fold CV"
    )
    assert "|T| = 26 to 27 of |S| = 40," in run(ridges, Recipe.internal_cv(3)).quantity
    assert (
        "optimistic for ℓ_D(A_θ̂(T)), |T| = 30 of |S| = 40"
        in run(ridges, Recipe.dev_set(0.25)).quantity
    )


@pytest.mark.parametrize("scoring", [None, "r2"])
def test_one_setting_without_an_outer_level_is_not_called_optimistic(scoring):
    """Nothing is minimised, so the inner loss estimates the risk at the inner training
    size, in every place that names it."""
    result = run(Ridge(), Recipe.internal_cv(4), scoring=scoring)
    assert result.quantity == (
        "one setting; the inner loss by 4-fold CV estimates E[ℓ_D(A(T))], |T| = 30 of |S| = 40"
    )
    assert result.flat == result.inner_curves[0, 0]
    for text in (repr(result), methods_of(result), repr(Comparison({"ridge": result}))):
        assert "optimistic" not in text
        assert "smallest" not in text
        assert "largest" not in text
    assert "after training on 30 rows" in methods_of(result)


def test_scores_are_given_back_as_scores():
    """scoring= is kept as loss = -score (1 - accuracy); score and fold_scores have their
    own direction."""
    result = run(neighbours, y=labels(), scoring="accuracy")
    np.testing.assert_allclose(result.fold_scores, 1 - result.fold_risks)
    assert result.score == pytest.approx(1 - result.risk)
    result = run(ridges, scoring="r2")
    np.testing.assert_allclose(result.fold_scores, -result.fold_risks)
    assert result.score > 0 > result.risk


def test_without_scoring_there_are_no_scores():
    """A loss is never called a score."""
    result = run(ridges)
    assert result.score is None
    assert result.fold_scores is None


# Predictions


def test_predictions_are_out_of_fold_in_row_order():
    """Every row was tested once: a plain array."""
    result = run(Ridge(), Recipe.external_cv(4))
    expected = cross_val_predict(
        Ridge(), table(), numbers(), cv=KFold(4, shuffle=True, random_state=0)
    )
    assert type(result.predictions) is np.ndarray
    np.testing.assert_allclose(result.predictions, expected, rtol=1e-12)


def test_rows_that_were_never_tested_have_no_prediction():
    """After one holdout the other rows are masked."""
    result = run(ridges, Recipe.cv_test(inner=3))
    tested = result.plan.outer[0][1]
    assert result.predictions.shape == (40,)
    assert np.flatnonzero(~np.ma.getmaskarray(result.predictions)).tolist() == sorted(
        tested
    )


def test_rows_that_were_tested_twice_have_a_prediction_per_outer_split():
    """Overlapping test parts give a masked array [outer splits, rows]."""
    result = run(ridges, Recipe.nested_resampling(3, 2))
    assert result.predictions.shape == (3, 40)
    for row, (_, test) in zip(result.predictions, result.plan.outer, strict=True):
        assert np.flatnonzero(~np.ma.getmaskarray(row)).tolist() == sorted(test)


def test_predictions_have_the_labels_of_y():
    """Words in, words out."""
    words = np.array(["no", "yes"])[labels()]
    result = run(neighbours, y=words)
    assert set(result.predictions) <= {"no", "yes"}
    np.testing.assert_allclose(
        [
            np.mean(result.predictions[test] != words[test])
            for _, test in result.plan.outer
        ],
        result.fold_risks,
    )


def test_a_loss_of_probabilities_keeps_labels_as_predictions():
    """predictions are what predict says, also where log measures."""
    result = run(
        Family(LogisticRegression(), {"C": [0.1, 1.0]}), y=labels(), loss="log"
    )
    assert set(result.predictions) <= {0, 1}


# Notes


def test_an_edge_of_the_grid_is_counted_over_all_outer_splits():
    """The note names the parameter, the value, the side and how often it was chosen."""
    result = run(Family(Ridge(), {"alpha": [1e6, 1e7, 1.0]}), Recipe(4, 3))
    assert (
        "alpha=1, the lower edge of its grid, was chosen in 4 of 4 outer splits."
        in result.notes
    )
    assert not any("upper" in note for note in result.notes)


def test_each_edge_is_counted_by_itself():
    """Choices at both edges give a note each, and the numbers add up."""
    result = run(Family(KNeighborsRegressor(), {"n_neighbors": [3, 4]}), Recipe(8, 3))
    counts = Counter(setting["n_neighbors"] for setting in result.chosen)
    for value, side in ((3, "lower"), (4, "upper")):
        if counts[value]:
            note = (
                f"n_neighbors={value}, the {side} edge of its grid, was chosen in "
                f"{counts[value]} of 8 outer splits."
            )
            assert note in result.notes


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (Ridge(), {"alpha": [1.0]}),
        (Ridge(), {"fit_intercept": [True, False]}),
        (KNeighborsRegressor(), {"weights": ["uniform", "distance"]}),
        (Ridge(), {"alpha": [1e-9, 1.0, 1e9]}),
        (KNeighborsRegressor(), {"metric": ["euclidean"], "p": [2]}),
    ],
    ids=["one value", "truth values", "words", "inside", "single values"],
)
def test_what_has_no_edge_gets_no_note(estimator, grid):
    """Axes of one value or without an order, and choices inside the grid, are not remarked on."""
    assert not any("edge" in note for note in run(Family(estimator, grid)).notes)


def test_ties_are_noted_once_with_their_number():
    """How many settings tie, in how many outer splits, and who was taken."""
    result = run(Family(DummyRegressor(), {"constant": [3.0, 2.0, 1.0]}))
    ties = [note for note in result.notes if "tie" in note]
    assert ties == [
        "3 settings tie at the minimum in 3 of 3 outer splits: the first in grid order was taken."
    ]


def test_a_clear_choice_is_not_noted():
    """No edge, no tie, no failure: no note."""
    assert run(Family(Ridge(), {"alpha": [1e-9, 1.0, 1e9]})).notes == []


def test_the_notes_of_the_plan_are_notes_of_the_result():
    """A class that is too small is remembered."""
    y = np.repeat(["a", "b", "c"], [19, 19, 2])
    with pytest.warns(CvnbWarning, match="Class 'c' has 2 rows"):
        result = run(DummyClassifier(), Recipe.external_cv(4), y=y)
    assert any("Class 'c' has 2 rows" in note for note in result.notes)


# Failures


class Fails(RegressorMixin, BaseEstimator):
    """A mean that fails on the parts given to it."""

    def __init__(self, when="never", shift=0.0):
        self.when = when
        self.shift = shift

    def fit(self, X, y):
        if self.when == "fit" or (self.when == "large" and len(y) > 20):
            raise RuntimeError(f"no luck with {self.shift}")
        self.mean_ = float(np.mean(y)) + self.shift
        return self

    def predict(self, X):
        if self.when == "predict":
            raise ZeroDivisionError("no predictions")
        return np.full(len(X), np.nan if self.when == "nan" else self.mean_)


def failing(when):
    """A setting that would win, did it not fail, and one that works."""
    return Family(Fails(), [{"when": [when]}, {"when": ["never"], "shift": [5.0]}])


@pytest.mark.parametrize(
    ("when", "cause"),
    [
        ("fit", "RuntimeError: no luck"),
        ("predict", "ZeroDivisionError"),
        ("nan", "nan"),
    ],
)
def test_a_setting_that_fails_costs_itself_a_note_and_is_never_chosen(when, cause):
    """The note names setting, split and exception; the other settings have their numbers."""
    result = run(failing(when))
    assert result.chosen_index.tolist() == [1, 1, 1]
    assert np.isnan(result.inner_curves[:, 0]).all()
    alone = run(Family(Fails(), {"when": ["never"], "shift": [5.0]}))
    assert np.array_equal(result.fold_risks, alone.fold_risks)
    (note,) = [note for note in result.notes if "failed" in note]
    assert (
        f"when={when!r} failed in inner fold 1 of outer fold 1 and 5 more folds" in note
    )
    assert cause in note


def test_a_failure_shows_no_warning():
    """What went wrong is a note, not a warning that scrolls away."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(failing("fit")).complete


def test_a_setting_that_fails_in_one_inner_split_only_is_out_for_that_outer_split():
    """A mean over fewer folds would be another curve: the setting is NaN there and present
    elsewhere."""
    outer = [(range(0, 18), range(30, 40)), (range(0, 30), range(30, 40))]
    inner = [
        [(range(0, 9), range(9, 18)), (range(9, 18), range(0, 9))],
        [(range(0, 25), range(25, 30)), (range(9, 18), range(0, 9))],
    ]
    result = run(failing("large"), Recipe(outer=outer, inner=inner))
    assert np.isnan(result.inner_curves[:, 0]).tolist() == [False, True]
    assert result.chosen_index.tolist() == [0, 1]


def test_a_choice_that_fails_on_the_whole_training_part_gives_way_to_the_next_best():
    """Fits of 13 rows work, those of 26 do not: the second best is measured, and the note
    says why."""
    result = run(failing("large"), Recipe(3, 2))
    assert not np.isnan(result.inner_curves).any()
    assert np.all(result.inner_curves[:, 0] < result.inner_curves[:, 1])
    assert result.chosen_index.tolist() == [1, 1, 1]
    assert np.isfinite(result.fold_risks).all()
    assert any(
        "failed in outer fold 1 and 2 more folds" in note for note in result.notes
    )


def test_a_run_in_which_every_setting_fails_is_one_error_that_counts_the_causes():
    """The first split in which all fail ends the run; causes that differ in numbers are one."""
    with pytest.raises(FitError, match="every setting failed") as caught:
        run(Family(Fails(), {"when": ["fit"], "shift": [1.0, 2.0]}))
    assert str(caught.value) == (
        "every setting failed in inner fold 1 of outer fold 1, so nothing can be chosen "
        "there: RuntimeError: no luck with 1.0."
    )


def test_a_single_setting_that_fails_outside_is_an_error():
    """External CV of an estimator that cannot be fitted measures nothing."""
    with pytest.raises(FitError, match="no luck"):
        run(Fails("fit"), Recipe.external_cv(3))


def test_every_choice_failing_on_the_whole_training_part_is_an_error():
    """There is no next best."""
    with pytest.raises(FitError, match="no luck with"):
        run(Family(Fails("large"), {"shift": [1.0, 2.0]}), Recipe(3, 2))


def test_failures_are_the_same_with_workers():
    """n_jobs=2 tells the same notes and the same numbers."""
    one, other = run(failing("large")), run(failing("large"), n_jobs=2)
    assert one.notes == other.notes
    assert np.array_equal(one.fold_risks, other.fold_risks)


class Warns(Ridge):
    """A ridge regression that warns in every fit."""

    def fit(self, X, y, sample_weight=None):
        warnings.warn("this is\n  noise", UserWarning, stacklevel=2)
        return super().fit(X, y)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_equal_warnings_are_one_note_with_a_count(n_jobs):
    """3 × (2 × 2 + 1) fits warn: one sentence, and nothing on the screen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(Family(Warns(), {"alpha": [1.0, 2.0]}), n_jobs=n_jobs)
    assert [note for note in result.notes if "noise" in note] == [
        "UserWarning: this is noise (15 times)"
    ]


# How often what is fitted


FITS = Counter()


class Counts(TransformerMixin, BaseEstimator):
    """A transformer that counts its fits by setting."""

    def __init__(self, keep=3):
        self.keep = keep

    def fit(self, X, y=None):
        FITS[f"transformer {self.keep}"] += 1
        self.centre_ = np.mean(X, axis=0)
        return self

    def transform(self, X):
        return (X - self.centre_)[:, : self.keep]


class CountsToo(Ridge):
    """A ridge regression that counts its fits."""

    def fit(self, X, y, sample_weight=None):
        FITS["model"] += 1
        return super().fit(X, y, sample_weight)


def counted(family, recipe, **options):
    """The result, and how often what was fitted."""
    FITS.clear()
    result = run(family, recipe, **options)
    return result, dict(FITS)


def test_a_transformer_is_fitted_once_per_split_and_not_once_per_setting_of_the_model():
    """3 outer × 2 inner splits and the refit of 3 winners: 9 fits of the transformer, 33 of
    the model."""
    family = Family(
        make_pipeline(Counts(), CountsToo()),
        {"countstoo__alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]},
    )
    _, fits = counted(family, Recipe(3, 2))
    assert fits == {"transformer 3": 3 * 2 + 3, "model": 3 * (2 * 5 + 1)}


def test_a_transformer_is_fitted_once_per_split_and_setting_of_its_own():
    """Three settings of the transformer times four of the model: the transformer is not
    fitted twelve times."""
    grid = {"countstoo__alpha": [0.1, 1.0, 10.0, 100.0], "counts__keep": [1, 2, 3]}
    result, fits = counted(
        Family(make_pipeline(Counts(), CountsToo()), grid), Recipe(3, 2)
    )
    winners = Counter(setting["counts__keep"] for setting in result.chosen)
    assert fits == {"model": 3 * (2 * 12 + 1)} | {
        f"transformer {k}": 3 * 2 + winners[k] for k in (1, 2, 3)
    }


def test_the_order_of_the_keys_does_not_matter_to_the_sharing():
    """The transformer's own key may be the fastest of the grid: it is still fitted once per
    setting of its own."""
    pipeline = make_pipeline(Counts(), CountsToo())
    pipeline.steps = [("z", pipeline.steps[0][1]), ("a", pipeline.steps[1][1])]
    _, fits = counted(
        Family(pipeline, {"a__alpha": [0.1, 1.0, 10.0], "z__keep": [1, 2]}),
        Recipe.internal_cv(4),
    )
    assert fits == {"model": 4 * 6, "transformer 1": 4, "transformer 2": 4}


def test_a_chain_of_transformers_shares_as_far_as_settings_agree():
    """The first of two transformers is fitted once per split, the second once per setting
    of its own."""
    pipeline = make_pipeline(Counts(2), MinMaxScaler(), Counts(), CountsToo())
    grid = {"counts-2__keep": [1, 3], "countstoo__alpha": [0.1, 1.0]}
    _, fits = counted(Family(pipeline, grid), Recipe.internal_cv(4))
    assert fits == {
        "model": 16,
        "transformer 2": 4,
        "transformer 1": 4,
        "transformer 3": 4,
    }


def test_flat_fits_every_setting_on_every_outer_training_part_once():
    """3 × (2 × 5 + 5) model fits and 3 × (2 + 1) transformer fits; the winner is not fitted
    twice."""
    family = Family(
        make_pipeline(Counts(), CountsToo()),
        {"countstoo__alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]},
    )
    _, fits = counted(family, Recipe(3, 2), flat=True)
    assert fits == {"model": 3 * (2 * 5 + 5), "transformer 3": 3 * 3}


def test_a_run_fits_nothing_for_the_final_predictor_until_it_is_asked_for():
    """J (K C + 1) fits, then K C + 1 more for the predictor, and none for asking the
    setting again."""
    result, fits = counted(Family(CountsToo(), ALPHAS), Recipe(3, 2))
    assert fits["model"] == 3 * (2 * 3 + 1)
    result.predictor()
    assert FITS["model"] == 3 * (2 * 3 + 1) + 2 * 3 + 1
    assert result.final_setting in result.settings
    assert FITS["model"] == 3 * (2 * 3 + 1) + 2 * 3 + 1


def test_reading_a_result_fits_nothing():
    """Everything shown is arithmetic over the losses."""
    result, _ = counted(Family(CountsToo(), ALPHAS), Recipe(3, 2))
    FITS.clear()
    for name in (
        "risk",
        "flat",
        "optimism",
        "notes",
        "quantity",
        "predictions",
        "inner_curves",
        "outer_curves",
    ):
        getattr(result, name)
    repr(result), result.to_frame(), result.code()
    assert not FITS


def test_sharing_transformers_changes_no_number():
    """The numbers are those of cross_validate(GridSearchCV), which fits the whole pipeline
    every time."""
    pipeline = make_pipeline(StandardScaler(), PCA(), Ridge())
    grid = {"pca__n_components": [1, 2, 3], "ridge__alpha": [0.1, 10.0]}
    search = GridSearchCV(
        pipeline,
        grid,
        cv=KFold(2, shuffle=True, random_state=1),
        scoring="neg_mean_squared_error",
    )
    cv = KFold(3, shuffle=True, random_state=0)
    expected = cross_validate(
        search,
        table(),
        numbers(),
        cv=cv,
        scoring="neg_mean_squared_error",
        return_estimator=True,
    )
    result = run(Family(pipeline, grid))
    np.testing.assert_allclose(result.fold_risks, -expected["test_score"], rtol=1e-10)
    assert result.chosen == [one.best_params_ for one in expected["estimator"]]


def test_a_step_that_the_grid_replaces_is_not_shared_with_another():
    """Scalers put in by the grid are kept apart, "passthrough" among them."""
    pipeline = make_pipeline(StandardScaler(), KNeighborsRegressor())
    grid = {
        "standardscaler": [StandardScaler(), MinMaxScaler(), "passthrough"],
        "kneighborsregressor__n_neighbors": [2, 5],
    }
    result = run(Family(pipeline, grid), Recipe.internal_cv(KFold(3)))
    search = GridSearchCV(
        pipeline, grid, cv=KFold(3), scoring="neg_mean_squared_error"
    ).fit(table(), numbers())
    np.testing.assert_allclose(
        result.inner_curves[0], -search.cv_results_["mean_test_score"], rtol=1e-10
    )


def test_a_pipeline_with_memory_gives_the_same_numbers(tmp_path):
    """A cache of the pipeline's own is no obstacle."""
    grid = {"ridge__alpha": [0.1, 10.0]}
    cached = run(
        Family(make_pipeline(StandardScaler(), Ridge(), memory=str(tmp_path)), grid)
    )
    assert np.array_equal(
        cached.fold_risks,
        run(Family(make_pipeline(StandardScaler(), Ridge()), grid)).fold_risks,
    )


# The same numbers again


RANDOM = {
    "forest": Family(RandomForestClassifier(n_estimators=4), {"max_depth": [1, 3]}),
    "pipeline": Family(
        make_pipeline(PCA(2, svd_solver="randomized"), SGDClassifier()),
        {"sgdclassifier__alpha": [0.1, 1.0]},
    ),
    "generator": Family(
        RandomForestClassifier(4, random_state=np.random.RandomState(3)),
        {"max_depth": [1, 3]},
    ),
    "short-hand": forest(n_estimators=[2, 4]),
}


@pytest.mark.parametrize("name", RANDOM)
def test_the_number_of_workers_changes_no_bit(name):
    """n_jobs=2 equals n_jobs=None, also where random_state=None draws from the global state."""
    recipe = Recipe(3, 2, seed=1)
    one, two = (
        run(RANDOM[name], recipe, y=labels(), flat=True, n_jobs=n_jobs)
        for n_jobs in (None, 2)
    )
    assert np.array_equal(one.inner_curves, two.inner_curves)
    assert np.array_equal(one.outer_curves, two.outer_curves)
    assert np.array_equal(one.predictions, two.predictions)
    assert one.chosen == two.chosen


@pytest.mark.parametrize("name", RANDOM)
def test_a_run_gives_the_same_numbers_again(name):
    """Whatever was drawn from the global state in between."""
    first = run(RANDOM[name], y=labels())
    np.random.seed(11)  # noqa: NPY002
    second = run(RANDOM[name], y=labels())
    assert np.array_equal(first.fold_risks, second.fold_risks)


def test_equal_settings_of_a_model_without_a_seed_are_equal():
    """A repeated grid point moves nothing: all settings of a split draw the same random
    numbers, other splits draw others."""
    result = run(
        Family(RandomForestRegressor(3), {"max_depth": [None, None]}), Recipe(3, 3)
    )
    assert np.array_equal(result.inner_curves[:, 0], result.inner_curves[:, 1])
    assert np.unique(result.inner_curves[:, 0]).size == 3


def test_the_numbers_do_not_depend_on_the_other_settings():
    """A random setting alone in its grid, first in it, gives the numbers that it gives
    among others."""
    alone = run(
        Family(RandomForestRegressor(3), {"max_depth": [2]}), Recipe.internal_cv(3)
    )
    among = run(
        Family(RandomForestRegressor(3), {"max_depth": [2, 3]}), Recipe.internal_cv(3)
    )
    assert np.array_equal(alone.inner_curves[:, 0], among.inner_curves[:, 0])


def test_the_global_random_state_is_left_alone():
    """After a run, an error and an interrupt, it is where it was."""
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    run(RANDOM["forest"], y=labels())
    with pytest.raises(FitError, match="every setting failed"):
        run(Family(Fails("fit"), {"shift": [1.0]}))
    assert finished_part(lambda: run(Stops(after=0), Recipe.external_cv(3))) is None
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# Interrupt


class Stops(RandomForestRegressor):
    """A random forest that is interrupted in a fit to come."""

    left = 0

    def __init__(self, max_depth=1, after=None, n_estimators=2):
        super().__init__(n_estimators=n_estimators, max_depth=max_depth)
        self.after = after

    def fit(self, X, y, sample_weight=None):
        if self.after is not None:
            FITS["stops"] += 1
            if FITS["stops"] > self.after:
                raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def stopped(after, recipe, grid=None, **options):
    """The finished part of a run that is interrupted in the fit after so many."""
    FITS.clear()
    family = Family(Stops(after=after), {"max_depth": [1, 2]} if grid is None else grid)
    return finished_part(lambda: run(family, recipe, **options))


def whole(recipe, grid=None, **options):
    """The same run left alone."""
    return run(
        Family(Stops(), {"max_depth": [1, 2]} if grid is None else grid),
        recipe,
        **options,
    )


@pytest.mark.parametrize("after", range(7, 35))
def test_an_interrupt_leaves_the_outer_splits_that_were_finished(after):
    """Five outer splits of 3 × 2 + 1 fits each: what was finished has the numbers of the
    whole run."""
    recipe = Recipe(5, 3)
    full = whole(recipe)
    part = stopped(after, recipe)
    n = len(part.fold_risks)
    assert n == after // 7
    assert part.complete is False
    assert np.array_equal(part.fold_risks, full.fold_risks[:n])
    assert np.array_equal(part.inner_curves, full.inner_curves[:n])
    assert part.chosen == full.chosen[:n]
    assert part.risk == full.fold_risks[:n].mean()


def test_an_interrupted_result_says_so_everywhere():
    """complete, the notes, the quantity and the repr; the frame has the finished splits,
    the rest is masked."""
    part = stopped(20, Recipe(5, 3))
    n = len(part.fold_risks)
    assert 0 < n < 5
    assert part.complete is False
    assert any(f"{n} of 5 outer splits" in note for note in part.notes)
    assert f"{n} of 5 outer splits" in part.quantity
    assert "nterrupted" in repr(part)
    assert len(part.to_frame()) == n
    assert part.predictions.count() == sum(test.size for _, test in part.plan.outer[:n])
    assert len(part.plan.outer) == 5


def test_an_interrupted_flat_run_keeps_its_curves():
    """outer_curves of the finished splits; flat and optimism are over those."""
    full, part = whole(Recipe(5, 3), flat=True), stopped(25, Recipe(5, 3), flat=True)
    n = len(part.fold_risks)
    assert 0 < n < 5
    assert np.array_equal(part.outer_curves, full.outer_curves[:n])
    assert part.optimism == part.risk - part.flat


def test_an_interrupted_external_cv_keeps_its_folds():
    """Without an inner level as well."""
    part = stopped(3, Recipe.external_cv(5), grid={})
    assert len(part.fold_risks) == 3
    assert np.array_equal(
        part.fold_risks, whole(Recipe.external_cv(5), grid={}).fold_risks[:3]
    )


def test_an_interrupted_result_survives_pickling():
    """It can be kept like any other."""
    part = pickle.loads(pickle.dumps(stopped(20, Recipe(5, 3))))
    assert part.complete is False


@pytest.mark.parametrize(
    ("recipe", "after"),
    [
        (Recipe(5, 3), 0),
        (Recipe(5, 3), 5),
        (Recipe.internal_cv(4), 5),
        (Recipe.cv_test(inner=3), 5),
        (Recipe.cv_test(inner=3), 6),
        (Recipe.dev_set(), 1),
    ],
    ids=str,
)
def test_an_interrupt_before_the_first_outer_split_leaves_an_empty_result(
    recipe, after
):
    """No losses, no risk, no choice; every number and every display is there all the same,
    and says what it is."""
    assert stopped(after, recipe) is None
    FITS.clear()
    result = shown_part(
        recipe, Family(Stops(after=after), {"max_depth": [1, 2]}), table(), numbers()
    )
    assert result.complete is False
    assert (result.risk, result.flat, result.optimism, result.score) == (
        None,
        None,
        None,
        None,
    )
    assert (result.fold_risks.shape, result.chosen, result.chosen_index.shape) == (
        (0,),
        [],
        (0,),
    )
    assert result.inner_curves.shape == (0, 2)
    assert result.outer_curves is None
    assert result.predictions.mask.all()
    assert any(note.startswith("Interrupted: ") for note in result.notes)
    assert "–" in repr(result).splitlines()[0]
    assert "<table" in result._repr_mimebundle_()[0]["text/html"]
    assert len(result.to_frame()) == 0
    with pytest.raises(CvnbError, match=r"outside S|no outer split was finished"):
        result.interval()


def test_an_interrupt_ends_a_comparison():
    """Families that come after the interrupted one are not started; those before it are whole."""
    FITS.clear()
    stops = Family(Stops(after=20), {"max_depth": [1, 2]})
    comparison = finished_part(
        lambda: run(
            {"first": ridges, "stops": stops, "next": Family(CountsToo(), ALPHAS)},
            Recipe(5, 3),
        )
    )
    assert FITS["model"] == 0
    assert list(comparison) == ["first", "stops"]
    assert (
        comparison["first"].complete,
        comparison["stops"].complete,
        comparison.complete,
    ) == (True, False, False)
    assert len(comparison["stops"].fold_risks) == 2


# A record


def test_the_frame_has_a_row_per_outer_split():
    """Sizes, the choice, its inner loss and its outer loss."""
    result = run(ridges)
    frame = result.to_frame()
    assert list(frame.columns) == [
        "split",
        "n_train",
        "n_test",
        "alpha",
        "inner_loss",
        "outer_loss",
    ]
    assert frame["split"].tolist() == [0, 1, 2]
    assert frame["n_train"].tolist() == [train.size for train, _ in result.plan.outer]
    assert frame["n_test"].tolist() == [test.size for _, test in result.plan.outer]
    assert frame["alpha"].tolist() == [setting["alpha"] for setting in result.chosen]
    assert (
        frame["inner_loss"].tolist()
        == result.inner_curves[np.arange(3), result.chosen_index].tolist()
    )
    assert frame["outer_loss"].tolist() == result.fold_risks.tolist()


def test_the_frame_of_tuning_alone_has_one_row():
    """internal_cv: no test rows and no outer loss."""
    frame = run(ridges, Recipe.internal_cv(3)).to_frame()
    assert frame["n_train"].tolist() == [40]
    assert frame["n_test"].tolist() == [0]
    assert frame["outer_loss"].isna().all()


def test_the_frame_of_one_setting_has_no_inner_loss():
    """External CV chooses nothing."""
    frame = run(Ridge(), Recipe.external_cv(4)).to_frame()
    assert frame["inner_loss"].isna().all()
    assert len(frame) == 4


def test_the_frame_of_a_list_of_grids_leaves_out_what_a_setting_does_not_have():
    """A missing parameter is missing in that row."""
    grid = [{"alpha": [1e9]}, {"fit_intercept": [True]}]
    frame = run(Family(Ridge(), grid)).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["fit_intercept"].tolist() == [True] * 3


CODED = {
    "ridge": (ridges, Recipe(3, 2), {}),
    "pipeline": (
        Family(
            make_pipeline(StandardScaler(), KNeighborsRegressor(weights="distance")),
            {"kneighborsregressor__n_neighbors": [1, 5]},
        ),
        Recipe(outer=4, inner=3, seed=5, shuffle=False),
        {"flat": True},
    ),
    "one setting": (
        Family(Lasso(alpha=0.1)),
        Recipe.external_cv(4),
        {"loss": "absolute"},
    ),
    "array grid": (Family(Ridge(), {"alpha": np.logspace(-2, 2, 5)}), Recipe(3, 2), {}),
    "range grid": (
        Family(KNeighborsRegressor(), {"n_neighbors": range(1, 8, 2)}),
        Recipe(3, 2),
        {},
    ),
    "list of grids": (
        Family(Ridge(), [{"alpha": [0.1]}, {"fit_intercept": [False], "alpha": [1.0]}]),
        Recipe(3, 2),
        {},
    ),
    "estimators in the grid": (
        Family(
            make_pipeline(StandardScaler(), Ridge()),
            {"standardscaler": [MinMaxScaler((0, 2)), "passthrough"]},
        ),
        Recipe(3, 2),
        {},
    ),
    "named": (Family(Ridge(), ALPHAS, name="my ridge"), Recipe(3, 2), {}),
    "grid search": (
        Family(
            GridSearchCV(Ridge(), ALPHAS, cv=KFold(3, shuffle=True, random_state=4))
        ),
        Recipe(3),
        {},
    ),
    "grid search by a number": (
        Family(GridSearchCV(Ridge(), ALPHAS, cv=3)),
        Recipe(3),
        {},
    ),
    "grid search with scoring": (
        Family(GridSearchCV(Ridge(), ALPHAS, scoring="neg_mean_absolute_error")),
        Recipe(3, 2),
        {},
    ),
    "short-hand": (ridge(alpha=[0.1, 1.0], scale=False), Recipe(3, 2), {}),
    "short-hand by default": (knn(), Recipe(3, 2), {}),
    "short-hand with a range": (
        knn(k=range(1, 5), metric="manhattan"),
        Recipe(3, 2),
        {},
    ),
    "splitters": (
        ridges,
        Recipe(outer=ShuffleSplit(3, random_state=1), inner=KFold(3)),
        {},
    ),
    "lists": (
        ridges,
        Recipe(
            outer=[(np.arange(20), np.arange(20, 40))], inner=[[([0, 1, 2, 3], [4, 5])]]
        ),
        {},
    ),
    "iterators": (
        ridges,
        Recipe(outer=iter([(range(20), range(20, 40))]), inner=2),
        {},
    ),
    "time": (ridges, Recipe(outer=3, inner=2, time_ordered=True, buffer=1), {}),
    "test rows": (ridges, Recipe(test_rows=np.arange(5), dev_rows=[7, 8, 9]), {}),
    "resampling": (ridges, Recipe.nested_resampling(3, 2), {}),
    "train_validation_test": (ridges, Recipe.train_validation_test(), {}),
    "nested_dev": (ridges, Recipe.nested_dev(4), {}),
    "scoring": (ridges, Recipe(3, 2), {"scoring": "r2"}),
    "neg scoring": (ridges, Recipe(3, 2), {"scoring": "neg_mean_absolute_error"}),
    "scorer": (
        ridges,
        Recipe(3, 2),
        {"scoring": make_scorer(mean_absolute_error, greater_is_better=False)},
    ),
    "groups and weights": (
        ridges,
        Recipe(3, 2),
        {"groups": np.arange(40) // 4, "sample_weight": np.linspace(1, 2, 40)},
    ),
}


@pytest.mark.parametrize("name", CODED)
def test_the_code_of_a_result_makes_it_again(name):
    """Executed with X and y (groups and weights) at hand, it gives the same risk, plan and
    settings."""
    family, recipe, options = CODED[name]
    result = run(family, recipe, **options)
    names = {
        "X": table(),
        "y": numbers(),
        **{k: options[k] for k in ("groups", "sample_weight") if k in options},
    }
    exec(compile(result.code(), "<code>", "exec"), names)
    again = names["result"]
    assert again.risk == result.risk
    assert again.plan == result.plan
    assert repr(again.settings) == repr(result.settings)
    assert again.flat == result.flat
    assert record_of(again).loss.name == record_of(result).loss.name


def test_the_code_of_a_classification_makes_it_again():
    """Words as labels and a logistic short-hand."""
    words = np.array(["no", "yes"])[labels()]
    result = run(logistic(C=[0.1, 1.0]), y=words, loss="log")
    names = {"X": table(), "y": words}
    exec(compile(result.code(), "<code>", "exec"), names)
    assert names["result"].risk == result.risk


def test_the_code_is_short_and_the_same_every_time():
    """A few lines without an address."""
    codes = {run(ridges).code() for _ in range(2)}
    assert len(codes) == 1
    code = codes.pop()
    assert len(code.splitlines()) <= 8
    assert "0x" not in code


PICKLED = {
    "ridge": ridges,
    "pipeline": Family(
        make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0, 2.0]}
    ),
    "short-hand": knn(k=[1, 3]),
    "grid search": Family(GridSearchCV(Ridge(), ALPHAS, cv=3)),
}


@pytest.mark.parametrize("name", PICKLED)
def test_a_result_survives_pickling(name):
    """Numbers, plan, notes, text and predictor are there on the other side."""
    result = run(PICKLED[name])
    again = pickle.loads(pickle.dumps(result))
    assert again.risk == result.risk
    assert again.plan == result.plan
    assert again.notes == result.notes
    assert repr(again) == repr(result)
    assert np.array_equal(
        again.predictor().predict(table()), result.predictor().predict(table())
    )


def test_a_result_cannot_be_changed():
    """Neither by assignment nor through the arrays and lists that it hands out."""
    result = run(ridges, flat=True)
    risk, curves, settings = result.risk, result.inner_curves.copy(), result.settings
    with pytest.raises(AttributeError, match="risk"):
        result.risk = 0.0
    result.fold_risks[:] = 99.0
    result.inner_curves[:] = 99.0
    result.outer_curves[:] = 99.0
    result.chosen_index[:] = 2
    result.settings[0]["alpha"] = 99.0
    result.chosen[0]["alpha"] = 99.0
    result.predictions[:] = 99.0
    assert result.risk == risk
    assert np.array_equal(result.inner_curves, curves)
    assert result.settings == settings
    assert result.outer_curves.max() < 99.0
    assert not np.all(result.predictions == 99.0)


PRINT_RESULTS = """
import numpy as np
from sklearn.linear_model import Ridge
from cvnb import Family, Recipe, knn
X = np.random.default_rng(0).normal(size=(30, 2))
for family in (Family(Ridge(), {"alpha": [1.0, 2.0]}), knn(k=[1, 3])):
    for y in (X[:, 0], np.array([f"w{i}" for i in range(3)])[np.arange(30) % 3]):
        if y.dtype.kind == "f" or family.label == "knn":
            result = Recipe(3, 2).run(family, X, y)
            print(repr(result), result.quantity, result.notes, result.code(), result.plan)
"""


def test_the_text_of_a_result_is_the_same_in_every_process():
    """No seconds, ids or addresses, and no order of Python's hashes."""
    texts = []
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", PRINT_RESULTS],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    assert "0x" not in texts[0]


def test_the_text_of_a_result_names_risk_loss_quantity_and_choices():
    """The number is shown with the name of what it estimates."""
    result = run(ridges)
    text = repr(result)
    assert scale_of(result).write(result.risk) in text
    assert "mean squared error" in text
    assert result.quantity in text
    assert text == repr(run(ridges))


def test_path_and_reason_say_what_ran():
    """Whatever is not recognised takes the refit path, and the result says why."""
    result = run(Fails())
    assert result.path == "refit"
    assert result.path_reason.strip()


# Options


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("select", "best"),
        ("path", "fast"),
        ("progress", "loud"),
        ("select", None),
        ("progress", True),
    ],
)
def test_an_unknown_option_is_refused_naming_the_known_ones(option, value):
    """select, path and progress have few words."""
    with pytest.raises(InputError, match=rf"{option}={value!r} is not known; use "):
        run(ridges, **{option: value})


@pytest.mark.parametrize("n_jobs", [0, "2", 1.5])
def test_a_number_of_workers_that_joblib_does_not_take_is_refused_by_name(n_jobs):
    """n_jobs is a whole number other than 0, or None."""
    with pytest.raises(InputError, match=f"n_jobs={n_jobs!r}"):
        run(ridges, n_jobs=n_jobs)


def test_a_misspelt_option_is_refused():
    """run takes no unknown keyword."""
    with pytest.raises(TypeError, match="sample_weights"):
        run(ridges, sample_weights=np.ones(40))


@pytest.mark.parametrize(
    "family",
    [
        ridges,
        (Ridge(), ALPHAS),
        GridSearchCV(Ridge(), ALPHAS),
        Family(GridSearchCV(Ridge(), ALPHAS, refit=False)),
    ],
    ids=["family", "pair", "grid search", "family of a grid search"],
)
def test_whatever_stands_for_a_family_runs(family):
    """A Family, an (estimator, grid) pair and a GridSearchCV are one thing to a run."""
    assert run(family).risk == run(ridges).risk


def test_a_run_is_silent(capsys):
    """progress="off" prints nothing, and a short run prints nothing either."""
    run(ridges)
    run(ridges, progress="auto")
    assert capsys.readouterr() == ("", "")


# Comparisons


def compared(recipe=None, **options):
    """Two families on one plan."""
    families = {
        "ridge": ridges,
        "neighbours": Family(KNeighborsRegressor(), {"n_neighbors": [1, 5]}),
    }
    return run(families, recipe or Recipe(3, 2), **options)


def test_a_comparison_is_a_mapping_from_names_to_results():
    """In the order given, with all that a mapping has."""
    comparison = compared()
    assert isinstance(comparison, Comparison)
    assert list(comparison) == ["ridge", "neighbours"]
    assert len(comparison) == 2
    assert "ridge" in comparison
    assert comparison.get("lasso") is None
    assert all(isinstance(result, RiskEstimate) for result in comparison.values())
    assert dict(comparison.items())["ridge"] is comparison["ridge"]
    with pytest.raises(KeyError, match="lasso"):
        comparison["lasso"]


def test_a_comparison_is_read_only():
    """Results can neither be put in nor taken out."""
    comparison = compared()
    with pytest.raises(TypeError, match="item assignment"):
        comparison["other"] = comparison["ridge"]
    with pytest.raises(TypeError, match="item deletion"):
        del comparison["ridge"]


def test_a_comparison_has_one_plan():
    """All families are measured on the very same splits."""
    comparison = compared()
    assert comparison.plan is comparison["ridge"].plan is comparison["neighbours"].plan


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_comparison_has_the_numbers_of_separate_runs(n_jobs):
    """To the last bit."""
    comparison = compared(n_jobs=n_jobs)
    assert np.array_equal(comparison["ridge"].fold_risks, run(ridges).fold_risks)
    alone = run(Family(KNeighborsRegressor(), {"n_neighbors": [1, 5]}))
    assert np.array_equal(comparison["neighbours"].inner_curves, alone.inner_curves)


def test_a_comparison_of_one_family_is_a_comparison():
    """A dict in, a mapping out, whatever its length."""
    assert list(run({"only": ridges})) == ["only"]


def test_a_comparison_survives_pickling():
    """With its one plan."""
    again = pickle.loads(pickle.dumps(compared()))
    assert list(again) == ["ridge", "neighbours"]
    assert again["ridge"].risk == compared()["ridge"].risk


def test_the_text_of_a_comparison_is_the_same_every_time():
    """One line per family with its risk, no address."""
    comparison = compared()
    text = repr(comparison)
    assert text == repr(compared())
    assert "0x" not in text
    scale = scale_of(*comparison.values())
    for name, result in comparison.items():
        risk = scale.write(result.risk)
        assert any(name in line and risk in line for line in text.splitlines())


def test_different_cvs_in_a_comparison_are_an_error_unless_inner_is_given():
    """Naming both; inner= settles it."""
    families = {str(k): GridSearchCV(Ridge(), ALPHAS, cv=k) for k in (3, 4)}
    with pytest.raises(
        RecipeError, match=r"the families bring different inner splitters .*give inner="
    ):
        run(families, Recipe(3))
    assert {
        len(result.plan.inner[0]) for result in run(families, Recipe(3, 2)).values()
    } == {2}


def test_equal_cvs_in_a_comparison_are_taken():
    """Two GridSearchCVs with equal splitters bring one."""
    families = {name: GridSearchCV(Ridge(), ALPHAS, cv=KFold(4)) for name in "ab"}
    assert len(run(families, Recipe(3)).plan.inner[0]) == 4


def test_different_losses_in_a_comparison_are_an_error_unless_one_is_given():
    """Risks of two losses cannot be set side by side."""
    families = {
        "a": GridSearchCV(Ridge(), ALPHAS, scoring="neg_mean_absolute_error"),
        "b": GridSearchCV(Ridge(), ALPHAS, scoring="neg_mean_squared_error"),
    }
    with pytest.raises(
        FamilyError, match=r"a comparison needs one loss, .*give loss= or scoring="
    ):
        run(families)
    assert record_of(run(families, loss="absolute")["b"]).loss.name == "absolute"


def test_a_comparison_of_a_classifier_and_a_regressor_is_an_error():
    """One y, one task."""
    with pytest.raises(FamilyError, match="a comparison needs one task"):
        run({"a": ridges, "b": Family(SVC(), {"C": [1.0]})}, y=labels())


def test_a_comparison_with_an_impossible_family_fits_nothing():
    """All families are checked before the first fit of any."""
    FITS.clear()
    families = {
        "counts": Family(CountsToo(), ALPHAS),
        "large": Family(KNeighborsRegressor(), {"n_neighbors": [30]}),
    }
    with pytest.raises(InputError, match="n_neighbors=30 needs 30 training rows"):
        run(families)
    assert not FITS


# Against cross_validate, as the design promises


def test_a_run_equals_cross_validate_of_a_grid_search():
    """StratifiedKFold(5, random_state=0) outside and random_state=1 inside: the same
    scores, fold by fold."""
    grid = {"n_neighbors": [1, 3, 9]}
    search = GridSearchCV(
        KNeighborsClassifier(),
        grid,
        cv=StratifiedKFold(5, shuffle=True, random_state=1),
    )
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = cross_validate(search, table(), labels(), cv=cv)["test_score"]
    result = Recipe().run(neighbours, table(), labels(), progress="off")
    np.testing.assert_allclose(result.fold_risks, 1 - expected, rtol=1e-12)
    one_line = cvnb.nested_cv(
        (KNeighborsClassifier(), grid), table(), labels(), progress="off"
    )
    assert one_line.risk == result.risk


class Votes(ClassifierMixin, BaseEstimator):
    """A classifier that was written by a user: the most frequent class, nothing else."""

    def __init__(self, flip=False):
        self.flip = flip

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.says_ = self.classes_[
            np.argmin(counts) if self.flip else np.argmax(counts)
        ]
        return self

    def predict(self, X):
        return np.full(len(X), self.says_)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_estimator_of_the_user_runs_like_any_other(n_jobs):
    """A class defined in the notebook, workers or not."""
    y = np.repeat(["a", "b"], [30, 10])
    result = run(Family(Votes(), {"flip": [True, False]}), y=y, n_jobs=n_jobs)
    assert result.chosen == [{"flip": False}] * 3
    assert result.risk == pytest.approx(
        np.mean([np.mean(y[test] == "b") for _, test in result.plan.outer])
    )


def test_every_recipe_runs_every_kind_of_family():
    """All recipes of the notes on a family, a pair and a short-hand: a risk where something
    is measured."""
    recipes = [
        Recipe.train_validation_test(),
        Recipe.cv_test(inner=3),
        Recipe.resampling_test(3),
        Recipe.nested_cv(3, 2),
        Recipe.nested_dev(3),
        Recipe.nested_resampling(2, 2),
        Recipe.internal_cv(3),
        Recipe.dev_set(),
        Recipe(outer=2, inner="loo"),
    ]
    for recipe, family in itertools.product(
        recipes, [ridges, (Lasso(), {"alpha": [0.1, 1.0]}), knn(k=[1, 3])]
    ):
        result = run(family, recipe)
        assert (result.risk is None) == (recipe.outer is None)
        assert result.complete
        assert clone(result.predictor()) is not None


def test_a_result_keeps_to_its_names():
    """What goes beyond the named numbers is a function that takes a result."""
    result = run(ridges)
    assert {name for name in dir(result) if not name.startswith("_")} == {
        "baseline",
        "chosen",
        "chosen_index",
        "code",
        "complete",
        "curve_figure",
        "final_setting",
        "flat",
        "fold_risks",
        "fold_scores",
        "inner_curves",
        "interval",
        "nest_figure",
        "notes",
        "optimism",
        "outer_curves",
        "path",
        "path_reason",
        "plan",
        "predictions",
        "predictor",
        "quantity",
        "report",
        "risk",
        "score",
        "settings",
        "to_frame",
    }
