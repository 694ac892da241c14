"""Two workers of dask's against two of joblib's, alternating in one process: what the way
through a cluster costs.

A LocalCluster of two processes with one thread each; beside it joblib's loky with n_jobs=2,
and for k nearest neighbours, which no joblib carries, two threads of this process. Medians
of whole runs of nested CV; ratio = seconds of joblib / seconds of dask. The risk is printed
too, so that a faster wrong answer shows. Needs dask: pip install cvnb[dask]
"""

import time

import numpy as np
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvnb import Family, Recipe

ROUNDS, KS, SIZES = 3, range(1, 51), {"max_leaf_nodes": range(2, 41)}
SCALED = make_pipeline(StandardScaler(), KNeighborsClassifier())
GRID = {"C": [0.1, 0.3, 1.0, 3.0, 10.0], "gamma": [0.01, 0.03, 0.1, 0.3, 1.0]}
ROWS = (  # name, rows, columns, family
    ("SVC, 5 × 5 grid", 1000, 10, Family(SVC(), GRID)),
    ("SVC, one setting", 200, 10, Family(SVC())),
    ("tree, 2…40 leaves", 4000, 20, Family(DecisionTreeClassifier(), SIZES)),
    ("k-NN, k = 1…50", 20_000, 20, Family(KNeighborsClassifier(), {"n_neighbors": KS})),
    (
        "k-NN scaled, k = 1…50",
        10_000,
        20,
        Family(SCALED, {"kneighborsclassifier__n_neighbors": KS}),
    ),
)


def main():
    head = f"{'workload':<32}{'rows':>8}{'path':>12}{'risk of both':>26}"
    print(f"{head}{'joblib':>11}{'dask':>11}{'ratio':>8}", flush=True)
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "silence_logs": 50,
    }
    with LocalCluster(**options) as cluster, Client(cluster):
        for name, m, n_columns, family in ROWS:
            compare(name, family, *data(m, n_columns))


def compare(name, family, X, y):
    """Print one row."""
    ways = {"joblib": {"backend": "loky", "n_jobs": 2}, "dask": {"backend": "dask"}}
    seconds, risks = {way: [] for way in ways}, {}
    for round_ in range(ROUNDS + 1):  # the first one is for imports and kernels
        rows = slice(None) if round_ else slice(len(X) // 2)
        for way, config in ways.items():
            with parallel_config(**config):
                started = time.perf_counter()
                result = Recipe(5, 5).run(family, X[rows], y[rows], progress="off")
            risks[way] = result.risk
            if round_:
                seconds[way].append(time.perf_counter() - started)
    a, b = (float(np.median(seconds[way])) for way in ways)
    both = f"{risks['joblib']:.10g} {risks['dask']:.10g}"
    print(
        f"{name:<32}{len(X):>8}{result.path:>12}{both:>26}{a:>9.2f} s{b:>9.2f} s{a / b:>7.2f}×",
        flush=True,
    )


def data(m, n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n_columns))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


if __name__ == "__main__":
    main()
