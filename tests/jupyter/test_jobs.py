"""Background jobs next to other runs in one kernel."""

import threading

import pytest

from notebook_kernel import SETUP, Kernel


@pytest.fixture(scope="module")
def kernel():
    one = Kernel()
    assert one.run(SETUP)[0]["status"] == "ok"
    yield one
    one.stop()


def test_runs_with_workers_side_by_side_do_not_end_each_other(kernel):
    """A foreground run that is interrupted, and a job that is cancelled, take joblib's
    workers with them: the other goes on."""
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
