"""Classifiers that are fitted to sums over the rows of each class: a training part is the sum of its blocks.

A block is an inner test part. Its training part is the sum of all other blocks and of the rows that are never tested.
Nothing is subtracted from a sum, so rows outside cannot touch it. For each class one vector is summed:

    [ n, sum of z (p), sum of z^2 (p), sum of w, sum of w z (p), second ]      z = x - origin; w: weights

The origin is the mean of all rows summed, and `second` is an algorithm's own: sums of w z^2 or of w z z'. Where a mean is so
far from the origin that digits are lost, a split is fitted from its own rows. Where scikit-learn's own rounding would show in
a loss, the splits are left to refit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from ...losses.loss import log
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
from ..logistic import answers
from ..measure import Answers, Meter
from ..per_split import FIRST
from ..problem import Combination, Problem, SplitProblem
from .moments import Cancelled, Moments, Second, of_rows, of_sums
from .rounding import refuse_doubtful, refuse_level

KEPT_BLOCKS = (
    32  # sums of so many blocks are kept, of more only the sums of their groups
)
BESIDE = (
    30  # multiplications of about the cost of all else that is done to one decision
)
MOST = 2e8  # bytes of sums that a training part may hold
QUICK = 1e6  # numbers in X of which a part takes about a millisecond
BLOCKED = "training parts are sums of blocks of rows, and one pass over each serves every setting"
LOOSE = "one pass over each training part serves every setting"


class Line(Protocol):
    """The settings of one combination.

    which   numbers of the settings
    places  for each of them its place among the distinct values of the parameter
    """

    model: Any
    which: np.ndarray
    places: np.ndarray

    def decisions(
        self, moments: Moments, Z: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(decisions [rows, values, classes], how far rounding may move them [rows, values]).

        Of the rows Z, which are given less the origin of the moments. One column may decide between two classes.
        """
        ...


MakeLine = Callable[[Combination, Meter], Line]


@dataclass(frozen=True, eq=False)
class Whole:
    """The sums of a whole training part."""

    sums: np.ndarray
    origin: np.ndarray


