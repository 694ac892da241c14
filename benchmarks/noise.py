"""What is claimed where nothing can be learnt: coin flips as classes, so that every rule
errs half the time.

k-NN on 40 rows and 100 columns, k = 1...25 chosen inside, 5 × 5 folds, one line for each
way to report the result.

python benchmarks/noise.py [seeds]
"""

import sys

import numpy as np

import cvnb
from cvnb.inference import optimism

ESTIMATES = ("flat", "Tibshirani–Tibshirani", "BBC-CV", "nested")


def claims(n_seeds: int) -> tuple[np.ndarray, float]:
    """([seeds, estimates] errors claimed, how often BBC's interval of 95 % holds the truth)."""
    found, held = [], 0
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 100)), rng.integers(0, 2, 40)
        family = cvnb.knn(k=range(1, 26), scale=False, task="classification")
        result = cvnb.Recipe(5, 5, seed=seed, stratify=False).run(
            family, X, y, progress="off"
        )
        report = optimism(result, n_boot=200)
        found.append(
            (report.flat, report.tibshirani, report.bbc.estimate, report.nested)
        )
        held += report.bbc.low <= 0.5 <= report.bbc.high
    return np.array(found), held / n_seeds


def main(n_seeds: int) -> None:
    found, held = claims(n_seeds)
    print(
        f"error claimed on coin flips, mean of {n_seeds} seeds (standard error); the truth is 0.5"
    )
    for name, errors in zip(ESTIMATES, found.T, strict=True):
        print(
            f"{name:24}{errors.mean():.3f} ({errors.std(ddof=1) / np.sqrt(n_seeds):.3f})"
        )
    print(f"BBC-CV's interval of 95 % holds it in {100 * held:.1f} % of them")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
