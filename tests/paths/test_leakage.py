"""What must not move a number: rows outside, names, orders, units; and what a run must not
move: anything given."""

import pickle
import random
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import cases
from cvnb import Family, Recipe

FIVE_BY_THREE = Recipe(outer=5, inner=3)


def some_data(family):
    """A data set without equal distances for a family of the table."""
    return cases.data(
        "plain / numbers"
        if cases.FAMILIES[family].loss == "squared"
        else "plain / classes"
    )


def run(family, X, y, recipe=FIVE_BY_THREE, grid=None, **options):
    """The result of a family of the table."""
    model = cases.FAMILIES[family]
    grid = model.grid if grid is None else grid
    return recipe.run(Family(model.estimator, grid), X, y, progress="off", **options)


def assert_close(actual, expected, tolerance=1e-12):
    """Equal to a tolerance, relative above one."""
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def assert_same(one, other, tolerance=1e-12):
    """The same choices and, to a tolerance, the same curves and losses."""
    assert_close(one.inner_curves, other.inner_curves, tolerance)
    assert np.array_equal(one.chosen_index, other.chosen_index)
    assert_close(one.fold_risks, other.fold_risks, tolerance)


def lists(plan):
    """Explicit splits of a plan."""
    return list(plan.outer), [list(splits) for splits in plan.inner]


# Garbage in an outer test part


BLIND = {  # recipes whose splits depend on the number of rows alone
    "5 x 3": Recipe(outer=5, inner=3, stratify=False),
    "shuffle split x 3": Recipe(
        outer=ShuffleSplit(3, test_size=0.3, random_state=0), inner=KFold(3)
    ),
    "holdout x leave one out": Recipe(outer=0.3, inner="loo", stratify=False),
    "nested_dev": Recipe.nested_dev(4, stratify=False),
    "resampling": Recipe.nested_resampling(outer=3, inner=4, stratify=False),
    "cv_test": Recipe.cv_test(inner=4, stratify=False),
    "time ordered": Recipe(outer=4, inner=3, time_ordered=True, buffer=1),
}

NEAR = [
    "knn votes",
    "knn votes metrics",
    "knn votes softmax",
    "scaled knn votes near",
    "knn means weights",
    "scaled knn means",
]
LINEAR = [
    "ridge",
    "ridge intercepts",
    "scaled ridge",
    "least squares",
    "scaled least squares",
    "lasso",
    "scaled lasso",
    "pls",
    "scaled pls",
    "least squares on components",
    "ridge on components",
]
ITERATIVE = ["lasso", "logistic", "logistic on components"]
NORMAL = ["lda", "lda eigen", "scaled lda", "smoothed bayes", "scaled smoothed bayes"]
REFITTED = [*ITERATIVE, "tree", "tree means", "boosting", "forest", "svc"]

BLIND_RUNS = [
    *((family, name) for family in NEAR + LINEAR + NORMAL for name in BLIND),
    *((family, "5 x 3") for family in REFITTED),
    *((family, "resampling") for family in ("tree", "boosting", "svc")),
]


def with_garbage(X, y, rows, scale=1e6):
    """Huge noise for the features of these rows, and for their targets noise or other rows'
    labels."""
    rng = np.random.default_rng(7)
    X, y = X.copy(), y.copy()
    X[rows] = scale * rng.normal(size=X[rows].shape)
    y[rows] = (
        scale * rng.normal(size=len(rows))
        if y.dtype.kind == "f"
        else rng.permutation(y)[: len(rows)]
    )
    return X, y


@pytest.mark.parametrize(("family", "name"), BLIND_RUNS, ids=map("-".join, BLIND_RUNS))
def test_garbage_in_an_outer_test_part_moves_neither_choice_nor_inner_curve(
    family, name
):
    """Scrambling X and y of an outer test part leaves that split's inner curve and choice
    as they were."""
    X, y = some_data(family)
    scale = 3.0 if family in ITERATIVE else 1e6  # other splits train on it
    clean = run(family, X, y, BLIND[name])
    for j in {0, len(clean.plan.outer) - 1}:
        dirty = run(
            family, *with_garbage(X, y, clean.plan.outer[j][1], scale), BLIND[name]
        )
        assert_close(dirty.inner_curves[j], clean.inner_curves[j])
        assert dirty.chosen_index[j] == clean.chosen_index[j]


