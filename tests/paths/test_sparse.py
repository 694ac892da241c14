"""Linear models on sparse rows: equal to the dense computation, and never dense itself."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from cvnb import Family, Recipe
from cvnb.errors import DataError
from cvnb.paths.conjugate import Columns
from cvnb.paths.linear.krylov import fit_sparse
from cvnb.paths.linear.penalty_path import PenaltyPath
from cvnb.paths.linear.precision import FAR_SPARSE, FitReport, Precision, verdict_of
from cvnb.paths.linear.rows import LinearProblem
from cvnb.paths.sparse_columns import SparseColumns
from cvnb.runtime.cancel import Stop, Stopped

ALPHAS = [1e-3, 0.1, 1.0, 1.0, 30.0]


def counts(m, p, seed=0, share=0.1):
    rng = np.random.default_rng(seed)
    X = sp.random(m, p, density=share, format="csr", random_state=rng)
    X.data = np.ceil(9 * X.data)
    return X


def numbers(X, seed=1):
    rng = np.random.default_rng(seed)
    y = X @ rng.normal(size=X.shape[1])
    return y + 0.3 * y.std() * rng.normal(size=X.shape[0]) + 5


def classes(X, n=2):
    y = numbers(X)
    return np.digitize(y, np.quantile(y, np.arange(1, n) / n))


def explicit_zeros(X):
    X = X.copy()
    X.data[::3] = 0.0
    return X


def with_constants(X):
    X = X.tolil()
    X[:, 0], X[:, 1] = 2.0, 0.0
    return X.tocsr()


TABLES = {
    "more columns than rows": counts(60, 150),
    "more rows than columns": counts(90, 12, share=0.3),
    "one column": counts(60, 1, share=0.6),
    "duplicate columns": sp.hstack([counts(60, 40)] * 2).tocsr(),
    "duplicate rows": sp.vstack([counts(30, 50)] * 2).tocsr(),
    "explicit zeros": explicit_zeros(counts(60, 80)),
    "constant columns": with_constants(counts(60, 80)),
    "integers": counts(60, 80).astype(np.int32),
    "columns first": counts(60, 80).tocsc(),
    "a sparse array": sp.csr_array(counts(60, 80)),
}


def both(estimator, X, y, recipe=None, **options):
    """Return the results on the sparse and on the dense table."""
    family = Family(estimator, {"alpha": ALPHAS})
    recipe = recipe or Recipe(4, 3)
    ours = recipe.run(family, X, y, progress="off", **options)
    return ours, recipe.run(family, X.toarray(), y, progress="off", **options)


def assert_same(ours, dense):
    assert ours.path == "path:ridge"
    np.testing.assert_allclose(ours.inner_curves, dense.inner_curves, rtol=2e-9)
    if dense.outer_curves is not None:  # none where scikit-learn refits
        np.testing.assert_allclose(ours.outer_curves, dense.outer_curves, rtol=2e-9)
    np.testing.assert_allclose(ours.fold_risks, dense.fold_risks, rtol=2e-9)
    assert ours.chosen == dense.chosen
    if ours.predictions.dtype.kind == "f":
        np.testing.assert_allclose(ours.predictions, dense.predictions, rtol=1e-8)
    else:
        np.testing.assert_array_equal(ours.predictions, dense.predictions)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_sparse_rows_give_the_numbers_of_dense_ones(name, intercept):
    """Every curve, choice and prediction of ridge."""
    X = TABLES[name]
    assert_same(*both(Ridge(fit_intercept=intercept), X, numbers(X)))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", [None, "roc_auc_ovr"])
def test_classes_too(n_classes, loss):
    """The classifier's labels and decisions, for two classes and several."""
    X = counts(120, 200)
    y = np.array(["a", "b", "c", "d"])[classes(X, n_classes)]
    options = {} if loss is None or n_classes > 2 else {"scoring": "roc_auc"}
    assert_same(*both(RidgeClassifier(), X, y, **options))


def test_weights_groups_and_unequal_folds():
    """Rows of weight zero included."""
    X, rng = counts(61, 100), np.random.default_rng(0)
    weights = rng.integers(0, 4, size=61) * 1.0
    groups = rng.integers(0, 12, size=61)
    options = {"sample_weight": weights, "groups": groups}
    assert_same(*both(Ridge(), X, numbers(X), **options))


