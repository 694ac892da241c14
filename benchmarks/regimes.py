"""The data that people have: wide tables, many classes, float32, sparse X, components.

    python benchmarks/regimes.py [words of a row] [--seconds 20]

Each row has a process of its own, in which cvnb, scikit-learn's nested search and the peers
that a user would pick take turns: whole 3 × 3 nested CV on the same splits. ratio = least
seconds of theirs / least seconds of ours; below 1 cvnb is slower. A row goes on for
`--seconds`, and each side runs at least once. Below it stand the path that ran, with the
reason, and how far the risks of the outer folds are from scikit-learn's: as its defaults give
them and, where these differ, brought to the end of its iterations in double precision. A peer
that is not installed is a line that says so. R's glmnet is timed inside R, without its start.
"""

import argparse
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from speed import (
    along_path,
    celer_path,
    classes,
    grid_search,
    nested,
    risks_by_hand,
    splitters,
)

from cvnb import Family, Recipe

FOLDS = 3
SAME = 1e-9  # a relative difference of risks that is rounding
CS, ALPHAS = np.logspace(-3, 3, 9), np.logspace(-2, 4, 13)
PENALTIES, KS = np.logspace(-2, 0.5, 50), range(1, 51)
COMPONENTS, ROUNDS = range(1, 41), range(10, 101, 10)
Run = Callable[[], Any]


class Timed(NamedTuple):
    """What a run in another program answers: seconds by its own clock, risks, choices."""

    seconds: float
    risks: np.ndarray
    chosen: np.ndarray


@dataclass(frozen=True)
class Peer:
    """What a user would pick instead: its name, its package, (X, y) -> its run.

    in_r  the package is one of R
    """

    name: str
    make: Callable[[Any, np.ndarray], Run]
    package: str = "sklearn"
    in_r: bool = False

    @property
    def is_installed(self) -> bool:
        found = is_in_r if self.in_r else find_spec
        return bool(found(self.package))


@dataclass(frozen=True)
class Regime:
    """A row of the table.

    family   (X, y) -> the family
    table    (rows, columns) -> (X, y)
    shape    rows and columns
    peers    beside scikit-learn's nested search
    tight    parameters that bring scikit-learn's iterations to their end
    package  what the row needs
    """

    family: Callable[[], Family]
    table: Callable[[int, int], tuple[Any, np.ndarray]]
    shape: tuple[int, int]
    peers: tuple[Peer, ...] = ()
    tight: dict[str, Any] = field(default_factory=dict)
    package: str = "sklearn"


# Tables of m rows and p columns.


def embeddings(m, p, n_classes=10, spread=6.0):
    """Clouds around a centre for each class, in float32."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=m)
    X = rng.normal(size=(n_classes, p))[y] + spread * rng.normal(size=(m, p))
    return X.astype(np.float32), y


def digits(m, p):
    X, y = load_digits(return_X_y=True)
    return X[:m, :p] / 16, y[:m]


def few_rows(m, p):
    """Targets of ten columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, p))
    coef = np.zeros(p)
    coef[:10] = rng.normal(size=10)
    return X, X @ coef + rng.normal(size=m)


def labelled(table):
    """The same X; labels: whether the target is positive."""

    def of(m, p):
        X, y = table(m, p)
        return X, (y > 0).astype(int)

    return of


def narrow(table):
    """The same X and y, X in float32."""

    def of(m, p):
        X, y = table(m, p)
        return X.astype(np.float32), y

    return of


def sparse(m, p):
    """Rows of a hundredth of the columns, as words of texts."""
    rng = np.random.default_rng(0)
    X = sp.random_array((m, p), density=0.01, format="csr", rng=rng)
    return X, X @ rng.normal(size=p) + 0.3 * rng.normal(size=m)


def falling(m, p):
    """Columns mixed from directions whose spreads fall."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
    X = (rng.normal(size=(m, p)) * 0.95 ** np.arange(p)) @ turn
    return X, X[:, :5].sum(axis=1) + rng.normal(size=m)


# What a user would pick.


def own(name, model, axis, values, **parameters):
    """A class that searches by itself."""

    def make(X, y):
        inner = splitters(y, FOLDS)[1]
        cv = {} if name.startswith("Ridge") else {"cv": inner}
        return partial(nested, model(**{axis: values}, **cv, **parameters), X, y, FOLDS)

    return Peer(name, make)


def logistic_cv(**parameters):
    return own(
        "LogisticRegressionCV",
        LogisticRegressionCV,
        "Cs",
        CS,
        scoring="accuracy",
        use_legacy_attributes=False,
        **parameters,
    )


def searching(name, model, grid, package):
    """A model of another package in the same nested search."""

    def make(X, y):
        return partial(nested, grid_search(model(), grid, y, FOLDS), X, y, FOLDS)

    return Peer(name, make, package)


def walked_by_celer(l1_ratio=1.0):
    """celer's path by hand; its own searches do not run beside scikit-learn 1.9."""

    def make(X, y):
        return along_path(celer_path(l1_ratio), X, y, PENALTIES, FOLDS)

    return Peer("celer's path by hand", make, "celer")


