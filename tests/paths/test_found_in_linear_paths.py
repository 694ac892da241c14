"""What a second stranger found wrong in the fast paths, mostly the linear ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from cvnb import Family, Recipe
from cvnb.errors import CvnbError
from cvnb.kernels import neighbours
from cvnb.paths.knn.search import Geometry, nearest

# Families and tables at which a linear path gave numbers of its own, without a note


def signal(m=60, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p))
    return rng, X, X @ np.arange(1.0, p + 1)


def classes_of_regression():
    rng, X, _ = signal(90)
    return X, (X[:, 0] + rng.normal(size=90) > 0).astype(int)


def nearly_constant(column):
    rng, X, clean = signal(p=3)
    return np.column_stack([X, column(rng)]), clean + rng.normal(size=60)


def nearly_twice():
    rng, X, _ = signal()
    X[:, 3] = X[:, 0] + 1e-2 * rng.normal(size=60)
    return X, X @ [1, 2, 3, 4.0] + rng.normal(size=60)


def twice():
    rng, X, clean = signal(p=3)
    return np.column_stack([X, X[:, 0]]), clean + rng.normal(size=60)


def noisy(scale=1.0, offset=0.0, level=0.0, m=60, p=4):
    rng, X, clean = signal(m, p)
    return X * scale + offset, clean + rng.normal(size=m) + level


def dummies():
    rng = np.random.default_rng(0)
    level, Z = rng.integers(0, 12, 60), 30 * rng.normal(size=(60, 3))
    return np.column_stack([level[:, None] == np.arange(12), Z]), Z[
        :, 0
    ] / 30 + level / 10 + rng.normal(size=60)


def rows_twice():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 60))
    X = np.concatenate([X, X])
    return X, X[:, 0] + rng.normal(size=30)


def wide(level=1.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60))
    return X, X[:, 0] + rng.normal(size=30) + level


def far_rows(where="X", value=1e9):
    rng, X, clean = signal()
    y = clean + rng.normal(size=60)
    (X if where == "X" else y)[::6] = value
    return X, y


def counted_from_afar():
    """A column of quarters some 1e13 of its spreads away from zero, where one rounding of its mean is a thousandth of them."""
    rng = np.random.default_rng(0)
    quarters, Z = np.round(4 * rng.normal(size=6000)), rng.normal(size=6000)
    return np.column_stack([quarters + 1e13, Z]), quarters / 4 + 0.3 * Z + rng.normal(
        size=6000
    )


def far_and_wide():
    """More columns than rows, half of them 1e14 away from zero: their rounded mean is a tenth of their spread off."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 40))
    X[:, :21] += 1e14
    return X, (X - 1e14 * (np.arange(40) < 21)) @ rng.normal(size=40) + rng.normal(
        size=12
    )


def constant_from_afar():
    """A constant whose rounded mean leaves an intercept."""
    rng, X, clean = signal()
    X[:, 0] = 1e13 / 3
    return X, clean + 1 + rng.normal(size=60)


def one_far_target():
    X, y = noisy()
    y[7] = 1e12
    return X, y


def close_to_a_line(noise=1e-5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:, 4] = X[:, 0] + 2e-3 * rng.normal(size=200)
    y = X @ [1, 2, -1, 3, 2.0]
    return X, y + noise * y.std() * rng.normal(size=200)


def on_a_line():
    _, X, clean = signal()
    return X, clean


def mixed_names():
    X, y = noisy(p=3)
    return pd.DataFrame(X, columns=["a", 1, "b"]), y


