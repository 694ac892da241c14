"""How often the intervals cover what they name: simulations in which the truth is known.

Ridge regression (squared loss) and k-NN classification (0-1 loss), both tuned inside, on
100 and on 500 rows, of which five share a group or none do. For every simulated data set
the true risk of each fitted rule is computed, not estimated: for ridge in closed form, for
k-NN over a fine grid of the square that its rows come from.

    bayle, hoeffding   cover the mean true risk of the five rules of nested CV
    corrected_t        covers its mean over all data sets: the risk of the procedure
                       at this training size
    holdout            covers the true risk of the predictor in hand after CV then test
    ignoring groups    is bayle on grouped rows as if they were independent: what not to do

With "small" as the second argument, on 60, 100 and 200 rows without groups, the methods that
run more splits (REPEATS times) beside bayle, few_rows and corrected_t, and how often each covers

    tested      the mean true risk of the five rules of nested CV
    procedure   its mean over all data sets
    final       the true risk of the final predictor, tuned and trained on all rows

With "auto" as the second argument, what `interval()` takes, and how often it covers what it names,
one line for each of LINES: few rows, 10 folds, leave-one-out, repeated folds, few groups, heavy
tails, rare mistakes, more columns than rows; beside it the corrected t.

python benchmarks/interval_coverage.py [simulations per line] [small|auto [name of one line]]
"""

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier

import cvnb
from cvnb.errors import CvnbError
from cvnb.inference import bayle_interval

LEVEL = 0.95
SIZES = (100, 500)
SMALL = (60, 100, 200)
REPEATS = 100
TARGETS = ("tested", "procedure", "final")
GROUP = 5
ALPHAS = np.logspace(-2, 3, 11)
KS = range(1, 26)


