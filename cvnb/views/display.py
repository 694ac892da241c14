"""How plans, recipes and results show themselves: text, and HTML tables without JavaScript.

Deterministic: six significant digits, no seconds, ids or paths (seconds go into the output's metadata). Every string that comes
from the user is escaped, and dollar signs are kept from MathJax.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..families.family import Family, estimator_label, format_setting, format_value
from ..pictures.curves import curve_of
from ..pictures.split_map import nest_of
from ..pictures.svg import Picture, draw_curve, draw_nest
from ..results.estimate import RiskEstimate, record_of
from ..splits.recipes import Recipe
from ..splits.specs import FixedRows, Holdout
from ..wording import count, number, some, spread

if TYPE_CHECKING:
    from ..results.comparison import Comparison
    from ..results.reports.base import Report
    from ..splits.plan import Plan

SHOWN_SPLITS, SHOWN_NOTES = 8, 5
FAINT = "opacity:.75"
Table = tuple[Sequence[str], list[Sequence[str]]]
NAMED_RECIPES = (
    "train_validation_test", "cv_test", "resampling_test", "nested_cv", "nested_dev", "nested_resampling", "external_cv",
    "internal_cv", "dev_set", "validation", "leave_one_out",
)  # fmt: skip

RECIPES: Table = (
    ("outer \\ inner", "none (one θ)", "one dev set", "K-fold / LOO", "resampling ×S"),
    [
        (
            "none (all of S)",
            "",
            "dev_set",
            "internal_cv",
            "outer=None, inner=Resampling(S, share)",
        ),
        (
            "one holdout",
            "validation",
            "train_validation_test",
            "cv_test",
            "resampling_test",
        ),
        (
            "K-fold / LOO",
            "external_cv, leave_one_out",
            "nested_dev",
            "nested_cv",
            "outer=K, inner=Resampling(S, share)",
        ),
        (
            "resampling ×S",
            "outer=Resampling(S, share), inner=None",
            "…, inner=.25",
            "…, inner=K",
            "nested_resampling",
        ),
    ],
)


def headline(result: RiskEstimate) -> tuple[str, str]:
    """(the number, its name)."""
    loss = record_of(result).loss
    if result.risk is None and result.plan.outer_layout is not None:
        return number(
            None
        ), f"{shown_number(result)}: not measured, for no outer split was finished"
    if result.risk is None:
        optimistic = ": optimistic, not an estimate of the risk" * (
            len(result.settings) > 1
        )
        return number(loss.shown(result.flat)), f"{inner_words(result)}{optimistic}"
    one, tuned = len(result.plan.outer) == 1, len(result.settings) > 1
    rule = (
        ("tuned predictor" if tuned else "predictor")
        if one
        else ("tuned rule" if tuned else "algorithm")
    )
    name = (
        f"{loss.words} of the {rule} (a score: large is good)"
        if loss.is_score
        else f"{loss.name} risk of the {rule}"
    )
    return number(loss.shown(result.risk)), name


def recipe_words(result: RiskEstimate) -> str:
    """ "CV then test (a test set of 9 rows, inside the training part 5-fold CV), seed 0; 45 rows × 3 columns"."""
    record = record_of(result)
    seed = f", seed {record.recipe.seed}" if record.in_effect.uses_seed else ""
    return f"{record.in_effect.name} ({record.plan.words}){seed}; {record.data.n_rows} rows × {record.data.n_columns} columns"


def interval_words(result: RiskEstimate) -> str:
    """ "95 % interval 0.02 to 0.06 (bayle) for …"; nothing where no interval is honest."""
    try:
        found = result.interval()
    except InputError:
        return ""
    loss = record_of(result).loss
    low = (
        max(0.0, found.low) if loss.is_known else found.low
    )  # a loss of cvnb's own is never negative
    high = min(1.0, found.high) if loss.zero_one else found.high
    ends = sorted(float(loss.shown(end) or 0.0) for end in (low, high))
    covered = found.target.split(", |S|")[0].split(": E[")[
        0
    ]  # the size stands in the line of the quantity
    return (
        f"95 % interval {' to '.join(map(number, ends))} ({found.method}) for {covered}"
    )


def choice_words(result: RiskEstimate) -> str:
    """ "k=4 chosen in 3 of 5 splits, k=1 in 1, k=8 in 1"; nothing where there is no choice to agree on."""
    counts = Counter(format_setting(setting) for setting in result.chosen)
    if len(result.settings) == 1 or sum(counts.values()) < 2:
        return ""
    (first, n), *others = counts.most_common()
    if not others:
        return f"{first} chosen in all {n} splits"
    more = ", ".join(f"{setting} in {m}" for setting, m in others[:3]) + (
        ", …" if len(others) > 3 else ""
    )
    return f"{first} chosen in {n} of {sum(counts.values())} splits, {more}"


def flat_words(result: RiskEstimate) -> str:
    """What the flat estimate would have been, where it is known and differs from the headline."""
    if result.optimism is None or len(result.settings) == 1:
        return ""
    flat = number(record_of(result).loss.shown(result.flat))
    if number(result.flat) == number(result.risk):  # sums in another order
        return f"flat estimate {flat} (optimistic), the same here"
    side = "below" if result.optimism >= 0 else "above"
    if record_of(result).loss.is_score:
        return f"flat estimate {flat} (optimistic), {number(abs(result.optimism))} {'above' if side == 'below' else 'below'} it"
    return f"flat estimate {flat} (optimistic), {number(abs(result.optimism))} {side} the risk"


def splits_table(result: RiskEstimate, most: int = SHOWN_SPLITS) -> Table:
    """One row per outer split; the middle of a long table is left out."""
    record, curves = record_of(result), result.inner_curves
    loss, name, losses = (
        record.loss,
        "score" if record.loss.is_score else "loss",
        result.fold_risks,
    )
    head = (
        ["split", "training rows", "test rows"]
        + ["θ_j", f"inner {name}"] * (curves is not None)
        + [f"ε_j ({name})"]
    )
    n = len(record.table.chosen)
    shown = range(n) if n <= most else [*range(most - 2), n - 1]
    rows: list[Sequence[str]] = []
    for j in shown:
        if rows and j != int(rows[-1][0]) + 1:
            rows.append(["…"] * len(head))
        train, test = record.plan.part(j)
        s = record.table.chosen[j]
        row = [str(j), str(train.size), str(test.size)]
        if curves is not None:
            row += [
                format_setting(record.family.settings[s]) or "–",
                number(loss.shown(curves[j, s])),
            ]
        rows.append([*row, number(loss.shown(losses[j]) if len(losses) else None)])
    return head, rows


def details(result: RiskEstimate) -> list[str]:
    """How it was computed, for the fold at the bottom."""
    record = record_of(result)
    return [
        f"estimator: {estimator_label(record.family.estimator)}; {count(len(record.family.settings), 'setting')}",
        f"path: {result.path} ({result.path_reason})",
        f"splits: {record.plan.outer!r} outside"
        if record.plan.outer_layout is not None
        else "splits: none outside",
        f"recipe: {record.recipe!r}",
    ]


def result_text(result: RiskEstimate) -> str:
    """A result as plain text."""
    value, name = headline(result)
    lines = [
        f"{value}  {name}",
        f"  {result.quantity}",
        f"  {record_of(result).family.label}: {recipe_words(result)}",
    ]
    lines += [
        f"  {words}"
        for words in [interval_words(result), flat_words(result), choice_words(result)]
        if words
    ]
    lines += [f"  {line}" for line in text_table(splits_table(result))]
    return "\n".join(
        [
            *lines,
            *(f"  - {note}" for note in result.notes[:SHOWN_NOTES]),
            *_more(result.notes),
        ]
    )


def _more(notes: list[str]) -> list[str]:
    return (
        [f"  - and {count(len(notes) - SHOWN_NOTES, 'more note')}: result.notes"]
        if len(notes) > SHOWN_NOTES
        else []
    )


def bundle_of(
    shown: RiskEstimate | Comparison,
) -> tuple[dict[str, str], dict[str, Any]]:
    """A result or a comparison as text and HTML, with its metadata."""
    return (
        result_bundle(shown)
        if isinstance(shown, RiskEstimate)
        else comparison_bundle(shown)
    )


def result_bundle(result: RiskEstimate) -> tuple[dict[str, str], dict[str, Any]]:
    """A result as text and HTML; the seconds are metadata."""
    parts = [
        strip_of(result),
        pictures_of(result),
        html_table(splits_table(result)),
        html_notes(result.notes),
        f"<details><summary>How this was computed</summary>{html_list(details(result))}{_code(result)}</details>",
    ]
    return _bundle(result_text(result), parts), {
        "cvnb": {"seconds": record_of(result).table.seconds}
    }


def strip_of(result: RiskEstimate) -> str:
    """The number with its name, its interval, the flat estimate, the choices, what it estimates."""
    value, name = headline(result)
    judged = "; ".join(filter(None, (flat_words(result), choice_words(result))))
    said = [words for words in (interval_words(result), judged) if words]
    label = record_of(result).family.label
    lines = [
        f'<div><span style="font-size:28px;font-weight:bold">{escape(value)}</span> {escape(name)}</div>',
        *(f"<div>{html(words)}</div>" for words in said),
        f'<div style="{FAINT}">{html(result.quantity)}<br>{escape(label)}: {escape(recipe_words(result))}</div>',
    ]
    return "".join(lines)


def pictures_of(result: RiskEstimate) -> str:
    """Nest map and curve."""
    curve = curve_of(result)
    return _pictures(
        draw_nest(nest_of(result.plan)), *([] if curve is None else [draw_curve(curve)])
    )


def _pictures(*pictures: Picture) -> str:
    """Side by side where there is room."""
    return f"<div>{' '.join(picture.img for picture in pictures)}</div>"


def _code(result: RiskEstimate) -> str:
    return f"<pre>{escape(result.code())}</pre>"


def comparison_table(comparison: Comparison) -> Table:
    """One row per family."""
    head = ["family", shown_number(next(iter(comparison.values()))), "θ_j"]
    rows: list[Sequence[str]] = []
    for name, result in comparison.items():
        value, _ = headline(result)
        distinct = list(
            dict.fromkeys(format_setting(setting) or "–" for setting in result.chosen)
        )
        chosen = "; ".join(distinct[:5]) + ("; …" if len(distinct) > 5 else "")
        rows.append([name, value, chosen])
    return head, rows


def shown_number(result: RiskEstimate) -> str:
    """What the number in a comparison's column is called."""
    loss = record_of(result).loss
    if result.plan.outer_layout is None:
        return inner_words(result)
    return loss.shown_name


