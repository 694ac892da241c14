"""The nest map: what every row does in every split."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..errors import InputError
from ..pictures.split_map import Bar, Nest, Strip, nest_of, opened
from ..results.estimate import RiskEstimate
from ..splits.plan import Plan
from ..wording import count
from .look import GREEN, GREY, ORANGE, plain

ROLES = {  # role -> (name, colour, pattern)
    "test": ("outer test part", ORANGE, ""),
    "dev": ("inner test part", "#1f4e8c", ""),
    "train": ("training part", "#a9cdf0", ""),
    "stripe": ("training part: other inner test parts in turn", "#cfe2f6", ""),
    "buffer": ("buffer, in neither", "rgba(128,128,128,.35)", "x"),
    "unused": ("not used", "rgba(128,128,128,.25)", "."),
}
PIECES = 7000  # shapes of one figure, about: a megabyte of text under the pointer
MOST_OPENED, MOST_INNER = 12, 20
NAMED_ROWS = 6


def nest_figure(shown: Plan | RiskEstimate, split: int | None = None) -> go.Figure:
    """What every row does in every split: outer splits, and through the menu the inner splits of each; or of `split` alone.

    >>> from cvnb import Recipe
    >>> plan = Recipe(outer=3, inner=2).plan(np.arange(12.0).reshape(-1, 1), np.arange(12) / 12)
    >>> [button.label for button in nest_figure(plan).layout.updatemenus[0].buttons]
    ['outer splits', 'inside split 0', 'inside split 1', 'inside split 2']
    """
    plan = shown if isinstance(shown, Plan) else shown.plan
    n = plan.n_parts
    if split is not None and not 0 <= split < n:
        raise InputError(
            f"split={split!r} is no outer split; they are numbered 0 to {n - 1}."
        )
    views = _views(plan, split)
    grain = max(1, -(-sum(nest.n_rows * len(nest.bars) for _, nest in views) // PIECES))
    figure, owner = go.Figure(), []
    for v, (_, nest) in enumerate(views):
        traces = _bars(nest, grain, plan.n_rows) + [
            _strip(strip, -1.0 - i) for i, strip in enumerate(nest.strips)
        ]
        for trace in traces:
            figure.add_trace(trace.update(visible=v == 0))
            owner.append(v)
    figure.update_layout(_layout(views[0][1]) | {"barmode": "overlay", "bargap": 0.15})
    if len(views) > 1:
        buttons = [
            {
                "label": label,
                "method": "update",
                "args": [
                    {"visible": [one == v for one in owner]},
                    _relayout(_layout(nest)),
                ],
            }
            for v, (label, nest) in enumerate(views)
        ]
        menu = {
            "buttons": buttons,
            "x": 0,
            "xanchor": "left",
            "y": 1.02,
            "yanchor": "bottom",
            "font": {"color": "#444"},
        }
        figure.update_layout(updatemenus=[menu | {"bgcolor": "#eee", "active": 0}])
    return figure


def _views(plan: Plan, split: int | None) -> list[tuple[str, Nest]]:
    """(name, bars) of what the menu offers: all outer splits, and the inside of the first ones."""
    if split is not None:
        return [(f"inside split {split}", opened(plan, split, MOST_INNER))]
    overview = (
        "outer splits" if plan.outer_layout is not None else "all of S",
        nest_of(plan, MOST_INNER),
    )
    if plan.inner_layouts is None:
        return [overview]
    names = (
        [f"inside split {j}" for j in range(plan.n_parts)]
        if plan.outer_layout is not None
        else ["inner splits"]
    )
    return [
        overview,
        *(
            (names[j], opened(plan, j, MOST_INNER))
            for j in range(min(plan.n_parts, MOST_OPENED))
        ),
    ]


def _layout(nest: Nest) -> dict[str, Any]:
    """Axes for these bars, the first on top, and room for all of them."""
    rows, strips = len(nest.bars), [strip.name for strip in nest.strips]
    places = [*(-1.0 - i for i in range(len(strips))), *range(rows)]
    alike = all(np.array_equal(bar.order, nest.bars[0].order) for bar in nest.bars)
    words = (
        f"rows{',' if alike else '; each line'} sorted by the parts that they are in"
    )
    return {
        **plain(height=130 + 24 * (rows + len(strips))),
        "xaxis": {
            "title": {"text": "rows, in their order" if nest.in_order else words},
            "range": [0, nest.n_rows],
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {
            "title": {
                "text": "outer split"
                if all(bar.inner is None for bar in nest.bars)
                else "outer, inner split"
            },
            "tickvals": places,
            "ticktext": [*strips, *map(_name, nest.bars)],
            "range": [rows - 0.4, -0.6 - len(strips)],
            "showgrid": False,
            "zeroline": False,
        },
    }


def _relayout(layout: dict[str, Any]) -> dict[str, Any]:
    """The part of a layout that differs between views, as plotly's menus want it."""
    axis = layout["yaxis"]
    return {
        "height": layout["height"],
        **{
            f"{name}.title.text": layout[name]["title"]["text"]
            for name in ("xaxis", "yaxis")
        },
        **{f"yaxis.{key}": axis[key] for key in ("tickvals", "ticktext", "range")},
    }


