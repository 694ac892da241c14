"""Invalid arguments are refused before any fit; the message names what, where and the remedy."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cvnb
from cvnb import Family, NestedCV, Plan, Recipe, TimeBlocks
from cvnb.errors import (
    DataError,
    FamilyError,
    InfeasibleError,
    InputError,
    LossError,
    RecipeError,
    WrongTypeError,
)
from cvnb.splits.recipes import Resampling

RECIPE = Recipe(outer=3, inner=2, seed=0)
VOTES = Family(KNeighborsClassifier(), {"n_neighbors": [1, 3]})
MEANS = Family(KNeighborsRegressor(), {"n_neighbors": [1, 3]})


@pytest.fixture(autouse=True)
def nothing_is_fitted(fits):
    """Every test of this file is about a refusal: none of them may fit anything."""
    yield
    assert fits == []


def table(rows=30):
    return np.random.default_rng(0).normal(size=(rows, 3))


def response(rows=30):
    return np.random.default_rng(1).normal(size=rows)


def labels(rows=30):
    return np.arange(rows) % 2


def run(family=VOTES, X=None, y=None, recipe=RECIPE, **options):
    """Run on the small table, or on other arguments."""
    X = table() if X is None else X
    return recipe.run(
        family, X, labels() if y is None else y, progress="off", **options
    )


# X


def with_value(X, row, column, value):
    X = X.copy()
    X[row, column] = value
    return X


@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")]
)
@pytest.mark.parametrize(
    ("form", "column"),
    [
        (np.asarray, "column 2"),
        (lambda X: X.tolist(), "column 2"),
        (lambda X: X.astype(np.float32), "column 2"),
        (lambda X: X.astype(object), "column 2"),
        (sp.csr_matrix, "column 2"),
        (sp.coo_array, "column 2"),
        (lambda X: pd.DataFrame(X, columns=["one", "two", "three"]), "column 'three'"),
        (lambda X: pd.DataFrame(X, columns=[10, 11, 12]), "column 12"),
        (
            lambda X: pd.DataFrame(X, columns=["a", "b", "c"]).assign(a="word"),
            "column 'c'",
        ),
        (lambda X: pl.DataFrame(X, schema=["one", "two", "three"]), "column 'three'"),
    ],
    ids=[
        "array",
        "lists",
        "float32",
        "objects",
        "csr",
        "coo",
        "pandas",
        "whole names",
        "mixed pandas",
        "polars",
    ],
)
def test_a_value_that_is_not_finite_is_refused_with_its_column(
    form, column, value, word
):
    """NaN and infinity in X name their column, as the user knows it, and their row."""
    X = form(with_value(table(), 4, 2, value))
    with pytest.raises(
        DataError, match=f"(?s){word}.*{column}.*row 4.*KNeighborsClassifier"
    ):
        run(X=X)


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0], [None, 3.0], *[[4.0, 5.0]] * 28],
        pd.DataFrame(
            {"a": pd.array([1, None, *[2] * 28], dtype="Int64"), "b": range(30)}
        ),
        pd.DataFrame(
            {
                "a": pd.array([1, None, *[2] * 28], dtype="int64[pyarrow]"),
                "b": range(30),
            }
        ),
        pd.DataFrame(
            {
                "a": pd.array([True, None, *[False] * 28], dtype="boolean"),
                "b": range(30),
            }
        ),
        pd.DataFrame({"a": [1.0, None, *[2.0] * 28], "b": range(30)}, dtype=object),
        pl.DataFrame({"a": [1, None, *[2] * 28], "b": list(range(30))}),
        pl.DataFrame({"a": [1.5, None, *[2.5] * 28], "b": list(range(30))}),
        pl.DataFrame({"a": [True, None, *[False] * 28], "b": list(range(30))}),
    ],
    ids=[
        "lists",
        "Int64",
        "arrow",
        "boolean",
        "objects",
        "polars Int64",
        "polars Float64",
        "polars Boolean",
    ],
)
def test_a_missing_entry_is_refused_with_its_column(X):
    """None, NA and null count as missing, whatever dtype holds them."""
    with pytest.raises(DataError, match=r"(?s)NaN.*column ('a'|0).*row 1"):
        run(X=X)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        Ridge(),
        make_pipeline(PCA(), DecisionTreeRegressor()),
    ],
    ids=["behind a scaler", "ridge", "ahead of a tree"],
)
def test_missing_values_are_refused_by_the_step_that_cannot_take_them(model):
    """A scaler passes NaN on to a model that refuses it; a PCA refuses it before a tree."""
    with pytest.raises(DataError, match=r"(?s)NaN.*column 2.*imputer"):
        run(
            Family(model),
            with_value(table(), 4, 2, np.nan),
            response(),
            Recipe.external_cv(3),
        )


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(SimpleImputer(), Ridge()),
        make_pipeline(KNNImputer(), Ridge()),
        DecisionTreeRegressor(),
        make_pipeline(StandardScaler(), HistGradientBoostingRegressor()),
    ],
    ids=["imputer", "neighbours imputer", "tree", "boosting behind a scaler"],
)
def test_infinity_is_refused_where_only_missing_values_are_taken(model):
    """What deals with NaN does not deal with infinity: it is refused with its column."""
    with pytest.raises(DataError, match=r"(?s)inf.*column 2.*row 4"):
        run(
            Family(model),
            with_value(table(), 4, 2, np.inf),
            response(),
            Recipe.external_cv(3),
        )


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        lambda X: X.tolist(),
        lambda X: X.astype(object),
        lambda X: X.astype(np.complex64),
        sp.csr_matrix,
        pd.DataFrame,
    ],
    ids=["array", "lists", "objects", "complex64", "sparse", "frame"],
)
def test_complex_numbers_in_X_are_refused(form):
    """Complex X has no order and no distance here, in whatever table."""
    with pytest.raises(DataError, match=r"[Cc]omplex"):
        run(X=form(table() + 1j))


DATES = {
    "dates": np.full((30, 2), np.datetime64("2024-01-01")),
    "spans": np.full((30, 2), np.timedelta64(3, "D")),
    "objects": [[datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2)]] * 30,
    "frame": pd.DataFrame({"day": pd.date_range("2024-01-01", periods=30)}),
    "time zone": pd.DataFrame(
        {"day": pd.date_range("2024-01-01", periods=30, tz="UTC")}
    ),
    "frame of spans": pd.DataFrame({"span": pd.timedelta_range("1D", periods=30)}),
    "polars days": pl.DataFrame({"day": [datetime.date(2024, 1, 1)] * 30}),
    "polars times": pl.DataFrame({"time": [datetime.datetime(2024, 1, 1)] * 30}),
    "polars spans": pl.DataFrame({"span": [datetime.timedelta(days=1)] * 30}),
}


@pytest.mark.parametrize("X", DATES.values(), ids=DATES)
def test_dates_as_X_are_refused(X):
    """Dates and durations are no numbers until the user gives them a unit."""
    with pytest.raises(DataError, match="dates or durations"):
        run(X=X)


def test_a_date_among_numbers_is_refused():
    """A frame with one column of dates cannot go to a model that computes with its columns."""
    X = pd.DataFrame(
        {"size": range(30), "day": pd.date_range("2024-01-01", periods=30)}
    )
    with pytest.raises(DataError, match="day"):
        run(X=X)


def test_a_masked_X_is_refused():
    """The numbers under a mask must not be used."""
    with pytest.raises(DataError, match=r"X is a masked array.*filled"):
        run(X=np.ma.masked_less(table(), 0))


@pytest.mark.parametrize("hidden", ["groups", "sample_weight"])
def test_masked_groups_and_weights_are_refused(hidden):
    """Groups and weights under a mask must not be used either."""
    values = np.ma.array(np.arange(30) // 3, mask=np.arange(30) == 4)
    with pytest.raises(DataError, match=f"{hidden}.*masked"):
        run(
            Family(Ridge()),
            y=response(),
            recipe=Recipe.external_cv(3),
            **{hidden: values},
        )


HUGE = {
    "array": (np.asarray, 1e200),
    "negative": (np.asarray, -1e200),
    "sum": (np.asarray, 1e154),
    "lists": (lambda X: X.tolist(), 1e200),
    "objects": (lambda X: X.astype(object), 1e200),
    "longdouble": (lambda X: X.astype(np.longdouble), 1e200),
    "float32": (lambda X: X.astype(np.float32), 1e30),
    "sparse": (sp.csr_matrix, 1e200),
    "sparse float32": (lambda X: sp.csr_matrix(X.astype(np.float32)), 1e30),
    "frame": (lambda X: pd.DataFrame(X, columns=list("abc")), 1e200),
    "frame of float32": (
        lambda X: pd.DataFrame(X.astype(np.float32), columns=list("abc")),
        1e30,
    ),
    "frame of objects": (
        lambda X: pd.DataFrame(X.astype(object), columns=list("abc")),
        1e200,
    ),
    "nullable frame": (
        lambda X: pd.DataFrame(X, columns=list("abc")).astype("Float64"),
        1e200,
    ),
    "polars": (lambda X: pl.DataFrame(X, schema=list("abc")), 1e200),
    "polars float32": (
        lambda X: pl.DataFrame(X.astype(np.float32), schema=list("abc")),
        1e30,
    ),
}


@pytest.mark.parametrize("form", HUGE)
def test_values_whose_squares_overflow_are_refused(form):
    """A finite number too large for a distance or a sum of squares is refused, never scored."""
    make, value = HUGE[form]
    with pytest.raises(DataError, match=r"(?s)X holds .*overflow.*rescale"):
        run(X=make(with_value(table(), 4, 1, value)))


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_largest_number_of_either_sign_is_seen(sign, dtype, as_frame):
    """One entry among ordinary ones, in a block of numbers, named by its row and column."""
    X = table().astype(dtype)
    X[3, 1] = sign * (1e30 if dtype == np.float32 else 1e200)
    place = "column 'b'" if as_frame else "column 1"
    with pytest.raises(
        DataError, match=rf"X holds .* \(row 3, {place}\): squares of numbers beyond"
    ):
        run(X=pd.DataFrame(X, columns=list("abc")) if as_frame else X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_how_large_a_response_may_be_depends_on_the_table(dtype, recwarn):
    """A float32 y with a float64 table is computed in float64."""
    X, y = (
        table().astype(dtype),
        np.where(np.arange(len(table())) == 3, 1e30, 0.5).astype(np.float32),
    )
    if dtype == np.float32:
        with pytest.raises(DataError, match="y holds"):
            Recipe(3, 2).plan(X, y)
    else:
        Recipe(3, 2).plan(X, y)
    assert not recwarn


def test_whole_numbers_beyond_every_dtype_are_refused():
    """Python ints of 200 digits overflow as floats do."""
    X = table().round().astype(int).astype(object)
    X[4, 1] = 10**200
    with pytest.raises(DataError, match="overflow"):
        run(X=X)


def test_a_response_whose_squares_overflow_is_refused():
    """1e200 in y would make every squared loss infinite."""
    y = response()
    y[7] = 1e200
    with pytest.raises(
        DataError, match=r"(?s)y holds 1e\+200|y holds .*1e\+200.*row 7"
    ):
        run(Family(Ridge()), y=y, recipe=Recipe.external_cv(3))


NO_TABLES = {
    "None": (None, "X is None"),
    "number": (5, "2D array"),
    "string": ("text", "cannot be read as an array: got the text 'text'"),
    "one row of numbers": (table()[:, 0], r"(?s)2D array.*reshape\(-1, 1\)"),
    "list": (table()[:, 0].tolist(), r"(?s)2D array.*reshape\(-1, 1\)"),
    "Series": (pd.Series(table()[:, 0]), r"(?s)2D array.*reshape\(-1, 1\)"),
    "polars Series": (pl.Series(table()[:, 0]), r"(?s)2D array.*reshape\(-1, 1\)"),
    "cube": (np.zeros((30, 2, 2)), "2D array, got 3D"),
    "sparse row": (sp.coo_array(np.arange(1.0, 31.0)), "2D"),
    "ragged": ([[1.0, 2.0], [3.0], *[[4.0, 5.0]] * 28], "X cannot be read as an array"),
    "dict": ({"a": [1.0] * 30}, "cannot be read as an array: got dict"),
    "set": ({1.0, 2.0}, "cannot be read as an array: got set"),
    "iterator": (iter([[1.0]] * 30), "cannot be read as an array"),
    "structured": (
        np.zeros(30, dtype=[("a", float), ("b", float)]),
        "structured array",
    ),
    "no columns": (np.zeros((30, 0)), "0 feature"),
    "empty frame": (pd.DataFrame(index=range(30)), "0 feature"),
    "no rows": (np.zeros((0, 3)), "0 sample"),
    "empty list": ([], "0 sample|2D array"),
    "lazy": (pl.DataFrame({"a": [1.0] * 30}).lazy(), r"LazyFrame.*collect\(\)"),
    "missing text": (["a text", None, *["more"] * 28], "X.*(missing|None|nothing)"),
}


@pytest.mark.parametrize(("X", "match"), NO_TABLES.values(), ids=NO_TABLES)
def test_an_X_that_is_no_table_is_refused(X, match):
    """X has two dimensions, rows and columns, or is a row of texts."""
    with pytest.raises(DataError, match=match):
        RECIPE.run(VOTES, X, labels(), progress="off")


@pytest.mark.parametrize(
    "index",
    [
        np.random.default_rng(0).permutation(30) + 0.5,
        np.zeros(30),
        pd.Index([f"r{i}" for i in range(30)]),
    ],
    ids=["floats out of order", "equal", "words"],
)
def test_the_row_of_a_missing_value_is_a_position(index):
    """The row that a message names is a position, whatever the frame's index says."""
    X = pd.DataFrame(
        with_value(table(), 4, 2, np.nan), index=index, columns=list("abc")
    )
    with pytest.raises(DataError, match=r"column 'c'.*row 4"):
        run(X=X)


