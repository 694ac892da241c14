"""What a stranger found wrong in intervals, rules, corrections and comparisons."""

import pickle

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cvnb
from cvnb import Comparison, Family, Recipe, forest, knn, ridge
from cvnb.errors import CvnbError
from cvnb.inference import (
    OneSE,
    alpaydin_5x2cv,
    bayle_interval,
    bbc,
    compare_rules,
    corrected_t,
    corrected_t_interval,
    dev_set_bound,
    dev_set_size,
    hoeffding_interval,
    holdout_interval,
    one_standard_error,
    optimism,
    standard_error,
    tibshirani_bias,
)
from cvnb.results.estimate import Record, record_of


def classes(m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


def numbers(m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, X[:, 0] + rng.normal(size=m)


def interrupted(result, n):
    """The same result, stopped after n outer splits."""
    record = record_of(result)
    names = [
        name
        for name in ("inner", "outer", "rows", "predictions", "chosen")
        if getattr(record.table, name) is not None
    ]
    cut = {name: getattr(record.table, name)[:n] for name in names}
    table = type(record.table)(**{**record.table.__dict__, **cut, "complete": False})
    return type(result)(Record(**{**record.__dict__, "table": table}))


def with_losses(result, losses):
    """The same result with these fold losses, whatever the setting."""
    record = record_of(result)
    outer = np.repeat(
        np.asarray(losses, dtype=float)[:, None], record.table.outer.shape[1], axis=1
    )
    return type(result)(
        Record(
            **{
                **record.__dict__,
                "table": type(record.table)(
                    **{**record.table.__dict__, "outer": outer}
                ),
            }
        )
    )


# Comparisons


def test_the_winner_of_an_interrupted_comparison_is_that_of_the_common_splits():
    """A hard split that only one of them finished does not turn the sentence round."""
    both = Recipe(KFold(10), None).run(
        {"a": ridge(alpha=1.0), "b": ridge(alpha=2.0)}, *numbers(100)
    )
    easy = 1 + 0.01 * np.arange(9)
    a = with_losses(both["a"], np.append(easy, 100.0))
    b = interrupted(
        with_losses(both["b"], np.append(easy + 1 + 0.02 * (np.arange(9) % 3), 0.0)), 9
    )
    (pair,) = Comparison({"a": a, "b": b}).pairs
    assert pair.difference == pytest.approx(np.mean(a.fold_risks[:9] - b.fold_risks))
    assert a.risk > b.risk
    assert pair.difference < 0
    assert pair.sentence.endswith("a is better.")


def test_differences_that_cancel_are_differences():
    """A mean of zero over splits that differ is not "no difference in any"."""
    X, y = classes()
    both = Recipe(5, 3).run({"a": knn(k=[1, 3]), "b": knn(k=[1, 3])}, X, y)
    changed = with_losses(
        both["b"], both["b"].fold_risks + np.array([0.1, -0.1, 0, 0, 0])
    )
    (pair,) = Comparison({"a": both["a"], "b": changed}).pairs
    assert pair.difference == pytest.approx(0.0, abs=1e-12)
    assert "no difference" not in pair.sentence


def test_scorers_that_differ_in_a_parameter_are_two_losses():
    """F-beta of 0.1 and of 10 have one name."""
    X, y = classes()
    a, b = (
        Recipe(4, 3).run(
            knn(k=[1, 5]), X, y, scoring=make_scorer(fbeta_score, beta=beta)
        )
        for beta in (0.1, 10)
    )
    with pytest.raises(CvnbError, match="give both the same"):
        corrected_t(a, b)


def test_a_part_of_five_times_two_halves_is_refused():
    """Eight of ten splits."""
    X, y = classes()
    recipe = Recipe(RepeatedKFold(n_splits=2, n_repeats=5, random_state=0), 2)
    both = recipe.run({"a": knn(k=[1, 5]), "b": ridge(alpha=[1.0])}, X, y)
    with pytest.raises(CvnbError, match="5×2cv is five times two halves"):
        alpaydin_5x2cv(interrupted(both["a"], 8), both["b"])


# Intervals


def test_unequal_folds_weigh_their_rows_as_the_risk_does():
    """Ten and 290 rows: the interval of the mean of fold means holds the truth, which σ/√n over all rows does not."""
    held, plain = 0, 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 1)), rng.normal(size=300)
        split = PredefinedSplit((np.arange(300) >= 10).astype(int))
        result = Recipe(split, None).run(Family(LinearRegression(), {}), X * 0, y)
        truth = np.mean([1 + y[train].mean() ** 2 for train, _ in result.plan.outer])
        found = result.interval()
        rows = [
            (y[test] - result.predictions[test]) ** 2 for _, test in result.plan.outer
        ]
        held += found.low <= truth <= found.high
        low, high = bayle_interval(rows)
        plain += low <= truth <= high
        assert (found.low + found.high) / 2 == pytest.approx(result.risk)
    assert plain < 200 < 240 < held


