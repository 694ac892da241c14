"""null_test: every risk is that of a run on those targets; scikit-learn's shuffles."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    permutation_test_score,
)
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Family, Recipe, TimeBlocks, knn, nested_cv
from cvnb.errors import DataError, InputError
from cvnb.studies import null_test
from studied import CLASSES, FAMILIES, GROUPS, NUMBERS, RANKS, X

QUIET = Family(KNeighborsClassifier(), RANKS)


def same(null, run, y):
    """The risks and flat estimates are those of runs of their own."""
    for rows, risk in zip(null.permutations, null.risks, strict=True):
        assert risk == pytest.approx(run(y[rows]).risk, rel=1e-9, abs=1e-12)
    if null.flats is not None:
        flats = [run(y[rows]).flat for rows in null.permutations]
        assert null.flats == pytest.approx(flats, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_risk_is_that_of_a_run_on_those_targets(name):
    """Every kind of path, target, weights, groups and rules."""
    family, y, options = FAMILIES[name]

    def run(targets):
        return Recipe(4, 3, seed=1).run(family, X, targets, **options)

    same(null_test(run(y), n=4, seed=3), run, y)


def test_it_is_scikit_learns_permutation_test():
    """The same shuffles from the same seed, the same scores, the same p."""
    inner = StratifiedKFold(3, shuffle=True, random_state=1)
    outer = StratifiedKFold(4, shuffle=True, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), RANKS, cv=inner)
    score, scores, p = permutation_test_score(
        search, X, CLASSES, cv=outer, n_permutations=20, random_state=5
    )
    result = nested_cv(QUIET, X, CLASSES, outer=4, inner=3, scoring="accuracy")
    null = null_test(result, n=20, seed=5)
    assert 1 - result.risk == pytest.approx(score)
    assert 1 - null.risks == pytest.approx(scores)
    assert null.p == pytest.approx(p)


def test_it_is_scikit_learns_permutation_test_inside_groups():
    """Where y varies in the groups, rows change places inside them, as scikit-learn's do."""
    search = GridSearchCV(KNeighborsClassifier(), RANKS, cv=StratifiedKFold(3))
    scores = permutation_test_score(
        search, X, CLASSES, groups=GROUPS, cv=GroupKFold(4), n_permutations=9,
        random_state=2,
    )[1]  # fmt: skip
    result = Recipe(GroupKFold(4)).run(search, X, CLASSES, groups=GROUPS)
    null = null_test(result, n=9, seed=2)
    assert 1 - null.risks == pytest.approx(scores)
    assert null.shuffled == "rows inside groups, because y varies in them"
    assert (GROUPS[null.permutations] == GROUPS).all()


def test_whole_groups_change_places_where_y_is_constant_in_them():
    """Every group has one target before and after."""
    y = (np.arange(13) % 2)[GROUPS]

    def run(targets):
        return Recipe(3, 2).run(QUIET, X, targets, groups=GROUPS)

    null = null_test(run(y), n=6)
    same(null, run, y)
    assert null.shuffled.startswith("whole groups")
    for rows in null.permutations:
        assert all(np.unique(y[rows][g == GROUPS]).size == 1 for g in range(13))


def test_few_groups_are_said():
    """Three groups have six orders, so a small p cannot be had."""
    groups = np.repeat(np.arange(4), 15)
    y = np.array([0.0, 1.0, 2.0, 3.5])[groups]
    result = Recipe(2, 2).run(knn(k=[1, 3], task="regression"), X, y, groups=groups)
    null = null_test(result, n=50)
    assert "only 24 different shuffles" in repr(null)


