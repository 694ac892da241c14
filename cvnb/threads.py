"""Stages of calls on the threads of this process, with a stop that is seen at once.

The kernels let go of Python's lock, so threads are enough and nothing is copied. The matrix library is held to one thread
meanwhile: the calls are the parallel work. Nobody waits for what is interrupted: kernels look at a stop flag, and in a fit of
scikit-learn's the next line of Python raises `Abandoned`.
"""

from __future__ import annotations

import contextvars
import ctypes
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from .cores import matrices_at_most, n_cores, openmp_at_most

LOOK_EVERY = 0.05  # seconds between two looks at the progress
SOON = 0.1  # seconds that an interrupt may wait for what ends by itself
Call = Callable[[], None]
Found = TypeVar("Found")


class Abandoned(BaseException):
    """Ends a fit that nobody waits for any more."""


class Crew(ThreadPoolExecutor):
    """Threads that can be left in the middle of their calls."""

    def __init__(self, n: int) -> None:
        super().__init__(n, thread_name_prefix="cvnb")
        self._inside, self._among, self._left = set[int](), threading.Lock(), False

    def submit(self, call: Callable[..., Found], /, *args: Any, **kwargs: Any) -> Future[Found]:
        return super().submit(self._made, call, *args, **kwargs)

    def leave(self) -> None:
        """Begin nothing more, and see to it that the fits that are begun end; those that end soon are waited for.

        A thread that is inside scikit-learn's `warnings.catch_warnings` would put back the filters of before the interrupt.
        """
        self.shutdown(wait=False, cancel_futures=True)
        with self._among:
            self._left = True
        threading.Thread(target=self._end, name="cvnb end", daemon=True).start()
        until = time.monotonic() + SOON
        while self._inside and time.monotonic() < until:
            time.sleep(0.1 * SOON)

    def _made(self, call: Callable[..., Found], *args: Any, **kwargs: Any) -> Found:
        me = threading.get_ident()
        with self._among:
            if self._left:
                raise Abandoned
            self._inside.add(me)
        try:
            return call(*args, **kwargs)
        finally:
            with self._among:  # so what `_end` raises is raised in these lines at the latest, never in the executor's own
                self._inside.discard(me)

    def _end(self) -> None:
        """Raise Abandoned in the fits that are inside until nothing is: a callback may lose it."""
        while self._inside:
            with self._among:
                frames = sys._current_frames()
                for thread in self._inside:
                    if _fits(frames[thread]):
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Abandoned))
            time.sleep(LOOK_EVERY)


def _fits(frame: FrameType) -> bool:
    """Whether a thread that stands there may be ended: at a line of a model, and not of what takes locks or compiles."""
    name = frame.f_globals.get("__name__", "")
    return name.startswith("sklearn.") and not name.startswith("sklearn.utils.")


def n_threads(n_jobs: int | None) -> int:
    """How many threads: n_jobs, else those of joblib.parallel_config, else all processors as scikit-learn's own k-NN takes.

    OMP_NUM_THREADS bounds the last; joblib sets it in its workers, so that processes times threads is the number of processors.
    Where joblib.parallel_config names a cluster, its workers are no threads of this machine.
    """
    backend, n = get_active_backend()
    if n_jobs == 1 or (not is_dask(backend) and (n_jobs is not None or n not in (None, 1))):
        return max(1, effective_n_jobs(n_jobs))
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(n_cores(), int(limit) if limit.isdigit() and int(limit) else n_cores()))


def is_dask(backend: Any) -> bool:
    """Whether this backend of joblib's is a cluster; nothing is imported to find out."""
    return any(one.__name__ == "DaskDistributedBackend" for one in type(backend).__mro__)


def run_stages(
    stages: Iterable[Sequence[Call]],
    n: int,
    stop: np.ndarray,
    look: Callable[[], None] = lambda: None,
    quick: bool = False,
) -> None:
    """Make every call, stage after stage, on n threads; an interrupt sets stop[0] and leaves without waiting for them.

    Where all calls are quick, this thread is one of the n: it need not wake another one up. Otherwise it waits, sees an
    interrupt at once, and now and then calls `look`.
    """
    with _pool(n) as pool, matrices_at_most(1):
        try:
            for calls in stages:
                source = _Shared(calls)
                workers = [pool.submit(_drain, source, stop) for _ in range(min(n, len(calls)) - quick)]
                if quick:
                    _drain(source, stop)
                _await(workers, look)
        except BaseException:
            stop[0] = 1
            raise


@contextmanager
def _pool(n: int) -> Iterator[Crew]:
    """n threads, kept for the next run: to start one costs half a millisecond. After an error they are left."""
    pool = _kept.pop(n, None) or Crew(n)
    try:
        yield pool
    except BaseException:
        pool.leave()
        raise
    _kept[n] = pool


_kept: dict[int, Crew] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kept.clear)  # a child has the pool but not its threads


def in_order(call: Callable[[Any], Any], tasks: Iterable[Any], n: int, look: Callable[[], None]) -> Iterator[Any]:
    """call(task) for every task, made on n threads and given in order; few are made ahead of whoever asks.

    This thread waits, sees an interrupt at once, and now and then calls `look`; what is not begun by then is never begun.
    """

    def call_alone(task: Any) -> Any:
        with openmp_at_most(max(1, n_cores() // n)):
            return call(task)

    with _pool(n) as pool, matrices_at_most(1):
        ahead: deque[Future[Any]] = deque()
        for task in tasks:
            ahead.append(pool.submit(call_alone, task))
            if len(ahead) > n:
                yield awaited(ahead.popleft(), look)
        while ahead:
            yield awaited(ahead.popleft(), look)


def stoppable(call: Callable[[], Found], stop: np.ndarray) -> Found:
    """What the call gives; where this thread hears interrupts another one makes it, and an interrupt sets stop[0]."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    context = contextvars.copy_context()

    def caught() -> Found | Exception:
        try:
            return context.run(call)
        except Exception as error:  # raised below: the thread is kept
            return error

    with _pool(1) as pool:
        future = pool.submit(caught)
        try:
            found = awaited(future, lambda: None)
        except BaseException:
            stop[0] = 1
            raise
    if isinstance(found, Exception):
        raise found
    return found


def awaited(future: Future[Any], look: Callable[[], None]) -> Any:
    """What it gives; an interrupt is seen at once."""
    while not wait([future], timeout=LOOK_EVERY).done:
        look()
    return future.result()


def _await(workers: list[Future[None]], look: Callable[[], None]) -> None:
    pending = {worker for worker in workers if not worker.done()}
    for worker in workers:
        if worker not in pending:
            worker.result()
    while pending:
        done, pending = wait(pending, timeout=LOOK_EVERY, return_when="FIRST_EXCEPTION")
        for worker in done:
            worker.result()
        look()


def _drain(source: _Shared, stop: np.ndarray) -> None:
    for call in source:
        if stop[0]:
            return
        call()


class _Shared(Iterator[Call]):
    """An iterator that several threads may read."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._calls, self._lock = iter(calls), threading.Lock()

    def __next__(self) -> Call:
        with self._lock:
            return next(self._calls)
