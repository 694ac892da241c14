"""Warnings that a note says better, kept from the user in this thread alone.

warnings.catch_warnings is the whole process's: two threads inside it at once leave each other's filters behind. In a thread of
our own a filter is added instead whose category is a subclass of what is warned only there.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .randomness import is_ours

_lock, _n_inside, _depth = threading.Lock(), [0], threading.local()


class _OnlyHere(type):
    """issubclass(category, cls) asks in which thread."""

    def __subclasscheck__(cls, category: Any) -> bool:
        return getattr(_depth, "n", 0) > 0


class _InThisThread(Warning, metaclass=_OnlyHere):
    """Stands for every warning of a thread that is inside `quiet`."""


@contextmanager
def quiet(*messages: str) -> Iterator[None]:
    """No warning that begins so is shown; none at all where nothing is said."""
    if is_ours():
        with warnings.catch_warnings():
            for message in messages or ("",):
                warnings.filterwarnings("ignore", message)
            yield
        return
    with _lock:
        _n_inside[0] += 1
        for message in messages or ("",):
            warnings.filterwarnings("ignore", message, _InThisThread)
    _depth.n = getattr(_depth, "n", 0) + 1
    try:
        yield
    finally:
        _depth.n -= 1
        with _lock:
            _n_inside[0] -= 1
            if not _n_inside[0]:
                _take_away()


def _take_away() -> None:
    for one in [one for one in warnings.filters if one[2] is _InThisThread]:
        with suppress(ValueError):  # somebody has put the filters back meanwhile
            warnings.filters.remove(one)  # type: ignore[attr-defined]