class ClassSweep(Path):
    """Every setting of every split."""

    whole = compiles = True

    def __init__(
        self, problem: Problem, name: str, second: Second, line: MakeLine
    ) -> None:
        self.X, self.weights, self.second = problem.X, problem.data.weights, second
        self.n_settings = problem.n_settings
        self.plans, self.meters = [draw.plan for draw in problem.draws], problem.meters
        self.lines = [
            [line(one, meter) for one in problem.combinations] for meter in self.meters
        ]
        p = self.X.shape[1]
        self.shape = second(np.zeros((1, p)), np.ones(1), FIRST).shape[1:]
        self.width = 2 + 3 * p + math.prod(self.shape)
        self.blocked = [self._is_blocked(plan) for plan in self.plans]
        self.name = f"shared:{name}" if all(self.blocked) else f"path:{name}"
        self.reason = BLOCKED if all(self.blocked) else LOOSE
        n_classes = max(
            0 if meter.classes is None else meter.classes.size for meter in self.meters
        )
        each = (p + BESIDE) * self.n_settings * n_classes
        self.cost = sum(
            _tested(plan) * each + plan.n_parts * float(len(self.X) * self.width)
            for plan in self.plans
        )

    def _is_blocked(self, plan: Plan) -> bool:
        """Whether all inner training parts, or else all outer ones, are sums of blocks."""
        if plan.inner_layouts is None:
            return self._is_partition(plan.outer_layout)
        return all(map(self._is_partition, plan.inner_kept))

    def _is_partition(self, layout: Layout | None) -> bool:
        if not isinstance(layout, Partition) or layout.buffer:
            return False
        n_kept = max(min(len(layout), KEPT_BLOCKS), 2 * math.isqrt(len(layout)))
        n_classes = max(
            0 if meter.classes is None else meter.classes.size for meter in self.meters
        )
        return 8.0 * n_kept * n_classes * self.width <= MOST

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Parts one by one where they are few; of outer splits alone as many as can be, as every batch sums all rows."""
        plan = self.plans[draw]
        if plan.inner_layouts is None and self.blocked[draw]:
            return ranges(
                plan.n_parts, -(-plan.n_parts // n) if elsewhere else plan.n_parts
            )
        return ranges(
            plan.n_parts,
            max(1, plan.n_parts // (PER_WORKER * n)) if self.X.size <= QUICK else 1,
        )

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """As Path.run."""
        plan = self.plans[task.draw]
        if isinstance(task, Inside):
            found = team.map(partial(self._inside, task, team), task.parts)
        elif plan.inner_layouts is None and self.blocked[task.draw]:
            blocks = Blocks(self, task.draw, np.arange(plan.n_rows), plan.outer_layout)
            found = blocks.each(partial(self._outside, task), team, task.parts)
        else:
            carry = [None] * len(task.parts) if task.carry is None else task.carry
            found = team.map(
                lambda j: self._outside(task, j, carry[j - task.parts.start]),
                task.parts,
            )
        team.stop.check()
        return joined(plan, task, found, self.n_settings)

    def _inside(self, task: Inside, team: Team, j: int) -> Losses | Refusal:
        plan, meter, whole = self.plans[task.draw], self.meters[task.draw], None
        splits, call = plan.inner[j], partial(self._split, task.draw, plan.inner[j])
        try:
            if self.blocked[task.draw]:
                assert plan.inner_layouts is not None
                blocks = Blocks(self, task.draw, plan.part(j)[0], plan.inner_layouts[j])
                found = blocks.each(call, team, range(len(splits)))
                whole = blocks.whole()
            else:
                found = team.map(call, range(len(splits)))
            losses, doubts = (np.array(each) for each in zip(*found, strict=True))
            refuse_doubtful(meter, losses.mean(axis=0), doubts.mean(axis=0))
        except Unsuited as why:
            return Refusal(str(why))
        return Losses(losses, carry=whole)

    def _split(
        self, draw: int, splits: Any, k: int, whole: Whole | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(losses [settings], how doubtful each is) of inner split k, from the sums of its training part where given."""
        train, test = splits[k]
        said, doubt = self._said(draw, whole, train, test)
        losses, _ = self.meters[draw].measure(test, FIRST, said)
        return losses[0], doubt

    def _outside(self, task: Outside, j: int, whole: Whole | None) -> Losses | Refusal:
        """The losses of training part j on its outer test part."""
        if j in task.refused:
            return Refusal("")
        train, test = self.plans[task.draw].part(j)
        meter, chosen = self.meters[task.draw], task.chosen[[j - task.parts.start]]
        try:
            said, doubt = self._said(task.draw, whole, train, test)
            losses = Losses(*meter.outer(test, FIRST, said, chosen))
            refuse_doubtful(meter, losses.losses[0], doubt, one_part=True)
        except Unsuited as why:
            return Refusal(str(why))
        return losses

    def _said(
        self, draw: int, whole: Whole | None, train: np.ndarray, test: np.ndarray
    ) -> tuple[Answers, np.ndarray]:
        """What every setting says of the test rows: from sums, or from the training rows where digits would be lost."""
        own = self.lines[draw], self.meters[draw], test, self.X[test]
        if whole is not None:
            with suppress(Cancelled):
                return _ask(of_sums(whole.sums, whole.origin, self.shape), *own)
        w, codes = self.weights, self.meters[draw].codes
        assert codes is not None
        return _ask(
            of_rows(
                self.X[train],
                codes[train],
                None if w is None else w[train],
                self.second,
            ),
            *own,
        )


def _tested(plan: Plan) -> float:
    """How many rows are tested, in all splits together."""
    return float(
        sum(
            splits.layout.sizes()[:, 1].sum()
            for _, splits in plan.levels()
            if len(splits)
        )
    )


def _ask(
    moments: Moments, lines: list[Line], meter: Meter, test: np.ndarray, X: np.ndarray
) -> tuple[Answers, np.ndarray]:
    """(what every setting says of these rows, how doubtful that is on average [settings])."""
    if moments.present.size < 2:
        raise Unsuited(
            "a training part holds one class only, and refit tells what that does"
        )
    Z, found = X - moments.origin, []
    for line in lines:
        one, unsure = line.decisions(moments, Z)
        if (
            one.shape[1] < line.which.size or (np.diff(line.places) != 1).any()
        ):  # in the order of the grid
            one, unsure = one[:, line.places], unsure[:, line.places]
        found.append((line.which, one, unsure))
    decisions, doubt = _in_order(found)
    said = answers(decisions, moments.present, meter, lines[0].model)
    refuse_level(said, decisions, doubt, meter, test)
    return said, doubt.mean(axis=0)