@pytest.mark.parametrize("family", ["ridge", "scaled lasso", "scaled lda", "knn means"])
def test_garbage_in_float32_moves_neither_choice_nor_inner_curve(family):
    """The copy in double precision is made row by row."""
    X, y = some_data(family)
    X, y = X.astype(np.float32), y.astype(np.float32) if y.dtype.kind == "f" else y
    clean = run(family, X, y, BLIND["5 x 3"])
    test = clean.plan.outer[0][1]
    dirty = run(family, *with_garbage(X, y, test), BLIND["5 x 3"])
    assert_close(dirty.inner_curves[0], clean.inner_curves[0])
    assert dirty.chosen_index[0] == clean.chosen_index[0]
    assert not np.allclose(dirty.inner_curves[1], clean.inner_curves[1])


@pytest.mark.parametrize(
    "family",
    ["scaled knn votes", "knn means", "scaled ridge", "tree", "boosting", "forest"],
)
def test_garbage_under_given_splits_moves_neither_choice_nor_inner_curve(family):
    """The same holds for explicit lists, stratified ones among them."""
    X, y = some_data(family)
    clean = run(family, X, y)
    outer, inner = lists(clean.plan)
    for j, (_, test) in enumerate(outer):
        dirty = run(family, *with_garbage(X, y, test), Recipe(outer=outer, inner=inner))
        assert_close(dirty.inner_curves[j], clean.inner_curves[j])
        assert dirty.chosen_index[j] == clean.chosen_index[j]


@pytest.mark.parametrize("family", NEAR + LINEAR + NORMAL)
def test_garbage_in_rows_of_no_split_moves_nothing(family):
    """Rows that no list of splits names touch no number."""
    X, y = some_data(family)
    drawn = run(family, X, y)
    given = Recipe(outer=lists(drawn.plan)[0], inner=lists(drawn.plan)[1])
    strangers = np.arange(len(y), len(y) + 9)
    more_X, more_y = with_garbage(
        np.concatenate([X, X[:9]]), np.concatenate([y, y[:9]]), strangers
    )
    assert_same(run(family, more_X, more_y, given), drawn)


# Orders, names and units


@pytest.mark.parametrize(
    "family", [*NEAR, *LINEAR, *NORMAL, "tree", "tree means", "naive bayes"]
)
def test_permuting_rows_together_with_the_splits_permutes_the_answer(family):
    """The numbers stay and the predictions move with their rows."""
    X, y = some_data(family)
    before = run(family, X, y)
    order = np.random.default_rng(1).permutation(len(y))
    place = np.argsort(order)
    outer, inner = lists(before.plan)
    recipe = Recipe(
        outer=[(place[train], place[test]) for train, test in outer],
        inner=[
            [(place[train], place[test]) for train, test in splits] for splits in inner
        ],
    )
    after = run(family, X[order], y[order], recipe)
    assert_same(after, before, 1e-9)
    assert_close(
        np.asarray(after.predictions, dtype=float)[place],
        np.asarray(before.predictions, dtype=float),
        1e-9,
    )


@pytest.mark.parametrize("family", [*NEAR, *LINEAR, "tree", "svc", "boosting"])
def test_the_order_of_the_inner_splits_moves_nothing(family):
    """Inner splits in reverse order have the same mean."""
    X, y = some_data(family)
    before = run(family, X, y)
    outer, inner = lists(before.plan)
    assert_same(
        run(
            family, X, y, Recipe(outer=outer, inner=[splits[::-1] for splits in inner])
        ),
        before,
    )


