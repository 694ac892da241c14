"""Training parts of linear models: inner splits from sums of blocks where they partition the part, else each from its rows.

A block is a test part. Its training part is the sum of all other blocks and of the rows that are never tested; nothing is
subtracted, so rows outside cannot touch it and no digits cancel. Blocks go in groups of about as many blocks as there are
groups, so that what lies outside a group is summed once for all its blocks, and no more than a group's blocks are held.
Where every block is one row, a row's own share in the fit of all rows says what the fit without it says of it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import linear, linear_rows
from ..layouts import Partition
from ..losses import absolute, squared, zero_one
from ..table import Sheet
from .base import Call, Unsuited, guarded
from .block_sums import KEPT_BLOCKS, Sums
from .least_squares import fit
from .linear_fit import COLLINEAR, DISTANT, INFINITE, NO_WEIGHT, NONE, PIECE, Line, Rows
from .measure import Answers
from .targets import refuse_met

if TYPE_CHECKING:
    from .ridge import LinearSweep

SINGLES = 1 << 10  # rows in a group where every block is one row
Fits = list[tuple[np.ndarray, np.ndarray]]  # for each line (centre, coefficients [splits, p + 1, targets * settings])


class Part:
    """One outer training part: its inner splits, then the choice, then its outer test part."""

    def __init__(self, sweep: LinearSweep, sheet: Sheet, j: int) -> None:
        self.sweep, self.sheet, self.j = sweep, sheet, j
        self.rows = Rows(sweep.X, sweep.targets.Y, sweep.weights, sheet.stop)
        self.lock, self.left, self.close = threading.Lock(), 1, 0

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        """(training, test) rows, made anew when asked for: kept for all parts they would be as large as a few columns of X."""
        return self.sheet.plan.part(self.j)

    @property
    def train(self) -> np.ndarray:
        """The rows inside which a setting is chosen."""
        return self.pair[0]

    def stages(self) -> Iterator[Sequence[Call]]:
        """Every inner split from its own rows."""
        n = 0 if self.sheet.inner is None else len(self.sheet.inner[self.j])
        self.left = max(n, 1)
        yield self.calls(self._split, n) or self.calls(self.finish, 1)

    def calls(self, method: Callable[[int], None], n: int) -> list[Call]:
        """method(0), ..., method(n - 1), each of which may refuse this part."""
        return [partial(self.guard, i, partial(method, i)) for i in range(n)]

    def guard(self, i: int, call: Call) -> None:
        """Make call i, unless the part is refused."""
        guarded(self.sheet, self.j, call)

    def _split(self, k: int) -> None:
        train, test = self.sheet.plan.inner[self.j][k]
        fits, present = self.models(train), self.sweep.targets.counts(train)[None, :] > 0
        if self.sheet.inner is not None and not self.sheet.stopped:
            losses, close = self.measure(test, np.array([0, test.size]), present, fits)
            self.sheet.inner[self.j][k] = losses[0]
            self.finish(close)

    def finish(self, close: int) -> None:
        """Some inner losses are written; after the last the choice is measured outside."""
        with self.lock:
            self.close += close
            self.left -= 1
            if self.left or self.sheet.stopped:
                return
        sheet, plan = self.sheet, self.sheet.plan
        sheet.choose(self.j)
        train, test = self.pair
        if sheet.inner is not None:
            self.refuse_rounding(sheet.inner[self.j], train)
        if plan.outer_layout is None:
            sheet.finished[self.j] = True
        else:
            try:
                self._outer(train, test)
            except Unsuited as why:
                sheet.refused_outside[self.j] = str(why)
        self.let_go()
        self.sweep.count(sheet, self.close)

    def let_go(self) -> None:
        """Free what only an unfinished part needs, while other parts go on."""

    def _outer(self, train: np.ndarray, test: np.ndarray) -> None:
        fits = self.models(train)
        if self.numbers:
            self._outer_numbers(train, test, fits)
            return
        present, starts = self.sweep.targets.counts(train)[None, :] > 0, np.array([0, test.size])
        answers, close = self.answers(test, starts, present, fits)
        if not self.sheet.stopped:
            self.close += close
            self.sweep.meter.outer(self.sheet, self.j, test, answers)

    def _outer_numbers(self, train: np.ndarray, test: np.ndarray, fits: Fits) -> None:
        """The same as Meter.outer, piece by piece: of all rows and settings nothing is held but the losses."""
        sheet, rows, lines, chosen = self.sheet, self.rows, self.sweep.lines, self.sheet.chosen[self.j]
        w, squares = NONE if self.sweep.weights is None else self.sweep.weights, self.sweep.meter.loss.rows is squared
        losses, predictions = np.empty((test.size, sheet.n_settings)), np.empty(test.size)
        total, weight = np.zeros((1, sheet.n_settings)), np.zeros(1)
        in_place = len(lines) == 1 and np.array_equal(lines[0].which, np.arange(sheet.n_settings))
        for first in range(0, test.size, PIECE):
            part, place = test[first : first + PIECE], slice(first, first + PIECE)
            starts = np.array([0, part.size])
            for line, (centre, coefs) in zip(lines, fits, strict=True):
                said = rows.predict(part, starts, centre, coefs, losses[place] if in_place else None)
                own = np.zeros((1, line.which.size))
                for s in np.flatnonzero(line.which == chosen):
                    predictions[place] = said[:, s]
                linear_rows.add_losses(said, rows.Y, w, part, starts, squares, own, weight)
                total[:, line.which] += own
                if not in_place:
                    losses[place, line.which] = said
            if sheet.stopped:
                return
        mean = total / (weight / len(lines))
        if not np.isfinite(mean).all():
            raise Unsuited(INFINITE)
        if sheet.inner is None:
            self.refuse_rounding(mean, train)
        sheet.put_outer(self.j, mean[0], losses, predictions)

    def refuse_rounding(self, losses: np.ndarray, rows: np.ndarray) -> None:
        """Targets met so well that losses [splits, settings] are mostly rounding have scikit-learn's losses only by refit."""
        if self.numbers and losses.size:
            least = losses.mean(axis=0).min()
            least = np.sqrt(least) if self.sweep.meter.loss.rows is squared else least
            refuse_met(least, self.rows, rows)

    @property
    def numbers(self) -> bool:
        """Whether the loss is a plain function of two numbers."""
        return self.sweep.meter.codes is None and self.sweep.meter.loss.rows in (absolute, squared)

    def models(self, train: np.ndarray) -> Fits:
        """The model of these rows, for every line."""
        fits = [fit(self.rows, train, line) for line in self.sweep.lines]
        return [(centre, coefs[None]) for centre, coefs in fits]

    def answers(self, test: np.ndarray, starts: np.ndarray, present: np.ndarray, fits: Fits) -> tuple[Answers, int]:
        """(what every setting says of these rows, close calls); split i holds test[starts[i] : starts[i + 1]]."""
        return self.said([self.rows.predict(test, starts, centre, coefs) for centre, coefs in fits], test, starts, present)

    def said(
        self, decisions: list[np.ndarray], test: np.ndarray, starts: np.ndarray, present: np.ndarray
    ) -> tuple[Answers, int]:
        """The same from the decisions [rows, targets * settings] of every line."""
        sweep = self.sweep
        for line in sweep.lines:
            sweep.targets.refuse_one_class(present, line.intercept)
        shape = len(decisions[0]), self.rows.n_targets, -1
        every = decisions[0].reshape(shape)
        if len(decisions) > 1 or not np.array_equal(sweep.lines[0].which, np.arange(self.sheet.n_settings)):
            every = np.empty((*shape[:2], self.sheet.n_settings))
            for line, one in zip(sweep.lines, decisions, strict=True):
                every[:, :, line.which] = one.reshape(shape)
        if not self.numbers:
            sweep.targets.refuse_met(every, test, self.rows, self.train)
            sweep.targets.refuse_level(every, test, starts)
        return sweep.targets.answers(every, starts, present)

    def measure(self, test: np.ndarray, starts: np.ndarray, present: np.ndarray, fits: Fits) -> tuple[np.ndarray, int]:
        """(losses [splits, settings], close calls)."""
        meter, rows = self.sweep.meter, self.rows
        if self.numbers:
            losses = np.empty((len(starts) - 1, self.sheet.n_settings))
            w = NONE if self.sweep.weights is None else self.sweep.weights
            for line, (centre, coefs) in zip(self.sweep.lines, fits, strict=True):
                losses[:, line.which] = rows.mean_losses(test, starts, centre, coefs, w, meter.loss.rows is squared)
            if not np.isfinite(losses).all():
                raise Unsuited(INFINITE)
            return losses, 0
        if test.size <= PIECE or meter.loss.rows is not zero_one:
            answers, close = self.answers(test, starts, present, fits)
            return meter.measure(test, starts[:-1], answers)[0], close
        parts = [self._piecewise(test[starts[i] : starts[i + 1]], present[[i]], fits, i) for i in range(len(starts) - 1)]
        return np.array([losses for losses, _ in parts]), sum(close for _, close in parts)

    def _piecewise(self, test: np.ndarray, present: np.ndarray, fits: Fits, i: int) -> tuple[np.ndarray, int]:
        """(losses [settings], close calls) of split i, piece by piece: no table of all its rows and settings."""
        losses, close, total = np.zeros(self.sheet.n_settings), 0, 0.0
        own = [(centre, coefs[i : i + 1]) for centre, coefs in fits]
        for part in np.split(test, range(PIECE, test.size, PIECE)):
            share = float(part.size if self.sweep.weights is None else self.sweep.weights[part].sum())
            if share and not self.sheet.stopped:
                answers, n = self.answers(part, np.array([0, part.size]), present, own)
                losses += share * self.sweep.meter.measure(part, np.zeros(1, dtype=np.int64), answers)[0][0]
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

    ready = False

    def __init__(self, sweep: LinearSweep, sheet: Sheet, j: int) -> None:
        super().__init__(sweep, sheet, j)
        self.layout = self.layout_of_blocks()
        n = self.n_blocks = len(self.layout)
        self.singles = sweep.singles(self.layout)
        size = math.isqrt(n - 1) + 1 if n > 1 else 1
        if self.singles:
            size = SINGLES
        elif n <= KEPT_BLOCKS:
            size = n if sweep.quick else (n + 1) // 2
        self.groups = [(a, min(a + size, n)) for a in range(0, n, size)]

    def layout_of_blocks(self) -> Partition:
        """Where the blocks are."""
        assert self.sheet.plan.inner_layouts is not None
        layout = self.sheet.plan.inner_layouts[self.j]
        assert isinstance(layout, Partition)
        return layout

    def all_rows(self) -> np.ndarray:
        """The rows that the layout speaks of."""
        return self.train

    def stages(self) -> Iterator[Sequence[Call]]:
        """Sums over the groups, then the models."""
        self.left = len(self.groups)
        yield self.calls(self._sum, len(self.groups))
        yield self.calls(self._solve, len(self.groups))

    def _prepare(self) -> None:
        """The rows in the order of their blocks, those of no block first; an origin for the sums, and a basis."""
        with self.lock:
            if self.ready:
                return
            rows, tested = self.all_rows(), self.layout.sizes()[:, 1]
            if self.sweep.weights is not None and not self.sweep.weights[rows].any():
                raise Unsuited(NO_WEIGHT)
            if any(line.intercept for line in self.sweep.lines):
                self.rows.refuse_far_targets(rows)
            self.starts = np.cumsum([0, rows.size - tested.sum(), *tested])
            self.ordered = np.empty(rows.size, dtype=np.int64)
            linear_rows.sort_rows(rows, self.layout.label.astype(np.int32), self.starts[:-1].copy(), self.ordered)
            del rows
            self.frames = {line.frame: line for line in self.sweep.lines}
            self.sums = {
                frame: Sums(self.rows, self.ordered, self.starts, self.groups, line) for frame, line in self.frames.items()
            }
            self.ready = True

    def _sum(self, g: int) -> None:
        self._prepare()
        for sums in self.sums.values():
            sums.add(g)

    def let_go(self) -> None:
        self.ordered, self.sums = np.zeros(0, dtype=np.int64), {}

    def _solve(self, g: int) -> None:
        a, b = self.groups[g]
        test, starts = self.ordered[self.starts[a + 1] : self.starts[b + 1]], self.starts[a + 1 : b + 2] - self.starts[a + 1]
        if self.singles:
            decisions = [self._left_out(line, test) for line in self.sweep.lines]
            if not self.sheet.stopped:
                self.write_said(a, b, test, starts, decisions)
            return
        fits = [(self.sums[line.frame].origin[0], self._coefficients(line, g)) for line in self.sweep.lines]
        if not self.sheet.stopped:
            self.write(a, b, test, starts, fits)

    def _coefficients(self, line: Line, g: int) -> np.ndarray:
        """[blocks of the group, p + 1, targets * settings] about the origin of the part."""
        sums, (a, b) = self.sums[line.frame], self.groups[g]
        if sums.basis is None:
            return np.array([self._alone(line, k) for k in range(a, b) if not self.sheet.stopped])
        coefs, how = self.rows.models(sums.outside(g), sums.group(g), sums.origin, line, sums.basis)
        if not self.sheet.stopped:
            for i in np.flatnonzero(how):
                refuse(how[i], line)
                coefs[i] = self._alone(line, a + int(i))
        return coefs

    def _alone(self, line: Line, k: int) -> np.ndarray:
        """The model of split k from its own rows, about the origin of the part."""
        train = np.concatenate([self.ordered[: self.starts[k + 1]], self.ordered[self.starts[k + 2] :]])
        centre, coefs = fit(self.rows, train, line)
        coefs = coefs.copy()
        coefs[-1] += (self.sums[line.frame].origin[0] - centre) @ coefs[:-1]
        return coefs

    def _left_out(self, line: Line, test: np.ndarray) -> np.ndarray:
        """Decisions [rows, targets * settings] of the models of all rows but one, each of that row."""
        sums, rows = self.sums[line.frame], self.rows
        out = np.empty((test.size, rows.n_targets * line.alphas.size))
        alone, how = np.zeros(test.size, dtype=np.bool_), linear.CANCELLED
        if sums.basis is not None:
            how = rows.left_out(sums.total(), sums.origin, line, sums.basis, test, out, alone)
            refuse(how, line)
        for t in np.flatnonzero(alone if how == linear.FINE else np.ones(test.size, dtype=np.bool_)):
            if self.sheet.stopped:
                break
            train = self.ordered[self.ordered != test[t]]
            centre, coefs = fit(rows, train, line)
            out[t] = (rows.X[test[t]] - centre) @ coefs[:-1] + coefs[-1]
        return out

    def present(self, a: int, b: int) -> np.ndarray:
        """[blocks, classes]: whether a class stands in the training part of each block."""
        targets = self.sweep.targets
        total, blocks = targets.counts(self.ordered), np.empty((b - a, targets.n_classes), dtype=np.int64)
        for i, k in enumerate(range(a, b) if targets.n_classes else ()):
            blocks[i] = targets.counts(self.ordered[self.starts[k + 1] : self.starts[k + 2]])
        return total > blocks

    def write(self, a: int, b: int, test: np.ndarray, starts: np.ndarray, fits: Fits) -> None:
        """Measure the models of blocks a ... b - 1."""
        losses, close = self.measure(test, starts, self.present(a, b), fits)
        self._write(a, b, losses, close)

    def write_said(self, a: int, b: int, test: np.ndarray, starts: np.ndarray, decisions: list[np.ndarray]) -> None:
        """Measure what was said of them."""
        answers, close = self.said(decisions, test, starts, self.present(a, b))
        self._write(a, b, self.sweep.meter.measure(test, starts[:-1], answers)[0], close)

    def _write(self, a: int, b: int, losses: np.ndarray, close: int) -> None:
        if not self.sheet.stopped and self.sheet.inner is not None:
            self.sheet.inner[self.j][a:b] = losses
            self.finish(close)

    def models(self, train: np.ndarray) -> Fits:
        """From all the sums together."""
        fits: Fits = []
        for line in self.sweep.lines:
            sums, how = self.sums[line.frame], np.full(1, linear.CANCELLED)
            if sums.basis is not None:
                coefs, how = self.rows.models(sums.total(), np.zeros((0, self.rows.width)), sums.origin, line, sums.basis)
            if not self.sheet.stopped:
                refuse(how[0], line)
            if how[0] == linear.FINE:
                fits.append((sums.origin[0], coefs))
            else:
                centre, own = fit(self.rows, train, line)
                fits.append((centre, own[None]))
        return fits
