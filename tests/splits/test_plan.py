"""Plan: what every recipe draws, drawn once from one seed; the audit finds what is wrong."""

import json
import os
import pickle
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    BaseCrossValidator,
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    train_test_split,
)
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Family, Plan, Recipe, TimeBlocks, knn, lasso, logistic, ridge
from cvnb.errors import (
    CvnbError,
    CvnbWarning,
    FamilyError,
    InfeasibleError,
    RecipeError,
)
from cvnb.splits.layouts import Pairs, Partition
from cvnb.splits.recipes import Holdout, LikeOuterTest, Resampling

MB = 1e6
# for one setting no inner split is drawn
TWO_C, TWO_ALPHAS = {"C": [0.1, 1.0]}, {"alpha": [0.1, 1.0]}


def columns(n_rows):
    """One column in which no row is repeated."""
    return np.arange(n_rows, dtype=float)[:, None]


def numbers(n_rows):
    """A target of a regression."""
    return np.linspace(0.0, 1.0, n_rows) ** 2


def plan_of(recipe, y, groups=None, family=None):
    """The plan on one column without repeated rows."""
    return recipe.plan(columns(len(y)), y, family, groups)


def quietly(recipe, y, groups=None):
    """The plan, whatever is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return plan_of(recipe, y, groups)


def levels(plan):
    """(rows to split, splits) of the outer level and of every inner one."""
    everything = np.arange(plan.n_rows)
    if len(plan.outer):
        yield everything, list(plan.outer)
    for j in range(plan.n_parts):
        yield (plan.outer[j][0] if len(plan.outer) else everything), list(plan.inner[j])


def assert_same_splits(splits, expected):
    """Split by split the same row numbers in the same order."""
    expected = list(expected)
    assert len(splits) == len(expected)
    for (train, test), (expected_train, expected_test) in zip(
        splits, expected, strict=True
    ):
        assert train.tolist() == list(expected_train)
        assert test.tolist() == list(expected_test)


# Any recipe on any rows


class Drawn(NamedTuple):
    """A recipe, the rows that it splits, and its plan."""

    recipe: Recipe
    y: np.ndarray
    groups: np.ndarray | None
    plan: Any


def draw_rows(draw):
    """(y, groups): numbers or classes, rows of their own or in groups, few enough to be nasty."""
    n_rows = draw(st.integers(6, 48))
    n_classes = draw(st.sampled_from([0, 0, 2, 3, 4]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    y = (
        rng.integers(0, n_classes, n_rows).astype(float)
        if n_classes
        else rng.normal(size=n_rows)
    )
    kind = draw(st.sampled_from(["none", "none", "scattered", "blocks"]))
    n_groups = draw(st.integers(2, max(2, n_rows // 2)))
    groups = None if kind == "none" else rng.integers(0, n_groups, n_rows)
    return y, np.sort(groups) if kind == "blocks" else groups


@st.composite
def drawn(draw, outer=None, inner=None, **fixed):
    """A plan that could be drawn."""
    y, groups = draw_rows(draw)
    shares = st.sampled_from([0.1, 0.2, 0.25, 0.5])
    outer_forms = st.one_of(
        st.none(),
        st.integers(2, 6),
        shares,
        st.just("loo"),
        st.just(Resampling(3, 0.3)),
    )
    inner_forms = st.one_of(
        outer_forms,
        st.just(LikeOuterTest()),
        shares.map(lambda share: Holdout(share, of_all=True)),
    )
    keywords = {
        "outer": draw(outer_forms if outer is None else outer),
        "inner": draw(inner_forms if inner is None else inner),
        "seed": draw(st.integers(0, 5)),
        "shuffle": draw(st.booleans()),
        "stratify": draw(st.sampled_from(["auto", False])),
        "time_ordered": draw(st.booleans()),
    }
    keywords["buffer"] = draw(st.integers(0, 3)) if keywords["time_ordered"] else 0
    try:
        recipe = Recipe(**keywords | fixed)
        plan = quietly(recipe, y, groups)
    except ValueError:
        assume(False)
    return Drawn(recipe, y, groups, plan)


any_plan = settings(max_examples=75)


@any_plan
@given(drawn())
def test_no_row_is_trained_on_and_tested_on(case):
    """In every split of both levels the parts are disjoint, and no test part is empty."""
    for rows, splits in levels(case.plan):
        for train, test in splits:
            assert test.size
            assert not set(train) & set(test)
            assert set(train) | set(test) <= set(rows)


@any_plan
@given(drawn())
def test_no_row_is_twice_in_a_part(case):
    """A drawn part holds every row once."""
    for _, splits in levels(case.plan):
        for part in (part for pair in splits for part in pair):
            assert np.unique(part).size == part.size


@any_plan
@given(
    drawn(
        outer=st.one_of(st.none(), st.integers(2, 6), st.just("loo")),
        inner=st.integers(2, 5) | st.just("loo"),
    )
)
def test_the_test_parts_of_folds_partition_the_rows(case):
    """At both levels every row is tested exactly once."""
    for rows, splits in levels(case.plan):
        assert sorted(np.concatenate([test for _, test in splits])) == sorted(rows)


@any_plan
@given(drawn(time_ordered=False, buffer=0))
def test_without_a_buffer_the_training_part_is_all_the_rest(case):
    """Training and test part together are all rows to split."""
    for rows, splits in levels(case.plan):
        for train, test in splits:
            assert sorted([*train, *test]) == sorted(rows)


@any_plan
@given(drawn(outer=st.integers(2, 6), inner=st.none() | st.integers(2, 5)))
def test_fold_sizes_are_the_floor_or_the_ceiling_of_their_share(case):
    """Without groups ⌊m/K⌋ ≤ size ≤ ⌈m/K⌉ at both levels."""
    assume(case.groups is None)
    for rows, splits in levels(case.plan):
        assert all(
            len(rows) // len(splits) <= test.size <= -(-len(rows) // len(splits))
            for _, test in splits
        )


@any_plan
@given(
    drawn(
        outer=st.integers(2, 6) | st.sampled_from([0.2, 0.5]),
        inner=st.integers(2, 5) | st.sampled_from([0.25]),
        stratify="auto",
        shuffle=True,
        time_ordered=False,
        buffer=0,
    )
)
def test_classes_keep_their_proportions_within_one_row(case):
    """Without groups each class has its share, or equally many rows, in all test parts.

    Both to within one row.
    """
    assume(case.groups is None and np.array_equal(case.y, np.floor(case.y)))
    assume(not case.plan.notes)
    for rows, splits in levels(case.plan):
        for c, count in Counter(case.y[rows]).items():
            if count > 1:  # a single row of a class has no proportion to keep
                there = [np.sum(case.y[test] == c) for _, test in splits]
                share = [count * test.size / len(rows) for _, test in splits]
                near = np.abs(np.subtract(there, share)).max() < 1 + 1e-9
                alike = max(there) - min(there) <= 1
                assert near or alike or min(Counter(case.y[rows]).values()) < 2


@any_plan
@given(drawn())
def test_no_group_stands_on_both_sides(case):
    """Groups reach both levels: none has rows in the training and in the test part of a split."""
    assume(case.groups is not None)
    for _, splits in levels(case.plan):
        for train, test in splits:
            assert not set(case.groups[train]) & set(case.groups[test])


@any_plan
@given(drawn(time_ordered=True))
def test_no_training_row_is_within_the_buffer_of_a_test_row(case):
    """At both levels and on both sides more than h positions part training rows from test rows."""
    for _, splits in levels(case.plan):
        for train, test in splits:
            assert np.abs(train[:, None] - test[None, :]).min() > case.plan.buffer


@any_plan
@given(drawn(outer=st.sampled_from([0.1, 0.2, 0.5]), time_ordered=True))
def test_a_time_ordered_holdout_tests_on_the_newest_rows(case):
    """The test part is the last rows, in order; the training part is all before the buffer."""
    train, test = case.plan.outer[0]
    assert test.tolist() == list(range(test[0], case.plan.n_rows))
    assert train.tolist() == list(range(test[0] - case.plan.buffer))


@any_plan
@given(
    drawn(
        outer=st.none() | st.integers(2, 4),
        inner=st.sampled_from([0.1, 0.25]),
        time_ordered=True,
    )
)
def test_a_time_ordered_dev_set_is_the_newest_rows(case):
    """Inside every outer training part the dev set comes last."""
    for rows, splits in [*levels(case.plan)][-case.plan.n_parts :]:
        train, test = splits[0]
        assert test.tolist() == rows[rows >= test[0]].tolist()
        assert train.max() < test.min()


@any_plan
@given(drawn(outer=st.integers(2, 5), time_ordered=True))
def test_time_ordered_folds_are_runs_of_rows(case):
    """Every outer test part is a run of consecutive rows, the earliest first."""
    tests = [test for _, test in case.plan.outer]
    assert np.concatenate(tests).tolist() == list(range(case.plan.n_rows))


@any_plan
@given(drawn())
def test_the_same_recipe_on_the_same_rows_gives_the_same_plan(case):
    """A plan is a function of recipe, rows and groups."""
    assert quietly(case.recipe, case.y, case.groups) == case.plan


@any_plan
@given(drawn())
def test_an_audit_of_a_drawn_plan_finds_nothing(case):
    """Every split of every drawn plan passes a second look."""
    audit = case.plan.audit()
    assert audit.ok
    assert audit.findings == ()
    assert audit.n_splits == len(case.plan.outer) + sum(
        len(splits) for splits in case.plan.inner
    )


@any_plan
@given(drawn())
def test_a_plan_reads_back_from_its_record(case):
    """from_json(to_json()) has every split, the groups, the buffer, the words and the notes."""
    again = Plan.from_json(case.plan.to_json())
    assert again == case.plan
    assert again.to_json() == case.plan.to_json()
    assert repr(again) == repr(case.plan)
    assert again.audit() == case.plan.audit()


@any_plan
@given(st.data())
def test_what_cannot_be_drawn_is_refused_with_an_error_of_cvnb(data):
    """Difficult data give a clean plan or a CvnbError, and no warning but a CvnbWarning."""
    y, groups = draw_rows(data.draw)
    forms = st.sampled_from(
        [None, 2, 5, 9, 50, 0.01, 0.5, 0.99, "loo", Resampling(2, 0.9), LikeOuterTest()]
    )
    keywords = {"outer": data.draw(forms), "inner": data.draw(forms)}
    keywords["stratify"] = data.draw(st.sampled_from(["auto", True]))
    if data.draw(st.booleans()):
        keywords |= {
            "time_ordered": True,
            "buffer": data.draw(st.sampled_from([0, 2, 30])),
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CvnbWarning)
        try:
            plan = plan_of(Recipe(**keywords), y, groups)
        except CvnbError:
            return
    assert plan.audit().ok


# Sizes


@given(st.integers(10, 200), st.integers(1, 9), st.integers(1, 9), st.integers(0, 3))
def test_shares_of_train_validation_test_are_of_all_rows(n_rows, a, b, seed):
    """validation and test count rows of S, rounded up, and the rest is trained on."""
    validation, test = a / 20, b / 20
    n_test, n_dev = -(-b * n_rows // 20), -(-a * n_rows // 20)
    assume(n_test + n_dev < n_rows)
    plan = plan_of(
        Recipe.train_validation_test(validation, test, seed=seed), numbers(n_rows)
    )
    (train, tested), (inner_train, dev) = plan.outer[0], plan.inner[0][0]
    assert (train.size, tested.size, dev.size) == (n_rows - n_test, n_test, n_dev)
    assert inner_train.size == n_rows - n_test - n_dev


@given(st.integers(5, 60), st.integers(1, 19), st.integers(0, 5), st.booleans())
def test_a_holdout_equals_train_test_split(n_rows, part, seed, classes):
    """One outer holdout has the rows of train_test_split in its order, stratified for classes."""
    share = part / 20
    n_test = -(-part * n_rows // 20)  # scikit-learn rounds 0.55 * 100 up to 56
    assume(np.ceil(share * n_rows) == n_test < n_rows)
    y = np.arange(n_rows) % 2 if classes else numbers(n_rows)
    assume(not classes or 2 <= -(-part * n_rows // 20) <= n_rows - 2)
    expected = train_test_split(
        np.arange(n_rows),
        test_size=share,
        random_state=seed,
        stratify=y if classes else None,
    )
    assert_same_splits(
        plan_of(Recipe.validation(share, seed=seed), y).outer, [expected]
    )


def test_an_inner_holdout_equals_train_test_split_with_the_next_seed():
    """Inside the outer training part the dev set is drawn from seed + 1."""
    y = numbers(50)
    plan = plan_of(Recipe(outer=0.2, inner=0.25, seed=3), y)
    learn, test = train_test_split(np.arange(50), test_size=0.2, random_state=3)
    assert_same_splits(plan.outer, [(learn, test)])
    assert_same_splits(
        plan.inner[0], [train_test_split(learn, test_size=0.25, random_state=4)]
    )


@given(st.integers(3, 8), st.integers(9, 60), st.booleans())
def test_the_dev_set_of_nested_dev_is_as_large_as_the_outer_test_part(
    K, n_rows, time_ordered
):
    """One inner split per outer split, whose dev set has m/K rows."""
    plan = plan_of(Recipe.nested_dev(K, time_ordered=time_ordered), numbers(n_rows))
    for (train, test), inner in zip(plan.outer, plan.inner, strict=True):
        assert [dev.size for _, dev in inner] == [test.size]
        assert inner[0][0].size == train.size - test.size


def test_the_dev_set_of_nested_dev_follows_unequal_test_parts():
    """Where a splitter gives test parts of many sizes, each dev set has the size of its own."""
    plan = plan_of(
        Recipe.nested_dev(PredefinedSplit(np.repeat([0, 1, 2], [3, 6, 5]))), numbers(14)
    )
    assert [[dev.size for _, dev in splits] for splits in plan.inner] == [[3], [6], [5]]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(20, 40))
def test_resampling_draws_the_promised_numbers_of_holdouts(outer, inner, n_rows):
    """nested_resampling has `outer` test sets with `inner` dev sets each, of the given shares."""
    plan = plan_of(
        Recipe.nested_resampling(outer, inner, test=0.2, validation=0.25),
        numbers(n_rows),
    )
    n_test = -(-n_rows // 5)
    n_dev = -(-(n_rows - n_test) // 4)
    assert [test.size for _, test in plan.outer] == [n_test] * outer
    assert [[dev.size for _, dev in splits] for splits in plan.inner] == [
        [n_dev] * inner
    ] * outer


@pytest.mark.parametrize("classes", [False, True], ids=["numbers", "classes"])
def test_random_holdouts_are_those_of_scikit_learn(classes):
    """Resampling is (Stratified)ShuffleSplit, from seed outside and seed + 1 inside."""
    y = np.arange(40) % 2 if classes else numbers(40)
    kind = StratifiedShuffleSplit if classes else ShuffleSplit
    plan = plan_of(Recipe.nested_resampling(4, 3, test=0.2, validation=0.25, seed=6), y)
    outer = list(kind(4, test_size=0.2, random_state=6).split(columns(40), y))
    assert_same_splits(plan.outer, outer)
    for (train, _), inner in zip(outer, plan.inner, strict=True):
        splits = kind(3, test_size=0.25, random_state=7).split(train, y[train])
        assert_same_splits(inner, [(train[a], train[b]) for a, b in splits])


def test_the_random_holdouts_of_resampling_differ():
    """Samples are drawn anew each time, inside and outside."""
    plan = plan_of(Recipe.nested_resampling(4, 5), numbers(60))
    for splits in (plan.outer, *plan.inner):
        assert len({tuple(sorted(test)) for _, test in splits}) == len(splits)


def test_leave_one_out_tests_every_row_alone():
    """Split t tests row t and trains on the others, at both levels."""
    plan = plan_of(Recipe(outer="loo", inner="loo"), numbers(7))
    assert_same_splits(plan.outer, LeaveOneOut().split(columns(7)))
    for (train, _), inner in zip(plan.outer, plan.inner, strict=True):
        assert_same_splits(inner, [(np.setdiff1d(train, t), [t]) for t in train])


def test_leave_one_out_with_groups_leaves_one_group_out():
    """ "loo" tests one group at a time, in sorted order."""
    groups = np.array(list("bbaaccdd"))
    plan = plan_of(Recipe.leave_one_out(), numbers(8), groups)
    assert_same_splits(plan.outer, LeaveOneGroupOut().split(columns(8), groups=groups))


@given(st.integers(2, 10), st.integers(0, 3), st.booleans())
def test_one_grouped_and_stratified_holdout_is_a_fold_of_stratified_group_k_fold(
    n_groups, seed, halves
):
    """A share of 1/q with groups and classes tests on one fold of StratifiedGroupKFold(q)."""
    share = 0.5 if halves else 0.25
    assume(n_groups >= 1 / share)
    groups, y = np.repeat(np.arange(n_groups), 4), np.tile([0, 1], 2 * n_groups)
    plan = plan_of(Recipe.validation(share, seed=seed), y, groups)
    folds = StratifiedGroupKFold(
        round(1 / share), shuffle=True, random_state=seed
    ).split(columns(len(y)), y, groups)
    assert plan.outer[0][1].tolist() in [test.tolist() for _, test in folds]


def test_a_grouped_holdout_of_numbers_is_that_of_group_shuffle_split():
    """Without classes a share counts groups, as in scikit-learn."""
    groups = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 5, 4, 3, 2, 1])
    plan = plan_of(Recipe.nested_resampling(3, 2, seed=5), numbers(30), groups)
    expected = GroupShuffleSplit(3, test_size=2, random_state=5).split(
        columns(30), groups=groups
    )
    assert_same_splits(plan.outer, expected)


@pytest.mark.parametrize("share", [0.2, 0.25, 0.5])
def test_a_grouped_holdout_of_classes_whose_share_leaves_a_rest_is_one_fold_too(share):
    """A holdout of 1/q is one fold of StratifiedGroupKFold(q), even if 42/q is not an integer."""
    groups, y = np.arange(42) % 21, np.arange(42) % 3
    plan = plan_of(Recipe.validation(share), y, groups)
    folds = StratifiedGroupKFold(round(1 / share), shuffle=True, random_state=0).split(
        columns(42), y, groups
    )
    assert sorted(plan.outer[0][1]) in [test.tolist() for _, test in folds]


def test_resampling_of_classes_with_groups_gives_shares_near_the_given_ones():
    """With 21 groups of two rows, test parts have 8 to 10 of 42 rows, dev sets 7 to 10."""
    groups, y = np.arange(42) % 21, np.arange(42) % 3
    plan = plan_of(Recipe.nested_resampling(4, 3), y, groups)
    assert {test.size for _, test in plan.outer} <= {8, 9, 10}
    assert {dev.size for splits in plan.inner for _, dev in splits} <= {7, 8, 9, 10}


@pytest.mark.parametrize(
    "inner", [0.25, Resampling(2, 0.25), LikeOuterTest()], ids=repr
)
def test_an_outer_training_part_of_one_group_is_refused(inner):
    """One group cannot be on both sides of an inner holdout, with or without classes."""
    groups = np.repeat([0, 1], 10)
    for y in (numbers(20), np.arange(20) % 2):
        with pytest.raises(InfeasibleError, match="group"):
            plan_of(Recipe(outer=2, inner=inner), y, groups)


def test_a_grouped_holdout_with_a_rare_class_warns_of_nothing_of_scikit_learn():
    """A class smaller than the folds behind a grouped holdout causes only a CvnbWarning."""
    groups, y = np.repeat(np.arange(10), 3), np.repeat([0, 1, 2], [14, 14, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CvnbWarning)
        assert plan_of(Recipe.train_validation_test(), y, groups).audit().ok


def test_resampling_with_groups_keeps_classes_in_proportion_as_well_as_groups_allow():
    """Where every group is balanced, every test part is."""
    groups, y = np.repeat(np.arange(12), 4), np.tile([0, 1], 24)
    plan = plan_of(Recipe.nested_resampling(5, 4), y, groups)
    for _, splits in levels(plan):
        for train, test in splits:
            assert y[test].mean() == y[train].mean() == 0.5


# An int is scikit-learn's own splitter


FOLDS = {
    "KFold": (KFold, False, False),
    "StratifiedKFold": (StratifiedKFold, True, False),
    "GroupKFold": (GroupKFold, False, True),
    "StratifiedGroupKFold": (StratifiedGroupKFold, True, True),
}


def rows_for(classes, grouped, n_rows=48):
    """Classes or numbers, with or without groups of six."""
    rng = np.random.default_rng(2)
    y = rng.permutation(np.arange(n_rows) % 3) if classes else numbers(n_rows)
    return y, rng.permutation(np.arange(n_rows) % (n_rows // 6)) if grouped else None


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("name", FOLDS)
def test_a_number_of_folds_is_the_splitter_of_scikit_learn(name, seed):
    """outer=K and inner=K' are scikit-learn's K folds, with random_state seed and seed + 1."""
    kind, classes, grouped = FOLDS[name]
    y, groups = rows_for(classes, grouped)
    plan = plan_of(Recipe(outer=4, inner=3, seed=seed), y, groups)
    outer = list(
        kind(4, shuffle=True, random_state=seed).split(columns(len(y)), y, groups)
    )
    assert_same_splits(plan.outer, outer)
    for (train, _), inner in zip(outer, plan.inner, strict=True):
        splitter = kind(3, shuffle=True, random_state=seed + 1)
        own = None if groups is None else groups[train]
        assert_same_splits(
            inner,
            [
                (train[a], train[b])
                for a, b in splitter.split(columns(len(train)), y[train], own)
            ],
        )


@pytest.mark.parametrize("name", FOLDS)
def test_folds_without_shuffling_are_those_of_scikit_learn(name):
    """shuffle=False reaches both levels."""
    kind, classes, grouped = FOLDS[name]
    y, groups = rows_for(classes, grouped)
    plan = plan_of(Recipe(outer=4, inner=3, shuffle=False), y, groups)
    assert_same_splits(plan.outer, kind(4).split(columns(len(y)), y, groups))
    train = plan.outer[2][0]
    own = None if groups is None else groups[train]
    assert_same_splits(
        plan.inner[2],
        [(train[a], train[b]) for a, b in kind(3).split(train, y[train], own)],
    )


def test_stratify_false_draws_plain_folds_of_classes():
    """Classes are then split as numbers are."""
    y = np.arange(30) % 3
    assert_same_splits(
        plan_of(Recipe(outer=5, inner=None, stratify=False), y).outer,
        KFold(5, shuffle=True, random_state=0).split(columns(30)),
    )


def test_a_regression_is_not_stratified():
    """stratify="auto" is for classes only; a regressor makes whole numbers a regression."""
    y = np.arange(30) % 3
    plan = plan_of(Recipe(outer=5, inner=None), y, family=Family(Ridge()))
    assert_same_splits(
        plan.outer, KFold(5, shuffle=True, random_state=0).split(columns(30))
    )


@pytest.mark.parametrize("inner", [3, "loo", 0.3, Resampling(4, 0.3), LikeOuterTest()])
def test_parts_of_equal_size_share_their_inner_splits_where_only_the_number_of_rows_matters(
    inner,
):
    """Every part starts from the same seed, so equal splits are stored once, not 60 times."""
    plan = plan_of(Recipe(outer="loo", inner=inner), numbers(60))
    assert len(plan.inner_kept) == 1
    for (train, _), splits in zip(plan.outer, plan.inner, strict=True):
        assert sorted(np.concatenate(splits[0])) == train.tolist()


@pytest.mark.parametrize(
    "case", [{"y": np.arange(60) % 2}, {"y": numbers(60), "groups": np.arange(60) // 2}]
)
def test_parts_that_differ_in_classes_or_groups_are_split_one_by_one(case):
    """Their splits depend on more than the number of rows."""
    plan = plan_of(Recipe(outer=5, inner=3), **case)
    assert len(plan.inner_kept) == 5


def test_stratify_true_needs_classes():
    """stratify=True on a regression is refused."""
    with pytest.raises(
        RecipeError, match="stratify=True needs classes, but this is a regression"
    ):
        plan_of(Recipe(stratify=True), numbers(30))


def test_labels_that_are_words_are_stratified_like_numbers():
    """The names of the classes do not affect the splits if their order is the same."""
    y = np.arange(31) % 3
    assert plan_of(Recipe(), np.array(["a", "b", "c"])[y]) == plan_of(Recipe(), y)


# Splitters and lists, exactly as given


GIVEN = {
    "KFold": KFold(4),
    "shuffled KFold": KFold(4, shuffle=True, random_state=3),
    "RepeatedKFold": RepeatedKFold(n_splits=3, n_repeats=2, random_state=1),
    "RepeatedStratifiedKFold": RepeatedStratifiedKFold(
        n_splits=3, n_repeats=2, random_state=1
    ),
    "StratifiedKFold": StratifiedKFold(3),
    "ShuffleSplit": ShuffleSplit(3, test_size=0.3, random_state=2),
    "partial ShuffleSplit": ShuffleSplit(
        3, test_size=0.2, train_size=0.5, random_state=2
    ),
    "StratifiedShuffleSplit": StratifiedShuffleSplit(3, test_size=0.3, random_state=2),
    "LeaveOneOut": LeaveOneOut(),
    "LeavePOut": LeavePOut(2),
    "PredefinedSplit": PredefinedSplit(np.arange(18) % 4 - 1),
    "TimeSeriesSplit": TimeSeriesSplit(3, gap=1),
    "TimeBlocks": TimeBlocks(3, buffer=1),
    "GroupKFold": GroupKFold(3),
    "StratifiedGroupKFold": StratifiedGroupKFold(3),
    "LeaveOneGroupOut": LeaveOneGroupOut(),
    "LeavePGroupsOut": LeavePGroupsOut(2),
    "GroupShuffleSplit": GroupShuffleSplit(3, random_state=0),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_splitter_is_used_exactly_as_given(name):
    """As outer= it splits all rows, with groups if it uses them, in its own order."""
    y = np.arange(18) % 2
    groups = np.arange(18) // 3 if "Group" in name else None
    plan = plan_of(Recipe(outer=GIVEN[name], inner=None), y, groups)
    assert_same_splits(plan.outer, GIVEN[name].split(columns(18), y, groups))


@pytest.mark.parametrize("name", [name for name in GIVEN if name != "PredefinedSplit"])
def test_a_splitter_inside_splits_every_outer_training_part(name):
    """As inner= it counts positions in the outer training part, in the order of that part."""
    y = np.arange(36) % 2
    groups = np.arange(36) // 3 if "Group" in name else None
    outer = [([*range(17, -1, -1)], [*range(18, 36)]), ([*range(18, 36)], [*range(18)])]
    plan = plan_of(Recipe(outer=outer, inner=GIVEN[name]), y, groups)
    for (train, _), inner in zip(outer, plan.inner, strict=True):
        train = np.array(train)
        own = None if groups is None else groups[train]
        expected = GIVEN[name].split(columns(18), y[train], own)
        assert_same_splits(inner, [(train[a], train[b]) for a, b in expected])


class SplitsByValue(BaseCrossValidator):
    """Tests on the rows whose first column is in some range."""

    def split(self, X, y=None, groups=None):
        low = np.asarray(X)[:, 0] < np.median(np.asarray(X)[:, 0])
        yield np.flatnonzero(low), np.flatnonzero(~low)
        yield np.flatnonzero(~low), np.flatnonzero(low)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


def test_a_splitter_that_looks_at_X_sees_it():
    """A splitter of the user's own gets the rows of X, frames as frames."""
    X = pd.DataFrame({"a": [5.0, 1.0, 4.0, 2.0, 3.0, 9.0]}, index=list("zyxwvu"))
    plan = Recipe(outer=SplitsByValue(), inner=SplitsByValue()).plan(X, numbers(6))
    assert_same_splits(plan.outer, [([1, 3, 4], [0, 2, 5]), ([0, 2, 5], [1, 3, 4])])
    assert_same_splits(plan.inner[0], [([1], [3, 4]), ([3, 4], [1])])


