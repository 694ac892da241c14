"""The cores that one of several calls may use: libraries start threads of their own, and calls times those must fit.

The matrix libraries are limited for the whole process, as long as any run wants it; OpenMP and Numba for one thread. A lower
limit that somebody else has set stays.
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


@cache
def n_cores() -> int:
    """Of this machine, as far as this process may use them."""
    return cpu_count()  # it reads files


@contextmanager
def at_most(n: int) -> Iterator[None]:
    """Libraries that are called from this thread take n threads, or fewer."""
    with (
        _numba_at_most(n),
        matrices_at_most(n),
        openmp_at_most(n),
    ):  # Numba first: it brings an OpenMP of its own
        yield


@contextmanager
def openmp_at_most(n: int) -> Iterator[None]:
    """The same of OpenMP alone, which trees and boosting take."""
    before = [
        (one, one.num_threads)
        for one in _libraries(len(sys.modules))
        if one.user_api == "openmp"
    ]
    _limit(before, n)
    try:
        yield
    finally:
        _restore(before)


@contextmanager
def _numba_at_most(n: int) -> Iterator[None]:
    """The same of Numba where it is loaded: to ask it starts its threads."""
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


def numba_will_take(n: int) -> None:
    """Where Numba is still to be loaded, it starts n threads: for processes that do nothing but such calls."""
    if "numba" not in sys.modules:
        os.environ.setdefault("NUMBA_NUM_THREADS", str(n))


class _Matrices:
    """The limit of the matrix libraries: the least that is wanted by runs that overlap, one in the background say.

    An interrupt may come between any two lines: what was before is forgotten only once it is put back.
    """

    def __init__(self) -> None:
        self.lock, self.wanted = threading.Lock(), dict[object, int]()
        self.before = list[tuple[Any, int]]()

    @contextmanager
    def at_most(self, n: int) -> Iterator[None]:
        run = object()
        try:
            with self.lock:
                if not self.wanted and not self.before:
                    self.before = [
                        (one, one.num_threads)
                        for one in _libraries(len(sys.modules))
                        if one.user_api == "blas"
                    ]
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


matrices_at_most = _Matrices().at_most


def _limit(before: list[tuple[Any, int]], n: int) -> None:
    for one, most in before:
        _set(one, min(n, most))


def _restore(before: list[tuple[Any, int]]) -> None:
    for one, most in before:
        _set(one, most)


def _set(library: Any, n: int) -> None:
    """threadpoolctl lets one thread alone limit OpenBLAS, and ignores the others in silence; here a lock keeps them apart."""
    clear = getattr(library, "clear_controlling_thread", lambda force: None)
    clear(force=True)
    library.set_num_threads(n)
    clear(force=True)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> list[Any]:
    """Those that are loaded; looking for them takes milliseconds, so it is done again only where modules have come."""
    import scipy.linalg  # noqa: F401 - brings a library of its own, to be found too
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().lib_controllers)
