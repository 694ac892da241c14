"""Ridge, its classifier and least squares: one factorisation per training part serves every penalty.

Cost of a part with n rows, p columns, K inner splits and S penalties: O(n p^2 + K (p^3 + S p^2) + n S p), and O(n p^2 + n S p)
for leave-one-out without a scaler.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from ...runtime.threads import Team
from ...splits.layouts import Layout, Partition
from ...splits.plan import Plan
from ..base import (
    PER_WORKER,
    Inside,
    Losses,
    Outside,
    Path,
    Refusal,
    Task,
    Unsuited,
    joined,
    ranges,
)
from ..measure import Answers
from ..problem import Problem, SplitProblem
from . import lasso
from .block_sums import KEPT_BLOCKS
from .least_squares import fit
from .outer_part import OuterSplits
from .parts import SINGLES, BlockedPart, Part
from .rows import Line, Rounding, Rows
from .targets import EXACT_FIT, Targets, are_met

AXIS, COUNTED = "alpha", "margins"
SOLVERS = ("auto", "cholesky")
MOMENT = 5e7  # multiplications of a run of a few milliseconds
QUICK = 2e7  # products of all columns that take about a millisecond, less than threads take to hand over
BLOCKED = (
    "training parts are sums of blocks of rows, and one {} of each serves every setting"
)
LOOSE = "one {} of each training part serves every setting"
WORK = {False: "factorisation", True: "descent along the penalties"}  # of a lasso


def refuses(last: Any) -> str:
    """Why this last step is not for this path; "" where it is."""
    if last.positive:
        return "positive=True, which no factorisation gives"
    solver = getattr(last, "solver", "auto")
    if solver not in SOLVERS:
        return f"solver={solver!r}, which iterates or cuts singular values by a rule of its own"
    if getattr(last, "class_weight", None) is not None:
        return "class_weight, which weighs the rows of each training part anew"
    if np.ndim(getattr(last, "alpha", 0.0)):
        return "an alpha for each target"
    return ""


class LinearSweep(Path):
    """Every setting of every split."""

    whole = compiles = True

    def __init__(self, problem: Problem) -> None:
        self.X, self.weights, self.n_settings = (
            problem.X,
            problem.data.weights,
            problem.n_settings,
        )
        self.plans, self.meters = [draw.plan for draw in problem.draws], problem.meters
        self.targets = [Targets(meter.data.y, meter) for meter in problem.meters]
        self.lines = [Line.of(combination) for combination in problem.combinations]
        for line in self.lines:
            if line.is_lasso:
                lasso.check(line.alphas, self.X.shape[1])
        products = float(self.X.size * self.X.shape[1])
        self.parts, self.quick = (
            [self._kind_of_part(plan) for plan in self.plans],
            products <= QUICK,
        )
        n_passes = sum(
            1 if kind is OuterSplits else plan.n_parts
            for kind, plan in zip(self.parts, self.plans, strict=True)
        )
        self.cost = cost = products * n_passes
        self.at_once = cost <= MOMENT and all(
            meter.loss.is_known for meter in self.meters
        )  # and nobody waits for a part
        family = (
            "ols"
            if self.lines[0].squares
            else "lasso"
            if self.lines[0].is_lasso
            else "ridge"
        )
        loose = Part in self.parts
        self.name = f"path:{family}" if loose else f"shared:{family}"
        self.reason = (LOOSE if loose else BLOCKED).format(WORK[self.lines[0].is_lasso])

    def _kind_of_part(self, plan: Plan) -> type[Part]:
        if plan.inner_layouts is None:
            return OuterSplits if self._is_partition(plan.outer_layout) else Part
        return BlockedPart if all(map(self._is_partition, plan.inner_kept)) else Part

    def _is_partition(self, layout: Layout | None) -> bool:
        """Whether training parts are sums of blocks, with rows enough for the primal form."""
        plain = isinstance(layout, Partition) and not layout.buffer
        return plain and bool(layout.sizes()[:, 0].min() >= self.X.shape[1])  # type: ignore[union-attr]

    def singles(self, layout: Partition) -> bool:
        """Whether every block is one row, and no scaler moves with it."""
        return not any(
            line.follows_scale or line.is_lasso for line in self.lines
        ) and bool((layout.sizes()[:, 1] == 1).all())

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Parts one by one where they take a while, all of them where the run takes a few milliseconds.

        Outer splits alone by groups, of which each batch sums all rows.
        """
        n_parts, layout = self.plans[draw].n_parts, self.plans[draw].outer_layout
        if self.parts[draw] is OuterSplits and isinstance(layout, Partition):
            groups = self.groups(layout)
            several = ranges(
                len(groups), -(-len(groups) // n) if elsewhere else len(groups)
            )
            return [
                range(groups[one.start][0], groups[one.stop - 1][1]) for one in several
            ]
        if self.at_once and not elsewhere:
            return [range(n_parts)]
        return ranges(
            n_parts,
            max(1, n_parts // (PER_WORKER * n)) if self.quick or elsewhere else 1,
        )

    def groups(self, layout: Partition) -> list[tuple[int, int]]:
        """(first, end) of the blocks that are summed together: about as many as there are groups."""
        n = len(layout)
        size = math.isqrt(n - 1) + 1 if n > 1 else 1
        if self.singles(layout):
            size = SINGLES
        elif n <= KEPT_BLOCKS:
            size = n if self.quick else (n + 1) // 2
        return [(one.start, one.stop) for one in ranges(n, size)]

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """As Path.run."""
        kind = self.parts[task.draw]
        if kind is OuterSplits and isinstance(task, Outside):
            try:
                return OuterSplits(self, task.draw, team).measured(task)
            except Unsuited as why:
                return Refusal(str(why))
        found = team.map(partial(self._part, kind, task, team), task.parts)
        return joined(self.plans[task.draw], task, found, self.n_settings)

    def _part(
        self, kind: type[Part], task: Task, team: Team, j: int
    ) -> Losses | Refusal:
        try:
            if isinstance(task, Inside):
                return kind(self, task.draw, j, team).inside()
            if j in task.refused:
                return Refusal("")
            i = j - task.parts.start
            carried = None if task.carry is None else task.carry[i]
            return Part(self, task.draw, j, team, carried).outside(int(task.chosen[i]))
        except Unsuited as why:
            return Refusal(str(why))

    def counted(self, close: int) -> Counter[str] | None:
        """So many close calls."""
        return Counter({COUNTED: close}) if close else None


def answers_of_split(split: SplitProblem) -> tuple[Answers, int]:
    """(what every setting says of the test rows, close calls) after one fit."""
    train, test, X_test, data = split.train, split.test, split.X_test, split.meter.data
    targets, line = Targets(data.y, split.meter), Line.of(split.combination)
    if line.is_lasso:
        lasso.check(line.alphas, X_test.shape[1])
    weights = None if data.weights is None else data.weights[train]
    rows, rounding = (
        Rows(split.X_train, targets.Y[train], weights, split.stop.flag),
        Rounding(),
    )
    centre, coefs = fit(rows, np.arange(train.size), line, rounding)
    present = targets.counts(train)[None, :] > 0
    targets.refuse_one_class(present, line.intercept)
    decisions = ((X_test - centre) @ coefs[:-1] + coefs[-1]).reshape(
        len(X_test), targets.n, -1
    )
    starts = np.array([0, len(X_test)])
    split.stop.check()
    squares = targets.squares(decisions, test, starts)
    if squares is not None:
        least = np.sqrt(squares.min(axis=1))
        if are_met(
            least, np.array([rounding.times]), rows.spread(np.arange(train.size))
        ).any():
            raise Unsuited(EXACT_FIT)
    targets.refuse_level(decisions, test, starts)
    return targets.answers(decisions, starts, present)
