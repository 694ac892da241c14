"""A result as one HTML page that needs no network: the number and its name, figures to explore, a paragraph for a paper.

plotly.js stands in it once. Where scripts do not run, the small static pictures are shown.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from ..errors import InputError, WrongTypeError
from ..figures import curve_figure, nest_figure
from ..pictures.curves import curve_of
from ..results.estimate import RiskEstimate, record_of
from .display import (
    choice_words,
    details,
    flat_words,
    headline,
    html,
    html_list,
    html_table,
    interval_words,
    pictures_of,
    recipe_words,
    splits_table,
)
from .methods import methods_of

STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 960px; margin: 32px auto; padding: 0 16px }
h1 { font-size: 17px; font-weight: normal; margin: 0 } h1 b { font-size: 36px } h2 { font-size: 17px; margin: 32px 0 8px }
table { border-collapse: collapse } th, td { padding: 3px 14px 3px 0; text-align: right; font-variant-numeric: tabular-nums }
th { border-bottom: 1px solid #888 } pre { overflow-x: auto; background: rgba(128,128,128,.12); padding: 12px }
blockquote { margin: 0; padding: 2px 16px; border-left: 3px solid #e8590c } .faint { opacity: .75 }
"""


def write_report(result: RiskEstimate, path: str | os.PathLike[str]) -> Path:
    """Write the page and return where it is."""
    if not isinstance(path, str | os.PathLike):
        raise WrongTypeError(
            f'report({path!r}): give the name of a file, such as result.report("risk.html").'
        )
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        what = (
            "is a folder"
            if target.is_dir()
            else f"stands in the folder {str(target.parent)!r}, which does not exist"
        )
        raise InputError(
            f'report({str(path)!r}): {str(path)!r} {what}; give the name of a file, such as "risk.html".'
        )
    target.write_text(page_of(result), encoding="utf-8")
    return target


def page_of(result: RiskEstimate) -> str:
    """The page as text."""
    from plotly.offline import get_plotlyjs

    value, name = headline(result)
    said = [
        words
        for words in (interval_words(result), flat_words(result), choice_words(result))
        if words
    ]
    family = record_of(result).family.label
    parts = [
        f"<h1><b>{escape(value)}</b> {escape(name)}</h1>",
        *(f"<div>{html(words)}</div>" for words in said),
        f'<p class="faint">{html(result.quantity)}<br>{escape(family)}: {escape(recipe_words(result))}</p>',
        *(
            ["<h2>Error versus θ</h2>", _figure(curve_figure(result), "curve")]
            if curve_of(result) is not None
            else []
        ),
        "<h2>Which row is where</h2>",
        _figure(nest_figure(result), "nest"),
        f"<noscript>{pictures_of(result)}</noscript>",
        f"<h2>Splits</h2>{html_table(splits_table(result, most=len(result.plan.outer) + 1))}",
        f"<h2>Notes</h2>{html_list(result.notes)}" if result.notes else "",
        f"<h2>For the methods section</h2><blockquote><p>{html(methods_of(result))}</p></blockquote>",
        f"<h2>How this was computed</h2>{html_list(details(result))}<pre>{escape(result.code())}</pre>",
    ]
    head = f'<meta charset="utf-8"><title>{escape(f"{value} {name}")}</title><style>{STYLE}</style>'
    head, body = f"{head}<script>{get_plotlyjs()}</script>", "".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _figure(figure: object, name: str) -> str:
    options = {"displaylogo": False, "responsive": True}
    return figure.to_html(
        full_html=False, include_plotlyjs=False, div_id=name, config=options
    )  # type: ignore[attr-defined]
