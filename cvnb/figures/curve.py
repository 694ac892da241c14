"""The tuning curve: lines along one parameter, a heat map over two, a list of more."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..errors import InputError
from ..pictures.curves import (
    OUTSIDE,
    SAME_FOLDS,
    Axis,
    Curve,
    Ranking,
    Surface,
    curve_of,
)
from ..pictures.drawing import cut
from ..pictures.strips import strips_of
from ..results.estimate import RiskEstimate
from ..wording import count
from .look import (
    BAND,
    BLUE,
    FOLD,
    GREY,
    HEAT,
    INK,
    ORANGE,
    PAGE,
    ROOM,
    labels_right,
    named_axis,
    plain,
    rows_of,
    titled_axis,
    x_axis,
)
from .strips import strips_figure

MOST_CURVES = 60  # more inner or outer curves than this are left out
MOST_RANKED = 15
LONGEST = 44  # letters of a setting in the list; the pointer shows all of it
HEIGHT = 470


def curve_figure(result: RiskEstimate) -> go.Figure:
    """Return the loss against what was tuned: its mean, each fold, choices, estimates.

    A grid of two parameters is a heat map of the mean inner loss with the choices; settings of
    more parameters are a list, the best first, and drawn ones dots over each parameter.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> figure = curve_figure(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> figure.layout.xaxis.title.text, [trace.name for trace in figure.data][-3:]
    ('k', ['same folds 4.0 %', 'nested 4.7 %', 'labels'])
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


def figure_of(curve: Curve | Surface | Ranking, log_y: bool = False) -> go.Figure:
    """Return the figure of a curve, a surface or a ranking.

    Every curve has the same traces in the same order, some of them empty, so that a widget
    can update them. log_y: whether the losses of a curve are on a logarithmic axis
    """
    if isinstance(curve, Surface):
        return go.Figure(_surface_traces(curve), _surface_layout(curve))
    if isinstance(curve, Ranking):
        return _ranking_figure(curve)
    y_axis = titled_axis(curve.ylabel, curve.scale)
    axes = {"xaxis": x_axis(curve.axis), "yaxis": y_axis}
    axes["yaxis"]["type"] = "log" if log_y else "linear"
    traces = [*_band(curve), *_curves(curve), *_choices(curve), *_levels(curve)]
    return go.Figure([*traces, _labels(curve, log_y)], plain(HEIGHT, right=ROOM) | axes)


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
    fill = {"fill": "tonexty", "fillcolor": BAND}
    name = f"± 1 sd of the {n} folds"
    low, high = (curve.factor * (mean + side * spread) for side in (-1, 1))
    return [
        _line(x, low, "", **options, showlegend=False),
        _line(x, high, name, **options, **fill),
    ]


def _curves(curve: Curve) -> list[go.Scatter]:
    """The inner curves, their mean, and the outer curves, which a click on the legend shows.

    All inner curves are one trace, and so are all outer curves.
    """
    n, none = len(curve.inner), curve.inner[:0]
    inner = curve.inner[:MOST_CURVES] if n > 1 else none
    outer = none if curve.outer is None else curve.outer[:MOST_CURVES]
    mean, tested = _name_of_mean(curve), f"test {_noun(curve)}"
    some = f" (the first {MOST_CURVES} of {n})" if n > MOST_CURVES else ""
    return [
        _joined(
            curve,
            inner,
            f"each fold's inner curve{some}",
            "inside fold",
            line={"color": FOLD, "width": 1},
            opacity=0.7,
        ),
        _line(
            curve.axis.x,
            curve.factor * curve.mean,
            mean,
            line={"color": BLUE, "width": 3},
            legendgroup="mean",
            showlegend=False,
            hovertext=_said(curve, curve.mean, [mean] * curve.mean.size),
            hoverinfo="text",
        ),
        _joined(
            curve,
            outer,
            f"each fold's {tested}{some}",
            f"{tested} of fold",
            line={"color": ORANGE, "width": 1, "dash": "dot"},
            opacity=0.8,
            visible="legendonly",
        ),
    ]


def _noun(curve: Curve) -> str:
    is_score = curve.scale is not None and curve.scale.loss.is_score
    return "score" if is_score else "error"


def _name_of_mean(curve: Curve) -> str:
    return "mean of folds" if len(curve.inner) > 1 else "inner mean"


def _said(curve: Curve, losses: np.ndarray, places: list[str]) -> list[str]:
    """ "<b>k=5</b>: 4.2 % (mean of folds)" for each point."""
    return [
        f"<b>{setting}</b>: {curve.write(float(loss))} ({place})"
        for setting, loss, place in zip(curve.settings, losses, places, strict=True)
    ]


def _joined(
    curve: Curve, losses: np.ndarray, name: str, part: str, **options: Any
) -> go.Scatter:
    """Several curves as one trace: a point without a value ends each."""
    n, n_places = losses.shape
    texts: list[str] = []
    for j, row in enumerate(losses, start=1):
        texts += [*_said(curve, row, [f"{part} {j}"] * n_places), ""]
    return _line(
        np.tile(np.append(curve.axis.x, np.nan), n),
        curve.factor * np.column_stack([losses, np.full(n, np.nan)]).ravel(),
        name,
        connectgaps=False,
        hovertext=texts,
        hoverinfo="text",
        **options,
    )


def _choices(curve: Curve) -> list[go.Scatter]:
    several = len(curve.inner) > 1
    diamond = {"symbol": "diamond-open", "size": 11, "color": INK}
    none = np.zeros(0, dtype=np.int64)
    one_se = none if curve.one_se is None else curve.one_se
    name = "chosen in each fold" if several else "chosen"
    return [
        _marks(curve, one_se, "one-standard-error choice", diamond),
        _marks(curve, curve.chosen, name, {"size": 9, "color": INK}),
    ]


def _marks(
    curve: Curve, places: np.ndarray, name: str, marker: dict[str, Any]
) -> go.Scatter:
    """A mark at one place of each inner curve."""
    losses = curve.inner[np.arange(places.size), places]
    return _line(
        curve.axis.x[places],
        curve.factor * losses,
        name,
        mode="markers",
        marker=marker,
        hovertext=[
            f"<b>{curve.settings[place]}</b>: {curve.write(float(loss))} "
            f"(inside fold {j})<br>{name}"
            for j, (place, loss) in enumerate(zip(places, losses, strict=True), start=1)
        ],
        hoverinfo="text",
    )


def _levels(curve: Curve) -> list[go.Scatter]:
    """The flat estimate and the risk, as horizontal lines."""
    x = curve.axis.x
    outside = OUTSIDE[OUTSIDE[1] in curve.levels]
    traces = []
    for name, colour in ((SAME_FOLDS, GREY), (outside, ORANGE)):
        level = curve.levels.get(name)
        ends = x[:0] if level is None else np.array([x.min(), x.max()])
        label = curve.named_levels.get(name, name)
        trace = _line(
            ends,
            np.full(ends.size, 0.0 if level is None else curve.factor * level),
            label,
            line={"color": colour, "width": 1.5, "dash": "dash"},
            hovertemplate=f"{label}<extra></extra>",
            showlegend=False,
        )
        traces.append(trace)
    return traces


def _labels(curve: Curve, log_y: bool) -> go.Scatter:
    """The names of the mean and of the levels, to the right of their lines."""
    lines = {
        curve.named_levels[name]: (
            curve.factor * level,
            ORANGE if name in OUTSIDE else GREY,
        )
        for name, level in curve.levels.items()
    }
    means = curve.factor * curve.mean[np.isfinite(curve.mean)]
    lines[_name_of_mean(curve)] = (float(means[-1]), BLUE)
    if log_y:
        lines = {words: line for words, line in lines.items() if line[0] > 0}
    levels = [curve.factor * level for level in curve.levels.values()]
    drawn = np.append(curve.factor * curve.inner, levels)
    return labels_right(
        float(curve.axis.x.max()), lines, drawn[drawn > 0] if log_y else drawn, log_y
    )


def _surface_traces(surface: Surface) -> list[Any]:
    """Cells coloured by the mean inner loss; circles with the number of splits that chose one."""
    x, y = surface.x, surface.y
    text = [
        [
            f"{y.name}={b}, {x.name}={a}: {surface.write(float(surface.mean[row, column]))}"
            for column, a in enumerate(x.names)
        ]
        for row, b in enumerate(y.names)
    ]
    rows, columns = np.nonzero(surface.times)
    times = surface.times[rows, columns].tolist()
    bar = {
        "title": {"text": surface.ylabel, "side": "right"},
        "ticksuffix": surface.unit,
        "thickness": 14,
        "outlinewidth": 0,
    }
    cells = go.Heatmap(
        z=surface.factor * surface.mean,
        text=text,
        hoverinfo="text",
        xgap=1,
        ygap=1,
        colorscale=HEAT,
        reversescale=not surface.large_is_good,
        colorbar=bar,
    )
    choices = go.Scatter(
        x=columns,
        y=rows,
        mode="markers+text",
        text=list(map(str, times)),
        textfont={"color": INK},
        marker={"color": PAGE, "size": 22, "line": {"color": INK, "width": 1}},
        hoverinfo="text",
        name=f"chosen in how many of {count(surface.n_splits, 'fold')}",
        hovertext=[
            f"chosen in {count(n, 'fold')}: {text[row][column]}"
            for n, row, column in zip(times, rows, columns, strict=True)
        ],
    )
    return [cells, choices]


def _surface_layout(surface: Surface) -> dict[str, Any]:
    return plain(HEIGHT, top=50) | {
        "xaxis": named_axis(surface.x.name, _short(surface.x), 8),
        "yaxis": named_axis(surface.y.name, _short(surface.y)),
        "title": _title(surface),
    }


def _title(shown: Surface | Ranking) -> dict[str, Any]:
    """The estimates, and what the circles are."""
    words = ", ".join([*shown.named_levels.values(), "circles: folds that chose it"])
    place = {"x": 0.02, "xanchor": "left", "y": 0.98, "yanchor": "top"}
    return {"text": words, "font": {"size": 12}} | place


def _short(axis: Axis) -> list[str]:
    return [cut(name, 16) for name in axis.names]


def _ranking_figure(ranking: Ranking) -> go.Figure:
    """Settings from top to bottom, the best first, each name above its line."""
    places = ranking.shown(MOST_RANKED)
    written = [ranking.write(float(ranking.mean[place])) for place in places]
    names = [f"{place + 1}. {ranking.settings[place]}" for place in places]
    times = [int(ranking.times[place]) for place in places]
    values = ranking.factor * ranking.mean[places]
    dots = go.Scatter(
        x=values,
        y=list(range(len(places))),
        mode="markers+text",
        text=[str(n) if n else "" for n in times],
        textfont={"color": PAGE, "size": 11},
        marker={
            "size": [18 if n else 10 for n in times],
            "color": [INK if n else BLUE for n in times],
            "opacity": 1,
        },
        hovertext=[
            f"<b>{name}</b>: {value}"
            + f"<br>chosen in {n} of {count(ranking.n_splits, 'fold')}" * bool(n)
            for name, value, n in zip(names, written, times, strict=True)
        ],
        hoverinfo="text",
        customdata=places,
        name=f"{len(places)} of {count(len(ranking.which), 'setting')}, the best first",
        showlegend=False,
        cliponaxis=False,
    )
    x_axis = titled_axis(f"{ranking.ylabel}: {dots.name}", ranking.scale)
    layout = plain(130 + 36 * len(places), left=30, top=50, right=30)
    short = [cut(name, LONGEST) for name in names]
    rows = [f"{name}: {value}" for name, value in zip(short, written, strict=True)]
    axes = rows_of(rows) | {"xaxis": x_axis}
    return go.Figure(dots, layout | axes | {"title": _title(ranking)})
