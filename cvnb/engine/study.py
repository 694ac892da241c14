"""Many draws of the same rows, chunk by chunk: what serves all is computed once, no table is kept.

The engine fills the draws of a chunk together. A chunk takes about half a second, so that
progress and interrupts have something to show, and its tables are all that is in memory.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from itertools import groupby, islice

from ..paths.base import Draw, Kept
from .fill import fill_draws
from .progress import Progress, Slot
from .table import LossTable
from .work import Work

CHUNK_SECONDS, CHUNK_BYTES = 0.5, 2**26
GROWTH = 4  # a chunk holds at most so many times the draws of the one before
Job = tuple[Work, Draw]


class _ChunkSlot(Slot):
    """The slot of a chunk: it shows nothing of its own, and moves the progress of the study."""

    def __init__(self, progress: Progress, slot: Slot, n_before: int, n: int) -> None:
        super().__init__(shows=False)
        self.stop, self.progress = slot.stop, progress
        self.n_before, self.n = n_before, n

    def advance(self, share: float) -> None:
        self.progress(self.n_before + share * self.n)


def fill_each(
    jobs: Iterable[Job], n: int, unit: str, flat: bool, slot: Slot
) -> Generator[tuple[Job, LossTable]]:
    """Yield every job with its losses, in order; raise KeyboardInterrupt if the run is stopped.

    What is finished by then has been yielded.

    jobs  what to measure, on which splits and targets; all draws are of the same rows
    n     number of jobs, for the progress
    unit  what they are: "seeds"
    flat  measure every setting on the outer test parts
    slot  shows the progress and holds the stop token
    """
    progress = Progress(n, slot, unit)
    kept: Kept = {}
    size, n_done = 1, 0
    try:
        for _, of_one_work in groupby(jobs, key=lambda job: id(job[0])):
            while chunk := list(islice(of_one_work, size)):
                started = time.perf_counter()
                yield from _fill_chunk(
                    chunk, flat, _ChunkSlot(progress, slot, n_done, len(chunk)), kept
                )
                n_done += len(chunk)
                progress(n_done)
                seconds = (time.perf_counter() - started) / len(chunk)
                wanted = int(min(CHUNK_SECONDS / seconds, GROWTH * size))
                size = max(1, min(wanted, CHUNK_BYTES // _bytes_of(chunk[0])))
    finally:
        progress.close()


def _fill_chunk(
    chunk: list[Job], flat: bool, slot: Slot, kept: Kept
) -> Generator[tuple[Job, LossTable]]:
    work, draws = chunk[0][0], [draw for _, draw in chunk]
    tables = [table for table, _ in fill_draws(work, draws, flat, slot, kept)]
    for job, table in zip(chunk, tables, strict=True):
        if table.complete:
            yield job, table
    if any(table.interrupted or not table.complete for table in tables):
        raise KeyboardInterrupt


def _bytes_of(job: Job) -> int:
    """Return about how many bytes the losses and predictions of a draw take."""
    work, draw = job
    n_tested = int(draw.plan.outer.layout.sizes()[:, 1].sum())
    return 8 * max(1, n_tested * (len(work.family.settings) + 1))
