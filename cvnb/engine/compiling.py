"""Says "compiling once" while Numba compiles a kernel instead of loading it from its cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

from .progress import Progress

SENTENCE = "Compiling once; later runs load the compiled loops from disk."


class Compiler(event.Listener):
    """Whether a kernel is being compiled right now, in whatever thread."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.busy = progress, 0

    def on_start(self, event: object) -> None:
        """One more kernel is being compiled."""
        self.busy += 1
        self.look()

    def on_end(self, event: object) -> None:
        """One less is."""
        self.busy -= 1

    def look(self) -> None:
        """Draw the sentence where it is true."""
        if self.busy:
            self.progress.say(SENTENCE)


@contextmanager
def compiling(progress: Progress) -> Iterator[Compiler]:
    """A Compiler that listens meanwhile."""
    compiler = Compiler(progress)
    event.register("numba:compile", compiler)
    try:
        yield compiler
    finally:
        event.unregister("numba:compile", compiler)
