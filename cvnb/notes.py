"""Sentences about a result: what deserves a look."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from .families import format_setting, format_value
from .table import Failure

if TYPE_CHECKING:
    from .estimate import RiskEstimate


NUMBER = re.compile(r"\d[\d.]*(?:[eE][-+]?\d+)?")


def notes_of(result: RiskEstimate) -> list[str]:
    """Interrupt, ties, grid edges, failures, warnings; in this order."""
    return [*_interrupt(result), *_ties(result), *_edges(result), *_failures(result), *_warnings(result)]


def _interrupt(result: RiskEstimate) -> list[str]:
    if result.complete:
        return []
    return [f"Interrupted: {len(result.table.chosen)} of {result.plan.n_parts} outer splits were finished."]


def _ties(result: RiskEstimate) -> list[str]:
    ties = {j: tied.size for j, tied in enumerate(result.tied) if tied.size > 1}
    if not ties:
        return []
    most = max(ties.values())
    tied = f"{most} settings tie" if len(set(ties.values())) == 1 else f"Up to {most} settings tie"
    return [f"{tied} at the minimum{_of_splits(result, list(ties))}: the first in grid order was taken."]


def _edges(result: RiskEstimate) -> list[str]:
    """Numeric axes whose smallest or largest value was chosen, counted over all outer splits."""
    notes = []
    axes: dict[str, set[Any]] = defaultdict(set)
    for setting in result.settings:
        for key, value in setting.items():
            axes[key].add(value if _is_number(value) else None)
    for key, values in axes.items():
        if None in values or len(values) < 2:
            continue
        for side, edge in (("lower", min(values)), ("upper", max(values))):
            at = [j for j, setting in enumerate(result.chosen) if key in setting and setting[key] == edge]
            if at:
                notes.append(f"{key}={format_value(edge)}, the {side} edge of its grid, was chosen{_of_splits(result, at)}.")
    return notes


def _failures(result: RiskEstimate) -> list[str]:
    by_setting: dict[tuple[int, str], list[Failure]] = defaultdict(list)
    for failure in result.table.failures:
        by_setting[failure.s, failure.cause].append(failure)
    notes = []
    for (s, cause), failures in by_setting.items():
        first, nested = failures[0], result.plan.outer_layout is not None
        inner = "" if first.k is None else f"inner split {first.k}{' of ' if nested else ''}"
        where = inner + (f"outer split {first.j}" if nested else "")
        setting = format_setting(result.settings[s]) or "The estimator"
        times = f" and {len(failures) - 1} more splits" if len(failures) > 1 else ""
        notes.append(f"{setting} failed in {where}{times}: {' '.join(cause.split())}")
    return notes


def _warnings(result: RiskEstimate) -> list[str]:
    """Equal but for their numbers counts as equal."""
    kinds: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, count in result.table.warnings:
        kinds[NUMBER.sub("#", text)].append((text, count))
    notes = []
    for same in kinds.values():
        text, count = same[0][0], sum(count for _, count in same)
        times = "" if count == 1 else f" ({count} times{', with other numbers' if len(same) > 1 else ''})"
        notes.append(text + times)
    return notes


def _of_splits(result: RiskEstimate, at: list[int]) -> str:
    """ " in 2 of 5 outer splits"; nothing where there are none."""
    return f" in {len(at)} of {len(result.table.chosen)} outer splits" if result.plan.outer_layout is not None else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)
