"""A cluster of dask's workers, as joblib.parallel_config(backend="dask") names it: rows go there once, then names of splits.

The path with its rows and the plan are scattered to all workers; a task says which splits or which training parts, and gives
their losses. Here results are taken in order, as on one machine, and few tasks are ahead of whoever asks. What is given up is
forgotten by the scheduler at once, and a task that runs looks now and then whether anybody still wants it. Where the workers
that held the rows are killed, these are scattered again. dask is imported only by those who have chosen it.

A worker of one thread counts warnings and seeds NumPy as this process does. One of several threads cannot, as with joblib's
threads: there an estimator without a random_state that draws in `predict` may draw otherwise.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

import numpy as np
import sklearn
from joblib import parallel_config
from joblib.parallel import get_active_backend

from .cores import at_most, n_cores, numba_will_take
from .errors import FitError, WrongTypeError
from .paths.base import Outcome
from .paths.refit import recorded
from .plan import Plan
from .randomness import alone
from .rules import Rule
from .table import Sheet, Strip
from .threads import awaited, is_dask, run_stages

LOST = 4  # times that the workers may be killed before the run ends
BACK = 60  # seconds in which a first of them must be back
AHEAD = 2  # tasks that wait for each thread of the cluster
GONE = "dask's scheduler, or its client here, went away in the middle of the run; make a new Client and run again."
Split = tuple[int, int]
Look = Callable[[], None]


class Lost(RuntimeError):
    """The workers that held the rows are gone."""


@dataclass(frozen=True, eq=False)
class Sent:
    """What every task needs, held by the workers; home is where the run is."""

    path: Any
    plan: Plan
    config: dict[str, Any] = field(default_factory=sklearn.get_config)
    home: tuple[str, int] = field(default_factory=lambda: (socket.gethostname(), os.getpid()))

    @contextmanager
    def at_work(self, threads: dict[str, int]) -> Iterator[Callable[[], bool]]:
        """Inside a task: its share of the cores, scikit-learn's configuration, and whether the task has been given up.

        threads   dask's threads on each host, which share its cores
        """
        from distributed import get_worker
        from distributed.comm import get_address_host

        worker = get_worker()
        own, key = worker.state.nthreads, worker.get_current_task()
        n = max(1, n_cores() // max(own, threads.get(get_address_host(worker.address), own)))
        host = socket.gethostname()
        ours = self.home != (host, os.getpid())  # a process of the cluster's, not the user's
        with ExitStack() as stack:
            if ours:
                numba_will_take(n)
            if self.home == (host, os.getppid()):  # Ctrl-C and Jupyter interrupt the run's children too
                worker.loop.add_callback(signal.signal, signal.SIGINT, signal.SIG_IGN)
            stack.enter_context(alone() if ours and own == 1 else nullcontext())
            stack.enter_context(sklearn.config_context(**self.config))
            stack.enter_context(parallel_config(backend="threading"))  # for estimators with n_jobs of their own
            stack.enter_context(at_most(n))
            yield lambda: key not in worker.state.tasks or worker.state.tasks[key].state == "cancelled"


class Job(Protocol):
    """A task, and all that is sent for it."""

    def __call__(self, sent: Sent, threads: dict[str, int]) -> Any:
        """What it finds, there; None where it has been given up meanwhile."""
        ...


@dataclass(frozen=True)
class Evaluate:
    """Outcomes of splits: (j, k), the settings or None for all of them, and whether row losses are kept."""

    splits: tuple[tuple[Split, np.ndarray | None, bool], ...]

    def __call__(self, sent: Sent, threads: dict[str, int]) -> list[Outcome] | None:
        path, plan, found, inner = sent.path, sent.plan, list[Outcome](), dict[int, Any]()
        with sent.at_work(threads) as given_up:
            for (j, k), which, keep in self.splits:
                if given_up():
                    return None
                if k >= 0 and j not in inner:
                    inner = {j: plan.inner[j]}
                train, test = inner[j][k] if k >= 0 else plan.outer[j]
                every = np.arange(len(path.family.settings)) if which is None else which
                found.append(path.evaluate(train, test, every, (j, k), keep))
        return found


@dataclass(frozen=True)
class Fill:
    """What a sweep writes for some training parts."""

    parts: range
    n_settings: int
    rule: Rule
    is_known: bool  # the loss is one of cvnb's own, and warns of nothing

    def __call__(self, sent: Sent, threads: dict[str, int]) -> Strip | None:
        sheet = Sheet(sent.plan, self.n_settings, self.rule)
        with sent.at_work(threads) as given_up, nullcontext() if self.is_known else recorded(sheet.warnings):
            _stoppable(sent.path.stages(sheet, self.parts), sheet.stop, given_up)
        return None if sheet.stopped else sheet.strip(self.parts)


@dataclass(frozen=True)
class Find:
    """A piece of what all parts of a sweep share."""

    piece: Any

    def __call__(self, sent: Sent, threads: dict[str, int]) -> Any:
        found, stop = list[Any](), np.zeros(1, dtype=np.uint8)

        def call() -> None:
            found.append(sent.path.find(self.piece, sent.plan, lambda: bool(stop[0])))

        with sent.at_work(threads) as given_up:
            _stoppable([[call]], stop, given_up)
        return None if stop[0] else found[0]


def _stoppable(stages: Iterable[Any], stop: np.ndarray, given_up: Callable[[], bool]) -> None:
    """Make these calls on one thread, while this one looks whether anybody still wants them."""

    def look() -> None:
        if given_up():
            stop[0] = 1

    run_stages(stages, 1, stop, look)


class Cluster:
    """The workers of one client; `n` threads of theirs."""

    def __init__(self, backend: Any, plan: Plan) -> None:
        self.client, self.options, self.plan = backend.client, backend.submit_kwargs, plan.bare
        if self.client.asynchronous:
            raise WrongTypeError("this dask client is asynchronous, and a run waits for its results; use Client() without it.")
        self.n = max(1, backend.effective_n_jobs(-1))  # waits for a first worker as long as joblib does
        self.sent: Any = None
        self.path: Any = None

    def outcomes(
        self, path: Any, tasks: Iterator[Any], n_tasks: int, look: Callable[[Split | None], None]
    ) -> Iterator[Outcome]:
        """As Workers.outcomes; many quick tasks travel together."""
        size, n_settings = max(1, n_tasks // (4 * self.n)), len(path.family.settings)

        def jobs() -> Iterator[Job]:
            batch = []
            for task in tasks:
                every = task.which.size == n_settings
                batch.append((task.split, None if every else task.which, task.keep))
                if len(batch) == size:
                    yield Evaluate(tuple(batch))
                    batch = []
            if batch:
                yield Evaluate(tuple(batch))

        for found in self.found(path, jobs(), lambda: look(None)):
            yield from found

    def find_ahead(self, sweep: Any, sheet: Sheet, look: Look) -> None:
        """Find there what the parts of this sweep share."""
        pieces = sweep.ahead(sheet.plan, self.n)
        sheet.work = len(pieces)

        def take(job: Find, found: Any) -> None:
            sweep.take(job.piece, sheet.plan, found)
            sheet.done += 1

        self._all(sweep, [Find(piece) for piece in pieces], take, look)

    def fill(self, sweep: Any, sheet: Sheet, is_known: bool, look: Look) -> None:
        """Fill the sheet there, part by part."""
        shares = sweep.shares(sheet, self.n)
        sheet.work = sheet.plan.n_parts

        def take(job: Fill, strip: Strip) -> None:
            sheet.put(strip)
            sheet.done += len(job.parts)

        self._all(sweep, [Fill(parts, sheet.n_settings, sheet.rule, is_known) for parts in shares], take, look)

    def _all(self, path: Any, jobs: list[Any], take: Callable[[Any, Any], None], look: Look) -> None:
        """Every job done, those that killed workers held again."""
        left, lost = deque(jobs), Counter[int]()
        while left:
            try:
                for found in self.found(path, list(left), look):
                    take(left.popleft(), found)
                    look()
            except Lost:
                lost[len(left)] += 1
                if lost[len(left)] == LOST:
                    raise
                self.sent = None

    def found(self, path: Any, jobs: Iterable[Job], look: Look) -> Iterator[Any]:
        """What the jobs find, in their order."""
        ahead: deque[Future[Any]] = deque()
        try:
            if self.sent is None or self.path is not path:
                ahead.append(self._begun(self._scattered(path)))
                self.sent, self.path = awaited(ahead[0], look), path
                ahead.popleft()
            for job in jobs:
                ahead.append(self._begun(self._done(job, self.sent)))
                if len(ahead) > AHEAD * self.n:
                    yield awaited(ahead[0], look)
                    ahead.popleft()
            while ahead:
                yield awaited(ahead[0], look)
                ahead.popleft()
        finally:
            for future in ahead:
                future.cancel()

    def _begun(self, what: Coroutine[Any, Any, Any]) -> Future[Any]:
        """It goes on in the thread where dask's client listens, and this one sees an interrupt."""
        return asyncio.run_coroutine_threadsafe(what, self.client.loop.asyncio_loop)

    async def _scattered(self, path: Any) -> Any:
        """To one worker, of whom the others have it: a scattering to all of them never ends where one is killed meanwhile."""
        scattering = asyncio.ensure_future(self.client.scatter(Sent(path, self.plan), hash=False, asynchronous=True))
        try:
            return await asyncio.shield(scattering)
        except asyncio.CancelledError:
            scattering.add_done_callback(_let_go)  # the scheduler may have it already
            raise
        except (OSError, KeyError, ValueError, TimeoutError) as error:  # a worker went away meanwhile, or all of them
            await self._back()
            raise Lost(str(error)) from error

    async def _done(self, job: Job, sent: Any) -> Any:
        from distributed.comm import get_address_host

        key = f"cvnb-{type(job).__name__.lower()}-{uuid4().hex}"
        threads = Counter[str]()  # now: workers come and go
        for address, n in (await self._workers()).items():
            threads[get_address_host(address)] += n
        future = self.client.submit(job, sent, dict(threads), key=key, **self.options)
        try:
            found = await future
        except CancelledError as error:
            await self._back()
            raise Lost(str(error)) from error
        finally:
            future.release()
        if found is None:  # a worker believed that nobody wanted it, and was asked for it again
            raise Lost(f"{key} was given up by its worker")
        return found

    async def _back(self) -> None:
        """Wait for a first worker, as its nanny starts it again."""
        for _ in range(10 * BACK):
            if await self._workers():
                return
            await asyncio.sleep(0.1)

    async def _workers(self) -> dict[str, int]:
        """Address -> threads."""
        if self.client.status != "running" or self.client.scheduler is None:
            raise FitError(GONE)
        try:
            found: dict[str, int] = await self.client.scheduler.ncores()
        except (OSError, RuntimeError) as error:
            raise FitError(GONE) from error
        return found


def _let_go(scattering: asyncio.Task[Any]) -> None:
    """Release what was scattered for a run that did not wait for it."""
    if not scattering.cancelled() and scattering.exception() is None:
        scattering.result().release()


@contextmanager
def cluster(n_jobs: int | None, plan: Plan) -> Iterator[Cluster | None]:
    """That of joblib.parallel_config, where it names one and n_jobs is not 1."""
    backend, _ = get_active_backend()
    if n_jobs == 1 or not is_dask(backend):
        yield None
        return
    with backend.retrieval_context():  # a run inside a task gives its thread back while it waits
        there = Cluster(backend, plan)
        try:
            yield there
        finally:
            if there.sent is not None:
                there.sent.release()  # now: after an interrupt other references last a while
