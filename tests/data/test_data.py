"""Every form of table and labels gives the numbers of plain arrays, and stays unchanged."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_transformer,
)
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    VotingRegressor,
)
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cvnb import Family, Recipe, boosting, forest, knn, ridge, tree

RECIPE = Recipe(outer=3, inner=2, seed=0)
NAMES = ["a", "b", "c", "d"]


def whole_table():
    """Whole numbers exact in every dtype from int8 to float64; no two distances are equal."""
    return np.random.default_rng(3).integers(0, 100, size=(30, 4))


def response():
    X = whole_table()
    return X[:, 0] + np.sin(X[:, 1])


def labels():
    return np.array(["no", "yes"])[(whole_table()[:, 0] > 45).astype(int)]


def means(k=(1, 3, 5)):
    return Family(KNeighborsRegressor(), {"n_neighbors": list(k)})


def votes(k=(1, 3, 5)):
    return Family(KNeighborsClassifier(), {"n_neighbors": list(k)})


def with_hole(X):
    """Floats with one value missing."""
    X = X.astype(float)
    X[4, 1] = np.nan
    return X


def run(family, X, y, recipe=RECIPE, **options):
    return recipe.run(family, X, y, progress="off", **options)


def assert_same_numbers(result, expected):
    """The same choices, curves, fold risks and predictions."""
    assert result.chosen == expected.chosen
    np.testing.assert_allclose(result.inner_curves, expected.inner_curves, rtol=1e-12)
    np.testing.assert_allclose(result.fold_risks, expected.fold_risks, rtol=1e-12)
    if expected.predictions.dtype.kind == "f":
        np.testing.assert_allclose(result.predictions, expected.predictions, rtol=1e-12)
    else:
        np.testing.assert_array_equal(result.predictions, expected.predictions)


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts the first class and keeps every X that it is given."""

    tables: list = []  # noqa: RUF012 - shared by the clones on purpose

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        self.tables.append(X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        self.tables.append(X)
        return np.repeat(self.classes_[:1], X.shape[0])


@pytest.fixture
def tables():
    """The tables that the recorder got in this test."""
    Recorder.tables.clear()
    yield Recorder.tables
    Recorder.tables.clear()


# X


TABLES = {
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "a list of arrays": list,
    "Fortran order": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "rows backwards": lambda X: X[::-1].copy()[::-1],
    "a matrix": np.asmatrix,
    "float64": lambda X: X.astype(np.float64),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "other byte order": lambda X: X.astype(np.dtype(np.float64).newbyteorder()),
    "int8": lambda X: X.astype(np.int8),
    "uint8": lambda X: X.astype(np.uint8),
    "int32": lambda X: X.astype(np.int32),
    "uint64": lambda X: X.astype(np.uint64),
    "objects": lambda X: X.astype(object),
    "objects, int and float": lambda X: np.array(
        [[float(v) if v % 2 else int(v) for v in row] for row in X], object
    ),
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
    "lil": sp.lil_matrix,
    "bsr": sp.bsr_matrix,
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "sparse int8": lambda X: sp.csr_matrix(X.astype(np.int8)),
    "sparse float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, names that are numbers": pd.DataFrame,
    "pandas, two rows of names": lambda X: pd.DataFrame(
        X, columns=pd.MultiIndex.from_product([list("ab"), list("cd")])
    ),
    "pandas int8": lambda X: pd.DataFrame(X.astype(np.int8), columns=NAMES),
    "pandas nullable": lambda X: pd.DataFrame(X, columns=NAMES).astype("Int64"),
    "pandas nullable float": lambda X: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "pandas arrow": lambda X: pd.DataFrame(X, columns=NAMES).astype("int64[pyarrow]"),
    "pandas mixed": lambda X: pd.DataFrame(X, columns=NAMES).astype(
        {"a": "float32", "b": "uint8", "c": "Int64"}
    ),
    "pandas objects": lambda X: pd.DataFrame(X, columns=NAMES).astype(object),
    "pandas sparse": lambda X: pd.DataFrame(X, columns=NAMES).astype(
        pd.SparseDtype(float, fill_value=0.0)
    ),
    "polars decimals": lambda X: pl.DataFrame(X, schema=NAMES).cast(pl.Decimal(10, 2)),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars mixed": lambda X: pl.DataFrame(X, schema=NAMES).cast(
        {"a": pl.Float32, "b": pl.UInt8, "c": pl.Int16}
    ),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("form", TABLES)
def test_a_table_in_any_form_gives_the_same_numbers(form):
    """Lists, views, dtypes, sparse formats and frames of the same values give the same numbers."""
    X, y = whole_table(), response()
    assert_same_numbers(
        run(means(), TABLES[form](X), y), run(means(), X.astype(float), y)
    )


BITS = {
    "array": lambda X: X,
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "csr": sp.csr_matrix,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas nullable": lambda X: pd.DataFrame(X, columns=NAMES).astype("boolean"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


@pytest.mark.parametrize("form", BITS)
def test_a_table_of_bools_counts_as_zeros_and_ones(form):
    """True is 1 and False is 0 in every form of table."""
    X, y = whole_table() > 50, response()
    family = Family(Ridge(solver="lsqr", tol=1e-14), {"alpha": [0.1, 1.0, 10.0]})
    result, expected = run(family, BITS[form](X), y), run(family, X.astype(float), y)
    np.testing.assert_allclose(result.inner_curves, expected.inner_curves, rtol=1e-9)
    assert result.chosen == expected.chosen


def test_differences_of_unsigned_bytes_do_not_wrap():
    """0 and 255 are far apart in uint8, so the nearest neighbour is the one nearby."""
    X = np.array([[0], [1], [2], [253], [254], [255]] * 3, dtype=np.uint8)
    y = np.array([0, 0, 0, 1, 1, 1] * 3)
    assert run(votes([1]), X, y).risk == 0.0


def test_sparse_reaches_the_estimator_as_csr(tables):
    """A sparse table is never made dense on its way, and its rows can be picked."""
    run(
        Family(Recorder()),
        sp.coo_matrix(whole_table()),
        labels(),
        Recipe.external_cv(3),
    )
    assert {type(X) for X in tables} == {sp.csr_matrix}


def test_sparse_entries_given_twice_are_summed():
    """An entry given twice in a COO table is the sum of both."""
    X, y = whole_table().astype(float), response()
    rows, columns = np.indices(X.shape)
    twice = (np.r_[rows.ravel(), rows.ravel()], np.r_[columns.ravel(), columns.ravel()])
    halves = sp.coo_matrix((np.r_[X.ravel(), X.ravel()] / 2, twice), shape=X.shape)
    assert_same_numbers(run(means(), halves, y), run(means(), X, y))


def test_one_column_is_a_table():
    """X of one column and X as a one-column frame give the same numbers."""
    X, y = whole_table()[:, :1], response()
    assert_same_numbers(
        run(means(), pd.DataFrame(X, columns=["a"]), y), run(means(), X, y)
    )


# y


LABELS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda y: y.astype(object),
    "plain strings in objects": lambda y: np.array([str(v) for v in y], dtype=object),
    "Series": pd.Series,
    "Series of objects": lambda y: pd.Series(y.astype(object)),
    "string Series": lambda y: pd.Series(y, dtype="string"),
    "arrow string Series": lambda y: pd.Series(y, dtype="string[pyarrow]"),
    "category": lambda y: pd.Series(y, dtype="category"),
    "categories with one too many": lambda y: pd.Series(
        pd.Categorical(y, categories=["yes", "maybe", "no"])
    ),
    "Index": pd.Index,
    "polars": lambda y: pl.Series(y.tolist()),
    "polars categorical": lambda y: pl.Series(y.tolist(), dtype=pl.Categorical),
    "polars enum": lambda y: pl.Series(y.tolist(), dtype=pl.Enum(["yes", "no"])),
}


@pytest.mark.parametrize("form", LABELS)
def test_string_labels_in_any_form_give_the_same_numbers(form):
    """Arrays, lists, series and categories of the same words are the same classes."""
    X, y = whole_table(), labels()
    assert_same_numbers(run(votes(), X, LABELS[form](y)), run(votes(), X, y))


def forms(nullable, arrow):
    """Forms of y that labels and numbers can have, with these dtypes of pandas."""
    return {
        "list": list,
        "objects": lambda y: y.astype(object),
        "Series": pd.Series,
        "nullable Series": lambda y: pd.Series(y, dtype=nullable),
        "arrow Series": lambda y: pd.Series(y, dtype=arrow),
        "polars": lambda y: pl.Series(y),
    }


WHOLE_LABELS = forms("Int64", "int64[pyarrow]") | {
    "uint8": lambda y: y.astype(np.uint8),
    "int8": lambda y: y.astype(np.int8),
    "whole floats": lambda y: y.astype(float),
    "category": lambda y: pd.Series(y, dtype="category"),
    "polars UInt8": lambda y: pl.Series(y, dtype=pl.UInt8),
    "every second": lambda y: np.repeat(y, 2)[::2],
}


@pytest.mark.parametrize("form", WHOLE_LABELS)
def test_whole_labels_in_any_form_give_the_same_numbers(form):
    """Whole numbers as labels are the same classes in every dtype and series."""
    X, y = whole_table(), (labels() == "yes").astype(np.int64) + 1
    assert_same_numbers(run(votes(), X, WHOLE_LABELS[form](y)), run(votes(), X, y))


TRUTHS = forms("boolean", "bool[pyarrow]")


@pytest.mark.parametrize("form", TRUTHS)
def test_bool_labels_in_any_form_give_the_same_numbers(form):
    """True and False are two classes in every form."""
    X, y = whole_table(), labels() == "yes"
    assert_same_numbers(run(votes(), X, TRUTHS[form](y)), run(votes(), X, y))


NUMBERS = forms("Float64", "double[pyarrow]") | {
    "backwards": lambda y: y[::-1].copy()[::-1],
    "longdouble": lambda y: y.astype(np.longdouble),
    "other byte order": lambda y: y.astype(np.dtype(np.float64).newbyteorder()),
}


@pytest.mark.parametrize("form", NUMBERS)
def test_a_response_in_any_form_gives_the_same_numbers(form):
    """Floats are the same response in every form."""
    X, y = whole_table(), response()
    assert_same_numbers(run(means(), X, NUMBERS[form](y)), run(means(), X, y))


@pytest.mark.parametrize(
    "column",
    [
        lambda y: y[:, None],
        lambda y: pd.DataFrame({"y": y}),
        lambda y: pl.DataFrame({"y": y}),
    ],
)
def test_a_column_vector_as_y_is_flattened_with_a_warning(column):
    """y of shape (m, 1) is m values, with the warning of scikit-learn."""
    X, y = whole_table(), response()
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        result = run(means(), X, column(y))
    assert_same_numbers(result, run(means(), X, y))


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.arange(60) % 20, True),
        (np.arange(60) % 21, False),
        ((np.arange(60) % 20).astype(float), True),
        (np.arange(60) % 4 + 0.5, False),
        (np.arange(60) % 2 == 0, True),
        (np.array([f"c{i % 25}" for i in range(60)]), True),
        (pd.Series(np.arange(60) % 25, dtype="category"), True),
        (pl.Series([f"c{i % 25}" for i in range(60)], dtype=pl.Categorical), True),
        (pd.Series(np.arange(60) % 21, dtype="Int64"), False),
        (pd.Series(np.arange(60) % 2 == 0, dtype="boolean"), True),
    ],
    ids=[
        "20 whole", "21 whole", "20 whole floats", "fractions", "bool", "strings", "25 categories",
        "polars categories", "21 nullable", "nullable bool",
    ],
)  # fmt: skip
def test_short_hands_read_the_task_from_y(y, classes, rng):
    """Bools, strings, categories and up to 20 distinct whole numbers are classes."""
    recipe = Recipe(outer=2, inner=None, stratify=False)
    assert (
        is_classifier(run(knn(k=1), rng.normal(size=(60, 2)), y, recipe).predictor())
        is classes
    )


