"""Draw a plan: the only module that makes splits, and the only user of the recipe's seed.

Inside every outer training part the inner splitter starts from the same seed (outer seed +
1), as scikit-learn's GridSearchCV with an integer random_state does inside cross_validate.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from ..data.table import Data
from ..errors import CvnbWarning, InfeasibleError, RecipeError
from ..runtime.randomness import global_state
from ..wording import count, some, spread
from .drawer import SplitDrawer
from .layouts import Layout
from .plan import Plan
from .recipes import Recipe
from .specs import (
    FixedRows,
    Folds,
    GivenSpec,
    GivenSplitter,
    Holdout,
    LeaveOneOut,
    LikeOuterTest,
    ListedSplits,
    Resampling,
    Spec,
    SplitterSpec,
)
from .timing import FORWARD

K_FOLDS = ("KFold", "StratifiedKFold", "GroupKFold", "StratifiedGroupKFold")


def draw(
    recipe: Recipe,
    data: Data,
    task: str,
    inner_spec: Spec,
    outer: Layout | None = None,
) -> Plan:
    """Return the plan of a recipe on these rows.

    task: "classification" or "regression"
    inner_spec: the recipe's inner splitter, or what "auto" means; None for no inner splits
    outer: the outer splits, in place of those that the recipe draws
    """
    drawer, outer_spec = SplitDrawer(recipe, data, task), recipe.outer_spec
    inner = None
    with _kept_random_state(outer_spec, inner_spec):
        if outer_spec is not None and outer is None:
            outer = drawer.outer(outer_spec)
        if inner_spec is not None:
            inner = tuple(drawer.inner_of_parts(inner_spec, outer))
    cautions, grouped = drawer.strata.cautions(), data.groups is not None
    outer_layouts = None if outer is None else (outer,)
    order = recipe.time_ordered
    plan = Plan(
        n_rows=data.n_rows,
        outer_layout=outer,
        inner_layouts=inner,
        buffer=recipe.buffer,
        recipe=repr(recipe),
        outer_words=words_of(outer_spec, outer_layouts, grouped, "test set", order),
        inner_words=words_of(inner_spec, inner, grouped, "dev set", order),
        notes=(*cautions, *drawer.remarks),
        group_codes=data.groups,
        outer_drawn=not isinstance(outer_spec, GivenSpec),
        data=data,
        task=task,
        times=data.times,
        forward=order == FORWARD,
    )
    _refuse_empty_parts(plan)
    for caution in cautions:
        warnings.warn(caution, CvnbWarning, stacklevel=4)
    return plan


def draw_final(
    recipe: Recipe, data: Data, task: str, inner_spec: SplitterSpec
) -> Layout:
    """Return the splits of all of S by the inner splitter, for the final choice of θ.

    task: "classification" or "regression"
    inner_spec: the recipe's inner splitter, or what "auto" means
    """
    if isinstance(inner_spec, ListedSplits):
        raise RecipeError(
            "inner was given as lists for each outer split, so nothing says how to "
            "choose θ on all of S; give inner as a splitter or a number of folds."
        )
    with _kept_random_state(recipe.outer_spec, inner_spec):
        drawer, n_test = SplitDrawer(recipe, data, task), 0
        if isinstance(inner_spec, LikeOuterTest) and recipe.outer_spec is not None:
            n_test = int(drawer.outer(recipe.outer_spec).sizes()[0, 1])
        return drawer.layout(inner_spec, np.arange(data.n_rows), "inner", n_test)


def words_of(
    spec: Spec,
    layouts: tuple[Layout, ...] | None,
    grouped: bool,
    part: str,
    time_ordered: bool | str = False,
) -> str:
    """Describe a splitter for quantities and tables: "5-fold CV".

    spec: the splitter
    layouts: its splits, of one level; None if there are none
    grouped: whether the rows have groups
    part: the name of the part that a holdout makes: "test set" or "dev set"
    time_ordered: as in Recipe
    """
    if layouts is None or spec is None:
        return ""
    n_splits = spread([len(layout) for layout in layouts])
    if isinstance(spec, Folds):
        return f"{spec.n_splits}-{_in_time(time_ordered, part)}"
    if isinstance(spec, LeaveOneOut):
        unit = "group-" if grouped else ""
        return f"leave-one-{unit}out CV{_either_way(part) if time_ordered else ''}"
    if isinstance(spec, Resampling):
        return count(spec.samples, "random holdout")
    if isinstance(spec, Holdout | LikeOuterTest | FixedRows):
        sizes = spread([layout.sizes()[0, 1] for layout in layouts])
        return f"a {part} of {_counted(sizes, 'row')}"
    if isinstance(spec, ListedSplits):
        return _counted(n_splits, "given split")
    return _words_of_splitter(spec, n_splits)


def _in_time(time_ordered: bool | str, part: str) -> str:
    """What follows the number of folds."""
    if time_ordered == FORWARD:
        return "step forward CV"
    return (
        f"fold CV in blocks of time{_either_way(part)}" if time_ordered else "fold CV"
    )


def _either_way(part: str) -> str:
    """What blocks mean for the estimate; outer splits tell it once."""
    return " (later rows predict earlier ones)" if part == "test set" else ""


def _words_of_splitter(spec: GivenSplitter, n_splits: str) -> str:
    name = type(spec.splitter).__name__
    if name in K_FOLDS:
        return f"{n_splits}-fold CV"
    if name == "_CVIterableWrapper":  # scikit-learn's, of a list as cv=
        return _counted(n_splits, "given split")
    if name == "LeaveOneOut":
        return "leave-one-out CV"
    return f"{_counted(n_splits, 'split')} by {name}"


def _counted(n: str, noun: str) -> str:
    """The noun after a number or a spread of numbers."""
    return f"{n} {noun}" if n == "1" else f"{n} {noun}s"


def _kept_random_state(*specs: Spec) -> AbstractContextManager[None]:
    """Keep NumPy's global random state if a user's splitter may draw from it."""
    if any(isinstance(spec, GivenSplitter | ListedSplits) for spec in specs):
        return global_state()
    return nullcontext()


def _refuse_empty_parts(plan: Plan) -> None:
    empty = []
    for name, splits in plan.levels():
        sizes = splits.layout.sizes()
        if not sizes.all():
            numbers = np.flatnonzero((sizes == 0).any(axis=1))
            empty += [name.format(k=k) for k in numbers]
    if empty:
        raise InfeasibleError(
            f"{some(empty)} has an empty part; use fewer folds, a smaller buffer or another share."
        )
