"""The row map: the role of each row in each fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..errors import InputError
from ..pictures.colours import LIGHT
from ..pictures.split_map import Bar, Nest, RowBand, nest_of, not_run, opened
from ..pictures.svg import bar_name
from ..results.estimate import RiskEstimate
from ..splits.plan import Plan
from ..wording import count
from .look import GREY, plain

ROLES = {  # role -> (name, colour, pattern)
    "test": ("test fold", LIGHT["test"], ""),
    "dev": ("inner test fold", LIGHT["inner test"], ""),
    "train": ("training part", LIGHT["train"], ""),
    "stripe": ("training part, every second inner fold", LIGHT["stripe"], ""),
    "buffer": ("buffer, in neither", "rgba(128,128,128,.35)", "x"),
    "unused": ("not used", "rgba(128,128,128,.25)", "."),
    "not run": ("not run", "rgba(128,128,128,.1)", "/"),
}
PIECES = 7000  # approximate number of shapes in one figure: 1 MB of hover texts
MOST_OPENED, MOST_INNER = 12, 20
NAMED_ROWS = 6
MENU = {
    "x": 0,
    "xanchor": "left",
    "y": 1.02,
    "yanchor": "bottom",
    "font": {"color": "#444"},
    "bgcolor": "#eee",
    "active": 0,
}


def nest_figure(shown: Plan | RiskEstimate, split: int | None = None) -> go.Figure:
    """Return the role of each row in each fold of a plan or result.

    The menu leads from the outer folds to the inner folds of each. With `split` (0, 1, ...),
    only the inner folds of that outer fold are shown. Folds are counted from 1 on the screen.

    >>> from cvnb import Recipe
    >>> plan = Recipe(outer=3, inner=2).plan(np.arange(12.0).reshape(-1, 1), np.arange(12) / 12)
    >>> [button.label for button in nest_figure(plan).layout.updatemenus[0].buttons]
    ['all folds', 'inside fold 1', 'inside fold 2', 'inside fold 3']
    """
    plan = shown if isinstance(shown, Plan) else shown.plan
    n = plan.n_parts
    if split is not None and not 0 <= split < n:
        raise InputError(
            f"split={split!r} is no outer split; they are numbered 0 to {n - 1}."
        )
    left = {} if isinstance(shown, Plan) else not_run(shown)
    views = {name: nest.under_way(left) for name, nest in _views(plan, split).items()}
    cells = sum(nest.n_rows * len(nest.bars) for nest in views.values())
    grain = max(1, -(-cells // PIECES))
    traces = {name: _traces(nest, grain) for name, nest in views.items()}
    layouts = {name: _layout(nest) for name, nest in views.items()}
    first = next(iter(views))
    figure = go.Figure()
    for name, added in traces.items():
        figure.add_traces([trace.update(visible=name == first) for trace in added])
    figure.update_layout(layouts[first] | {"barmode": "overlay", "bargap": 0.15})
    if len(views) == 1:
        return figure
    buttons = []
    for view, layout in layouts.items():
        visible = [name == view for name, added in traces.items() for _ in added]
        args = [{"visible": visible}, _relayout(layout)]
        buttons.append({"label": view, "method": "update", "args": args})
    return figure.update_layout(updatemenus=[{"buttons": buttons} | MENU])


def _views(plan: Plan, split: int | None) -> dict[str, Nest]:
    """name -> bars of each view in the menu: all outer splits, and the inside of the first."""
    if split is not None:
        return {f"inside fold {split + 1}": opened(plan, split, MOST_INNER)}
    tests_outside = plan.outer_layout is not None
    views = {"all folds" if tests_outside else "all rows": nest_of(plan, MOST_INNER)}
    if plan.inner_layouts is not None:
        for j in range(min(plan.n_parts, MOST_OPENED)):
            name = f"inside fold {j + 1}" if tests_outside else "inner folds"
            views[name] = opened(plan, j, MOST_INNER)
    return views


def _layout(nest: Nest) -> dict[str, Any]:
    """Axes for these bars, the first on top, and room for all of them."""
    bars, bands = nest.bars, [band.name for band in nest.strips]
    same_order = all(np.array_equal(bar.order, bars[0].order) for bar in bars)
    words = "rows, sorted by part" if same_order else "rows, each line sorted by part"
    x_title = "rows, in their order" if nest.in_order else words
    no_lines = {"showgrid": False, "zeroline": False}
    return {
        **plain(height=190 + 24 * (len(bars) + len(bands)), top=50),
        "xaxis": {
            "title": {"text": x_title},
            "range": [0, nest.n_rows],
            "automargin": True,
            **no_lines,
        },
        "yaxis": {
            "automargin": True,
            "tickvals": [*(-1.0 - i for i in range(len(bands))), *range(len(bars))],
            "ticktext": [*bands, *map(bar_name, bars)],
            "range": [len(bars) - 0.4, -0.6 - len(bands)],
            **no_lines,
        },
    }


def _relayout(layout: dict[str, Any]) -> dict[str, Any]:
    """The part of a layout that differs between views, as plotly's menus expect it."""
    x_axis, y_axis = layout["xaxis"], layout["yaxis"]
    return {
        "height": layout["height"],
        "xaxis.title.text": x_axis["title"]["text"],
        **{f"yaxis.{key}": y_axis[key] for key in ("tickvals", "ticktext", "range")},
    }


