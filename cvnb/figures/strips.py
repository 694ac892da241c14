"""Error versus each drawn parameter: a panel per parameter, a dot per setting."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..pictures.strips import Strip, Strips
from ..wording import count
from .look import BLUE, INK, plain, titled_axis, x_axis

COLUMNS = 3  # panels in a row
PANEL = 330  # height of a row


def strips_figure(strips: Strips) -> go.Figure:
    """Return the panels, with a common axis of the losses; dark dots: chosen in some split."""
    n = len(strips.strips)
    rows = -(-n // COLUMNS)
    figure = make_subplots(rows, min(n, COLUMNS), shared_yaxes=True)
    for place, strip in enumerate(strips.strips):
        row, column = 1 + place // COLUMNS, 1 + place % COLUMNS
        for trace in _dots(strips, strip, is_first=place == 0):
            figure.add_trace(trace, row, column)
        figure.update_xaxes(**x_axis(strip.axis), row=row, col=column)
        title = strips.ylabel if column == 1 else ""
        y_axis = titled_axis(title, strips.scale)
        figure.update_yaxes(**y_axis, row=row, col=column)
    return figure.update_layout(plain(60 + PANEL * rows))


def _dots(strips: Strips, strip: Strip, is_first: bool) -> list[go.Scatter]:
    """All settings, and over them those that some outer split chose."""
    times = strips.times[strip.which]
    return [
        _scatter(strips, strip, times == 0, "never chosen", is_first, BLUE, 6),
        _scatter(strips, strip, times > 0, "chosen", is_first, INK, 9),
    ]


def _scatter(
    strips: Strips,
    strip: Strip,
    shown: np.ndarray,
    name: str,
    in_legend: bool,
    colour: str,
    size: int,
) -> go.Scatter:
    which = strip.which[shown]
    texts = [
        f"<b>{strips.settings[s]}</b>: {strips.scale.displayed(strips.mean[s])}, "
        f"chosen in {count(int(strips.times[s]), 'split')}"
        for s in which
    ]
    marker: dict[str, Any] = {"color": colour, "size": size}
    return go.Scatter(
        x=strip.axis.x[shown],
        y=strips.scale.factor * strips.mean[which],
        mode="markers",
        marker=marker,
        name=name,
        legendgroup=name,
        showlegend=in_legend,
        hovertext=texts,
        hoverinfo="text",
    )
