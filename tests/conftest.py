"""Fixtures and settings of all tests."""

import builtins
import functools
import os
import signal
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import settings
from IPython.core.interactiveshell import InteractiveShell
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingRegressor,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import cvnb.engine.fill
import kinds

COUNTED = (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DummyClassifier,
    DummyRegressor,
    GaussianNB,
    HistGradientBoostingRegressor,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PCA,
    Ridge,
    SVC,
    SimpleImputer,
    StandardScaler,
    VotingClassifier,
)

# The same examples in every run, and no deadline: a slow machine is no failure.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")

# A shell that starts the suite in the background makes it ignore SIGINT; tests that send
# SIGINT would then wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Before any kernel starts: with a progress bar, a cell's first output is not its last.
os.environ["CVNB_PROGRESS"] = "off"

# No child process of %load_ext: which path runs must not depend on what is compiled already.
os.environ["CVNB_COMPILE"] = "off"


def pytest_xdist_auto_num_workers():
    """With -n auto: the cores that this process may use, at most eight."""
    chosen = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS")
    return int(chosen) if chosen else min(8, joblib.cpu_count())


def pytest_xdist_make_scheduler(config, log):
    """Distribute the groups of tests/kinds.py."""
    return kinds.Groups(config, log) if config.getvalue("dist") == "loadscope" else None


@pytest.hookimpl(tryfirst=True)  # before -m selects by the marks
def pytest_collection_modifyitems(config, items):
    kinds.mark(items)
    if hasattr(config, "workerinput"):  # one of several processes
        kinds.order(items)


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """One thread for BLAS and OpenMP: on tables this small their threads only wait for each
    other, for minutes on busy cores."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def fits(monkeypatch):
    """The name of the estimator for each fit, and "threads" for each run of a fast path."""
    names = []

    def counted(fit):
        @functools.wraps(fit)
        def counting(self, *args, **kwargs):
            names.append(type(self).__name__)
            return fit(self, *args, **kwargs)

        return counting

    for kind in COUNTED:
        monkeypatch.setattr(kind, "fit", counted(kind.fit))
    in_batches = cvnb.engine.fill.fill_by_batches
    monkeypatch.setattr(
        cvnb.engine.fill,
        "fill_by_batches",
        lambda *args: names.append("threads") or in_batches(*args),
    )
    return names


@pytest.fixture
def rng():
    """The same random numbers in every test."""
    return np.random.default_rng(0)


@pytest.fixture
def shell(monkeypatch):
    """Yield a fresh shell with cvnb loaded, and iris as X and y."""
    # a doctest leaves this name behind, and IPython respects it
    monkeypatch.delattr(builtins, "_", raising=False)
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "cvnb")
    X, y = load_iris(return_X_y=True)
    shell.user_ns.update(X=X, y=y)
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def builder(names):
    """A RecipeBuilder on iris that has shown its first result.

    `names` is a fixture of the test's module or folder: the user's namespace.
    """
    from cvnb.widgets import RecipeBuilder

    builder = RecipeBuilder(names["X"], names["y"], namespace=names)
    assert builder.wait(60)
    yield builder
    builder.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The documentation, built as `make docs` builds it, where a warning is an error."""
    folder = tmp_path_factory.mktemp("build")
    script = Path(__file__).resolve().parent.parent / "scripts" / "docs.py"
    done = subprocess.run(
        [sys.executable, script, folder], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "docs"
