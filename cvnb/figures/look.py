"""Shared look of all figures: their colours, axes, labels on lines, and a page of their own.

A figure in a notebook does not learn the theme of its page, and no single grey has a contrast
of 4.5 on white and on JupyterLab's black. So a figure brings its own white page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..losses.scale import Scale
from ..pictures.colours import LIGHT
from ..pictures.curves import Axis
from ..pictures.drawing import cut

PAGE, TEXT, GRID = LIGHT["page"], LIGHT["text"], LIGHT["grid"]
GREY, BLUE, ORANGE = LIGHT["level"], LIGHT["mean"], LIGHT["test"]
INK, FOLD = LIGHT["ink"], LIGHT["fold"]
BAND = "rgba(21,101,192,.15)"  # of BLUE
HEAT = [[0.0, LIGHT["pale"]], [1.0, BLUE]]  # from worst to best
BOTH_WAYS = [[0.0, GREY], [0.5, PAGE], [1.0, BLUE]]
LINES: dict[str, Any] = {"gridcolor": GRID, "zeroline": False}
BELOW: dict[
    str, Any
] = {  # every entry as wide as its words, in as many lines as it takes
    "orientation": "h",
    "yref": "container",
    "y": 0,
    "yanchor": "bottom",
    "x": 0,
    "xanchor": "left",
    "tracegroupgap": 0,
}
ROOM = 105  # pixels to the right of the lines for their labels
APART = 0.065  # of the height: labels nearer than this are moved apart
UPLOADS = ("sendChartToCloud", "sendDataToCloud")


def cloud_buttons() -> list[str]:
    """Return the buttons that would upload a chart, by the names that this plotly knows."""
    known = []
    for name in UPLOADS:
        try:
            go.layout.Modebar(remove=[name])
        except ValueError:
            continue  # a plotly of another age, which has no button of this name
        known.append(name)
    return known


def plain(
    height: int,
    left: int = 70,
    top: int = 30,
    bottom: int = 50,
    right: int = 20,
) -> dict[str, Any]:
    """Return a layout with a height, margins and a legend below, and nothing on it."""
    return {
        "template": "none",
        "paper_bgcolor": PAGE,
        "plot_bgcolor": PAGE,
        "font": {"color": TEXT, "family": "system-ui, sans-serif", "size": 12},
        "height": height,
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
        "legend": BELOW,
        "hovermode": "closest",
        "modebar": {"remove": cloud_buttons()},
    }


def titled_axis(title: str, scale: Scale | None = None) -> dict[str, Any]:
    """Return an axis of numbers, in percent where the scale is."""
    axis = {"title": {"text": title}, "automargin": True} | LINES
    if scale is not None and scale.in_percent:
        axis |= {"ticksuffix": scale.unit}
    return axis


def named_axis(title: str, names: Sequence[str], most: int = 15) -> dict[str, Any]:
    """Return an axis of words at 0, 1, ...; about `most` of them are written."""
    places = list(range(len(names)))[:: max(1, -(-len(names) // most))]
    ticks = [names[place] for place in places]
    words = {"title": {"text": title}, "tickvals": places, "ticktext": ticks}
    return words | {"automargin": True} | LINES


def x_axis(axis: Axis) -> dict[str, Any]:
    """Return an axis, logarithmic if the grid is; words for non-numeric values."""
    if axis.ticks:
        names = [cut(name, 24) for name in axis.ticks]
        return named_axis(axis.name, names) | {"type": "linear"}
    kind = {"type": "log" if axis.log else "linear", "exponentformat": "power"}
    return {"title": {"text": axis.name}, "automargin": True} | kind | LINES


def rows_of(names: Sequence[str]) -> dict[str, Any]:
    """Return the part of a layout with a row for each name, the first on top.

    A name is above its line and inside the plot: a narrow page has no room on the left.
    (Labels of an axis there would hide those of the other axis.)
    """
    axis = named_axis("", names, len(names)) | {"range": [len(names) - 0.4, -0.9]}
    at = {"xref": "paper", "x": 0, "xanchor": "left", "yanchor": "bottom", "yshift": 8}
    words = [
        {"y": place, "text": name, "showarrow": False, **at}
        for place, name in enumerate(names)
    ]
    return {"yaxis": axis | {"showticklabels": False}, "annotations": words}


def labels_right(
    x: float, levels: dict[str, tuple[float, str]], values: Any, is_log: bool = False
) -> go.Scatter:
    """Return a trace of words at the right end of lines, none over another.

    levels  words -> (height of the line, colour)
    values  all that is drawn, which tells how high the plot is
    is_log  whether heights are on a logarithmic axis
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    bend, back = (np.log10, lambda y: 10.0**y) if is_log else (float, float)
    span = float(np.ptp(bend(known) if is_log else known)) if known.size else 1.0
    placed = _apart([float(bend(y)) for y, _ in levels.values()], APART * (span or 1.0))
    return go.Scatter(
        x=[x] * len(levels),
        y=[back(y) for y in placed],
        mode="text",
        text=[f" {words}" for words in levels],
        textposition="middle right",
        textfont={"color": [colour for _, colour in levels.values()]},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
        name="labels",
    )


def _apart(heights: list[float], gap: float) -> list[float]:
    """Return heights moved by as little as keeps a gap between any two."""
    order = np.argsort(heights, kind="stable")
    groups: list[list[int]] = []  # neighbours that move together, from below
    for place in order.tolist():
        groups.append([place])
        while len(groups) > 1 and _low(groups[-1], heights, gap) < gap + _high(
            groups[-2], heights, gap
        ):
            top = groups.pop()
            groups[-1] += top
    moved = list(heights)
    for group in groups:
        low = _low(group, heights, gap)
        for step, place in enumerate(group):
            moved[place] = low + gap * step
    return moved


def _low(group: list[int], heights: list[float], gap: float) -> float:
    middle = sum(heights[place] for place in group) / len(group)
    return middle - gap * (len(group) - 1) / 2


def _high(group: list[int], heights: list[float], gap: float) -> float:
    return _low(group, heights, gap) + gap * (len(group) - 1)
