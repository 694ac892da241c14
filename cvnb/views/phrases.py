"""A result in short phrases of plain English: its number, interval, baseline, choices."""

from __future__ import annotations

from collections import Counter

from ..errors import InputError
from ..families.labels import shown_settings
from ..inference.interval import Interval
from ..results.baseline import Baseline
from ..results.estimate import RiskEstimate, record_of
from ..results.scales import root_words, scale_of

# Outer splits up to which a display fits the baseline, which takes a millisecond for each.
MOST_BASELINES = 500
GUESSES = {
    "majority class": "Always guessing the commonest class",
    "class shares": "Always giving each class its share",
    "mean": "Always predicting the mean of y",
    "median": "Always predicting the median of y",
}


def headline(result: RiskEstimate) -> tuple[str, str]:
    """Return (the number, what it is): ("4.2 %", "of new rows misclassified")."""
    loss, scale = record_of(result).loss, scale_of(result)
    if result.risk is None and result.plan.outer_layout is not None:
        reason = "not measured, because no outer split was finished"
        return "–", f"{loss.shown_name}: {reason}"
    if result.risk is None:
        return scale.write(result.flat), inner_words(result)
    name = f"{loss.words} on new rows{' (large is good)' * loss.is_score}"
    if loss.zero_one:
        name = "of new rows classified correctly"
        if not loss.is_score:
            name = "of new rows misclassified"
    if root := root_words(result):
        name += f"; its root, {root}, is in the units of y"
    if loss.name == "absolute":
        name += ", in the units of y"
    return scale.write(result.risk), name


def inner_words(result: RiskEstimate) -> str:
    """Return what the minimum of the inner curve is, where nothing is measured outside."""
    name = record_of(result).loss.words
    if len(result.settings) == 1:
        return f"{name} of one setting by {result.plan.inner_words}"
    return (
        f"{name} on the folds that chose the setting: "
        "optimistic, not an estimate for new rows"
    )


def shown_number(result: RiskEstimate) -> str:
    """Return the name of the number in the column of a comparison."""
    loss = record_of(result).loss
    if result.plan.outer_layout is None:
        return f"inner {loss.shown_name}"
    return loss.shown_name


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


def shown_interval(result: RiskEstimate) -> Interval | None:
    """Return the interval of a result; None where none is valid."""
    try:
        return result.interval()
    except InputError:
        return None


def interval_words(result: RiskEstimate) -> str:
    """Return "95 % interval 2.6 to 5.9 %, for the 5 models tested"; "" without one."""
    interval = shown_interval(result)
    if interval is None:
        return ""
    ends = scale_of(result).ends(interval.low, interval.high)
    return f"95 % interval {ends}, for {interval.covers}"


def doubt_words(result: RiskEstimate) -> str:
    """Return why the interval may mislead, as a sentence; "" if nothing is suspicious."""
    interval = shown_interval(result)
    warning = "" if interval is None else interval.warning
    return warning.replace("It may", "The interval may", 1)


def shown_baseline(result: RiskEstimate) -> Baseline | None:
    """Return the baseline of a result; None where there is none or very many splits."""
    if result.risk is None or len(result.fold_risks) > MOST_BASELINES:
        return None
    return result.baseline


def baseline_words(result: RiskEstimate) -> str:
    """Return "Always guessing the commonest class: 37 % wrong."; "" without a baseline."""
    baseline, loss = shown_baseline(result), record_of(result).loss
    if baseline is None:
        return ""
    shown = scale_of(result).write(baseline.risk)
    if loss.zero_one:
        number = f"{shown} {'right' if loss.is_score else 'wrong'}"
    else:
        number = f"{loss.words} {shown}"
    return f"{GUESSES[baseline.name]}: {number}."


def no_better_words(result: RiskEstimate) -> str:
    """Return a sentence where the risk is not below that of the baseline, else ""."""
    baseline = shown_baseline(result)
    if baseline is None or result.risk is None or result.risk < baseline.risk:
        return ""
    guess = GUESSES[baseline.name]
    return f"No better than {guess[:1].lower()}{guess[1:]}."


def choice_words(result: RiskEstimate) -> str:
    """Return "k=4 chosen in 3 of 5 folds, k=1 in 1, k=8 in 1".

    "" if there is one setting only, or one fold.
    """
    n_splits = len(result.chosen)
    if len(result.settings) == 1 or n_splits < 2:
        return ""
    names = shown_settings(result.settings)
    counts = Counter(names[s] for s in result.chosen_index)
    (first, n), *others = counts.most_common()
    if not others:
        return f"{first} chosen in all {n} folds"
    more = ", ".join(f"{setting} in {m}" for setting, m in others[:3])
    dots = ", …" if len(others) > 3 else ""
    return f"{first} chosen in {n} of {n_splits} folds, {more}{dots}"


def flat_words(result: RiskEstimate) -> str:
    """Return what the flat estimate is and how far it is off; "" if it is not known."""
    optimism = result.optimism
    if optimism is None or len(result.settings) == 1:
        return ""
    scale = scale_of(result)
    flat, risk = scale.write(result.flat), scale.write(result.risk)
    said = "Choosing and scoring on the same folds would have said"
    if flat == risk:
        return f"{said} the same."
    size = scale.size(optimism)
    if optimism > 0:
        return f"{said} {flat}: too good by {size}."
    return f"{said} {flat}: worse by {size}, by chance."
