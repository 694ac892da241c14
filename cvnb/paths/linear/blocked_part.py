"""A training part whose inner splits partition it: each is fitted from sums over blocks.

A block is a test part. Its training part is the sum of all other blocks and of the rows
that are never tested. Nothing is subtracted, so rows outside cannot touch it and no digits
cancel. There are about as many groups as blocks in a group: what lies outside a group is
summed once for all its blocks, and no more than the blocks of a group are held in memory.
If every block is one row, the leverage of the row in the fit of all rows gives the
prediction of the fit without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels import linear, linear_rows
from ...runtime.threads import Team
from ...splits.layouts import Layout, Partition
from ..base import Losses, Unsuited
from .block_sums import Sums
from .least_squares import fit
from .leave_one_out import left_out
from .parts import Carried, Fits, Inner, Part
from .penalised import models_of_totals, sums_report
from .penalty_path import PenaltyPath
from .precision import Precision, judge
from .rows import Model, all_but_one
from .targets import Tested

if TYPE_CHECKING:
    from .path import LinearPath

SINGLES = 1 << 10  # rows in a group where every block is one row


class BlockedPart(Part):
    """Inner splits whose training parts are sums of blocks."""

    def __init__(self, path: LinearPath, draw: int, j: int, team: Team) -> None:
        super().__init__(path, draw, j, team)
        assert self.plan.inner_layouts is not None
        self.prepare(self.plan.inner_layouts[j], self.train)

    def prepare(self, layout: Layout | None, rows: np.ndarray) -> None:
        """Sort the rows by block, those of no block first, and group the blocks."""
        assert isinstance(layout, Partition)
        self.layout = layout
        self.singles = self.path.singles(layout)
        self.groups = self.path.groups(layout)
        n_tested = layout.sizes()[:, 1]
        self.starts = np.cumsum([0, rows.size - n_tested.sum(), *n_tested])
        self.ordered = np.empty(rows.size, dtype=np.int64)
        labels = layout.label.astype(np.int32)
        places = self.starts[:-1].copy()
        linear_rows.sort_rows(rows, labels, places, self.ordered)

    def inside(self) -> Losses:
        """Return the losses of the inner splits, from sums over the groups."""
        self.sum()
        pieces = self.team.map(self._solve, range(len(self.groups)))
        totals = {frame: sums.total() for frame, sums in self.sums.items()}
        self.carried = Carried(self.carried.pair, totals)
        return self.joined(pieces, self.ordered)

    def sum(self) -> None:
        """Sum the blocks group by group, about one origin and in one basis for each frame."""
        self.precision = Precision()
        self.rows.refuse_weightless(self.ordered)
        if any(path.intercept for path in self.penalty_paths):
            self.precision.judge(self.rows.target_report(self.ordered))
        frames = {path.frame: path for path in self.penalty_paths}
        own = self.rows, self.ordered, self.starts, self.groups
        self.sums = {
            frame: Sums(*own, path, self.precision) for frame, path in frames.items()
        }
        for sums in self.sums.values():
            self.team.map(sums.add, range(len(self.groups)))
        self.team.stop.check()

    def tested(self, g: int) -> Tested:
        """Return the test rows of a group."""
        (a, b), targets = self.groups[g], self.targets
        starts = self.starts[a + 1 : b + 2]
        rows = self.ordered[starts[0] : starts[-1]]
        starts = starts - starts[0]
        blocks = np.empty((b - a, targets.n_classes), dtype=np.int64)
        if targets.n_classes:
            for i in range(b - a):
                blocks[i] = targets.counts(rows[starts[i] : starts[i + 1]])
        return Tested(rows, starts, targets.counts(self.ordered) > blocks)

    def _solve(self, g: int) -> Inner:
        tested = self.tested(g)
        if not self.singles:
            fits, amplification, refused = self.fit_group(g)
            if refused:
                raise Unsuited(next(iter(refused.values())))
            return self.measure(tested, fits, amplification)
        decisions, most = self.left_out(tested.rows)
        predictions, close, squares = self.predictions_of(decisions, tested)
        losses = self.losses(tested, predictions)
        return Inner(losses, np.array([most]), close, squares)

    def fit_group(self, g: int) -> tuple[Fits, np.ndarray, dict[int, str]]:
        """Return (models of the blocks of a group about the origin of the part, their
        amplification of rounding, reasons of refused blocks)."""
        a, b = self.groups[g]
        fits: Fits = []
        refused: dict[int, str] = {}
        amplification = np.full(b - a, self.precision.amplification)
        for path in self.penalty_paths:
            coefs, status, own = self._coefs_of_group(g, path)
            amplification = np.maximum(amplification, own)
            for i in np.flatnonzero(status):
                self.team.stop.check()
                try:
                    judge(sums_report(path, status[i]))
                    coefs[i], more = self._fit_without(path, a + int(i))
                    amplification[i] = max(amplification[i], more)
                except Unsuited as error:
                    refused.setdefault(int(i), str(error))
            fits.append(Model(self.sums[path.frame].origin.centre, coefs))
        return fits, amplification, refused

    def _coefs_of_group(
        self, g: int, path: PenaltyPath
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (coefficients, status, amplification) of the blocks of a group."""
        (a, b), sums = self.groups[g], self.sums[path.frame]
        if sums.exact:
            totals = all_but_one(sums.outside(g), sums.group(g))
            return models_of_totals(self.rows, totals, sums.origin, path)
        n_columns = self.rows.n_targets * path.alphas.size
        coefs = np.zeros((b - a, self.rows.p + 1, n_columns))
        return coefs, np.full(b - a, linear.CANCELLED), np.ones(b - a)

    def _fit_without(self, path: PenaltyPath, k: int) -> tuple[np.ndarray, float]:
        """Return (the model of split k from its own rows, about the origin of the part; its
        amplification of rounding)."""
        before = self.starts[k + 1]
        after = self.starts[k + 2]
        train = np.concatenate([self.ordered[:before], self.ordered[after:]])
        precision = Precision()
        centre, coefs, _ = fit(self.rows, train, path, precision)
        coefs = coefs.copy()
        coefs[-1] += (self.sums[path.frame].origin.centre - centre) @ coefs[:-1]
        return coefs, precision.amplification

    def left_out(self, test: np.ndarray) -> tuple[list[np.ndarray], float]:
        """Return (for each penalty path the decisions on each row of the model without it, the
        amplification of rounding)."""
        precision = Precision(self.precision.amplification)
        decisions = [
            self._left_out(path, test, precision) for path in self.penalty_paths
        ]
        return decisions, precision.amplification

    def _left_out(
        self, path: PenaltyPath, test: np.ndarray, precision: Precision
    ) -> np.ndarray:
        total = self.sums[path.frame].total()
        rows = self.rows
        out = np.empty((test.size, rows.n_targets * path.alphas.size))
        alone = np.ones(test.size, dtype=np.bool_)
        if total.exact:
            alone = left_out(rows, total, path, test, precision, out)
        for t in np.flatnonzero(alone):
            self.team.stop.check()
            train = self.ordered[self.ordered != test[t]]
            centre, coefs, _ = fit(rows, train, path, precision)
            out[t] = (rows.X[test[t]] - centre) @ coefs[:-1] + coefs[-1]
        return out
