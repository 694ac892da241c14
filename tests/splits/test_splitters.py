"""TimeBlocks: contiguous blocks in row order; rows within the buffer are in neither part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)

import cvnb
from cvnb import Recipe, TimeBlocks
from cvnb.errors import InfeasibleError, RecipeError
from cvnb.splits.splitters import deals_alike, fold_labels

SIZES = st.integers(2, 8).flatmap(lambda K: st.tuples(st.just(K), st.integers(K, 60)))
GROUP_SIZES = st.lists(st.integers(2, 4), min_size=12, max_size=20)


def blocks(n_splits, n_rows, buffer=0, groups=None):
    """The splits as a list."""
    return list(
        TimeBlocks(n_splits, buffer=buffer).split(np.zeros((n_rows, 1)), groups=groups)
    )


@given(SIZES, st.integers(0, 5))
def test_test_blocks_are_the_rows_in_order_each_once(sizes, buffer):
    """The test blocks laid end to end are all rows in their order."""
    K, n_rows = sizes
    tests = [test for _, test in blocks(K, n_rows, buffer)]
    assert np.concatenate(tests).tolist() == list(range(n_rows))


@given(SIZES)
def test_block_sizes_differ_by_one_at_most_the_first_being_the_longer(sizes):
    """The blocks are those of scikit-learn's KFold without shuffling."""
    K, n_rows = sizes
    for (_, test), (_, expected) in zip(
        blocks(K, n_rows), KFold(K).split(np.zeros(n_rows)), strict=True
    ):
        assert test.tolist() == expected.tolist()


@given(SIZES, st.integers(0, 70))
def test_the_training_part_is_every_row_farther_than_the_buffer_from_the_block(
    sizes, buffer
):
    """A training row is more than `buffer` positions away from every test row, on either side."""
    K, n_rows = sizes
    for train, test in blocks(K, n_rows, buffer):
        far = [i for i in range(n_rows) if min(abs(i - t) for t in test) > buffer]
        assert train.tolist() == far


@given(GROUP_SIZES, st.integers(2, 4))
def test_a_group_is_never_cut_by_a_block(group_sizes, K):
    """With contiguous groups the blocks are contiguous, cover all rows once and cut no group."""
    groups = np.repeat(np.arange(len(group_sizes)), group_sizes)
    splits = blocks(K, groups.size, groups=groups)
    assert np.concatenate([test for _, test in splits]).tolist() == list(
        range(groups.size)
    )
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])


def test_group_labels_may_be_words_in_any_order():
    """Groups of words that are not sorted are kept whole as well."""
    groups = np.repeat(np.array(["zebra", "ant", "moose", "bee"]), [3, 4, 2, 3])
    assert [groups[test].tolist() for _, test in blocks(2, 12, groups=groups)] == [
        ["zebra"] * 3 + ["ant"] * 4,
        ["moose"] * 2 + ["bee"] * 3,
    ]


def test_groups_whose_rows_are_scattered_are_refused():
    """A group that is not contiguous cannot be kept whole in row order."""
    with pytest.raises(InfeasibleError, match="do not follow each other"):
        blocks(2, 6, groups=[0, 1, 0, 1, 2, 2])


def test_fewer_groups_than_blocks_are_refused():
    """Three groups cannot fill four blocks."""
    with pytest.raises(InfeasibleError, match="3 groups are too few"):
        blocks(4, 12, groups=np.repeat([0, 1, 2], 4))


def test_more_blocks_than_rows_are_refused():
    """Every block needs a row."""
    with pytest.raises(InfeasibleError, match="5 blocks need 5 rows, but there are 4"):
        blocks(5, 4)


@pytest.mark.parametrize("n_splits", [1, 0, -2, 2.0, True, "3", None])
def test_a_number_of_blocks_that_is_no_whole_number_from_two_is_refused(n_splits):
    """One block leaves nothing to train on."""
    with pytest.raises(RecipeError, match=r"n_splits=.* use a whole number >= 2"):
        TimeBlocks(n_splits)


@pytest.mark.parametrize("buffer", [-1, 1.5, True, "2", None])
def test_a_buffer_that_is_no_whole_number_of_rows_is_refused(buffer):
    """A buffer counts rows."""
    with pytest.raises(
        RecipeError, match=r"buffer=.* must be a whole number of rows >= 0"
    ):
        TimeBlocks(3, buffer=buffer)


def test_the_number_of_splits_needs_no_data():
    """get_n_splits works with and without arguments, as in scikit-learn."""
    assert (
        TimeBlocks(4).get_n_splits()
        == TimeBlocks(4).get_n_splits(np.zeros((9, 1)), np.zeros(9), None)
        == 4
    )


@pytest.mark.parametrize(
    "splitter", [TimeBlocks(3), TimeBlocks(), TimeBlocks(4, buffer=2)]
)
def test_the_repr_makes_the_splitter_again(splitter):
    """eval(repr(splitter)) makes the same splits."""
    again = eval(repr(splitter), vars(cvnb) | {"TimeBlocks": TimeBlocks})
    assert (again.n_splits, again.buffer) == (splitter.n_splits, splitter.buffer)


@pytest.mark.parametrize(
    "X", [range(9), [[0]] * 9, np.zeros((9, 2))], ids=["range", "list", "array"]
)
def test_rows_are_counted_in_anything_that_has_a_length(X):
    """Only the number of rows of X matters."""
    assert [test.tolist() for _, test in TimeBlocks(3).split(X)] == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8],
    ]


