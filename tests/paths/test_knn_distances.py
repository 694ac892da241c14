"""Distances of zero, subnormal, nearly equal or undefined: the k-NN path."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import naive
from cvnb import Family, Recipe
from cvnb.kernels import neighbours
from cvnb.paths.knn.search import Geometry, nearest

NESTED = Recipe(outer=4, inner=3)


RNG = np.random.default_rng(0)


X = RNG.normal(size=(60, 4))


CLASSES = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)


def both(model, grid, y=CLASSES, recipe=NESTED, **options):
    """The fast result and the refitted one."""
    return [
        recipe.run(Family(model, grid), X, y, progress="off", path=path, **options)
        for path in ("auto", "refit")
    ]


TINY = """
import numpy as np
from sklearn.neighbors import KNeighborsRegressor
from cvnb import Family, Recipe
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 4)) * 1e-318, rng.normal(size=60)
family = Family(KNeighborsRegressor(p=1), {"n_neighbors": [1, 5]})
fast, slow = (Recipe(4, 3).run(family, X, y, path=path) for path in ("auto", "refit"))
assert fast.path == "shared:knn" and np.allclose(fast.fold_risks, slow.fold_risks)
"""


def test_distances_too_small_to_divide_by_are_sorted():
    """Subnormal distances once led out of the buckets and killed the process; so they are
    tried in one of their own."""
    done = subprocess.run([sys.executable, "-c", TINY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


TIED = {
    "constant": lambda rng: np.ones((120, 2)),
    "rows of zeros": lambda rng: (
        rng.normal(size=(200, 20)) * (rng.random((200, 20)) < 0.03)
    ),
    "bits": lambda rng: (rng.random((600, 3)) > 0.5).astype(float),
}


@pytest.mark.parametrize("kind", TIED)
def test_ties_at_distance_zero_are_counted(kind):
    """Every prediction whose k-th and next neighbour are equally far counts, at distance 0 too."""
    X = TIED[kind](np.random.default_rng(3))
    y, ks = np.random.default_rng(4).normal(size=len(X)), [1, 5, 9]
    result = Recipe(outer=3, inner=2).run(
        Family(KNeighborsRegressor(), {"n_neighbors": ks}), X, y, progress="off"
    )
    tied = 0
    for train, test in [
        *result.plan.outer,
        *(split for splits in result.plan.inner for split in splits),
    ]:
        for x in X[test]:
            d = np.sort(naive.distances(X[train], x))
            tied += sum(bool(d[k] - d[k - 1] <= 1e-12 * d[k]) for k in ks)
    assert any(note.startswith(f"At {tied} predictions") for note in result.notes)


def test_neighbours_at_distance_zero_are_certain():
    """Many copies of a row leave no list short."""
    T = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 50, axis=0)
    near = nearest(
        T, np.repeat(T, 2, axis=0), Geometry(False, neighbours.EUCLIDEAN, 2.0), 5
    )
    assert (near.reach == 6).all()


@pytest.mark.parametrize("powers", [[2, 0.5], [0.5, 2]])
def test_every_setting_is_asked_whether_it_suits_the_path(powers):
    """One power that no tree of distances knows sends the grid to refit, wherever it stands."""
    fast, slow = both(KNeighborsClassifier(), {"p": powers})
    assert fast.path == "refit"
    assert "p=0.5" in fast.path_reason
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-12)


def test_a_power_of_none_costs_its_own_setting():
    """p=None fails as it does in scikit-learn, with a note."""
    fast, slow = both(KNeighborsClassifier(), {"p": [2, None]})
    assert fast.chosen == slow.chosen
    assert any("p=None failed" in note for note in fast.notes)


def test_a_row_parallel_to_a_test_row_moves_no_bit():
    """What only an outer test part makes hard is measured by refit, and the choice inside
    stays as it was."""
    family = Family(
        KNeighborsRegressor(metric="cosine", weights="distance"),
        {"n_neighbors": [2, 5, 9]},
    )
    clean = NESTED.run(family, X, X[:, 0], progress="off")
    train, test = clean.plan.outer[0]
    parallel = X.copy()
    parallel[test[0]] = 3 * X[train[0]]
    result = NESTED.run(family, parallel, X[:, 0], progress="off")
    assert (clean.path, result.path) == ("shared:knn", "shared:knn")
    assert result.inner_curves[0].tobytes() == clean.inner_curves[0].tobytes()
    assert any(
        "splits were refitted: rows are nearly parallel" in note
        for note in result.notes
    )


def test_the_neighbours_of_rows_with_other_columns_are_not_sought():
    """The kernels trust the caller, who looks first."""
    with pytest.raises(ValueError, match="6 columns against 1"):
        nearest(
            np.zeros((30, 6)),
            np.zeros((4, 1)),
            Geometry(False, neighbours.MANHATTAN, 1.0),
            2,
        )
