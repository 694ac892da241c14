"""select=: the minimum, one standard error, functions of the user's; and the reports on
what was chosen."""

import pickle

import numpy as np
import pytest
from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cvnb
import naive
from cvnb import Family, NestedCV, Recipe, elastic_net, knn, logistic, ridge, tree
from cvnb.errors import CvnbError, WrongTypeError
from cvnb.families.setting_groups import check_parameters
from cvnb.families.simplicity import order_of
from cvnb.inference import (
    OneSE,
    compare_rules,
    corrected_t,
    corrected_t_interval,
    one_standard_error,
    theta_report,
)
from cvnb.results.estimate import record_of
from small_tables import classes


def noisy_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    return X, X[:, 0] + 2 * rng.normal(size=90)


# One standard error

SIMPLEST_FIRST = {
    "knn": (knn(k=[1, 5, 20, 9]), classes(90), [2, 3, 1, 0]),
    "ridge": (ridge(alpha=[10.0, 0.1, 1e4]), noisy_numbers(), [2, 0, 1]),
    "logistic": (logistic(C=[1, 0.01, 100]), classes(90), [1, 0, 2]),
    "tree": (tree(max_leaf_nodes=[8, 2, 32]), classes(90), [1, 0, 2]),
    "no limit last": (
        Family(DecisionTreeClassifier(random_state=0), {"max_depth": [None, 1, 4]}),
        classes(90),
        [1, 2, 0],
    ),
    "refitted": (Family(SVC(), {"C": [10, 0.1, 1]}), classes(90), [1, 2, 0]),
    "behind a scaler": (
        Family(
            make_pipeline(StandardScaler(), KNeighborsRegressor()),
            {"kneighborsregressor__n_neighbors": [3, 30, 10]},
        ),
        noisy_numbers(),
        [1, 2, 0],
    ),
}


@pytest.mark.parametrize("path", ["auto", "refit"])
@pytest.mark.parametrize("case", SIMPLEST_FIRST)
def test_one_se_is_its_definition_in_every_outer_split(case, path):
    """The simplest setting within sd/√K (ddof 1) of the minimum, from the run's own inner
    losses; on every path."""
    family, (X, y), order = SIMPLEST_FIRST[case]
    result = Recipe(4, 5).run(family, X, y, select="one_se", path=path)
    for j, losses in enumerate(record_of(result).table.inner):
        curve = losses.mean(axis=0)
        se = naive.standard_error(losses[:, int(np.argmin(curve))])
        assert result.chosen_index[j] == naive.one_standard_error(curve, se, order)
    assert np.array_equal(
        one_standard_error(Recipe(4, 5).run(family, X, y, path=path)),
        result.chosen_index,
    )
    assert result.quantity.endswith("5-fold CV and the one-standard-error rule")
    assert not any("grid order" in note for note in result.notes)


def test_one_se_reaches_the_final_setting_the_predictor_and_the_code():
    """θ̂ on all rows is chosen by the same rule, and code() says so."""
    X, y = classes(90)
    result = Recipe(4, 5).run(knn(k=range(1, 40)), X, y, select="one_se")
    inner = Recipe.internal_cv(5).run(knn(k=range(1, 40)), X, y, select="one_se")
    assert result.final_setting == inner.chosen[0]
    assert result.predictor()[-1].n_neighbors == result.final_setting["k"]
    assert "select='one_se'" in result.code()
    assert "select" not in Recipe(4, 5).run(knn(k=3), X, y).code()
    model = NestedCV(knn(k=range(1, 40)), outer=4, inner=5, select="one_se").fit(X, y)
    assert np.array_equal(model.result_.chosen_index, result.chosen_index)


def test_a_result_with_one_se_can_be_pickled():
    """The rule travels with the record."""
    result = Recipe(3, 3).run(knn(k=[1, 5]), *classes(90), select=OneSE({"k": "large"}))
    assert repr(pickle.loads(pickle.dumps(result))) == repr(result)


