"""The central rule of the package: choose inside, measure outside. It stands in `choose_and_measure` alone.

It asks for the losses of tasks one by one, and knows nothing of who finds them. `Whole` asks a path for batches of training
parts, wherever it is called; the engine (cvnb/run.py) has the splits of several parts done at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..inference.rules import Rule
from ..paths.base import (
    Draw,
    Inside,
    Losses,
    Outside,
    Path,
    Refusal,
    Task,
    added,
    n_inner,
    offsets,
)
from ..paths.refit import Refit, recorded
from ..runtime.threads import Team
from ..splits.plan import Plan
from .table import Failure, Found

Asking = Generator[Task, Losses | Refusal, Found]


def choose_and_measure(
    rule: Rule,
    draw: int,
    plan: Plan,
    parts: range,
    every: bool,
    known: Found | None = None,
) -> Asking:
    """Choose inside, measure outside: asks for the losses of tasks, and gives what it found in the training parts.

        s_j = the setting that the rule takes from the inner losses of part j
        ε_j = the loss of s_j on outer test part j, no row of which took part in the choice

    A choice that fails on the whole outer training part gives way to the next best. known: inner losses that stand.
    """
    found = (
        Found(parts, np.zeros(len(parts), dtype=np.int64)) if known is None else known
    )
    carry = None
    if known is None and plan.inner_layouts is not None:
        losses = yield Inside(draw, parts)
        if isinstance(losses, Refusal):
            found.refused.update(dict.fromkeys(parts, losses.reason))
            return found
        carry = losses.carry
        _note(found, losses, plan)
        ends = offsets(n_inner(plan, j) for j in parts)
        found.inner = [losses.losses[a:b] for a, b in pairwise(ends)]
        for i, j in enumerate(parts):
            if j not in found.refused:
                found.chosen[i] = _chosen(rule, found.inner[i], found, draw, j, plan)
    if plan.outer_layout is None or len(found.refused) == len(parts):
        return found
    inside = frozenset(found.refused)
    outer = Outside(draw, parts, found.chosen, every, carry, inside)
    losses = yield outer
    if isinstance(losses, Refusal):
        found.outside = frozenset(parts) - inside
        found.refused.update(dict.fromkeys(found.outside, losses.reason))
        return found
    _note(found, losses)
    found.outside = frozenset(found.refused) - inside
    found.outer, found.rows, found.predictions = (
        losses.losses,
        losses.rows,
        losses.predictions,
    )
    failed = np.isnan(found.outer[np.arange(len(parts)), found.chosen])
    for i in np.flatnonzero(failed).tolist():
        if parts[i] not in found.refused:
            yield from _next_best(rule, outer, plan, found, i)
    return found


def _next_best(rule: Rule, outer: Outside, plan: Plan, found: Found, i: int) -> Asking:
    """Take the next best setting in the place of one that failed outside part i, until one does not."""
    j, losses = found.parts[i], found.outer
    assert losses is not None
    left = (
        np.full_like(losses[[i]], np.nan)
        if found.inner is None
        else found.inner[i].copy()
    )
    while np.isnan(losses[i, found.chosen[i]]):
        left[:, found.chosen[i]] = np.nan
        found.chosen[i] = _chosen(rule, left, found, outer.draw, j, plan)
        if outer.every and np.isnan(losses[i, found.chosen[i]]):
            continue
        again = yield replace(
            outer,
            parts=range(j, j + 1),
            chosen=found.chosen[[i]],
            every=False,
            carry=None,
        )
        assert isinstance(again, Losses)
        found.predictions[i] = again.predictions[0]
        if not outer.every:
            _note(found, again, j=j)
            losses[i] = again.losses[0]
            found.rows[i] = again.rows[0]
    return found


def _note(
    found: Found, losses: Losses, inside: Plan | None = None, j: int | None = None
) -> None:
    """Keep what a path says beside its losses on inner splits, or on outer ones where no plan is given; of part j alone."""
    if losses.refused:
        found.refused = losses.refused | found.refused
    if losses.failures:
        parts = found.parts if j is None else range(j, j + 1)
        splits = [
            (i, k)
            for i in parts
            for k in (range(n_inner(inside, i)) if inside is not None else (None,))
        ]
        found.failures += [
            Failure(*splits[at], s, cause) for (at, s), cause in losses.failures.items()
        ]
    if losses.warnings:
        found.warnings = added((found.warnings, losses.warnings))
    if losses.counts:
        found.counts = added((found.counts, losses.counts))
    if losses.refitted:
        found.refitted = added((found.refitted, losses.refitted))


class NothingLeft(Exception):
    """Raised where every setting has failed in part j of a draw; first: the first failure there."""

    def __init__(
        self, draw: int, j: int, failures: list[Failure], nested: bool
    ) -> None:
        causes = Counter(failure.cause for failure in failures if failure.j == j)
        lines = [f"  {n} × {cause}" for cause, n in causes.most_common(5)]
        where = f" in outer split {j}" if nested else ""
        super().__init__(
            "\n".join(
                [
                    f"every setting failed{where}, so nothing can be chosen there:",
                    *lines,
                ]
            )
        )
        self.draw, self.first = (
            draw,
            next((failure for failure in failures if failure.j == j), None),
        )


def _chosen(
    rule: Rule, losses: np.ndarray, found: Found, draw: int, j: int, plan: Plan
) -> int:
    chosen = rule.choose(losses)
    if chosen is None:
        raise NothingLeft(draw, j, found.failures, plan.outer_layout is not None)
    return chosen


@dataclass(frozen=True, eq=False)
class Whole:
    """Chooses and measures in a batch of training parts, by one path, wherever it is called."""

    path: Path
    rule: Rule
    draws: Sequence[Draw]
    is_known: bool  # the loss is one of cvnb's own, and warns of nothing

    def __call__(self, item: tuple[int, range], team: Team) -> Found:
        draw, parts = item
        warned = Counter[str]()
        asking = choose_and_measure(self.rule, draw, self.draws[draw].plan, parts, True)
        with nullcontext() if self.is_known else recorded(warned):
            try:
                task = next(asking)
                while True:
                    losses = self.path.run(task, team)
                    team.stop.check()
                    task = asking.send(losses)
            except StopIteration as end:
                found: Found = end.value
        if warned:
            found.warnings = added((found.warnings, warned))
        return found


@dataclass(frozen=True, eq=False)
class Answer:
    """The losses of one task: those of the path, or of refit where the path refuses it."""

    path: Path
    refit: Refit

    def __call__(self, task: Task, team: Team) -> Losses:
        found = self.path.run(task, team)
        if isinstance(found, Losses):
            return found
        losses = self.refit.run(task, team, found.fitted)
        losses.warnings = added((losses.warnings, found.warnings))
        losses.refitted = Counter({found.reason: 1})
        return losses


@dataclass(frozen=True, eq=False)
class Refused(Path):
    """Stands for a path that has refused these parts, so that each of their splits is refitted."""

    reasons: dict[tuple[int, int], str]

    def run(self, task: Task, team: Team) -> Refusal:
        """The reason that the path gave."""
        return Refusal(self.reasons[task.draw, task.parts.start])
