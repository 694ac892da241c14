"""Small random tables: one that is easy to classify, one for regressions."""

import numpy as np


def classes(m=60, seed=0):
    """X [m, 3] and two classes, which follow its first column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


def numbers(m=60, seed=0):
    """X [m, 3] and numbers, which follow its first column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, X[:, 0] + rng.normal(size=m)