def _traces(nest: Nest, grain: int) -> list[go.Bar]:
    """A trace for each role, of pieces with at most `grain` rows; then one for each band."""
    pieces: dict[str, list[Any]] = {role: [] for role in ROLES}
    for place, bar in enumerate(nest.bars):
        for role, start, end, words in _pieces(bar, grain):
            text = f"{_row_words(bar.order[start:end])}<br>{words}"
            pieces[role].append((float(place), start, end - start, text))
    bars = [_role_trace(role, pieces[role]) for role in ROLES if pieces[role]]
    return bars + [_band(band, -1.0 - i) for i, band in enumerate(nest.strips)]


def _pieces(bar: Bar, grain: int) -> Iterator[tuple[str, int, int, str]]:
    """(key of ROLES, start, end, words) of each piece."""
    split = f"fold {bar.split + 1}"
    if bar.inner is not None:
        split = f"inner fold {bar.inner + 1} of {split}"
    for start, end, role in bar.spans:
        if bar.state:
            kind, words = "not run", bar.state
        elif isinstance(role, str):
            kind, words = role, ROLES[role][0]
        else:
            kind = ("train", "stripe")[role % 2]
            words = f"{ROLES['train'][0]}, in inner fold {role + 1}"
        for first in range(start, end, grain):
            yield kind, first, min(end, first + grain), f"{split}: {words}"


def _role_trace(role: str, pieces: list[Any]) -> go.Bar:
    name, colour, pattern = ROLES[role]
    # An edge of its own colour: no seam between pieces.
    edge = {"width": 0 if pattern else 0.6, "color": colour}
    hatching = {"shape": pattern, "fgcolor": GREY, "size": 5}
    marker = {"color": colour, "line": edge, "pattern": hatching}
    return _bar_trace(pieces, 0.85, name=name, marker=marker)


def _band(band: RowBand, place: float) -> go.Bar:
    """Runs of one class, group or time."""
    pieces, colours = [], []
    for start, end, shade, name in band.runs(PIECES // 20):
        text = f"{_row_words(band.order[start:end])}<br>{band.name} {name}"
        pieces.append((place, start, end - start, text))
        colours.append(f"rgba(85,85,85,{shade:.2f})")
    marker = {"color": colours, "line": {"width": 0}}
    return _bar_trace(pieces, 0.5, name=band.name, marker=marker, showlegend=False)


def _bar_trace(pieces: list[Any], width: float, **options: Any) -> go.Bar:
    """Pieces (y, start, size, hover text) as one trace."""
    y, starts, sizes, texts = zip(*pieces, strict=True)
    return go.Bar(
        y=np.array(y),
        base=np.array(starts),
        x=np.array(sizes),
        width=width,
        orientation="h",
        hovertext=texts,
        hoverinfo="text",
        **options,
    )


def _row_words(rows: np.ndarray) -> str:
    """ "row 17", "rows 3 to 90", "rows 3, 17, 22, … (91 rows)"."""
    if rows.size == 1:
        return f"row {rows[0]}"
    if np.all(np.diff(rows) == 1):
        return f"rows {rows[0]} to {rows[-1]}"
    more = "" if rows.size <= NAMED_ROWS else f", … ({count(rows.size, 'row')})"
    return f"rows {', '.join(map(str, rows[:NAMED_ROWS].tolist()))}{more}"
