"""Gaussian naive Bayes: every smoothing has the losses of scikit-learn's fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

import cases
from class_paths import (
    AHEAD,
    NESTED,
    assert_as_refitted,
    family,
    metric,
    table,
    weights_of,
)  # fmt: skip
from cvnb import Family, Recipe
from cvnb.errors import FitError
from cvnb.paths.classes.gaussian_nb import squares
from cvnb.paths.classes.lda import products
from cvnb.paths.classes.moments import of_rows, of_sums
from cvnb.paths.classes.sums import sums_of

GRID = {"var_smoothing": [1e-9, 1e-3, 0.1, 1.0, 30.0]}


@pytest.mark.parametrize(
    "loss", ["zero_one", "log", "auc", "balanced_accuracy", "neg_brier_score"]
)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("ahead", AHEAD)
def test_every_smoothing_has_scikit_learns_losses(ahead, n_classes, loss):
    """Alone, scaled and behind another transformer, for labels and probabilities, and weighted."""
    X, y = table(n_classes)
    path = "path:gaussian_nb" if ahead == "behind" else "shared:gaussian_nb"
    if loss != "neg_brier_score":  # it needs to know which of two words is positive
        y = np.array(["d", "b", "a", "c", "e"])[y]
    fam = family(GaussianNB(), GRID, AHEAD[ahead])
    assert_as_refitted(fam, X, y, path=path, **metric(loss, y))
    assert_as_refitted(
        fam, X, y, path=path, sample_weight=weights_of(y), **metric(loss, y)
    )


@pytest.mark.parametrize(
    "name",
    ["plain / classes", "offset / classes", "wide / words", "constant column / truths"],
)
def test_labels_of_odd_tables_are_served(name):
    """Rounding is far smaller than the gaps between classes."""
    X, y = cases.data(name)
    for ahead in ("bare", "scaled"):
        assert_as_refitted(
            family(GaussianNB(), GRID, AHEAD[ahead]), X, y, path="shared:gaussian_nb"
        )


def test_columns_that_are_constant_in_some_classes_cost_no_digits():
    """Their variance there is the smoothing alone, at least 1e-9 of the largest variance."""
    X, y = load_digits(n_class=4, return_X_y=True)
    result = NESTED.run(Family(GaussianNB(), GRID), X[:300], y[:300], progress="off")
    assert result.path == "shared:gaussian_nb"
    assert_as_refitted(family(GaussianNB(), GRID), X[:300], y[:300])


def test_priors_count_as_given():
    """Settings with other priors are a combination of their own."""
    X, y = table()
    both = {"var_smoothing": [1e-9, 0.3], "priors": [None, [0.2, 0.2, 0.6]]}
    assert_as_refitted(
        family(GaussianNB(), both), X, y, path="shared:gaussian_nb", loss="log"
    )


def test_a_smoothing_that_is_given_twice_is_the_same_twice():
    """Bit by bit, in any order."""
    X, y = table()
    grid = {"var_smoothing": [1.0, 0.1, 1.0, 0.1]}
    result = assert_as_refitted(
        family(GaussianNB(), grid), X, y, path="shared:gaussian_nb", loss="log"
    )
    np.testing.assert_array_equal(
        result.inner_curves[:, :2], result.inner_curves[:, 2:]
    )


@pytest.mark.parametrize(
    ("X", "grid", "options", "why"),
    [
        (table()[0] + 1e9, GRID, {"loss": "log"}, "rounding shows"),
        (np.ones((70, 2)), GRID, {}, "a variance is zero in a class"),
        (
            table()[0],
            GRID,
            {"sample_weight": np.where(table()[1] == 1, 0.0, 1.0)},
            "a class has no weight",
        ),
    ],
)
def test_what_is_not_for_the_path_is_refitted(X, grid, options, why):
    """The reason names the obstacle."""
    result = NESTED.run(
        Family(GaussianNB(), grid), X, table()[1], progress="off", **options
    )
    assert result.path == "refit"
    assert why in result.path_reason


def test_priors_that_scikit_learn_refuses_are_refused_in_its_words():
    """The error is that of refit, where every setting fails."""
    with pytest.raises(FitError, match="The sum of the priors should be 1"):
        NESTED.run(
            Family(GaussianNB(priors=[0.5, 0.5, 0.5]), GRID), *table(), progress="off"
        )


def test_a_class_that_a_training_part_lacks_is_never_said():
    """Two classes of three are a problem of two; a single class is refitted."""
    X, y = table(3, m=40)
    y[:] = np.where(np.arange(40) < 4, 2, y % 2)
    outer = [(np.arange(4, 40), np.arange(4)), (np.arange(30), np.arange(30, 40))]
    inside = [
        [(outer[0][0][:20], outer[0][0][20:])],
        [(outer[1][0][:20], outer[1][0][20:])],
    ]
    for loss in ("zero_one", "log"):
        assert_as_refitted(
            family(GaussianNB(), GRID),
            X,
            y,
            Recipe(outer, inside),
            "shared:gaussian_nb",
            loss=loss,
        )
    alone = np.where(np.arange(40) >= 30, 1, 0)
    assert_as_refitted(family(GaussianNB(), GRID), X, alone, Recipe(outer, inside))


def test_one_se_takes_the_largest_smoothing():
    """It is the simplest, by the record."""
    X, y = table(m=40)
    result = NESTED.run(
        family(GaussianNB(), {"var_smoothing": [1e-3, 1e-1, 1e-2]}),
        X,
        y,
        select="one_se",
        progress="off",
    )
    order = [0.001, 0.01, 0.1]
    minimum = NESTED.run(
        family(GaussianNB(), {"var_smoothing": [1e-3, 1e-1, 1e-2]}),
        X,
        y,
        progress="off",
    )
    for simple, best in zip(result.chosen, minimum.chosen, strict=True):
        assert order.index(simple["var_smoothing"]) >= order.index(
            best["var_smoothing"]
        )
    assert {setting["var_smoothing"] for setting in result.chosen} == {0.1}


@given(
    m=st.integers(4, 40),
    p=st.integers(1, 5),
    n_classes=st.integers(1, 4),
    n_blocks=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    weighted=st.booleans(),
    away=st.sampled_from([0.0, 1.0, 1e3]),
)
@settings(max_examples=100)
@pytest.mark.parametrize("second", [squares, products])
def test_moments_of_sums_are_those_of_the_rows(
    second, m, p, n_classes, n_blocks, seed, weighted, away
):
    """For any rows in any blocks, weighted or not, far from zero or near."""
    rng = np.random.default_rng(seed)
    X, codes, block = (
        rng.normal(size=(m, p)) + away,
        rng.integers(0, n_classes, m),
        rng.integers(0, n_blocks, m),
    )
    w = rng.uniform(0.2, 3.0, m) if weighted else None
    rows = of_rows(X, codes, w, second)
    sums, shape = 0.0, rows.seconds.shape[1:]
    for b in range(n_blocks):
        block_sums = np.zeros((n_classes, 2 + 3 * p + int(np.prod(shape))))
        for code in range(n_classes):
            at = (block == b) & (codes == code)
            if at.any():
                starts = np.zeros(1, dtype=np.int64)
                weights = None if w is None else w[at]
                block_sums[code] = sums_of(
                    X[at] - rows.origin, weights, starts, second
                )[0]
        sums = sums + block_sums
    found = of_sums(sums, rows.origin, shape)
    np.testing.assert_array_equal(found.present, rows.present)
    for name in ("n", "weight", "means", "seconds", "variance"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(rows, name), rtol=1e-10, atol=1e-12
        )
    for k, code in enumerate(rows.present):
        of_class = codes == code
        expected = np.zeros((p, p))
        if np.count_nonzero(of_class) > 1:
            weights = None if w is None else w[of_class]
            expected = np.cov(X[of_class].T, bias=True, aweights=weights).reshape(p, p)
        if second is squares:
            expected = np.diag(expected)
        np.testing.assert_allclose(
            rows.seconds[k], expected, rtol=1e-9, atol=1e-12 * (1.0 + away)
        )
