"""Each formula of cvnb.inference against its definition in naive.py, and against numbers
that others have published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC

import naive
from cvnb.errors import CvnbError
from cvnb.inference import (
    alpaydin_5x2cv,
    bayle_interval,
    bbc,
    corrected_t,
    corrected_t_interval,
    dietterich_5x2cv,
    hoeffding_interval,
    holdout_interval,
    one_standard_error,
    standard_error,
    tibshirani_bias,
)

# Of the size of losses: the square of a number below 1e-154 is 0.
NUMBERS = st.floats(-1e3, 1e3).map(lambda x: x if abs(x) > 1e-100 else 0.0)


def folds_of(seed, sizes=(7, 7, 6), classes=False):
    rng = np.random.default_rng(seed)
    return [
        rng.integers(0, 2, n).astype(float) if classes else rng.exponential(size=n)
        for n in sizes
    ]


# Against the definitions


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("sizes", [(5, 5, 5), (7, 7, 6), (1, 1, 1, 1), (2, 30)])
def test_bayle_is_the_mean_of_fold_means_and_the_variance_over_all_rows(level, sizes):
    """R ± z σ/√n on equal, unequal and single-row folds."""
    folds = folds_of(1, sizes)
    centre = np.mean([fold.mean() for fold in folds])
    half = stats.norm.ppf((1 + level) / 2) * naive.bayle_error(folds)
    np.testing.assert_allclose(
        bayle_interval(folds, level), (centre - half, centre + half), rtol=1e-12
    )


def test_bayle_within_folds_is_the_mean_sample_variance():
    """variance="within" on folds of two rows and more."""
    folds = folds_of(2)
    low, high = bayle_interval(folds, variance="within")
    assert (high - low) / 2 == pytest.approx(
        stats.norm.ppf(0.975) * naive.bayle_error(folds, within=True), rel=1e-12
    )


def test_bayle_clusters_rows_by_group():
    """Groups are the units, with Student's t; a group in two folds is still one."""
    folds, groups = (
        folds_of(3),
        [np.arange(7) // 2, 3 + np.arange(7) // 2, np.arange(6) // 2],
    )
    centre = np.mean([fold.mean() for fold in folds])
    units = np.concatenate(groups)
    half = stats.t.ppf(0.975, len(set(units)) - 1) * naive.clustered_error(
        np.concatenate(folds), units, centre
    )
    np.testing.assert_allclose(
        bayle_interval(folds, groups=groups), (centre - half, centre + half), rtol=1e-12
    )


def test_equal_weights_change_no_interval():
    """Weights of 3 everywhere give the unweighted interval, groups of one row too but for
    Student's t."""
    folds = folds_of(4, (7, 7, 7))
    threes = [np.full(fold.size, 3.0) for fold in folds]
    np.testing.assert_allclose(
        bayle_interval(folds, weights=threes), bayle_interval(folds), rtol=1e-12
    )
    np.testing.assert_allclose(
        hoeffding_interval(folds, range=20.0, weights=threes),
        hoeffding_interval(folds, range=20.0),
    )
    np.testing.assert_allclose(
        holdout_interval(folds[0], weights=threes[0]),
        holdout_interval(folds[0]),
        rtol=1e-12,
    )


def test_a_whole_weight_of_zero_is_a_row_that_is_not_there():
    """Bayle and Hoeffding see the weighted rows alone."""
    folds = folds_of(5)
    more = [np.append(fold, 9.0) for fold in folds]
    weights = [np.append(np.ones(fold.size), 0.0) for fold in folds]
    ones = [np.ones(fold.size) for fold in folds]
    np.testing.assert_allclose(
        bayle_interval(more, weights=weights),
        bayle_interval(folds, weights=ones),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        hoeffding_interval(more, range=20.0, weights=weights),
        hoeffding_interval(folds, range=20.0),
    )


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_test_set_has_students_interval(level):
    """mean ± t s/√n for losses that are no counts."""
    losses = folds_of(6, (23,))[0]
    expected = stats.ttest_1samp(losses, 0.0).confidence_interval(level)
    np.testing.assert_allclose(holdout_interval(losses, level), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("mistakes", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (17, 400)]
)
def test_mistakes_on_a_test_set_have_the_exact_interval(mistakes, n):
    """Clopper and Pearson: equal to scipy.stats.binomtest."""
    losses = np.r_[np.ones(mistakes), np.zeros(n - mistakes)]
    expected = stats.binomtest(mistakes, n).proportion_ci(0.9, method="exact")
    np.testing.assert_allclose(
        holdout_interval(losses, 0.9, zero_one=True), expected, rtol=1e-8, atol=1e-12
    )


def test_a_test_set_of_groups_is_clustered():
    """The exact interval counts independent rows; with groups it is Student's over groups,
    mistakes or not."""
    losses, groups = folds_of(7, (24,), classes=True)[0], np.arange(24) // 4
    half = stats.t.ppf(0.975, 5) * naive.clustered_error(losses, groups, losses.mean())
    expected = losses.mean() - half, losses.mean() + half
    np.testing.assert_allclose(
        holdout_interval(losses, zero_one=True, groups=groups), expected, rtol=1e-12
    )


@pytest.mark.parametrize("sizes", [(50,), (50, 50), (51, 50, 40), (1,) * 30])
def test_hoeffding_is_a_union_bound_over_test_parts(sizes):
    """One test part: Hoeffding's own; several, down to single rows: each at
    (1 - level) / J, halves averaged."""
    folds = folds_of(8, sizes, classes=True)
    centre, half = (
        np.mean([fold.mean() for fold in folds]),
        naive.hoeffding_half(sizes, 0.9, 1.0),
    )
    np.testing.assert_allclose(
        hoeffding_interval(folds, 0.9), (centre - half, centre + half), rtol=1e-12
    )
    low, high = hoeffding_interval(folds, 0.9, range=2.0)
    assert high - low == pytest.approx(4 * half)


def test_hoeffding_counts_groups():
    """Rows of one group move together: ten groups of five rows are as wide as ten rows."""
    losses, groups = (
        np.repeat(folds_of(9, (10,), classes=True)[0], 5),
        np.repeat(np.arange(10), 5),
    )
    np.testing.assert_allclose(
        hoeffding_interval([losses], groups=[groups]),
        hoeffding_interval([losses[::5]]),
        rtol=1e-12,
    )
    folds, names = np.split(losses, [20]), np.split(groups, [20])
    np.testing.assert_allclose(
        hoeffding_interval(folds, groups=names),
        hoeffding_interval([fold[::5] for fold in folds]),
        rtol=1e-12,
    )


@given(
    st.lists(NUMBERS, min_size=2, max_size=30),
    st.integers(1, 1000),
    st.integers(1, 1000),
)
def test_the_corrected_t_is_its_definition(d, n_train, n_test):
    """t and its two-sided p for any differences with some spread."""
    d = np.array(d)
    if np.ptp(d) <= 1e-9 * np.abs(d).max():
        return
    t, p = corrected_t(d, n_train, n_test)
    assert t == pytest.approx(
        naive.corrected_t(d, n_train, n_test), rel=1e-7, abs=1e-12
    )
    assert p == pytest.approx(2 * stats.t.sf(abs(t), d.size - 1), rel=1e-9, abs=1e-300)
    low, high = corrected_t_interval(d, n_train, n_test)
    assert (low <= 0 <= high) == (p >= 0.05) or abs(p - 0.05) < 1e-9


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=5, max_size=5))
def test_five_times_two_halves_are_their_definition(d):
    """t and F of any d[5, 2] with some spread, and their p."""
    d = np.array(d)
    if not (np.ptp(d, axis=1) > 1e-6 * np.abs(d).max()).any():
        return
    (t, p_t), (f, p_f), expected = (
        dietterich_5x2cv(d),
        alpaydin_5x2cv(d),
        naive.two_halves(d),
    )
    np.testing.assert_allclose((t, f), expected, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(
        (p_t, p_f), (2 * stats.t.sf(abs(t), 5), stats.f.sf(f, 10, 5)), rtol=1e-7
    )


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 8))
def test_the_tibshirani_bias_is_its_definition(seed, n_settings, n_folds):
    """Index and bias; the bias is never negative, and zero for one setting."""
    losses = np.random.default_rng(seed).integers(0, 5, (n_settings, n_folds)) / 4
    index, bias = tibshirani_bias(losses)
    assert (index, bias) == (
        naive.tibshirani_bias(losses)[0],
        pytest.approx(naive.tibshirani_bias(losses)[1], abs=1e-12),
    )
    assert bias >= 0
    assert n_settings > 1 or bias == 0


