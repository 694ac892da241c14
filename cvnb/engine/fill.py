"""The engine: draws × path -> tables of losses.

It owns the tables, the order of the tasks, refit, progress, stop and workers. A path that
serves many splits measures batches of whole training parts (batches.py); on any other path
each split is a task of its own (waves.py). An interrupt keeps what is finished.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from ..errors import FitError
from ..families.remedies import remedy_of
from ..paths.base import Draw, Kept, Path, Ran
from ..paths.dispatch import choose_path
from ..paths.refit import Refit
from ..runtime.cancel import Stopped
from ..splits.plan import Plan
from .batches import fill_by_batches
from .nested import EverySettingFailed, RefusingPath
from .progress import Slot
from .run import Run
from .table import LossTable, TableBuilder
from .waves import fill_by_splits
from .work import Work


def fill(
    work: Work, plan: Plan, flat: bool = False, slot: Slot | None = None
) -> tuple[LossTable, Ran]:
    """Return the losses on every split of the plan, and the path that found them.

    After an interrupt the table holds the finished training parts.

    work  what to measure, and how
    plan  the splits
    flat  measure every setting on the outer test parts
    slot  shows the progress and holds the stop token
    """
    return fill_draws(work, [Draw(plan, work.data)], flat, slot)[0]


def fill_draws(
    work: Work,
    draws: Sequence[Draw],
    flat: bool = False,
    slot: Slot | None = None,
    kept: Kept | None = None,
) -> list[tuple[LossTable, Ran]]:
    """Return the same for every draw; what serves all draws is computed once.

    Splits that a path refuses are refitted, and a note gives the reason. After an interrupt
    the tables hold what is finished.

    kept  what earlier draws of the same rows and settings hand on
    """
    started = time.perf_counter()
    try:
        path = choose_path(work, draws)
    except KeyboardInterrupt:
        early = Ran(Refit.name, "interrupted before a faster path was looked for")
        n_settings = len(work.family.settings)
        return [(TableBuilder(d.plan, n_settings).table(0.0), early) for d in draws]
    run = Run(work, path.draws or draws, slot, kept)
    _fill_tables(run, path, flat)
    if path.note:
        for builder in run.tables:
            builder.counts[path.note] = 1
    tables = [table.table(time.perf_counter() - started) for table in run.tables]
    return [
        (table, _ran(path, table, draw.plan))
        for table, draw in zip(tables, draws, strict=True)
    ]


def _fill_tables(run: Run, path: Path, flat: bool) -> None:
    """Fill the tables of the run; after an interrupt they hold what is finished."""
    failed = None
    try:
        if path.whole:
            fill_by_batches(run, path)
            _refit_refused(run, flat)
        else:
            for table in run.tables:
                table.flat = flat or path.every_setting
            fill_by_splits(run, path, run.parts)
    except EverySettingFailed as error:
        failed = error
    except (KeyboardInterrupt, Stopped) as error:
        if isinstance(error, Stopped) and not run.stop.is_set():
            raise
        run.interrupt()
    # outside of the handler, so that the failure of the engine is no part of the traceback
    if failed is not None:
        _raise(run, failed)


def _raise(run: Run, failed: EverySettingFailed) -> None:
    """Raise a FitError with a remedy if one is known, else with the estimator's exception."""
    remedy = None
    if failed.first is not None:
        work = run.work
        remedy = remedy_of(failed.first.cause, work.data.X, work.family.estimator)
    if remedy:
        raise FitError(f"{failed}. {remedy}")
    raise FitError(f"{failed}.") from _repeat_failure(run, failed)


def _refit_refused(run: Run, flat: bool) -> None:
    """Refit the parts that the path refused; only the outer split where the choice is valid."""
    if not run.refused:
        return
    n_refused = Counter(d for d, _ in run.refused)
    for d, table in enumerate(run.tables):
        # the parts of a table that were not refused have every setting
        table.flat = flat or n_refused[d] < table.n_parts
    refused = [part for part in run.parts if part in run.refused]
    fill_by_splits(run, RefusingPath(run.refused), refused)


def _repeat_failure(run: Run, error: EverySettingFailed) -> Exception | None:
    """Repeat the first failing fit here: on its way from a worker it lost its traceback."""
    first, plan = error.first, run.draws[error.draw].plan
    if first is None:
        return None
    j, k = first.j, first.k
    train, test = plan.outer[j] if k is None else plan.inner[j][k]
    split = j, -1 if k is None else k
    return run.refit.failure(error.draw, train, test, first.s, split)


def _ran(path: Path, table: LossTable, plan: Plan) -> Ran:
    """Return the path that ran: refit if the path has refused every split."""
    n_refitted = sum(n for _, n in table.refitted)
    if table.refitted and n_refitted == plan.n_inner + len(plan.outer):
        return Ran(Refit.name, table.refitted[0][0])
    return path.ran
