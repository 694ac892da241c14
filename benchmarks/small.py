"""No fast path may lose: whole runs on small data against the refit path, alternating in
one process.

ratio = seconds of refit / seconds of the path; 0.9 or less would be a loss of more than a tenth.
"""

import time
import warnings

import numpy as np
from sklearn.base import is_classifier
from sklearn.decomposition import PCA
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvnb import Family, Recipe

ROUNDS = 5
MODELS = {
    "k-NN": (KNeighborsClassifier(), "n_neighbors", [1, 3, 5, 7, 9]),
    "k-NN scaled": (
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        "kneighborsclassifier__n_neighbors",
        [1, 3, 5, 7, 9],
    ),
    "k-NN behind PCA": (
        make_pipeline(PCA(3), KNeighborsRegressor()),
        "kneighborsregressor__n_neighbors",
        [1, 3, 5, 7, 9],
    ),
    "ridge": (Ridge(), "alpha", [0.01, 0.1, 1.0, 10.0, 100.0]),
    "ridge scaled": (
        make_pipeline(StandardScaler(), Ridge()),
        "ridge__alpha",
        [0.01, 0.1, 1.0, 10.0, 100.0],
    ),
    "ridge classifier": (RidgeClassifier(), "alpha", [0.01, 0.1, 1.0, 10.0, 100.0]),
    "ridge behind PCA": (
        make_pipeline(PCA(3), Ridge()),
        "ridge__alpha",
        [0.01, 0.1, 1.0, 10.0, 100.0],
    ),
    "least squares": (LinearRegression(), None, []),
    "lasso": (Lasso(), "alpha", [1e-6, 1e-4, 0.01, 0.1, 1.0]),
    "lasso, m columns": (Lasso(), "alpha", [1e-6, 1e-4, 0.01, 0.1, 1.0]),
    "logistic scaled": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        "logisticregression__C",
        [0.01, 0.1, 1.0, 10.0, 100.0],
    ),
}


def main():
    least = np.inf
    print(f"{'model':<20}{'rows':>6}{'settings':>10}{'path':>14}{'ratio':>9}")
    for name, m, n in rows():
        path, ratio = compare(*problem(name, m, n))
        least = min(least, ratio)
        print(f"{name:<20}{m:>6}{n:>10}{path:>14}{ratio:>8.1f}×", flush=True)
    print(f"least ratio: {least:.2f}")


def rows():
    """(model, rows, settings)."""
    for name, (_, _, values) in MODELS.items():
        for m in (50, 150, 500):
            for n in (1, 5) if values else (1,):
                yield name, m, n


def problem(name, m, n_settings):
    """(family, X, y, recipe) of a row."""
    estimator, parameter, values = MODELS[name]
    family = Family(estimator, {parameter: values[:n_settings]} if values else {})
    table = data(m, m if "m columns" in name else 8, is_classifier(estimator))
    return family, *table, Recipe(5, 5 if values else None)


def data(m, p, classify):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(m, p))
    y = X[:, 0] + rng.normal(size=m)
    return X, (y > 0).astype(int) if classify else y


def compare(family, X, y, recipe):
    """(path, ratio of medians)."""
    seconds = {"auto": [], "refit": []}
    for round_ in range(ROUNDS + 1):  # the first one is for imports and kernels
        for path in seconds:
            started = time.perf_counter()
            result = recipe.run(family, X, y, path=path, progress="off")
            if round_:
                seconds[path].append(time.perf_counter() - started)
            ran = result.path if path == "auto" else ran  # noqa: F821 - "auto" comes first
    return ran, float(np.median(seconds["refit"]) / np.median(seconds["auto"]))


if __name__ == "__main__":
    warnings.simplefilter(
        "ignore"
    )  # scikit-learn's descent does not end under tiny penalties
    main()
