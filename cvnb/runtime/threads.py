"""The threads of this process, and the team that a task is handed: a stop token, and help with a list of calls.

The kernels let go of Python's lock, so threads are enough and nothing is copied. The matrix library is held to one thread
meanwhile: the calls are the parallel work. Nobody waits for what is interrupted: kernels poll the stop token, forests and
boosting ask for it between trees. A fit that cannot be stopped goes on in its thread until it ends.
"""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

import sklearn
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from .cancel import Stop
from .cores import n_cores

LOOK_EVERY = 0.05  # seconds between two looks at the progress
SOON = 0.1  # seconds that an interrupt may wait for what ends by itself
Item = TypeVar("Item")
Result = TypeVar("Result")
Look = Callable[[], None]


class Team:
    """What a task may use: the stop token, other threads that have nothing to do, and a count of what is done.

    calls  the model that a thread of the pool is fitting and that no stop token reaches, "" for any other call
    """

    def __init__(
        self, stop: Stop, pool: ThreadPoolExecutor | None = None, n: int = 1
    ) -> None:
        self.stop, self.pool, self.n, self.config = stop, pool, n, sklearn.get_config()
        self.done = 0.0
        self.calls: dict[int, str] = {}

    def tell(self, done: float) -> None:
        """Count what is done, in the path's unit; for the progress alone."""
        self.done += done

    def map(
        self, call: Callable[[Item], Result], items: Iterable[Item]
    ) -> list[Result]:
        """call(item) of every item, in order. This thread makes the calls, and idle threads of the pool help.

        Where calls raise, the error of the first such item is raised: the same on any number of threads.
        """
        if self.pool is None or self.n == 1:
            found = []
            for item in items:
                self.stop.check()
                found.append(call(item))
            return found
        items = list(items)
        return (
            list(self.imap(call, items))
            if len(items) > 1
            else [call(item) for item in items]
        )

    def imap(
        self, call: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        """The same, each result as soon as it and all before it are there."""
        shared = _Shared(call, items, self.stop)
        n_helpers = 0 if self.pool is None else min(self.n, len(items)) - 1
        helpers = (
            [self.pool.submit(self._help, shared) for _ in range(n_helpers)]
            if self.pool is not None
            else []
        )
        n_given = 0
        while shared.one():
            while n_given < len(items) and shared.is_there[n_given]:
                yield shared.found[n_given]
                n_given += 1
        for helper in helpers:
            if not helper.cancel():  # one that has not begun is not needed any more
                helper.result()
        if shared.errors:
            raise shared.errors[min(shared.errors)]
        yield from shared.found[n_given:]

    def _help(self, shared: _Shared) -> None:
        with (
            self.inside(),
            sklearn.config_context(**self.config),
        ):  # each thread has its own
            while shared.one():
                pass

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A thread of the pool makes a call inside."""
        me = threading.get_ident()
        self.calls[me] = ""
        try:
            yield
        finally:
            del self.calls[me]

    @contextmanager
    def fitting(self, model: str) -> Iterator[None]:
        """A fit that no stop token reaches is made inside."""
        me = threading.get_ident()
        if me not in self.calls:  # the main thread, which an interrupt reaches
            yield
            return
        self.calls[me] = model
        try:
            yield
        finally:
            self.calls[me] = ""

    def leave(self) -> list[str]:
        """Wait a moment for the calls to end; the models that are being fitted then and that go on.

        A thread that is inside scikit-learn's `warnings.catch_warnings` would put back the filters of before the interrupt.
        """
        until = time.monotonic() + SOON
        while self.calls and time.monotonic() < until:
            time.sleep(0.1 * SOON)
        return [model for model in list(self.calls.values()) if model]


class _Shared:
    """Calls that several threads make, each once and begun in order; none is begun after an error."""

    def __init__(
        self, call: Callable[[Any], Any], items: Sequence[Any], stop: Stop
    ) -> None:
        self.call, self.items, self.stop = call, items, stop
        self.found: list[Any] = [None] * len(items)
        self.is_there = [False] * len(items)
        self.errors: dict[int, BaseException] = {}
        self.numbers = iter(
            range(len(items))
        )  # next() on it is one step, whatever the threads

    def one(self) -> bool:
        """Make the next call; False where there is none."""
        i = None if self.errors else next(self.numbers, None)
        if i is None:
            return False
        try:
            self.stop.check()
            self.found[i] = self.call(self.items[i])
            self.is_there[i] = True
        except BaseException as error:  # raised in the thread that asked for the calls
            self.errors[i] = error
            if isinstance(
                error, KeyboardInterrupt
            ):  # at once: nobody waits for the helpers
                raise
        return True


def n_threads(n_jobs: int | None) -> int:
    """How many threads: n_jobs, else those of joblib.parallel_config, else all processors as scikit-learn's own k-NN takes.

    OMP_NUM_THREADS bounds the last; joblib sets it in its workers, so that processes times threads is the number of processors.
    Where joblib.parallel_config names a cluster, its workers are no threads of this machine.
    """
    backend, n = get_active_backend()
    if n_jobs == 1 or (
        not is_dask(backend) and (n_jobs is not None or n not in (None, 1))
    ):
        return max(1, effective_n_jobs(n_jobs))
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(
        1, min(n_cores(), int(limit) if limit.isdigit() and int(limit) else n_cores())
    )


def is_dask(backend: Any) -> bool:
    """Whether this backend of joblib's is a cluster; nothing is imported to find out."""
    return any(
        one.__name__ == "DaskDistributedBackend" for one in type(backend).__mro__
    )


@contextmanager
def pool_of(n: int) -> Iterator[ThreadPoolExecutor]:
    """n threads, kept for the next run: to start one costs half a millisecond. After an error they are left behind."""
    pool = _kept.pop(n, None) or ThreadPoolExecutor(n, thread_name_prefix="cvnb")
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    _kept[n] = pool


_kept: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        after_in_child=_kept.clear
    )  # a child has the pool but not its threads


def in_order(
    call: Callable[[Item], Result],
    items: Iterable[Item],
    pool: ThreadPoolExecutor,
    n: int,
    look: Look,
) -> Iterator[Result]:
    """call(item) of every item, on the n threads of the pool and given in order; few are made ahead of the caller.

    This thread waits, sees an interrupt at once, and now and then calls `look`; what is not begun by then is never begun.
    """
    ahead: deque[Future[Result]] = deque()
    left = iter(items)
    try:
        while True:
            ahead.extend(
                pool.submit(call, item) for item in islice(left, n + 1 - len(ahead))
            )
            if not ahead:
                return
            found = awaited(ahead[0], look)
            ahead.popleft()
            yield found
    except KeyboardInterrupt:  # what is finished is not lost
        while ahead and ahead[0].done():
            yield ahead.popleft().result()
        raise


def stoppable(call: Callable[[], Result], stop: Stop) -> Result:
    """The result of the call. The main thread has another one make it, and hears interrupts, which set the token."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    context = contextvars.copy_context()

    def caught() -> Result | Exception:
        try:
            return context.run(call)
        except Exception as error:  # raised below: the thread is kept
            return error

    with pool_of(1) as pool:
        future = pool.submit(caught)
        try:
            found = awaited(future, lambda: None)
        except BaseException:
            stop.set()
            raise
    if isinstance(found, Exception):
        raise found
    return found


def awaited(future: Future[Result], look: Look) -> Result:
    """The result of the future; an interrupt is seen at once."""
    while not wait([future], timeout=LOOK_EVERY).done:
        look()
    return future.result()
