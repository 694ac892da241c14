"""Executors, which make the calls of a run: this thread, other threads, joblib or a cluster."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
)
from itertools import chain
from typing import Any

import sklearn
from joblib import effective_n_jobs
from joblib._parallel_backends import LokyBackend
from joblib.externals.loky.process_executor import (
    BrokenProcessPool,
    ShutdownExecutorError,
)
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ..runtime.cancel import Stop
from ..runtime.cores import at_most, matrices_at_most, n_cores, openmp_at_most
from ..runtime.randomness import is_main_thread
from ..runtime.thread_warnings import quiet
from ..runtime.threads import Team, in_order, n_threads, pool_of
from .cluster import WorkersLost, cluster
from .executor import Call, Executor, Poll

# Multiplications that are done before another thread is awake, and before a user notices.
TINY, QUICK = 5e7, 5e8
MAX_LOSSES = 4  # the run ends when workers are lost so often at the same item
RETRY_SECONDS = 0.2  # times the number of losses


class ThisThread(Executor):
    """The calling thread; idle threads help with calls too quick to wait for.

    one_by_one  or inside a call only, where its path asks the team
    """

    team: Team

    def __init__(self, team: Team, one_by_one: bool = False) -> None:
        self.team, self.n = team, 1 if one_by_one else team.n

    def map(self, call: Call, items: list[Any], poll: Poll) -> Generator[Any]:
        if self.n > 1:
            yield from self.team.imap(self.team.counted(call, len(items)), items)
            return
        for item in items:
            poll(item)
            yield call(item, self.team)


class ThreadWorkers(Executor):
    """Threads of this process, while this one waits and sees an interrupt at once.

    For calls that release Python's lock.
    """

    team: Team
    warns_here = True

    def __init__(self, team: Team, openmp: int | None = None) -> None:
        self.team, self.n, self.openmp = team, team.n, openmp

    def map(self, call: Call, items: list[Any], poll: Poll) -> Generator[Any]:
        team = self.team
        counted = team.counted(call, len(items))

        def configured(item: Any) -> Any:
            # scikit-learn's configuration belongs to a thread
            config = sklearn.config_context(**team.config)
            with team.inside(), config, self._openmp_limit():
                return counted(item)

        assert team.pool is not None
        yield from in_order(configured, items, team.pool, self.n, lambda: poll(None))

    def _openmp_limit(self) -> AbstractContextManager[None]:
        return nullcontext() if self.openmp is None else openmp_at_most(self.openmp)


class JoblibWorkers(Executor):
    """joblib's workers, wherever they are; many quick calls are sent together.

    Each worker has its share of the cores. Loky's workers get it from joblib, or from
    `inner_max_num_threads`.
    """

    is_remote = True

    def __init__(self, stack: ExitStack, n_jobs: int | None, backend: Any) -> None:
        self.stack, self.n_jobs, self.n = stack, n_jobs, effective_n_jobs(n_jobs)
        self.share: int | None = None
        if not backend.supports_inner_max_num_threads:
            self.share = max(1, n_cores() // self.n)
        self.returns = "generator" if backend.supports_return_generator else "list"
        self.renew()

    def map(self, call: Call, items: list[Any], poll: Poll) -> Generator[Any]:
        make_calls = delayed(_make_calls)
        results = self.parallel(
            make_calls(call, batch, self.share) for batch in self.batches(items)
        )
        try:
            yield from chain.from_iterable(results)
        finally:
            _close(results)

    def renew(self) -> None:
        """Start workers with scikit-learn's configuration; results come one by one if possible."""
        self.stack.close()
        self.parallel = self.stack.enter_context(
            Parallel(n_jobs=self.n_jobs, return_as=self.returns)
        )


@contextmanager
def kernels_on(n_jobs: int | None, stop: Stop, cost: float) -> Iterator[Executor]:
    """Yield the executor for kernels: a cluster if one is set and the run is long, else threads.

    cost  multiplications of the whole run
    """
    with cluster(n_jobs if cost > QUICK else 1) as workers:
        if workers is not None:
            yield workers
            return
    with threads_on(n_jobs, stop, cost) as threads:
        yield threads


