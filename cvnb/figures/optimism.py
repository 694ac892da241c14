"""How optimistic the flat estimate is: all estimates of the same loss on the same folds, side by side."""

from __future__ import annotations

import plotly.graph_objects as go

from ..results.estimate import RiskEstimate, record_of
from ..results.reports.optimism import Optimism, optimism
from ..wording import number
from .look import GREY, LINES, ORANGE, named_axis, plain


def optimism_figure(shown: Optimism | RiskEstimate) -> go.Figure:
    """Flat, Tibshirani–Tibshirani, BBC-CV with its interval, and the risk measured outside; what is missing is left out.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> figure = optimism_figure(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> [trace.name for trace in figure.data]
    ['flat (optimistic)', 'Tibshirani–Tibshirani (corrected)', 'BBC-CV (corrected)', 'nested (measured outside)']
    """
    report = optimism(shown) if isinstance(shown, RiskEstimate) else shown
    loss, bbc = record_of(report.result).loss, report.bbc
    outside = "test" if len(report.result.plan.outer) == 1 else "nested"
    rows = [
        ("flat (optimistic)", report.flat, "circle-open", GREY),
        ("Tibshirani–Tibshirani (corrected)", report.tibshirani, "circle", GREY),
        ("BBC-CV (corrected)", None if bbc is None else bbc.estimate, "circle", GREY),
        (f"{outside} (measured outside)", report.nested, "diamond", ORANGE),
    ]
    known = [
        (name, float(loss.shown(value) or 0.0), symbol, colour)
        for name, value, symbol, colour in rows
        if value is not None
    ]
    figure = go.Figure()
    for place, (name, value, symbol, colour) in enumerate(known):
        low, high = value, value
        if bbc is not None and name.startswith("BBC"):
            low, high = sorted(
                float(loss.shown(end) or 0.0) for end in (bbc.low, bbc.high)
            )
        figure.add_scatter(
            x=[value], y=[place], mode="markers", name=name, showlegend=False,
            marker={"size": 12, "symbol": symbol, "color": colour},
            error_x={"array": [high - value], "arrayminus": [value - low], "visible": high > low, "color": GREY},
            hovertemplate=f"<b>{name}</b>: {number(value)}<extra></extra>",
        )  # fmt: skip
    names = [name for name, _, _, _ in known]
    y_axis = named_axis("", names) | {"range": [len(names) - 0.4, -0.6]}
    axes = {"yaxis": y_axis, "xaxis": {"title": {"text": loss.shown_name}} | LINES}
    return figure.update_layout(
        plain(height=140 + 50 * len(names))
        | axes
        | {"margin": {"l": 230, "r": 20, "t": 20, "b": 50}}
    )
