"""NumPy's global random state belongs to the user: cvnb restores it after every run.

In the main thread it is seeded for a fit and restored afterwards. In any other thread that
would change what the user draws at the same time, so estimators with random_state=None get
a state of their own there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_thread = threading.local()
FIXED_SEED = (
    "xgboost.",
    "lightgbm.",
)  # packages where random_state=None is always one seed


@contextmanager
def global_state() -> Iterator[None]:
    """Restore the global state on leaving; outside the main thread nothing changes it."""
    if not is_main_thread():
        yield
        return
    state = np.random.get_state()  # noqa: NPY002 - the legacy state is the one estimators share
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def is_main_thread() -> bool:
    """Return whether process-wide state may be changed briefly: no user code runs meanwhile."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main or getattr(_thread, "counts_as_main", False)


@contextmanager
def as_main_thread() -> Iterator[None]:
    """Have this thread count as the main one: in a worker process, the only one with tasks."""
    _thread.counts_as_main = True
    try:
        yield
    finally:
        _thread.counts_as_main = False


def seed(estimator: Any, *numbers: int) -> None:
    """Make one fit repeatable, in whatever order and by whichever worker the fits are made.

    estimator  seeded where random_state is None, unless that means a fixed seed
    numbers    name the fit: the same numbers give the same state
    """
    entropy = [number + 1 for number in numbers]
    if is_main_thread():
        np.random.seed(entropy)  # noqa: NPY002 - inside global_state, which restores it
        return
    parameters = estimator.get_params() if hasattr(estimator, "get_params") else {}
    unseeded = [
        name
        for name, value in parameters.items()
        if value is None
        and name.rpartition("__")[2] == "random_state"
        and not _has_fixed_seed(parameters.get(name.rpartition("__")[0], estimator))
    ]
    if unseeded:
        state = np.random.RandomState(entropy)  # the type that random_state accepts
        estimator.set_params(**dict.fromkeys(unseeded, state))


def _has_fixed_seed(owner: Any) -> bool:
    return type(owner).__module__.startswith(FIXED_SEED)
