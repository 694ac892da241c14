"""Logistic regression: one path of Newton's steps has the losses of converged fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cvnb import Family, Recipe, logistic
from cvnb.kernels import logistic as kernel
from cvnb.paths import along_c, conjugate, newton
from cvnb.paths import logistic as logistic_path
from cvnb.paths.row_space import PANEL, basis_of
from cvnb.runtime.cancel import Stop, Stopped

END = {"tol": 1e-12, "max_iter": 100_000}
CS = [1e-3, 0.05, 1.0, 30.0]
NESTED = Recipe(outer=4, inner=3)
RUN_ON = np.zeros(1, dtype=np.uint8)


# Factors of second derivatives, or everything by conjugate gradients.
SOLVERS = {"factors": along_c.LARGEST, "products": 0}


@pytest.fixture(params=SOLVERS.values(), ids=SOLVERS)
def either_solver(request, monkeypatch):
    """Solve with factors, then by conjugate gradients."""
    monkeypatch.setattr(along_c, "LARGEST", request.param)


def table(n_classes=2, m=90, p=5, seed=0):
    """Return overlapping classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p)) * rng.uniform(0.5, 2.0, p)
    return X, np.argsort(
        np.argsort(X[:, 0] + 0.7 * rng.normal(size=m))
    ) * n_classes // m


def family(model, scaled=False):
    """Return a family with the model bare or after a scaler."""
    return (
        Family(make_pipeline(StandardScaler(), model), {"logisticregression__C": CS})
        if scaled
        else Family(model, {"C": CS})
    )


def assert_as_refitted(
    fam, X, y, recipe=NESTED, tolerance=1e-6, losses=("log", "zero_one"), **options
):
    """Check curves and risks against scikit-learn's fits, for a smooth loss and zero-one."""
    for loss in losses:
        fast = recipe.run(fam, X, y, progress="off", loss=loss, **options)
        assert_equals(fast, refitted(fam, X, y, recipe, loss, **options), tolerance)
    return fast


def refitted(fam, X, y, recipe, loss, **options):
    """Return scikit-learn's numbers for every setting."""
    options |= {"progress": "off", "path": "refit", "flat": True}
    return recipe.run(fam, X, y, loss=loss, **options)


def assert_equals(fast, slow, tolerance=1e-6):
    """Check that nothing was refitted; curves, risks and choices."""
    assert fast.path == "path:logistic", (fast.path_reason, fast.notes)
    assert not any("refitted" in note for note in fast.notes)
    for name in ("inner_curves", "outer_curves", "fold_risks"):
        np.testing.assert_allclose(
            getattr(fast, name), getattr(slow, name), rtol=tolerance
        )
    assert fast.chosen == slow.chosen


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LogisticRegression(fit_intercept=False, class_weight="balanced"),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_every_C_has_scikit_learns_losses(model, n_classes, scaled, rng, monkeypatch):
    """Two classes and more, alone and scaled, with and without an intercept, weighted, by
    either solver."""
    X, y = table(n_classes)
    fam = family(model.set_params(**END), scaled)
    weighted = {"sample_weight": rng.random(len(y)) + 0.1}
    words = np.array(["d", "b", "a", "c"])[y]
    for target, options in ((y, {}), (words, weighted)):
        for loss in ("log", "zero_one"):
            slow = refitted(fam, X, target, NESTED, loss, **options)
            for largest in SOLVERS.values():
                monkeypatch.setattr(along_c, "LARGEST", largest)
                fast = NESTED.run(fam, X, target, progress="off", loss=loss, **options)
                assert_equals(fast, slow)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "average_precision"])
