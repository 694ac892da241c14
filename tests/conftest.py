"""What all tests share."""

import builtins
import functools
import os
import signal
import subprocess
import sys
from pathlib import Path

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

import cvnb.engine.run

COUNTED = (
    BaggingClassifier, DecisionTreeClassifier, DecisionTreeRegressor, DummyClassifier, DummyRegressor, GaussianNB,
    HistGradientBoostingRegressor, KNeighborsClassifier, KNeighborsRegressor, LinearRegression, LinearSVC, LogisticRegression,
    PCA, Ridge, SVC, SimpleImputer, StandardScaler, VotingClassifier,
)  # fmt: skip

# The same examples in every run, and no clock: a slow machine is no failure.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")

# A shell that starts the suite in the background has it ignore SIGINT, and the tests would wait for their own for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Before any kernel starts: with a progress bar, a cell's first output is not its last.
os.environ["CVNB_PROGRESS"] = "off"


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """On tables this small the threads of BLAS and OpenMP only wait for each other, for minutes on busy cores."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def fits(monkeypatch):
    """Names of the estimators that are fitted, one for each fit; "threads" for each run of a fast path."""
    made = []

    def counted(fit):
        @functools.wraps(fit)
        def counting(self, *args, **kwargs):
            made.append(type(self).__name__)
            return fit(self, *args, **kwargs)

        return counting

    for kind in COUNTED:
        monkeypatch.setattr(kind, "fit", counted(kind.fit))
    in_batches = cvnb.engine.run._Run._in_batches
    monkeypatch.setattr(
        cvnb.engine.run._Run,
        "_in_batches",
        lambda self: made.append("threads") or in_batches(self),
    )
    return made


@pytest.fixture
def rng():
    """The same random numbers in every test."""
    return np.random.default_rng(0)


@pytest.fixture
def shell(monkeypatch):
    """A fresh shell with cvnb loaded, and iris as X and y."""
    monkeypatch.delattr(
        builtins, "_", raising=False
    )  # a doctest leaves one behind, and IPython respects it
    InteractiveShell.clear_instance()
    one = InteractiveShell.instance()
    one.run_line_magic("load_ext", "cvnb")
    X, y = load_iris(return_X_y=True)
    one.user_ns.update(X=X, y=y)
    yield one
    InteractiveShell.clear_instance()


@pytest.fixture
def builder(names):
    """A RecipeBuilder on iris that has shown its first result; `names` is the namespace of the test's module."""
    from cvnb.widgets import RecipeBuilder

    one = RecipeBuilder(names["X"], names["y"], namespace=names)
    assert one.wait(60)
    yield one
    one.close()


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
