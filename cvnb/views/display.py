"""Results, comparisons and reports as text, and as HTML without JavaScript.

Deterministic: six significant digits, no seconds, ids or paths. The seconds are in the
metadata of the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ..families.labels import estimator_label, format_setting
from ..pictures.curves import curve_of
from ..pictures.split_map import nest_of
from ..pictures.svg import draw_curve, draw_nest
from ..results.estimate import RiskEstimate, record_of
from ..wording import count, number
from .markup import (
    FAINT,
    SHOWN_NOTES,
    Bundle,
    Table,
    bundle,
    html,
    html_list,
    html_notes,
    html_table,
    text_table,
)
from .phrases import (
    choice_words,
    doubt_words,
    flat_words,
    headline,
    interval_words,
    recipe_words,
    shown_number,
)

if TYPE_CHECKING:
    from ..results.comparison import Comparison
    from ..results.reports.base import Report

SHOWN_SPLITS = 8
BIG = "font-size:28px;font-weight:bold"
Metadata = dict[str, Any]


def bundle_of(shown: RiskEstimate | Comparison) -> tuple[Bundle, Metadata]:
    """Return a result or a comparison as text and HTML, with its metadata."""
    if isinstance(shown, RiskEstimate):
        return result_bundle(shown)
    return comparison_bundle(shown)


def result_text(result: RiskEstimate) -> str:
    """Return a result as plain text."""
    value, name = headline(result)
    phrases = [
        result.quantity,
        f"{record_of(result).family.label}: {recipe_words(result)}",
        interval_words(result),
        doubt_words(result),
        flat_words(result),
        choice_words(result),
    ]
    indented = [*filter(None, phrases), *text_table(splits_table(result))]
    notes = [f"- {note}" for note in result.notes[:SHOWN_NOTES]]
    n_more = len(result.notes) - SHOWN_NOTES
    if n_more > 0:
        notes.append(f"- and {count(n_more, 'more note')}: result.notes")
    return "\n  ".join([f"{value}  {name}", *indented, *notes])


def result_bundle(result: RiskEstimate) -> tuple[Bundle, Metadata]:
    """Return a result as text and HTML, with the seconds as metadata."""
    computed = f"{html_list(details(result))}<pre>{escape(result.code())}</pre>"
    shown = bundle(
        result_text(result),
        strip_of(result),
        pictures_of(result),
        html_table(splits_table(result)),
        html_notes(result.notes),
        "<details><summary>How this was computed, and what to ask next</summary>"
        f"{questions_of(result)}{computed}</details>",
    )
    return shown, {"cvnb": {"seconds": record_of(result).table.seconds}}


def questions_of(result: RiskEstimate) -> str:
    """Return the questions that follow a number, with the studies that answer them."""
    recipe = record_of(result).recipe
    if result.risk is None or not result.complete or recipe.time_ordered:
        return ""
    seed = "How much does this hang on the seed? <code>over_seeds(risk)</code><br>"
    return (
        f"<p>{seed * recipe.uses_seed}Is it better than chance? "
        "<code>null_test(risk)</code><br>Would more rows help? "
        "<code>learning_curve(risk)</code><br>They are in <code>cvnb.studies</code>.</p>"
    )


def strip_of(result: RiskEstimate) -> str:
    """Return the number with its name, its interval, the flat estimate and the choices."""
    value, name = headline(result)
    others = "; ".join(filter(None, (flat_words(result), choice_words(result))))
    phrases = interval_words(result), doubt_words(result), others
    lines = [words for words in phrases if words]
    family = escape(record_of(result).family.label)
    recipe = escape(recipe_words(result))
    parts = [
        f'<div><span style="{BIG}">{escape(value)}</span> {escape(name)}</div>',
        *(f"<div>{html(line)}</div>" for line in lines),
        f'<div style="{FAINT}">{html(result.quantity)}<br>{family}: {recipe}</div>',
    ]
    return "".join(parts)


def pictures_of(result: RiskEstimate) -> str:
    """Return the nest map and the curve, side by side where there is room."""
    curve, pictures = curve_of(result), [draw_nest(nest_of(result.plan))]
    if curve is not None:
        pictures.append(draw_curve(curve))
    return f"<div>{' '.join(picture.img for picture in pictures)}</div>"


def splits_table(result: RiskEstimate, most: int = SHOWN_SPLITS) -> Table:
    """Return one row per outer split; the middle of a long table is left out."""
    record, curves, risks = record_of(result), result.inner_curves, result.fold_risks
    loss, chosen = record.loss, record.table.chosen
    noun = "score" if loss.is_score else "loss"
    inner_head = [] if curves is None else ["θ_j", f"inner {noun}"]
    head = ["split", "training rows", "test rows", *inner_head, f"ε_j ({noun})"]
    n = len(chosen)
    shown = range(n) if n <= most else [*range(most - 2), n - 1]
    rows: list[Sequence[str]] = []
    for j in shown:
        row = [str(j), *(str(part.size) for part in record.plan.part(j))]
        if curves is not None:
            setting = format_setting(record.family.settings[chosen[j]]) or "–"
            row += [setting, number(loss.shown(curves[j, chosen[j]]))]
        rows.append([*row, number(loss.shown(risks[j]) if len(risks) else None)])
    if n > most:
        rows.insert(-1, ["…"] * len(head))
    return head, rows


def details(result: RiskEstimate) -> list[str]:
    """Return how it was computed, for the fold at the bottom."""
    record = record_of(result)
    family, plan = record.family, record.plan
    outside = "none" if plan.outer_layout is None else repr(plan.outer)
    label = estimator_label(family.estimator)
    return [
        f"estimator: {label}; {count(len(family.settings), 'setting')}",
        f"path: {result.path} ({result.path_reason})",
        f"splits: {outside} outside",
        f"recipe: {record.recipe!r}",
    ]


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as plain text."""
    sentences = [*_pairs(comparison), *comparison.notes]
    return "\n".join(
        [
            f"Comparison on the same splits: {_recipe_of_all(comparison)}",
            f"  {_quantities(comparison)}",
            *text_table(comparison_table(comparison)),
            *(f"  - {sentence}" for sentence in sentences),
        ]
    )


