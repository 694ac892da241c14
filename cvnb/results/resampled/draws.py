"""More splits of the rows of a result, and the losses on them: many draws at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ...engine.progress import Slot
from ...engine.study import Job, fill_each
from ...engine.table import LossTable
from ...engine.work import Work
from ...errors import FitError, InputError, Interrupted
from ...families.row_needs import RowNeed, row_needs
from ...families.setting_groups import check_parameters
from ...inference.rules import rule_of
from ...paths.base import Draw
from ...splits.drawer import SplitDrawer
from ...splits.layouts import Layout, Pairs
from ...splits.plan import Plan
from ...splits.specs import (
    FixedRows,
    GivenSplitter,
    LikeOuterTest,
    ListedSplits,
    is_whole,
)
from ...splits.splitters import Pair
from ...wording import count
from ..record import Record

FEWEST = 50  # repeats where the user gives no number
STEP = 50  # more of them at a time
LARGEST = 2**31  # seeds are below

T = TypeVar("T")
PlanOfSeed = Callable[[Record, int], Plan]


@dataclass(frozen=True)
class Method:
    """A method that runs the nest again: its name, its plan, and its largest default number."""

    name: str
    plan: PlanOfSeed
    most: int


def repeat_seeds(seed: int, n: int) -> list[int]:
    """Return the seeds of n repeats, derived from that of the recipe; more only continue them."""
    return (np.random.SeedSequence(seed).generate_state(n) % LARGEST).tolist()


def check_repeats(n_repeats: Any) -> None:
    """Refuse a number of repeats from which no spread can be told."""
    if n_repeats is None or (is_whole(n_repeats) and n_repeats >= 2):
        return
    raise InputError(
        f"n_repeats={n_repeats!r} must be a whole number >= 2, or None for as many as are needed."
    )


def drawer_of(record: Record, seed: int) -> SplitDrawer:
    """Return what draws splits as the recipe does, from another seed."""
    recipe = copy.copy(record.recipe)
    # not by replace(): beside a given splitter a user's seed is refused
    object.__setattr__(recipe, "seed", seed)
    return SplitDrawer(recipe, record.data, record.work.task)


def reseeded(splitter: Any, seed: int) -> Any:
    """Return a copy of a splitter that shuffles by this seed."""
    splitter = copy.deepcopy(splitter)
    splitter.shuffle, splitter.random_state = True, seed
    return splitter


def refuse_given_inside(record: Record, method: str) -> None:
    """Refuse inner splits that say nothing about other training parts."""
    if record.plan.inner_layouts is None:
        return
    if isinstance(record.inner_spec, ListedSplits | FixedRows):
        raise InputError(
            f"method={method!r} chooses θ inside other training parts too, for which the "
            "inner splits that were given say nothing; use inner=5, or "
            "method='corrected_t'."
        )


def plan_of(
    record: Record, drawer: SplitDrawer, outer: Sequence[Pair], n_test: Sequence[int]
) -> Plan:
    """Return a plan of these outer splits, with inner splits drawn as the recipe draws them.

    outer: (train, test) row numbers, both increasing; n_test: for each outer split the test
    rows that a dev set as large as an outer test part has
    """
    n_rows, spec = record.data.n_rows, record.inner_spec
    layout, inner = Pairs(outer, n_rows), None
    if record.plan.inner_layouts is not None:
        inner = tuple(_inner(drawer, spec, layout, n_test))
    groups = record.data.groups
    return Plan(n_rows, layout, inner, group_codes=groups, data=record.data)


def _inner(
    drawer: SplitDrawer, spec: Any, outer: Pairs, n_test: Sequence[int]
) -> Iterator[Layout]:
    if not isinstance(spec, LikeOuterTest):
        yield from drawer.inner_of_parts(spec, outer)
        return
    for j, size in enumerate(n_test):
        yield drawer.layout(spec, outer.pair(j)[0], "inner", size, j)


def too_large(record: Record, plan: Plan) -> dict[int, RowNeed]:
    """Return the settings that need more rows than the smallest training part of the plan has.

    Training parts are smaller here than in the run: k nearest neighbours need k rows.
    """
    work, smallest = record.work, _smallest_part(plan)
    needs = row_needs(work.family, work.kinds)
    return {need.s: need for need in needs if need.value > smallest}


def _smallest_part(plan: Plan) -> int:
    layouts = plan.inner_kept or [plan.outer.layout]
    return min(int(layout.sizes()[:, 0].min()) for layout in layouts)


def words_of_dropped(record: Record, plan: Plan) -> str:
    """Return "; k >= 29 left out, because ..."; "" if every setting is possible."""
    dropped = too_large(record, plan)
    if not dropped:
        return ""
    least = min(dropped.values(), key=lambda need: need.value)
    rows = count(_smallest_part(plan), "row")
    words = f"{least.name} >= {least.value} left out"
    return f"; {words}, because some training parts have {rows}"


def _left_out(record: Record, plan: Plan) -> frozenset[int]:
    """Return the settings to leave out; refuse a plan on which none is left."""
    dropped = too_large(record, plan)
    if len(dropped) == len(record.family.settings):
        least = min(dropped.values(), key=lambda need: need.value)
        rows = count(_smallest_part(plan), "row")
        raise InputError(
            f"{least.name}={least.value} needs {least.value} training rows, and with this "
            f"method some training parts have {rows}; lower {least.name}, or use "
            "method='corrected_t'."
        )
    return frozenset(dropped)


def _without(work: Work, dropped: Collection[int]) -> Work:
    """Return the work without some settings."""
    if not dropped:
        return work
    family = copy.copy(work.family)
    every = enumerate(work.family.settings)
    family.settings = [setting for s, setting in every if s not in dropped]
    kinds = check_parameters(family)
    rule = rule_of(work.rule.select, family, kinds, work.loss)
    return replace(work, family=family, kinds=kinds, rule=rule)


def repeated(
    record: Record,
    method: Method,
    n_repeats: int | None,
    read: Callable[[Plan, LossTable], T],
    is_enough: Callable[[list[T]], bool],
) -> list[T]:
    """Return what `read` finds in each repeat of the whole nest; the same for the same recipe.

    n_repeats=None: at least 50, and more of them until is_enough(what was found). What takes
    long shows its progress as a run does.
    """
    found: list[T] = []
    slot = Slot()
    more = FEWEST if n_repeats is None else n_repeats
    try:
        while more:
            seeds = repeat_seeds(record.recipe.seed, len(found) + more)[len(found) :]
            slot.name = f"interval by {method.name!r}"
            if found:
                slot.name += f", {count(len(found), 'repeat')} before these"
            for plan, table in _tables(record, seeds, method.plan, slot):
                found.append(read(plan, table))
            is_last = n_repeats is not None or len(found) >= method.most
            more = 0 if is_last or is_enough(found) else STEP
    except KeyboardInterrupt:
        raise Interrupted(
            f"method={method.name!r} was interrupted after {count(len(found), 'repeat')}, so "
            "there is no interval; fewer as n_repeats= take less time."
        ) from None
    except FitError as error:
        raise FitError(
            f"method={method.name!r} trains on fewer rows than the run, and there {error}\n"
            "Use method='corrected_t', which runs nothing again."
        ) from error
    finally:
        slot.clear()
    return found


def _tables(
    record: Record, seeds: Sequence[int], plan: PlanOfSeed, slot: Slot
) -> Iterator[tuple[Plan, LossTable]]:
    """Yield (plan, table) for every seed."""
    works: dict[frozenset[int], Work] = {}

    def jobs() -> Iterator[Job]:
        for seed in seeds:
            own = plan(record, seed)
            dropped = _left_out(record, own)
            if dropped not in works:
                works[dropped] = _without(record.work, dropped)
            yield works[dropped], Draw(own, record.data)

    for (_, draw), table in fill_each(jobs(), len(seeds), "repeats", False, slot):
        yield draw.plan, table


def is_k_fold(splitter: GivenSplitter, names: tuple[str, ...]) -> bool:
    """Whether this is one of scikit-learn's K-fold splitters of these names."""
    kind = type(splitter.splitter)
    return kind.__module__.startswith("sklearn.") and kind.__name__ in names
