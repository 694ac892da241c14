"""The threads of this process, and the team that a task gets: a stop token and idle threads.

The kernels release Python's lock, so threads are enough and nothing is copied. The matrix
libraries are limited to one thread meanwhile: the calls are the parallel work. Nobody waits
for interrupted work: kernels poll the stop token, forests and boosting check it between
trees. A fit that cannot be stopped continues in its thread until it ends.
"""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

import sklearn
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from .cancel import Stop
from .cores import n_cores

POLL_SECONDS = 0.05  # between two updates of the progress
LEAVE_SECONDS = 0.1  # an interrupt waits at most this long for calls to end
Item = TypeVar("Item")
Result = TypeVar("Result")
Poll = Callable[[], None]


class Team:
    """What a task may use: the stop token, idle threads, and a count of the work done.

    calls    for each thread that makes a call: the model it is fitting, if the stop token
             does not reach that fit, else ""
    waiting  one entry for each call of the executor that has not begun
    """

    def __init__(
        self, stop: Stop, pool: ThreadPoolExecutor | None = None, n: int = 1
    ) -> None:
        self.stop, self.pool, self.n = stop, pool, n
        self.config = sklearn.get_config()
        self.done = 0.0
        self.calls: dict[int, str] = {}
        self.waiting: deque[None] = deque()

    def advance(self, done: float) -> None:
        """Add to the work done, in the path's unit; only the progress reads it."""
        self.done += done

    def counted(
        self, call: Callable[[Any, Team], Result], n: int
    ) -> Callable[[Any], Result]:
        """Return the call with this team as its second argument; `waiting` counts down from n."""
        waiting = self.waiting = deque([None] * n)

        def begin(item: Any) -> Result:
            waiting.pop()
            return call(item, self)

        return begin

    def map(
        self, call: Callable[[Item], Result], items: Iterable[Item]
    ) -> list[Result]:
        """Return call(item) of every item, in order. This thread calls, and idle threads help.

        While calls of the executor wait, no thread is idle: each takes the next one whole. If
        calls raise, the error of the first such item is raised, on any number of threads.
        """
        items = list(items)
        has_helpers = self.pool is not None and self.n > 1 and not self.waiting
        if has_helpers and len(items) > 1:
            return list(self.imap(call, items))
        results = []
        for item in items:
            self.stop.check()
            results.append(call(item))
        return results

    def imap(
        self, call: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        """Yield call(item) of every item in order, each as soon as it and all before are done."""
        shared = _SharedCalls(call, items, self.stop)
        helpers: list[Future[None]] = []
        if self.pool is not None:
            n_helpers = min(self.n, len(items)) - 1
            helpers = [self.pool.submit(self._help, shared) for _ in range(n_helpers)]
        n_given = 0
        while shared.make_next():
            while n_given < len(items) and shared.is_done[n_given]:
                yield shared.results[n_given]
                n_given += 1
        for helper in helpers:
            if not helper.cancel():  # a helper that has not begun is not needed
                helper.result()
        if shared.errors:
            raise shared.errors[min(shared.errors)]
        yield from shared.results[n_given:]

    def _help(self, shared: _SharedCalls) -> None:
        # scikit-learn's configuration belongs to a thread
        with self.inside(), sklearn.config_context(**self.config):
            while shared.make_next():
                pass

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Register a call that a thread of the pool makes."""
        me = threading.get_ident()
        self.calls[me] = ""
        try:
            yield
        finally:
            del self.calls[me]

    @contextmanager
    def fitting(self, model: str) -> Iterator[None]:
        """Register a fit that the stop token does not reach."""
        me = threading.get_ident()
        if me not in self.calls:  # the main thread, which an interrupt reaches
            yield
            return
        self.calls[me] = model
        try:
            yield
        finally:
            self.calls[me] = ""

    def still_fitting(self) -> list[str]:
        """Wait briefly for the calls to end; return the models whose fits continue.

        The wait matters: a thread inside scikit-learn's `warnings.catch_warnings` would
        restore the filters of before the interrupt.
        """
        until = time.monotonic() + LEAVE_SECONDS
        while self.calls and time.monotonic() < until:
            time.sleep(0.1 * LEAVE_SECONDS)
        return [model for model in list(self.calls.values()) if model]


class _SharedCalls:
    """Calls that several threads make, each once, begun in order; none begins after an error."""

    def __init__(
        self, call: Callable[[Any], Any], items: Sequence[Any], stop: Stop
    ) -> None:
        self.call, self.items, self.stop = call, items, stop
        self.results: list[Any] = [None] * len(items)
        self.is_done = [False] * len(items)
        self.errors: dict[int, BaseException] = {}
        self.indices = iter(range(len(items)))  # next() on it is atomic

    def make_next(self) -> bool:
        """Make the next call; return False if none is left."""
        i = None if self.errors else next(self.indices, None)
        if i is None:
            return False
        try:
            self.stop.check()
            self.results[i] = self.call(self.items[i])
            self.is_done[i] = True
        except BaseException as error:  # raised in the thread that needs the results
            self.errors[i] = error
            if isinstance(error, KeyboardInterrupt):  # do not wait for the helpers
                raise
        return True


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads: n_jobs, else joblib.parallel_config's, else all cores.

    All cores is what scikit-learn's own k-NN takes; OMP_NUM_THREADS bounds it. joblib sets
    that variable in its workers, so that processes times threads is the number of cores. The
    workers of a cluster that joblib.parallel_config names are no threads of this machine.
    """
    backend, n = get_active_backend()
    is_given = not is_dask(backend) and (n_jobs is not None or n not in (None, 1))
    if n_jobs == 1 or is_given:
        return max(1, effective_n_jobs(n_jobs))
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdigit() and int(limit):
        return max(1, min(n_cores(), int(limit)))
    return max(1, n_cores())


def is_dask(backend: Any) -> bool:
    """Return whether a joblib backend is a dask cluster, without importing dask."""
    names = [base.__name__ for base in type(backend).__mro__]
    return "DaskDistributedBackend" in names


@contextmanager
def pool_of(n: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of n threads, kept for the next run: starting a thread takes 0.5 ms.

    After an error the pool is abandoned.
    """
    pool = _idle_pools.pop(n, None) or ThreadPoolExecutor(n, thread_name_prefix="cvnb")
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    _idle_pools[n] = pool


_idle_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):
    # a forked child has the pools but not their threads
    os.register_at_fork(after_in_child=_idle_pools.clear)


def in_order(
    call: Callable[[Item], Result],
    items: Iterable[Item],
    pool: ThreadPoolExecutor,
    n: int,
    poll: Poll,
) -> Iterator[Result]:
    """Yield call(item) of every item in order, made on the n threads of the pool.

    Few calls are made ahead of the caller. This thread waits, sees an interrupt at once, and
    calls `poll` regularly; calls that have not begun by then never begin.
    """
    ahead: deque[Future[Result]] = deque()
    items = iter(items)
    try:
        while True:
            for item in islice(items, n + 1 - len(ahead)):
                ahead.append(pool.submit(call, item))
            if not ahead:
                return
            result = wait_for(ahead[0], poll)
            ahead.popleft()
            yield result
    except KeyboardInterrupt:  # finished calls are not lost
        while ahead and ahead[0].done():
            yield ahead.popleft().result()
        raise


def stoppable(call: Callable[[], Result], stop: Stop) -> Result:
    """Return the result of a call that an interrupt can stop.

    The main thread has another thread make the call, and sets the stop token on an interrupt.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    context = contextvars.copy_context()

    def caught() -> Result | Exception:
        try:
            return context.run(call)
        except Exception as error:  # raised below, so that the pool is kept
            return error

    with pool_of(1) as pool:
        future = pool.submit(caught)
        try:
            result = wait_for(future, lambda: None)
        except BaseException:
            stop.set()
            raise
    if isinstance(result, Exception):
        raise result
    return result


def wait_for(future: Future[Result], poll: Poll) -> Result:
    """Return the result of the future; an interrupt is seen at once.

    This thread waits on a bare lock: inside threading.Condition, where concurrent.futures.wait
    waits, an interrupt may raise RuntimeError("release unlocked lock") instead.
    """
    running = threading.Lock()
    running.acquire()
    future.add_done_callback(lambda _: running.release())
    while not running.acquire(timeout=POLL_SECONDS):
        poll()
    return future.result()
