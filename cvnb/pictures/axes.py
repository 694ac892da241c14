"""From numbers to pixels, and round numbers along an axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..losses.scale import Scale

WIDTH, HEIGHT = 300, 172


@dataclass(frozen=True)
class Axes:
    """From numbers to pixels: x from first to last, y from low to high."""

    first: float
    last: float
    low: float
    high: float
    left: float = 44
    right: float = WIDTH + 22
    top: float = 8
    bottom: float = HEIGHT - 30

    def x(self, value: float) -> float:
        span = self.last - self.first
        share = (value - self.first) / span if span else 0.5
        return self.left + 6 + share * (self.right - self.left - 12)

    def y(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.bottom - share * (self.bottom - self.top)

    def inside(self, x: float, width: float) -> float:
        """Return x, moved so that words of this width around it stay within the picture."""
        return min(max(x, width / 2 + 1), self.right + 17 - width / 2)

    def path(self, x: np.ndarray, y: np.ndarray) -> str:
        """Straight lines between the finite points."""
        points = [
            f"{self.x(a):.1f} {self.y(b):.1f}"
            for a, b in zip(x.tolist(), y.tolist(), strict=True)
            if math.isfinite(b)
        ]
        return "M" + "L".join(points) if points else ""


def tick_labels(
    ticks: list[float], scale: Scale | None = None, digits: int = 4
) -> list[str]:
    """Return short numbers, with as many digits as are needed to tell them apart.

    scale: how they are written, in percent or plainly; digits: the fewest significant ones

    >>> tick_labels([1000000.001, 1000000.002]), tick_labels([0.0, 1000.0], digits=3)
    (['1000000.001', '1000000.002'], ['0', '1000'])
    """
    factor, unit = (1.0, "") if scale is None else (scale.factor, scale.unit)
    numbers = [factor * tick for tick in ticks]
    shown = next(
        labels
        for n in range(digits, 18)
        if len(set(labels := [plain_number(x, n) for x in numbers])) == len(ticks)
    )
    return [f"{label}{unit}" for label in shown]


def plain_number(value: float, digits: int) -> str:
    """Return a number with so many digits, without a power of ten up to a million.

    >>> plain_number(1000.0, 3), plain_number(0.0316228, 3), plain_number(1e8, 3)
    ('1000', '0.0316', '1e+08')
    """
    text = f"{value:.{digits}g}"
    if "e+" in text and abs(value) < 1e7:
        text = f"{float(text):.0f}"
    return text


def room_of(words: str) -> float:
    """Return how many pixels words of 11 px take at most, whatever the font."""
    return 6.8 * len(words)


def nice_ticks(low: float, high: float, inside: bool = False) -> list[float]:
    """Return four to six round numbers around the interval from low to high, or inside it.

    >>> nice_ticks(0.013, 0.065)
    [0.0, 0.02, 0.04, 0.06, 0.08]
    """
    if not high > low:
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step = next(step * by for by in (1, 2, 5, 10) if (high - low) / (step * by) <= 5)
    if inside:
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    else:
        first, last = math.floor(low / step), math.ceil(high / step)
    digits = 1 - math.floor(math.log10(step))
    return [round(n * step, digits) + 0.0 for n in range(first, last + 1)]
