"""A cluster of dask workers, as joblib.parallel_config(backend="dask") names it.

The call with the path, its rows and the plan is scattered to the workers once; a task names
splits or training parts and returns their losses. Results are taken in order, as on one
machine, and few tasks are ahead of the caller. The scheduler forgets cancelled tasks at
once, and a running task checks regularly whether it is cancelled. If the workers that held
the rows are killed, the rows are scattered again. dask is imported only by users of it.

A worker with one thread counts warnings and seeds NumPy as this process does. A worker with
several threads cannot, as with joblib's threads: there an estimator without a random_state
that draws in `predict` may draw differently.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

import sklearn
from joblib import parallel_config
from joblib.parallel import get_active_backend

from ..errors import FitError, WrongTypeError
from ..runtime.cancel import Stop, Stopped
from ..runtime.cores import at_most, n_cores, set_default_numba_threads
from ..runtime.randomness import as_main_thread
from ..runtime.threads import POLL_SECONDS, Team, is_dask, wait_for
from .executor import Call, Executor, Poll

RESTART_SECONDS = 60  # within which a first killed worker must be back
QUEUED_PER_THREAD = 2  # tasks that wait for each thread of the cluster
CLIENT_GONE = (
    "dask's scheduler, or its client here, went away in the middle of the run; make a new "
    "Client and run again."
)


class WorkersLost(RuntimeError):
    """The workers that held the rows are gone."""


def _this_process() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


@dataclass(frozen=True, eq=False)
class ScatteredCall:
    """The call with all that every task needs, held by the workers; home: the run's process."""

    call: Any
    config: dict[str, Any] = field(default_factory=sklearn.get_config)
    home: tuple[str, int] = field(default_factory=_this_process)

    @contextmanager
    def environment(self, threads: dict[str, int]) -> Iterator[Callable[[], bool]]:
        """Limit a task to its share of the cores, with scikit-learn's configuration.

        Yields a function that returns whether the task has been cancelled.

        threads  dask's threads on each host, which share its cores
        """
        from distributed import get_worker
        from distributed.comm import get_address_host

        worker = get_worker()
        n_own, key = worker.state.nthreads, worker.get_current_task()
        n_here = threads.get(get_address_host(worker.address), n_own)
        n = max(1, n_cores() // max(n_own, n_here))
        is_worker_process = self.home != _this_process()
        is_child = self.home == (socket.gethostname(), os.getppid())

        def is_cancelled() -> bool:
            tasks = worker.state.tasks
            return key not in tasks or tasks[key].state == "cancelled"

        with ExitStack() as stack:
            if is_worker_process:
                set_default_numba_threads(n)
            if is_child:  # Ctrl-C and Jupyter interrupt the children of the run too
                worker.loop.add_callback(signal.signal, signal.SIGINT, signal.SIG_IGN)
            if is_worker_process and n_own == 1:
                stack.enter_context(as_main_thread())
            stack.enter_context(sklearn.config_context(**self.config))
            # for estimators with n_jobs of their own
            stack.enter_context(parallel_config(backend="threading"))
            stack.enter_context(at_most(n))
            yield is_cancelled


@dataclass(frozen=True)
class ClusterTask:
    """A few calls, made one after the other by one thread of a worker."""

    items: tuple[Any, ...]

    def __call__(
        self, scattered: ScatteredCall, threads: dict[str, int]
    ) -> list[Any] | None:
        """Return the results of the calls; None if the task was cancelled meanwhile."""
        stop = Stop()
        with (
            scattered.environment(threads) as is_cancelled,
            _stopped_if(is_cancelled, stop),
            suppress(Stopped),
        ):
            team = Team(stop)
            results = [scattered.call(item, team) for item in self.items]
        return None if stop.is_set() else results


@contextmanager
def _stopped_if(is_cancelled: Callable[[], bool], stop: Stop) -> Iterator[None]:
    """Check regularly, in a thread, whether the task is cancelled; then set the stop token."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(POLL_SECONDS):
            if is_cancelled():
                stop.set()
                return

    watcher = threading.Thread(target=watch, name="cvnb watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


class Cluster(Executor):
    """The workers of one dask client, with `n` threads in all."""

    is_remote = True

    def __init__(self, backend: Any) -> None:
        self.client, self.options = backend.client, backend.submit_kwargs
        if self.client.asynchronous:
            raise WrongTypeError(
                "this dask client is asynchronous, and a run waits for its results; use "
                "Client() without it."
            )
        # waits for a first worker as long as joblib does
        self.n = max(1, backend.effective_n_jobs(-1))
        self.scattered: Any = None
        self.call: Call | None = None

    def map(self, call: Call, items: list[Any], poll: Poll) -> Generator[Any]:
        tasks = [ClusterTask(tuple(batch)) for batch in self.batches(items)]
        for results in self._results(call, tasks, partial(poll, None)):
            yield from results

    def renew(self) -> None:
        """Have the rows scattered again."""
        self.scattered = None

    def _results(
        self,
        call: Call,
        tasks: list[ClusterTask],
        poll: Callable[[], None],
    ) -> Iterator[list[Any]]:
        """Yield the results of each task, in order."""
        ahead: deque[Future[Any]] = deque()
        try:
            if self.scattered is None or self.call is not call:
                ahead.append(self._start(self._scatter(call)))
                self.scattered, self.call = wait_for(ahead[0], poll), call
                ahead.popleft()
            for task in tasks:
                ahead.append(self._start(self._submit(task, self.scattered)))
                if len(ahead) > QUEUED_PER_THREAD * self.n:
                    yield wait_for(ahead[0], poll)
                    ahead.popleft()
            while ahead:
                yield wait_for(ahead[0], poll)
                ahead.popleft()
        finally:
            for future in ahead:
                future.cancel()

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run it in the thread of dask's client, so that this thread sees an interrupt."""
        return asyncio.run_coroutine_threadsafe(
            coroutine, self.client.loop.asyncio_loop
        )

    async def _scatter(self, call: Any) -> Any:
        """Scatter the call to one worker; the others fetch it from there.

        broadcast=True never returns if a worker is killed meanwhile.
        """
        scattering = asyncio.ensure_future(
            self.client.scatter(ScatteredCall(call), hash=False, asynchronous=True)
        )
        try:
            return await asyncio.shield(scattering)
        except asyncio.CancelledError:
            scattering.add_done_callback(_release)  # it may have arrived already
            raise
        except (OSError, KeyError, ValueError, TimeoutError) as error:
            # one worker went away meanwhile, or all of them
            await self._wait_for_a_worker()
            raise WorkersLost(str(error)) from error

    async def _submit(self, task: ClusterTask, scattered: Any) -> Any:
        from distributed.comm import get_address_host

        key = f"cvnb-task-{uuid4().hex}"
        threads = Counter[str]()  # counted for every task: workers come and go
        for address, n in (await self._threads_by_address()).items():
            threads[get_address_host(address)] += n
        future = self.client.submit(
            task, scattered, dict(threads), key=key, **self.options
        )
        try:
            results = await future
        except CancelledError as error:
            await self._wait_for_a_worker()
            raise WorkersLost(str(error)) from error
        except (
            RuntimeError
        ) as error:  # "ConnectionPool is closed", while results travel
            if self.client.status != "running":
                raise FitError(CLIENT_GONE) from error
            raise
        finally:
            future.release()
        if results is None:  # its worker took it for cancelled, then was sent it again
            raise WorkersLost(f"{key} was given up by its worker")
        return results

    async def _wait_for_a_worker(self) -> None:
        """Wait until a first worker is there: a nanny restarts a killed one."""
        for _ in range(10 * RESTART_SECONDS):
            if await self._threads_by_address():
                return
            await asyncio.sleep(0.1)

    async def _threads_by_address(self) -> dict[str, int]:
        if self.client.status != "running" or self.client.scheduler is None:
            raise FitError(CLIENT_GONE)
        try:
            n_threads: dict[str, int] = await self.client.scheduler.ncores()
        except (OSError, RuntimeError) as error:
            raise FitError(CLIENT_GONE) from error
        return n_threads


def _release(scattering: asyncio.Task[Any]) -> None:
    """Release what was scattered for a run that did not wait for it."""
    if not scattering.cancelled() and scattering.exception() is None:
        scattering.result().release()


@contextmanager
def cluster(n_jobs: int | None) -> Iterator[Cluster | None]:
    """Yield the cluster of joblib.parallel_config; None without one, or if n_jobs is 1."""
    backend, _ = get_active_backend()
    if n_jobs == 1 or not is_dask(backend):
        yield None
        return
    # a run inside a task gives its thread back while it waits
    with backend.retrieval_context():
        workers = Cluster(backend)
        try:
            yield workers
        finally:
            # now: after an interrupt other references last a while
            if workers.scattered is not None:
                workers.scattered.release()
