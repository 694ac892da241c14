"""The widgets without a browser: every control is a trait, and what is on screen is a
recipe, a family and a result."""

import threading
import time

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVC
from traitlets import TraitError

from cvnb import Family, Recipe, Resampling, knn, nested_cv, ridge
from cvnb.engine.progress import Slot
from cvnb.errors import RecipeError
from cvnb.inference import dev_set_bound, dev_set_size
from cvnb.views.phrases import headline
from cvnb.widgets import BoundExplorer, CurveExplorer, NestMap, RecipeBuilder
from cvnb.widgets.spelling import CELLS, Call, call_of, used, values_of
from cvnb.widgets.worker import Worker
from cvnb.wording import number
from slow import Slow

X, y = load_iris(return_X_y=True)
GROUPS = np.arange(150) // 3


@pytest.fixture
def names():
    """A user's namespace."""
    return {
        "X": X,
        "y": y,
        "model": SVC(),
        "slow": Slow(),
        "plots": GROUPS,
        "search": GridSearchCV(SVC(), {"C": [1, 10]}, cv=3),
    }


def shown(builder):
    """What stands on screen once everything is done."""
    assert builder.wait(60)
    return builder.result


def curve_of(builder):
    return {trace.name: trace for trace in builder._curve.widget.data}


def test_a_builder_opens_with_nested_cv_of_knn(builder):
    """The plan is drawn and, the path being fast, run at once; the numbers are those of the
    run by hand."""
    result = shown(builder)
    expected = nested_cv(knn(), X, y)
    np.testing.assert_array_equal(result.fold_risks, expected.fold_risks)
    assert builder.recipe == Recipe(5, 5)
    assert "4.0 %" in builder._strip.value
    assert "data:image/svg+xml" in builder._nest.value
    np.testing.assert_allclose(
        curve_of(builder)["mean of folds"].y,
        100 * expected.inner_curves.mean(axis=0),
    )


@pytest.mark.parametrize(
    ("changes", "recipe"),
    [
        ({"outer": 3}, Recipe(3, 5)),
        ({"inner": 4, "seed": 7}, Recipe(5, 4, seed=7)),
        ({"inside": "loo"}, Recipe(5, "loo")),
        ({"outside": "holdout", "test": 0.3}, Recipe.cv_test(inner=5, test=0.3)),
        (
            {"outside": "holdout", "inside": "holdout", "validation": 0.3},
            Recipe.train_validation_test(0.3, 0.2),
        ),
        (
            {"outside": "resampling", "inside": "resampling", "outer": 4},
            Recipe.nested_resampling(4, 5),
        ),
        ({"outside": "none"}, Recipe.internal_cv(5)),
        ({"stratify": "no"}, Recipe(5, 5, stratify=False)),
        (
            {"time_ordered": True, "buffer": 2},
            Recipe(5, 5, time_ordered=True, buffer=2),
        ),
    ],
)
def test_controls_make_the_recipe(builder, changes, recipe):
    """Each control is a trait; the map and the curve follow."""
    for name, value in changes.items():
        setattr(builder, name, value)
    assert builder.recipe == recipe
    result = shown(builder)
    assert result.plan == recipe.plan(X, y, builder.family)
    assert builder.plan is result.plan


def test_the_form_sets_the_traits(builder):
    """What the browser sends: numbers, cells of the table, recipes by name."""
    form = builder._form
    form.enter(outer=4)
    assert (builder.outer, builder.recipe) == (4, Recipe(4, 5))
    form.enter(cell="holdout/folds")
    assert (builder.outside, form.values["named"]) == ("holdout", "2. CV then test")
    form.enter(named="1. train/validation/test")
    assert form.values["cell"] == "holdout/holdout"
    assert builder.recipe == Recipe.train_validation_test(validation=0.25)
    assert {"outer", "inner", "buffer"} <= set(form.disabled)
    assert not {"test", "validation", "seed"} & set(form.disabled)


