"""joblib's backends, chosen as its users choose them, change how long it takes and nothing else."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_iris

from cvnb import Recipe, knn

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
