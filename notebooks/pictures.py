"""The charts of the notebooks: small SVG pictures, drawn without a script, that follow the theme.

chart("rows", "risk", line(sizes, risks, "truth"), dots(sizes, estimates, "estimates"),
level(0.25, "Bayes risk")) rows_of([{"train": train, "test": test} for train, test in
plan.outer], "test")
"""

from dataclasses import dataclass
from html import escape
from unicodedata import combining

import numpy as np

from cvnb.pictures.svg import KINDS, Axes, Picture, nice_ticks, tick_labels

LEFT, TOP, BOTTOM = 58, 10, 44
COLOURS = (
    ("#1565c0", "#64a8ec"),
    ("#d9480f", "#f4793e"),
    ("#2b8a3e", "#69c37c"),
    ("#8a4fbf", "#b98be0"),
    ("#777", "#aaa"),
)


def _style(which: int) -> str:
    """A line's class l0, l1, ... and a filled shape's f0, f1, ... in the colours of one theme."""
    rules = (
        f".l{i}{{stroke:{pair[which]}}}.f{i}{{fill:{pair[which]}}}"
        for i, pair in enumerate(COLOURS)
    )
    return "".join(rules)


DARK = f"@media(prefers-color-scheme:dark){{{_style(1)}}}"
STYLE = f"<style>.w{{stroke-width:2;fill:none}}{_style(0)}{DARK}</style>"


DOES = {"train": "trains", "dev": "chooses", "test": "tests"}


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
    return Mark(
        form, np.broadcast_to(np.asarray(x, dtype=float), y.shape), y, name, colour
    )


def line(x, y, name="", colour=None):
    """Straight lines from point to point."""
    return _mark("line", x, y, name, colour)


def dots(x, y, name="", colour=None):
    """A dot at every point."""
    return _mark("dots", x, y, name, colour)


def bars(x, y, name="", colour=None):
    """A bar from zero to every point; one bar less a gap is as wide as the least distance
    of two x."""
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


def chart(xlabel, ylabel, *marks, log=False, ticks=None, width=560, height=284):
    """Marks on common axes; log: x on a logarithmic axis; ticks: what is written along x,
    round numbers if left out.

    Marks of one name share a colour; the legend comes below the `height` of the rest.
    """
    where = np.log10 if log else np.asarray
    x = where(np.concatenate([mark.x[np.isfinite(mark.x)] for mark in marks]))
    y = np.concatenate(
        [mark.y[np.isfinite(mark.y)] for mark in marks]
        + [[0.0]] * any(mark.form == "bars" for mark in marks)
    )
    rows = nice_ticks(float(y.min()), float(y.max()))
    wide = (
        max((_bar(mark, where) for mark in marks if mark.form == "bars"), default=0.0)
        / 2
    )
    axes = Axes(
        float(x.min()) - wide,
        float(x.max()) + wide,
        rows[0],
        rows[-1],
        LEFT,
        width - 8,
        TOP,
        height - BOTTOM,
    )
    parts = [
        STYLE,
        *_frame(axes, rows, _ticks(axes, log) if ticks is None else list(ticks), where),
    ]
    parts.append(_text((LEFT + axes.right) / 2, axes.bottom + 31, xlabel, "middle"))
    upright = f"translate(12 {(TOP + axes.bottom) / 2:.0f}) rotate(-90)"
    label = f'<text transform="{upright}" text-anchor="middle">{escape(ylabel)}</text>'
    parts.append(label)
    colours, named = {}, {}
    for mark in marks:
        free = len(colours) % len(COLOURS)
        colour = colours.setdefault(
            mark.name or id(mark), free if mark.colour is None else mark.colour
        )
        named |= {mark.name: colour} if mark.name else {}
        parts.append(_drawn(mark, colour, axes, where))
    legend, bottom = _legend(named, width, height)
    return Chart(
        Picture("".join(parts + legend), _words(xlabel, ylabel, marks), width, bottom)
    )