@pytest.mark.parametrize(
    "family",
    [
        "knn votes",
        "knn votes weights",
        "scaled knn votes near",
        "logistic",
        "tree",
        "svc",
        "naive bayes",
    ],
)
@pytest.mark.parametrize(
    "names", [["blue", "green", "red"], [-7, 0, 1000], [0.0, 1.0, 5.0]], ids=str
)
def test_the_names_of_the_labels_move_nothing(family, names):
    """Other names in the same sorted order give the same choices, losses and, renamed,
    predictions."""
    X, y = cases.data("plain / classes")
    names = np.array(names)
    before, after = run(family, X, y), run(family, X, names[y])
    assert_same(after, before)
    assert np.array_equal(
        np.asarray(after.predictions), names[np.asarray(before.predictions, dtype=int)]
    )


REPEATS = {
    "knn votes": {"n_neighbors": [1, 3, 3, 5]},
    "scaled knn means": {"kneighborsregressor__n_neighbors": [2, 8, 8, 5]},
    "ridge": {"alpha": [0.1, 10.0, 10.0, 1.0]},
    "scaled ridge": {"ridge__alpha": [0.1, 10.0, 10.0, 1.0]},
    "tree": {"max_leaf_nodes": [3, 5, 5, 2]},
    "boosting": {"n_estimators": [3, 5, 5, 2]},
    "svc": {"C": [0.1, 1.0, 1.0, 10.0]},
}


@pytest.mark.parametrize("family", REPEATS)
def test_a_repeated_grid_point_moves_nothing(family):
    """A setting named twice has the same loss twice and changes no choice."""
    X, y = some_data(family)
    ((key, values),) = REPEATS[family].items()
    before = run(family, X, y, grid={key: [values[0], values[1], values[3]]})
    after = run(family, X, y, grid={key: values})
    assert np.array_equal(after.inner_curves[:, 1], after.inner_curves[:, 2])
    assert_close(after.inner_curves[:, [0, 1, 3]], before.inner_curves)
    assert after.chosen == before.chosen
    assert_close(after.fold_risks, before.fold_risks)


@pytest.mark.parametrize(
    "family", ["knn votes", "knn means", "ridge", "boosting", "svc", "tree means"]
)
def test_the_order_of_the_grid_moves_no_setting_loss(family):
    """Turning every list of the grid around turns the curves around."""
    X, y = some_data(family)
    before = run(family, X, y)
    grids = cases.FAMILIES[family].grid
    turned = [
        {key: values[::-1] for key, values in one.items()}
        for one in (grids if isinstance(grids, list) else [grids])
    ]
    after = run(family, X, y, grid=turned)
    place = [after.settings.index(setting) for setting in before.settings]
    assert_close(after.inner_curves[:, place], before.inner_curves)


@pytest.mark.parametrize(
    "family",
    [
        "scaled knn votes",
        "scaled knn votes near",
        "scaled knn means",
        "scaled ridge",
        "scaled least squares",
    ],
)
def test_the_units_of_standardised_features_move_nothing(family):
    """Other units and origins of the columns give the same choices and losses."""
    X, y = some_data(family)
    assert_same(
        run(family, X * [1000.0, 0.01, 1.8, 7.0] + [0.0, 5.0, 32.0, -1.0], y),
        run(family, X, y),
        1e-9,
    )


@pytest.mark.parametrize(
    "family", ["knn means", "knn means weights", *LINEAR[:5], "tree means", "boosting"]
)
def test_scaling_y_scales_the_squared_loss_by_the_square(family):
    """A target 1024 times as large has 1024 * 1024 times the losses and the same choices."""
    X, y = some_data(family)
    before, after = run(family, X, y), run(family, X, 1024 * y)
    assert_close(after.inner_curves, 1024**2 * before.inner_curves, 1e-9)
    assert_close(after.fold_risks, 1024**2 * before.fold_risks, 1e-9)
    assert np.array_equal(after.chosen_index, before.chosen_index)


