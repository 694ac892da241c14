"""An interrupt of the very first run of a kernel."""

import threading

import pytest

from notebook_kernel import Kernel


@pytest.mark.parametrize("after", [0.02, 0.08, 0.15])
def test_an_interrupt_of_the_first_run_breaks_nothing(after):
    """It hits the imports: the cell ends at once with one line, and the next run is whole."""
    fresh = Kernel()
    try:
        fresh.run(
            "%load_ext cvnb\nfrom sklearn.datasets import load_iris\nX, y = "
            "load_iris(return_X_y=True)"
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