@pytest.mark.parametrize("short_hand", [knn, ridge, tree, boosting, forest])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_task_of_a_short_hand_can_be_given(short_hand, task):
    """task= overrides the task of y."""
    family = short_hand([1.0] if short_hand is ridge else [2], task=task)
    result = run(family, whole_table(), np.arange(30) % 3, Recipe.external_cv(3))
    assert is_classifier(result.predictor()) is (task == "classification")


# Frames


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_reach_the_estimator_as_frames(frame, tables):
    """Every fit and every prediction gets a frame of the user's kind, with its names and dtypes."""
    X = frame(
        {
            "a": whole_table()[:, 0].astype(np.float32),
            "b": ["u", "v", "w"] * 10,
            "c": [True, False] * 15,
        }
    )
    run(Family(Recorder(), {"depth": [1, 2]}), X, labels())
    assert {type(part) for part in tables} == {frame}
    assert all(list(part.columns) == ["a", "b", "c"] for part in tables)
    assert all(list(part.dtypes) == list(X.dtypes) for part in tables)


def mixed_frame(frame):
    X = whole_table()
    kinds = np.array(["u", "v", "w"])[X[:, 2] % 3]
    return frame(
        {"size": X[:, 0].astype(float), "kind": kinds.tolist(), "noise": X[:, 1]}
    )