def test_several_axes_never_give_up_simplicity_on_one_of_them():
    """As simple as the minimiser or simpler on each known axis; fewest steps from the
    simplest corner; others stay put."""
    family = Family(
        SVC(),
        {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1.0], "shrinking": [True, False]},
    )
    X, y = classes(90)
    result = Recipe(3, 5).run(family, X, y, select="one_se")
    for j, losses in enumerate(record_of(result).table.inner):
        curve, settings = losses.mean(axis=0), result.settings
        chosen, near = settings[result.chosen_index[j]], []
        tied = [s for s in range(len(settings)) if curve[s] <= curve.min() + 1e-12]

        def steps(s, settings=settings):
            return [0.1, 1, 10].index(settings[s]["C"]) + [0.01, 0.1, 1.0].index(
                settings[s]["gamma"]
            )

        best = min(tied, key=steps)
        limit = curve[best] + naive.standard_error(losses[:, best]) + 1e-12
        for s, setting in enumerate(settings):
            simple = all(
                setting[axis] <= settings[best][axis] for axis in ("C", "gamma")
            )
            if (
                simple
                and setting["shrinking"] == settings[best]["shrinking"]
                and curve[s] <= limit
            ):
                near.append(s)
        assert chosen == settings[min(near, key=lambda s: (steps(s), curve[s], s))]


def test_a_declared_direction_is_taken():
    """Words, lists, the names of the grid, of the estimator and of the parameter alone; a
    word beats what is known."""
    X, y = classes(90)
    family = Family(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 5, 25]},
    )
    for name in ("kneighborsclassifier__n_neighbors", "n_neighbors"):
        upside_down = Recipe(3, 5).run(family, X, y, select=OneSE({name: "small"}))
        listed = Recipe(3, 5).run(family, X, y, select=OneSE({name: [1, 5, 25]}))
        assert np.array_equal(upside_down.chosen_index, listed.chosen_index)
    assert "select=OneSE({'n_neighbors': [1, 5, 25]})" in listed.code()
    assert "from cvnb.inference import OneSE" in listed.code()
    words = Family(SVC(), {"kernel": ["rbf", "linear"]})
    assert Recipe(3, 5).run(
        words, X, y, select=OneSE({"kernel": ["linear", "rbf"]})
    ).chosen[0]["kernel"] in ("rbf", "linear")


KNOWN = [
    (Family(Ridge(), {"alpha": [1, 100]}), [1, 0]),
    (Family(ElasticNet(), {"alpha": [1, 100], "l1_ratio": [0.5]}), [1, 0]),
    (Family(LogisticRegression(), {"C": [1, 100]}), [0, 1]),
    (
        Family(
            GradientBoostingRegressor(), {"n_estimators": [10, 100], "alpha": [0.5]}
        ),
        [0, 1],
    ),
    (Family(HistGradientBoostingClassifier(), {"max_leaf_nodes": [31, None]}), [0, 1]),
    (
        Family(make_pipeline(PCA(), GaussianNB()), {"pca__n_components": [2, None, 1]}),
        [1, 2, 0],
    ),
    (
        Family(
            make_pipeline(PolynomialFeatures(), Ridge()),
            {"polynomialfeatures__degree": [3, 1]},
        ),
        [1, 0],
    ),
    (knn(k=[1, 2, 1]), [1, 0, 1]),
]


@pytest.mark.parametrize(("family", "ranks"), KNOWN)
def test_the_direction_of_usual_parameters_is_known(family, ranks):
    """How many values of the axis are simpler, setting by setting."""
    task = (
        "regression"
        if "regress" in str(type(family.kind)).lower()
        else "classification"
    )
    ready = family.resolved(task, 10)
    order = order_of(ready, check_parameters(ready), {})
    assert order.ranks[:, 0].tolist() == ranks