def is_in_r(package):
    """Whether R is installed, with this package."""
    asked = ["Rscript", "-e", f"quit(status = !requireNamespace('{package}'))"]
    has_r = shutil.which("Rscript") is not None
    return has_r and subprocess.run(asked, capture_output=True).returncode == 0


def by_glmnet(X, y):
    """cv.glmnet inside every outer fold, on the same splits and penalties."""
    (m, p), (outer, inner) = X.shape, splitters(y, FOLDS)
    codes = np.zeros((FOLDS + 1, m), dtype=np.int32)  # outer folds, then inner ones
    for j, (train, test) in enumerate(outer.split(y, y), start=1):
        codes[0, test] = j
        for k, (_, held) in enumerate(inner.split(train, y[train]), start=1):
            codes[j, train[held]] = k
    sizes = np.array([m, p, FOLDS, PENALTIES.size], dtype=np.int32)
    arrays = sizes, codes, PENALTIES, y.astype(float), X.T.astype(float)
    table = b"".join(array.tobytes() for array in arrays)
    script = Path(__file__).with_name("glmnet_nested.R")

    def run():
        asked = ["Rscript", str(script)]
        found = subprocess.run(asked, input=table, stdout=subprocess.PIPE, check=True)
        seconds, risks, chosen = map(str.split, found.stdout.decode().splitlines())
        return Timed(float(seconds[0]), np.array(risks, float), np.array(chosen, float))

    return run


def sparse_logistic(l1_ratio):
    """skglm's penalty is scikit-learn's 1 / C for each row."""

    def model():
        return __import__("skglm").SparseLogisticRegression(l1_ratio=l1_ratio)

    n_train = 1000 * (FOLDS - 1) ** 2 // FOLDS**2
    return searching(
        "skglm.SparseLogisticRegression", model, {"alpha": 1 / (CS * n_train)}, "skglm"
    )


def one_product(X, y):
    """One X·Xᵀ in the precision of X, on as many threads."""
    out = np.empty((len(X), len(X)), dtype=X.dtype)
    return lambda: np.dot(X, X.T, out=out)


def pls_by_hand(X, y):
    """One fit of ikpls per inner training part, for every number of components."""
    from ikpls.numpy import PLS

    def losses(train, test, chosen=slice(None)):
        model = PLS(ddof=1).fit(X[train], y[train, None], 20)
        return ((y[test, None] - model.predict(X[test])) ** 2).mean(axis=(1, 2))[chosen]

    return lambda: risks_by_hand(losses, y, FOLDS)


def boosted(package, name, **parameters):
    """Rounds of a boosting library."""
    model = getattr(__import__(package), name)
    return Family(
        model(n_jobs=1, random_state=0, **parameters), {"n_estimators": ROUNDS}
    )


def after(transformer, model):
    """A number of components of a decomposition ahead of a model."""
    step = type(transformer).__name__.lower()
    return Family(
        make_pipeline(transformer, model), {f"{step}__n_components": COMPONENTS}
    )


def logistic(**parameters):
    return partial(Family, LogisticRegression(**parameters), {"C": CS})


def ridge(model=Ridge):
    return partial(Family, model(), {"alpha": ALPHAS})


def shrunk(model):
    return partial(Family, model(), {"alpha": PENALTIES})


def near(metric):
    return partial(Family, KNeighborsClassifier(metric=metric), {"n_neighbors": KS})


NEWTON = {"tol": 1e-10, "max_iter": 100_000}
SOLVED = {"tol": 1e-13, "max_iter": 10_000}
DESCENT = {"tol": 1e-12, "max_iter": 1_000_000}
PRODUCT = Peer("one X·Xᵀ", one_product)
OWN_RIDGE = (own("RidgeCV", RidgeCV, "alphas", ALPHAS),)
OWN_LASSO = (
    own("LassoCV", LassoCV, "alphas", PENALTIES),
    walked_by_celer(),
    Peer("R's cv.glmnet", by_glmnet, "glmnet", in_r=True),
)
OWN_NET = (
    own("ElasticNetCV", ElasticNetCV, "alphas", PENALTIES),
    walked_by_celer(0.5),
)
single, few = narrow(few_rows), few_rows
sparse_labels = labelled(sparse)


