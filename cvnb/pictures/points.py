"""A line, and dots with their standard errors, as a small static picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .axes import HEIGHT, WIDTH, Axes, nice_ticks, tick_labels
from .drawing import Picture, centred, gridline, text


@dataclass(frozen=True, eq=False)
class Points:
    """What the picture shows: a line, and dots with their standard errors."""

    x: np.ndarray
    line: np.ndarray
    dots: np.ndarray
    errors: np.ndarray
    xlabel: str
    line_name: str
    dots_name: str


def draw_points(points: Points) -> Picture:
    """Draw the line in blue, and dots with bars of two standard errors to both sides."""
    low, high = points.dots - 2 * points.errors, points.dots + 2 * points.errors
    values = np.concatenate([points.line, low, high])
    ticks = nice_ticks(float(values.min()), float(values.max()))
    axes = Axes(float(points.x.min()), float(points.x.max()), ticks[0], ticks[-1])
    labels = zip(ticks, tick_labels(ticks), strict=True)
    parts = [gridline(axes, tick, label) for tick, label in labels]
    for x in dict.fromkeys(points.x.tolist()):
        parts.append(centred(f"{axes.x(x):.1f}", axes.bottom + 14, f"{x:g}"))
    parts.append(f'<path class="m" d="{axes.path(points.x, points.line)}"/>')
    for x, y, a, b in zip(points.x, points.dots, low, high, strict=True):
        at = axes.x(x)
        parts.append(
            f'<path class="n" d="M{at:.1f} {axes.y(a):.1f}V{axes.y(b):.1f}"/>'
            f'<circle class="t" cx="{at:.1f}" cy="{axes.y(y):.1f}" r="3"/>'
        )
    falls = points.line[0] >= points.line[-1]
    corner, anchor = (axes.right, "end") if falls else (axes.left + 4, "start")
    parts.append(text(corner, 18, f"line: {points.line_name}", anchor, "o"))
    parts.append(text(corner, 32, f"dots: {points.dots_name}", anchor, "o"))
    middle = (axes.left + axes.right) / 2
    parts.append(centred(f"{middle}", HEIGHT - 3, points.xlabel))
    line = ", ".join(f"{value:.4g}" for value in points.line)
    dots = ", ".join(f"{value:.4g}" for value in points.dots)
    alt = f"Against {points.xlabel}: {points.line_name} {line}; {points.dots_name} {dots}."
    return Picture("".join(parts), alt, WIDTH + 40)
