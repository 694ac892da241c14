"""X and y of float16 and float32: fast paths compute in double precision.

scikit-learn computes some models in the precision of X, some in that of y, some in float64. A
fast path, and the refit of what it refuses, takes X and y as float64 throughout, so that its
numbers are scikit-learn's on X.astype(np.float64). X is converted once for all splits.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.checks import is_frame
from ..data.table import Data
from .base import Draw
from .problem import Request


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether these are floats of fewer than 64 bits."""
    return dtype.kind == "f" and dtype.itemsize < 8


def note_on(what: str) -> str:
    """Return the note on narrow floats; what: "X is float32"."""
    return f"{what}: computed in double precision, as scikit-learn computes on float64."


def widened(request: Request) -> tuple[Request, str]:
    """Return (the request with X and y in double precision, the note on it or "").

    y is converted only where it is a number, not a class.
    """
    data, is_regression = request.evaluator.data, request.evaluator.classes is None
    given = {"X": _dtype_of(data.X)}
    if is_regression:
        given["y"] = data.y.dtype
    narrow = {name: dtype for name, dtype in given.items() if is_narrow(dtype)}
    if not narrow:
        return request, ""
    X = _in_double(data.X) if "X" in narrow else data.X
    draws, evaluators = [], []
    for draw, evaluator in zip(request.draws, request.evaluators, strict=True):
        evaluator = copy.copy(evaluator)
        evaluator.data = _with(draw.data, X, is_regression)
        draws.append(Draw(draw.plan, evaluator.data))
        evaluators.append(evaluator)
    words = " and ".join(f"{name} is {dtype}" for name, dtype in narrow.items())
    return replace(request, draws=draws, evaluators=evaluators), note_on(words)


def _with(data: Data, X: Any, is_regression: bool) -> Data:
    """Return the data with this X and, if they are numbers, targets in double precision."""
    is_float = is_regression and is_narrow(data.y.dtype)
    y = data.y.astype(np.float64) if is_float else data.y
    return replace(data, X=X, y=y)


def _dtype_of(X: Any) -> np.dtype[Any]:
    """Return the type as which scikit-learn reads X; object for anything but numbers."""
    dtypes = X.dtypes if is_frame(X) else [X.dtype]
    try:
        return np.result_type(*map(_numpy_type, dtypes))
    except (TypeError, ValueError):
        return np.dtype(object)


def _numpy_type(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy type of a column of a frame: pandas' and polars' Float32 are float32."""
    return np.dtype(str(dtype).lower().replace("boolean", "bool"))


def _in_double(X: Any) -> Any:
    """Return X, an array, a sparse matrix or a frame, with its narrow floats as float64."""
    if not is_frame(X):
        return X.astype(np.float64)
    narrow = [
        (name, dtype)
        for name, dtype in zip(X.columns, X.dtypes, strict=True)
        if is_narrow(_numpy_type(dtype))
    ]
    if not hasattr(X, "astype"):
        return X.cast({name: float for name, _ in narrow})
    names = {name: str(dtype).rstrip("1236") + "64" for name, dtype in narrow}
    return X.astype(names)
