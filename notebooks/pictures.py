"""The charts of the notebooks: small SVG pictures, drawn without a script, that follow the theme.

chart("rows", "risk", line(sizes, risks, "truth"), dots(sizes, estimates, "estimates"), level(0.25, "Bayes risk"))
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from cvnb.svg import Axes, Picture, nice_ticks, tick_labels

LEFT, TOP, BOTTOM = 58, 10, 46
COLOURS = (("#1565c0", "#64a8ec"), ("#d9480f", "#f4793e"), ("#2b8a3e", "#69c37c"), ("#8a4fbf", "#b98be0"), ("#777", "#aaa"))


def _style(which: int) -> str:
    """A line's class l0, l1, ... and a filled shape's f0, f1, ... in the colours of one theme."""
    rules = (f".l{i}{{stroke:{pair[which]}}}.f{i}{{fill:{pair[which]}}}" for i, pair in enumerate(COLOURS))
    return "".join(rules)


STYLE = f"<style>.w{{stroke-width:2;fill:none}}{_style(0)}@media(prefers-color-scheme:dark){{{_style(1)}}}</style>"


@dataclass(frozen=True)
class Mark:
    """Numbers to draw, in which form, and what they are called below the chart."""

    form: str
    x: np.ndarray
    y: np.ndarray
    name: str
    colour: int | None


def _mark(form, x, y, name, colour):
    y = np.asarray(y, dtype=float)
    return Mark(form, np.broadcast_to(np.asarray(x, dtype=float), y.shape), y, name, colour)


def line(x, y, name="", colour=None):
    """Straight lines from point to point."""
    return _mark("line", x, y, name, colour)


def dots(x, y, name="", colour=None):
    """A dot at every point."""
    return _mark("dots", x, y, name, colour)


def bars(x, y, name="", colour=None):
    """A bar from zero to every point; one bar less a gap is as wide as the least distance of two x."""
    return _mark("bars", x, y, name, colour)


def level(y, name="", colour=None):
    """A dashed line across."""
    return _mark("level", np.nan, [y], name, colour)


@dataclass(frozen=True)
class Chart:
    """A picture as HTML, and what it shows in words."""

    picture: Picture

    def __repr__(self):
        return self.picture.alt

    def _repr_html_(self):
        return self.picture.img


def chart(xlabel, ylabel, *marks, log=False, ticks=None, width=560, height=300):
    """Marks on common axes; log: x on a logarithmic axis; ticks: what is written along x, round numbers if left out."""
    where = np.log10 if log else np.asarray
    x = where(np.concatenate([mark.x[np.isfinite(mark.x)] for mark in marks]))
    y = np.concatenate([mark.y[np.isfinite(mark.y)] for mark in marks] + [[0.0]] * any(mark.form == "bars" for mark in marks))
    rows = nice_ticks(float(y.min()), float(y.max()))
    wide = max((_bar(mark, where) for mark in marks if mark.form == "bars"), default=0.0) / 2
    bottom = height - BOTTOM - 16 * any(mark.name for mark in marks)
    axes = Axes(float(x.min()) - wide, float(x.max()) + wide, rows[0], rows[-1], LEFT, width - 8, TOP, bottom)
    parts = [STYLE]
    for tick, label in zip(rows, tick_labels(rows), strict=True):
        parts.append(f'<path class="g" d="M{LEFT} {axes.y(tick):.1f}H{axes.right}"/>')
        parts.append(_text(LEFT - 6, axes.y(tick) + 4, label, "end"))
    ticks = nice_ticks(axes.first, axes.last, inside=True) if ticks is None else list(ticks)
    for tick, label in zip(ticks, tick_labels(ticks), strict=True):
        parts.append(_text(axes.x(float(where(tick))), bottom + 15, label, "middle"))
    parts.append(_text((LEFT + axes.right) / 2, bottom + 31, xlabel, "middle"))
    upright = f'transform="translate(12 {(TOP + bottom) / 2:.0f}) rotate(-90)" text-anchor="middle"'
    parts.append(f"<text {upright}>{escape(ylabel)}</text>")
    at, places = LEFT, {}
    for mark in marks:
        colour = places.setdefault(mark.name or id(mark), len(places) % len(COLOURS)) if mark.colour is None else mark.colour
        parts.append(_drawn(mark, colour, axes, where))
        if mark.name:
            parts.append(f'<rect class="f{colour}" x="{at}" y="{height - 14}" width="9" height="9"/>')
            parts.append(_text(at + 13, height - 6, mark.name, "start"))
            at += 28 + 6.2 * len(mark.name)
    return Chart(Picture("".join(parts), _words(xlabel, ylabel, marks), width, height))


def _bar(mark, where):
    steps = np.diff(np.unique(where(mark.x)))
    return float(steps.min()) if steps.size else 1.0


def _drawn(mark, colour, axes, where):
    x, y = where(mark.x), mark.y
    if mark.form == "line":
        return f'<path class="w l{colour}" d="{axes.path(x, y)}"/>'
    if mark.form == "level":
        return f'<path class="w l{colour}" stroke-dasharray="5 4" d="M{LEFT} {axes.y(y[0]):.1f}H{axes.right}"/>'
    points = [(axes.x(a), axes.y(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True) if np.isfinite(b)]
    if mark.form == "dots":
        return "".join(f'<circle class="f{colour}" fill-opacity=".75" cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in points)
    wide, zero = 0.86 * (axes.x(_bar(mark, where)) - axes.x(0.0)), axes.y(0.0)
    shapes = "".join(f"M{a - wide / 2:.1f} {zero:.1f}h{wide:.1f}V{b:.1f}h-{wide:.1f}z" for a, b in points)
    return f'<path class="f{colour}" fill-opacity=".75" d="{shapes}"/>'


def _text(x, y, text, anchor):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(text))}</text>'


def _words(xlabel, ylabel, marks):
    """What a reader without the picture is told."""
    said = []
    for mark in marks:
        if mark.name:
            low, high = np.nanmin(mark.y), np.nanmax(mark.y)
            said.append(f"{mark.name} {low:.4g}" + ("" if low == high else f" to {high:.4g}"))
    return f"{ylabel} against {xlabel}" + (": " + "; ".join(said) if said else "") + "."
