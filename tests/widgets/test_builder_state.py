"""What strangers found in the widgets and their code: each was wrong once."""

import gc
import threading
import time
import warnings
import weakref

import ipywidgets
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cosine
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from traitlets import TraitError

from cvnb import Family, Recipe, knn, nested_cv, ridge
from cvnb.figures import comparison_figure
from cvnb.runtime.thread_warnings import quiet
from cvnb.widgets import BoundExplorer, CurveExplorer, NestMap, RecipeBuilder
from cvnb.widgets import builder as builder_module
from cvnb.wording import number
from slow import Slow
from stopped import finished_part

X, y = load_iris(return_X_y=True)


class Leaves(DummyClassifier):
    """Wants to end the program."""

    def fit(self, X, y, sample_weight=None):
        raise SystemExit(3)


@pytest.fixture
def names():
    return {
        "X": X,
        "y": y,
        "model": SVC(),
        "slow": Slow(),
        "leaves": Leaves(),
        "np": np,
    }


def running(builder, outer=12):
    """A slow run with some outer splits finished."""
    builder.family_name, builder.grid, builder.outer = (
        "slow",
        "{'strategy': ['prior', 'uniform']}",
        outer,
    )
    assert builder.wait(60)
    builder.run()
    until = time.monotonic() + 60
    while (
        builder.result is None or len(builder.result.fold_risks) < 2
    ) and time.monotonic() < until:
        time.sleep(0.02)


def test_an_error_while_a_run_goes_on_stays_on_screen(builder):
    """And no number of the run that was stopped comes after it."""
    running(builder)
    builder.outer = 1
    assert builder.wait(60)
    assert "outer=1 leaves no fold" in builder.error
    assert builder.result is None
    assert "No result" in builder._strip.value
    assert builder._form.codes == {}


def test_a_result_that_is_set_while_a_run_goes_on_stays(builder):
    """At once, whatever the run was at."""
    running(builder)
    result = Recipe(3, 2).run(knn(k=[1, 5]), X, y)
    started = time.monotonic()
    builder.result = result
    assert time.monotonic() - started < 2
    time.sleep(0.5)
    assert builder.wait(60)
    assert builder.result is result
    assert builder.recipe == Recipe(3, 2)
    assert number(result.risk) in builder._strip.value


def test_a_new_change_does_not_wait_for_a_long_fit(builder, monkeypatch):
    """The map is the new one's long before the old fit ends."""
    monkeypatch.setattr(Slow, "seconds", 3.0)
    builder.family_name, builder.grid = "slow", ""
    assert builder.wait(60)
    builder.inside = "none"
    assert builder.wait(60)
    builder.run()
    time.sleep(0.3)
    builder.seed = 9
    until = time.monotonic() + 2.0
    while (
        builder.plan != Recipe(5, None, seed=9).plan(X, y) and time.monotonic() < until
    ):
        time.sleep(0.02)
    assert builder.plan == Recipe(5, None, seed=9).plan(X, y)
    assert builder.result is None


def test_cancelling_leaves_no_number_of_an_older_state(builder):
    """A change, and at once a click on Cancel: what is on screen is of the change."""
    builder.seed = 1
    builder.cancel()
    assert builder.wait(60)
    assert builder.plan == Recipe(5, 5, seed=1).plan(X, y)
    assert builder.result.plan == builder.plan
    builder.family_name, builder.grid = "slow", ""
    assert builder.wait(60)
    builder.run()
    time.sleep(0.1)
    assert builder.result is None or builder.result.plan == builder.plan


def test_a_run_that_ends_the_program_ends_itself(builder):
    """SystemExit is said; the next change is computed."""
    builder.family_name, builder.inside = "leaves", "none"
    assert builder.wait(60)
    builder.run()
    assert builder.wait(20)
    assert "SystemExit" in builder.error
    builder.family = knn(k=3)
    assert builder.wait(60)
    assert builder.result is not None


def test_a_change_made_by_an_observer_is_heard(builder):
    """In the worker's thread, too."""
    builder.observe(
        lambda change: setattr(builder, "seed", 5) if change.new is not None else None,
        "result",
    )
    builder.outer = 4
    until = time.monotonic() + 30
    while builder.recipe != Recipe(4, 5, seed=5) and time.monotonic() < until:
        time.sleep(0.02)
    assert builder.wait(60)
    assert builder.recipe == Recipe(4, 5, seed=5)
    assert builder.result.plan == Recipe(4, 5, seed=5).plan(X, y)


def test_a_given_recipe_is_left_by_choosing_another(builder):
    """Its name or its cell, though the controls stood there already; "(as given)" cannot be chosen by hand."""
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
    assert "No result." in builder._strip.value


