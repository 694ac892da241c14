"""What strangers found in the magic, the displays and the background: each was wrong once."""

import re
import threading
import time

import numpy as np
import pandas as pd
import pytest
from IPython.core.completer import provisionalcompleter
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_regression
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from test_kernel import SETUP, Kernel

from cvnb import Family, Recipe, knn, ridge
from cvnb.errors import FitError
from cvnb.views.methods import methods_of
from stopped import shown_part

X, y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)


def html_of(shown):
    bundle = shown._repr_mimebundle_()
    return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]


def completions(shell, text, cursor=None):
    with provisionalcompleter():
        return [
            one.text
            for one in shell.Completer.completions(
                text, len(text) if cursor is None else cursor
            )
        ]


@pytest.mark.parametrize(
    "body",
    [
        "family = np.linalg.in",
        "family = fra",
        "grid = dict(k=fra",
        "    knn(k=ran",
        "x" * 60 + " = Fam",
    ],
)
def test_the_body_is_completed_wherever_the_cursor_stands(shell, body):
    """The matcher looks at the line of the cursor, not at the magic's by the cursor's column."""
    shell.user_ns["np"] = np
    cell = f"%%nestedcv X y --outer 3\n{body}"
    found = completions(shell, cell)
    assert all(not one.startswith("--") for one in found)
    if "linalg" in body:
        assert any("inv" in one for one in found)


def test_line_magics_are_completed_on_any_line(shell):
    """Indented, assigned from, and values behind an equals sign; IPython's own lists are no data."""
    assert "--inner" in completions(shell, "a = 1\n    %folds X y --in")
    assert "--inner" in completions(shell, "p = %folds X y --in")
    assert "nested_cv" in completions(shell, "%%nestedcv X y --recipe=nested_c")
    assert "loo" in completions(shell, "%folds X y --outer=l")
    assert "In" not in completions(shell, "%folds I")


# joblib's own thread may look for a call that was given up meanwhile: KeyError in add_call_item_to_queue, once in hundreds
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_estimator_that_always_fails_keeps_its_traceback(shell):
    """The error says that every setting failed; its cause is what the estimator raised, where it raised it."""

    class Bad(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("inside fit")

    for n_jobs in (None, 2):
        with pytest.raises(FitError, match="every setting failed") as caught:
            Recipe(3, 2).run(Bad(), X, y, n_jobs=n_jobs)
        assert isinstance(caught.value.__cause__, RuntimeError)
        frames = [
            frame.name
            for frame in pytest.ExceptionInfo.from_exception(
                caught.value.__cause__
            ).traceback
        ]
        assert "fit" in frames
    shell.user_ns["Bad"] = Bad
    done = shell.run_cell("%%nestedcv X y --outer 3\nBad()")
    assert isinstance(done.error_in_exec, FitError)
    assert not hasattr(done.error_in_exec, "_render_traceback_")

    def wrong(y, prediction):
        raise KeyError("inside loss")

    with pytest.raises(FitError) as caught:
        Recipe(3, 2).run(DummyClassifier(), X, y, loss=wrong)
    assert "inside loss" in str(caught.value.__cause__)


def test_defaults_of_config_give_way_and_stand_only_where_splits_are_counted(shell):
    """The line wins; a number of folds is no share."""
    shell.run_line_magic("config", "NestedCVMagics.outer = '4'")
    shell.run_line_magic("config", "NestedCVMagics.inner = 'loo'")
    try:
        for line, expected in (
            ("X y --recipe cv_test --test .4", Recipe.cv_test(inner="loo", test=0.4)),
            ("X y --recipe validation", Recipe.validation()),
            ("X y --recipe dev_set", Recipe.dev_set()),
            ("X y --recipe train_validation_test", Recipe.train_validation_test()),
            ("X y --recipe resampling_test", Recipe.resampling_test()),
            ("X y --recipe external_cv", Recipe.external_cv(4)),
            ("X y --recipe nested_dev", Recipe.nested_dev(4)),
            ("X y --recipe nested_resampling", Recipe.nested_resampling()),
            ("X y --inner 3", Recipe(4, 3)),
        ):
            assert shell.run_line_magic("folds", line).recipe == repr(expected)
    finally:
        shell.run_line_magic("config", "NestedCVMagics.outer = ''")
        shell.run_line_magic("config", "NestedCVMagics.inner = ''")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%nestedcv X y 'a\nknn()", "No closing quotation"),
        ("%%nestedcv X y -o class\nknn()", "-o 'class' is no name of a variable."),
        ("%%nestedcv X y -o None\nknn()", "-o 'None' is no name of a variable."),
    ],
)
def test_mistakes_are_one_line(shell, cell, words):
    """Quotes that are not closed, words that are no names."""
    done = shell.run_cell(cell)
    assert type(done.error_in_exec).__name__ == "NestedCVError"
    assert words in str(done.error_in_exec)


