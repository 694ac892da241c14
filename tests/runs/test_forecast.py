"""dry_run: what a run would do and cost, without making it."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvnb import (
    Family,
    Recipe,
    boosting,
    elastic_net,
    forest,
    knn,
    lasso,
    logistic,
    ridge,
    tree,
)
from cvnb.errors import InfeasibleError
from cvnb.runs import forecast
from cvnb.runs.prepare import dry_run
from slow import Slow

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("recipe", "options", "fits"),
    [
        (Recipe(5, 4), {}, 5 * (4 * 3 + 1)),
        (Recipe(5, 4), {"flat": True}, 5 * (4 * 3 + 3)),
        (Recipe.cv_test(4), {}, 4 * 3 + 1),
        (Recipe.internal_cv(4), {}, 4 * 3),
        (Recipe.nested_resampling(3, 2), {}, 3 * (2 * 3 + 1)),
    ],
)
def test_the_fits_are_those_that_the_refit_path_makes(
    recipe, options, fits, monkeypatch
):
    """Counted on a run; the dry run itself makes two at most."""
    made = []
    fit = DummyClassifier.fit
    monkeypatch.setattr(
        DummyClassifier,
        "fit",
        lambda self, *args, **more: made.append(1) or fit(self, *args, **more),
    )
    family = Family(DummyClassifier(), {"strategy": ["prior", "stratified", "uniform"]})
    found = dry_run(recipe, family, X, y, **options)
    assert len(made) == 2
    assert found.fits == fits
    made.clear()
    recipe.run(family, X, y, progress="off", **options)
    assert len(made) == fits


def test_a_fast_path_is_named_and_nothing_is_fitted(fits):
    """The path of the run, its reason, and no fit at all."""
    found = dry_run(Recipe(5, 5), knn(k=range(1, 20), scale=False), X, y)
    run = Recipe(5, 5).run(knn(k=range(1, 20), scale=False), X, y)
    assert (found.path.name, found.path.reason) == (run.path, run.path_reason)
    assert fits == ["threads"]
    assert 0 < found.seconds < 1
    assert 0 < found.megabytes < 100
    assert "shared:knn" in repr(found)
    assert "nothing was measured" in found._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    "family",
    [knn(), ridge(), lasso(), elastic_net(), logistic(), tree(), boosting(), forest()],
)
def test_every_short_hand_has_a_forecast(family):
    """Of the path that its run takes."""
    targets = (
        X[:, 0] if type(family.estimator).__name__ in ("Lasso", "ElasticNet") else y
    )
    found = dry_run(Recipe(3, 3), family, X, targets)
    assert found.path.name != "refit"
    assert found.path.name == Recipe(3, 3).run(family, X, targets, progress="off").path
    assert 0 < found.seconds < 1000
    assert 0 < found.megabytes < 1000


def test_slow_fits_are_foretold():
    """Fits of 30 ms: the forecast is within three of the time that they take together."""
    found = dry_run(
        Recipe(3, 3), Family(Slow(), {"strategy": ["prior", "uniform"]}), X, y
    )
    assert found.fits == 21
    assert 21 * Slow.seconds / 3 < found.seconds < 21 * Slow.seconds * 3


def test_one_fit_of_the_largest_tells_what_all_sizes_cost(fits):
    """Of several it is two."""
    found = dry_run(Recipe(3, 3), tree(), X, y)
    assert (found.path.name, fits) == ("path:tree", ["DecisionTreeClassifier"])
    grid = {"max_leaf_nodes": [2, 3, 5], "min_samples_leaf": [1, 2, 3]}
    dry_run(Recipe(3, 3), Family(DecisionTreeClassifier(), grid), X, y)
    assert fits == ["DecisionTreeClassifier"] * 3


def test_a_path_that_goes_split_by_split_is_measured_on_the_first_split(
    fits, monkeypatch
):
    """With every setting, behind transformers and on sparse rows: twice, as kernels load."""
    fit = PCA.fit_transform
    monkeypatch.setattr(
        PCA, "fit_transform", lambda *args: fits.append("PCA") or fit(*args)
    )
    pipeline = make_pipeline(PCA(svd_solver="full"), LinearRegression())
    components = Family(pipeline, {"pca__n_components": [1, 2, 3]})
    found = dry_run(Recipe(3, 3), components, X, X[:, 0])
    assert (found.path.name, fits) == ("path:ols", ["PCA", "PCA"])
    fits.clear()
    lassos = Family(Lasso(), {"alpha": [0.01, 0.1]})
    found = dry_run(Recipe(3, 3), lassos, csr_array(X), X[:, 0])
    assert (found.path.name, fits) == ("path:lasso", [])


def test_a_first_split_that_is_refused_is_forecast_as_refitted(fits):
    """All its settings, from the first and the last one."""
    far = Family(Ridge(), {"alpha": [1e-3, 1.0, 10.0]})
    found = dry_run(Recipe(3, 3), far, csr_array(X + 1e9), X[:, 0])
    assert (found.path.name, fits) == ("path:ridge", ["Ridge", "Ridge"])


def test_what_cannot_run_cannot_run_dry():
    """The same refusal, before any fit."""
    with pytest.raises(InfeasibleError, match="k=200 needs 200 training rows"):
        dry_run(Recipe(5, 5), knn(k=[1, 200]), X, y)


def test_several_families_have_a_forecast_each():
    """By name, as a comparison."""
    found = dry_run(
        Recipe(3, 3),
        {"a": knn(k=[1, 5]), "b": ridge(alpha=[1.0]), "c": (SVC(), {"C": [1, 2]})},
        X,
        y,
    )
    assert [one.path.name for one in found.values()] == [
        "path:knn",
        "shared:ridge",
        "refit",
    ]
    assert all(np.isfinite(one.seconds) for one in found.values())


@pytest.mark.parametrize("n_classes", [2, 5])
def test_iterations_of_many_columns_grow_with_them(n_classes, monkeypatch):
    """Twice the columns of a logistic regression are forecast to take more than twice as long."""
    monkeypatch.setattr(forecast, "_per_multiplication", lambda: 1e-6)
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(2000, 1000))
    labels = np.arange(2000) % n_classes
    half, whole = (
        dry_run(Recipe(3, 3), logistic(C=[1.0, 10.0], scale=False), columns, labels)
        for columns in (wide[:, :500], wide)
    )
    assert half.path.name == whole.path.name == "path:logistic"
    assert 2.1 * half.seconds < whole.seconds < 4 * half.seconds
