"""Partial least squares: scikit-learn's numbers for every number of components, and refusals
where its own rounding decides them."""

import warnings

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from cvnb import Family, Recipe
from cvnb.paths import pls
from cvnb.paths.base import Unsuited
from cvnb.runtime.cancel import Stop, Stopped

THREE = Recipe(3, 3)


def table(n=45, p=5, seed=0, noise=0.5):
    """Independent columns, the first three of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, :3].sum(axis=1) + noise * rng.normal(size=n)


def steep(n, p, decay, noise=0.5, seed=0):
    """Columns whose principal components become smaller and smaller."""
    rng = np.random.default_rng(seed)
    sizes = np.exp(-decay * np.arange(min(n, p)))
    X = (rng.normal(size=(n, sizes.size)) * sizes) @ rng.normal(size=(sizes.size, p))
    return X, X[:, :3].sum(axis=1) + noise * rng.normal(size=n)


def both(X, y, counts, recipe=THREE, ahead=(), **options):
    """The results of the path and of refit; options of the model."""
    model, key = PLSRegression(**options), "n_components"
    if ahead:
        model, key = make_pipeline(*ahead, model), f"plsregression__{key}"
    family = Family(model, {key: list(counts)})
    return [
        recipe.run(family, X, y, flat=True, path=path, progress="off")
        for path in ("auto", "refit")
    ]


def assert_equal(fast, slow):
    """The same losses, choices and predictions."""
    for name in ("inner_curves", "outer_curves", "fold_risks", "predictions"):
        ours, theirs = getattr(fast, name), getattr(slow, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert fast.chosen == slow.chosen


def refitted(result):
    return [note for note in result.notes if "refitted" in note]


A, Y = table()
SERVED = {
    "every number of components": (A, Y, range(1, 6)),
    "twice the same columns": (np.hstack([A, A]), Y, range(1, 6)),
    "fewer directions than columns": (A @ table(5, 30)[0], Y, range(1, 6)),
    "more columns than rows": (*table(45, 90), range(1, 13)),
    "small directions": (*steep(60, 40, 0.3), range(1, 16)),
    "columns far from zero": (A + 1e4, Y, range(1, 6)),
    "tiny columns": (A * 1e-12, Y, range(1, 6)),
    "a constant column of whole numbers": (
        np.column_stack([A, np.full(45, 7.0)]),
        Y,
        range(1, 6),
    ),
    "any order, twice the same": (A, Y, [4, 1, 4, 2]),
}


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("name", SERVED)
def test_one_fit_serves_every_number_of_components(name, scale):
    """The numbers are those of one fit per number, and no split is refitted."""
    X, y, counts = SERVED[name]
    fast, slow = both(X, y, counts, scale=scale)
    assert (fast.path, refitted(fast)) == ("path:pls", [])
    assert_equal(fast, slow)


@pytest.mark.parametrize(
    "recipe", [Recipe(3, "loo"), Recipe("loo", 3), Recipe(GroupKFold(3), GroupKFold(2))]
)
def test_any_splits_and_transformers(recipe):
    """Leave-one-out, groups, and a transformer ahead."""
    groups = np.arange(25) % 7 if "Group" in repr(recipe) else None
    family = Family(
        make_pipeline(MinMaxScaler(), PLSRegression()),
        {"plsregression__n_components": [1, 2, 3]},
    )
    fast, slow = (
        recipe.run(
            family, A[:25], Y[:25], groups=groups, flat=True, path=path, progress="off"
        )
        for path in ("auto", "refit")
    )
    assert fast.path == "path:pls"
    assert_equal(fast, slow)


FAR, LAST = "so far from zero", "rounding decides some of the last components"
REFUSED = {
    "more components than directions": (np.hstack([A, A]), Y, range(1, 9), LAST),
    "an exact fit": (A, A[:, :3].sum(axis=1), range(1, 6), "rounding"),
    "nearly an exact fit": (A, table(noise=1e-7)[1], range(1, 6), "rounding"),
    "very small directions": (*steep(60, 12, 3.0, 1e-7), range(1, 12), LAST),
    "columns very far from zero": (A + 1e6, Y, [1, 2], FAR),
    "targets very far from zero": (A, Y + 1e7, [1, 2], FAR),
    "more components than columns": (A, Y, [1, 6], "larger than the number of rows"),
    "an inexact constant column": (
        np.column_stack([A, np.full(45, 7.1)]),
        Y,
        [1, 2],
        "nearly constant",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_rounding_decides_is_refitted(name):
    """The splits are refitted, and the reason is told."""
    X, y, counts, reason = REFUSED[name]
    fast, slow = both(X, y, counts)
    assert reason in f"{fast.path_reason} {refitted(fast)}"
    assert_equal(fast, slow)


def test_constant_targets_are_predicted_by_their_mean():
    """scikit-learn stops before the first component, and so does the path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast, slow = both(A, np.full(45, 3.0), [1, 2, 3])
    assert (fast.path, refitted(fast)) == ("path:pls", [])
    assert_equal(fast, slow)
    assert (fast.inner_curves == 0.0).all()


def test_where_nothing_is_left_further_components_change_nothing():
    """Residuals below scikit-learn's limit end the fit; later numbers predict the same."""
    one = pls.components(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0]), 3, Stop())
    assert one.weights[0] != 0
    assert (one.weights[1:] == 0).all()
    assert (one.rotations[1:] == 0).all()


TABLES = {
    "tall": table(100, 20),
    "square": table(50, 50),
    "wide": table(40, 200),
    "wide and steep": steep(60, 150, 0.3),
    "steep, little noise": steep(100, 30, 0.4, 1e-3),
    "steeper, less noise": steep(100, 8, 2.0, 1e-5),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_second_fit_tells_how_far_rounding_goes(name):
    """Predictions differ from scikit-learn's by no more than the two fits from each other."""
    X, y = TABLES[name]
    n, most = len(X) - 20, min(len(X) - 20, X.shape[1], 25) - 1
    Z, residual, frame = pls._framed(X[:n], y[:n], True)
    Z_test = (X[n:] - frame.centre) / frame.scale
    fits = [
        pls._predictions(pls.components(Z, residual, most, Stop(), own), Z_test, frame)
        for own in (False, True)
    ]
    doubt = np.sqrt(((fits[0] - fits[1]) ** 2).mean(axis=0))
    for k in range(1, most + 1):
        model = PLSRegression(k).fit(X[:n], y[:n])
        away = fits[0][:, k - 1] - model.predict(X[n:])
        assert np.sqrt((away**2).mean()) < 2 * doubt[k - 1] + 1e-14


def test_a_stop_ends_the_fit_between_components():
    """The stop flag is seen at every component."""
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        pls.components(A, Y, 3, stop)


def test_vectors_whose_squares_overflow_are_refused():
    """Numbers outside the range of their squares are left to a refit."""
    with pytest.raises(Unsuited, match="rounding decides"):
        pls.components(A * 1e-200, Y, 3, Stop())
