"""Distributions in a grid: how they are written, and the range of values that they cover."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats

from .setting_groups import is_plain_number

LOGARITHMIC = (
    "loguniform",
    "reciprocal",
)  # distributions that are flat in the logarithm
OUTER_SHARE = 0.05  # of a range: from here on a value is near its end
Grids = Sequence[Mapping[str, Any]]


def is_distribution(values: Any) -> bool:
    """Whether these are no values but a distribution, by scikit-learn's rule: it has rvs."""
    return hasattr(values, "rvs") and not isinstance(values, type)


def misses_parameters(values: Any) -> bool:
    """Whether this is a family of scipy's distributions, such as loguniform, and none of them."""
    is_family = isinstance(values, scipy.stats.rv_continuous | scipy.stats.rv_discrete)
    return is_family and values.numargs > 0


def call_of(distribution: Any) -> tuple[str, list[Any], dict[str, Any]] | None:
    """Return (name, arguments, keywords) of a distribution of scipy.stats, None for another."""
    kind = getattr(distribution, "dist", None)
    name = str(getattr(kind, "name", ""))
    public = getattr(scipy.stats, name, None)
    if public is None or type(public) is not type(kind):
        return None
    return name, [*map(_plain, distribution.args)], _plain_values(distribution.kwds)


def distribution_text(distribution: Any) -> str:
    """Return the call that makes a distribution: "loguniform(0.001, 1000.0)".

    >>> distribution_text(scipy.stats.uniform(loc=1, scale=2))
    'uniform(loc=1, scale=2)'
    """
    call = call_of(distribution)
    if call is None:
        name = getattr(distribution, "name", None)
        return name if isinstance(name, str) else type(distribution).__name__
    name, arguments, keywords = call
    texts = [*map(repr, arguments), *(f"{key}={x!r}" for key, x in keywords.items())]
    return f"{name}({', '.join(texts)})"


def grid_text(grid: Any) -> str:
    """Return the repr of a grid, with distributions as the calls that make them."""
    if not isinstance(grid, Mapping):
        return f"[{', '.join(map(grid_text, grid))}]"
    pairs = [f"{key!r}: {values_text(values)}" for key, values in grid.items()]
    return f"{{{', '.join(pairs)}}}"


def values_text(values: Any) -> str:
    """Return a distribution as its call, and a list as its repr."""
    return distribution_text(values) if is_distribution(values) else repr(values)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _plain_values(keywords: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) for key, value in keywords.items()}


@dataclass(frozen=True)
class Range:
    """The values that a grid allows a parameter, from low to high.

    is_log   whether they are spread evenly in the logarithm
    near     share of the range that counts as its end; 0: only the end itself, as of a list
    """

    low: Any
    high: Any
    is_log: bool = False
    near: float = 0.0

    @property
    def is_drawn(self) -> bool:
        return self.near > 0

    def side(self, value: Any) -> str:
        """Return "lower" or "upper" for a value at that end of the range, "" for any other."""
        share = self._place(value)
        if value == self.low or share <= self.near:
            return "lower"
        return "upper" if value == self.high or share >= 1 - self.near else ""

    def _place(self, value: Any) -> float:
        """Return where in the range the value is, from 0 to 1, on the range's own scale."""
        low, high, at = self.low, self.high, value
        if self.is_log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        return float((at - low) / (high - low))

    def __or__(self, other: Range) -> Range:
        """Return the range of both; a list takes the scale of a distribution."""
        low, drawn = min(self.low, other.low), [r for r in (self, other) if r.is_drawn]
        is_log = bool(drawn) and low > 0 and all(one.is_log for one in drawn)
        near = max(self.near, other.near)
        return Range(low, max(self.high, other.high), is_log, near)


def ranges_of(grids: Grids) -> dict[str, Range]:
    """Return the range of each parameter that has two values or more, all of them numbers."""
    found: dict[str, Range | None] = {}
    for grid in grids:
        for key, values in grid.items():
            own, known = _range_of(values), found.get(key)
            if key not in found:
                found[key] = own
            else:
                found[key] = known | own if known and own else None
    return {key: one for key, one in found.items() if one and one.low < one.high}


def _range_of(values: Any) -> Range | None:
    """Return the range of a list of numbers, or of a distribution with two finite ends."""
    if not is_distribution(values):
        is_numeric = all(map(is_plain_number, values))
        return Range(min(values), max(values)) if is_numeric else None
    if not hasattr(values, "support"):
        return None
    low, high = map(_plain, values.support())
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return Range(low, high, low > 0 and is_logarithmic(values), OUTER_SHARE)


def is_logarithmic(distribution: Any) -> bool:
    """Whether the distribution is flat in the logarithm."""
    call = call_of(distribution)
    return call is not None and call[0] in LOGARITHMIC


def distributions_in(grids: Grids) -> Iterable[tuple[str, Any]]:
    """Yield (parameter, distribution) of the grids."""
    for grid in grids:
        for key, values in grid.items():
            if is_distribution(values):
                yield key, values