# y, groups, weights


NO_TARGETS = {
    "None": (None, "y is None|y to be passed"),
    "complex": (np.full(30, 1 + 1j), "[Cc]omplex"),
    "dates": (np.full(30, np.datetime64("2024-01-01")), "dates or durations"),
    "time zone": (
        pd.Series(pd.date_range("2024-01-01", periods=30, tz="UTC")),
        "dates or durations|Timestamp",
    ),
    "masked": (np.ma.masked_less(response(), 0), "y is a masked array"),
    "two columns": (np.zeros((30, 2)), r"1d array.*\(30, 2\)"),
    "two-column frame": (
        pd.DataFrame({"a": response(), "b": response()}),
        r"1d array.*\(30, 2\)",
    ),
    "number": (5, "y"),
    "dict": ({"a": 1}, "y cannot be read as an array: got dict"),
    "iterator": (iter(range(30)), "y cannot be read as an array"),
    "sparse": (sp.csr_matrix(response()), "y cannot be read as an array"),
    "NaN": ([1.0, np.nan, *[2.0] * 28], "NaN.*row 1"),
    "inf": ([1.0, np.inf, *[2.0] * 28], "inf.*row 1"),
    "None inside": (["a", None, *["b"] * 28], "NaN or nothing.*row 1"),
    "NaN inside": (["a", np.nan, *["b"] * 28], r"NaN.*row 1|mixes float, str"),
    "nullable int": (
        pd.Series([1, None, *[2] * 28], dtype="Int64"),
        "NaN or nothing.*row 1",
    ),
    "nullable bool": (
        pd.Series([True, None, *[False] * 28], dtype="boolean"),
        "NaN or nothing.*row 1",
    ),
    "category": (
        pd.Series(["a", None, *["b"] * 28], dtype="category"),
        "NaN or nothing.*row 1",
    ),
    "string": (
        pd.Series(["a", None, *["b"] * 28], dtype="string"),
        "NaN or nothing.*row 1",
    ),
    "polars strings": (pl.Series(["a", None, *["b"] * 28]), "NaN or nothing.*row 1"),
    "polars ints": (pl.Series([1, None, *[2] * 28]), "NaN or nothing.*row 1"),
    "list of both": ([1, "a", *[2] * 28], "mixes int, str"),
    "int and str": (np.array([1, "a", *[2] * 28], dtype=object), r"mixes int, str"),
    "bool and str": (
        np.array([True, "a", *[False] * 28], dtype=object),
        r"mixes bool, str",
    ),
    "bool and int": (
        np.array([True, 2, *[False] * 28], dtype=object),
        r"mixes bool, int",
    ),
    "bytes": (np.array([b"a", b"b"] * 15), r"bytes.*astype\(str\)"),
    "bytes in objects": (
        np.array([b"a", b"b"] * 15, dtype=object),
        r"bytes.*astype\(str\)",
    ),
    "structured": (np.array([(0,), (1,)] * 15, dtype=[("a", int)]), "structured array"),
    "dicts": (np.array([{"a": 1}, {"a": 2}] * 15, dtype=object), "Unknown label type"),
}