def by_name():
    columns = make_column_transformer(
        (StandardScaler(), ["size"]),
        (OneHotEncoder(handle_unknown="ignore"), ["kind"]),
        remainder="drop",
    )
    return make_pipeline(columns, LogisticRegression())


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_transformer_picks_columns_by_name(frame):
    """A ColumnTransformer finds columns by name in every split; the folds are scikit-learn's."""
    X, y = mixed_frame(frame), labels()
    result = run(Family(by_name()), X, y, Recipe(outer=KFold(3), inner=None))
    expected = cross_val_score(by_name(), mixed_frame(pd.DataFrame), y, cv=KFold(3))
    np.testing.assert_allclose(result.fold_risks, 1 - expected, atol=1e-12)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_missing_values_of_a_frame_reach_an_imputer_by_name(frame):
    """An imputer on the one column with missing values makes the frame usable."""
    X, y = mixed_frame(pd.DataFrame), labels()
    X.loc[[3, 7], "size"] = np.nan
    steps = ColumnTransformer(
        [("size", make_pipeline(SimpleImputer(), StandardScaler()), ["size"])]
    )
    model = make_pipeline(steps, LogisticRegression())
    given = X if frame is pd.DataFrame else pl.from_pandas(X, nan_to_null=False)
    result = run(Family(model), given, y, Recipe(outer=KFold(3), inner=None))
    np.testing.assert_allclose(
        result.fold_risks, 1 - cross_val_score(model, X, y, cv=KFold(3)), atol=1e-12
    )


