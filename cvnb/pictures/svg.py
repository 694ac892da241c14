"""Small static pictures without scripts: the row map and the tuning curve as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..wording import count
from .axes import HEIGHT, WIDTH, Axes, nice_ticks, room_of, tick_labels
from .curves import OUTSIDE, Axis, Curve, Ranking, Surface
from .drawing import Picture, Shapes, centred, cut, gridline, paths, text
from .heat import draw_surface
from .ranking import draw_ranking
from .split_map import Bar, Nest, RowBand

LEFT = 54  # of the bars of a row map; their labels are left of it
MOST_RUNS = 120
SHOWN = 10  # more inner curves of outer splits than this are not drawn
ROOM = 12  # pixels of a bar that has room for a word
THIN = 0.2  # share of a bar's height that unused rows take

# Role -> CSS class of its colour; a buffer is a gap.
KINDS = {"test": "t", "dev": "d", "buffer": "", "unused": "u", "train": "b"}


def draw_nest(nest: Nest) -> Picture:
    """Draw bands for classes and groups, and a bar for each split.

    Test parts have the accent colour, inner test parts are stripes; rows of a buffer are a
    gap, unused ones a thin line.
    """
    scale = (WIDTH - LEFT - 6) / nest.n_rows
    top, parts = 6, []
    for band in nest.strips:
        parts += _draw_band(band, top, scale)
        top += 13
    pitch = min(24.0, (HEIGHT - top - 30) / max(1, len(nest.bars)))
    is_single = nest.n_splits == 1 and not nest.inside
    for place, bar in enumerate(nest.bars):
        y = top + place * pitch + 0.68 * pitch
        parts.append(text(LEFT - 6, y, "" if is_single else bar_name(bar), "end"))
    parts += paths(_bar_shapes(nest, top, pitch, scale))
    for place, bar in enumerate(nest.bars):
        if bar.state and pitch >= ROOM:
            y = top + place * pitch + 0.68 * pitch
            parts.append(text((LEFT + WIDTH - 6) / 2, y, bar.state, "middle", "o"))
    below = top + len(nest.bars) * pitch + 14
    first, second = _nest_words(nest)
    parts += _legend(nest, first, second, below)
    folds = count(nest.n_splits, "inner fold" if nest.inside else "fold")
    words = "; ".join([first, second, *_states(nest)])
    alt = f"Row map of {folds} of {nest.n_rows} rows: {words}."
    return Picture("".join(parts), alt, WIDTH, math.ceil(below + 20))


def bar_name(bar: Bar) -> str:
    """Return "fold 3" for outer split 2, "inner 1" for inner split 0 of it."""
    return f"fold {bar.split + 1}" if bar.inner is None else f"inner {bar.inner + 1}"


def _draw_band(band: RowBand, top: int, scale: float) -> list[str]:
    """Runs of equal rows, in shades of one colour."""
    shapes = []
    for start, end, shade, _ in band.runs(MOST_RUNS):
        width = max(0.3, (end - start) * scale)
        shape = f"M{LEFT + start * scale:.1f} {top}h{width:.1f}v9h-{width:.1f}z"
        shapes.append((f'class="k" fill-opacity="{shade:.1f}"', shape))
    return [text(LEFT - 6, top + 8, band.name, "end"), *paths(shapes)]


def _bar_shapes(nest: Nest, top: float, pitch: float, scale: float) -> Shapes:
    height, whole = pitch - 3, nest.n_rows * scale
    for place, bar in enumerate(nest.bars):
        y = top + place * pitch + 1
        for start, end, role in bar.spans:
            if bar.state and role != "test":
                continue  # no part of an unfinished fold is drawn as done
            width = (end - start) * scale
            gap = 1.0 if role == "test" and width > 4 else 0.0
            x, width = LEFT + start * scale + gap, width - 2 * gap
            width = max(1.2 if role == "test" else 0.6, width)
            high = height * (THIN if role == "unused" else 1.0)
            low = y + (height - high) / 2
            kind = "n f" if bar.state else _kind(role, nest.n_inner)
            if kind:
                shape = f"M{x:.1f} {low:.1f}h{width:.1f}v{high:.1f}h-{width:.1f}z"
                yield f'class="{kind}"', shape
        yield 'class="r"', f"M{LEFT} {y:.1f}h{whole:.1f}v{height:.1f}h-{whole:.1f}z"


def _kind(role: str | int, n_inner: int) -> str:
    """CSS class of a role; inner test parts are strong and pale in turn."""
    if isinstance(role, str):
        return KINDS[role]
    return "a" if n_inner == 1 else "ab"[role % 2]


def _legend(nest: Nest, first: str, second: str, below: float) -> list[str]:
    parts = []
    if nest.tests_outside:
        corner = f'x="{LEFT}" y="{below - 8:.1f}"'
        parts.append(f'<rect class="t" {corner} width="9" height="9"/>')
    parts.append(text(LEFT + 13 * nest.tests_outside, below, first, "start"))
    for place, kind in enumerate(_key_kinds(nest)):
        corner = f'x="{LEFT + 4.5 * place}" y="{below + 6:.1f}"'
        parts.append(f'<rect class="{kind}" {corner} width="4.5" height="9"/>')
    return [*parts, text(LEFT + 13, below + 14, second, "start")]


def _states(nest: Nest) -> list[str]:
    """ "fold 4 not run" for each fold that is not finished."""
    return [f"{bar_name(bar)} {bar.state}" for bar in nest.bars if bar.state]


def _key_kinds(nest: Nest) -> str:
    """CSS classes of the two halves of the legend's second square."""
    if nest.inside:
        return "dd"
    return {0: "bb", 1: "aa"}.get(nest.n_inner, "ab")


