"""float16 and float32 X and y: computed in double precision, behind transformers too."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    StandardScaler,
)

from cvnb import Family, Recipe
from cvnb.runs.prepare import dry_run


def table(m=60):
    """Three columns, and a response of two of them."""
    X = np.random.default_rng(0).normal(size=(m, 3))
    return X, X[:, 0] + X[:, 1] ** 2


def run(estimator, grid, X, y, **options):
    """The result of 4 x 3 folds."""
    return Recipe(4, 3).run(Family(estimator, grid), X, y, progress="off", **options)


NARROW_TABLES = {
    "array": lambda X: X.astype(np.float32),
    "sparse": lambda X: sp.csr_matrix(X.astype(np.float32)),
    "pandas": lambda X: pd.DataFrame(X, columns=list("abc")).astype(np.float32),
    "pandas Float32": lambda X: pd.DataFrame(X, columns=list("abc")).astype("Float32"),
    "polars": lambda X: pl.DataFrame(X.astype(np.float32), schema=list("abc")),
}
IN_DOUBLE = ": computed in double precision, as scikit-learn computes on float64."


@pytest.mark.parametrize("name", NARROW_TABLES)
def test_what_transformers_compute_from_float32_is_in_double_precision(name):
    """Transformers get X as float64, so that the whole pipeline is scikit-learn's there."""
    X, y = table()
    ahead = [TruncatedSVD(2, algorithm="arpack", random_state=0)]
    if name != "sparse":
        ahead.insert(0, MinMaxScaler())
    grid = {"ridge__alpha": [0.1, 1.0]}
    pipeline, given = make_pipeline(*ahead, Ridge()), NARROW_TABLES[name](X)
    fast = run(pipeline, grid, given, y)
    assert fast.path == "path:ridge"
    notes = [note for note in fast.notes if "precision" in note]
    assert notes == [f"X is float32{IN_DOUBLE}"]
    wide = X.astype(np.float32).astype(np.float64)
    wide = sp.csr_matrix(wide) if name == "sparse" else wide
    slow = run(pipeline, grid, wide, y, path="refit")
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-12)


def to_single(X):
    """X in single precision."""
    return X.astype(np.float32)


def rounded(X):
    """The same numbers in double precision."""
    return to_single(X).astype(np.float64)


@pytest.mark.parametrize(
    "model", [Ridge(), KNeighborsRegressor()], ids=["ridge", "knn"]
)
def test_what_transformers_give_in_float32_is_computed_in_double_precision(model):
    """One note says so, and the numbers are those of the same values as float64."""
    X, y = table()
    fast, slow = (
        run(make_pipeline(FunctionTransformer(ahead), model), {}, X, y, path=path)
        for ahead, path in ((to_single, "auto"), (rounded, "refit"))
    )
    assert fast.path.startswith("path:")
    assert list(fast.notes) == [f"The transformers give float32{IN_DOUBLE}"]
    np.testing.assert_allclose(fast.fold_risks, slow.fold_risks, rtol=1e-12)


def test_a_frame_of_floats_of_several_widths_is_taken_as_it_is():
    """scikit-learn reads such a frame as float64, and its transformers see each column."""
    X, y = table()
    mixed = pd.DataFrame(X, columns=list("abc")).astype({"a": np.float32})
    result = run(make_pipeline(StandardScaler(), KNeighborsRegressor()), {}, mixed, y)
    assert result.path == "path:knn"
    assert not any("precision" in note for note in result.notes)


def test_the_final_model_on_float32_is_the_one_that_a_user_would_fit():
    """predictor("retrain") fits scikit-learn's estimator on X as it is given."""
    X, y = table()
    single = X.astype(np.float32)
    result = run(Ridge(), {"alpha": [0.1, 1.0]}, single, y)
    own = Ridge(**result.final_setting).fit(single, y)
    np.testing.assert_array_equal(result.predictor("retrain").coef_, own.coef_)
    assert own.coef_.dtype == np.float32


def test_a_split_that_the_path_refuses_is_refitted_in_double_precision():
    """The note on the whole result holds for refitted splits as well."""
    X, y = table()
    single = X.astype(np.float32)
    single[:, 2] = single[:, 1] * (1 + np.float32(1e-6))  # too nearly collinear
    fast = run(Ridge(), {"alpha": [1e-13, 1e-12]}, single, y)
    assert any("refitted" in note for note in fast.notes)
    assert any(IN_DOUBLE in note for note in fast.notes)
    slow = run(Ridge(), {"alpha": [1e-13, 1e-12]}, single.astype(float), y)
    np.testing.assert_array_equal(fast.inner_curves, slow.inner_curves)


def test_the_forecast_counts_the_copy_in_double_precision():
    """--dry-run adds the bytes of X as float64 where X is float32."""
    X, y = np.random.default_rng(0).normal(size=(500, 40)), np.arange(500.0)
    family = Family(Ridge(), {"alpha": [0.1, 1.0]})
    wide, narrow = (
        dry_run(Recipe(3, 3), family, X.astype(kind), y).megabytes
        for kind in (np.float64, np.float32)
    )
    assert narrow - wide == pytest.approx(8 * X.size / 1e6)


@pytest.mark.parametrize("ahead", [[], [MaxAbsScaler()]], ids=["bare", "scaled"])
def test_sparse_rows_of_float32_are_computed_in_double_precision(ahead):
    """They stay sparse, and have the numbers of the same rows as float64."""
    X, y = table()
    sparse = sp.csr_matrix(np.where(X > 0.5, X, 0.0).astype(np.float32))
    pipeline, grid = make_pipeline(*ahead, Ridge()), {"ridge__alpha": [0.1, 1.0]}
    fast = run(pipeline, grid, sparse, y)
    assert fast.path == "path:ridge"
    notes = [note for note in fast.notes if "precision" in note]
    assert notes == [f"X is float32{IN_DOUBLE}"]
    slow = run(pipeline, grid, sparse.toarray().astype(float), y, path="refit")
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-9)