@pytest.mark.parametrize("mistakes", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_bbc_is_its_definition(mistakes, grouped, weighted, rng):
    """The mean and the percentiles over the bags that NumPy's generator draws; whole
    groups; weights."""
    losses = rng.integers(0, 2, (40, 6)) if mistakes else rng.exponential(size=(40, 6))
    units = rng.integers(0, 12, 40) if grouped else None
    w = rng.integers(1, 4, 40).astype(float) if weighted else None
    n = 40 if units is None else np.unique(units).size
    bags = np.random.default_rng(3).integers(0, n, (50, n))
    assert all(np.unique(bag).size < n for bag in bags)
    outside = naive.bbc(losses, bags, units, w)
    found = bbc(losses, n_boot=50, level=0.9, seed=3, groups=units, weights=w)
    np.testing.assert_allclose(
        found, (outside.mean(), *np.quantile(outside, [0.05, 0.95])), rtol=1e-12
    )


def test_bbc_draws_again_where_a_bag_leaves_nothing_out():
    """Two rows: half of all bags hold both of them, and every number comes from one that
    does not."""
    assert bbc([[1.0], [3.0]], n_boot=200) == (pytest.approx(2.0, abs=0.3), 1.0, 3.0)


def test_settings_that_failed_are_no_candidates():
    """A setting with a NaN is left out of both corrections."""
    losses = np.array([[0.0, np.nan, 0.0], [0.3, 0.1, 0.2], [0.2, 0.2, 0.4]])
    assert tibshirani_bias(losses) == (1, pytest.approx(tibshirani_bias(losses[1:])[1]))
    assert bbc(losses.T, n_boot=50) == bbc(losses[1:].T, n_boot=50)


@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 0.5))
def test_one_standard_error_is_its_definition(seed, n, se):
    """The first of any order that is near enough; never a setting after the minimiser."""
    rng = np.random.default_rng(seed)
    curve, order = rng.random(n), rng.permutation(n)
    index = one_standard_error(curve, se, order)
    assert index == naive.one_standard_error(curve, se, order.tolist())
    places = np.argsort(order)
    assert places[index] <= places[np.argmin(curve)]
    assert type(index) is int