def test_the_cv_of_a_search_is_what_is_copied(builder):
    """inner="auto" with a search that brings its own cannot be said by a number of folds."""
    search = GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=KFold(3)
    )
    builder.family, builder.recipe = search, Recipe(4, seed=2)
    assert builder.to_cell() == ""
    assert "inner='auto'" in builder.to_python()
    assert builder._form.values["named"] == "(as given)"


def test_names_are_looked_up_each_time():
    """Rows without a name, or whose name stands for something else by now, are not called X."""
    builder = RecipeBuilder(X[:100], y[:100], namespace={"X": X, "y": y})
    assert "recipe.run(knn(), your_X, your_y)" in builder.to_python()
    assert (
        "# your_X: what the builder was given; it has no name here"
        in builder.to_python()
    )
    space = {"X": X, "y": y}
    rebound = RecipeBuilder(X, y, namespace=space)
    assert "recipe.run(knn(), X, y)" in rebound.to_python()
    space["X"] = X[:10]
    assert "your_X" in rebound.to_python()


@pytest.mark.parametrize(
    "line",
    ["A[:,:2] y", "f --target target --groups g", 'f --target "the target" --groups g'],
)
def test_the_texts_of_the_magic_are_copied(shell, line):
    """Expressions and columns of a frame: the cell and the Python give the number on screen."""
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        target=y, g=np.arange(150) // 5
    )
    if "the target" in line:
        frame = frame.rename(columns={"target": "the target"})
    shell.user_ns.update(A=X.copy(), f=frame)
    builder = shell.run_line_magic("recipe", line)
    assert builder.wait(60)
    risk = builder.result.risk
    done = shell.run_cell(builder.to_cell())
    done.raise_error()
    assert done.result.risk == risk
    shell.run_cell(builder.to_python()).raise_error()
    assert shell.user_ns["result"].risk == risk
    builder.close()


def test_what_is_configured_is_said_in_the_cell(shell):
    """%config of seed and rule changes nothing of what was copied."""
    builder = shell.run_line_magic("recipe", "X y")
    assert builder.wait(60)
    shell.run_line_magic("config", "NestedCVMagics.seed = '7'")
    shell.run_line_magic("config", "NestedCVMagics.select = 'one_se'")
    try:
        done = shell.run_cell(builder.to_cell())
        assert done.result.risk == builder.result.risk
        assert done.result.chosen == builder.result.chosen
    finally:
        shell.run_line_magic("config", "NestedCVMagics.seed = ''")
        shell.run_line_magic("config", "NestedCVMagics.select = 'min'")
        builder.close()


def test_names_of_the_user_are_not_covered_and_cover_nothing(shell):
    """An estimator called knn, a number called accuracy."""
    shell.user_ns.update(knn=KNeighborsClassifier(), accuracy=0.9)
    builder = shell.run_line_magic("recipe", "X y")
    builder.loss = "accuracy"
    assert builder.wait(60)
    for text in (builder.to_cell(), builder.to_python()):
        done = shell.run_cell(text)
        done.raise_error()
    assert shell.user_ns["result"].risk == builder.result.risk
    assert isinstance(shell.user_ns["knn"], KNeighborsClassifier)
    builder.close()


def test_grids_and_splitters_are_written_as_code(builder, names):
    """Arrays, NaN and infinity, splitters that hold arrays; what cannot be made again is said to be so."""
    builder.family = Family(names["model"], {"C": np.logspace(-1, 1, 3)}, name="model")
    assert builder.grid == "{'C': np.array([0.1, 1.0, 10.0])}"
    builder.recipe = Recipe(PredefinedSplit(np.arange(150) % 5), 3)
    space = dict(names)
    exec(builder.to_python().rsplit("\n", 1)[0], space)
    assert space["recipe"].plan(X, y) == builder.recipe.plan(X, y)
    builder.recipe = Recipe(
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=np.random.RandomState(0)), 3
    )
    assert "outer=your_function" in builder.to_python()
    assert "# your_function: something of yours" in builder.to_python()
    pipeline = make_pipeline(
        SimpleImputer(missing_values=float("nan")), LogisticRegression()
    )
    result = Recipe(3, 2).run(
        Family(pipeline, {"logisticregression__C": [1.0, float("inf")]}), X, y
    )
    space = {"X": X, "y": y}
    exec(result.code(), space)
    assert space["result"].risk == result.risk


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
    assert "'rbf'" in (*layout.xaxis.ticktext, *layout.yaxis.ticktext)
    builder.family = knn(k=range(1, 9))
    assert builder.wait(60)
    assert layout.xaxis.ticktext is None
    assert layout.yaxis.ticktext is None
    assert not layout.title.text
    builder.family_name, builder.grid = "model", ""
    assert builder.wait(60)
    assert not layout.title.text


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


