"""The card of one result: its number in words, what it is compared with, its folds.

Deterministic: no seconds, ids or paths. The seconds are in the metadata of the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import numpy as np

from ..families.labels import estimator_label, shown_settings
from ..pictures.curves import curve_of
from ..pictures.dots import Line, draw_lines
from ..pictures.split_map import nest_of_result
from ..pictures.svg import draw_curve, draw_nest
from ..results.estimate import RiskEstimate, record_of
from ..results.notes import actions_of
from ..results.scales import scale_of
from ..wording import count
from .markup import (
    BIG,
    FAINT,
    SHOWN_NOTES,
    SHOWN_URGENT,
    Bundle,
    Markup,
    Table,
    block,
    bundle,
    folded,
    html,
    html_list,
    html_table,
    strip,
    text_table,
)
from .phrases import (
    baseline_words,
    choice_words,
    doubt_words,
    flat_words,
    headline,
    interval_words,
    no_better_words,
    recipe_words,
    shown_baseline,
    shown_interval,
)

SHOWN_SPLITS = 8
BAR = 120  # pixels of the longest bar
REPORT_THIS, ON_NEW_ROWS = "nested (report this)", "measured on new rows"
SAME_FOLDS = "same folds (too good)"


def result_text(result: RiskEstimate) -> str:
    """Return a result as plain text."""
    value, name = headline(result)
    urgent = urgent_notes(result)
    others = [note for note in result.notes if note not in urgent]
    lines = [
        caption(result),
        interval_words(result),
        baseline_words(result),
        flat_words(result),
        choice_words(result),
        *(f"! {note}" for note in urgent[:SHOWN_URGENT]),
        *text_table(folds_table(result), left={"chosen"}),
        *(f"- {note}" for note in others[:SHOWN_NOTES]),
    ]
    n_hidden = max(0, len(urgent) - SHOWN_URGENT) + max(0, len(others) - SHOWN_NOTES)
    if n_hidden:
        lines.append(f"- and {count(n_hidden, 'more note')}: result.notes")
    lines.append(f"in symbols: {result.quantity}")
    return "\n  ".join([f"{value}  {name}", *filter(None, lines)])


def result_bundle(result: RiskEstimate) -> tuple[Bundle, dict[str, object]]:
    """Return a result as text and HTML, with the seconds as metadata."""
    folds = html_table(folds_table(result, bars=True), left={"chosen"})
    pictures = folded("Tuning curve and row map", pictures_of(result), is_open=True)
    shown = bundle(
        result_text(result),
        strip_of(result),
        block(folds, "max-width:100%;margin-right:24px"),
        block(pictures, "max-width:100%"),
        notes_of(result),
        folded("Symbols, method, code, and what to ask next", _method(result)),
    )
    return shown, {"cvnb": {"seconds": record_of(result).table.seconds}}


def strip_of(result: RiskEstimate) -> str:
    """Return the number in words, its interval, what it is compared with, what to do."""
    value, name = headline(result)
    phrases = (
        interval_words(result),
        baseline_words(result),
        flat_words(result),
        choice_words(result) if len(result.chosen) > SHOWN_SPLITS else "",
    )
    words = [
        f'<div><span style="{BIG}">{escape(value)}</span> {escape(name)}</div>',
        *(f"<div>{escape(phrase)}</div>" for phrase in phrases if phrase),
    ]
    parts = [
        f'<div style="{FAINT}">{escape(caption(result))}</div>',
        block("".join(words), "min-width:300px;max-width:430px;margin-right:24px"),
        block(_dots(result), "margin-top:8px"),
        strip(urgent_notes(result)),
    ]
    return "".join(parts)


def caption(result: RiskEstimate) -> str:
    """Return the model, the recipe and the size of the data."""
    return f"{record_of(result).family.label}: {recipe_words(result)}"


def urgent_notes(result: RiskEstimate) -> list[str]:
    """Return the sentences that ask for something to be done, the most urgent first."""
    first = [no_better_words(result), *actions_of(record_of(result))]
    return [note for note in [*first, doubt_words(result)] if note]


def notes_of(result: RiskEstimate) -> str:
    """Return the notes that are not urgent, folded; "" without any."""
    urgent = urgent_notes(result)
    others = [note for note in result.notes if note not in urgent]
    return folded(count(len(others), "note"), html_list(others)) if others else ""


def _dots(result: RiskEstimate) -> str:
    """Return the risk, the flat estimate and the baseline as dots on one axis."""
    loss, scale = record_of(result).loss, scale_of(result)
    if result.risk is None:
        return ""
    is_nested = len(result.plan.outer) > 1 and len(result.settings) > 1
    numbers = {REPORT_THIS if is_nested else ON_NEW_ROWS: result.risk}
    if result.flat is not None and len(result.settings) > 1:
        numbers[SAME_FOLDS] = result.flat
    if (baseline := shown_baseline(result)) is not None:
        numbers[baseline.name] = baseline.risk
    interval = shown_interval(result)
    lines = [
        Line(loss.shown(x), words=f"{name}: {scale.write(x)}", strong=False)
        for name, x in numbers.items()
    ]
    lines[0] = replace(lines[0], strong=True)
    if interval is not None:
        lines[0] = replace(lines[0], low=interval.low, high=interval.high)
    rows: list[Sequence[str]] = [
        [name, Markup(picture.img), scale.write(x)]
        for (name, x), picture in zip(
            numbers.items(), draw_lines(lines, 120), strict=True
        )
    ]
    return html_table(([], rows), left={0})


def pictures_of(result: RiskEstimate) -> str:
    """Return the curve and the nest map, side by side where there is room."""
    curve, pictures = curve_of(result), [draw_nest(nest_of_result(result))]
    if curve is not None:
        pictures.insert(0, draw_curve(curve))
    return f"<div>{' '.join(picture.img for picture in pictures)}</div>"


def folds_table(
    result: RiskEstimate, most: int = SHOWN_SPLITS, bars: bool = False
) -> Table:
    """Return one row per outer fold; the middle of a long table is left out.

    most: the largest number of rows. bars: whether the last column is a bar of HTML.
    """
    record, curves, risks = record_of(result), result.inner_curves, result.fold_risks
    scale, chosen = scale_of(result), record.table.chosen
    is_outer = result.plan.outer_layout is not None
    noun = "score" if record.loss.is_score else "error"
    names = shown_settings(record.family.settings)
    n, lengths = len(chosen), _lengths(result) if bars else None
    shown = range(n) if n <= most else [*range(most - 2), n - 1]
    head = ["fold", "trained on", "tested on"] if is_outer else ["rows"]
    head += [] if curves is None else ["chosen", f"inner {noun}"]
    head += [f"test {noun}"] * is_outer
    rows: list[Sequence[str]] = []
    for j in shown:
        sizes = [str(part.size) for part in record.plan.part(j)]
        row = [str(j + 1), *sizes] if is_outer else [sizes[0]]
        if curves is not None:
            row += [names[chosen[j]] or "–", scale.write(curves[j, chosen[j]])]
        if is_outer:
            row.append(scale.write(risks[j] if len(risks) else None))
        rows.append(row if lengths is None else [*row, _bar(lengths[j])])
    if n > most:
        rows.insert(-1, ["…"] * len(head) + [""] * (lengths is not None))
    return (head if lengths is None else [*head, ""]), rows


def _lengths(result: RiskEstimate) -> np.ndarray | None:
    """Return the length of each fold's bar; None where the numbers are not all positive."""
    shown = np.asarray(record_of(result).loss.shown(result.fold_risks))
    if not shown.size or not np.isfinite(shown).all() or shown.min() < 0:
        return None
    return BAR * shown / (shown.max() or 1.0)


def _bar(length: float) -> Markup:
    look = "height:10px;background-color:#8ab4e8"
    return Markup(f'<div style="width:{length:.0f}px;{look}"></div>')


def _method(result: RiskEstimate) -> str:
    """Return symbols, method, code, and the questions that follow, for the last fold."""
    target = shown_interval(result)
    symbols = f"<p>{html(result.quantity)}"
    if target is not None:
        symbols += f"<br>interval ({escape(target.method)}) for {html(target.target)}"
    code = f"<pre>{escape(result.code())}</pre>"
    return f"{symbols}</p>{html_list(details(result))}{code}{questions_of(result)}"


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


def details(result: RiskEstimate) -> list[str]:
    """Return how it was computed, for the fold at the bottom."""
    record = record_of(result)
    family, plan = record.family, record.plan
    outside = "none" if plan.outer_layout is None else repr(plan.outer)
    label = estimator_label(family.estimator)
    return [
        f"estimator: {label}; {count(len(family.settings), 'setting')}",
        f"method: {result.path} ({result.path_reason})",
        f"splits: {outside} outside",
        f"recipe: {record.recipe!r}",
    ]