def test_a_splitter_that_needs_groups_is_refused_without():
    """Without groups= the message of scikit-learn is passed on with a hint."""
    with pytest.raises(
        RecipeError, match=r"cannot split these 12 rows: .*groups.* Give groups="
    ):
        plan_of(Recipe(outer=LeaveOneGroupOut(), inner=None), numbers(12))


LISTS = {
    "in order": [([0, 1, 2, 3], [4, 5]), ([2, 3, 4, 5], [0, 1])],
    "unsorted": [([3, 0, 2], [5, 1]), ([5, 4], [0])],
    "overlapping test parts": [([0, 1], [2, 3, 4]), ([0, 5], [3, 4])],
    "not covering": [([0, 1], [2])],
    "arrays": [(np.array([1, 0], dtype=np.uint8), np.array([4], dtype=np.int32))],
    "tuples": (((0, 1), (2, 3)), ((2, 3), (0, 1))),
    "the same split twice": [([0, 1], [2]), ([0, 1], [2])],
    "partition in another order": [
        ([4, 5, 2, 3], [1, 0]),
        ([0, 1, 4, 5], [3, 2]),
        ([0, 1, 2, 3], [5, 4]),
    ],
    "partition in order, training parts unsorted": [
        ([5, 4, 3], [0, 1, 2]),
        ([0, 1, 2], [3, 4, 5]),
    ],
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_kept_exactly_and_in_their_order(name):
    """Outer lists, and inner lists without an outer level, keep every row number in its place."""
    splits = LISTS[name]
    assert_same_splits(
        plan_of(Recipe(outer=splits, inner=None), numbers(6)).outer, splits
    )
    assert_same_splits(
        plan_of(Recipe(outer=None, inner=splits), numbers(6)).inner[0], splits
    )


@pytest.mark.parametrize("name", LISTS)
def test_lists_survive_the_record(name):
    """to_json keeps the order of every list."""
    plan = plan_of(Recipe(outer=LISTS[name], inner=None), numbers(6))
    assert_same_splits(Plan.from_json(plan.to_json()).outer, LISTS[name])


def test_inner_lists_speak_of_row_numbers_of_the_whole_data():
    """One list of pairs per outer split, kept exactly."""
    outer = [([5, 3, 1, 0], [2, 4]), ([2, 4, 0], [5])]
    inner = [[([5, 3], [0]), ([0, 1], [3, 5])], [([2], [4])]]
    plan = plan_of(Recipe(outer=outer, inner=inner), numbers(6))
    for splits, expected in zip(plan.inner, inner, strict=True):
        assert_same_splits(splits, expected)


CONTAINERS = {
    "arrays": lambda pairs: list(pairs),
    "lists": lambda pairs: [[train.tolist(), test.tolist()] for train, test in pairs],
    "tuples": lambda pairs: tuple((tuple(train), tuple(test)) for train, test in pairs),
    "small integers": lambda pairs: [
        (train.astype(np.uint8), test.astype(np.int16)) for train, test in pairs
    ],
    "a generator": lambda pairs: (pair for pair in pairs),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_lists_that_partition_the_rows_are_kept_like_drawn_folds(container):
    """At every level they are stored as one small integer per row, with the same splits."""
    kept, drawn = CONTAINERS[container], plan_of(Recipe(5, 3), numbers(31))
    outer, inner = list(drawn.outer), [list(splits) for splits in drawn.inner]
    plan = plan_of(Recipe(kept(outer), [kept(splits) for splits in inner]), numbers(31))
    assert plan == drawn
    for mine, theirs in zip(
        [plan.outer_layout, *plan.inner_layouts],
        [drawn.outer_layout, *drawn.inner_layouts],
        strict=True,
    ):
        assert isinstance(mine, Partition)
        assert mine.label.tolist() == theirs.label.tolist()
    assert isinstance(
        plan_of(Recipe(None, kept(outer)), numbers(31)).inner_layouts[0], Partition
    )
    assert Plan.from_json(plan.to_json()) == drawn


def test_inner_lists_are_folds_of_the_rows_that_their_outer_split_leaves():
    """Also if the outer training part leaves out rows; lists in another order stay lists."""
    outer = [([0, 1, 2, 3], [6]), ([5, 4, 1, 0], [2, 3]), ([0, 1, 2], [3])]
    inner = [[([2, 3], [0, 1]), ([0, 1], [2, 3])], [([4, 5], [0, 1])], [([0], [1])]]
    plan = plan_of(Recipe(outer, inner), numbers(7))
    assert [type(layout) for layout in plan.inner_layouts] == [Partition, Pairs, Pairs]
    for splits, expected in zip(plan.inner, inner, strict=True):
        assert_same_splits(splits, expected)


@pytest.mark.parametrize(
    "family", [ridge(), lasso(), knn(k=[1, 3, 7], scale=False, task="regression")]
)
def test_folds_as_lists_take_the_path_of_drawn_folds(family):
    """The same computation, so the same numbers to the last bit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = X @ [1.0, 2.0, 0.0, 0.0] + rng.normal(size=90)
    drawn = Recipe(5, 3).run(family, X, y)
    given = Recipe(
        list(drawn.plan.outer), [list(splits) for splits in drawn.plan.inner]
    ).run(family, X, y)
    assert given.path == drawn.path
    assert given.path.startswith("shared:")
    assert np.array_equal(given.inner_curves, drawn.inner_curves)
    assert np.array_equal(given.fold_risks, drawn.fold_risks)
    assert np.array_equal(given.predictions, drawn.predictions)


class Counted(list):
    """A list that counts how often its numbers are read one by one."""

    read = 0

    def __iter__(self):
        for number in super().__iter__():
            Counted.read += 1
            yield number


def test_the_words_of_long_lists_do_not_read_them():
    """A repr gives the number of splits without formatting two million numbers first."""
    recipe = Recipe(
        [
            (Counted(range(1, 1000)), Counted([0])),
            (Counted([0]), Counted(range(1, 1000))),
        ],
        None,
    )
    Counted.read = 0
    assert repr(recipe) == "Recipe(outer=<2 given splits>, inner=None, seed=0)"
    assert Counted.read < 100


def test_leave_one_out_as_lists_costs_no_more_than_reading_them():
    """The numbers given are many; each is looked at a few times, none sorted."""
    splits = list(LeaveOneOut().split(columns(2000)))
    recipe, y = Recipe(splits, None), numbers(2000)

    def seconds(do):
        times = []
        for _ in range(4):
            started = time.perf_counter()
            do()
            times.append(time.perf_counter() - started)
        return min(times)

    read = seconds(
        lambda: [(train.astype(np.int32).max(), test.max()) for train, test in splits]
    )
    # 5 times; 70 times with masks and sorts of every list
    assert seconds(lambda: plan_of(recipe, y)) < 20 * read


def test_a_row_may_be_trained_on_twice():
    """A list may repeat a training row, as a bootstrap does; only train ∩ test is refused."""
    splits = [([0, 0, 1, 3], [2, 4]), ([4, 4, 2], [0, 1])]
    assert_same_splits(
        plan_of(Recipe(outer=None, inner=splits), numbers(6)).inner[0], splits
    )


class Bootstrap(BaseCrossValidator):
    """Draws training and test rows with replacement."""

    def split(self, X, y=None, groups=None):
        rng = np.random.default_rng(0)
        for _ in range(3):
            yield rng.integers(0, len(X), len(X)), rng.integers(0, len(X), len(X))

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


def test_an_outer_bootstrap_is_refused():
    """Rows that a bootstrap repeats across training and test part are named."""
    with pytest.raises(
        RecipeError,
        match=r"outer split 0 has row \d+ .* in its training and its test part.*bootstrap",
    ):
        plan_of(Recipe(outer=Bootstrap(), inner=3), numbers(20))


def test_an_inner_bootstrap_is_refused_naming_both_levels():
    """The message names the inner and the outer split."""
    with pytest.raises(RecipeError, match="inner split 0 of outer split 0 has row"):
        plan_of(Recipe(outer=3, inner=Bootstrap()), numbers(20))


# Rows that came with the data


def test_test_rows_are_kept_exactly():
    """test_rows is the outer test part, all other rows the training part."""
    plan = plan_of(Recipe(test_rows=[7, 3, 11]), numbers(20))
    (train, test), *more = plan.outer
    assert not more
    assert sorted(test) == [3, 7, 11]
    assert train.tolist() == [i for i in range(20) if i not in (3, 7, 11)]


def test_dev_rows_are_kept_exactly_inside_test_rows():
    """train/dev/test as they came: the dev rows choose, the rest trains, the test rows measure."""
    plan = plan_of(
        Recipe.train_validation_test(test_rows=[0, 1], dev_rows=[5, 2]), numbers(10)
    )
    (train, dev), *more = plan.inner[0]
    assert not more
    assert sorted(dev) == [2, 5]
    assert train.tolist() == [3, 4, 6, 7, 8, 9]
    assert sorted(plan.outer[0][1]) == [0, 1]


def test_dev_rows_without_an_outer_level_are_kept_exactly():
    """dev_set(dev_rows=...) tunes on them and trains on all the rest."""
    plan = plan_of(Recipe.dev_set(dev_rows=[9, 0]), numbers(10))
    assert_same_splits(plan.inner[0], [(list(range(1, 9)), [0, 9])])


def test_dev_rows_are_never_tested_on():
    """With dev_rows an outer holdout is drawn from the other rows, as a share of all rows."""
    dev = [1, 4, 16, 9]
    plan = plan_of(Recipe(outer=0.3, dev_rows=dev), numbers(20))
    assert not set(plan.outer[0][1]) & set(dev)
    assert plan.outer[0][1].size == 6
    assert sorted(plan.inner[0][0][1]) == sorted(dev)


@pytest.mark.parametrize("rows", [[20], [-1], [3, 99]], ids=str)
@pytest.mark.parametrize("option", ["test_rows", "dev_rows"])
def test_fixed_rows_out_of_range_are_refused(option, rows):
    """Row numbers are those of the data."""
    with pytest.raises(
        RecipeError, match=f"{option} names row .*, but the rows are 0 to 19"
    ):
        plan_of(Recipe(**{"outer": 0.2, option: rows}), numbers(20))


def test_dev_rows_among_the_test_rows_are_refused():
    """A row cannot choose and measure."""
    with pytest.raises(CvnbError, match="dev_rows holds row 3"):
        plan_of(Recipe(test_rows=[3, 4], dev_rows=[3, 5]), numbers(20))


def test_all_rows_as_test_rows_are_refused():
    """Some row must be left to train on."""
    with pytest.raises(CvnbError, match=r"empty|no row"):
        Recipe(test_rows=range(20), inner=None).run(
            Ridge(), columns(20), numbers(20), progress="off"
        )


def test_a_buffer_that_leaves_no_training_row_is_refused():
    """Seven rows, one tested on, and three on both of its sides thrown away."""
    recipe = Recipe.leave_one_out(time_ordered=True, buffer=3)
    with pytest.raises(InfeasibleError, match="outer split 3 has an empty part"):
        recipe.run(Ridge(), columns(7), numbers(7), progress="off")


def test_a_buffer_around_test_rows_is_thrown_away():
    """Rows near a test row that came with the data are trained on at neither level."""
    plan = plan_of(
        Recipe(test_rows=[10, 11], time_ordered=True, buffer=2, inner=2), numbers(20)
    )
    assert plan.outer[0][0].tolist() == [*range(8), *range(14, 20)]
    assert plan.audit().ok


def test_dev_rows_next_to_a_drawn_test_part_keep_the_buffer():
    """A recipe whose buffer around dev rows is impossible is refused."""
    assert (
        plan_of(
            Recipe(outer=0.2, dev_rows=[20, 22], time_ordered=True, buffer=3),
            numbers(60),
        )
        .audit()
        .ok
    )
    with pytest.raises(
        InfeasibleError,
        match="dev_rows holds row 55, which is not among the training rows",
    ):
        plan_of(
            Recipe(outer=0.2, dev_rows=[55, 57], time_ordered=True, buffer=3),
            numbers(60),
        )


def test_the_groups_of_dev_rows_are_not_tested_on():
    """With dev_rows a holdout cuts no group, and the groups of dev rows are trained on."""
    groups = np.repeat(np.arange(10), 4)
    plan = plan_of(Recipe(outer=0.3, dev_rows=np.arange(8)), numbers(40), groups)
    assert plan.audit().ok
    cut = plan_of(Recipe(outer=0.3, dev_rows=[0, 9]), numbers(40), groups)
    assert not set(groups[cut.outer[0][0]]) & set(groups[cut.outer[0][1]])


# One seed


SEEDED = {
    "folds": Recipe(outer=4, inner=3),
    "holdouts": Recipe.train_validation_test(),
    "resampling": Recipe.nested_resampling(3, 3),
    "internal": Recipe.internal_cv(4),
}


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize("groups", [None, np.arange(40) // 2], ids=["rows", "groups"])
@pytest.mark.parametrize(
    "y", [numbers(40), np.arange(40) % 2], ids=["numbers", "classes"]
)
def test_another_seed_draws_other_splits(name, groups, y):
    """The seed decides shuffled splits of every kind."""
    recipe = SEEDED[name]
    other = Recipe(outer=recipe.outer, inner=recipe.inner, seed=1)
    assert plan_of(recipe, y, groups) != plan_of(other, y, groups)


@pytest.mark.parametrize("name", SEEDED)
def test_the_global_random_state_neither_matters_nor_moves(name):
    """Splits are drawn from the recipe's seed alone, and NumPy's global state is left as it was."""
    y = np.arange(40) % 2
    first = plan_of(SEEDED[name], y)
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    second = plan_of(SEEDED[name], y)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert first == second


def test_a_splitter_with_a_random_state_draws_the_same_again_and_is_left_alone():
    """A RandomState inside a splitter is copied: two plans agree, and it has not moved."""
    state = np.random.RandomState(3)
    splitter = ShuffleSplit(3, random_state=state)
    recipe, before = Recipe(outer=splitter, inner=splitter), state.get_state()[1].copy()
    assert plan_of(recipe, numbers(20)) == plan_of(recipe, numbers(20))
    assert np.array_equal(state.get_state()[1], before)


def test_a_plan_does_not_depend_on_the_values_of_X_or_of_numbers():
    """Splits are a function of recipe, rows, classes and groups."""
    plan = Recipe().plan(columns(30), numbers(30))
    assert plan == Recipe().plan(np.zeros((30, 3)), -numbers(30) + 7)


def test_a_plan_of_a_frame_is_that_of_its_values():
    """Index labels play no part, nor do those of y and of the groups."""
    y, groups = np.arange(30) % 2, np.arange(30) // 3
    index = np.random.default_rng(0).permutation(30)
    frame = pd.DataFrame(columns(30), index=index)
    given = Recipe().plan(
        frame, pd.Series(y, index=index), groups=pd.Series(groups, index=index[::-1])
    )
    assert given == Recipe().plan(columns(30), y, groups=groups)


@pytest.mark.parametrize(
    "groups",
    [
        np.array(list("abcdefghij")),
        [f"p{i:02}" for i in range(10)],
        np.arange(10) * 7 - 3,
    ],
    ids=str,
)
def test_the_names_of_groups_do_not_matter(groups):
    """Groups as strings, integers and floats in the same order give the same splits."""
    codes = np.arange(30) % 10
    named = np.asarray(groups)[codes]
    for y in (numbers(30), np.arange(30) % 3):
        assert plan_of(Recipe(outer=3, inner=2), y, named) == plan_of(
            Recipe(outer=3, inner=2), y, codes
        )


def test_a_run_uses_the_plan_that_the_recipe_draws():
    """recipe.plan(X, y, family, groups) is result.plan, whatever the number of workers."""
    X, y, groups = columns(40), np.arange(40) % 2, np.arange(40) // 2
    recipe = Recipe(outer=3, inner=2, seed=5)
    for family in (
        knn(k=[1, 3]),
        Family(KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
        logistic(C=[1.0]),
    ):
        plan = recipe.plan(X, y, family, groups)
        assert recipe.run(family, X, y, groups=groups, progress="off").plan == plan


def test_two_families_share_the_splits_of_one_recipe():
    """The family does not enter the draw, as long as its task is the same."""
    X, y = columns(40), np.arange(40) % 2
    plans = [
        Recipe().plan(X, y, family)
        for family in (
            knn(),
            logistic(),
            Family(KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
            None,
        )
    ]
    assert all(plan == plans[0] for plan in plans)


def test_a_grid_search_brings_its_cv_where_inner_is_auto():
    """inner="auto" takes the cv of a GridSearchCV as given; any other inner leaves it aside."""
    y = np.arange(40) % 2
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, cv=ShuffleSplit(3, random_state=4)
    )
    assert plan_of(Recipe(), y, family=search) == plan_of(
        Recipe(inner=ShuffleSplit(3, random_state=4)), y
    )
    assert plan_of(Recipe(inner=4), y, family=search) == plan_of(Recipe(inner=4), y)


def test_a_number_as_cv_of_a_grid_search_is_what_scikit_learn_makes_of_it():
    """GridSearchCV(cv=3) splits without shuffling, stratified for a classifier only."""
    y = np.arange(40) % 2
    for family, splitter in (
        ((LogisticRegression(), TWO_C), StratifiedKFold(3)),
        ((Ridge(), TWO_ALPHAS), KFold(3)),
    ):
        plan = plan_of(Recipe(), y, family=GridSearchCV(*family, cv=3))
        expected = plan_of(Recipe(inner=splitter), y, family=Family(*family))
        assert len(plan.inner[0]) == 3
        assert plan == expected


def test_a_grid_search_without_cv_leaves_five_shuffled_folds():
    """cv=None names no splitter."""
    y = np.arange(40) % 2
    assert plan_of(
        Recipe(), y, family=GridSearchCV(LogisticRegression(), TWO_C)
    ) == plan_of(Recipe(inner=5), y)


@pytest.mark.parametrize("cv", [1, 0, 0.3, "five"])
def test_a_cv_of_a_grid_search_that_splits_nothing_is_refused_by_name(cv):
    """The message names the cv of the GridSearchCV, as an error of cvnb."""
    with pytest.raises(CvnbError, match="cv"):
        plan_of(Recipe(), numbers(40), family=GridSearchCV(Ridge(), {}, cv=cv))


def test_groups_reach_a_grid_search_whose_cv_is_a_number():
    """A bare number knows nothing of groups, so folds are drawn that keep them."""
    y, groups = np.arange(40) % 2, np.arange(40) // 2
    plan = plan_of(
        Recipe(outer=4), y, groups, GridSearchCV(LogisticRegression(), TWO_C, cv=3)
    )
    assert plan.audit().ok
    assert [len(splits) for splits in plan.inner] == [3] * 4


def test_different_cvs_in_one_comparison_are_refused_unless_inner_is_given():
    """Families on one plan need one inner splitter."""
    y = np.arange(40) % 2
    families = {n: GridSearchCV(LogisticRegression(), TWO_C, cv=n) for n in ("a", "b")}
    families["a"].cv, families["b"].cv = 3, KFold(3, shuffle=True, random_state=0)
    with pytest.raises(
        RecipeError,
        match=r"the families bring different inner splitters .*; give inner=",
    ):
        plan_of(Recipe(), y, family=families)
    assert plan_of(Recipe(inner=4), y, family=families) == plan_of(Recipe(inner=4), y)


def test_the_cv_of_a_family_that_leaves_nothing_to_choose_does_not_count():
    """Its inner splitter is used for an ensemble alone; the others' cv splits for all."""
    y = np.arange(40) % 2
    families = {
        "one": GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=4),
        "two": GridSearchCV(LogisticRegression(), TWO_C, cv=KFold(3)),
    }
    assert [len(splits) for splits in plan_of(Recipe(), y, family=families).inner] == [
        3
    ] * 5


def test_long_cvs_that_differ_in_the_middle_are_different():
    """Two PredefinedSplits of 2,000 rows with equal reprs are distinguished."""
    fold = np.arange(1600) % 3
    other = fold.copy()
    other[800:810] = (other[800:810] + 1) % 3
    outer = [(np.arange(1600), np.arange(1600, 2000))]
    families = {
        name: GridSearchCV(Ridge(), {}, cv=PredefinedSplit(test_fold))
        for name, test_fold in (("a", fold), ("b", other))
    }
    with pytest.raises(
        RecipeError, match="the families bring different inner splitters"
    ):
        plan_of(Recipe(outer=outer), numbers(2000), family=families)


def test_a_comparison_of_two_tasks_has_no_plan():
    """A regressor and a classifier are not run on one plan."""
    with pytest.raises(FamilyError, match="a comparison needs one task"):
        plan_of(
            Recipe(),
            np.arange(40) % 2,
            family={"a": Ridge(), "b": LogisticRegression()},
        )


# Rare classes


def with_rare(n_rows=40, size=3, name="rare"):
    """Two large classes and a small one, in words."""
    y = np.array(["a", "b"])[np.arange(n_rows) % 2].astype(object)
    y[:size] = name
    return y.astype(str)


def test_a_rare_class_gets_one_warning_naming_it_its_size_and_the_splits():
    """stratify="auto": one CvnbWarning for both levels together, kept in the notes of the plan."""
    with pytest.warns(
        CvnbWarning,
        match=r"Class 'rare' has 3 rows, fewer than the 5 outer folds.*outer split",
    ) as caught:
        plan = plan_of(Recipe(), with_rare())
    assert len(caught) == 1
    assert [note for note in plan.notes if "'rare'" in note] == [str(caught[0].message)]


def test_two_rare_classes_get_a_warning_each():
    """Every small class is named."""
    y = np.array([*"aaaaaaaaaaaaaabbbbbbbbbbbbbbbbcccddd"])
    with pytest.warns(CvnbWarning) as caught:
        plan_of(Recipe(inner=None), y)
    assert [str(w.message).split(",")[0] for w in caught] == [
        "Class 'c' has 3 rows",
        "Class 'd' has 3 rows",
    ]


def test_a_class_that_is_rare_inside_only_names_the_outer_splits():
    """Five rows suffice for five outer folds, but four of them not for five inner folds."""
    text = (
        "Class 'rare' has 4 rows in the training part of outer split 0, 1, 2, 3, 4, fewer "
        "than the 5 inner folds"
    )
    with pytest.warns(CvnbWarning, match=text):
        plan_of(Recipe(), with_rare(size=5))


def test_a_rare_class_is_spread_as_far_as_its_size_allows():
    """Three rows of a class are in three different outer test parts."""
    y = with_rare()
    plan = quietly(Recipe(inner=None), y)
    assert sorted(np.sum(y[test] == "rare") for _, test in plan.outer) == [
        0,
        0,
        1,
        1,
        1,
    ]


def test_a_rare_class_of_a_grid_search_with_a_number_as_cv_gets_one_warning():
    """With GridSearchCV(cv=5) a caution replaces scikit-learn's warning per splitter."""
    search = GridSearchCV(LogisticRegression(), {}, cv=5)
    with pytest.warns(CvnbWarning, match="Class 'rare' has 3 rows") as caught:
        plan_of(Recipe(), with_rare(), family=search)
    assert [w.category for w in caught] == [CvnbWarning]


def test_a_rare_class_is_refused_with_stratify_true_naming_the_largest_number_of_folds():
    """The message names class, size and the largest K that works; that K works."""
    y = with_rare()
    with pytest.raises(
        InfeasibleError,
        match=r"Class 'rare' has 3 rows, fewer than the 5 outer folds; use outer<=3",
    ):
        plan_of(Recipe(stratify=True), y)
    assert len(plan_of(Recipe(outer=3, inner=2, stratify=True), y).outer) == 3


def test_a_class_that_is_rare_inside_is_refused_with_stratify_true():
    """The inner level is checked too, and the K that is named works."""
    y = with_rare()
    with pytest.raises(
        InfeasibleError,
        match=r"Class 'rare' has 2 rows, fewer than the 5 inner folds .*; use inner<=2",
    ):
        plan_of(Recipe(outer=3, stratify=True), y)
    assert len(plan_of(Recipe(outer=3, inner=2, stratify=True), y).inner[0]) == 2


@pytest.mark.parametrize(
    "splitter",
    [
        StratifiedKFold(5),
        StratifiedKFold(5, shuffle=True, random_state=0),
        RepeatedStratifiedKFold(n_splits=5),
    ],
    ids=["plain", "shuffled", "repeated"],
)
def test_a_rare_class_is_refused_by_an_explicit_stratified_splitter(splitter):
    """Naming the class, its size and the largest number of folds."""
    with pytest.raises(
        InfeasibleError,
        match=r"Class 'rare' has 3 rows, fewer than outer=.* the largest n_splits that works is 3",
    ):
        plan_of(Recipe(outer=splitter, inner=None), with_rare())


def test_a_rare_class_is_refused_by_an_explicit_stratified_inner_splitter():
    """Also for inner folds, after the outer split took a row of it."""
    with pytest.raises(
        InfeasibleError,
        match=r"Class 'rare' has 2 rows, fewer than inner=.* the largest n_splits that works is 2",
    ):
        plan_of(Recipe(outer=3, inner=StratifiedKFold(3)), with_rare())


def test_a_class_of_one_row_is_refused_with_stratify_true():
    """No number of folds keeps one row in proportion."""
    with pytest.raises(
        InfeasibleError, match=r"Class 'rare' has 1 rows?, .*merge or drop it"
    ):
        plan_of(Recipe(stratify=True), with_rare(size=1))


def test_one_row_is_singular():
    """A class of one row "has 1 row"."""
    with pytest.warns(CvnbWarning, match="Class 'rare' has 1 row, fewer"):
        plan_of(Recipe(inner=None), with_rare(size=1))


def test_a_holdout_of_a_class_of_one_row_is_drawn_all_the_same():
    """stratify="auto" keeps the other classes in proportion."""
    y = with_rare(size=1)
    plan = quietly(Recipe.train_validation_test(), y)
    counts = Counter(y[plan.outer[0][1]])
    assert abs(counts["a"] - counts["b"]) <= 2


def test_classes_that_are_all_rare_are_not_stratified_with_a_warning():
    """Twenty classes of two rows: folds are drawn without strata."""
    y = np.array([f"c{i // 2}" for i in range(40)])
    with pytest.warns(
        CvnbWarning,
        match="Every class has fewer rows than the 5 outer folds: these folds are not stratified",
    ):
        plan = plan_of(Recipe(inner=None), y)
    assert_same_splits(
        plan.outer, KFold(5, shuffle=True, random_state=0).split(columns(40))
    )


# What does not fit


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (
            Recipe(outer=21, inner=None),
            "21 outer folds need 21 rows, but there are 20; use outer<=20",
        ),
        (
            Recipe(outer=2, inner=11),
            "11 inner folds need 11 rows, but outer training part 0 has 10; use inner<=10",
        ),
        (Recipe(outer=0.99), "leaves an empty part"),
        (Recipe.train_validation_test(0.5, 0.49), "leaves an empty part"),
        (Recipe(outer=0.5, time_ordered=True, buffer=10), "no row is left to train on"),
    ],
    ids=repr,
)
def test_too_few_rows_are_refused_saying_what_would_work(recipe, message):
    """More folds than rows, parts without rows."""
    with pytest.raises(InfeasibleError, match=message):
        plan_of(recipe, numbers(20))


