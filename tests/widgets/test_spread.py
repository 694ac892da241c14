"""SpreadExplorer without a browser: numbers, what starts by itself, cancelling, refusals."""

import time

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from cvnb import Family, Recipe, knn, nested_cv, ridge
from cvnb.inference import OneSE
from cvnb.results.scales import scale_of
from cvnb.studies import over_seeds
from cvnb.widgets import SpreadExplorer
from cvnb.wording import rounded
from iris import X, y
from slow import Slow

FAST = knn(k=[1, 5, 15], scale=False)
GROUPS = np.arange(150) // 3
STRATEGIES = {"strategy": ["prior", "most_frequent"]}


@pytest.fixture
def explore():
    """explore(...) makes an explorer that is closed after the test."""
    made = []

    def make(*given, **options):
        made.append(SpreadExplorer(*given, **options))
        return made[-1]

    yield make
    for explorer in made:
        explorer.close()


def settled(explorer):
    """The explorer once its worker is done; what it says in its form."""
    assert explorer.wait(60)
    return explorer._form.error


def until(condition):
    """Wait for a condition."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def same(explorer, result, n):
    """What is shown is this result and its seeds, to the last bit."""
    expected = over_seeds(result, n)
    np.testing.assert_array_equal(explorer.result.fold_risks, result.fold_risks)
    np.testing.assert_array_equal(explorer.study.seeds, expected.seeds)
    np.testing.assert_array_equal(explorer.study.risks, expected.risks)


def test_the_cloud_is_that_of_over_seeds(explore):
    """For the family as given, and after every move of a slider."""
    explorer = explore(FAST, X, y, n=12)
    assert settled(explorer) == ""
    same(explorer, nested_cv(FAST, X, y), 12)
    explorer.outer, explorer.inner, explorer.rule, explorer.n = 4, 3, "one_se", 15
    assert settled(explorer) == ""
    same(explorer, Recipe(4, 3).run(FAST, X, y, select="one_se"), 15)


RUNS = {
    "groups and weights": (ridge(alpha=[0.1, 1.0]), {"groups": GROUPS}),
    "a score": (FAST, {"scoring": "balanced_accuracy"}),
    "a rule of its own": (FAST, {"select": OneSE({"n_neighbors": "small"})}),
    "a default grid": (knn(), {}),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_result_keeps_its_options(explore, name):
    """It is shown as it is; other folds run with its loss, rule, groups and weights."""
    family, options = RUNS[name]
    if isinstance(options.get("groups"), np.ndarray):
        options = options | {"sample_weight": np.linspace(1, 2, 150)}
    result = Recipe(3, 2, seed=4).run(family, X, y, **options)
    explorer = explore(result, n=5)
    assert settled(explorer) == ""
    assert explorer.result is result
    same(explorer, result, 5)
    explorer.inner = 3
    assert settled(explorer) == ""
    same(explorer, Recipe(3, 3, seed=4).run(family, X, y, **options), 5)


def test_the_figure_shows_every_seed_beside_the_curve(explore):
    """A dot each, lines at the mean and at this run, on an axis of its own."""
    explorer = explore(FAST, X, y, n=40)
    assert settled(explorer) == ""
    study, figure = explorer.study, explorer._curve.widget
    band, dots, mean, own = figure.data[-4:]
    np.testing.assert_array_equal(dots.customdata, study.risks)
    low, high = figure.layout.yaxis2.range
    risks = 100 * study.risks  # in percent, as the axis is
    assert np.abs(np.subtract(dots.y, risks)).max() < 0.1 * (high - low)
    assert len(set(zip(dots.x, dots.y, strict=True))) == 40
    assert list(mean.y) == pytest.approx([100 * study.mean] * 2)
    assert list(own.y) == pytest.approx([100 * explorer.result.risk] * 2)
    assert max(band.y) - min(band.y) == pytest.approx(200 * study.sd)
    assert all(low <= risk <= high for risk in risks)
    explorer.inner = 4
    assert settled(explorer) == ""
    assert explorer._curve.widget is figure  # its values changed, not the widget


def test_the_sentence_has_mean_sd_and_share(explore):
    """With the number of the run itself."""
    explorer = explore(FAST, X, y, n=30)
    assert settled(explorer) == ""
    study, words = explorer.study, explorer._spread.words.value
    write = scale_of(explorer.result).write
    assert f"<b>{write(study.mean)}</b>, sd <b>{100 * study.sd:.1f} points</b>" in words
    assert "over 30 seeds" in words
    assert f"this run {write(explorer.result.risk)}" in words
    assert f"{100 * study.noise_share:.0f} %" in words
    assert f"mean {rounded(study.mean, 4)}" in repr(explorer)


def test_scores_are_shown_as_scores(explore):
    """An accuracy is large where the loss is small."""
    explorer = explore(nested_cv(FAST, X, y, scoring="balanced_accuracy"), n=6)
    assert settled(explorer) == ""
    dots = explorer._curve.widget.data[-3]
    assert min(dots.customdata) > 0.5
    np.testing.assert_allclose(dots.customdata, -explorer.study.risks)


def test_a_slow_path_waits_for_run(explore, monkeypatch):
    """Nothing is fitted before, the result given is shown, and Run runs all."""
    monkeypatch.setattr(Slow, "seconds", 0.0)
    family = Family(Slow(), STRATEGIES)
    result = Recipe(3, 2).run(family, X, y)
    explorer = explore(result, n=4)
    assert settled(explorer) == ""
    assert (explorer.result, explorer.study) == (result, None)
    assert "Not run yet: 60 fits" in explorer._spread.words.value
    explorer._form.enter(outer=4)
    assert settled(explorer) == ""
    assert (explorer.result, explorer.study) == (None, None)
    assert "Not run yet: 100 fits" in explorer._strip.value
    assert explorer._form.actions == [["run", "Run", True], ["cancel", "Cancel", False]]
    explorer._hear(None, {"action": "run"}, None)
    assert settled(explorer) == ""
    same(explorer, Recipe(4, 2).run(family, X, y), 4)


def running(explore, **options):
    """A slow cloud of which two seeds are shown."""
    family = Family(Slow(), STRATEGIES)
    explorer = explore(Recipe(2, 2).run(family, X, y), **options)
    assert settled(explorer) == ""
    explorer.run()
    until(lambda: explorer.study is not None and explorer.study.risks.size >= 2)
    return explorer


def test_cancel_keeps_the_seeds_that_are_finished(explore):
    """They are the first of over_seeds; the panel says how many of how many."""
    explorer = running(explore, n=1000)
    assert explorer._form.busy
    assert "of 1000 seeds" in explorer._form.status
    assert 0 < explorer._form.share < 0.5
    explorer._hear(None, {"action": "cancel"}, None)
    assert settled(explorer) == ""
    study = explorer.study
    assert 2 <= study.risks.size < 1000
    assert not study.complete
    assert f"over {study.risks.size} seeds of 1000" in explorer._spread.words.value
    assert "Stopped" in explorer._form.status
    assert not explorer._form.busy
    expected = over_seeds(explorer.result, n=study.risks.size)
    np.testing.assert_array_equal(study.risks, expected.risks)


def test_a_new_setting_ends_the_computation_before_it(explore):
    """Its seeds are not shown, and the slow path waits again."""
    explorer = running(explore, n=1000)
    explorer.inner = 3
    assert settled(explorer) == ""
    assert (explorer.result, explorer.study) == (None, None)
    assert "Not run yet" in explorer._strip.value
    assert len(explorer._curve.widget.data[-3].x) == 0
    assert not explorer._form.busy


def test_the_newest_of_many_moves_is_shown(explore):
    """A slider that is dragged."""
    explorer = explore(FAST, X, y, n=25)
    for outer in [*range(2, 12), *range(11, 5, -1)]:
        explorer._form.enter(outer=outer)
    assert settled(explorer) == ""
    same(explorer, Recipe(6, 5).run(FAST, X, y), 25)


def test_closing_ends_the_computation(explore):
    """And nothing is shown any more."""
    explorer = running(explore, n=1000)
    explorer.close()
    assert explorer.wait(60)
    assert explorer.study.risks.size < 1000


def test_splits_that_are_no_folds_are_kept(explore):
    """Their slider is off; the other level can be moved."""
    explorer = explore(Recipe(0.3, 3).run(FAST, X, y), n=5)
    assert settled(explorer) == ""
    assert explorer._form.disabled == ["outer"]
    explorer.inner = 4
    assert settled(explorer) == ""
    same(explorer, Recipe(0.3, 4).run(FAST, X, y), 5)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, cv=KFold(3))
    explorer = explore(search, X, y, n=5)
    assert settled(explorer) == ""
    assert explorer._form.disabled == ["inner"]
    same(explorer, nested_cv(search, X, y), 5)


def test_one_setting_has_a_cloud_and_no_curve(explore):
    """Nothing is chosen, so the run is marked and named in the cloud."""
    explorer = explore(Recipe.external_cv(3).run(knn(k=3), X, y), n=5)
    assert settled(explorer) == ""
    assert explorer.study.risks.size == 5
    traces = explorer._curve.widget.data
    assert len(traces) == 4
    assert traces[-1].showlegend


def test_a_heat_map_has_a_cloud_too(explore):
    """Two parameters."""
    family = Family(SVC(), {"C": [0.1, 10], "gamma": [0.1, 1.0]})
    explorer = explore(Recipe(2, 2).run(family, X, y), n=3)
    explorer.run()
    assert settled(explorer) == ""
    figure = explorer._curve.widget
    assert figure.data[0].type == "heatmap"
    assert figure.data[0].colorbar.x < figure.layout.xaxis2.domain[0]
    assert len(figure.data[-3].x) == 3


def test_no_random_split_is_said_beside_the_curve(explore):
    """Every seed gives the same number: the curve stays, the cloud is empty."""
    result = Recipe(KFold(3), inner=KFold(2)).run(FAST, X, y)
    explorer = explore(result, n=5)
    assert "every seed gives the same number" in settled(explorer)
    assert (explorer.result, explorer.study) == (result, None)
    assert not explorer._form.busy
    inside = explore(Recipe.internal_cv(3).run(FAST, X, y), n=5)
    assert "nothing was measured outside" in settled(inside)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"outer": 1}, "outer=1 leaves no fold to test on"),
        ({"outer": 300}, "300 outer folds need 300 rows"),
        ({"outer": -(10**9)}, "outer=-1000000000"),
        ({"inner": 10**30}, "fold"),
        ({"n": 0}, "n=0 must be from 1 to 10000"),
        ({"n": 10**12}, "must be from 1 to 10000"),
    ],
)
def test_what_cannot_be_is_said_and_leaves_no_number(explore, values, words):
    """Until it is corrected."""
    explorer = explore(FAST, X, y, n=5)
    assert settled(explorer) == ""
    explorer._form.enter(**values)
    assert words in settled(explorer)
    assert (explorer.result, explorer.study) == (None, None)
    assert len(explorer._curve.widget.data[-3].x) == 0
    assert "No result" in explorer.snapshot().html
    explorer._form.enter(outer=5, inner=5, n=5)
    assert settled(explorer) == ""
    same(explorer, nested_cv(FAST, X, y), 5)


def test_the_browser_may_send_anything(explore):
    """Wrong types are named, other fields and actions ignored."""
    explorer = explore(FAST, X, y, n=5)
    assert settled(explorer) == ""
    for name, value in (
        ("outer", "five"),
        ("n", None),
        ("n", 2.5),
        ("rule", "__import__('os')"),
        ("rule", ["min"]),
        ("inner", {"a": 1}),
    ):
        explorer._form.enter(**{name: value})
        assert name in explorer._form.error
    explorer._form.enter(_result=1, study=2, close=3)
    for content in (None, "run", [], {}, {"action": ["run"]}, {"action": "close"}):
        explorer._hear(None, content, None)
    explorer.outer = 4
    assert settled(explorer) == ""
    same(explorer, Recipe(4).run(FAST, X, y), 5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((FAST,), "takes a result, or a family with its rows"),
        ((0.5, X, y), "0.5 is no estimator"),
        (({"a": FAST, "b": knn()}, X, y), "takes one family"),
        ((FAST, X, y[:9]), "rows"),
    ],
)
def test_what_is_neither_family_nor_result_is_refused(given, words):
    """With what would be one."""
    with pytest.raises((TypeError, ValueError), match=words):
        SpreadExplorer(*given)


def test_results_that_do_not_fit_are_refused():
    """A comparison, or a result with other rows."""
    comparison = Recipe(2, 2).run({"knn": FAST, "two": knn(k=[2])}, X, y)
    with pytest.raises(TypeError, match=r"comparison\['knn'\]"):
        SpreadExplorer(comparison)
    with pytest.raises(ValueError, match="a result has its own rows"):
        SpreadExplorer(comparison["knn"], X, y)


def test_changes_to_the_users_arrays_change_no_number(explore):
    """The explorer has its own."""
    A, labels = X.copy(), y.copy()
    explorer = explore(FAST, A, labels, n=5)
    A[:], labels[:] = 0.0, 0
    explorer.outer = 4
    assert settled(explorer) == ""
    same(explorer, Recipe(4).run(FAST, X, y), 5)


def test_it_has_a_static_copy(explore):
    """Text and pictures, no script; it follows what is shown."""
    InteractiveShell.instance()
    explorer = explore(FAST, X, y, n=5)
    assert settled(explorer) == ""
    shot = explorer.snapshot()._repr_html_()
    assert shot.count("<img") == 5  # with three dots of the strip
    assert "5 values of error rate" in shot
    assert "<script" not in shot
    with capture_output() as shown:
        explorer._ipython_display_()
    widget, copied = shown.outputs
    assert "application/vnd.jupyter.widget-view+json" in widget.data
    assert explorer._form.twin in copied.data["text/html"]
    InteractiveShell.clear_instance()


def test_a_page_that_missed_something_gets_it_without_another_run(explore, monkeypatch):
    """The figure is sent anew; a slow cloud is not lost."""
    monkeypatch.setattr(Slow, "seconds", 0.0)
    explorer = running(explore, n=3)
    assert settled(explorer) == ""
    before, study = explorer._curve.widget, explorer.study
    explorer._form.get_state()
    explorer._form.drawn += 1  # something was drawn while the page was loading
    explorer._hear(None, {"action": "opened"}, None)
    assert settled(explorer) == ""
    assert explorer._curve.widget is not before
    assert explorer.study is study
    assert list(explorer._curve.widget.data[-3].x) == list(before.data[-3].x)