def _nest_words(nest: Nest) -> tuple[str, str]:
    """The two lines of the legend."""
    order = "" if nest.in_order else ", rows sorted"
    outside = "test fold" if nest.tests_outside else "nothing is held out"
    shown = len(nest.bars) - nest.inside
    noun = "" if nest.inside else " folds"
    some = "" if shown == nest.n_splits else f" ({shown} of {nest.n_splits}{noun})"
    if nest.inside:
        return f"{outside}{order}", f"inner test fold{some}"
    inside = {0: "training part", 1: "validation rows in the training part"}
    stripes = f"stripes: {nest.n_inner} inner folds"
    return f"{outside}{some}{order}", inside.get(nest.n_inner, stripes)


def draw_curve(curve: Curve | Surface | Ranking) -> Picture:
    """Draw a curve, the surface over a grid of two parameters, or a list of settings."""
    if isinstance(curve, Surface):
        return draw_surface(curve)
    return draw_ranking(curve) if isinstance(curve, Ranking) else _draw_curve(curve)


def _draw_curve(curve: Curve) -> Picture:
    """Inner curves in grey, their mean in blue, choices as dots, estimates as levels."""
    inner, mean, position = curve.inner[:SHOWN], curve.mean, curve.axis.position
    axes, ticks, close = _axes_of(curve)
    labels = zip(ticks, tick_labels(ticks, curve.scale), strict=True)
    parts = [gridline(axes, tick, label) for tick, label in labels]
    parts += _x_axis(curve.axis, axes)
    parts.append(text(4, 11, cut(curve.ylabel, 32), "start"))
    parts.append(text(axes.right, 11, "dots: chosen", "end"))
    for losses in inner if len(inner) > 1 else ():
        parts.append(f'<path class="s" d="{axes.path(position, losses)}"/>')
    parts.append(f'<path class="m" d="{axes.path(position, mean)}"/>')
    parts += _draw_levels(curve, axes, only_above=close)
    for losses, place in zip(inner, curve.chosen, strict=False):
        if math.isfinite(losses[place]):
            x, y = axes.x(float(position[place])), axes.y(float(losses[place]))
            parts.append(f'<circle class="i" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>')
    low, high = (curve.write(float(end(mean))) for end in (np.nanmin, np.nanmax))
    levels = "".join(f"; {words}" for words in curve.named_levels.values())
    alt = (
        f"{curve.ylabel} against {curve.axis.name}: "
        f"the mean of the inner folds runs from {low} to {high}; "
        f"dots mark the choices{levels}."
    )
    return Picture("".join(parts), alt, WIDTH + 40)


def _axes_of(curve: Curve) -> tuple[Axes, list[float], bool]:
    """Axes, round numbers along y, and whether words have no room below the lower level."""
    position, levels = curve.axis.position, list(curve.levels.values())
    values = np.concatenate([curve.inner[:SHOWN].ravel(), curve.mean, levels])
    values = values[np.isfinite(values)]
    ticks = nice_ticks(float(values.min()), float(values.max()))
    step = ticks[-1] - ticks[-2] if len(ticks) > 1 else 0.0
    close = bool(levels) and min(levels) - ticks[0] < 0.4 * step
    if close and ticks[0] - step >= min(0.0, ticks[0]):
        ticks.insert(0, ticks[0] - step)  # room for the words below the level
        close = False
    left = max(44.0, 8 + max(map(room_of, tick_labels(ticks, curve.scale))))
    first, last = float(position.min()), float(position.max())
    return Axes(first, last, ticks[0], ticks[-1], left, top=20), ticks, close


def _draw_levels(curve: Curve, axes: Axes, only_above: bool) -> list[str]:
    """Dashed lines with their names, which are never written over each other."""
    parts, levels = [], curve.levels
    low, high = min(levels.values(), default=0.0), max(levels.values(), default=0.0)
    for place, (name, level) in enumerate(levels.items()):
        y = axes.y(level)
        kind = "l n" if name in OUTSIDE else "l"
        parts.append(f'<path class="{kind}" d="M{axes.left} {y:.1f}H{axes.right}"/>')
        above = only_above or (level == high and (place == 1 or level > low))
        y += -4 if above else 12
        too_close = level == low < high and axes.y(low) - axes.y(high) < 12
        if above and too_close:
            x, anchor = axes.left + 4, "start"
        else:
            x, anchor = axes.right, "end"
        parts.append(text(x, y, curve.named_levels[name], anchor, "o"))
    return parts


def _x_axis(axis: Axis, axes: Axes) -> list[str]:
    """The name of the axis, and names or round numbers along it."""
    name = f"{axis.name} (log)" if axis.log else axis.name
    middle = (axes.left + axes.right) / 2
    return [centred(f"{middle}", HEIGHT - 3, cut(name, 42))] + [
        text(axes.inside(axes.x(x), room_of(label)), axes.bottom + 14, label, "middle")
        for x, label in _x_marks(axis, axes)
    ]


def _x_marks(axis: Axis, axes: Axes) -> Iterable[tuple[float, str]]:
    """(position, label) of at most six or seven marks."""
    if axis.ticks:
        names = [cut(name, 12) for name in axis.ticks]
        return list(enumerate(names))[:: math.ceil(len(names) / 6)]
    if axis.log:
        decades = range(math.ceil(axes.first - 1e-9), math.floor(axes.last + 1e-9) + 1)
        every = math.ceil(len(decades) / 6)
        return [(decade, f"{10.0**decade:g}") for decade in decades[::every]]
    ticks = nice_ticks(axes.first, axes.last, inside=True)
    return zip(ticks, tick_labels(ticks), strict=True)
