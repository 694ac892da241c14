"""Small static pictures without a script: nest map and error-versus-θ curve as SVG that follows the theme.

They are shown as <img>, which untrusted notebooks keep, and in which `prefers-color-scheme` follows the theme of JupyterLab.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from html import escape

import numpy as np

from .curves import Curve
from .nest import Nest
from .wording import count

WIDTH, HEIGHT = 300, 190
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#555}.t{fill:#d9480f}.a{fill:#b6d4f0}.b{fill:#d8e7f7}.u{fill:#e9e9e9}"
    ".g{stroke:#ddd}.m{stroke:#1565c0;stroke-width:2;fill:none}.s{stroke:#999;stroke-width:.7;fill:none;opacity:.8}"
    ".l{stroke-dasharray:4 3;stroke:#888}.n{stroke:#d9480f}.h{fill:#1565c0}.o{paint-order:stroke;stroke:#fff;stroke-width:3px}"
    "@media(prefers-color-scheme:dark){text{fill:#bbb}.t{fill:#f4793e}.a{fill:#2f5f8f}.b{fill:#234566}.u{fill:#3a3a3a}.g{stroke:#444}"
    ".m{stroke:#64a8ec}.h{fill:#64a8ec}.s{stroke:#888}.n{stroke:#f4793e}.o{stroke:#111}}"
)

KINDS = {"test": "t", "buffer": "", "unused": "u", "train": "a"}  # role -> class of its colour; a buffer is a gap


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
    """One bar for each outer split: test part in the accent colour, inner test parts as stripes."""
    left, top = 26, 6
    pitch = min(24.0, (HEIGHT - top - 30) / max(1, len(nest.bars)))
    scale = (WIDTH - left - 6) / nest.n_rows
    parts = []
    for place, bar in enumerate(nest.bars):
        y = top + place * pitch
        label = "" if nest.n_splits == 1 else str(bar.split)
        parts.append(f'<text x="{left - 6}" y="{y + 0.68 * pitch:.1f}" text-anchor="end">{label}</text>')
        for start, end, role in bar.spans:
            kind = KINDS[role] if isinstance(role, str) else "b" if nest.n_inner == 1 else "ab"[role % 2]
            if kind:
                gap = 1.0 if role == "test" else 0.0
                x, width = left + start * scale + gap, max(0.6, (end - start) * scale - 2 * gap)
                parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y + 1:.1f}" width="{width:.1f}" height="{pitch - 3:.1f}"/>')
    words = _nest_words(nest)
    below = top + len(nest.bars) * pitch + 14
    parts.append(f'<rect class="t" x="{left}" y="{below - 8:.1f}" width="9" height="9"/>')
    parts.append(f'<text x="{left + 13}" y="{below:.1f}">{escape(words[0])}</text>')
    if words[1]:
        parts.append(f'<rect class="a" x="{left}" y="{below + 6:.1f}" width="4.5" height="9"/>')
        parts.append(f'<rect class="b" x="{left + 4.5}" y="{below + 6:.1f}" width="4.5" height="9"/>')
        parts.append(f'<text x="{left + 13}" y="{below + 14:.1f}">{escape(words[1])}</text>')
    alt = f"Nest map of {count(nest.n_splits, 'split')} of {nest.n_rows} rows: {words[0]}{'; ' + words[1] if words[1] else ''}."
    return Picture("".join(parts), alt, WIDTH, math.ceil(below + (20 if words[1] else 6)))


def _nest_words(nest: Nest) -> tuple[str, str]:
    more = "" if nest.n_splits == len(nest.bars) else f" ({len(nest.bars)} of {nest.n_splits} splits)"
    order = "" if nest.in_order else ", rows sorted"
    tested = any(role == "test" for bar in nest.bars for _, _, role in bar.spans)
    first = f"outer test part{more}{order}" if tested else f"nothing is tested outside{order}"
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
        share = 0.5 if self.last == self.first else (value - self.first) / (self.last - self.first)
        return self.left + 6 + share * (self.right - self.left - 12)

    def y(self, value: float) -> float:
        return self.bottom - (value - self.low) / ((self.high - self.low) or 1.0) * (self.bottom - self.top)

    def path(self, x: np.ndarray, y: np.ndarray) -> str:
        """Straight lines between the finite points."""
        points = [f"{self.x(a):.1f} {self.y(b):.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True) if math.isfinite(b)]
        return "M" + "L".join(points) if points else ""


def draw_curve(curve: Curve) -> Picture:
    """Inner curves of the outer splits in grey, their mean in blue, the choices as dots, flat and nested as levels."""
    values = np.concatenate([curve.inner.ravel(), curve.mean, list(curve.levels.values())])
    values = values[np.isfinite(values)]
    ticks = nice_ticks(float(values.min()), float(values.max()))
    step = ticks[-1] - ticks[-2] if len(ticks) > 1 else 0.0
    if curve.levels and min(curve.levels.values()) - ticks[0] < 0.4 * step:
        ticks.insert(0, round(ticks[0] - step, 12))  # room for what is written below the level
    position = np.log10(curve.x) if curve.log else curve.x
    axes = Axes(float(position.min()), float(position.max()), ticks[0], ticks[-1])
    parts = [_gridline(axes, tick) for tick in ticks]
    parts += _x_axis(curve, position, axes)
    parts += [
        f'<path class="s" d="{axes.path(position, losses)}"/>' for losses in (curve.inner if len(curve.inner) > 1 else ())
    ]
    parts.append(f'<path class="m" d="{axes.path(position, curve.mean)}"/>')
    low, high = (f(curve.levels.values(), default=0.0) for f in (min, max))
    for place, (name, level) in enumerate(curve.levels.items()):
        above = level == high and (place == 1 or level > low)
        y, text_y = axes.y(level), axes.y(level) + (-4 if above else 12)
        parts.append(f'<path class="l{" n" if place else ""}" d="M{axes.left} {y:.1f}H{axes.right}"/>')
        parts.append(f'<text class="o" x="{axes.right}" y="{text_y:.1f}" text-anchor="end">{name} {level:.4g}</text>')
    for x, loss in curve.chosen:
        if math.isfinite(loss):
            at = f'cx="{axes.x(math.log10(x) if curve.log else x):.1f}" cy="{axes.y(loss):.1f}"'
            parts.append(f'<circle class="t" {at} r="3.5"/>')
    low, high = float(np.nanmin(curve.mean)), float(np.nanmax(curve.mean))
    levels = "".join(f"; {name} {level:.4g}" for name, level in curve.levels.items())
    alt = f"{curve.ylabel} against {curve.axis}: the mean of the inner curves runs from {low:.4g} to {high:.4g}"
    return Picture("".join(parts), f"{alt}; dots mark the choices{levels}.", WIDTH + 40)


def _gridline(axes: Axes, tick: float) -> str:
    y = axes.y(tick)
    label = f'<text x="{axes.left - 5}" y="{y + 4:.1f}" text-anchor="end">{tick:.4g}</text>'
    return f'<path class="g" d="M{axes.left} {y:.1f}H{axes.right}"/>{label}'


def _x_axis(curve: Curve, position: np.ndarray, axes: Axes) -> list[str]:
    """The name of the axis, and names or round numbers along it."""
    named = f"{curve.axis}{' (log)' if curve.log else ''}"
    middle = (axes.left + axes.right) / 2
    parts = [f'<text x="{middle}" y="{HEIGHT - 3}" text-anchor="middle">{escape(named)}</text>']
    if curve.ticks:
        marks = [(float(x), name[:12]) for x, name in zip(position, curve.ticks, strict=True)][
            :: math.ceil(len(curve.ticks) / 6)
        ]
    elif curve.log:
        decades = range(math.ceil(axes.first - 1e-9), math.floor(axes.last + 1e-9) + 1)
        marks = [(float(e), f"{10.0**e:g}") for e in decades[:: math.ceil(len(decades) / 6)]]
    else:
        marks = [(tick, f"{tick:.4g}") for tick in nice_ticks(axes.first, axes.last, inside=True)]
    for x, name in marks:
        parts.append(f'<text x="{axes.x(x):.1f}" y="{axes.bottom + 14}" text-anchor="middle">{escape(name)}</text>')
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
    return [round(n * step, 12) for n in range(first, last + 1)]
