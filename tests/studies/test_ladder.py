"""ladder: every recipe is a run of its own, on shared rows."""

import numpy as np
import pytest

from cvnb import Interrupted, Recipe, knn, ridge
from cvnb.errors import InputError
from cvnb.studies import ladder
from studied import CLASSES, GROUPS, NUMBERS, X

FAMILY = knn(k=[1, 3, 7])


def test_every_step_is_a_run_of_its_own():
    """By the constructors of the recipes."""
    steps = ladder(FAMILY, X, CLASSES, test=0.25, folds=4, samples=3, seed=2)
    recipes = {
        "train/validation/test": Recipe.train_validation_test(0.25, 0.25, seed=2),
        "CV then test": Recipe.cv_test(4, test=0.25, seed=2),
        "resampling then test": Recipe.resampling_test(3, test=0.25, seed=2),
        "nested CV": Recipe.nested_cv(4, 4, seed=2),
        "nested CV with an inner dev set": Recipe.nested_dev(4, seed=2),
        "nested resampling": Recipe.nested_resampling(3, 3, test=0.25, seed=2),
    }
    for step in steps.steps:
        if step.name in recipes:
            alone = recipes[step.name].run(FAMILY, X, CLASSES)
            assert step.estimate == alone.risk
            assert step.interval == alone.interval()
            assert step.fits == alone.plan.n_inner * 3 + len(alone.plan.outer)
        else:
            assert step.estimate == step.result.flat
            assert step.interval is None
            assert "optimistic" in step.bias
    assert len(steps.steps) == 8


def test_rows_are_shared():
    """One test set for three recipes and the dev set; one set of folds for nested and internal."""
    runs = ladder(FAMILY, X, CLASSES, samples=2).results
    test = runs["CV then test"].plan.outer[0][1]
    for name in ("train/validation/test", "resampling then test"):
        assert np.array_equal(runs[name].plan.outer[0][1], test)
    assert np.array_equal(runs["dev set"].plan.inner[0][0][1], np.sort(test))
    folds = [pair[1] for pair in runs["nested CV"].plan.outer]
    inner = [pair[1] for pair in runs["internal CV"].plan.inner[0]]
    dev = [pair[1] for pair in runs["nested CV with an inner dev set"].plan.outer]
    for parts in zip(folds, inner, dev, strict=True):
        assert all(np.array_equal(parts[0], part) for part in parts)
    assert runs["internal CV"].flat == pytest.approx(runs["nested CV"].flat)


def test_one_setting_has_the_recipes_that_choose_nothing():
    """Test error, external CV, leave-one-out."""
    steps = ladder(knn(k=3), X, CLASSES)
    assert list(steps.results) == ["test error", "external CV", "leave-one-out CV"]


def test_options_reach_every_run():
    """Groups, weights, loss."""
    weights = np.linspace(1.0, 2.0, 60)
    steps = ladder(
        ridge(),
        X,
        NUMBERS,
        samples=2,
        groups=GROUPS,
        sample_weight=weights,
        loss="absolute",
    )
    recipe = Recipe.nested_cv(5, 5)
    alone = recipe.run(
        ridge(), X, NUMBERS, groups=GROUPS, sample_weight=weights, loss="absolute"
    )
    assert steps.results["nested CV"].risk == alone.risk


def test_a_recipe_that_cannot_be_run_is_a_line_with_the_reason():
    """Four groups are too few for five folds."""
    steps = ladder(FAMILY, X, CLASSES, samples=2, groups=np.arange(60) % 4)
    lines = {step.name: step for step in steps.steps}
    assert "5 outer folds need 5 groups" in lines["nested CV"].why
    assert lines["internal CV"].result is None
    assert lines["nested CV"].why in repr(steps)
    assert lines["nested resampling"].result is not None


def test_it_shows_itself():
    """Text, a table and a picture without scripts, a figure, a frame."""
    steps = ladder(FAMILY, X, CLASSES, samples=2, scoring="accuracy")
    shown = steps._repr_mimebundle_()
    assert "<img" in shown["text/html"]
    assert "<script" not in shown["text/html"]
    assert len(steps.figure().data[0].x) == 8
    assert steps.to_frame().shape == (8, 7)


def test_what_cannot_be_asked():
    """The message says what to type instead."""
    with pytest.raises(InputError, match="takes one family"):
        ladder({"a": FAMILY, "b": FAMILY}, X, CLASSES)
    with pytest.raises(InputError, match="test=2"):
        ladder(FAMILY, X, CLASSES, test=2)
    with pytest.raises(InputError, match="folds=1"):
        ladder(FAMILY, X, CLASSES, folds=1)


def test_an_interrupt_keeps_finished_recipes(monkeypatch):
    """The error holds a ladder of them."""
    run, begun = Recipe.run, []

    def stops(*arguments, **options):
        begun.append(1)
        if len(begun) == 4:
            raise Interrupted("stopped")
        return run(*arguments, **options)

    monkeypatch.setattr(Recipe, "run", stops)
    with pytest.raises(Interrupted, match="3 recipes were finished") as caught:
        ladder(FAMILY, X, CLASSES)
    assert len(caught.value.result.steps) == 3
