"""Ridge on tables that are hard on its digits, for the tests of draws that are solved together."""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import features, numbers
from cvnb import Family, ridge

X = features(60, 4, 0)
Y = numbers(X, 0)
ALPHAS = [1e-3, 1.0, 100.0]
SCALED = make_pipeline(StandardScaler(), Ridge())

CASES = {
    "ridge": (X, Y, Family(Ridge(), {"alpha": ALPHAS}), {}),
    "scaled": (X, Y, Family(SCALED, {"ridge__alpha": ALPHAS}), {}),
    "no intercept": (X, Y, Family(Ridge(fit_intercept=False), {"alpha": ALPHAS}), {}),
    "both": (X, Y, Family(Ridge(), {"alpha": ALPHAS, "fit_intercept": [True, False]}), {}),
    "absolute": (X, Y, ridge(), {"loss": "absolute"}),
    "weights": (X, Y, ridge(), {"sample_weight": np.linspace(0.0, 2.0, 60)}),
    "one column": (X[:, :1], Y, ridge(), {}),
    "offset": (X + 1e6, Y, ridge(), {}),
    "far targets": (X, Y + 1e6, ridge(scale=False), {}),
    "other units": (X * [1e-6, 1.0, 1e6, 1.0], 1e-8 * Y, ridge(), {}),
    "constant column": (np.column_stack([X, np.full(60, 7.1)]), Y, ridge(), {}),
    "duplicates": (np.repeat(X[:30], 2, axis=0), Y, ridge(), {}),
    "p > n": (features(60, 90, 1), Y, ridge(), {}),
    "groups": (X, Y, ridge(), {"groups": np.arange(60) % 7}),
    "one_se": (X, Y, ridge(), {"select": "one_se"}),
}  # fmt: skip