def test_columns_may_be_called_by_numbers(shell):
    """--target 4 is the column 4."""
    frame = pd.DataFrame(X)
    frame[4], frame[5] = y, np.arange(150) // 5
    shell.user_ns["frame"] = frame
    shell.run_cell(
        "%%nestedcv frame --target 4 --groups 5 --outer 3 --inner 2 -o 'found' -q\nknn(k=[1, 3])"
    )
    expected = Recipe(3, 2).run(knn(k=[1, 3]), frame[[0, 1, 2, 3]], y, groups=frame[5])
    np.testing.assert_array_equal(
        shell.user_ns["found"].fold_risks, expected.fold_risks
    )


def test_a_scorer_may_be_an_expression(shell):
    """As every other option."""
    shell.run_cell("from sklearn.metrics import f1_score, make_scorer")
    line = "%%nestedcv X y --outer 3 --inner 2 -o found -q --scoring make_scorer(f1_score,average='macro')"
    shell.run_cell(f"{line}\nknn(k=[1, 3])")
    expected = Recipe(3, 2).run(knn(k=[1, 3]), X, y, scoring="f1_macro")
    np.testing.assert_allclose(shell.user_ns["found"].fold_risks, expected.fold_risks)


def test_only_a_semicolon_that_python_sees_silences(shell, capsys):
    """One in a comment does not; one before a comment does."""
    for body, quiet in (
        ("knn(k=[1, 5])  # a;", False),
        ("knn(k=[1, 5])\n# end;", False),
        ("knn(k=[1, 5]);  # hi", True),
    ):
        done = shell.run_cell(f"%%nestedcv X y --outer 3 --inner 2\n{body}")
        assert (done.result is None) == quiet


def test_a_dry_run_is_bound_and_silenced_like_a_run(shell, capsys):
    """-o, -q and the semicolon; of several families too."""
    done = shell.run_cell("%%nestedcv X y --dry-run -q -o cost\nknn()")
    assert done.result is None
    assert shell.user_ns["cost"].fits > 0
    capsys.readouterr()
    shell.run_cell("%%nestedcv X y --dry-run -o costs\n{'a': knn(), 'b': knn(k=[1])};")
    assert list(shell.user_ns["costs"]) == ["a", "b"]
    assert capsys.readouterr().out == ""


def test_unloading_leaves_no_configurable(shell):
    """However often."""
    for _ in range(3):
        shell.run_line_magic("unload_ext", "cvnb")
        assert not [
            one for one in shell.configurables if type(one).__name__ == "NestedCVMagics"
        ]
        shell.run_line_magic("load_ext", "cvnb")


