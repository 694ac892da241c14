"""A learning curve as a small picture: the loss against the number of training rows."""

from __future__ import annotations

import numpy as np

from .axes import HEIGHT, WIDTH, Axes, nice_ticks, tick_labels
from .svg import Picture, gridline, text


def draw_learning_curve(
    sizes: np.ndarray,
    values: np.ndarray,
    beyond: tuple[np.ndarray, np.ndarray] | None,
    label: str,
) -> Picture:
    """Draw a dot for each value, a line through the means, and dashes for what is not measured.

    sizes   [sizes] numbers of training rows
    values  [sizes, repeats], NaN where not measured
    beyond  (sizes, values) of a formula that continues the means
    label   what the values are
    """
    with np.errstate(invalid="ignore"):
        known = np.isfinite(values)
        means = np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1)
    far = (np.zeros(0), np.zeros(0)) if beyond is None else beyond
    every = np.concatenate([values[known], far[1]])
    ticks = nice_ticks(float(every.min()), float(every.max()))
    last = float(max(sizes[-1], *far[0])) if far[0].size else float(sizes[-1])
    axes = Axes(0.0, last, ticks[0], ticks[-1])
    labels = zip(ticks, tick_labels(ticks), strict=True)
    parts = [gridline(axes, tick, name) for tick, name in labels]
    for tick in nice_ticks(0.0, last, inside=True):
        parts.append(text(axes.x(tick), axes.bottom + 14, f"{tick:g}", "middle"))
    parts.append(
        text((axes.left + axes.right) / 2, HEIGHT - 3, "training rows", "middle")
    )
    circles = "".join(
        f'<circle cx="{axes.x(float(size)):.1f}" cy="{axes.y(float(value)):.1f}" r="2"/>'
        for size, row in zip(sizes, values, strict=True)
        for value in np.unique(row[np.isfinite(row)])
    )
    parts.append(f'<g class="h" fill-opacity=".55">{circles}</g>')
    parts.append(f'<path class="m" d="{axes.path(sizes, means)}"/>')
    if far[0].size:
        dashes = f'class="m" stroke-dasharray="5 4" d="{axes.path(*far)}"'
        parts.append(f"<path {dashes}/>")
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    alt = (
        f"{label} against the number of training rows, {sizes[0]} to {sizes[-1]}: the mean "
        f"runs from {low:.4g} to {high:.4g}."
    )
    return Picture("".join(parts), alt, WIDTH + 40)
