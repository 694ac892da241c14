"""Which setting was chosen in each fold, and the regret of another fold's choice."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..families.labels import shown_settings
from ..losses.scale import Scale
from ..pictures.drawing import cut
from ..results.estimate import RiskEstimate
from ..results.reports.theta import ThetaReport, theta_report
from ..results.scales import scale_of
from .look import BLUE, BOTH_WAYS, named_axis, plain, rows_of, titled_axis


def theta_figure(shown: ThetaReport | RiskEstimate) -> go.Figure:
    """Return the regret matrix if it was measured, else how often each setting was chosen.

    Cell (i, j): loss in fold i with the setting of fold j minus that with its own setting.

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
    settings = shown_settings(report.result.settings)
    chosen = [s for s in range(len(settings)) if report.counts[s]]
    names = [settings[s] or "–" for s in chosen]
    bars = go.Bar(
        x=[int(report.counts[s]) for s in chosen],
        y=list(range(len(chosen))),
        orientation="h",
        offset=0.02,
        width=0.3,
        marker={"color": BLUE},
        hoverinfo="text",
        hovertext=names,
    )
    folds = titled_axis("folds that chose it") | {"rangemode": "tozero", "dtick": 1}
    if report.counts.max() > 10:
        folds["dtick"] = None
    axes = rows_of(names) | {"xaxis": folds}
    layout = plain(120 + 50 * len(chosen), left=30) | axes
    return go.Figure(bars).update_layout(layout)


def _regret_figure(report: ThetaReport, regret: np.ndarray) -> go.Figure:
    result, scale = report.result, scale_of(report.result)
    every = shown_settings(result.settings)
    chosen = [every[s] or "–" for s in result.chosen_index]
    shown = scale.factor * (-regret if scale.loss.is_score else regret)
    most = float(np.abs(shown).max()) or 1.0
    bar = {
        "title": {"text": f"change of {scale.loss.words}", "side": "right"},
        "ticksuffix": scale.unit,
        "thickness": 14,
        "outlinewidth": 0,
    }
    cells = go.Heatmap(
        z=shown,
        text=_regret_texts(regret, chosen, scale),
        hoverinfo="text",
        xgap=1,
        ygap=1,
        colorscale=BOTH_WAYS,
        zmin=-most,
        zmax=most,
        reversescale=scale.loss.is_score,
        colorbar=bar,
    )
    names = [f"{j}: {cut(name, 24)}" for j, name in enumerate(chosen, start=1)]
    folds = named_axis("fold", [str(i + 1) for i in range(len(shown))])
    folds["autorange"] = "reversed"
    axes = {"xaxis": named_axis("with the setting of fold", names, 12), "yaxis": folds}
    height = 160 + 34 * min(12, len(shown))
    return go.Figure(cells).update_layout(plain(height, bottom=110) | axes)


def _regret_texts(
    regret: np.ndarray, chosen: list[str], scale: Scale
) -> list[list[str]]:
    return [
        [
            f"fold {i} with the setting of fold {j} ({name}): "
            f"{scale.difference(float(regret[i - 1, j - 1]))}"
            for j, name in enumerate(chosen, start=1)
        ]
        for i in range(1, len(regret) + 1)
    ]
