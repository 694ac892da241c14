"""Error versus θ: curves along one axis, or a heat map over two."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..errors import InputError
from ..pictures.curves import Axis, Curve, Surface, curve_of
from ..results.estimate import RiskEstimate
from ..wording import count, number
from .look import BELOW, BLUE, GREY, LINES, ORANGE, named_axis, plain

MOST_CURVES = 60  # inner curves of outer splits beyond this number are left out
LEVELS = {
    "flat": "flat estimate (optimistic)",
    "nested": "nested estimate",
    "test": "test estimate",
}


def curve_figure(result: RiskEstimate) -> go.Figure:
    """Error versus θ: the inner curves and their mean, the choices, the outer curves, the flat and nested levels.

    A grid of two parameters is a heat map of the mean inner loss with the choices.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> figure = curve_figure(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> figure.layout.xaxis.title.text, [trace.name for trace in figure.data][-2:]
    ('k', ['flat estimate (optimistic) 0.04', 'nested estimate 0.0466667'])
    """
    curve = curve_of(result)
    if curve is None:
        raise InputError(
            "there is no curve: nothing was chosen among several settings (or all of them failed)."
        )
    return figure_of(curve)


def figure_of(curve: Curve | Surface) -> go.Figure:
    """The figure of these numbers: the same traces in the same order for every curve, some of them empty."""
    if isinstance(curve, Surface):
        return go.Figure(_surface_traces(curve), _surface_layout(curve))
    axes = {
        "xaxis": _x_axis(curve.axis),
        "yaxis": {"title": {"text": curve.ylabel}} | LINES,
    }
    layout = (
        plain(height=470)
        | axes
        | {"legend": BELOW, "margin": {"l": 70, "r": 20, "t": 20, "b": 50}}
    )
    return go.Figure(
        [*_band(curve), *_curves(curve), *_choices(curve), *_levels(curve)], layout
    )


def _line(x: Any, y: Any, name: str, **how: Any) -> go.Scatter:
    """A trace of the figure; one without points keeps its place and leaves the legend."""
    return go.Scatter(
        x=x, y=y, name=name, **({"mode": "lines", "showlegend": len(x) > 0} | how)
    )


def _band(curve: Curve) -> list[go.Scatter]:
    """Mean ± one standard deviation over the outer splits: how much they differ, not how sure their mean is."""
    n = len(curve.inner)
    x, spread = (
        (curve.axis.x, curve.inner.std(axis=0, ddof=1))
        if n > 1
        else (curve.axis.x[:0], np.zeros(0))
    )
    mean = curve.mean[: len(x)]
    how = {"line": {"width": 0}, "hoverinfo": "skip", "legendgroup": "mean"}
    name = f"± 1 standard deviation of the {n} curves"
    fill = {"fill": "tonexty", "fillcolor": "rgba(59,141,224,.18)"}
    return [
        _line(x, mean - spread, "", **how | {"showlegend": False}),
        _line(x, mean + spread, name, **how, **fill),
    ]


def _curves(curve: Curve) -> list[go.Scatter]:
    """The inner curves, their mean, the outer curves (a click on the legend shows them); those of all splits are one trace."""
    n, several = len(curve.inner), len(curve.inner) > 1
    inner = curve.inner[:MOST_CURVES] if several else curve.inner[:0]
    outer = curve.inner[:0] if curve.outer is None else curve.outer[:MOST_CURVES]
    mean = "mean of the inner curves" if several else "inner curve"
    grey = {"line": {"color": GREY, "width": 1}, "opacity": 0.6}
    settings = [f"<b>{setting}</b>" for setting in curve.settings]
    return [
        _joined(curve, inner, f"inner curve of each outer split{_of(n)}", "split", **grey),
        _line(
            curve.axis.x, curve.mean, mean, line={"color": BLUE, "width": 3}, legendgroup="mean", hovertext=settings,
            hovertemplate=f"%{{hovertext}}: %{{y:.6g}} ({mean})<extra></extra>",
        ),
        _joined(
            curve, outer, f"outer curve of each split{_of(n)}", "outer test part",
            line={"color": ORANGE, "width": 1, "dash": "dot"}, opacity=0.7, visible="legendonly",
        ),
    ]  # fmt: skip


def _of(n: int) -> str:
    return f" (the first {MOST_CURVES} of {n})" if n > MOST_CURVES else ""


def _joined(
    curve: Curve, losses: np.ndarray, name: str, what: str, **how: Any
) -> go.Scatter:
    """Several curves as one trace: a point without a value ends each."""
    n = len(losses)
    x = np.tile(np.append(curve.axis.x, np.nan), n)
    y = np.column_stack([losses, np.full(n, np.nan)]).ravel()
    settings = [f"<b>{setting}</b>" for setting in curve.settings]
    text = [f"{setting}, {what} {j}" for j in range(n) for setting in [*settings, ""]]
    template = "%{hovertext}: %{y:.6g}<extra></extra>"
    return _line(
        x, y, name, connectgaps=False, hovertext=text, hovertemplate=template, **how
    )


def _choices(curve: Curve) -> list[go.Scatter]:
    n = len(curve.inner)
    marks = (
        (
            curve.one_se,
            "one-standard-error choice",
            {"symbol": "diamond-open", "size": 10, "color": GREY},
        ),
        (
            curve.chosen,
            "θ<sub>j</sub> chosen in outer split j" if n > 1 else "θ̂ chosen",
            {"size": 9, "color": ORANGE},
        ),
    )
    traces = []
    for places, name, marker in marks:
        at = np.zeros(0, dtype=np.int64) if places is None else places
        text = [
            f"<b>{curve.settings[place]}</b>, split {j}" for j, place in enumerate(at)
        ]
        how = {"mode": "markers", "marker": marker, "hovertext": text}
        template = f"%{{hovertext}}: %{{y:.6g}}<br>{name}<extra></extra>"
        traces.append(
            _line(
                curve.axis.x[at],
                curve.inner[np.arange(at.size), at],
                name,
                **how,
                hovertemplate=template,
            )
        )
    return traces


def _levels(curve: Curve) -> list[go.Scatter]:
    """Flat estimate and risk, across."""
    x = curve.axis.x
    outside = "test" if "test" in curve.levels else "nested"
    traces = []
    for name, colour in (("flat", GREY), (outside, ORANGE)):
        ends = x[:0] if name not in curve.levels else np.array([x.min(), x.max()])
        level = curve.levels.get(name)
        label = LEVELS[name] if level is None else f"{LEVELS[name]} {number(level)}"
        line = {"color": colour, "width": 1.5, "dash": "dash"}
        traces.append(
            _line(
                ends,
                np.full(ends.size, level),
                label,
                line=line,
                hovertemplate=f"{label}<extra></extra>",
            )
        )
    return traces


def _x_axis(axis: Axis) -> dict[str, Any]:
    """Logarithmic where the grid is; words where the values are no numbers."""
    if axis.ticks:
        return named_axis(axis.name, list(axis.ticks)) | {"type": "linear"}
    return {
        "title": {"text": axis.name},
        "type": "log" if axis.log else "linear",
        "exponentformat": "power",
    } | LINES


def _surface_traces(surface: Surface) -> list[Any]:
    """Cells coloured by the mean inner loss; circles where splits chose, with how many they are."""
    across, up = _names(surface.x), _names(surface.y)
    text = [[f"{surface.y.name}={y}, {surface.x.name}={x}" for x in across] for y in up]
    row, column = np.nonzero(surface.times)
    times = [int(surface.times[cell]) for cell in zip(row, column, strict=True)]
    return [
        go.Heatmap(
            z=surface.mean, text=text, hovertemplate="%{text}: %{z:.6g}<extra></extra>", xgap=1, ygap=1, colorscale="Cividis",
            reversescale=surface.large_is_good, colorbar={"title": {"text": surface.ylabel, "side": "right"}},
        ),
        go.Scatter(
            x=column, y=row, mode="markers+text", text=list(map(str, times)), textfont={"color": "white"},
            marker={"color": ORANGE, "size": 22, "line": {"color": "white", "width": 1}}, hoverinfo="text",
            name=f"chosen in how many of {count(surface.n_splits, 'split')}",
            hovertext=[
                f"chosen in {count(n, 'split')}: {text[r][c]}" for n, r, c in zip(times, row, column, strict=True)
            ],
        ),
    ]  # fmt: skip


def _surface_layout(surface: Surface) -> dict[str, Any]:
    levels = "; ".join(
        f"{LEVELS[name]} {number(level)}" for name, level in surface.levels.items()
    )
    axes = {
        "xaxis": named_axis(surface.x.name, _names(surface.x)),
        "yaxis": named_axis(surface.y.name, _names(surface.y)),
    }
    return plain(height=470) | axes | {"title": {"text": levels, "font": {"size": 13}}}


def _names(axis: Axis) -> list[str]:
    return list(axis.ticks) or [f"{x:.6g}" for x in axis.x]
