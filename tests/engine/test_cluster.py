"""A cluster of processes gives the results of one machine."""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import cvnb.engine.progress
import cvnb.engine.table
import cvnb.engine.workers
from cvnb import Family, Recipe
from cvnb.engine.cluster import Cluster
from cvnb.errors import FitError, WrongTypeError
from cvnb.paths.base import Inside, Outside
from cvnb.runtime.cores import n_cores
from fitted_elsewhere import Counting, Deadly, Drawing, Patient, Pickled
from stopped import finished_part

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

X, y = load_iris(return_X_y=True)
KS, ALPHAS = range(1, 9), [0.01, 0.1, 1.0]
FIELDS = (
    "inner",
    "outer",
    "rows",
    "predictions",
    "chosen",
    "failures",
    "warnings",
    "counts",
    "refitted",
    "flat",
    "complete",
)


@pytest.fixture(scope="module")
def processes():
    """Two workers of one thread each, which are started again however often they are killed."""
    before = dict(os.environ)
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}):
        options = {
            "n_workers": 2,
            "threads_per_worker": 1,
            "dashboard_address": ":0",
            "silence_logs": 60,
        }
        with (
            distributed.LocalCluster(**options) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield cluster, client
    os.environ.clear()
    os.environ.update(before)  # dask leaves what it tells its workers


@pytest.fixture
def there(processes):
    """Runs go to these workers, once both are there."""
    cluster, client = processes
    wait_for(
        lambda: (
            len(client.ncores()) == 2
            and all(one.status.name == "running" for one in cluster.workers.values())
        )
    )
    with parallel_config(backend="dask", client=client):
        yield processes


@pytest.fixture
def jobs(monkeypatch):
    """All jobs that are sent, however little there is to do."""
    sent, done = [], Cluster._submit
    monkeypatch.setattr(
        Cluster,
        "_submit",
        lambda self, job, rows: sent.append(job) or done(self, job, rows),
    )
    monkeypatch.setattr(cvnb.engine.workers, "QUICK", 0.0)
    return sent


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def data(m=240, n_columns=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n_columns))
    y = X[:, 0] + rng.normal(size=m)
    return X, y, (y > 0).astype(int)


def behind_scaler(model, axis, values):
    return Family(
        make_pipeline(StandardScaler(), model),
        {f"{type(model).__name__.lower()}__{axis}": values},
    )


def halves(y, prediction):
    """A loss of the user's, in a module that only cloudpickle carries anywhere."""
    return np.abs(y - prediction) / 2


def knn_family(model, **parameters):
    return Family(model(**parameters), {"n_neighbors": KS})


