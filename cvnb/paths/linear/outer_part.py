"""Linear models of outer splits that choose nothing: where these partition all rows, each training part is a sum of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.threads import Team
from ..base import NOTHING, Losses, Outside, Unsuited
from .parts import BlockedPart
from .targets import EXACT_FIT, are_met

if TYPE_CHECKING:
    from .path import LinearSweep


@dataclass(eq=False)
class Measured:
    """What was measured on some splits; squares as in linear_parts.Inner."""

    losses: np.ndarray
    rows: list[np.ndarray | None]
    predictions: list[np.ndarray]
    times: np.ndarray
    squares: np.ndarray | None
    close: int = 0


class OuterSplits(BlockedPart):
    """Outer splits which partition all rows: each training part is a sum of blocks of them."""

    def __init__(self, sweep: LinearSweep, draw: int, team: Team) -> None:
        self._take(sweep, draw, team)
        self.prepare(self.plan.outer_layout, np.arange(self.plan.n_rows))

    def measured(self, task: Outside) -> Losses:
        """The losses of the splits that the task names; the sums are those of all rows."""
        self.sum()
        asked = [g for g, (a, _) in enumerate(self.groups) if a in task.parts]
        found = self.team.map(self._group, asked)
        self.team.stop.check()
        splits = [one for one, _ in found]
        refused = {
            self.groups[g][0] + i: why
            for g, (_, bad) in zip(asked, found, strict=True)
            for i, why in bad.items()
        }
        losses = Losses(np.concatenate([one.losses for one in splits]), refused=refused)
        for one in splits:
            losses.rows += one.rows
            losses.predictions += one.predictions
        losses.counts = self.sweep.counted(sum(one.close for one in splits))
        for i in np.flatnonzero(self._are_met(splits, task.parts)):
            refused.setdefault(task.parts.start + int(i), EXACT_FIT)
        return losses

    def _are_met(self, found: list[Measured], parts: range) -> np.ndarray:
        """[splits]: whether its targets are met up to rounding; splits of one test row are judged together."""
        squares = [one.losses if self.numbers else one.squares for one in found]
        if squares[0] is None:
            return np.zeros(len(parts), dtype=bool)
        every = np.concatenate([one for one in squares if one is not None])
        times = np.concatenate([one.times for one in found])
        least, one_row = (
            every.min(axis=1),
            self.layout.sizes()[parts.start : parts.stop, 1] == 1,
        )
        if one_row.any():
            least[one_row] = np.nanmean(every[one_row], axis=0).min()
        return are_met(self.residual(least), times, self.rows.spread(self.ordered))

    def _group(self, g: int) -> tuple[Measured, dict[int, str]]:
        """What was found of the splits of a group, and why some of them are refused."""
        (test, starts), present = self.rows_of(g), self.present(g)
        refused: dict[int, str] = {}
        if self.singles:
            decisions, most = self.left_out(test)
            times = np.full(test.size, most)
        else:
            fits, times, refused = self.models_of_group(g)
            decisions = [
                self.rows.predict(test, starts, centre, coefs) for centre, coefs in fits
            ]
        if not refused:
            try:
                return self._measure(test, starts, present, decisions, times), refused
            except Unsuited:
                self.team.stop.check()  # looked at one by one, so that each is judged by its own numbers
        single = []
        for i, (a, b) in enumerate(pairwise(starts)):
            try:
                if i not in refused:
                    own = [one[a:b] for one in decisions]
                    single.append(
                        self._measure(
                            test[a:b],
                            np.array([0, b - a]),
                            present[[i]],
                            own,
                            times[[i]],
                        )
                    )
                    continue
            except Unsuited as why:
                refused[i] = str(why)
            nothing = np.full((1, self.n_settings), np.nan)
            single.append(Measured(nothing, [None], [NOTHING], times[[i]], nothing))
        return _together(single), refused

    def _measure(
        self,
        test: np.ndarray,
        starts: np.ndarray,
        present: np.ndarray,
        decisions: list[np.ndarray],
        times: np.ndarray,
    ) -> Measured:
        answers, close, squares = self.said(decisions, test, starts, present)
        chosen = np.zeros(len(starts) - 1, dtype=np.int64)  # of one setting
        return Measured(
            *self.meter.outer(test, starts[:-1], answers, chosen), times, squares, close
        )


def _together(single: list[Measured]) -> Measured:
    """Splits that were measured one by one, as a group."""
    squares = [one.squares for one in single if one.squares is not None]
    return Measured(
        np.concatenate([one.losses for one in single]),
        [one.rows[0] for one in single],
        [one.predictions[0] for one in single],
        np.concatenate([one.times for one in single]),
        np.concatenate(squares) if len(squares) == len(single) else None,
        sum(one.close for one in single),
    )
