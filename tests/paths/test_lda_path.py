"""Linear discriminant analysis: every shrinkage has the losses of scikit-learn's fits."""

import threading
import time

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import make_scorer

import cases
from class_paths import (
    AHEAD,
    NESTED,
    assert_as_refitted,
    family,
    metric,
    refitted,
    table,
)  # fmt: skip
from cvnb import Family, Recipe
from cvnb.data.table import Data
from cvnb.engine.work import Work
from cvnb.errors import FamilyError
from cvnb.families.setting_groups import check_parameters
from cvnb.inference.rules import Minimum
from cvnb.losses.loss import NAMED
from cvnb.paths.base import Draw, Inside, Outside
from cvnb.paths.classes import sums as class_sums
from cvnb.paths.dispatch import choose_path
from cvnb.runtime.cancel import Stop, Stopped
from cvnb.runtime.threads import Team

GRID = {"shrinkage": [0.0, 0.02, 0.3, 0.7, 1.0]}
SOLVERS = ["lsqr", "eigen"]


def lda(solver="lsqr", **parameters):
    return LinearDiscriminantAnalysis(solver=solver, **parameters)


@pytest.mark.parametrize(
    "loss", ["zero_one", "log", "auc", "balanced_accuracy", "neg_brier_score"]
)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_shrinkage_has_scikit_learns_losses(solver, ahead, n_classes, loss):
    """Alone, scaled and behind another transformer, for labels, probabilities and decisions."""
    X, y = table(n_classes)
    path = "path:lda" if ahead == "behind" else "shared:lda"
    if loss != "neg_brier_score":  # it needs to know which of two words is positive
        y = np.array(["d", "b", "a", "c", "e"])[y]
    assert_as_refitted(
        family(lda(solver), GRID, AHEAD[ahead]), X, y, path=path, **metric(loss, y)
    )


def test_a_constant_column_has_no_say_without_shrinkage():
    """Least squares gives it no coefficient; solver="eigen" uses its rounding and is refitted."""
    X, y = cases.data("constant column / classes")
    assert_as_refitted(family(lda(), GRID), X, y, path="shared:lda", loss="log")
    assert NESTED.run(family(lda("eigen"), GRID), X, y, progress="off").path == "refit"


@pytest.mark.parametrize("solver", SOLVERS)
def test_priors_count_as_given(solver):
    """They count in the covariance and in the decisions."""
    X, y = table()
    assert_as_refitted(
        family(lda(solver, priors=[0.6, 0.3, 0.1]), GRID),
        X,
        y,
        path="shared:lda",
        loss="log",
    )
    both = {
        "shrinkage": [0.1, 0.9],
        "priors": [None, [0.2, 0.2, 0.6]],
        "store_covariance": [True],
    }
    assert_as_refitted(family(lda(solver), both), X, y, path="shared:lda", loss="log")


def test_decisions_of_several_classes_are_those_of_the_fitted_model():
    """They include the part that all classes share, which no probability shows."""

    def mean(y, decisions):
        return decisions.mean()

    X, y = table()
    scorer = make_scorer(mean, response_method="decision_function")
    for ahead in ("bare", "scaled"):
        assert_as_refitted(
            family(lda(), GRID, AHEAD[ahead]),
            X + 3.0,
            y,
            path="shared:lda",
            scoring=scorer,
        )


def test_no_shrinkage_is_none_and_a_repeated_one_the_same():
    """None is 0; a repeated value gives the same bits."""
    X, y = table()
    result = assert_as_refitted(
        family(lda(), {"shrinkage": [None, 0.5, 0.0, 0.5, 1]}),
        X,
        y,
        path="shared:lda",
        loss="log",
    )
    np.testing.assert_array_equal(result.inner_curves[:, 1], result.inner_curves[:, 3])
    np.testing.assert_allclose(
        result.inner_curves[:, 0], result.inner_curves[:, 2], rtol=1e-14
    )


@pytest.mark.parametrize(
    ("model", "grid", "why"),
    [
        (
            LinearDiscriminantAnalysis(),
            {"tol": [1e-4, 1e-2]},
            "solver='svd', which knows no shrinkage",
        ),
        (
            lda(),
            {"shrinkage": ["auto", 0.3]},
            "shrinkage='auto', which is estimated in each class",
        ),
        (
            lda(priors=[0.5, 0.5, 0.5]),
            GRID,
            "priors that are not positive, or do not sum to 1",
        ),
        (lda(priors=[1.0, 0.0, 0.0]), GRID, "priors that are not positive"),
    ],
)
def test_what_is_not_for_the_path_is_refitted(model, grid, why):
    """The reason names the parameter."""
    result = NESTED.run(Family(model, grid), *table(), progress="off")
    assert result.path == "refit"
    assert why in result.path_reason


