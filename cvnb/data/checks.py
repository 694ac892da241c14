"""Checks of X, y, groups and weights: converted to frames, CSR matrices or arrays, or refused.

Frames stay frames and sparse matrices stay sparse, because estimators may select columns by
name or refuse a dense copy; everything else becomes an ndarray.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d

from ..errors import DataError
from ..wording import count

DATES = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    np.datetime64,
    np.timedelta64,
)
CATEGORICAL_DTYPES = ("category", "Categorical", "Enum")  # of pandas and polars


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars DataFrame."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def block_of(X: Any) -> np.ndarray | None:
    """Return X as one array of numbers without a copy; None if it is anything else."""
    if hasattr(X, "iloc"):
        dtypes = set(X.dtypes)
        if len(dtypes) > 1 or not isinstance(next(iter(dtypes), None), np.dtype):
            return None
        X = X.to_numpy()
    plain = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"
    return X if plain else None


def values_of(X: Any, c: int) -> np.ndarray:
    """Return column c, selected by position because names of frames may be repeated."""
    return np.asarray(X.iloc[:, c] if hasattr(X, "iloc") else X[:, c])


def is_missing(value: Any) -> bool:
    """Whether the value is None, NaN, NaT or pandas' NA; none of these equals itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def check_X(X: Any) -> Any:
    """Return X as a frame, a CSR matrix or a 2d ndarray (1d for texts)."""
    if X is None:
        raise DataError("X is None; give a table of rows and columns.")
    refuse_masked("X", X)
    if type(X).__name__ == "LazyFrame":
        raise DataError("X is a polars LazyFrame; use X.collect().")
    if sp.issparse(X):
        refuse_dtype("X", X.dtype)
        _check_shape(X.shape)
        return X.tocsr()
    if is_frame(X):
        _check_shape(X.shape)
        _refuse_equal_names(list(X.columns))
        return X
    X = as_array("X", X)
    refuse_dtype("X", X.dtype)
    if _holds_texts(X):
        return _check_texts(X)
    _check_shape(X.shape)
    return _numbers_of_objects(X)


def check_y(y: Any) -> tuple[np.ndarray, bool]:
    """Return (y as a 1d array of numbers, bools or strings; whether its dtype was categorical)."""
    if y is None:
        raise DataError("cvnb requires y to be passed, but the target y is None.")
    refuse_masked("y", y)
    is_category = str(getattr(y, "dtype", "")).startswith(CATEGORICAL_DTYPES)
    if isinstance(y, list | tuple) and _mixes_bools(y):
        y = np.array(y, dtype=object)  # NumPy would read True as 1
    y = as_array("y", y)
    refuse_dtype("y", y.dtype)
    if y.ndim == 0:
        raise DataError(f"y must hold one value per row, got {y.item()!r}.")
    if y.ndim != 1 and not (y.ndim == 2 and y.shape[1] == 1):
        remedy = "run one target at a time"
        if _is_one_hot(y):
            remedy = "it is one-hot encoded: use the column of the 1, y.argmax(axis=1)"
        raise DataError(
            f"y should be a 1d array, got an array of shape {y.shape} instead; {remedy}."
        )
    y = column_or_1d(y, warn=True) if y.ndim == 2 else y
    refuse_missing("Input y contains NaN or nothing", y)
    _refuse_infinity_and_bytes(y)
    if y.dtype.kind == "O" and not all(
        issubclass(kind, str) for kind in set(map(type, y))
    ):
        y = _uniform_labels(y)
    if is_category and y.dtype.kind == "f" and (y != np.floor(y)).any():
        y = y.astype(str)  # scikit-learn takes fractions as labels only by name
    return y.copy(), is_category


def check_weights(weights: Any) -> np.ndarray | None:
    """Return the weights as finite float64 >= 0, not all zero; None if there are none."""
    if weights is None:
        return None
    refuse_masked("sample_weight", weights)
    weights = as_array("sample_weight", weights)
    if weights.ndim != 1:
        raise DataError(f"sample_weight must be a 1d array, got shape {weights.shape}.")
    try:
        if weights.dtype.kind not in "biufO":
            raise TypeError
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"sample_weight must hold numbers >= 0, got {weights.dtype}."
        ) from None
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        t = int(np.argmax(bad))
        raise DataError(
            f"sample_weight holds {weights[t]} in row {t}; weights are finite and >= 0."
        )
    if not weights.any():
        raise DataError("sample_weight is 0 in every row; some row must count.")
    return weights


def check_groups(groups: Any) -> np.ndarray:
    """Return groups as integers 0, 1, ... in sorted order, or by first appearance if unsortable."""
    refuse_masked("groups", groups)
    values = as_array("groups", groups)
    if values.ndim != 1:
        raise DataError(f"groups must be a 1d array, got shape {values.shape}.")
    refuse_missing("groups has no value", values)
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        codes: dict[Any, int] = {}
        return np.array([codes.setdefault(v, len(codes)) for v in values], np.int64)


def length(name: str, values: Any) -> int:
    """Return the number of rows of an argument called `name`."""
    try:
        return values.shape[0] if hasattr(values, "shape") else len(values)
    except (TypeError, IndexError):
        raise DataError(
            f"{name} must hold one value per row, got {values!r}."
        ) from None


