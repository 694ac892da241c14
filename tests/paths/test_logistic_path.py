"""Logistic regression: every C from one path of Newton's steps has the losses of scikit-learn's fits run to the end."""

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
from cvnb.paths import logistic as logistic_path

END = {"tol": 1e-12, "max_iter": 100_000}
CS = [1e-3, 0.05, 1.0, 30.0]
NESTED = Recipe(outer=4, inner=3)
RUN_ON = np.zeros(1, dtype=np.uint8)


def table(n_classes=2, m=90, p=5, seed=0):
    """Overlapping classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p)) * rng.uniform(0.5, 2.0, p)
    return X, np.argsort(
        np.argsort(X[:, 0] + 0.7 * rng.normal(size=m))
    ) * n_classes // m


def family(model, scaled=False):
    """The model bare or behind a scaler."""
    return (
        Family(make_pipeline(StandardScaler(), model), {"logisticregression__C": CS})
        if scaled
        else Family(model, {"C": CS})
    )


def assert_as_refitted(
    fam, X, y, recipe=NESTED, tolerance=1e-6, losses=("log", "zero_one"), **options
):
    """The curves and the risks of scikit-learn's own fits, by a loss that sees every digit, and by the usual one."""
    for loss in losses:
        fast = recipe.run(fam, X, y, progress="off", loss=loss, **options)
        slow = recipe.run(
            fam, X, y, progress="off", path="refit", flat=True, loss=loss, **options
        )
        assert fast.path == "path:logistic", (fast.path_reason, fast.notes)
        assert not any("refitted" in note for note in fast.notes)
        for name in ("inner_curves", "outer_curves", "fold_risks"):
            np.testing.assert_allclose(
                getattr(fast, name), getattr(slow, name), rtol=tolerance
            )
        assert fast.chosen == slow.chosen
    return fast


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LogisticRegression(fit_intercept=False, class_weight="balanced"),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_every_C_has_scikit_learns_losses(model, n_classes, scaled, rng):
    """Two classes and more, alone and scaled, with and without an intercept, weighted."""
    X, y = table(n_classes)
    fam = family(model.set_params(**END), scaled)
    assert_as_refitted(fam, X, y)
    assert_as_refitted(
        fam,
        X,
        np.array(["d", "b", "a", "c"])[y],
        sample_weight=rng.random(len(y)) + 0.1,
    )


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "average_precision"])
def test_scores_are_those_of_the_fitted_model(scoring):
    """By decisions and by probabilities."""
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
    """Split by split."""
    X, y = table(m=40)
    fast, slow = (
        recipe.run(family(LogisticRegression(**END)), X, y, progress="off", path=path)
        for path in ("auto", "refit")
    )
    assert fast.path == "path:logistic"
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-9)


def test_a_class_that_a_training_part_lacks_is_never_said():
    """Two classes of three are a problem of two; one alone is told by refit."""
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


def test_separable_and_wide_tables_end():
    """Where large C let coefficients grow, and where columns outnumber rows."""
    X, _ = table(m=80)
    assert_as_refitted(
        family(LogisticRegression(**END)),
        X,
        (X[:, 0] > 0).astype(int) + (X[:, 1] > 1),
        tolerance=1e-5,
    )
    X, y = table(m=40, p=70)
    assert_as_refitted(family(LogisticRegression(**END)), X, y, tolerance=1e-5)


def test_a_C_that_is_given_twice_is_the_same_twice():
    """Equal curves to the bit, so the first in grid order wins, and the tie is noted, as with refit."""
    X, y = table()
    repeated = Family(LogisticRegression(), {"C": [0.1, 1.0, 0.1, 1.0, 0.1]})
    result = NESTED.run(repeated, X, y, loss="log", progress="off")
    assert result.path == "path:logistic"
    np.testing.assert_array_equal(
        result.inner_curves[:, [0, 1, 0]], result.inner_curves[:, [2, 3, 4]]
    )
    assert set(result.chosen_index) <= {0, 1}
    assert any("tie" in note for note in result.notes)


def test_a_tiny_C_leaves_the_intercept_at_its_minimum():
    """The log odds of the classes, where nothing else is allowed to move."""
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
    """Their offset is the intercept's."""
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
def test_where_scikit_learn_stops_short_its_own_numbers_are_given(by, shift, solver):
    """Raw columns far from zero, or of scales far apart: refit, unless a scaler stands ahead."""
    X, y = table()
    X = X * np.geomspace(1.0, by, X.shape[1]) + shift
    model = LogisticRegression(solver=solver)
    result, scaled = (
        NESTED.run(family(model, behind), X, y, loss="log", progress="off")
        for behind in (False, True)
    )
    assert result.path == "refit"
    assert "a StandardScaler ahead serves both" in result.path_reason
    slow = NESTED.run(
        family(model), X, y, loss="log", progress="off", path="refit", flat=True
    )
    np.testing.assert_array_equal(result.inner_curves, slow.inner_curves)
    assert scaled.path == "path:logistic"


