"""Seeds, shuffles and sizes: a study against a loop of single runs, alternating in one process.

A loop is cvnb's own runs, one for each seed, shuffle or subset; their risks must be equal.
share = seconds of the study / seconds of the loop. Then whole studies, in seconds, and beside
one of them scikit-learn's permutation_test_score of a GridSearchCV on a few shuffles.
"""

import time

import numpy as np
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    permutation_test_score,
)
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Recipe, knn, lasso, logistic, ridge
from cvnb.studies import learning_curve, null_test, over_seeds

ROUNDS, DRAWS, REPEATS = 3, 20, 3
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2000, 20))
NUMBERS = X @ RANDOM.normal(size=20) + RANDOM.normal(size=2000)
CLASSES = (X[:, 0] + RANDOM.normal(size=2000) > 0).astype(int)
KS = range(1, 51)

FAMILIES = {
    "k-NN": (knn(k=KS, scale=False), CLASSES),
    "k-NN, numbers": (knn(k=KS, scale=False), NUMBERS),
    "ridge": (ridge(scale=False), NUMBERS),
    "ridge scaled": (ridge(), NUMBERS),
    "k-NN scaled": (knn(k=KS), CLASSES),
    "lasso": (lasso(), NUMBERS),
    "logistic": (logistic(), CLASSES),
}


def main():
    print(f"2000 × 20, 5 × 5 folds, {DRAWS} draws; share of a loop of single runs")
    print(f"{'':<15}{'one run':>10}{'a seed':>10}{'a shuffle':>11}{'a subset':>10}")
    for name, (family, y) in FAMILIES.items():
        result = Recipe(5, 5).run(family, X, y)
        own = family, y
        run = seconds_of_runs(*own)
        subsets = sizes_one_by_one(*own, result)
        shares = [
            share(lambda r=result: over_seeds(r, n=DRAWS), seeds_one_by_one(*own)),
            share(
                lambda r=result: null_test(r, n=DRAWS),
                shuffles_one_by_one(*own, result),
            ),
            share(lambda r=result: learning_curve(r, 6, REPEATS), subsets),
        ]
        seed, shuffle, subset = (f"{value:.2f}" for value in shares)
        print(f"{name:<15}{1e3 * run:>7.1f} ms{seed:>10}{shuffle:>11}{subset:>10}")
    whole_studies()


def seconds_of_runs(family, y):
    """The least of five."""
    return min(seconds(lambda: Recipe(5, 5).run(family, X, y))[0] for _ in range(5))


def share(study, loop):
    """Seconds of the study over those of the loop, whose risks must be the same."""
    studies, loops = [], []
    for _ in range(ROUNDS):
        spent, found = seconds(study)
        studies.append(spent)
        spent, expected = seconds(loop)
        loops.append(spent)
        risks = found.risks[np.isfinite(found.risks)].ravel()
        assert np.allclose(risks, expected, rtol=1e-9, atol=1e-12)
    return min(studies) / min(loops)


def seeds_one_by_one(family, y):
    return lambda: [
        Recipe(5, 5, seed=seed).run(family, X, y).risk for seed in range(1, DRAWS + 1)
    ]


def shuffles_one_by_one(family, y, result):
    shuffles = null_test(result, n=DRAWS).permutations
    return lambda: [Recipe(5, 5).run(family, X, y[rows]).risk for rows in shuffles]


def sizes_one_by_one(family, y, result):
    """The full size is one run, as in the study."""
    subsets = learning_curve(result, 6, REPEATS).subsets
    smaller = [repeat for size in subsets[:-1] for repeat in size]

    def loop():
        risks = [Recipe(outer, inner=5).run(family, X, y).risk for outer in smaller]
        full = Recipe(subsets[-1][0], inner=5).run(family, X, y).risk
        return [*risks, *[full] * REPEATS]

    return loop


def whole_studies():
    family, y = FAMILIES["k-NN"]
    result = Recipe(5, 5).run(family, X, y)
    for words, study in (
        ("100 seeds", lambda: over_seeds(result, n=100)),
        ("1,000 shuffles", lambda: null_test(result, n=1000)),
        ("8 sizes, 5 repeats", lambda: learning_curve(result)),
    ):
        print(f"k-NN, k = 1 ... 50: {words} in {seconds(study)[0]:.2f} s")
    inner = StratifiedKFold(5, shuffle=True, random_state=1)
    outer = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(KS)}, cv=inner)
    spent, (_, scores, _) = seconds(
        lambda: permutation_test_score(
            search, X, y, cv=outer, n_permutations=2, n_jobs=-1
        )
    )
    assert scores.shape == (2,)
    each = spent / 3  # two shuffles and the real targets
    print(
        f"permutation_test_score(GridSearchCV): {each:.1f} s a shuffle, {1000 * each / 60:.0f} "
        "minutes for 1,000"
    )


def seconds(call):
    started = time.perf_counter()
    value = call()
    return time.perf_counter() - started, value


if __name__ == "__main__":
    main()
