"""joblib's backends, set by parallel_config, change the time of a run and nothing else."""

import json

import numpy as np
import pytest
from joblib import parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_limits

from cvnb import Family, Recipe, knn
from cvnb.runtime.cores import n_cores
from fitted_elsewhere import Counting, Deadly

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


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_workers_times_threads_are_the_cores(tmp_path, backend):
    """BLAS, OpenMP and Numba have a share of the cores in every fit, and all of them later."""
    with threadpool_limits(n_cores()), parallel_config(backend=backend, n_jobs=2):
        Recipe(4, 3).run(
            Family(Counting(str(tmp_path)), {"strategy": ["prior", "most_frequent"]}),
            X,
            y,
        )
    counted = [
        json.loads(one.read_text(encoding="utf-8")) for one in tmp_path.iterdir()
    ]
    assert len(counted) == 28
    assert {n for one in counted for n in one} == {max(1, n_cores() // 2)}


def test_a_limit_is_removed_after_the_run(tmp_path):
    """A later run in this thread has all cores again; a lower limit of the user is kept."""
    for limit in (n_cores(), 1):
        with threadpool_limits(limit):
            with parallel_config(backend="threading", n_jobs=2):
                Recipe(4, 3).run(Family(Counting(str(tmp_path))), X, y)
            folder = tmp_path / f"alone {limit}"
            folder.mkdir()
            Recipe(4, 3).run(Family(Counting(str(folder))), X, y, n_jobs=1)
            assert {
                max(json.loads(one.read_text(encoding="utf-8"))[:-1])
                for one in folder.iterdir()
            } == {limit}


@pytest.mark.parametrize("n_killed", [1, 2])
def test_a_killed_worker_costs_time_not_the_run(tmp_path, n_killed):
    """Its calls are repeated once: numbers and notes are those of an undisturbed run."""
    family = Family(
        Deadly(), {"strategy": ["prior", "stratified"], "folder": [str(tmp_path)]}
    )
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
    """With joblib's own message, after four losses."""
    family = Family(Deadly(), {"folder": [str(tmp_path)]})
    for i in range(200):
        (tmp_path / str(i)).touch()
    with pytest.raises(BrokenProcessPool, match="terminated"):
        Recipe(4, 3).run(family, X, y, n_jobs=2)
