"""Measure split by split: each split is a task of its own, and tasks go out in waves.

A wave holds the outer splits of some training parts with the inner splits of the next, so
that workers stay busy and an outer split is finished as soon as it can be.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace

from ..paths.base import Inside, Losses, Outside, Path, Task, n_inner, together
from ..runtime.randomness import global_state
from .executor import Executor, Poll
from .nested import PathOrRefit, Steps, choose_and_measure, refuse_split
from .run import Part, Run, compiler_of
from .table import PartResults
from .workers import fits_on, map_with_retries

WAVE_SECONDS = 0.5
# (draw, generator, the tasks it waits for)
Pending = tuple[int, Steps[PartResults], list[Task]]


def fill_by_splits(run: Run, path: Path, parts: list[Part]) -> None:
    """Measure these training parts split by split; what the path refuses is refitted."""
    total = sum(_n_splits(run, d, j) for d, j in parts)
    run.n_splits = 0
    with (
        run.shown(total, "splits") as progress,
        global_state(),
        compiler_of(progress) if path.compiles else nullcontext(),
        fits_on(run.work.n_jobs, run.stop, path.threads) as executor,
        run.count_warnings(executor.warns_here),
    ):
        run.team = executor.team
        n = executor.n
        call, poll = PathOrRefit(path, run.refit), run.poll_splits(progress)
        size = 1 if n == 1 else max(1, 2 * n * len(parts) // total)
        _Waves(run, executor, call, poll).send_all(deque(parts), size)


def _n_splits(run: Run, d: int, j: int) -> int:
    """Return the number of splits of training part j that are to be measured."""
    plan = run.draws[d].plan
    n = 0 if (d, j) in run.refused_outside else n_inner(plan, j)
    return n + (plan.outer_layout is not None)


@dataclass(frozen=True, eq=False)
class _Waves:
    """The training parts of a run, measured by one executor."""

    run: Run
    executor: Executor
    call: PathOrRefit
    poll: Poll

    def send_all(self, parts: deque[Part], size: int) -> None:
        """Measure all parts; `size` is the number of parts that the first wave begins."""
        pending: list[Pending] = []
        while parts or pending:
            started = time.perf_counter()
            for d, j in [parts.popleft() for _ in range(min(size, len(parts)))]:
                steps = self._begin(d, j)
                pending.append((d, steps, self._splits(d, next(steps))))
            pending = self._send(pending)
            if self.executor.n > 1:  # many quick splits a wave, few slow ones
                seconds = time.perf_counter() - started
                size = max(1, min(2 * size, int(size * WAVE_SECONDS / seconds)))

    def _begin(self, d: int, j: int) -> Steps[PartResults]:
        run, part, known = self.run, range(j, j + 1), None
        run.begun.add((d, j))
        table = run.tables[d]
        if (d, j) in run.refused_outside:
            inner = None if table.inner is None else table.inner[j : j + 1]
            known = PartResults(part, table.chosen[[j]], inner)
        plan = run.draws[d].plan
        return choose_and_measure(run.work.rule, d, plan, part, table.flat, known)

    def _splits(self, d: int, task: Task) -> list[Task]:
        """Return a task for each split of a task of one part."""
        if isinstance(task, Outside):
            return [task]
        n = n_inner(self.run.draws[d].plan, task.parts.start)
        return [replace(task, k=k) for k in range(n)]

    def _send(self, pending: list[Pending]) -> list[Pending]:
        """Have all these tasks done; return those that follow from them."""
        run, following = self.run, []
        tasks = [task for _, _, splits in pending for task in splits]
        answers = map_with_retries(self.executor, self.poll, run.stop, self.call, tasks)
        with closing(answers):
            for d, steps, splits in pending:
                losses = together([self._count(task, next(answers)) for task in splits])
                try:
                    task = steps.send(losses)
                except StopIteration as end:
                    run.tables[d].put(end.value)
                else:
                    following.append((d, steps, self._splits(d, task)))
            next(answers, None)  # an interrupt may follow the last answer
        return following

    def _count(self, task: Task, losses: Losses) -> Losses:
        """Return the losses of one split, which is finished."""
        if isinstance(task, Inside) and task.k is not None:
            nested = self.run.draws[task.draw].plan.outer_layout is not None
            refuse_split(task.draw, task.parts.start, task.k, losses, nested)
        self.run.n_splits += 1
        self.poll(None)
        return losses