def inner_words(result: RiskEstimate) -> str:
    """What min_s inner_curves[0, s] is called."""
    loss = record_of(result).loss
    if len(result.settings) == 1:
        return f"inner {loss.words} of one setting"
    return f"{'largest' if loss.is_score else 'smallest'} inner {loss.words}"


def _pairs(comparison: Comparison) -> list[str]:
    return [pair.sentence for pair in comparison.pairs]


def _recipe_of_all(comparison: Comparison) -> str:
    """The recipe in words, with the inner splits of the families that choose in them."""
    return recipe_words(
        max(comparison.values(), key=lambda result: result.plan.n_inner)
    )


def _shared_words(comparison: Comparison) -> str:
    """What the numbers estimate: one sentence where it is the same for all."""
    quantities = {name: result.quantity for name, result in comparison.items()}
    distinct = list(dict.fromkeys(quantities.values()))
    return (
        distinct[0]
        if len(distinct) == 1
        else "; ".join(f"{name}: {quantity}" for name, quantity in quantities.items())
    )


def comparison_text(comparison: Comparison) -> str:
    """A comparison as plain text."""
    heading = [
        f"Comparison on the same splits: {_recipe_of_all(comparison)}",
        f"  {_shared_words(comparison)}",
    ]
    said = [f"  - {said}" for said in [*_pairs(comparison), *comparison.notes]]
    return "\n".join([*heading, *text_table(comparison_table(comparison)), *said])


