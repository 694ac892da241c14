"""The card of a comparison: a verdict, and the models in order, the best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from ..families.labels import shown_names, shown_settings
from ..losses.scale import Scale
from ..pictures.dots import Line, draw_lines
from ..pictures.split_map import nest_of, not_run
from ..pictures.svg import draw_nest
from ..results.comparison import Comparison
from ..results.estimate import RiskEstimate, record_of
from ..results.scales import scale_of
from ..wording import count
from .markup import (
    FAINT,
    Bundle,
    Markup,
    Table,
    bundle,
    folded,
    html,
    html_list,
    html_table,
    text_table,
)
from .phrases import recipe_words, shown_interval, shown_number

FOLDS = "interval, folds ○"
LEFT = {"model", "chosen (times)", FOLDS}
SHOWN_CHOICES = 4
FEW_SECONDS = 10  # shorter fits are not told apart, so that equal runs show equal cards


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as plain text."""
    sentences = [*pair_sentences(comparison), *comparison.notes]
    return "\n".join(
        [
            comparison.verdict,
            f"  {caption(comparison)}",
            *(f"  {line}" for line in text_table(models_table(comparison), LEFT)),
            *(f"  - {sentence}" for sentence in sentences),
            f"  in symbols: {_quantities(comparison)}",
        ]
    )


def comparison_bundle(comparison: Comparison) -> tuple[Bundle, dict[str, object]]:
    """Return a comparison as text and HTML, with the seconds as metadata."""
    notes, pairs = comparison.notes, pair_sentences(comparison)
    nest = nest_of(comparison.plan).under_way(not_run(*comparison.values()))
    shown = bundle(
        comparison_text(comparison),
        f'<div style="{FAINT}">{escape(caption(comparison))}</div>',
        f'<div style="font-size:17px"><b>{escape(comparison.verdict)}</b></div>',
        html_table(models_table(comparison, pictures=True), LEFT),
        folded(f"Every pair ({len(pairs)})", html_list(pairs)),
        folded(count(len(notes), "note"), html_list(notes)) if notes else "",
        folded("Row map", draw_nest(nest).img),
        folded("Symbols", f"<div>{html(_quantities(comparison))}</div>"),
    )
    seconds = sum(record_of(result).table.seconds for result in comparison.values())
    return shown, {"cvnb": {"seconds": seconds}}


def caption(comparison: Comparison) -> str:
    """Return the number of models, and the recipe with the splits of those that choose."""
    results = comparison.values()
    fullest = max(results, key=lambda result: result.plan.n_inner)
    models = count(len(comparison), "model")
    return f"{models} on the same splits: {recipe_words(fullest)}"


def models_table(comparison: Comparison, pictures: bool = False) -> Table:
    """Return one row per model, the best first.

    pictures: whether a column of HTML draws interval and folds on one axis
    """
    results = {name: comparison[name] for name in comparison.ranked}
    scale, first = scale_of(*results.values()), next(iter(results.values()))
    is_measured = all(result.risk is not None for result in results.values())
    drawn = _pictures(results) if pictures and is_measured else None
    to_best = "to the best (points)" if scale.in_percent else "to the best"
    head = ["model", shown_number(first)]
    head += [FOLDS] * (drawn is not None)
    head += ["95 % interval", to_best, "Holm p"] * is_measured
    head += ["chosen (times)", "fit seconds"]
    rows: list[Sequence[str]] = []
    for place, (name, result) in enumerate(results.items()):
        row = [name, scale.write(result.flat if result.risk is None else result.risk)]
        row += [drawn[place]] if drawn is not None else []
        if is_measured:
            row += [_interval(result, scale), *_to_best(comparison, name, scale)]
        rows.append([*row, choices(result), _seconds(result)])
    return head, rows


def _pictures(results: dict[str, RiskEstimate]) -> list[Markup]:
    lines = []
    for place, (name, result) in enumerate(results.items()):
        loss, interval = record_of(result).loss, shown_interval(result)
        folds = [float(loss.shown(x)) for x in result.fold_risks]
        line = Line(
            loss.shown(result.risk),
            None if interval is None else interval.low,
            None if interval is None else interval.high,
            folds,
            words=f"{name}: {scale_of(result).write(result.risk)}",
            strong=not place,
        )
        lines.append(line)
    return [Markup(picture.img) for picture in draw_lines(lines)]


def _interval(result: RiskEstimate, scale: Scale) -> str:
    interval = shown_interval(result)
    return "–" if interval is None else scale.bare_ends(interval.low, interval.high)


def _to_best(comparison: Comparison, name: str, scale: Scale) -> list[str]:
    """Return the difference to the best with its interval, and p after Holm's correction."""
    pair = comparison.against_best(name)
    if pair is None:
        return ["–"] * 2
    difference = scale.bare_difference(pair.difference)
    if (ends := pair.shown_ends) is not None:
        difference += f" ({scale.ends_of_difference(*ends)})"
    return [difference, "–" if pair.p_holm is None else f"{pair.p_holm:.2g}"]


def choices(result: RiskEstimate) -> str:
    """Return "k 4 ×3, 1, 8": what was chosen, and how often; settings of several parameters
    as "C=1, gamma=0.1 ×3; ..."."""
    if len(result.settings) == 1:
        return "–"
    names = shown_settings(result.settings)
    parameters = set(shown_names(result.settings).values())
    only = parameters.pop() if len(parameters) == 1 else ""
    texts = [names[s].removeprefix(f"{only}=") for s in result.chosen_index]
    counts = Counter(texts).most_common()
    shown = [f"{name} ×{n}" if n > 1 else name for name, n in counts[:SHOWN_CHOICES]]
    shown += ["…"] * (len(counts) > SHOWN_CHOICES)
    return f"{only} {', '.join(shown)}" if only else "; ".join(shown) or "–"


def _seconds(result: RiskEstimate) -> str:
    seconds = record_of(result).table.seconds
    return f"{seconds:.0f}" if seconds >= FEW_SECONDS else f"< {FEW_SECONDS}"


def pair_sentences(comparison: Comparison) -> list[str]:
    """Return a sentence for each two models."""
    return [pair.sentence for pair in comparison.pairs]


def _quantities(comparison: Comparison) -> str:
    """Return what the numbers estimate: one sentence if it is the same for all models."""
    quantities = {name: result.quantity for name, result in comparison.items()}
    distinct = set(quantities.values())
    if len(distinct) == 1:
        return distinct.pop()
    return "; ".join(f"{name}: {quantity}" for name, quantity in quantities.items())
