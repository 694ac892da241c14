"""Error versus θ: curves along one axis, or a heat map over two."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..errors import InputError
from ..pictures.curves import Axis, Curve, Surface, curve_of
from ..pictures.strips import strips_of
from ..results.estimate import RiskEstimate
from ..wording import count, number
from .look import (
    BELOW,
    BLUE,
    GREY,
    ORANGE,
    named_axis,
    plain,
    titled_axis,
    x_axis,
)
from .strips import strips_figure

MOST_CURVES = 60  # more inner or outer curves than this are left out
LEVELS = {
    "flat": "flat estimate (optimistic)",
    "nested": "nested estimate",
    "test": "test estimate",
}


def curve_figure(result: RiskEstimate) -> go.Figure:
    """Return error versus θ: inner and outer curves, their mean, choices, estimates.

    A grid of two parameters is a heat map of the mean inner loss with the choices; settings
    drawn from several ranges are dots over each of their parameters.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> figure = curve_figure(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> figure.layout.xaxis.title.text, [trace.name for trace in figure.data][-2:]
    ('k', ['flat estimate (optimistic) 0.04', 'nested estimate 0.0466667'])
    """
    curve = curve_of(result)
    if curve is None:
        raise InputError(
            "there is no curve: nothing was chosen among several settings "
            "(or all of them failed)."
        )
    if strips := strips_of(result):
        return strips_figure(strips)
    return figure_of(curve)


def figure_of(curve: Curve | Surface) -> go.Figure:
    """Return the figure of a curve or surface.

    Every curve has the same traces in the same order, some of them empty, so that a widget
    can update them.
    """
    if isinstance(curve, Surface):
        return go.Figure(_surface_traces(curve), _surface_layout(curve))
    axes = {"xaxis": x_axis(curve.axis), "yaxis": titled_axis(curve.ylabel)}
    traces = [*_band(curve), *_curves(curve), *_choices(curve), *_levels(curve)]
    return go.Figure(traces, plain(470, BELOW, top=20) | axes)


def _line(x: Any, y: Any, name: str, **options: Any) -> go.Scatter:
    """A trace; one without points is left out of the legend."""
    defaults = {"mode": "lines", "showlegend": len(x) > 0}
    return go.Scatter(x=x, y=y, name=name, **(defaults | options))


def _band(curve: Curve) -> list[go.Scatter]:
    """Mean ± one standard deviation over the outer splits.

    It shows how much the splits differ, not how precise their mean is.
    """
    n = len(curve.inner)
    x, mean, spread = curve.axis.x[:0], curve.mean[:0], np.zeros(0)
    if n > 1:
        x, mean, spread = curve.axis.x, curve.mean, curve.inner.std(axis=0, ddof=1)
    options = {"line": {"width": 0}, "hoverinfo": "skip", "legendgroup": "mean"}
    fill = {"fill": "tonexty", "fillcolor": "rgba(59,141,224,.18)"}
    name = f"± 1 standard deviation of the {n} curves"
    return [
        _line(x, mean - spread, "", **options, showlegend=False),
        _line(x, mean + spread, name, **options, **fill),
    ]


def _curves(curve: Curve) -> list[go.Scatter]:
    """The inner curves, their mean, and the outer curves, which a click on the legend shows.

    All inner curves are one trace, and so are all outer curves.
    """
    n, none = len(curve.inner), curve.inner[:0]
    inner = curve.inner[:MOST_CURVES] if n > 1 else none
    outer = none if curve.outer is None else curve.outer[:MOST_CURVES]
    mean = "mean of the inner curves" if n > 1 else "inner curve"
    some = f" (the first {MOST_CURVES} of {n})" if n > MOST_CURVES else ""
    return [
        _joined(
            curve,
            inner,
            f"inner curve of each outer split{some}",
            "split",
            line={"color": GREY, "width": 1},
            opacity=0.6,
        ),
        _line(
            curve.axis.x,
            curve.mean,
            mean,
            line={"color": BLUE, "width": 3},
            legendgroup="mean",
            hovertext=_bold_settings(curve),
            hovertemplate=f"%{{hovertext}}: %{{y:.6g}} ({mean})<extra></extra>",
        ),
        _joined(
            curve,
            outer,
            f"outer curve of each split{some}",
            "outer test part",
            line={"color": ORANGE, "width": 1, "dash": "dot"},
            opacity=0.7,
            visible="legendonly",
        ),
    ]


def _bold_settings(curve: Curve) -> list[str]:
    return [f"<b>{setting}</b>" for setting in curve.settings]


def _joined(
    curve: Curve, losses: np.ndarray, name: str, part: str, **options: Any
) -> go.Scatter:
    """Several curves as one trace: a point without a value ends each."""
    n = len(losses)
    settings = [*_bold_settings(curve), ""]
    return _line(
        np.tile(np.append(curve.axis.x, np.nan), n),
        np.column_stack([losses, np.full(n, np.nan)]).ravel(),
        name,
        connectgaps=False,
        hovertext=[f"{setting}, {part} {j}" for j in range(n) for setting in settings],
        hovertemplate="%{hovertext}: %{y:.6g}<extra></extra>",
        **options,
    )


def _choices(curve: Curve) -> list[go.Scatter]:
    several = len(curve.inner) > 1
    name = "θ<sub>j</sub> chosen in outer split j" if several else "θ̂ chosen"
    diamond = {"symbol": "diamond-open", "size": 10, "color": GREY}
    none = np.zeros(0, dtype=np.int64)
    one_se = none if curve.one_se is None else curve.one_se
    return [
        _marks(curve, one_se, "one-standard-error choice", diamond),
        _marks(curve, curve.chosen, name, {"size": 9, "color": ORANGE}),
    ]


def _marks(
    curve: Curve, places: np.ndarray, name: str, marker: dict[str, Any]
) -> go.Scatter:
    """A mark at one place of each inner curve."""
    settings = [curve.settings[place] for place in places]
    return _line(
        curve.axis.x[places],
        curve.inner[np.arange(places.size), places],
        name,
        mode="markers",
        marker=marker,
        hovertext=[
            f"<b>{setting}</b>, split {j}" for j, setting in enumerate(settings)
        ],
        hovertemplate=f"%{{hovertext}}: %{{y:.6g}}<br>{name}<extra></extra>",
    )


def _levels(curve: Curve) -> list[go.Scatter]:
    """The flat estimate and the risk, as horizontal lines."""
    x = curve.axis.x
    outside = "test" if "test" in curve.levels else "nested"
    traces = []
    for name, colour in (("flat", GREY), (outside, ORANGE)):
        ends, label, level = x[:0], LEVELS[name], curve.levels.get(name)
        if level is not None:
            ends, label = np.array([x.min(), x.max()]), f"{label} {number(level)}"
        trace = _line(
            ends,
            np.full(ends.size, level),
            label,
            line={"color": colour, "width": 1.5, "dash": "dash"},
            hovertemplate=f"{label}<extra></extra>",
        )
        traces.append(trace)
    return traces


def _surface_traces(surface: Surface) -> list[Any]:
    """Cells coloured by the mean inner loss; circles with the number of splits that chose one."""
    x, y = surface.x.name, surface.y.name
    text = [[f"{y}={b}, {x}={a}" for a in _names(surface.x)] for b in _names(surface.y)]
    rows, columns = np.nonzero(surface.times)
    times = surface.times[rows, columns].tolist()
    cells = go.Heatmap(
        z=surface.mean,
        text=text,
        hovertemplate="%{text}: %{z:.6g}<extra></extra>",
        xgap=1,
        ygap=1,
        colorscale="Cividis",
        reversescale=surface.large_is_good,
        colorbar={"title": {"text": surface.ylabel, "side": "right"}},
    )
    edge = {"color": "white", "width": 1}
    choices = go.Scatter(
        x=columns,
        y=rows,
        mode="markers+text",
        text=list(map(str, times)),
        textfont={"color": "white"},
        marker={"color": ORANGE, "size": 22, "line": edge},
        hoverinfo="text",
        name=f"chosen in how many of {count(surface.n_splits, 'split')}",
        hovertext=[
            f"chosen in {count(n, 'split')}: {text[row][column]}"
            for n, row, column in zip(times, rows, columns, strict=True)
        ],
    )
    return [cells, choices]


def _surface_layout(surface: Surface) -> dict[str, Any]:
    levels = [f"{LEVELS[name]} {number(x)}" for name, x in surface.levels.items()]
    return plain(height=470) | {
        "xaxis": named_axis(surface.x.name, _names(surface.x)),
        "yaxis": named_axis(surface.y.name, _names(surface.y)),
        "title": {"text": "; ".join(levels), "font": {"size": 13}},
    }


def _names(axis: Axis) -> list[str]:
    return list(axis.ticks) or [f"{x:.6g}" for x in axis.x]