def test_the_standard_error_is_no_standard_deviation():
    """sd with ddof 1 over √K."""
    losses = np.random.default_rng(0).random(7)
    assert standard_error(losses) == pytest.approx(
        naive.standard_error(losses), rel=1e-12
    )
    assert standard_error(losses) == pytest.approx(stats.sem(losses), rel=1e-12)


# Against published numbers


def test_corrected_t_of_scikit_learns_example():
    """Statistical comparison of models using grid search: t = 0.750, one-sided p = 0.227,
    interval (-0.016, 0.036)."""
    X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    splits = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    scores = [
        cross_val_score(
            SVC(kernel=kernel, random_state=0), X, y, cv=splits, scoring="roc_auc"
        )
        for kernel in ("rbf", "linear")
    ]
    d = scores[0] - scores[1]
    t, p = corrected_t(d, n_train=90, n_test=10)
    assert (round(t, 3), round(p / 2, 3)) == (0.750, 0.227)
    np.testing.assert_allclose(
        corrected_t_interval(d, 90, 10), (-0.016445, 0.036445), atol=1e-6
    )


def test_corrected_t_of_baycomp():
    """Two classifiers on ten folds, in baycomp's documentation (functions.rst): P(d < 0) =
    0.4145119975061462."""
    nbc = np.array(
        [94.203, 92.754, 95.652, 91.176, 92.647, 91.176, 92.647, 92.647, 86.765, 91.176]
    )
    j48 = np.array(
        [92.754, 92.754, 89.855, 89.706, 95.588, 89.706, 95.588, 94.118, 91.176, 92.647]
    )
    assert corrected_t(j48 - nbc, n_train=9, n_test=1)[1] / 2 == pytest.approx(
        0.4145119975061462, rel=1e-9
    )


# mlxtend's user guide, paired_ttest_5x2cv and combined_ftest_5x2cv: iris, logistic
# regression against a tree (and one of depth 1); differences of accuracy times 75.
MLXTEND = {
    "tree": (
        [[-3, -2], [1, -3], [-2, 0], [-1, -2], [2, -2]],
        (-1.539, 0.184),
        (1.053, 0.509),
    ),
    "stump": (
        [[21, 24], [24, 19], [22, 31], [22, 21], [25, 19]],
        (5.386, 0.003),
        (34.934, 0.001),
    ),
    "its tests": (
        [[24, 26], [26, 20], [25, 33], [24, 25], [24, 26]],
        (7.269, 0.001),
        (59.587, 0.000),
    ),
}


@pytest.mark.parametrize("case", MLXTEND)
def test_five_times_two_halves_of_mlxtend(case):
    """t, F and p as printed there."""
    d, t, f = MLXTEND[case]
    assert tuple(np.round(dietterich_5x2cv(np.array(d) / 75), 3)) == t
    assert tuple(np.round(alpaydin_5x2cv(np.array(d) / 75), 3)) == f


