"""The plan that the families of a run share, and what each of them needs of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import hash as hash_of

from ..data.table import Data
from ..errors import FamilyError, RecipeError
from ..families.family import Family
from ..families.self_tuning import self_tuned
from ..splits.drawing import draw
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from ..splits.specs import FixedRows, Folds, GivenSplitter, ListedSplits, is_whole
from ..wording import count
from .targets import check_target

FEW = 2  # training rows: the default grids still have several settings


def draw_shared(
    recipe: Recipe, data: Data, families: dict[str, Family]
) -> tuple[Plan, str, Any]:
    """Return (plan, task, inner splitter).

    The families decide the task, and the inner splitter where inner="auto".
    """
    tasks = {name: family.task(data.task) for name, family in families.items()}
    tasks = tasks or {"": data.task}
    if len(set(tasks.values())) > 1:
        listed = ", ".join(f"{name} is a {task}" for name, task in tasks.items())
        raise FamilyError(f"a comparison needs one task, but {listed}.")
    task = next(iter(tasks.values()))
    for family in families.values():
        check_target(data, task, family)
    tuned = {
        name: family
        for name, family in families.items()
        if len(family.resolved(task, FEW).settings) > 1
    }
    inner_spec = recipe.inner_spec
    if isinstance(inner_spec, str):
        inner_spec = _auto_inner_spec(recipe, data, tuned or families)
    chooses = tuned or not families or recipe.outer_spec is None
    return draw(recipe, data, task, inner_spec if chooses else None), task, inner_spec


def without_unused_inner(
    plan: Plan, family: Family, candidate: Any, inner_spec: Any
) -> Plan:
    """Drop the inner splits if outer splits measure a family with nothing to choose inside."""
    if len(family.settings) > 1 or plan.outer_layout is None:
        return plan
    words = "" if inner_spec is None else "nothing is chosen"
    if name := self_tuned(candidate):
        words = f"{name} tunes itself"
    return replace(plan, inner_layouts=None, inner_words=words)


def _auto_inner_spec(recipe: Recipe, data: Data, families: dict[str, Family]) -> Any:
    """Return the splitter for inner="auto": the cv that a search brings, else 5 folds."""
    specs: dict[str, Any] = {}
    for family in families.values():
        splitter = family.inner_splitter(data.y)
        if splitter is None:
            continue
        is_number = isinstance(family.cv, int | np.integer)
        draws = (
            data.groups is not None or recipe.time_ordered or is_whole(recipe.stratify)
        )
        if is_number and draws:
            # folds drawn here respect groups, times and bins; scikit-learn's would not
            splitter = Folds(int(family.cv))
        else:
            splitter = GivenSplitter(splitter, explicit=not is_number)
        specs[hash_of(splitter)] = splitter
    if len(specs) > 1:
        raise RecipeError(
            "the families bring different inner splitters "
            f"({', '.join(map(repr, specs.values()))}); give inner=."
        )
    return next(iter(specs.values()), Folds(5))


def smallest_part(plan: Plan) -> int:
    """Return the number of rows of the smallest training part."""
    outer = [] if plan.outer_layout is None else [plan.outer_layout]
    return min(int(layout.sizes()[:, 0].min()) for layout in plan.inner_kept or outer)


def divided_groups(plan: Plan, inner_spec: Any) -> list[str]:
    """Return a note if groups are on both sides of splits that were given, not drawn."""
    is_given = isinstance(inner_spec, GivenSplitter | ListedSplits | FixedRows)
    if plan.group_codes is None or (plan.outer_drawn and not is_given):
        return []
    findings = [words for words in plan.audit().findings if "groups" in words]
    if not findings:
        return []
    n_more = len(findings) - 1
    more = f" (and {count(n_more, 'more split')})" if n_more else ""
    return [f"{findings[0]}{more}: the splits given do not keep groups together."]