def test_category_columns_reach_the_estimator():
    """Columns of dtype category keep it: a booster that reads it gives scikit-learn's numbers."""
    X = mixed_frame(pd.DataFrame).astype({"kind": "category"})
    model = HistGradientBoostingClassifier(
        max_iter=3,
        min_samples_leaf=2,
        categorical_features="from_dtype",
        random_state=0,
    )
    result = run(Family(model), X, labels(), Recipe(outer=KFold(3), inner=None))
    np.testing.assert_allclose(
        result.fold_risks,
        1 - cross_val_score(model, X, labels(), cv=KFold(3)),
        atol=1e-12,
    )


def test_an_array_of_words_reaches_its_encoder():
    """Strings in a two-dimensional array are columns, not texts."""
    X = np.array([["u", "v", "w"], ["x", "y", "z"]], dtype=object).T[
        whole_table()[:, :2] % 3, [0, 1]
    ]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    result = run(Family(model), X, labels(), Recipe(outer=KFold(3), inner=None))
    np.testing.assert_allclose(
        result.fold_risks,
        1 - cross_val_score(model, X, labels(), cv=KFold(3)),
        atol=1e-12,
    )


def test_a_list_of_mixed_rows_keeps_its_numbers():
    """Numbers and strings mixed in plain lists stay numbers and strings."""
    X = [[float(row[0]), "uvw"[row[2] % 3]] for row in whole_table()]
    columns = make_column_transformer(
        (StandardScaler(), [0]), (OneHotEncoder(handle_unknown="ignore"), [1])
    )
    model = make_pipeline(columns, LogisticRegression())
    result = run(Family(model), X, labels(), Recipe(outer=KFold(3), inner=None))
    expected = cross_val_score(model, np.array(X, dtype=object), labels(), cv=KFold(3))
    np.testing.assert_allclose(result.fold_risks, 1 - expected, atol=1e-12)


