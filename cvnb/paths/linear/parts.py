"""A training part of a linear model, each of whose splits is fitted from its own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels import linear_rows
from ...losses.loss import absolute, squared, zero_one
from ...runtime.threads import Team
from ...splits.plan import Plan
from ...splits.splitters import Pair
from ..base import Losses
from ..measure import LossEvaluator, Predictions
from .block_sums import Total
from .least_squares import fit
from .penalised import models_of_totals, sums_report
from .penalty_path import Frame, PenaltyPath
from .precision import FitReport, Precision, judge
from .rows import NONE, PIECE, LinearProblem, Model
from .targets import Targets, Tested

if TYPE_CHECKING:
    from .path import LinearPath

# for each penalty path the models of some splits
Fits = list[Model]


def of_one_split(model: Model) -> Model:
    """Return the model as that of the only split."""
    return model._replace(coefs=model.coefs[None])


@dataclass(frozen=True, eq=False)
class Carried:
    """What the inner splits of a part leave for its outer one: its rows, and the sums over
    it for each frame of a penalty path."""

    pair: Pair
    totals: dict[Frame, Total] | None = None


@dataclass(eq=False)
class Inner:
    """Losses of some inner splits.

    losses         [splits, settings]
    amplification  [splits] of rounding by the fits
    close          number of close calls
    squares        [splits, settings] mean squared residuals, if the losses are not of residuals
    """

    losses: np.ndarray
    amplification: np.ndarray
    close: int = 0
    squares: np.ndarray | None = None


class Part:
    """One outer training part: its inner splits, and after the choice its outer test part."""

    def __init__(
        self,
        path: LinearPath,
        draw: int,
        j: int,
        team: Team,
        carried: Carried | None = None,
    ) -> None:
        self._take(path, draw, team)
        self.j = j
        self.carried = Carried(self.plan.part(j)) if carried is None else carried
        self.train, self.test = self.carried.pair

    def _take(self, path: LinearPath, draw: int, team: Team) -> None:
        self.path, self.team = path, team
        self.plan: Plan = path.plans[draw]
        self.evaluator: LossEvaluator = path.evaluators[draw]
        self.targets: Targets = path.targets[draw]
        self.penalty_paths, self.n_settings = path.penalty_paths, path.n_settings
        self.weights = NONE if path.weights is None else path.weights
        stop = team.stop.flag
        self.rows = LinearProblem(path.X, self.targets.Y, path.weights, stop)

    @property
    def is_of_residuals(self) -> bool:
        """Whether the loss is the squared or absolute residual."""
        formula = self.evaluator.loss.rows
        return self.evaluator.codes is None and formula in (absolute, squared)

    @property
    def in_grid_order(self) -> bool:
        """Whether there is one penalty path, with the settings in the order of the grid."""
        which = self.penalty_paths[0].which
        return len(self.penalty_paths) == 1 and np.array_equal(
            which, np.arange(self.n_settings)
        )

    def inside(self) -> Losses:
        """Return the losses of the inner splits."""
        splits = range(len(self.plan.inner[self.j]))
        return self.joined(self.team.map(self._split, splits), self.train)

    def _split(self, k: int) -> Inner:
        train, test = self.plan.inner[self.j][k]
        fits, amplification = self.fit_rows(train)
        tested = self.targets.tested(test, train)
        return self.measure(tested, fits, np.array([amplification]))

    def joined(self, pieces: Sequence[Inner], train: np.ndarray) -> Losses:
        """Return the inner losses of the part; raise Unsuited if a setting fits exactly."""
        self.team.stop.check()
        losses = np.concatenate([piece.losses for piece in pieces])
        squares = [piece.squares for piece in pieces if piece.squares is not None]
        if self.is_of_residuals:
            squares = [losses]
        if squares:
            means = np.concatenate(squares).mean(axis=0)
            amplification = max(float(piece.amplification.max()) for piece in pieces)
            judge(self.residual_report(means, amplification, train))
        counts = self.path.counted(sum(piece.close for piece in pieces))
        return Losses(losses, counts=counts, carry=self.carried)

    def residual_of(self, mean: Any) -> Any:
        """Return the size of residuals with this mean loss."""
        if self.is_of_residuals and self.evaluator.loss.rows is absolute:
            return mean
        return np.sqrt(mean)

    def residual_report(
        self,
        means: np.ndarray,
        amplification: float,
        train: np.ndarray,
        target: int | None = None,
    ) -> FitReport:
        """Return the report on fits with these mean losses; target: as in LinearProblem.spread."""
        return FitReport(
            residual=self.residual_of(means.min()),
            amplification=amplification,
            spread=self.rows.spread(train, target),
            finite=bool(np.isfinite(means).all()),
        )

    def outside(self, chosen: int) -> Losses:
        """Return the losses of the whole training part on the outer test part."""
        totals = self.carried.totals
        if totals is None:
            fits, amplification = self.fit_rows(self.train)
        else:
            fits, amplification = self.fit_totals(totals)
        self.team.stop.check()
        if self.is_of_residuals:
            return self._outer_residuals(fits, amplification, chosen)
        tested = self.targets.tested(self.test, self.train)
        predictions, close, squares = self.predict(tested, fits)
        if squares is not None:
            judge(self.residual_report(squares, amplification, self.train))
        losses, rows, chosen_predictions = self.evaluator.outer(
            self.test, tested.starts[:-1], predictions, np.array([chosen])
        )
        return Losses(losses, rows, chosen_predictions, counts=self.path.counted(close))

    def _outer_residuals(self, fits: Fits, amplification: float, chosen: int) -> Losses:
        """Return what LossEvaluator.outer would, piece by piece: only the losses of all rows and
        settings are in memory."""
        rows, test = self.rows, self.test
        losses = np.empty((test.size, self.n_settings))
        predictions = np.empty(test.size)
        total = np.zeros((1, self.n_settings))
        weight = np.zeros(1)
        in_place = self.in_grid_order
        squares = self.evaluator.loss.rows is squared
        for first in range(0, test.size, PIECE):
            place = slice(first, first + PIECE)
            piece = test[place]
            starts = np.array([0, piece.size])
            out = losses[place] if in_place else None
            for path, model in zip(self.penalty_paths, fits, strict=True):
                values = rows.predict(piece, starts, model, out)
                for s in np.flatnonzero(path.which == chosen):
                    predictions[place] = values[:, s]
                own = np.zeros((1, path.which.size))
                linear_rows.add_losses(  # turns the values into losses
                    values, rows.Y, self.weights, piece, starts, squares, own, weight
                )
                total[:, path.which] += own
                if not in_place:
                    losses[place, path.which] = values
            self.team.stop.check()
        mean = total / (weight / len(fits))
        report = FitReport(finite=bool(np.isfinite(mean).all()))
        if self.plan.inner_layouts is None:
            report = self.residual_report(mean, amplification, self.train)
        judge(report)
        return Losses(mean, [losses], [predictions])

    def fit_rows(self, train: np.ndarray) -> tuple[Fits, float]:
        """Return (the models of these rows, their amplification of rounding)."""
        precision = Precision()
        fits: Fits = []
        for path in self.penalty_paths:
            fits.append(of_one_split(fit(self.rows, train, path, precision)))
        return fits, precision.amplification

    def fit_totals(self, totals: dict[Frame, Total]) -> tuple[Fits, float]:
        """Return the same for the whole part, from its sums where they are exact enough."""
        precision = Precision()
        fits: Fits = []
        for path in self.penalty_paths:
            coefs = self._coefs_of_total(totals[path.frame], path, precision)
            if coefs is not None:
                fits.append(Model(totals[path.frame].origin.centre, coefs))
                continue
            fits.append(of_one_split(fit(self.rows, self.train, path, precision)))
        return fits, precision.amplification

    def _coefs_of_total(
        self, total: Total, path: PenaltyPath, precision: Precision
    ) -> np.ndarray | None:
        """Return the coefficients from the sums over the part; None to recompute from its rows."""
        if not total.exact:
            return None
        coefs, status, amplification = models_of_totals(
            self.rows, total.sums[None], total.origin, path
        )
        self.team.stop.check()
        if precision.judge(sums_report(path, status[0])).recompute:
            return None
        precision.judge(FitReport(amplification=amplification[0]))
        return coefs

    def predict(
        self, tested: Tested, fits: Fits
    ) -> tuple[Predictions, int, np.ndarray | None]:
        """Return (predictions of every setting, close calls, mean squared residuals of numbers)."""
        rows, starts, _ = tested
        decisions = [self.rows.predict(rows, starts, own) for own in fits]
        return self.predictions_of(decisions, tested)

    def predictions_of(
        self, decisions: list[np.ndarray], tested: Tested
    ) -> tuple[Predictions, int, np.ndarray | None]:
        """Return the same from the decisions [rows, targets * settings] of each penalty path."""
        self.team.stop.check()
        targets = self.targets
        for path in self.penalty_paths:
            targets.refuse_one_class(tested.present, path.intercept)
        every = self._in_grid_order(decisions)
        targets.refuse_tied_scores(every, tested)
        predictions, close = targets.predictions(every, tested)
        return predictions, close, targets.squares(every, tested)

    def _in_grid_order(self, decisions: list[np.ndarray]) -> np.ndarray:
        """Return decisions [rows, targets, settings], settings in the order of the grid."""
        shape = len(decisions[0]), self.rows.n_targets, -1
        if self.in_grid_order:
            return decisions[0].reshape(shape)
        every = np.empty((*shape[:2], self.n_settings))
        for path, own in zip(self.penalty_paths, decisions, strict=True):
            every[:, :, path.which] = own.reshape(shape)
        return every

    def measure(self, tested: Tested, fits: Fits, amplification: np.ndarray) -> Inner:
        """Return the losses of several splits."""
        loss = self.evaluator.loss
        n_splits = len(tested.present)
        if self.is_of_residuals:
            return Inner(self._mean_residuals(tested, fits), amplification)
        if tested.rows.size <= PIECE or loss.rows is not zero_one:
            predictions, close, squares = self.predict(tested, fits)
            return Inner(
                self.losses(tested, predictions), amplification, close, squares
            )
        losses = np.empty((n_splits, self.n_settings))
        close = 0
        for i in range(n_splits):
            own = [one._replace(coefs=one.coefs[i : i + 1]) for one in fits]
            losses[i], n_close = self._piecewise(tested.split(i), own)
            close += n_close
        return Inner(losses, amplification, close)

    def losses(self, tested: Tested, predictions: Predictions) -> np.ndarray:
        """Return [splits, settings] losses of predictions."""
        return self.evaluator.measure(tested.rows, tested.starts[:-1], predictions)[0]

    def _mean_residuals(self, tested: Tested, fits: Fits) -> np.ndarray:
        """Return [splits, settings] mean squared, else absolute, residuals."""
        rows, starts, present = tested
        losses = np.empty((len(present), self.n_settings))
        squares = self.evaluator.loss.rows is squared
        for path, own in zip(self.penalty_paths, fits, strict=True):
            losses[:, path.which] = self.rows.mean_losses(
                rows, starts, own, self.weights, squares
            )
        self.team.stop.check()
        return losses

    def _piecewise(self, tested: Tested, fits: Fits) -> tuple[np.ndarray, int]:
        """Return (losses [settings], close calls) of one split, without a table of all its rows
        and settings."""
        losses = np.zeros(self.n_settings)
        close = 0
        total = 0.0
        rows = tested.rows
        for piece in np.split(rows, range(PIECE, rows.size, PIECE)):
            share = float(
                self.weights[piece].sum() if self.weights.size else piece.size
            )
            if share:
                own = Tested(piece, np.array([0, piece.size]), tested.present)
                predictions, n_close, _ = self.predict(own, fits)
                losses += share * self.losses(own, predictions)[0]
                total += share
                close += n_close
        return losses / (total or 1.0), close
