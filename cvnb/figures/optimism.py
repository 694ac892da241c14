"""The optimism of the flat estimate: all estimates of one loss on the same folds."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from ..results.estimate import RiskEstimate, record_of
from ..results.reports.optimism import Optimism, optimism
from ..results.scales import scale_of
from .look import GREY, ORANGE, plain, rows_of, titled_axis


def optimism_figure(shown: Optimism | RiskEstimate) -> go.Figure:
    """Return the known estimates of the loss, one below the other.

    They are the estimate on the same folds that chose, Tibshirani–Tibshirani, BBC-CV with its
    interval, and the risk measured outside.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> figure = optimism_figure(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> [trace.name for trace in figure.data][:2]
    ['same folds (too good)', 'Tibshirani–Tibshirani (corrected)']
    >>> [trace.name for trace in figure.data][2:]
    ['BBC-CV (corrected)', 'nested (report this)']
    """
    report = optimism(shown) if isinstance(shown, RiskEstimate) else shown
    loss, bbc = record_of(report.result).loss, report.bbc
    scale, is_single = scale_of(report.result), len(report.result.plan.outer) == 1
    outside = "test set" if is_single else "nested (report this)"
    bbc_values = [None] if bbc is None else [bbc.estimate, bbc.low, bbc.high]
    estimates = [
        ("same folds (too good)", [report.flat], "circle-open", GREY),
        ("Tibshirani–Tibshirani (corrected)", [report.tibshirani], "circle", GREY),
        ("BBC-CV (corrected)", bbc_values, "circle", GREY),
        (outside, [report.nested], "diamond", ORANGE),
    ]
    known = [estimate for estimate in estimates if estimate[1][0] is not None]
    figure = go.Figure()
    for place, (name, values, symbol, colour) in enumerate(known):
        value, *ends = (float(scale.plotted(x)) for x in values)
        marker = {"size": 12, "symbol": symbol, "color": colour}
        point = _point(place, name, value, ends or [value], marker)
        figure.add_trace(point.update(text=[scale.write(values[0])]))
    rows = [f"{name}: {scale.write(values[0])}" for name, values, *_ in known]
    axes = rows_of(rows) | {"xaxis": titled_axis(loss.shown_name, scale)}
    return figure.update_layout(plain(140 + 50 * len(rows), left=20) | axes)


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
        hovertemplate=f"<b>{name}</b>: %{{text}}<extra></extra>",
    )
