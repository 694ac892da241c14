"""%%nestedcv in a real kernel: the messages of results, errors and interrupts."""

import re
import time

import pytest

from notebook_kernel import SETUP, Kernel, kinds


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    reply, messages = kernel.run(SETUP)
    assert reply["status"] == "ok"
    printed = {kind for kind, _ in messages} - {"status", "execute_input"}
    assert printed == set()  # loading the extension is silent
    yield kernel
    kernel.stop()


SLOW = "Family(Slow(), {'strategy': ['prior', 'uniform']})"


def test_a_quick_run_is_the_value_of_its_cell(kernel):
    """A run that ends before its progress is drawn has one output: text and HTML."""
    kernel.run("import cvnb.engine.progress as progress; after = progress.AFTER")
    kernel.run("progress.AFTER = 60.0")
    reply, messages = kernel.run(
        "%%nestedcv X y --outer 3 --inner 2 -o risk\nknn(k=[1, 5])"
    )
    kernel.run("progress.AFTER = after")
    assert reply["status"] == "ok"
    assert kinds(messages)[-1:] == ["execute_result"]
    content = messages[-2][1] if messages[-1][0] == "status" else messages[-1][1]
    assert set(content["data"]) == {"text/plain", "text/html"}
    assert content["metadata"]["cvnb"]["seconds"] > 0
    assert kernel.value("risk.complete") == "True"


def test_progress_is_replaced_by_the_result_in_its_place(kernel):
    """One display, updated with the status and at the end with the result; _ and Out hold it."""
    reply, messages = kernel.run(f"%%nestedcv X y --outer 4 --inner 3 -o slow\n{SLOW}")
    assert reply["status"] == "ok"
    shown = kinds(messages)
    assert shown[0] == "display_data"
    assert set(shown[1:]) == {"update_display_data"}
    contents = [content for kind, content in messages if "display_data" in kind]
    assert len({content["transient"]["display_id"] for content in contents}) == 1
    texts = [content["data"]["text/html"] for content in contents]
    assert all('role="status"' in text for text in texts[:-1])
    assert any("now inner fold" in text for text in texts[:-1])
    assert "of new rows misclassified" in texts[-1]
    is_last = kernel.value("_ is slow") == "True"
    assert is_last or kernel.value("slow in list(Out.values())") == "True"


def test_an_error_is_one_line_and_fails_the_cell(kernel):
    """The traceback has one line; an error of the body keeps its own traceback."""
    reply, messages = kernel.run("%%nestedcv X y --inner 1\nknn()")
    assert reply["status"] == "error"
    assert reply["ename"] == "NestedCVError"
    error = next(content for kind, content in messages if kind == "error")
    assert error["traceback"] == [
        "NestedCVError: inner=1 leaves no fold to choose on; use inner >= 2."
    ]
    reply, messages = kernel.run("%%nestedcv X y\n1 / 0")
    assert reply["ename"] == "ZeroDivisionError"
    error = next(content for kind, content in messages if kind == "error")
    assert len(error["traceback"]) > 1


@pytest.mark.parametrize("body", ["xgboost.XGBClassifier()", "knn(k="])
def test_a_typo_shows_the_lines_of_the_cell_alone(kernel, body):
    """The traceback that a notebook stores has no frame of cvnb and none of IPython."""
    reply, messages = kernel.run(f"%%nestedcv X y\n{body}")
    assert reply["status"] == "error"
    error = next(content for kind, content in messages if kind == "error")
    traceback = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error["traceback"]))
    assert body in traceback
    assert "run_cell_magic" not in traceback
    assert "File " not in traceback


@pytest.mark.parametrize("finished", [0, 1])
def test_an_interrupt_shows_and_binds_what_was_finished_and_fails_the_cell(
    kernel, finished
):
    """After SIGINT the slot shows the partial result, which is bound; the error has one line."""

    def when(messages):
        texts = [
            content["data"]["text/plain"]
            for kind, content in messages
            if "display_data" in kind
        ]
        return any("so far" in text for text in texts) if finished else bool(texts)

    cell = f"%%nestedcv X y --outer 6 --inner 6 -o part\n{SLOW}"
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