def test_what_cannot_be_is_said_in_place_and_leaves_no_number(builder):
    """A recipe that is none, an infeasible plan, a grid that is no Python: each with its
    sentence, until it is mended."""
    for name, wrong, words in (
        ("outer", 1, "outer=1 leaves no fold to test on"),
        ("outer", 200, "200 outer folds need 200 rows, but there are 150"),
        ("grid", "k=range(1,", "SyntaxError"),
        ("grid", "k=[500]", "k=500 needs 500 training rows"),
        ("grid", "q=3", "unexpected keyword argument 'q'"),
        ("inside", "none", "inner=None measures one setting, but the grid has"),
        ("loss", "log", ""),
    ):
        before = getattr(builder, name)
        setattr(builder, name, wrong)
        builder.wait(60)
        assert words in builder.error
        assert words in builder._form.error
        assert (builder.result is None) == bool(words)
        if words:
            assert builder._form.stale == "number map"
            places = (builder._now, builder._strip, builder._nest)
            assert all(words not in place.value for place in places)
        setattr(builder, name, before)
        assert shown(builder) is not None
        assert builder.error == ""


def test_values_of_a_wrong_type_are_said_in_the_panel(builder):
    """From the browser nothing is raised where nobody would see it."""
    builder._form.enter(outer="five")
    assert builder.wait(60)
    assert "five" in builder._form.error
    builder._form.enter(outer=4)
    assert builder.recipe == Recipe(4, 5)


def test_recipe_and_family_can_be_set(builder, names):
    """The controls follow where they can say it; else the recipe stands as given."""
    builder.recipe = Recipe.resampling_test(samples=7, validation=0.3)
    assert (builder.outside, builder.inside, builder.inner, builder.validation) == (
        "holdout",
        "resampling",
        7,
        0.3,
    )
    builder.family = knn(k=[1, 5], scale=False)
    assert (builder.family_name, builder.grid) == ("knn", "k=[1, 5], scale=False")
    assert len(shown(builder).settings) == 2
    builder.recipe = given = Recipe(KFold(4), 3)
    assert builder.recipe is given
    assert builder._form.values["named"] == "(as given)"
    assert builder.to_cell() == ""
    assert "KFold(n_splits=4, random_state=None, shuffle=False)" in builder.to_python()
    assert shown(builder).plan == given.plan(X, y)
    builder.outer = 3
    assert builder.recipe == Recipe.resampling_test(samples=7, validation=0.3)
    with pytest.raises(TraitError, match=r"builder.recipe must be a Recipe, got int"):
        builder.recipe = 5
    with pytest.raises(TypeError):
        builder.family = 5
    with pytest.raises(TraitError, match="one family"):
        builder.family = {"a": knn(), "b": ridge()}
    assert builder.recipe == Recipe.resampling_test(samples=7, validation=0.3)


def test_a_result_can_be_set(builder):
    """It is shown as it is, with its recipe and family."""
    result = Recipe.cv_test(inner=3).run(ridge(alpha=[0.1, 1.0]), X, y)
    builder.result = result
    assert builder.result is result
    assert (builder.recipe, builder.family_name, builder.outside) == (
        Recipe.cv_test(inner=3),
        "ridge",
        "holdout",
    )
    assert headline(result)[0] in builder._strip.value
    with pytest.raises(TraitError, match="must be the result of a run, got float"):
        builder.result = 0.5


def test_estimators_of_the_namespace_can_be_chosen(builder):
    """An estimator with a typed grid, a search as it is; nothing slow runs without being
    asked for."""
    builder.family_name, builder.grid = "model", "{'C': [1, 10]}"
    assert shown(builder) is None
    assert "Not run yet: 55 fits of model. Press Run." in builder._now.value
    assert builder.plan is not None
    builder.run()
    result = shown(builder)
    expected = Recipe(5, 5).run(Family(SVC(), {"C": [1, 10]}), X, y)
    np.testing.assert_array_equal(result.fold_risks, expected.fold_risks)
    builder.seed = 1
    assert shown(builder) is None
    builder.family_name = "search"
    assert "grid" in builder._form.disabled
    builder.run()
    assert shown(builder).settings == [{"C": 1}, {"C": 10}]


def test_what_is_defined_later_can_be_chosen_later(builder, names):
    """The lists are those of the namespace as it is now."""
    names["later"] = SVC(C=3)
    builder.seed = 1
    assert ["later", "later"] in builder._form.choices["family_name"]


