"""%load_ext compiles the kernels ahead, and a run that would wait for them may refit meanwhile."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import cvnb
from cvnb import Recipe, knn, ridge
from cvnb.__main__ import main
from cvnb.families.records import BUILT_IN
from cvnb.runs import meanwhile
from cvnb.runtime import ahead
from notebook_kernel import Kernel


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A kernel in which nothing is compiled yet, and whose extension may compile ahead."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CVNB_COMPILE", "")
    kernel = Kernel()
    yield kernel
    kernel.stop()


def has_ended(pid):
    """Whether this process ends within a minute."""
    for _ in range(600):
        if (
            not psutil.pid_exists(pid)
            or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        ):
            return True
        time.sleep(0.1)
    return False


def test_the_child_prints_nothing_has_low_priority_and_ends_with_the_extension(fresh):
    """%load_ext shows nothing, and after %unload_ext no process is left."""
    reply, messages = fresh.run("%load_ext cvnb")
    assert reply["status"] == "ok"
    assert [
        kind for kind, _ in messages if kind not in ("status", "execute_input")
    ] == []
    fresh.run("from cvnb.runtime import ahead")
    pid = int(fresh.value("ahead._children[0].pid"))
    child = psutil.Process(pid)
    deadline = time.monotonic() + 60
    while child.nice() < 19 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert child.nice() == 19
    assert fresh.value("ahead.is_running()") == "True"
    fresh.run("%unload_ext cvnb")
    assert has_ended(pid)
    assert fresh.value("ahead.is_running()") == "False"


@pytest.mark.parametrize("how", ["shutdown", "kill"])
def test_the_child_ends_with_the_kernel(fresh, how):
    """However the kernel ends, no process is left."""
    fresh.run("%load_ext cvnb\nfrom cvnb.runtime import ahead")
    pid = int(fresh.value("ahead._children[0].pid"))
    if how == "kill":
        os.kill(int(fresh.value("__import__('os').getpid()")), signal.SIGKILL)
    else:
        fresh.manager.shutdown_kernel()
    assert has_ended(pid)


def test_an_interrupt_of_the_kernel_is_not_for_the_child(fresh):
    """Compiling goes on after Ctrl-C."""
    fresh.run("%load_ext cvnb\nfrom cvnb.runtime import ahead")
    fresh.interrupt()
    assert fresh.value("ahead.is_running()") == "True"


def test_a_first_result_says_how_it_was_found(fresh):
    """Right after %load_ext the numbers are those of any later run, and a refit has its note."""
    fresh.run(
        "%load_ext cvnb\nfrom sklearn.datasets import load_diabetes\n"
        "X, y = load_diabetes(return_X_y=True)"
    )
    assert fresh.run("%%nestedcv X y -o first\nridge()")[0]["status"] == "ok"
    assert (
        fresh.run("%%nestedcv X y -o later --path refit\nridge()")[0]["status"] == "ok"
    )
    fresh.run("import numpy as np, cvnb.runs.meanwhile as meanwhile")
    same = "np.allclose(first.fold_risks, later.fold_risks, rtol=1e-9)"
    assert fresh.value(same) == "True"
    noted = "(first.path == 'refit') == (meanwhile.NOTE in first.notes)"
    assert fresh.value(noted) == "True"
    assert fresh.value("meanwhile.NOTE in later.notes") == "False"


@pytest.fixture
def compiling(monkeypatch):
    """As if a child were compiling all kernels, none of which is ready."""
    monkeypatch.setattr(meanwhile, "is_running", lambda: True)
    monkeypatch.setattr(meanwhile, "is_kept", lambda kernel: False)


def slow_to_compile(monkeypatch, seconds):
    """Let every shared path take so many seconds to compile."""
    for record in BUILT_IN:
        monkeypatch.setitem(vars(record), "compile_seconds", seconds)


def test_a_run_refits_while_its_kernels_are_compiled(monkeypatch, compiling):
    """Path, reason and note say it; the numbers are those of the path."""
    slow_to_compile(monkeypatch, np.inf)
    X, y = load_diabetes(return_X_y=True)
    result = Recipe(3, 3).run(ridge(), X, y, progress="off")
    assert (result.path, result.path_reason) == ("refit", meanwhile.REASON)
    assert meanwhile.NOTE in result.notes
    monkeypatch.setattr(meanwhile, "is_running", lambda: False)
    later = Recipe(3, 3).run(ridge(), X, y, progress="off")
    assert later.path == "shared:ridge"
    assert meanwhile.NOTE not in later.notes
    np.testing.assert_allclose(result.fold_risks, later.fold_risks, rtol=1e-9)
    np.testing.assert_array_equal(result.chosen_index, later.chosen_index)
    assert "refit" not in result.code()


def test_a_refit_that_takes_longer_than_the_compiler_is_not_made(
    monkeypatch, compiling
):
    """Then the run waits for its kernels."""
    slow_to_compile(monkeypatch, 0.0)
    X, y = load_breast_cancer(return_X_y=True)
    result = Recipe(3, 3).run(knn(k=[1, 5]), X, y, progress="off")
    assert result.path == "path:knn"
    assert meanwhile.NOTE not in result.notes


def test_kernels_that_are_ready_are_used(monkeypatch):
    """However long others are still being compiled."""
    X, y = load_diabetes(return_X_y=True)
    Recipe(3, 3).run(ridge(), X, y, progress="off")
    monkeypatch.setattr(meanwhile, "is_running", lambda: True)
    slow_to_compile(monkeypatch, np.inf)
    result = Recipe(3, 3).run(ridge(), X, y, progress="off")
    assert result.path == "shared:ridge"


def test_an_explicit_path_and_a_model_without_kernels_are_left_alone(
    monkeypatch, compiling
):
    """A refit that was asked for is no refit for want of kernels."""
    slow_to_compile(monkeypatch, np.inf)
    X, y = load_diabetes(return_X_y=True)
    asked = Recipe(3, 3).run(ridge(alpha=[1.0]), X, y, path="refit", progress="off")
    assert asked.path_reason == "as requested"
    trees = Recipe(3, 3).run(cvnb.tree(), X, y, progress="off")
    assert trees.path == "path:tree"


def test_without_permission_no_child_is_started(monkeypatch):
    """CVNB_COMPILE=off is for tests, and for machines on which nothing may run unasked."""
    monkeypatch.setenv("CVNB_COMPILE", "off")
    ahead.start()
    assert not ahead.is_running()
    assert ahead._children == []


SECOND = """
import json
from numba.core import event
from sklearn.datasets import load_breast_cancer, load_diabetes
import cvnb
from cvnb import knn, lasso, logistic, ridge
from cvnb.runs.ahead import all_kernels
from cvnb.runtime.ahead import is_kept

