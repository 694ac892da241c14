"""Data: X, y, groups and weights, checked once. Rows are only ever taken by position, and every row selection is a copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from ..errors import DataError, WrongTypeError
from ..wording import count
from .checks import (
    check_groups,
    check_weights,
    check_X,
    check_y,
    is_frame,
    is_missing,
    length,
    refuse_dtype,
    refuse_objects,
)

MAX_CLASSES_OF_INTEGERS = 20


@dataclass(frozen=True, eq=False)
class Data:
    """The rows S = (X, y), with groups as integer codes and weights as float64 where there are any."""

    X: Any
    y: np.ndarray
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None
    category: bool = False  # y came as a category

    @classmethod
    def check(
        cls, X: Any, y: Any, groups: Any = None, sample_weight: Any = None
    ) -> Data:
        """Data after every check that needs no estimator."""
        X, (y, category) = check_X(X), check_y(y)
        n_rows = X.shape[0]
        if n_rows == 0:
            raise DataError(
                "Found array with 0 sample(s) in X; at least 2 rows are needed."
            )
        for name, given in (
            ("y", y),
            ("groups", groups),
            ("sample_weight", sample_weight),
        ):
            if given is not None and (n := length(name, given)) != n_rows:
                raise DataError(
                    f"X has {n_rows} rows but {name} has {n}: inconsistent numbers of samples."
                )
        data = cls(
            X,
            y,
            None if groups is None else check_groups(groups),
            check_weights(sample_weight),
            category,
        )
        data._check_magnitudes()
        return data

    def copied(self) -> Data:
        """The same rows in memory of its own, for work that goes on while the user's code does."""
        X = (
            self.X.copy()
            if hasattr(self.X, "copy")
            else self.X.clone()
            if hasattr(self.X, "clone")
            else self.X
        )
        return replace(
            self, X=X, weights=None if self.weights is None else self.weights.copy()
        )

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
        if self.category or kind not in "iuf":
            return "classification"
        integral = kind in "iu" or bool(np.all(self.y == np.floor(self.y)))
        few = integral and self.classes[0].size <= MAX_CLASSES_OF_INTEGERS
        return "classification" if few else "regression"

    @cached_property
    def classes(self) -> tuple[np.ndarray, np.ndarray]:
        """(the distinct values of y, sorted; for every row the place of its value among them)."""
        if self.y.dtype.kind != "O":
            return np.unique(self.y, return_inverse=True)
        labels = (
            self.y.tolist()
        )  # strings, which Python compares faster than NumPy sorts them
        names = sorted(set(labels))
        place = {name: c for c, name in enumerate(names)}
        return np.array(names, dtype=object), np.fromiter(
            (place[name] for name in labels), dtype=np.intp, count=len(labels)
        )

    @cached_property
    def most_alike(self) -> int:
        """The number of rows that share the commonest value of y."""
        if self.y.dtype.kind != "f":
            return int(np.bincount(self.classes[1]).max())
        y = np.sort(
            self.y
        )  # a plain sort is several times faster than one that numbers the values
        starts = np.flatnonzero(np.concatenate([[True], y[1:] != y[:-1], [True]]))
        return int(np.diff(starts).max())

    def rows(self, rows: np.ndarray, columns: np.ndarray | None = None) -> Any:
        """A copy of these rows of X; `columns` too where X is a matrix of row-to-row similarities."""
        X = _safe_indexing(self.X, rows)
        if hasattr(X, "iloc"):
            X = X.copy()  # pandas may share memory where all rows are taken
        return X if columns is None else X[:, columns]

    def column(self, c: int) -> str:
        """Column c as the user knows it."""
        return (
            f"column {list(self.X.columns)[c]!r}" if is_frame(self.X) else f"column {c}"
        )

    @cached_property
    def calm(self) -> bool:
        """Whether X is one block of finite numbers whose squares can be summed: most tables are, and need no second look."""
        table = _block(self.X)
        if table is None or table.dtype.kind != "f":
            return table is not None
        limit = self._limit(table.dtype.itemsize < 8)
        return bool(
            table.min() >= -limit and table.max() <= limit
        )  # neither holds for NaN

    def check_columns(
        self, who: str, allow_nan: bool, allow_inf: bool, allow_dates: bool
    ) -> None:
        """Refuse what the estimator cannot take, naming the column: dates, NaN, infinity."""
        if self.calm:
            return
        if not allow_dates and is_frame(self.X):
            for c in range(self.n_columns):
                values = self._values(c)
                if values.dtype.kind in "cmMVO":
                    refuse_dtype(f"X ({self.column(c)})", values.dtype)
                    refuse_objects(f"X ({self.column(c)})", values)
        if allow_nan and allow_inf:
            return
        for c, values in self._suspects():
            nan = np.isnan(values)
            for what, bad, allowed in (
                ("NaN", nan, allow_nan),
                ("infinity (inf)", ~np.isfinite(values) & ~nan, allow_inf),
            ):
                if bad.any() and not allowed:
                    raise DataError(
                        f"Input X contains {what}: {self.column(c)} has {count(bad.sum(), 'such value')}, the first in row "
                        f"{int(np.argmax(bad))}, and {who} takes none; put an imputer ahead of it or drop those rows."
                    )

    def refuse_odd_objects(self) -> None:
        """Refuse entries that are neither numbers nor strings, such as dicts."""
        if (
            self.calm
            or sp.issparse(self.X)
            or len(self.X.shape) == 1
            or not (is_frame(self.X) or self.X.dtype.kind == "O")
        ):
            return
        for c in range(self.n_columns):
            values = self._values(c) if is_frame(self.X) else self.X[:, c]
            for row, value in enumerate(values if values.dtype.kind == "O" else ()):
                if not isinstance(
                    value, str | bytes | Number | np.generic
                ) and not is_missing(value):
                    raise WrongTypeError(
                        f"X holds {value!r} in row {row}, {self.column(c)}: an argument must be a string or a real number, not "
                        f"{type(value).__name__!r}."
                    )

    @cached_property
    def row_codes(self) -> np.ndarray:
        """One integer per row, by first appearance; equal rows (X and y alike) share it."""
        codes: dict[Any, int] = {}
        rows = zip(_row_keys(self.X), self.y.tolist(), strict=True)
        return np.fromiter(
            (codes.setdefault(row, len(codes)) for row in rows), dtype=np.int32
        )

    def _values(self, c: int) -> np.ndarray:
        """Column c of a frame; names may be repeated."""
        column = self.X.iloc[:, c] if hasattr(self.X, "iloc") else self.X[:, c]
        return np.asarray(column)

    def _suspects(self) -> Iterator[tuple[int, np.ndarray]]:
        """(column, its values as floats) of every column that may hold something that is no finite number."""
        X = self.X
        if len(X.shape) == 1 or (
            not is_frame(X) and not sp.issparse(X) and X.dtype.kind not in "fO"
        ):
            return
        if (
            not is_frame(X)
            and X.dtype.kind == "f"
            and np.isfinite(X.data if sp.issparse(X) else X).all()
        ):
            return
        places: Any = range(X.shape[1])
        if sp.issparse(X):
            places = np.unique(
                X.indices[~np.isfinite(X.data)]
            )  # the only columns worth making dense
        for c in map(int, places):
            values: Any = self._values(c) if is_frame(X) else X[:, [c]]
            values = np.ravel(values.toarray() if sp.issparse(values) else values)
            if values.dtype.kind in "fO":
                yield c, values if values.dtype.kind == "f" else _floats(values)

    def _check_magnitudes(self) -> None:
        """Refuse finite numbers whose squares, summed over the table, would overflow: no distance or mean survives that."""
        blocks = [] if self.calm else list(self._number_blocks())
        floats = [_block(self.X)] if self.calm else [values for values, _ in blocks]
        narrow = all(
            values.dtype.itemsize < 8
            for values in floats
            if values is not None and values.dtype.kind == "f"
        )
        tables = [("X", *one) for one in blocks] + [("y", self.y, None)]
        for name, values, c in tables:
            if values.dtype.kind != "f" or values.size == 0:
                continue
            limit = self._limit(narrow and values.dtype.itemsize < 8)
            with np.errstate(invalid="ignore"):
                huge = np.isfinite(values) & (np.abs(values) > limit)
            if huge.any():
                where = np.argwhere(huge)[0]
                column = (
                    c if c is not None else int(where[1]) if values.ndim > 1 else None
                )
                place = f"row {where[0]}" + (
                    "" if column is None else f", {self.column(column)}"
                )
                raise DataError(
                    f"{name} holds {values[tuple(where)]} ({place}): squares of numbers beyond {limit:.1e} overflow when "
                    f"summed; rescale {name}."
                )

    def _limit(self, narrow: bool) -> np.float64:
        """How large a number may be; half as many digits where X is float32 throughout."""
        largest = np.float64(
            np.finfo(np.float32 if narrow else np.float64).max
        )  # float64, or a comparison would be in float32
        return np.sqrt(largest / (4.0 * self.n_rows * max(self.n_columns, 1)))

    def _number_blocks(self) -> Iterator[tuple[np.ndarray, int | None]]:
        """(floats, column or None for all columns) of X."""
        if sp.issparse(self.X):
            yield self.X.data, None
        elif not is_frame(self.X):
            yield self.X, None
        else:
            for c in range(self.n_columns):
                values = self._values(c)
                yield values if values.dtype.kind != "O" else _floats(values), c


