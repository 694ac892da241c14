"""The door: X, y, groups and weights in any form, turned into frames, CSR matrices or arrays, or refused.

Frames stay frames and sparse stays sparse, because estimators may select columns by name or refuse a dense copy; everything
else becomes an ndarray.
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


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars DataFrame."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA; none of them equals itself in a way that is True."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def check_X(X: Any) -> Any:
    """X as a frame, a CSR matrix or an ndarray of two dimensions (one for texts)."""
    if X is None:
        raise DataError("X is None; give a table of rows and columns.")
    _refuse_masked("X", X)
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
    X = _as_array("X", X)
    refuse_dtype("X", X.dtype)
    if (
        X.ndim == 1
        and X.size
        and X.dtype.kind in "UO"
        and any(isinstance(text, str) for text in X)
    ):
        return _texts(X)
    _check_shape(X.shape)
    return _numbers_of_objects(X)


def check_y(y: Any) -> tuple[np.ndarray, bool]:
    """(y as a one-dimensional array of numbers, bools or strings with nothing missing, whether it came as a category)."""
    if y is None:
        raise DataError("cvnb requires y to be passed, but the target y is None.")
    _refuse_masked("y", y)
    category = str(getattr(y, "dtype", "")).startswith(
        ("category", "Categorical", "Enum")
    )
    if (
        isinstance(y, list | tuple)
        and len({isinstance(v, bool | np.bool_) for v in y}) > 1
    ):
        y = np.array(y, dtype=object)  # NumPy would read True as 1
    y = _as_array("y", y)
    refuse_dtype("y", y.dtype)
    if y.ndim != 1 and not (y.ndim == 2 and y.shape[1] == 1):
        raise DataError(
            f"y should be a 1d array, got an array of shape {y.shape} instead; run one target at a time."
        )
    y = column_or_1d(y, warn=True) if y.ndim == 2 else y
    _refuse_missing("Input y contains NaN or nothing", y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(
            f"Input y contains infinity (inf), the first in row {int(np.argmin(np.isfinite(y)))}."
        )
    if y.dtype.kind == "S" or any(isinstance(v, bytes) for v in y[:1]):
        raise DataError(
            "y holds bytes: labels represented as bytes are not supported; use y.astype(str)."
        )
    if y.dtype.kind == "O" and not all(
        issubclass(kind, str) for kind in set(map(type, y))
    ):
        y = _one_kind(y)
    if category and y.dtype.kind == "f" and (y != np.floor(y)).any():
        y = y.astype(str)  # fractions are no labels to scikit-learn; their names are
    return y.copy(), category


def check_weights(weights: Any) -> np.ndarray | None:
    """Weights as finite float64 >= 0, not all zero."""
    if weights is None:
        return None
    _refuse_masked("sample_weight", weights)
    weights = _as_array("sample_weight", weights)
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
    """Groups as integers 0, 1, ... in sorted order where the values can be sorted, else by first appearance."""
    _refuse_masked("groups", groups)
    values = _as_array("groups", groups)
    if values.ndim != 1:
        raise DataError(f"groups must be a 1d array, got shape {values.shape}.")
    _refuse_missing("groups has no value", values)
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        first_seen: dict[Any, int] = {}
        return np.array(
            [first_seen.setdefault(v, len(first_seen)) for v in values], dtype=np.int64
        )


def length(name: str, given: Any) -> int:
    """The number of rows of something given."""
    try:
        return given.shape[0] if hasattr(given, "shape") else len(given)
    except (TypeError, IndexError):
        raise DataError(f"{name} must hold one value per row, got {given!r}.") from None


def refuse_dtype(name: str, dtype: np.dtype) -> None:
    """Refuse complex numbers, dates and records."""
    if dtype.kind == "c":
        raise DataError(
            f"Complex data not supported: {name} is {dtype}; use the real part, or two columns."
        )
    if dtype.kind in "mM":
        raise DataError(
            f"{name} holds dates or durations ({dtype}); turn them into numbers in a unit of your choice."
        )
    if dtype.kind == "V":
        raise DataError(
            f"{name} is a structured array ({dtype}); use a DataFrame or a plain 2D array."
        )


def refuse_objects(name: str, values: np.ndarray) -> None:
    """Refuse complex numbers and dates that hide in an array of objects."""
    for value in values.flat:
        if isinstance(value, complex | np.complexfloating):
            raise DataError(
                f"Complex data not supported: {name} holds {value!r}; use the real part, or two columns."
            )
        if isinstance(value, DATES):
            raise DataError(
                f"{name} holds dates or durations ({value!r}); turn them into numbers in a unit of your choice."
            )


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise DataError(
            f"Expected 2D array, got {len(shape)}D array for X instead. Reshape your data: X.reshape(-1, 1) makes one column "
            "of it, X.reshape(1, -1) one row."
        )
    if shape[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required."
        )


def _refuse_equal_names(names: list[Any]) -> None:
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise DataError(
                f"X has two columns named {name!r}, which scikit-learn refuses; rename one."
            )
        seen.add(name)


def _texts(X: np.ndarray) -> np.ndarray:
    _refuse_missing("X has no text (it is missing)", X)
    others = {type(text).__name__ for text in X if not isinstance(text, str)}
    if others:
        raise DataError(
            f"X is a row of texts with {', '.join(sorted(others))} in it; make all of them strings."
        )
    return X


def _refuse_masked(name: str, given: Any) -> None:
    if np.ma.isMaskedArray(given):
        raise DataError(
            f"{name} is a masked array; fill it ({name}.filled(...)) or drop the masked rows."
        )


def _refuse_missing(what: str, values: np.ndarray) -> None:
    missing: Any = []
    if values.dtype.kind == "f":
        missing = np.argwhere(np.isnan(values))[:, 0]
    elif values.dtype.kind == "O" and set(map(type, values.flat)) != {str}:
        missing = [t for t, v in enumerate(values) if is_missing(v)]
    if len(missing):
        raise DataError(
            f"{what} in {count(len(missing), 'row')}, the first in row {missing[0]}; drop or fill them."
        )


def _as_array(name: str, given: Any) -> np.ndarray:
    """np.asarray, but a list that mixes strings with other things stays a list of objects: NaN is not "nan"."""
    try:
        array = np.asarray(given)
        words = array.dtype.kind in "US" and array.ndim == 1 and array is not given
        if words and not all(isinstance(v, str | bytes) for v in given):
            array = np.array(given, dtype=object)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be read as an array: {error}") from None
    if array.dtype == object and array.ndim == 0:
        raise DataError(
            f"{name} cannot be read as an array: got {type(given).__name__}."
        )
    return array


def _one_kind(y: np.ndarray) -> np.ndarray:
    """An array of Python numbers or bools as one of NumPy's."""
    inferred = np.asarray(y.tolist())
    kinds = sorted({type(v).__name__ for v in y})
    refuse_objects("y", y)
    if (
        inferred.dtype.kind not in "biuf"
        or len({isinstance(v, bool | np.bool_) for v in y}) > 1
    ):
        what = (
            f"mixes {', '.join(kinds)}"
            if len(kinds) > 1
            else f"holds {kinds[0]} objects"
        )
        raise DataError(
            f"Unknown label type: y {what}; make all of them strings or all numbers."
        )
    return inferred


def _numbers_of_objects(X: np.ndarray) -> np.ndarray:
    """An object array as numbers where every entry is one; untouched otherwise (a ColumnTransformer may take it)."""
    if X.dtype.kind != "O":
        return X
    refuse_objects("X", X)
    if not all(isinstance(v, float | int | np.number | np.bool_) for v in X.flat):
        return X
    inferred = np.asarray(X.tolist())
    if inferred.dtype.kind != "O":
        return inferred
    try:
        return X.astype(np.float64)  # whole numbers beyond 64 bits
    except OverflowError:
        raise DataError(
            "X holds whole numbers beyond every float: their squares overflow; rescale X."
        ) from None