@dataclass
class Ridge:
    """y = x'β + u + ε with x normal; u is shared by a group, as is half of the variance of x.

    more       columns without effect
    freedom    ε has Student's t distribution with so many degrees of freedom; 0: normal
    """

    more: int = 0
    freedom: int = 0
    name = "ridge"
    loss = "squared"
    noise, shared = 1.0, 0.7

    def __post_init__(self) -> None:
        self.beta = np.r_[1.0, 0.5, 0.25, np.zeros(2 + self.more)]
        self.variance = self.freedom / (self.freedom - 2) if self.freedom else 1.0

    def family(self) -> Any:
        return cvnb.ridge(alpha=ALPHAS, scale=False, task="regression")

    def draw(
        self, m: int, grouped: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """grouped: rows of a group; 0: no groups."""
        X, u = rng.normal(size=(m, self.beta.size)), np.zeros(m)
        if grouped:
            of = np.arange(m) // grouped
            X = np.sqrt(0.5) * (X + rng.normal(size=(of[-1] + 1, self.beta.size))[of])
            u = self.shared * rng.normal(size=of[-1] + 1)[of]
        freedom = self.freedom
        noise = rng.standard_t(freedom, m) if freedom else rng.normal(size=m)
        return X, X @ self.beta + u + self.noise * noise

    def risk(
        self, setting: dict[str, Any], X: np.ndarray, y: np.ndarray, grouped: bool
    ) -> float:
        """σ² + |β̂ - β|² + b², for new rows of new groups."""
        centre, level = X.mean(axis=0), y.mean()
        Z = X - centre
        beta = np.linalg.solve(
            Z.T @ Z + setting["alpha"] * np.eye(Z.shape[1]), Z.T @ (y - level)
        )
        intercept = level - centre @ beta
        return float(
            self.noise**2 * self.variance
            + bool(grouped) * self.shared**2
            + ((beta - self.beta) ** 2).sum()
            + intercept**2
        )


@dataclass
class Knn:
    """P(y = 1 | x, u) = 1 / (1 + exp(-f(x) - u)) with x uniform in the unit square; a group
    shares u and is a cluster.

    shift    is added to f(x): -4.2 leaves about 5 % of y = 1
    """

    shift: float = 0.0
    name = "k-NN"
    loss = "zero_one"
    shared, width = 1.5, 0.1

    def __post_init__(self) -> None:
        side = (np.arange(32) + 0.5) / 32
        self.grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        nodes, weights = np.polynomial.hermite_e.hermegauss(31)
        p = self._p(self.grid[:, :, None], self.shared * nodes)
        self.truth = {
            False: self._p(self.grid, 0.0),
            True: p @ (weights / weights.sum()),
        }

    def _p(self, x: np.ndarray, u: Any) -> np.ndarray:
        return 1 / (
            1
            + np.exp(
                -self.shift
                - 4 * np.sin(2 * np.pi * x[:, 0]) * np.cos(np.pi * x[:, 1])
                - u
            )
        )

    def family(self) -> Any:
        return cvnb.knn(k=KS, scale=False, task="classification")

    def draw(
        self, m: int, grouped: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """grouped: rows of a group; 0: no groups."""
        X, u = rng.random((m, 2)), np.zeros(m)
        if grouped:
            of = np.arange(m) // grouped
            X = (
                rng.random((of[-1] + 1, 2))[of] + self.width * rng.normal(size=(m, 2))
            ) % 1.0
            u = self.shared * rng.normal(size=of[-1] + 1)[of]
        return X, (rng.random(m) < self._p(X, u)).astype(np.int64)

    def risk(
        self, setting: dict[str, Any], X: np.ndarray, y: np.ndarray, grouped: bool
    ) -> float:
        """Mean over the square of the chance that y differs from what is predicted there."""
        model = KNeighborsClassifier(n_neighbors=setting["k"], algorithm="kd_tree").fit(
            X, y
        )
        p = self.truth[bool(grouped)]
        return float(np.where(model.predict(self.grid) == 1, 1 - p, p).mean())


def simulate(
    world: Any, m: int, grouped: bool, seed: int
) -> dict[str, tuple[float, float, float]]:
    """method -> (low, high, true risk of what was fitted) on one data set."""
    rng = np.random.default_rng([seed, m, grouped])
    X, y = world.draw(m, GROUP * grouped, rng)
    groups = np.arange(m) // GROUP if grouped else None
    found: dict[str, tuple[float, float, float]] = {}
    options: dict[str, Any] = {"groups": groups, "loss": world.loss, "progress": "off"}
    result = cvnb.Recipe(5, 5, seed=seed, stratify=False).run(
        world.family(), X, y, **options
    )
    truth = _truth(world, result, X, y, grouped)
    for method in [
        "bayle",
        "corrected_t",
        *(["hoeffding"] if world.loss == "zero_one" else []),
    ]:
        found |= _interval(result, method, truth)
    if grouped:
        losses = (
            y - result.predictions
        ) ** 2  # on classes 0 and 1 the squared loss is the 0-1 loss
        found["ignoring groups"] = (
            *bayle_interval([losses[test] for _, test in result.plan.outer], LEVEL),
            truth,
        )
    result = cvnb.Recipe(0.25, 5, seed=seed, stratify=False).run(
        world.family(), X, y, **options
    )
    found |= _interval(result, "holdout", _truth(world, result, X, y, grouped))
    return found


def _interval(
    result: Any, method: str, truth: float, n_repeats: int | None = None
) -> dict[str, tuple[float, float, float]]:
    """None where losses without any spread allow none, which is rare and not counted."""
    try:
        interval = result.interval(LEVEL, method, n_repeats=n_repeats)
    except CvnbError:
        return {}
    return {method: (interval.low, interval.high, truth)}


def _truth(
    world: Any, result: Any, X: np.ndarray, y: np.ndarray, grouped: bool
) -> float:
    """The mean true risk of the rules that were fitted on the outer training parts."""
    pairs = zip(result.chosen, result.plan.outer, strict=True)
    return float(
        np.mean(
            [
                world.risk(setting, X[train], y[train], grouped)
                for setting, (train, _) in pairs
            ]
        )
    )


def coverage(world: Any, m: int, grouped: bool, n: int) -> dict[str, Any]:
    """method -> (share of n data sets in which the interval held its target, its mean width)."""
    runs: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(n):
        for method, found in simulate(world, m, grouped, seed).items():
            runs.setdefault(method, []).append(found)
    shares = {}
    for method, found in runs.items():
        low, high, truth = np.array(found).T
        target = truth.mean() if method == "corrected_t" else truth
        shares[method] = (
            float(np.mean((low <= target) & (target <= high))),
            float(np.mean(high - low)),
        )
    return shares


def small_coverage(world: Any, m: int, n: int) -> dict[str, tuple[list[float], float]]:
    """method -> (shares of n data sets in which each of TARGETS was covered, mean width)."""
    runs: dict[str, list[tuple[float, float, float, float]]] = {}
    for seed in range(n):
        rng = np.random.default_rng([seed, m, 9])
        X, y = world.draw(m, 0, rng)
        recipe = cvnb.Recipe(5, 5, seed=seed)
        result = recipe.run(world.family(), X, y, loss=world.loss, progress="off")
        tested = _truth(world, result, X, y, False)
        final = world.risk(result.final_setting, X, y, False)
        for method in REPEATED_TOO:
            more = REPEATS if method in REPEATED_TOO[3:] else None
            for low, high, _ in _interval(result, method, tested, more).values():
                runs.setdefault(method, []).append((low, high, tested, final))
    shares = {}
    for method, found in runs.items():
        low, high, tested, final = np.array(found).T
        targets = tested, np.full(low.size, tested.mean()), final
        covered = [float(np.mean((low <= t) & (t <= high))) for t in targets]
        shares[method] = covered, float(np.mean(high - low))
    return shares


REPEATED_TOO = ("bayle", "few_rows", "corrected_t", "ncv", "conservative_z")


def main_small(n: int, only: str = "") -> None:
    print(f"{'':16}{'method':16}" + "".join(f"{t:>12}" for t in TARGETS) + "   width")
    for world in (Ridge(), Knn()):
        for m in SMALL:
            line = f"{world.name} {m}"
            if only not in ("", line):
                continue
            for method, (shares, width) in small_coverage(world, m, n).items():
                cells = "".join(f"{100 * share:>10.1f} %" for share in shares)
                print(f"{line:16}{method:16}{cells}{width:>8.3f}", flush=True)


@dataclass
class Line:
    """One line of "auto": data of so many rows, groups of `grouped` rows, and the outer splits."""

    world: Any
    m: int
    outer: Any = 5
    grouped: int = 0

    def recipe(self, seed: int) -> Any:
        if self.outer == "repeated":
            folds = RepeatedKFold(n_splits=5, n_repeats=5, random_state=seed)
            return cvnb.Recipe(folds, 5)
        if not self.grouped:
            return cvnb.Recipe(self.outer, 5, seed=seed)
        n_groups = self.m // self.grouped
        return cvnb.Recipe(5, min(5, n_groups - 1), seed=seed, stratify=False)

    def intervals(self, seed: int) -> tuple[float, list[Any]]:
        """(mean true risk of what was fitted on one data set, [what auto takes, corrected t])."""
        rng = np.random.default_rng([seed, self.m, self.grouped, 19])
        X, y = self.world.draw(self.m, self.grouped, rng)
        while np.ptp(y) == 0:  # of one class
            X, y = self.world.draw(self.m, self.grouped, rng)
        groups = np.arange(self.m) // self.grouped if self.grouped else None
        options = {"groups": groups, "loss": self.world.loss, "progress": "off"}
        result = self.recipe(seed).run(self.world.family(), X, y, **options)
        truth = _truth(self.world, result, X, y, bool(self.grouped))
        try:
            corrected = result.interval(LEVEL, "corrected_t")
        except CvnbError:  # fold losses without any spread
            corrected = None
        return truth, [result.interval(LEVEL), corrected]

    def coverage(self, n: int) -> str:
        """What was taken, its coverage, width and number of data sets; so of the corrected t."""
        truths, pairs = zip(*map(self.intervals, range(n)), strict=True)
        truth, cells = np.array(truths), []
        for i in range(2):
            made = np.array([pair[i] is not None for pair in pairs])
            intervals = [pair[i] for pair in pairs if pair[i] is not None]
            low = np.array([interval.low for interval in intervals])
            high = np.array([interval.high for interval in intervals])
            of_mean = [interval.method == "corrected_t" for interval in intervals]
            target = np.where(of_mean, truth.mean(), truth[made])
            share = 100 * np.mean((low <= target) & (target <= high))
            cells.append(f"{share:>8.1f} % ({np.mean(high - low):.2f}){low.size:>6}")
        taken = "/".join(sorted({pair[0].method for pair in pairs}))
        return f"{taken:24}{''.join(cells)}"


RARE, WIDE, HEAVY = Knn(shift=-4.2), Ridge(more=95), Ridge(freedom=3)
LINES = {
    **{
        f"{world.name}, {m} rows": Line(world, m)
        for world in (Ridge(), Knn())
        for m in SMALL
    },
    "ridge, 200 rows, 10 folds": Line(Ridge(), 200, 10),
    "k-NN, 100 rows, 10 folds": Line(Knn(), 100, 10),
    "k-NN, 200 rows, 10 folds": Line(Knn(), 200, 10),
    "k-NN, 300 rows, 10 folds": Line(Knn(), 300, 10),
    "ridge, 60 rows, leave-one-out": Line(Ridge(), 60, "loo"),
    "k-NN, 60 rows, leave-one-out": Line(Knn(), 60, "loo"),
    "ridge, 60 rows, 5 × 5 folds": Line(Ridge(), 60, "repeated"),
    "k-NN, 60 rows, 5 × 5 folds": Line(Knn(), 60, "repeated"),
    "ridge, 100 rows in 10 groups": Line(Ridge(), 100, grouped=10),
    "ridge, 100 rows in 5 groups": Line(Ridge(), 100, grouped=20),
    "k-NN, 100 rows in 10 groups": Line(Knn(), 100, grouped=10),
    "k-NN, 100 rows in 5 groups": Line(Knn(), 100, grouped=20),
    "ridge, 60 rows, t₃ noise": Line(HEAVY, 60),
    "ridge, 500 rows, t₃ noise": Line(HEAVY, 500),
    "ridge, 60 rows × 100 columns": Line(WIDE, 60),
    **{f"k-NN, {m} rows, 5 % positives": Line(RARE, m) for m in SMALL},
}


def main_auto(n: int, only: str = "") -> None:
    """Print the coverage of the line of this name; "" for all."""
    print(
        f"{'':32}{'interval() takes':24}  covers (width)  sets   corrected_t (width)  sets"
    )
    for name, line in LINES.items():
        if only in ("", name):
            print(f"{name:32}{line.coverage(n)}", flush=True)


METHODS = ("bayle", "corrected_t", "holdout", "hoeffding", "ignoring groups")


def main(n: int) -> None:
    error = 100 * np.sqrt(LEVEL * (1 - LEVEL) / n)
    print(
        f"coverage of {100 * LEVEL:g} % intervals (mean width), "
        f"{n} simulations a line; sampling error about {error:.1f} %"
    )
    print(f"{'':28}" + "".join(f"{method:>18}" for method in METHODS))
    for world in (Ridge(), Knn()):
        for m in SIZES:
            for grouped in (False, True):
                started = time.perf_counter()
                shares = coverage(world, m, grouped, n)
                cells = [
                    f"{100 * shares[method][0]:.1f} % ({shares[method][1]:.2f})"
                    if method in shares
                    else "–"
                    for method in METHODS
                ]
                line = f"{world.name}, {m} rows{', grouped' if grouped else ''}"
                print(
                    f"{line:28}" + "".join(f"{cell:>18}" for cell in cells), flush=True
                )
                print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    if "auto" in sys.argv[2:3]:
        main_auto(number, " ".join(sys.argv[3:]))
    elif "small" in sys.argv[2:3]:
        main_small(number, " ".join(sys.argv[3:]))
    else:
        main(number)