NUMBERS, CLASSES = data()[1:]
RIDGE = Family(Ridge(), {"alpha": ALPHAS})
LASSO = Family(Lasso(), {"alpha": ALPHAS})
TREE = Family(DecisionTreeClassifier(), {"max_leaf_nodes": range(2, 9)})
SVM = Family(SVC(), {"C": [1, 10], "gamma": [0.1, 1.0]})
NEAR_CLASSES = knn_family(KNeighborsClassifier)
BY_DISTANCE = knn_family(KNeighborsRegressor, weights="distance")
SCALED_CLASSES = behind_scaler(KNeighborsClassifier(), "n_neighbors", KS)
SCALED_NUMBERS = behind_scaler(KNeighborsRegressor(), "n_neighbors", KS)
SCALED_RIDGE = behind_scaler(Ridge(), "alpha", ALPHAS)
SCALED_LOGISTIC = behind_scaler(LogisticRegression(), "C", ALPHAS)
BEHIND_PCA = Family(
    make_pipeline(PCA(3), KNeighborsClassifier()),
    {"kneighborsclassifier__n_neighbors": KS},
)
DRAWING = Family(Drawing(), {"strategy": ["prior", "uniform"]})
WARNING = Family(Deadly(), {"strategy": ["prior", "uniform"]})
NESTED = Recipe(5, 4)
GROUPS = {"groups": np.arange(240) // 3}
WEIGHTS = {"sample_weight": np.arange(1.0, 241.0)}
CASES = {
    "shared:knn": (NEAR_CLASSES, CLASSES, NESTED, {}),
    "path:knn": (SCALED_CLASSES, CLASSES, NESTED, {}),
    "shared:knn by distance": (BY_DISTANCE, NUMBERS, NESTED, {}),
    "shared:knn in groups": (NEAR_CLASSES, CLASSES, NESTED, GROUPS),
    "path:knn one level": (SCALED_NUMBERS, NUMBERS, Recipe(None, 5), {}),
    "shared:ridge": (RIDGE, NUMBERS, NESTED, {}),
    "shared:ridge scaled": (SCALED_RIDGE, NUMBERS, Recipe(12, 4), {}),
    "shared:ridge weighted": (RIDGE, NUMBERS, NESTED, WEIGHTS),
    "shared:ridge by a user's loss": (RIDGE, NUMBERS, NESTED, {"loss": halves}),
    "shared:ols leave one out": (
        Family(LinearRegression()),
        NUMBERS,
        Recipe.leave_one_out(),
        {},
    ),
    "shared:ols many folds": (
        Family(LinearRegression()),
        NUMBERS,
        Recipe(60, None),
        {},
    ),
    "shared:lasso": (LASSO, NUMBERS, NESTED, {}),
    "path:logistic": (SCALED_LOGISTIC, CLASSES, NESTED, {"scoring": "roc_auc"}),
    "path:tree": (TREE, CLASSES, NESTED, {}),
    "path:knn behind PCA": (BEHIND_PCA, CLASSES, NESTED, {}),
    "refit": (SVM, CLASSES, NESTED, {}),
    "refit that draws": (DRAWING, CLASSES, NESTED, {}),
    "refit with warnings": (WARNING, CLASSES, NESTED, {}),
}


def bits(value):
    """Equal for equal bits."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return tuple(map(bits, value)) if isinstance(value, tuple | list) else value


def assert_same(one, other):
    for name in FIELDS:
        assert bits(getattr(one._record.table, name)) == bits(
            getattr(other._record.table, name)
        ), name
    assert one.notes == other.notes
    assert (one.path, one.path_reason) == (other.path, other.path_reason)


@pytest.mark.parametrize("name", CASES)
def test_tables_are_those_of_one_machine(there, jobs, name):
    """Every number, choice, count and warning, bit for bit; and nothing was done here."""
    family, targets, recipe, options = CASES[name]
    result = recipe.run(family, data()[0], targets, **options)
    assert jobs
    assert result.path == name.split()[0]
    n_sent = len(jobs)
    assert_same(result, recipe.run(family, data()[0], targets, n_jobs=1, **options))
    assert len(jobs) == n_sent


def test_geometries_that_share_and_do_not_share_lists(there, jobs):
    """For a grid with and without a scaler the lists are found there, the rest here."""
    scaled = {"kneighborsclassifier__n_neighbors": KS}
    bare = {"standardscaler": ["passthrough"], **scaled}
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier())
    family = Family(pipeline, [scaled, bare])
    result = Recipe(5, 4).run(family, *data()[::2])
    assert {len(item) for job in jobs for item in job.items} == {
        2
    }  # a geometry and some rows
    assert_same(result, Recipe(5, 4).run(family, *data()[::2], n_jobs=1))


def test_a_refused_part_is_refitted_there(there, jobs):
    """Only the training parts that the path refuses are refitted, as on one machine."""
    X, y, _ = data()
    X = np.column_stack([X, X[:, 0]])
    X[::40, -1] += 1e-9 * np.arange(6)  # collinear but for six rows
    family = Family(Ridge(), {"alpha": [1e-12, 1.0]})
    result = Recipe(5, 4).run(family, X, y)
    assert result._record.table.refitted
    assert {type(item) for job in jobs for item in job.items} == {
        tuple,
        Inside,
        Outside,
    }
    assert_same(result, Recipe(5, 4).run(family, X, y, n_jobs=1))


def test_many_outer_splits_are_few_tasks(there, jobs):
    """240 fits of one setting: as many tasks as threads where each sums all rows, else four
    times as many."""
    X, y, _ = data()
    Recipe.leave_one_out().run(Family(LinearRegression()), X, y)
    assert len(jobs) <= 2
    del jobs[:]
    Recipe.leave_one_out().run(
        behind_scaler(KNeighborsRegressor(), "n_neighbors", [3]), X, y
    )
    assert len(jobs) == 8


def test_rows_go_there_once_and_tasks_are_small(there, jobs):
    """One pickle of the path leaves this process, and a task of a run on 8 MB is a few names."""
    family, n = Family(Pickled(), {"strategy": ["prior", "uniform"]}), 20_000
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 50)), rng.integers(0, 2, n)
    pickle.dumps(family.estimator)  # counts, so that the test can fail
    before = Pickled.times
    Recipe(6, 3).run(family, X, y)
    assert Pickled.times == before + 1
    Recipe(6, 3).run(
        behind_scaler(Ridge(), "alpha", ALPHAS), X, X[:, 0] + rng.normal(size=n)
    )
    assert {type(item) for job in jobs for item in job.items} == {
        tuple,
        Inside,
        Outside,
    }
    assert max(len(pickle.dumps(job)) for job in jobs) < 2000


def test_a_quick_run_stays_here(there, jobs, monkeypatch):
    """A run of a few milliseconds is over before a cluster has its rows."""
    monkeypatch.undo()
    result = Recipe(5, 4).run(Family(Ridge(), {"alpha": ALPHAS}), data()[0], data()[1])
    assert jobs == []
    assert result.complete


def test_n_jobs_1_stays_here(there, jobs):
    """As with joblib's own Parallel."""
    Recipe(4, 3).run(CASES["refit"][0], X, y, n_jobs=1)
    assert jobs == []


def test_a_killed_worker_costs_time_not_the_run(there, tmp_path):
    """Its calls are repeated: numbers and notes are those of an undisturbed run."""
    family = Family(
        Deadly(), {"strategy": ["prior", "stratified"], "folder": [str(tmp_path)]}
    )
    expected = Recipe(4, 3).run(family, X, y, n_jobs=1)
    (tmp_path / "once").touch()
    result = Recipe(4, 3).run(family, X, y)
    assert list(tmp_path.iterdir()) == []
    assert any("one for each fit" in note for note in result.notes)
    assert_same(result, expected)


@pytest.mark.parametrize("path", ["refit", "path:knn"])
def test_workers_that_are_killed_all_at_once_cost_time_not_the_run(
    there, jobs, monkeypatch, path
):
    """The rows that they held are sent again to those that their nannies start."""
    family, targets, recipe, _ = CASES[path]
    expected = recipe.run(family, data()[0], targets, n_jobs=1)
    cluster, found = there[0], Cluster.map

    def killing(self, *args):
        for n, one in enumerate(found(self, *args)):
            if n == 1 and pids:
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
                pids.clear()
                wait_for(lambda: not cluster.scheduler.workers)
            yield one

    pids = [one.process.pid for one in cluster.workers.values()]
    monkeypatch.setattr(Cluster, "map", killing)
    assert_same(recipe.run(family, data()[0], targets), expected)
    assert pids == []


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("after", [0.05, 0.1, 0.15])
def test_a_worker_killed_while_the_rows_travel_costs_time_not_the_run(
    there, jobs, at, after
):
    """Whichever of them it is, and however far 52 MB have come."""
    rows = np.random.default_rng(0).normal(size=(65_000, 100))
    killer = threading.Timer(
        after,
        os.kill,
        (list(there[0].workers.values())[at].process.pid, signal.SIGKILL),
    )
    killer.start()
    result = Recipe(4, 3).run(
        Family(DummyClassifier()), rows, (rows[:, 0] > 0).astype(int)
    )
    killer.join()
    assert result.complete


@pytest.mark.parametrize("after", [0.1, 0.15, 0.2])
def test_rows_that_travel_when_an_interrupt_comes_are_released(there, jobs, after):
    """The workers keep no rows that no run has waited for."""
    rows, before = (
        np.random.default_rng(0).normal(size=(65_000, 100)),
        len(there[0].scheduler.tasks),
    )
    presser = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    with suppress(KeyboardInterrupt):
        presser.start()
        finished_part(
            lambda: Recipe(20, 5).run(
                Family(DummyClassifier()), rows, (rows[:, 0] > 0).astype(int)
            )
        )
    presser.join()
    time.sleep(1)
    wait_for(lambda: len(there[0].scheduler.tasks) <= before)


def test_a_client_that_is_closed_in_the_middle_is_an_error(tmp_path):
    """The message names what went away, and what to do."""
    options = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "silence_logs": 60,
        "processes": False,
    }
    with distributed.LocalCluster(**options) as cluster:
        client = distributed.Client(cluster)

        def close():
            wait_for(lambda: list(tmp_path.glob("begun *")))
            client.close()
            (tmp_path / "go on").touch()

        closer = threading.Thread(target=close)
        with parallel_config(backend="dask", client=client):
            closer.start()
            with pytest.raises(FitError, match="make a new Client and run again"):
                Recipe(6, 3).run(
                    Family(Patient(str(tmp_path)), {"strategy": ["prior", "uniform"]}),
                    X,
                    y,
                )
        closer.join()


