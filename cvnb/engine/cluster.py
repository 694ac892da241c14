"""A cluster of dask's workers, as joblib.parallel_config(backend="dask") names it: rows go there once, then names of splits.

The call with the path, its rows and the plan is scattered to all workers; a task names splits or training parts, and gives
their losses. Here results are taken in order, as on one machine, and few tasks are ahead of the caller. What is given up is
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
import threading
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import uuid4

import sklearn
from joblib import parallel_config
from joblib.parallel import get_active_backend

from ..errors import FitError, WrongTypeError
from ..runtime.cancel import Stop, Stopped
from ..runtime.cores import at_most, n_cores, numba_will_take
from ..runtime.randomness import alone
from ..runtime.threads import LOOK_EVERY, Team, awaited, is_dask

BACK = 60  # seconds in which a first of them must be back
AHEAD = 2  # tasks that wait for each thread of the cluster
GONE = "dask's scheduler, or its client here, went away in the middle of the run; make a new Client and run again."
Look = Callable[[], None]


class Lost(RuntimeError):
    """The workers that held the rows are gone."""


@dataclass(frozen=True, eq=False)
class Sent:
    """What every task needs, held by the workers; home is where the run is."""

    call: Any
    config: dict[str, Any] = field(default_factory=sklearn.get_config)
    home: tuple[str, int] = field(
        default_factory=lambda: (socket.gethostname(), os.getpid())
    )

    @contextmanager
    def at_work(self, threads: dict[str, int]) -> Iterator[Callable[[], bool]]:
        """Inside a task: its share of the cores, scikit-learn's configuration, and whether the task has been given up.

        threads   dask's threads on each host, which share its cores
        """
        from distributed import get_worker
        from distributed.comm import get_address_host

        worker = get_worker()
        own, key = worker.state.nthreads, worker.get_current_task()
        n = max(
            1, n_cores() // max(own, threads.get(get_address_host(worker.address), own))
        )
        host = socket.gethostname()
        ours = self.home != (
            host,
            os.getpid(),
        )  # a process of the cluster's, not the user's
        with ExitStack() as stack:
            if ours:
                numba_will_take(n)
            if self.home == (
                host,
                os.getppid(),
            ):  # Ctrl-C and Jupyter interrupt the run's children too
                worker.loop.add_callback(signal.signal, signal.SIGINT, signal.SIG_IGN)
            stack.enter_context(alone() if ours and own == 1 else nullcontext())
            stack.enter_context(sklearn.config_context(**self.config))
            stack.enter_context(
                parallel_config(backend="threading")
            )  # for estimators with n_jobs of their own
            stack.enter_context(at_most(n))
            yield (
                lambda: (
                    key not in worker.state.tasks
                    or worker.state.tasks[key].state == "cancelled"
                )
            )


@dataclass(frozen=True)
class Calls:
    """Some calls, made one after the other by one thread of a worker."""

    items: tuple[Any, ...]

    def __call__(self, sent: Sent, threads: dict[str, int]) -> list[Any] | None:
        """What they find, there; None where they have been given up meanwhile."""
        stop = Stop()
        with (
            sent.at_work(threads) as given_up,
            _watched(stop, given_up),
            suppress(Stopped),
        ):
            team = Team(stop)
            found = [sent.call(item, team) for item in self.items]
        return None if stop.is_set() else found


@contextmanager
def _watched(stop: Stop, given_up: Callable[[], bool]) -> Iterator[None]:
    """Meanwhile a thread looks whether anybody still wants the task."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_EVERY):
            if given_up():
                stop.set()
                return

    watcher = threading.Thread(target=watch, name="cvnb watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


class Cluster:
    """The workers of one client; `n` threads of theirs."""

    listens, elsewhere, team = False, True, None

    def __init__(self, backend: Any) -> None:
        self.client, self.options = backend.client, backend.submit_kwargs
        if self.client.asynchronous:
            raise WrongTypeError(
                "this dask client is asynchronous, and a run waits for its results; use Client() without it."
            )
        self.n = max(
            1, backend.effective_n_jobs(-1)
        )  # waits for a first worker as long as joblib does
        self.sent: Any = None
        self.call: Any = None

    def map(
        self, call: Any, items: Iterable[Any], n_items: int, look: Callable[[Any], None]
    ) -> Generator[Any]:
        """As Executor.map; many quick calls travel together."""
        size, items = max(1, n_items // (4 * self.n)), iter(items)
        for found in self._found(
            call, iter(lambda: tuple(islice(items, size)), ()), lambda: look(None)
        ):
            yield from found

    def renew(self) -> None:
        """Scatter anew what the killed workers held."""
        self.sent = None

    def _found(
        self, call: Any, batches: Iterable[tuple[Any, ...]], look: Look
    ) -> Iterator[list[Any]]:
        """What the batches find, in their order."""
        ahead: deque[Future[Any]] = deque()
        try:
            if self.sent is None or self.call is not call:
                ahead.append(self._begun(self._scattered(call)))
                self.sent, self.call = awaited(ahead[0], look), call
                ahead.popleft()
            for batch in batches:
                ahead.append(self._begun(self._done(Calls(batch), self.sent)))
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

    async def _scattered(self, call: Any) -> Any:
        """To one worker, of whom the others have it: a scattering to all of them never ends where one is killed meanwhile."""
        scattering = asyncio.ensure_future(
            self.client.scatter(Sent(call), hash=False, asynchronous=True)
        )
        try:
            return await asyncio.shield(scattering)
        except asyncio.CancelledError:
            scattering.add_done_callback(_let_go)  # the scheduler may have it already
            raise
        except (
            OSError,
            KeyError,
            ValueError,
            TimeoutError,
        ) as error:  # a worker went away meanwhile, or all of them
            await self._back()
            raise Lost(str(error)) from error

    async def _done(self, job: Calls, sent: Any) -> Any:
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
        if (
            found is None
        ):  # a worker believed that nobody wanted it, and was asked for it again
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
def cluster(n_jobs: int | None) -> Iterator[Cluster | None]:
    """That of joblib.parallel_config, where it names one and n_jobs is not 1."""
    backend, _ = get_active_backend()
    if n_jobs == 1 or not is_dask(backend):
        yield None
        return
    with (
        backend.retrieval_context()
    ):  # a run inside a task gives its thread back while it waits
        there = Cluster(backend)
        try:
            yield there
        finally:
            if there.sent is not None:
                there.sent.release()  # now: after an interrupt other references last a while
