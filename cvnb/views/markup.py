"""Tables and lists as aligned text and as HTML without JavaScript.

Every string of the user's is escaped, and dollar signs are kept from MathJax.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ..wording import count

SHOWN_NOTES = 5
FAINT = "opacity:.75"
IGNORED_BY_MATHJAX = 'class="tex2jax_ignore mathjax_ignore"'
CELL = '<td style="padding:3px 8px">'  # the front ends' own tables are twice as tall
INDICES = {"ℓ": "D", "A": "θ̂", "θ": "j", "ε": "j"}

Table = tuple[Sequence[str], list[Sequence[str]]]  # head, rows
Bundle = dict[str, str]


def text_table(table: Table, align: str = "rjust") -> list[str]:
    """Return the lines of a table with aligned columns; align is "ljust" or "rjust"."""
    head, rows = table
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            getattr(cell, align)(width)
            for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    ]


def html(text: str) -> str:
    """Escape text, with the indices of symbols as subscripts: ℓ_D, A_θ̂, θ_j, ε_j."""
    text = escape(text)
    for symbol, index in INDICES.items():
        text = text.replace(f"{symbol}_{index}", f"{symbol}<sub>{index}</sub>")
    return text


def html_table(table: Table) -> str:
    """Return a table with scoped headers, every cell escaped."""
    head, rows = table
    headers = "".join(f'<th scope="col">{html(name)}</th>' for name in head)
    body = ""
    for row in rows:
        cells = "".join(f"{CELL}{escape(text)}</td>" for text in row)
        body += f"<tr>{cells}</tr>"
    inside = f"<thead><tr>{headers}</tr></thead><tbody>{body}</tbody>"
    return f'<table style="margin-left:0">{inside}</table>'


def html_list(sentences: Iterable[str]) -> str:
    """Return a list of escaped sentences; "" if there are none."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul style="margin:0">{items}</ul>' if items else ""


def html_notes(notes: list[str]) -> str:
    """Return notes as a list; all but the first few are folded."""
    shown, more = html_list(notes[:SHOWN_NOTES]), notes[SHOWN_NOTES:]
    if not more:
        return shown
    summary = f"<summary>{count(len(more), 'more note')}</summary>"
    return f"{shown}<details>{summary}{html_list(more)}</details>"


def bundle(text: str, *parts: str) -> Bundle:
    """Return plain text, and parts of HTML in one block, by MIME type."""
    inside = "".join(parts)
    block = f'<div {IGNORED_BY_MATHJAX} style="line-height:1.4">{inside}</div>'
    return {"text/plain": text, "text/html": block}