@pytest.mark.parametrize(
    ("recipe", "n", "grouped"),
    [
        (Recipe(10, 10), 150, False),
        (Recipe(8, 12), 150, False),
        (Recipe(12, 12), 10_000, True),
    ],
)
def test_no_display_is_larger_than_60_kB(recipe, n, grouped):
    """Ten folds inside ten folds, with groups."""
    plan = recipe.plan(
        RNG.normal(size=(n, 3)),
        RNG.integers(0, 3, n),
        groups=np.arange(n) // 5 if grouped else None,
    )
    assert len(html_of(plan)) < 50_000
    if n < 1000:
        result = recipe.run(
            knn(k=range(1, 31)), RNG.normal(size=(n, 3)), RNG.integers(0, 3, n)
        )
        assert len(html_of(result).encode()) < 60_000


def stopped(recipe, after, family=None):
    """What is shown of a run that was interrupted in the fit of that number."""
    made = []

    class Stopping(DummyRegressor):
        def fit(self, X, y, sample_weight=None):
            made.append(1)
            if len(made) > after:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    families = (
        family(Stopping)
        if family
        else Family(Stopping(), {"strategy": ["mean", "median"]})
    )
    return shown_part(recipe, families, X, X[:, 0])


@pytest.mark.parametrize("recipe", [Recipe(4, 3), Recipe.cv_test(inner=3)], ids=str)
def test_a_result_without_a_number_is_not_called_a_smallest_loss(recipe):
    """Interrupted before the first outer split: not measured, in every display."""
    result = stopped(recipe, 1)
    assert result.risk is None
    for said in (repr(result), html_of(result)):
        assert "not measured, for no outer split was finished" in said
        assert "smallest inner" not in said
    assert "No risk was estimated: the run was interrupted" in methods_of(result)
    assert any(note.startswith("Interrupted: 0 of ") for note in result.notes)
    inner = stopped(Recipe.internal_cv(3), 1)
    assert "Interrupted: nothing was chosen yet." in inner.notes


def test_a_comparison_says_which_families_were_never_run():
    """An interrupt in the first of three."""
    comparison = stopped(
        Recipe(4, 3),
        3,
        lambda kind: {"slow": Family(kind(), {}), "b": ridge(), "c": ridge()},
    )
    assert list(comparison) == ["slow"]
    assert "b: never run, for the run was interrupted before." in repr(comparison)
    assert "c: never run, for the run was interrupted before." in html_of(comparison)


def test_no_address_of_memory_is_shown():
    """Functions and objects in a grid have the same name in every process."""

    class Thing:
        def __call__(self, X):
            return X * 2

    pipeline = Pipeline([("f", FunctionTransformer()), ("m", Ridge())])
    result = Recipe(3, 2).run(
        Family(pipeline, {"f__func": [np.log1p, lambda a: a * 0, Thing()]}), X, X[:, 0]
    )
    for said in (
        repr(result),
        html_of(result),
        result.curve_figure().to_json(),
        methods_of(result),
    ):
        assert not re.search(r" at 0x[0-9a-f]+", said)
    assert "f__func in {log1p, <lambda>, <" in methods_of(result)


def test_tiny_losses_have_a_curve_and_not_a_line():
    """Ticks have as many digits as it takes."""
    Xr, yr = make_regression(60, 4, noise=5, random_state=0)
    result = Recipe(3, 3).run(ridge(alpha=[0.1, 1, 10]), Xr, yr * 1e-9)
    from cvnb.pictures.curves import curve_of
    from cvnb.pictures.svg import draw_curve

    body = draw_curve(curve_of(result)).body
    path = re.search(r'class="m" d="M([^"]+)"', body)[1]
    heights = [float(point.split()[1]) for point in path.split("L")]
    assert max(heights) - min(heights) > 50


def test_many_notes_are_folded():
    """Fifty settings fail, each with words of its own: five notes are shown, the rest on demand."""

    class Fussy(ClassifierMixin, BaseEstimator):
        def __init__(self, a=0):
            self.a = a

        def fit(self, X, y):
            if self.a % 2:
                raise ValueError(f"a={self.a} {'x' * self.a}")
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    result = Recipe(3, 2).run(Family(Fussy(), {"a": list(range(60))}), X, y)
    assert len(result.notes) > 25
    assert len(repr(result).splitlines()) < 20
    visible = html_of(result).split("<details>")[0]
    assert visible.count("<li>") == 5
    assert all(note.split(":")[0] in html_of(result) for note in result.notes)


