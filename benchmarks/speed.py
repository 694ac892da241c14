"""One fit, every θ: whole runs against what a user would write otherwise, answers compared.

Each row has a process of its own, in which the two alternate. ratio = seconds of theirs /
seconds of ours, medians; 5 × 5 nested CV on the same splits unless the row says otherwise.
The risk is printed too, so that a faster wrong answer shows, and the memory that ours
allocates at its peak. A row against a package that is not installed is skipped, and says
so. Last comes the geometric mean of the ratios of LOOPS, the rows of k-NN and linear models
against scikit-learn's loops.
"""

import gc
import re
import subprocess
import sys
import time
import tracemalloc
import warnings
from importlib.util import find_spec

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeCV,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from cvnb import Family, Recipe

PEERS = {  # row -> (package, its name in the package index)
    "lasso 2000×50, against celer's path": ("celer", "celer"),
    "lasso 2000×50, against skglm's path": ("skglm", "skglm"),
    "lasso 2000×50, against skglm's Lasso": ("skglm", "skglm"),
    "elastic net 2000×50, against celer's path": ("celer", "celer"),
    "elastic net 2000×50, against skglm's path": ("skglm", "skglm"),
    "k-NN 2000×20, against scikit-learn-intelex": ("sklearnex", "scikit-learn-intelex"),
    "ridge 2000×50, against scikit-learn-intelex": (
        "sklearnex",
        "scikit-learn-intelex",
    ),
}
KS, ALPHAS, PENALTIES = range(1, 51), np.logspace(-4, 4, 17), np.logspace(-4, 0, 50)
SQUARED = "neg_mean_squared_error"
# Seconds: far longer than BLAS threads of one side keep spinning into the turn of the other.
A_WHILE = 0.5


