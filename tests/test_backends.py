"""joblib's backends, chosen as its users choose them, change how long it takes and nothing else."""

import os
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

from cvnb import Family, Recipe, knn

X, y = load_iris(return_X_y=True)
FAMILY, RECIPE = knn(k=[1, 5, 9]), Recipe(4, 3)


def assert_same(result):
    one = RECIPE.run(FAMILY, X, y)
    assert np.array_equal(result.inner_curves, one.inner_curves)
    assert np.array_equal(result.fold_risks, one.fold_risks)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_every_backend_gives_the_same_numbers(backend):
    """Bit for bit, with and without results that come one by one."""
    with parallel_config(backend=backend, n_jobs=2):
        assert_same(RECIPE.run(FAMILY, X, y))


def test_dask_gives_the_same_numbers():
    """A cluster that the user started does the fits."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster), parallel_config(backend="dask"):
        assert_same(RECIPE.run(FAMILY, X, y))


class Deadly(DummyClassifier):
    """Kills the process that fits it: as often as there are files to take away."""

    def __init__(self, folder="", strategy="prior"):
        super().__init__(strategy=strategy)
        self.folder = folder

    def fit(self, X, y, sample_weight=None):
        warnings.warn("one for each fit", UserWarning, stacklevel=2)
        for flag in Path(self.folder).iterdir() if self.folder else ():
            flag.unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("n_killed", [1, 2])
def test_a_killed_worker_costs_time_not_the_run(tmp_path, n_killed):
    """What it was at is done again, once: numbers and notes are those of an undisturbed run."""
    family = Family(Deadly(), {"strategy": ["prior", "stratified"], "folder": [str(tmp_path)]})
    expected = Recipe(4, 3).run(family, X, y)
    for i in range(n_killed):
        (tmp_path / str(i)).touch()
    result = Recipe(4, 3).run(family, X, y, n_jobs=2)
    assert list(tmp_path.iterdir()) == []
    assert np.array_equal(result.inner_curves, expected.inner_curves)
    assert np.array_equal(result.fold_risks, expected.fold_risks)
    assert result.notes == expected.notes
    assert any("one for each fit" in note for note in result.notes)


def test_workers_that_are_always_killed_end_the_run(tmp_path):
    """With joblib's own words; four times are enough."""
    family = Family(Deadly(), {"folder": [str(tmp_path)]})
    for i in range(200):
        (tmp_path / str(i)).touch()
    with pytest.raises(BrokenProcessPool, match="terminated"):
        Recipe(4, 3).run(family, X, y, n_jobs=2)
