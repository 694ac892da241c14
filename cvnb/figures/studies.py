"""Figures of the studies: many seeds, shuffles, sizes and recipes."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..losses.scale import Scale
from ..results.estimate import RiskEstimate, record_of
from ..results.scales import scale_of
from ..studies.learning import LearningCurve
from ..studies.null import NullTest
from ..studies.seeds import OverSeeds
from ..studies.steps import Ladder
from ..wording import count
from .look import BAND, BLUE, GREY, ORANGE, named_axis, plain, rows_of, titled_axis

ROWS, BESIDE = 44, 9  # lines of a cloud of seeds, and dots that need no second line


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


def beside_curve(figure: go.Figure, study: OverSeeds | None) -> go.Figure:
    """Return the figure of a curve with the risks of many seeds to its right.

    There are always the same traces, empty before the first seed, so that a widget can
    update them. The cloud has an axis of its own: seeds differ by much less than settings.
    The names of the curve's lines move to the legend, as the cloud takes their place.
    """
    share = 0.58 if figure.data else 0.0
    figure = go.Figure(figure).update_layout(margin={"r": 20})
    figure.update_xaxes(domain=[0.0, share])
    for trace in figure.data:
        if trace.name == "labels":
            trace.update(x=[], y=[], text=[], textfont={"color": GREY})
        elif trace.type == "scatter" and trace.mode == "lines" and len(trace.x):
            trace.showlegend = bool(trace.name)
    figure.update_traces(colorbar={"x": share}, selector={"type": "heatmap"})
    x_axis: dict[str, Any] = named_axis("seeds", [" "]) | {"showgrid": False}
    x_axis |= {"domain": [share * 1.25, 1.0], "anchor": "y2"}
    scale = None if study is None else scale_of(study.result)
    y_axis = titled_axis("", scale) | {"anchor": "x2"}
    traces: list[dict[str, Any]] = [{}, {}, {}, {}]
    if study is not None:
        traces, width, ends = _swarm(study)
        traces[-1]["showlegend"] = not figure.data  # the curve names its level
        words = {"text": count(study.risks.size, "seed")}
        x_axis |= {"range": [-width, width], "title": words}
        y_axis |= {"range": ends}
    for trace in traces:
        empty = {"x": [], "y": [], "showlegend": False}
        figure.add_scatter(**(empty | trace), xaxis="x2", yaxis="y2")
    return figure.update_layout(xaxis2=x_axis, yaxis2=y_axis)


def _swarm(study: OverSeeds) -> tuple[list[dict[str, Any]], float, list[float]]:
    """The band of one sd, the dots, their mean and the run itself; width and ends of the axes."""
    scale = scale_of(study.result)
    risks = scale.plotted(study.risks)
    mean, own = map(scale.plotted, (study.mean, study.result.risk))
    values = np.append(risks, own)
    pad = 0.08 * np.ptp(values) or 0.1 * abs(own) or 0.1
    ends = [float(values.min() - pad), float(values.max() + pad)]
    x, y = _side_by_side(risks, ends)
    width = max(6.0, float(np.abs(x).max()) + 1.0)
    across = np.array([-width, width])
    sd = 0.0 if np.isnan(study.sd) else scale.factor * study.sd
    words = [scale.write(x) for x in (study.mean, study.result.risk)]
    band = {
        "x": np.append(across, across[::-1]),
        "y": mean + sd * np.array([-1, -1, 1, 1]),
        "mode": "lines",
        "fill": "toself",
        "fillcolor": BAND,
        "line": {"width": 0},
        "hoverinfo": "skip",
    }
    dots = {
        "x": x,
        "y": y,
        "mode": "markers",
        "name": f"under each of {count(risks.size, 'seed')}",
        "marker": {"size": float(np.clip(70 / width, 3.5, 8)), "color": BLUE},
        "opacity": 0.6,
        "text": [
            f"seed {seed}: {scale.write(float(risk))}"
            for seed, risk in zip(study.seeds, study.risks, strict=True)
        ],
        "customdata": scale.loss.shown(study.risks),
        "hoverinfo": "text",
        "showlegend": True,
    }
    return (
        [
            band,
            dots,
            _across(across, mean, f"their mean {words[0]}, ± 1 sd", GREY),
            _across(across, own, f"this run {words[1]}", ORANGE),
        ],
        width,
        ends,
    )


def _side_by_side(
    values: np.ndarray, ends: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (x, y) of a dot for each value, near ones next to each other around x = 0.

    Where all values are few, as shares of mistakes are, dots of one value fill the room
    between it and the next in several lines.
    """
    step = (ends[1] - ends[0]) / ROWS
    row = np.rint((values - ends[0]) / step).astype(int)
    taken = np.unique(row)
    gap = int(np.diff(taken).min()) if taken.size > 1 else 1
    x, y = np.zeros(values.size), values.copy()
    for one in taken:
        inside = np.flatnonzero(row == one)
        wanted = -(-inside.size // BESIDE)
        lines = max(1, min(2 * (gap // 2) - 1, 2 * (wanted // 2) + 1))
        order = np.arange(inside.size)
        x[inside] = _around(order // lines)
        y[inside] += step * _around(order % lines)
    return x, y


def _around(order: np.ndarray) -> np.ndarray:
    """0, 1, 2, 3, 4 ... -> 0, 1, -1, 2, -2 ..."""
    return (order + 1) // 2 * np.where(order % 2, 1, -1)


def _across(x: np.ndarray, level: float, name: str, colour: str) -> dict[str, Any]:
    return {
        "x": x,
        "y": [level, level],
        "mode": "lines",
        "name": name,
        "line": {"color": colour, "width": 2, "dash": "dash"},
        "hovertemplate": f"{name}<extra></extra>",
        "showlegend": True,
    }


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
    scale = scale_of(result)
    heights = np.random.default_rng(0).uniform(-1.0, 1.0, risks.size)
    dots = go.Scatter(
        x=scale.plotted(risks),
        y=heights,
        mode="markers",
        name=name,
        marker={"size": 7, "color": BLUE, "opacity": 0.6},
        hovertext=[
            f"{name}: {scale.write(float(risk))}"
            for name, risk in zip(names, risks, strict=True)
        ],
        hoverinfo="text",
        showlegend=False,
    )
    figure = go.Figure(dots)
    shown = {name: float(scale.plotted(value)) for name, value in marks.items()}
    every = np.append(dots.x, list(shown.values()))
    middle = (every.min() + every.max()) / 2
    for place, (name, value) in enumerate(shown.items()):
        figure.add_vline(x=value, line={"color": (GREY, ORANGE)[place], "dash": "dash"})
        figure.add_annotation(
            x=value,
            text=f"{name} {scale.write(marks[name])}",
            y=1.02 + 0.1 * place,
            yref="paper",
            yanchor="bottom",
            xanchor="left" if value < middle else "right",
            showarrow=False,
            font={"color": (GREY, ORANGE)[place]},
        )
    y_axis = {"visible": False, "range": [-1.2, 1.2]}
    label = record_of(result).loss.shown_name
    axes = {"xaxis": titled_axis(label, scale), "yaxis": y_axis}
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
    loss, scale = record_of(curve.result).loss, scale_of(curve.result)
    sizes, risks = curve.sizes, curve.risks
    known = np.isfinite(risks)
    at, _ = np.nonzero(known)
    figure = go.Figure(
        go.Scatter(
            x=sizes[at],
            y=scale.plotted(risks[known]),
            mode="markers",
            name="subsets",
            marker={"size": 6, "color": BLUE, "opacity": 0.5},
            hovertext=_at_sizes(sizes[at], risks[known], scale),
            hoverinfo="text",
        )
    )
    line: dict[str, Any] = {"color": BLUE, "width": 2.5}
    means = scale.plotted(curve.means)
    figure.add_scatter(x=sizes, y=means, mode="lines", name="mean", line=line)
    if curve.law is not None:
        n = float(sizes[-1])
        beyond = np.linspace(n, 2 * n, 40)
        values = np.array([curve.law(x) for x in beyond])
        figure.add_scatter(
            x=beyond,
            y=scale.plotted(values),
            mode="lines",
            name=f"not measured: {curve.law.formula}",
            line={"color": GREY, "dash": "dash"},
        )
    axes = {
        "xaxis": titled_axis("training rows"),
        "yaxis": titled_axis(loss.shown_name, scale),
    }
    return figure.update_layout(plain(height=380) | axes)


def _at_sizes(sizes: np.ndarray, risks: np.ndarray, scale: Scale) -> list[str]:
    return [
        f"{size} training rows: {scale.write(float(risk))}"
        for size, risk in zip(sizes, risks, strict=True)
    ]


def ladder_figure(steps: Ladder) -> go.Figure:
    """Return the estimate of every recipe with its interval.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn
    >>> from cvnb.studies import ladder
    >>> steps = ladder(knn(k=[1, 5]), *load_iris(return_X_y=True), samples=3)
    >>> len(ladder_figure(steps).data[0].x)
    8
    """
    results = list(steps.results.values())
    loss, scale = record_of(results[0]).loss, scale_of(*results)
    shown = [step for step in steps.steps if step.result is not None]
    values, below, above = [], [], []
    for step in shown:
        value = scale.plotted(step.estimate)
        ends = [value, value]
        if (own := step.interval) is not None:
            ends = [scale.factor * own.low, scale.factor * own.high]
        values.append(value)
        below.append(value - min(ends))
        above.append(max(ends) - value)
    names = [f"{step.name}: {scale.write(step.estimate)}" for step in shown]
    error = {"array": above, "arrayminus": below, "color": GREY}
    dots = go.Scatter(
        x=values,
        y=list(range(len(shown))),
        mode="markers",
        marker={
            "size": 11,
            "color": [ORANGE if step.is_measured else GREY for step in shown],
            "symbol": [
                "circle" if step.is_measured else "circle-open" for step in shown
            ],
        },
        error_x=error,
        hovertext=[
            f"<b>{step.name}</b>: {scale.write(step.estimate)}<br>{step.bias}"
            for step in shown
        ],
        hoverinfo="text",
        showlegend=False,
    )
    axes = rows_of(names) | {"xaxis": titled_axis(loss.shown_name, scale)}
    layout = plain(140 + 44 * len(names), left=20) | axes
    return go.Figure(dots).update_layout(layout)