def test_alpha_is_a_penalty_only_where_it_is_one():
    """alpha of gradient boosting is a quantile: nothing is known of it."""
    family = Family(GradientBoostingRegressor(loss="huber"), {"alpha": [0.5, 0.9]})
    with pytest.raises(
        CvnbError, match="which alpha is simpler is not known; declare it: select=OneSE"
    ):
        Recipe(3, 3).run(family, *noisy_numbers(), select="one_se")


def test_a_list_of_grids_is_compared_within_itself():
    """Settings that have an axis are not compared with those that do not."""
    grid = [
        {"kernel": ["linear"], "C": [0.1, 1, 10]},
        {"kernel": ["poly"], "degree": [2, 3]},
    ]
    family = Family(SVC(), grid)
    order = order_of(family, check_parameters(family), {})
    assert order.no_less_simple(2).tolist() == [True, True, True, False, False]
    assert order.no_less_simple(4).tolist() == [False, False, False, True, True]


ONE_SE_REFUSED = {
    "one dev set": (
        Recipe.nested_dev(3),
        knn(k=[1, 3]),
        "one_se",
        "at least two inner folds, because one dev set has no standard",
    ),
    "repeated CV": (
        Recipe(3, RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)),
        knn(k=[1, 3]),
        "one_se",
        "void where inner test parts overlap, as in repeated or resampled CV",
    ),
    "resampling": (
        Recipe(3, ShuffleSplit(5, random_state=0)),
        knn(k=[1, 3]),
        "one_se",
        "void where inner test parts overlap",
    ),
    "nested resampling": (
        Recipe.nested_resampling(3, 3),
        knn(k=[1, 3]),
        "one_se",
        "shrinks with every repeat",
    ),
    "no direction": (
        Recipe(3, 3),
        Family(SVC(), {"kernel": ["rbf", "linear"]}),
        "one_se",
        "which kernel is simpler is not",
    ),
    "a stranger": (
        Recipe(3, 3),
        knn(k=[1, 3]),
        OneSE({"alpha": "large"}),
        "no axis of the grid of knn; its axes are k",
    ),
    "a value left out": (
        Recipe(3, 3),
        knn(k=[1, 3]),
        OneSE({"k": [3]}),
        r"simplest\['k'\] leaves out 1",
    ),
    "words as numbers": (
        Recipe(3, 3),
        Family(make_pipeline(PCA(), GaussianNB()), {"pca__n_components": [1, "mle"]}),
        "one_se",
        "which pca__n_components is simpler is known for numbers, not for 'mle'",
    ),
}


@pytest.mark.parametrize("case", ONE_SE_REFUSED)
def test_one_se_is_refused_before_any_fit_where_it_means_nothing(case, fits):
    """No standard error, or no order of simplicity: the message says what to do."""
    recipe, family, select, message = ONE_SE_REFUSED[case]
    with pytest.raises(CvnbError, match=message):
        recipe.run(family, *classes(90), select=select)
    assert fits == []


@pytest.mark.parametrize("inner", [KFold(4), LeaveOneOut(), [[0, 1, 2]]])
def test_one_se_takes_every_inner_splitter_with_test_parts_apart(inner):
    """Folds, single rows, explicit lists."""
    X, y = classes(30)
    if isinstance(inner, list):
        inner = [
            [(np.setdiff1d(train, train[i::3]), train[i::3]) for i in range(3)]
            for train, _ in Recipe(3, 3).plan(X, y).outer
        ]
    result = (
        Recipe(KFold(3), inner).run(knn(k=[1, 3, 5]), X, y, select="one_se")
        if not isinstance(inner, list)
        else None
    )
    if result is None:
        outer = list(Recipe(3, 3).plan(X, y).outer)
        result = Recipe(outer, inner).run(knn(k=[1, 3, 5]), X, y, select="one_se")
    assert len(result.chosen) == 3