def test_equal_to_scikit_learn():
    """The nested search of scikit-learn, its solver made exact."""
    X = counts(90, 200)
    y = numbers(X)
    exact = Ridge(solver="sparse_cg", tol=1e-13, max_iter=10_000)
    search = GridSearchCV(
        exact,
        {"alpha": ALPHAS},
        cv=KFold(3, shuffle=True, random_state=1),
        scoring="neg_mean_squared_error",
    )
    outer = KFold(4, shuffle=True, random_state=0)
    theirs = cross_validate(search, X, y, cv=outer, scoring="neg_mean_squared_error")
    ours = Recipe(4, 3).run(Family(Ridge(), {"alpha": ALPHAS}), X, y, progress="off")
    np.testing.assert_allclose(ours.fold_risks, -theirs["test_score"], rtol=1e-9)


@pytest.mark.parametrize(
    "transformer", [TfidfTransformer(), MaxAbsScaler(), StandardScaler(with_mean=False)]
)
def test_transformers_that_keep_rows_sparse(transformer):
    """They are fitted once per split, and the model takes what they give."""
    X = counts(80, 150)
    y = numbers(X)
    family = Family(make_pipeline(transformer, Ridge()), {"ridge__alpha": ALPHAS})
    ours = Recipe(3, 3).run(family, X, y, progress="off")
    exact = make_pipeline(transformer, Ridge(tol=1e-13, max_iter=10_000))
    refit = Recipe(3, 3).run(
        Family(exact, {"ridge__alpha": ALPHAS}), X, y, path="refit", progress="off"
    )
    assert ours.path == "path:ridge"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-8)


def test_a_class_that_a_training_part_lacks():
    """A rare class, absent from some training parts."""
    X = counts(60, 80)
    y = classes(X, 3)
    y[:2] = 7
    assert_same(*both(RidgeClassifier(), X, y, Recipe(3, 3, stratify=False)))


def test_an_outer_test_part_touches_no_inner_number():
    """Scrambling its rows leaves the inner curve as it is."""
    X = counts(60, 80)
    y, recipe = numbers(X), Recipe(3, 3)
    family = Family(Ridge(), {"alpha": ALPHAS})
    before = recipe.run(family, X, y, progress="off")
    _, test = before.plan.outer[1]
    X, y = X.tolil(), y.copy()
    X[test], y[test] = 1e3, -1e6
    after = recipe.run(family, X.tocsr(), y, progress="off")
    np.testing.assert_array_equal(before.inner_curves[1], after.inner_curves[1])


def test_the_table_is_never_made_dense():
    """A million columns of 200 rows would be 1.6 GB."""
    rng = np.random.default_rng(0)
    places = rng.integers(200, size=20_000), rng.integers(1_000_000, size=20_000)
    X = sp.csr_matrix((rng.normal(size=20_000), places), shape=(200, 1_000_000))
    y = rng.normal(size=200)
    tracemalloc.start()
    result = Recipe(2, 2).run(Family(Ridge(), {"alpha": [1.0]}), X, y, progress="off")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.path == "path:ridge"
    assert peak < 300e6


def test_what_rounding_decides_is_refitted():
    """Columns far from zero, and columns of very different scales, say so."""
    X = counts(60, 40, share=0.5).tolil()
    X[:, 3] = 1e6 + np.arange(60.0)[:, None]
    y = numbers(X.tocsr()[:, 4:])
    result = Recipe(3, 3).run(
        Family(Ridge(), {"alpha": [0.1, 1.0]}), X.tocsr(), y, progress="off"
    )
    assert "far from zero" in " ".join(result.notes)
    report = FitReport(sparse=True, column_distance=2 * FAR_SPARSE)
    assert "far from zero" in verdict_of(report).reason
    assert "MaxAbsScaler" in verdict_of(FitReport(unsolved=True)).reason


@pytest.mark.parametrize("solver", ["sag", "lsqr"])
def test_another_solver_is_refused_with_the_remedy(solver):
    """scikit-learn's own solvers iterate to a tolerance of their own."""
    X = counts(40, 20)
    family = Family(Ridge(solver=solver), {"alpha": [0.1, 1.0]})
    result = Recipe(2, 2).run(family, X, numbers(X), progress="off")
    assert result.path == "refit"
    assert "solver" in result.path_reason


