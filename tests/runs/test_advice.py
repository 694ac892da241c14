"""Recipe.suggest: what is suggested runs, suits the rows and the purpose, and says why."""

import dataclasses
import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from cvnb import Family, Recipe, knn, ridge
from cvnb.errors import InfeasibleError, InputError, RecipeError
from cvnb.runs.advice import GOALS, MANY, Suggestion

suggest = Recipe.suggest
X, y = load_breast_cancer(return_X_y=True)


class Slow(SVC):
    """A fit takes 0.3 s."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.3)
        return super().fit(X, y, sample_weight)


DEAR = (Slow(), {"C": np.logspace(-2, 2, 9), "gamma": np.logspace(-3, 0, 7)})


def many(n_rows=MANY):
    """Rows as many as need no cross-validation."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, 2)), rng.integers(0, 2, n_rows)


def text_of(*args, **options):
    """All sentences as one text."""
    return " ".join(suggest(*args, **options).sentences)


@st.composite
def tables(draw):
    """Rows, classes of any sizes or a number, groups of any sizes or none, an order of time
    or none."""
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    n_classes, n_groups = (
        draw(st.sampled_from([0, 2, 3, 4, 5])),
        draw(st.integers(0, 6)),
    )
    target = rng.normal(size=n) if n_classes == 0 else rng.integers(0, n_classes, n)
    if n_classes:
        target[:2] = 0, 1  # one class is refused
    timed = draw(st.booleans())
    groups = None if n_groups == 0 else rng.integers(0, n_groups, n)
    options = {
        "groups": np.sort(groups) if timed and groups is not None else groups,
        "time_ordered": timed,
        "buffer": draw(st.integers(0, 3)) if timed else 0,
        "goal": draw(st.sampled_from(GOALS)),
        "family": draw(
            st.sampled_from(
                [None, knn(k=[1]), ridge(alpha=[0.1, 1.0]), LinearRegression()]
            )
        ),
    }
    if n_classes and isinstance(options["family"], LinearRegression):
        options["family"] = None
    return rng.normal(size=(n, 2)), target, options


@pytest.mark.filterwarnings("ignore::cvnb.errors.CvnbWarning")
@settings(max_examples=300)
@given(tables())
def test_what_is_suggested_can_be_planned(case):
    """On rows of any number, classes, groups and times; where nothing is suggested, the
    plainest recipes fail too."""
    rows, target, options = case
    family, groups = options["family"], options["groups"]
    ordered = {"time_ordered": options["time_ordered"], "buffer": options["buffer"]}
    try:
        recipe = suggest(rows, target, **options).recipe
    except InputError as error:
        if "nothing to choose" in str(error) or "needs several settings" in str(error):
            assert options["goal"] == "choose"
            return
        plainest = [
            Recipe(None, 0.5, **ordered),
            Recipe(None, 2, **ordered),
            Recipe(0.5, None, **ordered),
            Recipe(2, None, **ordered),
        ]
        for one in plainest:
            with pytest.raises((InfeasibleError, RecipeError)):
                one.run(family or ridge(alpha=1.0), rows, target, groups=groups)
        return
    drawn = recipe.plan(rows, target, family, groups=groups)
    assert drawn.audit().ok
    assert (recipe.time_ordered, recipe.buffer) == (
        options["time_ordered"],
        options["buffer"],
    )
    if family is not None:
        assert recipe.run(family, rows, target, groups=groups).complete


@pytest.mark.filterwarnings("ignore::cvnb.errors.CvnbWarning")
@settings(max_examples=50)
@given(st.integers(2, 60), st.integers(1, 3), st.integers(0, 9))
def test_what_is_suggested_can_be_run(n, least, seed):
    """A family of several settings runs to its end, however small the rarer class."""
    rng = np.random.default_rng(seed)
    target = (np.arange(n) < min(least, n - 1)).astype(int)
    family = Family(KNeighborsClassifier(1), {"p": [1, 2]})
    recipe = suggest(rng.normal(size=(n, 2)), target, family=family).recipe
    assert recipe.run(family, rng.normal(size=(n, 2)), target).complete


def test_few_rows_get_nested_cv():
    """Nothing is set aside for good, and training parts are larger where rows are fewer."""
    assert suggest(X, y).recipe == Recipe.nested_cv(5, 5)
    assert suggest(X[:300], y[:300]).recipe == Recipe.nested_cv(10, 5)
    assert (
        "569 rows are few: a test set of 114 measures a 0-1 risk only to ±0.13 "
        "(Hoeffding, 95 %)" in text_of(X, y)
    )
    assert "optimistic" not in text_of(X, y)
    assert (
        "E[ℓ_D(A_θ̂(S))], |S| = 455 to 456, θ̂ chosen inside S by 5-fold CV"
        in text_of(X, y)
    )


