"""learning_curve: every risk is that of a run on the subsets; nested, strata kept, groups whole."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from cvnb import Recipe, knn, nested_cv, ridge
from cvnb.errors import InputError
from cvnb.studies import learning_curve
from studied import CLASSES, FAMILIES, NUMBERS, X

GROUPS = np.arange(60) // 3


@pytest.mark.filterwarnings("ignore:Class 2 has 2 rows")
@pytest.mark.parametrize("name", FAMILIES)
def test_every_risk_is_that_of_a_run_on_the_subsets(name):
    """Every kind of path, target, weights, groups and rules; the full size is the run itself."""
    family, y, options = FAMILIES[name]
    inner = None if name == "one setting" else 3
    result = Recipe(3, inner).run(family, X, y, **options)
    curve = learning_curve(result, sizes=[20, 30, 36], repeats=2)
    assert curve.risks.shape == (3, 2)
    for at in ((0, 0), (0, 1), (1, 1)):
        i, r = at
        alone = Recipe(outer=curve.subsets[i][r], inner=inner).run(
            family, X, y, **options
        )
        assert curve.risks[at] == pytest.approx(alone.risk, rel=1e-9)
        assert curve.fold_risks[at] == pytest.approx(alone.fold_risks, rel=1e-9)
    sizes = result.plan.outer.layout.sizes()[:, 0]
    full = learning_curve(result, sizes=[int(sizes.min())], repeats=2)
    assert full.risks == pytest.approx(np.full((1, 2), result.risk), rel=1e-9)


def test_subsets_are_nested_and_keep_classes_in_proportion():
    """A smaller one is part of every larger one; test folds stay as they are."""
    result = nested_cv(knn(k=[1, 3]), X, CLASSES, outer=4)
    curve = learning_curve(result, sizes=[12, 24, 36], repeats=3)
    subsets = curve.subsets
    for r in range(3):
        for j, (train, test) in enumerate(result.plan.outer):
            parts = [subsets[i][r][j][0] for i in range(3)]
            assert [part.size for part in parts] == [12, 24, 36]
            assert all(np.isin(a, b).all() for a, b in pairwise(parts))
            assert np.isin(parts[-1], train).all()
            assert np.array_equal(subsets[0][r][j][1], test)
            for part in parts:
                share = np.bincount(CLASSES[part]) / part.size
                assert np.abs(share - 1 / 3).max() <= 1 / part.size + 1e-9
    assert not np.array_equal(subsets[0][0][0][0], subsets[0][1][0][0])


def test_groups_stay_whole():
    """A subset holds all rows of a group or none."""
    recipe = Recipe(4, 3)
    result = recipe.run(knn(k=[1, 3]), X, CLASSES, groups=GROUPS)
    for size in learning_curve(result, sizes=[15, 30], repeats=2).subsets:
        for repeat in size:
            for j, (part, _) in enumerate(repeat):
                train = result.plan.outer[j][0]
                inside = np.isin(train, part)
                for g in np.unique(GROUPS[train]):
                    assert np.unique(inside[GROUPS[train] == g]).size == 1


def test_rows_in_an_order_of_their_own_keep_it():
    """scikit-learn's ShuffleSplit gives training rows unsorted, and inner splits count places."""
    outer = ShuffleSplit(3, test_size=0.3, random_state=0)
    result = Recipe(outer, inner=3).run(knn(k=[1, 3], scale=False), X, CLASSES)
    curve = learning_curve(result, sizes=[20, 42], repeats=2)
    assert curve.risks[1, 0] == pytest.approx(result.risk)
    train = result.plan.outer[0][0]
    part = curve.subsets[0][0][0][0]
    assert np.array_equal(part, train[np.isin(train, part)])


