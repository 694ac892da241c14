"""%%nestedcv in a real kernel: what a front end is told of results, errors and interrupts."""

import os
import signal
import threading
import time

import pytest
from jupyter_client.manager import start_new_kernel

SETUP = """%load_ext cvnb
import time, numpy as np
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
X, y = load_iris(return_X_y=True)
class Slow(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.05)
        return super().fit(X, y, sample_weight)
"""


class Kernel:
    """A kernel and what it published while the last cell ran."""

    def __init__(self):
        self.manager, self.client = start_new_kernel(
            kernel_name="python3", env=os.environ | {"CVNB_PROGRESS": "auto"}
        )

    def run(self, cell, interrupt_when=None):
        """The messages of a cell; the kernel is interrupted once `interrupt_when(messages)` holds."""
        messages, pressed = [], threading.Event()

        def hook(message):
            messages.append((message["msg_type"], message["content"]))
            if (
                interrupt_when is not None
                and not pressed.is_set()
                and interrupt_when(messages)
            ):
                pressed.set()
                self.manager.interrupt_kernel()

        reply = self.client.execute_interactive(cell, output_hook=hook, timeout=120)
        return reply["content"], messages

    def hear(self, until):
        """What it publishes on its own, whatever cell it belongs to, up to the first message that `until` holds for."""
        messages = []
        while not messages or not until(
            messages[-1]["msg_type"], messages[-1]["content"]
        ):
            messages.append(self.client.get_iopub_msg(timeout=30))
        return messages

    def interrupt(self):
        """What the manager does, without its event loop: from any thread."""
        os.killpg(self.manager.provisioner.pgid, signal.SIGINT)

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def value(self, expression):
        """What an expression prints."""
        reply, messages = self.run(f"print({expression})")
        assert reply["status"] == "ok", reply
        return "".join(
            content["text"] for kind, content in messages if kind == "stream"
        ).strip()


@pytest.fixture(scope="module")
def kernel():
    one = Kernel()
    reply, messages = one.run(SETUP)
    assert reply["status"] == "ok"
    assert [
        kind for kind, _ in messages if kind not in ("status", "execute_input")
    ] == []  # nothing is printed on load
    yield one
    one.stop()


def kinds(messages):
    return [kind for kind, _ in messages if kind not in ("status", "execute_input")]


def test_a_quick_run_is_the_value_of_its_cell(kernel):
    """One output, text and HTML, with the seconds as metadata."""
    reply, messages = kernel.run(
        "%%nestedcv X y --outer 3 --inner 2 -o risk\nknn(k=[1, 5])"
    )
    assert reply["status"] == "ok"
    assert kinds(messages)[-1:] == ["execute_result"]
    content = messages[-2][1] if messages[-1][0] == "status" else messages[-1][1]
    assert set(content["data"]) == {"text/plain", "text/html"}
    assert content["metadata"]["cvnb"]["seconds"] > 0
    assert kernel.value("risk.complete") == "True"


def test_progress_is_replaced_by_the_result_in_its_place(kernel):
    """A run of a second or two: one display, updated with a status, and at the end with the result; _ and Out hold it."""
    cell = "%%nestedcv X y --outer 4 --inner 3 -o slow\nFamily(Slow(), {'strategy': ['prior', 'uniform']})"
    reply, messages = kernel.run(cell)
    assert reply["status"] == "ok"
    shown = kinds(messages)
    assert shown[0] == "display_data"
    assert set(shown[1:]) == {"update_display_data"}
    contents = [content for kind, content in messages if "display_data" in kind]
    assert len({content["transient"]["display_id"] for content in contents}) == 1
    texts = [content["data"]["text/html"] for content in contents]
    assert all('role="status"' in text for text in texts[:-1])
    assert any("now inner split" in text for text in texts[:-1])
    assert "zero-one risk of the tuned rule" in texts[-1]
    assert (
        kernel.value("_ is slow") == "True"
        or kernel.value("slow in list(Out.values())") == "True"
    )


def test_an_error_is_one_line_and_fails_the_cell(kernel):
    """The reply is an error with one line of traceback; an error of the body keeps its own."""
    reply, messages = kernel.run("%%nestedcv X y --inner 1\nknn()")
    assert reply["status"] == "error"
    assert reply["ename"] == "NestedCVError"
    error = next(content for kind, content in messages if kind == "error")
    assert error["traceback"] == [
        "NestedCVError: inner=1 leaves no fold to choose on; use inner >= 2."
    ]
    reply, messages = kernel.run("%%nestedcv X y\n1 / 0")
    assert reply["ename"] == "ZeroDivisionError"
    assert (
        len(next(content for kind, content in messages if kind == "error")["traceback"])
        > 1
    )


@pytest.mark.parametrize("finished", [0, 1])
def test_an_interrupt_shows_and_binds_what_was_finished_and_fails_the_cell(
    kernel, finished
):
    """SIGINT to the kernel: the partial result in the slot, bound, and a one-line error after it."""

    def when(messages):
        said = [
            content["data"]["text/plain"]
            for kind, content in messages
            if "display_data" in kind
        ]
        return any("so far" in text for text in said) if finished else bool(said)

    cell = "%%nestedcv X y --outer 6 --inner 6 -o part\nFamily(Slow(), {'strategy': ['prior', 'uniform']})"
    started = time.monotonic()
    reply, messages = kernel.run(cell, when)
    assert reply["status"] == "error"
    assert reply["ename"] == "NestedCVInterrupted"
    error = next(content for kind, content in messages if kind == "error")
    assert len(error["traceback"]) == 1
    assert time.monotonic() - started < 60
    last = [content for kind, content in messages if "display_data" in kind][-1]
    assert "of 6 outer splits" in last["data"]["text/html"]
    n = int(kernel.value("len(part.fold_risks)"))
    assert n < 6
    assert (n > 0) == bool(finished)
    assert kernel.value("part.complete, part.risk is None") == f"False {n == 0}"
    assert kernel.run("1 + 1")[0]["status"] == "ok"