@pytest.mark.parametrize(("y", "match"), NO_TARGETS.values(), ids=NO_TARGETS)
def test_a_y_that_is_no_target_is_refused(y, match):
    """y holds one number, bool or string per row, nothing missing."""
    with pytest.raises(DataError, match=match):
        RECIPE.run(VOTES, table(), y, progress="off")


@pytest.mark.parametrize(
    ("X", "y", "options", "match"),
    [
        (table(30), labels(29), {}, "X has 30 rows but y has 29"),
        (table(29), labels(30), {}, "X has 29 rows but y has 30"),
        (
            pd.DataFrame(table(31)),
            pd.Series(labels(30)),
            {},
            "X has 31 rows but y has 30",
        ),
        (pl.DataFrame(table(31)), labels(30), {}, "X has 31 rows but y has 30"),
        (sp.csr_matrix(table(31)), labels(30), {}, "X has 31 rows but y has 30"),
        (
            table(),
            labels(),
            {"groups": np.arange(31)},
            "X has 30 rows but groups has 31",
        ),
        (
            table(),
            labels(),
            {"sample_weight": np.ones(31)},
            "X has 30 rows but sample_weight has 31",
        ),
    ],
)
def test_lengths_that_differ_are_refused(X, y, options, match):
    """Both lengths are named."""
    with pytest.raises(DataError, match=match):
        run(Family(DecisionTreeClassifier()), X, y, Recipe.external_cv(3), **options)


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        ([None, *range(29)], r"groups has no value.*row 0"),
        ([0.0, np.nan, *[1.0] * 28], r"groups has no value.*row 1"),
        (pd.Series([1, None, *[2] * 28], dtype="Int64"), r"groups has no value.*row 1"),
        (
            pd.Series(["a", None, *["b"] * 28], dtype="category"),
            r"groups has no value.*row 1",
        ),
        (pl.Series(["a", None, *["b"] * 28]), r"groups has no value.*row 1"),
        (np.zeros((30, 1)), r"groups must be a 1d array"),
        ("patient", "groups"),
        (7, "groups must hold one value per row"),
    ],
)
def test_groups_that_do_not_name_a_group_per_row_are_refused(groups, match):
    """Every row needs its group; a column's name is not its values."""
    with pytest.raises(DataError, match=match):
        run(groups=groups)


def weights(row, value):
    w = np.ones(30)
    w[row] = value
    return w


@pytest.mark.parametrize(
    ("w", "match"),
    [
        (weights(4, -1.0), r"-1\.0.*row 4.*>= 0"),
        (weights(4, np.nan), r"nan.*row 4.*finite"),
        (weights(4, np.inf), r"inf.*row 4.*finite"),
        (np.zeros(30), "0 in every row"),
        (["heavy"] * 30, "must hold numbers"),
        ([None] * 30, "finite|numbers"),
        (np.ones((30, 1)), "1d array"),
        (np.ones(30, dtype=complex), "[Cc]omplex|numbers"),
        (2.0, "one value per row"),
    ],
    ids=[
        "negative",
        "NaN",
        "inf",
        "zero",
        "words",
        "None",
        "column",
        "complex",
        "number",
    ],
)
def test_weights_that_cannot_weigh_are_refused(w, match):
    """Weights are finite, not negative, not all zero, one per row."""
    with pytest.raises(DataError, match=match):
        run(
            Family(DecisionTreeClassifier()),
            recipe=Recipe.external_cv(3),
            sample_weight=w,
        )


@pytest.mark.parametrize(
    "model",
    [KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier())],
    ids=["alone", "in a pipeline"],
)
def test_weights_for_a_model_without_them_are_refused(model):
    """The step that takes no weights is named."""
    with pytest.raises(
        FamilyError,
        match=r"KNeighborsClassifier takes no sample_weight.*drop the weights",
    ):
        run(Family(model), recipe=Recipe.external_cv(3), sample_weight=np.ones(30))


def test_weights_for_one_model_without_them_among_several_are_refused():
    """A grid that puts in models refuses weights if one of them takes none."""
    model = Pipeline([("model", DecisionTreeClassifier())])
    family = Family(
        model, {"model": [DecisionTreeClassifier(), KNeighborsClassifier()]}
    )
    with pytest.raises(
        FamilyError, match="KNeighborsClassifier takes no sample_weight"
    ):
        run(family, sample_weight=np.ones(30))


@pytest.mark.parametrize("part", ["test", "training"])
def test_a_part_without_weight_is_refused(part):
    """A split with a part of weight 0 is refused by name."""
    w = np.ones(30)
    w[10:20] = 0
    rows, rest = np.arange(10, 20), np.r_[0:10, 20:30]
    pairs = [(rest, rows)] if part == "test" else [(rows, rest)]
    with pytest.raises(InfeasibleError, match=r"outer split 0.*weight 0"):
        run(
            Family(DecisionTreeClassifier()),
            recipe=Recipe(outer=pairs, inner=None),
            sample_weight=w,
        )


def test_an_inner_test_part_without_weight_is_refused():
    """The inner split is named with its outer split."""
    w = np.ones(30)
    w[:4] = 0
    recipe = Recipe(outer=[(np.arange(20), np.arange(20, 30))], inner=KFold(5))
    with pytest.raises(
        InfeasibleError, match=r"inner split 0 of outer split 0.*weight 0"
    ):
        run(
            Family(DecisionTreeClassifier(), {"max_depth": [1, 2]}),
            recipe=recipe,
            sample_weight=w,
        )


@pytest.mark.parametrize(
    ("make", "y", "match"),
    [
        (
            lambda: VOTES,
            response(),
            r"y is continuous.*KNeighborsClassifier is a classifier",
        ),
        (
            lambda: MEANS,
            np.array(["yes", "no"] * 15),
            r"labels such as .*'yes'.*KNeighborsRegressor is a regression",
        ),
        (
            lambda: cvnb.ridge(alpha=[1.0], task="regression"),
            np.array(["yes", "no"] * 15),
            "labels such as",
        ),
        (lambda: cvnb.knn(k=[1], task="classification"), response(), "y is continuous"),
        (
            lambda: cvnb.lasso(alpha=[1.0]),
            np.array(["yes", "no"] * 15),
            "labels such as",
        ),
        (lambda: cvnb.logistic(C=[1.0]), response(), "y is continuous"),
    ],
    ids=["classifier", "regression", "ridge", "knn", "lasso", "logistic"],
)
def test_a_target_of_the_wrong_kind_for_the_model_is_refused(make, y, match):
    """A classifier needs classes, a regression numbers."""
    with pytest.raises(DataError, match=match):
        run(make(), y=y)


