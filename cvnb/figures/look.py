"""Shared look of all figures: colours readable on white and black, axes, plain background."""

from __future__ import annotations

from typing import Any

from ..pictures.curves import Axis

GREY, FAINT = "#797979", "rgba(128,128,128,.3)"
BLUE, ORANGE, GREEN = "#3b8de0", "#e8590c", "43,138,62"
LINES: dict[str, Any] = {"gridcolor": FAINT, "zeroline": False}
ABOVE: dict[str, Any] = {
    "orientation": "h",
    "y": 1.02,
    "yanchor": "bottom",
    "x": 1,
    "xanchor": "right",
}
BELOW: dict[str, Any] = {
    "orientation": "h",
    "y": -0.2,
    "yanchor": "top",
    "x": 0,
    "xanchor": "left",
    "tracegroupgap": 0,
    "entrywidth": 0.3,
    "entrywidthmode": "fraction",
}


def plain(
    height: int,
    legend: dict[str, Any] = ABOVE,
    left: int = 70,
    top: int = 60,
    bottom: int = 50,
) -> dict[str, Any]:
    """Return a layout with a height, a legend and margins, and nothing on it."""
    return {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": GREY, "family": "system-ui, sans-serif", "size": 12},
        "height": height,
        "margin": {"l": left, "r": 20, "t": top, "b": bottom},
        "legend": legend,
        "hovermode": "closest",
    }


def titled_axis(title: str) -> dict[str, Any]:
    """Return an axis of numbers."""
    return {"title": {"text": title}} | LINES


def named_axis(title: str, names: list[str], most: int = 15) -> dict[str, Any]:
    """Return an axis of words at 0, 1, ...; about `most` of them are written."""
    places = list(range(len(names)))[:: max(1, -(-len(names) // most))]
    ticks = [names[place] for place in places]
    return {"title": {"text": title}, "tickvals": places, "ticktext": ticks} | LINES


def x_axis(axis: Axis) -> dict[str, Any]:
    """Logarithmic if the grid is; words for non-numeric values."""
    if axis.ticks:
        return named_axis(axis.name, list(axis.ticks)) | {"type": "linear"}
    kind = {"type": "log" if axis.log else "linear", "exponentformat": "power"}
    return {"title": {"text": axis.name}} | kind | LINES
