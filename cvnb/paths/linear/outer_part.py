"""Outer splits without inner ones: if they partition all rows, each training part is a sum of
blocks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.threads import Team
from ..base import NOTHING, Losses, Outside, Unsuited
from .blocked_part import BlockedPart
from .parts import Inner
from .precision import EXACT_FIT, is_exact
from .targets import Tested

if TYPE_CHECKING:
    from .path import LinearPath


@dataclass(eq=False, kw_only=True)
class Measured(Inner):
    """The results of some outer splits; rows and predictions as in Losses."""

    rows: list[np.ndarray | None]
    predictions: list[np.ndarray]


class OuterSplits(BlockedPart):
    """Outer splits that partition all rows: each training part is a sum of blocks of them."""

    def __init__(self, path: LinearPath, draw: int, team: Team) -> None:
        self._take(path, draw, team)
        self.prepare(self.plan.outer_layout, np.arange(self.plan.n_rows))

    def measured(self, task: Outside) -> Losses:
        """Return the losses of the splits of the task, from the sums of all rows."""
        self.sum()
        groups = [g for g, (a, _) in enumerate(self.groups) if a in task.parts]
        results = self.team.map(self._group, groups)
        self.team.stop.check()
        pieces = [piece for of_group, _ in results for piece in of_group]
        losses = Losses(np.concatenate([piece.losses for piece in pieces]))
        for g, (_, refused) in zip(groups, results, strict=True):
            first = self.groups[g][0]
            losses.refused |= {first + i: reason for i, reason in refused.items()}
        for piece in pieces:
            losses.rows += piece.rows
            losses.predictions += piece.predictions
        losses.counts = self.path.counted(sum(piece.close for piece in pieces))
        for i in np.flatnonzero(self._are_exact(pieces, task.parts)):
            losses.refused.setdefault(task.parts.start + int(i), EXACT_FIT)
        return losses

    def _are_exact(self, pieces: list[Measured], parts: range) -> np.ndarray:
        """Return [splits] whether a split is fitted exactly, up to rounding.

        Splits of one test row are judged together.
        """
        squares = [piece.squares for piece in pieces if piece.squares is not None]
        if self.is_of_residuals:
            squares = [piece.losses for piece in pieces]
        if len(squares) < len(pieces):
            return np.zeros(len(parts), dtype=bool)
        every = np.concatenate(squares)
        least = every.min(axis=1)
        one_row = self.layout.sizes()[parts.start : parts.stop, 1] == 1
        if one_row.any():
            least[one_row] = np.nanmean(every[one_row], axis=0).min()
        amplification = np.concatenate([piece.amplification for piece in pieces])
        spread = self.rows.spread(self.ordered)
        return is_exact(self.residual_of(least), amplification, spread)

    def _group(self, g: int) -> tuple[list[Measured], dict[int, str]]:
        """Return (the results of the splits of a group, reasons of refused splits)."""
        tested = self.tested(g)
        refused: dict[int, str] = {}
        if self.singles:
            decisions, most = self.left_out(tested.rows)
            amplification = np.full(len(tested.present), most)
        else:
            fits, amplification, refused = self.fit_group(g)
            rows, starts, _ = tested
            decisions = [self.rows.predict(rows, starts, own) for own in fits]
        if not refused:
            try:
                return [self._measure(tested, decisions, amplification)], refused
            except Unsuited:  # measured one by one, so that none is refused for another
                self.team.stop.check()
        pieces = []
        for i, (a, b) in enumerate(pairwise(tested.starts)):
            own = [values[a:b] for values in decisions]
            try:
                if i in refused:
                    raise Unsuited(refused[i])
                piece = self._measure(tested.split(i), own, amplification[[i]])
            except Unsuited as error:
                refused[i] = str(error)
                piece = self._nothing(amplification[[i]])
            pieces.append(piece)
        return pieces, refused

    def _measure(
        self, tested: Tested, decisions: list[np.ndarray], amplification: np.ndarray
    ) -> Measured:
        predictions, close, squares = self.predictions_of(decisions, tested)
        test, starts, present = tested
        chosen = np.zeros(len(present), dtype=np.int64)  # there is one setting
        losses, rows, values = self.evaluator.outer(
            test, starts[:-1], predictions, chosen
        )
        return Measured(
            losses, amplification, close, squares, rows=rows, predictions=values
        )

    def _nothing(self, amplification: np.ndarray) -> Measured:
        """Return the results of a refused split."""
        nan = np.full((1, self.n_settings), np.nan)
        return Measured(
            nan, amplification, squares=nan, rows=[None], predictions=[NOTHING]
        )