# Recipes


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize("K", [1, 0, -3, np.int64(1)])
def test_fewer_than_two_folds_are_refused(level, K):
    """One fold leaves nothing to train on, or nothing to choose on."""
    with pytest.raises(
        RecipeError, match=rf"{level}={K} leaves no fold.*use {level} >= 2"
    ):
        Recipe(**{level: K})


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize(
    ("share", "match"),
    [
        (0.0, "strictly between 0 and 1"),
        (1.0, "strictly between 0 and 1"),
        (-0.2, "strictly between 0 and 1"),
        (1.5, "strictly between 0 and 1"),
        (np.nan, "strictly between 0 and 1"),
        (np.inf, "strictly between 0 and 1"),
        (5.0, "For 5 folds write {level}=5"),
        (np.float32(2.0), "strictly between 0 and 1"),
    ],
)
def test_a_share_outside_0_and_1_is_refused(level, share, match):
    """A float is a share of the rows."""
    with pytest.raises(RecipeError, match=match.format(level=level)):
        Recipe(**{level: share})


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: Recipe.train_validation_test(0.6, 0.5),
            r"validation=0\.6 and test=0\.5 leave no row to train on",
        ),
        (lambda: Recipe.train_validation_test(0.5, 0.5), "leave no row to train on"),
        (
            lambda: Recipe.train_validation_test(0.0, 0.5),
            r"validation=0\.0.*strictly between",
        ),
        (
            lambda: Recipe.train_validation_test(0.2, 1.0),
            r"test=1\.0.*strictly between",
        ),
        (lambda: Recipe.cv_test(test=0), r"test=0.*strictly between"),
        (lambda: Recipe.cv_test(test=5), r"test=5.*strictly between"),
        (lambda: Recipe.resampling_test(validation=1.2), r"1\.2.*strictly between"),
        (lambda: Recipe.resampling_test(samples=0), r"samples=0.*>= 1"),
        (lambda: Recipe.resampling_test(samples=2.5), r"samples=2\.5.*whole number"),
        (lambda: Recipe.nested_resampling(outer=0), r"0.*>= 1"),
        (lambda: Recipe.nested_resampling(test=0.0), r"0\.0.*strictly between"),
        (
            lambda: Recipe.nested_dev(outer=2),
            "outer=2 leaves no row to train on.*outer >= 3",
        ),
        (lambda: Recipe.dev_set(dev=True), "dev=True.*strictly between"),
        (lambda: Recipe.validation(test=-0.1), r"test=-0\.1.*strictly between"),
        (lambda: Recipe.external_cv(1), "outer=1 leaves no fold"),
        (lambda: Recipe.internal_cv(1), "inner=1 leaves no fold"),
        (
            lambda: Recipe.internal_cv(None),
            "outer=None and inner=None leaves nothing to split",
        ),
        (lambda: Resampling(3, 1.0), r"share=1\.0.*strictly between"),
        (lambda: TimeBlocks(1), "n_splits=1 leaves no block.*>= 2"),
        (lambda: TimeBlocks(3, buffer=-1), "buffer=-1.*>= 0"),
        (lambda: Recipe(buffer=-1, time_ordered=True), "buffer=-1.*>= 0"),
        (lambda: Recipe(buffer=-1.5, time_ordered=True), r"buffer=-1\.5.*whole number"),
        (lambda: Recipe(seed=-1), "seed=-1.*>= 0"),
        (lambda: Recipe(seed=None), "seed=None.*whole number"),
        (lambda: Recipe(shuffle="no"), "shuffle='no'.*True or False"),
        (lambda: Recipe(stratify="yes"), "stratify='yes'.*'auto', True or False"),
    ],
)
def test_options_that_cannot_work_are_refused(make, match):
    """The option and its value are named, with what it may be."""
    with pytest.raises(RecipeError, match=match):
        make()


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        (True, RecipeError, "True is no splitter"),
        ("five", RecipeError, "'five' is not known.*'loo'"),
        ("5", RecipeError, "'5' is not known.*'loo'"),
        (KFold, WrongTypeError, r"KFold is a class; use KFold\(\)"),
        (object(), WrongTypeError, "is no splitter"),
        ([], RecipeError, "empty list of splits"),
        (iter([]), RecipeError, "empty list of splits"),
        (5 + 0j, WrongTypeError, "is no splitter"),
    ],
)
def test_what_is_no_splitter_is_refused(level, given, error, match):
    """A number of folds, a share, 'loo', a splitter or a list: nothing else."""
    with pytest.raises(error, match=match):
        Recipe(**{level: given})


@pytest.mark.parametrize(
    ("recipe", "match"),
    [
        (
            Recipe(outer=31, inner=2, stratify=False),
            "31 outer folds need 31 rows, but there are 30; use outer<=30",
        ),
        (
            Recipe(outer=2, inner=16, stratify=False),
            "16 inner folds need 16 rows, but outer training part 0 has 15",
        ),
        (Recipe(outer=None, inner=31, stratify=False), "31 inner folds need 31 rows"),
        (
            Recipe(outer=40),
            "40 outer folds need 40 rows, but there are 30; use outer<=30",
        ),
        (Recipe(outer=31, inner=2, time_ordered=True), "31 outer folds need 31 rows"),
        (Recipe(outer=KFold(31), inner=2), r"KFold\(n_splits=31.*30"),
        (Recipe(outer=2, inner=TimeSeriesSplit(20)), "TimeSeriesSplit.*15"),
        (
            Recipe(outer=TimeBlocks(31), inner=2),
            "31 blocks need 31 rows, but there are 30",
        ),
    ],
)
def test_more_folds_than_rows_are_refused(recipe, match):
    """Number of folds, number of rows and the level are named."""
    with pytest.raises(InputError, match=match):
        run(recipe=recipe)


@pytest.mark.parametrize(
    ("rows", "recipe"),
    [
        (1, Recipe.leave_one_out()),
        (1, Recipe.validation()),
        (1, Recipe.internal_cv(2)),
        (2, Recipe(outer="loo", inner="loo")),
        (2, Recipe(outer=2, inner=2)),
    ],
)
def test_too_few_rows_to_split_are_refused(rows, recipe):
    """One row cannot be split, at either level."""
    family = Family(
        DummyRegressor(),
        {"strategy": ["mean", "median"]} if recipe.inner is not None else {},
    )
    with pytest.raises(InfeasibleError, match=r"1 row|rows"):
        run(family, table(rows), response(rows), recipe)


@pytest.mark.parametrize(
    ("recipe", "n_groups", "match"),
    [
        (
            Recipe(outer=5, inner=2),
            4,
            "5 outer folds need 5 groups, but there are 4; use outer<=4",
        ),
        (Recipe(outer=5, inner=2), 1, "5 outer folds need 5 groups, but there are 1"),
        (
            Recipe(outer=4, inner=5),
            4,
            "5 inner folds need 5 groups, but outer training part 0 has 3; use inner<=3",
        ),
        (Recipe(outer="loo", inner=None), 1, "groups"),
        (Recipe(outer=0.2, inner=None), 1, "at least 2 groups|2 groups"),
        (Recipe(outer=GroupKFold(5), inner=2), 4, "GroupKFold.*4|4.*GroupKFold"),
    ],
)
def test_fewer_groups_than_folds_are_refused(recipe, n_groups, match):
    """Folds are made of groups, not of rows."""
    family = MEANS if recipe.inner is not None else Family(KNeighborsRegressor())
    with pytest.raises(InputError, match=match):
        run(family, y=response(), recipe=recipe, groups=np.arange(30) % n_groups)


