"""Numbers and names formatted for sentences."""

from __future__ import annotations

import math
import re
from typing import Any

NUMBER = re.compile(r"\d[\d.]*(?:[eE][-+]?\d+)?")


def count(n: Any, noun: str) -> str:
    """ "1 row", "2 rows"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def number(value: float | None) -> str:
    """The value with six significant digits; a dash if it is None or NaN."""
    return "–" if value is None or math.isnan(value) else f"{value:.6g}"


def rounded(value: float | None, digits: int) -> str:
    """The value with so many significant digits, as a plain number; a dash likewise.

    >>> rounded(1234.5, 2), rounded(0.012345, 3)
    ('1200', '0.0123')
    """
    is_known = value is not None and math.isfinite(value)
    return number(float(f"{value:.{digits}g}")) if is_known else "–"


def duration(seconds: float) -> str:
    """About how long, in the largest unit that fits.

    >>> duration(41.7), duration(474.0), duration(9000.0)
    ('about 42 s', 'about 8 min', 'about 2.5 h')
    """
    if seconds < 120:
        return f"about {rounded(seconds, 2)} s"
    if seconds < 7200:
        return f"about {seconds / 60:.0f} min"
    return f"about {rounded(seconds / 3600, 2)} h"


def spread(sizes: Any) -> str:
    """ "455" or "455 to 456"."""
    low, high = int(min(sizes)), int(max(sizes))
    return str(low) if low == high else f"{low} to {high}"


def some(names: list[str]) -> str:
    """The first three names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def without_numbers(text: str) -> str:
    """The text with # for every number; equal for messages that differ only in numbers."""
    return NUMBER.sub("#", text)
