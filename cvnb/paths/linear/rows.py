"""The rows of a linear problem: their sums and means, predictions on them and losses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...kernels import linear_rows
from ..base import Unsuited
from .penalty_path import PenaltyPath
from .precision import FitReport, judge, nearly_constant, scale_report

NO_WEIGHT = (
    "all weights of a training part are zero; refitting shows what scikit-learn does"
)
WIDE = 128  # columns from which on the matrix library sums products faster
PIECE = 1 << 15  # rows predicted and measured at once
CHUNK = 1 << 14  # rows summed at once where they have to be copied
NONE = np.zeros(0)
NO_BASIS = np.zeros((0, 0))


class Origin(NamedTuple):
    """Coordinates of sums over rows: (x - centre) @ basis, or x - centre without one, y - level."""

    centre: np.ndarray
    level: np.ndarray
    basis: np.ndarray = NO_BASIS

    def shift(self) -> np.ndarray:
        """Return the centre that sums are counted from, in their own coordinates."""
        return np.zeros(self.centre.size) if self.basis.size else self.centre


class Model(NamedTuple):
    """A linear model: the decisions are [x - centre, 1] @ coefs.

    coefs    [p + 1, targets * settings]; in front of these [splits] where there are several
    columns  the columns that centre and coefs belong to; None: all
    """

    centre: np.ndarray
    coefs: np.ndarray
    columns: np.ndarray | None = None


@dataclass(frozen=True)
class Design:
    """Rows as a model sees them: A = root * (X - centre - rest) * scale, b = root * (Y - level)."""

    A: np.ndarray
    b: np.ndarray
    scale: np.ndarray
    centre: np.ndarray
    level: np.ndarray
    rest: np.ndarray


class LinearProblem:
    """The data as the kernels need them.

    X, Y   [rows, p] and [rows, targets]
    root   [rows] square roots of the weights; empty without weights
    stop   the stop flag
    width  the length of a vector of sums (see kernels/linear_rows.py)
    """

    def __init__(
        self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, stop: np.ndarray
    ) -> None:
        self.X, self.Y, self.stop = X, Y, stop
        self.root = NONE if weights is None else np.sqrt(weights)
        self.p = X.shape[1]
        self.n_targets = Y.shape[1]
        self.width = (self.p + 1 + self.n_targets) ** 2 + 2 * self.p + 1

    def origin(self, rows: np.ndarray, path: PenaltyPath) -> Origin:
        """Return the means of these rows; zeros where a model does not centre."""
        centre = np.zeros(self.p)
        if path.centred:
            root = self.root if path.intercept else NONE
            linear_rows.centre_of(self.X, rows, root, centre)
        return Origin(centre, self.level(rows, path))

    def level(self, rows: np.ndarray, path: PenaltyPath) -> np.ndarray:
        """Return the mean targets of these rows; zeros without an intercept."""
        level = np.zeros(self.n_targets)
        if path.intercept:
            linear_rows.centre_of(self.Y, rows, self.root, level)
        return level

    def weight(self, rows: np.ndarray) -> float:
        """Return the sum of the weights of these rows."""
        if self.root.size:
            return float((self.root[rows] ** 2).sum())
        return float(rows.size)

    def refuse_weightless(self, rows: np.ndarray) -> None:
        """Raise Unsuited if all these rows have weight zero."""
        if self.root.size and not self.root[rows].any():
            raise Unsuited(NO_WEIGHT)

    def spread(self, rows: np.ndarray, target: int | None = None) -> float:
        """Return the standard deviation of the targets of those rows that have a weight.

        target: one of them; None: all together
        """
        Y = self.Y if target is None else self.Y[:, target]
        Y = Y[rows[self.root[rows] > 0] if self.root.size else rows]
        Y -= Y.sum() / Y.size  # indexing by row numbers made a copy
        return math.sqrt(float(np.vdot(Y, Y)) / Y.size)

    def target_report(self, rows: np.ndarray) -> FitReport:
        """Return the report on targets that an intercept centres: how far from zero they are."""
        report = FitReport()
        for y in self.Y.T:
            first = y[rows[0]]
            y = y[rows]
            y -= first
            mean = y.sum() / y.size
            square = float(y @ y) / y.size - mean * mean
            level = first + mean
            if square > 0:
                distance = abs(level) / math.sqrt(square)
                report.target_distance = max(report.target_distance, distance)
        return report

    def sums(self, rows: np.ndarray, starts: np.ndarray, origin: Origin) -> np.ndarray:
        """Return [blocks, width] sums over rows[starts[i] : starts[i + 1]]."""
        out = np.zeros((len(starts) - 1, self.width))
        centre, level, basis = origin
        data = self.X, self.Y, self.root, rows, starts
        if not basis.size and self.p < WIDE:
            linear_rows.sum_blocks(*data, centre, level, self.stop, out)
        elif self.p < WIDE and starts[-1] - starts[0] <= CHUNK:
            own = rows[starts[0] : starts[-1]]
            self._sum_in_basis(own, starts - starts[0], origin, out)
        else:
            for i in range(len(out)):
                block = rows[starts[i] : starts[i + 1]]
                self._sum_by_chunks(block, origin, out[i])
                if self.stop[0]:
                    break
        return out

    def _sum_by_chunks(self, rows: np.ndarray, origin: Origin, out: np.ndarray) -> None:
        """Add the sums over one block to out, chunk by chunk."""
        for start in range(0, rows.size, CHUNK):
            chunk = rows[start : start + CHUNK]
            own = np.zeros((1, self.width))
            if self.p >= WIDE:
                own[0] = self._products(chunk, origin)
            else:
                bounds = np.array([0, chunk.size])
                self._sum_in_basis(chunk, bounds, origin, own)
            out += own[0]
            if self.stop[0]:
                return

    def _sum_in_basis(
        self, rows: np.ndarray, starts: np.ndarray, origin: Origin, out: np.ndarray
    ) -> None:
        centre, level, basis = origin
        Z = (self.X[rows] - centre) @ basis
        Y = self.Y[rows]
        root = self.root[rows] if self.root.size else self.root
        every = np.arange(rows.size)
        zero = np.zeros(self.p)
        linear_rows.sum_blocks(Z, Y, root, every, starts, zero, level, self.stop, out)

    def _products(self, rows: np.ndarray, origin: Origin) -> np.ndarray:
        """Return the sums over one block, by the matrix library."""
        centre, level, basis = origin
        Z = self.X[rows] - centre
        Z = Z @ basis if basis.size else Z
        A = np.hstack([Z, np.ones((rows.size, 1)), self.Y[rows] - level])
        if self.root.size:
            A *= self.root[rows, None]
        gram = (A.T @ A).ravel()
        return np.concatenate([gram, Z.sum(axis=0), (Z * Z).sum(axis=0), [rows.size]])

    def scale(self, train: np.ndarray) -> np.ndarray:
        """Return the factors of a StandardScaler, 1 for a constant column."""
        mean = np.zeros(self.p)
        linear_rows.centre_of(self.X, train, NONE, mean)
        X = self.X[train] - mean
        n = train.size
        # the mean of large numbers is rounded, so X still has one
        variance = np.mean(X**2, axis=0) - np.mean(X, axis=0) ** 2
        judge(scale_report(variance, mean, n))
        constant = nearly_constant(variance, mean, n, 1.0)
        return np.where(constant, 1.0, 1 / np.sqrt(np.where(constant, 1.0, variance)))

    def design(self, train: np.ndarray, path: PenaltyPath) -> Design:
        """Return these rows as the model sees them."""
        scale = self.scale(train) if path.scaled else np.ones(self.p)
        centre, level, _ = self.origin(train, path)
        root = self.root[train, None] if self.root.size else 1.0
        X = self.X[train]
        X -= centre
        Y = self.Y[train] - level
        rest = np.zeros(self.p)
        if path.intercept:
            # the mean of large numbers is rounded: subtract what is left of it
            w = self.row_weights(train)
            rest = w @ X / w.sum()
            more = w @ Y / w.sum()
            X -= rest
            Y = Y - more
            level = level + more
        if path.scaled:
            X *= scale
        if self.root.size:
            X *= root
        return Design(X, root * Y, scale, centre, level, rest)

    def row_weights(self, rows: np.ndarray) -> np.ndarray:
        """Return [rows] the weight of each row, 1 without weights."""
        return self.root[rows] ** 2 if self.root.size else np.ones(rows.size)

    def predict(
        self,
        rows: np.ndarray,
        starts: np.ndarray,
        model: Model,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return decisions [rows, targets * settings], for rows[starts[i] : starts[i + 1]] by
        coefs[i]; in `out` if given."""
        centre, coefs, columns = model
        X = self.X
        if columns is not None:
            X, rows = X[np.ix_(rows, columns)], np.arange(rows.size)
        if out is None:
            out = np.empty((rows.size, coefs.shape[2]))
        linear_rows.predict(X, rows, starts, centre, coefs, self.stop, out)
        return out

    def mean_losses(
        self,
        rows: np.ndarray,
        starts: np.ndarray,
        model: Model,
        w: np.ndarray,
        squares: bool,
    ) -> np.ndarray:
        """Return [splits, settings] mean losses, squared or else absolute, of the decisions of
        `predict`.

        w holds the weights of all rows, or is empty. Long parts are measured piece by piece.
        """
        centre, coefs, columns = model
        X, Y, stop = self.X, self.Y, self.stop
        if columns is not None:
            X, Y, w = X[np.ix_(rows, columns)], Y[rows], w[rows] if w.size else w
            rows = np.arange(rows.size)
        total = np.zeros((len(coefs), coefs.shape[2]))
        weight = np.zeros(len(coefs))
        for first in range(0, rows.size, PIECE):
            piece = rows[first : first + PIECE]
            own = np.clip(starts - first, 0, piece.size)
            linear_rows.add_mean_losses(
                X, piece, own, centre, coefs, Y, w, squares, stop, total, weight
            )
        return total / np.where(weight > 0, weight, 1.0)[:, None]