@pytest.mark.parametrize("splitter", [GroupKFold(3), LeaveOneGroupOut()])
def test_a_group_splitter_without_groups_is_refused(splitter):
    """The message asks for groups=."""
    with pytest.raises(RecipeError, match=r"(?s)cannot split.*groups="):
        run(recipe=Recipe(outer=splitter, inner=2))


# Explicit splits


LEFT, RIGHT = np.arange(20), np.arange(20, 30)

OUTER_LISTS = {
    "overlap": (
        [(LEFT, RIGHT), (np.arange(21), RIGHT)],
        r"outer split 1 has row 20 .*training and its test part",
    ),
    "bootstrap": (
        [(np.r_[LEFT, LEFT], np.arange(15, 30))],
        r"outer split 0 has row 15 \(and 4 more\)",
    ),
    "all rows": (
        [(np.arange(30), np.arange(30))],
        r"outer split 0 has row 0 \(and 29 more\)",
    ),
    "too large": (
        [(LEFT, [28, 29, 30])],
        r"test of outer split 0 names row 30, but the rows are 0 to 29",
    ),
    "negative": ([(LEFT, [-1])], r"test of outer split 0 names row -1"),
    "huge": (
        [(LEFT, np.array([2**63 + 5], dtype=np.uint64))],
        "outer split 0 names row",
    ),
    "mask": (
        [(np.arange(30) < 20, np.arange(30) >= 20)],
        r"boolean mask.*np\.flatnonzero",
    ),
    "list of bools": (
        [([True] * 20 + [False] * 10, [False] * 20 + [True] * 10)],
        r"boolean mask.*np\.flatnonzero",
    ),
    "bools as objects": (
        [(LEFT, np.array([False] * 20 + [True] * 10, dtype=object))],
        "mask|whole row numbers",
    ),
    "nullable mask": (
        [(LEFT, pd.Series([False] * 20 + [True] * 10, dtype="boolean"))],
        "mask|whole row numbers",
    ),
    "floats": ([(LEFT, np.array([20.0, 21.0]))], "whole row numbers, got float64"),
    "words": ([(LEFT, ["a", "b"])], "whole row numbers"),
    "empty test": ([(LEFT, [])], "test of outer split 0 is empty"),
    "empty train": ([([], RIGHT)], "train of outer split 0 is empty"),
    "matrix": (
        [(LEFT.reshape(4, 5), RIGHT)],
        r"whole row numbers, got int64 of shape \(4, 5\)",
    ),
    "triple": ([(LEFT, RIGHT, RIGHT)], r"outer split 0 is no \(train, test\) pair"),
    "one pair, not a list": (
        (LEFT, RIGHT),
        r"outer split 0 is no \(train, test\) pair",
    ),
    "numbers": ([1, 2, 3], r"outer split 0 is no \(train, test\) pair"),
}


@pytest.mark.parametrize("pairs", OUTER_LISTS)
def test_outer_lists_that_are_no_splits_are_refused(pairs):
    """The split, its part and the row are named."""
    given, match = OUTER_LISTS[pairs]
    with pytest.raises(InputError, match=match):
        run(recipe=Recipe(outer=given, inner=2))


INNER_LISTS = {
    "outside": (
        [[(np.arange(10), RIGHT)]],
        r"inner split 0 of outer split 0 uses row 20, which is outside that outer",
    ),
    "positions": (
        [[(np.arange(10), [10, 25])]],
        r"inner split 0 of outer split 0 uses row 25",
    ),
    "overlap": (
        [[(np.arange(11), [10, 11])]],
        r"inner split 0 of outer split 0 has row 10",
    ),
    "too large": (
        [[(np.arange(10), [30])]],
        r"inner split 0 of outer split 0 names row 30",
    ),
    "negative": (
        [[(np.arange(10), [-2])]],
        r"inner split 0 of outer split 0 names row -2",
    ),
    "mask": (
        [[(np.arange(30) < 10, np.arange(30) == 12)]],
        r"inner split 0 of outer split 0 is a boolean mask",
    ),
    "plain pairs": (
        [(np.arange(10), np.arange(10, 20))],
        r"no \(train, test\) pair|one list.*per outer split",
    ),
    "two lists": (
        [[(np.arange(10), [12])]] * 2,
        "inner holds 2 lists of splits, but there are 1 outer splits",
    ),
    "an empty list": ([[]], "no split"),
}


@pytest.mark.parametrize("pairs", INNER_LISTS)
def test_inner_lists_that_are_no_splits_are_refused(pairs):
    """Inner lists hold rows of the whole data, all of them in the outer training part."""
    given, match = INNER_LISTS[pairs]
    with pytest.raises(InputError, match=match):
        run(recipe=Recipe(outer=[(LEFT, RIGHT)], inner=given))


class Bootstrap:
    """Draws training rows with replacement and tests on all rows."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2

    def split(self, X, y=None, groups=None):
        rng = np.random.default_rng(0)
        for _ in range(2):
            yield rng.integers(0, len(X), len(X)), np.arange(len(X))


class Masks(Bootstrap):
    """Yields masks instead of row numbers."""

    def split(self, X, y=None, groups=None):
        mask = np.arange(len(X)) < len(X) // 2
        yield mask, ~mask


class OffByOne(Bootstrap):
    """Counts rows from 1."""

    def split(self, X, y=None, groups=None):
        for train, test in KFold(2).split(X):
            yield train + 1, test + 1


class Nothing(Bootstrap):
    """Yields no split."""

    def split(self, X, y=None, groups=None):
        return iter(())


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize(
    ("splitter", "match"),
    [
        (Bootstrap(), "training and its test part"),
        (Masks(), "boolean mask"),
        (OffByOne(), "names row (30|20)"),
        (Nothing(), "no split"),
    ],
    ids=["bootstrap", "masks", "off by one", "nothing"],
)
def test_splitters_that_give_no_splits_are_refused(level, splitter, match):
    """A user's splitter is checked like a list, at both levels, and the level is named."""
    with pytest.raises(RecipeError, match=f"{level}.*{match}"):
        run(recipe=Recipe(**{"outer": 3, "inner": 2, level: splitter}))


@pytest.mark.parametrize("level", ["outer", "inner"])
def test_a_generator_used_twice_is_refused(level):
    """The second recipe made of one generator finds it exhausted, and the message says so."""
    pairs = (
        [(LEFT, RIGHT)] if level == "outer" else [[(np.arange(10), np.arange(10, 20))]]
    )
    generator = (pair for pair in pairs)
    other = {"inner": 2} if level == "outer" else {"outer": [(LEFT, RIGHT)]}
    Recipe(**other, **{level: generator})
    with pytest.raises(RecipeError, match="iterator that was used up"):
        Recipe(**other, **{level: generator})


def test_a_generator_of_inner_generators_is_kept():
    """One recipe made of generators, at both levels, draws the same splits each time."""
    # too few inner lists: the error stays the same, too
    inner = (KFold(2).split(np.arange(8)) for _ in range(1))
    recipe = Recipe(outer=KFold(3).split(table()), inner=inner)
    for _ in range(2):
        with pytest.raises(
            RecipeError,
            match="inner holds 1 lists of splits, but there are 3 outer splits",
        ):
            recipe.plan(table(), labels())


def test_the_generator_of_a_grid_search_used_up_is_refused():
    """A GridSearchCV whose cv is an iterator gives its splits only once."""
    search = GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=KFold(3).split(table())
    )
    family, recipe = Family(search), Recipe(outer=None)
    assert len(recipe.plan(table(), labels(), family).inner[0]) == 3
    with pytest.raises(RecipeError, match=r"inner gives no split at all.*used up"):
        run(family, recipe=recipe)


