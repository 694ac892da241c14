"""Columns of X: those that y, groups and weights name, one that equals y, and those with text."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DataError
from .checks import block_of, is_frame, values_of

FEW = 16  # rows that are compared first
ALIKE = 0.75  # share of equal letters in a name that was probably meant
HOLDS = {
    "groups": "the groups",
    "sample_weight": "the weights",
    "times": "the times",
}
TEXT_DTYPES = ("object", "str", "<U", "category", "Categorical", "Enum", "Object")


def without_columns(
    X: Any, given: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[Any, dict[str, Any]]:
    """Return X without the columns that arguments name, and the arguments with their values.

    X      a table, checked
    given  name of an argument -> its value
    names  name of an argument -> the column that it names
    """
    if not names:
        return X, dict(given)
    places = {argument: _place(X, argument, name) for argument, name in names.items()}
    values = {argument: _column(X, c) for argument, c in places.items()}
    kept = [c for c in range(X.shape[1]) if c not in places.values()]
    if not kept:
        raise DataError(
            f"X has no column but {', '.join(map(repr, names.values()))}: no feature is left "
            "to predict from."
        )
    X = X.iloc[:, kept] if hasattr(X, "iloc") else X[:, kept]
    return X, {**given, **values}


def notes_on(names: Mapping[str, str]) -> list[str]:
    """Return a note for each argument that names a column of X, except y."""
    return [
        f"Column {names[argument]!r} of X holds {values}: it is no feature."
        for argument, values in HOLDS.items()
        if argument in names
    ]


def _place(X: Any, argument: str, name: str) -> int:
    if not is_frame(X):
        raise DataError(
            f"{argument}={name!r} names a column, but X is no DataFrame; give one value for "
            "every row."
        )
    columns = list(X.columns)
    if name in columns:
        return columns.index(name)
    texts = [str(column) for column in columns]
    close = difflib.get_close_matches(name, texts, n=1, cutoff=ALIKE)
    hint = f". Did you mean {close[0]!r}?" if close else f"; it has {_listed(texts)}."
    raise DataError(f"{argument}={name!r}: X has no column {name!r}{hint}")


def _listed(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _column(X: Any, c: int) -> Any:
    return X.iloc[:, c] if hasattr(X, "iloc") else X[:, c]


def cautions_on_answer(X: Any, y: np.ndarray) -> list[str]:
    """Return a caution if a column of X equals y in every row."""
    c = _equal_to_y(X, y)
    if c is None:
        return []
    name, without = str(c), f"np.delete(X, {c}, axis=1)"
    if is_frame(X):
        name = repr(list(X.columns)[c])
        without = f"X.drop(columns={name})" if hasattr(X, "iloc") else f"X.drop({name})"
    return [
        f"Column {name} of X equals y in every row: the model reads the answer there. Leave "
        f"it out: {without}."
    ]


def _equal_to_y(X: Any, y: np.ndarray) -> int | None:
    """Return the index of a column that equals y in every row; None if there is none.

    A constant y is equal to nothing. Sparse X is not searched.
    """
    if len(X.shape) != 2 or not (is_frame(X) or isinstance(X, np.ndarray)):
        return None
    if (y == y[0]).all():
        return None
    block = block_of(X)
    if block is not None:
        return _equal_in_block(block, y)
    first, targets = np.asarray(X[:FEW], dtype=object).T.tolist(), y.tolist()
    near = [c for c, few in enumerate(first) if _are_equal(few, targets[:FEW])]
    return next(
        (c for c in near if _are_equal(values_of(X, c).tolist(), targets)), None
    )


def _equal_in_block(block: np.ndarray, y: np.ndarray) -> int | None:
    if y.dtype.kind not in "biuf":
        return None
    # as the precision of X shows it
    y = y.astype(block.dtype) if block.dtype.kind == "f" else y
    near = np.flatnonzero((block[:FEW] == y[:FEW, None]).all(axis=0))
    return next((int(c) for c in near if np.array_equal(block[:, c], y)), None)


def _are_equal(values: list[Any], y: list[Any]) -> bool:
    try:
        return values == y
    except (TypeError, ValueError):  # pandas' NA is neither equal nor unequal
        return False


def text_columns(X: Any) -> list[int]:
    """Return the indices of the columns that hold text other than numbers."""
    if len(X.shape) != 2:
        return []
    dtypes = list(X.dtypes) if is_frame(X) else [X.dtype] * X.shape[1]
    may_be_text = {dtype: _may_be_text(dtype) for dtype in dict.fromkeys(dtypes)}
    columns = [c for c, dtype in enumerate(dtypes) if may_be_text[dtype]]
    return [c for c in columns if first_text(X, c) is not None]


def _may_be_text(dtype: Any) -> bool:
    """Whether a column with this dtype of NumPy, pandas or polars can hold text."""
    name = str(dtype)
    return name.startswith(TEXT_DTYPES) or "string" in name.lower()


def first_text(X: Any, c: int) -> str | None:
    """Return the first text in column c that is no number; None if there is none."""
    for rows in (X[:FEW], X):  # mostly the first rows tell
        values = values_of(rows, c).tolist()
        texts = (value for value in values if isinstance(value, str))
        found = next((text for text in texts if not _is_number(text)), None)
        if found is not None:
            return found
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
