"""Interrupted: at any moment, a run raises it with the finished part, marked as incomplete."""

import copy
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_validate

import cvnb
from cvnb import Comparison, Family, Interrupted, NestedCV, Recipe, knn, tree
from cvnb.data.table import Data
from cvnb.engine.workers import map_with_retries
from cvnb.runs.prepare import PreparedRun
from interrupts import interrupt
from notebook_kernel import SETUP, Kernel
from stopped import finished_part, shown_part

X, y = load_iris(return_X_y=True)
GRID = {"strategy": ["prior", "uniform"]}


class Stops(DummyClassifier):
    """Interrupts its n-th fit."""

    fits = iter(())

    def fit(self, X, y, sample_weight=None):
        if next(Stops.fits, False):
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def stopping(nth, grid=GRID):
    """A family whose n-th fit is interrupted, n = 1, 2, ..."""
    Stops.fits = itertools.chain([False] * (nth - 1), [True])
    return Family(Stops(), grid)


def interrupting(*args, **options):
    raise KeyboardInterrupt


def test_it_names_how_much_was_finished_and_carries_it():
    """Four outer splits of 3 × 2 + 1 fits each; the numbers are those of the whole run."""
    with pytest.raises(
        Interrupted,
        match=r"2 of 4 outer splits were finished; error\.result holds them",
    ) as caught:
        cvnb.nested_cv(stopping(20), X, y, outer=4, inner=3)
    part, whole = (
        caught.value.result,
        cvnb.nested_cv(stopping(99), X, y, outer=4, inner=3),
    )
    assert part.complete is False
    assert np.array_equal(part.fold_risks, whole.fold_risks[:2])
    assert np.array_equal(part.inner_curves, whole.inner_curves[:2])


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (Recipe(4, 3), "0 of 4 outer splits were finished, so there is no result"),
        (Recipe.internal_cv(4), "nothing was chosen yet, so there is no result"),
    ],
    ids=str,
)
def test_without_a_finished_part_there_is_no_result(recipe, message):
    """The result is None, and the message gives the reason."""
    with pytest.raises(Interrupted, match=message) as caught:
        recipe.run(stopping(3), X, y)
    assert caught.value.result is None


def test_it_is_a_keyboard_interrupt_and_no_exception():
    """`except Exception` around a run, scikit-learn's too, does not swallow the stop button."""
    assert issubclass(Interrupted, KeyboardInterrupt)
    assert not issubclass(Interrupted, Exception)
    model = NestedCV(stopping(20), outer=4, inner=3)
    with pytest.raises(Interrupted):
        cross_validate(model, X, y, cv=3, error_score=0.0)


def test_it_survives_pickling_and_copying():
    """As on the way from another process."""
    with pytest.raises(Interrupted) as caught:
        Recipe.external_cv(4).run(stopping(3, {}), X, y)
    for one in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert (type(one), str(one)) == (Interrupted, str(caught.value))
        assert np.array_equal(one.result.fold_risks, caught.value.result.fold_risks)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Data, "check"),
        (cvnb.runs.shared_plan, "draw"),
        (cvnb.engine.fill, "choose_path"),
        (PreparedRun, "estimate"),
    ],
    ids=["data", "plan", "path", "result"],
)
def test_an_interrupt_outside_the_fits_is_one_too(monkeypatch, owner, name):
    """While data are checked, splits drawn, a path chosen or the result computed."""
    monkeypatch.setattr(owner, name, interrupting)
    with pytest.raises(
        Interrupted, match=r"nothing was finished|0 of 3 outer splits were finished"
    ) as caught:
        cvnb.nested_cv(knn(k=[1, 5]), X, y, outer=3, inner=2)
    assert caught.value.result is None


def test_an_interrupt_after_the_last_fit_loses_nothing(monkeypatch):
    """It comes while the progress bar is removed: the next line does not run, the result is
    complete."""
    monkeypatch.setattr(cvnb.engine.progress.Slot, "clear", interrupting)
    part = finished_part(lambda: cvnb.nested_cv(knn(k=[1, 5]), X, y, outer=3, inner=2))
    assert (part.complete, len(part.fold_risks)) == (True, 3)


@pytest.mark.parametrize("family", [tree(), knn(k=[1, 5])], ids=["splits", "batches"])
def test_an_interrupt_with_the_last_answer_of_a_wave_is_not_lost(monkeypatch, family):
    """It comes while the last fit of a wave ends: its answer is kept, and the run stops."""

    def pressed_at_the_end(*arguments):
        yield from map_with_retries(*arguments)
        raise KeyboardInterrupt

    for module in (cvnb.engine.waves, cvnb.engine.batches):
        monkeypatch.setattr(module, "map_with_retries", pressed_at_the_end)
    with pytest.raises(Interrupted):
        cvnb.nested_cv(family, X, y, outer=3, inner=2)


def test_a_comparison_keeps_its_families_up_to_the_interrupted_one():
    """The second of three: the first is complete, the third never run."""
    families = {"a": knn(k=[1, 5]), "b": stopping(20), "c": knn(k=[3])}
    with pytest.raises(
        Interrupted,
        match=r"1 of 3 models were finished, and 2 of 4 outer splits of 'b'; error.result",
    ) as caught:
        Recipe(4, 3).run(families, X, y)
    comparison = caught.value.result
    assert isinstance(comparison, Comparison)
    assert [
        (name, one.complete, len(one.fold_risks)) for name, one in comparison.items()
    ] == [("a", True, 4), ("b", False, 2)]
    assert comparison.notes[-1].startswith("c: not run")


