"""A static picture: an SVG shown as <img>, and the words and lines in it.

Untrusted notebooks keep an <img>, and in it `prefers-color-scheme` follows the theme of
JupyterLab.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from .axes import HEIGHT, WIDTH, Axes
from .colours import style

Shapes = Iterable[tuple[str, str]]  # (attributes of a path, a shape of it)


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
        return self.sized(self.width)

    def sized(self, width: float, for_page: bool = False) -> str:
        """Return the SVG at another width, everything in proportion.

        for_page: whether it is on white, whatever the theme of the one who opens it
        """
        height = width * self.height / self.width
        size = f'width="{width:g}" height="{height:g}"'
        view = f'viewBox="0 0 {self.width} {self.height}"'
        tag = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view}>'
        if not for_page:
            return f"{tag}<style>{style()}</style>{self.body}</svg>"
        page = f'<rect class="c" width="{self.width}" height="{self.height}"/>'
        return f"{tag}<style>{style(themes=False)}</style>{page}{self.body}</svg>"

    @property
    def img(self) -> str:
        """An <img> element that contains the SVG."""
        data = base64.b64encode(self.svg.encode()).decode("ascii")
        alt = escape(self.alt, quote=True)
        attributes = f'{self._size} style="vertical-align:top" alt="{alt}"'
        return f'<img {attributes} src="data:image/svg+xml;base64,{data}">'


def text(x: float, y: float, words: Any, anchor: str, kind: str = "") -> str:
    """Return words at a point; anchor: "start", "middle" or "end"."""
    kind = f' class="{kind}"' if kind else ""
    position = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text{kind} {position}>{escape(str(words))}</text>"


def upwards(x: float, y: float, words: str) -> str:
    """Return words that run upwards, centred at a point."""
    turn = f'transform="rotate(-90 {x:.1f} {y:.1f})"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" {turn}>{escape(words)}</text>'


def gridline(axes: Axes, tick: float, label: str) -> str:
    """Return a horizontal line at a tick, with its label on the left."""
    y = axes.y(tick)
    line = f'<path class="g" d="M{axes.left} {y:.1f}H{axes.right}"/>'
    return line + text(axes.left - 5, y + 4, label, "end")


def centred(x: str, y: float, words: str) -> str:
    """Return words around x."""
    return f'<text x="{x}" y="{y}" text-anchor="middle">{escape(words)}</text>'


def cut(words: str, most: int) -> str:
    """Return words of at most so many letters, the middle left out.

    >>> cut("logisticregression", 11)
    'logis…ssion'
    """
    if len(words) <= most:
        return words
    tail = (most - 1) // 2
    return f"{words[: most - 1 - tail]}…{words[len(words) - tail :]}"


def paths(shapes: Shapes) -> list[str]:
    """Return one path for each look, which takes a tenth of the text of single rectangles."""
    shapes_of: dict[str, list[str]] = {}
    for look, shape in shapes:
        shapes_of.setdefault(look, []).append(shape)
    return [
        f'<path {look} d="{"".join(shapes_of[look])}"/>' for look in sorted(shapes_of)
    ]
