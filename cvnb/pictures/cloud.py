"""A cloud of numbers as a small picture: a dot for each, stacked where they are near."""

from __future__ import annotations

import numpy as np

from ..losses.scale import Scale
from .axes import WIDTH, Axes, nice_ticks, tick_labels
from .drawing import Picture, text

HEIGHT, BINS = 118, 48
TOP, BOTTOM = 30, 84  # of the dots


def draw_cloud(
    values: np.ndarray, marks: dict[str, float], label: str, scale: Scale
) -> Picture:
    """Draw a dot for each value along one axis, and a line with its name at each mark.

    values  the numbers, as displayed
    marks   name -> number; the last one was measured on the rows as they are
    label   what the numbers are
    scale   how they are written
    """
    every = np.concatenate([values, list(marks.values())])
    ticks = nice_ticks(float(every.min()), float(every.max()))
    axes = Axes(ticks[0], ticks[-1], 0.0, 1.0, left=14, right=WIDTH + 22)
    parts = [
        f'<path class="g" d="M{axes.x(tick):.1f} {TOP}V{BOTTOM}"/>'
        + text(axes.x(tick), BOTTOM + 14, name, "middle")
        for tick, name in zip(ticks, tick_labels(ticks, scale), strict=True)
    ]
    parts += _dots(values, axes)
    words = {name: f"{name} {scale.displayed(value)}" for name, value in marks.items()}
    parts += _marks(marks, words, axes)
    parts.append(text((axes.left + axes.right) / 2, HEIGHT - 3, label, "middle"))
    low, high = (scale.displayed(float(end)) for end in (values.min(), values.max()))
    named = "; ".join(["", *words.values()])
    alt = f"{values.size} values of {label} from {low} to {high}{named}."
    return Picture("".join(parts), alt, WIDTH + 40, HEIGHT)


def _dots(values: np.ndarray, axes: Axes) -> list[str]:
    """Dots in columns; one stands for several values where there are many."""
    span = (axes.last - axes.first) or 1.0
    column = np.rint((values - axes.first) / span * BINS).astype(int)
    columns, counts = np.unique(column, return_counts=True)
    room = int((BOTTOM - TOP) / 5)
    each = max(1, -(-int(counts.max()) // room))  # values for each dot
    shapes = []
    for place, n in zip(columns.tolist(), counts.tolist(), strict=True):
        x = axes.x(axes.first + place * span / BINS)
        for level in range(-(-n // each)):
            y = BOTTOM - 3 - 5 * level
            shapes.append(f"M{x - 2.2:.1f} {y}a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0-4.4 0")
    return [f'<path class="h" d="{"".join(shapes)}"/>']


def _marks(marks: dict[str, float], words: dict[str, str], axes: Axes) -> list[str]:
    """Lines with their names in rows above the dots, so that no name covers another."""
    parts = []
    for row, (name, value) in enumerate(marks.items()):
        x, y = axes.x(value), 11 + 12 * row
        anchor = "start" if x < (axes.left + axes.right) / 2 else "end"
        shift = 4 if anchor == "start" else -4
        kind = "l n" if row else "l"
        parts.append(f'<path class="{kind}" d="M{x:.1f} {y - 8}V{BOTTOM}"/>')
        parts.append(text(x + shift, y, words[name], anchor, "o"))
    return parts
