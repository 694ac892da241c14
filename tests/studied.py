"""Families of every kind of path, with their targets, for the tests of studies."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cases import features, labels, numbers
from cvnb import Family, knn, ridge

X = features(60, 4, 0)
NUMBERS, CLASSES = numbers(X, 0), labels(X, 0, 3)
NAMES = np.array(["one", "two", "three"])[CLASSES]
GROUPS = np.arange(60) % 13
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2.0, 60)
RANKS = {"n_neighbors": [1, 3, 7]}
SCALED = make_pipeline(StandardScaler(), KNeighborsClassifier())

FAMILIES = {
    "k-NN": (Family(KNeighborsClassifier(), RANKS), CLASSES, {}),
    "k-NN, names": (Family(KNeighborsClassifier(), RANKS), NAMES, {}),
    "k-NN, numbers": (Family(KNeighborsRegressor(), RANKS), NUMBERS, {}),
    "k-NN, scaled": (
        Family(SCALED, {"kneighborsclassifier__n_neighbors": [1, 5]}),
        CLASSES,
        {},
    ),
    "default grid": (knn(scale=False), CLASSES, {}),
    "ridge": (Family(Ridge(), {"alpha": [0.01, 1.0, 100.0]}), NUMBERS, {}),
    "ridge, weights": (ridge(), NUMBERS, {"sample_weight": WEIGHTS}),
    "lasso": (Family(Lasso(tol=1e-12), {"alpha": [0.01, 0.1, 1.0]}), NUMBERS, {}),
    "logistic": (
        Family(LogisticRegression(tol=1e-10, max_iter=1000), {"C": [0.1, 10.0]}),
        CLASSES,
        {},
    ),
    "tree": (
        Family(DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 4, 8]}),
        CLASSES,
        {},
    ),
    "forest": (
        Family(RandomForestClassifier(random_state=0), {"n_estimators": [2, 5]}),
        CLASSES,
        {},
    ),
    "refit": (
        Family(DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 9]}),
        CLASSES,
        {},
    ),
    "refit, flat": (
        Family(DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 9]}),
        CLASSES,
        {"flat": True},
    ),
    "groups": (Family(KNeighborsClassifier(), RANKS), CLASSES, {"groups": GROUPS}),
    "one setting": (Family(KNeighborsClassifier(), {}), CLASSES, {}),
    "one_se": (ridge(), NUMBERS, {"select": "one_se"}),
    "scoring": (
        Family(LogisticRegression(tol=1e-10, max_iter=1000), {"C": [0.1, 10.0]}),
        CLASSES == 1,
        {"scoring": "roc_auc"},
    ),
}