def test_cholesky_is_refused_as_scikit_learn_does():
    """It does not fit an intercept on sparse rows."""
    X = counts(40, 20)
    family = Family(Ridge(solver="cholesky"), {"alpha": [0.1, 1.0]})
    with pytest.raises(DataError, match="X is sparse"):
        Recipe(2, 2).run(family, X, numbers(X), progress="off")


def test_a_stop_ends_the_steps():
    """The flag is read at every step."""
    X, stop = counts(50, 80), Stop()
    y = numbers(X)[:, None]
    problem = LinearProblem(X, y, None, stop.flag)
    stop.set()
    path = PenaltyPath(np.arange(1), np.ones(1), True, False)
    with pytest.raises(Stopped):
        fit_sparse(problem, path, Precision(), stop)


SHRUNK = {
    "lasso": Lasso(),
    "elastic net": ElasticNet(l1_ratio=0.5),
    "positive": Lasso(positive=True),
    "without an intercept": Lasso(fit_intercept=False),
    "positive elastic net": ElasticNet(positive=True, fit_intercept=False),
}
PENALTIES = [0.3, 1.0, 1.0, 5.0, 300.0]  # the last leaves no coefficient


def tight(model):
    return clone(model).set_params(tol=1e-12, max_iter=1_000_000)


def shrunk(model, X, y, **options):
    family = Family(model, {"alpha": PENALTIES})
    return Recipe(4, 3).run(family, X, y, progress="off", **options)


def assert_is_scikit_learns(model, X, y, **options):
    model = tight(model)  # some splits may be refitted
    ours = shrunk(model, X, y, **options)
    refit = shrunk(model, X, y, path="refit", **options)
    assert ours.path == "path:lasso"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-7)
    np.testing.assert_allclose(ours.fold_risks, refit.fold_risks, rtol=1e-7)
    assert ours.chosen == refit.chosen


@pytest.mark.parametrize("model", SHRUNK.values(), ids=SHRUNK)
@pytest.mark.parametrize(
    "name", sorted({*TABLES} - {"duplicate columns", "explicit zeros"})
)
def test_lasso_and_elastic_net_are_those_of_scikit_learn(name, model):
    """Its descent, brought to the end on the same sparse rows."""
    X = TABLES[name]
    y = numbers(X)
    assert_is_scikit_learns(model, X, y)


@pytest.mark.parametrize("name", ["duplicate columns", "explicit zeros"])
def test_elastic_net_of_columns_that_depend_on_others(name):
    """Its minimum is the only one all the same."""
    X, model = TABLES[name], ElasticNet()
    y = numbers(X)
    assert_is_scikit_learns(model, X, y)


def test_a_lasso_whose_minimum_is_not_the_only_one_is_refitted():
    """One of two equal columns, or the other."""
    X = TABLES["duplicate columns"]
    result = shrunk(Lasso(), X, numbers(X))
    assert result.path == "refit"
    assert "collinear" in " ".join(result.notes)


def test_weights_and_groups_of_a_lasso():
    """Rows of weight zero included."""
    X, rng = counts(61, 100), np.random.default_rng(0)
    weights = rng.integers(0, 4, size=61) * 1.0
    options = {"sample_weight": weights, "groups": rng.integers(0, 12, size=61)}
    y = numbers(X)
    assert_is_scikit_learns(ElasticNet(), X, y, **options)


def test_many_nonzero_columns_and_small_penalties():
    """More nonzero columns than rows, and as many as rows, where descent is slow."""
    X = counts(50, 600, share=0.05)
    y = numbers(X)
    for model in (ElasticNet(l1_ratio=0.1), Lasso()):
        family = Family(tight(model), {"alpha": [0.03, 0.1, 1.0]})
        ours = Recipe(3, 3).run(family, X, y, progress="off")
        refit = Recipe(3, 3).run(family, X, y, path="refit", progress="off")
        assert ours.path == "path:lasso"
        np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-6)


def test_shrunk_rows_behind_transformers_stay_sparse():
    """As those of ridge do."""
    X = counts(80, 150)
    y = numbers(X)
    ours = Recipe(3, 3).run(
        Family(
            make_pipeline(MaxAbsScaler(), ElasticNet()),
            {"elasticnet__alpha": [0.01, 0.1]},
        ),
        X,
        y,
        progress="off",
    )
    refit = Recipe(3, 3).run(
        Family(
            make_pipeline(MaxAbsScaler(), tight(ElasticNet())),
            {"elasticnet__alpha": [0.01, 0.1]},
        ),
        X,
        y,
        path="refit",
        progress="off",
    )
    assert ours.path == "path:lasso"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-8)


