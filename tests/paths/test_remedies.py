"""A reason for a refit says what is fast, and that is fast."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import cases
from cvnb import Family, Recipe, SoftmaxWeights
from cvnb.data.table import Data
from cvnb.runs.options import Options
from cvnb.runs.prepare import dry_run, prepare

KS, SIZES, ROUNDS = (
    {"n_neighbors": [1, 5]},
    {"n_estimators": [1, 3, 5, 8]},
    {"max_iter": [1, 3, 5, 8]},
)
COSTS = {"C": [0.1, 1.0]}
NEAR, LDA = KNeighborsClassifier, LinearDiscriminantAnalysis
GRADIENT, HISTOGRAMS = GradientBoostingClassifier, HistGradientBoostingClassifier


def scorer(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y))


def settings(model, grid, **options):
    return model, grid, options


# what the reason ends with, what is refitted, and what the reason says is fast
REMEDIES = [
    (
        "; 'uniform' and 'distance' are fast",
        settings(NEAR(weights=np.ones_like), KS),
        settings(NEAR(weights="distance"), KS),
    ),
    (
        "euclidean, l1, l2, manhattan, minkowski are fast",
        settings(NEAR(metric="canberra"), KS),
        settings(NEAR(metric="l1"), KS),
    ),
    (
        "; a metric without them is fast",
        settings(NEAR(metric_params={"w": np.ones(4)}), KS),
        settings(NEAR(), KS),
    ),
    (
        "; algorithm='auto' is fast",
        settings(NEAR(metric="cosine", algorithm="kd_tree"), KS),
        settings(NEAR(metric="cosine", algorithm="auto"), KS),
    ),
    (
        "; metric='cosine' is fast",
        settings(NEAR(weights=SoftmaxWeights()), KS),
        settings(NEAR(weights=SoftmaxWeights(), metric="cosine"), KS),
    ),
    (
        "; 1e-06 is fast",
        settings(NEAR(weights=SoftmaxWeights(1e-9), metric="cosine"), KS),
        settings(NEAR(weights=SoftmaxWeights(1e-6), metric="cosine"), KS),
    ),
    (
        "; p from 1 on is fast",
        settings(NEAR(p=0.5), KS),
        settings(NEAR(p=1), KS),
    ),
    (
        "; solver='lsqr' is fast",
        settings(LDA(), {}),
        settings(LDA(solver="lsqr", shrinkage=0.1), {}),
    ),
    (
        "; numbers are fast",
        settings(LDA(solver="lsqr"), {"shrinkage": ["auto", 0.1]}),
        settings(LDA(solver="lsqr"), {"shrinkage": [0.3, 0.1]}),
    ),
    (
        "; solver='auto' is fast",
        settings(RidgeClassifier(solver="lsqr"), {"alpha": [1.0, 2.0]}),
        settings(RidgeClassifier(solver="auto"), {"alpha": [1.0, 2.0]}),
    ),
    (
        "; a penalty, however small, is fast",
        settings(LogisticRegression(penalty=None), COSTS),
        settings(LogisticRegression(), {"C": [1.0, 1e3]}),
    ),
    (
        "; class_weight='balanced' and sample_weight are fast",
        settings(LogisticRegression(class_weight={0: 1.0, 1: 2.0}), COSTS),
        settings(LogisticRegression(class_weight="balanced"), COSTS),
    ),
    (
        "; warm_start=False is fast",
        settings(RandomForestClassifier(warm_start=True), SIZES),
        settings(RandomForestClassifier(warm_start=False), SIZES),
    ),
    (
        "; n_iter_no_change=None is fast",
        settings(GRADIENT(n_iter_no_change=2), SIZES),
        settings(GRADIENT(n_iter_no_change=None), SIZES),
    ),
    (
        "; early_stopping=False is fast",
        settings(HISTOGRAMS(early_stopping=True), ROUNDS),
        settings(HISTOGRAMS(early_stopping=False), ROUNDS),
    ),
    (
        "; several values of max_leaf_nodes are fast",
        settings(DecisionTreeClassifier(), {"max_depth": [1, 2]}),
        settings(DecisionTreeClassifier(), {"max_leaf_nodes": [2, 3]}),
    ),
    (
        "; one pipeline of all steps is fast",
        settings(make_pipeline(make_pipeline(StandardScaler(), NEAR())), {}),
        settings(make_pipeline(StandardScaler(), NEAR()), {}),
    ),
    (
        "; make_scorer of a function of (y, prediction) is fast",
        settings(NEAR(), KS, scoring=scorer),
        settings(NEAR(), KS, scoring=make_scorer(accuracy_score)),
    ),
]


def path_of(model, grid, options):
    data = Data.check(*cases.data("plain / classes"), None, None)
    run = prepare(Recipe(3, 2), Family(model, grid), data, Options(**options))
    return run.jobs[""].choose_path()


@pytest.mark.parametrize(
    ("remedy", "refitted", "fast"), REMEDIES, ids=[words for words, *_ in REMEDIES]
)
def test_what_the_reason_says_is_fast_is_fast(remedy, refitted, fast):
    """The reason for the refit ends with the remedy, and who follows it gets a fast path."""
    slow = path_of(*refitted)
    assert slow.name == "refit"
    assert slow.reason.endswith(remedy)
    assert path_of(*fast).name != "refit"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_is_fast_of_an_l1_penalty_on_sparse_rows_is_fast(n_classes):
    """Two classes as a dense table, more without the l1 penalty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.5)
    y = np.arange(60) % n_classes
    l1 = Family(LogisticRegression(solver="saga", l1_ratio=1.0), COSTS)
    refitted = dry_run(Recipe(3, 2), l1, csr_array(X), y).path
    assert refitted.name == "refit"
    assert refitted.reason.endswith(
        "two classes are on the fast path as X.toarray(), more with l1_ratio=0"
    )
    is_two = n_classes == 2
    family = l1 if is_two else Family(LogisticRegression(solver="saga"), COSTS)
    table = X if is_two else csr_array(X)
    assert dry_run(Recipe(3, 2), family, table, y).path.name == "path:logistic"
