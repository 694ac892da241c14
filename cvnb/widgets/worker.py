"""One thread that does the newest of what it is asked; what is superseded is stopped and dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..progress import Slot

Work = Callable[[Slot], None]


class Worker:
    """`ask` returns at once. At most one work is done at a time, and at most one waits: the newest.

    A work is given its slot; once that is told to stop (`slot.stop`), a newer one waits or the user cancelled.
    """

    def __init__(self, slot: Callable[[], Slot]) -> None:
        self._slot_of = slot
        self._lock = threading.Condition()
        self._next: Work | None = None
        self._slot: Slot | None = None

    def ask(self, work: Work) -> None:
        """Do this as soon as what is being done has stopped."""
        with self._lock:
            self._next = work
            if self._slot is not None:
                self._slot.stop.set()
            else:
                self._slot = self._slot_of()
                threading.Thread(target=self._drain, name="cvnb widget", daemon=True).start()

    def stop(self) -> None:
        """Stop what is being done; nothing else is begun."""
        with self._lock:
            self._next = None
            if self._slot is not None:
                self._slot.stop.set()

    @property
    def superseded(self) -> bool:
        """Whether a newer work waits."""
        with self._lock:
            return self._next is not None

    def wait(self, timeout: float | None = None) -> bool:
        """Whether everything was done within `timeout` seconds."""
        with self._lock:
            return self._lock.wait_for(lambda: self._slot is None, timeout)

    def _drain(self) -> None:
        while True:
            with self._lock:
                work, self._next = self._next, None
                if work is None:
                    self._slot = None
                    self._lock.notify_all()
                    return
                self._slot = slot = self._slot_of()
            work(slot)