def test_a_wrong_declaration_is_refused_at_once():
    """The message of OneSE lists what is allowed."""
    with pytest.raises(WrongTypeError, match=r"simplest='large' must be a dict"):
        OneSE("large")
    with pytest.raises(
        CvnbError, match=r"simplest\['k'\]='big' must be 'small', 'large' or a list"
    ):
        OneSE({"k": "big"})


def test_a_setting_that_fails_shrinks_neither_the_error_nor_the_folds():
    """With a setting that fails in one fold, the others' choice is as if it were not there."""
    losses = np.array([[0.2, 0.3, np.nan], [0.4, 0.3, 0.0], [0.1, 0.4, 0.0]])
    family = knn(k=[1, 3, 9]).resolved("classification", 10)
    from cvnb.inference.rules import rule_of
    from cvnb.losses.loss import NAMED

    rule = rule_of("one_se", family, check_parameters(family), NAMED["zero_one"])
    curve = losses[:, :2].mean(axis=0)
    expected = naive.one_standard_error(
        curve, naive.standard_error(losses[:, int(np.argmin(curve))]), [1, 0]
    )
    assert rule.choose(losses) == expected
    assert rule.choose(np.full((3, 3), np.nan)) is None


# Functions


def last_of_the_best(curve):
    return int(np.flatnonzero(curve <= np.nanmin(curve) + 1e-12)[-1])


def most_often_best(curve, losses, settings):
    """The setting that is best in most folds."""
    assert losses.shape == (len(settings), 4)
    assert np.allclose(losses.mean(axis=1), curve)
    return int(np.bincount(losses.argmin(axis=0)).argmax())


