"""Whole nested cross-validation by R's glmnet 4.1-6, stored by scripts/glmnet_fixtures.R, which
defines tables, folds and penalties in the same way and tells how penalties are converted."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvnb import Family, Recipe

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_name("glmnet_nested.csv").read_text().split()
PENALTIES = 10 ** np.arange(0.5, -1.6, -0.5)
SAME = 1e-7  # relative; glmnet's descent ends before the last digits
TABLES = "auto", "diabetes", "wide"
MODELS = {
    "lasso": (Lasso(), "alpha", PENALTIES),
    "elastic_net": (ElasticNet(), "alpha", PENALTIES),
    "ridge": (Ridge(), "alpha", 100 * PENALTIES),
    "logistic": (LogisticRegression(), "C", 0.1 / PENALTIES),
    "l1_logistic": (
        LogisticRegression(solver="saga", l1_ratio=1.0),
        "C",
        0.1 / PENALTIES,
    ),
}


def powers(x):
    """The first five powers, of mean 0 and mean square 1 before."""
    return ((x - x.mean()) / x.std())[:, None] ** np.arange(1, 6)


def table(name):
    """Auto: powers of horsepower. Wide: 48 rows of 240 columns, from whole numbers."""
    if name == "auto":
        path = ROOT / "notebooks" / "data" / "auto.csv"
        mpg, horsepower = np.loadtxt(path, delimiter=",", skiprows=1).T
        return powers(horsepower), mpg
    if name == "diabetes":
        return load_diabetes(return_X_y=True, scaled=False)
    i, c = np.arange(48)[:, None], np.arange(240)
    X = (31 * i**2 * c + 17 * i * c**2 + 7 * i + 11 * c) % 1009 / 256
    return X, 2 * X[:, 0] - 3 * X[:, 5] + X[:, 40] + (37 * i[:, 0] ** 3 % 101) / 64


def of_glmnet(*key):
    """The numbers of a line."""
    start = ",".join(map(str, key)) + ","
    (line,) = (line for line in STORED if line.startswith(start))
    return np.array(line.removeprefix(start).split(","), dtype=float)


def folds(m):
    """The same folds as lists: every fourth row outside, every third of the others inside."""
    outer, inner = [], []
    for j in range(1, 5):
        is_test = np.arange(1, m + 1) % 4 == j % 4
        train = np.flatnonzero(~is_test)
        outer.append((train, np.flatnonzero(is_test)))
        place = np.arange(1, train.size + 1) % 3
        inner.append(
            [(train[place != k % 3], train[place == k % 3]) for k in (1, 2, 3)]
        )
    return outer, inner


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", MODELS)
def test_nested_cv_is_glmnets(kind, name):
    """Inner curves, choices, risks and predictions, in columns scaled inside each fold."""
    model, axis, values = MODELS[kind]
    X, y = table(name)
    is_class = "logistic" in kind
    if is_class:
        y = (y > np.median(y)).astype(int)
    pipeline = make_pipeline(StandardScaler(), model)
    family = Family(pipeline, {f"{pipeline.steps[-1][0]}__{axis}": values})
    outer, inner = folds(len(y))
    loss = "log" if is_class else "squared"
    result = Recipe(outer, inner).run(family, X, y, loss=loss, progress="off")
    assert result.path != "refit", result.path_reason
    for j in range(4):
        curves = [of_glmnet(name, kind, j + 1, k) for k in (1, 2, 3)]
        np.testing.assert_allclose(
            result.inner_curves[j], np.mean(curves, axis=0), rtol=SAME
        )
        chosen = int(np.argmin(np.mean(curves, axis=0)))
        assert result.chosen_index[j] == chosen
        outside = of_glmnet(name, kind, j + 1, 0)
        assert result.fold_risks[j] == pytest.approx(outside[chosen], rel=SAME)
    predicted = of_glmnet(name, kind, 1, "predictions")
    ours = result.predictions[outer[0][1]]
    if is_class:
        np.testing.assert_array_equal(ours, predicted > 0.5)
    else:
        np.testing.assert_allclose(ours, predicted, atol=SAME * y.std())