def test_a_task_that_kills_worker_after_worker_ends_the_run(
    there, tmp_path, monkeypatch
):
    """With dask's own error, after as many deaths as dask allows."""
    monkeypatch.setattr(there[0].scheduler, "allowed_failures", 0)
    (tmp_path / "once").touch()
    with pytest.raises(
        distributed.scheduler.KilledWorker, match="died while running it"
    ):
        Recipe(4, 3).run(Family(Deadly(), {"folder": [str(tmp_path)]}), X, y)


def test_an_interrupt_does_not_wait_for_the_fits_and_keeps_the_outer_splits(
    there, tmp_path
):
    """Both workers make fits that do not end by themselves; queued tasks are forgotten.
    Ctrl-C reaches the workers too."""
    family = Family(Patient(str(tmp_path)), {"strategy": ["prior", "uniform"]})
    pids = [one.process.pid for one in there[0].workers.values()]

    def press():
        wait_for(lambda: len(list(tmp_path.glob("begun *"))) > 21)
        for pid in [*pids, os.getpid()]:
            os.kill(pid, signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    result = finished_part(lambda: Recipe(6, 3).run(family, X, y))
    presser.join()
    assert not result.complete
    assert 0 < len(result.fold_risks) < 6
    scheduler = there[0].scheduler
    wait_for(
        lambda: (
            not any(
                str(key).startswith("cvnb") and task.state != "forgotten"
                for key, task in scheduler.tasks.items()
            )
        )
    )
    (tmp_path / "go on").touch()
    full = Recipe(6, 3).run(family, X, y)
    assert np.array_equal(full.fold_risks[: len(result.fold_risks)], result.fold_risks)
    assert [one.process.pid for one in there[0].workers.values()] == pids


def test_an_interrupted_fast_path_keeps_the_finished_parts(there, jobs, monkeypatch):
    """And its numbers are those of the whole run."""
    family, targets, recipe, _ = CASES["path:knn"]
    expected, put = (
        recipe.run(family, data()[0], targets, n_jobs=1),
        cvnb.engine.table.TableBuilder.put,
    )

    def interrupted(self, found):
        put(self, found)
        if found.parts.start == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(cvnb.engine.table.TableBuilder, "put", interrupted)
    result = finished_part(lambda: recipe.run(family, data()[0], targets))
    assert not result.complete
    assert np.array_equal(result.fold_risks, expected.fold_risks[:2])


@pytest.mark.parametrize("path", ["refit", "path:knn"])
def test_progress_counts_up(there, jobs, monkeypatch, path):
    """To the end, in several steps."""
    shares = []
    monkeypatch.setattr(
        cvnb.engine.progress.Progress,
        "__call__",
        lambda self, done, details=None: shares.append(done / self.total),
    )
    family, targets, recipe, _ = CASES[path]
    recipe.run(family, data()[0], targets)
    assert shares == sorted(shares)
    assert len(set(shares)) > 3
    assert shares[-1] == 1.0


def test_workers_times_threads_are_the_cores(there, tmp_path):
    """BLAS, OpenMP and Numba have a share of the cores of their machine in every fit."""
    Recipe(4, 3).run(
        Family(Counting(str(tmp_path)), {"strategy": ["prior", "most_frequent"]}), X, y
    )
    counted = [
        json.loads(one.read_text(encoding="utf-8")) for one in tmp_path.iterdir()
    ]
    assert len(counted) == 28
    assert {n for one in counted for n in one} == {max(1, n_cores() // 2)}


def test_threads_of_this_process_share_the_cores_too(tmp_path):
    """Two threads of one worker inside the user's process; afterwards all cores are this
    thread's again."""
    options = {
        "n_workers": 1,
        "threads_per_worker": 2,
        "processes": False,
        "dashboard_address": ":0",
    }
    family = Family(Counting(str(tmp_path)), {"strategy": ["prior", "most_frequent"]})
    with (
        threadpool_limits(n_cores()),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
    ):
        with parallel_config(backend="dask"):
            result = Recipe(4, 3).run(family, X, y)
        counted = [
            json.loads(one.read_text(encoding="utf-8")) for one in tmp_path.iterdir()
        ]
        assert {n for one in counted for n in one} == {max(1, n_cores() // 2)}
    assert np.array_equal(
        result.fold_risks, Recipe(4, 3).run(family, X, y, n_jobs=1).fold_risks
    )


def test_an_asynchronous_client_is_refused(processes):
    """It would wait for itself."""

    async def run():
        async with distributed.Client(
            processes[0].scheduler_address, asynchronous=True
        ) as client:
            with parallel_config(backend="dask", client=client):
                Recipe(4, 3).run(CASES["refit"][0], X, y)

    with (
        ThreadPoolExecutor(1) as thread,
        pytest.raises(WrongTypeError, match=r"use Client\(\)"),
    ):  # this one may have a loop
        thread.submit(lambda: asyncio.run(run())).result()


@pytest.mark.parametrize(
    "hidden", ["", "sys.modules['dask'] = sys.modules['distributed'] = None; "]
)
def test_dask_is_left_alone_where_it_is_not_asked_for(hidden):
    """No run imports it, and without it nothing changes."""
    code = (
        f"import sys; {hidden}from cvnb import Recipe, knn; from sklearn.datasets import "
        "load_iris; X, y = load_iris(return_X_y=True); one = Recipe(3, 2).run(knn(k=[1, "
        "3]), X, y, n_jobs=2); two = Recipe(3, 2).run(knn(k=[1, 3]), X, y, "
        "path='refit'); assert one.risk == two.risk; assert not [name for name in "
        "('dask', 'distributed') if sys.modules.get(name)]"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout + done.stderr == ""