@contextmanager
def threads_on(n_jobs: int | None, stop: Stop, cost: float) -> Iterator[Executor]:
    """Yield an executor of this process for kernels.

    A tiny run stays in this thread, a quick one also uses idle threads; for a longer one,
    other threads make the calls while this one waits.

    cost  multiplications of the whole run
    """
    n = 1 if cost <= TINY else n_threads(n_jobs)
    is_quick = cost <= QUICK
    with matrices_at_most(1):
        if is_quick and n == 1:
            yield ThisThread(Team(stop))
            return
        with pool_of(n) as pool:
            team = Team(stop, pool, n)
            yield ThisThread(team) if is_quick else ThreadWorkers(team)


@contextmanager
def fits_on(n_jobs: int | None, stop: Stop, on_threads: bool) -> Iterator[Executor]:
    """Yield the executor for fits: the workers of n_jobs and joblib.parallel_config.

    on_threads  without either, use threads instead of this thread
    """
    backend, _ = get_active_backend()
    with cluster(n_jobs) as workers:
        if workers is not None:
            yield workers
            return
    if not _is_default(n_jobs) and effective_n_jobs(n_jobs) != 1:
        with ExitStack() as stack:
            yield JoblibWorkers(stack, n_jobs, backend)
        return
    # One thread at least: this one has to see an interrupt.
    n = n_workers(n_jobs, True)
    with pool_of(n) as pool:
        if not on_threads:
            yield ThisThread(Team(stop, pool, n), one_by_one=True)
            return
        with matrices_at_most(1):
            yield ThreadWorkers(Team(stop, pool, n), max(1, n_cores() // n))


def n_workers(n_jobs: int | None, on_threads: bool) -> int:
    """Return the number of fits at a time, as `fits_on`."""
    if _is_default(n_jobs):
        return n_threads(None) if on_threads else 1
    return max(1, effective_n_jobs(n_jobs))


def _is_default(n_jobs: int | None) -> bool:
    """Return whether neither n_jobs nor joblib.parallel_config names workers."""
    backend, n = get_active_backend()
    return n_jobs is None and n is None and type(backend) is LokyBackend


def map_with_retries(
    executor: Executor, poll: Poll, stop: Stop, call: Call, items: Iterable[Any]
) -> Generator[Any]:
    """Yield call(item, team) of every item in order; calls lost with their workers are repeated."""
    left = deque(items)
    n_losses, n_left_at_loss = 0, -1
    while left:
        try:
            results = executor.map(call, list(left), poll)
            with closing(results):
                for result in results:
                    left.popleft()
                    yield result
            return
        except (RuntimeError, KeyboardInterrupt) as error:
            n_losses = n_losses + 1 if n_left_at_loss == len(left) else 1
            n_left_at_loss = len(left)
            if n_losses == MAX_LOSSES or not _is_loss_of_workers(error, stop):
                raise
            # Another run that shares the workers may still be shutting them down.
            time.sleep(RETRY_SECONDS * n_losses)
            executor.renew()


def _is_loss_of_workers(error: BaseException, stop: Stop) -> bool:
    """Return whether workers were killed or shut down, possibly by a run that shares them."""
    if isinstance(error, KeyboardInterrupt):
        # A worker's interrupt, if it reaches a thread that was not interrupted.
        return not is_main_thread() and not stop.is_set()
    is_shut_down = isinstance(error.__context__, ShutdownExecutorError)
    return is_shut_down or isinstance(error, BrokenProcessPool | WorkersLost)


def _close(results: Any) -> None:
    """Cancel the calls that joblib has not made, without joblib's warning about it."""
    if hasattr(results, "close"):
        with quiet():
            results.close()


def _make_calls(call: Call, batch: list[Any], share: int | None) -> list[Any]:
    team = Team(Stop())
    with nullcontext() if share is None else at_most(share):
        return [call(item, team) for item in batch]
