"""Small data sets, families and recipes on which every path must give equal numbers.

A data set is drawn anew from its name at each call; a family is a scikit-learn estimator
with a grid and, where its definition is short, the plug-in of the oracle; a recipe is a
function of the number of rows, giving keywords.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import naive
from cvnb import SoftmaxWeights

# Data sets


def features(m, columns, seed):
    """Normal features whose columns differ in scale."""
    return np.random.default_rng(seed).normal(size=(m, columns)) * np.linspace(
        1.0, 2.0, columns
    )


def numbers(X, seed):
    """A wavy response with noise."""
    noise = np.random.default_rng(seed + 1).normal(size=len(X))
    return np.sin(2 * X[:, 0]) + X[:, -1] + 0.3 * noise


def labels(X, seed, n_classes=2):
    """Overlapping classes of equal size, cut from the response."""
    return np.argsort(np.argsort(numbers(X, seed))) * n_classes // len(X)


def unbalanced(y):
    """Three classes of which the two rare ones have 7 and 8 rows."""
    rank = np.argsort(np.argsort(y))
    return np.where(rank < 7, 2, np.where(rank < 15, 1, 0))


FEATURES = {
    "plain": lambda X: X,
    "one column": lambda X: X[:, :1],
    "offset": lambda X: X + 1e6,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "float32 offset": lambda X: (X + 1e4).astype(np.float32),
    "float32 constant column": lambda X: np.column_stack(
        [X[:, :2], np.full(len(X), 7.1), X[:, 2:]]
    ).astype(np.float32),
    "float32 wide": lambda X: FEATURES["wide"](X).astype(np.float32),
    "whole": lambda X: np.round(1000 * X).astype(np.int64),
    "bytes": lambda X: np.clip(
        128 + 41 * np.column_stack([X, features(len(X), 4, 98)]), 0, 255
    ).astype(np.uint8),
    "bits": lambda X: X > 0,
    "constant column": lambda X: np.column_stack(
        [X[:, :2], np.full(len(X), 7.1), X[:, 2:]]
    ),
    "ties": lambda X: np.round(X).astype(np.int64),
    "copies": lambda X: np.concatenate([X[:20], X[:20], X[:7]]),
    "wide": lambda X: np.column_stack([X, features(len(X), 56, 99)]),
}

TARGETS = {
    "numbers": numbers,
    "float32 numbers": lambda X, seed: numbers(X, seed).astype(np.float32),
    "constant numbers": lambda X, seed: np.full(len(X), 3.0),
    "whole numbers": lambda X, seed: np.round(10 * numbers(X, seed)).astype(np.int64),
    "classes": lambda X, seed: labels(X, seed, 3),
    "words": lambda X, seed: np.array(["yes", "no", "maybe"])[labels(X, seed, 3)],
    "truths": lambda X, seed: labels(X, seed) == 1,
    "rare classes": lambda X, seed: unbalanced(numbers(X, seed)),
}

TIED = {"ties", "bits"}


def data(name):
    """X and y of a data set named "features / target": 47 rows, so that five folds are unequal."""
    of_features, of_target = name.split(" / ")
    X = features(47, 4, seed=3)
    y = TARGETS[of_target](X, 3)
    if of_features == "copies":
        y = FEATURES["copies"](y)
    return FEATURES[of_features](X), y


def in_double(values):
    """X or y as float64 where they are floats of fewer bits."""
    narrow = values.dtype.kind == "f" and values.dtype.itemsize < 8
    return values.astype(np.float64) if narrow else values


# Families


class Model(NamedTuple):
    """An estimator and its grid, the plug-in of naive.py, and the tolerance of its numbers."""

    estimator: Any
    grid: dict | list
    plug_in: Callable | None = None
    tolerance: float = 1e-10

    @property
    def loss(self):
        """Default loss of its task."""
        return "zero_one" if is_classifier(self.estimator) else "squared"

    @property
    def scoring(self):
        """The scorer of scikit-learn that belongs to its default loss."""
        return "accuracy" if is_classifier(self.estimator) else "neg_mean_squared_error"


def behind_scaler(step, grid, plug_in=None, tolerance=1e-10):
    """The model after a StandardScaler."""
    prefix = type(step).__name__.lower()
    prefixed = {f"{prefix}__{key}": values for key, values in grid.items()}
    return Model(
        make_pipeline(StandardScaler(), step),
        prefixed,
        plug_in and naive.scaled(plug_in),
        tolerance,
    )


def neighbour_models(task, estimator, plug_in):
    """Nearest neighbours under each weighting and metric, plain and scaled."""
    ks = {"n_neighbors": [1, 2, 3, 5, 8]}
    both = {"n_neighbors": [1, 4, 7], "weights": ["uniform", "distance"]}
    metrics = {"metric": ["manhattan", "chebyshev", "euclidean"], "n_neighbors": [5, 2]}
    powers = {"p": [1, 1.5, 2, 3], "n_neighbors": [3, 4]}
    near = naive.fixed(plug_in, weights="distance")
    softmax = estimator(metric="cosine", weights=SoftmaxWeights())
    temperatures = {"n_neighbors": [1, 4, 7], "weights__temperature": [0.05, 0.5]}
    similar = naive.fixed(plug_in, metric="cosine", weights="softmax")
    return {
        f"knn {task}": Model(estimator(), ks, plug_in),
        f"knn {task} weights": Model(estimator(), both, plug_in),
        f"knn {task} metrics": Model(estimator(), metrics, plug_in),
        f"knn {task} powers": Model(estimator(weights="distance"), powers, near),
        f"knn {task} softmax": Model(softmax, temperatures, similar),
        f"scaled knn {task} softmax": behind_scaler(softmax, temperatures, similar),
        f"scaled knn {task}": behind_scaler(estimator(), ks, plug_in),
        f"scaled knn {task} near": behind_scaler(
            estimator(weights="distance"), ks, near
        ),
    }


TO_THE_END = {"tol": 1e-12, "max_iter": 100_000}
ALPHAS, INTERCEPTS = (
    {"alpha": [1e-3, 0.1, 1.0, 10.0, 1000.0]},
    {"fit_intercept": [True, False]},
)
SHRINKAGES, SMOOTHINGS = (
    {"shrinkage": [0.05, 0.3, 1.0]},
    {"var_smoothing": [1e-9, 0.01, 0.3, 10.0]},
)

FAMILIES = {
    **neighbour_models("votes", KNeighborsClassifier, naive.knn_classifier),
    **neighbour_models("means", KNeighborsRegressor, naive.knn_regressor),
    "ridge": Model(Ridge(), ALPHAS, naive.ridge),
    "ridge intercepts": Model(
        Ridge(), {**ALPHAS, "fit_intercept": [True, False]}, naive.ridge
    ),
    "scaled ridge": behind_scaler(Ridge(), ALPHAS, naive.ridge),
    "least squares": Model(LinearRegression(), INTERCEPTS, naive.ols),
    "scaled least squares": behind_scaler(LinearRegression(), INTERCEPTS, naive.ols),
    "lasso": Model(Lasso(**TO_THE_END), {"alpha": [0.01, 0.1, 1.0]}, naive.lasso, 1e-6),
    "elastic net": Model(
        ElasticNet(**TO_THE_END),
        {"alpha": [0.01, 0.3], "l1_ratio": [0.2, 0.9]},
        naive.lasso,
        1e-6,
    ),
    "scaled lasso": behind_scaler(
        Lasso(**TO_THE_END), {"alpha": [0.01, 0.1, 1.0]}, naive.lasso, 1e-6
    ),
    "pls": Model(
        PLSRegression(), {"n_components": [3, 1, 2], "scale": [True, False]}, naive.pls
    ),
    "scaled pls": behind_scaler(
        PLSRegression(scale=False),
        {"n_components": [1, 2, 3]},
        naive.fixed(naive.pls, scale=False),
    ),
    "logistic": Model(LogisticRegression(**TO_THE_END), {"C": [0.01, 1.0, 100.0]}),
    "scaled logistic": behind_scaler(
        LogisticRegression(**TO_THE_END), {"C": [0.01, 1.0, 100.0]}
    ),
    "scaled l1 logistic": behind_scaler(
        LogisticRegression(solver="saga", random_state=0, **TO_THE_END),
        {"C": [3.0, 9.0, 30.0], "l1_ratio": [0.5, 1.0]},
    ),
    "logistic on components": Model(
        make_pipeline(
            StandardScaler(), PCA(random_state=0), LogisticRegression(**TO_THE_END)
        ),
        {"pca__n_components": [1, 2], "logisticregression__C": [0.01, 1.0, 100.0]},
        tolerance=1e-6,
    ),
    "least squares on components": Model(
        make_pipeline(PCA(), LinearRegression()),
        {"pca__n_components": [3, 1, 2]},
        naive.on_components(naive.ols),
    ),
    "ridge on components": Model(
        make_pipeline(StandardScaler(), PCA(svd_solver="covariance_eigh"), Ridge()),
        {"pca__n_components": [1, 3, 2], "ridge__alpha": [0.1, 10.0]},
        naive.scaled(naive.on_components(naive.ridge)),
    ),
    "knn on components": Model(
        make_pipeline(PCA(), KNeighborsClassifier()),
        {"pca__n_components": [2, 3], "kneighborsclassifier__n_neighbors": [1, 4, 7]},
        naive.on_components(naive.knn_classifier),
    ),
    "lda": Model(LinearDiscriminantAnalysis(solver="lsqr"), SHRINKAGES, naive.lda),
    "lda eigen": Model(
        LinearDiscriminantAnalysis(solver="eigen"), SHRINKAGES, naive.lda
    ),
    "scaled lda": behind_scaler(
        LinearDiscriminantAnalysis(solver="lsqr"), SHRINKAGES, naive.lda
    ),
    "smoothed bayes": Model(GaussianNB(), SMOOTHINGS, naive.gaussian_nb),
    "scaled smoothed bayes": behind_scaler(GaussianNB(), SMOOTHINGS, naive.gaussian_nb),
    "tree": Model(
        DecisionTreeClassifier(random_state=0),
        {"max_leaf_nodes": [2, 3, 5, 9], "min_samples_leaf": [1, 4]},
    ),
    "tree means": Model(
        DecisionTreeRegressor(random_state=0),
        [{"max_depth": [1, 3]}, {"max_leaf_nodes": [2, 4, 8]}],
    ),
    "boosting": Model(
        GradientBoostingRegressor(random_state=0), {"n_estimators": [2, 5, 10]}
    ),
    "forest": Model(
        RandomForestClassifier(random_state=0), {"n_estimators": [2, 5, 9]}
    ),
    "svc": Model(SVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.3]}),
    "naive bayes": Model(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}),
}


# Recipes


def predefined(m):
    """Four test parts in turn; the last three rows are always for training."""
    part = np.arange(m) % 4
    part[-3:] = -1
    return PredefinedSplit(part)


RECIPES = {
    "5 x 3": lambda m: {"outer": 5, "inner": 3, "seed": 0},
    "5 x 3, seed 7": lambda m: {"outer": 5, "inner": 3, "seed": 7},
    "2 x 5, seed 3": lambda m: {"outer": 2, "inner": 5, "seed": 3},
    "unshuffled": lambda m: {"outer": KFold(4), "inner": KFold(3)},
    "shuffle split": lambda m: {
        "outer": ShuffleSplit(4, test_size=0.3, random_state=2),
        "inner": KFold(3),
    },
    "shuffle split x 3": lambda m: {
        "outer": ShuffleSplit(4, test_size=0.3, random_state=2),
        "inner": 3,
    },
    "3 x shuffle split": lambda m: {
        "outer": 3,
        "inner": ShuffleSplit(5, test_size=0.25, random_state=8),
    },
    "repeated": lambda m: {
        "outer": RepeatedKFold(n_splits=3, n_repeats=2, random_state=3),
        "inner": 3,
    },
    "predefined": lambda m: {"outer": predefined(m), "inner": KFold(2)},
    "time series": lambda m: {"outer": TimeSeriesSplit(3), "inner": TimeSeriesSplit(2)},
    "leave one out x 2": lambda m: {"outer": LeaveOneOut(), "inner": KFold(2)},
    "3 x leave one out": lambda m: {"outer": 3, "inner": "loo", "seed": 0},
}


def splitter(part, classifier, seed):
    """The scikit-learn splitter for one level of a recipe."""
    if part == "loo":
        return LeaveOneOut()
    if isinstance(part, int):
        return (StratifiedKFold if classifier else KFold)(
            part, shuffle=True, random_state=seed
        )
    return part


def splitters(model, recipe, m):
    """Outer and inner scikit-learn splitter of a recipe."""
    keywords = RECIPES[recipe](m)
    classifier, seed = is_classifier(model.estimator), keywords.get("seed", 0)
    return splitter(keywords["outer"], classifier, seed), splitter(
        keywords["inner"], classifier, seed + 1
    )


# Rows of the table: data set, family, recipe


def rows_of(recipe, families):
    """One row per data set of each family."""
    return [
        (name, family, recipe) for family, names in families.items() for name in names
    ]


TABLE = [
    *rows_of(
        "5 x 3",
        {
            "knn votes": [
                "plain / classes",
                "one column / classes",
                "offset / classes",
                "float32 / classes",
                "whole / words",
                "bytes / truths",
                "bits / classes",
                "ties / words",
                "copies / rare classes",
                "wide / classes",
            ],
            "knn votes weights": [
                "plain / rare classes",
                "one column / words",
                "copies / classes",
                "offset / truths",
            ],
            "knn votes metrics": [
                "plain / classes",
                "constant column / words",
                "float32 / rare classes",
            ],
            "knn votes powers": ["plain / truths", "copies / classes"],
            "knn votes softmax": [
                "plain / classes",
                "copies / rare classes",
                "ties / words",
                "wide / truths",
                "constant column / words",
            ],
            "scaled knn votes softmax": ["plain / classes", "copies / words"],
            "knn means softmax": ["plain / numbers", "wide / whole numbers"],
            "scaled knn votes": [
                "plain / words",
                "constant column / classes",
                "offset / classes",
                "ties / truths",
            ],
            "scaled knn votes near": ["copies / classes", "wide / words"],
            "knn means": [
                "plain / numbers",
                "bytes / whole numbers",
                "bits / numbers",
                "plain / constant numbers",
            ],
            "knn means weights": [
                "copies / numbers",
                "one column / numbers",
                "ties / numbers",
            ],
            "knn means metrics": ["offset / numbers", "wide / numbers"],
            "knn means powers": ["plain / whole numbers"],
            "scaled knn means": [
                "constant column / numbers",
                "whole / numbers",
                "float32 / numbers",
                "plain / float32 numbers",
            ],
            "scaled knn means near": [
                "copies / numbers",
                "plain / numbers",
                "float32 / float32 numbers",
            ],
            "ridge": [
                "float32 / numbers",
                "float32 offset / float32 numbers",
                "float32 wide / numbers",
                "float16 / numbers",
                "plain / numbers",
                "one column / numbers",
                "wide / numbers",
                "offset / numbers",
                "bytes / whole numbers",
                "bits / numbers",
                "copies / numbers",
                "constant column / numbers",
                "plain / constant numbers",
            ],
            "ridge intercepts": ["plain / numbers", "whole / numbers"],
            "scaled ridge": [
                "float32 constant column / numbers",
                "plain / numbers",
                "wide / numbers",
                "constant column / numbers",
                "offset / whole numbers",
            ],
            "least squares": [
                "float32 offset / numbers",
                "plain / float32 numbers",
                "plain / numbers",
                "wide / numbers",
                "bytes / whole numbers",
                "copies / numbers",
            ],
            "scaled least squares": ["offset / numbers", "constant column / numbers"],
            "lasso": [
                "float32 / float32 numbers",
                "float32 offset / numbers",
                "plain / numbers",
                "one column / numbers",
                "bits / numbers",
                "constant column / numbers",
            ],
            "elastic net": [
                "float32 constant column / numbers",
                "plain / numbers",
                "ties / numbers",
                "wide / numbers",
                "plain / constant numbers",
            ],
            "scaled lasso": [
                "plain / numbers",
                "whole / numbers",
                "offset / whole numbers",
                "bytes / whole numbers",
            ],
            "pls": [
                "plain / numbers",
                "wide / numbers",
                "bytes / whole numbers",
                "bits / numbers",
                "copies / numbers",
                "float32 / numbers",
            ],
            "scaled pls": ["plain / numbers", "constant column / numbers"],
            "logistic": [
                "float32 / classes",
                "plain / classes",
                "bits / words",
                "one column / truths",
                "wide / classes",
                "copies / rare classes",
            ],
            "scaled logistic": [
                "float32 offset / words",
                "plain / truths",
                "whole / words",
                "constant column / classes",
                "offset / truths",
            ],
            "scaled l1 logistic": [
                "plain / truths",
                "one column / truths",
                "copies / truths",
                "constant column / truths",
                "float32 / truths",
            ],
            "logistic on components": [
                "plain / words",
                "wide / truths",
                "float32 / words",
            ],
            "least squares on components": [
                "plain / numbers",
                "wide / numbers",
                "whole / numbers",
                "constant column / whole numbers",
            ],
            "ridge on components": [
                "plain / numbers",
                "copies / numbers",
                "float32 / numbers",
            ],
            "knn on components": ["plain / words", "wide / classes"],
            "lda": [
                "float32 offset / classes",
                "plain / classes",
                "one column / words",
                "wide / classes",
                "constant column / truths",
                "bytes / words",
            ],
            "lda eigen": ["plain / words", "copies / rare classes"],
            "scaled lda": [
                "plain / truths",
                "offset / classes",
                "whole / words",
                "constant column / words",
            ],
            "smoothed bayes": [
                "float32 offset / classes",
                "plain / words",
                "one column / classes",
                "offset / truths",
                "copies / rare classes",
                "bits / words",
            ],
            "scaled smoothed bayes": [
                "plain / truths",
                "wide / classes",
                "whole / words",
                "constant column / rare classes",
                "float32 constant column / words",
            ],
            "tree": ["plain / classes", "ties / rare classes", "copies / words"],
            "tree means": [
                "plain / numbers",
                "bytes / whole numbers",
                "plain / float32 numbers",
            ],
            "boosting": ["plain / numbers"],
            "forest": ["plain / words"],
            "svc": ["plain / classes", "constant column / truths"],
            "naive bayes": ["plain / words", "whole / rare classes"],
        },
    ),
    *rows_of(
        "5 x 3, seed 7",
        {"knn votes": ["plain / classes"], "ridge": ["plain / numbers"]},
    ),
    *rows_of(
        "2 x 5, seed 3",
        {
            "scaled knn votes": ["plain / words"],
            "lda": ["plain / truths"],
            "tree": ["plain / classes"],
        },
    ),
    *rows_of(
        "unshuffled",
        {
            "knn votes": ["plain / classes"],
            "smoothed bayes": ["plain / truths"],
            "scaled ridge": ["plain / numbers"],
        },
    ),
    *rows_of(
        "shuffle split",
        {
            "knn means": ["plain / numbers"],
            "ridge": ["plain / numbers"],
            "scaled pls": ["plain / numbers"],
            "scaled ridge": ["wide / numbers"],
        },
    ),
    *rows_of(
        "shuffle split x 3",
        {
            "knn votes weights": ["plain / words"],
            "svc": ["plain / classes"],
            "lda": ["plain / words"],
        },
    ),
    *rows_of(
        "3 x shuffle split",
        {
            "scaled knn votes": ["plain / classes"],
            "scaled smoothed bayes": ["plain / classes"],
            "ridge": ["wide / numbers"],
            "least squares on components": ["plain / numbers"],
        },
    ),
    *rows_of(
        "repeated",
        {"scaled knn means": ["plain / numbers"], "least squares": ["plain / numbers"]},
    ),
    *rows_of(
        "predefined",
        {
            "knn votes": ["copies / classes"],
            "scaled lda": ["plain / classes"],
            "ridge": ["plain / numbers"],
        },
    ),
    *rows_of(
        "time series",
        {"knn means metrics": ["plain / numbers"], "tree means": ["plain / numbers"]},
    ),
    *rows_of(
        "leave one out x 2",
        {
            "knn votes": ["plain / truths"],
            "smoothed bayes": ["plain / words"],
            "pls": ["plain / numbers"],
            "scaled ridge": ["plain / numbers"],
        },
    ),
    *rows_of(
        "3 x leave one out",
        {
            "scaled knn votes": ["plain / classes"],
            "lda": ["plain / words"],
            "ridge": ["offset / numbers"],
        },
    ),
]


def undetermined(row):
    """Whether equal distances make the neighbours depend on the library."""
    name, family, _ = row
    return "knn" in family and name.split(" / ")[0] in TIED
