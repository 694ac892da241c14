"""Limits on the threads that libraries start, so that parallel calls share the cores.

The matrix libraries are limited for the whole process while any run needs it, OpenMP and
Numba for one thread. A lower limit that the user has set is kept.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

from joblib import cpu_count

Limits = list[tuple[Any, int]]  # (library, its number of threads)


@cache
def n_cores() -> int:
    """Return the number of cores that this process may use."""
    return cpu_count()  # reads files


@contextmanager
def at_most(n: int) -> Iterator[None]:
    """Limit the libraries called from this thread to n threads."""
    # Numba first: it loads an OpenMP library of its own.
    with _numba_at_most(n), matrices_at_most(n), openmp_at_most(n):
        yield


@contextmanager
def openmp_at_most(n: int) -> Iterator[None]:
    """Limit OpenMP alone, which trees and boosting use, to n threads."""
    before = _current_limits("openmp")
    _limit(before, n)
    try:
        yield
    finally:
        _restore(before)


@contextmanager
def _numba_at_most(n: int) -> Iterator[None]:
    """Limit Numba to n threads if it is loaded; asking for its number starts its threads."""
    numba = sys.modules.get("numba")
    if numba is None:
        yield
        return
    before = numba.get_num_threads()
    numba.set_num_threads(min(n, before))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def set_default_numba_threads(n: int) -> None:
    """Have Numba start n threads if it is not loaded yet: for processes that only run tasks."""
    if "numba" not in sys.modules:
        os.environ.setdefault("NUMBA_NUM_THREADS", str(n))


class _MatrixLimits:
    """The limit of the matrix libraries: the lowest of all overlapping runs.

    An interrupt may come between any two lines, so the previous limits are cleared only
    after they have been restored.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted: dict[object, int] = {}
        self.before: Limits = []

    @contextmanager
    def at_most(self, n: int) -> Iterator[None]:
        """Limit the matrix libraries to n threads."""
        run = object()
        try:
            with self.lock:
                if not self.wanted and not self.before:
                    self.before = _current_limits("blas")
                self.wanted[run] = n
                _limit(self.before, min(self.wanted.values()))
            yield
        finally:
            with self.lock:
                self.wanted.pop(run, None)
                if self.wanted:
                    _limit(self.before, min(self.wanted.values()))
                else:
                    _restore(self.before)
                    self.before = []


matrices_at_most = _MatrixLimits().at_most


def _limit(before: Limits, n: int) -> None:
    for library, n_before in before:
        _set_threads(library, min(n, n_before))


def _restore(before: Limits) -> None:
    for library, n_before in before:
        _set_threads(library, n_before)


def _set_threads(library: Any, n: int) -> None:
    """Set the number of threads of a library.

    threadpoolctl lets only one thread limit OpenBLAS and silently ignores all others; the
    lock of _MatrixLimits keeps the callers apart, so its check is switched off.
    """
    clear = getattr(library, "clear_controlling_thread", lambda force: None)
    clear(force=True)
    library.set_num_threads(n)
    clear(force=True)


def _current_limits(api: str) -> Limits:
    """Return the loaded libraries of one kind ("blas" or "openmp") with their threads."""
    libraries = _libraries(len(sys.modules))
    return [(lib, lib.num_threads) for lib in libraries if lib.user_api == api]


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> list[Any]:
    """Return the loaded libraries. The search takes milliseconds: repeated after new imports."""
    import scipy.linalg  # noqa: F401 - loads a library of its own, to be found too
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().lib_controllers)