NONE_WEIGHED = np.where(np.arange(60) % 6 == 0, 0.0, 1.0)
HARDLY_WEIGHED = np.where(np.arange(60) % 6 == 0, 1e-18, 1.0)
SCALED_OLS = make_pipeline(StandardScaler(), LinearRegression())
BARE, TUNED = Recipe(4, None), Recipe(4, 3)
ROOT = {"scoring": "neg_root_mean_squared_error"}
ONES = (lambda rng: np.where(rng.random(60) < 0.5, 1.0, 1 - 1.1e-16),)
OWN_NUMBERS = {
    "ridge and its classifier in one grid": (
        Family(Pipeline([("m", Ridge())]), {"m": [Ridge(), RidgeClassifier(alpha=5.0)]}), classes_of_regression, TUNED, {},
    ),
    "a regression in a grid of classifiers": (
        Family(Pipeline([("m", RidgeClassifier())]), {"m": [LinearRegression()]}), classes_of_regression, TUNED, {},
    ),
    "k-NN of both kinds": (
        Family(Pipeline([("m", KNeighborsRegressor())]), {"m": [KNeighborsRegressor(), KNeighborsClassifier()]}),
        classes_of_regression, TUNED, {},
    ),
    "constant up to rounding": (Family(SCALED_OLS, {}), lambda: nearly_constant(*ONES), BARE, {}),
    "the same, tuned": (
        Family(SCALED_OLS, {"linearregression__fit_intercept": [True, False]}), lambda: nearly_constant(*ONES), TUNED, {},
    ),
    "the same, leave-one-out": (Family(SCALED_OLS, {}), lambda: nearly_constant(*ONES), Recipe.leave_one_out(), {}),
    "hardly more than rounding": (
        Family(SCALED_OLS, {}), lambda: nearly_constant(lambda rng: 1000 + 2.6e-12 * rng.normal(size=60)), BARE, {},
    ),
    "very far": (Family(Ridge(), {"alpha": [1e-3, 0.1]}), counted_from_afar, TUNED, {}),
    "very far, lasso": (Family(Lasso(tol=1e-12), {"alpha": [1e-3, 0.1]}), counted_from_afar, TUNED, {}),
    "very far, least squares": (Family(LinearRegression(), {}), counted_from_afar, BARE, {}),
    "very far, scaled, no intercept": (
        Family(make_pipeline(StandardScaler(), Ridge(fit_intercept=False)), {"ridge__alpha": [1e-3, 0.1]}),
        counted_from_afar, TUNED, {},
    ),
    "far and wide, scaled": (
        Family(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 1.0]}), far_and_wide, Recipe(3, 3), {},
    ),
    "far and wide, scaled, least squares": (Family(SCALED_OLS, {}), far_and_wide, Recipe(3, None), {}),
    "constant from afar, scaled, no intercept": (
        Family(make_pipeline(StandardScaler(), Ridge(fit_intercept=False)), {"ridge__alpha": [1e-3, 1.0]}),
        constant_from_afar, TUNED, {},
    ),
    "constant from afar, scaled, no intercept, least squares": (
        Family(make_pipeline(StandardScaler(), LinearRegression(fit_intercept=False)), {}), constant_from_afar, BARE, {},
    ),
    "several tolerances": (Family(LinearRegression(), {"tol": [0.3, 1e-6]}), nearly_twice, TUNED, {}),
    "several tolerances, leave-one-out": (Family(LinearRegression(), {"tol": [0.3, 1e-6]}), nearly_twice, Recipe(3, "loo"), {}),
    "several tolerances, scaled": (
        Family(SCALED_OLS, {"linearregression__tol": [0.3, 1e-6]}), nearly_twice, TUNED, {},
    ),
    "no tolerance": (Family(LinearRegression(tol=0.0), {}), twice, BARE, {}),
    "a tiny tolerance, transformed": (Family(make_pipeline(MinMaxScaler(), LinearRegression(tol=1e-16)), {}), twice, BARE, {}),
    "mixed names, ridge": (Family(Ridge(), {"alpha": [0.1, 1.0]}), mixed_names, TUNED, {}),
    "mixed names, k-NN": (Family(KNeighborsRegressor(), {"n_neighbors": [1, 5]}), mixed_names, TUNED, {}),
    "squares that underflow": (Family(Ridge(alpha=0.0), {}), lambda: noisy(1e-85), BARE, {}),
    "weights that underflow": (
        Family(Ridge(alpha=1e-170), {}), noisy, BARE, {"sample_weight": np.linspace(0.5, 2, 60) * 1e-170},
    ),
    "weights next to nothing": (Family(LinearRegression(), {}), noisy, BARE, {"sample_weight": np.linspace(1, 2, 60) * 1e-320}),
    "weights that overflow": (Family(LinearRegression(), {}), noisy, BARE, {"sample_weight": np.linspace(0.5, 2, 60) * 1e170}),
    "a cut of its own": (Family(Ridge(alpha=0.0, solver="svd"), {}), lambda: noisy(1e-16), BARE, {}),
    "dummies": (Family(Ridge(), {"alpha": [1e-6]}), dummies, TUNED, {}),
    "dummies, less penalty": (Family(Ridge(), {"alpha": [1e-7]}), dummies, TUNED, {}),
    "as many columns as rows": (Family(Ridge(), {"alpha": [1e-8]}), lambda: noisy(m=60, p=45), TUNED, {}),
    "as many columns as rows, scaled": (
        Family(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1e-6]}), lambda: noisy(m=60, p=45), BARE, {},
    ),
    "rows twice, more columns": (Family(Ridge(), {"alpha": [1e-8]}), rows_twice, Recipe(3, 3), {}),
    "centred before, no intercept": (
        Family(make_pipeline(MinMaxScaler(), StandardScaler(), Ridge(fit_intercept=False)), {"ridge__alpha": [1e-8]}),
        wide, Recipe(3, 3), {},
    ),
    "rows without weight far away": (Family(Ridge(), {"alpha": [1.0]}), far_rows, TUNED, {"sample_weight": NONE_WEIGHED}),
    "the same, external": (Family(Ridge(), {}), lambda: far_rows("X", 1e12), BARE, {"sample_weight": NONE_WEIGHED}),
    "the same, least squares": (
        Family(LinearRegression(), {}), lambda: far_rows("X", 1e12), BARE, {"sample_weight": NONE_WEIGHED},
    ),
    "targets without weight far away": (Family(Ridge(), {"alpha": [1.0]}), lambda: far_rows("y"), TUNED,
                                        {"sample_weight": NONE_WEIGHED}),
    "targets hardly weighed far away": (
        Family(Ridge(), {"alpha": [1.0]}), lambda: far_rows("y"), Recipe(3, "loo"), {"sample_weight": HARDLY_WEIGHED},
    ),
    "one far target": (Family(Ridge(), {}), one_far_target, BARE, {"scoring": "neg_median_absolute_error"}),
    "little noise": (Family(Ridge(), {"alpha": [1e-10, 1e-9]}), close_to_a_line, Recipe(5, 5), {}),
    "less noise": (Family(Ridge(), {"alpha": [1e-10, 1e-9]}), lambda: close_to_a_line(1e-6), Recipe(5, 5), {}),
    "no noise, transformed": (Family(make_pipeline(MinMaxScaler(), LinearRegression()), {}), on_a_line, BARE, {}),
    "no noise, root": (Family(Ridge(), {"alpha": [1e-13, 1e-14]}), on_a_line, TUNED, ROOT),
    "no noise, root, external": (Family(Ridge(alpha=1e-14), {}), on_a_line, BARE, ROOT),
    "no noise, root, transformed": (
        Family(make_pipeline(MinMaxScaler(), Ridge()), {"ridge__alpha": [1e-13, 1e-14]}), on_a_line, TUNED, ROOT,
    ),
    **{f"{name} at {offset:g}": (family, lambda offset=offset: noisy(offset=offset), TUNED, {})
       for offset in (1e7, 1e9)
       for name, family in {
           "ridge": Family(Ridge(), {"alpha": [0.1, 1.0]}),
           "least squares": Family(LinearRegression(), {"fit_intercept": [True]}),
           "ridge, scaled, no intercept": Family(
               make_pipeline(StandardScaler(), Ridge(fit_intercept=False)), {"ridge__alpha": [0.1, 1.0]}),
           "ridge, transformed": Family(make_pipeline(MinMaxScaler((0, 4)), Ridge()), {"ridge__alpha": [0.1, 1.0]}),
       }.items()},
    "targets at 1e8": (Family(Ridge(), {"alpha": [0.1, 1.0]}), lambda: noisy(level=1e8), TUNED, {}),
    "a narrow column": (
        Family(make_pipeline(StandardScaler(), Ridge(fit_intercept=False)), {"ridge__alpha": [1.0]}),
        lambda: nearly_constant(lambda rng: 1000 + 1e-9 * rng.normal(size=60)), TUNED, {},
    ),
}  # fmt: skip


