"""Lasso and elastic net on more columns than rows: working sets give the one minimum, its
losses are scikit-learn's, and what is not unique is left to scikit-learn."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cvnb import Family, Recipe
from cvnb.kernels import lasso as products
from cvnb.kernels import linear
from cvnb.kernels import wide_lasso as kernel
from cvnb.paths.linear import wide_lasso
from cvnb.paths.linear.penalty_path import PenaltyPath
from cvnb.paths.linear.wide_lasso import Descent, Penalties

TO_GLMNET = 2e-5
END = {"tol": 1e-13, "max_iter": 100_000}
ROW = np.random.default_rng(5)


@pytest.fixture(autouse=True, scope="module")
def small_tables_too():
    """Working sets serve small tables as well, where products of all columns cost less."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wide_lasso, "FEW", 0)
        yield


def table(m=48, p=600, seed=0):
    """Columns of several sizes, of which four matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p)) * rng.uniform(0.5, 2.0, p)
    return X, X[:, :4] @ [2.0, -1.5, 1.0, 1.0] + rng.normal(size=m)


FEATURES = {
    "plain": lambda X: X,
    "offset": lambda X: X + 1e4,
    "far": lambda X: X + 3e5,
    "whole": lambda X: np.round(10 * X).astype(np.int64),
    "bits": lambda X: X > 0.3,
    "constant column": lambda X: np.column_stack(
        [X[:, :2], np.full(len(X), 7.1), X[:, 2:]]
    ),
    "equal rows": lambda X: np.vstack([X[: len(X) // 2]] * 2),
}


def grid_of(X, y, shares=(0.35, 0.6, 0.9), ratio=1.0):
    """Penalties as shares of the largest that leaves a column."""
    Z = np.asarray(X, dtype=float)
    Z = Z - Z.mean(axis=0)
    top = np.abs(Z.T @ (y - y.mean())).max() / len(y) / ratio
    return {"alpha": [share * top for share in shares]}


def family(model, grid, scaled=False):
    """The model bare or behind a scaler."""
    if not scaled:
        return Family(model, grid)
    name = type(model).__name__.lower()
    return Family(
        make_pipeline(StandardScaler(), model),
        {f"{name}__{key}": values for key, values in grid.items()},
    )


def both(fam, X, y, recipe=None, **options):
    """The results of the path and of refits."""
    recipe = Recipe(3, 3) if recipe is None else recipe
    fast = recipe.run(fam, X, y, progress="off", **options)
    slow = recipe.run(fam, X, y, progress="off", path="refit", flat=True, **options)
    return fast, slow


def assert_as_refitted(fam, X, y, recipe=None, tolerance=1e-7, **options):
    """The curves, the choices and the risks of scikit-learn's own fits, without any refit."""
    fast, slow = both(fam, X, y, recipe, **options)
    assert fast.path == "path:lasso", (fast.path_reason, fast.notes)
    assert not any("refitted" in note for note in fast.notes)
    for name in ("inner_curves", "outer_curves", "fold_risks"):
        if getattr(slow, name) is not None:
            ours, theirs = getattr(fast, name), getattr(slow, name)
            np.testing.assert_allclose(ours, theirs, rtol=tolerance)
    assert fast.chosen == slow.chosen


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("features", FEATURES)
def test_odd_columns_are_scikit_learns(features, scaled):
    """Offsets, integers, bits, constants, equal rows."""
    X, y = table(m=76)
    X = FEATURES[features](X)
    grid = {"alpha": [0.15, 0.4, 0.8]} if scaled else grid_of(X, y)
    tolerance = 1e-6 if features == "far" else 1e-7
    assert_as_refitted(family(Lasso(**END), grid, scaled), X, y, tolerance=tolerance)


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(
    "model",
    [
        Lasso(fit_intercept=False),
        Lasso(positive=True),
        ElasticNet(l1_ratio=0.5),
        ElasticNet(l1_ratio=0.05),
        ElasticNet(l1_ratio=0.2, positive=True),
    ],
    ids=repr,
)
def test_every_kind_is_scikit_learns(model, weighted, scaled):
    """Without an intercept, with signs given, mixed with squares, on weighted rows."""
    X, y = table()
    options = {"sample_weight": ROW.random(len(y)) + 0.05} if weighted else {}
    grid = grid_of(X, y, ratio=getattr(model, "l1_ratio", 1.0))
    fam = family(model.set_params(**END), grid, scaled)
    assert_as_refitted(fam, X, y + 1, **options)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(None, 4),
        Recipe(0.25, 3),
        Recipe(2, 0.3),
        Recipe(None, "loo"),
        Recipe(3, 3, time_ordered=True, buffer=2),
        Recipe.external_cv(3),
    ],
    ids=repr,
)
def test_every_recipe_is_scikit_learns(recipe):
    """Whatever the splits are."""
    X, y = table(m=30, p=300)
    grid = grid_of(X, y)
    if recipe.inner is None:
        grid = {"alpha": grid["alpha"][:1]}
        fam = family(Lasso(**END), grid)
        fast, slow = both(fam, X, y, recipe)
        np.testing.assert_allclose(fast.fold_risks, slow.fold_risks, rtol=1e-7)
        return
    assert_as_refitted(family(Lasso(**END), grid), X, y, recipe)


