"""A worker that does the newest work only; older work is stopped or dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..engine.progress import Slot

PATIENCE = (
    0.2  # seconds that a newer work waits for an older one to stop; a long fit may not
)
Work = Callable[[Slot], None]


class Worker:
    """One thread at a time does the newest work; `ask` returns at once.

    At most one work waits: the newest. It begins when the running one has stopped, or overtakes it
    after PATIENCE seconds. `slot.stop` tells the running work that a newer one waits or that the
    user cancelled. A work that was overtaken runs to its end, and its caller must ignore it.
    """

    def __init__(self, slot: Callable[[], Slot]) -> None:
        self._slot_of = slot
        self._lock = threading.Condition()
        self._next: Work | None = None
        self._slot: Slot | None = None

    def ask(self, work: Work) -> None:
        """Do a work as soon as the running one has stopped."""
        with self._lock:
            self._next = work
            if self._slot is None:
                self._start()
                return
            self._slot.stop.set()
            overtaken = threading.Timer(PATIENCE, self._overtake, [self._slot])
            overtaken.daemon = True
            overtaken.start()

    def interrupt(self) -> None:
        """Stop the running work; a waiting one begins as usual."""
        with self._lock:
            if self._slot is not None:
                self._slot.stop.set()

    def stop(self) -> None:
        """Stop the running work and drop a waiting one."""
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
        """Wait until all work is done; False after `timeout` seconds."""
        with self._lock:
            return self._lock.wait_for(lambda: self._slot is None, timeout)

    def _start(self) -> None:
        self._slot = self._slot_of()
        threading.Thread(
            target=self._drain, args=[self._slot], name="cvnb widget", daemon=True
        ).start()

    def _overtake(self, slot: Slot) -> None:
        with self._lock:
            if self._slot is slot and self._next is not None:
                self._start()

    def _drain(self, slot: Slot) -> None:
        """Do waiting work until there is none or another thread has taken over."""
        while True:
            with self._lock:
                if self._slot is not slot:
                    return
                work, self._next = self._next, None
                if work is None:
                    self._slot = None
                    self._lock.notify_all()
                    return
                if slot.stop.is_set():  # meant for the work before this one
                    self._slot = slot = self._slot_of()
            try:
                work(slot)
            except BaseException:
                self._leave(slot)
                raise  # to the thread's own hook, which prints it
            with self._lock:
                if self._slot is slot:
                    self._slot = slot = self._slot_of()

    def _leave(self, slot: Slot) -> None:
        """Begin waiting work in another thread after an error in this one."""
        with self._lock:
            if self._slot is not slot:
                return
            self._slot = None
            if self._next is not None:
                self._start()
            else:
                self._lock.notify_all()
