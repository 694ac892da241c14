"""result.interval: which formula suits which recipe, what it covers, and what is refused."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

import cvnb
import naive
from cvnb import Recipe, knn, ridge
from cvnb.errors import CvnbError, LossError
from cvnb.inference import (
    bayle_interval,
    corrected_t_interval,
    hoeffding_interval,
    holdout_interval,
    wilson_interval,
)
from scripts_of import script
from small_tables import classes, numbers


def row_losses(result, y):
    """(y - ŷ)² fold by fold, from the predictions: for classes 0 and 1 the 0-1 loss."""
    return [(y[test] - result.predictions[test]) ** 2 for _, test in result.plan.outer]


FEW = knn(k=[1, 3, 5])
AUTO = {
    "nested CV": (Recipe(5, 3), {}, "few_rows"),
    "leave-one-out": (Recipe("loo", 3), {}, "few_rows"),
    "external CV": (Recipe.external_cv(), {}, "few_rows"),
    "CV then test": (Recipe.cv_test(), {}, "holdout"),
    "train/validation/test": (Recipe.train_validation_test(), {}, "holdout"),
    "nested resampling": (Recipe.nested_resampling(4, 3), {}, "corrected_t"),
    "repeated CV": (
        Recipe(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 3),
        {},
        "corrected_t",
    ),
    "a metric of whole parts": (Recipe(5, 3), {"scoring": "roc_auc"}, "corrected_t"),
    "groups": (Recipe(5, 3), {"groups": np.arange(60) // 3}, "bayle"),
}


@pytest.mark.parametrize("case", AUTO)
def test_auto_takes_what_suits_the_recipe_and_says_so(case):
    """method, the words of the target, and a risk inside the interval."""
    recipe, options, method = AUTO[case]
    family = knn(k=3) if recipe.inner_spec is None else FEW
    result = recipe.run(family, *classes(), **options)
    interval = result.interval()
    assert interval.method == method
    shown = result.score if options.get("scoring") else result.risk
    assert interval.low <= shown <= interval.high
    assert interval.why.startswith("for ")
    assert "|S| = " in interval.target
    assert ("procedure at this training size" in interval.target) == (
        method == "corrected_t"
    )
    assert ("predictor trained on these rows" in interval.target) == (
        method == "holdout"
    )
    assert ("group" in interval.target) == ("groups" in options)
    assert repr(interval).startswith(
        f"95 % interval {interval.low:.2f} to {interval.high:.2f} ({method}, for "
    )


def test_bayle_takes_the_row_losses_fold_by_fold():
    """The same numbers as the array function, and a result in its place."""
    X, y = numbers()
    result = Recipe(5, 3).run(ridge(alpha=[0.1, 10]), X, y)
    found = result.interval(0.9, "bayle")
    assert found.why == "as requested"
    losses = row_losses(result, y)
    expected = bayle_interval(losses, 0.9)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)
    assert (found.low, found.high) == bayle_interval(result, 0.9)
    half = stats.norm.ppf(0.95) * naive.bayle_error(losses)
    expected = result.risk - half, result.risk + half
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_on_few_rows_auto_counts_the_rows_of_a_training_part(task):
    """Student's t and n_train in place of z and n: wider than "bayle", as simulations ask."""
    X, y = (numbers if task == "regression" else classes)(100)
    family = ridge(alpha=[0.1, 10]) if task == "regression" else FEW
    result = Recipe(4, 3).run(family, X, y)
    losses, t = np.concatenate(row_losses(result, y)), stats.t.ppf(0.95, 99)
    found, narrow = result.interval(0.9), result.interval(0.9, "bayle")
    assert (found.method, found.why) == ("few_rows", "for fewer than 250 rows")
    if task == "regression":
        half = t * losses.std(ddof=1) / np.sqrt(75) / result.risk
        expected = result.risk * np.exp(-half), result.risk * np.exp(half)
    else:
        p, z2 = losses.mean(), t**2 / 75
        half = np.sqrt(z2 * p * (1 - p) + z2**2 / 4)
        expected = (p + z2 / 2 - half) / (1 + z2), (p + z2 / 2 + half) / (1 + z2)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)
    assert found.target == narrow.target
    assert found.high - found.low > 1.1 * (narrow.high - narrow.low)


