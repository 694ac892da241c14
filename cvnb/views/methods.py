"""The methods paragraph of a paper: what was estimated, how, from what, with which software, and the number."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np

from ..families.family import estimator_label, format_value
from ..results.estimate import Record, RiskEstimate, record_of, training_sizes
from ..splits.specs import Given, Listed
from ..wording import count, number, spread
from .display import interval_words

SOFTWARE = ("cvnb", "scikit-learn", "numpy", "scipy", "numba")


def methods_of(result: RiskEstimate) -> str:
    """A paragraph for the methods section.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> methods_of(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))[:83]
    'The zero-one risk of "choose the setting, then train" was estimated by nested CV. T'
    """
    record = record_of(result)
    how = [
        _what(result),
        _data(record),
        _family(record),
        *_splits(result),
        *_choice(result),
    ]
    return " ".join([*how, _number(result), _software(result)])


def _what(result: RiskEstimate) -> str:
    record, tuned = record_of(result), len(result.settings) > 1
    if result.plan.outer_layout is None and not tuned:
        return "The loss of one setting was measured by the splits inside S."
    if result.plan.outer_layout is None:
        return f"The setting was found by {record.recipe.name}; no risk was estimated."
    rule = '"choose the setting, then train"' if tuned else "the learning algorithm"
    if len(result.plan.outer) == 1:
        rule = f"the predictor{' trained with the setting chosen' * tuned}"
    loss = record.loss
    what = (
        f"{loss.words} (a score: large is good)"
        if loss.is_score
        else f"{loss.name} risk"
    )
    return f"The {what} of {rule} was estimated by {record.in_effect.name}."


def _data(record: Record) -> str:
    data = record.data
    having = [count(data.n_columns, "column")]
    if data.groups is not None:
        having.append(count(np.unique(data.groups).size, "group"))
    if data.weights is not None:
        having.append("weights of the rows")
    return f"The data are {count(data.n_rows, 'row')} with {', '.join(having)}."


def _family(record: Record) -> str:
    axes: dict[str, dict[str, None]] = {}
    for setting in record.family.settings:
        for key, value in setting.items():
            axes.setdefault(key, {})[format_value(value)] = None
    label = estimator_label(record.family.estimator)
    if len(record.family.settings) == 1:
        given = ", ".join(f"{key}={next(iter(values))}" for key, values in axes.items())
        return f"The estimator was {label}{' with ' * bool(given)}{given}."
    grids = "; ".join(
        f"{key} in {{{_listed(list(values))}}}" for key, values in axes.items()
    )
    return f"The estimator was {label}, with {count(len(record.family.settings), 'setting')}: {grids}."


def _listed(values: list[str]) -> str:
    return ", ".join(values if len(values) <= 8 else [*values[:3], "…", values[-1]])


def _splits(result: RiskEstimate) -> list[str]:
    plan, said = result.plan, []
    if plan.outer_layout is not None:
        sizes = plan.outer.layout.sizes()
        parts = f"{spread(sizes[:, 0])} training rows, {spread(sizes[:, 1])} test rows"
        said.append(f"Outside: {plan.outer_words} ({parts}).")
    if plan.inner_words:
        inside = (
            "Inside S",
            "Inside the training part",
            "Inside each outer training part",
        )[min(2, len(plan.outer))]
        said.append(f"{inside}: {plan.inner_words}.")
    return [*said, _how_drawn(record_of(result))]


def _how_drawn(record: Record) -> str:
    """Shuffled or in time, classes in proportion, groups kept together, before any fit, from which seed."""
    recipe = record.in_effect
    used = [
        recipe.outer_spec,
        record.inner_spec if recipe.inner_spec is not None else None,
    ]
    specs = [spec for spec in used if spec is not None]
    if all(isinstance(spec, Given | Listed) for spec in specs):
        return "The splits were used as given."
    how = []
    if recipe.time_ordered:
        buffer = (
            f" with {count(recipe.buffer, 'row')} left out on both sides"
            if recipe.buffer
            else ""
        )
        how.append(f"test parts contiguous in time{buffer}")
    elif recipe.uses_seed:
        how.append("rows shuffled")
    if (
        record.work.task == "classification"
        and recipe.stratify is not False
        and recipe.uses_seed
    ):
        how.append("classes kept in proportion")
    if record.data.groups is not None:
        how.append("groups kept together")
    inside = f" (inside: seed {recipe.seed + 1})" if len(specs) == 2 else ""
    seed = f" from seed {recipe.seed}{inside}" if recipe.uses_seed else ""
    return f"All splits were drawn once{seed}, before any fit{': ' * bool(how)}{', '.join(how)}."


def _choice(result: RiskEstimate) -> list[str]:
    if result.inner_curves is None or len(result.settings) == 1:
        return []
    record = record_of(result)
    if not record.work.rule.takes_first:
        return [
            f"The setting was chosen by {record.work.rule.words.removeprefix(' and ')}."
        ]
    best = "largest" if record.loss.is_score else "smallest"
    return [
        f"The setting with the {best} mean inner {record.loss.words} was chosen, the first in grid order of equal ones."
    ]


def _number(result: RiskEstimate) -> str:
    loss, n = record_of(result).loss, len(result.fold_risks)
    flat = number(loss.shown(result.flat))
    if result.plan.outer_layout is None:
        at = f"{flat} after training on {spread(training_sizes(result.plan))} rows"
        if len(result.settings) == 1:
            return f"The mean inner {loss.words} of the one setting is {at}."
        best = "largest" if loss.is_score else "smallest"
        return f"The {best} mean inner {loss.words}, {at}, is optimistic as an estimate of the risk."
    if not n:
        return "No risk was estimated: the run was interrupted before any outer split was finished."
    part = (
        ""
        if result.complete
        else f" (the run was interrupted after {n} of {count(len(result.plan.outer), 'outer split')})"
    )
    mean = "" if n == 1 else f", the mean over {count(n, 'outer split')}"
    quantity = ", ".join(result.quantity.split(", ")[:2])  # without how θ is chosen
    said = (
        f"The estimate of {quantity}, is {number(loss.shown(result.risk))}{mean}{part}"
    )
    interval = interval_words(result)
    tuned = result.optimism is not None and len(result.settings) > 1
    return f"{said}{'; ' * bool(interval)}{interval}.{f' The optimistic flat estimate would be {flat}.' * tuned}"


def _software(result: RiskEstimate) -> str:
    """The versions that were at work, and the path."""
    names = ", ".join(f"{name} {version(name)}" for name in SOFTWARE)
    return f"Computed with {names} under Python {platform.python_version()}, losses by the path {result.path}."
