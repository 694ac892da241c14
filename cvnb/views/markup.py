"""Tables and lists as aligned text and as HTML without JavaScript.

Every string of the user's is escaped, and dollar signs are kept from MathJax.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

SHOWN_NOTES = 5
SHOWN_URGENT = 3
FAINT = "opacity:.75"
BIG = "font-size:28px;font-weight:bold"
AMBER = (
    "border-left:4px solid #d9480f;background-color:rgba(217,72,15,.1);"
    "padding:4px 12px;margin:8px 0"
)
IGNORED_BY_MATHJAX = 'class="tex2jax_ignore mathjax_ignore"'
CELL = "padding:3px 8px"  # the front ends' own tables are twice as tall

LEFT, NUMBER = ";text-align:left", ";white-space:nowrap"
INDICES = {"ℓ": "D", "A": "θ̂", "θ": "j", "ε": "j"}

Table = tuple[Sequence[str], list[Sequence[str]]]  # head, rows
Bundle = dict[str, str]


class Markup(str):
    """HTML in a cell of a table, which is not escaped."""


def text_table(table: Table, left: Collection[str] | None = ()) -> list[str]:
    """Return the lines of a table with aligned columns.

    left: names of the columns aligned on the left; None for all
    """
    head, rows = table
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    sides = ["<" if left is None or name in left else ">" for name in head]
    return [
        "  ".join(
            f"{cell:{side}{width}}"
            for cell, side, width in zip(line, sides, widths, strict=True)
        ).rstrip()
        for line in lines
    ]


def html(text: str) -> str:
    """Escape text, with the indices of symbols as subscripts: ℓ_D, A_θ̂, θ_j, ε_j."""
    text = escape(text)
    for symbol, index in INDICES.items():
        text = text.replace(f"{symbol}_{index}", f"{symbol}<sub>{index}</sub>")
    return text


def html_table(table: Table, left: Collection[str | int] = ()) -> str:
    """Return a table with scoped headers, every cell escaped that is no Markup.

    left: names or indices of the columns aligned on the left
    """
    head, rows = table
    n_columns = len(rows[0]) if rows else len(head)
    names = [*head, *[""] * (n_columns - len(head))]
    styles = [
        CELL + (LEFT if name in left or place in left else NUMBER)
        for place, name in enumerate(names)
    ]
    body = "".join(f"<tr>{_cells(row, styles)}</tr>" for row in rows)
    headers = "".join(
        f'<th scope="col" style="{style}">{html(name)}</th>'
        for name, style in zip(head, styles, strict=False)
    )
    above = f"<thead><tr>{headers}</tr></thead>" if head else ""
    inside = f'<table style="margin:4px 0">{above}<tbody>{body}</tbody></table>'
    return f'<div style="overflow-x:auto">{inside}</div>'


def _cells(row: Sequence[str], styles: Sequence[str]) -> str:
    return "".join(
        f'<td style="{style}">{cell if isinstance(cell, Markup) else escape(cell)}</td>'
        for cell, style in zip(row, styles, strict=True)
    )


def html_list(sentences: Iterable[str]) -> str:
    """Return a list of escaped sentences; "" if there are none."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul style="margin:0">{items}</ul>' if items else ""


def folded(title: str, inside: str, is_open: bool = False) -> str:
    """Return HTML behind a title that opens it; "" if there is nothing inside."""
    if not inside:
        return ""
    summary = f"<summary>{escape(title)}</summary>"
    return f"<details{' open' * is_open}>{summary}{inside}</details>"


def block(inside: str, style: str) -> str:
    """Return HTML in a block that stands next to others where there is room."""
    look = f"display:inline-block;vertical-align:top;{style}"
    return f'<div style="{look}">{inside}</div>' if inside else ""


def strip(sentences: Sequence[str]) -> str:
    """Return an amber strip with what needs action; all but three sentences are folded."""
    if not sentences:
        return ""
    shown = "".join(f"<div>{escape(text)}</div>" for text in sentences[:SHOWN_URGENT])
    more = html_list(sentences[SHOWN_URGENT:])
    rest = folded(f"{len(sentences) - SHOWN_URGENT} more", more)
    return f'<div style="{AMBER}">{shown}{rest}</div>'


def bundle(text: str, *parts: str) -> Bundle:
    """Return plain text, and parts of HTML in one block, by MIME type."""
    inside = "".join(parts)
    page = f'<div {IGNORED_BY_MATHJAX} style="line-height:1.4">{inside}</div>'
    return {"text/plain": text, "text/html": page}
