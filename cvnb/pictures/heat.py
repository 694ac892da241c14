"""The mean inner loss over a full grid of two parameters, as cells from pale to strong."""

from __future__ import annotations

import math

import numpy as np

from ..wording import count
from .axes import HEIGHT, WIDTH, room_of
from .curves import Surface
from .drawing import Picture, centred, cut, text, upwards

TOP, BOTTOM = 30, HEIGHT - 34  # of the cells
LONGEST = 16  # letters of the name of a value; the middle of a longer one is left out
STEPS = 5  # of the key


def draw_surface(surface: Surface) -> Picture:
    """Draw cells, stronger for better mean inner losses; rings count the folds that chose one."""
    n_y, n_x = surface.mean.shape
    rows, columns = (
        [cut(name, LONGEST) for name in axis.names] for axis in (surface.y, surface.x)
    )
    left = 24 + math.ceil(max(map(room_of, rows)))
    right = left + WIDTH - 22
    width, height = (right - left) / n_x, (BOTTOM - TOP) / n_y
    parts = _key(surface, left, right)
    parts += _cells(surface, left, width, height)
    longest = max(map(room_of, columns)) + 6
    for column, name in _some(columns, width, longest):
        x = left + (column + 0.5) * width
        inside = min(max(x, left + room_of(name) / 2), right - room_of(name) / 2)
        parts.append(text(inside, BOTTOM + 13, name, "middle"))
    for row, name in _some(rows, height, 12):
        parts.append(text(left - 5, BOTTOM - (row + 0.5) * height + 4, name, "end"))
    middle = f"{(left + right) / 2:.1f}"
    parts.append(centred(middle, HEIGHT - 5, cut(surface.x.name, 40)))
    parts.append(upwards(12, (TOP + BOTTOM) / 2, cut(surface.y.name, 18)))
    low, high = (surface.write(float(f(surface.mean))) for f in (np.nanmin, np.nanmax))
    alt = (
        f"{surface.ylabel} over {surface.x.name} and {surface.y.name}, {low} to {high}; "
        f"rings count the choices of {count(surface.n_splits, 'fold')}."
    )
    return Picture("".join(parts), alt, right + 8)


def _key(surface: Surface, left: float, right: float) -> list[str]:
    """What the cells are, and the numbers of the palest and the strongest one."""
    ends = [float(np.nanmin(surface.mean)), float(np.nanmax(surface.mean))]
    worst, best = ends if surface.large_is_good else ends[::-1]
    parts = [text(left, 11, cut(surface.ylabel, 42), "start")]
    first = surface.write(worst)
    x = left + room_of(first) + 5
    parts.append(text(left, 25, first, "start"))
    for step in range(STEPS):
        shade = f'fill-opacity="{_strength(step / (STEPS - 1)):.2f}"'
        parts.append(
            f'<rect class="h e" x="{x + 12 * step:.1f}" y="17" width="12" height="8" {shade}/>'
        )
    words = f"{surface.write(best)} is best"
    return [*parts, text(x + 12 * STEPS + 5, 25, words, "start")]


def _strength(goodness: float) -> float:
    return 0.08 + 0.92 * goodness


def _cells(surface: Surface, left: float, width: float, height: float) -> list[str]:
    size = f'width="{width - 0.6:.1f}" height="{height - 0.6:.1f}"'
    parts, marks = [], []
    radius = max(2.5, min(7.5, width / 2 - 1, height / 2 - 1))
    for (row, column), goodness in np.ndenumerate(surface.goodness):
        if not math.isfinite(goodness):
            continue  # a gap: every setting there failed
        x, y = left + column * width, BOTTOM - (row + 1) * height
        shade = f'fill-opacity="{_strength(goodness):.2f}"'
        parts.append(f'<rect class="h" x="{x:.1f}" y="{y:.1f}" {size} {shade}/>')
        times, x, y = surface.times[row, column], x + width / 2, y + height / 2
        if times:
            marks.append(
                f'<circle class="c e" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
            )
            if radius >= 6:
                marks.append(text(x, y + 4, times, "middle", "i"))
    return [*parts, *marks]


def _some(names: list[str], room: float, needed: float) -> list[tuple[int, str]]:
    """(place, name) of evenly spaced names that have the room they need."""
    return list(enumerate(names))[:: max(1, math.ceil(needed / room))]
