"""Runs in the background: jobs, and the messages that a front end receives."""

import threading
import time

import nbformat
import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from joblib.parallel import get_active_backend
from nbclient import NotebookClient
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_info

from cvnb import Family, Interrupted, Recipe, knn
from cvnb.data.table import Data
from cvnb.engine.progress import Slot
from cvnb.jupyter.background import BackgroundRun, show_end
from cvnb.runs.options import DEFAULTS, Options
from cvnb.runs.prepare import prepare
from notebook_kernel import SETUP, Kernel, kinds
from slow import Slow
from stopped import finished_part

X, y = load_iris(return_X_y=True)


class Broken(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        raise SystemError("broken inside")

    def predict(self, X):
        return np.zeros(len(X))


def job_of(family, X=X, y=y, recipe=None, **options):
    ready = prepare(
        recipe or Recipe(4, 3),
        family,
        Data.check(X, y).copied(),
        Options(**{**DEFAULTS, **options}),
    )
    return BackgroundRun(ready.run, Slot(shows=False))


@pytest.mark.parametrize(
    "family",
    [knn(k=[1, 5, 9]), Family(RandomForestClassifier(5), {"max_depth": [1, 3]})],
    ids=str,
)
def test_a_job_gives_what_a_run_gives(family):
    """The same numbers, also for an estimator that uses NumPy's global random state."""
    job = job_of(family).start()
    result = job.wait()
    expected = Recipe(4, 3).run(family, X, y)
    np.testing.assert_array_equal(result.fold_risks, expected.fold_risks)
    np.testing.assert_array_equal(result.inner_curves, expected.inner_curves)
    assert (job.state, job.progress, job.result is result, repr(job)) == (
        "finished",
        1.0,
        True,
        "Job(finished, 100 % done)",
    )


def test_a_job_leaves_the_random_state_of_the_notebook_alone():
    """The numbers that the user draws meanwhile are those drawn without it."""
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random(40)  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    job = job_of(Family(RandomForestClassifier(5), {"max_depth": [1, 3]})).start()
    drawn = []
    while len(drawn) < 40:
        drawn.append(np.random.random())  # noqa: NPY002
        time.sleep(0.005)
    job.wait()
    np.testing.assert_array_equal(drawn, expected)


def test_a_job_works_on_rows_of_its_own():
    """Changing X in place meanwhile changes nothing."""
    rows = X.copy()
    job = job_of(Family(Slow(), {}), rows)
    job.start()
    rows[:] = np.nan
    assert job.wait().complete
    fast = job_of(knn(k=[1, 5]), rows := X.copy())
    rows[:] = 0.0
    fast.start()
    np.testing.assert_array_equal(
        fast.wait().fold_risks, Recipe(4, 3).run(knn(k=[1, 5]), X, y).fold_risks
    )


def test_a_job_has_the_settings_of_the_thread_that_begins_it():
    """The configurations of scikit-learn and joblib belong to one thread."""
    settings = []

    def look(slot):
        backend, n_jobs = get_active_backend()
        assume_finite = sklearn.get_config()["assume_finite"]
        settings.append((assume_finite, type(backend).__name__, n_jobs))
        return Recipe(4, 3).run(knn(k=[1, 5]), X, y)

    with (
        sklearn.config_context(assume_finite=True),
        parallel_config(backend="threading", n_jobs=2),
    ):
        BackgroundRun(look, Slot(shows=False)).start().wait()
    assert settings == [(True, "ThreadingBackend", 2)]


def test_a_cancelled_job_keeps_what_was_finished():
    """cancel() returns at once; wait() raises, and the finished part is the result."""
    job = job_of(
        Family(Slow(), {"strategy": ["prior", "uniform"]}), recipe=Recipe(6, 2)
    ).start()
    while job.progress < 0.4:
        time.sleep(0.01)
    assert (job.state, job.result, job.wait(0.01)) == ("running", None, None)
    started = time.monotonic()
    job.cancel()
    result = finished_part(job.wait)
    assert time.monotonic() - started < 0.3
    assert (job.state, job.result is result) == ("cancelled", True)
    assert not result.complete
    assert 0 < len(result.fold_risks) < 6
    assert 0.4 <= job.progress < 1.0


def test_a_job_on_threads_is_cancelled_too():
    """A fast path checks the stop flag while its kernels run."""
    rng = np.random.default_rng(0)
    job = job_of(
        knn(k=range(1, 40)), rng.normal(size=(12000, 40)), rng.integers(0, 2, 12000)
    ).start()
    time.sleep(0.1)
    started = time.monotonic()
    job.cancel()
    with pytest.raises(Interrupted):
        job.wait()
    assert time.monotonic() - started < 0.3
    assert not job.result.complete


def test_a_job_cancelled_before_anything_is_finished_is_empty():
    """There is no number, also in a second wait(); the plan is shown."""
    job = job_of(Family(Slow(), {}))
    job.cancel()
    assert finished_part(job.start().wait) is finished_part(job.wait) is None
    result = job.result
    assert (result.risk, len(result.fold_risks), result.complete, job.state) == (
        None,
        0,
        False,
        "cancelled",
    )


def test_a_job_that_ends_before_there_is_a_table_is_cancelled():
    """There is no result to show, and the state is not "failed"."""

    def run(slot):
        raise KeyboardInterrupt

    shown = Slot(shows=False)
    shown.take = lambda data, metadata: texts.append(data["text/plain"])
    texts = []
    job = BackgroundRun(run, shown, lambda job: show_end(job, shown)).start()
    assert finished_part(job.wait) is None
    assert (job.state, job.result, job.error) == ("cancelled", None, None)
    assert texts[0] == "Cancelled: nothing was finished."


def test_a_failed_job_raises_in_wait_and_result():
    """Both raise the exception of the run, and repr names it."""
    job = job_of(Family(Broken(), {}), X, X[:, 0], loss="squared").start()
    with pytest.raises(Exception, match="broken inside"):
        job.wait()
    with pytest.raises(Exception, match="broken inside"):
        _ = job.result
    assert job.state == "failed"
    assert "broken inside" in repr(job)


def test_the_progress_of_a_comparison_never_goes_back():
    """It is the share of all families together."""
    job = job_of({"a": Family(Slow(), {}), "b": Family(Slow(), {})}).start()
    shares = []
    while job.state == "running":
        shares.append(job.progress)
        time.sleep(0.01)
    assert shares == sorted(shares)
    assert list(job.wait()) == ["a", "b"]


def test_runs_that_overlap_leave_the_matrix_library_its_threads():
    """Also if they do not end in the order in which they began."""
    before = [library["num_threads"] for library in threadpool_info()]
    rng = np.random.default_rng(0)
    big, labels = rng.normal(size=(4000, 30)), rng.integers(0, 2, 4000)
    jobs = [
        job_of(knn(k=range(1, 40)), big[:n], labels[:n]).start()
        for n in (4000, 1000, 3000)
    ]
    for job in jobs:
        job.wait()
    assert [library["num_threads"] for library in threadpool_info()] == before


def test_the_thread_ends_with_the_run():
    """No thread is left."""
    job = job_of(Family(DummyClassifier(), {})).start()
    job.wait()
    time.sleep(0.1)
    names = [thread.name for thread in threading.enumerate()]
    assert "cvnb background run" not in names


BACKGROUND = """%%nestedcv X y --outer 4 --inner 3 --background -o job
Family(Slow(), {'strategy': ['prior', 'uniform']})"""


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    assert kernel.run(SETUP)[0]["status"] == "ok"
    yield kernel
    kernel.stop()


def test_a_cell_in_the_background_ends_at_once_and_its_output_becomes_the_result(
    kernel,
):
    """One display: a widget with a Cancel button, then the result. -o and _ hold the job."""
    started = time.monotonic()
    reply, messages = kernel.run(BACKGROUND)
    assert reply["status"] == "ok"
    assert time.monotonic() - started < 1.0
    shown = [content for kind, content in messages if kind == "display_data"]
    assert len(shown) == 1
    assert "application/vnd.jupyter.widget-view+json" in shown[0]["data"]
    shown_job = kernel.value("type(job).__name__, job.state, job.result")
    assert shown_job == "BackgroundRun running None"
    messages = kernel.hear(lambda kind, _: kind == "update_display_data")
    update = messages[-1]["content"]
    assert update["transient"]["display_id"] == shown[0]["transient"]["display_id"]
    assert "of new rows misclassified" in update["data"]["text/html"]
    bars = [
        message["content"]["data"].get("state", {}).get("value", "")
        for message in messages
        if message["msg_type"] == "comm_msg"
    ]
    assert any('role="status"' in bar and "now inner fold" in bar for bar in bars)
    kernel.hear(lambda kind, _: kind == "comm_close")
    end = kernel.value("job.wait().complete, job.progress, job.state")
    assert end == "True 1.0 finished"
    assert kernel.value("job is _ or job in Out.values()") == "True"


def test_the_cancel_button_stops_the_run(kernel):
    """After a click, as a front end sends it, the partial result replaces the widgets."""
    _, messages = kernel.run(BACKGROUND.replace("--outer 4", "--outer 12"))
    buttons = [
        content["comm_id"]
        for kind, content in messages
        if kind == "comm_open"
        and content["data"]["state"].get("description") == "Cancel"
    ]
    assert len(buttons) == 1
    time.sleep(1.0)
    click = {
        "comm_id": buttons[0],
        "data": {"method": "custom", "content": {"event": "click"}},
    }
    client = kernel.client
    client.shell_channel.send(client.session.msg("comm_msg", click))
    reply, _ = kernel.run("job.wait()")
    assert (reply["status"], reply["ename"]) == ("error", "Interrupted")
    assert kernel.value("job.state, job.result.complete") == "cancelled False"
    assert int(kernel.value("len(job.result.fold_risks)")) < 12


def test_mistakes_fail_the_cell_before_anything_runs(kernel):
    """The line, the data and the recipe are checked in the foreground."""
    reply, _ = kernel.run("%%nestedcv X y --inner 1 --background -o none\nknn()")
    assert (reply["status"], reply["ename"]) == ("error", "NestedCVError")
    assert kernel.value("'none' in globals()") == "False"
    reply, _ = kernel.run("%%nestedcv X y --dry-run --background\nknn()")
    assert reply["evalue"] == "--dry-run is over at once; leave out --background."


BROKEN = """class Broken(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        raise OSError('broken inside')
"""


def test_an_error_of_the_run_replaces_its_progress(kernel):
    """wait() raises it."""
    kernel.run(BROKEN)
    kernel.run("%%nestedcv X y --background -o bad\nBroken()")
    reply, messages = kernel.run("bad.wait()")
    assert reply["status"] == "error"
    assert "broken inside" in reply["evalue"]
    texts = [
        content["data"].get("text/html", "")
        for kind, content in messages
        if kind == "update_display_data"
    ]
    texts += [kernel.value("bad")]
    assert any("broken inside" in text for text in texts)


def test_quiet_shows_nothing(kernel):
    """-q and a trailing semicolon."""
    for line, end in (("-q", ""), ("", ";")):
        reply, messages = kernel.run(
            f"%%nestedcv X y --background -o quiet {line}\nknn(k=[1, 5]){end}"
        )
        assert reply["status"] == "ok"
        assert kinds(messages) == []
        assert kernel.value("quiet.wait().complete") == "True"


@pytest.mark.parametrize("jobs", ["", "--jobs 2"])
def test_an_interrupt_ends_the_waiting_not_the_run(kernel, jobs):
    """It reaches worker processes too: they are started again, and the run goes on."""
    cell = BACKGROUND.replace("--background", f"--background {jobs}")
    kernel.run(cell.replace("--outer 4", "--outer 8"))
    threading.Timer(0.7, kernel.interrupt).start()
    reply, _ = kernel.run("job.wait()")
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
    assert kernel.value("job.state") == "running"
    assert kernel.value("job.wait().complete") == "True"


def test_nbclient_stores_the_result_in_the_cell_that_began_it():
    """Without a front end the line of text is replaced by the result; no widget is stored."""
    texts = (SETUP, BACKGROUND, "job.wait().risk")
    cells = [nbformat.v4.new_code_cell(text) for text in texts]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    outputs = notebook.cells[1].outputs
    assert [output.output_type for output in outputs] == ["display_data"]
    assert "of new rows misclassified" in outputs[0].data["text/html"]
    assert set(outputs[0].data) == {"text/plain", "text/html"}