@pytest.mark.parametrize("option", ["test_rows", "dev_rows"])
@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (np.arange(30) > 20, "boolean mask.*flatnonzero"),
        ([True] * 30, "boolean mask.*flatnonzero"),
        ([], "at least one"),
        ([1.0, 2.0], "whole numbers"),
        ([3, 3], "twice"),
        ([30], "names row 30, but the rows are 0 to 29"),
        ([-1], "names row -1"),
        (5, "list of row numbers"),
    ],
)
def test_fixed_rows_that_are_no_rows_are_refused(option, rows, match):
    """test_rows and dev_rows are row numbers of the whole data."""
    outer = {"outer": None} if option == "dev_rows" else {}
    with pytest.raises(RecipeError, match=f"{option}.*{match}"):
        run(recipe=Recipe(**outer, **{option: rows}))


def test_dev_rows_among_the_test_rows_are_refused():
    """A row cannot choose the setting and test the choice."""
    with pytest.raises(
        InputError, match="dev_rows holds row 20, which is not among the training rows"
    ):
        run(recipe=Recipe(test_rows=RIGHT, dev_rows=[5, 20]))


# Families


@pytest.mark.parametrize(
    ("estimator", "match"),
    [
        (
            KNeighborsClassifier,
            r"KNeighborsClassifier is a class, no estimator; use KNeighborsClassifier\(\)",
        ),
        ("knn", "'knn' is no estimator"),
        (None, "None is no estimator"),
        (5, "5 is no estimator"),
        (lambda X: X, "is no estimator"),
        (object(), "is no estimator"),
        ([KNeighborsClassifier()], "is no estimator"),
        (StandardScaler(), "StandardScaler has no predict"),
        (make_pipeline(StandardScaler(), PCA()), "has no predict"),
        (
            Pipeline([("scale", StandardScaler()), ("nothing", "passthrough")]),
            "has no predict",
        ),
        (GridSearchCV, r"GridSearchCV is a class"),
        (KFold(3), "is no estimator"),
        (np.arange(3), "is no estimator"),
        (Family(KNeighborsClassifier()), "a Family already"),
    ],
)
def test_what_is_no_estimator_is_refused(estimator, match):
    """An estimator can be cloned, fitted and used to predict; the message names what is missing."""
    with pytest.raises(WrongTypeError, match=match):
        Family(estimator, {})


@pytest.mark.parametrize(
    "given",
    [
        KNeighborsClassifier,
        "knn",
        None,
        StandardScaler(),
        (KNeighborsClassifier(), {}, 3),
    ],
)
def test_run_refuses_what_is_no_family(given):
    """The family argument of run is checked too."""
    with pytest.raises(WrongTypeError, match=r"class|no estimator|no predict"):
        run(given)


@pytest.mark.parametrize("given", [KNeighborsClassifier, "knn", None, StandardScaler()])
def test_the_estimator_of_scikit_learns_front_door_is_checked_too(given):
    """NestedCV refuses a wrong estimator in fit."""
    with pytest.raises(WrongTypeError, match=r"class|no estimator|no predict"):
        NestedCV(given, {}).fit(table(), labels())


def test_an_empty_pipeline_is_refused():
    """A Pipeline needs a step."""
    with pytest.raises(FamilyError, match="no steps"):
        Family(Pipeline([]), {})


UNCOMPARABLE = {
    "empty": ({}, "at least one family"),
    "nested": ({"a": {"b": VOTES}}, "'a' is a dict inside a dict"),
    "two tasks": ({"a": VOTES, "b": MEANS}, "one task"),
    "two cvs": (
        {
            "a": Family(GridSearchCV(KNeighborsClassifier(), {}, cv=3)),
            "b": Family(GridSearchCV(GaussianNB(), {}, cv=4)),
        },
        "different inner splitters.*give inner=",
    ),
    "two losses": (
        {
            "a": Family(GridSearchCV(KNeighborsClassifier(), {}, scoring="f1")),
            "b": VOTES,
        },
        "needs one loss.*give loss=",
    ),
}


@pytest.mark.parametrize(("families", "match"), UNCOMPARABLE.values(), ids=UNCOMPARABLE)
def test_families_that_cannot_be_compared_are_refused(families, match):
    """A comparison needs families of one task, one loss and one inner splitter."""
    with pytest.raises(InputError, match=match):
        run(families, recipe=Recipe(outer=3))


@pytest.mark.parametrize(
    ("search", "match"),
    [
        (
            GridSearchCV(KNeighborsClassifier(), {}, refit=lambda results: 0),
            "refit=<function>",
        ),
        (
            GridSearchCV(
                KNeighborsClassifier(), {}, scoring=["f1", "accuracy"], refit="f1"
            ),
            "several metrics",
        ),
        (
            GridSearchCV(KNeighborsClassifier(), {}, scoring={"a": "f1"}, refit="a"),
            "several metrics",
        ),
    ],
)
def test_a_grid_search_that_does_not_choose_by_one_metric_is_refused(search, match):
    """A rule or several metrics of a GridSearchCV are not silently left out."""
    with pytest.raises(FamilyError, match=match):
        Family(search)


def test_a_grid_with_a_grid_search_is_refused():
    """A GridSearchCV has a grid; two of them are one too many."""
    with pytest.raises(FamilyError, match="brings its own grid"):
        Family(
            GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}),
            {"n_neighbors": [3]},
        )


GRIDS = {
    "empty list": ([], FamilyError, r"\[\] has no settings; \{\} is one setting"),
    "empty tuple": ((), FamilyError, "has no settings"),
    "no values": ({"n_neighbors": []}, FamilyError, "no values for 'n_neighbors'"),
    "empty range": (
        {"n_neighbors": range(0)},
        FamilyError,
        "no values for 'n_neighbors'",
    ),
    "empty array": (
        {"n_neighbors": np.array([])},
        FamilyError,
        "no values for 'n_neighbors'",
    ),
    "no values in the second": (
        [{"n_neighbors": [1]}, {"p": []}],
        FamilyError,
        "no values for 'p'",
    ),
    "scalar": (
        {"n_neighbors": 3},
        FamilyError,
        r"n_neighbors=3.*\{'n_neighbors': \[3\]\}",
    ),
    "string": (
        {"weights": "uniform"},
        FamilyError,
        r"weights='uniform'.*\{'weights': \['uniform'\]\}",
    ),
    "None": (
        {"metric_params": None},
        FamilyError,
        r"metric_params=None.*\{'metric_params': \[None\]\}",
    ),
    "set": ({"n_neighbors": {1, 3}}, FamilyError, r"no list of values"),
    "generator": (
        {"n_neighbors": (k for k in [1, 3])},
        FamilyError,
        r"no list of values",
    ),
    "dict of values": ({"n_neighbors": {"low": 1}}, FamilyError, r"no list of values"),
    "matrix": ({"n_neighbors": np.array([[1, 3]])}, FamilyError, "2 dimensions"),
    "zero-dimensional": ({"n_neighbors": np.array(3)}, FamilyError, "dimensions"),
    "key that is no name": ({3: [1]}, FamilyError, "key 3"),
    "text": ("n_neighbors", WrongTypeError, "dict or a list of dicts"),
    "number": (3, WrongTypeError, "dict or a list of dicts"),
    "pairs": ([("n_neighbors", [1, 3])], WrongTypeError, "dict or a list of dicts"),
}


