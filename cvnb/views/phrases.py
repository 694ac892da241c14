"""A result in short phrases: its number, recipe, interval, choices and flat estimate."""

from __future__ import annotations

from collections import Counter

from ..errors import InputError
from ..families.labels import format_setting
from ..results.estimate import RiskEstimate, record_of
from ..wording import number


def headline(result: RiskEstimate) -> tuple[str, str]:
    """Return (the number, its name)."""
    loss, tuned = record_of(result).loss, len(result.settings) > 1
    if result.risk is None and result.plan.outer_layout is not None:
        reason = "not measured, because no outer split was finished"
        return number(None), f"{shown_number(result)}: {reason}"
    if result.risk is None:
        optimistic = ": optimistic, not an estimate of the risk" * tuned
        return number(loss.shown(result.flat)), f"{inner_words(result)}{optimistic}"
    if len(result.plan.outer) == 1:
        rule = "tuned predictor" if tuned else "predictor"
    else:
        rule = "tuned rule" if tuned else "algorithm"
    if loss.is_score:
        name = f"{loss.words} of the {rule} (a score: large is good)"
    else:
        name = f"{loss.name} risk of the {rule}"
    return number(loss.shown(result.risk)), name


def shown_number(result: RiskEstimate) -> str:
    """Return the name of the number in the column of a comparison."""
    if result.plan.outer_layout is None:
        return inner_words(result)
    return record_of(result).loss.shown_name


def inner_words(result: RiskEstimate) -> str:
    """Return the name of min_s inner_curves[0, s]."""
    loss = record_of(result).loss
    if len(result.settings) == 1:
        return f"inner {loss.words} of one setting"
    return f"{'largest' if loss.is_score else 'smallest'} inner {loss.words}"


def recipe_words(result: RiskEstimate) -> str:
    """Return the recipe, its splits, the seed and the size of the data.

    "CV then test (a test set of 9 rows, inside the training part 5-fold CV), seed 0; 45
    rows × 3 columns".
    """
    record = record_of(result)
    recipe, data = record.in_effect, record.data
    seed = f", seed {record.recipe.seed}" if recipe.uses_seed else ""
    size = f"{data.n_rows} rows × {data.n_columns} columns"
    return f"{recipe.name} ({record.plan.words}){seed}; {size}"


def interval_words(result: RiskEstimate) -> str:
    """Return "95 % interval 0.02 to 0.06 (bayle) for …"; "" if no interval is valid."""
    try:
        interval = result.interval()
    except InputError:
        return ""
    loss = record_of(result).loss
    ends = sorted(
        float(loss.shown(end) or 0.0) for end in (interval.low, interval.high)
    )
    # Without the size, which is in the line of the quantity.
    target = interval.target.split(", |S|")[0].split(": E[")[0]
    shown = " to ".join(map(number, ends))
    return f"95 % interval {shown} ({interval.method}) for {target}"


def doubt_words(result: RiskEstimate) -> str:
    """Return why the interval may mislead, as a sentence; "" if nothing is suspicious."""
    try:
        warning = result.interval().warning
    except InputError:
        return ""
    return warning.replace("It may", "The interval may", 1)


def choice_words(result: RiskEstimate) -> str:
    """Return "k=4 chosen in 3 of 5 splits, k=1 in 1, k=8 in 1".

    "" if there is one setting only, or one split.
    """
    n_splits = len(result.chosen)
    if len(result.settings) == 1 or n_splits < 2:
        return ""
    counts = Counter(format_setting(setting) for setting in result.chosen)
    (first, n), *others = counts.most_common()
    if not others:
        return f"{first} chosen in all {n} splits"
    more = ", ".join(f"{setting} in {m}" for setting, m in others[:3])
    dots = ", …" if len(others) > 3 else ""
    return f"{first} chosen in {n} of {n_splits} splits, {more}{dots}"


def flat_words(result: RiskEstimate) -> str:
    """Return the flat estimate and its difference from the risk; "" if it is not known."""
    if result.optimism is None or len(result.settings) == 1:
        return ""
    loss = record_of(result).loss
    flat = f"flat estimate {number(loss.shown(result.flat))} (optimistic)"
    if number(result.flat) == number(result.risk):  # they may differ by rounding errors
        return f"{flat}, the same here"
    side = "below" if (result.optimism >= 0) != loss.is_score else "above"
    reference = "it" if loss.is_score else "the risk"
    return f"{flat}, {number(abs(result.optimism))} {side} {reference}"
