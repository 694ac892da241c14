"""Small static pictures without a script: nest map and error-versus-θ curve as SVG that follows the theme.

They are shown as <img>, which untrusted notebooks keep, and in which `prefers-color-scheme` follows the theme of JupyterLab.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..wording import count
from .curves import Axis, Curve, Surface
from .split_map import Nest, Strip

WIDTH, HEIGHT = 300, 172
MOST_RUNS = 120
SHOWN = 10  # inner curves of outer splits beyond this number are not drawn one by one
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#555}.t{fill:#d9480f}.a{fill:#b6d4f0}.b{fill:#d8e7f7}.u{fill:#e9e9e9}"
    ".g{stroke:#ddd}.m{stroke:#1565c0;stroke-width:2;fill:none}.s{stroke:#999;stroke-width:.7;fill:none;opacity:.8}"
    ".l{stroke-dasharray:4 3;stroke:#888}.n{stroke:#d9480f}.h{fill:#1565c0}.c{fill:#fff}.k{fill:#2b8a3e}.d{fill:#1f4e8c}"
    ".o{paint-order:stroke;stroke:#fff;stroke-width:3px}"
    "@media(prefers-color-scheme:dark){text{fill:#bbb}.t{fill:#f4793e}.a{fill:#2f5f8f}.b{fill:#234566}.u{fill:#3a3a3a}.g{stroke:#444}"
    ".m{stroke:#64a8ec}.h{fill:#64a8ec}.k{fill:#69c37c}.c{fill:#111}.d{fill:#9ccbf7}.s{stroke:#888}.n{stroke:#f4793e}.o{stroke:#111}}"
)

KINDS = {
    "test": "t",
    "dev": "d",
    "buffer": "",
    "unused": "u",
    "train": "a",
}  # role -> class of its colour; a buffer is a gap


@dataclass(frozen=True)
class Picture:
    """An SVG with its size, and what it shows in words."""

    body: str
    alt: str
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def svg(self) -> str:
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>{self.body}</svg>'

    @property
    def img(self) -> str:
        """An <img> element that holds it."""
        data = base64.b64encode(self.svg.encode()).decode("ascii")
        size = f'width="{self.width}" height="{self.height}"'
        top = 'style="vertical-align:top"'
        return f'<img {size} {top} alt="{escape(self.alt, quote=True)}" src="data:image/svg+xml;base64,{data}">'


def draw_nest(nest: Nest) -> Picture:
    """Strips for classes and groups, a bar for each outer split: the test part in the accent colour, inner ones as stripes."""
    left, top, scale = 40, 6, (WIDTH - 46) / nest.n_rows
    parts = []
    for strip in nest.strips:
        parts += _draw_strip(strip, left, top, scale)
        top += 13
    pitch = min(24.0, (HEIGHT - top - 30) / max(1, len(nest.bars)))
    drawn: dict[
        str, list[str]
    ] = {}  # one path for each colour: a tenth of the text of single rectangles
    for place, bar in enumerate(nest.bars):
        y = top + place * pitch
        label = f"{bar.split}" if bar.inner is None else f"{bar.split}, {bar.inner}"
        parts.append(
            _text(
                left - 6,
                y + 0.68 * pitch,
                "" if nest.n_splits == 1 and not nest.inside else label,
                "end",
            )
        )
        for start, end, role in bar.spans:
            kind = (
                KINDS[role]
                if isinstance(role, str)
                else "b"
                if nest.n_inner == 1
                else "ab"[role % 2]
            )
            gap = 1.0 if role == "test" and (end - start) * scale > 4 else 0.0
            x, width = (
                left + start * scale + gap,
                max(1.2 if role == "test" else 0.6, (end - start) * scale - 2 * gap),
            )
            if kind:
                drawn.setdefault(kind, []).append(
                    f"M{x:.1f} {y + 1:.1f}h{width:.1f}v{pitch - 3:.1f}h-{width:.1f}z"
                )
    parts += [
        f'<path class="{kind}" d="{"".join(shapes)}"/>'
        for kind, shapes in sorted(drawn.items())
    ]
    words = _nest_words(nest)
    below = top + len(nest.bars) * pitch + 14
    if nest.tests_outside:
        parts.append(
            f'<rect class="t" x="{left}" y="{below - 8:.1f}" width="9" height="9"/>'
        )
    parts.append(_text(left + 13 * nest.tests_outside, below, words[0], "start"))
    if words[1]:
        for place, kind in enumerate("dd" if nest.inside else "ab"):
            parts.append(
                f'<rect class="{kind}" x="{left + 4.5 * place}" y="{below + 6:.1f}" width="4.5" height="9"/>'
            )
        parts.append(_text(left + 13, below + 14, words[1], "start"))
    what = "inner split" if nest.inside else "split"
    alt = f"Nest map of {count(nest.n_splits, what)} of {nest.n_rows} rows: {words[0]}{'; ' + words[1] if words[1] else ''}."
    return Picture(
        "".join(parts), alt, WIDTH, math.ceil(below + (20 if words[1] else 6))
    )


def _draw_strip(strip: Strip, left: float, top: float, scale: float) -> list[str]:
    """Runs of equal rows, in shades of one colour."""
    drawn: dict[str, list[str]] = {}
    for start, end, shade, _ in strip.runs(MOST_RUNS):
        width = max(0.3, (end - start) * scale)
        drawn.setdefault(f"{shade:.1f}", []).append(
            f"M{left + start * scale:.1f} {top}h{width:.1f}v9h-{width:.1f}z"
        )
    paths = [
        f'<path class="k" fill-opacity="{shade}" d="{"".join(shapes)}"/>'
        for shade, shapes in sorted(drawn.items())
    ]
    return [_text(left - 6, top + 8, strip.name, "end"), *paths]


def _nest_words(nest: Nest) -> tuple[str, str]:
    more = (
        ""
        if nest.n_splits == len(nest.bars)
        else f" ({len(nest.bars)} of {nest.n_splits} splits)"
    )
    order = "" if nest.in_order else ", rows sorted"
    outside = "outer test part" if nest.tests_outside else "nothing is tested outside"
    if nest.inside:
        shown = len(nest.bars) - 1
        some = "" if shown == nest.n_splits else f" ({shown} of {nest.n_splits})"
        return f"{outside}{order}", f"inner test part{some}"
    first = f"{outside}{more}{order}"
    second = {0: "training part", 1: "dev set in the training part"}.get(
        nest.n_inner, f"stripes: {nest.n_inner} inner test parts"
    )
    return first, second


@dataclass(frozen=True)
class Axes:
    """From numbers to pixels: x from first to last, y from low to high."""

    first: float
    last: float
    low: float
    high: float
    left: float = 44
    right: float = WIDTH + 22
    top: float = 8
    bottom: float = HEIGHT - 30

    def x(self, value: float) -> float:
        share = (
            0.5
            if self.last == self.first
            else (value - self.first) / (self.last - self.first)
        )
        return self.left + 6 + share * (self.right - self.left - 12)

    def y(self, value: float) -> float:
        return self.bottom - (value - self.low) / ((self.high - self.low) or 1.0) * (
            self.bottom - self.top
        )

    def path(self, x: np.ndarray, y: np.ndarray) -> str:
        """Straight lines between the finite points."""
        points = [
            f"{self.x(a):.1f} {self.y(b):.1f}"
            for a, b in zip(x.tolist(), y.tolist(), strict=True)
            if math.isfinite(b)
        ]
        return "M" + "L".join(points) if points else ""


def draw_curve(curve: Curve | Surface) -> Picture:
    """A curve, or the surface over a grid of two parameters."""
    return _draw_surface(curve) if isinstance(curve, Surface) else _draw_curve(curve)


def _draw_curve(curve: Curve) -> Picture:
    """Inner curves of the outer splits in grey, their mean in blue, the choices as dots, flat and nested as levels."""
    inner, mean, position = curve.inner[:SHOWN], curve.mean, curve.axis.position
    values = np.concatenate([inner.ravel(), mean, list(curve.levels.values())])
    values = values[np.isfinite(values)]
    ticks = nice_ticks(float(values.min()), float(values.max()))
    step = ticks[-1] - ticks[-2] if len(ticks) > 1 else 0.0
    close = bool(curve.levels) and min(curve.levels.values()) - ticks[0] < 0.4 * step
    if close and ticks[0] - step >= min(0.0, ticks[0]):
        ticks.insert(0, ticks[0] - step)  # room for what is written below the level
        close = False
    axes = Axes(float(position.min()), float(position.max()), ticks[0], ticks[-1])
    parts = [
        _gridline(axes, tick, label)
        for tick, label in zip(ticks, tick_labels(ticks), strict=True)
    ]
    parts += _x_axis(curve.axis, axes)
    parts += [
        f'<path class="s" d="{axes.path(position, losses)}"/>'
        for losses in (inner if len(inner) > 1 else ())
    ]
    parts.append(f'<path class="m" d="{axes.path(position, mean)}"/>')
    low, high = (f(curve.levels.values(), default=0.0) for f in (min, max))
    for place, (name, level) in enumerate(curve.levels.items()):
        above = close or (level == high and (place == 1 or level > low))
        y, text_y = axes.y(level), axes.y(level) + (-4 if above else 12)
        apart = (
            above and level == low < high and axes.y(low) - axes.y(high) < 12
        )  # else written over the other
        x, anchor = (axes.left + 4, "start") if apart else (axes.right, "end")
        parts.append(
            f'<path class="l{" n" if place else ""}" d="M{axes.left} {y:.1f}H{axes.right}"/>'
        )
        parts.append(
            f'<text class="o" x="{x}" y="{text_y:.1f}" text-anchor="{anchor}">{name} {level:.4g}</text>'
        )
    for losses, place in zip(inner, curve.chosen, strict=False):
        if math.isfinite(losses[place]):
            at = f'cx="{axes.x(float(position[place])):.1f}" cy="{axes.y(float(losses[place])):.1f}"'
            parts.append(f'<circle class="t" {at} r="3.5"/>')
    low, high = float(np.nanmin(mean)), float(np.nanmax(mean))
    levels = "".join(f"; {name} {level:.4g}" for name, level in curve.levels.items())
    alt = f"{curve.ylabel} against {curve.axis.name}: the mean of the inner curves runs from {low:.4g} to {high:.4g}"
    return Picture("".join(parts), f"{alt}; dots mark the choices{levels}.", WIDTH + 40)


def _draw_surface(surface: Surface) -> Picture:
    """Cells, the darker the better their mean inner loss; where splits chose, a dot with how many they are."""
    axes = Axes(0.0, 1.0, 0.0, 1.0)
    n_y, n_x = surface.mean.shape
    width, height = (axes.right - axes.left) / n_x, (axes.bottom - axes.top) / n_y
    low, high = float(np.nanmin(surface.mean)), float(np.nanmax(surface.mean))
    parts = []
    for (row, column), goodness in np.ndenumerate(surface.goodness):
        x, y = axes.left + column * width, axes.bottom - (row + 1) * height
        if not math.isfinite(goodness):
            continue  # a gap: every setting there failed
        size = f'width="{width - 0.6:.1f}" height="{height - 0.6:.1f}" fill-opacity="{0.08 + 0.92 * goodness:.2f}"'
        parts.append(f'<rect class="h" x="{x:.1f}" y="{y:.1f}" {size}/>')
        if surface.times[row, column]:
            parts.append(
                f'<circle class="t" cx="{x + width / 2:.1f}" cy="{y + height / 2:.1f}" r="7.5"/>'
            )
            parts.append(
                _text(
                    x + width / 2,
                    y + height / 2 + 4,
                    surface.times[row, column],
                    "middle",
                    "c",
                )
            )
    for c, name in list(enumerate(_names(surface.x)))[:: math.ceil(n_x / 7)]:
        parts.append(
            _text(axes.left + (c + 0.5) * width, axes.bottom + 12, name, "middle")
        )
    for r, name in list(enumerate(_names(surface.y)))[:: math.ceil(n_y / 9)]:
        parts.append(
            _text(axes.left - 5, axes.bottom - (r + 0.5) * height + 4, name, "end")
        )
    best, worst = (high, low) if surface.large_is_good else (low, high)
    title = f"{surface.y.name} (up) against {surface.x.name}; {surface.ylabel} {best:.4g} (dark) to {worst:.4g}"
    parts.append(_text(axes.right, HEIGHT - 3, title, "end"))
    alt = f"Mean {surface.ylabel} over {surface.x.name} and {surface.y.name}, from {low:.4g} to {high:.4g}"
    return Picture(
        "".join(parts),
        f"{alt}; dots count the choices of {count(surface.n_splits, 'split')}.",
        WIDTH + 40,
    )


def _names(axis: Axis) -> list[str]:
    """What is written at every place of an axis."""
    return [name[:7] for name in axis.ticks] or [f"{x:.3g}" for x in axis.x]


def _text(x: float, y: float, text: Any, anchor: str, kind: str = "") -> str:
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(text))}</text>'


def _gridline(axes: Axes, tick: float, label: str) -> str:
    y = axes.y(tick)
    return f'<path class="g" d="M{axes.left} {y:.1f}H{axes.right}"/>{_text(axes.left - 5, y + 4, label, "end")}'


def tick_labels(ticks: list[float]) -> list[str]:
    """Short numbers, with as many digits as it takes to tell them apart.

    >>> tick_labels([1000000.001, 1000000.002])
    ['1000000.001', '1000000.002']
    """
    return next(
        labels
        for digits in range(4, 18)
        if len(set(labels := [f"{tick:.{digits}g}" for tick in ticks])) == len(ticks)
    )


def _x_axis(axis: Axis, axes: Axes) -> list[str]:
    """The name of the axis, and names or round numbers along it."""
    named = f"{axis.name}{' (log)' if axis.log else ''}"
    middle = (axes.left + axes.right) / 2
    parts = [
        f'<text x="{middle}" y="{HEIGHT - 3}" text-anchor="middle">{escape(named)}</text>'
    ]
    if axis.ticks:
        every = math.ceil(len(axis.ticks) / 6)
        marks = [(float(place), name[:12]) for place, name in enumerate(axis.ticks)][
            ::every
        ]
    elif axis.log:
        decades = range(math.ceil(axes.first - 1e-9), math.floor(axes.last + 1e-9) + 1)
        marks = [
            (float(e), f"{10.0**e:g}") for e in decades[:: math.ceil(len(decades) / 6)]
        ]
    else:
        ticks = nice_ticks(axes.first, axes.last, inside=True)
        marks = list(zip(ticks, tick_labels(ticks), strict=True))
    for x, name in marks:
        parts.append(
            f'<text x="{axes.x(x):.1f}" y="{axes.bottom + 14}" text-anchor="middle">{escape(name)}</text>'
        )
    return parts


def nice_ticks(low: float, high: float, inside: bool = False) -> list[float]:
    """Four to six round numbers over an interval; inside it, or around it.

    >>> nice_ticks(0.013, 0.065)
    [0.0, 0.02, 0.04, 0.06, 0.08]
    """
    if not high > low:
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step = next(step * by for by in (1, 2, 5, 10) if (high - low) / (step * by) <= 5)
    first, last = (
        (math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9))
        if inside
        else (math.floor(low / step), math.ceil(high / step))
    )
    digits = 1 - math.floor(math.log10(step))
    return [round(n * step, digits) + 0.0 for n in range(first, last + 1)]
