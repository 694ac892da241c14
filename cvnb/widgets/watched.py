"""The slot of a run whose progress a widget shows."""

from __future__ import annotations

from collections.abc import Callable

from ..engine.progress import Slot
from ..studies.seeds import OverSeeds


class Watched(Slot):
    """A slot that is drawn by a function of its widget.

    version  of the request that the run belongs to
    study    the seeds that are finished, where the run is one of many seeds
    """

    def __init__(self, show: Callable[[Watched, str], None]) -> None:
        super().__init__()
        self._show = show
        self.version = 0
        self.study: OverSeeds | None = None

    @property
    def seen(self) -> bool:
        """Whether somebody sees the progress: always."""
        return True

    def draw(self, text: str) -> None:
        """Show a bar, a sentence, and the result so far."""
        self._show(self, text)
