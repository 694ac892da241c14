"""Which θ was chosen where, and what it would cost to use another split's choice."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..families.family import format_setting
from ..results.estimate import RiskEstimate, record_of
from ..results.reports.theta import ThetaReport, theta_report
from .look import BLUE, LINES, named_axis, plain


def theta_figure(shown: ThetaReport | RiskEstimate) -> go.Figure:
    """The regret matrix where it was measured, else how often each setting was chosen.

    Cell (i, j): loss of outer split i under θ_j minus that under its own θ_i.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> figure = theta_figure(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> figure.data[0].type, figure.data[0].z.shape
    ('heatmap', (5, 5))
    """
    report = theta_report(shown) if isinstance(shown, RiskEstimate) else shown
    return _counts(report) if report.regret is None else _regret(report)


def _counts(report: ThetaReport) -> go.Figure:
    settings = report.result.settings
    shown = [s for s in range(len(settings)) if report.counts[s]]
    names = [format_setting(settings[s]) or "–" for s in shown]
    counts = [int(report.counts[s]) for s in shown]
    figure = go.Figure(
        go.Bar(
            x=list(range(len(shown))),
            y=counts,
            marker={"color": BLUE},
            hoverinfo="text",
            hovertext=names,
        )
    )
    axes = {
        "xaxis": named_axis("θ", names),
        "yaxis": {"title": {"text": "training parts that chose it"}} | LINES,
    }
    return figure.update_layout(plain(height=360) | axes)


def _regret(report: ThetaReport) -> go.Figure:
    assert report.regret is not None
    result, loss = report.result, record_of(report.result).loss
    regret = -report.regret if loss.is_score else report.regret
    chosen = [format_setting(setting) or "–" for setting in result.chosen]
    names = [f"{j}: {setting}" for j, setting in enumerate(chosen)]
    text = [
        [f"split {i} with θ of split {j} ({chosen[j]})" for j in range(len(chosen))]
        for i in range(len(regret))
    ]
    most = float(np.abs(regret).max()) or 1.0
    figure = go.Figure(
        go.Heatmap(
            z=regret, text=text, hovertemplate="%{text}: %{z:+.6g}<extra></extra>", xgap=1, ygap=1, colorscale="RdBu",
            zmin=-most, zmax=most, reversescale=not loss.is_score,
            colorbar={"title": {"text": "minus the loss under its own θ", "side": "right"}},
        )
    )  # fmt: skip
    splits = named_axis("outer split i", [str(i) for i in range(len(regret))]) | {
        "autorange": "reversed"
    }
    height, margin = (
        160 + 34 * min(12, len(regret)),
        {"l": 70, "r": 20, "t": 20, "b": 110},
    )
    axes = {"xaxis": named_axis("θ of split j", names, 20), "yaxis": splits}
    return figure.update_layout(plain(height) | axes | {"margin": margin})
