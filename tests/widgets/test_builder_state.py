"""What RecipeBuilder shows and keeps after a change."""

import gc
import time
import weakref

import ipywidgets
import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from traitlets import TraitError

from cvnb import Family, Recipe, knn, nested_cv
from cvnb.widgets import RecipeBuilder
from iris import X, y


def test_a_given_recipe_is_left_by_choosing_another(builder):
    """Its name or its cell, though the controls stood there already; "(as given)" cannot be
    chosen by hand."""
    for chosen in ({"named": "4. nested CV"}, {"cell": "folds/folds"}):
        builder.recipe = Recipe(KFold(4), 3)
        builder._form.enter(**chosen)
        assert builder.recipe == Recipe(5, 5)
        assert builder._form.values["named"] == "4. nested CV"
    for word in ("(as given)", "–"):
        builder._form.enter(named=word)
        assert builder.recipe == Recipe(5, 5)
        assert builder._form.values["named"] == "4. nested CV"


def test_a_result_brings_its_loss_and_its_rule(builder):
    """And its own code; other rows are refused; None takes it away."""
    result = Recipe(5, 5).run(
        knn(k=range(1, 11)), X, y, scoring="f1_macro", select="one_se"
    )
    builder.result = result
    assert (builder.loss, builder.select) == ("f1_macro", "one_se")
    space = {"X": X, "y": y}
    exec(builder.to_python(), space)
    np.testing.assert_array_equal(space["result"].fold_risks, result.fold_risks)
    assert "--scoring f1_macro" in builder.to_cell()
    builder.seed = 1
    assert builder.wait(60)
    assert "scoring='f1_macro', select='one_se'" in builder.to_python()
    with pytest.raises(TraitError, match="this one is of others"):
        builder.result = Recipe(5, 5).run(knn(k=range(1, 4)), X[:90, :2], y[:90])
    builder.result = None
    assert builder._strip.value == ""
    assert "No result." in builder._now.value


def test_rows_changed_in_place_change_nothing_on_screen(names):
    """The builder has rows of its own."""
    rows = X.copy()
    builder = RecipeBuilder(rows, y, namespace=names)
    assert builder.wait(60)
    risk = builder.result.risk
    rows[:] = np.nan
    builder.seed = 1
    builder.seed = 0
    assert builder.wait(60)
    assert builder.result.risk == risk
    builder.close()


def test_no_word_of_an_older_figure_stays(builder):
    """From a heat map with words on its axes to a curve of numbers, and to nothing."""
    builder.family_name, builder.grid = (
        "model",
        "{'C': [1, 10], 'kernel': ['rbf', 'linear']}",
    )
    assert builder.wait(60)
    builder.run()
    assert builder.wait(60)
    layout = builder._curve.widget.layout
    assert "rbf" in (*layout.xaxis.ticktext, *layout.yaxis.ticktext)
    builder.family = knn(k=range(1, 9))
    assert builder.wait(60)
    layout = builder._curve.widget.layout
    assert layout.xaxis.ticktext is None
    assert layout.yaxis.ticktext is None
    assert not layout.title.text
    builder.family_name, builder.grid = "model", ""
    assert builder.wait(60)
    assert not builder._curve.widget.layout.title.text


def test_time_switched_off_takes_its_buffer_along(builder):
    """A disabled field is no trap."""
    builder.time_ordered, builder.buffer = True, 2
    builder.time_ordered = False
    assert builder.wait(60)
    assert builder.error == ""
    assert builder.recipe == Recipe(5, 5)


def test_a_closed_builder_is_gone(names):
    """Its widgets, and after the garbage collection itself with its rows."""
    before = len(ipywidgets.widgets.widget._instances)
    builder = RecipeBuilder(X, y, namespace=names)
    assert builder.wait(60)
    builder.close()
    assert len(ipywidgets.widgets.widget._instances) == before
    gone = weakref.ref(builder)
    del builder
    for _ in range(50):
        gc.collect()
        if gone() is None:
            break
        time.sleep(0.05)  # its last thread is on its way out
    assert gone() is None


def test_an_estimator_named_like_a_short_hand_can_be_chosen(names):
    """Both stand in the list; what is copied is the one that was chosen."""
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    builder = RecipeBuilder(X, y, namespace=names | {"tree": tree})
    listed = [label for label, _ in builder._form.choices["family_name"]]
    assert {"tree", "tree (yours)"} <= set(listed)
    builder.family_name, builder.grid = "tree (yours)", "{'max_depth': [1, 2]}"
    assert builder.family.estimator is tree
    assert builder.to_cell().endswith("\n(tree, {'max_depth': [1, 2]})")
    assert "import Recipe\n" in builder.to_python()
    builder.family = Family(tree, {"max_depth": [3]}, name="tree")
    assert (builder.family_name, builder.grid) == ("tree (yours)", "{'max_depth': [3]}")
    builder.close()


def test_what_a_result_was_measured_with_stays(names):
    """Groups, a loss and a rule of the user's: on screen, in the copied Python, and when it
    is run again."""
    own, rule = (lambda y, z: (y != z) * 2.0), (lambda curve: len(curve) - 1)
    groups = np.arange(150) % 30
    builder = RecipeBuilder(X, y, namespace=names | {"plots": groups})
    for options, control, word in (
        ({"groups": groups}, "groups", "plots"),
        ({"groups": np.arange(150) % 25}, "groups", "(as given)"),
        ({"loss": own}, "loss", "(as given)"),
        ({"select": rule}, "select", "(as given)"),
    ):
        result = Recipe(5, 4).run(knn(k=[1, 2, 9]), X, y, progress="off", **options)
        builder.result = result
        assert getattr(builder, control) == word
        assert (builder.to_cell() == "") == (word == "(as given)")
        assert f"{control}=" in builder.to_python()
        builder.run()
        assert builder.wait(60)
        np.testing.assert_array_equal(builder.result.fold_risks, result.fold_risks)
        builder.groups, builder.loss, builder.select = "", "auto", "min"
    with pytest.raises(TraitError, match="sample_weight, which no control holds"):
        builder.result = nested_cv(
            Family(SVC(), {"C": [1, 10]}),
            X,
            y,
            sample_weight=np.ones(150),
            progress="off",
        )
    builder.close()


def test_a_result_that_is_taken_away_leaves_the_controls(builder):
    """None after a result: its recipe and its code stand."""
    builder.result = nested_cv(knn(k=[1, 2]), X, y, outer=4, progress="off")
    builder.result = None
    assert "outer=4" in builder.to_python()
    assert "No result" in builder.snapshot().html


def test_a_family_that_is_refused_leaves_the_one_that_is_wanted(builder):
    """Also where that was not made yet."""
    builder.grid = "k=[1, 2]"
    with pytest.raises(Exception, match="5 is no estimator"):
        builder.family = 5
    assert builder.family.call == ("knn", {"k": [1, 2]})


def test_an_odd_object_in_the_namespace_is_no_column(names):
    """One that fails when it is looked at costs no control."""

    class Odd:
        shape = (150,)

        def __array__(self, *given, **options):
            raise TypeError("not on this device")

    class Odder:
        @property
        def shape(self):
            raise RuntimeError("nothing to see")

    builder = RecipeBuilder(X, y, namespace=names | {"odd": Odd(), "odder": Odder()})
    builder._form.enter(outer=7)
    assert builder.wait(60)
    assert builder.recipe == Recipe(7, 5)
    assert builder.error == ""
    builder.close()