def comparison_bundle(comparison: Comparison) -> tuple[Bundle, Metadata]:
    """Return a comparison as text and HTML, with the seconds as metadata."""
    recipe = escape(_recipe_of_all(comparison))
    shown = bundle(
        comparison_text(comparison),
        f"<div>Comparison on the same splits: {recipe}</div>",
        f"<div>{html(_quantities(comparison))}</div>",
        f"<div>{draw_nest(nest_of(comparison.plan)).img}</div>",
        html_table(comparison_table(comparison)),
        html_list(_pairs(comparison)),
        html_notes(comparison.notes),
    )
    seconds = sum(record_of(result).table.seconds for result in comparison.values())
    return shown, {"cvnb": {"seconds": seconds}}


def comparison_table(comparison: Comparison) -> Table:
    """Return one row per family."""
    head = ["family", shown_number(next(iter(comparison.values()))), "θ_j"]
    rows: list[Sequence[str]] = []
    for name, result in comparison.items():
        value, _ = headline(result)
        settings = [format_setting(setting) or "–" for setting in result.chosen]
        distinct = list(dict.fromkeys(settings))
        more = "; …" if len(distinct) > 5 else ""
        rows.append([name, value, "; ".join(distinct[:5]) + more])
    return head, rows


def _pairs(comparison: Comparison) -> list[str]:
    return [pair.sentence for pair in comparison.pairs]


def _recipe_of_all(comparison: Comparison) -> str:
    """The recipe in words, with the inner splits of the families that choose in them."""
    results = comparison.values()
    return recipe_words(max(results, key=lambda result: result.plan.n_inner))


def _quantities(comparison: Comparison) -> str:
    """What the numbers estimate: one sentence if it is the same for all families."""
    quantities = {name: result.quantity for name, result in comparison.items()}
    distinct = set(quantities.values())
    if len(distinct) == 1:
        return distinct.pop()
    return "; ".join(f"{name}: {quantity}" for name, quantity in quantities.items())


def report_text(report: Report) -> str:
    """Return a report as plain text."""
    table = text_table(report.table, align="ljust") if report.table[0] else []
    sentences = [f"  - {sentence}" for sentence in report.sentences]
    return "\n".join([report.title, *table, *sentences])


def report_bundle(report: Report) -> Bundle:
    """Return a report as text and HTML."""
    return bundle(
        report_text(report),
        f"<div><b>{html(report.title)}</b></div>",
        report.picture,
        html_table(report.table) if report.table[0] else "",
        html_list(report.sentences),
    )
