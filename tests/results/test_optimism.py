"""optimism(result): flat, its corrections and the nested risk; on noise the first is biased
and the last is not."""

import numpy as np
import pytest

import naive
from cvnb import Recipe, knn, ridge
from cvnb.errors import CvnbError
from cvnb.inference import bbc, dev_set_bound, optimism, tibshirani_bias
from cvnb.results.estimate import record_of
from scripts_of import script


def classes(m=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


def numbers(m=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, X[:, 0] + rng.normal(size=m)


MANY = knn(k=range(1, 20))


def test_all_estimates_come_from_the_same_folds():
    """Flat, both corrections and the nested risk equal their definitions on the outer
    losses of one run."""
    X, y = classes()
    result = Recipe(5, 4).run(MANY, X, y)
    report = optimism(result, n_boot=100)
    curves, table = result.outer_curves, record_of(result).table
    assert report.flat == result.flat == curves.mean(axis=0).min()
    assert report.tibshirani == pytest.approx(
        result.flat + naive.tibshirani_bias(curves.T)[1], rel=1e-12
    )
    assert report.nested == result.risk
    assert report.optimism == result.optimism
    losses = np.empty((80, 19))
    for (_, test), rows in zip(result.plan.outer, table.rows, strict=True):
        losses[test] = rows
    outside = naive.bbc(losses, np.random.default_rng(0).integers(0, 80, (100, 80)))
    assert report.bbc.estimate == pytest.approx(outside.mean(), rel=1e-12)
    assert report.bbc[1:] == pytest.approx(
        tuple(np.quantile(outside, [0.025, 0.975])), rel=1e-12
    )
    assert report.reasons == {}
    assert report.bound is None


def test_a_result_may_stand_for_its_losses():
    """tibshirani_bias(result) and bbc(result) take the outer losses."""
    result = Recipe(5, 4).run(MANY, *classes())
    assert tibshirani_bias(result) == tibshirani_bias(result.outer_curves.T)
    rows = np.concatenate(record_of(result).table.rows)
    order = np.concatenate([test for _, test in result.plan.outer])
    assert bbc(result, n_boot=50) == bbc(rows[np.argsort(order)], n_boot=50)


def test_groups_are_drawn_whole_and_repeats_are_one_row():
    """Units are groups, or rows where several test parts hold the same one."""
    X, y = classes()
    groups = np.arange(80) // 4
    result = Recipe(5, 4).run(MANY, X, y, groups=groups)
    rows = np.concatenate(record_of(result).table.rows)
    order = np.concatenate([test for _, test in result.plan.outer])
    assert bbc(result, n_boot=50) == bbc(rows, n_boot=50, groups=groups[order])
    result = Recipe.nested_resampling(6, 3).run(MANY, X, y)
    order = np.concatenate([test for _, test in result.plan.outer])
    assert np.unique(order).size < order.size
    rows = np.concatenate(record_of(result).table.rows)
    assert bbc(result, n_boot=50) == bbc(rows, n_boot=50, groups=order)


def test_a_dev_set_has_the_bound_of_its_size():
    """Train/validation/test and nested CV with a dev set: |S_dev|, |Θ0|, δ; where θ is
    chosen by folds there is none."""
    X, y = classes()
    for recipe, n_dev in (
        (Recipe.train_validation_test(), 16),
        (Recipe.nested_dev(5), 16),
        (Recipe.dev_set(0.25), 20),
    ):
        report = optimism(recipe.run(MANY, X, y), delta=0.1)
        assert report.bound == dev_set_bound(n_dev, 19, 0.1)
        assert any(
            said.startswith("Dev-set bound: with probability 0.9 or more")
            for said in report.sentences
        )


def test_what_means_nothing_is_left_out_with_the_reason():
    """Each None has its sentence."""
    X, y = classes()
    inside = optimism(Recipe.internal_cv(5).run(MANY, X, y))
    assert (inside.nested, inside.bbc) == (None, None)
    assert inside.flat == pytest.approx(inside.result.inner_curves[0].min())
    assert inside.tibshirani > inside.flat
    assert "nothing was measured outside S" in inside.reasons["Nested"]
    assert "inner row losses are not kept" in inside.reasons["BBC-CV"]
    dev = optimism(Recipe.train_validation_test().run(MANY, X, y))
    assert dev.tibshirani is None
    assert "one dev set has no second fold" in dev.reasons["Tibshirani–Tibshirani"]
    squared = optimism(Recipe.nested_dev(4).run(ridge(alpha=[0.1, 1.0]), *numbers()))
    assert squared.bound is None
    assert (
        "squared loss has no known range; declare its width: range=..."
        in squared.reasons["Dev-set bound"]
    )
    declared = optimism(squared.result, range=30.0)
    assert declared.bound == dev_set_bound(20, 2, 0.05, 30.0)
    grouped = optimism(Recipe.nested_dev(4).run(MANY, X, y, groups=np.arange(80)))
    assert "independent rows of equal weight" in grouped.reasons["Dev-set bound"]
    auc = optimism(Recipe(5, 4).run(MANY, X, y, scoring="roc_auc"))
    assert auc.bbc is None
    assert "roc_auc is one number for a whole test part" in auc.reasons["BBC-CV"]
    assert auc.tibshirani > auc.flat


def test_one_setting_has_no_optimism():
    """Nothing was chosen; other things than results are refused too."""
    with pytest.raises(CvnbError, match="one setting: nothing was chosen"):
        optimism(Recipe.external_cv(4).run(knn(k=3), *classes()))
    with pytest.raises(CvnbError, match="optimism takes the result of a run, got dict"):
        optimism({})


def test_the_panel_names_each_bias():
    """A table with one line each, in text and HTML; scores are shown as scores."""
    X, y = classes()
    report = optimism(Recipe(5, 4).run(MANY, X, y))
    names = [row[0] for row in report.table[1]]
    assert names == ["flat", "Tibshirani–Tibshirani", "BBC-CV", "nested"]
    assert all(row[-1] != "–" for row in report.table[1])
    for text in (repr(report), report._repr_mimebundle_()["text/html"]):
        assert "optimistic: the folds that measure it chose it" in text
        assert "on average at least that of the best setting for each S" in text
    single = optimism(Recipe("loo", 3).run(MANY, X, y))
    assert "single rows nearly double the loss" in repr(single)
    auc = optimism(Recipe(5, 4).run(MANY, X, y, scoring="roc_auc"))
    assert auc.table[1][0][1] == f"{-auc.flat:.6g}"
    assert "ROC AUC (large is good)" in auc.title


def test_on_noise_the_flat_estimate_is_biased_and_nested_cv_is_not():
    """Coin flips, 300 seeds: any predictor errs half the time; flat claims much less, and
    nested CV claims just that.

    The corrections land between flat and a little above the truth; BBC's interval holds the
    truth at least as often as it says.
    """
    found, held = script("noise").claims(300)
    flat, tibshirani, booted, nested = np.mean(found, axis=0)
    error = np.std(found, axis=0, ddof=1)[3] / np.sqrt(300)
    assert flat < 0.42
    assert abs(nested - 0.5) < 3 * error < 0.03
    assert flat < booted < 0.53
    assert flat < tibshirani < 0.54
    assert held > 0.93


def test_the_bound_takes_a_result_in_place_of_its_sizes():
    """Where θ was chosen on one dev set of plain rows by a bounded loss; else it is refused."""
    X, y = classes()
    result = Recipe.train_validation_test().run(MANY, X, y)
    assert dev_set_bound(result) == dev_set_bound(16, 19)
    assert dev_set_bound(result, delta=0.2) == dev_set_bound(16, 19, 0.2)
    with pytest.raises(
        CvnbError, match="θ chosen on one dev set, which is not the case here"
    ):
        dev_set_bound(Recipe(4, 3).run(MANY, X, y))
    squared = Recipe.dev_set(0.25).run(ridge(alpha=[0.1, 1.0]), *numbers())
    with pytest.raises(
        CvnbError,
        match=r"the squared loss has no known range; declare its width: range=",
    ):
        dev_set_bound(squared)
    assert dev_set_bound(squared, range=30.0) == dev_set_bound(20, 2, 0.05, 30.0)
    with pytest.raises(CvnbError, match="n_settings=None"):
        dev_set_bound(100)


def test_rows_in_the_order_of_time_are_not_drawn():
    """The bootstrap assumes independent rows."""
    report = optimism(Recipe(4, 3, time_ordered=True).run(MANY, *classes()))
    assert report.bbc is None
    assert "rows in the order of time depend on each other" in report.reasons["BBC-CV"]