@pytest.mark.parametrize(
    ("n_groups", "message"),
    [
        (3, "5 outer folds need 5 groups, but there are 3; use outer<=3"),
        (
            5,
            "5 inner folds need 5 groups, but outer training part 0 has 4; use inner<=4",
        ),
    ],
)
def test_fewer_groups_than_folds_are_refused(n_groups, message):
    """Folds are made of groups, not of rows."""
    with pytest.raises(InfeasibleError, match=message):
        plan_of(Recipe(), numbers(30), np.arange(30) % n_groups)


def test_groups_out_of_order_are_refused_for_time_blocks():
    """A group scattered over time cannot be kept whole in order."""
    with pytest.raises(InfeasibleError, match="do not follow each other"):
        plan_of(Recipe(outer=3, time_ordered=True), numbers(30), np.arange(30) % 6)


# The second look


def audit_of(splits, n_rows=12, groups=None, X=None, y=None):
    """Findings about given outer splits."""
    X = columns(n_rows) if X is None else X
    y = numbers(n_rows) if y is None else y
    return Recipe(outer=splits, inner=None).plan(X, y, groups=groups).audit()


CLEAN = [([0, 1, 2, 3], [6, 7]), ([6, 7, 8, 9], [0, 1]), ([4, 5], [10, 11])]


