"""Classifiers whose fits need only sums over the rows of each class.

A training part is the sum of its blocks (`sums`). Where a mean is so far from the origin that
digits are lost, a split is fitted from its own rows. Where scikit-learn's own rounding would show
in a loss, the splits are left to refit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from ...losses.loss import log
from ...runtime.threads import Team
from ...splits.layouts import Layout, Partition, Splits
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
    weights_of,
)
from ..logistic import class_predictions
from ..measure import FIRST, LossEvaluator, Predictions
from ..problem import Combination, Problem, SplitProblem
from .moments import DigitsLost, Moments, Second, of_rows
from .rounding import refuse_doubtful, refuse_level
from .sums import KEPT_BLOCKS, ClassRows, PartSums, RowBlocks

OTHER_WORK = 30  # multiplications that cost as much as all other work on one decision
MOST = 2e8  # largest number of bytes of the sums of a training part
QUICK = 1e6  # numbers in X that a part takes about a millisecond for
BLOCKED = "training parts are sums of blocks of rows, and one pass over each serves every setting"
LOOSE = "one pass over each training part serves every setting"
MISSING_CLASS = (
    "a class that has a prior is missing from a training part; "
    "refitting shows what scikit-learn does"
)


class DecisionPath(Protocol):
    """The settings of one combination.

    which   numbers of the settings
    places  place of each setting among the distinct values of the parameter
    """

    model: Any
    which: np.ndarray
    places: np.ndarray

    def decisions(
        self, moments: Moments, Z: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return decisions [rows, values, classes], and how far rounding may change them.

        Z are rows minus the origin of the moments. The changes are [rows, values]. With two classes
        there may be one column.
        """
        ...


MakePath = Callable[[Combination, LossEvaluator], DecisionPath]


class ClassPath(Path):
    """Every setting of every split."""

    whole = compiles = True

    def __init__(
        self, problem: Problem, name: str, second: Second, make_path: MakePath
    ) -> None:
        self.X, self.n_settings = problem.X, problem.n_settings
        self.plans = [draw.plan for draw in problem.draws]
        self.evaluators = problem.evaluators
        self.decision_paths = [
            [make_path(combination, evaluator) for combination in problem.combinations]
            for evaluator in self.evaluators
        ]
        shape = second(np.zeros((1, self.X.shape[1])), np.ones(1), FIRST).shape[1:]
        self.rows = []
        for evaluator in self.evaluators:
            codes, weights = evaluator.codes, problem.data.weights
            assert codes is not None
            self.rows.append(ClassRows(self.X, codes, weights, second, shape))
        self.width = self.rows[0].width
        self.n_classes = max(rows.n_classes for rows in self.rows)
        self.blocked = [self._is_blocked(plan) for plan in self.plans]
        self.name = f"shared:{name}" if all(self.blocked) else f"path:{name}"
        self.reason = BLOCKED if all(self.blocked) else LOOSE
        self.cost = sum(map(self._cost, self.plans))

    def _cost(self, plan: Plan) -> float:
        layouts = [splits.layout for _, splits in plan.levels()]
        n_tested = float(sum(layout.sizes()[:, 1].sum() for layout in layouts))
        one_row = (self.X.shape[1] + OTHER_WORK) * self.n_settings * self.n_classes
        return n_tested * one_row + plan.n_parts * float(len(self.X) * self.width)

    def _is_blocked(self, plan: Plan) -> bool:
        """Return whether all inner training parts, or else all outer ones, are sums of blocks."""
        if plan.inner_layouts is None:
            return self._is_partition(plan.outer_layout)
        return all(map(self._is_partition, plan.inner_kept))

    def _is_partition(self, layout: Layout | None) -> bool:
        if not isinstance(layout, Partition) or layout.buffer:
            return False
        n_kept = max(min(len(layout), KEPT_BLOCKS), 2 * math.isqrt(len(layout)))
        return 8.0 * n_kept * self.n_classes * self.width <= MOST

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Return single parts if they are few.

        Outer splits alone are in the largest batches, as every batch sums all rows.
        """
        plan = self.plans[draw]
        size = 1
        if plan.inner_layouts is None and self.blocked[draw]:
            size = -(-plan.n_parts // n) if elsewhere else plan.n_parts
        elif self.X.size <= QUICK:
            size = max(1, plan.n_parts // (PER_WORKER * n))
        return ranges(plan.n_parts, size)

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """As Path.run."""
        plan, found = self.plans[task.draw], []
        if isinstance(task, Inside):
            found = team.map(partial(self._inside, task, team), task.parts)
        elif plan.inner_layouts is None and self.blocked[task.draw]:
            blocks = self._blocks(task.draw, np.arange(plan.n_rows), plan.outer_layout)
            found = blocks.each(partial(self._outside, task), team, task.parts)
        else:
            carry = [None] * len(task.parts) if task.carry is None else task.carry
            first = task.parts.start
            found = team.map(
                lambda j: self._outside(task, j, carry[j - first]), task.parts
            )
        team.stop.check()
        return joined(plan, task, found, self.n_settings)

    def _blocks(self, draw: int, rows: np.ndarray, layout: Layout | None) -> RowBlocks:
        assert isinstance(layout, Partition)
        return RowBlocks(self.rows[draw], rows, layout)

    def _inside(self, task: Inside, team: Team, j: int) -> Losses | Refusal:
        """Return the losses of the inner splits of part j, and its sums for the outer split."""
        plan, whole = self.plans[task.draw], None
        splits = plan.inner[j]
        numbers, call = range(len(splits)), partial(self._split, task.draw, splits)
        try:
            if self.blocked[task.draw]:
                assert plan.inner_layouts is not None
                rows, _ = plan.part(j)
                blocks = self._blocks(task.draw, rows, plan.inner_layouts[j])
                found = blocks.each(call, team, numbers)
                whole = blocks.whole()
            else:
                found = team.map(call, numbers)
            losses, doubts = map(np.array, zip(*found, strict=True))
            evaluator = self.evaluators[task.draw]
            refuse_doubtful(evaluator, losses.mean(axis=0), doubts.mean(axis=0))
        except Unsuited as why:
            return Refusal(str(why))
        return Losses(losses, carry=whole)

    def _split(
        self, draw: int, splits: Splits, k: int, part: PartSums | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return losses and doubts [settings] of inner split k, from sums if there are any."""
        train, test = splits[k]
        predictions, doubt = self._predictions(draw, part, train, test)
        losses, _ = self.evaluators[draw].measure(test, FIRST, predictions)
        return losses[0], doubt

    def _outside(
        self, task: Outside, j: int, part: PartSums | None
    ) -> Losses | Refusal:
        """Return the losses of training part j on its outer test part."""
        if j in task.refused:
            return Refusal("")
        train, test = self.plans[task.draw].part(j)
        evaluator, chosen = (
            self.evaluators[task.draw],
            task.chosen[[j - task.parts.start]],
        )
        try:
            predictions, doubt = self._predictions(task.draw, part, train, test)
            losses = Losses(*evaluator.outer(test, FIRST, predictions, chosen))
            refuse_doubtful(evaluator, losses.losses[0], doubt, one_part=True)
        except Unsuited as why:
            return Refusal(str(why))
        return losses

    def _predictions(
        self, draw: int, part: PartSums | None, train: np.ndarray, test: np.ndarray
    ) -> tuple[Predictions, np.ndarray]:
        """Return predictions and doubts, from training rows where sums have lost digits."""
        paths, evaluator, X = (
            self.decision_paths[draw],
            self.evaluators[draw],
            self.X[test],
        )
        if part is not None:
            with suppress(DigitsLost):
                return predictions_from(part.moments(), paths, evaluator, test, X)
        moments = self.rows[draw].moments(train)
        return predictions_from(moments, paths, evaluator, test, X)


