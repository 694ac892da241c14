"""The methods paragraph of a paper: estimand, data, model, splits, number, software."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np

from ..families.labels import estimator_label
from ..results.estimate import Record, RiskEstimate, record_of
from ..results.quantity import training_sizes
from ..splits.specs import GivenSplitter, ListedSplits
from ..wording import count, number, spread
from .inputs import grid_values
from .phrases import interval_words

SOFTWARE = ("cvnb", "scikit-learn", "numpy", "scipy", "numba")


def methods_of(result: RiskEstimate) -> str:
    """Return a paragraph for the methods section.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> methods_of(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))[:83]
    'The zero-one risk of "choose the setting, then train" was estimated by nested CV. T'
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
        _software(result),
    ]
    return " ".join(sentences)


def _estimand(result: RiskEstimate) -> str:
    record, tuned = record_of(result), len(result.settings) > 1
    if result.plan.outer_layout is None and not tuned:
        return "The loss of one setting was measured by the splits inside S."
    if result.plan.outer_layout is None:
        return f"The setting was found by {record.recipe.name}; no risk was estimated."
    rule = '"choose the setting, then train"' if tuned else "the learning algorithm"
    if len(result.plan.outer) == 1:
        rule = f"the predictor{' trained with the setting chosen' * tuned}"
    loss = record.loss
    name = f"{loss.name} risk"
    if loss.is_score:
        name = f"{loss.words} (a score: large is good)"
    return f"The {name} of {rule} was estimated by {record.in_effect.name}."


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
    grids = "; ".join(f"{key} in {{{_listed(grid[key])}}}" for key in grid)
    n_settings = count(len(family.settings), "setting")
    return f"The estimator was {label}, with {n_settings}: {grids}."


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
        rows = count(recipe.buffer, "row")
        buffer = f" with {rows} left out on both sides" if recipe.buffer else ""
        properties.append(f"test parts contiguous in time{buffer}")
    elif recipe.uses_seed:
        properties.append("rows shuffled")
        if record.work.task == "classification" and recipe.stratify is not False:
            properties.append("classes kept in proportion")
    if record.data.groups is not None:
        properties.append("groups kept together")
    inside = f" (inside: seed {recipe.seed + 1})" if len(specs) == 2 else ""
    seed = f" from seed {recipe.seed}{inside}" if recipe.uses_seed else ""
    colon = ": " if properties else ""
    return f"All splits were drawn once{seed}, before any fit{colon}{', '.join(properties)}."


def _choice(result: RiskEstimate) -> list[str]:
    if result.inner_curves is None or len(result.settings) == 1:
        return []
    record = record_of(result)
    rule = record.work.rule
    if not rule.takes_first:
        return [f"The setting was chosen by {rule.words.removeprefix(' and ')}."]
    best = "largest" if record.loss.is_score else "smallest"
    return [
        f"The setting with the {best} mean inner {record.loss.words} was chosen, the "
        "first in grid order of equal ones."
    ]


def _number(result: RiskEstimate) -> str:
    if result.plan.outer_layout is None:
        return _inner_number(result)
    loss, n = record_of(result).loss, len(result.fold_risks)
    if not n:
        return (
            "No risk was estimated: the run was interrupted before any outer split "
            "was finished."
        )
    quantity = ", ".join(result.quantity.split(", ")[:2])  # without the rule of choice
    sentence = f"The estimate of {quantity}, is {number(loss.shown(result.risk))}"
    if n > 1:
        sentence += f", the mean over {count(n, 'outer split')}"
    if not result.complete:
        planned = count(len(result.plan.outer), "outer split")
        sentence += f" (the run was interrupted after {n} of {planned})"
    interval = interval_words(result)
    if interval:
        sentence += f"; {interval}"
    if result.optimism is None or len(result.settings) == 1:
        return f"{sentence}."
    flat = number(loss.shown(result.flat))
    return f"{sentence}. The optimistic flat estimate would be {flat}."


def _inner_number(result: RiskEstimate) -> str:
    loss = record_of(result).loss
    rows = spread(training_sizes(result.plan))
    number_at = f"{number(loss.shown(result.flat))} after training on {rows} rows"
    if len(result.settings) == 1:
        return f"The mean inner {loss.words} of the one setting is {number_at}."
    best = "largest" if loss.is_score else "smallest"
    return (
        f"The {best} mean inner {loss.words}, {number_at}, "
        "is optimistic as an estimate of the risk."
    )


def _software(result: RiskEstimate) -> str:
    """The versions of the packages, and the path."""
    names = ", ".join(f"{name} {version(name)}" for name in SOFTWARE)
    python = f"Python {platform.python_version()}"
    return f"Computed with {names} under {python}, losses by the path {result.path}."
