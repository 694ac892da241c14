"""A learning curve as a small picture: the loss against the number of training rows."""

from __future__ import annotations

import numpy as np

from ..losses.scale import Scale
from .axes import HEIGHT, WIDTH, Axes, nice_ticks, room_of, tick_labels
from .drawing import Picture, gridline, text


def draw_learning_curve(
    sizes: np.ndarray,
    values: np.ndarray,
    beyond: tuple[np.ndarray, np.ndarray] | None,
    label: str,
    scale: Scale,
) -> Picture:
    """Draw a dot for each value, a line through the means, and dashes for what is not measured.

    sizes   [sizes] numbers of training rows
    values  [sizes, repeats] as displayed, NaN where not measured
    beyond  (sizes, values) of a formula that continues the means
    label   what the values are
    scale   how they are written
    """
    with np.errstate(invalid="ignore"):
        known = np.isfinite(values)
        means = np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1)
    far = (np.zeros(0), np.zeros(0)) if beyond is None else beyond
    every = np.concatenate([values[known], far[1]])
    ticks = nice_ticks(float(every.min()), float(every.max()))
    last = float(max(sizes[-1], *far[0])) if far[0].size else float(sizes[-1])
    names = tick_labels(ticks, scale)
    left = max(44.0, 8 + max(map(room_of, names)))
    axes = Axes(0.0, last, ticks[0], ticks[-1], left, top=20)
    labels = zip(ticks, names, strict=True)
    parts = [gridline(axes, tick, name) for tick, name in labels]
    parts.append(text(4, 11, label, "start"))
    for tick in nice_ticks(0.0, last, inside=True):
        name = f"{tick:g}"
        x = axes.inside(axes.x(tick), room_of(name))
        parts.append(text(x, axes.bottom + 14, name, "middle"))
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
    ends = float(np.nanmin(means)), float(np.nanmax(means))
    low, high = map(scale.displayed, ends)
    alt = (
        f"{label} against the number of training rows, {sizes[0]} to {sizes[-1]}: the mean "
        f"runs from {low} to {high}."
    )
    return Picture("".join(parts), alt, WIDTH + 40)