# R's binom.test help page (Conover 1971), and R's binom.confint(method="exact") as
# statsmodels stores it
EXACT = {
    (682, 925): (0.7076683, 0.7654066),
    (18, 20): (0.6830172859809176, 0.9876514728297052),
    (4, 200): (0.005475565879556443, 0.05041360908989634),
    (0, 30): (0.0, 0.11570331),
    (30, 30): (0.8842967, 1.0),
}


@pytest.mark.parametrize(("mistakes", "n"), EXACT)
def test_the_exact_interval_of_r(mistakes, n):
    """binom.test and binom.confint."""
    losses = np.r_[np.ones(mistakes), np.zeros(n - mistakes)]
    np.testing.assert_allclose(
        holdout_interval(losses, zero_one=True), EXACT[mistakes, n], atol=1e-7
    )


def test_one_standard_error_of_bestglm():
    """oneSDRule on the prostate data of "The Elements of Statistical Learning": row 3 of 9
    (R package bestglm, help page)."""
    cv = [
        1.4637799,
        0.7036285,
        0.6242480,
        0.6069406,
        0.6006877,
        0.6005472,
        0.5707958,
        0.5907897,
        0.5895489,
    ]
    se = [
        0.24878992,
        0.14160499,
        0.08714908,
        0.11376041,
        0.08522291,
        0.11897327,
        0.07960879,
        0.09235052,
        0.12860983,
    ]
    assert one_standard_error(cv, se[int(np.argmin(cv))], range(9)) + 1 == 3


def test_one_standard_error_of_glmnet():
    """Lasso path of R's glmnet (stored by GLMNet.jl, test/runtests.jl): lambda.min
    4.1108627024, lambda.1se by glmnet's rule.

    cvm and cvsd from the 12th of its penalties to the 30th, large ones first.
    """
    penalties = [
        11.4387196638, 10.4225353353, 9.4966260218, 8.6529719398, 7.8842657613,
        7.183849321, 6.5456559468, 5.9641579131, 5.434318562, 4.9515486786,
        4.511666741, 4.1108627024, 3.7456649899, 3.4129104357, 3.109716879,
        2.8334582022, 2.5817415848, 2.352386778, 2.1434072201,
    ]  # fmt: skip
    cvm = [
        228.229814266579, 205.075060158504, 186.324407566207, 171.188112416484,
        159.014246914545, 149.264969255241, 141.496851770503, 135.344575845549,
        130.507419601832, 126.738062011939, 123.833308177869, 121.759979920248,
        123.405730733183, 126.246475207591, 130.300029294795, 134.761617424352,
        135.84097109272, 132.80732564575, 130.057460381724,
    ]  # fmt: skip
    at_minimum = 16.8747291292415
    assert penalties[int(np.argmin(cvm))] == 4.1108627024
    assert (
        penalties[one_standard_error(cvm, at_minimum, range(len(cvm)))] == 5.9641579131
    )


def test_the_bayle_variances_are_those_of_its_authors():
    """alexandre-bayle/cvci, cv_num_exper.py: √(n/(n-k) (mean l² - mean fold_mean²)) within,
    √(mean l² - R²) over all pairs."""
    folds = folds_of(10, (8, 8, 8, 8, 8))
    losses, means, z = (
        np.concatenate(folds),
        np.array([fold.mean() for fold in folds]),
        stats.norm.ppf(0.975),
    )
    within = np.sqrt(40 / 35 * (np.mean(losses**2) - np.mean(means**2)))
    overall = np.sqrt(np.mean(losses**2) - losses.mean() ** 2)
    for variance, sigma in (("within", within), ("all_pairs", overall)):
        low, high = bayle_interval(folds, variance=variance)
        assert high - low == pytest.approx(2 * z * sigma / np.sqrt(40), rel=1e-12)


# What has no answer