def main():
    for note in ("risk of both", "theirs", "ours", "ratio", "peak of ours"):
        print(
            f"{note:>14}" if note != "risk of both" else f"{'workload':<46}{note:>26}",
            end="",
        )
    print(flush=True)
    ratios = []
    for number, name in enumerate(ROWS):
        line = subprocess.run(
            [sys.executable, __file__, str(number)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        print(line, end="", flush=True)
        if name in LOOPS:
            ratios.append(float(re.search(r"(\d+)×[^×]*$", line)[1]))
    print(
        f"{f'geometric mean of these {len(ratios)} rows: ' + ', '.join(LOOPS)}: "
        f"{np.exp(np.mean(np.log(ratios))):.0f}×"
    )


def row(number):
    """Print one row; in a process of its own, so that no row finds threads that another one
    left spinning."""
    name = ROWS[number]
    if name == "k-NN 20,000×50 against one X @ X.T":
        large(name, 20_000, 50, against_product=True)
    elif name == "k-NN 50,000×20":
        large(name, 50_000, 20)
    elif name in PEERS and find_spec(PEERS[name][0]) is None:
        print(f"{name:<46}{PEERS[name][1]} is not installed: row skipped", flush=True)
    elif name in PEERS:
        compare(name, *against_peer(name), rounds=2)
    else:
        compare(
            name,
            *next(
                (theirs, ours) for other, theirs, ours in workloads() if other == name
            ),
        )


LOOPS = (
    "k-NN 2000×20, k = 1…50",
    "k-NN scaled 2000×20, k = 1…50",
    'k-NN regression, weights="distance", 2000×8',
    "ridge 2000×50, 17 α",
    "ridge scaled 2000×50, 17 α",
    "lasso 2000×50, 50 α",
    "elastic net 2000×50, 50 α",
    "OLS leave-one-out 2000×50",
    "logistic scaled 2000×20, 17 C",
)
ROWS = (
    "k-NN 2000×20, k = 1…50",
    "k-NN scaled 2000×20, k = 1…50",
    'k-NN regression, weights="distance", 2000×8',
    "ridge 2000×50, 17 α",
    "ridge 2000×50, against RidgeCV (LOO inside)",
    "ridge scaled 2000×50, 17 α",
    "lasso 2000×50, 50 α",
    "lasso 2000×50, against LassoCV",
    "elastic net 2000×50, 50 α",
    "elastic net 2000×50, against ElasticNetCV",
    "OLS leave-one-out 2000×50",
    "logistic scaled 2000×20, 17 C",
    "logistic scaled 2000×20, against LogisticRegressionCV",
    "tree 2000×20, 2…40 leaves",
    "boosting 1000×10, 10 sizes",
    "histogram boosting 1000×10, 10 sizes",
    "forest 1000×10, 10 sizes",
    "LDA 2000×20, 21 shrinkages",
    "naive Bayes 2000×20, 21 smoothings",
    "k-NN 20,000×50 against one X @ X.T",
    "k-NN 50,000×20",
    *PEERS,
)


def workloads():
    """(name, their run -> risk, our run -> risk)."""
    X, y = classes(2000, 20)
    knn = Family(KNeighborsClassifier(), {"n_neighbors": KS})
    yield "k-NN 2000×20, k = 1…50", searched(knn, X, y), ran(knn, X, y)
    scaled = behind_scaler(KNeighborsClassifier(), {"n_neighbors": KS})
    yield "k-NN scaled 2000×20, k = 1…50", searched(scaled, X, y), ran(scaled, X, y)
    X, y = numbers(2000, 8)
    near = Family(KNeighborsRegressor(weights="distance"), {"n_neighbors": KS})
    yield (
        'k-NN regression, weights="distance", 2000×8',
        searched(near, X, y),
        ran(near, X, y),
    )
    X, y = numbers(2000, 50)
    ridge = Family(Ridge(), {"alpha": ALPHAS})
    yield "ridge 2000×50, 17 α", searched(ridge, X, y), ran(ridge, X, y)
    yield (
        "ridge 2000×50, against RidgeCV (LOO inside)",
        crossed(RidgeCV(ALPHAS), X, y),
        ran(ridge, X, y),
    )
    scaled = behind_scaler(Ridge(), {"alpha": ALPHAS})
    yield "ridge scaled 2000×50, 17 α", searched(scaled, X, y), ran(scaled, X, y)
    ols = Family(LinearRegression())
    for name, model, own in (
        ("lasso", Lasso(), LassoCV),
        ("elastic net", ElasticNet(), ElasticNetCV),
    ):
        family = Family(model, {"alpha": PENALTIES})
        yield f"{name} 2000×50, 50 α", searched(family, X, y), ran(family, X, y)
        search = own(alphas=PENALTIES, cv=splitters(y)[1])
        yield (
            f"{name} 2000×50, against {own.__name__}",
            crossed(search, X, y),
            ran(family, X, y),
        )
    yield from along_C()
    yield from staged()
    yield from by_class()
    yield (
        "OLS leave-one-out 2000×50",
        left_out(X, y),
        lambda: Recipe.leave_one_out().run(ols, X, y, progress="off").risk,
    )


def along_C():
    """Logistic regression, and scikit-learn's own search of it."""
    X, y = classes(2000, 20)
    family = behind_scaler(LogisticRegression(), {"C": ALPHAS})
    yield "logistic scaled 2000×20, 17 C", searched(family, X, y), ran(family, X, y)
    own = make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(
            Cs=ALPHAS,
            cv=splitters(y)[1],
            scoring="accuracy",
            use_legacy_attributes=False,
        ),
    )
    yield (
        "logistic scaled 2000×20, against LogisticRegressionCV",
        crossed(own, X, y),
        ran(family, X, y),
    )


def staged():
    """Sizes of trees, boosting and forests."""
    X, y = classes(2000, 20)
    leaves = Family(
        DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": range(2, 41)}
    )
    yield "tree 2000×20, 2…40 leaves", searched(leaves, X, y), ran(leaves, X, y)
    X, y = classes(1000, 10)
    for name, model, axis in (
        ("boosting", GradientBoostingClassifier(random_state=0), "n_estimators"),
        (
            "histogram boosting",
            HistGradientBoostingClassifier(random_state=0),
            "max_iter",
        ),
        ("forest", RandomForestClassifier(random_state=0), "n_estimators"),
    ):
        family = Family(model, {axis: range(10, 101, 10)})
        yield f"{name} 1000×10, 10 sizes", searched(family, X, y), ran(family, X, y)


def by_class():
    """Classifiers of three classes whose sums serve every setting."""
    X, _ = classes(2000, 20)
    y = np.digitize(X[:, 0] + np.random.default_rng(1).normal(size=2000), [-0.5, 0.5])
    for name, model, grid in (
        (
            "LDA 2000×20, 21 shrinkages",
            LinearDiscriminantAnalysis(solver="lsqr"),
            {"shrinkage": np.linspace(0, 1, 21)},
        ),
        (
            "naive Bayes 2000×20, 21 smoothings",
            GaussianNB(),
            {"var_smoothing": np.logspace(-9, 1, 21)},
        ),
    ):
        family = Family(model, grid)
        yield name, searched(family, X, y), ran(family, X, y)


def against_peer(name):
    """(run of a package of PEERS -> risk, our run -> risk)."""
    if name.startswith("k-NN"):
        from sklearnex.neighbors import KNeighborsClassifier as PeersKNN

        (X, y), grid = classes(2000, 20), {"n_neighbors": KS}
        return searched(Family(PeersKNN(), grid), X, y), ran(
            Family(KNeighborsClassifier(), grid), X, y
        )
    X, y = numbers(2000, 50)
    if name.startswith("ridge"):
        from sklearnex.linear_model import Ridge as PeersRidge

        grid = {"alpha": ALPHAS}
        return searched(Family(PeersRidge(), grid), X, y), ran(
            Family(Ridge(), grid), X, y
        )
    model, ratio, peer = (
        (Lasso(), 1.0, "Lasso")
        if name.startswith("lasso")
        else (ElasticNet(), 0.5, "ElasticNet")
    )
    ours = ran(Family(model, {"alpha": PENALTIES}), X, y)
    if "celer" in name:
        return along_path(celer_path(ratio), X, y), ours
    import skglm

    if "path" in name:
        return along_path(
            lambda X, y, alphas: getattr(skglm, peer)(fit_intercept=False).path(
                X, y, alphas
            )[1],
            X,
            y,
        ), ours
    return searched(Family(skglm.Lasso(), {"alpha": PENALTIES}), X, y), ours


def celer_path(l1_ratio):
    import celer

    def path(X, y, alphas):
        return celer.celer_path(X, y, "lasso", alphas=alphas, l1_ratio=l1_ratio)[1]

    return path


def along_path(path, X, y, penalties=PENALTIES, folds=5):
    """Nested CV by hand: one path of warm starts per inner training part, one fit outside;
    centred rows for the intercept."""
    alphas = penalties[::-1]

    def losses(train, test, chosen=slice(None)):
        centre, level = X[train].mean(axis=0), y[train].mean()
        centred = np.asfortranarray(X[train] - centre)
        coefs = path(centred, y[train] - level, alphas[chosen])
        return ((y[test, None] - level - (X[test] - centre) @ coefs) ** 2).mean(axis=0)

    return lambda: risks_by_hand(losses, y, folds).mean()


def risks_by_hand(losses, y, folds=5):
    """The risk of each outer fold of a nested CV by hand.

    losses  (training rows, test rows[, chosen settings]) -> loss of each setting
    """
    outer, inner = splitters(y, folds)
    risks = []
    for train, test in outer.split(y, y):
        splits = inner.split(train, y[train])
        curve = np.mean([losses(train[a], train[b]) for a, b in splits], axis=0)
        risks.append(losses(train, test, [curve.argmin()])[0])
    return np.array(risks)


def compare(name, theirs, ours, rounds=4):
    """Print one row: theirs and ours for a while each, in turn."""
    ours()  # imports, kernels
    seconds, risks = {"theirs": [], "ours": []}, {}
    for _ in range(rounds):
        for who, once in (("theirs", theirs), ("ours", ours)):
            began = time.perf_counter()
            while time.perf_counter() < began + A_WHILE:
                started = time.perf_counter()
                risks[who] = once()
                seconds[who].append(time.perf_counter() - started)
    a, b = np.median(seconds["theirs"]), np.median(seconds["ours"])
    both = f"{risks['theirs']:.10g} {risks['ours']:.10g}"
    print(
        f"{name:<46}{both:>26}{a:>12.3f} s{1e3 * b:>11.2f} ms{a / b:>13.0f}×{peak(ours):>11.1f} MB",
        flush=True,
    )


def large(name, m, n_columns, against_product=False):
    """A run too large for scikit-learn's loops; beside it one bare matrix product on one thread."""
    X, y = classes(m, n_columns)
    family = Family(KNeighborsClassifier(), {"n_neighbors": KS})
    ours, seconds, bare = ran(family, X, y), [], []
    for _ in range(3):
        if against_product:
            with threadpool_limits(1):
                product = np.empty((m, m))
                np.dot(X, X.T, out=product)  # its memory is there
                started = time.perf_counter()
                np.dot(X, X.T, out=product)
                bare.append(time.perf_counter() - started)
                del product
        started = time.perf_counter()
        risk = ours()
        seconds.append(time.perf_counter() - started)
    a, b = (np.median(bare) if bare else np.nan), np.median(seconds)
    theirs = f"{a:>12.3f} s" if bare else f"{'-':>14}"
    ratio = f"ours = {b / a:.2f}×" if bare else "-"
    print(
        f"{name:<46}{risk:>26.10g}{theirs}{1e3 * b:>11.0f} ms{ratio:>14}{peak(ours):>11.1f} MB",
        flush=True,
    )


def peak(run):
    """Megabytes allocated at the peak of one run."""
    gc.collect()
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def classes(m, n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n_columns))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