def test_a_comparison_whose_first_family_has_finished_nothing_has_no_result():
    """No outer split of any family was finished."""
    assert (
        finished_part(
            lambda: Recipe(4, 3).run({"a": stopping(3), "b": knn(k=[1])}, X, y)
        )
        is None
    )


def test_a_comparison_interrupted_between_two_families_is_not_complete(monkeypatch):
    """The finished ones are kept, and a note names the missing ones."""
    estimate = PreparedRun.estimate

    def second(self, job, *args, **options):
        if job.work.family.name == "knn" and list(job.work.family.settings) == [
            {"k": 3}
        ]:
            raise KeyboardInterrupt
        return estimate(self, job, *args, **options)

    monkeypatch.setattr(PreparedRun, "estimate", second)
    families = {"a": knn(k=[1]), "b": knn(k=[3])}
    with pytest.raises(
        Interrupted, match=r"1 of 2 models were finished; error.result"
    ) as caught:
        Recipe(4, 3).run(families, X, y)
    comparison = caught.value.result
    assert (list(comparison), comparison.complete) == (["a"], False)
    assert comparison.notes[-1].startswith("b: not run")


def test_the_final_setting_is_not_guessed():
    """An interrupt while it is chosen on all rows raises; a second access finds it."""
    result = Recipe(3, 2).run(stopping(99), X, y)
    Stops.fits = iter([False, True])
    with pytest.raises(Interrupted, match="final setting was not chosen yet"):
        _ = result.final_setting
    Stops.fits = iter([True])
    with pytest.raises(KeyboardInterrupt):
        result.predictor()
    assert result.final_setting in result.settings


@pytest.mark.parametrize("after", [1, 5], ids=["final setting", "training"])
def test_fit_interrupted_after_the_estimate_fits_nothing(after):
    """The exception carries the risk; a model that was fitted before stays as it was."""
    model = NestedCV(stopping(999), outer=3, inner=2)
    n = 3 * (2 * 2 + 1)
    Stops.fits = itertools.chain([False] * (n + after - 1), [True])
    with pytest.raises(
        Interrupted, match=r"every outer split was finished, but no model was trained"
    ) as caught:
        model.fit(X, y)
    assert caught.value.result.complete
    assert [name for name in vars(model) if name.endswith("_")] == []
    before = vars(model.fit(X, y)).copy()
    Stops.fits = iter([False] * 5 + [True])
    with pytest.raises(Interrupted, match="1 of 3 outer splits were finished"):
        model.fit(X, y)
    assert vars(model) == before


def test_what_magics_and_widgets_show_is_what_the_exception_carries():
    """The same numbers, without an exception."""
    shown = shown_part(Recipe(4, 3), stopping(20), X, y)
    carried = finished_part(lambda: Recipe(4, 3).run(stopping(20), X, y))
    assert shown.complete is carried.complete is False
    assert np.array_equal(shown.fold_risks, carried.fold_risks)


SCRIPT = """
import cvnb
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
class Stops(DummyClassifier):
    left = 20
    def fit(self, X, y, sample_weight=None):
        Stops.left -= 1
        if not Stops.left:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)
def run():
    family = Stops(), {"strategy": ["prior", "uniform"]}
    return cvnb.nested_cv(family, *load_iris(return_X_y=True), outer=4, inner=3)
"""


def script(end):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT + end], capture_output=True, text=True
    )


def test_a_script_ends_where_it_was_interrupted():
    """With a short traceback whose last line is the message; the next line does not run."""
    done = script("run()\nprint('next line')")
    assert done.returncode != 0
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[-1].startswith(
        "cvnb.errors.Interrupted: 2 of 4 outer splits were finished; error.result holds them"
    )
    assert sum(line.startswith("  File") for line in lines) <= 5
    assert "During handling" not in done.stderr


def test_a_script_that_catches_it_ends_well():
    """With status 0; a later error is an error."""
    caught = """
try:
    run()
except KeyboardInterrupt as error:
    print(len(error.result.fold_risks))
"""
    done = script(caught)
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert script(caught + "1 / 0").returncode == 1


def test_a_notebook_shows_the_message_and_keeps_the_part():
    """The cell fails and binds nothing; the exception still carries the finished part."""
    kernel = Kernel()
    try:
        kernel.run(SETUP + SCRIPT)
        reply, messages = kernel.run("result = run()\nprint('next line')")
        assert (reply["status"], reply["ename"]) == ("error", "Interrupted")
        shown = "\n".join(
            next(content for kind, content in messages if kind == "error")["traceback"]
        )
        assert "2 of 4 outer splits were finished; error.result holds them" in shown
        assert "sys.last_value.result" in shown
        assert [content for kind, content in messages if kind == "stream"] == []
        assert kernel.value("'result' in globals()") == "False"
        assert (
            kernel.value("len(__import__('sys').last_value.result.fold_risks)") == "2"
        )
    finally:
        kernel.stop()


@pytest.mark.parametrize("name", ["knn", "lasso", "tree", "svc"])
def test_an_interrupt_at_any_moment_is_answered_soon_and_leaves_the_process_sound(name):
    """The answer is a part of the uninterrupted run, and the next run is complete.

    Within a second, since the machine may be busy.
    """
    report = interrupt(name, times=2)
    assert report.faults == []
    assert len(report.answers) == 2
    assert max(report.answers) < 1.0
