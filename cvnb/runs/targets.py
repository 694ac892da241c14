"""Targets that a model cannot learn: labels for a regression, measurements as classes, ..."""

from __future__ import annotations

import numpy as np

from ..data.table import MAX_CLASSES_OF_INTEGERS, Data
from ..errors import DataError
from ..families.family import Family

FEWEST = 3  # rows of a class, on average; fewer are no classes


def check_target(data: Data, task: str, family: Family) -> None:
    """Refuse a target of the wrong kind for this estimator.

    task: "classification" or "regression"
    """
    y, label = data.y, family.label
    if task == "regression":
        if y.dtype.kind not in "biuf":
            raise DataError(
                f"y holds labels such as {_shown(y[0])}, but {label} is a regression; use a "
                "classifier."
            )
        return
    if y.dtype.kind == "f" and not (whole := y == np.floor(y)).all():
        raise DataError(
            f"Unknown label type: y is continuous (such as {_shown(y[~whole][0])}), "
            f"but {label} is a classifier; use a regression."
        )
    n_classes = data.classes[0].size
    if n_classes == 1:
        raise DataError(
            f"y holds one class, {_shown(y[0])}, in all {y.size} rows: nothing can be "
            "learned from it; check how y was made."
        )
    if n_classes > MAX_CLASSES_OF_INTEGERS and n_classes * FEWEST > y.size:
        _refuse_measurements(data, label)


def _refuse_measurements(data: Data, label: str) -> None:
    """Refuse numbers, or text that reads as numbers, with hardly any row of a class."""
    if data.category:
        return
    y, n_classes = data.y, data.classes[0].size
    are_numbers = y.dtype.kind in "iuf"
    if not are_numbers and not _read_as_numbers(y):
        return
    remedy = "use a regression" if are_numbers else "use y.astype(float)"
    raise DataError(
        f"y holds {n_classes} different numbers in {y.size} rows, such as {_shown(y[0])}, but "
        f"{label} is a classifier; {remedy}, or pandas.Categorical(y) if they are classes."
    )


def _read_as_numbers(y: np.ndarray) -> bool:
    try:
        y.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _shown(value: object) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