@pytest.mark.parametrize("outer", [10, "loo"])
def test_more_folds_count_no_more_than_four_rows_of_five(outer):
    """Their training parts are larger, and their intervals no narrower."""
    X, y = numbers(40)
    result = Recipe(outer, 3).run(ridge(alpha=[0.1, 10]), X, y)
    losses = np.concatenate(row_losses(result, y))
    half = stats.t.ppf(0.975, 39) * losses.std(ddof=1) / np.sqrt(32) / result.risk
    found = result.interval()
    expected = result.risk * np.exp(-half), result.risk * np.exp(half)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


def test_few_rows_of_a_loss_that_may_be_negative_have_ends_as_far_from_the_risk():
    """Only what is never negative has a logarithm."""
    X, y = numbers(60)
    options = {"loss": lambda truth, predicted: truth - predicted}
    result = Recipe(4, 3).run(ridge(alpha=[0.1, 10]), X, y, **options)
    found = result.interval()
    assert found.method == "few_rows"
    assert found.high - result.risk == pytest.approx(result.risk - found.low)


@pytest.mark.parametrize(
    ("m", "outer", "options", "method"),
    [
        (249, 5, {}, "few_rows"),
        (250, 5, {}, "bayle"),
        (399, 6, {}, "few_rows"),
        (400, 6, {}, "bayle"),
        (60, 4, {"groups": np.arange(60) // 3}, "bayle"),
        (60, 4, {"sample_weight": np.arange(1.0, 61.0)}, "bayle"),
    ],
)
def test_auto_depends_on_the_number_of_rows_and_on_the_recipe_alone(
    m, outer, options, method
):
    """From 250 rows on, from 400 in more than 5 folds, with groups and with weights, it is
    Bayle's; what few_rows refuses."""
    X, y = numbers(m)
    result = Recipe(outer, 3).run(ridge(alpha=[0.1, 10]), X, y, **options)
    assert result.interval().method == method
    if options:
        with pytest.raises(
            CvnbError, match=r"method='few_rows' counts .*; use method='bayle'"
        ):
            result.interval(method="few_rows")


def test_groups_and_weights_reach_bayle():
    """Groups in the plan's order, weights of the test rows."""
    X, y = numbers()
    groups, w = (
        np.arange(60) // 4,
        np.random.default_rng(1).integers(1, 4, 60).astype(float),
    )
    for options in (
        {"groups": groups},
        {"sample_weight": w},
        {"groups": groups, "sample_weight": w},
    ):
        result = Recipe(5, 3).run(ridge(alpha=[0.1, 10]), X, y, **options)
        of_tests = {
            name: [values[test] for _, test in result.plan.outer]
            for name, values in (("groups", groups), ("weights", w))
            if (name == "groups" and "groups" in options)
            or (name == "weights" and "sample_weight" in options)
        }
        found = result.interval()
        assert (found.low, found.high) == pytest.approx(
            bayle_interval(row_losses(result, y), **of_tests), rel=1e-9
        )
        assert (found.low + found.high) / 2 == pytest.approx(result.risk, rel=1e-12)


def test_the_corrected_t_counts_rows_or_groups():
    """n_test / n_train in rows; in groups where rows come in groups."""
    X, y = numbers()
    result = Recipe(5, 3).run(ridge(alpha=[0.1, 10]), X, y)
    found = result.interval(0.9, "corrected_t")
    assert (found.low, found.high) == pytest.approx(
        corrected_t_interval(result.fold_risks, 48, 12, 0.9), rel=1e-12
    )
    groups = np.repeat(np.arange(6), [20, 20, 5, 5, 5, 5])
    result = Recipe(GroupKFold(3), 2).run(ridge(alpha=[0.1, 10]), X, y, groups=groups)
    sizes = [
        [np.unique(groups[part]).size for part in pair] for pair in result.plan.outer
    ]
    found = result.interval(method="corrected_t")
    expected = corrected_t_interval(result.fold_risks, *np.mean(sizes, axis=0))
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
    assert "rows of one group taken as one unit" in found.target


def test_one_test_part_has_the_exact_interval_or_students():
    """0-1 loss is counted, other losses are averaged; groups are clustered."""
    X, y = classes()
    result = Recipe.cv_test().run(FEW, X, y)
    found = result.interval()
    assert (found.low, found.high) == holdout_interval(
        row_losses(result, y)[0], zero_one=True
    )
    X, y = numbers()
    result = Recipe.cv_test().run(ridge(alpha=[0.1, 10]), X, y)
    found = result.interval()
    assert (found.low, found.high) == pytest.approx(
        holdout_interval(row_losses(result, y)[0]), rel=1e-9
    )
    groups = np.arange(60) // 4
    result = Recipe.cv_test().run(ridge(alpha=[0.1, 10]), X, y, groups=groups)
    found, test = result.interval(), result.plan.outer[0][1]
    low, high = holdout_interval(row_losses(result, y)[0], groups=groups[test])
    assert (found.low, found.high) == pytest.approx((max(0, low), high), rel=1e-9)


def test_hoeffding_needs_no_distribution_but_a_range():
    """0-1 loss lies in [0, 1] and so does its interval; other losses need a declared range."""
    X, y = classes()
    result = Recipe(5, 3).run(FEW, X, y)
    low, high = hoeffding_interval(row_losses(result, y))
    found = result.interval(method="hoeffding")
    assert (found.low, found.high) == pytest.approx(
        (max(0, low), min(1, high)), rel=1e-12
    )
    X, y = numbers()
    result = Recipe(5, 3).run(ridge(alpha=[0.1, 10]), X, y)
    with pytest.raises(
        CvnbError,
        match=r"the squared loss has none; declare its width, as in interval\(method='hoeffding'",
    ):
        result.interval(method="hoeffding")
    found = result.interval(method="hoeffding", range=50.0)
    low, high = hoeffding_interval(row_losses(result, y), range=50.0)
    assert low < 0 == found.low
    assert found.high == pytest.approx(high, rel=1e-9)


def test_no_mistake_at_all_is_no_certainty():
    """Five folds without a mistake: not [0, 0], but Wilson's ends; one test part has the
    exact interval."""
    X = np.repeat([[0.0], [100.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    result = Recipe(5, 3).run(FEW, X, y)
    assert result.risk == 0
    found = result.interval(method="bayle")
    assert found.low == 0.0
    assert found.high == pytest.approx(wilson_interval(0, 60)[1])
    assert result.interval().high > found.high
    with pytest.raises(
        CvnbError, match="every fold loss is 0, so their spread is unknown"
    ):
        result.interval(method="corrected_t")
    found = Recipe.cv_test().run(FEW, X, y).interval()
    assert (found.low, found.high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 12)))


@pytest.mark.parametrize("inner", [None, 3])
def test_leave_one_out_without_a_mistake_has_wilsons_interval(inner):
    """As any other K: a hundred rows without a mistake leave room for 4 % of them."""
    X, y = load_iris(return_X_y=True)
    family = knn(k=3) if inner is None else FEW
    result = Recipe("loo", inner).run(family, X[:100], y[:100])
    assert result.risk == 0
    found = result.interval(method="bayle")
    assert found.low == 0.0
    assert found.high == pytest.approx(wilson_interval(0, 100)[1], rel=1e-12)
    t = stats.t.ppf(0.975, 99)  # "auto", on few rows: four of five are counted
    assert result.interval().high == pytest.approx(t**2 / (80 + t**2), rel=1e-12)


REFUSED = {
    "nothing outside": (
        Recipe.internal_cv(),
        {},
        "auto",
        "outer=None measures nothing outside S",
    ),
    "time": (
        Recipe(5, 3, time_ordered=True),
        {},
        "auto",
        "rows in the order of time depend on each other",
    ),
    "time blocks": (
        Recipe(cvnb.TimeBlocks(4), 3),
        {},
        "bayle",
        "rows in the order of time",
    ),
    "time series": (
        Recipe(TimeSeriesSplit(3), 3),
        {},
        "corrected_t",
        "rows in the order of time",
    ),
    "bayle of one part": (
        Recipe.cv_test(),
        {},
        "bayle",
        "here is one test part; use method='holdout'",
    ),
    "bayle of overlapping parts": (
        Recipe(ShuffleSplit(4, random_state=0), 3),
        {},
        "bayle",
        "use method='corrected_t'",
    ),
    "t of one part": (
        Recipe.cv_test(),
        {},
        "corrected_t",
        "and here is one; use method='holdout'",
    ),
    "holdout of five": (
        Recipe(5, 3),
        {},
        "holdout",
        "for one test part, and here are 5; use method='bayle'",
    ),
    "bayle of AUC": (
        Recipe(5, 3),
        {"scoring": "roc_auc"},
        "bayle",
        "roc_auc is one number for a whole test part",
    ),
    "Hoeffding of AUC": (
        Recipe(5, 3),
        {"scoring": "roc_auc"},
        "hoeffding",
        "needs a loss for every row; use loss='zero_one'",
    ),
    "AUC on one part": (
        Recipe.cv_test(),
        {"scoring": "roc_auc"},
        "auto",
        "roc_auc is one number for a whole test part",
    ),
    "an unknown method": (
        Recipe(5, 3),
        {},
        "wald",
        "method='wald' is not known; use 'auto', 'bayle'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_formula_covers_is_refused(case):
    """The message says why and what to use instead."""
    recipe, options, method, message = REFUSED[case]
    result = recipe.run(FEW, *classes(), **options)
    with pytest.raises(CvnbError, match=message):
        result.interval(method=method)


def test_a_level_is_a_probability():
    """95 is not one."""
    result = Recipe(5, 3).run(FEW, *classes())
    with pytest.raises(
        CvnbError, match=r"level=95.0 must lie strictly between 0 and 1"
    ):
        result.interval(95)


def test_an_interrupted_run_has_the_interval_of_what_was_finished(monkeypatch):
    """Three of five outer splits: only their rows count, and the target gives their number."""
    X, y = classes()
    result = Recipe(5, 3).run(FEW, X, y, path="refit")
    table = result._record.table
    cut = {
        name: getattr(table, name)[:3]
        for name in ("inner", "outer", "rows", "predictions", "chosen")
    }
    partial = type(result)(
        cvnb.results.estimate.Record(
            **{
                **result._record.__dict__,
                "table": type(table)(**{**table.__dict__, **cut, "complete": False}),
            }
        )
    )
    found = partial.interval(method="bayle")
    losses = [
        (y[test] != predicted).astype(float)
        for (_, test), predicted in zip(
            result.plan.outer, table.predictions, strict=True
        )
    ]
    mistakes = int(sum(rows.sum() for rows in losses[:3]))
    expected = wilson_interval(mistakes, 36)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
    assert "the 3 predictors of the 5" in found.target


def test_an_unbounded_loss_is_still_refused_by_the_bound():
    """The dev-set bound needs a bounded loss."""
    with pytest.raises(LossError, match="unbounded loss"):
        cvnb.inference.dev_set_bound(10, 5, range=np.inf)


def test_the_intervals_cover_what_they_name():
    """400 simulations of 100 rows in groups: each method within four standard errors of
    what 2,000 gave.

    The script prints the same for all sizes; ignoring the groups is seen to fail.
    """
    study = script("interval_coverage")
    shares = study.coverage(study.Ridge(), 100, True, 400)
    for method, expected in STORED.items():
        slack = 4 * np.sqrt(expected * (1 - expected) / 400)
        assert abs(shares[method][0] - expected) < slack, (method, shares[method][0])
    assert shares["ignoring groups"][0] < 0.85 < shares["bayle"][0]


STORED = {
    "bayle": 0.890,
    "corrected_t": 0.962,
    "holdout": 0.893,
    "ignoring groups": 0.814,
}


def test_the_interval_of_leave_one_out_on_many_rows_is_cheap():
    """20,000 single rows: no list of training parts is made, and no table of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    result = Recipe.leave_one_out().run(
        LinearRegression(), X, X[:, 0] + rng.normal(size=20_000)
    )
    tracemalloc.start()
    found = result.interval()
    result.interval(method="corrected_t")
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert found.method == "bayle"
    assert 0.018 < (found.high - found.low) / 2 < 0.021
