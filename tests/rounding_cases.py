"""Tables and models on which rounding decides what a linear path may compute.

A case is a family, a function that makes its X and y, a recipe, and options of the run.
"""

from functools import partial

import numpy as np
import pandas as pd
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cvnb import Family, Recipe

CASES = {}
EXTERNAL, NESTED, THREES = Recipe(4, None), Recipe(4, 3), Recipe(3, 3)
SHUFFLED = Recipe(ShuffleSplit(3, random_state=0), None)


def add(name, model, grid, data, recipe=NESTED, **options):
    CASES[name] = (Family(model, grid), data, recipe, options)


# Tables


def signal(m=60, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p))
    return rng, X, X @ np.arange(1.0, p + 1)


def two_classes():
    rng, X, _ = signal(90)
    return X, (X[:, 0] + rng.normal(size=90) > 0).astype(int)


def with_column(column):
    """Three columns of a signal, and one that column(rng) makes."""
    rng, X, clean = signal(p=3)
    return np.column_stack([X, column(rng)]), clean + rng.normal(size=60)


def ones_up_to_rounding(rng):
    return np.where(rng.random(60) < 0.5, 1.0, 1 - 1.1e-16)


def varying(level, spread):
    """A column at this level that hardly varies."""
    return partial(with_column, lambda rng: level + spread * rng.normal(size=60))


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
    y = Z[:, 0] / 30 + level / 10 + rng.normal(size=60)
    return np.column_stack([level[:, None] == np.arange(12), Z]), y


def rows_twice():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 60))
    X = np.concatenate([X, X])
    return X, X[:, 0] + rng.normal(size=30)


def wide(level=1.0, offset=0.0):
    """More columns than rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60))
    return X + offset, X[:, 0] + rng.normal(size=30) + level


def far_rows(value=1e9):
    """Every sixth row of X is far away."""
    rng, X, clean = signal()
    y = clean + rng.normal(size=60)
    X[::6] = value
    return X, y


def far_targets(value=1e9):
    """Every sixth y is far away."""
    X, y = noisy()
    y[::6] = value
    return X, y


def counted_from_afar():
    """A column of quarters 1e13 of its spreads away from zero, where one rounding of its
    mean is a thousandth of a spread."""
    rng = np.random.default_rng(0)
    quarters, Z = np.round(4 * rng.normal(size=6000)), rng.normal(size=6000)
    y = quarters / 4 + 0.3 * Z + rng.normal(size=6000)
    return np.column_stack([quarters + 1e13, Z]), y


def far_and_wide():
    """More columns than rows, half of them 1e14 away from zero: their rounded mean is a
    tenth of their spread off."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 40))
    X[:, :21] += 1e14
    near = X - 1e14 * (np.arange(40) < 21)
    return X, near @ rng.normal(size=40) + rng.normal(size=12)


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


def little_noise(noise, offset=0.0, level=0.0):
    rng, X, clean = signal(80)
    return X + offset, clean + 5 * noise * rng.normal(size=80) + level


def mixed_names():
    X, y = noisy(p=3)
    return pd.DataFrame(X, columns=["a", 1, "b"]), y


