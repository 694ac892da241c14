"""Sentences about a result: what deserves a look."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.table import Failure
from ..families.family import format_setting, format_value
from ..families.registry import sentence_of
from ..wording import count, without_numbers

if TYPE_CHECKING:
    from .estimate import Record


def notes_of(record: Record) -> list[str]:
    """Interrupt, refit, ties, grid edges, close calls, failures, warnings; in this order."""
    found = (_interrupt, _refitted, _ties, _edges, _close_calls, _failures, _warnings)
    return [note for find in found for note in find(record)]


def _interrupt(record: Record) -> list[str]:
    if record.table.complete:
        return []
    left = [
        f"A fit of {model} cannot be stopped from outside: it goes on in a thread until it ends, and nothing waits for it."
        for model in record.table.left
    ]
    if record.plan.outer_layout is None:
        return ["Interrupted: nothing was chosen yet.", *left]
    finished = f"{len(record.table.chosen)} of {count(record.plan.n_parts, 'outer split')} were finished"
    return [f"Interrupted: {finished}.", *left]


def _refitted(record: Record) -> list[str]:
    """Where and why a fast path gave way."""
    total = record.plan.n_inner + len(record.plan.outer)
    return [
        f"{n} of {total} splits were refitted: {why}."
        for why, n in record.table.refitted
    ]


def _close_calls(record: Record) -> list[str]:
    """Predictions, inner and outer, that rounding or a rule for ties decides."""
    return [
        sentence_of(kind).format(n=count(n, "prediction"))
        for kind, n in record.table.counts
        if n
    ]


def _ties(record: Record) -> list[str]:
    if not record.work.rule.takes_first:
        return []
    ties = {j: tied.size for j, tied in enumerate(record.tied) if tied.size > 1}
    if not ties:
        return []
    most = max(ties.values())
    tied = (
        f"{most} settings tie"
        if len(set(ties.values())) == 1
        else f"Up to {most} settings tie"
    )
    return [
        f"{tied} at the minimum{_of_splits(record, list(ties))}: the first in grid order was taken."
    ]


@dataclass(frozen=True)
class GridEdge:
    """The smallest or largest value of a numeric axis, and the training parts that chose it."""

    axis: str
    side: str
    value: Any
    at: tuple[int, ...]
    share: float


def grid_edges(record: Record) -> list[GridEdge]:
    """The edges of numeric axes that were chosen, over all training parts."""
    found = []
    chosen = [record.family.settings[s] for s in record.table.chosen]
    axes: dict[str, set[Any]] = defaultdict(set)
    for setting in record.family.settings:
        for key, value in setting.items():
            axes[key].add(value if _is_number(value) else None)
    for key, values in axes.items():
        if None in values or len(values) < 2:
            continue
        for side, edge in (("lower", min(values)), ("upper", max(values))):
            at = tuple(
                j
                for j, setting in enumerate(chosen)
                if key in setting and setting[key] == edge
            )
            if at:
                found.append(GridEdge(key, side, edge, at, len(at) / len(chosen)))
    return found


def _edges(record: Record) -> list[str]:
    return [
        f"{edge.axis}={format_value(edge.value)}, the {edge.side} edge of its grid, was chosen{_of_splits(record, edge.at)}."
        for edge in grid_edges(record)
    ]


def _failures(record: Record) -> list[str]:
    by_setting: dict[tuple[int, str], list[Failure]] = defaultdict(list)
    for failure in record.table.failures:
        by_setting[failure.s, failure.cause].append(failure)
    notes = []
    for (s, cause), failures in by_setting.items():
        first, nested = failures[0], record.plan.outer_layout is not None
        inner = (
            ""
            if first.k is None
            else f"inner split {first.k}{' of ' if nested else ''}"
        )
        where = inner + (f"outer split {first.j}" if nested else "")
        setting = format_setting(record.family.settings[s]) or "The estimator"
        times = (
            f" and {count(len(failures) - 1, 'more split')}"
            if len(failures) > 1
            else ""
        )
        notes.append(f"{setting} failed in {where}{times}: {' '.join(cause.split())}")
    return notes


def _warnings(record: Record) -> list[str]:
    """Equal but for their numbers counts as equal."""
    kinds: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, n in record.table.warnings:
        kinds[without_numbers(text)].append((text, n))
    notes = []
    for same in kinds.values():
        text, total = same[0][0], sum(n for _, n in same)
        times = (
            ""
            if total == 1
            else f" ({total} times{', with other numbers' if len(same) > 1 else ''})"
        )
        notes.append(text + times)
    return notes


def _of_splits(record: Record, at: Collection[int]) -> str:
    """ " in 2 of 5 outer splits"; nothing where there are none."""
    return (
        f" in {len(at)} of {len(record.table.chosen)} outer splits"
        if record.plan.outer_layout is not None
        else ""
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool | np.bool_
    )
