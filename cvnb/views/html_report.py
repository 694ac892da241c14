"""A result or a comparison as one HTML page that needs no network.

It has the number in words, pictures, and a paragraph for a paper. With figures=True plotly.js
is embedded once; where scripts do not run, the small static pictures are shown.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any

from ..errors import InputError, WrongTypeError
from ..figures import comparison_figure, curve_figure, nest_figure
from ..pictures.curves import curve_of
from ..pictures.split_map import nest_of
from ..pictures.svg import draw_nest
from ..results.comparison import Comparison
from ..results.estimate import RiskEstimate
from ..splits.options import check_bool
from .card import caption, details, folds_table, pictures_of, urgent_notes
from .comparison_card import LEFT, models_table, pair_sentences
from .comparison_card import caption as models_caption
from .markup import html, html_list, html_table, strip
from .methods import checklist_of, methods_of, references_of
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
    shown: RiskEstimate | Comparison,
    path: str | os.PathLike[str],
    figures: bool = False,
) -> Path:
    """Write the page of a result or a comparison and return its path.

    figures: whether the page holds plotly and its figures
    """
    check_bool("figures", figures)
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
    target.write_text(page_of(shown, figures), encoding="utf-8")
    return target


def page_of(shown: RiskEstimate | Comparison, figures: bool = False) -> str:
    """Return the page as text."""
    if isinstance(shown, RiskEstimate):
        title, body = " ".join(headline(shown)), _body_of_result(shown, figures)
    else:
        title, body = shown.verdict, _body_of_comparison(shown, figures)
    script = ""
    if figures:
        from plotly.offline import get_plotlyjs

        script = f"<script>{get_plotlyjs()}</script>"
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}{script}</head>\n'
        f"<body>{body}</body></html>\n"
    )


def _body_of_result(result: RiskEstimate, figures: bool) -> str:
    value, name = headline(result)
    phrases = (
        interval_words(result),
        baseline_words(result),
        flat_words(result),
        choice_words(result),
    )
    table = folds_table(result, most=len(result.plan.outer) + 1, bars=True)
    parts = [
        f'<p class="faint">{escape(caption(result))}</p>',
        f"<h1><b>{escape(value)}</b> {escape(name)}</h1>",
        *(f"<div>{escape(phrase)}</div>" for phrase in phrases if phrase),
        strip(urgent_notes(result)),
    ]
    sections = {
        **_pictures_of_result(result, figures),
        "Folds": html_table(table, left={"chosen"}),
        "Notes": html_list(result.notes),
        "For the methods section": _methods(result),
        "In symbols": f"<p>{html(result.quantity)}</p>",
        "How this was computed": (
            f"{html_list(details(result))}<pre>{escape(result.code())}</pre>"
        ),
    }
    return "".join(parts) + _sections(sections)


def _pictures_of_result(result: RiskEstimate, figures: bool) -> dict[str, str]:
    pictures = pictures_of(result)
    if not figures:
        return {"Tuning curve and row map": pictures}
    curve = curve_figure(result) if curve_of(result) is not None else None
    row_map = _figure(nest_figure(result), "nest")
    return {
        "Error of every setting": "" if curve is None else _figure(curve, "curve"),
        "Which row is where": f"{row_map}<noscript>{pictures}</noscript>",
    }


def _body_of_comparison(comparison: Comparison, figures: bool) -> str:
    is_measured = all(len(result.fold_risks) for result in comparison.values())
    folds, row_map = "", draw_nest(nest_of(comparison.plan)).img
    if figures:
        row_map = _figure(nest_figure(comparison.plan), "nest")
        if is_measured:
            folds = _figure(comparison_figure(comparison), "folds")
    sections = {
        "Models": html_table(models_table(comparison, pictures=True), LEFT),
        "Every pair": html_list(pair_sentences(comparison)),
        "Fold by fold": folds,
        "Which row is where": row_map,
        "Notes": html_list(comparison.notes),
        "For the methods section": "".join(
            f"<h3>{escape(name)}</h3>{_methods(result)}"
            for name, result in comparison.items()
        ),
    }
    top = f'<p class="faint">{escape(models_caption(comparison))}</p>'
    verdict = f"<h1>{escape(comparison.verdict)}</h1>"
    return top + verdict + _sections(sections)


def _methods(result: RiskEstimate) -> str:
    """Return the paragraph for a paper, its references, and the checklist's items."""
    paragraph = f"<blockquote><p>{escape(methods_of(result))}</p></blockquote>"
    checklist = f'<p class="faint">{escape(checklist_of(result))}</p>'
    return f"{paragraph}{html_list(references_of(result))}{checklist}"


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