class Compiled(event.Listener):
    n = 0
    def on_start(self, event):
        self.n += 1
    def on_end(self, event):
        pass

missing = [k.__name__ for k in all_kernels() if not is_kept(k)]
compiled = Compiled()
event.register("numba:compile", compiled)
cancer, diabetes = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
paths = [
    cvnb.nested_cv(family, *data, progress="off").path
    for family, data in [
        (knn(), cancer), (ridge(), diabetes), (lasso(), diabetes), (logistic(), cancer),
        (knn(), diabetes), (ridge(), cancer),
    ]
]
print(json.dumps([missing, compiled.n, paths]))
"""


@pytest.mark.timeout(900)  # about 30 s of a processor, twice that where it is busy
def test_compile_fills_a_cache_for_the_next_process(tmp_path):
    """`python -m cvnb compile` leaves nothing to compile for usual runs, nor any kernel out."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "cvnb", "compile"]
    run = {"env": environment, "capture_output": True, "text": True}
    first = subprocess.run(command, **run)
    assert first.returncode == 0, first.stderr
    assert re.search(r"^ridge +\d", first.stdout, re.MULTILINE)
    second = subprocess.run([sys.executable, "-c", SECOND], **run)
    assert second.returncode == 0, second.stderr
    missing, n_compiled, paths = json.loads(second.stdout)
    assert missing == []
    assert n_compiled == 0
    assert not {"refit"} & set(paths)
    names = [path.name for path in tmp_path.rglob("*.nbc")]
    assert all(re.search(r"-[0-9a-f]{8}\.nbc$", name) for name in names)
    again = subprocess.run(command, **run)
    assert again.stdout.startswith("All kernels are compiled, in ")


def test_an_unknown_command_is_refused_with_the_known_ones(capsys):
    """As any command line does."""
    with pytest.raises(SystemExit, match="2"):
        main(["fly"])
    assert "compile" in capsys.readouterr().err


def test_the_records_of_usual_models_name_a_kernel():
    """Each with the seconds that it takes to compile."""
    with_kernel = {record.name for record in BUILT_IN if record.kernel}
    assert with_kernel == {"knn", "ridge", "lasso", "logistic"}
    for record in BUILT_IN:
        assert bool(record.kernel) == bool(record.compile_seconds)
