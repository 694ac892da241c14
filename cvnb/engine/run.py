"""The engine: draws × path -> tables of losses. It owns the tables, the order of the tasks, refit, progress, stop and workers.

A path that serves many splits is asked for batches of whole training parts, on threads or on a cluster. Otherwise each split is
a task of its own, and the tasks of several parts go out together, in waves: the outer splits of one wave with the inner ones of
the next, so that workers stay busy and an outer split is finished as soon as it can be. An interrupt keeps what is finished.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..data.table import Data
from ..errors import FitError
from ..families.family import Family, Kind
from ..inference.rules import Rule
from ..losses.loss import Loss
from ..paths.base import Draw, Losses, Outside, Path, Ran, Task, added, n_inner
from ..paths.dispatch import choose_path
from ..paths.refit import Refit, recorded
from ..runtime.cancel import Stop, Stopped
from ..runtime.randomness import global_state, is_ours
from ..runtime.threads import Team
from ..splits.plan import Plan
from ..wording import count, number
from .nested import Answer, Asking, NothingLeft, Refused, Whole, choose_and_measure
from .progress import Progress, Slot
from .table import Found, LossTable, TableBuilder
from .workers import Executor, Look, fits_on, is_loss_of_workers, kernels_on, threads_on

WAVE_SECONDS = 0.5
TINY, QUICK = (
    5e7,
    5e8,
)  # multiplications that are done before another thread is awake; and before a user gets impatient
LOST = 4  # times that workers may be lost at the same place before the run ends


@dataclass(frozen=True)
class Work:
    """What is to be measured, and how: by which rule θ is chosen, on which path ("auto" or "refit"), by how many workers."""

    family: Family
    kinds: list[Kind]
    data: Data
    loss: Loss
    task: str
    rule: Rule
    path: str = "auto"
    n_jobs: int | None = None


def fill(
    work: Work, plan: Plan, flat: bool = False, slot: Slot | None = None
) -> tuple[LossTable, Ran]:
    """Every loss that this plan asks for, and the path that found them; after an interrupt those of the finished parts."""
    return fill_draws(work, [Draw(plan, work.data)], flat, slot)[0]


def fill_draws(
    work: Work, draws: Sequence[Draw], flat: bool = False, slot: Slot | None = None
) -> list[tuple[LossTable, Ran]]:
    """The same for every draw: what one computation gives for all of them is computed once.

    Splits that a path refuses are refitted, and a note says why. After an interrupt the tables hold what is finished.
    """
    started = time.perf_counter()
    try:
        path: Path = choose_path(
            work.family, work.kinds, draws, work.loss, work.task, work.path
        )
    except KeyboardInterrupt:
        early = Ran(Refit.name, "interrupted before a faster path was looked for")
        return [
            (TableBuilder(draw.plan, len(work.family.settings)).table(0.0), early)
            for draw in draws
        ]
    run = _Run(work, draws, path, flat, slot)
    run.all()
    tables = [table.table(time.perf_counter() - started) for table in run.tables]
    return [
        (table, _ran(path, table, draw.plan))
        for table, draw in zip(tables, draws, strict=True)
    ]


def _ran(path: Path, table: LossTable, plan: Plan) -> Ran:
    """The path; where it has refused every split, refit."""
    if table.refitted and sum(n for _, n in table.refitted) == plan.n_inner + len(
        plan.outer
    ):
        return Ran(Refit.name, table.refitted[0][0])
    return Ran(path.name, path.reason)


class _Run:
    """One run of the engine."""

    def __init__(
        self,
        work: Work,
        draws: Sequence[Draw],
        path: Path,
        flat: bool,
        slot: Slot | None,
    ) -> None:
        self.work, self.draws, self.path, self.flat, self.slot = (
            work,
            draws,
            path,
            flat,
            slot,
        )
        self.stop = Stop() if slot is None else slot.stop
        self.tables = [
            TableBuilder(draw.plan, len(work.family.settings)) for draw in draws
        ]
        self.refused: dict[
            tuple[int, int], str
        ] = {}  # (draw, part) -> why the path leaves it to refit
        self.outside: set[tuple[int, int]] = (
            set()
        )  # those of which only the outer split is left
        self.shown: Any = None
        self.team: Team | None = None
        self.done, self.begun = (
            0,
            (-1, -1),
        )  # splits that are done, and the one that is being waited for
        self.n_finished, self.n_parts = 0, sum(draw.plan.n_parts for draw in draws)

    def all(self) -> None:
        """Fill the tables; after an interrupt they hold what is finished."""
        parts = [
            (d, j)
            for d, draw in enumerate(self.draws)
            for j in range(draw.plan.n_parts)
        ]
        try:
            if self.path.whole:
                self._in_batches()
                self._refit(parts)
            else:
                for table in self.tables:
                    table.every = self.flat or self.path.every_setting
                self._split_by_split(self.path, parts)
        except NothingLeft as error:
            raise FitError(str(error)) from self._again(error)
        except (KeyboardInterrupt, Stopped) as error:
            if isinstance(error, Stopped) and not self.stop.is_set():
                raise
            self.stop.set()
            self._leave()
            for table in self.tables:
                table.interrupted = True
        finally:
            self._show_no_more()

    @cached_property
    def refit(self) -> Refit:
        """What makes the splits that the path refuses."""
        return Refit(self.work.family, self.draws, self.work.loss, "")

    def _in_batches(self) -> None:
        """Batches of whole parts, on threads or on a cluster; what serves them all is made first."""
        asked = self.work.n_jobs, self.stop, self.path.cost or 0.0, TINY, QUICK
        for table in self.tables:
            table.every = True
        self._show(1.0, "")
        heard = (
            nullcontext()
            if self.work.loss.is_known
            else recorded(self.tables[0].warnings)
        )
        with heard, self._compiling() as compiler:
            with kernels_on(*asked) as there:
                look = self._look_at(there, compiler)
                path = self.path.share(
                    lambda call, items: self._each(there, call, items, look), there.n
                )
                if path.travels or not there.elsewhere:
                    return self._measure(path, there, look)
            with threads_on(*asked) as there:
                self._measure(path, there, self._look_at(there, compiler))

    def _measure(self, path: Path, there: Executor, look: Look) -> None:
        call = Whole(path, self.work.rule, self.draws, self.work.loss.is_known)
        batches = [
            (d, parts)
            for d in range(len(self.draws))
            for parts in path.batches(d, there.n, there.elsewhere)
        ]
        for (d, _), found in zip(
            batches, self._each(there, call, batches, look), strict=True
        ):
            self.refused |= {(d, j): why for j, why in found.refused.items()}
            self.outside |= {(d, j) for j in found.outside}
            self.tables[d].put(found)
            self.n_finished += len(found.parts) - len(found.refused)
            look(None)

    def _look_at(self, there: Executor, compiler: Any) -> Look:
        """What is called now and then: draws the progress, and raises KeyboardInterrupt where the run was told to stop."""
        self.team = there.team

        def look(_: Any) -> None:
            compiler.look()
            share = self.n_finished / self.n_parts
            if there.team is not None and self.path.work:
                share = max(share, min(1.0, there.team.done / self.path.work))
            self.shown(share, self._so_far)

        return look

    def _refit(self, parts: list[tuple[int, int]]) -> None:
        """Refit the parts that the path refused; of some only the outer split, whose inner losses stand."""
        if not self.refused:
            return
        self._show_no_more()
        n_refused = Counter(d for d, _ in self.refused)
        for d, table in enumerate(self.tables):
            table.every = self.flat or n_refused[d] < table.n_parts
        self._split_by_split(
            Refused(self.refused), [part for part in parts if part in self.refused]
        )

    def _split_by_split(self, path: Path, parts: list[tuple[int, int]]) -> None:
        n_tasks = [self._n_tasks(d, j) for d, j in parts]
        self._show(sum(n_tasks), "splits")
        self.done = 0
        compiles = self._compiling() if path.compiles else nullcontext()
        with (
            global_state(),
            compiles,
            fits_on(self.work.n_jobs, self.stop, path.threads) as there,
        ):
            self.team = there.team
            size = (
                1 if there.n == 1 else max(1, 2 * there.n * len(parts) // sum(n_tasks))
            )
            with recorded(self.tables[0].warnings) if there.listens else nullcontext():
                self._waves(there, Answer(path, self.refit), deque(parts), size)

    def _waves(
        self, there: Executor, call: Answer, parts: deque[tuple[int, int]], size: int
    ) -> None:
        asked: list[tuple[int, Asking, Task]] = []
        while parts or asked:
            started = time.perf_counter()
            for d, j in [parts.popleft() for _ in range(min(size, len(parts)))]:
                asking = self._asking(d, j)
                asked.append((d, asking, next(asking)))
            asked = self._wave(there, call, asked)
            if there.n > 1:  # many quick splits go out together, few slow ones
                size = max(
                    1,
                    min(
                        2 * size,
                        int(size * WAVE_SECONDS / (time.perf_counter() - started)),
                    ),
                )

    def _wave(
        self, there: Executor, call: Answer, asked: list[tuple[int, Asking, Task]]
    ) -> list[tuple[int, Asking, Task]]:
        """Have all these tasks done; what is asked for next."""
        singles = [single for _, _, task in asked for single in self._singles(task)]
        more = []
        with closing(self._each(there, call, singles, self._look)) as found:
            for d, asking, task in asked:
                losses = _together(
                    [self._counted(next(found)) for _ in self._singles(task)]
                )
                try:
                    more.append((d, asking, asking.send(losses)))
                except StopIteration as end:
                    self.tables[d].put(end.value)
        return more

    def _asking(self, d: int, j: int) -> Asking:
        plan, table, known = self.draws[d].plan, self.tables[d], None
        if (d, j) in self.outside:
            known = Found(
                range(j, j + 1),
                table.chosen[[j]],
                None if table.inner is None else table.inner[j : j + 1],
            )
        return choose_and_measure(
            self.work.rule, d, plan, range(j, j + 1), table.every, known
        )

    def _singles(self, task: Task) -> list[Task]:
        """A task for each split of a part."""
        if isinstance(task, Outside):
            return [task]
        return [
            replace(task, k=k)
            for k in range(n_inner(self.draws[task.draw].plan, task.parts.start))
        ]

    def _n_tasks(self, d: int, j: int) -> int:
        plan = self.draws[d].plan
        return (0 if (d, j) in self.outside else n_inner(plan, j)) + (
            plan.outer_layout is not None
        )

    def _each(
        self, there: Executor, call: Any, items: Iterable[Any], look: Look
    ) -> Generator[Any]:
        """What call finds of every item, in order; what lost workers were at is done again."""
        left = deque(items)
        lost, at = 0, -1
        while left:
            try:
                with closing(there.map(call, list(left), len(left), look)) as found:
                    for one in found:
                        left.popleft()
                        yield one
                return
            except (RuntimeError, KeyboardInterrupt) as error:
                lost, at = (lost + 1 if at == len(left) else 1), len(left)
                if lost == LOST or not self._lost(error):
                    raise
                time.sleep(
                    0.2 * lost
                )  # another run that shares the workers may still be sending them away
                there.renew()

    def _lost(self, error: BaseException) -> bool:
        if isinstance(
            error, KeyboardInterrupt
        ):  # of a worker, where it reaches another thread without being asked for
            return not is_ours() and not self.stop.is_set()
        return is_loss_of_workers(error)

    def _counted(self, losses: Losses) -> Losses:
        self.done += 1
        self._look(None)
        return losses

    # What is shown meanwhile

    def _show(self, total: float, unit: str) -> None:
        self.shown = Progress(
            total, self.slot, unit, partial(self.tables[0].table, 0.0)
        )  # not self: the slot outlives the run

    def _show_no_more(self) -> None:
        if self.shown is not None:
            self.shown.close()
            self.shown = None

    def _compiling(self) -> Any:
        from .compiling import compiling  # Numba is not imported before a path needs it

        return compiling(self.shown)

    def _look(self, begun: Task | None) -> None:
        if begun is not None:
            self.begun = (
                begun.parts.start,
                -1 if isinstance(begun, Outside) else begun.k or 0,
            )
        self.shown(self.done, self._said)

    def _said(self) -> str:
        """Which fit is being waited for, and the risk so far."""
        j, k = self.begun
        now = (
            "" if j < 0 else f"now outer split {j}" if k < 0 else f"now inner split {k}"
        )
        if k >= 0 and self.draws[0].plan.outer_layout is not None:
            now += f" of outer split {j}"
        return ", ".join(filter(None, [now, self._so_far()]))

    def _so_far(self) -> str:
        """The mean loss of what was chosen, over the outer splits that are finished."""
        table, loss = self.tables[0], self.work.loss
        finished = np.flatnonzero(table.finished)
        if not len(table.outer) or not finished.size:
            return ""
        mean = loss.shown(float(table.outer[finished, table.chosen[finished]].mean()))
        name = loss.words if loss.is_score else f"{loss.name} risk"
        return f"{name} so far {number(mean)} in {count(finished.size, 'outer split')}"

    # Ends

    def _leave(self) -> None:
        """Wait a moment for calls that end by themselves; name the fits that no stop token reaches."""
        if self.team is not None:
            self.tables[0].left = tuple(sorted(set(self.team.leave())))

    def _again(self, error: NothingLeft) -> Exception | None:
        """The first failure of a part, made again here: the way through the workers cost it its traceback."""
        first = error.first
        if first is None:
            return None
        plan = self.draws[error.draw].plan
        train, test = (
            plan.outer[first.j] if first.k is None else plan.inner[first.j][first.k]
        )
        return self.refit.failure(
            error.draw,
            train,
            test,
            first.s,
            (first.j, -1 if first.k is None else first.k),
        )


def _together(singles: list[Losses]) -> Losses:
    """The losses of the single splits of a task, as one."""
    if len(singles) == 1:
        return singles[0]
    whole = Losses(np.concatenate([one.losses for one in singles]))
    for at, one in enumerate(singles):
        whole.failures |= {(at, s): cause for (_, s), cause in one.failures.items()}
    for name in ("warnings", "counts", "refitted"):
        setattr(whole, name, added(getattr(one, name) for one in singles))
    return whole