ONE = {
    "knn votes": {"n_neighbors": [3]},
    "scaled ridge": {"ridge__alpha": [2.0]},
    "tree": {"max_leaf_nodes": [4]},
    "svc": {"C": [2.0]},
    "naive bayes": {},
}


@pytest.mark.parametrize("family", ONE)
def test_one_candidate_gives_external_cv(family):
    """With one setting the inner splits choose nothing and the fold losses are those
    without them."""
    X, y = some_data(family)
    tuned, plain = (
        run(family, X, y, recipe, ONE[family])
        for recipe in (FIVE_BY_THREE, Recipe.external_cv(5))
    )
    assert plain.inner_curves is None
    assert_close(tuned.fold_risks, plain.fold_risks)
    assert tuned.chosen == plain.chosen


@pytest.mark.parametrize(
    "family",
    ["ridge", "scaled ridge", "least squares", "tree", "svc", "logistic on components"],
)
def test_weights_of_one_move_nothing(family):
    """Weighing every row by one gives the numbers without weights."""
    X, y = some_data(family)
    assert_same(
        run(family, X, y, sample_weight=np.ones(len(y))), run(family, X, y), 1e-9
    )


def test_a_row_of_weight_zero_moves_no_least_squares_loss():
    """Garbage in rows of weight 0 touches no number of a weighted linear model."""
    X, y = some_data("least squares")
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    weights[[4, 17, 30]] = 0.0
    dirty_X, dirty_y = X.copy(), y.copy()
    dirty_X[[4, 17, 30]] += 10.0
    dirty_y[[4, 17, 30]] -= 100.0
    one, other = (
        run("least squares", *xy, sample_weight=weights)
        for xy in ((X, y), (dirty_X, dirty_y))
    )
    assert_same(one, other, 1e-9)


# A failing setting


class Fragile(Ridge):
    """A ridge that cannot be fitted with alpha 13 to an odd number of rows."""

    def fit(self, X, y, sample_weight=None):
        """Raise, or fit."""
        if self.alpha == 13 and len(y) % 2:
            raise ValueError("thirteen is odd")
        return super().fit(X, y, sample_weight)


FAILING = {
    "some fits": (Fragile(), {"alpha": [0.1, 13, 10.0, 1.0]}),
    "all fits": (make_pipeline(PCA(), Ridge()), {"pca__n_components": [1, 99, 2, 3]}),
}


