"""Studies on dask: every draw goes to the workers, and the numbers are those of this machine."""

import os

import numpy as np
import pytest
from joblib import parallel_backend, parallel_config
from sklearn.tree import DecisionTreeClassifier

import cvnb.engine.workers
from cvnb import Family, Recipe, knn, ridge
from cvnb.engine.cluster import Cluster
from cvnb.studies import learning_curve, null_test, over_seeds
from studied import CLASSES, NUMBERS, X

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

TREE = Family(DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 9]})
FAMILIES = {
    "refit": (TREE, CLASSES, {}),
    "k-NN": (knn(k=[1, 3, 7], scale=False), CLASSES, {}),
    "ridge": (ridge(), NUMBERS, {}),
    "groups": (knn(k=[1, 3]), CLASSES, {"groups": np.arange(60) % 13}),
}
STUDIES = {
    "seeds": lambda result: over_seeds(result, n=6),
    "shuffles": lambda result: null_test(result, n=6),
    "sizes": lambda result: learning_curve(result, [20, 30], 2),
}


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread each."""
    before = dict(os.environ)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options, silence_logs=60) as workers,
        distributed.Client(workers) as client,
    ):
        yield client
    os.environ.clear()
    os.environ.update(before)  # dask leaves what it tells its workers


@pytest.fixture
def sent(monkeypatch):
    """All jobs that are sent, however little there is to do."""
    jobs, submit = [], Cluster._submit
    monkeypatch.setattr(
        Cluster,
        "_submit",
        lambda self, job, rows: jobs.append(job) or submit(self, job, rows),
    )
    monkeypatch.setattr(cvnb.engine.workers, "QUICK", 0.0)
    return jobs


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_study_on_dask_has_the_numbers_of_this_machine(name, study, client, sent):
    """Refits, neighbours and sums of blocks; risks and flat estimates to the last bit or 1e-12."""
    family, y, options = FAMILIES[name]
    if study == "sizes" and name == "groups":
        options = {}
    result = Recipe(3, 2).run(family, X, y, **options)
    here = STUDIES[study](result)
    assert not sent
    with parallel_config(backend="dask", client=client):
        there = STUDIES[study](result)
    assert sent
    np.testing.assert_allclose(there.risks, here.risks, rtol=1e-12)
    if getattr(here, "flats", None) is not None:
        np.testing.assert_allclose(there.flats, here.flats, rtol=1e-12)


def test_joblibs_older_name_for_it(client, sent):
    """parallel_backend("dask") finds the client that is there."""
    result = Recipe(3, 2).run(TREE, X, CLASSES)
    here = over_seeds(result, n=3).risks
    with parallel_backend("dask"):
        there = over_seeds(result, n=3).risks
    assert sent
    assert np.array_equal(there, here)
