"""Plan × Path -> LossTable: order, workers, progress, interrupt.

Outer splits are worked through in waves: the inner splits of one wave go out together with the outer fits of the wave before,
so workers stay busy, and an outer split is finished as soon as it can be: an interrupt keeps it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from .errors import FitError, Interrupted
from .inference import tied_settings
from .paths.base import Outcome, Path
from .plan import Plan
from .progress import Progress
from .randomness import global_state
from .table import Failure, LossTable

WAVE_SECONDS = 0.5
Task = tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int], bool]


def fill(
    plan: Plan,
    path: Path,
    n_settings: int,
    zero_one: bool,
    flat: bool = False,
    n_jobs: int | None = None,
    progress: str = "off",
) -> LossTable:
    """Every loss that this plan asks for; after an interrupt those of the outer splits that were finished."""
    shown = Progress(plan.n_inner + len(plan.outer), progress)
    run = _Run(plan, path, n_settings, zero_one, flat, n_jobs, shown)
    started = time.perf_counter()
    try:
        with global_state():
            run.all_parts()
        complete = True
    except KeyboardInterrupt:
        if not run.chosen or (plan.outer_layout is not None and not run.outer):
            raise Interrupted("stopped before any outer split was finished; nothing was measured.") from None
        complete = False
    finally:
        shown.close()
    return run.table(complete, time.perf_counter() - started)


@dataclass
class _Run:
    plan: Plan
    path: Path
    n_settings: int
    zero_one: bool
    flat: bool
    n_jobs: int | None
    progress: Progress
    inner: dict[int, np.ndarray] = field(default_factory=dict)
    outer: dict[int, Outcome] = field(default_factory=dict)
    chosen: dict[int, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)
    done: int = 0

    def all_parts(self) -> None:
        """Choose in every training part and measure the choice outside it."""
        n_parts, nested = self.plan.n_parts, self.plan.outer_layout is not None
        with _workers(self.n_jobs) as parallel:
            workers = effective_n_jobs(self.n_jobs)
            pool = parallel if workers > 1 else None
            size = 1 if pool is None else max(1, 2 * workers * n_parts // max(self.plan.n_inner, n_parts))
            done = range(0)
            while done.stop < n_parts or done:
                started = time.perf_counter()
                wave = range(done.stop, min(done.stop + size, n_parts))
                self._wave(pool, list(wave), list(done) if nested else [])
                done = wave
                if pool is not None:  # many quick splits go out together, few slow ones
                    size = max(1, min(2 * size, int(size * WAVE_SECONDS / (time.perf_counter() - started))))

    def _wave(self, parallel: Parallel | None, choose: list[int], measure: list[int]) -> None:
        layouts = self.plan.inner_layouts
        outer = (self._outer_task(j, self._wanted(j)) for j in measure)
        inner = (task for j in (choose if layouts is not None else ()) for task in self._inner_tasks(j))
        n_tasks = len(measure) + sum(len(layouts[j]) for j in choose if layouts is not None)
        outcomes = iter(self._evaluate(parallel, chain(outer, inner), n_tasks))
        for j in measure:
            self._take_outer(j, next(outcomes))
        for j in choose:
            self._take_inner(j, outcomes)

    def _evaluate(self, parallel: Parallel | None, tasks: Iterator[Task], n_tasks: int) -> Iterable[Outcome]:
        """Outcomes in the order of the tasks, whose rows are made as they go out."""
        if parallel is None:
            outcomes: Iterable[Outcome] = (self.path.evaluate(*task) for task in tasks)
        else:
            n = max(1, n_tasks // (4 * effective_n_jobs(self.n_jobs)))  # many quick tasks travel together
            parts = iter(lambda: list(islice(tasks, n)), [])
            outcomes = chain.from_iterable(parallel(delayed(_evaluate_all)(self.path, part) for part in parts))
        for outcome in outcomes:
            self.done += 1
            self.progress(self.done)
            yield outcome

    def _inner_tasks(self, j: int) -> Iterable[Task]:
        everything = np.arange(self.n_settings)
        return ((train, test, everything, (j, k), False) for k, (train, test) in enumerate(self.plan.inner[j]))

    def _outer_task(self, j: int, which: np.ndarray) -> Task:
        train, test = self.plan.outer[j]
        return train, test, which, (j, -1), True

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
        self.chosen[j] = self._choose(losses.mean(axis=0), j)

    def _take_outer(self, j: int, outcome: Outcome) -> None:
        """Keep the outer losses; a choice that fails on the whole outer training part gives way to the next best."""
        self._note(j, None, outcome)
        curve = None if self.plan.inner_layouts is None else self.inner[j].mean(axis=0)
        failed = np.zeros(self.n_settings, dtype=bool)
        while np.isnan(outcome.losses[self.chosen[j]]):
            failed[self.chosen[j]] = True
            self.chosen[j] = self._choose(np.where(failed, np.nan, np.nan if curve is None else curve), j)
            if not self.flat:
                outcome = self.path.evaluate(*self._outer_task(j, self._wanted(j)))
                self._note(j, None, outcome)
        self.outer[j] = outcome

    def _choose(self, curve: np.ndarray, j: int) -> int:
        tied = tied_settings(curve, self.zero_one)
        if not tied.size:
            raise FitError(self._all_failed(j))
        return int(tied[0])

    def _all_failed(self, j: int) -> str:
        causes = Counter(failure.cause for failure in self.failures if failure.j == j)
        lines = [f"  {n} × {cause}" for cause, n in causes.most_common(5)]
        where = f" in outer split {j}" if self.plan.outer_layout is not None else ""
        return "\n".join([f"every setting failed{where}, so nothing can be chosen there:", *lines])

    def _note(self, j: int, k: int | None, outcome: Outcome) -> None:
        self.failures += [Failure(j, k, s, cause) for s, cause in outcome.failures.items()]
        self.warnings.update(outcome.warnings)

    def table(self, complete: bool, seconds: float) -> LossTable:
        """What was finished: everything, or the outer splits up to the first unfinished one."""
        n_parts = self.plan.n_parts if complete else self._n_finished()
        nested = self.plan.outer_layout is not None
        outer = [self.outer[j] for j in range(n_parts)] if nested else []
        chosen = [self.chosen[j] for j in range(n_parts)]
        return LossTable(
            inner=None if self.plan.inner_layouts is None else tuple(self.inner[j] for j in range(n_parts)),
            outer=np.array([outcome.losses for outcome in outer]).reshape(len(outer), self.n_settings),
            rows=tuple(None if np.isnan(outcome.rows).all() else outcome.rows for outcome in outer),  # type: ignore[arg-type]
            predictions=tuple(outcome.predictions[s] for outcome, s in zip(outer, chosen[: len(outer)], strict=True)),
            chosen=np.array(chosen, dtype=np.int64),
            failures=tuple(self.failures),
            warnings=tuple(sorted(self.warnings.items())),
            flat=self.flat,
            complete=complete,
            seconds=seconds,
        )

    def _n_finished(self) -> int:
        finished = self.outer if self.plan.outer_layout is not None else self.chosen
        return next(j for j in range(self.plan.n_parts + 1) if j not in finished)


def _evaluate_all(path: Path, tasks: list[Task]) -> list[Outcome]:
    return [path.evaluate(*task) for task in tasks]


def _workers(n_jobs: int | None) -> Parallel:
    """joblib's workers with scikit-learn's configuration; results come one by one where the backend can do that."""
    backend, _ = get_active_backend()
    return Parallel(n_jobs=n_jobs, return_as="generator" if backend.supports_return_generator else "list")
