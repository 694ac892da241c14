"""NumPy's global random state belongs to the user: cvnb leaves it as it was found.

In the main thread it is seeded for a fit and put back afterwards. In any other thread that would reach into what the user draws
meanwhile, so there estimators with random_state=None get a state of their own instead.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_thread = threading.local()


@contextmanager
def global_state() -> Iterator[None]:
    """Put the state back on leaving; in a thread of our own it is not touched (see `seed`), so there is nothing to put back."""
    if not is_ours():
        yield
        return
    state = np.random.get_state()  # noqa: NPY002 - the legacy state is the one that estimators share
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def is_ours() -> bool:
    """Whether the process-wide state may be set for a moment: nobody else runs Python code of the user's meanwhile."""
    return threading.current_thread() is threading.main_thread() or getattr(
        _thread, "alone", False
    )


@contextmanager
def alone() -> Iterator[None]:
    """This thread stands for the main one: in a worker process it is the only one to which tasks are given."""
    _thread.alone = True
    try:
        yield
    finally:
        _thread.alone = False


def seed(estimator: Any, *numbers: int) -> None:
    """Make one fit of an estimator with random_state=None repeatable, whatever the order of the fits and the workers."""
    entropy = [number + 1 for number in numbers]
    if is_ours():
        np.random.seed(entropy)  # noqa: NPY002 - inside global_state, which puts it back
        return
    parameters = estimator.get_params() if hasattr(estimator, "get_params") else {}
    free = [
        name
        for name, value in parameters.items()
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    if free:
        state = np.random.RandomState(entropy)  # what a random_state may be
        estimator.set_params(**dict.fromkeys(free, state))