@pytest.mark.parametrize("grid", GRIDS)
def test_a_grid_without_values_is_refused(grid):
    """A grid is a dict, or a list of dicts, of lists; the message shows the right form."""
    given, error, match = GRIDS[grid]
    with pytest.raises(error, match=match):
        Family(KNeighborsClassifier(), given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: cvnb.knn(k=[]),
        lambda: cvnb.knn(k=range(5, 5)),
        lambda: cvnb.ridge(alpha=np.array([])),
        lambda: cvnb.logistic(C=iter([])),
        lambda: cvnb.elastic_net(l1_ratio=()),
        lambda: cvnb.tree(max_leaf_nodes=[]),
    ],
)
def test_a_short_hand_without_values_is_refused(make):
    """An empty list of values names its axis."""
    with pytest.raises(
        FamilyError, match=r"no values for '(k|alpha|C|l1_ratio|max_leaf_nodes)'"
    ):
        make()


@pytest.mark.parametrize(
    ("estimator", "grid", "match"),
    [
        (
            KNeighborsClassifier(),
            {"k": [1]},
            r"has no parameter 'k'; it has .*n_neighbors",
        ),
        (KNeighborsClassifier(), {"neighbors": [1]}, r"Did you mean 'n_neighbors'\?"),
        (
            KNeighborsClassifier(),
            [{"n_neighbors": [1]}, {"alpha": [1]}],
            "no parameter 'alpha'",
        ),
        (
            make_pipeline(StandardScaler(), Ridge()),
            {"alpha": [1]},
            r"Did you mean 'ridge__alpha'\?",
        ),
        (
            make_pipeline(StandardScaler(), Ridge()),
            {"ridge__k": [1]},
            r"no parameter 'ridge__k'; it has .*ridge__alpha",
        ),
        (
            make_pipeline(StandardScaler(), Ridge()),
            {"Ridge__alpha": [1]},
            r"Did you mean 'ridge__alpha'\?",
        ),
        (
            make_pipeline(StandardScaler(), Ridge()),
            {"ridge_alpha": [1]},
            r"Did you mean 'ridge__alpha'\?",
        ),
    ],
)
def test_an_unknown_key_names_the_known_ones(estimator, grid, match):
    """A misspelt parameter is named with the estimator, its parameters and the likely one."""
    with pytest.raises(FamilyError, match=match):
        Family(estimator, grid)


def test_a_key_that_the_new_step_does_not_know_is_refused():
    """Where the grid brings the step itself, its parameters are those of the new step."""
    model = Pipeline([("model", Ridge())])
    with pytest.raises(FamilyError, match="n_neighbors"):
        run(
            Family(
                model,
                {
                    "model": [KNeighborsRegressor(), Lasso()],
                    "model__n_neighbors": [1, 3],
                },
            ),
            y=response(),
        )


PARAMETERS = {
    "k = 0": (
        KNeighborsClassifier(),
        {"n_neighbors": [0, 3]},
        r"'n_neighbors' parameter.*\[1, inf\).*Got 0",
    ),
    "k = -1": (
        KNeighborsClassifier(),
        {"n_neighbors": [-1, 3]},
        r"'n_neighbors' parameter.*\[1, inf\).*Got -1",
    ),
    "k = 1.5": (
        KNeighborsClassifier(),
        {"n_neighbors": [1.5, 3]},
        r"'n_neighbors' parameter.*Got 1\.5",
    ),
    "k = nan": (
        KNeighborsClassifier(),
        {"n_neighbors": [np.nan, 3]},
        r"'n_neighbors' parameter.*Got nan",
    ),
    "k = '3'": (
        KNeighborsClassifier(),
        {"n_neighbors": ["3"]},
        r"'n_neighbors' parameter.*Got '3'",
    ),
    "alpha = -1": (
        Ridge(),
        {"alpha": [-1.0, 1.0]},
        r"'alpha' parameter.*\[0\.0, inf\).*Got -1\.0",
    ),
    "alpha = nan": (Ridge(), {"alpha": [np.nan, 1.0]}, r"'alpha' parameter.*Got nan"),
    "alpha = None": (Ridge(), {"alpha": [None, 1.0]}, r"'alpha' parameter.*Got None"),
    "lasso alpha = -1": (
        Lasso(),
        {"alpha": [-1.0, 1.0]},
        r"'alpha' parameter.*Got -1\.0",
    ),
    "net alpha = nan": (
        ElasticNet(),
        {"alpha": [np.nan]},
        r"'alpha' parameter.*Got nan",
    ),
    "l1_ratio = 2": (
        ElasticNet(),
        {"l1_ratio": [2.0, 0.5]},
        r"'l1_ratio' parameter.*Got 2\.0",
    ),
    "behind a scaler": (
        make_pipeline(StandardScaler(), Ridge()),
        {"ridge__alpha": [1.0, -2.0]},
        r"alpha.*Got -2\.0",
    ),
    "two deep": (
        make_pipeline(make_pipeline(Ridge())),
        {"pipeline__ridge__alpha": [1.0, -2.0]},
        r"alpha.*Got -2\.0",
    ),
    "brought by the grid": (
        Pipeline([("model", Ridge())]),
        {"model": [Ridge(), Ridge(alpha=-2.0)]},
        r"alpha.*Got -2\.0",
    ),
    "of the transformer": (
        make_pipeline(PCA(), Ridge()),
        {"pca__n_components": [-1, 1]},
        r"n_components.*Got -1",
    ),
    "not in the grid": (
        Ridge(alpha=-3.0),
        {"fit_intercept": [True, False]},
        r"alpha.*Got -3\.0",
    ),
    "no grid": (Ridge(alpha=-3.0), {}, r"alpha.*Got -3\.0"),
}


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_parameter_out_of_range_is_refused(parameter):
    """The message has name, range and value, at any depth of the estimator."""
    estimator, grid, match = PARAMETERS[parameter]
    y = labels() if isinstance(estimator, KNeighborsClassifier) else response()
    recipe = RECIPE if grid else Recipe.external_cv(3)
    with pytest.raises(FamilyError, match=match):
        run(Family(estimator, grid), y=y, recipe=recipe)


@pytest.mark.parametrize("C", [0, 0.0, -1.0, np.nan])
def test_a_C_that_is_not_positive_is_refused(C):
    """C = 0, below 0 and NaN are out of the range of LogisticRegression and SVC."""
    for model in (LogisticRegression(), SVC()):
        with pytest.raises(FamilyError, match=rf"'C' parameter.*\(0\.0, inf.*Got {C}"):
            run(Family(model, {"C": [1.0, C]}))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: cvnb.knn(k=0), "k=0.*n_neighbors"),
        (lambda: cvnb.knn(k=[3, -1]), "k=-1.*n_neighbors"),
        (lambda: cvnb.knn(k=[3, np.nan]), "k=nan.*n_neighbors"),
        (lambda: cvnb.knn(k=[1.5]), r"k=1\.5.*n_neighbors"),
        (lambda: cvnb.knn(k="3"), "k='3'.*n_neighbors"),
        (lambda: cvnb.knn(k=[1], weights="square"), "weights"),
        (lambda: cvnb.knn(k=[1], metric="euclid"), "metric"),
        (lambda: cvnb.knn(task="regress"), "task='regress' must be 'auto'"),
        (lambda: cvnb.ridge(alpha=[1.0, -1.0]), "alpha=-1.*alpha"),
        (lambda: cvnb.ridge(alpha=np.array([1.0, np.nan])), "alpha=nan"),
        (lambda: cvnb.lasso(alpha=-1.0), "alpha=-1"),
        (lambda: cvnb.elastic_net(l1_ratio=[1.5]), r"l1_ratio=1\.5"),
        (lambda: cvnb.logistic(C=[0.0]), "C=0"),
        (lambda: cvnb.logistic(C=[-2.0]), "C=-2"),
        (lambda: cvnb.logistic(C=[np.nan]), "C=nan"),
        (lambda: cvnb.tree(max_leaf_nodes=[1]), "max_leaf_nodes=1"),
        (lambda: cvnb.boosting(n_estimators=[0]), "n_estimators=0"),
        (lambda: cvnb.boosting(learning_rate=-1.0), "learning_rate"),
        (lambda: cvnb.forest(n_estimators=[2.5]), r"n_estimators=2\.5"),
    ],
)
def test_a_bad_value_of_a_short_hand_is_refused_where_it_is_typed(make, match):
    """The short-hand itself fails, not a later run, and names the setting as typed."""
    with pytest.raises(FamilyError, match=match):
        make()


