"""Silence warnings in this thread alone, for example those that a note replaces.

warnings.catch_warnings changes the whole process: two threads inside it at once leave each
other's filters behind. Outside the main thread a filter is added instead whose category
matches warnings only in threads that are inside `quiet`.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .randomness import is_main_thread

_lock = threading.Lock()
_n_inside = [0]  # threads inside `quiet`
_depth = threading.local()  # how often this thread has entered `quiet`


class _MatchesInside(type):
    """issubclass(category, cls) is true in threads that are inside `quiet`."""

    def __subclasscheck__(cls, category: Any) -> bool:
        return getattr(_depth, "n", 0) > 0


class _InThisThread(Warning, metaclass=_MatchesInside):
    """Every warning of a thread that is inside `quiet`."""


@contextmanager
def quiet(*messages: str) -> Iterator[None]:
    """Ignore warnings that begin with one of these messages; without messages, all warnings."""
    messages = messages or ("",)
    if is_main_thread():
        with warnings.catch_warnings():
            for message in messages:
                warnings.filterwarnings("ignore", message)
            yield
        return
    with _lock:
        _n_inside[0] += 1
        for message in messages:
            warnings.filterwarnings("ignore", message, _InThisThread)
    _depth.n = getattr(_depth, "n", 0) + 1
    try:
        yield
    finally:
        _depth.n -= 1
        with _lock:
            _n_inside[0] -= 1
            if not _n_inside[0]:
                _remove_filters()


def _remove_filters() -> None:
    own = [entry for entry in warnings.filters if entry[2] is _InThisThread]
    for entry in own:
        with suppress(ValueError):  # other code has restored the filters meanwhile
            warnings.filters.remove(entry)  # type: ignore[attr-defined]