def test_many_rows_get_one_test_set():
    """Unless one computation serves every setting: then nested CV costs little."""
    rows, target = many()
    assert suggest(rows, target).recipe == Recipe.train_validation_test()
    assert suggest(rows, target, family=ridge()).recipe == Recipe.nested_cv(5, 5)
    assert suggest(
        rows, target, family=ridge(), goal="predictor"
    ).recipe == Recipe.cv_test(5)
    assert suggest(rows[:-1], target[:-1]).recipe == Recipe.nested_cv(5, 5)
    assert (
        "10000 rows are many: a test set of 2000 measures a 0-1 risk to ±0.03"
        in text_of(rows, target)
    )


def test_a_dear_family_gets_one_dev_set_inside():
    """By the seconds that its run is forecast to take, not by the number of its fits."""
    found = suggest(X, y, family=DEAR)
    assert found.recipe == Recipe.nested_dev(5)
    words = r"CV inside too would take about \d+ min; a dev set inside about \d+ (s|min), but"
    assert re.search(words, " ".join(found.sentences))
    many_quick = (SVC(), {"C": np.logspace(-2, 2, 63)})
    assert suggest(X[:300], y[:300], family=many_quick).recipe == Recipe.nested_cv(
        10, 5
    )


def test_few_groups_and_few_rows_of_a_class_are_said():
    """They are what a number hangs on."""
    text = text_of(X, y, groups=np.arange(len(y)) % 8)
    assert "8 groups are few: the number says little about new ones" in text
    rare = np.arange(len(y)) % 60 == 0
    assert "Class True has about 2 rows in each test part" in text_of(X, rare)
    assert "single rows" not in text_of(X, y)


def test_the_fits_that_are_counted_are_made(fits):
    """As many as the sentence says, on the refit path."""
    family = (SVC(), {"C": [1.0, 10.0]})
    found = suggest(X[:80], y[:80], family=family)
    assert "Cost for 2 settings: 110 fits – one fit per setting and split" in " ".join(
        found.sentences
    )
    assert fits.count("SVC") == 2  # those that are timed
    fits.clear()
    found.recipe.run(family, X[:80], y[:80], n_jobs=1)
    assert fits.count("SVC") == 110


def test_to_choose_measures_nothing_outside():
    """All rows choose; where they are many, one dev set is enough, with its bound."""
    assert suggest(X, y, goal="choose").recipe == Recipe.internal_cv(5)
    rows, target = many()
    found = suggest(rows, target, goal="choose", family=(SVC(), {"C": [1, 10]}))
    assert found.recipe == Recipe.dev_set(0.2)
    bound = np.sqrt(2 / 2000 * np.log(2 * 2 / 0.05))
    assert (
        f"at most {bound:.6g} worse than the best, with probability 0.95"
        in " ".join(found.sentences)
    )


def test_test_rows_that_came_with_the_data_stay_the_test_set():
    """No purpose draws another one, and no choice sees them."""
    for goal in GOALS:
        recipe = suggest(X, y, test_rows=range(100), goal=goal).recipe
        assert recipe == Recipe.cv_test(5, test_rows=range(100))
    one = suggest(X, y, test_rows=range(100), family=SVC()).recipe
    assert one == Recipe.validation(test_rows=range(100))
    timed = suggest(X, y, test_rows=range(469, 569), time_ordered=True, buffer=2).recipe
    dev = timed.plan(X, y).inner[0][0][1]
    assert (dev.min(), dev.max()) == (467 - dev.size, 466)


def test_in_the_order_of_time_the_newest_rows_are_tested():
    """And what lies between training and test rows by the buffer is in neither."""
    found = suggest(X, y, time_ordered=True, buffer=3)
    train, test = found.recipe.plan(X, y).outer[0]
    assert (test[0], test[-1], train[-1]) == (455, 568, 451)
    assert "Ruled out: shuffled splits" in " ".join(found.sentences)
    assert "Recipe.nested_cv(time_ordered=True, buffer=3)" in " ".join(found.sentences)
    assert suggest(X, y, time_ordered=True, goal="choose").recipe == Recipe.dev_set(
        time_ordered=True
    )
    assert suggest(X, y, time_ordered=True, family=SVC()).recipe == Recipe.validation(
        time_ordered=True
    )


