"""Settings of several parameters as a list, the best first."""

from __future__ import annotations

import math

from .axes import Axes, nice_ticks, room_of, tick_labels
from .curves import Ranking
from .drawing import Picture, cut, text

MOST, ROW, TOP = 10, 17, 20
LONGEST = 38  # letters of a setting
PLOT = 120  # pixels of the dots


def draw_ranking(ranking: Ranking) -> Picture:
    """Draw one row a setting: its name, its mean inner loss as a dot and a number, its choices."""
    places = ranking.shown(MOST)
    names = [
        cut(f"{place + 1}. {ranking.settings[place]}", LONGEST) for place in places
    ]
    numbers = [float(ranking.mean[place]) for place in places]
    known = [value for value in numbers if math.isfinite(value)]
    ticks = nice_ticks(min(known), max(known), inside=True)
    left = 4 + math.ceil(max(map(room_of, names)))
    bottom = TOP + ROW * len(places)
    axes = Axes(min(known), max(known), 0.0, 1.0, left, left + PLOT, TOP, bottom)
    parts = [
        text(4, 12, "setting, the best first", "start"),
        text(left + 6, 12, cut(ranking.ylabel, 30), "start"),
    ]
    for place, name, value, row in zip(
        places, names, numbers, range(len(places)), strict=True
    ):
        y = TOP + ROW * (row + 0.5)
        parts.append(text(4, y + 4, name, "start"))
        parts.append(f'<path class="g" d="M{axes.left} {y:.1f}H{axes.right}"/>')
        if math.isfinite(value):
            kind = "i" if ranking.times[place] else "h"
            parts.append(
                f'<circle class="{kind}" cx="{axes.x(value):.1f}" cy="{y:.1f}" r="4"/>'
            )
        words = ranking.write(value) if math.isfinite(value) else "failed"
        if times := int(ranking.times[place]):
            words += f", chosen ×{times}"
        parts.append(text(axes.right + 5, y + 4, words, "start"))
    labels = zip(ticks, tick_labels(ticks, ranking.scale), strict=True)
    ends = [(x, word) for x, word in labels][:: max(1, len(ticks) - 1)]
    parts += [text(axes.x(x), bottom + 13, word, "middle") for x, word in ends]
    note = f"{len(places)} of {len(ranking.which)} settings"
    parts.append(text(4, bottom + 13, note, "start"))
    width = axes.right + 5 + room_of("0.00000, chosen ×10")
    best = ", ".join(
        f"{name} {ranking.write(value)}"
        for name, value in zip(names[:3], numbers, strict=False)
    )
    alt = f"Settings by {ranking.ylabel}, the best first: {best}."
    return Picture("".join(parts), alt, math.ceil(width), bottom + 20)
