"""buffer=: a number of rows, a number in the units of times, or a duration such as "3D"."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from ..data.times import Times
from ..errors import RecipeError
from ..wording import count
from .specs import is_whole

Buffer = int | float | str  # rows, or units of times; units of times; "3D"

# unit of NumPy -> (its length in attoseconds, its name)
UNITS = {
    "W": (604_800 * 10**18, "week"),
    "D": (86_400 * 10**18, "day"),
    "h": (3_600 * 10**18, "hour"),
    "m": (60 * 10**18, "minute"),
    "s": (10**18, "second"),
    "ms": (10**15, "millisecond"),
    "us": (10**12, "microsecond"),
    "ns": (10**9, "nanosecond"),
    "ps": (10**6, "picosecond"),
    "fs": (10**3, "femtosecond"),
    "as": (1, "attosecond"),
}
OTHER_NAMES = {
    "d": "D",
    "w": "W",
    "H": "h",
    "hr": "h",
    "min": "m",
    "T": "m",
    "S": "s",
    "sec": "s",
}
PART = re.compile(r"\s*(\d+)\s*([A-Za-z]+)")


def check_buffer(buffer: Any) -> Buffer:
    """Return buffer= as a number, or as the shortest text of a duration."""
    if isinstance(buffer, str):
        return _text(_length_of_text(buffer))
    if isinstance(buffer, np.timedelta64):
        return _text(_length_of_timedelta64(buffer))
    if hasattr(buffer, "to_timedelta64"):  # pandas.Timedelta; its NaT is no number >= 0
        return _text(_length_of_timedelta64(buffer.to_timedelta64()))
    if isinstance(buffer, datetime.timedelta):
        microseconds = buffer // datetime.timedelta(microseconds=1)
        return _text(microseconds * UNITS["us"][0])
    is_float = isinstance(buffer, float | np.floating)
    if is_float and np.isfinite(buffer) and buffer >= 0:
        return float(buffer)
    if not is_whole(buffer) or buffer < 0:
        raise RecipeError(
            f"buffer={buffer!r} must be a whole number of rows >= 0; with times=, also a "
            "number in their units or a duration such as '3D'."
        )
    return int(buffer)


def _length_of_text(text: str) -> int:
    """Return the length of a duration, such as "3D" or "1h30min", in attoseconds."""
    length, end = 0, 0
    while found := PART.match(text, end):
        unit = _unit(found[2])
        if unit is None:
            break
        length += int(found[1]) * UNITS[unit][0]
        end = found.end()
    if end == 0 or text[end:].strip():
        raise RecipeError(
            f"buffer={text!r} is no duration; write whole numbers with units, such as '3D', "
            "'2W', '12h', '90min', '1h30min', '5s' or '10ms' (months and years differ in length)."
        )
    return length


def _unit(word: str) -> str | None:
    """Return NumPy's name of a unit; None if it is not known."""
    if word == "M":
        return None
    if word in UNITS or word in OTHER_NAMES:
        return OTHER_NAMES.get(word, word)
    word = word.lower().removesuffix("s")
    return next((unit for unit, (_, name) in UNITS.items() if name == word), None)


def _length_of_timedelta64(buffer: np.timedelta64) -> int:
    unit, step = np.datetime_data(buffer.dtype)
    if np.isnat(buffer) or unit not in UNITS:
        raise RecipeError(
            f"buffer={buffer!r} is no length of time; use a unit from weeks to nanoseconds, "
            "such as numpy.timedelta64(3, 'D')."
        )
    return int(buffer.astype(np.int64)) * step * UNITS[unit][0]


def _text(length: int) -> str:
    """Return the shortest text of a length in attoseconds."""
    if length < 0:
        raise RecipeError("buffer is a negative duration; give its length: '3D'.")
    unit = next(u for u, (size, _) in UNITS.items() if u != "W" and length % size == 0)
    return f"{length // UNITS[unit][0]}{'min' if unit == 'm' else unit}"


def is_in_time(buffer: Buffer, times: Times | None) -> bool:
    """Whether the buffer is a difference of times, and no number of rows."""
    return not isinstance(buffer, int) or (times is not None and not times.unit)


def gap_of(buffer: Buffer, times: Times | None) -> int | float:
    """Return the buffer as a number of rows, or of the units of times; refuse what has none."""
    if times is None and isinstance(buffer, str):
        raise RecipeError(
            f"buffer={buffer!r} is a duration and needs the time of every row; give times=, or "
            "a number of rows."
        )
    if times is None and isinstance(buffer, float):
        raise RecipeError(
            f"buffer={buffer!r} must be a whole number of rows >= 0; a length of time needs "
            "times=."
        )
    if times is not None and isinstance(buffer, str):
        if not times.unit:
            raise RecipeError(
                f"buffer={buffer!r} is a duration, but times holds plain numbers; give the "
                "buffer as a number in their units."
            )
        return _length_of_text(buffer) // UNITS[times.unit][0]
    if times is not None and times.unit and isinstance(buffer, float):
        raise RecipeError(
            f"buffer={buffer!r} has no unit, and times holds dates; write a duration, such as "
            "buffer='3D'."
        )
    assert not isinstance(buffer, str)
    return buffer


def buffer_words(buffer: Buffer, times: Times | None = None) -> str:
    """Return the buffer in words: "3 rows", "3 days", "2.5 units of time"."""
    if isinstance(buffer, str):
        found = PART.match(buffer)
        assert found is not None
        unit = UNITS[_unit(found[2]) or ""][1]
        return count(int(found[1]), unit)
    if is_in_time(buffer, times):
        return f"{buffer:g} unit{'s' * (buffer != 1)} of time"
    return count(int(buffer), "row")