def test_the_state_of_the_chart_is_what_it_shows(builder):
    """A front end that comes later asks for it."""
    shown(builder)
    state = builder._curve.widget.get_state()
    assert len(state["_widget_data"]) == len(builder._curve.widget.data) == 10
    assert state["_widget_layout"]["xaxis"]["title"]["text"] == "k"


def opened(view):
    """A page says that it has drawn the form."""
    view._form._handle_custom_msg({"action": "opened"}, [])


def test_what_a_page_adds_to_a_curve_is_heard_and_changes_nothing(builder):
    """After a repaint plotly's page sends its defaults of each trace, arrays among them; the
    values stay, and the message raises nothing."""
    shown(builder)
    chart = builder._curve.widget
    trace = chart.data[0]
    before = list(trace.x)
    added = {"uid": trace.uid, "x": {"dtype": "f8", "bdata": ""}, "opacity": 1}
    message = {"trace_deltas": [added], "trace_edit_id": chart._last_trace_edit_id}
    chart.set_state({"_js2py_traceDeltas": message})
    assert list(trace.x) == before


def test_a_page_gets_again_what_was_drawn_while_it_was_loading(builder):
    """It asked for the state, then made the widgets: what came in between was lost."""
    shown(builder)
    builder._form.get_state()
    builder.seed = 1
    shown(builder)
    before, values = builder._curve.widget, curve_of(builder)
    opened(builder)
    after = builder._curve.widget
    assert after is not before
    assert builder._curve.place.children == (after,)
    assert before.comm is None
    for name, trace in curve_of(builder).items():
        np.testing.assert_array_equal(trace.y, values[name].y)


def test_a_page_that_missed_nothing_keeps_its_figure(builder):
    """Its zoom, for example."""
    shown(builder)
    before = builder._curve.widget
    builder._form.get_state()
    opened(builder)  # nothing was drawn since
    builder.seed = 1
    shown(builder)
    opened(builder)  # a second view in a page that has seen it all
    assert builder._curve.widget is before


def test_an_explorer_that_was_sent_again_still_hears_clicks(result):
    """A new figure has other traces."""
    view = CurveExplorer(result)
    assert drawn(view) == ""
    view._form.get_state()
    view.split = "1"
    assert drawn(view) == ""
    before = view._curve.widget
    opened(view)
    assert drawn(view) == ""
    assert view._curve.widget is not before
    clickable = next(
        trace
        for trace in view._curve.widget.data
        if trace.legendgroup == "mean" and trace.line.width
    )
    clickable._dispatch_on_click(Points(3), None)
    assert view.theta == view._names_of_settings[3]


def test_groups_of_the_namespace_can_be_chosen(builder):
    """One value for each row."""
    assert ["plots", "plots"] in builder._form.choices["groups"]
    builder.groups = "plots"
    assert shown(builder).plan == Recipe(5, 5).plan(X, y, groups=GROUPS)
    assert "groups=plots" in builder.to_python()


def test_a_long_run_fills_in_and_can_be_cancelled(names):
    """The curve shows finished outer splits while others go on; Cancel keeps them."""
    builder = RecipeBuilder(X, y, namespace=names)
    builder.family_name, builder.grid, builder.outer = (
        "slow",
        "{'strategy': ['prior', 'uniform']}",
        10,
    )
    builder.wait(60)
    builder.run()
    until = time.monotonic() + 60
    while (
        builder.result is None or len(builder.result.fold_risks) < 2
    ) and time.monotonic() < until:
        time.sleep(0.02)
    assert 2 <= len(builder.result.fold_risks) < 10
    assert builder._form.busy
    assert "so far" in builder._form.status
    assert 0 < builder._form.share < 1
    builder._clicked(None, {"action": "cancel"}, None)
    result = shown(builder)
    assert not result.complete
    assert 2 <= len(result.fold_risks) < 10
    assert "Stopped" in builder._form.status
    assert not builder._form.busy
    builder.close()