def test_one_setting_has_no_inner_level():
    """Leave-one-out where it has a closed form and the goal is one predictor, else
    cross-validation or a test set."""
    rows, target = load_diabetes(return_X_y=True)
    assert (
        suggest(rows, target, family=LinearRegression(), goal="predictor").recipe
        == Recipe.leave_one_out()
    )
    assert suggest(
        rows, target, family=LinearRegression()
    ).recipe == Recipe.external_cv(10)
    assert suggest(X, y, family=SVC(), goal="predictor").recipe == Recipe.external_cv(5)
    assert suggest(*many(), family=SVC()).recipe == Recipe.validation()


def test_a_small_class_lowers_the_folds():
    """So that every part keeps some of it, inside as outside."""
    target = np.arange(60) < 4
    found = suggest(X[:60], target)
    assert found.recipe == Recipe.nested_cv(4, 3)
    assert (
        "4 outer and 3 inner folds: a class of 4 rows allows no more."
        in found.sentences
    )
    drawn = found.recipe.plan(X[:60], target)
    assert all(target[test].any() for _, splits in drawn.levels() for _, test in splits)


def test_groups_stay_whole():
    """Three groups leave two inside; of two groups, none is left to choose on."""
    found = suggest(X, y, groups=np.arange(569) % 3)
    assert found.recipe == Recipe.nested_cv(3, 2)
    assert "3 groups; no drawn split divides one of them." in " ".join(found.sentences)
    assert found.sentences[0].startswith(
        "3 groups are few: a test set of 1 measures a 0-1 risk only to ±1 ("
    )
    assert suggest(*many(), groups=np.arange(MANY) % 100).recipe == Recipe.nested_cv(
        10, 5
    )  # a hundred groups are not many
    found = suggest(X, y, groups=np.arange(569) % 2)
    assert found.recipe == Recipe.internal_cv(2)
    assert found.sentences[0].startswith("Nested CV cannot be drawn: ")


def test_the_inner_splitter_of_a_search_is_kept():
    """A GridSearchCV brings its own cv."""
    search = GridSearchCV(
        SVC(), {"C": [1, 10]}, cv=RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)
    )
    recipe = suggest(X, y, family=search).recipe
    assert recipe == Recipe.nested_cv(5, "auto")
    assert len(recipe.plan(X, y, search).inner[0]) == 4


def test_several_families_are_counted_together():
    """The dearest decides whether the run is fast."""
    family = {
        "near": knn(k=range(1, 11)),
        "line": (LogisticRegression(), {"C": [1.0, 10.0]}),
    }
    assert "Cost for 12 settings: 305 fits" in text_of(X, y, family=family)
    assert suggest(
        X, y, family={"near": knn(), "machine": DEAR}
    ).recipe == Recipe.nested_dev(5)


def test_without_a_family_the_cost_is_a_formula():
    """C is the number of settings."""
    assert "25 C + 5 fits, and 5 C + 1 for the predictor to keep" in text_of(X, y)
    assert "a grid of C settings: C + 1 fits, and C + 1 for" in text_of(*many())


def test_a_suggestion_shows_its_sentences():
    """As text, as HTML, and always the same."""
    found = Recipe.suggest(X, y)
    assert isinstance(found, Suggestion)
    assert (
        repr(found).splitlines()[0]
        == "Suggested: nested CV, Recipe(outer=5, inner=5, seed=0)"
    )
    assert repr(found).splitlines()[1:] == [
        f"  - {sentence}" for sentence in found.sentences
    ]
    shown = found._repr_mimebundle_()
    assert shown["text/plain"] == repr(found) == repr(Recipe.suggest(X, y))
    assert shown["text/html"].count("<li>") == len(found.sentences)
    assert "<table" not in shown["text/html"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.recipe = None


def test_the_seed_is_handed_on():
    """The splits suggested are drawn from it."""
    assert suggest(X, y, seed=7).recipe == Recipe.nested_cv(5, 5, seed=7)


def test_no_warning_is_left_behind():
    """Recipes that were only tried say nothing; what the suggested one has to say is a sentence."""
    found = suggest(X[:30], np.arange(30) < 1)
    assert any("Class True has 1 row" in sentence for sentence in found.sentences)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"goal": "win"},
            "goal='win' is not known; use 'estimate', 'choose' or 'predictor'",
        ),
        (
            {"goal": "choose", "family": SVC()},
            "goal='choose' needs several settings, but SVC has one",
        ),
        ({"buffer": 2}, "add time_ordered=True"),
        ({"seed": -1}, "seed=-1 must be a whole number"),
        ({"groups": np.zeros(569)}, "no recipe can split these rows: "),
        ({"test_rows": [600]}, "600"),
        ({"family": knn(k=range(1, 600))}, "no recipe can split these rows: k="),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    """In one sentence, before anything is drawn."""
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        suggest(X, y, **options)