def test_settings_that_look_alike_are_told_apart():
    """By their number: a click chooses what was clicked."""
    view = CurveExplorer(
        Recipe(3, 2).run(
            Family(SVC(), {"C": [1.0000001, 1.0000002, 0.01, 100.0]}), X, y
        )
    )
    assert view.wait(30)
    names = {}
    for place in range(4):
        view._clicked(None, type("Points", (), {"point_inds": [place]})())
        assert view.wait(30)
        assert view._form.error == ""
        names[view.theta] = float(view._curve_drawn.axis.x[place])
    assert names == {
        "C=0.01": 0.01,
        "C=1 (setting 0)": 1.0000001,
        "C=1 (setting 1)": 1.0000002,
        "C=100": 100.0,
    }


def test_a_view_shows_nothing_beside_what_it_refuses():
    """No old number, no old picture."""
    bound = BoundExplorer()
    bound.n_settings = 0
    assert bound.wait(30)
    assert bound._form.error
    assert (bound._words.value, bound._chart.value) == ("", "")
    bound.n_settings, bound.delta = 5, 1e-300
    assert bound.wait(30)
    assert "probability 1 − 1e-300 or more" in bound._words.value
    bound.n_dev = 10**30
    assert bound.wait(30)
    assert "more rows than anybody has" in bound._form.error
    nest = NestMap(Recipe(3, 2).plan(X, y))
    nest.row = 500
    assert nest.wait(30)
    assert (nest._map.value, nest._words.value) == ("", "")
    curve = CurveExplorer(Recipe(3, 2).run(ridge(alpha=[0.0, 1.0]), X, X[:, 0]))
    curve.log_x = True
    assert curve.wait(30)
    assert "no logarithm" in curve._form.error
    assert len(curve._chart.widget.data) == 0


