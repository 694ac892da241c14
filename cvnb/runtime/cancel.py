"""One token stops a run, whatever the reason: an interrupt, a Cancel button, a cancelled task."""

from __future__ import annotations

import threading

import numpy as np


class Stopped(BaseException):
    """Raised to end a task whose result is no longer needed."""


class Stop:
    """A flag that is set once. Kernels poll the byte `flag`; Python calls `is_set` or `check`."""

    def __init__(self) -> None:
        self.flag = np.zeros(1, dtype=np.uint8)
        self._event = threading.Event()

    def set(self) -> None:
        """Stop the run."""
        self.flag[0] = 1
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most this long for the stop; return whether it is set."""
        return self._event.wait(seconds)

    def is_set(self) -> bool:
        """Return whether the run is to stop."""
        return bool(self.flag[0])

    def check(self) -> None:
        """Raise Stopped if the run is to stop."""
        if self.flag[0]:
            raise Stopped