def test_a_list_of_mixed_rows_keeps_its_gaps():
    """A missing number among strings in plain lists is missing, not the string "nan"."""
    X = [
        [float(row[0]) if row[0] % 5 else np.nan, "uvw"[row[2] % 3]]
        for row in whole_table()
    ]
    columns = make_column_transformer(
        (SimpleImputer(), [0]), (OneHotEncoder(handle_unknown="ignore"), [1])
    )
    model = make_pipeline(columns, StandardScaler(), LogisticRegression())
    result = run(Family(model), X, labels(), Recipe(outer=KFold(3), inner=None))
    expected = cross_val_score(model, np.array(X, dtype=object), labels(), cv=KFold(3))
    np.testing.assert_allclose(result.fold_risks, 1 - expected, atol=1e-12)


def test_a_column_of_dates_may_be_dropped():
    """Dates, complex numbers and gaps are allowed in columns that a ColumnTransformer drops."""
    X = mixed_frame(pd.DataFrame)
    strange = X.assign(
        day=pd.date_range("2024-01-01", periods=30), phase=1j, gap=np.nan
    )
    result, expected = (
        run(Family(by_name()), table, labels(), Recipe.external_cv(3))
        for table in (strange, X)
    )
    np.testing.assert_array_equal(result.fold_risks, expected.fold_risks)


INDICES = {
    "shuffled": np.random.default_rng(3).permutation(30),
    "all equal": np.zeros(30, dtype=int),
    "backwards": np.arange(30)[::-1],
    "words": [f"row {i % 7}" for i in range(30)],
    "floats out of order": np.random.default_rng(3).permutation(30) + 0.5,
    "missing": [np.nan] * 30,
    "bool": [True, False] * 15,
    "dates": pd.date_range("2024-01-01", periods=30)[::-1],
    "two levels": pd.MultiIndex.from_product([[2, 1], range(15)]),
}


@pytest.mark.parametrize("index", INDICES)
def test_the_index_of_a_frame_means_nothing(index):
    """Rows are selected by position: a shuffled or repeated index changes no number."""
    X, y = whole_table(), response()
    frame = pd.DataFrame(X, columns=NAMES, index=INDICES[index])
    assert_same_numbers(
        run(means(), frame, pd.Series(y, index=INDICES[index])), run(means(), X, y)
    )


def test_series_are_matched_by_position():
    """y, groups and weights are matched to rows by position, whatever their index is."""
    X, y, groups, w = whole_table(), response(), np.arange(30) // 2, np.arange(30) + 1.0
    family = Family(Ridge(), {"alpha": [0.1, 10.0]})
    shuffled, backwards, other = (
        INDICES["shuffled"],
        INDICES["backwards"],
        np.roll(np.arange(30), 11),
    )
    result = run(
        family,
        pd.DataFrame(X, index=backwards),
        pd.Series(y, index=shuffled),
        groups=pd.Series(groups, index=other),
        sample_weight=pd.Series(w, index=shuffled),
    )
    assert_same_numbers(result, run(family, X, y, groups=groups, sample_weight=w))


@pytest.mark.parametrize(
    "form", [list, pd.Series, pl.Series, lambda g: pd.Series(g, dtype="category")]
)
def test_groups_in_any_form_give_the_same_splits(form):
    """Groups as strings in lists, series and categories give the same splits."""
    X, y, groups = (
        whole_table(),
        response(),
        np.array([f"g{i // 3}" for i in range(30)]),
    )
    assert RECIPE.plan(X, y, groups=form(groups)) == RECIPE.plan(X, y, groups=groups)


@pytest.mark.parametrize(
    "form",
    [
        list,
        pd.Series,
        pl.Series,
        lambda w: w.astype(np.float32),
        lambda w: w.astype(int),
    ],
)
def test_weights_in_any_form_give_the_same_numbers(form):
    """Weights in lists, series and other dtypes give the same numbers."""
    X, y, w = whole_table(), response(), np.arange(30) % 4 + 1.0
    family = Family(Ridge(), {"alpha": [0.1, 10.0]})
    assert_same_numbers(
        run(family, X, y, sample_weight=form(w)), run(family, X, y, sample_weight=w)
    )


# Missing values