def _in_order(
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """The decisions and doubts of all settings, from (numbers of the settings, decisions, doubts) of each line."""
    which = np.concatenate([numbers for numbers, _, _ in found])
    if len(found) == 1 and np.array_equal(which, np.arange(which.size)):
        return found[0][1:]
    decisions = np.concatenate([one for _, one, _ in found], axis=1)
    doubt = np.concatenate([one for _, _, one in found], axis=1)
    order = np.argsort(which)
    return decisions[:, order], doubt[:, order]


def answers_of_rows(
    split: SplitProblem, second: Second, line: MakeLine
) -> tuple[Answers, int]:
    """(what every setting says of the test rows, 0) after one pass over the training rows of one split."""
    meter, train = split.meter, split.train
    assert meter.codes is not None
    w = None if meter.data.weights is None else meter.data.weights[train]
    moments = of_rows(split.X_train, meter.codes[train], w, second)
    one = line(
        replace(split.combination, which=np.arange(split.combination.which.size)), meter
    )
    said, doubt = _ask(moments, [one], meter, split.test, split.X_test)
    split.stop.check()
    losses = (
        meter.measure(split.test, FIRST, said)[0][0]
        if meter.loss.rows is log
        else doubt
    )
    refuse_doubtful(meter, losses, doubt, one_part=True)
    return said, 0


def refuses_priors(priors: Any) -> str:
    """Why these priors are not for a path: scikit-learn refuses them, or says something about them."""
    if priors is None:
        return ""
    given = np.asarray(priors)
    if given.dtype.kind not in "iuf" or given.ndim != 1:
        return "priors that are no list of numbers"
    if not (given > 0).all() or abs(float(given.sum()) - 1.0) > 1e-6:
        return "priors that are not positive, or do not sum to 1"
    return ""


class Blocks:
    """The rows of a training part, block by block; or all rows, by outer test parts."""

    def __init__(
        self, sweep: ClassSweep, draw: int, rows: np.ndarray, layout: Any
    ) -> None:
        codes = sweep.meters[draw].codes
        assert isinstance(layout, Partition)
        assert codes is not None
        self.sweep, self.rows, self.n = sweep, rows, len(layout)
        self.n_classes = int(codes.max()) + 1
        cells = (layout.label.astype(np.int64) + 1) * self.n_classes + codes[rows]
        self.places = np.argsort(cells, kind="stable")
        self.ends = np.concatenate(
            [
                [0],
                np.cumsum(np.bincount(cells, minlength=(self.n + 1) * self.n_classes)),
            ]
        )
        first = sweep.X[rows[0]]
        self.origin = first + (sweep.X[rows] - first).mean(axis=0)
        size = 1 if self.n <= KEPT_BLOCKS else math.isqrt(self.n)
        self.groups = [(a, min(a + size, self.n)) for a in range(0, self.n, size)]

    def sums(self, a: int, b: int) -> np.ndarray:
        """[blocks a ... b - 1, classes, width]; block -1 holds the rows that are never tested."""
        ends = self.ends[(a + 1) * self.n_classes : (b + 1) * self.n_classes + 1]
        out = np.zeros((ends.size - 1, self.sweep.width))
        there = np.flatnonzero(np.diff(ends))
        rows = self.rows[self.places[ends[0] : ends[-1]]]
        if there.size:
            w = None if self.sweep.weights is None else self.sweep.weights[rows]
            starts = ends[there] - ends[0]
            out[there] = sums_of(
                self.sweep.X[rows] - self.origin, w, starts, self.sweep.second
            )
        return out.reshape(b - a, self.n_classes, -1)

    def each(
        self, call: Callable[[int, Whole], Any], team: Team, wanted: range
    ) -> list[Any]:
        """call(k, sums of all rows but those of block k) of the blocks wanted, in order."""
        never = self.sums(-1, 0)
        groups = team.map(
            lambda group: self.sums(*group).sum(axis=0, keepdims=True), self.groups
        )
        self.of_groups = np.concatenate([*groups, never])
        found = team.map(partial(self._group, call, wanted), range(len(self.groups)))
        return [one for group in found for one in group]

    def whole(self) -> Whole:
        """The sums of all rows."""
        return Whole(self.of_groups.sum(axis=0), self.origin)

    def _group(
        self, call: Callable[[int, Whole], Any], wanted: range, g: int
    ) -> list[Any]:
        (a, b), outside = (
            self.groups[g],
            np.delete(self.of_groups, g, axis=0).sum(axis=0),
        )
        own = self.sums(a, b) if b - a > 1 else np.zeros((1, *outside.shape))
        before, after = np.zeros_like(own), np.zeros_like(own)
        np.cumsum(own[:-1], axis=0, out=before[1:])
        np.cumsum(own[:0:-1], axis=0, out=after[-2::-1])
        others = outside + before + after
        return [
            call(k, Whole(others[k - a], self.origin))
            for k in range(a, b)
            if k in wanted
        ]


def sums_of(
    Z: np.ndarray, w: np.ndarray | None, starts: np.ndarray, second: Second
) -> np.ndarray:
    """[cells, width]: what is summed of the rows from starts[i] up to starts[i + 1]."""
    ones = np.ones(len(Z))
    w, weighted = (ones, Z) if w is None else (w, Z * w[:, None])
    rows = np.column_stack([ones, Z, Z * Z, w, weighted])
    firsts = np.add.reduceat(rows, starts, axis=0)
    return np.hstack([firsts, second(Z, w, starts).reshape(starts.size, -1)])
