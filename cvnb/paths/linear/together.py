"""Draws that share their splits and differ in the numbers y: each training part is solved once.

A shuffle of y leaves the products of the columns of X as they are, so one factorisation per
training part serves the targets of all draws. Only ridge with losses of residuals is solved
so. What a target refuses, for rounding or because it is met exactly, is left to its own draw.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...losses.loss import absolute, squared
from ...runtime.threads import Team
from ...splits.layouts import Partition
from ..base import Inside, Losses, Outside, Task, Unsuited, ranges
from .blocked_part import BlockedPart
from .parts import Fits
from .precision import verdict_of
from .targets import Targets

if TYPE_CHECKING:
    from .path import LinearPath

MOST = 32  # targets that are solved together
Group = tuple[int, ...]  # draws with one plan


@dataclass(frozen=True, eq=False)
class PartTogether:
    """One training part for the draws of a group.

    inner      for each draw the losses [inner splits, settings]; None where it is refused
    residuals  [draws, test rows, settings] prediction minus target on the outer test part
    """

    inner: list[np.ndarray | None]
    residuals: np.ndarray


def groups_of(path: LinearPath) -> list[Group]:
    """Return the draws that can be solved together, at most MOST in a group."""
    by_plan: defaultdict[int, list[int]] = defaultdict(list)
    for draw, plan in enumerate(path.plans):
        if plan.outer_layout is not None and path.kinds[draw] is BlockedPart:
            by_plan[id(plan)].append(draw)
    is_ridge = not any(
        own.is_lasso or own.is_least_squares for own in path.penalty_paths
    )
    if not is_ridge or max(map(len, by_plan.values()), default=0) < 2:
        return []
    return [
        tuple(draws[place] for place in places)
        for draws in by_plan.values()
        if len(draws) > 1 and _is_simple(path, draws[0])
        for places in ranges(len(draws), MOST)
    ]


def _is_simple(path: LinearPath, draw: int) -> bool:
    """Whether the loss of this draw is that of a residual, and no block is a single row."""
    plan, evaluator = path.plans[draw], path.evaluators[draw]
    is_residual = evaluator.codes is None and evaluator.loss.rows in (absolute, squared)
    layouts = [own for own in plan.inner_kept if isinstance(own, Partition)]
    return is_residual and not any(map(path.singles, layouts))


class SolveTogether:
    """Call that solves one training part for one group of draws."""

    def __init__(self, path: LinearPath) -> None:
        self.path = path

    def __call__(self, item: tuple[Group, int], team: Team) -> PartTogether:
        group, j = item
        path = copy.copy(self.path)
        path.plans, path.evaluators = (
            [path.plans[group[0]]],
            [path.evaluators[group[0]]],
        )
        path.targets = [Targets.joined([self.path.targets[draw] for draw in group])]
        nothing = PartTogether([None] * len(group), np.zeros(0))
        try:
            part = BlockedPart(path, 0, j, team)
            return _solved(part, len(group)) or nothing
        except Unsuited:
            return nothing


def _solved(part: BlockedPart, n: int) -> PartTogether | None:
    """Return the losses of the part for n targets; None where a split is refused."""
    part.sum()
    pieces, amplification = [], 1.0
    for g in range(len(part.groups)):
        fits, own, refused = part.fit_group(g)
        if refused:
            return None
        pieces.append(_inner_losses(part, g, fits, n))
        amplification = max(amplification, float(own.max()))
    totals = {frame: sums.total() for frame, sums in part.sums.items()}
    fits, _ = part.fit_totals(totals)
    inner: list[np.ndarray | None] = []
    for t, losses in enumerate(np.concatenate(pieces).swapaxes(0, 1)):
        means = losses.mean(axis=0)
        report = part.residual_report(means, amplification, part.ordered, t)
        is_refused = verdict_of(report).reason
        inner.append(None if is_refused else np.ascontiguousarray(losses))
    return PartTogether(inner, _residuals(part, fits, n))


def _inner_losses(part: BlockedPart, g: int, fits: Fits, n: int) -> np.ndarray:
    """Return [splits, targets, settings] mean losses of the inner splits of a group of blocks."""
    rows, starts, present = part.tested(g)
    losses = np.empty((len(present), n, part.n_settings))
    squares = part.evaluator.loss.rows is squared
    for path, own in zip(part.penalty_paths, fits, strict=True):
        means = part.rows.mean_losses(rows, starts, own, part.weights, squares)
        losses[:, :, path.which] = means.reshape(len(present), n, -1)
    return losses


def _residuals(part: BlockedPart, fits: Fits, n: int) -> np.ndarray:
    """Return [targets, test rows, settings] predictions minus targets on the outer test part."""
    test, every = part.test, np.array([0, part.test.size])
    residuals = np.empty((n, test.size, part.n_settings))
    for path, own in zip(part.penalty_paths, fits, strict=True):
        predictions = part.rows.predict(test, every, own).reshape(test.size, n, -1)
        residuals[:, :, path.which] = predictions.swapaxes(0, 1)
    residuals -= part.rows.Y[test].T[:, :, None]
    return residuals


class Together:
    """What was solved together, ready to be measured draw by draw."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.place = {draw: (g, t) for g in groups for t, draw in enumerate(g)}
        self.parts: dict[tuple[Group, int], PartTogether] = {}

    def has(self, task: Task) -> bool:
        """Whether every part of the task was solved for its draw."""
        if task.draw not in self.place:
            return False
        group, t = self.place[task.draw]
        return all(self.parts[group, j].inner[t] is not None for j in task.parts)

    def measured(self, path: LinearPath, task: Task) -> Losses:
        """Return the losses of the task."""
        group, t = self.place[task.draw]
        parts = [self.parts[group, j] for j in task.parts]
        if isinstance(task, Inside):
            return Losses(np.concatenate([part.inner[t] for part in parts]))
        return _outside(path, task, [part.residuals[t] for part in parts])


def _outside(path: LinearPath, task: Outside, residuals: list[np.ndarray]) -> Losses:
    evaluator, plan = path.evaluators[task.draw], path.plans[task.draw]
    y = path.targets[task.draw].Y[:, 0]
    measured = Losses(np.empty((len(residuals), path.n_settings)))
    for i, (j, own) in enumerate(zip(task.parts, residuals, strict=True)):
        test = plan.part(j)[1]
        measured.predictions.append(own[:, task.chosen[i]] + y[test])
        rows = own**2 if evaluator.loss.rows is squared else np.abs(own)
        weights = None if path.weights is None else path.weights[test]
        measured.losses[i] = np.average(rows, axis=0, weights=weights)
        measured.rows.append(rows)
    return measured