TAKE_NAN = {
    "imputer": make_pipeline(SimpleImputer(), KNeighborsRegressor()),
    "scaler, then imputer": make_pipeline(StandardScaler(), KNNImputer(), Ridge()),
    "pipeline in a pipeline": make_pipeline(
        make_pipeline(SimpleImputer(), StandardScaler()), Ridge()
    ),
    "histogram boosting": HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=2),
    "boosting behind a scaler": make_pipeline(
        StandardScaler(), HistGradientBoostingRegressor(max_iter=2)
    ),
    "distances that skip": make_pipeline(
        StandardScaler(), KNeighborsRegressor(metric="nan_euclidean")
    ),
    "transformed target": TransformedTargetRegressor(
        make_pipeline(SimpleImputer(), Ridge())
    ),
    "vote of imputing pipelines": VotingRegressor(
        [("ridge", make_pipeline(SimpleImputer(), Ridge()))]
    ),
    "columns by number": make_pipeline(
        ColumnTransformer([("whole", "passthrough", [0, 2])]), Ridge()
    ),
}


@pytest.mark.parametrize(
    "table", ["array", "objects", "sparse", "pandas", "pandas nullable", "polars"]
)
def test_an_imputer_takes_missing_values_in_any_table(table):
    """NaN in an array, sparse matrix or frame reaches an imputer; the folds are scikit-learn's."""
    X, y = with_hole(whole_table()), response()
    forms = {
        "array": X,
        "objects": X.astype(object),
        "sparse": sp.csr_matrix(X),
        "pandas": pd.DataFrame(X, columns=NAMES),
        "pandas nullable": pd.DataFrame(X, columns=NAMES).astype("Float64"),
        "polars": pl.DataFrame(X, schema=NAMES),
    }
    model = make_pipeline(SimpleImputer(), KNeighborsRegressor())
    result = run(Family(model), forms[table], y, Recipe(outer=KFold(3), inner=None))
    if table == "sparse":  # its zeros are entries that are not stored
        X = forms[table]
    expected = -cross_val_score(
        model, X, y, cv=KFold(3), scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(result.fold_risks, expected, rtol=1e-10)


@pytest.mark.parametrize("model", TAKE_NAN)
def test_missing_values_pass_where_the_estimator_takes_them(model):
    """NaN in X is allowed if a step or the model can handle it."""
    model, X, y = TAKE_NAN[model], with_hole(whole_table()), response()
    result = run(Family(model), X, y, Recipe(outer=KFold(3), inner=None))
    expected = -cross_val_score(
        model, X, y, cv=KFold(3), scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(result.fold_risks, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(), BaggingClassifier(DecisionTreeClassifier(), 2)]
)
def test_trees_take_missing_values(model):
    """A tree, alone or bagged, is fitted on X with NaN."""
    model.set_params(random_state=0)
    X, y = with_hole(whole_table()), labels()
    result = run(Family(model), X, y, Recipe(outer=KFold(3), inner=None))
    np.testing.assert_allclose(
        result.fold_risks, 1 - cross_val_score(model, X, y, cv=KFold(3)), atol=1e-12
    )


def test_a_missing_integer_of_a_polars_frame_reaches_the_imputer():
    """null in a column of whole numbers is a missing value like NaN."""
    X, y = whole_table(), response()
    values = {name: X[:, c].tolist() for c, name in enumerate(NAMES)}
    values["b"][4] = None
    family = Family(make_pipeline(SimpleImputer(), KNeighborsRegressor()), {})
    recipe = Recipe.external_cv(3)
    expected = run(family, with_hole(X), y, recipe).fold_risks
    np.testing.assert_allclose(
        run(family, pl.DataFrame(values), y, recipe).fold_risks, expected, rtol=1e-12
    )


def test_missing_values_pass_where_the_grid_brings_the_imputer():
    """A step that is "passthrough" in the estimator may be an imputer in every setting."""
    model = Pipeline([("impute", "passthrough"), ("ridge", Ridge())])
    family = Family(
        model, {"impute": [SimpleImputer(), SimpleImputer(strategy="median")]}
    )
    assert np.isfinite(run(family, with_hole(whole_table()), response()).risk)


def test_missing_values_pass_where_the_grid_brings_the_metric():
    """A parameter of the grid can make the model take NaN."""
    family = Family(
        KNeighborsRegressor(), {"metric": ["nan_euclidean"], "n_neighbors": [1, 3]}
    )
    assert np.isfinite(run(family, with_hole(whole_table()), response()).risk)


def test_boosting_takes_infinity():
    """Infinity in X is allowed if the model can handle it."""
    X = with_hole(whole_table())
    X[5, 0] = np.inf
    family = Family(HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=2))
    assert np.isfinite(run(family, X, response(), Recipe.external_cv(3)).risk)