def sparse_quarters(m, p):
    """Four classes, a quarter of the rows each."""
    X, y = sparse(m, p)
    return X, np.digitize(y, np.quantile(y, (0.25, 0.5, 0.75)))


two_clouds = partial(embeddings, n_classes=2)
CELER = searching(
    "celer.LogisticRegression",
    lambda: __import__("celer").LogisticRegression(penalty="l1"),
    {"C": CS},
    "celer",
)
L1, NET = {"solver": "saga", "l1_ratio": 1.0}, {"solver": "saga", "l1_ratio": 0.5}
ROWS = {
    "logistic, digits 1797×64, 10 classes": Regime(
        logistic(max_iter=1000),
        digits,
        (1797, 64),
        (logistic_cv(max_iter=1000),),
        NEWTON,
    ),
    "logistic, float32 embeddings 3000×256, 10 classes": Regime(
        logistic(), embeddings, (3000, 256), (logistic_cv(),), NEWTON
    ),
    "logistic, float32 2000×768, 2 classes": Regime(
        logistic(), two_clouds, (2000, 768), (logistic_cv(),), NEWTON
    ),
    "logistic 200×5000": Regime(
        logistic(), labelled(few), (200, 5000), (logistic_cv(),), NEWTON
    ),
    "logistic, l1 1000×50": Regime(
        logistic(**L1),
        classes,
        (1000, 50),
        (logistic_cv(solver="saga", l1_ratios=(1.0,)), CELER, sparse_logistic(1.0)),
        NEWTON,
    ),
    "logistic, elastic net 1000×50": Regime(
        logistic(**NET),
        classes,
        (1000, 50),
        (logistic_cv(solver="saga", l1_ratios=(0.5,)), sparse_logistic(0.5)),
        NEWTON,
    ),
    "ridge, float32 5000×512": Regime(ridge(), single, (5000, 512), OWN_RIDGE),
    "ridge classifier, float32 5000×512": Regime(
        ridge(RidgeClassifier),
        embeddings,
        (5000, 512),
        (own("RidgeClassifierCV", RidgeClassifierCV, "alphas", ALPHAS),),
    ),
    "least squares, float32 5000×512": Regime(
        partial(Family, LinearRegression()), single, (5000, 512)
    ),
    **{
        f"k-NN, {metric}, {name} 5000×512": Regime(
            near(metric), table, (5000, 512), (PRODUCT,)
        )
        for metric in ("euclidean", "cosine")
        for name, table in (
            ("float32", embeddings),
            (
                "float64",
                lambda m, p: (embeddings(m, p)[0].astype(float), embeddings(m, p)[1]),
            ),
        )
    },
    **{
        f"{name} 200×{p}": Regime(shrunk(model), few, (200, p), peers, DESCENT)
        for p in (5000, 20_000)
        for name, model, peers in (
            ("lasso", Lasso, OWN_LASSO),
            ("elastic net", ElasticNet, OWN_NET),
        )
    },
    "ridge, sparse 3000×10000": Regime(ridge(), sparse, (3000, 10_000), (), SOLVED),
    "ridge classifier, sparse 3000×10000": Regime(
        ridge(RidgeClassifier), sparse_labels, (3000, 10_000), (), SOLVED
    ),
    "lasso, sparse 3000×10000": Regime(
        shrunk(Lasso), sparse, (3000, 10_000), OWN_LASSO[:1], DESCENT
    ),
    "elastic net, sparse 3000×10000": Regime(
        shrunk(ElasticNet), sparse, (3000, 10_000), OWN_NET[:1], DESCENT
    ),
    "logistic, sparse 3000×10000": Regime(
        logistic(), sparse_labels, (3000, 10_000), (logistic_cv(),), NEWTON
    ),
    "logistic, sparse 3000×10000, 4 classes": Regime(
        logistic(), sparse_quarters, (3000, 10_000), (logistic_cv(),), NEWTON
    ),
    "PLS 300×800, 1…20 components": Regime(
        lambda: Family(PLSRegression(), {"n_components": range(1, 21)}),
        falling,
        (300, 800),
        (Peer("ikpls by hand", pls_by_hand, "ikpls"),),
    ),
    "PCA + least squares 2000×60, 1…40 components": Regime(
        lambda: after(PCA(), LinearRegression()), falling, (2000, 60)
    ),
    "PCA + k-NN 2000×60, 1…40 components": Regime(
        lambda: after(PCA(), KNeighborsClassifier()), labelled(falling), (2000, 60)
    ),
    "TruncatedSVD + ridge 2000×60, 1…40 components": Regime(
        lambda: after(TruncatedSVD(algorithm="arpack", random_state=0), Ridge()),
        falling,
        (2000, 60),
    ),
    "XGBoost 2000×20, 10 sizes": Regime(
        lambda: boosted("xgboost", "XGBClassifier"),
        classes,
        (2000, 20),
        package="xgboost",
    ),
    "LightGBM 2000×20, 10 sizes": Regime(
        lambda: boosted("lightgbm", "LGBMClassifier", verbose=-1),
        classes,
        (2000, 20),
        package="lightgbm",
    ),
}