def test_rows_without_weight_are_no_evidence():
    """Three rows that count among fifty: the interval of those three."""
    losses = np.random.default_rng(0).exponential(size=50)
    w = np.r_[np.ones(3), np.zeros(47)]
    np.testing.assert_allclose(
        holdout_interval(losses, weights=w), holdout_interval(losses[:3]), rtol=1e-12
    )
    folds, groups = (
        [losses[:25], losses[25:]],
        [np.arange(25) // 5, 5 + np.arange(25) // 5],
    )
    weights = [np.r_[np.ones(10), np.zeros(15)], np.r_[np.ones(10), np.zeros(15)]]
    few = (
        [fold[:10] for fold in folds],
        [group[:10] for group in groups],
        [np.ones(10)] * 2,
    )
    expected = bayle_interval(few[0], weights=few[2], groups=few[1])
    np.testing.assert_allclose(
        bayle_interval(folds, weights=weights, groups=groups), expected, rtol=1e-12
    )


def test_a_result_in_place_of_losses_is_refused_as_the_method_is():
    """Overlapping test parts, time order, and time order inside."""
    X, y = classes()
    repeated = Recipe(RepeatedKFold(n_splits=5, n_repeats=2, random_state=0), 3).run(
        knn(k=[1, 5]), X, y
    )
    with pytest.raises(CvnbError, match="test parts that do not overlap"):
        bayle_interval(repeated)
    with pytest.raises(CvnbError, match="rows in the order of time"):
        bayle_interval(Recipe(4, 3, time_ordered=True).run(knn(k=[1, 5]), X, y))
    with pytest.raises(CvnbError, match="rows in the order of time"):
        Recipe(0.3, TimeSeriesSplit(3), shuffle=True).run(
            knn(k=[1, 5]), X, y
        ).interval()


def test_a_range_of_zero_is_no_range():
    """It is refused, whatever the method."""
    result = Recipe(4, 3).run(knn(k=[1, 5]), *classes())
    for range_ in (0, -3.0, False):
        for method in ("hoeffding", "bayle"):
            with pytest.raises(CvnbError, match="range="):
                result.interval(method=method, range=range_)


def test_one_grouped_test_part_without_a_mistake_falls_back_to_hoeffding():
    """As several test parts do."""
    X = np.repeat([[0.0], [100.0]], 30, axis=0)
    result = Recipe(0.3, 3).run(
        knn(k=[1, 3]), X, np.repeat([0, 1], 30), groups=np.arange(60) // 3
    )
    assert result.interval().method == "hoeffding"


def test_the_interval_of_a_score_says_of_which_loss_it_is():
    """low and high are losses; the display turns them round, and cuts what no risk can be."""
    result = Recipe(4, 3).run(knn(k=[1, 5]), *classes(), scoring="roc_auc")
    assert "by the loss -roc_auc" in repr(result.interval())
    X = np.repeat([[0.0], [100.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    y[0] = 1
    result = Recipe(4, 3).run(knn(k=[3, 5]), X, y)
    assert result.interval().low < 0
    assert "95 % interval 0 to" in repr(result)


# One standard error

SIMPLEST = [
    (
        Family(
            LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [None, 0.2, 0.6]}
        ),
        classes,
        [2, 1, 0],
    ),
    (
        Family(DecisionTreeClassifier(random_state=0), {"max_depth": [None, 3]}),
        classes,
        [1, 0],
    ),
]


@pytest.mark.parametrize(("family", "data", "ranks"), SIMPLEST)
def test_none_is_what_it_means_to_the_parameter(family, data, ranks):
    """No shrinkage is the least of it; no limit is the largest."""
    from cvnb.families.family import check_parameters
    from cvnb.families.simplicity import order_of

    assert order_of(family, check_parameters(family), {}).ranks[:, 0].tolist() == ranks


@pytest.mark.parametrize(
    ("family", "data", "message"),
    [
        (
            Family(KernelRidge(kernel="rbf"), {"gamma": [None, 1, 3]}),
            numbers,
            "known for numbers, not for None",
        ),
        (
            Family(DecisionTreeClassifier(), {"min_samples_leaf": [5, 0.3]}),
            classes,
            "shares and counts",
        ),
        (
            Family(
                make_pipeline(PCA(), GaussianNB()), {"pca__n_components": [2, 0.95]}
            ),
            classes,
            "shares and counts",
        ),
        (
            forest(n_estimators=[1, 3]),
            classes,
            "which n_estimators is simpler is not known",
        ),
    ],
)
def test_what_has_no_order_is_refused(family, data, message):
    """A default that depends on the data, shares among counts, the size of a forest."""
    with pytest.raises(CvnbError, match=message):
        Recipe(3, 3).run(family, *data(), select="one_se")


def test_parameters_deep_inside_are_found():
    """Behind a column transformer or in a pipeline of pipelines."""
    columns = make_column_transformer((make_pipeline(PCA()), [0, 1, 2]))
    family = Family(
        make_pipeline(columns, LogisticRegression()),
        {"columntransformer__pipeline__pca__n_components": [3, 1]},
    )
    result = Recipe(3, 3).run(family, *classes(), select="one_se", flat=True)
    assert len(compare_rules(result).rules) == 2


def test_directions_may_be_any_iterable_and_any_kind_of_string():
    """A generator is read once; NumPy's strings are strings."""
    X, y = classes()
    family = Family(SVC(), {"kernel": np.array(["rbf", "linear"])})
    rule = OneSE({"kernel": (name for name in ("linear", "rbf"))})
    first, second = (Recipe(3, 3).run(family, X, y, select=rule) for _ in range(2))
    assert np.array_equal(first.chosen_index, second.chosen_index)
    assert "OneSE({'kernel': ['linear', 'rbf']})" in first.code()


# Functions as rules


def test_a_rule_cannot_change_the_settings():
    """Estimators among them are copies."""

    def spoils(curve, losses, settings):
        for setting in settings:
            setting["clf"].set_params(C=1e-9)
        return int(np.argmin(curve))

    X, y = classes()
    family = Family(Pipeline([("clf", SVC())]), {"clf": [SVC(C=1.0), SVC(C=10.0)]})
    assert (
        Recipe(3, 3).run(family, X, y, select=spoils).risk
        == Recipe(3, 3).run(family, X, y).risk
    )


def test_a_rule_may_run_cvnb_itself():
    """On the same thread, with a rule of its own."""
    X, y = classes(40)

    def nosy(curve):
        Recipe.internal_cv(2).run(
            knn(k=[1, 3]), X, y, select=lambda inner: 0, path="refit"
        )
        return 0

    assert Recipe(2, 2).run(
        knn(k=[1, 3]), X, y, select=nosy, path="refit"
    ).chosen_index.tolist() == [0, 0]


@pytest.mark.parametrize(
    "rule",
    [lambda: 0, lambda curve, losses, settings, more: 0, lambda curve, *, strict: 0],
)
def test_a_rule_of_another_signature_is_refused_before_any_fit(rule, fits):
    """None, four, or a keyword that nobody gives."""
    with pytest.raises(
        CvnbError, match=r"must be a function of \(curve\), \(curve, losses\) or"
    ):
        Recipe(2, 2).run(knn(k=[1, 3]), *classes(), select=rule)
    assert fits == []


def test_the_code_of_a_run_names_functions_that_can_be_imported():
    """np.argmin is no Python function, and is numpy's argmin all the same."""
    code = Recipe(2, 2).run(knn(k=[1, 3]), *classes(), select=np.argmin).code()
    assert "from numpy import argmin" in code
    assert "select=argmin" in code


def test_rules_of_one_name_are_all_compared():
    """Two lambdas are two rules."""
    report = compare_rules(
        Recipe(3, 3).run(knn(k=[1, 3, 5]), *classes()),
        [lambda curve: 0, lambda curve: 2],
    )
    assert list(report.rules) == ["<lambda>", "<lambda> 2"]
    assert "<lambda> 2" in repr(report)


def test_a_choice_that_fails_outside_gives_way_in_the_comparison_as_in_the_run():
    """compare_rules has the run's own risk for the run's own rule."""
    result = Recipe(KFold(4), KFold(3)).run(knn(k=[1, 3, 5]), *classes())
    table = record_of(result).table
    outer = table.outer.copy()
    outer[0, table.chosen[0]] = np.nan
    inner = [
        np.where(np.arange(3) == table.chosen[0], 0.0, losses) for losses in table.inner
    ]
    broken = type(result)(
        Record(
            **{
                **record_of(result).__dict__,
                "table": type(table)(
                    **{**table.__dict__, "outer": outer, "inner": tuple(inner)}
                ),
            }
        )
    )
    report = compare_rules(broken)
    assert np.isfinite(report["min"].risk)


# Corrections and bounds


def test_the_bound_is_for_the_minimum():
    """Another rule has no such bound; a declared range is taken, 1.0 too."""
    X, y = classes()
    last = Recipe.dev_set(0.3).run(
        knn(k=range(1, 30)), X, y, select=lambda curve: len(curve) - 1
    )
    with pytest.raises(
        CvnbError, match="the bound is for the setting with the smallest loss"
    ):
        dev_set_bound(last)
    assert optimism(last).bound is None

    def half(y, prediction):
        return 0.5 * (y != prediction)

    own = Recipe.dev_set(0.3).run(knn(k=[1, 3]), X, y, loss=half)
    assert dev_set_bound(own, range=1.0) == dev_set_bound(18, 2)
    with pytest.raises(CvnbError, match="declare its width"):
        dev_set_bound(own)


def test_one_fold_has_no_correction():
    """Not 0.0: there is no second fold whose minimum could differ."""
    with pytest.raises(CvnbError, match="one fold has no second one"):
        tibshirani_bias([[0.1], [0.2]])
    with pytest.raises(CvnbError, match="one fold has no second one"):
        tibshirani_bias(Recipe.dev_set(0.3).run(knn(k=[1, 3]), *classes()))


def test_bbc_weighs_unequal_folds_as_the_flat_estimate_does():
    """With one setting it is the risk, whatever the sizes of the folds."""
    X, y = numbers(100)
    split = PredefinedSplit((np.arange(100) >= 10).astype(int))
    y[:10] = 20 * (-1.0) ** np.arange(10)
    result = Recipe(split, 3).run(ridge(alpha=[1.0, 1.0]), X, y)
    rows = np.concatenate(record_of(result).table.rows)[:, 0]
    assert abs(rows.mean() - result.flat) > 50
    assert optimism(result).bbc.estimate == pytest.approx(result.flat, rel=0.1)


def test_levels_and_seeds_are_looked_at_first():
    """Not shown as a bullet in a table of 9500 %."""
    result = Recipe(3, 3).run(knn(k=[1, 3]), *classes())
    for call in (
        lambda v: compare_rules(result, level=v),
        lambda v: optimism(result, level=v),
        lambda v: optimism(result, delta=v),
    ):
        for value in (95, 0, float("nan"), "x", None):
            with pytest.raises(CvnbError, match=r"level=|delta="):
                call(value)
    for call in (
        lambda: optimism(result, n_boot=0),
        lambda: optimism(result, seed=-1),
        lambda: bbc(result, seed="a"),
    ):
        with pytest.raises(CvnbError, match=r"n_boot=|seed="):
            call()
    with pytest.raises(CvnbError, match="rules is empty"):
        compare_rules(result, {})


WRONG = [
    (
        lambda: corrected_t(np.ma.array([0.1, 0.2, 9], mask=[0, 0, 1]), 80, 20),
        "d has masked values; leave them out",
    ),
    (
        lambda: corrected_t([0.1 + 1j, 0.2], 80, 20),
        r"d must be numbers \[splits\], got complex128",
    ),
    (
        lambda: corrected_t(["0.1", "0.2"], 80, 20),
        r"d must be numbers \[splits\], got <U3",
    ),
    (
        lambda: corrected_t(np.array(["2020-01-01"], dtype="datetime64[D]"), 80, 20),
        r"numbers \[splits\], got datetime64",
    ),
    (
        lambda: one_standard_error([-np.inf, 0.0, 0.1], 0.1, [0, 1, 2]),
        "curve must have finite losses, or NaN for settings",
    ),
    (
        lambda: one_standard_error(["a"], 0.1, [0]),
        r"curve must be numbers \[settings\], got <U1",
    ),
    (
        lambda: one_standard_error([[0.1], [0.2, 0.3]], 0.1, [0]),
        r"curve must be numbers \[settings\]",
    ),
    (
        lambda: corrected_t_interval([0.1, 0.1, 0.1 * (1 + 3e-16)], 80, 20),
        "every fold loss is 0.1, so their spread is unknown",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], weights=[[-1, 1], [1, 1]]),
        "weights must be finite and >= 0",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], weights=[[np.nan, 1], [1, 1]]),
        "weights must be finite and >= 0",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], weights=[[0, 0], [1, 1]]),
        "weights must be finite and >= 0, some of them > 0",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], weights=3),
        "weights must be a list with one array per fold, 2 in all",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], groups=[[None, 1], [2, 3]]),
        "groups has missing values; give every row a",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], "within", 0.9),
        "level='within' must be a finite number",
    ),
    (
        lambda: bayle_interval(
            [[0.1, 0.2], [0.3, 0.4]], variance="within", groups=[[1, 2], [3, 4]]
        ),
        "variance='within' takes neither weights nor groups; use variance='all_pairs'",
    ),
    (
        lambda: holdout_interval([0.1, 0.2, 0.4], groups=5),
        r"groups must have one value for each of the 3 rows of losses, got sh",
    ),
    (
        lambda: holdout_interval([0.1, 0.2, 0.4], weights=["a", "b", "c"]),
        r"weights must be numbers \[rows\], got <U1",
    ),
    (
        lambda: holdout_interval([0.1, 0.2], groups=[1, 1]),
        "one group in the test part has no spread; test on more",
    ),
    (
        lambda: hoeffding_interval([[0.1, 0.2]], weights=[[1, np.inf]]),
        "weights must be finite and >= 0",
    ),
    (lambda: bbc([[0.1], [0.2]], weights=[1, -1]), "weights must be finite and >= 0"),
    (
        lambda: bbc([[0.1], [0.2]], groups=[1, np.nan]),
        "groups has missing values; give every row a group",
    ),
    (
        lambda: dev_set_size(1e-200, 5),
        "these numbers are too far apart for a bound that is a number",
    ),
    (
        lambda: dev_set_size(0.1, 5, range=1e200),
        "these numbers are too far apart for a bound that is a number",
    ),
    (
        lambda: dev_set_bound(1, 5, range=1.7e308),
        "these numbers are too far apart for a bound that is a number",
    ),
    (
        lambda: standard_error([1.0]),
        "one fold has no standard error; give the losses of several",
    ),
    (
        lambda: one_standard_error(Recipe.external_cv(3).run(knn(k=3), *classes())),
        "nothing was chosen among settings here, so there",
    ),
    (
        lambda: tibshirani_bias(Recipe.validation().run(knn(k=3), *classes())),
        "nothing was chosen among settings here, so there is no",
    ),
    (
        lambda: dev_set_bound(
            Recipe.dev_set(0.3).run(knn(k=[1, 3]), *classes(), groups=np.arange(60))
        ),
        "the bound counts independent",
    ),
    (
        lambda: compare_rules(
            interrupted(Recipe(3, 3).run(knn(k=[1, 3]), *classes()), 0)
        ),
        "interrupted before any outer split was",
    ),
    (
        lambda: optimism(Recipe(3, 3).run(knn(k=[1, 3]), *classes()), range=-1.0),
        "range=-1.0 must be > 0",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_numbers_are_refused_in_words(call, message):
    """No plausible number, no error of Python's own."""
    with pytest.raises(CvnbError, match=message):
        call()


def test_numbers_of_any_size_have_their_t():
    """1e200 and 1e-200 scale like 1."""
    t = corrected_t([1.0, 2.0, 4.0], 80, 20)
    for scale in (1e200, 1e-200):
        np.testing.assert_allclose(
            corrected_t(np.array([1.0, 2.0, 4.0]) * scale, 80, 20), t, rtol=1e-12
        )
    assert dev_set_bound(100, 10**400) > 1


def test_results_with_rules_still_travel():
    """Pickled and back, for rules that can be imported."""
    result = cvnb.nested_cv(knn(k=[1, 3]), *classes(), select=np.argmin)
    assert pickle.loads(pickle.dumps(result)).risk == result.risk
