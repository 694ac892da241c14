"""Fast paths handle parameters, warnings, exceptions and columns as refitting does."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import KNNImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from cvnb import Family, Recipe
from cvnb.errors import CvnbError, FitError

NESTED = Recipe(outer=4, inner=3)


RNG = np.random.default_rng(0)


X = RNG.normal(size=(60, 4))


CLASSES = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)


def both(model, grid, y=CLASSES, recipe=NESTED, **options):
    """The fast result and the refitted one."""
    return [
        recipe.run(Family(model, grid), X, y, progress="off", path=path, **options)
        for path in ("auto", "refit")
    ]


@pytest.mark.parametrize(
    ("ahead", "grid"),
    [
        (KNNImputer(), {"knnimputer__n_neighbors": [1, 2, 9]}),
        (
            KNNImputer(),
            {
                "knnimputer__n_neighbors": [1, 2, 9],
                "kneighborsclassifier__n_neighbors": [3, 5],
            },
        ),
        (Isomap(n_neighbors=8), {"isomap__p": [1, 2]}),
    ],
)
def test_a_parameter_of_a_step_ahead_is_not_the_models(ahead, grid):
    """n_neighbors and p of a transformer are not the model's, though they have its names."""
    fast, slow = both(make_pipeline(ahead, KNeighborsClassifier()), grid)
    assert fast.path == "path:knn"
    assert fast.chosen == slow.chosen
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-12)


def test_warnings_of_a_metric_become_notes():
    """A class that nobody predicts makes precision warn: that is noted on threads too, not
    shown."""
    y = (X[:, 0] > 0.8).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = both(
            KNeighborsClassifier(),
            {"n_neighbors": [1, 7, 15]},
            y,
            Recipe(3, 2),
            scoring="precision",
        )
    assert results[0].path == "shared:knn"
    assert all(
        any("UndefinedMetricWarning" in note for note in result.notes)
        for result in results
    )


@pytest.mark.parametrize("path", ["auto", "refit"])
def test_an_exception_of_a_users_loss_is_told_as_when_refitting(path):
    """A function that always fails leaves no setting, whatever it raises."""

    def broken(y, prediction):
        raise KeyError("boom")

    family = Family(KNeighborsRegressor(), {"n_neighbors": [1, 7]})
    with pytest.raises(FitError, match=r"(?s)every setting failed.*KeyError"):
        NESTED.run(family, X, X[:, 0], loss=broken, progress="off", path=path)


@pytest.mark.parametrize("model", [Ridge(), LinearRegression(), KNeighborsRegressor()])
@pytest.mark.parametrize("level", ["c", "q"])
def test_transformers_that_name_or_count_columns_anew_are_left_to_refit(model, level):
    """Dummies of other levels in the test part: scikit-learn refuses the names or the
    number, and so does the fast path."""
    rng = np.random.default_rng(0)
    levels = np.array(["a", "b"])[rng.integers(2, size=60)]
    levels[40:] = np.array(["a", "c"])[rng.integers(2, size=20)]
    levels[7] = "b" if level == "c" else "q"
    y = rng.normal(size=60) + 2 * (levels == "a")
    family = Family(make_pipeline(FunctionTransformer(pd.get_dummies), model), {})
    recipe = Recipe(outer=[(np.arange(40), np.arange(40, 60))], inner=None)
    for path in ("auto", "refit"):
        with pytest.raises(CvnbError, match="every setting failed"):
            recipe.run(family, pd.DataFrame({"c": levels}), y, path=path)
