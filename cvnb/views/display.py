"""Results, comparisons and reports as text, and as HTML without JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..results.estimate import RiskEstimate
from .card import result_bundle
from .comparison_card import comparison_bundle
from .markup import Bundle, bundle, html, html_list, html_table, text_table

if TYPE_CHECKING:
    from ..results.comparison import Comparison
    from ..results.reports.base import Report


def bundle_of(shown: RiskEstimate | Comparison) -> tuple[Bundle, dict[str, Any]]:
    """Return a result or a comparison as text and HTML, with its metadata."""
    if isinstance(shown, RiskEstimate):
        return result_bundle(shown)
    return comparison_bundle(shown)


def report_text(report: Report) -> str:
    """Return a report as plain text."""
    table = text_table(report.table, left=None) if report.table[0] else []
    sentences = [f"  - {sentence}" for sentence in report.sentences]
    return "\n".join([report.title, *table, *sentences])


def report_bundle(report: Report) -> Bundle:
    """Return a report as text and HTML."""
    return bundle(
        report_text(report),
        f"<div><b>{html(report.title)}</b></div>",
        report.picture,
        html_table(report.table, left=report.table[0]) if report.table[0] else "",
        html_list(report.sentences),
    )