def test_the_usual_tolerance_of_scikit_learn_is_met():
    """Its default stops early; here the minimum itself is found. The short-hand takes the path."""
    X, y = table(3)
    assert_as_refitted(
        family(LogisticRegression(), True), X, y, tolerance=1e-3, losses=["log"]
    )
    assert NESTED.run(logistic(), X, y, progress="off").path == "path:logistic"


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (LogisticRegression(solver="liblinear"), "penalises the intercept"),
        (
            LogisticRegression(l1_ratio=0.5, solver="saga", max_iter=500),
            "a penalty other than the square",
        ),
        (LogisticRegression(class_weight={0: 1.0, 1: 2.0}), "class_weight=<dict>"),
        (
            LogisticRegression(solver="saga"),
            "solver='saga', which ends where its random order of rows leaves it",
        ),
        (LogisticRegression(max_iter=3), "max_iter=3, which ends before the minimum"),
    ],
)
def test_what_is_not_for_the_path_is_refitted(model, why):
    """The reason says what stands in the way."""
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
def test_where_rounding_or_overflow_decides_the_numbers_are_scikit_learns(X, grid, why):
    """Refit, and the reason."""
    result = NESTED.run(
        Family(LogisticRegression(), {"C": grid}), X, table(3)[1], progress="off"
    )
    assert result.path == "refit"
    assert why in result.path_reason


def test_any_number_of_threads_and_any_transformer_gives_the_same():
    """One thread, two processes, a scaler of another kind."""
    X, y = table(3)
    fam = Family(
        make_pipeline(MinMaxScaler(), LogisticRegression()),
        {"logisticregression__C": CS},
    )
    one, two = (NESTED.run(fam, X, y, progress="off", n_jobs=n) for n in (None, 2))
    np.testing.assert_array_equal(one.inner_curves, two.inner_curves)
    assert "the transformers are fitted once per split" in one.path_reason


@given(
    m=st.integers(4, 40), p=st.integers(1, 6), seed=st.integers(0, 10**6), n_classes=st.integers(2, 4),
    intercept=st.booleans(), decades=st.integers(-3, 3), away=st.sampled_from([0.0, 0.1, 3.0]),
    lends=st.sampled_from([None, 1e-3, 1.0, 1e3]),
)  # fmt: skip
@settings(max_examples=200)
def test_what_is_found_is_the_minimum(
    m, p, seed, n_classes, intercept, decades, away, lends
):
    """The gradient vanishes, for any table, from wherever the path starts, and whatever second derivatives it is lent."""
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
    how = kernel.along_C(
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
    assert how == kernel.FINE
    assert np.abs(gradient).max() <= 1e-7 * max(1.0, C * w.sum())


def test_inner_splits_start_with_the_second_derivatives_of_their_training_part(
    monkeypatch,
):
    """Lent in the units of the inner split, they are near its own, and while C is small they are all that it needs."""
    X, y = table(3, m=2000)
    X = X * [1.0, 100.0, 0.01, 3.0, 1.0] + [0.0, 50.0, 1.0, -9.0, 0.3]
    along_C, seen = kernel.along_C, []

    def watched(T, codes, w, D, Cs, stop, start, lent, out, first):
        how = along_C(T, codes, w, D, Cs, stop, start, lent, out, first)
        own = np.empty_like(first)
        along_C(T, codes, w, D, Cs, stop, start, np.zeros((0, 0)), out.copy(), own)
        seen.append((lent, first.copy(), own))
        return how

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
        outer = [one for one in seen if not one[0].size]
        inner = [one for one in seen if one[0].size]
        assert (len(outer), len(inner)) == (4, 12)
        for lent, first, own in inner:
            below = np.tril_indices(len(own))
            assert np.abs(lent - own)[below].max() < 0.1 * np.abs(own[below]).max()
            np.testing.assert_array_equal(first, lent)  # none were made anew
        for _, first, own in outer:
            np.testing.assert_array_equal(first, own)
        seen.clear()


@pytest.mark.parametrize("first", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_an_inner_split_lacks_is_seen_in_spite_of_what_it_is_lent(
    first, n_classes
):
    """A column that varies in an outer training part but not in one inside: there it has no say, from the first C on."""
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


def test_exponentials_are_those_of_the_library(rng):
    """To two units in the last place, however small."""
    x = np.append(-np.exp(rng.uniform(-40, 6.5, 10_000)), [0.0, -699.0])
    out = np.empty(x.size)
    kernel.exponentials(x, np.empty(x.size), out)
    np.testing.assert_allclose(out, np.exp(x), rtol=5e-16)


@pytest.mark.parametrize("p", range(1, 10))
def test_weighted_squares_of_any_number_of_columns(p):
    """The lower part of X diag(v) X', whether or not the columns come in fours and the rows fill a block."""
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
def test_rows_that_repeat_are_ranked_level(scoring, ahead, seed):
    """Equal rows have equal decisions to the bit, wherever they stand in a test part: half of their pairs are in order."""
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
    """Classes far apart and hardly a penalty: no overflow reaches the user, whose warnings are errors here."""
    assert logistic_path._shares(np.array([[[-2e3]], [[2e3]]])).tolist() == [
        [[1.0, 0.0]],
        [[0.0, 1.0]],
    ]
    assert logistic_path._shares(np.array([[[2e3, -2e3, 0.0]]])).tolist() == [
        [[1.0, 0.0, 0.0]]
    ]