def test_scores_are_those_of_the_fitted_model(scoring):
    """Decisions and probabilities give the scores of refit."""
    X, y = table()
    fast, slow = (
        NESTED.run(
            family(LogisticRegression(**END)),
            X,
            y,
            scoring=scoring,
            progress="off",
            path=path,
        )
        for path in ("auto", "refit")
    )
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-6)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(3, "loo"),
        Recipe(ShuffleSplit(3, random_state=0), 3),
        Recipe(None, 4),
        Recipe(0.3, 3),
    ],
    ids=repr,
)
def test_every_recipe_takes_the_path(recipe):
    """Leave-one-out, shuffled, flat and holdout recipes run on the path."""
    X, y = table(m=40)
    fast, slow = (
        recipe.run(family(LogisticRegression(**END)), X, y, progress="off", path=path)
        for path in ("auto", "refit")
    )
    assert fast.path == "path:logistic"
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-9)


@pytest.mark.usefixtures("either_solver")
def test_a_class_missing_in_a_training_part_is_never_predicted():
    """Two classes of three are a problem of two; a single class is refitted."""
    X, y = table(3, m=30)
    y[:] = np.where(np.arange(30) < 3, 2, y % 2)
    pairs = [(np.arange(3, 30), np.arange(3)), (np.arange(20), np.arange(20, 30))]
    fast, slow = (
        Recipe(
            pairs,
            [
                [(pairs[0][0][:18], pairs[0][0][18:])],
                [(pairs[1][0][:14], pairs[1][0][14:])],
            ],
        ).run(family(LogisticRegression(**END)), X, y, progress="off", path=path)
        for path in ("auto", "refit")
    )
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-9)
    np.testing.assert_allclose(fast.fold_risks, slow.fold_risks, rtol=1e-9)


@pytest.mark.usefixtures("either_solver")
def test_separable_and_wide_tables_end():
    """Large C with growing coefficients, and more columns than rows, still converge."""
    X, _ = table(m=80)
    assert_as_refitted(
        family(LogisticRegression(**END)),
        X,
        (X[:, 0] > 0).astype(int) + (X[:, 1] > 1),
        tolerance=1e-5,
    )
    X, y = table(m=40, p=70)
    assert_as_refitted(family(LogisticRegression(**END)), X, y, tolerance=1e-5)


@pytest.mark.usefixtures("either_solver")
def test_equal_values_of_C_have_equal_curves():
    """Curves are equal bit for bit, so the first in grid order wins, and the tie is noted."""
    X, y = table()
    repeated = Family(LogisticRegression(), {"C": [0.1, 1.0, 0.1, 1.0, 0.1]})
    result = NESTED.run(repeated, X, y, loss="log", progress="off")
    assert result.path == "path:logistic"
    np.testing.assert_array_equal(
        result.inner_curves[:, [0, 1, 0]], result.inner_curves[:, [2, 3, 4]]
    )
    assert set(result.chosen_index) <= {0, 1}
    assert any("tie" in note for note in result.notes)


@pytest.mark.usefixtures("either_solver")
def test_a_tiny_C_leaves_the_intercept_at_its_minimum():
    """With all other coefficients at zero the intercept is the log odds of the classes."""
    X, y = table(m=300)
    y = (np.arange(300) < 15).astype(int)
    tiny = Family(
        LogisticRegression(solver="newton-cholesky", **END),
        {"C": [1e-18, 1e-15, 1e-12]},
    )
    fast, slow = (
        NESTED.run(tiny, X, y, loss="log", progress="off", flat=True, path=path)
        for path in ("auto", "refit")
    )
    assert fast.path == "path:logistic"
    known = slice(1, None)  # at 1e-18 scikit-learn does not leave zero
    np.testing.assert_allclose(
        fast.outer_curves[:, known], slow.outer_curves[:, known], rtol=1e-6
    )
    shares = [y[train].mean() for train, _ in fast.plan.outer]
    odds = [
        -np.mean(np.where(y[test], np.log(p), np.log1p(-p)))
        for p, (_, test) in zip(shares, fast.plan.outer, strict=True)
    ]
    np.testing.assert_allclose(fast.outer_curves[:, 0], odds, rtol=1e-6)


