"""One worker that does the newest of what it is asked; what is superseded is stopped and dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..engine.progress import Slot

PATIENCE = 0.2  # seconds that a newer work waits for one that was told to stop, which a long fit cannot hear
Work = Callable[[Slot], None]


class Worker:
    """`ask` returns at once. At most one work waits: the newest; it begins when the one before has stopped, or is overtaken.

    A work is given its slot; once that is told to stop (`slot.stop`), a newer one waits or the user cancelled. One that was
    overtaken goes on to its end and must not be heard of any more: whoever asks has to know the newest from the others.
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
            if self._slot is None:
                self._start()
                return
            self._slot.stop.set()
            overtaken = threading.Timer(PATIENCE, self._overtake, [self._slot])
            overtaken.daemon = True
            overtaken.start()

    def interrupt(self) -> None:
        """Stop what is being done; what waits is done all the same."""
        with self._lock:
            if self._slot is not None:
                self._slot.stop.set()

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
        """Do what waits, until nothing does or another thread has taken over."""
        while True:
            with self._lock:
                if self._slot is not slot:
                    return
                work, self._next = self._next, None
                if work is None:
                    self._slot = None
                    self._lock.notify_all()
                    return
                if (
                    slot.stop.is_set()
                ):  # by what asked for this work, and meant for the one before
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
        """A work ended this thread: what waits is begun in another."""
        with self._lock:
            if self._slot is not slot:
                return
            self._slot = None
            if self._next is not None:
                self._start()
            else:
                self._lock.notify_all()
