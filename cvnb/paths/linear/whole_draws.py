"""Draws of a study solved whole: the blocks of all training parts, from sums about one origin.

A single run takes its training parts one by one, each about its own mean. Under many seeds most
of that is calls. Here the rows of all parts are sorted once, and one call each sums the blocks
of all parts, solves for all training parts and predicts on all outer test parts. The mean
squared losses of inner splits are quadratic forms of the sums of their blocks. This is for
ridge with squared loss. A draw whose digits are in doubt is left to the ordinary way, which
judges split by split.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...kernels import linear, linear_rows
from ...losses.loss import squared
from ...runtime.threads import Team
from ...splits.layouts import Partition
from ..base import Inside, Losses, Outside, offsets
from .blocked_part import BlockedPart
from .parts import NONE
from .penalised import models_of_totals
from .precision import ACCEPT, PER_SPREAD, FitReport, verdict_of
from .rows import WIDE, LinearProblem, Model, all_but_one

if TYPE_CHECKING:
    from .path import LinearPath

MOST_BLOCKS = 32  # of a part, whose sums are held at once
LEAST_SHARE = (
    1e-4  # a loss as a share of the squares in its quadratic form: less costs digits
)


def can_solve(path: LinearPath, draw: int) -> bool:
    """Whether this draw of several can be solved whole."""
    if len(path.plans) < 2 or not path.at_once or path.weights is not None:
        return False
    penalties, evaluator = path.penalty_paths[0], path.evaluators[draw]
    is_ridge = not penalties.is_lasso and not penalties.is_least_squares
    is_squared = evaluator.codes is None and evaluator.loss.rows is squared
    in_order = np.array_equal(penalties.which, np.arange(path.n_settings))
    if not (is_ridge and is_squared and in_order) or path.targets[draw].n > 1:
        return False
    plan = path.plans[draw]
    if path.kinds[draw] is not BlockedPart or path.X.shape[1] >= WIDE:
        return False
    sizes = set(map(len, plan.inner_kept))
    return (
        plan.outer_layout is not None and len(sizes) == 1 and max(sizes) <= MOST_BLOCKS
    )


def inner_losses(path: LinearPath, task: Inside, team: Team) -> Losses | None:
    """Return the losses of the inner splits of these parts; None where digits may be lost."""
    draw = WholeDraw(path, task, team)
    losses = draw.inner()
    team.stop.check()
    if losses is None:
        return None
    return Losses(losses.reshape(-1, path.n_settings), carry=draw)


class WholeDraw:
    """The training parts of one draw; after `inner` also their models.

    ordered  the rows by part and block, those of no block before the first
    starts   cell i begins at starts[i]: 1 + blocks of the first part, then those of the next
    model    of the training parts [parts], about the origin
    """

    def __init__(self, path: LinearPath, task: Inside, team: Team) -> None:
        plan, Y = path.plans[task.draw], path.targets[task.draw].Y
        outer = plan.outer_layout
        assert outer is not None
        assert plan.inner_layouts is not None
        self.penalties, self.n_settings = path.penalty_paths[0], path.n_settings
        self.rows = LinearProblem(path.X, Y, None, team.stop.flag)
        self.origin = self.rows.origin(np.arange(len(Y)), self.penalties)
        inner = [plan.inner_layouts[j] for j in task.parts]
        layouts = [layout for layout in inner if isinstance(layout, Partition)]  # all
        pairs = [outer.pair(j) for j in task.parts]
        self.tests = [test for _, test in pairs]
        self.n_parts, self.n_blocks = len(pairs), len(layouts[0])
        self.model = Model(self.origin.centre, NONE)
        self._sort(np.concatenate([train for train, _ in pairs]), layouts)

    def _sort(self, trains: np.ndarray, layouts: list[Partition]) -> None:
        width = self.n_blocks + 1
        cell = np.concatenate(
            [
                layout.label.astype(np.int32) + i * width
                for i, layout in enumerate(layouts)
            ]
        )
        sizes = np.bincount(cell + 1, minlength=self.n_parts * width)
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.ordered = np.empty(trains.size, dtype=np.int64)
        linear_rows.sort_rows(trains, cell, self.starts[:-1].copy(), self.ordered)

    def inner(self) -> np.ndarray | None:
        """Return [parts, blocks, settings] mean squared losses; None where digits may be lost."""
        rows = self.rows
        cells = rows.sums(self.ordered, self.starts, self.origin)
        sums = cells.reshape(self.n_parts, 1 + self.n_blocks, -1).swapaxes(0, 1)
        outside, blocks = sums[0], sums[1:]
        parts = outside + blocks.sum(axis=0)
        totals = np.concatenate([parts[None], all_but_one(outside, blocks)])
        totals = np.ascontiguousarray(totals.swapaxes(0, 1)).reshape(cells.shape)
        coefs, status, amplification = models_of_totals(
            rows, totals, self.origin, self.penalties
        )
        if rows.stop[0] or status.any():
            return None
        losses = self._mean_losses(cells, coefs)
        shape = self.n_parts, 1 + self.n_blocks, -1
        losses = losses.reshape(shape)[:, 1:]
        by_part = amplification.reshape(shape[:2])[:, 1:].max(axis=1)
        if not self._is_fine(parts, losses.mean(axis=1), by_part):
            return None
        every = coefs.reshape(*shape[:2], *coefs.shape[1:])
        self.model = self.model._replace(coefs=np.ascontiguousarray(every[:, 0]))
        return losses

    def _mean_losses(self, cells: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """Return [cells, settings] mean squared losses of the model of each cell on its rows.

            Σ (y - ŷ)² = u' A u,    A = Σ a a' of the rows,  u = (-coefs, level - intercept, 1)

        Row by row where the loss is so small beside the squares of its terms that digits cancel.
        """
        A, terms = self._products(cells), self._terms(coefs)
        squares = (terms * ((A * _lower(A.shape[1])) @ terms)).sum(axis=1)
        sizes = np.sqrt(A.diagonal(axis1=1, axis2=2))[:, None] @ np.abs(terms)
        n_rows = np.diff(self.starts)
        if (squares < LEAST_SHARE * sizes[:, 0] ** 2)[n_rows > 0].any():
            model = self.model._replace(coefs=coefs)
            return self.rows.mean_losses(self.ordered, self.starts, model, NONE, True)
        return squares / np.maximum(n_rows, 1)[:, None]

    def _products(self, sums: np.ndarray) -> np.ndarray:
        """Return [sums, p + 2, p + 2] the products of (x - centre, 1, y - level), lower half."""
        q = self.rows.p + 2
        return sums[:, : q * q].reshape(-1, q, q)

    def _terms(self, coefs: np.ndarray) -> np.ndarray:
        """Return u [cells, p + 2, settings] of `_mean_losses`."""
        n, width, n_settings = coefs.shape
        terms = np.empty((n, width + 1, n_settings))
        np.negative(coefs, out=terms[:, :-1])
        terms[:, -2] += self.origin.level[0]
        terms[:, -1] = 1.0
        return terms

    def _is_fine(
        self, parts: np.ndarray, curves: np.ndarray, amplification: np.ndarray
    ) -> bool:
        """Whether an ordinary run would accept every part: one report, of the worst numbers.

        parts, curves, amplification   for each part its sums, its inner curve, and by how much
                                       its fits amplify rounding
        """
        products = self._products(parts)
        n, mean = products[:, -2, -2], products[:, -1, -2]
        mean, square = mean / n, products[:, -1, -1] / n
        variance = square - mean**2
        if not (variance > linear.KEPT * square).all():
            return False
        spread, distance = np.sqrt(variance), np.zeros(n.size)
        if self.penalties.intercept:
            distance = np.abs(self.origin.level[0] + mean) / spread
        amplified = np.maximum(amplification, PER_SPREAD * distance)
        report = FitReport(
            target_distance=float(distance.max()),
            residual=float((np.sqrt(curves.min(axis=1)) / spread).min()),
            amplification=float(amplified.max()),
            spread=1.0,
            finite=bool(np.isfinite(curves).all()),
        )
        return verdict_of(report) is ACCEPT

    def outer(self, task: Outside) -> Losses | None:
        """Return the losses on the outer test parts; None if one is not finite."""
        rows, test = self.rows, np.concatenate(self.tests)
        starts = np.array(offsets(part.size for part in self.tests))
        values = rows.predict(test, starts, self.model)
        places = [slice(a, b) for a, b in pairwise(starts.tolist())]
        predictions = [
            values[place, s].copy()
            for place, s in zip(places, task.chosen, strict=True)
        ]
        losses, weight = np.zeros((len(places), self.n_settings)), np.zeros(len(places))
        # turns the values into losses
        linear_rows.add_losses(values, rows.Y, NONE, test, starts, True, losses, weight)
        losses /= weight[:, None]
        if not np.isfinite(losses).all():
            return None
        return Losses(losses, [values[place] for place in places], predictions)


@cache
def _lower(q: int) -> np.ndarray:
    """Return weights with which the lower half of a symmetric A gives u' A u."""
    weights: np.ndarray = 2 * np.tri(q, k=-1) + np.eye(q)
    return weights