# Texts


TEXTS = {
    "list": list,
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "Series": lambda texts: pd.Series(texts, index=INDICES["shuffled"]),
    "polars": pl.Series,
}


@pytest.mark.parametrize("form", TEXTS)
def test_texts_are_rows_for_a_vectorizer(form):
    """A one-dimensional X of texts goes to a TfidfVectorizer; the folds are scikit-learn's."""
    words = np.array(["sun", "rain", "wind", "snow", "hail"])
    texts = [" ".join(words[row % 5]) for row in whole_table()]
    model = make_pipeline(TfidfVectorizer(), MultinomialNB())
    family = Family(model, {"multinomialnb__alpha": [0.1, 1.0]})
    result = run(
        family,
        TEXTS[form](texts),
        labels(),
        Recipe(outer=KFold(3), inner=2, stratify="auto"),
        flat=True,
    )
    for s, setting in enumerate(result.settings):
        expected = 1 - cross_val_score(
            clone(model).set_params(**setting), texts, labels(), cv=KFold(3)
        )
        np.testing.assert_allclose(result.outer_curves[:, s], expected, atol=1e-12)


# S is a multiset


def test_repeated_rows_are_separate_examples():
    """Every copy of a row is tested once: k copies count k times."""
    X, y = np.repeat(whole_table(), 2, axis=0), np.repeat(response(), 2)
    plan = RECIPE.plan(X, y)
    assert np.array_equal(
        np.sort(np.concatenate([test for _, test in plan.outer])), np.arange(60)
    )


def test_a_repeated_row_can_be_its_own_neighbour():
    """If every row occurs twice, leave-one-out of 1-NN makes no error: the copy is another row."""
    X, y = np.repeat(whole_table(), 2, axis=0), np.repeat(response(), 2)
    assert run(means([1]), X, y, Recipe.leave_one_out()).risk == 0.0


def test_the_audit_names_repeated_rows_on_both_sides():
    """Copies of a row in both parts are found, in every form of X."""
    X, y = np.repeat(whole_table(), 2, axis=0), np.repeat(response(), 2)
    for form in (np.asarray, pd.DataFrame, pl.DataFrame, sp.csr_array, sp.coo_matrix):
        audit = Recipe.leave_one_out().plan(form(X), y).audit()
        assert len(audit.findings) == 60, form
        assert "repeated row" in audit.findings[0]


# Nothing given is changed


class Vandal(RegressorMixin, BaseEstimator):
    """Overwrites all its arguments."""

    def __init__(self, level=0.0):
        self.level = level

    def fit(self, X, y, sample_weight=None):
        self.mean_ = float(np.mean(y)) + self.level
        self._spoil(X)
        y[:] = -1
        if sample_weight is not None:
            sample_weight[:] = 0
        return self

    def predict(self, X):
        prediction = np.full(X.shape[0], self.mean_)
        self._spoil(X)
        return prediction

    @staticmethod
    def _spoil(X):
        if sp.issparse(X):
            X.data[:] = -1
        elif isinstance(X, pd.DataFrame):
            X.iloc[:, :] = -1
        else:
            X[:] = -1


class VandalStep(Vandal):
    """A transformer that overwrites its input and returns it."""

    def transform(self, X):
        out = X.copy()
        self._spoil(X)
        return out


