"""Linear discriminant analysis: every shrinkage from one decomposition has the losses of scikit-learn's fits."""

import threading
import time

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import make_scorer

import cases
from class_paths import (
    AHEAD,
    GROUPED,
    NESTED,
    ONE_SETTING,
    RECIPES,
    SHARED,
    assert_as_refitted,
    family,
    metric,
    refitted,
    table,
)  # fmt: skip
from cvnb import Family, Recipe
from cvnb.data.table import Data
from cvnb.errors import FamilyError
from cvnb.families.family import check_parameters
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
    """Alone, scaled and behind another transformer, by predictions, probabilities and decisions; of words too."""
    X, y = table(n_classes)
    path = "path:lda" if ahead == "behind" else "shared:lda"
    if (
        loss != "neg_brier_score"
    ):  # which wants to be told which of two words is the positive one
        y = np.array(["d", "b", "a", "c", "e"])[y]
    assert_as_refitted(
        family(lda(solver), GRID, AHEAD[ahead]), X, y, path=path, **metric(loss, y)
    )


@pytest.mark.parametrize("ahead", ["bare", "scaled"])
@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_takes_the_path(name, ahead):
    """From sums of blocks where the splits are a partition, else from the rows."""
    X, y = table(m=61)
    grid = {"shrinkage": [0.05, 0.4, 1.0]}
    path = "shared:lda" if name in SHARED else "path:lda"
    for loss in ("zero_one", "log"):
        assert_as_refitted(
            family(lda(), grid, AHEAD[ahead]), X, y, RECIPES[name], path, loss=loss
        )


@pytest.mark.parametrize("name", ONE_SETTING)
def test_recipes_without_a_choice_take_the_path(name):
    """Outer splits that partition all rows are sums of blocks."""
    path = "path:lda" if name == "validation" else "shared:lda"
    assert_as_refitted(
        family(lda(), {"shrinkage": [0.2]}), *table(), ONE_SETTING[name], path
    )


def test_groups_stay_together():
    """Splits by group are a partition like others."""
    X, y = table()
    assert_as_refitted(
        family(lda(), GRID), X, y, GROUPED, "shared:lda", groups=np.arange(len(y)) // 3
    )


@pytest.mark.parametrize("ahead", ["bare", "scaled"])
@pytest.mark.parametrize(
    "name",
    ["one column / classes", "constant column / classes", "copies / words", "copies / rare classes", "wide / classes",
     "offset / classes", "float32 / classes", "bytes / words", "bits / truths", "ties / rare classes"],
)  # fmt: skip
@pytest.mark.parametrize("loss", ["zero_one", "log", "auc"])
def test_odd_tables_are_scikit_learns(name, ahead, loss):
    """Whether the path serves them or leaves them."""
    X, y = cases.data(name)
    assert_as_refitted(
        family(lda(), {"shrinkage": [0.05, 0.5, 1.0]}, AHEAD[ahead]),
        X,
        y,
        **metric(loss, y),
    )


def test_a_constant_column_has_no_say_without_shrinkage():
    """Least squares gives it no coefficient; solver="eigen" stands on its rounding there, and is refitted."""
    X, y = cases.data("constant column / classes")
    assert_as_refitted(family(lda(), GRID), X, y, path="shared:lda", loss="log")
    assert NESTED.run(family(lda("eigen"), GRID), X, y, progress="off").path == "refit"


@pytest.mark.parametrize("solver", SOLVERS)
def test_priors_count_as_given(solver):
    """In the covariance and in the decisions."""
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
    """With the part that they all share, which no probability shows."""

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
    """None is 0; a value that is given twice is the same twice, to the bit."""
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
    """The reason says what stands in the way."""
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
            "level up to rounding, which grows with the distance of columns from zero",
        ),
        (np.ones((70, 2)), "the covariance is singular"),
    ],
)
def test_where_digits_are_doubtful_the_numbers_are_scikit_learns(X, why):
    """Refit, bit by bit, and the reason."""
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
    """Two classes of three are a problem of two; with priors of three, one class or one row refit tells what that does."""
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
    """Squares about one origin keep few digits of classes 20 standard deviations from each other; the rows keep all."""
    asked, of_rows = [], class_sums.of_rows
    monkeypatch.setattr(
        class_sums, "of_rows", lambda *given: asked.append(1) or of_rows(*given)
    )
    X, y = table(4, m=90)
    assert_as_refitted(family(lda(), GRID), X, y, path="shared:lda", loss="log")
    assert asked == []
    X[:, 1] += 30.0 * (y % 2)
    assert_as_refitted(family(lda(), GRID), X, y, path="shared:lda")
    assert len(asked) == 16


@pytest.mark.parametrize("ahead", ["bare", "scaled"])
def test_garbage_in_an_outer_test_part_moves_no_bit(ahead):
    """Its rows are in no sum: the inner losses and the choice are the same to the bit."""
    X, y = table()
    recipe = Recipe(4, 3, stratify=False)
    clean = recipe.run(
        family(lda(), GRID, AHEAD[ahead]), X, y, loss="log", progress="off"
    )
    for j, (_, test) in enumerate(clean.plan.outer):
        rng, dirty = np.random.default_rng(j), X.copy()
        dirty[test] = 1e6 * rng.normal(size=dirty[test].shape)
        labels = y.copy()
        labels[test] = rng.permutation(y)[: test.size]
        found = recipe.run(
            family(lda(), GRID, AHEAD[ahead]), dirty, labels, loss="log", progress="off"
        )
        np.testing.assert_array_equal(found.inner_curves[j], clean.inner_curves[j])
        assert found.chosen_index[j] == clean.chosen_index[j]


def test_any_number_of_threads_gives_the_same_bits():
    """One or two, where there is enough to do for two."""
    X, y = table(m=3000, p=12)
    fam = family(lda(), {"shrinkage": np.linspace(0, 1, 41)})
    one, two = (
        Recipe(5, 5).run(fam, X, y, loss="log", progress="off", n_jobs=n)
        for n in (1, 2)
    )
    assert one.path == "shared:lda"
    for name in ("inner_curves", "outer_curves", "fold_risks"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_stop_ends_a_task_at_once():
    """The token is looked at before every split."""
    X, y = table(m=600)
    fam, data = family(lda(), {"shrinkage": np.linspace(0, 1, 101)}), Data.check(X, y)
    plan = Recipe(2, "loo").plan(X, y)
    path = choose_path(
        fam,
        check_parameters(fam),
        [Draw(plan, data)],
        NAMED["zero_one"],
        "classification",
        "auto",
    )
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
    }  # one column: every shrinkage says the same


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
    """One training part whose classes are level is refitted; the others are not."""
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