def test_the_newest_change_wins(builder):
    """Twenty changes in a row: the last is on screen, and most of the others were never run."""
    for seed in range(1, 21):
        builder.seed = seed
    result = shown(builder)
    assert result.plan == Recipe(5, 5, seed=20).plan(X, y)


def random_state(rng, builder):
    """A random position of the controls."""
    cells = [cell for cell in CELLS if cell != ("loo", "loo") and cell[1] != "none"]
    outside, inside = cells[rng.integers(len(cells))]
    values = {
        "outside": outside,
        "inside": inside,
        "outer": int(rng.integers(3, 7)),
        "inner": int(rng.integers(2, 6)),
        "test": float(rng.choice([0.2, 0.3])),
        "validation": float(rng.choice([0.2, 0.25])),
        "seed": int(rng.integers(100)),
        "stratify": str(rng.choice(["auto", "yes", "no"])),
        "select": str(rng.choice(["min", "one_se"])),
        "groups": str(rng.choice(["", "plots"])),
        "loss": str(rng.choice(["auto", "zero_one", "accuracy", "f1_macro"])),
    }
    family = [
        ("knn", "k=[1, 5, 9]"),
        ("ridge", "alpha=[0.1, 1]"),
        ("model", "{'C': [1, 10]}"),
        ("search", ""),
    ][rng.integers(4)]
    values["family_name"], values["grid"] = family
    with builder.hold_trait_notifications():
        for name, value in values.items():
            setattr(builder, name, value)


def said(family):
    """What a family is: the call of a short-hand, or estimator and settings."""
    return family.call or (repr(family.estimator), family.settings)


def test_fifty_random_states_are_copied_exactly(names):
    """The Python and the cell give the same plan, family, rule and loss as the controls do."""
    builder = RecipeBuilder(X, y, namespace=names)
    rng = np.random.default_rng(0)
    for _ in range(50):
        random_state(rng, builder)
        space = names | {"called": lambda *given, **options: (given, options)}
        exec(builder.to_python().replace("recipe.run(", "called("), space)
        (family, *data), options = space["result"]
        assert space["recipe"] == builder.recipe
        assert data[0] is X
        assert data[1] is y
        made = (
            family
            if isinstance(family, Family)
            else Family(family)
            if not isinstance(family, tuple)
            else Family(*family)
        )
        assert said(made) == said(builder.family)
        assert options.get("select", "min") == builder.select
        assert options.get("groups") is (GROUPS if builder.groups else None)
        assert options.get("loss", options.get("scoring", "auto")) == builder.loss
    builder.close()


def test_every_cell_of_the_table_is_a_recipe_and_back():
    """Outer × inner: the call, its Python and the controls that made it are the same thing."""
    values = {
        "outer": 4,
        "inner": 3,
        "test": 0.3,
        "validation": 0.2,
        "seed": 7,
        "stratify": False,
        "time_ordered": False,
        "buffer": 0,
    }
    for outside, inside in CELLS:
        call = call_of(values | {"outside": outside, "inside": inside})
        assert (
            eval(call.python, {"Recipe": Recipe, "Resampling": Resampling})
            == call.recipe
        )
        back = values_of(call.recipe)
        assert (back["outside"], back["inside"]) == (outside, inside)
        assert all(back[name] == values[name] for name in used((outside, inside)))
        assert call_of(values | back) == call
    assert values_of(Recipe(KFold(3), 2)) is None
    assert values_of(Recipe(5, 0.25)) is None
    assert values_of(Recipe(0.2, 0.25)) is None
    assert values_of(Recipe(stratify=5)) is None
    assert values_of(Recipe(time_ordered="forward")) is None
    assert values_of(Recipe(time_ordered=True, buffer="3D")) is None
    assert (
        Call("", {"outer": None, "inner": Resampling(3, 0.2)}).options
        == "--outer None --inner Resampling(samples=3,share=0.2)"
    )


def test_the_cell_that_measures_nothing_says_so():
    """None outside and none inside is no recipe."""
    with pytest.raises(
        RecipeError, match="leave no rows to measure on; choose another cell"
    ):
        call_of({"outside": "none", "inside": "none"})