@pytest.mark.parametrize(("estimator", "grid"), FAILING.values(), ids=FAILING)
def test_a_failing_setting_changes_no_other_number(estimator, grid):
    """The other curves, the choices and the losses are those without the failing setting,
    and a note names it."""
    X, y = cases.data("plain / numbers")
    ((key, values),) = grid.items()
    sound = FIVE_BY_THREE.run(
        Family(estimator, {key: [values[0], *values[2:]]}), X, y, progress="off"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mixed = FIVE_BY_THREE.run(Family(estimator, grid), X, y, progress="off")
    assert_close(mixed.inner_curves[:, [0, 2, 3]], sound.inner_curves)
    assert mixed.chosen == sound.chosen
    assert_close(mixed.fold_risks, sound.fold_risks)
    assert any(str(values[1]) in note for note in mixed.notes)


# What was given is left as it was


def frozen(*objects):
    """The pickles of what was given, and both global random states."""
    legacy = np.random.get_state()  # noqa: NPY002 - the state that estimators share
    return (
        [pickle.dumps(one) for one in objects],
        pickle.dumps(legacy),
        random.getstate(),
    )


COPYLESS = {
    "scaler and ridge": (
        make_pipeline(StandardScaler(copy=False), Ridge(copy_X=False)),
        {"ridge__alpha": [0.1, 1.0]},
    ),
    "ridge": (Ridge(copy_X=False), {"alpha": [0.1, 1.0]}),
    "least squares": (LinearRegression(copy_X=False), {}),
    "lasso": (Lasso(copy_X=False), {"alpha": [0.1, 1.0]}),
    "components": (
        make_pipeline(
            StandardScaler(copy=False), PCA(copy=False), LinearRegression(copy_X=False)
        ),
        {"pca__n_components": [1, 2]},
    ),
    "forest": (
        RandomForestRegressor(n_estimators=2, random_state=None),
        {"max_depth": [1, 2]},
    ),
    "grown forest": (
        RandomForestRegressor(random_state=None),
        {"n_estimators": [1, 2]},
    ),
    "generator": (
        RandomForestRegressor(n_estimators=2, random_state=np.random.RandomState(1)),
        {"max_depth": [1, 2]},
    ),
}


@pytest.mark.parametrize(
    "recipe", [FIVE_BY_THREE, Recipe.internal_cv(3)], ids=["nested", "internal"]
)
@pytest.mark.parametrize(("estimator", "grid"), COPYLESS.values(), ids=COPYLESS)
def test_arrays_estimators_grids_and_random_states_are_left_as_they_were(
    estimator, grid, recipe
):
    """Neither a run nor its final predictor writes to anything given, not even where a step
    is told not to copy."""
    X, y = cases.data("plain / numbers")
    before = frozen(X, y, estimator, grid)
    recipe.run(Family(estimator, grid), X, y, progress="off").predictor()
    assert frozen(X, y, estimator, grid) == before


def copyless(copy):
    """Steps that shift what they are given where they may, with a grid whose settings share
    the steps ahead."""
    scaler = MinMaxScaler(feature_range=(1, 2), copy=copy)
    return {
        "ridge": (Ridge(copy_X=copy), {"alpha": [0.1, 1.0, 10.0]}),
        "lasso": (Lasso(copy_X=copy), {"alpha": [0.01, 0.1, 1.0]}),
        "least squares": (
            LinearRegression(copy_X=copy),
            {"fit_intercept": [True, False]},
        ),
        "scaler and ridge": (
            make_pipeline(scaler, Ridge(copy_X=copy)),
            {"ridge__alpha": [0.1, 1.0, 10.0]},
        ),
        "scaler and lasso": (
            make_pipeline(scaler, Lasso(copy_X=copy)),
            {"lasso__alpha": [0.01, 0.1, 1.0]},
        ),
        "components": (
            make_pipeline(scaler, PCA(copy=copy), Ridge(copy_X=copy)),
            {"pca__n_components": [1, 2, 3], "ridge__alpha": [0.1, 10.0]},
        ),
    }


@pytest.mark.parametrize("name", copyless(True))
def test_steps_told_not_to_copy_give_the_numbers_of_steps_that_do(name):
    """What one setting writes over is no other setting's data."""
    X, y = cases.data("plain / numbers")
    saved, spent = (
        FIVE_BY_THREE.run(Family(*copyless(copy)[name]), X, y, progress="off")
        for copy in (True, False)
    )
    assert_same(spent, saved)


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize(
    "family", ["knn votes", "scaled knn means", "ridge", "scaled ridge", "tree", "svc"]
)
def test_arrays_that_cannot_be_written_are_good_enough(family, layout):
    """Read-only arrays of either memory order give the same numbers."""
    X, y = some_data(family)
    expected = run(family, X, y)
    X = np.array(X, order=layout)
    X.setflags(write=False)
    y.setflags(write=False)
    assert_same(run(family, X, y), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_left_as_they_were(frame):
    """A run behind a scaler told not to copy leaves the frame's values."""
    X, y = cases.data("plain / numbers")
    estimator, grid = COPYLESS["scaler and ridge"]
    given = frame({f"x{c}": X[:, c] for c in range(X.shape[1])})
    FIVE_BY_THREE.run(Family(estimator, grid), given, y, progress="off").predictor()
    assert np.array_equal(given.to_numpy(), X)
    assert list(given.columns) == ["x0", "x1", "x2", "x3"]


def test_a_splitter_with_a_generator_is_left_as_it_was_and_draws_the_same_again():
    """A RandomState inside a splitter does not advance, so that two runs of one recipe agree."""
    X, y = some_data("ridge")
    outer = KFold(4, shuffle=True, random_state=np.random.RandomState(3))
    inner = ShuffleSplit(3, test_size=0.3, random_state=np.random.RandomState(4))
    recipe = Recipe(outer=outer, inner=inner)
    before = frozen(outer, inner, recipe)
    one, other = run("ridge", X, y, recipe), run("ridge", X, y, recipe)
    assert frozen(outer, inner, recipe) == before
    assert_same(one, other, 0)
    for (train, test), again in zip(one.plan.outer, other.plan.outer, strict=True):
        assert np.array_equal(train, again[0])
        assert np.array_equal(test, again[1])


def test_a_splitter_with_the_global_state_leaves_it_as_it_was():
    """random_state=None in a splitter takes nothing from the user's global stream."""
    X, y = some_data("ridge")
    recipe = Recipe(outer=KFold(4, shuffle=True), inner=ShuffleSplit(3, test_size=0.3))
    before = frozen(recipe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that each plan draws other splits
        run("ridge", X, y, recipe)
    assert frozen(recipe) == before


def test_lists_of_splits_are_left_as_they_were():
    """The user's own row numbers are not sorted or cast."""
    X, y = some_data("knn means")
    recipe = Recipe(
        outer=ShuffleSplit(3, test_size=0.3, random_state=0), inner=KFold(3)
    )
    outer, inner = lists(recipe.plan(X, y))
    before = frozen(outer, inner)
    run("knn means", X, y, Recipe(outer=outer, inner=inner))
    assert frozen(outer, inner) == before


def test_estimators_inside_a_grid_are_not_fitted():
    """A grid over a step's estimators leaves them unfitted and chooses among clones."""
    X, y = cases.data("plain / numbers")
    grid = {"step": [Ridge(), Lasso(), Ridge(alpha=5.0)]}
    estimator = make_pipeline(StandardScaler(), Ridge())
    estimator.steps[1] = ("step", estimator.steps[1][1])
    before = frozen(estimator, grid)
    result = FIVE_BY_THREE.run(Family(estimator, grid), X, y, progress="off")
    result.predictor()
    assert frozen(estimator, grid) == before
    assert not any(hasattr(setting["step"], "coef_") for setting in result.settings)


def test_a_grid_search_is_left_as_it_was():
    """A GridSearchCV handed over is neither fitted nor changed."""
    X, y = cases.data("plain / words")
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [0.1, 1.0]},
        cv=KFold(3, shuffle=True, random_state=0),
    )
    before = frozen(search)
    Recipe(outer=4).run(Family(search), X, y, progress="off").predictor()
    assert frozen(search) == before


def test_groups_and_weights_are_left_as_they_were():
    """Groups and weights are only read."""
    X, y = some_data("ridge")
    groups, weights = np.arange(len(y)) % 12, np.linspace(1.0, 2.0, len(y))
    before = frozen(groups, weights)
    run("ridge", X, y, groups=groups, sample_weight=weights)
    assert frozen(groups, weights) == before


def test_a_predictor_forgets_the_arrays_that_it_was_fitted_on():
    """Writing to X after a run changes no prediction of its predictor."""
    X, y = cases.data("plain / words")
    predictor = run("knn votes", X, y).predictor()
    new = X[:10].copy()
    before = clone(predictor).fit(X, y).predict(new)
    X[:] = 0.0
    assert np.array_equal(predictor.predict(new), before)


def test_a_seeded_global_state_moves_nothing():
    """Whatever the user's global seed, a run of a family with a seed of its own gives the
    same numbers."""
    X, y = cases.data("plain / words")
    family = Family(
        RandomForestClassifier(n_estimators=3, random_state=0), {"max_depth": [1, 3]}
    )
    results = []
    for seed in (0, 1):
        np.random.seed(seed)  # noqa: NPY002 - the state that estimators share
        results.append(FIVE_BY_THREE.run(family, X, y, progress="off"))
    assert_same(*results, 0)
