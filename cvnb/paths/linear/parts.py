"""Training parts of linear models: inner splits from sums of blocks where they partition the part, else each from its rows.

A block is a test part. Its training part is the sum of all other blocks and of the rows that are never tested; nothing is
subtracted, so rows outside cannot touch it and no digits cancel. Blocks go in groups of about as many blocks as there are
groups, so that what lies outside a group is summed once for all its blocks, and no more than a group's blocks are held.
Where every block is one row, a row's own share in the fit of all rows says what the fit without it says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels import linear, linear_rows
from ...losses.loss import absolute, squared, zero_one
from ...runtime.threads import Team
from ...splits.layouts import Partition
from ...splits.plan import Plan
from ...splits.splitters import Pair
from ..base import Losses, Unsuited
from ..measure import Answers, Meter
from .block_sums import Sums, Total
from .least_squares import fit
from .rows import (
    COLLINEAR,
    DISTANT,
    INFINITE,
    NO_WEIGHT,
    NONE,
    PIECE,
    Line,
    Rounding,
    Rows,
)
from .targets import EXACT_FIT, Targets, are_met

if TYPE_CHECKING:
    from .path import LinearSweep

SINGLES = 1 << 10  # rows in a group where every block is one row
Fits = list[
    tuple[np.ndarray, np.ndarray]
]  # for each line (centre, coefficients [splits, p + 1, targets * settings])


@dataclass(frozen=True, eq=False)
class Carried:
    """What the inner splits of a part leave for its outer one: its rows, and the sums over it for each frame of a line."""

    pair: Pair
    totals: dict[Any, Total] | None = None


@dataclass(eq=False)
class Inner:
    """Losses of some inner splits: with them the close calls, and how much each fit amplifies rounding.

    squares  [splits, settings] mean squared residuals, where the losses do not say how well targets are met
    """

    losses: np.ndarray
    times: np.ndarray
    close: int = 0
    squares: np.ndarray | None = None


class Part:
    """One outer training part: its inner splits, and after the choice its outer test part."""

    def __init__(
        self,
        sweep: LinearSweep,
        draw: int,
        j: int,
        team: Team,
        carried: Carried | None = None,
    ) -> None:
        self._take(sweep, draw, team)
        self.j, self.carried = (
            j,
            Carried(self.plan.part(j)) if carried is None else carried,
        )
        self.train, self.test = self.carried.pair

    def _take(self, sweep: LinearSweep, draw: int, team: Team) -> None:
        self.sweep, self.team = sweep, team
        self.plan: Plan = sweep.plans[draw]
        self.meter: Meter = sweep.meters[draw]
        self.targets: Targets = sweep.targets[draw]
        self.lines, self.n_settings = sweep.lines, sweep.n_settings
        self.rows = Rows(sweep.X, self.targets.Y, sweep.weights, team.stop.flag)

    def inside(self) -> Losses:
        """Every inner split from its own rows."""
        found = self.team.map(self._split, range(len(self.plan.inner[self.j])))
        return self.joined(found, self.train)

    def _split(self, k: int) -> Inner:
        train, test = self.plan.inner[self.j][k]
        fits, times = self.models(train)
        present = self.targets.counts(train)[None, :] > 0
        return self.measure(
            test, np.array([0, test.size]), present, fits, np.array([times])
        )

    def joined(self, found: Sequence[Inner], train: np.ndarray) -> Losses:
        """The inner losses of the part, unless its targets are met up to rounding."""
        self.team.stop.check()
        losses = np.concatenate([one.losses for one in found])
        squares = (
            [losses]
            if self.numbers
            else [one.squares for one in found if one.squares is not None]
        )
        if squares:
            least = self.residual(np.concatenate(squares).mean(axis=0).min())
            times = max(float(one.times.max()) for one in found)
            if are_met(least, np.array(times), self.rows.spread(train)):
                raise Unsuited(EXACT_FIT)
        return Losses(
            losses,
            counts=self.sweep.counted(sum(one.close for one in found)),
            carry=self.carried,
        )

    def residual(self, mean: Any) -> Any:
        """The size of residuals with this mean loss."""
        return (
            mean if self.numbers and self.meter.loss.rows is absolute else np.sqrt(mean)
        )

    def outside(self, chosen: int) -> Losses:
        """The losses of the whole training part on the outer test part."""
        totals = self.carried.totals
        fits, times = (
            self.models(self.train) if totals is None else self.models_of(totals)
        )
        self.team.stop.check()
        if self.numbers:
            return self._outer_numbers(
                fits, times, chosen, judge=self.plan.inner_layouts is None
            )
        present, starts = (
            self.targets.counts(self.train)[None, :] > 0,
            np.array([0, self.test.size]),
        )
        answers, close, squares = self.answers(self.test, starts, present, fits)
        if squares is not None and are_met(
            self.residual(squares.min()), np.array(times), self.rows.spread(self.train)
        ):
            raise Unsuited(EXACT_FIT)
        losses, rows, predictions = self.meter.outer(
            self.test, starts[:-1], answers, np.array([chosen])
        )
        return Losses(losses, rows, predictions, counts=self.sweep.counted(close))

    def _outer_numbers(
        self, fits: Fits, times: float, chosen: int, judge: bool
    ) -> Losses:
        """The same as Meter.outer, piece by piece: of all rows and settings nothing is held but the losses."""
        rows, lines, test = self.rows, self.lines, self.test
        w, squares = (
            NONE if self.sweep.weights is None else self.sweep.weights,
            self.meter.loss.rows is squared,
        )
        losses, predictions = (
            np.empty((test.size, self.n_settings)),
            np.empty(test.size),
        )
        total, weight = np.zeros((1, self.n_settings)), np.zeros(1)
        in_place = len(lines) == 1 and np.array_equal(
            lines[0].which, np.arange(self.n_settings)
        )
        for first in range(0, test.size, PIECE):
            part, place = test[first : first + PIECE], slice(first, first + PIECE)
            starts = np.array([0, part.size])
            for line, (centre, coefs) in zip(lines, fits, strict=True):
                said = rows.predict(
                    part, starts, centre, coefs, losses[place] if in_place else None
                )
                own = np.zeros((1, line.which.size))
                for s in np.flatnonzero(line.which == chosen):
                    predictions[place] = said[:, s]
                linear_rows.add_losses(
                    said, rows.Y, w, part, starts, squares, own, weight
                )
                total[:, line.which] += own
                if not in_place:
                    losses[place, line.which] = said
            self.team.stop.check()
        mean = total / (weight / len(lines))
        if not np.isfinite(mean).all():
            raise Unsuited(INFINITE)
        if judge and are_met(
            self.residual(mean.min()), np.array(times), rows.spread(self.train)
        ):
            raise Unsuited(EXACT_FIT)
        return Losses(mean, [losses], [predictions])

    @property
    def numbers(self) -> bool:
        """Whether the loss is a plain function of two numbers."""
        return self.meter.codes is None and self.meter.loss.rows in (absolute, squared)

    def models(self, train: np.ndarray) -> tuple[Fits, float]:
        """(the model of these rows, for every line; how much they amplify rounding)."""
        rounding = Rounding()
        fits = [fit(self.rows, train, line, rounding) for line in self.lines]
        return [(centre, coefs[None]) for centre, coefs in fits], rounding.times

    def models_of(self, totals: dict[Any, Total]) -> tuple[Fits, float]:
        """The same of the whole part, from its sums."""
        fits: Fits = []
        rounding = Rounding()
        for line in self.lines:
            total, how = totals[line.frame], np.full(1, linear.CANCELLED)
            if total.basis is not None:
                none = np.zeros((0, self.rows.width))
                coefs, how, times = self.rows.models(
                    total.sums, none, total.origin, line, total.basis
                )
                self.team.stop.check()
                refuse(how[0], line)
            if how[0] == linear.FINE:
                fits.append((total.origin[0], coefs))
                rounding.at_least(times[0])
            else:
                centre, own = fit(self.rows, self.train, line, rounding)
                fits.append((centre, own[None]))
        return fits, rounding.times

    def answers(
        self, test: np.ndarray, starts: np.ndarray, present: np.ndarray, fits: Fits
    ) -> tuple[Answers, int, np.ndarray | None]:
        """(what every setting says of these rows, close calls, mean squared residuals of numbers).

        Split i holds test[starts[i] : starts[i + 1]].
        """
        return self.said(
            [self.rows.predict(test, starts, centre, coefs) for centre, coefs in fits],
            test,
            starts,
            present,
        )

    def said(
        self,
        decisions: list[np.ndarray],
        test: np.ndarray,
        starts: np.ndarray,
        present: np.ndarray,
    ) -> tuple[Answers, int, np.ndarray | None]:
        """The same from the decisions [rows, targets * settings] of every line."""
        self.team.stop.check()
        for line in self.lines:
            self.targets.refuse_one_class(present, line.intercept)
        shape = len(decisions[0]), self.rows.n_targets, -1
        every = decisions[0].reshape(shape)
        if len(decisions) > 1 or not np.array_equal(
            self.lines[0].which, np.arange(self.n_settings)
        ):
            every = np.empty((*shape[:2], self.n_settings))
            for line, one in zip(self.lines, decisions, strict=True):
                every[:, :, line.which] = one.reshape(shape)
        self.targets.refuse_level(every, test, starts)
        return *self.targets.answers(every, starts, present), self.targets.squares(
            every, test, starts
        )

    def measure(
        self,
        test: np.ndarray,
        starts: np.ndarray,
        present: np.ndarray,
        fits: Fits,
        times: np.ndarray,
    ) -> Inner:
        """Losses of several splits."""
        meter, rows = self.meter, self.rows
        if self.numbers:
            losses = np.empty((len(starts) - 1, self.n_settings))
            w = NONE if self.sweep.weights is None else self.sweep.weights
            for line, (centre, coefs) in zip(self.lines, fits, strict=True):
                losses[:, line.which] = rows.mean_losses(
                    test, starts, centre, coefs, w, meter.loss.rows is squared
                )
            self.team.stop.check()
            if not np.isfinite(losses).all():
                raise Unsuited(INFINITE)
            return Inner(losses, times)
        if test.size <= PIECE or meter.loss.rows is not zero_one:
            answers, close, squares = self.answers(test, starts, present, fits)
            return Inner(
                meter.measure(test, starts[:-1], answers)[0], times, close, squares
            )
        parts = [
            self._piecewise(test[starts[i] : starts[i + 1]], present[[i]], fits, i)
            for i in range(len(starts) - 1)
        ]
        return Inner(
            np.array([losses for losses, _ in parts]),
            times,
            sum(close for _, close in parts),
        )

    def _piecewise(
        self, test: np.ndarray, present: np.ndarray, fits: Fits, i: int
    ) -> tuple[np.ndarray, int]:
        """(losses [settings], close calls) of split i, piece by piece: no table of all its rows and settings."""
        losses, close, total = np.zeros(self.n_settings), 0, 0.0
        own = [(centre, coefs[i : i + 1]) for centre, coefs in fits]
        for part in np.split(test, range(PIECE, test.size, PIECE)):
            share = float(
                part.size
                if self.sweep.weights is None
                else self.sweep.weights[part].sum()
            )
            if share:
                answers, n, _ = self.answers(
                    part, np.array([0, part.size]), present, own
                )
                losses += (
                    share
                    * self.meter.measure(part, np.zeros(1, dtype=np.int64), answers)[0][
                        0
                    ]
                )
                total, close = total + share, close + n
        return losses / (total or 1.0), close


def refuse(how: int, line: Line) -> None:
    """An error where a fit went so that its own rows would not help it."""
    if how == linear.DISTANT:
        raise Unsuited(DISTANT)
    if how == linear.ILL and not line.squares:
        raise Unsuited(COLLINEAR)


class BlockedPart(Part):
    """Inner splits whose training parts are sums of blocks."""

    def __init__(self, sweep: LinearSweep, draw: int, j: int, team: Team) -> None:
        super().__init__(sweep, draw, j, team)
        assert self.plan.inner_layouts is not None
        self.prepare(self.plan.inner_layouts[j], self.train)

    def prepare(self, layout: Any, rows: np.ndarray) -> None:
        """The rows in the order of their blocks, those of no block first, and the groups of blocks."""
        assert isinstance(layout, Partition)
        self.layout, self.singles, self.groups = (
            layout,
            self.sweep.singles(layout),
            self.sweep.groups(layout),
        )
        tested = layout.sizes()[:, 1]
        self.starts = np.cumsum([0, rows.size - tested.sum(), *tested])
        self.ordered = np.empty(rows.size, dtype=np.int64)
        linear_rows.sort_rows(
            rows, layout.label.astype(np.int32), self.starts[:-1].copy(), self.ordered
        )

    def inside(self) -> Losses:
        """Sums over the groups, then the models of each."""
        self.sum()
        found = self.team.map(self._solve, range(len(self.groups)))
        self.carried = Carried(
            self.carried.pair,
            {frame: sums.total() for frame, sums in self.sums.items()},
        )
        return self.joined(found, self.ordered)

    def sum(self, groups: Sequence[int] | None = None) -> None:
        """Sum the blocks group by group, about one origin and in one basis for each frame."""
        self.rounding = Rounding()
        if (
            self.sweep.weights is not None
            and not self.sweep.weights[self.ordered].any()
        ):
            raise Unsuited(NO_WEIGHT)
        if any(line.intercept for line in self.lines):
            self.rows.refuse_far_targets(self.ordered, self.rounding)
        frames = {line.frame: line for line in self.lines}
        own = self.rows, self.ordered, self.starts, self.groups
        self.sums = {
            frame: Sums(*own, line, self.rounding) for frame, line in frames.items()
        }
        for sums in self.sums.values():
            self.team.map(sums.add, range(len(self.groups)))
        self.team.stop.check()

    def rows_of(self, g: int) -> tuple[np.ndarray, np.ndarray]:
        """(test rows of a group, where those of each block begin)."""
        a, b = self.groups[g]
        return self.ordered[self.starts[a + 1] : self.starts[b + 1]], self.starts[
            a + 1 : b + 2
        ] - self.starts[a + 1]

    def _solve(self, g: int) -> Inner:
        test, starts = self.rows_of(g)
        present = self.present(g)
        if self.singles:
            decisions, most = self.left_out(test)
            answers, close, squares = self.said(decisions, test, starts, present)
            losses = self.meter.measure(test, starts[:-1], answers)[0]
            return Inner(
                losses, np.array([most]), close, None if self.numbers else squares
            )
        fits, times, refused = self.models_of_group(g)
        for why in refused.values():
            raise Unsuited(why)
        return self.measure(test, starts, present, fits, times)

    def models_of_group(self, g: int) -> tuple[Fits, np.ndarray, dict[int, str]]:
        """(models of the blocks of a group about the origin of the part, how much each amplifies rounding, refused ones)."""
        (a, b), fits, refused = self.groups[g], [], dict[int, str]()
        times = np.full(b - a, self.rounding.times)
        for line in self.lines:
            sums = self.sums[line.frame]
            coefs = np.zeros(
                (b - a, self.rows.p + 1, self.rows.n_targets * line.alphas.size)
            )
            how = np.full(b - a, linear.CANCELLED)
            if sums.basis is not None:
                coefs, how, own = self.rows.models(
                    sums.outside(g), sums.group(g), sums.origin, line, sums.basis
                )
                times = np.maximum(times, own)
            for i in np.flatnonzero(how):
                self.team.stop.check()
                try:
                    refuse(how[i] if sums.basis is not None else linear.CANCELLED, line)
                    coefs[i], more = self._alone(line, a + int(i))
                    times[i] = max(times[i], more)
                except Unsuited as why:
                    refused.setdefault(int(i), str(why))
            fits.append((sums.origin[0], coefs))
        return fits, times, refused

    def _alone(self, line: Line, k: int) -> tuple[np.ndarray, float]:
        """(the model of split k from its own rows, about the origin of the part; how much it amplifies rounding)."""
        train, rounding = (
            np.concatenate(
                [self.ordered[: self.starts[k + 1]], self.ordered[self.starts[k + 2] :]]
            ),
            Rounding(),
        )
        centre, coefs = fit(self.rows, train, line, rounding)
        coefs = coefs.copy()
        coefs[-1] += (self.sums[line.frame].origin[0] - centre) @ coefs[:-1]
        return coefs, rounding.times

    def left_out(self, test: np.ndarray) -> tuple[list[np.ndarray], float]:
        """(for each line the decisions on each row of the model of all rows but that one, how much it amplifies rounding)."""
        rounding = Rounding(self.rounding.times)
        return [
            self._left_out(line, test, rounding) for line in self.lines
        ], rounding.times

    def _left_out(self, line: Line, test: np.ndarray, rounding: Rounding) -> np.ndarray:
        total, rows = self.sums[line.frame].total(), self.rows
        out = np.empty((test.size, rows.n_targets * line.alphas.size))
        alone, how = np.zeros(test.size, dtype=np.bool_), linear.CANCELLED
        if total.basis is not None:
            how = rows.left_out(
                total.sums, total.origin, line, total.basis, test, out, alone, rounding
            )
            refuse(how, line)
        for t in np.flatnonzero(
            alone if how == linear.FINE else np.ones(test.size, dtype=np.bool_)
        ):
            self.team.stop.check()
            train = self.ordered[self.ordered != test[t]]
            centre, coefs = fit(rows, train, line, rounding)
            out[t] = (rows.X[test[t]] - centre) @ coefs[:-1] + coefs[-1]
        return out

    def present(self, g: int) -> np.ndarray:
        """[blocks of the group, classes]: whether a class stands in the training part of each block."""
        a, b = self.groups[g]
        total, blocks = (
            self.targets.counts(self.ordered),
            np.empty((b - a, self.targets.n_classes), dtype=np.int64),
        )
        for i, k in enumerate(range(a, b) if self.targets.n_classes else ()):
            blocks[i] = self.targets.counts(
                self.ordered[self.starts[k + 1] : self.starts[k + 2]]
            )
        return total > blocks