def _name(bar: Bar) -> str:
    return f"{bar.split}" if bar.inner is None else f"{bar.split}, {bar.inner}"


def _bars(nest: Nest, grain: int, n_rows: int) -> list[go.Bar]:
    """A trace for each role; every run of rows is cut into pieces of at most `grain` rows, which the pointer names."""
    found: dict[str, list[tuple[float, int, int, str]]] = {role: [] for role in ROLES}
    for place, bar in enumerate(nest.bars):
        whose = (
            f"outer split {bar.split}"
            if bar.inner is None
            else f"inner split {bar.inner} of outer split {bar.split}"
        )
        for start, end, role in bar.spans:
            kind = role if isinstance(role, str) else ("train", "stripe")[role % 2]
            inside = "" if isinstance(role, str) else f", in inner test part {role}"
            words = f"{whose}: {ROLES['train' if inside else kind][0]}{inside}"
            for a in range(start, end, grain):
                b = min(end, a + grain)
                found[kind].append(
                    (float(place), a, b - a, f"{_rows(bar.order[a:b])}<br>{words}")
                )
    traces = []
    for role, pieces in found.items():
        if pieces:
            name, colour, pattern = ROLES[role]
            y, base, width, text = (
                list(column) for column in zip(*pieces, strict=True)
            )
            edge = {
                "width": 0 if pattern else 0.6,
                "color": colour,
            }  # its own colour: no seam between pieces
            marker = {
                "color": colour,
                "line": edge,
                "pattern": {"shape": pattern, "fgcolor": GREY, "size": 5},
            }
            traces.append(
                _pieces(y, base, width, text, name=name, marker=marker, width=0.85)
            )
    return traces


def _strip(strip: Strip, place: float) -> go.Bar:
    """What the rows are: runs of one class or group."""
    runs = strip.runs(PIECES // 20)
    colours = [f"rgba({GREEN},{shade:.2f})" for _, _, shade, _ in runs]
    text = [
        f"{_rows(strip.order[a:b])}<br>{strip.name} {name}" for a, b, _, name in runs
    ]
    base, width = [a for a, _, _, _ in runs], [b - a for a, b, _, _ in runs]
    marker = {"color": colours, "line": {"width": 0}}
    return _pieces(
        [place] * len(runs),
        base,
        width,
        text,
        name=strip.name,
        marker=marker,
        width=0.5,
        showlegend=False,
    )


def _pieces(
    y: list[float], base: list[int], size: list[int], text: list[str], **how: Any
) -> go.Bar:
    width = how.pop("width")
    return go.Bar(
        y=np.array(y),
        base=np.array(base),
        x=np.array(size),
        width=width,
        orientation="h",
        hovertext=text,
        hoverinfo="text",
        **how,
    )


def _rows(rows: np.ndarray) -> str:
    """ "row 17", "rows 3 to 90", "rows 3, 17, 22, … (91 rows)"."""
    if rows.size == 1:
        return f"row {rows[0]}"
    if np.all(np.diff(rows) == 1):
        return f"rows {rows[0]} to {rows[-1]}"
    more = "" if rows.size <= NAMED_ROWS else f", … ({count(rows.size, 'row')})"
    return f"rows {', '.join(map(str, rows[:NAMED_ROWS].tolist()))}{more}"