def _block(X: Any) -> np.ndarray | None:
    """X as one array of numbers that shares its memory; None where it is something else."""
    if hasattr(X, "iloc"):
        kinds = set(X.dtypes)
        X = (
            X.to_numpy()
            if len(kinds) == 1 and isinstance(next(iter(kinds)), np.dtype)
            else None
        )
    plain = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"
    return X if plain else None


def _floats(values: np.ndarray) -> np.ndarray:
    """Objects as floats: what is missing is NaN, what is no number is 0 (an encoder's business), what is too large is inf."""

    def one(value: Any) -> float:
        if is_missing(value):
            return np.nan
        try:
            return float(value) if isinstance(value, float | int | np.number) else 0.0
        except OverflowError:
            return np.inf

    return np.array([one(value) for value in values], dtype=np.float64)


def _row_keys(X: Any) -> Any:
    """One hashable key per row, equal for equal rows; -0.0 is 0.0, and NaN is NaN."""
    if sp.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = zip(
            np.split(X.indices, X.indptr[1:-1]),
            np.split(X.data, X.indptr[1:-1]),
            strict=True,
        )
        return ((i.tobytes(), v.tobytes()) for i, v in parts)
    if is_frame(X):
        columns = [
            np.asarray(X.iloc[:, c] if hasattr(X, "iloc") else X[:, c]).tolist()
            for c in range(X.shape[1])
        ]
        return (
            tuple(None if is_missing(v) else v for v in row)
            for row in zip(*columns, strict=True)
        )
    if X.dtype.kind in "biuf":
        X = np.ascontiguousarray(X if X.dtype.kind == "b" else X + 0)
        return (
            X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel().tolist()
        )
    return (
        tuple(None if is_missing(v) else v for v in row)
        for row in np.atleast_2d(X.T).T.tolist()
    )
