"""Run: what the phases of one run share, and what the run shows while it goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from ..losses.scale import Scale
from ..paths.base import Draw, Kept, Outside, Task
from ..paths.refit import Refit, recorded
from ..runtime.cancel import Stop
from ..runtime.threads import Team
from ..splits.plan import Plan
from ..wording import count
from .executor import Poll
from .progress import Progress, Slot
from .table import TableBuilder
from .work import Work

if TYPE_CHECKING:
    from .compiling import Compiler

Part = tuple[int, int]  # (draw, training part)


class Run:
    """The state of one run. The text that it shows is about its first draw.

    kept             what a path hands on to its next draws
    tables           one for each draw
    parts            all (draw, training part) of the run
    refused          part -> why the path left it to refit
    refused_outside  refused parts whose choice is valid: only the outer split is left
    team             of the executor in use, if its calls are made in this process
    n_finished       finished training parts
    n_splits         finished splits, on a path that goes split by split
    current          (j, k) of the split being fitted; k is -1 outside, j is -1 before any
    begun            training parts whose splits were sent to be measured
    """

    def __init__(
        self,
        work: Work,
        draws: Sequence[Draw],
        slot: Slot | None,
        kept: Kept | None = None,
    ) -> None:
        self.work, self.draws, self.slot = work, draws, slot
        self.kept: Kept = {} if kept is None else kept
        self.stop = Stop() if slot is None else slot.stop
        n_settings = len(work.family.settings)
        self.tables = [TableBuilder(draw.plan, n_settings) for draw in draws]
        self.parts: list[Part] = [
            (d, j) for d, draw in enumerate(draws) for j in range(draw.plan.n_parts)
        ]
        self.refused: dict[Part, str] = {}
        self.refused_outside: set[Part] = set()
        self.team: Team | None = None
        self.n_finished = self.n_splits = 0
        self.current = (-1, -1)
        self.begun: set[Part] = set()

    @cached_property
    def refit(self) -> Refit:
        """The path that fits the splits which another path refuses."""
        return Refit(self.work.family, self.draws, self.work.loss, "")

    def count_warnings(self, is_needed: bool) -> AbstractContextManager[object]:
        """Count the warnings of this process in the first table, if needed."""
        return recorded(self.tables[0].warnings) if is_needed else nullcontext()

    def interrupt(self) -> None:
        """Stop the run: wait briefly for calls to end, and name the fits that go on."""
        self.stop.set()
        if self.team is not None:
            self.tables[0].left = tuple(sorted(set(self.team.still_fitting())))
        for table in self.tables:
            table.interrupted = True

    # What is shown

    @contextmanager
    def shown(self, total: float, unit: str) -> Iterator[Progress]:
        """Show the progress towards `total` in the slot of the run."""
        # Bound to the table, not to the run: the slot outlives the run.
        table_so_far = partial(self.tables[0].table, 0.0)
        if self.slot is not None:
            self.slot.folds = self._folds
        progress = Progress(total, self.slot, unit, table_so_far)
        try:
            yield progress
        finally:
            progress.close()
            if self.slot is not None:
                self.slot.folds = None

    def _folds(self) -> tuple[Plan, dict[int, str]]:
        """Return the plan of the first draw, and a word for each part that is not finished."""
        left = np.flatnonzero(~self.tables[0].finished).tolist()
        words = {j: "running" if (0, j) in self.begun else "waiting" for j in left}
        return self.draws[0].plan, words

    def poll_parts(self, progress: Progress, compiler: Compiler, work: float) -> Poll:
        """Return the poll of a path that measures whole parts.

        It updates the progress, and raises KeyboardInterrupt if the run is stopped.

        work  the total work, in the unit that the team counts; 0: count finished parts
        """

        def poll(_: Task | None) -> None:
            compiler.show()
            share = self.n_finished / len(self.parts)
            if self.team is not None and work:
                share = max(share, min(1.0, self.team.done / work))
            progress(share, self._risk_so_far)

        return poll

    def poll_splits(self, progress: Progress) -> Poll:
        """Return the poll of a path that goes split by split."""

        def poll(begun: Task | None) -> None:
            if begun is not None:
                k = -1 if isinstance(begun, Outside) else begun.k or 0
                self.current = begun.parts.start, k
            progress(self.n_splits, self._fit_and_risk)

        return poll

    def _fit_and_risk(self) -> str:
        return ", ".join(filter(None, [self._current_fit(), self._risk_so_far()]))

    def _current_fit(self) -> str:
        j, k = self.current
        if j < 0:
            return ""
        if k < 0:
            return f"now outer fold {j + 1}"
        nested = self.draws[0].plan.outer_layout is not None
        return f"now inner fold {k + 1}{f' of outer fold {j + 1}' * nested}"

    def _risk_so_far(self) -> str:
        """Return the mean loss of the chosen settings over the finished outer splits."""
        table, loss = self.tables[0], self.work.loss
        finished = np.flatnonzero(table.finished)
        if not len(table.outer) or not finished.size:
            return ""
        mean = float(table.outer[finished, table.chosen[finished]].mean())
        shown = Scale.of(loss, mean).write(mean)
        return f"{loss.words} so far {shown} in {count(finished.size, 'outer fold')}"


def compiler_of(progress: Progress) -> AbstractContextManager[Compiler]:
    """Return a context that shows when a kernel is being compiled. Imports Numba."""
    from .compiling import compiling

    return compiling(progress)
