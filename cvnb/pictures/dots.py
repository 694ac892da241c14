"""One number with its interval and its folds on an axis that several rows of a table share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .drawing import Picture

HEIGHT, MARGIN = 20, 7
MOST_FOLDS = 30


@dataclass(frozen=True)
class Line:
    """A dot at value, a line from low to high (None: no line), rings at the folds.

    words   the content for readers who cannot see it
    strong  whether it is the number to report; the others are grey
    """

    value: float
    low: float | None = None
    high: float | None = None
    folds: Sequence[float] = ()
    words: str = ""
    strong: bool = True

    @property
    def numbers(self) -> list[float]:
        ends = [x for x in (self.value, self.low, self.high) if x is not None]
        return [*ends, *self.shown_folds]

    @property
    def shown_folds(self) -> Sequence[float]:
        return self.folds if len(self.folds) <= MOST_FOLDS else ()


def draw_lines(lines: Sequence[Line], width: int = 200) -> list[Picture]:
    """Return a picture of each line, all on one axis."""
    numbers = np.array([x for line in lines for x in line.numbers], dtype=np.float64)
    known = numbers[np.isfinite(numbers)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        share = min(1.0, max(0.0, (value - low) / span))
        return MARGIN + share * (width - 2 * MARGIN)

    first = place(lines[0].value)
    return [
        Picture("".join(_shapes(line, first, place)), line.words, width, HEIGHT)
        for line in lines
    ]


def _shapes(line: Line, first: float, place: Callable[[float], float]) -> Iterable[str]:
    middle = HEIGHT / 2
    yield f'<path class="l" d="M{first:.1f} 0V{HEIGHT}"/>'
    for fold in line.shown_folds:
        if np.isfinite(fold):
            yield f'<circle class="s" cx="{place(fold):.1f}" cy="{middle}" r="3"/>'
    if line.low is not None and line.high is not None:
        ends = f"M{place(line.low):.1f} {middle}H{place(line.high):.1f}"
        yield f'<path class="{"m" if line.strong else "q"}" d="{ends}"/>'
    if np.isfinite(line.value):
        kind, radius = ("h", 5) if line.strong else ("p", 4)
        yield f'<circle class="{kind}" cx="{place(line.value):.1f}" cy="{middle}" r="{radius}"/>'