def thin(condition, noise, m=100):
    """The signal lies in a direction in which X hardly varies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 5))
    X[:, 4] = X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=m) / condition
    y = (X[:, 4] - X[:, 0] - 0.3 * X[:, 1]) * condition
    return X, y + noise * rng.normal(size=m)


def incomes():
    """Dummies of all levels beside a column of large numbers."""
    rng = np.random.default_rng(0)
    level, sex = rng.integers(0, 6, 120), rng.integers(0, 3, 120)
    numbers = [rng.normal(50, 10, 120), rng.lognormal(8, 1, 120)]
    X = np.column_stack(
        [level[:, None] == np.arange(6), sex[:, None] == np.arange(3), *numbers]
    )
    return X, level + 0.1 * numbers[0] + rng.normal(size=120)


def apart(offset, m=60, p=4):
    """Columns far from zero, the response near it."""
    X, y = noisy(m=m, p=p)
    return X + offset, y


LOOSE = Recipe(ShuffleSplit(3, random_state=0), None)
SCALED_RIDGE = make_pipeline(StandardScaler(), Ridge())
SCALED_BARE = make_pipeline(StandardScaler(), Ridge(fit_intercept=False))
OWN_NUMBERS |= {
    **{f"scaled least squares on rows of its own at {offset:g}": (
        Family(SCALED_OLS, {}), lambda offset=offset: apart(offset), LOOSE, {}) for offset in (1e7, 1e9, 1e12)},
    **{f"scaled ridge of more columns than rows at {offset:g}": (
        Family(SCALED_RIDGE, {"ridge__alpha": [0.1, 1.0]}), lambda offset=offset: apart(offset, 40, 80), Recipe(4, 3), {})
        for offset in (1e7, 1e9)},
    "nearly constant, scaled least squares": (
        Family(SCALED_OLS, {}), lambda: nearly_constant(lambda rng: 7.3 * (1 + 1e-12 * rng.normal(size=60))), BARE, {}),
    "offset, level and penalty multiply": (
        Family(SCALED_BARE, {"ridge__alpha": [1e-3]}), lambda: (wide()[0] + 1e3, wide(10.0)[1]), Recipe(4, 3), {}),
    "offset, level and a large penalty": (
        Family(SCALED_BARE, {"ridge__alpha": [0.1]}), lambda: (wide()[0] + 1e6, wide(10.0)[1]), Recipe(4, 3), {}),
    **{f"X at {offset:g}, noise of {noise:g}": (
        Family(Ridge(), {"alpha": [1e-8, 1e-6]}),
        lambda offset=offset, noise=noise: (signal(80)[1] + offset, signal(80)[2] + 5 * noise * signal(80)[0].normal(size=80)),
        Recipe(4, 3), {})
       for offset, noise in ((1e4, 1e-3), (1e5, 1e-2), (1e6, 0.1), (1e6, 1e-3))},
    **{f"y at {level:g}, noise of {noise:g}": (
        Family(Ridge(), {"alpha": [1e-8, 1e-6]}),
        lambda level=level, noise=noise: (signal(80)[1], signal(80)[2] + 5 * noise * signal(80)[0].normal(size=80) + level),
        Recipe(4, 3), {})
       for level, noise in ((1e4, 1e-3), (3e5, 1e-2))},
    **{f"weights of {size:g} at {offset:g}": (
        Family(LinearRegression(), {}), lambda offset=offset: apart(offset), LOOSE, {"sample_weight": np.full(60, size)})
       for size, offset in ((1e8, 1e8), (1e4, 1e8), (1e-12, 1e8), (1e-8, 1e4))},
    **{f"least squares, condition {condition:g}, noise {noise:g}": (
        Family(LinearRegression(), {}), lambda condition=condition, noise=noise: thin(condition, noise), BARE, {})
       for condition, noise in ((1e4, 1e-2), (1e4, 1e-4), (1e2, 3e-5), (1.0, 1e-6), (10.0, 3e-6))},
    **{f"ridge, condition {condition:g}, noise {noise:g}": (
        Family(Ridge(), {"alpha": [1e-10, 1e-8]}), lambda condition=condition, noise=noise: thin(condition, noise), TUNED, {})
       for condition, noise in ((1e2, 1e-3), (1e2, 3e-4), (10.0, 1e-5))},
    "dummies beside incomes": (Family(Ridge(), {"alpha": np.logspace(-3, 3, 7)}), incomes, TUNED, {}),
}  # fmt: skip


def test_dummies_beside_large_numbers_are_everyday():
    """Dependent columns under a usual penalty stay on the fast path, whatever stands beside them."""
    X, y = incomes()
    for family in (
        Family(Ridge(), {"alpha": np.logspace(-3, 3, 7)}),
        Family(SCALED_RIDGE, {"ridge__alpha": np.logspace(-2, 3, 6)}),
    ):
        assert Recipe(4, 3).run(family, X, y).path == "shared:ridge"


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("seed", range(12))
def test_scores_that_only_rounding_parts_are_left_to_refit(scoring, seed):
    """Rows of dummies have equal scores, and a metric of ranks asks for their order."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 4, 60)[:, None] == np.arange(4), rng.integers(0, 2, 60)]
    ).astype(float)
    y = (X[:, 0] + rng.normal(size=60) > np.median(X[:, 0])).astype(int)
    family, recipe = (
        Family(RidgeClassifier(), {"alpha": [0.1, 1.0, 10.0]}),
        Recipe(3, 3, seed=seed),
    )
    fast, slow = (
        recipe.run(family, X, y, path=path, scoring=scoring)
        for path in ("auto", "refit")
    )
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-9)