def test_means_of_a_comparison_are_over_the_splits_that_are_drawn():
    """An interrupt in the second family leaves it fewer of them."""
    fits = []

    class Stopping(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            fits.append(1)
            if len(fits) > 4:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    families = {"a": knn(k=1), "b": Family(Stopping(), {})}
    comparison = finished_part(lambda: Recipe.external_cv(6).run(families, X, y))
    n = len(comparison["b"].fold_risks)
    assert 0 < n < 6
    means = comparison_figure(comparison).data[1].y
    np.testing.assert_allclose(
        means, [result.fold_risks[:n].mean() for result in comparison.values()]
    )


def test_the_number_on_screen_is_of_the_controls_on_screen(builder):
    """Fifty changes in a row, some of them wrong: what stands at the end belongs together."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        builder.outer, builder.seed = int(rng.integers(1, 8)), int(rng.integers(20))
        if rng.random() < 0.2:
            builder.cancel()
    assert builder.wait(60)
    if builder.outer < 2:
        assert builder.result is None
        return
    expected = nested_cv(knn(), X, y, outer=builder.outer, inner=5, seed=builder.seed)
    if builder.result.complete:
        assert builder.result.risk == expected.risk
    assert builder.result.plan == expected.plan


def test_a_grid_is_made_by_the_worker(names):
    """A grid that takes long to make holds nobody but who asks for the family; meanwhile other controls are heard."""
    begun, go_on = threading.Event(), threading.Event()

    class Slowly:
        def __iter__(self):
            begun.set()
            assert go_on.wait(60)
            return iter(range(1, 8))

    builder = RecipeBuilder(X, y, namespace=names | {"slowly": Slowly()})
    assert builder.wait(60)
    builder.grid = "k=slowly"
    assert begun.wait(60)
    builder.seed = 4
    assert builder._form.values["grid"] == "k=slowly"
    go_on.set()
    assert builder.family.call == knn(k=list(range(1, 8))).call
    assert builder.wait(60)
    assert len(builder.result.settings) == 7
    assert builder.result.plan == Recipe(5, 5, seed=4).plan(X, y)
    builder.grid = "k=slow()"
    assert builder.family.call == knn(k=list(range(1, 8))).call
    assert builder.wait(60)
    assert "the grid has a call, 'slow()'" in builder.error
    assert builder._form.codes == {}
    builder.close()


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


def test_builders_beside_runs_leave_the_filters_of_warnings(names):
    """Two threads inside warnings.catch_warnings at once left "ignore" behind for good."""
    builder = RecipeBuilder(X, y, namespace=names)
    assert builder.wait(60)
    before = list(warnings.filters)
    for seed in range(40):
        builder.seed = seed
        nested_cv(knn(k=[1, 2, 3]), X, y, seed=seed, progress="off")
    assert builder.wait(60)
    assert list(warnings.filters) == before
    builder.close()


def test_what_is_quiet_in_one_thread_is_heard_in_another():
    """And nothing is left behind."""
    inside, done, heard = threading.Event(), threading.Event(), []

    def hush():
        with quiet():
            warnings.warn("not to be heard", UserWarning, stacklevel=1)
            inside.set()
            done.wait(20)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        thread = threading.Thread(target=hush)
        thread.start()
        assert inside.wait(20)
        warnings.warn("to be heard", UserWarning, stacklevel=1)
        done.set()
        thread.join()
        heard += [str(one.message) for one in caught]
        assert list(warnings.filters) == before
    assert heard == ["to be heard"]


def test_changes_that_come_together_are_all_heard(builder):
    """The kernel was busy: the cell of the table and the seed arrive as one message, or as two with what was known before."""
    form = builder._form
    form.enter(cell="holdout/folds", seed=3)
    assert builder.recipe == Recipe.cv_test(inner=5, seed=3)
    form.enter(named="4. nested CV")
    form.enter(seed=4)
    assert builder.recipe == Recipe(5, 5, seed=4)
    form.enter(named="2. CV then test", cell="folds/loo")
    assert builder.recipe == Recipe(5, "loo", seed=4)
    assert form.heard == max(n for _, n in form.entered.values())


def test_what_a_result_was_measured_with_stays(names):
    """Groups, a loss and a rule of the user's: on screen, in the copied Python, and when it is run again."""
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


def test_the_copied_python_names_the_rows_of_the_builder(names):
    """Not any X and y that stand in the namespace too."""
    Xc, yt = X[:, :2], np.where(y == 1, "b", "a")
    builder = RecipeBuilder(Xc, yt, namespace=names | {"Xc": Xc, "yt": yt})
    for same in (Xc, np.asfortranarray(Xc)):
        builder.result = nested_cv(knn(k=[1, 2, 9]), same, yt, progress="off")
        assert "run(knn(k=[1, 2, 9]), Xc, yt" in builder.to_python()
    builder.close()


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


def test_numpy_and_a_function_of_it_are_both_imported(builder):
    """ "from numpy import , log1p" was no Python."""
    pipeline = make_pipeline(FunctionTransformer(), SVC())
    builder.family = Family(
        pipeline,
        {
            "functiontransformer__func": [np.log1p, None],
            "svc__C": np.array([1.0, 10.0]),
        },
    )
    compile(builder.to_python(), "copied", "exec")
    assert "import numpy as np\nfrom numpy import log1p" in builder.to_python()


def test_names_that_the_code_uses_itself_are_not_overwritten(names):
    """An estimator called recipe, or Recipe; a metric that only a given family knows."""
    space = names | {"recipe": SVC(), "Recipe": SVC()}
    builder = RecipeBuilder(X, y, namespace=space)
    for name in ("recipe", "Recipe"):
        builder.family_name, builder.grid = name, "{'C': [1, 10]}"
        ran = dict(space)
        exec(builder.to_python(), ran)
        assert ran["result"].settings == [{"C": 1}, {"C": 10}]
    builder.family = knn(k=[1, 2], metric=cosine)
    assert "from scipy.spatial.distance import cosine" in builder.to_python()
    builder.close()


def test_a_bound_that_cannot_be_is_said_and_leaves_no_older_number():
    """In the form, in the copy and in the name of the widget."""
    explorer = BoundExplorer()
    explorer.delta = 0.0
    assert explorer.wait(20)
    assert "strictly between 0 and 1" in explorer._form.error
    assert "strictly between 0 and 1" in explorer.snapshot().html
    assert "0.27" not in repr(explorer)
    explorer.close()


def test_what_is_no_plan_is_refused_by_name():
    """With what would be one."""
    with pytest.raises(TypeError, match="NestMap shows a Plan or a result, got Recipe"):
        NestMap(Recipe())


def test_long_drawing_is_said_and_can_be_left(names, monkeypatch):
    """Nothing older stands beside the new controls, and Cancel is there."""
    builder = RecipeBuilder(X, y, namespace=names)
    assert builder.wait(60)
    go_on, prepare = threading.Event(), builder_module.prepare
    monkeypatch.setattr(
        builder_module, "prepare", lambda *given: go_on.wait(30) and prepare(*given)
    )
    builder.outer = 4
    until = time.monotonic() + 20
    while not builder._drawing and time.monotonic() < until:
        time.sleep(0.02)
    assert "being drawn" in builder._strip.value
    assert builder.result is None
    assert [enabled for _, _, enabled in builder._form.actions] == [False, True]
    builder.cancel()
    assert "Stopped" in builder._strip.value
    go_on.set()
    assert builder.wait(60)
    assert "Stopped" in builder._strip.value
    builder.run()
    assert builder.wait(60)
    assert builder.result is not None
    builder.close()
