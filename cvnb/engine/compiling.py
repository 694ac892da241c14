"""Show "compiling once" while Numba compiles a kernel instead of loading it from its cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

from .progress import Progress

SENTENCE = "Compiling once; later runs load the compiled loops from disk."


class Compiler(event.Listener):
    """Counts the kernels that are being compiled, in any thread."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.n_compiling = progress, 0

    def on_start(self, event: object) -> None:
        """Count a kernel whose compilation begins."""
        self.n_compiling += 1
        self.show()

    def on_end(self, event: object) -> None:
        """Count a kernel whose compilation has ended."""
        self.n_compiling -= 1

    def show(self) -> None:
        """Show the sentence while a kernel is being compiled."""
        if self.n_compiling:
            self.progress.explain(SENTENCE)


@contextmanager
def compiling(progress: Progress) -> Iterator[Compiler]:
    """Yield a Compiler that listens to Numba."""
    compiler = Compiler(progress)
    event.register("numba:compile", compiler)
    try:
        yield compiler
    finally:
        event.unregister("numba:compile", compiler)