def narrow(X):
    """float32 where some number is large."""
    return X.astype(np.float32) if X.max() > 1e8 else X


def test_what_one_split_meets_decides_for_no_other():
    """Transformers that give float32 for one test part alone: the same path and bits for any number of workers."""
    X, y = noisy(m=80)
    X[75, 0] = 1e9
    family = Family(
        make_pipeline(FunctionTransformer(narrow), Ridge()),
        {"ridge__alpha": [0.1, 1.0]},
    )
    runs = [Recipe(KFold(4), KFold(3)).run(family, X, y, n_jobs=n) for n in (1, 2)]
    clean = X.copy()
    clean[75, 0] = 0.0
    alone = Recipe(KFold(4), KFold(3)).run(family, clean, y)
    assert runs[0].path == runs[1].path
    for result in runs:
        assert result.inner_curves[3].tobytes() == alone.inner_curves[3].tobytes()


@pytest.mark.parametrize("case", OWN_NUMBERS)
def test_the_linear_paths_have_the_numbers_of_refit_or_leave_it_to_refit(case):
    """Risk, curves, choices and failures to 1e-9, or the same error."""
    family, data, recipe, options = OWN_NUMBERS[case]
    X, y = data()
    found = []
    for path in ("auto", "refit"):
        try:
            result = recipe.run(family, X, y, path=path, flat=True, **options)
        except CvnbError as error:
            found.append(type(error))
            continue
        curves = [] if result.inner_curves is None else [result.inner_curves]
        found.append(
            (
                [result.fold_risks, result.outer_curves, *curves],
                result.chosen_index.tolist(),
                result.notes,
            )
        )
    if isinstance(found[1], type):
        assert found[0] is found[1]
        return
    for fast, slow in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-9)
    assert found[0][1] == found[1][1]
    assert not any("tie" in note for note in found[0][2]) or any(
        "tie" in note for note in found[1][2]
    )


