"""What the refit path costs beyond the loop a user would write by hand: 200 fits of about
10 ms, alternating in one process."""

import time

import numpy as np
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import KFold

from cvnb import Family, Recipe

ROUNDS = 5


class TenMilliseconds(RegressorMixin, BaseEstimator):
    """A model whose fit takes 10 ms of work, so that all else is overhead."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        end = time.perf_counter() + 0.010
        while time.perf_counter() < end:
            pass
        self.mean_ = y.mean() + self.shift
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.mean_)


def by_hand(X, y, shifts):
    """Nested 4 × 4 CV over the settings as a plain scikit-learn loop: 4 (4 · 12 + 1) = 196 fits."""
    risks = []
    for train, test in KFold(4, shuffle=True, random_state=0).split(X):
        curves = []
        for inner_train, inner_test in KFold(4, shuffle=True, random_state=1).split(
            train
        ):
            fit_rows, dev_rows = train[inner_train], train[inner_test]
            models = [
                clone(TenMilliseconds())
                .set_params(shift=s)
                .fit(X[fit_rows], y[fit_rows])
                for s in shifts
            ]
            curves.append(
                [
                    np.mean((y[dev_rows] - model.predict(X[dev_rows])) ** 2)
                    for model in models
                ]
            )
        best = shifts[int(np.argmin(np.mean(curves, axis=0)))]
        model = clone(TenMilliseconds()).set_params(shift=best).fit(X[train], y[train])
        risks.append(np.mean((y[test] - model.predict(X[test])) ** 2))
    return float(np.mean(risks))


def main():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 10)), rng.normal(size=500)
    shifts = list(np.linspace(-0.5, 0.5, 12))
    family, recipe = Family(TenMilliseconds(), {"shift": shifts}), Recipe(4, 4, seed=0)
    seconds = {"by hand": [], "cvnb": []}
    recipe.run(family, X, y, progress="off")  # imports
    with parallel_config(n_jobs=1):
        for _ in range(ROUNDS):
            for name, once in (
                ("by hand", lambda: by_hand(X, y, shifts)),
                ("cvnb", lambda: recipe.run(family, X, y).risk),
            ):
                started = time.perf_counter()
                risk = once()
                seconds[name].append(time.perf_counter() - started)
                print(f"{name:8} {seconds[name][-1]:.3f} s  risk {risk:.6f}")
    ratio = np.median(seconds["cvnb"]) / np.median(seconds["by hand"])
    print(
        f"overhead on 196 fits of 10 ms: {100 * (ratio - 1):.2f} % (median of {ROUNDS})"
    )


if __name__ == "__main__":
    main()