def test_sizes_by_number_are_spaced_and_feasible():
    """On a log scale up to the full size, from where k neighbours exist."""
    result = nested_cv(knn(k=range(1, 12)), X, CLASSES, outer=5)
    curve = learning_curve(result, sizes=5, repeats=1)
    assert curve.sizes.size == 5
    assert curve.sizes[-1] == 48
    assert curve.sizes[0] >= 14  # 4/5 of it hold 11 neighbours
    ratios = curve.sizes[1:] / curve.sizes[:-1]
    assert ratios.max() / ratios.min() < 1.2


def test_it_answers_whether_more_rows_would_help():
    """Yes where the curve falls by more than its error, else these rows cannot tell."""
    A = np.random.default_rng(0).normal(size=(400, 60))
    y = A @ np.random.default_rng(1).normal(size=60)
    y += 2 * np.random.default_rng(2).normal(size=400)
    falls = learning_curve(nested_cv(ridge(), A, y), sizes=5, repeats=2)
    assert "Would more rows help? Probably: From" in repr(falls)
    fall, error, size = falls.gain
    at = list(falls.sizes).index(size)
    d = (falls.fold_risks[at] - falls.fold_risks[-1]).mean(axis=0)
    assert fall == pytest.approx(d.mean())
    spread = np.sqrt((1 / 5 + 80 / 320) * d.var(ddof=1))
    assert error == pytest.approx(2.7764451051977987 * spread)
    assert falls.law(800) < falls.means[-1]
    assert "At 640 training rows the formula" in repr(falls)
    noise = np.random.default_rng(3).normal(size=400)
    flat = learning_curve(nested_cv(ridge(), A, noise), sizes=4, repeats=2)
    assert "These rows cannot tell" in repr(flat) or "No sign of it" in repr(flat)
    three = learning_curve(nested_cv(ridge(), A, y), sizes=3, repeats=1)
    assert three.law is None


def test_it_shows_itself():
    """Text, a table and a picture without scripts, a figure with the dashed formula, a frame."""
    result = nested_cv(knn(k=[1, 5]), X, CLASSES, scoring="accuracy")
    curve = learning_curve(result, sizes=4, repeats=2)
    shown = curve._repr_mimebundle_()
    assert "<img" in shown["text/html"]
    assert "<script" not in shown["text/html"]
    assert curve.figure().data[2].line.dash == "dash"
    assert curve.to_frame().shape == (8, 3)


@pytest.mark.parametrize(
    ("recipe", "options", "words"),
    [
        (Recipe(3, 2), {"sizes": 0}, "sizes=0"),
        (Recipe(3, 2), {"sizes": [1, 20]}, "from 2 to 40"),
        (Recipe(3, 2), {"sizes": [10, 41]}, "from 2 to 40"),
        (Recipe(3, 2), {"sizes": [0.5]}, "whole numbers of training rows"),
        (Recipe(3, 2), {"repeats": 0}, "repeats=0"),
        (Recipe(3, 5), {"sizes": [4]}, "^4 training rows: "),
        (Recipe(3, 2, time_ordered=True), {}, "order of time"),
        (
            Recipe([(range(40), range(40, 60))], inner=[[(range(20), range(20, 40))]]),
            {},
            "given as row numbers",
        ),
    ],
)
def test_what_cannot_be_asked(recipe, options, words):
    """The message says what to type instead."""
    result = recipe.run(knn(k=[1, 2], task="regression"), X, NUMBERS)
    with pytest.raises(InputError, match=words):
        learning_curve(result, **options)


def test_the_formula_is_found():
    """Numbers that follow it are continued."""
    from cvnb.studies.extrapolation import fit_power_law

    sizes = np.array([25.0, 50.0, 100.0, 200.0, 400.0])
    law = fit_power_law(sizes, 0.3 + 2.0 * sizes**-0.5)
    assert law(1600) == pytest.approx(0.35, abs=0.01)
    falling = fit_power_law(sizes, 5.0 * sizes**-1.0, least=0.0)
    assert falling.a >= 0.0
    assert falling(800) == pytest.approx(5.0 / 800, rel=0.1)
    rising = fit_power_law(sizes, sizes / 100)
    assert rising.b == 0.0