@pytest.mark.parametrize("model", [Ridge(), LinearRegression(), KNeighborsRegressor()])
@pytest.mark.parametrize("level", ["c", "q"])
def test_transformers_that_name_or_count_columns_anew_are_left_to_refit(model, level):
    """Dummies of other levels in the test part: scikit-learn refuses the names or the number, and so does the fast path."""
    rng = np.random.default_rng(0)
    levels = np.array(["a", "b"])[rng.integers(2, size=60)]
    levels[40:] = np.array(["a", "c"])[rng.integers(2, size=20)]
    levels[7] = "b" if level == "c" else "q"
    y = rng.normal(size=60) + 2 * (levels == "a")
    family = Family(make_pipeline(FunctionTransformer(pd.get_dummies), model), {})
    recipe = Recipe(outer=[(np.arange(40), np.arange(40, 60))], inner=None)
    for path in ("auto", "refit"):
        with pytest.raises(CvnbError, match="every setting failed"):
            recipe.run(family, pd.DataFrame({"c": levels}), y, path=path)


def test_the_neighbours_of_rows_with_other_columns_are_not_sought():
    """The kernels trust the caller, who looks first."""
    with pytest.raises(ValueError, match="6 columns against 1"):
        nearest(
            np.zeros((30, 6)),
            np.zeros((4, 1)),
            Geometry(False, neighbours.MANHATTAN, 1.0),
            2,
        )


def test_a_score_undefined_outside_leaves_the_inner_losses_to_the_last_bit():
    """Only the outer part is measured anew: inner losses do not depend on its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.exp(X[:, 0] + 0.1 * rng.normal(size=60))
    recipe = Recipe(ShuffleSplit(4, random_state=0), ShuffleSplit(3, random_state=0))
    family, options = (
        Family(Ridge(), {"alpha": [0.1, 1.0]}),
        {"scoring": "neg_max_error"},
    )
    before = recipe.run(family, X, y, **options)
    for j, (_, test) in enumerate(before.plan.outer):
        changed = X.copy()
        changed[test] = 1e2 * rng.normal(size=(test.size, 3))
        after = recipe.run(family, changed, y, **options)
        assert after.inner_curves[j].tobytes() == before.inner_curves[j].tobytes()
