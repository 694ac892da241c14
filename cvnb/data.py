"""Data: X, y, groups and weights, checked once at the door.

Frames stay frames and sparse stays sparse, because estimators may select columns by name or refuse a dense copy; everything
else becomes an ndarray. Rows are only ever taken by position. Nothing given is changed: every row selection is a copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, column_or_1d

from .errors import DataError

MAX_CLASSES_OF_INTEGERS = 20


@dataclass(frozen=True, eq=False)
class Data:
    """The rows S = (X, y), with groups as integer codes and weights as float64 where there are any."""

    X: Any
    y: np.ndarray
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None

    @classmethod
    def check(cls, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Data:
        """Data after every check that needs no estimator."""
        X, y = check_X(X), check_y(y)
        n_rows = X.shape[0]
        if n_rows == 0:
            raise DataError("Found array with 0 sample(s) in X; at least 2 rows are needed.")
        for name, given in (("y", y), ("groups", groups), ("sample_weight", sample_weight)):
            if given is not None and (n := _length(name, given)) != n_rows:
                raise DataError(f"X has {n_rows} rows but {name} has {n}: inconsistent numbers of samples.")
        data = cls(X, y, None if groups is None else group_codes(groups), check_weights(sample_weight))
        data._check_magnitudes()
        return data

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_columns(self) -> int:
        return self.X.shape[1] if len(self.X.shape) > 1 else 1

    @cached_property
    def task(self) -> str:
        """ "classification" for bool, string, category, or integral y with at most 20 distinct values, else "regression"."""
        kind = self.y.dtype.kind
        if kind not in "iuf":
            return "classification"
        integral = kind in "iu" or bool(np.all(self.y == np.floor(self.y)))
        few = integral and np.unique(self.y).size <= MAX_CLASSES_OF_INTEGERS
        return "classification" if few else "regression"

    def rows(self, rows: np.ndarray, columns: np.ndarray | None = None) -> Any:
        """A copy of these rows of X; `columns` too where X is a matrix of row-to-row similarities."""
        X = _safe_indexing(self.X, rows)
        return X if columns is None else X[:, columns]

    def column(self, c: int) -> str:
        """Column c as the user knows it."""
        names = getattr(self.X, "columns", None)
        return f"column {c}" if names is None else f"column {list(names)[c]!r}"

    def check_finite(self, allow_nan: bool, who: str) -> None:
        """Refuse NaN and infinity in X, naming the column, unless the estimator takes them."""
        if allow_nan:
            return
        for c, values in self._numeric_columns():
            bad = ~np.isfinite(values)
            if bad.any():
                what = "NaN" if np.isnan(values).any() else "infinity (inf)"
                raise DataError(
                    f"Input X contains {what}: {self.column(c)} has {int(bad.sum())} such values, the first in row "
                    f"{int(np.argmax(bad))}, and {who} takes none; put an imputer ahead of it or drop those rows."
                )

    @cached_property
    def row_codes(self) -> np.ndarray:
        """One integer per row; equal rows (X and y alike) share it."""
        _, y = np.unique(self.y, return_inverse=True)
        _, codes = np.unique(np.column_stack([_hash_rows(self.X), y]), axis=0, return_inverse=True)
        return codes.ravel()

    def _numeric_columns(self):
        """(column, float values) of every column that may hold a NaN, infinity or a huge number."""
        X = self.X
        if sp.issparse(X):
            finite = np.isfinite(X.data)
            values = X.tocsc() if not finite.all() else None
            for c in () if values is None else range(X.shape[1]):
                yield c, values[:, [c]].toarray().ravel()
        elif is_frame(X):
            for c, name in enumerate(X.columns):
                values = np.asarray(X[name]) if list(X.columns).count(name) == 1 else np.asarray(X)[:, c]
                if values.dtype.kind == "f":
                    yield c, values
                elif values.dtype.kind == "O" and any(_is_missing(v) for v in values):
                    yield c, np.array([np.nan if _is_missing(v) else 0.0 for v in values])
        elif X.dtype.kind == "f" and not np.isfinite(X).all():
            yield from ((c, X[:, c]) for c in range(X.shape[1]))
        elif X.dtype.kind == "O" and X.ndim == 2:
            for c in range(X.shape[1]):
                yield c, np.array([np.nan if _is_missing(v) else 0.0 for v in X[:, c]])

    def _check_magnitudes(self) -> None:
        """Refuse finite numbers whose squares, summed over the table, would overflow: no distance or mean survives that."""
        single = getattr(getattr(self.X, "dtype", None), "itemsize", 8) < 8
        largest = np.finfo(np.float32 if single else np.float64).max
        limit = np.sqrt(float(largest) / (4.0 * self.n_rows * max(self.n_columns, 1)))
        for name, values in (("X", _float_values(self.X)), ("y", self.y)):
            if values is None or values.dtype.kind != "f" or values.size == 0:
                continue
            with np.errstate(invalid="ignore"):
                huge = np.isfinite(values) & (np.abs(values) > limit)
            if huge.any():
                where = np.argwhere(huge)[0]
                place = f"row {where[0]}" + (f", {self.column(int(where[1]))}" if values.ndim > 1 else "")
                raise DataError(
                    f"{name} holds {values[tuple(where)]!r} ({place}): squares of numbers beyond {limit:.1e} overflow when "
                    f"summed; rescale {name}."
                )


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars DataFrame."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def check_X(X: Any) -> Any:
    """X as a frame, a CSR matrix or an ndarray of two dimensions (one for texts)."""
    if X is None:
        raise DataError("X is None; give a table of rows and columns.")
    if np.ma.isMaskedArray(X):
        raise DataError("X is a masked array; fill it (X.filled(...)) or put NaN and an imputer in its place.")
    if type(X).__name__ == "LazyFrame":
        raise DataError("X is a polars LazyFrame; use X.collect().")
    if sp.issparse(X):
        _refuse_kind("X", X.dtype)
        return X.tocsr()
    if is_frame(X):
        if X.shape[1] == 0:
            raise DataError(f"Found array with 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
        _refuse_kind("X", np.asarray(X[:1]).dtype)
        return X
    X = _as_array("X", X)
    _refuse_kind("X", X.dtype)
    if X.ndim == 1 and X.size and X.dtype.kind in "UO" and all(isinstance(text, str) for text in X):
        return X
    if X.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {X.ndim}D array for X instead. Reshape your data: X.reshape(-1, 1) makes one column of "
            "it, X.reshape(1, -1) one row."
        )
    if X.shape[1] == 0:
        raise DataError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    return _numbers_of_objects(X)


def check_y(y: Any) -> np.ndarray:
    """y as a one-dimensional array of numbers, bools or strings, nothing missing."""
    if y is None:
        raise DataError("cvnb requires y to be passed, but the target y is None.")
    if np.ma.isMaskedArray(y):
        raise DataError("y is a masked array; drop the masked rows.")
    y = _as_array("y", y)
    _refuse_kind("y", y.dtype)
    if y.ndim != 1 and not (y.ndim == 2 and y.shape[1] == 1):
        raise DataError(f"y should be a 1d array, got an array of shape {y.shape} instead; run one target at a time.")
    y = column_or_1d(y, warn=y.ndim == 2)
    missing = [t for t, v in enumerate(y) if _is_missing(v)] if y.dtype.kind in "Of" else []
    if missing:
        raise DataError(f"Input y contains NaN or nothing in {len(missing)} rows, the first in row {missing[0]}; drop them.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"Input y contains infinity (inf), the first in row {int(np.argmin(np.isfinite(y)))}.")
    if y.dtype.kind == "S" or any(isinstance(v, bytes) for v in y[:1]):
        raise DataError("y holds bytes: labels represented as bytes are not supported; use y.astype(str).")
    if y.dtype.kind == "O" and not all(isinstance(v, str) for v in y):
        inferred = np.asarray(y.tolist())
        if inferred.dtype.kind not in "biuf" or len({isinstance(v, bool | np.bool_) for v in y}) > 1:
            kinds = sorted({type(v).__name__ for v in y})
            raise DataError(f"Unknown label type: y mixes {', '.join(kinds)}; make all of them strings or all numbers.")
        return inferred
    return y


def check_weights(weights: Any) -> np.ndarray | None:
    """Weights as finite float64 >= 0, not all zero."""
    if weights is None:
        return None
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must hold numbers.") from None
    if weights.ndim != 1:
        raise DataError(f"sample_weight must be a 1d array, got shape {weights.shape}.")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        t = int(np.argmax(bad))
        raise DataError(f"sample_weight holds {weights[t]!r} in row {t}; weights are finite and >= 0.")
    if not weights.any():
        raise DataError("sample_weight is 0 in every row; some row must count.")
    return weights


def group_codes(groups: Any) -> np.ndarray:
    """Groups as integers 0, 1, ... in sorted order where the values can be sorted, else by first appearance."""
    values = _as_array("groups", groups)
    if values.ndim != 1:
        raise DataError(f"groups must be a 1d array, got shape {values.shape}.")
    if values.dtype.kind in "Of":
        missing = [t for t, v in enumerate(values) if _is_missing(v)]
        if missing:
            raise DataError(f"groups has no value in {len(missing)} rows, the first in row {missing[0]}.")
    if values.dtype.kind == "O":
        first_seen: dict[Any, int] = {}
        return np.array([first_seen.setdefault(v, len(first_seen)) for v in values], dtype=np.int64)
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _length(name: str, given: Any) -> int:
    try:
        return len(given)
    except TypeError:
        raise DataError(f"{name} must hold one value per row, got {given!r}.") from None


def _as_array(name: str, given: Any) -> np.ndarray:
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be read as an array: {error}") from None
    if array.dtype == object and array.ndim == 0:
        raise DataError(f"{name} cannot be read as an array: got {type(given).__name__}.")
    return array


def _refuse_kind(name: str, dtype: np.dtype) -> None:
    if dtype.kind == "c":
        raise DataError(f"Complex data not supported: {name} is {dtype}; use {name}.real or two columns.")
    if dtype.kind in "mM":
        raise DataError(f"{name} holds dates or durations ({dtype}); turn them into numbers in a unit of your choice.")
    if dtype.kind == "V":
        raise DataError(f"{name} is a structured array ({dtype}); use a DataFrame or a plain 2D array.")


def _numbers_of_objects(X: np.ndarray) -> np.ndarray:
    """An object array as numbers where every entry is one; untouched otherwise (a ColumnTransformer may take it)."""
    if X.dtype.kind != "O":
        return X
    if any(isinstance(v, complex | np.complexfloating) for v in X.flat):
        raise DataError("Complex data not supported: X holds complex numbers.")
    if all(isinstance(v, float | int | np.number | np.bool_) for v in X.flat):
        return np.asarray(X.tolist())
    return X


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA; none of them equals itself in a way that is True."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _float_values(X: Any) -> np.ndarray | None:
    """The floats of X: all of an array's, the float columns of a frame (others as 0), None where there are none."""
    if sp.issparse(X):
        return X.data
    if is_frame(X):
        columns = [np.asarray(X[name]) for name in X.columns] if len(set(X.columns)) == len(X.columns) else []
        floats = [v if v.dtype.kind == "f" else np.zeros(v.shape[0]) for v in columns]
        return np.column_stack(floats) if any(v.dtype.kind == "f" for v in columns) else None
    return X


def _hash_rows(X: Any) -> np.ndarray:
    """One hash per row, equal for equal rows; -0.0 counts as 0.0."""
    if sp.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), strict=True)
        keys: Any = [(i.tobytes(), v.tobytes()) for i, v in parts]
    elif is_frame(X):
        columns = [np.asarray(X[name]).tolist() for name in dict.fromkeys(X.columns)]
        keys = zip(*columns, strict=True)
    elif X.dtype.kind in "biuf":
        X = np.ascontiguousarray(X if X.dtype.kind == "b" else X + 0)
        keys = X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel().tolist()
    else:
        keys = map(tuple, np.atleast_2d(X.T).T.tolist())
    return np.fromiter((hash(key) for key in keys), dtype=np.int64)
