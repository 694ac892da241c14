"""A result as one HTML page that needs no network.

It has the number and its name, interactive figures and a paragraph for a paper. plotly.js is
embedded once. Where scripts do not run, the small static pictures are shown.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any

from ..errors import InputError, WrongTypeError
from ..figures import curve_figure, nest_figure
from ..pictures.curves import curve_of
from ..results.estimate import RiskEstimate, record_of
from .display import details, pictures_of, splits_table
from .markup import html, html_list, html_table
from .methods import methods_of
from .phrases import (
    choice_words,
    doubt_words,
    flat_words,
    headline,
    interval_words,
    recipe_words,
)

STYLE = """
:root { color-scheme: light dark }
body {
    font: 15px/1.5 system-ui, sans-serif;
    max-width: 960px;
    margin: 32px auto;
    padding: 0 16px;
}
h1 { font-size: 17px; font-weight: normal; margin: 0 }
h1 b { font-size: 36px }
h2 { font-size: 17px; margin: 32px 0 8px }
table { border-collapse: collapse }
th, td {
    padding: 3px 14px 3px 0;
    text-align: right;
    font-variant-numeric: tabular-nums;
}
th { border-bottom: 1px solid #888 }
pre { overflow-x: auto; background: rgba(128,128,128,.12); padding: 12px }
blockquote { margin: 0; padding: 2px 16px; border-left: 3px solid #e8590c }
.faint { opacity: .75 }
"""


def write_report(result: RiskEstimate, path: str | os.PathLike[str]) -> Path:
    """Write the page and return its path."""
    if not isinstance(path, str | os.PathLike):
        raise WrongTypeError(
            f"report({path!r}): give the name of a file, "
            'such as result.report("risk.html").'
        )
    target, problem = Path(path), ""
    if target.is_dir():
        problem = "is a folder"
    elif not target.parent.is_dir():
        problem = f"is in the folder {str(target.parent)!r}, which does not exist"
    if problem:
        name = repr(str(path))
        raise InputError(
            f'report({name}): {name} {problem}; give the name of a file, such as "risk.html".'
        )
    target.write_text(page_of(result), encoding="utf-8")
    return target


def page_of(result: RiskEstimate) -> str:
    """Return the page as text."""
    from plotly.offline import get_plotlyjs

    value, name = headline(result)
    title = escape(f"{value} {name}")
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    script = f"<script>{get_plotlyjs()}</script>"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}{script}</head>\n'
        f"<body>{_body(result, value, name)}</body></html>\n"
    )


def _body(result: RiskEstimate, value: str, name: str) -> str:
    phrases = (
        interval_words(result),
        doubt_words(result),
        flat_words(result),
        choice_words(result),
    )
    family = escape(record_of(result).family.label)
    recipe = escape(recipe_words(result))
    has_curve = curve_of(result) is not None
    pictures = f"<noscript>{pictures_of(result)}</noscript>"
    table = splits_table(result, most=len(result.plan.outer) + 1)
    sections = {
        "Error versus θ": _figure(curve_figure(result), "curve") if has_curve else "",
        "Which row is where": _figure(nest_figure(result), "nest") + pictures,
        "Splits": html_table(table),
        "Notes": html_list(result.notes),
        "For the methods section": (
            f"<blockquote><p>{html(methods_of(result))}</p></blockquote>"
        ),
        "How this was computed": (
            f"{html_list(details(result))}<pre>{escape(result.code())}</pre>"
        ),
    }
    parts = [
        f"<h1><b>{escape(value)}</b> {escape(name)}</h1>",
        *(f"<div>{html(phrase)}</div>" for phrase in phrases if phrase),
        f'<p class="faint">{html(result.quantity)}<br>{family}: {recipe}</p>',
        *(f"<h2>{title}</h2>{text}" for title, text in sections.items() if text),
    ]
    return "".join(parts)


def _figure(figure: Any, name: str) -> str:
    return figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=name,
        config={"displaylogo": False, "responsive": True},
    )
