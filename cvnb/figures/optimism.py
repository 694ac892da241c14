"""The optimism of the flat estimate: all estimates of one loss on the same folds."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from ..results.estimate import RiskEstimate, record_of
from ..results.reports.optimism import Optimism, optimism
from ..wording import number
from .look import GREY, ORANGE, named_axis, plain, titled_axis


def optimism_figure(shown: Optimism | RiskEstimate) -> go.Figure:
    """Return the known estimates of the loss side by side.

    They are the flat estimate, Tibshirani–Tibshirani, BBC-CV with its interval, and the risk
    measured outside.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> figure = optimism_figure(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> [trace.name for trace in figure.data][:2]
    ['flat (optimistic)', 'Tibshirani–Tibshirani (corrected)']
    >>> [trace.name for trace in figure.data][2:]
    ['BBC-CV (corrected)', 'nested (measured outside)']
    """
    report = optimism(shown) if isinstance(shown, RiskEstimate) else shown
    loss, bbc = record_of(report.result).loss, report.bbc
    outside = "test" if len(report.result.plan.outer) == 1 else "nested"
    bbc_values = [None] if bbc is None else [bbc.estimate, bbc.low, bbc.high]
    estimates = [
        ("flat (optimistic)", [report.flat], "circle-open", GREY),
        ("Tibshirani–Tibshirani (corrected)", [report.tibshirani], "circle", GREY),
        ("BBC-CV (corrected)", bbc_values, "circle", GREY),
        (f"{outside} (measured outside)", [report.nested], "diamond", ORANGE),
    ]
    known = [estimate for estimate in estimates if estimate[1][0] is not None]
    figure = go.Figure()
    for place, (name, values, symbol, colour) in enumerate(known):
        value, *ends = (float(loss.shown(x) or 0.0) for x in values)
        marker = {"size": 12, "symbol": symbol, "color": colour}
        figure.add_trace(_point(place, name, value, ends or [value], marker))
    names = [name for name, *_ in known]
    y_axis = named_axis("", names) | {"range": [len(names) - 0.4, -0.6]}
    axes = {"yaxis": y_axis, "xaxis": titled_axis(loss.shown_name)}
    return figure.update_layout(plain(140 + 50 * len(names), left=230, top=20) | axes)


def _point(
    place: int, name: str, value: float, ends: list[float], marker: dict[str, Any]
) -> go.Scatter:
    """A value with the ends of its interval."""
    low, high = min(ends), max(ends)
    return go.Scatter(
        x=[value],
        y=[place],
        mode="markers",
        name=name,
        showlegend=False,
        marker=marker,
        error_x={
            "array": [high - value],
            "arrayminus": [value - low],
            "visible": high > low,
            "color": GREY,
        },
        hovertemplate=f"<b>{name}</b>: {number(value)}<extra></extra>",
    )