def test_the_snapshot_is_static(builder):
    """Text and pictures, no script; its text is the result's."""
    shot = builder.snapshot()
    assert repr(shot) == repr(builder.result)
    assert "4.0 %" in shot._repr_html_()
    assert "<script" not in shot._repr_html_()
    assert "Recipe.nested_cv" in shot._repr_html_()


def test_a_worker_does_the_newest_and_stops_the_rest():
    """One at a time; what is superseded is told to stop; the thread ends when nothing is left."""
    worker, begun, go = Worker(Slot), [], threading.Event()

    def work(name):
        def act(slot):
            begun.append(name)
            while not (go.is_set() or slot.stop.is_set()):
                time.sleep(0.001)

        return act

    worker.ask(work("first"))
    while not begun:
        time.sleep(0.001)
    for name in ("second", "third", "last"):
        worker.ask(work(name))
    go.set()
    assert worker.wait(10)
    assert begun[0] == "first"
    assert begun[-1] == "last"
    assert "second" not in begun or begun.index("second") < begun.index("last")


def test_a_work_that_replaces_one_not_yet_begun_is_not_told_to_stop():
    """What the newer one tells the older one is not meant for itself, however late the
    thread starts."""
    worker, told = Worker(Slot), []
    with (
        worker._lock
    ):  # its thread starts, and cannot take anything before both are asked for
        worker.ask(lambda slot: told.append("the first was begun"))
        worker.ask(lambda slot: told.append(slot.stop.is_set()))
    assert worker.wait(10)
    assert told == [False]


@pytest.fixture(scope="module")
def result():
    return nested_cv(knn(k=range(1, 21)), X, y)


def drawn(view):
    """The view once its worker is done; what it says in its form."""
    assert view.wait(30)
    return view._form.error


def test_a_nest_map_says_what_a_row_does(result):
    """Outside and inside; the roles are those of the plan."""
    view = NestMap(result.plan)
    assert drawn(view) == ""
    for row in (0, 77, 149):
        view.row = row
        j = next(j for j, (_, test) in enumerate(result.plan.outer) if row in test)
        assert view.does == [
            f"is in test fold {j + 1}",
            "is trained on in 4 folds",
        ]
    other = (j + 1) % 5
    view.show = f"inside split {j}"
    assert view.does == [f"is in test fold {j + 1}: no inner fold touches it"]
    view.show = f"inside split {other}"
    k = next(k for k, (_, dev) in enumerate(result.plan.inner[other]) if 149 in dev)
    assert view.does[1] == f"is in inner test fold {k + 1}"
    assert drawn(view) == ""
    assert "Row 149" in view._words.value
    assert "data:image/svg+xml" in view._map.value
    view.row = 150
    assert drawn(view) == "row=150 is no row; they are numbered 0 to 149."
    view.row, view.show = 3, "inside split 9"
    assert "is no view of this plan" in drawn(view)
    assert NestMap(Recipe.external_cv(3).plan(X, y))._form.choices["show"] == [
        ["outer splits", "all folds"]
    ]


def test_the_form_of_a_view_sets_its_traits(result):
    """And what is no value of theirs is said there."""
    view = NestMap(result)
    view._form.enter(row=5)
    assert view.row == 5
    view._form.enter(row="five")
    assert "five" in view._form.error


def test_a_curve_explorer_steps_through_splits_rules_and_settings(result):
    """One split's curve, another rule's choices, the fold losses of one θ: the numbers of
    the result."""
    view = CurveExplorer(result)
    assert drawn(view) == ""
    assert view.chosen == result.chosen_index.tolist()
    view.theta = "k=5"
    np.testing.assert_allclose(
        [row[1] for row in view.fold_losses], result.inner_curves[:, 4]
    )
    np.testing.assert_allclose(
        [row[2] for row in view.fold_losses], result.outer_curves[:, 4]
    )
    view.split = "2"
    assert [row[0] for row in view.fold_losses] == [f"2, {k}" for k in range(5)]
    np.testing.assert_allclose(
        np.mean([row[1] for row in view.fold_losses]), result.inner_curves[2, 4]
    )
    assert drawn(view) == ""
    strong, mark = view._curve.widget.data[-2:]
    np.testing.assert_allclose(strong.y, 100 * result.inner_curves[2])
    assert strong.name == "inside fold 3"
    assert (list(mark.x), list(mark.y)) == ([5], [100 * result.inner_curves[2, 4]])
    assert "k=5" in view._losses.value
    view.rule = "one_se"
    assert (
        view.chosen
        == nested_cv(knn(k=range(1, 21)), X, y, select="one_se").chosen_index.tolist()
    )
    view.log_x = view.log_y = True
    assert drawn(view) == ""
    assert (
        view._curve.widget.layout.xaxis.type,
        view._curve.widget.layout.yaxis.type,
    ) == ("log", "log")
    view.split = "7"
    assert drawn(view) == "split='7' is no outer split; use 'all splits' or '0' to '4'."


