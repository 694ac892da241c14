"""Linear models of outer splits that choose nothing: where these partition all rows, each training part is a sum of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..layouts import Partition
from ..table import Sheet
from .base import Call, Unsuited
from .linear_parts import BlockedPart, Fits
from .measure import Answers

if TYPE_CHECKING:
    from .ridge import LinearSweep


class OuterPart(BlockedPart):
    """Outer splits of one setting, which partition all rows: each training part is a sum of blocks of them."""

    def __init__(self, sweep: LinearSweep, sheet: Sheet, splits: range) -> None:
        """Of these splits the groups are measured that begin among them; the sums are those of all rows."""
        super().__init__(sweep, sheet, 0)
        self.asked = [g for g, (a, _) in enumerate(self.groups) if a in splits]

    def layout_of_blocks(self) -> Partition:
        assert isinstance(self.sheet.plan.outer_layout, Partition)
        return self.sheet.plan.outer_layout

    def all_rows(self) -> np.ndarray:
        return np.arange(self.sheet.plan.n_rows)

    def stages(self) -> Iterator[Sequence[Call]]:
        sums, models = super().stages()
        yield sums
        yield [models[g] for g in self.asked]

    def guard(self, i: int, call: Call) -> None:
        """Make the call for group i, unless its splits are refused."""
        if self.groups[i][0] in self.sheet.refused:
            return
        try:
            call()
        except Unsuited as why:
            self.sheet.refused.update(dict.fromkeys(range(*self.groups[i]), str(why)))

    def write(self, a: int, b: int, test: np.ndarray, starts: np.ndarray, fits: Fits) -> None:
        self._write_outer(a, b, test, starts, *self.answers(test, starts, self.present(a, b), fits))

    def write_said(self, a: int, b: int, test: np.ndarray, starts: np.ndarray, decisions: list[np.ndarray]) -> None:
        self._write_outer(a, b, test, starts, *self.said(decisions, test, starts, self.present(a, b)))

    def _write_outer(self, a: int, b: int, test: np.ndarray, starts: np.ndarray, answers: Answers, close: int) -> None:
        if not self.sheet.stopped:
            self.sweep.meter.outer_splits(self.sheet, np.arange(a, b), test, starts[:-1], answers)
            self.refuse_rounding(self.sheet.outer[a:b], self.ordered)
            self.sweep.count(self.sheet, close)
            self.sheet.finished[a:b] = True