def test_an_audit_of_clean_lists_finds_nothing():
    """Splits that keep groups apart and repeat no row have no finding."""
    audit = audit_of(CLEAN, groups=np.arange(12) // 2)
    assert audit.ok
    assert audit.n_splits == 3


def test_an_audit_finds_exactly_a_planted_group():
    """A group on both sides of one split is one finding, with the split and the number of rows."""
    audit = audit_of(
        [CLEAN[0], ([6, 7, 8, 9, 1], [0, 10]), CLEAN[2]], groups=np.arange(12) // 2
    )
    assert not audit.ok
    assert list(audit.findings) == ["outer split 1: 1 row of cut groups on both sides"]


def test_an_audit_finds_exactly_planted_repeated_rows():
    """Rows equal in X and y on both sides are found; equal rows on one side are not."""
    X, y = columns(12).copy(), numbers(12)
    # split 1 trains and tests on neither, split 2 tests on one of them only
    X[[3, 11]], y[[3, 11]] = 99.0, 5.0
    X[[6, 7]], y[[6, 7]] = 77.0, 4.0  # always together
    audit = audit_of([([0, 1, 3], [6, 7, 11]), CLEAN[1], CLEAN[2]], X=X, y=y)
    assert list(audit.findings) == ["outer split 0: 1 repeated row on both sides"]


def test_rows_equal_in_X_alone_are_no_repeated_rows():
    """The target belongs to the row."""
    assert audit_of([([0, 1, 2], [3, 4, 5])], X=np.zeros((12, 2))).ok


@pytest.mark.parametrize(
    "kind", ["array", "negative zero", "frame", "missing", "words", "float32", "sparse"]
)
def test_repeated_rows_are_found_in_any_table(kind):
    """Rows are compared by value, whatever holds them."""
    values = np.arange(12.0)
    values[[2, 5]] = 0.0
    y = np.where(np.isin(np.arange(12), [2, 5]), 0.5, numbers(12) + 1)
    X: Any = np.column_stack([values, values % 3])
    if kind == "negative zero":
        X[5] = -0.0
    elif kind == "frame":
        X = pd.DataFrame({"a": X[:, 0], "b": [f"w{v}" for v in X[:, 1]]})
    elif kind == "missing":
        X = pd.DataFrame(np.where(X == 0, np.nan, X))
    elif kind == "words":
        X = np.array([[f"w{a}", f"v{b}"] for a, b in X], dtype=object)
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "sparse":
        sp = pytest.importorskip("scipy.sparse")
        X = sp.csr_array(X)
    audit = audit_of([([0, 2, 3], [4, 5]), ([6, 7], [2, 5])], X=X, y=y)
    assert list(audit.findings) == ["outer split 0: 1 repeated row on both sides"]


@pytest.mark.parametrize("kind", ["array", "frame", "objects"])
def test_rows_of_minus_one_and_of_minus_two_are_no_repeated_rows(kind):
    """Python hashes -1 and -2 to the same value; rows are compared by value."""
    X: Any = np.where(np.arange(12) < 6, -1.0, -2.0)[:, None]
    X = (
        pd.DataFrame(X)
        if kind == "frame"
        else np.column_stack([X, X]).astype(object)
        if kind == "objects"
        else X
    )
    audit = audit_of([(range(6), range(6, 12))], X=X, y=np.tile(numbers(6), 2))
    assert audit.ok


def test_shuffled_folds_of_repeated_rows_are_legal_and_the_audit_counts_them():
    """S is a multiset: repeated rows are split like any others, and the audit counts them."""
    X, y = np.repeat(np.arange(10.0), 2)[:, None], np.repeat(numbers(10), 2)
    plan = Recipe(outer=4, inner=None).plan(X, y)
    expected = []
    for j, (train, test) in enumerate(plan.outer):
        both = sum(X[t, 0] in X[train, 0] for t in test)
        expected += (
            [f"outer split {j}: {both} repeated row{'s' * (both > 1)} on both sides"]
            if both
            else []
        )
    assert list(plan.audit().findings) == expected
    assert expected


def test_an_audit_finds_exactly_a_planted_buffer_violation():
    """One training row too near to a test row, planted at the inner level of a record."""
    plan = plan_of(
        Recipe(outer=0.25, inner=0.25, time_ordered=True, buffer=2), numbers(24)
    )
    (train, test), learn = plan.inner[0][0], plan.outer[0][0]
    assert plan.audit().ok
    broken = Recipe(
        outer=list(plan.outer), inner=[[(np.append(train, test[0] - 1), test)]]
    ).plan(columns(24), numbers(24))
    record = json.loads(broken.to_json()) | {"buffer": 2}
    assert learn.size == 16
    findings = Plan.from_json(json.dumps(record)).audit().findings
    assert list(findings) == [
        "inner split 0 of outer split 0: 1 training row within the buffer of 2 rows"
    ]


def test_an_audit_finds_exactly_planted_rows_on_both_sides():
    """A record edited by hand so that a row is trained on and tested on is found out."""
    plan = plan_of(
        Recipe(outer=[([0, 1, 2], [3, 4]), ([3, 4], [0, 1])], inner=None), numbers(6)
    )
    record = json.loads(plan.to_json())
    record["outer"]["pairs"][1][0] = record["outer"]["pairs"][0][0]
    findings = Plan.from_json(json.dumps(record)).audit().findings
    assert list(findings) == ["outer split 1: 2 rows on both sides"]


def test_an_audit_names_inner_splits_inside_their_outer_split():
    """A group cut by inner lists only is found there."""
    groups = np.arange(12) // 2
    outer = [([0, 1, 2, 3, 4, 5], [6, 7]), ([6, 7, 8, 9, 10, 11], [0, 1])]
    inner = [[([0, 1], [2, 3])], [([6, 7], [8, 9]), ([6, 7, 10], [11, 8])]]
    plan = Recipe(outer=outer, inner=inner).plan(
        columns(12), numbers(12), groups=groups
    )
    assert list(plan.audit().findings) == [
        "inner split 1 of outer split 1: 1 row of cut groups on both sides",
    ]


def test_an_audit_of_given_folds_with_groups_finds_what_the_splitter_ignored():
    """KFold is used as given, and the audit reports the cut groups."""
    plan = plan_of(Recipe(outer=KFold(4), inner=None), numbers(12), np.arange(12) // 2)
    assert not plan.audit().ok
    assert all("groups" in finding for finding in plan.audit().findings)


@pytest.mark.parametrize(
    "keywords",
    [
        {"outer": KFold(4)},
        {"outer": 3, "inner": KFold(3)},
        {"test_rows": [0, 3, 8]},
        {"outer": None, "dev_rows": [0, 5]},
    ],
    ids=["outer", "inner", "test rows", "dev rows"],
)
def test_a_run_notes_that_given_splits_cut_groups(keywords):
    """What is used as given may cut groups; it is never silent about it."""
    result = Recipe(**keywords).run(
        Family(Ridge(), TWO_ALPHAS),
        columns(12),
        numbers(12),
        groups=np.arange(12) // 2,
        progress="off",
    )
    assert any("groups" in note for note in result.notes)


def test_the_audit_shows_itself_in_a_few_lines():
    """A count, and a line per finding."""
    audit = audit_of([([0, 1], [2, 4]), ([4, 5], [6])], groups=np.arange(12) // 4)
    lines = repr(audit).splitlines()
    assert len(lines) == 3
    assert "of 2" in lines[0] or "2 splits" in lines[0]
    assert "outer split 0: 1 row of cut groups" in lines[1]


# The record


RECORDED = {
    "train_validation_test": Recipe.train_validation_test(),
    "cv_test": Recipe.cv_test(),
    "resampling_test": Recipe.resampling_test(),
    "nested_cv": Recipe.nested_cv(),
    "nested_dev": Recipe.nested_dev(),
    "nested_resampling": Recipe.nested_resampling(4, 3),
    "external_cv": Recipe.external_cv(),
    "internal_cv": Recipe.internal_cv(),
    "dev_set": Recipe.dev_set(),
    "validation": Recipe.validation(),
    "leave_one_out": Recipe.leave_one_out(),
    "loo x loo": Recipe(outer="loo", inner="loo"),
    "time": Recipe(outer=3, inner=3, time_ordered=True, buffer=2),
    "test and dev rows": Recipe(test_rows=[1, 2], dev_rows=[5]),
    "splitters": Recipe(outer=ShuffleSplit(3, random_state=0), inner=LeaveOneOut()),
    "lists": Recipe(
        outer=[([5, 3, 1, 0], [2, 4])], inner=[[([5, 3], [0]), ([0, 1], [3, 5])]]
    ),
    "inner lists": Recipe(outer=None, inner=[([5, 3], [0]), ([0, 1], [3, 5])]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_every_recipe_reads_back_from_its_record(name):
    """The plan read back has the same splits, findings and text, with groups and repeated rows."""
    X, y, groups = columns(30).copy(), numbers(30), np.arange(30) // 2
    X[7], y[7] = X[20], y[20]
    plan = RECORDED[name].plan(X, y, groups=None if name == "splitters" else groups)
    again = Plan.from_json(plan.to_json())
    assert again == plan
    for j, splits in enumerate(plan.inner):
        assert_same_splits(again.inner[j], splits)
    assert again.audit().findings == plan.audit().findings
    assert repr(again) == repr(plan)


@pytest.mark.parametrize("name", RECORDED)
def test_a_plan_survives_pickling(name):
    """The plan read back equals the one that was written."""
    plan = RECORDED[name].plan(columns(30), numbers(30))
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_the_record_is_plain_json():
    """Any reader of JSON can open it: no NaN, no bytes."""
    record = json.loads(
        plan_of(Recipe(), numbers(30)).to_json(),
        parse_constant=lambda name: pytest.fail(name),
    )
    assert record["n_rows"] == 30


PRINT_RECORDS = """
import numpy as np, pandas as pd
from cvnb import Recipe
X = pd.DataFrame({"word": [f"w{i % 7}" for i in range(42)], "number": np.arange(42) % 6.0})
y = np.array(["a", "b", "c"])[np.arange(42) % 3]
groups = np.array([f"g{i % 21}" for i in range(42)], dtype=object)
for levels in ((3, 2), (3, "loo"), ("loo", None)):
    recipe = Recipe(*levels)
    print(recipe.plan(X, y, groups=groups).to_json())
    print(recipe.plan(X, y).to_json(), recipe.plan(X, y).audit())
print(Recipe.nested_resampling(2, 2).plan(X, y).to_json())
"""


def test_the_record_is_the_same_text_in_every_process():
    """The text depends neither on the seed of Python's hashes nor on the process."""
    out = []
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", PRINT_RECORDS],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        out.append(run.stdout)
    assert out[0] == out[1]
    assert out[0].count('"format"') == 7


class NoRepr:
    """A splitter of the user's own without a repr."""

    def split(self, X, y=None, groups=None):
        yield np.arange(len(X) // 2), np.arange(len(X) // 2, len(X))

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1


@pytest.mark.parametrize(
    "outer",
    [lambda: NoRepr(), lambda: iter([([0, 1], [2])])],
    ids=["splitter", "iterator"],
)
def test_the_record_holds_no_memory_address(outer):
    """The text of equal plans is equal whatever object the recipe was given."""
    texts = [
        plan_of(Recipe(outer=outer(), inner=None), numbers(6)).to_json()
        for _ in range(2)
    ]
    assert " at 0x" not in texts[0]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "text", ["", "hello", "{}", "[]", "3", '{"format": "cvnb plan 0"}', None]
)
def test_text_that_is_no_record_is_refused(text):
    """from_json reads only records of to_json."""
    with pytest.raises(
        RecipeError, match=r"this text is no plan written by Plan\.to_json\(\)"
    ):
        Plan.from_json(text)


# A plan is a list of lists of arrays


def test_splits_behave_like_lists():
    """Length, indices from both ends, slices, iteration; an index beyond the end is an error."""
    plan = plan_of(Recipe(outer=4, inner=3), numbers(30))
    assert (len(plan.outer), len(plan.inner), len(plan.inner[0])) == (4, 4, 3)
    assert_same_splits(plan.outer[1:3], [plan.outer[1], plan.outer[2]])
    assert_same_splits([plan.outer[-1]], [plan.outer[3]])
    assert_same_splits(plan.inner[-1], plan.inner[3])
    assert [len(splits) for splits in plan.inner[:2]] == [3, 3]
    with pytest.raises(IndexError, match="split 4 of 4"):
        plan.outer[4]
    with pytest.raises(IndexError, match="outer split 4 of 4"):
        plan.inner[4]
    with pytest.raises(IndexError, match="split 3 of 3"):
        plan.inner[0][3]


def test_without_an_outer_level_there_are_no_outer_splits():
    """plan.outer is empty, and plan.inner[0] splits all of S."""
    plan = plan_of(Recipe.internal_cv(4), numbers(20))
    assert list(plan.outer) == []
    assert len(plan.inner) == 1
    assert sorted(np.concatenate([test for _, test in plan.inner[0]])) == list(
        range(20)
    )


def test_without_an_inner_level_there_are_no_inner_splits():
    """plan.inner[j] is empty for every outer split."""
    plan = plan_of(Recipe.external_cv(4), numbers(20))
    assert [list(splits) for splits in plan.inner] == [[]] * 4


def test_changing_a_part_changes_no_plan():
    """Arrays are made on demand: writing into one leaves the plan alone."""
    plan = plan_of(Recipe(outer=[([0, 1], [2, 3])], inner=None), numbers(4))
    plan.outer[0][0][:] = 3
    assert plan.outer[0][0].tolist() == [0, 1]
    assert plan.audit().ok


def test_row_numbers_are_integers_of_numpy():
    """Every part is an int64 array, so it can index anything."""
    plan = plan_of(Recipe(outer=4, inner=3), numbers(30))
    parts = [part for _, splits in levels(plan) for pair in splits for part in pair]
    assert {part.dtype for part in parts} == {np.dtype(np.int64)}


def test_a_plan_is_unequal_to_other_plans_and_things():
    """Equality compares splits."""
    plan = plan_of(Recipe(), numbers(30))
    assert plan != plan_of(Recipe(), numbers(31))
    assert plan != plan_of(Recipe(inner=4), numbers(30))
    assert plan != plan_of(Recipe(inner=None), numbers(30))
    assert plan != 3


def test_a_plan_describes_itself():
    """The words of both levels and the sizes, the same in every session."""
    plan = plan_of(Recipe(outer=4, inner="loo"), numbers(30))
    assert plan.words == "4-fold CV, inside each training part leave-one-out CV"
    assert repr(plan).startswith(
        "Plan of 30 rows: 4-fold CV, inside each training part leave-one-out CV\n"
    )
    assert repr(plan) == repr(plan_of(Recipe(outer=4, inner="loo"), numbers(30)))


# Size


LARGE = {
    "leave-one-out of classes": (Recipe.leave_one_out(), 20_000, 2),
    "leave-one-out of numbers": (Recipe.leave_one_out(), 20_000, 0),
    "leave-one-out inside": (Recipe.internal_cv("loo"), 20_000, 2),
    "leave-one-out in time": (
        Recipe.leave_one_out(time_ordered=True, buffer=5),
        20_000,
        0,
    ),
    "as many folds as rows": (Recipe.external_cv(20_000), 20_000, 0),
    "leave-one-out x 5 folds": (Recipe(outer="loo", inner=5), 2_000, 2),
    "5 folds x leave-one-out": (Recipe(outer=5, inner="loo"), 2_000, 2),
    "leave-one-out x leave-one-out": (Recipe(outer="loo", inner="loo"), 2_000, 0),
    "leave-one-out of scikit-learn": (
        Recipe(outer=LeaveOneOut(), inner=KFold(5)),
        2_000,
        0,
    ),
    "leave-one-out x dev set": (Recipe.nested_dev("loo", stratify=False), 1_000, 0),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_plans_stay_below_50_megabytes(name):
    """Both while drawing and afterwards, within 15 seconds."""
    recipe, n_rows, n_classes = LARGE[name]
    y = np.arange(n_rows) % n_classes if n_classes else numbers(n_rows)
    started = time.perf_counter()
    tracemalloc.start()
    try:
        plan = recipe.plan(columns(n_rows), y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50 * MB
    assert plan.nbytes < 50 * MB
    assert time.perf_counter() - started < 15


def test_the_audit_and_the_record_of_leave_one_out_stay_small():
    """Audit and JSON of leave-one-out on 20,000 rows need no table of rows by rows."""
    plan = plan_of(Recipe.leave_one_out(), numbers(20_000))
    tracemalloc.start()
    try:
        assert plan.audit().ok
        text = plan.to_json()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50 * MB
    assert len(text) < 1 * MB
