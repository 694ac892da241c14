"""Recipe: every form of outer and inner, every named constructor, every checked keyword."""

import dataclasses
import pickle

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
)

import cvnb
from cvnb import Family, Recipe, TimeBlocks
from cvnb.errors import CvnbError, InfeasibleError, RecipeError, WrongTypeError
from cvnb.splits import recipes

LIST = [([0, 1, 2], [3, 4]), ([3, 4], [0, 1])]
NAMED = {
    "train_validation_test": Recipe.train_validation_test(),
    "cv_test": Recipe.cv_test(),
    "resampling_test": Recipe.resampling_test(),
    "nested_cv": Recipe.nested_cv(),
    "nested_dev": Recipe.nested_dev(),
    "nested_resampling": Recipe.nested_resampling(),
    "external_cv": Recipe.external_cv(),
    "internal_cv": Recipe.internal_cv(),
    "dev_set": Recipe.dev_set(),
    "validation": Recipe.validation(),
    "leave_one_out": Recipe.leave_one_out(),
}
each_named = pytest.mark.parametrize("name", NAMED)


def some_data(n_rows=40):
    """Numbers to draw splits of."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, 2)), rng.normal(size=n_rows)


def plan_of(recipe):
    """The splits of a recipe on some numbers."""
    return recipe.plan(*some_data())


# Named recipes


SAME = {
    "cv_test": (Recipe.cv_test(4, 0.25), {"outer": 0.25, "inner": 4}),
    "nested_cv": (Recipe.nested_cv(4, 3), {"outer": 4, "inner": 3}),
    "nested_cv of splitters": (
        Recipe.nested_cv(KFold(4), "loo"),
        {"outer": KFold(4), "inner": "loo"},
    ),
    "external_cv": (Recipe.external_cv(4), {"outer": 4, "inner": None}),
    "external_cv by loo": (Recipe.external_cv("loo"), {"outer": "loo", "inner": None}),
    "internal_cv": (Recipe.internal_cv(4), {"outer": None, "inner": 4}),
    "dev_set": (Recipe.dev_set(0.3), {"outer": None, "inner": 0.3}),
    "validation": (Recipe.validation(0.3), {"outer": 0.3, "inner": None}),
    "leave_one_out": (Recipe.leave_one_out(), {"outer": "loo", "inner": None}),
}


@pytest.mark.parametrize("name", SAME)
def test_a_named_recipe_is_a_pair_of_splitters(name):
    """The constructor draws what Recipe(outer, inner) draws."""
    named, keywords = SAME[name]
    assert plan_of(named) == plan_of(Recipe(**keywords))


DEFAULTS = {
    "train_validation_test": [(1, 8), (1, 8)],
    "cv_test": [(1, 8), (5, None)],
    "resampling_test": [(1, 8), (20, 8)],
    "nested_cv": [(5, 8), (5, None)],
    "nested_dev": [(5, 8), (1, 8)],
    "nested_resampling": [(20, 8), (20, 8)],
    "external_cv": [(5, 8), (0, None)],
    "internal_cv": [(0, None), (5, 8)],
    "dev_set": [(0, None), (1, 8)],
    "validation": [(1, 8), (0, None)],
    "leave_one_out": [(40, 1), (0, None)],
}


@each_named
def test_the_defaults_of_a_named_recipe_give_the_promised_splits(name):
    """Numbers of splits and sizes of test parts on 40 rows, at both levels."""
    plan = plan_of(NAMED[name])
    for splits, (n_splits, n_test) in zip(
        (plan.outer, plan.inner[0]), DEFAULTS[name], strict=True
    ):
        assert len(splits) == n_splits
        assert n_test is None or {test.size for _, test in splits} <= {n_test}


@each_named
def test_a_named_recipe_takes_the_keywords_of_recipe(name):
    """seed, shuffle and stratify go through every constructor."""
    recipe = getattr(Recipe, name)(seed=7, stratify=False)
    assert (recipe.seed, recipe.stratify) == (7, False)
    again = dataclasses.replace(NAMED[name], seed=7, stratify=False)
    assert plan_of(recipe) == plan_of(again)


NAMES = {
    "train_validation_test": "train/validation/test",
    "cv_test": "CV then test",
    "resampling_test": "resampling then test",
    "nested_cv": "nested CV",
    "nested_dev": "nested CV with an inner dev set",
    "nested_resampling": "nested resampling",
    "external_cv": "external CV",
    "internal_cv": "tuning by internal CV",
    "dev_set": "tuning on a dev set",
    "validation": "validation on a test set",
    "leave_one_out": "external CV",
}


@each_named
def test_a_recipe_knows_its_common_name(name):
    """`name` is the cell of the outer × inner table."""
    assert NAMES[name] in NAMED[name].name or NAMED[name].name in NAMES[name]


def test_the_defaults_are_nested_five_fold_cv():
    """Recipe() is nested_cv with five outer folds."""
    assert Recipe() == Recipe.nested_cv(outer=5, inner="auto", seed=0)


def test_one_call_runs_nested_cross_validation():
    """cvnb.nested_cv(family, X, y, outer, inner, seed) is Recipe(outer, inner, seed).run(...)."""
    X, y = some_data()
    family = Family(Ridge(), {"alpha": [0.1, 1.0]})
    call = cvnb.nested_cv(
        family, X, y, outer=3, inner=4, seed=2, flat=True, loss="absolute"
    )
    other = Recipe(outer=3, inner=4, seed=2).run(
        family, X, y, flat=True, loss="absolute"
    )
    assert call.plan == other.plan
    assert (call.risk, call.flat) == (other.risk, other.flat)


# A recipe is a value


@pytest.mark.parametrize(
    "recipe",
    [
        *NAMED.values(),
        Recipe(outer=0.25, inner="loo", seed=4, shuffle=False),
        Recipe(outer=np.int64(4), inner=np.float64(0.25)),
        Recipe(outer=4, inner=0.3, time_ordered=True, buffer=2),
        Recipe(
            outer=TimeBlocks(4, buffer=1), inner=KFold(3, shuffle=True, random_state=1)
        ),
        Recipe(outer=StratifiedKFold(4), inner=ShuffleSplit(3, random_state=0)),
        Recipe(outer=LIST, inner=None),
        Recipe(outer=[(np.arange(3), np.arange(3, 5))], inner=None),
        Recipe(outer=None, inner=LIST),
        Recipe(test_rows=[1, 2], dev_rows=np.array([3, 4])),
        Recipe.train_validation_test(0.1, 0.3, seed=9, stratify=True),
        Recipe.nested_resampling(3, 4, 0.1, 0.5),
    ],
    ids=repr,
)
def test_the_repr_makes_the_recipe_again(recipe):
    """eval(repr(recipe)) shows and draws the same."""
    names = {
        **vars(model_selection),
        **vars(recipes),
        **vars(np),
        "np": np,
        "TimeBlocks": TimeBlocks,
        "Recipe": Recipe,
    }
    again = eval(repr(recipe), names)
    assert repr(again) == repr(recipe)
    if recipe.stratify is not True and "Stratified" not in repr(recipe):
        assert plan_of(again) == plan_of(recipe)


def test_the_repr_of_an_iterator_of_splits_has_no_address():
    """What is read from an iterator is shown like a list: the same text in every session."""
    assert " at 0x" not in repr(Recipe(outer=iter(LIST), inner=None))


def test_a_recipe_cannot_be_changed():
    """Assigning to a field is an error; dataclasses.replace makes another recipe."""
    recipe = Recipe(outer=4)
    with pytest.raises(dataclasses.FrozenInstanceError, match="seed"):
        recipe.seed = 3
    assert dataclasses.replace(recipe, seed=3) == Recipe(outer=4, seed=3)


@pytest.mark.parametrize(
    "keywords",
    [
        {"outer": 4, "inner": 0.25, "seed": 3},
        {"test_rows": [1, 2]},
        {"test_rows": np.array([1, 2])},
        {"outer": None, "dev_rows": np.array([1, 2])},
        {"outer": [(np.arange(3), np.arange(3, 5))], "inner": None},
    ],
    ids=["numbers", "list", "array", "dev rows", "splits"],
)
def test_equal_recipes_are_equal(keywords):
    """Recipes made from equal keywords compare equal, arrays of row numbers among them."""
    assert Recipe(**keywords) == Recipe(
        **{key: np.copy(v) if key == "test_rows" else v for key, v in keywords.items()}
    )


def test_recipes_that_differ_are_unequal():
    """Another seed, splitter or set of rows is another recipe."""
    assert Recipe(outer=4) != Recipe(outer=5)
    assert Recipe(seed=1) != Recipe(seed=2)
    assert Recipe(test_rows=np.array([1, 2])) != Recipe(test_rows=np.array([1, 3]))


@each_named
def test_a_recipe_survives_pickling(name):
    """A recipe read back draws the same splits."""
    again = pickle.loads(pickle.dumps(NAMED[name]))
    assert again == NAMED[name]
    assert plan_of(again) == plan_of(NAMED[name])


def test_a_splitter_changed_after_the_recipe_was_made_changes_nothing():
    """The recipe keeps its own copy of a splitter."""
    splitter = KFold(3)
    recipe = Recipe(outer=splitter, inner=None)
    splitter.n_splits = 10
    assert len(plan_of(recipe).outer) == 3


def test_rows_changed_after_the_recipe_was_made_change_nothing():
    """The recipe keeps its own copy of test_rows."""
    rows = np.array([1, 2, 3])
    recipe = Recipe(test_rows=rows)
    rows[:] = 9
    assert plan_of(recipe).outer[0][1].tolist() == [1, 2, 3]


@pytest.mark.parametrize("level", ["outer", "inner"])
def test_an_iterator_of_splits_is_read_once(level):
    """A generator of (train, test) pairs can be planned any number of times."""
    recipe = Recipe(**{"outer": None, "inner": None, level: (pair for pair in LIST)})
    assert (
        plan_of(recipe)
        == plan_of(recipe)
        == plan_of(Recipe(**{"outer": None, "inner": None, level: LIST}))
    )


def test_iterators_of_inner_splits_are_read_once():
    """One generator per outer split can be planned any number of times as well."""
    inner = [[([0], [1]), ([1], [2])], [([3], [4])]]
    recipe = Recipe(outer=LIST, inner=(iter(splits) for splits in inner))
    assert (
        plan_of(recipe) == plan_of(recipe) == plan_of(Recipe(outer=LIST, inner=inner))
    )


# Keywords


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize("number", [1, 0, -3, np.int64(1)])
def test_fewer_than_two_folds_are_refused(level, number):
    """One fold leaves nothing to train on."""
    with pytest.raises(
        RecipeError, match=f"{level}={number} leaves no fold to .* use {level} >= 2"
    ):
        Recipe(**{level: number})


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, 1.5, float("nan"), float("inf")])
def test_a_share_outside_zero_to_one_is_refused(level, share):
    """A holdout takes a share strictly between 0 and 1."""
    with pytest.raises(
        RecipeError,
        match=f"{level}={share} is no share of the rows.*strictly between 0 and 1",
    ):
        Recipe(**{level: share})


def test_a_number_of_folds_written_as_a_float_is_pointed_out():
    """outer=5.0 is no share; the message says to write 5."""
    with pytest.raises(RecipeError, match=r"For 5 folds write outer=5\."):
        Recipe(outer=5.0)


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize("word", ["LOO", "kfold", "", "none"])
def test_an_unknown_word_is_refused_naming_the_known_ones(level, word):
    """The words are 'loo', and inside 'auto'."""
    with pytest.raises(
        RecipeError, match=f"{level}={word!r} is not known; the words are .*'loo'"
    ):
        Recipe(**{level: word})


def test_the_outer_level_has_no_auto():
    """Only inner can be taken from the family."""
    with pytest.raises(RecipeError, match="outer='auto' is not known"):
        Recipe(outer="auto")


@pytest.mark.parametrize("level", ["outer", "inner"])
def test_a_truth_value_is_no_splitter(level):
    """True is not one fold."""
    with pytest.raises(RecipeError, match=f"{level}=True is no splitter"):
        Recipe(**{level: True})


@pytest.mark.parametrize("level", ["outer", "inner"])
def test_a_splitter_class_is_refused_asking_for_an_instance(level):
    """KFold without brackets is a common slip."""
    with pytest.raises(
        WrongTypeError, match=rf"{level}=KFold is a class; use KFold\(\)"
    ):
        Recipe(**{level: KFold})


@pytest.mark.parametrize("level", ["outer", "inner"])
def test_an_object_that_splits_nothing_is_refused(level):
    """Anything without split and get_n_splits plays no part."""
    with pytest.raises(WrongTypeError, match=f"{level}=Ridge.* is no splitter"):
        Recipe(**{level: Ridge()})


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize("empty", [list, lambda: iter([])], ids=["list", "used up"])
def test_no_splits_at_all_are_refused(level, empty):
    """An empty list, or an iterator that was used up, splits nothing."""
    with pytest.raises(RecipeError, match=f"{level} is an empty list of splits"):
        Recipe(**{level: empty()})


@pytest.mark.parametrize(
    "seed", [-1, 1.5, None, "a", True, [1], np.random.default_rng(0)], ids=str
)
def test_a_seed_that_is_no_whole_number_is_refused(seed):
    """Splits are drawn from a whole number from 0."""
    with pytest.raises(RecipeError, match=r"seed=.*whole number >= 0"):
        Recipe(seed=seed)


@pytest.mark.parametrize("seed", [2**32 - 1, 2**32, 2**70])
def test_a_seed_too_large_for_numpy_is_refused_by_name(seed):
    """Both levels need a seed below 2**32."""
    X, y = some_data()
    with pytest.raises(CvnbError, match="seed"):
        Recipe(seed=seed).plan(X, y)


@pytest.mark.parametrize("option", ["shuffle", "time_ordered"])
@pytest.mark.parametrize("value", [1, 0, "yes", None])
def test_an_option_that_is_no_truth_value_is_refused(option, value):
    """shuffle and time_ordered are True or False."""
    with pytest.raises(RecipeError, match=f"{option}={value!r} must be True or False"):
        Recipe(**{option: value})


@pytest.mark.parametrize("stratify", ["yes", None, 2.0, -2, "True"])
def test_an_unknown_stratify_is_refused(stratify):
    """stratify is 'auto', True or False."""
    with pytest.raises(
        RecipeError, match=f"stratify={stratify!r} must be 'auto', True or False"
    ):
        Recipe(stratify=stratify)


def test_labels_given_as_stratify_are_refused():
    """stratify=y, as in train_test_split, is an error of one line, not about truth values."""
    with pytest.raises(RecipeError, match=r"stratify=.* must be 'auto', True or False"):
        Recipe(stratify=np.array([0, 1, 0, 1]))


def test_numpys_truth_values_are_truth_values():
    """np.False_ does not stratify, np.True_ refuses small classes."""
    y = np.repeat([0, 1, 2], [19, 19, 2])
    plain = Recipe(outer=4, inner=None, stratify=False).plan(np.zeros((40, 1)), y)
    assert (
        Recipe(outer=4, inner=None, stratify=np.False_).plan(np.zeros((40, 1)), y)
        == plain
    )
    with pytest.raises(InfeasibleError, match="fewer than the 4 outer folds"):
        Recipe(outer=4, inner=None, stratify=np.True_).plan(np.zeros((40, 1)), y)


@pytest.mark.parametrize("number", [0, 1])
def test_numbers_are_no_truth_values(number):
    """stratify=1 could be meant as anything."""
    with pytest.raises(
        RecipeError, match=f"stratify={number} must be 'auto', True or False"
    ):
        Recipe(stratify=number)


def test_a_buffer_without_an_order_of_time_is_refused():
    """A buffer is meaningless for shuffled rows."""
    with pytest.raises(
        RecipeError,
        match="buffer=2 needs rows in the order of time; add time_ordered=True",
    ):
        Recipe(buffer=2)


@pytest.mark.parametrize("buffer", [-1, float("nan"), True, None])
def test_a_buffer_that_counts_no_rows_is_refused(buffer):
    """A buffer is a whole number of rows."""
    with pytest.raises(
        RecipeError, match=r"buffer=.* must be a whole number of rows >= 0"
    ):
        Recipe(buffer=buffer, time_ordered=True)


def test_stratified_time_is_refused():
    """Strata would mix times."""
    with pytest.raises(RecipeError, match="stratify=True would mix times"):
        Recipe(time_ordered=True, stratify=True)


@pytest.mark.parametrize(
    "make",
    [Recipe.resampling_test, Recipe.nested_resampling],
    ids=["inner", "both"],
)
def test_resampling_of_time_is_refused(make):
    """Random holdouts have no order of time."""
    with pytest.raises(
        RecipeError,
        match="resampling draws rows at random, which time_ordered=True forbids",
    ):
        make(time_ordered=True)


def test_resampling_without_shuffling_is_refused():
    """Random holdouts cannot keep the order of the rows."""
    with pytest.raises(
        RecipeError,
        match="resampling draws rows at random, which shuffle=False forbids",
    ):
        plan_of(Recipe.resampling_test(shuffle=False))


def test_nothing_at_both_levels_is_refused():
    """outer=None and inner=None would train and measure nothing."""
    with pytest.raises(
        RecipeError, match="outer=None and inner=None leaves nothing to split"
    ):
        Recipe(outer=None, inner=None)


@pytest.mark.parametrize("outer", [2, 0.5, KFold(2), GroupKFold(2)], ids=repr)
def test_a_dev_set_as_large_as_half_of_the_rows_is_refused(outer):
    """With two outer folds a dev set of m/2 rows leaves nothing to train on."""
    X, y = some_data()
    with pytest.raises(CvnbError, match=r"leaves? (no row to train on|an empty part)"):
        Recipe.nested_dev(outer).plan(
            X, y, groups=np.arange(40) // 4 if "Group" in repr(outer) else None
        )


def test_a_dev_set_needs_an_outer_level():
    """nested_dev(None) has no outer test part to be as large as."""
    with pytest.raises(RecipeError, match="needs an outer one"):
        Recipe.nested_dev(None)


SHARES = {
    "validation=0": lambda: Recipe.train_validation_test(validation=0),
    "validation=1.5": lambda: Recipe.train_validation_test(validation=1.5),
    "test=2": lambda: Recipe.cv_test(test=2),
    "test=1": lambda: Recipe.validation(test=1),
    "test=True": lambda: Recipe.validation(test=True),
    "test='a'": lambda: Recipe.validation(test="a"),
    "dev=0.0": lambda: Recipe.dev_set(dev=0.0),
}


@pytest.mark.parametrize("shown", SHARES)
def test_a_wrong_share_of_a_named_recipe_is_refused_by_its_name(shown):
    """The message repeats the argument as typed."""
    with pytest.raises(RecipeError, match=f"{shown} is no share of the rows"):
        SHARES[shown]()


RESAMPLING = {
    "samples=0": lambda: Recipe.resampling_test(samples=0),
    "samples=2.5": lambda: Recipe.resampling_test(samples=2.5),
    "validation=1": lambda: Recipe.resampling_test(validation=1),
    "outer=0": lambda: Recipe.nested_resampling(outer=0),
    "inner=0.2": lambda: Recipe.nested_resampling(inner=0.2),
    "test=1.2": lambda: Recipe.nested_resampling(test=1.2),
    "validation=0": lambda: Recipe.nested_resampling(validation=0),
}


@pytest.mark.parametrize("shown", RESAMPLING)
def test_a_wrong_number_of_samples_is_refused_by_its_name(shown):
    """The message of a resampling recipe names the argument as typed."""
    with pytest.raises(RecipeError, match=shown):
        RESAMPLING[shown]()


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.6, 0.6), (0.2, 0.8)], ids=str)
def test_shares_that_leave_no_training_row_are_refused(shares):
    """The shares of train/validation/test are of all rows: their sum is below 1."""
    with pytest.raises(
        RecipeError, match="leave no row to train on; their sum must be below 1"
    ):
        Recipe.train_validation_test(*shares)


# What is used as given


GIVEN = {"seed": 3, "shuffle": False, "stratify": True, "time_ordered": True}


@pytest.mark.parametrize("option", GIVEN)
@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize(
    "given", [KFold(3), LIST, LeaveOneOut()], ids=["splitter", "list", "loo"]
)
def test_an_option_with_a_given_splitter_is_refused(option, level, given):
    """seed, shuffle, stratify and time_ordered have no effect on a given splitter."""
    with pytest.raises(
        RecipeError,
        match=f"{option}={GIVEN[option]} does not touch {level}=.* exactly as given",
    ):
        Recipe(**{level: given, option: GIVEN[option]})


def test_a_buffer_with_a_given_splitter_is_refused():
    """TimeBlocks has a buffer of its own."""
    with pytest.raises(RecipeError, match="does not touch outer=TimeBlocks"):
        Recipe(outer=TimeBlocks(3), time_ordered=True, buffer=2)


# Rows that came with the data


@pytest.mark.parametrize("option", ["test_rows", "dev_rows"])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "must be a list of row numbers"),
        (3, "must be a list of row numbers"),
        ([1.5], "must be a list of row numbers"),
        (["a"], "must be a list of row numbers"),
        ([[1, 2]], "must be a list of row numbers"),
        ([True, False], "holds a boolean mask; row numbers are needed"),
        ([1, 2, 1], "names some row twice"),
    ],
    ids=str,
)
def test_rows_that_are_no_row_numbers_are_refused(option, rows, message):
    """test_rows and dev_rows are whole numbers, each once."""
    with pytest.raises(RecipeError, match=f"{option} {message}"):
        Recipe(**{"outer": 0.2, option: rows})


@pytest.mark.parametrize(
    "outer",
    [4, "loo", KFold(3), None, LIST],
    ids=["folds", "loo", "splitter", "none", "list"],
)
def test_test_rows_with_another_outer_splitter_are_refused(outer):
    """The test rows are the outer split."""
    with pytest.raises(
        RecipeError, match=r"test_rows= fixes the outer split, so outer=.* cannot act"
    ):
        Recipe(outer=outer, test_rows=[1, 2])


@pytest.mark.parametrize(
    "inner", [4, "loo", KFold(3), None], ids=["folds", "loo", "splitter", "none"]
)
def test_dev_rows_with_another_inner_splitter_are_refused(inner):
    """The dev rows are the inner split."""
    with pytest.raises(
        RecipeError, match=r"dev_rows= fixes the inner split, so inner=.* cannot act"
    ):
        Recipe(outer=0.2, inner=inner, dev_rows=[1, 2])


@pytest.mark.parametrize(
    "outer", [5, "loo", KFold(3)], ids=["folds", "loo", "splitter"]
)
def test_dev_rows_under_several_outer_splits_are_refused(outer):
    """Other outer splits would test on the dev rows."""
    with pytest.raises(RecipeError, match="dev_rows= needs one outer holdout"):
        Recipe(outer=outer, dev_rows=[1, 2])