def comparison_bundle(comparison: Comparison) -> tuple[dict[str, str], dict[str, Any]]:
    """A comparison as text and HTML."""
    splits = f"<div>Comparison on the same splits: {escape(_recipe_of_all(comparison))}</div>"
    heading = f"{splits}<div>{html(_shared_words(comparison))}</div>"
    said = html_list(_pairs(comparison)) + html_notes(comparison.notes)
    parts = [
        heading,
        _pictures(draw_nest(nest_of(comparison.plan))),
        html_table(comparison_table(comparison)),
        said,
    ]
    seconds = sum(record_of(result).table.seconds for result in comparison.values())
    return _bundle(comparison_text(comparison), parts), {"cvnb": {"seconds": seconds}}


def report_text(report: Report) -> str:
    """A report as plain text."""
    table = text_table(report.table, align="ljust") if report.table[0] else []
    return "\n".join(
        [report.title, *table, *(f"  - {said}" for said in report.sentences)]
    )


def report_bundle(report: Report) -> dict[str, str]:
    """A report as text and HTML."""
    heading = f"<div><b>{html(report.title)}</b></div>"
    table = html_table(report.table) if report.table[0] else ""
    return _bundle(report_text(report), [heading, table, html_list(report.sentences)])


def plan_bundle(plan: Plan) -> dict[str, str]:
    """A plan as text and HTML."""
    rows: list[Sequence[str]] = []
    if plan.outer_layout is not None:
        rows.append(["outer", plan.outer_words, *_sizes(plan.outer_layout.sizes())])
    if plan.inner_layouts is not None:
        sizes = np.concatenate([layout.sizes() for layout in plan.inner_kept])
        each = f", in each of {plan.n_parts}" if plan.n_parts > 1 else ""
        rows.append([f"inner{each}", plan.inner_words, *_sizes(sizes)])
    table = html_table((["level", "splits", "training rows", "test rows"], rows))
    heading = (
        f"<div><b>Plan</b> of {count(plan.n_rows, 'row')}: {escape(plan.words)}</div>"
    )
    return _bundle(
        repr(plan),
        [heading, _pictures(draw_nest(nest_of(plan))), table, html_list(plan.notes)],
    )