@pytest.mark.parametrize(
    ("X", "why"),
    [
        (
            table(p=80)[0],
            "the covariance is singular or nearly so at the smallest shrinkage",
        ),
        (
            table()[0] + 1e6,
            "equal up to rounding, which grows with the distance of columns from zero",
        ),
        (np.ones((70, 2)), "the covariance is singular"),
    ],
)
def test_where_digits_are_doubtful_the_numbers_are_scikit_learns(X, why):
    """They are refitted, bit by bit, with the reason."""
    y = table()[1]
    result, slow = (
        NESTED.run(
            Family(lda(), GRID), X, y, loss="log", progress="off", path=path, flat=True
        )
        for path in ("auto", "refit")
    )
    assert result.path == "refit"
    assert why in result.path_reason
    np.testing.assert_array_equal(result.inner_curves, slow.inner_curves)


def test_more_columns_than_rows_are_served_where_shrinkage_is_more_than_zero():
    """Every A(s) is positive definite then."""
    X, y = table(p=90)
    for ahead in ("bare", "scaled"):
        assert_as_refitted(
            family(lda(), {"shrinkage": [0.1, 0.5]}, AHEAD[ahead]),
            X,
            y,
            path="shared:lda",
            loss="log",
        )


def test_a_class_that_a_training_part_lacks_is_never_said():
    """Two classes of three are a problem of two; a single class or row is refitted."""
    X, y = table(3, m=40)
    y[:] = np.where(np.arange(40) < 4, 2, y % 2)
    outer = [(np.arange(4, 40), np.arange(4)), (np.arange(30), np.arange(30, 40))]
    inside = [
        [(outer[0][0][:20], outer[0][0][20:])],
        [(outer[1][0][:20], outer[1][0][20:])],
    ]
    assert_as_refitted(
        family(lda(), GRID), X, y, Recipe(outer, inside), "shared:lda", loss="log"
    )
    few = np.where(np.arange(40) == 5, 1, 0)
    result = assert_as_refitted(
        family(lda(), GRID), X, few, Recipe(outer[1:], inside[1:])
    )
    assert "a class has one row" in result.path_reason


def test_means_far_from_each_other_cost_no_digits(monkeypatch):
    """Sums about one origin lose digits of classes 20 deviations apart; the rows keep all."""
    calls, of_rows = [], class_sums.of_rows
    monkeypatch.setattr(
        class_sums, "of_rows", lambda *args: calls.append(1) or of_rows(*args)
    )
    X, y = table(4, m=90)
    assert_as_refitted(family(lda(), GRID), X, y, path="shared:lda", loss="log")
    assert calls == []
    X[:, 1] += 30.0 * (y % 2)
    assert_as_refitted(family(lda(), GRID), X, y, path="shared:lda")
    assert len(calls) == 16


def test_a_stop_ends_a_task_at_once():
    """The stop token is checked before every split."""
    X, y = table(m=600)
    fam, data = family(lda(), {"shrinkage": np.linspace(0, 1, 101)}), Data.check(X, y)
    plan = Recipe(2, "loo").plan(X, y)
    kinds, loss, rule = check_parameters(fam), NAMED["zero_one"], Minimum(True)
    work = Work(fam, kinds, data, loss, "classification", rule)
    path = choose_path(work, [Draw(plan, data)])
    stop = Stop()
    threading.Timer(0.05, stop.set).start()
    started = time.perf_counter()
    with pytest.raises(Stopped):
        path.run(Inside(0, range(2)), Team(stop))
    assert time.perf_counter() - started < 2.0
    with pytest.raises(Stopped):
        path.run(Outside(0, range(2), np.zeros(2, dtype=np.int64)), Team(stop))


def test_one_se_takes_the_largest_shrinkage():
    """It is the simplest, by the record."""
    X, _ = table()
    ties = NESTED.run(
        family(lda(), {"shrinkage": [0.5, 1.0, 0.7]}),
        X,
        (X[:, 0] > 0) * 1,
        select="one_se",
        progress="off",
    )
    curves = ties.inner_curves
    assert all(curves[j, s] >= curves[j].min() for j, s in enumerate(ties.chosen_index))
    same = NESTED.run(
        family(lda(), {"shrinkage": [0.5, 1.0, 0.7]}),
        X[:, :1],
        (X[:, 0] > 0) * 1,
        select="one_se",
        progress="off",
    )
    assert {setting["shrinkage"] for setting in same.chosen} == {
        1.0
    }  # one column: every shrinkage predicts the same


def test_weights_are_refused_by_name():
    """scikit-learn's fit takes none."""
    X, y = table()
    with pytest.raises(
        FamilyError, match="LinearDiscriminantAnalysis takes no sample_weight"
    ):
        NESTED.run(
            family(lda(), GRID), X, y, sample_weight=np.ones(len(y)), progress="off"
        )


def test_notes_say_which_splits_were_left():
    """One training part whose classes tie up to rounding is refitted; the others are not."""
    X, y = table(2, m=60, p=2)
    X[:20] = 0.5
    outer = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    inside = [
        [(np.arange(20), np.arange(20, 40))],
        [(np.arange(20, 45), np.arange(45, 60))],
    ]
    result = assert_as_refitted(
        family(lda(), {"shrinkage": [0.2, 0.8]}), X, y, Recipe(outer, inside)
    )
    assert result.path == "shared:lda"
    assert len(refitted(result)) == 1
