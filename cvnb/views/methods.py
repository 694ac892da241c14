"""The methods paragraph of a paper: estimand, data, model, splits, number, software."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np

from ..families.labels import estimator_label
from ..results.estimate import Record, RiskEstimate, record_of
from ..results.quantity import training_sizes
from ..results.scales import scale_of
from ..splits.durations import buffer_words
from ..splits.specs import GivenSplitter, ListedSplits, is_whole
from ..splits.timing import FORWARD
from ..wording import count, spread
from .inputs import drawn_from, grid_values
from .phrases import (
    baseline_words,
    interval_words,
    shown_baseline,
    shown_interval,
)

SOFTWARE = ("cvnb", "scikit-learn", "numpy", "scipy", "numba")
BAYLE = (
    "Bayle et al. 2020",
    "Bayle P, Bayle A, Janson L, Mackey L (2020). Cross-validation confidence intervals for "
    "test error. NeurIPS 33.",
)
# A method of this project -> (citation, reference)
WORKS = {
    "nested": (
        "Varma and Simon 2006",
        "Varma S, Simon R (2006). Bias in error estimation when using cross-validation for "
        "model selection. BMC Bioinformatics 7, 91.",
    ),
    "bayle": BAYLE,
    "few_rows": BAYLE,
    "corrected_t": (
        "Nadeau and Bengio 2003",
        "Nadeau C, Bengio Y (2003). Inference for the generalization error. Machine Learning "
        "52, 239-281.",
    ),
    "wilson": (
        "Wilson 1927",
        "Wilson EB (1927). Probable inference, the law of succession, and statistical "
        "inference. JASA 22, 209-212.",
    ),
    "hoeffding": (
        "Hoeffding 1963",
        "Hoeffding W (1963). Probability inequalities for sums of bounded random variables. "
        "JASA 58, 13-30.",
    ),
    "ncv": (
        "Bates et al. 2023",
        "Bates S, Hastie T, Tibshirani R (2023). Cross-validation: what does it estimate and "
        "how well does it do it? JASA 119, 1434-1445.",
    ),
}


def methods_of(result: RiskEstimate) -> str:
    """Return a paragraph for the methods section, without symbols.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> methods_of(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))[:84]
    'The error rate on new rows of choosing the setting and training was estimated by nes'
    """
    record = record_of(result)
    sentences = [
        _estimand(result),
        _data(record),
        _family(record),
        *_splits(result),
        _drawing(record),
        *_choice(result),
        _number(result),
        *_compared(result),
        _software(result),
    ]
    return " ".join(sentences)


def references_of(result: RiskEstimate) -> list[str]:
    """Return the works that the paragraph cites."""
    interval = shown_interval(result)
    is_nested = len(result.plan.outer) > 1 and len(result.settings) > 1
    keys = ["nested"] * is_nested + [interval.method if interval else ""]
    return [WORKS[key][1] for key in keys if key in WORKS]


def checklist_of(result: RiskEstimate) -> str:
    """Return which items of the REFORMS checklist the page answers, by number."""
    items = ["2b (code)", "5c (evaluation, splits)"]
    if len(result.settings) > 1:
        items.append("5d and 5e (choice of the setting)")
    if result.risk is not None:
        items += ["6a (test rows take no part in training)", "7a (metric)"]
        items += ["5f (baseline)"] * (shown_baseline(result) is not None)
        items += ["7b (uncertainty)"] * (shown_interval(result) is not None)
    return (
        f"This page answers items {', '.join(sorted(items))} of the REFORMS checklist "
        "(Kapoor et al. 2024, Science Advances 10, eadk3452)."
    )


def _estimand(result: RiskEstimate) -> str:
    record, tuned = record_of(result), len(result.settings) > 1
    if result.plan.outer_layout is None and not tuned:
        return "One setting was measured on the inner splits."
    if result.plan.outer_layout is None:
        return (
            f"The setting was found by {record.recipe.name}; its error on new rows was "
            "not estimated."
        )
    subject = "choosing the setting and training" if tuned else "the learning algorithm"
    if len(result.plan.outer) == 1:
        subject = f"the model{' trained with the setting chosen' * tuned}"
    name = record.loss.words
    is_nested = len(result.plan.outer) > 1 and tuned
    cited = f" ({WORKS['nested'][0]})" * is_nested
    recipe = record.in_effect.name
    return f"The {name} on new rows of {subject} was estimated by {recipe}{cited}."


def _data(record: Record) -> str:
    data = record.data
    parts = [count(data.n_columns, "column")]
    if data.groups is not None:
        parts.append(count(np.unique(data.groups).size, "group"))
    if data.weights is not None:
        parts.append("weights of the rows")
    return f"The data are {count(data.n_rows, 'row')} with {', '.join(parts)}."


def _family(record: Record) -> str:
    family, grid = record.family, grid_values(record.family)
    label = estimator_label(family.estimator)
    if len(family.settings) == 1:
        values = ", ".join(f"{key}={values[0]}" for key, values in grid.items())
        return f"The estimator was {label}{' with ' * bool(values)}{values}."
    ranges = drawn_from(family)
    grids = "; ".join(
        f"{key} from {ranges[key]}"
        if key in ranges
        else f"{key} in {{{_listed(grid[key])}}}"
        for key in grid
    )
    n_settings = count(len(family.settings), "setting")
    drawn = f" {family.drawing.words}" if family.drawing else ""
    return f"The estimator was {label}, with {n_settings}{drawn}: {grids}."


def _listed(values: list[str]) -> str:
    return ", ".join(values if len(values) <= 8 else [*values[:3], "…", values[-1]])


def _splits(result: RiskEstimate) -> list[str]:
    plan, sentences = result.plan, []
    if plan.outer_layout is not None:
        sizes = plan.outer.layout.sizes()
        parts = f"{spread(sizes[:, 0])} training rows, {spread(sizes[:, 1])} test rows"
        sentences.append(f"Outside: {plan.outer_words} ({parts}).")
    if plan.inner_words:
        places = ("S", "the training part", "each outer training part")
        place = places[min(2, len(plan.outer))]
        sentences.append(f"Inside {place}: {plan.inner_words}.")
    return sentences


def _drawing(record: Record) -> str:
    """How the splits were drawn: order, stratification, groups, seed."""
    recipe = record.in_effect
    inner = None if recipe.inner_spec is None else record.inner_spec
    specs = [spec for spec in (recipe.outer_spec, inner) if spec is not None]
    if all(isinstance(spec, GivenSplitter | ListedSplits) for spec in specs):
        return "The splits were used as given."
    properties = []
    if recipe.time_ordered:
        properties.append(_in_time(record))
    elif recipe.uses_seed:
        properties.append("rows shuffled")
        if is_whole(recipe.stratify):
            properties.append(
                f"{recipe.stratify} quantile bins of the target kept in proportion"
            )
        elif record.work.task == "classification" and recipe.stratify is not False:
            properties.append("classes kept in proportion")
    if record.data.groups is not None:
        properties.append("groups kept together")
    inside = f" (inside: seed {recipe.seed + 1})" if len(specs) == 2 else ""
    seed = f" from seed {recipe.seed}{inside}" if recipe.uses_seed else ""
    colon = ": " if properties else ""
    return f"All splits were drawn once{seed}, before any fit{colon}{', '.join(properties)}."


def _in_time(record: Record) -> str:
    """The design of splits in the order of time, and the buffer."""
    recipe = record.in_effect
    words = buffer_words(recipe.buffer, record.data.times)
    if recipe.time_ordered == FORWARD:
        buffer = f", with {words} left out between them" if recipe.buffer else ""
        return f"every training row older than every test row{buffer}"
    buffer = f" with {words} left out on both sides" if recipe.buffer else ""
    return f"test parts contiguous in time{buffer}"


def _choice(result: RiskEstimate) -> list[str]:
    if result.inner_curves is None or len(result.settings) == 1:
        return []
    record = record_of(result)
    rule = record.work.rule
    if not rule.takes_first:
        return [f"The setting was chosen by {rule.words.removeprefix(' and ')}."]
    best = "largest" if record.loss.is_score else "smallest"
    order = "drawn" if record.family.drawing else "in the order of the grid"
    return [
        f"The setting with the {best} mean {record.loss.words} on the inner test rows was "
        f"chosen, the first {order} where several were equal."
    ]


def _number(result: RiskEstimate) -> str:
    if result.plan.outer_layout is None:
        return _inner_number(result)
    loss, n = record_of(result).loss, len(result.fold_risks)
    if not n:
        return (
            "Nothing was estimated: the run was interrupted before any outer split "
            "was finished."
        )
    sentence = f"The {loss.words} was {scale_of(result).write(result.risk)}"
    if n > 1:
        sentence += f", the mean over {count(n, 'outer split')}"
    if not result.complete:
        planned = count(len(result.plan.outer), "outer split")
        sentence += f" (the run was interrupted after {n} of {planned})"
    interval = shown_interval(result)
    if interval is not None:
        cited, _ = WORKS.get(interval.method, (interval.method, ""))
        sentence += f"; {interval_words(result)} ({cited})"
    return f"{sentence}."


def _compared(result: RiskEstimate) -> list[str]:
    """The baseline, and what the same folds would have given."""
    sentences = [baseline_words(result)]
    if result.optimism is not None and len(result.settings) > 1:
        flat = scale_of(result).write(result.flat)
        sentences.append(
            "Choosing and scoring on the same folds, which is too optimistic on average, "
            f"would have given {flat}."
        )
    return [sentence for sentence in sentences if sentence]


def _inner_number(result: RiskEstimate) -> str:
    loss = record_of(result).loss
    rows = spread(training_sizes(result.plan))
    shown = scale_of(result).write(result.flat)
    number_at = f"{shown} after training on {rows} rows"
    if len(result.settings) == 1:
        return f"The mean {loss.words} of the one setting is {number_at}."
    best = "largest" if loss.is_score else "smallest"
    return (
        f"The {best} mean {loss.words}, {number_at}, is too optimistic as an estimate for "
        "new rows."
    )


def _software(result: RiskEstimate) -> str:
    """The versions of the packages, and the path."""
    names = ", ".join(f"{name} {version(name)}" for name in SOFTWARE)
    python = f"Python {platform.python_version()}"
    return f"Computed with {names} under {python}, method {result.path}."