def test_scikit_learn_takes_time_blocks_as_cv(rng):
    """cross_val_score, cross_val_predict and GridSearchCV treat it like its list of splits."""
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    splitter = TimeBlocks(3)
    listed = list(splitter.split(X))
    assert np.array_equal(
        cross_val_score(Ridge(), X, y, cv=splitter),
        cross_val_score(Ridge(), X, y, cv=listed),
    )
    assert cross_val_predict(Ridge(), X, y, cv=splitter).shape == (30,)
    searches = [
        GridSearchCV(Ridge(), {"alpha": [1.0, 9.0]}, cv=cv).fit(X, y)
        for cv in (splitter, listed)
    ]
    assert searches[0].best_score_ == searches[1].best_score_


def test_a_recipe_takes_time_blocks_as_given_at_both_levels(rng):
    """outer=TimeBlocks(...) splits all rows; as inner= it counts positions in the outer part."""
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    outer, inner = TimeBlocks(4, buffer=2), TimeBlocks(3, buffer=1)
    plan = Recipe(outer=outer, inner=inner).plan(X, y)
    for j, (train, test) in enumerate(outer.split(X)):
        assert np.array_equal(plan.outer[j][0], train)
        assert np.array_equal(plan.outer[j][1], test)
        for (a, b), (c, d) in zip(inner.split(train), plan.inner[j], strict=True):
            assert np.array_equal(train[a], c)
            assert np.array_equal(train[b], d)


def test_time_blocks_equal_time_ordered_folds(rng):
    """time_ordered=True with K folds and a buffer draws the splits of TimeBlocks at both levels."""
    X, y = rng.normal(size=(41, 2)), rng.normal(size=41)
    drawn = Recipe(outer=4, inner=3, time_ordered=True, buffer=2).plan(X, y)
    assert drawn == Recipe(
        outer=TimeBlocks(4, buffer=2), inner=TimeBlocks(3, buffer=2)
    ).plan(X, y)


KINDS = {
    "KFold": (KFold, False, False),
    "StratifiedKFold": (StratifiedKFold, True, False),
    "GroupKFold": (GroupKFold, False, True),
    "StratifiedGroupKFold": (StratifiedGroupKFold, True, True),
}
LABELS = st.integers(2, 6).flatmap(
    lambda K: st.tuples(
        st.just(K),
        st.lists(st.integers(0, 4), min_size=6 * K, max_size=80),
        st.none() | st.integers(0, 2**32 - 1),
    )
)


def assert_folds_of(kind, K, y, groups, seed):
    """The folds are the test parts of the public `split`, from a seed and from a generator."""
    y = np.array(y)
    split = kind(K, shuffle=seed is not None, random_state=seed).split(
        np.zeros(y.size), y, groups
    )
    wanted = np.empty(y.size, dtype=int)
    for k, (_, test) in enumerate(split):
        wanted[test] = k
    random = None if seed is None else np.random.RandomState(5)
    for state in (seed, random):
        if random is not None:
            random.seed(seed)
        strata = np.unique(y, return_inverse=True)[1].astype(np.uint8)
        splitter = kind(K, shuffle=seed is not None, random_state=state)
        assert fold_labels(splitter, y.size, strata, groups).tolist() == wanted.tolist()


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.parametrize("name", KINDS)
@given(LABELS)
def test_folds_are_those_of_the_public_split_of_scikit_learn(name, case):
    """Whatever the classes, their order and their sizes."""
    (kind, _, grouped), (K, y, seed) = KINDS[name], case
    groups = np.arange(len(y)) % (3 * K) if grouped else None
    assert_folds_of(kind, K, y, groups, seed)


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.parametrize("hidden", ["_iter_test_masks", "deals_alike"])
@pytest.mark.parametrize("name", KINDS)
def test_folds_are_those_of_scikit_learn_where_it_has_changed_inside(
    name, hidden, monkeypatch
):
    """If the private methods or the order of draws differ, the public `split` is used."""
    kind, _, grouped = KINDS[name]
    y = np.random.default_rng(1).integers(0, 3, size=50)
    groups = np.arange(50) % 11 if grouped else None
    monkeypatch.setattr("cvnb.splits.splitters.deals_alike", lambda: False)
    if hidden == "_iter_test_masks":
        calls = []
        public = kind.split
        monkeypatch.setattr("cvnb.splits.splitters.MASKS", "_no_such_method")
        monkeypatch.setattr(
            kind, "split", lambda *given: calls.append(1) or public(*given)
        )
        assert_folds_of(kind, 4, y, groups, 3)
        assert calls
    assert_folds_of(kind, 4, y, groups, 3)


def test_the_installed_scikit_learn_deals_as_known():
    """Else every stratified draw takes the slow way, which is worth knowing."""
    assert deals_alike()


def test_another_way_of_dealing_is_noticed(monkeypatch):
    """A StratifiedKFold with another order of draws is not reproduced."""

    class Reversed(StratifiedKFold):
        def split(self, X, y, groups=None):
            return reversed(list(super().split(X, y, groups)))

    monkeypatch.setattr("cvnb.splits.splitters.StratifiedKFold", Reversed)
    assert not deals_alike.__wrapped__()
