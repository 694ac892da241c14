"""Measure batches of whole training parts on a path that serves many splits at once."""

from __future__ import annotations

from functools import partial

from ..paths.base import Path
from .executor import Executor, Poll
from .nested import MeasureParts
from .run import Run, compiler_of
from .workers import kernels_on, map_with_retries, threads_on


def fill_by_batches(run: Run, path: Path) -> None:
    """Measure every training part in batches, on threads or on a cluster.

    What serves all batches is computed first. Refused parts are noted in the run.
    """
    for table in run.tables:
        table.flat = True
    options = run.work.n_jobs, run.stop, path.cost or 0.0
    with (
        run.shown(1.0, "") as progress,
        run.count_warnings(not run.work.loss.is_known),
        compiler_of(progress) as compiler,
    ):
        poll = run.poll_parts(progress, compiler, path.work)
        with kernels_on(*options) as executor:
            run.team = executor.team
            each = partial(map_with_retries, executor, poll, run.stop)
            path = path.share(each, executor.n, run.kept)
            if path.travels or not executor.is_remote:
                _measure(run, path, executor, poll)
                return
        with threads_on(*options) as threads:
            run.team = threads.team
            _measure(run, path, threads, poll)


def _measure(run: Run, path: Path, executor: Executor, poll: Poll) -> None:
    call = MeasureParts(path, run.work.rule, run.draws, run.work.loss.is_known)
    batches = [
        (d, parts)
        for d in range(len(run.draws))
        for parts in path.batches(d, executor.n, executor.is_remote)
    ]
    run.begun |= {(d, j) for d, parts in batches for j in parts}
    results_of = map_with_retries(executor, poll, run.stop, call, batches)
    for (d, _), results in zip(batches, results_of, strict=True):
        run.refused |= {(d, j): why for j, why in results.refused.items()}
        run.refused_outside |= {(d, j) for j in results.refused_outside}
        run.tables[d].put(results)
        run.n_finished += len(results.parts) - len(results.refused)
        poll(None)
