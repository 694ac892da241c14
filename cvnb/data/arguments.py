"""X and y as the user passes them: in the wrong place, transposed, or in another order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DataError
from .checks import length


def refuse_misplaced(X: Any, y: Any) -> None:
    """Refuse a model, a file name or a data set as X, and X and y in the wrong order."""
    if isinstance(X, str):
        raise DataError(
            f"X cannot be read as an array: got the text {X!r}; give the variable without "
            "quotes, or read the file first."
        )
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # as a sparse dok_matrix has
        remedy = "use pandas.DataFrame(X)"
        if "target" in X:  # a Bunch of scikit-learn
            remedy = "use X['data'] and X['target'], or load it with return_X_y=True"
        raise DataError(
            f"X cannot be read as an array: got {type(X).__name__}; {remedy}."
        )
    # of a frame the columns are attributes too
    if not hasattr(X, "shape") and (hasattr(X, "get_params") or hasattr(X, "settings")):
        raise DataError(
            f"X is a model ({type(X).__name__}); the order is run(model, X, y), and "
            "plan(X, y, model)."
        )
    if _n_columns(X) == 1 and _n_columns(y) > 1:
        raise DataError(
            f"X and y look swapped: X holds one value per row, and y has {_n_columns(y)} "
            "columns; X, the table, comes first, and y is one target."
        )


def refuse_lengths(X: Any, given: Mapping[str, Any]) -> None:
    """Refuse a table without rows, and arguments of another length.

    X      a table, checked
    given  name of an argument -> its values, or None
    """
    n_rows = X.shape[0]
    if n_rows == 0:
        raise DataError(
            "Found array with 0 sample(s) in X; at least 2 rows are needed."
        )
    for name, values in given.items():
        if values is None or (n := length(name, values)) == n_rows:
            continue
        hint = ""
        if n > 1 and n == _n_columns(X):
            hint = f"; X has {n} columns and looks transposed: use X.T"
        raise DataError(
            f"X has {n_rows} rows but {name} has {n}: inconsistent numbers of samples{hint}."
        )


def cautions_on_order(X: Any, given: Mapping[str, Any]) -> list[str]:
    """Return a caution for each argument whose index is that of X in another order."""
    return [
        f"X and {name} have the same index in another order: rows are matched by position. "
        f"Use {name}.loc[X.index] if the index names the rows."
        for name, values in given.items()
        if _in_other_order(X, values)
    ]


def _in_other_order(X: Any, values: Any) -> bool:
    """Whether two pandas objects have the same index in another order."""
    if not (hasattr(X, "iloc") and hasattr(values, "iloc")):
        return False
    index, own = X.index, values.index
    if len(index) != len(own) or index.equals(own):
        return False
    return index.is_unique and own.is_unique and bool(own.isin(index).all())


def _n_columns(values: Any) -> int:
    """The number of columns of an array, frame, sparse matrix or list; 1 for one dimension."""
    if hasattr(values, "shape"):
        return int(np.prod(values.shape[1:]))
    is_nested = isinstance(values, list | tuple) and len(values) > 0
    return int(np.size(values[0])) if is_nested else 0