def test_columns_away_from_zero_are_centred():
    """A shift of all columns changes only the intercept."""
    X, y = table()
    near, far = (
        NESTED.run(
            family(LogisticRegression()), X + shift, y, loss="log", progress="off"
        )
        for shift in (0.0, 10.0)
    )
    assert far.path == "path:logistic"
    np.testing.assert_allclose(far.inner_curves, near.inner_curves, rtol=1e-9)


@pytest.mark.parametrize(
    ("by", "shift", "solver"),
    [(1.0, 1e4, "lbfgs"), (100.0, 0.0, "lbfgs"), (1.0, 1e6, "newton-cholesky")],
)
def test_where_scikit_learn_stops_early_its_own_numbers_are_given(by, shift, solver):
    """Raw columns far from zero or of uneven scales are refitted; after a scaler they are not."""
    X, y = table()
    X = X * np.geomspace(1.0, by, X.shape[1]) + shift
    model = LogisticRegression(solver=solver)
    result, scaled = (
        NESTED.run(family(model, behind), X, y, loss="log", progress="off")
        for behind in (False, True)
    )
    assert result.path == "refit"
    assert "with a StandardScaler before the model both agree" in result.path_reason
    slow = NESTED.run(
        family(model), X, y, loss="log", progress="off", path="refit", flat=True
    )
    np.testing.assert_array_equal(result.inner_curves, slow.inner_curves)
    assert scaled.path == "path:logistic"


def test_columns_of_small_spreads_are_even_enough():
    """scikit-learn reaches the minimum where columns differ in scale but all are small."""
    X, y = table(3, p=8)
    X = X * np.geomspace(0.001, 0.3, 8)
    assert_as_refitted(family(LogisticRegression(**END)), X, y, losses=["log"])


def test_losses_are_close_to_fits_of_the_default_tolerance():
    """The default stops early, the path finds the minimum; the shorthand takes the path."""
    X, y = table(3)
    assert_as_refitted(
        family(LogisticRegression(), True), X, y, tolerance=1e-3, losses=["log"]
    )
    assert NESTED.run(logistic(), X, y, progress="off").path == "path:logistic"


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (LogisticRegression(solver="liblinear"), "penalises the intercept"),
        (LogisticRegression(class_weight={0: 1.0, 1: 2.0}), "class_weight=<dict>"),
        (
            LogisticRegression(solver="sag"),
            "with solver='lbfgs' it is on the fast path",
        ),
        (LogisticRegression(max_iter=3), "max_iter=3, which ends before the minimum"),
    ],
)
def test_parameters_the_path_cannot_handle_are_refitted(model, why):
    """The reason names the parameter."""
    result = NESTED.run(family(model), *table(), progress="off")
    assert result.path == "refit"
    assert why in result.path_reason


@pytest.mark.parametrize(
    ("X", "grid", "why"),
    [
        (np.ones((90, 2)), CS, "all columns of a training part are constant"),
        (table(3)[0], np.array([1, 10, 100], dtype=np.int8), "C of int8"),
    ],
)
def test_results_of_rounding_or_overflow_are_refitted(X, grid, why):
    """The reason names the cause."""
    result = NESTED.run(
        Family(LogisticRegression(), {"C": grid}), X, table(3)[1], progress="off"
    )
    assert result.path == "refit"
    assert why in result.path_reason


def test_two_workers_give_the_numbers_of_one():
    """The same curves from one thread and from two processes, after another scaler."""
    X, y = table(3)
    fam = Family(
        make_pipeline(MinMaxScaler(), LogisticRegression()),
        {"logisticregression__C": CS},
    )
    one, two = (NESTED.run(fam, X, y, progress="off", n_jobs=n) for n in (None, 2))
    np.testing.assert_array_equal(one.inner_curves, two.inner_curves)
    assert "the transformers are fitted once per split" in one.path_reason