@pytest.mark.parametrize("path", ["auto", "refit"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_function_chooses(path, n_jobs):
    """It gets the curve; the fold losses and the settings where it requires them; NumPy's
    own functions work too."""
    X, y = classes(90)
    run = {"n_jobs": n_jobs, "path": path}
    family = knn(k=[1, 3, 5, 7])
    minimum = Recipe(3, 4).run(family, X, y, **run)
    assert np.array_equal(
        Recipe(3, 4).run(family, X, y, select=np.argmin, **run).inner_curves,
        minimum.inner_curves,
    )
    last = Recipe(3, 4).run(family, X, y, select=last_of_the_best, **run)
    assert last.chosen_index.tolist() == [
        last_of_the_best(curve) for curve in last.inner_curves
    ]
    assert "5-fold" not in last.quantity
    assert last.quantity.endswith("4-fold CV and the rule last_of_the_best")
    voted = Recipe(3, 4).run(family, X, y, select=most_often_best, **run)
    tables = record_of(voted).table.inner
    assert voted.chosen_index.tolist() == [
        int(np.bincount(losses.argmin(axis=1)).argmax()) for losses in tables
    ]
    assert "select=last_of_the_best" in last.code()
    assert Recipe(3, 4).run(
        family, X, y, select=lambda *given: len(given), **run
    ).chosen_index.tolist() == [3, 3, 3]


def wrong_type(curve):
    return 1.0


def out_of_range(curve):
    return len(curve)


def true(curve):
    return True


@pytest.mark.parametrize("path", ["auto", "refit"])
@pytest.mark.parametrize(
    ("function", "gave"), [(wrong_type, "1.0"), (out_of_range, "3"), (true, "True")]
)
def test_a_function_that_gives_no_setting_is_refused(function, gave, path):
    """The message names the function, what it gave and what it may give."""
    with pytest.raises(
        CvnbError,
        match=rf"select={function.__name__} gave {gave}; it must return the number of a "
        "setting, 0 to 2",
    ):
        Recipe(3, 3).run(knn(k=[1, 3, 5]), *classes(90), select=function, path=path)


@pytest.mark.parametrize("path", ["auto", "refit"])
def test_an_error_in_a_function_is_the_users_own(path):
    """It comes through as it is."""

    def broken(curve):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        Recipe(3, 3).run(knn(k=[1, 3, 5]), *classes(90), select=broken, path=path)


def test_a_function_may_not_choose_what_failed():
    """A NaN in the curve is a setting that failed."""
    family = Family(make_pipeline(PCA(), GaussianNB()), {"pca__n_components": [1, 40]})
    with pytest.raises(
        CvnbError,
        match=r"select=argmax chose setting 1 .*which failed; its loss is NaN",
    ):
        Recipe(3, 3).run(family, *classes(90), select=np.argmax)


@pytest.mark.parametrize("select", ["median", 3, None, FeatureAgglomeration])
def test_an_unknown_rule_is_refused(select):
    """Names, rules and functions are what there is."""
    with pytest.raises(CvnbError, match=r"is not known; use 'min', 'one_se', OneSE"):
        Recipe(3, 3).run(knn(k=[1, 3]), *classes(90), select=select)


def test_the_default_is_the_minimum():
    """select="min" changes nothing."""
    X, y = classes(90)
    plain, named = (
        Recipe(3, 3).run(knn(k=[1, 3, 5]), X, y, **options)
        for options in ({}, {"select": "min"})
    )
    assert repr(plain) == repr(named)


# Rules compared


def test_rules_are_compared_on_the_fits_that_are_there(fits):
    """Each rule's risk is that of a run with it; differences are paired and corrected;
    nothing is fitted."""
    X, y = noisy_numbers()
    family = ridge(alpha=np.logspace(-2, 4, 13))
    result = Recipe(5, 4).run(family, X, y)
    fits.clear()
    report = compare_rules(result, level=0.9)
    assert fits == []
    own = {
        name: Recipe(5, 4).run(family, X, y, select=name) for name in ("min", "one_se")
    }
    for name, run in own.items():
        assert report[name].risk == pytest.approx(run.risk, rel=1e-12)
        assert np.array_equal(report[name].chosen_index, run.chosen_index)
    d = own["one_se"].fold_risks - own["min"].fold_risks
    assert report["one_se"].difference == pytest.approx(d.mean(), rel=1e-9)
    sizes = [
        np.mean([part.size for part in parts])
        for parts in zip(*result.plan.outer, strict=True)
    ]
    assert (report["one_se"].low, report["one_se"].high) == pytest.approx(
        corrected_t_interval(d, *sizes, 0.9), rel=1e-9
    )
    assert report["one_se"].p == pytest.approx(corrected_t(d, *sizes)[1], rel=1e-9)
    assert report.rules.keys() == {"min", "one_se"}
    text, page = repr(report), report._repr_mimebundle_()["text/html"]
    assert "one_se" in text
    assert "minus min" in page


def test_identical_choices_differ_by_exactly_zero():
    """The same rule twice: difference 0.0, no p, and a sentence."""
    result = Recipe(3, 3).run(knn(k=[1, 3, 5]), *classes(90))
    report = compare_rules(result, {"a": "min", "b": "min"})
    assert report["b"].difference == 0.0
    assert report["b"].p is None
    assert "b: the same choice in every split." in report.sentences


def test_functions_are_compared_too():
    """By their own names, or by those of a dict."""
    result = Recipe(4, 4).run(knn(k=[1, 3, 5, 7]), *classes(90))
    report = compare_rules(result, ["min", last_of_the_best, most_often_best])
    assert list(report.rules) == ["min", "last_of_the_best", "most_often_best"]


def test_a_rule_that_means_nothing_here_is_left_out_with_the_reason():
    """Only for the default rules; an explicit rule is refused."""
    result = Recipe.nested_dev(4).run(knn(k=[1, 3, 5]), *classes(90))
    report = compare_rules(result)
    assert list(report.rules) == ["min"]
    assert any("one dev set has no standard error" in said for said in report.sentences)
    with pytest.raises(CvnbError, match="one dev set has no standard error"):
        compare_rules(result, ["min", "one_se"])


@pytest.mark.parametrize(
    "function",
    [
        compare_rules,
        cvnb.inference.optimism,
        cvnb.inference.tibshirani_bias,
        cvnb.inference.bbc,
    ],
)
def test_what_needs_every_outer_loss_says_how_many_fits_it_would_cost(function):
    """On the refit path without flat=True: 4 splits times 3 settings less the chosen one;
    with it the answer comes."""
    family, (X, y) = Family(SVC(), {"C": [0.1, 1, 10]}), classes(90)
    with pytest.raises(
        CvnbError,
        match=r"\(path 'refit'\) measured for the chosen ones only; .* flat=True, for 8 more fits",
    ):
        function(Recipe(4, 3).run(family, X, y))
    assert function(Recipe(4, 3).run(family, X, y, flat=True)) is not None


def test_reports_want_a_result_that_chose():
    """Anything else, and inner=None, is refused."""
    single = Recipe.external_cv(3).run(knn(k=3), *classes(90))
    for function in (compare_rules, theta_report):
        with pytest.raises(CvnbError, match="inner=None chooses nothing"):
            function(single)
        with pytest.raises(CvnbError, match="takes the result of a run, got list"):
            function([1])
    with pytest.raises(CvnbError, match="outer=None measures nothing outside S"):
        compare_rules(Recipe.internal_cv(3).run(knn(k=[1, 3]), *classes(90)))


# The θ report


def test_the_theta_report_counts_choices_ties_and_edges_over_all_splits():
    """Against the result's own arrays, counted anew."""
    result = Recipe(6, 3).run(knn(k=[1, 3, 5, 7]), *classes(90))
    report = theta_report(result)
    assert report.counts.tolist() == [
        int((result.chosen_index == s).sum()) for s in range(4)
    ]
    assert report.agreement == max(report.counts) / 6
    assert report.tied.tolist() == [
        int((curve <= curve.min() + 1e-12).sum()) for curve in result.inner_curves
    ]
    edges = {(edge.side, edge.value): edge.share for edge in report.edges}
    for side, value in (("lower", 1), ("upper", 7)):
        assert (
            edges.get((side, value), 0.0)
            == sum(setting["k"] == value for setting in result.chosen) / 6
        )
    np.testing.assert_array_equal(
        report.regret, naive.regret(result.outer_curves, result.chosen_index)
    )
    assert np.diag(report.regret).tolist() == [0.0] * 6
    assert "chosen" in repr(report)
    assert "<table" in report._repr_mimebundle_()["text/html"]


def test_without_the_outer_losses_the_theta_report_has_no_regret_and_says_why():
    """The rest of it is there."""
    family = Family(SVC(), {"C": [1, 100]})
    X, y = classes(90)
    result = Recipe(6, 3).run(family, X, y)
    assert len(set(result.chosen_index)) == 2
    report = theta_report(result)
    assert report.regret is None
    assert "run again with flat=True, for 6 more fits" in report.regret_reason
    assert report.counts.sum() == 6
    assert theta_report(Recipe(6, 3).run(family, X, y, flat=True)).regret.shape == (
        6,
        6,
    )


def test_where_all_splits_agree_nothing_is_missing():
    """One common θ: regret is zero everywhere, on the refit path too."""
    family = Family(SVC(kernel="linear"), {"C": [1e-9, 1.0]})
    report = theta_report(Recipe(4, 3).run(family, *classes(90)))
    assert report.agreement == 1.0
    assert not report.regret.any()


def test_two_axes_are_reported_axis_by_axis():
    """Edges of both."""
    report = theta_report(
        Recipe(3, 3).run(
            elastic_net(alpha=[0.01, 100.0], l1_ratio=[0.1, 0.9]), *noisy_numbers()
        )
    )
    assert {edge.axis for edge in report.edges} == {"alpha", "l1_ratio"}
