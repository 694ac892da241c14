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
from ..figures import comparison_figure, curve_figure, nest_figure
from ..pictures.curves import curve_of
from ..results.comparison import Comparison
from ..results.estimate import RiskEstimate
from .card import caption, details, folds_table, pictures_of, urgent_notes
from .comparison_card import LEFT, models_table, pair_sentences
from .comparison_card import caption as models_caption
from .markup import html, html_list, html_table, strip
from .methods import methods_of
from .phrases import (
    baseline_words,
    choice_words,
    flat_words,
    headline,
    interval_words,
)

STYLE = """
:root { color-scheme: light dark }
body {
    font: 15px/1.5 system-ui, sans-serif;
    max-width: 960px;
    margin: 32px auto;
    padding: 0 16px;
}
h1 { font-size: 17px; font-weight: normal; margin: 0 0 4px }
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


def write_report(
    shown: RiskEstimate | Comparison, path: str | os.PathLike[str]
) -> Path:
    """Write the page of a result or a comparison and return its path."""
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
    target.write_text(page_of(shown), encoding="utf-8")
    return target


def page_of(shown: RiskEstimate | Comparison) -> str:
    """Return the page as text."""
    from plotly.offline import get_plotlyjs

    if isinstance(shown, RiskEstimate):
        title, body = " ".join(headline(shown)), _body_of_result(shown)
    else:
        title, body = shown.verdict, _body_of_comparison(shown)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    script = f"<script>{get_plotlyjs()}</script>"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}{script}</head>\n'
        f"<body>{body}</body></html>\n"
    )


def _body_of_result(result: RiskEstimate) -> str:
    value, name = headline(result)
    phrases = (
        interval_words(result),
        baseline_words(result),
        flat_words(result),
        choice_words(result),
    )
    has_curve = curve_of(result) is not None
    pictures = f"<noscript>{pictures_of(result)}</noscript>"
    table = folds_table(result, most=len(result.plan.outer) + 1)
    parts = [
        f'<p class="faint">{escape(caption(result))}</p>',
        f"<h1><b>{escape(value)}</b> {escape(name)}</h1>",
        *(f"<div>{escape(phrase)}</div>" for phrase in phrases if phrase),
        strip(urgent_notes(result)),
    ]
    sections = {
        "Error of every setting": (
            _figure(curve_figure(result), "curve") if has_curve else ""
        ),
        "Which row is where": _figure(nest_figure(result), "nest") + pictures,
        "Folds": html_table(table, left={"chosen"}),
        "Notes": html_list(result.notes),
        "For the methods section": (
            f"<blockquote><p>{html(methods_of(result))}</p></blockquote>"
        ),
        "In symbols": f"<p>{html(result.quantity)}</p>",
        "How this was computed": (
            f"{html_list(details(result))}<pre>{escape(result.code())}</pre>"
        ),
    }
    return "".join(parts) + _sections(sections)


def _body_of_comparison(comparison: Comparison) -> str:
    is_measured = all(len(result.fold_risks) for result in comparison.values())
    methods = "".join(
        f"<blockquote><p><b>{escape(name)}</b>. {html(methods_of(result))}</p></blockquote>"
        for name, result in comparison.items()
    )
    sections = {
        "Models": html_table(models_table(comparison, pictures=True), LEFT),
        "Every pair": html_list(pair_sentences(comparison)),
        "Fold by fold": (
            _figure(comparison_figure(comparison), "folds") if is_measured else ""
        ),
        "Which row is where": _figure(nest_figure(comparison.plan), "nest"),
        "Notes": html_list(comparison.notes),
        "For the methods section": methods,
    }
    top = f'<p class="faint">{escape(models_caption(comparison))}</p>'
    verdict = f"<h1>{escape(comparison.verdict)}</h1>"
    return top + verdict + _sections(sections)


def _sections(sections: dict[str, str]) -> str:
    return "".join(
        f"<h2>{title}</h2>{text}" for title, text in sections.items() if text
    )


def _figure(figure: Any, name: str) -> str:
    return figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=name,
        config={"displaylogo": False, "responsive": True},
    )
