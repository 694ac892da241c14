"""Plan × Path -> LossTable: order, workers, progress, interrupt.

Outer splits are worked through in waves: the inner splits of one wave go out together with the outer fits of the wave before,
so workers stay busy, and an outer split is finished as soon as it can be: an interrupt keeps it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from joblib.externals.loky.process_executor import BrokenProcessPool, ShutdownExecutorError

from .cluster import LOST, Lost, Split, cluster
from .data import Data
from .errors import FitError
from .families import Family, Kind
from .losses import Loss
from .paths.base import Outcome, Path, Ran, Sweep
from .paths.choice import choose_path
from .paths.refit import Refit, recorded
from .plan import Plan
from .progress import Progress, Slot
from .randomness import global_state, is_ours
from .rules import Rule
from .table import Failure, LossTable, Sheet
from .threads import n_threads, run_stages
from .wording import count, number
from .workers import Task, Threads, Workers, workers

WAVE_SECONDS = 0.5
TINY, QUICK = 5e7, 5e8  # multiplications that are done before another thread is awake; and before a user gets impatient


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


def fill(work: Work, plan: Plan, flat: bool = False, slot: Slot | None = None) -> tuple[LossTable, Ran]:
    """Every loss that this plan asks for, and the path that found them.

    After an interrupt the losses are those of the outer splits that were finished. Where a fast path finds the rows of a
    training part unsuited, that part is refitted, and a note tells why.
    """
    try:
        path: Any = choose_path(work.family, work.kinds, work.data, work.loss, work.task, plan, work.path)
    except KeyboardInterrupt:
        refit = Refit(work.family, work.data, work.loss, "interrupted before a faster path was looked for")
        nothing = _Run(work, plan, refit, flat, range(plan.n_parts), Progress(1.0, None)).table(False, 0.0)
        return nothing, Ran(refit.name, refit.reason)
    table = (_sweep if hasattr(path, "stages") else _split_by_split)(work, path, plan, flat, slot)
    if table.refitted and sum(n for _, n in table.refitted) == plan.n_inner + len(plan.outer):
        return table, Ran("refit", table.refitted[0][0])
    return table, Ran(path.name, path.reason)


def _split_by_split(work: Work, path: Path, plan: Plan, flat: bool, slot: Slot | None) -> LossTable:
    shown = Progress(plan.n_inner + len(plan.outer), slot, table=lambda: run.table(False, 0.0))
    run = _Run(work, plan, path, flat or path.every_setting, range(plan.n_parts), shown)
    started = time.perf_counter()
    try:
        with global_state(), _compiling(shown) if path.compiles else nullcontext():
            run.all_parts()
        complete = True
    except KeyboardInterrupt:
        complete = False
    finally:
        shown.close()
    return run.table(complete, time.perf_counter() - started)


def _sweep(work: Work, path: Sweep, plan: Plan, flat: bool, slot: Slot | None) -> LossTable:
    """The same by a path that fills the whole table on threads, and by refit in the parts that it refuses."""
    sheet = Sheet(plan, len(work.family.settings), work.rule)
    shown = Progress(1.0, slot, unit="", table=lambda: sheet.table(0.0))
    started = time.perf_counter()

    def look() -> None:
        compiler.look()
        shown(sheet.share_done, lambda: so_far(sheet.outer, sheet.chosen, np.flatnonzero(sheet.finished), work.loss))

    try:
        watched = nullcontext() if work.loss.is_known else recorded(sheet.warnings)
        with watched, _compiling(shown) as compiler:
            _fill_sheet(work, path, sheet, look)
        shown.close()
        if len(sheet.refused) < plan.n_parts:
            _refit_refused(work, sheet, slot)
    except KeyboardInterrupt:
        sheet.stop[0] = 1
    finally:
        shown.close()
    if sheet.stopped or len(sheet.refused) < plan.n_parts:
        return sheet.table(time.perf_counter() - started)
    why = next(iter(sheet.refused.values()))
    table = _split_by_split(work, Refit(work.family, work.data, work.loss, why), plan, flat, slot)
    return replace(table, refitted=((why, plan.n_inner + len(plan.outer)),))


def _fill_sheet(work: Work, path: Any, sheet: Sheet, look: Callable[[], None]) -> None:
    """By a cluster where one is asked for and there is enough to do, and what then is left by threads of this process."""
    with cluster(work.n_jobs if path.cost > QUICK else 1, sheet.plan) as there:
        if there is not None:
            searches = hasattr(path, "ahead") and path.ahead(sheet.plan, there.n)
            if not searches:
                return there.fill(path, sheet, work.loss.is_known, look)
            there.find_ahead(path, sheet, look)
    n = 1 if path.cost <= TINY else n_threads(work.n_jobs)
    run_stages(path.stages(sheet), n, sheet.stop, look, quick=path.cost <= QUICK)


def _refit_refused(work: Work, sheet: Sheet, slot: Slot | None) -> None:
    """Fill the parts that the path refused, and the outer splits that it could not measure."""
    if not sheet.refused and not sheet.refused_outside:
        return
    plan, outside = sheet.plan, sorted(sheet.refused_outside.keys() - sheet.refused.keys())
    n_inner = sum(len(sheet.inner[j]) for j in sheet.refused) if sheet.inner is not None else 0
    shown = Progress(n_inner + len(outside) + len(sheet.refused), slot)
    run = _Run(work, plan, Refit(work.family, work.data, work.loss, ""), True, sorted(sheet.refused), shown)
    try:
        with global_state():
            for j in outside:  # its inner losses stand
                run.chosen[j] = int(sheet.chosen[j])
                if sheet.inner is not None:
                    run.inner[j] = sheet.inner[j]
                run.measure(j)
            if run.parts:
                run.all_parts()
    finally:  # an interrupt keeps the parts that are finished
        shown.close()
        for j in [*outside, *run.parts]:
            if j in (run.chosen if plan.outer_layout is None else run.outer):
                _put(sheet, run, j)
    sheet.failures += run.failures
    sheet.warnings.update(run.warnings)


def _put(sheet: Sheet, run: _Run, j: int) -> None:
    """Write what refit found for part j."""
    sheet.chosen[j] = run.chosen[j]
    if sheet.inner is not None:
        sheet.inner[j] = run.inner[j]
    if j in run.outer:
        outcome = run.outer[j]
        sheet.put_outer(j, outcome.losses, kept_rows(outcome), outcome.predictions[run.chosen[j]])
    sheet.finished[j] = True


def _compiling(shown: Progress) -> Any:
    from .compiling import compiling  # Numba is not imported before a path needs it

    return compiling(shown)


@dataclass
class _Run:
    work: Work
    plan: Plan
    path: Path
    flat: bool
    parts: Sequence[int]
    progress: Progress
    inner: dict[int, np.ndarray] = field(default_factory=dict)
    outer: dict[int, Outcome] = field(default_factory=dict)
    chosen: dict[int, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    refitted: Counter[str] = field(default_factory=Counter)
    done: int = 0
    now: tuple[int, int] = (-1, -1)
    start: int = 0  # the parts before it are chosen in
    before: Sequence[int] = ()  # chosen in by the last wave, and to be measured by the next
    noted: Any = ()

    @property
    def n_settings(self) -> int:
        return len(self.work.family.settings)

    def all_parts(self) -> None:
        """Choose in every training part and measure the choice outside it; what killed workers were at is done again."""
        lost, at = 0, -1
        while True:
            try:
                with workers(self.path, self.work.n_jobs, self.plan) as team, self._heard(team):
                    return self._waves(team)
            except (RuntimeError, KeyboardInterrupt) as error:
                lost, at = (lost + 1 if at == self.start else 1), self.start
                if lost == LOST or not self._is_lost(error):
                    raise
                self._forget()
                time.sleep(0.2 * lost)  # another run that shares the workers may still be sending them away

    def _heard(self, team: Workers) -> Any:
        """A thread cannot count its own warnings; processes and this thread can."""
        return recorded(self.warnings) if isinstance(team, Threads) else nullcontext()

    def _is_lost(self, error: BaseException) -> bool:
        """Whether workers were killed or sent away, be it by another run that shared them."""
        if isinstance(error, KeyboardInterrupt):  # of a worker, where it reaches another thread without being asked for
            return not is_ours() and not self.progress.stopped
        return isinstance(error, BrokenProcessPool | Lost) or isinstance(error.__context__, ShutdownExecutorError)

    def _waves(self, team: Workers) -> None:
        nested, n_splits = self.plan.outer_layout is not None, max(self.plan.n_inner, self.plan.n_parts)
        size = 1 if team.n == 1 else max(1, 2 * team.n * self.plan.n_parts // n_splits)
        while self.start < len(self.parts) or self.before:
            started = time.perf_counter()
            self.noted = len(self.failures), self.warnings.copy(), self.counts.copy(), self.refitted.copy(), self.done
            wave = self.parts[self.start : self.start + size]
            self._wave(team, list(wave), list(self.before) if nested else [])
            self.start, self.before = self.start + len(wave), wave
            if team.n > 1:  # many quick splits go out together, few slow ones
                size = max(1, min(2 * size, int(size * WAVE_SECONDS / (time.perf_counter() - started))))

    def _forget(self) -> None:
        """What the wave that is done again has noted."""
        n, self.warnings, self.counts, self.refitted, self.done = self.noted
        del self.failures[n:]

    def measure(self, j: int) -> None:
        """Measure outside part j what was chosen in it."""
        self._look((j, -1))
        self._take_outer(j, self.path.evaluate(*self._outer_task(j, self._wanted(j)).given))
        self.done += 1

    def _wave(self, team: Workers, choose: list[int], measure: list[int]) -> None:
        layouts = self.plan.inner_layouts
        outer = (self._outer_task(j, self._wanted(j)) for j in measure)
        inner = (task for j in (choose if layouts is not None else ()) for task in self._inner_tasks(j))
        n_tasks = len(measure) + sum(len(layouts[j]) for j in choose if layouts is not None)
        with closing(self._evaluate(team, chain(outer, inner), n_tasks)) as outcomes:
            for j in measure:
                self._take_outer(j, next(outcomes))
            for j in choose:
                self._take_inner(j, outcomes)

    def _evaluate(self, team: Workers, tasks: Iterator[Task], n_tasks: int) -> Generator[Outcome, None, None]:
        found: Any = team.outcomes(self.path, tasks, n_tasks, self._look)
        with closing(found):
            for outcome in found:
                self.done += 1
                self._look(None)
                yield outcome

    def _look(self, begun: Split | None) -> None:
        if begun is not None:
            self.now = begun
        self.progress(self.done, self._said)

    def _said(self) -> str:
        """Which fit is being waited for, and the risk so far."""
        j, k = self.now
        now = "" if j < 0 else f"now outer split {j}" if k < 0 else f"now inner split {k}"
        if k >= 0 and self.plan.outer_layout is not None:
            now += f" of outer split {j}"
        finished = np.array(tuple(self.outer), dtype=np.int64)  # at once: another thread asks
        outer = np.array([self.outer[j].losses for j in finished]).reshape(finished.size, self.n_settings)
        chosen = np.array([self.chosen[j] for j in finished], dtype=np.int64)
        return ", ".join(filter(None, [now, so_far(outer, chosen, np.arange(finished.size), self.work.loss)]))

    def _inner_tasks(self, j: int) -> Iterable[Task]:
        everything = np.arange(self.n_settings)
        splits = self.plan.inner[j]
        return (Task(splits, k, everything, (j, k), False) for k in range(len(splits)))

    def _outer_task(self, j: int, which: np.ndarray) -> Task:
        return Task(self.plan.outer, j, which, (j, -1), True)

    def _wanted(self, j: int) -> np.ndarray:
        return np.arange(self.n_settings) if self.flat else np.array([self.chosen[j]])

    def _take_inner(self, j: int, outcomes: Iterator[Outcome]) -> None:
        if self.plan.inner_layouts is None:
            self.chosen[j] = 0
            return
        losses = np.full((len(self.plan.inner[j]), self.n_settings), np.nan)
        for k in range(len(losses)):
            outcome = next(outcomes)
            losses[k] = outcome.losses
            self._note(j, k, outcome)
        self.inner[j] = losses
        self.chosen[j] = self._choose(losses, j)

    def _take_outer(self, j: int, outcome: Outcome) -> None:
        """Keep the outer losses; a choice that fails on the whole outer training part gives way to the next best."""
        self._note(j, None, outcome)
        losses = np.full((1, self.n_settings), np.nan) if self.plan.inner_layouts is None else self.inner[j].copy()
        while np.isnan(outcome.losses[self.chosen[j]]):
            losses[:, self.chosen[j]] = np.nan
            self.chosen[j] = self._choose(losses, j)
            if not self.flat:
                outcome = self.path.evaluate(*self._outer_task(j, self._wanted(j)).given)
                self._note(j, None, outcome)
        self.outer[j] = outcome

    def _choose(self, losses: np.ndarray, j: int) -> int:
        chosen = self.work.rule.choose(losses)
        if chosen is None:
            raise FitError(self._all_failed(j)) from self._failure(j)
        return chosen

    def _failure(self, j: int) -> Exception | None:
        """The first failure in part j, made again here: the way through the workers cost it its traceback."""
        first = next((failure for failure in self.failures if failure.j == j), None)
        if first is None:
            return None
        train, test = self.plan.outer[j] if first.k is None else self.plan.inner[j][first.k]
        k = -1 if first.k is None else first.k
        return Refit(self.work.family, self.work.data, self.work.loss, "").failure(train, test, first.s, (j, k))

    def _all_failed(self, j: int) -> str:
        causes = Counter(failure.cause for failure in self.failures if failure.j == j)
        lines = [f"  {n} × {cause}" for cause, n in causes.most_common(5)]
        where = f" in outer split {j}" if self.plan.outer_layout is not None else ""
        return "\n".join([f"every setting failed{where}, so nothing can be chosen there:", *lines])

    def _note(self, j: int, k: int | None, outcome: Outcome) -> None:
        self.failures += [Failure(j, k, s, cause) for s, cause in outcome.failures.items()]
        self.warnings.update(outcome.warnings)
        self.counts.update(outcome.counts)
        if outcome.refitted:
            self.refitted[outcome.refitted] += 1

    def table(self, complete: bool, seconds: float) -> LossTable:
        """What was finished: everything, or the outer splits up to the first unfinished one."""
        n_parts = self.plan.n_parts if complete else self._n_finished()
        nested = self.plan.outer_layout is not None
        outer = [self.outer[j] for j in range(n_parts)] if nested else []
        chosen = [self.chosen[j] for j in range(n_parts)]
        return LossTable(
            inner=None if self.plan.inner_layouts is None else tuple(self.inner[j] for j in range(n_parts)),
            outer=np.array([outcome.losses for outcome in outer]).reshape(len(outer), self.n_settings),
            rows=tuple(map(kept_rows, outer)),
            predictions=tuple(outcome.predictions[s] for outcome, s in zip(outer, chosen[: len(outer)], strict=True)),
            chosen=np.array(chosen, dtype=np.int64),
            failures=tuple(self.failures),
            warnings=tuple(sorted(self.warnings.items())),
            counts=tuple(sorted(self.counts.items())),
            refitted=tuple(sorted(self.refitted.items())),
            flat=self.flat,
            complete=complete,
            seconds=seconds,
        )

    def _n_finished(self) -> int:
        finished = self.outer if self.plan.outer_layout is not None else self.chosen
        return next(j for j in range(self.plan.n_parts + 1) if j not in finished)


def so_far(outer: np.ndarray, chosen: np.ndarray, finished: np.ndarray, loss: Loss) -> str:
    """The mean loss of what was chosen, over the outer splits that are finished."""
    if not len(outer) or not finished.size:
        return ""
    mean = loss.shown(float(outer[finished, chosen[finished]].mean()))
    name = loss.words if loss.is_score else f"{loss.name} risk"
    return f"{name} so far {number(mean)} in {count(finished.size, 'outer split')}"


def kept_rows(outcome: Outcome) -> np.ndarray | None:
    """Row losses where the loss has any."""
    return None if outcome.rows is None or np.isnan(outcome.rows).all() else outcome.rows
