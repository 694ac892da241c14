"""The sentences of an advice: what the number estimates, what the splits respect, the cost."""

from __future__ import annotations

import math

import numpy as np

from ..results.estimate import quantity_of
from ..splits.durations import buffer_words, is_in_time
from ..splits.specs import Folds
from ..splits.splitters import share_of
from ..splits.strata import class_name
from ..splits.timing import FORWARD
from ..wording import count
from .request import FeasibleRecipe, Request

ALPHA = 0.05
FEW_GROUPS = 10  # or fewer
FEW_ROWS = 3  # of the rarest class in a test part, on average


def enough_rows(request: Request) -> str:
    """Return how precise the risk is on a test set of many rows."""
    n = share_of(0.2, request.n_units)
    rows = count(request.n_units, request.unit)
    return f"{rows} are many: a test set of {n} measures {_precision(request, n)}"


def too_few_rows(request: Request) -> str:
    """Return how imprecise the risk is on a test set of few rows."""
    n = share_of(0.2, request.n_units)
    rows = count(request.n_units, request.unit)
    precision = _precision(request, n, "only ")
    return f"{rows} are few: a test set of {n} measures {precision}"


def _precision(request: Request, n: int, only: str = "") -> str:
    """Return the precision of a risk on n independent rows or groups.

    By Hoeffding's inequality, or in standard deviations of the loss.
    """
    if request.data.task == "regression":
        spread = f"±{2 / math.sqrt(n):.2g} standard deviations"
        return f"the risk {only}to {spread} of the loss (about 95 %)"
    bound = min(1.0, math.sqrt(math.log(2 / ALPHA) / (2 * n)))
    return f"a 0-1 risk {only}to ±{bound:.2g} (Hoeffding, 95 %)"


def of_the_estimate(request: Request, chosen: FeasibleRecipe) -> list[str]:
    """Return what the number means, what it does not, and which predictor to keep."""
    plan = chosen.plan
    quantity = quantity_of(plan, request.is_tuned)
    if plan.outer_layout is None:
        return [f"The number: {quantity}."]
    sentences = [f"It estimates {quantity}."]
    if request.is_tuned:
        sentences.append(
            "Ruled out: the smallest loss of Recipe.internal_cv(). The same splits choose "
            "and measure, so it is too low on average, though often by little."
        )
    if request.options["time_ordered"]:
        sentences.append(
            "Ruled out: shuffled splits, which train on rows newer than those they test."
        )
    if request.goal == "predictor":
        subject = "procedure, not of one predictor"
        if len(plan.outer) == 1:
            subject = "tested predictor"
        sentences.append(
            f"The number is the risk of the {subject}; the predictor to keep, result.predictor(), "
            f"is trained on all {request.n_rows} rows."
        )
    return sentences


def of_the_splits(request: Request, chosen: FeasibleRecipe) -> list[str]:
    """Return what the splits do with classes, groups and the buffer, and why folds are few."""
    sentences, limit = [], count(request.n_rows, "row")
    data, time_ordered = request.data, request.options["time_ordered"]
    if data.task == "classification" and not time_ordered:
        classes, codes = data.classes
        limit = f"a class of {count(int(np.bincount(codes).min()), 'row')}"
        noun = "class" if len(classes) == 1 else "classes"
        sentences.append(
            f"{len(classes)} {noun}, kept in proportion in all parts where possible."
        )
    if data.groups is not None:
        limit = count(request.n_units, "group")
        sentences.append(
            f"{limit}; no drawn split divides one of them. Give groups= to the run too."
        )
        if n := _n_divided_groups(request):
            sentences.append(
                f"{count(n, 'group')} of them with rows both in the given test part and "
                "outside it, so the test part says nothing about new groups."
            )
    if buffer := request.options["buffer"]:
        words = f"The {buffer_words(buffer, data.times)}"
        if is_in_time(buffer, data.times):
            words = f"Rows within {buffer_words(buffer, data.times)}"
        side = "on each side of every boundary in time"
        if time_ordered == FORWARD:
            side = "before every test part"
        sentences.append(f"{words} {side} are left out of training.")
    return [*sentences, *_few_folds(chosen, limit), *_few_units(request, chosen)]


def _few_units(request: Request, chosen: FeasibleRecipe) -> list[str]:
    """Return what few groups, or few rows of a class in a test part, mean for the number."""
    sentences, layout = [], chosen.plan.outer_layout
    if layout is None:
        return []
    if request.data.groups is not None and request.n_units <= FEW_GROUPS:
        sentences.append(
            f"{request.n_units} groups are few: the number says little about new ones, and "
            "its interval is too narrow."
        )
    if request.data.task == "classification":
        classes, codes = request.data.classes
        rarest = int(np.argmin(np.bincount(codes)))
        n_rare = int(np.bincount(codes)[rarest])
        if n_rare < FEW_ROWS * len(layout) and layout.sizes()[:, 1].max() > 1:
            name, each = class_name(classes[rarest]), n_rare / len(layout)
            sentences.append(
                f"Class {name} has about {each:.2g} rows in each test part, so what is "
                "measured on that class alone, such as recall or AUC, hangs on single rows."
            )
    return sentences


def _few_folds(chosen: FeasibleRecipe, limit: str) -> list[str]:
    recipe = chosen.recipe
    levels = ("outer", recipe.outer_spec), ("inner", recipe.inner_spec)
    few = [
        f"{spec.n_splits} {level}"
        for level, spec in levels
        if isinstance(spec, Folds) and spec.n_splits < 5
    ]
    verb = "allows" if limit.startswith("a ") else "allow"
    return [f"{' and '.join(few)} folds: {limit} {verb} no more."] if few else []


def _n_divided_groups(request: Request) -> int:
    """Return the number of groups with rows in the given test part and outside it."""
    groups = request.data.groups
    if request.test_rows is None or groups is None:
        return 0
    is_test = np.zeros(request.n_rows, dtype=bool)
    is_test[np.asarray(request.test_rows)] = True
    return int(np.intersect1d(groups[is_test], groups[~is_test]).size)


def of_the_cost(request: Request, chosen: FeasibleRecipe) -> list[str]:
    """Return the number of fits; a formula if the number of settings is not known."""
    plan, n_settings = chosen.plan, chosen.n_settings
    n_last = len(plan.inner[0]) if plan.inner_layouts is not None else 0
    if n_settings is None:
        outer = f" + {len(plan.outer)}" if plan.outer else ""
        return [
            f"Cost for a grid of C settings: {_times_c(plan.n_inner)}{outer} fits, and "
            f"{_times_c(n_last)} + 1 for the predictor to keep; give family= for the number."
        ]
    cost = f"Cost for {count(n_settings, 'setting')}: {count(chosen.n_fits, 'fit')}"
    if request.goal != "estimate":
        cost += f", and {n_last * n_settings + 1} for the predictor to keep"
    if chosen.is_fast:
        cost += ", computed together"
    reasons = dict.fromkeys(
        path.reason for path in chosen.paths if chosen.is_fast or path.name == "refit"
    )
    return [f"{cost} – {'; '.join(reasons)}."]


def _times_c(n: int) -> str:
    return "C" if n == 1 else f"{n} C"