def test_a_grid_without_inner_splits_is_refused():
    """Several settings and nothing to choose on: the message names internal_cv."""
    with pytest.raises(RecipeError, match=r"the grid has 2; give inner=5.*internal_cv"):
        run(recipe=Recipe.external_cv(3))


# Losses


WRONG_LOSSES = {
    "unknown": (
        {"loss": "hinge"},
        LossError,
        "unknown loss 'hinge'; the known ones are zero_one, squared, absolute",
    ),
    "misspelt": ({"loss": "zero_on"}, LossError, "Did you mean 'zero_one'"),
    "score": (
        {"loss": "accuracy"},
        LossError,
        r"unknown loss 'accuracy'.*scorer use scoring=",
    ),
    "score without loss": (
        {"loss": "roc_auc"},
        LossError,
        r"unknown loss 'roc_auc'.*scorer use scoring=",
    ),
    "negative loss": (
        {"loss": "neg_log_loss"},
        LossError,
        r"unknown loss 'neg_log_loss'.*scorer use scoring=",
    ),
    "number": ({"loss": 5}, WrongTypeError, "5 is neither a name nor a function"),
    "list": ({"loss": ["log"]}, WrongTypeError, "neither a name nor a function"),
    "scorer": ({"loss": make_scorer(accuracy_score)}, LossError, "scoring="),
    "both": (
        {"loss": "log", "scoring": "f1"},
        LossError,
        "loss='log' and scoring='f1' together; give one",
    ),
    "both of one kind": (
        {"loss": "zero_one", "scoring": "accuracy"},
        LossError,
        "together; give one",
    ),
    "misspelt scorer": (
        {"scoring": "acuracy"},
        LossError,
        "unknown scoring 'acuracy'.*Did you mean 'accuracy'",
    ),
    "loss as scorer": (
        {"scoring": "zero_one"},
        LossError,
        "unknown scoring 'zero_one'",
    ),
    "several": ({"scoring": ["f1", "accuracy"]}, LossError, "several metrics"),
    "dict": ({"scoring": {"a": "f1"}}, LossError, "several metrics"),
    "number as scorer": (
        {"scoring": 5},
        WrongTypeError,
        "neither a scorer's name nor a callable",
    ),
    "metric": (
        {"scoring": accuracy_score},
        LossError,
        "accuracy_score is a metric.*, not a scorer; use .*scoring='accuracy'",
    ),
}


@pytest.mark.parametrize(
    ("options", "error", "match"), WRONG_LOSSES.values(), ids=WRONG_LOSSES
)
def test_an_unknown_loss_names_the_known_ones(options, error, match):
    """loss= is a name or a function, scoring= a scorer; only one of them is allowed."""
    with pytest.raises(error, match=match):
        run(**options)


@pytest.mark.parametrize(
    "model",
    [LinearSVC(), SVC(), Perceptron(), RidgeClassifier()],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("options", [{"loss": "log"}, {"scoring": "neg_log_loss"}])
def test_the_log_loss_of_a_model_without_probabilities_is_refused(model, options):
    """The model is named."""
    with pytest.raises(LossError, match=f"predict_proba.*{type(model).__name__}"):
        run(
            Family(make_pipeline(StandardScaler(), model)),
            recipe=Recipe.external_cv(3),
            **options,
        )


def test_the_log_loss_of_one_setting_without_probabilities_is_refused():
    """Where only one setting has no probabilities it is named."""
    family = Family(SGDClassifier(), {"loss": ["log_loss", "hinge"]})
    with pytest.raises(LossError, match=r"predict_proba.*loss='hinge'"):
        run(family, loss="log")


@pytest.mark.parametrize("loss", ["zero_one", "zero-one", "log"])
def test_a_loss_of_classes_is_refused_for_a_regression(loss):
    """Counting mistakes of real numbers would call everything a mistake."""
    with pytest.raises(LossError, match=r"needs classes.*loss='squared'|predict_proba"):
        run(MEANS, y=response(), loss=loss)


def test_the_accuracy_of_a_regression_is_refused():
    """scoring="accuracy" is the zero-one loss, and is refused like it."""
    with pytest.raises(LossError, match="needs classes"):
        run(MEANS, y=response(), scoring="accuracy")


@pytest.mark.parametrize(
    "options",
    [{"loss": "squared"}, {"loss": "absolute"}, {"scoring": "neg_mean_squared_error"}],
)
def test_a_loss_of_numbers_is_refused_for_words(options):
    """Words have no difference."""
    with pytest.raises(LossError, match=r"needs numbers.*'yes'.*zero_one"):
        run(y=np.array(["yes", "no"] * 15), **options)


def test_a_scorer_that_takes_no_weights_is_refused_with_weights():
    """Weights that the metric would leave out are not silently left out."""
    scorer = make_scorer(lambda y, prediction: 0.0)
    with pytest.raises(LossError, match="takes no sample_weight"):
        run(
            Family(GaussianNB()),
            recipe=Recipe.external_cv(3),
            scoring=scorer,
            sample_weight=np.ones(30),
        )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"select": "median"}, "select='median' is not known; use 'min'"),
        ({"path": "gpu"}, "path='gpu' is not known; use 'auto'"),
        ({"progress": "loud"}, "progress='loud' is not known; use 'auto' or 'off'"),
    ],
)
def test_unknown_options_of_a_run_name_the_known_ones(options, match):
    """select, path and progress are words."""
    with pytest.raises(InputError, match=match):
        RECIPE.run(VOTES, table(), labels(), **options)


# Around a run


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "5", '{"format": "another 1"}']
)
def test_a_text_that_is_no_plan_is_refused(text):
    """Plan.from_json reads what Plan.to_json wrote."""
    with pytest.raises(RecipeError, match=r"no plan written by Plan\.to_json"):
        Plan.from_json(text)


class Untagged(TransformerMixin, BaseEstimator):
    """A transformer without any sign of a predictor."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def test_a_transformer_of_the_users_is_refused():
    """A class without predict is named."""
    with pytest.raises(WrongTypeError, match="Untagged has no predict"):
        Family(Untagged(), {})


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(outer=StratifiedKFold(4), inner=2),
        Recipe(outer=4, inner=2, stratify=True),
    ],
)
def test_a_class_smaller_than_the_folds_is_refused_with_stratify_true(recipe):
    """Class, size and the largest number of folds that works are named."""
    y = np.r_[[1] * 3, [0] * 27]
    with pytest.raises(InfeasibleError, match=r"Class 1 has 3 rows.*3"):
        run(recipe=recipe, y=y)


def test_every_error_is_a_value_error():
    """They are caught as ValueError, like scikit-learn's; a wrong type also as TypeError."""
    with pytest.raises(ValueError, match="31 outer folds"):
        run(recipe=Recipe(outer=31, inner=2))
    with pytest.raises(TypeError, match="is a class"):
        Family(RandomForestClassifier)


def test_refusals_are_silent():
    """Nothing is warned about on the way to a refusal."""
    with (
        warnings.catch_warnings(record=True, action="always") as caught,
        pytest.raises(DataError, match="NaN"),
    ):
        run(X=with_value(table(), 4, 2, np.nan))
    assert caught == []