def predictions_from_rows(
    split: SplitProblem, second: Second, make_path: MakePath
) -> tuple[Predictions, int]:
    """Return the predictions of every setting for the test rows of one split, and 0 ties."""
    evaluator, train = split.evaluator, split.train
    assert evaluator.codes is not None
    w = weights_of(evaluator.data, train)
    moments = of_rows(split.X_train, evaluator.codes[train], w, second)
    which = np.arange(split.combination.which.size)
    path = make_path(replace(split.combination, which=which), evaluator)
    predictions, doubt = predictions_from(
        moments, [path], evaluator, split.test, split.X_test
    )
    split.stop.check()
    losses = doubt
    if evaluator.loss.rows is log:
        losses = evaluator.measure(split.test, FIRST, predictions)[0][0]
    refuse_doubtful(evaluator, losses, doubt, one_part=True)
    return predictions, 0


def predictions_from(
    moments: Moments,
    paths: list[DecisionPath],
    evaluator: LossEvaluator,
    test: np.ndarray,
    X: np.ndarray,
) -> tuple[Predictions, np.ndarray]:
    """Return the predictions of every setting for rows X, and their mean doubts [settings]."""
    if moments.present.size < 2:
        raise Unsuited(
            "a training part holds one class only; refitting shows what scikit-learn does"
        )
    Z, decisions, doubts = X - moments.origin, [], []
    for path in paths:
        values, unsure = path.decisions(moments, Z)
        in_order = (
            values.shape[1] == path.which.size and (np.diff(path.places) == 1).all()
        )
        if not in_order:
            values, unsure = values[:, path.places], unsure[:, path.places]
        decisions.append(values)
        doubts.append(unsure)
    which = np.concatenate([path.which for path in paths])
    all_decisions, doubt = _ordered(which, decisions), _ordered(which, doubts)
    predictions = class_predictions(
        all_decisions, moments.present, evaluator, paths[0].model
    )
    refuse_level(predictions, all_decisions, doubt, evaluator, test)
    return predictions, doubt.mean(axis=0)


def _ordered(which: np.ndarray, pieces: list[np.ndarray]) -> np.ndarray:
    """Return pieces [rows, settings, ...] as one array in the order of the settings `which`."""
    if len(pieces) == 1 and np.array_equal(which, np.arange(which.size)):
        return pieces[0]
    return np.concatenate(pieces, axis=1)[:, np.argsort(which)]


def refuses_priors(priors: Any) -> str:
    """Return why a path cannot handle these priors, or ""; scikit-learn refuses or warns."""
    if priors is None:
        return ""
    numbers = np.asarray(priors)
    if numbers.dtype.kind not in "iuf" or numbers.ndim != 1:
        return "priors that are no list of numbers"
    if not (numbers > 0).all() or abs(float(numbers.sum()) - 1.0) > 1e-6:
        return "priors that are not positive, or do not sum to 1"
    return ""