def thin(condition, noise, m=100):
    """The signal lies in a direction in which X hardly varies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 5))
    X[:, 4] = X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=m) / condition
    y = (X[:, 4] - X[:, 0] - 0.3 * X[:, 1]) * condition
    return X, y + noise * rng.normal(size=m)


def incomes():
    """Dummies of all levels next to a column of large numbers."""
    rng = np.random.default_rng(0)
    level, sex = rng.integers(0, 6, 120), rng.integers(0, 3, 120)
    numbers = [rng.normal(50, 10, 120), rng.lognormal(8, 1, 120)]
    indicators = [level[:, None] == np.arange(6), sex[:, None] == np.arange(3)]
    return np.column_stack([*indicators, *numbers]), level + 0.1 * numbers[
        0
    ] + rng.normal(size=120)


# Models


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def alphas(*values):
    return {"alpha": list(values)}


def ridge_alphas(*values):
    """The grid of a ridge regression in a pipeline."""
    return {"ridge__alpha": list(values)}


OLS = LinearRegression()
NO_INTERCEPT = Ridge(fit_intercept=False)
SHARES = alphas(0.1, 1.0)
ROOT = {"scoring": "neg_root_mean_squared_error"}
SIXTH = np.arange(60) % 6 == 0
WITHOUT_SIXTH = {"sample_weight": np.where(SIXTH, 0.0, 1.0)}
HARDLY_SIXTH = {"sample_weight": np.where(SIXTH, 1e-18, 1.0)}


# Grids of several kinds of model

REGRESSOR, CLASSIFIER = Pipeline([("m", Ridge())]), Pipeline([("m", RidgeClassifier())])
NEIGHBOURS = Pipeline([("m", KNeighborsRegressor())])
KINDS = {"m": [Ridge(), RidgeClassifier(alpha=5.0)]}
KNN_KINDS = {"m": [KNeighborsRegressor(), KNeighborsClassifier()]}
add("ridge and its classifier in one grid", REGRESSOR, KINDS, two_classes)
add("a regression in a grid of classifiers", CLASSIFIER, {"m": [OLS]}, two_classes)
add("k-NN of both kinds", NEIGHBOURS, KNN_KINDS, two_classes)

# Columns that hardly vary

ONES = partial(with_column, ones_up_to_rounding)
INTERCEPTS = {"linearregression__fit_intercept": [True, False]}
add("constant up to rounding", scaled(OLS), {}, ONES, EXTERNAL)
add("the same, tuned", scaled(OLS), INTERCEPTS, ONES)
add("the same, leave-one-out", scaled(OLS), {}, ONES, Recipe.leave_one_out())
add("hardly more than rounding", scaled(OLS), {}, varying(1000, 2.6e-12), EXTERNAL)
add("very far", Ridge(), alphas(1e-3, 0.1), counted_from_afar)
add("very far, lasso", Lasso(tol=1e-12), alphas(1e-3, 0.1), counted_from_afar)
add("very far, least squares", OLS, {}, counted_from_afar, EXTERNAL)
add(
    "very far, scaled, no intercept",
    scaled(NO_INTERCEPT),
    ridge_alphas(1e-3, 0.1),
    counted_from_afar,
)
add(
    "far and wide, scaled",
    scaled(Ridge()),
    ridge_alphas(0.1, 1.0),
    far_and_wide,
    THREES,
)
add(
    "far and wide, scaled, least squares",
    scaled(OLS),
    {},
    far_and_wide,
    Recipe(3, None),
)
add(
    "constant from afar, scaled, no intercept",
    scaled(NO_INTERCEPT),
    ridge_alphas(1e-3, 1.0),
    constant_from_afar,
)
add(
    "constant from afar, scaled, no intercept, least squares",
    scaled(LinearRegression(fit_intercept=False)),
    {},
    constant_from_afar,
    EXTERNAL,
)
add("a narrow column", scaled(NO_INTERCEPT), ridge_alphas(1.0), varying(1000, 1e-9))
NEARLY_CONSTANT = partial(
    with_column, lambda rng: 7.3 * (1 + 1e-12 * rng.normal(size=60))
)
add("nearly constant, scaled least squares", scaled(OLS), {}, NEARLY_CONSTANT, EXTERNAL)

# Dependent columns

TOLERANCES = {"tol": [0.3, 1e-6]}
PIPELINE_TOLERANCES = {"linearregression__tol": [0.3, 1e-6]}
TINY_TOLERANCE = make_pipeline(MinMaxScaler(), LinearRegression(tol=1e-16))
CENTRED = make_pipeline(MinMaxScaler(), StandardScaler(), NO_INTERCEPT)
SQUARE = partial(noisy, p=45)
add("several tolerances", OLS, TOLERANCES, nearly_twice)
add(
    "several tolerances, leave-one-out", OLS, TOLERANCES, nearly_twice, Recipe(3, "loo")
)
add("several tolerances, scaled", scaled(OLS), PIPELINE_TOLERANCES, nearly_twice)
add("no tolerance", LinearRegression(tol=0.0), {}, twice, EXTERNAL)
add("a tiny tolerance, transformed", TINY_TOLERANCE, {}, twice, EXTERNAL)
add("dummies", Ridge(), alphas(1e-6), dummies)
add("dummies, less penalty", Ridge(), alphas(1e-7), dummies)
add("dummies beside incomes", Ridge(), {"alpha": np.logspace(-3, 3, 7)}, incomes)
add("as many columns as rows", Ridge(), alphas(1e-8), SQUARE)
add(
    "as many columns as rows, scaled",
    scaled(Ridge()),
    ridge_alphas(1e-6),
    SQUARE,
    EXTERNAL,
)
add("rows twice, more columns", Ridge(), alphas(1e-8), rows_twice, THREES)
add("centred before, no intercept", CENTRED, ridge_alphas(1e-8), wide, THREES)

# Names of two types

add("mixed names, ridge", Ridge(), SHARES, mixed_names)
add("mixed names, k-NN", KNeighborsRegressor(), {"n_neighbors": [1, 5]}, mixed_names)

# Underflow, overflow, weights

WEIGHTS = np.linspace(0.5, 2, 60)
DENORMAL = np.linspace(1, 2, 60) * 1e-320
add("squares that underflow", Ridge(alpha=0.0), {}, partial(noisy, 1e-85), EXTERNAL)
add(
    "weights that underflow",
    Ridge(alpha=1e-170),
    {},
    noisy,
    EXTERNAL,
    sample_weight=WEIGHTS * 1e-170,
)
add("weights next to nothing", OLS, {}, noisy, EXTERNAL, sample_weight=DENORMAL)
add("weights that overflow", OLS, {}, noisy, EXTERNAL, sample_weight=WEIGHTS * 1e170)
add(
    "a cut of its own",
    Ridge(alpha=0.0, solver="svd"),
    {},
    partial(noisy, 1e-16),
    EXTERNAL,
)
add("rows without weight far away", Ridge(), alphas(1.0), far_rows, **WITHOUT_SIXTH)
add(
    "the same, external",
    Ridge(),
    {},
    partial(far_rows, 1e12),
    EXTERNAL,
    **WITHOUT_SIXTH,
)
add(
    "the same, least squares",
    OLS,
    {},
    partial(far_rows, 1e12),
    EXTERNAL,
    **WITHOUT_SIXTH,
)
add(
    "targets without weight far away",
    Ridge(),
    alphas(1.0),
    far_targets,
    **WITHOUT_SIXTH,
)
add(
    "targets hardly weighed far away",
    Ridge(),
    alphas(1.0),
    far_targets,
    Recipe(3, "loo"),
    **HARDLY_SIXTH,
)
for size, offset in ((1e8, 1e8), (1e4, 1e8), (1e-12, 1e8), (1e-8, 1e4)):
    add(
        f"weights of {size:g} at {offset:g}",
        OLS,
        {},
        partial(noisy, offset=offset),
        SHUFFLED,
        sample_weight=np.full(60, size),
    )

# Little noise

TINY_ALPHAS = alphas(1e-10, 1e-9)
ZERO_ALPHAS = (1e-13, 1e-14)
NOISE_ALPHAS = alphas(1e-8, 1e-6)
MIN_MAX_OLS = make_pipeline(MinMaxScaler(), OLS)
MIN_MAX_RIDGE = make_pipeline(MinMaxScaler(), Ridge())
MEDIAN = {"scoring": "neg_median_absolute_error"}
add("one far target", Ridge(), {}, one_far_target, EXTERNAL, **MEDIAN)
add("little noise", Ridge(), TINY_ALPHAS, close_to_a_line, Recipe(5, 5))
add("less noise", Ridge(), TINY_ALPHAS, partial(close_to_a_line, 1e-6), Recipe(5, 5))
add("no noise, transformed", MIN_MAX_OLS, {}, on_a_line, EXTERNAL)
add("no noise, root", Ridge(), alphas(*ZERO_ALPHAS), on_a_line, **ROOT)
add("no noise, root, external", Ridge(alpha=1e-14), {}, on_a_line, EXTERNAL, **ROOT)
add(
    "no noise, root, transformed",
    MIN_MAX_RIDGE,
    ridge_alphas(*ZERO_ALPHAS),
    on_a_line,
    **ROOT,
)
for offset, noise in ((1e4, 1e-3), (1e5, 1e-2), (1e6, 0.1), (1e6, 1e-3)):
    data = partial(little_noise, noise, offset=offset)
    add(f"X at {offset:g}, noise of {noise:g}", Ridge(), NOISE_ALPHAS, data)
for level, noise in ((1e4, 1e-3), (3e5, 1e-2)):
    data = partial(little_noise, noise, level=level)
    add(f"y at {level:g}, noise of {noise:g}", Ridge(), NOISE_ALPHAS, data)
for condition, noise in (
    (1e4, 1e-2),
    (1e4, 1e-4),
    (1e2, 3e-5),
    (1.0, 1e-6),
    (10.0, 3e-6),
):
    name = f"least squares, condition {condition:g}, noise {noise:g}"
    add(name, OLS, {}, partial(thin, condition, noise), EXTERNAL)
for condition, noise in ((1e2, 1e-3), (1e2, 3e-4), (10.0, 1e-5)):
    name = f"ridge, condition {condition:g}, noise {noise:g}"
    add(name, Ridge(), alphas(1e-10, 1e-8), partial(thin, condition, noise))

# X or y far from zero

SPREAD = make_pipeline(MinMaxScaler((0, 4)), Ridge())
for offset in (1e7, 1e9):
    data = partial(noisy, offset=offset)
    add(f"ridge at {offset:g}", Ridge(), SHARES, data)
    add(f"least squares at {offset:g}", OLS, {"fit_intercept": [True]}, data)
    name = f"ridge, scaled, no intercept at {offset:g}"
    add(name, scaled(NO_INTERCEPT), ridge_alphas(0.1, 1.0), data)
    add(f"ridge, transformed at {offset:g}", SPREAD, ridge_alphas(0.1, 1.0), data)
    name = f"scaled ridge of more columns than rows at {offset:g}"
    data = partial(noisy, offset=offset, m=40, p=80)
    add(name, scaled(Ridge()), ridge_alphas(0.1, 1.0), data)
add("targets at 1e8", Ridge(), SHARES, partial(noisy, level=1e8))
for offset in (1e7, 1e9, 1e12):
    name = f"scaled least squares on rows of its own at {offset:g}"
    add(name, scaled(OLS), {}, partial(noisy, offset=offset), SHUFFLED)
add(
    "offset, level and penalty multiply",
    scaled(NO_INTERCEPT),
    ridge_alphas(1e-3),
    partial(wide, 10.0, 1e3),
)
add(
    "offset, level and a large penalty",
    scaled(NO_INTERCEPT),
    ridge_alphas(0.1),
    partial(wide, 10.0, 1e6),
)
