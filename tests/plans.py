"""A small table, and a recipe of every kind that suits it."""

import numpy as np
from sklearn.model_selection import (
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from cvnb import Recipe

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
PLANS = {
    "nested CV": Recipe(5, 3),
    "train/validation/test": Recipe.train_validation_test(),
    "nested resampling": Recipe.nested_resampling(3, 4),
    "internal CV": Recipe.internal_cv(4),
    "external CV": Recipe.external_cv(4),
    "leave-one-out": Recipe("loo", None),
    "leave-one-out inside": Recipe(4, "loo"),
    "time with a buffer": Recipe(4, 3, time_ordered=True, buffer=2),
    "time series": Recipe(TimeSeriesSplit(3), 2),
    "repeated": Recipe(RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), 3),
    "rows never tested": Recipe(PredefinedSplit(np.arange(60) % 4 - 1), 3),
    "rows never used": Recipe(
        [(np.arange(10, 40), np.arange(40, 50))], ShuffleSplit(3, random_state=0)
    ),
    "twelve splits": Recipe(12, 2),
}