def main(words, seconds):
    print(f"{'regime':<52}{'ours':>12}{'theirs':>12}{'ratio':>9}", flush=True)
    for name in ROWS:
        if all(word in name for word in words):
            asked = ["--row", name, "--seconds", str(seconds)]
            subprocess.run([sys.executable, __file__, *asked], check=True)


def row(name, seconds, shape=None):
    """Print one row; in a process of its own, as rows of benchmarks/speed.py."""
    regime = ROWS[name]
    if find_spec(regime.package) is None:
        print(f"{name:<52}{regime.package} is not installed: row skipped")
        return
    X, y = regime.table(*(shape or regime.shape))
    family = regime.family()
    search = grid_search(family.estimator, family.grid, y, FOLDS)
    installed = [peer for peer in regime.peers if peer.is_installed]
    others = {peer.name: peer.make(X, y) for peer in installed}
    runs = {"": partial(nested, search, X, y, FOLDS), **others}
    ours, least, result, answers = in_turns(partial(ran, family, X, y), runs, seconds)
    for label, seconds in least.items():
        left = f"    {label:<48}" if label else f"{name:<52}"
        print(f"{left}{ours:>10.3f} s{seconds:>10.3f} s{seconds / ours:>8.1f}×")
    for peer in regime.peers:
        if peer not in installed:
            print(f"    {peer.name}: not installed")
    print(f"    {result.path}: {shortened(result.path_reason)}")
    for label, answer in answers.items():
        if isinstance(answer, Timed):
            print(
                f"    {label}: risks {difference(result, answer.risks, answer.chosen)}"
            )
    print(
        f"    {said_of_answers(regime, family, X, y, result, answers[''])}", flush=True
    )


def in_turns(ours, runs, seconds):
    """Least seconds of ours and of each of the others, in turn; our result and their first
    answers. A first run of a fast path, which loads its kernels, does not count."""
    began = time.perf_counter()
    spent, result = timed(ours)
    of_ours, least, answers = [spent] if result.path == "refit" else [], {}, {}
    while not least or time.perf_counter() < began + seconds:
        if least or not of_ours:
            of_ours.append(timed(ours)[0])
        for label, run in runs.items():
            spent, found = timed(run)
            least[label] = min(least.get(label, np.inf), spent)
            answers.setdefault(label, found)
    return min(of_ours), least, result, answers


def timed(run):
    """Its seconds, by its own clock if it has one, and its answer."""
    started = time.perf_counter()
    answer = run()
    if isinstance(answer, Timed):
        return answer.seconds, answer
    return time.perf_counter() - started, answer


def said_of_answers(regime, family, X, y, result, theirs):
    """How far the risks are from scikit-learn's, and the choices that are equal."""
    risks, searches = theirs
    chosen = indices(searches)
    said = f"risks of folds {difference(result, risks, chosen)}"
    is_equal = relative(result.fold_risks, risks) <= SAME
    is_equal &= n_equal_choices(result, chosen) == FOLDS
    if not is_equal and result.path != "refit":
        wide = X.astype(np.float64) if X.dtype.kind == "f" else X
        estimator = clone(family.estimator).set_params(**regime.tight)
        search = grid_search(estimator, family.grid, y, FOLDS)
        risks, searches = nested(search, wide, y, FOLDS)
        tight = difference(result, risks, indices(searches))
        ends = ", ".join(f"{key}={value:g}" for key, value in regime.tight.items())
        said += f"\n    with {ends or 'X in double precision'}: {tight}"
    return said


def difference(result, risks, chosen):
    """Words of the largest difference of risks, and of the equal choices."""
    far, n_equal = relative(result.fold_risks, risks), n_equal_choices(result, chosen)
    return f"differ by {far:.0e}, {n_equal} of {FOLDS} choices are equal"


def n_equal_choices(result, chosen):
    return np.count_nonzero(np.equal(chosen, result.chosen_index))


def indices(searches):
    """The setting that each search chose."""
    return [search.best_index_ for search in searches]


def relative(ours, theirs):
    """The largest difference, in units of the largest."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def shortened(reason, width=90):
    return reason if len(reason) <= width else f"{reason[: width - 1]}…"


def ran(family, X, y):
    return Recipe(FOLDS, FOLDS, seed=0).run(family, X, y, progress="off")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="words of the rows to time")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each row")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.row:
        row(asked.row, asked.seconds)
    else:
        main(asked.words, asked.seconds)
