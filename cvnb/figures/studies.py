"""Figures of the studies: many seeds, shuffles, sizes and recipes."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..results.estimate import RiskEstimate, record_of
from ..studies.learning import LearningCurve
from ..studies.null import NullTest
from ..studies.seeds import OverSeeds
from ..studies.steps import Ladder
from ..wording import number
from .look import BLUE, GREY, ORANGE, named_axis, plain, titled_axis


def seeds_figure(study: OverSeeds) -> go.Figure:
    """Return the risk of every seed, their mean, and that of the run itself.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> from cvnb.studies import over_seeds
    >>> study = over_seeds(nested_cv(knn(k=[1, 5]), *load_iris(return_X_y=True)), n=5)
    >>> [trace.name for trace in seeds_figure(study).data]
    ['seeds']
    """
    marks = {"mean": study.mean, "this run": study.result.risk}
    names = [f"seed {seed}" for seed in study.seeds]
    return _cloud(study.result, study.risks, "seeds", names, marks)


def null_figure(study: NullTest) -> go.Figure:
    """Return the risk of every shuffle, and that on the real targets.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> from cvnb.studies import null_test
    >>> null = null_test(nested_cv(knn(k=[1, 5]), *load_iris(return_X_y=True)), n=9)
    >>> [trace.name for trace in null_figure(null).data]
    ['shuffles']
    """
    marks = {
        "mean of shuffles": float(study.risks.mean()),
        "real targets": study.result.risk,
    }
    names = [f"shuffle {i}" for i in range(study.risks.size)]
    return _cloud(study.result, study.risks, "shuffles", names, marks)


def _cloud(
    result: RiskEstimate,
    risks: np.ndarray,
    name: str,
    names: list[str],
    marks: dict[str, float | None],
) -> go.Figure:
    """Return a dot for each risk, moved up and down so that none hides another."""
    loss = record_of(result).loss
    heights = np.random.default_rng(0).uniform(-1.0, 1.0, risks.size)
    dots = go.Scatter(
        x=[loss.shown(float(risk)) for risk in risks],
        y=heights,
        mode="markers",
        name=name,
        marker={"size": 7, "color": BLUE, "opacity": 0.6},
        text=names,
        hovertemplate="%{text}: %{x:.6g}<extra></extra>",
        showlegend=False,
    )
    figure = go.Figure(dots)
    for place, (mark, value) in enumerate(marks.items()):
        shown = loss.shown(value)
        figure.add_vline(
            x=shown,
            line={"color": (GREY, ORANGE)[place], "dash": "dash"},
            annotation={
                "text": f"{mark} {number(float(f'{shown:.4g}'))}",
                "y": 1.02 + 0.1 * place,
                "yref": "paper",
                "yanchor": "bottom",
            },
        )
    y_axis = {"visible": False, "range": [-1.6, 1.6]}
    axes = {"xaxis": titled_axis(loss.shown_name), "yaxis": y_axis}
    return figure.update_layout(plain(height=300, left=20, top=80) | axes)


def learning_figure(curve: LearningCurve) -> go.Figure:
    """Return the risk against the number of training rows; the formula is dashed.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> from cvnb.studies import learning_curve
    >>> result = nested_cv(knn(k=[1, 5]), *load_iris(return_X_y=True))
    >>> curve = learning_curve(result, sizes=[30, 60, 90, 120])
    >>> [trace.name for trace in learning_figure(curve).data][:2]
    ['subsets', 'mean']
    """
    loss = record_of(curve.result).loss
    sizes, risks = curve.sizes, curve.risks
    known = np.isfinite(risks)
    at, _ = np.nonzero(known)
    figure = go.Figure(
        go.Scatter(
            x=sizes[at],
            y=_shown(loss, risks[known]),
            mode="markers",
            name="subsets",
            marker={"size": 6, "color": BLUE, "opacity": 0.5},
            hovertemplate="%{x} training rows: %{y:.6g}<extra></extra>",
        )
    )
    line: dict[str, Any] = {"color": BLUE, "width": 2.5}
    figure.add_scatter(
        x=sizes, y=_shown(loss, curve.means), mode="lines", name="mean", line=line
    )
    if curve.law is not None:
        n = float(sizes[-1])
        beyond = np.linspace(n, 2 * n, 40)
        values = np.array([curve.law(x) for x in beyond])
        figure.add_scatter(
            x=beyond,
            y=_shown(loss, values),
            mode="lines",
            name=f"not measured: {curve.law.formula}",
            line={"color": GREY, "dash": "dash"},
        )
    axes = {
        "xaxis": titled_axis("training rows"),
        "yaxis": titled_axis(loss.shown_name),
    }
    return figure.update_layout(plain(height=380) | axes)


def _shown(loss: Any, losses: np.ndarray) -> np.ndarray:
    return np.asarray(loss.score(losses) if loss.is_score else losses)


def ladder_figure(steps: Ladder) -> go.Figure:
    """Return the estimate of every recipe with its interval.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn
    >>> from cvnb.studies import ladder
    >>> steps = ladder(knn(k=[1, 5]), *load_iris(return_X_y=True), samples=3)
    >>> len(ladder_figure(steps).data[0].x)
    8
    """
    loss = record_of(next(iter(steps.results.values()))).loss
    shown = [step for step in steps.steps if step.result is not None]
    values, below, above = [], [], []
    for step in shown:
        value = float(loss.shown(step.estimate) or 0.0)
        ends = [value, value]
        if (own := step.interval) is not None:
            ends = [float(loss.shown(x) or 0.0) for x in (own.low, own.high)]
        values.append(value)
        below.append(value - min(ends))
        above.append(max(ends) - value)
    names = [step.name for step in shown]
    error = {"array": above, "arrayminus": below, "color": GREY}
    dots = go.Scatter(
        x=values,
        y=list(range(len(shown))),
        mode="markers",
        marker={"size": 11, "color": ORANGE},
        error_x=error,
        hovertext=[f"{step.name}: {step.bias}" for step in shown],
        hoverinfo="text+x",
        showlegend=False,
    )
    y_axis = named_axis("", names) | {"range": [len(names) - 0.4, -0.6]}
    axes = {"yaxis": y_axis, "xaxis": titled_axis(loss.shown_name)}
    layout = plain(140 + 40 * len(names), left=230, top=20) | axes
    return go.Figure(dots).update_layout(layout)
