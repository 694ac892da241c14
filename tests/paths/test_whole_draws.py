"""Draws of other splits, each solved whole: equal to a run of its own, or left to one."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from cvnb import Family, Recipe, ridge
from cvnb.engine import study
from cvnb.paths.linear import whole_draws
from cvnb.paths.linear.rows import LinearProblem
from cvnb.paths.linear.whole_draws import WholeDraw
from cvnb.studies import learning_curve, over_seeds
from ridge_tables import CASES, X, Y

RECIPES = {
    "folds": {"outer": 4, "inner": 3},
    "test set": {"outer": 0.3, "inner": 3},
    "resampling": {"outer": Recipe.nested_resampling(3, 2).outer, "inner": 3},
    "leave-one-out inside": {"outer": 3, "inner": "loo"},
    "a holdout inside": {"outer": 3, "inner": 0.3},
}
ORDINARY = ("leave-one-out inside", "a holdout inside")


@pytest.fixture
def solved(monkeypatch):
    """For every draw that is tried whole, whether it is accepted; chunks of any time."""
    monkeypatch.setattr(study, "CHUNK_SECONDS", 1e9)
    found, inner = [], WholeDraw.inner

    def noted(self):
        losses = inner(self)
        found.append(losses is not None)
        return losses

    monkeypatch.setattr(WholeDraw, "inner", noted)
    return found


def agree(found, run):
    for seed, risk, flat in zip(found.seeds, found.risks, found.flats, strict=True):
        alone = run(int(seed))
        assert risk == pytest.approx(alone.risk, rel=1e-9)
        assert flat == pytest.approx(alone.flat, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_seeds_equal_runs_of_their_own(name):
    """Whatever the table, and whether a draw is solved whole or not."""
    A, y, family, options = CASES[name]

    def run(seed):
        return Recipe(4, 3, seed=seed).run(family, A, y, **options)

    agree(over_seeds(run(0), n=6), run)


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe(name, solved):
    """Test parts that overlap, or one alone; blocks of one row, or none, go the ordinary way."""

    def run(seed):
        return Recipe(**RECIPES[name], seed=seed).run(ridge(), X, Y)

    agree(over_seeds(run(0), n=6), run)
    assert all(solved)
    assert bool(solved) == (name not in ORDINARY)


class ThreeOfFour:
    """A user's splitter: every fourth row is in no test part."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3

    def split(self, X, y=None, groups=None):
        rows = np.arange(len(X))
        for k in range(3):
            yield rows[rows % 4 != k], rows[rows % 4 == k]


def test_rows_in_no_block(solved):
    """They are in every training part, and in no inner test part."""
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=ThreeOfFour())

    def run(seed):
        return Recipe(4, seed=seed).run(search, X, Y)

    agree(over_seeds(run(0), n=6), run)
    assert solved
    assert all(solved)


def test_subsets_of_a_learning_curve(solved):
    """Outer splits as lists, which leave rows out of both parts."""
    result = Recipe(4, 3).run(ridge(), X, Y)
    curve = learning_curve(result, [20, 30, 45], 3)
    for size, risks in zip(curve.subsets, curve.risks, strict=True):
        for outer, risk in zip(size, risks, strict=True):
            alone = Recipe(outer, inner=3).run(ridge(), X, Y)
            assert risk == pytest.approx(alone.risk, rel=1e-9)
    assert solved
    assert all(solved)


def test_all_but_the_first_draw_are_solved_whole(solved):
    """A study begins with a chunk of one."""
    over_seeds(Recipe(4, 3).run(ridge(), X, Y), n=21)
    assert solved == [True] * 20


def test_small_losses_are_measured_row_by_row(monkeypatch, solved):
    """A quadratic form of sums would lose the digits of residuals of a thousandth."""
    y = X @ [1.0, 2.0, 3.0, 4.0] + 1e-3 * Y
    rows, measure = [], LinearProblem.mean_losses
    monkeypatch.setattr(
        LinearProblem,
        "mean_losses",
        lambda self, *arguments: rows.append(1) or measure(self, *arguments),
    )

    def run(seed):
        return Recipe(4, 3, seed=seed).run(ridge(), X, y)

    result = run(0)
    rows.clear()
    seeds = over_seeds(result, n=21)
    assert len(rows) == 4 + 20  # the parts of the first draw, and once for every other
    assert solved == [True] * 20
    agree(seeds, run)


def test_a_draw_in_doubt_is_left_to_the_ordinary_way(monkeypatch, solved):
    """Targets that are met exactly are refitted; the others are solved whole."""
    exact = X @ [1.0, 2.0, 3.0, 4.0]
    family = Family(Ridge(), {"alpha": [1e-12, 1e-10]})
    result = Recipe(4, 3).run(family, X, exact)
    seeds = over_seeds(result, n=4)
    assert solved
    assert not any(solved)
    alone = [Recipe(4, 3, seed=seed).run(family, X, exact).risk for seed in seeds.seeds]
    assert seeds.risks == pytest.approx(alone, rel=1e-6)


def test_garbage_in_one_row_touches_no_digit_of_the_other_parts(solved):
    """The common origin is far from all other rows then, and what is lost is noticed."""
    far = X.copy()
    far[7] = 1e9

    def run(seed):
        return Recipe(4, 3, seed=seed).run(ridge(scale=False), far, Y)

    agree(over_seeds(run(0), n=5), run)
    assert not any(solved)


def test_the_form_of_sums_is_the_mean_of_the_rows(monkeypatch):
    """With the limit beyond reach every loss is measured row by row: the same to 1e-12."""
    result = Recipe(4, 3).run(ridge(), X, Y)
    by_sums = over_seeds(result, n=8)
    monkeypatch.setattr(whole_draws, "LEAST_SHARE", 1e9)
    by_rows = over_seeds(result, n=8)
    np.testing.assert_allclose(by_sums.risks, by_rows.risks, rtol=1e-12)
    np.testing.assert_allclose(by_sums.flats, by_rows.flats, rtol=1e-12)
