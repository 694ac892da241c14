"""One token tells a run to stop, whoever sets it: an interrupt, a Cancel button, a cluster that has given a task up."""

from __future__ import annotations

import threading

import numpy as np


class Stopped(BaseException):
    """Ends a task that nobody waits for any more."""


class Stop:
    """A flag that is set once. Kernels poll `flag`, a byte; everything else calls `is_set` or `check`."""

    def __init__(self) -> None:
        self.flag = np.zeros(1, dtype=np.uint8)
        self._event = threading.Event()

    def set(self) -> None:
        """Stop the run."""
        self.flag[0] = 1
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Sleep until the run is to stop, so long at most; whether it is."""
        return self._event.wait(seconds)

    def is_set(self) -> bool:
        """Whether the run is to stop."""
        return bool(self.flag[0])

    def check(self) -> None:
        """Raise Stopped where the run is to stop."""
        if self.flag[0]:
            raise Stopped
