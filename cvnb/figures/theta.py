"""Which θ was chosen in each split, and the regret of another split's choice."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..families.labels import format_setting
from ..results.estimate import RiskEstimate, record_of
from ..results.reports.theta import ThetaReport, theta_report
from .look import BLUE, named_axis, plain, titled_axis


def theta_figure(shown: ThetaReport | RiskEstimate) -> go.Figure:
    """Return the regret matrix if it was measured, else how often each setting was chosen.

    Cell (i, j): loss of outer split i under θ_j minus that under its own θ_i.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> figure = theta_figure(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> figure.data[0].type, figure.data[0].z.shape
    ('heatmap', (5, 5))
    """
    report = theta_report(shown) if isinstance(shown, RiskEstimate) else shown
    if report.regret is None:
        return _counts_figure(report)
    return _regret_figure(report, report.regret)


def _counts_figure(report: ThetaReport) -> go.Figure:
    settings = report.result.settings
    chosen = [s for s in range(len(settings)) if report.counts[s]]
    names = [format_setting(settings[s]) or "–" for s in chosen]
    bars = go.Bar(
        x=list(range(len(chosen))),
        y=[int(report.counts[s]) for s in chosen],
        marker={"color": BLUE},
        hoverinfo="text",
        hovertext=names,
    )
    axes = {
        "xaxis": named_axis("θ", names),
        "yaxis": titled_axis("training parts that chose it"),
    }
    return go.Figure(bars).update_layout(plain(height=360) | axes)


def _regret_figure(report: ThetaReport, regret: np.ndarray) -> go.Figure:
    result, loss = report.result, record_of(report.result).loss
    shown = -regret if loss.is_score else regret
    most = float(np.abs(shown).max()) or 1.0
    chosen = [format_setting(setting) or "–" for setting in result.chosen]
    text = [
        [f"split {i} with θ of split {j} ({name})" for j, name in enumerate(chosen)]
        for i in range(len(shown))
    ]
    colorbar = {"title": {"text": "minus the loss under its own θ", "side": "right"}}
    cells = go.Heatmap(
        z=shown,
        text=text,
        hovertemplate="%{text}: %{z:+.6g}<extra></extra>",
        xgap=1,
        ygap=1,
        colorscale="RdBu",
        zmin=-most,
        zmax=most,
        reversescale=not loss.is_score,
        colorbar=colorbar,
    )
    names = [f"{j}: {name}" for j, name in enumerate(chosen)]
    splits = named_axis("outer split i", [str(i) for i in range(len(shown))])
    splits["autorange"] = "reversed"
    axes = {"xaxis": named_axis("θ of split j", names, 20), "yaxis": splits}
    height = 160 + 34 * min(12, len(shown))
    return go.Figure(cells).update_layout(plain(height, top=20, bottom=110) | axes)
