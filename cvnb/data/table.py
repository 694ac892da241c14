"""Data: X, y, groups and weights, checked once.

Rows are selected only by position, and every selection is a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from ..errors import DataError, WrongTypeError
from ..wording import count
from .arguments import cautions_on_order, refuse_lengths, refuse_misplaced
from .checks import (
    block_of,
    check_groups,
    check_weights,
    check_X,
    check_y,
    is_frame,
    is_missing,
    refuse_dtype,
    refuse_objects,
    values_of,
)
from .columns import cautions_on_answer, notes_on, without_columns
from .times import Times, check_times

MAX_CLASSES_OF_INTEGERS = 20


@dataclass(frozen=True, eq=False)
class Data:
    """The rows S = (X, y); groups as integer codes, weights as float64 and times, if given."""

    X: Any
    y: np.ndarray
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None
    category: bool = False  # the dtype of y was categorical
    names: Mapping[str, str] = field(default_factory=dict)  # argument -> column of X
    notes: tuple[str, ...] = ()
    times: Times | None = None

    @classmethod
    def check(
        cls,
        X: Any,
        y: Any,
        groups: Any = None,
        sample_weight: Any = None,
        times: Any = None,
    ) -> Data:
        """Return the Data after every check that needs no estimator.

        A string as y, groups, sample_weight or times is the name of a column, which X then
        lacks.
        """
        refuse_misplaced(X, y)
        given = {
            "y": y,
            "groups": groups,
            "sample_weight": sample_weight,
            "times": times,
        }
        names = {argument: v for argument, v in given.items() if isinstance(v, str)}
        notes = cautions_on_order(X, given)
        X, given = without_columns(check_X(X), given, names)
        y, category = check_y(given["y"])
        refuse_lengths(X, given | {"y": y})
        codes = None if given["groups"] is None else check_groups(given["groups"])
        weights = check_weights(given["sample_weight"])
        moments = None if given["times"] is None else check_times(given["times"])
        notes += [*cautions_on_answer(X, y), *notes_on(names)]
        data = cls(X, y, codes, weights, category, names, tuple(notes), moments)
        data._check_magnitudes()
        return data

    def copied(self) -> Data:
        """Return a copy that later changes of the user's arrays do not affect."""
        weights = None if self.weights is None else self.weights.copy()
        return replace(self, X=copy_of(self.X), weights=weights)

    def with_y(self, y: np.ndarray) -> Data:
        """Return the same rows with these targets, a selection of the checked ones."""
        data = replace(self, y=y)
        data.__dict__["is_finite_block"] = self.is_finite_block
        return data

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_columns(self) -> int:
        return self.X.shape[1] if len(self.X.shape) > 1 else 1

    @cached_property
    def task(self) -> str:
        """ "classification" or "regression".

        Classification: bool, string or categorical y, or integral y with at most 20
        distinct values.
        """
        kind = self.y.dtype.kind
        if self.category or kind not in "iuf":
            return "classification"
        integral = kind in "iu" or bool(np.all(self.y == np.floor(self.y)))
        few = integral and self.classes[0].size <= MAX_CLASSES_OF_INTEGERS
        return "classification" if few else "regression"

    @cached_property
    def classes(self) -> tuple[np.ndarray, np.ndarray]:
        """(sorted distinct values of y, for every row the index of its value among them)."""
        if self.y.dtype.kind != "O":
            return np.unique(self.y, return_inverse=True)
        labels = self.y.tolist()  # Python compares strings faster than NumPy sorts them
        names = sorted(set(labels))
        index = {name: c for c, name in enumerate(names)}
        codes = (index[name] for name in labels)
        return np.array(names, object), np.fromiter(codes, np.intp, count=len(labels))

    @cached_property
    def mode_count(self) -> int:
        """The number of rows with the most frequent value of y."""
        if self.y.dtype.kind != "f":
            return int(np.bincount(self.classes[1]).max())
        y = np.sort(self.y)  # several times faster than np.unique with return_inverse
        starts = np.flatnonzero(np.concatenate([[True], y[1:] != y[:-1], [True]]))
        return int(np.diff(starts).max())

    def rows(self, rows: np.ndarray, columns: np.ndarray | None = None) -> Any:
        """Return a copy of these rows of X.

        columns: also select these columns, for an X of row-to-row similarities.
        """
        if type(self.X) is np.ndarray:
            X = self.X[rows]
        else:
            X = _safe_indexing(self.X, rows)
        if hasattr(X, "iloc"):
            X = X.copy()  # pandas may share memory if all rows are selected
        return X if columns is None else X[:, columns]

    def column(self, c: int) -> str:
        """Return the name of column c for a message."""
        return (
            f"column {list(self.X.columns)[c]!r}" if is_frame(self.X) else f"column {c}"
        )

    @cached_property
    def is_finite_block(self) -> bool:
        """Whether X is one block of finite numbers whose squares can be summed.

        Most tables are, and then need no check column by column.
        """
        block = block_of(self.X)
        if block is None or block.dtype.kind != "f":
            return block is not None
        limit = self._limit(block.dtype.itemsize < 8)
        return bool(block.min() >= -limit and block.max() <= limit)  # False for NaN

    def check_columns(
        self, who: str, allow_nan: bool, allow_inf: bool, allow_dates: bool
    ) -> None:
        """Refuse dates, NaN or infinity that the estimator cannot take, naming the column.

        who: the name of the estimator
        allow_nan, allow_inf, allow_dates: what it can take
        """
        if self.is_finite_block:
            return
        if not allow_dates and is_frame(self.X):
            for c in range(self.n_columns):
                values = values_of(self.X, c)
                if values.dtype.kind in "cmMVO":
                    refuse_dtype(f"X ({self.column(c)})", values.dtype)
                    refuse_objects(f"X ({self.column(c)})", values)
        if allow_nan and allow_inf:
            return
        for c, values in self._possibly_not_finite():
            refused = {} if allow_nan else {"NaN": np.isnan(values)}
            if not allow_inf:
                refused["infinity (inf)"] = np.isinf(values)
            for problem, bad in refused.items():
                if bad.any():
                    raise DataError(
                        f"Input X contains {problem}: {self.column(c)} has "
                        f"{count(bad.sum(), 'such value')}, the first in row "
                        f"{int(np.argmax(bad))}, and {who} takes none; put an imputer "
                        "ahead of it or drop those rows."
                    )

    def refuse_odd_objects(self) -> None:
        """Refuse entries that are neither numbers nor strings, such as dicts."""
        if self.is_finite_block or sp.issparse(self.X) or len(self.X.shape) == 1:
            return
        if not (is_frame(self.X) or self.X.dtype.kind == "O"):
            return
        for c in range(self.n_columns):
            values = values_of(self.X, c)
            if values.dtype.kind != "O":
                continue
            for row, value in enumerate(values):
                if isinstance(value, str | bytes | Number | np.generic) or is_missing(
                    value
                ):
                    continue
                raise WrongTypeError(
                    f"X holds {value!r} in row {row}, {self.column(c)}: an argument must "
                    f"be a string or a real number, not {type(value).__name__!r}."
                )

    @cached_property
    def row_codes(self) -> np.ndarray:
        """One integer per row, by first appearance; rows with equal X and y share it."""
        codes: dict[Any, int] = {}
        rows = zip(_row_keys(self.X), self.y.tolist(), strict=True)
        return np.fromiter(
            (codes.setdefault(row, len(codes)) for row in rows), np.int32
        )

    def _possibly_not_finite(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (column, its values as floats) for columns that may hold NaN or infinity."""
        X = self.X
        if len(X.shape) == 1:
            return
        columns: Any = range(X.shape[1])
        if not is_frame(X):
            if not sp.issparse(X) and X.dtype.kind not in "fO":
                return
            stored = X.data if sp.issparse(X) else X
            if X.dtype.kind == "f" and np.isfinite(stored).all():
                return
        if sp.issparse(X):
            # the only columns worth making dense
            columns = np.unique(X.indices[~np.isfinite(X.data)])
        for c in map(int, columns):
            values: Any = values_of(X, c) if is_frame(X) else X[:, [c]]
            values = np.ravel(values.toarray() if sp.issparse(values) else values)
            if values.dtype.kind in "fO":
                yield c, values if values.dtype.kind == "f" else _floats(values)

    def _check_magnitudes(self) -> None:
        """Refuse finite numbers whose squares overflow when summed over the table.

        No distance or mean survives that.
        """
        blocks = [] if self.is_finite_block else list(self._number_blocks())
        arrays = (
            [block_of(self.X)]
            if self.is_finite_block
            else [block for block, _ in blocks]
        )
        floats = [a for a in arrays if a is not None and a.dtype.kind == "f"]
        narrow = all(array.dtype.itemsize < 8 for array in floats)
        for values, c in blocks:
            self._refuse_huge("X", values, c, narrow)
        self._refuse_huge("y", self.y, None, narrow)

    def _refuse_huge(
        self, name: str, values: np.ndarray, column: int | None, narrow: bool
    ) -> None:
        if values.dtype.kind != "f" or values.size == 0:
            return
        limit = self._limit(narrow and values.dtype.itemsize < 8)
        with np.errstate(invalid="ignore"):
            huge = np.isfinite(values) & (np.abs(values) > limit)
        if not huge.any():
            return
        index = np.argwhere(huge)[0]
        if column is None and values.ndim > 1:
            column = int(index[1])
        place = f"row {index[0]}"
        if column is not None:
            place += f", {self.column(column)}"
        raise DataError(
            f"{name} holds {values[tuple(index)]} ({place}): squares of numbers beyond "
            f"{limit:.1e} overflow when summed; rescale {name}."
        )

    def _limit(self, narrow: bool) -> np.float64:
        """The largest number allowed; narrow: all floats of X are float32."""
        # float64, or a comparison would be in float32
        largest = np.float64(np.finfo(np.float32 if narrow else np.float64).max)
        return np.sqrt(largest / (4.0 * self.n_rows * max(self.n_columns, 1)))

    def _number_blocks(self) -> Iterator[tuple[np.ndarray, int | None]]:
        """Yield (floats, their column, or None for all columns) of X."""
        if sp.issparse(self.X):
            yield self.X.data, None
        elif not is_frame(self.X):
            yield self.X, None
        else:
            for c in range(self.n_columns):
                values = values_of(self.X, c)
                yield values if values.dtype.kind != "O" else _floats(values), c


def copy_of(X: Any) -> Any:
    """Return a copy of a table of any kind."""
    if hasattr(X, "copy"):
        return X.copy()
    return X.clone() if hasattr(X, "clone") else X


def _floats(values: np.ndarray) -> np.ndarray:
    """Convert objects to floats.

    Missing values become NaN, too large numbers inf and anything else 0, because encoding
    it is the pipeline's job.
    """

    def as_float(value: Any) -> float:
        if is_missing(value):
            return np.nan
        try:
            return float(value) if isinstance(value, float | int | np.number) else 0.0
        except OverflowError:
            return np.inf

    return np.array([as_float(value) for value in values], dtype=np.float64)


def _row_keys(X: Any) -> Iterable[Any]:
    """One hashable key per row, equal for equal rows; -0.0 equals 0.0, and NaN equals NaN."""
    if sp.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        starts = X.indptr[1:-1]
        rows = zip(np.split(X.indices, starts), np.split(X.data, starts), strict=True)
        return ((columns.tobytes(), values.tobytes()) for columns, values in rows)
    if is_frame(X):
        columns = (
            X.iloc[:, c] if hasattr(X, "iloc") else X[:, c] for c in range(X.shape[1])
        )
        return map(_key, zip(*(np.asarray(c).tolist() for c in columns), strict=True))
    if X.dtype.kind in "biuf":
        X = np.ascontiguousarray(X if X.dtype.kind == "b" else X + 0)  # -0.0 + 0 is 0.0
        row_of_bytes = np.dtype((np.void, X.dtype.itemsize * X.shape[1]))
        return X.view(row_of_bytes).ravel().tolist()
    return map(_key, np.atleast_2d(X.T).T.tolist())


def _key(row: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(None if is_missing(value) else value for value in row)
