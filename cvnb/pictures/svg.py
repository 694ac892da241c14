"""Small static pictures without scripts: nest map and error-versus-θ curve as SVG.

They are shown as <img>, which untrusted notebooks keep, and in which `prefers-color-scheme`
follows the theme of JupyterLab.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..wording import count
from .axes import HEIGHT, WIDTH, Axes, nice_ticks, tick_labels
from .curves import Axis, Curve, Surface
from .split_map import Bar, Nest, RowBand

Shapes = Iterable[tuple[str, str]]  # (attributes of a path, a shape of it)

LEFT = 40  # of the bars of a nest map; their labels are left of it
MOST_RUNS = 120
SHOWN = 10  # more inner curves of outer splits than this are not drawn
STYLE = """
text{font:11px system-ui,sans-serif;fill:#555}
.t{fill:#d9480f}
.a{fill:#b6d4f0}
.b{fill:#d8e7f7}
.u{fill:#e9e9e9}
.g{stroke:#ddd}
.m{stroke:#1565c0;stroke-width:2;fill:none}
.s{stroke:#999;stroke-width:.7;fill:none;opacity:.8}
.l{stroke-dasharray:4 3;stroke:#888}
.n{stroke:#d9480f}
.h{fill:#1565c0}
.p{fill:#6b7785}
.q{stroke:#6b7785;stroke-width:2;fill:none}
.c{fill:#fff}
.k{fill:#2b8a3e}
.d{fill:#1f4e8c}
.o{paint-order:stroke;stroke:#fff;stroke-width:3px}
@media(prefers-color-scheme:dark){
text{fill:#bbb}
.t{fill:#f4793e}
.a{fill:#2f5f8f}
.b{fill:#234566}
.u{fill:#3a3a3a}
.g{stroke:#444}
.m{stroke:#64a8ec}
.h{fill:#64a8ec}
.p{fill:#9aa7b4}
.q{stroke:#9aa7b4}
.k{fill:#69c37c}
.c{fill:#111}
.d{fill:#9ccbf7}
.s{stroke:#888}
.n{stroke:#f4793e}
.o{stroke:#111}
}
""".replace("\n", "")

# Role -> CSS class of its colour; a buffer is a gap.
KINDS = {"test": "t", "dev": "d", "buffer": "", "unused": "u", "train": "a"}


@dataclass(frozen=True)
class Picture:
    """An SVG with its size, and its content in words."""

    body: str
    alt: str
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def _size(self) -> str:
        return f'width="{self.width}" height="{self.height}"'

    @property
    def svg(self) -> str:
        view = f'viewBox="0 0 {self.width} {self.height}"'
        tag = f'<svg xmlns="http://www.w3.org/2000/svg" {self._size} {view}>'
        return f"{tag}<style>{STYLE}</style>{self.body}</svg>"

    @property
    def img(self) -> str:
        """An <img> element that contains the SVG."""
        data = base64.b64encode(self.svg.encode()).decode("ascii")
        alt = escape(self.alt, quote=True)
        attributes = f'{self._size} style="vertical-align:top" alt="{alt}"'
        return f'<img {attributes} src="data:image/svg+xml;base64,{data}">'


def draw_nest(nest: Nest) -> Picture:
    """Draw bands for classes and groups, and a bar for each split.

    Test parts have the accent colour, inner test parts are stripes.
    """
    scale = (WIDTH - 46) / nest.n_rows
    top, parts = 6, []
    for band in nest.strips:
        parts += _draw_band(band, top, scale)
        top += 13
    pitch = min(24.0, (HEIGHT - top - 30) / max(1, len(nest.bars)))
    is_single = nest.n_splits == 1 and not nest.inside
    for place, bar in enumerate(nest.bars):
        y = top + place * pitch + 0.68 * pitch
        parts.append(text(LEFT - 6, y, "" if is_single else bar_name(bar), "end"))
    parts += _paths(_bar_shapes(nest, top, pitch, scale))
    below = top + len(nest.bars) * pitch + 14
    first, second = _nest_words(nest)
    parts += _legend(nest, first, second, below)
    splits = count(nest.n_splits, "inner split" if nest.inside else "split")
    alt = f"Nest map of {splits} of {nest.n_rows} rows: {first}; {second}."
    return Picture("".join(parts), alt, WIDTH, math.ceil(below + 20))


def bar_name(bar: Bar) -> str:
    """Return "2" for an outer split, "2, 0" for an inner split of it."""
    return f"{bar.split}" if bar.inner is None else f"{bar.split}, {bar.inner}"


def _draw_band(band: RowBand, top: int, scale: float) -> list[str]:
    """Runs of equal rows, in shades of one colour."""
    shapes = []
    for start, end, shade, _ in band.runs(MOST_RUNS):
        width = max(0.3, (end - start) * scale)
        shape = f"M{LEFT + start * scale:.1f} {top}h{width:.1f}v9h-{width:.1f}z"
        shapes.append((f'class="k" fill-opacity="{shade:.1f}"', shape))
    return [text(LEFT - 6, top + 8, band.name, "end"), *_paths(shapes)]


def _bar_shapes(nest: Nest, top: float, pitch: float, scale: float) -> Shapes:
    for place, bar in enumerate(nest.bars):
        y = top + place * pitch
        for start, end, role in bar.spans:
            width = (end - start) * scale
            gap = 1.0 if role == "test" and width > 4 else 0.0
            x, width = LEFT + start * scale + gap, width - 2 * gap
            width = max(1.2 if role == "test" else 0.6, width)
            shape = f"M{x:.1f} {y + 1:.1f}h{width:.1f}v{pitch - 3:.1f}h-{width:.1f}z"
            kind = _kind(role, nest.n_inner)
            if kind:
                yield f'class="{kind}"', shape


def _paths(shapes: Shapes) -> list[str]:
    """One path for each look, which takes a tenth of the text of single rectangles."""
    shapes_of: dict[str, list[str]] = {}
    for look, shape in shapes:
        shapes_of.setdefault(look, []).append(shape)
    return [
        f'<path {look} d="{"".join(shapes_of[look])}"/>' for look in sorted(shapes_of)
    ]


def _kind(role: str | int, n_inner: int) -> str:
    """CSS class of a role; inner test parts are light and dark in turn."""
    if isinstance(role, str):
        return KINDS[role]
    return "b" if n_inner == 1 else "ab"[role % 2]


def _legend(nest: Nest, first: str, second: str, below: float) -> list[str]:
    parts = []
    if nest.tests_outside:
        corner = f'x="{LEFT}" y="{below - 8:.1f}"'
        parts.append(f'<rect class="t" {corner} width="9" height="9"/>')
    parts.append(text(LEFT + 13 * nest.tests_outside, below, first, "start"))
    for place, kind in enumerate("dd" if nest.inside else "ab"):
        corner = f'x="{LEFT + 4.5 * place}" y="{below + 6:.1f}"'
        parts.append(f'<rect class="{kind}" {corner} width="4.5" height="9"/>')
    return [*parts, text(LEFT + 13, below + 14, second, "start")]


def _nest_words(nest: Nest) -> tuple[str, str]:
    """The two lines of the legend."""
    order = "" if nest.in_order else ", rows sorted"
    outside = "outer test part" if nest.tests_outside else "nothing is tested outside"
    shown = len(nest.bars) - nest.inside
    noun = "" if nest.inside else " splits"
    some = "" if shown == nest.n_splits else f" ({shown} of {nest.n_splits}{noun})"
    if nest.inside:
        return f"{outside}{order}", f"inner test part{some}"
    inside = {0: "training part", 1: "dev set in the training part"}
    stripes = f"stripes: {nest.n_inner} inner test parts"
    return f"{outside}{some}{order}", inside.get(nest.n_inner, stripes)


def draw_curve(curve: Curve | Surface) -> Picture:
    """Draw a curve, or the surface over a grid of two parameters."""
    return _draw_surface(curve) if isinstance(curve, Surface) else _draw_curve(curve)


def _draw_curve(curve: Curve) -> Picture:
    """Inner curves in grey, their mean in blue, choices as dots, estimates as levels."""
    inner, mean, position = curve.inner[:SHOWN], curve.mean, curve.axis.position
    values = np.concatenate([inner.ravel(), mean, list(curve.levels.values())])
    values = values[np.isfinite(values)]
    ticks = nice_ticks(float(values.min()), float(values.max()))
    step = ticks[-1] - ticks[-2] if len(ticks) > 1 else 0.0
    close = bool(curve.levels) and min(curve.levels.values()) - ticks[0] < 0.4 * step
    if close and ticks[0] - step >= min(0.0, ticks[0]):
        ticks.insert(0, ticks[0] - step)  # room for the words below the level
        close = False
    axes = Axes(float(position.min()), float(position.max()), ticks[0], ticks[-1])
    labels = zip(ticks, tick_labels(ticks), strict=True)
    parts = [gridline(axes, tick, label) for tick, label in labels]
    parts += _x_axis(curve.axis, axes)
    for losses in inner if len(inner) > 1 else ():
        parts.append(f'<path class="s" d="{axes.path(position, losses)}"/>')
    parts.append(f'<path class="m" d="{axes.path(position, mean)}"/>')
    parts += _draw_levels(curve.levels, axes, only_above=close)
    for losses, place in zip(inner, curve.chosen, strict=False):
        if math.isfinite(losses[place]):
            x, y = axes.x(float(position[place])), axes.y(float(losses[place]))
            parts.append(f'<circle class="t" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>')
    low, high = float(np.nanmin(mean)), float(np.nanmax(mean))
    levels = "".join(f"; {name} {level:.4g}" for name, level in curve.levels.items())
    alt = (
        f"{curve.ylabel} against {curve.axis.name}: "
        f"the mean of the inner curves runs from {low:.4g} to {high:.4g}; "
        f"dots mark the choices{levels}."
    )
    return Picture("".join(parts), alt, WIDTH + 40)


def _draw_levels(levels: dict[str, Any], axes: Axes, only_above: bool) -> list[str]:
    """Dashed lines with their names, which are never written over each other."""
    parts = []
    low, high = min(levels.values(), default=0.0), max(levels.values(), default=0.0)
    for place, (name, level) in enumerate(levels.items()):
        y = axes.y(level)
        kind = "l n" if place else "l"
        parts.append(f'<path class="{kind}" d="M{axes.left} {y:.1f}H{axes.right}"/>')
        above = only_above or (level == high and (place == 1 or level > low))
        y += -4 if above else 12
        too_close = level == low < high and axes.y(low) - axes.y(high) < 12
        if above and too_close:
            x, anchor = axes.left + 4, "start"
        else:
            x, anchor = axes.right, "end"
        position = f'x="{x}" y="{y:.1f}" text-anchor="{anchor}"'
        parts.append(f'<text class="o" {position}>{name} {level:.4g}</text>')
    return parts


def _draw_surface(surface: Surface) -> Picture:
    """Cells, darker for better mean inner losses; dots count the splits that chose a cell."""
    axes = Axes(0.0, 1.0, 0.0, 1.0)
    n_y, n_x = surface.mean.shape
    width, height = (axes.right - axes.left) / n_x, (axes.bottom - axes.top) / n_y
    low, high = float(np.nanmin(surface.mean)), float(np.nanmax(surface.mean))
    size = f'width="{width - 0.6:.1f}" height="{height - 0.6:.1f}"'
    parts = []
    for (row, column), goodness in np.ndenumerate(surface.goodness):
        if not math.isfinite(goodness):
            continue  # a gap: every setting there failed
        x, y = axes.left + column * width, axes.bottom - (row + 1) * height
        shade = f'fill-opacity="{0.08 + 0.92 * goodness:.2f}"'
        parts.append(f'<rect class="h" x="{x:.1f}" y="{y:.1f}" {size} {shade}/>')
        times, x, y = surface.times[row, column], x + width / 2, y + height / 2
        if times:
            parts.append(f'<circle class="t" cx="{x:.1f}" cy="{y:.1f}" r="7.5"/>')
            parts.append(text(x, y + 4, times, "middle", "c"))
    for column, name in _some(_names(surface.x), 7):
        x = axes.left + (column + 0.5) * width
        parts.append(text(x, axes.bottom + 12, name, "middle"))
    for row, name in _some(_names(surface.y), 9):
        y = axes.bottom - (row + 0.5) * height + 4
        parts.append(text(axes.left - 5, y, name, "end"))
    best, worst = (high, low) if surface.large_is_good else (low, high)
    across, up, label = surface.x.name, surface.y.name, surface.ylabel
    title = f"{up} (up) against {across}; {label} {best:.4g} (dark) to {worst:.4g}"
    parts.append(text(axes.right, HEIGHT - 3, title, "end"))
    alt = (
        f"Mean {label} over {across} and {up}, from {low:.4g} to {high:.4g}; "
        f"dots count the choices of {count(surface.n_splits, 'split')}."
    )
    return Picture("".join(parts), alt, WIDTH + 40)


def _names(axis: Axis) -> list[str]:
    """The label at each place of an axis."""
    return [name[:7] for name in axis.ticks] or [f"{x:.3g}" for x in axis.x]


def _some(names: list[str], most: int) -> list[tuple[int, str]]:
    """(place, name) of evenly spaced names."""
    return list(enumerate(names))[:: math.ceil(len(names) / most)]


def text(x: float, y: float, words: Any, anchor: str, kind: str = "") -> str:
    """Return words at a point; anchor: "start", "middle" or "end"."""
    kind = f' class="{kind}"' if kind else ""
    position = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text{kind} {position}>{escape(str(words))}</text>"


def gridline(axes: Axes, tick: float, label: str) -> str:
    """Return a horizontal line at a tick, with its label on the left."""
    y = axes.y(tick)
    line = f'<path class="g" d="M{axes.left} {y:.1f}H{axes.right}"/>'
    return line + text(axes.left - 5, y + 4, label, "end")


def _x_axis(axis: Axis, axes: Axes) -> list[str]:
    """The name of the axis, and names or round numbers along it."""
    name = f"{axis.name} (log)" if axis.log else axis.name
    middle = (axes.left + axes.right) / 2
    return [centred(f"{middle}", HEIGHT - 3, name)] + [
        centred(f"{axes.x(x):.1f}", axes.bottom + 14, label)
        for x, label in _x_marks(axis, axes)
    ]


def centred(x: str, y: float, words: str) -> str:
    """Return words around x."""
    return f'<text x="{x}" y="{y}" text-anchor="middle">{escape(words)}</text>'


def _x_marks(axis: Axis, axes: Axes) -> Iterable[tuple[float, str]]:
    """(position, label) of at most six or seven marks."""
    if axis.ticks:
        return _some([name[:12] for name in axis.ticks], 6)
    if axis.log:
        decades = range(math.ceil(axes.first - 1e-9), math.floor(axes.last + 1e-9) + 1)
        every = math.ceil(len(decades) / 6)
        return [(decade, f"{10.0**decade:g}") for decade in decades[::every]]
    ticks = nice_ticks(axes.first, axes.last, inside=True)
    return zip(ticks, tick_labels(ticks), strict=True)