def refuse_dtype(name: str, dtype: np.dtype) -> None:
    """Refuse complex numbers, dates and records."""
    if dtype.kind == "c":
        raise DataError(
            f"Complex data not supported: {name} is {dtype}; use the real part, or two columns."
        )
    if dtype.kind in "mM":
        raise DataError(
            f"{name} holds dates or durations ({dtype}); turn them into numbers in a unit "
            "of your choice."
        )
    if dtype.kind == "V":
        raise DataError(
            f"{name} is a structured array ({dtype}); use a DataFrame or a plain 2D array."
        )


def refuse_objects(name: str, values: np.ndarray) -> None:
    """Refuse complex numbers and dates inside an array of objects."""
    for value in values.flat:
        if isinstance(value, complex | np.complexfloating):
            raise DataError(
                f"Complex data not supported: {name} holds {value!r}; use the real part, "
                "or two columns."
            )
        if isinstance(value, DATES):
            raise DataError(
                f"{name} holds dates or durations ({value!r}); turn them into numbers in "
                "a unit of your choice."
            )


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise DataError(
            f"Expected 2D array, got {len(shape)}D array for X instead. Reshape your "
            "data: X.reshape(-1, 1) makes one column of it, X.reshape(1, -1) one row."
        )
    if shape[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 "
            "is required."
        )


def _refuse_equal_names(names: list[Any]) -> None:
    known: set[Any] = set()
    for name in names:
        if name in known:
            raise DataError(
                f"X has two columns named {name!r}, which scikit-learn refuses; rename one."
            )
        known.add(name)


def _holds_texts(X: np.ndarray) -> bool:
    if X.ndim != 1 or X.size == 0 or X.dtype.kind not in "UO":
        return False
    return any(isinstance(text, str) for text in X)


def _check_texts(X: np.ndarray) -> np.ndarray:
    refuse_missing("X has no text (it is missing)", X)
    others = {type(text).__name__ for text in X if not isinstance(text, str)}
    if others:
        raise DataError(
            f"X is a row of texts with {', '.join(sorted(others))} in it; make all of them strings."
        )
    return X


def refuse_masked(name: str, values: Any) -> None:
    """Refuse a masked array."""
    if np.ma.isMaskedArray(values):
        raise DataError(
            f"{name} is a masked array; fill it ({name}.filled(...)) or drop the masked rows."
        )


def refuse_missing(problem: str, values: np.ndarray) -> None:
    """Refuse NaN, None and pandas' NA; problem: how the message begins."""
    missing: Any = []
    if values.dtype.kind == "f":
        missing = np.argwhere(np.isnan(values))[:, 0]
    elif values.dtype.kind == "O" and set(map(type, values.flat)) != {str}:
        missing = [t for t, v in enumerate(values) if is_missing(v)]
    if len(missing):
        raise DataError(
            f"{problem} in {count(len(missing), 'row')}, the first in row {missing[0]}; drop "
            "or fill them."
        )


def _refuse_infinity_and_bytes(y: np.ndarray) -> None:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        t = int(np.argmin(np.isfinite(y)))
        raise DataError(f"Input y contains infinity (inf), the first in row {t}.")
    if y.dtype.kind == "S" or any(isinstance(v, bytes) for v in y[:1]):
        raise DataError(
            "y holds bytes: labels represented as bytes are not supported; use y.astype(str)."
        )


def as_array(name: str, values: Any) -> np.ndarray:
    """Return np.asarray(values); a list of texts and others keeps its objects: NaN is not "nan"."""
    try:
        array = np.asarray(values)
        has_text = array.dtype.kind in "US" and array.ndim == 1 and array is not values
        if has_text and not all(isinstance(v, str | bytes) for v in values):
            array = np.array(values, dtype=object)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be read as an array: {error}") from None
    if array.dtype == object and array.ndim == 0:
        raise DataError(
            f"{name} cannot be read as an array: got {type(values).__name__}."
        )
    return array


def _is_one_hot(y: np.ndarray) -> bool:
    """Whether each row of a table of numbers holds a single 1 among zeros."""
    if y.ndim != 2 or y.shape[1] < 2 or y.dtype.kind not in "biuf":
        return False
    return bool(np.isin(y, (0, 1)).all() and (y.sum(axis=1) == 1).all())


def _mixes_bools(values: Any) -> bool:
    """Whether some, but not all, of the values are bools."""
    return len({isinstance(v, bool | np.bool_) for v in values}) > 1


def _uniform_labels(y: np.ndarray) -> np.ndarray:
    """Convert an array of Python numbers, or of bools, to NumPy's dtype for them."""
    inferred = np.asarray(y.tolist())
    kinds = sorted({type(v).__name__ for v in y})
    refuse_objects("y", y)
    if inferred.dtype.kind not in "biuf" or _mixes_bools(y):
        mixes = f"mixes {', '.join(kinds)}"
        problem = mixes if len(kinds) > 1 else f"holds {kinds[0]} objects"
        raise DataError(
            f"Unknown label type: y {problem}; make all of them strings or all numbers."
        )
    return inferred


def _numbers_of_objects(X: np.ndarray) -> np.ndarray:
    """Convert an object array of numbers to a numeric dtype; return any other array unchanged.

    A ColumnTransformer may be able to use other objects.
    """
    if X.dtype.kind != "O":
        return X
    refuse_objects("X", X)
    if not all(isinstance(v, float | int | np.number | np.bool_) for v in X.flat):
        return X
    inferred = np.asarray(X.tolist())
    if inferred.dtype.kind != "O":
        return inferred
    try:
        return X.astype(np.float64)  # integers that need more than 64 bits
    except OverflowError:
        raise DataError(
            "X holds whole numbers beyond every float: their squares overflow; rescale X."
        ) from None
