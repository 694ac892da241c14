"""Named estimates with their intervals as a small picture, one below the other."""

from __future__ import annotations

from ..losses.scale import Scale
from .axes import Axes, nice_ticks, tick_labels
from .drawing import Picture, text

ROW, LEFT, RIGHT = 20, 190, 470


def draw_steps(
    lines: list[tuple[str, float, float, float]],
    outside: set[str],
    label: str,
    scale: Scale,
) -> Picture:
    """Draw a dot and its interval for each (name, value, low, high).

    outside  names of the numbers that were measured on rows outside of what chose
    label    what the numbers are
    scale    how they are written
    """
    ends = [end for _, *values in lines for end in values]
    ticks = nice_ticks(min(ends), max(ends))
    bottom = 8 + ROW * len(lines)
    axes = Axes(ticks[0], ticks[-1], 0.0, 1.0, LEFT, RIGHT, 8, bottom)
    parts = [
        f'<path class="g" d="M{axes.x(tick):.1f} 8V{bottom}"/>'
        + text(axes.x(tick), bottom + 14, name, "middle")
        for tick, name in zip(ticks, tick_labels(ticks, scale), strict=True)
    ]
    for place, (name, value, low, high) in enumerate(lines):
        y = 8 + ROW * (place + 0.5)
        parts.append(text(LEFT - 6, y + 4, name, "end"))
        parts.append(f'<path class="q" d="M{axes.x(low):.1f} {y}H{axes.x(high):.1f}"/>')
        kind = "t" if name in outside else "p"
        parts.append(
            f'<circle class="{kind}" cx="{axes.x(value):.1f}" cy="{y}" r="4"/>'
        )
    parts.append(text((LEFT + RIGHT) / 2, bottom + 29, label, "middle"))
    named = "; ".join(f"{name} {scale.displayed(value)}" for name, value, *_ in lines)
    return Picture("".join(parts), f"{label}: {named}.", RIGHT + 20, bottom + 36)