def all_but_one(outside: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Return [blocks, ...] outside + all blocks but i for each i; [outside] without blocks.

    Nothing is subtracted, so block i cannot touch the digits of the others.
    """
    if not len(blocks):
        return outside[None]
    others = np.zeros(blocks.shape)
    for i in reversed(range(len(blocks) - 1)):
        np.add(others[i + 1], blocks[i + 1], out=others[i])
    before = np.zeros(outside.shape)
    for i, block in enumerate(blocks):
        others[i] += before
        before += block
    return np.add(others, outside, out=others)


def column_report(path: PenaltyPath, mean: np.ndarray, spread: np.ndarray) -> FitReport:
    """Return the report on columns: how far from zero they are in their spreads.

    A scaler and an intercept together take the distance out, and neither leaves it as it is.
    The spread of a constant column is exactly 0: the centre of its part is that exact. But a
    scaler takes scikit-learn's rounded mean out of it, and the rest acts as an intercept.
    """
    report = FitReport()
    varies = spread > 0
    if path.scaled and not path.intercept:
        report.constant_distance = np.fmax.reduce(np.abs(mean[~varies]), initial=0.0)
    if path.intercept != path.scaled and varies.any():
        report.column_distance = float((np.abs(mean[varies]) / spread[varies]).max())
    return report