def rows_of(splits, role, width=560, pitch=17):
    """A line for each split: its rows in their order, in the colours of cvnb's maps; below,
    how often each has this role.

    splits: for each of them, {"train", "dev", "test": row numbers}; a row without a role is
    left blank.
    """
    n_rows = 1 + max(int(np.max(rows)) for split in splits for rows in split.values())
    times = np.bincount(
        np.concatenate([split[role] for split in splits]), minlength=n_rows
    ).tolist()
    wide, drawn, parts = (width - 8 - LEFT) / n_rows, {}, []
    for place, split in enumerate(splits):
        y = TOP + place * pitch
        parts.append(_text(LEFT - 6, y + pitch - 5, place, "end"))
        for kind, rows in split.items():
            shapes = (
                f"M{LEFT + row * wide:.1f} {y}h{wide - 1:.1f}v{pitch - 3}h-{wide - 1:.1f}z"
                for row in rows
            )
            drawn[kind] = drawn.get(kind, "") + "".join(shapes)
    parts += [
        f'<path class="{KINDS[kind]}" d="{shapes}"/>' for kind, shapes in drawn.items()
    ]
    below = TOP + len(splits) * pitch + 12
    parts.append(_text(LEFT - 6, below, "times", "end"))
    parts += [
        _text(LEFT + (row + 0.45) * wide, below, number, "middle")
        for row, number in enumerate(times)
    ]
    for place, kind in enumerate(drawn):
        x = LEFT + 70 * place
        at = f'x="{x}" y="{below + 12}"'
        parts.append(f'<rect class="{KINDS[kind]}" {at} width="9" height="9"/>')
        parts.append(_text(x + 13, below + 20, DOES[kind], "start"))
    parts.append(
        _text(
            LEFT + 70 * len(drawn),
            below + 20,
            f"times: how often a row {DOES[role]}",
            "start",
        )
    )
    often = f"{min(times)} to {max(times)} times"
    words = f"{len(splits)} splits of {n_rows} rows: each {DOES[role]} {often}."
    return Chart(Picture("".join(parts), words, width, below + 28))


def _ticks(axes, log):
    """Round numbers along x."""
    if not log:
        return nice_ticks(axes.first, axes.last, inside=True)
    decades = range(int(np.floor(axes.first)), int(np.ceil(axes.last)) + 1)
    steps = (1,) if axes.last - axes.first > 3 else (1, 2, 5)
    found = [by * 10.0**decade for decade in decades for by in steps]
    return [
        tick
        for tick in found
        if axes.first - 1e-9 <= np.log10(tick) <= axes.last + 1e-9
    ]


def _frame(axes, rows, ticks, where):
    """Lines across with their numbers, and the numbers along x."""
    for tick, label in zip(rows, tick_labels(rows), strict=True):
        yield f'<path class="g" d="M{LEFT} {axes.y(tick):.1f}H{axes.right}"/>'
        yield _text(LEFT - 6, axes.y(tick) + 4, label, "end")
    for tick in ticks:
        yield _text(
            axes.x(float(where(tick))), axes.bottom + 15, f"{tick:.6g}", "middle"
        )


def _legend(named, width, top):
    """Names and their colours in as many rows as they take; the height of the picture then."""
    parts, at, y = [], LEFT, top + 4
    for name, colour in named.items():
        needed = 30 + 6.6 * sum(not combining(letter) for letter in name)
        if at > LEFT and at + needed > width:
            at, y = LEFT, y + 16
        parts.append(
            f'<rect class="f{colour}" x="{at:.1f}" y="{y - 8}" width="9" height="9"/>'
        )
        parts.append(_text(at + 13, y, name, "start"))
        at += needed
    return parts, y + 8 if named else top


def _bar(mark, where):
    steps = np.diff(np.unique(where(mark.x)))
    return float(steps.min()) if steps.size else 1.0


def _drawn(mark, colour, axes, where):
    x, y = where(mark.x), mark.y
    if mark.form == "line":
        return f'<path class="w l{colour}" d="{axes.path(x, y)}"/>'
    if mark.form == "level":
        level = f"M{LEFT} {axes.y(y[0]):.1f}H{axes.right}"
        return f'<path class="w l{colour}" stroke-dasharray="5 4" d="{level}"/>'
    points = [
        (axes.x(a), axes.y(b))
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
        if np.isfinite(b)
    ]
    if mark.form == "dots":
        return "".join(
            f'<circle class="f{colour}" fill-opacity=".75" cx="{a:.1f}" cy="{b:.1f}" r="3"/>'
            for a, b in points
        )
    wide, zero = 0.86 * (axes.x(_bar(mark, where)) - axes.x(0.0)), axes.y(0.0)
    shapes = "".join(
        f"M{a - wide / 2:.1f} {zero:.1f}h{wide:.1f}V{b:.1f}h-{wide:.1f}z"
        for a, b in points
    )
    return f'<path class="f{colour}" fill-opacity=".75" d="{shapes}"/>'


def _text(x, y, text, anchor):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(text))}</text>'


def _words(xlabel, ylabel, marks):
    """What a reader without the picture is told."""
    said = []
    for mark in marks:
        if mark.name:
            low, high = np.nanmin(mark.y), np.nanmax(mark.y)
            said.append(
                f"{mark.name} {low:.4g}" + ("" if low == high else f" to {high:.4g}")
            )
    return (
        (f"{ylabel} against {xlabel}" if xlabel else ylabel)
        + (": " + "; ".join(said) if said else "")
        + "."
    )
