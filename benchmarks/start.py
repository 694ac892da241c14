"""What the first run costs: in a fresh environment, where Numba compiles, and in a new
process with its cache warm.

Both are the first run of a family minus the second one, in a process of its own that has
imported everything.
"""

import os
import subprocess
import sys
import tempfile

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
    print(f"{'family':<20}{'compiling':>12}{'cache warm':>12}")
    for name, family in FAMILIES.items():
        with tempfile.TemporaryDirectory() as cache:
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