@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, sp.csr_matrix, pd.DataFrame]
)
@pytest.mark.parametrize(
    "model",
    [Vandal(), make_pipeline(VandalStep(), Vandal())],
    ids=["alone", "in a pipeline"],
)
def test_an_estimator_that_overwrites_its_data_changes_nothing(form, model):
    """X, y, groups and weights stay as they were, and every setting sees them as they were."""
    X, y, groups, w = (
        form(whole_table().astype(float)),
        response(),
        np.arange(30) // 2,
        np.arange(30) % 3 + 1.0,
    )
    kept = copy.deepcopy([X, y, groups, w])
    key = "level" if isinstance(model, Vandal) else "vandal__level"
    family = Family(model, {key: [0.0, 1.0, 2.0]})
    result = run(family, X, y, groups=groups, sample_weight=w, flat=True)
    for before, after in zip(kept, [X, y, groups, w], strict=True):
        same = (
            (before != after).nnz == 0
            if sp.issparse(before)
            else np.array_equal(before, after)
        )
        assert same
    for s in range(3):
        alone = run(
            Family(clone(model).set_params(**{key: float(s)})),
            X,
            y,
            groups=groups,
            sample_weight=w,
        )
        np.testing.assert_allclose(
            result.outer_curves[:, s], alone.fold_risks, rtol=1e-12
        )


@pytest.mark.parametrize(
    "X", [whole_table(), pd.DataFrame(whole_table()), sp.csr_array(whole_table())]
)
def test_data_that_cannot_be_written_to_is_enough(X):
    """Read-only X, y and weights run and give their numbers."""
    y, w = response(), np.ones(30)
    for array in (
        X if isinstance(X, np.ndarray) else X.data if sp.issparse(X) else y,
        y,
        w,
    ):
        array.flags.writeable = False
    assert np.isfinite(
        run(Family(Ridge(), {"alpha": [0.1, 1.0]}), X, y, sample_weight=w).risk
    )


def test_steps_with_copy_false_leave_the_data_alone():
    """copy=False overwrites only a copy, so every setting gets the numbers of copy=True."""
    X, y = whole_table().astype(float), response()
    kept = X.copy()
    grid = {"ridge__alpha": [0.1, 1.0, 10.0]}
    family = Family(
        make_pipeline(StandardScaler(copy=False), Ridge(copy_X=False)), grid
    )
    result = run(family, X, y)
    np.testing.assert_array_equal(X, kept)
    assert_same_numbers(
        result, run(Family(make_pipeline(StandardScaler(), Ridge()), grid), X, y)
    )


def test_estimator_and_grid_are_not_changed():
    """The estimator and the estimators in the grid stay unfitted, with their own parameters."""
    model = Pipeline([("scale", StandardScaler()), ("model", Ridge(alpha=7.0))])
    grid = {
        "scale": [StandardScaler(), "passthrough"],
        "model": [LinearRegression(), Ridge()],
    }
    parameters, before = (
        model.get_params(),
        {key: list(values) for key, values in grid.items()},
    )
    run(Family(model, grid), whole_table(), response()).predictor()
    assert model.get_params() == parameters
    assert grid == before
    assert not any(
        hasattr(part, "n_features_in_")
        for part in [*model.named_steps.values(), *grid["model"]]
    )


def test_the_global_random_state_is_not_changed():
    """NumPy's global state is unchanged, also by an estimator that draws from it."""
    before = np.random.get_state()  # noqa: NPY002
    family = Family(
        DecisionTreeClassifier(max_features=1, splitter="random"), {"max_depth": [1, 2]}
    )
    run(family, whole_table(), labels()).predictor()
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0]
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


def test_generators_of_random_numbers_stay_where_they_were():
    """A RandomState of the user's is used through a copy: a second run gives the same numbers."""
    rng = np.random.RandomState(3)
    before = rng.get_state()[1].copy()
    family = Family(
        DecisionTreeClassifier(max_features=1, random_state=rng), {"max_depth": [1, 2]}
    )
    recipe = Recipe(outer=KFold(3, shuffle=True, random_state=rng), inner=2)
    first, second = (run(family, whole_table(), labels(), recipe) for _ in range(2))
    np.testing.assert_array_equal(rng.get_state()[1], before)
    assert_same_numbers(second, first)


def test_a_frame_keeps_its_index_names_and_dtypes():
    """The user's frame and series are the same objects with the same content after a run."""
    X = pd.DataFrame(whole_table(), columns=NAMES, index=INDICES["shuffled"]).astype(
        {"a": "float32", "b": "Int64"}
    )
    y = pd.Series(labels(), index=INDICES["backwards"], dtype="category", name="target")
    X_before, y_before = X.copy(deep=True), y.copy(deep=True)
    run(votes(), X, y)
    pd.testing.assert_frame_equal(X, X_before)
    pd.testing.assert_series_equal(y, y_before)