def test_a_click_on_a_list_of_settings_chooses_its_row():
    """Settings of three parameters, the best first, whatever their order in the grid."""
    grid = {"C": [0.1, 10.0], "gamma": [0.01, 1.0], "kernel": ["rbf", "poly"]}
    view = CurveExplorer(Recipe(3, 2).run(Family(SVC(), grid), X, y))
    assert drawn(view) == ""
    means = view.result.inner_curves.mean(axis=0)
    for place, s in enumerate(np.argsort(means, kind="stable").tolist()):
        view._clicked(None, type("Points", (), {"point_inds": [place]})())
        assert drawn(view) == ""
        assert view.theta == view._names_of_settings[s]
        inner = [row[1] for row in view.fold_losses]
        assert np.mean(inner) == pytest.approx(means[s])


class Points:
    def __init__(self, *at):
        self.point_inds = list(at)


def test_a_click_chooses_a_setting(result):
    """On the mean curve, and on a cell of a heat map."""
    view = CurveExplorer(result)
    assert drawn(view) == ""
    view._clickable._dispatch_on_click(Points(6), None)
    assert view.theta == "k=7"
    surface = CurveExplorer(
        Recipe(3, 2).run(Family(SVC(), {"gamma": [0.1, 1.0], "C": [10, 0.1, 1]}), X, y)
    )
    assert drawn(surface) == ""
    surface._clickable._dispatch_on_click(Points([1, 2]), None)
    assert surface.theta == "C=10, gamma=1"
    assert drawn(surface) == ""


def test_every_view_has_a_static_copy(result):
    """Text and pictures, no script; shown below the widget, for when it is reopened."""
    InteractiveShell.instance()
    for view in (NestMap(result), CurveExplorer(result), BoundExplorer()):
        assert drawn(view) == ""
        shot = view.snapshot()
        assert "<img" in shot._repr_html_()
        assert "<script" not in shot._repr_html_()
        assert repr(shot)
        with capture_output() as shown:
            view._ipython_display_()
        widget, copy = shown.outputs
        assert "application/vnd.jupyter.widget-view+json" in widget.data
        assert set(copy.data) == {"text/plain", "text/html"}
        assert view._form.twin in copy.data["text/html"]
        view.close()
    InteractiveShell.clear_instance()


def test_an_explorer_wants_a_curve(result):
    """A result with one setting has none."""
    with pytest.raises(ValueError, match="there is no curve"):
        CurveExplorer(Recipe.external_cv(3).run(knn(k=3), X, y))
    with pytest.raises(TypeError, match="takes the result of a run, got Plan"):
        CurveExplorer(result.plan)


def test_a_bound_explorer_says_what_the_formulas_say():
    """Both ways; what is out of range is said in the form."""
    view = BoundExplorer()
    view.n_dev, view.n_settings, view.delta, view.width, view.range = (
        400,
        20,
        0.1,
        0.2,
        2.0,
    )
    assert view.bound == dev_set_bound(400, 20, 0.1, 2.0)
    assert view.size == dev_set_size(0.2, 20, 0.1, 2.0)
    assert drawn(view) == ""
    assert number(view.bound) in view._words.value
    assert str(view.size) in view._words.value
    view.delta = 2.0
    assert "delta=2.0 must lie strictly between 0 and 1" in drawn(view)
    view.delta = 0.1
    assert drawn(view) == ""
