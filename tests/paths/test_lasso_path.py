"""Lasso and elastic net: every penalty from one descent has the losses of scikit-learn's
fits run to the end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet, Lasso, lars_path
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import cases
from cvnb import Family, Recipe, elastic_net, lasso
from cvnb.kernels import lasso as kernel
from cvnb.kernels import linear

ALPHAS = [1e-4, 3e-3, 0.03, 0.2, 1.0, 30.0]
END = {"tol": 1e-12, "max_iter": 1_000_000}
NESTED = Recipe(outer=5, inner=3)


def table(m=61, p=4, seed=0):
    """Columns of several sizes, half of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p)) * rng.uniform(0.3, 3.0, p)
    return X, X[:, ::2] @ rng.normal(size=(p + 1) // 2) + rng.normal(size=m)


def family(model, scaled=False, grid=None):
    """The model bare or behind a scaler."""
    grid = {"alpha": ALPHAS} if grid is None else grid
    if not scaled:
        return Family(model, grid)
    name = type(model).__name__.lower()
    return Family(
        make_pipeline(StandardScaler(), model),
        {f"{name}__{key}": values for key, values in grid.items()},
    )


def assert_as_refitted(
    fam, X, y, recipe=NESTED, path="shared:lasso", tolerance=1e-7, **options
):
    """The curves, the choices and the risks of scikit-learn's own fits."""
    fast = recipe.run(fam, X, y, progress="off", **options)
    slow = recipe.run(fam, X, y, progress="off", path="refit", flat=True, **options)
    assert fast.path == path, (fast.path_reason, fast.notes)
    assert not any("refitted" in note for note in fast.notes)
    for name in ("inner_curves", "outer_curves", "fold_risks"):
        if getattr(slow, name) is not None:
            np.testing.assert_allclose(
                getattr(fast, name), getattr(slow, name), rtol=tolerance
            )
    assert fast.chosen == slow.chosen
    return fast


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize(
    ("recipe", "path"),
    [
        (NESTED, "shared:lasso"),
        (Recipe(3, "loo"), "shared:lasso"),
        (Recipe("loo", 2), "shared:lasso"),
        (Recipe(None, 5), "shared:lasso"),
        (Recipe(0.2, 4), "shared:lasso"),
        (Recipe(3, 0.3), "path:lasso"),
        (Recipe(3, ShuffleSplit(4, test_size=0.3, random_state=1)), "path:lasso"),
        (Recipe(TimeSeriesSplit(3), TimeSeriesSplit(2)), "path:lasso"),
        (Recipe(3, 3, time_ordered=True, buffer=2), "path:lasso"),
    ],
    ids=repr,
)
def test_lasso_on_every_recipe_is_scikit_learns(recipe, path, scaled):
    """Whatever the splits are."""
    assert_as_refitted(family(Lasso(**END), scaled), *table(), recipe, path)


@pytest.mark.parametrize(
    "model",
    [
        Lasso(fit_intercept=False),
        Lasso(positive=True),
        ElasticNet(),
        ElasticNet(l1_ratio=0.1, positive=True),
        Lasso(selection="random"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_every_kind_is_scikit_learns(model, weighted, scaled, rng):
    """Without an intercept, with signs given, mixed with squares, on weighted rows."""
    X, y = table()
    options = {"sample_weight": rng.random(len(y)) + 0.05} if weighted else {}
    assert_as_refitted(family(model.set_params(**END), scaled), X, y + 1, **options)


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize(
    "data",
    [
        "one column / numbers",
        "whole / numbers",
        "bits / numbers",
        "constant column / numbers",
        "ties / numbers",
        "bytes / whole numbers",
    ],
)
def test_odd_columns_are_scikit_learns(data, scaled):
    """Integers, bits, constants, equal rows."""
    X, y = cases.data(data)
    X = (
        X / 500
        if data.startswith("whole")
        else X / 60
        if data.startswith("bytes")
        else X
    )
    fam = family(
        ElasticNet(**END), scaled, {"alpha": ALPHAS, "l1_ratio": [0.2, 0.7, 1.0]}
    )
    assert_as_refitted(
        fam, np.asarray(X, dtype=float) if X.dtype == float else X, y, tolerance=1e-6
    )


@pytest.mark.parametrize(
    "model", [Lasso(**END), ElasticNet(**END)], ids=["lasso", "elastic net"]
)
def test_more_columns_than_rows_are_scikit_learns(model):
    """Wide tables, where few columns count at a time."""
    X, y = table(m=45, p=130, seed=2)
    assert_as_refitted(
        family(model, grid={"alpha": [0.02, 0.1, 0.5]}),
        X,
        y,
        Recipe(3, 3),
        "path:lasso",
        1e-6,
    )


def test_columns_far_from_zero_keep_their_digits():
    """An offset is taken out before anything is squared."""
    X, y = table(m=80)
    near = NESTED.run(family(Lasso()), X, y, progress="off")
    far = NESTED.run(family(Lasso()), X + 1e5, y + 1e3, progress="off")
    assert far.path == "shared:lasso"
    np.testing.assert_allclose(far.inner_curves, near.inner_curves, rtol=1e-8)


def test_the_usual_tolerance_of_scikit_learn_is_met():
    """Its default stops early; here the minimum itself is found."""
    X, y = table(m=200, p=10)
    assert_as_refitted(family(Lasso()), X, y, tolerance=1e-3)
    assert NESTED.run(lasso(), X, y, progress="off").path == "shared:lasso"
    assert NESTED.run(elastic_net(), X, y, progress="off").path == "shared:lasso"


def test_behind_other_transformers_it_is_one_descent_per_split():
    """The transformers are fitted once per split."""
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(2, include_bias=False), Lasso(**END)
    )
    assert_as_refitted(
        Family(model, {"lasso__alpha": ALPHAS[2:]}),
        *table(p=3),
        path="path:lasso",
        tolerance=1e-6,
    )


@pytest.mark.parametrize(
    ("model", "grid", "why"),
    [
        (Lasso(), {"alpha": [0.0, 0.1]}, "alpha=0"),
        (ElasticNet(precompute=np.eye(4)), None, "precompute=<array>"),
        (Lasso(max_iter=3), None, "max_iter=3, which ends before the minimum"),
        (Lasso(tol=0.1), None, "tol=0.1, which ends before the minimum"),
    ],
)
def test_what_is_not_for_the_path_is_refitted(model, grid, why):
    """The reason names the parameter."""
    X, y = table()
    result = Recipe(5, 3).run(
        family(model, grid=grid), X - X.mean(axis=0), y, progress="off"
    )
    assert result.path == "refit"
    assert why in result.path_reason


def test_no_penalty_is_no_lasso_behind_a_transformer_either():
    """Each split is refitted, and a note gives the reason."""
    model = make_pipeline(PolynomialFeatures(1, include_bias=False), Lasso(**END))
    result = NESTED.run(
        Family(model, {"lasso__alpha": [0.0, 0.1]}), *table(m=40), progress="off"
    )
    assert any("alpha=0 is no lasso" in note for note in result.notes)


def test_copies_of_columns_are_left_to_scikit_learn():
    """The minimum does not tell which of two equal columns counts."""
    X, y = table()
    result = NESTED.run(
        family(Lasso(**END)), np.column_stack([X, X[:, 0]]), y, progress="off"
    )
    assert any("collinear" in note for note in result.notes)


def test_any_number_of_threads_gives_the_same_bits():
    """One thread or four."""
    X, y = table(m=90, p=12)
    one, four = (
        NESTED.run(family(Lasso()), X, y, progress="off", n_jobs=n) for n in (1, 4)
    )
    np.testing.assert_array_equal(one.inner_curves, four.inner_curves)
    np.testing.assert_array_equal(one.outer_curves, four.outer_curves)


@pytest.mark.parametrize("ratio", [1.0, 0.9])
@pytest.mark.parametrize(("m", "p"), [(30, 130), (27, 40), (40, 39), (80, 60)])
def test_tiny_penalties_on_many_columns_have_the_minimum_of_least_angles(
    m, p, ratio, rng
):
    """Where scikit-learn's descent does not end within a million sweeps: its homotopy, on
    rows that stand for the squares."""
    X = rng.normal(size=(m, p)) @ (np.eye(p) + rng.normal(size=(p, p)) / np.sqrt(p))
    y = X[:, :3] @ [1.0, -2.0, 3.0] + rng.normal(size=m)
    alphas = np.logspace(1, -7, 17)
    out = np.empty((p, alphas.size))
    l1s, l2s = m * ratio * alphas, m * (1 - ratio) * alphas
    status = kernel.descend(
        X.T @ X, X.T @ y, y @ y, l1s, l2s, False, np.zeros(1, dtype=np.uint8), out
    )
    assert status == kernel.FINE
    for s in range(alphas.size):
        A, b = np.vstack([X, np.sqrt(l2s[s]) * np.eye(p)]), np.append(y, np.zeros(p))
        unit = 1e6  # it ends within 1e-7 of the penalty
        _, _, coefs = lars_path(
            A, unit * b, alpha_min=unit * l1s[s] / len(A), method="lasso"
        )
        np.testing.assert_allclose(
            out[:, s], coefs[:, -1] / unit, rtol=1e-6, atol=1e-8 * np.abs(y).max()
        )


def test_a_small_column_next_to_a_huge_one_counts():
    """Rounding is judged column by column: units of 1e-6 are not lost next to units of 1e8."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 2))
    y = Z @ [5.0, 3.0] + 0.5 * rng.normal(size=60)
    fam = family(Lasso(), grid={"alpha": [1e-5, 1e-8]})
    result = Recipe(3, 3).run(fam, Z * [1e8, 1e-6], y, progress="off")
    assert result.path == "shared:lasso"
    assert (
        result.outer_curves[:, 0] > 5
    ).all()  # there the penalty keeps the small one out
    assert (result.outer_curves[:, 1] < 1).all()


@pytest.mark.parametrize("seed", [274, 296, 370, 391, 455])
def test_columns_that_only_together_could_replace_others_are_found(seed):
    """Tables of bits, in which the minimum is hardly ever the only one."""
    rng = np.random.default_rng(seed)
    X, y = (
        rng.integers(0, 2, (12, 15)).astype(float),
        rng.integers(0, 4, 12).astype(float),
    )
    fam = family(Lasso(tol=1e-12, max_iter=100_000), grid={"alpha": [0.02, 0.05, 0.1]})
    fast, slow = (
        Recipe(3, 3).run(fam, X, y, progress="off", path=path)
        for path in ("auto", "refit")
    )
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-6)


def test_copies_among_more_columns_than_rows_are_left_to_scikit_learn():
    """The minimum that columns reach one by one is not the only one, and is not taken."""
    X, y = table(m=45, p=130, seed=2)
    fam = family(Lasso(), grid={"alpha": [1e-4, 1e-3, 0.02]})
    result = Recipe(3, 3).run(fam, np.column_stack([X, X]), y, progress="off")
    assert result.path == "refit"
    assert "collinear" in result.path_reason


@given(
    m=st.integers(3, 40),
    p=st.integers(1, 40),
    seed=st.integers(0, 10**6),
    ratio=st.sampled_from([0.05, 0.5, 1.0]),
    positive=st.booleans(),
    decades=st.integers(0, 7),
)
@settings(max_examples=150)
def test_what_is_found_is_the_minimum(m, p, seed, ratio, positive, decades):
    """The conditions of optimality hold for any table: no other definition of the minimum
    is needed."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(m, p)) * 10.0 ** rng.uniform(-1, 1, p), rng.normal(size=m)
    G, b = X.T @ X, X.T @ y
    penalties = np.abs(b).max() * 2.0 * np.logspace(0, -decades - 1, 8)
    l1s, l2s = ratio * penalties, (1 - ratio) * penalties
    out = np.empty((p, 8))
    status = kernel.descend(
        G, b, y @ y, l1s, l2s, positive, np.zeros(1, dtype=np.uint8), out
    )
    if status == kernel.ILL:
        assert m <= p  # only then columns can make each other up
        return
    for s in range(8):
        w = out[:, s]
        gradient = b - G @ w - l2s[s] * w
        moved = w != 0
        np.testing.assert_allclose(
            gradient[moved],
            l1s[s] * np.sign(w[moved]),
            rtol=1e-6,
            atol=1e-9 * np.abs(b).max(),
        )
        still = gradient[~moved] if positive else np.abs(gradient[~moved])
        assert (still <= l1s[s] * (1 + 1e-6) + 1e-9 * np.abs(b).max()).all()
        assert not positive or (w >= 0).all()


def test_the_statuses_of_the_kernels_are_the_same():
    """A kernel file imports no other, so the constants that two of them share are compared here."""
    assert (kernel.FINE, kernel.ILL) == (linear.FINE, linear.ILL)