def test_drawing_a_large_result_is_quick_work():
    """The map of 400,000 rows needs no sort of all of them for each bar: a tenth of the run that made it."""
    rows = RNG.normal(size=(400_000, 20))
    started = time.perf_counter()
    result = Recipe(5, 5).run(ridge(), rows, rows[:, 0] + RNG.normal(size=len(rows)))
    ran = time.perf_counter() - started
    started = time.perf_counter()
    html_of(result)
    assert time.perf_counter() - started < 3 * ran


@pytest.fixture(scope="module")
def kernel():
    one = Kernel()
    assert one.run(SETUP)[0]["status"] == "ok"
    yield one
    one.stop()


@pytest.mark.parametrize("after", [0.02, 0.08, 0.15])
def test_an_interrupt_of_the_first_run_breaks_nothing(after):
    """It hits the imports: the cell ends at once with one line, and the next run is whole."""
    fresh = Kernel()
    try:
        fresh.run(
            "%load_ext cvnb\nfrom sklearn.datasets import load_iris\nX, y = load_iris(return_X_y=True)"
        )
        threading.Timer(after, fresh.interrupt).start()
        reply, messages = fresh.run("%%nestedcv X y\nknn(k=range(1, 51))")
        if reply["status"] == "error":
            assert reply["ename"] == "NestedCVInterrupted"
            assert (
                len(
                    next(content for kind, content in messages if kind == "error")[
                        "traceback"
                    ]
                )
                == 1
            )
        reply, _ = fresh.run("%%nestedcv X y -o risk\nknn(k=range(1, 51))")
        assert reply["status"] == "ok", reply
        assert fresh.value("risk.complete, risk.path") == "True path:knn"
    finally:
        fresh.stop()


def test_runs_with_workers_side_by_side_do_not_end_each_other(kernel):
    """A foreground run that is interrupted, and a job that is cancelled, take joblib's workers with them: the other goes on."""
    slow = "Family(Slow(), {'strategy': ['prior', 'uniform']})"
    kernel.run(f"%%nestedcv X y --background --jobs 2 -o job --outer 12 -q\n{slow}")
    threading.Timer(1.0, kernel.interrupt).start()
    reply, _ = kernel.run(f"%%nestedcv X y --jobs 2 -o front --outer 20 -q\n{slow}")
    assert reply["ename"] == "NestedCVInterrupted"
    assert kernel.value("job.wait().complete") == "True"
    kernel.run(f"%%nestedcv X y --background --jobs 2 -o job --outer 30 -q\n{slow}")
    kernel.run("import threading; threading.Timer(0.7, job.cancel).start()")
    reply, _ = kernel.run(f"%%nestedcv X y --jobs 2 -o front --outer 12 -q\n{slow}")
    assert reply["status"] == "ok", reply
    assert kernel.run("job.wait()")[0]["ename"] == "Interrupted"
    assert kernel.value("front.complete, job.result.complete") == "True False"


def test_a_job_has_an_estimator_of_its_own(kernel):
    """Its parameters changed meanwhile change nothing."""
    kernel.run("est = Slow(strategy='prior')")
    kernel.run(
        "%%nestedcv X y --background -o job -q --recipe external_cv --outer 6\nest"
    )
    kernel.run("est.strategy = 'constant'")
    assert (
        kernel.value("job.wait().complete, 'constant' in job.result.code()")
        == "True False"
    )


def test_a_job_leaves_no_widget_behind(kernel):
    """Nor the models of their layouts and styles."""
    count = "len(__import__('ipywidgets').widgets.widget._instances)"
    before = kernel.value(count)
    for _ in range(2):
        kernel.run("%%nestedcv X y --background -o job --outer 3 --inner 2\nSlow()")
        kernel.value("job.wait().complete")
    assert kernel.value(count) == before