def numbers(m, n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n_columns))
    return X, X @ rng.normal(size=n_columns) + 3 * rng.normal(size=m)


def behind_scaler(model, grid):
    prefix = type(model).__name__.lower()
    return Family(
        make_pipeline(StandardScaler(), model),
        {f"{prefix}__{key}": values for key, values in grid.items()},
    )


def ran(family, X, y):
    return lambda: Recipe(5, 5, seed=0).run(family, X, y, progress="off").risk


def splitters(y, folds=5):
    """The outer and inner splitters of Recipe(folds, folds, seed=0)."""
    kind = StratifiedKFold if is_labels(y) else KFold
    return [kind(folds, shuffle=True, random_state=seed) for seed in (0, 1)]


def is_labels(y):
    return y.dtype.kind == "i"


def nested(search, X, y, folds=5):
    """cross_validate(search): its risks by outer fold, and its fitted searches."""
    scoring = "accuracy" if is_labels(y) else SQUARED
    outer, _ = splitters(y, folds)
    found = cross_validate(
        search, X, y, cv=outer, scoring=scoring, return_estimator=True
    )
    scores = found["test_score"]
    return 1 - scores if is_labels(y) else -scores, found["estimator"]


def grid_search(estimator, grid, y, folds=5):
    """GridSearchCV on the inner splits."""
    scoring = "accuracy" if is_labels(y) else SQUARED
    return GridSearchCV(estimator, grid, cv=splitters(y, folds)[1], scoring=scoring)


def searched(family, X, y):
    """cross_validate(GridSearchCV(...)) on the same splits."""
    return crossed(grid_search(family.estimator, family.grid, y), X, y)


def crossed(search, X, y):
    """An estimator that searches by itself, in cross_validate."""
    return lambda: nested(search, X, y)[0].mean()


def left_out(X, y):
    return lambda: (
        -cross_val_score(
            LinearRegression(), X, y, cv=LeaveOneOut(), scoring=SQUARED
        ).mean()
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    row(int(sys.argv[1])) if len(sys.argv) > 1 else main()
