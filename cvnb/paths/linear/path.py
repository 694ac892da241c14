"""Ridge, its classifier and least squares: one factorisation per training part serves every
penalty.

Cost of a part with n rows, p columns, K inner splits and S penalties: O(n p^2 + K (p^3 + S
p^2) + n S p), and O(n p^2 + n S p) for leave-one-out without a scaler.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...runtime.threads import Team
from ...splits.layouts import Layout, Partition
from ...splits.plan import Plan
from ..base import (
    PER_WORKER,
    Each,
    Inside,
    Kept,
    Losses,
    Outside,
    Path,
    Refusal,
    Task,
    Unsuited,
    joined,
    ranges,
    weights_of,
)
from ..measure import Predictions
from ..problem import Problem, SplitProblem
from .block_sums import KEPT_BLOCKS
from .blocked_part import SINGLES, BlockedPart
from .krylov import fit_sparse
from .least_squares import fit, leading_decisions
from .outer_part import OuterSplits
from .parts import Part
from .penalty_path import PenaltyPath
from .precision import FitReport, Precision, judge
from .rows import LinearProblem
from .sparse_lasso import fit_sparse_lasso
from .targets import Targets, Tested
from .together import SolveTogether, Together, groups_of
from .whole_draws import WholeDraw, can_solve, inner_losses
from .wide_lasso import cost_of_splits, is_wide

AXIS, COUNTED = "alpha", "margins"
SOLVERS = ("auto", "cholesky")
MOMENT = 5e7  # multiplications of a run of a few milliseconds
QUICK = 2e7  # products of all columns that take a millisecond, less than handing over to threads
BLOCKED = (
    "training parts are sums of blocks of rows, and one {} of each serves every setting"
)
LOOSE = "one {} of each training part serves every setting"
WORK = {False: "factorisation", True: "descent along the penalties"}  # of a lasso


def refuses(last: Any) -> str:
    """Return why this last step is not for this path; "" if it is."""
    if last.positive:
        return "positive=True, which no factorisation gives"
    solver = getattr(last, "solver", "auto")
    if solver not in SOLVERS:
        return (
            f"solver={solver!r}, which iterates or cuts singular values by a rule of its "
            "own; solver='auto' is fast"
        )
    if getattr(last, "class_weight", None) is not None:
        return "class_weight, which weighs the rows of each training part anew"
    if np.ndim(getattr(last, "alpha", 0.0)):
        return "an alpha for each target; one number is fast"
    return ""


def family_of(path: PenaltyPath) -> str:
    """Return the name of the kind of model."""
    if path.is_least_squares:
        return "ols"
    return "lasso" if path.is_lasso else "ridge"


class LinearPath(Path):
    """Every setting of every split."""

    whole = compiles = True

    def __init__(self, problem: Problem) -> None:
        self.X, self.weights = problem.X, problem.data.weights
        self.n_settings, self.evaluators = problem.n_settings, problem.evaluators
        self.plans = [draw.plan for draw in problem.draws]
        self.targets = [Targets(own.data.y, own) for own in self.evaluators]
        self.penalty_paths = [PenaltyPath.of(own) for own in problem.combinations]
        self.kinds = [self._kind_of_part(plan) for plan in self.plans]
        products = float(self.X.size * self.X.shape[1])
        self.quick = products <= QUICK
        costs = list(map(self._cost, self.kinds, self.plans))
        self.cost = sum(costs)
        known = all(evaluator.loss.is_known for evaluator in self.evaluators)
        self.at_once = max(costs) <= MOMENT and known  # no part takes long
        self.together = Together([])
        first = self.penalty_paths[0]
        loose = Part in self.kinds
        self.name = f"{'path' if loose else 'shared'}:{family_of(first)}"
        self.reason = (LOOSE if loose else BLOCKED).format(WORK[first.is_lasso])

    def _cost(self, kind: type[Part], plan: Plan) -> float:
        """Return the multiplications of one draw."""
        m, p = self.X.shape
        is_lasso = self.penalty_paths[0].is_lasso
        if kind is Part and is_lasso and is_wide(m, p):
            return cost_of_splits(plan, p, self.penalty_paths)
        return float(m * p * p) * (1 if kind is OuterSplits else plan.n_parts)

    def _kind_of_part(self, plan: Plan) -> type[Part]:
        if plan.inner_layouts is None:
            return OuterSplits if self._is_partition(plan.outer_layout) else Part
        return BlockedPart if all(map(self._is_partition, plan.inner_kept)) else Part

    def _is_partition(self, layout: Layout | None) -> bool:
        """Return whether training parts are sums of blocks, with no more columns than rows."""
        if not isinstance(layout, Partition) or layout.buffer:
            return False
        n_least, p = int(layout.sizes()[:, 0].min()), self.X.shape[1]
        if any(path.is_lasso for path in self.penalty_paths) and is_wide(n_least, p):
            return False
        return n_least >= p

    def singles(self, layout: Partition) -> bool:
        """Return whether every block is one row, without a scaler that depends on it."""
        if any(path.follows_scale or path.is_lasso for path in self.penalty_paths):
            return False
        return bool((layout.sizes()[:, 1] == 1).all())

    def share(self, each: Each, n: int, kept: Kept) -> LinearPath:
        """Return the path with the parts solved that differ in y alone; see together.py."""
        groups = groups_of(self)
        if not groups:
            return self
        items = [(g, j) for g in groups for j in range(self.plans[g[0]].n_parts)]
        ready = copy.copy(self)
        ready.travels, ready.together = False, Together(groups)
        solved = each(SolveTogether(self), items)
        ready.together.parts.update(zip(items, solved, strict=True))
        return ready

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Return ranges of parts: one by one if they take a while, all if the run takes
        milliseconds.

        Outer splits without inner ones come in groups of blocks; each batch sums all rows.
        """
        n_parts, layout = self.plans[draw].n_parts, self.plans[draw].outer_layout
        if self.kinds[draw] is OuterSplits and isinstance(layout, Partition):
            groups = self.groups(layout)
            size = -(-len(groups) // n) if elsewhere else len(groups)
            return [
                range(groups[batch.start][0], groups[batch.stop - 1][1])
                for batch in ranges(len(groups), size)
            ]
        if self.at_once and not elsewhere:
            return [range(n_parts)]
        size = n_parts // (PER_WORKER * n) if self.quick or elsewhere else 1
        return ranges(n_parts, max(1, size))

    def groups(self, layout: Partition) -> list[tuple[int, int]]:
        """Return (first, end) of the blocks that are summed together: about as many as there
        are groups."""
        n = len(layout)
        size = math.isqrt(n - 1) + 1 if n > 1 else 1
        if self.singles(layout):
            size = SINGLES
        elif n <= KEPT_BLOCKS:
            size = n if self.quick else (n + 1) // 2
        return [(group.start, group.stop) for group in ranges(n, size)]

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """Return the losses of every setting on the splits of the task, as Path.run."""
        if self.together.has(task):
            return self.together.measured(self, task)
        if (losses := self._measured_whole(task, team)) is not None:
            return losses
        kind = self.kinds[task.draw]
        if kind is OuterSplits and isinstance(task, Outside):
            try:
                return OuterSplits(self, task.draw, team).measured(task)
            except Unsuited as error:
                return Refusal(str(error))
        results = team.map(partial(self._part, kind, task, team), task.parts)
        return joined(self.plans[task.draw], task, results, self.n_settings)

    def _measured_whole(self, task: Task, team: Team) -> Losses | None:
        """Return the losses of a draw that is solved whole; None: go part by part."""
        if isinstance(task, Inside):
            return (
                inner_losses(self, task, team) if can_solve(self, task.draw) else None
            )
        return task.carry.outer(task) if isinstance(task.carry, WholeDraw) else None

    def _part(
        self, kind: type[Part], task: Task, team: Team, j: int
    ) -> Losses | Refusal:
        try:
            if isinstance(task, Inside):
                return kind(self, task.draw, j, team).inside()
            if j in task.refused:
                return Refusal("")
            i = j - task.parts.start
            carried = task.carry[i] if isinstance(task.carry, list) else None
            part = Part(self, task.draw, j, team, carried)
            return part.outside(int(task.chosen[i]))
        except Unsuited as error:
            return Refusal(str(error))

    def counted(self, close: int) -> Counter[str] | None:
        """Return the counter of close calls; None if there are none."""
        return Counter({COUNTED: close}) if close else None


class _Split(NamedTuple):
    """One split as the solvers read it: its penalties, targets, test rows and training rows."""

    path: PenaltyPath
    targets: Targets
    tested: Tested
    rows: LinearProblem

    @classmethod
    def of(cls, split: SplitProblem) -> _Split:
        data, train = split.evaluator.data, split.train
        targets = Targets(data.y, split.evaluator)
        weights, stop = weights_of(data, train), split.stop.flag
        rows = LinearProblem(split.X_train, targets.Y[train], weights, stop)
        path = PenaltyPath.of(split.combination)
        return cls(path, targets, targets.tested(split.test, train), rows)

    def judged(
        self, decisions: np.ndarray, precision: Precision
    ) -> tuple[Predictions, int]:
        """Return predictions from decisions [rows, targets, settings] that have enough digits."""
        targets, tested = self.targets, self.tested
        targets.refuse_one_class(tested.present, self.path.intercept)
        squares = targets.squares(decisions, tested)
        if squares is not None:
            report = FitReport(
                residual=np.sqrt(squares.min()),
                spread=self.rows.spread(np.arange(self.rows.X.shape[0])),
                amplification=precision.amplification,
            )
            judge(report)
        targets.refuse_tied_scores(decisions, tested)
        return targets.predictions(decisions, tested)


def predictions_of_split(split: SplitProblem) -> tuple[Predictions, int]:
    """Return (predictions of every setting on the test rows, close calls) after one fit."""
    own, precision, X_test = _Split.of(split), Precision(), split.X_test
    path, rows = own.path, own.rows
    if sp.issparse(X_test):
        fit_part = fit_sparse_lasso if path.is_lasso else fit_sparse
        _, coefs, columns = fit_part(rows, path, precision, split.stop)
        X_test = X_test if columns is None else X_test[:, columns]
    else:
        every = np.arange(split.train.size)
        centre, coefs, columns = fit(rows, every, path, precision)
        X_test = (X_test if columns is None else X_test[:, columns]) - centre
    decisions = X_test @ coefs[:-1] + coefs[-1]
    split.stop.check()
    shape = split.test.size, own.targets.n, -1
    return own.judged(decisions.reshape(shape), precision)


def predictions_of_leading(
    split: SplitProblem, counts: np.ndarray
) -> tuple[Predictions, int]:
    """Return the predictions of every setting i on the first counts[i] columns.

    Raise Unsuited where a number of columns has no clear rank.
    """
    own, precision = _Split.of(split), Precision()
    decisions = leading_decisions(own.rows, own.path, precision, split.X_test, counts)
    split.stop.check()
    return own.judged(decisions, precision)