def test_a_lasso_on_a_million_columns_is_never_made_dense():
    """200 rows of them would be 1.6 GB."""
    rng = np.random.default_rng(0)
    places = rng.integers(200, size=20_000), rng.integers(1_000_000, size=20_000)
    X = sp.csr_matrix((rng.normal(size=20_000), places), shape=(200, 1_000_000))
    y = rng.normal(size=200)
    family = Family(Lasso(), {"alpha": [0.01, 0.02]})
    tracemalloc.start()
    result = Recipe(2, 2).run(family, X, y, progress="off")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.path == "path:lasso"
    assert peak < 300e6


def test_an_outer_test_part_touches_no_inner_number_of_a_lasso():
    """Scrambling its rows leaves the inner curve as it is."""
    X = counts(60, 80)
    y = numbers(X)
    before = shrunk(Lasso(), X, y)
    _, test = before.plan.outer[1]
    X, y = X.tolil(), y.copy()
    X[test], y[test] = 1e3, -1e6
    after = shrunk(Lasso(), X.tocsr(), y)
    np.testing.assert_array_equal(before.inner_curves[1], after.inner_curves[1])


CS = [1e-3, 0.1, 0.1, 3.0]


def logistic(X, y, *, recipe=None, **options):
    """Return the results on the sparse and on the dense table."""
    parameters = options.pop("parameters", {})
    family = Family(LogisticRegression(**parameters), {"C": CS})
    recipe = recipe or Recipe(4, 3)
    ours = recipe.run(family, X, y, progress="off", **options)
    return ours, recipe.run(family, X.toarray(), y, progress="off", **options)


def assert_same_logistic(ours, dense):
    assert ours.path == "path:logistic"
    np.testing.assert_allclose(ours.inner_curves, dense.inner_curves, rtol=1e-7)
    np.testing.assert_allclose(ours.outer_curves, dense.outer_curves, rtol=1e-7)
    assert ours.chosen == dense.chosen


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("name", sorted({*TABLES} - {"one column"}))
def test_logistic_regression_is_that_of_the_dense_rows(name, n_classes, intercept):
    """Its log loss, which shows every digit."""
    X, parameters = TABLES[name], {"fit_intercept": intercept}
    y = np.array(["a", "b", "c", "d"])[classes(X, n_classes)]
    options = {"scoring": "neg_log_loss", "parameters": parameters}
    assert_same_logistic(*logistic(X, y, **options))


@pytest.mark.parametrize("parameters", [{}, {"class_weight": "balanced"}])
def test_weights_and_groups_of_logistic_regression(parameters):
    """Rows of weight zero included."""
    X, rng = counts(61, 100), np.random.default_rng(0)
    weights = rng.integers(0, 4, size=61) * 1.0
    options = {"sample_weight": weights, "groups": rng.integers(0, 12, size=61)}
    assert_same_logistic(*logistic(X, classes(X, 3), parameters=parameters, **options))


def test_logistic_regression_is_scikit_learns():
    """On the same sparse rows, its solver brought to the end."""
    X = counts(90, 200)
    y = classes(X, 3)
    exact = LogisticRegression(tol=1e-12, max_iter=100_000)
    options = {"scoring": "neg_log_loss", "progress": "off"}
    ours = Recipe(3, 3).run(Family(exact, {"C": CS}), X, y, **options)
    refit = Recipe(3, 3).run(Family(exact, {"C": CS}), X, y, path="refit", **options)
    assert ours.path == "path:logistic"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-5)


@pytest.mark.parametrize("ahead", [(), (MaxAbsScaler(),)])
def test_two_classes_on_sparse_rows_are_refitted(ahead):
    """Newton's steps to the minimum take longer than a solver that stops early."""
    X = counts(60, 80)
    model = make_pipeline(*ahead, LogisticRegression())
    family = Family(model, {"logisticregression__C": CS})
    result = Recipe(2, 2).run(family, X, classes(X, 2), progress="off")
    assert result.path == "refit"
    said = " ".join([result.path_reason, *result.notes])
    assert "sparse X and two classes" in said


