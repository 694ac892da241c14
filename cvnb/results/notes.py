"""Notes: sentences on what deserves attention in a result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..engine.table import Failure
from ..families.distributions import ranges_of
from ..families.labels import format_value, shown_names, shown_settings
from ..families.registry import sentence_of
from ..families.searches import grids_of
from ..paths.base import UNDER_WAY
from ..wording import count, without_numbers

if TYPE_CHECKING:
    from .record import Record


def notes_of(record: Record) -> list[str]:
    """Return all notes on a run, the most important kinds first."""
    kinds = (
        _interrupt,
        _refitted,
        _ties,
        _edges,
        _all_drawn,
        _close_calls,
        _failures,
        _warnings,
    )
    return [note for notes in kinds for note in notes(record)]


def actions_of(record: Record) -> list[str]:
    """Return the notes that ask for something to be done."""
    kinds = (_interrupt, _edges, _failures)
    return [note for notes in kinds for note in notes(record)]


def _interrupt(record: Record) -> list[str]:
    if record.table.complete:
        return []
    left = [
        f"A fit of {model} cannot be stopped from outside: it goes on in a thread until "
        "it ends, and nothing waits for it."
        for model in record.table.left
    ]
    if record.plan.outer_layout is None:
        return ["Interrupted: nothing was chosen yet.", *left]
    splits = count(record.plan.n_parts, "outer split")
    finished = f"{len(record.table.chosen)} of {splits}"
    if record.path == UNDER_WAY:
        return [f"Under way: {finished} are finished.", *left]
    return [f"Interrupted: {finished} were finished.", *left]


def _refitted(record: Record) -> list[str]:
    """Number of splits that a fast path left to a refit, by the reason."""
    total = record.plan.n_inner + len(record.plan.outer)
    return [
        f"{n} of {total} splits were refitted: {why}."
        for why, n in record.table.refitted
    ]


def _close_calls(record: Record) -> list[str]:
    """Number of predictions, inner and outer, that rounding or a rule for ties decides."""
    return [
        sentence_of(kind).format(n=count(n, "prediction"))
        for kind, n in record.table.counts
        if n
    ]


def _ties(record: Record) -> list[str]:
    if not record.work.rule.takes_first:
        return []
    sizes = {j: tied.size for j, tied in enumerate(record.tied) if tied.size > 1}
    if not sizes:
        return []
    most, where = max(sizes.values()), _of_splits(record, sizes)
    are_equal = len(set(sizes.values())) == 1
    subject = f"{most} settings tie" if are_equal else f"Up to {most} settings tie"
    first = "first that was drawn" if record.family.drawing else "first in grid order"
    return [f"{subject} at the minimum{where}: the {first} was taken."]


@dataclass(frozen=True)
class GridEdge:
    """The smallest or largest value of a numeric axis, or an end of the range of its draws.

    at       training parts that chose it, or a value near that end
    share    of all training parts
    is_near  whether it is an end of a distribution: the outer 5 % count
    """

    axis: str
    side: str
    value: Any
    at: tuple[int, ...]
    share: float
    is_near: bool = False

    def words(self, name: str, value: str) -> str:
        """ "C=0.1, the lower edge of its grid"; with the name and the value as shown."""
        if self.is_near:
            return f"{name} near {value}, the {self.side} edge of its range"
        return f"{name}={value}, the {self.side} edge of its grid"


def grid_edges(record: Record) -> list[GridEdge]:
    """Return the edges of numeric axes that some training part chose."""
    chosen = [record.family.settings[s] for s in record.table.chosen]
    edges = []
    for axis, span in ranges_of(grids_of(record.family.grid)).items():
        for side, value in (("lower", span.low), ("upper", span.high)):
            at = [
                j
                for j, setting in enumerate(chosen)
                if axis in setting and span.side(setting[axis]) == side
            ]
            if at:
                share = len(at) / len(chosen)
                edges.append(
                    GridEdge(axis, side, value, tuple(at), share, span.is_drawn)
                )
    return edges


def _edges(record: Record) -> list[str]:
    names = shown_names(record.family.settings)
    return [
        f"{edge.words(names[edge.axis], format_value(edge.value, 3))}, was chosen"
        f"{_of_splits(record, edge.at)}."
        for edge in grid_edges(record)
    ]


def _all_drawn(record: Record) -> list[str]:
    """Say that the lists of a drawn family have fewer settings than were to be drawn."""
    drawing, n = record.family.drawing, len(record.family.settings)
    if drawing is None or drawing.n == n:
        return []
    return [f"n={drawing.n}, but the grid has {count(n, 'setting')}: all were tried."]


def _failures(record: Record) -> list[str]:
    by_setting: dict[tuple[int, str], list[Failure]] = defaultdict(list)
    for failure in record.table.failures:
        by_setting[failure.s, failure.cause].append(failure)
    notes = []
    for (s, cause), failures in by_setting.items():
        splits, first = [], failures[0]
        if first.k is not None:
            splits.append(f"inner fold {first.k + 1}")
        if record.plan.outer_layout is not None:
            splits.append(f"outer fold {first.j + 1}")
        where = " of ".join(splits)
        if len(failures) > 1:
            where += f" and {count(len(failures) - 1, 'more fold')}"
        setting = shown_settings(record.family.settings)[s] or "The estimator"
        notes.append(f"{setting} failed in {where}: {' '.join(cause.split())}")
    return notes


def _warnings(record: Record) -> list[str]:
    """Count each warning; texts that differ only in their numbers count as equal."""
    kinds: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, n in record.table.warnings:
        kinds[without_numbers(text)].append((text, n))
    notes = []
    for alike in kinds.values():
        note, total = alike[0][0], sum(n for _, n in alike)
        if total > 1:
            others = ", with other numbers" if len(alike) > 1 else ""
            note += f" ({total} times{others})"
        notes.append(note)
    return notes


def _of_splits(record: Record, at: Collection[int]) -> str:
    """Return " in 2 of 5 outer splits"; nothing where there are no outer splits."""
    if record.plan.outer_layout is None:
        return ""
    return f" in {len(at)} of {len(record.table.chosen)} outer splits"