REFUSED = [
    (lambda: bayle_interval([[0.1, 0.2]]), "use holdout_interval"),
    (
        lambda: bayle_interval([0.1, 0.2]),
        r"losses must be numbers \[rows\] in each fold",
    ),
    (lambda: bayle_interval([]), "one array per fold"),
    (
        lambda: bayle_interval([[0.1], [0.1]]),
        "the losses, of mean 0.1, have no spread, so a normal approximation has no width",
    ),
    (lambda: bayle_interval([[0.1], [np.nan]]), "losses must be finite; a part"),
    (
        lambda: bayle_interval([[1.0, 2.0], [1.0]], variance="within"),
        "folds of two rows or more",
    ),
    (
        lambda: bayle_interval([[1.0, 2.0], [1.0, 3.0]], variance="sd"),
        "variance='sd' is not known",
    ),
    (
        lambda: bayle_interval([[1, 2], [1, 3]], groups=[[0, 0], [0, 0]]),
        "one group has no spread",
    ),
    (
        lambda: bayle_interval([[1, 2], [1, 3]], weights=[[1, 1], [1]]),
        "weights must have one value for each of the 2 rows of losses, got 1",
    ),
    (
        lambda: bayle_interval([[1.0], [2.0]], level=95),
        "level=95.0 must lie strictly between 0 and 1",
    ),
    (
        lambda: bayle_interval([[1.0], [2.0]], level=True),
        "level=True must be a finite number",
    ),
    (lambda: corrected_t([0.1], 80, 20), "one difference has no spread"),
    (
        lambda: corrected_t([0.1, 0.1, 0.1], 80, 20),
        "every difference is 0.1: without any spread",
    ),
    (lambda: corrected_t([0.1, np.nan], 80, 20), "must be finite"),
    (lambda: corrected_t([0.1, 0.2], 0, 20), "must be sizes > 0"),
    (lambda: corrected_t([0.1, 0.2], None, 20), "n_train=None must be a finite number"),
    (lambda: corrected_t("abc", 80, 20), r"d must be numbers \[splits\]"),
    (lambda: corrected_t_interval([0.1], 80, 20), "one split has no spread"),
    (lambda: corrected_t_interval([0.1, 0.1], 80, 20), "every fold loss is 0.1"),
    (lambda: corrected_t_interval([0.1, 0.2], 80, -20), "must be sizes > 0"),
    (
        lambda: dietterich_5x2cv(np.zeros((2, 5))),
        r"five times two halves; got shape \(2, 5\)",
    ),
    (
        lambda: alpaydin_5x2cv(np.ones((5, 2))),
        "every difference is 1: without any spread",
    ),
    (lambda: holdout_interval([0.0, 0.5], zero_one=True), "every loss must be 0 or 1"),
    (lambda: holdout_interval([0.5]), "one row in the test part has no spread"),
    (lambda: holdout_interval([0.5, 0.5]), "the losses, of mean 0.5, have no spread"),
    (lambda: holdout_interval([0.5, np.inf]), "losses must be finite; a part"),
    (
        lambda: hoeffding_interval([[0.0, 3.0]]),
        "range=1 is too small: these losses differ by up to 3",
    ),
    (lambda: hoeffding_interval([[0.0, 1.0]], range=0), "range=0 must be > 0"),
    (lambda: tibshirani_bias([0.1, 0.2]), r"losses must be numbers \[setting, fold\]"),
    (
        lambda: tibshirani_bias([[np.nan, 0.1]]),
        "no setting has a finite loss in every fold",
    ),
    (
        lambda: bbc([[0.1, 0.2]]),
        "one row or group cannot be both in a bag and left out",
    ),
    (lambda: bbc([[np.nan], [0.1]]), "no setting has a finite loss on every row"),
    (lambda: bbc([[0.1], [0.2]], n_boot=0), "n_boot=0 must be a whole number >= 1"),
    (lambda: bbc([[0.1], [0.2]], groups=[1]), "one value for each of the 2 rows"),
    (
        lambda: one_standard_error([0.1, 0.2], -1.0, [0, 1]),
        "se=-1.0 must be a finite number >= 0",
    ),
    (
        lambda: one_standard_error([0.1, 0.2], np.nan, [0, 1]),
        "se=nan must be a finite number",
    ),
    (
        lambda: one_standard_error([0.1, 0.2], 0.1, [1]),
        "simplest_first leaves out setting 0",
    ),
    (
        lambda: one_standard_error([0.1, 0.2], 0.1, [0, 2]),
        "must hold indices into the 2 losses",
    ),
    (
        lambda: one_standard_error([0.1, 0.2], 0.1),
        "simplest_first=None must hold indices",
    ),
    (
        lambda: one_standard_error([], 0.1, []),
        r"curve must be numbers \[settings\], got shape",
    ),
]


@pytest.mark.parametrize(
    ("call", "message"), REFUSED, ids=[message for _, message in REFUSED]
)
def test_what_cannot_be_computed_is_refused(call, message):
    """The message names what was got and what would do; except CvnbError catches it."""
    with pytest.raises(CvnbError, match=message):
        call()


@pytest.mark.parametrize(
    "test", [lambda d: corrected_t(d.ravel(), 1, 1), dietterich_5x2cv, alpaydin_5x2cv]
)
def test_no_difference_at_all_is_no_evidence(test):
    """All differences zero: statistic 0, p 1."""
    assert test(np.zeros((5, 2))) == (0.0, 1.0)
