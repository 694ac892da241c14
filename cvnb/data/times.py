"""Times of rows: dates or numbers, checked and kept as numbers of one unit."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError
from .checks import as_array, refuse_masked, refuse_missing

TO_DATES = "pandas.to_datetime(times)"
FURTHEST = 2**62  # differences of larger whole numbers overflow
CALENDAR = ("Y", "M", "W")  # units of dates that are kept as days


@dataclass(frozen=True, eq=False)
class Times:
    """When each row was measured.

    values  [rows] int64 or float64
    unit    NumPy's name of the unit of dates, such as "ns"; "" for plain numbers
    """

    values: np.ndarray
    unit: str = ""


def check_times(times: Any) -> Times:
    """Return the times as numbers; refuse text, missing values and what has no order."""
    refuse_masked("times", times)
    values = _as_dates(times)
    if values.ndim != 1:
        raise DataError(f"times must be a 1d array, got shape {values.shape}.")
    refuse_missing("times has no value", values)
    if values.dtype.kind == "O":
        values = _from_objects(values)
    if values.dtype.kind == "M":
        return _from_dates(values)
    if values.dtype.kind in "iu":
        return Times(_whole(values))
    if values.dtype.kind == "m":
        raise DataError(
            f"times holds durations ({values.dtype}); give dates, or numbers in a unit of your "
            "choice: times / numpy.timedelta64(1, 's')."
        )
    if values.dtype.kind != "f":
        raise DataError(
            f"times holds {values.dtype}; give dates, such as {TO_DATES}, or numbers."
        )
    if not np.isfinite(values).all():
        t = int(np.argmin(np.isfinite(values)))
        raise DataError(f"times holds {values[t]} in row {t}; times must be finite.")
    return Times(values.astype(np.float64))


def _as_dates(times: Any) -> np.ndarray:
    """Return an array; periods of pandas as their first moment, time zones as UTC."""
    dtype = getattr(times, "dtype", None)
    if str(dtype).startswith("period"):
        times = getattr(times, "dt", times).to_timestamp()
    elif getattr(dtype, "tz", None) is not None:
        unit = getattr(dtype, "unit", "ns")
        return np.asarray(times, dtype=f"datetime64[{unit}]")
    values = as_array("times", times)
    if values.dtype.kind in "US":
        _refuse_text(values[0] if values.ndim and values.size else values)
    return values


def _refuse_text(text: Any) -> None:
    raise DataError(
        f"times holds text ({str(text)!r}), which has no order in time; turn it into dates: "
        f"times={TO_DATES}."
    )


def _from_objects(values: np.ndarray) -> np.ndarray:
    """Convert Python's numbers and dates to an array of one dtype."""
    for t, value in enumerate(values):
        if isinstance(value, str | bytes):
            _refuse_text(value)
        if getattr(value, "tzinfo", None) is not None:
            raise DataError(
                f"times holds {value!r} in row {t}, with a time zone of its own; use "
                "pandas.to_datetime(times, utc=True)."
            )
    dates = (datetime.date, np.datetime64)
    if all(isinstance(value, dates) for value in values):
        exact = [
            getattr(v, "to_datetime64", lambda v=v: np.datetime64(v))() for v in values
        ]
        return np.array(exact)
    numbers = (int, float, np.integer, np.floating)
    if all(isinstance(v, numbers) and not isinstance(v, bool) for v in values):
        return np.array(values.tolist())
    kinds = ", ".join(sorted({type(value).__name__ for value in values})[:3])
    raise DataError(
        f"times holds {kinds}; give one kind for all rows: dates, such as {TO_DATES}, or numbers."
    )


def _whole(values: np.ndarray) -> np.ndarray:
    if values.size and (values.max() > FURTHEST or values.min() < -FURTHEST):
        raise DataError(
            f"times holds {values.max()}, too large for differences; subtract the first time."
        )
    return values.astype(np.int64)


def _from_dates(values: np.ndarray) -> Times:
    if np.isnat(values).any():
        t = int(np.argmax(np.isnat(values)))
        raise DataError(f"times has no value (NaT) in row {t}; drop or fill it.")
    unit = np.datetime_data(values.dtype)[0]
    if unit == "generic":
        raise DataError(f"times is {values.dtype} without a unit; use {TO_DATES}.")
    unit = "D" if unit in CALENDAR else unit
    return Times(_whole(values.astype(f"M8[{unit}]").astype(np.int64)), unit)
