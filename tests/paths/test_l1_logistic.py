"""Logistic regression with an l1 or elastic net penalty: the minimum, and scikit-learn's saga
brought to its end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import cases
from cvnb import Family, Recipe
from cvnb.kernels import l1_logistic as kernel
from cvnb.runtime.cancel import Stop

SAGA = {"solver": "saga", "random_state": 0}
END = {"tol": 1e-12, "max_iter": 1_000_000}
CS = [
    0.3,
    1.0,
    30.0,
]  # with smaller ones all coefficients are zero, and saga stops at once
NESTED = Recipe(outer=3, inner=2)
RUN_ON = np.zeros(1, dtype=np.uint8)


def table(m=90, p=5, seed=0):
    """Two overlapping classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p))
    return X, (X[:, 0] - X[:, -1] + rng.normal(size=m) > 0).astype(int)


def family(grid=None, scaled=True, **parameters):
    """The model behind a scaler, or bare."""
    model, grid = LogisticRegression(**SAGA | parameters), grid or {"C": CS}
    if not scaled:
        return Family(model, grid)
    grid = {f"logisticregression__{key}": values for key, values in grid.items()}
    return Family(make_pipeline(StandardScaler(), model), grid)


def both(fam, X, y, recipe=NESTED, **options):
    """The result of the path and that of scikit-learn's fits."""
    options = {"progress": "off", "loss": "log", **options}
    slow = recipe.run(fam, X, y, path="refit", flat=True, **options)
    return recipe.run(fam, X, y, **options), slow


def assert_as_refitted(fam, X, y, tolerance=1e-7, **options):
    """Check curves, choices and risks against scikit-learn's fits."""
    fast, slow = both(fam, X, y, **options)
    assert fast.path == "path:logistic", fast.path_reason
    assert not any("refitted" in note for note in fast.notes), fast.notes
    for name in ("inner_curves", "outer_curves", "fold_risks"):
        found, expected = getattr(fast, name), getattr(slow, name)
        np.testing.assert_allclose(found, expected, rtol=tolerance)
    assert fast.chosen == slow.chosen


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"fit_intercept": False}, {"class_weight": "balanced"}],
    ids=["intercept", "none", "balanced"],
)
def test_every_C_has_the_losses_of_saga_at_its_end(parameters, scaled, l1_ratio, rng):
    """With and without an intercept, balanced classes, weights; words as labels."""
    X, y = table()
    fam = family(scaled=scaled, l1_ratio=l1_ratio, **parameters, **END)
    words, weights = np.array(["yes", "no"])[y], rng.random(len(y)) + 0.1
    assert_as_refitted(fam, X, y, loss="zero_one", tolerance=1e-12)
    assert_as_refitted(fam, X, words, sample_weight=weights)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize(
    "features",
    ["bits", "ties", "copies", "constant column", "whole", "offset", "bytes"],
)
def test_odd_columns_behind_a_scaler_have_its_losses(features, l1_ratio):
    """Ties, copies of rows, constant columns, integers, columns a million away from zero."""
    X, y = cases.data(f"{features} / truths")
    assert_as_refitted(family(l1_ratio=l1_ratio, **END), X, y)


@pytest.mark.parametrize(
    "recipe",
    [Recipe(2, "loo"), Recipe(None, 4), Recipe(0.3, 3), Recipe(3, 2, stratify=False)],
    ids=repr,
)
def test_every_recipe_takes_the_path(recipe):
    """Leave-one-out, flat, holdout and unstratified recipes; unequal folds."""
    X, y = table(m=35, p=3)
    fam = family({"C": [2.0, 5.0, 30.0]}, l1_ratio=1.0, **END)
    fast, slow = both(fam, X, y, recipe)
    assert fast.path == "path:logistic"
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-7)


def test_a_grid_of_ratios_is_a_path_for_each():
    """From l2 to l1; groups of unequal sizes."""
    X, y = table()
    grid = {"C": [0.3, 3.0], "l1_ratio": [0.0, 0.2, 1.0]}
    groups = np.arange(len(y)) // 7
    assert_as_refitted(family(grid, **END), X, y, groups=groups)


