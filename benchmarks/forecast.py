"""How near the forecast of --dry-run comes to the run: seconds, and the peak of what is
allocated.

    python benchmarks/forecast.py [words of a workload]
"""

import gc
import statistics
import sys
import time
import tracemalloc

import numpy as np
from regimes import ROWS
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvnb import Family, Recipe, boosting
from cvnb.runs.prepare import dry_run

KS, ALPHAS, NESTED = range(1, 51), np.logspace(-4, 4, 17), Recipe(5, 5)
REGIMES = (  # rows of regimes.py
    "logistic, digits 1797×64, 10 classes",
    "logistic, float32 embeddings 3000×256, 10 classes",
    "logistic, l1 1000×50",
    "ridge, float32 5000×512",
    "k-NN, cosine, float32 5000×512",
    "lasso 200×5000",
    "elastic net 200×5000",
    "ridge, sparse 3000×10000",
    "lasso, sparse 3000×10000",
    "elastic net, sparse 3000×10000",
    "logistic, sparse 3000×10000",
    "PLS 300×800, 1…20 components",
    "PCA + least squares 2000×60, 1…40 components",
    "PCA + k-NN 2000×60, 1…40 components",
)


def workloads():
    """(name, family, recipe, data, options)."""
    knn = Family(KNeighborsClassifier(), {"n_neighbors": KS})
    scaled = Family(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": KS},
    )
    near = Family(KNeighborsRegressor(weights="distance"), {"n_neighbors": KS})
    ridge = Family(Ridge(), {"alpha": ALPHAS})
    scaled_ridge = Family(
        make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}
    )
    yield "k-NN 2000×20", knn, NESTED, table(2000, 20, True), {}
    yield "k-NN scaled 2000×20", scaled, NESTED, table(2000, 20, True), {}
    yield "k-NN regression 2000×8", near, NESTED, table(2000, 8), {}
    yield "ridge 2000×50", ridge, NESTED, table(2000, 50), {}
    yield "ridge scaled 2000×50", scaled_ridge, NESTED, table(2000, 50), {}
    penalised = Family(Lasso(), {"alpha": np.logspace(-4, 0, 50)})
    yield "lasso 2000×50", penalised, NESTED, table(2000, 50), {}
    curved = Family(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": ALPHAS},
    )
    yield "logistic scaled 2000×20", curved, NESTED, table(2000, 20, True), {}
    yield "logistic scaled 20,000×50", curved, NESTED, table(20_000, 50, True), {}
    yield "logistic scaled 1000×500", curved, NESTED, table(1000, 500, True), {}
    yield "logistic scaled 200×5000", curved, NESTED, table(200, 5000, True), {}
    yield (
        "OLS leave-one-out 2000×50",
        Family(LinearRegression(), {}),
        Recipe.leave_one_out(),
        table(2000, 50),
        {},
    )
    yield "k-NN 20,000×50", knn, NESTED, table(20_000, 50, True), {}
    yield (
        "k-NN refitted 500×20",
        Family(KNeighborsClassifier(), {"n_neighbors": [1, 9]}),
        NESTED,
        table(500, 20, True),
        {"path": "refit"},
    )
    yield (
        "tree 2000×20",
        Family(DecisionTreeClassifier(), {"max_leaf_nodes": range(2, 41)}),
        NESTED,
        table(2000, 20, True),
        {},
    )
    yield "boosting 500×20", boosting(), NESTED, table(500, 20, True), {}
    yield (
        "SVC 500×20",
        Family(SVC(), {"C": [0.1, 1, 10]}),
        NESTED,
        table(500, 20, True),
        {},
    )
    for name in REGIMES:
        row = ROWS[name]
        yield name, row.family(), Recipe(3, 3), row.table(*row.shape), {}


def table(m, n_columns, classes=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n_columns))
    y = X[:, 0] + rng.normal(size=m)
    return X, (y > 0).astype(int) if classes else y


def main(words):
    print(
        f"{'workload':<50}{'forecast':>12}{'run':>12}{'ratio':>8}{'forecast':>12}{'peak':>12}"
    )
    for name, family, recipe, (X, y), options in workloads():
        if not all(word in name for word in words):
            continue
        seconds = []
        for _ in range(4):
            started = time.perf_counter()
            recipe.run(family, X, y, progress="off", **options)
            seconds.append(time.perf_counter() - started)
        found, real = (
            dry_run(recipe, family, X, y, **options),
            statistics.median(seconds[1:]),
        )
        gc.collect()
        tracemalloc.start()
        recipe.run(family, X, y, progress="off", **options)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        times = f"{1e3 * found.seconds:>9.1f} ms{1e3 * real:>9.1f} ms{found.seconds / real:>8.2f}"
        print(f"{name:<50}{times}{found.megabytes:>9.1f} MB{peak:>9.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
