"""Ridge, its classifier and least squares: one factorisation per training part serves every penalty.

Cost of a part with n rows, p columns, K inner splits and S penalties: O(n p^2 + K (p^3 + S p^2) + n S p), and O(n p^2 + n S p)
for leave-one-out without a scaler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..layouts import Layout, Partition
from ..plan import Plan
from ..table import Sheet
from ..threads import n_threads
from . import lasso
from .base import PER_WORKER, Call, shared_out
from .least_squares import fit
from .linear_fit import Line, Rows
from .linear_parts import BlockedPart, Part
from .measure import Answers
from .outer_part import OuterPart
from .problem import Problem, SplitProblem
from .targets import Targets

AXIS, COUNTED = "alpha", "margins"
SOLVERS = ("auto", "cholesky")
FEW_PARTS = 8  # fewer outer training parts than this are shared out between threads piece by piece,
QUICK = 2e7  # unless the products of all columns take about a millisecond, less than threads take to hand over
LONG = 1e8  # and from here on no more parts than threads go together: one that is not finished holds its row numbers
BLOCKED = "training parts are sums of blocks of rows, and one {} of each serves every setting"
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


class LinearSweep:
    """Every setting of every split."""

    def __init__(self, problem: Problem, plan: Plan) -> None:
        self.X, self.weights, self.meter = problem.X, problem.data.weights, problem.meter
        self.targets = Targets(problem.data.y, problem.meter)
        self.lines = [Line.of(combination) for combination in problem.combinations]
        for line in self.lines:
            if line.is_lasso:
                lasso.check(line.alphas, self.X.shape[1])
        products = float(self.X.size * self.X.shape[1])
        self.part, self.quick = self._kind_of_part(plan), products <= QUICK
        self.cost = products * (1 if self.part is OuterPart else plan.n_parts)
        family = "ols" if self.lines[0].squares else "lasso" if self.lines[0].is_lasso else "ridge"
        self.name = f"path:{family}" if self.part is Part else f"shared:{family}"
        self.reason = (LOOSE if self.part is Part else BLOCKED).format(WORK[self.lines[0].is_lasso])

    def _kind_of_part(self, plan: Plan) -> type[Part]:
        if plan.inner_layouts is None:
            return OuterPart if self._is_partition(plan.outer_layout) else Part
        in_part = not plan.inner_in_rows or plan.outer_layout is None
        return BlockedPart if in_part and all(map(self._is_partition, plan.inner_kept)) else Part

    def _is_partition(self, layout: Layout | None) -> bool:
        """Whether training parts are sums of blocks, with rows enough for the primal form."""
        plain = isinstance(layout, Partition) and not layout.buffer
        return plain and bool(layout.sizes()[:, 0].min() >= self.X.shape[1])  # type: ignore[union-attr]

    def singles(self, layout: Partition) -> bool:
        """Whether every block is one row, and no scaler moves with it."""
        return not any(line.follows_scale or line.is_lasso for line in self.lines) and bool((layout.sizes()[:, 1] == 1).all())

    def stages(self, sheet: Sheet, parts: range | None = None) -> Iterator[Sequence[Call]]:
        """Whole parts where there are many; else their stages, each shared out."""
        parts = range(sheet.plan.n_parts) if parts is None else parts
        every: list[Callable[[], Part]] = [partial(self.part, self, sheet, j) for j in parts]
        if self.part is OuterPart:
            every = [partial(OuterPart, self, sheet, parts)]
        if len(every) >= FEW_PARTS or self.quick:
            yield [partial(self._whole, sheet, part) for part in every]
            return
        size = len(every) if self.cost < LONG * len(every) else max(2, n_threads(None))
        for first in range(0, len(every), size):
            for stage in zip(*(part().stages() for part in every[first : first + size]), strict=True):
                yield [call for calls in stage for call in calls]

    def shares(self, sheet: Sheet, n: int) -> list[range]:
        """Outer splits of one setting n times, as every share sums all rows; else each training part by itself."""
        n_parts = sheet.plan.n_parts
        if self.part is not OuterPart:
            return shared_out([(j, j + 1) for j in range(n_parts)], PER_WORKER * n)
        return shared_out(OuterPart(self, sheet, range(n_parts)).groups, n)

    def _whole(self, sheet: Sheet, part: Callable[[], Part]) -> None:
        for calls in part().stages():
            for call in calls:
                if sheet.stopped:
                    return
                call()

    def count(self, sheet: Sheet, close: int) -> None:
        """Note so many close calls."""
        if close:
            sheet.count(COUNTED, close)


def answers_of_split(split: SplitProblem) -> tuple[Answers, int]:
    """(what every setting says of the test rows, close calls) after one fit."""
    train, test, X_test, data = split.train, split.test, split.X_test, split.meter.data
    targets, line = Targets(data.y, split.meter), Line.of(split.combination)
    if line.is_lasso:
        lasso.check(line.alphas, X_test.shape[1])
    weights = None if data.weights is None else data.weights[train]
    rows = Rows(split.X_train, targets.Y[train], weights, split.stop)
    centre, coefs = fit(rows, np.arange(train.size), line)
    present = targets.counts(train)[None, :] > 0
    targets.refuse_one_class(present, line.intercept)
    decisions = ((X_test - centre) @ coefs[:-1] + coefs[-1]).reshape(len(X_test), targets.n, -1)
    starts = np.array([0, len(X_test)])
    targets.refuse_met(decisions, test, rows, np.arange(train.size))
    targets.refuse_level(decisions, test, starts)
    return targets.answers(decisions, starts, present)