def test_behind_other_transformers_it_is_one_path_per_split():
    """Transformers are fitted once, and the path is scikit-learn's."""
    X, y = table(m=60, p=3)
    model = LogisticRegression(**SAGA, l1_ratio=0.7, **END)
    ahead = make_pipeline(MinMaxScaler((-1, 1)), model)
    assert_as_refitted(Family(ahead, {"logisticregression__C": [3.0, 9.0, 30.0]}), X, y)


def test_saga_as_users_have_it_is_on_the_path():
    """Its default stops early, the path finds the minimum; the older names mean the same."""
    X, y = table(m=300)
    assert_as_refitted(family(l1_ratio=1.0), X, y, tolerance=1e-3)
    options = {"loss": "log", "progress": "off"}
    new = NESTED.run(family(l1_ratio=1.0), X, y, **options)
    old = NESTED.run(family(l1_ratio=1.0, penalty="l1"), X, y, **options)
    assert old.path == "path:logistic"
    np.testing.assert_array_equal(old.inner_curves, new.inner_curves)


@pytest.mark.parametrize(
    ("parameters", "change", "why"),
    [
        ({"solver": "liblinear"}, {}, "with solver='saga' and the same l1_ratio"),
        ({}, {"y": np.arange(90) % 3}, "an l1 penalty and more than two classes"),
        ({"max_iter": 20}, {}, "max_iter=20, which ends before the minimum"),
        ({}, {"by": 1.0, "shift": 3.0}, "with a StandardScaler before the model both"),
        (
            {},
            {"by": 100.0, "shift": 0.0},
            "with a StandardScaler before the model both",
        ),
    ],
    ids=["liblinear", "classes", "iterations", "away", "large"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_not_for_the_path_is_refitted(parameters, change, why):
    """The reason says what is, where there is something."""
    X, y = table()
    y = change.get("y", y)
    X = X * change.get("by", 1.0) + change.get("shift", 0.0)
    fam = family(scaled=False, l1_ratio=1.0, **parameters)
    fast, slow = both(fam, X, y)
    assert fast.path == "refit"
    assert why in fast.path_reason
    np.testing.assert_array_equal(fast.inner_curves, slow.inner_curves)


def test_copies_of_columns_are_refitted_with_l1_alone():
    """The minimum is not unique then; a share of l2 makes it so."""
    X, y = table(m=60, p=3)
    X = np.column_stack([X, X[:, 0]])
    fast, slow = both(family(l1_ratio=1.0), X, y)
    assert "so that it is not unique; with l1_ratio=0.99 it is" in fast.path_reason
    np.testing.assert_array_equal(fast.inner_curves, slow.inner_curves)
    assert_as_refitted(family(l1_ratio=0.9, **END), X, y)


def test_without_coefficients_the_intercept_is_the_log_odds():
    """With a small C; classes of equal weight tie, and the first wins as at a decision of 0."""
    X, y = table(m=60)
    y = np.sort(y)
    y[:30], y[30:] = 0, 1
    T = np.ascontiguousarray(np.vstack([X.T, np.ones(60)]))
    for weights, expected in ((np.ones(60), 0.0), (1.0 + 2.0 * y, np.log(3.0))):
        out = np.ones((2, 6))
        near = np.random.default_rng(0).normal(size=(2, 6))
        Cs, problem = np.array([1e-6, 1e-5]), (T, y.astype(float), weights, 5)
        assert kernel.along_C(*problem, Cs, 1.0, 0.0, RUN_ON, near, out) == kernel.FINE
        assert (out[:, :5] == 0.0).all()
        np.testing.assert_allclose(out[:, 5], expected, rtol=1e-14)


def excess_of_gradient(T, y, w, p, C, l1, B):
    """How far the gradient at B is from that of a minimum, by the definition."""
    shares = 1.0 / (1.0 + np.exp(-np.clip(T.T @ B, -700, 700)))
    gradient = C * T @ (w * (shares - y))
    gradient[:p] += (1.0 - l1) * B[:p]
    gradient[:p] += np.where(
        B[:p] == 0.0, -np.clip(gradient[:p], -l1, l1), l1 * np.sign(B[:p])
    )
    return np.abs(gradient).max()


@given(
    m=st.integers(6, 40),
    p=st.integers(1, 60),
    seed=st.integers(0, 10**6),
    intercept=st.booleans(),
    decades=st.integers(-3, 2),
    l1=st.sampled_from([1.0, 0.9, 0.3]),
    away=st.sampled_from([None, 0.0, 0.1, 3.0]),
)
@settings(max_examples=150)
def test_what_is_found_is_the_minimum(m, p, seed, intercept, decades, l1, away):
    """For any table, more columns than rows among them, and any start."""
    rng = np.random.default_rng(seed)
    T = np.concatenate([rng.normal(size=(p, m)), np.ones((int(intercept), m))])
    y, w = (np.arange(m) % 3 == 0).astype(float), rng.random(m) + 0.1
    Cs = 10.0**decades * np.array([0.1, 1.0, 10.0])
    start = (
        np.zeros((0, len(T))) if away is None else away * rng.normal(size=(3, len(T)))
    )
    out = np.empty((3, len(T)))
    problem = (T, y, w, p, Cs, l1, 1.0 - l1)
    assert kernel.along_C(*problem, RUN_ON, start, out) == kernel.FINE
    for C, B in zip(Cs, out, strict=True):
        limit = 1e-7 * max(1.0, C * w.sum())
        assert excess_of_gradient(T, y, w, p, C, l1, B) <= limit


def test_working_sets_grow_to_what_is_needed():
    """More columns than may join at once; too many are refused."""
    X, y = table(m=80, p=400)
    T, w = np.ascontiguousarray(np.vstack([X.T, np.ones(80)])), np.ones(80)
    out = np.empty((2, 401))
    problem = (T, y.astype(float), w, 400, np.array([0.02, 100.0]), 0.5, 0.5)
    near = np.zeros((0, 401))
    assert kernel.along_C(*problem, RUN_ON, near, out) == kernel.FINE
    assert np.count_nonzero(out[1]) > kernel.FEWEST
    assert excess_of_gradient(*problem[:4], 100.0, 0.5, out[1]) < 1e-5


def test_outer_test_rows_touch_no_inner_loss(rng):
    """Scrambled rows of an outer test part leave its inner curve as it was, to the bit."""
    X, y = table()
    fam, plan = family(l1_ratio=0.8), NESTED.plan(X, y)
    recipe = Recipe(plan.outer, [list(splits) for splits in plan.inner])
    clean = recipe.run(fam, X, y, loss="log", progress="off")
    test = plan.outer[0][1]
    X[test] = 100.0 * rng.normal(size=(test.size, X.shape[1]))
    y[test] = rng.permutation(y[test])
    dirty = recipe.run(fam, X, y, loss="log", progress="off")
    assert dirty.path == "path:logistic"
    np.testing.assert_array_equal(dirty.inner_curves[0], clean.inner_curves[0])
    assert not np.array_equal(dirty.inner_curves[1], clean.inner_curves[1])


def test_any_number_of_threads_gives_the_same_bits():
    """Inner splits on one thread and on two."""
    X, y = table(m=300)
    one, two = (
        NESTED.run(family(l1_ratio=1.0), X, y, loss="log", progress="off", n_jobs=n)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.inner_curves, two.inner_curves)


def test_a_stop_ends_the_kernel():
    """It returns before its first step and writes nothing."""
    X, y = table()
    out, stop = np.full((1, 5), 7.0), Stop()
    stop.set()
    problem = (np.ascontiguousarray(X.T), y.astype(float), np.ones(90), 5)
    kernel.along_C(*problem, np.ones(1), 1.0, 0.0, stop.flag, np.zeros((0, 5)), out)
    assert (out == 7.0).all()