def test_a_transformer_that_makes_many_columns_is_no_reason_to_refit():
    """Products of columns behind a scaler: more columns than rows."""
    X, y = table(m=60, p=12)
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(2, include_bias=False), Lasso(**END)
    )
    assert_as_refitted(Family(model, {"lasso__alpha": [0.2, 0.4, 0.8]}), X, y)


def test_more_than_2000_columns_are_fast():
    """Products of all columns would be 72 MB for each block of rows; a few copies of the rows are
    enough."""
    X, y = table(m=60, p=3000)
    fam = family(ElasticNet(**END), grid_of(X, y, np.logspace(0, -1.5, 12), ratio=0.5))
    Recipe(3, 3).run(fam, X[:, :200], y, progress="off")  # compiles
    tracemalloc.start()
    result = Recipe(3, 3).run(fam, X, y, progress="off", n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.path == "path:lasso"
    assert not any("refitted" in note for note in result.notes)
    assert peak < 12 * X.nbytes < 8 * 3000**2


# glmnet's own numbers for the first 100 rows of statsmodels' lasso_data.csv (BSD licence), from
# its glmnet_r_results.py: columns and targets of mean 0 and standard deviation 1.
# (share of |w| in the penalty, penalty, coefficients)
GLMNET = [
    (0.5, 0.2143504, [0, -0.4132961, 0.3222149, 0, 0.3262246]),
    (0.5, 0.0639546, [0, -0.5145012, 0.4359585, 0, 0.4294001]),
    (0.5, 0.02094225, [-0.00787628, -0.5466386, 0.4728884, 0.0106367, 0.4627422]),
    (1.0, 0.1176247, [0, -0.4469856, 0.3513112, 0, 0.3519996]),
    (1.0, 0.03851677, [0, -0.5243974, 0.4448608, 0, 0.4370223]),
    (1.0, 0.01261251, [-0.00600524, -0.5501652, 0.4761259, 0.009292623, 0.4655236]),
]


@pytest.mark.parametrize(("share", "penalty", "coefs"), GLMNET)
def test_the_minimum_is_glmnets(share, penalty, coefs):
    """To the digits that glmnet's tolerance leaves, by both kernels.

    glmnet measures w'w in units of the targets' own spread, the root of their mean square.
    """
    data = np.loadtxt(Path(__file__).with_name("glmnet.csv"), delimiter=",")
    data = (data - data.mean(axis=0)) / data.std(axis=0, ddof=1)
    y, X = data[:, 0].copy(), data[:, 1:].copy()
    l1s = np.array([len(y) * share * penalty])
    l2s = np.array([len(y) * (1 - share) * penalty / y.std()])
    (found,) = descent_of(X, y, Penalties(l1s, l2s, False)).minima()
    w = np.zeros(5)
    w[found.columns] = found.weights
    np.testing.assert_allclose(w, coefs, atol=TO_GLMNET)
    out = np.empty((5, 1))
    stop = np.zeros(1, dtype=np.uint8)
    products.descend(X.T @ X, X.T @ y, y @ y, l1s, l2s, False, stop, out)
    np.testing.assert_allclose(out[:, 0], coefs, atol=TO_GLMNET)


def gradient_fits(X, y, penalties, found):
    """Whether the conditions of optimality hold for every minimum."""
    norms = np.linalg.norm(X, axis=0) * np.linalg.norm(y)
    for l1, l2, minimum in zip(penalties.l1s, penalties.l2s, found, strict=True):
        w = np.zeros(X.shape[1])
        w[minimum.columns] = minimum.weights
        gradient = X.T @ (y - X @ w) - l2 * w
        moved = w != 0
        np.testing.assert_allclose(
            gradient[moved],
            l1 * np.sign(w[moved]),
            rtol=1e-8,
            atol=1e-12 * norms.max(),
        )
        still = gradient[~moved] if penalties.positive else np.abs(gradient[~moved])
        assert (still <= l1 * (1 + 1e-8) + 1e-12 * norms[~moved]).all()
        assert not penalties.positive or (w >= 0).all()


def descent_of(X, y, penalties):
    """The descent without a path around it."""
    stop = np.zeros(1, dtype=np.uint8)
    return Descent(X, y, (X**2).sum(axis=0), penalties, stop)


@given(
    m=st.integers(2, 40),
    p=st.integers(1, 900),
    seed=st.integers(0, 10**6),
    ratio=st.sampled_from([0.02, 0.5, 1.0]),
    positive=st.booleans(),
    decades=st.integers(0, 5),
)
@settings(max_examples=80)
def test_what_is_found_is_the_minimum(m, p, seed, ratio, positive, decades):
    """The conditions of optimality hold for any table, on any number of columns at once."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(m, p)) * 10.0 ** rng.uniform(-1, 1, p), rng.normal(size=m)
    top = np.abs(X.T @ y).max() * np.logspace(0.3, -decades, 12)
    penalties = Penalties(ratio * top, (1 - ratio) * top, positive)
    descent = descent_of(X, y, penalties)
    found = descent.minima()
    assert descent.status == kernel.FINE or ratio == 1.0
    if descent.status == kernel.FINE:
        gradient_fits(X, y, penalties, found)


@pytest.mark.parametrize("ratio", [0.01, 0.3])
def test_more_nonzero_columns_than_rows_are_found(ratio):
    """Elastic net: as many equations as rows serve."""
    X, y = table(m=25, p=800)
    X, y = X - X.mean(axis=0), y - y.mean()
    top = np.abs(X.T @ y).max() / ratio * np.logspace(0, -3, 20)
    penalties = Penalties(ratio * top, (1 - ratio) * top, False)
    found = descent_of(X, y, penalties).minima()
    assert found[-1].columns.size > 25
    gradient_fits(X, y, penalties, found)


def test_both_kernels_find_the_same(monkeypatch):
    """The products of all columns, and working sets so small that the checks add to them."""
    X, y = table(m=40, p=400)
    l1s = np.abs(X.T @ y).max() * np.logspace(0, -3, 30)
    out = np.empty((400, 30))
    stop = np.zeros(1, dtype=np.uint8)
    model = l1s, 0.1 * l1s, False, stop
    assert products.descend(X.T @ X, X.T @ y, y @ y, *model, out) == products.FINE
    for size in (1, 20, 5000):
        monkeypatch.setattr(wide_lasso, "FEWEST", size)
        monkeypatch.setattr(wide_lasso, "PER_ROW", 0)
        found = descent_of(X, y, Penalties(l1s, 0.1 * l1s, False)).minima()
        for s, minimum in enumerate(found):
            w = np.zeros(400)
            w[minimum.columns] = minimum.weights
            np.testing.assert_allclose(w, out[:, s], rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("first", [1, 300])
def test_copies_of_columns_are_left_to_scikit_learn(first):
    """The minimum does not tell which of two equal columns counts, in the working set or
    outside."""
    X, y = table(m=45)
    fam = family(Lasso(), grid_of(X, y))
    copied = np.column_stack([X, X[:, :first]])
    fast, slow = both(fam, copied, y)
    assert fast.path == "refit" or any("collinear" in note for note in fast.notes)
    np.testing.assert_allclose(fast.fold_risks, slow.fold_risks, rtol=1e-3)


def test_copies_share_their_weight_where_squares_are_penalised():
    """Elastic net has one minimum even then, and scikit-learn's is the same."""
    X, y = table(m=45, p=300)
    copied = np.column_stack([X, X[:, :3]])
    grid = grid_of(copied, y, ratio=0.5)
    assert_as_refitted(family(ElasticNet(**END), grid), copied, y, tolerance=1e-6)


def test_targets_that_hardly_remain_are_left_to_scikit_learn():
    """Under tiny penalties few rows are met up to rounding by many columns."""
    rng = np.random.default_rng(0)
    X = np.tile(rng.normal(size=(10, 60)), (3, 1))
    y = X[:, 0] + X[:, 1]
    result = Recipe(3, 3, shuffle=False).run(
        family(Lasso(), {"alpha": [1e-9, 1e-8, 1e-7]}), X, y, progress="off"
    )
    assert any("up to rounding" in note for note in [*result.notes, result.path_reason])


def test_rows_outside_touch_no_inner_number():
    """Garbage in the outer test parts leaves the inner curves and the choices of their parts."""
    X, y = table(m=60, p=2500)
    recipe = Recipe(3, 3, stratify=False)
    fam = family(Lasso(), grid_of(X, y))
    before = recipe.run(fam, X, y, progress="off")
    for j, (_, test) in enumerate(before.plan.outer):
        dirty_X, dirty_y = X.copy(), y.copy()
        dirty_X[test] = 1e6 * ROW.normal(size=dirty_X[test].shape)
        dirty_y[test] = 1e6 * ROW.normal(size=test.size)
        after = recipe.run(fam, dirty_X, dirty_y, progress="off")
        np.testing.assert_array_equal(after.inner_curves[j], before.inner_curves[j])
        assert after.chosen[j] == before.chosen[j]


def test_any_number_of_threads_gives_the_same_bits():
    """One thread or three."""
    X, y = table(m=90, p=1500)
    fam = family(Lasso(), grid_of(X, y, np.logspace(0, -2, 10)))
    one, three = (Recipe(3, 3).run(fam, X, y, progress="off", n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(one.inner_curves, three.inner_curves)
    np.testing.assert_array_equal(one.outer_curves, three.outer_curves)


def test_a_stop_ends_the_descent():
    """The kernel looks at the flag in every step, and what was found is not completed."""
    X, y = table()
    stop = np.ones(1, dtype=np.uint8)
    l1s = np.abs(X.T @ y).max() * np.logspace(0, -2, 10)
    penalties = Penalties(l1s, 0 * l1s, False)
    descent = Descent(X, y, (X**2).sum(axis=0), penalties, stop)
    assert descent.minima() == []


def test_the_statuses_of_the_kernels_are_the_same():
    """A kernel file imports no other, so the constants that two of them share are compared."""
    assert (kernel.FINE, kernel.ILL) == (linear.FINE, linear.ILL)


def test_the_cost_grows_with_columns_and_settings_but_steps_only_with_rows():
    """Of the columns at most as fast as they do, of a setting less than of a fit."""

    def cost(m=200, p=20_000, n_settings=50, ratio=1.0):
        plan = Recipe(3, 3).plan(np.zeros((m, 1)), np.arange(m))
        alphas = np.logspace(-2, 0, n_settings)
        which = np.arange(n_settings)
        path = PenaltyPath(which, alphas, True, False, l1_ratio=ratio)
        return wide_lasso.cost_of_splits(plan, p, [path])

    assert 1.8 < cost(p=40_000) / cost() < 2.0
    assert 1.0 < cost(n_settings=100) / cost() < 2.0
    assert cost(m=400) - 2 * cost() > 2 * (cost(m=200) - 2 * cost(m=100)) > 0
    assert cost(ratio=0.5) - cost() == cost(p=40_000, ratio=0.5) - cost(p=40_000)
