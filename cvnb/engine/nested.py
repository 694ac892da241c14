"""The central rule of the package, choose inside and measure outside: `choose_and_measure`.

The rule is a generator. It yields the tasks whose losses it needs and knows nothing of how
they are computed. `MeasureParts` runs it on one path, for a batch of training parts, in any
thread or process; the engine (cvnb/engine/waves.py) runs it for several parts at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

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
from ..wording import without_numbers
from .table import Failure, PartResults

MOST_CAUSES = 3  # of a total failure, in its message
Returned = TypeVar("Returned")
Steps = Generator[Task, Losses | Refusal, Returned]
Choose = Callable[[np.ndarray, int], int]  # (inner losses, part) -> setting


def choose_and_measure(
    rule: Rule,
    draw: int,
    plan: Plan,
    parts: range,
    every_setting: bool,
    known: PartResults | None = None,
) -> Steps[PartResults]:
    """Choose a setting inside each training part, then measure it on the outer test part.

        s_j = the setting that the rule chooses from the inner losses of training part j
        ε_j = the loss of s_j, fitted on training part j, on outer test part j

    No row of test part j takes part in the choice of s_j. A generator: it yields a task, is
    sent the losses of that task or a refusal, and returns the results of these parts. If s_j
    cannot be fitted on the whole training part, the next best setting takes its place.

    rule           chooses a setting from a table of inner losses
    draw           index of the draw, repeated in every task
    plan           the splits of that draw
    parts          training parts j; the inner splits of all of them are one task
    every_setting  measure all settings on the outer test parts, not the chosen one alone
    known          results whose choice is made already; only the outer splits are measured
    """
    results = known or PartResults(parts, np.zeros(len(parts), dtype=np.int64))
    choose = partial(_choose, rule, draw, plan, results)
    carry = None
    if known is None and plan.inner_layouts is not None:
        carry = yield from _choose_inside(choose, draw, plan, results)
    if plan.outer_layout is not None and len(results.refused) < len(parts):
        refused = frozenset(results.refused)
        task = Outside(draw, parts, results.chosen, every_setting, carry, refused)
        yield from _measure_outside(choose, task, results)
    return results


def _choose_inside(
    choose: Choose, draw: int, plan: Plan, results: PartResults
) -> Steps[Any]:
    """Choose the setting of every part from its inner losses; return what the path carries."""
    parts = results.parts
    losses = yield Inside(draw, parts)
    if isinstance(losses, Refusal):
        results.refused.update(dict.fromkeys(parts, losses.reason))
        return None
    _add_notes(results, losses, plan)
    ends = offsets(n_inner(plan, j) for j in parts)
    results.inner = [losses.losses[a:b] for a, b in pairwise(ends)]
    for i, j in enumerate(parts):
        if j not in results.refused:
            results.chosen[i] = choose(results.inner[i], j)
    return losses.carry


def _measure_outside(
    choose: Choose, task: Outside, results: PartResults
) -> Steps[None]:
    """Measure the chosen setting of every part that was not refused inside."""
    parts = results.parts
    losses = yield task
    if isinstance(losses, Refusal):
        results.refused_outside = frozenset(parts) - task.refused
        reasons = dict.fromkeys(results.refused_outside, losses.reason)
        results.refused.update(reasons)
        return
    _add_notes(results, losses)
    results.refused_outside = frozenset(results.refused) - task.refused
    results.outer, results.rows = losses.losses, losses.rows
    results.predictions = losses.predictions
    failed = np.isnan(results.outer[np.arange(len(parts)), results.chosen])
    for i in np.flatnonzero(failed).tolist():
        if parts[i] not in results.refused:
            yield from _measure_next_best(choose, task, results, i)


def _measure_next_best(
    choose: Choose, task: Outside, results: PartResults, i: int
) -> Steps[None]:
    """Replace the setting that failed outside part i by the next best until one is fitted."""
    j, outer = results.parts[i], results.outer
    assert outer is not None
    if results.inner is None:
        candidates = np.full_like(outer[[i]], np.nan)
    else:
        candidates = results.inner[i].copy()
    while np.isnan(outer[i, results.chosen[i]]):
        candidates[:, results.chosen[i]] = np.nan
        results.chosen[i] = choose(candidates, j)
        if task.every and np.isnan(outer[i, results.chosen[i]]):
            continue
        chosen = results.chosen[[i]]
        part = range(j, j + 1)
        losses = yield replace(task, parts=part, chosen=chosen, every=False, carry=None)
        assert isinstance(losses, Losses)
        results.predictions[i] = losses.predictions[0]
        if not task.every:
            _add_notes(results, losses, part=part)
            outer[i] = losses.losses[0]
            results.rows[i] = losses.rows[0]


def _add_notes(
    results: PartResults,
    losses: Losses,
    inside: Plan | None = None,
    part: range | None = None,
) -> None:
    """Add the refusals, failures, warnings and counts of a path to the results.

    inside  the plan, if the losses are those of inner splits
    part    the one part that the losses belong to; None: all
    """
    if losses.refused:
        results.refused = losses.refused | results.refused
    for (at, s), cause in losses.failures.items():
        j, k = _split_at(at, part or results.parts, inside)
        results.failures.append(Failure(j, k, s, cause))
    results.warnings = added((results.warnings, losses.warnings))
    results.counts = added((results.counts, losses.counts))
    results.refitted = added((results.refitted, losses.refitted))


def _split_at(at: int, parts: range, inside: Plan | None) -> tuple[int, int | None]:
    """Return (j, k) of a split by its position in the task; k is None on outer splits."""
    if inside is None:
        return parts[at], None
    for j in parts:
        if at < n_inner(inside, j):
            return j, at
        at -= n_inner(inside, j)
    raise IndexError(at)


class EverySettingFailed(Exception):
    """Raised when every setting has failed in a training part of a draw, or in one of its splits.

    failures  all of them there, the first of which is shown
    where     the name of that part or split
    """

    def __init__(self, draw: int, failures: Sequence[Failure], where: str) -> None:
        kinds: dict[str, list[str]] = {}  # causes that differ only in numbers
        for failure in failures:
            kinds.setdefault(without_numbers(failure.cause), []).append(failure.cause)
        many = sorted(kinds.values(), key=len, reverse=True)[:MOST_CAUSES]
        causes = [f"{len(alike)} × {_first_line(alike[0])}" for alike in many]
        if len(causes) == 1:
            causes = [_first_line(many[0][0])]
        super().__init__(
            f"every setting failed in {where}, so nothing can be chosen there: "
            f"{'; '.join(causes)}"
        )
        self.draw, self.first = draw, next(iter(failures), None)


def _first_line(cause: str) -> str:
    return cause.strip().partition("\n")[0].rstrip(".")


def refuse_split(draw: int, j: int, k: int, losses: Losses, nested: bool) -> None:
    """Raise EverySettingFailed if no setting could be measured on inner split k of part j.

    No setting has a mean over the inner splits then, and no rule can choose.
    """
    if not np.isnan(losses.losses).all():
        return
    failures = [Failure(j, k, s, cause) for (_, s), cause in losses.failures.items()]
    outer = f" of outer fold {j + 1}" if nested else ""
    raise EverySettingFailed(draw, failures, f"inner fold {k + 1}{outer}")


def _choose(
    rule: Rule, draw: int, plan: Plan, results: PartResults, losses: np.ndarray, j: int
) -> int:
    chosen = rule.choose(losses)
    if chosen is None:
        own = [failure for failure in results.failures if failure.j == j]
        where = "all splits" if plan.outer_layout is None else f"outer fold {j + 1}"
        raise EverySettingFailed(draw, own, where)
    return chosen


@dataclass(frozen=True, eq=False)
class MeasureParts:
    """Call that chooses and measures in a batch of training parts, on one path.

    is_known  the loss is one of cvnb's own, and never warns
    """

    path: Path
    rule: Rule
    draws: Sequence[Draw]
    is_known: bool

    def __call__(self, batch: tuple[int, range], team: Team) -> PartResults:
        draw, parts = batch
        warned = Counter[str]()
        steps = choose_and_measure(self.rule, draw, self.draws[draw].plan, parts, True)
        with nullcontext() if self.is_known else recorded(warned):
            try:
                task = next(steps)
                while True:
                    losses = self.path.run(task, team)
                    team.stop.check()
                    task = steps.send(losses)
            except StopIteration as end:
                results: PartResults = end.value
        results.warnings = added((results.warnings, warned))
        return results


@dataclass(frozen=True, eq=False)
class PathOrRefit:
    """Call that returns the losses of one task: the path's, or refit's if the path refuses."""

    path: Path
    refit: Refit

    def __call__(self, task: Task, team: Team) -> Losses:
        answer = self.path.run(task, team)
        if isinstance(answer, Losses):
            return answer
        losses = self.refit.run(task, team, answer.fitted)
        losses.warnings = added((losses.warnings, answer.warnings))
        losses.refitted = Counter({answer.reason: 1})
        return losses


@dataclass(frozen=True, eq=False)
class RefusingPath(Path):
    """Stand-in for a path that has refused these parts, so that their splits are refitted.

    reasons  (draw, part) -> why the path refused it
    """

    reasons: dict[tuple[int, int], str]

    def run(self, task: Task, team: Team) -> Refusal:
        """Return the reason that the path gave."""
        return Refusal(self.reasons[task.draw, task.parts.start])
