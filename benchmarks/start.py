"""What the first run costs: in a fresh environment, where Numba compiles, and in a new
process with its cache warm.

The first table is of a notebook: seconds from %load_ext to the first result, in a kernel of its
own whose caches are empty; the seconds of that cell where it is run 30 s after %load_ext, which
compiles meanwhile; and from %load_ext to the first result in a second kernel. Data are loaded
before, by scikit-learn.

The second table is of a script: the first run of a family minus the second one, in a process of
its own that has imported everything.
"""

import os
import subprocess
import sys
import tempfile

from first_cell import LOAD, seconds_of

CELLS = {
    "k-NN": ("load_breast_cancer", "knn()"),
    "ridge": ("load_diabetes", "ridge()"),
    "lasso": ("load_diabetes", "lasso()"),
    "logistic regression": ("load_breast_cancer", "logistic()"),
}
WAIT = 30  # seconds after %load_ext
FAMILIES = {
    "k-NN": "KNeighborsClassifier(), {'n_neighbors': range(1, 20)}",
    "k-NN scaled": "make_pipeline(StandardScaler(), KNeighborsClassifier()), "
    "{'kneighborsclassifier__n_neighbors': [1, 9]}",
    "ridge": "Ridge(), {'alpha': [.1, 1, 10]}",
    "ridge scaled": "make_pipeline(StandardScaler(), Ridge()), {'ridge__alpha': [.1, 1, 10]}",
    "ridge classifier": "RidgeClassifier(), {'alpha': [.1, 1, 10]}",
    "least squares": "LinearRegression(), {}",
    "lasso": "Lasso(), {'alpha': [.01, .1, 1]}",
    "logistic classifier": "LogisticRegression(), {'C': [.1, 1, 10]}",
}
SCRIPT = """
import time, numpy, numba, scipy.linalg, scipy.spatial
from sklearn.base import is_classifier
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import cvnb.runs.prepare, cvnb.engine.compiling
from cvnb import Family, Recipe
rng = numpy.random.default_rng(0)
X = rng.normal(size=(500, 10))
y = X[:, 0] + rng.normal(size=500)
family = Family({family})
y = (y > 0).astype(int) if is_classifier(family.estimator) else y
seconds = []
for _ in range(2):
    started = time.perf_counter()
    Recipe(5, 5).run(family, X, y, progress="off")
    seconds.append(time.perf_counter() - started)
print(seconds[0] - seconds[1])
"""


def main():
    print(
        f"{'notebook':<20}{'at once':>12}{'after 30 s':>12}{'2nd kernel':>12}  path at once"
    )
    for name in CELLS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
            at_once, path = first_result(name, cache)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
            later, _ = first_result(name, cache, WAIT)
            second, _ = first_result(name, cache)
        print(
            f"{name:<20}{at_once:>10.2f} s{later:>10.2f} s{second:>10.2f} s  {path}",
            flush=True,
        )
    print()
    scripts()


def first_result(name, cache, wait=0):
    """(seconds of a user, path): of %load_ext and the first cell, or of the cell after a wait."""
    data, family = CELLS[name]
    load_data = f"from sklearn.datasets import {data}\nX, y = {data}(return_X_y=True)"
    cell = f"%%nestedcv X y -o risk\n{family}"
    kept = os.path.join(cache, "path")
    write = f"print(risk.path, file=open({kept!r}, 'w'), end='')"
    environment = {"NUMBA_CACHE_DIR": cache, "CVNB_COMPILE": ""}
    _, load, first, _ = seconds_of(
        [load_data, LOAD, cell, write], environment, wait, before=cell
    )
    with open(kept, encoding="utf-8") as file:
        return (first if wait else load + first), file.read()


def scripts():
    print(f"{'family':<20}{'compiling':>12}{'cache warm':>12}")
    for name, family in FAMILIES.items():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            cold, warm = (first_run(family, environment) for _ in range(2))
        print(f"{name:<20}{cold:>10.2f} s{warm:>10.3f} s", flush=True)


def first_run(family, environment):
    command = [sys.executable, "-c", SCRIPT.replace("{family}", family)]
    return float(
        subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout
    )


if __name__ == "__main__":
    main()