@given(
    m=st.integers(4, 40),
    p=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    intercept=st.booleans(),
    decades=st.integers(-3, 3),
    away=st.sampled_from([0.0, 0.1, 3.0]),
    lends=st.sampled_from([None, 1e-3, 1.0, 1e3]),
)
@settings(max_examples=200)
def test_the_solution_is_the_minimum(
    m, p, seed, n_classes, intercept, decades, away, lends
):
    """The gradient vanishes for any table, start and lent second derivatives."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(m, p)), np.ones((m, int(intercept)))])
    y, w, C = (
        np.append(np.arange(n_classes), rng.integers(0, n_classes, m))[:m],
        rng.random(m) + 0.1,
        10.0**decades,
    )
    q = X.shape[1]
    penalty = np.append(np.ones(p), np.zeros(int(intercept)))
    start = np.zeros((2, 1, 1 if n_classes == 2 else n_classes, q)) + away * rng.normal(
        size=q
    )
    out = np.empty_like(start)
    first, lent = np.empty((start[0, 0].size, start[0, 0].size)), np.zeros((0, 0))
    if lends is not None:
        root = rng.normal(size=(m, len(first)))
        lent = lends * root.T @ root / 4
    status = kernel.along_C(
        np.ascontiguousarray(X.T),
        y.astype(float),
        w,
        penalty,
        np.array([C]),
        RUN_ON,
        start,
        lent,
        out,
        first,
    )
    B = out[0, 0]
    if n_classes == 2:
        gradient = C * X.T @ (w * (1 / (1 + np.exp(-X @ B[0])) - y)) + penalty * B[0]
    else:
        shares = np.exp(X @ B.T)
        shares /= shares.sum(axis=1, keepdims=True)
        gradient = (
            C * ((shares - (y[:, None] == np.arange(n_classes))) * w[:, None]).T @ X
            + penalty * B
        )
    assert status == kernel.FINE
    assert np.abs(gradient).max() <= 1e-7 * max(1.0, C * w.sum())


def test_inner_splits_start_with_the_second_derivatives_of_their_training_part(
    monkeypatch,
):
    """In the units of the inner split they are close to its own, and enough while C is small."""
    X, y = table(3, m=2000)
    X = X * [1.0, 100.0, 0.01, 3.0, 1.0] + [0.0, 50.0, 1.0, -9.0, 0.3]
    along_C, calls = kernel.along_C, []

    def watched(T, codes, w, D, Cs, stop, start, lent, out, first):
        status = along_C(T, codes, w, D, Cs, stop, start, lent, out, first)
        own = np.empty_like(first)
        along_C(T, codes, w, D, Cs, stop, start, np.zeros((0, 0)), out.copy(), own)
        calls.append((lent, first.copy(), own))
        return status

    monkeypatch.setattr(kernel, "along_C", watched)
    grid = {"logisticregression__C": [1e-6, 1e-5]}
    for model in (LogisticRegression(), LogisticRegression(class_weight="balanced")):
        NESTED.run(
            Family(make_pipeline(StandardScaler(), model), grid),
            X,
            y,
            n_jobs=1,
            progress="off",
        )
        outer = [call for call in calls if not call[0].size]
        inner = [call for call in calls if call[0].size]
        assert (len(outer), len(inner)) == (4, 12)
        for lent, first, own in inner:
            below = np.tril_indices(len(own))
            assert np.abs(lent - own)[below].max() < 0.1 * np.abs(own[below]).max()
            np.testing.assert_array_equal(first, lent)  # none were computed again
        for _, first, own in outer:
            np.testing.assert_array_equal(first, own)
        calls.clear()


@pytest.mark.usefixtures("either_solver")
@pytest.mark.parametrize("first", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_lent_derivatives_do_not_hide_a_column_that_is_constant_inside(
    first, n_classes
):
    """A column that varies only in the outer training part has no effect inside."""
    X, y = table(n_classes, m=120)
    pairs, inside = (
        [(np.arange(20, 120), np.arange(20))],
        [[(np.arange(40, 120), np.arange(20, 40))]],
    )
    X[:, 4] = 0.0
    X[20:40, 4] = 3.0 * (y[20:40] > 0)
    fam = Family(
        LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000),
        {"C": [first, 10 * first]},
    )
    assert_as_refitted(fam, X, y, Recipe(pairs, inside), losses=["log"])


def test_exponentials_agree_with_numpy(rng):
    """They agree to two units in the last place, however small."""
    x = np.append(-np.exp(rng.uniform(-40, 6.5, 10_000)), [0.0, -699.0])
    out = np.empty(x.size)
    kernel.exponentials(x, np.empty(x.size), out)
    np.testing.assert_allclose(out, np.exp(x), rtol=5e-16)


@pytest.mark.parametrize("p", range(1, 10))
def test_weighted_squares_of_any_number_of_columns(p):
    """X diag(v) X' is right for any number of columns and incomplete blocks of rows."""
    rng = np.random.default_rng(p)
    X, v = rng.normal(size=(p, kernel.CHUNK + 7)), rng.normal(size=kernel.CHUNK + 7)
    out = np.full((-(-p // 4) * 4, -(-p // 4) * 4), np.nan)
    kernel.squares(X, v, out)
    np.testing.assert_allclose(np.tril(out[:p, :p]), np.tril(X * v @ X.T), atol=1e-11)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision"])
@pytest.mark.parametrize(
    "ahead", [[], [StandardScaler()], [MinMaxScaler()]], ids=["raw", "scaled", "behind"]
)
@pytest.mark.parametrize("seed", range(5))
def test_equal_rows_are_ties(scoring, ahead, seed):
    """Equal rows have equal decisions bit for bit, anywhere in a test part."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (120, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=120) > 1).astype(int)
    family = Family(
        make_pipeline(*ahead, LogisticRegression(**END)), {"logisticregression__C": CS}
    )
    fast, slow = (
        NESTED.run(family, X, y, scoring=scoring, progress="off", flat=True, path=path)
        for path in ("auto", "refit")
    )
    assert fast.path == "path:logistic"
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-12)
    np.testing.assert_allclose(fast.outer_curves, slow.outer_curves, rtol=1e-12)


def test_decisions_beyond_the_range_of_exp_are_probabilities_of_0_and_1():
    """Large decisions raise no overflow warning, which would be an error here."""
    assert logistic_path._probabilities(np.array([[[-2e3]], [[2e3]]])).tolist() == [
        [[1.0, 0.0]],
        [[0.0, 1.0]],
    ]
    assert logistic_path._probabilities(np.array([[[2e3, -2e3, 0.0]]])).tolist() == [
        [[1.0, 0.0, 0.0]]
    ]


MANY = {  # more coefficients than factors are for: (columns, classes, rows, change of X)
    "ten classes": (42, 10, 120, lambda X: X),
    "two classes, wide and long": (402, 2, 640, lambda X: X),
    "more columns than rows": (90, 3, 60, lambda X: X),
    "many more, seven classes": (400, 7, 100, lambda X: X + 1e4),
    "many more, two classes": (500, 2, 60, lambda X: X * 3.0 - 50.0),
    "duplicate rows": (160, 3, 80, lambda X: np.repeat(X[::2], 2, axis=0)),
    "duplicate columns": (80, 6, 90, lambda X: np.column_stack([X, X[:, :9]])),
    "constant columns": (90, 3, 60, lambda X: X * (np.arange(90) % 4 > 0) + 2.0),
    "whole numbers": (42, 10, 120, lambda X: np.round(2 * X).astype(int)),
    "truths": (42, 10, 120, lambda X: X > 0),
}


@pytest.mark.parametrize("name", MANY)
def test_many_coefficients_have_scikit_learns_losses(name):
    """Many classes, many columns and more columns than rows, to eight digits."""
    p, n_classes, m, change = MANY[name]
    X, y = table(n_classes, m, p)
    model = LogisticRegression(solver="newton-cg", tol=1e-12, max_iter=10_000)
    fam = family(model, scaled=True)
    recipe = Recipe(outer=2, inner=2)
    names = np.array(list("jihgfedcba"))
    assert_as_refitted(fam, change(X), names[y], recipe, 1e-7, losses=["log"])


def test_many_coefficients_with_weights_groups_and_without_scaler(rng):
    """Weights, balanced classes and groups that make unequal folds; no intercept."""
    X, y = table(5, m=130, p=100)
    model = LogisticRegression(
        solver="newton-cg",
        tol=1e-12,
        max_iter=10_000,
        fit_intercept=False,
        class_weight="balanced",
    )
    options = {"sample_weight": rng.random(130) + 0.1, "groups": np.arange(130) // 7}
    recipe = Recipe(outer=3, inner=2)
    assert_as_refitted(family(model), X, y, recipe, 1e-7, ["log"], **options)


@pytest.mark.parametrize("name", ["ten classes", "more columns than rows"])
def test_outer_test_rows_touch_no_inner_loss_of_many_coefficients(name, rng):
    """Scrambled rows of an outer test part leave its inner curve as it was, to the bit."""
    p, n_classes, m, _ = MANY[name]
    X, y = table(n_classes, m, p)
    fam, recipe = family(LogisticRegression(), scaled=True), Recipe(outer=2, inner=2)
    plan = recipe.plan(X, y)
    recipe = Recipe(plan.outer, [list(splits) for splits in plan.inner])
    clean = recipe.run(fam, X, y, loss="log", progress="off")
    test = plan.outer[0][1]
    X[test] = 100.0 * rng.normal(size=(test.size, p))
    y[test] = rng.permutation(y[test])
    dirty = recipe.run(fam, X, y, loss="log", progress="off")
    assert dirty.path == "path:logistic"
    np.testing.assert_array_equal(dirty.inner_curves[0], clean.inner_curves[0])
    assert not np.array_equal(dirty.inner_curves[1], clean.inner_curves[1])


@given(
    m=st.integers(4, 40),
    p=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    intercept=st.booleans(),
    decades=st.integers(-3, 3),
    away=st.sampled_from([0.0, 0.1, 1.0]),
)
@settings(max_examples=100)
def test_conjugate_gradients_end_at_the_minimum(
    m, p, seed, n_classes, intercept, decades, away
):
    """The gradient vanishes for any table and start, of three C side by side or one by one."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(m, p)), np.ones((m, int(intercept)))])
    w, Cs = rng.random(m) + 0.1, 10.0**decades * np.array([0.1, 1.0, 10.0])
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, m))[:m]
    q, n_sets = X.shape[1], 1 if n_classes == 2 else n_classes
    D = np.append(np.ones(p), np.zeros(int(intercept)))
    start = away * rng.normal(size=(3, n_sets, q))
    if n_sets > 1:
        start -= start.mean(axis=1, keepdims=True)
    T = np.ascontiguousarray(X.T)
    solver = newton.Newton(conjugate.Columns(T, Stop()), y, w, D)
    for lent in (None, [None] * 3):
        path, _ = solver.along(Cs, start, lent)
        for C, B in zip(Cs, path, strict=True):
            z = X @ B.T if n_sets > 1 else np.column_stack([0 * X @ B[0], X @ B[0]])
            shares = np.exp(z - z.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            R = (shares - (y[:, None] == np.arange(n_classes))) * w[:, None]
            gradient = C * R.T @ X + (D * B if n_sets > 1 else D * [-B[0], B[0]])
            assert np.abs(gradient[-n_sets:]).max() <= 1e-6 * max(1.0, C * w.sum())


@pytest.mark.parametrize(
    ("limit", "value"), [("LARGEST_BLOCKS", 1), ("LARGEST_SIDE", 1)]
)
def test_preconditioners_of_less_memory_give_the_same_solution(
    limit, value, monkeypatch
):
    """One block for all classes, or a diagonal, where the blocks would be too large."""
    X, y = table(5, m=300, p=8)
    T = np.vstack([X.T, np.ones(300)])
    D = np.append(np.ones(8), 0.0)
    solver = newton.Newton(conjugate.Columns(T, Stop()), y, np.ones(300), D)
    Cs, start = np.array(CS), np.zeros((len(CS), 5, 9))
    monkeypatch.setattr(newton, "PER_BLOCK", 1e9)  # renew them often
    path, used = solver.along(Cs, start, None)
    monkeypatch.setattr(conjugate, limit, value)
    smaller, used_now = solver.along(Cs, start, None)
    np.testing.assert_allclose(smaller, path, atol=1e-6)
    assert used_now[-1].inverse.size < used[-1].inverse.size


@pytest.mark.parametrize("n", [5, PANEL + 40])
def test_a_basis_holds_all_rows(n, rng):
    """It is orthonormal and spans the rows, even where they repeat or sum to zero."""
    T = rng.normal(size=(300, n))
    T -= T.mean(axis=1, keepdims=True)
    T[:, n // 2 :] = T[:, : n - n // 2]
    T[:, 1] = 0.0
    assert_spans(basis_of(T, Stop()), T)


def assert_spans(Q, T):
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-13)
    np.testing.assert_allclose(Q @ (Q.T @ T), T, atol=1e-12 * np.abs(T).max())


@pytest.mark.parametrize("n", [20, PANEL + 40])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("kind", ["columns", "rows", "nearly", "scales"])
def test_a_basis_of_dependent_rows_is_orthonormal(kind, size, n, rng):
    """Columns that repeat leave fewer dimensions than rows; so do rows; nearly so, none."""
    T = size * rng.normal(size=(400, n))
    if kind == "columns":
        T[n // 2 :] = np.resize(T[: n // 2], (400 - n // 2, n))
    elif kind == "rows":
        T[:, n // 2 :] = T[:, : n - n // 2]
    elif kind == "nearly":
        T[:, n // 2 :] = T[:, : n - n // 2] * (1 + 1e-7 * rng.normal(size=(400, 1)))
    else:
        T *= np.logspace(0, -9, n)
    assert_spans(basis_of(T, Stop()), T)


@pytest.mark.parametrize("intercept", [True, False])
def test_more_columns_than_rows_of_fewer_dimensions(intercept, rng):
    """Columns that repeat: 30 dimensions hold the 40 training rows."""
    A = rng.poisson(1.0, size=(60, 30)).astype(float)
    X, y = np.hstack([A, A]), rng.integers(2, size=60)
    model = LogisticRegression(tol=1e-12, max_iter=100_000, fit_intercept=intercept)
    family, options = Family(model, {"C": CS}), {"scoring": "neg_log_loss"}
    ours = Recipe(3, 3).run(family, X, y, progress="off", **options)
    refit = Recipe(3, 3).run(family, X, y, path="refit", progress="off", **options)
    assert ours.path == "path:logistic"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-5)
    np.testing.assert_allclose(ours.fold_risks, refit.fold_risks, rtol=1e-5)


def test_a_stop_ends_the_steps():
    """Every product, block and panel looks at the stop token first."""
    stop = Stop()
    columns = conjugate.Columns(np.ones((3, 4)), stop)
    stop.set()
    for call in (
        lambda: columns.decide(np.ones((1, 1, 3))),
        lambda: columns.gather(np.ones((1, 1, 4))),
        lambda: columns.squares(np.ones(4, dtype=np.float32)),
        lambda: basis_of(np.ones((4, 3)), stop),
    ):
        with pytest.raises(Stopped):
            call()


def test_steps_that_do_not_end_are_refitted(monkeypatch):
    """The reason says so, and the numbers are scikit-learn's."""
    monkeypatch.setattr(newton, "STEPS", 1)
    X, y = table(10, m=120, p=42)
    result = Recipe(outer=2, inner=2).run(
        family(LogisticRegression()), X, y, progress="off"
    )
    assert any("Newton's method does not converge" in note for note in result.notes)