def recipe_bundle(recipe: Recipe) -> dict[str, str]:
    """A recipe as text and HTML."""
    heading = (
        f"<div><b>{escape(recipe.name)}</b>: <code>{escape(repr(recipe))}</code></div>"
    )
    return _bundle(
        f"{recipe!r}: {recipe.name}",
        [heading, f'<div style="{FAINT}">{html(_estimated_by(recipe))}</div>'],
    )


def _estimated_by(recipe: Recipe) -> str:
    """What the number of a recipe is, in words and symbol."""
    if recipe.outer_spec is None:
        return "chooses θ on all of S; its smallest inner loss is optimistic, at the size of its inner training parts"
    rule = "A(S)" if recipe.inner_spec is None else "A_θ̂(S)"
    one = isinstance(recipe.outer_spec, Holdout | FixedRows)
    what = (
        f"ℓ_D({rule}), the risk of the predictor in hand"
        if one
        else f"E[ℓ_D({rule})], the risk of the procedure"
    )
    return f"estimates {what}, at the size of its training parts"


def family_bundle(family: Family) -> dict[str, str]:
    """A family as text and HTML: its estimator and the values along each axis of its grid."""
    rows: list[Sequence[str]] = []
    if family.estimator is not None:
        values: dict[str, dict[str, None]] = {}
        for setting in family.settings:
            for key, value in setting.items():
                values.setdefault(key, {})[format_value(value)] = None
        rows = [
            [key, count(len(shown), "value"), some(list(shown))]
            for key, shown in values.items()
        ]
    label = (
        family.label if family.estimator is None else estimator_label(family.estimator)
    )
    heading = (
        f"<div><b>Family</b> {escape(label)}: <code>{escape(repr(family))}</code></div>"
    )
    return _bundle(
        repr(family),
        [heading, html_table((["parameter", "grid", "values"], rows)) if rows else ""],
    )


def recipes_text() -> str:
    """The outer × inner table, and what each named recipe estimates."""
    named: list[Sequence[str]] = [
        [name, _estimated_by(getattr(Recipe, name)())] for name in NAMED_RECIPES
    ]
    return "\n".join(
        [
            *text_table(RECIPES, align="ljust"),
            "",
            *text_table((("recipe", "what it does"), named), align="ljust"),
        ]
    )


def text_table(table: Table, align: str = "rjust") -> list[str]:
    """Lines of aligned columns."""
    head, rows = table
    widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]
    lines = [
        [getattr(cell, align)(width) for cell, width in zip(row, widths, strict=True)]
        for row in [head, *rows]
    ]
    return ["  ".join(line).rstrip() for line in lines]


def html(text: str) -> str:
    """Escaped text, with the symbols' indices set low: ℓ_D, A_θ̂, θ_j, ε_j."""
    text = escape(text)
    for symbol, index in (("ℓ", "D"), ("A", "θ̂"), ("θ", "j"), ("ε", "j")):
        text = text.replace(f"{symbol}_{index}", f"{symbol}<sub>{index}</sub>")
    return text


def html_table(table: Table) -> str:
    """A table with scoped headers, every cell escaped."""
    head, rows = table
    headers = "".join(f'<th scope="col">{html(name)}</th>' for name in head)
    cell = (
        '<td style="padding:3px 8px">'  # the front ends' own tables are twice as tall
    )
    body = "".join(
        "<tr>" + "".join(f"{cell}{escape(text)}</td>" for text in row) + "</tr>"
        for row in rows
    )
    return f'<table style="margin-left:0"><thead><tr>{headers}</tr></thead><tbody>{body}</tbody></table>'


def html_list(sentences: Iterable[str]) -> str:
    """A list of escaped sentences; nothing where there are none."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul style="margin:0">{items}</ul>' if items else ""


def html_notes(notes: list[str]) -> str:
    """Notes as a list; what is more than a few is folded away."""
    more = notes[SHOWN_NOTES:]
    folded = (
        f"<details><summary>{count(len(more), 'more note')}</summary>{html_list(more)}</details>"
        if more
        else ""
    )
    return html_list(notes[:SHOWN_NOTES]) + folded


def _sizes(sizes: np.ndarray) -> list[str]:
    return [spread(sizes[:, side]) for side in (0, 1)]


def _bundle(text: str, parts: list[str]) -> dict[str, str]:
    return {
        "text/plain": text,
        "text/html": f'<div class="tex2jax_ignore mathjax_ignore" style="line-height:1.4">{"".join(parts)}</div>',
    }
