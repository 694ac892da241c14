"""over_seeds: every risk is that of a run of its own with that seed."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Recipe, knn, nested_cv
from cvnb.engine.progress import Slot
from cvnb.errors import InputError
from cvnb.studies import over_seeds
from cvnb.studies.seeds import growing
from studied import CLASSES, FAMILIES, RANKS, X

RECIPES = {
    "nested": {"outer": 4, "inner": 3},
    "test set": {"outer": 0.3, "inner": 3},
    "resampling": {"outer": Recipe.nested_resampling(3, 2).outer, "inner": 2},
    "inner dev set": {"outer": 3, "inner": 0.4, "stratify": False},
}


def same(study, result, run):
    """The risks and flat estimates are those of runs of their own."""
    for seed, risk in zip(study.seeds, study.risks, strict=True):
        alone = run(int(seed))
        assert risk == pytest.approx(alone.risk, rel=1e-9, abs=1e-12)
    if result.flat is None:
        assert study.flats is None
    else:
        flat = [run(int(seed)).flat for seed in study.seeds]
        assert study.flats == pytest.approx(flat, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_risk_is_that_of_a_run_with_that_seed(name):
    """Every kind of path, target, weights, groups and rules."""
    family, y, options = FAMILIES[name]

    def run(seed):
        return Recipe(4, 3, seed=seed).run(family, X, y, **options)

    result = run(0)
    same(over_seeds(result, n=5, first=2), result, run)


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_that_draws_at_random(name):
    """Folds, holdouts, resampling, dev sets."""

    def run(seed):
        recipe = Recipe(**RECIPES[name], seed=seed)
        return recipe.run(knn(k=[1, 3, 7], scale=False), X, CLASSES)

    result = run(3)
    same(over_seeds(result, n=4), result, run)


def test_a_default_grid_follows_the_groups_of_each_seed():
    """k ends at the smallest training part, which differs from seed to seed."""
    groups = np.repeat(np.arange(6), [2, 3, 4, 6, 15, 30])

    def run(seed):
        recipe = Recipe(3, 2, seed=seed, stratify=False)
        return recipe.run(knn(), X, CLASSES, groups=groups)

    result = run(0)
    assert len({len(run(seed).settings) for seed in range(1, 6)}) > 1
    same(over_seeds(result, n=5), result, run)


def test_a_given_inner_splitter_stays_as_it_is():
    """Only the outer folds follow the seed."""
    inner = StratifiedKFold(3, shuffle=True, random_state=7)
    search = GridSearchCV(KNeighborsClassifier(), RANKS, cv=inner)

    def run(seed):
        return Recipe(4, seed=seed).run(search, X, CLASSES)

    same(over_seeds(run(0), n=3), run(0), run)


def test_the_summary_is_arithmetic_on_the_risks():
    """Mean, sd, settled mean, share of the variance, frame."""
    result = nested_cv(knn(k=range(1, 30), scale=False), *load_iris(return_X_y=True))
    study = over_seeds(result, n=150)
    assert study.mean == np.mean(study.risks)
    assert study.sd == np.std(study.risks, ddof=1)
    errors = [np.std(study.risks[:k], ddof=1) / k**0.5 for k in range(2, 151)]
    settled = [error <= study.sd / 10 * (1 + 1e-9) for error in errors]
    assert all(settled[study.enough - 2 :])
    assert not settled[study.enough - 3]
    interval = result.interval()
    error = (interval.high - interval.low) / 2 / 1.959963984540054
    share = study.sd**2 / (study.sd**2 + error**2)
    assert study.noise_share == pytest.approx(share)
    frame = study.to_frame()
    assert list(frame) == ["seed", "risk", "flat"]
    assert frame["risk"].to_numpy() == pytest.approx(study.risks)
    assert over_seeds(result, n=20).enough == 100
    assert study.complete


def test_it_shows_itself():
    """Text, a table and a picture without scripts, a figure."""
    result = nested_cv(knn(k=[1, 5]), *load_iris(return_X_y=True), scoring="accuracy")
    study = over_seeds(result, n=5)
    assert "5 seeds, 1 to 5" in repr(study)
    shown = study._repr_mimebundle_()
    assert "<img" in shown["text/html"]
    assert "<script" not in shown["text/html"]
    scores = 100 * (1 - study.risks)  # in percent, as scikit-learn orients them
    np.testing.assert_allclose(study.figure().data[0].x, scores)
    one = over_seeds(result, n=1)
    assert np.isnan(one.sd)
    assert "1 seed" in repr(one)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda r: over_seeds(r.risk), "takes the result of one run, got float"),
        (lambda r: over_seeds(r, n=0), "n=0 must be a whole number >= 1"),
        (lambda r: over_seeds(r, first=-1), "first=-1 must be a whole number >= 0"),
        (lambda r: over_seeds(r, n_jobs=0), "n_jobs=0"),
        (lambda r: over_seeds(r, progress="no"), "progress='no' is not known"),
        (
            lambda r: over_seeds(Recipe.internal_cv(3).run(knn(k=[1, 3]), X, CLASSES)),
            "nothing was measured outside S",
        ),
        (
            lambda r: over_seeds(
                Recipe(KFold(3), inner=KFold(2)).run(knn(k=[1, 3]), X, CLASSES)
            ),
            "every seed gives the same number",
        ),
        (
            lambda r: over_seeds(
                Recipe(3, 2).run({"a": knn(k=[1]), "b": knn(k=[2])}, X, CLASSES)
            ),
            r"comparison\['knn'\]",
        ),
    ],
)
def test_what_cannot_be_asked(make, words):
    """The message says what to type instead."""
    result = Recipe(3, 2).run(knn(k=[1, 3]), X, CLASSES)
    with pytest.raises(InputError, match=words):
        make(result)


def test_seeds_are_handed_on_as_they_are_finished():
    """Every study so far is a beginning of the whole one; a stop ends them."""
    result = nested_cv(knn(k=[1, 5]), *load_iris(return_X_y=True))
    whole, slot = over_seeds(result, n=9, first=3), Slot(shows=False)
    so_far = list(growing(result, 9, 3, None, slot))
    assert [study.risks.size for study in so_far] == list(range(1, 10))
    assert [study.complete for study in so_far] == [False] * 8 + [True]
    for study in so_far:
        assert np.array_equal(study.risks, whole.risks[: study.risks.size])
        assert np.array_equal(study.flats, whole.flats[: study.risks.size])
        assert np.array_equal(study.seeds, whole.seeds[: study.risks.size])
    slot.stop.set()
    with pytest.raises(KeyboardInterrupt):
        list(growing(result, 9, 3, None, slot))


def test_a_seed_that_cannot_be_drawn_is_named():
    """Some seed leaves a training part without a second class."""
    y = np.arange(60) < 2

    def run(seed):
        recipe = Recipe(5, inner=2, seed=seed, stratify=False)
        return recipe.run(LogisticRegression(), X, y)

    feasible = None
    for seed in range(50):
        try:
            feasible = run(seed)
            break
        except InputError:
            continue
    with pytest.raises(InputError, match=r"^seed \d+: "):
        over_seeds(feasible, n=200, first=0)
