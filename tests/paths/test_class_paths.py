"""What the paths from class sums have in common: splits, odd tables, threads, no leakage."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import cases
from class_paths import (
    AHEAD,
    GROUPED,
    ODD_TABLES,
    ONE_SETTING,
    RECIPES,
    SHARED,
    assert_as_refitted,
    family,
    metric,
    table,
    weights_of,
)
from cvnb import Recipe

MODELS = {
    "lda": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    "gaussian_nb": GaussianNB(),
}
GRIDS = {
    "lda": {"shrinkage": [0.0, 0.02, 0.3, 0.7, 1.0]},
    "gaussian_nb": {"var_smoothing": [1e-9, 1e-3, 0.1, 1.0, 30.0]},
}
# Without settings that few rows make singular.
REGULAR_GRIDS = GRIDS | {"lda": {"shrinkage": [0.05, 0.4, 1.0]}}
LONG_GRIDS = {
    "lda": {"shrinkage": np.linspace(0, 1, 41)},
    "gaussian_nb": {"var_smoothing": np.logspace(-9, 1, 41)},
}
WEIGHTED = ["gaussian_nb"]  # whose fit takes weights

every_model = pytest.mark.parametrize("model", MODELS)
plain_and_weighted = pytest.mark.parametrize(
    ("model", "weighted"),
    [(model, False) for model in MODELS] + [(model, True) for model in WEIGHTED],
)


def after(ahead, model, grids):
    """The family of a model after these transformers."""
    return family(MODELS[model], grids[model], AHEAD[ahead])


@pytest.mark.parametrize("ahead", ["bare", "scaled"])
@pytest.mark.parametrize("name", RECIPES)
@plain_and_weighted
def test_every_recipe_takes_the_path(model, weighted, name, ahead):
    """It uses sums of blocks if the splits are a partition, otherwise the rows."""
    # leave-one-out and many blocks are hundreds of refits: the loss that shows every digit
    many = "loo" in name or name == "many blocks"
    X, y = table(m=41 if "loo" in name else 61)
    path = f"shared:{model}" if name in SHARED else f"path:{model}"
    options = {"sample_weight": weights_of(y) + 0.1} if weighted else {}
    for loss in ("log",) if many else ("zero_one", "log"):
        assert_as_refitted(
            after(ahead, model, REGULAR_GRIDS),
            X,
            y,
            RECIPES[name],
            path,
            loss=loss,
            **options,
        )


@pytest.mark.parametrize("name", ONE_SETTING)
@every_model
def test_recipes_without_a_choice_take_the_path(model, name):
    """Outer splits that partition all rows are sums of blocks."""
    path = f"path:{model}" if name == "validation" else f"shared:{model}"
    assert_as_refitted(family(MODELS[model], {}), *table(), ONE_SETTING[name], path)


@every_model
def test_groups_stay_together(model):
    """Splits by group are a partition like others."""
    X, y = table()
    groups = np.arange(len(y)) // 3
    fam = after("bare", model, GRIDS)
    assert_as_refitted(fam, X, y, GROUPED, f"shared:{model}", groups=groups)


@pytest.mark.parametrize("ahead", ["bare", "scaled"])
@pytest.mark.parametrize("name", ODD_TABLES)
@pytest.mark.parametrize("loss", ["zero_one", "log", "auc"])
@every_model
def test_odd_tables_are_scikit_learns(model, loss, name, ahead):
    """The losses are scikit-learn's, from the path or from refit."""
    X, y = cases.data(name)
    fam = after(ahead, model, REGULAR_GRIDS)
    assert_as_refitted(fam, X, y, **metric(loss, y))


@pytest.mark.parametrize("ahead", ["bare", "scaled"])
@plain_and_weighted
def test_garbage_in_an_outer_test_part_moves_no_bit(model, weighted, ahead):
    """Its rows are in no sum: the inner losses and the choice are equal bit by bit."""
    X, y = table()
    recipe, fam = Recipe(4, 3, stratify=False), after(ahead, model, GRIDS)
    w = weights_of(y) + 0.1 if weighted else None
    options = {"loss": "log", "progress": "off", "sample_weight": w}
    clean = recipe.run(fam, X, y, **options)
    for j, (_, test) in enumerate(clean.plan.outer):
        rng, dirty, labels = np.random.default_rng(j), X.copy(), y.copy()
        dirty[test] = 1e6 * rng.normal(size=dirty[test].shape)
        labels[test] = rng.permutation(y)[: test.size]
        found = recipe.run(fam, dirty, labels, **options)
        np.testing.assert_array_equal(found.inner_curves[j], clean.inner_curves[j])
        assert found.chosen_index[j] == clean.chosen_index[j]


@every_model
def test_any_number_of_threads_gives_the_same_bits(model):
    """With one or two threads, and enough work for two."""
    X, y = table(m=4000, p=12)
    fam = after("bare", model, LONG_GRIDS)
    one, two = (
        Recipe(5, 5).run(fam, X, y, loss="log", progress="off", n_jobs=n)
        for n in (1, 2)
    )
    assert one.path == f"shared:{model}"
    for name in ("inner_curves", "outer_curves", "fold_risks"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