def test_blocks_of_ones_own():
    """Rows stay inside their block; names will do."""
    blocks = np.where(np.arange(60) < 20, "a", "b")
    null = null_test(Recipe(3, 2).run(QUIET, X, CLASSES), n=5, within=blocks)
    assert (blocks[null.permutations] == blocks).all()
    assert not (null.permutations == np.arange(60)).all()


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(4, 3, time_ordered=True, buffer=1),
        Recipe(TimeBlocks(4), inner=TimeBlocks(3)),
    ],
)
def test_time_is_refused_and_shifts_are_not(recipe):
    """A shift keeps the order of the targets."""

    def run(targets):
        return recipe.run(knn(k=[1, 3], scale=False, task="regression"), X, targets)

    result = run(NUMBERS)
    with pytest.raises(InputError, match="order of time cannot be exchanged"):
        null_test(result, n=5)
    null = null_test(result, n=5, within="shift")
    same(null, run, NUMBERS)
    assert (np.diff(null.permutations, axis=1) % 60 == 1).all()
    with pytest.raises(InputError, match="use n=59 or fewer"):
        null_test(result, n=60, within="shift")


def test_permutations_of_ones_own():
    """Used as given."""
    given = np.random.default_rng(0).permuted(np.tile(np.arange(60), (4, 1)), axis=1)

    def run(targets):
        return Recipe(3, 2).run(QUIET, X, targets)

    null = null_test(run(CLASSES), permutations=given)
    assert np.array_equal(null.permutations, given)
    same(null, run, CLASSES)
    assert np.array_equal(
        null_test(run(CLASSES), permutations=given.tolist()).risks, null.risks
    )


def test_p_counts_what_did_as_well():
    """By the formula; a signal is found."""
    result = nested_cv(knn(k=range(1, 10), scale=False), X, CLASSES)
    null = null_test(result, n=199)
    assert null.p == (1 + (null.risks <= result.risk).sum()) / 200
    assert null.p_flat == (1 + (null.flats <= result.flat).sum()) / 200
    assert null.p < 0.05
    assert null.flats.mean() < null.risks.mean()


def test_p_is_uniform_where_there_is_nothing_to_learn():
    """Of 200 data sets of noise about a twentieth have p <= 0.05."""
    random = np.random.default_rng(0)
    small = [
        null_test(
            nested_cv(
                knn(k=[1, 5], scale=False), random.normal(size=(30, 2)),
                random.normal(size=30), outer=3, inner=2,
            ),
            n=19, progress="off",
        ).p <= 0.05
        for _ in range(200)
    ]  # fmt: skip
    assert 1 <= sum(small) <= 22  # binomial of 200 and 1/20: these ends hold 99.9 %


def test_it_shows_itself():
    """Text, a table and a picture without scripts, a figure, a frame."""
    result = nested_cv(knn(k=[1, 5]), X, CLASSES, scoring="accuracy")
    null = null_test(result, n=9)
    assert "9 shuffles of all rows" in repr(null)
    shown = null._repr_mimebundle_()
    assert "<img" in shown["text/html"]
    assert "<script" not in shown["text/html"]
    assert len(null.figure().data[0].x) == 9
    assert list(null.to_frame()) == ["shuffle", "risk", "flat"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"within": "day"}, InputError, "'shift', an array"),
        ({"within": np.arange(9)}, DataError, r"each of the 60 rows, got shape \(9,\)"),
        ({"within": CLASSES}, InputError, "y is constant inside every block"),
        ({"permutations": [[0, 1]]}, InputError, "60 rows"),
        ({"permutations": np.full((2, 60), 60)}, InputError, "which is no row number"),
        ({"permutations": np.zeros((0, 60), int)}, InputError, "holds no shuffle"),
        (
            {"permutations": [list(range(60))], "within": CLASSES},
            InputError,
            "not both",
        ),
        ({"n": 0}, InputError, "n=0"),
        ({"seed": "x"}, InputError, "seed='x'"),
    ],
)
def test_what_cannot_be_asked(options, error, words):
    """The message says what to type instead."""
    result = Recipe(KFold(3), inner=2).run(QUIET, X, CLASSES)
    with pytest.raises(error, match=words):
        null_test(result, **options)