def test_a_class_that_a_training_part_lacks_in_logistic_regression():
    """Its column of coefficients is missing there."""
    X = counts(60, 80)
    y = classes(X, 3)
    y[:2] = 7
    assert_same_logistic(*logistic(X, y, recipe=Recipe(3, 3, stratify=False)))


@pytest.mark.parametrize(
    "transformer", [TfidfTransformer(), MaxAbsScaler(), StandardScaler(with_mean=False)]
)
def test_logistic_regression_behind_transformers(transformer):
    """A scaler that keeps rows sparse centres nothing."""
    X = counts(80, 150)
    y = classes(X, 3)
    exact = LogisticRegression(tol=1e-12, max_iter=100_000)
    family = Family(make_pipeline(transformer, exact), {"logisticregression__C": CS})
    options = {"scoring": "neg_log_loss", "progress": "off"}
    ours = Recipe(3, 3).run(family, X, y, **options)
    refit = Recipe(3, 3).run(family, X, y, path="refit", **options)
    assert ours.path == "path:logistic"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-6)


def test_float32_and_integers_of_logistic_regression_are_in_double_precision():
    """As dense ones are, with the same note."""
    X = counts(60, 80).astype(np.float32)
    ours, dense = logistic(X, classes(X, 3), scoring="neg_log_loss")
    assert_same_logistic(ours, dense)
    assert "float32" in " ".join(ours.notes)


def test_an_l1_penalty_on_sparse_rows_is_refitted_with_the_remedy():
    """The working sets of that path are dense."""
    X = counts(40, 20)
    model = LogisticRegression(solver="saga", l1_ratio=1.0, max_iter=1000)
    family = Family(model, {"C": [0.1, 1.0]})
    result = Recipe(2, 2).run(family, X, classes(X, 3), progress="off")
    assert result.path == "refit"
    assert "l1_ratio=0" in result.path_reason


def test_logistic_regression_on_many_columns_is_never_made_dense():
    """2000 rows of 300,000 would be 4.8 GB."""
    rng = np.random.default_rng(0)
    places = rng.integers(2000, size=20_000), rng.integers(300_000, size=20_000)
    X = sp.csr_matrix((rng.normal(size=20_000), places), shape=(2000, 300_000))
    family = Family(LogisticRegression(), {"C": [0.01, 1.0]})
    y = rng.integers(3, size=2000)
    tracemalloc.start()
    result = Recipe(2, 2).run(family, X, y, progress="off", n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.path == "path:logistic"
    assert peak < 500e6


def test_an_outer_test_part_touches_no_inner_number_of_logistic_regression():
    """Scrambling its rows leaves the inner curve as it is."""
    X = counts(60, 80)
    y = classes(X, 3)
    recipe = Recipe(3, 3, stratify=False)
    family = Family(LogisticRegression(), {"C": CS})
    before = recipe.run(family, X, y, scoring="neg_log_loss", progress="off")
    _, test = before.plan.outer[1]
    X, y = X.tolil(), y.copy()
    X[test], y[test] = 1e3, (y[test] + 1) % 3
    after = recipe.run(family, X.tocsr(), y, scoring="neg_log_loss", progress="off")
    np.testing.assert_array_equal(before.inner_curves[1], after.inner_curves[1])


def test_columns_of_sparse_rows_multiply_as_dense_ones_do(rng):
    """All four products, in both precisions, with ones and without."""
    X = counts(30, 12)
    for intercept in (True, False):
        T = np.vstack([X.toarray().T, np.ones((int(intercept), 30))])
        dense, sparse = Columns(T, Stop()), SparseColumns(X, intercept, Stop())
        for kind, rtol in ((np.float64, 1e-12), (np.float32, 1e-5)):
            B, R = rng.normal(size=(2, 3, len(T))), rng.normal(size=(2, 3, 30))
            B, R = B.astype(kind), R.astype(kind)
            same = partial(np.testing.assert_allclose, rtol=rtol, atol=rtol)
            same(sparse.decide(B), dense.decide(B))
            same(sparse.gather(R), dense.gather(R))
            assert sparse.decide(B).dtype == sparse.gather(R).dtype == kind
        v = rng.random((2, 30)).astype(np.float32)
        np.testing.assert_allclose(
            sparse.sums_of_squares(v), dense.sums_of_squares(v), rtol=1e-5
        )
        np.testing.assert_allclose(sparse.squares(v[0]), dense.squares(v[0]), rtol=1e-4)
